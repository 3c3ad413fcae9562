/**
 * Every member of a manifest, and what holds it (review/README.md, "Members"). The tables are total: a new member of
 * the model needs a row.
 */
import { toHex } from "../bytes.js";
import type { JsonValue } from "../decode/json.js";
import { imageDigestText } from "../decode/manifest/image-digest.js";
import type {
  EnclaveMeasurements,
  Manifest,
  MemberSet,
  Namespace,
  PatchSet,
  Pivot,
  PivotManifest,
  Workload,
  WorkloadManifest,
} from "../decode/manifest/model.js";
import type { DeploymentPins } from "../appraise/parsed-policy.js";
import { type PinName, commonPcrs } from "../appraise/pins.js";

/** What a pin cannot compare, and the caller's files can. */
export interface Beside {
  /** The PCRs of the image. */
  readonly pcrs: readonly number[];
  readonly hasBinary: boolean;
  readonly hasPrevious: boolean;
}

interface Row<T> {
  /** As `accept` names it. */
  readonly name: string;
  readonly show: (value: T) => JsonValue;
  /** Whether a deployment, or a file of the caller, decides the value. */
  readonly isHeld: (pins: DeploymentPins, beside: Beside) => boolean;
}

/** Null: a rule of its own decides every value of it. */
type Rows<T> = { readonly [K in keyof T]-?: Row<NonNullable<T[K]>> | null };

function pinned(...names: readonly PinName[]): (pins: DeploymentPins) => boolean {
  return (pins) => names.some((name) => pins[name] !== undefined);
}

const unpinnable = (): boolean => false;

function pcr(index: number): Row<Uint8Array> {
  return {
    name: `pcr${index}`,
    show: toHex,
    isHeld: (pins, { pcrs }) => commonPcrs(pins).includes(index) || pcrs.includes(index),
  };
}

const NAMESPACE: Rows<Namespace> = {
  name: { name: "namespace", show: String, isHeld: pinned("namespace") },
  // A higher one than before is what a successor has.
  nonce: {
    name: "nonce",
    show: Number,
    isHeld: (pins, { hasPrevious }) => pins.minNonce !== undefined || hasPrevious,
  },
  quorumKey: { name: "quorumKey", show: toHex, isHeld: pinned("quorumKey") },
};

const PIVOT: Rows<Pivot> = {
  hash: {
    name: "pivotHash",
    show: toHex,
    isHeld: (pins, { hasBinary }) => pins.pivotHash !== undefined || hasBinary,
  },
  restart: { name: "restart", show: String, isHeld: unpinnable },
  args: { name: "args", show: (args) => [...args], isHeld: pinned("pivotArgs") },
  bridgeConfig: {
    name: "bridgeConfig",
    show: (bridges) => bridges.map((bridge) => ({ ...bridge })),
    isHeld: unpinnable,
  },
  debugMode: null,
  env: { name: "env", show: (env) => byName(env), isHeld: pinned("pivotEnv") },
};

const ENCLAVE: Rows<EnclaveMeasurements> = {
  pcr0: pcr(0),
  pcr1: pcr(1),
  pcr2: pcr(2),
  pcr3: pcr(3),
  awsRootCertificate: null,
  qosCommit: { name: "qosCommit", show: String, isHeld: unpinnable },
};

const WORKLOAD: Rows<Workload> = {
  name: { name: "workloads", show: String, isHeld: pinned("workloads") },
  imageDigest: { name: "workloads", show: imageDigestText, isHeld: pinned("workloads") },
  restart: { name: "restart", show: String, isHeld: unpinnable },
  mounts: { name: "mounts", show: (mounts) => mounts.map((mount) => ({ ...mount })), isHeld: unpinnable },
};

type Others = Omit<PivotManifest & WorkloadManifest, "version" | "namespace" | "pivot" | "enclave" | "workloads"> &
  Pick<PivotManifest, "patchSet" | "clientTimeoutMs" | "poolSize"> &
  Pick<WorkloadManifest, "volumes">;

const OTHERS: Rows<Others> = {
  manifestSet: { name: "manifestSet", show: showSet, isHeld: pinned("manifestSet") },
  shareSet: { name: "shareSet", show: showSet, isHeld: pinned("shareSet") },
  patchSet: { name: "patchSet", show: showPatchSet, isHeld: unpinnable },
  dns: { name: "dns", show: ({ resolvers }) => [...resolvers], isHeld: unpinnable },
  clientTimeoutMs: { name: "clientTimeoutMs", show: Number, isHeld: unpinnable },
  poolSize: { name: "poolSize", show: Number, isHeld: unpinnable },
  volumes: { name: "volumes", show: (volumes) => byName(volumes, (volume) => ({ ...volume })), isHeld: unpinnable },
};

/** Sorted: the order of a set has no meaning. */
function showSet({ threshold, members }: MemberSet): JsonValue {
  const shown = members.map(({ alias, pubKey }) => ({ alias, pubKey: toHex(pubKey) }));
  return { threshold, members: shown.sort((one, other) => (one.pubKey < other.pubKey ? -1 : 1)) };
}

function showPatchSet({ threshold, members }: PatchSet): JsonValue {
  return { threshold, members: members.map(({ pubKey }) => toHex(pubKey)).sort() };
}

/** Sorted, without a prototype: `__proto__` is an ordinary name. */
function byName<T>(
  map: ReadonlyMap<string, T>,
  show: (value: T) => JsonValue = (value) => value as JsonValue,
): JsonValue {
  const entries = [...map].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, value]) => [name, show(value)]);
  return Object.assign(Object.create(null) as Record<string, JsonValue>, Object.fromEntries(entries));
}

/** One member of a manifest, with its value. */
interface ManifestMember {
  readonly name: string;
  readonly place: string;
  readonly value: JsonValue;
  readonly isHeld: Row<never>["isHeld"];
}

/** Every member that needs a pin, a comparison or an acceptance. */
export function manifestMembers(manifest: Manifest): ManifestMember[] {
  const { namespace, pivot, enclave, workloads } = manifest;
  return [
    ...rowsOf(NAMESPACE, namespace, "namespace"),
    ...(pivot === undefined ? [] : rowsOf(PIVOT, pivot, "pivot")),
    ...(workloads ?? []).flatMap((workload, index) => rowsOf(WORKLOAD, workload, `workloads[${index}]`)),
    ...rowsOf(ENCLAVE, enclave, "enclave"),
    ...rowsOf(OTHERS, manifest as unknown as Others, ""),
  ];
}

/** An absent member has no value to hold. Null is a value: the tail of v0-tail is part of the hash. */
function rowsOf<T extends object>(rows: Rows<T>, values: T, at: string): ManifestMember[] {
  return (Object.keys(rows) as (keyof T & string)[]).flatMap((member) => {
    const row = rows[member];
    const value = values[member];
    if (row === null || value === undefined) return [];
    const place = at === "" ? member : `${at}.${member}`;
    return [{ name: row.name, place, value: value === null ? null : row.show(value), isHeld: row.isHeld }];
  });
}

/** The names that `accept` knows, in the order of a manifest. */
export const ACCEPTABLE: readonly string[] = [
  ...new Set(
    [NAMESPACE, PIVOT, WORKLOAD, ENCLAVE, OTHERS].flatMap((rows) =>
      Object.values(rows as Record<string, { readonly name: string } | null>).flatMap((row) => row?.name ?? []),
    ),
  ),
];
