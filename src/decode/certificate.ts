/** Decoding of X.509 certificates (RFC 5280) in strict DER (ITU-T X.690 section 10), without path validation. */
import { fromUtf8, toHex } from "../bytes.js";
import { MalformedError } from "../errors.js";

export interface CertificateExtension {
  /** Dotted object identifier. */
  readonly id: string;
  readonly critical: boolean;
  readonly value: Uint8Array;
}

/** The parts that path validation needs. Byte fields hold the encoding as received. */
export interface Certificate {
  readonly der: Uint8Array;
  /** The bytes that the issuer signed. */
  readonly tbsCertificate: Uint8Array;
  /** Version 1, 2 or 3. */
  readonly version: number;
  readonly serialNumber: Uint8Array;
  /** The AlgorithmIdentifier inside the signed part. The next member is the AlgorithmIdentifier outside it. */
  readonly innerSignatureAlgorithm: Uint8Array;
  readonly outerSignatureAlgorithm: Uint8Array;
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly subjectPublicKeyInfo: Uint8Array;
  readonly extensions: readonly CertificateExtension[];
  /** The signature, an ECDSA-Sig-Value in DER. */
  readonly signature: Uint8Array;
}

/** Extensions that path validation processes (RFC 5280 section 4.2.1). */
export const BASIC_CONSTRAINTS = "2.5.29.19";
export const KEY_USAGE = "2.5.29.15";

/** Attributes of a Name with short labels (RFC 4514 section 3). */
export const NAME_ATTRIBUTES = {
  CN: "2.5.4.3",
  C: "2.5.4.6",
  L: "2.5.4.7",
  ST: "2.5.4.8",
  O: "2.5.4.10",
  OU: "2.5.4.11",
} as const;
const NAME_LABELS = new Map<string, string>(Object.entries(NAME_ATTRIBUTES).map(([label, id]) => [id, label]));

/** Tags of DER that certificates and lists have. */
export const DER_TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  version: 0xa0,
  issuerUniqueId: 0x81,
  subjectUniqueId: 0x82,
  extensions: 0xa3,
} as const;

/** Decodes one certificate with nothing after it. Throws {@link MalformedError} (`certificate`). */
export function decodeCertificate(encoding: Uint8Array): Certificate {
  // The caller cannot change this copy. All parts are views into it.
  const der = new Uint8Array(encoding);
  const certificate = DerReader.sole(der, DER_TAG.sequence, "Certificate", "the certificate");
  const tbsCertificate = certificate.encoding(DER_TAG.sequence, "tbsCertificate");
  const outerSignatureAlgorithm = certificate.encoding(DER_TAG.sequence, "signatureAlgorithm");
  const signature = certificate.bitString("signatureValue");
  certificate.end("after signatureValue");
  const tbs = decodeTbs(new DerReader(tbsCertificate).constructed(DER_TAG.sequence, "tbsCertificate"));
  return { der, tbsCertificate, outerSignatureAlgorithm, signature, ...tbs };
}

function decodeTbs(
  tbs: DerReader,
): Omit<Certificate, "der" | "tbsCertificate" | "outerSignatureAlgorithm" | "signature"> {
  const version = decodeVersion(tbs);
  const serialNumber = tbs.integer("serialNumber");
  const innerSignatureAlgorithm = tbs.encoding(DER_TAG.sequence, "signature");
  const issuer = tbs.name("issuer");
  const validity = tbs.constructed(DER_TAG.sequence, "validity");
  const notBefore = validity.time("notBefore");
  const notAfter = validity.time("notAfter");
  validity.end("after notAfter");
  const subject = tbs.name("subject");
  const subjectPublicKeyInfo = tbs.encoding(DER_TAG.sequence, "subjectPublicKeyInfo");
  tbs.optional(DER_TAG.issuerUniqueId);
  tbs.optional(DER_TAG.subjectUniqueId);
  const extensions = tbs.next() === DER_TAG.extensions ? extensionsIn(tbs, DER_TAG.extensions) : [];
  tbs.end("after the extensions");
  return {
    version,
    serialNumber,
    innerSignatureAlgorithm,
    issuer,
    notBefore,
    notAfter,
    subject,
    subjectPublicKeyInfo,
    extensions,
  };
}

function decodeVersion(tbs: DerReader): number {
  if (tbs.next() !== DER_TAG.version) return 1;
  const wrapper = tbs.constructed(DER_TAG.version, "version");
  const value = wrapper.integer("version");
  wrapper.end("after version");
  // DER omits the default, which is version 1 (encoded as 0).
  if (value.length !== 1 || value[0]! < 1 || value[0]! > 2) throw malformedCertificate("version: not 2 or 3");
  return value[0]! + 1;
}

/** Reads the extensions. `wrapper` is the tag of an element around their list. */
export function extensionsIn(outer: DerReader, wrapper?: number): CertificateExtension[] {
  const inner = wrapper === undefined ? outer : outer.constructed(wrapper, "extensions");
  const list = inner.constructed(DER_TAG.sequence, "extensions");
  if (wrapper !== undefined) inner.end("after the extensions");
  const extensions: CertificateExtension[] = [];
  do {
    const extension = list.constructed(DER_TAG.sequence, "extension");
    const id = extension.oid("extension");
    const critical = extension.next() === DER_TAG.boolean && extension.defaultFalse(`extension ${id}`);
    const value = extension.content(DER_TAG.octetString, `extension ${id}`);
    extension.end(`after extension ${id}`);
    extensions.push({ id, critical, value });
  } while (list.next() !== undefined);
  return extensions;
}

/**
 * `BasicConstraints ::= SEQUENCE { cA BOOLEAN DEFAULT FALSE, pathLenConstraint INTEGER (0..MAX) OPTIONAL }` (4.2.1.9).
 */
export function decodeBasicConstraints(value: Uint8Array): { ca: boolean; pathLen: number | null } {
  const constraints = DerReader.sole(value, DER_TAG.sequence, "basicConstraints");
  const ca = constraints.next() === DER_TAG.boolean && constraints.defaultFalse("cA");
  const pathLen = constraints.next() === DER_TAG.integer ? constraints.integer("pathLenConstraint") : null;
  constraints.end("after pathLenConstraint");
  if (pathLen !== null && (pathLen.length !== 1 || pathLen[0]! > 0x7f))
    throw malformedCertificate("pathLenConstraint: out of range");
  return { ca, pathLen: pathLen === null ? null : pathLen[0]! };
}

/** `KeyUsage ::= BIT STRING { digitalSignature (0), …, keyCertSign (5), cRLSign (6), … }` (4.2.1.3). */
export function decodeKeyUsage(
  value: Uint8Array,
): Readonly<Record<"digitalSignature" | "keyCertSign" | "cRLSign", boolean>> {
  const bits = DerReader.sole(value, DER_TAG.bitString, "keyUsage").rest();
  const unused = bits[0];
  const last = bits[bits.length - 1];
  if (unused === undefined || unused > 7 || bits.length > 3) throw malformedCertificate("keyUsage: not a bit string");
  // X.690 11.2.2: a named bit list has no zero bits at its end.
  const trimmed = bits.length === 1 ? unused === 0 : (last! & ((2 << unused) - 1)) === 1 << unused;
  if (!trimmed) throw malformedCertificate("keyUsage: not in its shortest form");
  const first = bits[1] ?? 0;
  return {
    digitalSignature: (first & 0x80) !== 0,
    keyCertSign: (first & 0x04) !== 0,
    cRLSign: (first & 0x02) !== 0,
  };
}

/** Decodes a value that is one UTF8String. Throws {@link MalformedError} (`certificate`), also for raw text. */
export function decodeUtf8String(value: Uint8Array, what: string): string {
  const text = fromUtf8(DerReader.sole(value, DER_TAG.utf8String, what).rest());
  if (text === null) throw malformedCertificate(`${what}: not UTF-8`);
  return text;
}

/** Tags of GeneralName (4.2.1.6) for rfc822Name and uniformResourceIdentifier, both IA5String. */
const [EMAIL, URI] = [0x81, 0x86];

/** Decodes the only name of `SubjectAltName ::= GeneralNames` (4.2.1.6), a URI or an email address. */
export function decodeAltName(value: Uint8Array, what: string): { readonly text: string; readonly isUri: boolean } {
  const names = DerReader.sole(value, DER_TAG.sequence, what);
  const kind = names.next();
  if (kind !== EMAIL && kind !== URI) throw malformedCertificate(`${what}: expected a URI or an email address`);
  const content = names.content(kind, what);
  names.end(`after the first name of ${what}`);
  const text = content.some((byte) => byte > 0x7f) ? null : fromUtf8(content);
  if (text === null || text === "") throw malformedCertificate(`${what}: not ASCII text`);
  return { text, isUri: kind === URI };
}

/** Returns text for display only, such as `CN=aws.nitro-enclaves, C=US`. */
export function nameText(name: Uint8Array): string {
  const parts: string[] = [];
  const sets = new DerReader(name).constructed(DER_TAG.sequence, "Name");
  while (sets.next() !== undefined) {
    const set = sets.constructed(DER_TAG.set, "RelativeDistinguishedName");
    while (set.next() !== undefined) {
      const attribute = set.constructed(DER_TAG.sequence, "AttributeTypeAndValue");
      const id = attribute.oid("type");
      const content = attribute.content(undefined, "value");
      parts.push(`${NAME_LABELS.get(id) ?? id}=${fromUtf8(content) ?? toHex(content)}`);
    }
  }
  return parts.join(", ");
}

/** A reader that skips most elements, and makes views of those that are kept. */
export class DerReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;
  #content = 0;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  /** Returns a reader of the content of the only element. */
  static sole(bytes: Uint8Array, tag: number, what: string, whole = what): DerReader {
    const file = new DerReader(bytes);
    const content = file.constructed(tag, what);
    file.end(`after ${whole}`);
    return content;
  }

  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at, this.#end);
  }

  next(): number | undefined {
    return this.#at < this.#end ? this.#bytes[this.#at] : undefined;
  }

  /** Skips an element of this tag, or of any tag if `tag` is undefined. Returns where the element starts. */
  skip(tag: number | undefined, what: string): number {
    const start = this.#at;
    const found = this.next();
    if (found === undefined) throw malformedCertificate(`${what}: missing`);
    if (tag !== undefined && found !== tag)
      throw malformedCertificate(`${what}: tag 0x${found.toString(16)}, expected 0x${tag.toString(16)}`);
    if ((found & 0x1f) === 0x1f) throw malformedCertificate(`${what}: a multi-byte tag`);
    this.#at++;
    const length = this.#length(what);
    if (length > this.#end - this.#at) throw malformedCertificate(`${what}: the input ends inside it`);
    this.#content = this.#at;
    this.#at += length;
    return start;
  }

  /** Returns the next element with its header. */
  encoding(tag: number, what: string): Uint8Array {
    const start = this.skip(tag, what);
    return this.#bytes.subarray(start, this.#at);
  }

  content(tag: number | undefined, what: string): Uint8Array {
    this.skip(tag, what);
    return this.#bytes.subarray(this.#content, this.#at);
  }

  constructed(tag: number, what: string): DerReader {
    this.skip(tag, what);
    return new DerReader(this.#bytes, this.#content, this.#at);
  }

  optional(tag: number): void {
    if (this.next() === tag) this.skip(tag, "unique identifier");
  }

  end(what: string): void {
    if (this.#at !== this.#end) throw malformedCertificate(`${this.#end - this.#at} bytes ${what}`);
  }

  /** Reads a non-negative INTEGER as big-endian bytes. */
  integer(what: string): Uint8Array {
    const content = this.content(DER_TAG.integer, what);
    const [first, second] = content;
    if (first === undefined) throw malformedCertificate(`${what}: an empty integer`);
    if (first > 0x7f) throw malformedCertificate(`${what}: negative`);
    if (first === 0 && second !== undefined && second <= 0x7f)
      throw malformedCertificate(`${what}: longer than needed`);
    return content;
  }

  /** Reads a BOOLEAN whose default is FALSE. DER omits the default, so a present value is TRUE (0xff). */
  defaultFalse(what: string): true {
    const content = this.content(DER_TAG.boolean, what);
    if (content.length !== 1 || content[0] !== 0xff)
      throw malformedCertificate(`${what}: a boolean that is not DER's TRUE`);
    return true;
  }

  bitString(what: string): Uint8Array {
    const content = this.content(DER_TAG.bitString, what);
    if (content[0] !== 0) throw malformedCertificate(`${what}: not whole bytes`);
    return content.subarray(1);
  }

  skipOid(what: string): void {
    this.skip(DER_TAG.oid, what);
    const length = this.#at - this.#content;
    if (length === 0 || length > 32 || this.#bytes[this.#at - 1]! > 0x7f)
      throw malformedCertificate(`${what}: not an object identifier`);
    for (let at = this.#content; at < this.#at; at++) {
      const isFirst = at === this.#content || this.#bytes[at - 1]! <= 0x7f;
      if (isFirst && this.#bytes[at] === 0x80)
        throw malformedCertificate(`${what}: an object identifier longer than needed`);
    }
  }

  oid(what: string): string {
    this.skipOid(what);
    // An arc may be a UUID (X.667), which is no number of JavaScript.
    const arcs: bigint[] = [];
    let arc = 0n;
    for (let at = this.#content; at < this.#at; at++) {
      const byte = this.#bytes[at]!;
      arc = arc * 128n + BigInt(byte & 0x7f);
      if (byte <= 0x7f) {
        arcs.push(arc);
        arc = 0n;
      }
    }
    const top = arcs[0]! < 80n ? arcs[0]! / 40n : 2n;
    return [top, arcs[0]! - 40n * top, ...arcs.slice(1)].join(".");
  }

  /** Reads a Name (4.1.2.4), and checks that it is a sequence of sets of type and value. */
  name(what: string): Uint8Array {
    const start = this.skip(DER_TAG.sequence, what);
    const sets = new DerReader(this.#bytes, this.#content, this.#at);
    while (sets.next() !== undefined) {
      const set = sets.constructed(DER_TAG.set, what);
      do {
        const attribute = set.constructed(DER_TAG.sequence, what);
        attribute.skipOid(what);
        attribute.skip(undefined, what);
        attribute.end(`after an attribute of ${what}`);
      } while (set.next() !== undefined);
    }
    return this.#bytes.subarray(start, this.#at);
  }

  /** Reads a UTCTime until 2049, or a GeneralizedTime after (4.1.2.5). Both are in seconds and UTC. */
  time(what: string): Date {
    const isUtc = this.next() === DER_TAG.utcTime;
    const content = this.content(isUtc ? DER_TAG.utcTime : DER_TAG.generalizedTime, what);
    const text = String.fromCharCode(...content.subarray(0, 16));
    if (content.length !== (isUtc ? 13 : 15) || !/^[0-9]+Z$/.test(text))
      throw malformedCertificate(`${what}: not a time in its DER form`);
    const time = instantOf(isUtc ? (text < "50" ? "20" : "19") + text : text);
    if (time === null) throw malformedCertificate(`${what}: no such time`);
    if (!isUtc && text < "2050") throw malformedCertificate(`${what}: GeneralizedTime before 2050`);
    return time;
  }

  #length(what: string): number {
    const first = this.next();
    if (first === undefined) throw malformedCertificate(`${what}: the input ends inside its length`);
    this.#at++;
    if (first < 0x80) return first;
    const width = first & 0x7f;
    if (width === 0) throw malformedCertificate(`${what}: an indefinite length`);
    if (width > 4 || width > this.#end - this.#at) throw malformedCertificate(`${what}: a length out of range`);
    let length = 0;
    for (let i = 0; i < width; i++) length = length * 256 + this.#bytes[this.#at++]!;
    if (length < 0x80 || length < 2 ** (8 * (width - 1)))
      throw malformedCertificate(`${what}: a length longer than needed`);
    return length;
  }
}

/** Returns the instant of `YYYYMMDDhhmmssZ`, or null if there is no such time. */
function instantOf(text: string): Date | null {
  const part = (from: number, to = from + 2): number => Number(text.slice(from, to));
  const [month, day, hour, minute, second] = [part(4), part(6), part(8), part(10), part(12)];
  const time = new Date(Date.UTC(part(0, 4), month - 1, day, hour, minute, second));
  // Date turns 31 February into March and 24:00 into the next day, so each part is compared.
  const isSame =
    time.getUTCMonth() === month - 1 &&
    time.getUTCDate() === day &&
    time.getUTCHours() === hour &&
    time.getUTCMinutes() === minute &&
    time.getUTCSeconds() === second;
  return isSame ? time : null;
}

export function malformedCertificate(message: string): MalformedError {
  return new MalformedError("certificate", [{ path: "", message }]);
}
