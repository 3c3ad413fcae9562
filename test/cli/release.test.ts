/** `bootproof policy check-releases`, on the genuine releases unpacked into a folder. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { decodeManifest } from "../../src/decode/manifest/index.js";
import { releaseOf, unpackReleases } from "../support/releases.js";
import { fileOf, scene } from "./support.js";
import { leastCostMs } from "../support/cost.js";

const ROOT = mkdtempSync(join(tmpdir(), "bootproof-releases-"));
const RELEASES = join(ROOT, "releases");
unpackReleases(RELEASES);
afterAll(() => rmSync(ROOT, { recursive: true, force: true }), 120_000);

const keys = (version: string): string[] =>
  decodeManifest(releaseOf(version).get("manifest")!).manifestSet.members.map(({ pubKey }) => toHex(pubKey));
const policyOf = (minNonce: number, version: string): string => {
  const manifestSet = { threshold: 2, members: keys(version) };
  const deployment = { name: "signer", namespace: "prod/signer", minNonce, manifestSet };
  return fileOf({ policy: "bootproof/1", deployments: [deployment] });
};

let copies = 0;
/** A copy of some releases, changed. */
function copyOf(names: readonly string[], change: (folder: string) => unknown): string {
  const folder = join(ROOT, `copy-${copies++}`);
  for (const name of names) cpSync(join(RELEASES, name), join(folder, name), { recursive: true });
  change(folder);
  return folder;
}

const nine = "2026.9.0/signer";
const secret = fileOf("secret");
const linkAt = (name: string): string =>
  copyOf([nine], (copy) => {
    rmSync(join(copy, nine, name), { force: true });
    symlinkSync(secret, join(copy, nine, name));
  });
const N = {
  ...{
    r: RELEASES,
    root: copyOf([], (copy) => mkdirSync(copy)),
    set: fileOf({ threshold: 2, members: keys("2026.1.1") }, "operators.json"),
  },
  ...{ policy: policyOf(20260404, "2026.4.4"), newer: policyOf(20260901, "2026.9.0"), none: fileOf({}), empty: "" },
  ...{ nobody: fileOf({ threshold: 1, members: [] }), approval: linkAt("x.approval"), link: linkAt("manifest.json") },
  notes: linkAt("notes.txt"),
  linked: copyOf([nine], (copy) => symlinkSync(RELEASES, join(copy, "2026.9.1"))),
  isLink: join(
    copyOf([nine], (copy) => symlinkSync(RELEASES, join(copy, "link"))),
    "link",
  ),
  large: copyOf([nine], (copy) => writeFileSync(join(copy, nine, "manifest"), Buffer.alloc(1024 * 1024 + 1))),
  inside: copyOf([nine], (copy) => mkdirSync(join(copy, nine, "x.approval"))),
  hollow: copyOf([nine], (copy) => mkdirSync(join(copy, "2026.9.1"))),
  ofFiles: copyOf([nine], (copy) => {
    for (const name of ["manifest", "x.approval"]) writeFileSync(join(copy, "2026.9.0", name), "x");
  }),
  nested: copyOf([], (copy) => cpSync(join(RELEASES, nine), join(copy, "2026.8.0", nine), { recursive: true })),
  readme: copyOf([nine], (copy) => {
    writeFileSync(join(copy, "README.md"), "x");
    mkdirSync(join(copy, "derived"));
    writeFileSync(join(copy, "derived", "x.borsh"), "x");
  }),
  bare: copyOf([nine], (copy) => mkdirSync(join(copy, "2026.9.0/ump"))),
  faulty: copyOf([nine], (copy) => {
    mkdirSync(join(copy, "2026.9.0/ump"));
    writeFileSync(join(copy, "2026.9.0/ump/manifest.json"), "{");
  }),
};
const { having, run, table, usage } = scene(N);
const check = "policy check-releases";

describe("policy check-releases", () => {
  const OLDER = / older 2026\.4\.3\/signer, nonce 20260403, .*approved by 3, 7 \(2 of 10 required\)/;
  const NOT_READ = "not read, part of no release: ";
  table([
    [`${check} $r --manifest-set $set --skip-unapproved`, 0, /^good: 31 good, 3 skipped /],
    [`${check} $r --policy $policy --app signer --skip-unapproved`, 0, /^good: 20 good, 8 older, 3 skipped /, OLDER],
    [`${check} $r --policy $policy --skip-unapproved`, 2, 'no deployment pins a manifestSet for the namespace "prod/'],
    [`${check} $r/2026.9.0/signer --policy $newer`, 1, /^not good: 1 older /],
    [`${check} $r/2026.9.0/signer $r/2026.9.1 --policy $newer`, 0, /^good: 1 good, 1 older /],
    [`${check} $r/2026.9.0 --no-manifest-set --namespace prod/signer --app signer`, 0],
    [`${check} $r/2026.9.0 --no-manifest-set --namespace prod/signer prod/ump --app signer ump`, 0],
    [
      `${check} $r/2026.9.0 --no-manifest-set --namespace prod/signer`,
      1,
      /^not good: 1 good, 3 bad /,
      'is a manifest of "prod/ump", which is not one of the demanded namespaces',
    ],
    [`${check} $r/2025.9.3 --no-manifest-set --skip-unapproved`, 1, /^not good: 1 skipped /],
    [`${check} $r/2025.9.3 --no-manifest-set`, 1, /^not good: 1 not checked /],
    // A version is one by its name, also with files of a release in it, and inside another version.
    [`${check} $ofFiles --no-manifest-set`, 0, /^good: 1 release .* good 2026\.9\.0\/signer, /, NOT_READ],
    [`${check} $ofFiles/2026.9.0 --no-manifest-set`, 0, NOT_READ, /2026\.9\.0\/manifest, .*2026\.9\.0\/x\.approval$/],
    [`${check} $nested/2026.8.0 --no-manifest-set`, 0, /^good: 1 release /],
    [`${check} $nested/2026.8.0 --no-manifest-set --skip-unapproved`, 0, /^good: 1 release /],
    [`${check} $readme --no-manifest-set`, 0, NOT_READ, /README\.md, .*derived$/],
    [`${check} $bare --no-manifest-set`, 1, /^not good: 1 good, 1 not checked /],
    [`${check} $bare --no-manifest-set --skip-unapproved`, 0, /^good: 1 good, 1 skipped /],
    [`${check} $faulty --no-manifest-set --skip-unapproved`, 1, /^not good: 1 good, 1 not checked /],
  ]);

  it("writes this of a version with its applications, and of one that is bad", async () => {
    const golden = (name: string): string => fileURLToPath(new URL(`golden/${name}`, import.meta.url));
    const good = await run(`${check} $r/2026.9.0 --no-manifest-set`, 0);
    await expect(good.stdout).toMatchFileSnapshot(golden("release-check.txt"));
    const it = copyOf(["2026.4.3/signer", "2026.4.4/signer", "2025.9.3/signer"], (copy) =>
      writeFileSync(join(copy, "2026.4.4/signer/3-prod-signer-20260404.approval"), "{}"),
    );
    const bad = await having({ it })(`${check} $it --manifest-set $set`, 1);
    await expect(bad.stdout).toMatchFileSnapshot(golden("release-check-bad.txt"));
  });

  it("answers as JSON", async () => {
    const { stdout } = await run(`${check} $r/2026.4.4/signer $r/2026.4.3 --no-manifest-set --format json`, 0);
    const changes = [{ what: "manifest-set.member", severity: "critical" }, {}, {}, {}, {}];
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ format: "bootproof-release-check/1", good: true, demand: "none" },
      counts: { good: 2, bad: 0, "not checked": 0, older: 0, skipped: 0 },
      histories: [
        {
          ...{ application: "signer", namespace: "prod/signer", newestNonce: 20260404 },
          releases: ["2026.4.3/signer", "2026.4.4/signer"],
          steps: [{ from: "2026.4.3/signer", changes }],
        },
      ],
      unknowable: [expect.stringContaining("cannot be noticed"), expect.stringContaining("only these files say")],
    });
  });

  it("shows each of two releases with one name with what is theirs", async () => {
    const [one, two] = ["2026.4.3", "2026.4.4"].map((version) =>
      copyOf([], (copy) => cpSync(join(RELEASES, version, "signer"), join(copy, "signer"), { recursive: true })),
    );
    const { stdout } = await having({ one: one!, two: two! })(`${check} $one $two --no-manifest-set`, 0);
    const shown = ["  good  signer, nonce 20260403", "  good  signer, nonce 20260404"];
    expect(stdout.match(/^ {2}good {2}signer, nonce \d+/gm)).toEqual(shown);
    expect(stdout.match(/^ {4}critical/gm)).toHaveLength(1);
  });

  usage(check, [
    ["$r --no-manifest-set --namespace", "--namespace"],
    ["$r --no-manifest-set --namespace prod/signer prod/signr", "prod/signr: no release of this namespace"],
    ["$r --no-manifest-set --app signer --namespace prod/ump", "prod/ump: no release of this namespace"],
    ["$r", "--manifest-set FILE, --policy FILE or --no-manifest-set is required"],
    ["$r --manifest-set $set --no-manifest-set", "cannot be used with"],
    ["$r --no-manifest-set --app signr", "signr: no release of this application"],
    ["$root --no-manifest-set", "no release in it"],
    ["$r --manifest-set $nobody", /threshold|members/],
    ["$r --manifest-set $none", /missing|expected/],
    ["--no-manifest-set", "FOLDER is required"],
    ["- --no-manifest-set", "expected a folder"],
    ["$approval --no-manifest-set", "signer/x.approval: is a symbolic link"],
    ["$link --no-manifest-set", "signer/manifest.json: is a symbolic link"],
    ["$notes --no-manifest-set", "signer/notes.txt: is a symbolic link"],
    ["$linked --no-manifest-set", "2026.9.1: is a symbolic link"],
    ["$isLink --no-manifest-set", "is a symbolic link"],
    ["$large --no-manifest-set", "signer/manifest: larger than 1 MiB"],
    ["$inside --no-manifest-set", "x.approval: is not a regular file"],
    ["$hollow --no-manifest-set", "2026.9.1: the version has no folder of an application"],
  ]);

  it("reads 43 releases of five applications in under two seconds", async () => {
    const names = [...Array(43).keys()].map((index) => `2027.${1 + Math.floor(index / 10)}.${index % 10}`);
    const it = copyOf([], (copy) => {
      for (const version of names)
        for (const app of ["signer", "notarizer", "ump", "evm-parser", "tls-fetcher"]) {
          const from = app === "tls-fetcher" ? "2026.7.0/signer" : `2026.9.0/${app}`;
          cpSync(join(RELEASES, from), join(copy, version, app), { recursive: true });
        }
    });
    const checkAll = async (): Promise<void> => {
      const { stdout } = await having({ it })(`${check} $it --no-manifest-set --format json`, 1);
      expect((JSON.parse(stdout) as { releases: unknown[] }).releases).toHaveLength(215);
    };
    expect(await leastCostMs(2000, checkAll)).toBeLessThan(2000);
  });
});
