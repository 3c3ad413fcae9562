/** Certificates as pkijs, @peculiar/x509 and OpenSSL (inside Node) read them: genuine, of the lab, and damaged. */
import { expect, it } from "vitest";
import { equalBytes } from "../../src/bytes.js";
import { decodeAttestationDocument } from "../../src/decode/attestation-document.js";
import { decodeCertificate } from "../../src/decode/certificate.js";
import { NitroPki } from "../../src/lab/pki.js";
import {
  derBitString,
  derExplicit,
  derInteger,
  derOctetString,
  derOid,
  derSequence,
  derSet,
  derTime,
  derUtf8String,
  edited,
  parseDer,
  type DerNode,
  writeDer,
} from "../support/der.js";
import { genuineDocuments } from "../support/vectors.js";
import {
  damagedCertificate,
  digits,
  readNode,
  readOurs,
  readPeculiar,
  readPkijs,
  rewritten,
  withLongLength,
} from "./certificates.js";
import {
  Comparison,
  type Difference,
  type Opinion,
  TIMEOUT,
  fc,
  ours,
  refusedHere,
  runs,
  same,
  theirs,
} from "./support.js";

type Der = Uint8Array;

const lab = new NitroPki();
const labPath = lab.issueChain(lab.chainSpecs(new Date("2026-03-04T05:06:07Z")));
const genuine = [
  ...new Map(
    genuineDocuments()
      .map(({ bytes }) => decodeAttestationDocument(bytes))
      .flatMap(({ cabundle, certificate }) => [...cabundle, certificate])
      .map(({ der }) => [Buffer.from(der).toString("base64"), der]),
  ).values(),
];
const leaf = labPath[4]!;

// Places in a certificate with a version, as lists of child indexes.
const TBS = [0];
const VERSION = [0, 0, 0];
const SERIAL = [0, 1];
const ISSUER = [0, 3];
const NOT_BEFORE = [0, 4, 0];
const VALIDITY = [0, 4];
const FIRST_EXTENSION = [0, 7, 0, 0];

function changed(path: readonly number[], change: (node: DerNode) => DerNode): Der {
  return writeDer(edited(parseDer(leaf), path, change));
}

const holding = (...content: number[]) => ({ content: Uint8Array.from(content), children: null });
const trailed = (node: DerNode): DerNode => ({ ...node, trailer: Uint8Array.of(0x05, 0x00) });

const INDEFINITE = /(?:30|31|a0|a3)80/;
const isRewritten = (der: Der): boolean => {
  const again = rewritten(der);
  return again !== null && equalBytes(again, der);
};

/** Rules of DER and of RFC 5280 that a certificate breaks, and others do not ask. */
const RULES = {
  "bytes after the certificate": {
    why: "Two files would be one certificate, and be told apart by their hashes alone.",
    reason: /bytes after the certificate/,
    example: Uint8Array.from([...leaf, 0]),
    // What stands before is one element.
    confirmed: (der: Der) => (der[2]! << 8) + der[3]! + 4 < der.length || der[1]! < 0x82,
  },
  "a length longer than needed": {
    why: "DER has one encoding of each length (X.690 section 10.1).",
    reason: /a length longer than needed|a length out of range/,
    example: changed(VALIDITY, (node) => withLongLength(node, 1)),
  },
  "an indefinite length": {
    why: "DER has definite lengths alone (X.690 section 10.1).",
    reason: /an indefinite length/,
    example: changed(VALIDITY, (node) => ({ ...node, length: Uint8Array.of(0x80), trailer: new Uint8Array(2) })),
    confirmed: (der: Der) => der.includes(0x80),
  },
  "a boolean that is not DER's TRUE": {
    why: "DER writes TRUE as 0xff and leaves a default out (X.690 sections 11.1 and 11.5).",
    reason: /a boolean that is not DER's TRUE/,
    example: changed([...FIRST_EXTENSION, 1], (node) => ({ ...node, ...holding(1) })),
  },
  "an integer that is negative, empty or longer than needed": {
    why: "A serial number is positive and has one encoding (RFC 5280 section 4.1.2.2, X.690 section 8.3.2).",
    reason: /: negative|an empty integer|(?:serialNumber|version): longer than needed/,
    example: changed(SERIAL, (node) => ({ ...node, ...holding(0x80) })),
  },
  "a version that is written out and is neither 2 nor 3": {
    why: "DER leaves the default out, and there is no fourth version.",
    reason: /version: not 2 or 3/,
    example: changed(VERSION, (node) => ({ ...node, ...holding(3) })),
  },
  "a time in another form, or that there is none": {
    why: "RFC 5280 section 4.1.2.5 leaves one form for each time; lenient readers guess, each its own way.",
    reason: /not a time in its DER form|no such time|GeneralizedTime before/,
    example: changed(NOT_BEFORE, (node) => ({ ...node, content: Buffer.from("2603040506+0000".slice(0, 11)) })),
  },
  "an element that has to be there is missing": {
    why: "A set of a name holds at least one attribute (RFC 5280 section 4.1.2.4).",
    reason: /: missing/,
    example: changed([...ISSUER, 0], (node) => ({ ...node, children: [] })),
  },
  "an object identifier in another form": {
    why: "Each has one encoding (X.690 section 8.19.2); these are cut off, or begin with zeros.",
    reason: /not an object identifier|an object identifier longer than needed/,
    example: changed([...ISSUER, 0, 0, 0], (node) => ({ ...node, ...holding(0x55, 0x80, 0x03) })),
  },
  "more than a type and a value in an attribute of a name": {
    why: "An attribute is these two (RFC 5280 section 4.1.2.4).",
    reason: /bytes after an attribute of/,
    example: changed([...ISSUER, 0, 0], trailed),
  },
  "more elements than the format has": {
    why: "What nobody reads may say anything, and is signed all the same.",
    reason: /bytes after (?:extension |notAfter|the extensions|version|signatureValue)/,
    example: changed(VALIDITY, trailed),
  },
  "another element in the place of the expected one": {
    why: "The format names the tag of each element.",
    reason: /tag 0x[0-9a-f]*[^f], expected 0x|tag 0x[02468ace]f, expected 0x/,
    example: changed([...ISSUER, 0], (node) => ({ ...node, tag: 0xa0 })),
  },
  "a tag in more bytes than one": {
    why: "No element of a certificate has such a tag, and written so it would be a second encoding (X.690 8.1.2.2).",
    reason: /tag 0x[13579bdf]f, expected 0x|a multi-byte tag/,
    // The number 4, then a length of 3: it was a length of 4.
    example: changed([0, 7, 0, 1, 1], (node) => ({ ...node, tag: 0x1f })),
  },
  "an indefinite length whose end what holds it does not count": {
    why: "asn1js reads on where the outer element has ended, by the two bytes that end the inner one.",
    reason: /./,
    // With the length that it had before.
    example: writeDer(
      edited(
        edited(parseDer(leaf), [0, 0], (node) => ({
          ...node,
          length: Uint8Array.of(0x80),
          trailer: new Uint8Array(2),
        })),
        TBS,
        (node) => ({ ...node, length: leaf.slice(5, 8) }),
      ),
    ),
    confirmed: (der: Der) => INDEFINITE.test(Buffer.from(der).toString("hex")) && !isRewritten(der),
  },
  "a signature of no whole bytes": {
    why: "A signature is a DER value, in whole bytes.",
    reason: /not whole bytes/,
    example: changed([2], (node) => ({ ...node, content: Uint8Array.of(1, ...node.content.subarray(1)) })),
  },
} satisfies Record<
  string,
  { why: string; reason: RegExp; example: Der; confirmed?: (der: Der, value: unknown) => boolean }
>;

/** A row for each rule that they do not ask. */
function lax(names: readonly (keyof typeof RULES)[]): Difference<Der>[] {
  return names.map((name) => {
    const {
      confirmed = () => true,
      ...rule
    }: { confirmed?: (der: Der, value: unknown) => boolean } & (typeof RULES)[typeof name] = RULES[name];
    return refusedHere<Der>({ name, ...rule, confirmed });
  });
}

const NAME = derSequence(derSet(derSequence(derOid("2.5.4.3"), derUtf8String("a"))));
const ANY_EXTENSION = derSequence(derOid("1.3.6.1.4.1.99999.1"), derOctetString(Uint8Array.of(0x05, 0x00)));

/** The certificate with other contents in all that we keep as bytes and do not read into. */
function withPlainContents(der: Der): Der {
  const { version, serialNumber, notBefore, notAfter, extensions } = decodeCertificate(der);
  const { subjectPublicKeyInfo, outerSignatureAlgorithm } = decodeCertificate(leaf);
  const tbs = derSequence(
    ...(version === 1 ? [] : [derExplicit(0, derInteger(version - 1))]),
    derInteger(serialNumber),
    outerSignatureAlgorithm,
    NAME,
    derSequence(derTime(notBefore), derTime(notAfter)),
    NAME,
    subjectPublicKeyInfo,
    ...(extensions.length === 0 ? [] : [derExplicit(3, derSequence(ANY_EXTENSION))]),
  );
  return derSequence(tbs, outerSignatureAlgorithm, derBitString(Uint8Array.of(0x30, 0x00)));
}

/** We accept, they refuse: and what they refuse is in what decoding leaves to the checks. */
function contents(read: (der: Der) => object, example: Der): Difference<Der> {
  return {
    name: "refused for the contents of a name, algorithm, key, extension or identifier",
    why: "We keep these as bytes: checks compare them whole, or decode what they ask about.",
    example,
    isIt: (seen) =>
      "value" in seen.ours && "refused" in seen.theirs && "value" in theirs(() => read(withPlainContents(seen.input))),
  };
}

/** Whether some element of a certificate without indefinite lengths ends outside of the one that holds it. */
function endsOutside(der: Der): boolean {
  // Without what follows the certificate.
  const whole = der.subarray(0, 4 + (der[2]! << 8) + der[3]!);
  return !INDEFINITE.test(Buffer.from(der).toString("hex")) && "refused" in theirs(() => parseDer(whole));
}

/** Comes first: where the two read on at different places, what they stumble over says little. */
const OUTSIDE: Difference<Der> = {
  name: "an element that ends outside of what holds it",
  why: "asn1js reads on to the end of the inner element, and takes what follows the outer one for its contents.",
  example: changed([...ISSUER, 2, 0], (node) => ({ ...node, length: Uint8Array.of(0x3e) })),
  isIt: (seen) => "value" in seen.theirs && endsOutside(seen.input),
};

const KEPT = ["issuer", "subject", "innerSignatureAlgorithm", "outerSignatureAlgorithm", "subjectPublicKeyInfo"];

/** Both accept, and all that differs is a part that they cannot but write again. */
function writtenAgain(example: Der): Difference<Der> {
  return {
    name: "a name, algorithm or key that they write otherwise than it stood there",
    why: "They decode these and encode them again; we keep the bytes that were signed.",
    example,
    isIt: (seen) => {
      if (!("value" in seen.ours && "value" in seen.theirs)) return false;
      const [mine, other] = [seen.ours.value, seen.theirs.value] as Record<string, unknown>[];
      const differing = Object.keys(other!).filter((name) => !same(mine![name], other![name]));
      return differing.every((name) => KEPT.includes(name));
    },
  };
}

/** Our reading, of the fields that they show. */
function shownBy(fields: readonly string[]): (der: Der) => Opinion {
  return (der) =>
    ours(() => {
      const all = readOurs(der) as Record<string, unknown>;
      const shown = Object.fromEntries(fields.map((name) => [name, all[name]]));
      const serial = Buffer.from(shown["serialNumber"] as Uint8Array).toString("hex");
      return fields.includes("version") ? shown : { ...shown, serialNumber: digits(serial) };
    });
}

function comparison(
  name: string,
  read: (der: Der) => object,
  differences: readonly Difference<Der>[],
): Comparison<Der> {
  return new Comparison<Der>({
    name,
    ours: shownBy(Object.keys(read(leaf))),
    theirs: (der) => theirs(() => read(der)),
    differences,
    show: (der) => Buffer.from(der).toString("hex"),
  });
}

const PARSERS: (keyof typeof RULES)[] = [
  "bytes after the certificate",
  "a length longer than needed",
  "an indefinite length",
  "an integer that is negative, empty or longer than needed",
  "a version that is written out and is neither 2 nor 3",
  "a time in another form, or that there is none",
  "an element that has to be there is missing",
];
const LIBRARIES: (keyof typeof RULES)[] = [
  ...PARSERS,
  "a boolean that is not DER's TRUE",
  "an object identifier in another form",
  "more than a type and a value in an attribute of a name",
  "more elements than the format has",
  "a signature of no whole bytes",
];
/** After all others: its reason may be any. */
const ASN1JS = "an indefinite length whose end what holds it does not count";
const spki = (path: number[], content: Uint8Array): Der =>
  changed([0, 6, ...path], (node) => ({ ...node, content, children: null }));
const badKey = spki([], Uint8Array.of(0x05, 0x00));
const longKeyOid = changed([0, 6, 0], (node) => withLongLength(node, 1));

const comparisons = [
  comparison("pkijs", readPkijs, [
    OUTSIDE,
    ...lax([...LIBRARIES, "a tag in more bytes than one", ASN1JS]),
    contents(readPkijs, badKey),
    writtenAgain(longKeyOid),
  ]),
  comparison("@peculiar/x509", readPeculiar, [
    OUTSIDE,
    ...lax([...LIBRARIES, "another element in the place of the expected one"]),
    contents(readPeculiar, badKey),
    writtenAgain(longKeyOid),
  ]),
  comparison("OpenSSL in Node", readNode, [
    ...lax([...PARSERS, "a boolean that is not DER's TRUE", "a tag in more bytes than one"]),
    contents(readNode, badKey),
  ]),
];

it("genuine certificates, and those of the lab, are read alike", () => {
  expect(genuine.length).toBeGreaterThan(100);
  for (const der of [...genuine, ...labPath])
    for (const each of comparisons) {
      const before = each.agreed;
      each.hold(der);
      expect(each.agreed).toBe(before + 1);
    }
});

it("pkijs writes genuine certificates again as they are", () => {
  for (const der of [...genuine, ...labPath]) expect(equalBytes(rewritten(der)!, der)).toBe(true);
});

it("damaged certificates", { timeout: TIMEOUT }, () => {
  fc.assert(
    fc.property(damagedCertificate([...genuine.slice(0, 40), ...labPath]), (der) => {
      for (const each of comparisons) each.hold(der);
    }),
    runs(120),
  );
  for (const each of comparisons) expect(each.refusedByBoth).toBeGreaterThan(20);
});
