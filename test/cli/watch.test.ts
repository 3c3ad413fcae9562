/** What watch refuses of a command line, and what it says of an entry. */
import { generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { generateApiKey } from "../../src/client/stamp.js";
import { entryText } from "../../src/cli/watch-text.js";
import { watchExitCode } from "../../src/cli/watch.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { eventLineAfter, lineAfter, unrecordedLine } from "../../src/watch/entry.js";
import type { Report } from "../../src/report/report.js";
import type { WatchSummary } from "../../src/watch/index.js";
import { EVENTS, START, finding, linesOf, textOf } from "../watch/support.js";
import { BOOT_1, NOW, bootproof, connectionTo, fileOf, readJson, refused, words } from "./support.js";

const CONNECTION = ["--base-url", "https://a", "--organization-id", "o", "--api-key-file", "k"];
const KEY = "04".repeat(130);
const AT = START.toISOString();
const lines = await linesOf(3);
const head = lines.at(-1)!.hash;

describe("watch", () => {
  const LOG = "--log l --checkpoint-key k";
  it.each<[words: string, message: RegExp]>([
    ["--policy p", /--app NAME \(or --ephemeral-key HEX\) is required: what to watch/],
    ["--app a", /--policy FILE is required/],
    ["--app a a --policy p", /--app a: repeated/],
    [`--ephemeral-key ${KEY} ${KEY.toUpperCase()} --policy p`, /--ephemeral-key .*: repeated/],
    ["--ephemeral-key 04 --policy p", /--ephemeral-key: 2 hex digits, expected 260 hex digits/],
    ...[
      ["--interval 60", /--interval 60: expected a duration such as 10s/],
      ["--interval 0s", /--interval 0s: expected a duration/],
      ["--interval 2d", /up to 1d/],
      ["--policy-refresh 5m", /--policy-refresh: only with --policy-signers/],
      ["--policy-signers s --policy-refresh 0s", /-refresh 0s: expected a duration such as 10s, 5m or 1h, up to 1d/],
      ["--log -", /--log -: a file is required/],
      ["--on-refusal https://u:p@a", /without user and/],
      ["--on-outage https://u:p@a", /--on-outage: expected an address/],
      ["--outage-after 5m", /--outage-after 5m: expected a number from 0 to 1000000/],
      ["--outage-after 1000001", /--outage-after 1000001: expected a number from 0/],
      ["--outage-after=", /--outage-after/],
      ["--outage-repeat 30s", /--outage-repeat 30s: expected a minute/],
      ["--outage-repeat 8d", /--outage-repeat 8d: expected a duration .*up to 7d/],
      ["--max-silence 1", /--max-silence 1: expected a duration such as 1h/],
      ["--max-silence 60s", /--max-silence 60s: expected more than --interval/],
      ["--log l --heartbeat 8d", /--heartbeat 8d: expected a duration .*up to 7d/],
      ["--heartbeat 1h", /--heartbeat: only with --log/],
      ["--format html", /--format html: expected one of text, json/],
      ["--rotate 1d", /--rotate: only with --log/],
      ["--checkpoint n", /--checkpoint: only with --log/],
      ["--checkpoint-key k", /--checkpoint-key: only with --log/],
      ["--log l --checkpoint n", /--checkpoint: only with --checkpoint-key FILE/],
      ["--log l --origin bootproof-log/a", /--origin: only with --checkpoint-key FILE/],
      [`${LOG} --origin a`, /--origin: expected bootproof-log\/ and a name/],
      [`--adopt ${head}`, /--adopt: only with --log/],
      [`--log l --adopt ${head}`, /--adopt: only with --checkpoint-key FILE/],
      [`${LOG} --adopt abcd`, /--adopt: expected 64 hex digits, as bootproof log verify prints them/],
      ...["100", "0MB", "1.5MB", "100mb", "1TB", "0s", "MB", "9999999999GB"].map((size): [string, RegExp] => [
        `--log l --rotate ${size}`,
        /--rotate \S+: expected a size such as 500kB, 100MB or 1GB, or a duration such as 12h or 1d/,
      ]),
    ].map(([words, message]): [string, RegExp] => [`--app a --policy p ${words as string}`, message as RegExp]),
  ])("refuses %s", (line, message) => refused(2, bootproof(["watch", ...line.split(" "), ...CONNECTION]), message));

  it.each<[string, RegExp]>([
    ["3", /--acknowledge: only with --log FILE/],
    ["3 --log l --policy-signers s", /not with --policy-si/],
    ["3 --log l --app a", /not with --app: it only needs/],
    ["3 --log l --max-age 1d", /not with --max-age: it only needs/],
    ["x --log l", /--acknowledge x: expected a number/],
    [`9 --log ${fileOf(textOf(lines))}`, /entry 9 is not an undelivered/],
  ])("refuses --acknowledge %s", (line, message) =>
    refused(2, bootproof(["watch", "--acknowledge", ...line.split(" ")]), message),
  );

  it("records an acknowledgement once, and then has nothing to acknowledge", async () => {
    const path = fileOf(textOf(await linesOf(2, { verdict: "rejected" })));
    const { code, stdout } = await bootproof(["watch", "--acknowledge", "1", "--log", path]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/ #3 ACKNOWLEDGED: the refusal of entry 1 /)]);
    await refused(2, bootproof(["watch", "--acknowledge", "1", "--log", path]), /entry 1 is not an undelivered/);
    expect((await bootproof(["watch", "--acknowledge", "2", "--log", path])).code).toBe(0);
  });

  it("names a file that is not a policy", () =>
    refused(2, bootproof(["watch", "--app", "a", "--policy", fileOf("{}"), ...CONNECTION]), "deployments"));
});

describe("watch --adopt", () => {
  it("names the head of a log that the key has not signed, and is refused the next time", async () => {
    const lab = new Forge();
    const { anchorPem } = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
    const policy = fileOf(labPolicy(anchorPem, [labDeployment(lab)]));
    const key = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    // Nothing listens there: a watch that opened its log ends with 3.
    const service = { baseUrl: "https://127.0.0.1:1", organizationId: "o", apiKey: await generateApiKey() };
    const path = fileOf(textOf(lines));
    const args = words`watch --app signer --policy ${policy} --once --log ${path} --checkpoint-key ${fileOf(key)}`;
    const run = (...more: string[]): ReturnType<typeof bootproof> =>
      bootproof([...args, ...more, ...connectionTo(service)]);
    for (const more of [[], ["--adopt", "ab".repeat(32)]])
      await refused(2, run(...more), `start once with --adopt ${head}`);
    expect(existsSync(`${path}.state`)).toBe(false);
    expect(await run("--adopt", head.toUpperCase())).toMatchObject({ code: 3 });
    expect(readFileSync(`${path}.state`, "utf8")).toMatch(/^bootproof-log-state\/3\n/);
    await refused(2, run("--adopt", head), "there is nothing to adopt");
    expect(await run()).toMatchObject({ code: 3 });
  });
});

describe("the exit code", () => {
  const watched = { app: "a" };
  const good: WatchSummary = {
    ...{ recorded: 1, polls: 1, refused: [], unfetched: [], unseen: [], silent: [] },
    ...{ waiting: false, outagesWaiting: false, isFeedContradicted: false, isLogWritable: true },
  };
  const silence = { silent: [{ watched, since: START, message: null }] };
  const unfetched = [{ watched, kind: "missing", message: "", retryAfterMs: null }] as const;
  it.each<[string, Partial<WatchSummary>, number]>([
    ["a log that cannot be written, before a silence", { isLogWritable: false, ...silence }, 2],
    ["a silence, before a refusal", { ...silence, refused: [watched] }, 3],
    ["a refusal, before a name that was not fetched", { refused: [watched], unfetched }, 1],
    ["a refusal that was not delivered, before a name that was not seen", { waiting: true, unseen: [watched] }, 1],
    ["an outage that was not delivered, before a name that was not fetched", { outagesWaiting: true, unfetched }, 1],
    ["a feed that was rolled back, before a name that was not fetched", { isFeedContradicted: true, unfetched }, 1],
    ["a name that was not fetched", { unfetched }, 3],
    ["a name that was not seen", { unseen: [watched] }, 3],
    ["good names", {}, 0],
  ])("is that of %s", (_, more, code) => expect(watchExitCode({ ...good, ...more })).toBe(code));
});

describe("a line with evidence", () => {
  it.each(["an entry", "a finding that is not recorded"])("is read as a boot proof: %s", async (kind) => {
    const made = await finding("signer", readJson(BOOT_1) as never);
    const end = { entries: 4, head: lines[0]!.hash };
    const { bytes } = kind === "an entry" ? await lineAfter(end, made) : unrecordedLine(made);
    const args = ["--no-policy", "--now", NOW, "--format", "json"];
    const own = await bootproof(["verify", "--boot-proof", BOOT_1, ...args]);
    const stdin = Buffer.from(bytes).toString("utf8");
    const read = await bootproof(["verify", "--boot-proof", "-", ...args], { stdin });
    const [ofProof, ofLine] = [own, read].map(({ stdout }) => JSON.parse(stdout) as Report);
    expect([read.code, ofLine!.verdict, ofLine!.checks.map(({ id, status }) => `${id} ${status}`)]).toEqual([
      own.code,
      "authentic",
      ofProof!.checks.map(({ id, status }) => `${id} ${status}`),
    ]);
  });
});

describe("an entry that is not a finding", () => {
  it.each(EVENTS)("is named where evidence is wanted: $event", async (event) => {
    const { bytes } = await eventLineAfter({ entries: 4, head: lines[0]!.hash }, event);
    const stdin = Buffer.from(bytes).toString("utf8");
    await refused(
      2,
      bootproof(["verify", "--boot-proof", "-", "--no-policy"], { stdin }),
      `an entry of a log (${event.event}), which has no evid`,
    );
  });

  it("is a line at the terminal", async () => {
    const end = { entries: 4, head: lines[0]!.hash };
    const entries = await Promise.all(EVENTS.map(async (event) => (await eventLineAfter(end, event)).entry));
    expect(entries.map(entryText)).toEqual([
      `${AT} #5 OUTAGE signer, key 04ab…: not known since ${AT}: no \\u{202e}connection\n`,
      `${AT} #5 OUTAGE ENDED signer, key 04ab…: 3 polls without a response since ${AT}\n`,
      `${AT} #5 SETTING CHANGED: the policy, its trusted roots; the policy is now "lab" sha256:${"ab".repeat(32)}\n`,
      `${AT} #5 SETTING REFUSED since ${AT}: a\\u{202e}.json: no such file\n`,
      `${AT} #5 CONTINUED in boots.2.jsonl\n`,
      `${AT} #5 STARTED signer, key 04ab…, adopting ${"ab".repeat(32)}\n`,
      `${AT} #5 HEARTBEAT since ${AT}: signer 60 good, key 04ab… 60 good\n`,
      `${AT} #5 STOPPED since ${AT}: signer 1 good and 2 failed, key 04ab… 1 good and 2 failed\n`,
      `${AT} #5 ACKNOWLEDGED: the refusal of entry 3 is not delivered any more\n`,
    ]);
  });
});
