/** The queries of the lab, one row each: name, shape of the parameters, and answer. */
import { QUERY_OPERATIONS, type QueryName, documentedOnly } from "../client/operations.js";
import { DOCUMENT_MEMBER } from "../decode/boot-proof.js";
import { type ReadOf, type Shape, either, flag, list, nonEmptyText, object, optional, text } from "../decode/shapes.js";
import { fromHex, toHex } from "../bytes.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { deploymentJson } from "./applications.js";
import type { Question, Sources } from "./question.js";
import { PRIVATE_KEY_PATH } from "./new-keys.js";
import {
  type ActivityRecord,
  type Organization,
  type PrivateKey,
  type SavedEnclave,
  type SavedRelease,
  type User,
  type Wallet,
  type WalletAccount,
  noncesId,
} from "./records.js";
import { type Entry, listed, listedPage, pageFor, paginationOptions } from "./pages.js";
import { invalid, notFound } from "./refusal.js";
import type { State } from "./state.js";
import { type Timestamp, timestamp } from "./timestamp.js";
import { owned, ownedOf, userOf } from "./users.js";
import { keyAt } from "./wallet.js";

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

  listAppProofs: (question) => ({ appProofs: appProofsOf(question) }),

  getTvcDeployment(question) {
    const release = releaseOf(question);
    const application = question.state.all("applications").find(({ appId }) => appId === release.app)!;
    const manifest = String(question.fleet.bootProof(enclaveOf(release, question), question.state)["qosManifestB64"]);
    return { tvcDeployment: deploymentJson(application, release, manifest) };
  },

  async getTvcDeploymentProvisioningDetails(question) {
    const { state, fleet, misbehaviour } = question;
    const release = releaseOf(question);
    // `latest` reboots the enclave if its certificate is about to expire.
    await state.transact((tx) => fleet.latest(release.app, tx));
    const proof = misbehaviour.setupProof(enclaveOf(release, question), state);
    return {
      attestationDocument: proof[DOCUMENT_MEMBER.name]!,
      manifestEnvelope: proof["qosManifestEnvelopeB64"]!,
      provisioningState: "PROVISIONING_STATE_AWAITING_PROVISION",
    };
  },
};

/** A filter of a list. Some clients send one value, others a list; an empty list does not filter. */
const filter = optional(either(text, list(text), "a string or a list of strings"));

/** The filters of sub-organizations, by type: the values of one, any of which passes. */
const SUBORG_FILTERS: Readonly<Record<string, (suborg: Organization, users: readonly User[]) => readonly string[]>> = {
  NAME: ({ organizationName }) => [organizationName],
  USERNAME: (_, users) => users.map(({ userName }) => userName),
  EMAIL: (_, users) => users.map(({ userEmail }) => userEmail),
  PUBLIC_KEY: (_, users) => users.flatMap(({ apiKeys }) => apiKeys.map(({ credential }) => credential.publicKey)),
};

/** These queries are deployed, but undocumented (client/README.md, "Operations"). */
const UNDOCUMENTED: readonly Query[] = [
  query("get_wallet", object({ walletId: text }), ({ state, organization, parameters }) => ({
    wallet: walletJson(walletOf(state, organization, parameters.walletId)),
  })),

  query("list_wallets", object({}), (question) => ({
    wallets: listed(question, "list_wallets", (organization) =>
      walletsOf(question.state, organization).map(walletJson),
    ),
  })),

  query(
    "list_wallet_accounts",
    object({ walletId: optional(text), includeWalletDetails: optional(flag), paginationOptions }),
    (question) => {
      const { walletId, includeWalletDetails = false } = question.parameters;
      if (walletId !== undefined) walletOf(question.state, question.organization, walletId);
      const entriesOf = (organization: Organization): Entry<() => JsonObject>[] =>
        walletsOf(question.state, organization)
          .filter((wallet) => (walletId ?? wallet.walletId) === wallet.walletId)
          .flatMap((wallet) =>
            wallet.accounts.filter(isUsable).map((account) => ({
              id: account.walletAccountId,
              at: millisecondsOf(account.createdAt),
              record: () => ({
                ...accountJson(wallet, account),
                ...(includeWalletDetails && { walletDetails: walletJson(wallet) }),
              }),
            })),
          );
      return { accounts: listedPage(question, "list_wallet_accounts", entriesOf) };
    },
  ),

  query(
    "get_wallet_account",
    object({ walletId: text, address: optional(nonEmptyText), path: optional(nonEmptyText) }),
    (question) => {
      const { walletId, address, path } = question.parameters;
      const wallet = walletOf(question.state, question.organization, walletId);
      const account = wallet.accounts
        .filter(isUsable)
        .find((one) => (address ?? one.address) === one.address && (path ?? one.path) === one.path);
      if (account === undefined) throw notFound(`wallet ${walletId} has no such account`);
      const isAsked = ({ organizationId }: Organization): boolean => organizationId === wallet.organizationId;
      const [shownAccount] = listed(question, "get_wallet_account", (organization) =>
        isAsked(organization) ? [accountJson(wallet, account)] : [],
      );
      return { account: shownAccount! };
    },
  ),

  query("get_private_key", object({ privateKeyId: text }), ({ state, organization, parameters: { privateKeyId } }) => ({
    privateKey: privateKeyJson(
      owned(state.get("privateKeys", privateKeyId), organization, `private key ${privateKeyId}`),
    ),
  })),

  query("list_private_keys", object({}), (question) => ({
    privateKeys: listed(question, "list_private_keys", (organization) =>
      ownedOf(question.state.all("privateKeys"), organization).map(privateKeyJson),
    ),
  })),

  query("get_activity", object({ activityId: text }), (question) => ({
    activity: activityOf(question, "get_activity"),
  })),

  query("list_activities", object({ filterByStatus: filter, filterByType: filter, paginationOptions }), (question) => {
    const { filterByStatus, filterByType } = question.parameters;
    const { listsAppProofs = true, listsChildActivities = false } = question.settings.current;
    const passes = (wanted: string | string[] | undefined, value: unknown): boolean =>
      [wanted ?? []].flat().length === 0 || [wanted].flat().includes(String(value));
    const entriesOf = ({ organizationId }: Organization): Entry<() => JsonObject>[] =>
      question.state
        .all("activities")
        .filter(({ activity }) => {
          const owner = activity.organizationId;
          return owner === organizationId || (listsChildActivities && parentOf(question, owner) === organizationId);
        })
        .filter(({ activity }) => passes(filterByStatus, activity.status) && passes(filterByType, activity["type"]))
        .map((record) => ({
          id: record.activity.id,
          at: Number(record.activity["createdAt"]),
          record: () => {
            const { appProofs, ...others } = shown(record, "list_activities", question);
            return listsAppProofs && appProofs !== undefined ? { ...others, appProofs } : others;
          },
        }));
    return { activities: listedPage(question, "list_activities", entriesOf) };
  }),

  query(
    "list_suborgs",
    object({ filterType: optional(text), filterValue: optional(text), paginationOptions }),
    (question) => {
      const { state, organization, parameters } = question;
      const { filterType, filterValue = "" } = parameters;
      const valuesOf = filterType === undefined ? () => [filterValue] : SUBORG_FILTERS[filterType];
      if (valuesOf === undefined)
        throw invalid(`parameters.filterType: expected one of ${Object.keys(SUBORG_FILTERS).join(", ")}`);
      const entries = state
        .all("organizations")
        .filter(({ parentOrganizationId }) => parentOrganizationId === organization.organizationId)
        .filter((one) =>
          valuesOf(
            one,
            ownedOf(state.all("users"), one).map(({ user }) => user),
          ).includes(filterValue),
        )
        .map(({ organizationId: id }, at) => ({ id, at, record: () => id }));
      return { organizationIds: pageFor(question, "list_suborgs", entries).map((id) => id()) };
    },
  ),

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
  { misbehaviour, state, settings, now }: Omit<Sources, "fleet">,
): JsonObject {
  const { appProofs, ...others } = activity as JsonObject;
  const age = now().getTime() - Number(others["createdAt"]);
  const isKept = appProofs !== undefined && age <= (settings.current.appProofsKeptMs ?? Infinity);
  return misbehaviour.activity(isKept ? activity : others, operation, state);
}

function activityOf(question: Question<{ readonly activityId: string }>, operation: string): JsonObject {
  const { state, misbehaviour, organization, parameters } = question;
  const { activityId } = parameters;
  const record = misbehaviour.refuses(operation) ? undefined : state.get("activities", activityId);
  owned(record?.activity, organization, `activity ${activityId}`);
  return shown(record!, operation, question);
}

function appProofsOf(question: Question<{ readonly activityId: string }>): JsonValue {
  const { state, settings, parameters } = question;
  const record = state.get("activities", parameters.activityId);
  const owner = record?.activity.organizationId ?? "";
  const wanted = settings.current.childAppProofsOf === "parent" ? parentOf(question, owner) : undefined;
  if (wanted === undefined) return activityOf(question, "list_app_proofs")["appProofs"] ?? [];
  owned({ organizationId: wanted }, question.organization, `activity ${parameters.activityId}`);
  return shown(record!, "list_app_proofs", question)["appProofs"] ?? [];
}

function parentOf({ state }: Pick<Sources, "state">, organizationId: string): string | undefined {
  return state.get("organizations", organizationId)?.parentOrganizationId;
}

function bootProofOf(ephemeralKey: string, sources: Omit<Sources, "fleet">): JsonObject {
  const { misbehaviour, state, settings, now } = sources;
  const bootProof = misbehaviour.bootProof(ephemeralKey.toLowerCase(), state);
  const bootedAt = state.get("enclaves", ephemeralKey.toLowerCase())?.bootedAt ?? Infinity;
  const isKept = now().getTime() - bootedAt <= (settings.current.bootProofsKeptMs ?? Infinity);
  if (bootProof === undefined || !isKept) throw notFound("no enclave of this service has the ephemeral key");
  return bootProof;
}

function releaseOf({ state, organization, parameters }: Question<{ readonly deploymentId: string }>): SavedRelease {
  const { deploymentId } = parameters;
  const release = state.all("releases").find(({ deployment, name }) => deployment && name === deploymentId);
  owned(release?.deployment, organization, `deployment ${deploymentId}`);
  return release!;
}

/** Returns the first replica of the release, or an earlier enclave if the release no longer runs. */
function enclaveOf({ app, name }: SavedRelease, { fleet, state }: Pick<Sources, "fleet" | "state">): SavedEnclave {
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

function walletsOf(state: State, organization: Organization): Wallet[] {
  return ownedOf(state.all("wallets"), organization);
}

/** A wallet of an older data folder has no time. */
const UNKNOWN_TIME = timestamp(new Date(0));

function millisecondsOf({ seconds, nanos }: Timestamp = UNKNOWN_TIME): number {
  return Number(seconds) * 1000 + Number(nanos) / 1e6;
}

function walletJson(wallet: Wallet): JsonObject {
  const { walletId, walletName, createdAt = UNKNOWN_TIME, exported = false, imported = false } = wallet;
  return { walletId, walletName, createdAt, updatedAt: createdAt, exported, imported };
}

type UsableAccount = WalletAccount & Required<Pick<WalletAccount, "walletAccountId" | "curve" | "addressFormat">>;

/** Returns whether the account has an id, a curve and a format, which those of older data folders do not. */
function isUsable(account: WalletAccount): account is UsableAccount {
  const { walletAccountId, curve, addressFormat } = account;
  return walletAccountId !== undefined && curve !== undefined && addressFormat !== undefined;
}

/** A record never changes, and lists have many of them. */
const PUBLIC_KEYS = new WeakMap<object, string>();

function publicKeyOf(account: UsableAccount, seed: string): string {
  const publicKey = PUBLIC_KEYS.get(account) ?? toHex(keyAt(fromHex(seed)!, account).publicKey);
  PUBLIC_KEYS.set(account, publicKey);
  return publicKey;
}

function accountJson({ organizationId, walletId, seed }: Wallet, account: UsableAccount): JsonObject {
  const { walletAccountId, curve, path, addressFormat, address, createdAt = UNKNOWN_TIME } = account;
  const derivation = { curve, pathFormat: "PATH_FORMAT_BIP32", path, addressFormat, address };
  const publicKey = seed === undefined ? {} : { publicKey: publicKeyOf(account, seed) };
  const times = { createdAt, updatedAt: createdAt };
  return { walletAccountId, organizationId, walletId, ...derivation, ...publicKey, ...times };
}

function privateKeyJson({ seed, exported = false, imported = false, ...key }: PrivateKey): JsonObject {
  const { privateKeyId, privateKeyName, curve, addresses, privateKeyTags, createdAt } = key;
  const publicKey = toHex(keyAt(fromHex(seed)!, { path: PRIVATE_KEY_PATH, curve }).publicKey);
  const names = { privateKeyId, privateKeyName, publicKey, curve, addresses, privateKeyTags };
  return json({ ...names, createdAt, updatedAt: createdAt, exported, imported }) as JsonObject;
}

/** Returns a record as JSON. Records are JSON, but their types do not say so. */
function json(value: unknown): JsonValue {
  return value as JsonValue;
}
