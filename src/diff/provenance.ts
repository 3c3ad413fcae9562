/** Compares provenance bundles: who built, from which source, with which statement. */
import { type BuildIdentity, buildWorkflow, readBuildIdentity } from "../decode/build-identity.js";
import { type GithubRelease, isReleaseType, readGithubRelease } from "../decode/github-release.js";
import { parseJson } from "../decode/json.js";
import { type ProvenanceStatement, decodeProvenanceBundle } from "../decode/provenance-bundle.js";
import { MalformedError, wholeOf } from "../errors.js";
import type { Turn } from "./changes.js";
import { type Comparer, ignored, members, value } from "./comparers.js";
import { type Content, type ContentObject, contentText } from "./content.js";
import type { Compared } from "./evidence.js";

export interface DecodedProvenance {
  readonly identity: BuildIdentity;
  readonly statement: ProvenanceStatement;
  /** The release that the statement names, or null if it names none. */
  readonly release: GithubRelease | null;
  /** The statement, with numbers as written. */
  readonly content: ContentObject;
  readonly json: ContentObject;
}

/** Decodes a provenance bundle. `json` has its numbers as written. Throws {@link MalformedError} with every fault. */
export function decodedProvenance(file: Uint8Array, json: Content): DecodedProvenance {
  const { certificate, payload, statement } = decodeProvenanceBundle(file);
  const { value: identity, faults } = readBuildIdentity(certificate);
  if (faults.length > 0)
    throw new MalformedError(
      "provenance",
      faults.map(({ message }) => ({ path: "certificate", message })),
    );
  const content = parseJson(payload, { numbers: "literal" }) as ContentObject;
  const release = isReleaseType(statement.predicateType) ? wholeOf(readGithubRelease({ payload })) : null;
  return { identity: identity as BuildIdentity, statement, release, content, json: json as ContentObject };
}

const TAG = "refs/tags/";

/** Classifies the change of a ref. A tag names one release, but a branch moves. */
function refTurn(before = "", after = ""): Turn {
  return before.startsWith(TAG) && !after.startsWith(TAG) ? "lower" : "changed";
}

const compareIdentities = members<BuildIdentity>({
  issuer: value("provenance.issuer"),
  repository: value("provenance.repository"),
  repositoryId: value("provenance.repository"),
  runner: value("provenance.runner"),
  ref: value("provenance.ref", String, refTurn),
  commit: value("provenance.commit"),
  trigger: value("provenance.trigger"),
  // `compareWorkflows` compares the build's configuration, without its ref, and the signer.
  buildConfig: ignored,
  signer: ignored,
  san: ignored,
});

/** Compares the workflows without refs. If the build's own workflow signed, its URI changes with each ref. */
const compareWorkflows: Comparer<BuildIdentity> = (before, after, place) => [
  ...value<BuildIdentity>("provenance.workflow", workflowText)(before, after, `${place}.buildConfig`),
  ...value<BuildIdentity>("provenance.signer", signerText("signer"))(before, after, `${place}.signer`),
  ...value<BuildIdentity>("provenance.signer", signerText("san"))(before, after, `${place}.san`),
];

function workflowText(identity: BuildIdentity): string {
  return buildWorkflow(identity) ?? identity.buildConfig ?? "none";
}

function signerText(member: "signer" | "san"): (identity: BuildIdentity) => string {
  return (identity) => {
    const signer = identity[member] ?? "none";
    return signer === identity.buildConfig ? "the workflow of the build" : signer;
  };
}

const compareReleases = members<GithubRelease>({
  repository: value("provenance.repository"),
  repositoryId: value("provenance.repository"),
  tag: value("provenance.ref"),
});

export function compareProvenance(before: DecodedProvenance, after: DecodedProvenance): Compared {
  const statements = [before.content, after.content] as const;
  const predicateType = value<string>("provenance.predicate-type");
  const identities = [before.identity, after.identity] as const;
  return {
    found: [
      ...compareIdentities(...identities, "certificate"),
      ...compareWorkflows(...identities, "certificate"),
      ...compareReleases(before.release ?? undefined, after.release ?? undefined, "statement.predicate"),
      ...predicateType(before.statement.predicateType, after.statement.predicateType, "statement.predicateType"),
      ...value<Content>("provenance.subject", contentText)(
        before.content["subject"],
        after.content["subject"],
        "statement.subject",
      ),
      ...value("provenance.material", materialText)(before.json, after.json, "verificationMaterial"),
    ],
    contents: [
      ["", restOf(before.json), restOf(after.json)],
      ["statement", ...statements],
    ],
  };
}

const MATERIAL = ["verificationMaterial", "dsseEnvelope"];

function materialText(json: ContentObject): string {
  return contentText(Object.fromEntries(Object.entries(json).filter(([name]) => MATERIAL.includes(name))));
}

function restOf(json: ContentObject): ContentObject {
  return Object.fromEntries(Object.entries(json).filter(([name]) => !MATERIAL.includes(name)));
}
