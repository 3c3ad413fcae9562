/** The Borsh encoding that v0 and v1 share. */
import type { BorshReader, BorshWriter } from "../borsh.js";
import type {
  Approval,
  BridgeConfig,
  EnclaveMeasurements,
  MemberSet,
  Namespace,
  PatchSet,
  Pivot,
  QuorumMember,
} from "./model.js";

const RESTARTS = ["Never", "Always"] as const;
const BRIDGES = ["server", "client"] as const;

export function readNamespace(reader: BorshReader): Namespace {
  return {
    name: reader.string("namespace.name"),
    nonce: reader.u32("namespace.nonce"),
    quorumKey: reader.bytes("namespace.quorumKey"),
  };
}

export function writeNamespace(writer: BorshWriter, namespace: Namespace): void {
  writer.string(namespace.name);
  writer.u32(namespace.nonce);
  writer.bytes(namespace.quorumKey);
}

export function readRestart(reader: BorshReader): Pivot["restart"] {
  return RESTARTS[reader.variant(RESTARTS.length, "pivot.restart")]!;
}

export function writeRestart(writer: BorshWriter, restart: Pivot["restart"]): void {
  writer.u8(RESTARTS.indexOf(restart));
}

export function readBridge(reader: BorshReader, what: string): BridgeConfig {
  const type = BRIDGES[reader.variant(BRIDGES.length, what)]!;
  const port = reader.u16(`${what}.port`);
  const host = (): string => reader.string(`${what}.host`);
  return type === "server" ? { type, port, host: host() } : { type, port, host: reader.option(`${what}.host`, host) };
}

export function writeBridge(writer: BorshWriter, bridge: BridgeConfig): void {
  writer.u8(BRIDGES.indexOf(bridge.type));
  writer.u16(bridge.port);
  if (bridge.type === "server") writer.string(bridge.host);
  else writer.option(bridge.host, (host) => writer.string(host));
}

function readMember(reader: BorshReader, what: string): QuorumMember {
  return { alias: reader.string(`${what}.alias`), pubKey: reader.bytes(`${what}.pubKey`) };
}

function writeMember(writer: BorshWriter, member: QuorumMember): void {
  writer.string(member.alias);
  writer.bytes(member.pubKey);
}

export function readMemberSet(reader: BorshReader, what: string): MemberSet {
  return {
    threshold: reader.u32(`${what}.threshold`),
    members: reader.vector(`${what}.members`, (item) => readMember(reader, item)),
  };
}

export function writeMemberSet(writer: BorshWriter, set: MemberSet): void {
  writer.u32(set.threshold);
  writer.vector(set.members, (member) => writeMember(writer, member));
}

export function readEnclave(reader: BorshReader): EnclaveMeasurements {
  return {
    pcr0: reader.bytes("enclave.pcr0"),
    pcr1: reader.bytes("enclave.pcr1"),
    pcr2: reader.bytes("enclave.pcr2"),
    pcr3: reader.bytes("enclave.pcr3"),
    awsRootCertificate: reader.bytes("enclave.awsRootCertificate"),
    qosCommit: reader.string("enclave.qosCommit"),
  };
}

export function writeEnclave(writer: BorshWriter, enclave: EnclaveMeasurements): void {
  for (const field of [enclave.pcr0, enclave.pcr1, enclave.pcr2, enclave.pcr3, enclave.awsRootCertificate])
    writer.bytes(field);
  writer.string(enclave.qosCommit);
}

export function readPatchSet(reader: BorshReader): PatchSet {
  return {
    threshold: reader.u32("patchSet.threshold"),
    members: reader.vector("patchSet.members", (item) => ({ pubKey: reader.bytes(`${item}.pubKey`) })),
  };
}

export function writePatchSet(writer: BorshWriter, set: PatchSet): void {
  writer.u32(set.threshold);
  writer.vector(set.members, (member) => writer.bytes(member.pubKey));
}

export function readApproval(reader: BorshReader, what: string): Approval {
  return { signature: reader.bytes(`${what}.signature`), member: readMember(reader, `${what}.member`) };
}

export function readApprovals(reader: BorshReader, what: string): Approval[] {
  return reader.vector(what, (item) => readApproval(reader, item));
}

export function writeApprovals(writer: BorshWriter, approvals: readonly Approval[]): void {
  writer.vector(approvals, (approval) => {
    writer.bytes(approval.signature);
    writeMember(writer, approval.member);
  });
}
