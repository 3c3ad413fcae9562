/** Reader of the pin `provenance`, and reasons for what it leaves open (appraise/README.md, "Provenance"). */
import { otherMembers } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject, jsonLines, parseJson } from "../decode/json.js";
import { SHA1_LENGTH } from "../decode/lengths.js";
import {
  type Place,
  type Shape,
  either,
  hex,
  matching,
  oneOf,
  optional,
  refined,
  sizedText,
} from "../decode/shapes.js";
import { attempt, cut, faultText } from "../errors.js";
import {
  type DemandedRelease,
  type GithubReleaseDemand,
  PROVENANCE_QUESTIONS,
  type ProvenanceDemand,
  type ProvenanceQuestion,
  type TrustedRoot,
  type WorkflowDemand,
} from "../verify/provenance-demand.js";
import { arrayOf, fileObject, namedFile, oneOrMore } from "./shapes.js";

type OneOrMore<T> = T | readonly T[];
/** A trusted root in the policy, as a file or as its text. */
export type ProvenanceRoot = { readonly file: string } | { readonly json: string };

/** An entry of the pin, as the file has it. */
export type ProvenanceFile = WorkflowFile | GithubReleaseFile;

interface AnyFile {
  /** Binary whose digest in the manifest is demanded: the application's (default), or that of a workload. */
  readonly of?: "pivotHash" | { readonly workload: string };
  readonly trustedRoot: OneOrMore<ProvenanceRoot>;
}

/** An entry on an immutable release of GitHub. */
export interface GithubReleaseFile extends AnyFile {
  readonly githubRelease: DemandedRelease;
}

/** An entry on the run of a build. */
export interface WorkflowFile
  extends AnyFile, Omit<WorkflowDemand, "workload" | "trustedRoots" | "workflow" | "ref" | "predicateTypes" | "open"> {
  readonly workflow?: OneOrMore<string>;
  readonly ref?: OneOrMore<string>;
  readonly predicateTypes: OneOrMore<string>;
  readonly open?: readonly ProvenanceQuestion[];
}

const GITHUB_ISSUER = "https://token.actions.githubusercontent.com";

/** Whether the issuer is GitHub's. Enterprises have an issuer with a path. */
function isGithub(issuer: string): boolean {
  return issuer === GITHUB_ISSUER || issuer.startsWith(`${GITHUB_ISSUER}/`);
}

/** Returns the text of a file that the policy names, or throws. */
type ReadPolicyFile = (path: string) => string;

const MAX_ENTRIES = 16;
const MAX_ROOTS = 16;
const MAX_TEXT = 1024;
const MAX_ROOT_BYTES = 1024 * 1024;

const value = sizedText(1, MAX_TEXT);
const values = oneOrMore(value);
/** The only pattern of a ref, which is a star after `refs/tags/` or `refs/heads/`. */
const ANY_REF = /^refs\/(?:tags|heads)\/\*$/;

const ref = refined(value, (read, place) =>
  read.includes("*") && !ANY_REF.test(read)
    ? place.fault<string>('expected a whole ref, or one of the patterns "refs/tags/*" and "refs/heads/*"')
    : read,
);

const rootFile: Shape<ProvenanceRoot> = either(
  namedFile("trustedRoot", value),
  fileObject<{ readonly json: string }>({ json: sizedText(1, MAX_ROOT_BYTES) }),
  '{"file": …} or {"json": …}',
);

type RootsRead<T> = Omit<T, "trustedRoot"> & { readonly trustedRoot: readonly ProvenanceRoot[] };
type ReleaseMembers = RootsRead<GithubReleaseFile>;

interface WorkflowMembers extends RootsRead<
  Omit<WorkflowFile, "githubRelease" | "workflow" | "ref" | "predicateTypes">
> {
  readonly githubRelease?: never;
  readonly workflow?: readonly string[];
  readonly ref?: readonly string[];
  readonly predicateTypes: readonly string[];
}

const common = {
  of: optional(
    either(
      oneOf("pivotHash"),
      fileObject<{ readonly workload: string }>({ workload: value }),
      '"pivotHash" or {"workload": …}',
    ),
  ),
  trustedRoot: oneOrMore(rootFile),
} as const;
const repositoryId = matching(/^[0-9]{1,32}$/, "decimal digits");

const release = fileObject<ReleaseMembers>({
  ...common,
  githubRelease: fileObject<DemandedRelease>({
    repository: matching(/^[\w-]{1,100}\/[\w.-]{1,100}$/, "owner/name"),
    repositoryId,
    tag: optional(value),
    tenant: optional(
      matching(/^(?!dotcom$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, "one DNS label in lower case other than dotcom"),
    ),
  }),
});

const workflow = fileObject<Omit<WorkflowMembers, "githubRelease">>({
  ...common,
  issuer: value,
  repository: optional(value),
  repositoryId: optional(repositoryId),
  workflow: optional(values),
  ref: optional(oneOrMore(ref)),
  signer: optional(value),
  identity: optional(value),
  runner: optional(value),
  trigger: optional(value),
  commit: optional(hex(SHA1_LENGTH)),
  predicateTypes: values,
  open: optional(arrayOf(oneOf(...PROVENANCE_QUESTIONS), { most: PROVENANCE_QUESTIONS.length })),
});

/** The kind of an entry depends on whether it has `githubRelease`, so that faults are those of its kind. */
const members: Shape<WorkflowMembers | ReleaseMembers> = {
  form: { either: [workflow, release] },
  read: (read, place) =>
    isJsonObject(read) && Object.hasOwn(read, "githubRelease") ? release.read(read, place) : workflow.read(read, place),
};

/** Returns the shape of the pin. `readFile` reads the files that it names. */
export function provenanceShape(readFile: ReadPolicyFile | undefined): Shape<readonly ProvenanceDemand[]> {
  const entry = refined(members, (read, place) => demandOf(read, place, readFile));
  // The schema has no `maxItems`: generators of types write out each length up to a small one, with all of the members.
  return { ...arrayOf(entry, { most: MAX_ENTRIES }), form: arrayOf(entry).form };
}

function demandOf(
  read: WorkflowMembers | ReleaseMembers,
  place: Place,
  readFile: ReadPolicyFile | undefined,
): ProvenanceDemand {
  const { of = "pivotHash", trustedRoot } = read;
  const roots = trustedRoot.flatMap((source, index) => {
    const at = trustedRoot.length === 1 ? place.at("trustedRoot") : place.at("trustedRoot").at(index);
    return rootsOf(source, at, readFile);
  });
  if (roots.length > MAX_ROOTS)
    place.at("trustedRoot").fault(`${roots.length} trusted roots, at most ${MAX_ROOTS} allowed`);
  const demanded = { workload: of === "pivotHash" ? null : of.workload, trustedRoots: Object.freeze(roots) };
  const demand = read.githubRelease === undefined ? workflowDemand(read, place) : releaseDemand(read, roots, place);
  return Object.freeze({ ...demand, ...demanded });
}

type Own<T> = Omit<T, "workload" | "trustedRoots">;

function releaseDemand(
  { githubRelease }: ReleaseMembers,
  roots: readonly TrustedRoot[],
  place: Place,
): Own<GithubReleaseDemand> {
  for (const { name } of roots.filter(({ thresholds }) => thresholds.inclusions > 0))
    place
      .at("trustedRoot")
      .fault(`${name}: demands entries of its logs, which no release of GitHub has: expected a root without tlogs`);
  return { githubRelease };
}

function workflowDemand(read: WorkflowMembers, place: Place): Own<WorkflowDemand> {
  const { open = [], ...rest } = otherMembers(read, "of", "trustedRoot");
  for (const fault of identityFaults(rest, open)) place.fault(fault);
  return { ...rest, open: Object.freeze([...open]) };
}

function identityFaults(read: Omit<WorkflowMembers, "trustedRoot">, open: readonly ProvenanceQuestion[]): string[] {
  const { repository, identity, issuer } = read;
  if (new Set(open).size < open.length) return ["open: a question twice"];
  const both = open.filter((question) => read[question] !== undefined);
  const contradictions = both.map((question) => `open: ${question} is pinned`);
  if (!isGithub(issuer)) {
    return [
      ...contradictions,
      ...(open.length > 0 ? [`open: allowed only with the issuer ${GITHUB_ISSUER}, which demands these members`] : []),
      ...((repository ?? identity) === undefined ? ["expected repository or identity: otherwise anyone may sign"] : []),
    ];
  }
  const missing = PROVENANCE_QUESTIONS.filter((question) => read[question] === undefined && !open.includes(question));
  return [
    ...contradictions,
    ...(repository === undefined ? [`expected repository: ${ANYONE.repository}`] : []),
    ...missing.map((question) => `expected ${question}: ${ANYONE[question]}; or say "open": ["${question}"]`),
    ...(read.ref ?? [])
      .filter((each) => !each.startsWith("refs/"))
      .map(
        (each) => `ref: GitHub's refs begin with refs/, for example ${JSON.stringify(cut(`refs/tags/${each}`, 80))}`,
      ),
  ];
}

const ANYONE = {
  repository: "anyone may call a public reusable workflow, which then signs for their repository",
  ref: "anyone who may push a branch signs as the repository",
  workflow: "any workflow of the repository passes",
} as const;

/** Source of a trusted root, which is a file or the text in the policy itself. */
interface Source {
  readonly name: string;
  readonly text: string;
  readonly file: TrustedRoot["file"];
}

function rootsOf(root: ProvenanceRoot, place: Place, readFile: ReadPolicyFile | undefined): TrustedRoot[] {
  // A place within the deployment stays the same if another deployment is dropped.
  const at = place.path.replace(/^deployments\[\d+\]\./, "");
  const source = "json" in root ? { name: at, text: root.json, file: null } : fileOf(root, place, readFile);
  if (source === undefined) return [];
  if (source.text.length > MAX_ROOT_BYTES) return refused(place, `larger than ${MAX_ROOT_BYTES} bytes`);
  return rootsIn(source, place);
}

function fileOf(
  { file: name }: { readonly file: string },
  place: Place,
  readFile?: ReadPolicyFile,
): Source | undefined {
  if (readFile === undefined) return place.fault('no files can be read here: give the root as {"json": …}');
  try {
    const text = readFile(name);
    return { name, text, file: Object.freeze({ name, text }) };
  } catch (error) {
    return place.fault(`${name} could not be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function refused(place: Place, message: string): TrustedRoot[] {
  place.fault(message);
  return [];
}

/** Reads the root in a file, or the root in each of its lines. */
function rootsIn(source: Source, place: Place): TrustedRoot[] {
  return jsonLines(source.text).flatMap(({ text, number }) => {
    const name = number === null ? source.name : `${source.name}, line ${number}`;
    const json = attempt(() => parseJson(text));
    if (json.value === undefined) return refused(place, `${name}: not strict JSON: ${faultText(json.faults)}`);
    return rootOf(json.value, { ...source, name, text }, place);
  });
}

const MEDIA_TYPE = /^application\/vnd\.dev\.sigstore\.trustedroot(?:\+json;version=0\.[12]|\.v0\.[12]\+json)$/;

/** Reads a root. Its thresholds depend on which lists of logs it has. */
function rootOf(json: JsonValue, { name, text, file }: Source, place: Place): TrustedRoot[] {
  const root: JsonObject = isJsonObject(json) ? json : {};
  const isRoot = typeof root["mediaType"] === "string" && MEDIA_TYPE.test(root["mediaType"]);
  const count = (member: string): number => (Array.isArray(root[member]) ? root[member].length : 0);
  if (!isRoot || count("certificateAuthorities") === 0)
    return refused(place, `${name}: not a trusted root of Sigstore`);
  if (count("tlogs") + count("timestampAuthorities") === 0)
    return refused(place, `${name}: without logs and timestamp authorities, so no time can be signed`);
  const thresholds = Object.freeze({
    inclusions: Math.min(count("tlogs"), 1),
    certificateTimestamps: Math.min(count("ctlogs"), 1),
    signedTimes: 1,
  });
  return [Object.freeze({ name, text, file, thresholds })];
}

/** Returns sentences for `policy.scope` on what an attacker could do with each weak entry. */
export function provenanceReasons(demands: readonly ProvenanceDemand[] = []): string[] {
  return demands.flatMap((demand, index) =>
    weaknesses(demand).map((words) => `the policy's provenance[${index}] ${words}`),
  );
}

function weaknesses(demand: ProvenanceDemand): string[] {
  if (demand.githubRelease === undefined) return workflowWeaknesses(demand);
  const { repository, tag } = demand.githubRelease;
  if (tag !== undefined) return [];
  return [`leaves the tag open: any release of ${cut(repository, MAX_SHOWN)} passes, old ones too`];
}

function workflowWeaknesses(demand: WorkflowDemand): string[] {
  const { repository, identity, ref: refs, signer } = demand;
  const isFree = (question: ProvenanceQuestion): boolean => demand[question] === undefined && identity === undefined;
  const anyBranch = refs?.includes("refs/heads/*") === true;
  return [
    ...(demand.open.includes("ref") || isFree("ref")
      ? [`leaves the ref open: ${ANYONE.ref} (${cut(repository ?? "", MAX_SHOWN)})`]
      : []),
    ...(anyBranch ? [`accepts any branch: ${ANYONE.ref} (${cut(repository ?? "", MAX_SHOWN)})`] : []),
    ...(demand.open.includes("workflow") || isFree("workflow") ? [`leaves the workflow open: ${ANYONE.workflow}`] : []),
    ...(signer !== undefined && !signer.includes("@")
      ? [`names the signer ${cut(signer, MAX_SHOWN)} without a ref: any version of that workflow passes`]
      : []),
    ...(isGithub(demand.issuer)
      ? UNNAMED.filter(([member]) => demand[member] === undefined).map(([, says]) => says)
      : []),
  ];
}

/** Members that a demand on a GitHub build may omit, and what then passes. */
const UNNAMED = [
  ["repositoryId", "leaves the repository's id open: whoever takes over the repository's name signs as the repository"],
  ["runner", "leaves the runner open: a build on anyone's own machine (self-hosted) passes"],
  ["trigger", "leaves the trigger open: a run that somebody started by hand or by an issue passes"],
] as const;

const MAX_SHOWN = 200;
