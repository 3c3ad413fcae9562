/** The state file of a run. It holds the progress and the options, so that a later process has the same results. */
import { readFile } from "node:fs/promises";
import { CHECK_IDS } from "../checks.js";
import { isJsonObject, parseJson } from "../decode/json.js";
import {
  anyObject,
  count,
  matching,
  nullable,
  object,
  objectOf,
  oneOf,
  optional,
  readShape,
  record,
  text,
} from "../decode/shapes.js";
import { InUseError, type Lock, takeLock } from "../disk/lock.js";
import { writeSynced } from "../disk/whole.js";
import { attempt, faultText } from "../errors.js";
import { type SettingPart, settingParts } from "../plain-settings.js";
import { TOOL } from "../version.js";
import { AuditFileError, type ResultsMark, inWords, requireLock } from "./node-results.js";
import type { AuditPosition } from "./node-source.js";
import type { AuditSummary } from "./run.js";
import type { AuditSetting } from "./setting.js";

const STATE_FORMAT = "bootproof-audit-state/4";

interface AuditQuestion {
  readonly inputs: readonly string[];
  readonly onlyFailures: boolean;
  readonly failFast: boolean;
  readonly setting: AuditSetting;
  /** The digest of the expectations. Null if there are none. */
  readonly expected: string | null;
  /** Whether the caller chose `now`. */
  readonly isNowGiven: boolean;
}

export interface AuditProgress {
  /** The position that was reached. Null means that nothing was judged yet. */
  readonly position: AuditPosition | null;
  readonly results: ResultsMark;
  readonly summary: AuditSummary;
  /** The lines of expectations that an entry matched, in the form of `MetLines`. */
  readonly met: string;
  readonly end: "done" | "failed" | null;
}

interface StateFile extends AuditProgress {
  readonly state: typeof STATE_FORMAT;
  readonly tool: string;
  readonly now: string;
  readonly asked: Readonly<Record<string, unknown>>;
}

export interface OpenedState {
  readonly now: string;
  /** The progress to resume from. Null for the first process. */
  readonly before: AuditProgress | null;
  save(progress: AuditProgress): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the state, or prepares a new one. Rejects with {@link AuditFileError}, and changes nothing, if another process
 * has locked the state, if the file is not a state, or if it is the state of a run with other options.
 */
export async function openState(path: string, question: AuditQuestion): Promise<OpenedState> {
  const lock = await lockOf(path);
  try {
    const text = await inWords(
      path,
      readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return null;
        throw error;
      }),
    );
    const before = text === null ? null : stateOf(path, text);
    const asked = await optionsOf(question);
    if (before !== null) refuseOther(path, before, question, asked);
    const now = before?.now ?? question.setting.now;
    return {
      now,
      before,
      save: async (progress) => {
        await requireLock(path, lock);
        await inWords(path, writeSynced(path, stateText({ ...progress, now, asked })));
      },
      close: () => lock.release(),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function lockOf(path: string): Promise<Lock> {
  try {
    return await inWords(path, takeLock(`${path}.lock`, "state"));
  } catch (error) {
    throw error instanceof InUseError ? new AuditFileError(path, error.message) : error;
  }
}

function stateText({ position, results, summary, met, end, now, asked }: Omit<StateFile, "state" | "tool">): string {
  const state: StateFile = {
    state: STATE_FORMAT,
    tool: TOOL.version,
    now,
    asked,
    position,
    results,
    summary,
    met,
    end,
  };
  return `${JSON.stringify(state, undefined, 2)}\n`;
}

const ANEW = "Nothing was changed. Start anew with another state and another file for the results";

/** Parses the state. Writes are atomic, so only another program can have damaged the file. */
function stateOf(path: string, text: string): StateFile {
  const json: unknown = attempt(() => parseJson(text)).value;
  if (!isJsonObject(json)) throw new AuditFileError(path, `damaged, or not the state of an audit. ${ANEW}`);
  if (json["state"] !== STATE_FORMAT)
    throw new AuditFileError(path, `not the state of an audit, or written by another version of bootproof. ${ANEW}`);
  const { value: state, faults } = readShape(STATE, json);
  if (state === undefined) throw new AuditFileError(path, `damaged: ${faultText(faults)}. ${ANEW}`);
  return state;
}

const IGNORE = { unknown: "ignore" } as const;

const STATE = objectOf<StateFile>(
  {
    state: oneOf(STATE_FORMAT),
    tool: text,
    now: matching((value) => !Number.isNaN(Date.parse(value)), "a time"),
    asked: anyObject,
    position: nullable(
      objectOf<AuditPosition>(
        {
          entries: count,
          emptyLines: count,
          bytes: count,
          input: count,
          offset: count,
          inputLines: count,
          digest: text,
        },
        IGNORE,
      ),
    ),
    results: objectOf<ResultsMark>({ length: count, tail: text }, IGNORE),
    summary: objectOf<AuditSummary>(
      {
        entries: count,
        accepted: count,
        verdicts: objectOf<AuditSummary["verdicts"]>(
          { verified: count, authentic: count, rejected: count, malformed: count },
          IGNORE,
        ),
        stale: count,
        withoutExpected: count,
        failures: object(Object.fromEntries(CHECK_IDS.map((id) => [id, optional(count)]))),
        deployments: record(count),
        oldest: nullable(text),
        newest: nullable(text),
      },
      IGNORE,
    ),
    met: text,
    end: oneOf("done", "failed", null),
  },
  IGNORE,
);

/** The names of a setting's parts in messages. */
const PARTS: Readonly<Record<SettingPart, string>> = {
  policy: "--policy",
  trustAnchors: "the trust anchors",
  trustedRoots: "the trusted roots that --policy names",
  at: "--at",
  allowDebug: "--allow-debug",
  acceptance: "--fail-on-warning",
  bootProofs: "--boot-proof",
  provenance: "--provenance",
};

/** Returns the options that a resumed run must repeat, each as text, a flag or a digest. */
async function optionsOf(question: AuditQuestion): Promise<StateFile["asked"]> {
  const { inputs, onlyFailures, failFast, setting, expected } = question;
  const parts = Object.entries(await settingParts(setting)) as [SettingPart, string][];
  return {
    INPUT: [...inputs],
    ...Object.fromEntries(parts.map(([part, digest]) => [PARTS[part], digest])),
    "--expected": expected ?? "none",
    "--only-failures": onlyFailures,
    "--fail-fast": failFast,
  };
}

function refuseOther(path: string, before: StateFile, question: AuditQuestion, asked: StateFile["asked"]): void {
  const other = Object.keys(asked).filter((name) => JSON.stringify(asked[name]) !== JSON.stringify(before.asked[name]));
  if (question.isNowGiven && question.setting.now !== before.now) other.push(`--now (it was ${before.now})`);
  if (other.length > 0)
    throw new AuditFileError(
      path,
      `the state of a run with other options: ${other.join(", ")}. Use the options of that run, or start anew with ` +
        `another state and another file for the results`,
    );
  if (before.tool !== TOOL.version)
    throw new AuditFileError(
      path,
      `the state of a run of bootproof ${before.tool}, and this is ${TOOL.version}, which may judge differently: end ` +
        `the run with that version, or start anew with another state and another file for the results`,
    );
}
