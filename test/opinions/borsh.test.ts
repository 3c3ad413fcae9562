/** Borsh manifests and envelopes beside the `borsh` package. */
import { type Schema, deserialize, serialize } from "borsh";
import { expect, it } from "vitest";
import { MAX_ITEMS, readBorsh } from "../../src/decode/borsh.js";
import { approvals as approvalsField } from "../../src/decode/manifest/fields.js";
import {
  type ManifestEnvelope,
  type PivotManifest,
  decodeManifest,
  decodeManifestEnvelope,
  manifestHashInput,
} from "../../src/decode/manifest/index.js";
import {
  BORSH_MANIFESTS,
  borshEnvelope,
  borshForm,
  encodeBorshEnvelope,
  encodeBorshManifest,
} from "../../src/lab/borsh.js";
import { V0 } from "../../src/decode/manifest/v0.js";
import { V0_TAIL } from "../../src/decode/manifest/v0-tail.js";
import { V1 } from "../../src/decode/manifest/v1.js";
import { approvals, manifestV0, manifestV0Tail, manifestV1 } from "../support/manifest.js";
import { mutated } from "../support/property.js";
import {
  Comparison,
  type Difference,
  type Opinion,
  TIMEOUT,
  fc,
  isLone,
  refusedHere,
  runs,
  same,
  theirs,
} from "./support.js";

// The layout is the lab's, which writes by the package: written down a second time, in the package's own words.

type Version = "v0" | "v0-tail" | "v1";
const VERSIONS: readonly Version[] = ["v0", "v0-tail", "v1"];

interface Case {
  readonly version: Version;
  readonly kind: "manifest" | "envelope";
  readonly bytes: Uint8Array;
}

const schemaOf = ({ version, kind }: Case): Schema =>
  kind === "manifest" ? BORSH_MANIFESTS[version]! : borshEnvelope(BORSH_MANIFESTS[version]!);

/** Our value as the package reads it: arrays of numbers for bytes, and no version. */
function theirForm(value: unknown): unknown {
  const plain = (name: string, one: unknown): unknown => {
    if (name === "version") return undefined;
    return one instanceof Uint8Array ? [...one] : one;
  };
  return JSON.parse(JSON.stringify(borshForm(value), plain));
}

const CODECS = { v0: V0.borsh!, "v0-tail": V0_TAIL.borsh!, v1: V1.borsh! };

function ourReading(input: Case): Opinion {
  const { read } = CODECS[input.version];
  const { value, fault } = readBorsh<unknown>(input.bytes, (reader) =>
    input.kind === "manifest"
      ? read(reader)
      : {
          manifest: read(reader),
          manifestSetApprovals: approvalsField.read(reader, "manifestSetApprovals"),
          shareSetApprovals: approvalsField.read(reader, "shareSetApprovals"),
        },
  );
  return fault === null ? { value: theirForm(value) } : { refused: `${fault.path}: ${fault.message}` };
}

const written = (input: Case, value: unknown): Uint8Array => serialize(schemaOf(input), value);

/** The package does not say how much it has read: what it read is written again. */
function isWrittenOtherwise(input: Case, value: unknown): boolean {
  return !same(theirWriting(input, value), { value: input.bytes });
}

const theirWriting = (input: Case, value: unknown): Opinion => theirs(() => written(input, value));

function isBeginning(input: Case, value: unknown): boolean {
  const again = theirWriting(input, value);
  if (!("value" in again)) return false;
  const { length } = again.value as Uint8Array;
  return length < input.bytes.length;
}

/** How many items there are in the lists of structures and texts. */
function items(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const own = Array.isArray(value) && typeof value[0] !== "number" ? value.length : 0;
  return Object.values(value).reduce<number>((sum, item) => sum + items(item), own);
}

const manifest = fc.sample(manifestV1, { numRuns: 1, seed: 1 })[0]!;
const example = (change: Partial<PivotManifest["pivot"]>): Case => ({
  version: "v1",
  kind: "manifest",
  bytes: encodeBorshManifest({ ...manifest, pivot: { ...manifest.pivot, ...change } }),
});
/** The example with the one place of some bytes overwritten. */
function overwritten(input: Case, wanted: readonly number[], put: readonly number[]): Case {
  const at = Buffer.from(input.bytes).indexOf(Uint8Array.from(wanted));
  if (at < 0) throw new Error("the bytes do not stand there");
  const changed = Uint8Array.from(input.bytes);
  changed.set(put, at);
  return { ...input, bytes: changed };
}

const longer = (input: Case): Case => ({ ...input, bytes: Uint8Array.from([...input.bytes, 0]) });
const plainPivot = example({ bridgeConfig: [], debugMode: true, args: ["zz"] });

const DIFFERENCES: readonly Difference<Case>[] = [
  refusedHere({
    name: "bytes after the end",
    why: "The package stops where the value ends; two files of one value would have two hashes.",
    example: longer(plainPivot),
    reason: /bytes after the end/,
    confirmed: isBeginning,
  }),
  refusedHere({
    name: "a bool that is neither 0 nor 1",
    why: "The package takes every other byte for true, which is a second encoding of it.",
    // debugMode, then one argument of two bytes.
    example: overwritten(plainPivot, [1, 1, 0, 0, 0, 2, 0, 0, 0, 0x7a, 0x7a], [2]),
    reason: /debugMode: .*[0-9]+/,
    confirmed: isWrittenOtherwise,
  }),
  refusedHere({
    name: "text that is not UTF-8",
    why: "The package decodes by hand: stray, missing and overlong bytes and surrogates become some character.",
    example: overwritten(plainPivot, [2, 0, 0, 0, 0x7a, 0x7a], [2, 0, 0, 0, 0xc1, 0x81]),
    reason: /not UTF-8/,
    confirmed: (input, value) => isWrittenOtherwise(input, value) || someSurrogate(value),
  }),
  refusedHere({
    name: "more than 10,000 items",
    why: "A manifest has tens; an item of four bytes takes hundreds once it is read.",
    example: example({ args: new Array<string>(MAX_ITEMS + 1).fill("") }),
    reason: /more than 10000 items/,
    confirmed: (_input, value) => items(value) > MAX_ITEMS,
  }),
];

/** Encoded by themselves, which UTF-8 forbids. */
function someSurrogate(value: unknown): boolean {
  if (typeof value === "string") return isLone(value);
  return typeof value === "object" && value !== null && Object.values(value).some(someSurrogate);
}

const borsh = new Comparison<Case>({
  name: "borsh",
  ours: ourReading,
  theirs: (input) => theirs(() => deserialize(schemaOf(input), input.bytes)),
  differences: DIFFERENCES,
  show: (input) => `${input.version} ${input.kind} ${Buffer.from(input.bytes).toString("hex")}`,
});

const anyManifest = fc.oneof(manifestV0, manifestV0Tail, manifestV1);
const envelope: fc.Arbitrary<ManifestEnvelope> = fc.record({
  manifest: anyManifest,
  manifestSetApprovals: approvals,
  shareSetApprovals: approvals,
});
const made: fc.Arbitrary<Case> = fc.oneof(
  anyManifest.map((value): Case => ({
    version: value.version as Version,
    kind: "manifest",
    bytes: encodeBorshManifest(value),
  })),
  envelope.map((value): Case => ({
    version: value.manifest.version as Version,
    kind: "envelope",
    bytes: encodeBorshEnvelope(value),
  })),
);

/** The case read as every version: what one refuses may be another. */
function holdAll(input: Case): void {
  for (const version of VERSIONS) borsh.hold({ ...input, version });
}

/** One byte made one that tags, lengths and UTF-8 have a meaning for. */
const telling = (bytes: Uint8Array): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(fc.nat({ max: bytes.length - 1 }), fc.constantFrom(0, 1, 2, 3, 0x7f, 0x80, 0xc0, 0xe0, 0xed, 0xf4, 0xff))
    .map(([at, byte]) => bytes.map((old, index) => (index === at ? byte : old)));

it("random manifests and envelopes are the same bytes, and the same values", { timeout: TIMEOUT }, () => {
  fc.assert(
    fc.property(fc.oneof<fc.Arbitrary<PivotManifest | ManifestEnvelope>[]>(anyManifest, envelope), (value) => {
      const isManifest = !("manifest" in value);
      const version = (isManifest ? value : value.manifest).version as Version;
      const encoding = isManifest ? manifestHashInput(value) : encodeBorshEnvelope(value);
      const input: Case = { version, kind: isManifest ? "manifest" : "envelope", bytes: encoding };
      expect(Buffer.from(written(input, theirForm(value))).toString("hex")).toBe(Buffer.from(encoding).toString("hex"));
      expect((isManifest ? decodeManifest : decodeManifestEnvelope)(encoding)).toEqual(value);
      borsh.hold(input);
    }),
    runs(300),
  );
});

it("damaged ones", { timeout: TIMEOUT }, () => {
  const damaged = made.chain((input) =>
    fc.oneof(mutated(input.bytes), telling(input.bytes)).map((changed): Case => ({ ...input, bytes: changed })),
  );
  const before = [borsh.agreed, borsh.refusedByBoth];
  fc.assert(fc.property(damaged, holdAll), runs(800));
  expect(borsh.agreed - before[0]!).toBeGreaterThan(80);
  expect(borsh.refusedByBoth - before[1]!).toBeGreaterThan(80);
});
