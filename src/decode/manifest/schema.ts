/** What the dispatch has to know of a manifest version. Each version's file ends in its row. */
import { BorshWriter, type BorshReader } from "../borsh.js";
import type { MemberReader } from "../json-members.js";
import type { ManifestByVersion, ManifestVersion } from "./model.js";

/** A version's borsh: read and written side by side. */
export interface BorshCodec<M> {
  readonly read: (reader: BorshReader) => M;
  readonly write: (writer: BorshWriter, manifest: M) => void;
}

export interface ManifestSchema<V extends ManifestVersion> {
  readonly version: V;
  /**
   * Its JSON is told from that of other versions by its member `version`, which names this one; or, where there is no
   * such member, by its shape. The shapes exclude each other.
   */
  readonly recognised: "by name" | ((json: MemberReader) => boolean);
  readonly readJson: (json: MemberReader) => ManifestByVersion[V];
  /** Null where the version exists as JSON only. */
  readonly borsh: BorshCodec<ManifestByVersion[V]> | null;
  /** The bytes whose SHA-256 is the manifest hash. */
  readonly hashInput: (manifest: ManifestByVersion[V]) => Uint8Array;
  readonly envelope: {
    /** The JSON names of the approvals. */
    readonly manifestSet: string;
    readonly shareSet: string;
    /** Whether members that are not known are refused. */
    readonly strict: boolean;
  };
  /** How `qosManifestVersion` spells it. */
  readonly spellings: readonly string[];
  /** Says so where the version is not released; null where it is. */
  readonly draft: string | null;
}

export function borshBytes<M>(codec: BorshCodec<M>, manifest: M): Uint8Array {
  const writer = new BorshWriter();
  codec.write(writer, manifest);
  return writer.finish();
}
