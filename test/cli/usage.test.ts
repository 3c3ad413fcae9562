/** Command lines that are at fault: what is said, where it points, and the same as JSON where that was asked for. */
import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runAny } from "../../src/cli/commands.js";
import type { Io } from "../../src/cli/io.js";
import { TOOL } from "../../src/version.js";
import { optionsOfCommands } from "./commands.js";
import { APP_1, BOOT_1, bootproof, fileOf, scene } from "./support.js";

const KEY = "7d2f1c09a4be63815577d0e1c2b3a49f8e6d5c4b3a29180f7e6d5c4b3a291807";
const PINNED = fileOf((await bootproof(["pin", "--boot-proof", BOOT_1])).stdout);
const N = {
  ...{ boot: BOOT_1, app: APP_1, policy: PINNED, good: ["--boot-proof", BOOT_1, "--policy", PINNED], key: KEY },
  ...{ forged: `--activity=${fileOf({ activity: {} })}`, empty: fileOf("{}"), none: fileOf({ bootProof: {} }) },
  long: `--now=${"2".repeat(5000)}`,
};
const { having, run, table, usage } = scene(N);

/** Each test in an empty folder. */
const before = process.cwd();
beforeEach(() => process.chdir(mkdtempSync(join(tmpdir(), "bootproof-words-"))));
afterEach(() => process.chdir(before));

// One line for each way that commander has to refuse a command line.
const TIME = "RFC 3339: the current time, from which ages are counted, for repeatable runs (default: the clock)";
it.each<[line: string, message: string, see?: string]>([
  ["verify --frmat", "unknown option --frmat (did you mean --format?)"],
  ["verify -policy x", "unknown option -policy (did you mean --policy?)"],
  ["--polcy x", "unknown option --polcy", ""],
  ["pin --zzz", "unknown option --zzz"],
  ["verfy", "unknown command verfy (did you mean verify?)", ""],
  ["xyzzy", "unknown command xyzzy", ""],
  ["help verfy", "unknown command verfy (did you mean verify?)", ""],
  ["verfy --help", "unknown command verfy (did you mean verify?)", ""],
  ["policy chek --help", "unknown command chek (did you mean check?)"],
  ["help policy chek", "unknown command chek (did you mean check?)", "policy "],
  ["fetch --policy x", "unknown option --policy here: bootproof verify --policy takes it"],
  ["inspect", "FILE is required: the file to show; - for stdin"],
  ["inspect a b c", "too many arguments: inspect takes only FILE, not b, c"],
  ["pin a", "too many arguments: pin takes none, not a"],
  ["bundle --now", `--now: TIME is required after it: ${TIME}`],
  ["lab --fault", "--fault: FAULT is required after it: misbehave in this way; may be given several times"],
  ["verify --allow-debug=yes", "--allow-debug takes no value"],
])("bootproof %s is wrong usage", async (line, message, see = `${line.split(" ", 1)[0]!} `) => {
  const stderr = `bootproof: ${message}\nSee bootproof ${see}--help.\n`;
  expect(await bootproof(line.split(" "))).toEqual({ code: 2, stdout: "", stderr });
});

it("tells every fault of the options, then what to do, then where to read on", async () => {
  const { stderr } = await run("verify --now noon --boot-proof $boot", 2);
  const told = stderr.trimEnd().split("\n");
  expect(told.findLastIndex((line) => line.startsWith("bootproof: "))).toBe(1);
  expect([told[2], told.at(-1)]).toEqual([
    expect.stringMatching(/^Pin the deployment/),
    "See bootproof verify --help.",
  ]);
});

it("help help is the help", async () => {
  expect(await bootproof(["help", "help"])).toEqual(await bootproof(["--help"]));
});

it("is answered with the help, on stdout, where it says nothing, and is at fault: 0 means verified", async () => {
  const { stdout } = await bootproof(["--help"]);
  expect(await bootproof([])).toEqual({ code: 2, stdout, stderr: "" });
});

const HIDDEN = "[not shown: it looks like a key]";
interface ErrorDocument {
  readonly exitCode: number;
  readonly errors: readonly { readonly message: string; readonly file: string | null; readonly advice?: string }[];
}

describe("errors of a command line that asks for JSON", () => {
  async function failedBy(line: string): Promise<ErrorDocument["errors"]> {
    const { code, stdout, stderr } = await run(line, 2);
    const document = JSON.parse(stdout) as ErrorDocument;
    expect(Object.keys(document)).toEqual(["format", "tool", "exitCode", "errors"]);
    expect(document).toMatchObject({ format: "bootproof-error/1", tool: TOOL, exitCode: code });
    // People read the same sentences.
    for (const { message, file, advice = "" } of document.errors) {
      expect(stderr).toContain(`bootproof: ${file === null ? "" : `${file}: `}${message}\n`);
      expect(stderr).toContain(advice);
    }
    return document.errors;
  }
  const isGone = (file: string): object => {
    const folder = /\s/.test(process.cwd()) ? JSON.stringify(process.cwd()) : process.cwd();
    const advice = `Correct the path: no ${file} in the current folder ${folder}, nor a name near it`;
    return { message: "no such file", file, advice };
  };

  it.each([
    "verify --boot-proof gone.json --no-policy --format json",
    "verify --format json --boot-proof gone.json --no-policy",
    "verify --format=json --boot-proof gone.json --no-policy",
    "inspect gone.json --format=json",
    "inspect --format json gone.json",
  ])("are one document, wherever it asks: %s", async (line) => {
    expect(await failedBy(line)).toEqual([isGone("gone.json")]);
  });

  const FIRST = "unknown option --format here: a command comes first, such as bootproof verify --format";
  it.each([
    ["verify --frmat --format json", "unknown option --frmat (did you mean --format?)", "verify "],
    ["inspect --format json", "FILE is required: the file to show; - for stdin", "inspect "],
    ["verfy --format json", "unknown command verfy (did you mean verify?)", ""],
    ["--format json verfy", FIRST, ""],
  ])("are one document where the command line is wrong too: %s", async (line, message, see) => {
    expect(await failedBy(line)).toEqual([{ message, file: null, advice: `See bootproof ${see}--help.` }]);
  });

  it("name the file of each, stdin too, and say what to do of each", async () => {
    const errors = await failedBy("verify --boot-proof - gone.json --policy gone-too.json --format json < $empty");
    expect(errors.map(({ file }) => file)).toEqual(["gone-too.json", "stdin", "gone.json"]);
    const told = await failedBy("verify --boot-proof $boot --now noon --format json");
    const advice = ["See bootproof verify --help.", expect.stringMatching(/^Pin the deployment/)];
    expect(told.map((error) => error.advice)).toEqual(advice);
  });

  it("do not repeat a key that is misplaced, and make what evidence chose printable", async () => {
    expect(await failedBy(`inspect ${KEY} --format json`)).toEqual([isGone(HIDDEN)]);
    const it = `\u001b[2J${fileOf('{"\u202e": 1,}')}`;
    await having({ it })("verify --boot-proof $it --no-policy --format=json", 2, /^[^\u001b\u202e]*$/);
  });

  it("tell what nobody expected: on stderr where stdout is at fault", async () => {
    const told = async (more: object): Promise<[number, string, string]> => {
      const written = { stdout: "", stderr: "" };
      const to = (name: keyof typeof written) => ({ write: (text: string) => (written[name] += text) });
      const io = { stdin: (async function* () {})(), stdout: to("stdout"), stderr: to("stderr"), env: {} };
      const argv = ["verify", "--boot-proof", BOOT_1, "--no-policy", "--format", "json"];
      const code = await runAny(argv, { ...io, now: () => new Date(), ...more } as unknown as Io);
      return [code, written.stdout, written.stderr];
    };
    const throwing = (message: string) => (): never => {
      throw new Error(message);
    };
    const full = await told({ stdout: { write: throwing("disk on fire") } });
    expect(full).toEqual([2, "", expect.stringContaining("bootproof: unexpected: disk on fire\n")]);
    const [code, stdout] = await told({ now: throwing("no clock\u001b[2J") });
    const message = "unexpected: no clock\\u{1b}[2J";
    expect([code, JSON.parse(stdout)]).toMatchObject([2, { errors: [{ message, file: null }] }]);
  });

  it.each(["inspect gone.json --format text", "inspect gone.json", "inspect -- --format=json", "pin --format json"])(
    "are none of %s",
    async (line) => {
      expect((await run(line, 2)).stdout).toBe("");
    },
  );

  table([["verify --boot-proof $none --no-policy --format json", 1, '"format": "bootproof-report/1"']]);
});

it("messages are as wide as the terminal, but for what is to be copied, and a line each anywhere else", async () => {
  const argv = ["verify", "--boot-proof", "x".repeat(70), "--now", "noon"];
  const { stderr } = await bootproof(argv, { isTTY: true, columns: 60 });
  const lines = stderr.split("\n");
  for (const line of lines.filter((one) => !one.startsWith(" "))) expect(line.length).toBeLessThanOrEqual(60);
  expect(lines).toContain("    $ bootproof pin --boot-proof boot.json --out policy.json");
  const missing = await bootproof(["inspect", `${"x".repeat(70)}.json`], { isTTY: true, columns: 60 });
  expect(missing.stderr).toContain(`bootproof: ${"x".repeat(70)}.json: no such file\n`);
  const piped = await bootproof(argv, { columns: 60 });
  expect(Math.max(...piped.stderr.split("\n").map((line) => line.length))).toBeGreaterThan(100);
});

/** Words that came from elsewhere than they seem: an unset variable, a glob, the value of an option. */
const valued = (await optionsOfCommands()).filter(({ takesValue }) => takesValue);
const UNSET = "a shell variable may be unset";

describe("an option whose value is missing", () => {
  it.each([
    ...valued.map(({ command, name }) => [command, name, "--actvity=x"] as const),
    ...["--activity=forged.json", "--format=text", "-x"].map((word) => ["verify", "--boot-proof", word] as const),
  ])("%s %s takes no word that begins with a dash for it: %s, and no empty one", async (command, name, word) => {
    await run(`${command} ${name} ${word}`, 2, `bootproof: ${name}: took ${/^-+\w*/.exec(word)![0]}`, UNSET);
    const told = ["", "x ", "x y "].map((operands) => run(`${command} ${operands}${name} ''`, 2));
    const says = new RegExp(`bootproof: ${name}: (?:empty: ${UNSET}|expected a file)`);
    expect((await Promise.all(told)).map(({ stderr }) => stderr).join("")).toMatch(says);
  });

  const TOOK = "as its value: a shell variable may be unset";
  usage("", [
    // What was taken for a value would have made it fail.
    [
      "verify $good --app-proof $app --organization-id $forged",
      `--organization-id: took --activity, an option, ${TOOK}`,
    ],
    ["verify --boot-proof $boot --policy --app", `--policy: took --app, an option, ${TOOK}`],
    ["fetch --app --api-key=$key", "!$key"],
    ["verify --boot-proof $boot --policy - < $empty", "stdin: "],
    ["verify --boot-proof=--x.json --no-policy", /^bootproof: --x\.json: no such file /],
    // Once for each option, and with the other faults.
    [
      "verify --boot-proof '' '' --policy '' --format xml",
      /^(?:(?! empty: ).)*(?: empty: (?:(?! empty: ).)*){2}$/,
      "--format xml",
    ],
    ["verify '' --no-policy", `bootproof: an empty file name: ${UNSET}`],
    ["inspect ''", `bootproof: FILE: empty: ${UNSET}`],
    ["diff $boot ''", `bootproof: B: empty: ${UNSET}`],
    ["explain ''", `bootproof: WORD: empty: ${UNSET}`],
    ["measure ''", `bootproof: FILE: empty: ${UNSET}`],
    ["policy check ''", `bootproof: FILE: empty: ${UNSET}`],
    ["policy drop $policy ''", `bootproof: NAME: empty: ${UNSET}`],
    ["log verify ''", `bootproof: FILE: empty: ${UNSET}`],
    ["audit --policy $policy $boot ''", `bootproof: INPUT: empty: ${UNSET}`],
  ]);
});

describe("a word that asks for help or the version", () => {
  it.each(["--help", "-h", "--version", "-V", "-Vx"])("is exit code 2 beside others: %s", async (word) => {
    for (const line of [
      "audit --policy $policy WORD $boot",
      "verify $good WORD",
      "verify WORD $good",
      "WORD verify $good",
      "policy check $policy WORD",
      "help verify WORD",
      "WORD WORD",
    ]) {
      const { stdout } = await run(line.replaceAll("WORD", word), 2, `bootproof: ${word}: got other arguments, too`);
      expect(stdout).toBe("");
    }
  });

  usage("", [
    ["inspect -- --help", /^bootproof: --help: no such file /],
    // It is that of the program, not of a command.
    ["verify --version", "--version"],
  ]);
});

describe("an option that is a file in this folder, as * leaves it there", () => {
  const inFolder = (...names: string[]): void => names.forEach((name) => writeFileSync(name, "{}"));

  it.each([
    "--help",
    "--allow-debug",
    "--no-policy",
    "--now=2020-01-01T00:00:00Z",
    "--trust-anchor=mine.pem",
    "--only-failures",
    "-",
    "--",
  ])("is refused: %s", async (name) => {
    inFolder(name, "entry.json");
    const says = `bootproof: ${name}: an option, and a file in this folder`;
    await run(`audit --policy $policy ${name} entry.json $boot`, 2, says, "./*");
  });

  it("is refused where the name is that of a link that leads nowhere", async () => {
    symlinkSync("nowhere", "--allow-debug");
    await run("verify $good --allow-debug", 2);
  });

  it("is a file after --, and with ./ before it", async () => {
    inFolder("--allow-debug");
    for (const file of ["-- --allow-debug", "./--allow-debug"])
      await run(`inspect ${file}`, 2, "--allow-debug: not recognised");
  });

  it("is the option where there is no such file, however long it is", async () => {
    inFolder("allow-debug");
    await run("verify $good --allow-debug", 0);
    await run("verify $good $long", 2, "expected an RFC 3339 date and time");
    await having({ nul: "--now=\0" })("verify $good $nul", 2, "expected an RFC 3339 date and time");
  });
});
