import { existsSync, mkdtempSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PolicyFile } from "../../src/appraise/policy.js";
import type { FileKind } from "../../src/appraise/shapes.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import * as build from "../support/provenance.js";
import type { Loose } from "../support/loose.js";
import { BOOT_1, BOOT_2, bootproof, fileOf, readJson, vector, words, refused } from "./support.js";

const RELEASE = vector("releases/r2025.9.3.yaml");
const STAGING = vector("boot-proofs/staging-signer-20260702.json");
const lab = new Forge();
const at = new Date("2026-03-04T05:06:07.000Z");
const LAB_NOW = { now: "2026-03-04T06:00:00Z" };
const forged = forgeEvidence({ lab, at });
const debug = forgeEvidence({
  lab,
  at,
  alterManifest: { manifest: (value) => ({ ...value, pivot: { ...value.pivot, debugMode: true } }) },
});

function folder(): string {
  return mkdtempSync(join(tmpdir(), "bootproof-policy-"));
}

/** A policy of the first captured boot proof, in a folder of its own. */
async function pinned(): Promise<string> {
  const path = join(folder(), "policy.json");
  pin ??= bootproof(["pin", "--boot-proof", BOOT_1]);
  const { code, stdout } = await pin;
  expect(code).toBe(0);
  writeFileSync(path, stdout);
  return path;
}
let pin: ReturnType<typeof bootproof> | undefined;

const names = (path: string): (string | undefined)[] =>
  (readJson(path) as unknown as PolicyFile).deployments.map(({ name }) => name);
const FIRST = "preprod/signer nonce 20250902";

/** After the staging boot proof, which is younger than the others. */
const LATER = { now: "2026-07-03T00:00:00.000Z" };

describe("appProofs.untimed", () => {
  it("is shown by policy check, and its faults", async () => {
    const base = readFileSync(await pinned(), "utf8");
    const withRules = (appProofs: object): string => fileOf({ ...(JSON.parse(base) as object), appProofs });
    const plain = await bootproof(["policy", "check", withRules({ types: ["A", "B"] })]);
    expect(plain.stdout).not.toContain("without a time");
    const good = withRules({ types: ["A", "B"], untimed: ["B"] });
    const { code, stdout } = await bootproof(["policy", "check", good]);
    expect(code).toBe(0);
    expect(stdout.replace(/\s+/g, " ")).toContain("without a time if its type is B");
    const json = await bootproof(["policy", "check", good, "--format", "json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ appProofs: { untimed: ["B"] } });
    const bad = await bootproof(["policy", "check", withRules({ types: ["A"], untimed: ["B"] })]);
    expect([bad.code, bad.stdout + bad.stderr]).toEqual([2, expect.stringContaining("appProofs.untimed[0]")]);
    const changed = await bootproof(["diff", withRules({ types: ["A", "B"] }), good]);
    expect([changed.code, changed.stdout]).toEqual([1, expect.stringContaining("untimed")]);
  });
});

describe("pin --out", () => {
  it("writes what goes to stdout otherwise, and says what it wrote", async () => {
    const path = join(folder(), "policy.json");
    const { code, stdout, stderr } = await bootproof(["pin", "--boot-proof", BOOT_1, "--out", path]);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toContain(`Written: ${path}, which pins "${FIRST}"\n`);
    const plain = await bootproof(["pin", "--boot-proof", BOOT_1]);
    expect(readFileSync(path, "utf8")).toBe(plain.stdout);
    expect((await bootproof(["pin", "--boot-proof", BOOT_1, "--out", "-"])).stdout).toBe(plain.stdout);
    expect(plain.stderr).not.toContain("Written");
  });

  it("replaces what is there, a release's too", async () => {
    const path = await pinned();
    const args = ["pin", "--release", RELEASE, "--app", "signer", "--out", path];
    const { code, stderr } = await bootproof([...args, "--force"]);
    expect([code, names(path)]).toEqual([0, ["signer r2025.9.3"]]);
    expect(stderr).toContain(`Replaced: ${path}, which pins "signer r2025.9.3"\n`);
  });

  it.each([
    ["evidence that is refused", ["--boot-proof", BOOT_1, fileOf(forged.bootProof)], 1],
    ["a file that is not there", ["--boot-proof", BOOT_1, "missing.json"], 2],
    [
      "debug mode beside none",
      words`--allow-debug --trust-anchor ${fileOf(forged.anchorPem)} --boot-proof
        ${fileOf(forged.bootProof)} ${fileOf(debug.bootProof)}`,
      2,
    ],
    ["another application", ["--release", RELEASE, "--app", "other"], 2],
  ])("leaves the file byte for byte as it was on %s", async (_, args, expected) => {
    for (const target of [["--force", "--out"], ["--add-to"]]) {
      const path = await pinned();
      const before = readFileSync(path);
      const { code, stdout } = await bootproof(["pin", ...args, ...target, path], LAB_NOW);
      expect([code, stdout, readFileSync(path)]).toEqual([expected, "", before]);
      expect(readdirSync(join(path, ".."))).toEqual(["policy.json"]);
    }
  });

  it("replaces a file with --force only, and says so before anything is verified", async () => {
    const path = await pinned();
    const before = readFileSync(path);
    const { code, stdout, stderr } = await bootproof(["pin", "--boot-proof", "missing.json", "--out", path]);
    expect([code, stdout, readFileSync(path)]).toEqual([2, "", before]);
    expect(stderr).toContain(`--out ${path}: the file is there: give --force to replace it`);
    expect(stderr).not.toContain("missing.json");
  });
});

describe("pin of several boot proofs", () => {
  it("makes one policy of files, arrays and bundles; what pins the same stands there once", async () => {
    const both = fileOf([readJson(BOOT_1), readJson(BOOT_2)]);
    const packed = await bootproof(["bundle", "--boot-proof", STAGING, "--no-policy"], { now: "2026-07-03T00:00:00Z" });
    const path = join(folder(), "policy.json");
    const { code, stderr } = await bootproof(["pin", "--boot-proof", both, fileOf(packed.stdout), "--out", path], {
      now: "2026-07-03T00:00:00Z",
    });
    expect([code, names(path)]).toEqual([0, [FIRST, "0xkey/signer nonce 18"]]);
    expect(stderr).toContain("3 boot proofs are of 2 deployments.");
    expect(stderr).toContain(`Warning: ${both}[1]: legacy: no PCR commits`);
    expect(stderr).toContain(`Warning: ${FIRST}: manifestHash is pinned`);
  });

  it("tells every failure with the file's name, and writes nothing", async () => {
    const [foreign, none] = [fileOf(forged.bootProof), fileOf([{}, readJson(BOOT_1)])];
    const path = join(folder(), "policy.json");
    const { code, stderr } = await bootproof(["pin", "--boot-proof", foreign, BOOT_1, none, "--out", path]);
    expect([code, readdirSync(join(path, ".."))]).toEqual([1, []]);
    expect(stderr).toMatch(/^Not pinned\.\n/);
    expect(stderr).toContain(`${foreign}: REJECTED`);
    expect(stderr).toContain(`${none}[0]: REJECTED`);
    expect(stderr).not.toContain(BOOT_1);
    expect(stderr).toMatch(/chain\.anchor[^]*boot\.decode/);
  });

  it("names the anchors of all", async () => {
    const aws = vector("trust-anchors/aws_root_cert.pem");
    const { code, stdout } = await bootproof(
      ["pin", "--boot-proof", fileOf(forged.bootProof), BOOT_1, "--trust-anchor", fileOf(forged.anchorPem), aws],
      LAB_NOW,
    );
    expect([code, (JSON.parse(stdout) as PolicyFile).trustAnchors]).toEqual([
      0,
      [{ pem: expect.stringContaining("BEGIN") as string }, "aws-nitro-root-g1"],
    ]);
  });
});

describe("pin --add-to", () => {
  it("adds to the policy in place, and keeps the rest as it is written", async () => {
    const path = await pinned();
    const before = readFileSync(path, "utf8").replace('"deployments"', '"comment": "mine",\n  "deployments"');
    writeFileSync(path, before);
    const { code, stdout, stderr } = await bootproof(["pin", "--boot-proof", STAGING, "--add-to", path], LATER);
    expect([code, stdout, names(path)]).toEqual([0, "", [FIRST, "0xkey/signer nonce 18"]]);
    expect(readFileSync(path, "utf8").startsWith(before.slice(0, before.lastIndexOf("\n  ]")))).toBe(true);
    expect(stderr).toContain(`Replaced: ${path}, with "0xkey/signer nonce 18" added beside "${FIRST}"\n`);
  });

  it("takes a release, and writes elsewhere with --out", async () => {
    const path = await pinned();
    const before = readFileSync(path);
    const out = join(folder(), "new.json");
    const args = ["pin", "--release", RELEASE, "--app", "signer", "--add-to", path];
    expect((await bootproof([...args, "--out", out])).code).toBe(0);
    expect([readFileSync(path), names(out)]).toEqual([before, [FIRST, "signer r2025.9.3"]]);
    expect((await bootproof([...args, "--out", "-"])).stdout).toBe(readFileSync(out, "utf8"));
    expect(
      (
        await bootproof(["pin", "--release", RELEASE, "--app", "signer", "--add-to", "-", "--out", "-"], {
          stdin: before,
        })
      ).stdout,
    ).toBe(readFileSync(out, "utf8"));
  });

  it("trusts what the policy trusts, and says so where its anchors grow", async () => {
    const path = await pinned();
    const unknown = await bootproof(["pin", "--boot-proof", fileOf(forged.bootProof), "--add-to", path], LAB_NOW);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("chain.anchor") as string]);
    const anchor = fileOf(forged.anchorPem);
    const args = ["pin", "--boot-proof", fileOf(forged.bootProof), "--add-to", path];
    const first = await bootproof([...args, "--trust-anchor", anchor], LAB_NOW);
    expect([first.code, first.stderr]).toEqual([
      0,
      expect.stringMatching(/Warning: .* is now a trust anchor of every deployment of the policy/) as string,
    ]);
    const second = await bootproof(args, LAB_NOW);
    expect([second.code, names(path)]).toEqual([0, [FIRST, "lab/signer nonce 7"]]);
    expect(readJson(path)["trustAnchors"]).toHaveLength(2);
  });

  it("adds nothing that is there already, says so, and does not touch the file", async () => {
    const path = await pinned();
    utimesSync(path, 1, 1);
    const [before, { ino, mtimeMs }] = [readFileSync(path), statSync(path)];
    const { code, stdout, stderr } = await bootproof(["pin", "--boot-proof", BOOT_1, "--add-to", path]);
    expect([code, stdout, readFileSync(path)]).toEqual([0, "", before]);
    expect(statSync(path)).toMatchObject({ ino, mtimeMs });
    expect(stderr).toContain(`Unchanged: ${path}, with no deployment added: the policy has it already\n`);
    expect(stderr).toContain(`not added: "${FIRST}", since "${FIRST}" accepts the same\n`);
    const elsewhere = await bootproof(["pin", "--boot-proof", BOOT_1, "--add-to", path, "--out", "-"]);
    expect([elsewhere.code, elsewhere.stdout]).toEqual([0, before.toString()]);
  });

  it("leaves the policy as it was where the result would be none, and says what to add", async () => {
    const path = await pinned();
    const typed = readFileSync(path, "utf8").replace('"deployments"', '"appProofs": {"types": ["A"]}, "deployments"');
    writeFileSync(path, typed);
    const refused = await bootproof(["pin", "--boot-proof", STAGING, "--add-to", path], LATER);
    expect([refused.code, readFileSync(path, "utf8")]).toEqual([2, typed]);
    expect(refused.stderr).toContain("unchanged, since the addition would make it an invalid policy");
    expect(refused.stderr).toContain(
      "deployments[0].appProofs.types: preprod/signer nonce 20250902 has to name its own",
    );
    expect(refused.stderr).toContain("--app-proof-type TYPE…");
    writeFileSync(path, typed.replace('"pivotHash"', '"appProofs": {"types": ["A"]}, "pivotHash"'));
    const added = await bootproof(
      ["pin", "--boot-proof", STAGING, "--add-to", path, "--app-proof-type", "A", "B"],
      LATER,
    );
    expect([added.code, readJson(path)["deployments"]]).toMatchObject([0, [{}, { appProofs: { types: ["A", "B"] } }]]);
  });

  it("does not write a policy where its anchor files are not found", async () => {
    const path = await pinned();
    writeFileSync(join(path, "../lab.pem"), forged.anchorPem);
    writeFileSync(path, readFileSync(path, "utf8").replace('"aws-nitro-root-g1"', '{ "file": "lab.pem" }'));
    const args = ["pin", "--boot-proof", fileOf(forged.bootProof), "--add-to", path];
    const out = join(folder(), "new.json");
    const elsewhere = await bootproof([...args, "--out", out], LAB_NOW);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      2,
      expect.stringContaining("and these are missing or different there: lab.pem (no such file)") as string,
    ]);
    const beside = await bootproof([...args, "--out", join(path, "../new.json")], LAB_NOW);
    expect([beside.code, readJson(join(path, "../new.json"))["trustAnchors"]]).toEqual([0, [{ file: "lab.pem" }]]);
  });

  it.each([
    [["--add-to", "missing.json"], "missing.json: no such"],
    [["--add-to", fileOf({ policy: "bootproof/1" })], "deployments: expected an array, got nothing"],
    [["--add-to", "-"], "--add-to - requires --out FILE"],
    [["--add-to", fileOf("{}"), "--name", "x"], "--name is for a new policy"],
    [["--app-proof-type", ""], "--app-proof-type: empty: a shell variable may be unset"],
  ])("refuses %j", (args, says) => refused(2, bootproof(["pin", "--boot-proof", BOOT_1, ...args]), says));
});

describe("pin --add-to --out, elsewhere", () => {
  const successor = forgeEvidence({
    lab: build.enclave,
    at,
    alterManifest: { manifest: (one) => ({ ...one, namespace: { ...one.namespace, nonce: 8 } }) },
  });
  const ANCHOR = successor.anchorPem;
  const TAGS = { ...build.DEMAND, ref: "refs/heads/*", commit: undefined, trustedRoot: { file: "named" } };
  /** Total: every member of a policy that names a file. */
  const KINDS: Readonly<
    Record<FileKind, { readonly policy: object; readonly content: string; readonly args: string[] }>
  > = {
    trustAnchor: {
      policy: { trustAnchors: [{ file: "named" }], deployments: [{ ...old(), provenance: undefined }] },
      content: ANCHOR,
      args: [],
    },
    trustedRoot: {
      policy: { trustAnchors: [{ pem: ANCHOR }], deployments: [{ ...old(), provenance: [TAGS] }] },
      content: build.ROOT,
      args: ["--provenance", fileOf(build.GENUINE, "elsewhere.sigstore.json")],
    },
  };

  function old(): object {
    return { ...labDeployment(build.enclave), labels: undefined, minNonce: 1, name: "old" };
  }

  async function pin(kind: FileKind, out: (path: string) => string) {
    const { policy, content, args } = KINDS[kind];
    const path = join(folder(), "policy.json");
    writeFileSync(path, JSON.stringify({ policy: "bootproof/1", ...policy }));
    writeFileSync(join(path, "../named"), content);
    const boot = fileOf(successor.bootProof);
    const target = out(path);
    const answer = await bootproof(["pin", "--boot-proof", boot, "--add-to", path, ...args, "--out", target], LAB_NOW);
    return { ...answer, target };
  }

  describe.each(Object.keys(KINDS) as FileKind[])("%s", (kind) => {
    const { content } = KINDS[kind];
    const inFolder = (bytes?: string | Uint8Array) => (): string => {
      const path = join(folder(), "new.json");
      if (bytes !== undefined) writeFileSync(join(path, "../named"), bytes);
      return path;
    };

    it("is written where the file has the same content, and beside the policy", async () => {
      for (const out of [inFolder(content), (path: string) => join(path, "../new.json")]) {
        const { code, stderr, target } = await pin(kind, out);
        expect([code, names(target)], stderr).toEqual([0, ["old", "lab/signer nonce 8"]]);
        expect(stderr).not.toContain("names files");
      }
    });

    it.each([
      ["another content", `\n${content}`, "named (different content)"],
      ["another content that is not text", Uint8Array.of(0xff), "named (different content)"],
      ["no such file", undefined, "named (no such file)"],
    ])("is refused with %s there, by name", async (_, there, says) => {
      const { code, stderr, target } = await pin(kind, inFolder(there));
      expect([code, existsSync(target)]).toEqual([2, false]);
      expect(stderr).toContain(
        `not written: the policy names files relative to its own folder, and these are missing or different there: `,
      );
      expect(stderr).toContain(says);
    });

    it("is listed in a warning where the policy goes to stdout", async () => {
      const { code, stdout, stderr } = await pin(kind, () => "-");
      expect([code, (JSON.parse(stdout) as PolicyFile).deployments.length]).toEqual([0, 2]);
      expect(stderr).toContain("Warning: the policy names files relative to its own folder: named. Write it into");
    });
  });

  it("compares the files of added deployments too", async () => {
    const { stdout } = await pin("trustedRoot", () => "-");
    const { deployments } = JSON.parse(stdout) as PolicyFile;
    expect(deployments[1]!.provenance).toMatchObject([{ trustedRoot: { file: "named" } }]);
  });
});

describe("pin --add-to, beside a sibling", () => {
  const successor = forgeEvidence({
    lab,
    at,
    alterManifest: { manifest: (one) => ({ ...one, namespace: { ...one.namespace, nonce: 8 } }) },
  });
  const beside = (members: object, rest: object = {}): string =>
    fileOf(
      labPolicy(forged.anchorPem, [{ ...labDeployment(lab), name: "old", labels: {}, ...members } as never], {
        ...rest,
      } as never),
    );
  const add = (path: string, ...args: string[]) =>
    bootproof(["pin", "--boot-proof", fileOf(successor.bootProof), "--add-to", path, ...args], LAB_NOW);

  it("refuses the rest with the words that drop it", async () => {
    const path = beside({ labels: { ...lab.labels }, commitment: "legacy" });
    const before = readFileSync(path);
    const refused = await add(path);
    expect([refused.code, refused.stdout, readFileSync(path)]).toEqual([2, "", before]);
    const says = refused.stderr.replaceAll(/\s+/g, " ");
    expect(says).toContain("unchanged. A new deployment keeps what its siblings demand:");
    expect(says).toContain('"lab/signer nonce 8": commitment: "legacy" is demanded, but the new value is "live"');
    for (const name of ["commitment", "labels.deploymentLabel"]) expect(says).toContain(`--drop ${name}`);
    const { code } = await add(path, "--drop", "commitment", "labels.deploymentLabel");
    const { labels, commitment } = (readJson(path) as unknown as PolicyFile).deployments[1]!;
    const { deploymentLabel, ...kept } = { ...lab.labels } as Readonly<Record<string, string>>;
    expect([code, labels, commitment, typeof deploymentLabel]).toEqual([0, kept, "live", "string"]);
  });

  it("refuses --drop of what nobody demands, and without a policy to add to", async () => {
    const { code, stderr } = await add(beside({}), "--drop", "shareSets");
    expect([code, stderr.replaceAll(/\s+/g, " ")]).toEqual([2, expect.stringContaining("did you mean shareSet?")]);
    const alone = await bootproof(["pin", "--boot-proof", BOOT_1, "--drop", "shareSet"]);
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining("--drop requires --add-to")]);
  });

  it("refuses a result that rejects what it was made from", async () => {
    const path = beside({}, { maxAge: "1m" });
    const before = readFileSync(path);
    const { code, stderr } = await add(path);
    expect([code, readFileSync(path)]).toEqual([2, before]);
    expect(stderr.replaceAll(/\s+/g, " ")).toMatch(/the result would reject this boot proof: .*policy\.age/);
    expect(stderr).not.toContain("--drop");
  });

  it("refuses --provenance alone where nobody demands it", async () => {
    const { code, stderr } = await add(beside({}), "--provenance", fileOf(build.GENUINE));
    const says = stderr.replaceAll(/\s+/g, " ");
    expect([code, says]).toEqual([2, expect.stringContaining("so the bundles would pin nothing")]);
    expect(says).toContain("--repository URL and --trusted-root FILE");
  });
});

describe("policy drop", () => {
  it("takes the deployment out, and leaves the rest byte for byte", async () => {
    const path = await pinned();
    const before = readFileSync(path);
    await bootproof(["pin", "--boot-proof", STAGING, "--add-to", path], LATER);
    const { code, stdout, stderr } = await bootproof(["policy", "drop", path, "0xkey/signer nonce 18"]);
    expect([code, stdout, stderr]).toEqual([0, "", `Replaced: ${path}, without "0xkey/signer nonce 18"\n`]);
    expect(readFileSync(path)).toEqual(before);
  });

  it.each([
    ["pins the same", (one: Loose) => one, true],
    ["accepts newer manifests only", (one: Loose) => ({ ...one, minNonce: one["minNonce"] + 1 }), false],
  ])("says loudly that the evidence passes still where another deployment %s", async (_, change, passes) => {
    const path = await pinned();
    const policy = readJson(path) as Loose;
    const [first] = policy["deployments"] as Loose[];
    writeFileSync(path, JSON.stringify({ ...policy, deployments: [first, { ...change(first!), name: "second" }] }));
    const { code, stderr } = await bootproof(["policy", "drop", path, FIRST]);
    expect([code, names(path)]).toEqual([0, ["second"]]);
    expect((await bootproof(["verify", "--boot-proof", BOOT_1, "--policy", path])).code).toBe(passes ? 0 : 1);
    const says = passes
      ? `WARNING: "second" still accepts all that "${FIRST}" accepted: the same evidence still passes\nTo stop`
      : `note: "second" still accepts a part of what "${FIRST}" accepted: what meets its minNonce too\n`;
    expect(stderr).toContain(says);
  });

  it.each([
    ["a name that is not there", "preprod/signer nonce 2025090", `did you mean ${FIRST}?; there is "${FIRST}"`],
    ["the last one", FIRST, "is the last one: a policy needs at least one deployment"],
  ])("refuses %s", async (_, name, says) => {
    const path = await pinned();
    const before = readFileSync(path);
    const { code, stdout, stderr } = await bootproof(["policy", "drop", path, name]);
    expect([code, stdout, readFileSync(path)]).toEqual([2, "", before]);
    expect(stderr).toContain(says);
  });

  it.each([
    [["policy", "drop", "-", "x"], "stdin cannot be rewritten"],
    [["policy", "drop", "missing.json", "x"], "missing.json: no such file"],
    [["policy", "drop", fileOf("{}"), "x"], "an empty JSON object\nExpected a policy: bootproof pin makes one"],
    [["policy", "drop", "x"], "NAME is required"],
    [["policy", "nothing"], "unknown command nothing"],
    [["policy", "check", "x", "--format", "yaml"], "See bootproof policy check --help."],
  ])("%j", (args, says) => refused(2, bootproof(args), says));
});

describe("policy check", () => {
  it("tells what a policy pins and leaves open, in lines of the terminal's width", async () => {
    const path = await pinned();
    for (const width of [60, 80, 200]) {
      const { code, stdout, stderr } = await bootproof(["policy", "check", path], { env: { COLUMNS: String(width) } });
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout.split("\n").filter((line) => line.length > width && !line.includes(path))).toEqual([]);
      expect(stdout).toMatch(/^WELL-FORMED: /);
      expect(stdout).toContain(`Deployment "${FIRST}"\n  image        pcrs 0, 1, 2; manifestHash\n`);
      expect(stdout).toContain("  operator     manifestHash; pcrs 3\n");
      expect(stdout).toContain("  trust anchors  aws-nitro-root-g1\n");
      expect(stdout).toContain("  WARN         legacy: any application");
    }
  });

  it("says so as JSON", async () => {
    const { code, stdout } = await bootproof(["policy", "check", await pinned(), "--format", "json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      {
        format: "bootproof-policy-check/1",
        faults: [],
        deployments: [
          {
            name: FIRST,
            kind: "qos",
            answers: {
              image: ["pcrs", "manifestHash"],
              application: ["manifestHash"],
              operator: ["manifestHash", "pcrs"],
            },
            open: [],
            reasons: [
              expect.stringContaining("legacy") as string,
              expect.stringContaining("identifies no owner") as string,
            ],
          },
        ],
      },
    ]);
  });

  it("tells every fault, with the nearest name of an unknown member", async () => {
    const path = fileOf({ policy: "bootproof/1", naem: "x", deployments: [{ pcr: {} }] });
    const text = await bootproof(["policy", "check", path]);
    expect([text.code, text.stderr]).toEqual([2, ""]);
    expect(text.stdout).toMatch(/^MALFORMED: /);
    expect(text.stdout).toContain("\n- naem: unknown member, did you mean name?\n");
    expect(text.stdout).toContain("\n- deployments[0].pcr: unknown member, did you mean pcrs?\n");
    const json = await bootproof(["policy", "check", path, "--format", "json"]);
    const open = [{ path: "deployments[0]", message: expect.stringMatching(/^leaves the /) as string }];
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([
      2,
      { faults: [{ path: "deployments[0].pcr" }, ...open, ...open, ...open, { path: "naem" }], deployments: [] },
    ]);
    expect((await bootproof(["policy", "check", fileOf("{")])).stdout).toContain("not strict JSON");
  });

  it("reads the anchors beside the file, and tells what is not of AWS", async () => {
    const path = await pinned();
    writeFileSync(join(path, "../lab.pem"), forged.anchorPem);
    writeFileSync(path, readFileSync(path, "utf8").replace('"aws-nitro-root-g1"', '{ "file": "lab.pem" }'));
    const { code, stdout } = await bootproof(["policy", "check", path], { isTTY: true });
    expect([code, stdout]).toEqual([0, expect.stringContaining("trusts file lab.pem, which is not the AWS") as string]);
    expect(stdout).toContain("\u001b[");
  });

  it("reads stdin", async () => {
    const policy = readFileSync(await pinned());
    expect((await bootproof(["policy", "check", "-"], { stdin: policy })).stdout).toMatch(
      /^WELL-FORMED: stdin pins one/,
    );
  });
});
