/** A file of another kind than its option takes: what it is, and what takes it. */
import { type Piece, evidenceBeside, isServiceError } from "../decode/evidence-members.js";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { attempt, listed } from "../errors.js";
import type { EvidenceKind } from "../inspect/kind.js";
import { IMAGE_ADVICE } from "./file-formats.js";
import type { InputFiles } from "./files.js";

/** The options that take a file, and the commands that have each, the one to be named first. */
const OPTIONS = {
  "--boot-proof": ["verify", "pin", "bundle", "audit"],
  "--app-proof": ["verify", "bundle"],
  "--activity": ["verify", "bundle", "fetch"],
  "--attestation": ["verify"],
  "--policy": ["verify", "bundle", "page", "measure", "release check", "watch", "audit", "worker"],
  "--add-to": ["pin"],
  POLICY: ["policy check", "policy drop"],
  "--trust-anchor": ["verify", "pin", "page", "audit", "worker"],
  "--request": ["verify"],
  "--release": ["pin"],
  "--pcrs": ["pin"],
  "--manifest-set": ["pin", "release check"],
  "--api-key-file": ["fetch", "verify", "stamp"],
  BUNDLE: ["verify"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type FileOption = keyof typeof OPTIONS;
export type FileCommand = (typeof OPTIONS)[FileOption][number];

/** What takes each kind: an option; or, where no option does, what to do. */
const KINDS: Readonly<Record<EvidenceKind, readonly [is: string, by: FileOption | { readonly advice: string }]>> = {
  "boot proof": ["this is a boot proof", "--boot-proof"],
  "boot proofs": ["these are boot proofs", "--boot-proof"],
  "app proof": ["this is an app proof", "--app-proof"],
  "app proofs": ["these are app proofs", "--app-proof"],
  activity: ["this is an activity", "--activity"],
  "attestation document": ["this is a bare attestation document", "--attestation"],
  manifest: [
    "this is a manifest",
    { advice: "bootproof inspect shows it; a boot proof has it with what vouches for it" },
  ],
  "manifest envelope": [
    "this is a manifest envelope",
    { advice: "bootproof inspect shows it; a boot proof has it with what vouches for it" },
  ],
  certificate: ["this is a certificate", "--trust-anchor"],
  certificates: ["these are certificates", "--trust-anchor"],
  bundle: ["this is a bundle", { advice: "it stands for itself: bootproof verify FILE" }],
  policy: ["this is a policy", "--policy"],
  report: ["this is a report, somebody's word", { advice: "verify the evidence it names" }],
  release: ["this is a published release", "--release"],
  "image PCRs": ["these are the PCRs of an image", "--pcrs"],
  approval: [
    "this is an approval of a manifest",
    { advice: "bootproof release check takes the folder that it is in, with the manifest" },
  ],
  request: ["this is a request", "--request"],
  "API key": ["this is an API key file", "--api-key-file"],
  "enclave image": ["this is an enclave image", { advice: IMAGE_ADVICE }],
};

/** The kinds that each option takes; and the members of an object that holds one, whatever else it is. */
const TAKES: Readonly<Record<FileOption, readonly [kinds: readonly EvidenceKind[], members: readonly string[]]>> = {
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
  "--api-key-file": [["API key"], []],
  BUNDLE: [["bundle"], []],
};

/** The options that read pieces of one kind out of a file. */
const PIECES: Readonly<Partial<Record<FileOption, Piece>>> = {
  "--boot-proof": "boot proof",
  "--app-proof": "app proof",
  "--activity": "activity",
};

/** Where a file was given. */
export interface FilePlace {
  readonly command: FileCommand;
  readonly option: FileOption;
}

/**
 * The bytes, where they are what the option takes, or of no kind that is known: whoever reads them tells what is wrong
 * with those. Of another kind: undefined, and a fault that names what takes it.
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

/** As {@link ofKind}, for what is JSON where it is right: the value, which is parsed once. */
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

/** What is wrong with a file of the right kind, or of none; null where that is nothing. */
async function jsonFault(file: Uint8Array | JsonValue | undefined, place: FilePlace): Promise<string | null> {
  const json = file instanceof Uint8Array ? attempt(() => parseJson(file)).value : file;
  if (!isJsonObject(json) && !Array.isArray(json)) return null;
  const members = TAKES[place.option][1];
  if (isServiceError(json) || (isJsonObject(json) && members.some((name) => isServiceError(json[name]))))
    return `this is ${(await import("../inspect/unrecognised.js")).SERVICE_ERROR}`;
  return moreThanTaken(json, place);
}

/** Evidence that a file holds beside what its option takes: it would not be verified. */
function moreThanTaken(json: JsonObject | JsonValue[], { command, option }: FilePlace): string | null {
  const piece = PIECES[option];
  if (piece === undefined) return null;
  const isBundle = isJsonObject(json) && String(json["bundle"]).startsWith("bootproof-bundle/");
  const beside = evidenceBeside(isBundle ? withoutForm(json, command) : json, piece).flatMap(({ path }) => path || []);
  if (beside.length === 0) return null;
  const holds = `${listed(beside, ", ")} in it would not be verified, since ${option} takes ${TAKEN[piece]} alone`;
  return isBundle ? `${holds}: a bundle is verified as a whole by bootproof verify FILE` : `${holds}: ${A_FILE_EACH}`;
}

const A_FILE_EACH =
  "give each kind of evidence in a file of its own (bootproof verify --boot-proof, --app-proof, --activity)";
const TAKEN: Readonly<Record<Piece, string>> = {
  "boot proof": "boot proofs",
  "app proof": "app proofs",
  activity: "an activity",
};

/** What a command leaves out of a bundle and verifies nothing of: `fetch` fetches the boot proofs anew. */
const LEFT_OUT: Readonly<Partial<Record<FileCommand, readonly string[]>>> = {
  pin: ["appProofs", "activity"],
  fetch: ["bootProofs"],
};

/** The members of a bundle but for its form, and for what the command may leave out. */
function withoutForm(bundle: JsonObject, command: FileCommand): JsonObject {
  const isForm = (name: string, value: JsonValue): boolean =>
    name === "bundle" ||
    (name === "appProofs" && Array.isArray(value) && value.length === 0) ||
    LEFT_OUT[command]?.includes(name) === true;
  return Object.fromEntries(Object.entries(bundle).filter(([name, value]) => !isForm(name, value)));
}

function takes(option: FileOption, kind: EvidenceKind, json?: JsonValue): boolean {
  const [kinds, members] = TAKES[option];
  return kinds.includes(kind) || (isJsonObject(json) && members.some((name) => Object.hasOwn(json, name)));
}

/** What a file is that a command does not take where it was given, and what does. */
function otherKind(kind: EvidenceKind, command: FileCommand): string {
  const [is, by] = KINDS[kind];
  if (typeof by !== "string") return `${is}: ${by.advice}`;
  const commands: readonly FileCommand[] = OPTIONS[by];
  return `${is}; ${commands.includes(command) ? by : `bootproof ${commands[0]!} ${by}`} takes it`;
}
