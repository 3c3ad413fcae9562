/** Decodes a file strictly, and makes the tree of it that `inspect` shows. */
import { decodeBundle, isSignedEnvelope, payloadIn } from "../bundle/file.js";
import { fromUtf8, toHex } from "../bytes.js";
import { Checklist } from "../checks.js";
import { type DocumentFacts, documentFacts } from "../appraise/facts.js";
import type { ParsePolicyOptions } from "../appraise/policy.js";
import { decodeAttestationDocument } from "../decode/attestation-document.js";
import { type BootProof, readBootProof } from "../decode/boot-proof.js";
import { buildWorkflow, readBuildIdentity } from "../decode/build-identity.js";
import { unwrap, withoutPrototype } from "../decode/input.js";
import { copyJson, isJsonObject, parseJson } from "../decode/json.js";
import { plainNumbers } from "../decode/json-numbers.js";
import {
  type Manifest,
  type ManifestEnvelope,
  decodeManifest,
  decodeManifestEnvelope,
} from "../decode/manifest/index.js";
import { decodeProvenanceBundle } from "../decode/provenance-bundle.js";
import { type Fault, MalformedError, attempt, attemptLater, faultsIn, requireWhole } from "../errors.js";
import { type Described, UNKNOWN, besideIn } from "../inspect/described.js";
import {
  envelopeTree,
  inspectDocument,
  manifestTree,
  unknownInEnvelope,
  unknownInManifest,
} from "../inspect/documents.js";
import { bootProofTree, inspectAppProofs } from "../inspect/evidence.js";
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

/** An input after decoding. */
export interface Side extends Read {
  readonly kind: keyof typeof RULES;
}

interface Read {
  readonly tree: ContentObject;
  /** What pins of policies are compared with, if this is evidence that a policy can be compared with. */
  readonly facts?: DocumentFacts | undefined;
  /** The policy that the input is, or that a bundle has. */
  readonly policy?: PolicyFacts | undefined;
}

/** Readers by kind. Only these kinds can be compared. The JSON has numbers as written, so that 1 differs from 1.0. */
const READERS: Readonly<Record<Side["kind"], (file: Recognised, input: DiffInput) => Read | Promise<Read>>> = {
  "boot proof": ({ json }) => bootProofOf(json as Content),
  "attestation document": ({ bytes }) => readDocument(bytes, null),
  manifest: ({ bytes }) => ({ tree: manifestOf(decodeManifest(bytes), jsonOf(bytes)) }),
  "manifest envelope": ({ bytes }) => ({ tree: envelopeOf(decodeManifestEnvelope(bytes), jsonOf(bytes)) }),
  policy: async ({ bytes, json }, { readFile }) => ({
    tree: {},
    policy: await readPolicy(bytes, json as Content, readFile === undefined ? {} : { readFile }),
  }),
  release: async ({ bytes, json }, { readYaml }) => {
    if (json === undefined && readYaml === undefined)
      throw notCompared("a release in YAML, which needs the option readYaml");
    const release = json ?? copyJson(await readYaml!(fromUtf8(bytes) ?? ""));
    if (!isJsonObject(release)) throw new MalformedError("release", [{ path: "", message: "expected an object" }]);
    return { tree: { ...(release as ContentObject), ...spelledAs("release", release as Content) } };
  },
  bundle: ({ bytes, json }) => readBundle(bytes, json as ContentObject),
  "provenance bundle": async ({ bytes, json }) => {
    if (json === undefined) throw notCompared("several provenance bundles, one on each line: give only one");
    return { tree: await provenanceTree(bytes, json as ContentObject) };
  },
};

/** Decodes an input. Throws {@link MalformedError} with every fault. */
export async function readSide(input: DiffInput): Promise<Side> {
  const file = recognise(input.file);
  if (file === null) throw notCompared("not recognised");
  const { kind } = file;
  if (!isComparable(kind)) throw notCompared(kindSentence(kind));
  return sideOf(kind, await READERS[kind](file, input));
}

/** Without a prototype, so that no member of `Object.prototype` stands for one that the side lacks. */
function sideOf(kind: Side["kind"], read: Read): Side {
  return withoutPrototype({ kind, ...read });
}

function isComparable(kind: EvidenceKind): kind is Side["kind"] {
  return Object.hasOwn(READERS, kind);
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
  return sideOf("manifest", { tree: json === null ? manifestTree(manifest) : manifestOf(manifest, json) });
}

export function envelopeSide(envelope: ManifestEnvelope): Side {
  return sideOf("manifest envelope", { tree: envelopeTree(envelope) });
}

function manifestOf(manifest: Manifest, json: Content | null): ContentObject {
  return { ...manifestTree(manifest), ...writtenAs(json, (own) => unknownInManifest(manifest, own)) };
}

function envelopeOf(envelope: ManifestEnvelope, json: Content | null): ContentObject {
  return { ...envelopeTree(envelope), ...writtenAs(json, (own) => unknownInEnvelope(envelope, own)) };
}

function writtenAs(json: Content | null, unknownIn: (json: Content) => Described | undefined): ContentObject {
  return json === null ? spelledAs("borsh", null) : { [UNKNOWN]: unknownIn(json), ...spelledAs("JSON", json) };
}

/** The manifest that a boot proof has beside its document. */
interface Booted {
  readonly manifest: Manifest;
  readonly manifestHash: Uint8Array;
  readonly labels: BootProof["labels"];
}

/** Reads a document with the kind of its commitment. Without a manifest, its user data is the manifest's hash. */
async function readDocument(encoding: Uint8Array, booted: Booted | null): Promise<Read> {
  const { says, document = decodeAttestationDocument(encoding) } = await inspectDocument(encoding);
  const hash = booted?.manifestHash ?? document.userData ?? undefined;
  const commitment = (await checkCommitment(document, hash, new Checklist("boot[0]")))?.kind;
  const tree = {
    ...(says as ContentObject),
    [COMMITMENT]: commitment ?? "none",
    ...spelledAs("CBOR", toHex(encoding)),
  };
  // A document that commits to nothing meets no pin of a commitment.
  const known = booted && { ...booted, commitment: commitment ?? ("none" as CommitmentKind) };
  return { tree, facts: documentFacts(document, known) };
}

async function bootProofOf(json: Content): Promise<Read> {
  const reading = readBootProof(json);
  const bootProof = requireWhole("boot-proof", reading);
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
  const document = await read("attestationDocument", () => readDocument(attestationDocument, booted));
  if (faults.length > 0) throw new MalformedError("boot-proof", faults);
  const parts = {
    attestationDocument: document!.tree,
    manifest: manifest && manifestOf(manifest, jsonOf(bytes!)),
    manifestEnvelope: envelopeOf(envelope!, jsonOf(manifestEnvelope)),
  };
  const says = await bootProofTree(json, reading, parts as unknown as Record<keyof typeof parts, Described>);
  const {
    ephemeralPublicKey = document!.tree["publicKey"],
    labels = {},
    ...others
  } = withoutPrototype(says as ContentObject);
  const inside = unwrap(json, "bootProof") as Content;
  const tree = {
    ephemeralPublicKey,
    ...others,
    labels: Object.fromEntries(Object.entries(labels as ContentObject).filter(([, label]) => label !== null)),
    [MANIFEST_HASH]: toHex(booted!.manifestHash),
    ...spelledAs(inside === json ? "JSON" : "JSON in a wrapper", inside),
  };
  return { tree, facts: document!.facts };
}

async function readBundle(file: Uint8Array, json: ContentObject): Promise<Read> {
  decodeBundle(file);
  const read = await Promise.all(
    (json["bootProofs"] as Content[]).map((piece) => attemptLater(() => bootProofOf(piece))),
  );
  const faults = read.flatMap((one, index) => faultsIn(`bootProofs[${index}]`, one.faults));
  if (faults.length > 0) throw new MalformedError("bundle", faults);
  const { activity, policy, ...others } = json;
  const tree = {
    ...others,
    bootProofs: read.map(({ value }) => value!.tree),
    appProofs: await appProofTrees(json["appProofs"]),
    activity: activity === undefined ? undefined : await activityTree(activity),
    ...spelledAs("JSON", { ...others, activity }),
  };
  return { tree, policy: policy ? await packedPolicy(file, policy) : undefined };
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
async function packedPolicy(file: Uint8Array, packed: Content): Promise<PolicyFacts> {
  const signed = isSignedEnvelope(packed) ? payloadIn(packed) : null;
  const policy = signed === null ? packed : memberOf(parseJson(signed, { numbers: "literal" }), "policy")!;
  // The policy is read from JSON with ordinary numbers, so the file is parsed again.
  return readPolicy(memberOf(parseJson(signed ?? file), "policy") as object, policy, {});
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
  // If the workflow of the build signed, its URI changes with each ref.
  const signer = (text: string | null = null): string =>
    text !== null && text === (identity.buildConfig ?? "") ? "the workflow of the build" : text || "none";
  return {
    ...says,
    identity: {
      ...(says["identity"] as ContentObject),
      signer: signer(identity.signer),
      san: signer(identity.san),
      [WORKFLOW]: buildWorkflow(whole as Parameters<typeof buildWorkflow>[0]) ?? identity.buildConfig ?? "none",
    },
    statement: parseJson(payload, { numbers: "literal" }),
    [MATERIAL]: { verificationMaterial: json["verificationMaterial"], dsseEnvelope: json["dsseEnvelope"] },
    ...spelledAs("JSON", json),
  };
}
