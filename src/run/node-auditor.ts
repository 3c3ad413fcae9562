/** Makes an auditor. The package that verifies provenance is loaded only if the policy demands provenance. */
import { NO_POLICY_ANY_ENCLAVE } from "../bootproof.js";
import { demandsProvenance } from "../inputs.js";
import type { ProvenanceVerifier } from "../verify/provenance-demand.js";
import { Auditor } from "./auditor.js";
import { verifyOptionsOf } from "../plain-settings.js";
import type { AuditSetting } from "./setting.js";

/** Makes an auditor. Rejects as `Auditor.of` does, and with `ProvenanceError` if the package is missing. */
export async function nodeAuditor(setting: AuditSetting): Promise<Auditor> {
  return Auditor.of(setting, await verifierFor(setting));
}

async function verifierFor(setting: AuditSetting): Promise<ProvenanceVerifier | undefined> {
  const { policy } = verifyOptionsOf(setting);
  if (policy === NO_POLICY_ANY_ENCLAVE || !demandsProvenance(policy)) return undefined;
  const { sigstoreVerifier } = await import("../provenance/index.js");
  return sigstoreVerifier();
}
