/** Makes policies from the sources of `bootproof pin`: verified boot proofs, a release, or a build. */
import type { MadePolicy } from "../appraise/pin.js";
import type { NamedEvidence, VerifyOptions } from "../bootproof.js";
import { fromHex } from "../bytes.js";
import type { Report } from "../report/report.js";
import type { VerifiedBootProof } from "../verify/boot-proof.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import { ageSentence } from "../report/facts.js";
import { capitalized, printable } from "../report/printable.js";
import type { Connection } from "./connection.js";
import type { InputFiles } from "./files.js";
import { type Io, messageOptions } from "./io.js";
import type { PolicySource } from "./option-files.js";
import type { Flags } from "./option-table.js";
import { type Pinned, madeOrRefused, pinnedWithBuilds } from "./pin-provenance.js";
import { pinBuild, pinOptions, pinReleases, readTrustAnchors, scopeWarnings, warningText } from "./pin-release.js";
import { readProvenance } from "./provenance.js";

/** Makes a policy from the source. Null if a boot proof was rejected; the reason is already written to stderr. */
export function pinnedFrom(flags: Flags<"pin">, given: PinSource, files: InputFiles, io: Io): Promise<Pinned | null> {
  if (flags.release.length > 0) return pinReleases(flags, given.base, files, io);
  const isEvidence = flags.bootProof.length > 0 || given.connection !== undefined;
  return isEvidence ? pinBootProofs(flags, given, files, io) : pinBuild(flags, files, io);
}

interface PinSource {
  readonly base: PolicySource | undefined;
  /** The service, if the boot proof of --app comes from it. */
  readonly connection: Connection | undefined;
}

async function pinBootProofs(
  flags: Flags<"pin">,
  { base, connection }: PinSource,
  files: InputFiles,
  io: Io,
): Promise<Pinned | null> {
  const [library, { readBootProofs }] = await Promise.all([import("../bootproof.js"), import("./pieces.js")]);
  const trustAnchors = await trustedBy(flags, base, files);
  const read = await readBootProofs(files, flags.bootProof);
  files.throwFaults();
  const { fetchLatestBootProofs } = await import("./fetch-evidence.js");
  const pieces = connection ? await fetchLatestBootProofs([flags.app!], connection, io) : read;
  const options: VerifyOptions = {
    policy: library.NO_POLICY_ANY_ENCLAVE,
    now: io.now(),
    allowDebug: flags.allowDebug === true,
    trustAnchors,
    ...(flags.nonce !== undefined && { nonce: fromHex(flags.nonce)! }),
  };
  const judged: PinnedVerdict[] = [];
  for (const piece of pieces) {
    io.progress(`verifying ${judged.length + 1} of ${pieces.length} boot proofs`);
    const answer = await library.verifyEvidence({ bootProofs: [piece] }, options);
    judged.push({ label: piece.name ?? "", report: answer.report, verified: answer.bootProofs[0] ?? null });
  }
  const verified = judged.flatMap((one) => one.verified ?? []);
  if (verified.length < judged.length) return refuse(judged, io);
  const { makePolicy } = await import("../appraise/pin.js");
  const made = madeOrRefused(() => makePolicy(verified, pinOptions(flags)));
  const messages = adviceOnPinning(judged, made);
  return withBuilds({ made, messages, verified: { pieces, options, builds: [] } }, flags, files, io);
}

/**
 * Adds bundles. With `--repository`, their build is pinned. Otherwise they must meet what the `--add-to` policy
 * demands.
 */
async function withBuilds(
  pinned: Required<Pinned>,
  flags: Flags<"pin">,
  files: InputFiles,
  io: Io,
): Promise<Pinned | null> {
  const { provenance } = await readProvenance(files, flags.provenance);
  if (provenance === undefined) return pinned;
  const verified = { ...pinned.verified, builds: provenance as readonly NamedEvidence[] };
  if (flags.repository !== undefined) return pinnedWithBuilds({ ...pinned, verified }, flags, files, io);
  const { decodeProvenanceBundle } = await import("../decode/provenance-bundle.js");
  for (const { name, value } of verified.builds) files.decoded(name!, () => decodeProvenanceBundle(value));
  files.throwFaults();
  return { ...pinned, verified };
}

/**
 * Returns the trust anchors: those of the command line or, if it names none, those of the --add-to policy and the AWS
 * Nitro root.
 */
async function trustedBy(
  { trustAnchor }: Flags<"pin">,
  base: PolicySource | undefined,
  files: InputFiles,
): Promise<TrustAnchor[]> {
  const { AWS_NITRO_ROOT_G1 } = await import("../verify/trust-anchor.js");
  if (trustAnchor.length === 0) return [...(base?.policy.trustAnchors ?? []), AWS_NITRO_ROOT_G1];
  return readTrustAnchors(files, trustAnchor);
}

interface PinnedVerdict {
  /** The file's name, with an index if the file has several boot proofs. */
  readonly label: string;
  readonly report: Report;
  readonly verified: VerifiedBootProof | null;
}

async function refuse(judged: readonly PinnedVerdict[], io: Io): Promise<null> {
  const { renderFailures } = await import("../show/text.js");
  const rejected = judged.filter(({ verified }) => verified === null);
  const texts = rejected.map(({ label, report }) => {
    const failures = renderFailures(report, messageOptions(io));
    return judged.length === 1 ? failures : `${printable(label)}: ${failures}`;
  });
  io.stderr.write(`Not pinned.\n${texts.join("\n")}`);
  return null;
}

function adviceOnPinning(judged: readonly PinnedVerdict[], { policy, notes }: MadePolicy): string[] {
  const isOne = judged.length === 1;
  const of = (label: string): string => (isOne ? "" : `${label}: `);
  const warnings = judged.flatMap(({ label, report }) =>
    report.checks
      .filter((check) => check.status === "warn")
      .map((check) => warningText(`${of(label)}${check.detail}`, check.id)),
  );
  const ages = judged.map(({ label, report }) => {
    const [boot] = report.claims!.bootProofs;
    return capitalized(`${of(label)}${ageSentence(boot!.hardware.documentTime, report.verifiedAt)}.`);
  });
  const { length } = policy.deployments;
  return [
    `These values come from the evidence itself, no matter whose enclave ${isOne ? "it is" : "they are"}: compare ` +
      "them with a source that you trust, such as published releases (--release), before you rely on them.",
    ...ages,
    ...(length < judged.length
      ? [`${judged.length} boot proofs are of ${length === 1 ? "one deployment" : `${length} deployments`}.`]
      : []),
    ...warnings,
    ...scopeWarnings(notes),
  ];
}
