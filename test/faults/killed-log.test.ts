/** A process that keeps a log with a key, killed at any moment: each start goes on, and nothing is silenced. */
import { spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { beforeAll, expect, it } from "vitest";
import { openLog } from "../../src/watch/node.js";
import { testFolder } from "../support/folder.js";

const folder = testFolder();
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const key = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
/** All of them in `npm run test:soak`. */
const ROUNDS = process.env["BOOTPROOF_SOAK"] === "full" ? 25 : 6;

/** Adds refusals, and delivers every second one as soon as it can; each line of its stdout is what is on the disk. */
const CHILD = `
import { finding, lineAfter, openLog } from "./log.mjs";
const [path, key] = JSON.parse(process.argv[2]);
const log = await openLog(path, { rotate: { bytes: 5000 }, checkpoint: { key } });
for (;;) {
  const { entries } = log.tail();
  const line = await lineAfter(log.tail(), await finding("signer", { boot: entries }, { verdict: "rejected" }));
  await log.append(line);
  console.log("has " + line.entry.n);
  const odd = log.undelivered("refusal").filter(({ n }) => n % 2 === 1);
  for (const { n } of odd) {
    await log.markDelivered("refusal", n);
    console.log("delivered " + n);
  }
}`;

beforeAll(async () => {
  const contents = `export { openLog } from "./src/watch/node.ts"; export { lineAfter } from "./src/watch/entry.ts";
    export { finding } from "./test/watch/support.ts";`;
  await build({
    ...{ bundle: true, format: "esm", platform: "node" },
    stdin: { contents, resolveDir: ROOT, loader: "ts" },
    outfile: join(folder, "log.mjs"),
  });
  writeFileSync(join(folder, "child.mjs"), CHILD);
});

it("loses no line and no mark that was on the disk, and needs no adoption", async () => {
  const path = join(folder, "boots.jsonl");
  const seen = { has: new Set<number>(), delivered: new Set<number>() };
  for (let round = 0; round < ROUNDS; round++) {
    const child = spawn(process.execPath, [join(folder, "child.mjs"), JSON.stringify([path, key])], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let lines = 0;
    const ended = new Promise((resolve) => child.once("close", resolve));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [what, n] = line.split(" ");
      seen[what as "has" | "delivered"].add(Number(n));
      // In some rounds at the first line of a start, in others later: by lines, whatever the machine's speed.
      if (++lines === (round % 3 === 0 ? 1 : 5 + ((round * 7) % 30))) child.kill("SIGKILL");
    });
    await ended;
    expect(child.signalCode).toBe("SIGKILL");
    const log = await openLog(path, { checkpoint: { key } });
    const waiting = log.undelivered("refusal").map(({ n }) => n);
    expect(log.tail().entries).toBeGreaterThanOrEqual(Math.max(...seen.has));
    // What was not delivered is known, and what was delivered is not delivered again.
    const missing = [...seen.has].filter((n) => n % 2 === 0 && !waiting.includes(n));
    expect([missing, waiting.filter((n) => seen.delivered.has(n))]).toEqual([[], []]);
    for (const n of waiting.slice(0, 2)) expect((await log.lineOf("refusal", n)).entry.n).toBe(n);
    await log.close();
  }
  expect(seen.delivered.size).toBeGreaterThan(ROUNDS / 2);
});
