/** Attacks on the attestation document: the COSE_Sign1 around it, its headers and signature, and its fields. */
import { concatBytes, fromHex, toUtf8 } from "../../src/bytes.js";
import { generateKeyPair, signDer, signRaw } from "../../src/lab/keys.js";
import { CHAIN } from "../../src/lab/pki.js";
import { type CborInput, Raw, encodeCbor } from "../support/cbor.js";
import {
  cborEntries,
  cborFloat,
  cborTextOf,
  withHeadWidth,
  withIndefiniteLength,
  withTag,
} from "../support/odd-cbor.js";
import {
  AT,
  type Alterations,
  type Attack,
  type DocumentEdits,
  BEHIND,
  type Judgement,
  RSA,
  after,
  certificate,
  document,
  field,
  flip,
  hex,
  lab,
  lie,
  overwrite,
  pcr,
  pcrs,
  failing,
} from "./support.js";
import { derTrue } from "../support/der.js";

/** CBOR has it, but the profile does not. */
const UNDEFINED = new Raw(Uint8Array.of(0xf7));
const SIMPLE_32 = new Raw(Uint8Array.of(0xf8, 0x20));
const SIGNATURE_LENGTH = 96;
const ORDER = "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973";

const raw = (text: string): Raw => new Raw(fromHex(text)!);
const bytes = (text: string): Uint8Array => fromHex(text)!;

/** A map with these entries, some of them twice. */
const pairs = (...list: [CborInput, CborInput][]): CborInput => cborEntries(list);
const protectedPairs = (...list: [CborInput, CborInput][]): DocumentEdits => ({
  protectedHeader: () => encodeCbor(cborEntries(list)),
});
const protectedBytes = (text: string): DocumentEdits => ({ protectedHeader: () => bytes(text) });
const reencoded = (place: number, encoding: (der: Uint8Array) => Uint8Array): Alterations =>
  certificate(place, () => ({ encoding }));

/** One item of the COSE_Sign1 replaced. */
function item(place: number, change: (item: Uint8Array) => CborInput): Alterations {
  return document({
    items: (items) => items.map((value, index) => (index === place ? change(value as Uint8Array) : value)),
  });
}

const structure: [string, Alterations][] = [
  ["a byte after the end", lie("malformed-cose")],
  ["a second document after the first", document({ cose: (cose) => concatBytes(cose, cose) })],
  ["the last byte cut off", document({ cose: (cose) => cose.subarray(0, -1) })],
  ["cut in half", document({ cose: (cose) => cose.subarray(0, cose.length / 2) })],
  ["an empty array", document({ items: () => [] })],
  ["an array that says it is longer than all memory", document({ cose: () => bytes("9bffffffffffffffff") })],
  ["three items", document({ items: (items) => items.slice(0, 3) })],
  ["five items", document({ items: (items) => [...items, new Uint8Array()] })],
  ["a map in place of the array", document({ items: (items) => new Map(items.map((value, index) => [index, value])) })],
  ["text in place of the array", document({ items: () => "Signature1" })],
  ["the payload alone, no COSE around it", document({ items: (items) => new Raw(items[2] as Uint8Array) })],
  ["tag 17, a COSE_Mac0", document({ items: (items) => withTag(17, items) })],
  ["tag 98, a COSE_Sign", document({ items: (items) => withTag(98, items) })],
  ["tag 61, a CWT, around tag 18", document({ items: (items) => withTag(61, withTag(18, items)) })],
  ["tag 18 twice", document({ items: (items) => withTag(18, withTag(18, items)) })],
  ["tag 18 in a longer head than needed", document({ cose: (cose) => concatBytes(bytes("d812"), cose) })],
  ["tag 18 with a byte after the end", document({ cose: (cose) => concatBytes(bytes("d2"), cose, bytes("00")) })],
  ["an array of indefinite length", document({ items: (items) => withIndefiniteLength(items) })],
  ["an array whose head is longer than needed", document({ items: (items) => withHeadWidth(items, 1) })],
  ["the protected header as a map, not in a byte string", item(0, (header) => new Raw(header))],
  ["the protected header as text", item(0, () => "")],
  ["the protected header's head longer than needed", item(0, (header) => withHeadWidth(header, 1))],
  ["the protected header in chunks", item(0, (header) => withIndefiniteLength(header))],
  ["the unprotected header null", item(1, () => null)],
  ["the unprotected header an array", item(1, () => [])],
  ["the unprotected header a byte string", item(1, () => bytes("a0"))],
  ["the unprotected header of indefinite length", item(1, () => withIndefiniteLength(new Map()))],
  ["an unprotected header key twice", item(1, () => pairs([4, "a"], [4, "b"]))],
  ["the payload detached", item(2, () => null)],
  ["the payload empty", document({ payload: () => new Uint8Array() })],
  [
    "the payload of 16385 bytes",
    document({ payload: (payload) => concatBytes(payload, new Uint8Array(16385 - payload.length)) }),
  ],
  ["the payload as text", item(2, (payload) => cborTextOf(payload))],
  ["the payload as its map, not in a byte string", item(2, (payload) => new Raw(payload))],
  ["the payload's head longer than needed", item(2, (payload) => withHeadWidth(payload, 4))],
  ["the payload in chunks", item(2, (payload) => withIndefiniteLength(payload))],
  ["the signature null", item(3, () => null)],
  ["the signature as text", item(3, () => "signature")],
  ["the signature under a tag", item(3, (signature) => withTag(24, signature))],
  ["the signature's head longer than needed", item(3, (signature) => withHeadWidth(signature, 2))],
  ["the signature in chunks", item(3, (signature) => withIndefiniteLength(signature))],
];

/** Every one of these headers has a valid signature. */
const headers: [string, DocumentEdits][] = [
  ["ES512", protectedBytes("a1013823")],
  ["EdDSA", protectedBytes("a10127")],
  ["HMAC 256", protectedBytes("a10105")],
  ["the algorithm as text", { protectedHeader: () => encodeCbor(new Map([[1, "ES384"]])) }],
  ["an empty map", protectedBytes("a0")],
  ["nothing at all", { protectedHeader: () => new Uint8Array() }],
  [
    "the algorithm in the unprotected header only",
    { protectedHeader: () => new Uint8Array(), unprotectedHeader: new Map([[1, -35]]) },
  ],
  ["a key id beside the algorithm", protectedPairs([1, -35], [4, "k"])],
  ["crit beside the algorithm", protectedPairs([1, -35], [2, [1]])],
  ["the algorithm twice", protectedPairs([1, -35], [1, -35])],
  ["ES384, then another algorithm", protectedPairs([1, -35], [1, -7])],
  ["-35 in a longer head than needed", protectedBytes("a101390022")],
  ["key 1 in a longer head than needed", protectedBytes("a118013822")],
  ["a map of indefinite length", protectedBytes("bf013822ff")],
  ["a byte after the map", protectedBytes("a101382200")],
  ["bytes that are no CBOR", protectedBytes("ff")],
  ["an algorithm in the unprotected header too", { unprotectedHeader: new Map([[1, -35]]) }],
  ["a key id in the unprotected header", { unprotectedHeader: new Map<CborInput, CborInput>([[4, bytes("6b")]]) }],
  ["a text key in the unprotected header", { unprotectedHeader: new Map([["x", 1]]) }],
];

/** The leaf's key, for signatures over something other than the Sig_structure. */
const leafKey = lab.pki.chainSpecs(AT)[CHAIN.leaf]!.key;
const sigStructure = (header: CborInput, payload: CborInput): Uint8Array =>
  encodeCbor(["Signature1", header, new Uint8Array(), payload]);

/** Signed with the leaf's key, but over another message or with another algorithm than ES384. */
function signedAs(sign: (header: Uint8Array, payload: Uint8Array) => Uint8Array): Alterations {
  return document({
    items: ([header, unprotected, payload]) => [
      header!,
      unprotected!,
      payload!,
      sign(header as Uint8Array, payload as Uint8Array),
    ],
  });
}

const signatures: [string, Alterations][] = [
  ["of another key", document({ signer: generateKeyPair("secp384r1") })],
  ["of the instance certificate's key", document({ signer: lab.pki.chainSpecs(AT)[CHAIN.instance]!.key })],
  ["of the root's key", document({ signer: lab.pki.rootSpec.key })],
  ["with a bit of r turned over", document({ signature: (signature) => flip(signature, 0) })],
  ["with a bit of s turned over", lie("altered-document")],
  [
    "with r and s exchanged",
    document({ signature: (signature) => concatBytes(signature.subarray(48), signature.subarray(0, 48)) }),
  ],
  ["of zeros", document({ signature: () => new Uint8Array(SIGNATURE_LENGTH) })],
  ["with r zero", document({ signature: (signature) => concatBytes(new Uint8Array(48), signature.subarray(48)) })],
  ["with s zero", document({ signature: (signature) => concatBytes(signature.subarray(0, 48), new Uint8Array(48)) })],
  [
    "with r the order of the curve",
    document({ signature: (signature) => concatBytes(bytes(ORDER), signature.subarray(48)) }),
  ],
  [
    "with s the order of the curve",
    document({ signature: (signature) => concatBytes(signature.subarray(0, 48), bytes(ORDER)) }),
  ],
  [
    "of ones",
    document({ signature: () => concatBytes(new Uint8Array(47), bytes("01"), new Uint8Array(47), bytes("01")) }),
  ],
  ["empty", document({ signature: () => new Uint8Array() })],
  ["one byte short", document({ signature: (signature) => signature.subarray(0, -1) })],
  ["one byte long", document({ signature: (signature) => concatBytes(signature, bytes("00")) })],
  ["in DER", signedAs((header, payload) => signDer(leafKey, "sha384", sigStructure(header, payload)))],
  ["over the payload alone", signedAs((_, payload) => signRaw(leafKey, "sha384", payload))],
  [
    "in the context Signature",
    signedAs((header, payload) =>
      signRaw(leafKey, "sha384", encodeCbor(["Signature", header, new Uint8Array(), payload])),
    ),
  ],
  [
    "with external data",
    signedAs((header, payload) => signRaw(leafKey, "sha384", encodeCbor(["Signature1", header, bytes("00"), payload]))),
  ],
  [
    "over an empty protected header",
    signedAs((_, payload) => signRaw(leafKey, "sha384", sigStructure(new Uint8Array(), payload))),
  ],
  ["by SHA-256", signedAs((header, payload) => signRaw(leafKey, "sha256", sigStructure(header, payload)))],
  ["by SHA-512", signedAs((header, payload) => signRaw(leafKey, "sha512", sigStructure(header, payload)))],
  [
    "before the payload was changed",
    item(2, (payload) => overwrite(payload, toUtf8("i-0123456789abcdef0-enc"), toUtf8("i-0123456789abcdef1-enc"))),
  ],
];

/** Fields of the wrong kind or size, all with valid signatures. */
const fields: [string, Alterations][] = [
  ["no module_id", field("module_id", undefined)],
  ["an empty module_id", field("module_id", "")],
  ["module_id as bytes", field("module_id", toUtf8("i-0"))],
  ["module_id null", field("module_id", null)],
  ["no digest", field("digest", undefined)],
  ["digest SHA256", lie("malformed-document")],
  ["digest SHA512", field("digest", "SHA512")],
  ["digest in lower case", field("digest", "sha384")],
  ["no timestamp", field("timestamp", undefined)],
  ["timestamp 0", field("timestamp", 0)],
  ["a negative timestamp", field("timestamp", -AT.getTime())],
  ["a timestamp as text", field("timestamp", String(AT.getTime()))],
  ["a timestamp as bytes", field("timestamp", bytes("019cb72f8d38"))],
  ["a timestamp beyond all calendars", field("timestamp", 2n ** 64n - 1n)],
  ["no pcrs", field("pcrs", undefined)],
  ["pcrs as an array", field("pcrs", [new Uint8Array(48)])],
  ["no PCR at all", field("pcrs", new Map())],
  ["33 PCRs", pcr(32, new Uint8Array(48))],
  ["no certificate", field("certificate", undefined)],
  ["an empty certificate", field("certificate", new Uint8Array())],
  ["a certificate that is none", field("certificate", toUtf8("certificate"))],
  ["a certificate as text", field("certificate", "certificate")],
  ["a certificate in PEM", field("certificate", toUtf8("-----BEGIN CERTIFICATE-----"))],
  [
    "a leaf of more than 1024 bytes",
    certificate(CHAIN.leaf, (spec) => ({ extensions: [...spec.extensions, padding(600)] })),
  ],
  [
    "an instance certificate of more than 1024 bytes",
    certificate(CHAIN.instance, (spec) => ({ extensions: [...spec.extensions, padding(600)] })),
  ],
  ["no cabundle", field("cabundle", undefined)],
  ["an empty cabundle", document({ cabundle: () => [] })],
  ["cabundle as one byte string", document({ fields: (map) => map.set("cabundle", lab.pki.rootCertificate) })],
  ["an empty entry in cabundle", document({ cabundle: (list) => [...list, new Uint8Array()] })],
  [
    "text in cabundle",
    document({ fields: (map) => map.set("cabundle", [...(map.get("cabundle") as CborInput[]), "certificate"]) }),
  ],
  ["public_key of 1025 bytes", field("public_key", new Uint8Array(1025))],
  [
    "public_key as text",
    document({ fields: (map) => map.set("public_key", hex(map.get("public_key") as Uint8Array)) }),
  ],
  ["user_data of 1025 bytes", field("user_data", new Uint8Array(1025))],
  ["user_data as a number", field("user_data", 1)],
  ["nonce as text", field("nonce", "nonce")],
  ["nonce false", field("nonce", false)],
  ["a key that is a number", document({ fields: (map) => map.set(1, "one") })],
  ["a key that is bytes", document({ fields: (map) => map.set(toUtf8("nonce"), null) })],
  ["__proto__ as a key", field("__proto__", new Map())],
  ["constructor as a key", field("constructor", "x")],
  ["prototype as a key", field("prototype", null)],
  [
    "a NitroTPM document",
    document({ fields: (map) => (map.set("nitrotpm_pcrs", map.get("pcrs")!), map.delete("pcrs"), map) }),
  ],
];

/** Certificates that are not one strict DER certificate each. */
const certificates: [string, Alterations][] = [
  ["a byte after the leaf", reencoded(CHAIN.leaf, (der) => concatBytes(der, bytes("00")))],
  ["a byte after an intermediate", reencoded(CHAIN.zone, (der) => concatBytes(der, bytes("00")))],
  [
    "a second certificate after an intermediate",
    reencoded(CHAIN.zone, (der) => concatBytes(der, lab.pki.rootCertificate)),
  ],
  ["the leaf cut off", reencoded(CHAIN.leaf, (der) => der.subarray(0, -1))],
  ["a length beyond the end", reencoded(CHAIN.leaf, (der) => concatBytes(bytes("3084ffffffff"), der.subarray(4)))],
  ["a length longer than DER's", reencoded(CHAIN.leaf, (der) => concatBytes(bytes("308300"), der.subarray(2)))],
  [
    "an indefinite length, which is BER",
    reencoded(CHAIN.zone, (der) => concatBytes(bytes("3080"), der.subarray(4), bytes("0000"))),
  ],
  [
    "a negative serial number",
    reencoded(CHAIN.zone, (der) => overwrite(der, bytes("a0030201020210"), bytes("a00302010202d0"))),
  ],
  ["version 1 written out", reencoded(CHAIN.zone, (der) => overwrite(der, bytes("a003020102"), bytes("a003020100")))],
  [
    "a boolean that is BER's TRUE",
    reencoded(CHAIN.zone, (der) =>
      overwrite(der, concatBytes(bytes("0603551d13"), derTrue()), bytes("0603551d13010101")),
    ),
  ],
  ["the 31st of February", reencoded(CHAIN.zone, (der) => overwrite(der, toUtf8("260302"), toUtf8("260231")))],
];

function padding(length: number): { id: string; critical: boolean; value: Uint8Array } {
  return {
    id: "1.3.6.1.4.1.99999.1",
    critical: false,
    value: concatBytes(bytes("0482"), Uint8Array.of(length >> 8, length & 255), new Uint8Array(length)),
  };
}

/** Encodings of the document's map that the profile forbids, with valid signatures. */
const encodings: [string, Alterations][] = [
  ["digest twice", entries((list) => [...list, ["digest", "SHA384"]])],
  ["user_data twice, with different values", entries((list) => [...list, ["user_data", new Uint8Array(32)]])],
  ["a key twice, the second in a longer head", entries((list) => [...list, [withHeadWidth("digest", 1), "SHA384"]])],
  ["a PCR twice", field("pcrs", pairs([0, new Uint8Array(48)], [0, new Uint8Array(48).fill(1)]))],
  ["a key twice inside an unknown value", field("extra", pairs(["a", 1], ["a", 2]))],
  [
    "a longer head of a number",
    document({
      fields: (map) => map.set("timestamp", 1_700_000_000).set("timestamp", withHeadWidth(1_700_000_000, 8)),
    }),
  ],
  [
    "a longer head of a PCR's index",
    rewrapped("pcrs", (value) =>
      cborEntries(
        [...(value as Map<number, Uint8Array>)].map(([index, pcr]) => [index === 0 ? withHeadWidth(0, 1) : index, pcr]),
      ),
    ),
  ],
  ["a longer head of a text", field("digest", withHeadWidth("SHA384", 1))],
  ["a longer head of a byte string", rewrapped("user_data", (value) => withHeadWidth(value, 2))],
  ["a longer head of an array", rewrapped("cabundle", (value) => withHeadWidth(value, 1))],
  ["a longer head of a map", rewrapped("pcrs", (value) => withHeadWidth(value, 2))],
  ["pcrs of indefinite length", rewrapped("pcrs", withIndefiniteLength)],
  ["cabundle of indefinite length", rewrapped("cabundle", withIndefiniteLength)],
  ["a text in chunks", rewrapped("module_id", withIndefiniteLength)],
  ["a byte string in chunks", rewrapped("user_data", withIndefiniteLength)],
  ["a tag around the timestamp", rewrapped("timestamp", (value) => withTag(1, value))],
  ["a tag around user_data", rewrapped("user_data", (value) => withTag(24, value))],
  ["a tag around the whole", document({ fields: (map) => withTag(55799, map) })],
  ["a timestamp as a float", field("timestamp", cborFloat(AT.getTime()))],
  ["an undefined value", field("nonce", UNDEFINED)],
  ["a simple value", field("nonce", SIMPLE_32)],
  ["a reserved head", field("nonce", raw("1c"))],
  ["a text that is not UTF-8", field("module_id", cborTextOf(bytes("692dc328")))],
  ["a key that is not UTF-8", document({ fields: (map) => map.set(cborTextOf(bytes("ff")), 1) })],
  ["a surrogate in a text", field("module_id", cborTextOf(bytes("eda080")))],
  ["a byte after the map", document({ payload: (payload) => concatBytes(payload, bytes("00")) })],
  [
    "a byte after the map of indefinite length",
    document({ indefinite: true, payload: (payload) => concatBytes(payload, bytes("ff")) }),
  ],
  [
    "a map of indefinite length without its end",
    document({ indefinite: true, payload: (payload) => payload.subarray(0, -1) }),
  ],
  [
    "a map of indefinite length with a key and no value",
    document({ indefinite: true, payload: (payload) => concatBytes(payload.subarray(0, -1), bytes("6161ff")) }),
  ],
  [
    "one entry fewer than the head says",
    document({ payload: (payload) => concatBytes(Uint8Array.of(payload[0]! + 1), payload.subarray(1)) }),
  ],
  [
    "one entry more than the head says",
    document({ payload: (payload) => concatBytes(Uint8Array.of(payload[0]! - 1), payload.subarray(1)) }),
  ],
  ["an array in place of the map", document({ fields: (map) => [...map.values()] })],
  ["bytes that are no CBOR", document({ payload: () => bytes("ffffffff") })],
  ["a byte string longer than all memory", field("nonce", raw("5b7fffffffffffffff"))],
  ["a text longer than the rest", field("nonce", raw("7affffffff"))],
  ["an array of four thousand million items", field("extra", raw("9affffffff"))],
  ["a map of more entries than can be counted", field("extra", raw("bbffffffffffffffff"))],
  [
    "arrays nested five thousand deep",
    field("extra", new Raw(concatBytes(new Uint8Array(5000).fill(0x81), bytes("00")))),
  ],
  [
    "tags nested five thousand deep",
    field("extra", new Raw(concatBytes(new Uint8Array(5000).fill(0xc1), bytes("00")))),
  ],
  ["JSON", document({ payload: () => toUtf8('{"module_id":"i-0"}') })],
];

function entries(change: (list: [CborInput, CborInput][]) => [CborInput, CborInput][]): Alterations {
  return document({ fields: (map) => cborEntries(change([...map])) });
}

/** A field's valid value in another encoding. */
function rewrapped(name: string, encode: (value: CborInput) => CborInput): Alterations {
  return document({ fields: (map) => map.set(name, encode(map.get(name)!)) });
}

/** The checks that need these PCRs fail too: more than the structure fails. */
const brokenPcrs: Attack[] = [
  ...failing("doc.structure", "", [
    ["a PCR of 32 bytes", { generation: "legacy", ...pcr(9, new Uint8Array(32)) }],
    ["a PCR of 64 bytes", { generation: "legacy", ...pcr(9, new Uint8Array(64)) }],
    ["a PCR of 47 bytes", { generation: "legacy", ...pcr(9, new Uint8Array(47)) }],
    ["an empty PCR", { generation: "legacy", ...pcr(9, new Uint8Array()) }],
  ]),
  {
    name: "PCR32 in place of PCR31",
    forge: pcrs((map) => map.set(32, map.get(31)!).delete(31)),
    fails: ["doc.structure"],
    more: true,
  },
  ...failing("doc.structure", "", [
    ["a PCR as text", { generation: "legacy", ...rewrappedPcr(9, "0".repeat(48)) }],
    ["a PCR null", { generation: "legacy", ...rewrappedPcr(9, null) }],
    ["a PCR's index as text", { generation: "legacy", ...rewrappedPcr("9", new Uint8Array(48)) }],
    ["a negative PCR index", { generation: "legacy", ...rewrappedPcr(-1, new Uint8Array(48)) }],
  ]),
  { name: "a nonce of 1025 bytes", forge: field("nonce", new Uint8Array(1025)), fails: ["doc.structure"], more: true },
];

function rewrappedPcr(index: CborInput, value: CborInput): Alterations {
  return rewrapped("pcrs", (map) => new Map([...(map as Map<CborInput, CborInput>), [index, value]]));
}

/** A document dated ahead, under a policy without a maxAge unless the row has one. */
const dated: [string, Judgement][] = [
  ["five minutes and a millisecond ahead", { now: BEHIND }],
  ["seven years ahead", { now: after(-7 * 366 * 86_400) }],
  ["a day ahead, where the certificates are validated at its time", { now: after(-86_400), validAt: AT }],
  ["a day ahead, under a maxAge", { now: after(-86_400), policy: { maxAge: "30d" } }],
  ["a day ahead, where the caller limits its age", { now: after(-86_400), maxAgeMs: 60_000 }],
  ["a day ahead, without a policy", { now: after(-86_400), noPolicy: true }],
];

/** A leaf whose key is of another kind cannot have signed with ES384. */

export const DOCUMENT_ATTACKS: readonly Attack[] = [
  ...failing("cose.structure", "", structure),
  ...failing("cose.algorithm", "protected or unprotected header: ", [
    ["ES256", lie("another-algorithm")],
    ...headers.map(([name, alter]): [string, Alterations] => [name, document(alter)]),
  ]),
  ...failing("cose.signature", "signature ", signatures),
  ...failing("doc.structure", "document: ", [...fields, ...encodings]),
  // Where a certificate other than the leaf fails, the document's signature is still checked, and valid.
  ...failing("doc.structure", "document: ", certificates),
  ...dated.map(([name, how]): Attack => {
    return { name: `document: dated ${name}`, forge: { payloads: [] }, judge: how, fails: ["doc.time"] };
  }),
  ...brokenPcrs.map((attack) => ({ ...attack, name: `document: ${attack.name}` })),
  {
    name: "an RSA leaf",
    forge: certificate(CHAIN.leaf, () => ({ key: RSA })),
    fails: ["chain.algorithm", "cose.signature"],
  },
  {
    name: "a P-256 leaf",
    forge: certificate(CHAIN.leaf, () => ({ key: generateKeyPair("prime256v1") })),
    fails: ["chain.algorithm", "cose.signature"],
  },
];
