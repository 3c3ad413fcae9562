/** Entries of the pin `provenance`, made from a bundle or from an entry of an earlier version. */
import { plain, typedOptions } from "../decode/options.js";
import { type MembersOf, optional } from "../decode/shapes.js";
import { type BuildIdentity, buildWorkflow, readBuildIdentity } from "../decode/build-identity.js";
import { type ProvenanceBundle, decodeProvenanceBundle } from "../decode/provenance-bundle.js";
import { type Fault, MalformedError, type Reading } from "../errors.js";
import { signerFaults } from "../verify/build-signer.js";
import type { ProvenanceDemand } from "../verify/provenance-demand.js";
import type { ProvenanceFile, ProvenanceRoot } from "./provenance.js";

export interface PinProvenanceOptions {
  /** The repository's URL, which the caller must know because a bundle can name any. */
  readonly repository: string;
  readonly trustedRoot: ProvenanceRoot | readonly ProvenanceRoot[];
  /** Binary whose provenance is pinned. Default: `pivotHash`. */
  readonly of?: ProvenanceFile["of"];
}

const OPTIONS: MembersOf<PinProvenanceOptions> = {
  repository: plain,
  trustedRoot: plain,
  of: optional(plain),
};

/**
 * Pins all that the certificate of a bundle shows: issuer, repository with its id, workflow, ref, commit, runner,
 * trigger, the signer if it is another workflow, and the type of the statement. Nothing is verified, so verify the
 * bundle under the policy, and review it. Throws {@link MalformedError} (`provenance`) for a malformed bundle, another
 * repository, or a certificate that names no workflow.
 * @example
 * ```ts
 * const trustedRoot = { json: await readFile("trusted_root.json", "utf8") };
 * const entry = pinProvenance(bundle, { repository: "https://github.com/acme/oracle", trustedRoot });
 * ```
 */
export function pinProvenance(bundle: unknown, given: PinProvenanceOptions): ProvenanceFile {
  const { repository, trustedRoot, of } = typedOptions("options", given, OPTIONS);
  const { certificate, statement } = decodeProvenanceBundle(bundle);
  const identity = wholeIdentity(readBuildIdentity(certificate));
  if (identity.repository !== repository)
    throw malformed(`the repository is ${identity.repository ?? "absent"}, and ${repository} was given`);
  return {
    ...(of !== undefined && { of }),
    ...shownBy(identity, repository),
    predicateTypes: statement.predicateType,
    trustedRoot,
  };
}

function wholeIdentity({ value, faults }: Reading<BuildIdentity>): BuildIdentity {
  if (faults.length > 0) throw malformed(faults.map(({ message }) => message).join("; "));
  return value as BuildIdentity;
}

function shownBy(identity: BuildIdentity, repository: string): Omit<ProvenanceFile, "predicateTypes" | "trustedRoot"> {
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

/** Whether the demand names a commit or an exact ref, so that builds of a later version cannot meet it. */
export function namesOneVersion({ commit, ref = [] }: ProvenanceDemand): boolean {
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
 * Otherwise `commit` and an exact `ref` are taken from the bundle, which must meet all other members. No signature is
 * verified.
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
    if (!demand.predicateTypes.includes(bundle.statement.predicateType))
      return refused("the bundle's statement is of another type");
    if (!digests.every((digest) => digest !== undefined && subjects.includes(digest)))
      return refused("the bundle is of another binary");
    const { ref, ...rest } = renewedMembers(identity, demand);
    const anew = { ...rest, ...(ref !== undefined && { ref: [ref] }) };
    const [asItIs, asShown] = [demand, { ...demand, ...anew }].map((one) => signerFaults(identity, one));
    if (asItIs!.length === 0) return { entry, changes: [], fault: null };
    if (asShown!.length > 0) return refused(asShown!.map(({ detail }) => detail).join("; "));
    const members = { ...rest, ...(ref !== undefined && { ref }) };
    const changes = Object.entries(members).map(([member, value]) => `${member} ${value}`);
    return { entry: { ...entry, ...members }, changes, fault: null };
  });
  return tried.find(({ fault }) => fault === null) ?? tried.at(-1)!;
}

function renewedMembers({ ref, commit }: BuildIdentity, demand: ProvenanceDemand): { ref?: string; commit?: string } {
  return {
    ...(demand.ref?.some(isExact) && ref !== null && { ref }),
    ...(demand.commit !== undefined && commit !== null && { commit }),
  };
}

/** Members that must be the same. Trusted roots may differ, since the caller chose them and services change keys. */
const SAME = ["workload", "issuer", "repository", "repositoryId", "identity", "runner", "trigger"] as const;

/** Whether the entry `own` demands the same as `wanted`, apart from the version. */
export function keepsDemand(wanted: ProvenanceDemand, own: ProvenanceDemand): boolean {
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
function isRefKept(wanted: ProvenanceDemand["ref"], own: ProvenanceDemand["ref"]): boolean {
  if (wanted === undefined) return true;
  const isKept = (ref: string): boolean =>
    wanted.includes(ref) || (isExact(ref) && wanted.some((one) => isExact(one) || ref.startsWith(one.slice(0, -1))));
  return own !== undefined && own.every(isKept);
}
