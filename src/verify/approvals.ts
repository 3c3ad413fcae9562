/** Verification of a manifest's approvals by the members of a set (verify/README.md, "Approvals"). */
import { toHex } from "../bytes.js";
import type { Approval, MemberSet, QuorumMember } from "../decode/manifest/index.js";
import { encryptionPoint, isQosPublicKey, signingPoint } from "./qos-key.js";
import type { SignatureCache } from "./signature-cache.js";

/** `stranger` means that no member has this alias and key, `repeated` that the member has another valid approval. */
export type ApprovalStatus = "valid" | "stranger" | "invalid" | "repeated";

interface CheckedApproval {
  readonly member: QuorumMember;
  readonly status: ApprovalStatus;
  /** The fault, or an empty text if the approval is valid. */
  readonly message: string;
}

interface CheckedApprovals {
  /** Faults of the set, followed by faults of the approvals. */
  readonly faults: readonly string[];
  readonly repeated: readonly string[];
  /** Members with a valid approval, each once. */
  readonly approvers: readonly QuorumMember[];
  /** Every approval, in the given order. */
  readonly approvals: readonly CheckedApproval[];
}

/** Verifies every approval of the hash, even repeated ones. The caller checks repetition and threshold. */
export async function checkApprovals(
  approvals: readonly Approval[],
  set: MemberSet,
  manifestHash: Uint8Array,
  cache: SignatureCache,
): Promise<CheckedApprovals> {
  const members = new Set(set.members.map(identityOf));
  const seen = new Set<string>();
  const checked = await Promise.all(
    approvals.map(async ({ member, signature }, index): Promise<CheckedApproval> => {
      const who = `approval ${index + 1} (${member.alias})`;
      const key = toHex(member.pubKey);
      if (!members.has(identityOf(member)))
        return { member, status: "stranger", message: `${who} is not by a member of the set` };
      const isRepeated = seen.has(key);
      seen.add(key);
      const valid = await cache.verify("P-256", signingPoint(member.pubKey), manifestHash, signature);
      if (!valid) return { member, status: "invalid", message: `${who}: its member did not sign this manifest` };
      return isRepeated
        ? { member, status: "repeated", message: `${who} is a second approval by the same member` }
        : { member, status: "valid", message: "" };
    }),
  );
  const messagesOf = (...statuses: readonly ApprovalStatus[]): string[] =>
    checked.filter(({ status }) => statuses.includes(status)).map(({ message }) => message);
  return {
    faults: [...memberFaults(set), ...messagesOf("stranger", "invalid")],
    repeated: messagesOf("repeated"),
    approvers: checked.filter(({ status }) => status === "valid").map(({ member }) => member),
    approvals: checked,
  };
}

function identityOf(member: QuorumMember): string {
  return `${toHex(member.pubKey)} ${member.alias}`;
}

export function thresholdFaults(set: MemberSet, approved: number): string[] {
  const { threshold, members } = set;
  if (threshold < 1) return ["the threshold is 0: no approval is required"];
  if (threshold > members.length) return [`the threshold is ${threshold}, and there are ${members.length} members`];
  const plural = approved === 1 ? "" : "s";
  return approved >= threshold ? [] : [`${approved} valid approval${plural}, ${threshold} required`];
}

function memberFaults(set: MemberSet): string[] {
  const { members } = set;
  const invalid = members.filter((member) => !isQosPublicKey(member.pubKey));
  return [
    ...invalid.map((member) => `the key of member ${member.alias} is not two points of P-256`),
    ...repeated(members.map((member) => member.alias)).map((alias) => `two members have the alias ${alias}`),
    ...repeated(members.map((member) => toHex(encryptionPoint(member.pubKey)))).map(
      () => "two members share an encryption point",
    ),
    ...repeated(members.map((member) => toHex(signingPoint(member.pubKey)))).map(
      () => "two members share a signing point",
    ),
  ];
}

function repeated(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return values.filter((value) => seen.size === seen.add(value).size);
}

/** Returns why no approvals could make the set pass. `hash` is what its members would sign. */
export async function unusableSet(set: MemberSet, hash: Uint8Array, cache: SignatureCache): Promise<readonly string[]> {
  const { faults } = await checkApprovals([], set, hash, cache);
  return [...faults, ...thresholdFaults(set, set.threshold)];
}
