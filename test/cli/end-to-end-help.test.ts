/** What the lab of the built command prints to paste, however it was started. Needs `npm run build`. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { COMMAND, Process } from "./process.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** What a project may have: no command of the lab's greeting may change it. */
const OWN = ["policy.json", "boot.json", "older.json", "trust-anchor.pem", "lab-policy.json", "lab-boot.json"];

function project(): string {
  const made = mkdtempSync(join(tmpdir(), "bootproof-project-"));
  for (const name of OWN) writeFileSync(join(made, name), "mine");
  return made;
}

/** What a reader pastes: the indented lines behind the table of the lab's files. */
function commandsIn(greeting: string): string[] {
  const behind = greeting.slice(greeting.indexOf("In another terminal"));
  const lines = behind.replaceAll("\\\n", " ").split("\n");
  return lines.filter((line) => line.startsWith("  ")).map((line) => line.slice(2));
}

describe("a lab that was started in another way", () => {
  const PATH = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((one) => one !== "" && !existsSync(join(one, "bootproof")))
    .join(delimiter);
  const bare = { ...process.env, PATH, npm_command: "", COLUMNS: "" };

  /** A project that has the package installed, as npm does it. */
  function installed(): string {
    const made = project();
    mkdirSync(join(made, "node_modules", ".bin"), { recursive: true });
    symlinkSync(ROOT, join(made, "node_modules", "bootproof"));
    symlinkSync(COMMAND, join(made, "node_modules", ".bin", "bootproof"));
    return made;
  }

  it.each([
    ["by npx in a project", installed(), "npx bootproof lab", /^\/\S+\/node_modules\/\.bin\/bootproof$/],
    ["by node and its file", project(), `node ${COMMAND} lab --data "the data"`, /^\/\S+bootproof\.cjs$/],
    ["in its data folder", project(), `mkdir data && cd data && node ${COMMAND} lab --data .`, /^\/\S+$/],
  ])("prints commands that run as they are: %s", async (_, cwd, line, program) => {
    const lab = new Process([], { shell: line, env: bare, cwd, detached: true });
    try {
      await lab.until(() => lab.stdout.includes("Ctrl-C ends it."));
      // The walk from a published release.
      const commands = commandsIn(lab.stdout).slice(0, 6);
      expect(commands[0]).toMatch(/^cd /);
      expect(commands[2]!.slice(0, commands[2]!.indexOf(" policy "))).toMatch(program);
      // As pasted in any folder, in another shell.
      const script = ["set -e", ...commands].join("\n");
      const { status, stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8", env: bare, cwd: tmpdir() });
      expect([status, stdout]).toEqual([0, expect.stringMatching(/^VERIFIED/m) as string]);
      for (const name of OWN) expect(readFileSync(join(cwd, name), "utf8")).toBe("mine");
    } finally {
      // As Ctrl-C does it: the lab, and the npx that started it.
      process.kill(-lab.child.pid!, "SIGINT");
      await lab.ended;
    }
  });
});
