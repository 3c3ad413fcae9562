/** A demand that nothing of what is given could meet is a fault of the command line, and never silently dropped. */
import { describe, expect, it } from "vitest";
import { packEvidence } from "../../src/bundle/index.js";
import { Forge, LAB_ADDRESS, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type Answer, bootproof, fileOf, refused } from "./support.js";

const lab = new Forge();
const { bootProof, appProofs, activity, anchorPem, document } = forgeEvidence({
  lab,
  at: new Date("2026-03-04T05:06:07.000Z"),
});
const POLICY = fileOf(labPolicy(anchorPem, [labDeployment(lab)]));
const BOOT = fileOf(bootProof);
const APPS = fileOf(appProofs);
const NO_APPS = fileOf([]);
const ACTIVITY = fileOf(activity);
const BUNDLE = fileOf(packEvidence({ bootProofs: [bootProof] }));
const BUNDLE_WITH_APPS = fileOf(packEvidence({ bootProofs: [bootProof], appProofs }));
const { organizationId, address } = LAB_ADDRESS;

const judged = (argv: readonly string[], env: Record<string, string> = {}): Promise<Answer> =>
  bootproof([...argv, "--policy", POLICY], { now: "2026-03-04T06:00:00Z", env });

const BOOT_PROOFS_ALONE: [string, string[]][] = [
  ["a file", ["verify", "--boot-proof", BOOT]],
  ["a file and the key that was asked for", ["verify", "--boot-proof", BOOT, "--ephemeral-key", keyOf(bootProof)]],
  ["those of a bundle", ["verify", "--boot-proof", BUNDLE]],
  ["a file, and a list of app proofs that is empty", ["verify", "--boot-proof", BOOT, "--app-proof", NO_APPS]],
  ["a bundle that has no others", ["verify", BUNDLE]],
  ["a file that is packed", ["bundle", "--boot-proof", BOOT]],
  ["a file that is packed with an empty list", ["bundle", "--boot-proof", BOOT, "--app-proof", NO_APPS]],
];

function keyOf(proof: object): string {
  return (proof as { ephemeralPublicKeyHex: string }).ephemeralPublicKeyHex;
}

describe("--organization-id, where there are boot proofs alone", () => {
  it.each(BOOT_PROOFS_ALONE)("is exit code 2: %s", async (_, argv) => {
    for (const id of [organizationId, "another"]) {
      await refused(
        2,
        judged([...argv, "--organization-id", id]),
        /^bootproof: --organization-id: boot proofs name no organization/,
      );
    }
  });

  it.each(BOOT_PROOFS_ALONE)("of the environment it belongs to connections: %s", async (_, argv) => {
    expect((await judged(argv, { BOOTPROOF_ORGANIZATION_ID: "another" })).code).toBe(0);
  });

  it("is exit code 2 of a bare document", () =>
    refused(2, judged(["verify", "--attestation", fileOf(document), "--organization-id", "o"]), "--organization-id"));
});

describe("--organization-id, where something can be of another", () => {
  it.each([
    ["app proofs", ["--boot-proof", BOOT, "--app-proof", APPS]],
    ["an activity", ["--boot-proof", BOOT, "--activity", ACTIVITY]],
    ["a bundle with app proofs", [BUNDLE_WITH_APPS]],
  ])("is held against %s, of the environment too", async (_, argv) => {
    const verify = ["verify", ...argv];
    expect((await judged([...verify, "--organization-id", organizationId])).code).toBe(0);
    expect((await judged([...verify, "--organization-id", "another"])).code).toBe(1);
    expect((await judged(verify, { BOOTPROOF_ORGANIZATION_ID: "another" })).code).toBe(1);
    await refused(2, judged(verify, { BOOTPROOF_ORGANIZATION_ID: "" }), "BOOTPROOF_ORGANIZATION_ID: empty");
  });
});

describe("--address that no app proof speaks of", () => {
  it.each([
    ["boot proofs alone", ["--boot-proof", BOOT]],
    ["a bundle of them", [BUNDLE]],
  ])("is exit code 1: %s", async (_, argv) => {
    const asked = ["--organization-id", organizationId, "--address", address];
    expect((await judged(["verify", ...argv, ...asked])).code).toBe(1);
  });
});

describe("an option that would do nothing", () => {
  it.each([
    [["lab", "--list-faults", "--port", "0"], "--port: --list-faults starts no lab"],
    [["lab", "--list-faults", "--data", "x"], "--data: --list-faults starts no lab"],
    [["verify", BUNDLE, "--policy", POLICY, "--activity-id", "a", "--organization-id", "o"], "the file has none"],
    [
      ["verify", "--boot-proof", BOOT, "--policy", POLICY, "--timeout", "5"],
      "--timeout: not used, since nothing is fetched",
    ],
    [["page", "--policy", POLICY], "unknown option --policy"],
    [["page", "--payload", "A:/b=1"], "unknown option --payload"],
    [["page", "--challenge", "A:/b=1"], "unknown option --challenge"],
    [
      ["audit", "--policy", POLICY, BOOT, "--queue", "redis://localhost:9", "--workers", "2"],
      "--workers is for the threads of this machine",
    ],
  ])("is exit code 2: %j", (argv, message) => refused(2, bootproof(argv), message));
});

const CHALLENGE = "Zx8_qK3vT1mN7bR5wY9cDa";
const PROOF_AT = "1772600830000";
const ORDER = { type: "ORDER", timestampMs: PROOF_AT, order: { id: "42", items: [1.5, 7] }, nonce: CHALLENGE };
const orders = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z"), payloads: [ORDER] });
const untimed = forgeEvidence({
  lab,
  at: new Date("2026-03-04T05:06:07.000Z"),
  payloads: [{ type: "ORDER", order: { id: "42" }, nonce: CHALLENGE }],
});
const ORDER_POLICY = fileOf(
  labPolicy(orders.anchorPem, [labDeployment(lab)], { appProofs: { untimed: ["ORDER"] } } as never),
);
const FILES = ["--boot-proof", fileOf(orders.bootProof), "--app-proof", fileOf(orders.appProofs)];
const ID = ["--payload", 'ORDER:/order/id="42"'];
const SENT = ["--challenge", `ORDER:/nonce="${CHALLENGE}"`];

const verified = (...argv: string[]): Promise<Answer> =>
  bootproof(["verify", ...argv, "--policy", ORDER_POLICY], { now: "2026-03-04T06:00:00Z" });

describe("--payload and --challenge", () => {
  it.each([
    ["a value", ID],
    ["a value and a challenge", [...ID, ...SENT]],
    ["a number, as another decimal", ["--payload", "ORDER:/order/items/0=1.50", "ORDER:/order/items/1=0.7e1"]],
  ])("compare app proofs without an organization: %s", async (_, options) => {
    expect((await verified(...FILES, ...options)).code).toBe(0);
  });

  it("say how the payload differs, with the type", async () => {
    const { stdout } = await verified(...FILES, "--payload", 'ORDER:/order/id="43"');
    expect(stdout.replace(/\s+/g, " ")).toContain(
      'the payload differs from expected.payload[0], of type ORDER: /order/id is "42", expected "43"',
    );
  });

  it("refuse boot proofs alone: there is no app proof that meets them", async () => {
    expect((await verified(...FILES.slice(0, 2), ...ID)).code).toBe(1);
    const key = (orders.bootProof as { ephemeralPublicKeyHex: string }).ephemeralPublicKeyHex;
    expect((await verified(...FILES.slice(0, 2), "--ephemeral-key", key, ...SENT)).code).toBe(1);
  });

  it("are compared with what is in a bundle, and with what is packed", async () => {
    const bundle = fileOf(packEvidence({ bootProofs: [orders.bootProof], appProofs: orders.appProofs }));
    expect((await verified(bundle, ...ID, ...SENT)).code).toBe(0);
    expect((await verified(bundle, "--payload", 'ORDER:/order/id="43"')).code).toBe(1);
    const packed = (...argv: string[]): Promise<Answer> =>
      bootproof(["bundle", ...FILES, ...argv, "--policy", ORDER_POLICY], { now: "2026-03-04T06:00:00Z" });
    const { code, stdout } = await packed(...ID, ...SENT);
    expect(code).toBe(0);
    expect(Object.keys(JSON.parse(stdout) as object)).not.toContain("expected");
    expect((await packed("--payload", 'ORDER:/order/id="43"')).code).toBe(1);
  });

  it("leave a packed report without differences, timed or not", async () => {
    for (const { bootProof: boot, appProofs: apps } of [orders, untimed]) {
      const files = ["--boot-proof", fileOf(boot), "--app-proof", fileOf(apps)];
      const { stdout } = await bootproof(["bundle", ...files, ...ID, ...SENT, "--policy", ORDER_POLICY], {
        now: "2026-03-04T06:00:00Z",
      });
      const bundle = fileOf(stdout);
      for (const options of [[], [...ID, ...SENT], ["--payload", 'ORDER:/order/id="42"']]) {
        const answer = await verified(bundle, ...options, "--format", "json");
        const { differences } = (JSON.parse(answer.stdout) as { bundle: { packed: { differences: unknown } } }).bundle
          .packed;
        expect([answer.code, differences]).toEqual([0, []]);
      }
    }
  });

  it("demand the organization, where there is an activity too", async () => {
    const files = ["--boot-proof", BOOT, "--activity", ACTIVITY];
    const bundle = fileOf(packEvidence({ bootProofs: [bootProof], activity }));
    for (const argv of [
      ["verify", ...files],
      ["bundle", ...files],
      ["verify", bundle],
    ]) {
      const without = await judged([...argv, ...ID]);
      expect([without.code, without.stderr]).toEqual([2, expect.stringContaining("also require its organization")]);
      expect(without.stderr).toContain("--organization-id");
      const given = await judged([...argv, ...ID, "--organization-id", organizationId]);
      expect(given.code).toBe(1);
    }
  });

  it.each([
    ["a word without a pointer", ["--payload", "ORDER"], "--payload ORDER: expected TYPE:/pointer=JSON"],
    ["a word without a value", ["--payload", "ORDER:/order/id"], "expected TYPE:/pointer=JSON"],
    ["a word without a type", ["--payload", ":/order/id=1"], "expected TYPE:/pointer=JSON"],
    ["the file after it", ["--payload", "ORDER:/a=1", "bundle.json"], "It takes every word up to the next option"],
    ["quotes that a shell removed", ["--payload", "ORDER:/id=abc"], `--payload 'ORDER:/id="42"'`],
    ["no value", ["--challenge", "ORDER:/id="], `--challenge 'ORDER:/id="42"'`],
    ["an object", ["--payload", 'ORDER:/order={"id":"42"}'], "--payload ORDER:/order: an object or array: name its"],
    ["a list", ["--payload", "ORDER:/order=[]"], "an object or array: name its members"],
    ["a number that a double cannot hold", ["--payload", "ORDER:/n=9007199254740993"], "--payload ORDER:/n: "],
    ["a number without end", ["--payload", "ORDER:/n=1e999"], "--payload ORDER:/n: "],
    ["a pointer without a slash", ["--payload", "ORDER:order=1"], "--payload ORDER:order: expected a JSON pointer"],
    ["a pointer with a lone ~", ["--payload", "ORDER:/a~2=1"], "--payload ORDER:/a~2: expected a JSON pointer"],
    ["one pointer twice", ["--payload", "ORDER:/a=1", "ORDER:/a=1"], "--payload ORDER:/a: repeated"],
    ["one pointer in both", [...SENT, "--payload", "ORDER:/nonce=1"], "--challenge ORDER:/nonce: repeated"],
    ["two challenges", [...SENT, `ORDER:/b="${CHALLENGE}"`], "--challenge ORDER:/b: a type has at most one challenge"],
    ["a short challenge", ["--challenge", 'ORDER:/a="short"'], "--challenge ORDER:/a: its value is not random enough"],
    [
      "31 hex digits",
      ["--challenge", `ORDER:/a="${"a1".repeat(15)}f"`],
      "expected a string of 22 or more base64url characters, or of 32 or more hex digits",
    ],
    ["a challenge that is a number", ["--challenge", "ORDER:/a=12345678901234"], "not random enough"],
  ])("are refused as usage: %s", async (_, options, message) => {
    const { code, stdout, stderr } = await verified(...FILES, ...options);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.replace(/\s+/g, " ")).toContain(message);
    expect(stderr).not.toMatch(/expected\.payload|TypeError/);
  });

  it("end the type at the first colon, the pointer at the first equals sign", async () => {
    const payload = { type: "A", timestampMs: PROOF_AT, "b:c": "d=e:/f=g" };
    const own = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z"), payloads: [payload] });
    const files = ["--boot-proof", fileOf(own.bootProof), "--app-proof", fileOf(own.appProofs)];
    expect((await verified(...files, "--payload", 'A:/b:c="d=e:/f=g"')).code).toBe(0);
    expect((await verified(...files, "--payload", 'A:/b:c="d=e:/f=h"')).code).toBe(1);
  });

  it.each([
    ["--app", "fetches all evidence that is verified"],
    ["--attestation", "is for a bare document"],
  ])("are refused with %s", async (option, message) => {
    for (const own of [ID, SENT]) {
      const { code, stderr } = await verified(option, "signer", ...own);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${option} ${message}`)]);
      expect(stderr).toContain(own[0]);
    }
  });
});

describe("an app proof whose application has its own names for the members", () => {
  const [{ publicKey, proofPayload, signature }] = orders.appProofs as unknown as [Record<string, string>];
  const named = { public_key: publicKey, payload: proofPayload, signature };

  it("is rejected by verify, which names the function that maps it", async () => {
    const { code, stdout } = await verified(...FILES.slice(0, 3), fileOf(named));
    expect([code, stdout.replace(/\s+/g, " ")]).toEqual([1, expect.stringContaining("appProofOf({ publicKey,")]);
  });

  it("is unknown to inspect and audit, which name it too", async () => {
    const file = fileOf(named);
    await refused(2, bootproof(["inspect", file]), "appProofOf");
  });
});
