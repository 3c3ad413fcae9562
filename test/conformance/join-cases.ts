/** The cases of the join: lists, judged proofs, and the class of each address (test-vectors/conformance/README.md). */
import type { CheckId } from "../../src/checks.js";
import type { JsonObject } from "../../src/decode/json.js";

export type JoinClass = "contradicted" | "refused" | "service" | "imported" | "exported" | "derived";

/** What a derivation proof says, and what its verification found. */
export interface JudgedProof {
  readonly status: "verified" | "refused" | "no-boot-proof" | "other";
  /** Null if the payload cannot be read. */
  readonly says: {
    readonly organizationId: string;
    readonly walletId: string | null;
    readonly path: string | null;
    readonly address: string;
    readonly timestampMs: number;
  } | null;
  /** Of a refused proof. */
  readonly failed: readonly CheckId[];
}

export interface JoinEvidence {
  /** As the service answers, without its app proofs. */
  readonly activity: JsonObject;
  readonly proofs: readonly JudgedProof[];
}

export interface JoinInput {
  readonly organizationId: string;
  readonly parentOrganizationId: string | null;
  /** Milliseconds since 1970, from before the first list was requested. */
  readonly listedAt: number;
  /** As the service answers. */
  readonly wallets: readonly JsonObject[];
  readonly accounts: readonly JsonObject[];
  readonly privateKeys: readonly JsonObject[];
  readonly evidence: readonly JoinEvidence[];
}

export interface JoinRow {
  readonly class: JoinClass;
  readonly address: string;
  /** Whether a list has it. */
  readonly listed: boolean;
  readonly walletId: string | null;
  readonly privateKeyId: string | null;
  readonly path: string | null;
}

export interface JoinCase {
  readonly name: string;
  readonly input: JoinInput;
  /** One for each listed address and each proven address that no list has, in any order. */
  readonly expected: readonly JoinRow[];
  /** Ids of the activities that exported or imported a key of an unknown wallet. Default: none. */
  readonly unplaced?: readonly string[];
}

/** When the activities were; the lists were read a day later. */
export const MADE_AT = Date.UTC(2026, 2, 1);
const DAY = 86_400_000;
const LISTED_AT = MADE_AT + DAY;

const id = (digit: string): string =>
  `${digit.repeat(8)}-${digit.repeat(4)}-4${digit.repeat(3)}-8${digit.repeat(3)}-${digit.repeat(12)}`;
const [ORG, PARENT, OTHER_ORG, W1, W2, K1, K2] = ["a", "b", "c", "1", "2", "3", "4"].map(id) as [
  string,
  string,
  string,
  string,
  string,
  string,
  string,
];
const [P0, P1, P2] = [0, 1, 2].map((index) => `m/44'/60'/0'/0/${index}`) as [string, string, string];
const [A0, A1, A2] = ["Ab", "Cd", "Ef"].map((pair) => `0x${pair.repeat(20)}`) as [string, string, string];
const [SOL0, SOL1] = ["GJRs4FwHtemZ5ZE9x3FNvJ8TMwitKTh21yxdRPqn7npE", "7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK"];
const HARDENED = ["m/44'/501'/0'/0'", "m/44'/501'/1'/0'"] as const;

// Lists.

type Flags = JsonObject;
const KEPT = { imported: false, exported: false };
const wallet = (walletId: string, flags: Flags = KEPT): JsonObject => ({ walletId, walletName: "w", ...flags });
const account = (
  walletId: string,
  path: string,
  address: string,
  format = "ETHEREUM",
  curve = "SECP256K1",
): JsonObject => ({
  walletAccountId: `${walletId.slice(0, 4)} ${path} ${format}`,
  organizationId: ORG,
  walletId,
  curve: `CURVE_${curve}`,
  pathFormat: "PATH_FORMAT_BIP32",
  path,
  addressFormat: `ADDRESS_FORMAT_${format}`,
  address,
});
const privateKey = (address: string, flags: Flags = KEPT, privateKeyId = K1): JsonObject => ({
  privateKeyId,
  privateKeyName: "k",
  curve: "CURVE_SECP256K1",
  addresses: [{ format: "ADDRESS_FORMAT_ETHEREUM", address }],
  ...flags,
});

// Activities and their proofs.

/** Words of a type: its members are named after them. */
function activity(type: string, intent: JsonObject, result: JsonObject, more: JsonObject = {}): JsonObject {
  const [, words, version = ""] = /^(.+?)(?:_(V\d+))?$/.exec(type)!;
  const camel = words!.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const text = JSON.stringify([type, intent, result, more]);
  return {
    id: `activity-${[...text].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 4_294_967_291, 7)}`,
    organizationId: ORG,
    status: "ACTIVITY_STATUS_COMPLETED",
    type: `ACTIVITY_TYPE_${type}`,
    timestampMs: String(MADE_AT),
    intent: { [`${camel}Intent${version}`]: intent },
    result: { [`${camel}Result${version}`]: result },
    ...more,
  };
}

type Place = readonly [path: string, address: string];
type Changes = Partial<Omit<JudgedProof, "says">> & { readonly says?: object | null };

function proof(
  says: Partial<NonNullable<JudgedProof["says"]>> & { address: string },
  changes: Changes = {},
): JudgedProof {
  const whole = { organizationId: ORG, walletId: null, path: null, timestampMs: MADE_AT + 1000, ...says };
  const { says: more, status = "verified", failed = [] } = changes;
  return { status, says: more === null ? null : { ...whole, ...more }, failed };
}

const accountsOf = (places: readonly Place[]): JsonObject[] =>
  places.map(([path]) => ({
    curve: "CURVE_SECP256K1",
    pathFormat: "PATH_FORMAT_BIP32",
    path,
    addressFormat: "ADDRESS_FORMAT_ETHEREUM",
  }));
const addressesOf = (places: readonly Place[]): string[] => places.map(([, address]) => address);
const proofsOf = (walletId: string, places: readonly Place[], changes: readonly Changes[]): JudgedProof[] =>
  places.map(([path, address], index) => proof({ walletId, path, address }, changes[index] ?? changes[0]));

/** An activity that made a wallet, and a proof of each address. One change is that of all proofs. */
function made(
  walletId: string,
  places: readonly Place[],
  changes: readonly Changes[] = [],
  type = "CREATE_WALLET",
): JoinEvidence {
  const intent = { walletName: "w", accounts: accountsOf(places) };
  return {
    activity: activity(type, intent, { walletId, addresses: addressesOf(places) }),
    proofs: proofsOf(walletId, places, changes),
  };
}

function added(
  walletId: string,
  places: readonly Place[],
  more: JsonObject = {},
  changes: readonly Changes[] = [],
): JoinEvidence {
  const intent = { walletId, accounts: accountsOf(places), ...more };
  return {
    activity: activity("CREATE_WALLET_ACCOUNTS", intent, { addresses: addressesOf(places) }),
    proofs: proofsOf(walletId, places, changes),
  };
}

const keyResult = (address: string): JsonObject => ({
  privateKeyId: K1,
  addresses: [{ format: "ADDRESS_FORMAT_ETHEREUM", address }],
});
const madeKey = (address: string, changes: Changes = {}): JoinEvidence => ({
  activity: activity(
    "CREATE_PRIVATE_KEYS_V2",
    { privateKeys: [{ privateKeyName: "k" }] },
    { privateKeys: [keyResult(address)] },
  ),
  proofs: [proof({ address }, changes)],
});
const without = (evidence: JoinEvidence): JoinEvidence => ({ ...evidence, proofs: [] });
const exportOf = (type: string, intent: JsonObject, result: JsonObject, more: JsonObject = {}): JoinEvidence => ({
  activity: activity(type, intent, { ...result, exportBundle: "sealed" }, more),
  proofs: [],
});
const exportWallet = (more: JsonObject = {}): JoinEvidence =>
  exportOf("EXPORT_WALLET", { walletId: W1 }, { walletId: W1 }, more);
const deletion = (type: string, members: JsonObject, at: number): JoinEvidence => ({
  activity: activity(type, members, members, { timestampMs: String(at) }),
  proofs: [],
});
const createdOnly = (createdAt: JsonObject[string] | undefined): JsonObject =>
  createdAt === undefined ? { timestampMs: null } : { timestampMs: null, createdAt };
const BAD_SIGNATURE = { status: "refused", failed: ["app.signature"] } as const;

// Cases.

const row = (name: JoinClass, address: string, walletId: string | null, path: string | null): JoinRow => ({
  class: name,
  address,
  listed: true,
  walletId,
  privateKeyId: null,
  path,
});
/** Of an address that only a proof names. */
const missing = (...of: Parameters<typeof row>): JoinRow => ({ ...row(...of), listed: false });
const keyRow = (name: JoinClass, address: string): JoinRow => ({ ...row(name, address, null, null), privateKeyId: K1 });

type Parts = Partial<JoinInput>;

function joinCase(name: string, parts: Parts, ...expected: readonly JoinRow[]): JoinCase {
  const none = { wallets: [], accounts: [], privateKeys: [], evidence: [] };
  const input = { organizationId: ORG, parentOrganizationId: null, listedAt: LISTED_AT, ...none, ...parts };
  return { name, input, expected };
}

/** A derived address beside an activity whose key may be that of any address. */
function unplacedCase(name: string, evidence: JoinEvidence): JoinCase {
  const parts = one({ evidence: [made(W1, [[P0, A0]]), evidence] });
  return { ...joinCase(name, parts, row("derived", A0, W1, P0)), unplaced: [String(evidence.activity["id"])] };
}

/** One account of one wallet, with its proof: the case in which nothing is wrong, but for some parts. */
const one = (parts: Parts = {}): Parts => ({
  wallets: [wallet(W1)],
  accounts: [account(W1, P0, A0)],
  evidence: [made(W1, [[P0, A0]])],
  ...parts,
});
const TWO: readonly Place[] = [P0, P1].map((path, index) => [path, [A0, A1][index]!]);
const FORMATS: readonly Place[] = [A0, "02ab"].map((address) => [P0, address]);
const TWO_LISTED = [account(W1, P0, A0), account(W1, P1, A1)];
const IMPORTED = { imported: true, exported: false };
const EXPORTED = { imported: false, exported: true };
const MADE = made(W1, [[P0, A0]]);
const exportedKey = exportOf("EXPORT_PRIVATE_KEY", { privateKeyId: K1 }, { privateKeyId: K1 });
const exportAccount = (address: string): JoinEvidence => exportOf("EXPORT_WALLET_ACCOUNT", { address }, { address });
const deletedWallet = deletion("DELETE_WALLETS", { walletIds: [W1] }, MADE_AT + 5000);
const deletedAccount = deletion("DELETE_WALLET_ACCOUNTS", { walletAccountIds: ["x"] }, MADE_AT + 5000);
const imported = made(W1, [[P0, A0]], [], "IMPORT_WALLET");
const importedKey: JoinEvidence = {
  activity: activity("IMPORT_PRIVATE_KEY", { privateKeyName: "k", encryptedBundle: "sealed" }, keyResult(A0)),
  proofs: [proof({ address: A0 })],
};
/** An activity of the parent that made the organization. */
const suborg = (
  version: string,
  member: JsonObject,
  proofs: readonly JudgedProof[],
  wanted: JsonObject,
): JoinEvidence => ({
  activity: activity(
    `CREATE_SUB_ORGANIZATION_${version}`,
    { subOrganizationName: "s", ...wanted },
    { subOrganizationId: ORG, ...member },
    { organizationId: PARENT },
  ),
  proofs,
});

export const JOIN_CASES: readonly JoinCase[] = [
  joinCase("nothing is listed and nothing is proven", {}),
  joinCase("a verified proof names organization, wallet, path and address", one(), row("derived", A0, W1, P0)),
  joinCase(
    "two accounts share a path and differ in format, each with its proof",
    one({ accounts: [account(W1, P0, A0), account(W1, P0, "02ab", "COMPRESSED")], evidence: [made(W1, FORMATS)] }),
    row("derived", A0, W1, P0),
    row("derived", "02ab", W1, P0),
  ),
  joinCase(
    "the accounts of a wallet were made by several activities",
    one({ accounts: TWO_LISTED, evidence: [MADE, added(W1, [[P1, A1]])] }),
    row("derived", A0, W1, P0),
    row("derived", A1, W1, P1),
  ),
  ...["ETHEREUM", "SUI", "APTOS"].map((format) =>
    joinCase(
      `the case of hex digits is not compared: ${format}`,
      one({ accounts: [account(W1, P0, A0.toLowerCase(), format)] }),
      row("derived", A0.toLowerCase(), W1, P0),
    ),
  ),
  joinCase(
    "the case of hex digits is compared in other formats",
    one({ accounts: [account(W1, P0, A0.toLowerCase(), "UNCOMPRESSED")] }),
    row("contradicted", A0.toLowerCase(), W1, P0),
    missing("contradicted", A0, W1, P0),
  ),
  joinCase(
    "the case of letters is compared in base58",
    one({
      accounts: [account(W1, HARDENED[0], SOL0!.toLowerCase(), "SOLANA", "ED25519")],
      evidence: [made(W1, [[HARDENED[0], SOL0!]])],
    }),
    row("contradicted", SOL0!.toLowerCase(), W1, HARDENED[0]),
    missing("contradicted", SOL0!, W1, HARDENED[0]),
  ),
  joinCase(
    "a private key with a proof",
    { privateKeys: [privateKey(A0)], evidence: [madeKey(A0)] },
    keyRow("derived", A0),
  ),
  joinCase(
    "a sub-organization, whose wallet an activity of the parent made",
    one({
      parentOrganizationId: PARENT,
      evidence: [
        suborg("V7", { wallet: { walletId: W1, addresses: [A0] } }, [proof({ walletId: W1, path: P0, address: A0 })], {
          wallet: { walletName: "w", accounts: accountsOf([[P0, A0]]) },
        }),
      ],
    }),
    row("derived", A0, W1, P0),
  ),
  joinCase(
    "a sub-organization, whose private key an activity of the parent made",
    {
      parentOrganizationId: PARENT,
      privateKeys: [privateKey(A0)],
      evidence: [
        suborg("V3", { privateKeys: [keyResult(A0)] }, [proof({ address: A0 })], {
          privateKeys: [{ privateKeyName: "k" }],
        }),
      ],
    },
    keyRow("derived", A0),
  ),

  joinCase(
    "a list has another address at the wallet and path of a proof",
    one({ accounts: [account(W1, P0, A1)] }),
    row("contradicted", A1, W1, P0),
    missing("contradicted", A0, W1, P0),
  ),
  joinCase(
    "a list has another address at a proven path, which has a proof elsewhere",
    one({ accounts: [account(W1, P0, A1), account(W1, P1, A1)], evidence: [made(W1, TWO)] }),
    row("contradicted", A1, W1, P0),
    row("derived", A1, W1, P1),
    missing("contradicted", A0, W1, P0),
  ),
  joinCase("a list has another path", one({ accounts: [account(W1, P1, A0)] }), row("contradicted", A0, W1, P1)),
  joinCase(
    "a list exchanges the paths of two accounts",
    one({ accounts: [account(W1, P1, A0), account(W1, P0, A1)], evidence: [made(W1, TWO)] }),
    row("contradicted", A0, W1, P1),
    row("contradicted", A1, W1, P0),
  ),
  joinCase(
    "the only proof of a listed address is of another wallet",
    { wallets: [wallet(W1), wallet(W2)], accounts: [account(W2, P0, A0)], evidence: [MADE] },
    row("contradicted", A0, W2, P0),
  ),
  joinCase(
    "the only proof of a listed private key's address is of a wallet",
    { privateKeys: [privateKey(A0)], evidence: [MADE] },
    keyRow("contradicted", A0),
  ),
  joinCase(
    "an account without a proof was imported again as a private key, whose proof contradicts it not",
    one({ accounts: [account(W1, P0, A0)], privateKeys: [privateKey(A0)], evidence: [without(MADE), importedKey] }),
    row("service", A0, W1, P0),
    keyRow("imported", A0),
  ),
  joinCase(
    "the only proof of a listed account's address is of a private key that no list has",
    one({ evidence: [madeKey(A0)] }),
    row("service", A0, W1, P0),
    missing("contradicted", A0, null, null),
  ),
  joinCase(
    "a seed of a wallet was imported again: a proof of the other wallet contradicts neither",
    {
      wallets: [wallet(W1), wallet(W2, IMPORTED)],
      accounts: [account(W1, P0, A0), account(W2, P0, A0)],
      evidence: [MADE, made(W2, [[P0, A0]], [], "IMPORT_WALLET")],
    },
    row("derived", A0, W1, P0),
    row("imported", A0, W2, P0),
  ),
  joinCase(
    "an imported wallet without a proof: a proof of another wallet does not contradict it",
    {
      wallets: [wallet(W1), wallet(W2, IMPORTED)],
      accounts: [account(W1, P0, A0), account(W2, P0, A0)],
      evidence: [MADE],
    },
    row("derived", A0, W1, P0),
    row("service", A0, W2, P0),
  ),
  joinCase(
    "an imported wallet is contradicted by a proof of its own path",
    one({ wallets: [wallet(W1, IMPORTED)], accounts: [account(W1, P0, A1)] }),
    row("contradicted", A1, W1, P0),
    missing("contradicted", A0, W1, P0),
  ),

  joinCase(
    "the signature of its proof is wrong",
    one({ evidence: [made(W1, [[P0, A0]], [BAD_SIGNATURE])] }),
    row("refused", A0, W1, P0),
  ),
  joinCase(
    "its proof names another organization than its activity",
    one({
      evidence: [
        made(W1, [[P0, A0]], [{ status: "refused", failed: ["activity.claims"], says: { organizationId: OTHER_ORG } }]),
      ],
    }),
    row("refused", A0, W1, P0),
  ),
  joinCase(
    "its proof is dated after the verification",
    one({
      evidence: [
        made(W1, [[P0, A0]], [{ status: "refused", failed: ["app.time"], says: { timestampMs: MADE_AT + 400 * DAY } }]),
      ],
    }),
    row("refused", A0, W1, P0),
  ),
  joinCase(
    "its proof cannot be read",
    one({ evidence: [made(W1, [[P0, A0]], [{ status: "refused", failed: ["app.payload"], says: null }])] }),
    row("refused", A0, W1, P0),
  ),
  joinCase(
    "one bad proof rejects itself, and not the others of its activity",
    one({
      accounts: [account(W1, P0, A0), account(W1, P1, A1), account(W1, P2, A2)],
      evidence: [
        made(
          W1,
          [
            [P0, A0],
            [P1, A1],
            [P2, A2],
          ],
          [{}, BAD_SIGNATURE, {}],
        ),
      ],
    }),
    row("derived", A0, W1, P0),
    row("refused", A1, W1, P1),
    row("derived", A2, W1, P2),
  ),
  joinCase(
    "a good proof and a bad one of the same address: the worse counts",
    one({ evidence: [MADE, added(W1, [[P0, A0]], {}, [BAD_SIGNATURE])] }),
    row("refused", A0, W1, P0),
  ),
  joinCase(
    "a bad proof, and a verified one of another path: contradicted is worse than refused",
    one({ evidence: [made(W1, [[P0, A0]], [BAD_SIGNATURE]), added(W1, [[P1, A0]])] }),
    row("contradicted", A0, W1, P0),
  ),
  joinCase(
    "a bad proof of an imported wallet: refused is worse than imported",
    one({ wallets: [wallet(W1, IMPORTED)], evidence: [made(W1, [[P0, A0]], [BAD_SIGNATURE], "IMPORT_WALLET")] }),
    row("refused", A0, W1, P0),
  ),
  joinCase(
    "a bad proof that nothing listed is named by makes no row",
    one({ evidence: [MADE, added(W1, [[P1, A1]], {}, [BAD_SIGNATURE])] }),
    row("derived", A0, W1, P0),
  ),

  joinCase("no activity was found", one({ evidence: [] }), row("service", A0, W1, P0)),
  joinCase("its activity has no proofs", one({ evidence: [without(MADE)] }), row("service", A0, W1, P0)),
  joinCase(
    "its activity has proofs of other addresses only",
    one({ accounts: TWO_LISTED, evidence: [{ ...made(W1, TWO), proofs: MADE.proofs }] }),
    row("derived", A0, W1, P0),
    row("service", A1, W1, P1),
  ),
  joinCase(
    "the boot proof of its proof is not kept any more",
    one({ evidence: [made(W1, [[P0, A0]], [{ status: "no-boot-proof" }])] }),
    row("service", A0, W1, P0),
  ),
  joinCase(
    "another application of the policy signed its proof",
    one({ evidence: [made(W1, [[P0, A0]], [{ status: "other" }])] }),
    row("service", A0, W1, P0),
  ),
  joinCase(
    "a proof that another application signed contradicts nothing",
    one({ accounts: [account(W1, P0, A1)], evidence: [made(W1, [[P0, A0]], [{ status: "other" }])] }),
    row("service", A1, W1, P0),
  ),
  joinCase(
    "its wallet is imported, and there is no proof",
    one({ wallets: [wallet(W1, IMPORTED)], evidence: [] }),
    row("service", A0, W1, P0),
  ),
  joinCase("its wallet is in no list", one({ wallets: [wallet(W2)] }), row("service", A0, W1, P0)),
  joinCase(
    "imported is a text",
    one({ wallets: [wallet(W1, { imported: "false", exported: false })] }),
    row("service", A0, W1, P0),
  ),
  joinCase("exported is absent", one({ wallets: [wallet(W1, { imported: false })] }), row("service", A0, W1, P0)),
  joinCase(
    "exported of a private key is null",
    { privateKeys: [privateKey(A0, { imported: false, exported: null })], evidence: [madeKey(A0)] },
    keyRow("service", A0),
  ),
  joinCase(
    "the activity of another organization is set aside",
    one({ evidence: [without({ ...MADE, activity: { ...MADE.activity, organizationId: OTHER_ORG } })] }),
    row("service", A0, W1, P0),
  ),

  joinCase(
    "its wallet is imported, as list and activity say",
    one({ wallets: [wallet(W1, IMPORTED)], evidence: [imported] }),
    row("imported", A0, W1, P0),
  ),
  joinCase(
    "its wallet is imported, as only the activity says",
    one({ evidence: [imported] }),
    row("imported", A0, W1, P0),
  ),
  joinCase(
    "its wallet is imported, as only the list says",
    one({ wallets: [wallet(W1, IMPORTED)] }),
    row("imported", A0, W1, P0),
  ),
  joinCase(
    "an account that was added to an imported wallet",
    one({ accounts: TWO_LISTED, evidence: [imported, added(W1, [[P1, A1]])] }),
    row("imported", A0, W1, P0),
    row("imported", A1, W1, P1),
  ),
  joinCase(
    "a private key is imported, as only the activity says",
    { privateKeys: [privateKey(A0)], evidence: [importedKey] },
    keyRow("imported", A0),
  ),
  joinCase(
    "a private key is imported by an activity that gives it another id than the list",
    { privateKeys: [privateKey(A0, KEPT, K2)], evidence: [importedKey] },
    { ...keyRow("imported", A0), privateKeyId: K2 },
  ),
  joinCase(
    "a wallet is listed twice, and the lists differ: the worse counts",
    one({ wallets: [wallet(W1, IMPORTED), wallet(W1)] }),
    row("imported", A0, W1, P0),
  ),
  joinCase(
    "a private key is listed twice, and the lists differ: the worse counts",
    { privateKeys: [privateKey(A0), privateKey(A0, IMPORTED)], evidence: [madeKey(A0)] },
    keyRow("imported", A0),
    keyRow("imported", A0),
  ),
  joinCase(
    "imported is worse than exported",
    one({ wallets: [wallet(W1, { imported: true, exported: true })] }),
    row("imported", A0, W1, P0),
  ),

  joinCase(
    "its wallet was exported, as only the list says",
    one({ wallets: [wallet(W1, EXPORTED)] }),
    row("exported", A0, W1, P0),
  ),
  joinCase(
    "its wallet was exported, as only the activity says",
    one({ evidence: [MADE, exportWallet()] }),
    row("exported", A0, W1, P0),
  ),
  ...["FAILED", "REJECTED", "CONSENSUS_NEEDED", "AUTHENTICATORS_NEEDED"].map((status) =>
    joinCase(
      `an export that did not happen: ${status}`,
      one({ evidence: [MADE, exportWallet({ status: `ACTIVITY_STATUS_${status}`, result: {} })] }),
      row("derived", A0, W1, P0),
    ),
  ),
  joinCase(
    "an account was exported, which no flag says, and not the account beside it",
    one({ accounts: TWO_LISTED, evidence: [made(W1, TWO), exportAccount(A0)] }),
    row("exported", A0, W1, P0),
    row("derived", A1, W1, P1),
  ),
  ...[P0, HARDENED[0]].map((path) =>
    joinCase(
      `an account was exported, and so was its key in another format: ${path}`,
      one({
        accounts: [account(W1, path, A0), account(W1, path, "02ab", "COMPRESSED")],
        evidence: [
          made(W1, [
            [path, A0],
            [path, "02ab"],
          ]),
          exportAccount(A0),
        ],
      }),
      row("exported", A0, W1, path),
      row("exported", "02ab", W1, path),
    ),
  ),
  joinCase(
    "an account was exported, and not the key of another curve at its path",
    one({
      accounts: [account(W1, P0, A0), account(W1, P0, SOL0!, "SOLANA", "ED25519")],
      evidence: [
        made(W1, [
          [P0, A0],
          [P0, SOL0!],
        ]),
        exportAccount(A0),
      ],
    }),
    row("exported", A0, W1, P0),
    row("derived", SOL0!, W1, P0),
  ),
  joinCase(
    "an account was exported and deleted, and its key has another format",
    one({
      accounts: [account(W1, P0, "02ab", "COMPRESSED")],
      evidence: [made(W1, FORMATS), exportAccount(A0), deletedAccount],
    }),
    row("exported", "02ab", W1, P0),
    missing("exported", A0, W1, P0),
  ),
  joinCase(
    "a private key was exported, as only the activity says",
    { privateKeys: [privateKey(A0)], evidence: [madeKey(A0), exportedKey] },
    keyRow("exported", A0),
  ),
  joinCase(
    "a private key was exported by another id than that of the list",
    { privateKeys: [privateKey(A0, KEPT, K2)], evidence: [madeKey(A0), exportedKey] },
    { ...keyRow("exported", A0), privateKeyId: K2 },
  ),
  joinCase(
    "an exported wallet without a proof: service is worse than exported",
    one({ wallets: [wallet(W1, EXPORTED)], evidence: [] }),
    row("service", A0, W1, P0),
  ),

  joinCase("a proven address is in no list", one({ accounts: [] }), missing("contradicted", A0, W1, P0)),
  joinCase(
    "the proven address of a private key is in no list",
    { evidence: [madeKey(A0)] },
    missing("contradicted", A0, null, null),
  ),
  joinCase(
    "several accounts of one wallet, of which one is left out",
    one({ accounts: [account(W1, P1, A1)], evidence: [made(W1, TWO)] }),
    row("derived", A1, W1, P1),
    missing("contradicted", A0, W1, P0),
  ),
  joinCase(
    "a proven address was not to be kept (persist: false)",
    one({ evidence: [MADE, added(W1, [[P1, A1]], { persist: false })] }),
    row("derived", A0, W1, P0),
    missing("derived", A1, W1, P1),
  ),
  joinCase(
    "an address that was not to be kept shares the path of an account with a proof of its own",
    one({ evidence: [MADE, added(W1, [[P0, "02ab"]], { persist: false })] }),
    row("derived", A0, W1, P0),
    missing("derived", "02ab", W1, P0),
  ),
  joinCase(
    "the wallet of a proven address was deleted",
    { evidence: [MADE, deletedWallet] },
    missing("derived", A0, W1, P0),
  ),
  joinCase(
    "another wallet than that of the proven address was deleted",
    { evidence: [MADE, deletion("DELETE_WALLETS", { walletIds: [W2] }, MADE_AT + 5000)] },
    missing("contradicted", A0, W1, P0),
  ),
  ...(
    [
      [undefined, "derived"],
      [String(MADE_AT / 1000 + 1), "derived"],
      [String(MADE_AT / 1000), "contradicted"],
      [{ seconds: String(MADE_AT / 1000 + 1), nanos: "0" }, "derived"],
      [{ seconds: String(MADE_AT / 1000), nanos: "900000000" }, "contradicted"],
      [new Date(MADE_AT + 1200).toISOString(), "derived"],
      [new Date(MADE_AT + 900).toISOString(), "contradicted"],
    ] as const
  ).map(([createdAt, name]) =>
    joinCase(
      `the wallet was deleted, and createdAt of the deletion is ${JSON.stringify(createdAt) ?? "absent"}`,
      {
        evidence: [MADE, exportOf("DELETE_WALLETS", { walletIds: [W1] }, { walletIds: [W1] }, createdOnly(createdAt))],
      },
      missing(name, A0, W1, P0),
    ),
  ),
  joinCase(
    "the wallet was deleted before the address was made",
    { evidence: [MADE, deletion("DELETE_WALLETS", { walletIds: [W1] }, MADE_AT - 5000)] },
    missing("contradicted", A0, W1, P0),
  ),
  joinCase(
    "an account was deleted, by an id that no proof has",
    one({ accounts: [], evidence: [MADE, deletedAccount] }),
    missing("derived", A0, W1, P0),
  ),
  joinCase(
    "a private key was deleted",
    { evidence: [madeKey(A0), deletion("DELETE_PRIVATE_KEYS", { privateKeyIds: [K1] }, MADE_AT + 5000)] },
    missing("derived", A0, null, null),
  ),
  joinCase(
    "an address is younger than the lists",
    { listedAt: MADE_AT, evidence: [MADE] },
    missing("derived", A0, W1, P0),
  ),
  joinCase(
    "an address that was not to be kept, of an imported wallet",
    one({ evidence: [imported, added(W1, [[P1, A1]], { persist: false })] }),
    row("imported", A0, W1, P0),
    missing("imported", A1, W1, P1),
  ),
  joinCase(
    "a wallet was exported, then deleted",
    { evidence: [MADE, exportWallet(), deletedWallet] },
    missing("exported", A0, W1, P0),
  ),
  joinCase(
    "a private key was exported, then deleted",
    { evidence: [madeKey(A0), exportedKey, deletion("DELETE_PRIVATE_KEYS", { privateKeyIds: [K1] }, MADE_AT + 5000)] },
    missing("exported", A0, null, null),
  ),
  ...(
    [
      ["proofs", "exported", (evidence: JoinEvidence) => evidence],
      ["no proofs", "exported", without],
      [
        "proofs that are refused",
        "exported",
        ({ activity: of, proofs }) => ({ activity: of, proofs: proofs.map((each) => ({ ...each, ...BAD_SIGNATURE })) }),
      ],
    ] as readonly (readonly [string, JoinClass, (evidence: JoinEvidence) => JoinEvidence])[]
  ).map(([what, name, alter]) =>
    joinCase(
      `an account was exported, and is in no list any more, of an activity with ${what}: another format of its key`,
      one({
        accounts: [account(W1, P0, A0)],
        evidence: [MADE, alter(added(W1, [[P0, "02ab"]], { persist: false })), exportAccount("02ab")],
      }),
      row(name, A0, W1, P0),
      ...(what === "proofs" ? [missing("exported", "02ab", W1, P0)] : []),
    ),
  ),
  joinCase(
    "an account was exported, and is in no list any more: another curve at its path",
    one({
      accounts: [account(W1, P0, SOL0!, "SOLANA", "ED25519")],
      evidence: [made(W1, [[P0, SOL0!]]), without(added(W1, [[P0, A0]])), exportAccount(A0)],
    }),
    row("derived", SOL0!, W1, P0),
  ),
  joinCase(
    "an account was exported, and only its wallet is known",
    {
      wallets: [wallet(W1), wallet(W2)],
      accounts: [account(W1, P0, A0), account(W2, P1, A1)],
      evidence: [
        MADE,
        made(W2, [[P1, A1]]),
        exportOf("EXPORT_WALLET_ACCOUNT_V2", { address: A2, walletId: W1 }, { address: A2 }),
      ],
    },
    row("exported", A0, W1, P0),
    row("derived", A1, W2, P1),
  ),
  joinCase(
    "an account was exported by an activity that names its wallet, too",
    one({
      accounts: [
        account(W1, HARDENED[0], SOL0!, "SOLANA", "ED25519"),
        account(W1, HARDENED[1], SOL1!, "SOLANA", "ED25519"),
      ],
      evidence: [
        made(W1, [
          [HARDENED[0], SOL0!],
          [HARDENED[1], SOL1!],
        ]),
        exportOf("EXPORT_WALLET_ACCOUNT_V2", { address: SOL0!, walletId: W1 }, { address: SOL0! }),
      ],
    }),
    row("exported", SOL0!, W1, HARDENED[0]),
    row("derived", SOL1!, W1, HARDENED[1]),
  ),
  unplacedCase("an account was exported, and nothing names its wallet", exportAccount(A2)),
  unplacedCase("an export names no key", exportOf("EXPORT_WALLET_ACCOUNT_V2", { targetPublicKey: "04" }, {})),
  unplacedCase(
    "an import names no wallet",
    without({ ...made(W2, [[P2, A2]], [], "IMPORT_WALLET"), activity: activity("IMPORT_WALLET", {}, {}) }),
  ),
  joinCase(
    "an account is listed twice",
    one({ accounts: [account(W1, P0, A0), account(W1, P0, A0)] }),
    row("derived", A0, W1, P0),
  ),
  joinCase(
    "one account id has two addresses",
    one({ accounts: [account(W1, P0, A0), { ...account(W1, P0, A0), address: A1 }] }),
    row("contradicted", A0, W1, P0),
    row("contradicted", A1, W1, P0),
  ),
  joinCase("a proof of an address that the service does not prove any more makes no row", {
    evidence: [
      made(W1, [[P0, A0]], [{ status: "no-boot-proof" }]),
      made(W2, [[HARDENED[1], SOL1!]], [{ status: "other" }]),
    ],
  }),
];
