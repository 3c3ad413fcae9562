/** Decoding of the payload of a Nitro attestation document (decode/README.md, "Attestation document"). */
import { FaultList, type Reading, attempt, faultText, requireWhole } from "../errors.js";
import { type Certificate, decodeCertificate } from "./certificate.js";
import { type CborValue, cborUint, decodeCbor } from "./cbor.js";
import { decodeCoseSign1 } from "./cose-sign1.js";
import { MAX_TIME_MS } from "./decimal-time.js";
import { PCR_COUNT, PCR_LENGTH } from "./lengths.js";

/**
 * ```cddl
 * AttestationDocument = { module_id: text, timestamp: uint, digest: "SHA384", pcrs: { uint => bytes },
 *   certificate: bytes, cabundle: [+ bytes], ? public_key: bytes / null, ? user_data: bytes / null,
 *   ? nonce: bytes / null }
 * ```
 */
export interface AttestationDocument {
  readonly moduleId: string;
  readonly digest: "SHA384";
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  /** Locked PCRs of 48 bytes each, by index. An absent PCR is not a zero PCR. */
  readonly pcrs: ReadonlyMap<number, Uint8Array>;
  /** The leaf, whose key signed the document. */
  readonly certificate: Certificate;
  /** `[root, intermediate 1, …, intermediate N]`, as claimed by the document. This root is not a trust anchor. */
  readonly cabundle: readonly Certificate[];
  readonly publicKey: Uint8Array | null;
  readonly userData: Uint8Array | null;
  readonly nonce: Uint8Array | null;
}

export interface AttestationDocumentReading extends Reading<AttestationDocument> {
  /** Keys that the format does not define. They are reported, but are not faults. */
  readonly unknownKeys: readonly string[];
}

/** Maximum bytes of a certificate, and of each field that the enclave fills in. */
export const MAX_DOCUMENT_FIELD = 1024;
/**
 * Maximum number of certificates. AWS defines no limit. All 117 genuine documents from 2021 to 2026 have four, and each
 * costs two P-384 operations.
 */
const MAX_CABUNDLE = 16;
/** Keys of the document. Each becomes a member of that name in camel case. */
export const DOCUMENT_KEYS: readonly string[] = [
  "module_id",
  "digest",
  "timestamp",
  "pcrs",
  "certificate",
  "cabundle",
  "public_key",
  "user_data",
  "nonce",
];
/** Keys that could pollute prototypes in another reader. */
const POISON_KEYS = ["__proto__", "constructor", "prototype"];

/** A decoded document that was NOT verified, so any value in it may be forged. */
interface UnverifiedAttestationDocument extends AttestationDocument {
  readonly verified: false;
}

/**
 * Decodes an attestation document WITHOUT VERIFYING its signature, certificates or measurements. Use it for inspection
 * only, and call {@link verifyAttestation} before you trust a document. Throws {@link MalformedError} with every fault.
 *
 * @example
 * const { moduleId, timestamp } = decodeAttestationDocument(coseSign1); // still unverified
 */
export function decodeAttestationDocument(coseSign1: Uint8Array): UnverifiedAttestationDocument {
  const document = requireWhole("attestation-document", readAttestationDocument(decodeCoseSign1(coseSign1).payload));
  return { verified: false, ...document };
}

/** Tolerantly reads the payload of the COSE_Sign1. */
export function readAttestationDocument(payload: Uint8Array): AttestationDocumentReading {
  const decoded = attempt(() => decodeCbor(payload, { indefiniteOutermostMap: true }));
  if (decoded.value === undefined) return { value: {}, faults: decoded.faults, unknownKeys: [] };
  if (!(decoded.value instanceof Map)) {
    return { value: {}, faults: [{ path: "", message: "not a map" }], unknownKeys: [] };
  }
  return new DocumentReader(decoded.value).read();
}

class DocumentReader {
  readonly #map: Map<CborValue, CborValue>;
  readonly #faults = new FaultList();

  constructor(map: Map<CborValue, CborValue>) {
    this.#map = map;
  }

  read(): AttestationDocumentReading {
    const unknownKeys = this.#unknownKeys();
    const value = {
      moduleId: this.#moduleId(),
      digest: this.#digest(),
      timestamp: this.#timestamp(),
      pcrs: this.#pcrs(),
      certificate: this.#certificate("certificate", this.#map.get("certificate")),
      cabundle: this.#cabundle(),
      publicKey: this.#optionalBytes("public_key"),
      userData: this.#optionalBytes("user_data"),
      nonce: this.#optionalBytes("nonce"),
    };
    return { value, faults: this.#faults, unknownKeys };
  }

  #unknownKeys(): string[] {
    const unknown: string[] = [];
    for (const key of this.#map.keys()) {
      if (typeof key !== "string") this.#fault("", "a key that is not text");
      else if (POISON_KEYS.includes(key)) this.#fault(key, "a key that is never allowed");
      else if (key === "nitrotpm_pcrs") {
        this.#fault(key, "this is a NitroTPM document: it is about a whole instance, not an enclave");
      } else if (!DOCUMENT_KEYS.includes(key)) unknown.push(key);
    }
    return unknown;
  }

  #moduleId(): string | undefined {
    const value = this.#map.get("module_id");
    return typeof value === "string" && value !== "" ? value : this.#fault("module_id", "expected a non-empty text");
  }

  #digest(): "SHA384" | undefined {
    return this.#map.get("digest") === "SHA384" ? "SHA384" : this.#fault("digest", "not SHA384");
  }

  #timestamp(): number | undefined {
    const value = cborUint(this.#map.get("timestamp"));
    const representable = value !== undefined && value > 0 && value <= MAX_TIME_MS;
    return representable ? value : this.#fault("timestamp", "expected milliseconds since the epoch, above 0");
  }

  #pcrs(): Map<number, Uint8Array> | undefined {
    const map = this.#map.get("pcrs");
    if (map === undefined && this.#map.has("nitrotpm_pcrs")) return undefined;
    if (!(map instanceof Map)) return this.#fault("pcrs", "expected a map");
    if (map.size < 1 || map.size > PCR_COUNT)
      return this.#fault("pcrs", `${map.size} entries, expected 1 to ${PCR_COUNT}`);
    const pcrs = new Map<number, Uint8Array>();
    for (const [key, value] of map) {
      const index = cborUint(key);
      if (index === undefined || index >= PCR_COUNT) this.#fault("pcrs", `an index that is not 0 to ${PCR_COUNT - 1}`);
      else if (!(value instanceof Uint8Array)) this.#fault(`pcrs.${index}`, "expected a byte string");
      else if (value.length !== PCR_LENGTH)
        this.#fault(`pcrs.${index}`, `${value.length} bytes, expected ${PCR_LENGTH}`);
      else pcrs.set(index, value);
    }
    return pcrs;
  }

  #cabundle(): Certificate[] | undefined {
    const value = this.#map.get("cabundle");
    if (!Array.isArray(value) || value.length === 0) return this.#fault("cabundle", "expected a non-empty array");
    if (value.length > MAX_CABUNDLE)
      return this.#fault("cabundle", `${value.length} entries, expected at most ${MAX_CABUNDLE}`);
    const certificates = value.map((entry, index) => this.#certificate(`cabundle[${index}]`, entry));
    return certificates.every((certificate) => certificate !== undefined) ? certificates : undefined;
  }

  #certificate(path: string, value: CborValue | undefined): Certificate | undefined {
    if (!(value instanceof Uint8Array)) return this.#fault(path, "expected a byte string");
    if (value.length < 1 || value.length > MAX_DOCUMENT_FIELD) {
      return this.#fault(path, `${value.length} bytes, expected 1 to ${MAX_DOCUMENT_FIELD}`);
    }
    const decoded = attempt(() => decodeCertificate(value));
    return decoded.value ?? this.#fault(path, faultText(decoded.faults));
  }

  #optionalBytes(key: string): Uint8Array | null | undefined {
    const value = this.#map.get(key) ?? null;
    if (value === null) return null;
    if (!(value instanceof Uint8Array)) return this.#fault(key, "expected a byte string or null");
    return value.length <= MAX_DOCUMENT_FIELD
      ? value
      : this.#fault(key, `${value.length} bytes, expected at most ${MAX_DOCUMENT_FIELD}`);
  }

  #fault(path: string, message: string): undefined {
    this.#faults.push({ path, message });
    return undefined;
  }
}
