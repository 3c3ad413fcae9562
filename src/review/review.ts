/** Reviews a manifest before anyone approves it (review/README.md). */
import { fileBytes, requireShape, typedOptions } from "../decode/options.js";
import { type MembersOf, demand, list, optional, text } from "../decode/shapes.js";
import { equalBytes, toHex } from "../bytes.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import { decodeApproval } from "../decode/manifest/approval.js";
import type { Approval, Manifest, MemberSet, QuorumMember } from "../decode/manifest/index.js";
import { MalformedError, attempt, faultsIn, listed } from "../errors.js";
import { NOT_THERE } from "../diff/changes.js";
import type { Change } from "../diff/diff.js";
import { MEASURED, type Measured } from "../appraise/measured.js";
import { type Policy, policyShape } from "../appraise/parsed-policy.js";
import { type DocumentFacts, manifestFacts } from "../appraise/facts.js";
import { isZeroPcr } from "../appraise/pins.js";
import { isNobodysSet, isPublicSecret } from "../appraise/public-keys.js";
import { type ApprovalStatus, checkApprovals, thresholdFaults } from "../verify/approvals.js";
import { SignatureCache } from "../verify/signature-cache.js";
import { type Candidate, type ReviewedDeployment, candidatesOf } from "./deployments.js";
import { type ReviewFault, type ReviewFaultCode, faultOf } from "./faults.js";
import { type GivenManifest, changesBetween, readGivenManifest, unsignedChanges } from "./manifest.js";
import { type Beside, type ManifestMember, manifestMembers, unknownName } from "./members.js";

export interface ReviewOptions {
  readonly policy: Policy;
  /** The manifest, or its envelope, that the reviewed manifest replaces. Its approvals are not verified. */
  readonly previous?: Uint8Array;
  /** Measurements of the image and the binary, from `bootproof/image`. They may include PCR3 of a role. */
  readonly measured?: Measured;
  /** Approvals in files of their own, in JSON or Borsh. Those in an envelope are also checked. */
  readonly approvals?: readonly Uint8Array[];
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

export interface ReviewedApproval {
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
  const { policy, previous: previousBytes } = own;
  const copy = requireShape("manifest", manifest, fileBytes);
  const built = builtOf(own.measured);
  const accept = acceptedOf(own.accept ?? []);
  const beside = approvalsOf(own.approvals ?? []);
  const read = await readGivenManifest("", copy);
  const previous = previousBytes === undefined ? null : await readGivenManifest("previous", previousBytes);
  return new Review({ given: read, policy, previous, built, accept, beside }).result();
}

/** The measurements in hex. */
interface Built {
  readonly pcrs: ReadonlyMap<number, string>;
  readonly pivotHash: string | null;
}

function builtOf(given: Measured | undefined): Built {
  if (given === undefined) return { pcrs: new Map(), pivotHash: null };
  const { pcrs = {}, pivotHash } = given;
  const values = Object.entries(pcrs).map(([index, value]) => [Number(index), toHex(value)] as const);
  if (values.length === 0 && pivotHash === undefined) throw new TypeError("measured: expected pcrs or pivotHash");
  return { pcrs: new Map(values), pivotHash: pivotHash === undefined ? null : toHex(pivotHash) };
}

function acceptedOf(names: readonly string[]): ReadonlySet<string> {
  for (const name of names) {
    const fault = unknownName(String(name));
    if (fault !== null) throw new TypeError(`accept: ${JSON.stringify(name)} is ${fault}`);
  }
  return new Set(names);
}

function approvalsOf(files: readonly Uint8Array[]): Approval[] {
  return files.map((file, index) => {
    const { value, faults } = attempt(() => decodeApproval(file));
    if (value !== undefined) return value;
    throw new MalformedError("approval", faultsIn(`approvals[${index}]`, faults, ": "));
  });
}

interface Input {
  readonly given: GivenManifest;
  readonly policy: Policy;
  readonly previous: GivenManifest | null;
  readonly built: Built;
  readonly accept: ReadonlySet<string>;
  readonly beside: readonly Approval[];
}

const PCRS = [0, 1, 2, 3] as const;
/** The PCR of the certificate that signed an image. An image has it, but a manifest does not. */
const SIGNER = 8;

class Review {
  readonly #input: Input;
  readonly #manifest: Manifest;
  readonly #facts: DocumentFacts;
  readonly #faults: ReviewFault[] = [];
  readonly #notes: string[] = [];
  readonly #cache = new SignatureCache();

  constructor(input: Input) {
    this.#input = input;
    this.#manifest = input.given.manifest;
    const facts = manifestFacts(this.#manifest, input.given.hash, "live");
    const signer = input.built.pcrs.get(SIGNER);
    this.#facts = signer === undefined ? facts : { ...facts, pcrs: new Map([...facts.pcrs, [SIGNER, signer]]) };
  }

  async result(): Promise<ManifestReview> {
    const { given, policy, previous } = this.#input;
    const { namespace, manifestSet } = this.#manifest;
    const candidates = candidatesOf(policy, this.#facts);
    if (candidates.length === 0)
      throw new MalformedError("policy", [
        { path: "deployments", message: "no deployment of kind qos: nothing in this policy pins a manifest" },
      ]);
    const chosen = this.#chooseDeployment(candidates);
    const measured = this.#compareBuilt(candidates);
    this.#checkMeasurements();
    this.#checkRoot();
    await this.#checkSets();
    const changes = previous === null ? null : this.#comparePrevious(previous);
    const members = this.#unpinnedMembers(chosen, changes);
    const approvals = await this.#checkApprovals();
    this.#noteKeys();
    const approved = approvals.filter(({ set, status }) => set === "manifest" && status === "valid");
    return Object.freeze({
      format: "bootproof-review/1",
      unknowable: Object.freeze(unknowable(previous !== null)),
      ok: this.#faults.length === 0,
      manifestHash: toHex(given.hash),
      manifestVersion: this.#manifest.version,
      namespace: namespace.name,
      nonce: namespace.nonce,
      deployment: chosen.length === 1 && chosen[0]!.reviewed.holds ? chosen[0]!.reviewed.name : null,
      deployments: Object.freeze(candidates.map(({ reviewed }) => reviewed)),
      measured: Object.freeze(measured),
      members: Object.freeze(members),
      changes,
      approvers: Object.freeze({
        threshold: manifestSet.threshold,
        members: Object.freeze(manifestSet.members.map((member) => describeMember(member, approved))),
      }),
      approvals: Object.freeze(approvals),
      faults: Object.freeze(this.#faults),
      notes: Object.freeze(this.#notes),
    });
  }

  #fault(...[code, about, message, facts]: Parameters<typeof faultOf>): void {
    this.#faults.push(faultOf(code, about, message, facts));
  }

  #compare(code: ReviewFaultCode, about: string, message: string, [expected, actual]: readonly [string, string]): void {
    if (expected !== actual) this.#fault(code, about, message, { expected, actual });
  }

  /**
   * Returns the only deployment whose pins are all met. Otherwise returns those that match or, if none matches, all
   * deployments.
   */
  #chooseDeployment(candidates: readonly Candidate[]): readonly Candidate[] {
    const holding = candidates.filter(({ reviewed }) => reviewed.holds);
    if (holding.length === 1) return holding;
    const named = holding.length === 0 ? candidates : holding;
    const names = listed(named.map(({ reviewed }) => JSON.stringify(reviewed.name)));
    if (holding.length > 1) {
      this.#fault("several-deployments", "", `${holding.length} deployments match; no pin tells them apart: ${names}`);
      return holding;
    }
    if (candidates.length > 1)
      this.#fault("no-deployment", "", `each deployment of the policy has a pin that does not hold: ${names}`);
    for (const { reviewed } of candidates) this.#faultPins(reviewed);
    return candidates;
  }

  #faultPins({ name: deployment, pins }: ReviewedDeployment): void {
    for (const { pin, detail, expected, actual } of pins.filter(({ holds }) => !holds)) {
      const message = `${JSON.stringify(deployment)} pins ${pin}: ${detail}`;
      this.#fault("pin", pin, message, { deployment, expected, actual });
    }
  }

  /** Compares the measurements. Returns the names of those that were compared. */
  #compareBuilt(candidates: readonly Candidate[]): string[] {
    const { pcrs, pivotHash } = this.#input.built;
    const compared = [...pcrs].flatMap(([index, value]) => this.#comparePcr(index, value, candidates));
    if (pivotHash === null) return compared;
    const { pivot } = this.#manifest;
    if (pivot === undefined) {
      this.#fault("binary-not-compared", "workloads", "the manifest has workloads instead of one binary");
      return compared;
    }
    const message = "the manifest names another program than the binary that was given";
    this.#compare("binary", "pivot.hash", message, [pivotHash, toHex(pivot.hash)]);
    return [...compared, "pivotHash"];
  }

  #comparePcr(index: number, expected: string, candidates: readonly Candidate[]): string[] {
    const name = `pcr${index}`;
    if (index === SIGNER) {
      const isPinned = candidates.every(({ pins }) => pins.pcrs?.some((image) => image.some((pin) => pin.index === 8)));
      if (isPinned) return [name];
      this.#notes.push("PCR8 (the certificate that signed the image) is not pinned, and no manifest has it");
      return [];
    }
    if (!PCRS.some((one) => one === index)) {
      this.#fault("image-not-compared", name, `PCR${index} is measured, but no manifest has it`, { expected });
      return [];
    }
    const message = `PCR${index} of the manifest differs from the image's`;
    this.#compare("image", `enclave.${name}`, message, [expected, this.#facts.pcrs.get(index)!]);
    return [name];
  }

  #checkMeasurements(): void {
    if (this.#manifest.pivot?.debugMode === true)
      this.#fault("debug-mode", "pivot.debugMode", "the manifest requests debug mode");
    for (const index of PCRS) {
      const value = this.#facts.pcrs.get(index)!;
      const about = `enclave.pcr${index}`;
      if (isZeroPcr(value)) this.#fault("zero-pcr", about, `PCR${index} is zeros`, { actual: value });
      else if (value.length !== 2 * PCR_LENGTH)
        this.#fault("pcr-length", about, `PCR${index} has ${value.length / 2} bytes, expected ${PCR_LENGTH}`);
    }
  }

  #checkRoot(): void {
    const { awsRootCertificate } = this.#manifest.enclave;
    const { trustAnchors } = this.#input.policy;
    if (trustAnchors.some(({ certificate }) => equalBytes(certificate.der, awsRootCertificate))) return;
    this.#fault("aws-root", "enclave.awsRootCertificate", `the root in the manifest is not an anchor of the policy`, {
      expected: listed(trustAnchors.map(({ name }) => name)),
      actual: toHex(awsRootCertificate),
    });
  }

  async #checkSets(): Promise<void> {
    for (const name of ["manifestSet", "shareSet"] as const) {
      const set = this.#manifest[name];
      const { faults } = await checkApprovals([], set, this.#input.given.hash, this.#cache);
      // The manifest is reviewed before it is approved, so only a threshold that no approvals can reach is a fault.
      for (const message of [...faults, ...thresholdFaults(set, set.threshold)])
        this.#fault("set", name, `${name}: ${message}`);
    }
  }

  #comparePrevious(previous: GivenManifest): readonly Change[] {
    const [one, other] = [previous.manifest.namespace, this.#manifest.namespace];
    const keys = [toHex(one.quorumKey), toHex(other.quorumKey)] as const;
    const anotherNamespace = "the previous manifest is of another namespace";
    this.#compare("previous-namespace", "namespace.name", anotherNamespace, [one.name, other.name]);
    this.#compare("previous-quorum-key", "namespace.quorumKey", "the previous manifest has another quorum key", keys);
    if (other.nonce <= one.nonce)
      this.#fault("previous-nonce", "namespace.nonce", "the nonce is not above that of the previous manifest", {
        expected: `above ${one.nonce}`,
        actual: String(other.nonce),
      });
    const changes = changesBetween(previous, this.#input.given);
    const unsigned = unsignedChanges(previous, this.#input.given, changes).map(
      (change) => `${change.place} (${change.before ?? NOT_THERE} before, ${change.after ?? NOT_THERE} now)`,
    );
    if (unsigned.length > 0)
      this.#notes.push(`differences of the files that no approval signs: ${listed(unsigned, "; ")}`);
    return changes;
  }

  /** Returns the members that a candidate does not fix. If one deployment matches, it is the only candidate. */
  #unpinnedMembers(candidates: readonly Candidate[], changes: readonly Change[] | null): UnpinnedMember[] {
    const { previous, accept, built } = this.#input;
    const since = previous && changes && { previous: previous.manifest, changes };
    const beside: Beside = {
      pcrs: [...built.pcrs.keys()],
      hasBinary: built.pivotHash !== null,
      hasPrevious: previous !== null,
    };
    const unpinned = manifestMembers(this.#manifest, since).filter(({ isHeld }) =>
      candidates.some(({ pins }) => pins.manifestHash === undefined && !isHeld(pins, beside)),
    );
    const byName = acceptedBy(unpinned.filter(({ isChanged }) => isChanged));
    const accepted = new Set([...accept].map((name) => byName.get(name)));
    const members = unpinned.map((member): UnpinnedMember => {
      const { place, before, after, isChanged } = member;
      const reviewed = accepted.has(member) ? "accepted" : "open";
      const name = byName.get(member.name) === member ? member.name : member.ownName;
      return Object.freeze({ name, place, before, after, status: isChanged ? reviewed : "unchanged" });
    });
    for (const { place, before, after, status } of members)
      if (status === "open")
        this.#fault("open-member", place, `no pin holds ${place}${previous === null ? "" : ", which changed"}`, {
          expected: before,
          actual: after,
        });
    this.#faultUnused(
      [...accept].filter((name) => !byName.has(name)),
      members,
    );
    return members;
  }

  #faultUnused(unused: readonly string[], members: readonly UnpinnedMember[]): void {
    const names = members.filter(({ status }) => status !== "unchanged").map(({ name }) => name);
    const could = names.length === 0 ? "nothing can be accepted" : `what can be accepted: ${listed(names, ", ")}`;
    for (const name of unused)
      this.#fault(
        "unused-accept",
        name,
        `accept has no effect for ${name}: it is pinned, unchanged, absent, or in several workloads; ${could}`,
      );
  }

  async #checkApprovals(): Promise<ReviewedApproval[]> {
    const { given, beside } = this.#input;
    const { manifestSet, shareSet } = this.#manifest;
    return [
      ...(await this.#checkSet("manifest", [...given.manifestSetApprovals, ...beside], manifestSet)),
      ...(await this.#checkSet("share", given.shareSetApprovals, shareSet)),
    ];
  }

  async #checkSet(
    set: ReviewedApproval["set"],
    approvals: readonly Approval[],
    members: MemberSet,
  ): Promise<ReviewedApproval[]> {
    const checked = await checkApprovals(approvals, members, this.#input.given.hash, this.#cache);
    return checked.approvals.map(({ member: { alias, pubKey }, status, message }) => {
      const code = APPROVAL_CODES[status];
      // QOS records an approval for every posted share, so a repeated one is not a fault (verify/README.md,
      // "Approvals").
      if (set === "share" && status === "repeated") this.#notes.push(`share set: ${message}: it counts once`);
      else if (code !== null) this.#fault(code, alias, `${set} set: ${message}`);
      return Object.freeze({ set, alias, pubKey: toHex(pubKey), status });
    });
  }

  #noteKeys(): void {
    const { quorumKey, manifestSet, shareSet } = this.#facts.bootProof!;
    if (isPublicSecret(quorumKey)) this.#notes.push("the quorum key's secret is public: anybody holds it");
    if (isNobodysSet(manifestSet)) this.#notes.push("keys whose secrets are public can approve for the manifest set");
    if (isNobodysSet(shareSet)) this.#notes.push("keys whose secrets are public can rebuild the quorum key");
  }
}

const APPROVAL_CODES: Readonly<Record<ApprovalStatus, ReviewFaultCode | null>> = {
  valid: null,
  stranger: "approval-stranger",
  invalid: "approval-invalid",
  repeated: "approval-repeated",
};

function describeMember(
  { alias, pubKey }: QuorumMember,
  approved: readonly ReviewedApproval[],
): ManifestReview["approvers"]["members"][number] {
  const key = toHex(pubKey);
  return Object.freeze({ alias, pubKey: key, approved: approved.some((one) => one.pubKey === key) });
}

/** Returns members by their own name and, if no other member shares the common name, also by the common name. */
function acceptedBy(changed: readonly ManifestMember[]): ReadonlyMap<string, ManifestMember> {
  const alone = changed.filter(({ name }) => changed.filter((other) => other.name === name).length === 1);
  return new Map([
    ...alone.map((member) => [member.name, member] as const),
    ...changed.map((member) => [member.ownName, member] as const),
  ]);
}

function unknowable(hasPrevious: boolean): string[] {
  return [
    "Nothing here shows that any hardware booted this manifest: only a verified boot proof does.",
    ...(hasPrevious
      ? ["The previous manifest is taken as it was given: whether it was approved, or ran, was not checked."]
      : []),
  ];
}
