/** What watch refuses of a command line, and what it says of an entry. */
import { describe, expect, it } from "vitest";
import { entryText } from "../../src/cli/watch-text.js";
import { watchExitCode } from "../../src/cli/watch.js";
import { eventLineAfter, lineAfter, unrecordedLine } from "../../src/watch/entry.js";
import type { Report } from "../../src/report/report.js";
import type { WatchSummary } from "../../src/watch/index.js";
import { EVENTS, START, finding, linesOf, textOf } from "../watch/support.js";
import { BOOT_1, NOW, bootproof, fileOf, readJson, refused } from "./support.js";

const CONNECTION = ["--base-url", "https://a", "--organization-id", "o", "--api-key-file", "k"];
const KEY = "04".repeat(130);
const AT = START.toISOString();
const lines = await linesOf(3);

describe("watch", () => {
  it.each<[string, string[], RegExp]>([
    ["nothing to watch", ["--policy", "p"], /--app NAME \(or --ephemeral-key HEX\) is required: what to watch/],
    ["no policy", ["--app", "a"], /--policy FILE is required/],
    ["the same twice", ["--app", "a", "a", "--policy", "p"], /--app a: repeated/],
    ["a key twice", ["--ephemeral-key", KEY, KEY.toUpperCase(), "--policy", "p"], /--ephemeral-key .*: repeated/],
    ["no key", ["--ephemeral-key", "04", "--policy", "p"], /--ephemeral-key: 2 hex digits, expected 260 hex digits/],
    [
      "no interval",
      ["--app", "a", "--policy", "p", "--interval", "60"],
      /--interval 60: expected a duration such as 10s/,
    ],
    [
      "an interval of nothing",
      ["--app", "a", "--policy", "p", "--interval", "0s"],
      /--interval 0s: expected a duration/,
    ],
    [
      "a refresh of a policy that is not signed",
      ["--app", "a", "--policy", "p", "--policy-refresh", "5m"],
      /--policy-refresh: only with --policy-signers/,
    ],
    [
      "no refresh",
      ["--app", "a", "--policy", "p", "--policy-signers", "s", "--policy-refresh", "0s"],
      /--policy-refresh 0s: expected a duration such as 10s, 5m or 1h, up to 1d/,
    ],
    ["more than a day", ["--app", "a", "--policy", "p", "--interval", "2d"], /up to 1d/],
    ["stdout as a log", ["--app", "a", "--policy", "p", "--log", "-"], /--log -: a file is required/],
    [
      "an address with a password",
      ["--app", "a", "--policy", "p", "--on-refusal", "https://u:p@a"],
      /without user and/,
    ],
    [
      "a name for outages",
      ["--app", "a", "--policy", "p", "--on-outage", "https://u:p@a"],
      /--on-outage: expected an address/,
    ],
    [
      "no number",
      ["--app", "a", "--policy", "p", "--outage-after", "5m"],
      /--outage-after 5m: expected a number from 0 to 1000000/,
    ],
    [
      "too many",
      ["--app", "a", "--policy", "p", "--outage-after", "1000001"],
      /--outage-after 1000001: expected a number from 0/,
    ],
    ["an empty number", ["--app", "a", "--policy", "p", "--outage-after", ""], /--outage-after/],
    [
      "reminders by the second",
      ["--app", "a", "--policy", "p", "--outage-repeat", "30s"],
      /--outage-repeat 30s: expected a minute/,
    ],
    [
      "no duration",
      ["--app", "a", "--policy", "p", "--outage-repeat", "8d"],
      /--outage-repeat 8d: expected a duration .*up to 7d/,
    ],
    [
      "no silence",
      ["--app", "a", "--policy", "p", "--max-silence", "1"],
      /--max-silence 1: expected a duration such as 1h/,
    ],
    [
      "a short silence",
      ["--app", "a", "--policy", "p", "--max-silence", "60s"],
      /--max-silence 60s: expected more than --interval/,
    ],
    [
      "no heartbeat",
      ["--app", "a", "--policy", "p", "--log", "l", "--heartbeat", "8d"],
      /--heartbeat 8d: expected a duration .*up to 7d/,
    ],
    ["a heartbeat without a log", ["--app", "a", "--policy", "p", "--heartbeat", "1h"], /--heartbeat: only with --log/],
    [
      "another format",
      ["--app", "a", "--policy", "p", "--format", "html"],
      /--format html: expected one of text, json/,
    ],
    ...[
      ["--rotate", "1d"],
      ["--checkpoint", "n"],
      ["--checkpoint-key", "k"],
    ].map((more): [string, string[], RegExp] => [
      `${more[0]!} without a log`,
      ["--app", "a", "--policy", "p", ...more],
      new RegExp(`${more[0]!}: only with --log`),
    ]),
    ...["100", "0MB", "1.5MB", "100mb", "1TB", "0s", "MB", "9999999999GB"].map((size): [string, string[], RegExp] => [
      `--rotate ${size}`,
      ["--app", "a", "--policy", "p", "--log", "l", "--rotate", size],
      /--rotate \S+: expected a size such as 500kB, 100MB or 1GB, or a duration such as 12h or 1d/,
    ]),
    ...[
      ["--checkpoint", "n"],
      ["--origin", "bootproof-log/a"],
    ].map((more): [string, string[], RegExp] => [
      `${more[0]!} without a key`,
      ["--app", "a", "--policy", "p", "--log", "l", ...more],
      new RegExp(`${more[0]!}: only with --checkpoint-key FILE`),
    ]),
    [
      "an origin of another form",
      ["--app", "a", "--policy", "p", "--log", "l", "--checkpoint-key", "k", "--origin", "a"],
      /--origin: expected bootproof-log\/ and a name/,
    ],
  ])("refuses %s", (_, args, message) => refused(2, bootproof(["watch", ...args, ...CONNECTION]), message));

  it.each<[string, string[], RegExp]>([
    ["without a log", ["--acknowledge", "3"], /--acknowledge: only with --log FILE/],
    [
      "with the keys of a policy",
      ["--acknowledge", "3", "--log", "l", "--policy-signers", "s"],
      /not with --policy-si/,
    ],
    ["with what a watch needs", ["--acknowledge", "3", "--log", "l", "--app", "a"], /not with --app: it only needs/],
    ["with an age", ["--acknowledge", "3", "--log", "l", "--max-age", "1d"], /not with --max-age: it only needs/],
    ["of no number", ["--acknowledge", "x", "--log", "l"], /--acknowledge x: expected a number/],
    ["of an unknown entry", ["--acknowledge", "9", "--log", fileOf(textOf(lines))], /entry 9 is not an undelivered/],
  ])("refuses an acknowledgement %s", (_, args, message) => refused(2, bootproof(["watch", ...args]), message));

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
