import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { decodeAttestationDocument } from "../../src/decode/attestation-document.js";
import {
  type Certificate,
  decodeBasicConstraints,
  decodeCertificate,
  decodeKeyUsage,
  nameText,
} from "../../src/decode/certificate.js";
import { hex, join } from "../support/cbor.js";
import {
  type DerNode,
  allPaths,
  contentOf,
  der,
  derLength,
  edited,
  nodeAt,
  parseDer,
  writeDer,
} from "../support/der.js";
import { faultsOf, refusalOf } from "../support/faults.js";
import { genuineDocuments } from "../support/vectors.js";

const DOCUMENTS = genuineDocuments().map(({ bytes }) => decodeAttestationDocument(bytes));
const GENUINE: readonly Certificate[] = [
  ...new Map(
    DOCUMENTS.flatMap(({ certificate, cabundle }) => [...cabundle, certificate]).map((certificate) => [
      toHex(certificate.der),
      certificate,
    ]),
  ).values(),
];
/** A leaf, with basicConstraints and keyUsage. */
const LEAF = DOCUMENTS[0]!.certificate;

// Places in a certificate of version 3, as paths of child indexes.
const TBS = [0],
  OUTER_ALGORITHM = [1],
  SIGNATURE = [2];
const VERSION = [0, 0],
  SERIAL = [0, 1],
  INNER_ALGORITHM = [0, 2],
  ISSUER = [0, 3],
  VALIDITY = [0, 4],
  SUBJECT = [0, 5];
const SPKI = [0, 6],
  EXTENSIONS = [0, 7];
const FIRST_EXTENSION = [...EXTENSIONS, 0, 0];
const FIRST_ATTRIBUTE = [...SUBJECT, 0, 0];

const tree = parseDer(LEAF.der);
const made = (path: readonly number[], change: (node: DerNode) => DerNode): Uint8Array =>
  writeDer(edited(tree, path, change));
const primitive = (tag: number, content: string): DerNode => ({ tag, content: hex(content), children: null });
const replaced = (path: readonly number[], tag: number, content: string): Uint8Array =>
  made(path, () => primitive(tag, content));
const without = (path: readonly number[]): Uint8Array => {
  const index = path.at(-1)!;
  return made(path.slice(0, -1), (node) => ({ ...node, children: node.children!.filter((_, at) => at !== index) }));
};
const ascii = (text: string): string => toHex(new TextEncoder().encode(text));
const UTC = 0x17,
  GENERALIZED = 0x18;
const time = (tag: number, text: string): Uint8Array => replaced([...VALIDITY, 0], tag, ascii(text));

describe("genuine certificates", () => {
  it("are many, and the trees of these tests write them as they were", () => {
    expect(GENUINE.length).toBeGreaterThan(100);
    for (const { der: bytes } of GENUINE) expect(writeDer(parseDer(bytes))).toEqual(bytes);
  });

  it("have the extensions that AWS gives them", () => {
    for (const { cabundle, certificate } of DOCUMENTS) {
      for (const ca of cabundle) {
        const find = (id: string): Certificate["extensions"][number] | undefined =>
          ca.extensions.find((extension) => extension.id === id);
        expect(find("2.5.29.19")).toMatchObject({ critical: true });
        expect(decodeBasicConstraints(find("2.5.29.19")!.value).ca).toBe(true);
        expect(decodeKeyUsage(find("2.5.29.15")!.value)).toMatchObject({ keyCertSign: true });
      }
      const usage = certificate.extensions.find(({ id }) => id === "2.5.29.15")!;
      expect(decodeKeyUsage(usage.value)).toEqual({ digitalSignature: true, keyCertSign: false, cRLSign: false });
    }
  });
});

describe("decodeCertificate refuses", () => {
  it.each<[string, Uint8Array, string]>([
    // Around the certificate.
    ["nothing", new Uint8Array(), "Certificate: missing"],
    ["a length in five bytes", join(hex("3085"), hex("0000000000"), LEAF.der.subarray(4)), "out of range"],
    ["a signature that is an octet string", made(SIGNATURE, (node) => ({ ...node, tag: 0x04 })), "signatureValue: tag"],
    [
      "a signature with unused bits",
      made(SIGNATURE, (node) => ({ ...node, content: join(hex("01"), node.content.subarray(1)) })),
      "not whole bytes",
    ],
    ["a multi-byte tag", made([...FIRST_ATTRIBUTE, 1], (node) => ({ ...node, tag: 0x1f })), "multi-byte tag"],
    ["a version of 258", replaced([...VERSION, 0], 0x02, "0102"), "version: not 2 or 3"],
    ["a negative version", replaced([...VERSION, 0], 0x02, "ff"), "negative"],
    ["an empty serial number", replaced(SERIAL, 0x02, ""), "serialNumber: an empty integer"],
    ["an inner algorithm that is not a sequence", replaced(INNER_ALGORITHM, 0x06, "2a03"), "signature: tag"],
    ["an issuer that is a set", made(ISSUER, (node) => ({ ...node, tag: 0x31 })), "issuer: tag"],
    [
      "an attribute with two values",
      made(FIRST_ATTRIBUTE, (node) => ({ ...node, trailer: hex("0c0141") })),
      "after an attribute of subject",
    ],
    ["an empty identifier", replaced([...FIRST_ATTRIBUTE, 0], 0x06, ""), "not an object identifier"],
    [
      "an identifier that ends inside an arc",
      replaced([...FIRST_ATTRIBUTE, 0], 0x06, "55 04 86"),
      "not an object identifier",
    ],
    ["an identifier longer than needed", replaced([...FIRST_ATTRIBUTE, 0], 0x06, "55 80 04"), "longer than needed"],
    [
      "an endless identifier",
      replaced([...FIRST_ATTRIBUTE, 0], 0x06, "55" + "01".repeat(32)),
      "not an object identifier",
    ],
    ["no key", without(SPKI), "subjectPublicKeyInfo: tag"],
    ["extensions under another tag", made(EXTENSIONS, (node) => ({ ...node, tag: 0xa4 })), "after the extensions"],
    [
      "an extension with two values",
      made(FIRST_EXTENSION, (node) => ({ ...node, trailer: hex("0400") })),
      "after extension",
    ],
    ["criticality in two bytes", replaced([...FIRST_EXTENSION, 1], 0x01, "ffff"), "not DER's TRUE"],
    // Times.
    ["a UTCTime without seconds", time(UTC, "2505052200Z"), "not a time in its DER form"],
    ["a GeneralizedTime before 2050", time(GENERALIZED, "20490505220000Z"), "GeneralizedTime before 2050"],
    ["29 February of a common year", time(UTC, "250229220000Z"), "no such time"],
    ["a time that is text", time(0x0c, "250505220000Z"), "notBefore: tag"],
  ])("%s", (_, bytes, fault) => {
    const refusal = refusalOf(() => decodeCertificate(bytes));
    expect(refusal.code).toBe("certificate");
    expect(refusal.faults).toContain(fault);
  });

  it("a length longer than needed, wherever the decoder reads a length", () => {
    // Inside these the decoder takes the bytes as they are: what is in them is compared or decoded elsewhere.
    const opaque = [OUTER_ALGORITHM, INNER_ALGORITHM, SPKI];
    const inside = (path: readonly number[]): boolean => {
      return opaque.some((whole) => path.length > whole.length && whole.every((index, at) => path[at] === index));
    };
    const readPaths = allPaths(tree).filter((path) => !inside(path));
    expect(readPaths.length).toBeGreaterThan(60);
    for (const path of readPaths) {
      const content = contentOf(nodeAt(tree, path));
      const shortest = derLength(content.length);
      for (const width of [1, 2, 3]) {
        if (width < shortest.length) continue;
        const digits = Array.from(
          { length: width },
          (_, index) => (content.length >> (8 * (width - 1 - index))) & 0xff,
        );
        const bytes = made(path, (node) => ({ ...node, length: Uint8Array.of(0x80 | width, ...digits) }));
        expect(
          faultsOf(() => decodeCertificate(bytes)),
          path.join("."),
        ).toContain("longer than needed");
      }
    }
  });
});

describe("decodeCertificate reads", () => {
  it("unique identifiers where they belong", () => {
    const before = (id: string): Uint8Array =>
      made(TBS, (node) => {
        return {
          ...node,
          children: [...node.children!.slice(0, 7), primitive(0x81, id), primitive(0x82, id), node.children![7]!],
        };
      });
    expect(decodeCertificate(before("0001")).extensions).toEqual(LEAF.extensions);
  });

  it("times of both forms and centuries", () => {
    const notBefore = (tag: number, text: string): string => decodeCertificate(time(tag, text)).notBefore.toISOString();
    expect(notBefore(UTC, "491231235959Z")).toBe("2049-12-31T23:59:59.000Z");
    expect(notBefore(UTC, "500101000000Z")).toBe("1950-01-01T00:00:00.000Z");
    expect(notBefore(UTC, "240229000000Z")).toBe("2024-02-29T00:00:00.000Z");
    expect(notBefore(GENERALIZED, "20500101000000Z")).toBe("2050-01-01T00:00:00.000Z");
    expect(notBefore(GENERALIZED, "99991231235959Z")).toBe("9999-12-31T23:59:59.000Z");
  });

  it("identifiers of every first arc, and long ones", () => {
    const id = (content: string): string => {
      return decodeCertificate(replaced([...FIRST_EXTENSION, 0], 0x06, content)).extensions[0]!.id;
    };
    expect(id("00")).toBe("0.0");
    expect(id("2a 86 48 86 f7 0d 01 01 0b")).toBe("1.2.840.113549.1.1.11");
    expect(id("55 1d 13")).toBe("2.5.29.19");
    expect(id("78")).toBe("2.40");
    expect(id("88 37 03")).toBe("2.999.3");
    expect(id(`69 82 ${"80 ".repeat(17)}01`)).toBe("2.25.170141183460469231731687303715884105729");
  });
});

describe("decodeBasicConstraints", () => {
  it.each([
    ["30 00", { ca: false, pathLen: null }],
    ["30 06 01 01 ff 02 01 7f", { ca: true, pathLen: 127 }],
  ])("reads %s", (bytes, constraints) => {
    expect(decodeBasicConstraints(hex(bytes))).toEqual(constraints);
  });

  it.each([
    ["a path length of 128", "30 07 01 01 ff 02 02 00 80", "out of range"],
    ["the two in the other order", "30 06 02 01 00 01 01 ff", "after pathLenConstraint"],
  ])("refuses %s", (_, bytes, fault) => {
    expect(faultsOf(() => decodeBasicConstraints(hex(bytes)))).toContain(fault);
  });
});

describe("decodeKeyUsage", () => {
  it.each([
    ["03 02 01 86", { digitalSignature: true, keyCertSign: true, cRLSign: true }],
    ["03 03 07 00 80", { digitalSignature: false, keyCertSign: false, cRLSign: false }],
    ["03 01 00", { digitalSignature: false, keyCertSign: false, cRLSign: false }],
  ])("reads %s", (bytes, usage) => {
    expect(decodeKeyUsage(hex(bytes))).toEqual(usage);
  });

  it.each([
    ["nothing", "", "missing"],
    ["unused bits beyond a byte", "03 02 08 00", "not a bit string"],
    ["unused bits of no byte", "03 01 07", "shortest form"],
    ["a one among the unused bits", "03 02 07 c0", "shortest form"],
    ["three bytes", "03 04 00 00 00 01", "not a bit string"],
  ])("refuses %s", (_, bytes, fault) => {
    expect(faultsOf(() => decodeKeyUsage(hex(bytes)))).toContain(fault);
  });
});

describe("nameText", () => {
  const attribute = (type: string, tag: number, value: string): Uint8Array =>
    der(0x30, der(0x06, hex(type)), der(tag, hex(value)));

  it("shows attributes that it does not know, and bytes that are no text", () => {
    expect(nameText(der(0x30, der(0x31, attribute("55042a", 0x0c, "41"))))).toBe("2.5.4.42=A");
    expect(nameText(der(0x30, der(0x31, attribute("550403", 0x1e, "ff41"))))).toBe("CN=ff41");
    expect(nameText(der(0x30, der(0x31, attribute("550406", 0x13, "5553"), attribute("550403", 0x0c, "61"))))).toBe(
      "C=US, CN=a",
    );
    expect(nameText(hex("3000"))).toBe("");
  });
});
