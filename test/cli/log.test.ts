/** What log verify and log checkpoint accept and refuse, by exit code and words. */
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { signCheckpoint, vkeyOf } from "../../src/run/index.js";
import { NO_LINES, type RunEvent, lineAfter } from "../../src/run/line.js";
import { START, audited, chained, linesOf, textOf } from "../run/lines.js";
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

/** Lines 1 to 4, 5 to 8, 9 to 10 of one chain, as a watch leaves them whose file was renamed twice. */
const all = await linesOf(10);
const one = inFolder("b", textOf(all.slice(0, 4)));
const two = inFolder("b.2", textOf(all.slice(4, 8)));
const three = inFolder("b.3", textOf(all.slice(8)));
const emptyThree = fileOf("", "b.3");
/** Another log of the same name. */
const other = await linesOf(10, { deployments: ["test"] });

let notes = 0;
const noteOf = async (entries: number, from = all, key = own.privateKey, origin = "bootproof-log/b"): Promise<string> =>
  inFolder(`${++notes}.note`, await signCheckpoint({ origin, entries, head: from[entries - 1]!.hash }, key));
const note = {
  four: await noteOf(4),
  eight: await noteOf(8),
  ten: await noteOf(10),
  fourOfOther: await noteOf(4, other),
  elsewhere: await noteOf(4, all, own.privateKey, "bootproof-log/a"),
  tenByNew: await noteOf(10, all, next.privateKey),
};
const alone = fileOf(textOf(lines), "alone.jsonl");
const noNote = inFolder("no.note", "text\n");

const NAMED: Readonly<Record<string, string | readonly string[]>> = {
  ...note,
  ...{ one, two, three, emptyThree, alone, noNote, all: [one, two, three] },
  vkey: ["--key", inFolder("log.vkey", `${await vkeyOf("bootproof-log/b", own.publicKey)}\n`)],
  ...{ privateKey, newPrivate, newPublic, foreignPublic, key: ["--key", publicKey], sign: ["--key", privateKey] },
  rotated: ["--key", newPrivate, "--after", note.eight, "--key", publicKey],
};
/** The words of a command line, in which `$one` is the path of that file. */
const argv = (line: string): string[] =>
  line.split(" ").flatMap((word) => (word[0] === "$" ? NAMED[word.slice(1)]! : [word]));

describe("log verify", () => {
  it("reads a log from stdin, and the results of an audit as well", async () => {
    const audit = await chained([audited(1), audited(2, { verdict: "rejected", failed: ["policy.pcrs"] })]);
    for (const [stdin, count] of [
      [textOf(lines), 3],
      [textOf(audit), 2],
    ] as const) {
      const { code, stdout, stderr } = await bootproof(["log", "verify", "-"], { stdin });
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(new RegExp(`^WHOLE: stdin: ${count} lines, `));
    }
  });

  it("names the line that does not follow, in JSON too", async () => {
    const file = fileOf(textOf([lines[0]!, lines[2]!]));
    const { code, stdout } = await bootproof(["log", "verify", file]);
    expect([code, stdout.split("\n").slice(0, 3)]).toEqual([
      1,
      [
        `BROKEN: ${file}: line 2: it has the number 3, and 2 was expected: lines were removed or added`,
        expect.stringMatching(/^Whole up to there: 1 line, /),
        `Head: ${lines[0]!.hash}`,
      ],
    ]);
    const json = await bootproof(["log", "verify", file, "--format", "json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ...{ format: "bootproof-run-verification/1", intact: false, complete: false },
      ...{ entries: 1, head: lines[0]!.hash, fault: { line: 2, kind: "chain", file } },
    });
  });

  it("shows that a line was changed by the next one, and says that it cannot show it of the last", async () => {
    const changed = (at: number): string =>
      textOf(lines.map((line, index) => (index === at ? textOf([line]).trim().replace('"prod"', '"dev"') : line)));
    const { code, stdout } = await bootproof(["log", "verify", "-"], { stdin: changed(1) });
    expect([code, stdout]).toEqual([1, expect.stringMatching(/: line 3: it does not follow line 2, .*\nWhole up to/)]);
    expect(await bootproof(["log", "verify", "-"], { stdin: changed(2) })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^WHOLE: [^]*\nNot checked: lines removed from the end, a changed last line, /),
    });
    const kept = ["log", "verify", "-", "--head", lines[2]!.hash];
    expect((await bootproof(kept, { stdin: changed(2) })).code).toBe(1);
    expect((await bootproof(kept, { stdin: textOf(lines) })).code).toBe(0);
  });

  it("takes an empty file for none, but not where a head was kept", async () => {
    const empty = fileOf("");
    expect(await bootproof(["log", "verify", empty])).toMatchObject({ code: 2, stdout: "" });
    expect((await bootproof(["log", "verify", empty, "--head", lines[2]!.hash])).code).toBe(1);
  });

  it.each<[string, string, number, RegExp]>([
    ["all files", "$all", 0, /^WHOLE: .*: 10 lines/],
    ["all files, the last of which is empty", "$one $two $emptyThree", 0, /^WHOLE: .*: 8 lines/],
    ["a middle file", "$two", 1, /^INCOMPLETE: \S+: lines 1 to 4, which.*\nVerified: 4 lines/],
    ["a middle file, with --partial", "$two $three --partial", 0, /^INCOMPLETE: .*: lines 1 to 4, which are in/],
    ["files of which one is missing", "$one $three --partial", 1, /^BROKEN: \S+b\.3: line 5: it has the number 9/],
    [
      "two chains",
      "$one $alone --partial",
      1,
      /^BROKEN: \S+alone\.jsonl: line 5: two chains were given: .*--after FILE/,
    ],
    ["a checkpoint", "$all --checkpoint $ten $key", 0, /^WHOLE: /],
    ["a checkpoint and a vkey of its log", "$all --checkpoint $ten $vkey", 0, /^WHOLE: /],
    [
      "a checkpoint, and has grown since",
      "$all --checkpoint $four $key",
      0,
      /^WHOLE: [^]*lines behind line 4, which the/,
    ],
    ["another log than the checkpoint's", "$all --checkpoint $fourOfOther $key", 1, /^BROKEN: .*line 4: its hash is/],
    ["a checkpoint without a key", "$all --checkpoint $ten", 1, /^INCOMPLETE: .*was not checked; pass/],
    ["a cut log", "$one $two --checkpoint $ten $key", 1, /^BROKEN: .* lines 1 to 8, and the checkpoint is of line 10/],
    ["an archived beginning", "$three --after $eight $key", 0, /^WHOLE: .*: 2 lines.*\n.*\n.*vouches for them/],
    ["a note inside the files", "$two $three --after $eight $key", 0, /^WHOLE: .*: 6 lines/],
    ["a note, and the files from their beginning", "$all --after $four $key", 0, /^WHOLE: .*: 10/],
    ["a note, and an empty file", "$emptyThree --after $eight $key", 0, /^WHOLE: .*: 0 lines/],
    [
      "a note behind the files",
      "$two --after $ten $key",
      1,
      /^BROKEN: .* lines 5 to 8, and the checkpoint is of line 10/,
    ],
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
      "of another log than the vkey's",
      "$all --checkpoint $elsewhere $vkey",
      /its origin is bootproof-log\/a, expected/,
    ],
  ])("refuses a note %s", (_, args, words) => refused(1, bootproof(["log", "verify", ...argv(args)]), words));

  it.each<[string, string, string | RegExp]>([
    ["no file", "/no/such/file", "there is no such file or folder"],
    ["a folder", "/", "a directory, not a file"],
    [
      "what is no log",
      "$alone $noNote",
      /Expected the file that bootproof watch --log or bootproof audit --out writes\./,
    ],
    ["no head", "x --head 5e88", "--head: expected 64 hex digits"],
    ["no duration", "x --max-gap 2", "--max-gap 2: expected a duration such as 90m, 2h or 1d"],
    ["a note before the files without a key", "$three --after $eight", "--after: --key FILE is required"],
    ["a private key", "$one --checkpoint $four $sign", /got PRIVATE KEY,/],
    ["a key without a note", "$one $key", /--key: only with --checkpoint or --after/],
  ])("refuses %s", (_, args, message) => refused(2, bootproof(["log", "verify", ...argv(args)]), message));
});

describe("log verify --max-gap", () => {
  const at = (minutes: number): string => new Date(START.getTime() + minutes * 60_000).toISOString();
  const alive: RunEvent = { event: "alive", since: at(0), polls: [{ app: "signer", good: 60, failed: 0 }] };
  const outage: RunEvent = { event: "outage-ended", watched: [{ app: "signer" }], since: at(0), failedPolls: 1 };
  const logOf = async (event: RunEvent, minutes: readonly number[]): Promise<string> => {
    let [end, text] = [NO_LINES, ""];
    for (const minute of minutes) {
      const line = await lineAfter(end, at(minute), event);
      [end, text] = [{ entries: end.entries + 1, head: line.hash }, text + textOf([line])];
    }
    return fileOf(text, "g");
  };
  const gap = (from: number, to: number): RegExp =>
    RegExp(
      `^GAP: \\S+: no line for ${((to - from) / 60).toFixed(1)} hours after line 2, from ${at(from)} to ${at(to)}`,
    );

  it.each<[string, RunEvent, number[], number, number, RegExp]>([
    ["runs", alive, [0, 60], 90, 0, /^WHOLE: .*\n.*\nNewest start or sign of life: \S+06:06/],
    ["is down since two hours", alive, [0, 60], 180, 1, gap(60, 180)],
    ["was down", alive, [0, 60, 240], 250, 1, gap(60, 240)],
    ["has no sign of life", outage, [0, 500], 501, 1, /^INCOMPLETE: .*: whether the watch was running/],
    ["has a time that goes backwards", alive, [60, 0], 1, 0, /^WHOLE: [^]*\nTime goes backwards after line 1: from /],
  ])("of a watch that %s", async (_, event, minutes, now, code, words) => {
    const args = ["log", "verify", await logOf(event, minutes), "--max-gap", "90m"];
    const answer = await bootproof(args, { now: at(now) });
    expect([answer.code, answer.stdout]).toEqual([code, expect.stringMatching(words)]);
    const json = await bootproof([...args, "--format", "json"], { now: at(now) });
    const gaps = /^GAP/.test(answer.stdout) ? [expect.objectContaining({ entry: 2 })] : [];
    expect(JSON.parse(json.stdout)).toMatchObject({ gaps });
  });
});

describe("log checkpoint", () => {
  const signed = (...more: string[]): ReturnType<typeof bootproof> => bootproof(["log", "checkpoint", ...more]);
  const key = ["--key", privateKey];
  const whole = [one, two, three];

  it("signs the last line", async () => {
    const { code, stdout, stderr } = await signed(...whole, ...key);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(readFileSync(note.ten, "utf8"));
    // The last file was just begun.
    const { stdout: eight } = await signed(one, two, emptyThree, ...key);
    expect(eight).toBe(readFileSync(note.eight, "utf8"));
  });

  it.each<[string, string | null, string, number, RegExp]>([
    ["where there is no note", null, "$all $sign", 0, /^$/],
    ["the same note", note.ten, "$all $sign", 0, /^$/],
    ["a newer note: the log was cut", note.ten, "$one $two $sign", 1, /lines 1 to 8, and the checkpoint is of line 10/],
    ["a note of another log", note.fourOfOther, "$all $sign", 1, /line 4: its hash is .*, and the checkpoint has/],
    [
      "a note of another origin",
      note.elsewhere,
      "$all $sign",
      1,
      /origin is bootproof-log\/a, expected bootproof-log\/b/,
    ],
    ["a file that is no note", noNote, "$all $sign", 2, /expected a signed note/],
    ["where a file is missing", null, "$one $three $sign", 1, /^BROKEN: .*: line 5: it has the number 9/],
    ["where the first file is missing", null, "$two $three $sign", 1, /^INCOMPLETE: .*: lines 1 to 4, which are in/],
    ["with an archived beginning", note.eight, "$three $sign --after $eight", 0, /^$/],
    ["where more is missing", null, "$three $sign --after $four", 1, /line 5: it has the number 9/],
    ["with a note of another log", null, "$all $sign --after $fourOfOther", 1, /line 4: its hash is .*checkpoint has/],
    ["a new key in place of the old one", note.eight, "$all $rotated", 0, /^$/],
    ["a new key without the old one", note.eight, "$all --key $newPrivate", 1, /not signed by this key/],
  ])("replaces at --out, or does not: %s", async (_, there, args, code, words) => {
    const before = there === null ? null : readFileSync(there, "utf8");
    const out = before === null ? join(folder, `new-${++notes}.note`) : inFolder(`at-${++notes}.note`, before);
    const answer = await signed(...argv(args), "--out", out);
    expect([answer.code, answer.stdout, answer.stderr]).toEqual([code, "", expect.stringMatching(words)]);
    if (/^(?:BROKEN|INCOMPLETE)/.test(answer.stderr)) expect(answer.stderr).toMatch(/\nNothing was signed\.\n$/);
    const signedBy = args.includes("$rotated") ? note.tenByNew : note.ten;
    const after = code === 0 ? readFileSync(signedBy, "utf8") : before;
    expect(existsSync(out) ? readFileSync(out, "utf8") : null).toBe(after);
  });

  it.each<[string, string, RegExp]>([
    ["no key", "$one", /--key FILE is required/],
    ["a public key", "$one $key", /public\.pem: got PUBLIC KEY, expected an Ed/],
    ["two private keys", "$all $sign --key $newPrivate --after $four", /got PRIVATE KEY,/],
    ["two keys without an earlier note", "$all $sign --key $newPublic", /--key: a second key only with --after/],
    ["stdin without a name", "- $sign", /--origin is required/],
  ])("refuses %s", async (_, args, message) => {
    const stderr = await refusal(2, signed(...argv(args)), message);
    expect(stderr).not.toContain(own.privateKey.split("\n")[1]);
  });
});

it("what is no command any more is unknown", () =>
  refused(2, bootproof(["log", "compare", note.ten, note.ten, "--key", publicKey]), /unknown command|compare/));
