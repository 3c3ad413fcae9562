/**
 * Verifies Sigstore bundles with the package `@sigstore/verify`, an optional peer (provenance/README.md). It needs
 * Node, since the package has no build for browsers.
 */
import type { toSignedEntity, toTrustMaterial } from "@sigstore/verify";
import type * as Sigstore from "@sigstore/verify";
import { createRequire } from "node:module";
import { cut } from "../errors.js";
import type { ProvenanceRefusal, ProvenanceSignature, ProvenanceVerifier } from "../verify/provenance-demand.js";

export { splitBundles } from "../decode/provenance-bundle.js";

type Bundle = Parameters<typeof toSignedEntity>[0];
type TrustedRoot = Parameters<typeof toTrustMaterial>[0];
type Entity = ReturnType<typeof toSignedEntity>;

interface Packages {
  readonly sigstore: typeof Sigstore;
  readonly bundleFromJSON: (json: unknown) => Bundle;
  readonly rootFromJSON: (json: unknown) => TrustedRoot;
}

/** Thrown if the package `@sigstore/verify` is not installed, or cannot be loaded. */
export class ProvenanceError extends Error {
  override readonly name = "ProvenanceError";
  readonly code = "missing";
}

/**
 * Loads `@sigstore/verify`. The verifier keeps no state, reads no clock and fetches nothing: it may serve any number of
 * verifications. Rejects with {@link ProvenanceError} (`missing`) if the package is not installed.
 * @example
 * ```ts
 * const provenanceVerifier = await sigstoreVerifier();
 * const evidence = { bootProofs: [bootProof], provenance: [bundle] };
 * requireVerified(await verifyEvidence(evidence, { policy, now: new Date(), provenanceVerifier }));
 * ```
 */
export async function sigstoreVerifier(): Promise<ProvenanceVerifier> {
  const packages = await loadPackages();
  return Object.freeze<ProvenanceVerifier>({
    verify: async (bundle, trustedRoot, thresholds) => {
      try {
        return verified(packages, { bundle, trustedRoot, thresholds });
      } catch (error) {
        return refusal(error);
      }
    },
  });
}

/**
 * Loads the packages. The packages that parse bundles and roots are dependencies of `@sigstore/verify`, so the versions
 * that it uses are loaded.
 */
async function loadPackages(): Promise<Packages> {
  try {
    const sigstore = await import("@sigstore/verify");
    const near = createRequire(createRequire(import.meta.url).resolve("@sigstore/verify"));
    const { bundleFromJSON } = near("@sigstore/bundle") as { bundleFromJSON: Packages["bundleFromJSON"] };
    const specs = near("@sigstore/protobuf-specs") as { TrustedRoot: { fromJSON: Packages["rootFromJSON"] } };
    return { sigstore, bundleFromJSON, rootFromJSON: (json) => specs.TrustedRoot.fromJSON(json) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isMissing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
    const reason = isMissing ? "is not installed" : `cannot be loaded (${message})`;
    throw new ProvenanceError(
      `provenance needs the package @sigstore/verify, which ${reason}: npm install @sigstore/verify`,
      { cause: error },
    );
  }
}

interface Inputs {
  readonly bundle: string;
  readonly trustedRoot: string;
  readonly thresholds: Parameters<ProvenanceVerifier["verify"]>[2];
}

function verified(
  { sigstore, bundleFromJSON, rootFromJSON }: Packages,
  { bundle, trustedRoot, thresholds }: Inputs,
): ProvenanceSignature | ProvenanceRefusal {
  const decoded = bundleFromJSON(JSON.parse(bundle));
  const { dsseEnvelope } = decoded.content as { readonly dsseEnvelope?: { readonly payload: Uint8Array } };
  const certificate = certificateOf(decoded);
  if (dsseEnvelope === undefined || certificate === undefined)
    return { verified: false, reason: "no envelope that is signed with a certificate" };
  const material = sigstore.toTrustMaterial(rootFromJSON(JSON.parse(trustedRoot)));
  const entity = sigstore.toSignedEntity(decoded);
  const verifier = new sigstore.Verifier(material, {
    tlogThreshold: thresholds.inclusions,
    ctlogThreshold: thresholds.certificateTimestamps,
    timestampThreshold: thresholds.signedTimes,
  });
  // No policy is passed, because the package would read the name in it as a regular expression without anchors.
  verifier.verify(entity);
  return {
    verified: true,
    certificate: new Uint8Array(certificate),
    payload: new Uint8Array(dsseEnvelope.payload),
    signedTimes: entity.timestamps.flatMap(signedTime),
  };
}

/** Returns the certificate that `toSignedEntity` uses, which is the first of a chain. */
function certificateOf({ verificationMaterial: { content } }: Bundle): Uint8Array | undefined {
  if (content.$case === "certificate") return content.certificate.rawBytes;
  return content.$case === "x509CertificateChain" ? content.x509CertificateChain.certificates[0]?.rawBytes : undefined;
}

/** Returns the signed time. The time of a log is used only with the log's inclusion promise, which signs this time. */
function signedTime(timestamp: Entity["timestamps"][number]): Date[] {
  if (timestamp.$case === "timestamp-authority") return [timestamp.timestamp.signingTime];
  const { inclusionPromise, integratedTime } = timestamp.tlogEntry;
  return inclusionPromise === undefined ? [] : [new Date(Number(integratedTime) * 1000)];
}

const MAX_REASON = 300;

function refusal(error: unknown): ProvenanceRefusal {
  const { message, cause } = error as Error;
  const inner = cause instanceof Error ? `: ${cause.message}` : "";
  return { verified: false, reason: cut(`${message}${inner}`, MAX_REASON) };
}
