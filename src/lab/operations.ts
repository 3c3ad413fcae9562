/**
 * The submits, a row each: parameters, and what the submit does. The path is the key in snake case. Parameters are the
 * client's where it has the operation, or in the notation of `shapeOf`, with the names of the newest interface.
 */
import { randomUUID } from "node:crypto";
import { FEATURE_NAME_WEBHOOK, SUBMIT_OPERATIONS, documentedOnly } from "../client/operations.js";
import type { JsonObject } from "../decode/json.js";
import type { Shape } from "../decode/shapes.js";
import * as keys from "./new-keys.js";
import * as policies from "./policies.js";
import { invalid, notFound } from "./refusal.js";
import type { Call, Outcome } from "./call.js";
import { accepts, creates, deletes, keptOf, submit, tableOf, updates } from "./rows.js";
import * as logins from "./session.js";
import * as signing from "./signing.js";
import * as tags from "./tags.js";
import * as transfers from "./transfers.js";
import * as users from "./users.js";
import { checkWebhookUrl } from "./webhooks.js";

/** Versions of a type whose result has none. */
const LATER = {
  V2: { version: "V2", result: "" },
  V3: { version: "V3", result: "" },
  V4: { version: "V4", result: "" },
};
const SUBORG = { name: "create_sub_organization" };
const ON_RAMP = { of: "fiatOnRampCredential", id: "fiatOnrampCredentialId", as: "fiatOnRampCredentialId" };
const ENDPOINT = { of: "webhookEndpoint", id: "endpointId" };
const DEPLOYMENT = { of: "tvcDeployment", id: "deploymentId" };
const SENT = { of: "sentTransaction", id: "sendTransactionStatusId" };
const ANYWAY = "deleteWithoutExport?!";
const UNEXPORTED = { check: transfers.refuseUnexported };
const FEES = "nonce? gasLimit? maxFeePerGas? maxPriorityFeePerGas?";
const SET = "{name newOperators?[name publicKey] existingOperatorIds?[] threshold#}";
const RECIPIENTS = "threshold# operatorRecipients[operatorId encryptionPublicKey]";
const FROM = "{identity?{} signingLeaf?{} deposit?{} staticDeposit?{} htlcPreimage?{}}";
const COMMITMENTS = "operatorCommitments[id hiding binding]";
const SECRET = "targetPublicKey encryptionSuite";
const OAUTH2 = "provider clientId encryptedClientSecret";
const MAIL =
  "emailCustomization?{} sendFromEmailAddress? sendFromEmailSenderName? replyToEmailAddress? expirationSeconds? " +
  "apiKeyName? invalidateExisting?!";
const ATTESTATION = "attestation{credentialId clientDataJson attestationObject transports[]}";

export const LAB_OPERATIONS = tableOf({
  // Wallets and keys.
  createWallet: submit(keys.walletShape, keys.createWallet),
  createWalletAccounts: submit(keys.keyShapes.walletAccounts, keys.createWalletAccounts),
  updateWallet: submit(SUBMIT_OPERATIONS.updateWallet.parameters, renameWallet),
  deleteWallets: submit(
    `walletIds[] ${ANYWAY}`,
    users.deletesFrom("wallets", "walletId", transfers.walletOf, UNEXPORTED),
  ),
  deleteWalletAccounts: submit(`walletAccountIds[] ${ANYWAY}`, transfers.deleteWalletAccounts),
  createPrivateKeys: submit(keys.keyShapes.privateKeys, keys.createPrivateKeys, { version: "V2" }),
  deletePrivateKeys: submit(
    `privateKeyIds[] ${ANYWAY}`,
    users.deletesFrom("privateKeys", "privateKeyId", transfers.privateKeyOf, UNEXPORTED),
  ),
  initImportWallet: submit("userId", transfers.initImport),
  initImportPrivateKey: submit("userId", transfers.initImport),
  importWallet: submit(keys.keyShapes.importWallet, transfers.importWallet),
  importPrivateKey: submit(keys.keyShapes.importPrivateKey, transfers.importPrivateKey),
  exportWallet: submit("walletId targetPublicKey language?", transfers.exportWallet),
  exportWalletAccount: submit("address targetPublicKey", transfers.exportWalletAccount),
  exportPrivateKey: submit("privateKeyId targetPublicKey", transfers.exportPrivateKey),
  createPrivateKeyTag: creates("privateKeyTagName privateKeyIds[]", { with: "privateKeyIds[]" }),
  updatePrivateKeyTag: updates("privateKeyTagId newPrivateKeyTagName? addPrivateKeyIds[] removePrivateKeyIds[]"),
  deletePrivateKeyTags: deletes("privateKeyTagIds[]"),
  initImportSecrets: accepts("encryptionSuite numSecrets#", "enclaveTargetMessages[]"),
  importSecrets: creates(`secrets[name? secretPayload ${SECRET} staticProperties?[key? value?]]`, { each: "secrets" }),
  exportSecrets: accepts(`secrets[secretId ${SECRET} requestContext?[key? value?]]`, "secretPayloads[]"),
  deleteSecrets: deletes("secretIds[]"),

  // Signatures.
  signRawPayload: submit(signing.signingShapes.rawPayload, signing.signRawPayload, { version: "V2", result: "" }),
  signRawPayloads: submit(signing.signingShapes.rawPayloads, signing.signRawPayloads),
  signTransaction: submit(signing.signingShapes.transaction, signing.signTransaction, { version: "V2", result: "" }),
  ethSendRawTransaction: accepts("signedTransaction caip2", "transactionHash"),
  ethSendTransaction: creates(`from caip2 sponsor?! deadline? gasStationNonce? calls[to value? data?] ${FEES}`, {
    ...SENT,
    version: "V2",
  }),
  ethUndelegate7702: creates(`from caip2 ${FEES}`, { ...SENT, name: "eth_undelegate_7702" }),
  solSendTransaction: creates("unsignedTransaction signWiths[] sponsor?! caip2 recentBlockhash?", {
    ...SENT,
    version: "V2",
  }),
  sparkSignFrost: accepts(
    `signWith signatures[derivation${FROM} message verifyingKey adaptorPublicKey? ${COMMITMENTS}]`,
    "signatures[]",
  ),
  sparkPrepareTransfer: accepts(
    `signWith transfer{transferId leaves[leafId oldLeafDerivation${FROM} newLeafDerivation${FROM} refundSignature? ` +
      `directRefundSignature? directFromCpfpRefundSignature?] receiverPublicKey ${RECIPIENTS}}`,
    "operatorPackages[] transferUserSignature newLeafPublicKeys[]",
  ),
  sparkClaimTransfer: accepts(
    `signWith claim{leaves[leafId ciphertext senderSignature] transferId senderIdentityPublicKey ${RECIPIENTS}}`,
    "operatorPackages[] newLeafPublicKeys[]",
  ),
  sparkPrepareLightningReceive: accepts(`signWith lightningReceive{${RECIPIENTS}}`, "operatorPackages[] paymentHash"),

  // Organizations.
  createSubOrganization: submit(keys.keyShapes.subOrganization, keys.createSubOrganization, { version: "V7" }),
  deleteSubOrganization: submit(ANYWAY, transfers.deleteSubOrganization),
  updateOrganizationName: submit("organizationName", renameOrganization),
  updateRootQuorum: submit("threshold# userIds[]", updateRootQuorum),
  setOrganizationFeature: submit(SUBMIT_OPERATIONS.setOrganizationFeature.parameters, setFeature),
  removeOrganizationFeature: submit("name", removeFeature),
  setIpAllowlist: accepts("publicKey? enabled?! rules?[cidr label?] onEvaluationError?"),
  removeIpAllowlist: accepts("publicKey?"),
  createWebhookEndpoint: submit("url name subscriptions?[eventType filtersJson? isActive?!]", putEndpoint),
  updateWebhookEndpoint: submit("endpointId url? name? isActive?!", putEndpoint),
  deleteWebhookEndpoint: deletes("endpointId", ENDPOINT),

  // Users and their credentials.
  createUsers: submit(users.userShapes.createUsers, (call) => users.createUsers(call, call.parameters.users), LATER.V4),
  createApiOnlyUsers: submit(users.userShapes.createApiOnlyUsers, (call) =>
    users.createUsers(call, call.parameters.apiOnlyUsers),
  ),
  updateUser: submit(users.userShapes.updateUser, users.updateUser),
  updateUserName: submit(users.userShapes.updateUser, users.updateUser),
  updateUserEmail: submit(users.userShapes.updateUser, users.updateUser),
  updateUserPhoneNumber: submit(users.userShapes.updateUser, users.updateUser),
  deleteUsers: submit("userIds[]", users.deletesFrom("users", "userId", users.userOf, { check: users.refuseRoot })),
  createUserTag: submit("userTagName userIds[]", tags.createUserTag),
  updateUserTag: submit(SUBMIT_OPERATIONS.updateUserTag.parameters, tags.updateUserTag),
  deleteUserTags: submit("userTagIds[]", tags.deleteUserTags),
  createInvitations: creates(
    "invitations[receiverUserName receiverUserEmail receiverUserTags[] accessType senderUserId]",
    { each: "invitations" },
  ),
  deleteInvitation: deletes("invitationId"),
  createApiKeys: submit(users.userShapes.createApiKeys, users.addCredentials("apiKeys"), LATER.V2),
  deleteApiKeys: submit("userId apiKeyIds[]", users.deleteCredentials("apiKeys", "API key")),
  createAuthenticators: submit(users.userShapes.createAuthenticators, users.addCredentials("authenticators"), LATER.V2),
  deleteAuthenticators: submit("userId authenticatorIds[]", users.deleteCredentials("authenticators", "authenticator")),
  createOauthProviders: submit(users.userShapes.createOauthProviders, users.addCredentials("oauthProviders"), {
    version: "V2",
  }),
  deleteOauthProviders: submit("userId providerIds[]", users.deleteCredentials("oauthProviders", "provider")),
  createMfaPolicy: creates("userId mfaPolicyName condition requiredAuthenticationMethods[any[type id?]] order# notes?"),
  updateMfaPolicy: updates(
    "userId mfaPolicyId mfaPolicyName? condition? requiredAuthenticationMethods?[any[type id?]] order?# notes?",
  ),
  deleteMfaPolicy: deletes("userId mfaPolicyId"),

  // Policies and votes. `Service` counts the votes.
  createPolicy: submit(policies.policyShapes.createPolicy, policies.createPolicy, LATER.V3),
  createPolicies: submit(policies.policyShapes.createPolicies, policies.createPolicies),
  updatePolicy: submit(policies.policyShapes.updatePolicy, policies.updatePolicy, { version: "V2" }),
  deletePolicy: submit("policyId", users.deletesFrom("policies", "policyId", policies.policyOf)),
  deletePolicies: submit("policyIds[]", users.deletesFrom("policies", "policyId", policies.policyOf)),
  approveActivity: submit("fingerprint", () => ({ result: {} })),
  rejectActivity: submit("fingerprint", () => ({ result: {} })),
  createVelocityControl: creates(
    "name dataSource{chainAssetTransfer?{} activityExecution?{}} identifier " +
      "aggregation{method operator threshold window{rolling?{} infinite?{}} " +
      "groupBy{organization?{} user?{} wallet?{}}}",
  ),
  deleteVelocityControl: deletes("velocityControlId"),
  createSmartContractInterface: creates("smartContractAddress smartContractInterface type label notes?"),
  deleteSmartContractInterface: deletes("smartContractInterfaceId"),

  // Log-ins.
  createReadWriteSession: submit(SUBMIT_OPERATIONS.createReadWriteSession.parameters, logins.createReadWriteSession, {
    version: "V2",
  }),
  createReadOnlySession: accepts("", "organizationId organizationName userId username session sessionExpiry"),
  createSessionProfile: creates("sessionProfileName scope expirationSeconds? notes?"),
  stampLogin: submit(logins.loginShapes.stampLogin, logins.stampLogin),
  initOtp: submit(logins.loginShapes.initOtp, logins.initOtp, { version: "V3", result: "V2", byParent: true }),
  verifyOtp: submit(logins.loginShapes.verifyOtp, logins.verifyOtp, { ...LATER.V2, byParent: true }),
  otpLogin: submit(logins.loginShapes.otpLogin, logins.otpLogin, { ...LATER.V2, byParent: true }),
  oauthLogin: submit(logins.loginShapes.oauthLogin, logins.oauthLogin, { byParent: true }),
  oauth: submit(logins.loginShapes.oauth, logins.oauth, { byParent: true }),
  initOtpAuth: submit(logins.loginShapes.initOtp, logins.initOtpAuth, { version: "V3", result: "V2", byParent: true }),
  otpAuth: submit(logins.loginShapes.otpAuth, logins.otpAuth, { byParent: true }),
  emailAuth: accepts(`email targetPublicKey ${MAIL}`, "userId apiKeyId", { ...LATER.V3, byParent: true }),
  initUserEmailRecovery: accepts(`email targetPublicKey ${MAIL}`, "userId", { ...LATER.V2, byParent: true }),
  recoverUser: accepts(`userId authenticator{authenticatorName challenge ${ATTESTATION}}`, "authenticatorId[]"),
  createOauth2Credential: creates(OAUTH2),
  updateOauth2Credential: updates(`oauth2CredentialId ${OAUTH2}`),
  deleteOauth2Credential: deletes("oauth2CredentialId"),
  oauth2Authenticate: accepts(
    "oauth2CredentialId authCode redirectUri codeVerifier nonce bearerTokenTargetPublicKey?",
    "oidcToken",
  ),

  // Money: nothing is sent to a chain.
  createFiatOnRampCredential: creates(
    "onrampProvider projectId? publishableApiKey encryptedSecretApiKey encryptedPrivateApiKey? sandboxMode?!",
    ON_RAMP,
  ),
  updateFiatOnRampCredential: updates(
    documentedOnly(SUBMIT_OPERATIONS.updateFiatOnRampCredential.parameters) as Shape<unknown> as Shape<JsonObject>,
    ON_RAMP,
  ),
  deleteFiatOnRampCredential: deletes("fiatOnrampCredentialId", ON_RAMP),
  initFiatOnRamp: creates(
    "onrampProvider walletAddress network cryptoCurrencyCode fiatCurrencyCode? fiatCurrencyAmount? paymentMethod? " +
      "countryCode? countrySubdivisionCode? sandboxMode?! urlForSignature?",
    { of: "onRampTransaction", with: "onRampUrl" },
  ),
  createSwapQuote: accepts("signWith inputToken outputToken inputAmount slippageBps?", "quotes[]"),
  executeSwap: creates(
    "quoteId inputToken inputAmount outputToken quotedOutputAmount minOutputAmount sponsor! evmNonce? " +
      "recentBlockhash? gasStationNonce?",
    { of: "swap", id: "swapRequestId", ...LATER.V2 },
  ),
  claimSwapFees: creates("", { id: "requestId" }),
  upsertSwapConfig: accepts(
    "feeReceiverWalletAddress? feeBps? stableFeeBps?",
    "feeReceiverWalletAddress? feeBps? stableFeeBps?",
  ),
  earnDeployWrapper: creates("vaultAddress chainCaip2 clientFeeBps clientFeeWallet", {
    id: "deployRequestId",
    with: "wrapperAddress splitterAddress",
  }),
  earnDeposit: creates("wrapperAddress signWith assets chainCaip2 sponsor?!", { id: "depositRequestId" }),
  earnWithdraw: creates("wrapperAddress signWith chainCaip2 sponsor?! amountValue", { id: "withdrawRequestId" }),
  earnSetWrapperState: submit("wrapperAddress depositsDisabled!", setWrapperState),
  earnClaimRewards: creates("signWith chainCaip2 sponsor?!", { id: "claimRequestId" }),
  claimEarnFees: creates("wrapperAddress", { id: "claimRequestId" }),

  // Applications of the caller's. Those that run were named when the lab started.
  createTvcApp: creates(
    `name quorumPublicKey manifestSetId? manifestSetParams?${SET} shareSetId? shareSetParams?${SET} enableEgress?! ` +
      "enableDebugModeDeployments?!",
    {
      id: "appId",
      with:
        "manifestSetId manifestSetOperatorIds[] manifestSetThreshold# " +
        "shareSetId shareSetOperatorIds[] shareSetThreshold#",
    },
  ),
  createTvcDeployment: creates(
    "appId qosVersion pivotContainerImageUrl pivotPath pivotArgs[] expectedPivotDigest nonce?# debugMode?! " +
      "replicas?# pivotContainerEncryptedPullSecret? healthCheckType healthCheckPort# publicIngressPort# " +
      "instanceSizeCpus?# instanceSizeRam?#",
    { ...DEPLOYMENT, with: "manifestId" },
  ),
  setTvcAppLiveDeployment: accepts("deploymentId", "", { type: "UPDATE_TVC_APP_LIVE_DEPLOYMENT" }),
  restoreTvcDeployment: accepts("deploymentId", "deploymentId"),
  deleteTvcDeployment: deletes("deploymentId", DEPLOYMENT),
  deleteTvcAppAndDeployments: deletes("appId", { of: "tvcApp", id: "appId" }),
  createTvcManifestApprovals: creates("manifestId approvals[operatorId signature]", {
    id: "approvalId",
    each: "approvals",
  }),
  createTvcOperator: creates("walletName? walletId? path operatorName", {
    id: "operatorId",
    with: "walletId encryptPublicKey signPublicKey",
  }),
  createTvcQuorumKey: creates("threshold# operatorEncryptKeys[]", {
    id: "quorumKeyId",
    with: "quorumPublicKey shareIds[]",
  }),
  postTvcQuorumKeyShare: accepts(
    "deploymentId ephemeralPublicKeyHex shareApprovalBundle{operatorId reEncryptedShareHex signature}",
    "provisioningShareId",
  ),
  reEncryptTvcQuorumKeyShare: accepts(
    "attestationDocB64 manifestB64 operatorEncryptKey operatorSignKey deploymentId appQuorumKey",
    "provisioningShareId",
  ),

  // Other versions of paths above, which older SDKs submit, and core 2.8.1 and sdk-server 8.2.1.
  createSubOrganizationV8: submit(keys.keyShapes.subOrganization, keys.createSubOrganization, {
    ...SUBORG,
    version: "V8",
  }),
  createSubOrganizationV3: submit(keys.keyShapes.subOrganizationV3, keys.createSubOrganization, {
    ...SUBORG,
    version: "V3",
  }),
  verifyOtpV1: submit(logins.loginShapes.verifyOtpV1, logins.verifyOtpV1, { name: "verify_otp", byParent: true }),
  otpLoginV1: submit(logins.loginShapes.otpLogin, logins.otpLogin, { name: "otp_login", byParent: true }),
  ethSendTransactionV1: creates(`from to caip2 sponsor?! value? data? gasStationNonce? ${FEES}`, {
    ...SENT,
    name: "eth_send_transaction",
  }),
  ethUndelegate7702Joined: creates(`from caip2 ${FEES}`, {
    ...SENT,
    name: "eth_undelegate_7702",
    type: "ETH_UNDELEGATE7702",
  }),
  solSendTransactionV1: creates("unsignedTransaction signWith sponsor?! caip2 recentBlockhash?", {
    ...SENT,
    name: "sol_send_transaction",
  }),
});
export type LabSubmitName = keyof typeof LAB_OPERATIONS;

function renameWallet({
  tx,
  organization,
  parameters,
}: Call<{ walletId: string; walletName?: string | undefined }>): Outcome {
  const { walletId, walletName } = parameters;
  const wallet = transfers.walletOf(tx, organization, walletId);
  tx.put("wallets", walletId, { ...wallet, walletName: walletName ?? wallet.walletName });
  return { result: { walletId }, addresses: keys.provenAddresses(wallet).proven };
}

function renameOrganization({ tx, organization, parameters }: Call<JsonObject>): Outcome {
  const [{ organizationId }, organizationName] = [organization, String(parameters["organizationName"])];
  tx.put("organizations", organizationId, { ...organization, organizationName });
  return { result: { organizationId, organizationName } };
}

function updateRootQuorum({ tx, organization, parameters }: Call<JsonObject>): Outcome {
  const [rootQuorumThreshold, rootUserIds] = [Number(parameters["threshold"]), parameters["userIds"] as string[]];
  for (const id of rootUserIds) users.userOf(tx, organization, id);
  if (!(rootQuorumThreshold >= 1 && rootQuorumThreshold <= new Set(rootUserIds).size))
    throw invalid(`parameters.threshold: expected 1 to ${new Set(rootUserIds).size}, the number of users`);
  tx.put("organizations", organization.organizationId, { ...organization, rootQuorumThreshold, rootUserIds });
  return { result: {} };
}

function setFeature({ tx, organization, parameters }: Call<{ name: string; value: string }>): Outcome {
  const { name, value } = parameters;
  if (!/^FEATURE_NAME_[A-Z0-9_]+$/.test(name))
    throw invalid(`parameters.name: ${name} is not a feature's name, such as ${FEATURE_NAME_WEBHOOK}`);
  if (name === FEATURE_NAME_WEBHOOK && value !== "") checkWebhookUrl(value);
  const features = [...organization.features.filter((feature) => feature.name !== name), { name, value }];
  tx.put("organizations", organization.organizationId, { ...organization, features });
  return { result: { features } };
}

function removeFeature({ tx, organization, parameters }: Call<JsonObject>): Outcome {
  const features = organization.features.filter(({ name }) => name !== parameters["name"]);
  tx.put("organizations", organization.organizationId, { ...organization, features });
  return { result: { features } };
}

/** Keeps an endpoint, to which activities are delivered as to the webhook of a feature, or changes it. */
function putEndpoint({ tx, organization, parameters }: Call<JsonObject>): Outcome {
  if (parameters["url"] !== undefined) checkWebhookUrl(String(parameters["url"]));
  const { organizationId } = organization;
  const { endpointId: given } = parameters;
  const before = given === undefined ? undefined : keptOf(tx, organization, ENDPOINT.of, String(given)).record;
  const endpointId = String(given ?? randomUUID());
  const webhookEndpoint = { organizationId, isActive: true, ...before, ...parameters, endpointId };
  tx.put("kept", endpointId, { organizationId, kind: ENDPOINT.of, id: endpointId, record: webhookEndpoint });
  return { result: { endpointId, webhookEndpoint } };
}

function setWrapperState({ tx, organization, parameters }: Call<JsonObject>): Outcome {
  const wrapperAddress = String(parameters["wrapperAddress"]);
  const kept = users
    .ownedOf(tx.all("vaults"), organization)
    .find(({ vault }) => vault.wrapperAddress === wrapperAddress);
  if (kept === undefined) throw notFound(`there is no wrapper ${wrapperAddress}`);
  const depositsDisabled = parameters["depositsDisabled"]!;
  tx.put("vaults", wrapperAddress, { ...kept, vault: { ...kept.vault, depositsDisabled } });
  return { result: { wrapperAddress, depositsDisabled } };
}
