/** Genuine statements of GitHub on releases (test-vectors/provenance), and a lab enclave that runs a file of each. */
import { fromHex } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import { type Policy, parsePolicy } from "../../src/index.js";
import { Forge, type ForgedEvidence, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { AT } from "./provenance.js";
import { readVectorText } from "./vectors.js";

export const ROOT_FILE = "provenance/github-trusted-root.json";
export const ROOT = readVectorText(ROOT_FILE);

export interface GenuineRelease {
  readonly version: "v0.1" | "v0.2";
  readonly file: string;
  readonly text: string;
  readonly release: { readonly repository: string; readonly repositoryId: string; readonly tag: string };
  readonly signedAt: string;
  readonly digest: string;
  readonly lab: Forge;
  readonly evidence: ForgedEvidence;
}

function genuine(
  version: GenuineRelease["version"],
  release: GenuineRelease["release"],
  signedAt: string,
  digest: string,
): GenuineRelease {
  const file = `provenance/github-release-${version}.sigstore.json`;
  const lab = new Forge({ pivotHash: fromHex(digest)! });
  const evidence = forgeEvidence({ lab, at: AT });
  return { version, file, text: readVectorText(file), release, signedAt, digest, lab, evidence };
}

export const GENUINE_RELEASES = [
  genuine(
    "v0.1",
    { repository: "bdehamer/delme", repositoryId: "905988044", tag: "v6" },
    "2025-05-30T20:13:39.000Z",
    "e15b593c6ab8d7725a3cc82226ef816cac6bf9c70eed383bd459295cc65f5ec3",
  ),
  genuine(
    "v0.2",
    { repository: "jdx/communique", repositoryId: "1155542902", tag: "v0.1.9" },
    "2026-03-02T09:52:15.000Z",
    "fabce7391876734f9574e5dd3a247b65ce507d234a6c75991b24c903b24c470d",
  ),
] as const;

/** A policy of the enclave with these entries; members of `undefined` are left out. */
export function releasePolicyFile({ lab, evidence }: GenuineRelease, ...entries: readonly object[]): JsonObject {
  const deployment = { ...labDeployment(lab), provenance: entries };
  return JSON.parse(JSON.stringify(labPolicy(evidence.anchorPem, [deployment as unknown as JsonObject]))) as JsonObject;
}

export function releasePolicy(of: GenuineRelease, ...entries: readonly object[]): Policy {
  return parsePolicy(JSON.stringify(releasePolicyFile(of, ...entries)), { readFile: () => ROOT });
}

/** The entry that pins all of the release, with other members. */
export function releaseDemand({ release }: GenuineRelease, members: object = {}): object {
  return { githubRelease: { ...release, ...members }, trustedRoot: { file: "root.json" } };
}
