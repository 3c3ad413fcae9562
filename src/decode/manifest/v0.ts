/**
 * Manifest v0: borsh `namespace, pivot {hash, restart, args}, manifestSet, shareSet, enclave, patchSet`, or JSON of the
 * same members. Its envelope's JSON names are in snake case.
 */
import type { BorshReader, BorshWriter } from "../borsh.js";
import type { MemberReader } from "../json.js";
import {
  HASH_LENGTH, readEnclave, readMemberSet, readNamespace, readPatchSet, readRestart, writeEnclave, writeMemberSet,
  writeNamespace, writePatchSet, writeRestart,
} from "./borsh-fields.js";
import { enclaveField, hexField, memberSetField, namespaceField, patchSetField, restartField } from "./json-fields.js";
import type { Manifest, Pivot } from "./model.js";

export const JSON_APPROVALS = { manifestSet: "manifest_set_approvals", shareSet: "share_set_approvals" } as const;

export function readBorsh(reader: BorshReader): Manifest {
  return {
    version: "v0",
    namespace: readNamespace(reader),
    pivot: readPivot(reader),
    manifestSet: readMemberSet(reader, "manifestSet"),
    shareSet: readMemberSet(reader, "shareSet"),
    enclave: readEnclave(reader),
    patchSet: readPatchSet(reader),
  };
}

function readPivot(reader: BorshReader): Pivot {
  return {
    hash: reader.fixed(HASH_LENGTH, "pivot.hash"),
    restart: readRestart(reader),
    args: reader.vector("pivot.args", (item) => reader.string(item)),
  };
}

export function writeBorsh(writer: BorshWriter, manifest: Manifest): void {
  writeNamespace(writer, manifest.namespace);
  writer.fixed(manifest.pivot.hash);
  writeRestart(writer, manifest.pivot.restart);
  writer.vector(manifest.pivot.args, (arg) => writer.string(arg));
  writeMemberSet(writer, manifest.manifestSet);
  writeMemberSet(writer, manifest.shareSet);
  writeEnclave(writer, manifest.enclave);
  writePatchSet(writer, manifest.patchSet!);
}

export function readJson(reader: MemberReader): Manifest {
  const pivot = reader.nested("pivot");
  return {
    version: "v0",
    namespace: namespaceField(reader),
    pivot: pivot === undefined ? NO_PIVOT : {
      hash: hexField(pivot, "hash", HASH_LENGTH),
      restart: restartField(pivot),
      args: pivot.strings("args") ?? [],
    },
    manifestSet: memberSetField(reader, "manifestSet"),
    shareSet: memberSetField(reader, "shareSet"),
    enclave: enclaveField(reader),
    patchSet: patchSetField(reader),
  };
}

/** Stands in where the pivot is missing; the fault is reported, and the manifest never used. */
export const NO_PIVOT: Pivot = { hash: new Uint8Array(), restart: "Never", args: [] };
