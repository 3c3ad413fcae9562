/** Manifest v1 (decode/README.md, "Manifests"): v0 with `bridgeConfig` and `debugMode` in the pivot. */
import type { MemberReader } from "../json-members.js";
import { bridge, bool, vectorOf, restart, binaryHash, struct, texts } from "./fields.js";
import type { PivotManifest } from "./model.js";
import { CAMEL_CASE, type ManifestSchema, hashedAsBorsh } from "./schema.js";
import { TAIL, hasNewerPivot, layoutOf, readJson as readOlderJson, refuseMember } from "./v0.js";

const ADDED = struct({ bridgeConfig: vectorOf(bridge), debugMode: bool });
export const V1_PIVOT = struct({ hash: binaryHash, restart, ...ADDED.fields, args: texts });

export const V1: ManifestSchema<"v1"> = {
  version: "v1",
  recognised: hasNewerPivot,
  readJson,
  ...hashedAsBorsh("v1", layoutOf(V1_PIVOT)),
  envelope: { names: [CAMEL_CASE], strict: false },
  spellings: ["v1", "V1", "1"],
  draft: null,
};

function readJson(reader: MemberReader): PivotManifest {
  const older = readOlderJson(reader);
  for (const name of TAIL) refuseMember(reader, name);
  const pivot = reader.nested("pivot");
  return pivot === undefined ? older : { ...older, version: "v1", pivot: { ...older.pivot, ...ADDED.members(pivot) } };
}
