/** Detects a file of a kind that its option does not take, and names the option that takes it. */
import type { PolicyFile } from "../appraise/policy.js";
import { fromUtf8 } from "../bytes.js";
import { ACTIVITY_MEMBERS, RESULT_MEMBERS } from "../decode/activity.js";
import { APP_PROOF_MEMBERS } from "../decode/app-proof.js";
import { MAX_BUNDLE_BOOT_PROOFS, bootProofMembers } from "../decode/boot-proof.js";
import { type Piece, evidenceBeside, misspelt, sentInstead, wrappersOf } from "../decode/evidence-members.js";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import { mayBeDocument } from "../decode/text-encoding.js";
import { attempt, faultText, listed } from "../errors.js";
import type { EvidenceKind, KINDS, KindRow } from "../inspect/kinds.js";
import { adviceOnFaults } from "../report/causes.js";
import { PEM_START } from "../verify/trust-anchor.js";
import { type InputFiles, givenAlone } from "./files.js";
import { type CommandName, commandsWith } from "./option-table.js";

/** The options that take files of a known kind, and those whose files have no recognised kind. */
export type FileOption = (typeof KINDS)[EvidenceKind]["takenBy"][number] | "--manifest-set" | "--crl";

/**
 * Reads a file and returns its bytes. If the option does not take files of this kind, returns undefined and adds a
 * fault that names the right option. An unknown kind is left to the reader of the bytes, which reports what is wrong.
 */
export async function ofKind(
  files: InputFiles,
  path: string,
  option: FileOption,
  maxBytes?: number,
): Promise<Uint8Array | undefined> {
  const bytes = await files.bytes(path, maxBytes);
  return bytes && takenAs(files, path, bytes, option);
}

/** Does what {@link ofKind} does, with bytes that were read and are of a format that some command reads. */
export async function takenAs(
  files: InputFiles,
  path: string,
  bytes: Uint8Array,
  option: FileOption,
): Promise<Uint8Array | undefined> {
  const { kindOf } = await import("../inspect/kinds.js");
  const json = attempt(() => parseJson(bytes)).value;
  const says = await refusal(kindOf(bytes), { bytes, json }, { files, path, option }, false);
  return says === null ? bytes : files.fault(path, ...says);
}

/** Returns the parsed JSON of a file, with the checks of {@link ofKind}. A member may hold what the option takes. */
export async function jsonOfKind(
  files: InputFiles,
  path: string,
  bytes: Uint8Array | undefined,
  option: FileOption,
): Promise<JsonValue | undefined> {
  if (bytes === undefined) return undefined;
  const { kindOf, kindOfJson } = await import("../inspect/kinds.js");
  const json = attempt(() => parseJson(bytes)).value;
  const isWhole = typeof json === "object" && json !== null;
  const kind = isWhole ? kindOfJson(json) : kindOf(bytes);
  const says = await refusal(kind, { bytes, json }, { files, path, option }, true);
  if (says !== null) return files.fault(path, ...says);
  return json === undefined ? files.decoded(path, () => parseJson(bytes), await whatIsTaken(option)) : json;
}

interface FilePlace {
  readonly files: InputFiles;
  readonly path: string;
  readonly option: FileOption;
}

interface Content {
  readonly bytes: Uint8Array;
  /** The parsed JSON; undefined if the bytes are not JSON. */
  readonly json: JsonValue | undefined;
}

type Refusal = readonly [message: string, advice?: string | undefined];

/** Returns why the option does not take the file. Null if it takes the file, or if no reason can be named here. */
async function refusal(
  kind: EvidenceKind | null,
  content: Content,
  place: FilePlace,
  mayBeMember: boolean,
): Promise<Refusal | null> {
  const { KINDS } = await import("../inspect/kinds.js");
  const { json } = content;
  const isTakenHere = ({ takenBy }: KindRow): boolean => takenBy.includes(place.option);
  const [taken, { piece }] = Object.entries<KindRow>(KINDS).find(([, row]) => isTakenHere(row)) ?? ["", {}];
  const inside = heldIn(json, piece);
  const isTaken = kind === null || isTakenHere(KINDS[kind]) || (mayBeMember && inside.length > 0);
  if (!isTaken) return [await otherKind(kind, place)];
  const sent = [json, ...inside].map(sentInstead).find((what) => what !== null);
  const says = sent ? `this is ${sent}` : entryOfLog(json);
  const refused: Refusal | null = says === null ? moreThanTaken(json, piece, place) : [says];
  if (refused !== null) return refused;
  if (kind !== null || !isForeign(content, piece ?? taken, place)) return null;
  const { describeUnrecognised } = await import("../inspect/unrecognised.js");
  return [describeUnrecognised(content.bytes), await whatIsTaken(place.option)];
}

function heldIn(json: Content["json"], piece: KindRow["piece"]): readonly unknown[] {
  if (piece === undefined || !isJsonObject(json)) return [];
  return wrappersOf(piece).flatMap((name) => (Object.hasOwn(json, name) ? [json[name]] : []));
}

async function otherKind(kind: EvidenceKind, { files: { command }, path }: FilePlace): Promise<string> {
  const { KINDS, kindSentence } = await import("../inspect/kinds.js");
  const { takenBy, advice }: KindRow = KINDS[kind];
  const by = takenBy[0];
  if (kind === "bundle") return `${kindSentence(kind)}: ${givenAlone(path)}`;
  if (!by?.startsWith("--")) return `${kindSentence(kind)}: ${advice!}`;
  const commands = commandsWith(by.slice(2)).map((row) => row.command);
  return `${kindSentence(kind)}; ${commands.includes(command) ? by : `bootproof ${commands[0]!} ${by}`} takes it`;
}

/** Returns a sentence such as `--policy takes a policy: bootproof pin makes one`. Undefined without a row in KINDS. */
export async function whatIsTaken(option: FileOption): Promise<string | undefined> {
  const { KINDS } = await import("../inspect/kinds.js");
  const taken = Object.values<KindRow>(KINDS).find(({ takenBy, made }) => made && takenBy.includes(option));
  const subject = option.startsWith("--") ? `${option} takes` : "Expected";
  return taken && `${subject} ${taken.is}: ${taken.made!}`;
}

const ENVELOPE_MEMBERS = ["payloadType", "payload", "signatures"];
const SIGNERS_MEMBERS = ["keys"];
/** Members of which JSON has at least one if it is of the kind, however broken it is. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  "manifest envelope": ["manifest", "namespace", "pivot", "workloads", "enclave", "manifestSet", "manifest_set"],
  "boot proof": [...Object.keys(bootProofMembers(null)), ...wrappersOf("boot proof")],
  "app proof": [...APP_PROOF_MEMBERS, ...wrappersOf("app proof")],
  activity: [...ACTIVITY_MEMBERS, ...RESULT_MEMBERS, ...wrappersOf("activity")].filter((name) => name !== "type"),
  policy: ["policy", "deployments", "trustAnchors", "maxAge", "appProofs", "allowDebug"] satisfies (keyof PolicyFile)[],
  "API key": ["publicKey", "privateKey"],
  "image PCRs": ["Measurements", "PCR0", "PCR1", "PCR2"],
  "policy feed": ENVELOPE_MEMBERS,
  "signed policy": ENVELOPE_MEMBERS,
  "policy signers": SIGNERS_MEMBERS,
};
/** Commands that judge any JSON, as the library does. */
const JUDGING: readonly CommandName[] = ["audit", "proxy", "watch", "audit worker"];

/** Returns whether content of no known kind has nothing of the kind that is taken, so that it was named by mistake. */
function isForeign({ bytes, json }: Content, taken: string, { files }: FilePlace): boolean {
  if (taken === "attestation document") return !mayBeDocument(bytes);
  if (taken === "certificate") return fromUtf8(bytes)?.includes(PEM_START) === false;
  const names = MEMBERS[taken];
  if (names === undefined || JUDGING.includes(files.command)) return false;
  if (json === undefined) return names === ENVELOPE_MEMBERS || names === SIGNERS_MEMBERS;
  return hasNone(json, names);
}

function hasNone(json: JsonValue, names: readonly string[]): boolean {
  // A list that is empty, or too long, has a fault of its own.
  const all = Array.isArray(json) ? json : [json];
  if (all.length === 0 || all.length > MAX_BUNDLE_BOOT_PROOFS) return false;
  return !all.some((one) => isJsonObject(one) && names.some((name) => Object.hasOwn(one, name)));
}

/** Returns a message if the JSON is a line of a file of results without evidence; otherwise null. */
function entryOfLog(json: JsonValue | undefined): string | null {
  if (!isJsonObject(json) || !String(json["run"]).startsWith("bootproof-run/")) return null;
  const event = json["event"];
  if (Object.hasOwn(json, "bootProofs")) return null;
  const what = typeof event === "string" && /^[a-z-]{1,40}$/.test(event) ? event : "the result of an audit";
  return `this is a line of a file of results (${what}), which has no evidence`;
}

/**
 * Returns a message if the file also has other evidence, which would not be verified, or bytes in another spelling;
 * otherwise null.
 */
function moreThanTaken(
  json: JsonValue | undefined,
  piece: Piece | undefined,
  { files, path, option }: FilePlace,
): Refusal | null {
  const spelt = misspelt(json);
  if (spelt.length > 0) return [faultText(spelt), adviceOnFaults(spelt)];
  if (piece === undefined) return null;
  const isBundle = isJsonObject(json) && String(json["bundle"]).startsWith("bootproof-bundle/");
  const beside = evidenceBeside(isBundle ? withoutForm(json, files.command) : json, piece).flatMap(
    ({ path }) => path || [],
  );
  if (beside.length === 0) return null;
  const taken = piece === "activity" ? "an activity" : `${piece}s`;
  const holds = `${listed(beside, ", ")} in it would not be verified, since ${option} takes only ${taken}`;
  return [isBundle ? `${holds}. It is a bundle: ${givenAlone(path)}` : `${holds}: ${A_FILE_EACH}`];
}

const A_FILE_EACH =
  "give each kind of evidence in a file of its own (bootproof verify --boot-proof, --app-proof, --activity)";

/**
 * Members of a bundle that a command may ignore. For example, `fetch` ignores boot proofs, since it fetches them
 * itself.
 */
const LEFT_OUT: Readonly<Partial<Record<CommandName, readonly string[]>>> = {
  pin: ["appProofs", "activity"],
  fetch: ["bootProofs"],
};

function withoutForm(bundle: JsonObject, command: CommandName): JsonObject {
  const isForm = (name: string, value: JsonValue): boolean =>
    name === "bundle" ||
    (name === "appProofs" && Array.isArray(value) && value.length === 0) ||
    LEFT_OUT[command]?.includes(name) === true;
  return Object.fromEntries(Object.entries(bundle).filter(([name, value]) => !isForm(name, value)));
}
