/** Manifest v0 (decode/README.md, "Manifests"): Borsh or JSON. The envelope's JSON names are in snake case. */
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
import { type BorshCodec, type ManifestSchema, borshBytes } from "./schema.js";

const borsh: BorshCodec<PivotManifest> = {
  read: (reader) => readLayout(reader, "v0", readPivot),
  write: (writer, manifest) => writeLayout(writer, manifest, writePivot),
};

export const V0: ManifestSchema<"v0"> = {
  version: "v0",
  recognised: (json) => !hasNewerPivot(json),
  readJson,
  borsh,
  hashInput: (manifest) => borshBytes(borsh, manifest),
  envelope: { manifestSet: "manifest_set_approvals", shareSet: "share_set_approvals", strict: false },
  spellings: ["v0", "V0", "0"],
  draft: null,
};

/** JSON without a version is v1 if its pivot has both members that v1 added, otherwise v0. */
export function hasNewerPivot(json: MemberReader): boolean {
  const pivot = json.get("pivot");
  return isJsonObject(pivot) && Object.hasOwn(pivot, "bridgeConfig") && Object.hasOwn(pivot, "debugMode");
}

/** Around their different pivots. */
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

/** Its fault is reported, so the manifest is never used. */
export const NO_PIVOT: Pivot = { hash: new Uint8Array(), restart: "Never", args: [] };
