/**
 * The faults of the service, and the checks that must fail. Faults without `needs` appear in every submit with
 * `generateAppProofs`, and in the boot proofs for its app proofs.
 */
import { concatBytes, fromUtf8, toHex, toUtf8 } from "../bytes.js";
import type { CheckId } from "../checks.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import type { Manifest, ManifestEnvelope, Pivot } from "../decode/manifest/index.js";
import { type CborItem, encodeCbor } from "./cbor.js";
import { type AppProofAlterations, type DocumentAlterations, customPayload } from "./enclave.js";
import type { Fleet } from "./fleet.js";
import { type ForgeOptions, Forge, type ManifestAlterations } from "./forge.js";
import { generateKeyPair } from "./keys.js";
import { CHAIN, type CertificateSpec, KEY_USAGE, OID, algorithmIdentifier, basicConstraints, keyUsage } from "./pki.js";
import { type QosKeyPair, approve, generateQosKeyPair, manifestHash, memberSet, qosKeyPair, sha256 } from "./qos.js";
import type { SavedRelease } from "./records.js";
import type { Reader } from "./state.js";
import { keyOf, signedPayload, signedTransaction } from "./signing.js";
import { type Account, type WalletKey, addressOf, keyAt } from "./wallet.js";

export interface TargetEnclave {
  readonly release: SavedRelease;
  readonly at: Date;
  readonly key: QosKeyPair;
  readonly forge: Forge;
  readonly fleet: Fleet;
}

type AlterForge = (target: TargetEnclave) => Partial<ForgeOptions>;

export interface Answering {
  /** The answer before it is altered. */
  readonly honest: JsonObject;
  /** The last segment of the request's path, or `webhook`. */
  readonly operation: string;
  readonly reader: Reader;
  /** Signs the payload as the signer of `like`. */
  readonly sign: (like: JsonObject, payload: JsonObject) => JsonObject;
}

type AlterActivity = (activity: JsonObject, answering: Answering) => JsonObject;

/** A value of {@link LabFault.needs}: only a client that knows the request can detect the fault. */
export const VERIFIED_CALLS = "verified calls";

interface FaultFacts {
  readonly what: string;
  /**
   * Every check that fails for the activity and its boot proofs under the lab's policy, for the requested organization
   * and id. It is empty if the evidence cannot be fetched.
   */
  readonly fails: readonly CheckId[];
  /**
   * Operations that show the fault. Default: every submit. {@link VERIFIED_CALLS} marks faults that need a client which
   * knows the request.
   */
  readonly needs?: readonly string[];
}

export interface Behaviour extends FaultFacts {
  readonly forge?: AlterForge;
  /** Replaces the finished boot proof. */
  readonly bootProof?: (honest: JsonObject, target: TargetEnclave) => JsonObject;
  /** Returns boot proofs for unknown keys, too. */
  readonly anyKey?: boolean;
  /** Alters an app proof, then signs it again. */
  readonly appProof?: (target: TargetEnclave, answering: Answering) => AppProofAlterations;
  /** Replaces the app proofs of an activity, after `appProof`. */
  readonly appProofs?: (honest: readonly JsonObject[], answering: Answering) => readonly JsonObject[];
  readonly activity?: AlterActivity;
  /** The operations that return not found. */
  readonly refuses?: readonly string[];
}

function behaviours<Name extends string>(rows: Readonly<Record<Name, Behaviour>>): Readonly<Record<Name, Behaviour>> {
  return rows;
}

/** Another authority with its own keys under the same names. It is made on demand, because that is slow. */
let strangerMade: Forge | undefined;
function stranger(): Forge {
  return (strangerMade ??= new Forge());
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const OTHER_ID = "00000000-0000-4000-8000-000000000000";
const OTHER_ADDRESS = "0x1111111111111111111111111111111111111111";
const OTHER_SEED = new Uint8Array(64).fill(1);
const MINUTE = 60_000;

// Each of these helpers alters one thing.

const put =
  (name: string, value: JsonValue) =>
  (json: JsonObject): JsonObject => ({ ...json, [name]: value });
const document =
  (alterDocument: DocumentAlterations): AlterForge =>
  () => ({ alterDocument });
const field = (name: string, value: CborItem): AlterForge => document({ fields: (fields) => fields.set(name, value) });
const pcrs = (change: (pcrs: Map<number, Uint8Array>) => void): AlterForge =>
  document({ pcrs: (map) => (change(map), map) });
const certificate = (place: number, change: (spec: CertificateSpec) => Partial<CertificateSpec>): AlterForge =>
  document({
    certificates: (specs) => specs.map((spec, index) => (index === place ? { ...spec, ...change(spec) } : spec)),
  });
const alterManifest =
  (alterations: (target: TargetEnclave) => ManifestAlterations): AlterForge =>
  (target) => ({ alterManifest: alterations(target) });
const manifest = (parts: NonNullable<ManifestAlterations["parts"]>): AlterForge => alterManifest(() => ({ parts }));
/** Makes a v2 manifest, for values that older manifests or Borsh cannot express. */
const asV2 =
  (alter: AlterForge): AlterForge =>
  (target) => ({ ...alter(target), version: "v2", encoding: "json" });
/** Changes the pivot of a v2 manifest: workload manifests have no pivot, and older pivots lack members. */
const pivot = (change: (pivot: Pivot) => Pivot): AlterForge =>
  asV2(alterManifest(() => ({ manifest: (value) => ({ ...value, pivot: change(value.pivot) }) })));
const payload = (change: (proof: JsonObject) => JsonObject) => (): AppProofAlterations => ({ payload: change });

function flipped(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, index) => (index === bytes.length - 1 ? byte ^ 1 : byte));
}

/** Replaces members of the claim, the only object in a payload. */
function claim(members: JsonObject): (json: JsonObject) => JsonObject {
  return (json) =>
    Object.fromEntries(
      Object.entries(json).map(([name, value]) => [name, isJsonObject(value) ? { ...value, ...members } : value]),
    );
}

/** Replaces members of the only object in the intent or result. */
function inside(part: "intent" | "result", members: JsonObject): (activity: JsonObject) => JsonObject {
  return (activity) => ({ ...activity, [part]: claim(members)(activity[part] as JsonObject) });
}

const ofType =
  (type: string, alter: AlterActivity): AlterActivity =>
  (activity, answering) =>
    answering.honest["type"] === type ? alter(activity, answering) : activity;
const ofNewWallets = (alter: AlterActivity): AlterActivity => ofType("ACTIVITY_TYPE_CREATE_WALLET", alter);

function soleMember(activity: JsonObject, part: "intent" | "result"): JsonObject {
  return Object.values(activity[part] as JsonObject)[0] as JsonObject;
}

const addressesOf = (activity: JsonObject): string[] => soleMember(activity, "result")["addresses"] as string[];
const accountsOf = (activity: JsonObject): readonly Account[] =>
  soleMember(activity, "intent")["accounts"] as unknown as readonly Account[];

function otherAddresses(activity: JsonObject): string[] {
  return accountsOf(activity).map((account) => addressOf(OTHER_SEED, account));
}

function ofNewAddresses(
  members: (index: number, honest: JsonObject, reader: Reader) => JsonObject,
): NonNullable<Behaviour["appProof"]> {
  return (_, { honest, reader }) => {
    if (honest["type"] !== "ACTIVITY_TYPE_CREATE_WALLET") return {};
    return payload((json) => {
      const { address } = (json["addressDerivationProof"] ?? {}) as JsonObject;
      const index = addressesOf(honest).indexOf(String(address));
      return index < 0 ? json : claim(members(index, honest, reader))(json);
    })();
  };
}

type SignedPayload = Parameters<typeof signedPayload>[1];
type AlterSignature = (key: WalletKey, intent: SignedPayload, honest: JsonObject) => JsonObject;

function signaturesIn(activity: JsonObject): JsonObject[] {
  return soleMember(activity, "result")["signatures"] as JsonObject[];
}

function signerOf(activity: JsonObject, reader: Reader): WalletKey {
  return keyOf(reader, String(activity["organizationId"]), String(soleMember(activity, "intent")["signWith"]));
}

/** Alters each signature over a payload. */
function ofSignatures(alter: AlterSignature): AlterActivity {
  return (activity, { reader }) => {
    if (!String(activity["type"]).startsWith("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD")) return activity;
    const [key, intent] = [signerOf(activity, reader), soleMember(activity, "intent")];
    const altered = (payload: JsonValue, honest: JsonObject): JsonObject =>
      alter(key, { ...intent, payload } as unknown as SignedPayload, honest);
    const { payload, payloads } = intent;
    if (!Array.isArray(payloads)) return inside("result", altered(payload!, soleMember(activity, "result")))(activity);
    const signatures = payloads.map((one, index) => altered(one, signaturesIn(activity)[index]!));
    return inside("result", { signatures })(activity);
  };
}

function ofTransactions(signed: (key: WalletKey, intent: JsonObject) => string): AlterActivity {
  return ofType("ACTIVITY_TYPE_SIGN_TRANSACTION_V2", (activity, { reader }) =>
    inside("result", { signedTransaction: signed(signerOf(activity, reader), soleMember(activity, "intent")) })(
      activity,
    ),
  );
}

/** Signs everything with another key. The place of a Solana signer stays, so its signature belongs to no key. */
function signedAnew(other: (key: WalletKey) => WalletKey): AlterActivity {
  const payloads = ofSignatures((key, intent) => signedPayload(other(key), intent));
  const transactions = ofTransactions((key, intent) =>
    signedTransaction(
      { ...key, privateKey: other(key).privateKey },
      intent as unknown as Parameters<typeof signedTransaction>[1],
    ),
  );
  return (activity, answering) => transactions(payloads(activity, answering), answering);
}

/** Returns another payload, of equal length if bytes are signed without a hash. */
function otherPayload(intent: SignedPayload): SignedPayload {
  if (intent.encoding === "PAYLOAD_ENCODING_TEXT_UTF8") return { ...intent, payload: `${intent.payload} ` };
  const otherDigest = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", payload: "11".repeat(32) } as const;
  return { ...intent, ...otherDigest };
}

function otherHash({ curve }: WalletKey, intent: SignedPayload): SignedPayload {
  const { hashFunction, payload } = intent;
  if (curve === "CURVE_ED25519")
    return { ...intent, encoding: "PAYLOAD_ENCODING_HEXADECIMAL", payload: toHex(sha256(toUtf8(payload))) };
  const isSha256 = hashFunction === "HASH_FUNCTION_SHA256";
  return { ...intent, hashFunction: isSha256 ? "HASH_FUNCTION_KECCAK256" : "HASH_FUNCTION_SHA256" };
}

/** Replaces the recipient: an Ethereum address, or bytes of the second key of a Solana message. */
function withOtherRecipient(unsigned: string): string {
  const ethereum = /94[0-9a-f]{40}/i.exec(unsigned);
  const start = ethereum === null ? 2 * (1 + 64 + 4 + 32) : ethereum.index + 2;
  return `${unsigned.slice(0, start)}${"11".repeat(20)}${unsigned.slice(start + 40)}`;
}

function isAddressProof(proof: JsonObject): boolean {
  return (proof["proofPayload"] as string).includes("addressDerivationProof");
}

function otherOrganization(reader: Reader, than: JsonValue | undefined): string {
  return reader.all("organizations").find(({ organizationId }) => organizationId !== than)!.organizationId;
}

const DOCUMENT_FAULTS = behaviours({
  "malformed-cose": {
    what: "the attestation document has a byte too many",
    fails: ["cose.structure"],
    forge: document({ cose: (bytes) => concatBytes(bytes, Uint8Array.of(0)) }),
  },
  "another-algorithm": {
    what: "the document's signed header names ES256",
    fails: ["cose.algorithm"],
    forge: document({ protectedHeader: () => encodeCbor(new Map([[1, -7]])) }),
  },
  "altered-document": {
    what: "the document was changed after it was signed",
    fails: ["cose.signature"],
    forge: document({ signature: flipped }),
  },
  "malformed-document": {
    what: "the document names a digest that is not SHA384",
    fails: ["doc.structure"],
    forge: field("digest", "SHA256"),
  },
  "foreign-root": {
    what: "the document comes from another authority with the same names",
    fails: ["chain.anchor"],
    forge: ({ at }) => ({ alterDocument: { certificates: () => stranger().pki.chainSpecs(at) } }),
  },
  "forged-leaf": {
    what: "the leaf certificate is signed by a key that is not its issuer's",
    fails: ["chain.signature"],
    forge: certificate(CHAIN.leaf, () => ({ issuerKey: generateKeyPair("secp384r1") })),
  },
  "weak-certificate": {
    what: "a certificate names SHA-256 beside its signature",
    fails: ["chain.algorithm"],
    forge: certificate(CHAIN.zone, () => ({ outerAlgorithm: algorithmIdentifier(OID.ecdsaWithSha256) })),
  },
  "expired-chain": {
    what: "the leaf certificate had expired when the document was made",
    fails: ["chain.validity"],
    forge: certificate(CHAIN.leaf, ({ notBefore, notAfter }) => ({
      notBefore: new Date(notBefore.getTime() - 6 * HOUR),
      notAfter: new Date(notAfter.getTime() - 6 * HOUR),
    })),
  },
  "leaf-as-authority": {
    what: "the leaf certificate is issued by a certificate that is not an authority",
    fails: ["chain.constraints"],
    forge: certificate(CHAIN.instance, () => ({
      extensions: [basicConstraints(false), keyUsage(true, KEY_USAGE.digitalSignature)],
    })),
  },
});

const MANIFEST_FAULTS = behaviours({
  "duplicated-member": {
    what: "the manifest is JSON in which a member appears twice",
    fails: ["manifest.decode"],
    forge: asV2(
      alterManifest(() => ({
        bytes: (bytes) => toUtf8(fromUtf8(bytes)!.replace('"version"', '"version":"v2","version"')),
      })),
    ),
  },
  "malformed-envelope": {
    what: "the envelope is JSON without its approvals",
    fails: ["envelope.decode"],
    forge: asV2(alterManifest(() => ({ envelopeJson: ({ manifest: only }) => ({ manifest: only! }) }))),
  },
  "another-envelope": {
    what: "the envelope approves another manifest, with the next nonce",
    fails: ["envelope.manifest"],
    forge: alterManifest(({ forge }) => ({ envelope: (envelope) => anotherEnvelope(envelope.manifest, forge) })),
  },
  "missing-approvals": {
    what: "fewer operators approved the manifest than it demands",
    fails: ["envelope.approvals"],
    forge: alterManifest(() => ({ approvals: ([first]) => [first!] })),
  },
  "outsider-approval": {
    what: "one of the approvals is not by an operator",
    fails: ["envelope.approvals"],
    forge: alterManifest(() => ({
      approvals: ([first], hash) => [first!, approve(hash, stranger().manifestMembers[1]!)],
    })),
  },
  "outsider-share": {
    what: "a share-set approval is not by a holder of a share",
    fails: ["envelope.shares"],
    forge: alterManifest(() => ({ shareApprovals: (_, hash) => [approve(hash, stranger().shareMembers[0]!)] })),
  },
  "debug-application": {
    what: "the application runs in debug mode",
    fails: ["mode.debug"],
    forge: pivot((value) => ({ ...value, debugMode: true })),
  },
});

const BINDING_FAULTS = behaviours({
  "another-enclaves-proof": {
    what: "the boot proof is another enclave's, genuine and of the same release",
    fails: ["app.key"],
    bootProof: (_, { fleet, release, at }) => fleet.standby(release, at),
  },
  "relabelled-proof": {
    what: "another enclave's boot proof, relabelled with the requested key",
    fails: ["bind.key", "app.key"],
    bootProof: ({ ephemeralPublicKeyHex }, { fleet, release, at }) => ({
      ...fleet.standby(release, at),
      ephemeralPublicKeyHex: ephemeralPublicKeyHex!,
    }),
  },
  "swapped-keys": {
    what: "the boot proof attests the two halves of the key in the wrong order",
    fails: ["app.key"],
    forge: ({ key }) => ({ ephemeralKey: qosKeyPair(key.signing, key.encryption) }),
  },
  "malformed-base64": {
    what: "a field of the boot proof is not base64",
    fails: ["boot.decode"],
    bootProof: (honest) => put("qosManifestB64", `${honest["qosManifestB64"] as string}\n`)(honest),
  },
  "another-user-data": {
    what: "the document commits to another manifest",
    fails: ["bind.user-data"],
    forge: field("user_data", sha256(toUtf8("another manifest"))),
  },
  "another-image": {
    what: "the enclave runs an image that the manifest does not name",
    fails: ["bind.pcrs"],
    forge: pcrs((map) => map.set(0, flipped(map.get(0)!))),
  },
  "debug-mode": {
    what: "the enclave runs in debug mode: its measurements are zeros, and the manifest agrees",
    fails: ["mode.debug"],
    forge: (target) => ({
      ...manifest(({ enclave }) => ({
        enclave: {
          ...enclave,
          pcr0: new Uint8Array(PCR_LENGTH),
          pcr1: new Uint8Array(PCR_LENGTH),
          pcr2: new Uint8Array(PCR_LENGTH),
        },
      }))(target),
      ...pcrs((map) => [0, 1, 2].forEach((index) => map.set(index, new Uint8Array(PCR_LENGTH))))(target),
    }),
  },
  "commitment-missing": {
    what: "the PCRs of the commitment are zeros",
    fails: ["bind.commitment"],
    forge: pcrs((map) => [16, 17].forEach((index) => map.set(index, new Uint8Array(PCR_LENGTH)))),
  },
  "commitment-mismatched": {
    what: "the enclave committed to another manifest or key",
    fails: ["bind.commitment"],
    forge: pcrs((map) => map.set(17, flipped(map.get(17)!))),
  },
  "nonce-present": {
    what: "the document was made for a challenge, and carries its nonce",
    fails: ["bind.nonce"],
    forge: field("nonce", Uint8Array.of(1, 2, 3)),
  },
});

const APP_PROOF_FAULTS = behaviours({
  "another-scheme": {
    what: "the app proofs name another signature scheme",
    fails: ["app.decode"],
    appProofs: (proofs) => proofs.map(put("scheme", "SIGNATURE_SCHEME_TK_API_P256")),
  },
  "tampered-payload": {
    what: "the payloads of the app proofs were changed after they were signed",
    fails: ["app.signature"],
    appProofs: (proofs) =>
      proofs.map((proof) =>
        put(
          "proofPayload",
          (proof["proofPayload"] as string).replace(/\d(?=")/, (digit) => String(9 - Number(digit))),
        )(proof),
      ),
  },
  "another-signer": {
    what: "the app proofs name the enclave's key, but another key signed them",
    fails: ["app.signature"],
    appProof: () => ({ signer: generateQosKeyPair() }),
  },
  "unattested-key": {
    what: "the app proofs are signed by a key that no enclave attested, and a genuine boot proof is shown for it",
    fails: ["app.key"],
    anyKey: true,
    appProof: () => ({
      signer: stranger().ephemeralKey,
      json: put("publicKey", toHex(stranger().ephemeralKey.publicKey)),
    }),
  },
  "setup-key": {
    what: "the app proofs are signed with the key of an enclave's setup",
    fails: ["app.key", "policy.deployment", "policy.commitment"],
    forge: () => ({ generation: "setup" }),
  },
  "duplicated-payload-member": {
    what: "the signed payloads have a member twice",
    fails: ["app.payload"],
    appProof: () => ({ text: (text) => text.replace("{", '{"type":"APP_PROOF_TYPE_OTHER",') }),
  },
  "replayed-proof": {
    what: "the app proofs are older than the request",
    fails: ["app.time"],
    needs: [VERIFIED_CALLS],
    appProof: ({ at }) => ({ payload: put("timestampMs", String(at.getTime() - HOUR)) }),
  },
  "future-proof": {
    what: "the app proofs are dated a year ahead",
    fails: ["app.time"],
    appProof: payload((json) => put("timestampMs", String(Number(json["timestampMs"]) + 365 * DAY))(json)),
  },
  "custom-proof-only": {
    what: "the only app proof is of an unknown type: neither a decision nor an address",
    fails: ["policy.app-proof"],
    appProofs: (proofs, { sign }) => proofs.slice(0, 1).map((proof) => sign(proof, customPayload(signedAt(proof)))),
  },
  "unknown-type": {
    what: "the app proofs are of a type that the policy does not list",
    fails: ["policy.app-proof"],
    appProof: ({ at }) => ({ payload: (json) => ({ ...customPayload(at), timestampMs: json["timestampMs"]! }) }),
  },
});

const ACTIVITY_FAULTS = behaviours({
  "dropped-app-proofs": {
    what: "the activity lacks the requested app proofs",
    fails: ["activity.decode"],
    appProofs: () => [],
  },
  "another-organization": {
    what: "the app proofs name another organization",
    fails: ["activity.claims"],
    appProof: payload(claim({ organizationId: OTHER_ID })),
  },
  "another-wallet": {
    what: "the address derivation proofs name another wallet",
    fails: ["activity.claims", "activity.coverage"],
    needs: ["update_wallet", "create_wallet"],
    appProof: payload((json) => ("addressDerivationProof" in json ? claim({ walletId: OTHER_ID })(json) : json)),
  },
  "another-wallets-answer": {
    what: "the activity and its app proofs are about different wallets",
    fails: ["activity.claims", "activity.coverage"],
    needs: ["update_wallet", "create_wallet"],
    activity: (activity) =>
      inside("intent", { walletId: OTHER_ID })(inside("result", { walletId: OTHER_ID })(activity)),
  },
  "another-activitys-answer": {
    what: "the response is another organization's activity, with the app proofs of the right one",
    fails: ["activity.request", "activity.claims", "activity.coverage"],
    activity: ({ id, appProofs = [] }, { honest, reader }) => ({
      ...foreignActivity(honest, reader),
      id: id!,
      appProofs,
    }),
  },
  "denied-outcome": {
    what: "the enclave denied what the service reports as completed",
    fails: ["activity.claims"],
    appProof: payload((json) =>
      "policyOutcomeProof" in json ? claim({ outcome: "OUTCOME_DENY_EXPLICIT" })(json) : json,
    ),
  },
  "coverage-gap": {
    what: "the activity's result holds an address that no app proof backs",
    fails: ["activity.coverage"],
    appProofs: (proofs) => proofs.filter((proof) => !isAddressProof(proof)),
    activity: inside("result", { addresses: [OTHER_ADDRESS] }),
  },
});

/** Responses to another request, or with another result. */
const ANSWER_FAULTS = behaviours({
  "earlier-answer": {
    what: "every response is an activity that made a wallet, with its genuine app proofs",
    fails: ["activity.request"],
    needs: [VERIFIED_CALLS],
    activity: (_, { honest, reader }) => earlierActivity(honest, reader),
  },
  "wrong-activity": {
    what: "the activity in the response does not have the requested id",
    fails: ["activity.request"],
    needs: ["get_activity"],
    activity: (activity, { operation }) => (operation === "get_activity" ? { ...activity, id: OTHER_ID } : activity),
  },
  "no-activity-answer": {
    what: "the activity is not found, and the app proofs listed for it are genuine ones of another organization",
    fails: [],
    needs: ["get_activity"],
    refuses: ["get_activity"],
    activity: (activity, { honest, operation, reader }) =>
      operation === "list_app_proofs" ? foreignActivity(honest, reader) : activity,
  },
  "not-completed": {
    what: "the activity has its result and its app proofs, but its status is pending",
    fails: ["activity.request"],
    activity: put("status", "ACTIVITY_STATUS_PENDING"),
  },
  "altered-intent": {
    what: "the intent says more than was submitted",
    fails: ["activity.request"],
    needs: [VERIFIED_CALLS],
    activity: inside("intent", { note: "not submitted" }),
  },
  "stale-answer": {
    what: "the app proofs were signed two minutes before the request",
    fails: ["app.time"],
    needs: [VERIFIED_CALLS],
    forge: ({ at }) => ({ at: new Date(at.getTime() - HOUR) }),
    appProof: payload((json) => put("timestampMs", String(Number(json["timestampMs"]) - 2 * MINUTE))(json)),
  },
  "session-of-another": {
    what: "the session is for a user of an organization that was not requested",
    fails: ["activity.request"],
    needs: ["create_read_write_session"],
    activity: ofType("ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2", (activity, { honest, reader }) =>
      inside("result", { organizationId: otherOrganization(reader, honest["organizationId"]), userId: OTHER_ID })(
        activity,
      ),
    ),
  },
  "feature-not-set": {
    what: "a feature has a value that was not submitted",
    fails: ["activity.request"],
    needs: ["set_organization_feature"],
    activity: ofType("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", (activity) => {
      const { name } = soleMember(activity, "intent");
      const features = soleMember(activity, "result")["features"] as JsonObject[];
      const others = features.filter((feature) => feature["name"] !== name);
      return inside("result", { features: [...others, { name: name!, value: "not what was submitted" }] })(activity);
    }),
  },
});

const NEW_WALLET_FAULTS = behaviours({
  "foreign-wallet-answer": {
    what:
      "the new wallet is another organization's, with genuine proofs of it, and that organization's id in the " +
      "result",
    fails: ["activity.claims"],
    needs: ["create_wallet"],
    activity: ofNewWallets((activity, { honest, reader }) => {
      const other = otherOrganization(reader, honest["organizationId"]);
      const wallet = { walletId: OTHER_ID, addresses: otherAddresses(honest) };
      return inside("result", { ...wallet, organizationId: other, subOrganizationId: other })(activity);
    }),
    appProof: ofNewAddresses((index, honest, reader) => ({
      organizationId: otherOrganization(reader, honest["organizationId"]),
      walletId: OTHER_ID,
      address: otherAddresses(honest)[index]!,
    })),
  },
  "swapped-addresses": {
    what: "the first and the last of several addresses are exchanged",
    fails: ["activity.claims", "activity.coverage"],
    needs: ["create_wallet"],
    activity: ofNewWallets((activity) => {
      const addresses = addressesOf(activity);
      const [first, last] = [addresses[0]!, addresses.at(-1)!];
      return inside("result", {
        addresses: addresses.length < 2 ? addresses : [last, ...addresses.slice(1, -1), first],
      })(activity);
    }),
  },
  "extra-address": {
    what: "the result has one address more than requested, with a genuine proof of it",
    fails: ["activity.claims", "activity.coverage"],
    needs: ["create_wallet"],
    activity: ofNewWallets((activity) =>
      inside("result", { addresses: [...addressesOf(activity), OTHER_ADDRESS] })(activity),
    ),
    appProofs: (proofs, answering) => withExtraProof(proofs, answering),
  },
  "extra-account": {
    what: "intent and result have an account that was not requested, with a genuine proof of its address",
    fails: ["activity.request"],
    needs: ["create_wallet", VERIFIED_CALLS],
    activity: ofNewWallets((activity) => {
      const account = { ...accountsOf(activity)[0], path: EXTRA_PATH };
      const widened = inside("intent", { accounts: [...(accountsOf(activity) as unknown as JsonObject[]), account] })(
        activity,
      );
      return inside("result", { addresses: [...addressesOf(activity), OTHER_ADDRESS] })(widened);
    }),
    appProofs: (proofs, answering) => withExtraProof(proofs, answering),
  },
  "wallet-list": {
    what: "the first address is another wallet's, with a genuine proof of it, and the result lists that wallet too",
    fails: ["activity.claims", "activity.coverage"],
    needs: ["create_wallet"],
    activity: ofNewWallets((activity) => {
      const { walletId } = soleMember(activity, "result");
      const addresses = [otherAddresses(activity)[0]!, ...addressesOf(activity).slice(1)];
      const lists = { wallets: [{ walletId: OTHER_ID }], walletIds: [walletId!, OTHER_ID] };
      return inside("result", { addresses, ...lists })(activity);
    }),
    appProof: ofNewAddresses((index, honest): JsonObject =>
      index === 0 ? { walletId: OTHER_ID, address: otherAddresses(honest)[0]! } : {},
    ),
  },
  "nested-addresses": {
    what: "the addresses are in a list inside their list, and no app proof backs them",
    fails: ["activity.coverage"],
    needs: ["create_wallet"],
    activity: ofNewWallets((activity) => inside("result", { addresses: [addressesOf(activity)] })(activity)),
    appProofs: (proofs, { honest }) =>
      honest["type"] === "ACTIVITY_TYPE_CREATE_WALLET" ? proofs.filter((proof) => !isAddressProof(proof)) : proofs,
  },
});

const SIGNS_PAYLOADS = ["sign_raw_payload", "sign_raw_payloads", VERIFIED_CALLS];
const SIGNS_TRANSACTIONS = ["sign_transaction", VERIFIED_CALLS];

const SIGNATURE_FAULTS = behaviours({
  "signature-of-another-key": {
    what: "the signatures are those of another key",
    fails: ["activity.signature"],
    needs: [...SIGNS_PAYLOADS, "sign_transaction"],
    activity: signedAnew(({ curve }) => keyAt(OTHER_SEED, { path: "m/0'", curve })),
  },
  "signature-over-another-payload": {
    what: "the signatures are the key's, over other payloads of the same encoding",
    fails: ["activity.signature"],
    needs: SIGNS_PAYLOADS,
    activity: ofSignatures((key, intent) => signedPayload(key, otherPayload(intent))),
  },
  "signature-of-another-hash": {
    what: "the signatures are the key's, over the payloads with another hash function",
    fails: ["activity.signature"],
    needs: SIGNS_PAYLOADS,
    activity: ofSignatures((key, intent) => signedPayload(key, otherHash(key, intent))),
  },
  "altered-recovery-id": {
    what: "the v of each signature is the other one",
    fails: ["activity.signature"],
    needs: SIGNS_PAYLOADS,
    activity: ofSignatures((key, intent, honest) =>
      key.curve === "CURVE_ED25519" ? honest : { ...honest, v: honest["v"] === "00" ? "01" : "00" },
    ),
  },
  "missing-signature": {
    what: "there is one signature fewer than payloads",
    fails: ["activity.signature"],
    needs: ["sign_raw_payloads", VERIFIED_CALLS],
    activity: ofType("ACTIVITY_TYPE_SIGN_RAW_PAYLOADS", (activity) =>
      inside("result", { signatures: signaturesIn(activity).slice(1) })(activity),
    ),
  },
  "swapped-signatures": {
    what: "the signatures are in another order than the payloads",
    fails: ["activity.signature"],
    needs: ["sign_raw_payloads", VERIFIED_CALLS],
    activity: ofType("ACTIVITY_TYPE_SIGN_RAW_PAYLOADS", (activity) =>
      inside("result", { signatures: [...signaturesIn(activity)].reverse() })(activity),
    ),
  },
  "another-recipient": {
    what: "the signed transaction is the key's, and goes to another recipient",
    fails: ["activity.signature"],
    needs: SIGNS_TRANSACTIONS,
    activity: ofTransactions((key, intent) => {
      const unsignedTransaction = withOtherRecipient(String(intent["unsignedTransaction"]));
      return signedTransaction(key, { ...intent, unsignedTransaction } as Parameters<typeof signedTransaction>[1]);
    }),
  },
});

const POLICY_FAULTS = behaviours({
  "another-release": {
    what: "an approved release runs that is not pinned: it has other measurements",
    fails: ["policy.deployment", "policy.pcrs"],
    forge: (target) => ({
      ...manifest(({ enclave }) => ({ enclave: { ...enclave, pcr0: flipped(enclave.pcr0) } }))(target),
      ...pcrs((map) => map.set(0, flipped(map.get(0)!)))(target),
    }),
  },
  "another-binary": {
    what: "another application binary runs in the pinned image",
    fails: ["policy.deployment", "policy.pivot"],
    forge: pivot((value) => ({ ...value, hash: flipped(value.hash) })),
  },
  "another-namespace": {
    what: "the enclave belongs to another namespace",
    fails: ["policy.deployment", "policy.namespace"],
    forge: manifest(({ namespace }) => ({ namespace: { ...namespace, name: "lab/another" } })),
  },
  "stale-manifest": {
    what: "the enclave booted an approved manifest of an older nonce",
    fails: ["policy.deployment", "policy.nonce"],
    forge: manifest(({ namespace }) => ({ namespace: { ...namespace, nonce: 1 } })),
  },
  "another-quorum-key": {
    what: "the enclave is provisioned with another quorum key",
    fails: ["policy.deployment", "policy.quorum-key"],
    forge: manifest(({ namespace }) => ({ namespace: { ...namespace, quorumKey: stranger().quorumKey.publicKey } })),
  },
  "another-manifest-set": {
    what: "the manifest names other operators, who all approved it",
    fails: ["policy.deployment", "policy.manifest-set"],
    forge: alterManifest(() => ({
      parts: () => ({ manifestSet: memberSet(2, stranger().manifestMembers) }),
      approvals: (_, hash) => stranger().manifestMembers.map((member) => approve(hash, member)),
    })),
  },
  "another-share-set": {
    what: "others hold the shares of the quorum key",
    fails: ["policy.deployment", "policy.share-set"],
    forge: alterManifest(() => ({
      parts: () => ({ shareSet: memberSet(2, stranger().shareMembers) }),
      shareApprovals: (_, hash) => stranger().shareMembers.map((member) => approve(hash, member)),
    })),
  },
  "legacy-enclave": {
    what: "an older enclave runs, which commits to nothing",
    fails: ["policy.deployment", "policy.commitment"],
    forge: () => ({ generation: "legacy" }),
  },
  "another-label": {
    what: "the service labels the enclave as another deployment",
    fails: ["policy.deployment", "policy.labels"],
    bootProof: put("deploymentLabel", "lab.0"),
  },
  "ancient-boot": {
    what: "the boot proof is two months old",
    fails: ["policy.age"],
    forge: ({ at }) => ({ at: new Date(at.getTime() - 60 * DAY) }),
  },
});

/** The faults, roughly in the order of the checks that fail. */
export const BEHAVIOURS = {
  ...DOCUMENT_FAULTS,
  ...MANIFEST_FAULTS,
  ...BINDING_FAULTS,
  ...APP_PROOF_FAULTS,
  ...ACTIVITY_FAULTS,
  ...ANSWER_FAULTS,
  ...NEW_WALLET_FAULTS,
  ...SIGNATURE_FAULTS,
  ...POLICY_FAULTS,
};

export type FaultName = keyof typeof BEHAVIOURS;

/** Any string, so that external names compile. Editors complete known names. */
export type GivenFaultName = FaultName | (string & Record<never, never>);

export interface LabFault extends FaultFacts {
  readonly name: FaultName;
}

export const FAULTS: readonly LabFault[] = Object.entries(BEHAVIOURS).map(([name, { what, fails, needs }]) => ({
  name: name as FaultName,
  what,
  fails,
  ...(needs && { needs }),
}));

/** The faults that only a client which compares the response with its request detects. */
export const SUBTLE_FAULTS: readonly LabFault[] = FAULTS.filter(({ needs }) => needs?.includes(VERIFIED_CALLS));

function foreignActivity(honest: JsonObject, reader: Reader): JsonObject {
  return walletActivity(reader, (activity) => activity["organizationId"] !== honest["organizationId"]) ?? honest;
}

function earlierActivity(honest: JsonObject, reader: Reader): JsonObject {
  const { id, organizationId } = honest;
  return (
    walletActivity(reader, (activity) => activity["organizationId"] === organizationId && activity["id"] !== id) ??
    honest
  );
}

function walletActivity(reader: Reader, wanted: (activity: JsonObject) => boolean): JsonObject | undefined {
  const activities = reader.all("activities").map(({ activity }): JsonObject => activity);
  return activities.find(
    (activity) => activity["type"] === "ACTIVITY_TYPE_CREATE_WALLET" && activity["appProofs"] && wanted(activity),
  );
}

const EXTRA_PATH = "m/44'/60'/0'/0/1000";

/** Adds a proof of {@link OTHER_ADDRESS}. */
function withExtraProof(proofs: readonly JsonObject[], { honest, sign }: Answering): readonly JsonObject[] {
  const like = proofs.find(isAddressProof);
  if (honest["type"] !== "ACTIVITY_TYPE_CREATE_WALLET" || like === undefined) return proofs;
  const extra = claim({ derivationPath: EXTRA_PATH, address: OTHER_ADDRESS })(payloadOf(like));
  return [...proofs, sign(like, extra)];
}

export function payloadOf(proof: JsonObject): JsonObject {
  return JSON.parse(proof["proofPayload"] as string) as JsonObject;
}

function signedAt(proof: JsonObject): Date {
  return new Date(Number(payloadOf(proof)["timestampMs"]));
}

/** Makes an approved envelope with the next nonce. */
function anotherEnvelope(manifest: Manifest, forge: Forge): ManifestEnvelope {
  const other = { ...manifest, namespace: { ...manifest.namespace, nonce: manifest.namespace.nonce + 1 } };
  const approvals = forge.manifestMembers.map((member) => approve(manifestHash(other), member));
  return { manifest: other, manifestSetApprovals: approvals, shareSetApprovals: [] };
}
