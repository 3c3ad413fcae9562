/** Attacks on the signatures in an activity's result, and signatures that are accepted. The app proofs are valid. */
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes, fromHex, toHex, toUtf8 } from "../../src/bytes.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { decodeRlp, encodeRlp } from "../../src/lab/ethereum.js";
import type { Expected } from "../../src/index.js";
import { policyOutcomePayload } from "../../src/lab/enclave.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { signedPayload, signedTransaction } from "../../src/lab/signing.js";
import { FORMATS_OF_ADDRESSES } from "../../src/lab/addresses-of.js";
import { type WalletKey, keyAt } from "../../src/lab/wallet.js";

import { type Accepted, type Attack, after, withActivity } from "./support.js";

const seed = new Uint8Array(64).fill(3);
const key = keyAt(seed, { path: "m/0'" });
const otherKey = keyAt(seed, { path: "m/1'" });
const ed25519 = keyAt(seed, { path: "m/0'", curve: "CURVE_ED25519" });
const address = FORMATS_OF_ADDRESSES.ADDRESS_FORMAT_ETHEREUM.write(key.publicKey);
const solana = FORMATS_OF_ADDRESSES.ADDRESS_FORMAT_SOLANA.write(ed25519.publicKey);
const ID = "00000000-0000-4000-8000-000000000000";

type Signing = "RAW_PAYLOAD_V2" | "RAW_PAYLOADS" | "TRANSACTION_V2";

const PAYLOADS = [policyOutcomePayload(after(60), LAB_ADDRESS.organizationId)];

/** An activity that signs, what the caller submitted, and the result that the service returns. */
export function row(
  type: Signing,
  parameters: JsonObject,
  result: JsonObject,
  more: Partial<Expected> = {},
): Pick<Attack, "forge" | "judge"> {
  const whole = `ACTIVITY_TYPE_SIGN_${type}`;
  return {
    forge: {
      payloads: PAYLOADS,
      activity: (json) => ({ ...json, type: whole, intent: { i: parameters }, result: { r: result } }),
    },
    judge: {
      given: withActivity,
      expected: { organizationId: LAB_ADDRESS.organizationId, type: whole, parameters, ...more },
    },
  };
}

const how = { encoding: "PAYLOAD_ENCODING_TEXT_UTF8", hashFunction: "HASH_FUNCTION_KECCAK256" } as const;
const plain = { ...how, hashFunction: "HASH_FUNCTION_NOT_APPLICABLE" } as const;
const submitted = { signWith: address, payload: "pay 1", ...how };
const good = signedPayload(key, submitted) as Record<"r" | "s" | "v", string>;
const both = ["pay 1", "pay 2"];
const list = both.map((payload) => signedPayload(key, { payload, ...how }));
const goodEd25519 = signedPayload(ed25519, { payload: "pay 1", ...plain }) as Record<"r" | "s" | "v", string>;

/** Signatures whose r and s begin with zero digits, as one of 128 does. Clients write such a part shorter. */
type Parts = Record<"r" | "s" | "v", string>;
function withZeros(by: WalletKey, options: typeof how | typeof plain, part: "r" | "s", zeros: string) {
  for (let index = 0; ; index++) {
    const payload = `pay ${index}`;
    const signature = signedPayload(by, { payload, ...options }) as Parts;
    if (signature[part].startsWith(zeros)) return { signature, asked: { payload, ...options } };
  }
}
const shortR = withZeros(key, how, "r", "00");
const shortS = withZeros(key, how, "s", "00");
const oddR = withZeros(key, how, "r", "0");
const shortEd25519 = withZeros(ed25519, plain, "r", "00");
const trimmed = (text: string): string => text.replace(/^0+/, "");
const isOdd = good.v === "01";

const flipped = (text: string): string => `${text.slice(0, -1)}${(Number.parseInt(text.at(-1)!, 16) ^ 1).toString(16)}`;
const word = (value: bigint): string => value.toString(16).padStart(64, "0");
const number = (text: string): bigint => BigInt(`0x${text}`);
const { ORDER } = secp256k1.Point.Fn;
/** The other signature of the same key over the same digest. */
const highS = { r: good.r, s: word(ORDER - number(good.s)), v: good.v === "00" ? "01" : "00" };
/** RFC 8032: the order of the base point, little endian. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const reversed = (text: string): string => text.match(/../g)!.reverse().join("");

const pending = (json: JsonObject): JsonObject => ({
  ...json,
  type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
  intent: { i: submitted },
  result: { r: {} },
});
const payload = (name: string, result: JsonObject, parameters: JsonObject = submitted): Attack => ({
  name: `signature: ${name}`,
  ...row("RAW_PAYLOAD_V2", parameters, result),
  fails: ["activity.signature"],
});
const payloads = (name: string, signatures: JsonValue): Attack => ({
  name: `signatures: ${name}`,
  ...row("RAW_PAYLOADS", { signWith: address, payloads: both, ...how }, { signatures }),
  fails: ["activity.signature"],
});
const under = (signWith: string, parameters: object = submitted): JsonObject => ({ ...parameters, signWith });
/** Each type refers to the next one, and with the domain there are too many. */
const chainOfTypes = JSON.stringify({
  types: {
    EIP712Domain: [],
    ...Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`T${index}`, [{ name: "next", type: `T${index + 1}[]` }]]),
    ),
  },
  primaryType: "T0",
  domain: {},
  message: { next: [] },
});
const typedData = { ...submitted, encoding: "PAYLOAD_ENCODING_EIP712", hashFunction: "HASH_FUNCTION_NO_OP" };
const withS = (s: string): JsonObject => ({ ...goodEd25519, s });

/** The service's keys of P-256 have the form of those of secp256k1. */
const p256Key = toHex(p256.getPublicKey(key.privateKey));
const p256Signature = p256.sign(keccak_256(toUtf8("pay 1")), key.privateKey, { prehash: false });
const onP256 = {
  r: toHex(p256Signature.subarray(0, 32)),
  s: toHex(p256Signature.subarray(32)),
  v: "00",
};

const recipient = "22".repeat(20);
/** EIP-1559. */
const unsigned = `02e70180808082520894${recipient}880de0b6b3a764000080c0`;
/** EIP-155, on chain 1. */
const legacy = `dc018082520894${recipient}8001${"018080"}`.replace("dc", "df");
const ethereum = { type: "TRANSACTION_TYPE_ETHEREUM" } as const;
const signedBy = (by: WalletKey, unsignedTransaction: string): string =>
  signedTransaction(by, { unsignedTransaction, ...ethereum });
const rowOf = (type: string, signWith: string, unsignedTransaction: string, signed: JsonValue) =>
  row("TRANSACTION_V2", { signWith, unsignedTransaction, type }, { signedTransaction: signed });
const transaction = (name: string, signed: JsonValue, from = unsigned, signWith = address): Attack => ({
  name: `signed transaction: ${name}`,
  ...rowOf(ethereum.type, signWith, from, signed),
  fails: ["activity.signature"],
});
/** Replaces members of the signed transaction, from the end where negative. */
function changed(signed: string, changes: Readonly<Record<number, (item: Uint8Array) => Uint8Array>>): string {
  const isTyped = !signed.startsWith("f");
  const items = decodeRlp(fromHex(isTyped ? signed.slice(2) : signed)!) as Uint8Array[];
  const all = items.map((item, index) => (changes[index] ?? changes[index - items.length])?.(item) ?? item);
  return (isTyped ? signed.slice(0, 2) : "") + toHex(encodeRlp(all));
}
const otherParity = (item: Uint8Array): Uint8Array => (item.length === 0 ? Uint8Array.of(1) : new Uint8Array());
const otherV = (item: Uint8Array): Uint8Array => Uint8Array.of(item[0] === 37 ? 38 : 37);
const otherChain = (item: Uint8Array): Uint8Array => Uint8Array.of(item[0]! + 2);
const highWord = (item: Uint8Array): Uint8Array => fromHex(word(ORDER - number(toHex(item))))!;

/** A message of one signer, one other key, a blockhash and no instructions. */
const message = `010001${"02"}${toHex(ed25519.publicKey)}${"44".repeat(32)}${"55".repeat(32)}00`;
const solanaUnsigned = `01${"00".repeat(64)}${message}`;
const solanaType = { type: "TRANSACTION_TYPE_SOLANA" } as const;
const solanaSigned = signedTransaction(ed25519, { unsignedTransaction: solanaUnsigned, ...solanaType });
const twoSigners = {
  signWith: solana,
  unsignedTransaction: `02${"00".repeat(64)}${"77".repeat(64)}${message.replace("010001", "020001")}`,
  ...solanaType,
};
const onSolana = (name: string, signed: string): Attack => ({
  name: `signed transaction of Solana: ${name}`,
  ...rowOf(solanaType.type, solana, solanaUnsigned, signed),
  fails: ["activity.signature"],
});

export const SIGNATURE_ATTACKS: readonly Attack[] = [
  payload("of another key", signedPayload(otherKey, submitted)),
  payload("over another payload", signedPayload(key, { ...submitted, payload: "pay 2" })),
  payload("of another hash", signedPayload(key, { ...submitted, hashFunction: "HASH_FUNCTION_SHA256" })),
  payload("one bit of r", { ...good, r: flipped(good.r) }),
  payload("one bit of s", { ...good, s: flipped(good.s) }),
  payload("the other v", { ...good, v: highS.v }),
  payload("a high s with the v of the low one", { ...highS, v: good.v }),
  ...[isOdd ? "1b" : "1c", isOdd ? "0x1b" : "0x1c", isOdd ? "27" : "28", isOdd ? "0x0" : "0x1"].map((v) =>
    payload(`the other v, as ${v}`, { ...good, v }),
  ),
  // Hex 27 and 28 are 39 and 40; a Number is no text.
  ...["0x27", "0x28", "1d", "1a", "29", "2", "02", "001", "", "0x", " 00", "00\n", 0, 27, ["00"]].map((v, form) =>
    payload(`v ${form + 1}: ${JSON.stringify(v)}`, { ...good, v }),
  ),
  payload("no v", { r: good.r, s: good.s }),
  payload("r and s of zero", { r: word(0n), s: word(0n), v: "00" }),
  payload("s beyond the order", { ...good, s: word(ORDER + 1n) }),
  payload("r without a byte that is not zero", { ...good, r: good.r.slice(2) }),
  payload("r of the order", { ...good, r: word(ORDER) }),
  ...["", "0x", "0", "00", "0x0", `00${good.r}`, `0${good.r}`, `0x00${good.r}`, `-${good.r}`, ` ${good.r}`].map(
    (r, form) => payload(`r ${form + 1}: ${r.slice(0, 8)} in ${r.length} characters`, { ...good, r }),
  ),
  ...["", "0x", "0", word(0n), `00${good.s}`, `0x0x${good.s.slice(2)}`, `${good.s}\n`, null].map((s, form) =>
    payload(`s ${form + 1}: ${String(s).slice(0, 8)} in ${String(s).length} characters`, { ...good, s }),
  ),
  payload("r of zero, under a format that this version does not know", { ...good, r: word(0n) }, under("bc1q")),
  payload("a short r over another payload", { ...shortR.signature, r: trimmed(shortR.signature.r) }),
  payload(
    "a short r that is padded behind",
    { ...shortR.signature, r: `${shortR.signature.r.slice(2)}00` },
    under(address, shortR.asked),
  ),
  payload(
    "a short r over another payload, with Ed25519",
    { ...shortEd25519.signature, r: trimmed(shortEd25519.signature.r) },
    under(solana, { payload: "another", ...plain }),
  ),
  payload("an empty s, with Ed25519", withS(""), under(solana, { payload: "pay 1", ...plain })),
  payload("none", {}),
  payload("another key's, under a public key", signedPayload(otherKey, submitted), under(toHex(key.publicKey))),
  payload(
    "of another key, with Ed25519",
    goodEd25519,
    under(toHex(otherEd25519().publicKey), { payload: "pay 1", ...plain }),
  ),
  payload("over another payload, with Ed25519", goodEd25519, under(solana, { payload: "pay 2", ...plain })),
  payload(
    "S of Ed25519 beyond the order",
    withS(reversed(word(number(reversed(goodEd25519.s)) + L))),
    under(solana, { payload: "pay 1", ...plain }),
  ),
  payload(
    "under an Ed25519 key of small order",
    // R is the base point, S is 1: lax rules accept it for any message.
    { r: `58${"66".repeat(31)}`, s: `01${"00".repeat(31)}`, v: "00" },
    under(`01${"00".repeat(31)}`, { payload: "pay 1", ...plain }),
  ),
  payload("of P-256 over another payload", onP256, under(p256Key, { ...submitted, payload: "pay 2" })),
  payload("of P-256 under a key of secp256k1", onP256, under(toHex(key.publicKey))),
  {
    ...payload("of an activity that is not completed", {}),
    forge: { activity: (json) => ({ ...pending(json), status: "ACTIVITY_STATUS_PENDING" }), payloads: PAYLOADS },
    fails: ["activity.request"],
  },
  payloads("in another order", [...list].reverse()),
  payloads("fewer than payloads", list.slice(1)),
  payloads("the first only", list.slice(0, 1)),
  payloads("more than payloads", [...list, list[0]!]),
  payloads("the first one twice", [list[0]!, list[0]!]),
  payloads("that are no list", { 0: list[0]!, 1: list[1]! }),
  transaction("by another key", signedBy(otherKey, unsigned)),
  transaction("to another recipient", signedBy(key, unsigned.replace(recipient, "33".repeat(20)))),
  transaction("on another chain", signedBy(key, unsigned.replace("02e701", "02e705"))),
  transaction("with another nonce", signedBy(key, unsigned.replace("02e70180", "02e70107"))),
  transaction(
    "of the submitted one's signature, to another recipient",
    signedBy(key, unsigned).replace(recipient, "33".repeat(20)),
  ),
  transaction("of another type", signedBy(key, unsigned).replace(/^02/, "01")),
  transaction("the other parity", changed(signedBy(key, unsigned), { [-3]: otherParity })),
  transaction(
    "a high s, which no chain accepts",
    changed(signedBy(key, unsigned), { [-3]: otherParity, [-1]: highWord }),
  ),
  transaction("a zero before r", changed(signedBy(key, unsigned), { [-2]: (r) => concatBytes(new Uint8Array(1), r) })),
  transaction(
    "a zero as parity",
    changed(signedBy(key, unsigned), { [-3]: (v) => (v.length === 0 ? new Uint8Array(1) : new Uint8Array([0, 1])) }),
  ),
  transaction("without its signature", unsigned),
  transaction("with a byte after it", `${signedBy(key, unsigned)}00`),
  transaction("that is not hex", "signed"),
  transaction("the other parity in v", changed(signedBy(key, legacy), { [-3]: otherV }), legacy),
  transaction("of another chain in v", changed(signedBy(key, legacy), { [-3]: otherChain }), legacy),
  transaction(
    "by another key, where signWith has an unknown format",
    signedBy(key, unsigned.replace(recipient, "33".repeat(20))),
    unsigned,
    "bc1q",
  ),
  onSolana("without its signature", solanaUnsigned),
  {
    name: "signed transaction of Solana: another signer's signature is changed, too",
    ...row("TRANSACTION_V2", twoSigners, {
      signedTransaction: signedTransaction(ed25519, twoSigners).replace("77".repeat(64), "78".repeat(64)),
    }),
    fails: ["activity.signature"],
  },
  onSolana("one bit of the message", flipped(solanaSigned)),
  onSolana(
    "one bit of the signature",
    `${solanaSigned.slice(0, 10)}${flipped(solanaSigned.slice(10, 12))}${solanaSigned.slice(12)}`,
  ),
  onSolana(
    "another blockhash, signed",
    signedTransaction(ed25519, { unsignedTransaction: solanaUnsigned.replace("5555", "6666"), ...solanaType }),
  ),
];

function otherEd25519(): WalletKey {
  return keyAt(seed, { path: "m/1'", curve: "CURVE_ED25519" });
}

const accepted = (name: string, parts: Pick<Attack, "forge" | "judge">, isOpen = false): Accepted => ({
  name: `signature: ${name}`,
  ...parts,
  ...(isOpen && { warns: ["activity.signature"] }),
});
const acceptedPayload = (
  name: string,
  result: JsonObject,
  parameters: JsonObject = submitted,
  isOpen = false,
): Accepted => accepted(name, row("RAW_PAYLOAD_V2", parameters, result), isOpen);
const acceptedTransaction = (
  name: string,
  by: WalletKey,
  from: string,
  type: string,
  signWith: string,
  isOpen = false,
): Accepted => {
  const parameters = { unsignedTransaction: from, type } as Parameters<typeof signedTransaction>[1];
  return accepted(name, rowOf(type, signWith, from, signedTransaction(by, parameters)), isOpen);
};

export const SIGNATURES_ACCEPTED: readonly Accepted[] = [
  acceptedPayload("under an address", good),
  acceptedPayload("under an address in lower case", good, under(address.toLowerCase())),
  acceptedPayload("under a public key", good, under(toHex(key.publicKey))),
  acceptedPayload("with a high s, and its v", highS),
  ...(isOdd
    ? ["1", "01", "0x1", "0x01", "1c", "1C", "0x1c", "28"]
    : ["0", "00", "0x0", "0x00", "1b", "1B", "0x1b", "27"]
  ).map((v, form) => acceptedPayload(`with v ${form + 1}: ${v}`, { ...good, v })),
  acceptedPayload("with 0x before r, s and v", { r: `0x${good.r}`, s: `0x${good.s.toUpperCase()}`, v: `0x${good.v}` }),
  acceptedPayload(
    "with an r of 31 bytes",
    { ...shortR.signature, r: shortR.signature.r.slice(2) },
    under(address, shortR.asked),
  ),
  acceptedPayload(
    "with an s of 31 bytes and 0x",
    { ...shortS.signature, s: `0x${shortS.signature.s.slice(2)}` },
    under(address, shortS.asked),
  ),
  acceptedPayload(
    "with an odd number of digits in r",
    { ...oddR.signature, r: trimmed(oddR.signature.r) },
    under(address, oddR.asked),
  ),
  acceptedPayload(
    "of Ed25519 with an r of 31 bytes",
    { ...shortEd25519.signature, r: `0x${shortEd25519.signature.r.slice(2)}`, s: `0x${shortEd25519.signature.s}` },
    under(solana, shortEd25519.asked),
  ),
  acceptedPayload("of P-256", onP256, under(p256Key)),
  acceptedPayload("of P-256 with 0x", { r: `0x${onP256.r}`, s: `0x${onP256.s}`, v: "0x1b" }, under(p256Key)),
  acceptedPayload("of P-256 under a whole point", onP256, under(toHex(p256.getPublicKey(key.privateKey, false)))),
  acceptedPayload("under a whole point", good, under(toHex(secp256k1.getPublicKey(key.privateKey, false)))),
  acceptedPayload("of Ed25519 under an address of Solana", goodEd25519, under(solana, { payload: "pay 1", ...plain })),
  acceptedPayload(
    "of Ed25519 under a public key",
    goodEd25519,
    under(toHex(ed25519.publicKey), { payload: "pay 1", ...plain }),
  ),
  accepted(
    "of several payloads",
    row("RAW_PAYLOADS", { signWith: address, payloads: both, ...how }, { signatures: list }),
  ),
  accepted(
    "of several payloads, with 0x and short parts",
    row(
      "RAW_PAYLOADS",
      { signWith: address, payloads: [shortR.asked.payload, shortS.asked.payload], ...how },
      {
        signatures: [shortR, shortS].map(({ signature: { r, s, v } }) => ({
          r: `0x${trimmed(r)}`,
          s: trimmed(s),
          v: v === "00" ? "27" : "28",
        })),
      },
    ),
  ),
  acceptedPayload("under an id, which names no key", good, under(ID), true),
  acceptedPayload("under an address of an unknown format", good, under("bc1q"), true),
  acceptedPayload("under an address of 200 characters", good, under("1".repeat(200)), true),
  acceptedPayload("of typed data with a chain of 101 types", good, { ...typedData, payload: chainOfTypes }, true),
  acceptedPayload("of an unknown hash", good, { ...submitted, hashFunction: "HASH_FUNCTION_NEW" }, true),
  acceptedPayload("of an unknown encoding", good, { ...submitted, encoding: "PAYLOAD_ENCODING_NEW" }, true),
  acceptedTransaction("in a transaction of EIP-1559", key, unsigned, ethereum.type, address),
  acceptedTransaction("in a legacy transaction", key, legacy, ethereum.type, address),
  acceptedTransaction("in a transaction under an id", key, unsigned, ethereum.type, ID, true),
  acceptedTransaction("in a transaction of Solana", ed25519, solanaUnsigned, solanaType.type, solana),
  acceptedTransaction("in a transaction of Solana under an id", ed25519, solanaUnsigned, solanaType.type, ID, true),
  accepted(
    "in a transaction that is signed already",
    rowOf(ethereum.type, address, signedBy(key, unsigned), signedBy(key, unsigned)),
    true,
  ),
  accepted("in a transaction of a type of tomorrow", rowOf("TRANSACTION_TYPE_NEW", address, unsigned, unsigned), true),
];
