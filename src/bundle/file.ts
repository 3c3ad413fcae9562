/** The bundle file, `bootproof-bundle/1`. None of its content is trusted. */
import { PAYLOAD_TYPE } from "../appraise/parsed-policy.js";
import { type Policy, type PolicyFile, parsePolicy } from "../appraise/policy.js";
import type { Evidence, NamedEvidence } from "../bootproof.js";
import { fromBase64, fromUtf8 } from "../bytes.js";
import { readActivity } from "../decode/activity.js";
import { MAX_APP_PROOFS } from "../decode/app-proof-limits.js";
import { MAX_BUNDLE_BOOT_PROOFS } from "../decode/boot-proof.js";
import { jsonInput, otherMembers } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { MemberReader, jsonList } from "../decode/json-members.js";
import {
  flag,
  instant,
  list as listOf,
  nullable,
  object,
  objectOf,
  oneOf,
  optional,
  placeOf,
  readShape,
  text,
} from "../decode/shapes.js";
import { FaultList, MalformedError, attempt } from "../errors.js";
import { evidenceMembers, namedSharing } from "../inputs.js";
import { PLAIN_OPTIONS, type PlainOptions, keyHex, parsePlainPolicy } from "../plain-settings.js";
import type { Report } from "../report/report.js";
import { MAX_PROVENANCE } from "../verify/provenance-demand.js";

export const BUNDLE_FORMAT = "bootproof-bundle/1" as const;
/** A bundle as JSON. Either `now`, `policy` and `report` are all present, or all are absent in an unverified bundle. */
export interface BundleFile {
  readonly bundle: typeof BUNDLE_FORMAT;
  /** The time as of which the bundle's maker verified: RFC 3339, UTC, with milliseconds. */
  readonly now?: string;
  readonly bootProofs: readonly unknown[];
  /** App proofs outside the activity. */
  readonly appProofs: readonly unknown[];
  readonly activity?: unknown;
  /** Sigstore bundles of builds. */
  readonly provenance?: readonly unknown[];
  /**
   * Policy with trust anchors as PEM, and trusted roots as JSON text, or the envelope of a signed policy, which never
   * judges. Null means that no policy was used.
   */
  readonly policy?: PackedPolicy | null;
  readonly report?: Report;
  /** Other demands and permissions of the bundle's maker. They only serve to make the report again. */
  readonly options?: object;
}

/** A signed policy in its envelope (signed-policy/README.md). */
interface SignedEnvelope {
  readonly payloadType: typeof PAYLOAD_TYPE;
  readonly payload: string;
}

export type PackedPolicy = PolicyFile | SignedEnvelope;

/** A well-formed bundle. Its evidence is not verified. */
export interface Bundle {
  readonly evidence: Evidence;
  readonly judgement: Judgement | null;
}

/** The verification by the bundle's maker. */
export interface Judgement {
  readonly now: Date;
  readonly policy: Policy | null;
  readonly report: JsonObject;
  readonly options: BundleOptions;
}

/** What the maker demanded and allowed: all options but the policy and the time, which are members of the bundle. */
export interface BundleOptions extends Omit<PlainOptions, "policy" | "now"> {
  /** For each boot proof, in order, the key for which it was requested, in hex. Null means that none is known. */
  readonly requestedKeys?: readonly (string | null)[];
  /** The policy came with an earlier bundle, so the verdict was `authentic` at best. */
  readonly policyFrom?: "bundle";
}

const bundleOptions = objectOf<BundleOptions>({
  ...otherMembers(PLAIN_OPTIONS, "policy", "now"),
  requestedKeys: optional(listOf(nullable(keyHex))),
  policyFrom: optional(oneOf("bundle")),
});

export function isBundle(json: unknown): boolean {
  return isJsonObject(json) && Object.hasOwn(json, "bundle");
}

/**
 * Reads JSON text, its bytes, or the parsed value. The evidence is not checked. Throws {@link MalformedError} (`json`
 * or `bundle`) with the path of every fault.
 */
export function decodeBundle(input: unknown): Bundle {
  const faults = new FaultList();
  const reader = MemberReader.of(jsonInput(input), placeOf(faults));
  const bundle = reader && bundleOf(reader);
  if (bundle === undefined || faults.length > 0) throw new MalformedError("bundle", faults);
  return bundle;
}

function bundleOf(reader: MemberReader): Bundle {
  if (reader.get("bundle") !== BUNDLE_FORMAT) reader.fault("bundle", `expected "${BUNDLE_FORMAT}"`);
  reader.refuseUnknown(["bundle", "bootProofs", "appProofs", "activity", "provenance", ...JUDGEMENT, "options"]);
  const evidence = { appProofs: [], ...evidenceIn(reader, ["bootProofs", "appProofs"]) };
  return { evidence, judgement: judgementOf(reader) };
}

/** Reads evidence. The lists in `required` must be present. */
export function evidenceIn(reader: MemberReader, required: readonly ("bootProofs" | "appProofs")[]): Evidence {
  const isThere = (name: string): boolean =>
    (required as readonly string[]).includes(name) || reader.get(name) !== undefined;
  const listOf = (name: "bootProofs" | "appProofs" | "provenance", most: number): JsonValue[] | undefined =>
    isThere(name) ? list(reader, name, most) : undefined;
  const bootProofs = listOf("bootProofs", MAX_BUNDLE_BOOT_PROOFS);
  const appProofs = listOf("appProofs", MAX_APP_PROOFS);
  if (bootProofs?.length === 0) reader.fault("bootProofs", "empty: expected at least one");
  const provenance = listOf("provenance", MAX_PROVENANCE);
  const activity = reader.get("activity");
  if ((appProofs?.length ?? 0) + appProofsInside(activity) > MAX_APP_PROOFS)
    reader.fault("appProofs", `together with the activity's, more than ${MAX_APP_PROOFS}`);
  return {
    bootProofs: bootProofs ?? [],
    ...(appProofs && { appProofs }),
    ...(activity !== undefined && { activity }),
    ...(provenance && { provenance }),
  };
}

function appProofsInside(activity: JsonValue | undefined): number {
  return activity === undefined ? 0 : (readActivity(activity).value.appProofs?.length ?? 0);
}

export function namedBundle(bundle: Bundle, name: string, bytes: Uint8Array): Bundle {
  const { bootProofs, appProofs, activity, provenance } = evidenceMembers(bundle.evidence);
  const shared = new Uint8Array(bytes);
  const named = (piece: unknown): NamedEvidence => namedSharing(name, piece, { bytes: shared });
  const evidence = {
    bootProofs: bootProofs.map(named),
    appProofs: appProofs.map(named),
    ...(activity !== undefined && { activity: named(activity) }),
    ...(provenance.length > 0 && { provenance: provenance.map(named) }),
  };
  return { ...bundle, evidence };
}

function list(reader: MemberReader, name: string, most: number): JsonValue[] | undefined {
  const items = reader.read(name, jsonList);
  return items && items.length > most ? reader.fault(name, `${items.length} entries, expected at most ${most}`) : items;
}

const JUDGEMENT = ["now", "policy", "report"] as const;

function judgementOf(reader: MemberReader): Judgement | null {
  const names = JUDGEMENT.filter((name) => Object.hasOwn(reader.object, name));
  const options = reader.get("options");
  if (names.length === 0) {
    if (options !== undefined) reader.fault("options", "allowed only with the members now, policy and report");
    return null;
  }
  if (names.length < 3) reader.fault("", `${names.join(" and ")}: expected all of now, policy and report, or none`);
  const now = reader.read("now", instant);
  const policy = reader.get("policy") === undefined ? null : packedPolicy(reader);
  const report = reader.nested("report");
  const own = bundleOptions.read(options ?? {}, reader.place.at("options"));
  if (now === undefined || report === undefined || policy === undefined) return null;
  return { now: new Date(now), policy, report: report.object, options: own };
}

function packedPolicy(reader: MemberReader): Policy | undefined {
  const json = reader.get("policy");
  const policy = attempt(() => {
    if (isSignedEnvelope(json)) return shownPolicy(json, reader.get("report"));
    return parsePolicy(isJsonObject(json) ? json : {});
  });
  for (const { path, message } of policy.faults) reader.fault(path === "" ? "policy" : `policy.${path}`, message);
  return policy.value;
}

export function isSignedEnvelope(json: unknown): json is SignedEnvelope & JsonObject {
  return isJsonObject(json) && json["payloadType"] === PAYLOAD_TYPE;
}

/** Returns the payload as text; empty if it is not base64 of UTF-8. */
export function payloadIn({ payload }: SignedEnvelope): string {
  return fromUtf8(fromBase64(String(payload)) ?? new Uint8Array()) ?? "";
}

const claimedShape = object({ signedBy: listOf(text), remembered: flag }, { unknown: "ignore" });

/** Returns a signed policy as the bundle's maker shows it. No signature is verified: it never judges. */
function shownPolicy(envelope: SignedEnvelope & JsonObject, report: JsonValue | undefined): Policy {
  const claimed = isJsonObject(report) ? readShape(claimedShape, report["signedPolicy"]).value : undefined;
  const known = claimed ?? { signedBy: [], remembered: false };
  const signed = { ...known, sha256: "", envelope: JSON.stringify(envelope) };
  return parsePlainPolicy({ text: payloadIn(envelope), signed });
}
