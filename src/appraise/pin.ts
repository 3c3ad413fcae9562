/** Policies made from verified evidence, a published release, or the measurements of a build. */
import { plain, requireShape, typedOptions } from "../decode/options.js";
import { type MembersOf, demand, list, optional, placeOf, text } from "../decode/shapes.js";
import { lastOf, toHex } from "../bytes.js";
import { type JsonValue, isJsonObject } from "../decode/json.js";
import { MemberReader } from "../decode/json-members.js";
import { PCR_LENGTH, SHA256_LENGTH } from "../decode/lengths.js";
import { bareDigest } from "../decode/manifest/image-digest.js";
import { type Fault, FaultList, MalformedError, attempt, listed, shownName } from "../errors.js";
import { VerifiedBootProof } from "../verify/boot-proof.js";
import type { CommitmentKind } from "../verify/commitment.js";
import { AWS_NITRO_ROOT_G1_NAME, type TrustAnchor, certificatePem, isAwsNitroRoot } from "../verify/trust-anchor.js";
import { MEASURED } from "./measured.js";
import { writePins } from "./pin-writers.js";
import { type DocumentFacts, factsOf } from "./facts.js";
import type { PinName, SetFile } from "./pins.js";
import { type DeploymentFile, type PolicyFile, parsePolicy } from "./policy.js";
import { QUESTIONS, type Question, scopeOf } from "./questions.js";

/** A new policy, with notes for its reviewer. */
export interface MadePolicy {
  readonly policy: PolicyFile;
  readonly notes: readonly string[];
  /** The boot proofs from which the policy was made. If absent, values that the policy does not pin are unknown. */
  readonly evidence?: readonly VerifiedBootProof[];
  /** Pins of siblings that the maker of this policy compared in another way, such as by the approvals of a release. */
  readonly judged?: readonly PinName[];
}

export interface PinOptions {
  /** The policy's name. Default: the namespaces. */
  readonly name?: string;
  /** Types of app proof that each deployment may sign (its `appProofs.types`). */
  readonly appProofTypes?: readonly string[];
}

const PIN_OPTIONS: MembersOf<PinOptions> = {
  name: optional(text),
  appProofTypes: demand(list(text)),
};

/**
 * Pins the deployment of one or several verified boot proofs: PCR0–3, the program with its arguments and environment,
 * namespace, nonce, quorum key, manifest set and commitment. If these do not decide the three questions, the manifest's
 * hash is also pinned. Values that no policy can hold (such as a quorum key of a wrong length) are omitted. The same
 * evidence verifies under the policy. Review the policy before use. Throws TypeError for anything but verified boot
 * proofs, and {@link MalformedError} (`policy`) for a combination that no policy can pin, for example boot proofs with
 * and without debug mode.
 */
export function pinPolicy(
  verified: VerifiedBootProof | readonly VerifiedBootProof[],
  options: PinOptions = {},
): PolicyFile {
  return makePolicy(verified, options).policy;
}

/** Pins as {@link pinPolicy} does, and adds notes on what is open or weakly pinned. */
export function makePolicy(
  verified: VerifiedBootProof | readonly VerifiedBootProof[],
  options: PinOptions = {},
): MadePolicy {
  options = typedOptions("options", options, PIN_OPTIONS);
  const bootProofs: readonly VerifiedBootProof[] = verified instanceof Array ? verified : [verified];
  if (bootProofs.length === 0 || !bootProofs.every((one) => VerifiedBootProof.isVerified(one)))
    throw new TypeError("only a VerifiedBootProof can be pinned");
  refuseMixedModes(bootProofs);
  const made = together(
    bootProofs.map((one) => makeOne(one, options)),
    options.name ?? shortened([...new Set(bootProofs.map(({ manifest }) => manifest.namespace.name))].join(", ")),
  );
  return { ...made, evidence: [...bootProofs] };
}

/**
 * Refuses boot proofs in debug mode together with others. `allowDebug` is for the whole policy, so one debug enclave
 * would allow debug mode for all.
 */
function refuseMixedModes(bootProofs: readonly VerifiedBootProof[]): void {
  const debug = bootProofs.filter((one) => one.debug).length;
  if (debug === 0 || debug === bootProofs.length) return;
  const says =
    `debug mode is allowed for a whole policy or not at all, and ${debug} of these ` +
    `${bootProofs.length} boot proofs ${debug === 1 ? "is" : "are"} of debug mode: in one policy, a ` +
    "debug enclave could pass as one of the others. Pin them in separate policies";
  throw new MalformedError("policy", [{ path: "allowDebug", message: says }]);
}

function makeOne(verified: VerifiedBootProof, options: PinOptions): MadePolicy {
  const { namespace } = verified.manifest;
  const facts = factsOf(verified);
  const { manifestHash, commitment } = facts.bootProof!;
  const whole = writePins(facts, facts.bootProof!);
  // The manifest's hash replaces pins that decide nothing (a set whose secret keys are public), parts that are too
  // large for a policy, and names that a policy cannot hold.
  const least = { ...(whole.pcrs && { pcrs: whole.pcrs }), manifestHash, commitment };
  const saysApplication = whole.pivotEnv !== undefined || whole.workloads !== undefined;
  const candidates = [...(saysApplication ? [whole] : []), { ...whole, manifestHash }, least];
  const made = candidates.map((pins) =>
    finished(
      {
        policy: "bootproof/1",
        name: options.name ?? shortened(namespace.name),
        trustAnchors: [anchorEntry(verified.attestation.trustAnchor)],
        deployments: [
          { name: shortened(`${namespace.name} nonce ${namespace.nonce}`), ...pins, ...typesOf(options.appProofTypes) },
        ],
        ...(verified.debug && { allowDebug: true }),
      },
      facts,
    ),
  );
  const good = made.filter((one) => one.faults.length === 0);
  const chosen =
    good.find(({ open }) => open.length === 0) ??
    good.find(({ policy }) => policy.deployments[0]!.manifestHash !== undefined);
  if (chosen === undefined) throw new MalformedError("policy", lastOf(made)!.faults);
  return chosen;
}

function typesOf(types: readonly string[] | undefined): Pick<DeploymentFile, "appProofs"> {
  return types === undefined ? {} : { appProofs: { types } };
}

/** Merges policies of one deployment each. Equal deployments are pinned once. */
function together(made: readonly MadePolicy[], name: string): MadePolicy {
  const pins = made.map(({ policy }) => pinsText(policy.deployments[0]!));
  const kept = made.filter((_, index) => pins.indexOf(pins[index]!) === index);
  const names = new Set<string>();
  const deployments = kept.map(({ policy }) => namedApart(policy.deployments[0]!, names));
  const anchors = new Map(made.flatMap(({ policy }) => policy.trustAnchors!).map((one) => [JSON.stringify(one), one]));
  const policy = { ...made[0]!.policy, name, trustAnchors: [...anchors.values()], deployments };
  parsePolicy(asText(policy));
  return {
    policy,
    notes: kept.flatMap(({ notes }, index) =>
      kept.length === 1 ? notes : notes.map((note) => `${deployments[index]!.name!}: ${note}`),
    ),
  };
}

function pinsText(deployment: DeploymentFile): string {
  return JSON.stringify({ ...deployment, name: "" });
}

/** Gives the deployment an unused name, and adds that name to `taken`. */
export function namedApart<D extends DeploymentFile>(deployment: D, taken: Set<string>): D & { readonly name: string } {
  const name = deployment.name ?? "";
  let free = name;
  for (let count = 2; taken.has(free); count++) free = `${shortened(name)} (${count})`;
  taken.add(free);
  return { ...deployment, name: free };
}

interface Finished extends MadePolicy {
  readonly open: readonly Question[];
  readonly faults: readonly Fault[];
}

const HASH_NOTE = "manifestHash is pinned: only this manifest passes, and no later one";

/** Declares the open questions in the only deployment, and notes what the policy leaves open. */
function finished(policy: PolicyFile, facts: DocumentFacts | null): Finished {
  const [deployment] = policy.deployments as [DeploymentFile];
  const withOpen = (open: readonly Question[]): PolicyFile => ({
    ...policy,
    deployments: [open.length === 0 ? deployment : { ...deployment, open }],
  });
  const trial = attempt(() => parsePolicy(asText(withOpen(QUESTIONS))));
  if (trial.value === undefined) return { policy, notes: [], open: QUESTIONS, faults: trial.faults };
  const pins = trial.value.deployments[0]!;
  const { unanswered } = scopeOf(pins, facts);
  const open = QUESTIONS.filter((question) => unanswered.includes(question));
  const { reasons } = scopeOf({ ...pins, open }, facts);
  return {
    policy: withOpen(open),
    notes: [...reasons, ...(deployment.manifestHash === undefined ? [] : [HASH_NOTE])],
    open,
    faults: [],
  };
}

function asText(policy: PolicyFile): string {
  return JSON.stringify(policy, undefined, 2);
}

const MAX_NAME = 200;

/** Limits the length of a name, since it comes from evidence. */
function shortened(name: string): string {
  return shownName(name, MAX_NAME);
}

function anchorEntry(anchor: TrustAnchor): string | { pem: string } {
  if (isAwsNitroRoot(anchor)) return AWS_NITRO_ROOT_G1_NAME;
  return { pem: certificatePem(anchor.certificate.der) };
}

export interface ReleaseOptions {
  readonly name?: string;
  readonly namespace?: string;
  /** Kind of commitment. Default: `live`. */
  readonly commitment?: CommitmentKind;
  readonly manifestSet?: SetFile;
  /** Quorum key of 130 bytes in hex. */
  readonly quorumKey?: string;
  /** Types of app proof that the application may sign (the deployment's `appProofs.types`). */
  readonly appProofTypes?: readonly string[];
}

const RELEASE_OPTIONS: MembersOf<ReleaseOptions> = {
  name: optional(text),
  namespace: demand(text),
  commitment: optional(plain),
  manifestSet: demand(plain),
  quorumKey: demand(text),
  appProofTypes: demand(list(text)),
};

const RELEASE_PCRS = [0, 1, 2, 3];

/**
 * Pins one application of a published release: a parsed YAML of `version` and, for each application, `appBinaryDigest`
 * (the pivot hash) and `PCR0` to `PCR3`. Nothing is verified, so trust the policy only as far as its source. `open`
 * lists what the release leaves open. Throws {@link MalformedError} (`release`).
 */
export function policyFromRelease(release: unknown, app: string, options: ReleaseOptions = {}): PolicyFile {
  return makeReleasePolicy(release, app, options).policy;
}

/** Pins as {@link policyFromRelease} does, and adds notes on what is open or weakly pinned. */
export function makeReleasePolicy(release: unknown, app: string, options: ReleaseOptions = {}): MadePolicy {
  options = typedOptions("options", options, RELEASE_OPTIONS);
  const { version, pivotHash, pcrs } = readRelease(release, app);
  const { name = `${app}, release ${version}`, ...rest } = options;
  const made = unseen({
    name,
    deployment: `${app} ${version}`,
    measured: { pcrs, pivotHash },
    options: rest,
    trustAnchors: undefined,
  });
  if (made.faults.length > 0) throw new MalformedError("release", made.faults);
  return made;
}

interface Unseen {
  readonly name: string;
  readonly deployment: string;
  readonly measured: Pick<DeploymentFile, "pcrs" | "pivotHash">;
  readonly options: Omit<ReleaseOptions, "name">;
  readonly trustAnchors: readonly TrustAnchor[] | undefined;
}

function unseen({ name, deployment, measured, options, trustAnchors }: Unseen): Finished {
  const { appProofTypes, ...pins } = options;
  const anchors = trustAnchors && { trustAnchors: trustAnchors.map(anchorEntry) };
  const deployments = [{ name: deployment, ...measured, ...pins, ...typesOf(appProofTypes) }];
  return finished({ policy: "bootproof/1", name, ...anchors, deployments }, null);
}

export interface BuildMeasurements {
  /** PCRs of 48 bytes each: 0, 1 and 2 of the image, 8 if it is signed (`measureImage`), 3 of the role. */
  readonly pcrs?: Readonly<Record<number, Uint8Array>>;
  /** SHA-256 of the application binary (`measureBinary`), 32 bytes. */
  readonly pivotHash?: Uint8Array;
}

export interface BuildOptions extends ReleaseOptions {
  /** Trust anchors that replace the AWS root, for example a lab's. */
  readonly trustAnchors?: readonly TrustAnchor[];
}

/**
 * Pins a build before an enclave runs it: image, program, and the operator that the options name. Adds notes on what is
 * open or weakly pinned. Trust the policy only as far as the build. `open` lists what is left open. Throws TypeError
 * for invalid measurements, and {@link MalformedError} (`policy`) if nothing decides which image runs.
 */
export function makeBuildPolicy(build: BuildMeasurements, options: BuildOptions = {}): MadePolicy {
  options = typedOptions("options", options, { ...RELEASE_OPTIONS, trustAnchors: optional(plain) });
  build = requireShape("build", build, MEASURED);
  if (build.pcrs === undefined && build.pivotHash === undefined)
    throw new TypeError("build: expected pcrs or pivotHash");
  const measured = {
    ...(build.pcrs && { pcrs: hexOfPcrs(build.pcrs) }),
    ...(build.pivotHash && { pivotHash: hexOf("pivotHash", build.pivotHash, SHA256_LENGTH) }),
  };
  refuseParts(measured);
  const deployment = buildName(measured, options.namespace);
  const { name = deployment, trustAnchors, ...rest } = options;
  const made = unseen({ name, deployment, measured, options: rest, trustAnchors });
  if (made.faults.length > 0) throw new MalformedError("policy", made.faults);
  return made;
}

/** Refuses PCRs of a part of an image: who measures a build has all three, and PCR0 alone leaves something open. */
function refuseParts({ pcrs }: { readonly pcrs?: Readonly<Record<string, string>> }): void {
  const missing = pcrs === undefined ? [] : [0, 1, 2].filter((index) => pcrs[index] === undefined);
  if (missing.length > 0)
    throw new MalformedError("policy", [
      { path: "build.pcrs", message: `an image has pcrs 0, 1 and 2: ${missing.join(" and ")} missing` },
    ]);
}

function buildName(
  { pcrs, pivotHash = "" }: { readonly pcrs?: Readonly<Record<string, string>>; readonly pivotHash?: string },
  namespace: string | undefined,
): string {
  const image = pcrs?.["0"];
  const what = image === undefined ? `binary ${pivotHash.slice(0, 12)}` : `image ${image.slice(0, 12)}`;
  return shortened(namespace === undefined ? what : `${namespace}, ${what}`);
}

function hexOfPcrs(pcrs: Readonly<Record<number, Uint8Array>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(pcrs).map(([index, value]) => [index, hexOf(`pcrs.${index}`, value, PCR_LENGTH)]),
  );
}

function hexOf(name: string, value: unknown, length: number): string {
  if (value instanceof Uint8Array && value.length === length) return toHex(value);
  throw new TypeError(`${name}: expected ${length} bytes, as a Uint8Array`);
}

interface ReleasedApplication {
  readonly version: string;
  readonly pivotHash: string;
  readonly pcrs: Readonly<Record<string, string>>;
}

/** Reads one application of a release. Throws {@link MalformedError} (`release`) with every fault. */
function readRelease(release: unknown, app: string): ReleasedApplication {
  const faults = new FaultList();
  const reader = MemberReader.of(release, placeOf(faults));
  if (reader === undefined) throw new MalformedError("release", faults);
  const names = Object.keys(reader.object);
  if (!names.includes("version") && !names.includes(app)) {
    const got = listed(names.map(shortened)) || "nothing";
    const message = `not a release: expected its version and a member for each application, got ${got}`;
    throw new MalformedError("release", [{ path: "", message }]);
  }
  const version = reader.read("version", text);
  const entry = applicationIn(reader, app);
  const pivotHash = entry?.read("appBinaryDigest", text);
  const pcrs = RELEASE_PCRS.map((index) => [String(index), entry?.read(`PCR${index}`, text)] as const);
  if (faults.length > 0) throw new MalformedError("release", faults);
  return {
    version: version!,
    pivotHash: bareDigest(pivotHash!),
    pcrs: Object.fromEntries(pcrs) as ReleasedApplication["pcrs"],
  };
}

function applicationIn(release: MemberReader, app: string): MemberReader | undefined {
  const known = Object.keys(release.object).filter((name) => name !== "version");
  if (known.includes(app)) return release.nested(app);
  return release.fault(app, `not in this release, which has ${listed(known.map(shortened), ", ") || "nothing"}`);
}

/**
 * Makes a set from JSON `{"threshold", "members"}`. Members are keys in hex or, as in a manifest, objects with a
 * `pubKey`. Its faults are found when the policy is read.
 */
export function memberSetFile(json: JsonValue): SetFile {
  if (!isJsonObject(json) || !Array.isArray(json["members"])) return json as unknown as SetFile;
  const members = json["members"].map((member) =>
    isJsonObject(member) && Object.hasOwn(member, "pubKey") ? member["pubKey"]! : member,
  );
  return { ...json, members } as unknown as SetFile;
}
