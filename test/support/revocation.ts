/** Revocation lists of the lab's authorities, which a test can alter in one place. */
import { signDer } from "../../src/lab/keys.js";
import { type CertificateSpec, type ExtensionSpec, OID, algorithmIdentifier } from "../../src/lab/pki.js";
import {
  der,
  derBitString,
  derExplicit,
  derInteger,
  derOctetString,
  derOid,
  derSequence,
  derTime,
  derTrue,
  derUri,
} from "./der.js";

export const HOUR = 3_600_000;

export interface ListSpec {
  /** Null leaves the version out, which is then 1. */
  readonly version?: number | null;
  readonly issuer: CertificateSpec;
  readonly key?: CertificateSpec["key"];
  readonly name?: Uint8Array;
  readonly thisUpdate: Date;
  readonly nextUpdate?: Date | null;
  readonly serials?: readonly Uint8Array[];
  /** Extensions of each entry, or of so many first ones. */
  readonly entry?: readonly ExtensionSpec[];
  readonly entries?: number;
  readonly extensions?: readonly ExtensionSpec[];
  readonly inner?: Uint8Array;
  readonly outer?: Uint8Array;
  readonly digest?: "sha256" | "sha384";
  readonly signature?: (signature: Uint8Array) => Uint8Array;
}

const SHA384 = algorithmIdentifier(OID.ecdsaWithSha384);
export const SHA256 = algorithmIdentifier(OID.ecdsaWithSha256);

function extensionOf({ id, critical, value }: ExtensionSpec): Uint8Array {
  return derSequence(derOid(id), ...(critical ? [derTrue()] : []), derOctetString(value));
}

function extensionsOf(specs: readonly ExtensionSpec[]): Uint8Array {
  return derSequence(Buffer.concat(specs.map(extensionOf)));
}

/** A list in DER (RFC 5280 section 5.1). */
export function revocationList(spec: ListSpec): Uint8Array {
  const { issuer, serials = [], entry = [], extensions = [], version = 1, digest = "sha384" } = spec;
  const entries = serials.map((serial, index) => {
    const own = entry.length === 0 || index >= (spec.entries ?? Infinity) ? [] : [extensionsOf(entry)];
    return derSequence(derInteger(serial), derTime(spec.thisUpdate), ...own);
  });
  const next = spec.nextUpdate === undefined ? new Date(spec.thisUpdate.getTime() + 24 * HOUR) : spec.nextUpdate;
  const tbs = derSequence(
    ...(version === null ? [] : [derInteger(version)]),
    spec.inner ?? SHA384,
    spec.name ?? issuer.subject,
    derTime(spec.thisUpdate),
    ...(next === null ? [] : [derTime(next)]),
    ...(entries.length === 0 ? [] : [derSequence(...entries)]),
    ...(extensions.length === 0 ? [] : [derExplicit(0, extensionsOf(extensions))]),
  );
  const signature = signDer(spec.key ?? issuer.key, digest, tbs);
  return derSequence(tbs, spec.outer ?? SHA384, derBitString(spec.signature?.(signature) ?? signature));
}

/** A DistributionPointName: a fullName with one URI. */
export const pointName = (url: string): Uint8Array => derExplicit(0, derExplicit(0, derUri(url)));

/** cRLDistributionPoints with one point, and more members of it. */
export function distributionPoints(url: string, ...more: Uint8Array[]): ExtensionSpec {
  return { id: "2.5.29.31", critical: false, value: derSequence(derSequence(pointName(url), ...more)) };
}

/** issuingDistributionPoint, with more members. */
export function issuingPoint(url: string | null, ...more: Uint8Array[]): ExtensionSpec {
  const value = derSequence(...(url === null ? [] : [pointName(url)]), ...more);
  return { id: "2.5.29.28", critical: true, value };
}

/** A BOOLEAN TRUE under a context tag. */
export const flagged = (number: number): Uint8Array => der(0x80 | number, Uint8Array.of(0xff));
