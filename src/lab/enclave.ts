/**
 * A Nitro enclave that runs QuorumOS, in software: it measures, keeps ephemeral keys, asks its "hardware" for
 * attestation documents and signs app proofs. Each step of the making can be altered; what comes after it is made from
 * the altered value, so that exactly one thing is wrong.
 */
import { randomUUID } from "node:crypto";
import { toBase64, toHex, toUtf8 } from "../bytes.js";
import { APP_PROOF_SCHEME } from "../decode/app-proof.js";
import type { BootProofLabels } from "../decode/boot-proof.js";
import type { JsonObject } from "../decode/json.js";
import { PCR_COUNT, PCR_LENGTH } from "../decode/lengths.js";
import { type CborItem, encodeCbor, withIndefiniteLength } from "./cbor.js";
import { type KeyPair, signRaw } from "./keys.js";
import type { CertificateSpec, NitroPki } from "./pki.js";
import {
  type QosKeyPair,
  commitmentPcr,
  extendedPcr,
  generateQosKeyPair,
  manifestCommitmentPcr,
  qosSign,
  sha384,
} from "./qos.js";

/** Answers the value that is to stand in the place of the one given. */
export type Alter<T> = (value: T) => T;

export function altered<T>(value: T, alter: Alter<T> | undefined): T {
  return alter === undefined ? value : alter(value);
}

/**
 * Which document of which enclave: `legacy` enclaves attest PCR0..15 only; newer ones lock all 32, and commit to their
 * setup key in PCR16 and to their live key in PCR17 before either is attested (verify/README.md, "Commitments").
 */
export type Generation = "legacy" | "setup" | "live";

/** The PCRs that a newer enclave commits in: by the key that each is about, and to the manifest alone. */
const COMMITMENT_PCR = { setup: 16, live: 17 } as const;
const MANIFEST_COMMITMENT_PCR = 18;

export interface Measurements {
  readonly pcr0: Uint8Array;
  readonly pcr1: Uint8Array;
  readonly pcr2: Uint8Array;
  readonly pcr3: Uint8Array;
  readonly pcr4: Uint8Array;
}

/** PCRs of an image that does not exist, on an instance that does not either. */
export function labMeasurements(image = "signer"): Measurements {
  return {
    pcr0: sha384(toUtf8(`lab image ${image}`)),
    pcr1: sha384(toUtf8("lab kernel")),
    pcr2: sha384(toUtf8(`lab application ${image}`)),
    pcr3: extendedPcr(toUtf8("arn:aws:iam::123456789012:role/Webserver")),
    pcr4: extendedPcr(toUtf8("i-0123456789abcdef0")),
  };
}

/** What can be altered in the making of a document, in the order of the making. */
export interface DocumentAlterations {
  readonly pcrs?: Alter<Map<number, Uint8Array>>;
  /** Root first, leaf last. */
  readonly certificates?: Alter<CertificateSpec[]>;
  /** The finished certificates of the path without its leaf. */
  readonly cabundle?: Alter<Uint8Array[]>;
  /** Set: the document's outermost map is of indefinite length. */
  readonly indefinite?: boolean;
  /** The document's map, or whatever stands in its place. */
  readonly fields?: (fields: Map<CborItem, CborItem>) => CborItem;
  readonly payload?: Alter<Uint8Array>;
  readonly protectedHeader?: Alter<Uint8Array>;
  readonly unprotectedHeader?: CborItem;
  /** Signs in the place of the leaf's key. */
  readonly signer?: KeyPair;
  readonly signature?: Alter<Uint8Array>;
  /** The four items, or whatever stands in the place of their array. */
  readonly items?: (items: readonly CborItem[]) => CborItem;
  readonly cose?: Alter<Uint8Array>;
}

interface EnclaveDocument {
  readonly cose: Uint8Array;
  readonly rootCertificate: Uint8Array;
}

/** What can be altered in the making of an app proof, in the order of the making. */
export interface AppProofAlterations {
  readonly payload?: Alter<JsonObject>;
  readonly text?: Alter<string>;
  /** Signs in the place of the ephemeral key. */
  readonly signer?: QosKeyPair;
  readonly signature?: Alter<Uint8Array>;
  readonly json?: Alter<JsonObject>;
}

interface EnclaveOptions {
  readonly pki: NitroPki;
  readonly generation: Generation;
  readonly measurements: Measurements;
  readonly manifestHash: Uint8Array;
  /** The key that is attested, of the phase that `generation` names. New where it is not given. */
  readonly ephemeralKey?: QosKeyPair;
  /** The enclave's key of its other phase, which it commits to as well. New where it is not given. */
  readonly otherKey?: QosKeyPair | undefined;
  /** Whether PCR18 commits to the manifest alone; zeros where not given. */
  readonly manifestCommitment?: boolean | undefined;
}

export class SoftwareEnclave {
  readonly ephemeralKey: QosKeyPair;
  readonly #options: EnclaveOptions;
  #otherKey: QosKeyPair | undefined;

  constructor(options: EnclaveOptions) {
    this.#options = options;
    this.ephemeralKey = options.ephemeralKey ?? generateQosKeyPair();
    this.#otherKey = options.otherKey;
  }

  /** The attestation document over manifest and ephemeral key, made at the given time; over a verifier's nonce, too. */
  attest(at: Date, alter: DocumentAlterations = {}, nonce: Uint8Array | null = null): EnclaveDocument {
    const { pki, manifestHash } = this.#options;
    const specs = altered(pki.chainSpecs(at), alter.certificates);
    const chain = pki.issueChain(specs);
    const fields = new Map<CborItem, CborItem>([
      ["module_id", "i-0123456789abcdef0-enc0123456789abcdef"],
      ["digest", "SHA384"],
      ["timestamp", at.getTime()],
      ["pcrs", altered(this.#pcrs(), alter.pcrs)],
      ["certificate", chain[chain.length - 1]!],
      ["cabundle", altered(chain.slice(0, -1), alter.cabundle)],
      ["public_key", this.ephemeralKey.publicKey],
      ["user_data", manifestHash],
      ["nonce", nonce],
    ]);
    const item = alter.fields?.(fields) ?? fields;
    const payload = encodeCbor(alter.indefinite === true ? withIndefiniteLength(item) : item);
    const cose = signDocument(altered(payload, alter.payload), specs[specs.length - 1]!.key, alter);
    return { cose, rootCertificate: chain[0]! };
  }

  /** The app proof of a payload, signed by the ephemeral key. */
  appProof(payload: JsonObject, alter: AppProofAlterations = {}): JsonObject {
    const text = altered(JSON.stringify(altered(payload, alter.payload)), alter.text);
    const signature = altered(qosSign(alter.signer ?? this.ephemeralKey, toUtf8(text)), alter.signature);
    const json = {
      scheme: APP_PROOF_SCHEME,
      publicKey: toHex(this.ephemeralKey.publicKey),
      proofPayload: text,
      signature: toHex(signature),
    };
    return altered<JsonObject>(json, alter.json);
  }

  #pcrs(): Map<number, Uint8Array> {
    const { generation, measurements } = this.#options;
    const pcrs = new Map<number, Uint8Array>();
    for (let index = 0; index < (generation === "legacy" ? 16 : PCR_COUNT); index++)
      pcrs.set(index, new Uint8Array(PCR_LENGTH));
    const { pcr0, pcr1, pcr2, pcr3, pcr4 } = measurements;
    [pcr0, pcr1, pcr2, pcr3, pcr4].forEach((value, index) => pcrs.set(index, value));
    if (generation !== "legacy") this.#commit(generation, pcrs);
    return pcrs;
  }

  #commit(generation: "setup" | "live", pcrs: Map<number, Uint8Array>): void {
    const { manifestHash, manifestCommitment = false } = this.#options;
    const other = generation === "live" ? "setup" : "live";
    // Made when it is first needed: most enclaves of a test only sign.
    this.#otherKey ??= generateQosKeyPair();
    pcrs.set(COMMITMENT_PCR[generation], commitmentPcr(generation, manifestHash, this.ephemeralKey.publicKey));
    pcrs.set(COMMITMENT_PCR[other], commitmentPcr(other, manifestHash, this.#otherKey.publicKey));
    if (manifestCommitment) pcrs.set(MANIFEST_COMMITMENT_PCR, manifestCommitmentPcr(manifestHash));
  }
}

/** The COSE_Sign1 of a payload (RFC 9052 section 4.4), by ES384. */
function signDocument(payload: Uint8Array, leafKey: KeyPair, alter: DocumentAlterations): Uint8Array {
  const header = altered(encodeCbor(new Map([[1, -35]])), alter.protectedHeader);
  const signed = encodeCbor(["Signature1", header, new Uint8Array(), payload]);
  const signature = altered(signRaw(alter.signer ?? leafKey, "sha384", signed), alter.signature);
  const items: CborItem[] = [header, alter.unprotectedHeader ?? new Map(), payload, signature];
  return altered(encodeCbor(alter.items?.(items) ?? items), alter.cose);
}

/** What a boot proof says of its deployment where nothing else is given. */
export const LAB_LABELS: BootProofLabels = { deploymentLabel: "lab.1", enclaveApp: "signer", owner: "lab" };

/** The service's boot proof of an enclave, in the service's field names. */
export function bootProofJson(parts: {
  readonly ephemeralKey: Uint8Array;
  readonly document: Uint8Array;
  readonly manifest: Uint8Array;
  readonly envelope: Uint8Array;
  readonly createdAt: Date;
  readonly manifestVersion: string;
  readonly labels?: BootProofLabels;
}): JsonObject {
  const seconds = Math.floor(parts.createdAt.getTime() / 1000);
  return {
    ephemeralPublicKeyHex: toHex(parts.ephemeralKey),
    cloudAttestationDocB64: toBase64(parts.document),
    qosManifestB64: toBase64(parts.manifest),
    qosManifestEnvelopeB64: toBase64(parts.envelope),
    ...(parts.labels ?? LAB_LABELS),
    createdAt: { seconds: String(seconds), nanos: "0" },
    qosManifestVersion: parts.manifestVersion,
  };
}

/** Whose address a derivation proof speaks of. */
export interface AddressFacts {
  readonly organizationId: string;
  /** Absent: a private key's, which belongs to no wallet and was not derived. */
  readonly walletId?: string;
  readonly derivationPath?: string;
  readonly address: string;
}

export function addressDerivationPayload(at: Date, facts: AddressFacts): JsonObject {
  return {
    type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
    timestampMs: String(at.getTime()),
    addressDerivationProof: { ...facts },
  };
}

/** `facts`: what is known of the decision; made up where it is not given. */
export function policyOutcomePayload(
  at: Date,
  organizationId: string,
  outcome = "OUTCOME_ALLOW",
  facts: JsonObject = {},
): JsonObject {
  const digest = (text: string): string => toHex(sha384(toUtf8(text))).slice(0, 64);
  const policyOutcomeProof = {
    organizationId,
    outcome,
    decisionContextDigest: digest("decision context"),
    organizationDataDigest: digest("organization data"),
    parentOrganizationDataDigest: digest("parent organization data"),
    userRequestApprovals: [],
    ...facts,
  };
  return { type: "APP_PROOF_TYPE_POLICY_OUTCOME", timestampMs: String(at.getTime()), policyOutcomeProof };
}

/** A type that the application defined itself. */
export function customPayload(at: Date, type = "APP_PROOF_TYPE_LAB_GREETING"): JsonObject {
  return { type, timestampMs: String(at.getTime()), greeting: { id: randomUUID(), text: "hello" } };
}
