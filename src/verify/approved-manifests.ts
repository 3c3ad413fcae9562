/** A few checked manifests, by the bytes of manifest and envelope, on which those checks alone depend. */
import { equalBytes } from "../bytes.js";
import type { Check } from "../checks.js";

const MAX_MANIFESTS = 16;
/** Genuine ones have ten thousand bytes together. */
const MAX_BYTES = 131_072;

interface Fields {
  /** Null: inside the envelope only. Undefined: unreadable. */
  readonly manifest?: Uint8Array | null | undefined;
  readonly manifestEnvelope?: Uint8Array | undefined;
  readonly declaredManifestVersion?: string | null | undefined;
}

interface Entry<Checked> {
  readonly fields: Fields;
  readonly checked: Checked;
  readonly checks: readonly Check[];
}

export class ApprovedManifests<Checked> {
  #entries: Entry<Checked>[] = [];

  find(fields: Fields): Omit<Entry<Checked>, "fields"> | undefined {
    const known = this.#entries.find((entry) => isSame(entry.fields, fields));
    if (known !== undefined) this.#entries = [...this.#entries.filter((entry) => entry !== known), known];
    return known;
  }

  /** Call it only for a verified boot proof. */
  keep(
    { manifest, manifestEnvelope, declaredManifestVersion }: Fields,
    checked: Checked,
    checks: readonly Check[],
  ): void {
    if (manifest === undefined || !manifestEnvelope) return;
    if ((manifest?.length ?? 0) + manifestEnvelope.length > MAX_BYTES) return;
    const fields = { manifest, manifestEnvelope, declaredManifestVersion };
    if (this.find(fields) === undefined)
      this.#entries = [...this.#entries, { fields, checked, checks }].slice(-MAX_MANIFESTS);
  }
}

function isSame(a: Fields, b: Fields): boolean {
  const isSameBytes = (one?: Uint8Array | null, other?: Uint8Array | null): boolean =>
    one && other ? equalBytes(one, other) : one === null && other === null;
  return (
    a.declaredManifestVersion === b.declaredManifestVersion &&
    isSameBytes(a.manifest, b.manifest) &&
    isSameBytes(a.manifestEnvelope, b.manifestEnvelope)
  );
}
