/** The evidence, each file with its name, digest, byte strings in full and description. */
import { fromHex, toHex, toUtf8 } from "../bytes.js";
import { readAppProof } from "../decode/app-proof.js";
import { MAX_APP_PROOFS } from "../decode/app-proof-limits.js";
import { type AttestationDocument, readAttestationDocument } from "../decode/attestation-document.js";
import { readBootProof } from "../decode/boot-proof.js";
import { decodeCoseSign1 } from "../decode/cose-sign1.js";
import { type InputCopy, copyInput, unwrap, withoutPrototype } from "../decode/input.js";
import { isJsonObject } from "../decode/json.js";
import { P256_POINT_LENGTH, P256_SIGNATURE_LENGTH } from "../decode/lengths.js";
import { type Reading, attempt } from "../errors.js";
import type { InputPiece } from "../inputs.js";
import { type Described, bounded } from "../inspect/described.js";
import { inspectDocument } from "../inspect/documents.js";
import { inspectActivity, inspectAppProof, inspectBootProof } from "../inspect/evidence.js";
import { shownObject } from "../inspect/shown.js";
import { evidencePiece, labelOf } from "../report/labels.js";
import { printable, quoted } from "../report/printable.js";
import type { Report } from "../report/report.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";
import { shownValue, valueList } from "./checks.js";
import { type Markup, element } from "../show/markup.js";

interface Content {
  readonly bytes: readonly (readonly [name: string, bytes: Uint8Array])[];
  readonly faults: readonly string[];
  readonly says: Described;
}

/** Limit of the values under "All that it says". Each takes 1 kB of memory, and genuine evidence has fewer. */
const MAX_SHOWN_VALUES = 150_000;

/** Shows each piece of evidence to unfold under its name. `isBare` means a bare attestation document. */
export async function evidencePieces(
  pieces: readonly InputPiece[],
  isBare: boolean,
  report: Report,
): Promise<readonly Markup[]> {
  const shown: Markup[] = [];
  const budget = { left: MAX_SHOWN_VALUES };
  for (const piece of pieces) {
    const { says, ...content } = await contentOf(piece, isBare);
    shown.push(pieceDetails(piece, { ...content, says: bounded(says, budget).value }, report));
  }
  return shown;
}

function pieceDetails({ subject, piece }: InputPiece, { bytes, faults, says }: Content, report: Report): Markup {
  const entry = evidencePiece(subject, report.evidence);
  const asked = piece.latestOf ?? (entry && withoutPrototype(entry).latestOf);
  return element(
    "details",
    { class: "piece" },
    element("summary", {}, element("strong", {}, labelOf(subject, report)), " ", digestOf(entry?.sha256 ?? null)),
    asked === undefined || asked === null
      ? null
      : element("p", {}, `Requested as the newest boot proof of ${quoted(asked)}: only the service claims that it is.`),
    faults.length === 0
      ? null
      : element(
          "div",
          { class: "faults" },
          element("p", {}, "Faults in its format:"),
          element(
            "ul",
            {},
            faults.map((fault) => element("li", {}, printable(fault))),
          ),
        ),
    bytes.map(([name, value]) => bytesDetails(name, value)),
    element("details", {}, element("summary", {}, "Its content, decoded and not verified"), tree(says)),
  );
}

function digestOf(sha256: string | null): Markup {
  return sha256 === null
    ? element("span", { class: "digest" }, "no digest: passed as a value, not as bytes")
    : element("span", { class: "digest" }, "SHA-256 ", shownValue(sha256));
}

function bytesDetails(name: string, bytes: Uint8Array): Markup {
  const length = bytes.length === 1 ? "1 byte" : `${bytes.length} bytes`;
  return element(
    "details",
    { class: "bytes" },
    element("summary", {}, `${name}, ${length}`),
    element("code", { class: "hex" }, toHex(bytes)),
  );
}

async function contentOf({ subject, piece }: InputPiece, isBare: boolean): Promise<Content> {
  const { value } = piece;
  if (VerifiedBootProof.isVerified(value))
    return { bytes: certificateBytes(value.attestation.document), faults: [], says: await shownObject(value) };
  if (isBare) {
    const bytes = value instanceof Uint8Array ? value : new Uint8Array();
    return { ...(await inspectDocument(bytes)), bytes: documentBytes(bytes) };
  }
  const input = copyInput(value);
  if (input.value === undefined) return unreadable(value, input);
  const kind = subject.split("[", 1)[0];
  if (kind === "boot") return { ...(await inspectBootProof(input.value)), bytes: bootBytes(input.value) };
  if (kind === "app") return { ...(await inspectAppProof(input.value)), bytes: appBytes(input.value) };
  return { ...(await inspectActivity(input.value)), bytes: activityBytes(input.value) };
}

/** Shows input that could not be read, with its faults. */
function unreadable(value: unknown, { faults }: InputCopy): Content {
  const bytes = typeof value === "string" ? toUtf8(value) : value;
  return {
    bytes: bytes instanceof Uint8Array ? [["As received", bytes]] : [],
    faults: faults.map(({ message }) => message),
    says: typeof value === "string" ? value : null,
  };
}

type Bytes = Content["bytes"];

function bootBytes(json: unknown): Bytes {
  const { ephemeralPublicKey, attestationDocument, manifest, manifestEnvelope } = readBootProof(json).value;
  return [
    ...(attestationDocument === undefined ? [] : documentBytes(attestationDocument)),
    ...present({
      Manifest: manifest,
      "Manifest envelope, with the approvals": manifestEnvelope,
      "Ephemeral key, as the service names it": ephemeralPublicKey,
    }),
  ];
}

function documentBytes(document: Uint8Array): Bytes {
  const cose = attempt(() => decodeCoseSign1(document)).value;
  const whole = present({ "Attestation document (COSE_Sign1)": document });
  if (cose === undefined) return whole;
  const { pcrs, publicKey, userData, nonce, ...certificates } = readAttestationDocument(cose.payload).value;
  return [
    ...whole,
    ...present({ "Its signed payload (CBOR)": cose.payload, "Its signature": cose.signature }),
    ...certificateBytes(certificates),
    ...[...(pcrs ?? [])].map(([index, value]) => [`PCR${index}`, value] as const),
    ...present({ "Attested public key": publicKey, "Attested user data": userData, "Attested nonce": nonce }),
  ];
}

function certificateBytes({ cabundle = [], certificate }: Reading<AttestationDocument>["value"]): Bytes {
  const chain = cabundle.map(({ der }, index) => [`Certificate ${index} of the bundle (DER)`, der] as const);
  return [...chain, ...present({ "Leaf certificate, whose key signed the document (DER)": certificate?.der })];
}

function appBytes(json: unknown): Bytes {
  const proof = unwrap(json, "appProof");
  const { proofPayload, publicKey, signature } = readAppProof(proof).value;
  const isHalf = publicKey?.length === P256_POINT_LENGTH;
  return present({
    "Signed payload (UTF-8)": proofPayload === undefined ? undefined : toUtf8(proofPayload),
    "Signature over the payload": signature,
    "The same signature as received (DER)": signature && derOf(proof),
    [isHalf ? "Key that signed it: the signing half" : "Key that signed it"]: publicKey,
  });
}

/** Returns the signature of an app proof in DER, as received. Null if it was received as `r ‖ s`. */
function derOf(proof: unknown): Uint8Array | null {
  const { signature } = isJsonObject(proof) ? proof : {};
  const bytes = typeof signature === "string" ? fromHex(signature) : null;
  return bytes?.length === P256_SIGNATURE_LENGTH ? null : bytes;
}

function activityBytes(json: unknown): Bytes {
  const { appProofs } = (unwrap(json, "activity") ?? {}) as { readonly appProofs?: unknown };
  if (!Array.isArray(appProofs)) return [];
  return appProofs.slice(0, MAX_APP_PROOFS).flatMap((proof, index) => {
    return appBytes(proof).map(([name, bytes]) => [`Its app proof ${index}: ${name}`, bytes] as const);
  });
}

function present(bytes: Readonly<Record<string, Uint8Array | null | undefined>>): Bytes {
  return Object.entries(bytes).flatMap(([name, value]) => (value ? [[name, value] as const] : []));
}

function tree(value: Described | undefined): Markup {
  if (value === null || value === undefined || typeof value !== "object") return shownValue(String(value));
  if (!Array.isArray(value))
    return valueList(
      Object.entries(value).flatMap(([name, member]) => (member === undefined ? [] : [[name, tree(member)] as const])),
    );
  return element(
    "ol",
    { class: "items", start: "0" },
    value.map((item: Described) => element("li", {}, tree(item))),
  );
}
