/** App proofs: a payload that an enclave's attested key signed (verify/README.md, "App proofs"). */
import { equalBytes, toUtf8 } from "../bytes.js";
import { Checklist, type CheckSubject } from "../checks.js";
import { type AppProof, type AppProofPayload, readAppProof, readAppProofPayloadText } from "../decode/app-proof.js";
import { type InputCopy, readInput } from "../decode/input.js";
import type { ValueBudget } from "../decode/json.js";
import { type Reading, faultText, wholeOf } from "../errors.js";
import type { VerifiedBootProof } from "./boot-proof.js";
import { COMMITMENTS, type CommitmentKind } from "./commitment.js";
import { SKEW_MS, type VerifyContext } from "./context.js";
import { type Expectation, proofContradictions, requestTime, unansweredAddresses } from "./expectation.js";
import { isQosPublicKey, signingPoint } from "./qos-key.js";
import { PublicKey } from "./signature-cache.js";

interface AppProofFacts {
  readonly payload: AppProofPayload;
  readonly signature: Uint8Array;
  readonly bootProof: VerifiedBootProof;
}

/** An app proof of which every check passed, under a verified boot proof. Only verification makes one. */
export class VerifiedAppProof {
  readonly #verified = true;
  readonly payload: AppProofPayload;
  /** `r ‖ s`, 64 bytes. */
  readonly signature: Uint8Array;
  readonly bootProof: VerifiedBootProof;

  /** @internal */
  constructor({ payload, signature, bootProof }: AppProofFacts, token: symbol) {
    if (token !== TOKEN) throw new TypeError("a VerifiedAppProof is made by verification only");
    this.payload = payload;
    this.signature = signature;
    this.bootProof = bootProof;
    Object.freeze(this);
  }

  static isVerified(value: unknown): value is VerifiedAppProof {
    return typeof value === "object" && value !== null && #verified in value;
  }
}

/** Stays in this module, so that no other code can make the verified type. */
const TOKEN = Symbol();

/** A boot proof that an app proof may speak of; `verified` is null where it was rejected. */
interface BootProofCandidate {
  readonly statedKey: Uint8Array | null;
  readonly verified: VerifiedBootProof | null;
}

/** What app proofs are given with. */
interface AppProofCompany {
  readonly boots: readonly BootProofCandidate[];
  /** It is what the question is about; null where none was given. */
  readonly activity: { readonly value: ActivityTimes } | null;
}

type ActivityTimes = Parameters<typeof requestTime>[1];

interface AppProofSetting {
  readonly candidates: readonly BootProofCandidate[];
  /** An activity came with them: it is what the question is about. */
  readonly withActivity: boolean;
  /** Milliseconds since the epoch: proofs are not older, but for skew. Null: nobody said. */
  readonly requestedAt: number | null;
  /** Asked addresses that none of the proofs speaks of; the first proof fails for them. */
  readonly unanswered: readonly string[];
}

interface CheckedAppProof {
  readonly checklist: Checklist;
  readonly verified: VerifiedAppProof | null;
}

type ReadAppProof = Reading<AppProof>["value"];
type ReadPayload = Reading<AppProofPayload>["value"];

/** An app proof and its payload, as far as they could be read. */
export interface DecodedAppProof {
  readonly checklist: Checklist;
  readonly proof: ReadAppProof;
  readonly payload: ReadPayload;
  /** Null where there is a fault. */
  readonly whole: { readonly proof: AppProof; readonly payload: AppProofPayload } | null;
}

/** Checks `app.decode` and `app.payload` of the input. `budget`: of all payloads that are opened together. */
export function decodeAppProofInput(input: InputCopy, subject: CheckSubject, budget: ValueBudget): DecodedAppProof {
  const checklist = new Checklist(subject);
  const read = readInput(input, readAppProof);
  checklist.conclude("app.decode", read.faults.length > 0 ? [faultText(read.faults)] : []);
  const payload = decodePayload(read.value, checklist, budget);
  const [wholeProof, wholePayload] = [wholeOf(read), payload && wholeOf(payload)];
  const whole = wholeProof && wholePayload && { proof: wholeProof, payload: wholePayload };
  return { checklist, proof: read.value, payload: payload?.value ?? {}, whole };
}

function decodePayload(
  { proofPayload }: ReadAppProof,
  checklist: Checklist,
  budget: ValueBudget,
): Reading<AppProofPayload> | null {
  if (proofPayload === undefined) {
    checklist.skip("app.payload", "the payload could not be read");
    return null;
  }
  const reading = readAppProofPayloadText(proofPayload, budget);
  checklist.conclude("app.payload", reading.faults.length > 0 ? [faultText(reading.faults)] : []);
  return reading;
}

interface CheckedAppProofs {
  readonly verified: readonly (VerifiedAppProof | null)[];
  readonly checklists: readonly Checklist[];
}

/** Checks app proofs that were opened, each under the one of the boot proofs whose attested key it names. */
export async function checkAppProofs(
  decoded: readonly DecodedAppProof[],
  { boots, activity }: AppProofCompany,
  context: VerifyContext,
): Promise<CheckedAppProofs> {
  const { expectation } = context;
  const setting = {
    candidates: boots,
    withActivity: activity !== null,
    requestedAt: requestTime(expectation, activity?.value),
    unanswered: [],
  };
  const derived = decoded.flatMap(({ payload }) => payload.addressDerivationProof ?? []);
  const unanswered = unansweredAddresses(
    expectation,
    derived.map(({ address }) => address),
  );
  const checked = await Promise.all(
    decoded.map((app, index) => checkAppProof(app, index === 0 ? { ...setting, unanswered } : setting, context)),
  );
  const missing = decoded.length === 0 && activity === null ? missingProofs(expectation) : [];
  return {
    verified: checked.map(({ verified }) => verified),
    checklists: [...missing, ...checked.map(({ checklist }) => checklist)],
  };
}

/** What is expected of app proofs, where neither they nor an activity were given. */
function missingProofs(expectation: Expectation | null): Checklist[] {
  if (expectation === null) return [];
  const checklist = new Checklist("app[0]");
  if (expectation.addresses !== null)
    checklist.fail("app.request", "addresses were asked about, and no app proof was given");
  else
    checklist.skip(
      "app.request",
      "no app proof was given, and a boot proof is nobody's: it says nothing of the organization that was asked for",
    );
  return [checklist];
}

/** Checks the rest of an app proof, under the one of the boot proofs whose attested key it names. */
async function checkAppProof(
  decoded: DecodedAppProof,
  setting: AppProofSetting,
  context: VerifyContext,
): Promise<CheckedAppProof> {
  const { checklist, proof, payload, whole } = decoded;
  const named = checkKey(proof, setting.candidates, checklist);
  const isSigned = await checkSignature(proof, named.bootProof, context, checklist);
  const isTimely = checkTime(
    payload.timestampMs,
    { bootProof: named.bootProof, requestedAt: setting.requestedAt, now: context.now.getTime() },
    checklist,
  );
  const isAnswer = checkRequest(payload, setting, context, checklist);
  if (whole === null || named.signer === null || !isSigned || !isTimely || !isAnswer)
    return { checklist, verified: null };
  const facts = { payload: whole.payload, signature: whole.proof.signature, bootProof: named.signer };
  return { checklist, verified: new VerifiedAppProof(facts, TOKEN) };
}

interface NamedBootProof {
  /** The verified boot proof that attests the key; null where there is none. */
  readonly bootProof: VerifiedBootProof | null;
  /** The same, where keys of its kind sign app proofs. */
  readonly signer: VerifiedBootProof | null;
}

const NOBODY: NamedBootProof = { bootProof: null, signer: null };

function checkKey(
  { publicKey }: ReadAppProof,
  candidates: readonly BootProofCandidate[],
  checklist: Checklist,
): NamedBootProof {
  if (publicKey === undefined) {
    checklist.skip("app.key", "the key could not be read");
    return NOBODY;
  }
  const named = candidates.filter(({ statedKey }) => statedKey !== null && equalBytes(statedKey, publicKey));
  const bootProof = named.find(({ verified }) => verified !== null)?.verified ?? null;
  if (bootProof !== null) return checkKind(bootProof, checklist);
  if (named.length > 0) checklist.skip("app.key", "the boot proof of this key was rejected");
  else if (candidates.some(({ statedKey }) => statedKey === null))
    checklist.skip("app.key", "no readable boot proof attests this key");
  else checklist.fail("app.key", "no boot proof that was given attests this key");
  return NOBODY;
}

/** What a passed `app.key` says of a key of each kind. */
const ATTESTED: Readonly<Record<CommitmentKind, string>> = {
  live: "the key is the one that a live enclave attested",
  setup: "the key is the one that an enclave attested for its setup",
  legacy: "the key is the one that a legacy document attests; its enclave committed to no key",
};

/** Only keys of the kinds that are listed for it sign app proofs. */
function checkKind(bootProof: VerifiedBootProof, checklist: Checklist): NamedBootProof {
  const maySign = COMMITMENTS[bootProof.commitment].signsAppProofs;
  checklist.conclude(
    "app.key",
    maySign ? [] : [`the key is of the enclave's ${bootProof.commitment}, and no such key signs app proofs`],
    ATTESTED[bootProof.commitment],
    { advice: "The key is not the one that the enclave serves with: do not use the result." },
  );
  return { bootProof, signer: maySign ? bootProof : null };
}

async function checkSignature(
  { publicKey, proofPayload, signature }: ReadAppProof,
  bootProof: VerifiedBootProof | null,
  { cache, appProofsOnce = false }: VerifyContext,
  checklist: Checklist,
): Promise<boolean> {
  if (publicKey === undefined || proofPayload === undefined || signature === undefined) {
    return checklist.skip("app.signature", "key, payload or signature could not be read");
  }
  const key = bootProof?.signingKey() ?? new PublicKey("P-256", signingPoint(publicKey));
  const message = toUtf8(proofPayload);
  const isValid = await (appProofsOnce ? key.verify(message, signature) : cache.verifyBy(key, message, signature));
  if (isValid) return checklist.pass("app.signature");
  const wrong = isQosPublicKey(publicKey)
    ? "the signature is not one of the key over this payload"
    : "the key is not two points of P-256";
  return checklist.fail("app.signature", wrong);
}

/** What an app proof's time is held against; milliseconds since the epoch. */
interface TimeBounds {
  /** The verified boot proof of its key; null where there is none. */
  readonly bootProof: VerifiedBootProof | null;
  /** Null: nobody said. */
  readonly requestedAt: number | null;
  readonly now: number;
}

function checkTime(timestampMs: number | undefined, bounds: TimeBounds, checklist: Checklist): boolean {
  if (timestampMs === undefined) return checklist.skip("app.time", "timestampMs could not be read");
  const { bootProof } = bounds;
  const beforeBoot = bootProof === null ? null : bootFault(timestampMs, bootProof);
  // Such an enclave answers for a document at any time of its life.
  const isAnyTime = bootProof !== null && COMMITMENTS[bootProof.commitment].attestsAnyTime;
  const faults = [...timeFaults(timestampMs, bounds), ...(beforeBoot === null || isAnyTime ? [] : [beforeBoot])];
  if (faults.length > 0) {
    const isFuture = timestampMs > bounds.now + SKEW_MS;
    return checklist.conclude("app.time", faults, undefined, isFuture ? { advice: CHECK_THE_CLOCK } : {});
  }
  if (bootProof === null) return checklist.skip("app.time", "there is no verified boot proof to compare with");
  if (beforeBoot === null) return checklist.pass("app.time", `made at ${iso(timestampMs)}`);
  return checklist.warn("app.time", `${beforeBoot}, which a live enclave may make at any time`);
}

const CHECK_THE_CLOCK = "Check this machine's clock; if it is right, do not use the result.";

function timeFaults(timestampMs: number, { requestedAt, now }: TimeBounds): string[] {
  const faults: string[] = [];
  if (timestampMs > now + SKEW_MS) faults.push(`made at ${iso(timestampMs)}, in the future of ${iso(now)}`);
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

/** Of proofs that came without an activity: whether they speak of what was asked for. */
function checkRequest(
  payload: ReadPayload,
  { withActivity, unanswered }: AppProofSetting,
  { expectation }: VerifyContext,
  checklist: Checklist,
): boolean {
  const skipped = (reason: string): true => {
    checklist.skip("app.request", reason);
    return true;
  };
  if (withActivity) return skipped("an activity is given: that is held against the question");
  if (expectation === null) return skipped("nobody said what was asked: whose proof it should be is open");
  const claim = payload.addressDerivationProof ?? payload.policyOutcomeProof;
  const missing = unanswered.map((address) => `no app proof speaks of address ${address}, which was asked for`);
  if (claim === undefined && missing.length === 0) {
    return checklist.warn("app.request", "a payload of its type names no organization: whose it is, is not known");
  }
  return checklist.conclude("app.request", [
    ...(claim === undefined ? [] : proofContradictions(expectation, claim)),
    ...missing,
  ]);
}
