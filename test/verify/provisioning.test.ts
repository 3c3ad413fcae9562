/** Provisioning details: what their checks say, for genuine ones, for those of a lab, and for damaged ones. */
import { describe, expect, it } from "vitest";
import { fromBase64, toHex } from "../../src/bytes.js";
import type { CheckId, Checklist } from "../../src/checks.js";
import { type JsonObject, parseJson } from "../../src/decode/json.js";
import { type PivotManifest, decodeManifestEnvelope } from "../../src/decode/manifest/index.js";
import {
  NO_POLICY_ANY_ENCLAVE,
  VerifiedBootProof,
  type VerifyOptions,
  parsePolicy,
  parseTrustAnchor,
  verifyBootProof,
} from "../../src/index.js";
import { pinPolicy } from "../../src/author/index.js";
import { Forge, type ForgeOptions, forgeEvidence } from "../../src/lab/forge.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { ApprovedManifests } from "../../src/verify/approved-manifests.js";
import { type CheckedManifest, checkBootProofs } from "../../src/verify/boot-proof.js";
import { SignatureCache } from "../../src/verify/signature-cache.js";
import { type Json } from "../support/manifest.js";
import {
  DETAIL_FORMS,
  type DetailForm,
  GENUINE_LEGACY_DETAILS,
  GENUINE_NOW,
  detailsOf,
  genuineDetails,
} from "../support/provisioning.js";
import { readVectorJson } from "../support/vectors.js";

const AT = new Date("2026-03-04T05:06:07.000Z");
const lab = new Forge();

function made(more: Partial<ForgeOptions> = {}) {
  return forgeEvidence({ lab, at: AT, generation: "setup", payloads: [], ...more });
}

const setup = made();
const anchor = parseTrustAnchor("lab", setup.anchorPem);

/** Under the lab's anchor. */
async function judged(details: unknown, options: Partial<VerifyOptions> = {}) {
  return judgedUnder(details, { trustAnchors: [anchor], ...options });
}

async function judgedUnder(details: unknown, options: Partial<VerifyOptions>) {
  const { report, bootProof } = await verifyBootProof(details, {
    policy: NO_POLICY_ANY_ENCLAVE,
    now: new Date(AT.getTime() + 60_000),
    ...options,
  });
  const of = (status: string): CheckId[] =>
    report.checks.filter((check) => check.status === status).map(({ id }) => id as CheckId);
  const check = (id: CheckId) => report.checks.find((each) => each.id === id)!;
  return { report, bootProof, fails: of("fail"), warns: of("warn"), skips: of("skip"), check };
}

const genuinely = (details: unknown, options: Partial<VerifyOptions> = {}) =>
  judgedUnder(details, { now: GENUINE_NOW, ...options });

describe("genuine provisioning details", () => {
  it("are authentic, and nothing is compared with a manifest beside the envelope", async () => {
    const { report, bootProof, fails, warns, skips, check } = await genuinely(genuineDetails());
    expect([report.verdict, fails, warns, skips]).toEqual([
      "authentic",
      [],
      [],
      ["chain.revocation", "envelope.manifest"],
    ]);
    expect(check("envelope.manifest").detail).toContain("there is no separate manifest to compare");
    expect(check("manifest.decode")).toMatchObject({ status: "pass", detail: "version v1" });
    expect(check("boot.decode")).toMatchObject({ status: "pass", detail: expect.stringContaining("no labels") });
    expect(check("bind.key").detail).toContain("name none to compare with");
    expect(check("bind.commitment").detail).toBe("setup commitment");
    expect(VerifiedBootProof.isVerified(bootProof)).toBe(true);
    expect(bootProof).toMatchObject({ form: "provisioning", commitment: "setup" });
    expect(toHex(bootProof!.manifestHash)).toBe("d26840797302feb5d96b4a672cb7328abeb2c59f3ef52cdf3edd8305264210b7");
    expect(report.claims!.bootProofs[0]).toMatchObject({ form: "provisioning" });
    expect(report.validationTime).toBe("2026-06-30T00:33:40.694Z");
  });

  it("are verified under the policy that pins them, and again once verified", async () => {
    const { bootProof } = await genuinely(genuineDetails());
    const file = pinPolicy(bootProof!);
    expect(file.deployments[0]!.commitment).toBe("setup");
    for (const [maxAge, warns] of [
      [undefined, ["policy.age"]],
      ["1h", []],
    ] as const) {
      const policy = parsePolicy({ ...file, ...(maxAge && { maxAge }) });
      for (const given of [genuineDetails(), bootProof]) {
        const answer = await genuinely(given, { policy });
        expect([answer.report.verdict, answer.fails, answer.warns]).toEqual(["verified", [], warns]);
      }
    }
    const stale = await genuinely(genuineDetails(), {
      policy: parsePolicy({ ...file, maxAge: "1s" }),
    });
    expect([stale.fails, stale.report.stale]).toEqual([["policy.age"], true]);
    const live = parsePolicy({ ...file, deployments: [{ ...file.deployments[0]!, commitment: "live" }] });
    expect((await genuinely(genuineDetails(), { policy: live })).fails).toContain("policy.commitment");
  });

  it("choose no validation time", async () => {
    for (const validation_time_secs of [0, 1, 4_000_000_000]) {
      const { report } = await genuinely({ ...genuineDetails(), validation_time_secs });
      expect([report.verdict, report.validationTime]).toEqual(["authentic", "2026-06-30T00:33:40.694Z"]);
    }
  });

  it("of a legacy enclave warn as any legacy document", async () => {
    const { report, warns } = await genuinely(readVectorJson<JsonObject>(GENUINE_LEGACY_DETAILS));
    expect(warns).toEqual(["envelope.shares", "bind.commitment"]);
    expect(report).toMatchObject({ verdict: "authentic", claims: { bootProofs: [{ form: "provisioning" }] } });
  });
});

describe.each(DETAIL_FORMS)("details of form %s", (form: DetailForm) => {
  it("of a live document fail, with a sentence of why", async () => {
    const { fails, check } = await judged(detailsOf(made({ generation: "live" }).bootProof, form));
    expect(fails).toEqual(["bind.commitment"]);
    expect(check("bind.commitment")).toMatchObject({
      detail: "live commitment: shares go to the key of an enclave's setup, and this document attests another key",
      advice: "Release no share for this document, and report it.",
    });
  });

  it("are held against the keys that the caller wants", async () => {
    const details = detailsOf(setup.bootProof, form);
    const key = lab.ephemeralKey.publicKey;
    expect((await judged(details, { ephemeralKey: key })).fails).toEqual([]);
    expect((await judged(details, { ephemeralKey: generateQosKeyPair().publicKey })).fails).toEqual(["bind.key"]);
  });
});

it("a v0-tail envelope whose two members are null stays one", async () => {
  const none = (manifest: PivotManifest): PivotManifest => ({ ...manifest, clientTimeoutMs: null, poolSize: null });
  const tail = made({ version: "v0-tail", encoding: "json", alterManifest: { manifest: none } });
  const details = detailsOf(tail.bootProof, "file");
  expect((details["manifest_envelope"] as Json).manifest).toMatchObject({ clientTimeoutMs: null, poolSize: null });
  const { report, bootProof } = await judged(details);
  expect([report.verdict, bootProof!.manifest.version]).toEqual(["authentic", "v0-tail"]);
});

it("an envelope written in another way is the same evidence, and is approved all the same", async () => {
  const details = detailsOf(setup.bootProof, "file");
  const spaced = JSON.stringify(details, null, 3).replaceAll('"threshold": "2"', '"threshold":2.0');
  const { report, bootProof } = await judged(spaced);
  expect(report.verdict).toBe("authentic");
  expect(toHex(bootProof!.manifestHash)).toBe(toHex(setup.manifestHash));
});

it("a remembered manifest is that of the same form only", async () => {
  const manifests = new ApprovedManifests<CheckedManifest>();
  const context = {
    now: AT,
    trustAnchors: [anchor],
    at: "document" as const,
    allowDebug: false,
    nonce: null,
    measurements: null,
    expectation: null,
    untimed: [],
    cache: new SignatureCache(),
    crls: { given: [], applied: new Set<string>() },
    manifests,
  };
  const check = async (proof: JsonObject): Promise<Checklist> => {
    const input = { value: parseJson(JSON.stringify(proof)), faults: [] };
    const [checked] = await checkBootProofs([{ input, wantedKeys: [] }], context);
    return checked!.checklist;
  };
  const details = detailsOf(setup.bootProof, "query");
  for (const proof of [setup.bootProof, details, setup.bootProof, details]) {
    const isDetails = proof === details;
    expect((await check(proof)).status("envelope.manifest")).toBe(isDetails ? "skip" : "pass");
  }
  const unread = { ...setup.bootProof, qosManifestB64: "=" };
  expect((await check(unread)).status("manifest.decode")).toBe("skip");
  expect(decodeManifestEnvelope(fromBase64(details["manifestEnvelope"] as string)!).manifest.version).toBe("v2");
});
