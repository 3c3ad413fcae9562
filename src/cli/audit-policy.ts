/** The policy that an audit judges by, as its producer and its workers have it: plain data of the files. */
import type { AuditSetting } from "../audit/index.js";
import { fromUtf8 } from "../bytes.js";
import type { InputFiles } from "./files.js";
import { readPolicyFile, readTrustAnchor } from "./option-files.js";

interface PolicyFiles {
  /** Null: none, as the caller said in so many words. */
  readonly policy: string | null;
  readonly trustAnchor: string | undefined;
}

/** Faults go to the files: what is answered is of use where there are none. */
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
    // Not by its path: producer and workers may have it in different places.
    ...(anchor && { trustAnchors: [{ name: "--trust-anchor", pem: certificatePem(anchor.certificate.der) }] }),
  };
}
