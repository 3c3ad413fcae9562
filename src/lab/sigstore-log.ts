/**
 * The other services of a Sigstore instance: the log of certificates (RFC 6962), the log of signatures in the form of
 * Rekor v1, and a timestamp authority (RFC 3161). Each signs with its own software key.
 */
import type { TransparencyLogEntry } from "@sigstore/protobuf-specs";
import { concatBytes, toBase64, toHex, toUtf8 } from "../bytes.js";
import { derOf, generalizedTime, integer, octets, oid, sequence, setOf, tagged } from "./asn1.js";
import { type KeyPair, signDer, subjectPublicKeyInfo } from "./keys.js";
import { type CertificateSpec, OID, algorithmIdentifier } from "./pki.js";
import { sha256 } from "./qos.js";

/** Returns the id of a log, which is the SHA-256 of its public key (RFC 6962 section 3.2). */
export function logId(key: KeyPair): Uint8Array {
  return sha256(subjectPublicKeyInfo(key));
}

/**
 * Returns the value of the certificate's SCT extension with one SCT (RFC 6962 sections 3.2 and 3.3).
 * @param tbs What the certificate authority signs, without this extension.
 */
export function signedCertificateTimestamp(log: KeyPair, issuer: KeyPair, tbs: Uint8Array, at: Date): Uint8Array {
  const time = bigEndian(at.getTime(), 8);
  const entry = concatBytes(sha256(subjectPublicKeyInfo(issuer)), bigEndian(tbs.length, 3), tbs);
  const noExtensions = bigEndian(0, 2);
  const signed = concatBytes(Uint8Array.of(0, 0), time, bigEndian(1, 2), entry, noExtensions);
  const signature = signDer(log, "sha256", signed);
  const sha256WithEcdsa = Uint8Array.of(4, 3);
  const v1 = Uint8Array.of(0);
  const sct = concatBytes(
    v1,
    logId(log),
    time,
    noExtensions,
    sha256WithEcdsa,
    bigEndian(signature.length, 2),
    signature,
  );
  const list = concatBytes(bigEndian(sct.length, 2), sct);
  return derOf(octets(concatBytes(bigEndian(list.length, 2), list)));
}

/** An entry of the log of signatures. */
interface LoggedEntry {
  readonly at: Date;
  /** The kind of the entry, such as `dsse` or `hashedrekord`. */
  readonly kind: string;
  readonly version: string;
  /** The body as canonical JSON. */
  readonly body: Uint8Array;
}

/** The log of signatures. Each proof of inclusion is that of a real tree (RFC 6962 section 2.1). */
export class SignatureLog {
  readonly host: string;
  readonly #key: KeyPair;
  /** The complete trees of its leaves, each of a power of two, largest first. */
  readonly #trees: { readonly size: number; readonly hash: Uint8Array }[] = [];
  #size = 0;

  constructor(host: string, key: KeyPair) {
    this.host = host;
    this.#key = key;
    for (const first of ["the first entry", "the second entry"]) this.#append(leafHash(toUtf8(first)));
  }

  #append(leaf: Uint8Array): void {
    this.#size++;
    let tree = { size: 1, hash: leaf };
    while (this.#trees.at(-1)?.size === tree.size)
      tree = { size: 2 * tree.size, hash: nodeHash(this.#trees.pop()!.hash, tree.hash) };
    this.#trees.push(tree);
  }

  /** Adds an entry. Returns it in the form of bundles, with a promise and a proof of inclusion. */
  add({ at, kind, version, body }: LoggedEntry): TransparencyLogEntry {
    const [index, leaf] = [this.#size, leafHash(body)];
    // The path of the last leaf has the trees of those before it.
    const path = this.#trees.map(({ hash }) => hash).toReversed();
    const root = path.reduce((right, left) => nodeHash(left, right), leaf);
    this.#append(leaf);
    const integratedTime = Math.floor(at.getTime() / 1000);
    const promised = JSON.stringify({
      body: toBase64(body),
      integratedTime,
      logID: toHex(logId(this.#key)),
      logIndex: index,
    });
    const signedEntryTimestamp = Buffer.from(signDer(this.#key, "sha256", toUtf8(promised)));
    return {
      logIndex: String(index),
      logId: { keyId: Buffer.from(logId(this.#key)) },
      kindVersion: { kind, version },
      integratedTime: String(integratedTime),
      inclusionPromise: { signedEntryTimestamp },
      inclusionProof: {
        logIndex: String(index),
        rootHash: Buffer.from(root),
        treeSize: String(this.#size),
        hashes: path.map((hash) => Buffer.from(hash)),
        checkpoint: { envelope: this.#checkpoint(root) },
      },
      canonicalizedBody: Buffer.from(body),
    };
  }

  /** Returns a signed note (C2SP signed-note, tlog-checkpoint). */
  #checkpoint(root: Uint8Array): string {
    const note = `${this.host} - 1\n${this.#size}\n${toBase64(root)}\n`;
    const signature = signDer(this.#key, "sha256", toUtf8(note));
    const hint = logId(this.#key).slice(0, 4);
    return `${note}\n\u2014 ${this.host} ${toBase64(concatBytes(hint, signature))}\n`;
  }
}

function leafHash(entry: Uint8Array): Uint8Array {
  return sha256(concatBytes(Uint8Array.of(0), entry));
}

function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concatBytes(Uint8Array.of(1), left, right));
}

const SHA_256 = "2.16.840.1.101.3.4.2.1";
const SIGNED_DATA = "1.2.840.113549.1.7.2";
const TST_INFO = "1.2.840.113549.1.9.16.1.4";
const CONTENT_TYPE = "1.2.840.113549.1.9.3";
const MESSAGE_DIGEST = "1.2.840.113549.1.9.4";
/** OID of the timestamp policy, in an arc that is reserved for examples. */
const POLICY = "2.999.1";

/** Returns a TimeStampResp of RFC 3161 section 2.4.2, without the authority's certificate. */
export function timestampResponse(authority: CertificateSpec, stamped: Uint8Array, at: Date): Uint8Array {
  const hash = algorithmIdentifier(SHA_256);
  const digest = sha256(stamped);
  const imprint = sequence(hash, octets(digest));
  const info = derOf(sequence(integer(1), oid(POLICY), imprint, integer(digest.slice(0, 8)), generalizedTime(at)));
  const attributes = [
    sequence(oid(CONTENT_TYPE), setOf(oid(TST_INFO))),
    sequence(oid(MESSAGE_DIGEST), setOf(octets(sha256(info)))),
  ];
  const signer = sequence(
    integer(1),
    sequence(authority.issuer ?? authority.subject, integer(authority.serial)),
    hash,
    tagged(0, ...attributes),
    algorithmIdentifier(OID.ecdsaWithSha256),
    octets(signDer(authority.key, "sha256", derOf(setOf(...attributes)))),
  );
  const content = sequence(oid(TST_INFO), tagged(0, octets(info)));
  const signedData = sequence(integer(3), setOf(hash), content, setOf(signer));
  return derOf(sequence(sequence(integer(0)), sequence(oid(SIGNED_DATA), tagged(0, signedData))));
}

function bigEndian(value: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => Math.floor(value / 256 ** (length - 1 - index)) % 256);
}
