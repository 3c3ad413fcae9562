/**
 * The other services of a Sigstore instance: the log of certificates (RFC 6962), the log of signatures in the form of
 * Rekor v1, and a timestamp authority (RFC 3161). Each signs with its own software key.
 */
import { concatBytes, toBase64, toHex, toUtf8 } from "../bytes.js";
import type { JsonObject } from "../decode/json.js";
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
  const sha256WithEcdsa = Uint8Array.of(4, 3);
  const signature = concatBytes(sha256WithEcdsa, sized(signDer(log, "sha256", signed)));
  const sct = concatBytes(Uint8Array.of(0), logId(log), time, noExtensions, signature);
  return derOf(octets(sized(sized(sct))));
}

/**
 * Adds a body to a log of signatures, as the second leaf of a tree of two (RFC 6962 section 2.1). Returns the entry in
 * the form of bundles, with a promise and a proof of inclusion.
 */
export function logEntry(host: string, key: KeyPair, body: Uint8Array, at: Date): JsonObject {
  const signed = (text: string): Uint8Array => signDer(key, "sha256", toUtf8(text));
  const [logIndex, treeSize, keyId] = [1, 2, logId(key)];
  const integratedTime = Math.floor(at.getTime() / 1000);
  const canonicalizedBody = toBase64(body);
  const rootHash = toBase64(sha256(concatBytes(NODE, FIRST, leafHash(body))));
  const promised = { body: canonicalizedBody, integratedTime, logID: toHex(keyId), logIndex };
  // A checkpoint is a signed note (C2SP signed-note, tlog-checkpoint).
  const note = `${host} - 1\n${treeSize}\n${rootHash}\n`;
  const envelope = `${note}\n\u2014 ${host} ${toBase64(concatBytes(keyId.slice(0, 4), signed(note)))}\n`;
  return {
    logIndex,
    logId: { keyId: toBase64(keyId) },
    kindVersion: { kind: "dsse", version: "0.0.1" },
    integratedTime,
    inclusionPromise: { signedEntryTimestamp: toBase64(signed(JSON.stringify(promised))) },
    inclusionProof: { logIndex, rootHash, treeSize, hashes: [toBase64(FIRST)], checkpoint: { envelope } },
    canonicalizedBody,
  };
}

function leafHash(entry: Uint8Array): Uint8Array {
  return sha256(concatBytes(Uint8Array.of(0), entry));
}

const NODE = Uint8Array.of(1);
const FIRST = leafHash(toUtf8("the first entry"));

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

function sized(bytes: Uint8Array): Uint8Array {
  return concatBytes(bigEndian(bytes.length, 2), bytes);
}

function bigEndian(value: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => Math.floor(value / 256 ** (length - 1 - index)) % 256);
}
