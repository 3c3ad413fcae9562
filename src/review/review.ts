/** Reviews a manifest before anyone approves it (review/README.md). */
import { withoutPrototype } from "../decode/input.js";
import { fileBytes, requireShape, typedOptions } from "../decode/options.js";
import { type MembersOf, demand, list, optional, text } from "../decode/shapes.js";
import { equalBytes, toHex } from "../bytes.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import { type DeploymentAnswer, deploymentShape } from "../decode/deployment.js";
import { decodeApproval } from "../decode/manifest/approval.js";
import type { Approval, Manifest } from "../decode/manifest/index.js";
import { MalformedError, attempt, faultsIn, listed } from "../errors.js";
import { NOT_THERE } from "../diff/changes.js";
import type { Change } from "../diff/diff.js";
import { MEASURED, type Measured } from "../appraise/measured.js";
import { type Policy, policyShape } from "../appraise/parsed-policy.js";
import { type DocumentFacts, manifestFacts } from "../appraise/facts.js";
import { isZeroPcr } from "../appraise/pins.js";
import { publicKeyNotes } from "../appraise/public-keys.js";
import { deepFrozen } from "../report/report.js";
import { type ApprovalStatus, checkApprovals, unusableSet } from "../verify/approvals.js";
import { SignatureCache } from "../verify/signature-cache.js";
import { type Candidate, type ReviewedDeployment, candidatesOf } from "./deployments.js";
import { Findings, type ReviewFault, type ReviewFaultCode } from "./faults.js";
import { type GivenManifest, changesBetween, readGivenManifest, unsignedChanges } from "./manifest.js";
import { approvalsIn, compareAnswer } from "./service.js";
import { type HeldBy, type ManifestMember, manifestMembers, unknownName } from "./members.js";

export interface ReviewOptions {
  readonly policy: Policy;
  /** The manifest, or its envelope, that the reviewed manifest replaces. Its approvals are not verified. */
  readonly previous?: Uint8Array;
  /** Measurements of the image and the binary, from `bootproof/image`. They may include PCR3 of a role. */
  readonly measured?: Measured;
  /** Approvals in files of their own, in JSON or Borsh. Those in an envelope are also checked. */
  readonly approvals?: readonly Uint8Array[];
  /**
   * What the service says of the manifest's deployment: `tvcDeployment` of `get_tvc_deployment`. Its approvals are
   * verified. A member that contradicts the manifest is a fault, and none makes anything pass.
   */
  readonly deployment?: DeploymentAnswer;
  /** Names of `members` that no pin fixes, and whose old and new values the caller has read. */
  readonly accept?: readonly string[];
}

/**
 * A member of the manifest, or of the previous one, that no pin of the deployment fixes. With status `open`, the review
 * fails.
 */
export interface UnpinnedMember {
  /**
   * The name that `accept` takes, such as `bridgeConfig`, or `workloads.signer.mounts` if another workload has the same
   * member.
   */
  readonly name: string;
  /** The place of the member, such as `pivot.bridgeConfig`. */
  readonly place: string;
  /**
   * The previous value as JSON, with bytes in hex. Null means that it is absent, or that there is no previous manifest.
   */
  readonly before: string | null;
  /** Null means absent. */
  readonly after: string | null;
  readonly status: "open" | "unchanged" | "accepted";
}

interface ReviewedApproval {
  readonly set: "manifest" | "share";
  readonly alias: string;
  readonly pubKey: string;
  readonly status: ApprovalStatus;
}

/** The result of a review. It is frozen. */
export interface ManifestReview {
  readonly format: "bootproof-review/1";
  /** Sentences on what no review can know. The first says that no hardware booted the manifest. */
  readonly unknowable: readonly string[];
  /** Whether everything that was given was compared, without a fault. */
  readonly ok: boolean;
  /** The 32 bytes that an approval signs, in hex. */
  readonly manifestHash: string;
  readonly manifestVersion: string;
  readonly namespace: string;
  readonly nonce: number;
  /** The only deployment whose pins are all met. Null if none or several are. */
  readonly deployment: string | null;
  /** Every deployment of kind `qos`, in the policy's order. */
  readonly deployments: readonly ReviewedDeployment[];
  /** Names of the measurements that were compared, such as `pcr0` and `pivotHash`. */
  readonly measured: readonly string[];
  readonly members: readonly UnpinnedMember[];
  /** The changes since `previous`, worst first, as `diffUnverified` describes them. Null without `previous`. */
  readonly changes: readonly Change[] | null;
  /** The people who may approve, which are the manifest's own set. */
  readonly approvers: {
    readonly threshold: number;
    readonly members: readonly { readonly alias: string; readonly pubKey: string; readonly approved: boolean }[];
  };
  readonly approvals: readonly ReviewedApproval[];
  readonly faults: readonly ReviewFault[];
  /** Sentences on what a person should know although it is not a fault. */
  readonly notes: readonly string[];
}

const OPTIONS: MembersOf<ReviewOptions> = {
  policy: policyShape,
  previous: optional(fileBytes),
  measured: demand(MEASURED),
  approvals: optional(list(fileBytes)),
  deployment: optional(deploymentShape),
  accept: optional(list(text)),
};

/**
 * Compares a manifest or an envelope, JSON or Borsh of any version, with the pins of a policy, with measurements of a
 * build, and with the previous manifest, before anyone approves it. Differences are in `faults`, and `ok` is true if
 * there are none. A member of this manifest or the previous one that no pin fixes is a fault, unless it is unchanged or
 * accepted. Throws {@link MalformedError} for a manifest or approval that cannot be read, and for a policy without a
 * deployment that pins manifests. Throws TypeError for other options, and for names that `accept` does not know.
 *
 * @example
 * const review = await reviewManifest(bytes, { policy: parsePolicy(text), accept: ["bridgeConfig"] });
 * for (const { message, advice } of review.faults) console.error(message, advice);
 * if (review.ok) console.log("approve", review.manifestHash);
 */
export async function reviewManifest(manifest: Uint8Array, given: ReviewOptions): Promise<ManifestReview> {
  const own = typedOptions("options", given, OPTIONS);
  const copy = requireShape("manifest", manifest, fileBytes);
  const { policy, accept = [] } = own;
  const built = builtOf(own.measured);
  for (const name of accept) {
    const fault = unknownName(name);
    if (fault !== null) throw new TypeError(`accept: ${JSON.stringify(name)} is ${fault}`);
  }
  const beside = (own.approvals ?? []).map((file, index) => {
    const { value, faults } = attempt(() => decodeApproval(file));
    if (value === undefined) throw new MalformedError("approval", faultsIn(`approvals[${index}]`, faults, ": "));
    return value;
  });
  const read = await readGivenManifest("", copy);
  const previous = own.previous === undefined ? null : await readGivenManifest("previous", own.previous);
  const { deployment } = own;
  const held = deployment === undefined ? [] : approvalsIn(deployment, read.manifest);
  const approvals = [...beside, ...held];
  return reviewed({ given: read, policy, previous, built, accept: new Set(accept), approvals, deployment });
}

/** The measurements in hex. */
interface Built {
  readonly pcrs: ReadonlyMap<number, string>;
  readonly pivotHash: string | null;
}

function builtOf(given: Measured | undefined): Built {
  const { pcrs = {}, pivotHash } = withoutPrototype(given ?? {});
  const values = Object.entries(pcrs).map(([index, value]) => [Number(index), toHex(value)] as const);
  if (given !== undefined && values.length === 0 && pivotHash === undefined)
    throw new TypeError("measured: expected pcrs or pivotHash");
  return { pcrs: new Map(values), pivotHash: pivotHash === undefined ? null : toHex(pivotHash) };
}

interface Input {
  readonly given: GivenManifest;
  readonly policy: Policy;
  readonly previous: GivenManifest | null;
  readonly built: Built;
  readonly accept: ReadonlySet<string>;
  /** The approvals that are not in an envelope. */
  readonly approvals: readonly Approval[];
  readonly deployment: DeploymentAnswer | undefined;
}

/** The PCR of the certificate that signed an image. An image has it, but a manifest does not. */
const SIGNER = 8;

async function reviewed(input: Input): Promise<ManifestReview> {
  const { given, policy, previous, built } = input;
  const { manifest, hash } = given;
  const { pcrs, ...others } = manifestFacts(manifest, hash, "live");
  const signer = built.pcrs.get(SIGNER);
  const facts: DocumentFacts = { ...others, pcrs: signer === undefined ? pcrs : new Map([...pcrs, [SIGNER, signer]]) };
  const candidates = candidatesOf(policy, facts);
  if (candidates.length === 0)
    throw new MalformedError("policy", [
      { path: "deployments", message: "no deployment of kind qos: nothing in this policy pins a manifest" },
    ]);
  const found = new Findings();
  const chosen = chooseDeployment(candidates, found);
  const measured = compareBuilt(input, candidates, pcrs, found);
  checkValues(manifest, pcrs, policy, found);
  if (input.deployment !== undefined) compareAnswer(input.deployment, manifest, found);
  const cache = new SignatureCache();
  // The manifest is reviewed before it is approved, so only a threshold that no approvals can reach is a fault.
  for (const name of ["manifestSet", "shareSet"] as const)
    for (const message of await unusableSet(manifest[name], hash, cache))
      found.fault("set", name, `${name}: ${message}`);
  const changes = previous === null ? null : comparePrevious(previous, given, found);
  const members = unpinnedMembers(input, chosen, changes, found);
  const approvals = [
    ...(await reviewApprovals("manifest", [...given.manifestSetApprovals, ...input.approvals], given, {
      cache,
      found,
    })),
    ...(await reviewApprovals("share", given.shareSetApprovals, given, { cache, found })),
  ];
  const { quorumKey, manifestSet, shareSet } = facts.bootProof!;
  found.notes.push(...publicKeyNotes({ quorumKey: [quorumKey], manifestSet, shareSet }));
  const approved = new Set(
    approvals.filter(({ set, status }) => set === "manifest" && status === "valid").map(({ pubKey }) => pubKey),
  );
  const approvers = manifest.manifestSet.members.map(({ alias, pubKey }) => ({ alias, pubKey: toHex(pubKey) }));
  return deepFrozen({
    format: "bootproof-review/1",
    unknowable: unknowable(previous !== null),
    ok: found.faults.length === 0,
    manifestHash: toHex(hash),
    manifestVersion: manifest.version,
    namespace: manifest.namespace.name,
    nonce: manifest.namespace.nonce,
    deployment: chosen.length === 1 && chosen[0]!.reviewed.holds ? chosen[0]!.reviewed.name : null,
    deployments: candidates.map((one) => one.reviewed),
    measured: measured,
    members: members,
    changes,
    approvers: {
      threshold: manifest.manifestSet.threshold,
      members: approvers.map((one) => ({ ...one, approved: approved.has(one.pubKey) })),
    },
    approvals: approvals,
    faults: found.faults,
    notes: found.notes,
  });
}

/**
 * Returns the only deployment whose pins are all met. Otherwise returns those that match or, if none matches, all
 * deployments.
 */
function chooseDeployment(candidates: readonly Candidate[], found: Findings): readonly Candidate[] {
  const holding = candidates.filter(({ reviewed: { holds } }) => holds);
  if (holding.length === 1) return holding;
  const named = holding.length === 0 ? candidates : holding;
  const names = listed(named.map(({ reviewed: { name } }) => JSON.stringify(name)));
  if (holding.length > 1)
    found.fault("several-deployments", "", `${holding.length} deployments match; no pin tells them apart: ${names}`);
  else if (candidates.length > 1)
    found.fault("no-deployment", "", `each deployment of the policy has a pin that does not hold: ${names}`);
  for (const { name: deployment, pins } of named.map((one) => one.reviewed))
    for (const { pin, detail, expected, actual } of pins.filter(({ holds }) => !holds))
      found.fault("pin", pin, `${JSON.stringify(deployment)} pins ${pin}: ${detail}`, { deployment, expected, actual });
  return named;
}

/** Compares the measurements. Returns the names of those that were compared. */
function compareBuilt(
  { given: { manifest }, built }: Input,
  candidates: readonly Candidate[],
  pcrs: ReadonlyMap<number, string>,
  found: Findings,
): string[] {
  const compared: string[] = [];
  for (const [index, expected] of built.pcrs) {
    const name = `pcr${index}`;
    const isPinned = candidates.every(({ pins }) =>
      pins.pcrs?.some((image) => image.some((pin) => pin.index === index)),
    );
    if (pcrs.has(index)) {
      const message = `PCR${index} of the manifest differs from the image's`;
      found.compare("image", `enclave.${name}`, message, [expected, pcrs.get(index)!]);
    } else if (index !== SIGNER) {
      found.fault("image-not-compared", name, `PCR${index} is measured, but no manifest has it`, { expected });
    } else if (!isPinned) {
      found.notes.push("PCR8 (the certificate that signed the image) is not pinned, and no manifest has it");
    }
    if (pcrs.has(index) || (index === SIGNER && isPinned)) compared.push(name);
  }
  if (built.pivotHash === null) return compared;
  if (manifest.pivot === undefined) {
    found.fault("binary-not-compared", "workloads", "the manifest has workloads instead of one binary");
    return compared;
  }
  const message = "the manifest names another program than the binary that was given";
  found.compare("binary", "pivot.hash", message, [built.pivotHash, toHex(manifest.pivot.hash)]);
  return [...compared, "pivotHash"];
}

/** Checks the values that no policy can allow, and the root, which has to be one of the policy's. */
function checkValues(
  { pivot, enclave: { awsRootCertificate: root } }: Manifest,
  pcrs: ReadonlyMap<number, string>,
  { trustAnchors }: Policy,
  found: Findings,
): void {
  if (pivot?.debugMode === true) found.fault("debug-mode", "pivot.debugMode", "the manifest requests debug mode");
  for (const [index, actual] of pcrs) {
    const about = `enclave.pcr${index}`;
    if (isZeroPcr(actual)) found.fault("zero-pcr", about, `PCR${index} is zeros`, { actual });
    else if (actual.length !== 2 * PCR_LENGTH)
      found.fault("pcr-length", about, `PCR${index} has ${actual.length / 2} bytes, expected ${PCR_LENGTH}`);
  }
  if (trustAnchors.some(({ certificate }) => equalBytes(certificate.der, root))) return;
  found.fault("aws-root", "enclave.awsRootCertificate", "the root in the manifest is not an anchor of the policy", {
    expected: listed(trustAnchors.map(({ name }) => name)),
    actual: toHex(root),
  });
}

function comparePrevious(previous: GivenManifest, given: GivenManifest, found: Findings): readonly Change[] {
  const [one, other] = [previous.manifest.namespace, given.manifest.namespace];
  const keys = [toHex(one.quorumKey), toHex(other.quorumKey)] as const;
  const anotherNamespace = "the previous manifest is of another namespace";
  found.compare("previous-namespace", "namespace.name", anotherNamespace, [one.name, other.name]);
  found.compare("previous-quorum-key", "namespace.quorumKey", "the previous manifest has another quorum key", keys);
  if (other.nonce <= one.nonce)
    found.fault("previous-nonce", "namespace.nonce", "the nonce is not above that of the previous manifest", {
      expected: `above ${one.nonce}`,
      actual: String(other.nonce),
    });
  const changes = changesBetween(previous, given);
  const unsigned = unsignedChanges(previous, given, changes).map(
    (change) => `${change.place} (${change.before ?? NOT_THERE} before, ${change.after ?? NOT_THERE} now)`,
  );
  if (unsigned.length > 0)
    found.notes.push(`differences of the files that no approval signs: ${listed(unsigned, "; ")}`);
  return changes;
}

/** Returns the members that a candidate does not fix. If one deployment matches, it is the only candidate. */
function unpinnedMembers(
  { given, previous, accept, built }: Input,
  candidates: readonly Candidate[],
  changes: readonly Change[] | null,
  found: Findings,
): UnpinnedMember[] {
  const since = previous && changes && { previous: previous.manifest, changes };
  const beside = { measured: built.pcrs, hasBinary: built.pivotHash !== null, hasPrevious: previous !== null };
  const unpinned = manifestMembers(given.manifest, since).filter(({ isHeld }) =>
    candidates.some(({ pins }) => pins.manifestHash === undefined && !isHeld({ pins, ...beside } satisfies HeldBy)),
  );
  const byName = acceptedBy(unpinned.filter(({ isChanged }) => isChanged));
  const accepted = new Set([...accept].map((name) => byName.get(name)));
  const members = unpinned.map((member): UnpinnedMember => {
    const { place, before, after, isChanged } = member;
    const status = accepted.has(member) ? "accepted" : "open";
    const name = byName.get(member.name) === member ? member.name : member.ownName;
    return { name, place, before, after, status: isChanged ? status : "unchanged" };
  });
  for (const { place, before: expected, after: actual } of members.filter(({ status }) => status === "open"))
    found.fault("open-member", place, `no pin holds ${place}${previous === null ? "" : ", which changed"}`, {
      expected,
      actual,
    });
  const names = members.filter(({ status }) => status !== "unchanged").map(({ name }) => name);
  const could = names.length === 0 ? "nothing can be accepted" : `what can be accepted: ${listed(names, ", ")}`;
  const why = "it is pinned, unchanged, absent, or in several workloads";
  for (const name of accept)
    if (!byName.has(name)) found.fault("unused-accept", name, `accept has no effect for ${name}: ${why}; ${could}`);
  return members;
}

/** Returns members by their own name and, if no other member shares the common name, also by the common name. */
function acceptedBy(changed: readonly ManifestMember[]): ReadonlyMap<string, ManifestMember> {
  const alone = changed.filter(({ name }) => changed.filter((other) => other.name === name).length === 1);
  return new Map([
    ...alone.map((member) => [member.name, member] as const),
    ...changed.map((member) => [member.ownName, member] as const),
  ]);
}

const APPROVAL_CODES: Readonly<Record<ApprovalStatus, ReviewFaultCode | null>> = {
  valid: null,
  stranger: "approval-stranger",
  invalid: "approval-invalid",
  repeated: "approval-repeated",
};

async function reviewApprovals(
  set: ReviewedApproval["set"],
  given: readonly Approval[],
  { manifest, hash }: GivenManifest,
  { cache, found }: { readonly cache: SignatureCache; readonly found: Findings },
): Promise<ReviewedApproval[]> {
  const { approvals } = await checkApprovals(given, manifest[`${set}Set`], hash, cache);
  return approvals.map(({ member: { alias, pubKey }, status, message }) => {
    const code = APPROVAL_CODES[status];
    // QOS records an approval for every posted share, so a repeated one is no fault (verify/README.md, "Approvals").
    if (set === "share" && status === "repeated") found.notes.push(`share set: ${message}: it counts once`);
    else if (code !== null) found.fault(code, alias, `${set} set: ${message}`);
    return { set, alias, pubKey: toHex(pubKey), status };
  });
}

function unknowable(hasPrevious: boolean): string[] {
  return [
    "Nothing here shows that any hardware booted this manifest: only a verified boot proof does.",
    ...(hasPrevious
      ? ["The previous manifest is taken as it was given: whether it was approved, or ran, was not checked."]
      : []),
  ];
}
