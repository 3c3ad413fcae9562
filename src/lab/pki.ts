/**
 * A software certificate authority for attestation documents, with the levels root, region, zone, instance and leaf. A
 * test can alter the specification of one certificate; the others are still signed correctly.
 */
import { createHash } from "node:crypto";
import { BitString, PrintableString, Utf8String } from "asn1js";
import { BASIC_CONSTRAINTS, KEY_USAGE as KEY_USAGE_EXTENSION, NAME_ATTRIBUTES } from "../decode/certificate.js";
import { TRUE, derOf, integer, octets, oid, sequence, setOf, tagged, time } from "./asn1.js";
import { type Digest, type KeyPair, generateKeyPair, publicPoint, signDer, subjectPublicKeyInfo } from "./keys.js";

export interface ExtensionSpec {
  readonly id: string;
  readonly critical: boolean;
  /** The value in DER. */
  readonly value: Uint8Array;
}

/** The specification of a certificate. Issuer name and key default to those of the certificate above. */
export interface CertificateSpec {
  /** The version: 1, 2 or 3. */
  readonly version: number;
  /** The serial number, big-endian. */
  readonly serial: Uint8Array;
  readonly subject: Uint8Array;
  readonly issuer?: Uint8Array;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** The certified key, which signs the certificate below. */
  readonly key: KeyPair;
  /** The encoded key. Default: that of `key`. */
  readonly publicKeyInfo?: Uint8Array;
  /** The key that signs. Default: the key of the certificate above. */
  readonly issuerKey?: KeyPair;
  /** The algorithm in the signed part. `outerAlgorithm` is the one outside of it. */
  readonly innerAlgorithm: Uint8Array;
  readonly outerAlgorithm: Uint8Array;
  /** The digest of the signature. Null if the key's algorithm implies it. */
  readonly digest: Digest | null;
  /** The extensions. If there are none, the certificate has no list of extensions. */
  readonly extensions: readonly ExtensionSpec[];
  readonly signature?: (signature: Uint8Array) => Uint8Array;
  /** Replaces the finished certificate. */
  readonly encoding?: (der: Uint8Array) => Uint8Array;
}

/** Indices in {@link NitroPki.chainSpecs}. */
export const CHAIN = { root: 0, region: 1, zone: 2, instance: 3, leaf: 4 } as const;
type Place = keyof typeof CHAIN;

export const OID = {
  basicConstraints: BASIC_CONSTRAINTS,
  keyUsage: KEY_USAGE_EXTENSION,
  subjectKeyIdentifier: "2.5.29.14",
  authorityKeyIdentifier: "2.5.29.35",
  nameConstraints: "2.5.29.30",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  ecdsaWithSha384: "1.2.840.10045.4.3.3",
} as const;

/** The bit numbers of KeyUsage (RFC 5280 section 4.2.1.3). */
export const KEY_USAGE = { digitalSignature: 0, nonRepudiation: 1, keyCertSign: 5, cRLSign: 6 } as const;

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
/** Lifetime of a leaf certificate in milliseconds, as real hardware issues it. */
export const LEAF_LIFE_MS = 3 * HOUR;

export function distinguishedName(attributes: Partial<Record<keyof typeof NAME_ATTRIBUTES, string>>): Uint8Array {
  const sets = Object.entries(attributes).map(([label, value]) => {
    const text = label === "C" ? new PrintableString({ value }) : new Utf8String({ value });
    return setOf(sequence(oid(NAME_ATTRIBUTES[label as keyof typeof NAME_ATTRIBUTES]), text));
  });
  return derOf(sequence(...sets));
}

/** Encodes an algorithm. ECDSA has no parameters. */
export function algorithmIdentifier(id: string, ...parameters: Uint8Array[]): Uint8Array {
  return derOf(sequence(oid(id), ...parameters));
}

export function basicConstraints(ca: boolean, pathLen?: number): ExtensionSpec {
  const value = sequence(...(ca ? [TRUE] : []), ...(pathLen === undefined ? [] : [integer(pathLen)]));
  return { id: OID.basicConstraints, critical: true, value: derOf(value) };
}

/** Encodes KeyUsage without trailing zeros. `bits` are the set bits, which are below 8. */
export function keyUsage(critical: boolean, ...bits: number[]): ExtensionSpec {
  const byte = bits.reduce((sum, bit) => sum | (0x80 >> bit), 0);
  const unusedBits = bits.length === 0 ? 0 : 7 - Math.max(...bits);
  const valueHex = Uint8Array.from(bits.length === 0 ? [] : [byte]);
  return { id: OID.keyUsage, critical, value: derOf(new BitString({ unusedBits, valueHex })) };
}

interface Issued {
  readonly above: CertificateSpec | undefined;
  readonly certificate: Uint8Array;
}

/** What a data folder keeps. It keeps the certificate, too, because verifiers compare it byte for byte. */
export interface SavedPki {
  readonly keys: Readonly<Record<Place, KeyPair>>;
  readonly rootCertificate: Uint8Array;
}

export class NitroPki {
  readonly rootSpec: CertificateSpec;
  readonly rootCertificate: Uint8Array;
  readonly #keys: Readonly<Record<Place, KeyPair>>;
  /** Issued certificates by specification. They stay byte-identical until they or a certificate above them change. */
  readonly #issued = new WeakMap<CertificateSpec, Issued>();
  #latest: { readonly second: number; readonly specs: readonly CertificateSpec[] } | undefined;

  constructor(saved?: SavedPki) {
    this.#keys = saved?.keys ?? newKeys();
    this.rootSpec = {
      ...certificate(
        this.#keys.root,
        distinguishedName({ C: "US", O: "bootproof", OU: "lab", CN: "lab.nitro-enclaves" }),
      ),
      notBefore: new Date("2019-10-28T13:28:05Z"),
      notAfter: new Date("2049-10-28T14:28:05Z"),
      extensions: authority(),
      ...(saved && { encoding: () => saved.rootCertificate }),
    };
    this.rootCertificate = this.#issue(this.rootSpec, undefined);
  }

  save(): SavedPki {
    return { keys: this.#keys, rootCertificate: this.rootCertificate };
  }

  /** Returns specifications that are valid at the given time: root, region, zone, instance, leaf. */
  chainSpecs(at: Date): CertificateSpec[] {
    // Times of certificates have no fractions of a second.
    const second = Math.floor(at.getTime() / 1000);
    if (this.#latest?.second !== second) this.#latest = { second, specs: this.#makeSpecs(at) };
    return [...this.#latest.specs];
  }

  /** Issues the certificates, root first. */
  issueChain(specs: readonly CertificateSpec[]): Uint8Array[] {
    return specs.map((spec, index) => this.#issue(spec, specs[index - 1]));
  }

  #issue(spec: CertificateSpec, above: CertificateSpec | undefined): Uint8Array {
    const known = this.#issued.get(spec);
    if (known !== undefined && known.above === above) return known.certificate;
    const certificate = issueCertificate(spec, above);
    this.#issued.set(spec, { above, certificate });
    return certificate;
  }

  #makeSpecs(at: Date): CertificateSpec[] {
    const { region, zone, instance, leaf } = this.#keys;
    const host = "i-0123456789abcdef0";
    const leafUsage = keyUsage(false, KEY_USAGE.digitalSignature, KEY_USAGE.nonRepudiation);
    const rows = [
      [region, "5f2c1a.lab-1.nitro-enclaves", life(at, 5 * DAY, 20 * DAY), authority(2)],
      [zone, "7d3e9b.zonal.lab-1.nitro-enclaves", life(at, 2 * DAY, 6 * DAY), authority(1)],
      [instance, `${host}.lab-1.nitro-enclaves`, life(at, HOUR, DAY), authority(0)],
      [
        leaf,
        `${host}-enc0123456789abcdef.lab-1.aws`,
        life(at, 1000, LEAF_LIFE_MS),
        [basicConstraints(false), leafUsage],
      ],
    ] as const;
    const below = rows.map(([key, name, validity, extensions]) => {
      return { ...certificate(key, lab(name)), ...validity, extensions };
    });
    return [this.rootSpec, ...below];
  }
}

/** Issues a certificate. Without `above`, it is self-signed. */
export function issueCertificate(spec: CertificateSpec, above: CertificateSpec = spec): Uint8Array {
  const tbs = tbsCertificate(spec, spec.issuer ?? above.subject);
  const signature = signDer(spec.issuerKey ?? above.key, spec.digest, tbs);
  const valueHex = spec.signature?.(signature) ?? signature;
  const whole = derOf(sequence(tbs, spec.outerAlgorithm, new BitString({ valueHex })));
  return spec.encoding?.(whole) ?? whole;
}

/** Returns what the issuer signs. */
export function tbsCertificate(spec: CertificateSpec, issuer: Uint8Array): Uint8Array {
  const extensions = spec.extensions.map(({ id, critical, value }) =>
    sequence(oid(id), ...(critical ? [TRUE] : []), octets(value)),
  );
  return derOf(
    sequence(
      ...(spec.version === 1 ? [] : [tagged(0, integer(spec.version - 1))]),
      integer(spec.serial),
      spec.innerAlgorithm,
      issuer,
      sequence(time(spec.notBefore), time(spec.notAfter)),
      spec.subject,
      spec.publicKeyInfo ?? subjectPublicKeyInfo(spec.key),
      ...(extensions.length === 0 ? [] : [tagged(3, sequence(...extensions))]),
    ),
  );
}

/** Returns a specification without validity and extensions. `digest` is the one that the issuer's signature uses. */
export function certificate(
  key: KeyPair,
  subject: Uint8Array,
  digest: "sha256" | "sha384" = "sha384",
): Omit<CertificateSpec, "notBefore" | "notAfter" | "extensions"> {
  const algorithm = algorithmIdentifier(digest === "sha256" ? OID.ecdsaWithSha256 : OID.ecdsaWithSha384);
  const serial = createHash("sha256").update(publicPoint(key)).digest().subarray(0, 16);
  serial[0] = (serial[0]! & 0x7f) | 0x40;
  return { version: 3, serial, subject, key, innerAlgorithm: algorithm, outerAlgorithm: algorithm, digest };
}

export function authority(pathLen?: number): ExtensionSpec[] {
  return [basicConstraints(true, pathLen), keyUsage(true, KEY_USAGE.keyCertSign, KEY_USAGE.cRLSign)];
}

function life(at: Date, before: number, length: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(at.getTime() - before), notAfter: new Date(at.getTime() - before + length) };
}

function lab(commonName: string): Uint8Array {
  return distinguishedName({ C: "US", ST: "Washington", L: "Seattle", O: "bootproof", OU: "lab", CN: commonName });
}

function newKeys(): SavedPki["keys"] {
  const places = Object.keys(CHAIN) as Place[];
  return Object.fromEntries(places.map((place) => [place, generateKeyPair("secp384r1")])) as SavedPki["keys"];
}
