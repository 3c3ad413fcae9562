/** Remembers what a verifier of provenance returned: the same bundle is verified for many pieces of evidence. */
import { toHex, toUtf8 } from "../bytes.js";
import { sha256 } from "./digest.js";
import type { ProvenanceThresholds, ProvenanceVerifier } from "./provenance-demand.js";

const MAX_REMEMBERED = 256;
/** Characters. Genuine bundles have 20,000; a larger one is verified each time, and not kept. */
const MAX_TEXT = 65_536;

/**
 * The same verifier with a memory: the outcome depends on bundle, root and thresholds alone, not on a clock. The least
 * recently used goes first. A rejection is not remembered.
 */
export function rememberingVerifier(verifier: ProvenanceVerifier): ProvenanceVerifier {
  const known = new Map<string, ReturnType<ProvenanceVerifier["verify"]>>();
  return {
    async verify(bundle, trustedRoot, thresholds) {
      if (bundle.length > MAX_TEXT) return verifier.verify(bundle, trustedRoot, thresholds);
      const key = await keyOf(bundle, trustedRoot, thresholds);
      const outcome = known.get(key) ?? verifier.verify(bundle, trustedRoot, thresholds);
      known.delete(key);
      known.set(key, outcome);
      if (known.size > MAX_REMEMBERED) known.delete(known.keys().next().value!);
      return outcome.catch((error: unknown) => {
        known.delete(key);
        throw error;
      });
    },
  };
}

/** A list, since JSON writes it in one order. */
async function keyOf(bundle: string, trustedRoot: string, thresholds: ProvenanceThresholds): Promise<string> {
  const { inclusions, certificateTimestamps, signedTimes } = thresholds;
  const parts = [bundle, trustedRoot, inclusions, certificateTimestamps, signedTimes];
  return toHex(await sha256(toUtf8(JSON.stringify(parts))));
}
