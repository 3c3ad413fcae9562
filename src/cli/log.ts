/** `bootproof log`: checks that the results of `bootproof watch` or `bootproof audit` are intact. */
import { createPublicKey } from "node:crypto";
import { basename } from "node:path";
import { jsonDocument } from "../report/json.js";
import { printable } from "../report/printable.js";
import { listed } from "../errors.js";
import type { RunStream } from "../run/chain.js";
import type { RunVerification, VerifyRunOptions } from "../run/index.js";
import type { SignedCheckpoint } from "../run/checkpoint.js";
import { commandOf, groupOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { type InputFiles, STDIN, nameOf } from "./files.js";
import { type Io, RefusedError, UsageError } from "./io.js";
import { readLogKey } from "./key-files.js";
import type { Flags } from "./option-table.js";
import type { ArgumentReader } from "./options.js";
import { deliverNew } from "./output.js";
import { runProblem } from "./queue.js";
import { requireWritable } from "./write-whole.js";

const LOG_HELP = `
bootproof watch --log and bootproof audit write the same file: a line of JSON for each result, with its verdict and the
hash of the line before. Any tool for JSON Lines can read it, and each result of a watch is evidence:
    $ sed -n 3p watch.jsonl | bootproof verify --boot-proof - --policy policy.json`;

const VERIFY_HELP = `
Each line has the hash of the one before, so the first line that does not follow is found and named. The count of lines
and the head are those before it. The chain alone does not show lines cut off at the end, a change of the last line, or
a file that was rewritten as a whole. For these, keep a checkpoint (or the printed head) in another place. A file that
has grown since its checkpoint is whole.

A log that was renamed goes on in another file: name them in their order. The result is INCOMPLETE if the first file
begins with a later line, and if the checkpoint came without --key. Where old files are archived, --after NOTE names a
checkpoint that vouches for their lines.

A watch records its starts, its stops and, each hour, a sign of life. --max-gap finds when it was not running.

Examples:
    $ bootproof log verify watch.jsonl --max-gap 2h
    $ bootproof log verify results.jsonl --head 5e88…   (64 hex digits)
    $ bootproof log verify boots.jsonl.2 boots.jsonl.1 boots.jsonl --checkpoint boots.note --key log-public.pem
    $ bootproof log verify boots.jsonl --after boots.note --key log-public.pem
    $ bootproof log verify watch.jsonl --format json

Exit codes: 0 whole, or incomplete with --partial, 1 broken, not the file of a checkpoint, incomplete, or a gap, 2 a
missing or unreadable file, or one without results.`;

const CHECKPOINT_HELP = `
The file is verified, and the hash of its last line signed, as a C2SP signed note. Keep the note where who can write the
file cannot, and pass it to log verify. All files are needed. A note that is at --out is replaced only if it is signed
by the key, has the same origin, and names a line of this file.

With --after, the files up to the one with the line of that note may be missing, and the note, as the one at --out, may
be signed by another key: the second --key, a public one.

Examples:
    $ openssl genpkey -algorithm ed25519 -out log-key.pem && openssl pkey -in log-key.pem -pubout -out log-public.pem
    $ bootproof log checkpoint watch.jsonl --key log-key.pem --out watch.note
    $ bootproof log checkpoint boots.jsonl --key new-key.pem --after boots.note --key log-public.pem --out boots.note

Exit codes: 0 signed, 1 nothing is signed: the file is broken or not complete, or a note is not of this file and key, 2
a missing or unreadable file.`;

const addVerify = commandOf<"log verify", [paths: string[]]>(
  "log verify",
  { help: VERIFY_HELP },
  async ({ args, flags, files, io }, paths) => {
    const { format, maxGap: maxGapMs } = flags;
    const times = maxGapMs === undefined ? {} : { maxGapMs, now: io.now() };
    args.throwFaults();
    const notes = await notesOf(flags, await publicKeys(flags.key, io), files);
    const demands = { ...notes, ...(flags.head !== undefined && { head: flags.head }) };
    const verification = await verified(paths, { ...demands, ...times }, io);
    const { fault, entries, intact, complete, gaps } = verification;
    const names = listed(paths.map(nameOf), ", ");
    if (entries === 0 && fault === null && Object.keys(demands).length === 0)
      throw new UsageError([{ message: "empty: it has no lines", file: names }]);
    io.stdout.write(format === "json" ? jsonDocument(verification) : text(fault?.file ?? names, verification));
    return gaps.length === 0 && (flags.partial === true ? intact : complete) ? EXIT.good : EXIT.rejected;
  },
);

function publicKeys(paths: readonly string[], io: Io): Promise<string[]> {
  return Promise.all(paths.map((path) => readLogKey(path, "public", io)));
}

async function notesOf(
  { checkpoint: path, after: afterPath, origin }: Pick<Flags<"log verify">, "checkpoint" | "after" | "origin">,
  keys: readonly string[],
  files: InputFiles,
): Promise<{ after?: SignedCheckpoint; checkpoint?: SignedCheckpoint }> {
  const after = afterPath === undefined ? undefined : await noteAt(afterPath, keys, files, origin);
  const checkpoint = path === undefined ? undefined : await noteAt(path, keys, files, origin ?? after?.origin);
  return { ...(after && { after }), ...(checkpoint && { checkpoint }) };
}

/** Reads a note that one of the keys must have signed. Without keys, its signature is not checked. */
async function noteAt(
  path: string,
  keys: readonly string[],
  files: InputFiles,
  origin?: string,
): Promise<SignedCheckpoint> {
  const bytes = await files.raw(path);
  files.throwFaults();
  const { readCheckpoint } = await import("../run/index.js");
  let message = "";
  for (const key of keys.length === 0 ? [undefined] : keys)
    try {
      const demands = { ...(key !== undefined && { key }), ...(origin !== undefined && { origin }) };
      return await readCheckpoint(bytes!, demands);
    } catch (error) {
      ({ message } = error as Error);
      if ((error as Error).name === "MalformedError") throw new UsageError([{ message, file: nameOf(path) }]);
      if ((error as Error).name !== "CheckpointError") throw error;
    }
  throw new RefusedError([{ message, file: nameOf(path) }]);
}

async function verified(paths: readonly string[], options: VerifyRunOptions, io: Io): Promise<RunVerification> {
  const [{ verifyRun }, { readRunFile, sha256Hex }] = await Promise.all([
    import("../run/index.js"),
    import("../run/node-file.js"),
  ]);
  const streamOf = async function* (path: string): AsyncGenerator<Uint8Array> {
    io.progress(`reading ${nameOf(path)}`);
    let isFirst = true;
    for await (const piece of path === STDIN ? io.stdin : readRunFile(path)) {
      if (isFirst) await refuseOther(path, piece);
      isFirst = false;
      yield piece;
    }
  };
  const files = paths.map((path): RunStream => ({ name: nameOf(path), stream: streamOf(path) }));
  return verifyRun(files, { ...options, hashOf: sha256Hex }).catch((error: unknown) => {
    throw runProblem(error);
  });
}

/** Refuses a file of which no line is a result. A damaged one is broken instead, and so are earlier formats. */
async function refuseOther(path: string, start: Uint8Array): Promise<void> {
  if (/"(?:bootproof-(?:run|log)\/|verdict":")/.test(Buffer.from(start).toString("latin1"))) return;
  const [{ kindOf, kindSentence }, { describeUnrecognised }] = await Promise.all([
    import("../inspect/kinds.js"),
    import("../inspect/unrecognised.js"),
  ]);
  const kind = kindOf(start);
  const message = kind === null ? describeUnrecognised(start) : kindSentence(kind);
  const advice = "Expected the file that bootproof watch --log or bootproof audit --out writes.";
  throw new UsageError([{ file: nameOf(path), message, advice }]);
}

function text(name: string, verification: RunVerification): string {
  const { intact, entries, firstAt, lastAt, head, fault, open, missing, gaps, backwards, lastSign } = verification;
  const span = firstAt === null ? "" : `, ${firstAt} to ${lastAt!}`;
  const count = `${entries === 1 ? "1 line" : `${entries} lines`}${span}`;
  const found = [
    ...(fault === null ? [] : [`BROKEN: ${name}: ${fault.message}`]),
    ...(intact ? gaps.map((gap) => `GAP: ${name}: ${gapText(gap)}`) : []),
    ...(intact ? missing.map((one) => `INCOMPLETE: ${name}: ${one}`) : []),
  ];
  const upTo = intact ? "Verified" : "Whole up to there";
  const lines = [
    ...(found.length === 0 ? [`WHOLE: ${name}: ${count}`] : [...found, `${upTo}: ${count}`]),
    `Head: ${head}`,
    ...(lastSign === null ? [] : [`Newest start or sign of life: ${lastSign}`]),
    ...backwards.map(({ entry, from, to }) => `Time goes backwards after line ${entry}: from ${from} to ${to}`),
    ...[...(intact ? [] : missing), ...open].map((one) => `Not checked: ${one}`),
  ];
  return lines.map((line) => `${printable(line)}\n`).join("");
}

function gapText({ entry, from, to }: RunVerification["gaps"][number]): string {
  const hours = (Date.parse(to) - Date.parse(from)) / 3_600_000;
  return `no line for ${hours.toFixed(1)} hours after line ${entry}, from ${from} to ${to}`;
}

const addCheckpoint = commandOf<"log checkpoint", [paths: string[]]>(
  "log checkpoint",
  { help: CHECKPOINT_HELP },
  async ({ args, flags, files, io }, paths) => {
    refuseSigning(args, flags, paths);
    const { out = STDIN } = flags;
    const [signing, verifying] = await checkpointKeys(flags.key, io);
    const { originOf, signCheckpoint } = await import("../run/index.js");
    const named = flags.after === undefined ? { origin: originOf(basename(paths[0]!)), ...flags } : flags;
    const replaced = out !== STDIN && requireWritable(out) ? { checkpoint: out } : {};
    const notes = await notesOf({ ...named, ...replaced }, verifying, files);
    const verification = await verified(paths, notes, io);
    const { complete, lastEntry: entries, head, fault } = verification;
    if (!complete) {
      io.stderr.write(`${text(fault?.file ?? listed(paths.map(nameOf), ", "), verification)}Nothing was signed.\n`);
      return EXIT.rejected;
    }
    const note = await signCheckpoint({ origin: named.origin ?? notes.after!.origin, entries, head }, signing);
    await deliverNew(note, { out, was: files.contents.get(out) }, `which signs ${entries} lines`, io);
    return EXIT.good;
  },
);

function refuseSigning(args: ArgumentReader, flags: Flags<"log checkpoint">, [first]: readonly string[]): void {
  const { key, after, origin } = flags;
  if (key.length > 1 && after === undefined) args.fault("--key: a second key requires --after");
  if (first === STDIN && (origin ?? after) === undefined) args.fault("--origin is required for a log on stdin");
  args.throwFaults();
}

/** Returns the key that signs, and the public keys of which one must have signed each older note. */
async function checkpointKeys([first, ...others]: readonly string[], io: Io): Promise<[string, readonly string[]]> {
  const signing = await readLogKey(first!, "private", io);
  const own = createPublicKey(signing).export({ type: "spki", format: "pem" }).toString();
  return [signing, [own, ...(await publicKeys(others, io))]];
}

export const addLogCommand = groupOf(
  { help: LOG_HELP },
  {
    verify: {
      summary: "check that every line follows the line before, and name the first that does not",
      operands: { "<file...>": "the file, or all files of its chain in their order; - for stdin" },
      add: addVerify,
    },
    checkpoint: {
      summary: "sign the number and the hash of the last line, for others to keep",
      operands: { "<file...>": "the file, or all files of its chain in their order; - for stdin" },
      add: addCheckpoint,
    },
  },
);
