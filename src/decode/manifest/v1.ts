/** Manifest v1 (decode/README.md, "Manifests"): v0 with `bridgeConfig` and `debugMode` in the pivot. */
import type { BorshReader, BorshWriter } from "../borsh.js";
import type { MemberReader } from "../json-members.js";
import { SHA256_LENGTH } from "../lengths.js";
import { readBridge, readRestart, writeBridge, writeRestart } from "./borsh-fields.js";
import { bridgeConfigField } from "./json-fields.js";
import type { Pivot, PivotManifest } from "./model.js";
import { type BorshCodec, CAMEL_CASE, type ManifestSchema, borshBytes } from "./schema.js";
import { TAIL, hasNewerPivot, readLayout, readJson as readOlderJson, refuseMember, writeLayout } from "./v0.js";

const borsh: BorshCodec<PivotManifest> = {
  read: (reader) => readLayout(reader, "v1", readPivot),
  write: (writer, manifest) => writeLayout(writer, manifest, writePivot),
};

export const V1: ManifestSchema<"v1"> = {
  version: "v1",
  recognised: hasNewerPivot,
  readJson,
  borsh,
  hashInput: (manifest) => borshBytes(borsh, manifest),
  envelope: { names: [CAMEL_CASE], strict: false },
  spellings: ["v1", "V1", "1"],
  draft: null,
};

function readPivot(reader: BorshReader): Pivot {
  return {
    hash: reader.fixed(SHA256_LENGTH, "pivot.hash"),
    restart: readRestart(reader),
    bridgeConfig: reader.vector("pivot.bridgeConfig", (item) => readBridge(reader, item)),
    debugMode: reader.bool("pivot.debugMode"),
    args: reader.vector("pivot.args", (item) => reader.string(item)),
  };
}

function writePivot(writer: BorshWriter, pivot: Pivot): void {
  writer.fixed(pivot.hash);
  writeRestart(writer, pivot.restart);
  writer.vector(pivot.bridgeConfig!, (bridge) => writeBridge(writer, bridge));
  writer.bool(pivot.debugMode!);
  writer.vector(pivot.args, (arg) => writer.string(arg));
}

function readJson(reader: MemberReader): PivotManifest {
  const older = readOlderJson(reader);
  for (const name of TAIL) refuseMember(reader, name);
  const pivot = reader.nested("pivot");
  if (pivot === undefined) return older;
  const added = { bridgeConfig: bridgeConfigField(pivot), debugMode: pivot.boolean("debugMode") ?? false };
  return { ...older, version: "v1", pivot: { ...older.pivot, ...added } };
}
