/** The policy of an audit as plain data, for the audit and its workers. */
import type { AuditSetting } from "../audit/index.js";
import type { InputFiles } from "./files.js";
import { readPolicyFile, readTrustAnchor } from "./option-files.js";
import type { Flags } from "./option-table.js";
import { type ArgumentReader, choosesPolicy } from "./options.js";
import { verifierFor } from "./provenance.js";
import { PIN_FIRST, WHY_A_POLICY } from "./verify-request.js";

/** Reads policy and trust anchor. The result may be used only if the files have no faults. */
export async function auditPolicy(
  files: InputFiles,
  { policy, trustAnchor }: Pick<Flags<"worker">, "policy" | "trustAnchor">,
): Promise<Pick<AuditSetting, "policy" | "trustAnchors">> {
  const [{ plainPolicy }, { certificatePem }] = await Promise.all([
    import("../plain-settings.js"),
    import("../verify/trust-anchor.js"),
  ]);
  const read = await readPolicyFile(files, policy);
  // A missing package is reported before any work. The threads load it to verify provenance.
  await verifierFor(read?.policy);
  const anchor = await readTrustAnchor(files, trustAnchor);
  return {
    policy: read ? plainPolicy(read.policy) : null,
    // The anchor is named by the option, because the path may differ between the audit and its workers.
    ...(anchor && { trustAnchors: [{ name: "--trust-anchor", pem: certificatePem(anchor.certificate.der) }] }),
  };
}

/** Refuses a command line without a policy, and `--trust-anchor` together with a policy. */
export function requireAuditPolicy(args: ArgumentReader, { trustAnchor }: Pick<Flags<"worker">, "trustAnchor">): void {
  if (!choosesPolicy(args)) args.fault(WHY_A_POLICY, PIN_FIRST);
  if (trustAnchor !== undefined && args.has("policy"))
    args.fault('--trust-anchor requires --no-policy: a policy has its own, as "trustAnchors"');
}
