/** The policy file, `bootproof/1`: what a user pins (policy.md). */
import { fromHex } from "../bytes.js";
import type { CommitmentKind } from "../verify/commitment.js";
import { nameText } from "../decode/certificate.js";
import { jsonInput } from "../decode/input.js";
import { type JsonValue, MemberReader, isJsonObject, jsonKind } from "../decode/json.js";
import { type Fault, FaultList, MalformedError, attempt, faultText } from "../errors.js";
import { AWS_NITRO_ROOT_G1, AWS_NITRO_ROOT_G1_NAME, type TrustAnchor, parseTrustAnchor } from "../verify/trust-anchor.js";

/** The file, as JSON. */
export interface PolicyFile {
  readonly policy: "bootproof/1";
  readonly name?: string;
  readonly trustAnchors?: readonly (string | { readonly pem: string } | { readonly file: string })[];
  readonly deployments: readonly DeploymentFile[];
  readonly maxAge?: string;
  readonly appProofs?: {
    readonly types?: readonly string[]; readonly maxAge?: string; readonly required?: boolean; readonly coverage?: boolean;
  };
  readonly allowDebug?: boolean;
}

export interface DeploymentFile {
  readonly name?: string;
  readonly pcrs?: PcrsFile | readonly PcrsFile[];
  readonly pivotHash?: string | readonly string[];
  readonly namespace?: string | readonly string[];
  readonly minNonce?: number;
  readonly quorumKey?: string | readonly string[];
  readonly manifestSet?: { readonly threshold: number; readonly members: readonly string[] };
  readonly shareSet?: { readonly threshold: number; readonly members: readonly string[] };
  readonly commitment?: CommitmentKind;
  readonly labels?: { readonly enclaveApp?: string; readonly owner?: string; readonly deploymentLabel?: string };
}

/** PCR values in hex, by index. */
export type PcrsFile = Readonly<Record<string, string | readonly string[]>>;

/** A policy that was read and found well-formed. Durations are in milliseconds. */
export interface Policy {
  readonly name: string | null;
  readonly trustAnchors: readonly TrustAnchor[];
  readonly deployments: readonly DeploymentPins[];
  readonly maxAge: number | null;
  readonly appProofs: AppProofRules;
  readonly allowDebug: boolean;
}

/** What one deployment pins. What is undefined is not pinned; where a list is given, one of its values has to be met. */
export interface DeploymentPins {
  readonly name: string;
  /** Images: one of them has to be met whole. */
  readonly pcrs?: readonly (readonly PcrPin[])[];
  readonly pivotHash?: readonly Uint8Array[];
  readonly namespace?: readonly string[];
  readonly minNonce?: number;
  readonly quorumKey?: readonly Uint8Array[];
  readonly manifestSet?: SetPin;
  readonly shareSet?: SetPin;
  readonly commitment?: CommitmentKind;
  readonly labels?: { readonly enclaveApp?: string; readonly owner?: string; readonly deploymentLabel?: string };
}

export interface PcrPin {
  readonly index: number;
  readonly accepted: readonly Uint8Array[];
}

export interface SetPin {
  readonly threshold: number;
  readonly members: readonly Uint8Array[];
}

export interface AppProofRules {
  /** Null: any type. */
  readonly types: readonly string[] | null;
  readonly maxAge: number | null;
  readonly required: boolean;
  readonly coverage: boolean;
}

export interface ParsePolicyOptions {
  /** Reads a trust anchor's `file`, named relative to the policy file. Without it such an anchor is a fault. */
  readonly readFile?: (path: string) => string;
}

const PCR_LENGTH = 48;
const HASH_LENGTH = 32;
const KEY_LENGTH = 130;
const MAX_PCR = 31;
const DURATION_UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Reads a policy from JSON text, its bytes, or the parsed value. Throws {@link MalformedError} (`json` or `policy`) with
 * the path of every fault.
 */
export function parsePolicy(input: string | Uint8Array | object, options: ParsePolicyOptions = {}): Policy {
  const faults = new FaultList();
  const reader = MemberReader.of(jsonInput(input), "", faults);
  const policy = reader && policyOf(reader, options);
  if (policy === undefined || faults.length > 0) throw new MalformedError("policy", faults);
  parsedPolicies.add(policy);
  return Object.freeze(policy);
}

const parsedPolicies = new WeakSet<object>();

/** Whether {@link parsePolicy} made it: nothing else was found well-formed, and an object without pins would fit anything. */
export function isPolicy(value: unknown): value is Policy {
  return typeof value === "object" && value !== null && parsedPolicies.has(value);
}

function policyOf(reader: MemberReader, options: ParsePolicyOptions): Policy {
  reader.refuseUnknown(["policy", "name", "trustAnchors", "deployments", "maxAge", "appProofs", "allowDebug"]);
  if (reader.get("policy") !== "bootproof/1") reader.fault("policy", `"bootproof/1" wanted`);
  const deployments = nonEmpty(reader, "deployments", reader.array("deployments", (value, path) => deploymentOf(value, path, reader.faults)));
  return {
    name: optional(reader, "name", () => reader.string("name")) ?? null,
    trustAnchors: optional(reader, "trustAnchors", () => trustAnchors(reader, options)) ?? [AWS_NITRO_ROOT_G1],
    deployments: deployments ?? [],
    maxAge: optional(reader, "maxAge", () => duration(reader, "maxAge")) ?? null,
    appProofs: appProofRules(optional(reader, "appProofs", () => reader.nested("appProofs"))),
    allowDebug: optional(reader, "allowDebug", () => reader.boolean("allowDebug")) ?? false,
  };
}

function appProofRules(rules: MemberReader | undefined): AppProofRules {
  if (rules === undefined) return { types: null, maxAge: null, required: false, coverage: false };
  rules.refuseUnknown(["types", "maxAge", "required", "coverage"]);
  return {
    types: optional(rules, "types", () => nonEmpty(rules, "types", rules.strings("types"))) ?? null,
    maxAge: optional(rules, "maxAge", () => duration(rules, "maxAge")) ?? null,
    required: optional(rules, "required", () => rules.boolean("required")) ?? false,
    coverage: optional(rules, "coverage", () => rules.boolean("coverage")) ?? false,
  };
}

function deploymentOf(value: JsonValue, path: string, faults: Fault[]): DeploymentPins | undefined {
  const reader = MemberReader.of(value, path, faults);
  if (reader === undefined) return undefined;
  reader.refuseUnknown([
    "name", "pcrs", "pivotHash", "namespace", "minNonce", "quorumKey", "manifestSet", "shareSet", "commitment", "labels",
  ]);
  const pins: Record<keyof DeploymentPins, unknown> = {
    name: optional(reader, "name", () => reader.string("name")) ?? path,
    pcrs: optional(reader, "pcrs", () => oneOrMore(reader, "pcrs", pcrPins)),
    pivotHash: optional(reader, "pivotHash", () => hexValues(reader, "pivotHash", HASH_LENGTH)),
    namespace: optional(reader, "namespace", () => oneOrMore(reader, "namespace", namespaceName)),
    minNonce: optional(reader, "minNonce", () => wholeNumber(reader, "minNonce", 0)),
    quorumKey: optional(reader, "quorumKey", () => hexValues(reader, "quorumKey", KEY_LENGTH)),
    manifestSet: optional(reader, "manifestSet", () => setPin(reader, "manifestSet")),
    shareSet: optional(reader, "shareSet", () => setPin(reader, "shareSet")),
    commitment: optional(reader, "commitment", () => commitment(reader)),
    labels: optional(reader, "labels", () => labels(reader)),
  };
  if (!pinsCode(reader)) faults.push({ path, message: "pins no code: pcrs (0, 1 and 2) or pivotHash wanted" });
  return Object.fromEntries(Object.entries(pins).filter(([, pin]) => pin !== undefined)) as unknown as DeploymentPins;
}

/** A deployment has to say which code it means: the image (PCR0, 1 and 2) or the application binary. */
function pinsCode(reader: MemberReader): boolean {
  const pcrs = [reader.get("pcrs")].flat();
  const image = (value: JsonValue | undefined): boolean => isJsonObject(value) && ["0", "1", "2"].every((index) => Object.hasOwn(value, index));
  return pcrs.every(image) || reader.get("pivotHash") !== undefined;
}

function pcrPins(value: JsonValue, path: string, faults: Fault[]): PcrPin[] | undefined {
  const reader = MemberReader.of(value, path, faults);
  if (reader === undefined) return undefined;
  const names = Object.keys(reader.object);
  if (names.length === 0) faults.push({ path, message: "empty: what is not pinned is left out" });
  return names.flatMap((name) => {
    const isIndex = /^(?:0|[1-9][0-9]?)$/.test(name) && Number(name) <= MAX_PCR;
    if (!isIndex) reader.fault(name, `not the index of a PCR (0 to ${MAX_PCR})`);
    const accepted = hexValues(reader, name, PCR_LENGTH);
    return isIndex && accepted ? { index: Number(name), accepted } : [];
  });
}

function setPin(deployment: MemberReader, name: string): SetPin | undefined {
  const reader = deployment.nested(name);
  if (reader === undefined) return undefined;
  reader.refuseUnknown(["threshold", "members"]);
  const threshold = wholeNumber(reader, "threshold", 1);
  const members = nonEmpty(reader, "members", reader.array("members", (value, path) => hexValue(value, path, KEY_LENGTH, reader.faults)));
  if (threshold === undefined || members === undefined) return undefined;
  const given = reader.get("members") as JsonValue[];
  if (threshold > given.length) reader.fault("threshold", `${threshold}, with ${given.length} members`);
  return { threshold, members };
}

function commitment(reader: MemberReader): CommitmentKind | undefined {
  const value = reader.get("commitment");
  if (value === "live" || value === "setup" || value === "legacy") return value;
  return reader.fault("commitment", `"live", "setup" or "legacy" wanted`);
}

function labels(deployment: MemberReader): DeploymentPins["labels"] {
  const reader = deployment.nested("labels");
  const names = ["enclaveApp", "owner", "deploymentLabel"];
  reader?.refuseUnknown(names);
  const pinned = names.filter((name) => reader?.get(name) !== undefined);
  return Object.fromEntries(pinned.map((name) => [name, reader?.string(name) ?? ""]));
}

function trustAnchors(reader: MemberReader, options: ParsePolicyOptions): TrustAnchor[] | undefined {
  return nonEmpty(reader, "trustAnchors", reader.array("trustAnchors", (value, path) => {
    const anchor = attempt(() => trustAnchor(value, path, options));
    if (anchor.value === undefined) reader.faults.push({ path, message: faultText(anchor.faults) });
    return anchor.value;
  }));
}

function trustAnchor(value: JsonValue, path: string, options: ParsePolicyOptions): TrustAnchor {
  if (value === AWS_NITRO_ROOT_G1_NAME) return AWS_NITRO_ROOT_G1;
  if (isJsonObject(value) && Object.keys(value).length === 1) {
    if (typeof value["pem"] === "string") return namedBySubject(parseTrustAnchor(path, value["pem"]));
    if (typeof value["file"] === "string") return parseTrustAnchor(`file ${value["file"]}`, anchorFile(value["file"], options));
  }
  throw anchorFault(`"${AWS_NITRO_ROOT_G1_NAME}", {"pem": …} or {"file": …} wanted`);
}

function namedBySubject(anchor: TrustAnchor): TrustAnchor {
  return { ...anchor, name: `${nameText(anchor.certificate.subject)} (the policy's PEM)` };
}

function anchorFile(path: string, options: ParsePolicyOptions): string {
  if (options.readFile === undefined) throw anchorFault("a file, where no files can be read: give the anchor as PEM");
  try {
    return options.readFile(path);
  } catch (error) {
    throw anchorFault(`${path} could not be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function anchorFault(message: string): MalformedError {
  return new MalformedError("policy", [{ path: "", message }]);
}

function optional<T>(reader: MemberReader, name: string, read: () => T | undefined): T | undefined {
  if (!Object.hasOwn(reader.object, name)) return undefined;
  if (reader.object[name] === null) return reader.fault(name, "null: leave out what is not wanted");
  return read();
}

function nonEmpty<T>(reader: MemberReader, name: string, list: T[] | undefined): T[] | undefined {
  return list?.length === 0 && !reader.faults.some((fault) => fault.path.startsWith(reader.at(name)))
    ? reader.fault(name, "empty: at least one wanted")
    : list;
}

/** One value, or an array of accepted ones. */
function oneOrMore<T>(
  reader: MemberReader, name: string, read: (value: JsonValue, path: string, faults: Fault[]) => T | undefined,
): T[] | undefined {
  const value = reader.get(name);
  if (Array.isArray(value)) return nonEmpty(reader, name, reader.array(name, (item, path) => read(item, path, reader.faults)));
  const single = read(value ?? null, reader.at(name), reader.faults);
  return single === undefined ? undefined : [single];
}

function namespaceName(value: JsonValue, path: string, faults: Fault[]): string | undefined {
  if (typeof value === "string" && value !== "") return value;
  faults.push({ path, message: value === "" ? "empty" : `${jsonKind(value)}, a string wanted` });
  return undefined;
}

function hexValues(reader: MemberReader, name: string, length: number): Uint8Array[] | undefined {
  return oneOrMore(reader, name, (value, path, faults) => hexValue(value, path, length, faults));
}

function hexValue(value: JsonValue, path: string, length: number, faults: Fault[]): Uint8Array | undefined {
  const bytes = typeof value === "string" ? fromHex(value) : null;
  if (bytes?.length === length) return bytes;
  const wanted = `${2 * length} wanted`;
  if (typeof value !== "string") faults.push({ path, message: `${jsonKind(value)}, hex of ${2 * length} digits wanted` });
  else if (!/^[0-9a-fA-F]*$/.test(value)) faults.push({ path, message: `not hex, ${2 * length} digits wanted` });
  else faults.push({ path, message: `${value.length} hex digits, ${wanted}` });
  return undefined;
}

function wholeNumber(reader: MemberReader, name: string, least: number): number | undefined {
  const value = reader.get(name);
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= 0xffffffff) return value;
  return reader.fault(name, `${typeof value === "number" ? value : jsonKind(value)}, a whole number of ${least} or more wanted`);
}

function duration(reader: MemberReader, name: string): number | undefined {
  const value = reader.get(name);
  const parts = typeof value === "string" ? /^([1-9][0-9]{0,8})([smhd])$/.exec(value) : null;
  if (parts !== null) return Number(parts[1]) * DURATION_UNITS[parts[2]!]!;
  return reader.fault(name, `${jsonKind(value)}, a duration such as "10m", "12h" or "30d" wanted`);
}
