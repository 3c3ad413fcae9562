/** Verification of attestation documents of any Nitro enclave (verify/README.md, "Attestation documents"). */
import { equalBytes, toHex } from "../bytes.js";
import { Checklist, checksOf } from "../checks.js";
import {
  type AttestationDocument,
  type AttestationDocumentReading,
  readAttestationDocument,
} from "../decode/attestation-document.js";
import { type CoseSign1, decodeCoseSign1, signatureInput } from "../decode/cose-sign1.js";
import { P384_SIGNATURE_LENGTH } from "../decode/lengths.js";
import { attempt, faultText, wholeOf } from "../errors.js";
import { PATH_CHECKS, checkCertificatePath } from "./certificate-path.js";
import { AHEAD_MS, type VerifyContext } from "./context.js";
import { pointOfSpki } from "./ecdsa.js";
import { checkDebugMode, checkImage, checkNonce } from "./manifest-binding.js";
import type { SignatureCache } from "./signature-cache.js";
import type { TrustAnchor } from "./trust-anchor.js";

const ATTESTATION_CHECKS = /* @__PURE__ */ checksOf("cose", "doc", "chain");

/** Protected header `{1: -35}`, which means ES384 (RFC 9053 section 2.1). */
const PROTECTED_ES384 = Uint8Array.of(0xa1, 0x01, 0x38, 0x22);

/** The public members of the verified type. */
type AttestationFacts = Pick<VerifiedAttestation, keyof VerifiedAttestation>;

/** A document after its checks. Only `facts` is verified. */
export interface CheckedAttestation {
  readonly document: AttestationDocumentReading["value"];
  readonly validationTime: Date | null;
  /** The verified facts, or null unless every check passed. */
  readonly facts: AttestationFacts | null;
}

/** A document whose signature and certificate path are valid. Only verification makes one. */
export class VerifiedAttestation {
  readonly #verified = true;
  readonly document: AttestationDocument;
  /** The caller's anchor at the start of the path. */
  readonly trustAnchor: TrustAnchor;
  readonly validationTime: Date;

  /** @internal */
  constructor({ document, trustAnchor, validationTime }: AttestationFacts, token: symbol) {
    if (token !== TOKEN) throw new TypeError("a VerifiedAttestation is made by verification only");
    this.document = document;
    this.trustAnchor = trustAnchor;
    this.validationTime = validationTime;
    Object.freeze(this);
  }

  static isVerified(value: unknown): value is VerifiedAttestation {
    return typeof value === "object" && value !== null && #verified in value;
  }
}

/** A token that stays in this module, so that no other code can make the verified type. */
const TOKEN = Symbol();

/** Runs {@link ATTESTATION_CHECKS}. */
export async function checkAttestation(
  bytes: Uint8Array,
  context: VerifyContext,
  checklist: Checklist,
): Promise<CheckedAttestation> {
  const message = checkStructure(bytes, checklist);
  if (message === undefined) return skippedAttestation(checklist, "the COSE_Sign1 could not be read");
  const isEs384 = checklist.conclude("cose.algorithm", algorithmFaults(message));
  const { value: document, whole } = checkDocument(message, checklist);
  const isInTime = checkTime(document.timestamp, context.now, checklist);
  const validationTime = validationTimeOf(document, context);
  const [trustAnchor, isSigned] = await Promise.all([
    checkPath(document, validationTime, context, checklist),
    checkSignature(message, document, context.cache, checklist),
  ]);
  const isGood = isEs384 && isSigned && isInTime && whole !== null && trustAnchor !== null && validationTime !== null;
  return { document, validationTime, facts: isGood ? { document: whole, trustAnchor, validationTime } : null };
}

interface CheckedDocument {
  readonly checklist: Checklist;
  readonly verified: VerifiedAttestation | null;
  readonly debug: boolean;
  readonly validationTime: Date | null;
}

export async function checkBareDocument(bytes: Uint8Array, context: VerifyContext): Promise<CheckedDocument> {
  const checklist = new Checklist("boot[0]");
  const checked = await checkAttestation(bytes, context, checklist);
  const { document, validationTime } = checked;
  const isNonceWanted = context.nonce === null || checkNonce(document.nonce, context.nonce, checklist);
  const isImageGiven = checkImage(document.pcrs, context.measurements, checklist);
  const debug = checkDebugMode(document, null, context.allowDebug, checklist);
  const verified = isImageGiven && isNonceWanted && debug !== null ? verifiedAttestation(checked) : null;
  return { checklist, verified, debug: debug === true, validationTime };
}

export function verifiedAttestation({ facts }: CheckedAttestation): VerifiedAttestation | null {
  return facts && new VerifiedAttestation(facts, TOKEN);
}

export function skippedAttestation(checklist: Checklist, reason: string): CheckedAttestation {
  checklist.skipRest(ATTESTATION_CHECKS, reason);
  return { document: {}, validationTime: null, facts: null };
}

function checkStructure(bytes: Uint8Array, checklist: Checklist): CoseSign1 | undefined {
  const decoded = attempt(() => decodeCoseSign1(bytes));
  checklist.conclude("cose.structure", decoded.faults.length > 0 ? [faultText(decoded.faults)] : []);
  return decoded.value;
}

export function algorithmFaults(message: CoseSign1): string[] {
  const faults: string[] = [];
  if (!equalBytes(message.protectedHeader, PROTECTED_ES384)) {
    faults.push(
      `the protected header is ${toHex(message.protectedHeader) || "empty"}, expected exactly {1: -35} (a1013822)`,
    );
  }
  if (!message.unprotectedIsEmpty) faults.push("the unprotected header is not empty");
  return faults;
}

function checkDocument(
  message: CoseSign1,
  checklist: Checklist,
): { value: AttestationDocumentReading["value"]; whole: AttestationDocument | null } {
  const reading = readAttestationDocument(message.payload);
  const { value, faults, unknownKeys } = reading;
  if (faults.length === 0 && unknownKeys.length > 0) {
    checklist.warn(
      "doc.structure",
      `the document has keys that its format does not name, ignored: ${unknownKeys.join(", ")}`,
    );
  } else {
    checklist.conclude("doc.structure", faults.length > 0 ? [faultText(faults)] : []);
  }
  return { value, whole: wholeOf<AttestationDocument>(reading) };
}

/** Runs `doc.time`. A time that the caller chooses for the certificates (`at`) makes no document younger. */
export function checkTime(timestamp: number | undefined, now: Date, checklist: Checklist): boolean {
  if (timestamp === undefined) return checklist.skip("doc.time", "the document's time could not be read");
  if (timestamp - now.getTime() <= AHEAD_MS) return checklist.pass("doc.time");
  const made = new Date(timestamp).toISOString();
  return checklist.fail("doc.time", `the document was made at ${made}, later than now (${now.toISOString()})`);
}

/** Returns the validation time of the certificates, or null if it is the document's own and unreadable. */
export function validationTimeOf(
  document: AttestationDocumentReading["value"],
  context: Pick<VerifyContext, "at" | "now">,
): Date | null {
  if (context.at === "now") return context.now;
  if (context.at !== "document") return context.at;
  return document.timestamp === undefined ? null : new Date(document.timestamp);
}

async function checkPath(
  document: AttestationDocumentReading["value"],
  time: Date | null,
  context: VerifyContext,
  checklist: Checklist,
): Promise<TrustAnchor | null> {
  const { certificate, cabundle } = document;
  if (certificate === undefined || cabundle === undefined) {
    checklist.skipRest(PATH_CHECKS, "the document's certificates could not be read");
    return null;
  }
  return checkCertificatePath(
    { certificate, cabundle },
    { ...context, validationTime: time, ownTime: document.timestamp },
    checklist,
  );
}

async function checkSignature(
  message: CoseSign1,
  document: AttestationDocumentReading["value"],
  cache: SignatureCache,
  checklist: Checklist,
): Promise<boolean> {
  const { signature } = message;
  if (signature.length !== P384_SIGNATURE_LENGTH) {
    return checklist.fail(
      "cose.signature",
      `the signature has ${signature.length} bytes, expected ${P384_SIGNATURE_LENGTH}`,
    );
  }
  if (document.certificate === undefined)
    return checklist.skip("cose.signature", "the leaf certificate could not be read");
  const point = pointOfSpki("P-384", document.certificate.subjectPublicKeyInfo);
  const isValid = point !== null && (await cache.verify("P-384", point, signatureInput(message), signature));
  return checklist.conclude("cose.signature", isValid ? [] : ["the leaf certificate's key did not sign this document"]);
}
