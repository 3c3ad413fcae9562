/** The state file of a run. It holds the progress and the options, so that a later process has the same results. */
import { readFile } from "node:fs/promises";
import { CHECK_IDS } from "../checks.js";
import { isJsonObject, parseJson } from "../decode/json.js";
import {
  anyObject,
  count,
  list,
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
import { type Extent, extentShape } from "./node-extent.js";
import { AuditFileError, type ResultsMark, inWords, requireLock } from "./node-results.js";
import type { AuditPosition } from "./node-source.js";
import type { AuditSummary } from "./run.js";
import type { AuditSetting } from "./setting.js";

const STATE_FORMAT = "bootproof-audit-state/5";

interface AuditQuestion {
  readonly inputs: readonly string[];
  readonly onlyFailures: boolean;
  readonly failFast: boolean;
  readonly setting: AuditSetting;
  /** The mark of the expectations. Null if there are none. */
  readonly expected: string | null;
}

/** Consecutive entries that are judged alike. `asked` has digests of what another segment may have otherwise. */
export interface Segment {
  readonly first: number;
  readonly now: string;
  readonly tool: string;
  readonly asked: Readonly<Record<string, string>>;
  /** What each input had when the segment began. */
  readonly extents: readonly (Extent | null)[];
  readonly results: ResultsMark;
}

export interface AuditProgress {
  /** The position that was reached. Null means that nothing was judged yet. */
  readonly position: AuditPosition | null;
  readonly segments: readonly Segment[];
  /** Of the entries up to the last end that was reported, and of those since. */
  readonly reported: AuditSummary;
  readonly added: AuditSummary;
  /** The lines of expectations that an entry matched, in the form of `MetLines`. */
  readonly met: string;
  /** How the last segment ended. Null means that more of its extent is to be judged. */
  readonly end: "done" | "failed" | null;
}

interface StateFile extends AuditProgress {
  readonly state: typeof STATE_FORMAT;
  readonly asked: Readonly<Record<string, unknown>>;
}

export interface OpenedState {
  readonly path: string;
  /** What a new segment of this process has as its tool and `asked`. */
  readonly present: Pick<Segment, "tool" | "asked">;
  /** The progress to resume from. Null for the first process. */
  readonly before: AuditProgress | null;
  save(progress: AuditProgress): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the state, or prepares a new one. Rejects with {@link AuditFileError}, and changes nothing, if another process
 * has locked the state, if the file is not a state, or if it is the state of a run with other options than a new segment
 * may have.
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
    const { asked, changeable } = await optionsOf(question);
    if (before !== null) refuseOther(path, before, asked);
    return {
      path,
      present: { tool: TOOL.version, asked: changeable },
      before,
      save: async (progress) => {
        await requireLock(path, lock);
        await inWords(path, writeSynced(path, stateText({ ...progress, asked })));
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

function stateText({ asked, segments, position, reported, added, met, end }: Omit<StateFile, "state">): string {
  const state: StateFile = { state: STATE_FORMAT, asked, segments, position, reported, added, met, end };
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

const SUMMARY = objectOf<AuditSummary>(
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
);

const SEGMENT = objectOf<Segment>(
  {
    first: count,
    now: matching((value) => !Number.isNaN(Date.parse(value)), "a time"),
    tool: text,
    asked: record(text),
    extents: list(nullable(extentShape)),
    results: objectOf<ResultsMark>({ length: count, digest: text }, IGNORE),
  },
  IGNORE,
);

const STATE = objectOf<StateFile>(
  {
    state: oneOf(STATE_FORMAT),
    asked: anyObject,
    segments: list(SEGMENT),
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
    reported: SUMMARY,
    added: SUMMARY,
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

/** The parts of a setting that only a new run may have otherwise. Others begin a new segment. */
const FIXED: readonly string[] = ["at", "allowDebug", "acceptance"] satisfies SettingPart[];

/** The name of the expectations in `asked`, and its value without any. */
export const EXPECTED = "--expected";
export const NONE = "none";

/** Returns the options that a resumed run must repeat, and those that begin a new segment: texts, flags or digests. */
async function optionsOf(
  question: AuditQuestion,
): Promise<{ readonly asked: StateFile["asked"]; readonly changeable: Segment["asked"] }> {
  const { inputs, onlyFailures, failFast, setting, expected } = question;
  const parts = Object.entries(await settingParts(setting)) as [SettingPart, string][];
  const named = (isFixed: boolean): Record<string, string> =>
    Object.fromEntries(
      parts.filter(([part]) => FIXED.includes(part) === isFixed).map(([part, digest]) => [PARTS[part], digest]),
    );
  return {
    asked: { INPUT: [...inputs], ...named(true), "--only-failures": onlyFailures, "--fail-fast": failFast },
    changeable: { ...named(false), [EXPECTED]: expected ?? NONE },
  };
}

function refuseOther(path: string, before: StateFile, asked: StateFile["asked"]): void {
  const other = Object.keys(asked).filter((name) => JSON.stringify(asked[name]) !== JSON.stringify(before.asked[name]));
  if (other.length > 0)
    throw new AuditFileError(
      path,
      `the state of a run with other options: ${other.join(", ")}. Use the options of that run, or start anew with ` +
        `another state and another file for the results`,
    );
}

/** Names what makes a new segment of this process differ from an earlier one, apart from its time. */
export function changesSince({ tool, asked }: Segment, present: OpenedState["present"]): readonly string[] {
  const changed = Object.keys(present.asked).filter((name) => present.asked[name] !== asked[name]);
  return tool === present.tool ? changed : [...changed, `the version of bootproof (it was ${tool})`];
}
