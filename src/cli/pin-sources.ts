/** Makes policies from the sources of `bootproof pin`: verified boot proofs, a release, or a build. */
import type { MadePolicy, PinOptions, ReleaseOptions } from "../appraise/pin.js";
import type { NamedEvidence, VerifyOptions } from "../bootproof.js";
import { fromHex } from "../bytes.js";
import type { JsonValue } from "../decode/json.js";
import type { Report } from "../report/report.js";
import type { VerifiedBootProof } from "../verify/boot-proof.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import { ageSentence } from "../report/facts.js";
import { capitalized } from "../report/statements.js";
import { printable } from "../report/printable.js";
import type { Connection } from "./connection.js";
import type { InputFiles } from "./files.js";
import { type Io, messageOptions } from "./io.js";
import { jsonOfKind, ofKind } from "./kinds.js";
import { type PolicySource, readTrustAnchor } from "./option-files.js";
import type { Flags } from "./option-table.js";
import { type Pinned, madeOrRefused, pinnedWithBuilds } from "./pin-provenance.js";
import { pinFolders, warningText } from "./pin-release.js";
import { readProvenance } from "./provenance.js";
import { parseYaml } from "./read-yaml.js";
import { areFolders } from "./release-folders.js";

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

async function readTrustAnchors(files: InputFiles, paths: readonly string[]): Promise<TrustAnchor[]> {
  const anchors: TrustAnchor[] = [];
  for (const path of paths) {
    const anchor = await readTrustAnchor(files, path);
    if (anchor !== undefined) anchors.push(anchor);
  }
  return anchors;
}

function pinOptions({ name, appProofType }: Flags<"pin">): PinOptions {
  return { ...(name !== undefined && { name }), ...(appProofType.length > 0 && { appProofTypes: appProofType }) };
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

/** Returns the notes as warnings of the check `policy.scope`, as later reports will show them. */
function scopeWarnings(notes: readonly string[]): string[] {
  return notes.map((note) => warningText(note, "policy.scope"));
}

/** Pins folders with approvals, or one file without approvals. `pin.ts` has refused folders together with files. */
async function pinReleases(
  flags: Flags<"pin">,
  base: PolicySource | undefined,
  files: InputFiles,
  io: Io,
): Promise<Pinned | null> {
  const folders = flags.release;
  if (!areFolders(folders).includes(true)) return pinRelease(flags, folders[0]!, files);
  const { readSet } = await import("../release/demand.js");
  const { manifestSet: path, commitment } = flags;
  const json = await readManifestSet(files, path);
  const manifestSet = json === undefined ? undefined : files.decoded(path!, () => readSet(json));
  const trustAnchors = await readTrustAnchors(files, flags.trustAnchor);
  const options = {
    ...pinOptions(flags),
    ...(commitment && { commitment }),
    ...(manifestSet && { manifestSet }),
    ...(base && { addTo: base.policy }),
    ...(trustAnchors.length > 0 && { trustAnchors }),
  };
  return pinFolders(flags, options, files, io);
}

async function pinRelease(flags: Flags<"pin">, path: string, files: InputFiles): Promise<Pinned> {
  const { makeReleasePolicy } = await import("../appraise/pin.js");
  const bytes = await ofKind(files, path, "--release", MAX_RELEASE_BYTES);
  const text = bytes && files.textOf(path, bytes);
  const release = text === undefined ? undefined : await parseYaml(files, path, text);
  const options = await operatorOptions(flags, files);
  files.throwFaults();
  const made = files.decoded(path, () => makeReleasePolicy(release, flags.app!, options));
  files.throwFaults();
  return {
    made: made!,
    messages: [
      "Pinned the contents of the release file, unverified: trust it only as far as you trust its source.",
      ...scopeWarnings(made!.notes),
      ...(made!.notes.length > 0 ? [RELEASE_REMEDY] : []),
    ],
  };
}

/** Reads what identifies the operators of a deployment. Neither a release nor a build names them. */
async function operatorOptions(flags: Flags<"pin">, files: InputFiles): Promise<ReleaseOptions> {
  const { memberSetFile } = await import("../appraise/pin.js");
  const manifestSet = await readManifestSet(files, flags.manifestSet);
  return {
    ...pinOptions(flags),
    ...(flags.commitment && { commitment: flags.commitment }),
    ...(manifestSet !== undefined && { manifestSet: memberSetFile(manifestSet) }),
    ...(flags.quorumKey !== undefined && { quorumKey: flags.quorumKey }),
    ...(flags.namespace !== undefined && { namespace: flags.namespace }),
  };
}

async function pinBuild(flags: Flags<"pin">, files: InputFiles, io: Io): Promise<Pinned> {
  const [{ makeBuildPolicy }, { measuredBuild }] = await Promise.all([
    import("../appraise/pin.js"),
    import("./built.js"),
  ]);
  const options = await operatorOptions(flags, files);
  const trustAnchors = await readTrustAnchors(files, flags.trustAnchor);
  const build = await measuredBuild(flags, files, io);
  files.throwFaults();
  const trusted = { ...options, ...(trustAnchors.length > 0 && { trustAnchors }) };
  const made = madeOrRefused(() => makeBuildPolicy(build, trusted));
  return {
    made,
    messages: [
      "Pinned the measurements of these files. Trust them only as far as you trust their build: no enclave attests " +
        "them, and nothing shows from which source code they were built.",
      ...scopeWarnings(made.notes),
      ...(made.notes.length > 0 ? [BUILD_REMEDY] : []),
    ],
  };
}

async function readManifestSet(files: InputFiles, path: string | undefined): Promise<JsonValue | undefined> {
  return path === undefined ? undefined : jsonOfKind(files, path, await files.bytes(path), "--manifest-set");
}

/** Names the options that pin what a release leaves open (appraise/README.md, "What a deployment has to pin"). */
const RELEASE_REMEDY =
  "A release names image, program and role only. For live documents, add --quorum-key HEX or --manifest-set FILE to " +
  "pin the operator; for legacy ones, add both --manifest-set FILE and --namespace NAME.";

const BUILD_REMEDY =
  "An image names no application, and neither an image nor a binary names an operator. --binary FILE pins the " +
  "application; for live documents, --quorum-key HEX or --manifest-set FILE pins the operator; for legacy ones, " +
  "--manifest-set FILE and --namespace NAME together pin both.";

/**
 * Size limit of a release's file in bytes. An application takes half a kilobyte of the file. The limit is low because
 * parsed YAML takes a thousand times as much memory.
 */
const MAX_RELEASE_BYTES = 65_536;
