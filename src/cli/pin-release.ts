/** `bootproof pin --release FOLDER`: pins published releases, after their approvals were verified. */
import type { MadePolicy } from "../appraise/pin.js";
import type { CheckId } from "../checks.js";
import { MalformedError, faultText } from "../errors.js";
import type { releasePolicy } from "../release/policy.js";
import { printable } from "../report/printable.js";
import type { InputFiles } from "./files.js";
import { type Io, UsageError } from "./io.js";
import type { Flags } from "./option-table.js";
import type { Pinned } from "./pin-provenance.js";
import { readFolders } from "./release-folders.js";

/**
 * Pins an application's releases in folders. Null if a release does not pass its checks; the reason is written to
 * stderr.
 */
export async function pinFolders(
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
