/** The statement of GitHub on an immutable release (decode/README.md, "GitHub's releases"). */
import { FaultList, type Reading } from "../errors.js";
import { parseJson } from "./json.js";
import { MemberReader } from "./json-members.js";
import { placeOf, text } from "./shapes.js";
import type { ProvenanceBundle } from "./provenance-bundle.js";

/** Types of the statement. */
export const RELEASE_TYPES = [
  "https://in-toto.io/attestation/release/v0.1",
  "https://in-toto.io/attestation/release/v0.2",
] as const;

export function isReleaseType(type: string): boolean {
  return RELEASE_TYPES.some((each) => each === type);
}

/** A release, as the predicate of the statement names it. */
export interface GithubRelease {
  /** The repository as `owner/name`. */
  readonly repository: string;
  /** The number of the repository in decimal digits. It stays when the repository is renamed. */
  readonly repositoryId: string;
  readonly tag: string;
}

/** Returns the subject alternative name of the certificate for releases of github.com, or of a tenant of ghe.com. */
export function releaseName(tenant = "dotcom"): string {
  return `https://${tenant}.releases.github.com`;
}

/** Reads the predicate of a statement of one of {@link RELEASE_TYPES}. */
export function readGithubRelease({ payload }: Pick<ProvenanceBundle, "payload">): Reading<GithubRelease> {
  const faults = new FaultList();
  const predicate = MemberReader.of(parseJson(payload), placeOf(faults, "statement"))?.nested("predicate");
  const [repository, repositoryId, tag] = ["repository", "repositoryId", "tag"].map((name) =>
    predicate?.read(name, text),
  );
  return { value: { repository, repositoryId, tag }, faults };
}
