/**
 * Feeds of signed policies for tests. Keys, payloads and envelopes are made with node:crypto alone, so that they do not
 * depend on the code that is tested.
 */
import { type KeyObject, createHash, generateKeyPairSync, sign } from "node:crypto";

export type TestKeyType = "p256" | "p384" | "ed25519";

export interface TestSigner {
  readonly privateKey: KeyObject;
  /** SPKI. */
  readonly pem: string;
  readonly keyid: string;
  sign(message: Uint8Array): Buffer;
}

export function newSigner(type: TestKeyType = "p256"): TestSigner {
  const { privateKey, publicKey } =
    type === "ed25519"
      ? generateKeyPairSync("ed25519")
      : generateKeyPairSync("ec", { namedCurve: type === "p256" ? "P-256" : "P-384" });
  const digest = { p256: "sha256", p384: "sha384", ed25519: null }[type];
  return {
    privateKey,
    pem: publicKey.export({ type: "spki", format: "pem" }).toString(),
    keyid: sha256Hex(publicKey.export({ type: "spki", format: "der" })),
    sign: (message) => sign(digest, message, privateKey),
  };
}

export function sha256Hex(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** A set of signers as JSON, as in a payload. With a name it is what a consumer pins. */
export function setOf(signers: readonly TestSigner[], threshold = 1): { threshold: number; keys: string[] } {
  return { threshold, keys: signers.map(({ pem }) => pem) };
}

export const SIGNED_POLICY_TYPE = "application/vnd.bootproof.signed-policy+json";

export interface TestEnvelope {
  readonly payloadType: string;
  readonly payload: string;
  readonly signatures: readonly { readonly keyid?: string; readonly sig: string }[];
}

/** Signs a payload: bytes, text, or a value that is written as JSON. */
export function envelopeOf(
  payload: Uint8Array | string | object,
  signers: readonly TestSigner[],
  payloadType = SIGNED_POLICY_TYPE,
): TestEnvelope {
  const isRaw = payload instanceof Uint8Array || typeof payload === "string";
  const bytes = Buffer.from(isRaw ? (payload as string) : JSON.stringify(payload));
  const signed = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} `), bytes]);
  return {
    payloadType,
    payload: bytes.toString("base64"),
    signatures: signers.map((one) => ({ keyid: one.keyid, sig: one.sign(signed).toString("base64") })),
  };
}

export function payloadIn({ payload }: TestEnvelope): Buffer {
  return Buffer.from(payload, "base64");
}

export const DAY = 86_400_000;

export interface TestVersion {
  readonly policy: object;
  readonly issuedAt: Date;
  /** Milliseconds. Default: 14 days. */
  readonly valid?: number;
  /** Who signs this version. Default: everybody of the set in force, and of the new set. */
  readonly by?: readonly TestSigner[];
  /** Who signs the next version. Default: the set in force. */
  readonly next?: readonly TestSigner[];
  readonly threshold?: number;
  /** Members of the payload to replace. */
  readonly change?: object;
}

/** A feed that grows. Its versions are signed as told, whether that is right or not. */
export class TestFeed {
  readonly name: string;
  /** What a consumer pins. */
  readonly pinned: { readonly name: string; readonly threshold: number; readonly keys: readonly string[] };
  readonly envelopes: TestEnvelope[] = [];
  #inForce: readonly TestSigner[];
  #threshold: number;

  constructor(signers: readonly TestSigner[] = [newSigner()], threshold = 1, name = "test/signer") {
    [this.name, this.#inForce, this.#threshold] = [name, signers, threshold];
    this.pinned = { name, ...setOf(signers, threshold) };
  }

  /** Adds the next version, and returns its envelope. */
  add({ policy, issuedAt, valid = 14 * DAY, by, next, threshold, change = {} }: TestVersion): TestEnvelope {
    const [before, set] = [this.envelopes.at(-1), next ?? this.#inForce];
    const needed = threshold ?? this.#threshold;
    const payload = {
      signedPolicy: "bootproof-signed-policy/1",
      name: this.name,
      version: this.envelopes.length + 1,
      previous: before === undefined ? null : sha256Hex(payloadIn(before)),
      issuedAt: issuedAt.toISOString(),
      expiresAt: new Date(issuedAt.getTime() + valid).toISOString(),
      signers: setOf(set, needed),
      policy,
      ...change,
    };
    const envelope = envelopeOf(payload, by ?? [...new Set([...this.#inForce, ...set])]);
    this.envelopes.push(envelope);
    [this.#inForce, this.#threshold] = [set, needed];
    return envelope;
  }

  /** The feed's text, of all versions or from one version to another. */
  text(from = 1, to = this.envelopes.length): string {
    return this.envelopes
      .slice(from - 1, to)
      .map((envelope) => `${JSON.stringify(envelope)}\n`)
      .join("");
  }
}
