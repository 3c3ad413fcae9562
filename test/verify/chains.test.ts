/** Addresses and signatures of other chains against the vectors that the chains publish. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../src/bytes.js";
import { COMPLETED, type Activity } from "../../src/decode/activity.js";
import { ADDRESS_FORMATS, addressSigner } from "../../src/verify/address-formats.js";
import { signedPsbt } from "../../src/verify/bitcoin.js";
import { isAddressOf, verifySignatures } from "../../src/verify/signatures.js";
import { isEcdsaSignature, isSchnorrSignature, taprootKey } from "../../src/verify/signers.js";
import {
  ADDRESSES,
  type AddressName,
  PUBLIC_KEY,
  SCRIPTS,
  bytesOf,
  psbt,
  schemeOf,
  signedDraft,
  sized,
  spending,
  tron,
} from "../support/chains.js";
import { readVectorJson, readVectorText } from "../support/vectors.js";

interface Published {
  readonly format: keyof typeof ADDRESS_FORMATS;
  readonly address: string;
  readonly publicKey: string | null;
}
const PUBLISHED = readVectorJson<readonly Published[]>("chains/addresses.json");
const OTHER_KEYS = ["02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5", "11".repeat(32)];

describe("published addresses", () => {
  it.each(PUBLISHED)("$format: $address", async ({ format, address, publicKey }) => {
    expect(ADDRESS_FORMATS[format](address)).not.toBeNull();
    const sameLength = OTHER_KEYS.find((key) => key.length === publicKey?.length);
    if (publicKey === null) return expect(addressSigner(address)?.kind).toBe("closed");
    await expect(isAddressOf(address, publicKey)).resolves.toBe(true);
    return expect(isAddressOf(address, sameLength!)).resolves.toBe(false);
  });

  it.each(PUBLISHED.filter(({ address }) => !address.startsWith("0x")))(
    "$format: $address with another character is none",
    ({ address }) => {
      for (let index = 0; index < address.length; index++) {
        const other = address[index] === "2" ? "3" : "2";
        expect(addressSigner(address.slice(0, index) + other + address.slice(index + 1)), `at ${index}`).toBeNull();
      }
    },
  );

  it("no other public format is read as one of these", () => {
    const bad = readVectorJson<readonly { readonly address: string }[]>("chains/bip350-invalid.json");
    expect(bad.length).toBe(15);
    for (const { address } of bad) expect(addressSigner(address), address).toBeNull();
  });
});

describe("each format", () => {
  it("has at most one address that other formats read differently", () => {
    for (const [name, address] of Object.entries(ADDRESSES)) {
      const kinds = Object.entries(ADDRESS_FORMATS).flatMap(([format, read]) => {
        try {
          const signer = read(address);
          return signer === null ? [] : [`${format} ${signer.kind}`];
        } catch {
          return [];
        }
      });
      expect(kinds.length, name).toBeGreaterThan(0);
      expect(new Set(kinds.map((kind) => kind.split(" ")[1])).size, kinds.join()).toBe(1);
      expect(
        kinds.some((kind) => kind.startsWith(`ADDRESS_FORMAT_${name} `)),
        `${name}: ${kinds.join()}`,
      ).toBe(true);
    }
  });

  it.each(Object.keys(ADDRESSES) as AddressName[])("%s is of its key", async (name) => {
    const scheme = schemeOf(name);
    const [key, expected] = [
      scheme === "ed25519" ? "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c" : toHex(PUBLIC_KEY),
      scheme === "script" ? null : true,
    ];
    await expect(isAddressOf(ADDRESSES[name], key)).resolves.toBe(expected);
  });

  it("of P2TR is of its key before and after the tweak, also as its x coordinate", async () => {
    const outputKey = SCRIPTS.P2TR.slice(4);
    for (const key of [toHex(PUBLIC_KEY.subarray(1)), outputKey, `02${outputKey}`, `03${outputKey}`])
      await expect(isAddressOf(ADDRESSES.BITCOIN_MAINNET_P2TR, key)).resolves.toBe(true);
    for (const key of ["11".repeat(32), "", toHex(PUBLIC_KEY.subarray(2))])
      await expect(isAddressOf(ADDRESSES.BITCOIN_MAINNET_P2TR, key)).resolves.toBe(false);
  });

  it("is not read from a text of any length", () => {
    expect(addressSigner("1".repeat(1_000_000))).toBeNull();
    expect(addressSigner("")).toBeNull();
  });
});

describe("the table in docs/sdk-reference.md", () => {
  const text = readFileSync(new URL("../../docs/sdk-reference.md", import.meta.url), "utf8");
  const section = text.slice(text.indexOf("## Signatures by chain"), text.indexOf("## Refused, or not verified"));
  const rows = section.split("\n").flatMap((line) => {
    const [, names, verdict] = /^\| (`.*`) \| ([^|]*) \|/.exec(line) ?? [];
    return [...(names ?? "").matchAll(/`(\w+|\w+_…_\w+)`/g)].map(([, name]) => ({ name: name!, verdict: verdict! }));
  });
  const networks = ["MAINNET", "TESTNET", "SIGNET", "REGTEST"];
  const documented = rows.flatMap(({ name, verdict }) =>
    (name.includes("…") ? networks : [""]).map((network) => [name.replace("…", network), verdict] as const),
  );

  it("has each format once", () => {
    const names = documented.map(([name]) => `ADDRESS_FORMAT_${name}`);
    expect([...names].sort()).toEqual(Object.keys(ADDRESS_FORMATS).sort());
  });

  const SAMPLES: Readonly<Record<string, string>> = {
    ...ADDRESSES,
    SUI: `0x${"ab".repeat(32)}`,
    APTOS: `0x${"ab".repeat(32)}`,
    ETHEREUM: `0x${"22".repeat(20)}`,
    SOLANA: "FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z",
    COMPRESSED: toHex(PUBLIC_KEY),
    UNCOMPRESSED: "11".repeat(32),
    TON_V3R2: PUBLISHED.find(({ publicKey, format }) => publicKey === null && format.includes("TON"))!.address,
  };

  it.each(documented.filter(([name]) => name in SAMPLES))("%s: %s", async (name, verdict) => {
    const how = { payload: "11".repeat(32), encoding: "PAYLOAD_ENCODING_HEXADECIMAL" };
    const isEd25519 = ["XLM", "SOLANA", "UNCOMPRESSED"].includes(name);
    const hashFunction = `HASH_FUNCTION_${isEd25519 ? "NOT_APPLICABLE" : "SHA256"}`;
    const parameters = { signWith: SAMPLES[name]!, ...how, hashFunction };
    const result = { r: { r: "11".repeat(32), s: "11".repeat(32), v: "00" } };
    const activity = { status: COMPLETED, result } as unknown as Activity;
    const { contradictions, hiddenBy } = (await verifySignatures({ kind: "payload", parameters }, activity))!;
    const found = contradictions.length > 0 ? "verified" : hiddenBy === null ? "a warning" : "skipped";
    expect(found).toBe(verdict === "verified with the key" ? "a warning" : verdict);
  });
});

describe("BIP-340", () => {
  const [, ...rows] = readVectorText("chains/bip340.csv").trim().split(/\r?\n/);
  it.each(rows.map((row) => row.split(",")))("vector %s", (...row) => {
    const [, , publicKey, , message, signature, result] = row as string[];
    expect(isSchnorrSignature(fromHex(signature!)!, fromHex(message!)!, fromHex(publicKey!)!)).toBe(result === "TRUE");
  });

  it("refuses s of the order, and signatures of other lengths", () => {
    const [, , publicKey, , message, signature] = rows[1]!.split(",");
    const of = (text: string): boolean => isSchnorrSignature(fromHex(text)!, fromHex(message!)!, fromHex(publicKey!)!);
    expect(of(signature!)).toBe(true);
    expect(of(`${signature}00`)).toBe(false);
    expect(of(signature!.slice(2))).toBe(false);
  });
});

interface Bip341 {
  readonly scriptPubKey: readonly {
    readonly given: { readonly internalPubkey: string; readonly scriptTree: unknown };
    readonly intermediary: { readonly tweakedPubkey: string };
    readonly expected: { readonly bip350Address: string };
  }[];
  readonly keyPathSpending: readonly [
    {
      readonly given: {
        readonly rawUnsignedTx: string;
        readonly utxosSpent: readonly { readonly scriptPubKey: string; readonly amountSats: number }[];
      };
      readonly inputSpending: readonly {
        readonly given: { readonly txinIndex: number; readonly hashType: number };
        readonly intermediary: { readonly sigHash: string };
        readonly expected: { readonly witness: readonly string[] };
      }[];
    },
  ];
}
const bip341 = readVectorJson<Bip341>("chains/bip341.json");
const amountOf = (satoshi: number): string => bytesToHexLittle(BigInt(satoshi));
function bytesToHexLittle(value: bigint): string {
  return value.toString(16).padStart(16, "0").match(/../g)!.reverse().join("");
}

describe("BIP-341", () => {
  it("tweaks a key without scripts", () => {
    const plain = bip341.scriptPubKey.filter(({ given }) => given.scriptTree === null);
    expect(plain.length).toBe(1);
    for (const { given, intermediary } of plain)
      expect(toHex(taprootKey(bytesOf(given.internalPubkey))!)).toBe(intermediary.tweakedPubkey);
  });

  it("reads each address", () => {
    for (const { expected, intermediary } of bip341.scriptPubKey)
      expect(addressSigner(expected.bip350Address)).toMatchObject({ outputKey: fromHex(intermediary.tweakedPubkey) });
  });

  const [{ given, inputSpending }] = bip341.keyPathSpending;
  const inputs = given.utxosSpent.map(({ scriptPubKey, amountSats }) => [
    ["01", amountOf(amountSats) + sized(scriptPubKey)] as const,
  ]);
  const draft = { transaction: given.rawUnsignedTx, inputs, outputs: [[], []] };
  const submitted = bytesOf(psbt(draft));

  it.each(inputSpending.filter(({ given: { hashType } }) => hashType === 0))(
    "spends input $given.txinIndex by SIGHASH_DEFAULT",
    ({ given: { txinIndex }, intermediary, expected }) => {
      const signed = inputs.map((map, index) =>
        index === txinIndex ? [...map, ["13", expected.witness[0]!] as const] : map,
      );
      const { signatures } = signedOf(signedPsbt(submitted, bytesOf(psbt({ ...draft, inputs: signed })), null));
      const [{ digest, signature, publicKey, ...rest }] = signatures as [(typeof signatures)[number]];
      expect(rest).toEqual({ input: txinIndex, scheme: "schnorr" });
      expect(toHex(digest())).toBe(intermediary.sigHash);
      expect(isSchnorrSignature(signature, digest(), publicKey)).toBe(true);
    },
  );
});

type SignedPsbt = ReturnType<typeof signedPsbt>;

function signedOf(signed: SignedPsbt): Extract<SignedPsbt, { readonly kind: "signed" }> {
  if (signed.kind !== "signed") throw new Error(signed.reason);
  return signed;
}

describe("BIP-143", () => {
  const vector =
    readVectorJson<Readonly<Record<"unsigned" | "script" | "amount" | "publicKey" | "sigHash" | "signature", string>>>(
      "chains/bip143.json",
    );
  it("spends P2WPKH", () => {
    const { unsigned, script, amount, publicKey, signature, sigHash } = vector;
    const inputs = [[], [["01", amount + sized(script)] as const]];
    const draft = { transaction: unsigned, inputs, outputs: [[], []] };
    const answer = { ...draft, inputs: [[], [...inputs[1]!, [`02${publicKey}`, signature] as const]] };
    const { signatures, open } = signedOf(
      signedPsbt(bytesOf(psbt(draft)), bytesOf(psbt(answer)), (one) => toHex(one) === script),
    );
    expect(signatures.map(({ input, digest }) => [input, toHex(digest())])).toEqual([[1, sigHash]]);
    expect(isEcdsaSignature(signatures[0]!.signature, signatures[0]!.digest(), signatures[0]!.publicKey)).toBe(true);
    // The other input does not say what it spends.
    expect(open).toContain("input 0");
  });
});

describe("BIP-174", () => {
  interface Case {
    readonly case: string;
    readonly hex: string;
  }
  const { valid, invalid } =
    readVectorJson<Readonly<Record<"valid" | "invalid", readonly Case[]>>>("chains/bip174.json");
  const isRead = ({ hex }: Case): boolean => {
    const signed = signedPsbt(bytesOf(hex), bytesOf(hex), () => false);
    return signed.kind !== "unchecked" || !signed.reason.includes("no PSBT");
  };

  it("valid PSBTs are read, but for those without an input", () => {
    expect(valid.length).toBe(10);
    expect(valid.filter((one) => !isRead(one)).map((one) => one.case)).toEqual([
      "PSBT with global unsigned tx that has 0 inputs and 0 outputs",
      "PSBT with 0 inputs",
    ]);
  });

  it("invalid PSBTs are refused, or have a member that is compared and not read", () => {
    expect(invalid.length).toBe(20);
    const read = invalid.filter(isRead).map((one) => one.case);
    expect(
      read.every((name) => name.includes("typed key")),
      read.join("\n"),
    ).toBe(true);
  });
});

describe("each byte of a signed transaction", () => {
  const draft = spending(["P2PKH", "P2WPKH", "P2TR"]);
  const raw = "0a02c3e82208e3b7e1a1c2d3f4e540e8f7b2c6f7315a0212345a";
  const onBitcoin = (signed: string, kind: keyof typeof SCRIPTS) =>
    ["BITCOIN", ADDRESSES[`BITCOIN_MAINNET_${kind}`], psbt(draft), signed] as const;
  it.each([
    onBitcoin(psbt(signedDraft(draft, [0])), "P2PKH"),
    onBitcoin(psbt(signedDraft(draft, [1])), "P2WPKH"),
    onBitcoin(psbt(signedDraft(draft, [2])), "P2TR"),
    ["TRON", ADDRESSES.TRON, raw, tron(raw)] as const,
  ])("%s, %s: changed or left out, it is refused", async (type, signWith, unsignedTransaction, signed) => {
    const parameters = { signWith, unsignedTransaction, type: `TRANSACTION_TYPE_${type}` };
    const isRefused = async (signedTransaction: Uint8Array): Promise<boolean> => {
      const result = { r: { signedTransaction: toHex(signedTransaction) } };
      const activity = { status: COMPLETED, result } as unknown as Activity;
      return (await verifySignatures({ kind: "transaction", parameters }, activity))!.contradictions.length > 0;
    };
    const bytes = bytesOf(signed);
    expect(await isRefused(bytes)).toBe(false);
    for (const at of bytes.keys()) {
      const flipped = bytes.slice();
      flipped[at]! ^= 1;
      expect(await isRefused(flipped), `${at} flipped`).toBe(true);
      expect(await isRefused(bytes.slice(0, at)), `cut at ${at}`).toBe(true);
    }
  });

  it.each(["00", "70736274ff", `70736274ff${"ff".repeat(40)}`, psbt({ ...draft, transaction: "ff".repeat(60) })])(
    "what was submitted may be anything: %s",
    (submitted) => {
      for (let at = 0; at < submitted.length; at += 2)
        expect(signedPsbt(bytesOf(submitted.slice(0, at)), bytesOf(psbt(draft)), null).kind).toBe("unchecked");
    },
  );
});

it("of 257 inputs of a transaction 256 are checked", async () => {
  const draft = spending(Array.from({ length: 257 }, () => "P2TR" as const));
  const answer = signedDraft(draft, [...draft.inputs.keys()]);
  const [unsignedTransaction, signedTransaction] = [psbt(draft), psbt(answer)];
  const signWith = ADDRESSES.BITCOIN_MAINNET_P2TR;
  const parameters = { signWith, unsignedTransaction, type: "TRANSACTION_TYPE_BITCOIN" };
  const activity = { status: COMPLETED, result: { r: { signedTransaction } } } as unknown as Activity;
  const { contradictions, signatures } = (await verifySignatures({ kind: "transaction", parameters }, activity))!;
  expect(contradictions).toEqual([]);
  expect(signatures[0]!.open).toContain("checks 256 inputs");
}, 60_000);
