/**
 * The built command audits: killed at any moment, interrupted, twice at once, out of space. Needs `npm run build`.
 * `npm run test:soak` kills it a hundred times, and has it read more than it could hold.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { type labDeployment, labPolicy } from "../../src/lab/forge.js";
import { MANY_AT, fleetOf } from "./many.js";

const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));
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

class Process {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
  stdout = "";
  stderr = "";

  constructor(args: readonly string[], { shell, node = [] }: { shell?: string; node?: readonly string[] } = {}) {
    const command = [...node, COMMAND, ...args];
    this.child =
      shell === undefined
        ? spawn(process.execPath, command, { stdio: ["pipe", "pipe", "pipe"] })
        : spawn("sh", ["-c", shell, process.execPath, ...command], { stdio: ["pipe", "pipe", "pipe"] });
    this.child.stdin!.on("error", () => {});
    this.child.stdout!.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.child.stderr!.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.ended = new Promise((resolve) => {
      this.child.on("close", (code) => resolve({ code, stdout: this.stdout, stderr: this.stderr }));
    });
  }

  async until(holds: () => boolean): Promise<void> {
    for (const end = Date.now() + 120_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 5)))
      if (Date.now() > end || this.child.exitCode !== null) throw new Error(`not come to it: ${this.stderr}`);
  }
}

const run = (...args: string[]): Process["ended"] => new Process(args).ended;
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
    const one = await run(...asked.with(-1, "1"), "--", input);
    expect(one.stdout).toBe(whole.stdout);
    const piped = new Process([...asked, "--", "-"]);
    piped.child.stdin!.end(readFileSync(input));
    expect((await piped.ended).stdout).toBe(whole.stdout);
    const { out, args } = newFiles();
    expect((await run(...asked, ...args, "--", input)).code).toBe(1);
    expect(readFileSync(out, "utf8")).toBe(whole.stdout);
  });

  it("gzip, with empty lines and members that are added, to the results of the same lines", async () => {
    const text = readFileSync(input, "utf8");
    const half = text.indexOf("\n", text.length / 2) + 1;
    const packed = join(folder, "entries.ndjson.gz");
    const { out, state, args } = newFiles();
    const first = gzipSync(text.slice(0, half));
    // As a copy that was interrupted.
    writeFileSync(packed, first.subarray(0, -5));
    const cut = await run(...asked, ...args, "--", packed);
    expect([cut.code, cut.stderr]).toEqual([2, expect.stringContaining("its gzip is damaged or truncated")]);
    writeFileSync(packed, first);
    expect((await run(...asked, ...args, "--", packed)).code).toBe(1);
    expect(whole.stdout.startsWith(readFileSync(out, "utf8"))).toBe(true);
    writeFileSync(packed, Buffer.concat([first, gzipSync(text.slice(half)), gzipSync("\n \n")]));
    const all = await run(...asked, ...args, "--", packed);
    expect([all.code, readFileSync(out, "utf8") === whole.stdout]).toEqual([1, true]);
    expect(all.stderr).toMatch(/^1,\d+ entries added: .*\n/);
    expect(all.stderr).toMatch(/\nSlowest: entry (\d+) \(\S+entries\.ndjson\.gz:\1\), [\d.]+ ms\n/);
    expect(all.stderr).toMatch(/\nIn total 3,000 entries: .*\n2 empty lines, which are not entries\n$/);
    const { position } = JSON.parse(readFileSync(state, "utf8")) as { position: { emptyLines: number } };
    expect(position.emptyLines).toBe(2);
  });

  it("no list over several lines, of which nothing is written", async () => {
    const pretty = join(folder, "it's pretty.json");
    writeFileSync(
      pretty,
      JSON.stringify(
        boots.map((boot) => JSON.parse(boot) as object),
        null,
        2,
      ),
    );
    const { out, state, args } = newFiles();
    const { code, stdout, stderr } = await run(...asked, ...args, "--", pretty);
    expect([code, stdout, existsSync(out), existsSync(state)]).toEqual([2, "", false, false]);
    const command = /\nWrite each value as a line: (jq .*) \| bootproof audit … -\n$/.exec(stderr)?.[1];
    expect(command).toBe(`jq -c '.[]' '${pretty.replace("'", "'\\''")}'`);
    const timeout = await run(...asked, "--entry-timeout", "soon", "--", input);
    expect([timeout.code, timeout.stderr]).toEqual([2, expect.stringContaining("soon: expected a duration")]);
    const queued = await run(...asked.slice(0, -2), "--queue", "redis://x", "--entry-timeout", "1s", "--", input);
    expect([queued.code, queued.stderr]).toEqual([2, expect.stringContaining("with --queue, leave it out")]);
    const limited = await run(...asked, "--entry-timeout", "10s", "--", input);
    expect([limited.code, limited.stdout === whole.stdout]).toEqual([1, true]);
  });

  const KILLS = IS_SOAK ? 100 : 10;
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

  it.each(["SIGINT", "SIGTERM"] as const)("until %s, and goes on from there", async (signal) => {
    const { out, state, args, code, stderr } = await interrupted(signal);
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
  async function interrupted(
    signal: "SIGINT" | "SIGTERM",
    tries = 5,
  ): Promise<ReturnType<typeof newFiles> & Awaited<Process["ended"]>> {
    const files = newFiles();
    const audit = new Process([...asked, ...files.args, "--", input]);
    await audit.until(() => sizeOf(files.out) > 5000);
    audit.child.kill(signal);
    const ended = await audit.ended;
    if (/^3,000 entries:/.test(ended.stderr) && tries > 1) return interrupted(signal, tries - 1);
    return { ...files, ...ended };
  }

  it("and counts what a killed run judged, also between its state and its exit", async () => {
    const { state, args } = newFiles();
    // Kills the process once a state says that the run has ended.
    const hook = join(folder, "kill.cjs");
    writeFileSync(
      hook,
      `const promises = require("node:fs/promises"), { readFileSync } = require("node:fs"), { rename } = promises;
      promises.rename = async (from, to) => {
        await rename(from, to);
        if (to === ${JSON.stringify(state)} && JSON.parse(readFileSync(to)).end !== null) process.kill(process.pid, 9);
      };
      require("node:module").syncBuiltinESMExports();`,
    );
    const small = join(folder, "small-end.ndjson");
    writeFileSync(small, `${apps[0]!}\n{broken\n`);
    const killed = await new Process([...asked, ...args, "--", small], { node: ["--require", hook] }).ended;
    expect([killed.code, killed.stderr]).toEqual([null, ""]);
    appendFileSync(small, `${apps[1]!}\n`);
    const next = await run(...asked, ...args, "--", small);
    expect([next.code, next.stderr]).toEqual([
      1,
      expect.stringMatching(/^3 entries: 2 verified, 1 malformed\n2 of them in an earlier run that ended before it/),
    ]);
    const last = await run(...asked, ...args, "--", small);
    expect([last.code, last.stderr]).toEqual([
      0,
      "0 entries added: nothing\nIn total 3 entries: 2 verified, 1 malformed\n",
    ]);
  });

  it("by the present of each night, for a week", async () => {
    const { out, args } = newFiles();
    const { anchorPem, deployment } = fleet;
    const aged = join(folder, "aged.json");
    writeFileSync(
      aged,
      JSON.stringify(labPolicy(anchorPem, [deployment as ReturnType<typeof labDeployment>], { maxAge: "26h" })),
    );
    const nightly = join(folder, "nightly.ndjson");
    writeFileSync(nightly, "");
    const night = (day: number, file = aged): Process["ended"] =>
      run(
        "audit",
        "--policy",
        file,
        "--now",
        new Date(MANY_AT.getTime() + (24 * day + 1) * 3_600_000).toISOString(),
        ...args,
        nightly,
      );
    // The proofs are one hour old in the first night, 25 in the second, and stale in later ones.
    const codes: (number | null)[] = [];
    for (let day = 0; day < 7; day++) {
      if (day !== 4) appendFileSync(nightly, `${boots[day % 4]!}\n`);
      codes.push((await night(day)).code);
    }
    expect(codes).toEqual([0, 0, 1, 1, 0, 1, 1]);
    const verdicts = readFileSync(out, "utf8")
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text) as { stale?: true });
    expect(verdicts.map(({ stale }) => stale === true)).toEqual([false, false, true, true, true, true]);
    appendFileSync(nightly, `${boots[0]!}\n`);
    const loose = await night(8, policy);
    expect([loose.code, loose.stderr]).toEqual([
      0,
      expect.stringMatching(
        /^note: entries from 7 on are judged as of \S+; changed since the entries before: --policy\n1 entry added: /,
      ),
    ]);
  });

  it("and fails again after --fail-fast", async () => {
    const { args } = newFiles();
    for (const expected of [/, then stopped at the first entry not accepted: /, /^0 entries added, then stopped/]) {
      const { code, stderr } = await run(...asked, ...args, "--fail-fast", "--", input);
      expect([code, stderr]).toEqual([1, expect.stringMatching(expected)]);
    }
  });

  it("and an interruption of what is good so far is not good, also while stdin says nothing", async () => {
    const audit = new Process([...asked, "--", "-"]);
    audit.child.stdin!.write(`${apps[0]!}\n`);
    await audit.until(() => audit.stdout.endsWith("\n"));
    audit.child.kill("SIGINT");
    const { code, stdout, stderr } = await audit.ended;
    expect([code, JSON.parse(stdout)]).toEqual([2, expect.objectContaining({ n: 1, verdict: "verified" })]);
    expect(stderr).toMatch(/^interrupted after 1 entries; without --state it cannot be resumed/);
  });

  it.skipIf(process.platform === "win32")("one process a state", async () => {
    const { out, state, args } = newFiles();
    const audit = new Process([...asked, ...args, "--", input]);
    await audit.until(() => existsSync(`${state}.lock`));
    // Stopped, so that it cannot end before the second process has started.
    audit.child.kill("SIGSTOP");
    const second = await run(...asked, ...args, "--", input);
    expect([second.code, second.stdout]).toEqual([2, ""]);
    expect(second.stderr).toContain(`in use by process ${audit.child.pid!}: only one process may use a state.`);
    audit.child.kill("SIGCONT");
    expect((await audit.ended).code).toBe(1);
    expect(readFileSync(out, "utf8")).toBe(whole.stdout);
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
      const device = await run(...asked, "--out", "/dev/full", "--", input);
      expect([device.code, device.stderr]).toEqual([
        2,
        expect.stringMatching(/\/dev\/full: expected a regular file for results, got a device, a pipe/),
      ]);
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
