/**
 * Ways of the service to misbehave, on demand: each a row that says what is done and which checks have to fail. While a
 * fault is on, answers are altered on their way out; what the service knows stays as it is. All of them show in an answer to
 * update_wallet with `generateAppProofs`, and in the boot proofs of the keys that its app proofs name.
 */
import { concatBytes, fromUtf8, toHex, toUtf8 } from "../bytes.js";
import type { CheckId } from "../checks.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import type { Manifest, ManifestEnvelope, PivotManifest } from "../decode/manifest/index.js";
import { type CborItem, encodeCbor } from "./cbor.js";
import { type AppProofAlterations, type DocumentAlterations, customPayload } from "./enclave.js";
import type { Fleet, SavedEnclave, SavedRelease } from "./fleet.js";
import { type ForgeOptions, Lab as Forge, type ManifestAlterations } from "./forge.js";
import { generateKeyPair } from "./keys.js";
import { CHAIN, type CertificateSpec, KEY_USAGE, OID, algorithmIdentifier, basicConstraints, keyUsage } from "./pki.js";
import { type QosKeyPair, approve, generateQosKeyPair, loadQosKeyPair, manifestHash, memberSet, qosKeyPair, sha256 } from "./qos.js";
import type { Reader } from "./state.js";

/** One enclave, of which a boot proof was asked for, or that signed an app proof. */
interface Asked {
  readonly saved: SavedEnclave;
  readonly release: SavedRelease;
  readonly at: Date;
  readonly key: QosKeyPair;
  /** Keys, measurements and members of the release. */
  readonly forge: Forge;
  readonly fleet: Fleet;
}

type AlterForge = (asked: Asked) => Partial<ForgeOptions>;

/** A way to misbehave, as it is listed. */
export interface Fault {
  readonly name: string;
  /** What the service does. */
  readonly what: string;
  /** Every check that fails of the activity and the boot proofs of its keys, under the lab's policy. */
  readonly fails: readonly CheckId[];
}

interface Behaviour extends Fault {
  /** What is altered in the making of a boot proof. */
  readonly forge?: AlterForge;
  /** What is answered in the place of a boot proof. */
  readonly bootProof?: (honest: JsonObject, asked: Asked) => JsonObject;
  /** Set: a boot proof is answered for keys that no enclave has. */
  readonly anyKey?: boolean;
  /** What is altered in an app proof, which is then signed anew. */
  readonly appProof?: (asked: Asked) => AppProofAlterations;
  /** What the app proofs of an activity become, after `appProof`. */
  readonly appProofs?: (honest: readonly JsonObject[]) => readonly JsonObject[];
  readonly activity?: (honest: JsonObject, reader: Reader) => JsonObject;
}

/** Somebody else, with keys and a root of their own under the same names: made when first needed, since making it is slow. */
let strangerMade: Forge | undefined;
function stranger(): Forge {
  return (strangerMade ??= new Forge());
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const OTHER_ID = "00000000-0000-4000-8000-000000000000";
const OTHER_ADDRESS = "0x1111111111111111111111111111111111111111";

// Alterations of one thing.

const put = (name: string, value: JsonValue) => (json: JsonObject): JsonObject => ({ ...json, [name]: value });
const document = (alterDocument: DocumentAlterations): AlterForge => () => ({ alterDocument });
const field = (name: string, value: CborItem): AlterForge => document({ fields: (fields) => fields.set(name, value) });
const pcrs = (change: (pcrs: Map<number, Uint8Array>) => void): AlterForge => document({ pcrs: (map) => (change(map), map) });
const certificate = (place: number, change: (spec: CertificateSpec) => Partial<CertificateSpec>): AlterForge =>
  document({ certificates: (specs) => specs.map((spec, index) => (index === place ? { ...spec, ...change(spec) } : spec)) });
const alterManifest = (alterations: (asked: Asked) => ManifestAlterations): AlterForge => (asked) => ({ alterManifest: alterations(asked) });
const manifest = (change: (manifest: PivotManifest) => Partial<PivotManifest>): AlterForge =>
  alterManifest(() => ({ manifest: (value) => ({ ...value, ...change(value) }) }));
/** For what older manifests, or borsh, cannot say. */
const asV2 = (alter: AlterForge): AlterForge => (asked) => ({ ...alter(asked), version: "v2", encoding: "json" });
const payload = (change: (proof: JsonObject) => JsonObject) => (): AppProofAlterations => ({ payload: change });

/** The last bit turned over. */
function flipped(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, index) => (index === bytes.length - 1 ? byte ^ 1 : byte));
}

/** Members of the one object that a payload of any type holds: its claim. */
function claim(members: JsonObject): (json: JsonObject) => JsonObject {
  return (json) => Object.fromEntries(Object.entries(json).map(([name, value]) => [name, isJsonObject(value) ? { ...value, ...members } : value]));
}

/** Members of the one object inside an activity's intent or result. */
function inside(part: "intent" | "result", members: JsonObject): (activity: JsonObject) => JsonObject {
  return (activity) => ({ ...activity, [part]: claim(members)(activity[part] as JsonObject) });
}

const DOCUMENT_FAULTS: readonly Behaviour[] = [
  {
    name: "malformed-cose", what: "the attestation document has a byte too many", fails: ["cose.structure"],
    forge: document({ cose: (bytes) => concatBytes(bytes, Uint8Array.of(0)) }),
  },
  {
    name: "another-algorithm", what: "the document's signed header names ES256", fails: ["cose.algorithm"],
    forge: document({ protectedHeader: () => encodeCbor(new Map([[1, -7]])) }),
  },
  {
    name: "altered-document", what: "the document was changed after it was signed", fails: ["cose.signature"],
    forge: document({ signature: flipped }),
  },
  {
    name: "malformed-document", what: "the document names another digest than SHA384", fails: ["doc.structure"],
    forge: field("digest", "SHA256"),
  },
  {
    name: "foreign-root", what: "the document comes from another authority of the same names", fails: ["chain.anchor"],
    forge: ({ at }) => ({ alterDocument: { certificates: () => stranger().pki.chainSpecs(at) } }),
  },
  {
    name: "forged-leaf", what: "the leaf certificate is signed by a key that is not its issuer's", fails: ["chain.signature"],
    forge: certificate(CHAIN.leaf, () => ({ issuerKey: generateKeyPair("secp384r1") })),
  },
  {
    name: "weak-certificate", what: "a certificate names SHA-256 beside its signature", fails: ["chain.algorithm"],
    forge: certificate(CHAIN.zone, () => ({ outerAlgorithm: algorithmIdentifier(OID.ecdsaWithSha256) })),
  },
  {
    name: "expired-chain", what: "the leaf certificate had expired when the document was made", fails: ["chain.validity"],
    forge: certificate(CHAIN.leaf, ({ notBefore, notAfter }) => ({
      notBefore: new Date(notBefore.getTime() - 6 * HOUR), notAfter: new Date(notAfter.getTime() - 6 * HOUR),
    })),
  },
  {
    name: "leaf-as-authority", what: "the leaf certificate is issued by a certificate that is no authority", fails: ["chain.constraints"],
    forge: certificate(CHAIN.instance, () => ({ extensions: [basicConstraints(false), keyUsage(true, KEY_USAGE.digitalSignature)] })),
  },
];

const MANIFEST_FAULTS: readonly Behaviour[] = [
  {
    name: "duplicated-member", what: "the manifest is JSON in which a member appears twice", fails: ["manifest.decode"],
    forge: asV2(alterManifest(() => ({ bytes: (bytes) => toUtf8(fromUtf8(bytes)!.replace('"version"', '"version":"v2","version"')) }))),
  },
  {
    name: "malformed-envelope", what: "the envelope is JSON without its approvals", fails: ["envelope.decode"],
    forge: asV2(alterManifest(() => ({ envelopeJson: ({ manifest: only }) => ({ manifest: only! }) }))),
  },
  {
    name: "another-envelope", what: "the envelope approves another manifest, of the next nonce", fails: ["envelope.manifest"],
    forge: alterManifest(({ forge }) => ({ envelope: (envelope) => anotherEnvelope(envelope.manifest, forge) })),
  },
  {
    name: "missing-approvals", what: "fewer operators approved the manifest than it demands", fails: ["envelope.approvals"],
    forge: alterManifest(() => ({ approvals: ([first]) => [first!] })),
  },
  {
    name: "outsider-approval", what: "one of the approvals is by somebody who is no operator", fails: ["envelope.approvals"],
    forge: alterManifest(() => ({ approvals: ([first], hash) => [first!, approve(hash, stranger().manifestMembers[1]!)] })),
  },
  {
    name: "outsider-share", what: "a share-set approval is by somebody who holds no share", fails: ["envelope.shares"],
    forge: alterManifest(() => ({ shareApprovals: (_, hash) => [approve(hash, stranger().shareMembers[0]!)] })),
  },
  {
    name: "debug-application", what: "the application runs in debug mode", fails: ["mode.debug"],
    forge: asV2(manifest(({ pivot }) => ({ pivot: { ...pivot, debugMode: true } }))),
  },
];

const BINDING_FAULTS: readonly Behaviour[] = [
  {
    name: "another-enclaves-proof", what: "the boot proof is another enclave's, genuine and of the same release", fails: ["app.key"],
    bootProof: (_, { fleet, release, at }) => fleet.standby(release, at),
  },
  {
    name: "relabelled-proof", what: "another enclave's boot proof with the key that was asked for written on it", fails: ["bind.key", "app.key"],
    bootProof: ({ ephemeralPublicKeyHex }, { fleet, release, at }) => ({ ...fleet.standby(release, at), ephemeralPublicKeyHex: ephemeralPublicKeyHex! }),
  },
  {
    name: "swapped-keys", what: "the boot proof attests the two halves of the key in the wrong order", fails: ["app.key"],
    forge: ({ key }) => ({ ephemeralKey: qosKeyPair(key.signing, key.encryption) }),
  },
  {
    name: "malformed-base64", what: "a field of the boot proof is not base64", fails: ["boot.decode"],
    bootProof: (honest) => put("qosManifestB64", `${honest["qosManifestB64"] as string}\n`)(honest),
  },
  {
    name: "another-user-data", what: "the document commits to another manifest", fails: ["bind.user-data"],
    forge: field("user_data", sha256(toUtf8("another manifest"))),
  },
  {
    name: "another-image", what: "the enclave runs another image than the manifest names", fails: ["bind.pcrs"],
    forge: pcrs((map) => map.set(0, flipped(map.get(0)!))),
  },
  {
    name: "debug-mode", what: "the enclave runs in debug mode: its measurements are zeros, and the manifest agrees", fails: ["mode.debug"],
    forge: (asked) => ({
      ...manifest(({ enclave }) => ({ enclave: { ...enclave, pcr0: new Uint8Array(48), pcr1: new Uint8Array(48), pcr2: new Uint8Array(48) } }))(asked),
      ...pcrs((map) => [0, 1, 2].forEach((index) => map.set(index, new Uint8Array(48))))(asked),
    }),
  },
  {
    name: "commitment-missing", what: "the PCRs of the commitment are zeros", fails: ["bind.commitment"],
    forge: pcrs((map) => map.set(17, new Uint8Array(48))),
  },
  {
    name: "commitment-mismatched", what: "the enclave committed to another manifest or key", fails: ["bind.commitment"],
    forge: pcrs((map) => map.set(17, flipped(map.get(17)!))),
  },
  {
    name: "nonce-present", what: "the document was made for a challenge, and carries its nonce", fails: ["bind.nonce"],
    forge: field("nonce", Uint8Array.of(1, 2, 3)),
  },
];

const APP_PROOF_FAULTS: readonly Behaviour[] = [
  {
    name: "another-scheme", what: "the app proofs name another signature scheme", fails: ["app.decode"],
    appProofs: (proofs) => proofs.map(put("scheme", "SIGNATURE_SCHEME_TK_API_P256")),
  },
  {
    name: "tampered-payload", what: "the payloads of the app proofs were changed after they were signed", fails: ["app.signature"],
    appProofs: (proofs) => proofs.map((proof) => put("proofPayload", (proof["proofPayload"] as string).replace(/\d(?=")/, (digit) => String(9 - Number(digit))))(proof)),
  },
  {
    name: "another-signer", what: "the app proofs name the enclave's key, and are signed by another", fails: ["app.signature"],
    appProof: () => ({ signer: generateQosKeyPair() }),
  },
  {
    name: "unattested-key", what: "the app proofs are signed by a key that no enclave attested, and a genuine boot proof is shown for it", fails: ["app.key"],
    anyKey: true, appProof: () => ({ signer: stranger().ephemeralKey, json: put("publicKey", toHex(stranger().ephemeralKey.publicKey)) }),
  },
  {
    name: "setup-key", what: "the app proofs are signed with the key of an enclave's setup", fails: ["app.key", "policy.deployment", "policy.commitment"],
    forge: () => ({ generation: "setup" }),
  },
  {
    name: "duplicated-payload-member", what: "the signed payloads have a member twice", fails: ["app.payload"],
    appProof: () => ({ text: (text) => text.replace("{", '{"type":"APP_PROOF_TYPE_OTHER",') }),
  },
  {
    name: "replayed-proof", what: "the app proofs are older than the enclave that signed them", fails: ["app.time"],
    appProof: ({ at }) => ({ payload: put("timestampMs", String(at.getTime() - HOUR)) }),
  },
  {
    name: "future-proof", what: "the app proofs are dated a year ahead", fails: ["app.time"],
    appProof: payload((json) => put("timestampMs", String(Number(json["timestampMs"]) + 365 * DAY))(json)),
  },
  {
    name: "unknown-type", what: "the app proofs are of a type that the policy does not list", fails: ["policy.app-proof"],
    appProof: ({ at }) => ({ payload: (json) => ({ ...customPayload(at), timestampMs: json["timestampMs"]! }) }),
  },
];

const ACTIVITY_FAULTS: readonly Behaviour[] = [
  {
    name: "dropped-app-proofs", what: "the activity comes without the app proofs that were asked for", fails: ["activity.decode"],
    appProofs: () => [],
  },
  {
    name: "another-organization", what: "the app proofs speak of another organization", fails: ["activity.claims"],
    appProof: payload(claim({ organizationId: OTHER_ID })),
  },
  {
    name: "another-wallet", what: "the address derivation proofs speak of another wallet", fails: ["activity.claims"],
    appProof: payload((json) => ("addressDerivationProof" in json ? claim({ walletId: OTHER_ID })(json) : json)),
  },
  {
    name: "another-wallets-answer", what: "the activity is about another wallet than its app proofs", fails: ["activity.claims"],
    activity: (activity) => inside("intent", { walletId: OTHER_ID })(inside("result", { walletId: OTHER_ID })(activity)),
  },
  {
    name: "another-activitys-answer", what: "another organization's activity is answered, with the app proofs of the right one", fails: ["activity.claims", "activity.coverage"],
    activity: ({ organizationId, appProofs = [] }, reader) => ({ ...walletActivity(reader, (other) => other !== organizationId), appProofs }),
  },
  {
    name: "denied-outcome", what: "the enclave denied what the service says is completed", fails: ["activity.claims"],
    appProof: payload((json) => ("policyOutcomeProof" in json ? claim({ outcome: "OUTCOME_DENY_EXPLICIT" })(json) : json)),
  },
  {
    name: "coverage-gap", what: "the activity's result holds an address that no app proof backs", fails: ["activity.coverage"],
    appProofs: (proofs) => proofs.filter((proof) => !(proof["proofPayload"] as string).includes("addressDerivationProof")),
    activity: inside("result", { addresses: [OTHER_ADDRESS] }),
  },
];

/** The evidence is good: only who compares the answer with the request can tell. */
const SUBTLE: readonly Behaviour[] = [
  {
    name: "earlier-answer", what: "every request is answered with the activity that made the wallet, and its genuine app proofs", fails: [],
    activity: ({ organizationId }, reader) => walletActivity(reader, (other) => other === organizationId),
  },
];

const POLICY_FAULTS: readonly Behaviour[] = [
  {
    name: "another-release", what: "a release runs that is approved, and not pinned: other measurements", fails: ["policy.deployment", "policy.pcrs"],
    forge: (asked) => ({
      ...manifest(({ enclave }) => ({ enclave: { ...enclave, pcr0: flipped(enclave.pcr0) } }))(asked),
      ...pcrs((map) => map.set(0, flipped(map.get(0)!)))(asked),
    }),
  },
  {
    name: "another-binary", what: "another application binary runs in the pinned image", fails: ["policy.deployment", "policy.pivot"],
    forge: manifest(({ pivot }) => ({ pivot: { ...pivot, hash: flipped(pivot.hash) } })),
  },
  {
    name: "another-namespace", what: "the enclave belongs to another namespace", fails: ["policy.deployment", "policy.namespace"],
    forge: manifest(({ namespace }) => ({ namespace: { ...namespace, name: "lab/another" } })),
  },
  {
    name: "stale-manifest", what: "the enclave booted an approved manifest of an older nonce", fails: ["policy.deployment", "policy.nonce"],
    forge: manifest(({ namespace }) => ({ namespace: { ...namespace, nonce: 1 } })),
  },
  {
    name: "another-quorum-key", what: "the enclave is provisioned with another quorum key", fails: ["policy.deployment", "policy.quorum-key"],
    forge: manifest(({ namespace }) => ({ namespace: { ...namespace, quorumKey: stranger().quorumKey.publicKey } })),
  },
  {
    name: "another-manifest-set", what: "the manifest names other operators, who all approved it", fails: ["policy.deployment", "policy.manifest-set"],
    forge: alterManifest(() => ({
      manifest: (value) => ({ ...value, manifestSet: memberSet(2, stranger().manifestMembers) }),
      approvals: (_, hash) => stranger().manifestMembers.map((member) => approve(hash, member)),
    })),
  },
  {
    name: "another-share-set", what: "others hold the shares of the quorum key", fails: ["policy.deployment", "policy.share-set"],
    forge: alterManifest(() => ({
      manifest: (value) => ({ ...value, shareSet: memberSet(2, stranger().shareMembers) }),
      shareApprovals: (_, hash) => stranger().shareMembers.map((member) => approve(hash, member)),
    })),
  },
  {
    name: "legacy-enclave", what: "an older enclave runs, which commits to nothing", fails: ["policy.deployment", "policy.commitment"],
    forge: () => ({ generation: "legacy" }),
  },
  {
    name: "another-label", what: "the service labels the enclave as another deployment", fails: ["policy.deployment", "policy.labels"],
    bootProof: put("deploymentLabel", "lab.0"),
  },
  {
    name: "ancient-boot", what: "the boot proof is two months old", fails: ["policy.age"],
    forge: ({ at }) => ({ at: new Date(at.getTime() - 60 * DAY) }),
  },
];

const BEHAVIOURS: readonly Behaviour[] = [
  ...DOCUMENT_FAULTS, ...MANIFEST_FAULTS, ...BINDING_FAULTS, ...APP_PROOF_FAULTS, ...ACTIVITY_FAULTS, ...POLICY_FAULTS,
];

/** Every fault that evidence shows, about in the order of the checks that it breaks. */
export const FAULTS: readonly Fault[] = BEHAVIOURS.map(described);
/** Faults that no check of the evidence can find: a client has to compare the answer with its request. They may be turned on too. */
export const SUBTLE_FAULTS: readonly Fault[] = SUBTLE.map(described);

function described({ name, what, fails }: Behaviour): Fault {
  return { name, what, fails };
}

/** The side of the service that answers: honest while no fault is on. */
export class Misbehaviour {
  readonly #fleet: Fleet;
  readonly #forged = new Map<string, JsonObject>();
  #on: readonly Behaviour[] = [];

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Turns these faults on and all others off. Throws RangeError for a name that is none. */
  set(names: readonly string[]): void {
    this.#on = names.map((name) => {
      const found = [...BEHAVIOURS, ...SUBTLE].find((behaviour) => behaviour.name === name);
      if (found === undefined) throw new RangeError(`there is no fault ${name}: one of ${FAULTS.map((fault) => fault.name).join(", ")} wanted`);
      return found;
    });
    this.#forged.clear();
  }

  get names(): string[] {
    return this.#on.map(({ name }) => name);
  }

  /** What is answered as the boot proof of a key, in lower-case hex; undefined where no enclave has it. */
  bootProof(ephemeralKey: string, reader: Reader): JsonObject | undefined {
    const known = reader.get("enclaves", ephemeralKey);
    const saved = known ?? (this.#on.some(({ anyKey }) => anyKey) ? reader.all("enclaves").at(-1) : undefined);
    if (saved === undefined || this.#on.length === 0) return saved?.bootProof;
    const asked = this.#asked(saved, reader);
    const id = toHex(asked.key.publicKey);
    const made = this.#forged.get(id) ?? this.#forgeBootProof(asked);
    this.#forged.set(id, made);
    return made;
  }

  /** What an activity is answered as, its app proofs inside it. */
  activity(honest: JsonObject, reader: Reader): JsonObject {
    const altered = this.#on.reduce((activity, fault) => fault.activity?.(activity, reader) ?? activity, honest);
    const proofs = altered["appProofs"];
    return Array.isArray(proofs) && this.#on.length > 0 ? { ...altered, appProofs: this.#appProofs(proofs as JsonObject[], reader) } : altered;
  }

  #appProofs(honest: readonly JsonObject[], reader: Reader): JsonObject[] {
    const signed = this.#on.reduce((proofs, { appProof }) => (appProof ? proofs.map((proof) => this.#resigned(proof, appProof, reader)) : proofs), honest);
    return [...this.#on.reduce((proofs, fault) => fault.appProofs?.(proofs) ?? proofs, signed)];
  }

  #forgeBootProof(asked: Asked): JsonObject {
    const alterations = this.#on.map((fault) => fault.forge?.(asked)).filter((one) => one !== undefined);
    const { saved, release, at, key, fleet } = asked;
    const forged = alterations.length === 0 ? saved.bootProof : fleet.forgeBootProof(release, at, key, merged(alterations));
    return this.#on.reduce((proof, fault) => fault.bootProof?.(proof, asked) ?? proof, forged);
  }

  #resigned(proof: JsonObject, alter: NonNullable<Behaviour["appProof"]>, reader: Reader): JsonObject {
    const saved = reader.get("enclaves", proof["publicKey"] as string);
    if (saved === undefined) return proof;
    const asked = this.#asked(saved, reader);
    return this.#fleet.resign(saved, asked.release, JSON.parse(proof["proofPayload"] as string) as JsonObject, alter(asked));
  }

  #asked(saved: SavedEnclave, reader: Reader): Asked {
    const release = reader.get("releases", saved.enclaveId)!;
    const at = new Date(saved.bootedAt);
    return { saved, release, at, key: loadQosKeyPair(saved.key), forge: this.#fleet.forge(release), fleet: this.#fleet };
  }
}

/** The activity that made the wallet of an organization. */
function walletActivity(reader: Reader, of: (organizationId: JsonValue | undefined) => boolean): JsonObject {
  return reader.all("activities").find(({ activity }) => activity["type"] === "ACTIVITY_TYPE_CREATE_WALLET" && of(activity.organizationId))!.activity;
}

/** All of the alterations; where two alter the same thing, the later one does. */
function merged(alterations: readonly Partial<ForgeOptions>[]): Partial<ForgeOptions> {
  return alterations.reduce((before, after) => ({
    ...before, ...after,
    alterManifest: { ...before.alterManifest, ...after.alterManifest },
    alterDocument: { ...before.alterDocument, ...after.alterDocument },
  }));
}

/** An envelope of the manifest with the next nonce, rightly approved. */
function anotherEnvelope(manifest: Manifest, forge: Forge): ManifestEnvelope {
  const other = { ...manifest, namespace: { ...manifest.namespace, nonce: manifest.namespace.nonce + 1 } };
  const approvals = forge.manifestMembers.map((member) => approve(manifestHash(other), member));
  return { manifest: other, manifestSetApprovals: approvals, shareSetApprovals: [] };
}
