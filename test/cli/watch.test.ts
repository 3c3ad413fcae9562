/** What watch and log verify refuse of a command line, and what they say of a log from stdin. */
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { entryText } from "../../src/cli/watch-text.js";
import { eventLineAfter } from "../../src/watch/entry.js";
import { EVENTS, START, linesOf, rotatedLog, textOf } from "../watch/support.js";
import { bootproof, fileOf, refusal, refused } from "./support.js";

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
      /--interval 60: expected a duration such as 60s/,
    ],
    [
      "an interval of nothing",
      ["--app", "a", "--policy", "p", "--interval", "0s"],
      /--interval 0s: expected a duration/,
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
    ["with what a watch needs", ["--acknowledge", "3", "--log", "l", "--app", "a"], /not with --app: it only needs/],
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
        expect.stringMatching(/^BROKEN: .*: entry 2 was removed: entry 3 is in line 2, the line after entry 1$/),
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
    expect([code, stdout]).toEqual([1, expect.stringMatching(/: line 4 is not an entry: .*longer than any entry/)]);
  });

  it("takes an empty file for none, but not where a head was kept", async () => {
    const empty = fileOf("");
    expect(await bootproof(["log", "verify", empty])).toMatchObject({ code: 2, stdout: "" });
    expect((await bootproof(["log", "verify", empty, "--head", lines[2]!.hash])).code).toBe(1);
  });

  it.each<[string, string[], string]>([
    ["no file", ["/no/such/file"], "there is no such file or folder"],
    ["a folder", ["/"], "a directory, not a file"],
    ["no head", ["x", "--head", "5e88"], "--head: expected 64 hex digits"],
  ])("refuses %s", (_, args, message) => refused(2, bootproof(["log", "verify", ...args]), message));
});

const keys = generateKeyPairSync("ed25519", {
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const [privateKey, publicKey] = [fileOf(keys.privateKey, "log-key.pem"), fileOf(keys.publicKey, "log-public.pem")];
chmodSync(privateKey, 0o600);
const { files } = await rotatedLog();
const [one, two, three] = [
  fileOf(textOf(files.b), "boots.jsonl"),
  fileOf(textOf(files["b.2"]), "boots.2.jsonl"),
  fileOf(textOf(files["b.3"]), "boots.3.jsonl"),
] as const;

describe("log checkpoint, and log verify of what it signed", () => {
  const signed = async (...more: string[]): Promise<string> => {
    const { code, stdout, stderr } = await bootproof(["log", "checkpoint", ...more, "--key", privateKey]);
    expect([code, stderr]).toEqual([0, ""]);
    return stdout;
  };
  const verified = (note: string, ...more: string[]): ReturnType<typeof bootproof> =>
    bootproof(["log", "verify", ...more, "--checkpoint", fileOf(note), "--key", publicKey]);

  it("is whole, older too, and broken where the log was cut", async () => {
    const note = await signed(one, two, three);
    expect(note).toMatch(/^bootproof-log\/boots\.jsonl\n10\n\S{44}\n\n\u2014 bootproof-log\/boots\.jsonl \S+\n$/);
    expect((await verified(note, one, two, three)).code).toBe(0);
    const older = await signed(one, two);
    const grown = await verified(older, one, two, three);
    expect([grown.code, grown.stdout]).toEqual([0, expect.stringMatching(/^WHOLE: .*: 10 entries/)]);
    const cut = await verified(note, one, two);
    expect([cut.code, cut.stdout]).toEqual([
      1,
      expect.stringMatching(
        /^BROKEN: \S*boots\.2\.jsonl: the log ends with entry 8, and the checkpoint is of entry 10/,
      ),
    ]);
    const unchecked = await bootproof(["log", "verify", one, two, three, "--checkpoint", fileOf(note)]);
    expect([unchecked.code, unchecked.stdout]).toEqual([0, expect.stringMatching(/its signature was not checked/)]);
    const other = await verified(note, one, two, three, "--origin", "bootproof-log/other");
    expect([other.code, other.stdout]).toEqual([1, expect.stringMatching(/the checkpoint is of another log/)]);
  });

  it("signs no broken log, and no later file alone", async () => {
    for (const of of [[one, three], [two], [fileOf(textOf(lines.slice(1)))]]) {
      const { code, stdout, stderr } = await bootproof(["log", "checkpoint", ...of, "--key", privateKey]);
      expect([code, stdout, stderr]).toEqual([1, "", expect.stringMatching(/^BROKEN: /)]);
    }
  });

  it("writes to a file", async () => {
    const out = fileOf("", "log.note");
    const args = ["log", "checkpoint", one, "--key", privateKey, "--origin", "bootproof-log/a", "--out", out];
    expect(await bootproof(args)).toMatchObject({ code: 0, stderr: "" });
    expect((await verified(readFileSync(out, "utf8"), one)).code).toBe(0);
  });

  it("names a later file by what was typed", async () => {
    const later = await bootproof(["log", "verify", two]);
    expect([later.code, later.stdout]).toEqual([
      0,
      expect.stringMatching(/WHOLE: .*: 4 entries.*\n.*\n.*entries 1 to 4, /),
    ]);
    const renamed = await bootproof(["log", "verify", fileOf(textOf(files["b.2"]), "other.jsonl")]);
    expect([renamed.code, renamed.stdout]).toEqual([1, expect.stringMatching(/entries 1 to 4 were removed/)]);
    const missing = await bootproof(["log", "verify", one, three]);
    expect([missing.code, missing.stdout]).toEqual([1, expect.stringMatching(/a file is missing: /)]);
  });

  it.each<[string, string[], RegExp]>([
    ["no key", ["log", "checkpoint", one], /--key FILE is required/],
    [
      "a public key",
      ["log", "checkpoint", one, "--key", publicKey],
      /log-public\.pem: a PEM block with PUBLIC KEY: expected an Ed/,
    ],
    ["stdin without a name", ["log", "checkpoint", "-", "--key", privateKey], /--origin is required/],
    ["a private key", ["log", "verify", one, "--checkpoint", one, "--key", privateKey], /a PEM block with PRIVATE KEY/],
    ["no note", ["log", "verify", one, "--checkpoint", publicKey], /log-public\.pem: .*not a signed note/],
    ["a key without a note", ["log", "verify", one, "--key", publicKey], /--key: only with --checkpoint/],
    ["an origin without a note", ["log", "verify", one, "--origin", "a"], /--origin: only with --checkpoint/],
    ["an empty key", ["log", "verify", one, "--checkpoint", one, "--key", ""], /--key/],
    ["a file that is not there", ["log", "verify", one, "none.jsonl"], /none\.jsonl: there is no such file/],
  ])("refuses %s", async (_, args, message) => {
    const stderr = await refusal(2, bootproof(args), message);
    expect(stderr).not.toContain(keys.privateKey.split("\n")[1]);
  });

  it.skipIf(process.platform === "win32")("warns of a private key that others may read", async () => {
    const open = fileOf(keys.privateKey, "open.pem");
    chmodSync(open, 0o644);
    const { code, stderr } = await bootproof(["log", "checkpoint", one, "--key", open]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/open\.pem has a private key that others may read/)]);
  });
});
