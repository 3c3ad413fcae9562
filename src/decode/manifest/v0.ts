/** Manifest v0 (decode/README.md, "Manifests"): Borsh or JSON. */
import { isJsonObject } from "../json.js";
import type { MemberReader } from "../json-members.js";
import {
  type Struct,
  blank,
  member,
  namespace,
  patchSet,
  restart,
  setsAndEnclave,
  binaryHash,
  struct,
  texts,
} from "./fields.js";
import type { Pivot, PivotManifest } from "./model.js";
import { type BorshLayout, CAMEL_CASE, type ManifestSchema, SNAKE_CASE, hashedAsBorsh } from "./schema.js";

const PIVOT = struct({ hash: binaryHash, restart, args: texts });

/** Returns the layout that v0 and v1 share around their different pivots. */
export function layoutOf<P extends Pivot>(pivot: Struct<P>): Struct<BorshLayout & { readonly pivot: P }> {
  return struct({ namespace, pivot, ...setsAndEnclave.fields, patchSet });
}

export const V0_LAYOUT = layoutOf(PIVOT);

export const V0: ManifestSchema<"v0"> = {
  version: "v0",
  recognised: (json) => !hasNewerPivot(json) && !hasTail(json),
  readJson,
  ...hashedAsBorsh("v0", V0_LAYOUT),
  envelope: { names: [SNAKE_CASE, CAMEL_CASE], strict: false },
  spellings: ["v0", "V0", "0"],
  draft: null,
};

/** Whether JSON without a version is v1, because its pivot has both members that v1 added. */
export function hasNewerPivot(json: MemberReader): boolean {
  const pivot = json.get("pivot");
  return isJsonObject(pivot) && Object.hasOwn(pivot, "bridgeConfig") && Object.hasOwn(pivot, "debugMode");
}

/** The two members of v0-tail. */
export const TAIL = ["clientTimeoutMs", "poolSize"] as const;

/** Whether one of the two members is present, even if null, since a dropped member would change the hash. */
export function hasTail({ object }: MemberReader): boolean {
  return TAIL.some((name) => Object.hasOwn(object, name));
}

export function readJson(reader: MemberReader): PivotManifest {
  const pivot = reader.nested("pivot") ?? blank();
  refuseMember(reader, "appHostPort");
  refuseMember(pivot, "hostConfig");
  return {
    version: "v0",
    namespace: member(reader, "namespace", namespace),
    pivot: PIVOT.members(pivot),
    ...setsAndEnclave.members(reader),
    patchSet: member(reader, "patchSet", patchSet),
  };
}

/** Adds a fault for a member of another layout. If it were dropped, another manifest would be hashed. */
export function refuseMember(reader: MemberReader, name: string): void {
  if (Object.hasOwn(reader.object, name)) reader.fault(name, "a member of another manifest layout");
}
