/** Checks that bind manifest, image and key to the document (verify/README.md, "What ties it all together"). */
import { equalBytes, isAllZero, toHex } from "../bytes.js";
import type { AnswerFacts, Checklist } from "../checks.js";
import type { AttestationDocument, AttestationDocumentReading } from "../decode/attestation-document.js";
import { type Manifest, manifestHashInput } from "../decode/manifest/index.js";
import { sha256 } from "./digest.js";
import { isQosPublicKey } from "./qos-key.js";

/** Computes the manifest hash of 32 bytes from the decoded value (decode/README.md, "Manifest hash"). */
export async function manifestHash(manifest: Manifest): Promise<Uint8Array> {
  return sha256(manifestHashInput(manifest));
}

/** Runs `bind.user-data`, which checks that the document commits to the manifest. */
export function checkUserData(
  userData: AttestationDocument["userData"] | undefined,
  hash: Uint8Array | undefined,
  checklist: Checklist,
): boolean {
  if (userData === undefined || hash === undefined)
    return checklist.skip("bind.user-data", "user_data or the manifest could not be read");
  if (userData !== null && equalBytes(userData, hash)) return checklist.pass("bind.user-data", undefined, toHex(hash));
  const actual = userData === null ? "absent" : toHex(userData);
  return checklist.fail("bind.user-data", "user_data is not the hash of the manifest", {
    expected: toHex(hash),
    actual,
  });
}

type Pcrs = AttestationDocument["pcrs"];
type WantedPcr = readonly [index: number, wanted: Uint8Array];

/** Runs `bind.pcrs`, which checks that the manifest names the measured image. */
export function checkPcrs(pcrs: Pcrs | undefined, manifest: Manifest | undefined, checklist: Checklist): boolean {
  if (pcrs === undefined || manifest === undefined)
    return checklist.skip("bind.pcrs", "the PCRs or the manifest could not be read");
  const { pcr0, pcr1, pcr2, pcr3 } = manifest.enclave;
  const wanted = [pcr0, pcr1, pcr2, pcr3].map((value, index): WantedPcr => [index, value]);
  return comparePcrs("bind.pcrs", pcrs, wanted, checklist);
}

/** Runs `bind.image` if the caller pinned PCRs. It checks that the document attests every pinned PCR. */
export function checkImage(
  pcrs: Pcrs | undefined,
  wanted: ReadonlyMap<number, Uint8Array> | null,
  checklist: Checklist,
): boolean {
  if (wanted === null) return true;
  if (pcrs === undefined) return checklist.skip("bind.image", "the PCRs could not be read");
  return comparePcrs("bind.image", pcrs, [...wanted], checklist);
}

const PCR_CHECKS = {
  "bind.pcrs": { against: "manifest", differ: "the document and the manifest have different values" },
  "bind.image": { against: "image", differ: "the document does not attest the given values" },
} as const;

/** Compares PCRs. A missing PCR is a difference. */
function comparePcrs(
  id: keyof typeof PCR_CHECKS,
  pcrs: Pcrs,
  wanted: readonly WantedPcr[],
  checklist: Checklist,
): boolean {
  const compared = wanted.map(([index]) => index);
  const others = wanted.filter(([index, value]) => {
    const attested = pcrs.get(index);
    return attested === undefined || !equalBytes(attested, value);
  });
  if (others.length === 0) return checklist.pass(id, undefined, pcrLines(pcrs, compared));
  const differing = others.map(([index]) => index);
  const { against, differ } = PCR_CHECKS[id];
  return checklist.fail(id, `${differ}: ${differing.map((index) => `PCR${index}`).join(", ")}`, {
    expected: pcrLines(new Map(others), differing),
    actual: pcrLines(pcrs, differing),
    causes: [{ code: "other-pcrs", differing, compared, against }],
  });
}

function pcrLines(pcrs: ReadonlyMap<number, Uint8Array>, indexes: readonly number[]): string {
  const text = (value: Uint8Array | undefined): string => (value === undefined ? "absent" : toHex(value));
  return indexes.map((index) => `PCR${index} ${text(pcrs.get(index))}`).join("\n");
}

/** A key that the document must attest. `what` is its name in messages. */
export interface WantedKey {
  readonly what: string;
  readonly key: Uint8Array;
}

/**
 * Runs `bind.key`, which checks that the document attests a QOS key, and that this key is the claimed one and every
 * wanted one. Returns the key, or null unless the check passed. `claimed` is null if the evidence names no key, and
 * undefined if unreadable.
 */
export function checkKey(
  publicKey: AttestationDocument["publicKey"] | undefined,
  claimed: Uint8Array | null | undefined,
  wanted: readonly WantedKey[],
  checklist: Checklist,
): Uint8Array | null {
  if (publicKey === undefined) {
    checklist.skip("bind.key", "the document's public_key could not be read");
    return null;
  }
  if (publicKey === null) {
    checklist.fail("bind.key", "the document attests no public_key", { causes: ["no-qos-key"] });
    return null;
  }
  const form = isQosPublicKey(publicKey) ? [] : ["public_key is not two points of P-256"];
  const { reasons, facts } = otherKeys(publicKey, claimed ? [{ what: CLAIMED, key: claimed }, ...wanted] : wanted);
  const faults = [...form, ...reasons];
  if (faults.length > 0) {
    checklist.fail("bind.key", faults.join("; "), { ...facts, ...(form.length > 0 && { causes: ["no-qos-key"] }) });
    return null;
  }
  if (claimed === undefined) {
    checklist.skip("bind.key", "ephemeralPublicKeyHex could not be read");
    return null;
  }
  checklist.pass("bind.key", claimed === null && wanted.length === 0 ? NONE_NAMED : undefined, toHex(publicKey));
  return publicKey;
}

/** Runs `bind.key` again for a verified document. */
export function recheckKey(publicKey: Uint8Array, wanted: readonly WantedKey[], checklist: Checklist): boolean {
  const { reasons, facts } = otherKeys(publicKey, wanted);
  if (reasons.length > 0) return checklist.conclude("bind.key", reasons, undefined, facts);
  return checklist.pass("bind.key", undefined, toHex(publicKey));
}

const CLAIMED = "ephemeralPublicKeyHex";
const NONE_NAMED = "the document attests a QOS key; the provisioning details name none to compare with";

/** Returns a reason for each wanted key that differs, and the values of the first difference. */
function otherKeys(
  publicKey: Uint8Array,
  keys: readonly WantedKey[],
): { readonly reasons: readonly string[]; readonly facts: AnswerFacts } {
  const others = keys.filter(({ key }) => !equalBytes(key, publicKey));
  const [first] = others;
  const reasons = others.map(({ what }) => `public_key is not ${what}`);
  if (first === undefined) return { reasons, facts: {} };
  const compared = { expected: toHex(first.key), actual: toHex(publicKey) };
  return { reasons, facts: { ...compared, ...(first.what === CLAIMED && { causes: ["claimed-key"] }) } };
}

/** Runs `bind.nonce`. Hardware encodes an absent nonce as null or as no bytes, so an empty nonce is an absent one. */
export function checkNonce(
  nonce: AttestationDocument["nonce"] | undefined,
  wanted: Uint8Array | null,
  checklist: Checklist,
): boolean {
  if (nonce === undefined) return checklist.skip("bind.nonce", "the nonce could not be read");
  const found = nonce === null || nonce.length === 0 ? null : nonce;
  if (wanted === null && found === null)
    return checklist.pass("bind.nonce", "the document carries no nonce, and none is expected");
  if (wanted === null)
    return checklist.fail(
      "bind.nonce",
      `the document carries a nonce of ${found!.length} bytes, but none is expected`,
      { causes: ["unexpected-nonce"] },
    );
  if (found !== null && equalBytes(found, wanted))
    return checklist.pass("bind.nonce", "the document carries the expected nonce");
  const detail =
    found === null
      ? "the document carries no nonce, but one is expected"
      : "the document does not carry the expected nonce";
  return checklist.fail("bind.nonce", detail, {
    expected: toHex(wanted),
    actual: found === null ? "absent" : toHex(found),
    ...(found === null && { causes: ["no-nonce"] }),
  });
}

/**
 * Runs `mode.debug`. PCRs of zeros mean a debug enclave. `manifest` is null for a bare document, and undefined if
 * unreadable. Returns whether the enclave runs in debug mode, or null unless the check passed.
 */
export function checkDebugMode(
  document: AttestationDocumentReading["value"],
  manifest: Manifest | null | undefined,
  allowDebug: boolean,
  checklist: Checklist,
): boolean | null {
  const codePcrs = [0, 1, 2].map((index) => ({ index, value: document.pcrs?.get(index) }));
  const zero = codePcrs.filter(({ value }) => value !== undefined && isAllZero(value));
  const missing = codePcrs.filter(({ value }) => value === undefined);
  const reasons = [
    ...zero.map(({ index }) => `PCR${index} is all zeros: the enclave runs in debug mode`),
    ...(manifest?.pivot?.debugMode === true ? ["pivot.debugMode is true: the application runs in debug mode"] : []),
  ];
  if (reasons.length > 0) {
    if (!allowDebug) {
      checklist.fail("mode.debug", reasons.join("; "));
      return null;
    }
    return checklist.warn("mode.debug", `${reasons.join("; ")} (allowed: nothing about its code is proven)`);
  }
  if (missing.length > 0) {
    const reason = `not attested: ${missing.map(({ index }) => `PCR${index}`).join(", ")}`;
    // If the document is part of a boot proof, `bind.pcrs` fails instead.
    const isBare = manifest === null && document.pcrs !== undefined;
    if (isBare) {
      checklist.fail("mode.debug", `${reason}, so debug mode cannot be ruled out`, {
        causes: ["code-pcrs-absent"],
      });
      return null;
    }
    checklist.skip("mode.debug", reason);
    return null;
  }
  if (manifest === undefined) {
    checklist.skip("mode.debug", "the manifest could not be read");
    return null;
  }
  checklist.pass("mode.debug");
  return false;
}
