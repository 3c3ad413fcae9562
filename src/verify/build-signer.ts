/** Comparison of a build's signer with a demand of the policy. Values are compared whole, and never split at `@`. */
import { type BuildIdentity, extensionText } from "../decode/build-identity.js";
import { cut, listed } from "../errors.js";
import type { WorkflowDemand } from "./provenance-demand.js";

/** A fault as a phrase for people, with the compared values. */
export interface ProvenanceFault {
  readonly detail: string;
  readonly expected?: string;
  readonly actual?: string;
}

const MAX_VALUE = 1000;

/** Returns one fault for each value that differs from the demand. */
export function signerFaults(identity: BuildIdentity, demand: WorkflowDemand): ProvenanceFault[] {
  const { issuer, repository, repositoryId, runner, trigger, commit } = demand;
  const exact = { issuer, repository, repositoryId, runner, trigger, commit };
  return [
    ...(Object.keys(exact) as (keyof typeof exact)[]).flatMap((name) => {
      const wanted = exact[name];
      return wanted === undefined || identity[name] === wanted
        ? []
        : [differing(`another ${extensionText(name)}`, wanted, identity[name])];
    }),
    ...refFaults(identity, demand),
    ...workflowFaults(identity, demand),
    ...nameFaults(identity, demand),
    ...certifiedWorkflowFaults(identity, demand),
  ];
}

export function differing(detail: string, expected: string, actual: string | null): ProvenanceFault {
  return { detail, expected, actual: actual === null ? "absent" : cut(actual, MAX_VALUE) };
}

function refFaults({ ref }: BuildIdentity, demand: WorkflowDemand): ProvenanceFault[] {
  if (demand.ref === undefined || (ref !== null && demand.ref.some((wanted) => isRef(ref, wanted)))) return [];
  return [differing(`another ${extensionText("ref")}`, listed(demand.ref, " or "), ref)];
}

/** Whether the ref meets a demand. A policy can have only the patterns `refs/tags/*` and `refs/heads/*`. */
function isRef(ref: string, wanted: string): boolean {
  if (!wanted.endsWith("/*")) return ref === wanted;
  const folder = wanted.slice(0, -1);
  return ref.startsWith(folder) && ref.length > folder.length;
}

function workflowFaults({ repository, ref, buildConfig }: BuildIdentity, demand: WorkflowDemand): ProvenanceFault[] {
  if (demand.workflow === undefined) return [];
  const wanted = demand.workflow.map((workflow) => `${repository ?? "absent"}/${workflow}@${ref ?? "absent"}`);
  const isThere = repository !== null && ref !== null && buildConfig !== null;
  if (isThere && wanted.includes(buildConfig)) return [];
  return [differing(`another workflow: ${extensionText("buildConfig")}`, listed(wanted, " or "), buildConfig)];
}

function nameFaults({ san }: BuildIdentity, { identity }: WorkflowDemand): ProvenanceFault[] {
  return identity === undefined || san === identity
    ? []
    : [differing("another subject alternative name", identity, san)];
}

/** Checks that the certificate was issued to the build's workflow or, if the demand names a signer, to that signer. */
function certifiedWorkflowFaults(identity: BuildIdentity, demand: WorkflowDemand): ProvenanceFault[] {
  const { signer, san, buildConfig } = identity;
  const what = extensionText("signer");
  if (demand.signer !== undefined && (signer === null || !isSigner(signer, demand.signer)))
    return [differing(`another ${what}`, signerWords(demand.signer), signer)];
  if (demand.repository === undefined) return [];
  if (signer === null || signer !== san) return [differing(`${what} is not the subject alternative name`, san, signer)];
  if (demand.signer === undefined && signer !== buildConfig)
    return [
      differing(`another workflow signed: ${what}, and the policy names no signer`, buildConfig ?? "absent", signer),
    ];
  return [];
}

/** Whether the signer is the demanded workflow. If `wanted` has no ref, any version of the workflow is accepted. */
function isSigner(signer: string, wanted: string): boolean {
  if (wanted.includes("@")) return signer === wanted;
  const start = `${wanted}@`;
  const ref = signer.slice(start.length);
  return signer.startsWith(start) && /^(?:refs\/.+|[0-9a-f]{40})$/s.test(ref) && !ref.includes("/.github/");
}

function signerWords(wanted: string): string {
  return wanted.includes("@") ? wanted : `${wanted}@ and a ref or commit`;
}
