/** `bootproof log`: checks that a log of `bootproof watch` is intact. */
import { basename } from "node:path";
import { fromHex } from "../bytes.js";
import { jsonDocument } from "../report/json.js";
import { printable } from "../report/printable.js";
import { listed } from "../errors.js";
import type { LogStream, LogVerification, VerifyLogOptions } from "../watch/index.js";
import { commandOf, groupOf } from "./command.js";
import { EXIT } from "./exit-codes.js";
import { type InputFiles, STDIN, nameOf } from "./files.js";
import { type Io, UsageError } from "./io.js";
import { readLogKey } from "./key-files.js";
import type { Flags } from "./option-table.js";
import { formatOf } from "./option-values.js";
import type { ArgumentReader } from "./options.js";
import { requireWritable, writeWhole } from "./write-whole.js";

const LOG_HELP = `
bootproof watch --log writes a log: a line of JSON for each new boot proof, with its verdict, its evidence, and the hash
of the line before. Any tool for JSON Lines can read it, and each line is evidence:
    $ sed -n 3p watch.jsonl | bootproof verify --boot-proof - --policy policy.json`;

const VERIFY_HELP = `
Each line has the hash of the one before, so a line that was removed, edited, inserted, copied or moved is found and
named. The count of entries and the head are those before the first bad line. The chain alone does not show lines cut
off at the end, a change of the last line, or a log that was rewritten as a whole. For these, keep a checkpoint (or the
printed head) in another place. A log that has grown since its checkpoint is whole.

A log of watch --rotate is several files: name them in their order. A later file alone (boots.2.jsonl) is checked from
its own first line.

Examples:
    $ bootproof log verify watch.jsonl
    $ bootproof log verify watch.jsonl --head 5e88…   (64 hex digits)
    $ bootproof log verify boots.jsonl boots.2.jsonl boots.3.jsonl --checkpoint boots.note --key log-public.pem
    $ bootproof log verify watch.jsonl --format json

Exit codes: 0 whole, 1 broken, its last line is another one, or not the log of the checkpoint, 2 a missing or
unreadable file.`;

const CHECKPOINT_HELP = `
The log is verified, and the hash of its last entry signed, as a C2SP signed note. Keep the note where who can write
the log cannot, and pass it to log verify.

Examples:
    $ openssl genpkey -algorithm ed25519 -out log-key.pem && openssl pkey -in log-key.pem -pubout -out log-public.pem
    $ bootproof log checkpoint watch.jsonl --key log-key.pem --out watch.note
    $ bootproof log checkpoint boots.jsonl boots.2.jsonl --key log-key.pem --origin bootproof-log/signer

Exit codes: 0 signed, 1 the log is broken, and nothing is signed, 2 a missing or unreadable file.`;

const addVerify = commandOf<"log verify", [paths: string[]]>(
  "log verify",
  {
    description: "Check that every line of a log is as written, and report how the first wrong line was changed.",
    help: VERIFY_HELP,
  },
  async ({ args, flags, files, io }, paths) => {
    const format = formatOf(args, flags.format);
    refuseDemands(args, flags);
    const demands = await demandsOf(flags, files, io);
    const options = { ...demands, ...(isLaterName(paths[0]!) && { after: "any" as const }) };
    const verification = await verified(paths, options, io, flags.checkpoint);
    const { fault, entries, intact } = verification;
    const names = listed(paths.map(nameOf), ", ");
    if (entries === 0 && fault === null && Object.keys(demands).length === 0)
      throw new UsageError([{ message: "empty: the log has no entries", file: names }]);
    io.stdout.write(format === "json" ? jsonDocument(verification) : text(fault?.file ?? names, verification));
    return intact ? EXIT.good : EXIT.rejected;
  },
);

function refuseDemands(args: ArgumentReader, { head, checkpoint, key, origin }: Flags<"log verify">): void {
  if (head !== undefined && !args.isEmpty("head") && fromHex(head)?.length !== 32)
    args.fault("--head: expected 64 hex digits, as bootproof log verify prints them");
  for (const [name, value] of Object.entries({ key, origin }))
    if (value !== undefined && checkpoint === undefined) args.fault(`--${name}: only with --checkpoint`);
  args.throwFaults();
}

/** What the command line demands of the log. */
type Demands = Pick<VerifyLogOptions, "head" | "checkpoint" | "key" | "origin">;

async function demandsOf(
  { head, checkpoint: path, key, origin }: Flags<"log verify">,
  files: InputFiles,
  io: Io,
): Promise<Demands> {
  const demands = { ...(head !== undefined && { head }) };
  if (path === undefined) return demands;
  const checkpoint = await files.raw(path);
  files.throwFaults();
  return {
    ...demands,
    checkpoint: checkpoint!,
    ...(key !== undefined && { key: await readLogKey(key, "public", io) }),
    ...(origin !== undefined && { origin }),
  };
}

/**
 * Returns whether this is the name of a later file of a log. Only the name decides whether the first entries may be
 * missing, since the caller chose it.
 */
function isLaterName(path: string): boolean {
  const number = /\.([1-9][0-9]{0,8})(?:\.[^.]*)?$/.exec(basename(path))?.[1];
  return number !== undefined && Number(number) > 1;
}

/** Verifies the files. `note` is the path of the checkpoint, for messages. */
async function verified(
  paths: readonly string[],
  options: VerifyLogOptions,
  io: Io,
  note: string | undefined,
): Promise<LogVerification> {
  const [{ verifyLog }, { readLog }] = await Promise.all([import("../watch/index.js"), import("../watch/node.js")]);
  let reading = "";
  const streamOf = async function* (path: string): LogStream & AsyncGenerator<Uint8Array> {
    reading = nameOf(path);
    io.progress(`reading ${reading}`);
    yield* path === STDIN ? io.stdin : readLog(path);
  };
  try {
    return await verifyLog(
      paths.map((path) => ({ name: nameOf(path), stream: streamOf(path) })),
      options,
    );
  } catch (error) {
    const { name, message } = error as Error;
    if (name === "LogError") throw new UsageError([{ message, file: reading }]);
    if (name === "MalformedError" && note !== undefined) throw new UsageError([{ message, file: nameOf(note) }]);
    throw error;
  }
}

function text(name: string, { intact, entries, firstAt, lastAt, head, fault, open }: LogVerification): string {
  const count = entries === 1 ? "1 entry" : `${entries} entries`;
  const span = firstAt === null ? "" : `, ${firstAt} to ${lastAt!}`;
  const found = fault === null ? `${count}${span}` : printable(fault.message);
  const lines = [
    `${intact ? "WHOLE" : "BROKEN"}: ${printable(name)}: ${found}`,
    ...(fault === null ? [] : [`Whole up to there: ${count}${span}`]),
    `Head: ${head}`,
    ...open.map((one) => `Not checked: ${printable(one)}`),
  ];
  return `${lines.join("\n")}\n`;
}

const addCheckpoint = commandOf<"log checkpoint", [paths: string[]]>(
  "log checkpoint",
  {
    description: "Verify a log, and sign the number and the hash of its last entry. Others keep the signed note.",
    help: CHECKPOINT_HELP,
  },
  async ({ args, flags: { key, origin, out = STDIN }, io }, paths) => {
    if (key === undefined) args.fault("--key FILE is required: openssl genpkey -algorithm ed25519 makes one");
    if (paths[0] === STDIN && origin === undefined) args.fault("--origin is required for a log on stdin");
    requireOrigin(args, origin);
    args.throwFaults();
    const privateKey = await readLogKey(key!, "private", io);
    if (out !== STDIN) requireWritable(out);
    const { originOf, signCheckpoint } = await import("../watch/index.js");
    const verification = await verified(paths, {}, io, undefined);
    const { intact, entries, head, fault } = verification;
    if (!intact) {
      io.stderr.write(text(fault?.file ?? listed(paths.map(nameOf), ", "), verification));
      return EXIT.rejected;
    }
    const note = await signCheckpoint({ origin: origin ?? originOf(basename(paths[0]!)), entries, head }, privateKey);
    if (out === STDIN) io.stdout.write(note);
    else await writeWhole(out, note);
    return EXIT.good;
  },
);

export const addLogCommand = groupOf(
  { description: "Verify the log that bootproof watch keeps.", help: LOG_HELP },
  {
    verify: {
      summary: "check that every line is as it was written, and name the first line that is not",
      operands: { "<file...>": "the log, or its files in their order; - for stdin" },
      add: addVerify,
    },
    checkpoint: {
      summary: "sign the number and the hash of the last entry, for others to keep",
      operands: { "<file...>": "the log, or all its files in their order; - for stdin" },
      add: addCheckpoint,
    },
  },
);

/** Checks the origin as the library does, so that a bad one is found before any work. */
export function requireOrigin(args: ArgumentReader, origin: string | undefined): void {
  if (origin !== undefined && !args.isEmpty("origin") && !/^bootproof-log\/[^\p{White_Space}\p{C}+]+$/u.test(origin))
    args.fault("--origin: expected bootproof-log/ and a name without spaces and plus signs");
}
