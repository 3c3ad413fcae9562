/** `bootproof watch`: verifies every new boot of applications, and keeps a log. */
import { printable } from "../report/printable.js";
import type { WatchOptions, WatchSummary } from "../run/index.js";
import type { Health } from "../run/node.js";
import type { OpenedLog } from "../run/node-watch.js";
import { commandOf } from "./command.js";
import { CONNECTION_HELP, type Connection, connectionOf } from "./connection.js";
import { connect } from "./service.js";
import { EXIT } from "./exit-codes.js";
import { startedHealth } from "./health.js";
import { STDIN } from "./files.js";
import { readSetting, reloadOf } from "./watch-setting.js";
import { Hangup, Interruption } from "./interruption.js";
import { type Io, UnreachableError } from "./io.js";
import { readLogKey } from "./key-files.js";
import { runProblem } from "./queue.js";
import type { Flags } from "./option-table.js";
import { isAddress } from "./option-values.js";
import { type ArgumentReader, judgingOf } from "./options.js";
import {
  atMostOnceText,
  entryJson,
  entryText,
  messageText,
  silentText,
  unseenText,
  waitingText,
} from "./watch-text.js";

interface WatchRequest {
  readonly flags: Flags<"watch">;
  readonly judging: ReturnType<typeof judgingOf>;
  readonly connection: Connection;
}

const EXAMPLES = `
Each poll fetches the newest boot proof of each application, and verifies it as of now, so one that becomes older than
the policy allows is rejected too. A line is written for each new boot proof, and for each change of a verdict.
Each name is polled by itself, so one that does not respond delays no other.

An outage is reported on stderr when it starts, each hour, and when it ends. One that lasts longer than --outage-after
polls is a line of the log, as is its end, and --on-outage gets both. An outage never ends the watch, except with
--max-silence: use it where a supervisor or a person notices exit code 3.

With --log, each line is on the disk, with its evidence, before it is announced, and the log says what was announced: a
start announces what no earlier watch did. Without --log each is announced at most once. If the log takes no line any
more (a full disk, another writer), the refusal is announced and written to stdout, and the watch ends with exit code 2.
--heartbeat writes a line even if there is no news. Ctrl-C and SIGTERM end the watch; --once is for cron.

SIGHUP reads --policy, the files that it names, and --provenance again, and applies all of it or nothing. What is
refused is reported and recorded, and is read again after each --interval. A feed (--policy-signers) is also read at
each --policy-refresh. SIGHUP also goes on in a new file at --log, if the old one was renamed (logrotate without
copytruncate). A log that is begun anew goes on with the chain of --after.

Examples:
    $ bootproof watch --app signer --policy policy.json --log watch.jsonl --on-refusal "mail -s REJECTED ops"
    $ bootproof watch --app signer --policy policy.json --log watch.jsonl --on-refusal https://alerts.example.com/hook
    $ bootproof watch --app signer --policy policy.json --log watch.jsonl --on-outage https://alerts.example.com/down
    $ bootproof watch --app signer --policy policy.json --log watch.jsonl --max-silence 1h
    $ bootproof watch --app signer --policy policy.json --once
    $ bootproof log verify watch.jsonl
${CONNECTION_HELP}

Exit codes, the first that holds: 2 wrong usage, or a log that is broken, was changed, is used by another process, or
takes no line; 3 --max-silence ended the watch, or the credentials were refused at the first poll; 1 the newest verdict
of one is rejected, or a refusal or an outage was not announced; 3 one could not be fetched at the last poll, or not
once; 0 ended normally, and the newest verdict of each is good.`;

export const addWatchCommand = commandOf(
  "watch",
  {
    usage:
      "--app NAME… --policy FILE [--interval 60s] [--log FILE] [--on-refusal COMMAND|URL] [--on-outage COMMAND|URL] " +
      "[connection]",
    help: EXAMPLES,
  },
  async ({ args, flags, io }) => run(requestOf(args, flags, io), io),
);

function requestOf(args: ArgumentReader, flags: Flags<"watch">, io: Io): WatchRequest {
  const { app: apps, ephemeralKey: keys } = flags;
  if (apps.length + keys.length === 0) args.fault("--app NAME (or --ephemeral-key HEX) is required: what to watch");
  args.refuseTwice("--app", apps);
  args.refuseTwice(
    "--ephemeral-key",
    keys.map((key) => key.toLowerCase()),
  );
  const { interval = 60_000, maxSilence = Infinity } = flags;
  if (maxSilence <= interval)
    args.fault("--max-silence: expected more than --interval: a shorter time would end every watch");
  const judging = judgingOf(flags);
  const connection = connectionOf(args, flags, io);
  if (flags.checkpoint === STDIN) args.fault("--checkpoint -: expected a file, which is replaced with each line");
  args.throwFaults();
  return { flags, judging, connection: connection! };
}

type Times = Pick<WatchOptions, "intervalMs" | "aliveMs" | "outageAfter" | "outageRepeatMs" | "maxSilenceMs">;

function timesOf({ interval, heartbeat, outageAfter, outageRepeat, maxSilence }: Flags<"watch">): Times {
  const times = {
    ...{ intervalMs: interval, aliveMs: heartbeat, outageAfter },
    ...{ outageRepeatMs: outageRepeat, maxSilenceMs: maxSilence },
  };
  return Object.fromEntries(Object.entries(times).filter(([, value]) => value !== undefined)) as Times;
}

async function run(request: WatchRequest, io: Io): Promise<number> {
  const { flags } = request;
  // The handler is set before any work, so that no signal is missed.
  const [interruption, hangup] = [new Interruption(), new Hangup()];
  let log: OpenedLog | undefined;
  let health: Health | null = null;
  try {
    const held = await readSetting(flags, io);
    // The watch polls again by its own schedule, and lets all names wait as long as the service demands.
    const client = await connect(request.connection, io, 0);
    const { askService } = await import("../run/index.js");
    // The health server starts before the log is opened, which may take 15 seconds if the log's lock must be observed.
    // A probe that gets no answer in that time would end the process.
    const keys = flags.ephemeralKey.map((key) => ({ ephemeralKey: key.toLowerCase() }));
    const watched = [...flags.app.map((app) => ({ app })), ...keys];
    health = await startedHealth(flags, { command: "watch", watched }, io);
    if (flags.log !== undefined) log = await opened(flags.log, flags, io, health);
    const options: WatchOptions = {
      ...(await optionsOf(request, io)),
      ...held,
      newest: askService(client),
      signal: interruption.signal,
      reload: reloadOf(flags, { held, hangup, io, log }),
      ...(log && { log: log.log }),
      onPoll: (poll) => health?.poll(poll),
      onStatus: (status) => health?.status(status),
    };
    const summary = await watching(options, request, io);
    reportEnd(summary, flags, io);
    return watchExitCode(summary);
  } catch (error) {
    throw runProblem(error);
  } finally {
    await health?.close();
    await log?.close();
    interruption.forget();
    hangup.forget();
  }
}

async function opened(path: string, flags: Flags<"watch">, io: Io, health: Health | null): Promise<OpenedLog> {
  const { openLog } = await import("../run/node.js");
  const { after, checkpointKey, origin, checkpoint: file } = flags;
  const pem = checkpointKey === undefined ? undefined : await readLogKey(checkpointKey, "private", io);
  const own = { ...(origin !== undefined && { origin }), ...(file !== undefined && { file }) };
  return openLog(path, {
    onNote: (text) => io.stderr.write(`note: ${printable(`${path}: ${text}`)}\n`),
    ...(after !== undefined && { after }),
    ...(pem !== undefined && {
      checkpoint: {
        key: pem,
        ...own,
        onCheckpoint: (_: string, { entries }: { readonly entries: number }) =>
          health?.checkpoint({ entries, at: io.now() }),
      },
    }),
  });
}

async function optionsOf(request: WatchRequest, io: Io): Promise<Omit<WatchOptions, "policy" | "newest">> {
  const { SYSTEM, runCommand } = await import("../run/node.js");
  const { postTo } = await import("../run/index.js");
  const { flags, judging } = request;
  const { app: apps, ephemeralKey: ephemeralKeys, onRefusal, onOutage, once = false } = flags;
  const deliveryTo = (target: string): ReturnType<typeof postTo> =>
    isAddress(target)
      ? postTo(target, { fetch: (input, init) => fetch(input, init), sleep: SYSTEM.sleep })
      : runCommand(target, { env: io.env });
  return {
    ...SYSTEM,
    now: io.now,
    apps,
    ephemeralKeys,
    ...timesOf(flags),
    ...judging,
    once,
    onEntry: (line) => io.stdout.write(flags.format === "json" ? entryJson(line) : entryText(line)),
    onMessage: (message) => {
      const { event, ...fields } = message;
      io.report(messageText(message, once), { event, fields });
    },
    ...(onRefusal !== undefined && { onRefusal: deliveryTo(onRefusal) }),
    ...(onOutage !== undefined && { onOutage: deliveryTo(onOutage) }),
  };
}

async function watching(options: WatchOptions, { flags, connection }: WatchRequest, io: Io): Promise<WatchSummary> {
  const { FetchError, watch } = await import("../run/index.js");
  if (!options.once) io.progress("watching; Ctrl-C ends it");
  if (flags.log === undefined && (options.onRefusal ?? options.onOutage) !== undefined)
    io.report(atMostOnceText, { event: "at-most-once" });
  try {
    return await watch(options);
  } catch (error) {
    if (!(error instanceof FetchError)) throw error;
    throw new UnreachableError([printable(`${connection.baseUrl}: nothing is watched: ${error.message}`)]);
  }
}

/** Returns the exit code. After a silence it is 3, even if the log has a refusal, since the silence ended the watch. */
export function watchExitCode(summary: WatchSummary): number {
  const { refused, unfetched, unseen, silent, waiting, isFeedContradicted } = summary;
  if (silent.length > 0) return EXIT.unreachable;
  if (refused.length + waiting.length > 0 || isFeedContradicted) return EXIT.rejected;
  return unfetched.length + unseen.length > 0 ? EXIT.unreachable : EXIT.good;
}

function reportEnd(summary: WatchSummary, { log, once }: Flags<"watch">, io: Io): void {
  const { silent, unfetched, waiting } = summary;
  for (const one of silent) io.report(silentText(one, io.now()), { event: "silent", fields: one });
  // The names are not reported after a silence, nor with `--once` if their failures were already reported.
  const shown = once === true ? unfetched.map(({ watched }) => watched) : [];
  const unseen = summary.unseen.filter((one) => !shown.includes(one));
  if (silent.length === 0 && unseen.length > 0)
    io.report(unseenText(unseen, io.now()), { event: "unseen", fields: { watched: unseen } });
  for (const what of waiting) io.report(waitingText(what, log), { event: "undelivered", fields: { what } });
}
