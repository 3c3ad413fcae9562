/** `bootproof pin`: verifies boot proofs and bundles of their builds under the policy that they result in. */
import { otherMembers } from "../decode/input.js";
import type { MadePolicy } from "../appraise/pin.js";
import type { DeploymentFile, Policy, PolicyFile } from "../appraise/policy.js";
import type { NamedEvidence, VerifyOptions } from "../bootproof.js";
import { fromUtf8 } from "../bytes.js";
import { attempt, faultText } from "../errors.js";
import { printable } from "../report/printable.js";
import type { Report } from "../report/report.js";
import type { InputFiles } from "./files.js";
import { type Io, UsageError, messageOptions } from "./io.js";
import { ofKind } from "./kinds.js";
import type { Flags } from "./option-table.js";
import { readProvenance, verifierFor } from "./provenance.js";

interface Pinned {
  readonly made: MadePolicy;
  readonly messages: readonly string[];
}

/** The evidence that was verified, and is verified again under the resulting policy. */
export interface VerifiedPieces {
  readonly pieces: readonly NamedEvidence[];
  /** The options under which the boot proofs were verified. */
  readonly options: VerifyOptions;
  readonly builds: readonly NamedEvidence[];
}

/** Returns the report of the first boot proof that the policy rejects. */
export async function rejectedUnder(
  policy: Policy,
  { pieces, options, builds }: VerifiedPieces,
): Promise<Report | null> {
  const { verifyEvidence } = await import("../bootproof.js");
  // A policy names its own anchors, and says itself whether it allows debug mode.
  const judging = {
    ...otherMembers(options, "trustAnchors", "allowDebug"),
    policy,
    bootProofsOnly: true,
    ...(await verifierFor(policy)),
  };
  for (const piece of pieces) {
    const { report } = await verifyEvidence({ bootProofs: [piece], provenance: builds }, judging);
    if (report.verdict !== "verified") return report;
  }
  return null;
}

/** Reads the bundles of `--provenance`. */
export async function readBuilds(paths: readonly string[], files: InputFiles): Promise<readonly NamedEvidence[]> {
  const { provenance = [] } = await readProvenance(files, paths, "pin");
  return provenance as readonly NamedEvidence[];
}

/** Makes a malformed bundle a fault of its file. */
export async function refuseMalformed(builds: readonly NamedEvidence[], files: InputFiles): Promise<void> {
  const { decodeProvenanceBundle } = await import("../decode/provenance-bundle.js");
  for (const { name, value } of builds) files.decoded(name!, () => decodeProvenanceBundle(value));
  files.throwFaults();
}

/** Returns null if the bundles do not meet the pins that they make. The reason is on stderr. */
export async function pinnedWithBuilds(
  { made, messages }: Pinned,
  verified: VerifiedPieces,
  { flags, files, io }: { readonly flags: Flags<"pin">; readonly files: InputFiles; readonly io: Io },
): Promise<Pinned | null> {
  const [{ pinProvenance }, { parsePolicy }] = await Promise.all([
    import("../appraise/pin-provenance.js"),
    import("../appraise/policy.js"),
  ]);
  const json = await trustedRootText(files, flags.trustedRoot!);
  files.throwFaults();
  const [bundle, ...others] = verified.builds;
  if (bundle === undefined || others.length > 0)
    throw new UsageError(["--provenance: expected one bundle, of one build"]);
  const pinned = attempt(() =>
    pinProvenance(bundle.value, { repository: flags.repository!, trustedRoot: { json: json! } }),
  );
  if (pinned.value === undefined) throw new UsageError([`not pinned: ${printable(faultText(pinned.faults))}`]);
  const entry = pinned.value;
  const deployments = made.policy.deployments.map((one): DeploymentFile => ({ ...one, provenance: [entry] }));
  const policyFile: PolicyFile = { ...made.policy, deployments };
  const read = attempt(() => parsePolicy(policyFile));
  if (read.value === undefined) throw new UsageError([`not pinned: ${printable(faultText(read.faults))}`]);
  const report = await rejectedUnder(read.value, verified);
  if (report !== null) {
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
