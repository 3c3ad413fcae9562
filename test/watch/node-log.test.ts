/** The log in a file: created, continued, refused if broken, and locked by one process. */
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type LogLine, MAX_LINE_BYTES, lineAfter } from "../../src/watch/entry.js";
import { thisProcess } from "../../src/disk/lock.js";
import { LogError, LogInUseError, type OpenedLog, openLog } from "../../src/watch/node.js";
import type { Delivered } from "../../src/watch/outages.js";
import { fastTestFolder } from "../support/folder.js";
import { finding, textOf } from "./support.js";

const folder = fastTestFolder();
const ID = "00000000-0000-4000-8000-000000000000";
let count = 0;
const newPath = (): string => join(folder, `log-${count++}.jsonl`);

async function add(log: OpenedLog, boot: number, verdict: "verified" | "rejected" = "verified"): Promise<LogLine> {
  const line = await lineAfter(log.tail(), await finding("signer", { boot }, { verdict }));
  await log.append(line);
  return line;
}

/** Numbers of the entries that are not delivered. */
const waiting = (log: OpenedLog, what: Delivered = "refusal"): number[] => log.undelivered(what).map(({ n }) => n);

/** A log of so many refusals, and its lines. */
async function written(path: string, entries: number): Promise<LogLine[]> {
  const log = await openLog(path);
  const lines: LogLine[] = [];
  for (let boot = 1; boot <= entries; boot++) lines.push(await add(log, boot, "rejected"));
  await log.close();
  return lines;
}

const MOVED = /^it was moved, removed or replaced$/;
const WRITTEN = /^another program wrote to it or shortened it: expected \d+ bytes, got \d+$/;

describe("a log in a file", () => {
  it("is readable only by its owner, and continues where it ended", async () => {
    const path = newPath();
    const lines = await written(path, 2);
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
    const log = await openLog(path);
    expect(log.tail()).toEqual({ entries: 2, head: lines[1]!.hash });
    expect(log.standing("app signer")?.verdict).toBe("rejected");
    lines.push(await add(log, 3));
    await log.close();
    expect(readFileSync(path, "utf8")).toBe(textOf(lines));
    expect(readdirSync(folder).filter((name) => name.includes("lock"))).toEqual([]);
  });

  it.each([
    ["another file, without a line feed", '{"policy":"bootproof/1","deployments":[]}'],
    ["text", "mine"],
    ["a line of another format", '{"log":"bootproof-log/4","n":1'],
  ])("removes nothing that is not part of a line: %s", async (_name, text) => {
    for (const before of [0, 2]) {
      const path = newPath();
      if (before > 0) await written(path, before);
      appendFileSync(path, text);
      const whole = readFileSync(path);
      await expect(openLog(path)).rejects.toThrow(/no line feed and is not part of an entry/);
      expect(readFileSync(path)).toEqual(whole);
    }
  });

  it.each(['{"log":"boot\0\0\0\0', '{"log":"bootproof-log/2","n":3', '{"log":"bootproof-log/3","n":3'])(
    "removes the beginning of a line and zeros, which a kill or a power cut left: %j",
    async (left) => {
      const path = newPath();
      const lines = await written(path, 2);
      appendFileSync(path, left);
      const log = await openLog(path);
      await log.close();
      expect(readFileSync(path, "utf8")).toBe(textOf(lines));
    },
  );

  it("loses only an unfinished last line, and reports it", async () => {
    const path = newPath();
    const lines = await written(path, 3);
    const whole = textOf(lines);
    for (const part of [1, 40, lines[2]!.bytes.length]) {
      writeFileSync(path, whole.slice(0, textOf(lines.slice(0, 2)).length + part));
      const notes: string[] = [];
      const log = await openLog(path, { onNote: (text) => notes.push(text) });
      expect(notes).toEqual([expect.stringMatching(`line 3 was incomplete.* its ${part} bytes were removed`)]);
      expect(log.tail().entries).toBe(2);
      await log.close();
      expect(readFileSync(path, "utf8")).toBe(textOf(lines.slice(0, 2)));
    }
  });

  it.each([
    ["with lines behind it", "\nmore\n"],
    ["at the end", ""],
  ])("with a line that is too long is unchanged and not opened: %s", async (_, end) => {
    const path = newPath();
    const lines = await written(path, 2);
    const found = `${textOf(lines)}${"x".repeat(MAX_LINE_BYTES + 1)}${end}`;
    writeFileSync(path, found);
    const notes: string[] = [];
    const refused = openLog(path, { onNote: (text) => notes.push(text) });
    await expect(refused).rejects.toBeInstanceOf(LogError);
    await expect(refused).rejects.toMatchObject({ fault: { line: 3, kind: "malformed" } });
    expect(readFileSync(path, "utf8") === found).toBe(true);
    expect(notes).toEqual([]);
  });

  it("is unchanged if its chain is broken", async () => {
    const path = newPath();
    const [one, , three] = await written(path, 3);
    const broken = textOf([one!, three!]);
    writeFileSync(path, broken);
    const refused = openLog(path);
    await expect(refused).rejects.toBeInstanceOf(LogError);
    await expect(refused).rejects.toMatchObject({ fault: { line: 2, kind: "removed" } });
    expect(readFileSync(path, "utf8")).toBe(broken);
    // The lock is released, too, so that a repaired log can be continued.
    writeFileSync(path, textOf([one!]));
    await (await openLog(path)).close();
  });

  it.each<[string, () => string, RegExp]>([
    ["a folder", () => folder, /a directory, not a file/],
    ["no folder", () => join(folder, "none", "log"), /there is no such file or folder/],
    ["a device", () => "/dev/full", /a device, a pipe or a similar file/],
  ])("is no other thing: %s", async (_, path, message) => {
    await expect(openLog(path())).rejects.toThrow(message);
  });

  it.each<[string, (path: string) => void, RegExp]>([
    ["removed", (path) => rmSync(path), MOVED],
    ["moved", (path) => renameSync(path, `${path}.1`), MOVED],
    ["replaced by a copy", replaceByCopy, MOVED],
    ["written to", (path) => appendFileSync(path, "x"), WRITTEN],
    ["shortened", (path) => truncateSync(path, 3), WRITTEN],
    ["edited", (path) => editLast(path), /^its last line, entry 2, was edited$/],
    [
      "without its last line feed",
      (path) => overwrite(path, statSync(path).size - 1, "x"),
      /^its last line, entry 2, was edited$/,
    ],
  ])("that is %s is noticed by a check and by an append, which write nothing", async (_, meddle, message) => {
    const path = newPath();
    const log = await openLog(path);
    for (const boot of [1, 2]) await add(log, boot);
    await log.check();
    meddle(path);
    const found = existsSync(path) ? readFileSync(path, "utf8") : null;
    for (const tried of [() => log.check(), () => add(log, 3)])
      await expect(tried()).rejects.toMatchObject({
        name: "LogChangedError",
        message: expect.stringMatching(message) as unknown,
      });
    expect(existsSync(path) ? readFileSync(path, "utf8") : null).toBe(found);
    await log.close();
  });

  it("is not checked while a line is half written", async () => {
    const path = newPath();
    const log = await openLog(path);
    const checks: Promise<void>[] = [];
    const adding = (async () => {
      for (let boot = 1; boot <= 20; boot++) await add(log, boot);
    })();
    // Checks are made in turn, so on a slow machine their number would grow without a limit.
    const timer = setInterval(() => checks.length < 200 && checks.push(log.check()));
    await adding;
    clearInterval(timer);
    await Promise.all([...checks, log.check()]);
    await log.close();
  });

  it("that was removed together with its lock counts as removed", async () => {
    const path = newPath();
    const log = await openLog(path);
    for (const file of [path, `${path}.lock`]) rmSync(file);
    await expect(log.check()).rejects.toThrow(MOVED);
    await log.close();
  });
});

function replaceByCopy(path: string): void {
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
}

function overwrite(path: string, at: number, text: string): void {
  const file = openSync(path, "r+");
  writeSync(file, text, at);
  closeSync(file);
}

function editLast(path: string): void {
  overwrite(path, readFileSync(path, "utf8").lastIndexOf("prod"), "test");
}

describe("refusals that were not delivered", () => {
  it("are delivered after a restart, oldest first, until each is marked", async () => {
    const path = newPath();
    const lines = await written(path, 4);
    const first = await openLog(path);
    expect(first.undelivered("refusal")).toEqual(lines.map(({ entry: { n, at } }) => ({ n, at })));
    expect((await first.lineOf("refusal", 2)).hash).toBe(lines[1]!.hash);
    // Not in order: entry 1 cannot be delivered.
    for (const n of [2, 4]) await first.markDelivered("refusal", n);
    expect(waiting(first)).toEqual([1, 3]);
    await first.close();
    const second = await openLog(path);
    expect(waiting(second)).toEqual([1, 3]);
    await second.markDelivered("refusal", 1);
    await second.markDelivered("refusal", 1);
    await second.close();
    const third = await openLog(path);
    expect(waiting(third)).toEqual([3]);
    await expect(third.lineOf("refusal", 1)).rejects.toThrow("entry 1 is not an undelivered refusal");
    await third.markDelivered("refusal", 3);
    await add(third, 5);
    await third.close();
    const fourth = await openLog(path);
    expect(waiting(fourth)).toEqual([]);
    await fourth.close();
  });

  it("are all delivered again by an older version, which knows no exceptions", async () => {
    const path = newPath();
    await written(path, 3);
    const mark = (): object => JSON.parse(readFileSync(`${path}.handed-on`, "utf8")) as object;
    const log = await openLog(path);
    await log.markDelivered("refusal", 2);
    // An older version needs the member n.
    expect(mark()).toMatchObject({ upTo: 3, except: [1, 3] });
    expect(mark()).not.toHaveProperty("n");
    for (const n of [1, 3]) await log.markDelivered("refusal", n);
    expect(mark()).toMatchObject({ n: 3 });
    await log.close();
  });

  it.each<[string, (path: string) => void]>([
    ["is lost", (path) => rmSync(path)],
    ["is of another log", (path) => writeFileSync(path, JSON.stringify({ n: 3, hash: "ab".repeat(32) }))],
    [
      "is of another log, with exceptions",
      (path) => writeFileSync(path, JSON.stringify({ upTo: 3, hash: "ab".repeat(32), except: [2] })),
    ],
    ["is damaged", (path) => writeFileSync(path, "{")],
  ])("are all delivered again if the mark %s", async (_, damage) => {
    const path = newPath();
    await written(path, 3);
    const log = await openLog(path);
    for (const n of [1, 2, 3]) await log.markDelivered("refusal", n);
    await log.close();
    damage(`${path}.handed-on`);
    const again = await openLog(path);
    expect(waiting(again)).toEqual([1, 2, 3]);
    await again.close();
  });

  it("are not delivered if their line was changed", async () => {
    const path = newPath();
    await written(path, 1);
    const log = await openLog(path);
    writeFileSync(path, readFileSync(path, "utf8").replace("prod", "test"));
    await expect(log.lineOf("refusal", 1)).rejects.toThrow("line 1 was changed");
    await log.close();
  });
});

describe("one process a log", () => {
  it("has the lock under any name until it is closed", async () => {
    const path = newPath();
    const log = await openLog(path);
    const other = newPath();
    symlinkSync(path, other);
    for (const name of [path, other]) {
      await expect(openLog(name)).rejects.toBeInstanceOf(LogInUseError);
      await expect(openLog(name)).rejects.toThrow(`in use by process ${process.pid}: only one process may use a log`);
    }
    await log.close();
    await (await openLog(other)).close();
  });

  const ended = spawnSync(process.execPath, ["-e", ""]).pid;
  const here = thisProcess();
  // Where processes have no such names, locks are observed for 15 seconds: test/disk/lock.test.ts.
  it.runIf(process.platform === "linux").each<[string, object | string, boolean]>([
    ["that has ended", { ...here, pid: ended, id: ID }, true],
    ["that has ended, and whose id another one has", { ...here, started: `${here.started!} 1`, id: ID }, true],
    ["that runs", { ...here, id: ID }, false],
    ["that it does not name", "{}", false],
    ["by a name that leads elsewhere", { ...here, pid: ended, id: "../x" }, false],
  ])("replaces the lock of a process %s, or not", async (_, holder, takesOver) => {
    const path = newPath();
    const lock = `${path}.lock`;
    writeFileSync(lock, typeof holder === "string" ? holder : JSON.stringify(holder));
    if (takesOver) await (await openLog(path)).close();
    else {
      const [known, unknown] = [
        "only one process may use a log\\. It renews its lock,",
        "only one process may use a log\\. If .*remove",
      ];
      const sentence = `^in use by (?:process \\d+: ${known}|another process: ${unknown}) ${lock}$`;
      await expect(openLog(path)).rejects.toThrow(new RegExp(sentence));
      rmSync(lock);
    }
    expect(readdirSync(folder).filter((name) => name.includes(".lock"))).toEqual([]);
  });

  it("writes no more without its lock", async () => {
    const path = newPath();
    const log = await openLog(path);
    await add(log, 1, "rejected");
    const before = readFileSync(path, "utf8");
    writeFileSync(`${path}.lock`, JSON.stringify({ ...here, pid: 7, id: ID }));
    await expect(add(log, 2)).rejects.toMatchObject({
      name: "LogInUseError",
      message: expect.stringContaining("process 7 of") as unknown,
    });
    await expect(log.markDelivered("refusal", 1)).rejects.toBeInstanceOf(LogInUseError);
    // The process that has the lock may have written to the log: that is no change by another program.
    appendFileSync(path, "{}\n");
    await expect(log.check()).rejects.toBeInstanceOf(LogInUseError);
    truncateSync(path, before.length);
    expect([readFileSync(path, "utf8"), existsSync(`${path}.handed-on`)]).toEqual([before, false]);
    await log.close();
    rmSync(`${path}.lock`);
  });

  it("needs to read its lock only to write", async () => {
    const path = newPath();
    const log = await openLog(path);
    await add(log, 1);
    const lock = readFileSync(`${path}.lock`);
    rmSync(`${path}.lock`);
    mkdirSync(`${path}.lock`);
    await log.check();
    await expect(add(log, 2)).rejects.toMatchObject({ name: "LogError", message: "not a regular file" });
    // A lock that cannot be read hides no change of the log.
    editLast(path);
    await expect(log.check()).rejects.toThrow("its last line, entry 1, was edited");
    editBack(path);
    rmSync(`${path}.lock`, { recursive: true });
    writeFileSync(`${path}.lock`, lock);
    await add(log, 2);
    await log.close();
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

function editBack(path: string): void {
  overwrite(path, readFileSync(path, "utf8").lastIndexOf("test"), "prod");
}

it("a log in a linked folder has one lock", async () => {
  const [real, link] = [join(folder, "real"), join(folder, "link")];
  mkdirSync(real);
  symlinkSync(real, link);
  const log = await openLog(join(real, "log"));
  await expect(openLog(join(link, "log"))).rejects.toBeInstanceOf(LogInUseError);
  await log.close();
});
