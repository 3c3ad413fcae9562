/** The queries of the lab, one row each: name, shape of the parameters, and answer. */
import { QUERY_OPERATIONS, type QueryName, documentedOnly } from "../client/operations.js";
import { DOCUMENT_MEMBER } from "../decode/boot-proof.js";
import {
  type ReadOf,
  type Shape,
  either,
  flag,
  list,
  matching,
  nonEmptyText,
  object,
  optional,
  text,
} from "../decode/shapes.js";
import { fromHex, toHex } from "../bytes.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { deploymentJson } from "./applications.js";
import type { Fleet } from "./fleet.js";
import type { Misbehaviour } from "./misbehaviour.js";
import { PRIVATE_KEY_PATH } from "./new-keys.js";
import {
  type ActivityRecord,
  type Organization,
  type PrivateKey,
  type SavedEnclave,
  type SavedRelease,
  type Wallet,
  noncesId,
} from "./records.js";
import { notFound } from "./refusal.js";
import type { Caller } from "./stamps.js";
import type { State } from "./state.js";
import { owned, ownedOf, userOf } from "./users.js";
import { keyAt } from "./wallet.js";

/** The state and the enclaves from which queries are answered. */
export interface Sources {
  readonly state: State;
  readonly fleet: Fleet;
  readonly misbehaviour: Misbehaviour;
}

interface Question<Parameters> extends Sources {
  readonly organization: Organization;
  readonly caller: Caller;
  readonly parameters: Parameters;
}

type Answer<Parameters> = (question: Question<Parameters>) => JsonObject | Promise<JsonObject>;

export interface Query {
  /** The last segment of its path. */
  readonly name: string;
  readonly parameters: Shape<unknown>;
  /** Answers the query. `parameters` must match the shape. Throws Refusal. */
  readonly answer: Answer<JsonObject>;
}

function query<T>(name: string, parameters: Shape<T>, answer: Answer<T>): Query {
  return { name, parameters, answer: answer as Answer<unknown> };
}

const DOCUMENTED: {
  readonly [N in QueryName]: Answer<ReadOf<(typeof QUERY_OPERATIONS)[N]["parameters"]>>;
} = {
  listEarnEnabledVaults({ state, organization, parameters }) {
    const { provider, caip19 } = parameters;
    const { organizationId, parentOrganizationId } = organization;
    const enabledVaults = state
      .all("vaults")
      .filter((one) => one.organizationId === (parentOrganizationId ?? organizationId))
      .map(({ vault }) => vault)
      .filter(
        (vault) =>
          (provider === undefined || vault.provider === provider) && (caip19 === undefined || vault.caip19 === caip19),
      )
      .map((vault) => (parentOrganizationId === undefined ? vault : withoutClientFees(vault)));
    return { enabledVaults };
  },

  getOauthProviders({ state, organization, parameters: { userId } }) {
    const users =
      userId === undefined ? ownedOf(state.all("users"), organization) : [userOf(state, organization, userId)];
    return { oauthProviders: json(users.flatMap(({ user }) => user.oauthProviders)) };
  },

  getNonces({ state, parameters }) {
    const { address, caip2, nonce, gasStationNonce } = parameters;
    const known = state.get("nonces", noncesId(caip2, address));
    return {
      ...(nonce === true && { nonce: known?.nonce ?? "0" }),
      ...(gasStationNonce === true && { gasStationNonce: known?.gasStationNonce ?? "0" }),
    };
  },

  getUser: ({ state, organization, parameters }) => ({
    user: json(userOf(state, organization, parameters.userId).user),
  }),

  getBootProof: (question) => ({ bootProof: bootProofOf(question.parameters.ephemeralKey, question) }),

  async getLatestBootProof(question) {
    const { state, fleet, misbehaviour, parameters } = question;
    const latest = await state.transact((tx) => fleet.latest(parameters.appName, tx));
    if (latest === undefined) throw notFound(`no enclave runs ${parameters.appName}`);
    return { bootProof: bootProofOf(misbehaviour.runningKey(latest.ephemeralKey, state), question) };
  },

  listAppProofs: (question) => ({ appProofs: activityOf(question, "list_app_proofs")["appProofs"] ?? [] }),

  getTvcDeployment(question) {
    const release = releaseOf(question);
    const application = question.state.all("applications").find(({ appId }) => appId === release.app)!;
    const manifest = String(enclaveOf(release, question).bootProof["qosManifestB64"]);
    return { tvcDeployment: deploymentJson(application, release, manifest) };
  },

  async getTvcDeploymentProvisioningDetails(question) {
    const { state, fleet, misbehaviour } = question;
    const release = releaseOf(question);
    // `latest` reboots the enclave if its certificate is about to expire.
    await state.transact((tx) => fleet.latest(release.app, tx));
    const proof = misbehaviour.setupProof(enclaveOf(release, question), state);
    return { attestationDocument: proof[DOCUMENT_MEMBER.name]!, manifestEnvelope: proof["qosManifestEnvelopeB64"]! };
  },
};

const limit = optional(matching(/^[1-9][0-9]{0,2}$/, "1 to 999"));
const paginationOptions = optional(object({ limit }));
/** A filter of a list. Some clients send one value, others a list; an empty list does not filter. */
const filter = optional(either(text, list(text), "a string or a list of strings"));
const DEFAULT_PAGE = "10";

/** These queries are deployed, but undocumented (client/README.md, "Operations"). */
const UNDOCUMENTED: readonly Query[] = [
  query("get_wallet", object({ walletId: text }), ({ state, organization, parameters }) => ({
    wallet: walletJson(walletOf(state, organization, parameters.walletId)),
  })),

  query("list_wallets", object({}), ({ state, organization }) => ({
    wallets: ownedOf(state.all("wallets"), organization).map(walletJson),
  })),

  query(
    "list_wallet_accounts",
    object({ walletId: optional(text), includeWalletDetails: optional(flag), paginationOptions }),
    ({ state, organization, parameters }) => {
      const { walletId, includeWalletDetails = false, paginationOptions: page } = parameters;
      const wallets =
        walletId === undefined
          ? ownedOf(state.all("wallets"), organization)
          : [walletOf(state, organization, walletId)];
      const accounts = wallets.flatMap((wallet) =>
        accountsJson(wallet).map((one) => ({
          ...one,
          ...(includeWalletDetails && { walletDetails: walletJson(wallet) }),
        })),
      );
      return { accounts: accounts.slice(0, page?.limit === undefined ? accounts.length : Number(page.limit)) };
    },
  ),

  query(
    "get_wallet_account",
    object({ walletId: text, address: optional(nonEmptyText), path: optional(nonEmptyText) }),
    ({ state, organization, parameters: { walletId, address, path } }) => {
      const account = accountsJson(walletOf(state, organization, walletId)).find(
        (one) => (address ?? one["address"]) === one["address"] && (path ?? one["path"]) === one["path"],
      );
      if (account === undefined) throw notFound(`wallet ${walletId} has no such account`);
      return { account };
    },
  ),

  query("get_private_key", object({ privateKeyId: text }), ({ state, organization, parameters: { privateKeyId } }) => ({
    privateKey: privateKeyJson(
      owned(state.get("privateKeys", privateKeyId), organization, `private key ${privateKeyId}`),
    ),
  })),

  query("list_private_keys", object({}), ({ state, organization }) => ({
    privateKeys: ownedOf(state.all("privateKeys"), organization).map(privateKeyJson),
  })),

  query("get_activity", object({ activityId: text }), (question) => ({
    activity: activityOf(question, "get_activity"),
  })),

  // The newest come first.
  query("list_activities", object({ filterByStatus: filter, filterByType: filter, paginationOptions }), (question) => {
    const { filterByStatus, filterByType, paginationOptions: wantedPage } = question.parameters;
    const passes = (wanted: string | string[] | undefined, value: unknown): boolean =>
      [wanted ?? []].flat().length === 0 || [wanted].flat().includes(String(value));
    const newest = question.state
      .all("activities")
      .filter(({ activity }) => activity.organizationId === question.organization.organizationId)
      .filter(({ activity }) => passes(filterByStatus, activity.status) && passes(filterByType, activity["type"]))
      .sort((one, other) => Number(other.activity["createdAt"]) - Number(one.activity["createdAt"]));
    const page = newest.slice(0, Number(wantedPage?.limit ?? DEFAULT_PAGE));
    return { activities: page.map((record) => shown(record, "list_activities", question)) };
  }),

  // The answer is about the caller. The organization in the query does not matter.
  query("whoami", object({}), ({ state, caller }) => {
    const { organizationId, user } = caller.record;
    const { organizationName } = state.get("organizations", organizationId)!;
    return { organizationId, organizationName, userId: user.userId, username: user.userName };
  }),
];

export const QUERIES: readonly Query[] = [
  ...Object.entries(DOCUMENTED).map(([key, answer]) => {
    const { name, parameters } = QUERY_OPERATIONS[key as QueryName];
    return query(name, documentedOnly<unknown>(parameters), answer as Answer<unknown>);
  }),
  ...UNDOCUMENTED,
];

/** Returns the activity with the faults that are on. `operation` names the operation that returns the activity. */
export function shown(
  { activity }: ActivityRecord,
  operation: string,
  { misbehaviour, state }: Omit<Sources, "fleet">,
): JsonObject {
  return misbehaviour.activity(activity, operation, state);
}

function activityOf(question: Question<{ readonly activityId: string }>, operation: string): JsonObject {
  const { state, misbehaviour, organization, parameters } = question;
  const { activityId } = parameters;
  const record = misbehaviour.refuses(operation) ? undefined : state.get("activities", activityId);
  owned(record?.activity, organization, `activity ${activityId}`);
  return shown(record!, operation, question);
}

function bootProofOf(ephemeralKey: string, { misbehaviour, state }: Omit<Sources, "fleet">): JsonObject {
  const bootProof = misbehaviour.bootProof(ephemeralKey.toLowerCase(), state);
  if (bootProof === undefined) throw notFound("no enclave of this service has the ephemeral key");
  return bootProof;
}

function releaseOf({ state, organization, parameters }: Question<{ readonly deploymentId: string }>): SavedRelease {
  const { deploymentId } = parameters;
  const release = state.all("releases").find(({ deployment, name }) => deployment && name === deploymentId);
  owned(release?.deployment, organization, `deployment ${deploymentId}`);
  return release!;
}

/** Returns the first replica of the release, or an earlier enclave if the release no longer runs. */
function enclaveOf({ app, name }: SavedRelease, { fleet, state }: Omit<Sources, "misbehaviour">): SavedEnclave {
  const running = fleet.replicas(app).find((one) => one.release === name);
  const isOfRelease = (one: SavedEnclave): boolean => one.app === app && one.release === name;
  return state.get("enclaves", running?.ephemeralKey ?? "") ?? state.all("enclaves").find(isOfRelease)!;
}

/** Removes what only the parent organization sees (client/README.md, "Shapes"). */
function withoutClientFees(vault: JsonObject): JsonObject {
  const hidden = ["claimableClientFee", "claimableClientFeeDisplay", "clientFeeWallet"];
  return Object.fromEntries(Object.entries(vault).filter(([name]) => !hidden.includes(name)));
}

function walletOf(state: State, organization: Organization, walletId: string): Wallet {
  return owned(state.get("wallets", walletId), organization, `wallet ${walletId}`);
}

function walletJson({ walletId, walletName }: Wallet): JsonObject {
  return { walletId, walletName, exported: false, imported: false };
}

/** Returns only accounts with keys. */
function accountsJson({ organizationId, walletId, accounts, seed = "" }: Wallet): JsonObject[] {
  return accounts.flatMap((account): JsonObject[] => {
    const { walletAccountId, curve, path, addressFormat, address } = account;
    if (walletAccountId === undefined || curve === undefined || addressFormat === undefined) return [];
    const publicKey = toHex(keyAt(fromHex(seed)!, account).publicKey);
    const derivation = { curve, pathFormat: "PATH_FORMAT_BIP32", path, addressFormat, address, publicKey };
    return [{ walletAccountId, organizationId, walletId, ...derivation }];
  });
}

function privateKeyJson({ seed, ...key }: PrivateKey): JsonObject {
  const { privateKeyId, privateKeyName, curve, addresses, privateKeyTags, createdAt } = key;
  const publicKey = toHex(keyAt(fromHex(seed)!, { path: PRIVATE_KEY_PATH, curve }).publicKey);
  const names = { privateKeyId, privateKeyName, publicKey, curve, addresses, privateKeyTags };
  return json({ ...names, createdAt, updatedAt: createdAt, exported: false, imported: false }) as JsonObject;
}

/** Returns a record as JSON. Records are JSON, but their types do not say so. */
function json(value: unknown): JsonValue {
  return value as JsonValue;
}
