/** `bootproof policy sign` and the other commands of those who sign policies; `policy check` of a feed. */
import { fromBase64, fromUtf8 } from "../bytes.js";
import { jsonDocument } from "../report/json.js";
import { printable } from "../report/printable.js";
import type { Format } from "../report/report.js";
import type * as SignedPolicies from "../signed-policy/index.js";
import { writeText } from "../show/terminal.js";
import { commandOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { type InputFiles, STDIN } from "./files.js";
import { type Io, UsageError, answerTo, textOptions } from "./io.js";
import { readKey } from "./key-files.js";
import { type FileOption, ofKind } from "./kinds.js";
import { readPolicyFile } from "./option-files.js";
import type { CommandName, Flags } from "./option-table.js";
import type { ArgumentReader } from "./options.js";
import { deliverNew, isFileOut, refuseOut } from "./output.js";
import { requireWritable, writeWhole } from "./write-whole.js";

const library = (): Promise<typeof SignedPolicies> => import("../signed-policy/index.js");

type Bytes = Uint8Array | undefined;

/** Reads a file of a known kind. Undefined if the option is not given, or if the file has a fault. */
async function fileOf(files: InputFiles, path: string | undefined, option: FileOption): Promise<Bytes> {
  const { MAX_FEED_BYTES } = await import("../signed-policy/feed.js");
  return path === undefined ? undefined : ofKind(files, path, option, MAX_FEED_BYTES);
}

interface Proposal {
  readonly envelope: Uint8Array;
  readonly feed?: Uint8Array;
}

async function proposalIn(files: InputFiles, path: string, feedPath: string | undefined): Promise<Proposal> {
  const [envelope, feed] = [await fileOf(files, path, "ENVELOPE"), await fileOf(files, feedPath, "--feed")];
  files.throwFaults();
  return { envelope: envelope!, ...(feed && { feed }) };
}

interface Making {
  readonly args: ArgumentReader;
  readonly flags: Flags<"policy sign">;
  readonly files: InputFiles;
  readonly io: Io;
}

/** Writes the next version with the policy of the file, or of the feed. Tells of weaknesses of its set on stderr. */
async function makeVersion({ args, flags, files, io }: Making, path: string | null): Promise<number> {
  const { valid: validMs = 0 } = flags;
  await refuseOut(args, flags.out);
  args.throwFaults();
  const source = path === null ? undefined : await readPolicyFile(files, path, "POLICY");
  const signers = await fileOf(files, flags.signers, "--signers");
  const feed = await fileOf(files, flags.feed, "--feed");
  files.throwFaults();
  const key = await keyIn(flags.key, "policy sign", io);
  const [{ signPolicy, renewPolicy, reviewPolicy }, { selfContainedPolicy }] = await Promise.all([
    library(),
    import("../bundle/pack.js"),
  ]);
  const next = { now: io.now(), validMs, ...(key && { key }) };
  const before = feed && { feed };
  const policy = source && selfContainedPolicy(source.bytes, source.options);
  const envelope = await (policy
    ? signPolicy({ ...next, ...before, policy, ...(signers && { signers }) })
    : renewPolicy({ ...next, feed: feed! }));
  const { name, version, warnings } = await reviewPolicy({ envelope, ...before });
  await deliverNew(envelope, flags, `version ${version} of ${name}`, io);
  const lines = [
    ...(isFileOut(flags.out) ? [] : [`Version ${version} of ${name}`]),
    ...warnings.map((text) => `warning: ${text}`),
  ];
  io.stderr.write(lines.map((line) => `${printable(line)}\n`).join(""));
  return EXIT.good;
}

/** Reads a private key. Throws UsageError, also if other users can read its file. */
async function keyIn(
  path: string | undefined,
  command: CommandName,
  io: Io,
): Promise<SignedPolicies.PolicyKey | undefined> {
  if (path === undefined) return undefined;
  const { SignedPolicyError, readSigningKey } = await library();
  const faultOf = (error: unknown): string | null => (error instanceof SignedPolicyError ? error.message : null);
  return readKey(path, { command, isPrivate: "refused", read: readSigningKey, faultOf }, io);
}

export const addSign = commandOf<"policy sign", [policy: string]>(
  "policy sign",
  {
    description:
      "Make version 1 of a signed policy, or the version after the last one of --feed, with one signature. Without " +
      "--key it is a draft, which only cosign, review and to-sign read.",
  },
  async (task, path) => {
    if (task.flags.feed === undefined && task.flags.signers === undefined)
      task.args.fault("--signers FILE is required for version 1, and --feed FILE for any other version");
    return makeVersion(task, path);
  },
);

export const addRenew = commandOf("policy renew", {}, async (task) => makeVersion(task, null));

export const addReview = commandOf<"policy review", [envelope: string]>(
  "policy review",
  {
    description:
      "Show what a version changes against the one before it, in the words of bootproof diff. Nothing is signed. Use " +
      "a copy of the feed that you trust: the sets that it names sign it, and nothing says that they are yours.",
  },
  async ({ args, flags, files, io }, path) => {
    args.throwFaults();
    return showReview(await proposalIn(files, path, flags.feed), io);
  },
);

async function showReview(proposal: Proposal, io: Io): Promise<number> {
  const { versionDoc } = await import("../signed-policy/text.js");
  io.stdout.write(writeText(versionDoc(await (await library()).reviewPolicy(proposal)), textOptions(io)));
  return EXIT.good;
}

export const addCosign = commandOf<"policy cosign", [envelope: string]>(
  "policy cosign",
  {
    description:
      "Show what policy review shows, ask, and add a signature to the file: that of a key, or the one that a key " +
      "service made of the bytes of policy to-sign.",
  },
  async ({ args, flags, files, io }, path) => {
    if (path === STDIN) args.fault("stdin cannot be rewritten: give the file of the envelope");
    if (flags.key === undefined && flags.publicKey === undefined && flags.signature === undefined)
      args.fault("--key FILE, or --public-key FILE and --signature FILE, is required: who signs");
    if (flags.yes !== true && io.stdin.isTTY !== true)
      args.fault("--yes is required without a terminal that asks: bootproof policy review shows the version");
    args.throwFaults();
    const proposal = await proposalIn(files, path, flags.feed);
    const key = (await keyIn(flags.key, "policy cosign", io)) ?? (await attachedIn(flags, files));
    requireWritable(path);
    await showReview(proposal, io);
    if (flags.yes !== true && (await answerTo("Sign this version? Type yes: ", io)) !== "yes")
      throw new UsageError(["not signed: the answer was not yes"]);
    await writeWhole(path, await (await library()).cosignPolicy({ ...proposal, key }), proposal.envelope);
    io.stderr.write(`Signed: ${printable(path)}\n`);
    return EXIT.good;
  },
);

/** Reads a signature, raw or in base64, and the public key under which it was made. */
async function attachedIn(
  { publicKey = "", signature = "" }: Pick<Flags<"policy cosign">, "publicKey" | "signature">,
  files: InputFiles,
): Promise<{ readonly publicKey: string; readonly signature: Uint8Array }> {
  const [pem, bytes] = [await files.raw(publicKey), await files.raw(signature)];
  files.throwFaults();
  const base64 = fromBase64(fromUtf8(bytes!)?.replace(/\s/g, "") ?? "-");
  return { publicKey: fromUtf8(pem!) ?? "", signature: base64 ?? bytes! };
}

export const addToSign = commandOf<"policy to-sign", [envelope: string]>(
  "policy to-sign",
  {
    description:
      "Write the bytes that a key has to sign, for a key service, or with --digest their digest: SHA-256 for P-256, " +
      "SHA-384 for P-384.",
  },
  async ({ args, flags, files, io }, path) => {
    args.throwFaults();
    const { envelope } = await proposalIn(files, path, undefined);
    const pem = flags.publicKey === undefined ? undefined : await files.raw(flags.publicKey);
    files.throwFaults();
    const toSign = await (await library()).policyToSign({ envelope, ...(pem && { publicKey: fromUtf8(pem) ?? "" }) });
    io.stdout.write(flags.digest === true ? await toSign.digest() : toSign.bytes);
    return EXIT.good;
  },
);

export const addPublish = commandOf<"policy publish", [envelope: string]>(
  "policy publish",
  {
    description:
      "Append a version to the feed, if consumers that pin --policy-signers accept it. The feed is written as a " +
      "whole, under a lock.",
  },
  async ({ args, flags: { feed: path = "", policySigners }, files, io }, envelopePath) => {
    if (path === STDIN) args.fault("--feed -: a file is required");
    args.throwFaults();
    const signers = await fileOf(files, policySigners, "--policy-signers");
    await proposalIn(files, envelopePath, undefined);
    const isThere = requireWritable(path);
    const { InUseError, takeLock } = await import("../disk/lock.js");
    const lock = await takeLock(`${path}.lock`, "feed").catch((error: unknown) => {
      throw error instanceof InUseError ? new UsageError([{ file: path, message: error.message }]) : error;
    });
    try {
      const proposal = await proposalIn(files, envelopePath, isThere ? path : undefined);
      const text = await (await library()).publishPolicy({ ...proposal, signers: signers!, now: io.now() });
      await lock.requireHeld();
      await writeWhole(path, text, proposal.feed);
    } finally {
      await lock.release();
    }
    io.stderr.write(`Published: ${printable(path)}\n`);
    return EXIT.good;
  },
);

/** `policy check` of a feed. */
export async function checkFeedFile(
  paths: { readonly feed: string; readonly signers: string },
  { files, io, format }: { readonly files: InputFiles; readonly io: Io; readonly format: Format },
): Promise<number> {
  const feed = await fileOf(files, paths.feed, "--feed");
  const signers = await fileOf(files, paths.signers, "--policy-signers");
  files.throwFaults();
  const check = await (await library()).checkFeed({ feed: feed!, signers: signers!, now: io.now() });
  const { feedDoc } = await import("../signed-policy/text.js");
  io.stdout.write(format === "json" ? jsonDocument(check) : writeText(feedDoc(check), textOptions(io)));
  return check.faults.length === 0 ? EXIT.good : EXIT.rejected;
}
