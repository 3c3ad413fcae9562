/** A file of results on a full disk: no line is lost, none is written by halves, and a refusal is announced anyway. */
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { readCheckpoint } from "../../src/run/index.js";
import { type RunLine, lineAfter } from "../../src/run/line.js";
import { RunFile } from "../../src/run/node.js";
import { START, polled, textOf } from "../run/lines.js";
import { testFolder } from "../support/folder.js";

const root = testFolder();
const mounts: string[] = [];
let count = 0;

/** Mounts a small disk. Only root may, on Linux. */
function mounted(): string | null {
  const folder = join(root, `disk-${count++}`);
  mkdirSync(folder);
  if (process.platform !== "linux") return null;
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", folder]).status !== 0) return null;
  mounts.push(folder);
  return folder;
}

const unmount = (): void => mounts.splice(0).forEach((folder) => spawnSync("umount", ["--lazy", folder]));
afterEach(unmount);
const hasDisks = mounted() !== null;
unmount();

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

async function lineFor({ end }: RunFile, size = 100): Promise<RunLine> {
  const proof = { boot: end.entries, text: "x".repeat(size) };
  return lineAfter(end, START.toISOString(), await polled(proof, { verdict: "rejected" }));
}

async function add(file: RunFile): Promise<RunLine> {
  const line = await lineFor(file);
  await file.append(line);
  return line;
}

const FULL = { name: "RunFileError", code: "disk", message: "no space left" };

describe.runIf(hasDisks)("a file on a full disk", () => {
  it("refuses a line, keeps no part of it, and takes it later", async () => {
    const folder = mounted()!;
    const path = join(folder, "boots.jsonl");
    const file = await RunFile.open(path);
    const lines = [await add(file)];
    // With no page, with one, and with some left, so that a part of the line was written.
    for (const pages of [0, 1, 5]) {
      const free = fill(folder, pages);
      const line = await lineFor(file, 40_000);
      for (let tries = 0; tries < 2; tries++) {
        await expect(file.append(line)).rejects.toMatchObject(FULL);
        expect(readFileSync(path, "utf8")).toBe(textOf(lines));
      }
      expect(file.end.entries).toBe(lines.length);
      free();
      await file.append(line);
      lines.push(line);
      expect(readFileSync(path, "utf8")).toBe(textOf(lines));
    }
    await file.close();
  });

  it("takes lines while there is no place for the checkpoint, which follows", async () => {
    const folder = mounted()!;
    const note = join(folder, "note");
    const { privateKey, publicKey } = generateKeyPairSync("ed25519", {
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
      publicKeyEncoding: { type: "spki", format: "pem" },
    });
    const notes: string[] = [];
    const checkpoint = { key: privateKey, file: note };
    const path = join(root, `boots-${count++}.jsonl`);
    const file = await RunFile.open(path, { checkpoint, onNote: (text) => notes.push(text) });
    const free = fill(folder);
    for (let n = 0; n < 2; n++) await add(file);
    const said = "its checkpoint cannot be written: no space left. It is tried again";
    expect([notes, existsSync(note)]).toEqual([[said], false]);
    free();
    await add(file);
    expect(await readCheckpoint(readFileSync(note), { key: publicKey })).toMatchObject(file.end);
    await file.close();
  });
});
