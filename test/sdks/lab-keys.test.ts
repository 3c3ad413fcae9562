/** Keys that go in and out of the lab by `@turnkey/crypto`, and log-ins by the SDK's own steps. */
import {
  decryptExportBundle,
  encryptOtpCodeToBundle,
  encryptPrivateKeyToBundle,
  encryptWalletToBundle,
  generateP256KeyPair,
} from "@turnkey/crypto";
import { createHash } from "node:crypto";
import { english, mnemonicToAccount } from "viem/accounts";
import { afterAll, describe, expect, it } from "vitest";
import { generateApiKey } from "../../src/lab/api-key.js";
import { startLab } from "../../src/lab/index.js";
import { type Json, account, query } from "../lab/support.js";
import { SDKS, placeOf } from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());
const { organizationId, ids } = lab;
const { userId } = ids;
const sdk = SDKS.find(({ name }) => name === "sdk-server")!;
const client = sdk.client(placeOf(lab));
const signerOf = (bundle: string): string =>
  (JSON.parse(bundle) as { enclaveQuorumPublic: string }).enclaveQuorumPublic;

const target = generateP256KeyPair();
const opened = (exportBundle: string, returnMnemonic = false): Promise<string> =>
  decryptExportBundle({
    ...{ exportBundle, organizationId, returnMnemonic },
    embeddedKey: target.privateKey,
    dangerouslyOverrideSignerPublicKey: lab.signerPublicKey,
  });
const toTarget = { targetPublicKey: target.publicKeyUncompressed };
const MNEMONIC = `${"abandon ".repeat(11)}about`;
const FIRST = "0x9858EfFD232B4033E47d90003D41EC34EcaEda94";
const OF_FIRST = "1ab42cc412b618bdea3a599e3c9bae199ebf030895b039e9db1e30dafb12b727";

describe("keys of the lab", () => {
  it("are imported as a mnemonic, and exported as it, and one account as its private key", async () => {
    const { importBundle } = await client["initImportWallet"]!({ userId });
    const dangerouslyOverrideSignerPublicKey = lab.signerPublicKey;
    const facts = { importBundle, userId, organizationId, dangerouslyOverrideSignerPublicKey };
    const encryptedBundle = await encryptWalletToBundle({ mnemonic: MNEMONIC, ...facts });
    const imported = { userId, walletName: "imported", encryptedBundle, accounts: [account("m/44'/60'/0'/0/0")] };
    const { walletId, addresses } = await client["importWallet"]!(imported);
    expect(addresses).toEqual([FIRST]);
    const whole = await client["exportWallet"]!({ walletId, ...toTarget });
    expect(await opened(whole.exportBundle, true)).toBe(MNEMONIC);
    const one = await client["exportWalletAccount"]!({ address: FIRST, ...toTarget });
    expect(await opened(one.exportBundle)).toBe(OF_FIRST);
  });

  it.each([12, 24])("that the lab made are exported as a mnemonic of %i words, of their addresses", async (length) => {
    const accounts = [account("m/44'/60'/0'/0/0")];
    const made = await client["createWallet"]!({ walletName: `of ${length}`, accounts, mnemonicLength: length });
    const { exportBundle } = await client["exportWallet"]!({ walletId: made["walletId"], ...toTarget });
    const mnemonic = await opened(exportBundle, true);
    const bits = mnemonic.split(" ").map((word) => english.indexOf(word).toString(2).padStart(11, "0"));
    const [entropy, checksum] = [bits.join("").slice(0, (length * 32) / 3), bits.join("").slice((length * 32) / 3)];
    const hash = createHash("sha256").update(Buffer.from(entropy.match(/.{8}/g)!.map((byte) => Number(`0b${byte}`))));
    expect(checksum).toBe(
      hash
        .digest()[0]!
        .toString(2)
        .padStart(8, "0")
        .slice(0, length / 3),
    );
    expect([mnemonicToAccount(mnemonic).address]).toEqual(made["addresses"]);
  });

  it("are imported and exported as private keys", async () => {
    const { importBundle } = await client["initImportPrivateKey"]!({ userId });
    const encryptedBundle = await encryptPrivateKeyToBundle({
      ...{ importBundle, userId, organizationId, privateKey: OF_FIRST, keyFormat: "HEXADECIMAL" },
      dangerouslyOverrideSignerPublicKey: lab.signerPublicKey,
    });
    const key = { privateKeyName: "k", curve: "CURVE_SECP256K1", addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] };
    const { privateKeyId, addresses } = await client["importPrivateKey"]!({ userId, encryptedBundle, ...key });
    expect(addresses).toEqual([{ format: "ADDRESS_FORMAT_ETHEREUM", address: FIRST }]);
    const { exportBundle } = await client["exportPrivateKey"]!({ privateKeyId, ...toTarget });
    expect(await opened(exportBundle)).toBe(OF_FIRST);
  });

  it("of Ed25519 are exported in Solana's form", async () => {
    const { privateKeys } = await client["createPrivateKeys"]!({
      privateKeys: [
        { privateKeyName: "s", curve: "CURVE_ED25519", privateKeyTags: [], addressFormats: ["ADDRESS_FORMAT_SOLANA"] },
      ],
    });
    const { exportBundle } = await client["exportPrivateKey"]!({
      privateKeyId: privateKeys[0].privateKeyId,
      ...toTarget,
    });
    const solana = await decryptExportBundle({
      ...{ exportBundle, organizationId, returnMnemonic: false, keyFormat: "SOLANA" },
      embeddedKey: target.privateKey,
      dangerouslyOverrideSignerPublicKey: lab.signerPublicKey,
    });
    expect(solana).toMatch(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/);
  });
});

it("a one-time password becomes a session whose key stamps", async () => {
  const otp = { otpType: "OTP_TYPE_EMAIL", contact: "operator@lab.example", appName: "a" };
  const { otpId, otpEncryptionTargetBundle: bundle } = await client["initOtp"]!(otp);
  const { publicKey, privateKey } = generateApiKey();
  const encryptedOtpBundle = await encryptOtpCodeToBundle("123456", bundle, publicKey, signerOf(bundle));
  const { verificationToken } = await client["verifyOtp"]!({ otpId, encryptedOtpBundle });
  const clientSignature = { publicKey, scheme: "CLIENT_SIGNATURE_SCHEME_API_P256", message: "m", signature: "s" };
  const { session } = (await client["otpLogin"]!({ verificationToken, publicKey, clientSignature })) as Json;
  expect((session as string).split(".")).toHaveLength(3);
  const asked = await query(lab, "whoami", {}, { key: { publicKey, privateKey } });
  expect(asked.body).toMatchObject({ userId: lab.operator.userId });
});
