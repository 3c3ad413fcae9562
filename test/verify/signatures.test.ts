/** Typed data (EIP-712) as viem and ethers hash it, the bounds on it, and what else a signature's cost depends on. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { afterEach, describe, expect, it, vi } from "vitest";
import { fromHex, fromUtf8, toHex } from "../../src/bytes.js";
import { COMPLETED, type Activity } from "../../src/decode/activity.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import type * as Noble from "../../src/verify/noble-signatures.js";
import { verifySignatures } from "../../src/verify/signatures.js";
import { UncheckedError, typedDataBudget, unsignedEthereum } from "../../src/verify/signed-content.js";
import { type Member, type Typed, digestOf, members, typed } from "../support/typed-data.js";

const hashedTexts = vi.hoisted((): Uint8Array[] => []);
vi.mock("../../src/verify/noble-signatures.js", async (original) => {
  const noble = await original<typeof Noble>();
  const counted = (bytes: Uint8Array): Uint8Array => {
    hashedTexts.push(bytes);
    return noble.keccak_256(bytes);
  };
  return { ...noble, keccak_256: counted };
});
afterEach(() => void hashedTexts.splice(0));

/** The reason, or `hashed`. */
function outcomeOf(data: object, budget = typedDataBudget()): string {
  try {
    digestOf(data, budget);
    return "hashed";
  } catch (error) {
    if (error instanceof UncheckedError) return error.message;
    throw error;
  }
}

describe("typed data", () => {
  it("with a list that is shorter or longer than its type says is not checked", () => {
    const root = { Root: members("uint8[2]") };
    for (const m0 of [[1], [1, 2, 3]]) expect(outcomeOf(typed(root, { m0 }))).toContain("does not fit its types");
    expect(outcomeOf(typed(root, { m0: [1, 2] }))).toBe("hashed");
  });

  it("hashes the text of each type once", () => {
    const data = typed({ Root: members("Leaf[]"), Leaf: members("uint8") }, { m0: Array(50).fill({ m0: 1 }) });
    digestOf(data);
    const texts = hashedTexts.map(fromUtf8).filter((text) => text?.endsWith(")"));
    expect(texts).toEqual(["EIP712Domain()", "Root(Leaf[] m0)Leaf(uint8 m0)", "Leaf(uint8 m0)"]);
  });
});

const named = (index: number): string => `T${index}`;
const manyTypes = (count: number): Typed =>
  typed({ Root: [], ...Object.fromEntries(Array.from({ length: count - 2 }, (_, index) => [named(index), []])) }, {});
/** Each type refers to the next one. */
const chain = (count: number): Typed =>
  typed(
    {
      Root: members("T0[]"),
      ...Object.fromEntries(
        Array.from({ length: count }, (_, index) => [named(index), members(`${named(index + 1)}[]`)]),
      ),
    },
    { m0: [] },
  );
const bools = (count: number): Member[] => members(...Array<string>(count).fill("bool"));
const valuesOf = (all: readonly Member[]): JsonObject => Object.fromEntries(all.map(({ name }) => [name, true]));
const membersOfOne = (count: number): Typed => typed({ Root: bools(count) }, valuesOf(bools(count)));
const membersOfAll = (count: number): Typed => {
  const others = Object.fromEntries([0, 1, 2, 3, 4, 5].map((index) => [named(index), bools(150)]));
  return typed({ Root: bools(count - 900), ...others }, valuesOf(bools(count - 900)));
};
const nameOf = (length: number): Typed =>
  typed({ Root: [{ name: "n".repeat(length), type: "bool" }] }, { ["n".repeat(length)]: true });
const typeNameOf = (length: number): Typed => typed({ Root: [], ["n".repeat(length)]: [] }, {});
const arrayLevels = (count: number): Typed => typed({ Root: members(`uint8${"[]".repeat(count)}`) }, { m0: [] });
/** Objects on odd levels, lists on even ones. */
const nested = (levels: number): Typed => {
  let value: JsonValue = levels % 2 === 0 ? [] : { m0: [] };
  for (let level = levels - 1; level > 0; level--) value = level % 2 === 0 ? [value] : { m0: value };
  return typed({ Root: members("Root[]") }, value as JsonObject);
};
/** With the domain, the message and the list. */
const manyValues = (count: number): Typed => typed({ Root: members("bool[]") }, { m0: Array(count - 3).fill(true) });
/** The root refers to another type, whose text is therefore hashed twice. The domain's text has 14 characters. */
const textsOf = (characters: number): Typed => {
  const lengthOf = (name: string, all: readonly Member[]): number =>
    `${name}()${all.map((member) => `${member.type} ${member.name}`).join()}`.length;
  const bool = (index: number, length: number): Member => ({ name: `${index}`.padEnd(length, "n"), type: "bool" });
  const other = Array.from({ length: 190 }, (_, index) => bool(index, 500));
  const root: Member[] = [{ name: "other", type: "Other" }];
  const left = (): number => characters - 14 - 2 * lengthOf("Other", other) - lengthOf("Root", root);
  while (left() > 0) root.push(bool(root.length, Math.min(left() < 500 ? 500 : 450, left() - ",bool ".length)));
  return typed({ Root: root, Other: other }, { ...valuesOf(root), other: valuesOf(other) });
};
const digits = (count: number): Typed => typed({ Root: members("uint256") }, { m0: "1".padStart(count, "0") });

describe("typed data at a bound is checked, and beyond it is not, before anything is hashed", () => {
  it.each<[what: string, most: number, make: (count: number) => Typed, reason: string]>([
    ["types", 100, manyTypes, "more than 100 types"],
    ["members in one type", 200, membersOfOne, "more than 200 members in one type"],
    ["members in all types", 1000, membersOfAll, "more than 1000 members in all types"],
    ["characters in the name of a member", 512, nameOf, "more than 512 characters in a name or type"],
    ["characters in the name of a type", 512, typeNameOf, "more than 512 characters in a name or type"],
    ["array levels", 32, arrayLevels, "more than 32 array levels in one type"],
    ["levels of values", 48, nested, "more than 48 levels of values"],
    ["values", 10_000, manyValues, "more than 10000 values"],
    ["characters in the texts of types", 262_144, textsOf, "more than 262144 characters in the texts of its types"],
  ])("%s", (_, most, make, reason) => {
    expect(outcomeOf(make(most))).toBe("hashed");
    hashedTexts.splice(0);
    expect(outcomeOf(make(most + 1))).toBe(`the typed data is too large for this version: ${reason}`);
    expect(hashedTexts).toEqual([]);
  });

  it("digits of an integer", () => {
    expect(outcomeOf(digits(100))).toBe("hashed");
    hashedTexts.splice(0);
    expect(outcomeOf(digits(101))).toBe("an integer has more than 100 digits");
    expect(hashedTexts).toEqual([]);
  });

  it("values of all payloads of a request together", () => {
    const budget = typedDataBudget();
    expect([manyValues(6000), manyValues(4000), manyValues(3)].map((data) => outcomeOf(data, budget))).toEqual([
      "hashed",
      "hashed",
      "the typed data is too large for this version: more than 10000 values",
    ]);
  });
});

/** What QuickJS answers from 32 bits on (findings/quickjs-as-uint-n.sh). */
function asQuickJs(): void {
  vi.spyOn(BigInt, "asUintN").mockImplementation((bits, value) => BigInt.asIntN(bits, value));
}

describe("in QuickJS", () => {
  afterEach(() => vi.restoreAllMocks());

  it("typed data has the same digest", () => {
    const data = typed({ Root: members("int256", "uint256") }, { m0: "-1", m1: (2n ** 256n - 1n).toString() });
    const digest = digestOf(data);
    asQuickJs();
    expect(digestOf(data)).toBe(digest);
  });

  it("a signature of a transaction is read, also one whose r has its highest bit", () => {
    const r = "ff".repeat(32);
    asQuickJs();
    const { signatureOf } = unsignedEthereum(fromHex(`c6${"80".repeat(6)}`)!);
    const signature = signatureOf(fromHex(`f849${"80".repeat(6)}1ba0${r}a0${"11".repeat(32)}`)!)!;
    expect([toHex(signature.r), signature.yParity]).toEqual([r, 0]);
  });
});

describe("typed data that no wallet signs is not checked", () => {
  it.each<[what: string, data: Typed, reason: string]>([
    ["two members of one name", typed({ Root: [...members("uint8"), ...members("uint8")] }, { m0: 1 }), "of one name"],
    ["a chain of 3,000 types", chain(3000), "more than 100 types"],
    ["a chain of 10,000 types", chain(10_000), "at most 16384 values"],
    ["a type that contains itself", typed({ Root: members("Root") }, { m0: { m0: {} } }), "does not fit its types"],
    ["a type of brackets", typed({ Root: members("[".repeat(250) + "]".repeat(250)) }, { m0: [] }), "does not fit"],
    ["a type that is only a suffix", typed({ Root: members("[]") }, { m0: [] }), "does not fit"],
    ["a list whose count is not decimal", typed({ Root: members("uint8[0x1]") }, { m0: [1] }), "does not fit"],
    ["a type of closing brackets", typed({ Root: members(`T${"]".repeat(250)}`) }, { m0: [] }), "does not fit"],
    ["an integer of a million digits", digits(1_000_000), "more than 100 digits"],
  ])("%s", (_, data, reason) => {
    expect(outcomeOf(data)).toContain(reason);
  });
});

const list = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => item(index));

it("typed data of more values than any within its limits is not read to its end", () => {
  const types = (count: number, members: number): object =>
    Object.fromEntries(
      list(count, (index) => [`T${index}`, list(members, (at) => ({ name: `m${at}`, type: "bool" }))]),
    );
  const data = { types: { EIP712Domain: [], ...types(1500, 55) }, primaryType: "T0", domain: {}, message: {} };
  expect(outcomeOf(data)).toBe("the payload is not a strict JSON object of at most 16384 values");
  const most = { ...data, types: { EIP712Domain: [], ...types(99, 10) }, message: { a: list(9000, () => 0) } };
  expect(outcomeOf(most)).toContain("fit its types");
});

describe("a request", () => {
  const how = { encoding: "PAYLOAD_ENCODING_TEXT_UTF8", hashFunction: "HASH_FUNCTION_KECCAK256" };
  const word = "11".repeat(32);
  const signaturesOf = (signWith: string, count: number): ReturnType<typeof verifySignatures> => {
    const parameters = { signWith, payloads: Array<string>(count).fill("x"), ...how };
    const signatures = Array<JsonObject>(count).fill({ r: word, s: word, v: "00" });
    const activity = { status: COMPLETED, result: { r: { signatures } } } as unknown as Activity;
    return verifySignatures({ kind: "payloads", parameters }, activity);
  };

  it("of more than 256 payloads has 256 checked, and states that the rest are not", async () => {
    expect((await signaturesOf("unknown", 256))!.signatures.map(({ index }) => index)).toHaveLength(256);
    const { signatures, contradictions, provenMembers } = (await signaturesOf("unknown", 300))!;
    expect([signatures.length, contradictions, provenMembers]).toEqual([257, [], []]);
    expect(signatures[256]).toMatchObject({
      index: 256,
      publicKey: null,
      open: "this version checks 256 signatures of a request, and not this one",
    });
  });

  it("whose signWith is longer than any key repeats only its start", async () => {
    const [signature] = (await signaturesOf("1".repeat(1_000_000), 1))!.signatures;
    expect(signature).toMatchObject({ publicKey: null, open: expect.stringContaining("address format") as string });
    expect(signature!.signWith.length).toBeLessThan(200);
  });
});

describe("an unsigned transaction", () => {
  /** Of `length` bytes: 27 of other members, and data. */
  const content = (length: number): string => `808082520894${"22".repeat(20)}80${dataOf(length - 28)}`;
  const dataOf = (length: number): string => `${(0x80 + length).toString(16)}${"33".repeat(length)}`;
  const isKnown = (hex: string): boolean => {
    try {
      return unsignedEthereum(fromHex(hex)!).digest.length === 32;
    } catch (error) {
      if (error instanceof UncheckedError) return false;
      throw error;
    }
  };

  it("has the one canonical length of its list", () => {
    expect([`f7${content(55)}`, `f838${content(56)}`].map(isKnown)).toEqual([true, true]);
    const others = [`f837${content(55)}`, `f90038${content(56)}`, `f838${content(55)}`, `f837${content(56)}`];
    expect(others.map(isKnown)).toEqual([false, false, false, false]);
  });
});

describe("Ed25519", () => {
  const seeds = [1, 2].map((byte) => new Uint8Array(32).fill(byte));
  const [first, second] = seeds.map((seed) => toHex(ed25519.getPublicKey(seed)));
  const verified = async (
    kind: "payload" | "transaction",
    parameters: JsonObject,
    result: JsonObject,
  ): Promise<{ readonly isRefused: boolean; readonly open: string | null }> => {
    const activity = { status: COMPLETED, result: { r: result } } as unknown as Activity;
    const { contradictions, signatures } = (await verifySignatures({ kind, parameters }, activity))!;
    return { isRefused: contradictions.length > 0, open: signatures[0]!.open };
  };

  it("under what is not an address of Solana is not checked", async () => {
    const how = { encoding: "PAYLOAD_ENCODING_TEXT_UTF8", hashFunction: "HASH_FUNCTION_NOT_APPLICABLE" };
    const under = (signWith: string): ReturnType<typeof verified> =>
      verified("payload", { signWith, payload: "x", ...how }, { r: "11".repeat(32), s: "11".repeat(32), v: "00" });
    const others = ["1".repeat(31), "1".repeat(32), "1".repeat(33), `${"9".repeat(43)}0`, `${"9".repeat(43)}l`];
    expect(await under("9".repeat(44))).toMatchObject({ isRefused: true });
    for (const address of others)
      expect(await under(address)).toEqual({
        isRefused: false,
        open: expect.stringContaining("address format") as string,
      });
  });

  it("of the second of two signers of a transaction is verified, and under the first is not", async () => {
    const transactionOf = (required: number, ...signatures: string[]): string =>
      `02${signatures.join("")}${message(required)}`;
    const message = (required: number): string =>
      `0${required}000103${first!}${second!}${"44".repeat(32)}${"55".repeat(32)}00`;
    const [none, other] = ["00".repeat(64), "77".repeat(64)];
    const of = (signWith: string, by: Uint8Array, required = 2): ReturnType<typeof verified> => {
      const signature = toHex(ed25519.sign(fromHex(message(required))!, by));
      const unsignedTransaction = transactionOf(required, other, none);
      const parameters = { signWith, unsignedTransaction, type: "TRANSACTION_TYPE_SOLANA" };
      return verified("transaction", parameters, { signedTransaction: transactionOf(required, other, signature) });
    };
    expect(await of(second!, seeds[1]!)).toEqual({ isRefused: false, open: null });
    expect(await of(first!, seeds[1]!)).toMatchObject({ isRefused: true });
    expect(await of(second!, seeds[0]!)).toMatchObject({ isRefused: true });
    // Two signatures, of which the message demands one.
    expect(await of(second!, seeds[1]!, 1)).toMatchObject({
      isRefused: false,
      open: expect.stringContaining("not a Sol"),
    });
  });
});
