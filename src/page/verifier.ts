/** The input of the page that verifies: recognises each file by its content, and makes one verification of all. */
import { fromHex, fromUtf8 } from "../bytes.js";
import { MAX_BUNDLE_BOOT_PROOFS } from "../bundle/file.js";
import { MAX_APP_PROOFS, appProofList } from "../decode/app-proof.js";
import { bootProofList } from "../decode/boot-proof.js";
import { type Piece, evidenceBeside } from "../decode/evidence-members.js";
import { unwrap } from "../decode/input.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { type JsonValue, parseJson } from "../decode/json.js";
import { plainNumbers } from "../decode/json-numbers.js";
import { decodeFile } from "../decode/text-encoding.js";
import { attempt, cut, faultText } from "../errors.js";
import { NamedEvidence, namedSharing } from "../inputs.js";
import { type PlainOptions, type PlainPolicy, anchorFileNames } from "../plain-settings.js";
import { type EvidenceKind, kindOf } from "../inspect/kind.js";
import { describeUnrecognised } from "../inspect/unrecognised.js";
import { printable } from "../report/printable.js";
import type { Expected } from "../verify/expectation.js";
import { payloadExpectations } from "../verify/expected-payload.js";
import type { PageEvidence } from "./data.js";
import { valueTitle } from "./verifier-view.js";

export interface PageInputFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

type Role = "bootProofs" | "appProofs" | "activity" | "document" | "bundle" | "policy" | "anchor";

export interface ListedFile extends PageInputFile {
  /** Null: not used. */
  readonly role: Role | null;
  /** Its kind in words, or why it is not used. */
  readonly is: string;
}

/** The role of each kind, or the advice for it. */
const ROLES: Readonly<Record<EvidenceKind, Role | { readonly not: string }>> = {
  "boot proof": "bootProofs",
  "boot proofs": "bootProofs",
  "app proof": "appProofs",
  "app proofs": "appProofs",
  activity: "activity",
  "attestation document": "document",
  bundle: "bundle",
  policy: "policy",
  certificate: "anchor",
  certificates: { not: "several certificates: a trust anchor is one" },
  manifest: { not: "a manifest: the boot proof has it with what vouches for it" },
  "manifest envelope": { not: "a manifest envelope: the boot proof has it with what vouches for it" },
  report: { not: "a report, somebody’s word: give the evidence that it names" },
  release: { not: "a published release: bootproof pin --release makes a policy of it" },
  approval: { not: "an approval of a manifest: bootproof release check takes the folder that it is in" },
  "image PCRs": { not: "the PCRs of an image: bootproof pin --pcrs makes a policy of them" },
  request: { not: "a request: bootproof verify --request holds an activity against it" },
  "enclave image": { not: "an enclave image, which is what is measured: bootproof measure says which PCRs it has" },
  "API key": { not: "an API key, which is a secret: it is not used, and belongs in no page" },
};

export function listedFile({ name, bytes }: PageInputFile): ListedFile {
  const shown = printable(name);
  const kind = kindOf(bytes);
  if (kind === null) return { name: shown, bytes, role: null, is: printable(describeUnrecognised(bytes)) };
  const role = ROLES[kind];
  return typeof role === "string"
    ? { name: shown, bytes, role, is: kind }
    : { name: shown, bytes, role: null, is: role.not };
}

/** A value that the payload of an app proof must have, as it was written. */
export interface FormExpectedValue {
  readonly type: string;
  readonly pointer: string;
  /** JSON. */
  readonly value: string;
  readonly isChallenge: boolean;
}

/** The values of the form. */
export interface FormValues {
  readonly policyNone: boolean;
  readonly policyBundle: boolean;
  readonly organization: string;
  readonly addresses: string;
  readonly expectedValues: readonly FormExpectedValue[];
  readonly now: string;
  readonly nonce: string;
  readonly ephemeralKey: string;
  readonly allowDebug: boolean;
}

type Requested =
  | { readonly faults: readonly string[] }
  | { readonly faults: null; readonly evidence: PageEvidence; readonly options: PlainOptions };

/** One verification of the files, or all faults. `clock`: the present, if the form has none. */
export function requested(files: readonly ListedFile[], asked: FormValues, clock: Date): Requested {
  const faults: string[] = [];
  const of = (role: Role): ListedFile[] => files.filter((file) => file.role === role);
  const evidence = evidenceOf(of, faults);
  const options = optionsOf(of, asked, { clock, faults });
  if (faults.length > 0 || evidence === undefined) return { faults };
  const isBundle = "bundle" in evidence;
  const asksForBootProofsOnly =
    !isBundle && of("bootProofs").length > 0 && of("appProofs").length + of("activity").length === 0;
  const { addresses, payload } = options.expected ?? {};
  const bootProofsOnly = asksForBootProofsOnly && addresses === undefined && payload === undefined;
  return { faults: null, evidence, options: { ...options, ...(bootProofsOnly && { bootProofsOnly }) } };
}

type FilesOf = (role: Role) => ListedFile[];

function evidenceOf(of: FilesOf, faults: string[]): PageEvidence | undefined {
  const [bundle, document, activity] = (["bundle", "document", "activity"] as const).map((role) => {
    const [first, second] = of(role);
    if (second) faults.push(`${first!.name} and ${second.name}: one ${WORDS[role]} at a time`);
    return first;
  });
  const others = [...of("bootProofs"), ...of("appProofs"), ...of("activity")];
  if (bundle && document) faults.push(`${bundle.name} and ${document.name}: each is verified alone; remove one`);
  const alone = bundle ?? document;
  if (alone && others.length > 0)
    faults.push(
      `${alone.name}: a ${WORDS[bundle ? "bundle" : "document"]} is verified alone; remove ${namesOf(others)}`,
    );
  if (bundle) return { bundle: bundle.bytes, name: bundle.name };
  if (document) return new NamedEvidence(document.name, decodeFile(document.bytes).bytes, { bytes: document.bytes });
  if (of("bootProofs").length === 0) return void faults.push(others.length > 0 ? NO_BOOT_PROOF : NOTHING);
  const unreadable = PIECES.flatMap(([role, piece]) => of(role).flatMap((file) => pieceFaults(file, piece)));
  if (unreadable.length > 0) return void faults.push(...unreadable);
  return piecesOf(of, activity, faults);
}

const PIECES = [
  ["bootProofs", "boot proof"],
  ["appProofs", "app proof"],
  ["activity", "activity"],
] as const;

/** Why a file cannot be verified: it is not strict JSON, or has evidence that would not be read. */
function pieceFaults({ name, bytes }: ListedFile, piece: Piece): string[] {
  const { value, faults } = attempt(() => parseJson(bytes));
  const all = value === undefined ? faults : evidenceBeside(value, piece);
  return all.length === 0 ? [] : [`${name}: ${faultText(all)}`];
}

const WORDS = { bundle: "bundle", document: "bare attestation document", activity: "activity" } as const;
const NOTHING = "There is nothing to verify yet: give a boot proof, a bundle or a bare attestation document.";
const NO_BOOT_PROOF = "A boot proof is wanted: app proofs and activities are worth what the enclave behind them is.";

function namesOf(files: readonly ListedFile[]): string {
  return files.map(({ name }) => name).join(", ");
}

function piecesOf(of: FilesOf, activity: ListedFile | undefined, faults: string[]): PageEvidence {
  const bootProofs = of("bootProofs").flatMap((file) => pieces(file, bootProofList(parseJson(file.bytes))));
  const appProofs = of("appProofs").flatMap((file) => {
    const json = parseJson(file.bytes);
    const list = appProofList(json);
    return Array.isArray(unwrap(json, "appProofs")) ? pieces(file, list) : list.map((value) => named(file, value));
  });
  if (bootProofs.length > MAX_BUNDLE_BOOT_PROOFS) faults.push(`more than ${MAX_BUNDLE_BOOT_PROOFS} boot proofs`);
  if (appProofs.length > MAX_APP_PROOFS) faults.push(`more than ${MAX_APP_PROOFS} app proofs`);
  return {
    bootProofs,
    ...(appProofs.length > 0 && { appProofs }),
    ...(activity && { activity: named(activity, parseJson(activity.bytes)) }),
  };
}

/** Items of a list, each named by its place; or the one value of the file. */
function pieces(file: ListedFile, list: readonly unknown[] | null): NamedEvidence[] {
  if (list === null) return [named(file, parseJson(file.bytes))];
  return list.map((value, index) => named(file, value, `${file.name}[${index}]`));
}

function named({ bytes, name }: ListedFile, value: unknown, itsName = name): NamedEvidence {
  return namedSharing(itsName, value, { bytes });
}

interface Place {
  readonly clock: Date;
  readonly faults: string[];
}

function optionsOf(of: FilesOf, asked: FormValues, { clock, faults }: Place): PlainOptions {
  const policy = policyOf(of, asked, faults);
  const anchors =
    policy === null || policy === "bundle" ? of("anchor").map(({ name, bytes }) => ({ name, pem: pemOf(bytes) })) : [];
  const nonce = hexOf("Nonce", asked.nonce, faults);
  const ephemeralKey = hexOf("Ephemeral key", asked.ephemeralKey, faults);
  if (ephemeralKey && ephemeralKey.length !== QOS_PUBLIC_KEY_LENGTH)
    faults.push(`Ephemeral key: ${ephemeralKey.length} bytes, ${QOS_PUBLIC_KEY_LENGTH} wanted.`);
  const expected = expectedOf(of, asked, faults);
  return {
    policy,
    now: nowOf(asked.now.trim(), faults) ?? clock,
    ...(anchors.length > 0 && { trustAnchors: anchors }),
    ...(nonce && { nonce }),
    ...(ephemeralKey && { ephemeralKey }),
    ...(expected && { expected }),
    ...(asked.allowDebug && { allowDebug: true }),
  };
}

const WHY_A_POLICY =
  "A policy is wanted: give its file, or say above what is to be accepted in its place. Without one the enclave of " +
  "anybody, running anything, is accepted.";

function policyOf(of: FilesOf, { policyNone, policyBundle }: FormValues, faults: string[]): PlainOptions["policy"] {
  const files = of("policy");
  if (files.length > 1) faults.push(`${namesOf(files)}: one policy at a time`);
  const ways = files.length + Number(policyNone) + Number(policyBundle);
  if (ways === 0) faults.push(WHY_A_POLICY);
  if (ways > 1 && files.length <= 1)
    faults.push("Policy: a file, no policy, and the bundle’s own contradict each other.");
  if (policyBundle && of("bundle").length === 0) faults.push("The bundle’s own policy: there is no bundle.");
  const [file] = files;
  if (file !== undefined) return plainPolicyOf(file, of("anchor"), faults);
  return policyBundle ? "bundle" : null;
}

/** A policy names anchor files by path; here only the last part of it is known. */
function plainPolicyOf({ name, bytes }: ListedFile, anchors: readonly ListedFile[], faults: string[]): PlainPolicy {
  const texts = anchorFileNames(bytes).flatMap((file) => {
    const own = file.split(/[/\\]/).at(-1);
    const found = anchors.filter((anchor) => anchor.name === printable(own!));
    if (found.length === 1) return [[file, pemOf(found[0]!.bytes)] as const];
    const what = found.length === 0 ? "give that file, too" : "several files have that name: remove all but one";
    faults.push(`${name}: it names the trust anchor ${printable(file)}; ${what}`);
    return [];
  });
  return { bytes, ...(texts.length > 0 && { anchors: Object.fromEntries(texts) as Record<string, string> }) };
}

function pemOf(bytes: Uint8Array): string {
  return fromUtf8(bytes) ?? "";
}

function hexOf(label: string, text: string, faults: string[]): Uint8Array | undefined {
  if (text.trim() === "") return undefined;
  const bytes = fromHex(text.trim());
  if (bytes === null) faults.push(`${label}: hex wanted, without 0x.`);
  return bytes ?? undefined;
}

function nowOf(text: string, faults: string[]): Date | undefined {
  if (text === "") return undefined;
  const time = new Date(text);
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/.test(text) && !Number.isNaN(time.getTime());
  // Date turns 30 February into March.
  if (isTime && time.toISOString().startsWith(text.slice(0, 19))) return time;
  faults.push("Time: one in UTC wanted, such as 2026-03-04T05:06:07Z.");
  return undefined;
}

function expectedOf(of: FilesOf, asked: FormValues, faults: string[]): PlainOptions["expected"] {
  const organizationId = asked.organization.trim();
  const addresses = asked.addresses.split(/[\s,]+/).filter((address) => address !== "");
  const payload = payloadOf(asked.expectedValues, faults);
  if (organizationId === "") faults.push(...withoutOwner(of, addresses, payload));
  if (of("document").length > 0 && (organizationId !== "" || payload))
    faults.push("A bare attestation document says nothing of organizations, addresses and payloads: leave them empty.");
  if (organizationId === "" && payload === undefined) return undefined;
  return {
    ...(organizationId !== "" && { organizationId }),
    ...(addresses.length > 0 && { addresses }),
    ...(payload && { payload }),
  };
}

function withoutOwner(of: FilesOf, addresses: readonly string[], payload: Expected["payload"]): readonly string[] {
  return [
    ...(addresses.length > 0 ? ["Addresses: whose? Give the organization ID, too."] : []),
    ...(payload && of("activity").length > 0
      ? ["Payloads beside an activity: whose activity? Give the organization ID, too."]
      : []),
  ];
}

/** One expectation of each type, as on the command line. */
interface TypeValues {
  readonly type: string;
  readonly values: Record<string, JsonValue>;
  challenge?: string;
}

function payloadOf(given: readonly FormExpectedValue[], faults: string[]): Expected["payload"] {
  const types = new Map<string, TypeValues>();
  for (const [position, row] of given.entries()) {
    const type = row.type.trim();
    if (type + row.pointer + row.value.trim() === "" && !row.isChallenge) continue;
    const own = types.get(type) ?? { type, values: {} };
    types.set(type, own);
    const rowFaults = addTo(own, row);
    faults.push(...rowFaults.map((fault) => printable(`${valueTitle(position)}: ${fault}`)));
  }
  return types.size === 0 ? undefined : ([...types.values()] as NonNullable<Expected["payload"]>);
}

function addTo(own: TypeValues, { pointer, value, isChallenge }: FormExpectedValue): readonly string[] {
  const json = jsonOf(value);
  if (json.fault !== null) return [json.fault];
  const challenge = isChallenge ? { challenge: pointer } : {};
  const fault = expectationFault({ type: own.type, values: { [pointer]: json.value }, ...challenge });
  const again = [
    ...(Object.hasOwn(own.values, pointer) ? [`${cut(pointer, MAX_SHOWN)} is there twice for this type`] : []),
    ...(isChallenge && own.challenge !== undefined ? ["a type has one challenge at most"] : []),
  ];
  own.values[pointer] = json.value;
  Object.assign(own, challenge);
  return fault === null ? again : [fault, ...again];
}

type JsonOfForm = { readonly fault: string } | { readonly fault: null; readonly value: JsonValue };

function jsonOf(text: string): JsonOfForm {
  if (text.trim() === "") return { fault: 'a value is wanted, as JSON; the empty text is ""' };
  const { value: literal } = attempt(() => parseJson(text.trim(), { numbers: "literal" }));
  const quoted = cut(JSON.stringify(text.trim()), MAX_SHOWN);
  if (literal === undefined) return { fault: `the value is not JSON; for a text, write ${quoted}` };
  // Another number than the one that was written must not be compared.
  const { value, faults } = plainNumbers(literal);
  return faults.length > 0 ? { fault: faultText(faults) } : { fault: null, value };
}

const MAX_SHOWN = 100;

/** Why the library refuses it, without the library's path. */
function expectationFault(one: object): string | null {
  try {
    payloadExpectations([one]);
    return null;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return error.message.replace(/^expected\.payload\[0\]\./, "").replace(/^values\[(".*")\]: /s, "$1: ");
  }
}
