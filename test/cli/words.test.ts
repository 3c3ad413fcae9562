/** Words that came from elsewhere than they seem: an unset variable, a glob, the value of an option. */
import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TOOL } from "../../src/version.js";
import { APP_1, BOOT_1, bootproof, fileOf, words, refused } from "./support.js";
import { optionsOfCommands } from "./commands.js";

const POLICY = fileOf((await bootproof(["pin", "--boot-proof", BOOT_1])).stdout);
const GOOD = ["--boot-proof", BOOT_1, "--policy", POLICY];

const before = process.cwd();
beforeEach(() => process.chdir(mkdtempSync(join(tmpdir(), "bootproof-words-"))));
afterEach(() => process.chdir(before));

const valued = (await optionsOfCommands()).filter(({ takesValue }) => takesValue);

describe("an option whose value is missing", () => {
  it.each(valued.map(({ command, name }) => [command, name] as const))(
    "%s %s takes no word that begins with a dash for it",
    async (command, name) => {
      for (const word of words`--activity=forged.json --now=2020-01-01T00:00:00Z --format=text --actvity=x -x`) {
        const { code, stdout, stderr } = await bootproof([...command.split(" "), name, word]);
        expect([code, stdout]).toEqual([2, ""]);
        const [taken] = /^-+\w*/.exec(word)!;
        expect(stderr).toContain(`bootproof: ${name}: took ${taken}`);
        expect(stderr).toContain("a shell variable may be unset");
      }
    },
  );

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

  it.each([
    [["--help"], "Usage: bootproof"],
    [["verify", "-h"], "Usage: bootproof verify"],
    [["policy", "check", "--help"], "Usage: bootproof policy check"],
    [["help", "verify"], "Usage: bootproof verify"],
    [["-V"], TOOL.version],
  ])("is answered alone: %j", async (argv, shown) => {
    const { code, stdout } = await bootproof(argv);
    expect([code, stdout.startsWith(shown)]).toEqual([0, true]);
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
