/**
 * A bounded cache of valid signatures and imported keys. It only saves time: dates, names, constraints and policies are
 * checked each time. Invalid signatures are not cached.
 */
import { concatBytes, toHex } from "../bytes.js";
import { P256_POINT_LENGTH, P384_POINT_LENGTH } from "../decode/lengths.js";
import { sha256 } from "./digest.js";
import { type Curve, type VerifyingKey, importPoint } from "./ecdsa.js";

const DEFAULT_LIMIT = 1024;
const POINT_LENGTHS: Readonly<Record<Curve, number>> = { "P-256": P256_POINT_LENGTH, "P-384": P384_POINT_LENGTH };

/** A public key that is imported at the first verification. */
export class PublicKey implements VerifyingKey {
  readonly curve: Curve;
  readonly point: Uint8Array;
  #imported: Promise<VerifyingKey | null> | undefined;

  constructor(curve: Curve, point: Uint8Array) {
    this.curve = curve;
    this.point = new Uint8Array(point);
  }

  /** Returns the imported key, or null if the point is not on the curve. */
  imported(): Promise<VerifyingKey | null> {
    this.#imported ??= importPoint(this.curve, this.point);
    return this.#imported;
  }

  /** Verifies a signature `r ‖ s`. Returns false if the point is not on the curve. */
  async verify(message: Uint8Array, signature: Uint8Array): Promise<boolean> {
    const key = await this.imported();
    return key !== null && key.verify(message, signature);
  }
}

export class SignatureCache {
  readonly #limit: number;
  readonly #keys = new Map<string, PublicKey>();
  /** Valid signatures, in a separate map for each curve: app proofs must not displace certificates. */
  readonly #valid: Readonly<Record<Curve, Map<string, true>>> = { "P-256": new Map(), "P-384": new Map() };

  /**
   * `limit` is the maximum number of signatures of each curve, and of keys. The least recently used are dropped first.
   * Throws TypeError unless `limit` is a whole number of 1 or more.
   */
  constructor(limit: number = DEFAULT_LIMIT) {
    if (!Number.isInteger(limit) || limit < 1) throw new TypeError("limit: expected a whole number of 1 or more");
    this.#limit = limit;
  }

  /** Returns the imported key, or null if the point is not on the curve. */
  key(curve: Curve, point: Uint8Array): Promise<VerifyingKey | null> {
    return this.#publicKey(curve, point).imported();
  }

  /** Verifies ECDSA with the curve's hash and a signature `r ‖ s`. Returns false if the point is not on the curve. */
  verify(curve: Curve, point: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
    return this.verifyBy(this.#publicKey(curve, point), message, signature);
  }

  async verifyBy(key: PublicKey, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
    if (key.point.length !== POINT_LENGTHS[key.curve]) return false;
    // Callers cannot change this copy during verification. Its name in the cache includes the signature's length, so
    // that bytes cannot move between signature and message.
    const whole = concatBytes(key.point, signature, message);
    const proof = whole.subarray(key.point.length, key.point.length + signature.length);
    const signed = whole.subarray(key.point.length + signature.length);
    const known = this.#valid[key.curve];
    const name = `${proof.length}:${toHex(await sha256(whole))}`;
    const isValid = known.has(name) || (await key.verify(signed, proof));
    if (isValid) this.#keep(known, name, true);
    return isValid;
  }

  #publicKey(curve: Curve, point: Uint8Array): PublicKey {
    const name = `${curve}:${toHex(point)}`;
    const key = this.#keys.get(name) ?? new PublicKey(curve, point);
    this.#keep(this.#keys, name, key);
    return key;
  }

  #keep<T>(entries: Map<string, T>, name: string, value: T): void {
    entries.delete(name);
    if (entries.size >= this.#limit) entries.delete(entries.keys().next().value!);
    entries.set(name, value);
  }
}
