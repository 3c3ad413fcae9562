/** Attacks on the certificate path. Whatever a row does not name has a valid signature of the certificate above. */
import { concatBytes, fromHex } from "../../src/bytes.js";
import { NAME_ATTRIBUTES } from "../../src/decode/certificate.js";
import { generateKeyPair, publicPoint, subjectPublicKeyInfo } from "../../src/lab/keys.js";
import {
  CHAIN,
  type CertificateSpec,
  KEY_USAGE,
  OID,
  algorithmIdentifier,
  basicConstraints,
  keyUsage,
} from "../../src/lab/pki.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import { der, derBitString, derInteger, derNull, derOid, derSequence, derSet, derUtf8String } from "../support/der.js";
import { distributionPoints, revocationList } from "../support/revocation.js";
import {
  type Alterations,
  type Attack,
  AT,
  EXPLICIT_CURVE,
  RSA,
  after,
  certificate,
  document,
  flip,
  lab,
  lie,
  otherLab,
  overwrite,
  failing,
} from "./support.js";

const bytes = (text: string): Uint8Array => fromHex(text)!;
const { keyCertSign, cRLSign, digitalSignature, nonRepudiation } = KEY_USAGE;
const caUsage = keyUsage(true, keyCertSign, cRLSign);
const anotherName = derSequence(
  derSet(derSequence(derOid(NAME_ATTRIBUTES.CN), derUtf8String("another.nitro-enclaves"))),
);
const ecdsaWithSha256 = algorithmIdentifier(OID.ecdsaWithSha256);
const ecdsaWithSha512 = algorithmIdentifier("1.2.840.10045.4.3.4");
const withNull = algorithmIdentifier(OID.ecdsaWithSha384, derNull());

function extensions(place: number, ...list: CertificateSpec["extensions"][number][]): Alterations {
  return certificate(place, () => ({ extensions: list }));
}

function moreExtensions(place: number, ...list: CertificateSpec["extensions"][number][]): Alterations {
  return certificate(place, (spec) => ({ extensions: [...spec.extensions, ...list] }));
}

function specs(change: (specs: CertificateSpec[]) => CertificateSpec[]): Alterations {
  return document({ certificates: change });
}

/** The path of another authority, except what is copied from the lab's. */
const otherPath = (): CertificateSpec[] => otherLab.pki.chainSpecs(AT);

const anchor: Attack[] = [
  {
    name: "another authority of the same names",
    forge: lie("foreign-root"),
    judge: { anchorPem: certificatePem(lab.pki.rootCertificate) },
    fails: ["chain.anchor"],
  },
  {
    name: "a verifier that trusts another root",
    judge: { anchorPem: certificatePem(otherLab.pki.rootCertificate) },
    fails: ["chain.anchor"],
  },
  {
    name: "the anchor's name and key in a certificate of its own",
    forge: certificate(CHAIN.root, () => ({ serial: bytes("01") })),
    judge: { anchorPem: certificatePem(lab.pki.rootCertificate) },
    fails: ["chain.anchor"],
  },
  {
    name: "another authority's path under the anchor",
    forge: document({
      certificates: otherPath,
      cabundle: ([, ...rest]) => [lab.pki.rootCertificate, ...rest],
    }),
    judge: { anchorPem: certificatePem(lab.pki.rootCertificate) },
    fails: ["chain.anchor", "chain.signature"],
  },
  {
    name: "the root left out",
    forge: document({ cabundle: ([, ...rest]) => rest }),
    judge: { anchorPem: certificatePem(lab.pki.rootCertificate) },
    fails: ["chain.anchor"],
  },
  {
    name: "the list turned round",
    forge: document({ cabundle: (list) => list.toReversed() }),
    judge: { anchorPem: certificatePem(lab.pki.rootCertificate) },
    fails: ["chain.anchor", "chain.signature"],
    more: true,
  },
  {
    name: "a leaf that signed itself beside the anchor",
    forge: document({
      certificates: (list) => [
        list[CHAIN.root]!,
        { ...list[CHAIN.leaf]!, issuer: list[CHAIN.leaf]!.subject, issuerKey: list[CHAIN.leaf]!.key },
      ],
    }),
    fails: ["chain.anchor", "chain.signature"],
  },
  {
    name: "a self-signed leaf as its own root",
    forge: document({
      certificates: (list) => [list[CHAIN.leaf]!],
      fields: (map) => map.set("cabundle", [map.get("certificate")!]),
    }),
    judge: { anchorPem: certificatePem(lab.pki.rootCertificate) },
    fails: ["chain.anchor"],
    more: true,
  },
];

const atTheRoot: Attack[] = [
  {
    name: "a self-signed leaf that is trusted itself",
    forge: document({
      certificates: (list) => [list[CHAIN.leaf]!],
      fields: (map) => map.set("cabundle", [map.get("certificate")!]),
    }),
    fails: ["chain.constraints"],
    more: true,
  },
  {
    name: "a trusted root that signed the document itself",
    forge: document({
      certificates: (list) => [list[CHAIN.root]!],
      fields: (map) => map.set("cabundle", [map.get("certificate")!]),
    }),
    fails: ["chain.constraints"],
    more: true,
  },
  {
    name: "the trusted root twice",
    forge: document({ cabundle: ([root, ...rest]) => [root!, root!, ...rest] }),
    fails: ["chain.signature"],
    more: true,
  },
  {
    name: "an extension of the trusted root twice",
    forge: moreExtensions(CHAIN.root, caUsage),
    fails: ["chain.constraints"],
  },
];

const links: [string, Alterations, Attack["fails"]?][] = [
  [
    "a bit of the zone's signature turned over",
    certificate(CHAIN.zone, () => ({ signature: (signature) => flip(signature) })),
  ],
  [
    "the zone changed after it was signed",
    certificate(CHAIN.zone, (spec) => ({ encoding: (cert) => overwrite(cert, spec.serial, flip(spec.serial)) })),
  ],
  [
    "the leaf changed after it was signed",
    certificate(CHAIN.leaf, (spec) => ({ encoding: (cert) => overwrite(cert, spec.serial, flip(spec.serial)) })),
  ],
  ["the zone signed by another key", certificate(CHAIN.zone, () => ({ issuerKey: generateKeyPair("secp384r1") }))],
  ["the leaf signed by another key", lie("forged-leaf")],
  [
    "the leaf signed by the region's key",
    certificate(CHAIN.leaf, () => ({ issuerKey: lab.pki.chainSpecs(AT)[CHAIN.region]!.key })),
  ],
  ["the leaf signed by itself", certificate(CHAIN.leaf, (spec) => ({ issuerKey: spec.key }))],
  ["another issuer's name in the zone", certificate(CHAIN.zone, () => ({ issuer: anotherName }))],
  ["another issuer's name in the leaf", certificate(CHAIN.leaf, () => ({ issuer: anotherName }))],
  ["an empty issuer's name in the leaf", certificate(CHAIN.leaf, () => ({ issuer: derSequence() }))],
  ["the zone left out", document({ cabundle: (list) => list.filter((_, index) => index !== CHAIN.zone) })],
  ["the instance left out", document({ cabundle: (list) => list.slice(0, -1) })],
  ["only the root", document({ cabundle: (list) => list.slice(0, 1) }), ["chain.anchor", "chain.signature"]],
  [
    "the region signed by another root's key",
    certificate(CHAIN.region, () => ({ issuerKey: otherLab.pki.rootSpec.key })),
    ["chain.anchor", "chain.signature"],
  ],
  [
    "the zone's signature with r zero",
    certificate(CHAIN.zone, () => ({ signature: () => derSequence(derInteger(0), derInteger(1)) })),
  ],
  [
    "the zone's signature without an s",
    certificate(CHAIN.zone, () => ({ signature: () => derSequence(derInteger(1)) })),
  ],
  [
    "a byte after the zone's signature",
    certificate(CHAIN.zone, () => ({ signature: (signature) => concatBytes(signature, bytes("00")) })),
  ],
  ["the zone's signature empty", certificate(CHAIN.zone, () => ({ signature: () => new Uint8Array() }))],
  [
    "the zone twice",
    document({ cabundle: (list) => list.flatMap((cert, index) => (index === CHAIN.zone ? [cert, cert] : [cert])) }),
    ["chain.signature", "chain.constraints"],
  ],
  [
    "zone and region exchanged",
    document({ cabundle: ([root, region, zone, instance]) => [root!, zone!, region!, instance!] }),
    ["chain.anchor", "chain.signature", "chain.constraints"],
  ],
];

const P384 = algorithmIdentifier("1.2.840.10045.2.1", bytes("06052b81040022"));
const P256 = algorithmIdentifier("1.2.840.10045.2.1", bytes("06082a8648ce3d030107"));
type Change = (spec: CertificateSpec) => Partial<CertificateSpec>;
const signedWith = (algorithm: Uint8Array, digest: "sha256" | "sha512"): Change => {
  return () => ({ innerAlgorithm: algorithm, outerAlgorithm: algorithm, digest });
};
const keyOf = (key: CertificateSpec["key"]): Change => {
  return () => ({ key });
};
const offTheCurve: Change = ({ key }) => ({ publicKeyInfo: flip(subjectPublicKeyInfo(key)) });

/** `also`: the check that fails beside `chain.algorithm`, or that others may. */
const algorithms: readonly [name: string, place: number, change: Change, also?: Attack["fails"][number] | "more"][] = [
  ["the zone names SHA-256 inside", CHAIN.zone, () => ({ innerAlgorithm: ecdsaWithSha256 })],
  ["the zone signed with SHA-256", CHAIN.zone, signedWith(ecdsaWithSha256, "sha256"), "more"],
  ["the leaf signed with SHA-512", CHAIN.leaf, signedWith(ecdsaWithSha512, "sha512"), "more"],
  ["null parameters of the algorithm", CHAIN.zone, () => ({ innerAlgorithm: withNull, outerAlgorithm: withNull })],
  ["null parameters beside the signature only", CHAIN.leaf, () => ({ outerAlgorithm: withNull })],
  ["an instance with a P-256 key", CHAIN.instance, keyOf(generateKeyPair("prime256v1")), "more"],
  ["an instance with an RSA key", CHAIN.instance, keyOf(RSA), "more"],
  ["a trusted root with a P-256 key", CHAIN.root, keyOf(generateKeyPair("prime256v1")), "more"],
  ["a trusted root that names SHA-256", CHAIN.root, () => ({ outerAlgorithm: ecdsaWithSha256 }), "more"],
  ["an instance whose curve is spelled out", CHAIN.instance, keyOf(EXPLICIT_CURVE), "more"],
  ["an instance whose point is not on the curve", CHAIN.instance, offTheCurve, "chain.signature"],
  ["a leaf whose point is not on the curve", CHAIN.leaf, offTheCurve, "cose.signature"],
  [
    "a leaf whose point is the point at infinity",
    CHAIN.leaf,
    () => ({ publicKeyInfo: derSequence(P384, derBitString(bytes("00"))) }),
    "cose.signature",
  ],
  [
    "a leaf whose P-384 point is said to be of P-256",
    CHAIN.leaf,
    ({ key }) => ({ publicKeyInfo: derSequence(P256, derBitString(publicPoint(key))) }),
    "cose.signature",
  ],
];

function validity(name: string, place: number, notBefore: Date, notAfter: Date): Attack {
  return { name: `${name}`, forge: certificate(place, () => ({ notBefore, notAfter })), fails: ["chain.validity"] };
}

const times: Attack[] = [
  validity("a leaf that begins a second later", CHAIN.leaf, after(1), after(10_800)),
  validity("a leaf that ended a second before", CHAIN.leaf, after(-10_800), after(-1)),
  {
    name: "a leaf that begins in the next second, a millisecond away",
    forge: { at: new Date(AT.getTime() + 999), ...certificate(CHAIN.leaf, () => ({ notBefore: after(1) })) },
    fails: ["chain.validity"],
  },
  validity("an instance that ended", CHAIN.instance, after(-100_000), after(-1)),
  validity("an instance that has not begun", CHAIN.instance, after(1), after(100_000)),
  validity("a zone that ended", CHAIN.zone, after(-100_000), after(-1)),
  validity("a region that ended", CHAIN.region, after(-100_000), after(-1)),
  validity("a trusted root that ended", CHAIN.root, after(-100_000), after(-1)),
  validity("a trusted root that has not begun", CHAIN.root, after(1), after(100_000)),
  validity("a leaf that ends before it begins", CHAIN.leaf, after(1), after(-1)),
  validity(
    "a year of 2050 and later that is over",
    CHAIN.zone,
    new Date("2051-01-01T00:00:00Z"),
    new Date("2052-01-01T00:00:00Z"),
  ),
  {
    name: "a leaf that is over now, where now is asked",
    judge: { validAt: "now", now: after(4 * 3600) },
    fails: ["chain.validity"],
  },
  { name: "an instant long after", judge: { validAt: new Date("2027-01-01T00:00:00Z") }, fails: ["chain.validity"] },
  { name: "an instant long before", judge: { validAt: new Date("2025-01-01T00:00:00Z") }, fails: ["chain.validity"] },
  { name: "an instant a second after the leaf", judge: { validAt: after(3 * 3600) }, fails: ["chain.validity"] },
];

/** Any extension that this verifier does not process. */
const unknown = (critical: boolean): CertificateSpec["extensions"][number] => ({
  id: "1.3.6.1.4.1.99999.1",
  critical,
  value: derNull(),
});

const restriction = (id: string): CertificateSpec["extensions"][number] => ({ id, critical: false, value: derNull() });

/** The leaf of an enclave used as an authority, which basicConstraints has to prevent. */
const underTheLeaf = specs((list) => [
  ...list,
  { ...list[CHAIN.leaf]!, key: generateKeyPair("secp384r1"), serial: bytes("4001") },
]);

/** Without a name, as its own subject and as the issuer of what it issued; both for a root. */
function renamed(list: CertificateSpec[], place: number): CertificateSpec[] {
  const subject = derSequence();
  return list.map((spec, index) => ({
    ...spec,
    ...(index === place && { subject }),
    ...((index === place + 1 || (place === CHAIN.root && index === place)) && { issuer: subject }),
  }));
}

const asBasicConstraints = (value: Uint8Array) => ({ id: OID.basicConstraints, critical: true, value });
const asKeyUsage = (critical: boolean, value: Uint8Array) => ({ id: OID.keyUsage, critical, value });

const constraints: [string, Alterations][] = [
  ["a region without basicConstraints", extensions(CHAIN.region, caUsage)],
  ["a region that is no CA", extensions(CHAIN.region, basicConstraints(false), caUsage)],
  [
    "a region whose basicConstraints is not critical",
    extensions(CHAIN.region, { ...basicConstraints(true, 2), critical: false }, caUsage),
  ],
  ["a region with pathLen 1 over two CAs", extensions(CHAIN.region, basicConstraints(true, 1), caUsage)],
  ["a region with pathLen 0 over two CAs", extensions(CHAIN.region, basicConstraints(true, 0), caUsage)],
  ["a zone with pathLen 0 over one CA", extensions(CHAIN.zone, basicConstraints(true, 0), caUsage)],
  ["a trusted root with pathLen 2 over three CAs", extensions(CHAIN.root, basicConstraints(true, 2), caUsage)],
  ["a trusted root that is no CA", extensions(CHAIN.root, basicConstraints(false), caUsage)],
  ["an instance without keyUsage", extensions(CHAIN.instance, basicConstraints(true, 0))],
  [
    "an instance that may not sign certificates",
    extensions(CHAIN.instance, basicConstraints(true, 0), keyUsage(true, digitalSignature, cRLSign)),
  ],
  ["an instance without extensions", extensions(CHAIN.instance)],
  ["a leaf that is a CA", extensions(CHAIN.leaf, basicConstraints(true), keyUsage(false, digitalSignature))],
  ["a leaf with a pathLen", extensions(CHAIN.leaf, basicConstraints(false, 0), keyUsage(false, digitalSignature))],
  ["a leaf without digitalSignature", extensions(CHAIN.leaf, basicConstraints(false), keyUsage(false, nonRepudiation))],
  ["a leaf without keyUsage", extensions(CHAIN.leaf, basicConstraints(false))],
  [
    "a leaf that may sign certificates",
    extensions(CHAIN.leaf, basicConstraints(false), keyUsage(false, digitalSignature, keyCertSign)),
  ],
  ["a leaf without extensions", extensions(CHAIN.leaf)],
  ["a certificate issued by the leaf", underTheLeaf],
  ["an unknown critical extension in the region", moreExtensions(CHAIN.region, unknown(true))],
  ["an unknown critical extension in the leaf", moreExtensions(CHAIN.leaf, unknown(true))],
  [
    "critical name constraints",
    moreExtensions(CHAIN.region, { id: OID.nameConstraints, critical: true, value: derSequence() }),
  ],
  ...["2.5.29.30", "2.5.29.36", "2.5.29.54"].flatMap((id): [string, Alterations][] => [
    [`a restriction that is not critical, ${id}`, moreExtensions(CHAIN.region, restriction(id))],
    [`the same in the leaf, ${id}`, moreExtensions(CHAIN.leaf, restriction(id))],
  ]),
  ["a zone without a name", specs((list) => renamed(list, CHAIN.zone))],
  ["a trusted root without a name", specs((list) => renamed(list, CHAIN.root))],
  [
    "a critical extended key usage in the leaf",
    moreExtensions(CHAIN.leaf, { id: "2.5.29.37", critical: true, value: derSequence(bytes("06082b06010505070303")) }),
  ],
  ["basicConstraints twice", moreExtensions(CHAIN.zone, basicConstraints(true, 1))],
  [
    "keyUsage twice, the second one allowing more",
    extensions(
      CHAIN.leaf,
      basicConstraints(false),
      keyUsage(false, digitalSignature),
      keyUsage(false, digitalSignature, keyCertSign),
    ),
  ],
  ["an unknown extension twice", moreExtensions(CHAIN.leaf, unknown(false), unknown(false))],
  ["a leaf of version 2", certificate(CHAIN.leaf, () => ({ version: 2 }))],
  ["an instance of version 1, without extensions", certificate(CHAIN.instance, () => ({ version: 1, extensions: [] }))],
  [
    "basicConstraints that says FALSE in so many words",
    extensions(CHAIN.leaf, asBasicConstraints(derSequence(bytes("010100"))), keyUsage(false, digitalSignature)),
  ],
  ["basicConstraints that is none", extensions(CHAIN.zone, asBasicConstraints(derNull()), caUsage)],
  [
    "a byte after basicConstraints",
    extensions(CHAIN.zone, asBasicConstraints(concatBytes(basicConstraints(true, 1).value, bytes("00"))), caUsage),
  ],
  [
    "a negative pathLen",
    extensions(CHAIN.zone, asBasicConstraints(derSequence(bytes("0101ff"), bytes("0201ff"))), caUsage),
  ],
  [
    "keyUsage that is none",
    extensions(CHAIN.zone, basicConstraints(true, 1), asKeyUsage(true, der(0x04, bytes("06")))),
  ],
  [
    "an empty keyUsage",
    extensions(CHAIN.leaf, basicConstraints(false), asKeyUsage(false, derBitString(new Uint8Array()))),
  ],
];

const [, region, zone] = lab.pki.chainSpecs(AT);
const REVOKING = revocationList({ issuer: region!, thisUpdate: AT, serials: [zone!.serial] });
const OVER = { issuer: region!, thisUpdate: AT, nextUpdate: after(1) };
const revoked: readonly Attack[] = [
  { name: "a zone that its region revoked", judge: { crls: [REVOKING] }, fails: ["chain.revocation"] },
  {
    name: "a revoked zone whose distribution point is limited to some reasons",
    forge: moreExtensions(CHAIN.zone, distributionPoints("http://crl.lab/zone.crl", bytes("81020106"))),
    judge: { crls: [REVOKING] },
    fails: ["chain.revocation"],
  },
  ...(
    [
      ["past its nextUpdate", OVER],
      ["past its nextUpdate that names the zone", { ...OVER, serials: [zone!.serial] }],
      ["dated more than five minutes ahead", { issuer: region!, thisUpdate: after(601) }],
      ["that another authority signed", { issuer: region!, thisUpdate: AT, key: otherLab.pki.rootSpec.key }],
    ] as const
  ).map(([name, list]): Attack => {
    return {
      name: `a list of the region ${name}`,
      judge: { crls: [revocationList(list)] },
      fails: ["chain.revocation"],
    };
  }),
];

export const CHAIN_ATTACKS: readonly Attack[] = [
  ...anchor,
  ...atTheRoot,
  ...links.map(([name, forge, fails = ["chain.signature"]]): Attack => ({ name, forge, fails })),
  ...failing("chain.algorithm", "", [["the zone names SHA-256 beside its signature", lie("weak-certificate")]]),
  ...algorithms.map(([name, place, change, also]): Attack => ({
    name,
    forge: certificate(place, change),
    fails: ["chain.algorithm", ...(also === undefined || also === "more" ? [] : [also])],
    ...(also === "more" && { more: true }),
  })),
  ...times,
  ...failing("chain.constraints", "", constraints),
  ...revoked,
].map((attack) => ({ ...attack, name: `path: ${attack.name}` }));
