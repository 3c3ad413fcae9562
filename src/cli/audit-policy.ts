/** The policy of an audit as plain data, for its producer and its workers. */
import type { AuditSetting } from "../audit/index.js";
import { fromUtf8 } from "../bytes.js";
import type { InputFiles } from "./files.js";
import { readPolicyFile, readTrustAnchor } from "./option-files.js";

interface PolicyFiles {
  /** Null: `--no-policy`. */
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
    import("../appraise/plain-policy.js"),
    import("../verify/trust-anchor.js"),
  ]);
  const read = policy === null ? undefined : await readPolicyFile(files, policy, { command, option: "--policy" });
  const anchor = trustAnchor === undefined ? undefined : await readTrustAnchor(files, trustAnchor, command);
  const plain = read && plainPolicy(read.policy);
  return {
    policy: plain ? { text: fromUtf8(plain.bytes)!, ...(plain.anchors && { anchors: plain.anchors }) } : null,
    // Named by the option: the path may differ between producer and workers.
    ...(anchor && { trustAnchors: [{ name: "--trust-anchor", pem: certificatePem(anchor.certificate.der) }] }),
  };
}
