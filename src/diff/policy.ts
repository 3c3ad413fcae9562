/** Comparison of policies: what newly passes, what no longer passes, and all other content. */
import { ACCEPTED, type Accepts, acceptsBytes, acceptsListOrAny, textOf, turnOf } from "../appraise/accepted.js";
import type { AppProofRules, DeploymentPins } from "../appraise/parsed-policy.js";
import type { SetPin } from "../appraise/facts.js";
import { PIN_NAMES, type PcrPin, type PinName, type PinTypes } from "../appraise/pins.js";
import { type ParsePolicyOptions, type Policy, parsePolicy } from "../appraise/policy.js";
import { shownCertificate } from "../inspect/shown.js";
import { type ChangeId, type Found, found } from "./changes.js";
import { type Comparer, entries, ignored, members, toggle, value } from "./comparers.js";
import type { Rule, Sides } from "./compare.js";
import { type Content, type ContentObject, contentJson, contentText } from "./content.js";
import { placeIn } from "./place.js";
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
  const anchors = await Promise.all(
    policy.trustAnchors.map(async ({ certificate }) =>
      certificateText((await shownCertificate(certificate)) as Content),
    ),
  );
  return { policy, json, anchors };
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

/** Returns a comparer for values that decide which evidence passes. */
function accepted<T>(what: ChangeId, accepts: Accepts<T>, show: (value: T) => string = String): Comparer<T> {
  return (before, after, place) => {
    if (before === undefined || after === undefined) return value(what, show)(before, after, place);
    const turn = accepts(before, after);
    return turn === null ? [] : [found(what, { place, before: show(before), after: show(after), turn })];
  };
}

function comparePin<K extends PinName>(name: K, sides: readonly DeploymentPins[], place: string): readonly Found[] {
  const { about, show }: PinRow<PinTypes[K]["pin"]> = PIN_ROWS[name];
  const [before, after] = sides.map((side) => side[name] as PinTypes[K]["pin"] | undefined);
  const changes = accepted<PinTypes[K]["pin"]>("policy.pin", ACCEPTED[name].accepts, show)(
    before,
    after,
    placeIn(place, name),
  );
  return changes.map((change) => ({ ...change, about, entry: `${name} of ${sides[0]!.name}` }));
}

const typesText = (types: readonly string[] | null): string => (types === null ? "any" : types.join("\n"));

type BesidePins = Omit<DeploymentPins, PinName>;

const compareBesidePins = members<BesidePins>({
  name: value("policy.deployment-name"),
  kind: value("policy.kind"),
  open: entries("policy.open"),
  appProofTypes: ignored,
  appProofBytes: ignored,
});

const compareTypes = accepted("policy.app-proof-types", acceptsListOrAny, typesText);
const compareBytes = accepted("policy.app-proof-bytes", acceptsBytes, (bytes) => (bytes ? "any bytes" : "none"));

function compareDeployment(before: DeploymentPins, after: DeploymentPins, place: string): readonly Found[] {
  const others = compareBesidePins(before, after, place);
  const types = [
    ...compareTypes(before.appProofTypes, after.appProofTypes, `${place}.appProofs.types`),
    ...compareBytes(before.appProofBytes, after.appProofBytes, `${place}.appProofs.bytes`),
  ];
  return [
    ...PIN_NAMES.flatMap((name) => comparePin(name, [before, after], place)),
    ...[...others, ...types].map((change) => ({ ...change, entry: entryOf(change, before.name) })),
  ];
}

function entryOf({ entry }: Found, name: string): string {
  return entry === "" ? name : `${entry} of ${name}`;
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
  (deployment) => pinsText(deployment),
  (deployment) => (isNamed(deployment) ? null : deployment.name),
];

function pairsOf(before: readonly DeploymentPins[], after: readonly DeploymentPins[]): readonly Pair[] {
  const partners = new Map<DeploymentPins, DeploymentPins>();
  const taken = new Set<DeploymentPins>();
  for (const keyOf of SAME) {
    const free = new Map(after.filter((one) => !taken.has(one)).map((one) => [keyOf(one), one]));
    for (const one of before.filter((each) => !partners.has(each))) {
      const key = keyOf(one);
      const other = key === null ? undefined : free.get(key);
      if (other === undefined || taken.has(other)) continue;
      partners.set(one, other);
      taken.add(other);
    }
  }
  const pairs = before.map((one): Pair => ({ key: one.name, before: one, after: partners.get(one) }));
  const rest = after.filter((one) => !taken.has(one));
  // The other side may have another deployment at this index.
  const keyOf = (one: DeploymentPins): string => (isNamed(one) ? one.name : `${one.name} (new)`);
  return [...pairs, ...rest.map((one) => ({ key: keyOf(one), before: undefined, after: one }))];
}

function pinsText(deployment: DeploymentPins): string {
  return textOf({ ...deployment, name: "" });
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
    const { name } = (before ?? after)!;
    return value("policy.deployment", deploymentText)(before, after, at).map((change) => ({ ...change, entry: name }));
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

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "m"],
  [1000, "s"],
] as const;

/** Returns the age in the largest unit that divides it, as in policies. */
function ageText(age: number | null): string {
  if (age === null) return "any";
  const [length, letter] = UNITS.find(([milliseconds]) => age % milliseconds === 0)!;
  return `${age / length}${letter}`;
}

const acceptsRule: Accepts<boolean> = (before, after) => turnOf(!after || before, after || !before);

function rule<T>(
  accepts: Accepts<T>,
  show?: (value: T) => string,
): (before: T, after: T, place: string) => readonly Found[] {
  return accepted("policy.app-proofs", accepts, show);
}

/** Comparers of the rules about app proofs. In some rules, null is a value and does not mean absent. */
const APP_PROOF_ROWS: {
  readonly [K in keyof AppProofRules]: (
    before: AppProofRules[K],
    after: AppProofRules[K],
    place: string,
  ) => readonly Found[];
} = {
  types: compareTypes,
  maxAge: rule(acceptsAge, ageText),
  untimed: rule(acceptsListOrAny, typesText),
  required: rule(acceptsRule),
  coverage: rule(acceptsRule),
  decision: rule(acceptsRule),
};

function compareAppProofs(before: AppProofRules, after: AppProofRules, place: string): readonly Found[] {
  const one = <K extends keyof AppProofRules>(name: K): readonly Found[] =>
    APP_PROOF_ROWS[name](before[name], after[name], placeIn(place, name)).map((change) => ({ ...change, entry: name }));
  return (Object.keys(APP_PROOF_ROWS) as (keyof AppProofRules)[]).flatMap((name) => one(name));
}

type PolicyRow = (before: PolicyFacts, after: PolicyFacts, place: string) => readonly Found[];

/** Two versions of a signed policy differ in what they accept, so `signed` itself is not compared. */
const POLICY_ROWS: { readonly [K in Exclude<keyof Policy, "signed">]: PolicyRow } = {
  trustAnchors: (before, after, place) =>
    entries("policy.trust-anchor")(before.anchors, after.anchors, place).map((change) => ({
      ...change,
      place,
    })),
  allowDebug: (before, after, place) =>
    toggle("policy.allow-debug")(before.policy.allowDebug, after.policy.allowDebug, place),
  deployments: (before, after, place) => {
    const pairs = pairsOf(before.policy.deployments, after.policy.deployments);
    return [...comparePairs(pairs, place), ...compareOrder(pairs, after.policy.deployments, place)];
  },
  maxAge: (before, after, place) =>
    accepted("policy.max-age", acceptsAge, ageText)(before.policy.maxAge, after.policy.maxAge, place),
  appProofs: (before, after, place) => compareAppProofs(before.policy.appProofs, after.policy.appProofs, place),
  name: (before, after, place) =>
    value<string>("policy.name")(before.policy.name ?? undefined, after.policy.name ?? undefined, place),
};

/** Hex of any case. Comments inside are compared exactly. */
const ANY_CASE: Rule = {
  spell: (hex) => contentJson(hex).toLowerCase(),
  each: () => ANY_CASE,
  members: { comment: {} },
};
const SET: Rule = { members: { members: ANY_CASE } };

/** The rules for content that no change above covers. */
export const POLICY_FILE: Rule = {
  members: {
    deployments: {
      each: {
        members: {
          pcrs: ANY_CASE,
          manifestHash: ANY_CASE,
          pivotHash: ANY_CASE,
          workloads: ANY_CASE,
          quorumKey: ANY_CASE,
          userData: ANY_CASE,
          publicKey: ANY_CASE,
          manifestSet: SET,
          shareSet: SET,
          open: { key: contentText },
        },
      },
    },
  },
};

type Keys = ReadonlyMap<DeploymentPins, string>;

/** Returns the content of the file. Each deployment has the key of its pair, so that pairs are compared. */
function contentOf({ json, policy }: PolicyFacts, keys: Keys): Content {
  const file = json as ContentObject;
  const deployments = (file["deployments"] as Content[]).map((one, index) => [
    keys.get(policy.deployments[index]!),
    one,
  ]);
  return { ...file, deployments: Object.fromEntries(deployments) as ContentObject };
}

interface ComparedPolicies {
  readonly found: readonly Found[];
  /** The contents in which to look for other differences. */
  readonly contents: Sides;
}

export function comparePolicies(before: PolicyFacts, after: PolicyFacts, place: string): ComparedPolicies {
  const names = Object.keys(POLICY_ROWS) as (keyof typeof POLICY_ROWS)[];
  const pairs = pairsOf(before.policy.deployments, after.policy.deployments);
  const keys = new Map(pairs.flatMap(({ key, before: one, after: other }) => [one, other].map((side) => [side!, key])));
  return {
    found: names.flatMap((name) => POLICY_ROWS[name](before, after, placeIn(place, name))),
    contents: [contentOf(before, keys), contentOf(after, keys)],
  };
}
