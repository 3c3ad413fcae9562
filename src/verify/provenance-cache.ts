/** Cache for a verifier of provenance, since the same bundle is verified with a lot of evidence. */
import { toHex, toUtf8 } from "../bytes.js";
import { sha256 } from "./digest.js";
import type { ProvenanceThresholds, ProvenanceVerifier } from "./provenance-demand.js";

const MAX_REMEMBERED = 256;
/** Maximum characters of a kept bundle. Genuine ones have 20,000. A larger one is verified each time. */
const MAX_TEXT = 65_536;

/**
 * Returns a verifier that caches the outcomes of `verifier`. This is safe, because an outcome depends only on bundle,
 * root and thresholds, and not on a clock. The least recently used outcome is dropped first. Errors are not cached.
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

/** Returns the key of an outcome. It is made from a list, because the order of an object's members may vary. */
async function keyOf(bundle: string, trustedRoot: string, thresholds: ProvenanceThresholds): Promise<string> {
  const { inclusions, certificateTimestamps, signedTimes } = thresholds;
  const parts = [bundle, trustedRoot, inclusions, certificateTimestamps, signedTimes];
  return toHex(await sha256(toUtf8(JSON.stringify(parts))));
}
