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

/** Consecutive entries that are judged alike. `asked` has the options: texts, flags and digests. */
export interface Segment {
  readonly first: number;
  readonly now: string;
  readonly tool: string;
  readonly asked: Readonly<Record<string, unknown>>;
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
 * has locked the state, if the file is not a state, or if it is the state of a run with other options that no new
 * segment may have.
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
    refuseOther(path, before?.segments.at(-1), asked);
    return {
      path,
      present: { tool: TOOL.version, asked },
      before,
      save: async (progress) => {
        await requireLock(path, lock);
        await inWords(path, writeSynced(path, stateText(progress)));
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

function stateText({ segments, position, reported, added, met, end }: AuditProgress): string {
  const state: StateFile = { state: STATE_FORMAT, segments, position, reported, added, met, end };
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
    asked: anyObject,
    extents: list(nullable(extentShape)),
    results: objectOf<ResultsMark>({ length: count, digest: text }, IGNORE),
  },
  IGNORE,
);

const STATE = objectOf<StateFile>(
  {
    state: oneOf(STATE_FORMAT),
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
  maxAgeMs: "--max-age",
  bootProofs: "--boot-proof",
  provenance: "--provenance",
};

/** The expectations in `asked`: their mark, or {@link NONE}. */
export const EXPECTED_LINES = "--expected";
export const NONE = "none";

async function optionsOf({
  inputs,
  onlyFailures,
  failFast,
  setting,
  expected,
}: AuditQuestion): Promise<Segment["asked"]> {
  const parts = Object.entries(await settingParts(setting)) as [SettingPart, string][];
  return {
    INPUT: [...inputs],
    [PARTS.maxAgeMs]: NONE,
    ...Object.fromEntries(parts.map(([part, digest]) => [PARTS[part], digest])),
    [EXPECTED_LINES]: expected ?? NONE,
    "--only-failures": onlyFailures,
    "--fail-fast": failFast,
  };
}

/** Options that begin a new segment if they change. Any other option must stay the same. */
const CHANGEABLE: readonly string[] = [
  ...[PARTS.policy, PARTS.trustAnchors, PARTS.trustedRoots, PARTS.bootProofs, PARTS.provenance],
  PARTS.maxAgeMs,
  EXPECTED_LINES,
];

function changed(before: Segment["asked"], asked: Segment["asked"], isChangeable: boolean): string[] {
  const names = Object.keys(asked).filter((name) => CHANGEABLE.includes(name) === isChangeable);
  return names.filter((name) => JSON.stringify(asked[name]) !== JSON.stringify(before[name] ?? NONE));
}

function refuseOther(path: string, last: Segment | undefined, asked: Segment["asked"]): void {
  const other = last === undefined ? [] : changed(last.asked, asked, false);
  if (other.length > 0)
    throw new AuditFileError(
      path,
      `the state of a run with other options: ${other.join(", ")}. Use the options of that run, or start anew with ` +
        `another state and another file for the results`,
    );
}

/** Names what makes a new segment of this process differ from an earlier one, apart from its time. */
export function changesSince({ tool, asked }: Segment, present: OpenedState["present"]): readonly string[] {
  const version = tool === present.tool ? [] : [`the version of bootproof (it was ${tool})`];
  return [...changed(asked, present.asked, true), ...version];
}
