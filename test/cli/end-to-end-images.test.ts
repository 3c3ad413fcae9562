/** `measure` and `inspect` of the built command, on a large image. Needs `npm run build`. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { CMDLINE, KERNEL, METADATA, TYPE, imageOf } from "../support/images.js";
import { COMMAND } from "./process.js";

const folder = mkdtempSync(join(tmpdir(), "bootproof-images-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("a large image", () => {
  const MIB = 1024 * 1024;
  /** BOOTPROOF_SOAK=full: of the size that images have. */
  const mebibytes = process.env["BOOTPROOF_SOAK"] === "full" ? 300 : 96;
  const path = join(folder, "large.eif");
  const size = BigInt(mebibytes * MIB);
  const start = imageOf({
    sections: [KERNEL, CMDLINE, METADATA, { type: TYPE.ramdisk, data: new Uint8Array(), size, tableSize: size }],
  });
  const content = createHash("sha384").update(KERNEL.data).update(CMDLINE.data);
  let crc = crc32(start.subarray(548), crc32(start.subarray(0, 0x220)));
  const file = openSync(path, "w");
  writeSync(file, start);
  for (let index = 0; index < mebibytes; index++) {
    const piece = Buffer.alloc(MIB, index);
    content.update(piece);
    crc = crc32(piece, crc);
    writeSync(file, piece);
  }
  const field = Buffer.alloc(4);
  field.writeUInt32BE(crc);
  writeSync(file, field, 0, 4, 0x220);
  closeSync(file);
  const pcr0 = createHash("sha384").update(Buffer.alloc(48)).update(content.digest()).digest("hex");

  /** With the most memory that the process ever had, in KiB, as the last line of stderr. */
  // Linux counts for maxRSS what the process had before it was this program: that of whoever started it.
  const MEMORY = `import { existsSync, readFileSync } from "node:fs";
    const own = () => /VmHWM:\\s*(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1];
    const most = () => (existsSync("/proc/self/status") ? own() : process.resourceUsage().maxRSS);
    process.on("exit", () => process.stderr.write(String(most())))`;
  const MOST = 200 * 1024;
  const inFlatMemory = (...args: string[]): string => {
    const preload = `--import=data:text/javascript,${encodeURIComponent(MEMORY)}`;
    const { status, stdout, stderr } = spawnSync(process.execPath, [preload, COMMAND, ...args], { encoding: "utf8" });
    expect(stderr).toMatch(/^[0-9]+$/);
    expect(Number(stderr)).toBeGreaterThan(20 * 1024);
    expect(Number(stderr)).toBeLessThan(MOST);
    expect(status).toBe(0);
    return stdout;
  };

  it("is measured in flat memory", () => {
    const { pcrs, image } = JSON.parse(inFlatMemory("measure", path, "--format", "json")) as {
      pcrs: Record<number, string>;
      image: { size: number };
    };
    expect([pcrs[0], pcrs[1]]).toEqual([pcr0, pcr0]);
    expect(image.size).toBe(start.length + mebibytes * MIB);
  }, 60_000);

  it("and as a binary", () => {
    const hash = createHash("sha256").update(readFileSync(path)).digest("hex");
    expect(inFlatMemory("measure", "--binary", path)).toContain(`  ${hash}\n`);
  }, 60_000);

  it("is shown in flat memory", () => {
    expect(inFlatMemory("inspect", path)).toContain(`(read)       ${start.length + mebibytes * MIB} bytes`);
  }, 60_000);
});
