/** The queries, a row each: parameters, and what is answered. The path is the key in snake case. */
import { QUERY_OPERATIONS, type QueryName, documentedOnly } from "../client/operations.js";
import { DOCUMENT_MEMBER } from "../decode/boot-proof.js";
import { type ReadOf, type Shape, either, flag, list, nonEmptyText, object, optional, text } from "../decode/shapes.js";
import { fromHex, toHex } from "../bytes.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import { deploymentJson } from "./applications.js";
import type { Question, Sources } from "./question.js";
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
import { policiesOf, policyJson, policyOf } from "./policies.js";
import { invalid, notFound } from "./refusal.js";
import { type Answer, type LabQuery, answers, query, showsAll, showsOne, snake, tableOf } from "./rows.js";
import type { Reader } from "./state.js";
import { tagsOf } from "./tags.js";
import { millisecondsOf } from "./timestamp.js";
import { privateKeyOf, walletOf } from "./transfers.js";
import { credentialsOf, owned, ownedOf, userOf } from "./users.js";
import { keyAt, keyOfSecret } from "./wallet.js";

/** A row of the client's table. */
function clients<N extends QueryName>(
  name: N,
  answer: Answer<ReadOf<(typeof QUERY_OPERATIONS)[N]["parameters"]>>,
): (key: string) => LabQuery {
  type Parameters = Shape<ReadOf<(typeof QUERY_OPERATIONS)[N]["parameters"]>>;
  const shape: Shape<unknown> = QUERY_OPERATIONS[name].parameters;
  return query(documentedOnly(shape) as Parameters, answer);
}

/** Shows the record that `id` names, as the member `as`. */
function shows<T>(
  id: string,
  as: string,
  find: (reader: Reader, organization: Organization, id: string) => T,
  jsonOf: (record: T) => JsonObject,
): ReturnType<typeof query> {
  return query(id, ({ state, organization, parameters }) => ({
    [as]: jsonOf(find(state, organization, String(parameters[id]))),
  }));
}

/** Lists what the organization has, as the member `as`. */
function lists(
  as: string,
  of: (reader: Reader, organization: Organization) => JsonObject[],
): (key: string) => LabQuery {
  return (key) =>
    query("", (question) => ({ [as]: listed(question, snake(key), (one) => of(question.state, one)) }))(key);
}

/** A filter of a list. Some clients send one value, others a list; an empty list does not filter. */
const filter = optional(either(text, list(text), "a string or a list of strings"));
const activities = object({ filterByStatus: filter, filterByType: filter, paginationOptions });
const walletAccount = object({ walletId: text, address: optional(nonEmptyText), path: optional(nonEmptyText) });
const walletAccounts = object({
  walletId: optional(text),
  includeWalletDetails: optional(flag),
  paginationOptions,
});
const suborgs = object({ filterType: optional(text), filterValue: optional(text), paginationOptions });
const PAGES = "paginationOptions?{limit? before? after?}";
const CHAIN_PAGE = { pageInfo: { hasNextPage: false, hasPreviousPage: false } };
const STATUS = { status: "STATUS_PENDING", txStatus: "PENDING" };

/** The filters of sub-organizations, by type: the values of one, any of which passes. */
const SUBORG_FILTERS: Readonly<Record<string, (suborg: Organization, users: readonly User[]) => readonly string[]>> = {
  NAME: ({ organizationName }) => [organizationName],
  USERNAME: (_, users) => users.map(({ userName }) => userName),
  EMAIL: (_, users) => users.map(({ userEmail }) => userEmail),
  PHONE_NUMBER: (_, users) => users.map(({ userPhoneNumber }) => userPhoneNumber),
  CREDENTIAL_ID: (_, users) => users.flatMap(({ authenticators }) => authenticators.map((one) => one.credentialId)),
  PUBLIC_KEY: (_, users) => users.flatMap(({ apiKeys }) => apiKeys.map(({ credential }) => credential.publicKey)),
};

export const LAB_QUERIES = tableOf({
  // Activities and their proofs.
  getActivity: query(object({ activityId: text }), (question) => ({ activity: activityOf(question, "get_activity") })),
  listActivities: query(activities, listActivities),
  listAppProofs: clients("listAppProofs", (question) => ({ appProofs: appProofsOf(question) })),
  getBootProof: clients("getBootProof", (question) => ({
    bootProof: bootProofOf(question.parameters.ephemeralKey, question),
  })),
  getLatestBootProof: clients("getLatestBootProof", async (question) => {
    const { state, fleet, misbehaviour, parameters } = question;
    const latest = await state.transact((tx) => fleet.latest(parameters.appName, tx));
    if (latest === undefined) throw notFound(`no enclave runs ${parameters.appName}`);
    return { bootProof: bootProofOf(misbehaviour.runningKey(latest.ephemeralKey, state), question) };
  }),
  getPolicyEvaluations: answers("activityId", "policyEvaluations[]"),
  getMfaStatus: answers("activityId userId?", "mfaStatuses[]"),

  // Wallets and keys.
  getWallet: shows("walletId", "wallet", walletOf, walletJson),
  listWallets: lists("wallets", (all, one) => ownedOf(all.all("wallets"), one).map(walletJson)),
  getWalletAccount: query(walletAccount, getWalletAccount),
  listWalletAccounts: query(walletAccounts, listWalletAccounts),
  getWalletAddressBalances: answers("address caip2", "balances[]"),
  getPrivateKey: shows("privateKeyId", "privateKey", privateKeyOf, privateKeyJson),
  listPrivateKeys: lists("privateKeys", (all, one) => ownedOf(all.all("privateKeys"), one).map(privateKeyJson)),
  listPrivateKeyTags: showsAll(),
  listSecrets: showsAll(PAGES),

  // Organizations and users.
  whoami: query("", whoami, true),
  getOrganization: query("", ({ state, organization }) => {
    const { organizationId, organizationName: name, features, parentOrganizationId: _ } = organization;
    const [users, tags] = [usersOf(state, organization), tagsOf(state, organization)];
    const policies = policiesOf(state, organization);
    return json({
      organizationData: { organizationId, name, users, policies, tags, features, ...quorumOf(organization) },
    });
  }),
  getOrganizationConfigs: query("", ({ organization }) =>
    json({ configs: { features: organization.features, quorum: quorumOf(organization).rootQuorum } }),
  ),
  getIpAllowlist: answers("publicKey?", "allowlist{}"),
  listSuborgs: query(suborgs, (question) => ({ organizationIds: suborgsOf(question, "list_suborgs") })),
  listVerifiedSuborgs: query(suborgs, (question) => ({
    organizationIds: suborgsOf(question, "list_verified_suborgs"),
  })),
  listWebhookEndpoints: showsAll(),
  listEmailEvents: answers(`email eventType? ${PAGES}`, "emailEvents[]"),
  getUser: shows("userId", "user", userOf, ({ user }) => json(user)),
  listUsers: lists("users", usersOf),
  listUserTags: lists("userTags", tagsOf),
  getApiKey: query("apiKeyId", credential("apiKeys", "apiKey", "apiKeyId")),
  getApiKeys: query("userId?", credentials("apiKeys")),
  getAuthenticator: query("authenticatorId", credential("authenticators", "authenticator", "authenticatorId")),
  getAuthenticators: query("userId", credentials("authenticators")),
  getOauthProviders: clients("getOauthProviders", credentials("oauthProviders")),
  getOauth2Credential: showsOne("oauth2CredentialId"),
  listOauth2Credentials: showsAll(),
  getMfaPolicy: showsOne("userId mfaPolicyId"),
  getMfaPolicies: showsAll("userId"),
  getSessionProfile: showsOne("sessionProfileId"),
  getSessionProfiles: showsAll(),

  // Policies.
  getPolicy: shows("policyId", "policy", policyOf, policyJson),
  listPolicies: lists("policies", policiesOf),
  getActivePolicies: answers("", "statuses[] evaluatedAtMs"),
  getVelocityControl: showsOne("velocityControlId"),
  listVelocityControls: showsAll(PAGES),
  getSmartContractInterface: showsOne("smartContractInterfaceId"),
  listSmartContractInterfaces: showsAll(),

  // Money: the lab has no chain.
  getNonces: clients("getNonces", ({ state, parameters }) => {
    const { address, caip2, nonce, gasStationNonce } = parameters;
    const known = state.get("nonces", noncesId(caip2, address));
    return {
      ...(nonce === true && { nonce: known?.nonce ?? "0" }),
      ...(gasStationNonce === true && { gasStationNonce: known?.gasStationNonce ?? "0" }),
    };
  }),
  getGasUsage: answers("", "windowDurationMinutes# windowLimitUsd usageUsd"),
  getSendTransactionStatus: answers("sendTransactionStatusId", "txStatus", { of: "sentTransaction", facts: STATUS }),
  getSwapStatus: answers("swapRequestId", "status swapKind provider inputToken outputToken inputAmount updatedAt", {
    of: "swap",
    facts: STATUS,
  }),
  listEthTransactionHistory: answers(`address caip2 ${PAGES}`, "transactions[] pageInfo{}", { facts: CHAIN_PAGE }),
  listSolTransactionHistory: answers(`address caip2 ${PAGES}`, "transactions[] pageInfo{}", { facts: CHAIN_PAGE }),
  listSupportedAssets: answers("caip2", "assets[]"),
  listFiatOnRampCredentials: showsAll(),
  getOnrampTransactionStatus: answers("transactionId refresh?!", "transactionStatus"),
  listEarnEnabledVaults: query(
    documentedOnly(
      object({ ...QUERY_OPERATIONS.listEarnEnabledVaults.parameters.members, includeExposure: optional(flag) }),
    ) as Shape<JsonObject>,
    listEarnEnabledVaults,
  ),
  listEarnVaults: answers(`provider? caip19 ${PAGES}`, "vaults[] pageInfo{}", { facts: CHAIN_PAGE }),
  listEarnPositions: answers("walletAddress", "positions[]"),
  listEarnRewards: answers("walletAddress caip2?", "rewards[]"),
  getEarnDeployStatus: answers("deployRequestId", "status", { of: "earnDeployWrapper", facts: STATUS }),
  getEarnDepositStatus: answers("depositRequestId", "status", { of: "earnDeposit", facts: STATUS }),
  getEarnWithdrawStatus: answers("withdrawRequestId", "status", { of: "earnWithdraw", facts: STATUS }),
  getClaimEarnFeesStatus: answers("claimRequestId", "status", { of: "claimEarnFee", facts: STATUS }),
  getEarnClaimRewardsStatus: answers("claimRequestId", "status", { of: "earnClaimReward", facts: STATUS }),

  // Applications of the caller's.
  getTvcDeployment: clients("getTvcDeployment", (question) => {
    const release = releaseOf(question);
    const application = question.state.all("applications").find(({ appId }) => appId === release.app)!;
    const bootProof = question.fleet.bootProof(enclaveOf(release, question), question.state);
    return { tvcDeployment: deploymentJson(application, release, bootProof) };
  }),
  getTvcDeploymentProvisioningDetails: clients("getTvcDeploymentProvisioningDetails", async (question) => {
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
  }),
  getTvcDeploymentDebugLogs: answers("deploymentId tailLines?# sinceSeconds?#", "entries[]"),
  getTvcApp: showsOne("tvcAppId"),
  listTvcApps: showsAll(),
  listTvcAppDeployments: showsAll("appId", { of: "tvcDeployment", as: "tvcDeployments" }),
  getAppStatus: answers("appId", "appStatus{}"),
  listTvcOperators: showsAll(),
  listTvcQuorumKeys: showsAll(),
  getTvcQosVersions: answers("", "availableVersions[] latestVersion"),
  validateTvcImage: answers("pivotContainerImageUrl pivotContainerEncryptedPullSecret?", "resolvedImageDigest?"),
});

/** The answer is about the caller. The organization in the query does not matter. */
function whoami({ state, caller }: Question<JsonObject>): JsonObject {
  const { organizationId, user } = caller.record;
  const { organizationName } = state.get("organizations", organizationId)!;
  return { organizationId, organizationName, userId: user.userId, username: user.userName };
}

function listEarnEnabledVaults({ state, organization, parameters }: Question<JsonObject>): JsonObject {
  const { provider, caip19 } = parameters;
  const { organizationId, parentOrganizationId } = organization;
  const enabledVaults = state
    .all("vaults")
    .filter((one) => one.organizationId === (parentOrganizationId ?? organizationId))
    .map(({ vault }) => vault)
    .filter((vault) => (provider ?? vault.provider) === vault.provider && (caip19 ?? vault.caip19) === vault.caip19)
    .map((vault) => (parentOrganizationId === undefined ? vault : withoutClientFees(vault)));
  return { enabledVaults };
}

function listWalletAccounts(question: Question<ReadOf<typeof walletAccounts>>): JsonObject {
  const { walletId, includeWalletDetails = false } = question.parameters;
  if (walletId !== undefined) walletOf(question.state, question.organization, walletId);
  const entriesOf = (organization: Organization): Entry<() => JsonObject>[] =>
    ownedOf(question.state.all("wallets"), organization)
      .filter((wallet) => (walletId ?? wallet.walletId) === wallet.walletId)
      .flatMap((wallet) =>
        wallet.accounts.map((account) => ({
          id: account.walletAccountId,
          at: millisecondsOf(account.createdAt),
          record: () => ({
            ...accountJson(wallet, account),
            ...(includeWalletDetails && { walletDetails: walletJson(wallet) }),
          }),
        })),
      );
  return { accounts: listedPage(question, "list_wallet_accounts", entriesOf) };
}

function getWalletAccount(question: Question<ReadOf<typeof walletAccount>>): JsonObject {
  const { walletId, address, path } = question.parameters;
  const wallet = walletOf(question.state, question.organization, walletId);
  const account = wallet.accounts.find(
    (one) => (address ?? one.address) === one.address && (path ?? one.path) === one.path,
  );
  if (account === undefined) throw notFound(`wallet ${walletId} has no such account`);
  const isAsked = ({ organizationId }: Organization): boolean => organizationId === wallet.organizationId;
  const [shownAccount] = listed(question, "get_wallet_account", (organization) =>
    isAsked(organization) ? [accountJson(wallet, account)] : [],
  );
  return { account: shownAccount! };
}

function listActivities(question: Question<ReadOf<typeof activities>>): JsonObject {
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
}

function suborgsOf(question: Question<ReadOf<typeof suborgs>>, name: string): string[] {
  const { state, organization, parameters } = question;
  const { filterType, filterValue = "" } = parameters;
  const valuesOf = filterType === undefined ? () => [filterValue] : SUBORG_FILTERS[filterType];
  if (valuesOf === undefined)
    throw invalid(`parameters.filterType: expected one of ${Object.keys(SUBORG_FILTERS).join(", ")}`);
  const usersIn = (one: Organization): User[] => ownedOf(state.all("users"), one).map(({ user }) => user);
  const entries = state
    .all("organizations")
    .filter(({ parentOrganizationId }) => parentOrganizationId === organization.organizationId)
    .filter((one) => valuesOf(one, usersIn(one)).includes(filterValue))
    .map(({ organizationId: id }, at) => ({ id, at, record: () => id }));
  return pageFor(question, name, entries).map((id) => id());
}

function usersOf(reader: Reader, organization: Organization): JsonObject[] {
  return ownedOf(reader.all("users"), organization).map(({ user }) => user as unknown as JsonObject);
}

function quorumOf({ rootUserIds, rootQuorumThreshold: threshold = 1 }: Organization): JsonObject {
  return { rootQuorum: { threshold, userIds: [...rootUserIds] } };
}

type Credentials = Parameters<typeof credentialsOf>[2];

/** Shows the credentials of one user, or of all. */
function credentials(
  member: Credentials,
): (question: Question<{ readonly userId?: string | undefined }>) => JsonObject {
  return ({ state, organization, parameters: { userId } }) => ({
    [member]: credentialsOf(state, organization, member, userId),
  });
}

function credential(member: Credentials, as: string, idMember: string): (question: Question<JsonObject>) => JsonObject {
  return ({ state, organization, parameters }) => {
    const id = parameters[idMember]!;
    const found = credentialsOf(state, organization, member).find((one) => one[idMember] === id);
    if (found === undefined) throw notFound(`there is no ${idMember} ${String(id)} in the organization`);
    return { [as]: found };
  };
}

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

function walletJson(wallet: Wallet): JsonObject {
  const { walletId, walletName, createdAt, exported = false, imported = false } = wallet;
  return { walletId, walletName, createdAt, updatedAt: createdAt, exported, imported };
}

/** A record never changes, and lists have many of them. */
const PUBLIC_KEYS = new WeakMap<object, string>();

function publicKeyOf(account: WalletAccount, seed: string): string {
  const publicKey = PUBLIC_KEYS.get(account) ?? toHex(keyAt(fromHex(seed)!, account).publicKey);
  PUBLIC_KEYS.set(account, publicKey);
  return publicKey;
}

function accountJson({ organizationId, walletId, seed }: Wallet, account: WalletAccount): JsonObject {
  const { walletAccountId, curve, path, addressFormat, address, name, createdAt } = account;
  const derivation = { curve, pathFormat: "PATH_FORMAT_BIP32", path, addressFormat, address };
  const publicKey = seed === undefined ? {} : { publicKey: publicKeyOf(account, seed) };
  const times = { createdAt, updatedAt: createdAt };
  const named = name === undefined ? {} : { name };
  return { walletAccountId, organizationId, walletId, ...derivation, ...publicKey, ...named, ...times };
}

function privateKeyJson({ secret, exported = false, imported = false, ...key }: PrivateKey): JsonObject {
  const { privateKeyId, privateKeyName, curve, addresses, privateKeyTags, createdAt } = key;
  const publicKey = toHex(keyOfSecret(fromHex(secret)!, curve).publicKey);
  const names = { privateKeyId, privateKeyName, publicKey, curve, addresses, privateKeyTags };
  return json({ ...names, createdAt, updatedAt: createdAt, exported, imported });
}

/** Returns a record as JSON. Records are JSON, but their types do not say so. */
function json(value: object): JsonObject {
  return value as JsonObject;
}
