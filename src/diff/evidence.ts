/** Compares boot proofs, documents, manifests and envelopes by the parts that both inputs have. */
import { equalBytes, toHex } from "../bytes.js";
import { type BootProof, DOCUMENT_MEMBER, decodeBootProof } from "../decode/boot-proof.js";
import { provisioningForm, provisioningMembers } from "../decode/evidence-members.js";
import { MAX_TIME_MS } from "../decode/decimal-time.js";
import { isJsonObject } from "../decode/json.js";
import { type Manifest, type ManifestEnvelope, manifestHashInput } from "../decode/manifest/index.js";
import { type Fault, MalformedError, attemptLater, faultsIn } from "../errors.js";
import { manifestHash } from "../verify/manifest-binding.js";
import { type Found, found } from "./changes.js";
import { type Comparer, bytes, ignored, members, value } from "./comparers.js";
import { type Content, type ContentObject, type Rules, anyCase, rewritten } from "./content.js";
import { type DecodedDocument, compareDocuments, documentContents, readDocument } from "./document.js";
import {
  type Encoded,
  compareEnvelopes,
  compareManifests,
  contentsOf,
  encodedEnvelope,
  encodedManifest,
} from "./manifest.js";
import { placeIn } from "./place.js";

/** The changes that were found, and the contents in which to look for other differences. */
export interface Compared {
  readonly found?: readonly Found[];
  readonly contents?: readonly (readonly [place: string, before: Content | undefined, after: Content | undefined])[];
  /** Different bytes. They are reported only if no other difference explains them. */
  readonly encodings?: readonly Found[];
}

export function together(all: readonly Compared[]): Required<Compared> {
  return {
    found: all.flatMap(({ found = [] }) => found),
    contents: all.flatMap(({ contents = [] }) => contents),
    encodings: all.flatMap(({ encodings = [] }) => encodings),
  };
}

/** The parts of an input. Each input has some of them. */
export interface EvidenceParts {
  readonly members?: ServiceMembers;
  readonly attestationDocument?: DecodedDocument;
  readonly manifest?: Encoded<Manifest>;
  readonly manifestEnvelope?: Encoded<ManifestEnvelope>;
}

/** The members of a boot proof other than document, manifest and envelope. */
interface ServiceMembers {
  readonly bootProof: BootProof;
  readonly json: Content;
  /** The other members of the wrapper `{"bootProof": …}`. Undefined without a wrapper. */
  readonly wrapper: Content | undefined;
}

/** Decodes the parts of a boot proof. `json` keeps numbers as written. Throws `MalformedError` with all faults. */
export async function readBootProofParts(json: Content): Promise<EvidenceParts> {
  const isWrapped = isJsonObject(json) && Object.hasOwn(json, "bootProof");
  const { bootProof: inner = json, ...wrapper } = isWrapped ? (json as ContentObject) : { bootProof: json };
  const bootProof = decodeBootProof(inner);
  const faults: Fault[] = [];
  const read = async <T>(name: keyof EvidenceParts, decode: () => T | Promise<T>): Promise<T | undefined> => {
    const part = await attemptLater(decode);
    faults.push(...faultsIn(name, part.faults));
    return part.value;
  };
  const manifest = bootProof.manifest && (await read("manifest", () => encodedManifest(bootProof.manifest!)));
  const manifestEnvelope = await read("manifestEnvelope", () => encodedEnvelope(bootProof.manifestEnvelope));
  const hash = await hashOf(manifest?.value ?? manifestEnvelope?.value.manifest);
  const attestationDocument = await read("attestationDocument", () =>
    readDocument(bootProof.attestationDocument, hash),
  );
  if (faults.length > 0) throw new MalformedError("boot-proof", faults);
  const ephemeralPublicKey = bootProof.ephemeralPublicKey ?? attestationDocument!.document.publicKey;
  const service = {
    bootProof: { ...bootProof, ephemeralPublicKey },
    json: rewritten(serviceNames(inner, ephemeralPublicKey), MEMBER_RULES),
    wrapper: isWrapped ? wrapper : undefined,
  };
  return {
    members: service,
    attestationDocument: attestationDocument!,
    ...(manifest && { manifest }),
    manifestEnvelope: manifestEnvelope!,
  };
}

async function hashOf(manifest: Manifest | undefined): Promise<Uint8Array | null> {
  return manifest === undefined ? null : manifestHash(manifest);
}

/** Gives the members of provisioning details the names of the service's form, so that both forms can be compared. */
function serviceNames(json: Content, key: Uint8Array | null): Content {
  const form = provisioningForm(json);
  if (form === null) return json;
  const renamed = [form.document, form.envelope.name, form.key];
  const others = provisioningMembers(form).filter((name) => !renamed.includes(name));
  const members = json as ContentObject;
  return {
    ...Object.fromEntries(others.flatMap((name) => (Object.hasOwn(members, name) ? [[name, members[name]!]] : []))),
    ephemeralPublicKeyHex: toHex(key ?? new Uint8Array()),
    [DOCUMENT_MEMBER.name]: "",
    qosManifestB64: "",
    qosManifestEnvelopeB64: "",
  };
}

/**
 * Replaces the content of document, manifest and envelope with a constant, because they have comparers of their own.
 */
const isThere = (): Content => "there";
const MEMBER_RULES: Rules = {
  ephemeralPublicKeyHex: anyCase,
  [DOCUMENT_MEMBER.name]: isThere,
  [DOCUMENT_MEMBER.alias]: isThere,
  qosManifestB64: isThere,
  qosManifestEnvelopeB64: isThere,
};

const compareMembers = members<BootProof>(
  {
    form: ignored,
    ephemeralPublicKey: bytes("ephemeral-key"),
    attestationDocument: ignored,
    manifest: ignored,
    manifestEnvelope: ignored,
    labels: (before, after, place) =>
      (["enclaveApp", "owner", "deploymentLabel"] as const).flatMap((name) =>
        value<string>("labels")(before?.[name] ?? undefined, after?.[name] ?? undefined, besides(place, name)).map(
          (change) => ({ ...change, entry: name }),
        ),
      ),
    createdAt: value("created-at", timeText),
    declaredManifestVersion: value("manifest.declared-version"),
    provisioningState: ignored,
  },
  { ephemeralPublicKey: "ephemeralPublicKeyHex", declaredManifestVersion: "qosManifestVersion" },
);

function timeText({ seconds, nanos }: NonNullable<BootProof["createdAt"]>): string {
  const milliseconds = Number(seconds) * 1000;
  if (milliseconds > MAX_TIME_MS) return `${seconds} seconds and ${nanos} nanoseconds`;
  return new Date(milliseconds).toISOString().replace("000Z", `${nanos.padStart(9, "0")}Z`);
}

/** Returns the place of a label. In JSON, a label is a member of the boot proof itself, not of `labels`. */
function besides(place: string, name: string): string {
  return placeIn(place === "labels" ? "" : place.slice(0, -".labels".length), name);
}

/** Returns the parts that both inputs have. If they share none, the manifest inside an envelope is used. */
export function comparableParts(before: EvidenceParts, after: EvidenceParts): readonly [EvidenceParts, EvidenceParts] {
  const isShared = Object.keys(before).some((name) => Object.hasOwn(after, name));
  return isShared ? [before, after] : [withManifest(before), withManifest(after)];
}

function withManifest({ manifest, manifestEnvelope }: EvidenceParts): EvidenceParts {
  if (manifest !== undefined || manifestEnvelope === undefined) return manifest === undefined ? {} : { manifest };
  const { value: envelope, json } = manifestEnvelope;
  const inside = json === null ? null : (json as ContentObject)["manifest"]!;
  return { manifest: { value: envelope.manifest, json: inside } };
}

/** Compares parts. `isBare` means that each input is itself a part, so places need no prefix. */
export function compareParts(before: EvidenceParts, after: EvidenceParts, place: string, isBare: boolean): Compared {
  const part = <K extends keyof EvidenceParts>(
    name: K,
    compare: ComparePart<NonNullable<EvidenceParts[K]>>,
  ): Compared => {
    const one = before[name];
    const other = after[name];
    if (one === undefined || other === undefined) return {};
    return compare(one, other, isBare || name === "members" ? place : placeIn(place, name));
  };
  const all = together([
    part("members", compareServiceMembers),
    part("attestationDocument", compareDocumentParts),
    part("manifest", encoded(compareManifests)),
    part("manifestEnvelope", encoded(compareEnvelopes)),
  ]);
  return { ...all, found: all.found.map((change) => explained(change, bootedIn(before), bootedIn(after))) };
}

type ComparePart<T> = (before: T, after: T, place: string) => Compared;

function bootedIn({ manifest, manifestEnvelope }: EvidenceParts): Manifest | undefined {
  return manifest?.value ?? manifestEnvelope?.value.manifest;
}

/**
 * Marks whether a changed manifest hash follows from a changed manifest. If the hash changed alone, the evidence is
 * inconsistent.
 */
function explained(change: Found, before?: Manifest, after?: Manifest): Found {
  if (change.what !== "document.user-data" || before === undefined || after === undefined) return change;
  const isSame = equalBytes(manifestHashInput(before), manifestHashInput(after));
  return { ...change, turn: isSame ? "alone" : "follows" };
}

function compareServiceMembers(before: ServiceMembers, after: ServiceMembers, place: string): Compared {
  return {
    found: compareMembers(before.bootProof, after.bootProof, place),
    contents: [
      [place, before.json, after.json],
      [`${place}(wrapper)`, before.wrapper, after.wrapper],
    ],
  };
}

function compareDocumentParts(before: DecodedDocument, after: DecodedDocument, place: string): Compared {
  const others = new Map(documentContents(after.encoding, place));
  return {
    found: compareDocuments(before, after, place),
    contents: documentContents(before.encoding, place).map(([at, content]) => [at, content, others.get(at)]),
    encodings: bytes("encoding")(before.encoding, after.encoding, place),
  };
}

function encoded<T>(compare: Comparer<T>): ComparePart<Encoded<T>> {
  return (before, after, place) => {
    const [one, other] = [before, after].map(({ json }) => (json === null ? "borsh" : "JSON"));
    const encoding = one === other ? [] : [found("encoding", { place, before: one!, after: other!, isWhole: false })];
    return {
      found: [...compare(before.value, after.value, place), ...encoding],
      contents: [[place, ...contentsOf(before, after)]],
    };
  };
}

/** Returns the key by which boot proofs of two bundles are paired. */
export function matchingKey({ members: service }: EvidenceParts): string {
  return service === undefined ? "" : toHex(service.bootProof.ephemeralPublicKey ?? new Uint8Array());
}
