/**
 * What a page carries (`bootproof-page/1`; page/README.md, "The data"): the evidence as it was given, what it was held
 * against, and the report. Plain data: whoever reads it verifies it anew, and believes nothing of it.
 */
import type { PlainPolicy } from "../appraise/plain-policy.js";
import { type Policy, parsePolicy } from "../appraise/policy.js";
import { MAX_BUNDLE_BOOT_PROOFS } from "../bundle/file.js";
import { equalBytes, fromBase64, fromUtf8, toBase64, toHex } from "../bytes.js";
import { MAX_APP_PROOFS } from "../decode/app-proof.js";
import { copyJson, isJsonObject, jsonKey, jsonKind, parseJson } from "../decode/json.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { copyPlain, ownMembers, ownOptions } from "../decode/input.js";
import { MemberReader, base64Member, hexMember, instantMember } from "../decode/json-members.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import { decodeFile } from "../decode/text-encoding.js";
import { FaultList, MalformedError, attempt, faultText } from "../errors.js";
import {
  type Evidence,
  type EvidenceInput,
  NamedEvidence,
  type PlainOptions,
  evidenceMembers,
  isPcrIndex,
  namedSharing,
  ownPlainOptions,
} from "../inputs.js";
import type { Report } from "../report/report.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";
import type { Expected } from "../verify/expectation.js";
import { certificatePem, parseTrustAnchor } from "../verify/trust-anchor.js";

const PAGE_FORMAT = "bootproof-page/1" as const;
/** Of a whole page, in bytes: a bundle of 8 MiB, its report and the script have room in it. */
export const MAX_PAGE_BYTES = 32 * 1024 * 1024;
/** Of a bundle, and of all the text of the pieces: as much as the command reads of a bundle, and a page of a file. */
export const MAX_FILE_BYTES = 8 * 1024 * 1024;

/** A bundle's file, which stands for all that is in it. */
export interface BundleBytes {
  readonly bundle: Uint8Array;
  readonly name: string;
}

/** Evidence, a bare attestation document, or a bundle. */
export type PageEvidence = EvidenceInput | BundleBytes;

/** What was judged, how, and what came of it. */
export interface PageContent {
  readonly evidence: PageEvidence;
  readonly options: PlainOptions;
  /** Of a page that was read: its maker's word, of any shape. */
  readonly report: Report | JsonObject;
}

type Path = readonly (string | number)[];

/** Where a piece's value is: in its file, or beside it. */
export type PieceValue =
  /** The file's bytes; what base64 or hex they are; their text. */
  | "bytes"
  | "decoded"
  | "text"
  /**
   * A value of the file's JSON. `in`: inside an object of that one member. `appProofs`: those that the service listed
   * of an activity whose file has none.
   */
  | { readonly at: Path; readonly in?: string; readonly appProofs?: JsonValue }
  | { readonly text: string }
  | { readonly json: JsonValue };

export interface PieceData {
  readonly name: string | null;
  /** Its place in `files`. */
  readonly file?: number;
  readonly value: PieceValue;
  readonly ephemeralKey?: string;
  readonly latestOf?: string;
}

/** What {@link pageData} makes, and JSON writes. Byte strings are hex, files base64. */
export interface PageData {
  readonly page: typeof PAGE_FORMAT;
  readonly files: readonly string[];
  readonly evidence:
    | { readonly bootProofs: readonly PieceData[]; readonly appProofs: readonly PieceData[]; activity?: PieceData }
    | { readonly document: PieceData }
    | { readonly bundle: { readonly name: string; readonly file: number } };
  readonly options: JsonObject;
  readonly report: Report | JsonObject;
}

const CONTENT: Readonly<Record<keyof PageContent, true>> = { evidence: true, options: true, report: true };

/** What a page is of, with copies of options and report. */
export function ownContent(content: PageContent): PageContent {
  const { evidence, options, report } = ownOptions("content", content, CONTENT);
  return { evidence: ownPageEvidence(evidence), options: ownPlainOptions(options), report: copyPlain(report) };
}

function ownPageEvidence(evidence: PageEvidence): PageEvidence {
  if (evidence instanceof Uint8Array || isNamed(evidence)) return evidence;
  const isBundle = typeof evidence === "object" && evidence !== null && Object.hasOwn(evidence, "bundle");
  return copyPlain(isBundle ? evidence : evidenceMembers(evidence as Evidence));
}

/**
 * The data of a page. Throws TypeError for a boot proof that is verified already, of which no JSON is left, and for a
 * piece whose value is not in the bytes that it names: the digest of those would stand for something else.
 */
export function pageData(content: PageContent): PageData {
  const { evidence, options, report } = ownContent(content);
  const files = new Files(filesOf(evidence));
  return {
    page: PAGE_FORMAT,
    evidence: evidenceData(evidence, files),
    options: optionsData(options),
    report,
    files: files.list.map(toBase64),
  };
}

/** The files of the pieces, each once. */
class Files {
  readonly list: Uint8Array[] = [];
  /** By the bytes as they were given; filled before the first is asked for. */
  readonly #indices = new Map<Uint8Array, number>();
  readonly #places: Map<string, Path>[] = [];

  /** Sorted, equal contents are beside each other: comparing each with each other takes too long. */
  constructor(given: readonly Uint8Array[]) {
    const sorted = [...new Set(given)].map((bytes, order) => ({ bytes, order }));
    sorted.sort((a, b) => compareBytes(a.bytes, b.bytes) || a.order - b.order);
    const first = new Map<Uint8Array, Uint8Array>();
    sorted.forEach(({ bytes }, index) => {
      const before = index === 0 ? undefined : sorted[index - 1]!.bytes;
      first.set(bytes, before !== undefined && compareBytes(before, bytes) === 0 ? first.get(before)! : bytes);
    });
    for (const bytes of new Set(given)) {
      const own = first.get(bytes)!;
      const index = own === bytes ? this.list.push(bytes) - 1 : this.#indices.get(own)!;
      this.#indices.set(bytes, index);
    }
  }

  indexOf(bytes: Uint8Array): number {
    return this.#indices.get(bytes)!;
  }

  /** Where the file's JSON has the value; undefined where it has not. */
  placeOf(file: number, value: JsonValue): Path | undefined {
    const places = (this.#places[file] ??= placesIn(attempt(() => parseJson(this.list[file]!)).value));
    return places.get(jsonKey(value));
  }
}

/** Any order in which equal ones are beside each other. */
function compareBytes(a: Uint8Array, b: Uint8Array): number {
  if (a.length !== b.length) return a.length - b.length;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return a[at]! - b[at]!;
  return 0;
}

/** Pieces are a list's items at the deepest, and lists are members of the outermost object. */
const MAX_PLACE = 2;

function placesIn(json: JsonValue | undefined): Map<string, Path> {
  const places = new Map<string, Path>();
  const add = (value: JsonValue, path: Path): void => {
    const text = jsonKey(value);
    if (!places.has(text)) places.set(text, path);
    if (path.length === MAX_PLACE || typeof value !== "object" || value === null) return;
    const isList = Array.isArray(value);
    for (const [name, member] of Object.entries(value)) add(member, [...path, isList ? Number(name) : name]);
  };
  if (json !== undefined) add(json, []);
  return places;
}

/** The bytes that the pieces name, or are. */
function filesOf(evidence: PageEvidence): Uint8Array[] {
  if (isBundleBytes(evidence)) return [evidence.bundle];
  if (evidence instanceof Uint8Array || isNamed(evidence)) return ownBytes(evidence);
  const { bootProofs, appProofs = [], activity } = evidence;
  return [...bootProofs, ...appProofs, activity].flatMap(ownBytes);
}

function ownBytes(input: unknown): Uint8Array[] {
  if (input instanceof Uint8Array) return [input];
  const { bytes, value } = isNamed(input) ? input : { bytes: null, value: null };
  const own = bytes ?? (value instanceof Uint8Array ? value : null);
  return own === null ? [] : [own];
}

function evidenceData(evidence: PageEvidence, files: Files): PageData["evidence"] {
  if (isBundleBytes(evidence)) return { bundle: { name: evidence.name, file: files.indexOf(evidence.bundle) } };
  if (evidence instanceof Uint8Array || isNamed(evidence)) return { document: pieceData("document", evidence, files) };
  const { bootProofs, appProofs, activity } = evidenceMembers(evidence);
  return {
    bootProofs: bootProofs.map((piece, index) => pieceData(`boot[${index}]`, piece, files)),
    appProofs: appProofs.map((piece, index) => pieceData(`app[${index}]`, piece, files)),
    ...(activity !== undefined && { activity: pieceData("activity", activity, files) }),
  };
}

/** Whether it is a bundle's file, and neither its pieces nor a document. */
export function isBundleBytes(evidence: PageEvidence): evidence is BundleBytes {
  return Object.hasOwn(evidence, "bundle") && (evidence as BundleBytes).bundle instanceof Uint8Array;
}

function pieceData(subject: string, input: unknown, files: Files): PieceData {
  const piece = isNamed(input) ? input : new NamedEvidence(null, input);
  const { name, value, ephemeralKey, latestOf } = piece;
  const [own] = ownBytes(input);
  const file = own === undefined ? undefined : files.indexOf(own);
  const found = file === undefined ? inlineValue(subject, value) : valueInFile(value, file, files);
  if (found === undefined) throw new TypeError(`${subject}: its value is not in the bytes that it was given with`);
  return {
    name,
    ...(file !== undefined && { file }),
    value: found,
    ...(ephemeralKey !== null && { ephemeralKey: toHex(ephemeralKey) }),
    ...(latestOf !== null && { latestOf }),
  };
}

const NAMED = ["name", "value", "bytes", "ephemeralKey", "latestOf"];

/** Of this copy of the class, or of another: the command and what it loads later are bundles of their own. */
function isNamed(input: unknown): input is NamedEvidence {
  if (input instanceof NamedEvidence) return true;
  if (typeof input !== "object" || input === null || Array.isArray(input)) return false;
  const isPlain = [null, Object.prototype].includes(Object.getPrototypeOf(input) as object | null);
  return !isPlain && NAMED.every((name) => Object.hasOwn(input, name));
}

function inlineValue(subject: string, value: unknown): PieceValue {
  return typeof value === "string" ? { text: value } : { json: jsonOf(subject, value) };
}

function jsonOf(subject: string, value: unknown): JsonValue {
  if (VerifiedBootProof.isVerified(value)) throw new TypeError(`${subject}: verified already, and JSON is wanted`);
  const copied = attempt(() => copyJson(value));
  if (copied.value === undefined) throw new TypeError(`${subject}: ${faultText(copied.faults)}`);
  return copied.value;
}

function valueInFile(value: unknown, file: number, files: Files): PieceValue | undefined {
  const bytes = files.list[file]!;
  if (typeof value === "string") return fromUtf8(bytes) === value ? "text" : undefined;
  if (value instanceof Uint8Array) {
    if (equalBytes(value, bytes)) return "bytes";
    return equalBytes(value, decodeFile(bytes).bytes) ? "decoded" : undefined;
  }
  const json = attempt(() => copyJson(value)).value;
  if (json === undefined) return undefined;
  const at = files.placeOf(file, json);
  if (at !== undefined) return { at };
  const [member, ...others] = isJsonObject(json) ? Object.keys(json) : [];
  if (member === undefined || others.length > 0) return undefined;
  const inner = (json as JsonObject)[member]!;
  const inside = files.placeOf(file, inner);
  return inside === undefined ? valueWithProofs(inner, member, bytes) : { at: inside, in: member };
}

/** The file's activity, with app proofs that it has not itself. */
function valueWithProofs(value: JsonValue, member: string, bytes: Uint8Array): PieceValue | undefined {
  const { appProofs } = isJsonObject(value) ? value : {};
  const json = attempt(() => parseJson(bytes)).value;
  const at = [[], [member]].find((path) => {
    const own = memberAt(json, path);
    return appProofs !== undefined && sameJson(withProofs(own, appProofs), value);
  });
  return at && { at, in: member, appProofs: appProofs! };
}

function sameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Undefined for what is no activity, or has app proofs itself. */
function withProofs(activity: JsonValue | undefined, appProofs: JsonValue): JsonObject | undefined {
  if (!isJsonObject(activity)) return undefined;
  const own = activity["appProofs"] ?? [];
  return Array.isArray(own) && own.length === 0 ? { ...activity, appProofs } : undefined;
}

function optionsData(options: PlainOptions): JsonObject {
  const { policy, now, at, trustAnchors, measurements, ephemeralKey, nonce, expected } = options;
  return copyJson({
    policy: policyData(policy),
    now: now.toISOString(),
    at: at instanceof Date ? at.toISOString() : at,
    trustAnchors: trustAnchors?.map(({ name, pem }) => ({ name, pem: plainPem(name, pem) })),
    measurements: measurements && inHex(measurements),
    ephemeralKey: ephemeralKey && toHex(ephemeralKey),
    nonce: nonce && toHex(nonce),
    expected: expected && expectedData(expected),
    allowDebug: options.allowDebug,
    bootProofsOnly: options.bootProofsOnly,
  }) as JsonObject;
}

function inHex(measurements: NonNullable<PlainOptions["measurements"]>): object {
  return Object.fromEntries(Object.entries(measurements).map(([index, value]) => [index, toHex(value)]));
}

/** What else stands in the files of trust anchors stays there. */
function policyData(policy: PlainOptions["policy"]): unknown {
  if (policy === null || policy === "bundle") return policy;
  const anchors = Object.entries(policy.anchors ?? {}).map(([name, pem]) => [name, plainPem(name, pem)]);
  return {
    bytes: toBase64(policy.bytes),
    ...(anchors.length > 0 && { anchors: Object.fromEntries(anchors) as object }),
  };
}

function plainPem(name: string, pem: string): string {
  return certificatePem(parseTrustAnchor(name, pem).certificate.der);
}

function expectedData({ requestedAt, ...rest }: Expected): object {
  return { ...rest, requestedAt: requestedAt instanceof Date ? requestedAt.getTime() : requestedAt };
}

/**
 * Reads the data of a page from JSON text. Throws {@link MalformedError} (`page`) with the path of every fault. What
 * the evidence, the policy and the bundle say is not looked into: verifying them tells.
 */
export function readPageData(text: string): PageContent {
  const faults = new FaultList();
  const reader = MemberReader.of(jsonValue(text), "", faults);
  const content = reader && contentOf(reader);
  if (content === undefined || faults.length > 0) throw new MalformedError("page", faults);
  return content;
}

/** Deeper than any report goes: as deep as a payload may be, and what is around it. */
const MAX_DEPTH = 100;
/** Of all the data, members and items: a report of as many boot proofs and app proofs as may be has half of it. */
const MAX_PAGE_VALUES = 500_000;
/** Of all pieces together: as many as one JSON text of evidence may have, such as a bundle. */
const MAX_PIECE_VALUES = 250_000;

/** By the platform's parser: a report may be nested deeper, and have more values, than evidence may. */
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

/** Infinity to this parser, and null to whatever writes it again. */
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

/** Before anything is parsed: each value takes many times the memory of its text. Counts also what is no JSON. */
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

/** Where the string ends that begins there. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

function pageFault(path: string, message: string): MalformedError {
  return new MalformedError("page", [{ path, message }]);
}

/** What the pieces of a page may come to together: many may name one file, and each is verified and shown. */
class PieceBudget {
  #characters = MAX_FILE_BYTES;
  #values = MAX_PIECE_VALUES;

  /** Throws {@link MalformedError} where it is more. */
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

/** A file of a page. Many pieces may name it: it is parsed and decoded once. */
class PageFile {
  readonly bytes: Uint8Array;
  #json: { readonly value: JsonValue | undefined } | undefined;
  #decoded: Uint8Array | undefined;
  #text: string | null | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Undefined where it is not JSON. */
  get json(): JsonValue | undefined {
    this.#json ??= { value: attempt(() => parseJson(this.bytes)).value };
    return this.#json.value;
  }

  /** Null where it is not UTF-8. */
  get text(): string | null {
    return (this.#text ??= fromUtf8(this.bytes));
  }

  get decoded(): Uint8Array {
    return (this.#decoded ??= decodeFile(this.bytes).bytes);
  }
}

function contentOf(reader: MemberReader): PageContent | undefined {
  if (reader.get("page") !== PAGE_FORMAT) reader.fault("page", `"${PAGE_FORMAT}" wanted`);
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

/** Each is verified and shown on its own. */
function refuseMany(reader: MemberReader, name: string, most: number): void {
  const items = reader.get(name);
  if (Array.isArray(items) && items.length > most)
    throw pageFault(reader.at(name), `${items.length} entries, at most ${most} wanted`);
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

/** Undefined where none is named, or at a fault. */
function fileOf(reader: MemberReader, files: readonly PageFile[]): PageFile | undefined {
  const index = reader.get("file");
  const bytes = typeof index === "number" ? files[index] : undefined;
  return bytes ?? reader.fault("file", `one of ${files.length} files wanted`);
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

/** Hex of at least one byte. */
function bytesMember(reader: MemberReader, name: string): Uint8Array | undefined {
  const bytes = hexMember(reader, name);
  return bytes?.length === 0 ? reader.fault(name, "empty") : bytes;
}

type Found = { readonly value: unknown } | undefined;

function valueOf(piece: MemberReader, file: PageFile | undefined): Found {
  const value = piece.get("value");
  if (file !== undefined) return valueFromFile(piece, value, file);
  if (isJsonObject(value) && piece.get("file") === undefined) {
    if (typeof value["text"] === "string") return { value: value["text"] };
    if (Object.hasOwn(value, "json")) return { value: value["json"] };
  }
  return piece.fault("value", `${jsonKind(value)}, {"text": …} or {"json": …} wanted, or a file`);
}

function valueFromFile(piece: MemberReader, value: JsonValue | undefined, file: PageFile): Found {
  if (value === "bytes") return { value: file.bytes };
  if (value === "decoded") return { value: file.decoded };
  if (value === "text") return { value: file.text ?? piece.fault("value", "its file is no text") };
  const at = isJsonObject(value) ? value["at"] : undefined;
  if (!isJsonObject(value) || !Array.isArray(at))
    return piece.fault("value", '"bytes", "decoded", "text" or {"at": […]} wanted');
  const own = memberAt(file.json, at);
  const found = value["appProofs"] === undefined ? own : withProofs(own, value["appProofs"]);
  if (found === undefined) return piece.fault("value", "its file has nothing there");
  return { value: typeof value["in"] === "string" ? { [value["in"]]: found } : found };
}

function memberAt(json: JsonValue | undefined, path: readonly JsonValue[]): JsonValue | undefined {
  let value: JsonValue | undefined = json;
  for (const step of path.slice(0, MAX_PLACE + 1)) {
    const isThere = typeof value === "object" && value !== null && Object.hasOwn(value, String(step));
    value = isThere ? (value as JsonObject)[String(step)] : undefined;
  }
  return value;
}

const OPTION_READERS: {
  readonly [Name in Exclude<keyof PlainOptions, "policy" | "now">]-?: (
    reader: MemberReader,
    name: Name,
  ) => PlainOptions[Name];
} = {
  at: (reader, name) => {
    const at = reader.get(name);
    return at === "document" || at === "now" ? at : instantMember(reader, name);
  },
  trustAnchors: (reader, name) => reader.array(name, (value, path) => anchorOf(value, path, reader)),
  measurements: measurementsOf,
  ephemeralKey: bytesMember,
  nonce: bytesMember,
  expected: (reader, name) => reader.nested(name)?.object as unknown as Expected | undefined,
  allowDebug: (reader, name) => reader.boolean(name),
  bootProofsOnly: (reader, name) => reader.boolean(name),
};

function measurementsOf(options: MemberReader, name: string): PlainOptions["measurements"] {
  const reader = options.nested(name);
  const indexes = Object.keys(reader?.object ?? {});
  if (reader !== undefined && indexes.length === 0) return options.fault(name, "empty");
  for (const index of indexes) if (!isPcrIndex(index)) reader!.fault(index, "no PCR: an index of 0 to 31 wanted");
  return Object.fromEntries(indexes.map((index) => [index, hexMember(reader!, index, PCR_LENGTH)!] as const));
}

function optionsOf(reader: MemberReader | undefined): PlainOptions | undefined {
  if (reader === undefined) return undefined;
  const names = Object.keys(OPTION_READERS) as (keyof typeof OPTION_READERS)[];
  reader.refuseUnknown(["policy", "now", ...names]);
  const policy = policyOf(reader);
  const now = instantMember(reader, "now");
  const others = names
    .filter((name) => reader.get(name) !== undefined)
    .map((name) => [name, OPTION_READERS[name](reader, name as never)]);
  return now && policy !== undefined ? { policy, now, ...(Object.fromEntries(others) as object) } : undefined;
}

function anchorOf(json: JsonValue, path: string, { faults }: MemberReader): { name: string; pem: string } | undefined {
  const reader = MemberReader.of(json, path, faults);
  reader?.refuseUnknown(["name", "pem"]);
  const [name, pem] = [reader?.string("name"), reader?.string("pem")];
  return name === undefined || pem === undefined ? undefined : { name, pem };
}

/** Undefined at a fault. */
function policyOf(reader: MemberReader): PlainOptions["policy"] | undefined {
  const json = reader.get("policy");
  if (json === undefined) return Object.hasOwn(reader.object, "policy") ? null : reader.fault("policy", "missing");
  if (json === "bundle") return json;
  const policy = reader.nested("policy");
  policy?.refuseUnknown(["bytes", "anchors"]);
  const bytes = policy && base64Member(policy, "bytes");
  const anchors = policy && anchorTexts(policy);
  return bytes && { bytes, ...(anchors && { anchors }) };
}

/** Undefined where there are none, or at a fault. */
function anchorTexts(policy: MemberReader): Record<string, string> | undefined {
  if (policy.get("anchors") === undefined) return undefined;
  const anchors = policy.nested("anchors");
  const texts = Object.keys(anchors?.object ?? {}).map((name) => [name, anchors!.string(name) ?? ""]);
  return Object.fromEntries(texts) as Record<string, string>;
}

/** Reads a policy that is plain data. Throws {@link MalformedError} (`json` or `policy`) as `parsePolicy` does. */
export function parsePlainPolicy(policy: PlainPolicy): Policy {
  const { bytes, anchors = {} } = ownMembers(policy, { bytes: true, anchors: true });
  return parsePolicy(bytes, {
    readFile: (name) => {
      if (Object.hasOwn(anchors, name)) return anchors[name]!;
      throw new Error("not among the files that were given");
    },
  });
}
