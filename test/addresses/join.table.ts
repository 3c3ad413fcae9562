/** Lists and activities, and the class of each address that they make. */
import type { JsonObject } from "../../src/decode/json.js";
import type { AddressLists, AddressVerifyOptions, JoinOptions } from "../../src/index.js";
import { policyOutcomePayload } from "../../src/lab/enclave.js";
import { labDeployment } from "../../src/lab/forge.js";
import { after, lab } from "../attacks/support.js";
import {
  A,
  B,
  C,
  CHILD,
  DERIVATION,
  K,
  ORG,
  OTHER_ORG,
  PATH,
  PATH2,
  S,
  W,
  W2,
  account,
  activity,
  damaged,
  derivation,
  keysMade,
  made,
  other,
  otherApplication,
  privateKey,
  signed,
  signer,
  signerPolicy,
  subOrganizationMade,
  unpinned,
  unproven,
  wallet,
} from "./support.js";

export interface JoinRow {
  readonly name: string;
  readonly lists?: Partial<AddressLists>;
  readonly activities?: readonly JsonObject[];
  readonly verify?: Partial<AddressVerifyOptions> & { readonly boots?: readonly unknown[] };
  readonly join?: Partial<JoinOptions>;
  /** `class address` of each row in order, and what its reason matches. */
  readonly rows: readonly (readonly [classAndAddress: string, reason?: RegExp | null])[];
  /** The type of each activity whose key nothing places, and its address. Default: none. */
  readonly unplaced?: readonly (readonly [type: string, address: string | null])[];
}

const a = { path: PATH, address: A };
const b = { path: PATH2, address: B };
const listed = account(PATH, A);
const solana = { addressFormat: "ADDRESS_FORMAT_SOLANA", curve: "CURVE_ED25519" };
const one = { accounts: [listed] };
const both = { accounts: [listed, account(PATH2, B)] };
const wallets = (...flags: Parameters<typeof wallet>[1][]) => ({ wallets: flags.map((each) => wallet(W, each)) });
const key = { wallets: [], privateKeys: [privateKey(K, A)] };
const ofKey = (flags: Parameters<typeof privateKey>[2]) => ({ wallets: [], privateKeys: [privateKey(K, A, flags)] });
const place = { walletId: W, derivationPath: PATH };
const inW2 = { accounts: [account(PATH, A, { walletId: W2 })], wallets: [wallet(W2)] };
const otherType = { ...labDeployment(otherApplication), name: "other" };
const exportOf = (address: string, more: JsonObject = {}): JsonObject =>
  activity("EXPORT_WALLET_ACCOUNT", { address, targetPublicKey: "04" }, { address, exportBundle: "x" }, more);
const deletion = (type: string, intent: JsonObject, seconds = 100, more: JsonObject = {}): JsonObject =>
  activity(type, intent, intent, { createdAt: String(after(seconds).getTime()), ...more });
const seconds = (count: number): string => String(Math.floor(after(count).getTime() / 1000));

const ofId = (walletAccountId: string, path: string, address: string) => account(path, address, { walletAccountId });

export const JOIN_ROWS: readonly JoinRow[] = [
  // Derived, and what is compared.
  { name: "a proof of all that the list says", lists: one, activities: [made([a])], rows: [["derived A", null]] },
  {
    name: "two accounts of one activity",
    lists: both,
    activities: [made([a, b])],
    rows: [["derived A"], ["derived B"]],
  },
  {
    name: "two accounts of two activities",
    lists: both,
    activities: [made([a]), made([b], { type: "CREATE_WALLET_ACCOUNTS", intent: { walletId: W } })],
    rows: [["derived A"], ["derived B"]],
  },
  {
    name: "a type of activity that is not known",
    lists: one,
    activities: [made([a], { type: "CREATE_WALLET_OF_TOMORROW_V9" })],
    rows: [["derived A"]],
  },
  {
    name: "accounts that share a path and differ in format",
    lists: { accounts: [listed, account(PATH, S, solana)] },
    activities: [made([a, { path: PATH, address: S }])],
    rows: [["derived A"], ["derived S"]],
  },
  {
    name: "several proofs of one address",
    lists: one,
    activities: [made([a]), made([a], { type: "CREATE_WALLET_ACCOUNTS", seconds: 90 })],
    rows: [["derived A"]],
  },
  { name: "no proof, no activity", lists: one, rows: [["service A", /^no activity that made it was found$/]] },
  { name: "nothing at all", lists: { wallets: [] }, rows: [] },
  {
    name: "Ethereum, in another case",
    lists: { accounts: [account(PATH, A.toLowerCase())] },
    activities: [made([a])],
    rows: [["derived a"]],
  },
  ...["SUI", "APTOS"].map((format) => ({
    name: `${format}, in another case`,
    lists: { accounts: [account(PATH, A.toLowerCase(), { addressFormat: `ADDRESS_FORMAT_${format}` })] },
    activities: [made([a])],
    rows: [["derived a"]] as const,
  })),
  {
    name: "hexadecimal of another format, in another case",
    lists: { accounts: [account(PATH, A.toLowerCase(), { addressFormat: "ADDRESS_FORMAT_COMPRESSED" })] },
    activities: [made([a])],
    rows: [["unlisted contradicted A"], ["contradicted a", /this wallet and path have 0xaB/]],
  },
  {
    name: "no hexadecimal, of a caseless format, in another case",
    lists: { accounts: [account(PATH, S.toLowerCase())] },
    activities: [made([{ path: PATH, address: S }])],
    rows: [["unlisted contradicted S"], ["contradicted s"]],
  },
  {
    name: "another address without 0x",
    lists: { accounts: [account(PATH, A.slice(2))] },
    activities: [made([a])],
    rows: [["unlisted contradicted A"], [`contradicted ${A.slice(2)}`]],
  },

  // Contradicted.
  {
    name: "an address exchanged in the list",
    lists: { accounts: [account(PATH, B)] },
    activities: [made([a])],
    rows: [
      ["unlisted contradicted A"],
      ["contradicted B", /^a verified proof says that this wallet and path have 0xaB/],
    ],
  },
  {
    name: "addresses of two paths exchanged",
    lists: { accounts: [account(PATH, B), account(PATH2, A)] },
    activities: [made([a, b])],
    rows: [["contradicted B"], ["contradicted A"]],
  },
  {
    name: "a path exchanged",
    lists: { accounts: [account(PATH2, A)] },
    activities: [made([a])],
    rows: [["contradicted A", /its path is m\/44'\/60'\/0'\/0\/0$/]],
  },
  {
    name: "the same address at two paths",
    lists: { accounts: [listed, account(PATH2, A)] },
    activities: [made([a])],
    rows: [["contradicted A", /its path is/], ["derived A"]],
  },
  {
    name: "two proofs of one address that name two paths",
    lists: one,
    activities: [made([a]), made([{ ...b, address: A }])],
    rows: [["contradicted A", /its path is m\/44'\/60'\/0'\/0\/1/]],
  },
  {
    name: "an account of another format, proven at the path where the list has another",
    lists: { accounts: [listed, account(PATH, S, solana)] },
    activities: [made([a, { path: PATH, address: C }])],
    rows: [["unlisted contradicted C"], ["contradicted A", /have 0xeF/], ["contradicted S", /have 0xeF/]],
  },
  {
    name: "another address at the path that was not to be kept, beside a good proof",
    lists: one,
    activities: [
      made([a]),
      made([{ path: PATH, address: S }], { type: "CREATE_WALLET_ACCOUNTS", intent: { persist: false } }),
    ],
    rows: [["unlisted derived S", /persist: false/], ["derived A"]],
  },
  {
    name: "another address at the path that was not to be kept, without a good proof",
    lists: one,
    activities: [made([{ path: PATH, address: S }], { type: "CREATE_WALLET_ACCOUNTS", intent: { persist: false } })],
    rows: [["contradicted A"], ["unlisted derived S"]],
  },
  {
    name: "an exchanged address, and a deletion",
    lists: { accounts: [account(PATH, B)] },
    activities: [made([a]), deletion("DELETE_WALLET_ACCOUNTS", { walletAccountIds: ["x"] })],
    rows: [["contradicted B"], ["unlisted derived A"]],
  },
  {
    name: "an exchanged address of an imported wallet",
    lists: { ...wallets({ imported: true }), accounts: [account(PATH, B)] },
    activities: [made([a], { type: "IMPORT_WALLET" })],
    rows: [["unlisted contradicted A"], ["contradicted B"]],
  },
  {
    name: "another wallet's account",
    lists: inW2,
    activities: [made([a])],
    rows: [["contradicted A", /^the only verified proof of it is of wallet wallet-1$/]],
  },
  {
    name: "another wallet's account at another path",
    lists: { ...inW2, accounts: [account(PATH2, A, { walletId: W2 })] },
    activities: [made([a])],
    rows: [["contradicted A", /wallet wallet-1/]],
  },
  {
    name: "another wallet's account beside a matching proof",
    lists: { ...inW2, wallets: [wallet(W), wallet(W2)], accounts: [listed, ...inW2.accounts] },
    activities: [made([a]), made([a], { walletId: W2 })],
    rows: [["derived A"], ["derived A"]],
  },
  {
    name: "another path of another wallet beside a matching proof",
    lists: { ...one, wallets: [wallet(W), wallet(W2)] },
    activities: [made([a]), made([{ ...b, address: A }], { walletId: W2 })],
    rows: [["unlisted contradicted A", /no list has it/], ["derived A"]],
  },
  {
    name: "another wallet's account of an imported wallet",
    lists: { ...inW2, wallets: [wallet(W), wallet(W2, { imported: true })], accounts: [listed, ...inW2.accounts] },
    activities: [made([a])],
    rows: [["service A", /^imported without a proof: its proof is of wallet wallet-1$/], ["derived A"]],
  },
  {
    name: "another wallet's account of a wallet that an activity imported",
    lists: { ...inW2, wallets: [wallet(W), wallet(W2)], accounts: [listed, ...inW2.accounts] },
    activities: [made([a]), unproven(made([a], { type: "IMPORT_WALLET", walletId: W2 }))],
    rows: [["service A", /^imported without a proof/], ["derived A"]],
  },
  {
    name: "another wallet's account of a wallet whose flag is not known",
    lists: { ...inW2, wallets: [wallet(W2, { imported: null })] },
    activities: [made([a])],
    rows: [["contradicted A"]],
  },
  {
    name: "a child's wallet, listed by the parent",
    lists: one,
    activities: [subOrganizationMade([a])],
    rows: [["contradicted A", new RegExp(`of organization ${CHILD}`)]],
  },
  {
    name: "a child's wallet, listed by the parent, beside a matching proof",
    lists: one,
    activities: [subOrganizationMade([a]), made([a])],
    rows: [["derived A"]],
  },
  {
    name: "a proof of a private key, for an account",
    lists: one,
    activities: [keysMade({ [K]: A })],
    rows: [["unlisted contradicted A"], ["service A", /^its proof is of a private key$/]],
  },
  {
    name: "a proof of a private key that a list has, for an account without a proof",
    lists: { ...one, privateKeys: [privateKey(K, A)] },
    activities: [unproven(made([a])), keysMade({ [K]: A }, { type: "IMPORT_PRIVATE_KEY" })],
    rows: [["service A", /^its proof is of a private key$/], ["imported A"]],
  },
  {
    name: "a proof of a child's private key, for an account of the parent",
    lists: one,
    activities: [
      activity(
        "CREATE_SUB_ORGANIZATION_V3",
        {},
        { subOrganizationId: CHILD, privateKeys: [{ privateKeyId: K, addresses: [{ address: A }] }] },
        { appProofs: signed([derivation({ organizationId: CHILD })]) },
      ),
    ],
    rows: [["contradicted A", new RegExp(`of organization ${CHILD}`)]],
  },

  // Refused.
  {
    name: "a damaged signature beside a good one",
    lists: both,
    activities: [made([a, b], { alter: ([first, second]) => [damaged(first!), second!] })],
    rows: [
      ["refused A", /^app.signature$/],
      ["derived B", null],
    ],
  },
  {
    name: "a damaged proof, and a good one of the same address elsewhere",
    lists: one,
    activities: [made([a]), made([a], { alter: (all) => all.map(damaged) })],
    rows: [["refused A", /^app.signature$/]],
  },
  {
    name: "a damaged proof of another wallet beside a matching one",
    lists: { ...one, wallets: [wallet(W), wallet(W2)] },
    activities: [made([a]), made([a], { walletId: W2, alter: (all) => all.map(damaged) })],
    rows: [["derived A"]],
  },
  {
    name: "a damaged proof of another wallet alone",
    lists: { ...one, wallets: [wallet(W), wallet(W2)] },
    activities: [made([a], { walletId: W2, alter: (all) => all.map(damaged) })],
    rows: [["refused A"]],
  },
  {
    name: "a damaged proof that names another address at this wallet and path",
    lists: { accounts: [account(PATH, B)] },
    activities: [made([a], { alter: (all) => all.map(damaged) })],
    rows: [["refused B"]],
  },
  {
    name: "a damaged proof of an account of another format at this path",
    lists: { accounts: [listed, account(PATH, S, solana)] },
    activities: [made([a], { alter: (all) => all.map(damaged) })],
    rows: [["refused A"], ["service S"]],
  },
  {
    name: "a proof that cannot be read",
    lists: both,
    activities: [made([a, b], { alter: ([, second]) => [{ ...second!, proofPayload: "{" }, second!] })],
    rows: [["refused A", /app.payload/], ["derived B"]],
  },
  {
    name: "an enclave that the policy does not pin",
    lists: one,
    activities: [made([a], { by: unpinned })],
    rows: [["refused A", /policy.deployment/]],
  },
  {
    name: "an enclave that the policy does not pin, beside one that it pins",
    lists: both,
    activities: [made([a, b], { payloads: [], alter: () => [...proofsOf(a, unpinned), ...proofsOf(b)] })],
    rows: [["refused A", /policy.deployment/], ["derived B"]],
  },
  {
    name: "a refused proof and a contradiction",
    lists: { accounts: [account(PATH2, A)] },
    activities: [made([a]), made([{ ...b, address: A }], { alter: (all) => all.map(damaged) })],
    rows: [["contradicted A"]],
  },
  {
    name: "a proof that its activity does not have an address for",
    lists: both,
    activities: [made([a], { payloads: [derivation({ ...place }), derivation({ ...place, address: B })] })],
    rows: [["refused B", /^activity.claims$/], ["derived A"]],
  },
  {
    name: "a proof of another organization in an activity of this one",
    lists: one,
    activities: [made([a], { payloads: [derivation({ ...place, organizationId: OTHER_ORG })] })],
    rows: [["refused A", /^activity.claims$/]],
  },
  {
    name: "a type that the policy does not accept from this enclave",
    lists: one,
    activities: [made([a])],
    verify: {
      policy: signerPolicy({ appProofs: { types: [DERIVATION, "X"] } }, [
        { ...labDeployment(lab), appProofs: { types: ["X"] } },
        { ...otherType, appProofs: { types: [DERIVATION] } },
      ]),
    },
    rows: [["refused A", /^policy.app-proof$/]],
  },
  {
    name: "an activity that is not completed",
    lists: one,
    activities: [made([a], { more: { status: "ACTIVITY_STATUS_FAILED" } })],
    rows: [["refused A", /^activity.request$/]],
  },
  {
    name: "a decision to deny",
    lists: one,
    activities: [
      made([a], { payloads: [derivation(place), policyOutcomePayload(after(60), ORG, "OUTCOME_REJECTED")] }),
    ],
    verify: { policy: signerPolicy({}, [labDeployment(lab)]) },
    rows: [["refused A", /^activity.claims$/]],
  },

  // The service's word.
  {
    name: "an activity that requested no proofs",
    lists: one,
    activities: [unproven(made([a], { more: { generateAppProofs: false } }))],
    rows: [["service A", /^its activity requested no app proofs$/]],
  },
  {
    name: "an activity without proofs",
    lists: one,
    activities: [unproven(made([a]))],
    rows: [["service A", /^its activity has no proof of an address: none was requested, or none is kept$/]],
  },
  {
    name: "an activity that has proofs of others",
    lists: both,
    activities: [made([a, b], { payloads: [derivation(place)] })],
    rows: [["service B", /^no proof of its activity names it$/], ["derived A"]],
  },
  {
    name: "a boot proof that the service does not have",
    lists: one,
    activities: [made([a])],
    verify: { boots: [other.bootProof] },
    rows: [["service A", /does not have the boot proof/]],
  },
  {
    name: "a boot proof that the service does not have, beside one that it has",
    lists: both,
    activities: [made([a, b], { payloads: [], alter: () => [...proofsOf(a, unpinned), ...proofsOf(b)] })],
    verify: { boots: [signer.bootProof] },
    rows: [["service A", /does not have the boot proof/], ["derived B"]],
  },
  {
    name: "another application of the policy",
    lists: one,
    activities: [made([a], { by: other })],
    verify: { policy: signerPolicy({}, [{ ...labDeployment(lab), appProofs: { types: [DERIVATION] } }, otherType]) },
    rows: [["service A", /^signed by other, which the policy does not say to derive addresses$/]],
  },
  {
    name: "an imported wallet without a proof",
    lists: { ...one, ...wallets({ imported: true }) },
    activities: [unproven(made([a], { type: "IMPORT_WALLET" }))],
    rows: [["service A", /^imported without a proof: its activity has no proof/]],
  },
  {
    name: "a proof without a path",
    lists: one,
    activities: [activity("X", {}, { walletId: W, address: A }, { appProofs: signed([derivation({ walletId: W })]) })],
    rows: [["unlisted contradicted A"], ["service A", /^its proof names no path$/]],
  },
  {
    name: "a parent that is not known",
    lists: one,
    join: { parentUnknown: true },
    rows: [["service A", /found, and the parent organization is not known$/]],
  },
  {
    name: "an activity of another organization",
    lists: one,
    activities: [made([a], { more: { organizationId: OTHER_ORG } })],
    rows: [["service A", /^no activity/]],
  },
  {
    name: "a wallet that no list has",
    lists: { ...one, wallets: [wallet(W2)] },
    activities: [made([a])],
    rows: [["service A", /^its wallet wallet-1 is in no list$/]],
  },
  {
    name: "a flag that is not known: imported",
    lists: { ...one, ...wallets({ imported: null }) },
    activities: [made([a])],
    rows: [["service A", /^the list does not say whether its wallet was imported$/]],
  },
  {
    name: "a flag that is not known: exported",
    lists: { ...one, ...wallets({ exported: null }) },
    activities: [made([a])],
    rows: [["service A", /was exported$/]],
  },
  {
    name: "a wallet listed twice, once with a flag that is not known",
    lists: { ...one, ...wallets({}, { exported: null }) },
    activities: [made([a])],
    rows: [["service A"]],
  },
  {
    name: "an imported wallet whose other flag is not known",
    lists: { ...one, ...wallets({ imported: true, exported: null }) },
    activities: [made([a])],
    rows: [["service A", /exported$/]],
  },

  // Imported and exported, by flag or activity.
  {
    name: "imported, by the flag",
    lists: { ...one, ...wallets({ imported: true }) },
    activities: [made([a])],
    rows: [["imported A", /^its wallet was imported$/]],
  },
  {
    name: "imported, by the activity, and called generated",
    lists: one,
    activities: [made([a], { type: "IMPORT_WALLET" })],
    rows: [["imported A"]],
  },
  {
    name: "imported, by the activity, and the flag is not known",
    lists: { ...one, ...wallets({ imported: null }) },
    activities: [made([a], { type: "IMPORT_WALLET" })],
    rows: [["imported A"]],
  },
  {
    name: "exported, by the flag",
    lists: { ...one, ...wallets({ exported: true }) },
    activities: [made([a])],
    rows: [["exported A", /was exported$/]],
  },
  {
    name: "exported, by one of two entries",
    lists: { ...one, ...wallets({}, { exported: true }, {}) },
    activities: [made([a])],
    rows: [["exported A"]],
  },
  {
    name: "exported, by the activity",
    lists: both,
    activities: [made([a, b]), activity("EXPORT_WALLET", { walletId: W }, { walletId: W })],
    rows: [["exported A"], ["exported B"]],
  },
  {
    name: "exported, by an activity of a later version and without a status",
    lists: one,
    activities: [made([a]), activity("EXPORT_WALLET_V2", { walletId: W }, {}, { status: null })],
    rows: [["exported A"]],
  },
  ...["FAILED", "CONSENSUS_NEEDED", "AUTHENTICATORS_NEEDED", "REJECTED", "PENDING", "CREATED"].map((status) => ({
    name: `an export that was not done: ${status}`,
    lists: one,
    activities: [made([a]), activity("EXPORT_WALLET", { walletId: W }, {}, { status: `ACTIVITY_STATUS_${status}` })],
    rows: [["derived A", null]] as const,
  })),
  {
    name: "another wallet exported",
    lists: one,
    activities: [made([a]), activity("EXPORT_WALLET", { walletId: W2 }, {})],
    rows: [["derived A", null]],
  },
  {
    name: "imported and exported",
    lists: { ...one, ...wallets({ imported: true, exported: true }) },
    activities: [made([a])],
    rows: [["imported A"]],
  },
  {
    name: "an unhardened account exported, in another case",
    lists: both,
    activities: [made([a, b]), exportOf(A.toLowerCase())],
    rows: [["exported A"], ["derived B", /^0xaB.*, an unhardened account beside it, was exported$/]],
  },
  {
    name: "an unhardened account exported, and another below the same hardened step",
    lists: { accounts: [listed, account("m/44'/60'/0'/1/7", B)] },
    activities: [made([a, { path: "m/44'/60'/0'/1/7", address: B }]), exportOf(A)],
    rows: [["exported A"], ["derived B", /was exported/]],
  },
  {
    name: "an unhardened account exported, and another below another hardened step",
    lists: { accounts: [listed, account("m/44'/60'/1'/0/0", B)] },
    activities: [made([a, { path: "m/44'/60'/1'/0/0", address: B }]), exportOf(A)],
    rows: [["exported A"], ["derived B", null]],
  },
  {
    name: "an unhardened account exported, and another wallet",
    lists: { wallets: [wallet(W), wallet(W2)], accounts: [listed, account(PATH2, B, { walletId: W2 })] },
    activities: [made([a]), made([b], { walletId: W2 }), exportOf(A)],
    rows: [["exported A"], ["derived B", null]],
  },
  {
    name: "a hardened account exported",
    lists: { accounts: [account("m/44'/501'/0'/0'", A), account("m/44'/501'/1'/0'", B)] },
    activities: [
      made([
        { path: "m/44'/501'/0'/0'", address: A },
        { path: "m/44'/501'/1'/0'", address: B },
      ]),
      exportOf(A),
    ],
    rows: [["exported A"], ["derived B", null]],
  },
  {
    name: "an unhardened account exported of an imported wallet",
    lists: { ...both, ...wallets({ imported: true }) },
    activities: [made([a, b]), exportOf(A)],
    rows: [
      ["imported A", /^its wallet was imported$/],
      ["imported B", /imported; 0xaB.* was exported$/],
    ],
  },
  ...["m/44'/60'/0'/0/0", "m/44'/60'/0'/0'"].map((path) => ({
    name: `an account exported, and another format of the same key: ${path}`,
    lists: { accounts: [account(path, A), account(path, S, { addressFormat: "ADDRESS_FORMAT_COMPRESSED" })] },
    activities: [
      made([
        { path, address: A },
        { path, address: S },
      ]),
      exportOf(A),
    ],
    rows: [
      ["exported A", /^it or its wallet was exported/],
      ["exported S", /^it or its wallet was exported/],
    ] as const,
  })),
  {
    name: "an account exported, and another curve at the same path",
    lists: { accounts: [listed, account(PATH, S, solana)] },
    activities: [made([a, { path: PATH, address: S }]), exportOf(A)],
    rows: [["exported A"], ["derived S"]],
  },
  {
    name: "an account exported, and another wallet's account at the same path",
    lists: { wallets: [wallet(W), wallet(W2)], accounts: [listed, account(PATH, B, { walletId: W2 })] },
    activities: [made([a]), made([{ ...a, address: B }], { walletId: W2 }), exportOf(A)],
    rows: [["exported A"], ["derived B"]],
  },
  {
    name: "an account exported and deleted, and another format of the same key",
    lists: { accounts: [account(PATH, S)] },
    activities: [
      made([a, { path: PATH, address: S }]),
      exportOf(A),
      deletion("DELETE_WALLET_ACCOUNTS", { walletAccountIds: ["x"] }),
    ],
    rows: [["unlisted exported A"], ["exported S"]],
  },
  {
    name: "an unhardened account exported and deleted, and another beside it",
    lists: { accounts: [account(PATH2, B)] },
    activities: [made([a, b]), exportOf(A), deletion("DELETE_WALLET_ACCOUNTS", { walletAccountIds: ["x"] })],
    rows: [
      ["unlisted exported A", /or its wallet was exported$/],
      ["derived B", /^0xaB.*, an unhardened account beside it, was exported$/],
    ],
  },
  {
    name: "an account exported that is in no list, and another format of the same key that is in none",
    activities: [
      made([a]),
      made([{ path: PATH, address: S }], {
        type: "CREATE_WALLET_ACCOUNTS",
        intent: { walletId: W, persist: false },
      }),
      exportOf(A),
    ],
    rows: [["unlisted contradicted A"], ["unlisted exported S"]],
  },
  {
    name: "an account exported of a refused proof, and another format at its path",
    lists: { accounts: [account(PATH, S)] },
    activities: [made([a], { alter: (all) => all.map(damaged) }), made([{ path: PATH, address: S }]), exportOf(A)],
    rows: [["exported S"]],
  },

  // Where an exported key is, which proofs and lists need not say.
  ...(
    [
      ["without proofs", (each: JsonObject) => unproven(each), "exported"],
      ["that requested none", (each: JsonObject) => ({ ...unproven(each), generateAppProofs: false }), "exported"],
      ["of another curve", (each: JsonObject) => unproven(each), "derived", "CURVE_ED25519"],
      ["of the same curve", (each: JsonObject) => unproven(each), "exported", "CURVE_SECP256K1"],
    ] as const
  ).map(([what, alter, name, curve]): JoinRow => {
    const twin = made([{ ...a, ...(curve && { curve }) }], { type: "CREATE_WALLET_ACCOUNTS", intent: { walletId: W } });
    return {
      name: `an account exported and deleted, of an activity ${what}, and another format of the same key`,
      lists: { accounts: [account(PATH, S)] },
      activities: [made([{ path: PATH, address: S }]), alter(twin), exportOf(A)],
      rows: [[`${name} S`]],
    };
  }),
  {
    name: "an account exported and deleted, of a sub-organization that its parent made, and another format of it",
    lists: { accounts: [account(PATH, S)] },
    activities: [
      unproven(subOrganizationMade([a, { path: PATH, address: S }])),
      {
        ...made([{ path: PATH, address: S }]),
        organizationId: CHILD,
        appProofs: signed([derivation({ organizationId: CHILD, ...place, address: S })]),
      },
      { ...exportOf(A), organizationId: CHILD },
    ],
    verify: { organizationId: CHILD, parentOrganizationId: ORG },
    join: { organizationId: CHILD },
    rows: [["exported S"]],
  },
  {
    name: "an unhardened account exported and deleted, of an activity without proofs, and another beside it",
    lists: { accounts: [account(PATH2, B)] },
    activities: [made([b]), unproven(made([a])), exportOf(A)],
    rows: [["derived B", /^0xaB.*, an unhardened account beside it, was exported$/]],
  },
  {
    name: "an account exported by a later version of the type",
    lists: both,
    activities: [made([a, b]), { ...exportOf(A), type: "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT_V2" }],
    rows: [["exported A"], ["derived B"]],
  },
  {
    name: "an account exported by a later version of the type, which names its wallet, too",
    lists: both,
    activities: [made([a, b]), activity("EXPORT_WALLET_ACCOUNT_V2", { address: A, walletId: W }, { address: A })],
    rows: [["exported A"], ["derived B"]],
  },
  {
    name: "an account exported of a place that nothing names, in a wallet that its activity names",
    lists: { ...both, wallets: [wallet(W), wallet(W2)] },
    activities: [made([a, b]), activity("EXPORT_WALLET_ACCOUNT_V2", { address: C, walletId: W }, { address: C })],
    rows: [
      ["exported A", /^it or its wallet was exported$/],
      ["exported B", /^it or its wallet was exported$/],
    ],
  },
  {
    name: "an account exported of a place that nothing names, in another wallet that its activity names",
    lists: { ...both, wallets: [wallet(W), wallet(W2)] },
    activities: [made([a, b]), activity("EXPORT_WALLET_ACCOUNT_V2", { address: C, walletId: W2 }, { address: C })],
    rows: [["derived A"], ["derived B"]],
  },
  {
    name: "a wallet exported by an activity that names its addresses, too",
    lists: both,
    activities: [made([a, b]), activity("EXPORT_WALLET", { walletId: W }, { walletId: W, addresses: [A] })],
    rows: [["exported A"], ["exported B"]],
  },
  {
    name: "an account exported of an activity with more paths than addresses",
    lists: both,
    activities: [
      made([a, b]),
      unproven(made([{ path: PATH, address: C }], { intent: { accounts: [{ path: PATH }, { path: PATH2 }] } })),
      exportOf(C),
    ],
    rows: [["exported A"], ["exported B"]],
  },
  {
    name: "an account exported of a proof without a path",
    lists: both,
    activities: [
      made([a, b]),
      activity("X", {}, { walletId: W, address: C }, { appProofs: signed([derivation({ walletId: W, address: C })]) }),
      exportOf(C),
    ],
    rows: [["unlisted contradicted C"], ["exported A"], ["exported B"]],
  },
  {
    name: "an account exported of an activity of two wallets, which does not say which of them has it",
    lists: { wallets: [wallet(W), wallet(W2)], accounts: [listed, account(PATH2, B, { walletId: W2 })] },
    activities: [
      made([a]),
      made([b], { walletId: W2 }),
      activity("CREATE_WALLET_ACCOUNTS", { walletIds: [W, W2], accounts: [{ path: "m/9" }] }, { addresses: [C] }),
      exportOf(C),
    ],
    rows: [["exported A"], ["exported B"]],
  },
  {
    name: "an account exported whose wallet nothing names",
    lists: one,
    activities: [made([a]), exportOf(C)],
    rows: [["derived A", null]],
    unplaced: [["EXPORT_WALLET_ACCOUNT", C]],
  },
  {
    name: "an account exported whose address only a private key has",
    lists: { ...one, privateKeys: [privateKey(K, C)] },
    activities: [made([a]), keysMade({ [K]: C }), exportOf(C)],
    rows: [["exported C"], ["derived A"]],
    unplaced: [["EXPORT_WALLET_ACCOUNT", C]],
  },
  {
    name: "an export that was not done, of an account whose wallet nothing names",
    lists: one,
    activities: [made([a]), exportOf(C, { status: "ACTIVITY_STATUS_REJECTED" })],
    rows: [["derived A", null]],
  },
  {
    name: "exports that name nothing, and imports that name no wallet or private key",
    lists: one,
    activities: [
      made([a]),
      activity("EXPORT_WALLET_ACCOUNT", { targetPublicKey: "04" }, {}),
      activity("EXPORT_WALLET_V2", {}, {}),
      activity("IMPORT_WALLET", { accounts: [{ path: PATH }] }, { addresses: [A] }),
      activity("IMPORT_PRIVATE_KEY", {}, {}),
    ],
    rows: [["derived A", null]],
    unplaced: [
      ["EXPORT_WALLET_ACCOUNT", null],
      ["EXPORT_WALLET_V2", null],
      ["IMPORT_WALLET", A],
      ["IMPORT_PRIVATE_KEY", null],
    ],
  },
  {
    name: "exports and imports of wallets and private keys that no list has",
    lists: one,
    activities: [
      made([a]),
      activity("EXPORT_WALLET", { walletId: W2 }, {}),
      activity("EXPORT_PRIVATE_KEY", { privateKeyId: K }, {}),
      activity("IMPORT_WALLET", {}, { walletId: W2, addresses: [C] }),
    ],
    rows: [["derived A", null]],
  },

  // One account id.
  {
    name: "one account twice",
    lists: { accounts: [ofId("1", PATH, A), ofId("1", PATH, A)] },
    activities: [made([a])],
    rows: [["derived A", null]],
  },
  ...(
    [
      ["address", {}, B],
      ["path", { path: PATH2 }, A],
      ["wallet", { walletId: W2 }, A],
      ["format", { addressFormat: "ADDRESS_FORMAT_COMPRESSED" }, A],
      ["curve", { curve: "CURVE_ED25519" }, A],
    ] as const
  ).map(([what, more, address]): JoinRow => ({
    name: `one account id with another ${what}`,
    lists: {
      wallets: [wallet(W), wallet(W2)],
      accounts: [ofId("1", PATH, A), { ...ofId("1", PATH, address), ...more }, ofId("1", PATH, A)],
    },
    activities: [made([a])],
    rows: [
      ["contradicted A", /^the lists have its account 1 with other values, too$/],
      [`contradicted ${address === A ? "A" : "B"}`, /^the lists have its account 1 with other values, too$/],
    ],
  })),
  {
    name: "two account ids with one address",
    lists: { accounts: [ofId("1", PATH, A), ofId("2", PATH, A)] },
    activities: [made([a])],
    rows: [["derived A"], ["derived A"]],
  },

  // Private keys.
  { name: "a private key", lists: key, activities: [keysMade({ [K]: A })], rows: [["derived A", null]] },
  {
    name: "an address of a private key that the list has with another",
    lists: key,
    activities: [keysMade({ [K]: B })],
    rows: [["unlisted contradicted B"], ["service A", /^no proof of its activity names it$/]],
  },
  {
    name: "a proof of a wallet, for a private key",
    lists: key,
    activities: [made([a])],
    rows: [["contradicted A", /of wallet wallet-1/]],
  },
  {
    name: "a proof of a wallet, for an imported private key",
    lists: { ...one, privateKeys: [privateKey(K, A, { imported: true })] },
    activities: [made([a])],
    rows: [["service A", /^imported without a proof: its proof is of wallet wallet-1$/], ["derived A"]],
  },
  {
    name: "a private key imported, by the flag",
    lists: ofKey({ imported: true }),
    activities: [keysMade({ [K]: A })],
    rows: [["imported A", /^its private key was imported$/]],
  },
  {
    name: "a private key imported, by the activity",
    lists: key,
    activities: [
      activity(
        "IMPORT_PRIVATE_KEY",
        {},
        { privateKeyId: K, addresses: [{ format: "ADDRESS_FORMAT_ETHEREUM", address: A }] },
        { appProofs: signed([derivation({})]) },
      ),
    ],
    rows: [["imported A"]],
  },
  {
    name: "a private key whose flag is not known",
    lists: ofKey({ exported: null }),
    activities: [keysMade({ [K]: A })],
    rows: [["service A", /its private key was exported$/]],
  },
  {
    name: "a private key exported, by the activity",
    lists: key,
    activities: [keysMade({ [K]: A }), activity("EXPORT_PRIVATE_KEY", { privateKeyId: K }, { privateKeyId: K })],
    rows: [["exported A"]],
  },
  {
    name: "another private key exported",
    lists: key,
    activities: [keysMade({ [K]: A }), activity("EXPORT_PRIVATE_KEY", { privateKeyId: "key-2" }, {})],
    rows: [["derived A"]],
  },
  {
    name: "a private key imported, by an activity that gives it another id",
    lists: { wallets: [], privateKeys: [privateKey("key-2", A)] },
    activities: [keysMade({ [K]: A }, { type: "IMPORT_PRIVATE_KEY" })],
    rows: [["imported A", /^its private key was imported$/]],
  },
  {
    name: "a private key imported, by an activity that gives it no id",
    lists: key,
    activities: [
      activity("IMPORT_PRIVATE_KEY", {}, { addresses: [{ address: A }] }, { appProofs: signed([derivation({})]) }),
    ],
    rows: [["imported A"]],
    unplaced: [["IMPORT_PRIVATE_KEY", A]],
  },
  {
    name: "a private key exported, by another id than the list's",
    lists: { wallets: [], privateKeys: [privateKey("key-2", A)] },
    activities: [keysMade({ [K]: A }), activity("EXPORT_PRIVATE_KEY", { privateKeyId: K }, { privateKeyId: K })],
    rows: [["exported A"]],
  },
  {
    name: "a private key listed by two ids, one of them exported",
    lists: {
      wallets: [],
      privateKeys: [privateKey("key-2", A), { ...privateKey(K, A, { exported: true }), addresses: [] }],
    },
    activities: [keysMade({ [K]: A })],
    rows: [["exported A"]],
  },
  {
    name: "a private key exported of an activity that made another one",
    lists: { wallets: [], privateKeys: [privateKey(K, A), privateKey("key-2", B)] },
    activities: [keysMade({ [K]: A, "key-2": B }), activity("EXPORT_PRIVATE_KEY", { privateKeyId: K }, {})],
    rows: [["exported A"], ["derived B", null]],
  },
  {
    name: "a private key exported of an activity that does not say whose address it is",
    lists: { wallets: [], privateKeys: [privateKey("key-2", A)] },
    activities: [
      activity(
        "CREATE_PRIVATE_KEYS",
        {},
        { privateKeyIds: [K], addresses: [A] },
        { appProofs: signed([derivation({})]) },
      ),
      activity("EXPORT_PRIVATE_KEY", { privateKeyId: K }, {}),
    ],
    rows: [["exported A"]],
  },
  {
    name: "a private key without a proof, of the first version",
    lists: key,
    activities: [activity("CREATE_PRIVATE_KEYS", {}, { privateKeyIds: [K] })],
    rows: [["service A", /^its activity has no proof/]],
  },
  {
    name: "a private key that was deleted",
    lists: { wallets: [] },
    activities: [keysMade({ [K]: A }), deletion("DELETE_PRIVATE_KEYS", { privateKeyIds: [K] })],
    rows: [["unlisted derived A", /deleted by activity-/]],
  },
  {
    name: "another private key that was deleted",
    lists: { wallets: [] },
    activities: [keysMade({ [K]: A }), deletion("DELETE_PRIVATE_KEYS", { privateKeyIds: ["key-2"] })],
    rows: [["unlisted contradicted A"]],
  },

  // Proven and not listed.
  {
    name: "a proven address missing from the list",
    lists: one,
    activities: [made([a, b])],
    rows: [["unlisted contradicted B", /no list has it$/], ["derived A"]],
  },
  {
    name: "a proven address missing from the list, twice proven",
    activities: [made([a]), made([a], { seconds: 90 })],
    rows: [["unlisted contradicted A"]],
  },
  {
    name: "a damaged proof of an address that no list has",
    activities: [made([a], { alter: (all) => all.map(damaged) })],
    rows: [],
  },
  { name: "a child's address that no list of the parent has", activities: [subOrganizationMade([a])], rows: [] },
  {
    name: "an address of another application that no list has",
    activities: [made([a], { by: other })],
    verify: { policy: signerPolicy({}, [{ ...labDeployment(lab), appProofs: { types: [DERIVATION] } }, otherType]) },
    rows: [],
  },
  {
    name: "an address that was not to be kept",
    activities: [made([a], { type: "CREATE_WALLET_ACCOUNTS", intent: { walletId: W, persist: false } })],
    rows: [["unlisted derived A", /persist: false/]],
  },
  {
    name: "an address that was not to be kept, and is listed",
    lists: one,
    activities: [made([a], { type: "CREATE_WALLET_ACCOUNTS", intent: { walletId: W, persist: false } })],
    rows: [["derived A", null]],
  },
  {
    name: "an address younger than the list",
    lists: { listedAt: after(59).getTime() },
    activities: [made([a])],
    rows: [["unlisted derived A", /after its list was read/]],
  },
  {
    name: "a private key younger than the list of accounts, and older than that of private keys",
    lists: { listedAt: after(59).getTime(), privateKeysListedAt: after(60).getTime() },
    activities: [keysMade({ [K]: A })],
    rows: [["unlisted contradicted A"]],
  },
  {
    name: "a private key younger than the list of private keys",
    lists: { listedAt: after(61).getTime(), privateKeysListedAt: after(59).getTime() },
    activities: [keysMade({ [K]: A })],
    rows: [["unlisted derived A"]],
  },
  {
    name: "an account younger than the list of private keys, and older than that of accounts",
    lists: { listedAt: after(60).getTime(), privateKeysListedAt: after(59).getTime() },
    activities: [made([a])],
    rows: [["unlisted contradicted A"]],
  },
  {
    name: "an address as old as the list",
    lists: { listedAt: after(60).getTime() },
    activities: [made([a])],
    rows: [["unlisted contradicted A"]],
  },
  {
    name: "lists of an unknown time",
    lists: { listedAt: null },
    activities: [made([a])],
    rows: [["unlisted contradicted A"]],
  },
  {
    name: "a wallet that was deleted",
    lists: { wallets: [] },
    activities: [made([a]), deletion("DELETE_WALLETS", { walletIds: [W] })],
    rows: [["unlisted derived A", /deleted by/]],
  },
  {
    name: "another wallet that was deleted",
    activities: [made([a]), deletion("DELETE_WALLETS", { walletIds: [W2] })],
    rows: [["unlisted contradicted A"]],
  },
  {
    name: "a deletion of wallets that names none",
    activities: [made([a]), deletion("DELETE_WALLETS", {})],
    rows: [["unlisted contradicted A"]],
  },
  {
    name: "accounts that were deleted",
    activities: [made([a]), deletion("DELETE_WALLET_ACCOUNTS", { walletAccountIds: ["x"] })],
    rows: [["unlisted derived A"]],
  },
  {
    name: "accounts of another wallet that were deleted",
    activities: [made([a]), deletion("DELETE_WALLET_ACCOUNTS", { walletId: W2, walletAccountIds: ["x"] })],
    rows: [["unlisted contradicted A"]],
  },
  {
    name: "accounts that were deleted before",
    activities: [made([a]), deletion("DELETE_WALLET_ACCOUNTS", { walletAccountIds: ["x"] }, 59)],
    rows: [["unlisted contradicted A"]],
  },
  {
    name: "a deletion that was not done",
    activities: [
      made([a]),
      deletion("DELETE_WALLETS", { walletIds: [W] }, 100, { status: "ACTIVITY_STATUS_CONSENSUS_NEEDED" }),
    ],
    rows: [["unlisted contradicted A"]],
  },
  {
    name: "a deletion without a time",
    activities: [made([a]), activity("DELETE_WALLETS", { walletIds: [W] }, {}, { createdAt: null })],
    rows: [["unlisted derived A", /deleted by/]],
  },
  ...(
    [
      [60.5, seconds(60), "derived"],
      [60.5, { seconds: seconds(60) }, "derived"],
      [60.5, { seconds: seconds(60), nanos: "500000000" }, "derived"],
      [60.5, { seconds: seconds(60), nanos: 499_999_999 }, "contradicted"],
      [60.5, after(60.5).toISOString(), "derived"],
      [60.5, after(60.499).toISOString(), "contradicted"],
      [60.5, "yesterday", "derived"],
      [61, seconds(60), "contradicted"],
      [61, { seconds: seconds(60) }, "contradicted"],
      [61, after(60).toISOString(), "contradicted"],
    ] as const
  ).map(([at, createdAt, name]) => ({
    name: `a deletion at ${JSON.stringify(createdAt)} of what was made after ${at} seconds`,
    activities: [made([a], { seconds: at }), activity("DELETE_WALLETS", { walletIds: [W] }, {}, { createdAt })],
    rows: [[`unlisted ${name} A`]] as const,
  })),
  {
    name: "an address that was not to be kept, of a wallet that an activity imported",
    activities: [
      unproven(made([b], { type: "IMPORT_WALLET" })),
      made([a], { type: "CREATE_WALLET_ACCOUNTS", intent: { walletId: W, persist: false } }),
    ],
    rows: [["unlisted imported A", /^no list has it: .*persist: false\); its wallet was imported$/]],
  },
  {
    name: "an address that was not to be kept, of a wallet that the list calls exported",
    lists: wallets({ exported: true }),
    activities: [made([a], { type: "CREATE_WALLET_ACCOUNTS", intent: { walletId: W, persist: false } })],
    rows: [["unlisted exported A", /; it or its wallet was exported$/]],
  },
  {
    name: "an address that was not to be kept, of a wallet whose flag is not known",
    lists: wallets({ imported: null }),
    activities: [made([a], { type: "CREATE_WALLET_ACCOUNTS", intent: { walletId: W, persist: false } })],
    rows: [["unlisted service A", /does not say whether its wallet was imported$/]],
  },
  {
    name: "a wallet that was exported, then deleted",
    lists: { wallets: [] },
    activities: [
      made([a]),
      activity("EXPORT_WALLET", { walletId: W }, {}),
      deletion("DELETE_WALLETS", { walletIds: [W] }),
    ],
    rows: [["unlisted exported A", /deleted by .*; it or its wallet was exported$/]],
  },
  {
    name: "an account that was exported, then deleted",
    activities: [made([a]), exportOf(A), deletion("DELETE_WALLET_ACCOUNTS", { walletAccountIds: ["x"] })],
    rows: [["unlisted exported A"]],
  },
  {
    name: "a private key that was exported, then deleted, beside another one",
    lists: { wallets: [] },
    activities: [
      keysMade({ [K]: A, "key-2": B }),
      activity("EXPORT_PRIVATE_KEY", { privateKeyId: K }, { privateKeyId: K }),
      deletion("DELETE_PRIVATE_KEYS", { privateKeyIds: [K, "key-2"] }),
    ],
    rows: [["unlisted exported A"], ["unlisted derived B"]],
  },
  {
    name: "a deleted private key of a list that still calls it exported",
    lists: { wallets: [], privateKeys: [{ ...privateKey(K, A, { exported: true }), addresses: [] }] },
    activities: [keysMade({ [K]: A }), deletion("DELETE_PRIVATE_KEYS", { privateKeyIds: [K] })],
    rows: [["unlisted exported A"]],
  },
  {
    name: "a private key that was deleted, of an activity that made another one",
    lists: { wallets: [] },
    activities: [keysMade({ [K]: A, "key-2": B }), deletion("DELETE_PRIVATE_KEYS", { privateKeyIds: [K] })],
    rows: [["unlisted contradicted B"], ["unlisted derived A"]],
  },
  {
    name: "an address that was proven twice, and not to be kept only once",
    activities: [made([a], { type: "CREATE_WALLET_ACCOUNTS", intent: { walletId: W, persist: false } }), made([a])],
    rows: [["unlisted contradicted A"]],
  },

  // Sub-organizations.
  {
    name: "a sub-organization, made by its parent",
    lists: one,
    activities: [subOrganizationMade([a])],
    verify: { organizationId: CHILD, parentOrganizationId: ORG },
    join: { organizationId: CHILD },
    rows: [["derived A", null]],
  },
  {
    name: "a sub-organization whose parent was not named",
    lists: one,
    activities: [subOrganizationMade([a])],
    verify: { organizationId: CHILD },
    join: { organizationId: CHILD, parentUnknown: true },
    rows: [["service A", /parent organization is not known$/]],
  },
  {
    name: "another sub-organization of the same parent",
    lists: one,
    activities: [subOrganizationMade([a])],
    verify: { organizationId: OTHER_ORG, parentOrganizationId: ORG },
    join: { organizationId: OTHER_ORG },
    rows: [["service A"]],
  },
  {
    name: "another activity of the parent, whose result names the sub-organization",
    lists: one,
    activities: [
      made([a], {
        payloads: [derivation({ ...place, organizationId: CHILD })],
        more: { result: { x: { subOrganizationId: CHILD, walletId: W, addresses: [A] } } },
      }),
    ],
    verify: { organizationId: CHILD, parentOrganizationId: ORG },
    join: { organizationId: CHILD },
    rows: [["service A", /^no activity/]],
  },
  {
    name: "an activity of the parent whose proof names the parent",
    lists: one,
    activities: [{ ...subOrganizationMade([a]), appProofs: signed([derivation({ ...place })]) }],
    verify: { organizationId: CHILD, parentOrganizationId: ORG },
    join: { organizationId: CHILD },
    rows: [["contradicted A", new RegExp(`of organization ${ORG}`)]],
  },
];

function proofsOf({ path, address }: typeof a, by = signer): JsonObject[] {
  return signed([derivation({ walletId: W, derivationPath: path, address })], by);
}
