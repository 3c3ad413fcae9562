/**
 * The built command audits: killed at any moment, interrupted, twice at once, out of space. Needs `npm run build`.
 * `npm run test:soak` kills it a hundred times, and has it read more than it could hold.
 */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type labDeployment, labPolicy } from "../../src/lab/forge.js";
import { MANY_AT, fleetOf } from "./many.js";
import { Process, run } from "./process.js";

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
const newFiles = (): { readonly out: string; readonly state: string; readonly args: readonly string[] } => {
  const [out, state] = [join(folder, `out-${count}.ndjson`), join(folder, `state-${count++}.json`)];
  return { out, state, args: ["--out", out, "--state", state] };
};

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0);
const whole = await run(...asked, "--", input);

describe("the built command audits", () => {
  it("everything, in its order, the same with any number of threads, from stdin and to a file", async () => {
    expect(whole.code).toBe(1);
    const lines = whole.stdout.split("\n").slice(0, -1);
    expect(lines.map((text) => (JSON.parse(text) as { n: number }).n)).toEqual(lines.map((_, at) => at + 1));
    expect(lines.length).toBe(ENTRIES);
    expect(whole.stderr).toMatch(
      /^3,000 entries: 2,9\d\d verified, 3\d rejected, 1\d malformed\nFailed: app\.\S+ 3\d\n/,
    );
    const { out, args } = newFiles();
    const piped = new Process([...asked.with(-1, "1"), ...args, "--", "-"], { stdin: "pipe" });
    piped.child.stdin!.end(readFileSync(input));
    expect((await piped.ended).code).toBe(1);
    expect(readFileSync(out, "utf8")).toBe(whole.stdout);
  });

  const KILLS = IS_SOAK ? 100 : 4;
  it(`to the same bytes, however often it is killed: ${KILLS} times`, { timeout: 600_000 }, async () => {
    let kills = 0;
    while (kills < KILLS) {
      const { out, state, args } = newFiles();
      for (let ended = false; !ended;) {
        const audit = new Process([...asked, ...args, "--", input]);
        const before = sizeOf(out);
        // At any moment of its start in one round of three, else when it writes.
        if (kills % 3 !== 0)
          await audit.until(() => sizeOf(out) !== before || existsSync(`${state}.new`)).catch(() => {});
        // After the last kill it is left to end.
        const moment = Math.random() * (kills % 3 === 0 ? 900 : 700);
        const timer = kills < KILLS ? setTimeout(() => audit.child.kill("SIGKILL"), moment) : undefined;
        const { code, stderr } = await audit.ended;
        clearTimeout(timer);
        ended = code !== null;
        if (ended) expect([code, stderr.slice(0, 14)]).toEqual([1, "3,000 entries:"]);
        else kills++;
        // As a kill in the middle of a write leaves it.
        if (!ended && existsSync(out)) appendFileSync(out, '{"n":1,"verd');
        // Of a file of results without a state nobody knows what it is: it is not written over.
        if (!ended && !existsSync(state)) rmSync(out, { force: true });
      }
      expect(readFileSync(out, "utf8") === whole.stdout).toBe(true);
      expect(existsSync(`${state}.lock`)).toBe(false);
    }
  });

  it("until SIGTERM, and goes on from there", async () => {
    const { out, state, args, code, stderr } = await interrupted();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^interrupted after [\d,]+ entries; the same command resumes from there\n[\d,]+ entries so far/,
    );
    expect(existsSync(`${state}.lock`)).toBe(false);
    const { position, end } = JSON.parse(readFileSync(state, "utf8")) as { position: { entries: number }; end: null };
    expect([end, readFileSync(out, "utf8").split("\n").length - 1]).toEqual([null, position.entries]);
    expect(position.entries).toBeLessThan(ENTRIES);
    expect((await run(...asked, ...args, "--", input)).code).toBe(1);
    expect(readFileSync(out, "utf8")).toBe(whole.stdout);
  });

  /** On a busy machine a run may end before the signal comes: then it is tried again. */
  async function interrupted(tries = 5): Promise<ReturnType<typeof newFiles> & Awaited<Process["ended"]>> {
    const files = newFiles();
    const audit = new Process([...asked, ...files.args, "--", input]);
    await audit.until(() => sizeOf(files.out) > 5000);
    const ended = await audit.end();
    if (/^3,000 entries:/.test(ended.stderr) && tries > 1) return interrupted(tries - 1);
    return { ...files, ...ended };
  }

  it("and an interruption of what is good so far is not good, also while stdin says nothing", async () => {
    const audit = new Process([...asked, "--", "-"], { stdin: "pipe" });
    audit.child.stdin!.write(`${apps[0]!}\n`);
    await audit.until(() => audit.stdout.endsWith("\n"));
    const { code, stdout, stderr } = await audit.end("SIGINT");
    expect([code, JSON.parse(stdout)]).toEqual([2, expect.objectContaining({ n: 1, verdict: "verified" })]);
    expect(stderr).toMatch(/^interrupted after 1 entries; without --state it cannot be resumed/);
  });

  it.skipIf(process.platform === "win32")(
    "and ends with 2 where there is no space, and goes on when there is",
    async () => {
      const { out, args } = newFiles();
      const shell = `trap '' XFSZ; ulimit -f 60; exec "$0" "$@"`;
      const full = await new Process([...asked, ...args, "--", input], { shell }).ended;
      expect([full.code, full.stdout]).toEqual([2, ""]);
      expect(full.stderr).toMatch(
        /out-\d+\.ndjson: the file would exceed the largest size .*\nFix that, and run the same command again to/,
      );
      expect((await run(...asked, ...args, "--", input)).code).toBe(1);
      expect(readFileSync(out, "utf8")).toBe(whole.stdout);
      const stdout = await new Process([...asked, "--", input], { shell: '"$0" "$@" > /dev/full' }).ended;
      expect([stdout.code, stdout.stderr]).toEqual([
        2,
        expect.stringMatching(/the result could not be written \(ENOSPC\)/),
      ]);
    },
  );

  it("and says nothing where nobody reads on", async () => {
    const audit = new Process([...asked, "--", input]);
    audit.child.stdout!.once("data", () => audit.child.stdout!.destroy());
    const { code, stderr } = await audit.ended;
    expect(stderr).toBe("");
    expect([1, 2]).toContain(code);
  });

  it.runIf(IS_SOAK)("and holds no more of what is long", { timeout: 600_000 }, async () => {
    const small = join(folder, "small.ndjson");
    writeFileSync(small, "{}\n".repeat(200_000));
    const long = join(folder, "long.ndjson");
    for (let part = 0; part < 200; part++) appendFileSync(long, "x".repeat(1 << 20));
    appendFileSync(long, `\n${apps[0]!}\n`);
    const node = ["--max-old-space-size=32"];
    const many = await new Process([...asked, "--only-failures", "--", small], { node }).ended;
    expect([many.code, many.stdout.split("\n").length, many.stderr]).toEqual([
      1,
      200_001,
      expect.stringMatching(/^200,000 entries: 200,000 malformed\n/),
    ]);
    const shell = `ulimit -v 4000000; exec "$0" "$@"`;
    const one = await new Process([...asked, "--", long], { node, shell }).ended;
    expect(one.stdout).toMatch(/^\{"n":1,"verdict":"malformed",.*longer than.*\}\n\{"n":2,"verdict":"verified"/);
  });
});
