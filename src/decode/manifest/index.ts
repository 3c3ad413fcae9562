/** Which manifest version are these bytes? One dispatch for manifests and their envelopes (qos.md, "Which version"). */
import { toUtf8 } from "../../bytes.js";
import { MalformedError, attempt, faultText } from "../../errors.js";
import { BorshReader, BorshWriter } from "../borsh.js";
import { type JsonObject, MemberReader, isJsonObject, parseJson } from "../json.js";
import { readApprovals, writeApprovals } from "./borsh-fields.js";
import { approvalsField } from "./json-fields.js";
import type { Manifest, ManifestEnvelope, ManifestVersion, PivotManifest } from "./model.js";
import * as v0 from "./v0.js";
import * as v1 from "./v1.js";
import * as v2 from "./v2.js";

const JSON_SCHEMAS = { v0, v1, v2 } as const;
const BORSH_SCHEMAS = { v0, v1 } as const;

/** Decodes a manifest of any version, JSON or borsh. Throws {@link MalformedError} (`manifest`, or `json`) with every fault. */
export function decodeManifest(bytes: Uint8Array): Manifest {
  const json = asJsonObject(bytes);
  if (json === undefined) {
    return oneBorshReading("manifest", (schema) => {
      const reader = new BorshReader(bytes);
      const manifest = schema.readBorsh(reader);
      reader.end();
      return manifest;
    });
  }
  const reader = new MemberReader(json);
  return withoutFaults("manifest", reader, manifestOf(reader));
}

/** Decodes an envelope of any version. Throws {@link MalformedError} (`manifest-envelope`, or `json`) with every fault. */
export function decodeManifestEnvelope(bytes: Uint8Array): ManifestEnvelope {
  const json = asJsonObject(bytes);
  if (json === undefined) {
    return oneBorshReading("manifest-envelope", (schema) => {
      const reader = new BorshReader(bytes);
      const envelope = {
        manifest: schema.readBorsh(reader),
        manifestSetApprovals: readApprovals(reader, "manifestSetApprovals"),
        shareSetApprovals: readApprovals(reader, "shareSetApprovals"),
      };
      reader.end();
      return envelope;
    });
  }
  const reader = new MemberReader(json);
  const nested = reader.nested("manifest");
  const manifest = nested && manifestOf(nested);
  const names = JSON_SCHEMAS[(manifest?.version ?? "v1") as PivotManifest["version"]].JSON_APPROVALS;
  if (manifest?.version === "v2") reader.refuseUnknown(["manifest", names.manifestSet, names.shareSet]);
  const envelope = {
    manifest: manifest as Manifest,
    manifestSetApprovals: approvalsField(reader, names.manifestSet),
    shareSetApprovals: approvalsField(reader, names.shareSet),
  };
  return withoutFaults("manifest-envelope", reader, envelope);
}

/**
 * The bytes whose SHA-256 is the manifest hash: QOS canonical JSON for v2, borsh for v1 and v0, always made from the
 * decoded value (qos.md, "Manifest hash").
 */
export function manifestHashInput(manifest: Manifest): Uint8Array {
  if (manifest.version === "v2") return toUtf8(v2.canonicalJson(manifest));
  const writer = new BorshWriter();
  BORSH_SCHEMAS[manifest.version as "v0" | "v1"].writeBorsh(writer, manifest as PivotManifest);
  return writer.finish();
}

/** The borsh encoding of a v0 or v1 envelope. */
export function encodeBorshEnvelope(envelope: ManifestEnvelope): Uint8Array {
  const writer = new BorshWriter();
  writer.fixed(manifestHashInput(envelope.manifest));
  writeApprovals(writer, envelope.manifestSetApprovals);
  writeApprovals(writer, envelope.shareSetApprovals);
  return writer.finish();
}

/** The version that `qosManifestVersion` declares (`v2`, `V2` or `2`; likewise 0 and 1); null where it declares none known. */
export function declaredManifestVersion(text: string): ManifestVersion | null {
  const digit = /^[vV]?([012])$/.exec(text)?.[1];
  return digit === undefined ? null : (`v${digit}` as ManifestVersion);
}

function manifestOf(reader: MemberReader): Manifest {
  // A version member, whatever it says, is a promise of v2: never read as an older schema.
  if (Object.hasOwn(reader.object, "version")) return v2.readJson(reader);
  return v1.hasJsonShape(reader) ? v1.readJson(reader) : v0.readJson(reader);
}

/** The bytes as a JSON object; undefined where they are not JSON. JSON that breaks the strict rules stays JSON, and throws. */
function asJsonObject(bytes: Uint8Array): JsonObject | undefined {
  const first = bytes.find((byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09);
  // 0x7b is '{'. Borsh can begin so too, with a name of 123 bytes; the zero bytes of that length are not JSON.
  if (first !== 0x7b || bytes.subarray(0, 4).includes(0)) return undefined;
  const value = parseJson(bytes, { numbers: "literal" });
  return isJsonObject(value) ? value : undefined;
}

function oneBorshReading<T>(code: "manifest" | "manifest-envelope", read: (schema: typeof v0 | typeof v1) => T): T {
  const older = attempt(() => read(v0));
  const newer = attempt(() => read(v1));
  if (older.value !== undefined && newer.value !== undefined) {
    throw new MalformedError(code, [{ path: "", message: "ambiguous: the bytes are both a v0 and a v1 encoding" }]);
  }
  const value = newer.value ?? older.value;
  if (value !== undefined) return value;
  const message = `neither JSON nor borsh (as v0: ${faultText(older.faults)}; as v1: ${faultText(newer.faults)})`;
  throw new MalformedError(code, [{ path: "", message }]);
}

function withoutFaults<T>(code: "manifest" | "manifest-envelope", reader: MemberReader, value: T): T {
  if (reader.faults.length > 0) throw new MalformedError(code, reader.faults);
  return value;
}

export type * from "./model.js";
