/** Files that go wrong while they are used: taken away, replaced, written to by others. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { auditSetting } from "../../src/audit/index.js";
import { auditFiles } from "../../src/audit/node.js";
import type { Judge } from "../../src/audit/batch.js";
import { localJudge } from "../../src/audit/judge.js";
import { parsePolicy } from "../../src/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { watch } from "../../src/watch/index.js";
import { SYSTEM, openLog } from "../../src/watch/node.js";

const AT = new Date("2026-03-04T05:06:07.000Z");
const lab = new Forge();
const { bootProof, anchorPem } = forgeEvidence({ lab, at: AT });
const policy = parsePolicy(JSON.stringify(labPolicy(anchorPem, [labDeployment(lab)])));

let folder = "";
let count = 0;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), "bootproof-faults-files-"))));
afterAll(() => rmSync(folder, { recursive: true }));
const newPath = (): string => join(folder, `file-${count++}`);

const MOVED = /^it was moved, removed or replaced$/;
const CHANGED = /^another program wrote to it or shortened it: expected \d+ bytes, got \d+$/;

/** What a log says of it. */
const SAID: Readonly<Record<string, RegExp>> = {
  "taken away": MOVED,
  renamed: MOVED,
  "replaced by a copy": MOVED,
  "replaced by a folder": MOVED,
  "written to by somebody else": CHANGED,
  "cut off": CHANGED,
  edited: /^its last line, entry 2, was edited$/,
};

/** What is done to a file, by its path. */
const DONE: Readonly<Record<string, (path: string) => void>> = {
  "taken away": (path) => rmSync(path),
  renamed: (path) => renameSync(path, `${path}.1`),
  "replaced by a copy": (path) => {
    const text = readFileSync(path);
    rmSync(path);
    writeFileSync(path, text);
  },
  "replaced by a folder": (path) => {
    rmSync(path);
    mkdirSync(path);
  },
};
const WRITTEN: Readonly<Record<string, (path: string) => void>> = {
  "written to by somebody else": (path) => appendFileSync(path, "{}\n"),
  "cut off": (path) => writeFileSync(path, ""),
};

const HEARTBEAT_MS = 3_600_000;
/** A watch that has an entry, then meets this, and then has another one. */
async function watched(path: string, meanwhile: (path: string) => void, refusals = false): Promise<unknown> {
  const log = await openLog(path);
  let polls = 0;
  const newest = (): Promise<typeof bootProof> => {
    if (++polls === 2) meanwhile(path);
    return Promise.resolve({ ...bootProof, deploymentLabel: `label ${polls}` });
  };
  const ended = new AbortController();
  try {
    return await watch({
      policy,
      ephemeralKeys: [String(bootProof["ephemeralPublicKeyHex"])],
      newest,
      log,
      // Too early for its certificates: a refusal, which is handed on.
      now: () => new Date(AT.getTime() + (refusals ? -86_400_000 : 60_000)),
      sleep: async (milliseconds, signal) => {
        if (milliseconds === HEARTBEAT_MS) await SYSTEM.sleep(milliseconds, signal);
        else if (polls > 5) ended.abort();
      },
      random: () => 0,
      signal: ended.signal,
    });
  } finally {
    await log.close();
  }
}

describe("a log that is, while a watch keeps it,", () => {
  const edited = (path: string): void => writeFileSync(path, readFileSync(path, "utf8").replace("lab", "lob"));
  it.each(Object.entries({ ...DONE, ...WRITTEN, edited }))("%s ends the watch, which says so", async (name, change) => {
    const path = newPath();
    await expect(watched(path, change)).rejects.toMatchObject({
      name: "LogChangedError",
      message: expect.stringMatching(SAID[name]!) as unknown,
    });
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it("without a place for its mark ends the watch, which names that file", async () => {
    const path = newPath();
    mkdirSync(`${path}.handed-on`);
    await expect(watched(path, () => {}, true)).rejects.toMatchObject({
      name: "LogError",
      message: `${path}.handed-on: a directory, not a file`,
    });
  });
});

it.each([
  ["is a folder", (path: string) => mkdirSync(path), /^a directory, not a file$/],
  ["has no folder", () => {}, /^there is no such (?:file or )?folder$/],
  ["has a folder for its lock", (path: string) => mkdirSync(`${path}.lock`), /^in use by another process: .*remove/],
])("a log that %s is not kept, and it is said why", async (name, before, said) => {
  const path = name === "has no folder" ? join(newPath(), "log") : newPath();
  before(path);
  await expect(openLog(path)).rejects.toThrow(said);
});

const LINES = `${JSON.stringify(bootProof)}\n{}\n`.repeat(200);
const setting = auditSetting({ policy, now: new Date(AT.getTime() + 60_000), bootProofs: [] });

/** An audit that meets this once there are results and more is to be judged, and goes on when it is done. */
async function audited(
  paths: { readonly out: string; readonly state?: string },
  meanwhile: () => Promise<void> | void,
): Promise<unknown> {
  const input = newPath();
  writeFileSync(input, LINES);
  const judge = async (): Promise<Judge> => {
    const local = await localJudge(setting);
    return {
      ...local,
      concurrency: 1,
      judge: async (batch) => {
        if (batch.index === 1) {
          while (statSync(paths.out).size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
          await meanwhile();
        }
        return local.judge(batch);
      },
    };
  };
  return auditFiles({ inputs: [input], setting, judge, ...paths });
}

describe("results that are, while an audit writes them,", () => {
  it.each(Object.entries({ ...DONE, ...WRITTEN }))("%s end the audit, which says so", async (name, meanwhile) => {
    const out = newPath();
    await expect(audited({ out }, () => meanwhile(out))).rejects.toMatchObject({
      name: "AuditFileError",
      file: out,
      message: expect.stringMatching(
        name in DONE ? /^it was removed or replaced/ : /^something else has written to it/,
      ) as unknown,
    });
    expect(existsSync(`${out}.lock`)).toBe(false);
  });

  it("left alone are there, and their lock is not", async () => {
    const out = newPath();
    await audited({ out }, () => {});
    expect(readFileSync(out, "utf8").split("\n").length).toBe(401);
    expect(existsSync(`${out}.lock`)).toBe(false);
  });

  it("another audit's are left alone", async () => {
    const out = newPath();
    let second: Promise<unknown> = Promise.resolve();
    const first = audited({ out }, async () => {
      second = audited({ out }, () => {});
      await second.catch(() => {});
    });
    await first;
    await expect(second).rejects.toMatchObject({
      name: "AuditFileError",
      file: out,
      message: expect.stringMatching(
        new RegExp(
          `^in use by process ${process.pid}: only one process may use a file of results\\. It renews its lock, `,
        ),
      ) as unknown,
    });
    expect(readFileSync(out, "utf8").split("\n").length).toBe(401);
  });
});

it.each(["out", "state"] as const)(
  "an audit whose lock of %s another process has taken writes no more",
  async (file) => {
    const paths = { out: newPath(), state: newPath() };
    const lock = `${paths[file]}.lock`;
    const other = JSON.stringify({
      pid: 7,
      started: null,
      host: "elsewhere",
      id: "00000000-0000-4000-8000-000000000000",
    });
    let before = ["", ""];
    const texts = (): string[] => [readFileSync(paths.out, "utf8"), readFileSync(paths.state, "utf8")];
    const meanwhile = (): void => {
      writeFileSync(lock, other);
      before = texts();
    };
    await expect(audited(paths, meanwhile)).rejects.toMatchObject({
      name: "AuditFileError",
      file: paths[file],
      hasLostLock: true,
      message: expect.stringMatching(/^process 7 of elsewhere has its lock now, /) as unknown,
    });
    expect(readFileSync(lock, "utf8")).toBe(other);
    const after = texts();
    if (file === "out") expect(after).toEqual(before);
    expect(after[1]).toBe(before[1]);
  },
);

it("a state that becomes a folder ends the audit, which says so, and the results so far are whole", async () => {
  const [out, state] = [newPath(), newPath()];
  const meanwhile = (): void => {
    rmSync(state);
    mkdirSync(state);
  };
  await expect(audited({ out, state }, meanwhile)).rejects.toMatchObject({
    name: "AuditFileError",
    file: state,
    message: "a directory, not a file",
  });
  expect([existsSync(`${out}.lock`), existsSync(`${state}.lock`)]).toEqual([false, false]);
});
