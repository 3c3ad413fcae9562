/**
 * Wycheproof's ECDSA signatures, by each of the three that can compute them: in DER as certificates carry them, raw as
 * documents, approvals and app proofs do. The three have to give the same answer, and it is Wycheproof's.
 *
 * Its ECDH vectors, which are about points, are not here: what they ask is made of the keys of these.
 */
import { describe, expect, it } from "vitest";
import { concatBytes, fromHex, toHex } from "../../src/bytes.js";
import { rawSignature } from "../../src/decode/ecdsa-signature.js";
import type { Curve } from "../../src/verify/ecdsa.js";
import { IMPLEMENTATIONS, type Library, libraryOver } from "../verify/implementations.js";
import { readSuite } from "./data.js";

interface Suite {
  readonly numberOfTests: number;
  readonly testGroups: readonly {
    /** An uncompressed point. */
    readonly key: string;
    readonly keyDer: string;
    readonly tests: readonly {
      readonly tcId: number;
      readonly comment: string;
      readonly msg: string;
      readonly sig: string;
      readonly result: "valid" | "invalid" | "acceptable";
      readonly flags: readonly string[];
    }[];
  }[];
}

const bytes = (hex: string): Uint8Array => fromHex(hex)!;

/** What Wycheproof leaves open, by its flag: refused, each for its reason. */
const ACCEPTABLE: Readonly<Record<string, string>> = {
  MissingZero: "an INTEGER of DER whose highest bit is set is negative (X.690 8.3), and no scalar is",
  SigSize: "r ‖ s has the length of two scalars (RFC 9053 section 2.1), whatever numbers a shorter one could mean",
};

interface File {
  readonly name: string;
  readonly curve: Curve;
  readonly form: "DER" | "raw";
  readonly tests: number;
  readonly suite: Suite;
}

const files = [
  ["ecdsa_secp256r1_sha256_test", "P-256", "DER", 387],
  ["ecdsa_secp384r1_sha384_test", "P-384", "DER", 408],
  ["ecdsa_secp256r1_sha256_p1363_test", "P-256", "raw", 219],
  ["ecdsa_secp384r1_sha384_p1363_test", "P-384", "raw", 239],
].map(([name, curve, form, tests]) => {
  return { name, curve, form, tests, suite: readSuite(`wycheproof.${name}.json.gz`) } as File;
});

/** Each case as `tcId answer`: what is verified, by the key as certificates carry it. */
async function answersOf(
  { curve, form, suite }: File,
  library: Library,
  known: Map<string, boolean>,
): Promise<string[]> {
  const answers: string[] = [];
  for (const { keyDer, tests } of suite.testGroups) {
    const key = (await library.importPoint(curve, library.pointOfSpki(curve, bytes(keyDer))!))!;
    for (const { tcId, msg, sig } of tests) {
      const signature = form === "raw" ? bytes(sig) : rawSignature(bytes(sig), curve === "P-256" ? 32 : 48);
      // Most of the raw signatures are those in DER once more, and noble takes ten milliseconds for each.
      const name = `${keyDer} ${msg} ${signature && toHex(signature)}`;
      const isValid = known.get(name) ?? (signature !== null && (await key.verify(bytes(msg), signature)));
      known.set(name, isValid);
      answers.push(`${tcId} ${isValid ? "valid" : "invalid"}`);
    }
  }
  return answers;
}

describe.each(IMPLEMENTATIONS)("Wycheproof by %s", (implementation) => {
  const library = libraryOver(implementation);
  const known = new Map<string, boolean>();

  it.each(files)("$name", async (file) => {
    const cases = file.suite.testGroups.flatMap(({ tests }) => tests);
    expect(cases).toHaveLength(file.tests);
    expect(file.suite.numberOfTests).toBe(file.tests);
    const expected = cases.map(({ tcId, result }) => `${tcId} ${result === "valid" ? "valid" : "invalid"}`);
    expect(await answersOf(file, library, known)).toEqual(expected);
  });

  it.each(files)("the keys of $name, and what is beside them", async ({ curve, suite }) => {
    const { importPoint } = library;
    const wrong: string[] = [];
    for (const { key, keyDer } of suite.testGroups) {
      const point = bytes(key);
      expect(toHex(library.pointOfSpki(curve, bytes(keyDer))!)).toBe(key);
      if ((await importPoint(curve, point)) === null) wrong.push(`${key} is a key`);
      for (const [name, other] of Object.entries(noPoints(point)))
        if ((await importPoint(curve, other)) !== null) wrong.push(`${key} ${name}`);
    }
    expect(wrong).toEqual([]);
  });

  it.each(files)("the keys of $name in other encodings", ({ curve, suite }) => {
    for (const { keyDer } of suite.testGroups) {
      const spki = bytes(keyDer);
      const prefix = spki.subarray(0, spki.length - (curve === "P-256" ? 65 : 97));
      for (const point of Object.values(noPoints(spki.subarray(prefix.length)))) {
        const read = library.pointOfSpki(curve, concatBytes(prefix, point));
        // Its length is the curve's, or there is none: whether it is a point is asked where it is imported.
        if (point.length !== spki.length - prefix.length) expect(read).toBeNull();
      }
      expect(library.pointOfSpki(curve === "P-256" ? "P-384" : "P-256", spki)).toBeNull();
    }
  });
});

/** As ECDH vectors have them: no point of the curve, or none in the one form that is taken. */
function noPoints(point: Uint8Array): Readonly<Record<string, Uint8Array>> {
  const half = (point.length - 1) / 2;
  const parity = point[point.length - 1]! & 1;
  const [x, y] = [point.subarray(1, 1 + half), point.subarray(1 + half)];
  const formed = (form: number, ...parts: Uint8Array[]): Uint8Array => concatBytes(Uint8Array.of(form), ...parts);
  return {
    "beside the curve": formed(4, x, flipped(y)),
    "beside the curve at x": formed(4, flipped(x), y),
    compressed: formed(2 + parity, x),
    "compressed, of the other parity": formed(3 - parity, x),
    hybrid: formed(6 + parity, x, y),
    "at infinity": Uint8Array.of(0),
    "at infinity, as long as a point": new Uint8Array(point.length),
    "of zeros": formed(4, new Uint8Array(2 * half)),
    "of coordinates above the field": formed(4, new Uint8Array(2 * half).fill(0xff)),
    "without y": formed(4, x),
    "a byte short": point.subarray(0, -1),
    "a byte long": concatBytes(point, Uint8Array.of(0)),
    "without its form": concatBytes(x, y),
    empty: new Uint8Array(),
  };
}

function flipped(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice();
  copy[copy.length - 1]! ^= 1;
  return copy;
}

describe("Wycheproof", () => {
  it("leaves open only what is decided", () => {
    const open = files.flatMap(({ suite }) =>
      suite.testGroups.flatMap(({ tests }) =>
        tests.filter(({ result }) => result === "acceptable").flatMap(({ flags }) => flags),
      ),
    );
    expect(new Set(open)).toEqual(new Set(Object.keys(ACCEPTABLE)));
    expect(open).toHaveLength(9);
  });

  it("has the same keys in both of its forms", () => {
    const keys = files.map(({ suite }) => suite.testGroups.map(({ key }) => key));
    expect(keys[0]).toEqual(keys[2]);
    expect(keys[1]).toEqual(keys[3]);
  });
});
