/**
 * A few manifests of boot proofs that were verified, by the bytes of manifest and envelope: what is asked of those
 * (decoding, hash, approvals) depends on nothing else, and all boot proofs of a deployment carry the same.
 */
import { equalBytes } from "../bytes.js";
import type { Check } from "../checks.js";

const MAX_MANIFESTS = 16;
/** Bytes of the two: genuine ones have ten thousand. */
const MAX_BYTES = 131_072;

/** What was asked: the fields of the boot proof. */
interface Fields {
  readonly manifest?: Uint8Array | undefined;
  readonly manifestEnvelope?: Uint8Array | undefined;
  readonly declaredManifestVersion?: string | null | undefined;
}

interface Entry<Checked> {
  readonly fields: Fields;
  readonly checked: Checked;
  readonly checks: readonly Check[];
}

export class ApprovedManifests<Checked> {
  /** The most recently used last. */
  #entries: Entry<Checked>[] = [];

  /** What was answered of the same fields; undefined where they are not known. */
  find(fields: Fields): Omit<Entry<Checked>, "fields"> | undefined {
    const known = this.#entries.find((entry) => isSame(entry.fields, fields));
    if (known !== undefined) this.#entries = [...this.#entries.filter((entry) => entry !== known), known];
    return known;
  }

  /** Only for a boot proof that was verified whole. */
  keep(
    { manifest, manifestEnvelope, declaredManifestVersion }: Fields,
    checked: Checked,
    checks: readonly Check[],
  ): void {
    if (!manifest || !manifestEnvelope || manifest.length + manifestEnvelope.length > MAX_BYTES) return;
    const fields = { manifest, manifestEnvelope, declaredManifestVersion };
    if (this.find(fields) === undefined)
      this.#entries = [...this.#entries, { fields, checked, checks }].slice(-MAX_MANIFESTS);
  }
}

function isSame(a: Fields, b: Fields): boolean {
  const isSameBytes = (one?: Uint8Array, other?: Uint8Array): boolean =>
    one !== undefined && other !== undefined && equalBytes(one, other);
  return (
    a.declaredManifestVersion === b.declaredManifestVersion &&
    isSameBytes(a.manifest, b.manifest) &&
    isSameBytes(a.manifestEnvelope, b.manifestEnvelope)
  );
}
