/** Evidence is the caller's: it is read once, at the call, and neither changed nor kept hold of. */
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import type { JsonValue } from "../../src/decode/json.js";
import { verifyActivity, verifyAttestation, verifyBootProof, verifyEvidence } from "../../src/index.js";
import { forge, lab, optionsOf, put } from "../attacks/support.js";

const whole = forge();
const options = optionsOf(whole);

describe("inputs and results", () => {
  const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
  const evidence = { bootProofs: [whole.bootProof], appProofs: whole.appProofs, activity: whole.activity };

  it("may be deeply frozen", async () => {
    const frozen = deepFreeze(structuredClone(evidence));
    expect((await verifyEvidence(frozen, options)).report.verdict).toBe("verified");
  });

  it("in bytes are not changed", async () => {
    const bytes = [whole.bootProof, whole.appProofs[0], whole.activity].map(bytesOf);
    const before = bytes.map((each) => each.slice());
    await verifyEvidence({ bootProofs: [bytes[0]], appProofs: [bytes[1]], activity: bytes[2] }, options);
    expect(bytes).toEqual(before);
    const document = whole.document.slice();
    await verifyAttestation(document, optionsOf(whole, { noPolicy: true }));
    expect(document).toEqual(whole.document);
  });

  it("share no memory", async () => {
    const asked = lab.ephemeralKey.publicKey.slice();
    const { bootProof: verified } = await verifyBootProof(whole.bootProof, { ...options, ephemeralKey: asked });
    asked.fill(0);
    expect(toHex(verified!.ephemeralKey)).toBe(toHex(lab.ephemeralKey.publicKey));
    const again = await verifyBootProof(whole.bootProof, options);
    expect(again.bootProof!.ephemeralKey.buffer).not.toBe(verified!.ephemeralKey.buffer);
  });

  it("are the same for JSON values, text and bytes", async () => {
    const asText = {
      bootProofs: [JSON.stringify(whole.bootProof)],
      appProofs: whole.appProofs.map((proof) => JSON.stringify(proof)),
      activity: JSON.stringify(whole.activity),
    };
    const asBytes = {
      bootProofs: [bytesOf(whole.bootProof)],
      appProofs: whole.appProofs.map(bytesOf),
      activity: bytesOf(whole.activity),
    };
    const { evidence: given, ...report } = (await verifyEvidence(evidence, options)).report;
    const [ofText, ofBytes] = [
      (await verifyEvidence(asText, options)).report,
      (await verifyEvidence(asBytes, options)).report,
    ];
    expect(ofText).toMatchObject(report);
    // Only what had bytes can be told by their digest.
    expect(ofBytes).toEqual(ofText);
    expect(given.every(({ sha256 }) => sha256 === null)).toBe(true);
    expect(ofText.evidence.every(({ sha256 }) => /^[0-9a-f]{64}$/.test(sha256!))).toBe(true);
    expect(report.verdict).toBe("verified");
  });
});

describe("values that JSON text cannot be", () => {
  const nested = (depth: number): JsonValue => {
    let value: JsonValue = [];
    for (let level = 0; level < depth; level++) value = level % 2 === 0 ? { a: value } : [value];
    return value;
  };
  const places: [name: string, of: (value: JsonValue) => Parameters<typeof verifyEvidence>[0]][] = [
    ["the boot proof", (value) => ({ bootProofs: [value] })],
    ["the activity", (value) => ({ bootProofs: [whole.bootProof], activity: value })],
    [
      "the app proofs of an activity that is repeated",
      (value) => ({
        bootProofs: [whole.bootProof],
        activity: put("result", { activity: { ...whole.activity, appProofs: [value] } })(whole.activity),
      }),
    ],
  ];

  // JSON.parse makes such values of a few kilobytes of text.
  it.each(places)("are rejected, where %s is nested 100000 deep", async (_, of) => {
    const { report } = await verifyEvidence(of(nested(100_000)), options);
    expect(report.verdict).toBe("rejected");
  });

  it("leave no app proof of an activity unjudged", async () => {
    const activity = { ...whole.activity, appProofs: [whole.appProofs[0], undefined] };
    const { report } = await verifyActivity(activity, [whole.bootProof], options);
    expect(report.verdict).toBe("rejected");
  });
});

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
