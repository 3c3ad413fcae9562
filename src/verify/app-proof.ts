/** Verified app proofs, which are payloads signed by an attested key (verify/README.md, "App proofs"). */
import { toUtf8 } from "../bytes.js";
import { Checklist } from "../checks.js";
import type { AppProofPayload, PolicyOutcome } from "../decode/app-proof.js";
import type { InputCopy } from "../decode/input.js";
import { P256_POINT_LENGTH } from "../decode/lengths.js";
import type * as AppProofChecks from "./app-proof-checks.js";
import type {
  AppProofCompany,
  AppProofFacts,
  AppProofTools,
  BootProofCandidate,
  SignedPayload,
} from "./app-proof-checks.js";
import type { VerifiedBootProof } from "./boot-proof.js";
import type { VerifyContext } from "./context.js";
import { sha256 } from "./digest.js";
import type { Challenge } from "./expected-payload.js";
import { inTurns } from "./in-turns.js";
import { signingPoint } from "./qos-key.js";
import { PublicKey } from "./signature-cache.js";
import type { CheckedBytes, SignedBytesInput } from "./signed-bytes.js";

/** An app proof that passed every check with a verified boot proof. Only verification makes one. */
export class VerifiedAppProof {
  readonly #verified = true;
  readonly payload: AppProofPayload;
  /** SHA-256 of the signed payload (32 bytes). */
  readonly payloadDigest: Uint8Array;
  /** `r ‖ s` of 64 bytes. */
  readonly signature: Uint8Array;
  readonly bootProof: VerifiedBootProof;
  /** Index in `expected.payload` of the expectation that the payload meets, or null if none names its type. */
  readonly expectation: number | null;
  /** The challenge of that expectation, which the payload repeats. Null if the expectation has none. */
  readonly answers: Challenge | null;

  /** @internal */
  constructor(facts: AppProofFacts, payloadDigest: Uint8Array, token: symbol) {
    if (token !== TOKEN) throw new TypeError("a VerifiedAppProof is made by verification only");
    this.payload = facts.payload;
    this.payloadDigest = payloadDigest;
    this.signature = facts.proof.signature;
    this.bootProof = facts.bootProof;
    this.expectation = facts.expectation;
    this.answers = facts.answers;
    Object.freeze(this);
  }

  static isVerified(value: unknown): value is VerifiedAppProof {
    return typeof value === "object" && value !== null && #verified in value;
  }
}

/** A token that stays in this module, so that no other code can make the verified type. */
const TOKEN = Symbol();

interface CheckedAppProofs {
  /** The verified app proofs, with null for a rejected one. */
  readonly verified: readonly (VerifiedAppProof | null)[];
  readonly checklists: readonly Checklist[];
}

/** The loaded checks. They are kept because an import takes longer than the checks. */
let checks: typeof AppProofChecks | undefined;

/** A sign-up by the auth proxy. An app proof of this wallet has each address at its requested path. */
export interface SignUp {
  /** The new organization. The auth proxy chose it, so that it is the caller's is not proven. */
  readonly organizationId: string;
  readonly walletId: string | null;
  /** In the order of the requested accounts. */
  readonly addresses: readonly string[];
}

/**
 * Checks app proofs, each with the boot proof whose attested key it names. Loads the checks unless there is nothing to
 * check, and rejects if they cannot be loaded.
 */
export async function checkAppProofs(
  inputs: readonly InputCopy[],
  company: AppProofCompany,
  context: VerifyContext,
): Promise<CheckedAppProofs> {
  const { expectation } = context;
  const isExpected = expectation !== null && (company.activity === null || expectation.payload !== null);
  if (inputs.length === 0 && !isExpected) return { verified: [], checklists: [] };
  checks ??= await import("./app-proof-checks.js");
  const { facts, checklists } = await checks.runAppProofChecks(inputs, company, context, toolsOf(context));
  return { verified: await inTurns(facts, 1, (each) => each && verifiedAppProof(each)), checklists };
}

/** Checks signed bytes with the boot proof whose key should have signed them. Loads the checks. */
export async function checkBytes(
  input: SignedBytesInput,
  boot: BootProofCandidate,
  context: VerifyContext,
): Promise<CheckedBytes> {
  const { checkSignedBytes } = await import("./signed-bytes.js");
  return checkSignedBytes(input, boot, { ...toolsOf(context), digest: sha256 });
}

function toolsOf(context: VerifyContext): AppProofTools {
  return {
    verifies: async (signed) => verifySignature(signed, context),
    checklistOf: (subject) => new Checklist(subject),
  };
}

async function verifiedAppProof(facts: AppProofFacts): Promise<VerifiedAppProof> {
  return new VerifiedAppProof(facts, await sha256(toUtf8(facts.proof.proofPayload)), TOKEN);
}

async function verifySignature(
  { publicKey, message, signature, bootProof }: SignedPayload,
  { cache, appProofsOnce = false }: VerifyContext,
): Promise<boolean> {
  const key = bootProof?.signingKey() ?? new PublicKey("P-256", pointOf(publicKey));
  return appProofsOnce ? key.verify(message, signature) : cache.verifyBy(key, message, signature);
}

function pointOf(publicKey: Uint8Array): Uint8Array {
  return publicKey.length === P256_POINT_LENGTH ? publicKey : signingPoint(publicKey);
}

/** Returns the outcomes with the latest timestamp, by organization. The order of the proofs has no effect. */
export function lastDecisions(proofs: readonly VerifiedAppProof[]): ReadonlyMap<string, readonly PolicyOutcome[]> {
  const latest = new Map<string, { timestampMs: number; outcomes: PolicyOutcome[] }>();
  for (const {
    payload: { policyOutcomeProof, timestampMs },
  } of proofs) {
    if (policyOutcomeProof === undefined) continue;
    const { organizationId, outcome } = policyOutcomeProof;
    const known = latest.get(organizationId);
    if (known === undefined || timestampMs > known.timestampMs)
      latest.set(organizationId, { timestampMs, outcomes: [outcome] });
    else if (timestampMs === known.timestampMs) known.outcomes.push(outcome);
  }
  return new Map([...latest].map(([organizationId, { outcomes }]) => [organizationId, outcomes]));
}
