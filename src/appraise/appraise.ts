/** Appraisal (RFC 9334 section 8): verified evidence held against what the policy pins. Every difference is told. */
import { equalBytes, toHex } from "../bytes.js";
import type { Checklist} from "../checks.js";
import { type CheckId, type Comparison } from "../checks.js";
import type { VerifiedAppProof } from "../verify/app-proof.js";
import type { VerifiedAttestation } from "../verify/attestation.js";
import type { VerifiedBootProof } from "../verify/boot-proof.js";
import type { MemberSet } from "../decode/manifest/index.js";
import { SKEW_MS } from "../verify/context.js";
import type { DeploymentPins, PcrPin, Policy, SetPin } from "./policy.js";

/** The pins of a deployment, in report order. */
const PIN_CHECKS = [
  "policy.pcrs", "policy.pivot", "policy.namespace", "policy.nonce", "policy.quorum-key", "policy.manifest-set", "policy.share-set",
  "policy.commitment", "policy.labels",
] as const satisfies readonly CheckId[];
type PinCheck = (typeof PIN_CHECKS)[number];

export const DEPLOYMENT_CHECKS = ["policy.deployment", ...PIN_CHECKS, "policy.age"] as const satisfies readonly CheckId[];

/** What one pin says of the evidence; null where the deployment does not pin it. */
type PinAnswer = { readonly status: "pass" | "fail" | "warn"; readonly detail: string; readonly compared?: Comparison } | null;

/** What a deployment is compared with: a boot proof, or a bare document, which has no manifest. */
interface Evidence {
  readonly attestation: VerifiedAttestation;
  readonly bootProof: VerifiedBootProof | null;
}

/** Holds the evidence against every deployment. Answers the name of the one that matched, or null. */
export function appraiseDeployment(evidence: VerifiedBootProof | VerifiedAttestation, policy: Policy, now: Date, log: Checklist): string | null {
  const subject: Evidence = "attestation" in evidence
    ? { attestation: evidence.attestation, bootProof: evidence }
    : { attestation: evidence, bootProof: null };
  const compared = policy.deployments.map((pins) => ({ pins, answers: comparePins(pins, subject) }));
  const failures = (answers: Record<PinCheck, PinAnswer>): PinCheck[] => PIN_CHECKS.filter((id) => answers[id]?.status === "fail");
  const { pins, answers } = leastBy(compared, (one) => failures(one.answers).length);
  const differing = failures(answers);
  if (differing.length === 0) log.pass("policy.deployment", `is ${pins.name}`);
  else log.fail("policy.deployment", `no pinned deployment matches; the nearest, ${pins.name}, differs in ${differing.join(", ")}`);
  for (const id of PIN_CHECKS) report(id, answers[id], pins, log);
  appraiseAge(subject.attestation.document.timestamp, policy, now, log);
  return differing.length === 0 ? pins.name : null;
}

function report(id: PinCheck, answer: PinAnswer, pins: DeploymentPins, log: Checklist): void {
  if (answer === null) log.skip(id, `${pins.name} does not pin it`);
  else if (answer.status === "pass") log.pass(id, answer.detail);
  else if (answer.status === "warn") log.warn(id, answer.detail);
  else log.fail(id, answer.detail, answer.compared);
}

function comparePins(pins: DeploymentPins, { attestation, bootProof }: Evidence): Record<PinCheck, PinAnswer> {
  const manifest = bootProof?.manifest;
  return {
    "policy.pcrs": pins.pcrs ? comparePcrs(pins.pcrs, attestation.document.pcrs) : null,
    "policy.pivot": oneOf(pins.pivotHash, manifest?.pivot?.hash, equalBytes, toHex),
    "policy.namespace": oneOf(pins.namespace, manifest?.namespace.name, Object.is, (name) => JSON.stringify(name)),
    "policy.nonce": compareNonce(pins.minNonce, manifest?.namespace.nonce),
    "policy.quorum-key": oneOf(pins.quorumKey, manifest?.namespace.quorumKey, equalBytes, toHex),
    "policy.manifest-set": compareSet(pins.manifestSet, manifest?.manifestSet),
    "policy.share-set": compareSet(pins.shareSet, manifest?.shareSet),
    "policy.commitment": bootProof || pins.commitment ? compareCommitment(pins.commitment, bootProof) : null,
    "policy.labels": compareLabels(pins.labels, bootProof),
  };
}

const NO_MANIFEST: PinAnswer = { status: "fail", detail: "pinned, and a bare document has no manifest to compare" };

function pass(detail: string): PinAnswer {
  return { status: "pass", detail };
}

function differs(expected: string, actual: string, detail = "is another than pinned"): PinAnswer {
  return { status: "fail", detail, compared: { expected, actual } };
}

/** Holds the PCRs against each accepted image, and tells of the nearest where none is met. */
function comparePcrs(images: readonly (readonly PcrPin[])[], pcrs: ReadonlyMap<number, Uint8Array>): PinAnswer {
  const isMet = ({ index, accepted }: PcrPin): boolean => {
    const attested = pcrs.get(index);
    return attested !== undefined && accepted.some((value) => equalBytes(value, attested));
  };
  const differences = images.map((pins) => pins.filter((pin) => !isMet(pin)));
  const differing = leastBy(differences, (pins) => pins.length);
  if (differing.length === 0) return pass("as pinned");
  const expected = differing.map(({ index, accepted }) => `PCR${index} ${accepted.map(toHex).join(" or ")}`).join("\n");
  const actual = differing.map(({ index }) => `PCR${index} ${toHex(pcrs.get(index) ?? new Uint8Array()) || "absent"}`).join("\n");
  return differs(expected, actual, `other than pinned: ${differing.map(({ index }) => `PCR${index}`).join(", ")}`);
}

/** The first of the items with the smallest size. */
function leastBy<T>(items: readonly T[], size: (item: T) => number): T {
  return items.reduce((least, item) => (size(item) < size(least) ? item : least));
}

function oneOf<T>(
  accepted: readonly T[] | undefined, actual: T | undefined, equal: (a: T, b: T) => boolean, text: (value: T) => string,
): PinAnswer {
  if (accepted === undefined) return null;
  if (actual === undefined) return NO_MANIFEST;
  if (accepted.some((value) => equal(value, actual))) return pass("as pinned");
  return differs(accepted.map(text).join(" or "), text(actual));
}

function compareNonce(least: number | undefined, actual: number | undefined): PinAnswer {
  if (least === undefined) return null;
  if (actual === undefined) return NO_MANIFEST;
  if (actual >= least) return pass(`nonce ${actual}, at least ${least} wanted`);
  return differs(`${least} or more`, String(actual), "the manifest is older than the policy allows");
}

/** The same members by key, in any order, and a threshold at least as high. Aliases do not count. */
function compareSet(pin: SetPin | undefined, set: MemberSet | undefined): PinAnswer {
  if (pin === undefined) return null;
  if (set === undefined) return NO_MANIFEST;
  const keys = (members: readonly Uint8Array[]): string[] => [...new Set(members.map(toHex))].sort();
  const wanted = keys(pin.members);
  const found = keys(set.members.map((member) => member.pubKey));
  const sameMembers = wanted.join() === found.join() && set.members.length === found.length;
  if (sameMembers && set.threshold >= pin.threshold) return pass(`${set.threshold} of ${found.length} members, as pinned`);
  const text = (threshold: number, members: readonly string[]): string => `threshold ${threshold}\n${members.join("\n")}`;
  const reason = sameMembers ? "the threshold is lower than pinned" : "the members are others than pinned";
  return differs(text(pin.threshold, wanted), text(set.threshold, found), reason);
}

/** Not pinned: a document that carries the commitment's PCRs must match `live`, a legacy one passes with a warning. */
function compareCommitment(pinned: Policy["deployments"][number]["commitment"], bootProof: VerifiedBootProof | null): PinAnswer {
  if (bootProof === null) return NO_MANIFEST;
  const { commitment } = bootProof;
  if (commitment === (pinned ?? "live")) return pass(`${commitment}, as ${pinned ? "pinned" : "wanted where the policy names none"}`);
  if (pinned === undefined && commitment === "legacy") {
    return { status: "warn", detail: 'legacy: pin "commitment": "legacy" if you accept it, "live" once the enclave commits' };
  }
  return differs(pinned ?? "live", commitment);
}

function compareLabels(pins: DeploymentPins["labels"], bootProof: VerifiedBootProof | null): PinAnswer {
  if (pins === undefined) return null;
  if (bootProof === null) return { status: "fail", detail: "pinned, and a bare document has no labels" };
  const labels: Record<string, string | null> = { ...bootProof.unverifiedLabels };
  const differing = Object.entries(pins).filter(([name, value]) => labels[name] !== value);
  if (differing.length === 0) return pass("as pinned: the service's word, which nothing in the evidence vouches for");
  const text = (values: Record<string, string | null | undefined>): string => differing.map(([name]) => `${name} ${JSON.stringify(values[name])}`).join("\n");
  return differs(text(pins), text(labels), "the service's labels are others than pinned");
}

function appraiseAge(timestamp: number, policy: Policy, now: Date, log: Checklist): void {
  if (policy.maxAge === null) return log.skip("policy.age", "the policy sets no maxAge");
  const age = now.getTime() - timestamp;
  const made = new Date(timestamp).toISOString();
  if (age < -SKEW_MS) return log.fail("policy.age", `the boot proof was made at ${made}, in the future of ${now.toISOString()}`);
  if (age <= policy.maxAge) return log.pass("policy.age", `made at ${made}`);
  return log.fail("policy.age", `the boot proof is ${durationText(age)} old`, {
    expected: `at most ${durationText(policy.maxAge)} at ${now.toISOString()}`,
    actual: `made at ${made}`,
  });
}

/** Holds the app proofs against the policy's rules; null stands for one that was rejected. */
export function appraiseAppProofs(appProofs: readonly (VerifiedAppProof | null)[], policy: Policy, now: Date, log: Checklist): void {
  const { types, maxAge, required } = policy.appProofs;
  const verified = appProofs.filter((proof) => proof !== null);
  const given = appProofs.length;
  const faults = verified.flatMap(({ payload }) => {
    const age = now.getTime() - payload.timestampMs;
    return [
      ...(types === null || types.includes(payload.type) ? [] : [`type ${payload.type} is not one of ${types.join(", ")}`]),
      ...(maxAge === null || age <= maxAge ? [] : [`an app proof of type ${payload.type} is ${durationText(age)} old, at most ${durationText(maxAge)} allowed`]),
    ];
  });
  const missing = required && given === 0 ? ["the policy requires an app proof, and none was given"] : [];
  if (faults.length + missing.length > 0) log.fail("policy.app-proof", [...faults, ...missing].join("; "));
  else if (given === 0) log.skip("policy.app-proof", "there are no app proofs, and the policy requires none");
  else if (verified.length < given) log.skip("policy.app-proof", `${given - verified.length} of ${given} app proofs were rejected`);
  else log.pass("policy.app-proof");
}

function durationText(milliseconds: number): string {
  const units = [["d", 86_400_000], ["h", 3_600_000], ["m", 60_000], ["s", 1000]] as const;
  const [unit, size] = units.find(([, length]) => milliseconds >= length) ?? ["s", 1000];
  return `${Math.floor((10 * milliseconds) / size) / 10}${unit}`;
}
