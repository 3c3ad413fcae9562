/**
 * The address formats of the service's interface: what an address says about its key, and so how a key or a signature
 * is held against it (verify/README.md, "Signatures"). Loaded only for a text that is neither an Ethereum or Solana
 * address nor a key.
 */
import { concatBytes, equalBytes, fromHex } from "../bytes.js";
import {
  base32nopad,
  base58,
  base58xrp,
  base64urlnopad,
  bech32,
  bech32m,
  blake2b,
  sha256,
  sha3_256,
} from "./noble-addresses.js";
import { hash160, hashScript, taprootScript, witnessHashScript } from "./output-scripts.js";

/** Whether a public key is that of the address: a compressed point of secp256k1, or an Ed25519 key. */
type IsOf = (publicKey: Uint8Array) => boolean;

/** What an address says about its key. `script` is that of the outputs which pay to the address. */
export type AddressSigner =
  | { readonly kind: "ethereum"; readonly address: Uint8Array }
  /** A hash of a compressed key of secp256k1, which ECDSA recovers. */
  | { readonly kind: "hashed"; readonly isOf: IsOf; readonly script?: Uint8Array }
  /** The x coordinate of a key that BIP-341 tweaked, without scripts. */
  | { readonly kind: "taproot"; readonly outputKey: Uint8Array; readonly script: Uint8Array }
  /** A compressed key of secp256k1 that signs by BIP-340. */
  | { readonly kind: "spark"; readonly publicKey: Uint8Array }
  | { readonly kind: "ed25519"; readonly publicKey: Uint8Array }
  /** A hash of an Ed25519 key, which no signature recovers. */
  | { readonly kind: "withheld"; readonly isOf: IsOf }
  /** An address that no signature can be held against, which has a `script` if it hides another script. */
  | { readonly kind: "closed"; readonly reason: string; readonly script?: Uint8Array };

/** Returns null, or throws, for a text that is no address of the format. */
type Read = (text: string) => AddressSigner | null;

/** By network: the prefix of segregated witness (BIP-173), and the version bytes of base58check. */
const BITCOIN = {
  MAINNET: { hrp: "bc", p2pkh: 0x00, p2sh: 0x05 },
  TESTNET: { hrp: "tb", p2pkh: 0x6f, p2sh: 0xc4 },
  SIGNET: { hrp: "tb", p2pkh: 0x6f, p2sh: 0xc4 },
  REGTEST: { hrp: "bcrt", p2pkh: 0x6f, p2sh: 0xc4 },
};
type BitcoinNetwork = keyof typeof BITCOIN;
const OUTPUTS = {
  P2PKH: ({ p2pkh }, text) => payToHash(base58check(text, p2pkh)),
  P2SH: ({ p2sh }, text) => payToScript(base58check(text, p2sh)),
  P2WPKH: ({ hrp }, text) => payToWitnessHash(program(text, hrp, 0, 20)),
  P2WSH: ({ hrp }, text) => payToWitnessScript(program(text, hrp, 0, 32)),
  P2TR: ({ hrp }, text) => payToTaproot(program(text, hrp, 1, 32)),
} satisfies Record<string, (network: (typeof BITCOIN)[BitcoinNetwork], text: string) => AddressSigner | null>;

type BitcoinFormat = `ADDRESS_FORMAT_BITCOIN_${BitcoinNetwork}_${keyof typeof OUTPUTS}`;

/** The names of the interface (`v1AddressFormat` of `@turnkey/http` 6.6). */
type AddressFormat =
  | `ADDRESS_FORMAT_${"UNCOMPRESSED" | "COMPRESSED" | "ETHEREUM" | "SOLANA" | "COSMOS" | "TRON" | "SUI" | "APTOS"}`
  | `ADDRESS_FORMAT_${"SEI" | "XLM" | "XRP" | `DOGE_${"MAINNET" | "TESTNET"}`}`
  | `ADDRESS_FORMAT_${`TON_${"V3R2" | "V4R2" | "V5R1"}` | `SPARK_${"MAINNET" | "REGTEST"}`}`
  | BitcoinFormat;

/** `namedSigner` in `signers.ts` has read the text before this file is loaded. */
const READ_BEFORE: Read = () => null;

export const ADDRESS_FORMATS: Readonly<Record<AddressFormat, Read>> = {
  ADDRESS_FORMAT_UNCOMPRESSED: READ_BEFORE,
  ADDRESS_FORMAT_COMPRESSED: READ_BEFORE,
  ADDRESS_FORMAT_ETHEREUM: READ_BEFORE,
  ADDRESS_FORMAT_SOLANA: READ_BEFORE,
  ADDRESS_FORMAT_COSMOS: (text) => hashed(bytesOf(bech32, wordsOf(bech32, text, "cosmos"), 20)),
  ADDRESS_FORMAT_SEI: (text) => hashed(bytesOf(bech32, wordsOf(bech32, text, "sei"), 20)),
  ADDRESS_FORMAT_TRON: (text) => ethereum(base58check(text, 0x41)),
  ADDRESS_FORMAT_XRP: (text) => hashed(base58check(text, 0x00, base58xrp)),
  ADDRESS_FORMAT_DOGE_MAINNET: (text) => payToHash(base58check(text, 0x1e)),
  ADDRESS_FORMAT_DOGE_TESTNET: (text) => payToHash(base58check(text, 0x71)),
  ADDRESS_FORMAT_XLM: stellar,
  ADDRESS_FORMAT_SUI: withheld((key) => blake2b(concatBytes(Uint8Array.of(0), key), { dkLen: 32 })),
  ADDRESS_FORMAT_APTOS: withheld((key) => sha3_256(concatBytes(key, Uint8Array.of(0)))),
  ADDRESS_FORMAT_TON_V3R2: ton,
  ADDRESS_FORMAT_TON_V4R2: ton,
  ADDRESS_FORMAT_TON_V5R1: ton,
  ADDRESS_FORMAT_SPARK_MAINNET: (text) => spark(text, "spark"),
  ADDRESS_FORMAT_SPARK_REGTEST: (text) => spark(text, "sparkrt"),
  ...bitcoinFormats(),
};

function bitcoinFormats(): Readonly<Record<BitcoinFormat, Read>> {
  const rows = Object.entries(BITCOIN).flatMap(([name, network]) =>
    Object.entries(OUTPUTS).map(([output, read]): [string, Read] => [
      `ADDRESS_FORMAT_BITCOIN_${name}_${output}`,
      (text) => read(network, text),
    ]),
  );
  return Object.fromEntries(rows) as Record<BitcoinFormat, Read>;
}

/** Longer than any address. It bounds the cost of base58, which is quadratic. */
const MAX_ADDRESS = 100;

/** Returns what the address says, or null if it is an address of no format. */
export function addressSigner(address: string): AddressSigner | null {
  if (address.length > MAX_ADDRESS) return null;
  const all = Object.values(ADDRESS_FORMATS).flatMap((read) => readOf(read, address) ?? []);
  const first = all[0] ?? null;
  if (first?.kind !== "withheld") return first;
  // Addresses of Sui and Aptos have one form, so the key decides which it is.
  return { kind: "withheld", isOf: (key) => all.some((one) => one.kind === "withheld" && one.isOf(key)) };
}

/** The decoders throw for any other text. */
function readOf(read: Read, text: string): AddressSigner | null {
  try {
    return read(text);
  } catch {
    return null;
  }
}

function ethereum(address: Uint8Array | null): AddressSigner | null {
  return address && { kind: "ethereum", address };
}

function hashed(hash: Uint8Array | null, script?: Uint8Array): AddressSigner | null {
  return hash && { kind: "hashed", isOf: (key) => equalBytes(hash160(key), hash), ...(script && { script }) };
}

function payToHash(hash: Uint8Array | null): AddressSigner | null {
  return hash && hashed(hash, hashScript(hash));
}

function payToWitnessHash(hash: Uint8Array | null): AddressSigner | null {
  return hash && hashed(hash, witnessHashScript(hash));
}

const HIDES_SCRIPT = "the address of signWith hides a script, which says what keys may sign";

function payToScript(hash: Uint8Array | null): AddressSigner | null {
  const script = hash && concatBytes(Uint8Array.of(0xa9, 0x14), hash, Uint8Array.of(0x87));
  return script && { kind: "closed", reason: HIDES_SCRIPT, script };
}

function payToWitnessScript(hash: Uint8Array | null): AddressSigner | null {
  return hash && { kind: "closed", reason: HIDES_SCRIPT, script: concatBytes(Uint8Array.of(0x00, 0x20), hash) };
}

function payToTaproot(outputKey: Uint8Array | null): AddressSigner | null {
  return outputKey && { kind: "taproot", outputKey, script: taprootScript(outputKey) };
}

/** Decodes base58check of 20 bytes under a version. The alphabet is Bitcoin's or Ripple's. */
function base58check(text: string, version: number, alphabet = base58): Uint8Array | null {
  const bytes = alphabet.decode(text);
  const [body, checksum] = [bytes.subarray(0, -4), bytes.subarray(-4)];
  const isWhole = bytes.length === 25 && equalBytes(checksum, sha256(sha256(body)).subarray(0, 4));
  return isWhole && body[0] === version ? body.subarray(1) : null;
}

/** Decodes the program of segregated witness: version 0 is bech32, and any later one bech32m (BIP-350). */
function program(text: string, hrp: string, version: number, length: number): Uint8Array | null {
  const codec = version === 0 ? bech32 : bech32m;
  const [first, ...words] = wordsOf(codec, text, hrp);
  return first === version ? bytesOf(codec, words, length) : null;
}

/** Decodes bech32 or bech32m. There are no words for another prefix. */
function wordsOf(codec: typeof bech32, text: string, hrp: string): number[] {
  const { prefix, words } = codec.decode(text as `${string}1${string}`);
  return prefix === hrp ? words : [];
}

function bytesOf(codec: typeof bech32, words: number[], length: number): Uint8Array | null {
  const bytes = codec.fromWords(words);
  return bytes.length === length ? bytes : null;
}

/** Spark: a protobuf message whose only member, the first, is the key. */
function spark(text: string, hrp: string): AddressSigner | null {
  const bytes = bytesOf(bech32m, wordsOf(bech32m, text, hrp), 35);
  return bytes?.[0] === 0x0a && bytes[1] === 33 ? { kind: "spark", publicKey: bytes.subarray(2) } : null;
}

/** Stellar (SEP-23): the version of an account, its Ed25519 key, and a checksum whose low byte is first. */
function stellar(text: string): AddressSigner | null {
  const bytes = base32nopad.decode(text);
  const body = bytes.subarray(0, -2);
  const [low, high] = bytes.subarray(-2);
  const isAccount = bytes.length === 35 && body[0] === 6 << 3 && crc16(body) === (high! << 8) + low!;
  return isAccount ? { kind: "ed25519", publicKey: body.subarray(1) } : null;
}

/** TON (TEP-2): flags, a workchain, the hash of a contract, and a checksum. */
function ton(text: string): AddressSigner | null {
  const bytes = base64urlnopad.decode(text.replaceAll("+", "-").replaceAll("/", "_"));
  const [high, low] = bytes.subarray(-2);
  if (bytes.length !== 36 || crc16(bytes.subarray(0, -2)) !== (high! << 8) + low!) return null;
  const reason = "the address of signWith is the hash of a contract, from which this version derives no key";
  return { kind: "closed", reason };
}

/** CRC-16/XMODEM. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return crc;
}

function withheld(hash: (publicKey: Uint8Array) => Uint8Array): Read {
  return (text) => {
    const address = /^0x[0-9a-f]{64}$/i.test(text) ? fromHex(text.slice(2)) : null;
    return address && { kind: "withheld", isOf: (key) => key.length === 32 && equalBytes(hash(key), address) };
  };
}
