/** Comparison of a build's measurements with a policy, without an enclave (appraise/README.md, "What was built"). */
import { plain, requireShape, unchecked } from "../decode/options.js";
import { demand, list, objectOf } from "../decode/shapes.js";
import { toHex } from "../bytes.js";
import { copyInput, withoutPrototype } from "../decode/input.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import { CHECK_TITLES, type Check } from "../checks.js";
import { checkProvenance } from "../verify/provenance.js";
import {
  type HeldDemand,
  MAX_PROVENANCE,
  type ProvenanceInput,
  type ProvenanceVerifier,
} from "../verify/provenance-demand.js";
import { type DeploymentPins, ParsedPolicy, type Policy } from "./parsed-policy.js";
import type { PcrPin } from "./pins.js";

/** Measurements of files and names, from `bootproof/image`. */
export interface Measured {
  /**
   * PCRs of 48 bytes each, by index: 0, 1, 2 and 8 of an image, 3 of a role, 4 of an instance. If PCR8 is absent, the
   * image is unsigned, and its PCR8 is compared as zeros.
   */
  readonly pcrs?: Readonly<Record<number, Uint8Array>>;
  /** SHA-256 of the application's binary. */
  readonly pivotHash?: Uint8Array;
}

interface DifferingPin {
  /** The pin's name in policies, for example `pcrs.0` or `pivotHash`. */
  readonly pin: string;
  readonly expected: readonly string[];
  readonly found: string;
}

export interface MeasuredDeployment {
  readonly name: string;
  /** Whether every compared pin is met and each measurement is pinned. PCR0 pins a whole image. */
  readonly fits: boolean;
  readonly differing: readonly DifferingPin[];
  /** Measurements that are not pinned. Any value would pass. */
  readonly unpinned: readonly string[];
  /** Pins without a measurement to compare. */
  readonly notCompared: readonly string[];
}

export interface MeasuredComparison {
  readonly fits: boolean;
  readonly deployments: readonly MeasuredDeployment[];
  /**
   * The deployment with the fewest differences, or null if there are no deployments. Among equals, the one with the
   * fewest pins that were not compared.
   */
  readonly nearest: MeasuredDeployment | null;
}

/** The Sigstore bundles of a build, and their verifier. */
interface MeasuredProvenance {
  /** At most 64 bundles, each as JSON text, bytes or value. */
  readonly provenance: readonly unknown[];
  /** The verifier, which `sigstoreVerifier` of `bootproof/provenance` makes. */
  readonly provenanceVerifier: ProvenanceVerifier;
}

const BUILD = /* @__PURE__ */ objectOf<MeasuredProvenance>(
  { provenance: list(plain), provenanceVerifier: unchecked },
  { unknown: "ignore" },
);

/** Shape of {@link Measured}. */
export const MEASURED = /* @__PURE__ */ objectOf<Measured>(
  { pcrs: demand(plain), pivotHash: demand(plain) },
  { unknown: "ignore" },
);

/**
 * Compares as {@link compareMeasured} does, and compares the bundles with each deployment that demands provenance of
 * its application. The digest in a bundle must be `pivotHash`. An unmet demand is listed in `differing` by the id of
 * its check, for example `provenance.signer`. If all demands are met, they pin the binary. Demands about workloads stay
 * `notCompared`. Throws TypeError as `compareMeasured` does, without `pivotHash`, and if no deployment demands
 * provenance of its application.
 * @example
 * ```ts
 * const provenanceVerifier = await sigstoreVerifier();
 * const { fits } = await compareBuild(policy, { pivotHash }, { provenance: [bundle], provenanceVerifier });
 * ```
 */
export async function compareBuild(
  policy: Policy,
  measured: Measured,
  build: MeasuredProvenance,
): Promise<MeasuredComparison> {
  const { provenance, provenanceVerifier } = requireShape("build", build, BUILD);
  if (provenanceVerifier === undefined)
    throw new TypeError("build.provenanceVerifier: required, such as await sigstoreVerifier() of bootproof/provenance");
  const verifier = { verify: provenanceVerifier.verify.bind(provenanceVerifier) };
  const bundles = provenance.map(bundleInput);
  if (bundles.length > MAX_PROVENANCE)
    throw new TypeError(`build.provenance: expected at most ${MAX_PROVENANCE} bundles`);
  const own = requireShape("measured", measured, MEASURED);
  const { pivotHash } = own;
  const { deployments } = compareMeasured(policy, own);
  if (pivotHash === undefined)
    throw new TypeError("measured.pivotHash: required, since provenance is about the binary");
  const digest = toHex(pivotHash);
  const demanding = policy.deployments.map((pins) => demandsOf(pins, digest));
  if (demanding.every((demands) => demands.length === 0))
    throw new TypeError("policy: no deployment demands provenance of its application");
  const held: MeasuredDeployment[] = [];
  for (const [index, deployment] of deployments.entries()) {
    const demands = demanding[index]!;
    const hasMore = (policy.deployments[index]!.provenance ?? []).length > demands.length;
    const { checklists } = await checkProvenance(bundles, demands, verifier);
    const checks = checklists.flatMap((checklist) => checklist.list());
    held.push(demands.length === 0 ? deployment : withProvenance(deployment, checks, hasMore));
  }
  return comparisonOf(held);
}

function bundleInput(bundle: unknown): ProvenanceInput {
  if (typeof bundle === "string") return bundle;
  return bundle instanceof Uint8Array ? new Uint8Array(bundle) : copyInput(bundle);
}

function demandsOf({ name, provenance = [] }: DeploymentPins, digest: string): HeldDemand[] {
  return provenance.flatMap((demand, index) =>
    demand.workload === null ? [{ about: "policy", deployment: name, index, demand, digest }] : [],
  );
}

function withProvenance(
  deployment: MeasuredDeployment,
  checks: readonly Check[],
  hasMore: boolean,
): MeasuredDeployment {
  const failed = checks
    .filter(({ status }) => status === "fail")
    .map((check) => withoutPrototype(check))
    .map(({ id, detail, expected, actual }) => ({
      pin: id,
      expected: [expected ?? CHECK_TITLES[id]],
      found: actual === undefined ? detail : `${actual}: ${detail}`,
    }));
  const differing = [...deployment.differing, ...failed];
  const unpinned = deployment.unpinned.filter((pin) => failed.length > 0 || pin !== "pivotHash");
  const notCompared = deployment.notCompared.filter((pin) => hasMore || pin !== "provenance");
  return { ...deployment, fits: differing.length + unpinned.length === 0, differing, unpinned, notCompared };
}

/** PCR8 of an unsigned image. */
const UNSIGNED = "00".repeat(PCR_LENGTH);

/**
 * Compares each deployment of a policy with measurements. An image is pinned only by PCR0, which covers kernel, command
 * line and all ramdisks, but every other pin is also compared. Throws TypeError for anything but a policy from
 * `parsePolicy`, without measurements, and for PCR1, 2 or 8 of an image without its PCR0.
 */
export function compareMeasured(policy: Policy, measured: Measured): MeasuredComparison {
  if (!ParsedPolicy.is(policy)) throw new TypeError("policy: expected a policy from parsePolicy");
  measured = requireShape("measured", measured, MEASURED);
  const found = new Map(Object.entries(measured.pcrs ?? {}).map(([index, value]) => [Number(index), toHex(value)]));
  const isOfImage = [...found.keys()].some((index) => OF_AN_IMAGE.includes(index));
  if (isOfImage && !found.has(0)) throw new TypeError("measured.pcrs: expected PCR0, which alone covers a whole image");
  if (isOfImage && !found.has(8)) found.set(8, UNSIGNED);
  const pivotHash = measured.pivotHash === undefined ? null : toHex(measured.pivotHash);
  if (found.size === 0 && pivotHash === null) throw new TypeError("measured: expected pcrs or pivotHash");
  return comparisonOf(policy.deployments.map((pins) => compareDeployment(pins, found, pivotHash)));
}

function comparisonOf(deployments: readonly MeasuredDeployment[]): MeasuredComparison {
  return { fits: deployments.some(({ fits }) => fits), deployments, nearest: nearestOf(deployments) };
}

/** Compares a deployment by its nearest alternative of `pcrs`, since an enclave must meet one of them completely. */
function compareDeployment(
  pins: DeploymentPins,
  found: ReadonlyMap<number, string>,
  pivotHash: string | null,
): MeasuredDeployment {
  return nearestOf((pins.pcrs ?? [[]]).map((image) => compareImage(pins, image, found, pivotHash)))!;
}

/** Returns the deployment with the fewest differences and, of these, the fewest pins that were not compared. */
function nearestOf(compared: readonly MeasuredDeployment[]): MeasuredDeployment | null {
  const distance = ({ differing, unpinned }: MeasuredDeployment): number => differing.length + unpinned.length;
  const [nearest = null] = [...compared].sort(
    (one, other) => distance(one) - distance(other) || one.notCompared.length - other.notCompared.length,
  );
  return nearest;
}

function compareImage(
  pins: DeploymentPins,
  image: readonly PcrPin[],
  found: ReadonlyMap<number, string>,
  pivotHash: string | null,
): MeasuredDeployment {
  const indexes = image.map(({ index }) => index);
  const differing = [...differingPcrs(image, found), ...differingPivot(pins, pivotHash)];
  const unpinned = [
    ...unpinnedPcrs(indexes, found),
    ...(pivotHash !== null && pins.pivotHash === undefined ? ["pivotHash"] : []),
  ];
  const notCompared = [
    ...indexes.filter((index) => !found.has(index)).map((index) => `pcrs.${index}`),
    ...(pivotHash === null && pins.pivotHash !== undefined ? ["pivotHash"] : []),
    ...(pins.provenance === undefined ? [] : ["provenance"]),
  ];
  return { name: pins.name, fits: differing.length + unpinned.length === 0, differing, unpinned, notCompared };
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

/** PCRs of an image. PCR0 covers all of it (kernel, command line and ramdisks), PCR1 and PCR2 a part of it each. */
const OF_AN_IMAGE: readonly number[] = [0, 1, 2, 8];

/** Returns measured PCRs that no pin covers. PCR8 shows only who signed an image, so it needs no pin. */
function unpinnedPcrs(pinned: readonly number[], found: ReadonlyMap<number, string>): string[] {
  const isCovered = (index: number): boolean => index === 8 || (pinned.includes(0) && OF_AN_IMAGE.includes(index));
  return [...found.keys()]
    .filter((index) => !pinned.includes(index) && !isCovered(index))
    .map((index) => `pcrs.${index}`);
}
