/** Signers with fixed keys, and feeds of them: the same bytes in each run, with nothing of `src/`. */
import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256, p384 } from "@noble/curves/nist.js";

export const PAYLOAD_TYPE = "application/vnd.bootproof.signed-policy+json";

export interface TestKey {
  readonly type: "P-256" | "P-384" | "Ed25519";
  readonly secret: Uint8Array;
  readonly spki: Buffer;
  readonly pem: string;
  readonly keyid: string;
  /** Deterministic: RFC 6979 with whatever s comes out, or RFC 8032. */
  readonly sign: (message: Uint8Array) => Uint8Array;
}

export const sha256 = (content: Uint8Array | string): string => createHash("sha256").update(content).digest("hex");

/** SubjectPublicKeyInfo up to the key: RFC 5480, RFC 8410. */
export const SPKI = {
  "P-256": Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex"),
  "P-384": Buffer.from("3076301006072a8648ce3d020106052b81040022036200", "hex"),
  Ed25519: Buffer.from("302a300506032b6570032100", "hex"),
} as const;

export function pemOf(spki: Uint8Array, newline = "\n"): string {
  const lines = Buffer.from(spki)
    .toString("base64")
    .match(/.{1,64}/g)!;
  return ["-----BEGIN PUBLIC KEY-----", ...lines, "-----END PUBLIC KEY-----", ""].join(newline);
}

const RAW = { prehash: true, lowS: false, format: "der" } as const;

function keyOf(type: TestKey["type"], name: string): TestKey {
  const secret = createHash(type === "P-384" ? "sha384" : "sha256")
    .update(`bootproof test key ${name}`)
    .digest();
  const curve = type === "P-256" ? p256 : p384;
  const publicKey = type === "Ed25519" ? ed25519.getPublicKey(secret) : curve.getPublicKey(secret, false);
  const spki = Buffer.concat([SPKI[type], publicKey]);
  const made = new Map<string, Uint8Array>();
  // The same signature each time, which takes milliseconds, and which long histories ask for again and again.
  const sign = (message: Uint8Array): Uint8Array => {
    const digest = sha256(message);
    const known = made.get(digest);
    if (known !== undefined) return known;
    const signature = type === "Ed25519" ? ed25519.sign(message, secret) : curve.sign(message, secret, RAW);
    made.set(digest, signature);
    return signature;
  };
  return { type, secret, spki, pem: pemOf(spki), keyid: sha256(spki), sign };
}

export const ALICE = keyOf("P-256", "alice");
export const BOB = keyOf("P-384", "bob");
export const CAROL = keyOf("Ed25519", "carol");
export const DAVE = keyOf("P-256", "dave");
export const ERIN = keyOf("Ed25519", "erin");
export const MALLORY = keyOf("P-256", "mallory");
/** As many keys as are asked for. */
export const CROWD = (count: number): TestKey[] =>
  [...Array(count).keys()].map((at) => keyOf("Ed25519", `crowd ${at}`));

export interface SetFile {
  readonly threshold: number;
  readonly keys: readonly string[];
}

export const setOf = (threshold: number, ...keys: readonly TestKey[]): SetFile => ({
  threshold,
  keys: keys.map(({ pem }) => pem),
});

export const NAME = "prod/signer";
/** Two of three keys, of each type one. */
export const TEAM = setOf(2, ALICE, BOB, CAROL);

export interface SignatureFile {
  readonly keyid?: string;
  readonly sig: string;
}

export interface EnvelopeFile {
  readonly payloadType: string;
  readonly payload: string;
  readonly signatures: readonly SignatureFile[];
}

export interface PayloadMembers {
  readonly signedPolicy: string;
  readonly name: string;
  readonly version: number;
  readonly previous: string | null;
  readonly issuedAt: string;
  readonly expiresAt: string;
  readonly signers: SetFile;
  readonly policy: Record<string, unknown>;
}

/** What differs from a good version that follows the one before. */
export interface VersionChanges extends Partial<PayloadMembers> {
  /** Who signs. Default: the first keys of the set in force, as many as must. */
  readonly by?: readonly TestKey[];
  /** Changes the payload's text before it is signed. */
  readonly text?: (text: string) => string | Uint8Array;
  readonly signatures?: (pae: Buffer, payload: Buffer) => readonly SignatureFile[];
  /** Changes the finished envelope; a text is the line. */
  readonly envelope?: (envelope: EnvelopeFile) => object | string;
}

export interface MadeVersion {
  readonly line: string;
  readonly members: PayloadMembers;
  readonly sha256: string;
  readonly by: readonly TestKey[];
  readonly envelope: EnvelopeFile;
}

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

export function paeOf(payload: Uint8Array, type = PAYLOAD_TYPE): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

export const signatureOf = (key: TestKey, message: Uint8Array): SignatureFile => ({
  keyid: key.keyid,
  sig: base64(key.sign(message)),
});

export const at = (time: Date | number): string => new Date(time).toISOString().replace(".000Z", "Z");

export const policyFor = (version: number): Record<string, unknown> => ({
  policy: "bootproof/1",
  deployments: [{ name: `r${version}`, manifestHash: sha256(`release ${version}`) }],
});

const ALL_KEYS = [ALICE, BOB, CAROL, DAVE, ERIN, MALLORY, ...CROWD(33)];
export const keysOf = ({ keys }: SetFile): TestKey[] =>
  keys.map((pem) => ALL_KEYS.find((key) => key.pem.replace(/\s/g, "") === pem.replace(/\s/g, ""))!);

const DAY = 86_400_000;
const START = Date.UTC(2026, 9, 1);

/**
 * Makes the versions of a feed, each by what differs. Version n is issued n days after 1 October 2026 (30 at most), for
 * 90 days.
 */
export function versionsOf(changes: readonly VersionChanges[], first: SetFile = TEAM): MadeVersion[] {
  const made: MadeVersion[] = [];
  let inForce = first;
  for (const { by, text, signatures, envelope: changed, ...members } of changes) {
    const before = made.at(-1);
    const version = members.version ?? (before === undefined ? 1 : before.members.version + 1);
    const issued = START + Math.min(version, 30) * DAY;
    const whole: PayloadMembers = {
      signedPolicy: "bootproof-signed-policy/1",
      name: NAME,
      version,
      previous: version === 1 ? null : (before?.sha256 ?? sha256("the payload before")),
      issuedAt: at(issued),
      expiresAt: at((members.issuedAt === undefined ? issued : Date.parse(members.issuedAt)) + 90 * DAY),
      signers: inForce,
      policy: policyFor(version),
      ...members,
    };
    const json = JSON.stringify(whole);
    const payload = Buffer.from(text === undefined ? json : text(json));
    const signing = by ?? keysOf(inForce).slice(0, inForce.threshold);
    const envelope: EnvelopeFile = {
      payloadType: PAYLOAD_TYPE,
      payload: base64(payload),
      signatures: signatures?.(paeOf(payload), payload) ?? signing.map((key) => signatureOf(key, paeOf(payload))),
    };
    const shown = changed?.(envelope) ?? envelope;
    const line = typeof shown === "string" ? shown : JSON.stringify(shown);
    made.push({ line, members: whole, sha256: sha256(payload), by: signing, envelope });
    inForce = whole.signers;
  }
  return made;
}

export const feedOf = (versions: readonly Pick<MadeVersion, "line">[]): string =>
  versions.map(({ line }) => `${line}\n`).join("");

export const sortedIds = (set: SetFile): string[] =>
  keysOf(set)
    .map(({ keyid }) => keyid)
    .sort();

export function pinnedDigest({ name = NAME, threshold, keys }: SetFile & { readonly name?: string }): string {
  return sha256(JSON.stringify({ keyids: sortedIds({ threshold, keys }), name, threshold }));
}

export function stateOf({ envelope, members }: MadeVersion, pinned: string = pinnedDigest(TEAM)): string {
  return `${JSON.stringify({
    state: "bootproof-signed-policy-state/1",
    pinned,
    envelope,
    signers: members.signers,
  })}\n`;
}
