/** Compares attestation documents. */
import { isAllZero, toHex } from "../bytes.js";
import { Checklist } from "../checks.js";
import { type AttestationDocument, decodeAttestationDocument } from "../decode/attestation-document.js";
import { type CborValue, decodeCbor } from "../decode/cbor.js";
import { type Certificate, nameText } from "../decode/certificate.js";
import { COSE_SIGN1_TAG, decodeCoseSign1 } from "../decode/cose-sign1.js";
import { checkCommitment } from "../verify/commitment.js";
import { sha256 } from "../verify/digest.js";
import type { ChangeId, Found } from "./changes.js";
import { type Comparer, bytes, ignored, members, ordered, value } from "./comparers.js";
import { type Content, contentOf } from "./content.js";
import { placeIn } from "./place.js";

/** A decoded document, with values that are computed from it. */
export interface DecodedDocument {
  readonly encoding: Uint8Array;
  readonly document: AttestationDocument;
  readonly signature: Uint8Array;
  /** The kind of the commitment in the PCRs. Null means that they hold none. */
  readonly commitment: "live" | "setup" | "legacy" | null;
  readonly certificates: ReadonlyMap<Certificate, string>;
}

/**
 * Decodes a document. `manifestHash` is the hash of the given manifest, or null to use the document's user data. Throws
 * `MalformedError`.
 */
export async function readDocument(encoding: Uint8Array, manifestHash: Uint8Array | null): Promise<DecodedDocument> {
  const document = decodeAttestationDocument(encoding);
  const hash = manifestHash ?? document.userData ?? undefined;
  const commitment = await checkCommitment(document, hash, new Checklist("boot[0]"));
  const certificates = [...document.cabundle, document.certificate];
  return {
    encoding,
    document,
    signature: decodeCoseSign1(encoding).signature,
    commitment: commitment && commitment.kind,
    certificates: new Map(
      await Promise.all(certificates.map(async (one) => [one, await certificateText(one)] as const)),
    ),
  };
}

/** Returns a text about the certificate. It is unique, because it contains the digest. */
export async function certificateText(certificate: Certificate): Promise<string> {
  const { subject, serialNumber, notBefore, notAfter, der } = certificate;
  const [from, to] = [notBefore, notAfter].map((time) => time.toISOString());
  const name = nameText(subject);
  return `${name}, serial number ${toHex(serialNumber)}, ${from} to ${to}, SHA-256 ${toHex(await sha256(der))}`;
}

/**
 * Returns the payload, and the COSE structure around it. The place of the structure differs from that of every member.
 */
export function documentContents(encoding: Uint8Array, place: string): readonly (readonly [string, Content])[] {
  const [header, unprotected, payload, signature] = decodeCbor(encoding, { outermostTag: COSE_SIGN1_TAG }) as [
    CborValue,
    CborValue,
    Uint8Array,
    CborValue,
  ];
  const cose = { protected: contentOf(header), unprotected: contentOf(unprotected), signature: contentOf(signature) };
  return [
    [place, contentOf(decodeCbor(payload, { indefiniteOutermostMap: true }))],
    [cosePlace(place), cose],
  ];
}

function cosePlace(place: string): string {
  return place === "" ? "(COSE)" : `${place}.(COSE)`;
}

/** Changes by PCR. The change of any other PCR is `pcr`. */
const PCR_CHANGES: Readonly<Record<number, ChangeId>> = {
  0: "image.pcr0",
  1: "image.pcr1",
  2: "image.pcr2",
  3: "role",
  4: "instance",
  8: "signing-certificate",
  16: "commitment.register",
  17: "commitment.register",
  18: "commitment.register",
};

type Pcrs = AttestationDocument["pcrs"];

const comparePcrs: Comparer<Pcrs> = (before = new Map(), after = new Map(), place) => {
  const indexes = [...new Set([...before.keys(), ...after.keys()])].sort((a, b) => a - b);
  const changes = indexes.flatMap((index) => {
    const what = PCR_CHANGES[index] ?? "pcr";
    const isOne = Object.values(PCR_CHANGES).filter((id) => id === what).length === 1;
    const entry = isOne ? "" : `PCR${index}`;
    const differences = bytes(what)(before.get(index), after.get(index), placeIn(place, String(index)));
    return differences.map((change) => ({ ...change, entry }));
  });
  return [...changes, ...compareDebug(before, after, place)];
};

function compareDebug(before: Pcrs, after: Pcrs, place: string): readonly Found[] {
  const [was, is] = [before, after].map((pcrs) => [0, 1, 2].some((index) => isZero(pcrs.get(index))));
  const show = (isDebug: boolean): string => (isDebug ? "on (zeros in PCR0 to 2)" : "off");
  return partly(value("debug.enclave", show, () => (was ? "lower" : "changed"))(was, is, place));
}

/** Marks all given changes as partial: there may be other differences at or below their place. */
function partly(changes: readonly Found[]): readonly Found[] {
  return changes.map((change) => ({ ...change, isWhole: false }));
}

function isZero(pcr: Uint8Array | undefined): boolean {
  return pcr !== undefined && isAllZero(pcr);
}

const WIRE_NAMES = { moduleId: "module_id", publicKey: "public_key", userData: "user_data" } as const;

export const compareDocuments: Comparer<DecodedDocument> = (before, after, place) => {
  if (before === undefined || after === undefined) return [];
  const certificate = (one: Certificate): string => (before.certificates.get(one) ?? after.certificates.get(one))!;
  const compare = members<AttestationDocument>(
    {
      moduleId: value("document.module-id"),
      digest: ignored,
      timestamp: ordered("document.time", (time) => new Date(time).toISOString()),
      pcrs: comparePcrs,
      certificate: value("certificate.leaf", certificate),
      cabundle: (one = [], other = [], at) => [
        ...value("certificate.root", certificate)(one[0], other[0], placeIn(at, 0)),
        ...compareIntermediates(one.slice(1).map(certificate), other.slice(1).map(certificate), at),
      ],
      publicKey: bytes("ephemeral-key"),
      userData: bytes("document.user-data"),
      nonce: bytes("document.nonce"),
    },
    WIRE_NAMES,
  );
  return [
    ...compare(before.document, after.document, place),
    ...compareCommitments(before, after, placeIn(place, "pcrs")),
    ...bytes("document.signature")(before.signature, after.signature, placeIn(cosePlace(place), "signature")),
  ];
};

/** Compares intermediate certificates. Only additions and removals are reported. */
function compareIntermediates(before: readonly string[], after: readonly string[], place: string): readonly Found[] {
  const [one, other] = [before.filter((each) => !after.includes(each)), after.filter((each) => !before.includes(each))];
  const compare = value<readonly string[]>("certificate.intermediate", (list) => list.join("\n"));
  return compare(one.length > 0 ? one : undefined, other.length > 0 ? other : undefined, place);
}

const NO_COMMITMENT = "none";

function compareCommitments(before: DecodedDocument, after: DecodedDocument, place: string): readonly Found[] {
  const compare = value<string>("commitment", String, () => after.commitment ?? "changed");
  return partly(compare(before.commitment ?? NO_COMMITMENT, after.commitment ?? NO_COMMITMENT, place));
}
