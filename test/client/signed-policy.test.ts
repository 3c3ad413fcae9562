/** Verified calls under a signed policy, which changes while the client lives. */
import { describe, expect, it, vi } from "vitest";
import { toHex } from "../../src/bytes.js";
import { type ClientError, RejectedActivityError } from "../../src/client/index.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { customPayload } from "../../src/lab/enclave.js";
import { LabSigstore, labProvenancePin } from "../../src/lab/sigstore.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import type { Report } from "../../src/report/report.js";
import { SignedPolicyError } from "../../src/signed-policy/errors.js";
import { type LivingDoor, GOOD, LivingWorld, MINUTE, livesByItsPolicy } from "../support/living-policy.js";
import { AttestedService, BOOTED, anchorPem, lab } from "./attested.js";
import { rejectionOf } from "./support.js";

const calling: LivingDoor = async ({ service }, signed) => {
  const client = (await service.client()).withVerification(signed);
  return async () => {
    try {
      const { report } = await client.updateWallet({ walletId: "w1", walletName: "new" });
      expect(report.signedPolicy).toMatchObject({ name: "test/signer", remembered: false });
      return [];
    } catch (error) {
      if (error instanceof RejectedActivityError) return [...new Set(error.failures.map(({ id }) => id))];
      throw error;
    }
  };
};

describe("a client under a signed policy", () => {
  livesByItsPolicy(calling);

  it("shows the version in force as its policy", async () => {
    const world = new LivingWorld();
    world.publish();
    const signed = await world.open();
    const client = (await world.service.client()).withVerification(signed);
    expect(client.policy.signed?.version).toBe(1);
    world.publish();
    await signed.refresh();
    expect(client.policy.signed?.version).toBe(2);
  });

  it("counts an app proof once, also over a change of version", async () => {
    let proof: object | null = null;
    const world = new LivingWorld({
      activity: (activity) => {
        proof ??= (activity["appProofs"] as object[])[0]!;
        return { ...activity, appProofs: [proof] } as typeof activity;
      },
    });
    world.publish();
    const signed = await world.open();
    const ask = await calling(world, signed);
    expect(await ask()).toEqual([]);
    world.publish();
    await signed.refresh();
    world.pass(1);
    expect(await ask()).toEqual(["activity.claims"]);
  });

  it("knows the keys of boot proofs that it verified under a version before", async () => {
    const world = new LivingWorld();
    world.publish();
    const signed = await world.open();
    const client = (await world.service.client()).withVerification(signed);
    const { enclave } = world.service;
    const whole = toHex(enclave.ephemeralKey.publicKey);
    const appProof = enclave.appProof(customPayload(world.service.now, "QUOTE"));
    const expected = { payload: [{ type: "QUOTE", values: { "/greeting/text": "hello" } }] };
    const half = { ...appProof, publicKey: whole.slice(130) };
    const verify = (ephemeralKey?: string): Promise<unknown> =>
      client.verifyAppProofs([{ appProof: half, ...(ephemeralKey !== undefined && { ephemeralKey }) }], { expected });
    await verify(whole);
    world.publish();
    await signed.refresh();
    // The second one needs the key while its boot proof is fetched again.
    const release = world.hold();
    const first = verify();
    await expect.poll(() => world.service.asked.length).toBe(2);
    const second = verify();
    release();
    await Promise.all([first, second]);
    expect(world.service.asked).toEqual([whole, whole]);
  });

  it("says what it lacks where a new version demands provenance", async () => {
    const world = new LivingWorld();
    world.publish();
    const signed = await world.open();
    const ask = await calling(world, signed);
    const pin = labProvenancePin({ json: JSON.stringify(new LabSigstore().trustedRoot) });
    world.publish(labPolicy(anchorPem, [{ ...labDeployment(lab), provenance: [pin] }]));
    await signed.refresh();
    const error = await rejectionOf<ClientError>(ask());
    expect([error.name, error.code, error.effect]).toEqual(["ClientError", "evidence", "unknown"]);
    expect(error.message).toMatch(
      /options\.provenance: required, since the deployment .*was submitted: verify it later/,
    );
    world.publish();
    await signed.refresh();
    expect(await ask()).toEqual([]);
  });

  it("has the provenance that a new version demands where its caller gave it before", async () => {
    const world = new LivingWorld();
    world.publish();
    const signed = await world.open();
    const sigstore = new LabSigstore();
    const bundle = sigstore.attest({ at: BOOTED, digest: lab.pivotHash });
    const provenance = { provenance: [bundle], provenanceVerifier: await sigstoreVerifier() };
    const client = (await world.service.client()).withVerification(signed, provenance);
    const report = async (): Promise<Report> =>
      (await client.updateWallet({ walletId: "w1", walletName: "new" })).report;
    expect((await report()).checks.filter(({ id }) => id === "provenance.subject")).toEqual([]);
    const pin = labProvenancePin({ json: JSON.stringify(sigstore.trustedRoot) });
    world.publish(labPolicy(anchorPem, [{ ...labDeployment(lab), provenance: [pin] }]));
    await signed.refresh();
    const subjects = (await report()).checks.filter(({ id }) => id === "provenance.subject");
    expect(subjects.map(({ status }) => status)).toEqual(["pass"]);
  });

  it("is not held up by a feed that hangs after its caller has gone", async () => {
    const world = new LivingWorld();
    world.publish();
    const signed = await world.open();
    const client = (await world.service.client()).withVerification(signed);
    world.pass(15 * 24 * 60 * MINUTE);
    const stop = new AbortController();
    vi.spyOn(signed, "refresh").mockReturnValue(new Promise(() => {}));
    const call = client.updateWallet({ walletId: "w1", walletName: "new" }, { signal: stop.signal });
    await expect.poll(() => world.service.activities.length).toBe(1);
    stop.abort();
    expect((await rejectionOf<ClientError>(call)).code).toBe("aborted");
  });

  it("refuses anything else as a policy", async () => {
    const client = await new AttestedService().client();
    expect(() => client.withVerification(Object.create(null) as never)).toThrow(
      /result of parsePolicy or openSignedPolicy/,
    );
    expect(() => client.withVerification(GOOD as never)).toThrow(TypeError);
    expect(() => client.withVerification(undefined as never)).toThrow(
      new TypeError("policy is required: the result of parsePolicy or openSignedPolicy"),
    );
  });
});

describe("what an operator is told without onNotice", () => {
  it("is a warning, and an error for a rollback", async () => {
    const [warn, error] = [vi.spyOn(console, "warn"), vi.spyOn(console, "error")].map((spy) => {
      spy.mockImplementation(() => {});
      return spy;
    });
    const world = new LivingWorld();
    world.publish();
    world.publish();
    const signed = await world.open({ onNotice: undefined } as never);
    world.shown = null;
    world.pass(6 * MINUTE);
    await signed.current();
    await expect.poll(() => warn!.mock.calls.length).toBe(1);
    world.shown = world.feed.text(1, 1);
    world.pass(6 * MINUTE);
    await signed.current();
    await expect.poll(() => error!.mock.calls.length).toBe(1);
    expect(String(error!.mock.calls[0]![0])).toMatch(/version 2 stays in force.*rollback/);
    expect(warn).toHaveBeenCalledTimes(1);
    vi.restoreAllMocks();
  });
});

it.each([
  ["version", true],
  ["fork", true],
  ["previous", true],
  ["signatures", false],
  ["malformed", false],
  ["fetch", false],
] as const)("a feed that is refused with the code %s contradicts what was accepted: %s", (code, isContradiction) => {
  expect(new SignedPolicyError(code, "").isContradiction).toBe(isContradiction);
});
