/** Canonical JSON beside an implementation of RFC 8785. Strict JSON stands beside JSON.parse in test/fuzz. */
import canonicalize from "canonicalize";
import { expect, it } from "vitest";
import { fromUtf8 } from "../../src/bytes.js";
import { JsonNumber, type JsonValue, parseJson } from "../../src/decode/json.js";
import { type Manifest, manifestHashInput } from "../../src/decode/manifest/index.js";
import { type QosJsonInput, canonicalQosJson } from "../../src/decode/qos-json.js";
import { type Json, asJson, manifestV2, manifestV3 } from "../support/manifest.js";
import { character } from "../support/property.js";
import {
  Comparison,
  type Difference,
  type Opinion,
  TIMEOUT,
  fc,
  isLone,
  ours,
  refusedHere,
  refusedThere,
  runs,
  theirs,
} from "./support.js";

function someText(value: unknown, isIt: (text: string) => boolean): boolean {
  if (typeof value === "string") return isIt(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, item]) => isIt(name) || someText(item, isIt));
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);

/** Our own canonical form has three rules beside RFC 8785: this is a value after them. */
function afterOurRules(value: unknown): unknown {
  if (value instanceof JsonNumber) return value.text;
  if (typeof value === "number") return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.map(afterOurRules);
  if (!isPlainObject(value)) return value;
  // Without a prototype, where `__proto__` is a member like any other.
  const object = Object.create(null) as Record<string, unknown>;
  for (const [name, item] of Object.entries(value)) if (item !== null) object[name] = afterOurRules(item);
  return object;
}

function canonical(value: unknown): Opinion {
  return ours(() => canonicalQosJson(value as QosJsonInput));
}

function someNumber(value: unknown, isIt: (number: number) => boolean): boolean {
  if (typeof value === "number") return isIt(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((item) => someNumber(item, isIt));
}

function someNullMember(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (isPlainObject(value) && Object.values(value).includes(null)) return true;
  return Object.values(value).some(someNullMember);
}

const loneSurrogate = {
  name: "a lone surrogate",
  why: "RFC 8785 section 3.2.2.2 refuses one; no decoder here hands one out, so that none is ever written.",
  reason: /Lone surrogate/,
};

/** The same text as RFC 8785, and these rules beside it. */
const RFC_8785: readonly Difference<unknown>[] = [
  refusedThere({ ...loneSurrogate, example: "\ud800" }),
  refusedHere({
    name: "a number that is not an integer, or none that JSON writes without an exponent",
    why: "A manifest has integers alone, and 1e21 has more than one form.",
    example: [1.5],
    reason: /not an integer in canonical form/,
    confirmed: (value) => someNumber(value, (number) => !Number.isInteger(number) || Math.abs(number) >= 1e21),
  }),
  {
    name: "integers as decimal strings, null members left out",
    why: "QOS's own rules of its canonical JSON, which RFC 8785 does not have.",
    example: { a: 1, b: null },
    isIt: ({ input, ours: our }) =>
      "value" in our &&
      (someNumber(input, Number.isInteger) || someNullMember(input)) &&
      our.value === canonicalize(afterOurRules(input)),
  },
];

const rfc8785 = new Comparison<unknown>({
  name: "RFC 8785 (canonicalize)",
  ours: canonical,
  theirs: (value) => theirs(() => canonicalize(value)),
  differences: RFC_8785,
  show: (value) => JSON.stringify(value),
});

/** With our three rules applied first, what is left is RFC 8785 to the byte. */
const beside = new Comparison<unknown>({
  name: "RFC 8785 (canonicalize), after QOS's rules",
  ours: canonical,
  theirs: (value) => theirs(() => canonicalize(afterOurRules(value))),
  differences: [
    refusedThere({ ...loneSurrogate, example: ["\udc00"] }),
    refusedHere({
      name: "a number that is not an integer",
      why: "A manifest has integers alone, each in its only form.",
      example: 1e21,
      reason: /not an integer in canonical form/,
      confirmed: (value) => someNumber(value, (number) => !/^(?:0|-?[1-9][0-9]*)$/.test(String(number))),
    }),
  ],
  show: (value) => JSON.stringify(value),
});

const text = fc.oneof(
  fc.string({ unit: character, maxLength: 6 }),
  fc.constantFrom("\u20ac", "\r", "\ufb33", "1", "\ud83d\ude00", "\u0080", "\u00f6", "\u2028", "\u007f", "</script>"),
  fc.constantFrom("\ue000", "\uffff", "\u{10000}", "__proto__", "constructor", "toJSON", "\\", '"', "\u0000"),
  fc.string({ unit: fc.constantFrom("\ud800", "\udc00", "a"), maxLength: 2 }),
);
const { value: values } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.constantFrom<unknown[]>(null, true, false, 0, -0, 2 ** 53, -(2 ** 53), 1e20, 1e21, 1.5, 1e-7),
    fc.maxSafeInteger(),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 5, noNullPrototype: false }),
  ),
}));

it("any values: RFC 8785", { timeout: TIMEOUT }, () => {
  const before = [rfc8785.agreed, beside.agreed];
  fc.assert(
    fc.property(values, (value) => {
      rfc8785.hold(value);
      beside.hold(value);
    }),
    runs(1200),
  );
  expect(rfc8785.agreed - before[0]!).toBeGreaterThan(100);
  expect(beside.agreed - before[1]!).toBeGreaterThan(400);
});

it("integers keep all their digits", { timeout: TIMEOUT }, () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.string({ unit: character }), (integer, name) => {
      const value = parseJson(`{${JSON.stringify(name)}:[${integer}]}`, { numbers: "literal" });
      expect(canonicalQosJson(value)).toBe(canonicalize({ [name]: [String(integer)] }));
    }),
    runs(500),
  );
});

/** What a manifest leaves out of its canonical form (decode/README.md, "Canonical JSON"). */
function withoutEmpty(json: Json): Json {
  for (const workload of json.workloads ?? []) if (workload.mounts.length === 0) delete workload.mounts;
  return json;
}

it("what manifests are hashed over", { timeout: TIMEOUT }, () => {
  fc.assert(
    fc.property(fc.oneof<fc.Arbitrary<Manifest>[]>(manifestV2, manifestV3), (manifest) => {
      const json = withoutEmpty(asJson(manifest));
      expect(fromUtf8(manifestHashInput(manifest))).toBe(canonicalize(afterOurRules(json)));
    }),
    runs(500, 0.5),
  );
});

it("canonical JSON is read as what it was made of", { timeout: TIMEOUT }, () => {
  fc.assert(
    fc.property(values, (value) => {
      const written = canonical(value);
      if ("refused" in written || someText(value, isLone)) return;
      expect(canonicalQosJson(parseJson(written.value as string) as JsonValue)).toBe(written.value);
    }),
    runs(500),
  );
});
