/** What log verify and log checkpoint accept and refuse, by exit code and words. */
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { signCheckpoint, vkeyOf } from "../../src/run/index.js";
import { NO_LINES, type RunEvent, lineAfter } from "../../src/run/line.js";
import { START, audited, chained, linesOf, textOf } from "../run/lines.js";
import { fileOf, scene } from "./support.js";

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

const keyed = ["--key", publicKey];
const N = {
  ...note,
  ...{ one, two, three, emptyThree, alone, noNote, all: [one, two, three], empty: fileOf("") },
  vkey: ["--key", inFolder("log.vkey", `${await vkeyOf("bootproof-log/b", own.publicKey)}\n`)],
  ...{ privateKey, newPrivate, newPublic, foreignPublic, key: keyed, sign: ["--key", privateKey] },
  rotated: ["--key", newPrivate, "--after", note.eight, ...keyed],
};
const { having, run, table, usage } = scene(N);

describe("log verify", () => {
  it("reads a log from stdin, and the results of an audit as well", async () => {
    const audit = await chained([audited(1), audited(2, { verdict: "rejected", failed: ["policy.pcrs"] })]);
    for (const each of [lines, audit])
      await having({ it: fileOf(textOf(each)) })("log verify - < $it", 0, `WHOLE: stdin: ${each.length} lines, `);
  });

  it("names the line that does not follow, in JSON too", async () => {
    const it = fileOf(textOf([lines[0]!, lines[2]!]));
    const { hash } = lines[0]!;
    const { stdout } = await having({ it })("log verify $it", 1);
    expect(stdout.split("\n").slice(0, 3)).toEqual([
      `BROKEN: ${it}: line 2: it has the number 3, and 2 was expected: lines were removed or added`,
      expect.stringMatching(/^Whole up to there: 1 line, /),
      `Head: ${hash}`,
    ]);
    const json = JSON.parse((await having({ it })("log verify $it --format json", 1)).stdout) as object;
    expect(json).toMatchObject({
      ...{ format: "bootproof-run-verification/1", intact: false, complete: false, entries: 1, head: hash },
      fault: { line: 2, kind: "chain", file: it },
    });
  });

  it("shows that a line was changed by the next one, and says that it cannot show it of the last", async () => {
    const changed = (at: number): string =>
      fileOf(
        textOf(lines)
          .split("\n")
          .map((line, index) => (index === at ? line.replace('"prod"', '"dev"') : line))
          .join("\n"),
      );
    const verify = having({ middle: changed(1), last: changed(2), head: lines[2]!.hash });
    await verify("log verify $middle", 1, /: line 3: it does not follow line 2, .* Whole up to/);
    await verify("log verify $last", 0, /^WHOLE: .* Not checked: lines removed from the end, a changed last line, /);
    await verify("log verify $last --head $head", 1);
    await verify("log verify $alone --head $head", 0);
    // An empty file is none, but not where a head was kept.
    await verify("log verify $empty", 2);
    await verify("log verify $empty --head $head", 1);
  });

  const TWO_CHAINS = /^BROKEN: \S+alone\.jsonl: line 5: two chains were given: .*--after FILE/;
  const PARTLY = "lines 5 to 8, and the checkpoint is of line 10";
  table([
    ["log verify $all", 0, /^WHOLE: .*: 10 lines/],
    ["log verify $one $two $emptyThree", 0, /^WHOLE: .*: 8 lines/],
    ["log verify $two", 1, /^INCOMPLETE: \S+: lines 1 to 4, which.* Verified: 4 lines/],
    ["log verify $two $three --partial", 0, /^INCOMPLETE: .*: lines 1 to 4, which are in/],
    ["log verify $one $three --partial", 1, /^BROKEN: \S+b\.3: line 5: it has the number 9/],
    ["log verify $one $alone --partial", 1, TWO_CHAINS],
    ["log verify $all --checkpoint $ten $key", 0, /^WHOLE: (?!.*Not checked: lines)/],
    ["log verify $all --checkpoint $ten $vkey", 0, /^WHOLE: /],
    ["log verify $all --checkpoint $four $key", 0, /^WHOLE: .*lines behind line 4, which the/],
    ["log verify $all --checkpoint $fourOfOther $key", 1, /^BROKEN: .*line 4: its hash is/],
    ["log verify $all --checkpoint $ten", 1, /^INCOMPLETE: .*was not checked; pass/],
    ["log verify $one $two --checkpoint $ten $key", 1, /^BROKEN: .* lines 1 to 8, and the checkpoint is of line 10/],
    ["log verify $three --after $eight $key", 0, /^WHOLE: .*: 2 lines.*vouches for them/],
    ["log verify $two $three --after $eight $key", 0, /^WHOLE: .*: 6 lines/],
    ["log verify $all --after $four $key", 0, /^WHOLE: .*: 10/],
    ["log verify $emptyThree --after $eight $key", 0, /^WHOLE: .*: 0 lines/],
    ["log verify $two --after $ten $key", 1, /^BROKEN: /, PARTLY],
    ["log verify $three --after $eight --checkpoint $tenByNew --key $newPublic $key", 0, /^WHOLE: /],
    ["log verify $all --checkpoint $ten --key $foreignPublic", 1, /\.note: .*not signed by this/],
    ["log verify $three --after $eight --key $foreignPublic", 1, /\.note: .*not signed by/],
    [
      "log verify $all --checkpoint $elsewhere $key --origin bootproof-log/b",
      1,
      "its origin is bootproof-log/a, expected bootproof-log/b",
    ],
    ["log verify $all --checkpoint $elsewhere $vkey", 1, "its origin is bootproof-log/a, expected"],
  ]);
  usage("log", [
    ["verify /no/such/file", "there is no such file or folder"],
    ["verify /", "a directory, not a file"],
    ["verify $alone $noNote", "Expected the file that bootproof watch --log or bootproof audit --out writes."],
    ["verify x --head 5e88", "--head: 4 hex digits, expected 64 hex digits"],
    ["verify x --max-gap 2", "--max-gap 2: expected a duration such as 90m, 2h or 1d"],
    ["verify $three --after $eight", "--after requires --key FILE"],
    ["verify $one --checkpoint $four $sign", "got PRIVATE KEY,"],
    ["verify $one $key", "--key requires --checkpoint or --after"],
    ["compare $ten $ten $key", /unknown command|compare/],
  ]);
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
    ["runs", alive, [0, 60], 90, 0, /^WHOLE: .* Newest start or sign of life: \S+06:06/],
    ["is down since two hours", alive, [0, 60], 180, 1, gap(60, 180)],
    ["was down", alive, [0, 60, 240], 250, 1, gap(60, 240)],
    ["has no sign of life", outage, [0, 500], 501, 1, /^INCOMPLETE: .*: whether the watch was running/],
    ["has a time that goes backwards", alive, [60, 0], 1, 0, /^WHOLE: .* Time goes backwards after line 1: from /],
  ])("of a watch that %s", async (_, event, minutes, now, code, words) => {
    const then = scene({ it: await logOf(event, minutes) }, { now: at(now) });
    const answer = await then.run("log verify $it --max-gap 90m", code, words);
    const json = await then.run("log verify $it --max-gap 90m --format json", code);
    const gaps = /^GAP/.test(answer.stdout) ? [expect.objectContaining({ entry: 2 })] : [];
    expect(JSON.parse(json.stdout)).toMatchObject({ gaps });
  });
});

describe("log checkpoint", () => {
  it("signs the last line", async () => {
    const read = (path: string): string => readFileSync(path, "utf8");
    expect((await run("log checkpoint $all $sign", 0)).stdout).toBe(read(note.ten));
    // The last file was just begun.
    expect((await run("log checkpoint $one $two $emptyThree $sign", 0)).stdout).toBe(read(note.eight));
  });

  it.each<[string, string | null, string, number, RegExp]>([
    ["where there is no note", null, "$all $sign", 0, /^Written: \S+, which signs 10 lines$/],
    ["the same note", note.ten, "$all $sign", 0, /^Unchanged: /],
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
    ["with an archived beginning", note.eight, "$three $sign --after $eight", 0, /^Replaced: /],
    ["where more is missing", null, "$three $sign --after $four", 1, /line 5: it has the number 9/],
    ["with a note of another log", null, "$all $sign --after $fourOfOther", 1, /line 4: its hash is .*checkpoint has/],
    ["a new key in place of the old one", note.eight, "$all $rotated", 0, /^Replaced: /],
    ["a new key without the old one", note.eight, "$all --key $newPrivate", 1, /not signed by this key/],
  ])("replaces at --out, or does not: %s", async (_, there, args, code, words) => {
    const before = there === null ? null : readFileSync(there, "utf8");
    const out = before === null ? join(folder, `new-${++notes}.note`) : inFolder(`at-${++notes}.note`, before);
    const answer = await having({ out })(`log checkpoint ${args} --out $out`, code, words);
    if (/^(?:BROKEN|INCOMPLETE)/.test(answer.stderr)) expect(answer.stderr).toMatch(/\nNothing was signed\.\n$/);
    const signedBy = args.includes("$rotated") ? note.tenByNew : note.ten;
    const after = code === 0 ? readFileSync(signedBy, "utf8") : before;
    expect(existsSync(out) ? readFileSync(out, "utf8") : null).toBe(after);
  });

  const SECRET = `!${own.privateKey.split("\n")[1]!}`;
  usage("log checkpoint", [
    ["$one", "--key FILE is required", SECRET],
    ["$one $key", /public\.pem: got PUBLIC KEY, expected an Ed/, SECRET],
    ["$all $sign --key $newPrivate --after $four", "got PRIVATE KEY,", SECRET],
    ["$all $sign --key $newPublic", "--key: a second key requires --after", SECRET],
    ["- $sign", "--origin is required", SECRET],
  ]);
});
