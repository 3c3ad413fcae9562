/** Entries of the pin `provenance`, made from a bundle or from an entry of an earlier version. */
import { lastOf } from "../bytes.js";
import { plain, typedOptions } from "../decode/options.js";
import { type MembersOf, demand, flag, text } from "../decode/shapes.js";
import { type BuildIdentity, buildWorkflow, isNamedByUri, readBuildIdentity } from "../decode/build-identity.js";
import { type GithubRelease, isReleaseType, readGithubRelease, releaseName } from "../decode/github-release.js";
import { type ProvenanceBundle, decodeProvenanceBundle } from "../decode/provenance-bundle.js";
import { type Fault, MalformedError, type Reading, requireWhole } from "../errors.js";
import { demandFaults } from "../verify/demand-faults.js";
import type { ProvenanceDemand, WorkflowDemand } from "../verify/provenance-demand.js";
import type { GithubReleaseFile, ProvenanceFile, ProvenanceRoot, WorkflowFile } from "./provenance.js";

export interface PinProvenanceOptions {
  /**
   * The repository's URL or, for a release, `owner/name`. The caller must know it, because a bundle can name any
   * repository.
   */
  readonly repository: string;
  /** Pins the immutable release of GitHub that the bundle states, and not a build. */
  readonly githubRelease?: boolean;
  /** For a release: the subdomain of an enterprise on ghe.com. */
  readonly tenant?: string;
  readonly trustedRoot: ProvenanceRoot | readonly ProvenanceRoot[];
  /** Binary whose provenance is pinned. Default: `pivotHash`. */
  readonly of?: ProvenanceFile["of"];
}

const OPTIONS: MembersOf<PinProvenanceOptions> = {
  repository: plain,
  githubRelease: demand(flag),
  tenant: demand(text),
  trustedRoot: plain,
  of: demand(plain),
};

/**
 * Pins all that the certificate of a bundle shows: issuer, repository with its id, workflow, ref, commit, runner,
 * trigger, the signer if it is another workflow, and the type of the statement. With `githubRelease` it pins
 * repository, id and tag of the release. Nothing is verified, so verify the bundle under the policy, and review it.
 * Throws {@link MalformedError} (`provenance`) for a malformed bundle, another repository, or a certificate that names
 * no workflow and is not that of releases.
 * @example
 * ```ts
 * const trustedRoot = { json: await readFile("trusted_root.json", "utf8") };
 * const entry = pinProvenance(bundle, { repository: "https://github.com/acme/oracle", trustedRoot });
 * ```
 */
export function pinProvenance(bundle: unknown, given: PinProvenanceOptions): ProvenanceFile {
  const options = typedOptions("options", given, OPTIONS);
  const { repository, trustedRoot, of, githubRelease = false, tenant } = options;
  if (tenant !== undefined && !githubRelease) throw new TypeError("options.tenant: only with githubRelease");
  const decoded = decodeProvenanceBundle(bundle);
  const identity = wholeIdentity(readBuildIdentity(decoded.certificate));
  const common = { ...(of !== undefined && { of }), trustedRoot };
  if (githubRelease) return { ...common, githubRelease: shownRelease(decoded, identity, options) };
  refuseOther(identity.repository, repository);
  const { predicateType: predicateTypes } = decoded.statement;
  return { ...common, ...shownBy(identity, repository), predicateTypes };
}

function shownRelease(
  bundle: ProvenanceBundle,
  { san }: BuildIdentity,
  { repository, tenant }: PinProvenanceOptions,
): GithubReleaseFile["githubRelease"] {
  const name = releaseName(tenant);
  if (!isReleaseType(bundle.statement.predicateType) || san !== name)
    throw malformed(`not a statement of ${name} on a release: it is of ${san}`);
  if (!isNamedByUri(bundle.certificate)) throw malformed(`the name ${san} is an email address, expected a URI`);
  const release: GithubRelease = requireWhole("provenance", readGithubRelease(bundle));
  refuseOther(release.repository, repository);
  return { ...release, ...(tenant !== undefined && { tenant }) };
}

function refuseOther(shown: string | null, given: string): void {
  if (shown !== given) throw malformed(`the repository is ${shown ?? "absent"}, and ${given} was given`);
}

function wholeIdentity({ value, faults }: Reading<BuildIdentity>): BuildIdentity {
  if (faults.length > 0) throw malformed(faults.map(({ message }) => message).join("; "));
  return value as BuildIdentity;
}

function shownBy(identity: BuildIdentity, repository: string): Omit<WorkflowFile, "predicateTypes" | "trustedRoot"> {
  const { issuer, ref, signer, buildConfig } = identity;
  const workflow = buildWorkflow(identity);
  if (issuer === null || ref === null || workflow === null)
    throw malformed("the certificate names no issuer, ref and workflow of a build");
  const { repositoryId, runner, trigger, commit } = identity;
  const others = Object.entries({ repositoryId, runner, trigger, commit }).filter(([, value]) => value !== null);
  return {
    issuer,
    repository,
    workflow,
    ref,
    ...(signer !== null && signer !== buildConfig && { signer }),
    ...(Object.fromEntries(others) as Record<string, string>),
  };
}

function malformed(message: string): MalformedError {
  const fault: Fault = { path: "certificate", message };
  return new MalformedError("provenance", [fault]);
}

function isExact(ref: string): boolean {
  return !ref.endsWith("/*");
}

/** Whether the demand names a tag, a commit or an exact ref, so that a later version cannot meet it. */
export function namesOneVersion(demand: ProvenanceDemand): boolean {
  if (demand.githubRelease !== undefined) return demand.githubRelease.tag !== undefined;
  const { commit, ref = [] } = demand;
  return commit !== undefined || ref.some(isExact);
}

interface Entry {
  readonly entry: ProvenanceFile;
  readonly demand: ProvenanceDemand;
}

/** An entry for a new build. `changes` are the changed members, and `fault` is the reason why no bundle meets it. */
interface Renewed {
  readonly entry: ProvenanceFile;
  readonly changes: readonly string[];
  readonly fault: string | null;
}

/**
 * Renews the entry of an earlier version for a build with these digests. An entry that a bundle meets stays as it is.
 * Otherwise `commit` and an exact `ref`, or the tag of a release, are taken from the bundle, which must meet all other
 * members. No signature is verified.
 */
export function renewedEntry(
  { entry, demand }: Entry,
  bundles: readonly ProvenanceBundle[],
  digests: readonly (string | undefined)[],
): Renewed {
  const tried = bundles.map((bundle): Renewed => {
    const refused = (fault: string): Renewed => ({ entry, changes: [], fault });
    const shown = readBuildIdentity(bundle.certificate);
    if (shown.faults.length > 0) return refused(shown.faults.map(({ message }) => message).join("; "));
    const identity = shown.value as BuildIdentity;
    const subjects = bundle.statement.subjects.map(({ sha256 }) => sha256);
    if (!digests.every((digest) => digest !== undefined && subjects.includes(digest)))
      return refused("the bundle is of another binary");
    const anew = renewedAs(bundle, identity, { entry, demand });
    const [asItIs, asShown] = [demand, anew.demand].map((one) =>
      Object.values(demandFaults(bundle, identity, one)).flat(),
    );
    if (asItIs!.length === 0) return { entry, changes: [], fault: null };
    if (asShown!.length > 0) return refused(asShown!.map(({ detail }) => detail).join("; "));
    const changes = Object.entries(anew.members).map(([member, value]) => `${member} ${value}`);
    return { entry: anew.entry, changes, fault: null };
  });
  return tried.find(({ fault }) => fault === null) ?? lastOf(tried)!;
}

interface RenewedAs extends Entry {
  readonly members: Readonly<Record<string, string>>;
}

/** Returns the entry and the demand with the members of one version that the bundle shows. */
function renewedAs(bundle: ProvenanceBundle, { ref, commit }: BuildIdentity, { entry, demand }: Entry): RenewedAs {
  if (demand.githubRelease !== undefined) {
    const { tag } = isReleaseType(bundle.statement.predicateType) ? readGithubRelease(bundle).value : {};
    const members = { ...(demand.githubRelease.tag !== undefined && tag !== undefined && { tag }) };
    const githubRelease = { ...demand.githubRelease, ...members };
    const { githubRelease: written } = entry as GithubReleaseFile;
    return {
      entry: { ...(entry as GithubReleaseFile), githubRelease: { ...written, ...members } },
      demand: { ...demand, githubRelease },
      members,
    };
  }
  const exact = { ...(demand.ref?.some(isExact) && ref !== null && { ref }) };
  const members = { ...(demand.commit !== undefined && commit !== null && { commit }), ...exact };
  const anew = { ...members, ...(exact.ref !== undefined && { ref: [exact.ref] }) };
  return {
    entry: { ...(entry as WorkflowFile), ...members },
    demand: { ...demand, ...anew } as WorkflowDemand,
    members,
  };
}

/** Members of a demand on a release that must be the same. */
const SAME_RELEASE = ["repository", "repositoryId", "tenant"] as const;

/** Members that must be the same. Trusted roots may differ, since the caller chose them and services change keys. */
const SAME = ["workload", "issuer", "repository", "repositoryId", "identity", "runner", "trigger"] as const;

/** Whether the entry `own` demands the same as `wanted`, apart from the version. */
export function keepsDemand(wanted: ProvenanceDemand, own: ProvenanceDemand): boolean {
  if (wanted.githubRelease === undefined) return own.githubRelease === undefined && keepsWorkflow(wanted, own);
  const { githubRelease: one } = wanted;
  const { githubRelease: other } = own;
  return (
    other !== undefined &&
    own.workload === wanted.workload &&
    SAME_RELEASE.every((name) => one[name] === other[name]) &&
    (one.tag === undefined || other.tag !== undefined)
  );
}

function keepsWorkflow(wanted: WorkflowDemand, own: WorkflowDemand): boolean {
  return (
    SAME.every((name) => wanted[name] === undefined || own[name] === wanted[name]) &&
    isSignerKept(wanted.signer, own.signer) &&
    isWithin(own.workflow, wanted.workflow) &&
    isWithin(own.predicateTypes, wanted.predicateTypes) &&
    isRefKept(wanted.ref, own.ref) &&
    (wanted.commit === undefined || own.commit !== undefined)
  );
}

function isWithin(own: readonly string[] | undefined, wanted: readonly string[] | undefined): boolean {
  return wanted === undefined || (own !== undefined && own.every((one) => wanted.includes(one)));
}

/**
 * Whether the signer is kept. Without a signer, the build's own workflow must sign. Without a ref, any version of the
 * signer passes.
 */
function isSignerKept(wanted: string | undefined, own: string | undefined): boolean {
  return own === wanted || (wanted?.includes("@") === false && own?.startsWith(`${wanted}@`) === true);
}

/** Whether the ref is kept. An exact ref belongs to one version, so another exact ref may replace it. */
function isRefKept(wanted: WorkflowDemand["ref"], own: WorkflowDemand["ref"]): boolean {
  if (wanted === undefined) return true;
  const isKept = (ref: string): boolean =>
    wanted.includes(ref) || (isExact(ref) && wanted.some((one) => isExact(one) || ref.startsWith(one.slice(0, -1))));
  return own !== undefined && own.every(isKept);
}
