/** Completion: what the program answers to the shells, and what bash makes of it. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { CHECK_IDS } from "../../src/checks.js";
import { APPLICATION_FAULTS, AUTH_FAULTS, FAULTS, FEED_FAULTS } from "../../src/lab/faults.js";
import { REPORT_FORMATS } from "../../src/report/report.js";
import { COMMITMENT_KINDS } from "../../src/verify/commitment.js";
import { optionsOfCommands } from "./commands.js";
import { bootproof, refused } from "./support.js";

/** The lines for the words, the last of which is at the cursor. */
async function lines(...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await bootproof(["__complete", ...words]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.split("\n").slice(0, -1);
}

const offered = async (...words: string[]): Promise<string[]> =>
  (await lines(...words)).map((line) => line.split("\t")[0]!);

describe("completion", () => {
  it.each([
    [["tcsh"], "tcsh: expected one of bash, zsh, fish"],
    [["toString"], "toString: expected one of bash, zsh, fish"],
    [[], "SHELL is required: bash, zsh, fish"],
  ])("is of three shells: not %j", (args, said) => refused(2, bootproof(["completion", ...args]), said));

  it("says for each shell how it is installed", async () => {
    const { stdout } = await bootproof(["completion", "--help"]);
    expect(stdout).toContain('eval "$(bootproof completion bash)"');
    expect(stdout).toContain('eval "$(bootproof completion zsh)"');
    expect(stdout).toContain("bootproof completion fish > ~/.config/fish/completions/bootproof.fish");
  });

  it.each([
    [["ver"], ["verify"]],
    [["verify", "--tr"], ["--trust-anchor"]],
    [["verify", "--no-"], ["--no-policy"]],
    [["verify", "--format", ""], [...REPORT_FORMATS]],
    [["verify", "--format", "js"], ["json"]],
    [["verify", "--format=js"], ["--format=json"]],
    // As bash splits it.
    [["verify", "--format", "=", "js"], ["json"]],
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
    [
      ["lab", "--fault", ""],
      [...FAULTS, ...AUTH_FAULTS, ...FEED_FAULTS, ...APPLICATION_FAULTS].map(({ name }) => name),
    ],
    [["lab", "--fault", "stale-m"], ["stale-manifest"]],
    [["lab", "--fault", "stale-manifest", "stale-m"], ["stale-manifest"]],
    [["help", "ver"], ["verify"]],
    [["policy", "cos"], ["cosign"]],
    [["policy", "sign", "--sig"], ["--signers"]],
    [["help", "policy", "cos"], ["cosign"]],
    [["key", "new", "--type", "ed"], ["ed25519"]],
    // The user's own.
    [["verify", "--nonce", ""], []],
    [["verify", "--policy", ""], ["@files"]],
    [["verify", "--boot-proof", "a.json", ""], ["@files"]],
    [["inspect", ""], ["@files"]],
    [["verify", ""], ["@files"]],
    [["lab", "--data", ""], ["@folders"]],
    // The value of an option is not a command and no option.
    [["verify", "--policy", "pin", "--all"], ["--allow-debug"]],
    [["verify", "--format", "json", "--tr"], ["--trust-anchor"]],
    [["verify", "--format=json", "--tr"], ["--trust-anchor"]],
    [["verify", "--boot-proof", "a.json", "--tr"], ["--trust-anchor"]],
    // Behind --, there are files alone.
    [["verify", "--", "--po"], ["@files"]],
  ])("answers %j", async (words, answer) => {
    expect(await offered(...words)).toEqual(answer);
  });

  it("offers every command and check", async () => {
    expect(await offered("")).toEqual(expect.arrayContaining(["verify", "pin", "audit", "completion", "help"]));
    expect(await offered("explain", "")).toEqual(expect.arrayContaining([...CHECK_IDS]));
  });

  it("offers every option that the help shows, with what it is, and none that the help hides", async () => {
    const all = await optionsOfCommands();
    for (const command of new Set(all.map((option) => option.command))) {
      const own = all.filter((option) => option.command === command);
      const answer = await lines(...command.split(" "), "-");
      for (const { name, isShown } of own)
        expect([name, answer.some((line) => line.startsWith(`${name}\t`))]).toEqual([name, isShown]);
    }
  });

  it("knows of every value whether it is a file, one of certain words, or the user's own", async () => {
    const unknown = new Set<string>();
    for (const { command, name, takesValue } of await optionsOfCommands()) {
      const words = [...command.split(" "), name, ""];
      if (takesValue && (await offered(...words)).length === 0) unknown.add(name);
    }
    const OF_THE_USER =
      "activity-id address app app-proof-type base-url challenge deployment-id entry-timeout ephemeral-key head " +
      "heartbeat instance-id interval limit max-accounts max-age max-gap max-silence metrics name namespace nonce " +
      "now on-outage on-refusal organization-id origin outage-after outage-repeat parent-organization-id payload " +
      "policy-refresh port public-key queue queue-prefix quorum-key repository role-arn signature signer-key tenant " +
      "timeout title tolerance upstream user-id valid wallet workers";
    expect([...unknown].map((name) => name.slice(2)).sort()).toEqual(OF_THE_USER.split(" "));
  });
});

const folder = mkdtempSync(join(tmpdir(), "bootproof-completion-"));
mkdirSync(join(folder, "some folder"));
for (const file of ["my policy.json", "boot.json"]) writeFileSync(join(folder, file), "{}");

function run(command: string, args: readonly string[], input = ""): SpawnSyncReturns<string> {
  return spawnSync(command, args, { encoding: "utf8", cwd: folder, input, env: { ...process.env, TERM: "dumb" } });
}

const has = (shell: string): boolean => run(shell, ["--version"]).status === 0;
/** Stands for the program: it answers these words, and prints all others. */
const PROGRAM = `bootproof() {
  case "$*" in
    "__complete ver") printf 'verify\\twhat it is\\n' ;;
    "__complete verify --format js"|"__complete verify --format = js") echo json ;;
    "__complete verify --policy my"*) echo json-of-its-own >&2; echo @files ;;
    "__complete verify --policy my policy.json --form") echo --format ;;
    "__complete lab --data so") echo @folders ;;
    "__complete"*) echo @files ;;
    *) printf got; printf '<%s>' "$@"; echo ;;
  esac
}
`;

describe("a shell", () => {
  beforeAll(async () => {
    for (const shell of ["bash", "zsh", "fish"])
      writeFileSync(join(folder, `completion.${shell}`), (await bootproof(["completion", shell])).stdout);
  });

  it("bash offers what the program answers, without what it is", () => {
    const asked = [["ver"], ["verify", "--format", "=", "js"], ["verify", "--policy", "my"]].map((words) => {
      const quoted = ["bootproof", ...words].map((word) => `'${word}'`).join(" ");
      return `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _bootproof; echo "\${COMPREPLY[@]}"`;
    });
    const script = [PROGRAM, "source completion.bash", ...asked].join("\n");
    const { status, stdout, stderr } = run("bash", ["--norc", "-c", script]);
    expect([status, stdout, stderr]).toEqual([0, "verify\njson\n\n", ""]);
  });

  it.skipIf(!has("script"))("bash completes words, and files with spaces in their names, at a terminal", () => {
    const typed = [
      "PS1=",
      "bind 'set bell-style none'",
      "source completion.bash",
      ...PROGRAM.split("\n"),
      "bootproof ver\t--policy my\t--format js\t",
      'bootproof verify --boot-proof my\tboo\t --policy "my\t',
      "bootproof lab --data so\t",
      "exit",
      "",
    ].join("\n");
    const { stdout } = run("script", ["-qec", "bash --norc --noprofile -i", "/dev/null"], typed);
    const got = stdout.split(/\r?\n/).filter((line) => /^got</.test(line));
    expect(got).toEqual([
      "got<verify><--policy><my policy.json><--format><js>",
      "got<verify><--boot-proof><my policy.json><boot.json><--policy><my policy.json>",
      "got<lab><--data><some folder/>",
    ]);
  });

  // Both complete in a terminal only, and are installed on few machines.
  it.skipIf(!has("zsh"))("zsh reads its script", () => {
    const { status, stderr } = run("zsh", ["-f", "-c", "compdef() { :; }; source ./completion.zsh"]);
    expect([status, stderr]).toEqual([0, ""]);
  });

  it.skipIf(!has("fish"))("fish offers what the program answers", () => {
    const program = "function bootproof; printf 'verify\\twhat it is\\n'; end";
    const script = `${program}; source completion.fish; complete -C 'bootproof ver'`;
    const { stdout, stderr } = run("fish", ["--no-config", "-c", script]);
    expect([stdout, stderr]).toEqual(["verify\twhat it is\n", ""]);
  });
});
