/** `bootproof review`: compares a manifest with a policy before anyone approves it. */
import type { Command } from "commander";
import type { Measured } from "../appraise/measured.js";
import { jsonDocument } from "../report/json.js";
import type { Format } from "../report/report.js";
import type { ManifestReview } from "../review/review.js";
import { measuredBinary, measuredImage } from "./built.js";
import { EXIT } from "./exit-codes.js";
import { InputFiles } from "./files.js";
import { type Io, UsageError, textOptions } from "./io.js";
import { ofKind } from "./kinds.js";
import { readPolicyFile } from "./option-files.js";
import type { Flags } from "./option-table.js";
import { formatOf } from "./option-values.js";
import { ArgumentReader } from "./options.js";

const EXAMPLES = `
MANIFEST is a manifest or an envelope, JSON or Borsh. It is compared with every pin of the policy that a manifest can
meet, with the image and the binary that were built, and with the manifest before it. Nothing here shows that any
hardware booted it: verify a boot proof for that, with bootproof verify.

A member that no pin holds (bridgeConfig, dns, patchSet, qosCommit, restart and others) fails the review, with its
value, unless it is as in the manifest of --previous, or --accept names it. With --previous, so does one that is
removed, another version of the manifest (--accept version) and another order of workloads (--accept workloads).
Members of workloads have names such as workloads.signer.mounts, or mounts where only one workload changes it.

Examples:
    $ bootproof review manifest.json --policy policy.json --previous approved.json
    $ bootproof review manifest.json --policy policy.json --image app.eif --binary app --accept qosCommit
    $ bootproof review envelope.json --policy policy.json --previous approved.json --format json

Exit codes: 0 everything that was given was compared, and holds; 1 something does not; 2 wrong usage, an --accept that
accepts nothing, or a file that is unreadable or malformed.`;

export function addReviewCommand(command: Command, io: Io, finish: (code: number) => void): void {
  command
    .description(
      "Review a manifest before its approval: pins, image, binary, changes, approvals, and what is unpinned.",
    )
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async (manifest: string, flags: Flags<"review">) => {
    args.refuseRepeated();
    args.refuseRepeatedStdin([manifest, flags.policy, flags.image, flags.binary, flags.previous]);
    args.refuseTwice("--accept", flags.accept ?? []);
    if (!args.has("policy")) args.fault("--policy FILE is required: the pins that the manifest has to meet");
    await refuseUnknown(flags.accept ?? [], args);
    const format = formatOf(args, flags.format);
    args.throwFaults();
    const review = await reviewed(manifest, flags, io);
    refuseUnused(review);
    await write(review, format, io);
    finish(review.ok ? EXIT.good : EXIT.rejected);
  });
}

async function refuseUnknown(names: readonly string[], args: ArgumentReader): Promise<void> {
  const { unknownName } = await import("../review/members.js");
  for (const name of names) {
    const fault = unknownName(name);
    if (fault !== null) args.fault(`--accept ${name}: ${fault}`);
  }
}

/** Refuses names that nothing needed, since nobody read what they would accept the next time. */
function refuseUnused({ faults }: ManifestReview): void {
  const unused = faults.filter(({ code }) => code === "unused-accept");
  if (unused.length > 0)
    throw new UsageError(
      unused.map(({ about, message, advice }) => ({ message: `--accept ${about}: ${message}`, advice })),
    );
}

async function reviewed(path: string, flags: Flags<"review">, io: Io): Promise<ManifestReview> {
  const files = new InputFiles(io);
  const manifest = await manifestIn(files, path, "MANIFEST");
  const source = await readPolicyFile(files, flags.policy!, { command: "review", option: "--policy" });
  const previous = flags.previous === undefined ? undefined : await manifestIn(files, flags.previous, "--previous");
  const measured = await measuredIn(files, flags, io);
  files.throwFaults();
  const { reviewManifest } = await import("../review/review.js");
  const { policy } = source!;
  const { accept } = flags;
  // The manifests were read above, so a malformed file is now the policy.
  const review = await files.decodedAsync(flags.policy!, () =>
    reviewManifest(manifest!, {
      policy,
      ...(previous && { previous }),
      ...(measured && { measured }),
      ...(accept && { accept }),
    }),
  );
  files.throwFaults();
  return review!;
}

async function manifestIn(
  files: InputFiles,
  path: string,
  option: "MANIFEST" | "--previous",
): Promise<Uint8Array | undefined> {
  const bytes = await ofKind(files, path, await files.bytes(path), { command: "review", option });
  if (bytes === undefined) return undefined;
  const { readGivenManifest } = await import("../review/manifest.js");
  // It is read here, so that a fault has the name of its own file.
  const read = await files.decodedAsync(path, () => readGivenManifest("", bytes));
  return read && bytes;
}

async function measuredIn(files: InputFiles, flags: Flags<"review">, io: Io): Promise<Measured | undefined> {
  const image = flags.image === undefined ? undefined : await measuredImage(files, flags.image, io);
  const pivotHash = flags.binary === undefined ? undefined : await measuredBinary(files, flags.binary, io);
  if (image === undefined && pivotHash === undefined) return undefined;
  return { ...(image && { pcrs: image.pcrs }), ...(pivotHash && { pivotHash }) };
}

async function write(review: ManifestReview, format: Format, io: Io): Promise<void> {
  if (format === "json") return void io.stdout.write(jsonDocument(review));
  const { renderReview } = await import("../review/text.js");
  io.stdout.write(renderReview(review, textOptions(io)));
}
