/** The setting of a watch: policy and bundles, at the start and after each SIGHUP. */
import type { WatchSetting } from "../run/index.js";
import type { OpenedLog } from "../run/node-watch.js";
import type { SettingRefusal, SettingReload } from "../run/reload.js";
import { InputFiles, STDIN } from "./files.js";
import type { Hangup } from "./interruption.js";
import { CommandError, type Io } from "./io.js";
import type { Flags } from "./option-table.js";
import { readGivenPolicy } from "./policy-source.js";
import { demandedProvenance, verifierFor } from "./provenance.js";
import { notReadText } from "./watch-text.js";

/**
 * Reads policy and bundles. A policy that is not signed is returned as plain data, since `watch` is in another copy of
 * the library. A signed one stays open, and the watch refreshes it.
 */
export async function readSetting(flags: Flags<"watch">, io: Io, held?: WatchSetting): Promise<WatchSetting> {
  const { plainPolicy } = await import("../plain-settings.js");
  const files = new InputFiles(io, "watch");
  const open = held !== undefined && "refresh" in held.policy ? held.policy : null;
  const read = open
    ? { policy: open.policy, signed: open }
    : await readGivenPolicy(files, { ...flags, refreshMs: flags.policyRefresh }, io);
  const { provenance: paths } = flags;
  const provenance = await demandedProvenance(files, paths, read?.policy);
  files.throwFaults();
  const { policy, signed } = read!;
  return { policy: signed ?? plainPolicy(policy), provenance, ...(await verifierFor(policy, paths.length > 0)) };
}

interface Reloading {
  readonly held: WatchSetting;
  readonly hangup: Hangup;
  readonly io: Io;
  readonly log: OpenedLog | undefined;
}

/** After each SIGHUP, goes on in a new log, and reloads all files. Faults of these are recorded, and end nothing. */
export function reloadOf(flags: Flags<"watch">, { held, hangup, io, log }: Reloading): SettingReload {
  const isFromStdin = [flags.policy, ...flags.provenance].includes(STDIN);
  const refuse = (): void => io.report(notReadText(io.now()), { event: "setting-not-read" });
  let failure: unknown;
  return {
    read: async () => {
      if (failure !== undefined) throw failure;
      return readSetting(flags, io, held).catch(refusalOf);
    },
    when: (ask) =>
      hangup.each(async () => {
        await log?.reopen().catch((error: unknown) => (failure = error));
        if (isFromStdin) refuse();
        else ask();
      }),
  };
}

function refusalOf(error: unknown): SettingRefusal {
  if (!(error instanceof CommandError)) throw error;
  return { refused: error.problems.map(({ file, message }) => ({ file: file ?? null, reason: message })) };
}
