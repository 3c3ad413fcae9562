/**
 * ECDSA over P-256 and P-384: Node's own where there is one, WebCrypto elsewhere, @noble/curves where neither is.
 * The one door to the platform's cryptography: `nodeCrypto` is asked for here and nowhere else in the core.
 *
 * Signatures are raw `r ‖ s`; a high `s` is accepted, since genuine documents carry one half of the time.
 */
import { concatBytes, toBase64 } from "../bytes.js";

export type Curve = "P-256" | "P-384";

const CURVES = {
  "P-256": { hash: "SHA-256", nodeHash: "sha256", scalarLength: 32 },
  "P-384": { hash: "SHA-384", nodeHash: "sha384", scalarLength: 48 },
} as const;

/** DER of SubjectPublicKeyInfo up to the point: id-ecPublicKey, the named curve, a bit string (RFC 5480 section 2). */
const SPKI_PREFIX: Readonly<Record<Curve, Uint8Array>> = {
  "P-256": Uint8Array.of(
    0x30,
    0x59,
    0x30,
    0x13,
    0x06,
    0x07,
    0x2a,
    0x86,
    0x48,
    0xce,
    0x3d,
    0x02,
    0x01,
    0x06,
    0x08,
    0x2a,
    0x86,
    0x48,
    0xce,
    0x3d,
    0x03,
    0x01,
    0x07,
    0x03,
    0x42,
    0x00,
  ),
  "P-384": Uint8Array.of(
    0x30,
    0x76,
    0x30,
    0x10,
    0x06,
    0x07,
    0x2a,
    0x86,
    0x48,
    0xce,
    0x3d,
    0x02,
    0x01,
    0x06,
    0x05,
    0x2b,
    0x81,
    0x04,
    0x00,
    0x22,
    0x03,
    0x62,
    0x00,
  ),
};

/** A public key, ready to verify with its curve's hash. */
export interface VerifyingKey {
  /** Whether the signature, raw `r ‖ s`, over the message is this key's. Never throws for a bad signature. */
  verify(message: Uint8Array, signature: Uint8Array): boolean | Promise<boolean>;
}

/**
 * The part of `node:crypto` that is used, spelled out so that no type of Node is needed to compile against this
 * package.
 */
interface NodeCrypto {
  createPublicKey(input: object): NodeKey;
  verify(hash: string, message: Uint8Array, key: NodeKeyInput, signature: Uint8Array): boolean;
  verify(
    hash: string,
    message: Uint8Array,
    key: NodeKeyInput,
    signature: Uint8Array,
    done: (error: Error | null, valid: boolean) => void,
  ): void;
  createHash(algorithm: string): { update(bytes: Uint8Array): { digest(): Uint8Array } };
}
type NodeKey = object;
interface NodeKeyInput {
  readonly key: NodeKey;
  readonly dsaEncoding: "ieee-p1363";
}

/**
 * Node's cryptography, or a runtime's that offers the same; undefined in a browser. No import, so that none is bundled.
 */
export function nodeCrypto(): NodeCrypto | undefined {
  const runtime = (globalThis as { process?: { getBuiltinModule?: (id: string) => unknown } }).process;
  return runtime?.getBuiltinModule?.("node:crypto") as NodeCrypto | undefined;
}

/** The uncompressed point (SEC1, `04 ‖ x ‖ y`) inside a SubjectPublicKeyInfo of the curve; null for any other key. */
export function pointOfSpki(curve: Curve, spki: Uint8Array): Uint8Array | null {
  const prefix = SPKI_PREFIX[curve];
  if (spki.length !== prefix.length + 1 + 2 * CURVES[curve].scalarLength) return null;
  return prefix.every((byte, index) => spki[index] === byte) ? spki.subarray(prefix.length) : null;
}

/** The key of an uncompressed point; null where the bytes are no point of the curve. */
export async function importPoint(curve: Curve, point: Uint8Array): Promise<VerifyingKey | null> {
  if (point.length !== 1 + 2 * CURVES[curve].scalarLength || point[0] !== 0x04) return null;
  const node = nodeCrypto();
  if (node !== undefined) return nodeKey(node, curve, point);
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  return subtle === undefined ? nobleKey(curve, point) : webKey(subtle, curve, point);
}

function nodeKey(node: NodeCrypto, curve: Curve, point: Uint8Array): VerifyingKey | null {
  let key: NodeKey;
  try {
    key = node.createPublicKey(nodeKeyInput(curve, point));
  } catch {
    return null;
  }
  return {
    verify(message, signature) {
      const input = { key, dsaEncoding: "ieee-p1363" } as const;
      if (curve === "P-256") return node.verify(CURVES[curve].nodeHash, message, input, signature);
      // P-384 is slow enough to be worth another thread: the links of a path are verified side by side.
      return new Promise((resolve) => {
        node.verify(CURVES[curve].nodeHash, message, input, signature, (error, valid) =>
          resolve(error === null && valid),
        );
      });
    },
  };
}

/** Both forms hold the point against the curve; each is the one that Node imports faster for its curve. */
function nodeKeyInput(curve: Curve, point: Uint8Array): object {
  if (curve === "P-384") return { key: concatBytes(SPKI_PREFIX[curve], point), format: "der", type: "spki" };
  const coordinate = (from: number): string =>
    toBase64(point.subarray(from, from + 32)).replace(/[+/=]/g, (char) => ({ "+": "-", "/": "_" })[char] ?? "");
  return { key: { kty: "EC", crv: curve, x: coordinate(1), y: coordinate(33) }, format: "jwk" };
}

async function webKey(subtle: SubtleCrypto, curve: Curve, point: Uint8Array): Promise<VerifyingKey | null> {
  let key: CryptoKey;
  try {
    key = await subtle.importKey("raw", point as BufferSource, { name: "ECDSA", namedCurve: curve }, false, ["verify"]);
  } catch {
    return null;
  }
  const { hash, scalarLength } = CURVES[curve];
  return {
    async verify(message, signature) {
      if (signature.length !== 2 * scalarLength) return false;
      return subtle.verify({ name: "ECDSA", hash }, key, signature as BufferSource, message as BufferSource);
    },
  };
}

async function nobleKey(curve: Curve, point: Uint8Array): Promise<VerifyingKey | null> {
  const { p256, p384 } = await import("@noble/curves/nist.js");
  const noble = curve === "P-256" ? p256 : p384;
  try {
    noble.Point.fromBytes(point).assertValidity();
  } catch {
    return null;
  }
  const { scalarLength } = CURVES[curve];
  return {
    verify(message, signature) {
      if (signature.length !== 2 * scalarLength) return false;
      try {
        return noble.verify(signature, message, point, { lowS: false, prehash: true, format: "compact" });
      } catch {
        return false;
      }
    },
  };
}

/** `r ‖ s` of an ECDSA-Sig-Value (RFC 3279 section 2.2.3) in strict DER; null where it is none. */
export function rawSignature(der: Uint8Array, scalarLength: number): Uint8Array | null {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return null;
  const raw = new Uint8Array(2 * scalarLength);
  let at = 2;
  for (const end of [scalarLength, 2 * scalarLength]) {
    const length = der[at + 1];
    if (der[at] !== 0x02 || length === undefined || length === 0 || at + 2 + length > der.length) return null;
    const integer = der.subarray(at + 2, at + 2 + length);
    const [first, second] = integer;
    if (first! > 0x7f || (first === 0 && length > 1 && second! <= 0x7f)) return null;
    const scalar = first === 0 ? integer.subarray(1) : integer;
    if (scalar.length > scalarLength) return null;
    raw.set(scalar, end - scalar.length);
    at += 2 + length;
  }
  return at === der.length ? raw : null;
}

const P256_P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const P256_B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/** Whether 65 bytes are an uncompressed point of P-256 (SEC1 section 2.3.4), the point at infinity excluded. */
export function isP256Point(point: Uint8Array): boolean {
  if (point.length !== 65 || point[0] !== 0x04) return false;
  const view = new DataView(point.buffer, point.byteOffset, point.length);
  const x = scalar(view, 1);
  const y = scalar(view, 33);
  return x < P256_P && y < P256_P && (y * y - (x * x - 3n) * x - P256_B) % P256_P === 0n;
}

function scalar(view: DataView, offset: number): bigint {
  let value = 0n;
  for (let i = 0; i < 32; i += 8) value = (value << 64n) | view.getBigUint64(offset + i);
  return value;
}
