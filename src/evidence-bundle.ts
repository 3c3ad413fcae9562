/**
 * Evidence in one file, `bootproof-bundle/1`: boot proofs, app proofs, an activity, and what they were judged by, to be
 * verified anew without a network, years later. A bundle is evidence like any other: nothing in it is believed.
 */
import { type Policy, type PolicyFile, type ParsePolicyOptions, parsePolicy } from "./appraise/policy.js";
import {
  type Evidence,
  NO_POLICY_ANY_ENCLAVE,
  NamedEvidence,
  type Verification,
  type VerifyOptions,
  verifyEvidence,
} from "./bootproof.js";
import type { CheckId } from "./checks.js";
import { readActivity } from "./decode/activity.js";
import { MAX_APP_PROOFS } from "./decode/app-proof.js";
import { jsonInput, requireOptions, unwrap } from "./decode/input.js";
import { type JsonObject, type JsonValue, MemberReader, isJsonObject, memberPath } from "./decode/json.js";
import { FaultList, MalformedError, attempt, cut } from "./errors.js";
import type { Report } from "./report/report.js";
import { VerifiedBootProof } from "./verify/boot-proof.js";
import type { Expected } from "./verify/expectation.js";
import { SignatureCache } from "./verify/signature-cache.js";
import { certificatePem } from "./verify/trust-anchor.js";

export const BUNDLE_FORMAT = "bootproof-bundle/1" as const;
/** Each is judged on its own: with more of them, a small file would be a long wait. */
export const MAX_BUNDLE_BOOT_PROOFS = 256;
/**
 * More statements than the report of any bundle has: of one that has more, the rest is not compared, and that is told.
 */
const MAX_STATEMENTS = 100_000;
/** Characters of their places. */
const MAX_PLACES = 8 * 1024 * 1024;
/** A report that differs in more places is another report. */
const MAX_DIFFERENCES = 100;
const MAX_VALUE = 1000;
const NOT_LOOKED_AT = '"not compared"';

/**
 * In place of a policy: the one inside the bundle, which whoever made the bundle chose, its trust anchors included.
 * What passes by it is what its maker wanted to pass.
 */
export const POLICY_OF_THE_BUNDLE = Symbol("the policy that the bundle's maker chose");

/** The file, as JSON. `now`, `policy` and `report` are there together, or none of them: then nobody judged it yet. */
export interface BundleFile {
  readonly bundle: typeof BUNDLE_FORMAT;
  /** RFC 3339, UTC, with milliseconds: the present when it was judged. */
  readonly now?: string;
  readonly bootProofs: readonly unknown[];
  /** Without those that the activity carries. */
  readonly appProofs: readonly unknown[];
  readonly activity?: unknown;
  /** Complete in itself: trust anchors as PEM. Null: judged without one. */
  readonly policy?: PolicyFile | null;
  readonly report?: Report;
}

/** A bundle that was read and found well-formed. Its evidence is as it was packed, good or not. */
export interface Bundle {
  readonly evidence: Evidence;
  readonly judgement: Judgement | null;
}

/** What the bundle says of how it was judged: its maker's word. */
export interface Judgement {
  readonly now: Date;
  readonly policy: Policy | null;
  readonly report: JsonObject;
}

export interface PackOptions {
  /** Complete in itself: see {@link selfContainedPolicy}. */
  readonly policy: PolicyFile | typeof NO_POLICY_ANY_ENCLAVE;
  readonly now: Date;
  /** What was asked. It is not packed: whoever verifies the bundle says what they ask. */
  readonly expected?: Expected;
  /** The nonce that was asked for. It is not packed either. */
  readonly nonce?: Uint8Array;
}

const PACK_OPTIONS: Readonly<Record<keyof PackOptions, true>> = {
  policy: true,
  now: true,
  expected: true,
  nonce: true,
};

/** Packs evidence as it is. Throws TypeError for a boot proof that is verified already, of which no JSON is left. */
export function packEvidence(evidence: Evidence): BundleFile {
  const bootProofs = evidence.bootProofs.map(valueOf);
  if (bootProofs.some((bootProof) => VerifiedBootProof.isVerified(bootProof)))
    throw new TypeError("bootProofs: JSON values wanted");
  return {
    bundle: BUNDLE_FORMAT,
    bootProofs: bootProofs.map((bootProof) => withOwnName(unwrap(jsonOf(bootProof), "bootProof"))),
    appProofs: (evidence.appProofs ?? []).map(jsonOf),
    ...(evidence.activity !== undefined && { activity: unwrap(jsonOf(evidence.activity), "activity") }),
  };
}

/** The document under the interface's own name; both names stay where both are there, for they may differ. */
function withOwnName(bootProof: unknown): unknown {
  if (
    !isJsonObject(bootProof) ||
    (bootProof["awsAttestationDocB64"] ?? null) === null ||
    (bootProof["cloudAttestationDocB64"] ?? null) !== null
  )
    return bootProof;
  return Object.fromEntries(
    Object.entries(bootProof)
      .filter(([name]) => name !== "cloudAttestationDocB64")
      .map(([name, value]) => [name === "awsAttestationDocB64" ? "cloudAttestationDocB64" : name, value]),
  );
}

/** The value of JSON text; text that is none stays what it is, to be judged like the rest. */
function jsonOf(piece: unknown): unknown {
  const input = valueOf(piece);
  return attempt(() => jsonInput(input)).value ?? input;
}

function valueOf(piece: unknown): unknown {
  return piece instanceof NamedEvidence ? piece.value : piece;
}

/**
 * Verifies evidence and packs it, with what it was judged by and the report. There is no bundle of rejected evidence.
 * Throws {@link MalformedError} for a policy that is none, or not complete in itself.
 */
export async function packBundle(
  evidence: Evidence,
  options: PackOptions,
): Promise<Verification & { readonly bundle: BundleFile | null }> {
  requireOptions("options", options, PACK_OPTIONS);
  const { policy, now, expected, nonce } = options;
  const packed = packEvidence(evidence);
  const parsed = policy === NO_POLICY_ANY_ENCLAVE ? policy : parsePolicy(policy);
  const verification = await verifyEvidence(evidenceOf(packed), {
    policy: parsed,
    now,
    ...(expected && { expected }),
    ...(nonce && { nonce }),
  });
  if (verification.report.verdict === "rejected") return { ...verification, bundle: null };
  const { bundle, ...pieces } = packed;
  const policyFile = policy === NO_POLICY_ANY_ENCLAVE ? null : policy;
  return {
    ...verification,
    bundle: { bundle, now: now.toISOString(), ...pieces, policy: policyFile, report: verification.report },
  };
}

/**
 * The policy with the certificates of its anchor files inside it, made from the certificates: whatever else stands in
 * those files stays there. Throws {@link MalformedError} (`json` or `policy`) with
 * every fault.
 */
export function selfContainedPolicy(input: string | Uint8Array | object, options: ParsePolicyOptions): PolicyFile {
  const file = jsonInput(input) as unknown as PolicyFile;
  const { trustAnchors } = parsePolicy(file, options);
  if (file.trustAnchors === undefined) return file;
  return {
    ...file,
    trustAnchors: file.trustAnchors.map((anchor, index) =>
      isFile(anchor) ? { pem: certificatePem(trustAnchors[index]!.certificate.der) } : anchor,
    ),
  };
}

function isFile(anchor: NonNullable<PolicyFile["trustAnchors"]>[number]): boolean {
  return typeof anchor === "object" && "file" in anchor;
}

/** Whether a JSON value calls itself a bundle, of whatever version. */
export function isBundle(json: unknown): boolean {
  return isJsonObject(json) && Object.hasOwn(json, "bundle");
}

/**
 * Reads a bundle from JSON text, its bytes, or the parsed value. The evidence inside is not looked into. Throws
 * {@link MalformedError} (`json` or `bundle`) with the path of every fault.
 */
export function decodeBundle(input: unknown): Bundle {
  const faults = new FaultList();
  const reader = MemberReader.of(jsonInput(input), "", faults);
  const bundle = reader && bundleOf(reader);
  if (bundle === undefined || faults.length > 0) throw new MalformedError("bundle", faults);
  return bundle;
}

function bundleOf(reader: MemberReader): Bundle {
  if (reader.get("bundle") !== BUNDLE_FORMAT) reader.fault("bundle", `"${BUNDLE_FORMAT}" wanted`);
  reader.refuseUnknown(["bundle", "now", "bootProofs", "appProofs", "activity", "policy", "report"]);
  const bootProofs = list(reader, "bootProofs", MAX_BUNDLE_BOOT_PROOFS);
  const appProofs = list(reader, "appProofs", MAX_APP_PROOFS);
  if (bootProofs?.length === 0) reader.fault("bootProofs", "empty: at least one wanted");
  const activity = reader.get("activity");
  const evidence = {
    bootProofs: bootProofs ?? [],
    appProofs: appProofs ?? [],
    ...(activity !== undefined && { activity }),
  };
  const inside = activity === undefined ? 0 : (readActivity(activity).value.appProofs?.length ?? 0);
  if ((appProofs?.length ?? 0) + inside > MAX_APP_PROOFS)
    reader.fault("appProofs", `with the activity's more than ${MAX_APP_PROOFS}`);
  return { evidence, judgement: judgementOf(reader) };
}

/** The bundle with each piece of its evidence under a name, such as the bundle's file: reports show it. */
export function namedBundle(bundle: Bundle, name: string, bytes: Uint8Array): Bundle {
  const { bootProofs, appProofs, activity } = bundle.evidence;
  const named = (piece: unknown): NamedEvidence => new NamedEvidence(name, piece, { bytes });
  const evidence = {
    bootProofs: bootProofs.map(named),
    appProofs: (appProofs ?? []).map(named),
    ...(activity !== undefined && { activity: named(activity) }),
  };
  return { ...bundle, evidence };
}

function list(reader: MemberReader, name: string, most: number): JsonValue[] | undefined {
  const items = reader.array(name, (value) => value);
  return items && items.length > most ? reader.fault(name, `${items.length} entries, at most ${most} wanted`) : items;
}

function judgementOf(reader: MemberReader): Judgement | null {
  const names = ["now", "policy", "report"].filter((name) => Object.hasOwn(reader.object, name));
  if (names.length === 0) return null;
  if (names.length < 3) reader.fault("", `${names.join(" and ")} without the rest of now, policy and report`);
  const now = instant(reader);
  const policy = reader.get("policy") === undefined ? null : packedPolicy(reader);
  const report = reader.nested("report");
  return now && report && policy !== undefined ? { now, policy, report: report.object } : null;
}

function instant(reader: MemberReader): Date | undefined {
  const text = reader.string("now");
  if (text === undefined) return undefined;
  const now = new Date(text);
  const isTime = !Number.isNaN(now.getTime()) && now.toISOString() === text;
  return isTime ? now : reader.fault("now", "not a time such as 2026-03-04T05:06:07.000Z");
}

function packedPolicy(reader: MemberReader): Policy | undefined {
  const json = reader.get("policy");
  const policy = attempt(() => parsePolicy(isJsonObject(json) ? json : {}));
  for (const { path, message } of policy.faults) reader.fault(path === "" ? "policy" : `policy.${path}`, message);
  return policy.value;
}

export interface BundleVerifyOptions extends Omit<VerifyOptions, "policy"> {
  /** The caller's own; or, in so many words, the bundle's; or none at all. */
  readonly policy: Policy | typeof NO_POLICY_ANY_ENCLAVE | typeof POLICY_OF_THE_BUNDLE;
}

export interface BundleVerification extends Verification {
  readonly policyFrom: "caller" | "bundle";
  /** The report inside the bundle, held against its evidence; null where there is none. */
  readonly packed: PackedReport | null;
}

export interface PackedReport {
  /** RFC 3339: the present that it was made by. */
  readonly now: string;
  /** What its evidence yields, by its policy and as of that time. */
  readonly verdict: Report["verdict"];
  /**
   * Where it says something else, up to a hundred places: verdict, statuses, claims; not words, for versions change
   * them.
   */
  readonly differences: readonly Difference[];
}

/** Values as JSON text, long ones cut; null where one side has none. */
export interface Difference {
  /** Such as `verdict`, or `boot[0] cose.signature`. */
  readonly place: string;
  readonly packed: string | null;
  readonly anew: string | null;
}

/**
 * Verifies what is in a bundle, anew: as {@link verifyEvidence} does, which says what it throws, and of what it does
 * not. The report inside is compared, and not believed. Throws TypeError where the bundle's policy is asked for and it
 * has none.
 */
export async function verifyBundle(bundle: Bundle, options: BundleVerifyOptions): Promise<BundleVerification> {
  const { evidence, judgement } = bundle;
  const own = options.policy === POLICY_OF_THE_BUNDLE;
  if (own && !judgement?.policy) throw new TypeError("the bundle has no policy");
  const cache = options.cache ?? new SignatureCache();
  const policy = options.policy === POLICY_OF_THE_BUNDLE ? judgement!.policy! : options.policy;
  const nonce = options.nonce instanceof Uint8Array ? { nonce: new Uint8Array(options.nonce) } : {};
  const verification = await verifyEvidence(evidence, { ...options, policy, cache });
  const packed = judgement && (await comparePacked(evidence, judgement, { cache, ...nonce }));
  return { ...verification, policyFrom: own ? "bundle" : "caller", packed };
}

async function comparePacked(
  evidence: Evidence,
  { now, policy, report }: Judgement,
  options: Pick<VerifyOptions, "cache" | "nonce">,
): Promise<PackedReport> {
  const anew = await verifyEvidence(evidence, { ...options, policy: policy ?? NO_POLICY_ANY_ENCLAVE, now });
  return {
    now: now.toISOString(),
    verdict: anew.report.verdict,
    differences: differences(statements(report), statements({ ...anew.report })),
  };
}

/** What is not compared counts as a difference: nothing passes that was not looked at. */
function differences(packed: Statements, anew: Statements): Difference[] {
  const found = [...new Set([...packed.keys(), ...anew.keys()])]
    .map((place) => ({ place, packed: packed.get(place) ?? null, anew: anew.get(place) ?? null }))
    .filter((difference) => difference.packed !== difference.anew);
  const rest =
    packed.isFull || anew.isFull
      ? [{ place: "(the rest, which is too long)", packed: NOT_LOOKED_AT, anew: NOT_LOOKED_AT }]
      : [];
  return [...rest, ...found].slice(0, MAX_DIFFERENCES);
}

/** What a report says of its making; and what depends on what was asked, which no bundle says. */
const NOT_COMPARED = ["tool", "verifiedAt", "policyDigest", "evidence"];
const OF_THE_QUESTION: readonly string[] = ["app.request", "activity.request"] satisfies readonly CheckId[];

/** What a report says, by place, as far as there is room. */
class Statements extends Map<string, string> {
  #left = MAX_PLACES;

  get isFull(): boolean {
    return this.size >= MAX_STATEMENTS || this.#left <= 0;
  }

  override set(place: string, text: string): this {
    this.#left -= place.length;
    return super.set(place, text);
  }
}

/** The packed one may be of any shape. */
function statements(report: object): Statements {
  const said = new Statements();
  for (const [index, [name, value]] of Object.entries(report).entries()) {
    if (name === "checks" && Array.isArray(value))
      value.slice(0, MAX_STATEMENTS).forEach((check, index) => tell(check, index, said));
    else if (!NOT_COMPARED.includes(name)) gather(said, memberPath("", name, index), value as unknown);
  }
  for (const place of [...said.keys()]) if (place.startsWith("claims.activity.asked")) said.delete(place);
  return said;
}

function tell(check: unknown, index: number, said: Statements): void {
  const { id } = (check ?? {}) as Record<string, unknown>;
  if (!OF_THE_QUESTION.includes(id as string)) said.set(...statusOf(check, index, said));
}

function statusOf(check: unknown, index: number, said: ReadonlyMap<string, string>): [string, string] {
  const { subject, id, status } = (check ?? {}) as Record<string, unknown>;
  const place = typeof subject === "string" && typeof id === "string" ? `${subject} ${id}` : `checks[${index}]`;
  // Under several boot proofs a check of the policy has an answer for each.
  return [said.has(place) ? `${place} (${index})` : place, jsonText(status)];
}

function gather(said: Statements, place: string, value: unknown): void {
  if (said.isFull) return;
  if (typeof value !== "object" || value === null || isEmpty(value)) {
    if (value !== undefined) said.set(place, jsonText(value));
    return;
  }
  let index = 0;
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    gather(
      said,
      Array.isArray(value) ? `${place}[${name}]` : memberPath(place, name, index),
      (value as JsonObject)[name],
    );
    index++;
  }
}

function isEmpty(value: object): boolean {
  for (const name in value) if (Object.hasOwn(value, name)) return false;
  return true;
}

function jsonText(value: unknown): string {
  return cut(JSON.stringify(value) ?? "null", MAX_VALUE);
}

function evidenceOf({ bootProofs, appProofs, activity }: BundleFile): Evidence {
  return { bootProofs, appProofs, ...(activity !== undefined && { activity }) };
}
