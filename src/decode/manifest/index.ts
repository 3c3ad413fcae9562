/** Decoding of manifests, whose version is detected by one table (decode/README.md, "Which version"). */
import { equalBytes } from "../../bytes.js";
import { type Fault, FaultList, MalformedError, faultText } from "../../errors.js";
import { type BorshReader, MAX_ITEMS, readBorsh } from "../borsh.js";
import { type JsonObject, isJsonObject, parseJson } from "../json.js";
import { MemberReader } from "../json-members.js";
import { placeOf } from "../shapes.js";
import { approvals, member, struct } from "./fields.js";
import type { Manifest, ManifestEnvelope, ManifestOf, ManifestVersion } from "./model.js";
import type { ApprovalNames, ManifestSchema } from "./schema.js";
import { V0 } from "./v0.js";
import { V0_TAIL } from "./v0-tail.js";
import { V1 } from "./v1.js";
import { V2 } from "./v2.js";
import { V3 } from "./v3.js";

const SCHEMAS: { readonly [V in ManifestVersion]: ManifestSchema<V> } = {
  v0: V0,
  "v0-tail": V0_TAIL,
  v1: V1,
  v2: V2,
  v3: V3,
};

export const MANIFEST_VERSIONS: readonly ManifestVersion[] = Object.values(SCHEMAS).map(({ version }) => version);

type ManifestCode = "manifest" | "manifest-envelope";

/** A manifest with `hashInput`, the bytes whose SHA-256 is the manifest hash. */
interface ManifestWithHashInput {
  readonly manifest: Manifest;
  readonly hashInput: Uint8Array;
}

/**
 * Decodes a manifest of any version, JSON or Borsh. Throws {@link MalformedError} (`manifest`, or `json`) with every
 * fault.
 *
 * @example
 * const manifest = decodeManifest(bytes);
 * if (manifest.version === "v3") console.log(manifest.workloads);
 * else console.log(manifest.pivot);
 */
export function decodeManifest(bytes: Uint8Array): Manifest {
  return readManifest(bytes).manifest;
}

/** Decodes as {@link decodeManifest} does, and returns the hashed bytes, too. */
export function readManifest(bytes: Uint8Array): ManifestWithHashInput {
  const json = asJsonObject(bytes);
  if (json === undefined) {
    const manifest = oneBorshReading("manifest", bytes, (read, reader) => read(reader));
    const hashInput = manifestHashInput(manifest);
    // If these are the input bytes, `oneBorshReading` has already tried every version.
    return equalBytes(hashInput, bytes) ? { manifest, hashInput } : unambiguous("manifest", manifest, hashInput);
  }
  const manifest = withoutFaults("manifest", json, readJsonManifest);
  return unambiguous("manifest", manifest, manifestHashInput(manifest));
}

/**
 * Decodes an envelope of any version. Throws {@link MalformedError} (`manifest-envelope`, or `json`) with every fault.
 */
export function decodeManifestEnvelope(bytes: Uint8Array): ManifestEnvelope {
  return readManifestEnvelope(bytes).envelope;
}

/**
 * Decodes as {@link decodeManifestEnvelope} does, and returns the hashed bytes, too. If the envelope holds `shown`,
 * which was read before, the check for ambiguity is not repeated.
 */
export function readManifestEnvelope(
  bytes: Uint8Array,
  shown?: ManifestWithHashInput,
): ManifestWithHashInput & { readonly envelope: ManifestEnvelope } {
  const json = asJsonObject(bytes);
  const envelope =
    json === undefined ? readBorshEnvelope(bytes) : withoutFaults("manifest-envelope", json, readJsonEnvelope);
  const { manifest } = envelope;
  const hashInput = manifestHashInput(manifest);
  const isShown = shown !== undefined && equalBytes(shown.hashInput, hashInput) && isSame(shown.manifest, manifest);
  if (!isShown) unambiguous("manifest-envelope", manifest, hashInput);
  return { envelope, manifest, hashInput };
}

const APPROVALS = struct({ manifestSetApprovals: approvals, shareSetApprovals: approvals });

function readBorshEnvelope(bytes: Uint8Array): ManifestEnvelope {
  return oneBorshReading("manifest-envelope", bytes, (read, reader) => ({
    manifest: read(reader),
    ...APPROVALS.read(reader, null),
  }));
}

function readJsonEnvelope(reader: MemberReader): ManifestEnvelope | undefined {
  const nested = reader.nested("manifest");
  const manifest = nested && readJsonManifest(nested);
  // The names of the approvals depend on the version.
  if (manifest === undefined) return undefined;
  const names = approvalNames(manifest.version, reader.object);
  for (const other of namesBeside(names, manifest.version, reader.object))
    reader.fault(other, `beside ${names.manifestSet} or ${names.shareSet}: use one spelling for both`);
  if (SCHEMAS[manifest.version].envelope.strict) reader.refuseUnknown(["manifest", names.manifestSet, names.shareSet]);
  return {
    manifest,
    manifestSetApprovals: member(reader, names.manifestSet, approvals),
    shareSetApprovals: member(reader, names.shareSet, approvals),
  };
}

/**
 * Returns the bytes whose SHA-256 is the manifest hash: QOS canonical JSON for v2 and v3, Borsh for the others. They
 * are always made from the decoded value (decode/README.md, "Manifest hash").
 */
export function manifestHashInput<V extends ManifestVersion>(manifest: ManifestOf<V>): Uint8Array {
  return SCHEMAS[manifest.version].hashInput(manifest);
}

/** Returns the encodings that a version has, the usual one first. */
export function manifestEncodings(version: ManifestVersion): readonly ["json"] | readonly ["borsh", "json"] {
  return SCHEMAS[version].borsh === null ? ["json"] : ["borsh", "json"];
}

/** Returns the JSON names of an envelope's approvals, in the spelling that `envelope` uses or in the usual one. */
export function approvalNames(version: ManifestVersion, envelope: object = {}): ApprovalNames {
  const { names } = SCHEMAS[version].envelope;
  return names.find((spelling) => namesIn(envelope, spelling).length > 0) ?? names[0];
}

/** Returns the members of an envelope that name its approvals in another spelling. */
function namesBeside(names: ApprovalNames, version: ManifestVersion, envelope: object): string[] {
  const others = SCHEMAS[version].envelope.names.filter((spelling) => spelling !== names);
  return others.flatMap((spelling) => namesIn(envelope, spelling));
}

function namesIn(envelope: object, { manifestSet, shareSet }: ApprovalNames): string[] {
  return [manifestSet, shareSet].filter((name) => Object.hasOwn(envelope, name));
}

/** Returns a phrase for reports, or null for a released version. */
export function manifestDraft(version: ManifestVersion): string | null {
  return SCHEMAS[version].draft;
}

/** Returns the value by which `qosManifestVersion` declares the version. */
export function declarationOf(version: ManifestVersion): string {
  return SCHEMAS[version].spellings[0];
}

/**
 * Returns the versions that a `qosManifestVersion` can mean, or none if it is unknown. `v2`, `V2` and `2` mean v2, and
 * so on; `v0` means v0 or v0-tail.
 */
export function declaredManifestVersions(text: string): readonly ManifestVersion[] {
  return MANIFEST_VERSIONS.filter((version) => SCHEMAS[version].spellings.includes(text));
}

function readJsonManifest(reader: MemberReader): Manifest | undefined {
  const found = MANIFEST_VERSIONS.find((version) => isRecognised(reader, version));
  if (found !== undefined) return SCHEMAS[found].readJson(reader);
  const named = MANIFEST_VERSIONS.filter((version) => SCHEMAS[version].recognised === "by name");
  return reader.fault("version", `expected ${named.map((version) => JSON.stringify(version)).join(" or ")}`);
}

/** Whether JSON has the schema of this version. Any member `version` excludes the schemas that have none. */
function isRecognised(reader: MemberReader, version: ManifestVersion): boolean {
  const { recognised } = SCHEMAS[version];
  if (recognised === "by name") return reader.get("version") === version;
  return !Object.hasOwn(reader.object, "version") && recognised(reader);
}

/** Returns the object, or undefined if the bytes are not JSON. Throws for JSON that breaks the strict rules. */
function asJsonObject(bytes: Uint8Array): JsonObject | undefined {
  const first = bytes.find((byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09);
  // Borsh can begin with 0x7b ('{'), too, if a name has 123 bytes. The zero bytes of that length cannot be JSON.
  if (first !== 0x7b || bytes.subarray(0, 4).includes(0)) return undefined;
  const value = parseJson(bytes, { numbers: "literal", maxValues: MAX_ITEMS });
  return isJsonObject(value) ? value : undefined;
}

/** Reads a structure that contains a manifest. It calls `manifest` to read that part. */
type ReadAround<T> = (manifest: (reader: BorshReader) => Manifest, reader: BorshReader) => T;

interface BorshReading<T> {
  readonly version: ManifestVersion;
  readonly value: T | undefined;
  /** The first fault, or null if the bytes decode as this version. */
  readonly fault: Fault | null;
}

function borshReadings<T>(bytes: Uint8Array, read: ReadAround<T>): BorshReading<T>[] {
  return MANIFEST_VERSIONS.flatMap((version) => {
    const codec = SCHEMAS[version].borsh;
    if (codec === null) return [];
    const { value, fault } = readBorsh(bytes, (reader) => read(codec.read, reader));
    return [{ version, value, fault }];
  });
}

function oneBorshReading<T>(code: ManifestCode, bytes: Uint8Array, read: ReadAround<T>): T {
  const readings = borshReadings(bytes, read);
  const [first, second] = readings.filter(({ value }) => value !== undefined);
  if (first?.value === undefined) {
    const texts = readings.map(({ version, fault }) => `as ${version}: ${faultText(fault === null ? [] : [fault])}`);
    const message = `neither JSON nor borsh (${texts.join("; ")})`;
    throw new MalformedError(code, [{ path: "", message }]);
  }
  if (second !== undefined) throw ambiguous(code, first.version, second.version);
  return first.value;
}

/**
 * Refuses a manifest whose Borsh bytes also decode as another version or to another value: two manifests would share
 * one hash, and the one shown might not be the one booted (decode/README.md, "Which version", rule 4).
 */
function unambiguous(code: ManifestCode, manifest: Manifest, hashInput: Uint8Array): ManifestWithHashInput {
  if (SCHEMAS[manifest.version].borsh === null) return { manifest, hashInput };
  const readings = borshReadings(hashInput, (read, reader) => read(reader));
  const other = readings.find(({ version, value }) => value !== undefined && version !== manifest.version);
  if (other !== undefined) throw ambiguous(code, manifest.version, other.version);
  if (readings.some(({ value }) => isSame(value, manifest))) return { manifest, hashInput };
  throw new MalformedError(code, [{ path: "", message: "ambiguous: its borsh encoding decodes to another manifest" }]);
}

function ambiguous(code: ManifestCode, one: ManifestVersion, other: ManifestVersion): MalformedError {
  const message = `ambiguous: the bytes are both a ${one} and a ${other} encoding`;
  return new MalformedError(code, [{ path: "", message }]);
}

function isSame(one: unknown, other: unknown): boolean {
  if (one instanceof Uint8Array) return other instanceof Uint8Array && equalBytes(one, other);
  if (typeof one !== "object" || one === null || typeof other !== "object" || other === null) return one === other;
  const names = Object.keys(one);
  const isMember = (name: string): boolean => isSame(Reflect.get(one, name), Reflect.get(other, name));
  return names.length === Object.keys(other).length && names.every(isMember);
}

function withoutFaults<T>(code: ManifestCode, json: JsonObject, read: (reader: MemberReader) => T | undefined): T {
  const faults = new FaultList();
  const value = read(new MemberReader(json, placeOf(faults)));
  if (faults.length > 0 || value === undefined) throw new MalformedError(code, faults);
  return value;
}

export type * from "./model.js";
