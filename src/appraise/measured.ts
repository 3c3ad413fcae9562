/** Compares the measurements of a build with a policy, without an enclave (appraise/README.md, "What was built"). */
import { toHex } from "../bytes.js";
import { ownMembers } from "../decode/input.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import { type DeploymentPins, ParsedPolicy, type Policy } from "./parsed-policy.js";
import type { PcrPin } from "./pins.js";

/** Measurements of files and names, from `bootproof/image`. */
export interface Measured {
  /** By index, 48 bytes each: 0, 1, 2 and 8 of an image, 3 of a role, 4 of an instance. */
  readonly pcrs?: Readonly<Record<number, Uint8Array>>;
  /** SHA-256 of the application's binary. */
  readonly pivotHash?: Uint8Array;
}

export interface DifferingPin {
  /** Its name in policies, for example `pcrs.0` or `pivotHash`. */
  readonly pin: string;
  readonly expected: readonly string[];
  readonly found: string;
}

export interface MeasuredDeployment {
  readonly name: string;
  /** Every compared pin is met, and each measured thing has one. */
  readonly fits: boolean;
  readonly differing: readonly DifferingPin[];
  /** Measured, but not pinned: any value would pass. */
  readonly unpinned: readonly string[];
  /** Pinned, but not measured. */
  readonly notCompared: readonly string[];
}

export interface MeasuredComparison {
  readonly fits: boolean;
  readonly deployments: readonly MeasuredDeployment[];
  /** The one that fits, or has the fewest differences; null without deployments. */
  readonly nearest: MeasuredDeployment | null;
}

/** PCR8 of an unsigned image. */
const UNSIGNED = "00".repeat(PCR_LENGTH);

/** Throws TypeError for anything but a policy from `parsePolicy`, and without measurements. */
export function compareMeasured(policy: Policy, measured: Measured): MeasuredComparison {
  if (!ParsedPolicy.is(policy)) throw new TypeError("policy: a policy from parsePolicy wanted");
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
  // One image must be met completely: the nearest is compared.
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
    ...(pins.provenance === undefined ? [] : ["provenance"]),
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

/** The thing that each PCR measures. PCR8 identifies an image's signer, not the image. */
const THINGS: readonly (readonly number[])[] = [[0, 1, 2], [3], [4]];

function unpinnedPcrs(pinned: readonly number[], found: ReadonlyMap<number, string>): string[] {
  return THINGS.filter(
    (indexes) => indexes.some((index) => found.has(index)) && !indexes.some((index) => pinned.includes(index)),
  ).flatMap((indexes) => indexes.map((index) => `pcrs.${index}`));
}
