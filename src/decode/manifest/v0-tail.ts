/**
 * Manifest v0-tail (decode/README.md, "Manifests"): v0 with `clientTimeoutMs` and `poolSize` at its end. QOS had it
 * from 2025-09-24 to 2026-01-29, and called it v0.
 */
import type { BorshReader, BorshWriter } from "../borsh.js";
import { type MemberReader, integerField } from "../json-members.js";
import type { PivotManifest } from "./model.js";
import { type BorshCodec, type ManifestSchema, borshBytes } from "./schema.js";
import { TAIL, V0, V0_BORSH, hasNewerPivot, hasTail, readJson as readOlderJson } from "./v0.js";

const U8_MAX = 0xff;
const U16_MAX = 0xffff;

const borsh: BorshCodec<PivotManifest> = { read: readBorsh, write: writeBorsh };

export const V0_TAIL: ManifestSchema<"v0-tail"> = {
  version: "v0-tail",
  recognised: (json) => !hasNewerPivot(json) && hasTail(json),
  readJson,
  borsh,
  hashInput: (manifest) => borshBytes(borsh, manifest),
  envelope: V0.envelope,
  spellings: V0.spellings,
  draft: null,
};

function readBorsh(reader: BorshReader): PivotManifest {
  return {
    ...V0_BORSH.read(reader),
    version: "v0-tail",
    clientTimeoutMs: reader.option("clientTimeoutMs", () => reader.u16("clientTimeoutMs")),
    poolSize: reader.option("poolSize", () => reader.u8("poolSize")),
  };
}

function writeBorsh(writer: BorshWriter, manifest: PivotManifest): void {
  V0_BORSH.write(writer, manifest);
  writer.option(manifest.clientTimeoutMs!, (value) => writer.u16(value));
  writer.option(manifest.poolSize!, (value) => writer.u8(value));
}

/** Reads a manifest with both members, since QOS had no layout with only one of them. */
function readJson(reader: MemberReader): PivotManifest {
  for (const name of TAIL)
    if (!Object.hasOwn(reader.object, name)) reader.fault(name, "expected an integer or null, got nothing");
  return {
    ...readOlderJson(reader),
    version: "v0-tail",
    clientTimeoutMs: optionalInteger(reader, "clientTimeoutMs", U16_MAX),
    poolSize: optionalInteger(reader, "poolSize", U8_MAX),
  };
}

function optionalInteger(reader: MemberReader, name: string, max: number): number | null {
  return reader.get(name) === undefined ? null : integerField(reader, name, max);
}
