/** What watch and log verify refuse of a command line, and what they say of a log from stdin. */
import { describe, expect, it } from "vitest";
import { entryText } from "../../src/cli/watch-text.js";
import { eventLineAfter } from "../../src/watch/entry.js";
import { EVENTS, START, linesOf, textOf } from "../watch/support.js";
import { bootproof, fileOf } from "./support.js";

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
    ["no key", ["--ephemeral-key", "04", "--policy", "p"], /--ephemeral-key: 2 hex digits, 260 hex digits expected/],
    ["no interval", ["--app", "a", "--policy", "p", "--interval", "60"], /--interval 60: a duration such as 60s/],
    ["an interval of nothing", ["--app", "a", "--policy", "p", "--interval", "0s"], /--interval 0s: a duration/],
    ["more than a day", ["--app", "a", "--policy", "p", "--interval", "2d"], /up to 1d/],
    ["stdout as a log", ["--app", "a", "--policy", "p", "--log", "-"], /--log -: a file is required/],
    [
      "an address with a password",
      ["--app", "a", "--policy", "p", "--on-refusal", "https://u:p@a"],
      /without user and/,
    ],
    ["a name for outages", ["--app", "a", "--policy", "p", "--on-outage", "https://u:p@a"], /--on-outage: an address/],
    [
      "no number",
      ["--app", "a", "--policy", "p", "--outage-after", "5m"],
      /--outage-after 5m: a number from 0 to 1000000/,
    ],
    [
      "too many",
      ["--app", "a", "--policy", "p", "--outage-after", "1000001"],
      /--outage-after 1000001: a number from 0/,
    ],
    ["an empty number", ["--app", "a", "--policy", "p", "--outage-after", ""], /--outage-after/],
    [
      "reminders by the second",
      ["--app", "a", "--policy", "p", "--outage-repeat", "30s"],
      /--outage-repeat 30s: a minute/,
    ],
    [
      "no duration",
      ["--app", "a", "--policy", "p", "--outage-repeat", "8d"],
      /--outage-repeat 8d: a duration .*up to 7d/,
    ],
    ["no silence", ["--app", "a", "--policy", "p", "--max-silence", "1"], /--max-silence 1: a duration such as 1h/],
    [
      "a short silence",
      ["--app", "a", "--policy", "p", "--max-silence", "60s"],
      /--max-silence 60s: longer than --interval/,
    ],
    ["another format", ["--app", "a", "--policy", "p", "--format", "html"], /--format html: one of text, json/],
  ])("refuses %s", async (_, args, message) => {
    const { code, stdout, stderr } = await bootproof(["watch", ...args, ...CONNECTION]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });

  it("names a file that is no policy", async () => {
    const { code, stderr } = await bootproof(["watch", "--app", "a", "--policy", fileOf("{}"), ...CONNECTION]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("deployments")]);
  });
});

describe("an entry that is no finding", () => {
  it.each(EVENTS)("is named where evidence is wanted: $event", async (event) => {
    const { bytes } = await eventLineAfter({ entries: 4, head: lines[0]!.hash }, event);
    const stdin = Buffer.from(bytes).toString("utf8");
    const { code, stderr } = await bootproof(["verify", "--boot-proof", "-", "--no-policy"], { stdin });
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`an entry of a log (${event.event}), which has no evid`),
    ]);
  });

  it("is a line at the terminal", async () => {
    const end = { entries: 4, head: lines[0]!.hash };
    const entries = await Promise.all(EVENTS.map(async (event) => (await eventLineAfter(end, event)).entry));
    expect(entries.map(entryText)).toEqual([
      `${AT} #5 OUTAGE signer, key 04ab…: not known since ${AT}: no \\u{202e}connection\n`,
      `${AT} #5 OUTAGE ENDED signer, key 04ab…: 3 polls without a response since ${AT}\n`,
      `${AT} #5 POLICY CHANGED: "lab" sha256:${"ab".repeat(32)}, before without a digest\n`,
      `${AT} #5 CONTINUED in boots.2.jsonl\n`,
    ]);
  });
});

describe("log verify", () => {
  it("reads a log from stdin", async () => {
    const { code, stdout, stderr } = await bootproof(["log", "verify", "-"], { stdin: textOf(lines) });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^WHOLE: stdin: 3 entries, /);
  });

  it("names the line that is wrong, in JSON too", async () => {
    const file = fileOf(textOf([lines[0]!, lines[2]!]));
    const { code, stdout } = await bootproof(["log", "verify", file]);
    expect([code, stdout.split("\n").slice(0, 2)]).toEqual([
      1,
      [
        expect.stringMatching(/^BROKEN: .*: entry 2 was removed: entry 3 is in line 2, the line behind entry 1$/),
        expect.stringMatching(/^Whole up to there: 1 entry, /),
      ],
    ]);
    const json = await bootproof(["log", "verify", file, "--format", "json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      format: "bootproof-log-verification/1",
      intact: false,
      entries: 1,
      fault: { line: 2, kind: "removed" },
    });
  });

  it("counts no edited line, in text and JSON", async () => {
    const edited = textOf(lines)
      .split("\n")
      .with(1, textOf([lines[1]!]).trim().replace('"prod"', '"dev"'));
    const file = fileOf(edited.join("\n"));
    const { code, stdout } = await bootproof(["log", "verify", file]);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/: line 2 was edited.*\nWhole up to there: 1 entry, /)]);
    expect(stdout).toContain(`\nHead: ${lines[0]!.hash}\n`);
    const json = await bootproof(["log", "verify", file, "--format", "json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ entries: 1, head: lines[0]!.hash, fault: { kind: "edited" } });
  });

  it("takes a line that is longer than any entry for a fault", async () => {
    const file = fileOf(`${textOf(lines)}${"x".repeat(16 * 1024 * 1024 + 1)}`);
    const { code, stdout } = await bootproof(["log", "verify", file]);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/: line 4 is no entry: .*longer than any entry/)]);
  });

  it("takes an empty file for none, but not where a head was kept", async () => {
    const empty = fileOf("");
    expect(await bootproof(["log", "verify", empty])).toMatchObject({ code: 2, stdout: "" });
    expect((await bootproof(["log", "verify", empty, "--head", lines[2]!.hash])).code).toBe(1);
  });

  it.each<[string, string[], string]>([
    ["no file", ["/no/such/file"], "there is no such file or folder"],
    ["a folder", ["/"], "a directory, not a file"],
    ["no head", ["x", "--head", "5e88"], "--head: 64 hex digits expected"],
  ])("refuses %s", async (_, args, message) => {
    const { code, stdout, stderr } = await bootproof(["log", "verify", ...args]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
  });
});
