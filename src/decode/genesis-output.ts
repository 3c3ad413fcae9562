/**
 * The output of the genesis ceremony, in which the quorum key is made (decode/README.md, "Genesis outputs"). QOS wrote
 * three forms, all in Borsh and without a mark, so each file is read as each of them, and has to be exactly one.
 */
import { type Fault, FaultList, MalformedError } from "../errors.js";
import { readBorsh } from "./borsh.js";
import { parseJson } from "./json.js";
import { MemberReader } from "./json-members.js";
import { SHA256_LENGTH } from "./lengths.js";
import { placeOf } from "./shapes.js";
import { type Struct, bytes, fixedBytes, optionOf, quorumMember, struct, u32, vectorOf } from "./manifest/fields.js";
import type { MemberSet, QuorumMember } from "./manifest/index.js";

/** The request that an output answers: the share set, and the key for disaster recovery, or null without one. */
export interface GenesisRequest {
  readonly set: MemberSet;
  readonly drKey: Uint8Array | null;
}

interface GenesisMemberOutput {
  readonly member: QuorumMember;
  /** The member's share of the quorum key, encrypted to the member. */
  readonly encryptedShare: Uint8Array;
  /** SHA-512 of the share (64 bytes). */
  readonly shareHash: Uint8Array;
}

/** A share in a recovery permutation. QOS writes none. */
interface MemberShard {
  readonly member: QuorumMember;
  readonly shard: Uint8Array;
}

/** What all forms have. */
interface CommonOutput {
  /** The new quorum key of 130 bytes: encryption point, then signing point. */
  readonly quorumKey: Uint8Array;
  readonly memberOutputs: readonly GenesisMemberOutput[];
  readonly recoveryPermutations: readonly (readonly MemberShard[])[];
  /** The secret of the quorum key, encrypted to the key for disaster recovery. Null if the request named none. */
  readonly drKeyWrappedQuorumKey: Uint8Array | null;
  /** SHA-512 of the hex digits of the quorum key's secret (64 bytes). */
  readonly quorumKeyHash: Uint8Array;
  readonly testMessageCiphertext: Uint8Array;
  /** Signature of the quorum key over the test message. */
  readonly testMessageSignature: Uint8Array;
  readonly testMessage: Uint8Array;
}

/**
 * `threshold` is the form before QOS 4f6491de, which repeats only the threshold of the request. `commitment` is that of
 * 4f6491de, which has a digest of the whole request, and `request` that since 25f7005a, which repeats it.
 */
export type GenesisOutput = CommonOutput &
  (
    | { readonly form: "threshold"; readonly threshold: number }
    | { readonly form: "commitment"; readonly threshold: number; readonly requestCommitment: Uint8Array }
    | { readonly form: "request"; readonly request: GenesisRequest }
  );

const HASH_LENGTH = 64;

const REQUEST = struct<GenesisRequest>({
  set: struct<MemberSet>({ members: vectorOf(quorumMember), threshold: u32 }),
  drKey: optionOf(bytes),
});

const permutation = vectorOf(struct<MemberShard>({ member: quorumMember, shard: bytes }));

const BEFORE_THRESHOLD = {
  quorumKey: bytes,
  memberOutputs: vectorOf(
    struct<GenesisMemberOutput>({ member: quorumMember, encryptedShare: bytes, shareHash: fixedBytes(HASH_LENGTH) }),
  ),
  recoveryPermutations: vectorOf(permutation),
};
const AFTER_THRESHOLD = {
  drKeyWrappedQuorumKey: optionOf(bytes),
  quorumKeyHash: fixedBytes(HASH_LENGTH),
  testMessageCiphertext: bytes,
  testMessageSignature: bytes,
  testMessage: bytes,
};
const WITH_THRESHOLD = { ...BEFORE_THRESHOLD, threshold: u32, ...AFTER_THRESHOLD };

/** The members of each form, in the order of Borsh. The newest form is first. */
const FORMS: {
  readonly [F in GenesisOutput["form"]]: Struct<Omit<Extract<GenesisOutput, { readonly form: F }>, "form">>;
} = {
  request: struct({ request: REQUEST, ...BEFORE_THRESHOLD, ...AFTER_THRESHOLD }),
  commitment: struct({ ...WITH_THRESHOLD, requestCommitment: fixedBytes(SHA256_LENGTH) }),
  threshold: struct(WITH_THRESHOLD),
};

/** Returns what each form makes of the bytes, or its fault. */
function readings(bytes: Uint8Array): { form: string; value: GenesisOutput | undefined; fault: Fault | null }[] {
  return Object.entries(FORMS).map(([form, { read }]) => ({
    form,
    ...readBorsh(bytes, (reader) => ({ form, ...read(reader, null) }) as GenesisOutput),
  }));
}

/** Whether some form reads the bytes, or several do. */
export function isGenesisOutput(bytes: Uint8Array): boolean {
  return readings(bytes).some(({ fault }) => fault === null);
}

/**
 * Decodes the output of a genesis ceremony, as QOS writes it to the file `genesis_output`. Verifies nothing. Throws
 * {@link MalformedError} (`genesis-output`) with the fault of each form, or if several forms read the same bytes.
 */
export function decodeGenesisOutput(bytes: Uint8Array): GenesisOutput {
  const read = readings(bytes);
  const found = read.flatMap(({ value }) => value ?? []);
  if (found.length === 1) return found[0]!;
  if (found.length === 0) {
    const faults = read.map(({ form, fault }) => ({ path: fault!.path, message: `as ${form}: ${fault!.message}` }));
    throw new MalformedError("genesis-output", faults);
  }
  const forms = found.map(({ form }) => form).join(" and ");
  throw new MalformedError("genesis-output", [{ path: "", message: `it can be read in several ways: as ${forms}` }]);
}

/**
 * Decodes a request as JSON: `{"set": {"threshold", "members": [{"alias", "pubKey"}]}, "drKey"}`, with numbers and keys
 * as in manifests. That no key was requested has to be said, by `null`. Throws {@link MalformedError}
 * (`genesis-request`, or `json`) with every fault.
 */
export function decodeGenesisRequest(bytes: Uint8Array): GenesisRequest {
  const faults = new FaultList();
  const reader = MemberReader.of(parseJson(bytes, { numbers: "literal" }), placeOf(faults));
  const request = reader && requestIn(reader);
  if (request === undefined || faults.length > 0) throw new MalformedError("genesis-request", faults);
  return request;
}

function requestIn(reader: MemberReader): GenesisRequest {
  reader.refuseUnknown(["set", "drKey"]);
  if (reader.object["drKey"] === undefined)
    reader.fault("drKey", "expected the requested key in hex, or null if none was requested");
  const request = REQUEST.members(reader);
  const { members } = request.set;
  if (members.length === 0) reader.fault("set.members", "expected at least one");
  if ([request.drKey, ...members.map(({ pubKey }) => pubKey)].some((key) => key?.length === 0))
    reader.fault("", "a key is empty");
  return request;
}
