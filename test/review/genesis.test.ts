/** Outputs of the genesis ceremony in their three forms, and the requests that they answer or do not. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { concatBytes, toHex } from "../../src/bytes.js";
import { decodeGenesisOutput } from "../../src/decode/genesis-output.js";
import { type GenesisReviewOptions, reviewGenesis } from "../../src/review/genesis.js";
import { generateQosKeyPair, qosSign } from "../../src/lab/qos.js";
import { DR, FORMS, MESSAGE, SET, alice, bob, mallory, output, quorum } from "../support/genesis.js";

async function faults(bytes: Uint8Array, asked: Partial<GenesisReviewOptions> = {}): Promise<string[]> {
  return (await reviewGenesis(bytes, { set: SET, drKey: null, ...asked })).faults.map(({ code }) => code);
}

describe.each(FORMS)("an output in the form %s", (form) => {
  it("answers its request", async () => {
    const bytes = output(form);
    const userData = new Uint8Array(createHash("sha256").update(bytes).digest());
    const review = await reviewGenesis(bytes, { set: SET, drKey: null, userData });
    expect(review).toMatchObject({ form, holds: true, faults: [], threshold: 2, userData: toHex(userData) });
    expect(review.quorumKey).toBe(toHex(quorum.publicKey));
    expect(review.members.map(({ alias }) => alias)).toEqual(["alice", "bob"]);
    expect(Object.isFrozen(review.faults)).toBe(true);
    expect(await faults(output(form, { drKey: DR }), { drKey: DR })).toEqual([]);
  });

  it("says that nothing shows an enclave, unless the document's user data is given", async () => {
    const { open } = await reviewGenesis(output(form), { set: SET, drKey: null });
    expect(open[0]).toMatch(/^That an enclave made it/);
  });

  const refused: readonly (readonly [string, Uint8Array, Partial<GenesisReviewOptions>, readonly string[]])[] = [
    ["a lower threshold", output(form, { set: { ...SET, threshold: 1 } }), {}, ["set", "commitment"]],
    ["shares for somebody else", output(form, { sharers: [alice, mallory] }), {}, ["members"]],
    ["a share too few", output(form, { sharers: [alice] }), {}, ["members"]],
    ["two shares for one", output(form, { sharers: [alice, alice] }), {}, ["members"]],
    ["shares in another order", output(form, { sharers: [bob, alice] }), {}, ["members"]],
    ["another set", output(form, { set: { ...SET, members: [alice, mallory] } }), {}, ["set", "members", "commitment"]],
    ["a key for disaster recovery that nobody requested", output(form, { drKey: DR }), {}, ["dr-key", "commitment"]],
    ["no key for disaster recovery, and one was requested", output(form), { drKey: DR }, ["dr-key", "commitment"]],
    [
      "a test message that another key signed",
      output(form, { signature: qosSign(generateQosKeyPair(), MESSAGE) }),
      {},
      ["test-signature"],
    ],
    [
      "a quorum key beside the curve",
      output(form, { key: { ...quorum, publicKey: new Uint8Array(130).fill(4) } }),
      {},
      ["quorum-key"],
    ],
    ["another attestation document", output(form), { userData: new Uint8Array(32) }, ["document"]],
  ];
  it.each(refused)("with %s is refused", async (name, bytes, asked, codes) => {
    const isRepeated = name === "another set" && form !== "request";
    const expected = codes.filter(
      (code) => (code !== "commitment" || form === "commitment") && !(isRepeated && code === "set"),
    );
    expect(await faults(bytes, asked)).toEqual(expected);
  });

  it("with another key for disaster recovery is refused where the form shows it", async () => {
    const other = generateQosKeyPair().publicKey;
    const found = await faults(output(form, { drKey: other }), { drKey: DR });
    expect(found).toEqual({ threshold: [], commitment: ["commitment"], request: ["dr-key"] }[form]);
    const { open } = await reviewGenesis(output(form, { drKey: other }), { set: SET, drKey: DR });
    expect(open.some((text) => text.includes("this form does not say"))).toBe(form === "threshold");
  });

  it.each([
    ["cut off", (bytes: Uint8Array) => bytes.subarray(0, -1)],
    ["with a byte behind", (bytes: Uint8Array) => concatBytes(bytes, Uint8Array.of(0))],
    ["empty", () => new Uint8Array()],
  ])("that is %s is malformed, with the fault of each form", (_name, change) => {
    expect(() => decodeGenesisOutput(change(output(form)))).toThrow(
      expect.objectContaining({
        code: "genesis-output",
        faults: expect.toSatisfy((all: unknown[]) => all.length === 3),
      }),
    );
  });
});

it("that several forms can read is refused", () => {
  // Empty lists and texts, but for a ciphertext of five bytes in one form, which the hash of the other form covers.
  const ambiguous = new Uint8Array(98);
  ambiguous[81] = 5;
  expect(() => decodeGenesisOutput(ambiguous)).toThrow(/several ways: as request and threshold/);
});

it("with the digest of a request is never read without it", () => {
  expect(decodeGenesisOutput(concatBytes(output("threshold"), new Uint8Array(32))).form).toBe("commitment");
});

describe("a call", () => {
  it.each<[string, object]>([
    ["without a key for disaster recovery, which has to be said to be null", { set: SET }],
    ["with a set of nobody", { set: { threshold: 1, members: [] }, drKey: null }],
    ["with an empty key", { set: SET, drKey: new Uint8Array() }],
    ["with a member's key in hex", { set: { threshold: 1, members: [{ alias: "a", pubKey: "04" }] }, drKey: null }],
  ])("%s throws TypeError", async (_name, asked) => {
    await expect(reviewGenesis(output("request"), asked as never)).rejects.toThrow(TypeError);
  });
});
