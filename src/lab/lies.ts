/**
 * The lies of the service, a row each: what is wrong in one sentence, the checks that refuse it, the operations that
 * show it, and what it changes. Rows without `needs` affect every submit with `generateAppProofs`, and the boot proofs
 * for its app proofs. They are roughly in the order of the checks that fail. Lies of boots are in `boot-faults.ts`.
 */
import { randomUUID } from "node:crypto";
import { Integer } from "asn1js";
import { concatBytes, toHex, toUtf8 } from "../bytes.js";
import { otherMembers } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { P256_POINT_LENGTH } from "../decode/lengths.js";
import type { SignedPolicyCode } from "../signed-policy/index.js";
import { generateApiKey } from "./api-key.js";
import { derSignature, halves, isHigh, ofAnotherRequest, withAnotherChallenge } from "./application-proofs.js";
import { derOf, integer, sequence } from "./asn1.js";
import {
  type AlterActivity,
  type Answering,
  type AuthAnswering,
  type Behaviour,
  type Listing,
  VERIFIED_CALLS,
  behaviours,
  otherForge,
  payloadOf,
  put,
} from "./behaviour.js";
import { BINDING_FAULTS, DOCUMENT_FAULTS, MANIFEST_FAULTS, POLICY_FAULTS } from "./boot-faults.js";
import { type AppProofAlterations, customPayload } from "./enclave.js";
import { DAY, HOUR } from "./pki.js";
import {
  type LabSigner,
  PAYLOAD_TYPE,
  type PolicyFeed,
  type VersionChanges,
  newTeam,
  timesFrom,
} from "./policy-feed.js";
import { generateQosKeyPair, sha256 } from "./qos.js";
import { keyOf, signedPayload, signedTransaction } from "./signing.js";
import type { Reader } from "./state.js";
import { bundleData, claimsOf, otpClaims, otpToken, sessionToken, signedBundle } from "./tokens.js";
import { type Account, type WalletKey, addressOf, keyAt } from "./wallet.js";

const OTHER_ID = "00000000-0000-4000-8000-000000000000";
const OTHER_ADDRESS = "0x1111111111111111111111111111111111111111";
const OTHER_SEED = new Uint8Array(64).fill(1);

const payload = (change: (proof: JsonObject) => JsonObject) => (): AppProofAlterations => ({ payload: change });

/** Replaces members of the claim, the only member of a payload that is an object. */
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

/** Replaces members of the result. */
const inResult =
  (members: (activity: JsonObject, answering: Answering) => JsonObject): AlterActivity =>
  (activity, answering) =>
    inside("result", members(activity, answering))(activity);

function soleMember(activity: JsonObject, part: "intent" | "result"): JsonObject {
  return Object.values(activity[part] as JsonObject)[0] as JsonObject;
}

const CREATE_WALLET = "ACTIVITY_TYPE_CREATE_WALLET";
const addressesOf = (activity: JsonObject): string[] => soleMember(activity, "result")["addresses"] as string[];
const accountsOf = (activity: JsonObject): JsonObject[] => soleMember(activity, "intent")["accounts"] as JsonObject[];

function otherAddresses(activity: JsonObject): string[] {
  return accountsOf(activity).map((account) => addressOf(OTHER_SEED, account as unknown as Account));
}

const withOneAddressMore = inResult((activity) => ({ addresses: [...addressesOf(activity), OTHER_ADDRESS] }));

function ofNewAddresses(
  members: (index: number, honest: JsonObject, reader: Reader) => JsonObject,
): NonNullable<Behaviour["appProof"]> {
  return (_, { honest, reader }) =>
    payload((json) => {
      const { address } = (json["addressDerivationProof"] ?? {}) as JsonObject;
      const index = addressesOf(honest).indexOf(String(address));
      return index < 0 ? json : claim(members(index, honest, reader))(json);
    })();
}

function isAddressProof(proof: JsonObject): boolean {
  return (proof["proofPayload"] as string).includes("addressDerivationProof");
}

function withoutAddressProofs(proofs: readonly JsonObject[]): readonly JsonObject[] {
  return proofs.filter((proof) => !isAddressProof(proof));
}

function otherOrganization(reader: Reader, than: JsonValue | undefined): string {
  return reader.all("organizations").find(({ organizationId }) => organizationId !== than)!.organizationId;
}

function foreignActivity(honest: JsonObject, reader: Reader): JsonObject {
  return walletActivity(reader, (activity) => activity["organizationId"] !== honest["organizationId"]) ?? honest;
}

function earlierActivity(honest: JsonObject, reader: Reader): JsonObject {
  const { id, organizationId } = honest;
  const isEarlier = (one: JsonObject): boolean => one["organizationId"] === organizationId && one["id"] !== id;
  return walletActivity(reader, isEarlier) ?? honest;
}

function walletActivity(reader: Reader, wanted: (activity: JsonObject) => boolean): JsonObject | undefined {
  const activities = reader.all("activities").map(({ activity }): JsonObject => activity);
  return activities.find((activity) => activity["type"] === CREATE_WALLET && activity["appProofs"] && wanted(activity));
}

const EXTRA_PATH = "m/44'/60'/0'/0/1000";

/** Adds a proof of {@link OTHER_ADDRESS}. */
function withExtraProof(proofs: readonly JsonObject[], answering: Answering): readonly JsonObject[] {
  const like = proofs.find(isAddressProof);
  if (like === undefined) return proofs;
  const extra = claim({ derivationPath: EXTRA_PATH, address: OTHER_ADDRESS })(payloadOf(like));
  return [...proofs, answering.sign(like, extra)];
}

function signedAt(proof: JsonObject): Date {
  return new Date(Number(payloadOf(proof)["timestampMs"]));
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
    const [key, intent] = [signerOf(activity, reader), soleMember(activity, "intent")];
    const altered = (payload: JsonValue, honest: JsonObject): JsonObject =>
      alter(key, { ...intent, payload } as unknown as SignedPayload, honest);
    const { payload, payloads } = intent;
    if (!Array.isArray(payloads)) return inside("result", altered(payload!, soleMember(activity, "result")))(activity);
    const signatures = payloads.map((one, index) => altered(one, signaturesIn(activity)[index]!));
    return inside("result", { signatures })(activity);
  };
}

type SignedTransaction = Parameters<typeof signedTransaction>[1];

function ofTransactions(signed: (key: WalletKey, intent: SignedTransaction) => string): AlterActivity {
  return inResult((activity, { reader }) => {
    const intent = soleMember(activity, "intent") as unknown as SignedTransaction;
    return { signedTransaction: signed(signerOf(activity, reader), intent) };
  });
}

/**
 * Signs everything with another key. The signer that a Solana message names stays the same, so the signature is wrong.
 */
function signedAnew(other: (key: WalletKey) => WalletKey): AlterActivity {
  const payloads = ofSignatures((key, intent) => signedPayload(other(key), intent));
  const transactions = ofTransactions((key, intent) =>
    signedTransaction({ ...key, privateKey: other(key).privateKey }, intent),
  );
  return (activity, answering) =>
    ("unsignedTransaction" in soleMember(activity, "intent") ? transactions : payloads)(activity, answering);
}

/**
 * Returns another payload. If it is not text it has 32 bytes, the length of a digest, since some signatures do not hash
 * it.
 */
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

type List = NonNullable<Behaviour["list"]>;

/** Alters the first item of each page. */
const ofFirst =
  (alter: (item: JsonObject, listing: Listing) => JsonObject): List =>
  ([first, ...others], listing) => [alter(first!, listing), ...others];

/** Adds items to the first page, before its own. */
const withMore =
  (more: (listing: Listing) => readonly JsonObject[]): List =>
  (items, listing) =>
    listing.isFirstPage ? [...more(listing), ...items] : items;

/** Returns what the operation lists of another organization. */
const othersOf = ({ organizationId, others }: Listing): readonly JsonObject[] => others(organizationId);

type Alter = NonNullable<Behaviour["auth"]>;

const proofsIn = (answer: JsonObject): JsonObject[] => answer["appProofs"] as JsonObject[];
const withoutLast = <T>(items: readonly T[]): T[] => items.slice(0, -1);

/** Alters the last app proof. */
const ofLastProof =
  (alter: (proof: JsonObject, answering: AuthAnswering) => JsonObject): Alter =>
  (answer, answering) => {
    const proofs = proofsIn(answer);
    return { ...answer, appProofs: proofs.with(-1, alter(proofs.at(-1)!, answering)) };
  };

const ofLastClaim = (members: JsonObject): Alter =>
  ofLastProof((proof, { sign }) => sign(proof, claim(members)(payloadOf(proof))));

const ofAddresses = (alter: (addresses: string[]) => string[]) => (answer: JsonObject) => {
  const wallet = answer["wallet"] as { readonly addresses: string[] };
  return { ...answer, wallet: { ...wallet, addresses: alter(wallet.addresses) } };
};

const ofSession =
  (alter: (claims: JsonObject, now: Date) => JsonObject, isOtherKey = false): Alter =>
  (answer, { key, now }) => {
    const claims = alter(claimsOf(String(answer["session"])), now);
    return { ...answer, session: sessionToken(isOtherKey ? otherForge().quorumKey : key("notarizer"), claims) };
  };

const ofTarget =
  (more: JsonObject, isOtherKey = false): Alter =>
  (answer, { key }) => {
    const data = { ...bundleData(String(answer["otpEncryptionTargetBundle"])), ...more };
    const signer = isOtherKey ? otherForge().quorumKey : key("tls-fetcher");
    return { ...answer, otpEncryptionTargetBundle: signedBundle(key("tls-fetcher"), data, signer) };
  };

/** Sign-ups without a wallet have nothing to alter. */
const ofWallets =
  (alter: Alter): Alter =>
  (answer, answering) =>
    proofsIn(answer).length === 0 ? answer : alter(answer, answering);

/** A consumer with a state refuses the feed with `code`. Null: it is not refused. */
function fault(what: string, code: SignedPolicyCode | null, feed: NonNullable<Behaviour["feed"]>): Behaviour {
  return { what, fails: [], code, feed };
}

/** One version more, with something wrong. */
function next(changes: (feed: PolicyFeed) => VersionChanges): (feed: PolicyFeed) => string {
  return (feed) => feed.text + feed.next(changes(feed)).line;
}
type Choice = (old: readonly LabSigner[], young: readonly LabSigner[]) => readonly LabSigner[];
function rotation(by: Choice): (feed: PolicyFeed) => string {
  return next(({ team: old }) => {
    const team = newTeam();
    return { team, by: by(old, team) };
  });
}
const duplicated = (text: string): string => text.replace("{", `{"payloadType":"${PAYLOAD_TYPE}",`);

const MINUTE = 60_000;
const HUGE = 8 * 1024 * 1024;
const NEW_WALLET = ["create_wallet"];
const ACCOUNTS = ["list_wallet_accounts", "get_wallet_account"];
const SIGNS_PAYLOADS = ["sign_raw_payload", "sign_raw_payloads", VERIFIED_CALLS];
const SIGN_UP = { needs: ["signup", "signup_v2"], fails: ["app.request"] } as const;
const LOG_IN = { needs: ["oauth_login", "otp_login", "otp_login_v2"] };
const TARGET = { needs: ["otp_init_v2"] };

const DER_LIMIT = 72;

/** Of the caller's applications. `fails` is of a caller who expects the values of a request and a new challenge. */
export const APPLICATION_LIES = behaviours({
  "another-replica": {
    what: "another replica signed: a genuine proof, but not of the key that the application names",
    fails: ["app.key"],
    application: { replica: 1 },
  },
  "another-request": {
    what: "a genuine proof of another request: only type, timestampMs and the challenge are the same",
    fails: ["app.request"],
    application: { payload: ofAnotherRequest },
  },
  replayed: {
    what: "the last proof that it made without a fault is sent again",
    fails: ["app.request"],
    application: { replays: true },
  },
  "another-challenge": {
    what: "a genuine proof of this request, but with another caller's challenge",
    fails: ["app.request"],
    application: { payload: withAnotherChallenge },
  },
  "encryption-half": {
    what: "the key is the encryption half of the attested one",
    fails: ["app.key"],
    application: { publicKey: (whole) => whole.slice(0, P256_POINT_LENGTH) },
  },
  "der-leading-zero": {
    what: "the signature is DER, but its first integer has an extra zero byte",
    fails: ["app.decode"],
    application: {
      canShow: (raw) => !isHigh(raw) && raw[0] !== 0,
      signature: (raw) => {
        const [r, s] = halves(raw);
        return derOf(sequence(new Integer({ valueHex: concatBytes(Uint8Array.of(0), r) }), integer(s)));
      },
    },
  },
  "der-trailing-bytes": {
    what: "the signature is DER, followed by an extra byte",
    fails: ["app.decode"],
    application: {
      canShow: (raw) => derSignature(raw).length < DER_LIMIT,
      signature: (raw) => concatBytes(derSignature(raw), Uint8Array.of(0)),
    },
  },
  "der-negative-integers": {
    what: "the signature is DER whose integers are negative: they lack their leading zero bytes",
    fails: ["app.decode"],
    application: {
      canShow: (raw) => halves(raw).every(isHigh),
      signature: (raw) => {
        const [r, s] = halves(raw).map((valueHex) => new Integer({ valueHex }));
        return derOf(sequence(r!, s!));
      },
    },
  },
});

export const LIES = {
  ...DOCUMENT_FAULTS,
  ...MANIFEST_FAULTS,
  ...BINDING_FAULTS,
  ...behaviours({
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
        signer: otherForge().ephemeralKey,
        json: put("publicKey", toHex(otherForge().ephemeralKey.publicKey)),
      }),
    },
    "setup-key": {
      what: "the app proofs are signed with the key of an enclave's setup",
      fails: ["app.key", "policy.deployment", "policy.commitment"],
      forge: () => ({ generation: "setup" }),
    },
    "duplicated-payload-member": {
      what: "a member occurs twice in each signed payload",
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
      what: "the only app proof is of an unknown type: it proves neither a decision nor an address",
      fails: ["policy.app-proof"],
      appProofs: (proofs, { sign }) => proofs.slice(0, 1).map((proof) => sign(proof, customPayload(signedAt(proof)))),
    },
    "unknown-type": {
      what: "the app proofs are of a type that the policy does not list",
      fails: ["policy.app-proof"],
      appProof: ({ at }) => ({ payload: (json) => ({ ...customPayload(at), timestampMs: json["timestampMs"]! }) }),
    },
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
      what: "the response is another organization's activity, with the app proofs of the requested activity",
      fails: ["activity.request", "activity.claims", "activity.coverage"],
      activity: ({ id, appProofs = [] }, { honest, reader }) => ({
        ...foreignActivity(honest, reader),
        id: id!,
        appProofs,
      }),
    },
    "denied-outcome": {
      what: "the enclave denied the activity that the service reports as completed",
      fails: ["activity.claims"],
      appProof: payload((json) =>
        "policyOutcomeProof" in json ? claim({ outcome: "OUTCOME_DENY_EXPLICIT" })(json) : json,
      ),
    },
    "coverage-gap": {
      what: "the activity's result contains an address without an app proof",
      fails: ["activity.coverage"],
      appProofs: withoutAddressProofs,
      activity: inside("result", { addresses: [OTHER_ADDRESS] }),
    },
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
      activity: put("id", OTHER_ID),
    },
    "no-activity-answer": {
      what: "the activity is not found, and the app proofs listed for it are genuine ones of another organization",
      fails: [],
      needs: ["get_activity", "list_app_proofs"],
      refuses: ["get_activity"],
      activity: (_, { honest, reader }) => foreignActivity(honest, reader),
    },
    "not-completed": {
      what: "the activity has its result and its app proofs, but its status is pending",
      fails: ["activity.request"],
      activity: put("status", "ACTIVITY_STATUS_PENDING"),
    },
    "altered-intent": {
      what: "the intent has a member that was not submitted",
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
      activity: inResult((_, { honest, reader }) => ({
        organizationId: otherOrganization(reader, honest["organizationId"]),
        userId: OTHER_ID,
      })),
    },
    "feature-not-set": {
      what: "a feature has a value that was not submitted",
      fails: ["activity.request"],
      needs: ["set_organization_feature"],
      activity: inResult((activity) => {
        const { name } = soleMember(activity, "intent");
        const features = soleMember(activity, "result")["features"] as JsonObject[];
        const others = features.filter((feature) => feature["name"] !== name);
        return { features: [...others, { name: name!, value: "not what was submitted" }] };
      }),
    },
    "foreign-wallet-answer": {
      needs: NEW_WALLET,
      what:
        "the new wallet belongs to another organization, with genuine proofs of it and that organization's id in the " +
        "result",
      fails: ["activity.claims"],
      activity: inResult((_, { honest, reader }) => {
        const other = otherOrganization(reader, honest["organizationId"]);
        const wallet = { walletId: OTHER_ID, addresses: otherAddresses(honest) };
        return { ...wallet, organizationId: other, subOrganizationId: other };
      }),
      appProof: ofNewAddresses((index, honest, reader) => ({
        organizationId: otherOrganization(reader, honest["organizationId"]),
        walletId: OTHER_ID,
        address: otherAddresses(honest)[index]!,
      })),
    },
    "swapped-addresses": {
      needs: NEW_WALLET,
      what: "the first and the last of several addresses are exchanged",
      fails: ["activity.claims", "activity.coverage"],
      activity: inResult((activity) => {
        const addresses = addressesOf(activity);
        const [first, ...rest] = addresses;
        return { addresses: rest.length === 0 ? addresses : [rest.at(-1)!, ...rest.slice(0, -1), first!] };
      }),
    },
    "extra-address": {
      needs: NEW_WALLET,
      what: "the result has one address more than requested, with a genuine proof of it",
      fails: ["activity.claims", "activity.coverage"],
      activity: withOneAddressMore,
      appProofs: withExtraProof,
    },
    "extra-account": {
      what: "intent and result have an account that was not requested, with a genuine proof of its address",
      fails: ["activity.request"],
      needs: ["create_wallet", VERIFIED_CALLS],
      activity: (activity, answering) => {
        const accounts = accountsOf(activity);
        const account = { ...accounts[0], path: EXTRA_PATH };
        return withOneAddressMore(inside("intent", { accounts: [...accounts, account] })(activity), answering);
      },
      appProofs: withExtraProof,
    },
    "wallet-list": {
      needs: NEW_WALLET,
      what: "the first address is of another wallet, with a genuine proof, and the result lists that wallet, too",
      fails: ["activity.claims", "activity.coverage"],
      activity: inResult((activity) => {
        const { walletId } = soleMember(activity, "result");
        const addresses = [otherAddresses(activity)[0]!, ...addressesOf(activity).slice(1)];
        return { addresses, wallets: [{ walletId: OTHER_ID }], walletIds: [walletId!, OTHER_ID] };
      }),
      appProof: ofNewAddresses((index, honest): JsonObject =>
        index === 0 ? { walletId: OTHER_ID, address: otherAddresses(honest)[0]! } : {},
      ),
    },
    "nested-addresses": {
      needs: NEW_WALLET,
      what: "the addresses are in a nested list, and have no app proofs",
      fails: ["activity.coverage"],
      activity: inResult((activity) => ({ addresses: [addressesOf(activity)] })),
      appProofs: withoutAddressProofs,
    },
    "signature-of-another-key": {
      what: "the signatures are those of another key",
      fails: ["activity.signature"],
      needs: [...SIGNS_PAYLOADS, "sign_transaction"],
      activity: signedAnew(({ curve }) => keyAt(OTHER_SEED, { path: "m/0'", curve })),
    },
    "signature-over-another-payload": {
      what: "the signatures are by the right key, but over other payloads of the same encoding",
      fails: ["activity.signature"],
      needs: SIGNS_PAYLOADS,
      activity: ofSignatures((key, intent) => signedPayload(key, otherPayload(intent))),
    },
    "signature-of-another-hash": {
      what: "the signatures are by the right key, but with another hash function",
      fails: ["activity.signature"],
      needs: SIGNS_PAYLOADS,
      activity: ofSignatures((key, intent) => signedPayload(key, otherHash(key, intent))),
    },
    "altered-recovery-id": {
      what: "the recovery id v of each signature is wrong",
      fails: ["activity.signature"],
      needs: SIGNS_PAYLOADS,
      activity: ofSignatures((key, intent, honest) =>
        key.curve === "CURVE_ED25519" ? honest : { ...honest, v: honest["v"] === "00" ? "01" : "00" },
      ),
    },
    "missing-signature": {
      what: "one payload has no signature",
      fails: ["activity.signature"],
      needs: ["sign_raw_payloads", VERIFIED_CALLS],
      activity: inResult((activity) => ({ signatures: signaturesIn(activity).slice(1) })),
    },
    "swapped-signatures": {
      what: "the signatures are in another order than the payloads",
      fails: ["activity.signature"],
      needs: ["sign_raw_payloads", VERIFIED_CALLS],
      activity: inResult((activity) => ({ signatures: [...signaturesIn(activity)].reverse() })),
    },
    "another-recipient": {
      what: "the transaction is signed by the right key, but has another recipient",
      fails: ["activity.signature"],
      needs: ["sign_transaction", VERIFIED_CALLS],
      activity: ofTransactions((key, intent) => {
        const unsignedTransaction = withOtherRecipient(intent.unsignedTransaction);
        return signedTransaction(key, { ...intent, unsignedTransaction });
      }),
    },
  }),
  ...POLICY_FAULTS,
  ...behaviours({
    // Lists of wallets, accounts and activities. The evidence of each activity is genuine.
    "exchanged-address": {
      what: "the first account of each page has another address",
      shows: "contradicted",
      fails: [],
      needs: ACCOUNTS,
      list: ofFirst(put("address", OTHER_ADDRESS)),
    },
    "exchanged-path": {
      what: "the first account of each page has the path of the second one, and the second one has that of the first",
      shows: "contradicted",
      fails: [],
      needs: ["list_wallet_accounts"],
      list: ([first, second, ...others]) =>
        second === undefined
          ? [first!]
          : [put("path", second["path"]!)(first!), put("path", first!["path"]!)(second), ...others],
    },
    "account-of-another-wallet": {
      what: "the first account of each page belongs to another wallet",
      shows: "contradicted",
      fails: [],
      needs: ACCOUNTS,
      list: ofFirst((account, { organizationId, reader }) => {
        const other = reader
          .all("wallets")
          .find((one) => one.organizationId === organizationId && one.walletId !== account["walletId"]);
        return { ...account, walletId: other?.walletId ?? OTHER_ID };
      }),
    },
    "import-called-generated": {
      what: "imported wallets and private keys are listed as generated ones",
      shows: "imported",
      fails: [],
      needs: ["list_wallets", "list_private_keys"],
      list: (items) => items.map(put("imported", false)),
    },
    "repeated-page": {
      what: "each page after the first is the first again",
      shows: "unfetched",
      fails: [],
      needs: ["list_wallet_accounts", "list_activities", "list_suborgs"],
      pageStart: () => 0,
    },
    "skipped-item": {
      what: "each page after the first leaves out the item with which it should begin",
      shows: "contradicted",
      fails: [],
      needs: ["list_wallet_accounts"],
      pageStart: (start) => start + 1,
    },
    "missing-account": {
      what: "the first account of each page is left out",
      shows: "contradicted",
      fails: [],
      needs: ["list_wallet_accounts"],
      list: ([, ...others]) => others,
    },
    "foreign-account": {
      what: "the list begins with the accounts of another organization",
      shows: "unfetched",
      fails: [],
      needs: ["list_wallet_accounts"],
      list: withMore(othersOf),
    },
    "foreign-activity": {
      what: "each activity is one of another organization, with its genuine app proofs",
      shows: "service",
      fails: [],
      needs: ["list_activities"],
      list: (items, { reader }) =>
        items.map((activity) => ({ ...foreignActivity(activity, reader), id: activity["id"]! })),
    },
    "wallets-of-a-child": {
      what: "wallets, accounts and activities of another organization are listed, and are said to be of this one",
      shows: "refused",
      fails: [],
      needs: ["list_wallets", "list_wallet_accounts", "list_activities"],
      list: withMore((listing) =>
        othersOf(listing).map((one) =>
          "organizationId" in one ? put("organizationId", listing.organizationId)(one) : one,
        ),
      ),
    },
    // The auth proxy.
    "signup-of-another": {
      ...SIGN_UP,
      what: "the answer is another user's genuine sign-up of an hour ago, with as many accounts",
      fails: ["app.time"],
      forge: ({ at }) => ({ at: new Date(at.getTime() - 2 * HOUR) }),
      auth: ofWallets((answer, { request, sign, now }) => {
        const { accounts } = request["wallet"] as unknown as { readonly accounts: readonly Account[] };
        const [organizationId, walletId, userId] = [randomUUID(), randomUUID(), randomUUID()];
        const addresses = accounts.map((account) => addressOf(OTHER_SEED, account));
        const appProofs = proofsIn(answer).map((proof, index) => {
          const payload = claim({ organizationId, walletId, address: addresses[index]! })(payloadOf(proof));
          return sign(proof, { ...payload, timestampMs: String(now.getTime() - HOUR) });
        });
        return { organizationId, wallet: { walletId, addresses }, userId, appProofs };
      }),
    },
    "signup-without-wallet": {
      ...SIGN_UP,
      what: "the answer has no wallet and no app proofs, as if no wallet had been requested",
      fails: [],
      auth: (answer) => ({ ...otherMembers(answer, "wallet"), appProofs: [] }),
    },
    "signup-account-missing": {
      ...SIGN_UP,
      what: "the wallet lacks the last requested account, and there is no app proof of it",
      auth: ofWallets((answer) => ({ ...ofAddresses(withoutLast)(answer), appProofs: withoutLast(proofsIn(answer)) })),
    },
    "signup-addresses-exchanged": {
      ...SIGN_UP,
      what: "the addresses are in the reverse of the requested order, each with its genuine app proof",
      auth: ofWallets(ofAddresses((addresses) => addresses.toReversed())),
    },
    "signup-proof-of-another-organization": {
      ...SIGN_UP,
      what: "the last app proof names another organization",
      auth: ofWallets(ofLastClaim({ organizationId: OTHER_ID })),
    },
    "signup-proof-of-another-wallet": {
      ...SIGN_UP,
      what: "the last app proof names another wallet of the organization",
      auth: ofWallets(ofLastClaim({ walletId: OTHER_ID })),
    },
    "signup-proof-missing": {
      ...SIGN_UP,
      what: "the last address has no app proof",
      auth: (answer) => ({ ...answer, appProofs: withoutLast(proofsIn(answer)) }),
    },
    "signup-proofs-missing": {
      ...SIGN_UP,
      what: "the answer has a wallet, and no member appProofs",
      fails: [],
      auth: (answer) => otherMembers(answer, "appProofs"),
    },
    "signup-proof-broken": {
      ...SIGN_UP,
      what: "the signature of the last app proof was changed",
      fails: ["app.signature"],
      auth: ofWallets(
        ofLastProof((proof) =>
          put(
            "signature",
            String(proof["signature"]).replace(/.$/, (digit) => (digit === "0" ? "1" : "0")),
          )(proof),
        ),
      ),
    },
    "signup-organization-again": {
      ...SIGN_UP,
      what: "organization and user are those of an earlier sign-up, with genuine app proofs of a new wallet there",
      auth: (answer, { reader, sign }) => {
        const earlier = reader
          .all("organizations")
          .filter((one) => one.parentOrganizationId !== undefined && one.organizationId !== answer["organizationId"])
          .at(-1)!;
        const { organizationId, rootUserIds } = earlier;
        const appProofs = proofsIn(answer).map((proof) => sign(proof, claim({ organizationId })(payloadOf(proof))));
        return { ...answer, organizationId, userId: rootUserIds[0]!, appProofs };
      },
    },
    "session-for-another-key": {
      ...LOG_IN,
      what: "the session token is for another public key",
      fails: ["token.expected"],
      auth: ofSession((claims) => ({ ...claims, public_key: generateApiKey().publicKey })),
    },
    "session-by-another-key": {
      ...LOG_IN,
      what: "the session token is signed by another key than the quorum key",
      fails: ["token.signature"],
      auth: ofSession((claims) => claims, true),
    },
    "session-expired": {
      ...LOG_IN,
      what: "the session token expired an hour ago",
      fails: ["token.expiry"],
      auth: ofSession((claims, now) => ({ ...claims, exp: Math.floor((now.getTime() - HOUR) / 1000) })),
    },
    "session-of-another-organization": {
      ...LOG_IN,
      what: "the session token is of an organization that was not requested",
      fails: ["token.expected"],
      auth: ofSession((claims) => ({ ...claims, organization_id: OTHER_ID })),
    },
    "session-is-otp-token": {
      ...LOG_IN,
      what: "the session is a genuine OTP token",
      fails: ["token.decode", "token.signature"],
      auth: (answer, { key, now }) => {
        const { public_key, organization_id } = claimsOf(String(answer["session"]));
        const ids = { organization_id: organization_id!, public_key: public_key! };
        return { ...answer, session: otpToken(key("tls-fetcher"), otpClaims(now, ids)) };
      },
    },
    "otp-target-by-another-key": {
      ...TARGET,
      what: "the encryption target names the quorum key, and another key signed it",
      fails: ["token.signature"],
      auth: ofTarget({}, true),
    },
    "otp-target-with-user": {
      ...TARGET,
      what: "the encryption target has a member userId, and so the form of an import bundle",
      fails: ["token.decode"],
      auth: ofTarget({ userId: OTHER_ID }),
    },
    // The feed of the signed policy.
    "feed-rolled-back": fault("the newest version is missing", "version", ({ older }) => older),
    "feed-forked": fault("the newest version is another one", "fork", (feed) => feed.older + feed.other().line),
    "feed-gap": fault("a version is missing", "version", (feed) => feed.text + feed.next({}, feed.next({})).line),
    "feed-expired": fault(
      "the newest version has expired: policy.current fails",
      null,
      next(({ now }) => ({ members: timesFrom(now().getTime(), 1) })),
    ),
    "feed-too-few-signers": fault(
      "one key of two signed",
      "signatures",
      next(({ team }) => ({ by: team.slice(0, 1) })),
    ),
    "feed-one-key-twice": fault(
      "one key signed twice",
      "signatures",
      next(({ team: [key] }) => ({ by: [key!, key!] })),
    ),
    "feed-old-set-only": fault(
      "new signers did not sign",
      "signatures",
      rotation((old) => old),
    ),
    "feed-new-set-only": fault(
      "only new signers signed",
      "signatures",
      rotation((_, young) => young),
    ),
    "feed-other-name": fault(
      "the policy has another name",
      "name",
      next(() => ({ members: { name: "other" } })),
    ),
    "feed-other-payload-type": fault(
      "the payload has another type",
      "malformed",
      next(() => ({ envelope: (text) => text.replace(PAYLOAD_TYPE, "application/json") })),
    ),
    "feed-duplicate-members": fault(
      "a member occurs twice",
      "malformed",
      next(() => ({ envelope: duplicated })),
    ),
    "feed-from-the-future": fault(
      "the newest version is issued tomorrow: it is not used yet",
      null,
      next(({ now }) => ({ members: timesFrom(now().getTime() + DAY) })),
    ),
    "feed-huge": fault("the feed is larger than 8 MiB", "malformed", ({ text }) => " ".repeat(HUGE) + text),
    "feed-slow": fault("the feed never comes", "fetch", () => new Promise<never>(() => {})),
    "feed-changes": fault("every other read has another newest version", "fork", (feed) =>
      feed.reads++ % 2 === 0 ? feed.text : feed.older + feed.other().line,
    ),
  }),
  ...APPLICATION_LIES,
};
