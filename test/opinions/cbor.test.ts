/** The strict CBOR decoder beside cborg in its strictest settings. It stands beside cbor-x in test/fuzz. */

import { decode } from "cborg";
import { expect, it } from "vitest";
import { type CborValue, decodeCbor } from "../../src/decode/cbor.js";
import { type CborInput, Entries, Raw, encodeCbor, head, hex, join } from "../support/cbor.js";
import { anyBytes, character, mutated } from "../support/property.js";
import { genuineDocuments } from "../support/vectors.js";
import { Comparison, type Difference, TIMEOUT, fc, ours, refusedHere, runs, theirs } from "./support.js";

interface Case {
  readonly bytes: Uint8Array;
  readonly profile: keyof typeof PROFILES;
}

/** What is allowed beside the strict profile: by us at the outermost item alone, by cborg anywhere. */
const PROFILES = {
  strict: { ours: {}, theirs: { allowIndefinite: false } },
  document: { ours: { indefiniteOutermostMap: true }, theirs: { allowIndefinite: true } },
  tagged: {
    ours: { outermostTag: 18 },
    theirs: { allowIndefinite: false, tags: { 18: (content: () => unknown): unknown => content() } },
  },
} as const;

/** Integers as numbers where they are exact: we hand out a bigint for every head of 64 bits. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [plain(key), plain(item)]));
  return value instanceof Uint8Array ? Uint8Array.from(value) : value;
}

/** The initial byte of the item that we refuse, which our words tell the place of. */
function initialByte({ bytes }: Case, refused: string): number {
  return bytes[Number(/at byte ([0-9]+)/.exec(refused)?.[1])] ?? -1;
}

function someItem(value: unknown, isIt: (item: unknown) => boolean): boolean {
  if (isIt(value)) return true;
  if (Array.isArray(value)) return value.some((item) => someItem(item, isIt));
  return value instanceof Map && [...value].flat(1).some((item) => someItem(item, isIt));
}

function depth(value: unknown): number {
  const items = value instanceof Map ? [...value].flat(1) : value;
  return Array.isArray(items) ? 1 + Math.max(0, ...items.map(depth)) : 0;
}

const isText = (item: unknown): boolean => typeof item === "string" && item.includes("\ufffd");
const strict = (bytes: string): Case => ({ bytes: hex(bytes), profile: "strict" });
const DEEP = `${"81".repeat(17)}00`;

/** What neither of the two is asked to refuse, and we do. */
const LAX: readonly Difference<Case>[] = [
  refusedHere({
    name: "a float",
    why: "No field of a document is one, and a float can equal an integer.",
    example: strict("fb 3ff0000000000000"),
    reason: /a float/,
    confirmed: (input, _value, refused) => [0xf9, 0xfa, 0xfb].includes(initialByte(input, refused)),
  }),
  refusedHere({
    name: "undefined",
    why: "It would be a second way to say null.",
    example: strict("f7"),
    reason: /undefined/,
    confirmed: (input, _value, refused) => initialByte(input, refused) === 0xf7,
  }),
  refusedHere({
    name: "nested deeper than 16",
    why: "A document has two levels: what is deeper costs stack and says nothing.",
    example: strict(DEEP),
    reason: /nested deeper/,
    confirmed: (_input, value) => depth(value) > 16,
  }),
  refusedHere({
    name: "text that is not UTF-8",
    why: "They put U+FFFD in the place of what is not UTF-8, so that two texts become one.",
    example: strict("61 ff"),
    reason: /not UTF-8/,
    confirmed: (_input, value) => someItem(value, isText),
  }),
];

const CBORG: readonly Difference<Case>[] = [
  ...LAX,
  refusedHere({
    name: "a key of bytes, an array or a map that appears twice",
    why: "cborg finds repeated keys as a Map does, by identity.",
    example: strict("a2 41 00 01 41 00 02"),
    reason: /appears twice/,
    confirmed: (input, _value, refused) => [2, 4, 5].includes(initialByte(input, refused) >> 5),
  }),
  refusedHere({
    name: "an indefinite length elsewhere than in the outermost map",
    why: "cborg allows them everywhere or nowhere, we in the outermost map of a document alone.",
    example: { bytes: hex("9f ff"), profile: "document" },
    reason: /an indefinite length/,
    confirmed: (input, _value, refused) => input.profile === "document" && (initialByte(input, refused) & 0x1f) === 31,
  }),
  refusedHere({
    name: "a break in the place of a value",
    why: "A break ends a list: cborg, where it allows indefinite lengths, reads one as the value of a key.",
    example: { bytes: hex("bf 00 ff ff"), profile: "document" },
    reason: /break or other simple value/,
    confirmed: (input, _value, refused) => initialByte(input, refused) === 0xff,
  }),
  refusedHere({
    name: "tag 18 elsewhere than around the outermost item",
    why: "cborg allows a tag everywhere or nowhere, we around the outermost item alone.",
    example: { bytes: hex("81 d2 00"), profile: "tagged" },
    reason: /tag 18 is not allowed/,
    confirmed: (input, _value, refused) => input.profile === "tagged" && initialByte(input, refused) === 0xd2,
  }),
];

const cborg = new Comparison<Case>({
  name: "cborg",
  ours: ({ bytes, profile }) => ours(() => plain(decodeCbor(bytes, PROFILES[profile].ours))),
  theirs: ({ bytes, profile }) =>
    theirs(() =>
      plain(decode(bytes, { strict: true, rejectDuplicateMapKeys: true, useMaps: true, ...PROFILES[profile].theirs })),
    ),
  differences: CBORG,
  show: ({ bytes, profile }) => `${profile} ${Buffer.from(bytes).toString("hex")}`,
});

const BOUNDARIES = [0n, 23n, 24n, 255n, 256n, 65535n, 65536n, 2n ** 32n - 1n, 2n ** 32n];
const LARGE = [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];

/** Every major type with every width of its head, at each boundary of what that width is needed for. */
function allHeads(): Uint8Array[] {
  return [0, 1, 2, 3, 4, 5, 6, 7].flatMap((major) => [
    ...[...BOUNDARIES, ...LARGE].flatMap((argument) =>
      ([1, 2, 4, 8] as const)
        .filter((width) => argument < 1n << BigInt(8 * width))
        .map((width) => head(major, argument, width)),
    ),
    ...Array.from({ length: 32 }, (_, info) => Uint8Array.of((major << 5) | info)),
  ]);
}

const { value: tree } = fc.letrec<{ value: CborInput }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom<CborInput[]>(null, true, false, "", "__proto__"),
    fc.integer({ min: -300, max: 70_000 }),
    fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n - 1n }),
    fc.constantFrom(...BOUNDARIES, ...LARGE),
    fc.string({ unit: character, maxLength: 30 }),
    fc.uint8Array({ maxLength: 30 }),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 4 }).map((list): CborInput => new Entries(list)),
  ),
}));

/** Encodings that only a lax decoder reads, to stand among the others. */
const odd = fc.constantFrom(
  ...["f7", "f97e00", "fa3f800000", "fb3ff8000000000000", "1800", "190001", "5f4100ff", "9f00ff", "bf0001ff"],
  ...["d200", "c100", "c24101", "f8ff", "ff", "fc", "62c328", "63eda080", "f93c00", "a200010002", "a2410001410002"],
  DEEP,
);

const { value: oddTree } = fc.letrec<{ value: CborInput }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    odd.map((bytes): CborInput => new Raw(bytes)),
    fc.integer({ min: -3, max: 30 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 3 }).map((list): CborInput => new Entries(list)),
    tie("value").map((item): CborInput => new Raw(join(hex("d2"), encodeCbor(item)))),
    tie("value").map((item): CborInput => new Raw(join(hex("bf00"), encodeCbor(item), hex("ff")))),
  ),
}));

const documents = genuineDocuments().map(({ bytes }) => bytes);
const bytes = fc.oneof(
  tree.map(encodeCbor),
  oddTree.map(encodeCbor),
  tree.chain((value) => mutated(encodeCbor(value))),
  anyBytes(40),
  fc.constantFrom(...documents).chain((document) => mutated(document)),
);
const profile = fc.constantFrom<Case["profile"]>("strict", "document", "tagged");

it("all heads", () => {
  for (const encoding of allHeads())
    for (const rest of ["", "00", "0000", "00".repeat(23), "00".repeat(256)])
      for (const each of ["strict", "document", "tagged"] as const)
        cborg.hold({ bytes: join(encoding, hex(rest)), profile: each });
});

it("trees, damaged trees and documents, arbitrary bytes: cborg", { timeout: TIMEOUT }, () => {
  const before = [cborg.agreed, cborg.refusedByBoth];
  fc.assert(
    fc.property(fc.record({ bytes, profile }), (input) => cborg.hold(input)),
    runs(1200),
  );
  expect(cborg.agreed - before[0]!).toBeGreaterThan(100);
  expect(cborg.refusedByBoth - before[1]!).toBeGreaterThan(100);
});

it("genuine documents and their payloads", () => {
  for (const document of documents) {
    cborg.hold({ bytes: document, profile: document[0] === 0xd2 ? "tagged" : "strict" });
    const [, , payload] = decodeCbor(document, PROFILES.tagged.ours) as CborValue[];
    cborg.hold({ bytes: payload as Uint8Array, profile: "document" });
  }
});
