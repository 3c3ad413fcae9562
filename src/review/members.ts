/**
 * Every member of a manifest, and what fixes its value (review/README.md, "Members"). The types require every member,
 * so a new member of the model needs a row.
 */
import {
  type EnclaveMeasurements,
  type Manifest,
  type Namespace,
  type Pivot,
  type PivotManifest,
  WORKLOAD_NAME,
  type Workload,
  type WorkloadManifest,
} from "../decode/manifest/model.js";
import type { DeploymentPins } from "../appraise/parsed-policy.js";
import { type PinName, commonPcrs } from "../appraise/pins.js";
import type { Change } from "../diff/diff.js";
import { type Content, contentJson, memberOf } from "../diff/content.js";
import { manifestTree } from "../inspect/manifests.js";

/** What the caller has besides the policy. Each can fix values that a pin cannot fix. */
export interface Beside {
  /** The PCRs of the image. */
  readonly pcrs: readonly number[];
  readonly hasBinary: boolean;
  readonly hasPrevious: boolean;
}

/**
 * Whether a deployment, or a file of the caller, fixes the value. `changes` are the changes of this member since the
 * previous manifest.
 */
type IsHeld = (pins: DeploymentPins, beside: Beside, changes: readonly Change[]) => boolean;

interface Row {
  /** The name that `accept` takes. */
  readonly name: string;
  readonly isHeld: IsHeld;
}

/** Rows for all members. Null means that the review has a separate rule for the member. */
type Rows<T> = { readonly [K in keyof T]-?: Row | null };

function pinned(name: PinName): IsHeld {
  return (pins) => pins[name] !== undefined;
}

/** Makes the row of a set. A pin fixes the keys and the threshold, but not the aliases. */
function pinnedSet(name: "manifestSet" | "shareSet"): Row {
  const isHeld: IsHeld = (pins, _, changes) =>
    pins[name] !== undefined && !changes.some(({ what }) => what === "member.alias");
  return { name, isHeld };
}

function unpinnable(name: string): Row {
  return { name, isHeld: () => false };
}

function pcr(index: number): Row {
  return {
    name: `pcr${index}`,
    isHeld: (pins, { pcrs }) => commonPcrs(pins).includes(index) || pcrs.includes(index),
  };
}

const NAMESPACE: Rows<Namespace> = {
  name: { name: "namespace", isHeld: pinned("namespace") },
  // A previous manifest fixes the nonce, too, because the nonce of the manifest that replaces it must be higher.
  nonce: { name: "nonce", isHeld: (pins, { hasPrevious }) => pins.minNonce !== undefined || hasPrevious },
  quorumKey: { name: "quorumKey", isHeld: pinned("quorumKey") },
};

const PIVOT: Rows<Pivot> = {
  hash: { name: "pivotHash", isHeld: (pins, { hasBinary }) => pins.pivotHash !== undefined || hasBinary },
  restart: unpinnable("restart"),
  args: { name: "args", isHeld: pinned("pivotArgs") },
  bridgeConfig: unpinnable("bridgeConfig"),
  debugMode: null,
  env: { name: "env", isHeld: pinned("pivotEnv") },
};

const ENCLAVE: Rows<EnclaveMeasurements> = {
  pcr0: pcr(0),
  pcr1: pcr(1),
  pcr2: pcr(2),
  pcr3: pcr(3),
  awsRootCertificate: null,
  qosCommit: unpinnable("qosCommit"),
};

/** Rows of a workload. The row of its name is for the workload itself: whether it exists, and its image. */
const WORKLOAD: Rows<Omit<Workload, "imageDigest">> = {
  name: { name: "workloads", isHeld: pinned("workloads") },
  restart: unpinnable("restart"),
  mounts: unpinnable("mounts"),
};

type Inner = "version" | "namespace" | "pivot" | "enclave" | "workloads";
type Others = Omit<PivotManifest, Inner> & Omit<WorkloadManifest, Inner> & Pick<Manifest, "version">;

const OTHERS: Rows<Others> = {
  version: { name: "version", isHeld: (_, { hasPrevious }) => !hasPrevious },
  manifestSet: pinnedSet("manifestSet"),
  shareSet: pinnedSet("shareSet"),
  patchSet: unpinnable("patchSet"),
  dns: unpinnable("dns"),
  clientTimeoutMs: unpinnable("clientTimeoutMs"),
  poolSize: unpinnable("poolSize"),
  volumes: unpinnable("volumes"),
};

/** The names that `accept` takes, in the order of a manifest, without names of single workloads. */
export const ACCEPTABLE: readonly string[] = [
  ...new Set(
    ([] as (Row | null)[])
      .concat(...[NAMESPACE, PIVOT, WORKLOAD, ENCLAVE, OTHERS].map((rows) => Object.values<Row | null>(rows)))
      .filter((row) => row !== null)
      .map(({ name }) => name),
  ),
];

/** Returns the reason why `accept` does not take the name, or null if it does. */
export function unknownName(name: string): string | null {
  const [, workload = ""] = /^workloads\.([^.]+)(?:\.(?:restart|mounts))?$/.exec(name) ?? [];
  if (ACCEPTABLE.includes(name) || WORKLOAD_NAME.test(workload)) return null;
  return `unknown; known are ${ACCEPTABLE.join(", ")}, and those of one workload, such as workloads.NAME.mounts`;
}

/** A member of the manifest, or of the previous one. */
export interface ManifestMember {
  /** The place of the member, such as `pivot.env` and `workloads.signer.mounts`. */
  readonly place: string;
  /** The name that `accept` takes for this member in any workload. */
  readonly name: string;
  /** The name that `accept` takes if another workload has the same member, too. */
  readonly ownName: string;
  /** The value as JSON, with bytes in hex. Null means absent. */
  readonly before: string | null;
  readonly after: string | null;
  /** Whether the member differs from the previous manifest. */
  readonly isChanged: boolean;
  readonly isHeld: (pins: DeploymentPins, beside: Beside) => boolean;
}

/** The previous manifest and the changes since then. Without them, each member is new. */
interface Since {
  readonly previous: Manifest;
  readonly changes: readonly Change[];
}

interface Place {
  readonly path: readonly string[];
  /** Path of the value, which may be inside the member. */
  readonly value: readonly string[];
  readonly row: Row | null;
}

/** Returns every member that the manifest or the previous one has. */
export function manifestMembers(given: Manifest, since: Since | null): readonly ManifestMember[] {
  const manifests = [since?.previous, given];
  const sides = manifests.map((manifest) => manifest && (manifestTree(manifest) as Content));
  const text = (side: number, path: readonly string[]): string | null => {
    const content = path.reduce(stepInto, sides[side]);
    return content === undefined ? null : contentJson(content);
  };
  const places = placesIn(manifests.flatMap((manifest) => manifest ?? []));
  const rest = new Set(since?.changes.filter(isNoOrderOfSet).flatMap(apart));
  const members = places.flatMap(({ path, value, row }): ManifestMember[] => {
    const place = path.join(".");
    const own = [...rest].filter((change) => isWithin(change.place, place));
    for (const change of own) rest.delete(change);
    const [before, after] = [text(0, value), text(1, value)];
    if (row === null || (before === null && after === null)) return [];
    const { name, isHeld } = row;
    const ownName = path[0] === "workloads" ? place : name;
    const isChanged = since === null || own.length > 0;
    return [{ place, name, ownName, before, after, isChanged, isHeld: (pins, beside) => isHeld(pins, beside, own) }];
  });
  return [...members, ...[...rest].map(withoutRow)];
}

/** Returns the member of an object, or the item of that name of a list. */
function stepInto(content: Content | undefined, name: string): Content | undefined {
  const named = Array.isArray(content) ? (content as Content[]) : null;
  return named === null ? memberOf(content, name) : named.find((item) => memberOf(item, "name") === name);
}

/**
 * Makes a member for a change that belongs to no member, such as the order of workloads. No pin fixes such a change.
 */
function withoutRow({ place, before, after }: Change): ManifestMember {
  return { place, name: place, ownName: place, before, after, isChanged: true, isHeld: () => false };
}

/** Whether a change matters. The order of workloads does, but the order of other entries has no meaning. */
function isNoOrderOfSet({ what, place }: Change): boolean {
  return what !== "order" || place === "workloads";
}

function apart(change: Change): readonly Change[] {
  return [change.place, ...change.also].map((place) => ({ ...change, place }));
}

function isWithin(place: string, outer: string): boolean {
  return place === outer || place.startsWith(`${outer}.`);
}

/**
 * Returns the places in the order of a manifest. The place of a workload comes after the places of its members, because
 * it contains them.
 */
function placesIn(manifests: readonly Manifest[]): readonly Place[] {
  const workloads = new Set(manifests.flatMap((one) => one.workloads ?? []).map(({ name }) => name));
  const rowsAt = (rows: Readonly<Record<string, Row | null>>, ...path: readonly string[]): Place[] =>
    Object.entries(rows).map(([name, row]) => {
      const at = [...path, name];
      return { path: at, value: at, row };
    });
  const { name: itself, ...ofWorkload } = WORKLOAD;
  return [
    ...rowsAt(NAMESPACE, "namespace"),
    ...rowsAt(PIVOT, "pivot"),
    ...[...workloads].flatMap((name): Place[] => [
      ...rowsAt(ofWorkload, "workloads", name),
      { path: ["workloads", name], value: ["workloads", name, "imageDigest"], row: itself },
    ]),
    ...rowsAt(ENCLAVE, "enclave"),
    ...rowsAt(OTHERS),
  ];
}
