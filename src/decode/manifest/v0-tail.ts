/**
 * Manifest v0-tail (decode/README.md, "Manifests"): v0 with `clientTimeoutMs` and `poolSize` at its end. QOS had it
 * from 2025-09-24 to 2026-01-29, and called it v0.
 */
import type { MemberReader } from "../json-members.js";
import { optionOf, struct, u16, u8 } from "./fields.js";
import type { PivotManifest } from "./model.js";
import { type ManifestSchema, hashedAsBorsh } from "./schema.js";
import { TAIL, V0, V0_LAYOUT, hasNewerPivot, hasTail, readJson as readOlderJson } from "./v0.js";

const ADDED = struct({ clientTimeoutMs: optionOf(u16), poolSize: optionOf(u8) });

export const V0_TAIL: ManifestSchema<"v0-tail"> = {
  version: "v0-tail",
  recognised: (json) => !hasNewerPivot(json) && hasTail(json),
  readJson,
  ...hashedAsBorsh("v0-tail", struct({ ...V0_LAYOUT.fields, ...ADDED.fields })),
  envelope: V0.envelope,
  spellings: V0.spellings,
  draft: null,
};

/** Reads a manifest with both members, since QOS had no layout with only one of them. */
function readJson(reader: MemberReader): PivotManifest {
  for (const name of TAIL)
    if (!Object.hasOwn(reader.object, name)) reader.fault(name, "expected an integer or null, got nothing");
  return { ...readOlderJson(reader), version: "v0-tail", ...ADDED.members(reader) };
}
