/** Types of a QOS manifest's content, with QOS's names. */

export type ManifestVersion = keyof ManifestByVersion;

export interface Namespace {
  readonly name: string;
  /** Increases with each manifest of the namespace. */
  readonly nonce: number;
  readonly quorumKey: Uint8Array;
}

export type BridgeConfig =
  | { readonly type: "server"; readonly port: number; readonly host: string }
  | { readonly type: "client"; readonly port: number; readonly host: string | null };

export interface Pivot {
  /** SHA-256 of the application binary. */
  readonly hash: Uint8Array;
  readonly restart: "Never" | "Always";
  readonly args: readonly string[];
  /** Bridges, in v1 and later. */
  readonly bridgeConfig?: readonly BridgeConfig[];
  /** Whether debug mode is on, in v1 and later. */
  readonly debugMode?: boolean;
  /** Values by name, in v2. */
  readonly env?: ReadonlyMap<string, string>;
}

export interface QuorumMember {
  readonly alias: string;
  readonly pubKey: Uint8Array;
}

export interface MemberSet {
  readonly threshold: number;
  readonly members: readonly QuorumMember[];
}

export interface PatchSet {
  readonly threshold: number;
  readonly members: readonly { readonly pubKey: Uint8Array }[];
}

export interface EnclaveMeasurements {
  readonly pcr0: Uint8Array;
  readonly pcr1: Uint8Array;
  readonly pcr2: Uint8Array;
  readonly pcr3: Uint8Array;
  readonly awsRootCertificate: Uint8Array;
  readonly qosCommit: string;
}

interface CommonManifest {
  readonly namespace: Namespace;
  readonly manifestSet: MemberSet;
  readonly shareSet: MemberSet;
  readonly enclave: EnclaveMeasurements;
  /** Resolvers as canonical IP addresses, in v2 and later. */
  readonly dns?: { readonly resolvers: readonly string[] };
}

/** Manifest v0 to v2, which has one application, the pivot. */
export interface PivotManifest extends CommonManifest {
  readonly version: "v0" | "v0-tail" | "v1" | "v2";
  readonly pivot: Pivot;
  readonly workloads?: undefined;
  /** The patch set of v0, v0-tail and v1. */
  readonly patchSet?: PatchSet;
  /** Milliseconds (u16), in v0-tail. */
  readonly clientTimeoutMs?: number | null;
  /** Number of connections (u8), in v0-tail. */
  readonly poolSize?: number | null;
}

export type Mount =
  | { readonly type: "volume"; readonly source: string; readonly mountPath: string; readonly readOnly: boolean }
  | { readonly type: "file"; readonly source: string; readonly mountPath: string; readonly readOnly: true };

export interface Workload {
  readonly name: string;
  /** SHA-256 of the OCI manifest of its image. */
  readonly imageDigest: Uint8Array;
  readonly restart: "never" | "always";
  readonly mounts: readonly Mount[];
}

export interface Volume {
  readonly type: "tmpfs";
  readonly mountPath: string;
}

export const WORKLOADS_MAX = 16;
/** A lower-case DNS label (RFC 1123 section 2.1). */
export const WORKLOAD_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Manifest v3, a draft of QOS, whose applications are container images. */
export interface WorkloadManifest extends CommonManifest {
  readonly version: "v3";
  readonly pivot?: undefined;
  readonly workloads: readonly Workload[];
  /** Volumes by name. */
  readonly volumes?: ReadonlyMap<string, Volume>;
}

export interface ManifestByVersion {
  readonly v0: PivotManifest;
  readonly "v0-tail": PivotManifest;
  readonly v1: PivotManifest;
  readonly v2: PivotManifest;
  readonly v3: WorkloadManifest;
}

export type Manifest = ManifestByVersion[ManifestVersion];

/** A manifest typed by its `version`, for tables over the versions. */
export type ManifestOf<V extends ManifestVersion> = ManifestByVersion[V] & { readonly version: V };

export interface Approval {
  readonly signature: Uint8Array;
  readonly member: QuorumMember;
}

export interface ManifestEnvelope {
  readonly manifest: Manifest;
  readonly manifestSetApprovals: readonly Approval[];
  readonly shareSetApprovals: readonly Approval[];
}
