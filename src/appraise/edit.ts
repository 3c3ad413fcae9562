/** Edits of policy files for a roll-out and its end. Other text stays as it is. */
import { callable, plain, requireShape, typedOptions, unchecked } from "../decode/options.js";
import { type MembersOf, list, objectOf, optional, simple, text } from "../decode/shapes.js";
import { equalBytes, fromUtf8 } from "../bytes.js";
import { jsonInput } from "../decode/input.js";
import { decodeProvenanceBundle } from "../decode/provenance-bundle.js";
import { MalformedError, listed, shownName } from "../errors.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";
import { AWS_NITRO_ROOT_G1_NAME, type TrustAnchor, isAwsNitroRoot } from "../verify/trust-anchor.js";
import { type AcceptedToo, acceptSame, acceptedToo } from "./accepted.js";
import { appended, changed, type TextEdit, type JsonEntry, entriesAt, insertedBefore, removed } from "./json-edit.js";
import { derivationFault } from "./derivation.js";
import type { DeploymentPins, Policy } from "./parsed-policy.js";
import { type MadePolicy, namedApart } from "./pin.js";
import { type DocumentFacts, factsOf } from "./facts.js";
import { PIN_NAMES, type PinName, comparePin } from "./pins.js";
import { type DeploymentFile, type ParsePolicyOptions, ownParseOptions, parsePolicy } from "./policy.js";
import { type Terms, keepDemands } from "./siblings.js";
import { nearest } from "../decode/nearest.js";

/** A changed policy file, with notes for its reviewer. */
export interface EditedPolicy {
  readonly text: string;
  readonly added: readonly string[];
  /** Deployments that were not added because a deployment of the policy accepts the same evidence. */
  readonly alreadyThere: readonly AlreadyThere[];
  /** Deployments that still accept all or some of the dropped deployment's evidence. */
  readonly stillAcceptedBy: readonly StillAccepting[];
  readonly notes: readonly string[];
}

interface AlreadyThere {
  readonly name: string;
  /** The name of the existing deployment that accepts the same evidence. */
  readonly as: string;
}

interface StillAccepting extends AcceptedToo {
  /** The deployment's name in reports after the change. */
  readonly name: string;
  readonly message: string;
}

export interface AddOptions extends ParsePolicyOptions {
  /**
   * Demands of siblings that the added deployments need not keep: a pin, a part of a pin (`labels.deploymentLabel`,
   * `pcrs.8`), or `appProofs`.
   */
  readonly drop?: readonly string[];
  /** Sigstore bundles of the new builds. Siblings' demands on builds are pinned for them. No signature is verified. */
  readonly provenance?: readonly unknown[];
}

const ADD_OPTIONS: MembersOf<AddOptions> = {
  readFile: optional(callable),
  drop: optional(list(text)),
  provenance: optional(list(plain)),
};

/**
 * Starts a roll-out: appends the deployments of another policy, and adds its trust anchors. A deployment that accepts
 * the same as an existing one is not added. A name in use gets ` (2)`. Other text stays as it is.
 *
 * Adding must not loosen the policy. A new deployment keeps the demands of its newest sibling, the deployment of the
 * same namespace with the highest `minNonce`. Demands that `made.evidence` meets are carried over. Any other demand is
 * a {@link DemandError} unless `drop` names it. Verify the evidence, with its bundles of provenance, under the result
 * before you write it.
 *
 * Throws {@link MalformedError} (`json` or `policy`) if either policy or the result is malformed, and for a debug
 * deployment if the policy does not allow debug mode; (`provenance`) for a malformed bundle.
 */
export function addToPolicy(
  policy: string | Uint8Array | object,
  made: MadePolicy,
  options: AddOptions = {},
): EditedPolicy {
  const { drop = [], provenance = [], ...parsing } = typedOptions("options", options, ADD_OPTIONS);
  options = parsing;
  made = ownMade(made);
  const text = textOf(policy);
  const before = parsePolicy(text, options);
  refuseRules(made.policy);
  const wanted = parsePolicy(made.policy, options);
  refuseDebug(before, wanted);
  const terms = {
    drop: new Set(drop),
    judged: new Set(made.judged),
    bundles: provenance.map((bundle) => decodeProvenanceBundle(bundle)),
  };
  const { notes, ...kept } = withDemands({ text, before }, made, wanted.deployments, terms);
  made = kept.made;
  const adding = parsePolicy(made.policy, options);
  const taken = new Set(before.deployments.map(({ name }) => name));
  const { missing, alreadyThere } = apartFrom(before.deployments, adding.deployments);
  const deployments = missing.map((index) => namedApart(made.policy.deployments[index]!, taken));
  const anchors = newAnchors(before, adding, made);
  const whole = changed(text, [
    ...anchorChanges(text, anchors),
    ...(deployments.length === 0 ? [] : [appendedDeployments(text, deployments)]),
  ]);
  const after = parsePolicy(whole, options);
  requireSame(before.deployments, after.deployments.slice(0, before.deployments.length));
  return {
    text: whole,
    added: deployments.map(({ name }) => name),
    alreadyThere,
    stillAcceptedBy: [],
    notes: [...notes, ...notesOn(before, after, { anchors, isRelease: made.policy.trustAnchors === undefined })],
  };
}

/** Adds the demands of siblings. Deployments that are already in the policy stay as they are. */
function withDemands(
  { text, before }: { readonly text: string; readonly before: Policy },
  made: MadePolicy,
  adding: readonly DeploymentPins[],
  terms: Terms,
): { readonly made: MadePolicy; readonly notes: readonly string[] } {
  const facts = (made.evidence ?? []).map((one) => factsOf(one));
  const there = (jsonInput(text) as unknown as MadePolicy["policy"]).deployments;
  const { missing } = apartFrom(before.deployments, adding);
  const additions = made.policy.deployments.map((file, index) => {
    const pins = adding[index]!;
    const own = facts.filter((one) => PIN_NAMES.every((name) => isMet(name, pins, one)));
    return { file, pins, facts: own, isThere: !missing.includes(index) };
  });
  const { files, notes } = keepDemands(
    additions,
    before.deployments.map((pins, index) => ({ pins, file: there[index]! })),
    terms,
  );
  return { made: { ...made, policy: { ...made.policy, deployments: files } }, notes };
}

function isMet(name: PinName, pins: DeploymentPins, facts: DocumentFacts): boolean {
  return comparePin(name, pins, facts)?.met !== false;
}

/**
 * Ends a roll-out: removes the deployment with this name (or place, if it has no name). Other text and the trust
 * anchors stay as they are. `stillAcceptedBy` lists the deployments that still accept its evidence. Throws {@link
 * MalformedError} (`json` or `policy`) for a malformed policy, an unknown name, and the last deployment.
 */
export function dropDeployment(
  policy: string | Uint8Array | object,
  name: string,
  options: ParsePolicyOptions = {},
): EditedPolicy {
  options = ownParseOptions(options);
  const text = textOf(policy);
  const before = parsePolicy(text, options);
  const names = before.deployments.map((deployment) => deployment.name);
  const index = names.indexOf(name);
  if (index < 0) throw notThere(name, names);
  if (names.length === 1) throw refused("deployments", `${shown(name)} is the last one: ${LAST}`);
  const whole = changed(text, [removed(entriesAt(text, memberOf(text, "deployments")!.value), index)]);
  const after = parsePolicy(whole, options);
  const rest = before.deployments.filter((_, at) => at !== index);
  requireSame(rest, after.deployments);
  return {
    text: whole,
    added: [],
    alreadyThere: [],
    stillAcceptedBy: stillAccepting(before.deployments[index]!, after.deployments),
    notes: [...movedNames(rest, after.deployments), ...anchorsStay(after)],
  };
}

/** Returns the indexes of the new deployments that accept something new, and the names of the others. */
function apartFrom(
  before: readonly DeploymentPins[],
  adding: readonly DeploymentPins[],
): { readonly missing: readonly number[]; readonly alreadyThere: readonly AlreadyThere[] } {
  const known = [...before];
  const missing: number[] = [];
  const alreadyThere: AlreadyThere[] = [];
  for (const [index, one] of adding.entries()) {
    const same = known.find((other) => acceptSame(one, other));
    if (same !== undefined) alreadyThere.push({ name: one.name, as: same.name });
    else {
      known.push(one);
      missing.push(index);
    }
  }
  return { missing, alreadyThere };
}

/** Returns the deployments that still accept evidence of the dropped one. Those that accept all of it come first. */
function stillAccepting(dropped: DeploymentPins, rest: readonly DeploymentPins[]): StillAccepting[] {
  const accepting = rest.flatMap((other) => {
    const too = acceptedToo(dropped, other);
    return too === null ? [] : [{ name: other.name, ...too, message: acceptingText(dropped.name, other.name, too) }];
  });
  return [...accepting].sort((one, other) => Number(one.extent === "part") - Number(other.extent === "part"));
}

function acceptingText(dropped: string, other: string, { extent, narrower }: AcceptedToo): string {
  if (extent === "all")
    return `${shown(other)} still accepts all that ${shown(dropped)} accepted: the same evidence still passes`;
  const part = `what meets its ${narrower.join(", ")} too`;
  return `${shown(other)} still accepts a part of what ${shown(dropped)} accepted: ${part}`;
}

const verifiedShape = simple("a VerifiedBootProof", (one): one is VerifiedBootProof =>
  VerifiedBootProof.isVerified(one),
);

const MADE = /* @__PURE__ */ objectOf<MadePolicy>(
  {
    policy: unchecked,
    notes: list(text),
    evidence: optional(list(verifiedShape)),
    judged: optional(list(plain)),
  },
  { unknown: "ignore" },
);

/** Copies the policy, so that every part of the change uses the same values. */
function ownMade(made: MadePolicy): MadePolicy {
  const { policy, ...own } = requireShape("made", made, MADE);
  return { ...own, policy: jsonInput(policy) as unknown as MadePolicy["policy"] };
}

const LAST = "a policy needs at least one deployment. To replace it, add the new one first, or make a new policy";

function refused(path: string, message: string): MalformedError {
  return new MalformedError("policy", [{ path, message }]);
}

function notThere(name: string, names: readonly string[]): MalformedError {
  const there = listed(names.map(shown), ", ");
  return refused(
    "deployments",
    `none is called ${shown(name)}${nearest(
      name,
      names.map((one) => shownName(one)),
    )}; there ${names.length === 1 ? "is" : "are"} ${there}`,
  );
}

const MAX_SHOWN_NAME = 256;

function shown(name: string): string {
  return JSON.stringify(shownName(name, MAX_SHOWN_NAME));
}

function textOf(policy: string | Uint8Array | object): string {
  if (typeof policy === "string") return policy;
  // The empty text is never used, because the parser refuses bytes that are not UTF-8.
  if (policy instanceof Uint8Array) return fromUtf8(policy) ?? "";
  return `${JSON.stringify(jsonInput(policy), undefined, 2)}\n`;
}

function memberOf(text: string, name: string): JsonEntry | undefined {
  return entriesAt(text, text.indexOf("{")).find((member) => member.name === name);
}

function appendedDeployments(text: string, deployments: readonly DeploymentFile[]): TextEdit {
  return appended(text, entriesAt(text, memberOf(text, "deployments")!.value), deployments);
}

interface NewAnchor {
  readonly entry: unknown;
  readonly anchor: TrustAnchor;
}

/** Returns the anchors whose certificate the policy does not have. A policy made from a release has no anchors. */
function newAnchors(before: Policy, adding: Policy, { policy }: MadePolicy): readonly NewAnchor[] {
  const { trustAnchors: known } = before;
  return adding.trustAnchors.flatMap((anchor, index) => {
    const entry = policy.trustAnchors?.[index];
    return entry === undefined || known.some((one) => isSame(one, anchor)) ? [] : [{ entry, anchor }];
  });
}

function isSame(one: TrustAnchor, other: TrustAnchor): boolean {
  return equalBytes(one.certificate.der, other.certificate.der);
}

/** Adds anchors. If the policy names none, the AWS root is also written, since new anchors would replace it. */
function anchorChanges(text: string, anchors: readonly NewAnchor[]): TextEdit[] {
  const entries = anchors.map(({ entry }) => entry);
  if (entries.length === 0) return [];
  const member = memberOf(text, "trustAnchors");
  if (member !== undefined) return [appended(text, entriesAt(text, member.value), entries)];
  return [insertedBefore(text, memberOf(text, "deployments")!, "trustAnchors", [AWS_NITRO_ROOT_G1_NAME, ...entries])];
}

/** Rules of the whole policy. They are refused, since silently omitting them would loosen the added deployment. */
const RULES = ["maxAge", "appProofs"] as const;

function refuseRules(policy: MadePolicy["policy"]): void {
  const rule = RULES.find((name) => policy[name] !== undefined);
  if (rule !== undefined) throw refused(rule, "a rule of the whole policy, and adding only deployments would drop it");
}

function refuseDebug(before: Policy, adding: Policy): void {
  if (!adding.allowDebug || before.allowDebug) return;
  throw refused(
    "allowDebug",
    "a debug deployment, and the policy does not allow debug mode. If it did, nothing would be " +
      "proven about the code of its other deployments either. Pin the debug deployment in a policy of " +
      "its own",
  );
}

interface Added {
  readonly anchors: readonly NewAnchor[];
  readonly isRelease: boolean;
}

function notesOn(before: Policy, after: Policy, { anchors, isRelease }: Added): string[] {
  const added = after.deployments.slice(before.deployments.length);
  const accepted = added.flatMap((one) => {
    const wider = before.deployments.find((other) => isBootProofCovered(acceptedToo(one, other)));
    return wider === undefined
      ? []
      : [
          `${shown(wider.name)} is before ${shown(one.name)} in the file and accepts the same boot proofs. ` +
            "So it matches first, and its types of app proof apply",
        ];
  });
  const trusted = anchors.map(
    ({ anchor }) =>
      `${anchor.name} is now a trust anchor of every deployment of the policy: anyone who holds its key can make ` +
      "evidence that passes for each of them",
  );
  const underived = derivationFault(before) === null ? derivationFault(after) : null;
  return [
    ...accepted,
    ...trusted,
    ...(underived === null ? [] : [underived]),
    ...(isRelease && !after.trustAnchors.some(isAwsNitroRoot)
      ? [
          "a release or a build names no trust anchor, and the policy does not have " +
            `${AWS_NITRO_ROOT_G1_NAME}: add it for AWS hardware`,
        ]
      : []),
    ...(before.allowDebug ? ["the policy allows debug mode, for the new deployment too"] : []),
  ];
}

/** Whether the other deployment accepts every boot proof of this one. The accepted app proofs may differ. */
function isBootProofCovered(too: AcceptedToo | null): boolean {
  return too !== null && too.narrower.every((one) => one === "appProofs");
}

/** Returns notes on deployments without a name whose place changed, because reports call them by their place. */
function movedNames(before: readonly DeploymentPins[], after: readonly DeploymentPins[]): string[] {
  const moved = before.flatMap(({ name }, index) => {
    const now = after[index]!.name;
    return now === name ? [] : [`${name} is ${now} from now on`];
  });
  return moved.length === 0 ? [] : [`deployments without a name are called by their place: ${listed(moved, ", ")}`];
}

function anchorsStay({ trustAnchors }: Policy): string[] {
  if (trustAnchors.length < 2) return [];
  const names = listed(
    trustAnchors.map(({ name }) => name),
    ", ",
  );
  return [
    `trust anchors are for the whole policy, and stay: ${names}. If only the dropped deployment needed one of them, ` +
      "remove it by hand",
  ];
}

/** Throws if another deployment changed, which could be a false accept. */
function requireSame(before: readonly DeploymentPins[], after: readonly DeploymentPins[]): void {
  const text = (deployments: readonly DeploymentPins[]): string =>
    JSON.stringify(deployments.map((deployment) => ({ ...deployment, name: "" })));
  if (text(before) !== text(after)) throw new Error("bug: another deployment was changed");
}
