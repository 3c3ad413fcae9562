/** Secrets of a fiat on-ramp provider (client/README.md, "On-ramp secrets"). */
import { fromHex, toUtf8 } from "../bytes.js";
import { sealBundle } from "./credential-bundle.js";
import { ClientError } from "../door/errors.js";
import { uncompressed } from "./p256.js";

/**
 * Encrypts a secret for `encryptedSecretApiKey` or `encryptedPrivateApiKey`. The result is a credential bundle for the
 * service's on-ramp encryption key (hex, compressed or not). Rejects with {@link ClientError} (`key`) for a key that is
 * not a point of P-256.
 *
 * The interface names no format. This is the format of deployed services of this family: `encryptOnRampSecret` of
 * @turnkey/crypto 2.7.0 and later, base58check over HPKE of the secret's UTF-8 text.
 */
export async function encryptOnRampSecret(secret: string, encryptionPublicKey: string): Promise<string> {
  const point = await uncompressed(fromHex(encryptionPublicKey) ?? new Uint8Array());
  if (point === null) throw new ClientError("key", "the on-ramp encryption key is not a point of P-256 in hex");
  return sealBundle(toUtf8(secret), point);
}
