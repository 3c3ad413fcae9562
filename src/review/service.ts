/** Compares a manifest with what the service says of its deployment (review/README.md, "What the service says"). */
import { equalBytes, fromBase64, fromHex, toHex } from "../bytes.js";
import type { DeploymentAnswer } from "../decode/deployment.js";
import { imageDigestText } from "../decode/manifest/image-digest.js";
import type { Approval, Manifest, MemberSet, Pivot, Workload } from "../decode/manifest/model.js";
import { quoted } from "../report/printable.js";
import type { Findings } from "./faults.js";

/**
 * Returns the approvals that the service holds. A member is found by its key, since nobody signed the operator's name.
 */
export function approvalsIn({ manifestApprovals }: DeploymentAnswer, { manifestSet }: Manifest): Approval[] {
  return (manifestApprovals ?? []).map(({ operator, approval }) => {
    const pubKey = fromHex(operator?.publicKey ?? "") ?? new Uint8Array();
    const known = manifestSet.members.find((member) => equalBytes(member.pubKey, pubKey));
    const signature = fromBase64(approval ?? "") ?? new Uint8Array();
    return { signature, member: known ?? { alias: operator?.name ?? "", pubKey } };
  });
}

type Compared = readonly [about: string, said: unknown, has: unknown];

/** Reports each member of the answer that contradicts the manifest, and notes what no manifest has. */
export function compareAnswer(answer: DeploymentAnswer, manifest: Manifest, found: Findings): void {
  const { pivot, workloads = [] } = manifest;
  const rows = [
    ["manifestSet", saidSet(answer.manifestSet), setText(manifest.manifestSet)] as const,
    ["shareSet", saidSet(answer.shareSet), setText(manifest.shareSet)] as const,
    ...(pivot === undefined ? imageRow(answer, workloads) : pivotRows(answer, pivot)),
  ];
  const message = "the service says something else of the deployment than its manifest";
  for (const [about, said, has] of rows)
    if (said !== undefined && said !== null)
      found.compare("service", about, message, [JSON.stringify(has), JSON.stringify(said)]);
  noteLabels(answer, found);
}

function pivotRows({ pivotContainer, debugMode }: DeploymentAnswer, pivot: Pivot): Compared[] {
  return [
    ["pivot.args", pivotContainer?.args, pivot.args],
    ["pivot.debugMode", debugMode, pivot.debugMode ?? false],
  ];
}

/** Compares the digest in the reference of an image (OCI distribution-spec), where it has one. */
function imageRow({ pivotContainer }: DeploymentAnswer, workloads: readonly Workload[]): Compared[] {
  const image = /@(sha256:[0-9a-f]{64})$/.exec(pivotContainer?.containerUrl ?? "")?.[1];
  const images = workloads.map(({ imageDigest }) => imageDigestText(imageDigest));
  return [["workloads", image, images.find((one) => one === image) ?? images.join(", ")]];
}

/** Characters of a label that are shown. */
const MAX_LABEL = 200;

function noteLabels(
  { qosVersion, pivotContainer, provisioningState, ...said }: DeploymentAnswer,
  found: Findings,
): void {
  const labels = {
    "QOS version": qosVersion,
    container: pivotContainer?.containerUrl,
    path: pivotContainer?.path,
    state: provisioningState,
    delete: said.delete === true ? "true" : null,
  };
  for (const [name, value] of Object.entries(labels))
    if (value) found.notes.push(`the service says ${name} ${quoted(value, MAX_LABEL)}, which no manifest has`);
}

/** Returns the threshold and the sorted keys. Names are labels, and not compared. */
function setText({ threshold, members }: MemberSet): string {
  return `${threshold} of ${members
    .map(({ pubKey }) => toHex(pubKey))
    .sort()
    .join(", ")}`;
}

function saidSet(set: DeploymentAnswer["manifestSet"]): string | undefined {
  if (!set?.operators || typeof set.threshold !== "number") return undefined;
  const keys = set.operators.map(({ publicKey }) => publicKey?.toLowerCase() ?? "no key");
  return `${set.threshold} of ${keys.sort().join(", ")}`;
}
