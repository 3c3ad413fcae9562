/** What watch refuses of a command line, and what it says of an entry. */
import { describe, expect, it } from "vitest";
import { atMostOnceText, entryText, notReadText, waitingText } from "../../src/cli/watch-text.js";
import { watchExitCode } from "../../src/cli/watch.js";
import type { Report } from "../../src/report/report.js";
import type { WatchSummary } from "../../src/run/index.js";
import { lineAfter } from "../../src/run/line.js";
import { unrecorded } from "../../src/run/log.js";
import { EVENTS, START, endOf, linesOf, polled } from "../run/lines.js";
import { BOOT_1, NOW, bootproof, fileOf, readJson, refused } from "./support.js";

const CONNECTION = ["--base-url", "https://a", "--organization-id", "o", "--api-key-file", "k"];
const KEY = "04".repeat(130);
const AT = START.toISOString();
const end = endOf((await linesOf(4)).at(-1)!);

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
      ["--interval 2d", /up to 1d/],
      ["--policy-refresh 5m", /--policy-refresh requires --policy-signers FILE/],
      ["--policy-signers s --policy-refresh 0s", /-refresh 0s: expected a duration such as 10s, 5m or 1h, up to 1d/],
      ["--log -", /--log -: a file is required/],
      ["--on-refusal https://u:p@a", /without user and/],
      ["--on-outage https://u:p@a", /--on-outage: expected an address/],
      ["--outage-after 5m", /--outage-after 5m: expected a number from 0 to 1000000/],
      ["--outage-after=", /--outage-after/],
      ["--outage-repeat 30s", /--outage-repeat 30s: expected a duration such as 1m or 1h, from 1m/],
      ["--outage-repeat 8d", /--outage-repeat 8d: expected a duration .*up to 7d/],
      ["--max-silence 1", /--max-silence 1: expected a duration such as 1h/],
      ["--max-silence 60s", /--max-silence: expected more than --interval/],
      ["--log l --heartbeat 8d", /--heartbeat 8d: expected a duration .*up to 7d/],
      ["--heartbeat 1h", /--heartbeat requires --log FILE/],
      ["--format xml", /--format xml: expected one of text, json/],
      ["--after b.1", /--after requires --log FILE/],
      ["--checkpoint n", /--checkpoint requires --checkpoint-key FILE/],
      ["--checkpoint-key k", /--checkpoint-key requires --log FILE/],
      ["--log l --checkpoint n", /--checkpoint requires --checkpoint-key FILE/],
      ["--log l --origin bootproof-log/a", /--origin requires --checkpoint-key FILE/],
      [`${LOG} --origin a`, /--origin: expected bootproof-log\/ and a name/],
      [`${LOG} --checkpoint -`, /--checkpoint -: expected a file, which is replaced with each line/],
      ["--log l --acknowledge 3", /unknown option --acknowledge/],
    ].map(([words, message]): [string, RegExp] => [`--app a --policy p ${words as string}`, message as RegExp]),
  ])("refuses %s", (line, message) => refused(2, bootproof(["watch", ...line.split(" "), ...CONNECTION]), message));

  it("names a file that is not a policy", () =>
    refused(2, bootproof(["watch", "--app", "a", "--policy", fileOf("{}"), ...CONNECTION]), "deployments"));
});

describe("the exit code", () => {
  const watched = { app: "a" };
  const good: WatchSummary = {
    ...{ recorded: 1, polls: 1, refused: [], unfetched: [], unseen: [], silent: [] },
    ...{ waiting: [], isFeedContradicted: false },
  };
  const silence = { silent: [{ watched, since: START, message: null }] };
  const unfetched = [{ watched, kind: "missing", message: "", retryAfterMs: null }] as const;
  it.each<[string, Partial<WatchSummary>, number]>([
    ["a silence, before a refusal", { ...silence, refused: [watched] }, 3],
    ["a refusal, before a name that was not fetched", { refused: [watched], unfetched }, 1],
    [
      "a refusal that was not delivered, before a name that was not seen",
      { waiting: ["refusal"], unseen: [watched] },
      1,
    ],
    ["an outage that was not delivered, before a name that was not fetched", { waiting: ["outage"], unfetched }, 1],
    ["a feed that was rolled back, before a name that was not fetched", { isFeedContradicted: true, unfetched }, 1],
    ["a name that was not fetched", { unfetched }, 3],
    ["a name that was not seen", { unseen: [watched] }, 3],
    ["good names", {}, 0],
  ])("is that of %s", (_, more, code) => expect(watchExitCode({ ...good, ...more })).toBe(code));
});

it("a watch says what is not announced, and what cannot be read again", () => {
  expect(waitingText("refusal", "log")).toContain(
    "a refusal was not announced, and will be when the watch resumes with",
  );
  expect(waitingText("outage", undefined)).toContain("an outage was not announced, and without --log it is lost");
  expect(atMostOnceText).toContain("announced at most once");
  expect(notReadText(START)).toBe(
    `warning: ${AT} nothing was reloaded, since stdin cannot be read again: restart the watch to use new files\n`,
  );
});

describe("a line with evidence", () => {
  it.each(["a line", "a result that no file has"])("is read as a boot proof: %s", async (kind) => {
    const result = await polled(readJson(BOOT_1) as never);
    const bytes = kind === "a line" ? (await lineAfter(end, AT, result)).bytes : unrecorded(START, result);
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

describe("a line that is not a result", () => {
  it.each(EVENTS)("is named where evidence is wanted: $event", async (event) => {
    const stdin = Buffer.from((await lineAfter(end, AT, event)).bytes).toString("utf8");
    const answer = bootproof(["verify", "--boot-proof", "-", "--no-policy"], { stdin });
    await refused(2, answer, new RegExp(`\\(${event.event}\\), which has no evidence`));
  });

  it("is a line at the terminal", async () => {
    const shown = await Promise.all(EVENTS.map(async (event) => entryText(await lineAfter(end, AT, event))));
    expect(shown).toEqual([
      `${AT} #5 STARTED signer, key 04ab…\n`,
      `${AT} #5 ACCEPTED 4 entries of a\\u{202e}.ndjson\n`,
      `${AT} #5 SETTING CHANGED: the policy, its trusted roots; the policy is now "lab" sha256:${"ab".repeat(32)}\n`,
      `${AT} #5 SETTING REFUSED since ${AT}: a\\u{202e}.json: no such file\n`,
      `${AT} #5 OUTAGE signer, key 04ab…: not known since ${AT}: no \\u{202e}connection\n`,
      `${AT} #5 OUTAGE ENDED signer, key 04ab…: 3 polls without a response since ${AT}\n`,
      `${AT} #5 ANNOUNCED line 3\n`,
      `${AT} #5 ALIVE since ${AT}: signer 60 good, key 04ab… 60 good\n`,
      `${AT} #5 STOPPED since ${AT}: \n`,
    ]);
    const polls = [{ app: "signer", good: 1, failed: 2 }];
    const stopped = await lineAfter(end, AT, { event: "stopped", since: AT, polls });
    expect(entryText(stopped)).toBe(`${AT} #5 STOPPED since ${AT}: signer 1 good and 2 failed\n`);
    const feed = { event: "setting-refused", since: AT, faults: [{ file: null, reason: "r" }], contradiction: true };
    expect(entryText(await lineAfter(end, AT, feed as never))).toBe(`${AT} #5 POLICY FEED REFUSED since ${AT}: r\n`);
    expect(entryText({ bytes: unrecorded(START, await polled({}, { verdict: "rejected" })) })).toMatch(
      /^\S+Z NOT RECORDED REJECTED signer/,
    );
  });
});
