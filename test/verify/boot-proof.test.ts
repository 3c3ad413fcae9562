/** The boot proof, whole: what is handed on of it, and what its checks say. */
import { describe, expect, it } from "vitest";
import type { CheckId } from "../../src/checks.js";
import { verifyBootProof } from "../../src/index.js";
import type { JsonObject } from "../../src/decode/json.js";
import { type Alterations, drop, forge, judged, optionsOf, put } from "../attacks/support.js";

async function ask(id: CheckId, alterations: Alterations) {
  const { report, verified } = await judged(forge({ payloads: [], ...alterations }), { noPolicy: true });
  const check = report.checks.find((each) => each.id === id)!;
  return { status: check.status, detail: check.detail, isVerified: verified.get("boot[0]") !== null };
}

it("the key of a verified boot proof is imported once, and is the signing half", async () => {
  const evidence = forge();
  const { bootProof } = await verifyBootProof(evidence.bootProof, optionsOf(evidence));
  expect(bootProof!.signingKey()).toBe(bootProof!.signingKey());
  expect(bootProof!.signingKey().curve).toBe("P-256");
  expect(bootProof!.signingKey().point).toEqual(bootProof!.ephemeralKey.subarray(65));
});

it("labels that are not there are named", async () => {
  const bootProof = (value: JsonObject): JsonObject => drop("owner")(drop("enclaveApp")(value));
  const { status, detail, isVerified } = await ask("boot.decode", { bootProof });
  expect([status, isVerified]).toEqual(["warn", true]);
  expect(detail).toContain("missing: owner, enclaveApp");
});

describe("a manifest", () => {
  it("of a draft version is warned of, and held against the declared version all the same", async () => {
    expect(await ask("manifest.decode", { version: "v3" })).toMatchObject({ status: "warn", isVerified: true });
    const declared = await ask("manifest.decode", { version: "v3", bootProof: put("qosManifestVersion", "v2") });
    expect(declared).toMatchObject({ status: "fail", isVerified: false });
  });
});

it("share-set approvals that are repeated are each told of", async () => {
  const { status, detail, isVerified } = await ask("envelope.shares", {
    alterManifest: { shareApprovals: (list) => [...list, ...list] },
  });
  expect([status, isVerified]).toEqual(["warn", true]);
  expect(detail.split("; ").length).toBeGreaterThan(1);
});
