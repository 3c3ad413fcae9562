/** Makes an entry of the pin `provenance` from what a bundle shows. */
import { type BuildIdentity, buildWorkflow, readBuildIdentity } from "../decode/build-identity.js";
import { copyPlain, ownOptions } from "../decode/input.js";
import { decodeProvenanceBundle } from "../decode/provenance-bundle.js";
import { type Fault, MalformedError, type Reading } from "../errors.js";
import type { ProvenanceFile, ProvenanceRoot } from "./provenance.js";

export interface PinProvenanceOptions {
  /** The repository's URL. The caller knows it: a bundle can name any. */
  readonly repository: string;
  readonly trustedRoot: ProvenanceRoot | readonly ProvenanceRoot[];
  /** Default: `pivotHash`. */
  readonly of?: ProvenanceFile["of"];
}

const OPTIONS: Readonly<Record<keyof PinProvenanceOptions, true>> = { repository: true, trustedRoot: true, of: true };

/**
 * Pins all that the certificate of a bundle shows: issuer, repository with its id, workflow, ref, commit, runner,
 * trigger, the signer if it is another workflow, and the type of the statement. Verifies nothing: verify the bundle
 * under the policy, and review it. Throws {@link MalformedError} (`provenance`) for a malformed bundle, another
 * repository, or a certificate that names no workflow.
 * @example
 * ```ts
 * const trustedRoot = { json: await readFile("trusted_root.json", "utf8") };
 * const entry = pinProvenance(bundle, { repository: "https://github.com/acme/oracle", trustedRoot });
 * ```
 */
export function pinProvenance(bundle: unknown, given: PinProvenanceOptions): ProvenanceFile {
  const { repository, trustedRoot, of } = copyPlain(ownOptions("options", given, OPTIONS));
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
