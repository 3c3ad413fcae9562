/** Reads the data of a page, within limits. */
import { fromBase64, fromUtf8 } from "../bytes.js";
import { MAX_APP_PROOFS } from "../decode/app-proof-limits.js";
import { MAX_BUNDLE_BOOT_PROOFS } from "../decode/boot-proof.js";
import { type JsonValue, isJsonObject, jsonKind, parseJson } from "../decode/json.js";
import { MemberReader } from "../decode/json-members.js";
import { decodeFile } from "../decode/text-encoding.js";
import { FaultList, MalformedError, attempt } from "../errors.js";
import { type NamedEvidence, namedSharing } from "../inputs.js";
import {
  type BundleBytes,
  MAX_FILE_BYTES,
  MAX_PAGE_BYTES,
  PAGE_FORMAT,
  type PageContent,
  type PageEvidence,
  memberAt,
  withProofs,
} from "./data.js";
import { bytesMember, optionsOf } from "./options-data.js";

/**
 * Reads the data of a page from JSON text. Throws {@link MalformedError} (`page`) with the path of every fault.
 * Evidence, policy and bundle are checked later, by verification.
 */
export function readPageData(text: string): PageContent {
  const faults = new FaultList();
  const reader = MemberReader.of(jsonValue(text), "", faults);
  const content = reader && contentOf(reader);
  if (content === undefined || faults.length > 0) throw new MalformedError("page", faults);
  return content;
}

/** Deeper than any report: the limit of a payload, and its surroundings. */
const MAX_DEPTH = 100;
/** Members and items of all data: the largest report has half of it. */
const MAX_PAGE_VALUES = 500_000;
/** Of all pieces together: the limit of one JSON text of evidence. */
const MAX_PIECE_VALUES = 250_000;

/** Uses the platform's parser: a report may be deeper and larger than evidence. */
function jsonValue(text: string): unknown {
  if (text.length > MAX_PAGE_BYTES) throw pageFault("", `more than ${MAX_PAGE_BYTES} characters`);
  refuseShape(text);
  const { value } = parsed(text);
  refuseInfinite(value);
  return value;
}

function parsed(text: string): { readonly value: unknown } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    throw pageFault("", "not JSON");
  }
}

/** `JSON.parse` reads 1e999 as Infinity, and `JSON.stringify` writes that as null. */
function refuseInfinite(json: unknown): void {
  const left = [json];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === "number" && !Number.isFinite(value))
      throw pageFault("", "a number that is larger than a double holds");
    if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) left.push(inner);
  }
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENING: readonly number[] = [0x5b, 0x7b];
const CLOSING: readonly number[] = [0x5d, 0x7d];

/** Runs before parsing, since each value takes many times the memory of its text. Also counts invalid JSON. */
function refuseShape(text: string): void {
  let [depth, values] = [0, 1];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) values++;
    else if (OPENING.includes(code)) [depth, values] = [depth + 1, values + 1];
    else if (CLOSING.includes(code)) depth--;
    if (depth > MAX_DEPTH) throw pageFault("", `nested deeper than ${MAX_DEPTH}`);
    if (values > MAX_PAGE_VALUES) throw pageFault("", `more than ${MAX_PAGE_VALUES} values`);
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

function pageFault(path: string, message: string): MalformedError {
  return new MalformedError("page", [{ path, message }]);
}

/** Limits all pieces together: many may name one file, and each is verified and shown. */
class PieceBudget {
  #characters = MAX_FILE_BYTES;
  #values = MAX_PIECE_VALUES;

  /** Throws {@link MalformedError} above the limit. */
  take(value: unknown): void {
    this.#values -= 1;
    if (typeof value === "string" || value instanceof Uint8Array) this.#characters -= value.length;
    if (Math.min(this.#characters, this.#values) < 0) throw pageFault("evidence", TOO_MUCH);
    if (typeof value !== "object" || value === null || value instanceof Uint8Array) return;
    for (const [name, member] of Object.entries(value)) {
      this.#characters -= name.length;
      this.take(member);
    }
  }
}

const TOO_MUCH =
  `its pieces come to more than ${MAX_FILE_BYTES / 1024 / 1024} MiB or ${MAX_PIECE_VALUES} values, the most that a ` +
  "page holds; each counts as often as it is named";

/** A file of a page, parsed and decoded once for all its pieces. */
class PageFile {
  readonly bytes: Uint8Array;
  #json: { readonly value: JsonValue | undefined } | undefined;
  #decoded: Uint8Array | undefined;
  #text: string | null | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Undefined if it is not JSON. */
  get json(): JsonValue | undefined {
    this.#json ??= { value: attempt(() => parseJson(this.bytes)).value };
    return this.#json.value;
  }

  /** Null if it is not UTF-8. */
  get text(): string | null {
    return (this.#text ??= fromUtf8(this.bytes));
  }

  get decoded(): Uint8Array {
    return (this.#decoded ??= decodeFile(this.bytes).bytes);
  }
}

function contentOf(reader: MemberReader): PageContent | undefined {
  if (reader.get("page") !== PAGE_FORMAT) reader.fault("page", `expected "${PAGE_FORMAT}"`);
  reader.refuseUnknown(["page", "files", "evidence", "options", "report"]);
  const files = reader.array("files", (value, path) => {
    const bytes = typeof value === "string" ? fromBase64(value) : null;
    if (bytes === null) reader.faults.push({ path, message: "not base64" });
    return bytes === null ? undefined : new PageFile(bytes);
  });
  const evidence = evidenceOf(reader.nested("evidence"), files ?? []);
  const options = optionsOf(reader.nested("options"));
  const report = reader.nested("report");
  return evidence && options && report && { evidence, options, report: report.object };
}

function evidenceOf(reader: MemberReader | undefined, files: readonly PageFile[]): PageEvidence | undefined {
  if (reader === undefined) return undefined;
  if (reader.get("bundle") !== undefined) return bundleOf(reader, files);
  const budget = new PieceBudget();
  if (reader.get("document") !== undefined) {
    reader.refuseUnknown(["document"]);
    return pieceOf(reader.get("document"), reader.at("document"), { reader, files, budget });
  }
  reader.refuseUnknown(["bootProofs", "appProofs", "activity"]);
  refuseMany(reader, "bootProofs", MAX_BUNDLE_BOOT_PROOFS);
  refuseMany(reader, "appProofs", MAX_APP_PROOFS);
  const place = { reader, files, budget };
  const bootProofs = reader.array("bootProofs", (value, path) => pieceOf(value, path, place));
  const appProofs = reader.array("appProofs", (value, path) => pieceOf(value, path, place));
  const activity = reader.get("activity");
  const given = activity === undefined ? undefined : pieceOf(activity, reader.at("activity"), place);
  return (
    bootProofs && {
      bootProofs,
      ...(appProofs && appProofs.length > 0 && { appProofs }),
      ...(given && { activity: given }),
    }
  );
}

/** Each is verified and shown separately. */
function refuseMany(reader: MemberReader, name: string, most: number): void {
  const items = reader.get(name);
  if (Array.isArray(items) && items.length > most)
    throw pageFault(reader.at(name), `${items.length} entries, expected at most ${most}`);
}

function bundleOf(reader: MemberReader, files: readonly PageFile[]): BundleBytes | undefined {
  reader.refuseUnknown(["bundle"]);
  const bundle = reader.nested("bundle");
  bundle?.refuseUnknown(["name", "file"]);
  const name = bundle?.string("name");
  const bytes = bundle && fileOf(bundle, files);
  if (bytes && bytes.bytes.length > MAX_FILE_BYTES)
    throw pageFault("evidence.bundle", `a bundle of more than ${MAX_FILE_BYTES / 1024 / 1024} MiB`);
  return name === undefined || !bytes ? undefined : { bundle: bytes.bytes, name };
}

function fileOf(reader: MemberReader, files: readonly PageFile[]): PageFile | undefined {
  const index = reader.get("file");
  const bytes = typeof index === "number" ? files[index] : undefined;
  return bytes ?? reader.fault("file", `expected one of ${files.length} files`);
}

interface PiecePlace {
  readonly budget: PieceBudget;
  readonly reader: MemberReader;
  readonly files: readonly PageFile[];
}

function pieceOf(
  json: JsonValue | undefined,
  path: string,
  { reader, files, budget }: PiecePlace,
): NamedEvidence | undefined {
  const piece = MemberReader.of(json, path, reader.faults);
  if (piece === undefined) return undefined;
  piece.refuseUnknown(["name", "file", "value", "ephemeralKey", "latestOf"]);
  const name = piece.get("name") === undefined ? null : piece.string("name");
  const file = piece.get("file") === undefined ? undefined : fileOf(piece, files);
  const value = valueOf(piece, file);
  const latestOf = piece.get("latestOf") === undefined ? undefined : piece.string("latestOf");
  const key = piece.get("ephemeralKey") === undefined ? undefined : bytesMember(piece, "ephemeralKey");
  if (name === undefined || value === undefined) return undefined;
  budget.take(value.value);
  const facts = { ...(key && { ephemeralKey: key }), ...(latestOf !== undefined && { latestOf }) };
  return namedSharing(name, value.value, { ...facts, ...(file && file.bytes.length > 0 && { bytes: file.bytes }) });
}

type Found = { readonly value: unknown } | undefined;

function valueOf(piece: MemberReader, file: PageFile | undefined): Found {
  const value = piece.get("value");
  if (file !== undefined) return valueFromFile(piece, value, file);
  if (isJsonObject(value) && piece.get("file") === undefined) {
    if (typeof value["text"] === "string") return { value: value["text"] };
    if (Object.hasOwn(value, "json")) return { value: value["json"] };
  }
  return piece.fault("value", `expected {"text": …}, {"json": …} or a file, got ${jsonKind(value)}`);
}

function valueFromFile(piece: MemberReader, value: JsonValue | undefined, file: PageFile): Found {
  if (value === "bytes") return { value: file.bytes };
  if (value === "decoded") return { value: file.decoded };
  if (value === "text") return { value: file.text ?? piece.fault("value", "its file is not text") };
  const at = isJsonObject(value) ? value["at"] : undefined;
  if (!isJsonObject(value) || !Array.isArray(at))
    return piece.fault("value", 'expected "bytes", "decoded", "text" or {"at": […]}');
  const own = memberAt(file.json, at);
  const found = value["appProofs"] === undefined ? own : withProofs(own, value["appProofs"]);
  if (found === undefined) return piece.fault("value", "its file has nothing there");
  return { value: typeof value["in"] === "string" ? { [value["in"]]: found } : found };
}
