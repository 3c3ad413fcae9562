/** Caches for many verifications with one setting: checked manifests, and values that depend on a boot proof. */
import { equalBytes } from "../bytes.js";
import type { Check } from "../checks.js";

const MAX_MANIFESTS = 16;
/** Maximum bytes of a manifest and its envelope together. Genuine ones have about ten thousand. */
const MAX_BYTES = 131_072;

interface Fields {
  /** The manifest outside the envelope. Null if only the envelope contains a manifest, and undefined if unreadable. */
  readonly manifest?: Uint8Array | null | undefined;
  readonly manifestEnvelope?: Uint8Array | undefined;
  readonly declaredManifestVersion?: string | null | undefined;
}

interface Entry<Checked> {
  readonly fields: Fields;
  /** Sum of the envelope. It is compared before the bytes, because almost all entries have different sums. */
  readonly sum: number;
  readonly checked: Checked;
  readonly checks: readonly Check[];
}

/** Cache of a few checked manifests. Its key is all that the checks read: manifest, envelope and declared version. */
export class ApprovedManifests<Checked> {
  #entries: Entry<Checked>[] = [];

  find(fields: Fields): Pick<Entry<Checked>, "checked" | "checks"> | undefined {
    return this.#find(fields, sumOf(fields));
  }

  #find(fields: Fields, sum: number): Entry<Checked> | undefined {
    const known = this.#entries.find((entry) => entry.sum === sum && isSame(entry.fields, fields));
    if (known !== undefined) this.#entries = [...this.#entries.filter((entry) => entry !== known), known];
    return known;
  }

  /** Keeps a checked manifest. Call it only for a verified boot proof. */
  keep(
    { manifest, manifestEnvelope, declaredManifestVersion }: Fields,
    checked: Checked,
    checks: readonly Check[],
  ): void {
    if (manifest === undefined || !manifestEnvelope) return;
    if ((manifest?.length ?? 0) + manifestEnvelope.length > MAX_BYTES) return;
    const fields = { manifest, manifestEnvelope, declaredManifestVersion };
    const sum = sumOf(fields);
    if (this.#find(fields, sum) === undefined)
      this.#entries = [...this.#entries, { fields, sum, checked, checks }].slice(-MAX_MANIFESTS);
  }
}

/** Returns the FNV-1a sum of the envelope. It only selects the entries that {@link isSame} compares. */
function sumOf({ manifestEnvelope }: Fields): number {
  if (manifestEnvelope === undefined || manifestEnvelope.length > MAX_BYTES) return 0;
  let sum = 0x811c9dc5;
  for (let i = 0; i < manifestEnvelope.length; i++) sum = Math.imul(sum ^ manifestEnvelope[i]!, 0x01000193);
  return sum;
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

/**
 * Cache of the last value for each verified object, kept while the object lives. The value must depend only on the
 * object and on `under`. It is made again if any item of `under` has changed.
 */
export class Remembered<T> {
  readonly #known = new WeakMap<object, { readonly under: readonly unknown[]; readonly value: T }>();

  of(verified: object, under: readonly unknown[], make: () => T): T {
    const known = this.#known.get(verified);
    const isSame =
      known?.under.length === under.length && known.under.every((value, at) => Object.is(value, under[at]));
    if (known !== undefined && isSame) return known.value;
    const value = make();
    this.#known.set(verified, { under, value });
    return value;
  }
}
