/**
 * Policies and options as plain data, for files, threads, and other copies of this package. Each file that a policy
 * names is embedded as the PEM text of its certificate.
 */
import { type JsonEntry, entriesAt } from "./appraise/json-edit.js";
import { ParsedPolicy } from "./appraise/parsed-policy.js";
import { type Policy, namedFiles, parsePolicy } from "./appraise/policy.js";
import type { FileKind, NamedFile } from "./appraise/shapes.js";
import { fromUtf8, toHex, toUtf8 } from "./bytes.js";
import { copyInput, copyPlain, otherMembers, ownMembers, ownOptions } from "./decode/input.js";
import { type JsonValue, isJsonObject, parseJson } from "./decode/json.js";
import { attempt } from "./errors.js";
import {
  NO_POLICY_ANY_ENCLAVE,
  NamedEvidence,
  OPTION_NAMES,
  type OptionsBesidePolicy,
  type VerifyOptions,
} from "./inputs.js";
import { sha256 } from "./verify/digest.js";
import { type TrustAnchor, certificatePem, parseTrustAnchor } from "./verify/trust-anchor.js";

/** Reads as the same policy, with the same digest. */
export interface PlainPolicy {
  /** The policy file. */
  readonly bytes: Uint8Array;
  /** The PEM text of each file that it names as a trust anchor, by that name. */
  readonly anchors?: Readonly<Record<string, string>>;
  /** The JSON text of each file that it names as a trusted root of provenance, by that name. */
  readonly roots?: Readonly<Record<string, string>>;
}

const POLICY_NAMES: Readonly<Record<keyof PlainPolicy, true>> = { bytes: true, anchors: true, roots: true };

/**
 * The policy as plain data. Throws TypeError for a policy that was read from a parsed value, since it has no bytes.
 */
export function plainPolicy(policy: Policy): PlainPolicy {
  if (!ParsedPolicy.is(policy) || policy.bytes() === null)
    throw new TypeError("policy: expected one that was read from text or bytes");
  return policyContent(policy);
}

/** {@link plainPolicy}, of a policy that was read from a parsed value, too. */
export function policyContent(policy: ParsedPolicy): PlainPolicy {
  const bytes = policy.content();
  const json = parseJson(bytes);
  const [anchors, roots] = [anchorPems(json, policy), rootTexts(json, policy)];
  return {
    bytes,
    ...(Object.keys(anchors).length > 0 && { anchors }),
    ...(Object.keys(roots).length > 0 && { roots }),
  };
}

/** A {@link PlainPolicy} for JSON: the policy file as text. */
export interface PolicyText extends Omit<PlainPolicy, "bytes"> {
  readonly text: string;
}

export function policyText(policy: PlainPolicy): PolicyText {
  const { bytes, anchors, roots } = ownMembers(policy, POLICY_NAMES);
  // The bytes are UTF-8: they were parsed as JSON.
  return { text: fromUtf8(bytes)!, ...(anchors && { anchors }), ...(roots && { roots }) };
}

export function policyOfText({ text, anchors, roots }: PolicyText): PlainPolicy {
  return { bytes: toUtf8(text), ...(anchors && { anchors }), ...(roots && { roots }) };
}

/** Reads a policy from plain data. Throws {@link MalformedError} (`json` or `policy`) as `parsePolicy` does. */
export function parsePlainPolicy(policy: PlainPolicy): Policy {
  const own = ownMembers(policy, POLICY_NAMES);
  return parsePolicy(own.bytes, { readFile: readerOf(own) });
}

/** Reads the files that the policy names. */
export function readerOf({ anchors = {}, roots = {} }: PlainPolicy): (name: string) => string {
  return (name) => {
    if (Object.hasOwn(anchors, name)) return anchors[name]!;
    if (Object.hasOwn(roots, name)) return roots[name]!;
    throw new Error("not among the files that were given");
  };
}

/** The PEM text of each file that the policy names, by name: made from the certificate, without other content. */
export function anchorPems(file: JsonValue, { trustAnchors }: Policy): Readonly<Record<string, string>> {
  return contentsOf("trustAnchor", file, ([, index]) => pemOf(trustAnchors[index as number]!));
}

/** The JSON text of each file that the policy names as a trusted root, by name. */
export function rootTexts(file: JsonValue, { deployments }: Policy): Readonly<Record<string, string>> {
  return contentsOf("trustedRoot", file, ([, deployment, , entry], name) => {
    const demand = deployments[deployment as number]!.provenance![entry as number]!;
    return demand.trustedRoots.find((root) => root.file?.name === name)!.file!.text;
  });
}

function contentsOf(
  wanted: FileKind,
  file: JsonValue,
  contentOf: (path: NamedFile["path"], name: string) => string,
): Readonly<Record<string, string>> {
  const files = namedFiles(file).filter(({ kind }) => kind === wanted);
  return Object.fromEntries(files.map(({ path, name }) => [name, contentOf(path, name)]));
}

/** Whether a deployment of a policy file demands provenance, whatever else is wrong with the file. */
export function pinsProvenance(policy: JsonValue | undefined): boolean {
  const deployments = isJsonObject(policy) ? policy["deployments"] : undefined;
  return Array.isArray(deployments) && deployments.some((one) => isJsonObject(one) && Object.hasOwn(one, "provenance"));
}

/** The names of the trust anchor files, whatever else is wrong with the policy. */
export function anchorFileNames(bytes: Uint8Array): readonly string[] {
  const files = namedFiles(attempt(() => parseJson(bytes)).value);
  return files.filter(({ kind }) => kind === "trustAnchor").map(({ name }) => name);
}

function pemOf({ certificate }: TrustAnchor): string {
  return certificatePem(certificate.der);
}

/** The options of a verification as plain data, which another copy of this package accepts, too; see VerifyOptions. */
export interface PlainOptions extends Omit<
  VerifyOptions,
  "policy" | "trustAnchors" | "cache" | "uses" | "provenanceVerifier"
> {
  /** `bundle`: the one inside the bundle, which its maker chose. Null: none, so any genuine enclave passes. */
  readonly policy: PlainPolicy | "bundle" | null;
  readonly trustAnchors?: readonly { readonly name: string; readonly pem: string }[];
}

const NAMES: Readonly<Record<keyof PlainOptions, true>> = otherMembers(
  OPTION_NAMES,
  "cache",
  "uses",
  "provenanceVerifier",
);

/** The options as plain data, without `cache`, `uses` and `provenanceVerifier`; without a policy, the bundle's. */
export function plainOptions(
  options: Omit<VerifyOptions, "policy"> & { readonly policy: VerifyOptions["policy"] | undefined },
): PlainOptions {
  const own = ownMembers(options, NAMES);
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  const trustAnchors = own.trustAnchors?.map((anchor) => ({ name: anchor.name, pem: pemOf(anchor) }));
  return copyPlain({
    ...(Object.fromEntries(given) as unknown as Omit<typeof own, "policy" | "trustAnchors">),
    policy: plainPolicyOf(own.policy),
    ...(trustAnchors && { trustAnchors }),
  });
}

function plainPolicyOf(policy: VerifyOptions["policy"] | undefined): PlainOptions["policy"] {
  if (policy === undefined) return "bundle";
  if (policy === NO_POLICY_ANY_ENCLAVE) return null;
  return ParsedPolicy.is(policy) ? policyContent(policy) : plainPolicy(policy);
}

/** A copy of plain options. Throws TypeError as {@link ownOptions} does. */
export function ownPlainOptions(options: PlainOptions): PlainOptions {
  return copyPlain(ownOptions("options", options, NAMES));
}

/** Plain options without their policy, as options. Throws {@link MalformedError} for a malformed trust anchor. */
export function optionsBesidePolicy(plain: Omit<PlainOptions, "policy">): OptionsBesidePolicy {
  const own = ownMembers(plain as PlainOptions, NAMES);
  const anchors = own.trustAnchors?.map(({ name, pem }) => parseTrustAnchor(name, pem));
  return Object.assign(otherMembers(own, "policy", "trustAnchors"), anchors && { trustAnchors: anchors });
}

/** Everything but the present that decides a verdict, as plain data. */
export interface JudgedBy {
  /** Null: none, so any genuine enclave passes. */
  readonly policy: PlainPolicy | null;
  readonly trustAnchors?: readonly { readonly name: string; readonly pem: string }[] | undefined;
  readonly at?: string | undefined;
  readonly allowDebug?: boolean | undefined;
  readonly acceptance?: "standard" | "strict" | undefined;
  readonly bootProofs?: readonly string[] | undefined;
  /** Each as JSON text, bytes or value. */
  readonly provenance?: readonly unknown[] | undefined;
}

/** `policy` is its text without the names of files. `trustAnchors` and `trustedRoots` are the content of files. */
export type SettingPart = keyof JudgedBy | "trustedRoots";

type Piece = readonly [label: string, content: string | Uint8Array];

interface PolicyPieces {
  readonly text: readonly Piece[];
  readonly files: Readonly<Record<FileKind, readonly Piece[]>>;
}

const JUDGED_BY: Readonly<Record<keyof JudgedBy, true>> = {
  policy: true,
  trustAnchors: true,
  at: true,
  allowDebug: true,
  acceptance: true,
  bootProofs: true,
  provenance: true,
};

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
  bootProofs: ({ bootProofs = [] }) => bootProofs.map((text) => ["bootProof", text]),
  provenance: ({ provenance = [] }) => provenance.map((bundle) => ["bundle", contentOf(bundle)]),
};

/**
 * SHA-256, in hex, of each part of a setting: two settings judge alike if all are equal. Where a policy names a file,
 * the content of the file counts and not its name.
 */
export async function settingParts(setting: JudgedBy): Promise<Readonly<Record<SettingPart, string>>> {
  const own = ownMembers(setting, JUDGED_BY);
  const policy = await policyPieces(own.policy);
  const parts = Object.entries(SETTING_PARTS).map(
    async ([part, pieces]) => [part, await digestOfPieces(pieces(own, policy))] as const,
  );
  return Object.fromEntries(await Promise.all(parts)) as Record<SettingPart, string>;
}

/** One digest of several parts. */
export function digestOfParts(parts: Readonly<Record<string, string>>): Promise<string> {
  return digestOfPieces(Object.entries(parts));
}

/** Each piece with its label and length, so that none can take the place of another. */
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
  const { bytes, anchors = {}, roots = {} } = ownMembers(policy, POLICY_NAMES);
  const files = namedFiles(attempt(() => parseJson(bytes)).value);
  const text = fromUtf8(bytes);
  const texts = text === null ? [bytes] : withoutNames(text, files);
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

/** The text around the names of files. */
function withoutNames(text: string, files: readonly NamedFile[]): string[] {
  if (files.length === 0) return [text];
  // In the order of the text, as objects of JSON keep it.
  const paths = files.map(({ path }) => path);
  const places = placesOf(text, 0, paths);
  const starts = [0, ...places.map(({ end }) => end)];
  return starts.map((start, index) => text.slice(start, places[index]?.value));
}

/** Each array and object is read once, however many names are in it. */
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
