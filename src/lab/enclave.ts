/**
 * A software Nitro enclave that runs QuorumOS. Tests can alter each step. Later steps are computed from the altered
 * value, so only that value is wrong.
 */
import { randomUUID } from "node:crypto";
import { concatBytes, toBase64, toHex, toUtf8 } from "../bytes.js";
import { APP_PROOF_SCHEME, type AddressDerivationProof } from "../decode/app-proof.js";
import type { BootProofLabels } from "../decode/boot-proof.js";
import type { JsonObject } from "../decode/json.js";
import { PCR_COUNT, PCR_LENGTH } from "../decode/lengths.js";
import { type ManifestVersion, declarationOf } from "../decode/manifest/index.js";
import { Encoder } from "cbor-x/encode";
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

export type Alter<T> = (value: T) => T;

export function altered<T>(value: T, alter: Alter<T> | undefined): T {
  return alter === undefined ? value : alter(value);
}

/**
 * `legacy` enclaves attest only PCR0..15. Newer enclaves lock and attest all 32, and commit to their setup key in PCR16
 * and their live key in PCR17 (verify/README.md, "Commitments").
 */
export type Generation = "legacy" | "setup" | "live";

const COMMITMENT_PCR = { setup: 16, live: 17 } as const;
const MANIFEST_COMMITMENT_PCR = 18;

export type Measurements = Readonly<Record<"pcr0" | "pcr1" | "pcr2" | "pcr3" | "pcr4", Uint8Array>>;

export function labMeasurements(image = "signer"): Measurements {
  return {
    pcr0: sha384(toUtf8(`lab image ${image}`)),
    pcr1: sha384(toUtf8("lab kernel")),
    pcr2: sha384(toUtf8(`lab application ${image}`)),
    pcr3: extendedPcr(toUtf8("arn:aws:iam::123456789012:role/Webserver")),
    pcr4: extendedPcr(toUtf8("i-0123456789abcdef0")),
  };
}

/** The alterations, listed in the order in which they apply. */
export interface DocumentAlterations {
  readonly pcrs?: Alter<Map<number, Uint8Array>>;
  /** Alters the certificates, root first. */
  readonly certificates?: Alter<CertificateSpec[]>;
  /** Alters the certificates without the leaf. */
  readonly cabundle?: Alter<Uint8Array[]>;
  /** Whether the outermost map has an indefinite length. */
  readonly indefinite?: boolean;
  /** Alters the map of the payload, or returns its encoding. */
  readonly fields?: (fields: Map<unknown, unknown>) => Map<unknown, unknown> | Uint8Array;
  readonly payload?: Alter<Uint8Array>;
  readonly protectedHeader?: Alter<Uint8Array>;
  /** The key that signs instead of the leaf's key. */
  readonly signer?: KeyPair;
  readonly signature?: Alter<Uint8Array>;
  /** Returns the encoding of the COSE_Sign1 with these items. */
  readonly items?: (items: readonly unknown[]) => Uint8Array;
  readonly cose?: Alter<Uint8Array>;
}

interface EnclaveDocument {
  readonly cose: Uint8Array;
  readonly rootCertificate: Uint8Array;
}

/** The alterations, listed in the order in which they apply. */
export interface AppProofAlterations {
  readonly payload?: Alter<JsonObject>;
  readonly text?: Alter<string>;
  /** The key that signs instead of the ephemeral key. */
  readonly signer?: QosKeyPair;
  readonly signature?: Alter<Uint8Array>;
  readonly json?: Alter<JsonObject>;
}

interface EnclaveOptions {
  readonly pki: NitroPki;
  readonly generation: Generation;
  readonly measurements: Measurements;
  readonly manifestHash: Uint8Array;
  /** The attested key. Default: a new key. */
  readonly ephemeralKey?: QosKeyPair;
  /** The key of the other phase (setup or live). Default: a new key. */
  readonly otherKey?: QosKeyPair | undefined;
  /** Whether PCR18 commits to the manifest. Default: false, and PCR18 is zeros. */
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

  attest(at: Date, alter: DocumentAlterations = {}, nonce: Uint8Array | null = null): EnclaveDocument {
    const { pki, manifestHash } = this.#options;
    const specs = altered(pki.chainSpecs(at), alter.certificates);
    const chain = pki.issueChain(specs);
    const fields = new Map<unknown, unknown>([
      ["module_id", "i-0123456789abcdef0-enc0123456789abcdef"],
      ["digest", "SHA384"],
      ["timestamp", BigInt(at.getTime())],
      ["pcrs", altered(this.#pcrs(), alter.pcrs)],
      ["certificate", chain[chain.length - 1]!],
      ["cabundle", altered(chain.slice(0, -1), alter.cabundle)],
      ["public_key", this.ephemeralKey.publicKey],
      ["user_data", manifestHash],
      ["nonce", nonce],
    ]);
    const made = alter.fields?.(fields) ?? fields;
    const definite = made instanceof Uint8Array ? made : encodeCbor(made);
    const payload = alter.indefinite === true ? concatBytes(MAP, definite.subarray(1), BREAK) : definite;
    const cose = signDocument(altered(payload, alter.payload), specs[specs.length - 1]!.key, alter);
    return { cose, rootCertificate: chain[0]! };
  }

  appProof(payload: JsonObject, alter: AppProofAlterations = {}): JsonObject {
    return appProofBy(this.ephemeralKey, payload, alter);
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
    // The key is made on demand, since most test enclaves never attest.
    this.#otherKey ??= generateQosKeyPair();
    pcrs.set(COMMITMENT_PCR[generation], commitmentPcr(generation, manifestHash, this.ephemeralKey.publicKey));
    pcrs.set(COMMITMENT_PCR[other], commitmentPcr(other, manifestHash, this.#otherKey.publicKey));
    if (manifestCommitment) pcrs.set(MANIFEST_COMMITMENT_PCR, manifestCommitmentPcr(manifestHash));
  }
}

/** Makes an app proof by an ephemeral key. */
export function appProofBy(key: QosKeyPair, payload: JsonObject, alter: AppProofAlterations = {}): JsonObject {
  const text = altered(JSON.stringify(altered(payload, alter.payload)), alter.text);
  const signature = altered(qosSign(alter.signer ?? key, toUtf8(text)), alter.signature);
  const publicKey = toHex(key.publicKey);
  const json = { scheme: APP_PROOF_SCHEME, publicKey, proofPayload: text, signature: toHex(signature) };
  return altered<JsonObject>(json, alter.json);
}

/** The head of a map of indefinite length, and its end. */
const MAP = Uint8Array.of(0xbf);
const BREAK = Uint8Array.of(0xff);

/** Without these options it writes tags and longer heads, which no genuine document has. */
const CBOR = new Encoder({ mapsAsObjects: false, useRecords: false, tagUint8Array: false });

/** Encodes an item in shortest form. Times have to be bigints: others become floats. */
export function encodeCbor(item: unknown): Uint8Array {
  return new Uint8Array(CBOR.encode(item));
}

/** Makes a COSE_Sign1 with ES384 (RFC 9052 section 4.4). */
function signDocument(payload: Uint8Array, leafKey: KeyPair, alter: DocumentAlterations): Uint8Array {
  const header = altered(encodeCbor(new Map([[1, -35]])), alter.protectedHeader);
  const signed = encodeCbor(["Signature1", header, new Uint8Array(), payload]);
  const signature = altered(signRaw(alter.signer ?? leafKey, "sha384", signed), alter.signature);
  const items = [header, new Map(), payload, signature];
  return altered(alter.items?.(items) ?? encodeCbor(items), alter.cose);
}

export const LAB_LABELS: BootProofLabels = { deploymentLabel: "lab.1", enclaveApp: "signer", owner: "lab" };

export function bootProofJson(parts: {
  readonly ephemeralKey: Uint8Array;
  readonly document: Uint8Array;
  readonly manifest: Uint8Array;
  readonly envelope: Uint8Array;
  readonly createdAt: Date;
  readonly manifestVersion: ManifestVersion;
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
    qosManifestVersion: declarationOf(parts.manifestVersion),
  };
}

export function addressDerivationPayload(at: Date, facts: AddressDerivationProof): JsonObject {
  return {
    type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
    timestampMs: String(at.getTime()),
    addressDerivationProof: { ...facts },
  };
}

/** Returns the payload of a policy outcome proof. `facts` replaces its invented values. */
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

export function customPayload(at: Date, type = "APP_PROOF_TYPE_LAB_GREETING"): JsonObject {
  return { type, timestampMs: String(at.getTime()), greeting: { id: randomUUID(), text: "hello" } };
}
