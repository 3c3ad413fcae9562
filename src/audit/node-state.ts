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
import { extentShape } from "./node-extent.js";
import type { Extent } from "./node-inputs.js";
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

/** Consecutive entries that are judged alike. */
export interface Segment {
  readonly first: number;
  readonly now: string;
  /** The options and the version: texts, flags and digests. Absent if they are those of the segment before. */
  readonly asked?: Readonly<Record<string, unknown>>;
  readonly results: ResultsMark;
}

export interface AuditProgress {
  /** The position that was reached. Null means that nothing was judged yet. */
  readonly position: AuditPosition | null;
  readonly segments: readonly Segment[];
  /** What each input had when the last segment began. */
  readonly extents: readonly (Extent | null)[];
  readonly summary: AuditSummary;
  /** Of the entries since the last end that was reported. */
  readonly added: AuditSummary;
  /** The mark of the last file of expectations, and which of its lines an entry matched, in the form of `MetLines`. */
  readonly expected: string;
  readonly met: string;
  /** How the last segment ended. Null means that more of its extent is to be judged. */
  readonly end: "done" | "failed" | null;
}

interface StateFile extends AuditProgress {
  readonly state: typeof STATE_FORMAT;
}

export interface OpenedState {
  readonly path: string;
  /** The options of this process, and why it does not go on with an unfinished segment, such as `--policy`. */
  readonly asked: NonNullable<Segment["asked"]>;
  readonly changed: string[];
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
    const changed = changesSince(path, before, asked);
    return {
      ...{ path, asked, changed, before },
      save: async (progress) => {
        await requireLock(path, lock);
        const state: StateFile = { ...progress, state: STATE_FORMAT };
        await inWords(path, writeSynced(path, `${JSON.stringify(state, undefined, 2)}\n`));
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
    asked: optional(anyObject),
    results: objectOf<ResultsMark>({ length: count, digest: text }, IGNORE),
  },
  IGNORE,
);

const STATE = objectOf<StateFile>(
  {
    state: oneOf(STATE_FORMAT),
    segments: list(SEGMENT),
    extents: list(nullable(extentShape)),
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
    summary: SUMMARY,
    added: SUMMARY,
    expected: text,
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

const TOOL_VERSION = "the version of bootproof";

async function optionsOf(question: AuditQuestion): Promise<OpenedState["asked"]> {
  const { inputs, onlyFailures, failFast, setting, expected } = question;
  const parts = Object.entries(await settingParts(setting)) as [SettingPart, string][];
  return {
    INPUT: [...inputs],
    [PARTS.maxAgeMs]: "none",
    ...Object.fromEntries(parts.map(([part, digest]) => [PARTS[part], digest])),
    "--expected": expected ?? "none",
    "--only-failures": onlyFailures,
    "--fail-fast": failFast,
    [TOOL_VERSION]: TOOL.version,
  };
}

/** Options that begin a new segment if they change. Any other option must stay the same. */
const CHANGEABLE: readonly string[] = [
  ...[PARTS.policy, PARTS.trustAnchors, PARTS.trustedRoots, PARTS.bootProofs, PARTS.provenance],
  ...[PARTS.maxAgeMs, "--expected", TOOL_VERSION],
];

/** Names the options that differ from those of the last segment. Refuses one that must stay the same. */
function changesSince(path: string, before: StateFile | null, asked: OpenedState["asked"]): string[] {
  const last = before?.segments.findLast((segment) => segment.asked !== undefined)?.asked ?? asked;
  const changed = Object.keys(asked).filter((name) => JSON.stringify(asked[name]) !== JSON.stringify(last[name]));
  const other = changed.filter((name) => !CHANGEABLE.includes(name));
  if (other.length === 0) return changed;
  throw new AuditFileError(
    path,
    `the state of a run with other options: ${other.join(", ")}. Use the options of that run, or start anew with ` +
      `another state and another file for the results`,
  );
}
