/** What ties manifest, envelope, measured image and ephemeral key to the document (qos.md, "What ties it all together"). */
import { equalBytes, toHex } from "../bytes.js";
import type { Checklist } from "../checks.js";
import type { AttestationDocument, AttestationDocumentReading } from "../decode/attestation-document.js";
import type { Manifest } from "../decode/manifest/index.js";
import { isQosPublicKey } from "./qos-key.js";

export function checkUserData(userData: AttestationDocument["userData"] | undefined, hash: Uint8Array | undefined, log: Checklist): void {
  if (userData === undefined || hash === undefined) return log.skip("bind.user-data", "user_data or the manifest could not be read");
  if (userData !== null && equalBytes(userData, hash)) return log.pass("bind.user-data");
  const actual = userData === null ? "absent" : toHex(userData);
  return log.fail("bind.user-data", "user_data is not the hash of the manifest", { expected: toHex(hash), actual });
}

export function checkPcrs(pcrs: AttestationDocument["pcrs"] | undefined, manifest: Manifest | undefined, log: Checklist): void {
  if (pcrs === undefined || manifest === undefined) return log.skip("bind.pcrs", "the PCRs or the manifest could not be read");
  const { pcr0, pcr1, pcr2, pcr3 } = manifest.enclave;
  const differing = [pcr0, pcr1, pcr2, pcr3].flatMap((wanted, index) => {
    const attested = pcrs.get(index);
    return attested !== undefined && equalBytes(attested, wanted) ? [] : [{ index, wanted, attested }];
  });
  if (differing.length === 0) return log.pass("bind.pcrs");
  const text = (value: Uint8Array | undefined): string => (value === undefined ? "absent" : toHex(value));
  return log.fail("bind.pcrs", `the document attests others than the manifest names: ${differing.map(({ index }) => `PCR${index}`).join(", ")}`, {
    expected: differing.map(({ index, wanted }) => `PCR${index} ${text(wanted)}`).join("\n"),
    actual: differing.map(({ index, attested }) => `PCR${index} ${text(attested)}`).join("\n"),
  });
}

/** `claimed`: the service's `ephemeralPublicKeyHex`; `wanted`: the key that was asked for, null where none was. */
export function checkKey(
  publicKey: AttestationDocument["publicKey"] | undefined, claimed: Uint8Array | undefined, wanted: Uint8Array | null, log: Checklist,
): void {
  if (publicKey === undefined) return log.skip("bind.key", "the document's public_key could not be read");
  if (publicKey === null) return log.fail("bind.key", "the document attests no public_key");
  const other = [
    { what: "ephemeralPublicKeyHex", key: claimed },
    { what: "the key that was asked for", key: wanted ?? undefined },
  ].filter(({ key }) => key !== undefined && !equalBytes(key, publicKey));
  const reasons = [
    ...(isQosPublicKey(publicKey) ? [] : ["public_key is not two points of P-256"]),
    ...other.map(({ what }) => `public_key is not ${what}`),
  ];
  const compared = other[0]?.key && { expected: toHex(other[0].key), actual: toHex(publicKey) };
  if (reasons.length === 0 && claimed === undefined) return log.skip("bind.key", "ephemeralPublicKeyHex could not be read");
  log.conclude("bind.key", reasons, undefined, compared);
}

export function checkNonce(nonce: AttestationDocument["nonce"] | undefined, log: Checklist): void {
  if (nonce === undefined) return log.skip("bind.nonce", "the nonce could not be read");
  log.conclude("bind.nonce", nonce === null ? [] : [`the document carries a nonce of ${nonce.length} bytes`]);
}
