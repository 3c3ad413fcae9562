import { existsSync, mkdtempSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PolicyFile } from "../../src/appraise/policy.js";
import type { FileKind } from "../../src/appraise/shapes.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import * as build from "../support/provenance.js";
import type { Loose } from "../support/loose.js";
import { BOOT_1, BOOT_2, bootproof, fileOf, readJson, scene, vector } from "./support.js";

const lab = new Forge();
const at = new Date("2026-03-04T05:06:07.000Z");
const forged = forgeEvidence({ lab, at });
const debug = forgeEvidence({
  lab,
  at,
  alterManifest: { manifest: (value) => ({ ...value, pivot: { ...value.pivot, debugMode: true } }) },
});
const successorOf = (of: Forge) =>
  forgeEvidence({
    lab: of,
    at,
    alterManifest: { manifest: (one) => ({ ...one, namespace: { ...one.namespace, nonce: 8 } }) },
  });
const FIRST = "preprod/signer nonce 20250902";
const SECOND = "0xkey/signer nonce 18";
const PINNED = (await bootproof(["pin", "--boot-proof", BOOT_1])).stdout;
const policy = JSON.parse(PINNED) as { deployments: Loose[] };
const STAGING = vector("boot-proofs/staging-signer-20260702.json");

const N = {
  ...{ boot: BOOT_1, staging: STAGING, release: vector("releases/r2025.9.3.yaml"), first: FIRST, second: SECOND },
  ...{ forged: fileOf(forged.bootProof), debug: fileOf(debug.bootProof), anchor: fileOf(forged.anchorPem) },
  ...{ both: fileOf([readJson(BOOT_1), readJson(BOOT_2)]), holed: fileOf([{}, readJson(BOOT_1)]), none: fileOf("{}") },
  ...{ aws: vector("trust-anchors/aws_root_cert.pem"), headless: fileOf({ policy: "bootproof/1" }), open: fileOf("{") },
  ...{ short: "preprod/signer nonce 2025090", build: fileOf(build.GENUINE, "elsewhere.sigstore.json") },
  misspelt: fileOf({ policy: "bootproof/1", naem: "x", deployments: [{ pcr: {} }] }),
};
const { having, run, usage } = scene(N);
/** After the staging boot proof, which is younger than the others. */
const LATER = scene(N, { now: "2026-07-03T00:00:00.000Z" });
const OF_LAB = scene(N, { now: "2026-03-04T06:00:00Z" });

/** Where a file can be written, in a folder of its own; and a policy of the first captured boot proof there. */
const newPath = (): string => join(mkdtempSync(join(tmpdir(), "bootproof-policy-")), "policy.json");
function written(content = PINNED): string {
  const path = newPath();
  writeFileSync(path, content);
  return path;
}
const text = (path: string): string => readFileSync(path, "utf8");
const names = (path: string): (string | undefined)[] =>
  (readJson(path) as unknown as PolicyFile).deployments.map(({ name }) => name);

it("appProofs.untimed is shown by policy check, and its faults", async () => {
  const withRules = (appProofs: object): string => fileOf({ ...policy, appProofs });
  const good = withRules({ types: ["A", "B"], untimed: ["B"] });
  const check = having({
    good,
    plain: withRules({ types: ["A", "B"] }),
    bad: withRules({ types: ["A"], untimed: ["B"] }),
  });
  await check("policy check $plain", 0, "!without a time");
  await check("policy check $good", 0, "without a time if its type is B");
  const { stdout } = await check("policy check $good --format json", 0);
  expect(JSON.parse(stdout)).toMatchObject({ appProofs: { untimed: ["B"] } });
  await check("policy check $bad", 2, "appProofs.untimed[0]");
  await check("diff $plain $good", 1, "untimed");
});

describe("pin --out", () => {
  it("writes what goes to stdout otherwise, and says what it wrote", async () => {
    const path = newPath();
    const pin = having({ path });
    expect((await pin("pin --boot-proof $boot --out $path", 0, 'Written: $path, which pins "$first"')).stdout).toBe("");
    expect(text(path)).toBe(PINNED);
    expect((await pin("pin --boot-proof $boot --out -", 0, "!Written")).stdout).toBe(PINNED);
    await pin("pin --boot-proof $boot --out $path", 0, 'Unchanged: $path, which pins "$first"');
    const says = 'Replaced: $path, which pins "signer r2025.9.3"';
    await pin("pin --release $release --app signer --out $path --force", 0, says);
    expect(names(path)).toEqual(["signer r2025.9.3"]);
  });

  it.each([
    ["--boot-proof $boot $forged", 1],
    ["--boot-proof $boot missing.json", 2],
    ["--allow-debug --trust-anchor $anchor --boot-proof $forged $debug", 2],
    ["--release $release --app other", 2],
  ])("leaves the file byte for byte as it was on %s: %i", async (args, code) => {
    for (const target of ["--force --out", "--add-to"]) {
      const path = written();
      expect((await OF_LAB.having({ path })(`pin ${args} ${target} $path`, code)).stdout).toBe("");
      expect([text(path), readdirSync(join(path, ".."))]).toEqual([PINNED, ["policy.json"]]);
    }
  });
});

describe("pin of several boot proofs", () => {
  it("makes one policy of files, arrays and bundles; what pins the same stands there once", async () => {
    const { stdout } = await LATER.run("bundle --boot-proof $staging --no-policy", 0);
    const path = newPath();
    const pin = LATER.having({ path, packed: fileOf(stdout) });
    await pin(
      "pin --boot-proof $both $packed --out $path",
      0,
      "3 boot proofs are of 2 deployments.",
      "Warning: $both[1]: legacy: no PCR commits",
      "Warning: $first: manifestHash is pinned",
    );
    expect(names(path)).toEqual([FIRST, SECOND]);
  });

  it("tells every failure with the file's name, and writes nothing", async () => {
    const path = newPath();
    await having({ path })(
      "pin --boot-proof $forged $boot $holed --out $path",
      1,
      /^Not pinned\. .*chain\.anchor.*boot\.dec/,
      "$forged: REJECTED",
      "$holed[0]: REJECTED",
      "!$boot",
    );
    expect(readdirSync(join(path, ".."))).toEqual([]);
  });

  it("names the anchors of all", async () => {
    const { stdout } = await OF_LAB.run("pin --boot-proof $forged $boot --trust-anchor $anchor $aws", 0);
    const pem = expect.stringContaining("BEGIN") as string;
    expect(JSON.parse(stdout)).toMatchObject({ trustAnchors: [{ pem }, "aws-nitro-root-g1"] });
  });
});

describe("pin --add-to", () => {
  it("adds to the policy in place, and keeps the rest as it is written", async () => {
    const before = PINNED.replace('"deployments"', '"comment": "mine",\n  "deployments"');
    const path = written(before);
    const says = 'Replaced: $path, with "$second" added beside "$first"';
    await LATER.having({ path })("pin --boot-proof $staging --add-to $path", 0, says);
    expect(names(path)).toEqual([FIRST, SECOND]);
    expect(text(path).startsWith(before.slice(0, before.lastIndexOf("\n  ]")))).toBe(true);
  });

  it("takes a release, and writes elsewhere with --out", async () => {
    const [path, out] = [written(), newPath()];
    const pin = having({ path, out });
    const from = "pin --release $release --app signer --add-to";
    await pin(`${from} $path --out $out`, 0);
    expect([text(path), names(out)]).toEqual([PINNED, [FIRST, "signer r2025.9.3"]]);
    for (const line of [`${from} $path --out -`, `${from} - --out - < $path`])
      expect((await pin(line, 0)).stdout).toBe(text(out));
  });

  it("trusts what the policy trusts, and says so where its anchors grow", async () => {
    const path = written();
    const pin = OF_LAB.having({ path });
    await pin("pin --boot-proof $forged --add-to $path", 1, "chain.anchor");
    const says = /Warning: .* is now a trust anchor of every deployment of the policy/;
    await pin("pin --boot-proof $forged --add-to $path --trust-anchor $anchor", 0, says);
    await pin("pin --boot-proof $forged --add-to $path", 0);
    expect([names(path), readJson(path)["trustAnchors"]]).toMatchObject([[FIRST, "lab/signer nonce 7"], { length: 2 }]);
  });

  it("adds nothing that is there already, says so, and does not touch the file", async () => {
    const path = written();
    utimesSync(path, 1, 1);
    const { ino, mtimeMs } = statSync(path);
    await having({ path })(
      "pin --boot-proof $boot --add-to $path",
      0,
      'not added: "$first", since "$first" accepts the same',
      "Unchanged: $path, with no deployment added: the policy has it already",
    );
    expect([text(path), statSync(path)]).toMatchObject([PINNED, { ino, mtimeMs }]);
    expect((await having({ path })("pin --boot-proof $boot --add-to $path --out -", 0)).stdout).toBe(PINNED);
  });

  it("leaves the policy as it was where the result would be none, and says what to add", async () => {
    const typed = PINNED.replace('"deployments"', '"appProofs": {"types": ["A"]}, "deployments"');
    const path = written(typed);
    const pin = LATER.having({ path });
    await pin(
      "pin --boot-proof $staging --add-to $path",
      2,
      "unchanged, since the addition would make it an invalid pol",
      "deployments[0].appProofs.types: $first has to name its own",
      "--app-proof-type TYPE…",
    );
    expect(text(path)).toBe(typed);
    writeFileSync(path, typed.replace('"pivotHash"', '"appProofs": {"types": ["A"]}, "pivotHash"'));
    await pin("pin --boot-proof $staging --add-to $path --app-proof-type A B", 0);
    expect(readJson(path)["deployments"]).toMatchObject([{}, { appProofs: { types: ["A", "B"] } }]);
  });

  usage("pin --boot-proof $boot", [
    ["--add-to missing.json", "missing.json: no such"],
    ["--add-to $headless", "deployments: expected an array, got nothing"],
    ["--add-to -", "--add-to - requires --out FILE"],
    ["--add-to $none --name x", "--add-to cannot be used with --name"],
  ]);
});

describe("pin --add-to --out, elsewhere", () => {
  const successor = successorOf(build.enclave);
  const ANCHOR = successor.anchorPem;
  const old = { ...labDeployment(build.enclave), labels: undefined, minNonce: 1, name: "old" };
  const TAGS = { ...build.DEMAND, ref: "refs/heads/*", commit: undefined, trustedRoot: { file: "named" } };
  /** Total: every member of a policy that names a file. */
  const KINDS: Readonly<
    Record<FileKind, { readonly policy: object; readonly content: string; readonly more: string }>
  > = {
    trustAnchor: { policy: { trustAnchors: [{ file: "named" }], deployments: [old] }, content: ANCHOR, more: "" },
    trustedRoot: {
      policy: { trustAnchors: [{ pem: ANCHOR }], deployments: [{ ...old, provenance: [TAGS] }] },
      ...{ content: build.ROOT, more: " --provenance $build" },
    },
  };

  async function pin(kind: FileKind, to: (path: string) => string, code: number, ...says: string[]) {
    const path = written(JSON.stringify({ policy: "bootproof/1", ...KINDS[kind].policy }));
    writeFileSync(join(path, "../named"), KINDS[kind].content);
    const target = to(path);
    const line = `pin --boot-proof $new --add-to $path${KINDS[kind].more} --out $target`;
    const answer = await OF_LAB.having({ path, target, new: fileOf(successor.bootProof) })(line, code, ...says);
    return { ...answer, target };
  }
  const inFolder = (bytes?: string | Uint8Array) => (): string => {
    const path = newPath();
    if (bytes !== undefined) writeFileSync(join(path, "../named"), bytes);
    return path;
  };

  describe.each(Object.keys(KINDS) as FileKind[])("%s", (kind) => {
    const { content } = KINDS[kind];
    it("is written where the file has the same content, and beside the policy", async () => {
      for (const out of [inFolder(content), (path: string) => join(path, "../new.json")])
        expect(names((await pin(kind, out, 0, "!names files")).target)).toEqual(["old", "lab/signer nonce 8"]);
    });

    it.each([
      ["another content", `\n${content}`, "named (different content)"],
      ["another content that is not text", Uint8Array.of(0xff), "named (different content)"],
      ["no such file", undefined, "named (no such file)"],
    ])("is refused with %s there, by name", async (_, there, says) => {
      const OWN =
        "not written: the policy names files relative to its own folder, and these are missing or different there";
      expect(existsSync((await pin(kind, inFolder(there), 2, OWN, says)).target)).toBe(false);
    });

    it("is listed in a warning where the policy goes to stdout", async () => {
      const says = "Warning: the policy names files relative to its own folder: named. Write it into";
      const { deployments } = JSON.parse((await pin(kind, () => "-", 0, says)).stdout) as PolicyFile;
      expect(deployments).toHaveLength(2);
      // The files of added deployments are compared, too.
      if (kind === "trustedRoot")
        expect(deployments[1]!.provenance).toMatchObject([{ trustedRoot: { file: "named" } }]);
    });
  });
});

describe("pin --add-to, beside a sibling", () => {
  const beside = (members: object, rest: object = {}): string => {
    const old = { ...labDeployment(lab), name: "old", labels: {}, ...members };
    return fileOf(labPolicy(forged.anchorPem, [old as never], rest as never));
  };
  const add = (path: string) => OF_LAB.having({ path, new: fileOf(successorOf(lab).bootProof) });
  const line = "pin --boot-proof $new --add-to $path";

  it("refuses the rest with the words that drop it", async () => {
    const path = beside({ labels: { ...lab.labels }, commitment: "legacy" });
    const before = text(path);
    await add(path)(
      line,
      2,
      "unchanged. A new deployment keeps what its siblings demand:",
      "--drop labels.deploymentLabel",
      '"lab/signer nonce 8": commitment: "legacy" is demanded, but the new value is "live"',
      "--drop commitment",
    );
    expect(text(path)).toBe(before);
    await add(path)(`${line} --drop commitment labels.deploymentLabel`, 0);
    const { labels, commitment } = (readJson(path) as unknown as PolicyFile).deployments[1]!;
    const { deploymentLabel, ...kept } = { ...lab.labels } as Readonly<Record<string, string>>;
    expect([labels, commitment, typeof deploymentLabel]).toEqual([kept, "live", "string"]);
  });

  it("refuses what nobody demands, and a result that rejects what it was made from", async () => {
    await add(beside({}))(`${line} --drop shareSets`, 2, "did you mean shareSet?");
    const bundles = "so the bundles would pin nothing";
    await add(beside({}))(`${line} --provenance $build`, 2, bundles, "--repository URL and --trusted-root FILE");
    const path = beside({}, { maxAge: "1m" });
    const before = text(path);
    await add(path)(line, 2, /the result would reject this boot proof: .*policy\.age/, "!--drop");
    expect(text(path)).toBe(before);
  });

  usage("pin --boot-proof $boot", [["--drop shareSet", "--drop requires --add-to"]]);
});

describe("policy drop", () => {
  it("takes the deployment out, and leaves the rest byte for byte", async () => {
    const path = written();
    await LATER.having({ path })("pin --boot-proof $staging --add-to $path", 0);
    await having({ path })("policy drop $path $second", 0, /^Replaced: \S+, without "0xkey\/signer nonce 18"$/);
    expect(text(path)).toBe(PINNED);
  });

  it.each([
    [
      "pins the same",
      0,
      `WARNING: "second" still accepts all that "${FIRST}" accepted: the same evidence still passes To`,
      0,
    ],
    [
      "accepts newer manifests only",
      1,
      `note: "second" still accepts a part of what "${FIRST}" accepted: what meets its m`,
      1,
    ],
  ])("says loudly that the evidence passes still where another deployment %s", async (_, more, says, code) => {
    const [first] = policy.deployments as [Loose];
    const second = { ...first, name: "second", minNonce: (first["minNonce"] as number) + more };
    const path = written(JSON.stringify({ ...policy, deployments: [first, second] }));
    await having({ path })("policy drop $path $first", 0, says);
    expect(names(path)).toEqual(["second"]);
    await having({ path })("verify --boot-proof $boot --policy $path", code);
  });

  it.each([
    ["$short", `did you mean ${FIRST}?; there is "${FIRST}"`],
    ["$first", "is the last one: a policy needs at least one deployment"],
  ])("refuses %s", async (name, says) => {
    const path = written();
    await having({ path })(`policy drop $path ${name}`, 2, says);
    expect(text(path)).toBe(PINNED);
  });

  usage("policy", [
    ["drop - x", "stdin cannot be rewritten"],
    ["drop missing.json x", "missing.json: no such file"],
    ["drop $none x", "an empty JSON object Expected a policy: bootproof pin makes one"],
    ["drop x", "NAME is required"],
    ["nothing", "unknown command nothing"],
    ["check x --format yaml", "See bootproof policy check --help."],
  ]);
});

describe("policy check", () => {
  it("tells what a policy pins and leaves open, in lines of the terminal's width", async () => {
    const path = written();
    for (const COLUMNS of ["60", "80", "200"]) {
      const { code, stdout, stderr } = await bootproof(["policy", "check", path], { env: { COLUMNS } });
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout.split("\n").filter((line) => line.length > Number(COLUMNS) && !line.includes(path))).toEqual([]);
      expect(stdout).toContain(`Deployment "${FIRST}"\n  image        pcrs 0, 1, 2; manifestHash\n`);
    }
  });

  it("says so as JSON", async () => {
    const { stdout } = await having({ path: written() })("policy check $path --format json", 0);
    const one = {
      ...{
        name: FIRST,
        kind: "qos",
        open: [],
        reasons: ["legacy", "identifies no owner"].map((one) => expect.stringContaining(one) as string),
      },
      answers: {
        image: ["pcrs", "manifestHash"],
        application: ["manifestHash"],
        operator: ["manifestHash", "pcrs"],
      },
    };
    expect(JSON.parse(stdout)).toMatchObject({ format: "bootproof-policy-check/1", faults: [], deployments: [one] });
  });

  it("tells every fault, with the nearest name of an unknown member", async () => {
    const open = [{ path: "deployments[0]", message: expect.stringMatching(/^leaves the /) as string }];
    const { stdout } = await run("policy check $misspelt --format json", 2);
    const faults = [{ path: "deployments[0].pcr" }, ...open, ...open, ...open, { path: "naem" }];
    expect(JSON.parse(stdout)).toMatchObject({ faults, deployments: [] });
  });

  usage("policy check", [["$open", "not strict JSON"]]);

  it("reads stdin, and the anchors beside the file, and tells what is not of AWS", async () => {
    const path = written(PINNED.replace('"aws-nitro-root-g1"', '{ "file": "lab.pem" }'));
    writeFileSync(join(path, "../lab.pem"), forged.anchorPem);
    const coloured = scene(N, { isTTY: true }).having({ path });
    await coloured("policy check $path", 0, "trusts file lab.pem, which is not the AWS", "\u001b[");
    await having({ path: written() })("policy check - < $path", 0, /^WELL-FORMED: stdin pins one/);
  });
});
