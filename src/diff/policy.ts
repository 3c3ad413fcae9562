/** Comparison of policies: what newly passes, what no longer passes, and all other content. */
import { ACCEPTED, type Accepts, acceptsBytes, acceptsListOrAny, textOf, turnOf } from "../appraise/accepted.js";
import type { AppProofRules, DeploymentPins } from "../appraise/parsed-policy.js";
import type { SetPin } from "../appraise/facts.js";
import { PIN_NAMES, type PcrPin, type PinName, type PinTypes } from "../appraise/pins.js";
import { type ParsePolicyOptions, type Policy, parsePolicy } from "../appraise/policy.js";
import { placeIn } from "../inspect/place.js";
import { shownCertificate } from "../inspect/shown.js";
import { durationText } from "../show/policy.js";
import { type ChangeId, type Found, found } from "./changes.js";
import { type Reporting, type Rule, addedOrRemoved, compareTrees } from "./compare.js";
import { type Content, type ContentObject, byKey, contentJson, contentText, memberOf, partsOf } from "./content.js";
import { type Total, certificateText } from "./rules.js";

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

/** Compares values by what they accept. A value that only one side has is added or removed. */
function accepted<T>(what: ChangeId, accepts: Accepts<T>, show: (value: T) => string = String): Rule {
  return {
    what,
    show: (value) => show(value as T),
    turn: (before, after) =>
      before === undefined || after === undefined ? addedOrRemoved(before, after) : accepts(before as T, after as T),
  };
}

const ANY = "any";

/** The same, where null accepts anything. */
function acceptedOrAny<T>(what: ChangeId, accepts: Accepts<T | null>, show: (value: T) => string): Rule {
  const given = (value: T | typeof ANY): T | null => (value === ANY ? null : value);
  const rule = accepted<T | typeof ANY>(
    what,
    (before, after) => accepts(given(before), given(after)),
    (value) => (value === ANY ? ANY : show(value)),
  );
  return { ...rule, absent: ANY };
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

function pinRule<K extends PinName>(name: K): Rule {
  const { about, show }: PinRow<PinTypes[K]["pin"]> = PIN_ROWS[name];
  return {
    ...accepted<PinTypes[K]["pin"]>("policy.pin", ACCEPTED[name].accepts, show),
    entry: () => name,
    then: (changes) => changes.map((change) => ({ ...change, about })),
  };
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

/** Returns the keys by which deployments are compared. Paired ones have the same key. */
function keysOf(before: readonly DeploymentPins[], after: readonly DeploymentPins[]): Keys {
  const partners = new Map<DeploymentPins, DeploymentPins>();
  for (const keyOf of SAME) {
    const free = new Map(after.filter((one) => !partners.has(one)).map((one) => [keyOf(one), one]));
    for (const one of before.filter((each) => !partners.has(each) && keyOf(each) !== null)) {
      const other = free.get(keyOf(one));
      if (other !== undefined && !partners.has(other)) partners.set(one, other).set(other, one);
    }
  }
  // The other side may have another deployment at this index.
  const keyOf = (one: DeploymentPins): string => (isNamed(one) ? one.name : `${one.name} (new)`);
  return new Map([
    ...after.map((one) => [one, partners.get(one)?.name ?? keyOf(one)] as const),
    ...before.map((one) => [one, one.name] as const),
  ]);
}

type Keys = ReadonlyMap<DeploymentPins | undefined, string>;

/** Returns a text with the pins and the open questions of a deployment. */
function deploymentText(deployment: Content): string {
  const pins = PIN_NAMES.filter((name) => memberOf(deployment, name) !== undefined);
  const open = [...partsOf(memberOf(deployment, "open")!).keys()];
  const more = open.length === 0 ? "" : `; leaves open: ${open.join(", ")}`;
  return `${contentText(memberOf(deployment, "name")!)}: pins ${pins.join(", ")}${more}`;
}

/** Compares maximum ages in milliseconds. Null accepts any age. */
const acceptsAge: Accepts<number | null> = (before, after) => {
  const [one, other] = [before, after].map((age) => age ?? Number.POSITIVE_INFINITY);
  return turnOf(other! >= one!, other! <= one!);
};

const acceptsRule: Accepts<boolean> = (before, after) => turnOf(!after || before, after || !before);

const typesText = (types: readonly string[]): string => types.join("\n");
const TYPES = acceptedOrAny("policy.app-proof-types", acceptsListOrAny, typesText);
const BYTES = accepted("policy.app-proof-bytes", acceptsBytes, (bytes) => (bytes ? "any bytes" : "none"));
const ENTRIES: Rule = { entry: (name) => name };

const APP_PROOFS: Total<AppProofRules> = {
  types: { ...TYPES, ...ENTRIES },
  maxAge: { ...acceptedOrAny("policy.app-proofs", acceptsAge, durationText), ...ENTRIES },
  untimed: { ...accepted("policy.app-proofs", acceptsListOrAny, typesText), ...ENTRIES },
  required: { ...accepted("policy.app-proofs", acceptsRule), ...ENTRIES },
  coverage: { ...accepted("policy.app-proofs", acceptsRule), ...ENTRIES },
  decision: { ...accepted("policy.app-proofs", acceptsRule), ...ENTRIES },
};

const DEPLOYMENT: Rule = {
  only: "policy.deployment",
  show: deploymentText,
  members: {
    ...Object.fromEntries(PIN_NAMES.map((name) => [name, pinRule(name)])),
    ...({
      name: "policy.deployment-name",
      kind: "policy.kind",
      open: { each: { what: "policy.open", ...ENTRIES } },
      appProofTypes: { ...TYPES, at: "appProofs.types" },
      appProofBytes: { ...BYTES, at: "appProofs.bytes" },
    } satisfies Total<Omit<DeploymentPins, PinName>>),
  },
  then: (changes, [before, after]) => {
    const name = contentText(memberOf(before ?? after, "name")!);
    return changes.map((one) => ({ ...one, entry: one.entry === "" ? name : `${one.entry} of ${name}` }));
  },
};

/** What policies accept. Two versions of a signed policy differ in that, so `signed` itself is not compared. */
const POLICY: Rule = {
  members: {
    trustAnchors: { each: { what: "policy.trust-anchor", at: "", ...ENTRIES } },
    allowDebug: { what: "policy.allow-debug", turn: (before) => (before === true ? "lower" : "changed") },
    deployments: { each: DEPLOYMENT },
    maxAge: acceptedOrAny("policy.max-age", acceptsAge, durationText),
    appProofs: { members: APP_PROOFS },
    name: "policy.name",
  } satisfies Total<Omit<Policy, "signed">>,
};

/** Returns what a policy accepts as a tree. What has no order is an object. */
function acceptedBy({ policy, anchors }: PolicyFacts, keys: Keys): Content {
  const { name, allowDebug, maxAge, appProofs, deployments } = policy;
  const named = deployments.map((one) => [keys.get(one), { ...one, open: asEntries(one.open) }] as const);
  return {
    name: name ?? undefined,
    trustAnchors: asEntries(anchors),
    allowDebug,
    maxAge,
    appProofs: appProofs as object as ContentObject,
    deployments: Object.fromEntries(named) as ContentObject,
  };
}

function asEntries(texts: readonly string[]): ContentObject {
  return Object.fromEntries(byKey(texts, String));
}

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

/** Returns the content of the file. Each deployment has its key, so that paired ones are compared. */
function contentOf({ json, policy }: PolicyFacts, keys: Keys): Content {
  const file = json as ContentObject;
  const deployments = (file["deployments"] as Content[]).map((one, at) => [keys.get(policy.deployments[at]), one]);
  return { ...file, deployments: Object.fromEntries(deployments) as ContentObject };
}

/** Compares the order of deployments, because the first deployment that matches applies. */
function compareOrder(before: Policy, after: Policy, keys: Keys, place: string): readonly Found[] {
  const lists = [before, after].map(({ deployments }) => deployments.map((one) => keys.get(one)!));
  const [was, is] = lists.map((list) => list.filter((key) => lists.every((one) => one.includes(key))).join("\n"));
  return was === is ? [] : [found("policy.order", { place, before: was!, after: is!, isWhole: false })];
}

const COMMENT_PLACE = /(?:^|\.)(?:comment|\$schema)$/;

/**
 * Returns the changes of what policies accept, and the differences of their files that no such change covers. A bundle
 * may have no policy.
 */
export function comparePolicies(
  before: PolicyFacts | undefined,
  after: PolicyFacts | undefined,
  place: string,
  reporting: Reporting,
): readonly Found[] {
  const at = { place, name: "", reporting };
  if (before === undefined || after === undefined) {
    const names = [before, after].map((side) => side && (side.policy.name ?? "a policy without a name"));
    return compareTrees(names as [string, string], at, "bundle.policy");
  }
  const keys = keysOf(before.policy.deployments, after.policy.deployments);
  const changes = [
    ...compareTrees([acceptedBy(before, keys), acceptedBy(after, keys)], at, POLICY),
    ...compareOrder(before.policy, after.policy, keys, placeIn(place, "deployments")),
  ];
  for (const change of changes) if (change.isWhole) reporting.cover(change.place);
  const others = compareTrees([contentOf(before, keys), contentOf(after, keys)], at, POLICY_FILE);
  return [
    ...changes,
    ...others.map((one): Found => (COMMENT_PLACE.test(one.place) ? { ...one, what: "policy.comment" } : one)),
  ];
}
