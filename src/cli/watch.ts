/** `bootproof watch`: hears of every new boot of applications, verifies it, and keeps a log of it. */
import type { Command } from "commander";
import type { PlainPolicy } from "../appraise/plain-policy.js";
import { duration } from "../appraise/shapes.js";
import { readShape } from "../decode/shapes.js";
import { fromUtf8 } from "../bytes.js";
import { printable, quoted } from "../report/printable.js";
import type { Format } from "../report/report.js";
import type { LogEntry, LogLine, WatchMessage, WatchOptions, WatchSummary, Watched } from "../watch/index.js";
import type { OpenedLog } from "../watch/node.js";
import {
  CONNECTION_HELP,
  type Connection,
  type ConnectionFlags,
  addConnectionOptions,
  connect,
  connectionOf,
} from "./connection.js";
import { EXIT } from "./exit-codes.js";
import { InputFiles, STDIN } from "./files.js";
import { Interruption } from "./interruption.js";
import { type Io, UnreachableError, UsageError } from "./io.js";
import { ArgumentReader, ephemeralKeyOf } from "./options.js";

interface WatchFlags extends ConnectionFlags {
  readonly app?: string[];
  readonly ephemeralKey?: string[];
  readonly policy?: string;
  readonly interval?: string;
  readonly log?: string;
  readonly onRefusal?: string;
  readonly once?: boolean;
  readonly format?: string;
}

/** A command line that makes sense. */
interface WatchRequest {
  readonly apps: readonly string[];
  readonly ephemeralKeys: readonly string[];
  readonly policy: string;
  readonly intervalMs: number;
  readonly log: string | undefined;
  readonly onRefusal: string | undefined;
  readonly once: boolean;
  readonly format: Format;
  readonly connection: Connection;
}

const EXAMPLES = `
Each poll asks for the newest boot proof of each application, and verifies it as of now: one that becomes older than the
policy allows is noticed, too. A line is written for each boot proof that is new, and where the verdict of one changes.
Outages are told on stderr, once when they begin and once when they end, and never end the watch.

With --log, each entry is on the disk, with its evidence, before a refusal is handed on; a refusal that was not handed
on is handed on after a restart. Ctrl-C ends it; --once is for cron.

Examples:
    $ bootproof watch --app signer policy-engine --policy policy.json --log watch.jsonl
    $ bootproof watch --app signer --policy policy.json --log watch.jsonl --on-refusal "mail -s REJECTED ops"
    $ bootproof watch --app signer --policy policy.json --log watch.jsonl --on-refusal https://alerts.example.com/hook
    $ bootproof watch --app signer --policy policy.json --once
    $ bootproof log verify watch.jsonl
${CONNECTION_HELP}

Exit codes: 0 ended as asked, and the newest verdict of each is good; 1 that of one is rejected; 2 wrong usage, a broken
log, or one that cannot be written; 3 one could not be fetched at the last poll, or the credentials are refused at the
first.`;

export function addWatchCommand(program: Command, io: Io, finish: (code: number) => void): void {
  const command = addConnectionOptions(
    program
      .command("watch")
      .summary("keep watch over applications: every new boot proof is verified and logged")
      .description("Follow the newest boot proofs of applications, or of keys, and hold each against a policy.")
      .option("--app <name...>", "applications, each by the boot proof of its enclave that booted last")
      .option("--ephemeral-key <hex...>", "keys, each by its boot proof, beside applications or in their place")
      .option("--policy <file>", "the policy that pins what is expected (see bootproof pin)")
      .option("--interval <duration>", "from one poll to the next: 1s to 1d (default: 60s)")
      .option("--log <file>", "keep the entries there: a log that is only added to (see bootproof log verify)")
      .option(
        "--on-refusal <command>",
        "what is told of each rejected boot proof: a command, by the shell, with the entry on its stdin; or an " +
          "http(s):// URL, which it is posted to",
      )
      .option("--once", "one poll, and exit")
      .option("--format <format>", "text or json: a line for each entry, of the log in JSON (default: text)"),
  )
    .usage("--app NAME… --policy FILE [--interval 60s] [--log FILE] [--on-refusal COMMAND|URL] [connection]")
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async (flags: WatchFlags) => {
    finish(await run(requestOf(args, flags, io), io));
  });
}

function requestOf(args: ArgumentReader, flags: WatchFlags, io: Io): WatchRequest {
  args.refuseRepeated();
  const { app: apps = [], ephemeralKey: ephemeralKeys = [], policy, interval = "60s", log, once = false } = flags;
  if (apps.length + ephemeralKeys.length === 0)
    args.fault("--app NAME (or --ephemeral-key HEX) is wanted: what is watched?");
  if (policy === undefined) args.fault("--policy FILE is wanted: what is expected? bootproof pin makes one");
  for (const key of ephemeralKeys) ephemeralKeyOf(args, key);
  args.refuseTwice("--app", apps);
  args.refuseTwice(
    "--ephemeral-key",
    ephemeralKeys.map((key) => key.toLowerCase()),
  );
  if (log === STDIN) args.fault("--log -: a log is a file; without --log, entries go to stdout alone");
  if (flags.onRefusal !== undefined) refuseAddress(args, flags.onRefusal);
  const intervalMs = intervalOf(args, interval);
  const format = args.format(flags.format);
  const connection = connectionOf(args, flags, io);
  args.throwFaults();
  return {
    apps,
    ephemeralKeys,
    policy: policy!,
    intervalMs: intervalMs!,
    log,
    onRefusal: flags.onRefusal,
    once,
    format,
    connection: connection!,
  };
}

const DAY_MS = 86_400_000;

/** As policies have durations. */
function intervalOf(args: ArgumentReader, text: string): number | undefined {
  if (args.isEmpty("interval")) return undefined;
  const milliseconds = readShape(duration, text).value;
  return milliseconds !== undefined && milliseconds <= DAY_MS
    ? milliseconds
    : args.fault(`--interval ${text}: a duration such as 60s, 5m or 1h wanted, of a day at most`);
}

/** An address, where it is one and no command. */
function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

function refuseAddress(args: ArgumentReader, text: string): void {
  if (!isAddress(text)) return;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username + url.password !== "")
    args.fault("--on-refusal: an address such as https://alerts.example.com/hook wanted, without user and password");
}

async function run(request: WatchRequest, io: Io): Promise<number> {
  // Listened for before anybody can know that there is something to end.
  const interruption = new Interruption();
  let log: OpenedLog | undefined;
  try {
    const policy = await readPolicy(request.policy, io);
    const client = await connect(request.connection, io);
    const { askService } = await import("../watch/index.js");
    if (request.log !== undefined) log = await opened(request.log, io);
    const summary = await watching(
      {
        ...(await optionsOf(request, io)),
        policy,
        newest: askService(client),
        signal: interruption.signal,
        ...(log && { log }),
      },
      request,
      io,
    );
    if (summary.waiting) io.stderr.write(waitingText(request));
    return exitCodeOf(summary);
  } finally {
    await log?.close();
    interruption.forget();
  }
}

/** As plain data: what verifies is another copy of the library than this file's. */
async function readPolicy(path: string, io: Io): Promise<PlainPolicy> {
  const [{ readPolicyFile }, { plainPolicy }] = await Promise.all([
    import("./policy.js"),
    import("../appraise/plain-policy.js"),
  ]);
  const files = new InputFiles(io);
  const read = await readPolicyFile(files, path, { command: "watch", option: "--policy" });
  files.throwFaults();
  return plainPolicy(read!.policy);
}

async function opened(path: string, io: Io): Promise<OpenedLog> {
  const { LogError, LogInUseError, openLog } = await import("../watch/node.js");
  try {
    return await openLog(path, { onNote: (text) => io.stderr.write(`note: ${printable(`${path}: ${text}`)}\n`) });
  } catch (error) {
    if (error instanceof LogError || error instanceof LogInUseError) throw logProblem(path, error.message);
    throw error;
  }
}

function logProblem(path: string, message: string): UsageError {
  return new UsageError([{ message, file: path }]);
}

async function optionsOf(request: WatchRequest, io: Io): Promise<Omit<WatchOptions, "policy" | "newest">> {
  const { SYSTEM, runCommand } = await import("../watch/node.js");
  const { postTo } = await import("../watch/index.js");
  const { apps, ephemeralKeys, intervalMs, once, onRefusal, format } = request;
  const handOn =
    onRefusal === undefined || !isAddress(onRefusal)
      ? onRefusal && runCommand(onRefusal, { env: io.env })
      : postTo(onRefusal, { fetch: (input, init) => fetch(input, init), sleep: SYSTEM.sleep });
  return {
    ...SYSTEM,
    now: io.now,
    apps,
    ephemeralKeys,
    intervalMs,
    once,
    onEntry: (line) => io.stdout.write(format === "json" ? jsonOf(line) : entryText(line.entry)),
    onMessage: (message) => io.stderr.write(messageText(message, once)),
    ...(handOn && { onRefusal: handOn }),
  };
}

async function watching(options: WatchOptions, { log, connection }: WatchRequest, io: Io): Promise<WatchSummary> {
  const [{ FetchError, watch }, { LogError }] = await Promise.all([
    import("../watch/index.js"),
    import("../watch/node.js"),
  ]);
  if (!options.once) io.progress("watching; Ctrl-C ends it");
  try {
    return await watch(options);
  } catch (error) {
    if (error instanceof FetchError)
      throw new UnreachableError([printable(`${connection.baseUrl}: nothing is watched: ${error.message}`)]);
    if (error instanceof LogError && log !== undefined)
      throw logProblem(log, `the watch ended, since its log cannot be kept: ${error.message}`);
    throw error;
  }
}

function exitCodeOf({ refused, unfetched }: WatchSummary): number {
  if (refused.length > 0) return EXIT.rejected;
  return unfetched.length > 0 ? EXIT.unreachable : EXIT.good;
}

function waitingText({ log }: WatchRequest): string {
  const after = log === undefined ? "and without --log it is lost" : "and is when the watch goes on with this log";
  return `warning: a refusal was not handed on, ${after}\n`;
}

/** The line of the log. */
function jsonOf({ bytes }: LogLine): string {
  return `${fromUtf8(bytes)!}\n`;
}

/** Characters of each reason. */
const MAX_DETAIL = 200;

/** One line of what was found; what evidence chose is printable in it. */
function entryText(entry: LogEntry): string {
  const { n, at, verdict, failed, deployment } = entry;
  const reasons = failed.map(({ id, detail }) => `${id} (${printable(detail.slice(0, MAX_DETAIL))})`);
  const stale = entry.stale ? ", for its age alone" : "";
  const why = verdict === "rejected" ? `${stale}: ${reasons.join("; ")}` : deploymentText(deployment);
  return `${at} #${n} ${verdict.toUpperCase()} ${nameOfEntry(entry)}${why}\n`;
}

function deploymentText(deployment: string | null): string {
  return deployment === null ? "" : ` as ${quoted(deployment)}`;
}

function nameOfEntry({ app, ephemeralKey }: LogEntry): string {
  return nameOf(app === null ? { ephemeralKey: ephemeralKey! } : { app });
}

const SHOWN_DIGITS = 16;

function nameOf(watched: Watched): string {
  return "app" in watched ? printable(watched.app) : `key ${watched.ephemeralKey.slice(0, SHOWN_DIGITS)}…`;
}

function namesOf(watched: readonly Watched[]): string {
  return watched.map(nameOf).join(", ");
}

const LOUD = {
  credentials: "NOT WATCHED",
  missing: "NOT WATCHED",
  answer: "not known",
  unreachable: "not known",
} as const;

function messageText(message: WatchMessage, once: boolean): string {
  const at = message.at.toISOString();
  switch (message.event) {
    case "outage": {
      const { watched, kind, again, since } = message;
      const still = again ? ` still, since ${since.toISOString()}` : "";
      const next = once ? "" : ". It is asked again";
      const said = message.message.replace(/\.$/, "");
      return `warning: ${at} ${namesOf(watched)}: ${LOUD[kind]}${still}: ${printable(said)}${next}\n`;
    }
    case "recovered": {
      const { watched, since, failedPolls } = message;
      const polls = failedPolls === 1 ? "1 poll" : `${failedPolls} polls`;
      return `note: ${at} ${namesOf(watched)}: answered again; not since ${since.toISOString()}, at ${polls}\n`;
    }
    case "not-handed-on": {
      const { n, attempts, tries } = message;
      const what = tries ? "it is tried again" : `given up after ${attempts} attempts`;
      return `warning: ${at} the refusal of entry ${n} was not handed on: ${printable(message.message)}; ${what}\n`;
    }
    case "handed-on":
      return `note: ${at} the refusal of entry ${message.n} was handed on at attempt ${message.attempts}\n`;
  }
}
