/** Appraisal (RFC 9334 section 8), which compares verified evidence with the policy and reports every difference. */
import { type Cause, Checklist, type DeploymentCause, type PolicyCheckId, subjectLabel } from "../checks.js";
import { DERIVATION_TYPE, KNOWN_PAYLOAD_TYPES } from "../decode/app-proof-limits.js";
import { cut, listed, shownName } from "../errors.js";
import { type VerifiedAppProof, lastDecisions } from "../verify/app-proof.js";
import type { VerifiedAttestation } from "../verify/attestation.js";
import type { VerifiedBootProof } from "../verify/boot-proof.js";
import { AHEAD_MS } from "../verify/context.js";
import type { HeldDemand } from "../verify/provenance-demand.js";
import {
  type Appraisal,
  type AppraisalSetting,
  type AppraisedPiece,
  MANIFEST_PINS,
  type MatchedDeployment,
  ageLimit,
} from "./appraisal.js";
import { ADDED, derivingDeployments } from "./derivation.js";
import { type DocumentFacts, factsOf } from "./facts.js";
import {
  type DeploymentKind,
  type Explanation,
  PINS,
  PIN_CHECKS,
  PIN_NAMES,
  type PinAnswer,
  type PinName,
  commonPcrs,
  comparePin,
  leastBy,
} from "./pins.js";
import type { DeploymentPins, Policy, SignedFacts } from "./parsed-policy.js";
import { type Scope, scopeOf } from "./questions.js";

const DEPLOYMENT_CHECKS: readonly PolicyCheckId[] = ["policy.scope", "policy.deployment", ...PIN_CHECKS, "policy.age"];

/** Appraises verified evidence. Rejected evidence is passed as null. */
export function appraise(
  bootProofs: readonly (VerifiedBootProof | VerifiedAttestation | null)[],
  appProofs: readonly (VerifiedAppProof | null)[],
  policy: Policy,
  setting: AppraisalSetting,
): Appraisal {
  const pieces = bootProofs.map((bootProof, index) => appraisedPiece(bootProof, index, policy, setting));
  const appChecks = new Checklist("policy");
  if (bootProofs.length === 0)
    appChecks.skipRest(DEPLOYMENT_CHECKS, "there is no boot proof to compare with the policy");
  const signers = new Map(bootProofs.map((bootProof, index) => [bootProof, pieces[index]!.pins]));
  const held = appProofs.map((proof, index) => {
    const label = subjectLabel(`app[${index}]`, setting.names.get(`app[${index}]`));
    return proof && { proof, label, signer: signers.get(proof.bootProof) ?? null };
  });
  appraiseCurrent(policy.signed, setting.now, appChecks);
  const refused = appraiseAppProofs(held, policy, { ...setting, bytesSigner: pieces[0]?.pins ?? null }, appChecks);
  return {
    checklists: [...pieces.map(({ checklist }) => checklist), appChecks],
    deployments: pieces.map(({ deployment }) => deployment),
    refused,
    notApplied: rulesNotApplied(policy, setting),
  };
}

/** Returns the demands of the matching deployments. A rejected boot proof is passed as null. */
export function provenanceDemands(
  bootProofs: readonly (VerifiedBootProof | null)[],
  policy: Policy,
  now: Date,
): HeldDemand[] {
  if (policy.deployments.every(({ provenance }) => provenance === undefined)) return [];
  return bootProofs.flatMap((bootProof, position) => {
    const match = bootProof && appraiseDeployment(bootProof, policy, { now, maxAgeMs: null }, new Checklist("policy"));
    if (!match) return [];
    const { pivot, workloads } = factsOf(bootProof).bootProof!;
    return (match.pins.provenance ?? []).map((demand, index): HeldDemand => {
      const digest = demand.workload === null ? pivot?.hash : workloads?.[demand.workload];
      return { about: `boot[${position}]`, deployment: match.pins.name, index, demand, digest: digest ?? null };
    });
  });
}

/** Compares evidence with the policy. The result depends only on the evidence, its index, the policy and the time. */
function appraisedPiece(
  bootProof: VerifiedBootProof | VerifiedAttestation | null,
  index: number,
  policy: Policy,
  { now, maxAgeMs, appraised }: AppraisalSetting,
): AppraisedPiece {
  const checklist = new Checklist("policy", `boot[${index}]`);
  if (bootProof === null) {
    const reason = `boot[${index}] was rejected before it could be compared with the policy`;
    checklist.skipRest(DEPLOYMENT_CHECKS, reason);
    return { checklist, pins: null, deployment: null };
  }
  const appraisePiece = (): AppraisedPiece => {
    const match = appraiseDeployment(bootProof, policy, { now, maxAgeMs }, checklist);
    return { checklist, pins: match && match.pins, deployment: match && matchedDeployment(match) };
  };
  return appraised?.of(bootProof, [index, policy, now.getTime(), maxAgeMs], appraisePiece) ?? appraisePiece();
}

/**
 * The condition under which each rule that demands app proofs is applied. The type requires every such rule, because a
 * forgotten rule could be skipped without being reported. `types` and `maxAge` are not here: they demand no app proof.
 */
const APPLIED: Readonly<Record<DemandingRule, (setting: AppraisalSetting) => boolean>> = {
  required: ({ onlyAsked }) => onlyAsked === null,
  decision: ({ onlyAsked }) => onlyAsked === null,
  coverage: ({ onlyAsked, hasActivity }) => onlyAsked === null && hasActivity,
};
type DemandingRule = Exclude<keyof Policy["appProofs"], "types" | "maxAge" | "untimed">;

function rulesNotApplied({ appProofs }: Policy, setting: AppraisalSetting): string[] {
  return (Object.keys(APPLIED) as DemandingRule[])
    .filter((rule) => appProofs[rule] && !APPLIED[rule](setting))
    .map((rule) => `appProofs.${rule}`);
}

export interface ComparedDeployment {
  readonly pins: DeploymentPins;
  readonly answers: ReadonlyMap<PinName, PinAnswer>;
  readonly scope: Scope;
  /** The checks that fail. */
  readonly differing: readonly PolicyCheckId[];
}

function matchedDeployment({ pins, scope }: ComparedDeployment): MatchedDeployment {
  return Object.freeze({
    name: pins.name,
    open: scope.open,
    scope: Object.freeze([...scope.reasons]),
    pcrs: Object.freeze(commonPcrs(pins)),
    // A manifest set decides the manifest only if it also decides the operator: not if its secret keys are public.
    manifestPin: MANIFEST_PINS.find((name) => scope.answers.operator.includes(name)) ?? null,
  });
}

/** Compares the evidence with every deployment of its kind. Returns the first complete match, or null. */
function appraiseDeployment(
  evidence: VerifiedBootProof | VerifiedAttestation,
  policy: Policy,
  setting: Pick<AppraisalSetting, "now" | "maxAgeMs">,
  checklist: Checklist,
): ComparedDeployment | null {
  const facts = factsOf(evidence);
  const { timestamp } = "attestation" in evidence ? evidence.attestation.document : evidence.document;
  appraiseAge({ timestamp, isSetup: facts.bootProof?.commitment === "setup" }, policy, setting, checklist);
  const compared = compareDeployments(policy, facts);
  if (compared.length === 0) {
    const kind = kindOf(facts);
    const what = kind === "qos" ? "a boot proof" : "a bare document";
    checklist.fail("policy.deployment", `only a deployment of kind ${kind} matches ${what}, and the policy has none`, {
      causes: [{ code: "deployment-kind", kind }],
    });
    checklist.skipRest(DEPLOYMENT_CHECKS, `no deployment is of kind ${kind}`);
    return null;
  }
  const nearest = nearestOf(compared);
  for (const id of PIN_CHECKS) report(id, nearest, checklist);
  reportScope(nearest, checklist);
  reportDeployment(nearest, policy, checklist);
  return nearest.differing.length === 0 ? nearest : null;
}

function reportDeployment({ pins, differing }: ComparedDeployment, { signed }: Policy, checklist: Checklist): boolean {
  if (differing.length === 0) return checklist.pass("policy.deployment", `is ${pins.name}`);
  const words = `no pinned deployment matches; the nearest, ${pins.name}, differs in ${differing.join(", ")}`;
  const { kind } = pins;
  const other = { code: "deployment", kind, is: howItDiffers(differing), isSigned: signed !== null } as const;
  return checklist.fail("policy.deployment", words, { causes: [other] });
}

/** Nonces count within a namespace, so a manifest of another one is not called older. */
function howItDiffers(differing: readonly PolicyCheckId[]): DeploymentCause["is"] {
  if (differing.includes("policy.namespace") || differing.includes("policy.quorum-key")) return "another";
  return differing.includes("policy.nonce") ? "older" : "changed";
}

function kindOf({ bootProof }: DocumentFacts): DeploymentKind {
  return bootProof === null ? "nitro" : "qos";
}

/** Compares evidence, verified or not, with the pins of each deployment of its kind. */
export function compareDeployments({ deployments }: Policy, facts: DocumentFacts): readonly ComparedDeployment[] {
  return deployments.filter(({ kind }) => kind === kindOf(facts)).map((pins) => compareDeployment(pins, facts));
}

/** Returns the deployment that differs in the fewest checks. */
export function nearestOf(compared: readonly ComparedDeployment[]): ComparedDeployment {
  return leastBy(compared, ({ differing }) => differing.length);
}

function compareDeployment(pins: DeploymentPins, facts: DocumentFacts): ComparedDeployment {
  const answers = new Map<PinName, PinAnswer>();
  const unmet = new Set<PolicyCheckId>();
  for (const name of PIN_NAMES) {
    const answer = comparePin(name, pins, facts);
    if (answer !== null) answers.set(name, answer);
    const { check } = PINS[name];
    if (answer?.met === false && check !== null) unmet.add(check);
  }
  const scope = scopeOf(pins, facts);
  if (scope.faults.length > 0) unmet.add("policy.scope");
  const differing = unmet.size === 0 ? [] : DEPLOYMENT_CHECKS.filter((id) => unmet.has(id));
  return { pins, answers, scope, differing };
}

const PINS_OF: ReadonlyMap<PolicyCheckId, readonly PinName[]> = new Map(
  PIN_CHECKS.map((id) => [id, PIN_NAMES.filter((name) => PINS[name].check === id)]),
);

function report(id: PolicyCheckId, { pins, answers }: ComparedDeployment, checklist: Checklist): boolean {
  const own = PINS_OF.get(id)!.flatMap((name) => answers.get(name) ?? []);
  if (own.length === 0) return checklist.skip(id, `${pins.name} does not pin it`);
  const [only] = own;
  if (own.length === 1 && only!.met) {
    const { detail, compared } = only!.explain();
    return checklist.pass(id, detail, compared?.actual);
  }
  const unmet = own.filter((answer) => !answer.met).map((answer) => answer.explain());
  const joined = (side: "expected" | "actual", from: readonly Explanation[]): string | undefined => {
    const values = from.map(({ compared }) => compared?.[side]).filter((value) => value !== undefined);
    return values.length === 0 ? undefined : values.join("\n");
  };
  if (unmet.length === 0) {
    const met = own.map((answer) => answer.explain());
    return checklist.pass(id, met[0]!.detail, joined("actual", met));
  }
  const [expected, actual] = [joined("expected", unmet), joined("actual", unmet)];
  const causes = unmet.flatMap((each) => each.causes ?? []);
  return checklist.fail(id, unmet.map(({ detail }) => detail).join("; "), {
    ...(expected !== undefined && { expected }),
    ...(actual !== undefined && { actual }),
    causes,
  });
}

function reportScope({ pins, scope, differing }: ComparedDeployment, checklist: Checklist): void {
  if (scope.faults.length > 0) checklist.fail("policy.scope", `${pins.name} ${scope.faults.join("; ")}`);
  else if (differing.length > 0) checklist.skip("policy.scope", "no pinned deployment matches");
  else if (scope.reasons.length > 0) checklist.warn("policy.scope", `${pins.name}: ${scope.reasons.join("; ")}`);
  else checklist.pass("policy.scope");
}

const OLD_SETUP =
  "the policy sets no maxAge: this setup document may be an old one, and its enclave may no " +
  "longer wait for its quorum key";

/** Checks age. Without a limit, a setup document causes a warning, because shares could be released for an old one. */
function appraiseAge(
  { timestamp, isSetup }: { readonly timestamp: number; readonly isSetup: boolean },
  policy: Policy,
  { now, maxAgeMs }: Pick<AppraisalSetting, "now" | "maxAgeMs">,
  checklist: Checklist,
): boolean {
  const limit = ageLimit(policy.maxAge, maxAgeMs);
  if (limit === null && isSetup) return checklist.warn("policy.age", OLD_SETUP);
  if (limit === null) return checklist.skip("policy.age", "the policy sets no maxAge");
  const age = now.getTime() - timestamp;
  const made = new Date(timestamp).toISOString();
  const demanded = limit.from === "caller" ? ", as the caller demands," : "";
  const most = `at most ${durationText(limit.milliseconds)}${demanded}`;
  const within = limit.from === "caller" ? `made at ${made}, ${most.slice(0, -1)}` : `made at ${made}`;
  if (age <= limit.milliseconds) return checklist.pass("policy.age", within);
  return checklist.fail("policy.age", `the boot proof is ${durationText(age)} old`, {
    expected: `${most} at ${now.toISOString()}`,
    actual: `made at ${made}`,
    stale: true,
  });
}

/** How much of its validity is left when a signed policy warns: the last tenth, at most 14 days. */
const LAST_PART = 0.1;
const LAST_MS = 14 * 86_400_000;

/** Checks that a signed policy is in force at the caller's time (signed-policy/README.md, "Consumer"). */
export function appraiseCurrent(signed: SignedFacts | null, now: Date, checklist: Checklist): boolean {
  if (signed === null) return checklist.skip("policy.current", "the policy is not signed");
  const [issued, expires] = [Date.parse(signed.issuedAt), Date.parse(signed.expiresAt)];
  const words = `version ${signed.version} of ${signed.name}`;
  const by = listed(signed.signedBy.map((keyid) => keyid.slice(0, 16)));
  const left = expires - now.getTime();
  const actual = now.toISOString();
  if (left <= 0)
    return checklist.fail("policy.current", `${words} expired at ${signed.expiresAt}`, {
      expected: `a time before ${signed.expiresAt}`,
      actual,
      causes: ["policy-expired"],
    });
  if (now.getTime() < issued - AHEAD_MS)
    return checklist.fail("policy.current", `${words} is not in force yet: it was issued at ${signed.issuedAt}`, {
      expected: `a time from ${signed.issuedAt} on`,
      actual,
      causes: ["policy-early"],
    });
  const until = `${words} is in force until ${signed.expiresAt}, signed by ${by}`;
  if (left > Math.min(LAST_PART * (expires - issued), LAST_MS)) return checklist.pass("policy.current", until);
  return checklist.warn("policy.current", `${until}: it expires in ${durationText(left)}, and should be renewed now`);
}

/** An app proof and the deployment of its enclave, which is null if none matched. */
interface SignedAppProof {
  readonly proof: VerifiedAppProof;
  readonly label: string;
  readonly signer: AppraisedPiece["pins"];
}

/**
 * Applies the policy's rules to all app proofs, and a deployment's rules to the app proofs of its enclave. Returns the
 * app proofs that are refused each by itself.
 */
function appraiseAppProofs(
  appProofs: readonly (SignedAppProof | null)[],
  policy: Policy,
  setting: AppraisalSetting & { readonly bytesSigner: AppraisedPiece["pins"] },
  checklist: Checklist,
): ReadonlySet<VerifiedAppProof> {
  const { now, organizationId, signedBytes, bytesSigner } = setting;
  const why = whyNotAppraised(appProofs.length, setting);
  if (why !== null) {
    checklist.skip("policy.app-proof", why);
    return new Set();
  }
  const { types, maxAge, required, decision } = policy.appProofs;
  const signed = appProofs.filter((one) => one !== null);
  const verified = signed.map(({ proof }) => proof);
  const rules = {
    types,
    typesText: cut(listed(types ?? [], ", "), MAX_TYPES),
    maxAge,
    deriving: derivingDeployments(policy),
  };
  const own = signed.map((one) => appProofFaults(one, rules, now));
  const faults = [
    ...own.flat(),
    ...(signedBytes === undefined ? [] : bytesFaults(bytesSigner, maxAge)),
    ...(required ? requiredFaults(appProofs) : []),
    ...(decision && !isAllowed(verified, organizationId) ? [NOT_ALLOWED] : []),
  ];
  const open = faults.length > 0 ? null : whyOpen(appProofs.length, verified.length, signedBytes);
  if (faults.length > 0) failAppProofs(faults, checklist);
  else if (open !== null) checklist.skip("policy.app-proof", open);
  else checklist.pass("policy.app-proof");
  return new Set(verified.filter((_, index) => own[index]!.length > 0));
}

/** Returns why the rules are not applied, or null if they are. */
function whyNotAppraised(given: number, { onlyAsked, unfinished }: AppraisalSetting): string | null {
  if (onlyAsked !== null) return `only ${onlyAsked} requested: the policy's rules about app proofs were not applied`;
  // `activity.request` fails, and says what the activity waits for.
  return given === 0 ? unfinished : null;
}

/** Returns why it is not known whether everything meets the rules, or null if it does. */
function whyOpen(given: number, verified: number, bytes: AppraisalSetting["signedBytes"]): string | null {
  if (bytes === null) return "the signed bytes were rejected";
  if (given === 0 && bytes === undefined) return "there are no app proofs, and the policy requires none";
  return verified < given ? `${given - verified} of ${given} app proofs were rejected` : null;
}

/** Checks that there is an app proof with a time, because an app proof without a time may be old. */
function requiredFaults(appProofs: readonly (SignedAppProof | null)[]): AppProofFault[] {
  if (appProofs.length === 0) return [NONE_GIVEN];
  return appProofs.every(isUntimed) ? [NONE_TIMED] : [];
}

function isUntimed(one: SignedAppProof | null): boolean {
  return one?.proof.payload.timestampMs === null;
}

interface AppProofFault {
  readonly text: string;
  readonly cause: Cause;
  readonly isStale?: true;
}

const NONE_GIVEN: AppProofFault = {
  text: "the policy requires an app proof, and none was given",
  cause: "no-app-proof",
};
const NONE_TIMED: AppProofFault = {
  text: "the policy requires an app proof, and no given app proof has a time",
  cause: "no-timed-app-proof",
};
const NOT_ALLOWED: AppProofFault = {
  text: "the policy demands an app proof that allows the request, and none was verified",
  cause: "no-decision",
};

function failAppProofs(faults: readonly AppProofFault[], checklist: Checklist): boolean {
  return checklist.fail(
    "policy.app-proof",
    listed(
      faults.map(({ text }) => text),
      "; ",
    ),
    {
      causes: faults.map(({ cause }) => cause),
      ...(faults.every(({ isStale }) => isStale === true) && { stale: true }),
    },
  );
}

/** Maximum characters of the list of types, which each app proof's fault repeats. */
const MAX_TYPES = 1000;

interface AppProofRules {
  readonly types: readonly string[] | null;
  readonly typesText: string;
  readonly maxAge: number | null;
  /** Names of the deployments whose proofs of addresses count. */
  readonly deriving: ReadonlySet<string>;
}

function appProofFaults({ label, signer, proof }: SignedAppProof, rules: AppProofRules, now: Date): AppProofFault[] {
  const { type, timestampMs } = proof.payload;
  const shown = shownName(type);
  const own = signer?.appProofTypes ?? null;
  const typeFaults = [
    ...(rules.types === null || rules.types.includes(type) ? [] : [`of ${rules.typesText}`]),
    ...(own === null || own.includes(type) ? [] : [`that ${signer!.name} may sign`]),
  ].map((words): AppProofFault => ({ text: `${label}: type ${shown} is not one ${words}`, cause: "other-type" }));
  if (signer !== null) typeFaults.push(...signerFaults(label, signer, type, rules));
  return [...typeFaults, ...ageFaults(`${label}: of type ${shown}`, timestampMs, rules.maxAge, now)];
}

/** Returns why a proof of a known type does not count from this deployment. */
function signerFaults(
  label: string,
  { name, appProofTypes, appProofBytes }: NonNullable<AppraisedPiece["pins"]>,
  type: string,
  { deriving }: AppProofRules,
): AppProofFault[] {
  if (appProofBytes && KNOWN_PAYLOAD_TYPES.includes(type)) {
    const text = `${label}: ${name} signs any bytes, so its proof of type ${shownName(type)} does not count`;
    return [{ text, cause: "signs-any-bytes" }];
  }
  if (type !== DERIVATION_TYPE || appProofTypes !== null || deriving.has(name)) return [];
  const text = `${label}: the policy does not say that ${name}, which signed this proof, derives addresses`;
  return [{ text, cause: { code: "derivation", deployment: name, add: ADDED } }];
}

/** Returns why signed bytes do not count. `signer` is null if no deployment matched, which fails its own check. */
function bytesFaults(signer: AppraisedPiece["pins"], maxAge: number | null): AppProofFault[] {
  const text = `${signer?.name} may sign app proofs alone, and these bytes are none`;
  return [
    ...(signer === null || signer.appProofBytes ? [] : [{ text, cause: "bytes-not-allowed" as const }]),
    ...ageFaults("the signed bytes", null, maxAge, new Date(0)),
  ];
}

function ageFaults(proof: string, timestampMs: number | null, maxAge: number | null, now: Date): AppProofFault[] {
  if (maxAge === null) return [];
  const most = `at most ${durationText(maxAge)} allowed`;
  if (timestampMs === null)
    return [{ text: `${proof}, has no time, so its age is unknown, ${most}`, cause: "untimed" }];
  const age = now.getTime() - timestampMs;
  if (age <= maxAge) return [];
  return [{ text: `${proof}, is ${durationText(age)} old, ${most}`, cause: "old-app-proof", isStale: true }];
}

/** Whether the organization's last decision exists and allows the request. Null means all organizations with one. */
function isAllowed(verified: readonly VerifiedAppProof[], organizationId: string | null): boolean {
  const decisions = [...lastDecisions(verified)].filter(
    ([decided]) => organizationId === null || decided === organizationId,
  );
  return (
    decisions.length > 0 && decisions.every(([, outcomes]) => outcomes.every((outcome) => outcome === "OUTCOME_ALLOW"))
  );
}

function durationText(milliseconds: number): string {
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
  ] as const;
  const [unit, size] = units.find(([, length]) => milliseconds >= length) ?? ["s", 1000];
  return `${Math.floor((10 * milliseconds) / size) / 10}${unit}`;
}
