/** Faults of an answer: its app proofs and its activity. */
import { toHex } from "../bytes.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import {
  type AlterActivity,
  type Answering,
  type Behaviour,
  DAY,
  HOUR,
  VERIFIED_CALLS,
  behaviours,
  payloadOf,
  put,
  otherForge,
} from "./behaviour.js";
import { type AppProofAlterations, customPayload } from "./enclave.js";
import { generateQosKeyPair } from "./qos.js";
import type { Reader } from "./state.js";
import { type Account, addressOf } from "./wallet.js";

const MINUTE = 60_000;
export const OTHER_ID = "00000000-0000-4000-8000-000000000000";
export const OTHER_ADDRESS = "0x1111111111111111111111111111111111111111";
export const OTHER_SEED = new Uint8Array(64).fill(1);

const payload = (change: (proof: JsonObject) => JsonObject) => (): AppProofAlterations => ({ payload: change });

/** Replaces members of the claim, the only member of a payload that is an object. */
export function claim(members: JsonObject): (json: JsonObject) => JsonObject {
  return (json) =>
    Object.fromEntries(
      Object.entries(json).map(([name, value]) => [name, isJsonObject(value) ? { ...value, ...members } : value]),
    );
}

/** Replaces members of the only object in the intent or result. */
export function inside(part: "intent" | "result", members: JsonObject): (activity: JsonObject) => JsonObject {
  return (activity) => ({ ...activity, [part]: claim(members)(activity[part] as JsonObject) });
}

const isOf = (type: string, { honest }: Answering): boolean => honest["type"] === type;

/** Replaces members of the result of activities of this type. */
export const ofResult =
  (type: string, members: (activity: JsonObject, answering: Answering) => JsonObject): AlterActivity =>
  (activity, answering) =>
    isOf(type, answering) ? inside("result", members(activity, answering))(activity) : activity;

export function soleMember(activity: JsonObject, part: "intent" | "result"): JsonObject {
  return Object.values(activity[part] as JsonObject)[0] as JsonObject;
}

const CREATE_WALLET = "ACTIVITY_TYPE_CREATE_WALLET";
const NEW_WALLETS = { needs: ["create_wallet"] };
const addressesOf = (activity: JsonObject): string[] => soleMember(activity, "result")["addresses"] as string[];
const accountsOf = (activity: JsonObject): JsonObject[] => soleMember(activity, "intent")["accounts"] as JsonObject[];

function otherAddresses(activity: JsonObject): string[] {
  return accountsOf(activity).map((account) => addressOf(OTHER_SEED, account as unknown as Account));
}

const withOneAddressMore = ofResult(CREATE_WALLET, (activity) => ({
  addresses: [...addressesOf(activity), OTHER_ADDRESS],
}));

function ofNewAddresses(
  members: (index: number, honest: JsonObject, reader: Reader) => JsonObject,
): NonNullable<Behaviour["appProof"]> {
  return (_, answering) => {
    const { honest, reader } = answering;
    if (!isOf(CREATE_WALLET, answering)) return {};
    return payload((json) => {
      const { address } = (json["addressDerivationProof"] ?? {}) as JsonObject;
      const index = addressesOf(honest).indexOf(String(address));
      return index < 0 ? json : claim(members(index, honest, reader))(json);
    })();
  };
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

export const APP_PROOF_FAULTS = behaviours({
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
});

export const ACTIVITY_FAULTS = behaviours({
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
});

/** Faults in which the answer belongs to another request, or its contents were changed. */
export const ANSWER_FAULTS = behaviours({
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
    activity: ofResult("ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2", (_, { honest, reader }) => ({
      organizationId: otherOrganization(reader, honest["organizationId"]),
      userId: OTHER_ID,
    })),
  },
  "feature-not-set": {
    what: "a feature has a value that was not submitted",
    fails: ["activity.request"],
    needs: ["set_organization_feature"],
    activity: ofResult("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", (activity) => {
      const { name } = soleMember(activity, "intent");
      const features = soleMember(activity, "result")["features"] as JsonObject[];
      const others = features.filter((feature) => feature["name"] !== name);
      return { features: [...others, { name: name!, value: "not what was submitted" }] };
    }),
  },
});

export const NEW_WALLET_FAULTS = behaviours({
  "foreign-wallet-answer": {
    ...NEW_WALLETS,
    what:
      "the new wallet belongs to another organization, with genuine proofs of it and that organization's id in the " +
      "result",
    fails: ["activity.claims"],
    activity: ofResult(CREATE_WALLET, (_, { honest, reader }) => {
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
    ...NEW_WALLETS,
    what: "the first and the last of several addresses are exchanged",
    fails: ["activity.claims", "activity.coverage"],
    activity: ofResult(CREATE_WALLET, (activity) => {
      const addresses = addressesOf(activity);
      const [first, ...rest] = addresses;
      return { addresses: rest.length === 0 ? addresses : [rest.at(-1)!, ...rest.slice(0, -1), first!] };
    }),
  },
  "extra-address": {
    ...NEW_WALLETS,
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
      if (!isOf(CREATE_WALLET, answering)) return activity;
      const accounts = accountsOf(activity);
      const account = { ...accounts[0], path: EXTRA_PATH };
      return withOneAddressMore(inside("intent", { accounts: [...accounts, account] })(activity), answering);
    },
    appProofs: withExtraProof,
  },
  "wallet-list": {
    ...NEW_WALLETS,
    what: "the first address is of another wallet, with a genuine proof, and the result lists that wallet, too",
    fails: ["activity.claims", "activity.coverage"],
    activity: ofResult(CREATE_WALLET, (activity) => {
      const { walletId } = soleMember(activity, "result");
      const addresses = [otherAddresses(activity)[0]!, ...addressesOf(activity).slice(1)];
      return { addresses, wallets: [{ walletId: OTHER_ID }], walletIds: [walletId!, OTHER_ID] };
    }),
    appProof: ofNewAddresses((index, honest): JsonObject =>
      index === 0 ? { walletId: OTHER_ID, address: otherAddresses(honest)[0]! } : {},
    ),
  },
  "nested-addresses": {
    ...NEW_WALLETS,
    what: "the addresses are in a nested list, and have no app proofs",
    fails: ["activity.coverage"],
    activity: ofResult(CREATE_WALLET, (activity) => ({ addresses: [addressesOf(activity)] })),
    appProofs: (proofs, answering) => (isOf(CREATE_WALLET, answering) ? withoutAddressProofs(proofs) : proofs),
  },
});

export function foreignActivity(honest: JsonObject, reader: Reader): JsonObject {
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
  if (!isOf(CREATE_WALLET, answering) || like === undefined) return proofs;
  const extra = claim({ derivationPath: EXTRA_PATH, address: OTHER_ADDRESS })(payloadOf(like));
  return [...proofs, answering.sign(like, extra)];
}

function signedAt(proof: JsonObject): Date {
  return new Date(Number(payloadOf(proof)["timestampMs"]));
}
