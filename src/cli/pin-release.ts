/** `bootproof pin --release FOLDER`: published releases, whose approvals are verified first. */
import type { MadePolicy } from "../appraise/pin.js";
import type { SetFile } from "../appraise/pins.js";
import { MalformedError, faultText } from "../errors.js";
import { printable } from "../report/printable.js";
import type { CommitmentKind } from "../verify/commitment.js";
import type { InputFiles } from "./files.js";
import { type Io, UsageError } from "./io.js";
import type { PolicySource } from "./option-files.js";
import { readFolders } from "./release-folders.js";

/** The options beside the folders. */
interface FolderPins {
  readonly folders: readonly string[];
  readonly app: string;
  readonly base: PolicySource | undefined;
  readonly manifestSet: SetFile | undefined;
  readonly rest: {
    readonly name?: string;
    readonly appProofTypes?: readonly string[];
    readonly commitment?: CommitmentKind;
  };
}

interface PinnedReleases {
  readonly made: MadePolicy;
  readonly messages: readonly string[];
}

/** Returns null if a release does not hold. The reason is on stderr. */
export async function pinFolders(pins: FolderPins, files: InputFiles, io: Io): Promise<PinnedReleases | null> {
  const { app, base, manifestSet, rest } = pins;
  const [{ releasePolicy }, { releases }] = await Promise.all([
    import("../release/policy.js"),
    readFolders(pins.folders, files),
  ]);
  const found = releases.filter(({ application }) => application === app);
  if (releases.length > 0 && found.length === 0)
    files.fault(pins.folders.join(", "), `no release of ${app}; there are ${namesOf(releases)}`);
  files.throwFaults();
  try {
    const made = await releasePolicy(found, {
      ...rest,
      ...(manifestSet !== undefined && { manifestSet }),
      ...(base && { addTo: base.policy }),
    });
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
  const label = (note: string): string => (note.startsWith("critical: ") ? note : `warning: ${note}`);
  return [`Pinned ${what}: the approvals were verified.`, ...notes.map((note) => printable(label(note)))];
}
