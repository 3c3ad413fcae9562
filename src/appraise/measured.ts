/**
 * What was built, held against what a policy pins, with no enclave running (appraise/README.md, "What was built"): the
 * same pins and the same values as for evidence, and no more than that the policy means this build.
 */
import { toHex } from "../bytes.js";
import { ownMembers } from "../decode/input.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import { type DeploymentPins, ParsedPolicy, type Policy } from "./parsed-policy.js";
import type { PcrPin } from "./pins.js";

/** What was measured of files and names, as `bootproof/image` does it. */
export interface Measured {
  /** By index, 48 bytes each: 0, 1, 2 and 8 of an image, 3 of a role, 4 of an instance. */
  readonly pcrs?: Readonly<Record<number, Uint8Array>>;
  /** SHA-256 of the application's binary. */
  readonly pivotHash?: Uint8Array;
}

export interface DifferingPin {
  /** As policies name it, such as `pcrs.0` or `pivotHash`. */
  readonly pin: string;
  /** Any of these would do, in lower-case hex. */
  readonly expected: readonly string[];
  readonly found: string;
}

/** What one deployment of the policy says to what was measured. */
export interface MeasuredDeployment {
  readonly name: string;
  /** Every pin that could be compared is met, and there is one for each thing that was measured. */
  readonly fits: boolean;
  readonly differing: readonly DifferingPin[];
  /** Measured, and pinned by nothing: any would pass. */
  readonly unpinned: readonly string[];
  /** Pinned, and not measured. */
  readonly notCompared: readonly string[];
}

export interface MeasuredComparison {
  /** Whether a deployment fits. */
  readonly fits: boolean;
  /** In the order of the policy. */
  readonly deployments: readonly MeasuredDeployment[];
  /** The one that fits, or that differs in the fewest things; null: the policy has none. */
  readonly nearest: MeasuredDeployment | null;
}

/** PCR8 of an image that nobody signed. */
const UNSIGNED = "00".repeat(PCR_LENGTH);

/** Throws TypeError for what is no policy, or where nothing was measured. */
export function compareMeasured(policy: Policy, measured: Measured): MeasuredComparison {
  if (!ParsedPolicy.is(policy)) throw new TypeError("policy: one that parsePolicy made wanted");
  measured = ownMembers(measured, { pcrs: true, pivotHash: true });
  const found = new Map(Object.entries(measured.pcrs ?? {}).map(([index, value]) => [Number(index), toHex(value)]));
  if (found.has(0) && !found.has(8)) found.set(8, UNSIGNED);
  const pivotHash = measured.pivotHash === undefined ? null : toHex(measured.pivotHash);
  if (found.size === 0 && pivotHash === null) throw new TypeError("measured: pcrs or pivotHash wanted");
  const deployments = policy.deployments.map((pins) => compareDeployment(pins, found, pivotHash));
  const distance = ({ differing, unpinned }: MeasuredDeployment): number => differing.length + unpinned.length;
  const [nearest = null] = [...deployments].sort((one, other) => distance(one) - distance(other));
  return { fits: deployments.some(({ fits }) => fits), deployments, nearest };
}

function compareDeployment(
  pins: DeploymentPins,
  found: ReadonlyMap<number, string>,
  pivotHash: string | null,
): MeasuredDeployment {
  // Of several images the nearest: one has to be met whole.
  const images = (pins.pcrs ?? [[]]).map((image) => ({ image, differing: differingPcrs(image, found) }));
  const [{ image, differing }] = images.sort((one, other) => one.differing.length - other.differing.length) as [
    (typeof images)[number],
  ];
  const indexes = image.map(({ index }) => index);
  const all = [...differing, ...differingPivot(pins, pivotHash)];
  const unpinned = [
    ...unpinnedPcrs(indexes, found),
    ...(pivotHash !== null && pins.pivotHash === undefined ? ["pivotHash"] : []),
  ];
  const notCompared = [
    ...indexes.filter((index) => !found.has(index)).map((index) => `pcrs.${index}`),
    ...(pivotHash === null && pins.pivotHash !== undefined ? ["pivotHash"] : []),
  ];
  const fits = all.length === 0 && unpinned.length === 0;
  return { name: pins.name, fits, differing: all, unpinned, notCompared };
}

function differingPcrs(image: readonly PcrPin[], found: ReadonlyMap<number, string>): DifferingPin[] {
  return image.flatMap(({ index, accepted }) => {
    const value = found.get(index);
    const isMet = value === undefined || accepted.includes(value);
    return isMet ? [] : [{ pin: `pcrs.${index}`, expected: accepted, found: value }];
  });
}

function differingPivot({ pivotHash: accepted }: DeploymentPins, pivotHash: string | null): DifferingPin[] {
  const isMet = pivotHash === null || accepted === undefined || accepted.includes(pivotHash);
  return isMet ? [] : [{ pin: "pivotHash", expected: accepted, found: pivotHash }];
}

/** What the PCRs are of: a pin of one of them is a pin of it. PCR8 says who signed an image, and not which it is. */
const THINGS: readonly (readonly number[])[] = [[0, 1, 2], [3], [4]];

function unpinnedPcrs(pinned: readonly number[], found: ReadonlyMap<number, string>): string[] {
  return THINGS.filter(
    (indexes) => indexes.some((index) => found.has(index)) && !indexes.some((index) => pinned.includes(index)),
  ).flatMap((indexes) => indexes.map((index) => `pcrs.${index}`));
}
