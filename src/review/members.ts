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
import { manifestTree } from "../inspect/documents.js";

/** What can fix a value: a deployment, and what the caller has besides the policy. */
export interface HeldBy {
  readonly pins: DeploymentPins;
  /** The PCRs of the image. */
  readonly measured: ReadonlyMap<number, unknown>;
  readonly hasBinary: boolean;
  readonly hasPrevious: boolean;
}

/** Whether the value is fixed. `changes` are the changes of this member since the previous manifest. */
type IsHeld = (by: HeldBy, changes: readonly Change[]) => boolean;

interface Row {
  /** The name that `accept` takes. */
  readonly name: string;
  readonly isHeld: IsHeld;
}

/** By default, nothing fixes the value. */
function row(name: string, isHeld: IsHeld = () => false): Row {
  return { name, isHeld };
}

function pinned(pin: PinName, name: string = pin): Row {
  return row(name, ({ pins }) => pins[pin] !== undefined);
}

/** A pin of a set fixes the keys and the threshold, but not the aliases. */
function pinnedSet(name: "manifestSet" | "shareSet"): Row {
  return row(name, ({ pins }, changes) => pins[name] !== undefined && !changes.some(({ what }) => what === ALIAS));
}

const ALIAS: Change["what"] = "member.alias";

function pcr(index: number): Row {
  return row(`pcr${index}`, ({ pins, measured }) => commonPcrs(pins).includes(index) || measured.has(index));
}

/** Rows of each workload. The row of the digest is that of the workload itself: whether it exists, and its image. */
const OF_WORKLOADS: Readonly<Record<Exclude<keyof Workload, "name">, Row>> = {
  restart: row("restart"),
  mounts: row("mounts"),
  imageDigest: pinned("workloads"),
};

type Inner = "namespace" | "pivot" | "enclave";
type Place =
  | `namespace.${keyof Namespace}`
  | `pivot.${keyof Pivot}`
  | `enclave.${keyof EnclaveMeasurements}`
  | Exclude<keyof PivotManifest | keyof WorkloadManifest, Inner>;

/** The rows by place, in the order of a manifest. Null means that the review has a separate rule for the member. */
const ROWS: Readonly<Record<Place, Row | null>> = {
  "namespace.name": pinned("namespace"),
  // A previous manifest fixes the nonce, too, because the nonce of the manifest that replaces it must be higher.
  "namespace.nonce": row("nonce", ({ pins, hasPrevious }) => pins.minNonce !== undefined || hasPrevious),
  "namespace.quorumKey": pinned("quorumKey"),
  "pivot.hash": row("pivotHash", ({ pins, hasBinary }) => pins.pivotHash !== undefined || hasBinary),
  "pivot.restart": row("restart"),
  "pivot.args": pinned("pivotArgs", "args"),
  "pivot.bridgeConfig": row("bridgeConfig"),
  "pivot.debugMode": null,
  "pivot.env": pinned("pivotEnv", "env"),
  // The members of each workload are in rows of their own.
  workloads: null,
  "enclave.pcr0": pcr(0),
  "enclave.pcr1": pcr(1),
  "enclave.pcr2": pcr(2),
  "enclave.pcr3": pcr(3),
  "enclave.awsRootCertificate": null,
  "enclave.qosCommit": row("qosCommit"),
  version: row("version", ({ hasPrevious }) => !hasPrevious),
  manifestSet: pinnedSet("manifestSet"),
  shareSet: pinnedSet("shareSet"),
  patchSet: row("patchSet"),
  dns: row("dns"),
  clientTimeoutMs: row("clientTimeoutMs"),
  poolSize: row("poolSize"),
  volumes: row("volumes"),
};

/** The names that `accept` takes, in the order of a manifest, without names of single workloads. */
export const ACCEPTABLE: readonly string[] = [
  ...new Set(
    placesIn(["*"])
      .map(({ row: one }) => one?.name)
      .filter((name) => name !== undefined),
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
  readonly isHeld: (by: HeldBy) => boolean;
}

/** The previous manifest and the changes since then. Without them, each member is new. */
interface Since {
  readonly previous: Manifest;
  readonly changes: readonly Change[];
}

/** Returns every member that the manifest or the previous one has. */
export function manifestMembers(given: Manifest, since: Since | null): readonly ManifestMember[] {
  const manifests = [since?.previous, given];
  const sides = manifests.map((manifest) => manifest && (manifestTree(manifest) as Content));
  const workloads = manifests.flatMap((one) => one?.workloads ?? []).map(({ name }) => name);
  const rest = new Set(
    since?.changes
      .filter(isNoOrderOfSet)
      .flatMap((change) => [change.place, ...change.also].map((place) => ({ ...change, place }))),
  );
  const members = placesIn([...new Set(workloads)]).flatMap(({ place, value, row: one }): ManifestMember[] => {
    const own = [...rest].filter((change) => `${change.place}.`.startsWith(`${place}.`));
    for (const change of own) rest.delete(change);
    const [before = null, after = null] = sides.map((side) => {
      const content = value.split(".").reduce(stepInto, side);
      return content === undefined ? null : contentJson(content);
    });
    if (one === null || (before === null && after === null)) return [];
    const { name, isHeld } = one;
    const ownName = place.startsWith("workloads.") ? place : name;
    const isChanged = since === null || own.length > 0;
    return [{ place, name, ownName, before, after, isChanged, isHeld: (by) => isHeld(by, own) }];
  });
  // No pin fixes a change that belongs to no member, such as the order of workloads.
  const others = [...rest].map(({ place, before, after }): ManifestMember => {
    return { place, name: place, ownName: place, before, after, isChanged: true, isHeld: () => false };
  });
  return [...members, ...others];
}

/** Returns the member of an object, or the item of that name of a list. */
function stepInto(content: Content | undefined, name: string): Content | undefined {
  const named = Array.isArray(content) ? (content as Content[]) : null;
  return named === null ? memberOf(content, name) : named.find((item) => memberOf(item, "name") === name);
}

/** Whether a change matters. The order of workloads does, but the order of other entries has no meaning. */
function isNoOrderOfSet({ what, place }: Change): boolean {
  return what !== "order" || place === "workloads";
}

interface PlacedRow {
  readonly place: string;
  /** The place of the value, which may be inside the member. */
  readonly value: string;
  readonly row: Row | null;
}

/**
 * Returns the places in the order of a manifest. The place of a workload comes after the places of its members, because
 * it contains them.
 */
function placesIn(workloads: readonly string[]): readonly PlacedRow[] {
  // A runtime without flatMap loads this module, and is then told what it lacks.
  const places: PlacedRow[] = [];
  for (const [place, one] of Object.entries<Row | null>(ROWS)) {
    if (place !== "workloads") places.push({ place, value: place, row: one });
    else for (const workload of workloads) places.push(...placesOf(workload));
  }
  return places;
}

function placesOf(workload: string): readonly PlacedRow[] {
  return Object.entries<Row>(OF_WORKLOADS).map(([name, row]) => {
    const value = `workloads.${workload}.${name}`;
    return { place: name === "imageDigest" ? `workloads.${workload}` : value, value, row };
  });
}
