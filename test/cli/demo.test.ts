/** The demo: a genuine pair of the package's own, and a copy with one changed byte. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { ORIGIN } from "../../src/cli/demo-evidence.js";
import { parsePolicy } from "../../src/appraise/policy.js";
import { APP_1, BOOT_1, bootproof, refused, vector } from "./support.js";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "bootproof-of-demo-"));
const folder = join(newFolder(), "demo folder");
const { code, stdout, stderr } = await bootproof(["demo", "--out", folder], { now: "2031-01-01T00:00:00Z" });
const flat = stdout.replace(/\s+/g, " ");

describe("the demo", () => {
  it("shows a genuine pair verified at the time of its capture, and says so, whatever the clock says", () => {
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.match(/^(?:VERIFIED|REJECTED)/gm)).toEqual(["VERIFIED", "REJECTED"]);
    expect(flat).toContain("Both are verified as of 2025-09-16T21:40:00Z, when they were captured");
    expect(flat).toContain("verified at 2025-09-16T21:40:00.000Z by bootproof");
  });

  it("has the pair of the vectors, byte by byte, and says where it was published", () => {
    const [line] = readFileSync(vector("PROVENANCE.tsv"), "utf8").match(/^boot-proofs\/bootproof-1\.json\t.*/m)!;
    expect(line.split("\t").slice(1, 4)).toEqual(ORIGIN);
    expect(flat).toContain(`https://github.com/${ORIGIN[0]}`);
    expect(readFileSync(join(folder, "boot-proof.json"))).toEqual(readFileSync(BOOT_1));
    expect(readFileSync(join(folder, "app-proof.json"))).toEqual(readFileSync(APP_1));
  });

  it("explains each warning by a sentence of its own", () => {
    const warnings = flat.match(/WARNING .*?(?= WARNING | This enclave )/g)!;
    const [, list] = /\nWhat the warnings mean\n([^]*?)\n\n/.exec(stdout)!;
    const meanings = list!.replace(/\n {4}/g, " ").split("\n");
    expect([warnings.length, meanings.length]).toEqual([3, 3]);
    for (const meaning of meanings) expect(meaning).toMatch(/^ {2}- [A-Z].*\.$/);
    expect(list).not.toContain("the deployment ");
  });

  it("says first what the app proof says, since nothing else is about an address", () => {
    expect(stdout).toMatch(/\nProven\n {2}- The address 0xb84b4730Cd81Bc82Ee6B1dE6c343Ebd7928138DC was derived for/);
  });

  it("changes one byte, and shows the check that fails", () => {
    const [one, other] = ["app-proof.json", "changed-app-proof.json"].map((name) => readFileSync(join(folder, name)));
    expect(one!.length).toBe(other!.length);
    expect([...one!].filter((byte, index) => byte !== other![index])).toHaveLength(1);
    expect(flat).toContain("REJECTED: nothing is proven. One check failed: app.signature");
    expect(stdout).toMatch(/^FAIL {2}app\.signature /m);
  });

  it("prints commands for the same by hand, one a line, in the folder that it names", () => {
    const lines = stdout.trimEnd().split("\n");
    const commands = lines.slice(lines.findLastIndex((line) => line === "") + 1);
    expect(commands[0]).toBe(`cd '${folder}'`);
    expect(commands.slice(1).map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
      "bootproof pin",
      "bootproof verify",
      "sed s/8138DC/8138DD/",
      "bootproof verify",
      "bootproof explain",
    ]);
    expect(readdirSync(folder).sort()).toEqual([
      "app-proof.json",
      "boot-proof.json",
      "changed-app-proof.json",
      "policy.json",
    ]);
    expect(parsePolicy(readFileSync(join(folder, "policy.json"), "utf8")).deployments).toHaveLength(1);
  });

  it("makes a folder of its own without --out", async () => {
    const shown = await bootproof(["demo"]);
    const [, made] = /^cd (\S+)$/m.exec(shown.stdout)!;
    expect([shown.code, readdirSync(made!)]).toEqual([0, readdirSync(folder)]);
    expect(made).toMatch(/bootproof-demo-/);
    rmSync(made!, { recursive: true });
  });

  it("says that the folder of temporary files is not there", async () => {
    vi.stubEnv("TMPDIR", join(folder, "gone"));
    try {
      await refused(2, bootproof(["demo"]), "there is no such folder");
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("refuses a folder with files, a file, and other words", async () => {
    expect(await bootproof(["demo", "--out", folder], { now: "2031-01-01T00:00:00Z" })).toMatchObject({ code, stdout });
    writeFileSync(join(folder, "policy.json"), "{}");
    await refused(2, bootproof(["demo", "--out", folder]), "the folder has other files: name a new one");
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    await refused(2, bootproof(["demo", "--out", file]), "a file, not a folder");
    await refused(2, bootproof(["demo", "--out", ""]), "--out: empty");
    await refused(2, bootproof(["demo", "more"]), "too many arguments");
  });
});
