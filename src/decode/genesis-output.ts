/**
 * The output of the genesis ceremony, in which the quorum key is made (decode/README.md, "Genesis outputs"). QOS wrote
 * three forms, all in Borsh and without a mark, so each file is read as each of them, and has to be exactly one.
 */
import { MalformedError } from "../errors.js";
import { type BorshReader, readBorsh } from "./borsh.js";
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
const COMMITMENT_LENGTH = 32;

function member(reader: BorshReader, what: string): QuorumMember {
  return { alias: reader.string(`${what}.alias`), pubKey: reader.bytes(`${what}.pub_key`) };
}

function memberOutput(reader: BorshReader, what: string): GenesisMemberOutput {
  return {
    member: member(reader, `${what}.share_set_member`),
    encryptedShare: reader.bytes(`${what}.encrypted_quorum_key_share`),
    shareHash: reader.fixed(HASH_LENGTH, `${what}.share_hash`),
  };
}

function request(reader: BorshReader): GenesisRequest {
  const members = reader.vector("set.members", (what) => member(reader, what));
  const set = { members, threshold: reader.u32("set.threshold") };
  return { set, drKey: reader.option("dr_key", () => reader.bytes("dr_key")) };
}

/** Reads what all forms have. `threshold` reads the member that two of them have in its midst. */
function common<T>(reader: BorshReader, threshold: () => T): { readonly output: CommonOutput; readonly threshold: T } {
  const quorumKey = reader.bytes("quorum_key");
  const memberOutputs = reader.vector("member_outputs", (what) => memberOutput(reader, what));
  const recoveryPermutations = reader.vector("recovery_permutations", (permutation) =>
    reader.vector(permutation, (what) => ({ member: member(reader, what), shard: reader.bytes(`${what}.shard`) })),
  );
  const read = threshold();
  const wrapped = "dr_key_wrapped_quorum_key";
  const output = {
    quorumKey,
    memberOutputs,
    recoveryPermutations,
    drKeyWrappedQuorumKey: reader.option(wrapped, () => reader.bytes(wrapped)),
    quorumKeyHash: reader.fixed(HASH_LENGTH, "quorum_key_hash"),
    testMessageCiphertext: reader.bytes("test_message_ciphertext"),
    testMessageSignature: reader.bytes("test_message_signature"),
    testMessage: reader.bytes("test_message"),
  };
  return { output, threshold: read };
}

type GenesisForm = GenesisOutput["form"];

/** The reader of each form. The newest is first. */
const FORMS: { readonly [F in GenesisForm]: (reader: BorshReader) => Extract<GenesisOutput, { readonly form: F }> } = {
  request: (reader) => {
    const repeated = request(reader);
    return { form: "request", request: repeated, ...common(reader, () => null).output };
  },
  commitment: (reader) => {
    const { output, threshold } = common(reader, () => reader.u32("threshold"));
    const requestCommitment = reader.fixed(COMMITMENT_LENGTH, "request_commitment");
    return { form: "commitment", threshold, requestCommitment, ...output };
  },
  threshold: (reader) => {
    const { output, threshold } = common(reader, () => reader.u32("threshold"));
    return { form: "threshold", threshold, ...output };
  },
};

/**
 * Decodes the output of a genesis ceremony, as QOS writes it to the file `genesis_output`. Verifies nothing. Throws
 * {@link MalformedError} (`genesis-output`) with the fault of each form, or if several forms read the same bytes.
 */
export function decodeGenesisOutput(bytes: Uint8Array): GenesisOutput {
  const read = Object.entries(FORMS).map(([form, of]) => ({ form, ...readBorsh<GenesisOutput>(bytes, of) }));
  const found = read.flatMap(({ value }) => value ?? []);
  if (found.length === 1) return found[0]!;
  if (found.length === 0) {
    const faults = read.map(({ form, fault }) => ({ path: fault!.path, message: `as ${form}: ${fault!.message}` }));
    throw new MalformedError("genesis-output", faults);
  }
  const forms = found.map(({ form }) => form).join(" and ");
  throw new MalformedError("genesis-output", [{ path: "", message: `it can be read in several ways: as ${forms}` }]);
}
