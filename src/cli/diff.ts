/** `bootproof diff`: shows what changed between two files, and what the changes mean. It verifies neither file. */
import type { Difference } from "../diff/diff.js";
import type { Side } from "../diff/sides.js";
import { MalformedError } from "../errors.js";
import type { Format } from "../report/report.js";
import { commandOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { type InputFiles, STDIN, readerBeside } from "./files.js";
import { type Io, textOptions } from "./io.js";
import { areFolders, readFolders } from "./release-folders.js";

const EXAMPLES = `
Two boot proofs, attestation documents, manifests, envelopes, policies, releases, bundles or pages (the evidence in them
is compared), recognised by content. A boot proof can also be compared with a document, a manifest or an envelope: only
that part is compared. Critical changes come first: other operators, a roll-back, debug mode, another role; for a
policy, anything that newly passes.

Two enclave images (EIF): which sections differ, which files in their ramdisks, and which PCRs change.

A policy and a boot proof or document: which pins of the nearest deployment hold, which differ, and what is not pinned.

Examples:
    $ bootproof diff yesterday.json today.json
    $ bootproof diff policy.json edited-policy.json
    $ bootproof diff policy.json boot.json
    $ bootproof diff first.eif second.eif
    $ bootproof diff releases/2026.8.3/signer releases/2026.9.0/signer
    $ git show HEAD:policy.json | bootproof diff - policy.json --format json

Exit codes: 0 the same, 1 different, 2 wrong usage, unreadable or malformed files, or kinds that cannot be compared.`;

export const addDiffCommand = commandOf<"diff", [a: string, b: string]>(
  "diff",
  { help: EXAMPLES },
  async ({ args, flags: { format }, files, io }, a, b) => {
    args.throwFaults();
    const difference = (await areImages([a, b])) ? await diffOfImages(files, [a, b], io) : await diffOf(files, a, b);
    files.throwFaults();
    io.stdout.write(await textOf(difference!, format, io));
    return difference!.same ? EXIT.good : EXIT.different;
  },
);

async function textOf(difference: Difference, format: Format, io: Io): Promise<string> {
  if (format === "json") return (await import("../report/json.js")).renderJson(difference);
  return (await import("../diff/text.js")).renderDiff(difference, textOptions(io));
}

async function diffOf(files: InputFiles, a: string, b: string): Promise<Difference | undefined> {
  const { compareSides } = await import("../diff/diff.js");
  const [before, after] = [await sideOf(files, a), await sideOf(files, b)];
  files.throwFaults();
  return files.decoded(`${a} and ${b}`, () => compareSides(before!, after!));
}

/** Whether all files begin as an enclave image does. They are read in chunks, so none of them is stdin. */
async function areImages(paths: readonly string[]): Promise<boolean> {
  const { isImageStart } = await import("../image/header.js");
  const { firstBytesOf } = await import("./streams.js");
  return paths.every((path) => path !== STDIN && isImageStart(firstBytesOf(path)));
}

async function diffOfImages(files: InputFiles, paths: readonly string[], io: Io): Promise<Difference | undefined> {
  const { contentsOf } = await import("./built.js");
  const [before, after] = [await contentsOf(files, paths[0], io), await contentsOf(files, paths[1], io)];
  files.throwFaults();
  const { diffImages } = await import("../diff/diff.js");
  return diffImages(before!, after!);
}

async function sideOf(files: InputFiles, path: string): Promise<Side | undefined> {
  if (areFolders([path])[0] === true) return sideOfFolder(files, path);
  const { readSide } = await import("../diff/sides.js");
  const file = (await files.evidence(path))?.bytes;
  const readYaml = async (text: string): Promise<unknown> => {
    const { parseYaml } = await import("./read-yaml.js");
    const release = await parseYaml(files, path, text);
    // The faults are already in `files`.
    if (release === undefined) throw new MalformedError("release", []);
    return release;
  };
  return file && files.decodedAsync(path, () => readSide({ file, readFile: readerBeside(path), readYaml }));
}

/** Reads the release of one application as a manifest envelope, since both are a manifest with approvals. */
async function sideOfFolder(files: InputFiles, path: string): Promise<Side | undefined> {
  const { releases } = await readFolders([path], files);
  const [release, ...others] = releases;
  if (release === undefined) return undefined;
  if (others.length > 0)
    return files.fault(path, `${releases.length} releases: name one application, such as ${release.name}`);
  const { manifest, approvals, faults } = release;
  for (const { file, message } of faults) files.fault(file, message);
  if (manifest === null) return undefined;
  const { envelopeSide } = await import("../diff/sides.js");
  const manifestSetApprovals = approvals.map(({ signature, member }) => ({ signature, member }));
  return envelopeSide({ manifest, manifestSetApprovals, shareSetApprovals: [] });
}
