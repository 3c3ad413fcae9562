/** Manifest v1: v0 with `bridgeConfig` and `debugMode` in the pivot, after `restart`. Borsh, or JSON in camel case. */
import type { BorshReader, BorshWriter } from "../borsh.js";
import type { MemberReader } from "../json.js";
import { readBridge, readRestart, writeBridge, writeRestart } from "./borsh-fields.js";
import { bridgeConfigField } from "./json-fields.js";
import { HASH_LENGTH, type Pivot, type PivotManifest } from "./model.js";
import * as v0 from "./v0.js";

export const JSON_APPROVALS = { manifestSet: "manifestSetApprovals", shareSet: "shareSetApprovals" } as const;

export function readBorsh(reader: BorshReader): PivotManifest {
  return v0.readLayout(reader, "v1", readPivot);
}

export function writeBorsh(writer: BorshWriter, manifest: PivotManifest): void {
  v0.writeLayout(writer, manifest, writePivot);
}

function readPivot(reader: BorshReader): Pivot {
  return {
    hash: reader.fixed(HASH_LENGTH, "pivot.hash"),
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

/** JSON without a version is v1 where its pivot has both members that v1 added. */
export function hasJsonShape(reader: MemberReader): boolean {
  const pivot = reader.get("pivot");
  return typeof pivot === "object" && pivot !== null && Object.hasOwn(pivot, "bridgeConfig") && Object.hasOwn(pivot, "debugMode");
}

export function readJson(reader: MemberReader): PivotManifest {
  const older = v0.readJson(reader);
  const pivot = reader.nested("pivot");
  if (pivot === undefined) return older;
  const added = { bridgeConfig: bridgeConfigField(pivot), debugMode: pivot.boolean("debugMode") ?? false };
  return { ...older, version: "v1", pivot: { ...older.pivot, ...added } };
}
