/** `--provenance` of verify, bundle, pin and audit: which files it takes, what is verified, and the exit codes. */
import { dirname, join } from "node:path";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { LabSigstore } from "../../src/lab/sigstore.js";
import { ProvenanceError } from "../../src/provenance/index.js";
import type * as provenance from "../../src/provenance/index.js";
import { DEMAND, GENUINE, NOW as AT, ROOT, bundleOf, enclave, evidence, policyFile } from "../support/provenance.js";
import { GENUINE_RELEASES, ROOT as GITHUB_ROOT } from "../support/github-releases.js";
import { apiKey } from "../client/support.js";
import { BOOT_1, bootproof, fileOf, vector, refused } from "./support.js";

const NOW = { now: AT.toISOString() };
const BOOT = fileOf(evidence.bootProof);
const BUILD = fileOf(GENUINE, "build.sigstore.json");
const POLICY = fileOf(policyFile(DEMAND), "demanding.json");
writeFileSync(join(dirname(POLICY), "root.json"), ROOT);
const PLAIN = fileOf(labPolicy(evidence.anchorPem, [labDeployment(enclave)]));

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

const verify = (...args: string[]): ReturnType<typeof bootproof> =>
  bootproof(["verify", "--boot-proof", BOOT, ...args], NOW);

describe("measure --provenance", () => {
  const BINARY = vector("provenance/reusable-workflow-artifact");
  const OTHER = fileOf("another binary", "other");
  const measure = (binary: string, ...args: string[]): ReturnType<typeof bootproof> =>
    bootproof(["measure", "--binary", binary, ...args], NOW);

  it("says that the policy pins the genuine binary, by who built it", async () => {
    const unpinned = labDeployment(enclave) as Record<string, unknown>;
    delete unpinned["pivotHash"];
    const byBuild = fileOf(
      labPolicy(evidence.anchorPem, [{ ...unpinned, provenance: [DEMAND] } as never]),
      "build.json",
    );
    for (const policy of [POLICY, byBuild]) {
      const { code, stdout } = await measure(BINARY, "--policy", policy, "--provenance", BUILD);
      expect([code, stdout.split(":", 1)]).toEqual([0, ["PINNED"]]);
      expect(stdout).not.toContain("(--provenance)");
    }
    expect((await measure(BINARY, "--policy", byBuild)).code).toBe(1);
    const { code, stdout } = await measure(BINARY, "--policy", POLICY);
    expect([code, stdout]).toEqual([0, expect.stringContaining("provenance (--provenance)")]);
  });

  it.each([
    ["a list", (bundle: unknown) => [bundle]],
    ["an answer of the attestation API", (bundle: unknown) => ({ attestations: [{ bundle }] })],
    ["gh attestation verify", (bundle: unknown) => [{ attestation: { bundle } }]],
  ])("takes the bundle out of the wrapper of %s", async (_, wrap) => {
    const file = fileOf(wrap(JSON.parse(GENUINE)), "wrapped.json");
    const { code, stdout } = await measure(BINARY, "--policy", POLICY, "--provenance", file);
    expect([code, stdout.split(":", 1)]).toEqual([0, ["PINNED"]]);
  });

  it("refuses a bare DSSE envelope in so many words, as inspect does", async () => {
    const { dsseEnvelope } = JSON.parse(GENUINE) as { dsseEnvelope: object };
    const words = "a bare DSSE envelope: it carries no certificate and no entry of a log";
    const line = `${JSON.stringify(dsseEnvelope)}\n`;
    const [one, two] = [fileOf(line, "build.intoto.jsonl"), fileOf(line.repeat(2), "builds.intoto.jsonl")];
    await refused(2, measure(BINARY, "--policy", POLICY, "--provenance", one), words);
    await refused(2, measure(BINARY, "--policy", POLICY, "--provenance", two), `bundle 2: ${words}`);
    await refused(2, bootproof(["inspect", one]), words);
  });

  it("refuses another binary, and says by which check", async () => {
    const { code, stdout } = await measure(OTHER, "--policy", POLICY, "--provenance", BUILD);
    expect([code, stdout.split(":", 1)]).toEqual([1, ["DIFFERENT"]]);
    expect(stdout).toContain("\nprovenance.subject\n  expected  ");
    expect(stdout).not.toContain("boot[0]");
  });

  it("demands a binary, and a policy that demands provenance", async () => {
    const alone = await bootproof(["measure", "--role-arn", "arn:aws:iam::123456789012:role/A", "--provenance", BUILD]);
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining("--provenance requires --binary")]);
    const plain = await measure(BINARY, "--policy", PLAIN, "--provenance", BUILD);
    expect([plain.code, plain.stderr]).toEqual([2, expect.stringContaining("no deployment of the policy demands")]);
    state.isMissing = true;
    const missing = await measure(BINARY, "--policy", POLICY, "--provenance", BUILD);
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("npm install @sigstore/verify")]);
  });
});

describe("verify --provenance", () => {
  it("verifies who built the binary", async () => {
    const { code, stdout, stderr } = await verify("--provenance", BUILD, "--policy", POLICY);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("Build provenance: provenance[0] = ");
    expect(stdout).toMatch(/ok +provenance\.signer/);
    expect(stdout).toMatch(/A run of the workflow/);
  });

  it("takes JSON Lines, and several files", async () => {
    const sbom = bundleOf((statement) => (statement["predicateType"] = "https://spdx.dev/Document"));
    const lines = fileOf(
      `${JSON.stringify(JSON.parse(sbom))}\n${JSON.stringify(JSON.parse(GENUINE))}\n`,
      "build.jsonl",
    );
    for (const files of [[lines], [fileOf(sbom), BUILD]]) {
      const { code, stdout } = await verify("--provenance", ...files, "--policy", POLICY, "--format", "json");
      const { evidence: pieces, checks } = JSON.parse(stdout) as {
        evidence: { subject: string; name: string }[];
        checks: { id: string; subject: string; status: string }[];
      };
      expect(code).toBe(0);
      expect(pieces.map(({ subject }) => subject)).toEqual(["boot[0]", "provenance[0]", "provenance[1]"]);
      expect(checks.filter(({ id }) => id === "provenance.bundle").map(({ status }) => status)).toEqual([
        "skip",
        "pass",
      ]);
      if (files[0] === lines) expect(pieces[1]!.name).toBe(`${lines}[0]`);
    }
  });

  it("is exit code 1 where the demand is not met, and says by which check", async () => {
    const none = await verify("--policy", POLICY);
    expect(none.code).toBe(1);
    expect(none.stdout).toMatch(/FAIL +provenance\.bundle/);
    expect(none.stdout).toContain("--provenance FILE");
    const broken = fileOf('{"verificationMaterial":{},"dsseEnvelope":{}}');
    const malformed = await verify("--provenance", broken, "--policy", POLICY);
    expect([malformed.code, malformed.stdout]).toEqual([1, expect.stringMatching(/FAIL +provenance\.bundle/)]);
    // A good one beside it counts.
    expect((await verify("--provenance", broken, BUILD, "--policy", POLICY)).code).toBe(0);
  });

  it("is exit code 2 for what is not a bundle, demanded or not", async () => {
    const line = JSON.stringify(JSON.parse(GENUINE));
    for (const [text, message] of [
      ["{}", "not a Sigstore bundle"],
      ["[]", "not a Sigstore bundle"],
      ['{"verificationMaterial":{}}', "not a Sigstore bundle"],
      [`${line}\n{"dsseEnvelope":{}}\n`, "bundle 2: not a Sigstore bundle"],
      [`${line}\n${line.slice(0, -1)}\n`, "bundle 2: not JSON"],
      ["not JSON", "not JSON"],
      [line.slice(1), "not JSON"],
    ] as const) {
      const file = fileOf(text);
      await refused(2, verify("--provenance", file, "--policy", PLAIN), message);
    }
    const none = fileOf("{}");
    await refused(2, verify("--provenance", none, "--policy", POLICY), "not a Sigstore bundle");
    await refused(2, verify("--provenance", none, "--no-policy"), "not a Sigstore bundle");
    await refused(2, bootproof(["audit", "--policy", PLAIN, BOOT, "--provenance", none], NOW), "not a Sigstore bundle");
  });

  it("is listed without a demand, and takes no package", async () => {
    state.isMissing = true;
    const { code, stdout } = await verify("--provenance", BUILD, "--policy", PLAIN);
    expect(code).toBe(0);
    expect(stdout.replace(/\s+/g, " ")).toContain("this bundle proves nothing");
    const none = await verify("--provenance", BUILD, "--no-policy");
    expect(none.stdout).not.toContain("A run of the workflow");
  });

  it("without the package is exit code 2, with the command that installs it", async () => {
    state.isMissing = true;
    for (const args of [[], ["--provenance", BUILD]]) {
      await refused(2, verify(...args, "--policy", POLICY), "npm install @sigstore/verify");
    }
    expect(new ProvenanceError("x").code).toBe("missing");
  });

  it("takes no other file, and stands beside no bare document", async () => {
    const refused = async (...args: string[]): Promise<string> => {
      const { code, stderr } = await bootproof(["verify", ...args], NOW);
      expect(code).toBe(2);
      return stderr;
    };
    const boot = await refused("--boot-proof", BOOT, "--provenance", BOOT_1, "--policy", POLICY);
    expect(boot).toContain("this is a boot proof; --boot-proof takes it");
    expect(await refused("--boot-proof", BOOT, "--provenance", "/no/such", "--policy", POLICY)).toContain(
      "no such file",
    );
    expect(await refused("--provenance", BUILD, "any", "--policy", POLICY)).toContain(
      "--provenance takes every word up to the next option: if any is the bundle",
    );
    const bare = await refused("--attestation", BOOT, "--provenance", BUILD, "--policy", POLICY);
    expect(bare).toContain("--attestation is for a bare document, and excludes --provenance");
    const many = fileOf(`${JSON.stringify(JSON.parse(GENUINE))}\n`.repeat(65), "many.jsonl");
    const most = await refused("--boot-proof", BOOT, "--provenance", many, "--policy", POLICY);
    expect(most).toContain("65 bundles of provenance, at most 64 allowed");
    const text = await refused("--boot-proof", BOOT, "--provenance", fileOf(Uint8Array.of(0xff)), "--policy", POLICY);
    expect(text).toContain("not UTF-8");
  });
});

describe("bundle --provenance", () => {
  it("packs what verify then takes, with the roots inside", async () => {
    const args = ["--boot-proof", BOOT, "--provenance", BUILD, "--policy", POLICY];
    const { code, stdout, stderr } = await bootproof(["bundle", ...args], NOW);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^VERIFIED/)]);
    const packed = JSON.parse(stdout) as { provenance: unknown; policy: { deployments: { provenance: object[] }[] } };
    expect(packed.provenance).toEqual([JSON.parse(GENUINE)]);
    expect(packed.policy.deployments[0]!.provenance[0]).toMatchObject({ trustedRoot: { json: ROOT } });
    const file = fileOf(stdout);
    const again = await bootproof(["verify", file, "--policy", POLICY], NOW);
    expect([again.code, again.stderr]).toEqual([0, ""]);
    expect(again.stdout).toContain("A run of the workflow");
    state.isMissing = true;
    const without = await bootproof(["verify", file, "--policy", PLAIN], NOW);
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining("npm install @sigstore/verify")]);
  });
});

describe("verify BUNDLE --provenance", () => {
  const packed = async (...args: string[]): Promise<string> => {
    const { code, stdout } = await bootproof(["bundle", "--boot-proof", BOOT, ...args], NOW);
    expect([0, 1]).toContain(code);
    return fileOf(stdout);
  };
  const other = fileOf(bundleOf((statement) => (statement["subject"] = [])));

  it("meets a demand of the caller's policy, or of the bundle's", async () => {
    const plain = await packed("--policy", PLAIN);
    const missing = await bootproof(["verify", plain, "--policy", POLICY], NOW);
    expect([missing.code, missing.stdout]).toEqual([1, expect.stringContaining("no bundle was given")]);
    const met = await bootproof(["verify", plain, "--provenance", BUILD, "--policy", POLICY], NOW);
    expect([met.code, met.stderr]).toEqual([0, ""]);
    expect(met.stdout).toContain("A run of the workflow");
    expect(met.stdout).not.toContain("differs");
    const refused = await bootproof(["verify", plain, "--provenance", other, "--policy", POLICY], NOW);
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(/FAIL +provenance\.bundle/)]);
  });

  it("stands before those inside", async () => {
    const file = await packed("--provenance", BUILD, "--policy", POLICY);
    const argv = ["verify", file, "--provenance", other, "--policy", POLICY, "--format", "json"];
    const { code, stdout } = await bootproof(argv, NOW);
    const { evidence: pieces } = JSON.parse(stdout) as { evidence: { subject: string; name: string }[] };
    const told = pieces.map(({ subject, name }) => [subject, name]);
    expect([code, ...told.slice(1)]).toEqual([0, ["provenance[0]", other], ["provenance[1]", file]]);
    const anchor = fileOf(evidence.anchorPem, "anchor-of-the-bundle.pem");
    const own = await bootproof(
      ["verify", file, "--provenance", other, "--bundle-policy", "--trust-anchor", anchor, "--format", "json"],
      NOW,
    );
    const { checks } = JSON.parse(own.stdout) as { checks: { id: string; status: string }[] };
    const statuses = checks.filter(({ id }) => id === "provenance.bundle").map(({ status }) => status);
    expect([own.code, statuses]).toEqual([0, ["skip", "pass"]]);
    const line = `${JSON.stringify(JSON.parse(GENUINE))}\n`;
    const most = fileOf(line.repeat(64), "most.jsonl");
    await refused(
      2,
      bootproof(["verify", file, "--provenance", most, "--policy", POLICY], NOW),
      "65 bundles of provenance, including those in",
    );
  });
});

describe("commands that verify for long", () => {
  const KEY = fileOf(apiKey);
  chmodSync(KEY, 0o600);
  it.each([
    ["watch", "--app", "signer", "--base-url", "https://127.0.0.1:1", "--organization-id", "x", "--api-key-file", KEY],
    ["proxy", "--upstream", "https://127.0.0.1:1", "--boot-proof", BOOT],
  ])("%s refuses a policy that demands provenance, without its bundles", (...args) =>
    refused(2, bootproof([...args, "--policy", POLICY], NOW), "demands provenance"),
  );
});

describe("pin --provenance", () => {
  const repository = "https://github.com/malancas/attest-demo";
  const ANCHOR = fileOf(evidence.anchorPem, "lab-anchor.pem");
  const ROOT_FILE = fileOf(ROOT, "trusted_root.json");
  const pin = (...args: string[]): ReturnType<typeof bootproof> =>
    bootproof(["pin", "--boot-proof", BOOT, "--trust-anchor", ANCHOR, ...args], NOW);
  const all = ["--provenance", BUILD, "--repository", repository, "--trusted-root", ROOT_FILE];

  it("writes what the bundle shows, loudly, and the same evidence verifies under it", async () => {
    const { code, stdout, stderr } = await pin(...all);
    expect([code, stderr]).toEqual([0, expect.stringContaining("Pinned the build that the bundle names")]);
    const { deployments } = JSON.parse(stdout) as { deployments: { provenance: object[] }[] };
    expect(deployments[0]!.provenance).toEqual([
      {
        issuer: "https://token.actions.githubusercontent.com",
        repository,
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
    const again = await verify("--provenance", BUILD, "--policy", fileOf(stdout, "pinned-builds.json"));
    expect([again.code, again.stderr]).toEqual([0, ""]);
  });

  it("pins nothing that does not verify, or is of another binary", async () => {
    const other = fileOf(
      bundleOf((statement) => (statement["predicateType"] = "https://example.com")),
      "changed.json",
    );
    const changed = await pin("--provenance", other, "--repository", repository, "--trusted-root", ROOT_FILE);
    expect([changed.code, changed.stdout]).toEqual([1, ""]);
    expect(changed.stderr).toMatch(/^Not pinned\.\n[^]*provenance\.bundle/);
    const another = forgeEvidence({ lab: new Forge(), at: AT });
    const foreign = await bootproof(
      ["pin", "--boot-proof", fileOf(another.bootProof), "--trust-anchor", fileOf(another.anchorPem), ...all],
      NOW,
    );
    expect([foreign.code, foreign.stdout]).toEqual([1, ""]);
    expect(foreign.stderr).toContain("provenance.subject");
  });

  it("takes repository and root from the caller, with a boot proof", async () => {
    for (const [args, message] of [
      [["--provenance", BUILD], /--provenance requires --repository[^]*--provenance requires --trusted-root/],
      [["--repository", repository], /--repository requires --provenance/],
      [
        all.with(3, "https://github.com/malancas/other"),
        /not pinned: .*the repository is https:\/\/github\.com\/malancas\/a/,
      ],
      [all.with(5, BUILD), /this is a provenance bundle/],
      [all.with(1, ROOT_FILE), /this is a trusted root of Sigstore; --trusted-root takes it/],
    ] as const) {
      await refused(2, pin(...args), message);
    }
  });
});

describe("pin --provenance --github-release", () => {
  const [, of] = GENUINE_RELEASES;
  const { release } = of;
  const FILE = fileOf(of.text, "release.sigstore.json");
  const ROOT_FILE = fileOf(GITHUB_ROOT, "github_root.json");
  const ANCHOR = fileOf(of.evidence.anchorPem, "release-anchor.pem");
  const boot = fileOf(of.evidence.bootProof, "release-boot.json");
  const pin = (...args: string[]): ReturnType<typeof bootproof> =>
    bootproof(["pin", "--boot-proof", boot, "--trust-anchor", ANCHOR, "--provenance", FILE, ...args], NOW);
  const all = ["--github-release", "--repository", release.repository, "--trusted-root", ROOT_FILE];

  it("writes what the statement names, loudly, and the same evidence verifies under it", async () => {
    const { code, stdout, stderr } = await pin(...all);
    const says = stderr.replaceAll(/\s+/g, " ");
    expect([code, says]).toEqual([0, expect.stringContaining("Pinned the release of GitHub that the bundle names")]);
    expect(says).toContain("Whoever may publish a release uploads any file, so no source and no build is pinned");
    const { deployments } = JSON.parse(stdout) as { deployments: { provenance: object[] }[] };
    expect(deployments[0]!.provenance).toEqual([{ githubRelease: release, trustedRoot: { json: GITHUB_ROOT } }]);
    const policy = fileOf(stdout, "pinned-release.json");
    const again = await bootproof(["verify", "--boot-proof", boot, "--provenance", FILE, "--policy", policy], NOW);
    expect([again.code, again.stderr]).toEqual([0, ""]);
    expect(again.stdout.replaceAll(/\s+/g, " ")).toContain(
      `release "${release.tag}" of "${release.repository}" carries`,
    );
    const { tag, ...untagged } = release;
    expect(stdout).toContain(JSON.stringify(tag));
    const open = JSON.parse(stdout) as { deployments: { provenance: { githubRelease: object }[] }[] };
    open.deployments[0]!.provenance[0]!.githubRelease = untagged;
    const warned = ["verify", "--boot-proof", boot, "--provenance", FILE, "--policy", fileOf(open)];
    const { code: warnedCode, stdout: text } = await bootproof([...warned, "--fail-on-warning"], NOW);
    expect([warnedCode, text.replaceAll(/\s+/g, " ")]).toEqual([1, expect.stringContaining("leaves the tag open")]);
  });

  it("takes the tenant from the caller", async () => {
    const sigstore = new LabSigstore({ kind: "private" });
    const digest = of.lab.pivotHash;
    const bundle = fileOf(sigstore.attest({ at: AT, digest, release: { tenant: "acme" } }), "tenant.sigstore.json");
    const root = fileOf(JSON.stringify(sigstore.trustedRoot), "lab-root.json");
    const ofTenant = [
      "pin",
      "--boot-proof",
      boot,
      "--trust-anchor",
      ANCHOR,
      "--provenance",
      bundle,
      "--github-release",
    ];
    const whole = [...ofTenant, "--repository", "acme/oracle", "--trusted-root", root];
    const { code, stdout } = await bootproof([...whole, "--tenant", "acme"], NOW);
    const { deployments } = JSON.parse(stdout) as { deployments: { provenance: object[] }[] };
    expect([code, deployments[0]!.provenance]).toMatchObject([0, [{ githubRelease: { tenant: "acme" } }]]);
    await refused(2, bootproof(whole, NOW), /not pinned: .*not a statement of https:\/\/dotcom\.releases\.github\.com/);
  });

  it("pins nothing that does not verify, or has no such binary", async () => {
    const changed = JSON.parse(of.text) as { dsseEnvelope: { payload: string } };
    const payload = Buffer.from(changed.dsseEnvelope.payload, "base64").toString().replace(release.tag, "v9");
    changed.dsseEnvelope.payload = Buffer.from(payload).toString("base64");
    const unsigned = await bootproof(
      ["pin", "--boot-proof", boot, "--trust-anchor", ANCHOR, "--provenance", fileOf(changed), ...all],
      NOW,
    );
    expect([unsigned.code, unsigned.stdout]).toEqual([1, ""]);
    expect(unsigned.stderr).toMatch(/^Not pinned\.\n[^]*provenance\.bundle/);
    const [{ evidence: other }] = GENUINE_RELEASES;
    const foreign = ["pin", "--boot-proof", fileOf(other.bootProof), "--trust-anchor", fileOf(other.anchorPem)];
    const { code, stderr } = await bootproof([...foreign, "--provenance", FILE, ...all], NOW);
    expect([code, stderr]).toEqual([1, expect.stringContaining("provenance.subject")]);
  });

  it("refuses what is incomplete or of the other kind", async () => {
    for (const [args, message] of [
      [["--github-release"], /--github-release requires --repository/],
      [[...all.slice(1), "--tenant", "acme"], /--tenant requires --github-release/],
      [all.slice(1), /not pinned: .*the repository is absent/],
      [all.with(2, "https://github.com/jdx/communique"), /not pinned: .*the repository is jdx\/communique/],
      [all.with(4, fileOf(ROOT, "public-root.json")), /not pinned: .*demands entries of its logs/],
      [[...all, "--tenant", "dotcom"], /not pinned: .*tenant: expected one DNS label/],
    ] as const)
      await refused(2, pin(...args), message);
    const build = ["pin", "--boot-proof", BOOT, "--trust-anchor", fileOf(evidence.anchorPem), "--provenance", BUILD];
    await refused(2, bootproof([...build, ...all], NOW), /not pinned: .*not a statement of .* on a release/);
  });
});

describe("pin --add-to --provenance", () => {
  const successor = forgeEvidence({
    lab: enclave,
    at: AT,
    alterManifest: { manifest: (one) => ({ ...one, namespace: { ...one.namespace, nonce: 8 } }) },
  });
  const NEW_BOOT = fileOf(successor.bootProof);
  /** Of an earlier program: one that the new boot proof met would count first. */
  const demanding = (members: object, pivotHash = "cd".repeat(32)): string => {
    const deployment = { ...labDeployment(enclave), labels: {}, name: "old", pivotHash };
    const provenance = [JSON.parse(JSON.stringify({ ...DEMAND, ...members }))] as never;
    const path = fileOf(labPolicy(successor.anchorPem, [{ ...deployment, provenance }]));
    writeFileSync(join(dirname(path), "root.json"), ROOT);
    return path;
  };
  const add = (path: string, ...args: string[]): ReturnType<typeof bootproof> =>
    bootproof(["pin", "--boot-proof", NEW_BOOT, "--add-to", path, ...args], NOW);
  const DEMANDED = labDeployment(enclave)["pivotHash"] as string;
  const EARLIER = { ref: "refs/tags/v1", commit: "00".repeat(20) };

  it("pins anew what named another version, and the result verifies both", async () => {
    const path = demanding(EARLIER);
    const { code, stderr } = await add(path, "--provenance", BUILD);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`commit ${DEMAND.commit}, ref ${DEMAND.ref}`)]);
    const { deployments } = JSON.parse(readFileSync(path, "utf8")) as { deployments: { provenance: object[] }[] };
    expect(deployments[1]!.provenance).toEqual([DEMAND]);
    const again = await bootproof(["verify", "--boot-proof", NEW_BOOT, "--provenance", BUILD, "--policy", path], NOW);
    expect([again.code, again.stderr]).toEqual([0, ""]);
  });

  it("is asked for where it is missing", async () => {
    for (const path of [demanding({}), demanding(EARLIER)]) {
      const { code, stderr } = await add(path);
      expect([code, stderr.replaceAll(/\s+/g, " ")]).toEqual([
        2,
        expect.stringMatching(/--provenance FILE.*--drop prov/),
      ]);
      expect((await add(path, "--drop", "provenance")).code).toBe(0);
    }
  });

  it("refuses a boot proof that an earlier deployment accepts first, and demands more of", async () => {
    const path = demanding({}, DEMANDED);
    const { code, stderr } = await add(path, "--drop", "provenance");
    expect([code, stderr.replaceAll(/\s+/g, " ")]).toEqual([
      2,
      expect.stringContaining("If an earlier deployment in the file accepts the same boot proof, that one is used"),
    ]);
  });

  it("refuses another repository, a bundle that nobody signed, and one that is malformed", async () => {
    const other = await add(demanding({ repository: "https://github.com/malancas/other" }), "--provenance", BUILD);
    expect([other.code, other.stderr.replaceAll(/\s+/g, " ")]).toEqual([
      2,
      expect.stringContaining("another repository"),
    ]);
    const unsigned = fileOf(bundleOf((statement) => (statement["more"] = 1)));
    const path = demanding(EARLIER);
    const before = readFileSync(path, "utf8");
    const refused = await add(path, "--provenance", unsigned);
    const says = refused.stderr.replaceAll(/\s+/g, " ");
    expect([refused.code, readFileSync(path, "utf8")]).toEqual([2, before]);
    expect(says).toMatch(/the result would reject this boot proof: .*provenance\.bundle.*--drop provenance/);
    const broken = fileOf("{}");
    const malformed = await add(path, "--provenance", broken);
    expect([malformed.code, malformed.stderr]).toEqual([2, expect.stringContaining(`${broken}: `)]);
  });

  it("takes a repository of the caller, which has to be the one that is demanded", async () => {
    const repository = ["--repository", DEMAND.repository, "--trusted-root", fileOf(ROOT, "own-root.json")];
    const path = demanding(EARLIER);
    const { code } = await add(path, "--provenance", BUILD, ...repository);
    const { deployments } = JSON.parse(readFileSync(path, "utf8")) as { deployments: { provenance: object[] }[] };
    expect([code, deployments[1]!.provenance]).toMatchObject([0, [{ trustedRoot: { json: ROOT } }]]);
    const elsewhere = demanding({ repository: "https://github.com/malancas/other" });
    const refused = await add(elsewhere, "--provenance", BUILD, ...repository);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--drop provenance")]);
    const half = await add(path, "--provenance", BUILD, "--repository", DEMAND.repository);
    expect([half.code, half.stderr]).toEqual([2, expect.stringContaining("--provenance requires --trusted-root")]);
  });
});

describe("audit --provenance", () => {
  it("without the package is exit code 2, before anything is verified", async () => {
    state.isMissing = true;
    await refused(
      2,
      bootproof(["audit", "--policy", POLICY, BOOT, "--provenance", BUILD], NOW),
      "npm install @sigstore/verify",
    );
  });
});
