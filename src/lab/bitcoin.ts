/** Signs Bitcoin transactions (BIP-174): inputs of P2PKH, of P2WPKH (BIP-143), and of P2TR by its key (BIP-341). */
import { concatBytes, equalBytes, fromHex, toHex } from "../bytes.js";
import { outputScript } from "./addresses-of.js";
import { noble } from "./curves.js";
import { sha256 } from "./qos.js";
import { invalid } from "./refusal.js";
import type { WalletKey } from "./wallet.js";

/** Returns the private key of a P2TR address: that of the even point, tweaked without scripts. */
export function taprootKey(privateKey: Uint8Array): Uint8Array {
  const { schnorr, secp256k1 } = noble;
  const { ORDER } = secp256k1.Point.Fn;
  const point = secp256k1.getPublicKey(privateKey, true);
  const even = point[0] === 2 ? number(privateKey) : ORDER - number(privateKey);
  const tweak = number(schnorr.utils.taggedHash("TapTweak", point.subarray(1)));
  return fromHex(((even + tweak) % ORDER).toString(16).padStart(64, "0"))!;
}

const number = (bytes: Uint8Array): bigint => BigInt(`0x${toHex(bytes)}`);
const hash256 = (bytes: Uint8Array): Uint8Array => sha256(sha256(bytes));

const MAGIC = fromHex("70736274ff")!;
/** The types of members that are read and written (BIP-174, BIP-371). */
const GLOBAL_UNSIGNED = 0x00;
const INPUT = { transaction: 0x00, output: 0x01, signature: 0x02, taprootSignature: 0x13 } as const;
const SIGHASH_ALL = 1;

type Pairs = [key: Uint8Array, value: Uint8Array][];
interface Output {
  /** The amount as it is written, 8 bytes. */
  readonly amount: Uint8Array;
  readonly script: Uint8Array;
}
interface Parsed {
  readonly version: Uint8Array;
  readonly inputs: readonly { readonly outpoint: Uint8Array; readonly sequence: Uint8Array }[];
  readonly outputs: readonly Output[];
  readonly locktime: Uint8Array;
}

/** Signs each input of a PSBT that spends an output of the key's address. */
export function signedPsbt(bytes: Uint8Array, key: WalletKey): Uint8Array {
  const script = outputScript(key.publicKey, key.addressFormat ?? "");
  if (script === undefined) throw invalid("parameters.signWith: expected a Bitcoin address");
  try {
    const reader = new Reader(bytes);
    if (!equalBytes(reader.take(MAGIC.length), MAGIC)) throw new RangeError("magic");
    const global = reader.pairs();
    const transaction = parsedTransaction(valueOf(global, GLOBAL_UNSIGNED)!);
    const inputs = transaction.inputs.map(() => reader.pairs());
    const spent = inputs.map((pairs, index) => outputOf(pairs, transaction.inputs[index]!.outpoint));
    const signed = inputs.map((pairs, index): Pairs => {
      if (!equalBytes(spent[index]!.script, script)) return pairs;
      return [...pairs, signatureOf(transaction, index, spent, key)];
    });
    if (signed.every((pairs, index) => pairs === inputs[index]))
      throw invalid("parameters.unsignedTransaction: no input spends an output of this address");
    return concatBytes(MAGIC, ...[global, ...signed].map(written), reader.take());
  } catch (error) {
    throw error instanceof RangeError || error instanceof TypeError
      ? invalid("parameters.unsignedTransaction: expected a PSBT with the outputs that its inputs spend")
      : error;
  }
}

function signatureOf(transaction: Parsed, index: number, spent: readonly Output[], key: WalletKey): Pairs[number] {
  const [{ script }, { schnorr, secp256k1 }] = [spent[index]!, noble];
  if (script[0] === 0x51) {
    const digest = taprootDigest(transaction, index, spent);
    return [Uint8Array.of(INPUT.taprootSignature), schnorr.sign(digest, taprootKey(key.privateKey))];
  }
  const digest =
    script[0] === 0 ? witnessDigest(transaction, index, spent[index]!) : legacyDigest(transaction, index, script);
  const signature = secp256k1.sign(digest, key.privateKey, { prehash: false, lowS: true, format: "der" });
  const name = concatBytes(Uint8Array.of(INPUT.signature), key.publicKey);
  return [name, concatBytes(signature, Uint8Array.of(SIGHASH_ALL))];
}

/** The input's own script is the spent output's, all others are empty. */
function legacyDigest({ version, inputs, outputs, locktime }: Parsed, index: number, script: Uint8Array): Uint8Array {
  const scripts = inputs.map((one, at) => [
    one.outpoint,
    sized(at === index ? script : new Uint8Array()),
    one.sequence,
  ]);
  return hash256(
    concatBytes(
      version,
      size(inputs.length),
      ...scripts.flat(),
      size(outputs.length),
      outputBytes(outputs),
      locktime,
      TYPE,
    ),
  );
}
const TYPE = Uint8Array.of(SIGHASH_ALL, 0, 0, 0);

function witnessDigest({ version, inputs, outputs, locktime }: Parsed, index: number, spent: Output): Uint8Array {
  const { outpoint, sequence } = inputs[index]!;
  const outpoints = hash256(concatBytes(...inputs.map((one) => one.outpoint)));
  const sequences = hash256(concatBytes(...inputs.map((one) => one.sequence)));
  const code = concatBytes(fromHex("76a914")!, spent.script.subarray(2), fromHex("88ac")!);
  const own = [outpoint, sized(code), spent.amount, sequence];
  return hash256(concatBytes(version, outpoints, sequences, ...own, hash256(outputBytes(outputs)), locktime, TYPE));
}

/** SIGHASH_DEFAULT, without an annex. */
function taprootDigest(
  { version, inputs, outputs, locktime }: Parsed,
  index: number,
  spent: readonly Output[],
): Uint8Array {
  const hashes = [
    inputs.map(({ outpoint }) => outpoint),
    spent.map(({ amount }) => amount),
    spent.map(({ script }) => sized(script)),
    inputs.map(({ sequence }) => sequence),
  ].map((parts) => sha256(concatBytes(...parts)));
  const head = [Uint8Array.of(0, 0), version, locktime, ...hashes, sha256(outputBytes(outputs)), Uint8Array.of(0)];
  return noble.schnorr.utils.taggedHash("TapSighash", concatBytes(...head, littleEndian(index, 4)));
}

function outputBytes(outputs: readonly Output[]): Uint8Array {
  return concatBytes(...outputs.flatMap(({ amount, script }) => [amount, sized(script)]));
}

/** Returns the output that an input spends. */
function outputOf(pairs: Pairs, outpoint: Uint8Array): Output {
  const witness = valueOf(pairs, INPUT.output);
  if (witness !== undefined) return new Reader(witness).output();
  const index = new DataView(outpoint.buffer, outpoint.byteOffset).getUint32(32, true);
  const found = parsedTransaction(valueOf(pairs, INPUT.transaction)!).outputs[index];
  if (found === undefined) throw new RangeError("output");
  return found;
}

function valueOf(pairs: Pairs, type: number): Uint8Array | undefined {
  return pairs.find(([key]) => key.length === 1 && key[0] === type)?.[1];
}

function written(pairs: Pairs): Uint8Array {
  return concatBytes(...pairs.flatMap(([key, value]) => [sized(key), sized(value)]), Uint8Array.of(0));
}

function parsedTransaction(bytes: Uint8Array): Parsed {
  const reader = new Reader(bytes);
  const version = reader.take(4);
  const hasWitness = bytes[4] === 0;
  if (hasWitness) reader.take(2);
  const inputs = reader.many(() => {
    const outpoint = reader.take(36);
    reader.sized();
    return { outpoint, sequence: reader.take(4) };
  });
  const outputs = reader.many(() => reader.output());
  return { version, inputs, outputs, locktime: bytes.subarray(-4) };
}

function littleEndian(value: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (value / 2 ** (8 * index)) & 0xff);
}

/** Writes a length in Bitcoin's variable form. */
function size(value: number): Uint8Array {
  if (value < 0xfd) return Uint8Array.of(value);
  return value < 0x10000
    ? concatBytes(Uint8Array.of(0xfd), littleEndian(value, 2))
    : concatBytes(Uint8Array.of(0xfe), littleEndian(value, 4));
}

function sized(bytes: Uint8Array): Uint8Array {
  return concatBytes(size(bytes.length), bytes);
}

/** Reads Bitcoin's forms. Throws RangeError where the bytes end. */
class Reader {
  #at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  take(length = this.#bytes.length - this.#at): Uint8Array {
    const taken = this.#bytes.slice(this.#at, (this.#at += length));
    if (taken.length !== length) throw new RangeError("end");
    return taken;
  }

  size(): number {
    const first = this.take(1)[0]!;
    const bytes = first < 0xfd ? Uint8Array.of(first) : this.take(first === 0xfd ? 2 : 4);
    return bytes.reduceRight((value, byte) => value * 256 + byte, 0);
  }

  sized(): Uint8Array {
    return this.take(this.size());
  }

  many<T>(read: () => T): T[] {
    return Array.from({ length: this.size() }, read);
  }

  output(): Output {
    return { amount: this.take(8), script: this.sized() };
  }

  pairs(): Pairs {
    const pairs: Pairs = [];
    for (let key = this.sized(); key.length > 0; key = this.sized()) pairs.push([key, this.sized()]);
    return pairs;
  }
}
