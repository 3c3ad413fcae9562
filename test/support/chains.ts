/** Keys, addresses and signatures of chains, and PSBTs, for tests. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { ripemd160 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, fromHex, toHex, toUtf8 } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import { signedPsbt } from "../../src/verify/bitcoin.js";

export const SECRET = new Uint8Array(32).fill(7);
export const PUBLIC_KEY = secp256k1.getPublicKey(SECRET, true);
export const OTHER_SECRET = new Uint8Array(32).fill(8);

/**
 * Addresses of {@link SECRET}, as bitcoinjs-lib 7.0.5, tronweb 6.5.1, ripple-keypairs 3.1.0, @cosmjs/amino 0.33.1 and
 * @stellar/stellar-base 15.0.0 write them; those of Spark are of @scure/base. The test in test/sdks makes them again.
 */
export const ADDRESSES = {
  BITCOIN_MAINNET_P2PKH: "1FvyAqqELFiQyaEWdhFbWF8MZapKPZS8J7",
  BITCOIN_MAINNET_P2WPKH: "bc1q50rtrmj2f8vl9tem8qpfw36ylw5jg9j29e5za5",
  BITCOIN_MAINNET_P2SH: "35kMD7vNoJHfEJXQmWx1QeSVz6bbxbh2oK",
  BITCOIN_MAINNET_P2WSH: "bc1qh2s7gcxhgcjesfttmgzkmwjpj8w6xkckcnxgy288rmyvqhjl4m8qukz4pt",
  BITCOIN_MAINNET_P2TR: "bc1pw53jtgez0wf69n06fchp0ctk48620zdscnrj8heh86wykp9mv20qya3c8w",
  BITCOIN_TESTNET_P2PKH: "mvSvTtvD9H9fkgi8MGDyLALgRaR2LhnWFM",
  BITCOIN_TESTNET_P2WPKH: "tb1q50rtrmj2f8vl9tem8qpfw36ylw5jg9j20l03x8",
  BITCOIN_TESTNET_P2SH: "2MwJZGrrQQko1S69xSeZt2bRmCSompaJ7in",
  BITCOIN_TESTNET_P2WSH: "tb1qh2s7gcxhgcjesfttmgzkmwjpj8w6xkckcnxgy288rmyvqhjl4m8qt756my",
  BITCOIN_TESTNET_P2TR: "tb1pw53jtgez0wf69n06fchp0ctk48620zdscnrj8heh86wykp9mv20qn48hap",
  BITCOIN_REGTEST_P2WPKH: "bcrt1q50rtrmj2f8vl9tem8qpfw36ylw5jg9j2dkku3w",
  BITCOIN_REGTEST_P2WSH: "bcrt1qh2s7gcxhgcjesfttmgzkmwjpj8w6xkckcnxgy288rmyvqhjl4m8qx87uw7",
  BITCOIN_REGTEST_P2TR: "bcrt1pw53jtgez0wf69n06fchp0ctk48620zdscnrj8heh86wykp9mv20q7vd3gm",
  DOGE_MAINNET: "DL54i6msdfchWaR7NHFA41HxSiYciTwhqW",
  DOGE_TESTNET: "nj88S7WnZe5RPYzJQ6tcJQtFgavumH1b9o",
  TRON: "TGkWdpawVNfeset3P6uTBbLaPY7nZVZvXY",
  XRP: "rEvywqqNLE5Qy2NWd6EbWE3MZ2FKPZS3Jf",
  COSMOS: "cosmos150rtrmj2f8vl9tem8qpfw36ylw5jg9j2nr2fee",
  SEI: "sei150rtrmj2f8vl9tem8qpfw36ylw5jg9j270mllc",
  XLM: "GDVEU3DD4KOFECV66VIHWEZOYX4ZKR3WV27L464SIIPOU2IUI3JCZA57",
  SPARK_MAINNET: "spark1pgss9xyupdmvk43ew87un0hnrmqxcdtq7vjf6mhfuhvrc4mz2ktwqhm06lpfz2",
  SPARK_REGTEST: "sparkrt1pgss9xyupdmvk43ew87un0hnrmqxcdtq7vjf6mhfuhvrc4mz2ktwqhm0ge04w4",
} as const;
export type AddressName = keyof typeof ADDRESSES;

/** How the service signs with an address, by its name. */
export function schemeOf(name: string): "ecdsa" | "taproot" | "schnorr" | "ed25519" | "script" {
  if (name === "XLM") return "ed25519";
  if (name.startsWith("SPARK")) return "schnorr";
  if (name.endsWith("P2TR")) return "taproot";
  return /P2W?SH$/.test(name) ? "script" : "ecdsa";
}

/** Signs as the service does: by ECDSA with its recovery id, by BIP-340 with v 00, or by Ed25519. */
export function signedBy(scheme: ReturnType<typeof schemeOf>, message: Uint8Array, secret = SECRET): JsonObject {
  if (scheme === "ecdsa" || scheme === "script") {
    const signature = secp256k1.sign(message, secret, { prehash: false, format: "recovered" });
    return { ...halves(signature.subarray(1)), v: `0${signature[0]!}` };
  }
  if (scheme === "ed25519") return { ...halves(ed25519.sign(message, secret)), v: "00" };
  const key = scheme === "taproot" ? tweaked(secret) : secret;
  return { ...halves(schnorr.sign(message, key, new Uint8Array(32))), v: "00" };
}

function halves(signature: Uint8Array): { readonly r: string; readonly s: string } {
  return { r: toHex(signature.subarray(0, 32)), s: toHex(signature.subarray(32)) };
}

/** Returns the secret key after the tweak of BIP-341 without scripts. */
export function tweaked(secret: Uint8Array): Uint8Array {
  const { Fn, BASE } = secp256k1.Point;
  const scalar = Fn.fromBytes(secret);
  const point = BASE.multiply(scalar).toBytes(true);
  const tag = sha256(toUtf8("TapTweak"));
  const tweak = Fn.create(BigInt(`0x${toHex(sha256(concatBytes(tag, tag, point.subarray(1))))}`));
  return Fn.toBytes(Fn.create((point[0] === 2 ? scalar : Fn.neg(scalar)) + tweak));
}

// PSBTs.

export const bytesOf = (...hex: readonly string[]): Uint8Array => fromHex(hex.join(""))!;

/** Scripts of {@link SECRET}'s outputs. */
const hash = toHex(ripemd160(sha256(PUBLIC_KEY)));
export const SCRIPTS = {
  P2PKH: `76a914${hash}88ac`,
  P2WPKH: `0014${hash}`,
  P2TR: `5120${toHex(schnorr.getPublicKey(tweaked(SECRET)))}`,
} as const;
export type OutputKind = keyof typeof SCRIPTS;

/** One entry of a map, in hex. */
export type Entry = readonly [key: string, value: string];

export interface Draft {
  readonly transaction: string;
  readonly inputs: readonly (readonly Entry[])[];
  readonly outputs: readonly (readonly Entry[])[];
  readonly global?: readonly Entry[];
}

/** A compact size in hex. */
function compact(size: number): string {
  if (size < 0xfd) return size.toString(16).padStart(2, "0");
  return `fd${(size & 0xff).toString(16).padStart(2, "0")}${(size >> 8).toString(16).padStart(2, "0")}`;
}

/** Prefixes bytes in hex with their length as a compact size. */
export function sized(hex: string): string {
  return compact(hex.length / 2) + hex;
}

function counted(parts: readonly string[]): string {
  return compact(parts.length) + parts.join("");
}

export function psbt({ transaction, inputs, outputs, global = [] }: Draft): string {
  const map = (entries: readonly Entry[]): string => `${entries.map((entry) => entry.map(sized).join("")).join("")}00`;
  return `70736274ff${[[["00", transaction] as const, ...global], ...inputs, ...outputs].map(map).join("")}`;
}

/** 60,000 and 100,000 satoshi. */
export const AMOUNT = "60ea000000000000";
export const OTHER_AMOUNT = "a086010000000000";

/** A transaction to `to` that spends an output of {@link AMOUNT} of each kind, the second of its transaction. */
export function spending(kinds: readonly OutputKind[], to = "22"): Draft {
  const previous = kinds.map((kind, index) => previousTransaction(kind, index));
  const inputs = previous.map((one) => `${toHex(sha256(sha256(bytesOf(one))))}0100000000fdffffff`);
  const outputs = [
    `50c3000000000000${sized(`0014${to.repeat(20)}`)}`,
    `e803000000000000${sized(`0014${"33".repeat(20)}`)}`,
  ];
  return {
    transaction: `02000000${counted(inputs)}${counted(outputs)}11000000`,
    inputs: kinds.map((kind, index) =>
      kind === "P2TR" ? [["01", AMOUNT + sized(SCRIPTS[kind])] as const] : [["00", previous[index]!] as const],
    ),
    outputs: [[], []],
  };
}

function previousTransaction(kind: OutputKind, index: number): string {
  const outputs = [`${OTHER_AMOUNT}${sized(`0014${"44".repeat(20)}`)}`, AMOUNT + sized(SCRIPTS[kind])];
  const id = (index % 255).toString(16).padStart(2, "0").repeat(32);
  return `0200000001${id}0000000000ffffffff${counted(outputs)}00000000`;
}

const SIGHASH = "01";

/** Signs the inputs of a draft as the service does. `secret` and `suffix` may be another's. */
export function signedDraft(draft: Draft, inputs: readonly number[], secret = SECRET, suffix?: string): Draft {
  return withEntries(draft, (index) => (inputs.includes(index) ? [signatureOf(draft, index, secret, suffix)] : []));
}

export function withEntries(draft: Draft, added: (index: number) => readonly Entry[]): Draft {
  return { ...draft, inputs: draft.inputs.map((entries, index) => [...entries, ...added(index)]) };
}

/** The digest is that of `src/verify/bitcoin.ts`, which the vectors of the BIPs and other libraries check. */
export function digestOf(draft: Draft, index: number): Uint8Array {
  const kind = kindOf(draft, index);
  const placeholder: Entry =
    kind === "P2TR"
      ? ["13", "11".repeat(64)]
      : [`02${toHex(PUBLIC_KEY)}`, derOf({ r: "11".repeat(32), s: "11".repeat(32) })];
  const answer = withEntries(draft, (at) => (at === index ? [placeholder] : []));
  const signed = signedPsbt(bytesOf(psbt(draft)), bytesOf(psbt(answer)), null);
  if (signed.kind !== "signed") throw new Error(signed.reason);
  return signed.signatures[0]!.digest();
}

function kindOf({ inputs }: Draft, index: number): OutputKind {
  const [[, value]] = inputs[index] as [Entry];
  return (Object.keys(SCRIPTS) as OutputKind[]).find((kind) => value.includes(SCRIPTS[kind]))!;
}

export function derOf({ r, s }: JsonObject, suffix = SIGHASH): string {
  const signature = secp256k1.Signature.fromBytes(bytesOf(String(r), String(s)));
  return `${toHex(signature.toBytes("der"))}${suffix}`;
}

export function signatureOf(draft: Draft, index: number, secret = SECRET, suffix?: string): Entry {
  const digest = digestOf(draft, index);
  if (kindOf(draft, index) === "P2TR") {
    const { r, s } = signedBy("taproot", digest, secret);
    return ["13", `${String(r)}${String(s)}${suffix ?? ""}`];
  }
  return [`02${toHex(PUBLIC_KEY)}`, derOf(signedBy("ecdsa", digest, secret), suffix)];
}

/** A Tron transaction: `raw` and a signature, as protobuf. Both are shorter than 128 bytes. */
export function tron(raw: string, secret = SECRET, signed = raw): string {
  const { r, s, v } = signedBy("ecdsa", sha256(bytesOf(signed)), secret);
  return `0a${sized(raw)}12${sized(`${String(r)}${String(s)}${String(v)}`)}`;
}
