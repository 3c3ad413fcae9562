/** What a consumer pins and keeps, and how it reads a feed (signed-policy/README.md, "Consumer"). */
import { fromUtf8, lastOf, toHex, toUtf8 } from "../bytes.js";
import type { JsonObject } from "../decode/json.js";
import { SHA256_LENGTH } from "../decode/lengths.js";
import { type Shape, anyObject, hex, object, objectOf, oneOf, optional, wholeNumber } from "../decode/shapes.js";
import { AHEAD_MS } from "../verify/context.js";
import { sha256 } from "../verify/digest.js";
import { type Signed, malformed, parsed, readEnvelope, requireSigned, shaped, signersOf } from "./envelope.js";
import { SignedPolicyError } from "./errors.js";
import { SIGNERS, type SignersFile, nameShape, signersShape } from "../appraise/signed-payload.js";
import { type KnownKeys, type SignerSet, areSameSigners, readSigners, sortedIds } from "./keys.js";
import { type PolicyVersion, readVersion } from "./payload.js";

export const MAX_FEED_BYTES = 8 * 1024 * 1024;
export const STATE_FORMAT = "bootproof-signed-policy-state/1" as const;

/** What a consumer pins, as JSON. */
export interface PolicySigners extends SignersFile {
  readonly name: string;
  /** The least version that is accepted. */
  readonly minVersion?: number;
  /** A version that the feed must contain, with the SHA-256 of its payload in hex. */
  readonly since?: { readonly version: number; readonly sha256: string };
}

const signersFileShape: Shape<PolicySigners> = objectOf<PolicySigners>({
  name: nameShape,
  ...SIGNERS,
  minVersion: optional(wholeNumber(1)),
  since: optional(object({ version: wholeNumber(1), sha256: hex(SHA256_LENGTH) })),
});

/** A pinned set that was read. */
export interface PinnedSigners extends Pick<PolicySigners, "name" | "minVersion" | "since"> {
  readonly set: SignerSet;
  readonly file: PolicySigners;
  /** SHA-256 of the canonical JSON of name, threshold and sorted key ids, to which a state belongs. */
  readonly digest: string;
}

/** Reads what a consumer pins. Throws {@link SignedPolicyError} (`malformed`) with every fault. */
export async function readPinnedSigners(input: string | Uint8Array | object): Promise<PinnedSigners> {
  const place = "policy signers";
  const json = typeof input === "string" || input instanceof Uint8Array ? parsed(input, place) : input;
  const file = shaped(signersFileShape, json, place);
  const set = await readSigners(file, `${place}: `);
  const canonical = JSON.stringify({ keyids: sortedIds(set), name: file.name, threshold: file.threshold });
  const { name, minVersion, since } = file;
  return {
    ...{ file, set, name },
    digest: toHex(await sha256(toUtf8(canonical))),
    ...(minVersion && { minVersion }),
    ...(since && { since }),
  };
}

interface StateFile {
  readonly state: typeof STATE_FORMAT;
  readonly pinned: string;
  readonly envelope: JsonObject;
  readonly signers: SignersFile;
}

const stateShape: Shape<StateFile> = objectOf<StateFile>({
  state: oneOf(STATE_FORMAT),
  pinned: hex(SHA256_LENGTH),
  envelope: anyObject as Shape<JsonObject>,
  signers: signersShape,
});

/** An accepted version with the keys that signed it. */
export interface AcceptedVersion extends PolicyVersion {
  readonly signedBy: readonly string[];
}

/** What a consumer remembers: the newest accepted version, whose `signers` are the set in force. */
export interface ConsumerState {
  readonly pinned: string;
  readonly newest: AcceptedVersion;
}

/**
 * Reads the state of a signed policy of this name. Throws {@link SignedPolicyError} (`state`) for anything that is not
 * a whole one, and for that of another name, which would forget its version if it were overwritten.
 */
export async function readState(text: string, name: string): Promise<ConsumerState> {
  try {
    const { pinned, envelope: json, signers } = shaped(stateShape, parsed(text, ""), "");
    const envelope = await readEnvelope(json);
    const newest = await readVersion(envelope);
    const inForce = await readSigners(signers, "signers.");
    if (!areSameSigners(inForce, newest.signers)) throw malformed("signers", "not those of its envelope");
    // Whoever signs a version that changes the set has enough keys of the new set, so the set in force signed it.
    const signed = await signersOf(envelope, [inForce]);
    requireSigned(signed, inForce, { what: "the state's set", version: newest.version });
    if (newest.name === name) return { pinned, newest: acceptedBy(newest, signed) };
    throw new SignedPolicyError("name", `it is of ${newest.name}, and ${name} is pinned: give each name its own state`);
  } catch (error) {
    if (!(error instanceof SignedPolicyError)) throw error;
    const advice = "remove it only if you know why: without it, an old version can be shown as the newest";
    throw new SignedPolicyError("state", `the state is not usable: ${error.message}; ${advice}`, {}, { cause: error });
  }
}

export function stateText({ pinned, newest }: ConsumerState): string {
  const { envelope, file } = newest;
  const state: StateFile = { state: STATE_FORMAT, pinned, envelope: envelope.json, signers: file.signers };
  return `${JSON.stringify(state)}\n`;
}

function acceptedBy(version: PolicyVersion, { keys }: Signed): AcceptedVersion {
  return { ...version, signedBy: keys.map(({ keyid }) => keyid) };
}

/** Decodes a feed. Throws {@link SignedPolicyError} (`malformed`, or `version` for a gap). */
export async function readFeed(input: string | Uint8Array): Promise<readonly PolicyVersion[]> {
  const bytes = typeof input === "string" ? toUtf8(input) : input;
  if (bytes.length > MAX_FEED_BYTES) throw malformed("feed", `larger than ${MAX_FEED_BYTES} bytes`);
  const text = fromUtf8(bytes);
  if (text === null) throw malformed("feed", "not UTF-8");
  const lines = text.replace(/\n$/, "").split("\n");
  const [keys, versions]: [KnownKeys, PolicyVersion[]] = [new Map(), []];
  for (const [index, line] of lines.entries()) {
    const place = `feed line ${index + 1}`;
    if (line.trim() === "") throw malformed(place, "empty");
    const version = await readVersion(await readEnvelope(line, place), place, keys);
    const before = lastOf(versions)?.version;
    if (before !== undefined && version.version !== before + 1)
      throw wrongVersion(version.version, `${place}: version ${version.version} follows version ${before}`);
    versions.push(version);
  }
  return versions;
}

export function wrongVersion(version: number, message: string): SignedPolicyError {
  return new SignedPolicyError("version", message, { version });
}

/** The result of reading a feed. */
export interface Walk {
  /** The versions that were accepted now, in order. There are none if the newest is the state's. */
  readonly accepted: readonly AcceptedVersion[];
  /** The version to use. */
  readonly newest: AcceptedVersion;
  /** Whether the only version was issued in the future. It is not in force yet, and must not be remembered. */
  readonly isEarly: boolean;
  /** Sentences about signatures that do not count, and about a version that is not used yet. */
  readonly notes: readonly string[];
}

/**
 * Reads a feed from the state on, or from the pinned set. A state of another pinned set only sets the least version.
 * Throws {@link SignedPolicyError}.
 */
export async function walkFeed(
  feed: string | Uint8Array,
  pinned: PinnedSigners,
  state: ConsumerState | null,
  now: Date,
): Promise<Walk> {
  const versions = await readFeed(feed);
  const { own, least } = startOf(pinned, state);
  requireSince(versions, pinned);
  requireState(versions, own);
  const isOld = ({ version }: PolicyVersion): boolean => (own === null ? version < least : version <= own.version);
  const skipped = lastOf(versions.filter(isOld)) ?? null;
  const latest = now.getTime() + AHEAD_MS;
  const [accepted, notes]: [AcceptedVersion[], string[]] = [[], []];
  let newest = own;
  for (const version of versions.filter((one) => !isOld(one))) {
    const isEarly = version.issuedAt.getTime() > latest;
    if (isEarly && newest !== null) {
      notes.push(`version ${version.version} was issued in the future (${version.file.issuedAt}): not used yet`);
      break;
    }
    const signed = await requireNext(version, { before: newest ?? skipped, newest, pinned });
    notes.push(...signed.notes.map((note) => `version ${version.version}: ${note}`));
    newest = acceptedBy(version, signed);
    if (isEarly) return { accepted, newest, isEarly, notes };
    accepted.push(newest);
  }
  return { accepted, newest: requireLeast(newest, least, versions), isEarly: false, notes };
}

/** Returns the state's version if the state is of this pinned set, and the least version that may be in force. */
function startOf(
  pinned: PinnedSigners,
  state: ConsumerState | null,
): { readonly own: AcceptedVersion | null; readonly least: number } {
  const own = state?.pinned === pinned.digest ? state.newest : null;
  return { own, least: pinned.minVersion ?? state?.newest.version ?? 1 };
}

function requireLeast(
  newest: AcceptedVersion | null,
  least: number,
  versions: readonly PolicyVersion[],
): AcceptedVersion {
  if (newest !== null && newest.version >= least) return newest;
  const last = lastOf(versions)!.version;
  throw wrongVersion(last, `the feed ends at version ${last}, and at least version ${least} is needed (a rollback?)`);
}

function requireSince(versions: readonly PolicyVersion[], { since }: PinnedSigners): void {
  if (since === undefined) return;
  const found = versions.find(({ version }) => version === since.version);
  if (found === undefined)
    throw wrongVersion(since.version, `the feed does not contain version ${since.version}, which is pinned (since)`);
  requireSame(found, since.sha256, "is pinned (since)");
}

function requireState(versions: readonly PolicyVersion[], own: AcceptedVersion | null): void {
  if (own === null) return;
  const { version, envelope } = own;
  const [first, last] = [versions[0]!.version, lastOf(versions)!.version];
  if (last < version)
    throw wrongVersion(
      last,
      `the feed ends at version ${last}, but version ${version} was accepted before: a rollback`,
    );
  if (first > version + 1)
    throw wrongVersion(first, `the feed begins at version ${first}, and version ${version + 1} is needed`);
  const found = versions.find((one) => one.version === version);
  if (found !== undefined) requireSame(found, envelope.sha256, "was accepted before");
}

function requireSame({ version, envelope }: PolicyVersion, digest: string, why: string): void {
  if (envelope.sha256 === digest) return;
  const message = `version ${version} is ${envelope.sha256} in the feed, but ${digest} ${why}: the feed is a fork`;
  throw new SignedPolicyError("fork", message, { version });
}

interface Step {
  /** The version before in the feed or state, if it was read. */
  readonly before: PolicyVersion | null;
  /** The accepted version before, whose set is in force. Null means that the pinned set is in force. */
  readonly newest: AcceptedVersion | null;
  readonly pinned: PinnedSigners;
}

/** Requires that a version may follow. Throws {@link SignedPolicyError}. */
async function requireNext(version: PolicyVersion, { before, newest, pinned }: Step): Promise<Signed> {
  const { version: number } = version;
  requireOrder(version, { before, newest, pinned });
  const inForce = newest?.signers ?? pinned.set;
  const signed = await signersOf(version.envelope, [inForce, version.signers]);
  const what = newest === null ? "the pinned set" : `the set in force (of version ${newest.version})`;
  requireSigned(signed, inForce, { what, version: number });
  if (!areSameSigners(inForce, version.signers))
    requireSigned(signed, version.signers, { what: "its own new set", version: number });
  return signed;
}

type Order = Omit<Step, "pinned"> & { readonly pinned: Pick<PinnedSigners, "name"> };

/** Requires the name, the digest of the version before, and times that do not go back. Signatures are not verified. */
export function requireOrder(version: PolicyVersion, { before, newest, pinned }: Order): void {
  const { name, version: number, previous } = version;
  if (name !== pinned.name)
    throw new SignedPolicyError("name", `version ${number} is of ${name}, and ${pinned.name} is pinned`, {
      version: number,
    });
  if (before !== null && previous !== before.envelope.sha256)
    throw new SignedPolicyError(
      "previous",
      `version ${number} follows ${previous}, but version ${before.version} is ${before.envelope.sha256}`,
      { version: number },
    );
  if (newest !== null && version.issuedAt < newest.issuedAt)
    throw wrongVersion(number, `version ${number} was issued before version ${newest.version}: issuedAt goes back`);
}
