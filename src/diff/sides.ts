/** Decodes a file strictly, and makes the tree of it that `inspect` shows. */
import { decodeBundle, isSignedEnvelope, payloadIn } from "../bundle/file.js";
import { fromUtf8, toHex } from "../bytes.js";
import { Checklist } from "../checks.js";
import { type DocumentFacts, documentFacts } from "../appraise/facts.js";
import type { ParsePolicyOptions } from "../appraise/policy.js";
import { decodeAttestationDocument } from "../decode/attestation-document.js";
import { type BootProof, decodeBootProof } from "../decode/boot-proof.js";
import { buildWorkflow, readBuildIdentity } from "../decode/build-identity.js";
import { unwrap, withoutPrototype } from "../decode/input.js";
import { type JsonValue, copyJson, isJsonObject, parseJson } from "../decode/json.js";
import { plainNumbers } from "../decode/json-numbers.js";
import {
  type Manifest,
  type ManifestEnvelope,
  decodeManifest,
  decodeManifestEnvelope,
} from "../decode/manifest/index.js";
import { decodeProvenanceBundle } from "../decode/provenance-bundle.js";
import { type Fault, MalformedError, attempt, attemptLater, faultsIn } from "../errors.js";
import { type Described, UNKNOWN, besideIn } from "../inspect/described.js";
import {
  envelopeTree,
  inspectDocument,
  manifestTree,
  unknownInEnvelope,
  unknownInManifest,
} from "../inspect/documents.js";
import { inspectAppProofs, inspectBootProof } from "../inspect/evidence.js";
import { type EvidenceKind, type Recognised, kindSentence, recognise } from "../inspect/kinds.js";
import { inspectProvenance } from "../inspect/provenance.js";
import { type CommitmentKind, checkCommitment } from "../verify/commitment.js";
import { manifestHash } from "../verify/manifest-binding.js";
import { SPELLED } from "./compare.js";
import { type Content, type ContentObject, memberOf } from "./content.js";
import { type PolicyFacts, readPolicy } from "./policy.js";
import { COMMITMENT, MANIFEST_HASH, MATERIAL, type RULES, WORKFLOW } from "./rules.js";

export interface DiffInput {
  readonly file: Uint8Array;
  /** Reads the policy's trust anchor files, as in `parsePolicy`. */
  readonly readFile?: ParsePolicyOptions["readFile"];
  /** Parses the YAML of a release, with every scalar as text. */
  readonly readYaml?: (text: string) => Promise<unknown>;
}

type PinnedKind = "boot proof" | "attestation document";

/** Evidence as a tree, and what pins of policies are compared with. */
interface Pinnable {
  readonly tree: ContentObject;
  readonly facts: DocumentFacts;
}

/** An input after decoding. */
export type Side =
  | { readonly kind: Exclude<keyof typeof RULES, "bundle" | PinnedKind>; readonly tree: ContentObject }
  | ({ readonly kind: PinnedKind } & Pinnable)
  | { readonly kind: "bundle"; readonly tree: ContentObject; readonly policy: PolicyFacts | null }
  | { readonly kind: "policy"; readonly policy: PolicyFacts };

interface Given {
  readonly recognised: Recognised;
  /** Returns the JSON with numbers as written, so that 1 differs from 1.0. */
  readonly literal: () => Content;
  readonly input: DiffInput;
}

/** Readers by kind. Only these kinds can be compared. */
const READERS: { readonly [K in Side["kind"]]: (given: Given) => Promise<Omit<Side & { kind: K }, "kind">> } = {
  "boot proof": async ({ literal }) => readBootProof(literal()),
  "attestation document": async ({ recognised: { bytes } }) => readDocument(bytes, null),
  manifest: async ({ recognised: { bytes } }) => ({ tree: manifestOf(decodeManifest(bytes), jsonOf(bytes)) }),
  "manifest envelope": async ({ recognised: { bytes } }) => ({ tree: envelopeOf(bytes) }),
  policy: async ({ recognised: { bytes }, literal, input: { readFile } }) => ({
    policy: await readPolicy(bytes, literal(), readFile === undefined ? {} : { readFile }),
  }),
  release: async ({ recognised: { bytes, json }, literal, input }) => {
    const release = json !== undefined ? literal() : await readYaml(bytes, input);
    if (!isJsonObject(release)) throw new MalformedError("release", [{ path: "", message: "expected an object" }]);
    return { tree: { ...(release as ContentObject), ...spelledAs("release", release as Content) } };
  },
  bundle: async ({ recognised: { bytes }, literal }) => readBundle(bytes, literal() as ContentObject),
  "provenance bundle": async ({ recognised: { bytes, json }, literal }) => {
    if (json === undefined) throw notCompared("several provenance bundles, one on each line: give only one");
    return { tree: await provenanceTree(bytes, literal() as ContentObject) };
  },
};

async function readYaml(bytes: Uint8Array, input: DiffInput): Promise<JsonValue> {
  if (input.readYaml === undefined) throw notCompared("a release in YAML, which needs the option readYaml");
  return copyJson(await input.readYaml(fromUtf8(bytes) ?? ""));
}

/** Decodes an input. Throws {@link MalformedError} with every fault. */
export async function readSide(input: DiffInput): Promise<Side> {
  const recognised = recognise(input.file);
  if (recognised === null) throw notCompared("not recognised");
  const { kind, bytes } = recognised;
  const read = (READERS as Readonly<Partial<Record<EvidenceKind, (given: Given) => Promise<object>>>>)[kind];
  if (read === undefined) throw notCompared(kindSentence(kind));
  const literal = (): Content => parseJson(bytes, { numbers: "literal" });
  return { kind, ...(await read({ recognised, literal, input })) } as Side;
}

function notCompared(what: string): MalformedError {
  const message = `${what}; what can be compared: ${Object.keys(READERS).join(", ")}`;
  return new MalformedError("diff", [{ path: "", message }]);
}

function spelledAs(form: string, as: Content): ContentObject {
  return { [SPELLED]: { form, as } };
}

/** Returns the JSON of a manifest or an envelope, or null for Borsh. */
export function jsonOf(encoding: Uint8Array): ContentObject | null {
  const json = attempt(() => parseJson(encoding, { numbers: "literal" })).value;
  return isJsonObject(json) ? (json as ContentObject) : null;
}

/** Returns the side of a manifest. Without its JSON, the side has what an approval signs. */
export function manifestSide(manifest: Manifest, json: Content | null = null): Side {
  return { kind: "manifest", tree: json === null ? manifestTree(manifest) : manifestOf(manifest, json) };
}

export function envelopeSide(envelope: ManifestEnvelope): Side {
  return { kind: "manifest envelope", tree: envelopeTree(envelope) };
}

function manifestOf(manifest: Manifest, json: Content | null): ContentObject {
  return {
    ...manifestTree(manifest),
    [UNKNOWN]: json === null ? undefined : unknownInManifest(manifest, json),
    ...spelledAs(json === null ? "borsh" : "JSON", json),
  };
}

function envelopeOf(encoding: Uint8Array): ContentObject {
  const envelope = decodeManifestEnvelope(encoding);
  const json = jsonOf(encoding);
  return {
    ...envelopeTree(envelope),
    [UNKNOWN]: json === null ? undefined : unknownInEnvelope(envelope, json),
    ...spelledAs(json === null ? "borsh" : "JSON", json),
  };
}

/** The manifest that a boot proof has beside its document. */
interface Booted {
  readonly manifest: Manifest;
  readonly manifestHash: Uint8Array;
  readonly labels: BootProof["labels"];
}

/**
 * Reads a document with the kind of its commitment. Without a manifest, its user data is the manifest's hash. `shown`
 * is its tree, if it is inspected already.
 */
async function readDocument(encoding: Uint8Array, booted: Booted | null, shown?: Described): Promise<Pinnable> {
  const document = decodeAttestationDocument(encoding);
  const hash = booted?.manifestHash ?? document.userData ?? undefined;
  const commitment = (await checkCommitment(document, hash, new Checklist("boot[0]")))?.kind;
  const says = shown ?? (await inspectDocument(encoding)).says;
  const tree = {
    ...(says as ContentObject),
    [COMMITMENT]: commitment ?? "none",
    ...spelledAs("CBOR", toHex(encoding)),
  };
  // A document that commits to nothing meets no pin of a commitment.
  const known = booted && { ...booted, commitment: commitment ?? ("none" as CommitmentKind) };
  return { tree, facts: documentFacts(document, known) };
}

async function readBootProof(json: Content): Promise<Pinnable> {
  const inside = unwrap(json, "bootProof") as Content;
  const bootProof = decodeBootProof(inside);
  const faults: Fault[] = [];
  const read = async <T>(name: string, decode: () => T | Promise<T>): Promise<T | undefined> => {
    const part = await attemptLater(decode);
    faults.push(...faultsIn(name, part.faults));
    return part.value;
  };
  const { attestationDocument, manifest: bytes, manifestEnvelope, labels: names } = bootProof;
  const manifest = bytes === null ? undefined : await read("manifest", () => decodeManifest(bytes));
  const envelope = await read("manifestEnvelope", () => decodeManifestEnvelope(manifestEnvelope));
  const own = manifest ?? envelope?.manifest;
  const booted = own === undefined ? null : { manifest: own, manifestHash: await manifestHash(own), labels: names };
  const { says } = await inspectBootProof(json);
  const shown = memberOf(says as Content, "attestationDocument") as Described | undefined;
  const document = await read("attestationDocument", () => readDocument(attestationDocument, booted, shown));
  if (faults.length > 0) throw new MalformedError("boot-proof", faults);
  const {
    ephemeralPublicKey = document!.tree["publicKey"],
    labels = {},
    ...others
  } = withoutPrototype(says as ContentObject);
  const tree = {
    ephemeralPublicKey,
    ...others,
    labels: Object.fromEntries(Object.entries(labels as ContentObject).filter(([, label]) => label !== null)),
    attestationDocument: document!.tree,
    manifest: manifest && manifestOf(manifest, jsonOf(bytes!)),
    manifestEnvelope: envelopeOf(manifestEnvelope),
    [MANIFEST_HASH]: toHex(booted!.manifestHash),
    ...spelledAs(inside === json ? "JSON" : "JSON in a wrapper", inside),
  };
  return { tree, facts: document!.facts };
}

async function readBundle(file: Uint8Array, json: ContentObject): Promise<Omit<Side & { kind: "bundle" }, "kind">> {
  decodeBundle(file);
  const faults: Fault[] = [];
  const bootProofs: ContentObject[] = [];
  for (const [index, piece] of (json["bootProofs"] as Content[]).entries()) {
    const { value, faults: own } = await attemptLater(() => readBootProof(piece));
    faults.push(...faultsIn(`bootProofs[${index}]`, own));
    if (value !== undefined) bootProofs.push(value.tree);
  }
  if (faults.length > 0) throw new MalformedError("bundle", faults);
  const { activity, policy, ...others } = json;
  const tree = {
    ...others,
    bootProofs,
    appProofs: await appProofTrees(json["appProofs"]),
    activity: activity === undefined ? undefined : await activityTree(activity),
    ...spelledAs("JSON", { ...others, activity }),
  };
  return { tree, policy: await packedPolicy(file, policy ?? null) };
}

/** Returns the trees of app proofs, and other content unchanged. */
async function appProofTrees(list: Content | undefined): Promise<Content | undefined> {
  return Array.isArray(list) ? ((await inspectAppProofs(list as Content[])).says as Content) : list;
}

async function activityTree(json: Content): Promise<Content> {
  const activity = unwrap(json, "activity") as Content;
  if (!isJsonObject(activity)) return json;
  const appProofs = await appProofTrees(memberOf(activity, "appProofs"));
  return { ...(activity as ContentObject), appProofs, ...(besideIn(json, "activity") as ContentObject) };
}

/** Reads the policy of a bundle. Of a signed one, its content is compared. */
async function packedPolicy(file: Uint8Array, packed: Content): Promise<PolicyFacts | null> {
  const signed = isSignedEnvelope(packed) ? payloadIn(packed) : null;
  const policy = signed === null ? packed : (parseJson(signed, { numbers: "literal" }) as ContentObject)["policy"]!;
  // The policy is read from JSON with ordinary numbers, so the file is parsed again.
  const whole = parseJson(signed ?? file) as { readonly policy?: object };
  return policy === null ? null : readPolicy(whole.policy!, policy, {});
}

async function provenanceTree(file: Uint8Array, json: ContentObject): Promise<ContentObject> {
  const { certificate, payload } = decodeProvenanceBundle(file);
  const { value: identity, faults } = readBuildIdentity(certificate);
  if (faults.length > 0)
    throw new MalformedError(
      "provenance",
      faults.map(({ message }) => ({ path: "certificate", message })),
    );
  const plain = plainNumbers(parseJson(file, { numbers: "literal" })).value;
  const says = (await inspectProvenance(file, plain)).says as ContentObject;
  const whole = { buildConfig: null, repository: null, ref: null, ...identity };
  return {
    ...says,
    identity: {
      ...(says["identity"] as ContentObject),
      [WORKFLOW]: buildWorkflow(whole as Parameters<typeof buildWorkflow>[0]) ?? identity.buildConfig ?? "none",
    },
    statement: parseJson(payload, { numbers: "literal" }),
    [MATERIAL]: { verificationMaterial: json["verificationMaterial"], dsseEnvelope: json["dsseEnvelope"] },
    ...spelledAs("JSON", json),
  };
}
