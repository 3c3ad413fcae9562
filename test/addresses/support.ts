/** Lists and activities of one organization, whose proofs an enclave of the lab signs. */
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import {
  type AddressEvidence,
  type AddressLists,
  type AddressVerifyOptions,
  verifyAddressActivity,
} from "../../src/addresses/index.js";
import type { ListedAccount, ListedPrivateKey, ListedWallet } from "../../src/addresses/lists.js";
import { SignatureCache, parsePolicy } from "../../src/index.js";
import type { AddressDerivationProof } from "../../src/decode/app-proof.js";
import { SoftwareEnclave, addressDerivationPayload } from "../../src/lab/enclave.js";
import { Forge, type ForgedEvidence, LAB_ADDRESS, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { NOW, after, forge, lab } from "../attacks/support.js";

export const ORG = LAB_ADDRESS.organizationId;
export const CHILD = "c0000000-0000-4000-8000-000000000001";
export const OTHER_ORG = "0ff00000-0000-4000-8000-000000000002";
export const W = "wallet-1";
export const W2 = "wallet-2";
export const K = "key-1";
export const PATH = "m/44'/60'/0'/0/0";
export const PATH2 = "m/44'/60'/0'/0/1";
export const A = `0x${"aB".repeat(20)}`;
export const B = `0x${"cD".repeat(20)}`;
export const C = `0x${"eF".repeat(20)}`;
/** An address that is not hexadecimal. */
export const S = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
export const DERIVATION = "APP_PROOF_TYPE_ADDRESS_DERIVATION";

/** The enclave that signs, and its boot proof. */
export const signer = forge();
/** Another application of the same operator. */
export const otherApplication = new Forge({ pki: lab.pki, namespace: { name: "lab/other", nonce: 7 } });
export const other = forge({ lab: otherApplication });
const unpinnedLab = new Forge({ pki: lab.pki, namespace: { name: "lab/unpinned", nonce: 7 } });
/** An enclave that no policy here pins. */
export const unpinned = forge({ lab: unpinnedLab });
const LABS = new Map([
  [signer, lab],
  [other, otherApplication],
  [unpinned, unpinnedLab],
]);

export function signed(payloads: JsonObject[], by: ForgedEvidence = signer): JsonObject[] {
  const { pki, measurements, ephemeralKey } = LABS.get(by)!;
  const enclave = new SoftwareEnclave({
    pki,
    generation: "live",
    measurements,
    manifestHash: new Uint8Array(32),
    ephemeralKey,
  });
  return payloads.map((payload) => enclave.appProof(payload));
}

export function derivation(facts: Partial<AddressDerivationProof>, seconds = 60): JsonObject {
  return addressDerivationPayload(after(seconds), { organizationId: ORG, address: A, ...facts });
}

let activities = 0;

/** An activity of a type without its prefix, whose intent and result have one member each. */
export function activity(type: string, intent: JsonObject, result: JsonObject, more: JsonObject = {}): JsonObject {
  return {
    id: `activity-${String(++activities)}`,
    organizationId: ORG,
    status: "ACTIVITY_STATUS_COMPLETED",
    type: `ACTIVITY_TYPE_${type}`,
    intent: { anIntent: intent },
    result: { aResult: result },
    createdAt: String(after(0).getTime()),
    ...more,
  };
}

export interface MadeAccount {
  readonly path: string;
  readonly address: string;
  /** As the intent has it. */
  readonly curve?: string;
}

interface Making {
  readonly type?: string;
  readonly walletId?: string;
  readonly intent?: JsonObject;
  readonly more?: JsonObject;
  /** Payloads in place of one for each account. */
  readonly payloads?: readonly JsonObject[];
  readonly seconds?: number;
  readonly by?: ForgedEvidence;
  readonly alter?: (appProofs: JsonObject[]) => JsonValue[];
}

/** An activity that makes accounts in a wallet, with a proof for each. */
export function made(accounts: readonly MadeAccount[], making: Making = {}): JsonObject {
  const { walletId = W, type = "CREATE_WALLET", intent = {}, more = {}, seconds = 60, by } = making;
  const {
    payloads = accounts.map(({ path, address }) => derivation({ walletId, derivationPath: path, address }, seconds)),
  } = making;
  const asked = { accounts: accounts.map(({ path, curve }) => ({ path, ...(curve && { curve }) })), ...intent };
  const result = { walletId, addresses: accounts.map(({ address }) => address) };
  const appProofs = signed([...payloads], by);
  return activity(type, asked, result, { appProofs: making.alter?.(appProofs) ?? appProofs, ...more });
}

/** The activity without app proofs. */
export function unproven(each: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(each).filter(([name]) => name !== "appProofs"));
}

/** An activity that makes private keys, each with one address. */
export function keysMade(keys: Readonly<Record<string, string>>, making: Making = {}): JsonObject {
  const { type = "CREATE_PRIVATE_KEYS_V2", more = {} } = making;
  const privateKeys = Object.entries(keys).map(([privateKeyId, address]) => ({
    privateKeyId,
    addresses: [{ format: "ADDRESS_FORMAT_ETHEREUM", address }],
  }));
  const { payloads = Object.values(keys).map((address) => derivation({ address })) } = making;
  return activity(type, {}, { privateKeys }, { appProofs: signed([...payloads]), ...more });
}

export function subOrganizationMade(accounts: readonly MadeAccount[], more: JsonObject = {}): JsonObject {
  const wallet = { walletId: W, addresses: accounts.map(({ address }) => address) };
  const payloads = accounts.map(({ path, address }) =>
    derivation({ organizationId: CHILD, walletId: W, derivationPath: path, address }),
  );
  const intent = { wallet: { accounts: accounts.map(({ path }) => ({ path })) } };
  const result = { subOrganizationId: CHILD, wallet };
  return activity("CREATE_SUB_ORGANIZATION_V7", intent, result, { appProofs: signed(payloads), ...more });
}

export function damaged(appProof: JsonObject): JsonObject {
  const signature = String(appProof["signature"]);
  return { ...appProof, signature: `${signature.startsWith("0") ? "1" : "0"}${signature.slice(1)}` };
}

export function wallet(walletId = W, flags: Partial<ListedWallet> = {}): ListedWallet {
  return { walletId, exported: false, imported: false, ...flags };
}

export function account(path: string, address: string, more: Partial<ListedAccount> = {}): ListedAccount {
  const curve = "CURVE_SECP256K1";
  return { walletId: W, path, address, curve, addressFormat: "ADDRESS_FORMAT_ETHEREUM", createdAt: null, ...more };
}

export function privateKey(
  privateKeyId: string,
  address: string,
  more: Partial<ListedPrivateKey> = {},
): ListedPrivateKey {
  const addresses = [{ format: "ADDRESS_FORMAT_ETHEREUM", address }];
  return {
    privateKeyId,
    curve: "CURVE_SECP256K1",
    addresses,
    createdAt: null,
    exported: false,
    imported: false,
    ...more,
  };
}

export function listsOf(lists: Partial<AddressLists> = {}): AddressLists {
  return { wallets: [wallet()], accounts: [], privateKeys: [], listedAt: after(200).getTime(), ...lists };
}

/** A policy of the signer alone, whose deployment names the type of the proofs. */
export function signerPolicy(more: JsonObject = {}, deployments?: JsonObject[]): ReturnType<typeof parsePolicy> {
  const own = { ...labDeployment(lab), appProofs: { types: [DERIVATION] } };
  return parsePolicy(labPolicy(signer.anchorPem, deployments ?? [own], more));
}

/** The boot proofs are the same each time. */
const cache = new SignatureCache();
const bootProofs = [signer, other, unpinned].map(({ bootProof }) => bootProof);

export async function verifiedOf(
  each: JsonObject,
  options: Partial<AddressVerifyOptions> & { readonly boots?: readonly unknown[] } = {},
): Promise<AddressEvidence | null> {
  const { boots = bootProofs, ...rest } = options;
  return verifyAddressActivity(each, boots, { policy: signerPolicy(), now: NOW, organizationId: ORG, cache, ...rest });
}
