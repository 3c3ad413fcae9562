/** `bootproof review`: its text, its JSON, its exit codes, and what it refuses to read. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { toHex, toUtf8 } from "../../src/bytes.js";
import { apiKeyStamper, createClient } from "../../src/client/index.js";
import { startLab } from "../../src/lab/index.js";
import { manifestHash, sha256 } from "../../src/lab/qos.js";
import { ACCEPTABLE } from "../../src/review/members.js";
import { releaseOf } from "../support/releases.js";
import { SECTIONS, imageOf, pcrsOf } from "../support/images.js";
import { withPivot } from "../support/manifest.js";
import { ANCHORS, UNPINNED, approvalOf, bytesOf, deploymentOf, envelopeOf, made } from "../review/support.js";
import { BOOT_1, bootproof, connectionTo, fileOf } from "./support.js";

const V1 = withPivot(made("v1"));
const PINS = deploymentOf(V1);
const policyFile = (...deployments: object[]): string =>
  fileOf({ policy: "bootproof/1", trustAnchors: ANCHORS, deployments });
const POLICY = policyFile(PINS);
const MANIFEST = fileOf(bytesOf(V1), "manifest.json");
const BEFORE = fileOf(bytesOf({ ...V1, namespace: { ...V1.namespace, nonce: 1 } }), "before.json");
const ACCEPT = ["--accept", ...UNPINNED.v1];
const golden = (name: string): string => fileURLToPath(new URL(`golden/${name}`, import.meta.url));

const review = (...args: string[]) => bootproof(["review", ...args]);

describe("review", () => {
  it("writes this of the genuine 2026.9.1, under the policy of 2026.9.0", async () => {
    const [before, after] = ["2026.9.0", "2026.9.1"].map((version) =>
      fileOf(releaseOf(version).get("manifest")!, `${version}.json`),
    );
    const { manifest: bytes } = Object.fromEntries(releaseOf("2026.9.0"));
    const { namespace, pivot, enclave } = JSON.parse(Buffer.from(bytes!).toString()) as Record<
      string,
      Record<string, string>
    >;
    const { pcr0, pcr1, pcr2, pcr3 } = enclave!;
    const deployment = {
      name: "signer 2026.9.0",
      pcrs: { 0: pcr0, 1: pcr1, 2: pcr2, 3: pcr3 },
      pivotHash: pivot!["hash"],
      namespace: namespace!["name"],
      quorumKey: namespace!["quorumKey"],
    };
    const policy = fileOf({ policy: "bootproof/1", deployments: [deployment] });
    const { code, stdout, stderr } = await review(after!, "--policy", policy, "--previous", before!);
    expect([code, stderr]).toEqual([1, ""]);
    await expect(stdout).toMatchFileSnapshot(golden("review.txt"));
  });

  it("is 0 where everything holds: with a previous manifest, and with acceptances", async () => {
    const since = await review(MANIFEST, "--policy", POLICY, "--previous", BEFORE);
    expect([since.code, since.stderr]).toEqual([0, ""]);
    expect(since.stdout.replaceAll(/\s+/g, " ")).toMatch(/^Nothing here shows that any hardware .* EVERYTHING HOLDS/);
    const accepted = await review(MANIFEST, "--policy", POLICY, ...ACCEPT);
    expect([accepted.code, accepted.stderr]).toEqual([0, ""]);
    expect(accepted.stdout).toContain(toHex(manifestHash(V1)));
    expect(accepted.stdout).toMatch(/accepted +pivot\.bridgeConfig \[\{"host":"0\.0\.0\.0"/);
  });

  it("writes JSON, with these members", async () => {
    const { code, stdout } = await review(MANIFEST, "--policy", POLICY, "--format", "json");
    expect(code).toBe(1);
    const json = JSON.parse(stdout) as Record<string, unknown>;
    expect(Object.keys(json)).toEqual([
      "format",
      "unknowable",
      "ok",
      "manifestHash",
      "manifestVersion",
      "namespace",
      "nonce",
      "deployment",
      "deployments",
      "measured",
      "members",
      "changes",
      "approvers",
      "approvals",
      "faults",
      "notes",
    ]);
    expect(json).toMatchObject({
      format: "bootproof-review/1",
      ok: false,
      deployment: "lab",
      changes: null,
      faults: [
        {
          code: "open-member",
          about: "pivot.restart",
          deployment: null,
          expected: null,
          actual: '"Always"',
          message: "no pin holds pivot.restart",
          advice: expect.stringContaining("--accept"),
        },
        { about: "pivot.bridgeConfig" },
        { about: "enclave.qosCommit" },
        { about: "patchSet" },
      ],
    });
  });

  it("is 1, with both values in text and JSON, where a member was removed that no pin holds", async () => {
    const V2 = withPivot(made("v2"));
    const env = (...variables: [string, string][]) => ({ ...V2, pivot: { ...V2.pivot, env: new Map(variables) } });
    const [was, is] = [env(["LOG", "info"], ["REQUIRE_AUTH", "1"]), env(["LOG", "info"])];
    const pins = Object.fromEntries(Object.entries(deploymentOf(is)).filter(([name]) => name !== "pivotEnv"));
    const [before, after] = [{ ...was, namespace: { ...was.namespace, nonce: 1 } }, is].map((one) =>
      fileOf(bytesOf(one)),
    );
    const args = [after!, "--policy", policyFile(pins), "--previous", before!];
    const text = await review(...args);
    expect([text.code, text.stderr]).toEqual([1, ""]);
    expect(text.stdout).toContain(
      'open       pivot.env (--accept env)\n    before  {"LOG":"info","REQUIRE_AUTH":"1"}\n' +
        '    after   {"LOG":"info"}\n',
    );
    expect(text.stdout).toContain("before  REQUIRE_AUTH=1\n    after   (not there)\n");
    const json = JSON.parse((await review(...args, "--format", "json")).stdout) as Record<string, unknown>;
    expect(json["members"]).toContainEqual({
      name: "env",
      place: "pivot.env",
      before: '{"LOG":"info","REQUIRE_AUTH":"1"}',
      after: '{"LOG":"info"}',
      status: "open",
    });
    expect(json["changes"]).toContainEqual(expect.objectContaining({ before: "REQUIRE_AUTH=1", after: null }));
    expect((await review(...args, "--accept", "env")).code).toBe(0);
  });

  it("takes an envelope from stdin, and compares its approvals", async () => {
    const good = envelopeOf(V1, [approvalOf(V1)]);
    const answer = await bootproof(["review", "-", "--policy", POLICY, ...ACCEPT], { stdin: good });
    expect(answer.code).toBe(0);
    expect(answer.stdout).toMatch(/approved by +"alice"/);
    const twice = envelopeOf(V1, [approvalOf(V1), approvalOf(V1)]);
    const bad = await bootproof(["review", "-", "--policy", POLICY, ...ACCEPT], { stdin: twice });
    expect([bad.code, bad.stdout]).toEqual([1, expect.stringContaining("(approval-repeated)")]);
  });

  it("measures the image and the binary", async () => {
    const [pcr0, pcr1, pcr2] = [0, 1, 2].map((index) => new Uint8Array(Buffer.from(pcrsOf(SECTIONS)[index]!, "hex")));
    const binary = Buffer.from("the application");
    const hash = new Uint8Array(createHash("sha256").update(binary).digest());
    const manifest = {
      ...V1,
      enclave: { ...V1.enclave, pcr0: pcr0!, pcr1: pcr1!, pcr2: pcr2! },
      pivot: { ...V1.pivot, hash },
    };
    const files = ["--image", fileOf(imageOf({ sections: SECTIONS }), "app.eif"), "--binary", fileOf(binary, "app")];
    const pins = { ...PINS, pcrs: { 3: toHex(V1.enclave.pcr3) } };
    const policy = policyFile(Object.fromEntries(Object.entries(pins).filter(([name]) => name !== "pivotHash")));
    const good = await review(fileOf(bytesOf(manifest)), "--policy", policy, ...files, ...ACCEPT);
    expect([good.code, good.stderr]).toEqual([0, ""]);
    expect(good.stdout).toContain("it pins exactly the binary that you built");
    expect(good.stdout).toContain("it names exactly the image that you built: pcr0, pcr1, pcr2");
    const digest = `sha256:${toHex(hash)}`;
    const named = [...files.slice(0, 2), "--binary", digest];
    expect(await review(fileOf(bytesOf(manifest)), "--policy", policy, ...named, ...ACCEPT)).toEqual(good);
    const prefixed = policyFile({ ...pins, pivotHash: digest });
    expect((await review(fileOf(bytesOf(manifest)), "--policy", prefixed, ...files, ...ACCEPT)).code).toBe(0);
    const bad = await review(MANIFEST, "--policy", policy, ...files, ...ACCEPT);
    expect(bad.code).toBe(1);
    for (const about of ["PCR0", "PCR1", "PCR2", "another program", "another binary", "another image"])
      expect(bad.stdout).toContain(about);
  });
});

describe("exit code 2", () => {
  const bare = fileOf({
    policy: "bootproof/1",
    deployments: [
      { name: "bare", kind: "nitro", pcrs: { 0: "01".repeat(48), 1: "02".repeat(48), 2: "03".repeat(48) } },
    ],
  });

  it.each<[string, string[], RegExp]>([
    ["no manifest", ["--policy", POLICY], /one of MANIFEST and --deployment-id ID is required/],
    ["no policy", [MANIFEST], /--policy FILE is required/],
    ["a policy that pins no manifest", [MANIFEST, "--policy", bare], /no deployment of kind qos/],
    ["a boot proof", [BOOT_1, "--policy", POLICY], /this is a boot proof/],
    ["a policy as the manifest", [POLICY, "--policy", POLICY], /this is a policy; --policy takes it/],
    ["a manifest as the policy", [MANIFEST, "--policy", MANIFEST], /this is a manifest/],
    ["a broken manifest", [fileOf("{"), "--policy", POLICY], /not strict JSON|file-/],
    ["noise", [fileOf(new Uint8Array([1, 2, 3])), "--policy", POLICY], /neither JSON nor borsh/],
    ["a file that is not there", ["nowhere.json", "--policy", POLICY], /no such file/],
    [
      "a broken previous manifest",
      [MANIFEST, "--policy", POLICY, "--previous", fileOf("{}")],
      /previous|expected|missing/,
    ],
    ["an image that is none", [MANIFEST, "--policy", POLICY, "--image", MANIFEST], /not an enclave image|magic|image/],
    ["an unknown member", [MANIFEST, "--policy", POLICY, "--accept", "bridge"], /--accept bridge: unknown; known are/],
    [
      "a member of a workload that is not there",
      [MANIFEST, "--policy", POLICY, "--accept", "workloads.signer.mounts"],
      /--accept workloads\.signer\.mounts: accept has no effect/,
    ],
    ["a member twice", [MANIFEST, "--policy", POLICY, "--accept", "dns", "dns"], /--accept dns: repeated/],
    [
      "acceptances of nothing",
      [MANIFEST, "--policy", POLICY, ...ACCEPT, "dns", "shareSet"],
      /--accept dns: accept has no effect[^]*accepted: restart, [^]*--accept shareSet: accept has no effect/,
    ],
    ["a digest that is none", [MANIFEST, "--policy", POLICY, "--binary", "sha256:00"], /--binary sha256:00: expected/],
    ["stdin twice", ["-", "--policy", "-"], /only one file can be -/],
  ])("%s", async (_, args, message) => {
    const { code, stdout, stderr } = await review(...args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });

  it("names every acceptable member in its completion", async () => {
    const { stdout } = await bootproof(["__complete", "review", "--accept", ""]);
    expect(stdout.split("\n")).toEqual([...ACCEPTABLE, ""]);
  });
});

describe("review --deployment-id", async () => {
  const lab = await startLab({ applications: [{ name: "quotes", binaryDigest: sha256(toUtf8("a binary")) }] });
  afterAll(() => lab.close());
  const { deploymentId, ephemeralKey, policyFile: pinned } = lab.application("quotes");
  const { baseUrl, organizationId } = lab;
  const client = createClient({ baseUrl, organizationId, stamper: await apiKeyStamper(lab.apiKey) });
  const { bootProof } = await client.getBootProof({ ephemeralKey });
  const connection = connectionTo(lab);
  const policy = fileOf(pinned);
  const manifest = fileOf(Buffer.from((bootProof as { qosManifestB64: string }).qosManifestB64, "base64"));
  const answering = async (change: (answer: Record<string, unknown>) => void): Promise<string[]> => {
    const answer = await client.getTvcDeployment({ deploymentId });
    const copy = structuredClone(answer.tvcDeployment) as unknown as Record<string, unknown>;
    change(copy);
    const server = createServer((_, response) => response.end(JSON.stringify({ tvcDeployment: copy })));
    await once(server.listen(0, "127.0.0.1"), "listening");
    servers.push(server);
    const { port } = server.address() as AddressInfo;
    return connectionTo({ baseUrl: `http://127.0.0.1:${port}`, organizationId, apiKey: lab.apiKey });
  };
  const servers: Server[] = [];
  afterAll(() => servers.forEach((server) => server.close()));

  it("says of the manifest of a deployment what it says of the same manifest in a file", async () => {
    const fetched = await review("--deployment-id", deploymentId, "--policy", policy, ...connection);
    const read = await review(manifest, "--policy", policy);
    expect(fetched).toMatchObject({ code: read.code, stderr: "" });
    const before = (text: string): string => text.split(/\nApprovals\n/)[0]!;
    expect(before(fetched.stdout)).toBe(before(read.stdout));
    expect(fetched.stdout).toContain("Nothing here shows that any hardware");
    const binary = fileOf("another program");
    const other = await review("--deployment-id", deploymentId, "--policy", policy, "--binary", binary, ...connection);
    expect(other.code).toBe(1);
    expect(other.stdout).toContain("pivotHash");
  });

  it.each<[string, (answer: Record<string, unknown>) => void, string]>([
    ["another deployment", (answer) => (answer["id"] = "other"), `id is other, ${deploymentId} was requested`],
    ["one of another organization", (answer) => (answer["organizationId"] = "other"), "organizationId is other"],
    ["no base64", (answer) => (answer["manifest"] = { manifest: "%" }), "its manifest is not base64"],
    ["no manifest", (answer) => (answer["manifest"] = { manifest: "AAAA" }), "get_tvc_deployment: manifest"],
  ])("is exit code 3 where the service answers with %s", async (_, change, says) => {
    const { code, stdout, stderr } = await review(
      ...["--deployment-id", deploymentId, "--policy", policy, ...(await answering(change))],
    );
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toContain(says);
  });

  it("verifies the approvals that the service holds, and compares what it says of the deployment", async () => {
    const { stdout } = await review("--deployment-id", deploymentId, "--policy", policy, ...connection);
    expect(stdout).toMatch(/approved by +"alice", "bob"/);
    expect(stdout).toContain("the service says QOS version");
    const lied = await answering((answer) => (answer["debugMode"] = true));
    const bad = await review("--deployment-id", deploymentId, "--policy", policy, ...lied);
    expect([bad.code, bad.stdout]).toEqual([1, expect.stringContaining("(service)")]);
  });

  it.each<[string, string[], string]>([
    ["with a file", [manifest, "--deployment-id", deploymentId, ...connection], "one of MANIFEST and --deployment-id"],
    ["without any", [], "one of MANIFEST and --deployment-id ID is required"],
    ["without a connection", ["--deployment-id", deploymentId], "--base-url"],
    ["which is idle beside a file", [manifest, ...connection.slice(0, 2)], "only --deployment-id fetches a manifest"],
  ])("is exit code 2: %s", async (_, argv, says) => {
    const { code, stderr } = await review(...argv, "--policy", policy);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
  });
});
