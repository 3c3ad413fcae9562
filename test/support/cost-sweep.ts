/**
 * Generates, from genuine evidence of every kind, evidence in which one list is repeated up to a size. A list that the
 * evidence gains later is swept without a change here.
 */
import { fromBase64, toHex } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import { decodeManifestEnvelope } from "../../src/decode/manifest/index.js";
import type { ManifestVersion } from "../../src/decode/manifest/index.js";
import type { PolicyFile } from "../../src/index.js";
import { packBundle } from "../../src/bundle/index.js";
import { type ForgedEvidence, LAB_ADDRESS, labDeployment, labPolicy } from "../../src/lab/forge.js";
import type { ExtensionSpec } from "../../src/lab/pki.js";
import { LAB_WORKLOAD } from "../../src/lab/qos.js";
import { LabSigstore, type ProvenanceAlterations, labProvenancePin } from "../../src/lab/sigstore.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import { type Alterations, AT, NOW, forge, lab, put } from "../attacks/support.js";
import type { SweptInput } from "./cost-child.js";
import { IS_LONG } from "./long.js";

/** What one list is repeated with. */
const HOWS = ["the same", "different in one member", "different", "different and short", "empty"] as const;
export type How = (typeof HOWS)[number];
/** The most items, and the most bytes, of a size. */
const SHORT: readonly How[] = ["different", "different and short", "empty"];
const howsOf = (all: readonly How[]): readonly How[] => (IS_LONG ? all : all.filter((how) => SHORT.includes(how)));
/** Bundles and entries, which take minutes: that their cost is in proportion is of test/cost-growth.test.ts. */
const large = (size: number): Pick<Kind, "size" | "textSize" | "hows"> =>
  IS_LONG ? { size } : { size: size / 4, textSize: size, hows: ["different and short"] };
export type Path = readonly (string | number)[];

/** The places of the lists in a value. Of several items the first is like the others. */
export function listsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  if (Array.isArray(value)) return value.length === 0 ? [] : [path, ...listsIn(value[0], [...path, 0])];
  return Object.entries(value).flatMap(([name, member]) => listsIn(member, [...path, name]));
}

export function withList<T>(value: T, [step, ...steps]: Path, change: (list: readonly unknown[]) => unknown[]): T {
  if (step === undefined) return change(value as readonly unknown[]) as T;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string | number, unknown>;
  copy[step] = withList(copy[step], steps, change);
  return copy as T;
}

/** More values are refused, whatever their size. */
const MOST_ITEMS = 260_000;

/** At most as long as JSON of so many characters, with bytes in hex. */
export function repeated(list: readonly unknown[], how: How, size: number): unknown[] {
  const fixed = how === "the same" || how === "empty" ? list.map((item) => ITEMS[how](item, 0)) : null;
  const itemAt = (index: number): unknown =>
    fixed === null ? ITEMS[how](list[index % list.length], index) : fixed[index % fixed.length];
  const first = JSON.stringify(
    list.map((_, index) => itemAt(list.length * 100_000 + index)),
    hexOf,
  );
  const length = Math.min(MOST_ITEMS, Math.floor((size * list.length) / (first.length - 1)));
  return Array.from({ length }, (_, index) => itemAt(index));
}

const hexOf = (_: string, value: unknown): unknown => (value instanceof Uint8Array ? toHex(value) : value);

const ITEMS: Readonly<Record<How, (item: unknown, index: number) => unknown>> = {
  "the same": (item) => item,
  "different in one member": (item, index) => {
    let isDone = false;
    return leaves(item, (leaf) => (isDone ? leaf : ((isDone = typeof leaf !== "boolean"), other(leaf, index))));
  },
  different: (item, index) => leaves(item, (leaf) => other(leaf, index)),
  "different and short": (item, index) => leaves(item, (leaf) => short(leaf, index)),
  empty: (item) => (isJson(item) && !hasVariant(item) ? emptyOf(item) : leaves(item, emptyOf)),
};

/** The variants of a bridge, which Borsh has a number for and no other text. */
const VARIANTS: readonly unknown[] = ["server", "client"];
const hasVariant = (item: unknown): boolean =>
  typeof item === "object" && item !== null && Object.values(item).some((member) => VARIANTS.includes(member));

function emptyOf(value: unknown): unknown {
  if (value instanceof Uint8Array) return new Uint8Array();
  if (value === null) return null;
  return Array.isArray(value) ? [] : ({ string: "", number: 0, object: {} } as Record<string, unknown>)[typeof value];
}

/** What the lab encodes, with bytes in it, keeps its members. */
function isJson(item: unknown): boolean {
  return !JSON.stringify(item, (_, value: unknown) => (value instanceof Uint8Array ? "\u0000" : value)).includes(
    "\\u0000",
  );
}

function leaves(value: unknown, change: (leaf: unknown) => unknown): unknown {
  if (VARIANTS.includes(value)) return value;
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return change(value);
  if (Array.isArray(value)) return value.map((item) => leaves(item, change));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, leaves(member, change)]));
}

/** Of the same length and alphabet, where it is long enough: decimal digits are hex and base64. */
function other(leaf: unknown, index: number): unknown {
  const digits = String(index).padStart(6, "0");
  if (typeof leaf === "string") {
    const at = Math.max(0, Math.floor(leaf.length / 2) - 3);
    return leaf.slice(0, at) + digits + leaf.slice(at + 6);
  }
  if (typeof leaf === "number") return index;
  if (!(leaf instanceof Uint8Array)) return leaf;
  const copy = Uint8Array.from(leaf);
  copy.set([index >> 16, (index >> 8) & 255, index & 255].slice(0, copy.length), Math.max(0, copy.length - 3));
  return copy;
}

function short(leaf: unknown, index: number): unknown {
  if (leaf instanceof Uint8Array) return Uint8Array.of(index >> 16, (index >> 8) & 255, index & 255);
  if (typeof leaf === "string") return /^\d+(?:\.\d+)+$/.test(leaf) ? `2.999.${index}` : String(index);
  return typeof leaf === "number" ? index : leaf;
}

/** One kind of evidence: its genuine value, and how an input is made of a value with a list that is repeated. */
interface Kind {
  readonly name: string;
  readonly door: "swept" | "sweptBundle" | "sweptEntry";
  readonly value: unknown;
  /** The room for a list in the largest accepted input. */
  readonly size: number;
  /** The size of what it is compared with. Default: the same. A quarter has room for as many values as the whole. */
  readonly textSize?: number;
  /** Default: all. */
  readonly hows?: readonly How[];
  readonly input: (value: never) => SweptInput;
  /** Genuine evidence of the size, in which a text is long. */
  readonly text: (size: number) => SweptInput;
}

export interface Sweep {
  readonly name: string;
  readonly kind: Kind;
  readonly hows: readonly How[];
  readonly input: (how: How) => SweptInput;
}

export function sweeps(): Sweep[] {
  return KINDS.flatMap((kind) =>
    listsIn(kind.value).map((path) => ({
      name: `${kind.name}: ${path.join(".") || "the list"}`,
      kind,
      hows: howsOf(kind.hows ?? HOWS),
      input: (how) => kind.input(withList(kind.value, path, (list) => repeated(list, how, kind.size)) as never),
    })),
  );
}

const MIB = 1024 * 1024;
const sigstore = new LabSigstore();
const privateSigstore = new LabSigstore({ kind: "private" });
const genuine = forge();
const long = (size: number): string => "x".repeat(Math.max(0, size));

function policyOf({ anchorPem }: ForgedEvidence, version: ManifestVersion = "v2", of = sigstore): JsonObject {
  const pin = labProvenancePin({ json: JSON.stringify(of.trustedRoot) });
  const provenance = version === "v3" ? [{ ...pin, of: { workload: LAB_WORKLOAD } }] : [pin];
  return labPolicy(anchorPem, [{ ...labDeployment(lab, version), provenance }]);
}

const swept = (evidence: object | string, policy = policyOf(genuine)): SweptInput => ({
  evidence,
  policy,
  now: NOW.toISOString(),
});

function build(alter: ProvenanceAlterations = {}, of = sigstore): JsonObject {
  return JSON.parse(of.attest({ at: AT, digest: lab.pivotHash, alter })) as JsonObject;
}

const built = build();
const ofBuild = (bundle: JsonObject, of = sigstore): SweptInput =>
  swept({ bootProofs: [genuine.bootProof], provenance: [bundle] }, policyOf(genuine, "v2", of));

/** Of an enclave whose evidence is altered before it is signed. */
function forgedOf(alterations: Alterations): SweptInput {
  const made = forge({ ...alterations });
  const evidence = { bootProofs: [made.bootProof], appProofs: made.appProofs, provenance: [built] };
  return swept(evidence, policyOf(made, alterations.version));
}

const longArgument = (size: number): SweptInput =>
  forgedOf({ alterManifest: { manifest: (all) => ({ ...all, pivot: { ...all.pivot, args: [long(size)] } }) } });

/** In the boot proof it is there twice, in base64. */
const MANIFEST = Math.floor((3 / 8) * MIB) - 20_000;
const manifests = (["v0", "v1", "v2", "v3"] as const).map((version): Kind => {
  const name = version === "v3" ? "workloadManifest" : "manifest";
  return {
    name: `manifest ${version}`,
    door: "swept",
    value: forge({ version }).manifest,
    size: MANIFEST,
    input: (value) => forgedOf({ version, alterManifest: { [name]: () => value } }),
    text: longArgument,
  };
});

const envelope = decodeManifestEnvelope(fromBase64(genuine.bootProof["qosManifestEnvelopeB64"] as string)!);
const approvals: Kind = {
  name: "manifest envelope",
  door: "swept",
  value: { manifestSetApprovals: envelope.manifestSetApprovals, shareSetApprovals: envelope.shareSetApprovals },
  size: 2 * MANIFEST,
  input: (value: object) => forgedOf({ alterManifest: { envelope: (all) => ({ ...all, ...value }) } }),
  text: (size) => longArgument(size / 2),
};

/** A larger document is refused. */
const DOCUMENT = 24_000;
let cabundle: readonly Uint8Array[] = [];
forge({ alterDocument: { cabundle: (all) => (cabundle = all) as Uint8Array[] } });
const document: Kind = {
  name: "attestation document",
  door: "swept",
  value: { cabundle },
  size: DOCUMENT,
  input: (value: { cabundle: Uint8Array[] }) => forgedOf({ alterDocument: { cabundle: () => value.cabundle } }),
  text: () => forgedOf({}),
};

const derivation = JSON.parse((genuine.appProofs[0] as { proofPayload: string }).proofPayload) as JsonObject;
const payload: Kind = {
  name: "payload of an app proof",
  door: "swept",
  value: { ...derivation, list: [{ name: "item 000000", values: ["item 000000", 7] }] },
  size: MIB - 20_000,
  input: (value: JsonObject) => forgedOf({ payloads: [value] }),
  text: (size) => forgedOf({ payloads: [{ ...derivation, list: [long(size)] }] }),
};

/** As the service describes one. */
const vote = {
  id: "vote-000000",
  userId: "user-000000",
  user: { userTags: ["tag-000000"] },
  selection: "VOTE_SELECTION_APPROVED",
};
const pieces = {
  bootProofs: [genuine.bootProof],
  appProofs: genuine.appProofs,
  activity: { ...genuine.activity, votes: [vote] },
  provenance: [built],
};
const labelled = (size: number): object => ({
  ...pieces,
  bootProofs: [{ ...genuine.bootProof, enclaveApp: long(size) }],
});
const evidence: Kind = {
  name: "evidence",
  door: "swept",
  value: pieces,
  size: MIB,
  input: (value: object) => swept(value),
  text: (size) => swept(labelled(size)),
};
const entry: Kind = {
  ...evidence,
  name: "entry of an audit",
  door: "sweptEntry",
  ...large(16 * MIB - 40_000),
  input: (value: object) => swept(JSON.stringify(value)),
  text: (size) => swept(JSON.stringify(labelled(size))),
};

const longPredicate = (size: number): SweptInput =>
  ofBuild(build({ statement: (all) => ({ ...all, predicate: { x: long(size * (3 / 4)) } }) }));
let statementValue: JsonObject = {};
build({ statement: (all) => (statementValue = all) });
const statement: Kind = {
  name: "statement of a build",
  door: "swept",
  value: statementValue,
  size: 700_000,
  input: (value: JsonObject) => ofBuild(build({ statement: () => value })),
  text: longPredicate,
};

let extensionsValue: readonly ExtensionSpec[] = [];
build({ extensions: (all) => (extensionsValue = all) });
const extensions: Kind = {
  name: "certificate of a build",
  door: "swept",
  value: { extensions: extensionsValue },
  // In DER an extension has a third of that.
  size: 2_000_000,
  // An extension has a name.
  hows: ["the same", "different in one member", "different", "different and short"],
  input: (value: { extensions: ExtensionSpec[] }) => {
    const { certificate: leaf } = build({ extensions: () => value.extensions })["verificationMaterial"] as JsonObject;
    return ofBuild(put("verificationMaterial.certificate", leaf!)(built));
  },
  text: () => longPredicate(MIB - 20_000),
};

const { verificationMaterial, ...rest } = built as { verificationMaterial: JsonObject };
const { certificate, ...logged } = verificationMaterial;
const [{ inclusionProof, ...promised }] = logged["tlogEntries"] as unknown as [JsonObject];
void inclusionProof;
/** Of version 0.1, whose entries may have a promise alone: the cheapest to make. */
const chain: Kind = {
  name: "provenance bundle with a chain",
  door: "swept",
  value: {
    ...rest,
    mediaType: "application/vnd.dev.sigstore.bundle+json;version=0.1",
    verificationMaterial: { tlogEntries: [promised], x509CertificateChain: { certificates: [certificate!] } },
  },
  size: MIB - 20_000,
  input: (value: JsonObject) => ofBuild(value),
  text: longPredicate,
};
const timestamped: Kind = {
  name: "provenance bundle with a timestamp",
  door: "swept",
  value: build({}, privateSigstore),
  size: MIB - 20_000,
  input: (value: JsonObject) => ofBuild(value, privateSigstore),
  text: longPredicate,
};

/** A checkpoint is a text: its lines, and those of its signatures, are its lists. */
const CHECKPOINT = "verificationMaterial.tlogEntries.0.inclusionProof.checkpoint.envelope";
const [head = "", signatures = ""] = (
  logged["tlogEntries"] as unknown as [{ inclusionProof: { checkpoint: { envelope: string } } }]
)[0].inclusionProof.checkpoint.envelope.split("\n\n");
const checkpoint: Kind = {
  name: "checkpoint of a log",
  door: "swept",
  value: { lines: head.split("\n"), signatures: signatures.trim().split("\n") },
  size: MIB - 40_000,
  input: (value: { lines: string[]; signatures: string[] }) =>
    ofBuild(put(CHECKPOINT, `${value.lines.join("\n")}\n\n${value.signatures.join("\n")}\n`)(built)),
  text: longPredicate,
};

const plainPolicy = policyOf(genuine);
const { bundle: packed } = await packBundle(pieces, {
  policy: plainPolicy as unknown as PolicyFile,
  now: NOW,
  expected: { organizationId: LAB_ADDRESS.organizationId },
  provenanceVerifier: await sigstoreVerifier(),
});
const bundle: Kind = {
  name: "bundle",
  door: "sweptBundle",
  value: JSON.parse(JSON.stringify(packed)),
  ...large(8 * MIB - 60_000),
  input: (value: object) => swept(JSON.stringify(value), plainPolicy),
  text: (size) => swept(JSON.stringify({ ...packed, ...labelled(size) }), plainPolicy),
};

export const KINDS: readonly Kind[] = [
  ...manifests,
  approvals,
  document,
  payload,
  evidence,
  statement,
  extensions,
  chain,
  timestamped,
  checkpoint,
  bundle,
  entry,
];
