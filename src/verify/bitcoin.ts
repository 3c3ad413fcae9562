/**
 * Signatures in a partially signed transaction of Bitcoin (BIP-174, version 0), loaded only for one. The subset: inputs
 * that spend P2PKH, P2WPKH or P2TR outputs, the last by key path; the hash type that signs everything (SIGHASH_ALL, for
 * P2TR SIGHASH_DEFAULT). Lengths have their shortest form, the keys of a map are unique, and nothing follows. Other
 * members of the maps are compared, and not read.
 */
import { concatBytes, equalBytes, fromHex, toHex, toUtf8 } from "../bytes.js";
import { rawSignature } from "../decode/ecdsa-signature.js";
import { sha256 } from "./noble-addresses.js";
import { hash160, hashScript, taprootScript, witnessHashScript } from "./output-scripts.js";

/** A signature of an input, not yet verified. */
interface InputSignature {
  readonly input: number;
  /** By ECDSA and a compressed key, or by BIP-340 and an x coordinate. */
  readonly scheme: "ecdsa" | "schnorr";
  readonly publicKey: Uint8Array;
  /** `r ‖ s`, 64 bytes. */
  readonly signature: Uint8Array;
  readonly digest: () => Uint8Array;
}

/** The signatures to verify, with a statement on inputs that are not read; or why there are none. */
type SignedPsbt =
  | { readonly kind: "signed"; readonly signatures: readonly InputSignature[]; readonly open: string | null }
  | { readonly kind: "wrong"; readonly reason: string }
  | { readonly kind: "unchecked"; readonly reason: string };

/** Whether the signer's key can spend outputs with the script. */
type IsOwnScript = (script: Uint8Array) => boolean;

/**
 * Compares the answer with the submitted PSBT, and returns the signatures of the signer's inputs. If `isOwn` is null,
 * these are the inputs with a new signature.
 */
export function signedPsbt(submitted: Uint8Array, answer: Uint8Array, isOwn: IsOwnScript | null): SignedPsbt {
  const before = decoded(() => readPsbt(submitted));
  const spent = before && decoded(() => before.inputs.map((map, index) => spentOutput(map, before.inputsOf[index]!)));
  if (before === null || spent === null)
    return { kind: "unchecked", reason: "what was submitted is no PSBT that this version reads" };
  const after = decoded(() => readPsbt(answer));
  const added = after && addedSignatures(before, after);
  if (after === null || added === null) return wrong("it is not the submitted PSBT with signatures");
  const digestOf = sighashes(before, spent);
  const hasAll = !spent.includes(null);
  const found = spent.map((output, input) =>
    judged({ map: after.inputs[input]!, added: added[input]!, output, hasAll }, isOwn),
  );
  const signatures: InputSignature[] = [];
  for (const [input, outcome] of found.entries()) {
    if (outcome === "unsigned" || outcome === "another's") return wrong(`input ${input} ${FAULTS[outcome]}`);
    if (outcome === null || outcome === "unread") continue;
    const { kind, ...rest } = outcome;
    signatures.push({ input, ...rest, digest: () => digestOf[kind](input) });
  }
  return concluded(signatures, found, isOwn !== null);
}

/** Returns what the inputs come to together, if none is wrong. */
function concluded(
  signatures: readonly InputSignature[],
  found: readonly ReturnType<typeof judged>[],
  namesKey: boolean,
): SignedPsbt {
  const unread = found.flatMap((outcome, input) => (outcome === "unread" ? [input] : []));
  const open = unread.length === 0 ? null : `input ${unread.slice(0, MAX_NAMED).join(", ")} ${NOT_READ}`;
  if (signatures.length > 0) return { kind: "signed", signatures, open };
  if (open !== null) return { kind: "unchecked", reason: open };
  return wrong(namesKey ? "no input spends an output of signWith" : "no signature was added");
}

const FAULTS = {
  unsigned: "has not one signature over everything, by the key that its output names",
  "another's": "has a new signature, and is not of signWith",
};
const NOT_READ =
  "is not checked: it does not have the output that it spends, or needs those of all inputs, or its output or hash " +
  "type is unknown to this version";
const MAX_NAMED = 10;

function wrong(reason: string): SignedPsbt {
  return { kind: "wrong", reason };
}

/** An input of the answer. */
interface AnsweredInput {
  readonly map: KeyMap;
  /** Keys of new signatures. */
  readonly added: readonly string[];
  /** What it spends, or null if the PSBT has it not. */
  readonly output: Output | null;
  /** Whether the PSBT has the outputs of all inputs, which P2TR signs. */
  readonly hasAll: boolean;
}

/** Returns the signature to verify, null if the input needs none, or what is wrong or not known about it. */
function judged(
  input: AnsweredInput,
  isOwn: IsOwnScript | null,
): (FoundSignature & { readonly kind: Kind }) | keyof typeof FAULTS | "unread" | null {
  const { map, added, output, hasAll } = input;
  if (output === null) return "unread";
  if (!needsSignature(input, output, isOwn)) return added.length > 0 ? "another's" : null;
  const kind = kindOf(output.script);
  if (kind === null || !asksForAll(map, kind) || (kind === "taproot" && !hasAll)) return "unread";
  const found = inputSignature(map, added, { kind, script: output.script });
  return found === null ? "unsigned" : { kind, ...found };
}

/** Whether the answer must have a signature for the input. None is added to an input that is final. */
function needsSignature({ map, added }: AnsweredInput, { script }: Output, isOwn: IsOwnScript | null): boolean {
  if (isOwn === null) return added.length > 0;
  return isOwn(script) && !FINAL.some((name) => map.has(name));
}

// What the bytes have.

class MalformedPsbtError extends Error {}

function decoded<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedPsbtError) return null;
    throw error;
  }
}

class Reader {
  readonly bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  take(length: number): Uint8Array {
    const end = this.at + length;
    if (end > this.bytes.length) throw new MalformedPsbtError();
    const taken = this.bytes.subarray(this.at, end);
    this.at = end;
    return taken;
  }

  /** Reads a compact size. Longer ones than four bytes exceed every input. */
  size(): number {
    const [first] = this.take(1);
    if (first! < 0xfd) return first!;
    const [length, least] = first === 0xfd ? [2, 0xfd] : [4, 0x10000];
    const size = this.take(length).reduceRight((value, byte) => value * 256 + byte, 0);
    if (first === 0xff || size < least) throw new MalformedPsbtError();
    return size;
  }

  variable(): Uint8Array {
    return this.take(this.size());
  }

  list<T>(read: () => T): T[] {
    const items: T[] = [];
    for (let left = this.size(); left > 0; left--) items.push(read());
    return items;
  }

  end(): void {
    if (this.at !== this.bytes.length) throw new MalformedPsbtError();
  }
}

interface Input {
  /** Id of a transaction and index of an output, 36 bytes. */
  readonly outpoint: Uint8Array;
  readonly script: Uint8Array;
  readonly sequence: Uint8Array;
}

interface Output {
  readonly amount: Uint8Array;
  readonly script: Uint8Array;
}

interface Transaction {
  readonly version: Uint8Array;
  readonly inputsOf: readonly Input[];
  readonly outputsOf: readonly Output[];
  readonly lockTime: Uint8Array;
  readonly id: Uint8Array;
}

function readOutput(reader: Reader): Output {
  return { amount: reader.take(8), script: reader.variable() };
}

/** Reads a transaction, whose id does not cover its witness (BIP-141). The one in a PSBT has none. */
function readTransaction(bytes: Uint8Array, mayHaveWitness: boolean): Transaction {
  const reader = new Reader(bytes);
  const version = reader.take(4);
  const hasWitness = mayHaveWitness && bytes[4] === 0 && bytes[5] === 1;
  if (hasWitness) reader.take(2);
  const start = reader.at;
  const inputsOf = reader.list(() => ({
    outpoint: reader.take(36),
    script: reader.variable(),
    sequence: reader.take(4),
  }));
  const outputsOf = reader.list(() => readOutput(reader));
  const body = bytes.subarray(start, reader.at);
  if (hasWitness) for (const _ of inputsOf) reader.list(() => reader.variable());
  const lockTime = reader.take(4);
  reader.end();
  return { version, inputsOf, outputsOf, lockTime, id: sha256d(version, body, lockTime) };
}

/** By key in hex. */
type KeyMap = ReadonlyMap<string, Uint8Array>;

/** Keys of the maps (BIP-174, BIP-371), in hex. The public key follows the first byte of a partial signature's. */
const UNSIGNED_TRANSACTION = "00";
const VERSION = "fb";
const PREVIOUS_TRANSACTION = "00";
const SPENT_OUTPUT = "01";
const PARTIAL_SIGNATURE = /^020[23][0-9a-f]{64}$/;
const HASH_TYPE = "03";
const FINAL = ["07", "08"];
const KEY_PATH_SIGNATURE = "13";

interface Psbt extends Transaction {
  readonly global: KeyMap;
  readonly inputs: readonly KeyMap[];
  readonly outputs: readonly KeyMap[];
}

function readPsbt(bytes: Uint8Array): Psbt {
  const reader = new Reader(bytes);
  if (!equalBytes(reader.take(5), concatBytes(toUtf8("psbt"), Uint8Array.of(0xff)))) throw new MalformedPsbtError();
  const global = readMap(reader);
  const transaction = readTransaction(global.get(UNSIGNED_TRANSACTION) ?? new Uint8Array(), false);
  const version = global.get(VERSION);
  // Version 0 may be left out.
  if (version?.length === 4 && version.every((byte) => byte === 0)) global.delete(VERSION);
  const isUnsigned = transaction.inputsOf.every(({ script }) => script.length === 0);
  if (global.has(VERSION) || transaction.inputsOf.length === 0 || !isUnsigned) throw new MalformedPsbtError();
  const inputs = transaction.inputsOf.map(() => readMap(reader));
  const outputs = transaction.outputsOf.map(() => readMap(reader));
  reader.end();
  return { ...transaction, global, inputs, outputs };
}

function readMap(reader: Reader): Map<string, Uint8Array> {
  const map = new Map<string, Uint8Array>();
  for (;;) {
    const name = toHex(reader.variable());
    if (name === "") return map;
    if (map.has(name)) throw new MalformedPsbtError();
    map.set(name, reader.variable());
  }
}

/** Returns the output that an input spends, or null if the PSBT has it not. It must be that which the input names. */
function spentOutput(map: KeyMap, { outpoint }: Input): Output | null {
  const [whole, alone] = [map.get(PREVIOUS_TRANSACTION), map.get(SPENT_OUTPUT)];
  const named = whole === undefined ? null : outputOf(readTransaction(whole, true), outpoint);
  if (alone === undefined) return named;
  const reader = new Reader(alone);
  const given = readOutput(reader);
  reader.end();
  if (named !== null && !equalBytes(serialized(named), alone)) throw new MalformedPsbtError();
  return given;
}

function outputOf({ id, outputsOf }: Transaction, outpoint: Uint8Array): Output {
  const index = outpoint.subarray(32).reduceRight((value, byte) => value * 256 + byte, 0);
  const output = outputsOf[index];
  if (output === undefined || !equalBytes(id, outpoint.subarray(0, 32))) throw new MalformedPsbtError();
  return output;
}

/** Returns the keys of new signatures by input, or null if anything else of the answer differs. */
function addedSignatures(before: Psbt, after: Psbt): (readonly string[])[] | null {
  const mapsOf = ({ global, outputs, inputs }: Psbt): readonly KeyMap[] => [global, ...outputs, ...inputs];
  const [submitted, answered] = [mapsOf(before), mapsOf(after)];
  if (submitted.length !== answered.length) return null;
  const isKept = submitted.every((map, index) =>
    [...map].every(([name, value]) => {
      const kept = answered[index]!.get(name);
      return kept !== undefined && equalBytes(kept, value);
    }),
  );
  const added = answered.map((map, index) => [...map.keys()].filter((name) => !submitted[index]!.has(name)));
  const isSignature = (name: string): boolean => name === KEY_PATH_SIGNATURE || PARTIAL_SIGNATURE.test(name);
  const firstInput = added.length - before.inputs.length;
  const isAllowed = added.every(
    (names, index) => names.length === 0 || (index >= firstInput && names.every(isSignature)),
  );
  return isKept && isAllowed ? added.slice(firstInput) : null;
}

/** What the signature of an input is by, and over. */
type Kind = "legacy" | "witness" | "taproot";

function kindOf(script: Uint8Array): Kind | null {
  if (equalBytes(script, hashScript(script.subarray(3, 23)))) return "legacy";
  if (equalBytes(script, witnessHashScript(script.subarray(2, 22)))) return "witness";
  return equalBytes(script, taprootScript(script.subarray(2, 34))) ? "taproot" : null;
}

const SIGHASH_ALL = 1;
const SIGHASH_DEFAULT = 0;

function asksForAll(map: KeyMap, kind: Kind): boolean {
  const asked = map.get(HASH_TYPE);
  return asked === undefined || equalBytes(asked, uint32(kind === "taproot" ? SIGHASH_DEFAULT : SIGHASH_ALL));
}

type FoundSignature = Pick<InputSignature, "scheme" | "publicKey" | "signature">;

/** Returns the signature by the key that the output names, or null if there is none, or a new one beside it. */
function inputSignature(
  map: KeyMap,
  added: readonly string[],
  { kind, script }: { readonly kind: Kind; readonly script: Uint8Array },
): FoundSignature | null {
  const hash = kind === "legacy" ? script.subarray(3, 23) : script.subarray(2);
  const isOwn = (name: string): boolean =>
    kind === "taproot"
      ? name === KEY_PATH_SIGNATURE
      : PARTIAL_SIGNATURE.test(name) && equalBytes(hash160(fromHex(name.slice(2))!), hash);
  const name = [...map.keys()].find(isOwn);
  if (name === undefined || added.some((other) => other !== name)) return null;
  const value = map.get(name)!;
  if (kind === "taproot") return value.length === 64 ? { scheme: "schnorr", publicKey: hash, signature: value } : null;
  const signature = value[value.length - 1] === SIGHASH_ALL ? rawSignature(value.subarray(0, -1), 32) : null;
  return signature && { scheme: "ecdsa", publicKey: fromHex(name.slice(2))!, signature };
}

// What is signed.

/** Returns the digest of an input by its index. What all inputs have in common is hashed once. */
function sighashes(
  { version, lockTime, inputsOf, outputsOf }: Transaction,
  spent: readonly (Output | null)[],
): Readonly<Record<Kind, (input: number) => Uint8Array>> {
  const outpoints = concatBytes(...inputsOf.map(({ outpoint }) => outpoint));
  const sequences = concatBytes(...inputsOf.map(({ sequence }) => sequence));
  const outputs = concatBytes(...outputsOf.map(serialized));
  const hashed = once(() => [sha256d(outpoints), sha256d(sequences), sha256d(outputs)] as const);
  const common = once(() =>
    concatBytes(
      ...[version, lockTime, sha256(outpoints), sha256(concatBytes(...spent.map((output) => output!.amount)))],
      ...[sha256(concatBytes(...spent.map((output) => sized(output!.script)))), sha256(sequences), sha256(outputs)],
    ),
  );
  return {
    legacy(input) {
      const inputs = inputsOf.map(({ outpoint, sequence }, index) =>
        concatBytes(outpoint, index === input ? sized(spent[input]!.script) : compactSize(0), sequence),
      );
      const counts = [compactSize(inputs.length), compactSize(outputsOf.length)] as const;
      return sha256d(version, counts[0], ...inputs, counts[1], outputs, lockTime, uint32(SIGHASH_ALL));
    },
    witness(input) {
      const [hashPrevouts, hashSequence, hashOutputs] = hashed();
      const { outpoint, sequence } = inputsOf[input]!;
      const { script, amount } = spent[input]!;
      const code = sized(hashScript(script.subarray(2)));
      const own = [outpoint, code, amount, sequence];
      return sha256d(version, hashPrevouts, hashSequence, ...own, hashOutputs, lockTime, uint32(SIGHASH_ALL));
    },
    taproot(input) {
      // The epoch is 0, and the spend type 0 means the key path without an annex.
      const message = concatBytes(Uint8Array.of(0, SIGHASH_DEFAULT), common(), Uint8Array.of(0), uint32(input));
      const tag = sha256(toUtf8("TapSighash"));
      return sha256(concatBytes(tag, tag, message));
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function serialized({ amount, script }: Output): Uint8Array {
  return concatBytes(amount, sized(script));
}

function sized(bytes: Uint8Array): Uint8Array {
  return concatBytes(compactSize(bytes.length), bytes);
}

function compactSize(size: number): Uint8Array {
  if (size < 0xfd) return Uint8Array.of(size);
  const bytes = uint32(size);
  return size < 0x10000 ? Uint8Array.of(0xfd, bytes[0]!, bytes[1]!) : Uint8Array.of(0xfe, ...bytes);
}

function uint32(value: number): Uint8Array {
  return Uint8Array.of(value, value >>> 8, value >>> 16, value >>> 24);
}

function sha256d(...parts: Uint8Array[]): Uint8Array {
  return sha256(sha256(concatBytes(...parts)));
}
