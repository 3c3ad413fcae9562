/**
 * The checks of app proofs (verify/README.md, "App proofs"). This file is loaded only if there are app proofs or some
 * are expected. bin/build.mjs bundles it with copies of its imports, so nothing here may keep state.
 */
import { equalBytes, toHex, toUtf8 } from "../bytes.js";
import type { Cause, CheckSubject, Checklist } from "../checks.js";
import {
  type AppProof,
  type AppProofPayload,
  MAX_PAYLOADS_VALUES,
  readAppProof,
  readAppProofPayloadText,
} from "../decode/app-proof.js";
import { type InputCopy, readInput } from "../decode/input.js";
import type { ValueBudget } from "../decode/json.js";
import { P256_POINT_LENGTH } from "../decode/lengths.js";
import { type Reading, shownName, wholeOf } from "../errors.js";
import type { VerifiedBootProof } from "./boot-proof.js";
import { COMMITMENTS, type CommitmentKind } from "./commitment.js";
import { SKEW_MS, type VerifyContext } from "./context.js";
import {
  type PayloadComparison,
  claimOf,
  comparePayload,
  organizationCauses,
  proofContradictions,
  requestTime,
  unansweredAddresses,
} from "./contradictions.js";
import type { Expectation } from "./expectation.js";
import type { Challenge } from "./expected-payload.js";
import { isP256Point } from "./ecdsa.js";
import { inTurns } from "./in-turns.js";
import { isQosPublicKey } from "./qos-key.js";

export interface AppProofFacts {
  readonly proof: AppProof;
  readonly payload: AppProofPayload;
  readonly bootProof: VerifiedBootProof;
  readonly expectation: number | null;
  readonly answers: Challenge | null;
}

export interface BootProofCandidate {
  readonly statedKey: Uint8Array | null;
  readonly keyNames: readonly (string | null)[];
  /** The verified boot proof, or null if it was rejected. */
  readonly verified: VerifiedBootProof | null;
}

export interface AppProofCompany {
  readonly boots: readonly BootProofCandidate[];
  readonly activity: { readonly value: ActivityTimes } | null;
  /** Reasons of the caller to refuse the app proofs. With an activity, its own check has them. */
  readonly refusals?: readonly string[] | undefined;
}

type ActivityTimes = Parameters<typeof requestTime>[1];

interface AppProofSetting {
  readonly context: VerifyContext;
  readonly candidates: Candidates;
  /** Whether there is an activity. If so, the expectation is compared with the activity. */
  readonly withActivity: boolean;
  /** Earliest time in milliseconds since the epoch, without the allowed skew. Null means unknown. */
  readonly requestedAt: number | null;
  /** Expectations that no proof meets. They are reported as faults of the first proof. */
  readonly missing: readonly string[];
  readonly verifies: (signed: SignedPayload) => Promise<boolean>;
}

type ReadAppProof = Reading<AppProof>["value"];
type ReadPayload = Reading<AppProofPayload>["value"];

interface DecodedAppProof {
  readonly checklist: Checklist;
  readonly proof: ReadAppProof;
  readonly payload: ReadPayload;
  /** The decoded proof, or null if it has a fault. */
  readonly whole: { readonly proof: AppProof; readonly payload: AppProofPayload } | null;
  readonly compared: PayloadComparison;
}

/** Runs `app.decode` and `app.payload`. All payloads of the verification share `budget`. */
function decodeAppProofInput(
  input: InputCopy,
  checklist: Checklist,
  budget: ValueBudget,
  { expectation, untimed }: VerifyContext,
): DecodedAppProof {
  const read = readInput(input, readAppProof);
  checklist.decoded("app.decode", read.faults);
  const { proofPayload } = read.value;
  const reading = proofPayload === undefined ? null : readAppProofPayloadText(proofPayload, budget, untimed);
  if (reading === null) checklist.skip("app.payload", "the payload could not be read");
  else checklist.decoded("app.payload", reading.faults);
  const [wholeProof, wholePayload] = [wholeOf(read), reading && wholeOf(reading)];
  const whole = wholeProof && wholePayload && { proof: wholeProof, payload: wholePayload };
  const payload = reading?.value ?? {};
  const compared = comparePayload(expectation?.payload ?? null, payload.type, payload.json);
  return { checklist, proof: read.value, payload, whole, compared };
}

export interface SignedPayload {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  readonly bootProof: VerifiedBootProof | null;
}

/** Tools that the loading file passes, so that this bundled file has no copies of them. */
export interface AppProofTools {
  /** Verifies a signature with the cryptography that the process chose. */
  readonly verifies: AppProofSetting["verifies"];
  readonly checklistOf: (subject: CheckSubject) => Checklist;
}

/** Number of app proofs whose signatures are verified at once. */
const AT_ONCE = 16;

/** Runs all checks. */
export async function runAppProofChecks(
  inputs: readonly InputCopy[],
  { boots, activity, refusals: given = [] }: AppProofCompany,
  context: VerifyContext,
  { verifies, checklistOf }: AppProofTools,
): Promise<{ readonly facts: readonly (AppProofFacts | null)[]; readonly checklists: readonly Checklist[] }> {
  const { expectation } = context;
  const budget = { left: MAX_PAYLOADS_VALUES };
  const decoded = await inTurns(inputs, 1, (input, index) =>
    decodeAppProofInput(input, checklistOf(`app[${index}]`), budget, context),
  );
  const setting = {
    context,
    candidates: keyCandidates(boots),
    withActivity: activity !== null,
    requestedAt: requestTime(expectation, activity?.value),
    missing: [],
    verifies,
  };
  const refusals = setting.withActivity ? [] : given;
  const first = { ...setting, missing: [...refusals, ...missingFromAll(decoded, expectation, setting.withActivity)] };
  const facts = await inTurns(decoded, AT_ONCE, (app, index) => checkAppProof(app, index === 0 ? first : setting));
  const absent = { expectation, refusals, withActivity: setting.withActivity };
  const missing = decoded.length === 0 ? missingProofs(absent, checklistOf("app[0]")) : [];
  return { facts, checklists: [...missing, ...decoded.map(({ checklist }) => checklist)] };
}

/** Returns a text for each expected payload that no proof has. Without an activity, also for each expected address. */
function missingFromAll(
  decoded: readonly DecodedAppProof[],
  expectation: Expectation | null,
  withActivity: boolean,
): readonly string[] {
  if (expectation === null) return [];
  const derived = decoded.flatMap(({ payload }) => payload.addressDerivationProof ?? []);
  const addresses = withActivity
    ? []
    : unansweredAddresses(
        expectation,
        derived.map(({ address }) => address),
      );
  const payloads = [...(expectation?.payload ?? []).entries()].filter(([index, { type }]) => {
    const isMet = decoded.some(({ compared }) => compared.met.includes(index));
    // A proof of the type that meets no expectation fails its own check, which says how it differs.
    return !isMet && !decoded.some(({ payload, compared }) => payload.type === type && compared.met.length === 0);
  });
  return [
    ...addresses.map((address) => `no app proof names address ${address}, which was expected`),
    ...payloads.map(([index, { type }]) => `no app proof meets expected.payload[${index}], of type ${shownName(type)}`),
  ];
}

interface Absent extends Pick<AppProofSetting, "withActivity"> {
  readonly expectation: Expectation | null;
  readonly refusals: readonly string[];
}

/** Runs `app.request` for evidence without app proofs, if something is expected of them. */
function missingProofs({ expectation, refusals, withActivity }: Absent, checklist: Checklist): Checklist[] {
  if (expectation === null || (withActivity && expectation.payload === null)) return [];
  const expected = [
    ...(expectation.addresses === null || withActivity ? [] : ["addresses"]),
    ...(expectation.payload === null ? [] : ["payloads"]),
  ];
  const faults = [
    ...refusals,
    ...(expected.length > 0 ? [`${expected.join(" and ")} are expected, and there is no app proof`] : []),
  ];
  if (faults.length > 0) checklist.conclude("app.request", faults);
  else checklist.skip("app.request", "there is no app proof, and a boot proof names no organization");
  return [checklist];
}

/** Returns the facts, or null unless every check passed. */
async function checkAppProof(decoded: DecodedAppProof, setting: AppProofSetting): Promise<AppProofFacts | null> {
  const { checklist, proof, payload, whole } = decoded;
  const { context, requestedAt } = setting;
  const named = checkSigner(proof, setting.candidates, checklist);
  const { proofPayload } = proof;
  const { publicKey, signature } = proof;
  const signed = { publicKey, signature, message: proofPayload === undefined ? undefined : toUtf8(proofPayload) };
  const isSigned = await checkSignature(signed, named.bootProof, setting, checklist);
  const met = metExpectation(decoded, context.expectation);
  const isTimely = checkTime(
    payload.timestampMs,
    { bootProof: named.bootProof, requestedAt, now: context.now.getTime(), answers: met.answers },
    checklist,
  );
  const isAnswer = checkRequest(decoded, setting);
  if (whole === null || named.signer === null || !isSigned || !isTimely || !isAnswer) return null;
  return { ...whole, bootProof: named.signer, ...met };
}

/** Returns the expectation that the proof meets, and its challenge. An expectation with a challenge is preferred. */
function metExpectation(
  { compared }: DecodedAppProof,
  expectation: Expectation | null,
): Pick<AppProofFacts, "expectation" | "answers"> {
  const challengeOf = (index: number): Challenge | null => expectation?.payload?.[index]?.challenge ?? null;
  const index = compared.met.find((each) => challengeOf(each) !== null) ?? compared.met[0] ?? null;
  return { expectation: index, answers: index === null ? null : challengeOf(index) };
}

interface NamedBootProof {
  readonly bootProof: VerifiedBootProof | null;
  readonly signer: VerifiedBootProof | null;
}

const NO_BOOT_PROOF: NamedBootProof = { bootProof: null, signer: null };

/** Boot proofs by the key that they state, in hex, and by its signing half. Those of null state none. */
type Candidates = ReadonlyMap<string | null, readonly BootProofCandidate[]>;

export function keyCandidates(boots: readonly BootProofCandidate[]): Candidates {
  const candidates = new Map<string | null, BootProofCandidate[]>();
  for (const boot of boots)
    for (const name of boot.keyNames) candidates.set(name, [...(candidates.get(name) ?? []), boot]);
  return candidates;
}

export function checkSigner(
  { publicKey }: Pick<ReadAppProof, "publicKey">,
  candidates: Candidates,
  checklist: Checklist,
): NamedBootProof {
  if (publicKey === undefined) {
    checklist.skip("app.key", "the key could not be read");
    return NO_BOOT_PROOF;
  }
  const isHalf = publicKey.length === P256_POINT_LENGTH;
  const named = candidates.get(`${isHalf ? "half " : ""}${toHex(publicKey)}`) ?? [];
  const [bootProof, ...others] = named.flatMap(({ verified }) => verified ?? []);
  if (bootProof !== undefined) {
    if (others.every(({ ephemeralKey }) => equalBytes(ephemeralKey, bootProof.ephemeralKey)))
      return checkKind(bootProof, checklist);
    checklist.fail("app.key", SHARED_HALF);
    return NO_BOOT_PROOF;
  }
  if (named.length > 0) checklist.skip("app.key", "the boot proof of this key was rejected");
  else if (candidates.has(null)) checklist.skip("app.key", "no readable boot proof attests this key");
  else checklist.fail("app.key", "no boot proof attests this key");
  return NO_BOOT_PROOF;
}

/**
 * Fault if boot proofs with different keys share a signing half. Otherwise the order of the boot proofs would decide to
 * which key a caller encrypts.
 */
const SHARED_HALF = "boot proofs of different keys attest this signing half: only the whole key tells which one signed";

const ATTESTED: Readonly<Record<CommitmentKind, string>> = {
  live: "the key is the one that a live enclave attested",
  setup: "the key is the one that an enclave attested for its setup",
  legacy: "the key is the one that a legacy document attests; its enclave committed to no key",
};

function checkKind(bootProof: VerifiedBootProof, checklist: Checklist): NamedBootProof {
  const maySign = COMMITMENTS[bootProof.commitment].signsAppProofs;
  checklist.conclude(
    "app.key",
    maySign ? [] : [`the key is the enclave's ${bootProof.commitment} key, which signs no app proofs`],
    ATTESTED[bootProof.commitment],
    { causes: ["signs-no-app-proofs"] },
  );
  return { bootProof, signer: maySign ? bootProof : null };
}

interface ReadSigned {
  readonly publicKey?: Uint8Array | undefined;
  readonly message: Uint8Array | undefined;
  readonly signature?: Uint8Array | undefined;
}

export async function checkSignature(
  { publicKey, message, signature }: ReadSigned,
  bootProof: VerifiedBootProof | null,
  { verifies }: Pick<AppProofTools, "verifies">,
  checklist: Checklist,
): Promise<boolean> {
  if (publicKey === undefined || message === undefined || signature === undefined) {
    return checklist.skip("app.signature", "key, payload or signature could not be read");
  }
  const isValid = await verifies({ publicKey, message, signature, bootProof });
  if (isValid) return checklist.pass("app.signature");
  const isHalf = publicKey.length === P256_POINT_LENGTH;
  const isKey = isHalf ? isP256Point(publicKey) : isQosPublicKey(publicKey);
  const points = isHalf ? "a point" : "two points";
  return checklist.fail(
    "app.signature",
    isKey ? "the key did not sign this payload" : `the key is not ${points} of P-256`,
  );
}

interface TimeBounds {
  readonly bootProof: VerifiedBootProof | null;
  /** Milliseconds since the epoch. Null means unknown. */
  readonly requestedAt: number | null;
  readonly now: number;
  readonly answers: Challenge | null;
}

/** Runs `app.time`. `timestampMs` is undefined if it could not be read, and null if its type needs no time. */
function checkTime(timestampMs: number | null | undefined, bounds: TimeBounds, checklist: Checklist): boolean {
  if (timestampMs === undefined) return checklist.skip("app.time", "timestampMs could not be read");
  if (timestampMs === null) return checkUntimed(bounds, checklist);
  const { bootProof } = bounds;
  const beforeBoot = bootProof === null ? null : bootFault(timestampMs, bootProof);
  // An enclave that attests its key at any time may do so after it signed the app proof, so the app proof may be older.
  const isAnyTime = bootProof !== null && COMMITMENTS[bootProof.commitment].attestsAnyTime;
  const faults = [...timeFaults(timestampMs, bounds), ...(beforeBoot === null || isAnyTime ? [] : [beforeBoot])];
  if (faults.length > 0) {
    return checklist.conclude("app.time", faults, undefined, { causes: timeCauses(timestampMs, bounds) });
  }
  if (bootProof === null) return checklist.skip("app.time", "there is no verified boot proof to compare with");
  if (beforeBoot === null) return checklist.pass("app.time", `made at ${iso(timestampMs)}`);
  return checklist.warn("app.time", `${beforeBoot}, which a live enclave may make at any time`);
}

function checkUntimed({ answers }: TimeBounds, checklist: Checklist): true {
  if (answers === null) checklist.warn("app.time", "it has no timestampMs: it may be an old answer");
  else checklist.skip("app.time", "it has no timestampMs, but it answers the challenge, so it was made after that");
  return true;
}

function timeCauses(timestampMs: number, { requestedAt, now }: TimeBounds): Cause[] {
  if (timestampMs > now + SKEW_MS) return ["clock"];
  return requestedAt !== null && timestampMs < requestedAt - SKEW_MS ? ["before-request"] : [];
}

function timeFaults(timestampMs: number, { requestedAt, now }: TimeBounds): string[] {
  const faults: string[] = [];
  if (timestampMs > now + SKEW_MS) faults.push(`made at ${iso(timestampMs)}, later than now (${iso(now)})`);
  if (requestedAt !== null && timestampMs < requestedAt - SKEW_MS)
    faults.push(`made at ${iso(timestampMs)}, before the request of ${iso(requestedAt)} was sent`);
  return faults;
}

function bootFault(timestampMs: number, bootProof: VerifiedBootProof): string | null {
  const booted = bootProof.attestation.document.timestamp;
  if (timestampMs >= booted - SKEW_MS) return null;
  return `made at ${iso(timestampMs)}, before the boot document of ${iso(booted)}`;
}

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function checkRequest(
  { payload, compared, checklist }: DecodedAppProof,
  { withActivity, missing, context: { expectation } }: AppProofSetting,
): boolean {
  const skipped = (reason: string): true => {
    checklist.skip("app.request", reason);
    return true;
  };
  if (expectation === null)
    return skipped(
      withActivity
        ? "the activity is compared with the request instead"
        : "nothing is expected, so the owner of the proof is not checked",
    );
  const claim = claimOf(payload);
  const alone = withActivity ? undefined : claim;
  const faults = [...proofContradictions(expectation, alone), ...compared.contradictions, ...missing];
  if (faults.length > 0) {
    const organizations = [expectation.organizationId, alone?.organizationId] as const;
    const causes = organizationCauses("app.request", organizations, faults);
    return checklist.conclude("app.request", faults, undefined, { causes });
  }
  if (compared.isNamed) return checklist.pass("app.request", metText(compared, expectation));
  if (withActivity) return skipped("the activity is compared with the request instead");
  if (claim !== undefined && expectation.organizationId !== null) return checklist.pass("app.request");
  if (expectation.payload !== null) return skipped(NOT_NAMED);
  return checklist.warn("app.request", "payloads of its type name no organization, so the owner is unknown");
}

const NOT_NAMED = "no expectation names its type, so nothing was compared";

function metText({ met }: PayloadComparison, { payload }: Expectation): string {
  const challenge = met.some((index) => payload?.[index]?.challenge) ? ", including the challenge" : "";
  const type = shownName(payload![met[0]!]!.type);
  return `meets ${met.map((index) => `expected.payload[${index}]`).join(", ")}, of type ${type}${challenge}`;
}
