/**
 * A bounded cache of signatures that were found valid, and of keys that were imported. Whether a signature is valid
 * depends on key, message and signature alone, so that the cache changes nothing but the time it takes: dates, names,
 * constraints and policies are checked anew each time. Invalid signatures are not cached.
 */
import { concatBytes, toHex } from "../bytes.js";
import { sha256 } from "./digest.js";
import { type Curve, type VerifyingKey, importPoint } from "./ecdsa.js";

const DEFAULT_LIMIT = 1024;
const POINT_LENGTHS: Readonly<Record<Curve, number>> = { "P-256": 65, "P-384": 97 };

export class SignatureCache {
  readonly #limit: number;
  readonly #keys = new Map<string, Promise<VerifyingKey | null>>();
  readonly #valid = new Map<string, true>();

  /** `limit`: how many signatures, and how many keys, are kept; the oldest go first. Throws TypeError below 1. */
  constructor(limit: number = DEFAULT_LIMIT) {
    if (!Number.isInteger(limit) || limit < 1) throw new TypeError("limit: a whole number of 1 or more wanted");
    this.#limit = limit;
  }

  /** The key of an uncompressed point; null where the bytes are no point of the curve. */
  key(curve: Curve, point: Uint8Array): Promise<VerifyingKey | null> {
    const name = `${curve}:${toHex(point)}`;
    const known = this.#keys.get(name);
    if (known !== undefined) return known;
    const key = importPoint(curve, point);
    this.#keep(this.#keys, name, key);
    return key;
  }

  /**
   * Whether `r ‖ s` is the key's signature over the message (ECDSA with the curve's hash); false where the key is none.
   */
  async verify(curve: Curve, point: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean> {
    if (point.length !== POINT_LENGTHS[curve]) return false;
    // Copied, so that what is verified is what is cached, whatever the caller does to its buffers meanwhile.
    const [key, signed, proof] = [new Uint8Array(point), new Uint8Array(message), new Uint8Array(signature)];
    // Curve and point are of one length each, and the signature's is named: the parts cannot be shifted against each
    // other.
    const name = `${curve}:${proof.length}:${toHex(await sha256(concatBytes(key, proof, signed)))}`;
    if (this.#valid.has(name)) return true;
    const verifying = await this.key(curve, key);
    const valid = verifying !== null && (await verifying.verify(signed, proof));
    if (valid) this.#keep(this.#valid, name, true);
    return valid;
  }

  #keep<T>(entries: Map<string, T>, name: string, value: T): void {
    if (entries.size >= this.#limit) entries.delete(entries.keys().next().value!);
    entries.set(name, value);
  }
}
