/** A row of the table of manifest versions. */
import { toUtf8 } from "../../bytes.js";
import { BorshWriter, type BorshReader } from "../borsh.js";
import type { MemberReader } from "../json-members.js";
import type { Struct } from "./fields.js";
import type { ManifestByVersion, ManifestVersion, PivotManifest } from "./model.js";

interface BorshCodec<M> {
  readonly read: (reader: BorshReader) => M;
  readonly write: (writer: BorshWriter, manifest: M) => void;
}

/** The JSON names of an envelope's two lists of approvals. */
export interface ApprovalNames {
  readonly manifestSet: string;
  readonly shareSet: string;
}

export const CAMEL_CASE: ApprovalNames = { manifestSet: "manifestSetApprovals", shareSet: "shareSetApprovals" };
export const SNAKE_CASE: ApprovalNames = { manifestSet: "manifest_set_approvals", shareSet: "share_set_approvals" };

export interface ManifestSchema<V extends ManifestVersion> {
  readonly version: V;
  /**
   * How JSON of this version is recognised: by its member `version` or, without that member, by its shape. Shapes
   * exclude each other.
   */
  readonly recognised: "by name" | ((json: MemberReader) => boolean);
  readonly readJson: (json: MemberReader) => ManifestByVersion[V];
  /** Borsh codec, or null if the version exists only as JSON. */
  readonly borsh: BorshCodec<ManifestByVersion[V]> | null;
  readonly hashInput: (manifest: ManifestByVersion[V]) => Uint8Array;
  readonly envelope: {
    /** The JSON names of its approvals in each spelling, the usual one first. An envelope has one spelling. */
    readonly names: readonly [ApprovalNames, ...ApprovalNames[]];
    readonly strict: boolean;
  };
  /** Values of `qosManifestVersion` that name this version, the usual one first. Several versions can share a value. */
  readonly spellings: readonly [string, ...string[]];
  readonly draft: string | null;
}

/** The members of a manifest in Borsh, whose bytes do not name its version. */
export type BorshLayout = Required<
  Omit<PivotManifest, "version" | "workloads" | "dns" | "clientTimeoutMs" | "poolSize">
>;

/** The part of a row of a version that exists in Borsh, over which it is hashed. */
export function hashedAsBorsh<T extends BorshLayout>(
  version: PivotManifest["version"],
  layout: Struct<T>,
): Pick<ManifestSchema<"v0">, "borsh" | "hashInput"> {
  const borsh: BorshCodec<PivotManifest> = {
    read: (reader) => ({ version, ...layout.read(reader, null) }),
    write: (writer, manifest) => layout.write(writer, manifest as PivotManifest & T),
  };
  return { borsh, hashInput: (manifest) => borshBytes(borsh, manifest) };
}

/** The part of a row of a version that exists only as JSON, which names the version and has no unknown members. */
export function hashedAsJson<V extends "v2" | "v3">(
  canonicalJson: (manifest: ManifestByVersion[V]) => string,
): Pick<ManifestSchema<V>, "recognised" | "borsh" | "hashInput" | "envelope"> {
  return {
    recognised: "by name",
    borsh: null,
    hashInput: (manifest) => toUtf8(canonicalJson(manifest)),
    envelope: { names: [CAMEL_CASE], strict: true },
  };
}

function borshBytes<M>(codec: BorshCodec<M>, manifest: M): Uint8Array {
  const writer = new BorshWriter();
  codec.write(writer, manifest);
  return writer.finish();
}
