/** Files of results that others change while an audit or a watch writes them: it ends, says why, and writes no more. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parsePolicy } from "../../src/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type Judge, auditSetting, localJudge, verifyRun, watch } from "../../src/run/index.js";
import { SYSTEM, auditFiles, openLog, runStreams } from "../../src/run/node.js";
import { testFolder } from "../support/folder.js";

const AT = new Date("2026-03-04T05:06:07.000Z");
const lab = new Forge();
const { bootProof, anchorPem } = forgeEvidence({ lab, at: AT });
const policy = parsePolicy(JSON.stringify(labPolicy(anchorPem, [labDeployment(lab)])));
const now = new Date(AT.getTime() + 60_000);
const setting = auditSetting({ policy, now, bootProofs: [] });

const folder = testFolder();
let count = 0;
const newPath = (): string => join(folder, `file-${count++}`);

type Meanwhile = (path: string) => Promise<void> | void;

/** A watch that has a line, then meets this, and then has another one. */
async function watched(path: string, meanwhile: Meanwhile): Promise<unknown> {
  const { log, close } = await openLog(path);
  const ended = new AbortController();
  let polls = 0;
  const newest = async (): Promise<typeof bootProof> => {
    if (++polls === 2) await meanwhile(path);
    return { ...bootProof, deploymentLabel: `label ${polls}` };
  };
  const sleep: typeof SYSTEM.sleep = async (milliseconds, signal) => {
    if (milliseconds > 60_000) await SYSTEM.sleep(milliseconds, signal);
    else if (polls > 5) ended.abort();
  };
  const ephemeralKeys = [String(bootProof["ephemeralPublicKeyHex"])];
  const options = { policy, ephemeralKeys, newest, log, now: () => now, sleep, random: () => 0, signal: ended.signal };
  return watch(options).finally(close);
}

const LINES = `${JSON.stringify(bootProof)}\n{}\n`.repeat(200);

/** An audit that meets this once there are results, and more is to be judged. */
async function audited(path: string, meanwhile: Meanwhile): Promise<unknown> {
  const input = newPath();
  writeFileSync(input, LINES);
  let batches = 0;
  const judge = async (): Promise<Judge> => {
    const local = await localJudge(setting);
    return {
      concurrency: 1,
      judge: async (batch) => {
        if (++batches === 2) {
          while (statSync(path).size < 1000) await new Promise((resolve) => setTimeout(resolve, 5));
          await meanwhile(path);
        }
        return local.judge(batch);
      },
      close: () => local.close(),
    };
  };
  return auditFiles({ inputs: [input], setting, judge, out: path, batchEntries: 64 });
}

const OTHER = { pid: 7, started: null, host: "elsewhere", id: "00000000-0000-4000-8000-000000000000" };
const MEDDLING: readonly (readonly [string, string, Meanwhile, RegExp])[] = [
  ["written to", "changed", (path) => appendFileSync(path, "{}\n"), /^another program changed it: expected \d+ bytes/],
  ["cut off", "changed", (path) => writeFileSync(path, ""), /^another program changed it: expected \d+ bytes, got 0/],
  ["taken away", "changed", (path) => rmSync(path), /^another program changed it: it was removed/],
  ["replaced by a folder", "changed", (path) => (rmSync(path), mkdirSync(path)), /it was removed/],
  [
    "locked by another process",
    "in-use",
    (path) => writeFileSync(`${path}.lock`, JSON.stringify(OTHER)),
    /^process 7 of elsewhere has its lock now/,
  ],
];

describe.each([
  ["an audit", audited],
  ["a watch", watched],
])("%s whose file is meanwhile", (_, run) => {
  it.each(MEDDLING)("%s ends, and writes no more", async (_name, code, meddle, message) => {
    const path = newPath();
    let before: string | null = null;
    const textOf = (): string | null =>
      statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : null;
    const meanwhile = async (): Promise<void> => {
      await meddle(path);
      before = textOf();
    };
    await expect(run(path, meanwhile)).rejects.toMatchObject({
      ...{ name: "RunFileError", code, file: path },
      message: expect.stringMatching(message) as unknown,
    });
    expect(textOf()).toBe(before);
    expect(existsSync(`${path}.lock`)).toBe(code === "in-use");
  });

  it("left alone has it whole, and another one leaves it alone", async () => {
    const path = newPath();
    let second: Promise<unknown> = Promise.resolve();
    await run(path, async () => {
      second = run(path, () => {});
      await second.catch(() => {});
    });
    await expect(second).rejects.toMatchObject({
      ...{ name: "RunFileError", code: "in-use", file: path },
      message: expect.stringMatching(`^in use by process ${process.pid}: only one process may use a file of results`),
    });
    expect(existsSync(`${path}.lock`)).toBe(false);
    expect(await verifyRun(runStreams([path]))).toMatchObject({ intact: true });
  });
});
