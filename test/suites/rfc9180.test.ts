/**
 * RFC 9180's vectors of DHKEM(P-256, HKDF-SHA256), through the client's own two doors. These fix `info` and what is
 * authenticated, so that no ciphertext of the RFC opens: each vector's keys and shared secret are taken, and the rest
 * of HPKE is spelled out beside them, which the vectors of this suite hold first.
 */
import { createCipheriv, createECDH } from "node:crypto";
import { describe, expect, it } from "vitest";
import { openBundle, sealBundle } from "../../src/client/credential-bundle.js";
import type { WebKeyPair } from "../../src/door/platform.js";
import { compressedPoint, keySchedule, openByHand, sharedSecret, toBase58check } from "../client/hpke-by-hand.js";
import { readSuite } from "./data.js";

interface Vector {
  readonly mode: 0 | 1 | 2 | 3;
  readonly kdf_id: number;
  readonly aead_id: number;
  readonly info: string;
  readonly skRm: string;
  readonly pkRm: string;
  readonly skEm: string;
  readonly enc: string;
  readonly shared_secret: string;
  readonly key?: string;
  readonly base_nonce?: string;
  /** Of the client's suite alone. */
  readonly encryptions?: readonly { readonly aad: string; readonly ct: string; readonly pt: string }[];
}

const vectors = readSuite<Vector[]>("rfc9180-p256.json.gz");
const MODES = ["base", "psk", "auth", "auth_psk"] as const;
const rows = vectors.map((vector) => ({
  name: `${MODES[vector.mode]}, KDF ${vector.kdf_id}, AEAD ${vector.aead_id}`,
  vector,
}));
/** The modes that authenticate the sender mix its key into the shared secret; the client's is the base mode. */
const plain = rows.filter(({ vector }) => vector.mode <= 1);
const authenticated = rows.filter(({ vector }) => vector.mode >= 2);
const bytes = (hex: string): Buffer<ArrayBuffer> => Buffer.from(hex, "hex");
const INFO = Buffer.from("turnkey_hpke");
const SECRET = Buffer.from("what is sealed");

async function receiverOf({ skRm, pkRm }: Vector): Promise<WebKeyPair> {
  const { subtle } = globalThis.crypto;
  const algorithm = { name: "ECDH", namedCurve: "P-256" };
  const point = bytes(pkRm);
  const [x, y, d] = [point.subarray(1, 33), point.subarray(33), bytes(skRm)].map((part) => part.toString("base64url"));
  const jwk = { kty: "EC", crv: "P-256", x: x!, y: y!, d: d! };
  return {
    privateKey: await subtle.importKey("jwk", jwk, algorithm, false, ["deriveBits"]),
    publicKey: await subtle.importKey("raw", point, algorithm, true, []),
  };
}

/** A bundle of the vector's encapsulated key, sealed with what follows from its shared secret. */
function bundleOf({ enc, pkRm, shared_secret }: Vector, info: Buffer = INFO, aad = bytes(enc + pkRm)): string {
  const { key, nonce } = keySchedule(bytes(shared_secret), info);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(aad);
  const sealed = Buffer.concat([cipher.update(SECRET), cipher.final(), cipher.getAuthTag()]);
  return toBase58check(Buffer.concat([compressedPoint(bytes(enc)), sealed]));
}

describe("RFC 9180", () => {
  it.each(plain)("holds what is spelled out: $name", ({ vector }) => {
    const ephemeral = createECDH("prime256v1");
    ephemeral.setPrivateKey(bytes(vector.skEm));
    const dh = ephemeral.computeSecret(bytes(vector.pkRm));
    expect(sharedSecret(dh, bytes(vector.enc), bytes(vector.pkRm)).toString("hex")).toBe(vector.shared_secret);
  });

  it("holds the key schedule, and the first ciphertext, of the client's suite", () => {
    const [vector, ...more] = vectors.filter(({ mode, encryptions }) => mode === 0 && encryptions !== undefined);
    expect(more).toEqual([]);
    const { key, nonce } = keySchedule(bytes(vector!.shared_secret), bytes(vector!.info));
    expect(key.toString("hex")).toBe(vector!.key);
    expect(nonce.toString("hex")).toBe(vector!.base_nonce);
    const { aad, pt, ct } = vector!.encryptions![0]!;
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(bytes(aad));
    expect(Buffer.concat([cipher.update(bytes(pt)), cipher.final(), cipher.getAuthTag()]).toString("hex")).toBe(ct);
  });

  it.each(plain)("opens by our door: $name", async ({ vector }) => {
    const receiver = await receiverOf(vector);
    expect(Buffer.from(await openBundle(bundleOf(vector), receiver))).toEqual(SECRET);
    await expect(openBundle(bundleOf(vector, bytes(vector.info)), receiver)).rejects.toThrow("does not open");
    await expect(openBundle(bundleOf(vector, INFO, bytes(vector.pkRm + vector.enc)), receiver)).rejects.toThrow(
      "does not open",
    );
  });

  it.each(authenticated)("does not open what another mode agreed upon: $name", async ({ vector }) => {
    await expect(openBundle(bundleOf(vector), await receiverOf(vector))).rejects.toThrow("does not open");
  });

  it.each(rows.filter(({ vector }) => vector.encryptions !== undefined))(
    "does not open the RFC's own ciphertexts: $name",
    async ({ vector }) => {
      const receiver = await receiverOf(vector);
      for (const { ct } of vector.encryptions!) {
        const bundle = toBase58check(Buffer.concat([compressedPoint(bytes(vector.enc)), bytes(ct)]));
        await expect(openBundle(bundle, receiver)).rejects.toThrow("sealed to another key");
      }
    },
  );

  it.each(rows)("seals by our door, to the receiver of $name", async ({ vector }) => {
    expect(openByHand(await sealBundle(SECRET, bytes(vector.pkRm)), bytes(vector.skRm))).toEqual(SECRET);
  });

  it("has the vectors of every mode", () => {
    expect(vectors).toHaveLength(32);
    expect(plain).toHaveLength(16);
  });
});
