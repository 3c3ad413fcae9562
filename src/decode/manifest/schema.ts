/** A row of the table of manifest versions. */
import { BorshWriter, type BorshReader } from "../borsh.js";
import type { MemberReader } from "../json-members.js";
import type { ManifestByVersion, ManifestVersion } from "./model.js";

export interface BorshCodec<M> {
  readonly read: (reader: BorshReader) => M;
  readonly write: (writer: BorshWriter, manifest: M) => void;
}

export interface ManifestSchema<V extends ManifestVersion> {
  readonly version: V;
  /** By a member `version` that names it or, without that member, by its shape. Shapes exclude each other. */
  readonly recognised: "by name" | ((json: MemberReader) => boolean);
  readonly readJson: (json: MemberReader) => ManifestByVersion[V];
  /** Null if the version exists only as JSON. */
  readonly borsh: BorshCodec<ManifestByVersion[V]> | null;
  readonly hashInput: (manifest: ManifestByVersion[V]) => Uint8Array;
  readonly envelope: {
    readonly manifestSet: string;
    readonly shareSet: string;
    readonly strict: boolean;
  };
  /** Values of `qosManifestVersion` that name it. */
  readonly spellings: readonly string[];
  readonly draft: string | null;
}

export function borshBytes<M>(codec: BorshCodec<M>, manifest: M): Uint8Array {
  const writer = new BorshWriter();
  codec.write(writer, manifest);
  return writer.finish();
}
