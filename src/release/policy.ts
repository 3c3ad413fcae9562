/** Makes the policy that pins published releases (release/README.md, "What is pinned"). */
import { plain, typedOptions } from "../decode/options.js";
import { type MembersOf, demand, list, nonEmptyText, optional } from "../decode/shapes.js";
import { toHex } from "../bytes.js";
import type { MadePolicy } from "../appraise/pin.js";
import { type DeploymentPins, type Policy, policyShape } from "../appraise/parsed-policy.js";
import { writePins } from "../appraise/pin-writers.js";
import { type DocumentFacts, manifestFacts } from "../appraise/facts.js";
import { type SetFile, isZeroPcr } from "../appraise/pins.js";
import { type DeploymentFile, type PolicyFile, parsePolicy } from "../appraise/policy.js";
import { publicKeyNotes } from "../appraise/public-keys.js";
import { newestSiblings } from "../appraise/siblings.js";
import type { JsonValue } from "../decode/json.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import { type Fault, FaultList, MalformedError, attempt, faultText } from "../errors.js";
import type { CommitmentKind } from "../verify/commitment.js";
import { AWS_NITRO_ROOT_G1_NAME, type TrustAnchor, certificatePem, isAwsNitroRoot } from "../verify/trust-anchor.js";
import { type ReleaseCheck, checkWhole, ofApplications } from "./check.js";
import { demandOf, readSet } from "./demand.js";
import { type Readable, releaseNonce, shortOf } from "./history.js";
import { type Release, requireReleases } from "./release.js";

/** Facts that a release does not contain, and choices of the caller. */
export interface ReleasePolicyOptions {
  /** The names of the applications that are pinned. Default: all. */
  readonly applications?: readonly string[];
  /** The name of the policy. Default: the namespaces. */
  readonly name?: string;
  /** The pinned commitment, which a manifest does not contain. Default: `live`. */
  readonly commitment?: CommitmentKind;
  /** A set whose threshold the approvals of each release must also reach. */
  readonly manifestSet?: SetFile | JsonValue;
  /**
   * The policy to which `addToPolicy` will add the result. Each release is compared with the newest deployments of its
   * namespace, which have the highest `minNonce`. It must have the quorum key and PCR3 of one of them, approvals that
   * reach the threshold of its set, and a nonce that is not below its `minNonce`.
   */
  readonly addTo?: Policy;
  /** Types of app proof that each deployment may sign (`appProofs.types`). */
  readonly appProofTypes?: readonly string[];
  /** Trust anchors that replace the AWS root, for example a lab's. */
  readonly trustAnchors?: readonly TrustAnchor[];
}

const OPTIONS: MembersOf<ReleasePolicyOptions> = {
  applications: demand(list(nonEmptyText)),
  name: optional(nonEmptyText),
  commitment: optional(plain),
  manifestSet: demand(plain),
  addTo: demand(policyShape),
  appProofTypes: demand(list(nonEmptyText)),
  trustAnchors: optional(plain),
};

/**
 * Makes the policy that pins each of these releases, the newest first: image, program with arguments, namespace, nonce,
 * manifest hash, quorum key, manifest set and share set. The releases are checked as `checkReleases` does. For any
 * fault, nothing is pinned, and {@link MalformedError} (`release`) is thrown with all faults. Debug mode, PCRs of zeros
 * and sets of public keys are refused, too. Without `manifestSet` and `addTo`, only the files say that the set is the
 * right people, and `notes` says so. A person must read the policy before it is committed.
 *
 * @example
 * const { policy, notes } = await releasePolicy(releases, { applications: ["signer"], manifestSet });
 * for (const note of notes) console.error(note);
 */
export async function releasePolicy(
  releases: readonly Release[],
  options: ReleasePolicyOptions = {},
): Promise<MadePolicy> {
  const own = typedOptions("options", options, OPTIONS);
  const { addTo, trustAnchors, applications, manifestSet, ...pins } = own;
  const chosen = ofApplications(requireReleases(releases), applications);
  const { check, ordered } = await checkWhole(chosen, demandOf({ noManifestSet: true }), false);
  const faults = new FaultList();
  faults.push(...faultsIn(check), ...ordered.flatMap((one) => unpinnable(one, pins)));
  const set = manifestSet === undefined ? null : readSet(manifestSet as JsonValue);
  for (const one of set === null ? [] : ordered) {
    const message = shortOf(one, set!, "the manifest set that is demanded");
    if (message !== null) faults.push({ path: one.release.name, message });
  }
  const notes = addTo === undefined ? [] : ordered.flatMap((one) => besidePolicy(one, addTo, faults));
  if (faults.length > 0) throw new MalformedError("release", faults);
  const policy = policyOf(ordered, pins, trustAnchors);
  // Refuses a policy that is too large to be read again.
  parsePolicy(JSON.stringify(policy, undefined, 2));
  const isWord = manifestSet === undefined && addTo === undefined;
  return {
    policy,
    notes: [...notes, ...notesOn(check, isWord, pins.commitment)],
    // `besidePolicy` checks that the approvals of each release reach the threshold of the set.
    ...(addTo !== undefined && { judged: ["manifestSet"] as const }),
  };
}

function faultsIn({ releases, histories }: ReleaseCheck): Fault[] {
  return [
    ...releases.flatMap(({ faults }) => faults.map(({ file, message }) => ({ path: file, message }))),
    ...histories.flatMap(({ faults }) => faults.map(({ release, message }) => ({ path: release, message }))),
  ];
}

/** Returns the faults of a release that is approved, but unsafe to pin. */
function unpinnable({ release }: Readable, written: Written): Fault[] {
  const { name, manifest, manifestHash } = release;
  const { pcrs, bootProof } = manifestFacts(manifest, manifestHash, "live");
  const { quorumKey, manifestSet, shareSet } = bootProof!;
  const deployment = deploymentOf(release, written);
  const flaws: readonly (readonly [isThere: boolean, message: string])[] = [
    [manifest.pivot?.debugMode === true, "debugMode: what the application prints can be read outside"],
    ...[...pcrs].map(([index, pcr]) => [isZeroPcr(pcr), `PCR${index} is zeros, which identify no enclave`] as const),
    ...[...pcrs].map(([index, pcr]) => [pcr.length !== 2 * PCR_LENGTH, `PCR${index} does not have 48 bytes`] as const),
    ...publicKeyNotes({ quorumKey: [quorumKey], manifestSet, shareSet }).map((note) => [true, note] as const),
    ...WRITTEN.map((pin) => [deployment[pin] === undefined, `${pin} cannot be written into a policy`] as const),
  ];
  const messages = flaws.flatMap(([isThere, message]) => (isThere ? [message] : []));
  const { faults } = attempt(() => parsePolicy({ policy: "bootproof/1", deployments: [deployment] }));
  if (messages.length === 0 && faults.length > 0) messages.push(faultText(faults));
  return messages.map((message) => ({ path: `${name}/manifest`, message }));
}

/** The pins of a deployment that are taken from its release. */
const WRITTEN = ["pcrs", "namespace", "minNonce", "manifestHash", "quorumKey", "manifestSet", "shareSet"] as const;

/** Returns notes on a release that is added to a policy. Adds faults if no deployment of the policy fits it. */
function besidePolicy(one: Readable, { deployments }: Policy, faults: Fault[]): string[] {
  const { name, manifest, manifestHash } = one.release;
  const facts = manifestFacts(manifest, manifestHash, "live");
  const { namespace, manifestSet } = facts.bootProof!;
  const chosen = newestSiblings(deployments, [namespace]).find((each) => whyNotBeside(each, one, facts) === null);
  if (chosen === undefined) {
    const same = deployments.filter((each) => each.namespace?.includes(namespace) === true);
    const none = `no deployment of the policy is of the namespace ${JSON.stringify(namespace)}`;
    const whys = same.length === 0 ? [none] : same.flatMap((each) => whyNotBeside(each, one, facts) ?? []);
    faults.push(...whys.map((message) => ({ path: name, message })));
    return [];
  }
  const { threshold, members } = chosen.manifestSet!;
  if (threshold === manifestSet.threshold && members.join() === manifestSet.members.join()) return [];
  return [`critical: ${name}: its manifest set is another than that of ${chosen.name}, and is written as it is`];
}

/** Returns the reason why the release may not follow the deployment, or null if it may. */
function whyNotBeside(
  { name, quorumKey, pcrs = [], manifestSet, minNonce = 0 }: DeploymentPins,
  release: Readable,
  facts: DocumentFacts,
): string | null {
  const { quorumKey: own, nonce } = facts.bootProof!;
  if (quorumKey?.includes(own) !== true) return `${name} pins another quorum key, or none`;
  const roles = pcrs.flatMap((image) => image.find(({ index }) => index === 3)?.accepted ?? []);
  if (!roles.includes(facts.pcrs.get(3)!)) return `${name} pins another PCR3, or none`;
  if (nonce < minNonce) return `the nonce ${nonce} is below ${minNonce}, the minNonce of ${name}`;
  return manifestSet === undefined
    ? `${name} pins no manifestSet`
    : shortOf(release, manifestSet, `the manifestSet of ${name}`);
}

type Written = Pick<ReleasePolicyOptions, "name" | "commitment" | "appProofTypes">;

function policyOf(
  ordered: readonly Readable[],
  written: Written,
  trustAnchors: readonly TrustAnchor[] | undefined,
): PolicyFile {
  const newestFirst = [...ordered].sort((one, other) => releaseNonce(other) - releaseNonce(one));
  const namespaces = [...new Set(newestFirst.map(({ release }) => release.manifest.namespace.name))];
  return {
    policy: "bootproof/1",
    name: written.name ?? namespaces.join(", "),
    ...(trustAnchors && { trustAnchors: trustAnchors.map(anchorFile) }),
    deployments: newestFirst.map(({ release }) => deploymentOf(release, written)),
  };
}

function anchorFile(anchor: TrustAnchor): string | { readonly pem: string } {
  return isAwsNitroRoot(anchor) ? AWS_NITRO_ROOT_G1_NAME : { pem: certificatePem(anchor.certificate.der) };
}

function deploymentOf(
  { version, application, manifest, manifestHash }: Readable["release"],
  { commitment = "live", appProofTypes }: Written,
): DeploymentFile {
  const { name, nonce } = manifest.namespace;
  const facts = manifestFacts(manifest, manifestHash, commitment);
  return {
    name: `${application ?? name} ${version ?? `nonce ${nonce}`}`,
    ...writePins(facts, facts.bootProof!),
    manifestHash: toHex(manifestHash),
    shareSet: facts.bootProof!.shareSet,
    ...(appProofTypes && { appProofs: { types: appProofTypes } }),
  };
}

function notesOn({ histories, unknowable }: ReleaseCheck, isWord: boolean, commitment: string | undefined): string[] {
  return [
    ...(isWord ? ["only the folder says that the manifest set is the right people: name the set in a file"] : []),
    ...(commitment === undefined ? [LIVE_NOTE] : []),
    ...histories.flatMap(({ steps }) =>
      steps.flatMap(({ to, changes }) =>
        changes
          .filter(({ severity }) => severity === "critical")
          .map(({ what, means }) => `critical: ${to}: ${what}: ${means}`),
      ),
    ),
    unknowable[0]!,
  ];
}

const LIVE_NOTE =
  "commitment live is written, although no manifest shows it: documents of images before mid 2026 need " +
  "--commitment legacy, under which an application inside such an image could have asked for a document over any key";
