/** The lab's records, as kept in a data folder. */
import type { JsonObject } from "../decode/json.js";
import type { AddressFormat, Curve } from "./addresses-of.js";
import type { ApiKeyPair } from "./api-key.js";
import type { KeyPair } from "./keys.js";
import type { SavedPki } from "./pki.js";
import type { LabMember, QosKeyPair } from "./qos.js";
import type { App, ReleaseOptions, TokenApp } from "./release.js";
import type { Timestamp } from "./timestamp.js";

export interface Organization {
  readonly organizationId: string;
  readonly organizationName: string;
  readonly parentOrganizationId?: string;
  /** Ids of the users to whom policies do not apply. */
  readonly rootUserIds: readonly string[];
  /** The number of root users who must approve. Default: 1. */
  readonly rootQuorumThreshold?: number;
  readonly features: readonly { readonly name: string; readonly value: string }[];
}

/** A credential (client/README.md, "Shapes"). */
type Credential = {
  /** The key in hex: 33 bytes for an API key, 65 for an authenticator. */
  readonly publicKey: string;
  readonly type: string;
};

export interface ApiKey {
  readonly credential: Credential;
  readonly apiKeyId: string;
  readonly apiKeyName: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  /** Lifetime in seconds. Default: the credential does not expire. */
  readonly expirationSeconds?: string;
}

export interface User {
  readonly userId: string;
  readonly userName: string;
  readonly userEmail: string;
  readonly userPhoneNumber: string;
  readonly authenticators: readonly (JsonObject & {
    readonly credentialId: string;
    readonly credential: Credential;
  })[];
  readonly apiKeys: readonly ApiKey[];
  readonly userTags: readonly string[];
  readonly oauthProviders: readonly JsonObject[];
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** A record that belongs to an organization. Responses omit `organizationId`. */
interface Owned {
  readonly organizationId: string;
}

export interface UserRecord extends Owned {
  readonly user: User;
  /** The domain of the relying party by credential id. */
  readonly relyingParties: Readonly<Record<string, string>>;
}

interface Tag extends Owned {
  readonly tagId: string;
  readonly tagName: string;
  readonly tagType: "TAG_TYPE_USER" | "TAG_TYPE_PRIVATE_KEY";
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** A record of any kind that has no meaning to proofs. */
export interface Kept extends Owned {
  readonly kind: string;
  readonly id: string;
  readonly record: JsonObject;
}

export interface WalletAccount {
  readonly address: string;
  readonly path: string;
  readonly addressFormat: AddressFormat;
  readonly curve: Curve;
  readonly walletAccountId: string;
  readonly name?: string;
  readonly createdAt: Timestamp;
}

export interface Wallet extends Owned {
  readonly walletId: string;
  readonly walletName: string;
  readonly accounts: readonly WalletAccount[];
  /** The seed in hex. A wallet of `addAccounts` has none, and cannot sign. */
  readonly seed?: string;
  /** The mnemonic, unless the wallet was imported without one. */
  readonly mnemonic?: string;
  readonly createdAt: Timestamp;
  readonly imported?: boolean;
  readonly exported?: boolean;
}

export interface PrivateKey extends Owned {
  readonly privateKeyId: string;
  readonly privateKeyName: string;
  readonly curve: Curve;
  readonly privateKeyTags: readonly string[];
  readonly addresses: readonly { readonly format: AddressFormat; readonly address: string }[];
  /** The private key in hex, 32 bytes. */
  readonly secret: string;
  readonly createdAt: Timestamp;
  readonly imported?: boolean;
  readonly exported?: boolean;
}

/** A policy. Condition and consensus are in the service's language (lab/README.md, "Policies"). */
export interface AccessPolicy extends Owned {
  readonly policyId: string;
  readonly policyName: string;
  readonly effect: "EFFECT_ALLOW" | "EFFECT_DENY";
  readonly condition: string;
  readonly consensus: string;
  readonly notes: string;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** A vault (client/README.md, "Shapes"). */
interface EarnVault extends Owned {
  readonly vault: JsonObject & { readonly wrapperAddress: string; readonly provider: string; readonly caip19: string };
}

export interface Nonces {
  readonly caip2: string;
  readonly address: string;
  readonly nonce: string;
  readonly gasStationNonce: string;
}

export function noncesId(caip2: string, address: string): string {
  return `${caip2} ${address.toLowerCase()}`;
}

export interface ActivityRecord {
  readonly activity: JsonObject & { readonly id: string; readonly organizationId: string; readonly status: string };
  /** The user who submitted the activity. */
  readonly userId: string;
  readonly operation: string;
  readonly parameters: JsonObject;
  readonly generateAppProofs: boolean;
}

export interface SavedRelease
  extends Required<Omit<ReleaseOptions, "app" | "spelling">>, Pick<ReleaseOptions, "spelling"> {
  /** Name of one of the service's applications, or the id of a {@link SavedApplication}. */
  readonly app: string;
  readonly nonce: number;
  /** The deployment, only for a {@link SavedApplication}. Its id is the name of the release. */
  readonly deployment?: SavedDeployment;
}

export interface SavedDeployment extends Owned {
  /** The digest in hex. */
  readonly binaryDigest: string;
  readonly args: readonly string[];
  readonly createdAt: Timestamp;
}

/** One of the caller's applications. */
export interface SavedApplication extends Owned {
  readonly appId: string;
  readonly name: string;
  readonly quorumKey: QosKeyPair;
  readonly operators: readonly LabMember[];
  readonly shareholders: readonly LabMember[];
}

/** The data that all releases share. */
export interface SavedFleet {
  readonly pki: SavedPki;
  readonly quorumKeys: Readonly<Record<App | TokenApp, QosKeyPair>>;
  readonly operators: readonly LabMember[];
  readonly shareholders: readonly LabMember[];
}

export interface SavedEnclave {
  readonly enclaveId: string;
  readonly app: string;
  readonly release: string;
  readonly bootedAt: number;
  readonly key: QosKeyPair;
  /** The key from before the shares arrived, if the enclave is of a {@link SavedApplication}. */
  readonly setupKey?: QosKeyPair;
}

/** The data for clients of the lab. */
export interface Seed {
  readonly organizationId: string;
  readonly childOrganizationId: string;
  /** The key of a root user. */
  readonly apiKey: ApiKeyPair;
  readonly ids: {
    readonly userId: string;
    readonly walletId: string;
    readonly userTagId: string;
    readonly policyId: string;
    readonly spareApiKeyId: string;
    readonly fiatOnrampCredentialId: string;
  };
  /** Id of the activity that created the wallet. It has app proofs of the wallet's addresses. */
  readonly walletActivityId: string;
  /** A user to whom policies apply, and who may rename wallets if a second user approves. */
  readonly operator: { readonly userId: string; readonly apiKey: ApiKeyPair };
  /** A root user of the child organization. */
  readonly child: {
    readonly userId: string;
    readonly walletId: string;
    readonly walletActivityId: string;
    readonly apiKey: ApiKeyPair;
  };
}

export interface Tables {
  organizations: Organization;
  users: UserRecord;
  tags: Tag;
  wallets: Wallet;
  privateKeys: PrivateKey;
  policies: AccessPolicy;
  kept: Kept;
  vaults: EarnVault;
  /** The nonces by chain and address in lower case. */
  nonces: Nonces;
  activities: ActivityRecord;
  /** Ids of activities by fingerprint. */
  fingerprints: string;
  releases: SavedRelease;
  /** The applications by name. */
  applications: SavedApplication;
  /** The enclaves by ephemeral key, in hex. */
  enclaves: SavedEnclave;
  /** The installation, under the id `lab`. */
  installation: Installation;
}

interface Installation {
  readonly fleet: SavedFleet;
  readonly webhookKey: KeyPair;
  /** The seed. It is absent until it is created. */
  readonly seed?: Seed;
}

export type Table = keyof Tables;
