/** One certificate as ours and as the others read it, in one form; and damaged ones. */
import "reflect-metadata";
import { X509Certificate as NodeCertificate } from "node:crypto";
import { X509Certificate } from "@peculiar/x509";
import { Certificate } from "pkijs";
import { decodeCertificate } from "../../src/decode/certificate.js";
import { type DerNode, allPaths, edited, parseDer, writeDer } from "../support/der.js";
import { anyBytes, mutated } from "../support/property.js";
import { fc } from "./support.js";

const bytesOf = (buffer: ArrayBuffer | Uint8Array): Uint8Array => new Uint8Array(buffer);
/** Strips what an INTEGER has before its first digit, for who shows it as a number. */
export const digits = (hex: string): string => hex.toLowerCase().replace(/^(?:00)+(?=..)/, "");

export function readOurs(der: Uint8Array): object {
  const certificate = decodeCertificate(der);
  const { version, serialNumber, issuer, subject, notBefore, notAfter, signature, extensions } = certificate;
  return {
    version,
    serialNumber,
    issuer,
    subject,
    notBefore,
    notAfter,
    signature,
    extensions: extensions.map(({ id, critical, value }) => ({ id, critical, value })),
    tbsCertificate: certificate.tbsCertificate,
    innerSignatureAlgorithm: certificate.innerSignatureAlgorithm,
    outerSignatureAlgorithm: certificate.outerSignatureAlgorithm,
    subjectPublicKeyInfo: certificate.subjectPublicKeyInfo,
  };
}

export function readPkijs(der: Uint8Array): object {
  const certificate = Certificate.fromBER(Uint8Array.from(der));
  return {
    version: certificate.version + 1,
    serialNumber: bytesOf(certificate.serialNumber.valueBlock.valueHexView),
    issuer: bytesOf(certificate.issuer.toSchema().toBER()),
    subject: bytesOf(certificate.subject.toSchema().toBER()),
    notBefore: certificate.notBefore.value,
    notAfter: certificate.notAfter.value,
    signature: bytesOf(certificate.signatureValue.valueBlock.valueHexView),
    extensions: (certificate.extensions ?? []).map(({ extnID, critical, extnValue }) => ({
      id: extnID,
      critical,
      value: bytesOf(extnValue.valueBlock.valueHexView),
    })),
    tbsCertificate: bytesOf(certificate.tbsView),
    innerSignatureAlgorithm: bytesOf(certificate.signature.toSchema().toBER()),
    outerSignatureAlgorithm: bytesOf(certificate.signatureAlgorithm.toSchema().toBER()),
    subjectPublicKeyInfo: bytesOf(certificate.subjectPublicKeyInfo.toSchema().toBER()),
  };
}

/** What pkijs makes of the certificate when it writes it again; null where it cannot. */
export function rewritten(der: Uint8Array): Uint8Array | null {
  try {
    return bytesOf(Certificate.fromBER(Uint8Array.from(der)).toSchema(true).toBER());
  } catch {
    return null;
  }
}

/** Of the fields those that it shows. */
export function readPeculiar(der: Uint8Array): object {
  const certificate = new X509Certificate(Uint8Array.from(der));
  return {
    serialNumber: digits(certificate.serialNumber),
    issuer: bytesOf(certificate.issuerName.toArrayBuffer()),
    subject: bytesOf(certificate.subjectName.toArrayBuffer()),
    notBefore: certificate.notBefore,
    notAfter: certificate.notAfter,
    signature: bytesOf(certificate.signature),
    extensions: certificate.extensions.map(({ type, critical, value }) => ({
      id: type,
      critical,
      value: bytesOf(value),
    })),
    subjectPublicKeyInfo: bytesOf(certificate.publicKey.rawData),
  };
}

export function readNode(der: Uint8Array): object {
  const certificate = new NodeCertificate(der);
  return {
    serialNumber: digits(certificate.serialNumber),
    notBefore: new Date(certificate.validFrom),
    notAfter: new Date(certificate.validTo),
  };
}

const LONG_FORMS: readonly ((length: number) => Uint8Array)[] = [
  (length) => Uint8Array.of(0x81, length & 0xff),
  (length) => Uint8Array.of(0x82, length >> 8, length & 0xff),
  (length) => Uint8Array.of(0x83, 0, length >> 8, length & 0xff),
  (length) => Uint8Array.of(0x84, 0, 0, length >> 8, length & 0xff),
];

const contentLength = (node: DerNode): number => {
  const whole = writeDer(node);
  return whole.length - (whole[1]! < 0x80 ? 2 : 2 + (whole[1]! & 0x7f));
};

/** The element with its length in so many bytes after the first. */
export function withLongLength(node: DerNode, width: 1 | 2 | 3 | 4): DerNode {
  return { ...node, length: LONG_FORMS[width - 1]!(contentLength(node)) };
}

/** One change of one element. */
const elementChange: fc.Arbitrary<(node: DerNode) => DerNode> = fc.oneof(
  fc.constantFrom(1 as const, 2 as const, 3 as const, 4 as const).map(
    (width) =>
      (node: DerNode): DerNode =>
        withLongLength(node, width),
  ),
  fc.constant((node: DerNode): DerNode => ({ ...node, length: Uint8Array.of(0x80), trailer: new Uint8Array(2) })),
  fc.uint8Array({ minLength: 1, maxLength: 3 }).map((trailer) => (node: DerNode): DerNode => ({ ...node, trailer })),
  fc
    .constantFrom(0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0c, 0x13, 0x17, 0x18, 0x1f, 0x30, 0x31, 0xa0, 0xa3, 0x81, 0x82)
    .map((tag) => (node: DerNode): DerNode => ({ ...node, tag })),
  fc.nat({ max: 10 }).map((at) => (node: DerNode): DerNode => ({
    ...node,
    children: node.children?.filter((_, index) => index !== at % node.children!.length) ?? null,
  })),
  fc.nat({ max: 10 }).map((at) => (node: DerNode): DerNode => ({
    ...node,
    children:
      node.children?.flatMap((child, index) => (index === at % node.children!.length ? [child, child] : [child])) ??
      null,
  })),
  fc.tuple(fc.nat({ max: 1000 }), fc.nat({ max: 255 })).map(([at, byte]) => (node: DerNode): DerNode => ({
    ...node,
    children: null,
    content: node.content.map((old, index) => (index === at % node.content.length ? byte : old)),
  })),
  fc.uint8Array({ maxLength: 16 }).map((content) => (node: DerNode): DerNode => ({ ...node, children: null, content })),
  fc
    .constantFrom(
      "260231000000Z",
      "20260101000000Z",
      "491231235959Z",
      "500101000000Z",
      "20500101000000Z",
      "2601010000Z",
    )
    .map(
      (text) =>
        (node: DerNode): DerNode =>
          node.tag === 0x17 || node.tag === 0x18
            ? { tag: text.length === 15 ? 0x18 : 0x17, content: Buffer.from(text), children: null }
            : node,
    ),
);

/** Elements changed, bytes changed, or no certificate at all. */
export function damagedCertificate(originals: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> {
  const original = fc.constantFrom(...originals);
  const byElement = fc
    .tuple(original, fc.array(fc.tuple(fc.nat({ max: 10_000 }), elementChange), { minLength: 1, maxLength: 2 }))
    .map(([der, changes]) =>
      writeDer(
        changes.reduce((node, [place, change]) => {
          const paths = allPaths(node);
          return edited(node, paths[place % paths.length]!, change);
        }, parseDer(der)),
      ),
    );
  const lengthened = fc.tuple(original, anyBytes(4)).map(([der, rest]) => Uint8Array.from([...der, ...rest]));
  return fc.oneof({ weight: 6, arbitrary: byElement }, original.chain(mutated), lengthened, anyBytes(60));
}
