/** Command lines that are at fault: what is said, where it points, and the same as JSON where that was asked for. */
import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runAny as run } from "../../src/cli/commands.js";
import { TOOL } from "../../src/version.js";
import { optionsOfCommands } from "./commands.js";
import { APP_1, BOOT_1, bootproof, fileOf, refused, words } from "./support.js";

describe("wrong usage", () => {
  // One line for each way that commander has to refuse a command line.
  it.each<[line: string, message: string, see?: string]>([
    ["verify --frmat", "unknown option --frmat (did you mean --format?)"],
    ["verify -policy x", "unknown option -policy (did you mean --policy?)"],
    ["--polcy x", "unknown option --polcy", ""],
    ["pin --zzz", "unknown option --zzz"],
    ["verfy", "unknown command verfy (did you mean verify?)", ""],
    ["xyzzy", "unknown command xyzzy", ""],
    ["help verfy", "unknown command verfy (did you mean verify?)", ""],
    ["inspect", "FILE is required: the file to show; - for stdin"],
    ["inspect a b c", "too many arguments: inspect takes only FILE, not b, c"],
    ["pin a", "too many arguments: pin takes none, not a"],
    [
      "bundle --now",
      "--now: TIME is required after it: RFC 3339: the current time, from which ages are counted, for repeatable " +
        "runs (default: the clock)",
    ],
    ["lab --fault", "--fault: FAULT is required after it: misbehave in this way; may be given several times"],
    [
      "bundle --boot-proof x --no-policy --organization-id --nonce",
      "--organization-id: took --nonce, an option, as its value: a shell variable may be unset",
    ],
    ["verify --allow-debug=yes", "--allow-debug takes no value"],
  ])("%s", async (line, message, see = `${line.split(" ", 1)[0]!} `) => {
    const stderr = `bootproof: ${message}\nSee bootproof ${see}--help.\n`;
    expect(await bootproof(line.split(" "))).toEqual({ code: 2, stdout: "", stderr });
  });

  it("tells every fault of the options, then what to do, then where to read on", async () => {
    const { stderr } = await bootproof(["verify", "--now", "noon", "--boot-proof", BOOT_1]);
    const lines = stderr.split("\n");
    expect(lines.findLastIndex((line) => line.startsWith("bootproof: "))).toBe(1);
    expect(lines[2]).toMatch(/^Pin the deployment/);
    expect(lines.slice(-2)).toEqual(["See bootproof verify --help.", ""]);
  });
});

describe("a command line that says nothing", () => {
  it("is answered with the help, on stdout, and is at fault: 0 means verified", async () => {
    const { code, stdout, stderr } = await bootproof([]);
    expect([code, stderr]).toEqual([2, ""]);
    expect(stdout).toBe((await bootproof(["--help"])).stdout);
  });
});

const gone = (): string => `Correct the path: no gone.json in the current folder ${process.cwd()}, nor a name near it`;
const HIDDEN = "[not shown: it looks like a key]";

interface ErrorDocument {
  readonly format: string;
  readonly tool: object;
  readonly exitCode: number;
  readonly errors: readonly { readonly message: string; readonly file: string | null; readonly advice?: string }[];
}

describe("errors of a command line that asks for JSON", () => {
  async function failed(argv: readonly string[], stdin?: string): Promise<ErrorDocument & { readonly stderr: string }> {
    const { code, stdout, stderr } = await bootproof(argv, stdin === undefined ? {} : { stdin });
    const document = JSON.parse(stdout) as ErrorDocument;
    expect(Object.keys(document)).toEqual(["format", "tool", "exitCode", "errors"]);
    expect(document).toMatchObject({ format: "bootproof-error/1", tool: TOOL, exitCode: code });
    // People read the same sentences.
    for (const { message, file, advice } of document.errors) {
      expect(stderr).toContain(`bootproof: ${file === null ? "" : `${file}: `}${message}\n`);
      if (advice !== undefined) expect(stderr).toContain(advice);
    }
    return { ...document, stderr };
  }

  it.each([
    ["verify", "--boot-proof", "gone.json", "--no-policy", "--format", "json"],
    ["verify", "--format", "json", "--boot-proof", "gone.json", "--no-policy"],
    ["verify", "--format=json", "--boot-proof", "gone.json", "--no-policy"],
    ["inspect", "gone.json", "--format=json"],
    ["inspect", "--format", "json", "gone.json"],
  ])("are one document, wherever it asks: %s %s %s %s", async (...argv) => {
    const { exitCode, errors } = await failed(argv);
    expect([exitCode, errors]).toEqual([2, [{ message: "no such file", file: "gone.json", advice: gone() }]]);
  });

  it("name the file of each, stdin too", async () => {
    const { errors } = await failed(
      ["verify", "--boot-proof", "-", "gone.json", "--policy", "gone-too.json", "--format", "json"],
      "{",
    );
    expect(errors.map(({ file }) => file)).toEqual(["gone-too.json", "stdin", "gone.json"]);
  });

  it.each([
    [
      ["verify", "--frmat", "--format", "json"],
      "unknown option --frmat (did you mean --format?)",
      "See bootproof verify --help.",
    ],
    [
      ["inspect", "--format", "json"],
      "FILE is required: the file to show; - for stdin",
      "See bootproof inspect --help.",
    ],
    [["verfy", "--format", "json"], "unknown command verfy (did you mean verify?)", "See bootproof --help."],
    [
      ["--format", "json", "verfy"],
      "unknown option --format here: a command comes first, such as bootproof verify --format",
      "See bootproof --help.",
    ],
  ])("are one document where the command line is wrong too: %j", async (argv, message, advice) => {
    expect((await failed(argv)).errors).toEqual([{ message, file: null, advice }]);
  });

  it("say what to do of each", async () => {
    const { errors } = await failed(["verify", "--boot-proof", BOOT_1, "--now", "noon", "--format", "json"]);
    expect(errors.map(({ advice }) => advice)).toEqual([
      "See bootproof verify --help.",
      expect.stringMatching(/^Pin the deployment/),
    ]);
  });

  it("do not repeat a key that is misplaced", async () => {
    const key = "7d2f1c09a4be63815577d0e1c2b3a49f8e6d5c4b3a29180f7e6d5c4b3a291807";
    const { code, stdout, stderr } = await bootproof(["inspect", key, "--format", "json"]);
    expect([code, (JSON.parse(stdout) as ErrorDocument).errors]).toEqual([
      2,
      [{ message: "no such file", file: HIDDEN, advice: gone().replace("gone.json", HIDDEN) }],
    ]);
    expect(stdout + stderr).not.toContain(key);
  });

  it("make what evidence chose printable", async () => {
    const file = fileOf('{"\u202e": 1,}');
    const { stdout } = await bootproof(["verify", "--boot-proof", `\u001b[2J${file}`, "--no-policy", "--format=json"]);
    expect(stdout).not.toMatch(/[\u001b\u202e]/);
  });

  it("are of stdout where that is what was unexpected: told on stderr, and nothing is thrown", async () => {
    const stderr: string[] = [];
    const broken = (): never => {
      throw new Error("disk on fire");
    };
    const code = await run(["inspect", BOOT_1, "--format", "json"], {
      stdin: (async function* () {})(),
      stdout: { write: broken },
      stderr: { write: (text) => stderr.push(text) },
      env: {},
      now: () => new Date(),
    });
    expect([code, stderr.join("")]).toEqual([2, "bootproof: unexpected: disk on fire\n"]);
  });

  it("tell what nobody expected", async () => {
    let stdout = "";
    const code = await run(["verify", "--boot-proof", BOOT_1, "--no-policy", "--format", "json"], {
      stdin: (async function* () {})(),
      stdout: { write: (text) => (stdout += text) },
      stderr: { write: () => {} },
      env: {},
      now: () => {
        throw new Error("no clock\u001b[2J");
      },
    });
    expect([code, (JSON.parse(stdout) as ErrorDocument).errors]).toEqual([
      2,
      [{ message: "unexpected: no clock\\u{1b}[2J", file: null }],
    ]);
  });

  it.each([
    ["text is asked for", ["inspect", "gone.json", "--format", "text"]],
    ["nothing is", ["inspect", "gone.json"]],
    ["the words are files", ["inspect", "--", "--format=json"]],
    ["the command has no such option", ["pin", "--format", "json"]],
  ])("are none where %s", async (_, argv) => {
    expect(await bootproof(argv)).toMatchObject({ code: 2, stdout: "" });
  });

  it("are none where there is a verdict: a rejection is a report", async () => {
    const { code, stdout } = await bootproof(
      words`verify --boot-proof ${fileOf({ bootProof: {} })} --no-policy --format json`,
    );
    expect([code, (JSON.parse(stdout) as { format: string }).format]).toEqual([1, "bootproof-report/1"]);
  });
});

describe("messages at a terminal", () => {
  const argv = ["verify", "--boot-proof", "x".repeat(70), "--now", "noon"];

  it("are as wide as it, but for what is to be copied", async () => {
    const { stderr } = await bootproof(argv, { isTTY: true, columns: 60 });
    const lines = stderr.split("\n");
    for (const line of lines.filter((one) => !one.startsWith(" "))) expect(line.length).toBeLessThanOrEqual(60);
    expect(lines).toContain("    $ bootproof pin --boot-proof boot.json --out policy.json");
    const missing = await bootproof(["inspect", `${"x".repeat(70)}.json`], { isTTY: true, columns: 60 });
    expect(missing.stderr).toContain(`bootproof: ${"x".repeat(70)}.json: no such file\n`);
  });

  it("are a line each anywhere else, for who searches in a log", async () => {
    const { stderr } = await bootproof(argv, { columns: 60 });
    expect(Math.max(...stderr.split("\n").map((line) => line.length))).toBeGreaterThan(100);
  });
});

/** Words that came from elsewhere than they seem: an unset variable, a glob, the value of an option. */
const POLICY = fileOf((await bootproof(["pin", "--boot-proof", BOOT_1])).stdout);
const GOOD = ["--boot-proof", BOOT_1, "--policy", POLICY];

const before = process.cwd();
beforeEach(() => process.chdir(mkdtempSync(join(tmpdir(), "bootproof-words-"))));
afterEach(() => process.chdir(before));

const valued = (await optionsOfCommands()).filter(({ takesValue }) => takesValue);

describe("an option whose value is missing", () => {
  it.each([
    ...valued.map(({ command, name }) => [command, name, "--actvity=x"] as const),
    ...["--activity=forged.json", "--format=text", "-x"].map((word) => ["verify", "--boot-proof", word] as const),
  ])("%s %s takes no word that begins with a dash for it: %s", async (command, name, word) => {
    const { code, stdout, stderr } = await bootproof([...command.split(" "), name, word]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`bootproof: ${name}: took ${/^-+\w*/.exec(word)![0]}`);
    expect(stderr).toContain("a shell variable may be unset");
  });

  it("judges nothing where the option that was taken for a value would have made it fail", async () => {
    const forged = fileOf({ activity: {} });
    await refused(
      2,
      bootproof(words`verify ${GOOD} --app-proof ${APP_1} --organization-id ${`--activity=${forged}`}`),
      "--organization-id: took --activity, an option, as its value",
    );
  });

  it("does not repeat what the other option was given", async () => {
    const { stderr } = await bootproof(["fetch", "--app", `--api-key=${"5a".repeat(32)}`]);
    expect(stderr).not.toContain("5a5a");
  });

  it("takes - for stdin, and whatever stands in the same word", async () => {
    expect((await bootproof(["verify", "--boot-proof", BOOT_1, "--policy", "-"], { stdin: "{}" })).stderr).toContain(
      "stdin: ",
    );
    expect((await bootproof(["verify", "--boot-proof=--x.json", "--no-policy"])).stderr).toMatch(
      /^bootproof: --x\.json: no such file\n/,
    );
  });
});

describe("an operand that is an empty word", () => {
  it.each([
    [["inspect", ""], "FILE"],
    [["diff", BOOT_1, ""], "B"],
    [["explain", ""], "WORD"],
    [["measure", ""], "FILE"],
    [["policy", "check", ""], "FILE"],
    [["policy", "drop", POLICY, ""], "NAME"],
    [["log", "verify", ""], "FILE"],
    [["audit", "--policy", POLICY, BOOT_1, ""], "INPUT"],
  ])("is refused: %j", (argv, name) =>
    refused(2, bootproof(argv), `bootproof: ${name}: empty: a shell variable may be unset\n`),
  );
});

describe("a word that asks for help or the version", () => {
  it.each([["--help"], ["-h"], ["--version"], ["-V"], ["-Vx"]])("is exit code 2 beside others: %s", async (word) => {
    for (const argv of [
      ["audit", "--policy", POLICY, word, BOOT_1],
      ["verify", ...GOOD, word],
      ["verify", word, ...GOOD],
      [word, "verify", ...GOOD],
      ["policy", "check", POLICY, word],
      ["help", "verify", word],
      [word, word],
    ]) {
      const { code, stdout, stderr } = await bootproof(argv);
      expect([code, stdout], argv.join(" ")).toEqual([2, ""]);
      expect(stderr).toContain(`bootproof: ${word}: got other arguments, too`);
    }
  });

  it("is an operand after --", async () => {
    expect((await bootproof(["inspect", "--", "--help"])).stderr).toMatch(/^bootproof: --help: no such file\n/);
  });

  it("the version is that of the program, not of a command", async () => {
    expect((await bootproof(["verify", "--version"])).code).toBe(2);
  });
});

describe("an option that is a file in this folder, as * leaves it there", () => {
  function inFolder(...names: string[]): void {
    const folder = mkdtempSync(join(tmpdir(), "bootproof-glob-"));
    for (const name of names) writeFileSync(join(folder, name), "{}");
    process.chdir(folder);
  }

  it.each([
    ["--help"],
    ["--allow-debug"],
    ["--no-policy"],
    ["--now=2020-01-01T00:00:00Z"],
    ["--trust-anchor=mine.pem"],
    ["--only-failures"],
    ["-"],
    ["--"],
  ])("is refused: %s", async (name) => {
    inFolder(name, "entry.json");
    await refused(
      2,
      bootproof(["audit", "--policy", POLICY, name, "entry.json", BOOT_1]),
      `bootproof: ${name}: an option, and a file in this folder`,
      "./*",
    );
  });

  it("is refused where the name is that of a link that leads nowhere", async () => {
    inFolder();
    symlinkSync("nowhere", "--allow-debug");
    expect((await bootproof(["verify", ...GOOD, "--allow-debug"])).code).toBe(2);
  });

  it("is a file after --, and with ./ before it", async () => {
    inFolder("--allow-debug");
    for (const argv of [
      ["inspect", "--", "--allow-debug"],
      ["inspect", "./--allow-debug"],
    ])
      expect((await bootproof(argv)).stderr).toContain("--allow-debug: not recognised");
  });

  it("is the option where there is no such file, however long it is", async () => {
    inFolder("allow-debug");
    expect((await bootproof(["verify", ...GOOD, "--allow-debug"])).code).toBe(0);
    const long = `--now=${"2".repeat(5000)}`;
    expect((await bootproof(["verify", ...GOOD, long])).stderr).toContain("expected an RFC 3339 date and time");
    expect((await bootproof(["verify", ...GOOD, "--now=\0"])).stderr).toContain("expected an RFC 3339 date and time");
  });
});
