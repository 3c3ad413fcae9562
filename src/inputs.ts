/** Copies the inputs of callers, and refuses unknown options. */
import { byteCopy, date, having, instanceOf, typedOptions, unchecked } from "./decode/options.js";
import {
  type MembersOf,
  type Shape,
  count,
  demand,
  flag,
  list,
  oneOf,
  optional,
  record,
  simple,
  text,
} from "./decode/shapes.js";
import type { AppraisedPiece } from "./appraise/appraisal.js";
import { ParsedPolicy, demandingDeployment } from "./appraise/parsed-policy.js";
import type { Policy } from "./appraise/policy.js";
import type { CheckSubject } from "./checks.js";
import { APP_PROOF_SCHEME, MAX_APP_PROOFS } from "./decode/app-proof-limits.js";
import { decodeCertificate } from "./decode/certificate.js";
import { isJsonObject } from "./decode/json.js";
import { PCR_LENGTH } from "./decode/lengths.js";
import { type InputCopy, copyInput, copyPlain, withoutPrototype } from "./decode/input.js";
import type { Remembered } from "./verify/approved-manifests.js";
import { AppProofUses } from "./verify/app-proof-uses.js";
import { type BootProofContext, type BootProofInput, VerifiedBootProof } from "./verify/boot-proof.js";
import { type Fault, MalformedError, listed } from "./errors.js";
import { type Expected, checkedExpectation, expectedShape, unmetByKind } from "./verify/expectation.js";
import { MAX_PROVENANCE, type ProvenanceInput, type ProvenanceVerifier } from "./verify/provenance-demand.js";
import type { RevocationLists } from "./verify/context.js";
import type { WantedKey } from "./verify/manifest-binding.js";
import { SignatureCache } from "./verify/signature-cache.js";
import { AWS_NITRO_ROOT_G1, type TrustAnchor, isAwsNitroRoot } from "./verify/trust-anchor.js";
import { requireRuntime } from "./verify/runtime.js";
import type { SignedBytesInput } from "./verify/signed-bytes.js";
import type { SignUp } from "./verify/app-proof.js";

/** Replaces a policy: any genuine enclave passes, whatever it runs. The verdict is `authentic` at best. */
export const NO_POLICY_ANY_ENCLAVE = Symbol("no policy: any enclave of anybody");

export interface VerifyOptions {
  /** Policy from `parsePolicy`, or {@link NO_POLICY_ANY_ENCLAVE} to verify without a policy. */
  readonly policy: Policy | typeof NO_POLICY_ANY_ENCLAVE;
  /** The current time, from which ages count. Documents dated over five minutes after it are rejected. */
  readonly now: Date;
  /** Time at which certificates must be valid. Default: `document`, which is the document's signed time. */
  readonly at?: "document" | "now" | Date;
  /** Trust anchors. Allowed only without a policy, which has its own. Default: AWS Nitro Enclaves Root G1. */
  readonly trustAnchors?: readonly TrustAnchor[];
  /** PCRs that each document must also attest: 48 bytes each by index, as from `measureImage`. */
  readonly measurements?: Readonly<Record<number, Uint8Array>>;
  /** The ephemeral key that was requested (130 bytes). Each boot proof must attest it. */
  readonly ephemeralKey?: Uint8Array;
  /** The nonce that was requested. Each document must contain it. Default: no boot proof may contain a nonce. */
  readonly nonce?: Uint8Array;
  /** What was requested. Activity and app proofs must match it. Throws TypeError for boot proofs alone. */
  readonly expected?: Expected;
  /**
   * Revocation lists in DER, as bytes or {@link NamedEvidence} of bytes. Those of issuers in the certificate path are
   * judged at `now`. They are never taken from evidence or fetched.
   */
  readonly crls?: readonly unknown[];
  /** Whether debug mode passes with a warning even if the policy does not allow it. */
  readonly allowDebug?: boolean;
  /**
   * `strict` refuses a good verdict that has a warning: the verdict stays, but the report has `refusedFor`, and
   * `requireVerified` and `requireAuthentic` throw. Default: `standard`.
   */
  readonly acceptance?: "standard" | "strict";
  /**
   * The greatest age of a boot proof's document in milliseconds. The smaller of this and the policy's `maxAge` counts.
   * Throws TypeError without a policy, since age is one of its checks.
   */
  readonly maxAgeMs?: number;
  /** Whether only boot proofs are requested. Rules about app proofs and activities are then not applied. */
  readonly bootProofsOnly?: boolean;
  /** Cache of valid signatures. Share it between verifications to make them cheaper. */
  readonly cache?: SignatureCache;
  /** Memory of used app proofs. Share it between verifications, so that no app proof is accepted for two activities. */
  readonly uses?: AppProofUses;
  /** Required if the policy demands provenance. Make it with `sigstoreVerifier` of `bootproof/provenance`. */
  readonly provenanceVerifier?: ProvenanceVerifier;
}

/** Evidence to verify. Each piece is JSON text, its bytes, the parsed value, or a {@link NamedEvidence}. */
export interface Evidence {
  /** Boot proofs: bare, as `{"bootProof": …}`, or `VerifiedBootProof`. Without any, the verdict is `rejected`. */
  readonly bootProofs: readonly unknown[];
  readonly appProofs?: readonly unknown[];
  /** Activity, bare or as `{"activity": …}`. Its app proofs come after `appProofs` in the report. */
  readonly activity?: unknown;
  /** Sigstore bundles of the builds that the policy demands. Other bundles are listed, but prove nothing. */
  readonly provenance?: readonly unknown[];
}

interface PieceFacts {
  readonly bytes?: Uint8Array;
  readonly ephemeralKey?: Uint8Array;
  readonly latestOf?: string;
}

const FACTS: MembersOf<PieceFacts> = {
  bytes: optional(byteCopy),
  ephemeralKey: demand(byteCopy),
  latestOf: optional(text),
};

/** Evidence with its name for the report, and with facts about its request. */
export class NamedEvidence {
  /** Name for the report, for example the name of a file. */
  readonly name: string | null;
  /** JSON text, its bytes, the parsed value, or a {@link VerifiedBootProof}. */
  readonly value: unknown;
  /** The original bytes, if the value was parsed from them. */
  readonly bytes: Uint8Array | null;
  /** The ephemeral key (130 bytes) for which the boot proof was requested. */
  readonly ephemeralKey: Uint8Array | null;
  /** The application whose latest boot proof was requested. The service chose it, and the choice is not verified. */
  readonly latestOf: string | null;

  constructor(name: string | null, value: unknown, facts: PieceFacts = {}) {
    const own = typedOptions("facts", facts, FACTS);
    if (name !== null && typeof name !== "string") throw new TypeError("name: expected a string, or null");
    this.name = name;
    this.value = value instanceof Uint8Array ? new Uint8Array(value) : value;
    this.bytes = own.bytes ?? null;
    this.latestOf = own.latestOf ?? null;
    this.ephemeralKey = own.ephemeralKey ?? null;
  }
}

/** Returns named evidence that shares `value` and `bytes` instead of copying them. No caller may hold them. */
export function namedSharing(
  name: string | null,
  value: unknown,
  { bytes = null, ...facts }: { bytes?: Uint8Array | null; ephemeralKey?: Uint8Array; latestOf?: string },
): NamedEvidence {
  return Object.assign(new NamedEvidence(name, null, facts), { value, bytes });
}

/** Bytes that an application signed with its ephemeral key, and the boot proof of its enclave. */
export interface SignedBytes {
  /** As in {@link Evidence}. */
  readonly bootProof: unknown;
  /**
   * The signed bytes, or their hex digits, bare or as a {@link NamedEvidence} of them. The library never reads a text
   * as the bytes of that text.
   */
  readonly message: Uint8Array | string | NamedEvidence;
  /** Key of 130 bytes, or its signing half of 65, in hex or as bytes. Default: the key that the boot proof attests. */
  readonly publicKey?: Uint8Array | string;
  /** Signature of 64 bytes or in DER, in hex or as bytes, over SHA-256 of the message. */
  readonly signature: Uint8Array | string;
  /** What the application calls this signature. Default: the scheme of app proofs. */
  readonly scheme?: string;
  /** As in {@link Evidence}. */
  readonly provenance?: readonly unknown[];
}

/** Options of the verification of signed bytes. */
export interface SignedBytesOptions extends Omit<VerifyOptions, "expected" | "bootProofsOnly" | "uses"> {
  /** The caller's own bytes, which the signed ones must equal. Null means that the caller has none to compare. */
  readonly expected: Uint8Array | null;
}

/** All that decides a verdict but the evidence, as it was read of the options. */
export interface Setting {
  /** Null means that there is no policy and any genuine enclave passes. */
  readonly policy: ParsedPolicy | null;
  /** `bundle`: the policy came with the evidence, so the verdict is `authentic` at best. */
  readonly policyFrom: "caller" | "bundle";
  readonly context: BootProofContext;
  readonly wantedKeys: readonly WantedKey[];
  readonly uses: AppProofUses | null;
  readonly acceptance: "standard" | "strict";
  readonly maxAgeMs: number | null;
  readonly bootProofsOnly: boolean;
  /** Null only if no policy demands provenance. */
  readonly provenanceVerifier: ProvenanceVerifier | null;
  /** Cache of appraisals. This and the next two members are internal: callers cannot set them. */
  readonly appraised?: Remembered<AppraisedPiece>;
  /** Set if no caller holds the parsed JSON. It is then not copied. */
  readonly isOwnEvidence?: true;
  /** Reasons of the caller to refuse the activity or app proofs, in addition to those of their checks. */
  readonly refusals?: readonly string[];
  readonly signUp?: SignUp;
  /** When the call of the expected request began, if it is a call of this process. */
  readonly began?: number | null;
}

export interface InputPiece {
  readonly subject: CheckSubject;
  readonly piece: NamedEvidence;
}

/** Input of a verification. A bare attestation document is bytes, or {@link NamedEvidence} of bytes. */
export type EvidenceInput = Evidence | NamedEvidence | Uint8Array;

export interface CopiedEvidence {
  readonly bootProofs: readonly BootProofInput[];
  /** The app proofs outside the activity. */
  readonly appProofs: readonly InputCopy[];
  readonly activity: InputCopy | null;
  readonly provenance: readonly ProvenanceInput[];
  /** Signed bytes of the only boot proof. Absent for other evidence. */
  readonly signedBytes?: SignedBytesInput;
  readonly given: readonly InputPiece[];
}

/** The rule for the names of PCRs. */
export const PCR_NAMES = {
  name: /^(?:[12]?\d|3[01])$/,
  fault: "not a PCR: expected an index of 0 to 31",
  least: 1,
};

const validationTime: Shape<"document" | "now" | Date> = {
  read: (value, place) => {
    if (value === "document" || value === "now") return value;
    return value instanceof Date ? date.read(value, place) : place.fault('expected "document", "now" or a valid Date');
  },
};

/** Shape of a trust anchor. The certificate is decoded from a copy of its bytes, so later changes have no effect. */
const trustAnchor: Shape<TrustAnchor> = {
  read: (value, place) => {
    const { name, certificate } = copyPlain((value ?? {}) as Partial<TrustAnchor>);
    if (typeof name === "string" && certificate?.der instanceof Uint8Array)
      return { name, certificate: decodeCertificate(certificate.der) };
    return place.fault("expected an anchor from parseTrustAnchor");
  },
};

const pcr: Shape<Uint8Array> = {
  read: (value, place) => {
    if (value instanceof Uint8Array && value.length === PCR_LENGTH) return new Uint8Array(value);
    return place.fault(`expected ${PCR_LENGTH} bytes, as a Uint8Array`);
  },
};

export const MAX_LISTS = 1000;

/** Shape of a revocation list, whose bytes are copied. */
const revocationList: Shape<NamedEvidence> = {
  read: (given, place) => {
    const { name, value } = given instanceof NamedEvidence ? given : { name: null, value: given };
    if (!(value instanceof Uint8Array)) return place.fault("expected the bytes of a revocation list in DER");
    return new NamedEvidence(name ?? place.path, value);
  },
};

export const VERIFY_OPTIONS: MembersOf<VerifyOptions> = {
  policy: simple(
    "a policy from parsePolicy, or NO_POLICY_ANY_ENCLAVE",
    (value): value is VerifyOptions["policy"] => value === NO_POLICY_ANY_ENCLAVE || ParsedPolicy.is(value),
  ),
  now: date,
  at: optional(validationTime),
  trustAnchors: optional(list(trustAnchor)),
  measurements: demand(record(pcr, PCR_NAMES)),
  ephemeralKey: demand(byteCopy),
  nonce: demand(byteCopy),
  expected: demand(expectedShape),
  crls: demand(list(revocationList as Shape<unknown>, 1, MAX_LISTS)),
  allowDebug: optional(flag),
  acceptance: demand(oneOf("standard", "strict")),
  maxAgeMs: demand(count),
  bootProofsOnly: optional(flag),
  cache: optional(instanceOf(SignatureCache, "a SignatureCache")),
  uses: demand(instanceOf(AppProofUses, "an AppProofUses")),
  provenanceVerifier: optional(having("verify")),
};

/** Whose the policy is, and what is refused of it and of the options beside it. */
interface PolicySource {
  readonly policyFrom: Setting["policyFrom"];
  readonly refuse: (policy: Policy | null, options: VerifyOptions) => void;
}

const OF_CALLER: PolicySource = { policyFrom: "caller", refuse: refuseContradiction };
/** Of a policy that came with the evidence. It may tighten verification, but not loosen it. */
export const OF_BUNDLE: PolicySource = { policyFrom: "bundle", refuse: refuseLoosening };

/**
 * Reads options, once. `isOnlyOne` is the default of `bootProofsOnly`. Throws TypeError for an option of a wrong type
 * or name, and for options that contradict each other; {@link MalformedError} (`bundle`) for a policy of a bundle that
 * loosens.
 */
export function settingOf(given: VerifyOptions, source = OF_CALLER, isOnlyOne = false): Setting {
  requireRuntime();
  refusePolicyAlone(given);
  const options = typedOptions("options", given, VERIFY_OPTIONS);
  const { uses = null, acceptance = "standard", bootProofsOnly = isOnlyOne, maxAgeMs = null } = options;
  const { provenanceVerifier = null } = options;
  const policy = ParsedPolicy.is(options.policy) ? options.policy : null;
  source.refuse(policy, options);
  const context = contextOf(options, source === OF_CALLER ? policy : null);
  const decided = { policy, policyFrom: source.policyFrom, context, wantedKeys: wantedKeysOf(options), uses };
  return Object.freeze({ ...decided, acceptance, maxAgeMs, bootProofsOnly, provenanceVerifier });
}

function refuseContradiction(policy: Policy | null, options: VerifyOptions): void {
  const { trustAnchors, maxAgeMs, provenanceVerifier } = options;
  if (policy !== null && trustAnchors !== undefined)
    throw new TypeError("options.trustAnchors: not allowed with a policy; name trust anchors in the policy");
  if (policy !== null && provenanceVerifier === undefined && demandsProvenance(policy))
    throw new TypeError(NO_VERIFIER);
  if (policy === null && maxAgeMs !== undefined)
    throw new TypeError("options.maxAgeMs: requires a policy, since age is one of its checks");
}

/** Whether a deployment of the policy demands provenance. Verification then needs a `provenanceVerifier`. */
export function demandsProvenance(policy: Pick<Policy, "deployments">): boolean {
  return demandingDeployment(policy) !== undefined;
}

const NO_VERIFIER =
  "provenanceVerifier: required, since the policy demands provenance: await sigstoreVerifier() of " +
  "bootproof/provenance (npm install @sigstore/verify)";

function contextOf(options: VerifyOptions, policy: Policy | null): BootProofContext {
  const { now, at = "document", nonce = null, expected, cache = new SignatureCache(), measurements } = options;
  const pairs = Object.entries(measurements ?? {}).map(([index, value]) => [Number(index), value] as const);
  return {
    trustAnchors: policy === null ? (options.trustAnchors ?? [AWS_NITRO_ROOT_G1]) : policy.trustAnchors,
    untimed: policy === null ? [] : policy.appProofs.untimed,
    now,
    at,
    allowDebug: options.allowDebug === true || policy?.allowDebug === true,
    measurements: measurements === undefined ? null : new Map(pairs),
    nonce,
    expectation: expected ? checkedExpectation(expected) : null,
    cache,
    crls: listsOf(options),
  };
}

function listsOf({ crls = [] }: VerifyOptions): RevocationLists {
  const given = (crls as readonly NamedEvidence[]).map(({ name, value }) => ({
    name: name!,
    bytes: value as Uint8Array,
  }));
  return { given, applied: new Set() };
}

/** Throws {@link MalformedError} (`revocation-list`) if no list of the caller is of an issuer in a path. */
export function requireApplied({ crls }: Pick<BootProofContext, "crls">): void {
  if (crls.given.length === 0 || crls.applied.size > 0) return;
  const message = "none is of an issuer in the certificate path: give those that its certificates name";
  throw new MalformedError("revocation-list", [{ path: listed(crls.given.map(({ name }) => name)), message }]);
}

function refuseLoosening(policy: Policy | null, options: VerifyOptions): void {
  if (policy === null) throw new TypeError("options.policy: expected the policy that came with the evidence");
  refuseUnverifiable(policy, options, looseningFaults(policy, options));
}

function looseningFaults(policy: Policy, { trustAnchors, allowDebug }: VerifyOptions): Fault[] {
  const others = policy.trustAnchors.filter((anchor) => !isAwsNitroRoot(anchor)).map(({ name }) => name);
  const hasAnchors = others.length > 0 && trustAnchors === undefined;
  const hasUntimed = policy.appProofs.untimed.length > 0;
  const rows: readonly (readonly [isLoose: boolean, member: string, what: string, option: string])[] = [
    [hasAnchors, "trustAnchors", listed(others), "--trust-anchor FILE"],
    [policy.allowDebug && allowDebug !== true, "allowDebug", "debug mode", "--allow-debug"],
    [hasUntimed, "appProofs.untimed", "app proofs without a time", "--policy FILE"],
  ];
  const loose = rows.filter(([isLoose]) => isLoose);
  return loose.map(([, member, what, option]) => ({
    path: `policy.${member}`,
    message: `${what}: ${ONLY_CALLER} (${option})`,
  }));
}

/**
 * Throws {@link MalformedError} for a maker's policy that demands provenance, without a verifier, and for other
 * `faults`. It throws no TypeError, because the maker of the policy, not the caller, chose what it demands.
 */
export function refuseUnverifiable(
  { deployments }: Policy,
  { provenanceVerifier }: Pick<VerifyOptions, "provenanceVerifier">,
  faults: readonly Fault[] = [],
): void {
  const demanding = provenanceVerifier === undefined ? [...deployments.entries()] : [];
  const unmet = demanding.filter(([, { provenance }]) => provenance !== undefined);
  const demands = unmet.map(([index]) => ({ path: `policy.deployments[${index}].provenance`, message: NO_VERIFIER }));
  if (faults.length + demands.length > 0) throw new MalformedError("bundle", [...faults, ...demands]);
}

const ONLY_CALLER = "the policy came with the evidence, and only the caller can allow this";

function refusePolicyAlone(options: unknown): void {
  if (ParsedPolicy.is(options))
    throw new TypeError("options: expected { policy, now: new Date() }, not the policy alone");
}

function wantedKeysOf({ ephemeralKey }: VerifyOptions): readonly WantedKey[] {
  return ephemeralKey === undefined ? [] : [wantedKey(ephemeralKey)];
}

function wantedKey(key: Uint8Array): WantedKey {
  return { what: "the requested key", key };
}

function evidenceList(example: string): Shape<readonly unknown[]> {
  return {
    read: (value, place) => {
      if (Array.isArray(value)) return [...(value as unknown[])];
      const hint = value === undefined ? "pass an empty list if there is none" : `did you mean ${example}?`;
      return place.fault(`expected a list; ${hint}`);
    },
  };
}

const EVIDENCE: MembersOf<Evidence> = {
  bootProofs: evidenceList("bootProofs: [bootProof]"),
  appProofs: demand(evidenceList("appProofs: [appProof]")),
  activity: demand(unchecked),
  provenance: demand(evidenceList("provenance: [bundle]")),
};

/** Every list of evidence. The type requires each, because a forgotten list would be dropped silently. */
type EvidenceLists = Required<Omit<Evidence, "activity">> & Pick<Evidence, "activity">;

/** Returns the members of evidence, each read once. Throws TypeError with a suggestion for any other value. */
export function evidenceMembers(evidence: Evidence): EvidenceLists {
  return withLists(ownEvidence(evidence));
}

function ownEvidence(evidence: Evidence): Evidence {
  const names = [...Object.keys(EVIDENCE), "bootProof", "appProof"];
  if (typeof evidence !== "object" || evidence === null || !names.some((name) => name in evidence))
    throw new TypeError(
      "evidence: expected lists in an object, such as { bootProofs: [bootProof], appProofs: [appProof] }",
    );
  for (const one of ["bootProof", "appProof"])
    if (Object.hasOwn(evidence, one)) throw new TypeError(`evidence.${one}: unknown; did you mean ${one}s: [${one}]?`);
  return typedOptions("evidence", evidence, EVIDENCE);
}

function withLists(own: Evidence): EvidenceLists {
  return withoutPrototype({ appProofs: [], provenance: [], ...own });
}

/** Returns the evidence with the caller's bundles of builds before its own bundles. */
export function withBuilds(evidence: Evidence, builds: readonly unknown[]): Evidence {
  return builds.length === 0 ? evidence : { ...evidence, provenance: [...builds, ...(evidence.provenance ?? [])] };
}

/**
 * Throws TypeError for a value that is not evidence, or if the expected pieces are missing; RangeError for more than
 * {@link MAX_APP_PROOFS} boot proofs or app proofs, or {@link MAX_PROVENANCE} bundles.
 */
export function copyEvidence(evidence: Evidence, setting: Setting): CopiedEvidence {
  const { context, wantedKeys } = setting;
  const own = setting.isOwnEvidence === true ? withoutPrototype(evidence) : ownEvidence(evidence);
  const lists = withLists(own);
  const { bootProofs, appProofs, activity, provenance } = lists;
  if (setting.bootProofsOnly) refuseMore(own, setting);
  // Each app proof may be signed by another key, so there may be as many boot proofs as app proofs.
  if (bootProofs.length > MAX_APP_PROOFS && setting.isOwnEvidence !== true)
    throw new RangeError(`more than ${MAX_APP_PROOFS} boot proofs`);
  if (appProofs.length > MAX_APP_PROOFS) throw new RangeError(`more than ${MAX_APP_PROOFS} app proofs`);
  if (provenance.length > MAX_PROVENANCE) throw new RangeError(`more than ${MAX_PROVENANCE} bundles of provenance`);
  if (bootProofs.length + appProofs.length === 0 && activity === undefined)
    throw new TypeError("no evidence was given");
  const unmet = context.expectation && unmetByKind(context.expectation, appProofs.length, activity !== undefined);
  if (unmet !== null) throw new TypeError(unmet);
  const { boots, apps, whole, builds } = inputParts(lists);
  return {
    bootProofs: boots.map(({ piece }) => bootProofInput(piece, wantedKeys, setting)),
    appProofs: apps.map(({ piece }) => ownInput(piece.value, setting)),
    activity: whole.map(({ piece }) => ownInput(piece.value, setting))[0] ?? null,
    provenance: builds.map(({ piece }) => provenanceInput(piece)),
    given: [...boots, ...apps, ...whole, ...builds],
  };
}

/** Refuses evidence other than boot proofs, even an empty list, because the service may have emptied it. */
function refuseMore(evidence: Evidence, { context }: Setting): void {
  for (const name of ["appProofs", "activity"] as const)
    if (evidence[name] !== undefined) throw new TypeError(`evidence.${name}: not allowed with bootProofsOnly`);
  if (context.expectation !== null) throw new TypeError("expected: not allowed where only boot proofs are verified");
}

type InputParts = Readonly<Record<"boots" | "apps" | "whole" | "builds", readonly InputPiece[]>>;

function inputParts({ bootProofs, appProofs, activity, provenance }: EvidenceLists): InputParts {
  return {
    boots: bootProofs.map((input, index) => given(`boot[${index}]`, input)),
    apps: appProofs.map((input, index) => given(`app[${index}]`, input)),
    whole: activity === undefined ? [] : [given("activity", activity)],
    builds: provenance.map((input, index) => given(`provenance[${index}]`, input)),
  };
}

export function isDocument(evidence: EvidenceInput): evidence is NamedEvidence | Uint8Array {
  return evidence instanceof Uint8Array || evidence instanceof NamedEvidence;
}

/** Returns the evidence in the order of the report, without the app proofs inside an activity. */
export function inputPieces(evidence: EvidenceInput): readonly InputPiece[] {
  if (isDocument(evidence)) return [given("boot[0]", evidence)];
  const { boots, apps, whole, builds } = inputParts(evidenceMembers(evidence));
  return [...boots, ...apps, ...whole, ...builds];
}

function given(subject: CheckSubject, input: unknown): InputPiece {
  return { subject, piece: input instanceof NamedEvidence ? input : new NamedEvidence(null, input) };
}

function ownInput(value: unknown, { isOwnEvidence }: Setting): InputCopy {
  return isOwnEvidence === true && isJsonObject(value) ? { value, faults: [] } : copyInput(value);
}

function bootProofInput(
  { value, ephemeralKey }: NamedEvidence,
  wantedKeys: readonly WantedKey[],
  setting: Setting,
): BootProofInput {
  const input: InputCopy | VerifiedBootProof = VerifiedBootProof.isVerified(value) ? value : ownInput(value, setting);
  return { input, wantedKeys: ephemeralKey === null ? wantedKeys : [...wantedKeys, wantedKey(ephemeralKey)] };
}

/** Copies a bundle. Text is not parsed here, because its size must be checked first. */
function provenanceInput({ value }: NamedEvidence): ProvenanceInput {
  if (typeof value === "string") return value;
  return value instanceof Uint8Array ? new Uint8Array(value) : copyInput(value);
}

const bytesOrHex: Shape<Uint8Array | string> = {
  read: (value, place) => {
    if (typeof value === "string") return value;
    return value instanceof Uint8Array ? new Uint8Array(value) : place.fault("expected bytes, or their hex digits");
  },
};

/** Shape of the signed bytes, which may have a name. */
const namedBytes: Shape<NamedEvidence> = {
  read: (given, place) => {
    const { name, value } = given instanceof NamedEvidence ? given : { name: null, value: given };
    return new NamedEvidence(name, bytesOrHex.read(value, place));
  },
};

const expectedBytes: Shape<Uint8Array | null> = {
  read: (value, place) => {
    if (value === undefined) return place.fault("required: the bytes that you expect, or null if you have none");
    return value === null ? null : byteCopy.read(value, place);
  },
};

/**
 * Reads the arguments of a verification of signed bytes. Throws TypeError as {@link settingOf} does, and for
 * `expected` that is undefined or empty: with it, any bytes would pass.
 */
export function copySignedBytes(
  signed: SignedBytes,
  given: SignedBytesOptions,
): { readonly copied: CopiedEvidence; readonly setting: Setting } {
  const { bootProof, provenance, message, publicKey, signature, scheme } = typedOptions("signed", signed, {
    bootProof: unchecked,
    message: namedBytes as Shape<SignedBytes["message"]>,
    publicKey: demand(bytesOrHex),
    signature: bytesOrHex,
    scheme: demand(text),
    provenance: demand(evidenceList("provenance: [bundle]")),
  });
  const { expected: _, bootProofsOnly: __, uses: ___, ...shapes } = VERIFY_OPTIONS;
  refusePolicyAlone(given);
  const { expected, ...options } = typedOptions("options", given, { ...shapes, expected: expectedBytes });
  const setting = settingOf(options);
  const copied = copyEvidence({ bootProofs: [bootProof], ...(provenance && { provenance }) }, setting);
  const piece = message as NamedEvidence;
  const bytes = piece.value as Uint8Array | string;
  const own = { message: bytes, publicKey: publicKey ?? null, signature, scheme: scheme ?? APP_PROOF_SCHEME, expected };
  const [boot, ...builds] = copied.given;
  return { setting, copied: { ...copied, signedBytes: own, given: [boot!, { subject: "app[0]", piece }, ...builds] } };
}

/** Copies a bare document. Throws TypeError for anything but bytes, and for options of other evidence. */
export function copyDocument(
  document: Uint8Array | NamedEvidence,
  { context, wantedKeys }: Setting,
): { readonly bytes: Uint8Array; readonly given: InputPiece } {
  if (wantedKeys.length > 0) throw new TypeError("ephemeralKey: allowed only for boot proofs");
  if (context.expectation !== null) throw new TypeError("expected: allowed only for activities and app proofs");
  const { subject, piece } = given("boot[0]", document);
  if (!(piece.value instanceof Uint8Array)) throw new TypeError("document: expected bytes, as a Uint8Array");
  return { bytes: new Uint8Array(piece.value), given: { subject, piece } };
}
