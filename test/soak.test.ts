/**
 * Many verified calls, one after the other and 64 at once: none may fail, none may leave anything behind. The lab runs
 * in a process of its own, so that the heap measured is the client's. 200 calls; 10,000 of each with `npm run
 * test:soak`. Needs `npm run build`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parsePolicy } from "../src/appraise/policy.js";
import { type VerifiedClient, apiKeyStamper, createClient } from "../src/client/index.js";
import type { Lab } from "../src/lab/index.js";

const FULL = process.env["BOOTPROOF_SOAK"] === "full";
const CALLS = FULL ? 10_000 : 200;
const AT_ONCE = 64;
/** Calls after which everything that is remembered, compiled or pooled is there: a client remembers 4096 app proofs. */
const WARM_UP = FULL ? 5000 : 100;
/** Less than a leak of 1 KiB a call, or of what a call answers. */
const MAX_GROWTH = 8 * 1024 * 1024;

const LAB = `
  const { startLab } = await import(${JSON.stringify(new URL("../dist/node/lab/index.js", import.meta.url).href)});
  const { baseUrl, organizationId, apiKey, ids, policyFile } = await startLab();
  process.send({ baseUrl, organizationId, apiKey, ids, policyFile });
  process.on("disconnect", () => process.exit());
`;

let child: ChildProcess;
let lab: Pick<Lab, "baseUrl" | "organizationId" | "apiKey" | "ids" | "policyFile">;
let client: VerifiedClient;
const unhandled: unknown[] = [];
const collect = (error: unknown): void => void unhandled.push(error);

beforeAll(async () => {
  process.on("unhandledRejection", collect);
  child = spawn(process.execPath, ["--input-type=module", "-e", LAB], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    cwd: fileURLToPath(new URL("../", import.meta.url)),
  });
  lab = await new Promise((started, failed) => {
    child.once("message", (message) => started(message as typeof lab));
    child.once("exit", (code) => failed(new Error(`the lab ended with ${code}: is it built?`)));
  });
  const { baseUrl, organizationId, apiKey } = lab;
  client = createClient({ baseUrl, organizationId, stamper: await apiKeyStamper(apiKey) }).withVerification(
    parsePolicy(lab.policyFile),
  );
});
afterAll(() => {
  child.disconnect();
  process.off("unhandledRejection", collect);
});

async function call(number: number): Promise<void> {
  const { report } =
    number % 2 === 0
      ? await client.updateUserTag({ userTagId: lab.ids.userTagId, newUserTagName: `tag ${number}` })
      : await client.updateWallet({ walletId: lab.ids.walletId, walletName: `wallet ${number}` });
  if (report.verdict !== "verified") throw new Error(report.verdict);
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

async function heapUsed(): Promise<number> {
  // Twice, with time between: what finalizers let go of is collected too.
  for (let round = 0; round < 2; round++) {
    collectGarbage();
    await new Promise((done) => setTimeout(done, 50));
  }
  return process.memoryUsage().heapUsed;
}

/** Connections and all else that is open; 0 where the platform does not tell. */
const descriptors = (): number => (existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : 0);
const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

it.each([
  ["one after the other", 1],
  [`${AT_ONCE} at once`, AT_ONCE],
])(
  `${CALLS} verified calls, %s`,
  async (name, atOnce) => {
    let next = 0;
    const run = async (until: number): Promise<void> => {
      while (next < until) await call(next++);
    };
    const parallel = (until: number): Promise<unknown> => Promise.all(Array.from({ length: atOnce }, () => run(until)));
    await parallel(WARM_UP);
    const before = await heapUsed();
    const open = descriptors();
    const start = performance.now();
    await parallel(WARM_UP + CALLS);
    const milliseconds = performance.now() - start;
    const after = await heapUsed();
    console.log(
      `${CALLS} verified calls, ${name}: ${(milliseconds / CALLS).toFixed(2)} ms each; heap ${megabytes(before)} ` +
        `before, ${megabytes(after)} after; ${descriptors()} descriptors; ${unhandled.length} unhandled rejections`,
    );
    expect(unhandled).toEqual([]);
    expect(after - before).toBeLessThan(MAX_GROWTH);
    expect(descriptors() - open).toBeLessThanOrEqual(AT_ONCE);
  },
  1_200_000,
);
