/**
 * Policies and options as plain data, for files, threads, and other copies of this package. The files that a policy
 * names are embedded: certificates as PEM text, and trusted roots as JSON text.
 */
import {
  type MembersOf,
  type Shape,
  demand,
  flag,
  hex,
  instant,
  list,
  objectOf,
  optional,
  readShape,
  record,
  text,
} from "./decode/shapes.js";
import { requireShape, typedOptions } from "./decode/options.js";
import { type JsonEntry, entriesAt } from "./appraise/json-edit.js";
import { ParsedPolicy, type SignedFacts } from "./appraise/parsed-policy.js";
import { type Policy, namedFiles, parsePolicy, parseSigned } from "./appraise/policy.js";
import type { FileKind, NamedFile } from "./appraise/shapes.js";
import { fromHex, fromUtf8, toHex, toUtf8 } from "./bytes.js";
import { copyInput, otherMembers, withoutPrototype } from "./decode/input.js";
import { type JsonValue, copyJson, isJsonObject, parseJson } from "./decode/json.js";
import { PCR_LENGTH } from "./decode/lengths.js";
import { MalformedError, attempt } from "./errors.js";
import { NO_POLICY_ANY_ENCLAVE, NamedEvidence, PCR_NAMES, VERIFY_OPTIONS, type VerifyOptions } from "./inputs.js";
import { payloadShape } from "./appraise/signed-payload.js";
import { sha256 } from "./verify/digest.js";
import { type TrustAnchor, certificatePem, parseTrustAnchor } from "./verify/trust-anchor.js";

/** A policy as plain data. Parsing it gives the same policy with the same digest. */
export interface PlainPolicy {
  /** Text of the policy file, or the payload of a signed policy. */
  readonly text: string;
  /** What the caller knows of a signed policy beside its payload: nothing is verified again. */
  readonly signed?: Pick<SignedFacts, "sha256" | "signedBy" | "remembered" | "envelope">;
  /** PEM text of each trust anchor file, by the file's name in the policy. */
  readonly anchors?: Readonly<Record<string, string>>;
  /** JSON text of each file with a trusted root of provenance, by the file's name in the policy. */
  readonly roots?: Readonly<Record<string, string>>;
}

export const plainPolicyShape = /* @__PURE__ */ objectOf<PlainPolicy>({
  text,
  signed: optional(
    objectOf<NonNullable<PlainPolicy["signed"]>>({
      sha256: text,
      signedBy: list(text),
      remembered: flag,
      envelope: text,
    }),
  ),
  anchors: optional(record(text)),
  roots: optional(record(text)),
});

/**
 * Returns the policy as plain data. Throws TypeError for a policy that was read from a parsed value, since it has no
 * text.
 */
export function plainPolicy(policy: Policy): PlainPolicy {
  if (!ParsedPolicy.is(policy) || policy.bytes() === null)
    throw new TypeError("policy: expected a policy that was read from text or bytes");
  return policyContent(policy);
}

/** Returns the policy as {@link plainPolicy} does, also if it was read from a parsed value. */
export function policyContent(policy: ParsedPolicy): PlainPolicy {
  const bytes = policy.content();
  const files = filesOf(parseJson(bytes), policy);
  const byName = (wanted: FileKind): Readonly<Record<string, string>> =>
    Object.fromEntries(files.filter(({ kind }) => kind === wanted).map(({ name, content }) => [name, content]));
  const [anchors, roots] = [byName("trustAnchor"), byName("trustedRoot")];
  return {
    // The bytes are UTF-8: they were parsed as JSON.
    text: fromUtf8(bytes)!,
    ...(policy.signed && { signed: knownOf(policy.signed) }),
    ...(Object.keys(anchors).length > 0 && { anchors }),
    ...(Object.keys(roots).length > 0 && { roots }),
  };
}

function knownOf({ sha256, signedBy, remembered, envelope }: SignedFacts): NonNullable<PlainPolicy["signed"]> {
  return { sha256, signedBy, remembered, envelope };
}

/** Reads a policy from plain data. Throws {@link MalformedError} (`json` or `policy`) as `parsePolicy` does. */
export function parsePlainPolicy(policy: PlainPolicy): Policy {
  const own = requireShape("policy", policy, plainPolicyShape);
  if (own.signed === undefined) return parsePolicy(own.text, { readFile: readerOf(own) });
  const { value, faults } = readShape(payloadShape, parseJson(own.text));
  if (value === undefined) throw new MalformedError("policy", faults);
  const { name, version, issuedAt, expiresAt } = value;
  return parseSigned(toUtf8(own.text), value.policy, { name, version, issuedAt, expiresAt, ...own.signed });
}

/** Returns a function that reads the files that the policy names. The function throws Error for any other name. */
export function readerOf({ anchors = {}, roots = {} }: PlainPolicy): (name: string) => string {
  return (name) => {
    if (Object.hasOwn(anchors, name)) return anchors[name]!;
    if (Object.hasOwn(roots, name)) return roots[name]!;
    throw new Error("not among the files that were given");
  };
}

const CONTENTS: Readonly<Record<FileKind, (policy: Policy, file: NamedFile) => string>> = {
  // Only the certificate of the file, without other content, such as a key.
  trustAnchor: ({ trustAnchors }, { path: [, index] }) => pemOf(trustAnchors[index as number]!),
  trustedRoot: ({ deployments }, { name, path: [, deployment, , entry] }) => {
    const { trustedRoots } = deployments[deployment as number]!.provenance![entry as number]!;
    return trustedRoots.find((root) => root.file?.name === name)!.file!.text;
  },
};

/** Returns the files that a policy file names, each with its content: a certificate as PEM, a trusted root as JSON. */
export function filesOf(file: JsonValue, policy: Policy): readonly (NamedFile & { readonly content: string })[] {
  return namedFiles(file).map((named) => ({ ...named, content: CONTENTS[named.kind](policy, named) }));
}

/** Whether a deployment of a policy file demands provenance. The file may have other faults. */
export function pinsProvenance(policy: JsonValue | undefined): boolean {
  // The payload of a signed policy has the file as its member.
  if (isJsonObject(policy) && isJsonObject(policy["policy"])) return pinsProvenance(policy["policy"]);
  const deployments = isJsonObject(policy) ? policy["deployments"] : undefined;
  return Array.isArray(deployments) && deployments.some((one) => isJsonObject(one) && Object.hasOwn(one, "provenance"));
}

/** Returns the names of the trust anchor files. The policy may have faults. */
export function anchorFileNames(policy: string): readonly string[] {
  const files = namedFiles(attempt(() => parseJson(policy)).value);
  return files.filter(({ kind }) => kind === "trustAnchor").map(({ name }) => name);
}

function pemOf({ certificate }: TrustAnchor): string {
  return certificatePem(certificate.der);
}

/** A trust anchor as plain data. */
interface PlainAnchor {
  readonly name: string;
  readonly pem: string;
}

/** Returns the anchor as plain data, without other content of its file, such as a key. */
export function plainAnchor(anchor: TrustAnchor): PlainAnchor {
  return { name: anchor.name, pem: pemOf(anchor) };
}

/** The options of a verification as JSON, which other copies of this package read, too. See {@link VerifyOptions}. */
export interface PlainOptions extends Pick<
  VerifyOptions,
  "expected" | "allowDebug" | "acceptance" | "maxAgeMs" | "bootProofsOnly"
> {
  /** `bundle` means the policy in the bundle, which its maker chose. Null means none: any genuine enclave passes. */
  readonly policy: PlainPolicy | "bundle" | null;
  /** Time in RFC 3339: UTC, with milliseconds. */
  readonly now: string;
  /** `document`, `now`, or a time in RFC 3339. */
  readonly at?: string;
  readonly trustAnchors?: readonly PlainAnchor[];
  /** PCRs in hex, by index. */
  readonly measurements?: Readonly<Record<string, string>>;
  /** Key of 130 bytes in hex. */
  readonly ephemeralKey?: string;
  readonly nonce?: string;
}

/** Shape of a key or nonce in hex. The maximum exceeds every key and nonce that a document can have. */
export const keyHex = hex(1, 4096);

const chosenPolicy: Shape<PlainOptions["policy"]> = {
  read: (value, place) => (value === "bundle" || value === null ? value : plainPolicyShape.read(value, place)),
};
const plainAt: Shape<string> = {
  read: (value, place) => (value === "document" || value === "now" ? value : instant.read(value, place)),
};

export const PLAIN_OPTIONS: MembersOf<PlainOptions> = {
  policy: chosenPolicy,
  now: instant,
  at: optional(plainAt),
  trustAnchors: optional(list(objectOf<PlainAnchor>({ name: text, pem: text }))),
  measurements: demand(record(hex(PCR_LENGTH), PCR_NAMES)),
  ephemeralKey: demand(keyHex),
  nonce: demand(keyHex),
  expected: VERIFY_OPTIONS.expected,
  allowDebug: VERIFY_OPTIONS.allowDebug,
  acceptance: VERIFY_OPTIONS.acceptance,
  maxAgeMs: VERIFY_OPTIONS.maxAgeMs,
  bootProofsOnly: VERIFY_OPTIONS.bootProofsOnly,
};

/**
 * Returns the options as plain data, without `cache`, `uses` and `provenanceVerifier`. Throws TypeError for `crls`,
 * since a verification of the plain options would look nothing up.
 */
export function plainOptions(options: VerifyOptions): PlainOptions {
  const own = typedOptions("options", options, VERIFY_OPTIONS);
  const { policy, now, at, trustAnchors, measurements, ephemeralKey, nonce, expected } = own;
  const { allowDebug, acceptance, maxAgeMs, bootProofsOnly, crls } = own;
  if (crls !== undefined) throw new TypeError("options.crls: plain options cannot have revocation lists");
  return copyJson({
    policy: policy === NO_POLICY_ANY_ENCLAVE ? null : policyContent(policy as ParsedPolicy),
    now: now.toISOString(),
    at: at instanceof Date ? at.toISOString() : at,
    trustAnchors: trustAnchors?.map(plainAnchor),
    measurements:
      measurements && Object.fromEntries(Object.entries(measurements).map(([index, pcr]) => [index, toHex(pcr)])),
    ephemeralKey: ephemeralKey && toHex(ephemeralKey),
    nonce: nonce && toHex(nonce),
    ...{ expected, allowDebug, acceptance, maxAgeMs, bootProofsOnly },
  }) as unknown as PlainOptions;
}

/** Plain options, with evidence that every verification under them has. */
interface PlainSetting extends PlainOptions {
  /** Null means that there is no policy and any genuine enclave passes. */
  readonly policy: PlainPolicy | null;
  readonly bootProofs?: readonly string[];
  /** Bundles, each as JSON text, bytes or value. */
  readonly provenance?: readonly unknown[];
}

/** Returns the options of a setting. Throws {@link MalformedError} for a malformed policy or trust anchor. */
export function verifyOptionsOf(setting: PlainSetting): VerifyOptions {
  // A rest has a prototype again, so no member is read of it.
  const own = withoutPrototype(setting);
  const { policy, now, at, trustAnchors, measurements, ephemeralKey, nonce } = own;
  const plain = otherMembers(own, "bootProofs", "provenance", "policy", "now", "at", "trustAnchors");
  const others = otherMembers(plain, "measurements", "ephemeralKey", "nonce");
  return withoutPrototype<VerifyOptions>({
    ...others,
    policy: policy === null ? NO_POLICY_ANY_ENCLAVE : parsePlainPolicy(policy),
    now: new Date(now),
    ...(at !== undefined && { at: at === "document" || at === "now" ? at : new Date(at) }),
    ...(trustAnchors && { trustAnchors: trustAnchors.map(({ name, pem }) => parseTrustAnchor(name, pem)) }),
    ...(measurements && {
      measurements: Object.fromEntries(Object.entries(measurements).map(([index, pcr]) => [index, fromHex(pcr)!])),
    }),
    ...(ephemeralKey !== undefined && { ephemeralKey: fromHex(ephemeralKey)! }),
    ...(nonce !== undefined && { nonce: fromHex(nonce)! }),
  });
}

/** What decides a verdict, apart from evidence and current time. A new plain option is included unless omitted here. */
type JudgedBy = Omit<PlainSetting, "now" | "measurements" | "ephemeralKey" | "nonce" | "expected" | "bootProofsOnly">;

/**
 * A part of a setting. The part `policy` is the policy's text without names of files. The parts `trustAnchors` and
 * `trustedRoots` are the content of files.
 */
type SettingPart = keyof JudgedBy | "trustedRoots";

type Piece = readonly [label: string, content: string | Uint8Array];

interface PolicyPieces {
  readonly text: readonly Piece[];
  readonly files: Readonly<Record<FileKind, readonly Piece[]>>;
}

const SETTING_PARTS: { readonly [P in SettingPart]: (setting: JudgedBy, policy: PolicyPieces) => readonly Piece[] } = {
  policy: (_, { text }) => text,
  trustAnchors: ({ trustAnchors }, { files }) => {
    const given = trustAnchors?.map(({ pem }): Piece => ["given", pem]) ?? [["default", ""]];
    return [...files.trustAnchor, ...given];
  },
  trustedRoots: (_, { files }) => files.trustedRoot,
  at: ({ at = "document" }) => [["at", at]],
  allowDebug: ({ allowDebug = false }) => [["allowDebug", String(allowDebug)]],
  acceptance: ({ acceptance = "standard" }) => [["acceptance", acceptance]],
  maxAgeMs: ({ maxAgeMs }) => [["maxAgeMs", String(maxAgeMs)]],
  bootProofs: ({ bootProofs = [] }) => bootProofs.map((text) => ["bootProof", text]),
  provenance: ({ provenance = [] }) => provenance.map((bundle) => ["bundle", contentOf(bundle)]),
};

/** `maxAgeMs` is absent where it is not set, so that older versions have the same digest. */
export type SettingParts = Readonly<Record<Exclude<SettingPart, "maxAgeMs">, string> & { maxAgeMs?: string }>;

/**
 * Returns SHA-256 of each part of a setting, in hex. Two settings with equal digests give equal verdicts. For a file
 * that the policy names, its content is hashed and not its name.
 */
export async function settingParts(setting: JudgedBy): Promise<SettingParts> {
  const own = withoutPrototype(setting);
  const policy = await policyPieces(own.policy && withoutPrototype(own.policy));
  const set = Object.entries(SETTING_PARTS).filter(([part]) => part !== "maxAgeMs" || own.maxAgeMs !== undefined);
  const parts = set.map(async ([part, pieces]) => [part, await digestOfPieces(pieces(own, policy))] as const);
  return Object.fromEntries(await Promise.all(parts)) as SettingParts;
}

/** Returns one digest of several parts. */
export function digestOfParts(parts: Readonly<Record<string, string>>): Promise<string> {
  return digestOfPieces(Object.entries(parts));
}

/** Returns one digest of pieces. Each piece is hashed with its label and length, so that none can replace another. */
async function digestOfPieces(pieces: readonly Piece[]): Promise<string> {
  const lines = pieces.map(async ([label, content]) => {
    const bytes = typeof content === "string" ? toUtf8(content) : content;
    return `${label} ${bytes.length} ${toHex(await sha256(bytes))}\n`;
  });
  return toHex(await sha256(toUtf8((await Promise.all(lines)).join(""))));
}

function contentOf(bundle: unknown): string | Uint8Array {
  if (bundle instanceof NamedEvidence) return contentOf(bundle.value);
  if (typeof bundle === "string" || bundle instanceof Uint8Array) return bundle;
  return JSON.stringify(copyInput(bundle).value ?? null);
}

async function policyPieces(policy: PlainPolicy | null): Promise<PolicyPieces> {
  if (policy === null) return { text: [], files: { trustAnchor: [], trustedRoot: [] } };
  const { text, anchors = {}, roots = {} } = policy;
  const files = namedFiles(attempt(() => parseJson(text)).value);
  const texts = withoutNames(text, files);
  const contentsOf = async (kind: FileKind, contents: Readonly<Record<string, string>>): Promise<Piece[]> => {
    const names = files.filter((file) => file.kind === kind).map(({ name }) => name);
    const digests = [...new Set(names)].map(async (name): Promise<[string, Piece]> => {
      if (!Object.hasOwn(contents, name)) return [name, ["missing", ""]];
      return [name, ["file", toHex(await sha256(toUtf8(contents[name]!)))]];
    });
    const byName = new Map(await Promise.all(digests));
    return names.map((name) => byName.get(name)!);
  };
  return {
    text: texts.map((part) => ["text", part]),
    files: {
      trustAnchor: await contentsOf("trustAnchor", anchors),
      trustedRoot: await contentsOf("trustedRoot", roots),
    },
  };
}

/** Returns the parts of the text between the names of files. */
function withoutNames(text: string, files: readonly NamedFile[]): string[] {
  if (files.length === 0) return [text];
  // The paths are in the order of the text, because JSON objects keep the order of their members.
  const paths = files.map(({ path }) => path);
  const places = placesOf(text, 0, paths);
  const starts = [0, ...places.map(({ end }) => end)];
  return starts.map((start, index) => text.slice(start, places[index]?.value));
}

/**
 * Returns the places of values in JSON text. Each array and object is read once, even if several paths lead through it.
 */
function placesOf(text: string, start: number, paths: readonly NamedFile["path"][]): JsonEntry[] {
  const entries = entriesAt(text, start);
  const byStep = new Map<string | number, NamedFile["path"][]>();
  for (const [step, ...rest] of paths) {
    const rests = byStep.get(step!);
    if (rests === undefined) byStep.set(step!, [rest]);
    else rests.push(rest);
  }
  return [...byStep].flatMap(([step, rests]) => {
    const entry = typeof step === "number" ? entries[step]! : entries.find(({ name }) => name === step)!;
    return rests[0]!.length === 0 ? [entry] : placesOf(text, entry.value, rests);
  });
}
