/** `bootproof pin`: verifies boot proofs, and bundles of their builds, under the policy that was made from them. */
import { otherMembers } from "../decode/input.js";
import type { MadePolicy } from "../appraise/pin.js";
import type { DeploymentFile, ParsePolicyOptions, PolicyFile } from "../appraise/policy.js";
import type { NamedEvidence, VerifyOptions } from "../bootproof.js";
import { attempt, faultText } from "../errors.js";
import { printable } from "../report/printable.js";
import type { Report } from "../report/report.js";
import type { InputFiles } from "./files.js";
import { type Io, UsageError, messageOptions } from "./io.js";
import { ofKind } from "./kinds.js";
import type { Flags } from "./option-table.js";
import { verifierFor } from "./provenance.js";

export interface Pinned {
  readonly made: MadePolicy;
  readonly messages: readonly string[];
  /**
   * The evidence that was verified, and is verified again under the resulting policy. Undefined for a release or a
   * build.
   */
  readonly verified?: VerifiedPieces;
}

interface VerifiedPieces {
  readonly pieces: readonly NamedEvidence[];
  /** The options under which the boot proofs were verified. */
  readonly options: VerifyOptions;
  readonly builds: readonly NamedEvidence[];
}

export function madeOrRefused<T>(make: () => T): T {
  const made = attempt(make);
  if (made.value === undefined) throw new UsageError([`not pinned: ${printable(faultText(made.faults))}`]);
  return made.value;
}

/** Returns the report of the first boot proof that the policy rejects. Null if it rejects none. */
export async function rejectedUnder(
  file: PolicyFile | string,
  { pieces, options, builds }: VerifiedPieces,
  reading: ParsePolicyOptions = {},
): Promise<Report | null> {
  const [{ verifyEvidence }, { parsePolicy }] = await Promise.all([
    import("../bootproof.js"),
    import("../appraise/policy.js"),
  ]);
  const policy = madeOrRefused(() => parsePolicy(file, reading));
  // The options `trustAnchors` and `allowDebug` are left out, since the policy itself decides them.
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

/** Pins the build that the bundle shows. Null if the new policy rejects the evidence; stderr then has the reason. */
export async function pinnedWithBuilds(
  pinned: Required<Pinned>,
  flags: Flags<"pin">,
  files: InputFiles,
  io: Io,
): Promise<Pinned | null> {
  const { pinProvenance } = await import("../appraise/pin-provenance.js");
  const root = await ofKind(files, flags.trustedRoot!, "--trusted-root");
  const json = root && files.textOf(flags.trustedRoot!, root);
  files.throwFaults();
  const [bundle, ...others] = pinned.verified.builds;
  if (bundle === undefined || others.length > 0)
    throw new UsageError(["--provenance: expected one bundle, of one build"]);
  const { repository, githubRelease = false, tenant } = flags;
  const options = {
    repository: repository!,
    trustedRoot: { json: json! },
    githubRelease,
    ...(tenant !== undefined && { tenant }),
  };
  const entry = madeOrRefused(() => pinProvenance(bundle.value, options));
  const deployments = pinned.made.policy.deployments.map((one): DeploymentFile => ({ ...one, provenance: [entry] }));
  const policy: PolicyFile = { ...pinned.made.policy, deployments };
  const report = await rejectedUnder(policy, pinned.verified);
  if (report !== null) {
    const { renderFailures } = await import("../show/text.js");
    io.stderr.write(`Not pinned.\n${renderFailures(report, messageOptions(io))}`);
    return null;
  }
  return {
    ...pinned,
    made: { ...pinned.made, policy },
    messages: [...pinned.messages, githubRelease ? SHOWN_RELEASE : SHOWN_BY_THE_BUNDLE],
  };
}

const SHOWN_RELEASE =
  "Pinned the release of GitHub that the bundle names, under the trusted root that you gave: read repository and tag " +
  "before you rely on them. Whoever may publish a release uploads any file, so no source and no build is pinned. The " +
  "next release has another tag.";

const SHOWN_BY_THE_BUNDLE =
  "Pinned the build that the bundle names, under the trusted root that you gave: read workflow, ref, runner and " +
  "signer before you rely on them. The next release has another ref and commit.";
