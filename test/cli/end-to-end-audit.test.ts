/**
 * The built command audits: killed at any moment, interrupted, twice at once, out of space. Needs `npm run build`.
 * `npm run test:soak` kills it a hundred times, and has it read two million lines.
 */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type labDeployment, labPolicy } from "../../src/lab/forge.js";
import { MANY_AT, fleetOf } from "./many.js";
import { type Ended, Process, run } from "./process.js";

const IS_SOAK = process.env["BOOTPROOF_SOAK"] === "full";
const folder = mkdtempSync(join(tmpdir(), "bootproof-built-audit-"));
afterAll(() => rmSync(folder, { recursive: true }));

const fleet = fleetOf(4, (index) => `built-audit-${index}.json`);
const line = (path: string): string => JSON.stringify(JSON.parse(readFileSync(path, "utf8")));
const [boots, apps] = [fleet.boots.map(line), fleet.apps.map(line)];
const policy = join(folder, "policy.json");
writeFileSync(
  policy,
  JSON.stringify(labPolicy(fleet.anchorPem, [fleet.deployment as ReturnType<typeof labDeployment>])),
);
const now = new Date(MANY_AT.getTime() + 3_600_000).toISOString();
const asked = ["audit", "--policy", policy, "--now", now, "--boot-proof", ...fleet.boots, "--workers", "2"];

/** Mostly app proofs under known boot proofs; some boot proofs, some that are wrong, some that are nothing. */
function entryOf(index: number): string {
  if (index % 50 === 7) return boots[((index / 50) % 4) | 0]!;
  if (index % 97 === 5) return apps[index % 4]!.replace(/"signature":"../i, '"signature":"00');
  return index % 211 === 3 ? "{broken" : apps[index % 4]!;
}
const ENTRIES = 3000;
const input = join(folder, "entries.ndjson");
writeFileSync(input, Array.from({ length: ENTRIES }, (_, index) => `${entryOf(index)}\n`).join(""));

let count = 0;
const newFile = (): { readonly out: string; readonly args: readonly string[] } => {
  const out = join(folder, `out-${count++}.ndjson`);
  return { out, args: ["--out", out, "--resume"] };
};

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0);
const textAt = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");
/** The whole lines that are results, without their places in the chain. */
const resultsIn = (text: string): string[] =>
  text
    .split("\n")
    .slice(0, -1)
    .filter((line) => line.includes('"verdict":'))
    .map((line) => line.replace(/"n":\d+,"previous":"\w+",/, ""));
const whole = await run(...asked, "--", input);
const results = resultsIn(whole.stdout);

describe("the built command audits", () => {
  it("everything, in its order, the same with any number of threads, from stdin and to a file", async () => {
    expect(whole.code).toBe(1);
    const places = results.map((text) => JSON.parse(text) as { file: string; line: number });
    expect(places.map(({ line }) => line)).toEqual(places.map((_, at) => at + 1));
    expect(results.length).toBe(ENTRIES);
    expect(whole.stderr).toMatch(
      /^3,000 entries: 2,9\d\d verified, 3\d rejected, 1\d malformed\nFailed: app\.\S+ 3\d\n/m,
    );
    const out = join(folder, "one.ndjson");
    expect((await run(...asked.with(-1, "1"), "--out", out, "--", input)).code).toBe(1);
    expect(readFileSync(out, "utf8")).toBe(whole.stdout);
    const piped = new Process([...asked, "--", "-"], { stdin: "pipe" });
    piped.child.stdin!.end(readFileSync(input));
    const { code, stdout } = await piped.ended;
    expect([code, resultsIn(stdout)]).toEqual([1, results.map((text) => text.replace("entries.ndjson", "stdin"))]);
  });

  const KILLS = IS_SOAK ? 100 : 10;
  it(`each entry once, however often it is killed: ${KILLS} times`, { timeout: 600_000 }, async () => {
    for (let kills = 0; kills < KILLS;) {
      const { out, args } = newFile();
      for (let isEnded = false; !isEnded;) {
        const audit = new Process([...asked, ...args, "--", input]);
        const before = sizeOf(out);
        // At any moment of its start in one round of three, else when it writes.
        if (kills % 3 !== 0) await audit.until(() => sizeOf(out) !== before).catch(() => {});
        const moment = Math.random() * (kills % 3 === 0 ? 900 : 300);
        // After the last kill it is left to end.
        const timer = kills < KILLS ? setTimeout(() => audit.child.kill("SIGKILL"), moment) : undefined;
        const { code, stderr } = await audit.ended;
        clearTimeout(timer);
        isEnded = code !== null;
        const found = resultsIn(textAt(out));
        expect(found).toEqual(results.slice(0, isEnded ? ENTRIES : found.length));
        if (isEnded) expect([code, stderr]).toEqual([1, expect.stringMatching(/^3,000 entries:/m)]);
        else kills++;
        // As a kill in the middle of a write leaves it.
        if (!isEnded && existsSync(out) && textAt(out).endsWith("\n"))
          appendFileSync(out, whole.stdout.slice(0, 1 + Math.floor(Math.random() * 100)));
      }
      expect(existsSync(`${out}.lock`)).toBe(false);
      expect(await run("log", "verify", out)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^WHOLE: /) });
    }
  });

  it("until SIGTERM, and goes on from there", async () => {
    const { out, args, code, stderr } = await interrupted();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^interrupted after [\d,]+ entries; with --resume, the same command goes on from there\n[\d,]+ entries so far/,
    );
    expect(existsSync(`${out}.lock`)).toBe(false);
    const judged = resultsIn(textAt(out)).length;
    expect(judged).toBeLessThan(ENTRIES);
    const rest = await run(...asked, ...args, "--", input);
    expect([rest.code, resultsIn(textAt(out))]).toEqual([1, results]);
    expect(rest.stderr.replaceAll(",", "")).toContain(
      `\n${judged} of them in an earlier run that ended before it reported them\n`,
    );
  });

  /** On a busy machine a run may end before the signal comes: then it is tried again. */
  async function interrupted(tries = 5): Promise<ReturnType<typeof newFile> & Ended> {
    const files = newFile();
    const audit = new Process([...asked, ...files.args, "--", input]);
    await audit.until(() => sizeOf(files.out) > 5000);
    const ended = await audit.end();
    if (/^3,000 entries:/.test(ended.stderr) && tries > 1) return interrupted(tries - 1);
    return { ...files, ...ended };
  }

  it("and leaves the file to one of two, and the other says why", async () => {
    const { out, args } = newFile();
    const ends = await Promise.all([1, 2].map(() => run(...asked, ...args, "--", input)));
    expect(ends.map(({ code }) => code).sort()).toEqual([1, 2]);
    expect(ends.find(({ code }) => code === 2)!.stderr).toMatch(
      /out-\d+\.ndjson: in use by process \d+: only one process may use a file of results/,
    );
    expect([resultsIn(textAt(out)), existsSync(`${out}.lock`)]).toEqual([results, false]);
  });

  it.runIf(IS_SOAK && process.platform === "linux")("and holds no more of what is long", async () => {
    const long = join(folder, "long.ndjson");
    for (let part = 0; part < 200; part++) appendFileSync(long, "x".repeat(1 << 20));
    appendFileSync(long, `\n${apps[0]!}\n`);
    for (let part = 0; part < 20; part++) appendFileSync(long, "{}\n".repeat(100_000));
    const { out, args } = newFile();
    for (const said of [/^2,000,002 entries: 1 verified, 2,000,001 malformed\n/, /^0 entries added: nothing\n/]) {
      const audit = new Process([...asked, ...args, "--", long]);
      let most = 0;
      const watching = setInterval(() => (most = Math.max(most, peakOf(audit.child.pid!))), 100);
      const { stderr } = await audit.ended;
      clearInterval(watching);
      expect(stderr).toMatch(said);
      expect(most).toBeLessThan(300);
    }
    expect(sizeOf(out)).toBeGreaterThan(500_000_000);
  });
});

/** The most memory that a process had so far, in MiB. */
function peakOf(pid: number): number {
  const [, kilobytes] = /VmHWM:\s*(\d+)/.exec(textAt(`/proc/${pid}/status`)) ?? [];
  return Number(kilobytes ?? 0) / 1024;
}
