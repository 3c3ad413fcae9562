/**
 * What a page carries (`bootproof-page/1`; page/README.md, "The data"): the evidence as it was given, what it was held
 * against, and the report. Plain data: whoever reads it verifies it anew, and believes nothing of it.
 */
import type { PlainPolicy } from "../appraise/plain-policy.js";
import { type Policy, parsePolicy } from "../appraise/policy.js";
import { equalBytes, fromBase64, fromUtf8, toBase64, toHex } from "../bytes.js";
import { copyJson, isJsonObject, jsonKey, jsonKind, parseJson } from "../decode/json.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { copyPlain, ownMembers, ownOptions } from "../decode/input.js";
import { MemberReader, base64Member, hexMember } from "../decode/json-members.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import { decodeFile } from "../decode/text-encoding.js";
import { FaultList, MalformedError, attempt, faultText } from "../errors.js";
import {
  type JudgedEvidence,
  NamedEvidence,
  type PlainOptions,
  evidenceMembers,
  isPcrIndex,
  ownPlainOptions,
} from "../inputs.js";
import type { Report } from "../report/report.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";
import type { Expected } from "../verify/expectation.js";
import { certificatePem, parseTrustAnchor } from "../verify/trust-anchor.js";

const PAGE_FORMAT = "bootproof-page/1" as const;
/** Of a whole page, in bytes: a bundle of 8 MiB, its report and the script have room in it. */
export const MAX_PAGE_BYTES = 32 * 1024 * 1024;

/** A bundle's file, which stands for all that is in it. */
export interface BundleBytes {
  readonly bundle: Uint8Array;
  readonly name: string;
}

/** Evidence, a bare attestation document, or a bundle. */
export type PageEvidence = JudgedEvidence | BundleBytes;

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
  return { evidence, options: ownPlainOptions(options), report: copyPlain(report) };
}

/**
 * The data of a page. Throws TypeError for a boot proof that is verified already, of which no JSON is left, and for a
 * piece whose value is not in the bytes that it names: the digest of those would stand for something else.
 */
export function pageData(content: PageContent): PageData {
  const { evidence, options, report } = ownContent(content);
  const files = new Files();
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
  readonly #places: Map<string, Path>[] = [];

  indexOf(bytes: Uint8Array): number {
    const known = this.list.findIndex((file) => equalBytes(file, bytes));
    return known >= 0 ? known : this.list.push(bytes) - 1;
  }

  /** Where the file's JSON has the value; undefined where it has not. */
  placeOf(file: number, value: JsonValue): Path | undefined {
    const places = (this.#places[file] ??= placesIn(attempt(() => parseJson(this.list[file]!)).value));
    return places.get(jsonKey(value));
  }
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
  const { name, value, bytes, ephemeralKey, latestOf } = piece;
  const own = bytes ?? (value instanceof Uint8Array ? value : null);
  const file = own === null ? undefined : files.indexOf(own);
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

/** By the platform's parser: a report may be nested deeper, and have more values, than evidence may. */
function jsonValue(text: string): unknown {
  if (text.length > MAX_PAGE_BYTES) throw pageFault("", `more than ${MAX_PAGE_BYTES} characters`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw pageFault("", "not JSON");
  }
  refuseDepth(value);
  return value;
}

/** Level by level: what calls itself for each of them would have no stack left. */
function refuseDepth(json: unknown): void {
  let level = [json];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw pageFault("", `nested deeper than ${MAX_DEPTH}`);
    if (level.some((value) => typeof value === "number" && !Number.isFinite(value)))
      throw pageFault("", "a number that is larger than a double holds");
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
}

function pageFault(path: string, message: string): MalformedError {
  return new MalformedError("page", [{ path, message }]);
}

function contentOf(reader: MemberReader): PageContent | undefined {
  if (reader.get("page") !== PAGE_FORMAT) reader.fault("page", `"${PAGE_FORMAT}" wanted`);
  reader.refuseUnknown(["page", "files", "evidence", "options", "report"]);
  const files = reader.array("files", (value, path) => {
    const bytes = typeof value === "string" ? fromBase64(value) : null;
    if (bytes === null) reader.faults.push({ path, message: "not base64" });
    return bytes ?? undefined;
  });
  const evidence = evidenceOf(reader.nested("evidence"), files ?? []);
  const options = optionsOf(reader.nested("options"));
  const report = reader.nested("report");
  return evidence && options && report && { evidence, options, report: report.object };
}

function evidenceOf(reader: MemberReader | undefined, files: readonly Uint8Array[]): PageEvidence | undefined {
  if (reader === undefined) return undefined;
  if (reader.get("bundle") !== undefined) return bundleOf(reader, files);
  if (reader.get("document") !== undefined) {
    reader.refuseUnknown(["document"]);
    return pieceOf(reader.get("document"), reader.at("document"), { reader, files });
  }
  reader.refuseUnknown(["bootProofs", "appProofs", "activity"]);
  const place = { reader, files };
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

function bundleOf(reader: MemberReader, files: readonly Uint8Array[]): BundleBytes | undefined {
  reader.refuseUnknown(["bundle"]);
  const bundle = reader.nested("bundle");
  bundle?.refuseUnknown(["name", "file"]);
  const name = bundle?.string("name");
  const bytes = bundle && fileOf(bundle, files);
  return name === undefined || !bytes ? undefined : { bundle: bytes, name };
}

/** Undefined where none is named, or at a fault. */
function fileOf(reader: MemberReader, files: readonly Uint8Array[]): Uint8Array | undefined {
  const index = reader.get("file");
  const bytes = typeof index === "number" ? files[index] : undefined;
  return bytes ?? reader.fault("file", `one of ${files.length} files wanted`);
}

interface PiecePlace {
  readonly reader: MemberReader;
  readonly files: readonly Uint8Array[];
}

function pieceOf(json: JsonValue | undefined, path: string, { reader, files }: PiecePlace): NamedEvidence | undefined {
  const piece = MemberReader.of(json, path, reader.faults);
  if (piece === undefined) return undefined;
  piece.refuseUnknown(["name", "file", "value", "ephemeralKey", "latestOf"]);
  const name = piece.get("name") === undefined ? null : piece.string("name");
  const bytes = piece.get("file") === undefined ? undefined : fileOf(piece, files);
  const value = valueOf(piece, bytes);
  const latestOf = piece.get("latestOf") === undefined ? undefined : piece.string("latestOf");
  const key = piece.get("ephemeralKey") === undefined ? undefined : bytesMember(piece, "ephemeralKey");
  if (name === undefined || value === undefined) return undefined;
  return new NamedEvidence(name, value.value, {
    ...(bytes && bytes.length > 0 && { bytes }),
    ...(key && { ephemeralKey: key }),
    ...(latestOf !== undefined && { latestOf }),
  });
}

/** Hex of at least one byte. */
function bytesMember(reader: MemberReader, name: string): Uint8Array | undefined {
  const bytes = hexMember(reader, name);
  return bytes?.length === 0 ? reader.fault(name, "empty") : bytes;
}

type Found = { readonly value: unknown } | undefined;

function valueOf(piece: MemberReader, bytes: Uint8Array | undefined): Found {
  const value = piece.get("value");
  if (bytes !== undefined) return valueFromFile(piece, value, bytes);
  if (isJsonObject(value) && piece.get("file") === undefined) {
    if (typeof value["text"] === "string") return { value: value["text"] };
    if (Object.hasOwn(value, "json")) return { value: value["json"] };
  }
  return piece.fault("value", `${jsonKind(value)}, {"text": …} or {"json": …} wanted, or a file`);
}

function valueFromFile(piece: MemberReader, value: JsonValue | undefined, bytes: Uint8Array): Found {
  if (value === "bytes") return { value: bytes };
  if (value === "decoded") return { value: decodeFile(bytes).bytes };
  if (value === "text") return { value: fromUtf8(bytes) ?? piece.fault("value", "its file is no text") };
  const at = isJsonObject(value) ? value["at"] : undefined;
  if (!isJsonObject(value) || !Array.isArray(at))
    return piece.fault("value", '"bytes", "decoded", "text" or {"at": […]} wanted');
  const own = memberAt(attempt(() => parseJson(bytes)).value, at);
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
    return at === "document" || at === "now" ? at : instant(reader, name);
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
  const now = instant(reader, "now");
  const others = names
    .filter((name) => reader.get(name) !== undefined)
    .map((name) => [name, OPTION_READERS[name](reader, name as never)]);
  return now && policy !== undefined ? { policy, now, ...(Object.fromEntries(others) as object) } : undefined;
}

/** As `toISOString` writes it: one moment has one spelling. */
function instant(reader: MemberReader, name: string): Date | undefined {
  const text = reader.string(name);
  if (text === undefined) return undefined;
  const time = new Date(text);
  const isTime = !Number.isNaN(time.getTime()) && time.toISOString() === text;
  return isTime ? time : reader.fault(name, "not a time such as 2026-03-04T05:06:07.000Z");
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
