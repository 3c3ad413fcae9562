/** The manifest or envelope that a review is about, in any encoding. */
import { type Approval, type Manifest, decodeManifest, decodeManifestEnvelope } from "../decode/manifest/index.js";
import { type Fault, MalformedError, attempt } from "../errors.js";
import { recognise } from "../inspect/kind.js";
import { manifestHash } from "../verify/manifest-binding.js";

export interface GivenManifest {
  readonly manifest: Manifest;
  readonly hash: Uint8Array;
  readonly manifestSetApprovals: readonly Approval[];
  readonly shareSetApprovals: readonly Approval[];
}

/** `what` begins the path of its faults. Throws {@link MalformedError} (`manifest`). */
export async function readGivenManifest(what: string, bytes: Uint8Array): Promise<GivenManifest> {
  const { value, faults } = attempt(() => readEither(bytes));
  if (value === undefined)
    throw new MalformedError(
      "manifest",
      faults.map((fault) => within(what, fault)),
    );
  return { ...value, hash: await manifestHash(value.manifest) };
}

function within(what: string, { path, message }: Fault): Fault {
  if (what === "") return { path, message };
  return { path: path === "" ? what : `${what}: ${path}`, message };
}

function readEither(given: Uint8Array): Omit<GivenManifest, "hash"> {
  const recognised = recognise(given);
  const bytes = recognised?.bytes ?? given;
  if (recognised?.kind === "manifest envelope") return readEnvelope(bytes, recognised.json !== undefined);
  if (recognised !== null && recognised.kind !== "manifest") throw malformed(`this is no manifest: ${recognised.kind}`);
  return { manifest: decodeManifest(bytes), manifestSetApprovals: [], shareSetApprovals: [] };
}

/** Refuses bytes that can also be read as a bare manifest: two readers would see two manifests. */
function readEnvelope(bytes: Uint8Array, isJson: boolean): Omit<GivenManifest, "hash"> {
  const envelope = decodeManifestEnvelope(bytes);
  if (!isJson && attempt(() => decodeManifest(bytes)).value !== undefined)
    throw malformed("ambiguous: the bytes are both a manifest and an envelope");
  return envelope;
}

function malformed(message: string): MalformedError {
  return new MalformedError("manifest", [{ path: "", message }]);
}
