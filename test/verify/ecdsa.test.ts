/** ECDSA through each of the three doors: they have to agree on every signature and every point. */
import { createPublicKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { concatBytes, fromHex, toHex, toUtf8 } from "../../src/bytes.js";
import { NO_POLICY_ANY_ENCLAVE, type VerifyOptions, verifyEvidence } from "../../src/index.js";
import { withS } from "../../src/lab/keys.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { sha256, sha384 } from "../../src/verify/digest.js";
import { type Curve, importPoint, isP256Point, nodeCrypto, pointOfSpki, rawSignature } from "../../src/verify/ecdsa.js";
import { forge, optionsOf } from "../attacks/support.js";
import { der, derLength } from "../support/der.js";
import { fc } from "../support/property.js";
import { bootProofVectors, readVectorJson } from "../support/vectors.js";
import { DOORS, through } from "./doors.js";
import {
  CURVES,
  FACTS,
  type Signer,
  X_OF_Y_ONE,
  coordinates,
  newSigner,
  pointAt,
  smallestPoint,
  toBigInt,
  unsigned,
} from "./keys.js";

const MESSAGE = toUtf8("what was signed");
const signers = Object.fromEntries(CURVES.map((curve) => [curve, newSigner(curve)])) as Record<Curve, Signer>;

/** `r ‖ s` of other numbers. */
function scalars(curve: Curve, change: (r: bigint, s: bigint) => [bigint, bigint]): Uint8Array {
  const { length } = FACTS[curve];
  const signature = signers[curve].sign(MESSAGE);
  const [r, s] = change(toBigInt(signature.subarray(0, length)), toBigInt(signature.subarray(length)));
  return concatBytes(unsigned(r, length), unsigned(s, length));
}

interface SignatureRow {
  readonly name: string;
  readonly curve: Curve;
  readonly valid: boolean;
  readonly signature: Uint8Array;
  readonly point?: Uint8Array;
  readonly message?: Uint8Array;
}

const signatureRows = CURVES.flatMap((curve): SignatureRow[] => {
  const { point, sign } = signers[curve];
  const { length, n } = FACTS[curve];
  const other = newSigner(curve);
  const good = sign(MESSAGE);
  const largest = 2n ** BigInt(8 * length) - 1n;
  const long = new Uint8Array(5000).fill(7);
  const row = (
    name: string,
    valid: boolean,
    signature: Uint8Array,
    more: Partial<SignatureRow> = {},
  ): SignatureRow => ({ name: `${curve} ${name}`, curve, valid, signature, point, ...more });
  return [
    row("valid", true, good),
    row("valid, with a low S", true, withS("low", good)),
    row("valid, with a high S", true, withS("high", good)),
    row("valid, over an empty message", true, sign(new Uint8Array()), { message: new Uint8Array() }),
    row("valid, over a long message", true, sign(long), { message: long }),
    row(
      "valid, in the middle of a longer buffer",
      true,
      concatBytes(Uint8Array.of(1), good, Uint8Array.of(2)).subarray(1, 1 + good.length),
    ),
    row("by another key", false, other.sign(MESSAGE)),
    row("under another key", false, good, { point: other.point }),
    row("under the key's negative", false, good, { point: negative(curve, point) }),
    row("over another message", false, good, { message: toUtf8("what was not signed") }),
    row("over a longer message", false, good, { message: concatBytes(MESSAGE, Uint8Array.of(0)) }),
    row("over the message's hash", false, good, { message: sha(curve, MESSAGE) }),
    row("of all zeros", false, new Uint8Array(2 * length)),
    row(
      "with r = 0",
      false,
      scalars(curve, (_, s) => [0n, s]),
    ),
    row(
      "with s = 0",
      false,
      scalars(curve, (r) => [r, 0n]),
    ),
    row(
      "with r = n",
      false,
      scalars(curve, (_, s) => [n, s]),
    ),
    row(
      "with s = n",
      false,
      scalars(curve, (r) => [r, n]),
    ),
    row(
      "with r = s = n",
      false,
      scalars(curve, () => [n, n]),
    ),
    row(
      "with s = n + 1",
      false,
      scalars(curve, (r) => [r, n + 1n]),
    ),
    row(
      "with r above n",
      false,
      scalars(curve, (_, s) => [largest, s]),
    ),
    row(
      "with s above n",
      false,
      scalars(curve, (r) => [r, largest]),
    ),
    row(
      "with r negated",
      false,
      scalars(curve, (r, s) => [n - r, s]),
    ),
    row(
      "with r and s exchanged",
      false,
      scalars(curve, (r, s) => [s, r]),
    ),
    row(
      "with r = s = 1",
      false,
      scalars(curve, () => [1n, 1n]),
    ),
    row("empty", false, new Uint8Array()),
    row("a byte short", false, good.subarray(1)),
    row("a byte long", false, concatBytes(good, Uint8Array.of(0))),
    row(
      "a zero byte before r and before s",
      false,
      concatBytes(Uint8Array.of(0), good.subarray(0, length), Uint8Array.of(0), good.subarray(length)),
    ),
    row(
      "in DER",
      false,
      der(
        0x30,
        der(0x02, Uint8Array.of(0), good.subarray(0, length)),
        der(0x02, Uint8Array.of(0), good.subarray(length)),
      ),
    ),
    row("of the other curve's length", false, new Uint8Array(curve === "P-256" ? 96 : 64).fill(1)),
    ...[0, length - 1, length, 2 * length - 1].map((index) =>
      row(`with a bit of byte ${index} turned over`, false, flipped(good, index)),
    ),
  ];
});

function negative(curve: Curve, point: Uint8Array): Uint8Array {
  const { x, y } = coordinates(point);
  return pointAt(curve, x, FACTS[curve].p - y);
}

function sha(curve: Curve, bytes: Uint8Array): Uint8Array {
  return new Uint8Array(
    nodeCrypto()!
      .createHash(curve === "P-256" ? "sha256" : "sha384")
      .update(bytes)
      .digest(),
  );
}

function flipped(bytes: Uint8Array, index: number): Uint8Array {
  const copy = bytes.slice();
  copy[index]! ^= 1;
  return copy;
}

const pointRows = CURVES.flatMap((curve): { name: string; curve: Curve; good: boolean; point: Uint8Array }[] => {
  const { point } = signers[curve];
  const { length, p, b } = FACTS[curve];
  const { x, y } = coordinates(point);
  const small = smallestPoint(curve);
  const largest = 2n ** BigInt(8 * length) - 1n;
  const row = (name: string, good: boolean, bytes: Uint8Array) => ({
    name: `${curve} ${name}`,
    curve,
    good,
    point: bytes,
  });
  return [
    row("a key", true, point),
    row("its negative", true, negative(curve, point)),
    row("the point of smallest x", true, pointAt(curve, small.x, small.y)),
    row(
      "in the middle of a longer buffer",
      true,
      concatBytes(Uint8Array.of(9, 9, 9), point, Uint8Array.of(9)).subarray(3, 3 + point.length),
    ),
    row("x + p, on the curve modulo p", false, pointAt(curve, small.x + p, small.y)),
    row("the point of y = 1", true, pointAt(curve, X_OF_Y_ONE[curve], 1n)),
    row("y + p, on the curve modulo p", false, pointAt(curve, X_OF_Y_ONE[curve], p + 1n)),
    row("x = p", false, pointAt(curve, p, y)),
    row("y = p", false, pointAt(curve, x, p)),
    row("both coordinates p", false, pointAt(curve, p, p)),
    row("both coordinates all ones", false, pointAt(curve, largest, largest)),
    row("x and y exchanged", false, pointAt(curve, y, x)),
    row("y one more", false, pointAt(curve, x, (y + 1n) % p)),
    row("x one more", false, pointAt(curve, (x + 1n) % p, y)),
    row("both coordinates zero", false, pointAt(curve, 0n, 0n)),
    row("x zero, y = b", false, pointAt(curve, 0n, b)),
    row("on a twist: y² = x³ - 3x + b + 1", false, twistPoint(curve)),
    row("the form byte 0", false, pointAt(curve, x, y, 0x00)),
    row("the form byte 2", false, pointAt(curve, x, y, 0x02)),
    row("the form byte 5", false, pointAt(curve, x, y, 0x05)),
    row("hybrid, with the right parity", false, pointAt(curve, x, y, 0x06 + Number(y & 1n))),
    row("hybrid, with the wrong parity", false, pointAt(curve, x, y, 0x07 - Number(y & 1n))),
    row("compressed", false, concatBytes(Uint8Array.of(0x02 + Number(y & 1n)), unsigned(x, length))),
    row("infinity", false, Uint8Array.of(0)),
    row("infinity, as long as a point", false, new Uint8Array(1 + 2 * length)),
    row("empty", false, new Uint8Array()),
    row("a byte short", false, point.subarray(0, -1)),
    row("a byte long", false, concatBytes(point, Uint8Array.of(0))),
    row("without its form byte", false, point.subarray(1)),
    row("of the other curve", false, signers[curve === "P-256" ? "P-384" : "P-256"].point),
  ];
});

/** A point of another curve over the same field: an implementation that does not ask would compute with it. */
function twistPoint(curve: Curve): Uint8Array {
  const { p, b } = FACTS[curve];
  const y = 5n;
  // x = 0 needs y² = b + d: the d that makes it so is not 0.
  expect((y * y - b) % p).not.toBe(0n);
  return pointAt(curve, 0n, y);
}

describe.each(DOORS)("through the door of %s", (door) => {
  it("asks that door and no other", async () => {
    const seen = await through(door, () =>
      Promise.resolve({ node: nodeCrypto() !== undefined, web: (globalThis.crypto as unknown) !== undefined }),
    );
    expect(seen).toEqual({ node: door === "Node", web: door !== "noble" });
  });

  it.each(signatureRows)("a signature: $name → $valid", async ({ curve, point, message, signature, valid }) => {
    const copies = [point!, message ?? MESSAGE, signature].map((bytes) => bytes.slice());
    const answer = await through(door, async () =>
      (await importPoint(curve, point!))!.verify(message ?? MESSAGE, signature),
    );
    expect(answer).toBe(valid);
    expect(
      [point!, message ?? MESSAGE, signature].map((bytes) => bytes.slice()),
      "the inputs are not changed",
    ).toEqual(copies);
  });

  it.each(pointRows)("a point: $name → $good", async ({ curve, point, good }) => {
    const key = await through(door, () => importPoint(curve, point));
    expect(key !== null).toBe(good);
  });

  it("digests", async () => {
    for (const bytes of [new Uint8Array(), toUtf8("abc"), new Uint8Array(100_000)]) {
      expect(toHex(await through(door, () => sha256(bytes)))).toBe(toHex(sha("P-256", bytes)));
      expect(toHex(await through(door, () => sha384(bytes)))).toBe(toHex(sha("P-384", bytes)));
    }
  });

  it("keys of one door verify as those of another", async () => {
    for (const curve of CURVES) {
      const key = (await through(door, () => importPoint(curve, signers[curve].point)))!;
      const signature = signers[curve].sign(MESSAGE);
      expect(await through("Node", async () => key.verify(MESSAGE, signature))).toBe(true);
      expect(await through("Node", async () => key.verify(MESSAGE, flipped(signature, 3)))).toBe(false);
    }
  });
});

describe("the doors agree", () => {
  const genuine = bootProofVectors().map(({ bootProofs, appProofs, now }) => ({
    evidence: {
      bootProofs: bootProofs.map((file) => readVectorJson<object>(file)),
      appProofs: appProofs.map((file) => readVectorJson<object>(file)),
    },
    options: { policy: NO_POLICY_ANY_ENCLAVE, now: new Date(now) } satisfies VerifyOptions,
  }));
  const forged = [
    forge(),
    forge({ version: "v1", generation: "legacy" }),
    forge({ alterDocument: { signature: (bytes) => flipped(bytes, 0) } }),
    forge({ alterAppProof: { signature: (bytes) => flipped(bytes, 63) } }),
    forge({ ephemeralKey: { ...generateQosKeyPair(), publicKey: new Uint8Array(130).fill(4) } }),
    forge({
      alterManifest: {
        approvals: (list) => list.map((approval) => ({ ...approval, signature: withS("high", approval.signature) })),
      },
    }),
  ].map((evidence) => ({
    evidence: { bootProofs: [evidence.bootProof], appProofs: evidence.appProofs, activity: evidence.activity },
    options: optionsOf(evidence),
  }));

  it.each([...genuine, ...forged].map((row, index) => [index, row] as const))(
    "on the whole report of evidence %i",
    async (_, { evidence, options }) => {
      const [native, ...others] = await reportsOf(evidence, options);
      for (const other of others) expect(other).toEqual(native);
      expect(native!.checks.length).toBeGreaterThan(20);
    },
  );

  it("on good ones and bad ones", async () => {
    const verdicts = await Promise.all(
      [...genuine, ...forged].map(
        async ({ evidence, options }) => (await verifyEvidence(evidence, options)).report.verdict,
      ),
    );
    expect(new Set(verdicts)).toEqual(new Set(["authentic", "verified", "rejected"]));
  });

  async function reportsOf(...evidence: Parameters<typeof verifyEvidence>) {
    const reports = [];
    for (const door of DOORS) reports.push((await through(door, () => verifyEvidence(...evidence))).report);
    return reports;
  }
});

describe("isP256Point", () => {
  const { p } = FACTS["P-256"];

  function nodeTakes(point: Uint8Array): boolean {
    const spki = concatBytes(fromHex("3059301306072a8648ce3d020106082a8648ce3d030107034200")!, point);
    try {
      createPublicKey({ key: Buffer.from(spki), format: "der", type: "spki" });
      return true;
    } catch {
      return false;
    }
  }

  it.each(pointRows.filter(({ curve }) => curve === "P-256"))("$name → $good", ({ point, good }) => {
    expect(isP256Point(point)).toBe(good);
  });

  it("agrees with Node on keys, and on keys with a bit turned over", () => {
    const points = Array.from({ length: 20 }, () => newSigner("P-256").point);
    for (const point of points) expect(isP256Point(point)).toBe(true);
    fc.assert(
      fc.property(
        fc.constantFrom(...points),
        fc.nat({ max: 64 }),
        fc.integer({ min: 1, max: 255 }),
        (point, index, mask) => {
          const changed = point.slice();
          changed[index]! ^= mask;
          // Node takes hybrid forms too; a point is what is uncompressed.
          expect(isP256Point(changed)).toBe(changed[0] === 4 && nodeTakes(changed));
        },
      ),
    );
  });

  it("agrees with Node on any coordinates, also those at the edge of the field", () => {
    const { x, y } = smallestPoint("P-256");
    const edge = fc.constantFrom(0n, 1n, x, y, x + p, p - 1n, p, p + 1n, p - y, 2n ** 256n - 1n);
    const coordinate = fc.oneof(edge, fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }));
    fc.assert(
      fc.property(coordinate, coordinate, (a, b) => {
        const point = pointAt("P-256", a, b);
        expect(isP256Point(point)).toBe(nodeTakes(point));
      }),
      { numRuns: 1000 },
    );
  });
});

describe("pointOfSpki", () => {
  const prefixes = {
    "P-256": "3059301306072a8648ce3d020106082a8648ce3d030107034200",
    "P-384": "3076301006072a8648ce3d020106052b81040022036200",
  };

  it.each(CURVES)("takes the point of a key of %s, and no other key", (curve) => {
    const spki = concatBytes(fromHex(prefixes[curve])!, signers[curve].point);
    expect(pointOfSpki(curve, spki)).toEqual(signers[curve].point);
    const other = curve === "P-256" ? "P-384" : "P-256";
    expect(pointOfSpki(other, spki)).toBeNull();
    expect(pointOfSpki(curve, spki.subarray(1))).toBeNull();
    expect(pointOfSpki(curve, spki.subarray(0, -1))).toBeNull();
    expect(pointOfSpki(curve, concatBytes(spki, Uint8Array.of(0)))).toBeNull();
    for (let index = 0; index < fromHex(prefixes[curve])!.length; index++)
      expect(pointOfSpki(curve, flipped(spki, index)), `byte ${index}`).toBeNull();
  });
});

describe("rawSignature", () => {
  const integer = (...bytes: number[]): Uint8Array => der(0x02, Uint8Array.from(bytes));
  const full = (first: number): number[] => [first, ...Array<number>(31).fill(0x11)];
  const [one, two] = [integer(1), integer(2)];
  const raw = (r: number[], s: number[]): string =>
    toHex(Uint8Array.from([r, s].flatMap((n) => [...Array<number>(32 - n.length).fill(0), ...n])));

  it.each<[name: string, encoding: Uint8Array, expected: string]>([
    ["short integers", der(0x30, one, two), raw([1], [2])],
    ["zeros", der(0x30, integer(0), integer(0)), raw([], [])],
    ["full integers", der(0x30, integer(...full(0x7f)), integer(...full(0x01))), raw(full(0x7f), full(0x01))],
    ["a zero before a set top bit", der(0x30, integer(0, ...full(0x80)), integer(0, 0xff)), raw(full(0x80), [0xff])],
    [
      "both with the largest values",
      der(0x30, integer(0, ...Array<number>(32).fill(255)), integer(0, ...Array<number>(32).fill(255))),
      "ff".repeat(64),
    ],
  ])("reads %s", (_, encoding, expected) => {
    expect(toHex(rawSignature(encoding, 32)!)).toBe(expected);
  });

  it.each<[name: string, encoding: Uint8Array]>([
    ["nothing", new Uint8Array()],
    ["a lone tag", Uint8Array.of(0x30)],
    ["an empty sequence", der(0x30)],
    ["one integer", der(0x30, one)],
    ["three integers", der(0x30, one, two, one)],
    ["another outer tag", der(0x31, one, two)],
    ["another tag of the first integer", der(0x30, der(0x03, Uint8Array.of(1)), two)],
    ["another tag of the second integer", der(0x30, one, der(0x0a, Uint8Array.of(2)))],
    ["an empty first integer", der(0x30, integer(), two)],
    ["an empty second integer", der(0x30, one, integer())],
    ["a negative first integer", der(0x30, integer(0x80), two)],
    ["a negative second integer", der(0x30, one, integer(0xff))],
    ["a negative full integer", der(0x30, integer(...full(0x80)), two)],
    ["a needless zero", der(0x30, integer(0, 1), two)],
    ["a zero of two bytes", der(0x30, integer(0, 0), two)],
    ["a needless zero in the second", der(0x30, one, integer(0, 0x7f))],
    ["an integer a byte too long", der(0x30, integer(1, ...full(0x11)), two)],
    ["an integer a byte too long, with a zero", der(0x30, integer(0, 0x80, ...full(0x11)), two)],
    ["a second integer a byte too long", der(0x30, one, integer(1, ...full(0x11)))],
    ["bytes after the end", concatBytes(der(0x30, one, two), Uint8Array.of(0))],
    ["bytes after the end, counted", Uint8Array.of(0x30, 7, 2, 1, 1, 2, 1, 2, 0)],
    ["a byte less than it says", der(0x30, one, two).subarray(0, -1)],
    ["an outer length too small", Uint8Array.of(0x30, 5, 2, 1, 1, 2, 1, 2)],
    ["an outer length too large", Uint8Array.of(0x30, 7, 2, 1, 1, 2, 1, 2)],
    ["an outer length in two bytes", Uint8Array.of(0x30, 0x81, 6, 2, 1, 1, 2, 1, 2)],
    ["an outer length without end", Uint8Array.of(0x30, 0x80, 2, 1, 1, 2, 1, 2, 0, 0)],
    ["an inner length in two bytes", der(0x30, Uint8Array.of(2, 0x81, 1, 1), two)],
    ["an inner length beyond the end", Uint8Array.of(0x30, 6, 2, 1, 1, 2, 9, 2)],
    ["an inner length that eats the second integer", Uint8Array.of(0x30, 6, 2, 4, 1, 2, 1, 2)],
  ])("refuses %s", (_, encoding) => {
    expect(rawSignature(encoding, 32)).toBeNull();
  });

  it("reads what it is made of, for both curves, and nothing with a byte put in or taken out", () => {
    const scalar = (length: number): fc.Arbitrary<bigint> =>
      fc.oneof(
        fc.constantFrom(0n, 1n, 127n, 128n, 255n, 256n),
        fc.bigInt({ min: 0n, max: 2n ** BigInt(8 * length) - 1n }),
      );
    const length = fc.constantFrom(32, 48);
    fc.assert(
      fc.property(
        length.chain((size) => fc.tuple(fc.constant(size), scalar(size), scalar(size))),
        fc.nat(),
        ([size, r, s], seed) => {
          const encoding = der(0x30, derUnsigned(r), derUnsigned(s));
          expect(rawSignature(encoding, size)).toEqual(concatBytes(unsigned(r, size), unsigned(s, size)));
          const at = seed % encoding.length;
          expect(rawSignature(concatBytes(encoding.subarray(0, at), encoding.subarray(at + 1)), size)).toBeNull();
        },
      ),
    );
  });

  function derUnsigned(value: bigint): Uint8Array {
    const hex = value.toString(16);
    const bytes = fromHex(hex.length % 2 === 0 ? hex : `0${hex}`)!;
    const content = bytes[0]! > 0x7f ? concatBytes(Uint8Array.of(0), bytes) : bytes;
    return concatBytes(Uint8Array.of(0x02), derLength(content.length), content);
  }
});
