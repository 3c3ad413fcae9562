/** `measure` and `inspect` of the built command, on images of any size. Needs `npm run build`. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import {
  CMDLINE,
  KERNEL,
  METADATA,
  SECTIONS,
  TYPE,
  imageOf,
  newSigner,
  pcrsOf,
  signatureSection,
  signed,
} from "../support/images.js";

const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bootproof-images-"));
afterAll(() => rmSync(folder, { recursive: true }));

function built(args: readonly string[], more: object = {}): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [COMMAND, ...args], { encoding: "utf8", ...more });
}

function fileOf(name: string, bytes: Uint8Array | string): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

describe.each(["P-256", "P-384", "P-521"] as const)("an image that a key of %s signed", (curve) => {
  const signer = newSigner(curve);
  const image = imageOf({ sections: signed(signer) });
  const path = fileOf(`${curve}.eif`, image);
  const pcrs = pcrsOf(SECTIONS, signer.certificate);

  it("is measured, from a file and from stdin", () => {
    for (const [argument, input] of [[path], ["-", image]] as const) {
      const { status, stdout, stderr } = built(["measure", argument, "--format", "json"], { input });
      expect([status, stderr]).toEqual([0, ""]);
      expect(JSON.parse(stdout)).toMatchObject({ format: "bootproof-measurement/1", pcrs });
    }
  });

  it("is shown", () => {
    const { status, stdout } = built(["inspect", path]);
    expect(status).toBe(0);
    expect(stdout).toContain("CN=builder");
  });

  it("is refused with every fault where it is damaged", () => {
    const flipped = (raw: Uint8Array): Uint8Array => raw.map((byte, index) => (index === 40 ? byte ^ 1 : byte));
    const signature = signatureSection({ signer, pcr0: pcrs[0]!, signature: flipped });
    const damaged = imageOf({ sections: [...SECTIONS, signature], reserved: 1, crc: 0 });
    const { status, stdout, stderr } = built(["measure", fileOf("damaged.eif", damaged)]);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("header.reserved: not zero");
    expect(stderr).toContain("header.crc: ");
    expect(stderr).toContain("signature[0].signature: not made with the key of its certificate");
    expect(stderr).not.toContain("unexpected");
  });
});

it("holds image, role and binary against a policy", () => {
  const image = fileOf("app.eif", imageOf({ sections: SECTIONS }));
  const binary = fileOf("app", "a program");
  const arn = "arn:aws:iam::123456789012:role/Name";
  const pivotHash = createHash("sha256").update("a program").digest("hex");
  const role = createHash("sha384").update(Buffer.alloc(48)).update(arn).digest("hex");
  const pcrs: Record<number, string> = { ...pcrsOf(SECTIONS), 3: role };
  const boot = fileURLToPath(new URL("../../test-vectors/boot-proofs/bootproof-1.json", import.meta.url));
  const policy = JSON.parse(built(["pin", "--boot-proof", boot, "--name", "one"]).stdout) as {
    deployments: Record<string, unknown>[];
  };
  const all = ["measure", image, "--binary", binary, "--role-arn", arn, "--policy"];
  const other = built([...all, fileOf("other.json", JSON.stringify(policy))]);
  expect([other.status, other.stderr]).toEqual([1, ""]);
  expect(other.stdout).toContain(`    found    ${pcrs[0]}\n`);
  Object.assign(policy.deployments[0]!, { pcrs, pivotHash });
  const same = built([...all, fileOf("same.json", JSON.stringify(policy))]);
  expect([same.status, same.stderr]).toEqual([0, ""]);
  expect(same.stdout).toMatch(/^PINNED: /);
  expect(built(["measure", image, "--role-arn", "Name"]).status).toBe(2);
});

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

  it("is named by the command that wants another file", () => {
    const { status, stderr } = built(["verify", "--boot-proof", path, "--no-policy"]);
    expect([status, stderr]).toEqual([
      2,
      `bootproof: ${path}: this is an enclave image: bootproof measure shows its PCRs\n`,
    ]);
  });
});
