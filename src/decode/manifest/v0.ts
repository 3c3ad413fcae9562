/** Manifest v0 (decode/README.md, "Manifests"): Borsh or JSON. */
import type { BorshReader, BorshWriter } from "../borsh.js";
import { isJsonObject } from "../json.js";
import { type MemberReader, hexField } from "../json-members.js";
import { SHA256_LENGTH } from "../lengths.js";
import {
  readEnclave,
  readMemberSet,
  readNamespace,
  readPatchSet,
  readRestart,
  writeEnclave,
  writeMemberSet,
  writeNamespace,
  writePatchSet,
  writeRestart,
} from "./borsh-fields.js";
import { enclaveField, memberSetField, namespaceField, patchSetField, restartField } from "./json-fields.js";
import type { Pivot, PivotManifest } from "./model.js";
import { type BorshCodec, CAMEL_CASE, type ManifestSchema, SNAKE_CASE, borshBytes } from "./schema.js";

export const V0_BORSH: BorshCodec<PivotManifest> = {
  read: (reader) => readLayout(reader, "v0", readPivot),
  write: (writer, manifest) => writeLayout(writer, manifest, writePivot),
};

export const V0: ManifestSchema<"v0"> = {
  version: "v0",
  recognised: (json) => !hasNewerPivot(json) && !hasTail(json),
  readJson,
  borsh: V0_BORSH,
  hashInput: (manifest) => borshBytes(V0_BORSH, manifest),
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

/** Reads the layout that v0 and v1 share around their different pivots. */
export function readLayout(
  reader: BorshReader,
  version: "v0" | "v1",
  pivot: (reader: BorshReader) => Pivot,
): PivotManifest {
  return {
    version,
    namespace: readNamespace(reader),
    pivot: pivot(reader),
    manifestSet: readMemberSet(reader, "manifestSet"),
    shareSet: readMemberSet(reader, "shareSet"),
    enclave: readEnclave(reader),
    patchSet: readPatchSet(reader),
  };
}

export function writeLayout(
  writer: BorshWriter,
  manifest: PivotManifest,
  pivot: (writer: BorshWriter, pivot: Pivot) => void,
): void {
  writeNamespace(writer, manifest.namespace);
  pivot(writer, manifest.pivot);
  writeMemberSet(writer, manifest.manifestSet);
  writeMemberSet(writer, manifest.shareSet);
  writeEnclave(writer, manifest.enclave);
  writePatchSet(writer, manifest.patchSet!);
}

function readPivot(reader: BorshReader): Pivot {
  return {
    hash: reader.fixed(SHA256_LENGTH, "pivot.hash"),
    restart: readRestart(reader),
    args: reader.vector("pivot.args", (item) => reader.string(item)),
  };
}

function writePivot(writer: BorshWriter, pivot: Pivot): void {
  writer.fixed(pivot.hash);
  writeRestart(writer, pivot.restart);
  writer.vector(pivot.args, (arg) => writer.string(arg));
}

export function readJson(reader: MemberReader): PivotManifest {
  const pivot = reader.nested("pivot");
  refuseMember(reader, "appHostPort");
  if (pivot !== undefined) refuseMember(pivot, "hostConfig");
  return {
    version: "v0",
    namespace: namespaceField(reader),
    pivot:
      pivot === undefined
        ? NO_PIVOT
        : {
            hash: hexField(pivot, "hash", SHA256_LENGTH),
            restart: restartField(pivot),
            args: pivot.strings("args") ?? [],
          },
    manifestSet: memberSetField(reader, "manifestSet"),
    shareSet: memberSetField(reader, "shareSet"),
    enclave: enclaveField(reader),
    patchSet: patchSetField(reader),
  };
}

/** Adds a fault for a member of another layout. If it were dropped, another manifest would be hashed. */
export function refuseMember(reader: MemberReader, name: string): void {
  if (Object.hasOwn(reader.object, name)) reader.fault(name, "a member of another manifest layout");
}

/** Replacement of a missing pivot. The fault is reported, so the manifest is never used. */
export const NO_PIVOT: Pivot = { hash: new Uint8Array(), restart: "Never", args: [] };
