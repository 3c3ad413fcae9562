/** Reads `--provenance`. Loads the package that verifies provenance, if the policy demands it. */
import { demandingDeployment } from "../appraise/parsed-policy.js";
import type { Policy } from "../appraise/policy.js";
import type { Evidence, NamedEvidence, VerifyOptions } from "../bootproof.js";
import { MAX_BUNDLE_BYTES } from "../bundle/page.js";
import { demandsProvenance, namedSharing } from "../inputs.js";
import { shownName } from "../errors.js";
import { MAX_PROVENANCE } from "../verify/provenance-demand.js";
import { type InputFiles, nameOf } from "./files.js";
import { UsageError } from "./io.js";
import { ofKind } from "./kinds.js";

/**
 * Returns the bundles as a member of the evidence. The member is absent if no file is named. Faults are added to the
 * files.
 */
export async function readProvenance(
  files: InputFiles,
  paths: readonly string[],
): Promise<Pick<Evidence, "provenance">> {
  if (paths.length === 0) return {};
  const pieces: NamedEvidence[] = [];
  for (const path of paths) pieces.push(...(await bundlesIn(files, path)));
  if (pieces.length > MAX_PROVENANCE)
    files.fault(paths[0]!, `${pieces.length} bundles of provenance, at most ${MAX_PROVENANCE} allowed`);
  return { provenance: pieces };
}

/**
 * Reads the bundles in a file. Several bundles are named by index: `build.jsonl[3]`. Other content is a fault, even if
 * no policy demands provenance.
 */
async function bundlesIn(files: InputFiles, path: string): Promise<NamedEvidence[]> {
  const { notBundle, splitBundles } = await import("../decode/provenance-bundle.js");
  const bytes = await ofKind(files, path, "--provenance", MAX_BUNDLE_BYTES);
  const texts = bytes && files.decoded(path, () => splitBundles(bytes));
  if (bytes === undefined || texts === undefined) return [];
  texts.forEach((text, index) => {
    const why = notBundle(text);
    if (why !== null) files.fault(path, texts.length === 1 ? why : `bundle ${index + 1}: ${why}`);
  });
  const nameAt = (index: number): string => (texts.length === 1 ? nameOf(path) : `${nameOf(path)}[${index}]`);
  return texts.map((text, index) => namedSharing(nameAt(index), text, { bytes }));
}

/**
 * Returns the verifier of provenance as an option. Throws {@link UsageError} if the policy demands provenance and the
 * package is missing. `mayChange` means that a later policy may demand provenance: the package is then loaded if it is
 * installed.
 */
export async function verifierFor(
  policy: Policy | undefined,
  mayChange = false,
): Promise<Pick<VerifyOptions, "provenanceVerifier">> {
  const isDemanded = policy !== undefined && demandsProvenance(policy);
  if (!isDemanded && !mayChange) return {};
  const { sigstoreVerifier } = await import("../provenance/index.js");
  try {
    return { provenanceVerifier: await sigstoreVerifier() };
  } catch (error) {
    // The error is recognised by its name, since it comes from another copy of the library.
    if (!(error instanceof Error) || error.name !== "ProvenanceError") throw error;
    if (!isDemanded) return {};
    throw new UsageError([error.message]);
  }
}

/**
 * Returns the bundles of {@link readProvenance} as JSON texts, for commands that run for a long time under one policy.
 * If the policy demands provenance, a missing bundle is a fault, since every verification would fail.
 */
export async function demandedProvenance(
  files: InputFiles,
  paths: readonly string[],
  policy: Policy | undefined,
): Promise<readonly string[]> {
  const { provenance = [] } = await readProvenance(files, paths);
  const demanding = policy && demandingDeployment(policy);
  if (demanding !== undefined && paths.length === 0)
    throw new UsageError([
      `--provenance FILE… is required: the deployment ${shownName(demanding.name)} of the policy demands provenance, ` +
        "the Sigstore bundles of its build",
    ]);
  return provenance.map((piece) => (piece as NamedEvidence).value as string);
}
