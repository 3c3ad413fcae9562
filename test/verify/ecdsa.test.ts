/** ECDSA by each of the three that can compute it: they have to agree on every signature and every point. */
import { createPublicKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { concatBytes, fromHex, toHex, toUtf8 } from "../../src/bytes.js";
import type { VerifyOptions } from "../../src/index.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { withS } from "../support/high-s.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { isP256Point, pointOfSpki, rawSignature } from "../../src/verify/ecdsa.js";
import { NOW, forge, lab } from "../attacks/support.js";
import { der, derLength } from "../support/der.js";
import { fc } from "../support/property.js";
import { bootProofVectors, readVectorJson } from "../support/vectors.js";
import { flipped, pointRows, sha, signatureRows, signers } from "./ecdsa-rows.js";
import { CURVES, FACTS, newSigner, pointAt, smallestPoint, unsigned } from "./keys.js";
import { type Library, IMPLEMENTATIONS, libraryOver } from "./implementations.js";

describe.each(IMPLEMENTATIONS)("by %s", (implementation) => {
  it.each(signatureRows)("a signature: $name → $valid", async ({ curve, point, message, signature, valid }) => {
    const { importPoint } = libraryOver(implementation);
    const given = [point, message, signature];
    const copies = given.map((bytes) => bytes.slice());
    expect(await (await importPoint(curve, point))!.verify(message, signature)).toBe(valid);
    expect(
      given.map((bytes) => bytes.slice()),
      "the inputs are not changed",
    ).toEqual(copies);
  });

  it.each(pointRows)("a point: $name → $good", async ({ curve, point, good }) => {
    const { importPoint } = libraryOver(implementation);
    expect((await importPoint(curve, point)) !== null).toBe(good);
  });

  it("digests", async () => {
    const { sha256, sha384 } = libraryOver(implementation);
    for (const bytes of [new Uint8Array(), toUtf8("abc"), new Uint8Array(100_000)]) {
      expect(toHex(await sha256(bytes))).toBe(toHex(sha("P-256", bytes)));
      expect(toHex(await sha384(bytes))).toBe(toHex(sha("P-384", bytes)));
    }
  });
});

describe("they agree", () => {
  const genuine = bootProofVectors().map(({ bootProofs, appProofs, now }) => ({
    evidence: {
      bootProofs: bootProofs.map((file) => readVectorJson<object>(file)),
      appProofs: appProofs.map((file) => readVectorJson<object>(file)),
    },
    options: (library: Library): VerifyOptions => ({
      policy: library.NO_POLICY_ANY_ENCLAVE,
      now: new Date(now),
    }),
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
    options: ({ parsePolicy }: Library): VerifyOptions => ({
      policy: parsePolicy(labPolicy(evidence.anchorPem, [labDeployment(lab)])),
      now: NOW,
    }),
  }));

  it.each([...genuine, ...forged].map((row, index) => [index, row] as const))(
    "on the whole report of evidence %i",
    async (_, row) => {
      const [native, ...others] = await reportsOf(row);
      for (const other of others) expect(other).toEqual(native);
      expect(native!.checks.length).toBeGreaterThan(20);
    },
  );

  it("on good ones and bad ones", async () => {
    const reports = await Promise.all([...genuine, ...forged].map(reportsOf));
    const verdicts = reports.flat().map(({ verdict }) => verdict);
    expect(new Set(verdicts)).toEqual(new Set(["authentic", "verified", "rejected"]));
  });

  async function reportsOf({ evidence, options }: (typeof genuine)[number] | (typeof forged)[number]) {
    return Promise.all(
      IMPLEMENTATIONS.map(libraryOver).map(
        async (library) => (await library.verifyEvidence(evidence, options(library))).report,
      ),
    );
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
    ["an inner length one beyond the end", Uint8Array.of(0x30, 6, 2, 1, 1, 2, 2, 2)],
    ["an inner length of nothing", Uint8Array.of(0x30, 5, 2, 1, 1, 2, 0)],
    ["no inner length", Uint8Array.of(0x30, 4, 2, 1, 1, 2)],
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
