/** The file of results: for one process, and never more than the chain that this process knows. */
import { generateKeyPairSync } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { readCheckpoint, verifyRun } from "../../src/run/index.js";
import { lineAfter, type RunLine } from "../../src/run/line.js";
import { RunFile, type RunFileOptions, runStreams } from "../../src/run/node.js";
import { fastTestFolder } from "../support/folder.js";
import { START, audited, linesOf, textOf } from "./lines.js";

const folder = fastTestFolder();
let count = 0;
const newPath = (): string => join(folder, `results-${count++}.jsonl`);
const lines = await linesOf(3);
const written = (count: number): string => {
  const path = newPath();
  writeFileSync(path, textOf(lines.slice(0, count)));
  return path;
};
const add = async (file: RunFile, line = 1): Promise<RunLine> => {
  const added = await lineAfter(file.end, START.toISOString(), audited(line));
  await file.append(added);
  return added;
};
const refused = (path: string, options?: RunFileOptions): Promise<{ code: string; message: string }> =>
  RunFile.open(path, options).then(
    () => Promise.reject(new Error("it was opened")),
    (error: { code: string; message: string }) => error,
  );

describe("a file", () => {
  it("is readable only by its owner, and goes on where it ended", async () => {
    const path = newPath();
    const first = await RunFile.open(path);
    const one = await add(first);
    await first.close();
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
    const found: [number, number][] = [];
    const again = await RunFile.open(path, { onLine: ({ entry }, offset) => found.push([entry.n, offset]) });
    const two = await add(again, 2);
    expect(Buffer.from(await again.read(one.bytes.length + 1, two.bytes.length))).toEqual(Buffer.from(two.bytes));
    await again.close();
    expect(found).toEqual([[1, 0]]);
    expect(readFileSync(path, "utf8")).toBe(textOf([one, two]));
    expect(readdirSync(dirname(path)).filter((name) => name.includes("lock"))).toEqual([]);
    await (await RunFile.open(path, { isNew: true })).close();
    expect(readFileSync(path, "utf8")).toBe("");
  });

  it.each(['{"run":"boot\0\0\0\0', '{"run":"bootproof-run/1","n":3', "{", "\0\0"])(
    "loses only the beginning of a line, and zeros, which a kill or a power cut left: %j",
    async (left) => {
      const path = written(2);
      appendFileSync(path, left);
      const notes: string[] = [];
      await (await RunFile.open(path, { onNote: (text) => notes.push(text) })).close();
      expect(readFileSync(path, "utf8")).toBe(textOf(lines.slice(0, 2)));
      expect(notes).toEqual(["its last line was not finished, as after a kill: it was cut off"]);
    },
  );

  it.each<[string, (path: string) => void, string, RegExp]>([
    ["another end", (path) => appendFileSync(path, "mine"), "broken", /^line 3: it is not the beginning of a line/],
    [
      "a line of another format",
      (path) => appendFileSync(path, '{"log":"bootproof-log/2"}\n'),
      "broken",
      /earlier version/,
    ],
    [
      "a broken chain",
      (path) => writeFileSync(path, textOf([lines[0]!, lines[2]!])),
      "broken",
      /^line 2: it has the number 3/,
    ],
    ["a folder in its place", (path) => (rmSync(path), mkdirSync(path)), "disk", /a directory, not a file/],
    [
      "a pipe in its place",
      (path) => (rmSync(path), execFileSync("mkfifo", [path])),
      "disk",
      /expected a regular file/,
    ],
    ["a folder as its lock", (path) => mkdirSync(`${path}.lock`), "in-use", /remove .*\.lock/],
    ["a pipe as its lock", (path) => execFileSync("mkfifo", [`${path}.lock`]), "in-use", /remove .*\.lock/],
  ])("with %s is refused at once, and stays as it was", async (_, change, code, message) => {
    const path = written(2);
    change(path);
    const before = statSync(path).isFile() ? readFileSync(path, "utf8") : "";
    const found = await refused(path);
    expect(found).toMatchObject({ name: "RunFileError", code });
    expect(found.message).toMatch(message);
    expect(statSync(path).isFile() ? readFileSync(path, "utf8") : "").toBe(before);
  });

  it.each<[string, (path: string) => void, string, RegExp]>([
    ["written to", (path) => appendFileSync(path, "x"), "changed", /expected \d+ bytes, got \d+/],
    ["shortened", (path) => truncateSync(path, 3), "changed", /expected \d+ bytes, got 3/],
    ["edited in its last line", (path) => edit(path), "changed", /its last line is another one/],
    ["removed", (path) => rmSync(path), "changed", /it was removed/],
    ["replaced by a copy", (path) => replace(path), "changed", /it was removed/],
    ["without its lock", (path) => rmSync(`${path}.lock`), "in-use", /was removed, so this process writes no more/],
    ["under another lock", (path) => writeFileSync(`${path}.lock`, "{}"), "in-use", /was overwritten/],
    [
      "under a folder as its lock",
      (path) => (rmSync(`${path}.lock`), mkdirSync(`${path}.lock`)),
      "disk",
      /not a regular file/,
    ],
    [
      "under a pipe as its lock",
      (path) => (rmSync(`${path}.lock`), execFileSync("mkfifo", [`${path}.lock`])),
      "disk",
      /regular/,
    ],
  ])("that is %s gets no line more", async (_, meddle, code, message) => {
    const path = newPath();
    const file = await RunFile.open(path);
    await add(file);
    await add(file, 2);
    meddle(path);
    const before = existsSync(path) ? readFileSync(path, "utf8") : null;
    const error = await add(file, 3).catch((found: unknown) => found as { code: string; message: string });
    expect(error).toMatchObject({ name: "RunFileError", code });
    expect((error as { message: string }).message).toMatch(message);
    expect(existsSync(path) ? readFileSync(path, "utf8") : null).toBe(before);
    await file.close();
  });

  it.skipIf(!existsSync("/dev/full"))("that the disk refuses keeps what it has", async () => {
    await expect(RunFile.open("/dev/full")).rejects.toMatchObject({ code: "disk" });
  });

  it("has one process, by any name", async () => {
    const path = newPath();
    const file = await RunFile.open(path);
    const link = `${path}.link`;
    symlinkSync(path, link);
    for (const name of [path, link]) expect(await refused(name)).toMatchObject({ code: "in-use" });
    await file.close();
    await (await RunFile.open(link)).close();
  });
});

describe("a file that was renamed", () => {
  it("goes on in a new one with its chain", async () => {
    const path = newPath();
    const file = await RunFile.open(path);
    await add(file);
    await file.reopen();
    await add(file, 2);
    renameSync(path, `${path}.1`);
    await add(file, 3);
    await file.reopen();
    await add(file, 4);
    await file.close();
    expect([`${path}.1`, path].map((one) => readFileSync(one, "utf8").split("\n").length - 1)).toEqual([3, 1]);
    expect(await verifyRun(runStreams([`${path}.1`, path]))).toMatchObject({ complete: true, entries: 4 });
    expect(await verifyRun(runStreams([path]))).toMatchObject({ intact: true, complete: false });
  });

  it("is followed by one that names it, and by no other", async () => {
    const [old, path] = [written(3), newPath()];
    const file = await RunFile.open(path, { after: old });
    await add(file);
    await file.close();
    expect(await verifyRun(runStreams([old, path]))).toMatchObject({ complete: true, entries: 4 });
    await (await RunFile.open(path, { after: old })).close();
    const other = newPath();
    await (await RunFile.open(other)).close();
    writeFileSync(other, textOf(lines.slice(0, 1)));
    expect((await refused(other, { after: old })).message).toMatch(/two chains were given/);
    expect(await refused(newPath(), { after: `${old}.none` })).toMatchObject({ code: "disk" });
  });

  it("is not followed by a file that has something", async () => {
    const path = newPath();
    const file = await RunFile.open(path);
    await add(file);
    renameSync(path, `${path}.1`);
    writeFileSync(path, "mine");
    await expect(file.reopen()).rejects.toMatchObject({ code: "changed" });
    await file.close();
    expect(readFileSync(path, "utf8")).toBe("mine");
  });
});

describe("a checkpoint", () => {
  const keys = generateKeyPairSync("ed25519");
  const key = keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const publicKey = keys.publicKey.export({ type: "spki", format: "pem" }).toString();

  it("is published with each line, and a file that ends before it is refused", async () => {
    const path = newPath();
    const note = `${path}.note`;
    const seen: number[] = [];
    const checkpoint = {
      key,
      file: note,
      onCheckpoint: (_: string, { entries }: { entries: number }) => void seen.push(entries),
    };
    const file = await RunFile.open(path, { checkpoint });
    await add(file);
    await add(file, 2);
    await file.close();
    expect(seen).toEqual([1, 2]);
    expect(await readCheckpoint(readFileSync(note), { key: publicKey })).toMatchObject({
      entries: 2,
      head: file.end.head,
    });
    const whole = readFileSync(path, "utf8");
    await (await RunFile.open(path, { checkpoint })).close();
    for (const cut of [whole.slice(0, whole.indexOf("\n") + 1), ""]) {
      writeFileSync(path, cut);
      const found = await refused(path, { checkpoint });
      expect(found).toMatchObject({
        code: "broken",
        message: expect.stringMatching(/the checkpoint is of line 2/) as string,
      });
    }
    writeFileSync(path, textOf(lines));
    expect((await refused(path, { checkpoint })).message).toMatch(/the file was rewritten/);
  });

  it("of another key or name is never replaced", async () => {
    const path = written(2);
    const note = `${path}.note`;
    writeFileSync(note, "mine");
    expect(await refused(path, { checkpoint: { key, file: note } })).toMatchObject({ code: "broken", file: note });
    const own = await RunFile.open(path, { checkpoint: { key, file: `${note}.2` } });
    await own.sync();
    await own.close();
    const other = { key, file: `${note}.2`, origin: "bootproof-log/other" };
    expect((await refused(path, { checkpoint: other })).message).toMatch(/of another log: its origin/);
  });
});

function edit(path: string): void {
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.slice(0, -3) + "x" + text.slice(-2));
}

function replace(path: string): void {
  writeFileSync(`${path}.copy`, readFileSync(path));
  renameSync(`${path}.copy`, path);
}
