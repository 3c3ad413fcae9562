/** What ties manifest, envelope, measured image and ephemeral key to the document (qos.md, "What ties it all together"). */
import { concatBytes, equalBytes, toHex, toUtf8 } from "../bytes.js";
import type { Checklist } from "../checks.js";
import type { AttestationDocument, AttestationDocumentReading } from "../decode/attestation-document.js";
import type { Manifest } from "../decode/manifest/index.js";
import { isQosPublicKey } from "./approvals.js";
import { sha384 } from "./digest.js";

export type CommitmentKind = "live" | "setup" | "legacy";

const PCR_LENGTH = 48;
const LOCKED_PCRS = 32;
const LEGACY_PCRS = 16;
/** Where the enclave's own software extends its commitment, by kind. */
const COMMITMENTS = {
  setup: { pcr: 16, domain: "qos-setup-manifest-pcr-commitment-v1" },
  live: { pcr: 17, domain: "qos-live-manifest-pcr-commitment-v1" },
} as const;

/** A PCR that started as zeros and was extended once with the digest. */
async function extendedOnce(digest: Uint8Array): Promise<Uint8Array> {
  return sha384(concatBytes(new Uint8Array(PCR_LENGTH), digest));
}

/** The value of the commitment PCR of a kind (qos.md, "Manifest commitment"). */
export async function commitmentPcr(kind: "setup" | "live", manifestHash: Uint8Array, ephemeralKey: Uint8Array): Promise<Uint8Array> {
  const { domain } = COMMITMENTS[kind];
  const preimage = `{"domain":"${domain}","ephemeralPublicKey":"${toHex(ephemeralKey)}","manifestHash":"${toHex(manifestHash)}"}`;
  return extendedOnce(await sha384(toUtf8(preimage)));
}

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

/** Which commitment the enclave made; null where it could not be asked, or where what is there is none. */
export async function checkCommitment(
  document: AttestationDocumentReading["value"], manifestHash: Uint8Array | undefined, log: Checklist,
): Promise<CommitmentKind | null> {
  const { pcrs, publicKey } = document;
  if (pcrs === undefined) {
    log.skip("bind.commitment", "the PCRs could not be read");
    return null;
  }
  const locked = [...pcrs.keys()];
  if (locked.every((index) => index < LEGACY_PCRS)) {
    log.warn("bind.commitment", "legacy: this enclave commits to manifest and key in no PCR, so that an application inside could have asked for this document itself");
    return "legacy";
  }
  if (!pcrs.has(COMMITMENTS.setup.pcr) && !pcrs.has(COMMITMENTS.live.pcr)) {
    log.fail("bind.commitment", "PCRs above 15 are attested, and neither PCR16 nor PCR17 is among them");
    return null;
  }
  if (!publicKey || manifestHash === undefined) {
    log.skip("bind.commitment", "public_key or the manifest could not be read");
    return null;
  }
  return matchCommitment(pcrs, publicKey, manifestHash, log);
}

async function matchCommitment(
  pcrs: AttestationDocument["pcrs"], publicKey: Uint8Array, manifestHash: Uint8Array, log: Checklist,
): Promise<CommitmentKind | null> {
  const live = await commitmentPcr("live", manifestHash, publicKey);
  const setup = await commitmentPcr("setup", manifestHash, publicKey);
  const matches = (index: number, value: Uint8Array): boolean => equalBytes(pcrs.get(index) ?? new Uint8Array(), value);
  const kind = matches(COMMITMENTS.live.pcr, live) ? "live" : matches(COMMITMENTS.setup.pcr, setup) ? "setup" : null;
  const missing = Array.from({ length: LOCKED_PCRS }, (_, index) => index).filter((index) => !pcrs.has(index));
  const reasons = [
    ...(kind === null ? ["neither PCR16 nor PCR17 is a commitment to this manifest and this key"] : []),
    ...(missing.length === 0 ? [] : [`an enclave that commits locks PCRs 0 to 31; not attested: ${missing.join(", ")}`]),
  ];
  const text = (index: number): string => `PCR${index} ${toHex(pcrs.get(index) ?? new Uint8Array()) || "absent"}`;
  const compared = { expected: `PCR16 ${toHex(setup)}\nor PCR17 ${toHex(live)}`, actual: `${text(16)}\n${text(17)}` };
  const passed = log.conclude("bind.commitment", reasons, `${kind} commitment`, kind === null ? compared : undefined);
  return passed ? kind : null;
}

export function checkNonce(nonce: AttestationDocument["nonce"] | undefined, log: Checklist): void {
  if (nonce === undefined) return log.skip("bind.nonce", "the nonce could not be read");
  log.conclude("bind.nonce", nonce === null ? [] : [`the document carries a nonce of ${nonce.length} bytes`]);
}
