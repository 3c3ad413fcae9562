/** Completion scripts, asked by the shells themselves where they are installed. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { CHECK_IDS } from "../../src/checks.js";
import { AUTH_FAULTS, FAULTS, FEED_FAULTS } from "../../src/lab/faults.js";
import { REPORT_FORMATS } from "../../src/report/report.js";
import { COMMITMENT_KINDS } from "../../src/verify/commitment.js";
import { bootproof, refused } from "./support.js";

const folder = mkdtempSync(join(tmpdir(), "bootproof-completion-"));
mkdirSync(join(folder, "some folder"));
for (const file of ["my policy.json", "boot.json"]) writeFileSync(join(folder, file), "{}");

function run(command: string, args: readonly string[], input = ""): SpawnSyncReturns<string> {
  return spawnSync(command, args, { encoding: "utf8", cwd: folder, input, env: { ...process.env, TERM: "dumb" } });
}

const has = (shell: string): boolean => run(shell, ["--version"]).status === 0;
const absent = (shell: string): string => (has(shell) ? "" : " (not installed here: skipped)");
const script: Record<string, string> = {};
beforeAll(async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout, stderr } = await bootproof(["completion", shell]);
    expect([code, stderr]).toEqual([0, ""]);
    script[shell] = stdout;
    writeFileSync(join(folder, `completion.${shell}`), stdout);
  }
});

describe("completion", () => {
  it.each([
    [["tcsh"], "tcsh: expected one of bash, zsh, fish"],
    [[], "SHELL is required: bash, zsh, fish"],
  ])("is of three shells: not %j", (args, said) => refused(2, bootproof(["completion", ...args]), said));

  it("has every command and every option of the help, and none that the help hides", async () => {
    const { stdout: help } = await bootproof(["help", "all"]);
    const commands = [...help.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name!);
    expect(commands).toEqual(expect.arrayContaining(["verify", "explain", "completion", "help"]));
    for (const name of commands.filter((one) => one !== "help")) {
      const { stdout } = await bootproof([name, "--help"]);
      for (const [, option] of stdout.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)) {
        expect(script["bash"], `${name} ${option!}`).toContain(`'${option!}\t`);
        expect(script["fish"]).toMatch(new RegExp(`'__bootproof_at \\\\'${name}\\\\'' .*-l ${option!.slice(2)} `));
      }
    }
    for (const text of Object.values(script)) expect(text).not.toMatch(/api-private-key|--private-key/);
  });

  it("knows of every value in the help whether it is a file, one of certain words, or the user's own", async () => {
    const { stdout: help } = await bootproof(["help", "all"]);
    const names = [...help.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name!).filter((name) => name !== "help");
    const asked = [...names.map((name) => [name]), ["key", "new"]];
    const texts = await Promise.all(asked.map(async (words) => (await bootproof([...words, "--help"])).stdout));
    const placeholders = new Set(
      texts.flatMap((text) => [...text.matchAll(/^ {2}--[a-z-]+ [<[]([a-z-]+)/gm)].map(([, one]) => one!)),
    );
    const files = ["file", "policy"];
    const folders = ["folder"];
    const words = [
      "format",
      "report-format",
      "table-format",
      "class",
      "kind",
      "member",
      "demand",
      "when",
      "fault",
      "version",
      "key-type",
      "token-kind",
    ];
    const own = [
      "address",
      "arn",
      "hex",
      "id",
      "name",
      "type",
      "url",
      "payload",
      "time",
      "seconds",
      "number",
      "duration",
      "command",
      "listen",
    ];
    expect([...placeholders].sort()).toEqual([...files, ...folders, ...words, ...own].sort());
  });

  it("says for each shell how it is installed", async () => {
    const { stdout } = await bootproof(["completion", "--help"]);
    expect(stdout).toContain('eval "$(bootproof completion bash)"');
    expect(stdout).toContain('eval "$(bootproof completion zsh)"');
    expect(stdout).toContain("bootproof completion fish > ~/.config/fish/completions/bootproof.fish");
  });
});

describe("bash", () => {
  /** What bash offers for the words, the last of which is at the cursor. */
  function offered(...lines: (readonly string[])[]): string[][] {
    const asked = lines.map((words) => {
      const quoted = ["bootproof", ...words].map((word) => `'${word}'`).join(" ");
      const call = `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _bootproof`;
      return `${call}; printf "%s\\n" "\${COMPREPLY[@]}" --END--`;
    });
    const { status, stdout, stderr } = run("bash", ["--norc", "-c", ["source completion.bash", ...asked].join("\n")]);
    expect([status, stderr]).toEqual([0, ""]);
    const offers = stdout.split("--END--\n").slice(0, -1);
    return offers.map((text) => text.split("\n").filter((line) => line !== ""));
  }

  it("completes a word, and offers every command, check and fault", () => {
    const rows: (readonly [words: string[], offers: string[]])[] = [
      [["ver"], ["verify"]],
      [["verify", "--tr"], ["--trust-anchor"]],
      [["verify", "--no-"], ["--no-policy"]],
      [["verify", "--format", ""], [...REPORT_FORMATS]],
      [["verify", "--format", "js"], ["json"]],
      [["verify", "--format", "=", "js"], ["json"]],
      [["verify", "--format", "="], [...REPORT_FORMATS]],
      [
        ["verify", "--at", ""],
        ["document", "now"],
      ],
      [["pin", "--commitment", ""], [...COMMITMENT_KINDS]],
      [["explain", "bind.k"], ["bind.key"]],
      [
        ["explain", "sta"],
        ["stale", "stamp"],
      ],
      [
        ["completion", ""],
        ["bash", "zsh", "fish"],
      ],
      [["lab", "--fault", "stale-m"], ["stale-manifest"]],
      [["lab", "--fault", "stale-manifest", "stale-m"], ["stale-manifest"]],
      [["help", "ver"], ["verify"]],
      // The user's own, and files: readline completes those.
      [["verify", "--nonce", ""], []],
      [["verify", "--policy", ""], []],
      [["verify", "--boot-proof", "a.json", ""], []],
      [["inspect", ""], []],
      // The value of an option is not a command and no option.
      [["verify", "--policy", "pin", "--all"], ["--allow-debug"]],
      [["verify", "--format", "json", "--tr"], ["--trust-anchor"]],
      [["verify", "--format=json", "--tr"], ["--trust-anchor"]],
      [["verify", "--boot-proof", "a.json", "--tr"], ["--trust-anchor"]],
      // Behind --, there are files alone.
      [["verify", "--", "--po"], []],
    ];
    const [commands, checks, faults, ...answers] = offered(
      ...[[""], ["explain", ""], ["lab", "--fault", ""]],
      ...rows.map(([words]) => words),
    );
    expect(rows.map(([words], index) => [words, answers[index]])).toEqual(rows);
    expect(commands).toEqual(expect.arrayContaining(["verify", "pin", "lab", "help"]));
    expect(checks).toEqual(expect.arrayContaining([...CHECK_IDS]));
    expect(faults).toEqual([...FAULTS, ...AUTH_FAULTS, ...FEED_FAULTS].map(({ name }) => name));
  });

  it.skipIf(!has("script"))("completes words, and files with spaces in their names, at a terminal", () => {
    const typed = [
      "PS1=",
      "bind 'set bell-style none'",
      "source completion.bash",
      'bootproof() { printf "got"; printf "<%s>" "$@"; printf "\\n"; }',
      "bootproof ver\t--policy my\t--form\tjs\t",
      'bootproof verify --boot-proof my\tboo\t --policy "my\t',
      "bootproof lab --data so\t",
      "exit",
      "",
    ].join("\n");
    const { stdout } = run("script", ["-qec", "bash --norc --noprofile -i", "/dev/null"], typed);
    const got = stdout.split(/\r?\n/).filter((line) => /^got</.test(line));
    expect(got).toEqual([
      "got<verify><--policy><my policy.json><--format><json>",
      "got<verify><--boot-proof><my policy.json><boot.json><--policy><my policy.json>",
      "got<lab><--data><some folder/>",
    ]);
  });
});

describe("zsh and fish", () => {
  // zsh, where it is installed, completes in a terminal only: what it shares with bash is asked of it directly.
  it.skipIf(!has("zsh"))(`zsh${absent("zsh")} knows the candidates, and loads the rest without a word`, () => {
    const ask = 'compdef() { :; }; source ./completion.zsh; _bootproof_candidates "$@"';
    const asked = (...words: string[]): string[] => {
      const { status, stdout, stderr } = run("zsh", ["-f", "-c", ask, "zsh", ...words]);
      expect([status, stderr]).toEqual([0, ""]);
      return stdout.split("\n").map((line) => line.split("\t")[0]!);
    };
    expect(asked("ver")).toContain("verify");
    expect(asked("--po", "verify")).toContain("--policy");
    expect(asked("", "verify", "--format")).toEqual([...REPORT_FORMATS, ""]);
    expect(asked("", "verify", "--policy")).toEqual(["@files", ""]);
  });

  it.skipIf(!has("fish"))(`fish${absent("fish")} completes commands, options, values and files`, () => {
    const offered = (line: string): string[] => {
      const asked = `source completion.fish; complete -C ${JSON.stringify(line)}`;
      const { status, stdout, stderr } = run("fish", ["--no-config", "-c", asked]);
      expect([status, stderr]).toEqual([0, ""]);
      return stdout.split("\n").map((one) => one.split("\t")[0]!);
    };
    expect(offered("bootproof ver")).toContain("verify");
    expect(offered("bootproof verify --po")).toContain("--policy");
    expect(offered("bootproof verify --format ")).toEqual(expect.arrayContaining([...REPORT_FORMATS]));
    expect(offered("bootproof verify --policy my")).toContain("my policy.json");
    expect(offered("bootproof explain bind.k")).toContain("bind.key");
  });

  it("has the same candidates in zsh as in bash, word for word", () => {
    const shared = (text: string): string => /^_bootproof_table\(\)[^]*?^_bootproof\(\)/m.exec(text)![0];
    expect(shared(script["zsh"]!)).toBe(shared(script["bash"]!));
  });

  it("quotes what fish would understand otherwise", () => {
    for (const line of script["fish"]!.split("\n").filter((one) => one.startsWith("complete")))
      expect(line.replace(/'(?:[^'\\]|\\['\\])*'/g, "''")).toMatch(
        /^complete -c bootproof(?: (?:-n|-a|-d|-[lsr]|-[fFx]|''|[\w-]+))*$/,
      );
  });
});
