/** Comparison of the output of a genesis ceremony with the request that it should answer (review/README.md). */
import { equalBytes, toHex, toUtf8 } from "../bytes.js";
import { byteCopy, options, typedOptions } from "../decode/options.js";
import { type GenesisOutput, type GenesisRequest, decodeGenesisOutput } from "../decode/genesis-output.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import type { MemberSet, QuorumMember } from "../decode/manifest/index.js";
import { canonicalQosJson } from "../decode/qos-json.js";
import { type Shape, count, demand, list, nullable, text } from "../decode/shapes.js";
import { deepFrozen } from "../report/report.js";
import { unusableSet } from "../verify/approvals.js";
import { sha256 } from "../verify/digest.js";
import { isQosPublicKey, signingPoint } from "../verify/qos-key.js";
import { SignatureCache } from "../verify/signature-cache.js";

interface GenesisFault {
  readonly code: "set" | "members" | "dr-key" | "commitment" | "quorum-key" | "test-signature" | "document";
  readonly message: string;
}

/** Whether an output answers the request. It is frozen. */
export interface GenesisReview {
  readonly format: "bootproof-genesis-review/1";
  readonly form: GenesisOutput["form"];
  readonly holds: boolean;
  readonly faults: readonly GenesisFault[];
  /** What this form of the output cannot show. */
  readonly open: readonly string[];
  /** The new quorum key in hex. Shares are released for this key, and policies pin it. */
  readonly quorumKey: string;
  readonly threshold: number;
  readonly members: readonly { readonly alias: string; readonly pubKey: string }[];
  /** SHA-256 of the output in hex, which is the user data of the ceremony's attestation document. */
  readonly userData: string;
}

export interface GenesisReviewOptions extends GenesisRequest {
  /** The user data of the verified attestation document of the ceremony. Absent means that it is not compared. */
  readonly userData?: Uint8Array;
}

const SET: Shape<MemberSet> = /* @__PURE__ */ options<MemberSet>({
  threshold: count,
  members: /* @__PURE__ */ list(/* @__PURE__ */ options<QuorumMember>({ alias: text, pubKey: byteCopy }), 1),
});

/**
 * Compares the output of a genesis ceremony with what was requested: the set as it was given to the enclave, in its
 * order, and the key for disaster recovery, null if there was none. Nothing here shows that an enclave made the output:
 * verify the attestation document of the ceremony, and give its user data. Throws `MalformedError` (`genesis-output`)
 * for an output that cannot be read, and TypeError for invalid options.
 * @example
 * ```ts
 * const { manifestSet: set } = decodeManifest(manifest);
 * const { holds, quorumKey } = await reviewGenesis(await readFile("genesis_output"), { set, drKey: null });
 * ```
 */
export async function reviewGenesis(output: Uint8Array, given: GenesisReviewOptions): Promise<GenesisReview> {
  const bytes = new Uint8Array(output);
  const asked = typedOptions<GenesisReviewOptions>("options", given, {
    set: SET,
    drKey: nullable(byteCopy),
    userData: demand(byteCopy),
  });
  const decoded = decodeGenesisOutput(bytes);
  const digest = await sha256(bytes);
  const faults = [
    ...(await unusableSet(asked.set, digest, new SignatureCache())).map(
      (message) => ({ code: "set", message }) as const,
    ),
    ...setFaults(decoded, asked),
    ...drKeyFaults(decoded, asked),
    ...(await commitmentFaults(decoded, asked)),
    ...(await keyFaults(decoded)),
    ...documentFaults(digest, asked),
  ];
  return deepFrozen({
    format: "bootproof-genesis-review/1",
    form: decoded.form,
    holds: faults.length === 0,
    faults,
    open: openIn(decoded, asked),
    quorumKey: toHex(decoded.quorumKey),
    threshold: thresholdOf(decoded),
    members: decoded.memberOutputs.map(({ member }) => ({ alias: member.alias, pubKey: toHex(member.pubKey) })),
    userData: toHex(digest),
  });
}

function thresholdOf(output: GenesisOutput): number {
  return output.form === "request" ? output.request.set.threshold : output.threshold;
}

const isSame = (one: QuorumMember, other: QuorumMember | undefined): boolean =>
  other !== undefined && one.alias === other.alias && equalBytes(one.pubKey, other.pubKey);

const areSame = (one: readonly QuorumMember[], other: readonly QuorumMember[]): boolean =>
  one.length === other.length && one.every((member, index) => isSame(member, other[index]));

/** Compares thresholds and members. QOS gives each member of the set a share, in the order of the set. */
function setFaults(output: GenesisOutput, { set }: GenesisRequest): GenesisFault[] {
  const threshold = thresholdOf(output);
  const wrongThreshold: GenesisFault[] =
    threshold === set.threshold
      ? []
      : [{ code: "set", message: `the threshold is ${threshold}, and ${set.threshold} was requested` }];
  const repeats = output.form !== "request" || areSame(output.request.set.members, set.members);
  const sharers = output.memberOutputs.map(({ member }) => member);
  return [
    ...wrongThreshold,
    ...(repeats ? [] : [{ code: "set" as const, message: "it answers a request for another set" }]),
    ...(areSame(sharers, set.members) ? [] : [{ code: "members" as const, message: sharersFault(sharers, set) }]),
  ];
}

function sharersFault(sharers: readonly QuorumMember[], { members }: MemberSet): string {
  const others = sharers.filter((one) => !members.some((member) => isSame(one, member)));
  const without = members.filter((member) => !sharers.some((one) => isSame(one, member)));
  const named = (list: readonly QuorumMember[]): string => list.map(({ alias }) => JSON.stringify(alias)).join(", ");
  if (others.length > 0) return `shares are for members that were not requested: ${named(others)}`;
  if (without.length > 0) return `members have no share: ${named(without)}`;
  return "shares are in another order than the set, or several are for one member";
}

function drKeyFaults(output: GenesisOutput, { drKey }: GenesisRequest): GenesisFault[] {
  const fault = (message: string): GenesisFault[] => [{ code: "dr-key", message }];
  const isWrapped = output.drKeyWrappedQuorumKey !== null;
  if (drKey === null && isWrapped)
    return fault("the quorum key is also encrypted to a key for disaster recovery, and none was requested");
  if (drKey !== null && !isWrapped) return fault("the quorum key is not encrypted to the requested key");
  if (output.form !== "request") return [];
  const answered = output.request.drKey;
  const isAnswered = answered === null ? drKey === null : drKey !== null && equalBytes(answered, drKey);
  return isAnswered ? [] : fault("it answers a request with another key for disaster recovery");
}

const DOMAIN = "qos::genesis-request-commitment::v1";

/** Compares the commitment: SHA-256 of the canonical JSON of the request. */
async function commitmentFaults(output: GenesisOutput, { set, drKey }: GenesisRequest): Promise<GenesisFault[]> {
  if (output.form !== "commitment") return [];
  const members = set.members.map(({ alias, pubKey }) => ({ alias, pubKey }));
  const request = { domain: DOMAIN, set: { threshold: set.threshold, members }, ...(drKey && { drKey }) };
  const expected = await sha256(toUtf8(canonicalQosJson(request)));
  if (equalBytes(expected, output.requestCommitment)) return [];
  return [{ code: "commitment", message: "its digest of the request is not that of the request which was given" }];
}

/** Checks that the quorum key is one, and that its holder signed the test message. */
async function keyFaults({ quorumKey, testMessage, testMessageSignature }: GenesisOutput): Promise<GenesisFault[]> {
  if (quorumKey.length !== QOS_PUBLIC_KEY_LENGTH || !isQosPublicKey(quorumKey))
    return [{ code: "quorum-key", message: "the quorum key is not two points of P-256" }];
  const point = signingPoint(quorumKey);
  if (await new SignatureCache().verify("P-256", point, testMessage, testMessageSignature)) return [];
  return [{ code: "test-signature", message: "the quorum key did not sign the test message" }];
}

function documentFaults(digest: Uint8Array, { userData }: GenesisReviewOptions): GenesisFault[] {
  if (userData === undefined || equalBytes(userData, digest)) return [];
  return [{ code: "document", message: "the user data of the attestation document is not SHA-256 of this output" }];
}

function openIn(output: GenesisOutput, { drKey, userData }: GenesisReviewOptions): string[] {
  return [
    ...(userData === undefined
      ? ["That an enclave made it: verify the attestation document of the ceremony, and compare its user data."]
      : []),
    ...(output.form === "threshold" && drKey !== null
      ? ["To which key the quorum key is encrypted for disaster recovery: this form does not say."]
      : []),
    "That the shares are shares of this key: only members can decrypt them, and compare their hashes.",
  ];
}
