/** Command lines that are at fault: what is said, where it points, and the same as JSON where that was asked for. */
import { describe, expect, it } from "vitest";
import { generateApiKey } from "../../src/client/stamp.js";
import { runAny as run } from "../../src/cli/commands.js";
import { TOOL } from "../../src/version.js";
import { BOOT_1, bootproof, connectionTo, fileOf, words } from "./support.js";

describe("wrong usage", () => {
  // One line for each way that commander has to refuse a command line.
  it.each<[what: string, argv: string[], message: string, see: string]>([
    ["an unknown option", ["verify", "--frmat"], "unknown option --frmat (did you mean --format?)", "verify"],
    ["one with one dash", ["verify", "-policy", "x"], "unknown option -policy (did you mean --policy?)", "verify"],
    ["one before any command", ["--polcy", "x"], "unknown option --polcy", ""],
    ["one that is like nothing", ["pin", "--zzz"], "unknown option --zzz", "pin"],
    ["an unknown command", ["verfy"], "unknown command verfy (did you mean verify?)", ""],
    ["one that is like nothing", ["xyzzy"], "unknown command xyzzy", ""],
    ["help for an unknown command", ["help", "verfy"], "unknown command verfy (did you mean verify?)", ""],
    ["a missing argument", ["inspect"], "FILE is required: the file to show; - for stdin", "inspect"],
    [
      "too many arguments",
      ["inspect", "a", "b", "c"],
      "too many arguments: inspect takes only FILE, not b, c",
      "inspect",
    ],
    ["an argument where there is none", ["pin", "a"], "too many arguments: pin takes none, not a", "pin"],
    [
      "an option without its value",
      ["bundle", "--now"],
      "--now: TIME is required after it: RFC 3339: the current time, from which ages are counted (default: the clock)",
      "bundle",
    ],
    [
      "one of several values, without any",
      ["lab", "--fault"],
      "--fault: FAULT is required after it: misbehave in this way; may be given several times",
      "lab",
    ],
    [
      "an option in the place of a value",
      ["bundle", "--boot-proof", "x", "--no-policy", "--organization-id", "--nonce"],
      "--organization-id: took --nonce, an option, as its value: a shell variable may be unset",
      "bundle",
    ],
    [
      "a value for an option that takes none",
      ["verify", "--allow-debug=yes"],
      "--allow-debug takes no value",
      "verify",
    ],
  ])("%s: %j", async (_, argv, message, see) => {
    const { code, stdout, stderr } = await bootproof(argv);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toBe(`bootproof: ${message}\nSee bootproof ${see === "" ? "" : `${see} `}--help.\n`);
  });

  it("tells every fault of the options, then what to do, then where to read on", async () => {
    const { stderr } = await bootproof(["verify", "--now", "noon", "--boot-proof", BOOT_1]);
    const lines = stderr.split("\n");
    expect(lines.map((line) => line.startsWith("bootproof: "))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
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

const GONE = `No gone.json in the current folder ${process.cwd()}, nor a name near it`;
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
    expect([exitCode, errors]).toEqual([2, [{ message: "no such file", file: "gone.json", advice: GONE }]]);
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
      expect.stringMatching(/^Pin the deployment/),
      "See bootproof verify --help.",
    ]);
  });

  it("say that the service could not be reached: exit code 3", async () => {
    const connection = connectionTo({
      baseUrl: "http://localhost:9",
      organizationId: "o",
      apiKey: await generateApiKey(),
    });
    const argv = ["verify", "--ephemeral-key", "04".repeat(130), "--no-policy", ...connection, "--format", "json"];
    const { exitCode } = await failed(argv);
    expect(exitCode).toBe(3);
  });

  it("do not repeat a key that is misplaced", async () => {
    const key = "7d2f1c09a4be63815577d0e1c2b3a49f8e6d5c4b3a29180f7e6d5c4b3a291807";
    const { code, stdout, stderr } = await bootproof(["inspect", key, "--format", "json"]);
    expect([code, (JSON.parse(stdout) as ErrorDocument).errors]).toEqual([
      2,
      [{ message: "no such file", file: HIDDEN, advice: GONE.replace("gone.json", HIDDEN) }],
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
