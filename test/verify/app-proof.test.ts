/** App proofs: whose boot proof they are judged under, and what was asked of them. */
import { describe, expect, it } from "vitest";
import type { CheckId } from "../../src/checks.js";
import { customPayload, policyOutcomePayload } from "../../src/lab/enclave.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import {
  type Alterations,
  type Judgement,
  after,
  appProof,
  drop,
  forge,
  hex,
  judged,
  put,
  withActivity,
} from "../attacks/support.js";

const { organizationId, address } = LAB_ADDRESS;
const at = after(60);

interface Answer {
  /** By subject. */
  readonly statuses: Readonly<Record<string, string>>;
  readonly details: string;
  readonly verified: readonly boolean[];
}

async function ask(id: CheckId, alterations: Alterations, judgement: Judgement): Promise<Answer> {
  const { report, verified } = await judged(forge(alterations), judgement);
  const checks = report.checks.filter((check) => check.id === id);
  return {
    statuses: Object.fromEntries(checks.map(({ subject, status }) => [subject, status])),
    details: checks.map(({ detail }) => detail).join("\n"),
    verified: [...verified].filter(([subject]) => subject.startsWith("app[")).map(([, value]) => value !== null),
  };
}

describe("app proofs without an activity", () => {
  it("of an outcome in another organization than was asked for are refused", async () => {
    const answer = await ask(
      "app.request",
      { payloads: [policyOutcomePayload(at, "another"), policyOutcomePayload(at, organizationId)] },
      { expected: { organizationId } },
    );
    expect(answer).toMatchObject({ statuses: { "app[0]": "fail", "app[1]": "pass" }, verified: [false, true] });
  });

  it("of an application's own type name no organization: a warning", async () => {
    const answer = await ask("app.request", { payloads: [customPayload(at)] }, { expected: { organizationId } });
    expect(answer).toMatchObject({ statuses: { "app[0]": "warn" }, verified: [true] });
  });

  it("answer for every address that was asked about, of whatever type they are", async () => {
    const expected = { organizationId, addresses: [address] };
    const answer = await ask("app.request", { payloads: [customPayload(at)] }, { expected });
    expect(answer).toMatchObject({ statuses: { "app[0]": "fail" }, verified: [false] });
    expect(answer.details).toContain(address);
  });

  it("of which none speaks of an address are told so once", async () => {
    const outcome = policyOutcomePayload(at, organizationId);
    const expected = { organizationId, addresses: [address] };
    const answer = await ask("app.request", { payloads: [outcome, outcome] }, { expected });
    expect(answer).toMatchObject({ statuses: { "app[0]": "fail", "app[1]": "pass" }, verified: [false, true] });
  });

  it("of the addresses that were asked about are good", async () => {
    const expected = { organizationId, addresses: [address] };
    expect(await ask("app.request", {}, { expected })).toMatchObject({ statuses: { "app[0]": "pass" } });
  });

  it("are missing where none was given, and not where an activity without any was", async () => {
    const expected = { organizationId, addresses: [address] };
    const none = (await ask("app.request", { payloads: [] }, { expected })).statuses;
    expect(none).toEqual({ "app[0]": "fail" });
    await expect(ask("app.request", { payloads: [] }, { expected: { organizationId } })).rejects.toThrow(
      /^expected: app proofs or an activity wanted/,
    );
    const activity = { activity: drop("appProofs") };
    expect((await ask("app.request", activity, { expected, given: withActivity })).statuses).toEqual({});
  });
});

describe("an app proof", () => {
  it("is judged under the good one of two boot proofs of its key, whichever comes first", async () => {
    for (const isFirst of [true, false]) {
      const answer = await ask(
        "app.key",
        {},
        {
          given: ({ bootProof, appProofs }) => {
            const bad = put("qosManifestB64", "AAAA")(bootProof);
            return { bootProofs: isFirst ? [bad, bootProof] : [bootProof, bad], appProofs };
          },
        },
      );
      expect(answer).toMatchObject({ statuses: { "app[0]": "pass" }, verified: [true] });
    }
  });

  it("of a key that does not sign app proofs is not verified, nor one under a rejected boot proof", async () => {
    expect(await ask("app.key", { generation: "setup" }, { noPolicy: true })).toMatchObject({
      statuses: { "app[0]": "fail" },
      verified: [false],
    });
    const rejected = await ask("app.key", { bootProof: put("qosManifestB64", "AAAA") }, { noPolicy: true });
    expect(rejected).toMatchObject({ statuses: { "app[0]": "skip" }, verified: [false] });
  });

  it("of a key that is no point says that, and another that its signature is wrong", async () => {
    const wrong = (publicKey: Uint8Array): Promise<Answer> =>
      ask("app.signature", appProof({ json: put("publicKey", hex(publicKey)) }), {});
    const none = new Uint8Array(130).fill(4);
    expect((await wrong(none)).details).toBe("the key is not two points of P-256");
    expect((await wrong(generateQosKeyPair().publicKey)).details).toContain("not one of the key over this payload");
  });
});
