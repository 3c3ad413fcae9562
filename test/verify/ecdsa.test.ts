/** ECDSA by each of the three that can compute it: they have to agree on every signature and every point. */
import { createPublicKey } from "node:crypto";
import { describe, expect, it } from "vitest";
import { concatBytes, fromHex, toHex, toUtf8 } from "../../src/bytes.js";
import type { VerifyOptions } from "../../src/index.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import { withS } from "../support/high-s.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { isCompressedP256Point, isP256Point, pointOfSpki } from "../../src/verify/ecdsa.js";
import { NOW, forge, lab } from "../attacks/support.js";
import { fc } from "../support/property.js";
import { bootProofVectors, readVectorJson } from "../support/vectors.js";
import { flipped, pointRows, sha, signatureRows, signers } from "./ecdsa-rows.js";
import { CURVES, FACTS, newSigner, pointAt, smallestPoint } from "./keys.js";
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
    const [whole, bits] = point.length === 65 ? ["59", "4200"] : ["39", "2200"];
    const spki = concatBytes(fromHex(`30${whole}301306072a8648ce3d020106082a8648ce3d03010703${bits}`)!, point);
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

  it("agrees with Node on any coordinates, also those at the edge of the field", () => {
    const { x, y } = smallestPoint("P-256");
    const edge = fc.constantFrom(0n, 1n, x, y, x + p, p - 1n, p, p + 1n, p - y, 2n ** 256n - 1n);
    const coordinate = fc.oneof(edge, fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }));
    fc.assert(
      fc.property(coordinate, coordinate, (a, b) => {
        const point = pointAt("P-256", a, b);
        expect(isP256Point(point)).toBe(nodeTakes(point));
      }),
      { numRuns: 300 },
    );
  });

  it("agrees with Node on any x of a compressed point, also at the edge of the field", () => {
    const { x } = smallestPoint("P-256");
    const edge = fc.constantFrom(0n, 1n, x, x + p, p - 1n, p, p + 1n, 2n ** 256n - 1n);
    const coordinate = fc.oneof(edge, fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }));
    fc.assert(
      fc.property(fc.constantFrom(2, 3), coordinate, (prefix, a) => {
        const point = Uint8Array.of(prefix, ...pointAt("P-256", a, 0n).subarray(1, 33));
        expect(isCompressedP256Point(point)).toBe(nodeTakes(point));
      }),
      { numRuns: 300 },
    );
    const { point } = newSigner("P-256");
    for (const prefix of [0, 1, 4, 5, 6])
      expect(isCompressedP256Point(Uint8Array.of(prefix, ...point.subarray(1, 33)))).toBe(false);
    for (const length of [0, 1, 32, 34, 65])
      expect(isCompressedP256Point(Uint8Array.of(2, ...new Uint8Array(length)).subarray(0, length))).toBe(false);
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
