/** The first minutes with the built command, and what it says of itself. Needs `npm run build`. */
import { type ChildProcess, type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { COMMAND } from "./process.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bootproof-stranger-"));
// The command on the PATH, and no word of npm, which runs the tests.
const env = { ...process.env, npm_command: "", COLUMNS: "", PATH: `${folder}${delimiter}${process.env["PATH"] ?? ""}` };
writeFileSync(join(folder, "bootproof"), `#!/bin/sh\nexec '${process.execPath}' '${COMMAND}' "$@"\n`);
chmodSync(join(folder, "bootproof"), 0o755);

function built(...args: string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [COMMAND, ...args], { encoding: "utf8", env, input: "" });
}

/** What a project may have: no command of the lab's greeting may change it. */
const OWN = ["policy.json", "boot.json", "older.json", "trust-anchor.pem", "lab-policy.json", "lab-boot.json"];

function project(): string {
  const made = mkdtempSync(join(tmpdir(), "bootproof-project-"));
  for (const name of OWN) writeFileSync(join(made, name), "mine");
  return made;
}

/** Starts a lab by a line of a shell, and waits for its greeting. */
async function greeted(
  line: string,
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<[ChildProcess, string]> {
  const child = spawn("bash", ["-c", `exec ${line}`], {
    ...options,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8");
  for await (const more of child.stdout as AsyncIterable<string>) {
    text += more;
    if (text.includes("Ctrl-C ends it.")) break;
  }
  return [child, text];
}

/** As Ctrl-C does it: the lab, and the npx that started it. */
async function interrupted(child: ChildProcess): Promise<void> {
  const ended = new Promise((end) => child.once("exit", end));
  process.kill(-child.pid!, "SIGINT");
  await ended;
}

/** What a reader pastes: the indented lines behind the table of the lab's files. */
function commandsIn(greeting: string): string[] {
  const behind = greeting.slice(greeting.indexOf("In another terminal"));
  const lines = behind.replaceAll("\\\n", " ").split("\n");
  return lines.filter((line) => line.startsWith("  ")).map((line) => line.slice(2));
}

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

describe("the first minutes", () => {
  let lab: ChildProcess;
  let greeting = "";
  beforeAll(async () => {
    const [first] = /^ +(bootproof lab)$/m.exec(built().stdout)!.slice(1);
    [lab, greeting] = await greeted(first!, { env, cwd: project() });
  });
  afterAll(() => interrupted(lab));

  it("start with the help, which says where to go on", () => {
    const { status, stdout, stderr } = built();
    expect([status, stderr]).toEqual([2, ""]);
    expect(stdout).toContain("Start here; no account is needed.");
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it.skipIf(!hasCurl)("lead to a first VERIFIED and a first REJECTED, by what the lab says to type", () => {
    const cwd = project();
    const { stdout, stderr } = spawnSync("bash", ["-c", commandsIn(greeting).join("\necho ---\n")], {
      encoding: "utf8",
      env,
      cwd,
    });
    expect(readdirSync(cwd).sort()).toEqual(OWN.toSorted());
    for (const name of OWN) expect(readFileSync(join(cwd, name), "utf8")).toBe("mine");
    const firstLines = stdout.split("---\n").map((text) => /^[A-Za-z.{]+/.exec(text)?.[0] ?? "");
    expect(firstLines).toEqual([
      "",
      "",
      "good",
      "",
      "",
      "VERIFIED",
      "",
      "VERIFIED",
      "",
      "",
      "REJECTED",
      "policy.nonce",
      "",
      "VERIFIED",
      "",
      "{",
    ]);
    expect(stdout).toContain("policy.nonce");
    // What pin says of a policy that it has just made, and nothing else.
    expect(stderr).toMatch(/^These values come from the evidence itself/m);
    expect(stderr).not.toContain("bootproof: ");
  });
});

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
    ["in its data folder", project(), `mkdir data && cd data && exec node ${COMMAND} lab --data .`, /^\/\S+$/],
  ])("prints commands that run as they are: %s", async (_, cwd, line, program) => {
    const [lab, text] = await greeted(line.startsWith("mkdir") ? `bash -c '${line}'` : line, { env: bare, cwd });
    try {
      // The walk from a published release.
      const commands = commandsIn(text).slice(0, 6);
      expect(commands[0]).toMatch(/^cd /);
      expect(commands[2]!.slice(0, commands[2]!.indexOf(" policy "))).toMatch(program);
      // As pasted in any folder, in another shell.
      const script = ["set -e", ...commands].join("\n");
      const { status, stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8", env: bare, cwd: tmpdir() });
      expect([status, stdout]).toEqual([0, expect.stringMatching(/^VERIFIED/m) as string]);
      for (const name of OWN) expect(readFileSync(join(cwd, name), "utf8")).toBe("mine");
    } finally {
      await interrupted(lab);
    }
  });
});
