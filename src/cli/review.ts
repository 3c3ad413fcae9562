/** `bootproof review`: compares a manifest with a policy before anyone approves it. */
import { jsonDocument } from "../report/json.js";
import type { ManifestReview } from "../review/review.js";
import { measuredBuild } from "./built.js";
import { commandOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import type { InputFiles } from "./files.js";
import { type Io, UsageError, textOptions } from "./io.js";
import { ofKind } from "./kinds.js";
import type { Flags } from "./option-table.js";
import { formatOf } from "./option-values.js";
import type { ArgumentReader } from "./options.js";
import { readGivenPolicy, requireCurrent } from "./policy-source.js";

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

export const addReviewCommand = commandOf<"review", [manifest: string]>(
  "review",
  {
    description:
      "Review a manifest before its approval: pins, image, binary, changes, approvals, and what is unpinned.",
    help: EXAMPLES,
  },
  async ({ args, flags, files, io }, manifest) => {
    args.refuseTwice("--accept", flags.accept);
    if (!args.has("policy")) args.fault("--policy FILE is required: the pins that the manifest has to meet");
    await refuseUnknown(flags.accept, args);
    const format = formatOf(args, flags.format);
    args.throwFaults();
    const review = await reviewed(manifest, flags, files, io);
    refuseUnused(review);
    const { renderReview } = await import("../review/text.js");
    io.stdout.write(format === "json" ? jsonDocument(review) : renderReview(review, textOptions(io)));
    return review.ok ? EXIT.good : EXIT.rejected;
  },
);

async function refuseUnknown(names: readonly string[], args: ArgumentReader): Promise<void> {
  const { unknownName } = await import("../review/members.js");
  for (const name of names) {
    const fault = unknownName(name);
    if (fault !== null) args.fault(`--accept ${name}: ${fault}`);
  }
}

/** Refuses names in --accept that nothing needed: the next review would accept what nobody has read. */
function refuseUnused({ faults }: ManifestReview): void {
  const unused = faults.filter(({ code }) => code === "unused-accept");
  if (unused.length > 0)
    throw new UsageError(
      unused.map(({ about, message, advice }) => ({ message: `--accept ${about}: ${message}`, advice })),
    );
}

async function reviewed(path: string, flags: Flags<"review">, files: InputFiles, io: Io): Promise<ManifestReview> {
  const manifest = await manifestIn(files, path, "MANIFEST");
  const source = await readGivenPolicy(files, flags, io);
  const previous = flags.previous === undefined ? undefined : await manifestIn(files, flags.previous, "--previous");
  const measured = await measuredBuild(flags, files, io);
  files.throwFaults();
  await requireCurrent(source, io.now());
  const { reviewManifest } = await import("../review/review.js");
  // The manifests were read above, so a malformed file is now the policy.
  const review = await files.decodedAsync(flags.policy!, () =>
    reviewManifest(manifest!, {
      policy: source!.policy,
      ...(previous && { previous }),
      ...(Object.keys(measured).length > 0 && { measured }),
      ...(flags.accept.length > 0 && { accept: flags.accept }),
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
  const bytes = await ofKind(files, path, option);
  if (bytes === undefined) return undefined;
  const { readGivenManifest } = await import("../review/manifest.js");
  // The file is read here, so that a fault has the name of the file.
  const read = await files.decodedAsync(path, () => readGivenManifest("", bytes));
  return read && bytes;
}
