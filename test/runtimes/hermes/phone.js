/** The program of docs/sdk.md, "From code", with text in place of files. */
import { RejectedError, parsePolicy, requireVerified, verifyEvidence } from "bootproof";

/** The address that an enclave of the policy derived for this organization, or null. */
export async function verifiedAddress({ policy, bootProof, appProof, organizationId, now }) {
  const options = { policy: parsePolicy(policy), now: new Date(now), expected: { organizationId } };
  try {
    const { appProofs } = requireVerified(
      await verifyEvidence({ bootProofs: [bootProof], appProofs: [appProof] }, options),
    );
    return appProofs[0].payload.addressDerivationProof.address;
  } catch (error) {
    if (error instanceof RejectedError) return null;
    throw error;
  }
}
