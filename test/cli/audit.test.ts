/** `bootproof audit`, in this process: its command line, lines and words. Needs `npm run build`, for threads. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { progressText, summaryText } from "../../src/cli/audit-text.js";
import { NO_ENTRIES } from "../../src/audit/run.js";
import { type labDeployment, labPolicy } from "../../src/lab/forge.js";
import { AWS_NITRO_ROOT_G1, certificatePem } from "../../src/verify/trust-anchor.js";
import { DEMAND, GENUINE, NOW as BUILT_AT, ROOT, changedBundle, evidence, policyFile } from "../support/provenance.js";
import { GENUINE_DETAILS, genuineDetails } from "../support/provisioning.js";
import { MANY_AT, fleetOf } from "./many.js";
import { type Answer, APP_1, BOOT_1, BOOT_2, NOW, bootproof, fileOf, vector } from "./support.js";

const fleet = fleetOf(3, (index) => `audit-${index}.json`);
const policy = fileOf(
  labPolicy(fleet.anchorPem, [fleet.deployment as ReturnType<typeof labDeployment>]),
  "audit-policy.json",
);
const line = (path: string): string => JSON.stringify(JSON.parse(readFileSync(path, "utf8")));
const [boots, apps] = [fleet.boots.map(line), fleet.apps.map(line)];
const now = new Date(MANY_AT.getTime() + 3_600_000).toISOString();
const audit = (...args: string[]): Promise<Answer> => bootproof(["audit", ...args], { now });
const linesOf = ({ stdout }: Answer): Record<string, unknown>[] =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((text) => JSON.parse(text) as Record<string, unknown>);
const newPath = (name: string): string => join(mkdtempSync(join(tmpdir(), "bootproof-audit-")), name);

describe("audit", () => {
  it("accepts provisioning details like a boot proof", async () => {
    const present = { now: "2026-06-30T00:34:40Z" };
    const policy = fileOf((await bootproof(["pin", "--boot-proof", vector(GENUINE_DETAILS)], present)).stdout);
    const line = fileOf(genuineDetails());
    const { code, stdout } = await bootproof(["audit", "--policy", policy, line, "--now", present.now], present);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { verdict: "verified", failed: [] }]);
  });

  it("judges each line, and says what came of all of them", async () => {
    const both = JSON.stringify({ bootProofs: [JSON.parse(boots[1]!)], appProofs: [JSON.parse(apps[1]!)] });
    const strange = line(BOOT_1);
    const input = fileOf([boots[0], `${boots[1]!}\r`, both, strange, "{", "", apps[2]].join("\n"), "many.ndjson");
    const answer = await audit("--policy", policy, input);
    expect(answer.code).toBe(1);
    expect(linesOf(answer).map(({ n, verdict }) => `${String(n)} ${String(verdict)}`)).toEqual([
      "1 verified",
      "2 verified",
      "3 verified",
      "4 rejected",
      "5 malformed",
      "7 rejected",
    ]);
    expect(answer.stderr).toMatch(
      /^6 entries: 3 verified, 2 rejected, 1 malformed\n1 empty line, which is not an entry\nFailed: [\w.-]+ \d+/,
    );
    expect(answer.stderr).toMatch(/\nDeployments: "[^"]+" 3\nDocuments: the oldest of \S+Z, the newest of \S+Z\n/);
    expect(answer.stderr).toMatch(/\nSlowest: entry (\d) \(\S+many\.ndjson:\1\), [\d.]+ ms\n$/);
    expect(answer.stdout).not.toMatch(/ms|slow|time/i);
    const failures = await audit("--policy", policy, input, "--only-failures");
    expect(linesOf(failures).map(({ n }) => n)).toEqual([4, 5, 7]);
    const fast = await audit("--policy", policy, input, "--fail-fast");
    expect([fast.code, linesOf(fast).length]).toEqual([1, 4]);
    expect(fast.stderr).toMatch(/^4 entries, then stopped at the first entry not accepted: /);
    const files = ["--fail-fast", "--out", newPath("results"), "--state", newPath("state")];
    for (const says of [/^4 entries, then stopped/, /^0 entries added, then stopped/]) {
      const { code, stderr } = await audit("--policy", policy, input, ...files);
      expect([code, stderr]).toEqual([1, expect.stringMatching(says)]);
    }
  });

  it("judges app proofs under the boot proofs of --boot-proof, and warns of those that are rejected", async () => {
    const input = fileOf(`${apps.join("\n")}\n`);
    const answer = await audit("--policy", policy, input, "--boot-proof", ...fleet.boots);
    expect([answer.code, linesOf(answer).map(({ verdict }) => verdict)]).toEqual([
      0,
      ["verified", "verified", "verified"],
    ]);
    const other = await audit("--policy", policy, input, "--boot-proof", BOOT_1, fleet.boots[0]!);
    expect(other.code).toBe(1);
    expect(other.stderr).toMatch(/^warning: boot proof 1 of --boot-proof is rejected \([\w., -]+\)\. So is/);
    expect(linesOf(other).map(({ verdict }) => verdict)).toEqual(["verified", "rejected", "rejected"]);
  });

  it("takes the options of verify, and gives the same verdicts", async () => {
    const input = fileOf(`${boots[0]!}\n`);
    for (const [args, code] of [
      [["--no-policy"], 1],
      [["--no-policy", "--trust-anchor", fileOf(fleet.anchorPem, "audit-anchor.pem")], 0],
      [["--policy", policy, "--at", "2040-01-01T00:00:00Z"], 1],
      [["--policy", policy, "--at", "now", "--now", "2040-01-01T00:00:00Z"], 1],
      [["--policy", policy, "--at", "document", "--workers", "1"], 0],
    ] as const) {
      const answer = await audit(...args, input);
      const verified = await bootproof(
        ["verify", ...args.filter((word) => word !== "--workers" && word !== "1"), "--boot-proof", fleet.boots[0]!],
        { now },
      );
      expect([answer.code, verified.code]).toEqual([code, code]);
    }
    const genuine = fileOf([BOOT_1, BOOT_2].map(line).join("\n"));
    expect((await audit("--no-policy", genuine, "--now", NOW)).code).toBe(0);
  });

  it("reads stdin, folders, and several inputs", async () => {
    const piped = await bootproof(["audit", "--policy", policy, "-"], { now, stdin: `${boots.join("\n")}\n` });
    expect([piped.code, linesOf(piped).length]).toEqual([0, 3]);
    const folder = newPath("folder");
    mkdirSync(folder);
    writeFileSync(join(folder, "b.json"), boots[1]!);
    writeFileSync(join(folder, "a.json"), readFileSync(fleet.boots[0]!));
    writeFileSync(join(folder, "c"), "");
    const files = await audit("--policy", policy, folder);
    expect(linesOf(files).map(({ n, file, verdict }) => [n, file, verdict])).toEqual([
      [1, "a.json", "verified"],
      [2, "b.json", "verified"],
      [3, "c", "malformed"],
    ]);
    const input = fileOf(boots[2]!, "one.ndjson");
    const both = await audit("--policy", policy, input, folder);
    expect(linesOf(both).map(({ n, file }) => [n, file])).toEqual([
      [1, `${input}:1`],
      [2, `${folder}/a.json`],
      [3, `${folder}/b.json`],
      [4, `${folder}/c`],
    ]);
  });

  it("reads gzip, and names what is no lines, without writing a file", async () => {
    const packed = newPath("many.ndjson.gz");
    writeFileSync(packed, gzipSync(boots.join("\n")));
    const answer = await audit("--policy", policy, packed);
    expect([answer.code, linesOf(answer).length]).toEqual([0, 3]);
    writeFileSync(packed, gzipSync(boots.join("\n")).subarray(0, -9));
    const cut = await audit("--policy", policy, packed);
    expect([cut.code, cut.stderr]).toEqual([
      2,
      expect.stringMatching(/^bootproof: \S+many\.ndjson\.gz: its gzip is damaged or truncated \(.+\)\nEntries before/),
    ]);
    const [out, state] = [newPath("results"), newPath("state")];
    const pretty = fileOf(`[\n${boots.join(",\n")}\n]\n`, "it's pretty.json");
    const refused = await audit("--policy", policy, pretty, "--out", out, "--state", state);
    expect([refused.code, existsSync(out), existsSync(state)]).toEqual([2, false, false]);
    expect(refused.stderr).toMatch(
      /pretty\.json: a JSON list over several lines: .*\nWrite each value as a line: jq -c/,
    );
    expect(refused.stderr).toContain(`: jq -c '.[]' '${pretty.replace("'", "'\\''")}' | bootproof audit … -\n`);
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

    const good = await answerTo(lineOf(entries[1]!, organization), lineOf(entries[0]!, organization));
    expect([good.code, linesOf(good).map(({ verdict }) => verdict)]).toEqual([0, ["verified", "verified"]]);
    expect(good.stderr).not.toContain("--expected");
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
    const input = fileOf(boots.join("\n"));
    const [out, state] = [newPath("results"), newPath("state")];
    const bad = fileOf('{"entry":"a","expected":{}}\n[]\n', "bad.ndjson");
    const answer = await audit("--policy", policy, input, "--expected", bad, "--out", out, "--state", state);
    expect([answer.code, answer.stdout, existsSync(out), existsSync(state)]).toEqual([2, "", false, false]);
    expect(answer.stderr).toContain("bad.ndjson: line 1: entry: 1 hex digits, expected 64");
    expect(answer.stderr).toContain("bad.ndjson: line 2: expected an object");
    const missing = await audit("--policy", policy, input, "--expected", newPath("none"));
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("there is no such file")]);
    for (const [files, message] of [
      [[input, "--expected", input], "is also an INPUT"],
      [[input, "--expected", bad, "--out", bad], "this command would also write to it"],
      [["-", "--expected", "-"], "only one file can be - (stdin)"],
    ] as const) {
      const same = await audit("--policy", policy, ...files);
      expect([same.code, same.stderr]).toEqual([2, expect.stringContaining(message)]);
    }
  });

  it("writes to a file, and keeps its state in another", async () => {
    const input = fileOf(boots.join("\n"));
    const [out, state] = [newPath("results"), newPath("state")];
    const first = await audit("--policy", policy, input, "--out", out, "--state", state);
    expect([first.code, first.stdout]).toEqual([0, ""]);
    expect(readFileSync(out, "utf8")).toBe((await audit("--policy", policy, input)).stdout);
    const again = await audit("--policy", policy, input, "--out", out, "--state", state);
    const [headline] = first.stderr.split("\n");
    expect([again.code, again.stderr]).toEqual([0, `0 entries added: nothing\nIn total ${headline!}\n`]);
    const given = ["--policy", policy, input, "--out", out, "--state", state];
    const results = readFileSync(out, "utf8");
    for (const content of [boots.toReversed().join("\n"), boots[0]!, "", null]) {
      if (content === null) rmSync(input);
      else writeFileSync(input, content);
      const changed = await audit(...given);
      expect([changed.code, changed.stderr]).toEqual([2, expect.stringContaining(`bootproof: ${input}: `)]);
    }
    writeFileSync(input, [...boots, "{}"].join("\n"));
    const grown = await audit(...given);
    expect([grown.code, grown.stderr]).toEqual([
      1,
      expect.stringMatching(/^1 entry added: 1 malformed\nSlowest: .*\nIn total 4 entries: 3 verified, 1 malformed\n$/),
    ]);
    expect((await audit(...given)).code).toBe(0);
    expect(readFileSync(out, "utf8").startsWith(results)).toBe(true);
    expect(readFileSync(out, "utf8").trimEnd().split("\n")).toHaveLength(boots.length + 1);
    const other = await audit(...given, "--at", "now");
    expect([other.code, other.stderr]).toEqual([2, expect.stringMatching(/a run with other options: --at\. /)]);
    const unknown = await audit("--policy", policy, input, "--out", out, "--state", `${state}.new`);
    expect([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringMatching(/the file is not empty, and its results are not in the state/),
    ]);
    writeFileSync(input, boots.join("\n"));
    expect((await audit("--policy", policy, input, "--out", out)).code).toBe(0);
    expect(readFileSync(out, "utf8")).toBe(results);
  });

  it("counts a malformed bundle of an entry, or one beyond a bound, against that entry only", async () => {
    const demanding = fileOf(policyFile(DEMAND), "demanding.json");
    writeFileSync(join(dirname(demanding), "root.json"), ROOT);
    const present = { now: BUILT_AT.toISOString() };
    const many = changedBundle(({ verificationMaterial: { tlogEntries } }) =>
      tlogEntries.push(...Array<(typeof tlogEntries)[0]>(8).fill(tlogEntries[0]!)),
    );
    const line = (...bundles: unknown[]): string =>
      JSON.stringify({ bootProofs: [evidence.bootProof], provenance: bundles });
    const [good, bad] = [JSON.parse(GENUINE), JSON.parse(many)] as const;
    const lines = [line(good), line({ verificationMaterial: 1 }), line(7), line(bad), line(bad, good), line()];
    const { code, stdout } = await bootproof(["audit", "--policy", demanding, fileOf(lines.join("\n"))], present);
    const results = stdout
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text) as { verdict: string; failed?: unknown });
    expect([code, results.map(({ verdict }) => verdict)]).toEqual([
      1,
      ["verified", "rejected", "rejected", "rejected", "verified", "rejected"],
    ]);
    for (const at of [1, 2, 3, 5]) expect(JSON.stringify(results[at]!.failed)).toContain("provenance.bundle");
  });

  it("counts only judged entries as good in its health", async () => {
    const file = newPath("health");
    const healthOf = async (content: string): Promise<Record<string, unknown>> => {
      await audit("--policy", policy, fileOf(content), "--health-file", file);
      return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>) : {};
    };
    expect((await healthOf("\n\n"))["goodAt"] ?? null).toBeNull();
    expect(await healthOf(`\n${boots[0]!}\n{\n`)).toMatchObject({ entries: 2, refused: 1, goodAt: now });
  });

  it("counts a night with nothing to add as good in its health, and a failed one never", async () => {
    const [out, state, file] = [newPath("out"), newPath("state"), newPath("health")];
    const input = fileOf(`${boots[0]!}\n`);
    const night = async (): Promise<unknown> => {
      const { code } = await audit("--policy", policy, input, "--out", out, "--state", state, "--health-file", file);
      return [code, existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as object) : null];
    };
    expect(await night()).toMatchObject([0, { entries: 1, goodAt: now }]);
    rmSync(file);
    expect(await night()).toMatchObject([0, { entries: 0, goodAt: now, isReady: true }]);
    rmSync(file);
    writeFileSync(input, "{}\n");
    expect(await night()).toEqual([2, null]);
  });

  it("goes on with the files of its policy elsewhere, and says from where on other content counts", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bootproof-audit-files-"));
    const [first, second] = [join(folder, "a"), join(folder, "b")];
    const file = JSON.parse(readFileSync(policy, "utf8")) as object;
    const write = (to: string, anchor: string, text: string): string => {
      mkdirSync(to, { recursive: true });
      writeFileSync(join(to, anchor), text);
      writeFileSync(join(to, "policy.json"), JSON.stringify({ ...file, trustAnchors: [{ file: anchor }] }));
      return join(to, "policy.json");
    };
    const [input, out, state] = [fileOf(`${boots[0]!}\n`), newPath("out"), newPath("state")];
    const add = (at: number): void => writeFileSync(input, `${boots[at]!}\n`, { flag: "a" });
    const rest = [input, "--out", out, "--state", state];
    expect((await audit("--policy", write(first, "root.pem", fleet.anchorPem), ...rest)).code).toBe(0);
    add(1);
    const same = await audit("--policy", write(second, "new.pem", fleet.anchorPem), ...rest);
    expect([same.code, same.stderr]).toEqual([0, expect.stringMatching(/^1 entry added: 1 verified\n/)]);
    const aws = certificatePem(AWS_NITRO_ROOT_G1.certificate.der);
    add(2);
    const other = await audit("--policy", write(first, "root.pem", aws), ...rest, "--log-format", "json");
    const [note, summary] = other.stderr
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text) as { event: string; fields: Record<string, unknown> });
    const text = `entries from 3 on are judged as of ${now}; changed since the entries before: the trust anchors`;
    const fields = { text, first: 3, now, changed: ["the trust anchors"] };
    expect([other.code, note]).toMatchObject([1, { event: "segment", fields }]);
    expect(summary).toMatchObject({
      event: "summary",
      fields: { entries: 1, accepted: 0, included: 0, total: { entries: 3 } },
    });
  });

  it.each<[string, readonly string[], readonly RegExp[]]>([
    ["nothing", [], [/INPUT is required/, /--policy FILE or --no-policy is required/]],
    [
      "much",
      ["--no-policy", "--state", "s", "--workers", "x", "--at", "never", "--now", "soon", "--queue", "redis://x"],
      [/INPUT is required/, /--state requires --out FILE/, /--workers x: /, /--at never/, /--now soon/, /with --queue/],
    ],
    ["workers", ["--no-policy", "in", "--workers", "0"], [/--workers 0: expected a number of threads from 1 to 1024/]],
    ["a time", ["--no-policy", "in", "--entry-timeout", "soon"], [/soon: expected a duration/]],
    [
      "a time of others",
      ["--no-policy", "in", "--queue", "redis://x", "--entry-timeout", "1s"],
      [/with --queue, leave it out/],
    ],
    ["policies", ["--no-policy", "--policy", "p", "in"], [/exclude each other/]],
    ["an anchor", ["--policy", "p", "--trust-anchor", "t", "in"], [/--trust-anchor requires --no-policy/]],
    ["one file for two", ["--no-policy", "in", "--out", "o", "--state", "o"], [/--out and --state name the same file/]],
    ["an input", ["--no-policy", "in", "--out", "in"], [/in: is also an INPUT: give another file/]],
    ["inputs twice", ["--no-policy", "in", "in", "-", "-"], [/INPUT in: repeated/, /only one file can be/]],
    ["stdout", ["--no-policy", "in", "--out", "-", "--state", "s"], [/--state requires --out FILE/]],
    ["an empty name", ["--no-policy", ""], [/INPUT: empty: a shell variable may be unset/]],
    ["all words", ["--no-policy", "--boot-proof", "a", "b"], [/takes every word after it/]],
  ])("tells every fault of a command line: %s", async (_, args, messages) => {
    const { code, stdout, stderr } = await audit(...args);
    expect([code, stdout]).toEqual([2, ""]);
    for (const message of messages) expect(stderr).toMatch(message);
    expect(stderr).toMatch(/See bootproof audit --help\.\n$/);
  });

  it("tells what is wrong with files", async () => {
    const input = fileOf(boots[0]!);
    for (const [args, message] of [
      [
        ["--policy", fleet.boots[0]!, input],
        /this is a boot proof; bootproof verify --boot-proof takes it|--boot-proof takes it/,
      ],
      [["--policy", policy, "no-such-file"], /no-such-file: there is no such file or folder/],
      [["--policy", policy, fileOf("")], /no entries: the program that wrote it may have failed/],
      [["--policy", policy, input, "--boot-proof", APP_1], /this is an app proof/],
      [["--policy", policy, input, "--boot-proof", fileOf("[]")], /list is empty/],
      [["--policy", policy, input, "--out", join(tmpdir(), "no", "such")], /there is no such file or folder/],
      [["--policy", policy, input, "--out", tmpdir()], /a directory, not a file/],
      [
        ["--policy", policy, input, "--out", "/dev/full"],
        /\/dev\/full: expected a regular file for results, got a device/,
      ],
    ] as const) {
      const { code, stdout, stderr } = await audit(...args);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(message);
    }
    expect(existsSync("no-such-file")).toBe(false);
  });

  it("says how far it is", () => {
    const at = (entries: number, accepted: number, bytes: number): Parameters<typeof progressText>[0] => ({
      bytes,
      summary: { ...NO_ENTRIES, entries, accepted },
      added: NO_ENTRIES,
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
    const one = { ...NO_ENTRIES, entries: 1, stale: 1, verdicts: { ...NO_ENTRIES.verdicts, rejected: 1 } };
    expect(
      summaryText({
        end: "aborted",
        before: 0,
        included: 0,
        emptyLines: 2,
        slowest: { n: 3, milliseconds: 12.34, file: "in\u001b:3" },
        unmet: null,
        summary: one,
        added: one,
      }),
    ).toBe(
      "1 entry so far: 1 rejected (1 only because of their age)\n2 empty lines, which are not entries\n" +
        "Slowest: entry 3 (in\\u{1b}:3), 12.3 ms\n",
    );
    const unmet = { count: 1, first: [{ line: 3, entry: "ab".repeat(32) }] };
    expect(
      summaryText({
        ...{ end: "done", before: 1000, included: 2, emptyLines: 1, slowest: null, unmet },
        added: { ...NO_ENTRIES, entries: 3, accepted: 3, verdicts: { ...NO_ENTRIES.verdicts, verified: 3 } },
        summary: { ...one, entries: 1001, accepted: 1000, verdicts: { ...one.verdicts, verified: 1000 } },
      }),
    ).toBe(
      "3 entries added: 3 verified\n2 of them in an earlier run that ended before it reported them\n" +
        "No entry was compared with 1 line of --expected: line 3 (abababababababab…). " +
        "Entries that were verified before another --expected are not compared again\n" +
        "In total 1,001 entries: 1,000 verified, 1 rejected (1 only because of their age)\n" +
        "1 empty line, which is not an entry\n",
    );
  });
});
