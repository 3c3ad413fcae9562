/** Compares manifests and envelopes. */
import { toHex } from "../bytes.js";
import { isJsonObject, parseJson } from "../decode/json.js";
import { imageDigestText } from "../decode/manifest/image-digest.js";
import {
  type Approval,
  type EnclaveMeasurements,
  MANIFEST_VERSIONS,
  type Manifest,
  type ManifestEnvelope,
  type ManifestVersion,
  type MemberSet,
  type Namespace,
  type PatchSet,
  type Pivot,
  type PivotManifest,
  type QuorumMember,
  type Volume,
  type Workload,
  type WorkloadManifest,
  approvalNames,
  decodeManifest,
  decodeManifestEnvelope,
} from "../decode/manifest/index.js";
import { attempt } from "../errors.js";
import { type Comparer, bytes, entries, ignored, members, ordered, toggle, value } from "./comparers.js";
import {
  type Content,
  type ContentObject,
  type Rules,
  anyCase,
  contentOf,
  keyed,
  memberText,
  rewritten,
} from "./content.js";
import { placeIn } from "./place.js";

/** A manifest or an envelope, with its JSON. */
export interface Encoded<T> {
  readonly value: T;
  /** The JSON, or null for Borsh, in which each value has only one encoding. */
  readonly json: Content | null;
}

/** Decodes a manifest. Throws `MalformedError`. */
export function encodedManifest(encoding: Uint8Array): Encoded<Manifest> {
  const manifest = decodeManifest(encoding);
  const json = jsonOf(encoding);
  return { value: manifest, json: json && rewritten(json, MANIFEST_RULES) };
}

/** Decodes an envelope. Throws `MalformedError`. */
export function encodedEnvelope(encoding: Uint8Array): Encoded<ManifestEnvelope> {
  const envelope = decodeManifestEnvelope(encoding);
  const json = jsonOf(encoding);
  if (json === null) return { value: envelope, json };
  const { manifestSet, shareSet } = approvalNames(envelope.manifest.version, json);
  const { [manifestSet]: manifestSetApprovals, [shareSet]: shareSetApprovals, ...rest } = json;
  const named = { ...rest, manifestSetApprovals: manifestSetApprovals!, shareSetApprovals: shareSetApprovals! };
  return { value: envelope, json: rewritten(named, ENVELOPE_RULES) };
}

function jsonOf(encoding: Uint8Array): ContentObject | null {
  const json = attempt(() => parseJson(encoding, { numbers: "literal" })).value;
  return isJsonObject(json) ? (json as ContentObject) : null;
}

/** Returns the JSON of both, or the decoded values if one has no JSON. */
export function contentsOf<T>(before: Encoded<T>, after: Encoded<T>): readonly [Content, Content] {
  if (before.json !== null && after.json !== null) return [before.json, after.json];
  return [decodedContent(before.value), decodedContent(after.value)];
}

/** Returns the decoded value as a tree. For a manifest, the tree has what an approval signs. */
export function decodedContent(value: unknown): Content {
  const content = contentOf(value);
  const isEnvelope = isJsonObject(value) && Object.hasOwn(value, "manifest");
  return rewritten(content, isEnvelope ? ENVELOPE_RULES : MANIFEST_RULES);
}

const SET_RULES: Rules = {
  members: (list) => keyed(list, (entry) => keyOf(memberText(entry, "pubKey")), MEMBER_RULES),
};
const MEMBER_RULES: Rules = { pubKey: hexOf };
const APPROVAL_RULES: Rules = { signature: hexOf, member: MEMBER_RULES };
const approvalRule = (list: Content): Content =>
  keyed(list, (entry) => keyOf(memberText(entry, "member", "pubKey")), APPROVAL_RULES);

const MANIFEST_RULES: Rules = {
  namespace: { quorumKey: hexOf },
  pivot: { hash: hexOf },
  manifestSet: SET_RULES,
  shareSet: SET_RULES,
  patchSet: SET_RULES,
  enclave: { pcr0: hexOf, pcr1: hexOf, pcr2: hexOf, pcr3: hexOf, awsRootCertificate: hexOf },
  workloads: (list) => keyed(list, (entry) => memberText(entry, "name"), {}),
};
const ENVELOPE_RULES: Rules = {
  manifest: MANIFEST_RULES,
  manifestSetApprovals: approvalRule,
  shareSetApprovals: approvalRule,
};

function hexOf(content: Content): Content {
  return anyCase(content);
}

function keyOf(hex: string): string {
  return hex.toLowerCase().replace(/^0x/, "");
}

const compareMember = members<QuorumMember>({ alias: value("member.alias"), pubKey: ignored });

function memberSet(what: "manifest-set" | "share-set"): Comparer<MemberSet> {
  return members<MemberSet>({
    threshold: ordered(`${what}.threshold`),
    members: entries<QuorumMember>(`${what}.member`, ({ pubKey }) => toHex(pubKey), {
      show: memberName,
      both: compareMember,
    }),
  });
}

function memberName({ alias, pubKey }: QuorumMember): string {
  return `${alias} ${toHex(pubKey)}`;
}

const comparePatchSet = members<PatchSet>({
  threshold: ordered("patch-set.threshold"),
  members: entries("patch-set.member", ({ pubKey }) => toHex(pubKey), {}),
});

/** Compares namespaces. Nonces are compared only if the name is the same. */
const compareNamespace: Comparer<Namespace> = (before, after, place) =>
  members<Namespace>({
    name: value("namespace"),
    nonce: before?.name === after?.name ? ordered("manifest.nonce") : value("manifest.nonce"),
    quorumKey: bytes("quorum-key"),
  })(before, after, place);

const compareEnclave = members<EnclaveMeasurements>({
  pcr0: bytes("image.pcr0"),
  pcr1: bytes("image.pcr1"),
  pcr2: bytes("image.pcr2"),
  pcr3: bytes("role"),
  awsRootCertificate: bytes("aws-root"),
  qosCommit: value("image.qos-commit"),
});

const comparePivot = members<Pivot>({
  hash: bytes("application"),
  restart: value("restart-policy"),
  args: value("arguments", asJson),
  bridgeConfig: value("bridge", asJson),
  debugMode: toggle("debug.application"),
  env: byName(
    entries<Named<string>>("environment", ([name]) => name, {
      show: assignment,
      both: value("environment", assignment),
    }),
  ),
});

type Named<T> = readonly [name: string, value: T];

function byName<T>(compare: Comparer<readonly Named<T>[]>): Comparer<ReadonlyMap<string, T>> {
  return (before, after, place) => compare([...(before ?? [])], [...(after ?? [])], place);
}

function assignment([name, text]: Named<string>): string {
  return `${name}=${text}`;
}

function asJson(item: unknown): string {
  return JSON.stringify(item);
}

const compareWorkloads = entries<Workload>("workload", ({ name }) => name, {
  show: ({ name, imageDigest }) => `${name} ${imageDigestText(imageDigest)}`,
  both: (before, after, place) =>
    value("workload.image", imageDigestText)(before?.imageDigest, after?.imageDigest, placeIn(place, "image")),
  inside: members<Workload>({
    name: ignored,
    imageDigest: ignored,
    restart: value("restart-policy"),
    mounts: value("workload.mounts", asJson),
  }),
});

/** Returns the volumes as text. They are sorted, because their order has no meaning. */
function volumesText(volumes: ReadonlyMap<string, Volume>): string {
  return asJson(Object.fromEntries([...volumes].sort(([one], [other]) => (one < other ? -1 : 1))));
}

/** The members of all versions. */
type AllMembers = Omit<PivotManifest, "version" | "workloads"> &
  Omit<WorkloadManifest, "version" | "pivot"> & { readonly version: ManifestVersion };
type AnyManifest = { readonly [K in keyof AllMembers]?: AllMembers[K] | undefined };

/** Compares versions by their order in time. */
const compareVersion = value<ManifestVersion>("manifest.version", String, (before = "v0", after = "v0") =>
  MANIFEST_VERSIONS.indexOf(after) < MANIFEST_VERSIONS.indexOf(before) ? "lower" : "changed",
);

const compareMembers = members<AnyManifest>({
  manifestSet: memberSet("manifest-set"),
  shareSet: memberSet("share-set"),
  patchSet: comparePatchSet,
  namespace: compareNamespace,
  enclave: compareEnclave,
  pivot: comparePivot,
  workloads: compareWorkloads,
  volumes: value("volumes", volumesText),
  clientTimeoutMs: value("client-timeout"),
  poolSize: value("pool-size"),
  dns: members({ resolvers: value<readonly string[]>("dns", asJson) }),
  version: compareVersion,
});

export const compareManifests: Comparer<Manifest> = compareMembers;

const compareApprovals = entries<Approval>("approval", ({ member }) => toHex(member.pubKey), {
  show: ({ member }) => memberName(member),
  both: members<Approval>({ signature: bytes("approval"), member: compareMember }),
});

export const compareEnvelopes: Comparer<ManifestEnvelope> = members<ManifestEnvelope>({
  manifest: compareManifests,
  manifestSetApprovals: compareApprovals,
  shareSetApprovals: compareApprovals,
});
