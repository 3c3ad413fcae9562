/** Addresses and signatures of chains as their own libraries make them: 200 of each, and as many that are wrong. */
import { readFileSync } from "node:fs";
import { encodeSecp256k1Pubkey, pubkeyToAddress } from "@cosmjs/amino";
import { bech32m } from "@scure/base";
import { Keypair } from "@stellar/stellar-base";
import * as bitcoin from "bitcoinjs-lib";
import { deriveAddress } from "ripple-keypairs";
import * as ecc from "tiny-secp256k1";
import { TronWeb } from "tronweb";
import { describe, expect, it } from "vitest";
import { concatBytes, fromHex, toHex } from "../../src/bytes.js";
import { COMPLETED, type Activity } from "../../src/decode/activity.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { ADDRESS_FORMATS } from "../../src/verify/address-formats.js";
import { isAddressOf, verifySignatures } from "../../src/verify/signatures.js";
import { ADDRESSES, type AddressName, SECRET } from "../support/chains.js";

bitcoin.initEccLib(ecc);
const COUNT = 200;
const DECLARED = "node_modules/@turnkey/http/dist/__generated__/services/coordinator/public/v1/public_api.types.d.ts";
const interfaceText = readFileSync(new URL(DECLARED, import.meta.url), "utf8");
const namesOf = (type: string): string[] => {
  const [, names] = new RegExp(`\\b${type}: ((?:"\\w+"(?: \\| )?)+);`).exec(interfaceText)!;
  return [...names!.matchAll(/\w+/g)].map(([name]) => name);
};

/** Secret keys, hashes and amounts that are the same in each run. */
function bytesFrom(...words: readonly (string | number)[]): Uint8Array {
  return bitcoin.crypto.sha256(Buffer.from(words.join()));
}

async function verdictOf(kind: "payload" | "transaction", parameters: JsonObject, outcome: JsonObject) {
  const activity = { status: COMPLETED, result: { r: outcome } } as unknown as Activity;
  const { contradictions, signatures } = (await verifySignatures({ kind, parameters }, activity))!;
  return contradictions.length > 0 ? "wrong" : signatures[0]!.open === null ? "verified" : signatures[0]!.open;
}

describe("the interface", () => {
  it("has the address formats of the table, and no other", () => {
    expect(Object.keys(ADDRESS_FORMATS).sort()).toEqual(namesOf("v1AddressFormat").sort());
    expect(namesOf("v1AddressFormat").length).toBe(38);
  });

  it.each(namesOf("v1TransactionType"))("%s is verified, or known not to be", async (type) => {
    const parameters = { signWith: ADDRESSES.TRON, unsignedTransaction: "00", type };
    const verdict = await verdictOf("transaction", parameters, { signedTransaction: "00" });
    expect(verdict === "the type of transaction is unknown to this version").toBe(type === "TRANSACTION_TYPE_TEMPO");
  });

  it.each(namesOf("v1HashFunction"))("%s is known for some key", async (hashFunction) => {
    const how = { payload: "11".repeat(32), encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction };
    const signWith = ADDRESSES[hashFunction.endsWith("NOT_APPLICABLE") ? "XLM" : "XRP"];
    const junk = { r: "11".repeat(32), s: "11".repeat(32), v: "00" };
    await expect(verdictOf("payload", { signWith, ...how }, junk)).resolves.toBe("wrong");
  });
});

const NETWORKS = {
  MAINNET: bitcoin.networks.bitcoin,
  TESTNET: bitcoin.networks.testnet,
  REGTEST: bitcoin.networks.regtest,
  DOGE_MAINNET: { ...bitcoin.networks.bitcoin, pubKeyHash: 0x1e },
  DOGE_TESTNET: { ...bitcoin.networks.bitcoin, pubKeyHash: 0x71 },
};

/** Of a secret key. */
function addressBy(name: AddressName, secret: Uint8Array): string {
  const pubkey = ecc.pointFromScalar(secret, true)!;
  if (name === "XLM") return Keypair.fromRawEd25519Seed(Buffer.from(secret)).publicKey();
  if (name === "TRON") return TronWeb.address.fromPrivateKey(toHex(secret)) as string;
  if (name === "XRP") return deriveAddress(toHex(pubkey).toUpperCase());
  if (name === "COSMOS" || name === "SEI") return pubkeyToAddress(encodeSecp256k1Pubkey(pubkey), name.toLowerCase());
  if (name.startsWith("SPARK"))
    return bech32m.encode(
      name === "SPARK_MAINNET" ? "spark" : "sparkrt",
      bech32m.toWords(concatBytes(Uint8Array.of(10, 33), pubkey)),
    );
  const [, network, output = "P2PKH"] = /^(?:BITCOIN_)?((?:DOGE_)?[A-Z]+)(?:_(\w+))?$/.exec(name)!;
  const at = { network: NETWORKS[network as keyof typeof NETWORKS] };
  const { payments } = bitcoin;
  if (output === "P2PKH") return payments.p2pkh({ pubkey, ...at }).address!;
  if (output === "P2WPKH") return payments.p2wpkh({ pubkey, ...at }).address!;
  if (output === "P2TR") return payments.p2tr({ internalPubkey: pubkey.subarray(1), ...at }).address!;
  if (output === "P2SH") return payments.p2sh({ redeem: payments.p2wpkh({ pubkey, ...at }), ...at }).address!;
  return payments.p2wsh({ redeem: payments.p2pk({ pubkey, ...at }), ...at }).address!;
}

/** The secret key after the tweak of BIP-341, by libsecp256k1. */
function tweakedBy(secret: Uint8Array): Uint8Array {
  const point = ecc.pointFromScalar(secret, true)!;
  const even = point[0] === 2 ? secret : ecc.privateNegate(secret);
  return ecc.privateAdd(even, bitcoin.crypto.taggedHash("TapTweak", point.subarray(1)))!;
}

function signatureBy(name: AddressName, secret: Uint8Array, message: Uint8Array): JsonObject {
  const parts = (signature: Uint8Array, v: string): JsonObject => ({
    r: toHex(signature.subarray(0, 32)),
    s: toHex(signature.subarray(32)),
    v,
  });
  if (name === "XLM") return parts(Keypair.fromRawEd25519Seed(Buffer.from(secret)).sign(Buffer.from(message)), "00");
  if (name.startsWith("SPARK")) return parts(ecc.signSchnorr(message, secret), "00");
  if (name.endsWith("P2TR")) return parts(ecc.signSchnorr(message, tweakedBy(secret)), "00");
  const { signature, recoveryId } = ecc.signRecoverable(message, secret);
  return parts(signature, `0${recoveryId}`);
}

const NAMES = Object.keys(ADDRESSES) as AddressName[];

describe.each(NAMES)("%s", (name) => {
  it("is written as in test/support/chains.ts", () => {
    expect(addressBy(name, SECRET)).toBe(ADDRESSES[name]);
  });

  it.skipIf(/P2W?SH$/.test(name))(
    `${COUNT} signatures`,
    async () => {
      for (let index = 0; index < COUNT; index++) {
        const [secret, other, message] = ["secret", "other", "message"].map((what) => bytesFrom(name, what, index));
        const hashFunction = `HASH_FUNCTION_${name === "XLM" ? "NOT_APPLICABLE" : "NO_OP"}`;
        const how = { payload: toHex(message!), encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction };
        const asked = { signWith: addressBy(name, secret!), ...how };
        const good = signatureBy(name, secret!, message!);
        expect(await verdictOf("payload", asked, good), `${index}`).toBe("verified");
        expect(await verdictOf("payload", asked, signatureBy(name, other!, message!)), `${index}`).toBe("wrong");
        expect(await verdictOf("payload", { ...asked, payload: toHex(other!) }, good), `${index}`).toBe("wrong");
        const key =
          name === "XLM"
            ? Keypair.fromRawEd25519Seed(Buffer.from(secret!)).rawPublicKey()
            : ecc.pointFromScalar(secret!, true)!;
        if (index < 20) expect(await isAddressOf(asked.signWith, toHex(key))).toBe(true);
      }
    },
    120_000,
  );
});

// Transactions.

const KINDS = ["p2pkh", "p2wpkh", "p2tr"] as const;
type Kind = (typeof KINDS)[number];

function paymentOf(kind: Kind, secret: Uint8Array): bitcoin.Payment {
  const pubkey = ecc.pointFromScalar(secret, true)!;
  return kind === "p2tr"
    ? bitcoin.payments.p2tr({ internalPubkey: pubkey.subarray(1) })
    : bitcoin.payments[kind]({ pubkey });
}

function signerBy(kind: Kind, secret: Uint8Array): bitcoin.Signer {
  const own = kind === "p2tr" ? tweakedBy(secret) : secret;
  return {
    publicKey: ecc.pointFromScalar(own, true)!,
    sign: (hash) => ecc.sign(hash, own),
    signSchnorr: (hash) => ecc.signSchnorr(hash, own),
  };
}

/** Spends an output of each kind. The second half of the inputs is somebody else's. */
function draftBy(own: Kind, secret: Uint8Array, index: number): bitcoin.Psbt {
  const psbt = new bitcoin.Psbt();
  psbt.setVersion(1 + (index % 2));
  psbt.setLocktime(index);
  const stranger = bytesFrom("stranger", index);
  const inputs = [own, ...KINDS, own].map((kind, at) => [kind, at % 4 === 0 ? secret : stranger, at] as const);
  for (const [kind, key, at] of inputs) {
    const { output, internalPubkey } = paymentOf(kind, key);
    const previous = new bitcoin.Transaction();
    previous.addInput(bytesFrom("previous", index, at), at, 0xffffffff);
    previous.addOutput(output!, BigInt(10_000 + index * at));
    const spent = { hash: previous.getHash(), index: 0, sequence: 0xffffffff - (index % 3) };
    if (kind === "p2tr") psbt.addInput({ ...spent, witnessUtxo: previous.outs[0]!, tapInternalKey: internalPubkey! });
    else psbt.addInput({ ...spent, nonWitnessUtxo: previous.toBuffer() });
  }
  for (let at = 0; at <= index % 3; at++)
    psbt.addOutput({ script: paymentOf(KINDS[at]!, stranger).output!, value: BigInt(1000 + at) });
  return psbt;
}

describe.each(KINDS)("PSBTs of bitcoinjs-lib, %s", (kind) => {
  it(`${COUNT} signed ones`, async () => {
    for (let index = 0; index < COUNT; index++) {
      const secret = bytesFrom(kind, index);
      const draft = draftBy(kind, secret, index);
      const signed = draft.clone();
      const signer = signerBy(kind, secret);
      for (const at of [0, 4]) signed.signInput(at, signer);
      const signWith = paymentOf(kind, secret).address!;
      const asked = { signWith, unsignedTransaction: draft.toHex(), type: "TRANSACTION_TYPE_BITCOIN" };
      const verdict = (answer: JsonValue): Promise<string> =>
        verdictOf("transaction", asked, { signedTransaction: answer });
      expect(await verdict(signed.toHex()), `${index}`).toBe("verified");
      expect(await verdict(draft.clone().signInput(4, signer).toHex()), `${index}`).toBe("wrong");
      const changed = draftBy(kind, secret, index + 3);
      for (const at of [0, 4]) changed.signInput(at, signer);
      expect(await verdict(changed.toHex()), `${index}`).toBe("wrong");
    }
  }, 240_000);
});

it(`${COUNT} transactions of tronweb`, async () => {
  const tron = new TronWeb({ fullHost: "http://127.0.0.1:1" });
  for (let index = 0; index < COUNT; index++) {
    const secret = toHex(bytesFrom("tron", index));
    const [from, to] = [secret, toHex(bytesFrom("to", index))].map(
      (key) => TronWeb.address.fromPrivateKey(key) as string,
    );
    const blockHeader = {
      ref_block_bytes: (index % 65_536).toString(16).padStart(4, "0"),
      ref_block_hash: toHex(bytesFrom("block", index)).slice(0, 16),
      expiration: 1_700_000_060_000 + index,
      timestamp: 1_700_000_000_000,
    };
    const draft = await tron.transactionBuilder.sendTrx(to!, 1 + index, from!, { blockHeader });
    const signed = await tron.trx.sign(draft, secret);
    const message = tron.utils.transaction.txJsonToPb(signed) as {
      addSignature(bytes: Uint8Array): void;
      serializeBinary(): Uint8Array;
    };
    message.addSignature(fromHex(signed.signature[0]!)!);
    const asked = { signWith: from!, unsignedTransaction: draft.raw_data_hex, type: "TRANSACTION_TYPE_TRON" };
    const answer = { signedTransaction: toHex(message.serializeBinary()) };
    expect(await verdictOf("transaction", asked, answer), `${index}`).toBe("verified");
    expect(await verdictOf("transaction", { ...asked, signWith: to! }, answer), `${index}`).toBe("wrong");
  }
}, 60_000);
