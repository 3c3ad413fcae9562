/** `bootproof policy check-releases`, on the genuine releases unpacked into a folder. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { decodeManifest } from "../../src/decode/manifest/index.js";
import { releaseOf, unpackReleases } from "../support/releases.js";
import { bootproof, fileOf } from "./support.js";
import { leastCostMs } from "../support/cost.js";

const ROOT = mkdtempSync(join(tmpdir(), "bootproof-releases-"));
const RELEASES = join(ROOT, "releases");
unpackReleases(RELEASES);
afterAll(() => rmSync(ROOT, { recursive: true, force: true }), 120_000);

const keys = (version: string): string[] =>
  decodeManifest(releaseOf(version).get("manifest")!).manifestSet.members.map(({ pubKey }) => toHex(pubKey));
const SET = fileOf({ threshold: 2, members: keys("2026.1.1") }, "operators.json");
const golden = (name: string): string => fileURLToPath(new URL(`golden/${name}`, import.meta.url));

const check = (...args: string[]) => bootproof(["policy", "check-releases", ...args]);

let copies = 0;
/** A copy of some releases, changed. */
function copyOf(names: readonly string[], change: (folder: string) => void): string {
  const folder = join(ROOT, `copy-${copies++}`);
  for (const name of names) cpSync(join(RELEASES, name), join(folder, name), { recursive: true });
  change(folder);
  return folder;
}

describe("policy check-releases", () => {
  it("finds every genuine release good: 0, in text", async () => {
    const { code, stdout, stderr } = await check(RELEASES, "--manifest-set", SET, "--skip-unapproved");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^good: 31 good, 3 skipped\n/);
  });

  it("writes this of a version with its applications, and of one that is bad", async () => {
    const good = await check(join(RELEASES, "2026.9.0"), "--no-manifest-set");
    await expect(good.stdout).toMatchFileSnapshot(golden("release-check.txt"));
    const folder = copyOf(["2026.4.3/signer", "2026.4.4/signer", "2025.9.3/signer"], (copy) => {
      writeFileSync(join(copy, "2026.4.4/signer/3-prod-signer-20260404.approval"), "{}");
    });
    const bad = await check(folder, "--manifest-set", SET);
    expect(bad.code).toBe(1);
    await expect(bad.stdout).toMatchFileSnapshot(golden("release-check-bad.txt"));
  });

  it("answers as JSON", async () => {
    const { code, stdout } = await check(
      join(RELEASES, "2026.4.4/signer"),
      join(RELEASES, "2026.4.3"),
      "--no-manifest-set",
      "--format",
      "json",
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      format: "bootproof-release-check/1",
      good: true,
      demand: "none",
      counts: { good: 2, bad: 0, "not checked": 0, older: 0, skipped: 0 },
      histories: [
        {
          application: "signer",
          namespace: "prod/signer",
          releases: ["2026.4.3/signer", "2026.4.4/signer"],
          newestNonce: 20260404,
          steps: [
            {
              from: "2026.4.3/signer",
              changes: [{ what: "manifest-set.member", severity: "critical" }, {}, {}, {}, {}],
            },
          ],
        },
      ],
      unknowable: [expect.stringContaining("cannot be noticed"), expect.stringContaining("only these files say")],
    });
  });

  it("takes the sets of a policy, and the applications that are named", async () => {
    const set = { threshold: 2, members: keys("2026.4.4") };
    const deployment = { name: "signer", namespace: "prod/signer", minNonce: 20260404, manifestSet: set };
    const policy = fileOf({ policy: "bootproof/1", deployments: [deployment] });
    const { code, stdout } = await check(RELEASES, "--policy", policy, "--app", "signer", "--skip-unapproved");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^good: 20 good, 8 older, 3 skipped\n/);
    expect(stdout).toMatch(
      /\n {2}older {2}2026\.4\.3\/signer, nonce 20260403, .*approved by 3,\s+7 \(2\s+of 10 required\)\n/,
    );
    const all = await check(RELEASES, "--policy", policy, "--skip-unapproved");
    expect(all.code).toBe(2);
    expect(all.stderr).toMatch(
      /no deployment pins a manifestSet for the namespace "prod\/(?:evm-parser|notarizer|ump)"/,
    );
  });

  it("is 1 where every release is older than the policy's minNonce", async () => {
    const deployment = { name: "signer", namespace: "prod/signer", minNonce: 20260901 };
    const manifestSet = { threshold: 2, members: keys("2026.9.0") };
    const policy = fileOf({ policy: "bootproof/1", deployments: [{ ...deployment, manifestSet }] });
    const older = await check(join(RELEASES, "2026.9.0/signer"), "--policy", policy);
    expect([older.code, older.stderr]).toEqual([1, ""]);
    expect(older.stdout).toMatch(/^not good: 1 older\n/);
    const newer = await check(
      ...["2026.9.0/signer", "2026.9.1"].map((name) => join(RELEASES, name)),
      "--policy",
      policy,
    );
    expect(newer.code).toBe(0);
    expect(newer.stdout).toMatch(/^good: 1 good, 1 older\n/);
  });

  it("takes the namespaces that each release that --app leaves has to be of", async () => {
    const nine = join(RELEASES, "2026.9.0");
    const args = [nine, "--no-manifest-set", "--namespace"];
    expect((await check(...args, "prod/signer", "--app", "signer")).code).toBe(0);
    expect((await check(...args, "prod/signer", "prod/ump", "--app", "signer", "ump")).code).toBe(0);
    const { code, stdout } = await check(...args, "prod/signer");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^not good: 1 good, 3 bad\n/);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      'is a manifest of "prod/ump", which is not one of the demanded namespaces',
    );
  });

  it.each<[string, string[], RegExp]>([
    ["an empty namespace", [RELEASES, "--no-manifest-set", "--namespace", ""], /--namespace: empty/],
    ["a namespace that is none", [RELEASES, "--no-manifest-set", "--namespace"], /--namespace/],
    [
      "a namespace of no release",
      [RELEASES, "--no-manifest-set", "--namespace", "prod/signer", "prod/signr"],
      /prod\/signr: no release of this namespace/,
    ],
    [
      "a namespace of another application's releases",
      [RELEASES, "--no-manifest-set", "--app", "signer", "--namespace", "prod/ump"],
      /prod\/ump: no release of this namespace/,
    ],
    ["none of the three", [RELEASES], /--manifest-set FILE, --policy FILE or --no-manifest-set is required/],
    ["two of the three", [RELEASES, "--manifest-set", SET, "--no-manifest-set"], /exclude each other/],
    [
      "an application that is not there",
      [RELEASES, "--no-manifest-set", "--app", "signr"],
      /signr: no release of this application/,
    ],
    ["a folder without a release", [ROOT, "--no-manifest-set"], /no release in it/],
    ["an empty set", [RELEASES, "--manifest-set", fileOf({ threshold: 1, members: [] })], /threshold|members/],
    ["an empty file", [RELEASES, "--manifest-set", fileOf({})], /missing|expected/],
    ["no folder", ["--no-manifest-set"], /FOLDER is required/],
    ["stdin", ["-", "--no-manifest-set"], /expected a folder/],
  ])("%s is exit code 2", async (_, args, message) => {
    const { code, stdout, stderr } = await check(...args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });

  it("is not good where nothing was checked", async () => {
    const { code, stdout } = await check(join(RELEASES, "2025.9.3"), "--no-manifest-set", "--skip-unapproved");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^not good: 1 skipped\n/);
    expect((await check(join(RELEASES, "2025.9.3"), "--no-manifest-set")).stdout).toMatch(/^not good: 1 not checked\n/);
  });

  it("reads 43 releases of five applications in under two seconds", async () => {
    const names = [...Array(43).keys()].map((index) => `2027.${1 + Math.floor(index / 10)}.${index % 10}`);
    const folder = copyOf([], (copy) => {
      for (const version of names)
        for (const app of ["signer", "notarizer", "ump", "evm-parser", "tls-fetcher"]) {
          const from = app === "tls-fetcher" ? "2026.7.0/signer" : `2026.9.0/${app}`;
          cpSync(join(RELEASES, from), join(copy, version, app), { recursive: true });
        }
    });
    const checkAll = async (): Promise<void> => {
      const { code, stdout } = await check(folder, "--no-manifest-set", "--format", "json");
      expect(code).toBe(1);
      expect((JSON.parse(stdout) as { releases: unknown[] }).releases).toHaveLength(215);
    };
    expect(await leastCostMs(2000, checkAll)).toBeLessThan(2000);
  });
});

describe("two releases with one name", () => {
  it("are each shown with what is theirs", async () => {
    const folders = ["2026.4.3", "2026.4.4"].map((version) =>
      copyOf([], (copy) => cpSync(join(RELEASES, version, "signer"), join(copy, "signer"), { recursive: true })),
    );
    const { code, stdout } = await check(...folders, "--no-manifest-set");
    expect(code).toBe(0);
    expect(stdout.match(/^ {2}good {2}signer, nonce \d+/gm)).toEqual([
      "  good  signer, nonce 20260403",
      "  good  signer, nonce 20260404",
    ]);
    expect(stdout.match(/^ {4}critical/gm)).toHaveLength(1);
  });
});

describe("a folder that is refused, with the file's name", () => {
  const refused = async (folder: string, message: RegExp) => {
    for (const args of [["policy", "check-releases", folder, "--no-manifest-set"]]) {
      const { code, stdout, stderr } = await bootproof(args);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(message);
    }
  };
  const nine = "2026.9.0/signer";

  it("has a symbolic link, to a file or a folder", async () => {
    const secret = fileOf("secret");
    for (const name of ["x.approval", "manifest.json", "notes.txt"])
      await refused(
        copyOf([nine], (copy) => {
          rmSync(join(copy, nine, name), { force: true });
          symlinkSync(secret, join(copy, nine, name));
        }),
        new RegExp(`signer.${name.replace(".", "\\.")}: is a symbolic link`),
      );
    await refused(
      copyOf([nine], (copy) => symlinkSync(RELEASES, join(copy, "2026.9.1"))),
      /2026\.9\.1: is a symbolic link/,
    );
    const link = copyOf([nine], (copy) => symlinkSync(RELEASES, join(copy, "link")));
    await refused(join(link, "link"), /is a symbolic link/);
  });

  it("has a file that is too large", async () => {
    await refused(
      copyOf([nine], (copy) => writeFileSync(join(copy, nine, "manifest"), Buffer.alloc(1024 * 1024 + 1))),
      /signer.manifest: larger than 1 MiB/,
    );
  });

  it("has a folder in the place of a file, or a version without applications", async () => {
    await refused(
      copyOf([nine], (copy) => mkdirSync(join(copy, nine, "x.approval"))),
      /x\.approval: is not a regular file/,
    );
    await refused(
      copyOf([nine], (copy) => mkdirSync(join(copy, "2026.9.1"))),
      /2026\.9\.1: the version has no folder of an application/,
    );
  });

  it("is a version by its name, also with files of a release in it, and inside another version", async () => {
    const folder = copyOf([nine], (copy) => {
      for (const name of ["manifest", "x.approval"]) writeFileSync(join(copy, "2026.9.0", name), "x");
    });
    for (const path of [folder, join(folder, "2026.9.0")]) {
      const { code, stdout, stderr } = await check(path, "--no-manifest-set");
      expect(code).toBe(0);
      expect(stdout).toMatch(/^good: 1 release\n[^]*\n {2}good {2}2026\.9\.0\/signer, /);
      expect(stderr).toMatch(/^not read, part of no release: .*2026\.9\.0\/manifest, .*2026\.9\.0\/x\.approval\n$/);
    }
    const nested = copyOf([], (copy) =>
      cpSync(join(RELEASES, nine), join(copy, "2026.8.0", nine), { recursive: true }),
    );
    for (const more of [[], ["--skip-unapproved"]]) {
      const { code, stdout } = await check(join(nested, "2026.8.0"), "--no-manifest-set", ...more);
      expect([code, stdout.split("\n")[0]]).toEqual([0, "good: 1 release"]);
    }
  });

  it("is not one with a file that belongs to no release: that has a note", async () => {
    const folder = copyOf([nine], (copy) => {
      writeFileSync(join(copy, "README.md"), "x");
      mkdirSync(join(copy, "derived"));
      writeFileSync(join(copy, "derived", "x.borsh"), "x");
    });
    const { code, stderr } = await check(folder, "--no-manifest-set");
    expect(code).toBe(0);
    expect(stderr).toMatch(/^not read, part of no release: .*README\.md, .*derived\n$/);
    const empty = copyOf([nine], (copy) => mkdirSync(join(copy, "2026.9.0/ump")));
    expect((await check(empty, "--no-manifest-set")).stdout).toMatch(/^not good: 1 good, 1 not checked\n/);
    const skipped = await check(empty, "--no-manifest-set", "--skip-unapproved");
    expect([skipped.code, skipped.stdout.split("\n")[0]]).toEqual([0, "good: 1 good, 1 skipped"]);
    writeFileSync(join(empty, "2026.9.0/ump/manifest.json"), "{");
    const faulty = await check(empty, "--no-manifest-set", "--skip-unapproved");
    expect([faulty.code, faulty.stdout.split("\n")[0]]).toEqual([1, "not good: 1 good, 1 not checked"]);
  });
});
