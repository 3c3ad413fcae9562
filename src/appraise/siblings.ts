/** Demands of siblings that an added deployment keeps (appraise/README.md, "Siblings"). */
import type { ProvenanceBundle } from "../decode/provenance-bundle.js";
import { nearest } from "../decode/nearest.js";
import { cut, listed, shownName } from "../errors.js";
import { ACCEPTED, type Accepts, textOf } from "./accepted.js";
import type { DeploymentPins } from "./parsed-policy.js";
import { keepsDemand, namesOneVersion, renewedEntry } from "./pin-provenance.js";
import type { DocumentFacts } from "./facts.js";
import {
  PINS,
  PIN_NAMES,
  type PcrPin,
  type PcrsFile,
  type PinName,
  type PinTypes,
  comparePin,
  commonPcrs,
  leastBy,
} from "./pins.js";
import type { DeploymentFile } from "./policy.js";
import type { ProvenanceFile } from "./provenance.js";

/** Codes of refusals, for callers that handle them. */
type DemandCode =
  | "demand-unmet"
  | "demand-of-one-version"
  | "demand-not-shown"
  | "siblings-differ"
  | "drop-undemanded"
  | "provenance-undemanded";

/** A demand that an added deployment would not keep, or an argument for a demand that no sibling has. */
interface DemandRefusal {
  readonly code: DemandCode;
  /** The name that `drop` takes, such as `shareSet`, `labels.deploymentLabel` or `pcrs.8`. */
  readonly demand: string;
  /** The deployment that would be added, or null for an argument of the caller. */
  readonly deployment: string | null;
  /** The deployments of the policy that have the demand. */
  readonly siblings: readonly string[];
  readonly message: string;
  readonly advice: string;
}

/** Thrown if an added deployment would not keep its siblings' demands. `refusals` lists every such demand. */
export class DemandError extends Error {
  override readonly name = "DemandError";
  readonly code = "demands";
  readonly refusals: readonly DemandRefusal[];

  constructor(refusals: readonly DemandRefusal[]) {
    super(listed(refusals.map(demandText), "; "));
    this.refusals = refusals;
  }
}

/** Returns a sentence on the refusal, without the advice. */
export function demandText({ demand, deployment, message }: DemandRefusal): string {
  return `${deployment === null ? "" : `${quoted(deployment)}: `}${demand}: ${message}`;
}

interface Deployment {
  readonly file: DeploymentFile;
  readonly pins: DeploymentPins;
}

interface Addition extends Deployment {
  /** Facts of its boot proofs. If there are none, values that the deployment does not pin are unknown. */
  readonly facts: readonly DocumentFacts[];
  /** Whether a deployment of the policy accepts the same evidence, so that nothing is added. */
  readonly isThere: boolean;
}

export interface Terms {
  readonly drop: ReadonlySet<string>;
  /** Pins that the maker of the deployment compared in another way. */
  readonly judged: ReadonlySet<PinName>;
  /** Bundles, which the caller verifies under the resulting policy. */
  readonly bundles: readonly ProvenanceBundle[];
}

/** Returns the deployments of these namespaces with the highest `minNonce`. A missing nonce is the lowest. */
export function newestSiblings(
  deployments: readonly DeploymentPins[],
  namespaces: readonly string[],
): DeploymentPins[] {
  const siblings = deployments.filter(({ namespace }) => namespace?.some((one) => namespaces.includes(one)));
  const floor = Math.max(...siblings.map(({ minNonce = -1 }) => minNonce));
  return siblings.filter(({ minNonce = -1 }) => minNonce === floor);
}

/** Returns the additions with the demands of siblings. Throws {@link DemandError} with every demand that is lost. */
export function keepDemands(
  additions: readonly Addition[],
  before: readonly Deployment[],
  terms: Terms,
): { readonly files: readonly DeploymentFile[]; readonly notes: readonly string[] } {
  const kept = additions.map((addition) => {
    const newest = newestSiblings(
      before.map(({ pins }) => pins),
      namespacesOf(addition),
    );
    const siblings = before.filter(({ pins }) => newest.includes(pins));
    if (addition.isThere) return { ...UNCHANGED, file: addition.file, demanded: demandsOf(siblings) };
    return siblings.length === 0 ? withoutSibling(addition, before) : besideSiblings(addition, siblings, terms);
  });
  const demanded = new Set(kept.flatMap((one) => one.demanded));
  const isUsed = demanded.has("provenance") || additions.some(({ pins }) => pins.provenance !== undefined);
  const refusals = [
    ...kept.flatMap((one) => one.refusals),
    ...undemanded(terms.drop, [...demanded]),
    ...(terms.bundles.length > 0 && !isUsed ? [UNUSED_BUNDLES] : []),
  ];
  if (refusals.length > 0) throw new DemandError(refusals);
  return { files: kept.map(({ file }) => file), notes: kept.flatMap(({ notes }) => notes) };
}

function namespacesOf({ pins, facts }: Addition): readonly string[] {
  return pins.namespace ?? facts.map(({ bootProof }) => bootProof!.namespace);
}

interface Beside {
  readonly file: DeploymentFile;
  readonly refusals: readonly DemandRefusal[];
  readonly demanded: readonly string[];
  readonly notes: readonly string[];
}

const UNCHANGED: Omit<Beside, "file"> = { refusals: [], demanded: [], notes: [] };

/** Handles an addition without siblings. If namespaces are not pinned, a note lists demands that may be lost. */
function withoutSibling(addition: Addition, before: readonly Deployment[]): Beside {
  const { file, pins } = addition;
  const isNameless = namespacesOf(addition).length === 0;
  const notes = before.flatMap(({ pins: other }) => {
    const lost = PIN_NAMES.filter((name) => other[name] !== undefined && pins[name] === undefined);
    if ((other.namespace !== undefined && !isNameless) || other.kind !== pins.kind || lost.length === 0) return [];
    const which = other.namespace === undefined ? other.name : pins.name;
    return [
      `${quoted(which)} pins no namespace, so ${quoted(pins.name)} keeps no demand of ${quoted(other.name)}: ` +
        `${lost.join(", ")}`,
    ];
  });
  return { ...UNCHANGED, file, notes };
}

function besideSiblings(addition: Addition, siblings: readonly Deployment[], terms: Terms): Beside {
  const demanded = demandsOf(siblings);
  const answers = siblings.map((sibling) => answersOf(addition, sibling, terms));
  const names = siblings.map(({ pins }) => pins.name);
  const differing = ANSWERED.filter((name) => new Set(answers.map((each) => outcomeOf(each.get(name)))).size > 1);
  if (differing.length > 0) {
    const refusals = differing.map((name) => differ(name, addition, names));
    return { ...UNCHANGED, file: addition.file, refusals, demanded };
  }
  const kept = [...answers[0]!];
  const carried = kept.flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value] as const]));
  return {
    file: { ...addition.file, ...(Object.fromEntries(carried) as Partial<DeploymentFile>) },
    refusals: kept.flatMap(([, { refusals = [] }]) =>
      refusals.map((one) => ({ ...one, deployment: addition.pins.name, siblings: names })),
    ),
    demanded,
    notes: kept.flatMap(([, { note = [] }]) => note),
  };
}

/** Decision on one pin of a sibling. Without a value, the addition's own pin stays as it is. */
interface Answer {
  /** Value for the file of the addition. */
  readonly value?: unknown;
  /** A text that is the same for equal values in different spellings. */
  readonly key?: string;
  readonly refusals?: readonly Omit<DemandRefusal, "deployment" | "siblings">[];
  readonly note?: string;
}

const KEPT: Answer = {};

function outcomeOf({ key, refusals = [] }: Answer = KEPT): string {
  return JSON.stringify([key, refusals.map(({ code, demand }) => [code, demand])]);
}

/** Name of the types of app proof in `drop`. They are not a pin, but narrow what a deployment accepts like one. */
const TYPES = "appProofs";
const ANSWERED = [...PIN_NAMES, TYPES] as const;

/** Names that `drop` takes, without the parts of pins. */
export const DROPPABLE: readonly string[] = ANSWERED;

function answersOf(addition: Addition, sibling: Deployment, terms: Terms): Map<(typeof ANSWERED)[number], Answer> {
  const pinned = PIN_NAMES.filter((name) => sibling.pins[name] !== undefined && !terms.drop.has(name));
  const answers = pinned.map((name) => [name, answerOf(name, addition, sibling, terms)] as const);
  return new Map([...answers, [TYPES, typesAnswer(addition, sibling, terms)] as const]);
}

/** Decides on types of app proof. Types that the addition names are the caller's choice. */
function typesAnswer(
  { file }: Addition,
  { pins: { appProofTypes, appProofBytes } }: Deployment,
  { drop }: Terms,
): Answer {
  const hasOwn = appProofTypes !== null || appProofBytes;
  if (file.appProofs !== undefined || !hasOwn || drop.has(TYPES)) return KEPT;
  const value = { ...(appProofTypes && { types: appProofTypes }), ...(appProofBytes && { bytes: true }) };
  return { value, key: textOf([...(appProofTypes ?? []), ...(appProofBytes ? ["bytes"] : [])].sort()) };
}

interface Pair<P> {
  readonly name: PinName;
  readonly wanted: P;
  /** The sibling's pin in the file. */
  readonly raw: unknown;
  /** The addition's own pin. */
  readonly own: P | undefined;
  readonly addition: Addition;
  readonly terms: Terms;
}

function answerOf<K extends PinName>(name: K, addition: Addition, sibling: Deployment, terms: Terms): Answer {
  const [wanted, own] = [sibling.pins[name], addition.pins[name]] as [PinTypes[K]["pin"], PinTypes[K]["pin"]?];
  if (terms.judged.has(name)) return KEPT;
  return KEEPING[name].keep({ name, wanted, raw: sibling.file[name], own, addition, terms });
}

interface Row<P> {
  /** The names of parts that can be dropped alone. */
  readonly parts?: (wanted: P) => readonly string[];
  readonly keep: (pair: Pair<P>) => Answer;
}

/** Row of pins that are carried over if the evidence meets them. The addition's own pin must not accept more. */
const HELD: Row<unknown> = {
  keep: (pair) => {
    const { name, wanted, own, raw, addition } = pair;
    const carried: Answer = { value: raw, key: textOf(wanted) };
    if (own !== undefined) {
      const turn = (ACCEPTED[name].accepts as Accepts<unknown>)(wanted, own);
      return turn === null || turn === "narrower" ? KEPT : unmet(name, textOf(wanted), textOf(own));
    }
    if (PIN_NAMES.some((other) => addition.pins[other] !== undefined && PINS[other].excludes?.includes(name)))
      return unmet(name, textOf(wanted), "none: the manifest has workloads and no pivot");
    const answers = addition.facts.map((facts) => comparePin(name, { [name]: wanted }, facts)!);
    const other = answers.find(({ met }) => !met);
    if (other === undefined) return carried;
    const { detail, compared } = other.explain();
    return unmet(name, compared?.expected ?? textOf(wanted), compared?.actual ?? detail);
  },
};

/** Row of pins that belong to one version. The addition must pin a new value, or the hash of its manifest. */
const ANEW: Row<unknown> = {
  keep: ({ name, own, addition: { pins } }) =>
    own !== undefined || pins.manifestHash !== undefined ? KEPT : refused(name, "demand-unmet", NOT_PINNED_ANEW),
};
const NOT_PINNED_ANEW = "pinned by a sibling, but the value of the new version is not known";

const MANIFEST_HASH: Row<readonly string[]> = {
  keep: ({ name, own, addition: { facts } }) => {
    if (own !== undefined) return KEPT;
    const hashes = [...new Set(facts.map(({ bootProof }) => bootProof!.manifestHash))];
    if (hashes.length === 0) return refused(name, "demand-of-one-version", NOT_PINNED_ANEW);
    return { value: hashes, key: textOf(hashes), note: "manifestHash is pinned anew: no later manifest passes" };
  },
};

/** Row of workloads. The digests belong to one version, but the names stay the same in later versions. */
const WORKLOADS: Row<PinTypes["workloads"]["pin"]> = {
  keep: (pair) => {
    const [before, after] = [pair.wanted, pair.own ?? {}].map((one) => Object.keys(one).sort().join(", "));
    if (pair.own === undefined || before === after) return ANEW.keep(pair);
    return unmet(pair.name, before!, after!);
  },
};

/** PCRs that cover the image and belong to one version. Other PCRs identify where it runs and who signed it. */
const VERSION_PCRS: readonly number[] = [0, 1, 2];

const PCRS: Row<PinTypes["pcrs"]["pin"]> = {
  parts: (images) => [...new Set(images.flatMap(lasting).map(({ index }) => index))].map((index) => `pcrs.${index}`),
  keep: (pair) => {
    const { name, wanted, own = [[]], terms, addition } = pair;
    const images = wanted.map((image) => lasting(image).filter(({ index }) => !terms.drop.has(`pcrs.${index}`)));
    const missing = VERSION_PCRS.filter((index) => commonPcrs({ pcrs: wanted }).includes(index)).filter(
      (index) => !commonPcrs({ pcrs: own }).includes(index),
    );
    if (missing.length > 0 && addition.pins.manifestHash === undefined)
      return refused(name, "demand-unmet", NOT_PINNED_ANEW);
    const differing = (mine: readonly PcrPin[], image: readonly PcrPin[]): readonly PcrPin[] =>
      image.filter((pin) => !isPcrMet(pin, mine, addition.facts));
    const fitting = own.map((mine) => images.filter((image) => differing(mine, image).length === 0));
    const unfit = own.find((_, index) => fitting[index]!.length === 0);
    if (unfit !== undefined) {
      const nearestImage = leastBy(images, (image) => differing(unfit, image).length);
      return {
        refusals: differing(unfit, nearestImage).flatMap(({ index, accepted }) => {
          const actual = unfit.find((pin) => pin.index === index)?.accepted ?? shownPcrs(index, addition.facts);
          return unmet(`pcrs.${index}`, accepted.join(" or "), actual.join(" or ")).refusals!;
        }),
      };
    }
    const files = own.flatMap((mine, index) => fitting[index]!.map((image) => imageFile([...image, ...mine])));
    const value = [...new Map(files.map((file) => [textOf(file), file])).values()];
    if (textOf(value) === textOf(own.map(imageFile))) return KEPT;
    return { value: value.length === 1 ? value[0] : value, key: textOf(value) };
  },
};

function lasting(image: readonly PcrPin[]): readonly PcrPin[] {
  return image.filter(({ index }) => !VERSION_PCRS.includes(index));
}

function isPcrMet({ index, accepted }: PcrPin, mine: readonly PcrPin[], facts: readonly DocumentFacts[]): boolean {
  const values = mine.find((pin) => pin.index === index)?.accepted ?? shownPcrs(index, facts);
  return values.every((value) => accepted.includes(value));
}

function shownPcrs(index: number, facts: readonly DocumentFacts[]): readonly string[] {
  return facts.map(({ pcrs }) => pcrs.get(index) ?? "absent");
}

/** Writes an image. If two pins have the same index, the later one is written. */
function imageFile(pins: readonly PcrPin[]): PcrsFile {
  return Object.fromEntries(
    pins.map(({ index, accepted }) => [String(index), accepted.length === 1 ? accepted[0]! : accepted]),
  );
}

const VERSION_LABEL = "deploymentLabel";

/** Row of labels, each of which is a separate demand. */
const LABELS: Row<PinTypes["labels"]["pin"]> = {
  parts: (labels) => Object.keys(labels).map((label) => `labels.${label}`),
  keep: ({ wanted, own = {}, addition: { facts }, terms }) => {
    const entries = Object.entries(wanted).filter(([label]) => !terms.drop.has(`labels.${label}`));
    const mine = { ...own } as Readonly<Record<string, string | undefined>>;
    const refusals = entries.flatMap(([label, text]) => {
      const demand = `labels.${label}`;
      if (label === VERSION_LABEL)
        return mine[label] === undefined
          ? refused(demand, "demand-of-one-version", `${quoted(text)} is demanded, and names one version`).refusals!
          : [];
      const shown = mine[label] === undefined ? facts.map(({ bootProof }) => bootProof!.labels[label]) : [mine[label]];
      const differing = shown.filter((one) => one !== text);
      if (differing.length === 0) return [];
      return unmet(demand, quoted(text), typeof differing[0] === "string" ? quoted(differing[0]) : "none").refusals!;
    });
    const value = { ...Object.fromEntries(entries), ...own };
    return refusals.length > 0 || textOf(value) === textOf(own) ? { refusals } : { value, key: textOf(value) };
  },
};

const PROVENANCE: Row<PinTypes["provenance"]["pin"]> = {
  keep: ({ name, wanted, own, raw, addition, terms }) => {
    if (own !== undefined) {
      const lost = wanted.findIndex((demand) => !own.some((other) => keepsDemand(demand, other)));
      return lost < 0 ? KEPT : refusedBuild("demand-unmet", `provenance[${lost}] of a sibling is not kept here`);
    }
    if (terms.bundles.length > 0) return renewed(wanted, raw as readonly ProvenanceFile[], addition, terms);
    if (addition.facts.length > 0) return refusedBuild("demand-not-shown", "no bundle shows who built the new version");
    const isForeign = wanted.some(({ workload }) => (workload === null) !== (addition.pins.workloads === undefined));
    if (isForeign) return refusedBuild("demand-unmet", "demanded of another kind of application");
    if (wanted.some(namesOneVersion))
      return refusedBuild("demand-of-one-version", "names the commit or ref of one build");
    return { value: raw, key: textOf([name, wanted]) };
  },
};

function renewed(
  wanted: PinTypes["provenance"]["pin"],
  raw: readonly ProvenanceFile[],
  addition: Addition,
  { bundles }: Terms,
): Answer {
  const entries = wanted.map((demand, index) => {
    const digests = digestsOf(demand.workload, addition);
    return renewedEntry({ entry: raw[index]!, demand }, bundles, digests);
  });
  const faults = entries.flatMap(({ fault }, index) => (fault === null ? [] : [`provenance[${index}]: ${fault}`]));
  if (faults.length > 0) return refusedBuild("demand-unmet", faults.join("; "));
  const value = entries.map(({ entry }) => entry);
  const changes = entries.flatMap((one) => one.changes);
  const note =
    changes.length === 0 ? {} : { note: `provenance is pinned anew, as its bundle shows: ${changes.join(", ")}` };
  return { value, key: textOf(value), ...note };
}

function digestsOf(workload: string | null, { facts, pins }: Addition): readonly (string | undefined)[] {
  if (facts.length === 0) return (workload === null ? pins.pivotHash : pins.workloads?.[workload]) ?? [undefined];
  return facts.map(({ bootProof }) => (workload === null ? bootProof!.pivot?.hash : bootProof!.workloads?.[workload]));
}

/** Rows that decide on each pin of a sibling. */
export const KEEPING: { readonly [K in PinName]: Row<PinTypes[K]["pin"]> } = {
  pcrs: PCRS,
  manifestHash: MANIFEST_HASH,
  pivotHash: ANEW,
  workloads: WORKLOADS,
  pivotArgs: HELD,
  pivotEnv: HELD,
  namespace: HELD,
  minNonce: HELD,
  quorumKey: HELD,
  manifestSet: HELD,
  shareSet: HELD,
  userData: HELD,
  publicKey: HELD,
  commitment: HELD,
  labels: LABELS,
  provenance: PROVENANCE,
};

/** Returns the names that `drop` takes for the demands of deployments. */
function demandsOf(deployments: readonly Deployment[]): string[] {
  const parts = <K extends PinName>(name: K, pins: DeploymentPins): readonly string[] => {
    const pin: PinTypes[K]["pin"] | undefined = pins[name];
    return pin === undefined ? [] : [name, ...(KEEPING[name].parts?.(pin) ?? [])];
  };
  return deployments.flatMap(({ pins }) => [
    ...PIN_NAMES.flatMap((name) => parts(name, pins)),
    ...(pins.appProofTypes === null && !pins.appProofBytes ? [] : [TYPES]),
  ]);
}

const OF_CALLER = { deployment: null, siblings: [] } as const;

function undemanded(drop: ReadonlySet<string>, demanded: readonly string[]): DemandRefusal[] {
  return [...drop]
    .filter((name) => !demanded.includes(name))
    .map((name) => ({
      code: "drop-undemanded",
      demand: shownName(name),
      ...OF_CALLER,
      message: `no deployment of the same namespace demands it${nearest(name, demanded)}`,
      advice: demanded.length === 0 ? "There is nothing to drop." : `What can be dropped: ${demanded.join(", ")}.`,
    }));
}

const UNUSED_BUNDLES: DemandRefusal = {
  code: "provenance-undemanded",
  demand: "provenance",
  ...OF_CALLER,
  message: "no deployment of the same namespace demands it, so the bundles would pin nothing",
  advice: "Pin who must have built it: --repository URL and --trusted-root FILE.",
};

function differ(demand: string, { pins }: Addition, siblings: readonly string[]): DemandRefusal {
  return {
    code: "siblings-differ",
    demand,
    deployment: pins.name,
    siblings,
    message: `${siblings.map(quoted).join(" and ")} have the same minNonce, but different demands`,
    advice: `Remove one of them from the policy first. ${dropWords(demand)}`,
  };
}

function refused(demand: string, code: DemandCode, message: string, remedy = ""): Answer {
  return { refusals: [{ code, demand, message, advice: `${remedy}${dropWords(demand)}` }] };
}

function refusedBuild(code: DemandCode, message: string): Answer {
  return refused("provenance", code, message, `${GIVE_THE_BUNDLE} `);
}

const GIVE_THE_BUNDLE =
  "Give the Sigstore bundle of the new build with its boot proof (--provenance FILE): it is pinned anew for the same " +
  "repository.";

function dropWords(demand: string): string {
  return `To add the deployment without this demand: --drop ${demand}`;
}

/** Maximum characters of each value, since sets have many keys. */
const MAX_VALUE = 300;

function unmet(demand: string, expected: string, actual: string): Answer {
  const [wanted, shown] = [expected, actual].map((text) => cut(text.replaceAll("\n", ", "), MAX_VALUE));
  return refused(demand, "demand-unmet", `${wanted} is demanded, but the new value is ${shown}`);
}

function quoted(text: string): string {
  return JSON.stringify(shownName(text, MAX_VALUE));
}
