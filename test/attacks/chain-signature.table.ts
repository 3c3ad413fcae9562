/** Attacks on signatures for accounts of other chains, and signatures that are accepted. The app proofs are valid. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { blake2b } from "@noble/hashes/blake2.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256, sha3_256 } from "@noble/hashes/sha3.js";
import { concatBytes, toHex, toUtf8 } from "../../src/bytes.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import {
  ADDRESSES,
  AMOUNT,
  type AddressName,
  type Draft,
  type Entry,
  OTHER_AMOUNT,
  OTHER_SECRET,
  type OutputKind,
  PUBLIC_KEY,
  SCRIPTS,
  SECRET,
  derOf,
  digestOf,
  psbt,
  schemeOf,
  signatureOf,
  signedBy,
  signedDraft,
  sized,
  spending,
  tron,
  withEntries,
} from "../support/chains.js";
import { row } from "./signature.table.js";
import type { Accepted, Attack } from "./support.js";

// Payloads.

const SIGNED = "pay 1";
const HASHES = {
  HASH_FUNCTION_SHA256: sha256,
  HASH_FUNCTION_KECCAK256: keccak_256,
  HASH_FUNCTION_NOT_APPLICABLE: (bytes: Uint8Array): Uint8Array => bytes,
};
type HashFunction = keyof typeof HASHES;

function asked(name: AddressName, hashFunction = usualHash(name)): JsonObject {
  return { signWith: ADDRESSES[name], payload: SIGNED, encoding: "PAYLOAD_ENCODING_TEXT_UTF8", hashFunction };
}

function usualHash(name: AddressName): HashFunction {
  return schemeOf(name) === "ed25519" ? "HASH_FUNCTION_NOT_APPLICABLE" : "HASH_FUNCTION_SHA256";
}

function signature(name: AddressName, hash = usualHash(name), payload = SIGNED, secret = SECRET): JsonObject {
  return signedBy(schemeOf(name), HASHES[hash](toUtf8(payload)), secret);
}

const NAMES = Object.keys(ADDRESSES) as AddressName[];
const DECIDED = NAMES.filter((name) => schemeOf(name) !== "script");
const HIDDEN = NAMES.filter((name) => schemeOf(name) === "script");
const JUNK = { r: "11".repeat(32), s: "11".repeat(32), v: "00" };
const word = (value: bigint): string => value.toString(16).padStart(64, "0");
const { ORDER } = secp256k1.Point.Fn;
function highS({ r, s, v }: JsonObject): JsonObject {
  return { r: r!, s: word(ORDER - BigInt(`0x${String(s)}`)), v: v === "00" ? "01" : "00" };
}

const payloadAttack = (
  name: string,
  address: AddressName,
  result: JsonObject,
  parameters = asked(address),
): Attack => ({
  name: `signature for ${address}: ${name}`,
  ...row("RAW_PAYLOAD_V2", parameters, result),
  fails: ["activity.signature"],
});

function payloadAttacks(name: AddressName): Attack[] {
  const scheme = schemeOf(name);
  const [good, usual] = [signature(name), usualHash(name)];
  const other = scheme === "taproot" ? "schnorr" : "taproot";
  const all = [
    payloadAttack("junk", name, JUNK),
    payloadAttack("of another key", name, signature(name, usual, SIGNED, OTHER_SECRET)),
    payloadAttack("over another payload", name, signature(name, usual, "pay 2")),
    payloadAttack("one bit of s", name, { ...good, s: flipped(String(good["s"])) }),
  ];
  if (scheme === "ed25519") return all;
  all.push(
    payloadAttack("of another hash", name, signature(name, "HASH_FUNCTION_KECCAK256")),
    payloadAttack("another v", name, { ...good, v: good["v"] === "00" ? "01" : "00" }),
    payloadAttack("no v", name, { r: good["r"]!, s: good["s"]! }),
  );
  if (scheme !== "ecdsa")
    all.push(
      payloadAttack("by ECDSA", name, signedBy("ecdsa", sha256(toUtf8(SIGNED)))),
      payloadAttack("with the tweak of the other kind of address", name, signedBy(other, sha256(toUtf8(SIGNED)))),
    );
  return all;
}

const flipped = (text: string): string => `${text.slice(0, -1)}${(Number.parseInt(text.at(-1)!, 16) ^ 1).toString(16)}`;

// Bitcoin's transactions.

const bitcoin = (draft: Draft, answer: Draft | string, signWith: string) =>
  row(
    "TRANSACTION_V2",
    { signWith, unsignedTransaction: psbt(draft), type: "TRANSACTION_TYPE_BITCOIN" },
    { signedTransaction: typeof answer === "string" ? answer : psbt(answer) },
  );
/** Addresses that are hashes of the Ed25519 key: of Sui and of Aptos. */
const ED25519 = ed25519.getPublicKey(SECRET);
const KEY = { publicKey: toHex(ED25519) };
const HASHED = {
  SUI: blake2b(concatBytes(Uint8Array.of(0), ED25519), { dkLen: 32 }),
  APTOS: sha3_256(concatBytes(ED25519, Uint8Array.of(0))),
};
const underHash = (name: keyof typeof HASHED): JsonObject => ({
  ...asked("XLM"),
  signWith: `0x${toHex(HASHED[name])}`,
});
const HASHED_NAMES = Object.keys(HASHED) as (keyof typeof HASHED)[];

const KINDS = Object.keys(SCRIPTS) as OutputKind[];
const addressOf = (kind: OutputKind): string => ADDRESSES[`BITCOIN_MAINNET_${kind}`];

function bitcoinAttacks(kind: OutputKind): Attack[] {
  const draft = spending([kind, kind]);
  const good = signedDraft(draft, [0, 1]);
  const other = spending([kind, kind], "55");
  const attack = (name: string, answer: Draft | string, from = draft): Attack => ({
    name: `signed PSBT, ${kind}: ${name}`,
    ...bitcoin(from, answer, addressOf(kind)),
    fails: ["activity.signature"],
  });
  const [first, second] = [signatureOf(draft, 0, SECRET), signatureOf(draft, 1, SECRET)];
  const withFirst = (entry: Entry): Draft => withEntries(draft, (index) => [index === 0 ? entry : second]);
  const othersKey = toHex(secp256k1.getPublicKey(OTHER_SECRET, true));
  return [
    attack("junk", withFirst(kind === "P2TR" ? ["13", "11".repeat(64)] : [first[0], derOf(JUNK)])),
    attack("of another key", signedDraft(draft, [0, 1], OTHER_SECRET)),
    attack("without a signature", draft),
    attack("one input is not signed", signedDraft(draft, [0])),
    attack("to another recipient, signed", signedDraft(other, [0, 1])),
    attack("to another recipient, with the signatures of the submitted one", {
      ...good,
      transaction: other.transaction,
    }),
    attack(
      "the signatures of two inputs are swapped",
      withEntries(draft, (index) => [[first[0], [second, first][index]![1]]]),
    ),
    attack("of another hash type", signedDraft(draft, [0, 1], SECRET, "02")),
    attack("another lock time", { ...good, transaction: good.transaction.replace(/11000000$/, "12000000") }),
    attack("another amount of an input", {
      ...good,
      inputs: good.inputs.map((entries) =>
        entries.map(([key, value]): Entry => [key, value.replaceAll(AMOUNT, OTHER_AMOUNT)]),
      ),
    }),
    attack("a member is missing", { ...good, inputs: good.inputs.map((entries) => entries.slice(1)) }),
    attack(
      "a new member of an input",
      withEntries(good, () => [["03", "01000000"]]),
    ),
    attack("a new member of an output", { ...good, outputs: [[["00", "51"]], []] }),
    attack("a new global member", { ...good, global: [["fc01", "00"]] }),
    attack(
      "a signature of another key beside",
      withEntries(good, () => [[`02${othersKey}`, first[1]]]),
    ),
    attack("with a byte after it", `${psbt(good)}00`),
    attack(
      "a member twice",
      withEntries(good, (index) => [draft.inputs[index]![0]!]),
    ),
    attack("only the transaction", draft.transaction),
    attack(
      "final, in place of a signature",
      withEntries(draft, () => [["08", `01${sized(first[1])}`]]),
    ),
  ];
}

const ofTwo = spending(["P2PKH", "P2WPKH"]);

const tronRaw = "0a02c3e82208e3b7e1a1c2d3f4e540e8f7b2c6f7315a0212345a";
const onTron = (name: string, signedTransaction: JsonValue): Attack => ({
  name: `signed transaction of Tron: ${name}`,
  ...row("TRANSACTION_V2", tronParameters, { signedTransaction }),
  fails: ["activity.signature"],
});
const tronParameters = { signWith: ADDRESSES.TRON, unsignedTransaction: tronRaw, type: "TRANSACTION_TYPE_TRON" };
const otherRaw = tronRaw.replace("1234", "1235");

export const CHAIN_SIGNATURE_ATTACKS: readonly Attack[] = [
  ...DECIDED.flatMap(payloadAttacks),
  payloadAttack("under the address of another network and key", "BITCOIN_MAINNET_P2WPKH", signature("XRP"), {
    ...asked("BITCOIN_MAINNET_P2WPKH"),
    signWith: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
  }),
  payloadAttack("r of zero", "BITCOIN_MAINNET_P2WSH", { ...JUNK, r: word(0n) }),
  ...HASHED_NAMES.flatMap((name): Attack[] =>
    Object.entries({ junk: JUNK, "over another payload": signature("XLM", usualHash("XLM"), "pay 2") }).map(
      ([what, result]) => ({
        name: `signature for ${name}, whose key is given: ${what}`,
        ...row("RAW_PAYLOAD_V2", underHash(name), result, KEY),
        fails: ["activity.signature"],
      }),
    ),
  ),
  ...KINDS.flatMap(bitcoinAttacks),
  {
    name: "signed PSBT: a signature in an input of another address",
    ...bitcoin(ofTwo, signedDraft(ofTwo, [0, 1]), addressOf("P2WPKH")),
    fails: ["activity.signature"],
  },
  {
    name: "signed PSBT: no input is of the address",
    ...bitcoin(spending(["P2PKH"]), spending(["P2PKH"]), addressOf("P2TR")),
    fails: ["activity.signature"],
  },
  {
    name: "signed PSBT: another recipient, where the address hides a script",
    ...bitcoin(ofTwo, spending(["P2PKH", "P2WPKH"], "55"), ADDRESSES.BITCOIN_MAINNET_P2WSH),
    fails: ["activity.signature"],
  },
  {
    name: "signed PSBT: junk, under an id",
    ...bitcoin(
      ofTwo,
      withEntries(ofTwo, () => [[`02${toHex(PUBLIC_KEY)}`, derOf(JUNK)]]),
      "00000000-0000-4000-8000-000000000000",
    ),
    fails: ["activity.signature"],
  },
  {
    name: "signed PSBT: a high s, which no node relays",
    ...bitcoin(
      spending(["P2WPKH"]),
      withEntries(spending(["P2WPKH"]), () => [
        [`02${toHex(PUBLIC_KEY)}`, derOf(highS(signedBy("ecdsa", digestOf(spending(["P2WPKH"]), 0))))],
      ]),
      addressOf("P2WPKH"),
    ),
    fails: ["activity.signature"],
  },
  onTron("junk", tron(tronRaw).slice(0, -130) + "11".repeat(64) + "00"),
  onTron("of another key", tron(tronRaw, OTHER_SECRET)),
  onTron("other raw data, signed", tron(otherRaw)),
  onTron("other raw data with the signature of the submitted", tron(otherRaw, SECRET, tronRaw)),
  onTron("the submitted with the signature of other raw data", tron(tronRaw, SECRET, otherRaw)),
  onTron("without a signature", tronRaw),
  onTron("a member after the signature", `${tron(tronRaw)}2a00`),
  onTron("a second signature", tron(tronRaw) + tron(tronRaw).slice(-2 * 67)),
  onTron("a recovery id of 2", `${tron(tronRaw).slice(0, -2)}02`),
  onTron("a length that is not the shortest", tron(tronRaw).replace(/^0a1a/, "0a9a00")),
];

const accepted = (name: string, parts: Pick<Attack, "forge" | "judge">, isOpen = false): Accepted => ({
  name: `chain signature: ${name}`,
  ...parts,
  ...(isOpen && { warns: ["activity.signature"] }),
});
const payloadAccepted = (name: string, parameters: JsonObject, result: JsonObject, isOpen = false): Accepted =>
  accepted(name, row("RAW_PAYLOAD_V2", parameters, result), isOpen);
const bitcoinAccepted = (name: string, draft: Draft, answer: Draft, signWith: string, isOpen = false): Accepted =>
  accepted(name, bitcoin(draft, answer, signWith), isOpen);
const digestText = toHex(sha256(toUtf8(SIGNED)));
const noOp = (name: AddressName): JsonObject => ({
  ...asked(name),
  payload: digestText,
  encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
  hashFunction: "HASH_FUNCTION_NO_OP",
});
const three = spending(["P2PKH", "P2WPKH", "P2TR"]);

function reversed(draft: Draft): Draft {
  return { ...draft, inputs: draft.inputs.map((entries) => [...entries].reverse()) };
}

/** Without the member that says what the input spends. */
function blind(draft: Draft, index: number): Draft {
  return { ...draft, inputs: draft.inputs.map((entries, at) => (at === index ? [] : entries)) };
}

/** Spends an output of BITCOIN_MAINNET_P2WSH. */
const ofScript: Draft = {
  ...spending(["P2PKH"]),
  inputs: [[["01", AMOUNT + sized("0020baa1e460d7462598256bda056dba4191dda35b16c4cc8228e71ec8c05e5faece")]]],
};

/** Signatures under an address that hides a script, which are not decided. */
const HIDDEN_SIGNATURES: readonly Accepted[] = [
  ...HIDDEN.map((name) => payloadAccepted(name, asked(name), signature(name))),
  bitcoinAccepted(
    "PSBT, P2WSH",
    ofScript,
    withEntries(ofScript, () => [[`02${toHex(PUBLIC_KEY)}`, derOf(JUNK)]]),
    ADDRESSES.BITCOIN_MAINNET_P2WSH,
  ),
];

export const CHAIN_SIGNATURES_ACCEPTED: readonly Accepted[] = [
  ...HIDDEN_SIGNATURES.map((hidden): Accepted => ({ ...hidden, skips: ["activity.signature"] })),
  ...DECIDED.map((name) => payloadAccepted(name, asked(name), signature(name))),
  ...DECIDED.filter((name) => schemeOf(name) !== "ed25519").flatMap((name) => [
    payloadAccepted(
      `${name}, Keccak-256`,
      asked(name, "HASH_FUNCTION_KECCAK256"),
      signature(name, "HASH_FUNCTION_KECCAK256"),
    ),
    payloadAccepted(`${name}, a digest as it is`, noOp(name), signature(name)),
  ]),
  payloadAccepted("COSMOS, with a high s and its v", asked("COSMOS"), highS(signature("COSMOS"))),
  payloadAccepted(
    "TRON, by Ed25519, which is not of such an address",
    asked("TRON", "HASH_FUNCTION_NOT_APPLICABLE"),
    JUNK,
    true,
  ),
  payloadAccepted("XLM, hashed, which Ed25519 does not", asked("XLM", "HASH_FUNCTION_SHA256"), JUNK, true),
  ...[`0x${"ab".repeat(32)}`, "Ef9iA3tEroM6LYE7gIMkDWIVY4-J_qli9EU5zMLhM6y0_ekS"].map((signWith) =>
    payloadAccepted(`${signWith}, which shows no key`, { ...asked("XLM"), signWith }, JUNK, true),
  ),
  ...HASHED_NAMES.flatMap((name) => [
    accepted(`${name}, whose key is given`, row("RAW_PAYLOAD_V2", underHash(name), signature("XLM"), KEY)),
    accepted(
      `${name}, where another key is given, which is not used`,
      row("RAW_PAYLOAD_V2", underHash(name), signature("XLM"), { publicKey: "22".repeat(32) }),
      true,
    ),
  ]),
  accepted("TRON, where a key is given beside", row("RAW_PAYLOAD_V2", asked("TRON"), signature("TRON"), KEY)),
  ...KINDS.map((kind) =>
    bitcoinAccepted(
      `PSBT, ${kind}`,
      spending([kind, kind]),
      signedDraft(spending([kind, kind]), [0, 1]),
      addressOf(kind),
    ),
  ),
  ...KINDS.map((kind, index) =>
    bitcoinAccepted(`PSBT, ${kind} among others`, three, signedDraft(three, [index]), addressOf(kind)),
  ),
  bitcoinAccepted("PSBT, members in another order", three, reversed(signedDraft(three, [1])), addressOf("P2WPKH")),
  bitcoinAccepted("PSBT, under a public key", three, signedDraft(three, [0, 1, 2]), toHex(PUBLIC_KEY)),
  bitcoinAccepted(
    "PSBT, under an address of Dogecoin",
    spending(["P2PKH"]),
    signedDraft(spending(["P2PKH"]), [0]),
    ADDRESSES.DOGE_MAINNET,
  ),
  bitcoinAccepted(
    "PSBT, with the version that may be left out",
    { ...three, global: [["fb", "00000000"]] },
    signedDraft(three, [1]),
    addressOf("P2WPKH"),
  ),
  bitcoinAccepted(
    "PSBT, signed before by another",
    signedDraft(three, [0]),
    signedDraft(signedDraft(three, [0]), [1]),
    addressOf("P2WPKH"),
  ),
  bitcoinAccepted(
    "PSBT, under an id",
    three,
    signedDraft(three, [0, 1, 2]),
    "00000000-0000-4000-8000-000000000000",
    true,
  ),
  bitcoinAccepted(
    "PSBT, an input that does not say what it spends",
    blind(three, 0),
    signedDraft(blind(three, 0), [1]),
    addressOf("P2WPKH"),
    true,
  ),
  bitcoinAccepted(
    "PSBT, which is none",
    { ...three, transaction: "00" },
    { ...three, transaction: "00" },
    addressOf("P2WPKH"),
    true,
  ),
  bitcoinAccepted("PSBT, under an address of another chain", three, signedDraft(three, [1]), ADDRESSES.COSMOS, true),
  accepted("of Tron", row("TRANSACTION_V2", tronParameters, { signedTransaction: tron(tronRaw) })),
  accepted(
    "of Tron, with 27 more than the recovery id",
    row("TRANSACTION_V2", tronParameters, {
      signedTransaction: tron(tronRaw).replace(/0([01])$/, (_, bit: string) => (bit === "0" ? "1b" : "1c")),
    }),
  ),
  accepted(
    "of Tempo",
    row("TRANSACTION_V2", { ...tronParameters, type: "TRANSACTION_TYPE_TEMPO" }, { signedTransaction: tronRaw }),
    true,
  ),
];
