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
import { parseTime } from "../decode/decimal-time.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { parseJson } from "../decode/json.js";
import { decodeFile } from "../decode/text-encoding.js";
import { attempt, faultText } from "../errors.js";
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
import { printable } from "../report/printable.js";
import type { Expected } from "../verify/expectation.js";
import { type PayloadWord, readPayloadWords } from "../verify/payload-words.js";
import { NO_PROVENANCE, type Request } from "./verify.js";
import { FIELDS, type FieldValues, POLICY_CHOICES, type PolicyChoice } from "./verifier-view.js";

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

export interface FormValues extends FieldValues {
  readonly policy: PolicyChoice;
  readonly allowDebug: boolean;
  readonly failOnWarning: boolean;
}

type PageEvidence = Request["evidence"];
/** `unused` names each file that the verification does not use, with the reason. */
type Requested =
  | { readonly faults: readonly string[] }
  | (Request & { readonly faults: null; readonly unused: readonly string[] });

/**
 * Returns the verification that files and form ask for, or all their faults. `clock` is the time if the form has none.
 */
export function requested(given: readonly ListedFile[], asked: FormValues, clock: Date): Requested {
  const faults: string[] = [];
  // Anchors keep their file names, because a policy names them so.
  const files = given.map((file) => (file.role === "anchor" ? file : { ...file, name: fileLabel(file, given) }));
  const of = (role: PageRole | null): ListedFile[] => files.filter((file) => file.role === role);
  const evidence = evidenceOf(of, faults);
  const options = optionsOf(of, asked, clock, faults);
  if (faults.length > 0 || evidence === undefined) return { faults };
  const isBundle = "bundle" in evidence;
  const asksForBootProofsOnly =
    !isBundle && of("bootProofs").length > 0 && of("appProofs").length + of("activity").length === 0;
  const { addresses, payload } = options.expected ?? {};
  const bootProofsOnly = asksForBootProofsOnly && addresses === undefined && payload === undefined;
  const unused = unusedOf(files, options);
  return { faults: null, evidence, options: { ...options, ...(bootProofsOnly && { bootProofsOnly }) }, unused };
}

function unusedOf(files: readonly ListedFile[], { policy }: PlainOptions): string[] {
  const named = policy === null || policy === "bundle" ? null : Object.values(policy.anchors ?? {});
  return files.flatMap(({ name, role, is, bytes }) => {
    if (role === null) return [`${name}: ${is}`];
    return role === "anchor" && named?.includes(textOf(bytes)) === false
      ? [`${name}: the policy does not name it`]
      : [];
  });
}

type FilesOf = (role: PageRole | null) => ListedFile[];

function evidenceOf(of: FilesOf, faults: string[]): PageEvidence | undefined {
  const [bundle, document, activity] = (["bundle", "document", "activity"] as const).map((role) => of(role)[0]);
  const alone = [...of("bundle"), ...of("document")];
  const activities = of("activity");
  const others = [...of("bootProofs"), ...of("appProofs"), ...activities];
  if (alone.length > 0 && alone.length + others.length > 1)
    faults.push(`${namesOf([...alone, ...others])}: a bundle or a bare document is verified alone; remove the others`);
  if (activities.length > 1) faults.push(`${namesOf(activities)}: one activity at a time; remove all but one`);
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

function optionsOf(of: FilesOf, asked: FormValues, clock: Date, faults: string[]): PlainOptions {
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
  const [file, second] = of("policy");
  if (choice === "file") {
    if (second !== undefined) faults.push(`${namesOf(of("policy"))}: one policy at a time; remove all but one`);
    // A file that was not recognised may be meant as the policy.
    const unused = of(null).map(({ name, is }) => `${name} (${is})`);
    const others = unused.length === 0 ? "" : ` No policy: ${unused.join("; ")}.`;
    if (file === undefined) faults.push(`${WHY_A_POLICY}${others}`);
    return file === undefined ? null : plainPolicyOf(file, of("anchor"), faults);
  }
  const chosen = `“${POLICY_CHOICES[choice][0]}” is chosen`;
  if (file !== undefined)
    faults.push(
      `${namesOf(of("policy"))}: a policy, and ${chosen}. Choose “${POLICY_CHOICES.file[0]}”, or remove the file.`,
    );
  if (choice === "none") return null;
  if (of("bundle").length === 0) faults.push(`${chosen}, but no file is a bundle: add one, or choose another policy.`);
  return "bundle";
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
  const time = text.endsWith("Z") ? parseTime(text) : undefined;
  if (time) return time;
  faults.push("Time: expected a time in UTC, such as 2026-03-04T05:06:07Z.");
  return undefined;
}

function expectedOf(of: FilesOf, asked: FormValues, faults: string[]): PlainOptions["expected"] {
  const organizationId = asked.organization.trim();
  const addresses = asked.addresses.split(/[\s,]+/).filter((address) => address !== "");
  const payload = payloadOf(asked, faults);
  const isOwned = organizationId !== "";
  const refused: [boolean, string][] = [
    [!isOwned && addresses.length > 0, "Addresses: enter the organization ID of their owner, too."],
    [
      !isOwned && payload !== undefined && of("activity").length > 0,
      "Payloads with an activity: enter the organization ID of its owner, too.",
    ],
    [
      of("document").length > 0 && (isOwned || payload !== undefined),
      "A bare attestation document has no organizations, addresses or payloads: leave these fields empty.",
    ],
  ];
  faults.push(...refused.flatMap(([isRefused, fault]) => (isRefused ? [fault] : [])));
  const expected = { ...(isOwned && { organizationId }), ...(addresses.length > 0 && { addresses }) };
  return isOwned || payload !== undefined ? { ...expected, ...(payload && { payload }) } : undefined;
}

function payloadOf({ payloads, challenges }: FormValues, faults: string[]): Expected["payload"] {
  const words = [
    ...wordsIn(payloads, { label: `${FIELDS.payloads[0]}:`, isChallenge: false }),
    ...wordsIn(challenges, { label: `${FIELDS.challenges[0]}:`, isChallenge: true }),
  ];
  const advice = { onForm: "", onValue: () => 'a text is in quotes, such as "42"' };
  const expected = readPayloadWords(words, advice, (message) => void faults.push(printable(message)));
  return words.length === 0 ? undefined : expected;
}

function wordsIn(text: string, about: Omit<PayloadWord, "word">): PayloadWord[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => ({ ...about, word: line.trim() }));
}
