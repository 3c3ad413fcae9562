/** `bootproof watch`: verifies every new boot of applications, and keeps a log. */
import type { Command } from "commander";
import { duration } from "../appraise/shapes.js";
import { readShape } from "../decode/shapes.js";
import { printable } from "../report/printable.js";
import type { Format } from "../report/report.js";
import type { WatchOptions, WatchSummary } from "../watch/index.js";
import type { OpenedLog } from "../watch/node.js";
import { CONNECTION_HELP, type Connection, connect, connectionOf } from "./connection.js";
import { EXIT } from "./exit-codes.js";
import { InputFiles, STDIN } from "./files.js";
import { Interruption } from "./interruption.js";
import { type Io, UnreachableError, UsageError } from "./io.js";
import { readPolicyFile } from "./option-files.js";
import { type Flags, addOptions } from "./option-table.js";
import { demandedProvenance, verifierFor } from "./provenance.js";
import { ephemeralKeyOf, formatOf } from "./option-values.js";
import { ArgumentReader } from "./options.js";
import { entryJson, entryText, messageText } from "./watch-text.js";

interface WatchRequest {
  readonly apps: readonly string[];
  readonly ephemeralKeys: readonly string[];
  readonly policy: string;
  readonly provenance: readonly string[];
  readonly intervalMs: number;
  readonly log: string | undefined;
  readonly onRefusal: string | undefined;
  readonly failOnWarning: boolean;
  readonly once: boolean;
  readonly format: Format;
  readonly connection: Connection;
}

const EXAMPLES = `
Each poll fetches the newest boot proof of each application, and verifies it as of now, so one that becomes older than
the policy allows is rejected too. A line is written for each new boot proof, and for each change of a verdict. The
start and the end of an outage are reported on stderr; an outage never ends the watch.

With --log, each entry is on the disk, with its evidence, before a refusal is delivered; a refusal that was not
delivered is delivered after a restart. Ctrl-C ends the watch; --once is for cron.

Examples:
    $ bootproof watch --app signer policy-engine --policy policy.json --log watch.jsonl
    $ bootproof watch --app signer --policy policy.json --log watch.jsonl --on-refusal "mail -s REJECTED ops"
    $ bootproof watch --app signer --policy policy.json --log watch.jsonl --on-refusal https://alerts.example.com/hook
    $ bootproof watch --app signer --policy policy.json --once
    $ bootproof log verify watch.jsonl
${CONNECTION_HELP}

Exit codes: 0 ended normally, and the newest verdict of each is good; 1 that of one is rejected; 2 wrong usage, or a log
that is broken or cannot be written; 3 one could not be fetched at the last poll, or the credentials were refused
at the first.`;

export function addWatchCommand(program: Command, io: Io, finish: (code: number) => void): void {
  const command = program
    .command("watch")
    .summary("watch applications: verify and log every new boot proof")
    .description("Follow the newest boot proofs of applications, or of keys, and compare each with a policy.")
    .usage("--app NAME… --policy FILE [--interval 60s] [--log FILE] [--on-refusal COMMAND|URL] [connection]")
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(addOptions(command, "watch"));
  command.action(async (flags: Flags<"watch">) => {
    finish(await run(requestOf(args, flags, io), io));
  });
}

function requestOf(args: ArgumentReader, flags: Flags<"watch">, io: Io): WatchRequest {
  args.refuseRepeated();
  const { app: apps = [], ephemeralKey: ephemeralKeys = [], policy, interval = "60s", log, once = false } = flags;
  const { provenance = [] } = flags;
  if (apps.length + ephemeralKeys.length === 0)
    args.fault("--app NAME (or --ephemeral-key HEX) is required: what to watch");
  if (policy === undefined) args.fault("--policy FILE is required: bootproof pin makes one");
  for (const key of ephemeralKeys) ephemeralKeyOf(args, key);
  args.refuseTwice("--app", apps);
  args.refuseTwice(
    "--ephemeral-key",
    ephemeralKeys.map((key) => key.toLowerCase()),
  );
  args.refuseRepeatedStdin([policy, ...provenance]);
  if (log === STDIN) args.fault("--log -: a file is required; without --log, entries go to stdout only");
  if (flags.onRefusal !== undefined) refuseAddress(args, flags.onRefusal);
  const intervalMs = intervalOf(args, interval);
  const format = formatOf(args, flags.format);
  const connection = connectionOf(args, flags, io);
  args.throwFaults();
  return {
    apps,
    ephemeralKeys,
    policy: policy!,
    provenance,
    intervalMs: intervalMs!,
    log,
    onRefusal: flags.onRefusal,
    failOnWarning: flags.failOnWarning === true,
    once,
    format,
    connection: connection!,
  };
}

const DAY_MS = 86_400_000;

/** The same syntax as durations of a policy. */
function intervalOf(args: ArgumentReader, text: string): number | undefined {
  if (args.isEmpty("interval")) return undefined;
  const milliseconds = readShape(duration, text).value;
  return milliseconds !== undefined && milliseconds <= DAY_MS
    ? milliseconds
    : args.fault(`--interval ${text}: a duration such as 60s, 5m or 1h expected, up to 1d`);
}

/** Otherwise it is a shell command. */
function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

function refuseAddress(args: ArgumentReader, text: string): void {
  if (!isAddress(text)) return;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.username + url.password !== "")
    args.fault("--on-refusal: an address such as https://alerts.example.com/hook expected, without user and password");
}

async function run(request: WatchRequest, io: Io): Promise<number> {
  // Before any work, so that no signal is missed.
  const interruption = new Interruption();
  let log: OpenedLog | undefined;
  try {
    const held = await readPolicy(request, io);
    const client = await connect(request.connection, io);
    const { askService } = await import("../watch/index.js");
    if (request.log !== undefined) log = await opened(request.log, io);
    const summary = await watching(
      {
        ...(await optionsOf(request, io)),
        ...held,
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

/** As plain data: `watch` is another copy of the library. */
async function readPolicy(
  { policy: path, provenance: paths }: WatchRequest,
  io: Io,
): Promise<Pick<WatchOptions, "policy" | "provenance" | "provenanceVerifier">> {
  const { plainPolicy } = await import("../plain-settings.js");
  const files = new InputFiles(io);
  const read = await readPolicyFile(files, path, { command: "watch", option: "--policy" });
  const provenance = await demandedProvenance(files, paths, { policy: read?.policy, command: "watch" });
  files.throwFaults();
  return { policy: plainPolicy(read!.policy), provenance, ...(await verifierFor(read!.policy)) };
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
  const { apps, ephemeralKeys, intervalMs, once, onRefusal, failOnWarning, format } = request;
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
    ...(failOnWarning && { acceptance: "strict" }),
    once,
    onEntry: (line) => io.stdout.write(format === "json" ? entryJson(line) : entryText(line.entry)),
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
      throw logProblem(log, `the watch ended, since its log cannot be written: ${error.message}`);
    throw error;
  }
}

function exitCodeOf({ refused, unfetched }: WatchSummary): number {
  if (refused.length > 0) return EXIT.rejected;
  return unfetched.length > 0 ? EXIT.unreachable : EXIT.good;
}

function waitingText({ log }: WatchRequest): string {
  const after = log === undefined ? "and without --log it is lost" : "and will be when the watch resumes with this log";
  return `warning: a refusal was not delivered, ${after}\n`;
}
