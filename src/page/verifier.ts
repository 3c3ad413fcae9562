/**
 * Reads the input of the page that verifies. Each file is recognised by its content, and all files make one
 * verification.
 */
import { fromHex, fromUtf8, lastOf, toHex } from "../bytes.js";
import { appProofList } from "../decode/app-proof.js";
import { MAX_APP_PROOFS } from "../decode/app-proof-limits.js";
import { MAX_BUNDLE_BOOT_PROOFS, bootProofList } from "../decode/boot-proof.js";
import { type Piece, evidenceBeside, misspelt } from "../decode/evidence-members.js";
import { unwrap } from "../decode/input.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { type JsonValue, parseJson } from "../decode/json.js";
import { plainNumbers } from "../decode/json-numbers.js";
import { readShape } from "../decode/shapes.js";
import { decodeFile } from "../decode/text-encoding.js";
import { attempt, cut, faultText } from "../errors.js";
import { NamedEvidence, namedSharing } from "../inputs.js";
import {
  type PlainOptions,
  type PlainPolicy,
  anchorFileNames,
  parsePlainPolicy,
  pinsProvenance,
} from "../plain-settings.js";
import { KINDS, type KindRow, type PageRole, kindOf } from "../inspect/kinds.js";
import { describeUnrecognised } from "../inspect/unrecognised.js";
import { adviceOnFaults } from "../report/causes.js";
import { isBad } from "../report/facts.js";
import { printable } from "../report/printable.js";
import type { Report } from "../report/report.js";
import type { Expected } from "../verify/expectation.js";
import { expectedPayload } from "../verify/expected-payload.js";
import { NO_PROVENANCE, type Request } from "./verify.js";
import { POLICY_CHOICES, type PolicyChoice, valueTitle } from "./verifier-view.js";

export interface PageInputFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Digest in hex. */
  readonly sha256: string;
}

export interface ListedFile extends PageInputFile {
  /** What the file is used as; null if it is not used. */
  readonly role: PageRole | null;
  /** The kind of the file in words, or the reason why it is not used. */
  readonly is: string;
}

export function listedFile({ name, ...file }: PageInputFile): ListedFile {
  const { bytes } = file;
  const shown = printable(name);
  const kind = kindOf(bytes);
  if (kind === null) return { ...file, name: shown, role: null, is: printable(describeUnrecognised(bytes)) };
  const { is, role, advice }: KindRow = KINDS[kind];
  return { ...file, name: shown, role: role ?? null, is: role === undefined ? `${is}: ${advice!}` : kind };
}

export function shortDigest({ sha256 }: PageInputFile): string {
  return sha256.slice(0, 12);
}

/** Returns the name, with the digest if another file has the same name. */
export function fileLabel(file: ListedFile, files: readonly ListedFile[]): string {
  const isAlone = files.every((other) => other.name !== file.name || other.sha256 === file.sha256);
  return isAlone ? file.name : `${file.name} (SHA-256 ${shortDigest(file)}…)`;
}

/** A value that the payload of an app proof must have, exactly as entered. */
export interface FormExpectedValue {
  readonly type: string;
  readonly pointer: string;
  /** Value as JSON text. */
  readonly value: string;
  readonly isChallenge: boolean;
}

export interface FormValues {
  readonly policy: PolicyChoice;
  readonly organization: string;
  readonly addresses: string;
  readonly expectedValues: readonly FormExpectedValue[];
  readonly now: string;
  readonly nonce: string;
  readonly ephemeralKey: string;
  readonly allowDebug: boolean;
  readonly failOnWarning: boolean;
}

type PageEvidence = Request["evidence"];
type Requested = { readonly faults: readonly string[] } | (Request & { readonly faults: null });

/**
 * Returns the verification that files and form ask for, or all their faults. `clock` is the time if the form has none.
 */
export function requested(given: readonly ListedFile[], asked: FormValues, clock: Date): Requested {
  const faults: string[] = [];
  // Anchors keep their file names, because a policy names them so.
  const files = given.map((file) => (file.role === "anchor" ? file : { ...file, name: fileLabel(file, given) }));
  const of = (role: PageRole | null): ListedFile[] => files.filter((file) => file.role === role);
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

type FilesOf = (role: PageRole | null) => ListedFile[];

function evidenceOf(of: FilesOf, faults: string[]): PageEvidence | undefined {
  const [bundle, document, activity] = (["bundle", "document", "activity"] as const).map((role) => {
    const [first, second] = of(role);
    if (second) faults.push(`${first!.name} and ${second.name}: one ${WORDS[role]} at a time; remove one`);
    return first;
  });
  const others = [...of("bootProofs"), ...of("appProofs"), ...of("activity")];
  if (bundle && document) faults.push(`${bundle.name} and ${document.name}: each is verified alone; remove one`);
  const alone = bundle ?? document;
  if (alone && others.length > 0)
    faults.push(
      `${alone.name}: a ${WORDS[bundle ? "bundle" : "document"]} is verified alone; remove ${namesOf(others)}`,
    );
  const unreadable = PIECES.flatMap(([role, piece]) => of(role).flatMap((file) => pieceFaults(file, piece)));
  if (unreadable.length > 0) return void faults.push(...unreadable);
  if (bundle) return { bundle: bundle.bytes, name: bundle.name };
  if (document) return new NamedEvidence(document.name, decodeFile(document.bytes).bytes, { bytes: document.bytes });
  if (of("bootProofs").length === 0) return void faults.push(others.length > 0 ? NO_BOOT_PROOF : NOTHING);
  return piecesOf(of, activity, faults);
}

const PIECES = [
  ["bootProofs", "boot proof"],
  ["appProofs", "app proof"],
  ["activity", "activity"],
  ["bundle", null],
] as const;

/** Returns the faults of a file that is not strict JSON, whose evidence would be ignored, or has another spelling. */
function pieceFaults({ name, bytes }: ListedFile, piece: Piece | null): string[] {
  const { value, faults } = attempt(() => parseJson(bytes));
  const beside = piece === null ? [] : evidenceBeside(value, piece);
  const all = [...faults, ...beside, ...misspelt(value)];
  const advice = adviceOnFaults(all);
  return all.length === 0 ? [] : [`${name}: ${faultText(all)}${advice === undefined ? "" : `. ${advice}`}`];
}

const WORDS = { bundle: "bundle", document: "bare attestation document", activity: "activity" } as const;
const NOTHING = "There is nothing to verify yet: give a boot proof, a bundle or a bare attestation document.";
const NO_BOOT_PROOF = "There is no boot proof: add the boot proof of the enclave that signed the app proofs.";

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

/** Returns the items of the list, each named by its position. Without a list, returns the file's only value. */
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
    policy === null || policy === "bundle" ? of("anchor").map(({ name, bytes }) => ({ name, pem: textOf(bytes) })) : [];
  const nonce = hexOf("Nonce", asked.nonce, faults);
  const ephemeralKey = hexOf("Ephemeral key", asked.ephemeralKey, faults);
  if (ephemeralKey && ephemeralKey.length !== 2 * QOS_PUBLIC_KEY_LENGTH)
    faults.push(`Ephemeral key: ${ephemeralKey.length / 2} bytes, expected ${QOS_PUBLIC_KEY_LENGTH}.`);
  const expected = expectedOf(of, asked, faults);
  return {
    policy,
    now: (nowOf(asked.now.trim(), faults) ?? clock).toISOString(),
    ...(anchors.length > 0 && { trustAnchors: anchors }),
    ...(nonce && { nonce }),
    ...(ephemeralKey && { ephemeralKey }),
    ...(expected && { expected }),
    ...(asked.allowDebug && { allowDebug: true }),
    ...(asked.failOnWarning && { acceptance: "strict" }),
  };
}

const WHY_A_POLICY =
  "There is no policy among your files: add its file (bootproof pin makes one), or choose above what " +
  "to accept instead.";

function policyOf(of: FilesOf, { policy: choice }: FormValues, faults: string[]): PlainOptions["policy"] {
  const [file, ...others] = of("policy");
  if (choice === "file") {
    if (others.length > 0) faults.push(`${namesOf(of("policy"))}: one policy at a time; remove all but one`);
    if (file === undefined) faults.push(withUnused(WHY_A_POLICY, of(null)));
    return file === undefined ? null : plainPolicyOf(file, of("anchor"), faults);
  }
  if (file !== undefined) faults.push(contradiction(of("policy"), choice));
  if (choice === "none") return null;
  if (of("bundle").length === 0) faults.push(NO_BUNDLE);
  return "bundle";
}

const NO_BUNDLE = `“${POLICY_CHOICES.bundle}” is chosen, but no file is a bundle: add one, or choose another policy.`;

function contradiction(policies: readonly ListedFile[], choice: PolicyChoice): string {
  return (
    `${namesOf(policies)}: a policy, and “${POLICY_CHOICES[choice]}” is chosen. Choose “${POLICY_CHOICES.file}”, or ` +
    "remove the file."
  );
}

/** Lists the files that were not recognised, since one may be meant as the policy. */
function withUnused(message: string, unused: readonly ListedFile[]): string {
  if (unused.length === 0) return message;
  return `${message} No policy: ${unused.map(({ name, is }) => `${name} (${is})`).join("; ")}.`;
}

/** Reads a policy. A policy names anchor files by path, but a page knows only the names of files. */
function plainPolicyOf(file: ListedFile, anchors: readonly ListedFile[], faults: string[]): PlainPolicy {
  const { name } = file;
  const text = textOf(file.bytes);
  if (pinsProvenance(attempt(() => parseJson(text)).value)) {
    faults.push(`${name}: it ${NO_PROVENANCE}.`);
    return { text };
  }
  const missing: string[] = [];
  const texts = anchorFileNames(text).flatMap((path) => {
    const own = printable(lastOf(path.split(/[/\\]/))!);
    const found = anchors.filter((anchor) => anchor.name === own);
    if (found.length === 1) return [[path, textOf(found[0]!.bytes)] as const];
    const what = found.length === 0 ? missingAnchor(own, anchors) : SAME_NAME;
    missing.push(`${name}: the policy names the trust anchor ${printable(path)}; ${what}`);
    return [];
  });
  const policy = { text, ...(texts.length > 0 && { anchors: Object.fromEntries(texts) as Record<string, string> }) };
  faults.push(...(missing.length > 0 ? missing : policyFaults(name, policy)));
  return policy;
}

const SAME_NAME = "several files have that name: remove all but one";

function missingAnchor(own: string, anchors: readonly ListedFile[]): string {
  if (anchors.length === 0) return "add that file, too";
  return `none of ${namesOf(anchors)} has that name: give the file ${own}, or the policy that names yours`;
}

function policyFaults(name: string, policy: PlainPolicy): string[] {
  const { faults } = attempt(() => parsePlainPolicy(policy));
  const what = adviceOnFaults(faults) ?? "Correct the file, or make a policy with bootproof pin.";
  return faults.length === 0 ? [] : [printable(`${name}: not a usable policy: ${faultText(faults)}. ${what}`)];
}

/**
 * Returns what to do if the evidence failed only because of the policy; null otherwise. `files` are those that were
 * verified.
 */
export function policyAdvice(
  { verdict, checks }: Report,
  files: readonly ListedFile[],
  choice: PolicyChoice,
): string | null {
  const failed = checks.filter(isBad).map(({ id }) => id);
  const [policy] = files.filter(({ role }) => role === "policy");
  if (verdict !== "rejected" || choice !== "file" || policy === undefined) return null;
  if (failed.includes("policy.deployment") && failed.every((id) => id.startsWith("policy.")))
    return otherEnclave(policy.name);
  return failed.includes("chain.anchor") ? otherAnchor(policy.name, files) : null;
}

function otherEnclave(name: string): string {
  return (
    `Only checks of the policy failed: ${name} pins another enclave. If ${name} is the policy of another ` +
    "application, deployment or release, remove it and add the policy of the enclave that you expect. If it is the " +
    "right policy, do not rely on this result."
  );
}

function otherAnchor(name: string, files: readonly ListedFile[]): string {
  const anchors = files.filter(({ role }) => role === "anchor");
  const unused = anchors.length === 0 ? "" : ` Of ${namesOf(anchors)} it uses only the certificates that it names.`;
  return (
    `${name} does not accept the root of this evidence.${unused} If the evidence is of a test installation, remove ` +
    `${name} and add the policy of that installation, with the file of its root. Otherwise do not rely on this result.`
  );
}

function textOf(bytes: Uint8Array): string {
  return fromUtf8(bytes) ?? "";
}

function hexOf(label: string, text: string, faults: string[]): string | undefined {
  if (text.trim() === "") return undefined;
  const bytes = fromHex(text.trim());
  if (bytes === null) faults.push(`${label}: expected hex, without 0x.`);
  return bytes === null ? undefined : toHex(bytes);
}

function nowOf(text: string, faults: string[]): Date | undefined {
  if (text === "") return undefined;
  const time = new Date(text);
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/.test(text) && !Number.isNaN(time.getTime());
  // Date accepts 30 February as 1 March, so the text is compared.
  if (isTime && time.toISOString().startsWith(text.slice(0, 19))) return time;
  faults.push("Time: expected a time in UTC, such as 2026-03-04T05:06:07Z.");
  return undefined;
}

function expectedOf(of: FilesOf, asked: FormValues, faults: string[]): PlainOptions["expected"] {
  const organizationId = asked.organization.trim();
  const addresses = asked.addresses.split(/[\s,]+/).filter((address) => address !== "");
  const payload = payloadOf(asked.expectedValues, faults);
  if (organizationId === "") faults.push(...withoutOwner(of, addresses, payload));
  if (of("document").length > 0 && (organizationId !== "" || payload))
    faults.push("A bare attestation document has no organizations, addresses or payloads: leave these fields empty.");
  if (organizationId === "" && payload === undefined) return undefined;
  return {
    ...(organizationId !== "" && { organizationId }),
    ...(addresses.length > 0 && { addresses }),
    ...(payload && { payload }),
  };
}

function withoutOwner(of: FilesOf, addresses: readonly string[], payload: Expected["payload"]): readonly string[] {
  return [
    ...(addresses.length > 0 ? ["Addresses: enter the organization ID of their owner, too."] : []),
    ...(payload && of("activity").length > 0
      ? ["Payloads with an activity: enter the organization ID of its owner, too."]
      : []),
  ];
}

/** The expectations for one type. As on the command line, all values for a type are in one object. */
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
    ...(Object.hasOwn(own.values, pointer) ? [`${cut(pointer, MAX_SHOWN)} is entered twice for this type`] : []),
    ...(isChallenge && own.challenge !== undefined ? ["a type of app proof has at most one challenge"] : []),
  ];
  own.values[pointer] = json.value;
  Object.assign(own, challenge);
  return fault === null ? again : [fault, ...again];
}

type JsonOfForm = { readonly fault: string } | { readonly fault: null; readonly value: JsonValue };

function jsonOf(text: string): JsonOfForm {
  if (text.trim() === "") return { fault: 'expected a value as JSON, such as "" for the empty text' };
  const { value: literal } = attempt(() => parseJson(text.trim(), { numbers: "literal" }));
  const quoted = cut(JSON.stringify(text.trim()), MAX_SHOWN);
  if (literal === undefined) return { fault: `the value is not JSON; for a text, write ${quoted}` };
  // A number must be compared exactly as it was written.
  const { value, faults } = plainNumbers(literal);
  return faults.length > 0 ? { fault: faultText(faults) } : { fault: null, value };
}

const MAX_SHOWN = 100;

/**
 * Returns the reason why the library refuses the expectation; null if it accepts it. The paths of its faults are
 * shortened.
 */
function expectationFault(one: object): string | null {
  const { faults } = readShape(expectedPayload, one);
  const shown = faults.map(({ path, message }) => ({ path: path.replace(/^values\./, ""), message }));
  return shown.length === 0 ? null : faultText(shown);
}
