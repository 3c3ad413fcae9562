/** What goes where: stdout, stderr, the file of --out, and the exit code (docs/cli.md, "What goes where"). */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { APP_1, BOOT_1, bootproof, fileOf, readJson, refused, scene } from "./support.js";

const PAIR = ["verify", "--boot-proof", BOOT_1, "--app-proof", APP_1];
const POLICY = fileOf((await bootproof(["pin", "--boot-proof", BOOT_1])).stdout);
const [deployment] = readJson(POLICY)["deployments"] as object[];
const OTHER = fileOf({ ...readJson(POLICY), deployments: [{ ...deployment, pivotHash: "00".repeat(32) }] });

/** A verification with each end: its words, the exit code, and what a brief verdict or a message says. */
const ENDS = {
  good: [[...PAIR, "--policy", POLICY], 0, /^VERIFIED with 3 warnings: /],
  rejected: [[...PAIR, "--policy", OTHER], 1, /^REJECTED: [^]*\bpolicy\.[a-z-]+\b[^]*:\s/],
  error: [["verify", "--boot-proof", "nowhere.json", "--policy", POLICY], 2, /^bootproof: nowhere\.json: no such file/],
} as const;
type End = keyof typeof ENDS;

/** How the report of each format begins, and the error document in its place; null where there is none. */
const FORMATS = {
  text: [/^(?:VERIFIED|REJECTED)/, null],
  json: [/^\{\n {2}"format": "bootproof-report\/1"/, /"format": "bootproof-error\/1"/],
  junit: [/^<\?xml [^]*errors="0"/, /^<\?xml [^]*errors="1"/],
  sarif: [/"executionSuccessful": true/, /"executionSuccessful": false/],
  github: [/^::(?:notice|error) title=bootproof::(?:VERIFIED|REJECTED)/, /^::error title=bootproof::/],
  html: [/^<!DOCTYPE html>/i, /<title>NOT VERIFIED/],
  markdown: [/^## (?:VERIFIED|REJECTED)/, /^## NOT VERIFIED\n/],
  vsa: [/"predicateType"/, null],
  ear: [/^eyJ/, null],
} as const;
type Format = keyof typeof FORMATS;

const OLDER = "the green report of yesterday\n";
function olderReport(): string {
  const path = join(mkdtempSync(join(tmpdir(), "bootproof-streams-")), "report.txt");
  writeFileSync(path, OLDER);
  return path;
}

/** A terminal matters to text alone, and formats differ in whether they have an error document. */
const WHOLE = ["text", "json", "vsa"];
const CASES = (Object.keys(FORMATS) as Format[])
  .filter((format) => format !== "html")
  .flatMap((format) =>
    (format === "text" || format === "json" ? [true, false] : [false]).flatMap((isTTY) =>
      (Object.keys(ENDS) as End[]).flatMap((end) =>
        (WHOLE.includes(format) ? [false, true] : [false]).flatMap((quiet) =>
          (WHOLE.includes(format) ? [false, true] : [true]).map((toFile) => ({ format, isTTY, end, quiet, toFile })),
        ),
      ),
    ),
  );

describe("each combination of format, terminal, verdict, --quiet and --out", () => {
  it.each(CASES)("$format, terminal $isTTY, $end, quiet $quiet, file $toFile", async (row) => {
    const { format, isTTY, end, quiet, toFile } = row;
    const [argv, exitCode, says] = ENDS[end];
    const [report, document] = FORMATS[format];
    const path = olderReport();
    const options = [...(quiet ? ["--quiet"] : []), ...(toFile ? ["--out", path] : [])];
    const surroundings = { isTTY, columns: 200, env: { NO_COLOR: "1" } };
    const { code, stdout, stderr } = await bootproof([...argv, "--format", format, ...options], surroundings);
    expect(code).toBe(exitCode);

    const begins = end === "error" ? document : report;
    const isText = format === "text" && !toFile;
    const isDropped = begins === null || (quiet && isText);
    const place = toFile && existsSync(path) ? readFileSync(path, "utf8") : "";
    expect(toFile ? place : stdout).toMatch(isDropped ? /^$/ : begins);
    expect(toFile ? stdout : readFileSync(path, "utf8")).toBe(toFile ? "" : OLDER);
    if (toFile && begins === null) expect(existsSync(path)).toBe(false);

    const isOnStderr = end === "good" ? !isText && !quiet : end === "error" || !isText || quiet || !isTTY;
    const own = stderr.replace(/^(?:warning: .*\n?)+/, "").replace(/^bootproof: .*: removed the report .*\n/m, "");
    expect(own).toMatch(isOnStderr ? says : /^$/);
    expect(own.trimEnd().split("\n").length).toBeLessThanOrEqual(6);
  });
});

describe("a verdict that is not accepted", () => {
  it("is on stderr in at most six lines, with the warnings for which it is refused, also with --quiet", async () => {
    const argv = [...ENDS.good[0], "--fail-on-warning"];
    const [{ stderr: beside }, { code, stdout, stderr }] = await Promise.all([
      bootproof(argv, { columns: 40 }),
      bootproof([...argv, "--quiet"], { columns: 40 }),
    ]);
    expect([code, stdout, stderr.trimEnd().split("\n").length]).toEqual([1, "", 6]);
    expect(stderr).toMatch(/^REFUSED with 3 warnings: [^]*\nWARNING /);
    expect(beside).toBe(stderr);
  });

  it("is on stderr also where the report cannot be written", async () => {
    const path = join(olderReport(), "..", "x".repeat(240));
    const { code, stderr } = await bootproof([...ENDS.rejected[0], "--out", path]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^REJECTED: [^]*\nbootproof: /)]);
  });
});

describe("a report in a file", () => {
  it("is the whole text, without colours and of 80 columns, whatever the terminal is", async () => {
    const path = olderReport();
    await bootproof([...ENDS.good[0], "--out", path], {
      isTTY: true,
      columns: 120,
      rows: 24,
      env: { FORCE_COLOR: "1" },
    });
    const text = readFileSync(path, "utf8");
    expect(text).toBe((await bootproof(ENDS.good[0], { env: { LINES: "9999" } })).stdout);
  });

  it("is in its format of any name, and in the format of the command line, not of the name", async () => {
    const path = `${olderReport()}.json`;
    await bootproof([...ENDS.good[0], "--out", path, "--format", "junit"]);
    expect(readFileSync(path, "utf8")).toMatch(/^<\?xml/);
    expect((await bootproof([...ENDS.good[0], "--out", "-"])).stdout).toMatch(/^VERIFIED/);
  });

  it.each([
    "--frmat",
    "--boot-proof $boot",
    "--boot-proof $boot --no-policy --now yesterday",
    "--help --no-policy",
    "--boot-proof $boot --no-policy --format jnuit",
    "--boot-proof $boot --no-policy --out elsewhere",
  ])("of an earlier run is not left where the command line is wrong: %s", async (wrong) => {
    for (const spelled of ["--out $path", "--out=$path"]) {
      const path = olderReport();
      const says = "bootproof: $path: removed the report of an earlier run";
      await scene({ path, boot: BOOT_1 }).run(`verify ${spelled} ${wrong}`, 2, says);
      expect(existsSync(path)).toBe(false);
    }
  });

  it("is the error document there, whatever else is wrong", async () => {
    const path = olderReport();
    await bootproof(["verify", "--out", path, "--frmat", "--format", "json"]);
    expect(readJson(path)).toMatchObject({ format: "bootproof-error/1", exitCode: 2 });
  });

  it("of an earlier run is removed where the error document cannot be written", async () => {
    const path = join(olderReport(), "..", "x".repeat(240));
    writeFileSync(path, OLDER);
    const { code, stdout } = await bootproof([...ENDS.error[0], "--out", path, "--format", "json"]);
    expect([code, stdout, existsSync(path)]).toEqual([2, "", false]);
  });

  it("is what a link leads to, and the link stays", async () => {
    const path = olderReport();
    symlinkSync(path, `${path}.link`);
    expect((await bootproof([...ENDS.good[0], "--out", `${path}.link`])).code).toBe(0);
    expect(readFileSync(path, "utf8")).toMatch(/^VERIFIED/);
    await bootproof([...ENDS.error[0], "--out", `${path}.link`]);
    expect(existsSync(path)).toBe(false);
  });

  it.each([
    "verify --boot-proof $copy --no-policy --out $copy",
    "verify $copy --no-policy --out $copy",
    "verify --boot-proof=$copy --no-policy --out=$same --format=json",
    "pin --boot-proof $copy --out $copy --force",
    "verify --boot-proof $copy --no-policy --out $same --frmat",
    "bundle --boot-proof $copy --no-policy --out $same",
    "verify --boot-proof $copy --no-policy --out $copy.link --frmat",
  ])("is never an input, which stays as it is: %s", async (line) => {
    const copy = fileOf(readFileSync(BOOT_1, "utf8"));
    symlinkSync(copy, `${copy}.link`);
    const says = line.endsWith("--frmat") ? "--frmat" : "is also an input, and would be overwritten";
    await scene({ copy, same: `${copy}/../${copy.split("/").at(-1)!}` }).run(line, 2, says);
    expect(readFileSync(copy, "utf8")).toBe(readFileSync(BOOT_1, "utf8"));
  });

  it("is not made in the place of an input that is not there", async () => {
    const path = `${olderReport()}.json`;
    await refused(2, bootproof(["verify", "--boot-proof", path, "--no-policy", "--out", path, "--format", "json"]));
    expect(existsSync(path)).toBe(false);
  });

  it("is refused, with the other faults, where it cannot be written", async () => {
    const path = olderReport();
    // Not a device of the machine, which a fault would remove where the test runs as root.
    const pipe = `${path}.pipe`;
    execFileSync("mkfifo", [pipe]);
    for (const out of [join(path, ".."), pipe, join(path, "x"), ""])
      await refused(2, bootproof(["verify", "--boot-proof", BOOT_1, "--out", out]), "--out", "--no-policy is required");
    expect([existsSync(path), statSync(pipe).isFIFO()]).toEqual([true, true]);
  });

  it("that cannot be removed is named", async () => {
    const path = olderReport();
    chmodSync(path, 0o400);
    const { code, stderr } = await bootproof([...ENDS.error[0], "--out", path]);
    // Root may write to any file.
    const isRoot = process.getuid?.() === 0;
    expect([code, existsSync(path)]).toEqual([2, !isRoot]);
    expect(stderr).toContain(
      `bootproof: ${path}: ${isRoot ? "removed" : "the report of an earlier run is still there"}`,
    );
  });
});

describe("bundle --out", () => {
  const bundle = (policy: string, out: string): ReturnType<typeof bootproof> =>
    bootproof(["bundle", ...PAIR.slice(1), "--policy", policy, "--out", out, "--force"]);

  it("writes what goes to stdout otherwise, and the verdict to stderr", async () => {
    const path = olderReport();
    const { code, stdout, stderr } = await bundle(POLICY, path);
    expect([code, stdout, stderr]).toEqual([0, "", expect.stringMatching(ENDS.good[2])]);
    expect(readFileSync(path, "utf8")).toBe((await bootproof(["bundle", ...PAIR.slice(1), "--policy", POLICY])).stdout);
  });

  it("leaves the older file where nothing is packed", async () => {
    const path = olderReport();
    for (const [policy, exitCode] of [
      [OTHER, 1],
      ["nowhere.json", 2],
    ] as const)
      expect([(await bundle(policy, path)).code, readFileSync(path, "utf8")]).toEqual([exitCode, OLDER]);
    mkdirSync(`${path}.folder`);
    await refused(2, bundle(POLICY, `${path}.folder`), "a directory, not a file");
  });
});
