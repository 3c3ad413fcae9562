/** A log on a disk that is full for a while: nothing is lost, nothing is written by halves, and nothing ends. */
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type LogLine, lineAfter } from "../../src/watch/entry.js";
import { readCheckpoint, verifyLog } from "../../src/watch/index.js";
import { type OpenLogOptions, type OpenedLog, openLog, readLog } from "../../src/watch/node.js";
import { testFolder } from "../support/folder.js";
import { finding, textOf } from "../watch/support.js";

const root = testFolder();
const mounts: string[] = [];
let count = 0;

/** Mounts a small disk. Only root may, on Linux. */
function mounted(options: string): string | null {
  const folder = join(root, `disk-${count++}`);
  mkdirSync(folder);
  if (process.platform !== "linux") return null;
  if (spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder]).status !== 0) return null;
  mounts.push(folder);
  return folder;
}

afterEach(() => {
  vi.restoreAllMocks();
  for (const folder of mounts.splice(0)) spawnSync("umount", ["--lazy", folder]);
});

const probe = mounted("size=64k");
const hasDisks = probe !== null;
if (probe !== null) spawnSync("umount", [probe]);
mounts.splice(0);

/** Fills the disk but for so many pages of 4 KiB, and returns what frees it. */
function fill(folder: string, pages = 0): () => void {
  const path = join(folder, "filler");
  const file = openSync(path, "w");
  const page = Buffer.alloc(4096);
  let written = 0;
  try {
    for (;;) written += writeSync(file, page);
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
  }
  closeSync(file);
  if (pages > 0) spawnSync("truncate", ["-s", String(written - pages * 4096), path]);
  return () => rmSync(path);
}

async function lineFor(log: OpenedLog, size: number): Promise<LogLine> {
  const { entries } = log.tail();
  return lineAfter(
    log.tail(),
    await finding("signer", { boot: entries, text: "x".repeat(size) }, { verdict: "rejected" }),
  );
}

async function add(log: OpenedLog, size = 100): Promise<LogLine> {
  const line = await lineFor(log, size);
  await log.append(line);
  return line;
}

const waiting = (log: OpenedLog): number[] => log.undelivered("refusal").map(({ n }) => n);
const pair = generateKeyPairSync("ed25519");
const key = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const publicKey = pair.publicKey.export({ type: "spki", format: "pem" }).toString();
const FULL = { name: "LogFullError", message: "no space left" };

describe.runIf(hasDisks)("a log on a full disk", () => {
  it("refuses a line, keeps no part of it, and takes it later", async () => {
    const folder = mounted("size=256k")!;
    const path = join(folder, "boots.jsonl");
    const log = await openLog(path);
    const lines = [await add(log)];
    // With no page, with one, and with some left, so that a part of the line was written.
    for (const pages of [0, 1, 5]) {
      const free = fill(folder, pages);
      const line = await lineFor(log, 40_000);
      for (let tries = 0; tries < 2; tries++) {
        await expect(log.append(line)).rejects.toMatchObject(FULL);
        await log.check();
        expect(readFileSync(path, "utf8")).toBe(textOf(lines));
      }
      expect(log.tail().entries).toBe(lines.length);
      free();
      await log.append(line);
      lines.push(line);
      expect(readFileSync(path, "utf8")).toBe(textOf(lines));
    }
    await log.close();
  });

  it.each<[string, OpenLogOptions, string]>([
    ["without a key", {}, ".handed-on"],
    ["with a key", { checkpoint: { key } }, ".state"],
  ])("goes on without marks, and writes them when it can: %s", async (_, options, suffix) => {
    const folder = mounted("size=256k")!;
    const path = join(folder, "boots.jsonl");
    const notes: string[] = [];
    const log = await openLog(path, { ...options, onNote: (text) => notes.push(text) });
    for (let n = 0; n < 3; n++) await add(log);
    const free = fill(folder);
    await log.markDelivered("refusal", 1);
    await log.markDelivered("refusal", 3);
    await log.check();
    expect(waiting(log)).toEqual([2]);
    // Reported once, by the name of the file.
    expect(notes).toEqual([`${path}${suffix}: no space left: it is written as soon as possible`]);
    // What a kill now costs: both are delivered once more.
    expect(await openedCopy(folder, options)).toEqual([1, 2, 3]);
    free();
    await log.check();
    expect(await openedCopy(folder, options)).toEqual([2]);
    await log.close();
    const again = await openLog(path, options);
    expect(waiting(again)).toEqual([2]);
    await again.close();
  });

  /** What a start after a kill finds undelivered. */
  async function openedCopy(folder: string, options: OpenLogOptions): Promise<number[]> {
    const copy = join(root, `copy-${count++}`);
    mkdirSync(copy);
    for (const name of readdirSync(folder))
      if (!/lock|filler/.test(name)) writeFileSync(join(copy, name), readFileSync(join(folder, name)));
    const log = await openLog(join(copy, "boots.jsonl"), options);
    const found = waiting(log);
    await log.close();
    return found;
  }

  it("records lines while there is no place for the checkpoint, which follows", async () => {
    const folder = mounted("size=64k")!;
    const [path, file] = [join(root, `boots-${count++}.jsonl`), join(folder, "note")];
    const [notes, published]: [string[], string[]] = [[], []];
    const log = await openLog(path, {
      checkpoint: { key, file, onCheckpoint: (note) => published.push(note) },
      onNote: (text) => notes.push(text),
    });
    const free = fill(folder);
    for (let n = 0; n < 2; n++) await add(log);
    expect([notes, published, existsSync(file)]).toEqual([
      [`${file}: no space left: it is written as soon as possible`],
      [],
      false,
    ]);
    free();
    await log.check();
    expect(published).toEqual([readFileSync(file, "utf8")]);
    expect(await readCheckpoint(published[0]!, { key: publicKey })).toMatchObject(log.tail());
    await log.close();
  });

  it("continues in the next file when there is a place for it", async () => {
    const folder = mounted("size=256k,nr_inodes=8")!;
    const path = join(folder, "boots.jsonl");
    const log = await openLog(path, { rotate: { bytes: 1 } });
    const inodes: string[] = [];
    for (let n = 0; n < 8; n++) {
      const file = join(folder, `inode-${n}`);
      try {
        writeFileSync(file, "");
        inodes.push(file);
      } catch {
        break;
      }
    }
    // The line is recorded, as is the entry that names the next file.
    await add(log);
    expect(log.tail().entries).toBe(2);
    await log.check();
    const line = await lineFor(log, 100);
    await expect(log.append(line)).rejects.toMatchObject({ ...FULL, message: "boots.2.jsonl: no space left" });
    for (const file of inodes) rmSync(file);
    await log.append(line);
    await log.close();
    const files = ["boots.jsonl", "boots.2.jsonl", "boots.3.jsonl"].map((name) => join(folder, name));
    const streams = files.map((file) => ({ name: file, stream: readLog(file) }));
    expect(await verifyLog(streams)).toMatchObject({ intact: true, entries: 4 });
  });

  it("continues later where the entry that names the next file found no place", async () => {
    const folder = mounted("size=256k")!;
    const path = join(folder, "boots.jsonl");
    const log = await openLog(path, { rotate: { bytes: 4000 } });
    const free = fill(folder, 1);
    // So that the first line fills the page, and the next entry needs another one.
    const { bytes } = await lineFor(log, 0);
    await add(log, 4096 - bytes.length - 1);
    expect([log.tail().entries, readFileSync(path).length]).toEqual([1, 4096]);
    free();
    await add(log);
    expect(log.tail().entries).toBe(3);
    await log.close();
    expect(readdirSync(folder).sort()).toEqual(["boots.2.jsonl", "boots.jsonl"]);
  });

  it("is not begun there, and the error names the file", async () => {
    const folder = mounted("size=64k")!;
    const path = join(folder, "boots.jsonl");
    const free = fill(folder);
    await expect(openLog(path)).rejects.toMatchObject({
      name: "LogError",
      message: `${path}.lock: no space left`,
    });
    expect(readdirSync(folder)).toEqual(["filler"]);
    free();
  });

  it("has its first line only after its first state, so that a kill needs no adoption", async () => {
    const folder = mounted("size=64k")!;
    const path = join(folder, "boots.jsonl");
    await (await openLog(path, { checkpoint: { key } })).close();
    expect(readFileSync(`${path}.state`, "utf8")).toMatch(/^bootproof-log-state\/3\nnull\n/);
    rmSync(`${path}.state`);
    // The lock takes the only page.
    fill(folder, 1);
    const notes: string[] = [];
    const log = await openLog(path, { checkpoint: { key }, onNote: (text) => notes.push(text) });
    expect(notes).toEqual([`${path}.state: no space left: it is written as soon as possible`]);
    // One page is free: for the state, not for the line.
    spawnSync("truncate", ["-s", "-4096", join(folder, "filler")]);
    const line = await lineFor(log, 0);
    await expect(log.append(line)).rejects.toMatchObject(FULL);
    expect([readFileSync(path, "utf8"), existsSync(`${path}.state`)]).toEqual(["", true]);
    rmSync(join(folder, "filler"));
    await log.append(line);
    await log.close();
  });
});

describe("a line of which the disk took a part", () => {
  /** Makes the next write of a file stop half-way, and cutting it off fail so many times. */
  async function failing(path: string, truncations: number): Promise<void> {
    const handle = await open(path);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    const full = (): Error => Object.assign(new Error("full"), { code: "EIO" });
    const write = prototype.write as unknown as (
      bytes: Uint8Array,
      at: number,
      length: number,
      place: number,
    ) => Promise<never>;
    const spy = vi.spyOn(prototype, "write");
    spy.mockImplementationOnce(async function (this: FileHandle, ...args: unknown[]) {
      const [bytes, at, length, place] = args as [Uint8Array, number, number, number];
      return write.call(this, bytes, at, Math.floor(length / 2), place);
    } as never);
    spy.mockImplementationOnce(() => Promise.reject(full()));
    const truncate = vi.spyOn(prototype, "truncate");
    for (let n = 0; n < truncations; n++) truncate.mockImplementationOnce(() => Promise.reject(full()));
  }

  it("is cut off before the next try where that failed, too", async () => {
    const path = join(root, `boots-${count++}.jsonl`);
    const log = await openLog(path);
    const first = await add(log);
    const line = await lineFor(log, 100);
    await failing(path, 3);
    await expect(log.append(line)).rejects.toMatchObject({ name: "LogFullError" });
    expect(readFileSync(path).length).toBeGreaterThan(first.bytes.length + 1);
    // A check and an append fail to cut it off, and do not take it for another program's.
    await log.check();
    await expect(log.append(line)).rejects.toMatchObject({ name: "LogFullError" });
    await log.append(line);
    expect(readFileSync(path, "utf8")).toBe(textOf([first, line]));
    await log.close();
  });

  it("is cut off by the next start after a kill", async () => {
    const path = join(root, `boots-${count++}.jsonl`);
    const log = await openLog(path);
    const first = await add(log);
    await failing(path, 1);
    await expect(add(log)).rejects.toMatchObject({ name: "LogFullError" });
    const left = join(root, `left-${count++}.jsonl`);
    renameSync(path, left);
    const again = await openLog(left);
    expect(again.tail().entries).toBe(1);
    expect(readFileSync(left, "utf8")).toBe(textOf([first]));
    await again.close();
    await log.close();
  });

  it("hides nothing that another program wrote behind it", async () => {
    const path = join(root, `boots-${count++}.jsonl`);
    const log = await openLog(path);
    await add(log);
    await failing(path, 1);
    await expect(add(log)).rejects.toMatchObject({ name: "LogFullError" });
    writeFileSync(path, readFileSync(path, "utf8") + "x".repeat(2000));
    await expect(log.check()).rejects.toMatchObject({ name: "LogChangedError" });
    await log.close();
  });
});
