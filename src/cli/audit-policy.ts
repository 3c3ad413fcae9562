/** The policy of an audit as plain data, for the audit and its workers. */
import type { AuditSetting } from "../audit/index.js";
import { printable } from "../report/printable.js";
import type { InputFiles } from "./files.js";
import type { Io } from "./io.js";
import { readTrustAnchor } from "./option-files.js";
import type { Flags } from "./option-table.js";
import { type ArgumentReader, choosesPolicy } from "./options.js";
import { type GivenPolicy, readGivenPolicy } from "./policy-source.js";
import { verifierFor } from "./provenance.js";
import { PIN_FIRST, WHY_A_POLICY } from "./verify-request.js";

/** Reads policy and trust anchor, and reports which signed policy judges. Use it only if the files have no faults. */
export async function auditPolicy(
  files: InputFiles,
  flags: Pick<Flags<"worker">, "policy" | "policySigners" | "policyState" | "trustAnchor">,
  io: Io,
  now = io.now(),
): Promise<{ readonly held: Pick<AuditSetting, "policy" | "trustAnchors">; readonly given: GivenPolicy | undefined }> {
  const [{ plainPolicy }, { certificatePem }] = await Promise.all([
    import("../plain-settings.js"),
    import("../verify/trust-anchor.js"),
  ]);
  const given = await readGivenPolicy(files, flags, io, () => now);
  // A missing package is reported before any work. The threads load it to verify provenance.
  await verifierFor(given?.policy);
  const anchor = await readTrustAnchor(files, flags.trustAnchor);
  const signed = given?.policy.signed;
  if (signed) {
    const { name, version, sha256, expiresAt } = signed;
    const words = `version ${version} of the signed policy ${printable(name)} (SHA-256 ${sha256})`;
    const fields = { name, version, sha256, expiresAt };
    io.report(`note: ${words} judges; it is valid until ${expiresAt}\n`, { event: "policy", fields });
  }
  const held = {
    policy: given ? plainPolicy(given.policy) : null,
    // The anchor is named by the option, because the path may differ between the audit and its workers.
    ...(anchor && { trustAnchors: [{ name: "--trust-anchor", pem: certificatePem(anchor.certificate.der) }] }),
  };
  return { held, given };
}

/** Refuses a command line without a policy, and `--trust-anchor` together with a policy. */
export function requireAuditPolicy(args: ArgumentReader, { trustAnchor }: Pick<Flags<"worker">, "trustAnchor">): void {
  if (!choosesPolicy(args)) args.fault(WHY_A_POLICY, PIN_FIRST);
  if (trustAnchor !== undefined && args.has("policy"))
    args.fault('--trust-anchor requires --no-policy: a policy has its own, as "trustAnchors"');
}
