/** What `bootproof pin` makes a policy from: boot proofs that were verified, a release, or a build. */
import type { MadePolicy, PinOptions, ReleaseOptions } from "../appraise/pin.js";
import type { VerifyOptions } from "../bootproof.js";
import { fromHex } from "../bytes.js";
import type { JsonValue } from "../decode/json.js";
import { attempt, faultText, listed } from "../errors.js";
import type { Report } from "../report/report.js";
import type { VerifiedBootProof } from "../verify/boot-proof.js";
import { COMMITMENT_KINDS, type CommitmentKind } from "../verify/commitment.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import { printable } from "../report/printable.js";
import type { InputFiles } from "./files.js";
import { type Io, UsageError, messageOptions } from "./io.js";
import { type FilePlace, jsonOfKind, ofKind } from "./kinds.js";
import { pinFolders } from "./pin-release.js";
import type { PolicySource } from "./policy.js";
import { areFolders } from "./release-folders.js";
import { readTrustAnchor } from "./verify.js";

export interface PinFlags {
  readonly bootProof?: string[];
  readonly release?: string[];
  readonly image?: string;
  readonly pcrs?: string;
  readonly binary?: string;
  readonly roleArn?: string;
  readonly app?: string;
  readonly trustAnchor?: string[];
  readonly name?: string;
  readonly out?: string;
  readonly addTo?: string;
  readonly appProofType?: string[];
  readonly allowDebug?: boolean;
  readonly nonce?: string;
  readonly commitment?: string;
  readonly manifestSet?: string;
  readonly quorumKey?: string;
  readonly namespace?: string;
}

/** What was pinned, and what a person has to know of it. */
interface Pinned {
  readonly made: MadePolicy;
  readonly messages: readonly string[];
}

/** Null: one of the boot proofs was refused, as was said. */
export function pinnedFrom(
  flags: PinFlags,
  base: PolicySource | undefined,
  files: InputFiles,
  io: Io,
): Promise<Pinned | null> {
  if (flags.release !== undefined) return pinReleases(flags, base, files, io);
  return flags.bootProof === undefined ? pinBuild(flags, files, io) : pinBootProofs(flags, base, files, io);
}

/** Null: one of the boot proofs was refused, as was said. */
async function pinBootProofs(
  flags: PinFlags,
  base: PolicySource | undefined,
  files: InputFiles,
  io: Io,
): Promise<Pinned | null> {
  const [library, { readBootProofs }] = await Promise.all([import("../bootproof.js"), import("./pieces.js")]);
  const trustAnchors = await trustedBy(flags, base, files);
  const pieces = await readBootProofs(files, flags.bootProof!, "pin");
  files.throwFaults();
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
  const made = attempt(() => makePolicy(verified, pinOptions(flags)));
  if (made.value === undefined) throw new UsageError([`not pinned: ${printable(faultText(made.faults))}`]);
  return { made: made.value, messages: adviceOnPinning(judged, made.value) };
}

/** Those that are given; else, who adds to a policy trusts what it trusts. */
async function trustedBy(
  { trustAnchor = [] }: PinFlags,
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
    const anchor = await readTrustAnchor(files, path, "pin");
    if (anchor !== undefined) anchors.push(anchor);
  }
  return anchors;
}

function pinOptions({ name, appProofType }: PinFlags): PinOptions {
  return { ...(name !== undefined && { name }), ...(appProofType !== undefined && { appProofTypes: appProofType }) };
}

interface PinnedVerdict {
  /** The file, and which of its boot proofs, where it has several. */
  readonly label: string;
  readonly report: Report;
  readonly verified: VerifiedBootProof | null;
}

/** Every failure of every boot proof. */
async function refuse(judged: readonly PinnedVerdict[], io: Io): Promise<null> {
  const { renderFailures } = await import("../report/text.js");
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
  const warnings = judged.flatMap(({ label, report }) =>
    report.checks
      .filter((check) => check.status === "warn")
      .map((check) => `warning: ${isOne ? "" : `${label}: `}${check.id}: ${printable(check.detail)}`),
  );
  const { length } = policy.deployments;
  return [
    `Pinned what ${isOne ? "this boot proof shows" : `these ${judged.length} boot proofs show`}, whoever's enclave ` +
      "it is: compare it with a source you trust before you rely on it.",
    ...(length < judged.length
      ? [`${judged.length} boot proofs are of ${length === 1 ? "one deployment" : `${length} deployments`}.`]
      : []),
    ...warnings,
    ...scopeWarnings(notes),
  ];
}

/** What the report of every later verification will say, too. */
function scopeWarnings(notes: readonly string[]): string[] {
  return notes.map((note) => `warning: policy.scope: ${printable(note)}`);
}

/** Folders with approvals, or one file without any: `pin.ts` refused a mixture. */
async function pinReleases(
  flags: PinFlags,
  base: PolicySource | undefined,
  files: InputFiles,
  io: Io,
): Promise<Pinned | null> {
  const folders = flags.release!;
  if (areFolders(folders).every((isFolder) => !isFolder)) return pinRelease(flags, folders[0]!, files);
  const { readSet } = await import("../release/demand.js");
  const { manifestSet: path, commitment, app } = flags;
  const json = path === undefined ? undefined : await readManifestSet(files, path);
  const manifestSet = json === undefined ? undefined : files.decoded(path!, () => readSet(json));
  const rest = { ...pinOptions(flags), ...(isCommitmentKind(commitment) && { commitment }) };
  return pinFolders({ folders, app: app!, base, manifestSet, rest }, files, io);
}

async function pinRelease(flags: PinFlags, path: string, files: InputFiles): Promise<Pinned> {
  const { makeReleasePolicy } = await import("../appraise/pin.js");
  const text = await readRelease(files, path);
  const release = text === undefined ? undefined : await parseYaml(files, path, text);
  const options = await operatorOptions(flags, files);
  files.throwFaults();
  const made = files.decoded(path, () => makeReleasePolicy(release, flags.app!, options));
  files.throwFaults();
  return {
    made: made!,
    messages: [
      "Pinned what the release file says, which is worth what its source is: nothing of it was verified.",
      ...scopeWarnings(made!.notes),
      ...(made!.notes.length > 0 ? [RELEASE_REMEDY] : []),
    ],
  };
}

/** What the command line says of whose deployment it is, where no evidence does. */
async function operatorOptions(flags: PinFlags, files: InputFiles): Promise<ReleaseOptions> {
  const { memberSetFile } = await import("../appraise/pin.js");
  const manifestSet = flags.manifestSet === undefined ? undefined : await readManifestSet(files, flags.manifestSet);
  return {
    ...pinOptions(flags),
    ...(isCommitmentKind(flags.commitment) && { commitment: flags.commitment }),
    ...(manifestSet !== undefined && { manifestSet: memberSetFile(manifestSet) }),
    ...(flags.quorumKey !== undefined && { quorumKey: flags.quorumKey }),
    ...(flags.namespace !== undefined && { namespace: flags.namespace }),
  };
}

async function pinBuild(flags: PinFlags, files: InputFiles, io: Io): Promise<Pinned> {
  const [{ makeBuildPolicy }, { measuredBuild }] = await Promise.all([
    import("../appraise/pin.js"),
    import("./built.js"),
  ]);
  const options = await operatorOptions(flags, files);
  const trustAnchors = await readTrustAnchors(files, flags.trustAnchor ?? []);
  const build = await measuredBuild(flags, files, io);
  files.throwFaults();
  const made = attempt(() => makeBuildPolicy(build, { ...options, ...(trustAnchors.length > 0 && { trustAnchors }) }));
  if (made.value === undefined) throw new UsageError([`not pinned: ${printable(faultText(made.faults))}`]);
  const { notes } = made.value;
  return {
    made: made.value,
    messages: [
      "Pinned what these files measure, which is worth what their build is: no enclave was asked, and nothing says " +
        "which source they are of.",
      ...scopeWarnings(notes),
      ...(notes.length > 0 ? [BUILD_REMEDY] : []),
    ],
  };
}

async function readRelease(files: InputFiles, path: string): Promise<string | undefined> {
  const place: FilePlace = { command: "pin", option: "--release" };
  const bytes = await ofKind(files, path, await files.bytes(path, MAX_RELEASE_BYTES), place);
  return bytes && files.textOf(path, bytes);
}

async function readManifestSet(files: InputFiles, path: string): Promise<JsonValue | undefined> {
  return jsonOfKind(files, path, await files.bytes(path), { command: "pin", option: "--manifest-set" });
}

/**
 * What the options of this command close of the questions (appraise/README.md, "What a deployment has to pin").
 */
const RELEASE_REMEDY =
  "A release names image, program and role only. Of a live document, --quorum-key HEX or --manifest-set FILE says " +
  "whose " +
  "deployment it is; of a legacy one --manifest-set FILE and --namespace NAME together do.";

const BUILD_REMEDY =
  "An image names no application, and neither it nor a binary says whose deployment it is. --binary FILE names the " +
  "application; of a live document, --quorum-key HEX or --manifest-set FILE names the operator; of a legacy one " +
  "--manifest-set FILE and --namespace NAME together name both.";

export function isCommitmentKind(text: string | undefined): text is CommitmentKind {
  return COMMITMENT_KINDS.some((kind) => kind === text);
}

/** Half a kilobyte is an application of a release. What YAML makes of a text takes a thousand times its size. */
const MAX_RELEASE_BYTES = 65_536;

/** Every scalar as text: a digest of decimal digits alone is no number. */
export async function parseYaml(files: InputFiles, path: string, text: string): Promise<unknown> {
  const { LineCounter, isScalar, parseDocument, visit } = await import("./yaml.js");
  const lineCounter = new LineCounter();
  const faults: string[] = [];
  const fault = (offset: number | undefined, message: string): void => {
    const { line, col } = lineCounter.linePos(offset ?? 0);
    faults.push(`${message} at line ${line}, column ${col}`);
  };
  // Its own search for keys that are there twice compares each with each.
  const document = parseDocument(text, { schema: "failsafe", prettyErrors: false, uniqueKeys: false, lineCounter });
  for (const { message, pos } of document.errors) fault(pos[0], message);
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) faults.push("a map whose key is no text");
        else if (seen.has(key.value)) fault(key.range?.[0], "Map keys must be unique");
        else seen.add(key.value);
      }
    },
    Alias: (_, alias) => fault(alias.range?.[0], "an alias, which is not followed"),
  });
  return faults.length > 0 ? files.fault(path, `not YAML: ${listed(faults, "; ")}`) : document.toJS();
}
