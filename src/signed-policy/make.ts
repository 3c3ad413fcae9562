/** For those who decide: keys, versions, signatures, reviews and feeds (signed-policy/README.md, "Signers"). */
import { type PolicyDescription, describePolicy } from "../appraise/describe.js";
import { parsePolicy } from "../appraise/policy.js";
import { MAX_VALID_MS, PAYLOAD_FORMAT, type PayloadFile } from "../appraise/signed-payload.js";
import { concatBytes, equalBytes, fromHex, fromUtf8, toBase64, toUtf8 } from "../bytes.js";
import { date, plain, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, optional, text, wholeNumber } from "../decode/shapes.js";
import { type Difference, diffUnverified } from "../diff/diff.js";
import { attemptLater, faultText } from "../errors.js";
import { ecdsaSigner, ed25519Signer } from "../verify/cryptography.js";
import { sha256, sha384 } from "../verify/digest.js";
import { PAYLOAD_TYPE, malformed, readEnvelope, signersOf } from "./envelope.js";
import { SignedPolicyError } from "./errors.js";
import * as feeds from "./feed.js";
import { type KeyType, type SignerKey, type SignerSet, derIn, pemOf, readSignerKey, spkiOf } from "./keys.js";
import { type PolicyVersion, policyOf, readVersion } from "./payload.js";

/** A key that signs. Nothing shows its private half. */
export interface PolicyKey {
  readonly publicKey: SignerKey;
  sign(message: Uint8Array): Uint8Array;
}

/** PKCS#8 as openssl writes it: what is before the secret, the secret's length, and what is before the public key. */
const PKCS8: Readonly<Record<KeyType, readonly [head: string, length: number, beforePoint: string]>> = {
  "P-256": ["308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420", 32, "a144034200"],
  "P-384": ["3081b6020100301006072a8648ce3d020106052b8104002204819e30819b0201010430", 48, "a164036200"],
  Ed25519: ["302e020100300506032b657004220420", 32, ""],
};

/** Returns null if the secret is not a private key of this type. */
async function keyOf(type: KeyType, secret: Uint8Array): Promise<{ key: PolicyKey; pem: string } | null> {
  const signer = await (type === "Ed25519" ? ed25519Signer(secret) : ecdsaSigner(type, secret));
  if (signer === null) return null;
  const [head, , beforePoint] = PKCS8[type];
  const point = type === "Ed25519" ? [] : [fromHex(beforePoint)!, signer.publicKey];
  const publicKey = await readSignerKey(pemOf("PUBLIC KEY", spkiOf(type, signer.publicKey)));
  const pem = pemOf("PRIVATE KEY", concatBytes(fromHex(head)!, secret, ...point));
  return { key: { publicKey, sign: signer.sign }, pem };
}

/**
 * Reads a private key, PEM of PKCS#8 as `openssl genpkey` writes it. Throws {@link SignedPolicyError} (`malformed`),
 * which never quotes the key.
 * @example
 * ```ts
 * const signingKey = await readSigningKey(await readFile("alice.pem", "utf8"));
 * ```
 */
export async function readSigningKey(pem: string): Promise<PolicyKey> {
  const der = derIn("PRIVATE KEY", pem);
  for (const [type, [head, length]] of Object.entries(PKCS8) as [KeyType, (typeof PKCS8)[KeyType]][]) {
    const secret = der?.slice(head.length / 2, head.length / 2 + length);
    const read = secret?.length === length ? await keyOf(type, secret) : null;
    if (read !== null && equalBytes(derIn("PRIVATE KEY", read.pem)!, der!)) return read.key;
  }
  const expected = "expected one PEM block PRIVATE KEY (PKCS#8, not encrypted) of P-256, P-384 or Ed25519";
  throw malformed("private key", `${expected}; openssl pkey -in FILE rewrites other forms`);
}

/**
 * Makes a private key, PEM of PKCS#8. `random` returns that many bytes of a secure generator.
 * @example
 * ```ts
 * const pem = await makeSigningKey("P-256", (length) => crypto.getRandomValues(new Uint8Array(length)));
 * ```
 */
export async function makeSigningKey(type: KeyType, random: (length: number) => Uint8Array): Promise<string> {
  // One of 2^32 random scalars is out of the range of P-256.
  return (await keyOf(type, random(PKCS8[type][1])))?.pem ?? makeSigningKey(type, random);
}

type Text = string | Uint8Array;

/** What the functions below take; each takes the members that it names. */
interface Given {
  /** A policy that names no files, as `selfContainedPolicy` makes it. */
  readonly policy: object;
  /** What consumers pin. `signPolicy`: the set that signs the next version; the default is the set in force. */
  readonly signers: feeds.PolicySigners | Text;
  /** The feed so far, which only version 1 does not need. Its origin is not verified, so use a copy that you trust. */
  readonly feed: Text;
  readonly envelope: Text;
  /** The key, or the PEM of a public key with the signature that a key service made under it. */
  readonly key: PolicyKey | { readonly publicKey: string; readonly signature: Uint8Array };
  readonly now: Date;
  /** Milliseconds until the version expires, at most 400 days. */
  readonly validMs: number;
  /** PEM of the key that signs. */
  readonly publicKey: string;
}
type Some<Needed extends keyof Given, Optional extends keyof Given = never> = Pick<Given, Needed> &
  Partial<Pick<Given, Optional>>;

const OPTIONS: MembersOf<Partial<Given>> = {
  ...{ policy: optional(plain), signers: optional(plain), feed: optional(plain), envelope: optional(plain) },
  ...{ key: optional(unchecked), now: optional(date), publicKey: optional(text) },
  validMs: optional(wholeNumber(1, MAX_VALID_MS)),
};

function own<T extends Partial<Given>>(options: T): T {
  return typedOptions<Partial<Given>>("options", options, OPTIONS) as T;
}

/**
 * Makes the envelope of version 1, or of the next one, with one signature, or without a key as a draft. Throws
 * {@link SignedPolicyError}.
 * @example
 * ```ts
 * const envelope = await signPolicy({ policy, signers, key: signingKey, now: new Date(), validMs: 14 * 86_400_000 });
 * ```
 */
export async function signPolicy(
  options: Some<"policy" | "now" | "validMs", "signers" | "feed" | "key">,
): Promise<string> {
  const { policy, signers, feed, key, now, validMs } = own(options);
  const before = feed === undefined ? null : await lastOf(feed);
  const { name, threshold, keys } = await nextSigners(signers, before);
  const issued = Math.max(now.getTime(), before?.issuedAt.getTime() ?? 0);
  const payload: PayloadFile = {
    ...{ signedPolicy: PAYLOAD_FORMAT, name, version: (before?.version ?? 0) + 1 },
    previous: before?.envelope.sha256 ?? null,
    issuedAt: new Date(issued).toISOString(),
    expiresAt: new Date(issued + validMs).toISOString(),
    signers: { threshold, keys },
    policy: policy as PayloadFile["policy"],
  };
  const encoded = toBase64(toUtf8(JSON.stringify(payload)));
  const draft = lineOf({ payloadType: PAYLOAD_TYPE, payload: encoded, signatures: [] });
  const successor = await readSuccessor(draft, before);
  return key === undefined ? draft : signed(successor, key);
}

async function nextSigners(
  signers: Given["signers"] | undefined,
  before: Successor["before"],
): Promise<feeds.PolicySigners> {
  if (signers !== undefined) return (await feeds.readPinnedSigners(signers)).file;
  if (before !== null) return { name: before.name, ...before.file.signers };
  throw malformed("signers", "version 1 needs the set of its signers, and any other version the feed before it");
}

/**
 * Makes the next version with the same policy and signers, as {@link signPolicy} does.
 * @example
 * ```ts
 * const envelope = await renewPolicy({ feed, key: signingKey, now: new Date(), validMs: 14 * 86_400_000 });
 * ```
 */
export async function renewPolicy(options: Some<"feed" | "now" | "validMs", "key">): Promise<string> {
  const given = own(options);
  return signPolicy({ ...given, policy: (await lastOf(given.feed)).file.policy });
}

/**
 * Adds a signature to an envelope or a draft. The key has to be in the set in force or in the version's own set. Review
 * the version before. Throws {@link SignedPolicyError}.
 * @example
 * ```ts
 * const signed = await cosignPolicy({ envelope, feed, key: signingKey });
 * ```
 */
export async function cosignPolicy(options: Some<"envelope" | "key", "feed">): Promise<string> {
  const { envelope, feed, key } = own(options);
  return signed(await readSuccessor(envelope, feed === undefined ? null : await lastOf(feed)), key);
}

/**
 * Returns what a key signs: DSSE's PAE and, for ECDSA, its digest. `publicKey` is needed for a digest if the keys of
 * the version's set have several types. Throws {@link SignedPolicyError}.
 * @example
 * ```ts
 * const digest = await (await policyToSign({ envelope })).digest();
 * ```
 */
export async function policyToSign(
  options: Some<"envelope", "publicKey">,
): Promise<{ readonly bytes: Uint8Array; digest(): Promise<Uint8Array> }> {
  const { envelope, publicKey } = own(options);
  const { envelope: read, signers } = await readDraft(envelope);
  const keys = publicKey === undefined ? signers.keys : [await readSignerKey(publicKey)];
  const types = [...new Set(keys.map(({ type }) => type))];
  const digest = async (): Promise<Uint8Array> => {
    if (types.length > 1)
      throw malformed("digest", `the keys that may sign are of ${types.join(" and ")}: name the public key`);
    if (types[0] === "Ed25519") throw malformed("digest", "a key of Ed25519 signs the bytes and not a digest");
    return types[0] === "P-256" ? sha256(read.signed) : sha384(read.signed);
  };
  return { bytes: read.signed, digest };
}

/** Facts of a version, and what it changes. */
export interface PolicyReview extends Pick<PayloadFile, "name" | "version" | "issuedAt" | "expiresAt"> {
  /** SHA-256 of its payload. */
  readonly sha256: string;
  /** Key ids of the set in force and of its own set. */
  readonly signedBy: readonly string[];
  /** Who signs this version, and who signs the next one. */
  readonly inForce: ShownSet;
  readonly signers: ShownSet;
  /** The version before. Null for the first one. */
  readonly before: Pick<PayloadFile, "version" | "expiresAt"> | null;
  /** Changes of the policy. Null for the first version, whose policy is described. */
  readonly changes: Difference | null;
  readonly policy: PolicyDescription | null;
  readonly warnings: readonly string[];
}

interface ShownSet {
  readonly threshold: number;
  readonly keys: readonly Pick<SignerKey, "type" | "keyid">[];
}

/**
 * Returns what an envelope or a draft changes against the version before. Throws {@link SignedPolicyError}.
 * @example
 * ```ts
 * const { changes, signers, before } = await reviewPolicy({ envelope, feed });
 * ```
 */
export async function reviewPolicy(options: Some<"envelope", "feed">): Promise<PolicyReview> {
  const { envelope, feed } = own(options);
  const { version, before } = await readSuccessor(envelope, feed === undefined ? null : await lastOf(feed));
  return reviewOf(version, before);
}

/**
 * Returns the feed with the envelope at its end, if consumers accept it. Throws {@link SignedPolicyError}.
 * @example
 * ```ts
 * await writeFile("feed.jsonl", await publishPolicy({ envelope, feed, signers, now: new Date() }));
 * ```
 */
export async function publishPolicy(options: Some<"envelope" | "signers" | "now", "feed">): Promise<string> {
  const { envelope, feed = "", signers, now } = own(options);
  const { version } = await readSuccessor(envelope, feed === "" ? null : await lastOf(feed));
  const before = typeof feed === "string" ? feed : (fromUtf8(feed) ?? "");
  const after = `${before}${before === "" || before.endsWith("\n") ? "" : "\n"}${lineOf(version.envelope.json)}`;
  const { pin, faults, notes } = await checkFeed({ feed: after, signers, now });
  if (pin.minVersion === version.version && faults.length === 0) return after;
  throw feeds.wrongVersion(version.version, `not in force now: ${[...faults, ...notes].join("; ")}`);
}

/** What a feed says to a consumer without a state. */
export interface FeedCheck {
  readonly format: "bootproof-feed-check/1";
  /** The versions that a consumer accepts, in order. */
  readonly versions: readonly PolicyReview[];
  /** Why the newest version is not in force, so that `policy.current` fails. */
  readonly faults: readonly string[];
  readonly notes: readonly string[];
  /**
   * What an application can pin, so that it accepts no older version: the newest version and its own set. The keys that
   * an older release pins may not have signed that version.
   */
  readonly pin: feeds.PolicySigners;
}

/**
 * Reads a feed as a consumer without a state does, and reviews its versions. Throws {@link SignedPolicyError}.
 * @example
 * ```ts
 * const { versions, faults } = await checkFeed({ feed, signers, now: new Date() });
 * ```
 */
export async function checkFeed(options: Some<"feed" | "signers" | "now">): Promise<FeedCheck> {
  const { feed, signers, now } = own(options);
  const pinned = await feeds.readPinnedSigners(signers);
  const { accepted, newest, isEarly, notes } = await feeds.walkFeed(feed, pinned, null, now);
  policyOf(newest, { signedBy: newest.signedBy, remembered: false });
  const versions: PolicyReview[] = [];
  for (const [index, version] of (isEarly ? [newest] : accepted).entries())
    versions.push(await reviewOf(version, accepted[index - 1] ?? null, pinned.set));
  const { name, version, file, expiresAt, envelope } = newest;
  const faults = [
    ...(isEarly ? [`version ${version} was issued in the future (${file.issuedAt})`] : []),
    ...(now >= expiresAt ? [`version ${version} expired at ${file.expiresAt}`] : []),
  ];
  const pin = { name, ...file.signers, minVersion: version, since: { version, sha256: envelope.sha256 } };
  return { format: "bootproof-feed-check/1", versions, faults, notes, pin };
}

/** A version, and the one before it. */
interface Successor {
  readonly version: PolicyVersion;
  readonly before: feeds.AcceptedVersion | null;
}

/** The last time of a Date, at which no version is issued in the future. */
const END_OF_TIME = new Date(8.64e15);

/** Returns the last version of a feed whose own sets signed it from its first version on. */
async function lastOf(feed: Text): Promise<feeds.AcceptedVersion> {
  const [first] = await feeds.readFeed(feed);
  const pinned = await feeds.readPinnedSigners({ name: first!.name, ...first!.file.signers });
  return (await feeds.walkFeed(feed, pinned, null, END_OF_TIME)).newest;
}

/** Reads an envelope, or a draft without signatures, and its policy. */
async function readDraft(envelope: Text): Promise<PolicyVersion> {
  const version = await readVersion(await readEnvelope(envelope, "envelope", 0), "envelope");
  policyOf(version, { signedBy: [], remembered: false });
  return version;
}

async function readSuccessor(envelope: Text, before: Successor["before"]): Promise<Successor> {
  const version = await readDraft(envelope);
  if (version.version !== (before?.version ?? 0) + 1)
    throw feeds.wrongVersion(
      version.version,
      `version ${version.version} needs the feed that ends with the version before it; ` +
        (before === null ? "no feed is given" : `this one ends with version ${before.version}`),
    );
  if (before !== null) feeds.requireOrder(version, { before, newest: before, pinned: before });
  return { version, before };
}

async function signed({ version, before }: Successor, key: Given["key"]): Promise<string> {
  const { envelope, signers } = version;
  const publicKey = "sign" in key ? key.publicKey : await readSignerKey(key.publicKey);
  const { keyid, type } = publicKey;
  const sets = [before?.signers ?? signers, signers];
  const refuse = (why: string): SignedPolicyError =>
    new SignedPolicyError("signatures", `the key ${keyid} (${type}) ${why}`, { version: version.version });
  if (!sets.some(({ keys }) => keys.some((one) => one.keyid === keyid)))
    throw refuse("cannot sign this version: it is neither in the set in force nor in the version's own set");
  if ((await signersOf(envelope, sets, true)).keys.some((one) => one.keyid === keyid)) throw refuse("signed it before");
  const sig = "sign" in key ? key.sign(envelope.signed) : key.signature;
  if (!(await publicKey.verify(envelope.signed, sig))) throw refuse("did not make this signature of this version");
  const others = envelope.json["signatures"] as readonly object[];
  const line = lineOf({ ...envelope.json, signatures: [...others, { keyid, sig: toBase64(sig) }] });
  await readEnvelope(line, "envelope");
  return line;
}

function lineOf(envelope: object): string {
  return `${JSON.stringify(envelope)}\n`;
}

/** `first` is the set in force before the first version. */
async function reviewOf(
  version: PolicyVersion,
  before: PolicyVersion | null,
  first = version.signers,
): Promise<PolicyReview> {
  const { envelope, file, signers } = version;
  const inForce = before?.signers ?? first;
  const { keys, notes } = await signersOf(envelope, [inForce, signers], true);
  const bytes = (one: PolicyVersion): Uint8Array => toUtf8(JSON.stringify(one.file.policy));
  const changes = before && (await attemptLater(() => diffUnverified(bytes(before), bytes(version))));
  const policy = before === null ? await attemptLater(() => describePolicy(parsePolicy(bytes(version)))) : null;
  const faults = (changes ?? policy)!.faults.map((fault) => `its policy is not read: ${faultText([fault])}`);
  const { name, version: number, issuedAt, expiresAt } = file;
  return {
    ...{ name, version: number, sha256: envelope.sha256, issuedAt, expiresAt },
    signedBy: keys.map(({ keyid }) => keyid),
    inForce: shownSet(inForce),
    signers: shownSet(signers),
    before: before && { version: before.version, expiresAt: before.file.expiresAt },
    changes: changes?.value ?? null,
    policy: policy?.value ?? null,
    warnings: [...notes, ...weaknesses(signers), ...faults],
  };
}

function shownSet({ threshold, keys }: SignerSet): ShownSet {
  return { threshold, keys: keys.map(({ type, keyid }) => ({ type, keyid })) };
}

function weaknesses({ threshold, keys: { length } }: SignerSet): string[] {
  const says = `${threshold} of ${length} keys must sign the next version: `;
  return [
    ...(2 * threshold <= length ? [`${says}two groups without a common key can each sign one`] : []),
    ...(threshold === length ? [`${says}if one key is lost, nobody can sign it`] : []),
  ];
}
