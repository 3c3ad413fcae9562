/** The policy of an audit as plain data, for its producer and its workers. */
import type { AuditSetting } from "../audit/index.js";
import type { InputFiles } from "./files.js";
import { readPolicyFile, readTrustAnchor } from "./option-files.js";
import { verifierFor } from "./provenance.js";

interface PolicyFiles {
  /** Null means `--no-policy`. */
  readonly policy: string | null;
  readonly trustAnchor: string | undefined;
}

/** The result is meaningful only if the files have no faults. */
export async function auditPolicy(
  files: InputFiles,
  { policy, trustAnchor }: PolicyFiles,
  command: "audit" | "worker",
): Promise<Pick<AuditSetting, "policy" | "trustAnchors">> {
  const [{ plainPolicy }, { certificatePem }] = await Promise.all([
    import("../plain-settings.js"),
    import("../verify/trust-anchor.js"),
  ]);
  const read = policy === null ? undefined : await readPolicyFile(files, policy, { command, option: "--policy" });
  // This comes before any work, since the threads load the package that verifies provenance.
  await verifierFor(read?.policy);
  const anchor = trustAnchor === undefined ? undefined : await readTrustAnchor(files, trustAnchor, command);
  return {
    policy: read ? plainPolicy(read.policy) : null,
    // Named by the option: the path may differ between producer and workers.
    ...(anchor && { trustAnchors: [{ name: "--trust-anchor", pem: certificatePem(anchor.certificate.der) }] }),
  };
}
