/** Enclaves: several releases at once, restarts, manifests of every version, expiring certificates. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { declarationOf, decodeManifest } from "../../src/decode/manifest/index.js";
import { fromBase64 } from "../../src/bytes.js";
import { verifyEvidence } from "../../src/index.js";
import { type Lab, startLab } from "../../src/lab/index.js";
import { type Json, failing, judge, query, renameWallet } from "./support.js";

let now = new Date("2026-03-04T05:06:07.000Z");
const lab = await startLab({ now: () => now });
afterAll(() => lab.close());

const at = () => ({ timestampMs: String(now.getTime()) });
const keysOf = (activity: Json): string[] => activity["appProofs"].map((proof: Json) => proof["publicKey"] as string);

async function bootProof(from: Lab, ephemeralKey: string): Promise<Json> {
  const { status, body } = await query(from, "get_boot_proof", { ephemeralKey });
  expect(status).toBe(200);
  return body["bootProof"] as Json;
}

describe("a rolling deployment", () => {
  let lab: Lab;
  beforeEach(async () => void (lab = await startLab({ now: () => now })));
  afterEach(() => lab.close());

  it("runs old and new releases of each application, with manifests of both kinds", async () => {
    const kinds = lab.enclaves.map(({ app, release, manifestVersion, generation }) => [
      app,
      release,
      manifestVersion,
      generation,
    ]);
    expect(kinds).toEqual([
      ["policy-engine", "lab.1", "v1", "live"],
      ["policy-engine", "lab.2", "v2", "live"],
      ["signer", "lab.1", "v1", "live"],
      ["signer", "lab.2", "v2", "live"],
    ]);
    expect(lab.policyFile.deployments.map(({ name }) => name)).toEqual([
      "policy-engine lab.1",
      "policy-engine lab.2",
      "signer lab.1",
      "signer lab.2",
    ]);
    const nonces = await Promise.all(
      lab.enclaves.map(
        async ({ ephemeralKey }) =>
          decodeManifest(fromBase64((await bootProof(lab, ephemeralKey))["qosManifestB64"])!).namespace.nonce,
      ),
    );
    expect(nonces).toEqual([20260900, 20260901, 20260900, 20260901]);
  });

  it("rotates among its enclaves", async () => {
    const activities = [
      await renameWallet(lab, "one", at()),
      await renameWallet(lab, "two", at()),
      await renameWallet(lab, "three", at()),
      await renameWallet(lab, "four", at()),
    ];
    expect(new Set(activities.flatMap(keysOf))).toEqual(new Set(lab.enclaves.map(({ ephemeralKey }) => ephemeralKey)));
    for (const activity of activities) expect((await judge(lab, activity, now)).verdict).toBe("verified");
  });
});

describe("a restart", () => {
  it("makes a new key, and the old boot proof stays", async () => {
    const before = await renameWallet(lab, "before the restart", at());
    const old = lab.enclaves.map(({ ephemeralKey }) => ephemeralKey);
    now = new Date(now.getTime() + 60_000);
    for (const { enclaveId } of lab.enclaves) await lab.restartEnclave(enclaveId);
    expect(lab.enclaves).toHaveLength(4);
    for (const { ephemeralKey, bootedAt } of lab.enclaves) {
      expect(old).not.toContain(ephemeralKey);
      expect(bootedAt).toEqual(now);
    }
    const after = await renameWallet(lab, "after the restart", at());
    expect(old).not.toContain(keysOf(after)[0]);
    for (const activity of [before, after]) expect((await judge(lab, activity, now)).verdict).toBe("verified");
    await expect(lab.restartEnclave("signer none")).rejects.toThrow(RangeError);
  });

  it("happens before the certificate of an enclave expires", async () => {
    const old = lab.enclaves.map(({ ephemeralKey }) => ephemeralKey);
    now = new Date(now.getTime() + 2 * 3_600_000);
    expect(old).toEqual(expect.arrayContaining(keysOf(await renameWallet(lab, "in time", at()))));
    now = new Date(now.getTime() + 55 * 60_000);
    const activity = await renameWallet(lab, "almost too late", at());
    expect(keysOf(activity).filter((key) => old.includes(key))).toEqual([]);
    const { body } = await query(lab, "get_latest_boot_proof", { appName: "signer" });
    expect(old).not.toContain(body["bootProof"].ephemeralPublicKeyHex);
    const bootProofs = await Promise.all([...new Set(keysOf(activity))].map((key) => bootProof(lab, key)));
    const { report } = await verifyEvidence({ bootProofs, activity }, { policy: lab.policy, now, at: "now" });
    expect(report.verdict).toBe("verified");
  });
});

describe("a release", () => {
  const kinds = (["live", "setup", "legacy"] as const).flatMap((generation) =>
    (
      [
        ["v0", "borsh"],
        ["v0", "json"],
        ["v0-tail", "borsh"],
        ["v0-tail", "json"],
        ["v1", "borsh"],
        ["v1", "json"],
        ["v2", "json"],
      ] as const
    ).map(([manifestVersion, encoding]) => ({ generation, manifestVersion, encoding })),
  );

  it.each(kinds)("of a $generation enclave with a manifest $manifestVersion in $encoding", async (kind) => {
    const { ephemeralKey, release } = await lab.addRelease({ app: "signer", ...kind });
    const proof = await bootProof(lab, ephemeralKey);
    expect(proof).toMatchObject({ qosManifestVersion: declarationOf(kind.manifestVersion), deploymentLabel: release });
    expect(proof["qosManifestB64"].startsWith("eyJ")).toBe(kind.encoding === "json");
    const { report, bootProofs } = await verifyEvidence({ bootProofs: [proof] }, { policy: lab.policy, now });
    expect(report.verdict).toBe("verified");
    expect(bootProofs[0]).toMatchObject({ commitment: kind.generation, manifest: { version: kind.manifestVersion } });
    lab.stopEnclave(`signer ${release}`);
  });

  it("that is not pinned is refused", async () => {
    const before = lab.policyFile;
    const { ephemeralKey, release } = await lab.addRelease({ app: "policy-engine", name: "canary", pinned: false });
    expect(lab.policyFile).toEqual(before);
    const { report } = await verifyEvidence(
      { bootProofs: [await bootProof(lab, ephemeralKey)] },
      { policy: lab.policy, now },
    );
    expect(failing(report)).toEqual(["policy.deployment", "policy.labels", "policy.pcrs", "policy.pivot"]);
    await expect(lab.addRelease({ app: "policy-engine", name: "canary" })).rejects.toThrow(RangeError);
    lab.stopEnclave(`policy-engine ${release}`);
    expect(lab.enclaves.map(({ release: name }) => name)).not.toContain("canary");
  });
});

describe("the last enclave of an application", () => {
  it("is not stopped", async () => {
    const other = await startLab();
    other.stopEnclave("signer lab.1");
    expect(() => other.stopEnclave("signer lab.2")).toThrow(RangeError);
    expect(() => other.stopEnclave("signer lab.1")).toThrow(RangeError);
    expect((await judge(other, await renameWallet(other, "by the one that is left"))).verdict).toBe("verified");
    await other.close();
  });
});
