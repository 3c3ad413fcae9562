/** Detects a file of another kind than its option takes, and names the option that takes it. */
import { type Piece, evidenceBeside, isServiceError } from "../decode/evidence-members.js";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { attempt, listed } from "../errors.js";
import type { EvidenceKind } from "../inspect/kind.js";
import { IMAGE_ADVICE } from "./file-formats.js";
import type { InputFiles } from "./files.js";
import { type CommandName, type OptionName, commandsWith } from "./option-table.js";

type Taken = readonly [kinds: readonly EvidenceKind[], members: readonly string[]];

/** The kinds that each option and operand takes, and the members of an object that may hold one. */
const TAKES = {
  "--boot-proof": [
    ["boot proof", "boot proofs"],
    ["bootProof", "bootProofs"],
  ],
  "--app-proof": [
    ["app proof", "app proofs"],
    ["appProof", "appProofs"],
  ],
  "--activity": [["activity"], ["activity"]],
  "--attestation": [["attestation document"], []],
  "--policy": [["policy"], []],
  "--add-to": [["policy"], []],
  POLICY: [["policy"], []],
  "--trust-anchor": [["certificate", "certificates"], []],
  "--request": [["request"], []],
  "--release": [["release"], []],
  "--pcrs": [["image PCRs"], []],
  "--manifest-set": [[], []],
  "--provenance": [["provenance bundle"], []],
  "--trusted-root": [["trusted root"], []],
  "--api-key-file": [["API key"], []],
  "--previous": [["manifest", "manifest envelope"], []],
  MANIFEST: [["manifest", "manifest envelope"], []],
  BUNDLE: [["bundle"], []],
} as const satisfies Readonly<Partial<Record<`--${OptionName}` | "BUNDLE" | "MANIFEST" | "POLICY", Taken>>>;

type FileOption = keyof typeof TAKES;
export type FileCommand = CommandName | "policy drop";

/** What takes each kind: an option, or otherwise advice. */
const KINDS: Readonly<
  Record<EvidenceKind, readonly [is: string, by: `--${OptionName}` | { readonly advice: string }]>
> = {
  "boot proof": ["this is a boot proof", "--boot-proof"],
  "boot proofs": ["these are boot proofs", "--boot-proof"],
  "app proof": ["this is an app proof", "--app-proof"],
  "app proofs": ["these are app proofs", "--app-proof"],
  activity: ["this is an activity", "--activity"],
  "attestation document": ["this is a bare attestation document", "--attestation"],
  manifest: [
    "this is a manifest",
    { advice: "bootproof inspect shows it; to verify it, give the boot proof that contains it" },
  ],
  "manifest envelope": [
    "this is a manifest envelope",
    { advice: "bootproof inspect shows it; to verify it, give the boot proof that contains it" },
  ],
  certificate: ["this is a certificate", "--trust-anchor"],
  certificates: ["these are certificates", "--trust-anchor"],
  bundle: ["this is a bundle", { advice: "give it alone: bootproof verify FILE" }],
  "provenance bundle": ["this is a provenance bundle", "--provenance"],
  "trusted root": ["this is a trusted root of Sigstore", "--trusted-root"],
  policy: ["this is a policy", "--policy"],
  report: ["this is a report, which proves nothing", { advice: "verify the evidence itself" }],
  release: ["this is a published release", "--release"],
  "image PCRs": ["these are the PCRs of an image", "--pcrs"],
  approval: [
    "this is an approval of a manifest",
    { advice: "give the folder that it is in, with the manifest: bootproof release check FOLDER" },
  ],
  request: ["this is a request", "--request"],
  "API key": ["this is an API key file", "--api-key-file"],
  "enclave image": ["this is an enclave image", { advice: IMAGE_ADVICE }],
};

/** The options that read pieces of one kind out of a file. */
const PIECES: Readonly<Partial<Record<FileOption, Piece>>> = {
  "--boot-proof": "boot proof",
  "--app-proof": "app proof",
  "--activity": "activity",
};

export interface FilePlace {
  readonly command: FileCommand;
  readonly option: FileOption;
}

/**
 * The bytes, if the option takes their kind or the kind is unknown: the reader of the file reports what is wrong with
 * it. Otherwise undefined, and a fault that names the right option.
 */
export async function ofKind(
  files: InputFiles,
  path: string,
  bytes: Uint8Array | undefined,
  place: FilePlace,
): Promise<Uint8Array | undefined> {
  if (bytes === undefined) return undefined;
  const { kindOf } = await import("../inspect/kind.js");
  const kind = kindOf(bytes);
  const says =
    kind === null || takes(place.option, kind) ? await jsonFault(bytes, place) : otherKind(kind, place.command);
  return says === null ? bytes : files.fault(path, says);
}

/** {@link ofKind} for JSON: returns the parsed value. */
export async function jsonOfKind(
  files: InputFiles,
  path: string,
  bytes: Uint8Array | undefined,
  place: FilePlace,
): Promise<JsonValue | undefined> {
  if (bytes === undefined) return undefined;
  const { kindOf, kindOfJson } = await import("../inspect/kind.js");
  const json = attempt(() => parseJson(bytes)).value;
  const isWhole = typeof json === "object" && json !== null;
  const kind = isWhole ? kindOfJson(json) : kindOf(bytes);
  const says =
    kind === null || takes(place.option, kind, json) ? await jsonFault(json, place) : otherKind(kind, place.command);
  if (says !== null) return files.fault(path, says);
  return json ?? files.decoded(path, () => parseJson(bytes));
}

/** What is wrong with a file of the right or an unknown kind; null if nothing. */
async function jsonFault(file: Uint8Array | JsonValue | undefined, place: FilePlace): Promise<string | null> {
  const json = file instanceof Uint8Array ? attempt(() => parseJson(file)).value : file;
  if (!isJsonObject(json) && !Array.isArray(json)) return null;
  const event = eventOfLog(json);
  if (event !== null)
    return `this is an entry of a log (${event}), which has no evidence: it says what happened to the watch`;
  const [, members]: Taken = TAKES[place.option];
  if (isServiceError(json) || (isJsonObject(json) && members.some((name) => isServiceError(json[name]))))
    return `this is ${(await import("../inspect/unrecognised.js")).SERVICE_ERROR}`;
  return moreThanTaken(json, place);
}

/** Entries of `bootproof watch` that are no findings. */
function eventOfLog(json: JsonObject | JsonValue[]): string | null {
  if (!isJsonObject(json) || !String(json["log"]).startsWith("bootproof-log/")) return null;
  const event = json["event"];
  return typeof event === "string" && /^[a-z-]{1,40}$/.test(event) ? event : null;
}

/** Other evidence in the same file, which would not be verified. */
function moreThanTaken(json: JsonObject | JsonValue[], { command, option }: FilePlace): string | null {
  const piece = PIECES[option];
  if (piece === undefined) return null;
  const isBundle = isJsonObject(json) && String(json["bundle"]).startsWith("bootproof-bundle/");
  const beside = evidenceBeside(isBundle ? withoutForm(json, command) : json, piece).flatMap(({ path }) => path || []);
  if (beside.length === 0) return null;
  const holds = `${listed(beside, ", ")} in it would not be verified, since ${option} takes only ${TAKEN[piece]}`;
  return isBundle ? `${holds}: a bundle is verified as a whole by bootproof verify FILE` : `${holds}: ${A_FILE_EACH}`;
}

const A_FILE_EACH =
  "give each kind of evidence in a file of its own (bootproof verify --boot-proof, --app-proof, --activity)";
const TAKEN: Readonly<Record<Piece, string>> = {
  "boot proof": "boot proofs",
  "app proof": "app proofs",
  activity: "an activity",
};

/** What a command may ignore in a bundle: `fetch` fetches the boot proofs anew. */
const LEFT_OUT: Readonly<Partial<Record<FileCommand, readonly string[]>>> = {
  pin: ["appProofs", "activity"],
  fetch: ["bootProofs"],
};

function withoutForm(bundle: JsonObject, command: FileCommand): JsonObject {
  const isForm = (name: string, value: JsonValue): boolean =>
    name === "bundle" ||
    (name === "appProofs" && Array.isArray(value) && value.length === 0) ||
    LEFT_OUT[command]?.includes(name) === true;
  return Object.fromEntries(Object.entries(bundle).filter(([name, value]) => !isForm(name, value)));
}

function takes(option: FileOption, kind: EvidenceKind, json?: JsonValue): boolean {
  const [kinds, members]: Taken = TAKES[option];
  return kinds.includes(kind) || (isJsonObject(json) && members.some((name) => Object.hasOwn(json, name)));
}

function otherKind(kind: EvidenceKind, command: FileCommand): string {
  const [is, by] = KINDS[kind];
  if (typeof by !== "string") return `${is}: ${by.advice}`;
  const commands: readonly FileCommand[] = commandsWith(by.slice(2) as OptionName);
  return `${is}; ${commands.includes(command) ? by : `bootproof ${commands[0]!} ${by}`} takes it`;
}
