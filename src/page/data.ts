/** The data of a page (`bootproof-page/1`; page/README.md, "The data"): evidence, options and report, never trusted. */
import { equalBytes, fromUtf8, toBase64, toHex } from "../bytes.js";
import { type JsonObject, type JsonValue, copyJson, isJsonObject, jsonKey, parseJson } from "../decode/json.js";
import { copyPlain, ownOptions } from "../decode/input.js";
import { decodeFile } from "../decode/text-encoding.js";
import { MalformedError, attempt, faultText } from "../errors.js";
import { type Evidence, type EvidenceInput, NamedEvidence, evidenceMembers } from "../inputs.js";
import { type PlainOptions, ownPlainOptions } from "../plain-settings.js";
import type { Report } from "../report/report.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";
import { optionsData } from "./options-data.js";

export const PAGE_FORMAT = "bootproof-page/1" as const;
/** Of a page, in bytes: enough for a bundle of 8 MiB, its report and the script. */
export const MAX_PAGE_BYTES = 32 * 1024 * 1024;
/** Of a bundle, and of all pieces together: the limit of the command for a bundle. */
export const MAX_FILE_BYTES = 8 * 1024 * 1024;

/** A bundle's file. */
export interface BundleBytes {
  readonly bundle: Uint8Array;
  readonly name: string;
}

export type PageEvidence = EvidenceInput | BundleBytes;

export interface PageContent {
  readonly evidence: PageEvidence;
  readonly options: PlainOptions;
  /** Read from a page, it may have any shape, and is not trusted. */
  readonly report: Report | JsonObject;
}

type Path = readonly (string | number)[];

/** A piece's value: in its file, or beside it. */
export type PieceValue =
  /** The file's bytes; those decoded from base64 or hex; or its text. */
  | "bytes"
  | "decoded"
  | "text"
  /**
   * A value of the file's JSON. `in`: wrapped in an object with that member. `appProofs`: those that the service listed
   * for an activity whose file has none.
   */
  | { readonly at: Path; readonly in?: string; readonly appProofs?: JsonValue }
  | { readonly text: string }
  | { readonly json: JsonValue };

export interface PieceData {
  readonly name: string | null;
  /** Index in `files`. */
  readonly file?: number;
  readonly value: PieceValue;
  readonly ephemeralKey?: string;
  readonly latestOf?: string;
}

/** As JSON. Byte strings are hex, files base64. */
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

/** Copies evidence, options and report. */
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
 * The data of a page. Throws TypeError for a `VerifiedBootProof`, which has no JSON, and for a piece whose value is not
 * in its bytes: their digest would identify something else.
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
  /** By the original byte arrays. */
  readonly #indices = new Map<Uint8Array, number>();
  readonly #places: Map<string, Path>[] = [];

  /** Sorts to bring equal contents together: comparing every pair takes too long. */
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

  /** The path of the value in the file's JSON, if it has it. */
  placeOf(file: number, value: JsonValue): Path | undefined {
    const places = (this.#places[file] ??= placesIn(attempt(() => parseJson(this.list[file]!)).value));
    return places.get(jsonKey(value));
  }
}

/** Any total order. */
function compareBytes(a: Uint8Array, b: Uint8Array): number {
  if (a.length !== b.length) return a.length - b.length;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return a[at]! - b[at]!;
  return 0;
}

/** The deepest pieces are items of a list that is a member of the outermost object. */
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
  const { bootProofs, appProofs, activity, provenance } = evidenceMembers(evidence);
  // Left out silently, the page's verification would differ from the report.
  if (provenance.length > 0)
    throw new MalformedError("page", [
      { path: "evidence.provenance", message: "a page takes none, as browsers verify none" },
    ]);
  return {
    bootProofs: bootProofs.map((piece, index) => pieceData(`boot[${index}]`, piece, files)),
    appProofs: appProofs.map((piece, index) => pieceData(`app[${index}]`, piece, files)),
    ...(activity !== undefined && { activity: pieceData("activity", activity, files) }),
  };
}

/** Whether it is a bundle's file, not pieces or a document. */
export function isBundleBytes(evidence: PageEvidence): evidence is BundleBytes {
  return Object.hasOwn(evidence, "bundle") && (evidence as BundleBytes).bundle instanceof Uint8Array;
}

function pieceData(subject: string, input: unknown, files: Files): PieceData {
  const piece = isNamed(input) ? input : new NamedEvidence(null, input);
  const { name, value, ephemeralKey, latestOf } = piece;
  const [own] = ownBytes(input);
  const file = own === undefined ? undefined : files.indexOf(own);
  const found = file === undefined ? inlineValue(subject, value) : valueInFile(value, file, files);
  if (found === undefined) throw new TypeError(`${subject}: its value is not in the bytes beside it`);
  return {
    name,
    ...(file !== undefined && { file }),
    value: found,
    ...(ephemeralKey !== null && { ephemeralKey: toHex(ephemeralKey) }),
    ...(latestOf !== null && { latestOf }),
  };
}

const NAMED = ["name", "value", "bytes", "ephemeralKey", "latestOf"];

/** Also of another copy of the class: the command loads this module from a bundle of its own. */
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
  if (VerifiedBootProof.isVerified(value)) throw new TypeError(`${subject}: expected JSON, got a verified value`);
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

/** The file's activity, with app proofs that it lacks. */
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

/** Undefined for anything but an activity without app proofs. */
export function withProofs(activity: JsonValue | undefined, appProofs: JsonValue): JsonObject | undefined {
  if (!isJsonObject(activity)) return undefined;
  const own = activity["appProofs"] ?? [];
  return Array.isArray(own) && own.length === 0 ? { ...activity, appProofs } : undefined;
}

export function memberAt(json: JsonValue | undefined, path: readonly JsonValue[]): JsonValue | undefined {
  let value: JsonValue | undefined = json;
  for (const step of path.slice(0, MAX_PLACE + 1)) {
    const isThere = typeof value === "object" && value !== null && Object.hasOwn(value, String(step));
    value = isThere ? (value as JsonObject)[String(step)] : undefined;
  }
  return value;
}
