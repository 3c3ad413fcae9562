/** Addresses and signatures of the lab's keys, against published examples of each chain. */
import { createHash, pbkdf2Sync } from "node:crypto";
import { p256 } from "@noble/curves/nist.js";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { base58, bech32m } from "@scure/base";
import { afterAll, describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../src/bytes.js";
import { FORMATS_OF_ADDRESSES } from "../../src/lab/addresses-of.js";
import { startLab } from "../../src/lab/index.js";
import { signedPayload, signedTransaction } from "../../src/lab/signing.js";
import { type Account, addressOf, keyAt, keyOfSecret } from "../../src/lab/wallet.js";
import { type Json, completed, statusOf, submit } from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());

const seedOf = (mnemonic: string): Uint8Array => new Uint8Array(pbkdf2Sync(mnemonic, "mnemonic", 2048, 64, "sha512"));
const SEED = seedOf(`${"abandon ".repeat(11)}about`);
const [ED25519, SECP256K1] = ["CURVE_ED25519", "CURVE_SECP256K1"] as const;

type Example = readonly [
  format: Account["addressFormat"],
  curve: NonNullable<Account["curve"]>,
  path: string,
  address: string,
];
/** Of the mnemonic `abandon … about`, as wallets of each chain show them. */
const EXAMPLES: readonly Example[] = [
  ["ADDRESS_FORMAT_ETHEREUM", SECP256K1, "m/44'/60'/0'/0/0", "0x9858EfFD232B4033E47d90003D41EC34EcaEda94"],
  ["ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH", SECP256K1, "m/44'/0'/0'/0/0", "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA"],
  ["ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH", SECP256K1, "m/84'/0'/0'/0/0", "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"],
  [
    "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR",
    SECP256K1,
    "m/86'/0'/0'/0/0",
    "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr",
  ],
  ["ADDRESS_FORMAT_TRON", SECP256K1, "m/44'/195'/0'/0/0", "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH"],
  ["ADDRESS_FORMAT_COSMOS", SECP256K1, "m/44'/118'/0'/0/0", "cosmos19rl4cm2hmr8afy4kldpxz3fka4jguq0auqdal4"],
  ["ADDRESS_FORMAT_XRP", SECP256K1, "m/44'/144'/0'/0/0", "rHsMGQEkVNJmpGWs8XUBoTBiAAbwxZN5v3"],
  ["ADDRESS_FORMAT_DOGE_MAINNET", SECP256K1, "m/44'/3'/0'/0/0", "DBus3bamQjgJULBJtYXpEzDWQRwF5iwxgC"],
  ["ADDRESS_FORMAT_SOLANA", ED25519, "m/44'/501'/0'/0'", "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk"],
  [
    "ADDRESS_FORMAT_SUI",
    ED25519,
    "m/44'/784'/0'/0'/0'",
    "0x5e93a736d04fbb25737aa40bee40171ef79f65fae833749e3c089fe7cc2161f1",
  ],
  [
    "ADDRESS_FORMAT_APTOS",
    ED25519,
    "m/44'/637'/0'/0'/0'",
    "0xeb663b681209e7087d681c5d3eed12aaa8e1915e7c87794542c3f96e94b3d3bf",
  ],
];

describe("addresses", () => {
  it.each(EXAMPLES)("of %s", (addressFormat, curve, path, address) => {
    expect(addressOf(SEED, { addressFormat, curve, path })).toBe(address);
  });

  it("of Stellar (SEP-5, the first example)", () => {
    const seed = seedOf("illness spike retreat truth genius clock brain pass fit cave bargain toe");
    const account = { addressFormat: "ADDRESS_FORMAT_XLM", curve: ED25519, path: "m/44'/148'/0'" } as const;
    expect(addressOf(seed, account)).toBe("GDRXE2BQUC3AZNPVFSCEZ76NJ3WWL25FYFK6RGZGIEKWE4SOOHSUJUJ6");
  });

  it("of keys of P-256 (SLIP-10, the first example)", () => {
    const seed = fromHex("000102030405060708090a0b0c0d0e0f")!;
    const { publicKey } = keyAt(seed, { path: "m/0'/1", curve: "CURVE_P256" });
    expect(toHex(publicKey)).toBe("03526c63f8d0b4bbbf9c80df553fe66742df4676b241dabefdef67733e070f6844");
  });

  it("differ between the networks of one format", () => {
    const { publicKey } = keyAt(SEED, { path: "m/0" });
    const secp = Object.entries(FORMATS_OF_ADDRESSES).filter(([, { curves }]) =>
      (curves as readonly string[]).includes(SECP256K1),
    );
    const addresses = secp.map(([, { write }]) => write(publicKey));
    // Testnet, signet and regtest share P2PKH, and testnet and signet share the others.
    expect(addresses.length - new Set(addresses).size).toBe(4);
  });

  it.each([
    ["ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH", "its script is not published"],
    ["ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH", "its script is not published"],
    ["ADDRESS_FORMAT_TON_V4R2", "the lab derives no address of this format"],
  ])("%s: 400 with the reason", async (addressFormat, reason) => {
    const accounts = [{ curve: SECP256K1, pathFormat: "PATH_FORMAT_BIP32", path: "m/0", addressFormat }];
    const refused = await submit(lab, "createWallet", { walletName: "w", accounts });
    expect([refused.status, refused.body["message"]]).toEqual([400, expect.stringContaining(reason)]);
    const privateKeys = [{ privateKeyName: "k", curve: SECP256K1, addressFormats: [addressFormat] }];
    expect(await statusOf(submit(lab, "createPrivateKeys", { privateKeys }))).toBe(400);
  });
});

const PAYLOAD = {
  payload: "pay 1",
  encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
  hashFunction: "HASH_FUNCTION_SHA256",
} as const;
const DIGEST = new Uint8Array(createHash("sha256").update("pay 1").digest());
const bytesOf = ({ r, s }: Json): Uint8Array => fromHex(`${r}${s}`)!;

describe("signatures", () => {
  it("of P-256", () => {
    const key = keyAt(SEED, { path: "m/0", curve: "CURVE_P256" });
    const signature = signedPayload(key, PAYLOAD);
    expect(p256.verify(bytesOf(signature), DIGEST, key.publicKey, { prehash: false })).toBe(true);
  });

  it("of P2TR are by the tweaked key that the address names, of Spark by the key itself", () => {
    const at = (addressFormat: Account["addressFormat"]) => keyAt(SEED, { path: "m/0", addressFormat });
    const [taproot, spark] = [at("ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR"), at("ADDRESS_FORMAT_SPARK_MAINNET")];
    const address = FORMATS_OF_ADDRESSES.ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR.write(taproot.publicKey);
    const [, ...program] = bech32m.decode(address as `${string}1${string}`).words;
    const signature = signedPayload(taproot, PAYLOAD);
    expect(signature["v"]).toBe("00");
    expect(schnorr.verify(bytesOf(signature), DIGEST, bech32m.fromWords(program))).toBe(true);
    expect(schnorr.verify(bytesOf(signedPayload(spark, PAYLOAD)), DIGEST, spark.publicKey.subarray(1))).toBe(true);
  });

  it("of a Tron transaction are over the hash of its raw data", () => {
    const key = keyAt(SEED, { path: "m/0", addressFormat: "ADDRESS_FORMAT_TRON" });
    const raw = "0a02".padEnd(400, "7");
    const signed = fromHex(signedTransaction(key, { unsignedTransaction: raw, type: "TRANSACTION_TYPE_TRON" }))!;
    expect(toHex(signed.subarray(0, 3))).toBe("0ac801");
    expect(toHex(signed.subarray(3, 203))).toBe(raw);
    const digest = createHash("sha256").update(fromHex(raw)!).digest();
    const [signature, recovery] = [signed.subarray(205, 269), signed[269]!];
    const found = secp256k1.Signature.fromBytes(signature).addRecoveryBit(recovery).recoverPublicKey(digest);
    expect(toHex(found.toBytes(true))).toBe(toHex(key.publicKey));
    const asSolana = (): string =>
      signedTransaction(key, { unsignedTransaction: raw, type: "TRANSACTION_TYPE_SOLANA" });
    expect(asSolana).toThrow("a key of CURVE_SECP256K1; TRANSACTION_TYPE_SOLANA needs CURVE_ED25519");
  });

  const sized = (hex: string): string => (hex.length / 2).toString(16).padStart(2, "0") + hex;
  const psbtOf = (transaction: string, inputs: readonly string[]): string =>
    `70736274ff0100${sized(transaction)}00${inputs.map((input) => `${input}00`).join("")}00`;

  it("of a Bitcoin transaction (the example of BIP-143 for P2WPKH)", () => {
    const transaction = [
      "0100000002fff7f7881a8099afa6940d42d1e7f6362bec38171ea3edf433541db4e4ad969f0000000000eeffffff",
      "ef51e1b804cc89d182d279655c3aa89e815b1b309fe287d9b2b55d57b90ec68a0100000000ffffffff02202cb206000000001976a914",
      "8280b37df378db99f66f85c95a783a76ac7a6d5988ac9093510d000000001976a914",
      "3bde42dbee7e4dbe6a21b2d50ce2f0167faa815988ac11000000",
    ].join("");
    const outputs = [
      "40be402500000000" + sized("2103c9f4836b9a4f77fc0d81f7bcb01b7f1b35916864b9476c241ce9fc198bd25432ac"),
      "0046c32300000000" + sized("00141d0f172a0ecb48aee1be1f2687d2963ae33f71a1"),
    ];
    const psbt = psbtOf(
      transaction,
      outputs.map((output) => `0101${sized(output)}`),
    );
    const secret = fromHex("619c335025c7f4012e556c2a58b2506e30b8511b53ade95ea316fd8c3286feb9")!;
    const key = { ...keyOfSecret(secret), addressFormat: "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH" } as const;
    const signed = signedTransaction(key, { unsignedTransaction: psbt, type: "TRANSACTION_TYPE_BITCOIN" });
    expect(signed).toContain(
      `2202${toHex(key.publicKey)}47` +
        "304402203609e17b84f6a7d30c80bfa610b5b4542f32a8a0d5447a12fb1366d7f01cc44a" +
        "0220573a954c4518331561406f90300e8f3358f51928d43c212a8caed02de67eebee01",
    );
    const other = { ...keyAt(SEED, { path: "m/0" }), addressFormat: "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH" } as const;
    const refused = (): string =>
      signedTransaction(other, { unsignedTransaction: psbt, type: "TRANSACTION_TYPE_BITCOIN" });
    expect(refused).toThrow("no input spends an output of this address");
    const cut = (): string =>
      signedTransaction(key, { unsignedTransaction: psbt.slice(0, -60), type: "TRANSACTION_TYPE_BITCOIN" });
    expect(cut).toThrow("expected a PSBT");
  });

  describe.each(["P2PKH", "P2TR"] as const)("of a Bitcoin input of %s", (output) => {
    const hash = (hex: string): string => createHash("sha256").update(fromHex(hex)!).digest("hex");
    const addressFormat = `ADDRESS_FORMAT_BITCOIN_MAINNET_${output}` as const;
    const key = keyAt(SEED, { path: "m/0", addressFormat });
    const address = FORMATS_OF_ADDRESSES[addressFormat].write(key.publicKey);
    const program = (): string => toHex(bech32m.fromWords(bech32m.decode(address as `bc1${string}`).words.slice(1)));
    const script = output === "P2TR" ? `5120${program()}` : `76a914${toHex(base58.decode(address)).slice(2, 42)}88ac`;
    const [amount, outputs] = ["a086010000000000", `0150c3000000000000${sized(`0014${"22".repeat(20)}`)}`];
    const [outpoint, sequence, locktime] = [`${"33".repeat(32)}00000000`, "fdffffff", "11000000"];
    const transaction = `0200000001${outpoint}00${sequence}${outputs}${locktime}`;
    const psbt = psbtOf(transaction, [`0101${sized(`${amount}${sized(script)}`)}`]);

    it("is over the digest of its rules, and all else stays", () => {
      const signed = signedTransaction(key, { unsignedTransaction: psbt, type: "TRANSACTION_TYPE_BITCOIN" });
      expect(signed.startsWith(psbt.slice(0, -4))).toBe(true);
      if (output === "P2PKH") {
        const preimage = `0200000001${outpoint}${sized(script)}${sequence}${outputs}${locktime}01000000`;
        const der = fromHex(signed.slice(psbt.length - 4 + 2 + 68 + 2, -6))!;
        const digest = fromHex(hash(hash(preimage)))!;
        expect(secp256k1.verify(der, digest, key.publicKey, { prehash: false, format: "der" })).toBe(true);
      } else {
        const parts = [outpoint, amount, sized(script), sequence, outputs.slice(2)].map(hash).join("");
        const tag = hash(toHex(new TextEncoder().encode("TapSighash")));
        const digest = fromHex(hash(`${tag}${tag}000002000000${locktime}${parts}0000000000`))!;
        expect(signed.slice(psbt.length - 4, psbt.length + 2)).toBe("011340");
        expect(schnorr.verify(fromHex(signed.slice(psbt.length + 2, -4))!, digest, fromHex(program())!)).toBe(true);
      }
    });
  });

  it("of accounts of every format, by the service", async () => {
    const formats = Object.entries(FORMATS_OF_ADDRESSES);
    const accounts = formats.map(([addressFormat, { curves }], index) => ({
      ...{ addressFormat, curve: curves[0], pathFormat: "PATH_FORMAT_BIP32", path: `m/44'/${index}'/0'` },
    }));
    const made = await completed(submit(lab, "createWallet", { walletName: "all", accounts }));
    for (const [index, signWith] of (made["result"].createWalletResult.addresses as string[]).entries()) {
      const isEdwards = accounts[index]!.curve === ED25519;
      const hashFunction = isEdwards ? "HASH_FUNCTION_NOT_APPLICABLE" : PAYLOAD.hashFunction;
      const signed = await completed(submit(lab, "signRawPayload", { ...PAYLOAD, hashFunction, signWith }));
      expect(signed["result"].signRawPayloadResult.r).toMatch(/^[0-9a-f]{64}$/);
    }
  });
});
