/** The policy of an audit as plain data, for the audit and its workers. */
import type { AuditSetting } from "../run/index.js";
import { signedClaims } from "../report/report.js";
import { signedText } from "../show/verdict.js";
import type { InputFiles } from "./files.js";
import type { Io } from "./io.js";
import { readTrustAnchor } from "./option-files.js";
import type { Flags } from "./option-table.js";
import { type ArgumentReader, choosesPolicy } from "./options.js";
import { readGivenPolicy, requireCurrent } from "./policy-source.js";
import { verifierFor } from "./provenance.js";
import { PIN_FIRST, WHY_A_POLICY } from "./verify-request.js";

/**
 * Reads policy and trust anchor, and reports which signed policy judges. The result may be used only if the files have
 * no faults. `now` is the present of an audit.
 */
export async function auditPolicy(
  files: InputFiles,
  flags: Pick<Flags<"audit worker">, "policy" | "policySigners" | "policyState" | "trustAnchor">,
  io: Io,
  now?: Date,
): Promise<Pick<AuditSetting, "policy" | "trustAnchors">> {
  const [{ plainPolicy }, { certificatePem }] = await Promise.all([
    import("../plain-settings.js"),
    import("../verify/trust-anchor.js"),
  ]);
  const given = await readGivenPolicy(files, flags, io, now && (() => now));
  // A missing package is reported before any work. The threads load it to verify provenance.
  await verifierFor(given?.policy);
  const anchor = await readTrustAnchor(files, flags.trustAnchor);
  if (given?.policy.signed) {
    const fields = signedClaims(given.policy.signed);
    const words = signedText({ signedPolicy: fields }, String)!;
    io.report(`note: ${words}, SHA-256 ${fields.sha256}\n`, { event: "policy", fields });
  }
  // A worker has no results of its own to say so, and must not start. An audit rejects each entry.
  if (now === undefined) {
    files.throwFaults();
    await requireCurrent(given, io.now());
  }
  return {
    policy: given ? plainPolicy(given.policy) : null,
    // The anchor is named by the option, because the path may differ between the audit and its workers.
    ...(anchor && { trustAnchors: [{ name: "--trust-anchor", pem: certificatePem(anchor.certificate.der) }] }),
  };
}

/** Refuses a command line without a policy. */
export function requireAuditPolicy(args: ArgumentReader): void {
  if (!choosesPolicy(args)) args.fault(WHY_A_POLICY, PIN_FIRST);
}
