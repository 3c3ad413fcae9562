/** How the findings are run before a release, by scripts that need no network; and that those there are can be told. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { ROOT } from "./tracked.mjs";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** What is written, and the exit code, for scripts by name. */
function run(scripts: Readonly<Record<string, string>>): { readonly status: number | null; readonly lines: string[] } {
  const folder = mkdtempSync(join(tmpdir(), "bootproof-findings-"));
  folders.push(folder);
  for (const [name, text] of Object.entries(scripts)) writeFileSync(join(folder, name), text);
  const command = [join(ROOT, "test/findings.mjs"), folder];
  const { status, stdout } = spawnSync(process.execPath, command, { encoding: "utf8" });
  return { status, lines: stdout.trimEnd().split("\n") };
}

const SAME = "echo seen\n";
const CHANGED = "echo 'a line that is new'\necho differ >&2\nexit 1\n";
const ABSENT = "echo 'npm error 404' >&2\nexit 77\n";

describe("a run of the findings", () => {
  it("passes where each sees what it says", () => {
    const lines = ["as it says: a.sh", "as it says: b.sh", "2 findings: 2 as it says, 0 changed, 0 not run"];
    expect(run({ "b.sh": SAME, "a.sh": SAME, "README.md": "" })).toEqual({ status: 0, lines });
  });

  it("fails where one changed, and shows what it saw", () => {
    const { status, lines } = run({ "a.sh": CHANGED, "b.sh": ABSENT, "c.sh": SAME });
    expect(status).toBe(1);
    expect(lines).toEqual([
      ...["changed: a.sh", "  a line that is new", "  differ", "  exit code 1"],
      ...["not run: b.sh", "  npm error 404", "as it says: c.sh"],
      "3 findings: 1 as it says, 1 changed, 1 not run",
    ]);
  });

  it("neither passes nor fails where a package cannot be had", () => {
    const { status, lines } = run({ "a.sh": ABSENT, "b.sh": SAME });
    expect([status, lines.at(-1)]).toEqual([77, "2 findings: 1 as it says, 0 changed, 1 not run"]);
  });

  it.each([
    ["a program is not there", "no-such-program\n", "exit code 127"],
    ["a signal ended it", "kill -9 $$\n", "SIGKILL"],
  ])("calls it changed where %s", (_, script, reason) => {
    const { status, lines } = run({ "a.sh": `set -eu\n${script}` });
    expect([status, lines[0], lines.at(-2)]).toEqual([1, "changed: a.sh", `  ${reason}`]);
  });

  it("fails where there are none", () => {
    expect(run({}).status).toBe(1);
  });
});

describe("findings", () => {
  const folder = join(ROOT, "findings");
  it.each(readdirSync(folder))("%s says what it saw, and tells a package that cannot be had from a change", (name) => {
    const text = readFileSync(join(folder, name), "utf8");
    expect(text.startsWith(`#!/bin/sh\n# ${name.replace(/\.sh$/, "")}: `)).toBe(true);
    const [, seen] = /^# Seen:\n((?:# {3}.*\n)+)# Exits with 1 if it sees anything else\./m.exec(text)!;
    const [, expected] = /^cat > expected <<'END'\n([^]*?)END\ncmp seen expected\n$/m.exec(text)!;
    expect(seen!.replaceAll(/^# {3}/gm, "")).toBe(expected);
    const got = text.match(/^ *(?:npm install|apt-get) (?:.*\\\n)*.*\n(?: +exit 77\n)?/gm)!;
    for (const command of got) expect(command).toMatch(/\|\|\s+exit 77\n$/);
  });
});
