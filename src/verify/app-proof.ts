/** App proofs: a payload signed by an attested key (verify/README.md, "App proofs"). */
import type { Checklist } from "../checks.js";
import type { AppProofPayload, PolicyOutcome } from "../decode/app-proof.js";
import type { InputCopy } from "../decode/input.js";
import type { AppProofCompany, AppProofFacts, SignedPayload } from "./app-proof-checks.js";
import type { VerifiedBootProof } from "./boot-proof.js";
import type { VerifyContext } from "./context.js";
import { signingPoint } from "./qos-key.js";
import { PublicKey } from "./signature-cache.js";

/** An app proof that passed every check with a verified boot proof. Only verification makes one. */
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

interface CheckedAppProofs {
  /** Null for a rejected app proof. */
  readonly verified: readonly (VerifiedAppProof | null)[];
  readonly checklists: readonly Checklist[];
}

/**
 * Checks app proofs, each with the boot proof whose attested key it names. Loads the checks unless there is nothing to
 * check; rejects if they cannot be loaded.
 */
export async function checkAppProofs(
  inputs: readonly InputCopy[],
  company: AppProofCompany,
  context: VerifyContext,
): Promise<CheckedAppProofs> {
  const isExpected = company.activity === null && context.expectation !== null;
  if (inputs.length === 0 && !isExpected) return { verified: [], checklists: [] };
  const { runAppProofChecks } = await import("./app-proof-checks.js");
  const verifies = async (signed: SignedPayload): Promise<boolean> => verifySignature(signed, context);
  const { facts, checklists } = await runAppProofChecks(inputs, company, context, verifies);
  return { verified: facts.map((each) => each && new VerifiedAppProof(each, TOKEN)), checklists };
}

async function verifySignature(
  { publicKey, message, signature, bootProof }: SignedPayload,
  { cache, appProofsOnce = false }: VerifyContext,
): Promise<boolean> {
  const key = bootProof?.signingKey() ?? new PublicKey("P-256", signingPoint(publicKey));
  return appProofsOnce ? key.verify(message, signature) : cache.verifyBy(key, message, signature);
}

/** Outcomes with the latest timestamp, by organization. The order of the proofs is ignored. */
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
