/** Comparison of pins and deployments: which of two accepts more, and whether any evidence meets both. */
import type { DeploymentPins } from "./parsed-policy.js";
import type { DocumentFacts, SetPin } from "./facts.js";
import { PINS, PIN_NAMES, type PcrPin, type PinName, type PinTypes, ZERO_PCR } from "./pins.js";
import { scopeOf } from "./questions.js";

/** How the accepted evidence changed. `changed` means that some other evidence passes, and some no longer does. */
type AcceptedTurn = "wider" | "narrower" | "changed";

/** Compares two pins. Returns null if both accept the same. */
export type Accepts<T> = (before: T, after: T) => AcceptedTurn | null;

export function turnOf(passesAll: boolean, passesNoMore: boolean): AcceptedTurn | null {
  if (passesAll) return passesNoMore ? null : "wider";
  return passesNoMore ? "narrower" : "changed";
}

const acceptsList: Accepts<readonly string[]> = (before, after) =>
  turnOf(
    before.every((one) => after.includes(one)),
    after.every((one) => before.includes(one)),
  );

/** Compares lists where null accepts anything. */
export const acceptsListOrAny: Accepts<readonly string[] | null> = (before, after) => {
  if (before === null || after === null) return turnOf(after === null, before === null);
  return acceptsList(before, after);
};

/** Compares whether signed bytes count. Where they do, app proofs of known types do not. */
export const acceptsBytes: Accepts<boolean> = (before, after) => (before === after ? null : "changed");

function isWithin(image: readonly PcrPin[], wider: readonly PcrPin[]): boolean {
  return wider.every(({ index, accepted }) =>
    image.some((pin) => pin.index === index && pin.accepted.every((one) => accepted.includes(one))),
  );
}

const acceptsImages: Accepts<PinTypes["pcrs"]["pin"]> = (before, after) =>
  turnOf(
    before.every((image) => after.some((other) => isWithin(image, other))),
    after.every((image) => before.some((other) => isWithin(image, other))),
  );

/** Compares workloads. A different name means another application. */
const acceptsWorkloads: Accepts<PinTypes["workloads"]["pin"]> = (before, after) => {
  const names = Object.keys(before);
  if (acceptsList(names, Object.keys(after)) !== null) return "changed";
  const turns = names.map((name) => acceptsList(before[name]!, after[name]!));
  return turnOf(
    turns.every((turn) => turn === null || turn === "wider"),
    turns.every((turn) => turn === null || turn === "narrower"),
  );
};

/** Compares sets. A pinned set accepts sets with the same members and a threshold at least as high. */
const acceptsSets: Accepts<SetPin> = (before, after) => {
  if (acceptsList(before.members, after.members) !== null) return "changed";
  return turnOf(after.threshold <= before.threshold, after.threshold >= before.threshold);
};

const acceptsFrom: Accepts<number> = (before, after) => turnOf(after <= before, after >= before);

const acceptsLabels: Accepts<object> = (before, after) => {
  const [one, other] = [before, after].map((labels) => Object.entries(labels).map((entry) => JSON.stringify(entry)));
  return turnOf(
    other!.every((label) => one!.includes(label)),
    one!.every((label) => other!.includes(label)),
  );
};

const acceptsExactly: Accepts<unknown> = (before, after) => (textOf(before) === textOf(after) ? null : "changed");

/**
 * Compares demands. Every demand must be met, so fewer demands accept more. Demands that differ in any member are
 * different demands.
 */
const acceptsProvenance: Accepts<PinTypes["provenance"]["pin"]> = (before, after) => {
  const [one, other] = [before, after].map((demands) => demands.map(textOf)) as [string[], string[]];
  return turnOf(
    other.every((demand) => one.includes(demand)),
    one.every((demand) => other.includes(demand)),
  );
};

/** Returns JSON with sorted members. */
export function textOf(pin: unknown): string {
  return JSON.stringify(pin, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}

/** Whether no evidence meets both pins. */
type Excludes<T> = (one: T, other: T) => boolean;

const excludesList: Excludes<readonly string[]> = (one, other) => !one.some((value) => other.includes(value));
const excludesOther: Excludes<unknown> = (one, other) => acceptsExactly(one, other) !== null;
const excludesSets: Excludes<SetPin> = (one, other) => acceptsList(one.members, other.members) !== null;
const excludesNothing: Excludes<unknown> = () => false;

const excludesImages: Excludes<PinTypes["pcrs"]["pin"]> = (images, others) =>
  images.every((image) =>
    others.every((other) =>
      image.some(({ index, accepted }) =>
        other.some((pin) => pin.index === index && excludesList(pin.accepted, accepted)),
      ),
    ),
  );

const excludesWorkloads: Excludes<PinTypes["workloads"]["pin"]> = (one, other) =>
  acceptsList(Object.keys(one), Object.keys(other)) !== null ||
  Object.keys(one).some((name) => excludesList(one[name]!, other[name]!));

const excludesLabels: Excludes<PinTypes["labels"]["pin"]> = (one, other) =>
  (Object.keys(one) as (keyof typeof one)[]).some((name) => other[name] !== undefined && other[name] !== one[name]);

interface AcceptedRow<P> {
  readonly accepts: Accepts<P>;
  readonly excludes: Excludes<P>;
  /** A pin that all evidence with the pinned member meets, such as 0 for `minNonce`. */
  readonly any?: P;
}

const LIST: AcceptedRow<readonly string[]> = { accepts: acceptsList, excludes: excludesList };
const EXACTLY: AcceptedRow<unknown> = { accepts: acceptsExactly, excludes: excludesOther };
const SETS: AcceptedRow<SetPin> = { accepts: acceptsSets, excludes: excludesSets };

export const ACCEPTED: { readonly [K in PinName]: AcceptedRow<PinTypes[K]["pin"]> } = {
  pcrs: { accepts: acceptsImages, excludes: excludesImages },
  manifestHash: LIST,
  pivotHash: LIST,
  workloads: { accepts: acceptsWorkloads, excludes: excludesWorkloads },
  pivotArgs: EXACTLY as AcceptedRow<readonly string[]>,
  pivotEnv: EXACTLY as AcceptedRow<Readonly<Record<string, string>>>,
  namespace: LIST,
  minNonce: { accepts: acceptsFrom, excludes: excludesNothing, any: 0 },
  quorumKey: LIST,
  manifestSet: SETS,
  shareSet: SETS,
  userData: EXACTLY as AcceptedRow<string>,
  publicKey: EXACTLY as AcceptedRow<string>,
  commitment: EXACTLY as AcceptedRow<PinTypes["commitment"]["pin"]>,
  labels: { accepts: acceptsLabels, excludes: excludesLabels, any: {} },
  provenance: { accepts: acceptsProvenance, excludes: excludesNothing, any: [] },
};

/** The part of one deployment's evidence that another deployment also accepts. */
export interface AcceptedToo {
  readonly extent: "all" | "part";
  /** Pins that are narrower in the other deployment. There are none if it accepts all of the evidence. */
  readonly narrower: readonly NarrowerThing[];
}

type NarrowerThing = PinName | "appProofs" | "open";

/** Returns the part of the evidence for `one` that `other` also accepts, or null if no evidence meets both. */
export function acceptedToo(one: DeploymentPins, other: DeploymentPins): AcceptedToo | null {
  if (one.kind !== other.kind || PIN_NAMES.some((name) => isExcluded(name, one, other))) return null;
  const narrower: NarrowerThing[] = [
    ...PIN_NAMES.filter((name) => !isCovered(name, one, other)),
    ...(areAppProofsAsWide(one, other) ? [] : (["appProofs"] as const)),
    ...(acceptsRoleless(one) && !acceptsRoleless(other) ? (["open"] as const) : []),
  ];
  return { extent: narrower.length === 0 ? "all" : "part", narrower };
}

export function acceptSame(one: DeploymentPins, other: DeploymentPins): boolean {
  return acceptedToo(one, other)?.extent === "all" && acceptedToo(other, one)?.extent === "all";
}

function areAppProofsAsWide(one: DeploymentPins, other: DeploymentPins): boolean {
  const turns = [
    acceptsListOrAny(one.appProofTypes, other.appProofTypes),
    acceptsBytes(one.appProofBytes, other.appProofBytes),
  ];
  return turns.every(isAsWide);
}

function isAsWide(turn: AcceptedTurn | null): boolean {
  return turn === null || turn === "wider";
}

function isExcluded<K extends PinName>(name: K, one: DeploymentPins, other: DeploymentPins): boolean {
  const { excludes = [] } = PINS[name];
  const pins = [one[name], other[name]] as [PinTypes[K]["pin"] | undefined, PinTypes[K]["pin"] | undefined];
  if (pins[0] !== undefined && pins[1] !== undefined) return ACCEPTED[name].excludes(pins[0], pins[1]);
  const against = pins[0] === undefined ? one : other;
  return pins[0] !== pins[1] && excludes.some((each) => against[each] !== undefined);
}

/** Whether evidence that meets this pin of `one` also meets the same pin of `other`. */
function isCovered<K extends PinName>(name: K, one: DeploymentPins, other: DeploymentPins): boolean {
  const { accepts, any }: AcceptedRow<PinTypes[K]["pin"]> = ACCEPTED[name];
  const wide: PinTypes[K]["pin"] | undefined = other[name];
  const pin: PinTypes[K]["pin"] | undefined = one[name] ?? any;
  return wide === undefined || (pin !== undefined && isAsWide(accepts(pin, wide)));
}

/** A legacy document without a role, for which fewer pins decide the three questions. */
const ROLELESS: DocumentFacts = {
  pcrs: new Map([[3, ZERO_PCR]]),
  userData: null,
  publicKey: null,
  bootProof: null,
};

function acceptsRoleless(deployment: DeploymentPins): boolean {
  const { pcrs } = deployment;
  const role = (image: readonly PcrPin[]): PcrPin | undefined => image.find(({ index }) => index === 3);
  const mayBeRoleless = pcrs?.some((image) => role(image)?.accepted.includes(ZERO_PCR) ?? true) ?? true;
  return mayBeRoleless && scopeOf(deployment, ROLELESS).faults.length === 0;
}
