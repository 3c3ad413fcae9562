/** A policy that the built command writes: killed, without rights and space, twice at once. Needs `npm run build`. */
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { PolicyFile } from "../../src/appraise/policy.js";
import { Process, run } from "./process.js";
import { BOOT_1, bootproof, fileOf, readJson, vector } from "./support.js";

const NEW = vector("boot-proofs/staging-signer-20260702.json");
const before = (await bootproof(["pin", "--boot-proof", BOOT_1])).stdout;
const folder = (): string => mkdtempSync(join(tmpdir(), "bootproof-life-"));

/** What happens to the process when it renames, or before. */
const preload = (text: string): string => fileOf(`const files = require("node:fs/promises"); ${text}`, "preload.cjs");
const failing = (code: string): string => `throw Object.assign(new Error("failed"), { code: "${code}" });`;
const FAULTS: readonly (readonly [what: string, text: string, reason: string | null])[] = [
  ["it is killed", "files.rename = async () => process.kill(process.pid, 'SIGKILL');", null],
  ["it has no right to", `files.rename = async () => { ${failing("EACCES")} };`, "permission denied"],
  ["the disk is gone", `files.rename = async () => { ${failing("EIO")} };`, "the disk reports an I/O error"],
  [
    "the disk is full",
    `const { open } = files;
    files.open = async (...given) =>
      Object.assign(await open(...given), { sync: async () => { ${failing("ENOSPC")} } });`,
    "no space left",
  ],
];

it.each(FAULTS)("is whole where %s between write and rename", async (_, text, reason) => {
  const at = folder();
  const path = join(at, "policy.json");
  writeFileSync(path, before);
  const node = ["--require", preload(text)];
  const { child, ended } = new Process(["pin", "--boot-proof", NEW, "--add-to", path], { node });
  const { code, stderr } = await ended;
  expect([code, child.signalCode]).toEqual(reason === null ? [null, "SIGKILL"] : [2, null]);
  expect(readFileSync(path, "utf8")).toBe(before);
  if (reason === null) return;
  expect(stderr).toContain(`bootproof: ${path}: not written, and left as it was: ${reason}\n`);
  expect(readdirSync(at)).toEqual(["policy.json"]);
});

it("is one policy or the other where processes write it at once", async () => {
  const at = folder();
  const path = join(at, "policy.json");
  const write = (file: string): Promise<unknown> => run("pin", "--boot-proof", file, "--out", path, "--force");
  for (const ended of await Promise.all([BOOT_1, NEW, BOOT_1].map(write))) expect(ended).toMatchObject({ code: 0 });
  const names = (readJson(path) as unknown as PolicyFile).deployments.map(({ name }) => name);
  expect([["preprod/signer nonce 20250902"], ["0xkey/signer nonce 18"]]).toContainEqual(names);
  expect(readdirSync(at)).toEqual(["policy.json"]);
});
