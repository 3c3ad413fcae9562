/**
 * The addresses of a public key, by the formats of the service's interface. Verification reads addresses with code of
 * its own, so a mistake in one of the two shows in the other.
 */
import { keccak_256, sha3_256 } from "@noble/hashes/sha3.js";
import { base32nopad, base58, base58xrp, bech32, bech32m } from "@scure/base";
import { concatBytes, toHex, toUtf8 } from "../bytes.js";
import { noble, uncompressed } from "./curves.js";
import { sha256 } from "./qos.js";

export type Curve = "CURVE_SECP256K1" | "CURVE_ED25519" | "CURVE_P256";
/** Writes the address of a public key: 33 bytes compressed, or 32 bytes of Ed25519. */
type Write = (publicKey: Uint8Array) => string;

interface AddressRow {
  readonly curves: readonly Curve[];
  readonly write: Write;
  /** The signature algorithm of the chain, if it is not the curve's own: BIP-340, with or without BIP-341's tweak. */
  readonly signs?: "taproot" | "schnorr";
}

/** Writes bytes with the first four of the double hash of them. */
const checked = (data: Uint8Array, alphabet = base58): string =>
  alphabet.encode(concatBytes(data, sha256(sha256(data)).subarray(0, 4)));

const secp = (write: Write, signs?: AddressRow["signs"]): AddressRow => ({
  ...{ curves: ["CURVE_SECP256K1"], write },
  ...(signs && { signs }),
});
const edwards = (write: Write): AddressRow => ({ curves: ["CURVE_ED25519"], write });
const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const hash160: (key: Uint8Array) => Uint8Array = (key) => noble.ripemd160(sha256(key));
const hashed = (version: number, alphabet = base58): AddressRow =>
  secp((key) => checked(concatBytes(bytes(version), hash160(key)), alphabet));
const cosmos = (prefix: string): AddressRow => secp((key) => bech32.encode(prefix, bech32.toWords(hash160(key))));
/** A message of protobuf whose first member is the key. */
const spark = (prefix: string): AddressRow =>
  secp((key) => bech32m.encode(prefix, bech32m.toWords(concatBytes(bytes(0x0a, key.length), key)), false), "schnorr");

type BitcoinFormats<Network extends string> = Record<
  `ADDRESS_FORMAT_BITCOIN_${Network}_${"P2PKH" | "P2WPKH" | "P2TR"}`,
  AddressRow
>;

/** The formats of Bitcoin, by the prefix of segregated witness and the version of P2PKH (BIP-173, BIP-350). */
function bitcoin<Network extends string>(network: Network, prefix: string, version: number): BitcoinFormats<Network> {
  const name = `ADDRESS_FORMAT_BITCOIN_${network}` as const;
  return {
    [`${name}_P2PKH`]: hashed(version),
    [`${name}_P2WPKH`]: secp((key) => bech32.encode(prefix, [0, ...bech32.toWords(hash160(key))])),
    [`${name}_P2TR`]: secp((key) => bech32m.encode(prefix, [1, ...bech32m.toWords(outputKey(key))]), "taproot"),
  } as BitcoinFormats<Network>;
}

export const FORMATS_OF_ADDRESSES = {
  ADDRESS_FORMAT_ETHEREUM: secp((key) => checksummed(toHex(lastOfKeccak(key)))),
  ADDRESS_FORMAT_COMPRESSED: { curves: ["CURVE_SECP256K1", "CURVE_ED25519", "CURVE_P256"], write: toHex },
  ADDRESS_FORMAT_UNCOMPRESSED: secp((key) => toHex(uncompressed(key))),
  ADDRESS_FORMAT_SOLANA: edwards((key) => base58.encode(key)),
  ADDRESS_FORMAT_TRON: secp((key) => checked(concatBytes(bytes(0x41), lastOfKeccak(key)))),
  ADDRESS_FORMAT_COSMOS: cosmos("cosmos"),
  ADDRESS_FORMAT_SEI: cosmos("sei"),
  ADDRESS_FORMAT_SUI: edwards((key) => `0x${toHex(noble.blake2b(concatBytes(bytes(0), key), { dkLen: 32 }))}`),
  ADDRESS_FORMAT_APTOS: edwards((key) => `0x${toHex(sha3_256(concatBytes(key, bytes(0))))}`),
  ADDRESS_FORMAT_XLM: edwards(stellar),
  ADDRESS_FORMAT_XRP: hashed(0, base58xrp),
  ADDRESS_FORMAT_DOGE_MAINNET: hashed(0x1e),
  ADDRESS_FORMAT_DOGE_TESTNET: hashed(0x71),
  ADDRESS_FORMAT_SPARK_MAINNET: spark("spark"),
  ADDRESS_FORMAT_SPARK_REGTEST: spark("sparkrt"),
  ...bitcoin("MAINNET", "bc", 0),
  ...bitcoin("TESTNET", "tb", 0x6f),
  ...bitcoin("SIGNET", "tb", 0x6f),
  ...bitcoin("REGTEST", "bcrt", 0x6f),
} as const satisfies Record<string, AddressRow>;
export type AddressFormat = keyof typeof FORMATS_OF_ADDRESSES;

/** Returns the row of a format. Undefined for a format that the lab does not derive. */
export function formatOf(name: string): AddressRow | undefined {
  return Object.hasOwn(FORMATS_OF_ADDRESSES, name) ? FORMATS_OF_ADDRESSES[name as AddressFormat] : undefined;
}

/** Returns why the lab derives no address of this format. */
export function whyNoFormat(name: string): string {
  if (/_P2W?SH$/.test(name)) return `${name}: its script is not published, so the lab cannot derive the address`;
  const known = Object.keys(FORMATS_OF_ADDRESSES).join(", ");
  return `${name}: the lab derives no address of this format: expected one of ${known}`;
}

/** Returns the x coordinate of the key that a P2TR address names: tweaked without scripts (BIP-341). */
function outputKey(publicKey: Uint8Array): Uint8Array {
  const [x, { schnorr, secp256k1 }] = [publicKey.subarray(1), noble];
  const tweak = BigInt(`0x${toHex(schnorr.utils.taggedHash("TapTweak", x))}`);
  const even = schnorr.utils.lift_x(BigInt(`0x${toHex(x)}`));
  return even.add(secp256k1.Point.BASE.multiply(tweak)).toBytes(true).subarray(1);
}

/** Returns the script of the outputs that pay to a Bitcoin address of the key. Undefined for any other format. */
export function outputScript(publicKey: Uint8Array, format: string): Uint8Array | undefined {
  if (format.endsWith("_P2TR")) return concatBytes(bytes(0x51, 32), outputKey(publicKey));
  if (format.endsWith("_P2WPKH")) return concatBytes(bytes(0, 20), hash160(publicKey));
  if (!format.endsWith("_P2PKH")) return undefined;
  return concatBytes(bytes(0x76, 0xa9, 20), hash160(publicKey), bytes(0x88, 0xac));
}

function lastOfKeccak(publicKey: Uint8Array): Uint8Array {
  return keccak_256(uncompressed(publicKey).subarray(1)).subarray(-20);
}

/** Adds the checksum of EIP-55: a letter becomes a capital if the hash has a digit of at least 8 at the same place. */
function checksummed(address: string): string {
  const hash = toHex(keccak_256(toUtf8(address)));
  const isUpper = (index: number): boolean => Number.parseInt(hash[index]!, 16) >= 8;
  return `0x${[...address].map((digit, index) => (isUpper(index) ? digit.toUpperCase() : digit)).join("")}`;
}

/** Returns the account id of Stellar (SEP-23): a version byte, the key, and a CRC-16 (XModem) in little endian. */
function stellar(publicKey: Uint8Array): string {
  const named = concatBytes(bytes(6 << 3), publicKey);
  let crc = 0;
  for (const byte of named) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return base32nopad.encode(concatBytes(named, bytes(crc & 0xff, crc >> 8)));
}
