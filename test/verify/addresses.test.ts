/** Coverage: which address of a result is bound to which account, and by which proof. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AddressDerivationProof } from "../../src/decode/app-proof.js";
import type { JsonValue } from "../../src/decode/json.js";
import { type Coverage, coverageOf } from "../../src/verify/addresses.js";

const W = "w1";
const proof = (path: string | null, address: string, walletId: string | null = W): AddressDerivationProof => ({
  organizationId: "o",
  address,
  ...(walletId !== null && { walletId }),
  ...(path !== null && { derivationPath: path }),
});
const accounts = (...paths: string[]): JsonValue => ({ walletName: "n", accounts: paths.map((path) => ({ path })) });

function cover(
  intent: JsonValue,
  result: JsonValue,
  proofs: AddressDerivationProof[],
  { walletId = W as string | null, makesKeys = true } = {},
): Coverage {
  return coverageOf({ intent, result, walletId, makesKeys, proofs });
}

interface Row {
  readonly name: string;
  readonly got: () => Coverage;
  readonly covered: readonly string[];
  /** Where it is covered, asked of some rows. */
  readonly paths?: readonly string[];
  readonly uncovered?: readonly string[];
  readonly stray?: readonly string[];
}

const rows: Row[] = [
  {
    name: "each at its path",
    got: () =>
      cover(accounts("m/0", "m/1"), { walletId: W, addresses: ["A", "B"] }, [proof("m/0", "A"), proof("m/1", "B")]),
    covered: ["A", "B"],
  },
  {
    name: "objects with an address",
    got: () => cover(accounts("m/0"), { addresses: [{ address: "A", format: "f" }] }, [proof("m/0", "A")]),
    covered: ["A"],
  },
  {
    name: "in wallet, on either side",
    got: () => cover({ wallet: accounts("m/0") }, { wallet: { walletId: W, addresses: ["A"] } }, [proof("m/0", "A")]),
    covered: ["A"],
  },
  {
    name: "two accounts on one path, in two formats",
    got: () => cover(accounts("m/0", "m/0"), { addresses: ["A", "B"] }, [proof("m/0", "A"), proof("m/0", "B")]),
    covered: ["A", "B"],
  },
  {
    name: "hex digits in another case",
    got: () => cover(accounts("m/0"), { addresses: ["0xAB"] }, [proof("m/0", "0xab")]),
    covered: ["0xAB"],
  },
  {
    name: "private keys",
    got: () =>
      cover(
        { privateKeys: [{}] },
        { privateKeys: [{ privateKeyId: "p", addresses: [{ format: "f", address: "A" }] }] },
        [proof(null, "A", null)],
        { walletId: null },
      ),
    covered: ["A"],
  },
  {
    name: "what the intent says at the same member",
    got: () =>
      cover(
        { address: "A", addresses: ["B", "0xcC"], list: [null, { deep: { address: "D" } }], more: [["E"]] },
        { address: "A", addresses: ["B", { address: "0xCc" }], list: [{}, { deep: { address: "D" } }] },
        [],
        { makesKeys: false },
      ),
    covered: [],
  },
  {
    name: "what the intent says at another member",
    got: () =>
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
    covered: [],
    uncovered: ["A", "B", "D", "C", "E", "F"],
  },
  {
    name: "what the intent says at the same member, and what is not an address there",
    got: () => cover({ address: 7, addresses: [{}] }, { address: 7, addresses: [{}] }, [], { makesKeys: false }),
    covered: [],
    uncovered: ["address", "addresses[0]"],
  },
  {
    name: "what the intent says at the same member, where keys are made",
    got: () => cover({ address: "A" }, { address: "A" }, []),
    covered: [],
    uncovered: ["A"],
  },
  {
    name: "without accounts, whatever path the proof has",
    got: () => cover({ accounts: [], wallet: { accounts: [] } }, { addresses: ["A"] }, [proof("m/0", "A")]),
    covered: ["A"],
    paths: ["addresses[0]"],
  },
  {
    name: "beside accounts that are no list",
    got: () => cover({ accounts: "m/0" }, { addresses: ["A"] }, [proof("m/0", "A")]),
    covered: ["A"],
  },
  {
    name: "in the second of two lists, the first of them empty",
    got: () => cover(accounts("m/0"), { addresses: [], wallet: { addresses: ["A"] } }, [proof("m/0", "A")]),
    covered: ["A"],
    paths: ["wallet.addresses[0]"],
  },
  {
    name: "once more in another place, beside accounts",
    got: () => cover(accounts("m/0"), { addresses: ["A"], more: { address: "A" } }, [proof("m/0", "A")]),
    covered: ["A"],
    paths: ["addresses[0]", "more.address"],
  },
  {
    name: "at two paths, with the proof of one",
    got: () => cover(accounts("m/0", "m/1"), { addresses: ["A", "A"] }, [proof("m/0", "A")]),
    covered: ["A"],
    paths: ["addresses[0]"],
    uncovered: ["A"],
  },
  {
    name: "members that are empty",
    got: () => cover({}, { address: "", wallet: { address: null }, list: [{ addresses: [] }] }, []),
    covered: [],
  },
  {
    name: "an object whose address is none",
    got: () => cover({}, { addresses: [{ address: 7 }] }, []),
    covered: [],
    uncovered: ["addresses[0]"],
  },

  {
    name: "under the empty name, beside the accounts' own list",
    got: () => cover(accounts("m/0"), { addresses: ["A"], "": { addresses: ["B"] } }, [proof("m/0", "A")]),
    covered: ["A"],
    uncovered: ["B"],
  },
  {
    name: "exchanged between paths",
    got: () => cover(accounts("m/0", "m/1"), { addresses: ["B", "A"] }, [proof("m/0", "A"), proof("m/1", "B")]),
    covered: [],
    uncovered: ["B", "A"],
    stray: ["A", "B"],
  },
  {
    name: "at a path nobody asked for",
    got: () => cover(accounts("m/0"), { addresses: ["A"] }, [proof("m/9", "A")]),
    covered: [],
    uncovered: ["A"],
    stray: ["A"],
  },
  {
    name: "a second one at a path nobody asked for",
    got: () =>
      cover(accounts("m/0"), { addresses: ["A"], more: { address: "B" } }, [proof("m/0", "A"), proof("m/9", "B")]),
    covered: ["A"],
    uncovered: ["B"],
    stray: ["B"],
  },
  {
    name: "without a path",
    got: () => cover(accounts("m/0"), { addresses: ["A"] }, [proof(null, "A")]),
    covered: [],
    uncovered: ["A"],
    stray: ["A"],
  },
  {
    name: "of another wallet",
    got: () => cover(accounts("m/0"), { addresses: ["A"] }, [proof("m/0", "A", "w2")]),
    covered: [],
    uncovered: ["A"],
  },
  {
    name: "of another wallet in a list",
    got: () => cover(accounts("m/0"), { addresses: ["A"], wallets: [{ walletId: "w2" }] }, [proof("m/0", "A", "w2")]),
    covered: [],
    uncovered: ["A"],
  },
  {
    name: "more addresses than accounts",
    got: () => cover(accounts("m/0"), { addresses: ["A", "B"] }, [proof("m/0", "A")]),
    covered: [],
    uncovered: ["A", "B"],
  },
  {
    name: "more addresses than accounts, one of them at a path nobody asked for",
    covered: [],
    uncovered: ["A", "B"],
    stray: ["B"],
    got: () => cover(accounts("m/0"), { addresses: ["A", "B"] }, [proof("m/0", "A"), proof("m/9", "B")]),
  },
  {
    name: "fewer addresses than accounts",
    got: () => cover(accounts("m/0", "m/1"), { addresses: ["A"] }, [proof("m/0", "A")]),
    covered: [],
    uncovered: ["A", "addresses[1]"],
  },
  {
    name: "one address, more accounts",
    got: () => cover(accounts("m/0", "m/1", "m/2"), { addresses: ["A"] }, [proof("m/2", "C")]),
    covered: [],
    uncovered: ["A", "addresses[1]", "addresses[2]"],
  },
  {
    name: "a path nobody asked for, accounts in wallet",
    got: () => cover({ wallet: accounts("m/0") }, { wallet: { addresses: ["A"] } }, [proof("m/9", "A")]),
    covered: [],
    uncovered: ["A"],
    stray: ["A"],
  },
  {
    name: "something else where the first account has its address, a proof of the text that it would be",
    got: () => cover(accounts("m/0", "m/1"), { addresses: [null, "B"] }, [proof("m/0", "null"), proof("m/1", "B")]),
    covered: ["B"],
    uncovered: ["addresses[0]"],
    stray: ["null"],
  },
  {
    name: "an array in place of an address",
    got: () => cover(accounts("m/0"), { addresses: [["A"]] }, [proof("m/0", "A")]),
    covered: [],
    uncovered: ["addresses[0]"],
    stray: ["A"],
  },
  {
    name: "a number, null, an empty text, an object without",
    got: () => cover(accounts("a", "b", "c", "d"), { addresses: [1, null, "", {}] }, []),
    covered: [],
    uncovered: ["addresses[0]", "addresses[1]", "addresses[2]", "addresses[3]"],
  },
  {
    name: "two lists, the second of them somebody else's",
    got: () => cover(accounts("m/0"), { addresses: ["X"], wallet: { addresses: ["A"] } }, [proof("m/0", "A")]),
    covered: ["A"],
    uncovered: ["X"],
  },
  {
    name: "an address inside an address",
    got: () => cover(accounts("m/0"), { addresses: [{ address: "A", also: { address: "X" } }] }, [proof("m/0", "A")]),
    covered: ["A"],
    uncovered: ["X"],
  },
  {
    name: "nested arrays of private keys",
    got: () => cover({}, { privateKeys: [[{ addresses: [["A"]] }]] }, [proof(null, "A", null)], { walletId: null }),
    covered: [],
    uncovered: ["privateKeys[0][0].addresses[0]"],
    stray: ["A"],
  },
  {
    name: "a repeated address where keys are made",
    got: () => cover({ note: "X" }, { privateKeys: [{ addresses: [{ address: "X" }] }] }, [], { walletId: null }),
    covered: [],
    uncovered: ["X"],
  },
  {
    name: "an address beside accounts that the intent says already, in their list",
    got: () => cover({ accounts: [{ path: "m/0" }], addresses: ["X"] }, { addresses: ["X"] }, [], { makesKeys: false }),
    covered: [],
    uncovered: ["X"],
  },
  { name: "a text in place of the list", got: () => cover({}, { addresses: "A" }, []), covered: [], uncovered: ["A"] },
  {
    name: "an object in place of an address",
    got: () => cover({}, { address: { street: 1 } }, []),
    covered: [],
    uncovered: ["address"],
  },
  {
    name: "accounts without a path",
    got: () => cover({ accounts: [{}] }, { addresses: ["A"] }, [proof("", "A")]),
    covered: [],
    uncovered: ["A"],
  },
  {
    name: "accounts without a path, and a proof without one",
    got: () => cover({ accounts: [{}] }, { addresses: ["A"] }, [proof(null, "A")]),
    covered: [],
    uncovered: ["A"],
  },
  {
    name: "accounts with an empty path",
    got: () => cover(accounts(""), { addresses: ["A"] }, [proof("", "A")]),
    covered: [],
    uncovered: ["A"],
  },
  {
    name: "a proof where there is nothing to fit",
    got: () => cover({ walletId: W }, { walletId: W }, [proof("m/0", "A")]),
    covered: [],
  },
  {
    name: "a proof where accounts were asked for and no address came",
    got: () => cover(accounts("m/0"), { walletId: W }, [proof("m/0", "A")]),
    covered: [],
    uncovered: ["addresses[0]"],
  },
  {
    name: "no address where accounts were asked for, and one under another name",
    covered: [],
    uncovered: ["addresses[0]"],
    stray: ["X"],
    got: () => cover(accounts("m/0"), { walletAddresses: ["X"], addresses: [] }, [proof("m/9", "X")]),
  },
];

describe("coverage", () => {
  it.each(rows)("$name", ({ got, covered, paths, uncovered = [], stray = [] }) => {
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
        const intent = accounts(...list.map(([path]) => `m/${path}`));
        const addresses = list.map(([path, format]) => `A${path}.${format}`);
        const proofs = list.map(([path], index) => proof(`m/${path}`, addresses[index]!));
        expect(cover(intent, { addresses }, proofs)).toMatchObject({ uncovered: [], stray: [] });
        const [i, j] = [from % list.length, to % list.length];
        const swapped = addresses.with(i, addresses[j]!).with(j, addresses[i]!);
        const samePath = list[i]![0] === list[j]![0];
        expect(cover(intent, { addresses: swapped }, proofs).uncovered.length === 0).toBe(samePath);
      }),
    );
  });

  it("costs time in proportion to what it reads", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `m/${index}`);
    const started = performance.now();
    const { covered } = cover(
      accounts(...many),
      { addresses: many.map((path) => `A${path}`) },
      many.slice(0, 2000).map((path) => proof(path, `A${path}`)),
    );
    expect(covered).toHaveLength(2000);
    expect(performance.now() - started).toBeLessThan(2000);
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
    const { covered, coveredPaths } = cover({}, result, [proof(null, "A", null), proof(null, "B", null)], {
      walletId: null,
    });
    expect(covered[0]).toBe("A");
    expect(coveredPaths).toHaveLength(3);
    expect(new Set(coveredPaths).size).toBe(3);
    for (const path of coveredPaths) expect(path.length).toBeLessThan(500);
  }
});
