import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { APP_1, BOOT_1, BOOT_2, bootproof, fileOf, scene, vector } from "./support.js";

const POLICY = fileOf((await bootproof(["pin", "--boot-proof", BOOT_1])).stdout);
const policy = JSON.parse(readFileSync(POLICY, "utf8")) as { readonly deployments: object[] };
const RELEASE = vector("releases/r2025.9.3.yaml");
const release = readFileSync(RELEASE, "utf8");
const { anchorPem } = forgeEvidence({ lab: new Forge(), at: new Date("2026-03-04T05:06:07.000Z") });
const named = labPolicy("", [labDeployment(new Forge())]);

const N = {
  ...{
    boot: BOOT_1,
    boot2: BOOT_2,
    app: APP_1,
    policy: POLICY,
    release: RELEASE,
    open: fileOf("{"),
    text: fileOf("hello"),
  },
  edited: fileOf({ ...policy, allowDebug: true }),
  another: fileOf({ ...policy, deployments: [{ ...policy.deployments[0], namespace: "another" }] }),
  malformed: fileOf({ ...policy, deployment: [] }),
  next: fileOf(release.replace("version: r2025.9.3", "version: r2025.9.4").replace("3aeeccb9", "00000000"), "r.yaml"),
  yaml: fileOf("version: 1\na:\n  appBinaryDigest: [\n", "bad.yaml"),
  // Beside the policy.
  byName: fileOf({ ...named, trustAnchors: [{ file: basename(fileOf(anchorPem)) }] }),
  inside: fileOf({ ...named, trustAnchors: [{ pem: anchorPem }] }),
};
const { run, table } = scene(N);

describe("diff", () => {
  table([
    ["diff $boot $boot2", 1, /^different: 1 notable, 7 minor NOT VERIFIED: /],
    ["diff $boot $boot", 0, /^same /],
    ["diff $boot - < $boot2", 1, /^different: 1 notable, 7 minor NOT VERIFIED: /],
    ["diff - $boot2 < $boot2", 0],
    ["diff $policy $boot", 0, /^same: every pin holds /],
    ["diff $boot $another", 1, /^different: 1 of \d+ pins do not hold NOT VERIFIED: .* DIFFERS namespace: /],
    ["diff $release $release", 0],
    ["diff $byName $inside", 1, /^different: 2 minor /],
    // The faults of both files are told together.
    ["diff $app missing", 2, "this is an app proof; what can be compared: boot proof, ", "missing: no such file"],
    ["diff $release $policy", 2, "a published release and a policy cannot be compared", "!unexpected"],
    ["diff $policy $malformed", 2, "deployment: unknown member", "!unexpected"],
    ["diff $policy $open", 2, "not strict JSON", "!unexpected"],
    ["diff $release $yaml", 2, "not YAML", "!unexpected"],
    ["diff $policy $text", 2, "not recognised", "!unexpected"],
    ["diff $policy", 2, "B is required: the new file"],
    ["diff $policy $policy $policy", 2, "too many arguments"],
    ["diff - -", 2, "only one file can be - (stdin)"],
    ["diff $policy $policy --format yaml", 2, "--format yaml: expected one of text, json"],
  ]);

  it("answers as JSON", async () => {
    const json = async (line: string, code: number): Promise<unknown> =>
      JSON.parse((await run(`diff ${line} --format json`, code)).stdout);
    const pins = { nearest: { holds: true }, others: [] };
    expect(await json("$policy $boot", 0)).toMatchObject({ same: true, pins });
    const debug = {
      what: "policy.allow-debug",
      severity: "critical",
      place: "allowDebug",
      before: "false",
      after: "true",
    };
    expect(await json("$policy $edited", 1)).toMatchObject({
      ...{ format: "bootproof-diff/1", "NOT VERIFIED": expect.any(String) as string, same: false, kind: "policy" },
      changes: [debug],
    });
    expect(await json("$release $next", 1)).toMatchObject({
      changes: [
        { what: "application", place: "signer.appBinaryDigest" },
        { what: "release.version", place: "version" },
      ],
    });
  });

  it("fits the terminal", async () => {
    const { stdout } = await run("COLUMNS=60 diff $policy $edited", 1);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(60);
  });
});
