/** The manifest or envelope under review, in any encoding, and its changes since a previous one. */
import { type ManifestEnvelope, decodeManifest, decodeManifestEnvelope } from "../decode/manifest/index.js";
import { type Change, compareSides } from "../diff/diff.js";
import { jsonOf, manifestSide } from "../diff/sides.js";
import type { Content } from "../diff/content.js";
import { MalformedError, attempt, faultsIn } from "../errors.js";
import { kindSentence, recognise } from "../inspect/kinds.js";
import { manifestHash } from "../verify/manifest-binding.js";

interface ReadManifest extends ManifestEnvelope {
  /** The JSON of the file, or null for Borsh. */
  readonly json: Content | null;
}

export interface GivenManifest extends ReadManifest {
  readonly hash: Uint8Array;
}

/** Reads a manifest or envelope. Paths of faults begin with `what`. Throws {@link MalformedError} (`manifest`). */
export async function readGivenManifest(what: string, bytes: Uint8Array): Promise<GivenManifest> {
  const { value, faults } = attempt(() => readEither(bytes));
  if (value === undefined) throw new MalformedError("manifest", faultsIn(what, faults, ": "));
  return { ...value, hash: await manifestHash(value.manifest) };
}

/** Refuses an envelope whose bytes can also be read as a bare manifest, because two readers would see two manifests. */
function readEither(given: Uint8Array): ReadManifest {
  const { kind, bytes } = recognise(given) ?? { kind: "manifest", bytes: given };
  if (kind !== "manifest envelope" && kind !== "manifest") throw malformed(`${kindSentence(kind)}, not a manifest`);
  if (kind === "manifest")
    return { manifest: decodeManifest(bytes), json: jsonOf(bytes), manifestSetApprovals: [], shareSetApprovals: [] };
  const envelope = decodeManifestEnvelope(bytes);
  if (attempt(() => decodeManifest(bytes)).value !== undefined)
    throw malformed("ambiguous: the bytes are both a manifest and an envelope");
  return { ...envelope, json: jsonOf(bytes)?.["manifest"] ?? null };
}

function malformed(message: string): MalformedError {
  return new MalformedError("manifest", [{ path: "", message }]);
}

/** Returns every change to what an approval signs. */
export function changesBetween(before: GivenManifest, after: GivenManifest): readonly Change[] {
  return changesOf({ ...before, json: null }, { ...after, json: null });
}

/**
 * Returns the differences of two JSON files that are not in `signed`: they do not change what an approval signs. Files
 * of different versions are not compared, because each version has its own layout.
 */
export function unsignedChanges(
  before: GivenManifest,
  after: GivenManifest,
  signed: readonly Change[],
): readonly Change[] {
  if (before.json === null || after.json === null || before.manifest.version !== after.manifest.version) return [];
  const known = new Set(signed.map(textOf));
  return changesOf(before, after).filter((change) => !known.has(textOf(change)));
}

function changesOf(before: ReadManifest, after: ReadManifest): readonly Change[] {
  const [one, other] = [before, after].map(({ manifest, json }) => manifestSide(manifest, json));
  return compareSides(one!, other!, Number.POSITIVE_INFINITY).changes;
}

function textOf({ what, place, also }: Change): string {
  return JSON.stringify([what, place, also]);
}
