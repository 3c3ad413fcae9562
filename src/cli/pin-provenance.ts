/** `bootproof pin --provenance`: pins who built the application, once the bundle was verified under the new policy. */
import type { MadePolicy } from "../appraise/pin.js";
import type { DeploymentFile, PolicyFile } from "../appraise/policy.js";
import type { NamedEvidence, VerifyOptions } from "../bootproof.js";
import { fromUtf8 } from "../bytes.js";
import { otherMembers } from "../decode/input.js";
import { attempt, faultText } from "../errors.js";
import { printable } from "../report/printable.js";
import type { InputFiles } from "./files.js";
import { type Io, UsageError, messageOptions } from "./io.js";
import { ofKind } from "./kinds.js";
import type { Flags } from "./option-table.js";
import { readProvenance, verifierFor } from "./provenance.js";

interface Pinned {
  readonly made: MadePolicy;
  readonly messages: readonly string[];
}

interface PinnedBootProofs {
  readonly flags: Flags<"pin">;
  readonly pieces: readonly NamedEvidence[];
  /** Those under which the boot proofs were verified. */
  readonly options: VerifyOptions;
}

/** Null: the bundles do not meet the pins that they make, and the reason is written. */
export async function pinnedWithBuilds(
  { made, messages }: Pinned,
  { flags, pieces, options }: PinnedBootProofs,
  files: InputFiles,
  io: Io,
): Promise<Pinned | null> {
  const [{ pinProvenance }, { parsePolicy }, { verifyEvidence }] = await Promise.all([
    import("../appraise/pin-provenance.js"),
    import("../appraise/policy.js"),
    import("../bootproof.js"),
  ]);
  const { provenance = [] } = await readProvenance(files, flags.provenance!, "pin");
  const json = await trustedRootText(files, flags.trustedRoot!);
  files.throwFaults();
  const [bundle, ...others] = provenance as readonly NamedEvidence[];
  if (bundle === undefined || others.length > 0)
    throw new UsageError(["--provenance: one bundle wanted, of one build"]);
  const pinned = attempt(() =>
    pinProvenance(bundle.value, { repository: flags.repository!, trustedRoot: { json: json! } }),
  );
  if (pinned.value === undefined) throw new UsageError([`not pinned: ${printable(faultText(pinned.faults))}`]);
  const entry = pinned.value;
  const deployments = made.policy.deployments.map((one): DeploymentFile => ({ ...one, provenance: [entry] }));
  const policyFile: PolicyFile = { ...made.policy, deployments };
  const read = attempt(() => parsePolicy(policyFile));
  if (read.value === undefined) throw new UsageError([`not pinned: ${printable(faultText(read.faults))}`]);
  // A policy names its own anchors.
  const judging = {
    ...otherMembers(options, "trustAnchors"),
    policy: read.value,
    bootProofsOnly: true,
    ...(await verifierFor(read.value)),
  };
  for (const piece of pieces) {
    const { report } = await verifyEvidence({ bootProofs: [piece], provenance: [bundle] }, judging);
    if (report.verdict === "verified") continue;
    const { renderFailures } = await import("../report/text.js");
    io.stderr.write(`Not pinned.\n${renderFailures(report, messageOptions(io))}`);
    return null;
  }
  return { made: { ...made, policy: policyFile }, messages: [...messages, SHOWN_BY_THE_BUNDLE] };
}

const SHOWN_BY_THE_BUNDLE =
  "Pinned what the bundle shows of the build, under the trusted root that you gave: read workflow, ref, runner and " +
  "signer before you rely on them. The next release has another ref and commit.";

async function trustedRootText(files: InputFiles, path: string): Promise<string | undefined> {
  const bytes = await ofKind(files, path, await files.bytes(path), { command: "pin", option: "--trusted-root" });
  const text = bytes && fromUtf8(bytes);
  return text ?? undefined;
}
