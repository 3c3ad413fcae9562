/** What log verify, log checkpoint and log compare accept and refuse, by exit code and words. */
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runAny } from "../../src/cli/commands.js";
import { type LogEvent, NO_LINE, eventLineAfter } from "../../src/watch/entry.js";
import { signCheckpoint } from "../../src/watch/index.js";
import { START, linesOf, rotatedLog, textOf } from "../watch/support.js";
import { bootproof, fileOf, refusal, refused } from "./support.js";

const lines = await linesOf(3);
const folder = mkdtempSync(join(tmpdir(), "bootproof-log-"));
const inFolder = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
};

const newKeys = (): { readonly privateKey: string; readonly publicKey: string } =>
  generateKeyPairSync("ed25519", {
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
const [own, next, foreign] = [newKeys(), newKeys(), newKeys()];
const [privateKey, publicKey] = [inFolder("key.pem", own.privateKey), inFolder("public.pem", own.publicKey)];
const [newPrivate, newPublic] = [inFolder("new.pem", next.privateKey), inFolder("new-public.pem", next.publicKey)];
const foreignPublic = inFolder("foreign-public.pem", foreign.publicKey);

/** Entries 1 to 4, 5 to 8, 9 to 10. */
const { all, files } = await rotatedLog();
const one = inFolder("b", textOf(files.b));
const two = inFolder("b.2", textOf(files["b.2"]));
const three = inFolder("b.3", textOf(files["b.3"]));
/** The first two files, where the third was just begun. */
const begun = mkdtempSync(join(tmpdir(), "bootproof-begun-"));
const emptyThree = join(begun, "b.3");
const emptyOther = join(begun, "b.4");
for (const path of [emptyThree, emptyOther]) writeFileSync(path, "");
/** Another log of the same name. */
const other = await linesOf(10, { deployment: "test" });

interface Signed {
  readonly entries: number;
  readonly head?: string;
  readonly origin?: string;
  readonly key?: string;
}
let notes = 0;
const noteOf = async ({ entries, head, origin, key }: Signed): Promise<string> =>
  inFolder(
    `${++notes}.note`,
    await signCheckpoint(
      {
        origin: origin ?? "bootproof-log/b",
        entries,
        head: head ?? (entries === 0 ? NO_LINE : all[entries - 1]!.hash),
      },
      key ?? own.privateKey,
    ),
  );
const note = {
  noteOfThree: await noteOf({ entries: 3 }),
  four: await noteOf({ entries: 4 }),
  eight: await noteOf({ entries: 8 }),
  ten: await noteOf({ entries: 10 }),
  tenOfOther: await noteOf({ entries: 10, head: other[9]!.hash }),
  fourOfOther: await noteOf({ entries: 4, head: other[3]!.hash }),
  elsewhere: await noteOf({ entries: 4, origin: "bootproof-log/a" }),
  tenByNew: await noteOf({ entries: 10, key: next.privateKey }),
  tenByForeign: await noteOf({ entries: 10, key: foreign.privateKey }),
};
const alone = fileOf(textOf(lines), "alone.jsonl");
const renamed = fileOf(textOf(files["b.2"]), "o.jsonl");
const noNote = inFolder("no.note", "text\n");

const NAMED: Readonly<Record<string, string | readonly string[]>> = {
  ...note,
  ...{ one, two, three, emptyThree, emptyOther, alone, renamed, noNote, all: [one, two, three] },
  ...{ privateKey, newPrivate, newPublic, foreignPublic, key: ["--key", publicKey], sign: ["--key", privateKey] },
  rotated: ["--key", newPrivate, "--after", note.eight, "--key", publicKey],
};
/** The words of a command line, in which `$one` is the path of that file. */
const argv = (line: string): string[] =>
  line.split(" ").flatMap((word) => (word[0] === "$" ? NAMED[word.slice(1)]! : [word]));

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
      format: "bootproof-log-verification/2",
      intact: false,
      complete: false,
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

  it("takes an empty file for none, but not where a head was kept", async () => {
    const empty = fileOf("");
    expect(await bootproof(["log", "verify", empty])).toMatchObject({ code: 2, stdout: "" });
    expect((await bootproof(["log", "verify", empty, "--head", lines[2]!.hash])).code).toBe(1);
  });
  it.each<[string, string, number, RegExp]>([
    ["all files", "$all", 0, /^WHOLE: .*: 10 entries/],
    ["all files, the last of which is empty", "$one $two $emptyThree", 0, /^WHOLE: .*: 8 entries/],
    ["one file without a note", "$alone", 0, /^WHOLE: .*: 3 entries/],
    [
      "a first file",
      "$one",
      1,
      /^INCOMPLETE: \S+: the log continues in b\.2, which was not passed\nVerified: 4 entries/,
    ],
    ["a first file, with --partial", "$one --partial", 0, /^INCOMPLETE: \S+: the log continues in b\.2/],
    ["another empty file", "$one $two $emptyOther", 1, /^INCOMPLETE: .*: the log continues in b\.3, which was not/],
    [
      "a middle file",
      "$two",
      1,
      /^INCOMPLETE: \S+: entries 1 to 4, which.*\nINCOMPLETE: \S+: the log continues in b\.3/,
    ],
    ["a middle file, with --partial", "$two $three --partial", 0, /^INCOMPLETE: .*: entries 1 to 4, which are in/],
    ["a middle file of another name", "$renamed", 1, /^BROKEN: .*entries 1 to 4 were rem/],
    ["a missing file, with --partial", "$one $three --partial", 1, /^BROKEN: .*: a file is missing/],
    ["a checkpoint", "$all --checkpoint $ten $key", 0, /^WHOLE: /],
    ["an older checkpoint", "$all --checkpoint $four $key", 0, /^WHOLE: .*\n.*\n.*behind entry 4/],
    ["a checkpoint without a key", "$all --checkpoint $ten", 1, /^INCOMPLETE: .*was not checked; pass/],
    ["the same, with --partial", "$all --checkpoint $ten --partial", 0, /^INCOMPLETE: .*not checked/],
    ["a cut log", "$one $two $emptyThree --checkpoint $ten $key", 1, /^BROKEN: .* ends with entry 8, and the/],
    ["another log's checkpoint", "$all --checkpoint $tenOfOther $key", 1, /^BROKEN: .*entry 10 has/],
    ["an archived beginning", "$three --after $eight $key", 0, /^WHOLE: .*: 2 entries.*\n.*\n.*vouches for them/],
    ["a note inside the files", "$three --after $ten $key", 0, /^WHOLE: .*: 2 entries/],
    ["a note, and the files from their beginning", "$all --after $four $key", 0, /^WHOLE: .*: 10/],
    [
      "a note of a file that is missing",
      "$three --after $four $key",
      1,
      /^BROKEN: .*the checkpoint is of entry 4, which is in a file before/,
    ],
    [
      "a note of another log",
      "$two $three --after $fourOfOther $key",
      1,
      /^BROKEN: .*entry 4 has the hash .*the checkpoint/,
    ],
    ["a note, and an empty file", "$emptyThree --after $eight $key", 0, /^WHOLE: .*: 0 entries/],
    ["a note behind an empty file", "$emptyThree --after $ten --checkpoint $eight $key", 1, /^BROKEN: /],
    ["two keys", "$three --after $eight --checkpoint $tenByNew --key $newPublic $key", 0, /^WHOLE: /],
  ])("of %s", async (_, args, code, words) => {
    const answer = await bootproof(["log", "verify", ...argv(args)]);
    expect([answer.code, answer.stdout, answer.stderr]).toEqual([code, expect.stringMatching(words), ""]);
  });

  it.each<[string, string, RegExp]>([
    ["by another key", "$all --checkpoint $ten --key $foreignPublic", /\.note: .*not signed by this/],
    ["before the files, by another key", "$three --after $eight --key $foreignPublic", /\.note: .*not signed by/],
    [
      "of another origin",
      "$all --checkpoint $elsewhere $key --origin bootproof-log/b",
      /its origin is bootproof-log\/a, expected bootproof-log\/b/,
    ],
    [
      "of another origin than --after",
      "$three --checkpoint $elsewhere --after $eight $key",
      /its origin is bootproof-log\/a/,
    ],
  ])("refuses a note %s", (_, args, words) => refused(1, bootproof(["log", "verify", ...argv(args)]), words));

  it.each<[string, string, string | RegExp]>([
    ["no file", "/no/such/file", "there is no such file or folder"],
    ["a folder", "/", "a directory, not a file"],
    ["no head", "x --head 5e88", "--head: expected 64 hex digits"],
    ["no duration", "x --max-gap 2", "--max-gap 2: expected a duration such as 90m, 2h or 1d"],
    ["a note before the files without a key", "$three --after $eight", "--after: --key FILE is required"],
    ["a private key", "$one --checkpoint $four $sign", /a PEM block with PRIVATE KEY/],
    ["no note", "$one --checkpoint $noNote", /no\.note: .*not a signed note/],
    ["no note before the files", "$one --after $noNote $key", /no\.note: .*not a signed note/],
    ["a key without a note", "$one $key", /--key: only with --checkpoint or --after/],
    ["an origin without a note", "$one --origin a", /--origin: only with --checkpoint or --after/],
    ["an empty key", "$one --checkpoint $one --key=", /--key/],
    ["a file that is not there", "$one none.jsonl", /none\.jsonl: there is no such file/],
  ])("refuses %s", (_, args, message) => refused(2, bootproof(["log", "verify", ...argv(args)]), message));
});

describe("log verify of times", () => {
  const at = (minutes: number): string => new Date(START.getTime() + minutes * 60_000).toISOString();
  const sign = (event: "heartbeat" | "stopped", minutes: number): LogEvent => ({
    at: at(minutes),
    event,
    since: at(minutes),
    polls: [{ app: "signer", good: 60, failed: 0 }],
  });
  const started = (minutes: number): LogEvent => ({
    at: at(minutes),
    event: "started",
    watched: [{ app: "signer" }],
    heartbeatMs: 3_600_000,
    settingDigest: "cd".repeat(32),
    tool: { name: "bootproof", version: "0.1.0" },
  });
  const outage = (minutes: number): LogEvent => ({
    at: at(minutes),
    event: "outage-ended",
    watched: [{ app: "signer" }],
    since: at(minutes),
    failedPolls: 1,
  });
  const continued = (minutes: number): LogEvent => ({ at: at(minutes), event: "continued", file: "g.2" });
  const logOf = async (events: readonly LogEvent[]): Promise<string> => {
    let end = { entries: 0, head: NO_LINE };
    let text = "";
    for (const event of events) {
      const line = await eventLineAfter(end, event);
      text += textOf([line]);
      end = { entries: end.entries + 1, head: line.hash };
    }
    return fileOf(text, "g");
  };
  const running = [started(0), sign("heartbeat", 60), outage(100), sign("heartbeat", 120)];
  const ago = (minutes: number): string => `from ${at(minutes)} to `;

  it.each<[string, LogEvent[], number, number, RegExp]>([
    ["runs", running, 180, 0, /^WHOLE: .*\n.*\nNewest start or heartbeat of the watch: \S+07:06/],
    [
      "is down since two hours",
      running,
      240,
      1,
      RegExp(`^GAP: \\S+: no entry for 2\\.0 hours after entry 4, ${ago(120)}`),
    ],
    [
      "was down",
      [...running, started(300), sign("heartbeat", 360)],
      370,
      1,
      RegExp(`^GAP: .* 3\\.0 hours after entry 4, ${ago(120)}.*\\nVerified: 6 entr`),
    ],
    ["was stopped", [...running, sign("stopped", 130), started(300)], 310, 1, /^GAP: .* after entry 5, /],
    ["has old entries before its first start", [outage(0), outage(500), ...[started(900)]], 901, 0, /^WHOLE/],
    [
      "has no start and no heartbeat",
      [outage(0), outage(500)],
      501,
      1,
      /^INCOMPLETE: .*: whether the watch was running: the log has no/,
    ],
    ["has heartbeats only", [sign("heartbeat", 0), sign("heartbeat", 60)], 90, 0, /^WHOLE/],
    ["continues elsewhere", [started(0), continued(10)], 500, 1, /^INCOMPLETE: (?![^]*GAP)/],
    [
      "has a time that goes backwards",
      [started(60), sign("heartbeat", 0), sign("heartbeat", 60)],
      61,
      0,
      RegExp(`^WHOLE: [^]*\\nTime goes backwards after entry 1: from ${at(60)} to ${at(0)}\\n`),
    ],
    ["ends after the present", [started(60)], 0, 0, /^WHOLE: [^]*\nTime goes backwards after entry 1: /],
  ])("that %s", async (_, events, now, code, words) => {
    const answer = await bootproof(["log", "verify", await logOf(events), "--max-gap", "90m"], { now: at(now) });
    expect([answer.code, answer.stdout]).toEqual([code, expect.stringMatching(words)]);
  });

  it("counts to the present where the next file was just begun, and not with --partial alone", async () => {
    const path = await logOf([started(0), continued(10)]);
    const gap = ["log", "verify", path, "--max-gap", "90m"];
    const empty = fileOf("", "g.2");
    expect((await bootproof([...gap, empty], { now: at(100) })).code).toBe(0);
    expect((await bootproof([...gap, empty, "--partial"], { now: at(101) })).code).toBe(1);
    expect((await bootproof([...gap, "--partial"], { now: at(500) })).code).toBe(0);
  });

  it("writes them as JSON", async () => {
    const path = await logOf([...running, sign("stopped", 121)]);
    const args = ["log", "verify", path, "--max-gap", "1h", "--format", "json"];
    const { code, stdout } = await bootproof(args, { now: at(240) });
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      {
        complete: true,
        lastSign: at(120),
        gaps: [{ entry: 5, from: at(121), to: at(240) }],
        backwards: [],
      },
    ]);
  });
});

describe("log checkpoint", () => {
  const signed = (...more: string[]): ReturnType<typeof bootproof> => bootproof(["log", "checkpoint", ...more]);
  const key = ["--key", privateKey];
  const whole = [one, two, three];

  it("signs the last entry", async () => {
    const { code, stdout, stderr } = await signed(...whole, ...key);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(readFileSync(note.ten, "utf8"));
    // A file that was just begun, also where all others are archived.
    for (const args of [
      [one, two, emptyThree, ...key],
      [emptyThree, ...key, "--after", note.eight],
    ])
      expect(await signed(...args)).toMatchObject({ code: 0, stdout: readFileSync(note.eight, "utf8") });
  });

  const old = ["--key", publicKey];
  const NOTHING = /\nNothing was signed\.\n$/;
  it.each<[string, string | null, string, number, RegExp]>([
    ["where there is no note", null, "$all $sign", 0, /^$/],
    ["an older note", note.four, "$all $sign", 0, /^$/],
    ["the same note", note.ten, "$all $sign", 0, /^$/],
    [
      "a newer note: the log was cut",
      note.ten,
      "$one $two $emptyThree $sign",
      1,
      /ends with entry 8, and the checkpoint is of entry 10/,
    ],
    [
      "a note of a log that was rewritten",
      note.tenOfOther,
      "$all $sign",
      1,
      /entry 10 has the hash .*, and the checkpoint has/,
    ],
    [
      "an older note of another log",
      note.fourOfOther,
      "$all $sign",
      1,
      /entry 4 has the hash .*, and the checkpoint has/,
    ],
    ["a note by another key", note.tenByForeign, "$all $sign", 1, /\.note: the checkpoint is not signed by this key/],
    [
      "a note with another origin",
      note.elsewhere,
      "$all $sign",
      1,
      /origin is bootproof-log\/a, expected bootproof-log\/b/,
    ],
    ["a file that is no note", noNote, "$all $sign", 2, /not a signed note/],
    ["an empty file", emptyThree, "$all $sign", 2, /empty: the program that wrote it may have failed/],
    ["where the log continues elsewhere", null, "$one $two $sign", 1, /^INCOMPLETE: .*: the log continues in b\.3/],
    [
      "where the file that follows is another one",
      null,
      "$one $two $emptyOther $sign",
      1,
      /^INCOMPLETE: .*continues in b\.3/,
    ],
    ["where a file is missing", null, "$one $three $sign", 1, /^BROKEN: .*: a file is missing/],
    ["where the first file is missing", null, "$two $three $sign", 1, /^BROKEN: .*: entries 1 to 4 were removed/],
    ["with an archived beginning", note.eight, "$three $sign --after $eight", 0, /^$/],
    ["with a note of the files", note.ten, "$three $sign --after $ten", 0, /^$/],
    [
      "with an archive that the note does not reach",
      null,
      "$three $sign --after $four",
      1,
      /the checkpoint is of entry 4, which is in a file before/,
    ],
    [
      "an older note than the archive reaches",
      note.four,
      "$three $sign --after $eight",
      1,
      /the checkpoint is of entry 4, which is in a file before/,
    ],
    [
      "with an earlier note of another log",
      null,
      "$all $sign --after $fourOfOther",
      1,
      /entry 4 has the hash .*the checkpoint has/,
    ],
    [
      "with an earlier note by another key",
      null,
      "$all $sign --after $tenByForeign",
      1,
      /\.note: .* not signed by this key/,
    ],
    ["a new key in place of the old one", note.eight, "$all $rotated", 0, /^$/],
    ["a new key, once more", note.tenByNew, "$all $rotated", 0, /^$/],
    [
      "a new key, after a newer note by the old one",
      note.ten,
      "$one $two $emptyThree $rotated",
      1,
      /the checkpoint is of entry 10/,
    ],
    ["a new key without the old one", note.eight, "$all --key $newPrivate", 1, /not signed by this key/],
    ["a new key, over a note by another one", note.tenByForeign, "$all $rotated", 1, /not signed by this key/],
  ])("replaces at --out, or does not: %s", async (_, there, args, code, words) => {
    const before = there === null ? null : readFileSync(there, "utf8");
    const out = before === null ? join(folder, `new-${++notes}.note`) : inFolder(`at-${++notes}.note`, before);
    const answer = await signed(...argv(args), "--out", out);
    expect([answer.code, answer.stdout, answer.stderr]).toEqual([code, "", expect.stringMatching(words)]);
    const isLog = /^(?:BROKEN|INCOMPLETE)/.test(answer.stderr);
    if (isLog) expect(answer.stderr).toMatch(NOTHING);
    if (code === 0) {
      const by = args.includes("$rotated") ? note.tenByNew : note.ten;
      expect(readFileSync(out, "utf8")).toBe(readFileSync(by, "utf8"));
    } else
      expect(
        await Promise.resolve()
          .then(() => readFileSync(out, "utf8"))
          .catch(() => null),
      ).toBe(before);
  });

  it("does not replace a note that was replaced meanwhile", async () => {
    const out = inFolder("meanwhile.note", readFileSync(note.four, "utf8"));
    async function* stdin(): AsyncGenerator<Uint8Array> {
      writeFileSync(out, readFileSync(note.ten));
      yield Buffer.from(textOf(all.slice(0, 8)));
      yield Buffer.from(textOf(all.slice(8)));
    }
    let stderr = "";
    const silent = { write: () => true };
    const io = { stdin: stdin(), stdout: silent, stderr: { write: (text: string) => (stderr += text) } };
    const args = ["log", "checkpoint", "-", "--key", newPrivate, "--after", note.four, ...old, "--out", out];
    expect(await runAny(args, { ...io, env: {}, now: () => START })).toBe(2);
    expect([stderr, readFileSync(out, "utf8")]).toEqual([
      expect.stringMatching(/meanwhile\.note: not written, .*: was changed meanwhile/),
      readFileSync(note.ten, "utf8"),
    ]);
  });

  it("takes the origin of --after, also for a log on stdin", async () => {
    const log = { stdin: textOf(files["b.3"]) };
    const { stdout } = await bootproof(["log", "checkpoint", "-", ...key, "--after", note.eight], log);
    expect(stdout).toBe(readFileSync(note.ten, "utf8"));
  });

  it.each<[string, string, RegExp]>([
    ["no key", "$one", /--key FILE is required/],
    ["a public key", "$one $key", /public\.pem: a PEM block with PUBLIC KEY: expected an Ed/],
    ["two private keys", "$all $sign --key $newPrivate --after $four", /a PEM block with PRIVATE KEY/],
    ["two keys without an earlier note", "$all $sign --key $newPublic", /--key: a second key only with --after/],
    ["stdin without a name", "- $sign", /--origin is required/],
  ])("refuses %s", async (_, args, message) => {
    const stderr = await refusal(2, signed(...argv(args)), message);
    expect(stderr).not.toContain(own.privateKey.split("\n")[1]);
  });

  it.skipIf(process.platform === "win32")("warns of private keys that others may read, of no public one", async () => {
    const open = fileOf(own.privateKey, "open.pem");
    chmodSync(open, 0o644);
    chmodSync(newPublic, 0o644);
    const { code, stderr } = await signed(...whole, "--key", open, "--after", note.ten, "--key", newPublic);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: \S*open\.pem has a private key that others may read.*\n$/);
  });
});

describe("log compare", () => {
  it.each<[string, string, number, RegExp]>([
    ["the same note", "$ten $ten $key", 0, /^SAME: .*entry 10 with the hash/],
    ["a note by the new key", "$ten $tenByNew $key --key $newPublic", 0, /^SAME: /],
    ["a fork", "$ten $tenOfOther $key", 1, RegExp(`^FORKED: .*${all[9]!.hash}.*${other[9]!.hash}`)],
    ["notes of other logs", "$four $elsewhere $key", 1, /^OTHER LOG: .*bootproof-log\/b and bootproof-log\/a/],
    ["a later note, and the log", "$noteOfThree $ten $key --log $all", 0, /^EXTENDED: .*entry 3 .*entry 10/],
    ["an earlier note, and the log", "$ten $noteOfThree $key --log $all", 0, /^EXTENDED: /],
    ["notes inside a later file", "$eight $ten $key --log $three", 0, /^EXTENDED: /],
    ["a note that is not in the log", "$noteOfThree $tenOfOther $key --log $all", 1, /^NOT IN LOG: .*entry 10 has/],
    [
      "a note before it that is not",
      "$fourOfOther $ten $key --log $all",
      1,
      /^NOT IN LOG: .*entry 4 has .*the checkpoint/,
    ],
    [
      "a note of a missing file",
      "$noteOfThree $ten $key --log $two $three",
      1,
      /^NOT IN LOG: .*entry 3, which is in a file before/,
    ],
    [
      "a log that ends before",
      "$noteOfThree $ten $key --log $one",
      1,
      /^NOT IN LOG: .*ends with entry 4, and the checkpoint is of entry 10/,
    ],
    ["a broken log", "$noteOfThree $ten $key --log $one $three", 1, /^NOT IN LOG: .*a file is missing/],
  ])("%s", async (_, args, code, words) => {
    const { stderr, ...answer } = await bootproof(["log", "compare", ...argv(args)]);
    expect([answer, stderr]).toEqual([{ code, stdout: expect.stringMatching(words) as string }, ""]);
  });

  it.each<[string, string, number, RegExp]>([
    [
      "different numbers without a log",
      "$noteOfThree $ten $key",
      2,
      /entry 3 .*entry 10 .*\nPass the files of the log with --log/,
    ],
    ["no key", "$ten $ten", 2, /--key FILE is required/],
    ["a note by another key", "$ten $tenByForeign $key", 1, /\.note: the checkpoint is not signed by this key/],
    ["no note", "$ten $noNote $key", 2, /no\.note: .*not a signed note/],
    ["a log on stdin", "$noteOfThree $ten $key --log -", 2, /--log -: a file is required/],
    ["a log that is not there", "$noteOfThree $ten $key --log none", 2, /none: there is no such file/],
  ])("refuses %s", (_, args, code, words) => refused(code, bootproof(["log", "compare", ...argv(args)]), words));
});
