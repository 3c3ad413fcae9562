/** Build provenance: the genuine bundle, who signed, which bundle meets a demand, and what a verifier must return. */
import { describe, expect, it } from "vitest";
import type { BuildIdentity } from "../../src/decode/build-identity.js";
import { readBuildIdentity } from "../../src/decode/build-identity.js";
import { type JsonObject } from "../../src/decode/json.js";
import { type Bundle, decodeBundle, packBundle, verifyBundle } from "../../src/bundle/index.js";
import {
  NO_POLICY_ANY_ENCLAVE,
  NamedEvidence,
  type PolicyFile,
  type Report,
  VerifiedProvenance,
  type Verification,
  parsePolicy,
  renderText,
  requireVerified,
  verifyEvidence,
} from "../../src/index.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { decodeProvenanceBundle } from "../../src/decode/index.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import { type ProvenanceVerifier } from "../../src/verify/provenance-demand.js";
import { signerFaults } from "../../src/verify/build-signer.js";
import type { WorkflowDemand } from "../../src/verify/provenance-demand.js";
import {
  ARTIFACT,
  CREDULOUS,
  DEMAND,
  GENUINE,
  NOW,
  ROOT,
  SIGNER,
  bundleOf,
  enclave,
  evidence,
  policyFile,
  policyOf,
} from "../support/provenance.js";
import { readVectorText } from "../support/vectors.js";

const SIGSTORE = await sigstoreVerifier();

async function verified(
  demands: readonly object[],
  bundles: readonly unknown[] | undefined,
  provenanceVerifier: ProvenanceVerifier = SIGSTORE,
): Promise<Verification> {
  const given = { bootProofs: [evidence.bootProof], ...(bundles && { provenance: bundles }) };
  return verifyEvidence(given, { policy: policyOf(...demands), now: NOW, provenanceVerifier });
}

/** `provenance[0] bundle fail`, without the family. */
function results({ checks }: Report): string[] {
  return checks
    .filter(({ id }) => id.startsWith("provenance."))
    .map(({ subject, id, status }) => `${subject} ${id.slice("provenance.".length)} ${status}`);
}

const PASSED = ["provenance[0] bundle pass", "provenance[0] signer pass", "provenance[0] subject pass"];
const detailOf = ({ checks }: Report, id: string): string => checks.find((check) => check.id === id)?.detail ?? "";

describe("the genuine bundle", () => {
  it("verifies against an enclave that runs its artifact, and proves who built that", async () => {
    const { report, provenance } = requireVerified(await verified([DEMAND], [GENUINE]));
    expect(results(report)).toEqual(PASSED);
    expect(report.claims.provenance).toEqual([
      {
        bundle: 0,
        meets: [{ bootProof: 0, deployment: "lab.1", workload: null, digest: ARTIFACT }],
        predicateType: DEMAND.predicateTypes,
        signer: {
          issuer: DEMAND.issuer,
          repository: DEMAND.repository,
          repositoryId: DEMAND.repositoryId,
          workflow: `${DEMAND.repository}/.github/workflows/shared.yml@refs/heads/main`,
          ref: DEMAND.ref,
          commit: DEMAND.commit,
          signer: DEMAND.signer,
          runner: DEMAND.runner,
          trigger: DEMAND.trigger,
          identity: DEMAND.signer,
        },
        signedTimes: ["2024-05-24T19:14:24.000Z"],
        trustedRoot: {
          name: "root.json",
          sha256: "844a1c6de3986c9f02070266b25e0d1a2fa99ceccc89f6b9ad90aae47b62a16e",
        },
        demanded: { inclusions: 1, certificateTimestamps: 1, signedTimes: 1 },
      },
    ]);
    expect(provenance[0]).toBeInstanceOf(VerifiedProvenance);
    const text = renderText(report, { width: 200 });
    expect(text).toMatch(
      /A run of the workflow "[^"]+shared\.yml@refs\/heads\/main" of "[^"]+", ref "refs\/heads\/main"/,
    );
    expect(text).toContain("that the build of the binary is reproducible");
    expect(text).not.toContain("the measured image and binary were built from");
    expect(detailOf(report, "policy.scope")).not.toContain("provenance");
  });

  it("is taken as bytes, as a value and by name", async () => {
    for (const bundle of [
      new TextEncoder().encode(GENUINE),
      JSON.parse(GENUINE),
      new NamedEvidence("build", GENUINE),
    ]) {
      const { report } = requireVerified(await verified([DEMAND], [bundle]));
      expect(results(report)).toEqual(PASSED);
    }
    const named = await verified([DEMAND], [new NamedEvidence("build", GENUINE)]);
    expect(named.report.evidence.at(-1)).toMatchObject({ subject: "provenance[0]", name: "build" });
    expect(named.report.checks.at(-1)).toMatchObject({ subject: "provenance[0]", name: "build" });
  });

  it("is refused under the root of another instance, and passes under a second root that has its keys", async () => {
    const other = otherRoot();
    const readFile = (name: string): string => (name === "other.json" ? other : ROOT);
    const under = async (...files: string[]): Promise<Report> => {
      const trustedRoot = files.map((file) => ({ file }));
      const policy = parsePolicy(JSON.stringify(policyFile({ ...DEMAND, trustedRoot })), { readFile });
      const given = { bootProofs: [evidence.bootProof], provenance: [GENUINE] };
      return (await verifyEvidence(given, { policy, now: NOW, provenanceVerifier: SIGSTORE })).report;
    };
    const refused = await under("other.json");
    expect(results(refused)[0]).toBe("provenance[0] bundle fail");
    expect(detailOf(refused, "provenance.bundle")).toContain("does not verify: other.json: ");
    const passed = await under("other.json", "root.json");
    expect(results(passed)).toEqual(PASSED);
    expect(passed.claims!.provenance![0]!.trustedRoot.name).toBe("root.json");
  });

  it.each([...readVectorText("provenance/refused.jsonl").trim().split("\n").entries()])(
    "others of test-vectors/provenance are refused: %i",
    async (_, text) => {
      const { report } = await verified([DEMAND], [text]);
      expect(report.verdict).toBe("rejected");
      expect(results(report)[0]).toBe("provenance[0] bundle fail");
    },
  );
});

/** The same lists with another certificate authority. */
function otherRoot(): string {
  const root = JSON.parse(ROOT) as { certificateAuthorities: unknown[] };
  root.certificateAuthorities = root.certificateAuthorities.slice(0, 1);
  return JSON.stringify(root);
}

describe("verifyBundle", () => {
  const options = { now: NOW, provenanceVerifier: SIGSTORE } as const;
  const plainFile = labPolicy(evidence.anchorPem, [labDeployment(enclave)]);
  const plain = parsePolicy(plainFile);
  const bundleWith = async (...provenance: unknown[]): Promise<Bundle> => {
    const given = { bootProofs: [evidence.bootProof], provenance };
    const { bundle } = await packBundle(given, { ...options, policy: plainFile as unknown as PolicyFile });
    return decodeBundle(JSON.stringify(bundle));
  };
  const sbom = bundleOf((statement) => (statement["predicateType"] = "https://spdx.dev/Document"));
  const policy = policyOf(DEMAND);

  it("takes bundles of builds beside those inside", async () => {
    const given = await verifyBundle(await bundleWith(), { ...options, policy, provenance: [GENUINE] });
    expect(results(requireVerified(given).report)).toEqual(PASSED);
    const both = await verifyBundle(await bundleWith(JSON.parse(GENUINE)), { ...options, policy, provenance: [sbom] });
    expect(results(requireVerified(both).report).map((line) => line.split(" ").slice(0, 3).join(" "))).toEqual([
      ...["bundle", "signer", "subject"].map((check) => `provenance[0] ${check} skip`),
      ...PASSED.map((line) => line.replace("[0]", "[1]")),
    ]);
    // The report inside is of what was packed.
    expect(both.packed?.differences).toEqual([]);
  });

  it("takes none as an empty list and as undefined", async () => {
    for (const none of [{}, { provenance: [] }, { provenance: undefined }]) {
      const { report } = await verifyBundle(await bundleWith(), { ...options, policy, ...none });
      expect(results(report)[0]).toBe("provenance[0] bundle fail");
      requireVerified(await verifyBundle(await bundleWith(), { ...options, policy: plain, ...none }));
    }
    const wrong = { ...options, policy, provenance: GENUINE as never };
    await expect(verifyBundle(await bundleWith(), wrong)).rejects.toThrow(
      "options.provenance: expected an array, got ",
    );
  });
});

describe("who signed", () => {
  const genuine = readBuildIdentity(decodeProvenanceBundle(GENUINE).certificate).value as BuildIdentity;
  const repository = "https://github.com/acme/oracle";
  const own = `${repository}/.github/workflows/release.yml@refs/tags/v1.2.3`;
  /** A workflow that signs itself. */
  const plain: BuildIdentity = {
    ...genuine,
    repository,
    repositoryId: "1",
    ref: "refs/tags/v1.2.3",
    buildConfig: own,
    signer: own,
    san: own,
  };
  const demand = (members: Partial<WorkflowDemand>): WorkflowDemand => ({
    workload: null,
    issuer: genuine.issuer!,
    repository,
    workflow: [".github/workflows/release.yml"],
    ref: ["refs/tags/v1.2.3"],
    predicateTypes: ["https://slsa.dev/provenance/v1"],
    open: [],
    trustedRoots: [],
    ...members,
  });
  const faults = (identity: Partial<BuildIdentity>, members: Partial<WorkflowDemand> = {}): string[] =>
    signerFaults({ ...plain, ...identity }, demand(members)).map(({ detail }) => detail);
  const attest = "https://github.com/acme/builders/.github/workflows/attest.yml";
  const commit = "0123456789012345678901234567890123456789";
  const signedBy = (signer: string): Partial<BuildIdentity> => ({ signer, san: signer });

  it.each([
    [
      "every other value",
      {},
      { repositoryId: "1", runner: genuine.runner!, trigger: genuine.trigger!, commit: genuine.commit! },
    ],
    ["the certificate's name", {}, { identity: own }],
    [
      "a name alone, of another provider",
      {
        issuer: "https://accounts.google.com",
        san: "a@b",
        repository: null,
        ref: null,
        buildConfig: null,
        signer: null,
      },
      {
        issuer: "https://accounts.google.com",
        identity: "a@b",
        repository: undefined,
        workflow: undefined,
        ref: undefined,
      },
    ],
  ] as [string, Partial<BuildIdentity>, Partial<WorkflowDemand>][])("%s passes", (_, identity, members) => {
    const wanted = Object.fromEntries(Object.entries(demand(members)).filter(([, value]) => value !== undefined));
    expect(signerFaults({ ...plain, ...identity }, wanted as unknown as WorkflowDemand)).toEqual([]);
  });
  const evil = `${repository}.evil/.github/workflows/release.yml@refs/tags/v1.2.3`;
  const REF = "another ref (.14)";
  const WORKFLOW = "another workflow: buildConfig (.18)";
  const SIGNED = "another signer (.9)";
  const NAME = "signer (.9) is not the subject alternative name";
  const CALLED = "another workflow signed: signer (.9), and the policy names no signer";
  it.each([
    ["another issuer", { issuer: "https://token.actions.githubusercontent.com/acme" }, {}, ["another issuer (.8)"]],
    ["no repository id", { repositoryId: null }, { repositoryId: "1" }, ["another repositoryId (.15)"]],
    ["no ref", { ref: null }, {}, [REF, WORKFLOW]],
    ["no build configuration", { buildConfig: null }, {}, [WORKFLOW, CALLED]],
    ["such a name, and a named signer", { ...signedBy(`${attest}@${commit}`), san: evil }, { signer: attest }, [NAME]],
    ["no signer", { signer: null }, { signer: attest }, [SIGNED]],
  ] as [string, Partial<BuildIdentity>, Partial<WorkflowDemand>, string[]][])(
    "%s does not",
    (_, identity, members, says) => expect(faults(identity, members)).toEqual(says),
  );
});

describe("what is signed", () => {
  const subjects = (...digests: object[]): string =>
    bundleOf((statement) => (statement["subject"] = digests.map((digest) => ({ name: "a", digest }))));
  const other = "ab".repeat(32);

  it("is compared with the manifest, not with the policy", async () => {
    const file = policyFile({ ...DEMAND });
    const [deployment] = file["deployments"] as JsonObject[];
    deployment!["pivotHash"] = [ARTIFACT, other];
    const policy = parsePolicy(JSON.stringify(file), { readFile: () => ROOT });
    const given = { bootProofs: [evidence.bootProof], provenance: [subjects({ sha256: other })] };
    const { report } = await verifyEvidence(given, { policy, now: NOW, provenanceVerifier: CREDULOUS });
    expect(results(report)).toEqual([...PASSED.slice(0, 2), "provenance[0] subject fail"]);
    expect(report.checks.at(-1)).toMatchObject({ expected: ARTIFACT, actual: other });
  });
});

describe("demands", () => {
  const sbom = bundleOf((statement) => (statement["predicateType"] = "https://spdx.dev/Document"));
  const skipped = (index: number): string[] =>
    ["bundle", "signer", "subject"].map((id) => `provenance[${index}] ${id} skip`);
  const passed = (index: number): string[] =>
    ["bundle", "signer", "subject"].map((id) => `provenance[${index}] ${id} pass`);

  it("fail where no bundle is given", async () => {
    for (const bundles of [undefined, []]) {
      const { report } = await verified([DEMAND], bundles);
      expect(results(report)).toEqual(["provenance[0] bundle fail", ...skipped(0).slice(1)]);
      expect(detailOf(report, "provenance.bundle")).toContain("lab.1 demands provenance of the application of boot[0]");
      expect(report.checks.find(({ id }) => id === "provenance.bundle")!.advice).toContain("--provenance");
    }
  });

  it("are met by one bundle of several, and the others fail nothing", async () => {
    const { report, provenance } = requireVerified(await verified([DEMAND], ["no JSON", sbom, GENUINE], CREDULOUS));
    expect(results(report)).toEqual([...skipped(0), ...skipped(1), ...passed(2)]);
    expect(provenance.map((each) => each !== null)).toEqual([false, false, true]);
    expect(detailOf(report, "provenance.bundle")).toContain("not needed");
    expect(report.claims.provenance!.map(({ bundle }) => bundle)).toEqual([2]);
  });

  it("are not met by two bundles together", async () => {
    const stranger = { ...DEMAND, repository: "https://github.com/acme/oracle", workflow: undefined, ref: undefined };
    const demand = { ...stranger, open: ["ref", "workflow"] };
    const { report } = await verified([demand], [sbom, GENUINE], CREDULOUS);
    // The right binary of the wrong signer is the nearest.
    expect(results(report)).toEqual([
      ...skipped(0),
      "provenance[1] bundle pass",
      "provenance[1] signer fail",
      "provenance[1] subject pass",
    ]);
    expect(detailOf(report, "provenance.bundle")).toContain("provenance[1] is the nearest");
    // Any bundle is nearer than what is none.
    const { report: unread } = await verified([demand], ["no JSON", sbom], CREDULOUS);
    expect(results(unread)).toEqual([
      ...skipped(0),
      "provenance[1] bundle pass",
      "provenance[1] signer fail",
      "provenance[1] subject fail",
    ]);
  });

  it("of other deployments do not count, and bundles without a demand prove nothing", async () => {
    const file = policyFile(DEMAND);
    const [mine] = file["deployments"] as JsonObject[];
    const without = { ...mine, provenance: undefined };
    const policy = parsePolicy(JSON.stringify({ ...file, deployments: [{ ...without, name: "first" }, mine] }), {
      readFile: () => ROOT,
    });
    const given = { bootProofs: [evidence.bootProof], provenance: [GENUINE] };
    const { report, provenance } = await verifyEvidence(given, { policy, now: NOW, provenanceVerifier: SIGSTORE });
    expect([report.verdict, results(report), provenance]).toEqual(["verified", skipped(0), [null]]);
    expect(report.claims).not.toHaveProperty("provenance");
    expect(renderText(report, { width: 200 })).toContain("the measured image and binary were built from");
  });

  it("of a workload are not met by a pivot", async () => {
    const demand = { ...DEMAND, of: { workload: "signer" } };
    const file = policyFile(demand);
    const [deployment] = file["deployments"] as JsonObject[];
    delete deployment!["pivotHash"];
    const policy = parsePolicy(JSON.stringify(file), { readFile: () => ROOT });
    const given = { bootProofs: [evidence.bootProof], provenance: [GENUINE] };
    const { report } = await verifyEvidence(given, { policy, now: NOW, provenanceVerifier: SIGSTORE });
    expect(results(report).at(-1)).toBe("provenance[0] subject fail");
    expect(detailOf(report, "provenance.subject")).toContain("the manifest has no workload signer");
  });

  it("are held in a verification of boot proofs only", async () => {
    const given = { bootProofs: [evidence.bootProof], provenance: [GENUINE] };
    const options = { policy: policyOf(DEMAND), now: NOW, provenanceVerifier: SIGSTORE, bootProofsOnly: true };
    expect((await verifyEvidence(given, options)).report.verdict).toBe("verified");
    const without = await verifyEvidence({ bootProofs: given.bootProofs }, options);
    expect(without.report.verdict).toBe("rejected");
  });

  it("without a policy are none", async () => {
    const given = { bootProofs: [evidence.bootProof], provenance: [GENUINE] };
    const { report } = await verifyEvidence(given, { policy: NO_POLICY_ANY_ENCLAVE, now: NOW });
    expect(results(report)).toEqual(skipped(0));
  });
});

describe("the verifier", () => {
  const accepting = (members: object): ProvenanceVerifier => ({
    verify: async (...args) => ({ ...(await CREDULOUS.verify(...args)), ...members }) as never,
  });

  it("is required where the policy demands provenance", async () => {
    const given = { bootProofs: [evidence.bootProof], provenance: [GENUINE] };
    const options = { policy: policyOf(DEMAND), now: NOW };
    await expect(verifyEvidence(given, options)).rejects.toThrow(/^provenanceVerifier: required.*npm install/);
    const wrong = { ...options, provenanceVerifier: {} as ProvenanceVerifier };
    await expect(verifyEvidence(given, wrong)).rejects.toThrow(
      /^options\.provenanceVerifier: expected an object with a function verify/,
    );
  });

  it.each([
    ["another certificate", { certificate: new Uint8Array(3) }, "another certificate was verified"],
    ["another payload", { payload: new Uint8Array(3) }, "another statement was verified"],
    ["no time", { signedTimes: [] }, "no signed time was verified"],
    ["a refusal", { verified: false, reason: "not today" }, "not today"],
  ])("must have verified what is compared: %s", async (_, members, says) => {
    const { report } = await verified([DEMAND], [GENUINE], accepting(members));
    expect(results(report)[0]).toBe("provenance[0] bundle fail");
    expect(detailOf(report, "provenance.bundle")).toContain(says);
  });

  it("gets the thresholds of the root, and no bundle that is malformed or cannot meet the demand", async () => {
    const seen: unknown[] = [];
    const spy: ProvenanceVerifier = {
      verify: (bundle, root, thresholds) => {
        seen.push([bundle === GENUINE, root === ROOT, thresholds]);
        return CREDULOUS.verify(bundle, root, thresholds);
      },
    };
    const sbom = bundleOf((statement) => (statement["predicateType"] = "https://spdx.dev/Document"));
    await verified([DEMAND], ["no JSON", GENUINE.padEnd(1024 * 1024 + 1), sbom, GENUINE], spy);
    expect(seen).toEqual([[true, true, { inclusions: 1, certificateTimestamps: 1, signedTimes: 1 }]]);
  });

  it("that cannot run rejects the verification", async () => {
    const broken: ProvenanceVerifier = { verify: () => Promise.reject(new Error("out of order")) };
    await expect(verified([DEMAND], [GENUINE], broken)).rejects.toThrow("out of order");
  });

  it("refuses every kind of garbage", async () => {
    const thresholds = { inclusions: 1, certificateTimestamps: 1, signedTimes: 1 };
    for (const [bundle, root] of [
      ["{}", ROOT],
      ["[", ROOT],
      [GENUINE, "{}"],
      [GENUINE, "["],
    ] as const)
      expect(await SIGSTORE.verify(bundle, root, thresholds)).toMatchObject({ verified: false });
  });
});

it("limits the number of bundles", async () => {
  await expect(verified([DEMAND], Array<string>(65).fill(GENUINE))).rejects.toThrow(RangeError);
  await expect(verified([DEMAND], "a" as never)).rejects.toThrow(
    "evidence.provenance: expected a list; did you mean provenance: [bundle]?",
  );
});

it("the signer's ref of the genuine bundle may be left out, with a warning", async () => {
  const { report } = requireVerified(await verified([{ ...DEMAND, signer: SIGNER }], [GENUINE]));
  expect(detailOf(report, "policy.scope")).toContain("any version of that workflow passes");
});
