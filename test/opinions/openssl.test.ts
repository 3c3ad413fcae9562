/** Signatures, good and damaged, as two readers of DER and `openssl` read them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { p256 } from "@noble/curves/nist.js";
import { Integer, Sequence, fromBER } from "asn1js";
import { afterAll, describe, expect, it } from "vitest";
import { concatBytes, equalBytes, toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import { derInteger, derSequence } from "../../src/lab/der.js";
import { type KeyPair, generateKeyPair, publicPoint, signDer, subjectPublicKeyInfo } from "../../src/lab/keys.js";
import { rawSignature } from "../../src/decode/ecdsa-signature.js";
import type { Curve } from "../../src/verify/ecdsa.js";
import { CURVES } from "../../src/verify/cryptography.js";
import { SignatureCache } from "../../src/verify/signature-cache.js";
import { der, derLength } from "../support/der.js";
import { inDer } from "../support/high-s.js";
import { mutated } from "../support/property.js";
import { unsigned } from "../verify/keys.js";
import {
  Comparison,
  type Difference,
  type Opinion,
  TIMEOUT,
  fc,
  refusedHere,
  refusedThere,
  runs,
  tellAfterwards,
  theirs as opinionOf,
} from "./support.js";

const isThere = spawnSync("openssl", ["version"]).status === 0;
if (!isThere) console.log("no openssl on this machine: it is not asked");

const folder = mkdtempSync(join(tmpdir(), "bootproof-openssl-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, contents: Uint8Array | string): string {
  writeFileSync(join(folder, name), contents);
  return join(folder, name);
}

function run(...args: string[]): { readonly isGood: boolean; readonly said: string } {
  const { status, stdout, error } = spawnSync("openssl", args, { encoding: "utf8" });
  if (error) throw error;
  return { isGood: status === 0, said: stdout };
}

const NAMES = { "P-256": ["prime256v1", "sha256"], "P-384": ["secp384r1", "sha384"] } as const;
const KEYS: Record<Curve, KeyPair> = {
  "P-256": generateKeyPair("prime256v1"),
  "P-384": generateKeyPair("secp384r1"),
};
const message = toUtf8("what is signed");

async function ours(curve: Curve, der: Uint8Array): Promise<boolean> {
  const raw = rawSignature(der, CURVES[curve].scalarLength);
  return raw !== null && new SignatureCache().verify(curve, publicPoint(KEYS[curve]), message, raw);
}

function theirs(curve: Curve, der: Uint8Array): boolean {
  const spki = toBase64(subjectPublicKeyInfo(KEYS[curve]));
  const pem = `-----BEGIN PUBLIC KEY-----\n${spki.replace(/.{64}/g, "$&\n")}\n-----END PUBLIC KEY-----\n`;
  const key = file("key.pem", pem);
  const signature = file("signature", der);
  return run("dgst", `-${NAMES[curve][1]}`, "-verify", key, "-signature", signature, file("message", message)).isGood;
}

/** The longest signature in DER: the command reads no more of a file, and so does not see what comes after one. */
const LONGEST = { "P-256": 72, "P-384": 104 } as const;

/** Shorter than that, so that whatever is put after it is read. */
function signed(curve: Curve): Uint8Array {
  for (;;) {
    const der = signDer(KEYS[curve], NAMES[curve][1], message);
    if (der.length < LONGEST[curve]) return der;
  }
}

const counts = new Map<string, number>();
tellAfterwards("openssl", counts);

/** Signatures that are not what they were, with and without a change of their values. */
const EDGES: Record<string, (good: Uint8Array) => Uint8Array> = {
  "as it is": (good) => good,
  "r and s of zero": () => derSequence(derInteger(0), derInteger(0)),
  "r and s of one": () => derSequence(derInteger(1), derInteger(1)),
  "a byte after it": (good) => Uint8Array.from([...good, 0]),
  "a length longer than needed": ([tag, ...rest]) => Uint8Array.from([tag!, 0x81, ...rest]),
  "an indefinite length": ([tag, , ...rest]) => Uint8Array.from([tag!, 0x80, ...rest, 0, 0]),
  nothing: () => new Uint8Array(),
  "cut off": (good) => good.subarray(0, -1),
};

describe.skipIf(!isThere)("signatures", () => {
  const curve = fc.constantFrom<Curve>("P-256", "P-384");

  it.each((["P-256", "P-384"] as const).flatMap((each) => Object.keys(EDGES).map((edge) => [each, edge] as const)))(
    "%s: %s",
    async (each, edge) => {
      const good = signed(each);
      const signature = EDGES[edge]!(good);
      expect([edge, await ours(each, signature)]).toEqual([edge, theirs(each, signature)]);
      expect(await ours(each, signature)).toBe(edge === "as it is");
    },
  );

  it("damaged ones", { timeout: TIMEOUT }, async () => {
    await fc.assert(
      fc.asyncProperty(
        curve.chain((each) => fc.tuple(fc.constant(each), mutated(signed(each)), fc.boolean())),
        async ([each, damaged, isWhole]) => {
          const signature = isWhole ? signed(each) : damaged;
          const answer = await ours(each, signature);
          expect(answer).toBe(theirs(each, signature));
          const what = `${each}: both ${answer ? "accept" : "refuse"}`;
          counts.set(what, (counts.get(what) ?? 0) + 1);
        },
      ),
      runs(8, 0.01),
    );
  });
});

interface Scalars {
  readonly r: bigint;
  readonly s: bigint;
}

const BOUND = 2n ** 256n;
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const REFUSED = "not strict DER";

function oursOf(input: Uint8Array): Opinion {
  const raw = rawSignature(input, 32);
  if (raw === null) return { refused: REFUSED };
  const [r, s] = [raw.subarray(0, 32), raw.subarray(32)].map((half) => BigInt(`0x${toHex(half)}`));
  return { value: { r, s } };
}

/** Any BER, of any length: whatever is a SEQUENCE of two INTEGERs. */
function asn1jsOf(input: Uint8Array): Scalars {
  const { result, offset } = fromBER(input);
  if (offset === -1 || !(result instanceof Sequence)) throw new Error(result.error || "no SEQUENCE");
  const [r, s, ...more] = result.valueBlock.value;
  if (!(r instanceof Integer) || !(s instanceof Integer) || more.length > 0) throw new Error("not two INTEGERs");
  const [first, second] = [r, s].map((each) => signedNumber(each.valueBlock.valueHexView));
  return { r: first!, s: second! };
}

function signedNumber(content: Uint8Array): bigint {
  if (content.length === 0) throw new Error("an INTEGER of no bytes");
  return BigInt.asIntN(8 * content.length, BigInt(`0x${toHex(content)}`));
}

function nobleOf(input: Uint8Array): Scalars {
  const { r, s } = p256.Signature.fromBytes(input, "der");
  return { r, s };
}

/** The one encoding in DER, by the lab's writer. */
const encoded = ({ r, s }: Scalars): Uint8Array => inDer(concatBytes(unsigned(r, 32), unsigned(s, 32)));

const someOf = ({ r, s }: Scalars, test: (value: bigint) => boolean): boolean => test(r) || test(s);
const inRange = (both: Scalars): boolean => !someOf(both, (value) => value <= 0n || value >= BOUND);
const small = (...content: number[]): Uint8Array => der(0x02, Uint8Array.from(content));
const [ONE, TWO] = [small(1), small(2)];

function reason(
  name: string,
  why: string,
  example: Uint8Array,
  isIt: (input: Uint8Array, both: Scalars) => boolean,
): Difference<Uint8Array> {
  const confirmed = (input: Uint8Array, value: unknown): boolean => isIt(input, value as Scalars);
  return refusedHere({ name, why, example, reason: new RegExp(`^${REFUSED}$`), confirmed });
}

const byAsn1js = new Comparison<Uint8Array>({
  name: "signatures in DER, asn1js",
  ours: oursOf,
  theirs: (input) => opinionOf(() => asn1jsOf(input)),
  show: toHex,
  differences: [
    reason("negative", "A scalar is positive.", der(0x30, small(0x81), TWO), (_, both) =>
      someOf(both, (value) => value < 0n),
    ),
    reason("zero", "No signature has a scalar of zero.", der(0x30, ONE, small(0)), (_, both) =>
      someOf(both, (value) => value === 0n),
    ),
    reason(
      "too long",
      "A scalar has 32 bytes at most.",
      der(0x30, small(1, ...Array<number>(32).fill(0)), TWO),
      (_, both) => someOf(both, (value) => value >= BOUND),
    ),
    reason("trailing", "Nothing follows the SEQUENCE.", concatBytes(der(0x30, ONE, TWO), ONE), (input, both) => {
      const { offset } = fromBER(input);
      return inRange(both) && offset < input.length;
    }),
    reason(
      "not minimal",
      "DER has one encoding of two numbers.",
      der(0x30, small(0, 1), TWO),
      (input, both) => inRange(both) && fromBER(input).offset === input.length && !equalBytes(encoded(both), input),
    ),
  ],
});

const byNoble = new Comparison<Uint8Array>({
  name: "signatures in DER, @noble/curves",
  ours: oursOf,
  theirs: (input) => opinionOf(() => nobleOf(input)),
  show: toHex,
  differences: [
    refusedThere({
      name: "not below the order",
      why: "Here the check of the signature refuses it, as it does for r and s of 64 bytes.",
      example: encoded({ r: P256_ORDER, s: 1n }),
      reason: /^invalid signature [rs]: out of range/,
    }),
  ],
});

/** Two INTEGERs in a SEQUENCE, encoded in one of the ways that BER and mistakes have. */
function encodedSignature(): fc.Arbitrary<Uint8Array> {
  const edges = [0n, 1n, 127n, 128n, 255n, 256n, BOUND / 2n - 1n, BOUND / 2n, P256_ORDER, BOUND - 1n, BOUND];
  const number = fc.oneof(
    fc.constantFrom(...edges, P256_ORDER - 1n),
    fc.bigInt({ min: 1n, max: P256_ORDER - 1n }),
    fc.bigInt({ min: 1n, max: P256_ORDER - 1n }),
  );
  const width = fc.constantFrom("shortest", "shortest", "shortest", "0x81", "0x82", "open", "wrong");
  const withLength = (tag: number, kind: string, content: Uint8Array): Uint8Array => {
    if (kind === "open") return concatBytes(Uint8Array.of(tag, 0x80), content, Uint8Array.of(0, 0));
    const { length } = content;
    const lengths: Record<string, number[]> = {
      "0x81": [0x81, length & 255],
      "0x82": [0x82, length >> 8, length & 255],
      wrong: [(length + 1) & 127],
    };
    return concatBytes(Uint8Array.of(tag), Uint8Array.from(lengths[kind] ?? derLength(length)), content);
  };
  const zeros = fc.constantFrom(0, 0, 0, 1, 2);
  const integer = fc
    .tuple(number, zeros, fc.boolean(), width, fc.constantFrom(2, 2, 2, 2, 2, 2, 10))
    .map(([value, more, isSigned, kind, tag]) => {
      const digits = value.toString(16);
      const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, "hex");
      // Without its sign's byte, a number with the top bit set is negative.
      const sign = bytes[0]! > 0x7f && isSigned ? 1 : 0;
      return withLength(tag, kind, concatBytes(new Uint8Array(more + sign), bytes));
    });
  const trailer = fc.constantFrom([], [], [], [0], [0, 0], [2, 1, 1]).map((bytes) => Uint8Array.from(bytes));
  return fc
    .tuple(integer, integer, trailer, trailer, width, fc.constantFrom(0x30, 0x30, 0x30, 0x30, 0x31))
    .map(([r, s, within, behind, kind, tag]) => concatBytes(withLength(tag, kind, concatBytes(r, s, within)), behind));
}

it("damaged signatures in DER are read as asn1js and @noble/curves read them, or refused", { timeout: TIMEOUT }, () => {
  const valid = fc.bigInt({ min: 1n, max: P256_ORDER - 1n });
  const whole = fc.tuple(valid, valid).map(([r, s]) => encoded({ r, s }));
  const input = fc.oneof(
    encodedSignature(),
    whole.chain((good) => mutated(good)),
    whole,
  );
  fc.assert(
    fc.property(input, (signature) => {
      byAsn1js.hold(signature);
      byNoble.hold(signature);
    }),
    runs(2000),
  );
  for (const { agreed, refusedByBoth } of [byAsn1js, byNoble]) {
    expect(agreed).toBeGreaterThan(150);
    expect(refusedByBoth).toBeGreaterThan(150);
  }
});
