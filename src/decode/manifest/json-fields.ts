/** Readers of the JSON that all versions share. */
import type { Fault } from "../../errors.js";
import { canonicalIpAddress } from "../ip-address.js";
import type { JsonValue } from "../json.js";
import { MemberReader, hexField, integerField } from "../json-members.js";
import type {
  Approval,
  BridgeConfig,
  EnclaveMeasurements,
  MemberSet,
  Namespace,
  PatchSet,
  QuorumMember,
} from "./model.js";

const U16_MAX = 0xffff;

export function restartField(reader: MemberReader): "Never" | "Always" {
  const value = reader.get("restart");
  if (value !== "Never" && value !== "Always") reader.fault("restart", `expected "Never" or "Always"`);
  return value === "Always" ? "Always" : "Never";
}

export function namespaceField(reader: MemberReader): Namespace {
  const namespace = reader.nested("namespace") ?? blank();
  return {
    name: namespace.string("name") ?? "",
    nonce: integerField(namespace, "nonce"),
    quorumKey: hexField(namespace, "quorumKey"),
  };
}

export function memberSetField(reader: MemberReader, name: string): MemberSet {
  const set = reader.nested(name) ?? blank();
  return {
    threshold: integerField(set, "threshold"),
    members: set.array("members", (value, path) => memberOf(MemberReader.of(value, path, set.faults))) ?? [],
  };
}

export function patchSetField(reader: MemberReader): PatchSet {
  const set = reader.nested("patchSet") ?? blank();
  const pubKey = (value: JsonValue, path: string): { pubKey: Uint8Array } | undefined => {
    const member = MemberReader.of(value, path, set.faults);
    return member && { pubKey: hexField(member, "pubKey") };
  };
  return { threshold: integerField(set, "threshold"), members: set.array("members", pubKey) ?? [] };
}

export function enclaveField(reader: MemberReader): EnclaveMeasurements {
  const enclave = reader.nested("enclave") ?? blank();
  return {
    pcr0: hexField(enclave, "pcr0"),
    pcr1: hexField(enclave, "pcr1"),
    pcr2: hexField(enclave, "pcr2"),
    pcr3: hexField(enclave, "pcr3"),
    awsRootCertificate: hexField(enclave, "awsRootCertificate"),
    qosCommit: enclave.string("qosCommit") ?? "",
  };
}

export function bridgeConfigField(reader: MemberReader): BridgeConfig[] {
  return reader.array("bridgeConfig", (value, path) => bridgeOf(MemberReader.of(value, path, reader.faults))) ?? [];
}

/** Reads a member that v2 added. Returns undefined if it is absent. */
export function dnsField(reader: MemberReader): { resolvers: string[] } | undefined {
  if (reader.get("dns") === undefined) return undefined;
  const dns = reader.nested("dns") ?? blank();
  dns.refuseUnknown(["resolvers"]);
  const resolvers = dns.array("resolvers", (value, path) => {
    const address = typeof value === "string" ? canonicalIpAddress(value) : null;
    if (address === null) dns.faults.push({ path, message: "not an IP address" });
    return address ?? undefined;
  });
  return { resolvers: resolvers ?? [] };
}

export function approvalOf(approval: MemberReader): Approval | undefined {
  const member = memberOf(approval.nested("member"));
  return member && { signature: hexField(approval, "signature"), member };
}

export function approvalsField(reader: MemberReader, name: string): Approval[] {
  const approval = (value: JsonValue, path: string): Approval | undefined => {
    const fields = MemberReader.of(value, path, reader.faults);
    return fields && approvalOf(fields);
  };
  return reader.array(name, approval) ?? [];
}

function memberOf(reader: MemberReader | undefined): QuorumMember | undefined {
  return reader && { alias: reader.string("alias") ?? "", pubKey: hexField(reader, "pubKey") };
}

function bridgeOf(reader: MemberReader | undefined): BridgeConfig | undefined {
  if (reader === undefined) return undefined;
  const type = reader.get("type");
  const port = integerField(reader, "port", U16_MAX);
  if (type === "server") return { type, port, host: reader.string("host") ?? "" };
  if (type === "client")
    return { type, port, host: reader.get("host") === undefined ? null : (reader.string("host") ?? null) };
  return reader.fault("type", `expected "server" or "client"`);
}

/** Returns a reader that replaces a missing object, whose fault is already reported. */
function blank(): MemberReader {
  const dropped: Fault[] = [];
  return new MemberReader({}, "", dropped);
}
