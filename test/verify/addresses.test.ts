/** Coverage: which address of a result is bound to which account, and by which proof. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AddressDerivationProof } from "../../src/decode/app-proof.js";
import type { JsonValue } from "../../src/decode/json.js";
import { type Coverage, coverageOf } from "../../src/verify/addresses.js";
import { leastCostMs } from "../support/cost.js";

const W = "w1";
const by = (path: string | null, address: string, walletId: string | null = W): AddressDerivationProof => ({
  organizationId: "o",
  address,
  ...(walletId !== null && { walletId }),
  ...(path !== null && { derivationPath: path }),
});
const at = (...paths: string[]): JsonValue => ({ walletName: "n", accounts: paths.map((path) => ({ path })) });

function cover(
  intent: JsonValue,
  result: JsonValue,
  proofs: AddressDerivationProof[],
  { walletId = W as string | null, makesKeys = true } = {},
): Coverage {
  return coverageOf({ intent, result, walletId, makesKeys, proofs });
}

/** The answer. A list that is left out is empty, and `paths`, where addresses are covered, is asked of some rows. */
type Lists = Partial<Record<"covered" | "uncovered" | "stray" | "paths", readonly string[]>>;
type Row = [name: string, lists: Lists, got: () => Coverage];

const rows: Row[] = [
  [
    "each at its path",
    { covered: ["A", "B"] },
    () => cover(at("m/0", "m/1"), { walletId: W, addresses: ["A", "B"] }, [by("m/0", "A"), by("m/1", "B")]),
  ],
  [
    "two accounts on one path, in two formats",
    { covered: ["A", "B"] },
    () => cover(at("m/0", "m/0"), { addresses: ["A", "B"] }, [by("m/0", "A"), by("m/0", "B")]),
  ],
  [
    "private keys",
    { covered: ["A"] },
    () =>
      cover(
        { privateKeys: [{}] },
        { privateKeys: [{ privateKeyId: "p", addresses: [{ format: "f", address: "A" }] }] },
        [by(null, "A", null)],
        { walletId: null },
      ),
  ],
  [
    "what the intent says at the same member",
    {},
    () =>
      cover(
        { address: "A", addresses: ["B", "0xcC"], list: [null, { deep: { address: "D" } }], more: [["E"]] },
        { address: "A", addresses: ["B", { address: "0xCc" }], list: [{}, { deep: { address: "D" } }] },
        [],
        { makesKeys: false },
      ),
  ],
  [
    "what the intent says at another member",
    { uncovered: ["A", "B", "D", "C", "E", "F"] },
    () =>
      cover(
        { none: null, to: "A", name: "B", addresses: ["C", "D"], inner: { address: "E" }, other: { address: "F" } },
        {
          address: "A",
          list: [{ address: "B" }],
          addresses: ["D", "C"],
          inner: [{ address: "E" }],
          x: { address: "F" },
        },
        [],
        { makesKeys: false },
      ),
  ],
  [
    "what the intent says at the same member, and what is not an address there",
    { uncovered: ["address", "addresses[0]"] },
    () => cover({ address: 7, addresses: [{}] }, { address: 7, addresses: [{}] }, [], { makesKeys: false }),
  ],
  [
    "what the intent says at the same member, where keys are made",
    { uncovered: ["A"] },
    () => cover({ address: "A" }, { address: "A" }, []),
  ],
  [
    "without accounts, whatever path the proof has",
    { covered: ["A"], paths: ["addresses[0]"] },
    () => cover({ accounts: [], wallet: { accounts: [] } }, { addresses: ["A"] }, [by("m/0", "A")]),
  ],
  [
    "in the second of two lists, the first of them empty",
    { covered: ["A"], paths: ["wallet.addresses[0]"] },
    () => cover(at("m/0"), { addresses: [], wallet: { addresses: ["A"] } }, [by("m/0", "A")]),
  ],
  [
    "once more in another place, beside accounts",
    { covered: ["A"], paths: ["addresses[0]", "more.address"] },
    () => cover(at("m/0"), { addresses: ["A"], more: { address: "A" } }, [by("m/0", "A")]),
  ],
  [
    "at two paths, with the proof of one",
    { covered: ["A"], uncovered: ["A"], paths: ["addresses[0]"] },
    () => cover(at("m/0", "m/1"), { addresses: ["A", "A"] }, [by("m/0", "A")]),
  ],
  [
    "an object whose address is none",
    { uncovered: ["addresses[0]"] },
    () => cover({}, { addresses: [{ address: 7 }] }, []),
  ],

  [
    "under the empty name, beside the accounts' own list",
    { covered: ["A"], uncovered: ["B"] },
    () => cover(at("m/0"), { addresses: ["A"], "": { addresses: ["B"] } }, [by("m/0", "A")]),
  ],
  [
    "exchanged between paths",
    { uncovered: ["B", "A"], stray: ["A", "B"] },
    () => cover(at("m/0", "m/1"), { addresses: ["B", "A"] }, [by("m/0", "A"), by("m/1", "B")]),
  ],
  [
    "at a path nobody asked for",
    { uncovered: ["A"], stray: ["A"] },
    () => cover(at("m/0"), { addresses: ["A"] }, [by("m/9", "A")]),
  ],
  [
    "a second one at a path nobody asked for",
    { covered: ["A"], uncovered: ["B"], stray: ["B"] },
    () => cover(at("m/0"), { addresses: ["A"], more: { address: "B" } }, [by("m/0", "A"), by("m/9", "B")]),
  ],
  ["without a path", { uncovered: ["A"], stray: ["A"] }, () => cover(at("m/0"), { addresses: ["A"] }, [by(null, "A")])],
  ["of another wallet", { uncovered: ["A"] }, () => cover(at("m/0"), { addresses: ["A"] }, [by("m/0", "A", "w2")])],
  [
    "of another wallet in a list",
    { uncovered: ["A"] },
    () => cover(at("m/0"), { addresses: ["A"], wallets: [{ walletId: "w2" }] }, [by("m/0", "A", "w2")]),
  ],
  [
    "more addresses than accounts, one of them at a path nobody asked for",
    { uncovered: ["A", "B"], stray: ["B"] },
    () => cover(at("m/0"), { addresses: ["A", "B"] }, [by("m/0", "A"), by("m/9", "B")]),
  ],
  [
    "fewer addresses than accounts",
    { uncovered: ["A", "addresses[1]"] },
    () => cover(at("m/0", "m/1"), { addresses: ["A"] }, [by("m/0", "A")]),
  ],
  [
    "one address, more accounts",
    { uncovered: ["A", "addresses[1]", "addresses[2]"] },
    () => cover(at("m/0", "m/1", "m/2"), { addresses: ["A"] }, [by("m/2", "C")]),
  ],
  [
    "a path nobody asked for, accounts in wallet",
    { uncovered: ["A"], stray: ["A"] },
    () => cover({ wallet: at("m/0") }, { wallet: { addresses: ["A"] } }, [by("m/9", "A")]),
  ],
  [
    "something else where the first account has its address, a proof of the text that it would be",
    { covered: ["B"], uncovered: ["addresses[0]"], stray: ["null"] },
    () => cover(at("m/0", "m/1"), { addresses: [null, "B"] }, [by("m/0", "null"), by("m/1", "B")]),
  ],
  [
    "an array in place of an address",
    { uncovered: ["addresses[0]"], stray: ["A"] },
    () => cover(at("m/0"), { addresses: [["A"]] }, [by("m/0", "A")]),
  ],
  [
    "a number, null, an empty text, an object without",
    { uncovered: ["addresses[0]", "addresses[1]", "addresses[2]", "addresses[3]"] },
    () => cover(at("a", "b", "c", "d"), { addresses: [1, null, "", {}] }, []),
  ],
  [
    "two lists, the second of them somebody else's",
    { covered: ["A"], uncovered: ["X"] },
    () => cover(at("m/0"), { addresses: ["X"], wallet: { addresses: ["A"] } }, [by("m/0", "A")]),
  ],
  [
    "an address inside an address",
    { covered: ["A"], uncovered: ["X"] },
    () => cover(at("m/0"), { addresses: [{ address: "A", also: { address: "X" } }] }, [by("m/0", "A")]),
  ],
  [
    "nested arrays of private keys",
    { uncovered: ["privateKeys[0][0].addresses[0]"], stray: ["A"] },
    () => cover({}, { privateKeys: [[{ addresses: [["A"]] }]] }, [by(null, "A", null)], { walletId: null }),
  ],
  [
    "a repeated address where keys are made",
    { uncovered: ["X"] },
    () => cover({ note: "X" }, { privateKeys: [{ addresses: [{ address: "X" }] }] }, [], { walletId: null }),
  ],
  [
    "an address beside accounts that the intent says already, in their list",
    { uncovered: ["X"] },
    () => cover({ accounts: [{ path: "m/0" }], addresses: ["X"] }, { addresses: ["X"] }, [], { makesKeys: false }),
  ],
  ["a text in place of the list", { uncovered: ["A"] }, () => cover({}, { addresses: "A" }, [])],
  ["an object in place of an address", { uncovered: ["address"] }, () => cover({}, { address: { street: 1 } }, [])],
  [
    "accounts without a path",
    { uncovered: ["A"] },
    () => cover({ accounts: [{}] }, { addresses: ["A"] }, [by("", "A")]),
  ],
  [
    "accounts without a path, and a proof without one",
    { uncovered: ["A"] },
    () => cover({ accounts: [{}] }, { addresses: ["A"] }, [by(null, "A")]),
  ],
  ["accounts with an empty path", { uncovered: ["A"] }, () => cover(at(""), { addresses: ["A"] }, [by("", "A")])],
  ["a proof where there is nothing to fit", {}, () => cover({ walletId: W }, { walletId: W }, [by("m/0", "A")])],
  [
    "a proof where accounts were asked for and no address came",
    { uncovered: ["addresses[0]"] },
    () => cover(at("m/0"), { walletId: W }, [by("m/0", "A")]),
  ],
  [
    "no address where accounts were asked for, and one under another name",
    { uncovered: ["addresses[0]"], stray: ["X"] },
    () => cover(at("m/0"), { walletAddresses: ["X"], addresses: [] }, [by("m/9", "X")]),
  ],
];

describe("coverage", () => {
  it.each(rows)("%s", (_, { covered = [], uncovered = [], stray = [], paths }, got) => {
    const answer = got();
    const strays = answer.stray.map(({ address }) => address);
    expect({ covered: answer.covered, uncovered: answer.uncovered, stray: strays }).toEqual({
      covered,
      uncovered,
      stray,
    });
    if (paths !== undefined) expect(answer.coveredPaths).toEqual(paths);
  });

  it("of any lists is whole where every account has its proof, and only then", () => {
    const pairs = fc.uniqueArray(fc.tuple(fc.nat(9), fc.nat(9)), { minLength: 1, maxLength: 6, selector: String });
    fc.assert(
      fc.property(pairs, fc.nat(5), fc.nat(5), (list, from, to) => {
        const intent = at(...list.map(([path]) => `m/${path}`));
        const addresses = list.map(([path, format]) => `A${path}.${format}`);
        const proofs = list.map(([path], index) => by(`m/${path}`, addresses[index]!));
        expect(cover(intent, { addresses }, proofs)).toMatchObject({ uncovered: [], stray: [] });
        const [i, j] = [from % list.length, to % list.length];
        const swapped = addresses.with(i, addresses[j]!).with(j, addresses[i]!);
        const samePath = list[i]![0] === list[j]![0];
        expect(cover(intent, { addresses: swapped }, proofs).uncovered.length === 0).toBe(samePath);
      }),
    );
  });

  it("costs time in proportion to what it reads", async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `m/${index}`);
    const coverAll = (): void => {
      const { covered } = cover(
        at(...many),
        { addresses: many.map((path) => `A${path}`) },
        many.slice(0, 2000).map((path) => by(path, `A${path}`)),
      );
      expect(covered).toHaveLength(2000);
    };
    expect(await leastCostMs(2000, coverAll)).toBeLessThan(2000);
  });
});

it("places under long names, or deep down, have paths that are short and their own", () => {
  const deep = (inner: JsonValue): JsonValue =>
    Array.from({ length: 56 }).reduce<JsonValue>((value) => ({ ["n".repeat(64)]: value }), inner);
  const long = {
    ["n".repeat(500_000) + "a"]: { addresses: ["A", "B"] },
    ["n".repeat(500_000) + "b"]: { address: "A" },
  };
  for (const result of [
    long,
    deep(long),
    deep({ x: { addresses: ["A"] }, y: { address: "A", z: { address: "A" } } }),
  ]) {
    const { covered, coveredPaths } = cover({}, result, [by(null, "A", null), by(null, "B", null)], {
      walletId: null,
    });
    expect(covered[0]).toBe("A");
    expect(coveredPaths).toHaveLength(3);
    expect(new Set(coveredPaths).size).toBe(3);
    for (const path of coveredPaths) expect(path.length).toBeLessThan(500);
  }
});
