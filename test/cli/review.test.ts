/** `bootproof review`: its text, its JSON, its exit codes, and what it refuses to read. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
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
import { BOOT_1, connectionTo, fileOf, scene } from "./support.js";

const V1 = withPivot(made("v1"));
const PINS = deploymentOf(V1);
const policyFile = (...deployments: object[]): string =>
  fileOf({ policy: "bootproof/1", trustAnchors: ANCHORS, deployments });
const pcrs = { 0: "01".repeat(48), 1: "02".repeat(48), 2: "03".repeat(48) };
const bare = { name: "bare", kind: "nitro", pcrs };
const releases = ["2026.9.0", "2026.9.1"].map((one) => fileOf(releaseOf(one).get("manifest")!, `${one}.json`));

const N = {
  ...{ policy: policyFile(PINS), manifest: fileOf(bytesOf(V1), "manifest.json"), boot: BOOT_1, open: fileOf("{") },
  before: fileOf(bytesOf({ ...V1, namespace: { ...V1.namespace, nonce: 1 } }), "before.json"),
  ...{ accept: ["--accept", ...UNPINNED.v1], bare: policyFile(bare), none: fileOf("{}") },
  ...{ noise: fileOf(new Uint8Array([1, 2, 3])), good: fileOf(envelopeOf(V1, [approvalOf(V1)])) },
  twice: fileOf(envelopeOf(V1, [approvalOf(V1), approvalOf(V1)])),
  ...{ release0: releases[0]!, release1: releases[1]! },
};
const { having, run, table, usage } = scene(N);

describe("review", () => {
  it("writes this of the genuine 2026.9.1, under the policy of 2026.9.0", async () => {
    const { namespace, pivot, enclave } = JSON.parse(
      Buffer.from(releaseOf("2026.9.0").get("manifest")!).toString(),
    ) as Record<string, Record<string, string>>;
    const { pcr0, pcr1, pcr2, pcr3 } = enclave!;
    const deployment = {
      ...{ name: "signer 2026.9.0", pcrs: { 0: pcr0, 1: pcr1, 2: pcr2, 3: pcr3 }, pivotHash: pivot!["hash"] },
      ...{ namespace: namespace!["name"], quorumKey: namespace!["quorumKey"] },
    };
    const own = fileOf({ policy: "bootproof/1", deployments: [deployment] });
    const { stdout } = await having({ own })("review $release1 --policy $own --previous $release0", 1);
    await expect(stdout).toMatchFileSnapshot(fileURLToPath(new URL("golden/review.txt", import.meta.url)));
  });

  table([
    [
      "review $manifest --policy $policy --previous $before",
      0,
      /^Nothing here shows that any hardware .* EVERYTHING HOLDS/,
    ],
    [
      "review $manifest --policy $policy $accept",
      0,
      toHex(manifestHash(V1)),
      /accepted +pivot\.bridgeConfig \[\{"host":"0\.0\.0\.0"/,
    ],
    ["review - --policy $policy $accept < $good", 0, 'approved by "alice"'],
    ["review - --policy $policy $accept < $twice", 1, "(approval-repeated)"],
  ]);

  it("writes JSON, with these members", async () => {
    const { stdout } = await run("review $manifest --policy $policy --format json", 1);
    const json = JSON.parse(stdout) as Record<string, unknown>;
    const members =
      "format unknowable ok manifestHash manifestVersion namespace nonce deployment deployments measured members " +
      "changes approvers approvals faults notes";
    expect(Object.keys(json)).toEqual(members.split(" "));
    const open = { code: "open-member", about: "pivot.restart", deployment: null, expected: null, actual: '"Always"' };
    const advice = expect.stringContaining("--accept") as string;
    const others = ["pivot.bridgeConfig", "enclave.qosCommit", "patchSet"].map((about) => ({ about }));
    expect(json).toMatchObject({
      ...{ format: "bootproof-review/1", ok: false, deployment: "lab", changes: null },
      faults: [{ ...open, message: "no pin holds pivot.restart", advice }, ...others],
    });
  });

  it("is 1, with both values in text and JSON, where a member was removed that no pin holds", async () => {
    const V2 = withPivot(made("v2"));
    const env = (...variables: [string, string][]) => ({ ...V2, pivot: { ...V2.pivot, env: new Map(variables) } });
    const [was, is] = [env(["LOG", "info"], ["REQUIRE_AUTH", "1"]), env(["LOG", "info"])];
    const { pivotEnv: _, ...pins } = deploymentOf(is) as Record<string, unknown>;
    const old = fileOf(bytesOf({ ...was, namespace: { ...was.namespace, nonce: 1 } }));
    const review = having({ old, new: fileOf(bytesOf(is)), own: policyFile(pins) });
    const line = "review $new --policy $own --previous $old";
    const both = { before: '{"LOG":"info","REQUIRE_AUTH":"1"}', after: '{"LOG":"info"}' };
    const open = `open pivot.env (--accept env) before ${both.before} after ${both.after}`;
    await review(line, 1, open, "before REQUIRE_AUTH=1 after (not there)");
    const json = JSON.parse((await review(`${line} --format json`, 1)).stdout) as Record<string, unknown>;
    expect(json["members"]).toContainEqual({ name: "env", place: "pivot.env", ...both, status: "open" });
    expect(json["changes"]).toContainEqual(expect.objectContaining({ before: "REQUIRE_AUTH=1", after: null }));
    await review(`${line} --accept env`, 0);
  });

  it("measures the image and the binary", async () => {
    const [pcr0, pcr1, pcr2] = [0, 1, 2].map((index) => new Uint8Array(Buffer.from(pcrsOf(SECTIONS)[index]!, "hex")));
    const binary = Buffer.from("the application");
    const hash = new Uint8Array(createHash("sha256").update(binary).digest());
    const enclave = { ...V1.enclave, pcr0: pcr0!, pcr1: pcr1!, pcr2: pcr2! };
    const { pivotHash: _, ...pins } = { ...PINS, pcrs: { 3: toHex(V1.enclave.pcr3) } } as Record<string, unknown>;
    const digest = `sha256:${toHex(hash)}`;
    const review = having({
      ...{ own: policyFile(pins), prefixed: policyFile({ ...pins, pivotHash: digest }), digest },
      it: fileOf(bytesOf({ ...V1, enclave, pivot: { ...V1.pivot, hash } })),
      ...{ image: fileOf(imageOf({ sections: SECTIONS }), "app.eif"), binary: fileOf(binary, "app") },
    });
    const IMAGE = "it names exactly the image that you built: pcr0, pcr1, pcr2";
    const line = "review $it --policy $own --image $image --binary $binary $accept";
    const good = await review(line, 0, "it pins exactly the binary that you built", IMAGE);
    expect(await review(line.replace("$binary", "$digest"), 0)).toEqual(good);
    await review(line.replace("$own", "$prefixed"), 0);
    const others = ["PCR0", "PCR1", "PCR2", "another program", "another binary", "another image"];
    await review(line.replace("$it", "$manifest"), 1, ...others);
  });
});

describe("exit code 2", () => {
  usage("review", [
    ["--policy $policy", "one of MANIFEST and --deployment-id ID is required"],
    ["$manifest", "--policy FILE is required"],
    ["$manifest --policy $bare", "no deployment of kind qos"],
    ["$boot --policy $policy", "this is a boot proof"],
    ["$policy --policy $policy", "this is a policy; --policy takes it"],
    ["$manifest --policy $manifest", "this is a manifest"],
    ["$open --policy $policy", "expected a member name (line 1, column 2)"],
    ["$noise --policy $policy", "neither JSON nor borsh"],
    ["nowhere.json --policy $policy", "no such file"],
    ["$manifest --policy $policy --previous $none", "an empty JSON object"],
    ["$manifest --policy $policy --image $manifest", /not an enclave image|magic|image/],
    ["$manifest --policy $policy --accept bridge", "--accept bridge: unknown; known are"],
    [
      "$manifest --policy $policy --accept workloads.signer.mounts",
      "--accept workloads.signer.mounts: accept has no eff",
    ],
    ["$manifest --policy $policy --accept dns dns", "--accept dns: repeated"],
    [
      "$manifest --policy $policy $accept dns shareSet",
      /--accept dns: accept has no effect.*accepted: restart, .*--accept shareSet: accept has no effect/,
    ],
    ["$manifest --policy $policy --binary sha256:00", "--binary sha256:00: expected"],
    ["- --policy -", "only one file can be -"],
  ]);

  it("names every acceptable member in its completion", async () => {
    const { stdout } = await having({ empty: "" })("__complete review --accept $empty", 0);
    expect(stdout.split("\n")).toEqual([...ACCEPTABLE, ""]);
  });
});

describe("review --deployment-id", async () => {
  const lab = await startLab({ applications: [{ name: "quotes", binaryDigest: sha256(toUtf8("a binary")) }] });
  afterAll(() => lab.close());
  const { deploymentId, ephemeralKey, policyFile: pinned } = lab.application("quotes");
  const { baseUrl, organizationId, apiKey } = lab;
  const client = createClient({ baseUrl, organizationId, stamper: await apiKeyStamper(apiKey) });
  const { bootProof } = await client.getBootProof({ ephemeralKey });
  const answer = await client.getTvcDeployment({ deploymentId });
  /** A service that changes the deployment. */
  const lying = async (change: object): Promise<string[]> => {
    const tvcDeployment = { ...answer.tvcDeployment, ...change };
    const server = createServer((_, response) => response.end(JSON.stringify({ tvcDeployment })));
    await once(server.listen(0, "127.0.0.1"), "listening");
    afterAll(() => void server.close());
    const { port } = server.address() as AddressInfo;
    return connectionTo({ baseUrl: `http://127.0.0.1:${port}`, organizationId, apiKey });
  };
  const own = scene({
    ...{
      to: connectionTo(lab),
      url: baseUrl,
      id: deploymentId,
      policy: fileOf(pinned),
      another: fileOf("another program"),
    },
    manifest: fileOf(Buffer.from((bootProof as { qosManifestB64: string }).qosManifestB64, "base64")),
    ...{ other: await lying({ id: "other" }), foreign: await lying({ organizationId: "other" }) },
    ...{
      noBase64: await lying({ manifest: { manifest: "%" } }),
      none: await lying({ manifest: { manifest: "AAAA" } }),
    },
    debug: await lying({ debugMode: true }),
  });
  const line = "review --deployment-id $id --policy $policy";

  it("says of the manifest of a deployment what it says of the same manifest in a file", async () => {
    const read = await own.run("review $manifest --policy $policy", 1);
    const fetched = await own.run(`${line} $to`, 1, 'approved by "alice", "bob"', "the service says QOS version");
    const before = (text: string): string => text.split(/\nApprovals\n/)[0]!;
    expect(before(fetched.stdout)).toBe(before(read.stdout));
    expect(fetched.stdout).toContain("Nothing here shows that any hardware");
  });

  own.table([
    [`${line} --binary $another $to`, 1, "pivotHash"],
    [`${line} $debug`, 1, "(service)"],
    [`${line} $other`, 3, "id is other, $id was requested"],
    [`${line} $foreign`, 3, "organizationId is other"],
    [`${line} $noBase64`, 3, "its manifest is not base64"],
    [`${line} $none`, 3, "get_tvc_deployment: manifest"],
    ["review $manifest --deployment-id $id --policy $policy $to", 2, "one of MANIFEST and --deployment-id"],
    [line, 2, "--base-url"],
    ["review $manifest --policy $policy --base-url $url", 2, "requires --deployment-id ID"],
  ]);
});
