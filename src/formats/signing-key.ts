/** Decides which keys can sign attestation results, and by which algorithm. No message shows a key. */

import { toUtf8 } from "../bytes.js";
import { copyPlain } from "../decode/input.js";

/** A private key as a JSON Web Key (RFC 7517): EC P-256, P-384 or P-521, Ed25519, or RSA of 2048 bits and more. */
export interface SigningJwk {
  readonly kty: string;
  readonly alg?: string;
  readonly kid?: string;
  readonly [member: string]: unknown;
}

interface Signer {
  readonly header: { readonly alg: string; readonly kid: string };
  /** What jose imported. No type of the platform is named, because not every runtime declares it. */
  readonly privateKey: unknown;
}

type Members = Readonly<Record<string, unknown>>;

interface KeyKind {
  /** The algorithms (RFC 7518 section 3.1, RFC 8037 section 3.1, RFC 9864). The first is the default. */
  readonly algorithms: readonly [string, ...string[]];
  readonly publicMembers: readonly string[];
  readonly privateMembers: readonly string[];
}

const POINT = { publicMembers: ["kty", "crv", "x", "y"], privateMembers: ["d"] } as const;

/** The kinds of keys by `kty`, with `crv` for those that have a curve. */
const KINDS: Readonly<Record<string, KeyKind>> = {
  "EC P-256": { algorithms: ["ES256"], ...POINT },
  "EC P-384": { algorithms: ["ES384"], ...POINT },
  "EC P-521": { algorithms: ["ES512"], ...POINT },
  "OKP Ed25519": { algorithms: ["EdDSA", "Ed25519"], publicMembers: ["kty", "crv", "x"], privateMembers: ["d"] },
  RSA: {
    algorithms: ["PS256", "PS384", "PS512", "RS256", "RS384", "RS512"],
    publicMembers: ["kty", "n", "e"],
    privateMembers: ["d", "p", "q", "dp", "dq", "qi"],
  },
};
export const ALGORITHMS: readonly string[] = Object.values(KINDS).flatMap(({ algorithms }) => algorithms);
const WANTED = "expected P-256, P-384, P-521, Ed25519 or RSA";
const MIN_RSA_BITS = 2048;

/**
 * Reads a signing key, and tries it: its public half has to verify a signature. `alg` is what the caller asks for. A
 * key without `kid` gets its thumbprint (RFC 7638). Throws TypeError for a key that cannot or should not sign; no
 * message shows the key.
 */
export async function signerOf(jwk: unknown, alg?: string): Promise<Signer> {
  if (typeof jwk !== "object" || jwk === null || Array.isArray(jwk))
    throw refused("expected a JSON Web Key, an object");
  // The copy has no prototype, so inherited members are not read.
  const members = copyPlain(jwk) as Members;
  const kind = kindOf(members);
  refuseOtherUse(members);
  const missing = [...kind.publicMembers, ...kind.privateMembers].filter((name) => !isText(members[name]));
  if (missing.includes("d")) throw refused("it is a public key; expected the private key");
  if (missing.length > 0) throw refused(`${missing.join(", ")} missing, or not text`);
  if (members["kty"] === "RSA") refuseWeakRsa(members);
  return triedSigner(members, kind, algorithmOf(members, kind, alg));
}

async function triedSigner(members: Members, kind: KeyKind, alg: string): Promise<Signer> {
  const { CompactSign, calculateJwkThumbprint, compactVerify, importJWK } = await import("jose");
  const kid = kidOf(members);
  try {
    const publicKey = await importJWK(picked(members, kind.publicMembers), alg);
    const privateKey = await importJWK(picked(members, [...kind.publicMembers, ...kind.privateMembers]), alg);
    await compactVerify(await new CompactSign(toUtf8("trial")).setProtectedHeader({ alg }).sign(privateKey), publicKey);
    return { header: { alg, kid: kid ?? (await calculateJwkThumbprint(publicKey as CryptoKey)) }, privateKey };
  } catch {
    throw refused("damaged, or its members are of different keys");
  }
}

function kindOf({ kty, crv, keys }: Members): KeyKind {
  if (Array.isArray(keys)) throw refused("it is a set of keys; give one key");
  if (!isText(kty)) throw refused("it is not a JSON Web Key: it has no kty (RFC 7517)");
  if (kty === "oct") throw refused("it is a symmetric key: anyone who can check a result with it can forge one");
  const name = kty === "EC" || kty === "OKP" ? `${kty} ${isText(crv) ? crv : ""}` : kty;
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (kind !== undefined) return kind;
  throw refused(
    name.startsWith(kty) && isKnownCurve(crv) ? `its curve is ${crv}: ${WANTED}` : `it is of another kind: ${WANTED}`,
  );
}

/** Whether `crv` is a known curve, which a message may quote. Any other text may be secret. */
function isKnownCurve(crv: unknown): crv is string {
  return isText(crv) && ["secp256k1", "X25519", "Ed448", "X448"].includes(crv);
}

/** Refuses a key for another use (RFC 7517 sections 4.2 and 4.3). */
function refuseOtherUse({ use, key_ops: operations }: Members): void {
  if (use !== undefined && use !== "sig") throw refused('its "use" is not "sig", so it is not for signing');
  const signs = operations === undefined || (Array.isArray(operations) && operations.includes("sign"));
  if (!signs) throw refused('its "key_ops" has no "sign", so it is not for signing');
}

function refuseWeakRsa({ n, oth }: Members): void {
  if (oth !== undefined) throw refused("RSA with more than two primes");
  const bits = 6 * String(n).replace(/^A+/, "").length;
  if (bits < MIN_RSA_BITS) throw refused(`RSA of fewer than ${MIN_RSA_BITS} bits`);
}

/**
 * Returns what the caller asks for, else the key's `alg`, else the first of its kind. JWKs that Node and Bun export
 * have the newer name `Ed25519`, which most readers refuse: only a caller chooses that.
 */
function algorithmOf({ alg: own }: Members, { algorithms }: KeyKind, asked?: string): string {
  const alg = asked ?? own;
  const known = alg === undefined ? algorithms[0] : algorithms.find((name) => name === alg);
  if (known === undefined)
    throw refused(
      `${asked === undefined ? 'its "alg"' : "the algorithm"} does not fit this kind of key: ` +
        `expected ${algorithms.join(", ")}`,
    );
  return asked === undefined && known === "Ed25519" ? algorithms[0] : known;
}

function kidOf({ kid }: Members): string | null {
  if (kid === undefined) return null;
  if (typeof kid !== "string") throw refused('its "kid" is not text');
  return kid;
}

function picked(members: Members, names: readonly string[]): SigningJwk {
  return Object.fromEntries(names.map((name) => [name, members[name]])) as SigningJwk;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function refused(why: string): TypeError {
  return new TypeError(`signing key: ${why}`);
}
