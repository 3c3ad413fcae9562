/** Outputs of the genesis ceremony in their three forms, and the requests that they answer or do not. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { concatBytes, toHex, toUtf8 } from "../../src/bytes.js";
import { decodeGenesisOutput } from "../../src/decode/genesis-output.js";
import { type GenesisReviewOptions, reviewGenesis } from "../../src/review/genesis.js";
import { type QosKeyPair, generateQosKeyPair, qosSign } from "../../src/lab/qos.js";

interface Member {
  readonly alias: string;
  readonly pubKey: Uint8Array;
}

const u32 = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
};
const vec = (bytes: Uint8Array): Uint8Array => concatBytes(u32(bytes.length), bytes);
const list = (...items: readonly Uint8Array[]): Uint8Array => concatBytes(u32(items.length), ...items);
const option = (bytes: Uint8Array | null): Uint8Array =>
  bytes === null ? Uint8Array.of(0) : concatBytes(Uint8Array.of(1), vec(bytes));
const member = ({ alias, pubKey }: Member): Uint8Array => concatBytes(vec(toUtf8(alias)), vec(pubKey));

const quorum = generateQosKeyPair();
const [alice, bob, mallory] = ["alice", "bob", "mallory"].map((alias): Member => {
  return { alias, pubKey: generateQosKeyPair().publicKey };
}) as [Member, Member, Member];
const SET = { threshold: 2, members: [alice, bob] };
const DR = generateQosKeyPair().publicKey;
const MESSAGE = toUtf8("qos-test-message");

interface Parts {
  readonly set?: typeof SET;
  readonly sharers?: readonly Member[];
  readonly drKey?: Uint8Array | null;
  readonly wrapped?: Uint8Array | null;
  readonly threshold?: number;
  readonly commitment?: Uint8Array;
  readonly key?: QosKeyPair;
  readonly signature?: Uint8Array;
}

/** The canonical JSON of the request, written by hand. */
function commitmentOf({ threshold, members }: typeof SET, drKey: Uint8Array | null): Uint8Array {
  const list = members.map(({ alias, pubKey }) => `{"alias":"${alias}","pubKey":"${toHex(pubKey)}"}`).join(",");
  const dr = drKey === null ? "" : `"drKey":"${toHex(drKey)}",`;
  const set = `"set":{"members":[${list}],"threshold":"${threshold}"}`;
  const text = `{"domain":"qos::genesis-request-commitment::v1",${dr}${set}}`;
  return new Uint8Array(createHash("sha256").update(text).digest());
}

function output(form: "threshold" | "commitment" | "request", parts: Parts = {}): Uint8Array {
  const { set = SET, drKey = null, key = quorum } = parts;
  const {
    sharers = set.members,
    wrapped = drKey === null ? null : new Uint8Array(60),
    threshold = set.threshold,
  } = parts;
  const { signature = qosSign(key, MESSAGE), commitment = commitmentOf(set, drKey) } = parts;
  const shares = sharers.map((one) => concatBytes(member(one), vec(new Uint8Array(50)), new Uint8Array(64)));
  return concatBytes(
    ...(form === "request" ? [list(...set.members.map(member)), u32(threshold), option(drKey)] : []),
    vec(key.publicKey),
    list(...shares),
    list(),
    ...(form === "request" ? [] : [u32(threshold)]),
    option(wrapped),
    new Uint8Array(64),
    ...[vec(new Uint8Array(70)), vec(signature), vec(MESSAGE)],
    ...(form === "commitment" ? [commitment] : []),
  );
}

const FORMS = ["threshold", "commitment", "request"] as const;

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
