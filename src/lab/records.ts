/** The records of the lab's tables: what it knows, and keeps from one start to the next. */
import type { JsonObject } from "../decode/json.js";
import type { ApiKeyPair } from "./api-key.js";
import type { SavedPki } from "./pki.js";
import type { SavedQosKeyPair } from "./qos.js";
import type { App, ReleaseOptions } from "./release.js";
import type { Timestamp } from "./timestamp.js";

export interface Organization {
  readonly organizationId: string;
  readonly organizationName: string;
  /** Absent: it is nobody's child. */
  readonly parentOrganizationId?: string;
  /** Users who may do everything; policies decide about the others. */
  readonly rootUserIds: readonly string[];
  readonly features: readonly { readonly name: string; readonly value: string }[];
}

/** client/README.md, "Shapes". */
interface Credential {
  /** An API key's: 33 bytes, hex. An authenticator's: 65 bytes, hex. */
  readonly publicKey: string;
  readonly type: string;
}

export interface ApiKey {
  readonly credential: Credential;
  readonly apiKeyId: string;
  readonly apiKeyName: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  /** Absent: it does not expire. */
  readonly expirationSeconds?: string;
}

interface Authenticator {
  readonly transports: readonly string[];
  readonly attestationType: string;
  readonly aaguid: string;
  readonly credentialId: string;
  readonly model: string;
  readonly credential: Credential;
  readonly authenticatorId: string;
  readonly authenticatorName: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** client/README.md, "Shapes". */
interface OauthProvider {
  readonly providerId: string;
  readonly providerName: string;
  readonly issuer: string;
  readonly audience: string;
  readonly subject: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

export interface User {
  readonly userId: string;
  readonly userName: string;
  readonly userEmail: string;
  readonly userPhoneNumber: string;
  readonly authenticators: readonly Authenticator[];
  readonly apiKeys: readonly ApiKey[];
  readonly userTags: readonly string[];
  readonly oauthProviders: readonly OauthProvider[];
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** A record that belongs to an organization without saying so in what the service shows of it. */
interface Owned {
  readonly organizationId: string;
}

export interface UserRecord extends Owned {
  readonly user: User;
  /** Of passkeys, by credential id: the relying party that each was made for. */
  readonly relyingParties: Readonly<Record<string, string>>;
}

interface UserTag extends Owned {
  readonly userTagId: string;
  readonly userTagName: string;
}

interface WalletAccount {
  readonly address: string;
  readonly path: string;
}

export interface Wallet extends Owned {
  readonly walletId: string;
  readonly walletName: string;
  readonly accounts: readonly WalletAccount[];
}

/** Says who of the users that are not root may do what. The lab's own form: the interface shows none. */
interface AccessPolicy extends Owned {
  readonly policyId: string;
  readonly policyName: string;
  readonly effect: "EFFECT_ALLOW" | "EFFECT_DENY";
  readonly activityTypes: readonly string[];
  /** How many users have to approve, the one who submits among them. */
  readonly approvals: number;
}

/** client/README.md, "Shapes". */
interface FiatOnRampCredential extends Owned {
  readonly fiatOnrampCredentialId: string;
  readonly onrampProvider: string;
  readonly projectId?: string;
  readonly publishableApiKey: string;
  readonly encryptedSecretApiKey: string;
  readonly encryptedPrivateApiKey?: string;
}

/** client/README.md, "Shapes". */
interface EarnVault extends Owned {
  readonly vault: JsonObject & { readonly wrapperAddress: string; readonly provider: string; readonly caip19: string };
}

/** Of an address (lower case) on a chain. */
interface Nonces {
  readonly caip2: string;
  readonly address: string;
  readonly nonce: string;
  readonly gasStationNonce: string;
}

/** The id of the nonces of an address on a chain. */
export function noncesId(caip2: string, address: string): string {
  return `${caip2} ${address.toLowerCase()}`;
}

export interface ActivityRecord {
  /** As the service shows it. */
  readonly activity: JsonObject & { readonly id: string; readonly organizationId: string; readonly status: string };
  /** Who submitted it, with what: for the day it is approved. */
  readonly userId: string;
  readonly operation: string;
  readonly parameters: JsonObject;
  readonly generateAppProofs: boolean;
  readonly approvalsWanted: number;
}

export interface SavedRelease extends Required<Omit<ReleaseOptions, "spelling">>, Pick<ReleaseOptions, "spelling"> {
  readonly nonce: number;
}

/** Keys that all releases share. */
export interface SavedFleet {
  readonly pki: SavedPki;
  readonly quorumKeys: Readonly<Record<App, SavedQosKeyPair>>;
  readonly operators: readonly SavedMember[];
  readonly shareholders: readonly SavedMember[];
}

export interface SavedMember {
  readonly alias: string;
  readonly key: SavedQosKeyPair;
}

export interface SavedEnclave {
  /** The id of its release. */
  readonly enclaveId: string;
  readonly app: App;
  readonly release: string;
  readonly bootedAt: number;
  readonly key: SavedQosKeyPair;
  readonly bootProof: JsonObject;
}

/** Whom and what a test needs to know of. */
export interface Seed {
  readonly organizationId: string;
  readonly childOrganizationId: string;
  /** Of a root user of the organization: may do everything. */
  readonly apiKey: ApiKeyPair;
  readonly ids: SeedIds;
  /** The activity that made the wallet, with app proofs of its addresses. */
  readonly walletActivityId: string;
  /** A user whom policies bind: may rename wallets if a second user approves. */
  readonly operator: { readonly userId: string; readonly apiKey: ApiKeyPair };
  /** A root user of the child organization. */
  readonly child: {
    readonly userId: string;
    readonly walletId: string;
    readonly walletActivityId: string;
    readonly apiKey: ApiKeyPair;
  };
}

export interface SeedIds {
  readonly userId: string;
  readonly walletId: string;
  readonly userTagId: string;
  readonly policyId: string;
  readonly spareApiKeyId: string;
  readonly fiatOnrampCredentialId: string;
}

export interface Tables {
  organizations: Organization;
  users: UserRecord;
  tags: UserTag;
  wallets: Wallet;
  policies: AccessPolicy;
  credentials: FiatOnRampCredential;
  vaults: EarnVault;
  nonces: Nonces;
  activities: ActivityRecord;
  /** By fingerprint: the id of the activity. */
  fingerprints: string;
  releases: SavedRelease;
  /** By ephemeral key, in hex. */
  enclaves: SavedEnclave;
  /** Under the one id `lab`. */
  installation: Installation;
}

/** What makes this lab this one: keys, and the ids of its seed. */
interface Installation {
  readonly fleet: SavedFleet;
  readonly webhookKey: string;
  /** Absent until it is made. */
  readonly seed?: Seed;
}

export type Table = keyof Tables;
