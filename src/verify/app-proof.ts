/** App proofs: a payload that a live enclave's attested key signed. */
import { equalBytes, toUtf8 } from "../bytes.js";
import { type CheckId, Checklist, type CheckSubject } from "../checks.js";
import { type AppProof, type AppProofPayload, readAppProof, readAppProofPayload } from "../decode/app-proof.js";
import { type TakenInput, readInput, takeInput } from "../decode/input.js";
import { type Reading, faultText } from "../errors.js";
import type { VerifiedBootProof } from "./boot-proof.js";
import { SKEW_MS, type VerifyContext } from "./context.js";
import { isQosPublicKey, signingPoint } from "./qos-key.js";
import type { SignatureMemory } from "./signature-memory.js";

export const APP_PROOF_CHECKS = [
  "app.decode", "app.signature", "app.key", "app.payload", "app.time",
] as const satisfies readonly CheckId[];

/** An app proof of which every check passed, under a verified boot proof. Only verification makes one. */
export class VerifiedAppProof {
  readonly #verified = true;
  readonly payload: AppProofPayload;
  readonly bootProof: VerifiedBootProof;

  /** @internal */
  constructor(payload: AppProofPayload, bootProof: VerifiedBootProof, leave: symbol) {
    if (leave !== LEAVE) throw new TypeError("a VerifiedAppProof is made by verification only");
    this.payload = payload;
    this.bootProof = bootProof;
    Object.freeze(this);
  }

  static isOne(value: unknown): value is VerifiedAppProof {
    return typeof value === "object" && value !== null && #verified in value;
  }
}

/** Stays in this module, so that no other code can make the verified type. */
const LEAVE = Symbol("verified");

/** A boot proof that an app proof may speak of; `verified` is null where it was rejected. */
export interface BootProofCandidate {
  readonly statedKey: Uint8Array | null;
  readonly verified: VerifiedBootProof | null;
}

export interface CheckedAppProof {
  readonly log: Checklist;
  readonly verified: VerifiedAppProof | null;
}

/** Asks every check of an app proof, under the one of the boot proofs whose attested key it names. */
export async function checkAppProof(
  input: TakenInput, candidates: readonly BootProofCandidate[], context: VerifyContext, subject: CheckSubject,
): Promise<CheckedAppProof> {
  const log = new Checklist(subject);
  const { value: proof, faults } = readInput(input, readAppProof);
  log.conclude("app.decode", faults.length > 0 ? [faultText(faults)] : []);
  const bootProof = checkKey(proof, candidates, log);
  await checkSignature(proof, bootProof, context.memory, log);
  const payload = checkPayload(proof, log);
  checkTime(payload.timestampMs, bootProof, context.now, log);
  const passed = log.allPassed(APP_PROOF_CHECKS) && bootProof !== null;
  return { log, verified: passed ? new VerifiedAppProof(payload as AppProofPayload, bootProof, LEAVE) : null };
}

async function checkSignature(
  proof: Reading<AppProof>["value"], bootProof: VerifiedBootProof | null, memory: SignatureMemory, log: Checklist,
): Promise<void> {
  const { publicKey, proofPayload, signature } = proof;
  if (publicKey === undefined || proofPayload === undefined || signature === undefined) {
    log.skip("app.signature", "key, payload or signature could not be read");
    return;
  }
  const key = await (bootProof?.signingKey() ?? memory.key("P-256", signingPoint(publicKey)));
  const valid = key !== null && (await key.verify(toUtf8(proofPayload), signature));
  if (valid) log.pass("app.signature");
  else if (isQosPublicKey(publicKey)) log.fail("app.signature", "the signature is not one of the key over this payload");
  else log.fail("app.signature", "the key is not two points of P-256");
}

function checkKey(proof: Reading<AppProof>["value"], candidates: readonly BootProofCandidate[], log: Checklist): VerifiedBootProof | null {
  const { publicKey } = proof;
  if (publicKey === undefined) {
    log.skip("app.key", "the key could not be read");
    return null;
  }
  const named = candidates.filter(({ statedKey }) => statedKey !== null && equalBytes(statedKey, publicKey));
  const bootProof = named.find(({ verified }) => verified !== null)?.verified ?? null;
  if (bootProof?.commitment === "setup") log.fail("app.key", "the key is one of the enclave's setup, not of its life");
  else if (bootProof !== null) log.pass("app.key");
  else if (named.length > 0) log.skip("app.key", "the boot proof of this key was rejected");
  else if (candidates.some(({ statedKey }) => statedKey === null)) log.skip("app.key", "no readable boot proof attests this key");
  else log.fail("app.key", "no boot proof that was given attests this key");
  return bootProof;
}

function checkPayload(proof: Reading<AppProof>["value"], log: Checklist): Reading<AppProofPayload>["value"] {
  const { proofPayload } = proof;
  if (proofPayload === undefined) {
    log.skip("app.payload", "the payload could not be read");
    return {};
  }
  const { value, faults } = readInput(takeInput(proofPayload), readAppProofPayload);
  log.conclude("app.payload", faults.length > 0 ? [faultText(faults)] : []);
  return value;
}

function checkTime(timestampMs: number | undefined, bootProof: VerifiedBootProof | null, now: Date, log: Checklist): void {
  if (timestampMs === undefined) return log.skip("app.time", "timestampMs could not be read");
  const made = new Date(timestampMs).toISOString();
  const booted = bootProof?.attestation.document.timestamp;
  const reasons = [
    ...(timestampMs > now.getTime() + SKEW_MS ? [`made at ${made}, in the future of ${now.toISOString()}`] : []),
    ...(booted !== undefined && timestampMs < booted - SKEW_MS ? [`made at ${made}, before the boot document of ${new Date(booted).toISOString()}`] : []),
  ];
  if (reasons.length === 0 && booted === undefined) return log.skip("app.time", "there is no verified boot proof to compare with");
  log.conclude("app.time", reasons, `made at ${made}`);
}
