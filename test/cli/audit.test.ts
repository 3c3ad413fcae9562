/** `bootproof audit`, in this process: its command line, lines and words. Needs `npm run build`, for threads. */
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { interruptedText, progressText, summaryText } from "../../src/cli/audit-text.js";
import { type labDeployment, labPolicy } from "../../src/lab/forge.js";
import type { AuditSummary } from "../../src/run/index.js";
import type { AuditEnd } from "../../src/run/node.js";
import { MANY_AT, fleetOf } from "./many.js";
import { type Answer, APP_1, BOOT_1, bootproof, fileOf, scene } from "./support.js";

const fleet = fleetOf(3, (index) => `audit-${index}.json`);
const policy = fileOf(
  labPolicy(fleet.anchorPem, [fleet.deployment as ReturnType<typeof labDeployment>]),
  "audit-policy.json",
);
const line = (path: string): string => JSON.stringify(JSON.parse(readFileSync(path, "utf8")));
const [boots, apps] = [fleet.boots.map(line), fleet.apps.map(line)];
const now = new Date(MANY_AT.getTime() + 3_600_000).toISOString();
const { having, run, usage } = scene(
  {
    ...{ policy, boot: fleet.boots[0]!, app: APP_1, input: fileOf(boots[0]), empty: fileOf(""), list: fileOf("[]") },
    tmp: tmpdir(),
  },
  { now },
);
const audit = (...args: string[]): Promise<Answer> => bootproof(["audit", ...args], { now });
type Line = Readonly<Record<string, unknown>>;
const parsed = (text: string): Line[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
/** The lines that are results. */
const linesOf = ({ stdout }: Answer): Line[] => parsed(stdout).filter(({ verdict }) => verdict !== undefined);
/** `failed` or whatever of each result, behind its place. */
const placesOf = (answer: Answer, member = "verdict"): string[] =>
  linesOf(answer).map(({ file, line, [member]: value }) => `${String(file)}:${String(line)} ${String(value)}`);
const OUT = "Give another --out: then everything is judged by this setting";
const newPath = (name: string): string => join(mkdtempSync(join(tmpdir(), "bootproof-audit-")), name);

describe("audit", () => {
  it("judges each line, and says what came of all of them", async () => {
    const both = JSON.stringify({ bootProofs: [JSON.parse(boots[1]!)], appProofs: [JSON.parse(apps[1]!)] });
    const strange = line(BOOT_1);
    const input = fileOf([boots[0], `${boots[1]!}\r`, both, strange, "{", "", apps[2]].join("\n"), "many.ndjson");
    const answer = await audit("--policy", policy, input);
    expect(answer.code).toBe(1);
    const verdicts = ["1 verified", "2 verified", "3 verified", "4 rejected", "5 malformed", "7 rejected"];
    expect(placesOf(answer)).toEqual(verdicts.map((one) => `many.ndjson:${one}`));
    expect(parsed(answer.stdout).flatMap(({ event }) => event ?? [])).toEqual(["started", "stopped"]);
    expect(answer.stderr).toMatch(
      /^6 entries: 3 verified, 2 rejected, 1 malformed\n1 empty line, which is not an entry\nFailed: [\w.-]+ \d+/,
    );
    expect(answer.stderr).toMatch(/\nDeployments: "[^"]+" 3\nDocuments: the oldest of \S+Z, the newest of \S+Z\n/);
    expect(answer.stderr).toMatch(/\nSlowest: line \d of many\.ndjson, [\d.]+ ms\n$/);
    expect(answer.stdout).not.toMatch(/[0-9.]+ ms|slow/i);
    const failures = await audit("--policy", policy, input, "--only-failures");
    expect(linesOf(failures).map(({ line }) => line)).toEqual([4, 5, 7]);
    const fast = await audit("--policy", policy, input, "--fail-fast");
    expect([fast.code, linesOf(fast).length]).toEqual([1, 4]);
    expect(fast.stderr).toMatch(/^4 entries, then stopped at the first entry not accepted: /);
    const files = ["--fail-fast", "--out", newPath("results"), "--resume"];
    for (const said of [/^4 entries, then stopped/, /^1 entry added, then stopped[^]*\nIn total 5 entries: 3 ver/])
      expect(await audit("--policy", policy, input, ...files)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(said),
      });
  });

  it("judges app proofs under the boot proofs of --boot-proof, and warns of those that are rejected", async () => {
    const input = fileOf(`${apps.join("\n")}\n`);
    const answer = await audit("--policy", policy, input, "--boot-proof", ...fleet.boots);
    expect([answer.code, linesOf(answer).map(({ verdict }) => verdict)]).toEqual([0, apps.map(() => "verified")]);
    const other = await audit("--policy", policy, input, "--boot-proof", BOOT_1, fleet.boots[0]!);
    const warned = /^warning: boot proof 1 of --boot-proof is rejected \([\w., -]+\)\. So is/;
    expect([other.code, other.stderr]).toEqual([1, expect.stringMatching(warned)]);
    expect(linesOf(other).map(({ verdict }) => verdict)).toEqual(["verified", "rejected", "rejected"]);
  });

  it("compares entries with --expected, and counts those without a line and lines without an entry", async () => {
    const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
    const entries = [0, 1].map((at) => `{"bootProofs":[${boots[at]!}],"appProofs":[${apps[at]!}]}`);
    const lineOf = (text: string, organizationId: string): string =>
      JSON.stringify({ entry: digest(text), expected: { organizationId } });
    const organization = /\\"organizationId\\":\\"([^\\]+)/.exec(apps[0]!)![1]!;
    const input = fileOf(entries.join("\n"));
    const answerTo = (...lines: string[]): Promise<Answer> =>
      audit("--policy", policy, input, "--expected", fileOf(`${lines.join("\n")}\n`), "--workers", "2");

    const other = await answerTo(lineOf(entries[0]!, organization), lineOf(entries[1]!, "another"));
    expect([other.code, linesOf(other).map(({ failed }) => failed)]).toEqual([1, [[], ["app.request"]]]);
    const without = await answerTo(lineOf(entries[0]!, organization));
    expect([without.code, linesOf(without)[1]!["expected"]]).toEqual([0, false]);
    expect(without.stderr).toContain("No line of --expected is for 1 entry, which was compared with nothing\n");
    const unmet = await answerTo(...[...entries, "x", "y"].map((text) => lineOf(text, organization)));
    expect([unmet.code, linesOf(unmet).map(({ verdict }) => verdict)]).toEqual([1, ["verified", "verified"]]);
    expect(unmet.stderr).toContain(
      `The input has no entry for 2 lines of --expected: line 3 (${digest("x").slice(0, 16)}…), ` +
        `line 4 (${digest("y").slice(0, 16)}…)`,
    );
  });

  it("refuses a file of --expected with line and path, and writes nothing", async () => {
    const out = newPath("results");
    const bad = fileOf('{"entry":"a","expected":{}}\n[]\n', "bad.ndjson");
    const refuses = having({ input: fileOf(boots.join("\n")), bad, out });
    const says = ["bad.ndjson: line 1: entry: 1 hex digits, expected 64", "bad.ndjson: line 2: expected an object"];
    await refuses("audit --policy $policy $input --expected $bad --out $out", 2, ...says);
    expect(existsSync(out)).toBe(false);
    await refuses("audit --policy $policy $input --expected $input", 2, "is also an INPUT");
    await refuses(
      "audit --policy $policy $input --expected $bad --out $bad",
      2,
      "--out $bad: is also an input, and would be overwritten",
    );
  });

  it("writes to a file, and goes on behind it with --resume", async () => {
    const input = fileOf(boots.join("\n"));
    const out = newPath("results");
    const given = ["--policy", policy, input, "--out", out, "--resume"];
    const first = await audit(...given);
    expect([first.code, first.stdout]).toEqual([0, ""]);
    const results = readFileSync(out, "utf8");
    expect(results).toBe((await audit("--policy", policy, input)).stdout);
    const again = await audit(...given);
    const added = `0 entries added: nothing\nIn total ${first.stderr.split("\n")[0]!}\n`;
    expect([again.code, again.stderr]).toEqual([0, added]);
    for (const content of [boots.toReversed().join("\n"), boots[0]!, "", null]) {
      if (content === null) rmSync(input);
      else writeFileSync(input, content);
      const { code, stderr } = await audit(...given);
      const shown = content === null ? input : out;
      expect([code, stderr]).toEqual([2, expect.stringContaining(`bootproof: ${shown}: `)]);
    }
    writeFileSync(input, [...boots, "{}"].join("\n"));
    const grown = await audit(...given);
    const said = /^1 entry added: 1 malformed\nSlowest: line 4 of .*\nIn total 4 entries: 3 verified, 1 malformed\n$/;
    expect([grown.code, grown.stderr]).toEqual([1, expect.stringMatching(said)]);
    expect([(await audit(...given)).code, (await audit(...given, "--whole")).code]).toEqual([0, 1]);
    expect(readFileSync(out, "utf8").startsWith(results)).toBe(true);
    expect(linesOf({ ...grown, stdout: readFileSync(out, "utf8") })).toHaveLength(boots.length + 1);
    writeFileSync(input, boots.join("\n"));
    expect((await audit("--policy", policy, input, "--out", out)).code).toBe(0);
    expect(readFileSync(out, "utf8")).toBe(results);
    expect(await bootproof(["log", "verify", out])).toMatchObject({ code: 0 });
  });

  it("never answers by the results of another policy or other options, and says what differs", async () => {
    const [input, out] = [fileOf(boots.join("\n")), newPath("results")];
    const other = fileOf(`${readFileSync(policy, "utf8")}\n`, "audit-other-policy.json");
    expect((await audit("--policy", policy, input, "--out", out)).code).toBe(0);
    const before = readFileSync(out, "utf8");
    for (const [args, what] of [
      [["--policy", other], "--policy"],
      [["--policy", policy, "--at", "now", "--max-age", "1h"], "--at, --max-age"],
      [["--policy", policy, "--boot-proof", fleet.boots[0]!, "--"], "--boot-proof"],
      [["--policy", policy, "--only-failures"], "--only-failures"],
    ] as const) {
      const { code, stderr } = await audit("--out", out, "--resume", ...args, input);
      const said = `its results are by another setting: ${what}. They would be kept as they are`;
      expect([code, stderr]).toEqual([2, `bootproof: ${out}: ${said}\n${OUT}\n`]);
      expect(readFileSync(out, "utf8")).toBe(before);
    }
    const log = fileOf(before.slice(0, before.indexOf("\n") + 1).replace('"watched":null', '"watched":[{"app":"a"}]'));
    const recorded = readFileSync(log);
    for (const more of [["--resume"], []]) {
      const { code, stderr } = await audit("--policy", policy, input, "--out", log, ...more);
      expect([code, stderr]).toEqual([2, expect.stringContaining("it is the log of a watch")]);
      expect(readFileSync(log)).toEqual(recorded);
    }
  });

  it("counts a night with nothing to add as good in its health, and a failed one never", async () => {
    const [out, file] = [newPath("out"), newPath("health")];
    const input = fileOf(`${boots[0]!}\n`);
    const night = async (): Promise<unknown> => {
      const { code } = await audit("--policy", policy, input, "--out", out, "--resume", "--health-file", file);
      return [code, existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as object) : null];
    };
    expect(await night()).toMatchObject([0, { entries: 1, goodAt: now }]);
    rmSync(file);
    expect(await night()).toMatchObject([0, { entries: 0, goodAt: now, isReady: true }]);
    rmSync(file);
    writeFileSync(input, "{}\n");
    expect(await night()).toEqual([2, null]);
  });

  usage("audit", [
    ["", "INPUT is required", "--policy FILE or --no-policy is required", /See bootproof audit --help\.$/],
    [
      "--no-policy --resume --whole --workers x --at never --now soon --queue redis://x",
      "INPUT is required",
      "--queue cannot be used with --workers",
      "--resume requires --out FILE",
      "--whole requires --out FILE",
      "--workers x: ",
      "--at never",
      "--now soon",
    ],
    ["--no-policy in --workers 0", "--workers 0: expected a number from 1 to 1024"],
    ["--no-policy in --entry-timeout soon", "soon: expected a duration"],
    ["--no-policy in --queue redis://x --entry-timeout 1s", "--queue cannot be used with --entry-timeout"],
    ["--no-policy --policy p in", "cannot be used with"],
    ["--policy p --trust-anchor t in", "--trust-anchor cannot be used with --policy"],
    ["--no-policy in --out in", "--out in: is also an input, and would be overwritten"],
    ["--no-policy in in - -", "INPUT in: repeated", "only one file can be"],
    ["--no-policy in --out - --resume", "--resume requires --out FILE"],
    ["--no-policy --boot-proof a b", "takes every word after it"],
    ["--policy $boot $input", "this is a boot proof; "],
    ["--policy $policy no-such-file", "no-such-file: there is no such file or folder"],
    ["--policy $policy $input --boot-proof $app", "this is an app proof"],
    ["--policy $policy $input --boot-proof $list", "list is empty"],
    ["--policy $policy $input --out $tmp/no/such", "there is no such folder"],
    ["--policy $policy $input --out $tmp", "a directory, not a file"],
    ["--policy $policy $input --out /dev/full", "/dev/full: not written: a device or pipe, not a file"],
  ]);

  it("has no result of an empty file", async () => {
    const { code } = await run(
      "audit --policy $policy $empty",
      "any",
      "no entries: the program that wrote it may have",
    );
    expect(code).toBe(2);
  });

  it("says how far it is", () => {
    const at = (entries: number, accepted: number, bytes: number): Parameters<typeof progressText>[0] => ({
      ...{ bytes, entries, refused: entries - accepted, evidenceAt: null },
    });
    const pace = { seconds: 10, total: 10_000 };
    expect(progressText(at(64, 64, 100), at(64, 64, 100), pace)).toBe("64 entries verified");
    expect(progressText(at(12_064, 12_060, 5100), at(64, 64, 100), pace)).toBe(
      "12,064 entries verified, 4 not accepted, 51 %, 1,200 a second, 10 s left",
    );
    expect(progressText(at(164, 164, 200), at(64, 64, 100), { seconds: 100, total: 10_000 })).toMatch(
      /, 2 h 44 min left$/,
    );
    expect(progressText(at(164, 164, 200), at(64, 64, 100), { seconds: 50, total: null })).toBe(
      "164 entries verified, 2 a second",
    );
  });

  it("says what came of it, whatever that was", () => {
    expect(interruptedText(1, false)).toBe("interrupted after 1 entries; without --out it begins anew\n");
    const NONE = { verified: 0, authentic: 0, rejected: 0, malformed: 0, unjudged: 0 };
    const counts = (entries: number, verdicts: object, more: Partial<AuditSummary> = {}): AuditSummary => ({
      ...{ entries, accepted: 0, verdicts: { ...NONE, ...verdicts }, stale: 0, withoutExpected: 0 },
      ...{ failures: {}, deployments: {}, oldest: null, newest: null },
      ...more,
    });
    const one = counts(1, { rejected: 1 }, { stale: 1 });
    const rest: Pick<AuditEnd, "included" | "slowest" | "unmet" | "unjudged"> = {
      ...{ included: 0, slowest: null, unmet: null, unjudged: [] },
    };
    const slowest = { file: "in\u001b", line: 3, milliseconds: 12.34 };
    expect(summaryText({ ...rest, end: "aborted", emptyLines: 2, slowest, reported: one, total: one })).toBe(
      "1 entry so far: 1 rejected (1 only because of their age)\n2 empty lines, which are not entries\n" +
        "Slowest: line 3 of in\\u{1b}, 12.3 ms\n",
    );
    const reported = counts(4, { verified: 3, unjudged: 1 }, { accepted: 3 });
    const total = counts(1001, { verified: 1000, rejected: 1 }, { accepted: 998, stale: 1 });
    const unmet = { count: 1, first: [{ line: 3, entry: "ab".repeat(32) }] };
    const unjudged = [{ file: "in", line: 7 }];
    expect(
      summaryText({ end: "done", included: 2, emptyLines: 1, slowest: null, unmet, unjudged, reported, total }),
    ).toBe(
      "4 entries added: 3 verified, 1 unjudged\n1 empty line, which is not an entry\n" +
        "2 of them in an earlier run that ended before it reported them\n" +
        "The input has no entry for 1 line of --expected: line 3 (abababababababab…)\nNOT JUDGED: in:7\n" +
        "In total 1,001 entries: 1,000 verified, 1 rejected (1 only because of their age); " +
        "2 REFUSED because of a warning, although verified or authentic\n",
    );
  });
});
