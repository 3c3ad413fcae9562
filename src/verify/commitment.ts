/** Checks of the commitments that an enclave's boot code makes (verify/README.md, "Commitments"). */
import { concatBytes, equalBytes, isAllZero, toHex, toUtf8 } from "../bytes.js";
import type { Checklist } from "../checks.js";
import type { AttestationDocument, AttestationDocumentReading } from "../decode/attestation-document.js";
import { PCR_COUNT, PCR_LENGTH } from "../decode/lengths.js";
import { sha384 } from "./digest.js";

interface CommitmentRow {
  /** Register and domain of the commitment. Null means that there is none. */
  readonly register: { readonly pcr: number; readonly domain: string } | null;
  readonly signsAppProofs: boolean;
  /** Whether the enclave may attest its key at any time, not only when it boots. */
  readonly attestsAnyTime: boolean;
}

export const COMMITMENTS = {
  live: {
    register: { pcr: 17, domain: "qos-live-manifest-pcr-commitment-v1" },
    signsAppProofs: true,
    attestsAnyTime: true,
  },
  setup: {
    register: { pcr: 16, domain: "qos-setup-manifest-pcr-commitment-v1" },
    signsAppProofs: false,
    attestsAnyTime: false,
  },
  /** Images until mid 2026, which lock only PCR0 to 15. */
  legacy: { register: null, signsAppProofs: true, attestsAnyTime: false },
} as const satisfies Record<string, CommitmentRow>;

export type CommitmentKind = keyof typeof COMMITMENTS;

export const COMMITMENT_KINDS = Object.keys(COMMITMENTS) as readonly CommitmentKind[];

type RegisteredKind = {
  [K in CommitmentKind]: (typeof COMMITMENTS)[K]["register"] extends null ? never : K;
}[CommitmentKind];

const REGISTERED = COMMITMENT_KINDS.filter((kind): kind is RegisteredKind => COMMITMENTS[kind].register !== null);

/** A commitment to the manifest alone (proposed for QOS, still in review in 2026). */
const MANIFEST_COMMITMENT = { pcr: 18, domain: "qos-manifest-pcr-commitment-v1" } as const;

const LEGACY_PCRS = 16;

/** Returns a PCR of zeros that was extended once with the SHA-384 of the preimage. */
async function committedPcr(preimage: string): Promise<Uint8Array> {
  return sha384(concatBytes(new Uint8Array(PCR_LENGTH), await sha384(toUtf8(preimage))));
}

export async function commitmentPcr(
  kind: RegisteredKind,
  manifestHash: Uint8Array,
  ephemeralKey: Uint8Array,
): Promise<Uint8Array> {
  const { domain } = COMMITMENTS[kind].register;
  return committedPcr(
    `{"domain":"${domain}","ephemeralPublicKey":"${toHex(ephemeralKey)}","manifestHash":"${toHex(manifestHash)}"}`,
  );
}

export async function manifestCommitmentPcr(manifestHash: Uint8Array): Promise<Uint8Array> {
  return committedPcr(`{"domain":"${MANIFEST_COMMITMENT.domain}","manifestHash":"${toHex(manifestHash)}"}`);
}

interface Commitment {
  readonly kind: CommitmentKind;
  /** Whether PCR18 commits to this manifest. */
  readonly manifestCommitted: boolean;
}

type Pcrs = AttestationDocument["pcrs"];

/**
 * Runs `bind.commitment`. Returns null unless it finds a valid commitment or a legacy document. `isProvisioning` means
 * that the evidence is provisioning details: a live commitment then fails.
 */
export async function checkCommitment(
  document: AttestationDocumentReading["value"],
  manifestHash: Uint8Array | undefined,
  checklist: Checklist,
  isProvisioning = false,
): Promise<Commitment | null> {
  const { pcrs, publicKey } = document;
  if (pcrs === undefined) {
    checklist.skip("bind.commitment", "the PCRs could not be read");
    return null;
  }
  if ([...pcrs.keys()].every((index) => index < LEGACY_PCRS)) {
    checklist.warn(
      "bind.commitment",
      "legacy: no PCR commits to manifest and key, so an application inside could have requested this document",
    );
    return { kind: "legacy", manifestCommitted: false };
  }
  if (!REGISTERED.some((kind) => pcrs.has(COMMITMENTS[kind].register.pcr))) {
    checklist.fail("bind.commitment", "PCRs above 15 are attested, but neither PCR16 nor PCR17 is");
    return null;
  }
  if (!publicKey || manifestHash === undefined) {
    checklist.skip("bind.commitment", "public_key or the manifest could not be read");
    return null;
  }
  const kind = await matchCommitment(pcrs, publicKey, manifestHash, checklist);
  if (kind === null) return null;
  if (isProvisioning && kind !== "setup") {
    const why = `${kind} commitment: shares go to the key of an enclave's setup, and this document attests another key`;
    checklist.fail("bind.commitment", why, { causes: ["no-share"] });
    return null;
  }
  return { kind, manifestCommitted: await checkManifestCommitment(kind, pcrs, manifestHash, checklist) };
}

/**
 * Returns the kind whose register commits to this key. The other register may hold a commitment to the enclave's other
 * key. Null if neither commits to this key, or if a PCR is missing.
 */
async function matchCommitment(
  pcrs: Pcrs,
  publicKey: Uint8Array,
  manifestHash: Uint8Array,
  checklist: Checklist,
): Promise<RegisteredKind | null> {
  const wanted = await Promise.all(
    REGISTERED.map(async (kind) => {
      return { kind, pcr: COMMITMENTS[kind].register.pcr, value: await commitmentPcr(kind, manifestHash, publicKey) };
    }),
  );
  const kind = wanted.find(({ pcr, value }) => equalBytes(pcrs.get(pcr) ?? new Uint8Array(), value))?.kind ?? null;
  const missing = Array.from({ length: PCR_COUNT }, (_, index) => index).filter((index) => !pcrs.has(index));
  const reasons = [
    ...(kind === null ? ["neither PCR16 nor PCR17 is a commitment to this manifest and this key"] : []),
    ...(missing.length === 0
      ? []
      : [`an enclave that commits locks PCRs 0 to 31; not attested: ${missing.join(", ")}`]),
  ];
  if (kind === null || missing.length > 0) {
    const compared = {
      expected: wanted.map(({ pcr, value }) => `PCR${pcr} ${toHex(value)}`).join("\nor "),
      actual: wanted.map(({ pcr }) => `PCR${pcr} ${toHex(pcrs.get(pcr) ?? new Uint8Array()) || "absent"}`).join("\n"),
    };
    checklist.conclude("bind.commitment", reasons, undefined, kind === null ? compared : undefined);
    return null;
  }
  return kind;
}

async function checkManifestCommitment(
  kind: RegisteredKind,
  pcrs: Pcrs,
  manifestHash: Uint8Array,
  checklist: Checklist,
): Promise<boolean> {
  // `matchCommitment` checked that all 32 PCRs are attested.
  const attested = pcrs.get(MANIFEST_COMMITMENT.pcr)!;
  const matches = equalBytes(attested, await manifestCommitmentPcr(manifestHash));
  if (!matches && !isAllZero(attested)) {
    checklist.warn(
      "bind.commitment",
      `${kind} commitment; PCR18 is set, but does not commit to this manifest: in released QOS, applications set it`,
    );
  } else {
    checklist.pass("bind.commitment", `${kind} commitment${matches ? ", and PCR18 commits to the manifest too" : ""}`);
  }
  return matches;
}
