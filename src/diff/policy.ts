/** Comparison of policies: what newly passes, what no longer passes, and all other content. */
import { ACCEPTED, type Accepts, acceptsBytes, acceptsListOrAny, textOf, turnOf } from "../appraise/accepted.js";
import type { AppProofRules, DeploymentPins } from "../appraise/parsed-policy.js";
import type { SetPin } from "../appraise/facts.js";
import { PIN_NAMES, type PcrPin, type PinName, type PinTypes } from "../appraise/pins.js";
import { type ParsePolicyOptions, type Policy, parsePolicy } from "../appraise/policy.js";
import { placeIn } from "../inspect/place.js";
import { shownCertificate } from "../inspect/shown.js";
import { durationText } from "../show/policy.js";
import { type ChangeId, type Found, type Turn, found } from "./changes.js";
import { type Reporting, type Rule, type Sides, addedOrRemoved, compareTrees, entered } from "./compare.js";
import { type Content, type ContentObject, byKey, contentJson, contentText } from "./content.js";
import { certificateText } from "./rules.js";

/** A policy and its file. */
export interface PolicyFacts {
  readonly policy: Policy;
  /** The JSON, with numbers as written. */
  readonly json: Content;
  /** The digests of the certificates. */
  readonly anchors: readonly string[];
}

/** Decodes a policy. Throws `MalformedError` with every fault. */
export async function readPolicy(
  file: Uint8Array | object,
  json: Content,
  options: ParsePolicyOptions,
): Promise<PolicyFacts> {
  const policy = parsePolicy(file, options);
  const anchors = await Promise.all(policy.trustAnchors.map(({ certificate }) => shownCertificate(certificate)));
  return { policy, json, anchors: anchors.map((one) => certificateText(one as Content)) };
}

type Comparer<T> = (before: T, after: T, place: string) => readonly Found[];

/** Comparers of all members. A new member without a comparer is a compile error. */
type Comparers<T> = { readonly [K in keyof T]-?: Comparer<T[K]> };

/** `isEntry` means that the name of a member is the key of its changes. */
function compareMembers<T extends object>(
  comparers: Comparers<T>,
  [before, after]: readonly [T, T],
  place: string,
  isEntry = false,
): Found[] {
  return (Object.keys(comparers) as (keyof T & string)[]).flatMap((name) => {
    const changes = comparers[name](before[name], after[name], placeIn(place, name));
    return isEntry ? entered(changes, name) : changes;
  });
}

/** Compares values by their texts. Undefined means absent. */
function value<T>(
  what: ChangeId,
  show: (value: T) => string = String,
  turn: (before: T | undefined, after: T | undefined) => Turn = addedOrRemoved,
): Comparer<T | undefined> {
  return (...[one, other, place]) => {
    const [before, after] = [one, other].map((side) => (side === undefined ? null : show(side))) as [string, string];
    return before === after ? [] : [found(what, { place, before, after, turn: turn(one, other) })];
  };
}

/** Compares values by what they accept, and by their texts where only one side has a value. */
function accepted<T>(
  what: ChangeId,
  accepts: Accepts<T>,
  show: (value: T) => string = String,
): Comparer<T | undefined> {
  return (before, after, place) => {
    if (before === undefined || after === undefined) return value(what, show)(before, after, place);
    const turn = accepts(before, after);
    return turn === null ? [] : [found(what, { place, before: show(before), after: show(after), turn })];
  };
}

/** Reports the texts that only one side has. */
function texts(what: ChangeId): Comparer<readonly string[]> {
  return (before, after, place) => {
    const [one, other] = [byKey(before, String), byKey(after, String)];
    return [...new Set([...one.keys(), ...other.keys()])].flatMap((key, index) =>
      entered(value<string>(what)(one.get(key), other.get(key), placeIn(place, key, index)), key),
    );
  };
}

interface PinRow<P> {
  /** Subject of the sentences about the pin, such as `The quorum key`. */
  readonly about: string;
  readonly show: (pin: P) => string;
}

const listText = (pin: readonly string[]): string => pin.join("\n");
const setText = ({ threshold, members: keys }: SetPin): string => `threshold ${threshold}\n${listText(keys)}`;

/** Returns a line for each PCR, and the line `or` between alternative images. */
function imagesText(images: PinTypes["pcrs"]["pin"]): string {
  const imageText = (image: readonly PcrPin[]): string =>
    image.map(({ index, accepted: values }) => `PCR${index} ${values.join(" or ")}`).join("\n");
  return images.map(imageText).join("\nor\n");
}

const PIN_ROWS: { readonly [K in PinName]: PinRow<PinTypes[K]["pin"]> } = {
  manifestSet: { about: "Who approves what runs", show: setText },
  shareSet: { about: "Who rebuilds the quorum key", show: setText },
  quorumKey: { about: "The quorum key", show: listText },
  namespace: { about: "The namespace", show: listText },
  minNonce: { about: "How old a manifest may be", show: String },
  manifestHash: { about: "The manifest", show: listText },
  pcrs: { about: "The image, and who runs it", show: imagesText },
  commitment: { about: "The kind of commitment", show: String },
  pivotHash: { about: "The program", show: listText },
  workloads: { about: "The programs", show: textOf },
  pivotArgs: { about: "The program's arguments", show: textOf },
  pivotEnv: { about: "The program's environment", show: textOf },
  userData: { about: "The document's user data", show: String },
  publicKey: { about: "The document's public key", show: String },
  labels: { about: "The service's labels", show: textOf },
  provenance: { about: "Who built the program", show: textOf },
};

function comparePin<K extends PinName>(name: K, sides: readonly DeploymentPins[], place: string): readonly Found[] {
  const { about, show }: PinRow<PinTypes[K]["pin"]> = PIN_ROWS[name];
  const [before, after] = sides.map((side) => side[name] as PinTypes[K]["pin"] | undefined);
  const compare = accepted<PinTypes[K]["pin"]>("policy.pin", ACCEPTED[name].accepts, show);
  return compare(before, after, placeIn(place, name)).map((change) => ({ ...change, about, entry: name }));
}

const typesText = (types: readonly string[] | null): string => (types === null ? "any" : types.join("\n"));
const compareTypes = accepted("policy.app-proof-types", acceptsListOrAny, typesText);
const compareBytes = accepted("policy.app-proof-bytes", acceptsBytes, (bytes) => (bytes ? "any bytes" : "none"));

const BESIDE_PINS: Comparers<Omit<DeploymentPins, PinName | "appProofTypes" | "appProofBytes">> = {
  name: value("policy.deployment-name"),
  kind: value("policy.kind"),
  open: texts("policy.open"),
};

function compareDeployment(before: DeploymentPins, after: DeploymentPins, place: string): readonly Found[] {
  const changes = [
    ...PIN_NAMES.flatMap((name) => comparePin(name, [before, after], place)),
    ...compareMembers(BESIDE_PINS, [before, after], place),
    ...compareTypes(before.appProofTypes, after.appProofTypes, `${place}.appProofs.types`),
    ...compareBytes(before.appProofBytes, after.appProofBytes, `${place}.appProofs.bytes`),
  ];
  return changes.map((one) => ({ ...one, entry: one.entry === "" ? before.name : `${one.entry} of ${before.name}` }));
}

/** Two matching deployments, or one deployment without a counterpart. */
interface Pair {
  readonly key: string;
  readonly before: DeploymentPins | undefined;
  readonly after: DeploymentPins | undefined;
}

/**
 * Whether the policy names the deployment. The default name is the index, which changes if a deployment is added before
 * it.
 */
const isNamed = ({ name }: DeploymentPins): boolean => !/^deployments\[\d+\]$/.test(name);

/** The criteria by which deployments are paired, in order: name, pins, index. */
const SAME: readonly ((deployment: DeploymentPins) => string | null)[] = [
  (deployment) => (isNamed(deployment) ? deployment.name : null),
  (deployment) => textOf({ ...deployment, name: "" }),
  (deployment) => (isNamed(deployment) ? null : deployment.name),
];

function pairsOf(before: readonly DeploymentPins[], after: readonly DeploymentPins[]): readonly Pair[] {
  const partners = new Map<DeploymentPins, DeploymentPins>();
  for (const keyOf of SAME) {
    const free = new Map(after.filter((one) => !partners.has(one)).map((one) => [keyOf(one), one]));
    for (const one of before.filter((each) => !partners.has(each) && keyOf(each) !== null)) {
      const other = free.get(keyOf(one));
      if (other !== undefined && !partners.has(other)) partners.set(one, other).set(other, one);
    }
  }
  const added = after.filter((one) => !partners.has(one));
  return [
    ...before.map((one) => ({ key: one.name, before: one, after: partners.get(one) })),
    // The other side may have another deployment at this index.
    ...added.map((one) => ({ key: isNamed(one) ? one.name : `${one.name} (new)`, before: undefined, after: one })),
  ];
}

/** Returns a text with the pins and the open questions of a deployment. */
function deploymentText(deployment: DeploymentPins): string {
  const pins = PIN_NAMES.filter((name) => deployment[name] !== undefined);
  const open = deployment.open.length === 0 ? "" : `; leaves open: ${deployment.open.join(", ")}`;
  return `${deployment.name}: pins ${pins.join(", ")}${open}`;
}

function comparePairs(pairs: readonly Pair[], place: string): readonly Found[] {
  return pairs.flatMap(({ key, before, after }, index) => {
    const at = placeIn(place, key, index);
    if (before !== undefined && after !== undefined) return compareDeployment(before, after, at);
    return entered(value("policy.deployment", deploymentText)(before, after, at), (before ?? after)!.name);
  });
}

/** Compares the order of deployments, because the first deployment that matches applies. */
function compareOrder(pairs: readonly Pair[], after: readonly DeploymentPins[], place: string): readonly Found[] {
  const both = pairs.filter((pair) => pair.before !== undefined && pair.after !== undefined);
  const now = [...both].sort((one, other) => after.indexOf(one.after!) - after.indexOf(other.after!));
  const [one, other] = [both, now].map((list) => list.map(({ key }) => key).join("\n"));
  return one === other ? [] : [found("policy.order", { place, before: one!, after: other!, isWhole: false })];
}

/** Compares maximum ages in milliseconds. Null accepts any age. */
const acceptsAge: Accepts<number | null> = (before, after) => {
  const [one, other] = [before, after].map((age) => age ?? Number.POSITIVE_INFINITY);
  return turnOf(other! >= one!, other! <= one!);
};

const ageText = (age: number | null): string => (age === null ? "any" : durationText(age));

const acceptsRule: Accepts<boolean> = (before, after) => turnOf(!after || before, after || !before);

/** Comparers of the rules about app proofs. In some rules, null is a value and does not mean absent. */
const APP_PROOFS: Comparers<AppProofRules> = {
  types: compareTypes,
  maxAge: accepted("policy.app-proofs", acceptsAge, ageText),
  untimed: accepted("policy.app-proofs", acceptsListOrAny, typesText),
  required: accepted("policy.app-proofs", acceptsRule),
  coverage: accepted("policy.app-proofs", acceptsRule),
  decision: accepted("policy.app-proofs", acceptsRule),
};

/** What policies accept. Two versions of a signed policy differ in that, so `signed` itself is not compared. */
interface Accepted extends Omit<Policy, "signed" | "trustAnchors"> {
  readonly trustAnchors: readonly string[];
}

const POLICY: Comparers<Accepted> = {
  trustAnchors: (before, after, place) =>
    texts("policy.trust-anchor")(before, after, place).map((change) => ({ ...change, place })),
  allowDebug: value("policy.allow-debug", String, (isOn) => (isOn === true ? "lower" : "changed")),
  deployments: (before, after, place) => {
    const pairs = pairsOf(before, after);
    return [...comparePairs(pairs, place), ...compareOrder(pairs, after, place)];
  },
  maxAge: accepted("policy.max-age", acceptsAge, ageText),
  appProofs: (before, after, place) => compareMembers(APP_PROOFS, [before, after], place, true),
  name: (before, after, place) => value("policy.name")(before ?? undefined, after ?? undefined, place),
};

/** Hex of any case. Comments inside are compared exactly. */
const ANY_CASE: Rule = {
  spell: (hex) => contentJson(hex).toLowerCase(),
  each: () => ANY_CASE,
  members: { comment: {} },
};
const SET: Rule = { members: { members: ANY_CASE } };
const HEX = ["pcrs", "manifestHash", "pivotHash", "workloads", "quorumKey", "userData", "publicKey"];

/** The rules for content that no change above covers. */
const POLICY_FILE: Rule = {
  members: {
    deployments: {
      each: {
        members: {
          ...Object.fromEntries(HEX.map((name) => [name, ANY_CASE])),
          manifestSet: SET,
          shareSet: SET,
          open: { key: contentText },
        },
      },
    },
  },
};

/** Returns the content of the file. Each deployment has the key of its pair, so that pairs are compared. */
function contentOf({ json, policy }: PolicyFacts, keys: ReadonlyMap<DeploymentPins | undefined, string>): Content {
  const file = json as ContentObject;
  const deployments = (file["deployments"] as Content[]).map((one, at) => [keys.get(policy.deployments[at]), one]);
  return { ...file, deployments: Object.fromEntries(deployments) as ContentObject };
}

const COMMENT_PLACE = /(?:^|\.)(?:comment|\$schema)$/;

/**
 * Returns the changes of what policies accept, and the differences of their files that no such change covers. A
 * bundle may have no policy.
 */
export function comparePolicies(
  before: PolicyFacts | undefined,
  after: PolicyFacts | undefined,
  place: string,
  reporting: Reporting,
): readonly Found[] {
  if (before === undefined || after === undefined) {
    const [one, other] = [before, after].map((side) =>
      side ? (side.policy.name ?? "a policy without a name") : undefined,
    );
    return value("bundle.policy")(one, other, place);
  }
  const pairs = pairsOf(before.policy.deployments, after.policy.deployments);
  const [one, other] = [before, after].map(({ policy, anchors }) => ({ ...policy, trustAnchors: anchors }));
  const changes = compareMembers<Accepted>(POLICY, [one!, other!], place);
  const keys = new Map(pairs.flatMap((pair) => [pair.before, pair.after].map((side) => [side, pair.key])));
  for (const change of changes) if (change.isWhole) reporting.cover(change.place);
  const contents: Sides = [contentOf(before, keys), contentOf(after, keys)];
  const others = compareTrees(contents, { place, name: "", reporting }, POLICY_FILE).map((change): Found => {
    return COMMENT_PLACE.test(change.place) ? { ...change, what: "policy.comment" } : change;
  });
  return [...changes, ...others];
}
