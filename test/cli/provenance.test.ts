/** `--provenance` of verify, bundle, pin and audit: which files it takes, what is verified, and the exit codes. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { PolicyFile } from "../../src/appraise/policy.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { LabSigstore } from "../../src/lab/sigstore.js";
import type * as provenance from "../../src/provenance/index.js";
import { DEMAND, GENUINE, NOW as AT, ROOT, bundleOf, enclave, evidence, policyFile } from "../support/provenance.js";
import { GENUINE_RELEASES, ROOT as GITHUB_ROOT } from "../support/github-releases.js";
import { apiKey } from "../client/support.js";
import { BOOT_1, type Names, fileOf, reportOf, scene, vector } from "./support.js";

const state = vi.hoisted(() => ({ isMissing: false }));
vi.mock("../../src/provenance/index.js", async (original) => {
  const real = await original<typeof provenance>();
  const sigstoreVerifier = (): ReturnType<typeof real.sigstoreVerifier> =>
    state.isMissing
      ? Promise.reject(new real.ProvenanceError("provenance takes a package: npm install @sigstore/verify"))
      : real.sigstoreVerifier();
  return { ...real, sigstoreVerifier };
});
beforeEach(() => {
  state.isMissing = false;
});
const MISSING = "npm install @sigstore/verify";

const genuine = JSON.parse(GENUINE) as { dsseEnvelope: object };
const LINE = `${JSON.stringify(genuine)}\n`;
const ENVELOPE = `${JSON.stringify(genuine.dsseEnvelope)}\n`;
/** A policy whose deployments name the trusted root by its file. */
const besideRoot = (policy: unknown): string => {
  const path = fileOf(policy);
  writeFileSync(join(dirname(path), "root.json"), ROOT);
  return path;
};
const unpinned = { ...labDeployment(enclave), pivotHash: undefined, provenance: [DEMAND] };
const [, github] = GENUINE_RELEASES;
const sbom = bundleOf((statement) => (statement["predicateType"] = "https://spdx.dev/Document"));
const foreign = forgeEvidence({ lab: new Forge(), at: AT });
const KEY = fileOf(apiKey);
chmodSync(KEY, 0o600);

const N = {
  ...{ boot: fileOf(evidence.bootProof), build: fileOf(GENUINE, "build.sigstore.json"), boot1: BOOT_1, key: KEY },
  ...{ policy: besideRoot(policyFile(DEMAND)), plain: fileOf(labPolicy(evidence.anchorPem, [labDeployment(enclave)])) },
  ...{ byBuild: besideRoot(labPolicy(evidence.anchorPem, [unpinned as never])), none: fileOf("{}") },
  ...{ binary: vector("provenance/reusable-workflow-artifact"), another: fileOf("another binary", "other") },
  ...{ envelope: fileOf(ENVELOPE), envelopes: fileOf(ENVELOPE.repeat(2)), many: fileOf(LINE.repeat(65)) },
  ...{ most: fileOf(LINE.repeat(64)), latin: fileOf(Uint8Array.of(0xff)), sbom: fileOf(sbom) },
  ...{
    lines: fileOf(`${JSON.stringify(JSON.parse(sbom))}\n${LINE}`, "build.jsonl"),
    changed: fileOf(bundleOf((one) => (one["more"] = 1))),
  },
  ...{
    broken: fileOf('{"verificationMaterial":{},"dsseEnvelope":{}}'),
    empty: fileOf(bundleOf((one) => (one["subject"] = []))),
  },
  ...{
    anchor: fileOf(evidence.anchorPem),
    root: fileOf(ROOT, "trusted_root.json"),
    role: "arn:aws:iam::123456789012:role/A",
  },
  ...{ repository: "https://github.com/malancas/attest-demo", other: "https://github.com/malancas/other" },
  ...{ foreign: fileOf(foreign.bootProof), foreignAnchor: fileOf(foreign.anchorPem) },
  ...{ release: fileOf(github.text), githubRoot: fileOf(GITHUB_ROOT), of: github.release.repository },
  ...{ ofBoot: fileOf(github.evidence.bootProof), ofAnchor: fileOf(github.evidence.anchorPem) },
};
const AROUND = { now: AT.toISOString() };
const { run, having, table, usage } = scene(N, AROUND);
const pinnedIn = (text: string, at = 0): unknown => (JSON.parse(text) as PolicyFile).deployments[at]!.provenance;

describe("measure --provenance", () => {
  const BARE = "a bare DSSE envelope: it carries no certificate and no entry of a log";
  table([
    ["measure --binary $binary --policy $policy --provenance $build", 0, /^PINNED:/, "!(--provenance)"],
    ["measure --binary $binary --policy $byBuild --provenance $build", 0, /^PINNED:/, "!(--provenance)"],
    ["measure --binary $binary --policy $byBuild", 1],
    ["measure --binary $binary --policy $policy", 0, "provenance (--provenance)"],
    [
      "measure --binary $another --policy $policy --provenance $build",
      1,
      /^DIFFERENT:/,
      "!boot[0]",
      "provenance.subject expected ",
    ],
    ["measure --binary $binary --policy $policy --provenance $envelope", 2, BARE],
    ["measure --binary $binary --policy $policy --provenance $envelopes", 2, `bundle 2: ${BARE}`],
    ["inspect $envelope", 2, BARE],
    ["measure --role-arn $role --provenance $build", 2, "--provenance requires --binary"],
    ["measure --binary $binary --policy $plain --provenance $build", 2, "no deployment of the policy demands"],
  ]);

  it.each([
    ["a list", (bundle: unknown) => [bundle]],
    ["an answer of the attestation API", (bundle: unknown) => ({ attestations: [{ bundle }] })],
    ["gh attestation verify", (bundle: unknown) => [{ attestation: { bundle } }]],
  ])("takes the bundle out of the wrapper of %s", async (_, wrap) => {
    const names = { it: fileOf(wrap(genuine)) };
    await having(names)("measure --binary $binary --policy $policy --provenance $it", 0, /^PINNED:/);
  });
});

describe("verify --provenance", () => {
  const verify = "verify --boot-proof $boot --policy";
  table([
    [
      `${verify} $policy --provenance $build`,
      0,
      "Build provenance: provenance[0] = ",
      /ok provenance\.signer/,
      "A run of the workflow",
    ],
    [`${verify} $policy`, 1, "FAIL provenance.bundle", "--provenance FILE"],
    [`${verify} $policy --provenance $broken`, 1, "FAIL provenance.bundle"],
    // A good one beside it counts.
    [`${verify} $policy --provenance $broken $build`, 0],
    [`${verify} $policy --provenance $none`, 2, "not a Sigstore bundle"],
    ["verify --boot-proof $boot --no-policy --provenance $none", 2, "not a Sigstore bundle"],
    ["audit --policy $plain $boot --provenance $none", 2, "not a Sigstore bundle"],
    [`${verify} $policy --provenance $boot1`, 2, "this is a boot proof; --boot-proof takes it"],
    [`${verify} $policy --provenance /no/such`, 2, "no such file"],
    ["verify --provenance $build any --policy $policy", 2, "takes every word up to the next option: if any is the bun"],
    [
      "verify --attestation $boot --provenance $build --policy $policy",
      2,
      "--attestation cannot be used with --provenance",
    ],
    [`${verify} $policy --provenance $many`, 2, "65 bundles of provenance, at most 64 allowed"],
    [`${verify} $policy --provenance $latin`, 2, "not UTF-8"],
  ]);

  const line = LINE.trim();
  it.each([
    ["[]", "not a Sigstore bundle"],
    ['{"verificationMaterial":{}}', "not a Sigstore bundle"],
    [`${line}\n{"dsseEnvelope":{}}\n`, "bundle 2: not a Sigstore bundle"],
    [`${line}\n${line.slice(0, -1)}\n`, "bundle 2: not JSON"],
    ["not JSON", "not JSON"],
    [line.slice(1), "not JSON"],
  ])("is exit code 2 for what is not a bundle, demanded or not", async (text, says) => {
    await having({ it: fileOf(text) })(`${verify} $plain --provenance $it`, 2, says);
  });

  it("takes JSON Lines, and several files", async () => {
    for (const files of ["$lines", "$sbom $build"]) {
      const { evidence: pieces, checks } = reportOf(
        await run(`${verify} $policy --format json --provenance ${files}`, 0),
      );
      expect(pieces.map(({ subject }) => subject)).toEqual(["boot[0]", "provenance[0]", "provenance[1]"]);
      const statuses = checks.flatMap(({ id, status }) => (id === "provenance.bundle" ? status : []));
      expect(statuses).toEqual(["skip", "pass"]);
      if (files === "$lines") expect(pieces[1]!.name).toBe(`${N.lines}[0]`);
    }
  });

  it("without the package is exit code 2 where it is demanded, and lists bundles else", async () => {
    state.isMissing = true;
    for (const more of ["", " --provenance $build"]) await run(`${verify} $policy${more}`, 2, MISSING);
    await run("measure --binary $binary --policy $policy --provenance $build", 2, MISSING);
    await run("audit --policy $policy $boot --provenance $build", 2, MISSING);
    await run(`${verify} $plain --provenance $build`, 0, "this bundle proves nothing");
    await run(
      "verify --boot-proof $boot --no-policy --trust-anchor $anchor --provenance $build",
      0,
      "!A run of the workflow",
    );
  });
});

describe("a bundle", () => {
  it("packs provenance with the roots inside, for verify to take", async () => {
    const { stdout } = await run("bundle --boot-proof $boot --provenance $build --policy $policy", 0, "VERIFIED");
    const packed = JSON.parse(stdout) as { provenance: unknown; policy: PolicyFile };
    expect(packed.provenance).toEqual([genuine]);
    expect(packed.policy.deployments[0]!.provenance![0]).toMatchObject({ trustedRoot: { json: ROOT } });
    const names = { it: fileOf(stdout) };
    await having(names)("verify $it --policy $policy", 0, "A run of the workflow");
    // Those of the caller stand before those inside.
    for (const by of ["--policy $policy", "--bundle-policy --trust-anchor $anchor"]) {
      const answer = await having(names)(`verify $it --provenance $empty --format json ${by}`, 0);
      const { evidence: pieces, checks } = reportOf(answer);
      expect(pieces.slice(1).map(({ name }) => name)).toEqual([N.empty, names.it]);
      const statuses = checks.flatMap(({ id, status }) => (id === "provenance.bundle" ? status : []));
      expect(statuses).toEqual(["skip", "pass"]);
    }
    const most = "verify $it --provenance $most --policy $policy";
    await having(names)(most, 2, "65 bundles of provenance, including those in");
    state.isMissing = true;
    await having(names)("verify $it --policy $plain", 2, MISSING);
  });

  it("without it meets a demand by --provenance", async () => {
    const names = { it: fileOf((await run("bundle --boot-proof $boot --policy $plain", 0)).stdout) };
    await having(names)("verify $it --policy $policy", 1, "no bundle was given");
    await having(names)("verify $it --provenance $build --policy $policy", 0, "A run of the workflow", "!differs");
    await having(names)("verify $it --provenance $empty --policy $policy", 1, "FAIL provenance.bundle");
  });
});

describe("commands that verify for long", () => {
  const to = "--base-url https://127.0.0.1:1 --organization-id x --api-key-file $key";
  usage("", [
    [`watch --app signer ${to} --policy $policy`, "demands provenance"],
    ["proxy --upstream https://127.0.0.1:1 --boot-proof $boot --policy $policy", "demands provenance"],
  ]);
});

describe("pin --provenance", () => {
  const all = "--provenance $build --repository $repository --trusted-root $root";
  const pin = "pin --boot-proof $boot --trust-anchor $anchor";

  it("writes what the bundle shows, loudly, and the same evidence verifies under it", async () => {
    const { stdout } = await run(`${pin} ${all}`, 0, "Pinned the build that the bundle names");
    expect(pinnedIn(stdout)).toEqual([
      {
        issuer: "https://token.actions.githubusercontent.com",
        repository: N.repository,
        repositoryId: "804070735",
        workflow: ".github/workflows/shared.yml",
        ref: "refs/heads/main",
        signer: expect.stringMatching(/attest\.yml@09b495c3f12c7881b3cc17209a327792065c1a1d$/) as string,
        runner: "github-hosted",
        trigger: "workflow_dispatch",
        commit: "95baf27389e83e6a5c48f42e190d48d7abcea19e",
        predicateTypes: "https://slsa.dev/provenance/v1",
        trustedRoot: { json: ROOT },
      },
    ]);
    await having({ it: fileOf(stdout) })("verify --boot-proof $boot --provenance $build --policy $it", 0);
  });

  table([
    [
      `${pin} --provenance $changed --repository $repository --trusted-root $root`,
      1,
      /^Not pinned\. .*provenance\.bundle/,
    ],
    [`pin --boot-proof $foreign --trust-anchor $foreignAnchor ${all}`, 1, "provenance.subject"],
    [`${pin} --provenance $build`, 2, /--provenance requires --repository.*--provenance requires --trusted-root/],
    [`${pin} --repository $repository`, 2, "--repository requires --provenance"],
    [
      `${pin} --provenance $build --repository $other --trusted-root $root`,
      2,
      "the repository is https://github.com/malancas/a",
    ],
    [`${pin} --provenance $build --repository $repository --trusted-root $build`, 2, "this is a provenance bundle"],
    [
      `${pin} --provenance $root --repository $repository --trusted-root $root`,
      2,
      "this is a trusted root of Sigstore; --trusted-root takes it",
    ],
  ]);
});

describe("pin --provenance --github-release", () => {
  const pin = "pin --boot-proof $ofBoot --trust-anchor $ofAnchor --provenance $release";
  const all = "--github-release --repository $of --trusted-root $githubRoot";
  const verify = "verify --boot-proof $ofBoot --provenance $release --policy $it";

  it("writes what the statement names, loudly, and the same evidence verifies under it", async () => {
    const { stdout } = await run(
      `${pin} ${all}`,
      0,
      "Pinned the release of GitHub that the bundle names",
      "Whoever may publish a release uploads any file, so no source and no build is pinned",
    );
    expect(pinnedIn(stdout)).toEqual([{ githubRelease: github.release, trustedRoot: { json: GITHUB_ROOT } }]);
    const { tag, repository } = github.release;
    await having({ it: fileOf(stdout) })(verify, 0, `release "${tag}" of "${repository}" carries`);
    const open = { it: fileOf(stdout.replace(/\s*"tag": "[^"]*",?/, "").replace(/,(\s*\})/, "$1")) };
    await having(open)(`${verify} --fail-on-warning`, 1, "leaves the tag open");
  });

  it("takes the tenant from the caller", async () => {
    const sigstore = new LabSigstore({ kind: "private" });
    const bundle = sigstore.attest({ at: AT, digest: github.lab.pivotHash, release: { tenant: "acme" } });
    const names = { it: fileOf(bundle), own: fileOf(JSON.stringify(sigstore.trustedRoot)) };
    const line =
      "pin --boot-proof $ofBoot --trust-anchor $ofAnchor --provenance $it --github-release " +
      "--repository acme/oracle --trusted-root $own";
    const { stdout } = await having(names)(`${line} --tenant acme`, 0);
    expect(pinnedIn(stdout)).toMatchObject([{ githubRelease: { tenant: "acme" } }]);
    await having(names)(line, 2, /not pinned: .*not a statement of https:\/\/dotcom\.releases\.github\.com/);
  });

  it("pins nothing that does not verify, or has no such binary", async () => {
    const changed = JSON.parse(github.text) as { dsseEnvelope: { payload: string } };
    const payload = Buffer.from(changed.dsseEnvelope.payload, "base64").toString().replace(github.release.tag, "v9");
    changed.dsseEnvelope.payload = Buffer.from(payload).toString("base64");
    const [{ evidence: first }] = GENUINE_RELEASES;
    const names = { it: fileOf(changed), boot: fileOf(first.bootProof), anchor: fileOf(first.anchorPem) };
    const line = `pin --boot-proof $ofBoot --trust-anchor $ofAnchor --provenance $it ${all}`;
    await having(names)(line, 1, /^Not pinned\. .*provenance\.bundle/);
    const other = `pin --boot-proof $boot --trust-anchor $anchor --provenance $release ${all}`;
    await having(names)(other, 1, "provenance.subject");
  });

  usage("", [
    [`${pin} --github-release`, "--github-release requires --repository"],
    [`${pin} --repository $of --trusted-root $githubRoot --tenant acme`, "--tenant requires --github-release"],
    [`${pin} --repository $of --trusted-root $githubRoot`, /not pinned: .*the repository is absent/],
    [
      `${pin} --github-release --repository https://github.com/jdx/communique --trusted-root $githubRoot`,
      /not pinned: .*the repository is jdx\/communique/,
    ],
    [`${pin} --github-release --repository $of --trusted-root $root`, /not pinned: .*demands entries of its logs/],
    [`${pin} ${all} --tenant dotcom`, /not pinned: .*tenant: expected one DNS label/],
    [
      `pin --boot-proof $boot --trust-anchor $anchor --provenance $build ${all}`,
      /not pinned: .*not a statement of .* on a release/,
    ],
  ]);
});

describe("pin --add-to --provenance", () => {
  const successor = forgeEvidence({
    lab: enclave,
    at: AT,
    alterManifest: { manifest: (one) => ({ ...one, namespace: { ...one.namespace, nonce: 8 } }) },
  });
  /** Of an earlier program: one that the new boot proof met would count first. */
  const demanding = (members: object, pivotHash: unknown = "cd".repeat(32)): Names => {
    const deployment = { ...labDeployment(enclave), labels: {}, name: "old", pivotHash };
    const provenance = [JSON.parse(JSON.stringify({ ...DEMAND, ...members }))] as never;
    const to = besideRoot(labPolicy(successor.anchorPem, [{ ...deployment, provenance } as never]));
    return { to, new: fileOf(successor.bootProof) };
  };
  const EARLIER = { ref: "refs/tags/v1", commit: "00".repeat(20) };
  const add = "pin --boot-proof $new --add-to $to";
  const OTHER = { repository: N.other };

  it("pins anew what named another version, and the result verifies both", async () => {
    const names = demanding(EARLIER);
    await having(names)(`${add} --provenance $build`, 0, `commit ${DEMAND.commit}, ref ${DEMAND.ref}`);
    expect(pinnedIn(readFileSync(names["to"] as string, "utf8"), 1)).toEqual([DEMAND]);
    await having(names)("verify --boot-proof $new --provenance $build --policy $to", 0);
  });

  it("is asked for where it is missing", async () => {
    for (const names of [demanding({}), demanding(EARLIER)]) {
      await having(names)(add, 2, /--provenance FILE.*--drop prov/);
      await having(names)(`${add} --drop provenance`, 0);
    }
  });

  it("refuses what an earlier one accepts first, another repository, and a bundle that nobody signed", async () => {
    const first = demanding({}, labDeployment(enclave)["pivotHash"]);
    const ONE = "If an earlier deployment in the file accepts the same boot proof, that one is used";
    await having(first)(`${add} --drop provenance`, 2, ONE);
    await having(demanding(OTHER))(`${add} --provenance $build`, 2, "another repository");
    const names = demanding(EARLIER);
    const before = readFileSync(names["to"] as string, "utf8");
    const REJECTS = /the result would reject this boot proof: .*provenance\.bundle.*--drop provenance/;
    await having(names)(`${add} --provenance $changed`, 2, REJECTS);
    await having(names)(`${add} --provenance $none`, 2, "$none: ");
    expect(readFileSync(names["to"] as string, "utf8")).toBe(before);
  });

  it("takes a repository of the caller, which has to be the one that is demanded", async () => {
    const names = { ...demanding(EARLIER), demanded: DEMAND.repository };
    const own = "--provenance $build --repository $demanded";
    await having(names)(`${add} ${own} --trusted-root $root`, 0);
    const written = pinnedIn(readFileSync(names["to" as never] as string, "utf8"), 1);
    expect(written).toMatchObject([{ trustedRoot: { json: ROOT } }]);
    const elsewhere = { ...demanding(OTHER), demanded: DEMAND.repository };
    await having(elsewhere)(`${add} ${own} --trusted-root $root`, 2, "--drop provenance");
    await having(names)(`${add} ${own}`, 2, "--provenance requires --trusted-root");
  });
});
