/**
 * What callers hand in, taken over: later changes to their objects change nothing, and no option is silently ignored.
 */
import { isPolicy } from "./appraise/parsed-policy.js";
import { type PlainPolicy, plainPolicy } from "./appraise/plain-policy.js";
import type { Policy } from "./appraise/policy.js";
import type { CheckSubject } from "./checks.js";
import { MAX_APP_PROOFS } from "./decode/app-proof.js";
import { decodeCertificate } from "./decode/certificate.js";
import { PCR_LENGTH } from "./decode/lengths.js";
import { type InputCopy, copyInput, copyPlain, ownMembers, ownOptions } from "./decode/input.js";
import { AppProofUses } from "./verify/app-proof-uses.js";
import { type BootProofContext, type BootProofInput, VerifiedBootProof } from "./verify/boot-proof.js";
import type { VerifyContext } from "./verify/context.js";
import { type Fault, MalformedError, listed } from "./errors.js";
import { type Expectation, type Expected, expectationOf } from "./verify/expectation.js";
import type { WantedKey } from "./verify/manifest-binding.js";
import { SignatureCache } from "./verify/signature-cache.js";
import { AWS_NITRO_ROOT_G1, type TrustAnchor, certificatePem, isAwsNitroRoot } from "./verify/trust-anchor.js";

/**
 * In place of a policy: accept any genuine enclave, of anybody, running anything. The verdict is then `authentic` at
 * best, and proves no more than that the evidence agrees with itself.
 */
export const NO_POLICY_ANY_ENCLAVE = Symbol("no policy: any enclave of anybody");

export interface VerifyOptions {
  /** What the caller pins; or, in so many words, {@link NO_POLICY_ANY_ENCLAVE}. */
  readonly policy: Policy | typeof NO_POLICY_ANY_ENCLAVE;
  /** The present, by which ages are counted and the future told from the past. */
  readonly now: Date;
  /** The moment certificates are held against. Default: `document`, the document's own signed time. */
  readonly at?: "document" | "now" | Date;
  /** Only without a policy of the caller's, which names its own. Default: AWS Nitro Enclaves Root G1 alone. */
  readonly trustAnchors?: readonly TrustAnchor[];
  /**
   * By index, 48 bytes each: the PCRs of an image of the caller's own (`measureImage` answers them), which each
   * document has to attest, whatever the policy says.
   */
  readonly measurements?: Readonly<Record<number, Uint8Array>>;
  /** The ephemeral key that was asked for, 130 bytes: each boot proof has to attest it. */
  readonly ephemeralKey?: Uint8Array;
  /** The nonce that was asked for: each document has to carry it. Without one no boot proof may carry any. */
  readonly nonce?: Uint8Array;
  /**
   * What was asked: the activity, and the app proofs, have to be the answer to it. Without it the report leaves that
   * open. Throws TypeError where boot proofs alone are verified: they cannot answer it.
   */
  readonly expected?: Expected;
  /** Let debug mode pass with a warning, also where the policy does not. */
  readonly allowDebug?: boolean;
  /**
   * Only boot proofs are asked for: the policy's rules about app proofs are not applied, and the report says so. For
   * the caller to say, before any evidence is there: a service can leave app proofs out. Goes with neither app proofs
   * nor an activity. Default: false; of `verifyBootProof` and `verifyAttestation`, which ask for no more, true.
   */
  readonly bootProofsOnly?: boolean;
  /** Remembers valid signatures from one verification to the next: pass the same one to make later ones cheaper. */
  readonly cache?: SignatureCache;
  /** Remembers what each app proof stood for: pass the same one, and no app proof stands for two activities. */
  readonly uses?: AppProofUses;
}

/** Each piece as JSON text, its bytes, or the parsed value; or as a {@link NamedEvidence} of it. */
export interface Evidence {
  /**
   * Bare, or as `{"bootProof": …}`; or verified already. Where there is none, nothing can be verified: all is rejected.
   */
  readonly bootProofs: readonly unknown[];
  readonly appProofs?: readonly unknown[];
  /** Bare, or as `{"activity": …}`; the app proofs inside it follow the others. */
  readonly activity?: unknown;
}

interface PieceFacts {
  readonly bytes?: Uint8Array;
  readonly ephemeralKey?: Uint8Array;
  readonly latestOf?: string;
}

const FACT_NAMES: Readonly<Record<keyof PieceFacts, true>> = { bytes: true, ephemeralKey: true, latestOf: true };

/** A piece of evidence with what the caller knows of it; the report names it so. */
export class NamedEvidence {
  /** Such as the file's. Null: none. */
  readonly name: string | null;
  /** JSON text, its bytes, or the parsed value; or a {@link VerifiedBootProof}. */
  readonly value: unknown;
  /** As they were given, where the value was parsed from them. */
  readonly bytes: Uint8Array | null;
  /** Of a boot proof: the key that this one was asked for by, 130 bytes. */
  readonly ephemeralKey: Uint8Array | null;
  /** Of a boot proof: the application whose newest one was asked for. That it is so is the service's word. */
  readonly latestOf: string | null;

  constructor(name: string | null, value: unknown, facts: PieceFacts = {}) {
    const { bytes, ephemeralKey, latestOf } = ownOptions("facts", facts, FACT_NAMES);
    if (name !== null && typeof name !== "string") throw new TypeError("name: a string wanted, or null");
    this.name = name;
    this.value = value instanceof Uint8Array ? new Uint8Array(value) : value;
    this.bytes = bytes === undefined ? null : bytesOf("bytes", bytes);
    if (latestOf !== undefined && typeof latestOf !== "string") throw new TypeError("latestOf: a string wanted");
    this.latestOf = latestOf ?? null;
    this.ephemeralKey = ephemeralKey === undefined ? null : bytesOf("ephemeralKey", ephemeralKey);
  }
}

/** A {@link NamedEvidence} of values and bytes that no caller holds: many pieces of one file share them. */
export function namedSharing(
  name: string | null,
  value: unknown,
  { bytes = null, ...facts }: { bytes?: Uint8Array | null; ephemeralKey?: Uint8Array; latestOf?: string },
): NamedEvidence {
  return Object.assign(new NamedEvidence(name, null, facts), { value, bytes });
}

/** Options that are plain data as they are. */
const PLAIN = [
  "now",
  "at",
  "measurements",
  "ephemeralKey",
  "nonce",
  "expected",
  "allowDebug",
  "bootProofsOnly",
] as const;

/** The options of a verification as plain data, which another copy of this package takes, too; see VerifyOptions. */
export interface PlainOptions extends Pick<VerifyOptions, (typeof PLAIN)[number]> {
  /** `bundle`: the one inside the bundle, which its maker chose. Null: none, any genuine enclave of anybody. */
  readonly policy: PlainPolicy | "bundle" | null;
  readonly trustAnchors?: readonly { readonly name: string; readonly pem: string }[];
}

/**
 * The options as plain data; of a policy that is undefined, the bundle's. What is remembered from one verification to
 * the next is left out. Throws TypeError for a policy that was given as a value.
 */
export function plainOptions(
  options: Omit<VerifyOptions, "policy"> & { readonly policy: VerifyOptions["policy"] | undefined },
): PlainOptions {
  const own = ownMembers(options, OPTION_NAMES);
  const { policy, trustAnchors } = own;
  const given = PLAIN.filter((name) => own[name] !== undefined).map((name) => [name, copyPlain(own[name])]);
  const plain = Object.fromEntries(given) as Pick<VerifyOptions, (typeof PLAIN)[number]>;
  const anchors = trustAnchors?.map(({ name, certificate }) => ({ name, pem: certificatePem(certificate.der) }));
  return { ...plain, policy: plainPolicyOf(policy), ...(anchors && { trustAnchors: anchors }) };
}

function plainPolicyOf(policy: VerifyOptions["policy"] | undefined): PlainOptions["policy"] {
  if (policy === undefined) return "bundle";
  return policy === NO_POLICY_ANY_ENCLAVE ? null : plainPolicy(policy);
}

const PLAIN_NAMES: Readonly<Record<keyof PlainOptions, true>> = {
  policy: true,
  now: true,
  at: true,
  trustAnchors: true,
  measurements: true,
  ephemeralKey: true,
  nonce: true,
  expected: true,
  allowDebug: true,
  bootProofsOnly: true,
};

/** A copy of options that are plain data. Throws TypeError as {@link ownOptions} does. */
export function ownPlainOptions(options: PlainOptions): PlainOptions {
  return copyPlain(ownOptions("options", options, PLAIN_NAMES));
}

/** The options of one verification, taken over. */
export interface VerifySetting {
  /** Null: none, any enclave of anybody. */
  readonly policy: Policy | null;
  /** Of a policy that came with the evidence its maker: the verdict is then `authentic` at best. */
  readonly policyFrom: "caller" | "maker";
  readonly context: BootProofContext;
  readonly wantedKeys: readonly WantedKey[];
  readonly uses: AppProofUses | null;
  readonly bootProofsOnly: boolean;
}

/** A piece of evidence as it was given, and what reports call it. */
export interface InputPiece {
  readonly subject: CheckSubject;
  readonly piece: NamedEvidence;
}

/** What a verification is of: evidence; or a bare attestation document, with a name or without. */
export type EvidenceInput = Evidence | NamedEvidence | Uint8Array;

/** Copied evidence of one verification. */
export interface CopiedEvidence {
  readonly bootProofs: readonly BootProofInput[];
  /** Without those inside the activity. */
  readonly appProofs: readonly InputCopy[];
  readonly activity: InputCopy | null;
  readonly given: readonly InputPiece[];
}

/** The names of all options. */
export const OPTION_NAMES: Readonly<Record<keyof VerifyOptions, true>> = { ...PLAIN_NAMES, cache: true, uses: true };
const EVIDENCE_NAMES: Readonly<Record<keyof Evidence, true>> = { bootProofs: true, appProofs: true, activity: true };

/**
 * Takes over options. Throws TypeError for an option of a wrong type or name, or that contradicts another.
 * `asksForOne`: the call itself asks for a boot proof or a document, and no more.
 */
export function readOptions(given: VerifyOptions, asksForOne = false): VerifySetting {
  const options = ownVerifyOptions(given);
  const { at = "document", cache = new SignatureCache(), ephemeralKey, nonce, expected } = options;
  const bootProofsOnly = readSwitch(options, "bootProofsOnly", asksForOne);
  const allowDebug = readSwitch(options, "allowDebug", false);
  const policy = readPolicy(options);
  const context = {
    trustAnchors: policy?.trustAnchors ?? readAnchors(options.trustAnchors),
    now: readNow(options.now),
    at: readValidationTime(at),
    allowDebug: allowDebug || policy?.allowDebug === true,
    measurements: readMeasurements(options.measurements),
    nonce: nonce === undefined ? null : bytesOf("nonce", nonce),
    expectation: expected === undefined ? null : expectationOf(expected),
    cache: readCache(cache),
  };
  const wantedKeys = ephemeralKey === undefined ? [] : [wantedKey(bytesOf("ephemeralKey", ephemeralKey))];
  return { policy, policyFrom: "caller", context, wantedKeys, uses: readUses(options.uses), bootProofsOnly };
}

/** Options beside a policy that came with the evidence. */
export type OptionsBesidePolicy = Omit<VerifyOptions, "policy">;

/**
 * Options under a policy that came with the evidence. Such a policy may only tighten: trust anchors and debug mode are
 * the caller's. Throws as {@link readOptions} does, and {@link MalformedError} (`code`) for a policy that loosens.
 */
export function readOptionsUnder(policy: Policy, given: OptionsBesidePolicy, code: "bundle" | "page"): VerifySetting {
  const own = ownVerifyOptions({ ...given, policy: NO_POLICY_ANY_ENCLAVE });
  const faults = looseningFaults(policy, own);
  if (faults.length > 0) throw new MalformedError(code, faults);
  return { ...readOptions(own), policy, policyFrom: "maker" };
}

/** What a policy that came with the evidence loosens, and the caller's options do not. */
function looseningFaults(policy: Policy, { trustAnchors, allowDebug }: OptionsBesidePolicy): Fault[] {
  const others = policy.trustAnchors.filter((anchor) => !isAwsNitroRoot(anchor)).map(({ name }) => name);
  return [
    ...(others.length > 0 && trustAnchors === undefined
      ? [{ path: "policy.trustAnchors", message: `${listed(others, ", ")}: ${ONLY_CALLER} (--trust-anchor FILE)` }]
      : []),
    ...(policy.allowDebug && allowDebug !== true
      ? [{ path: "policy.allowDebug", message: `debug mode: ${ONLY_CALLER} (--allow-debug)` }]
      : []),
  ];
}

const ONLY_CALLER = "the policy came with the evidence and may only tighten; the caller alone can allow this";

function ownVerifyOptions(options: VerifyOptions): VerifyOptions {
  if (isPolicy(options))
    throw new TypeError("options: { policy, now: new Date() } wanted, and this is the policy alone");
  return ownOptions("options", options, OPTION_NAMES);
}

function readSwitch(options: VerifyOptions, name: "allowDebug" | "bootProofsOnly", byDefault: boolean): boolean {
  const value: unknown = options[name] === undefined ? byDefault : options[name];
  if (typeof value !== "boolean") throw new TypeError(`${name}: true or false wanted`);
  return value;
}

function readPolicy({ policy, trustAnchors }: VerifyOptions): Policy | null {
  if (policy === NO_POLICY_ANY_ENCLAVE) return null;
  if (!isPolicy(policy))
    throw new TypeError("options.policy: a policy as parsePolicy answers it wanted, or NO_POLICY_ANY_ENCLAVE");
  if (trustAnchors !== undefined) throw new TypeError("trustAnchors: a policy names its own");
  return policy;
}

function readNow(now: unknown): Date {
  if (!isInstant(now)) throw new TypeError("now: a valid Date wanted");
  return new Date(now);
}

function readValidationTime(at: unknown): VerifyContext["at"] {
  if (at === "document" || at === "now") return at;
  if (!isInstant(at)) throw new TypeError('at: "document", "now" or a valid Date wanted');
  return new Date(at);
}

function readCache(cache: unknown): SignatureCache {
  if (!(cache instanceof SignatureCache)) throw new TypeError("cache: a SignatureCache wanted");
  return cache;
}

function readUses(uses: unknown): AppProofUses | null {
  if (uses === undefined) return null;
  if (!(uses instanceof AppProofUses)) throw new TypeError("uses: an AppProofUses wanted");
  return uses;
}

function wantedKey(key: Uint8Array): WantedKey {
  return { what: "the key that was asked for", key };
}

/** Decoded anew from a copy, so that what they are is not changed meanwhile. */
function readAnchors(anchors: readonly TrustAnchor[] | undefined): readonly TrustAnchor[] {
  if (anchors === undefined) return [AWS_NITRO_ROOT_G1];
  const copies = copyPlain(anchors);
  const isGood =
    Array.isArray(copies) &&
    copies.every((anchor) => typeof anchor?.name === "string" && anchor.certificate?.der instanceof Uint8Array);
  if (!isGood) throw new TypeError("trustAnchors: a list of anchors wanted, as parseTrustAnchor answers them");
  return copies.map(({ name, certificate }) => ({ name, certificate: decodeCertificate(certificate.der) }));
}

/** Of none there would be nothing to ask, and nobody would be told. */
function readMeasurements(measurements: unknown): VerifyContext["measurements"] {
  if (measurements === undefined) return null;
  if (typeof measurements !== "object" || measurements === null || measurements instanceof Uint8Array)
    throw new TypeError("measurements: an object of PCRs by index wanted, such as { 0: pcr0 }");
  const entries = Object.entries(measurements).map(([name, value]): [number, Uint8Array] => {
    if (!isPcrIndex(name)) throw new TypeError(`measurements.${name}: no PCR: an index of 0 to 31 wanted`);
    if (!(value instanceof Uint8Array) || value.length !== PCR_LENGTH)
      throw new TypeError(`measurements.${name}: ${PCR_LENGTH} bytes wanted, as a Uint8Array`);
    return [Number(name), new Uint8Array(value)];
  });
  if (entries.length === 0) throw new TypeError("measurements: empty: leave it away where no image is asked for");
  return new Map(entries);
}

/** Whether it is the index of a PCR, as a member of an object is called by it. */
export function isPcrIndex(name: string): boolean {
  return /^(?:[12]?\d|3[01])$/.test(name);
}

function bytesOf(name: string, value: unknown): Uint8Array {
  if (value instanceof Uint8Array && value.length > 0) return new Uint8Array(value);
  throw new TypeError(`${name}: bytes wanted, as a Uint8Array that is not empty`);
}

/** Comparisons with an invalid Date are all false: nothing would ever be too old. */
function isInstant(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime());
}

const EVIDENCE_WANTED =
  "evidence: lists in an object wanted, such as { bootProofs: [bootProof], appProofs: [appProof] }";

type EvidenceLists = Evidence & { readonly appProofs: readonly unknown[] };

/** The members of evidence, each read once. Throws TypeError for what is none, and says what was probably meant. */
export function evidenceMembers(evidence: Evidence): EvidenceLists {
  return evidenceLists(ownEvidence(evidence));
}

function ownEvidence(evidence: Evidence): Evidence {
  const names = [...Object.keys(EVIDENCE_NAMES), "bootProof", "appProof"];
  if (typeof evidence !== "object" || evidence === null || !names.some((name) => name in evidence))
    throw new TypeError(EVIDENCE_WANTED);
  for (const one of ["bootProof", "appProof"])
    if (Object.hasOwn(evidence, one)) throw new TypeError(`evidence.${one}: unknown; did you mean ${one}s: [${one}]?`);
  return ownOptions("evidence", evidence, EVIDENCE_NAMES);
}

function evidenceLists({ bootProofs, appProofs = [], activity }: Evidence): EvidenceLists {
  return { bootProofs: listOf("bootProof", bootProofs), appProofs: listOf("appProof", appProofs), activity };
}

function listOf(one: string, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  const hint = value === undefined ? "empty where there is none" : `did you mean ${one}s: [${one}]?`;
  throw new TypeError(`evidence.${one}s: a list wanted; ${hint}`);
}

/**
 * Copies evidence. Throws TypeError for a value that is not evidence, or if the expected pieces are missing; RangeError
 * for more than {@link MAX_APP_PROOFS} app proofs.
 */
export function copyEvidence(evidence: Evidence, setting: VerifySetting): CopiedEvidence {
  const { context, wantedKeys } = setting;
  const own = ownEvidence(evidence);
  const { bootProofs, appProofs, activity } = evidenceLists(own);
  if (setting.bootProofsOnly) refuseMore(own, context.expectation);
  if (appProofs.length > MAX_APP_PROOFS) throw new RangeError(`more than ${MAX_APP_PROOFS} app proofs`);
  if (bootProofs.length + appProofs.length === 0 && activity === undefined)
    throw new TypeError("no evidence was given");
  if (activity === undefined) requireAnswerable(context.expectation, appProofs.length);
  const { boots, apps, whole } = inputParts({ bootProofs, appProofs, activity });
  return {
    bootProofs: boots.map(({ piece }) => bootProofInput(piece, wantedKeys)),
    appProofs: apps.map(({ piece }) => copyInput(piece.value)),
    activity: whole.map(({ piece }) => copyInput(piece.value))[0] ?? null,
    given: [...boots, ...apps, ...whole],
  };
}

/** An empty list, too: a caller who passes on what a service returned asks for what it may have left out. */
function refuseMore(evidence: Evidence, expectation: Expectation | null): void {
  for (const name of ["appProofs", "activity"] as const)
    if (evidence[name] !== undefined) throw new TypeError(`evidence.${name}: given, and bootProofsOnly asks for none`);
  if (expectation !== null)
    throw new TypeError("expected: only boot proofs are verified here: app proofs or an activity could answer it");
}

function inputParts({ bootProofs, appProofs, activity }: EvidenceLists): {
  readonly boots: InputPiece[];
  readonly apps: InputPiece[];
  readonly whole: InputPiece[];
} {
  return {
    boots: bootProofs.map((input, index) => given(`boot[${index}]`, input)),
    apps: appProofs.map((input, index) => given(`app[${index}]`, input)),
    whole: activity === undefined ? [] : [given("activity", activity)],
  };
}

/** Whether it is a bare attestation document. */
export function isDocument(evidence: EvidenceInput): evidence is NamedEvidence | Uint8Array {
  return evidence instanceof Uint8Array || evidence instanceof NamedEvidence;
}

/** The pieces of it, in the order in which a report has them; the app proofs inside an activity are none. */
export function inputPieces(evidence: EvidenceInput): readonly InputPiece[] {
  if (isDocument(evidence)) return [given("boot[0]", evidence)];
  const { boots, apps, whole } = inputParts(evidenceMembers(evidence));
  return [...boots, ...apps, ...whole];
}

function given(subject: CheckSubject, input: unknown): InputPiece {
  return { subject, piece: input instanceof NamedEvidence ? input : new NamedEvidence(null, input) };
}

function bootProofInput({ value, ephemeralKey }: NamedEvidence, wantedKeys: readonly WantedKey[]): BootProofInput {
  const input: InputCopy | VerifiedBootProof = VerifiedBootProof.isVerified(value) ? value : copyInput(value);
  return { input, wantedKeys: ephemeralKey === null ? wantedKeys : [...wantedKeys, wantedKey(ephemeralKey)] };
}

/**
 * Without an activity nothing could answer what is expected of one; without app proofs either, nothing at all. Throws
 * TypeError: what is expected would silently not be checked. An address that no app proof backs is a failed check.
 */
function requireAnswerable(expectation: Expectation | null, appProofs: number): void {
  if (expectation === null) return;
  const [name] = (["id", "type", "parameters"] as const).filter((member) => expectation[member] !== null);
  if (name !== undefined) throw new TypeError(`expected.${name}: asked of an activity, and none was given`);
  if (appProofs === 0 && expectation.addresses === null)
    throw new TypeError("expected: boot proofs alone cannot answer it: app proofs or an activity wanted");
}

/**
 * Takes over a bare attestation document. Throws TypeError for anything but bytes, and for what no document answers.
 */
export function copyDocument(
  document: Uint8Array | NamedEvidence,
  { context, wantedKeys }: VerifySetting,
): { readonly bytes: Uint8Array; readonly given: InputPiece } {
  if (wantedKeys.length > 0) throw new TypeError("ephemeralKey: asked of boot proofs only");
  if (context.expectation !== null) throw new TypeError("expected: asked of activities and app proofs only");
  const { subject, piece } = given("boot[0]", document);
  if (!(piece.value instanceof Uint8Array)) throw new TypeError("document: bytes wanted, as a Uint8Array");
  return { bytes: new Uint8Array(piece.value), given: { subject, piece } };
}
