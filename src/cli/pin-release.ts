/** The sources of `bootproof pin` without evidence: published releases, and builds. */
import type { MadePolicy, PinOptions, ReleaseOptions } from "../appraise/pin.js";
import type { CheckId } from "../checks.js";
import type { JsonValue } from "../decode/json.js";
import { MalformedError, faultText } from "../errors.js";
import type { releasePolicy } from "../release/policy.js";
import { printable } from "../report/printable.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import type { InputFiles } from "./files.js";
import { type Io, UsageError } from "./io.js";
import { jsonOfKind, ofKind } from "./kinds.js";
import { type PolicySource, readTrustAnchor } from "./option-files.js";
import type { Flags } from "./option-table.js";
import { type Pinned, madeOrRefused } from "./pin-provenance.js";
import { parseYaml } from "./read-yaml.js";
import { areFolders, readFolders } from "./release-folders.js";

/** Pins folders with approvals, or one file without approvals. `pin.ts` has refused folders together with files. */
export async function pinReleases(
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

/**
 * Pins an application's releases in folders. Null if a release does not pass its checks; the reason is written to
 * stderr.
 */
async function pinFolders(
  { release: folders, app }: Flags<"pin">,
  options: Parameters<typeof releasePolicy>[1],
  files: InputFiles,
  io: Io,
): Promise<Pinned | null> {
  const [library, { releases }] = await Promise.all([import("../release/policy.js"), readFolders(folders, files)]);
  const found = releases.filter(({ application }) => application === app);
  if (releases.length > 0 && found.length === 0)
    files.fault(folders.join(", "), `no release of ${app!}; there are ${namesOf(releases)}`);
  files.throwFaults();
  try {
    const made = await library.releasePolicy(found, options);
    return { made, messages: messagesOn(made) };
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    const lines = error.faults.map((fault) => printable(faultText([fault])));
    if (error.code !== "release") throw new UsageError(lines.map((line) => `not pinned: ${line}`));
    io.stderr.write(["Not pinned.", ...lines, ""].join("\n"));
    return null;
  }
}

function namesOf(releases: readonly { readonly application: string | null }[]): string {
  return [...new Set(releases.map(({ application }) => application))].join(", ");
}

function messagesOn({ policy: { deployments }, notes }: MadePolicy): string[] {
  const what = deployments.length === 1 ? "this release" : `${deployments.length} releases`;
  const label = (note: string): string => (note.startsWith("critical: ") ? printable(note) : warningText(note));
  return [`Pinned ${what}: the approvals were verified.`, ...notes.map(label)];
}

/** Returns a warning as a sentence in one line, with the check that `bootproof explain` explains. */
export function warningText(text: string, check?: CheckId): string {
  return printable(
    `Warning: ${text.replace(/\.$/, "")}${check === undefined ? "" : ` (see bootproof explain ${check})`}.`,
  );
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

/** Pins what was built. */
export async function pinBuild(flags: Flags<"pin">, files: InputFiles, io: Io): Promise<Pinned> {
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

const BUILD_REMEDY =
  "An image names no application, and neither an image nor a binary names an operator. --binary FILE pins the " +
  "application; for live documents, --quorum-key HEX or --manifest-set FILE pins the operator; for legacy ones, " +
  "--manifest-set FILE and --namespace NAME together pin both.";

export function pinOptions({ name, appProofType }: Flags<"pin">): PinOptions {
  return { ...(name !== undefined && { name }), ...(appProofType.length > 0 && { appProofTypes: appProofType }) };
}

export async function readTrustAnchors(files: InputFiles, paths: readonly string[]): Promise<TrustAnchor[]> {
  const anchors: TrustAnchor[] = [];
  for (const path of paths) {
    const anchor = await readTrustAnchor(files, path);
    if (anchor !== undefined) anchors.push(anchor);
  }
  return anchors;
}

/** Returns the notes as warnings of the check `policy.scope`, as later reports will show them. */
export function scopeWarnings(notes: readonly string[]): string[] {
  return notes.map((note) => warningText(note, "policy.scope"));
}

/** Names the options that pin what a release leaves open (appraise/README.md, "What a deployment has to pin"). */
const RELEASE_REMEDY =
  "A release names image, program and role only. For live documents, add --quorum-key HEX or --manifest-set FILE to " +
  "pin the operator; for legacy ones, add both --manifest-set FILE and --namespace NAME.";

/**
 * Size limit of a release's file in bytes. An application takes half a kilobyte of the file. The limit is low because
 * parsed YAML takes a thousand times as much memory.
 */
const MAX_RELEASE_BYTES = 65_536;
