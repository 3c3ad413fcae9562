/** Lists and activities, and the class of each address that they make. */
import type { JsonObject } from "../../src/decode/json.js";
import type { AddressLists, AddressVerifyOptions, JoinOptions } from "../../src/addresses/index.js";
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
  signerPolicy,
  subOrganizationMade,
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
const s = { path: PATH, address: S };
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

const two = { wallets: [wallet(W), wallet(W2)] };
const andSolana = { accounts: [listed, account(PATH, S, solana)] };
const onlyB = { accounts: [account(PATH, B)] };
const onlyS = { accounts: [account(PATH, S)] };
const onlySecond = { accounts: [account(PATH2, B)] };
const elsewhere = { accounts: [account(PATH2, A)] };
const otherKey = { wallets: [], privateKeys: [privateKey("key-2", A)] };
const imported = wallets({ imported: true });
const accountDeleted = deletion("DELETE_WALLET_ACCOUNTS", { walletAccountIds: ["x"] });
const BAD = { alter: (all: JsonObject[]) => all.map(damaged) };
const IMPORTED = { type: "IMPORT_WALLET" };
const UNKEPT = { type: "CREATE_WALLET_ACCOUNTS", intent: { walletId: W, persist: false } };
const UNKEPT_ANYWHERE = { type: "CREATE_WALLET_ACCOUNTS", intent: { persist: false } };
const OF_CHILD = new RegExp(`of organization ${CHILD}`);

/** Rows without a reason are their text alone. Without activities there is the one that made A. */
function row(
  name: string,
  rows: readonly (string | JoinRow["rows"][number])[],
  lists: Partial<AddressLists>,
  activities: readonly JsonObject[] = [made([a])],
): JoinRow {
  return { name, lists, activities, rows: rows.map((one) => (typeof one === "string" ? [one] : one)) };
}

export const JOIN_ROWS: readonly JoinRow[] = [
  // Derived, and what is compared.
  row("a type of activity that is not known", ["derived A"], one, [
    made([a], { type: "CREATE_WALLET_OF_TOMORROW_V9" }),
  ]),
  row("several proofs of one address", ["derived A"], one, [
    made([a]),
    made([a], { type: "CREATE_WALLET_ACCOUNTS", seconds: 90 }),
  ]),
  row("no proof, no activity", [["service A", /^no activity that made it was found$/]], one, []),
  ...["SUI", "APTOS"].map((format) =>
    row(`${format}, in another case`, ["derived a"], {
      accounts: [account(PATH, A.toLowerCase(), { addressFormat: `ADDRESS_FORMAT_${format}` })],
    }),
  ),
  row(
    "hexadecimal of another format, in another case",
    ["unlisted contradicted A", ["contradicted a", /this wallet and path have 0xaB/]],
    { accounts: [account(PATH, A.toLowerCase(), { addressFormat: "ADDRESS_FORMAT_COMPRESSED" })] },
  ),
  row(
    "no hexadecimal, of a caseless format, in another case",
    ["unlisted contradicted S", "contradicted s"],
    { accounts: [account(PATH, S.toLowerCase())] },
    [made([s])],
  ),
  row("another address without 0x", ["unlisted contradicted A", `contradicted ${A.slice(2)}`], {
    accounts: [account(PATH, A.slice(2))],
  }),

  // Contradicted.
  row(
    "an address exchanged in the list",
    ["unlisted contradicted A", ["contradicted B", /^a verified proof says that this wallet and path have 0xaB/]],
    onlyB,
  ),
  row("a path exchanged", [["contradicted A", /its path is m\/44'\/60'\/0'\/0\/0$/]], elsewhere),
  row("the same address at two paths", [["contradicted A", /its path is/], "derived A"], {
    accounts: [listed, account(PATH2, A)],
  }),
  row("two proofs of one address that name two paths", [["contradicted A", /its path is m\/44'\/60'\/0'\/0\/1/]], one, [
    made([a]),
    made([{ ...b, address: A }]),
  ]),
  row(
    "an account of another format, proven at the path where the list has another",
    ["unlisted contradicted C", ["contradicted A", /have 0xeF/], ["contradicted S", /have 0xeF/]],
    andSolana,
    [made([a, { path: PATH, address: C }])],
  ),
  row(
    "another address at the path that was not to be kept, beside a good proof",
    [["unlisted derived S", /persist: false/], "derived A"],
    one,
    [made([a]), made([s], UNKEPT_ANYWHERE)],
  ),
  row(
    "another address at the path that was not to be kept, without a good proof",
    ["contradicted A", "unlisted derived S"],
    one,
    [made([s], UNKEPT_ANYWHERE)],
  ),
  row("another wallet's account", [["contradicted A", /^the only verified proof of it is of wallet wallet-1$/]], inW2, [
    made([a]),
  ]),
  row("another wallet's account at another path", [["contradicted A", /wallet wallet-1/]], {
    ...inW2,
    accounts: [account(PATH2, A, { walletId: W2 })],
  }),
  row(
    "another path of another wallet beside a matching proof",
    [["unlisted contradicted A", /no list has it/], "derived A"],
    { ...one, ...two },
    [made([a]), made([{ ...b, address: A }], { walletId: W2 })],
  ),
  row(
    "another wallet's account of an imported wallet",
    [["service A", /^imported without a proof: its proof is of wallet wallet-1$/], "derived A"],
    { ...inW2, wallets: [wallet(W), wallet(W2, { imported: true })], accounts: [listed, ...inW2.accounts] },
  ),
  row(
    "another wallet's account of a wallet that an activity imported",
    [["service A", /^imported without a proof/], "derived A"],
    { ...inW2, ...two, accounts: [listed, ...inW2.accounts] },
    [made([a]), unproven(made([a], { type: "IMPORT_WALLET", walletId: W2 }))],
  ),
  row("a child's wallet, listed by the parent", [["contradicted A", OF_CHILD]], one, [subOrganizationMade([a])]),
  row(
    "a proof of a private key, for an account",
    ["unlisted contradicted A", ["service A", /^its proof is of a private key$/]],
    one,
    [keysMade({ [K]: A })],
  ),
  row(
    "a proof of a private key that a list has, for an account without a proof",
    [["service A", /^its proof is of a private key$/], "imported A"],
    { ...one, privateKeys: [privateKey(K, A)] },
    [unproven(made([a])), keysMade({ [K]: A }, { type: "IMPORT_PRIVATE_KEY" })],
  ),

  // Refused.
  row(
    "a damaged signature beside a good one",
    [
      ["refused A", /^app.signature$/],
      ["derived B", null],
    ],
    both,
    [made([a, b], { alter: ([first, second]) => [damaged(first!), second!] })],
  ),
  row("a damaged proof, and a good one of the same address elsewhere", [["refused A", /^app.signature$/]], one, [
    made([a]),
    made([a], BAD),
  ]),
  row("a damaged proof of another wallet beside a matching one", ["derived A"], { ...one, ...two }, [
    made([a]),
    made([a], { walletId: W2, ...BAD }),
  ]),
  row("a damaged proof of another wallet alone", ["refused A"], { ...one, ...two }, [
    made([a], { walletId: W2, ...BAD }),
  ]),
  row("a damaged proof that names another address at this wallet and path", ["refused B"], onlyB, [made([a], BAD)]),
  row("a damaged proof of an account of another format at this path", ["refused A", "service S"], andSolana, [
    made([a], BAD),
  ]),
  row("a proof that cannot be read", [["refused A", /app.payload/], "derived B"], both, [
    made([a, b], { alter: ([, second]) => [{ ...second!, proofPayload: "{" }, second!] }),
  ]),
  row("a refused proof and a contradiction", ["contradicted A"], elsewhere, [
    made([a]),
    made([{ ...b, address: A }], BAD),
  ]),
  row(
    "a proof that its activity does not have an address for",
    [["refused B", /^activity.claims$/], "derived A"],
    both,
    [made([a], { payloads: [derivation({ ...place }), derivation({ ...place, address: B })] })],
  ),

  // The service's word.
  row("an activity that requested no proofs", [["service A", /^its activity requested no app proofs$/]], one, [
    unproven(made([a], { more: { generateAppProofs: false } })),
  ]),
  row(
    "an activity without proofs",
    [["service A", /^its activity has no proof of an address: none was requested, or none is kept$/]],
    one,
    [unproven(made([a]))],
  ),
  row(
    "an activity that has proofs of others",
    [["service B", /^no proof of its activity names it$/], "derived A"],
    both,
    [made([a, b], { payloads: [derivation(place)] })],
  ),
  {
    ...row("a boot proof that the service does not have", [["service A", /does not have the boot proof/]], one, [
      made([a]),
    ]),
    verify: { boots: [other.bootProof] },
  },
  {
    ...row(
      "another application of the policy",
      [["service A", /^signed by other, which the policy does not say to derive addresses$/]],
      one,
      [made([a], { by: other })],
    ),
    verify: { policy: signerPolicy({}, [{ ...labDeployment(lab), appProofs: { types: [DERIVATION] } }, otherType]) },
  },
  row(
    "an imported wallet without a proof",
    [["service A", /^imported without a proof: its activity has no proof/]],
    { ...one, ...imported },
    [unproven(made([a], IMPORTED))],
  ),
  row("a proof without a path", ["unlisted contradicted A", ["service A", /^its proof names no path$/]], one, [
    activity("X", {}, { walletId: W, address: A }, { appProofs: signed([derivation({ walletId: W })]) }),
  ]),
  {
    ...row("a parent that is not known", [["service A", /found, and the parent organization is not known$/]], one, []),
    join: { parentUnknown: true },
  },
  row("an activity of another organization", [["service A", /^no activity/]], one, [
    made([a], { more: { organizationId: OTHER_ORG } }),
  ]),
  row("a wallet that no list has", [["service A", /^its wallet wallet-1 is in no list$/]], {
    ...one,
    wallets: [wallet(W2)],
  }),
  row(
    "a flag that is not known: imported",
    [["service A", /^the list does not say whether its wallet was imported$/]],
    { ...one, ...wallets({ imported: null }) },
  ),
  row("a flag that is not known: exported", [["service A", /was exported$/]], {
    ...one,
    ...wallets({ exported: null }),
  }),
  row("a wallet listed twice, once with a flag that is not known", ["service A"], {
    ...one,
    ...wallets({}, { exported: null }),
  }),
  row("an imported wallet whose other flag is not known", [["service A", /exported$/]], {
    ...one,
    ...wallets({ imported: true, exported: null }),
  }),

  // Imported and exported, by flag or activity.
  row(
    "imported, by the activity, and the flag is not known",
    ["imported A"],
    { ...one, ...wallets({ imported: null }) },
    [made([a], IMPORTED)],
  ),
  row("exported, by an activity of a later version and without a status", ["exported A"], one, [
    made([a]),
    activity("EXPORT_WALLET_V2", { walletId: W }, {}, { status: null }),
  ]),
  ...["FAILED", "CONSENSUS_NEEDED", "AUTHENTICATORS_NEEDED", "REJECTED", "PENDING", "CREATED"].map((status) =>
    row(`an export that was not done: ${status}`, [["derived A", null]], one, [
      made([a]),
      activity("EXPORT_WALLET", { walletId: W }, {}, { status: `ACTIVITY_STATUS_${status}` }),
    ]),
  ),
  row(
    "an unhardened account exported, and another below the same hardened step",
    ["exported A", ["derived B", /was exported/]],
    { accounts: [listed, account("m/44'/60'/0'/1/7", B)] },
    [made([a, { path: "m/44'/60'/0'/1/7", address: B }]), exportOf(A)],
  ),
  row(
    "a hardened account exported",
    ["exported A", ["derived B", null]],
    { accounts: [account("m/44'/501'/0'/0'", A), account("m/44'/501'/1'/0'", B)] },
    [
      made([
        { path: "m/44'/501'/0'/0'", address: A },
        { path: "m/44'/501'/1'/0'", address: B },
      ]),
      exportOf(A),
    ],
  ),
  row(
    "an unhardened account exported of an imported wallet",
    [
      ["imported A", /^its wallet was imported$/],
      ["imported B", /imported; 0xaB.* was exported$/],
    ],
    { ...both, ...imported },
    [made([a, b]), exportOf(A)],
  ),
  ...["m/44'/60'/0'/0/0", "m/44'/60'/0'/0'"].map((path) =>
    row(
      `an account exported, and another format of the same key: ${path}`,
      [
        ["exported A", /^it or its wallet was exported/],
        ["exported S", /^it or its wallet was exported/],
      ],
      { accounts: [account(path, A), account(path, S, { addressFormat: "ADDRESS_FORMAT_COMPRESSED" })] },
      [
        made([
          { path, address: A },
          { path, address: S },
        ]),
        exportOf(A),
      ],
    ),
  ),
  row(
    "an unhardened account exported and deleted, and another beside it",
    [
      ["unlisted exported A", /or its wallet was exported$/],
      ["derived B", /^0xaB.*, an unhardened account beside it, was exported$/],
    ],
    onlySecond,
    [made([a, b]), exportOf(A), accountDeleted],
  ),

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
    return row(
      `an account exported and deleted, of an activity ${what}, and another format of the same key`,
      [`${name} S`],
      onlyS,
      [made([s]), alter(twin), exportOf(A)],
    );
  }),
  {
    ...row(
      "an account exported and deleted, of a sub-organization that its parent made, and another format of it",
      ["exported S"],
      onlyS,
      [
        unproven(subOrganizationMade([a, s])),
        {
          ...made([s]),
          organizationId: CHILD,
          appProofs: signed([derivation({ organizationId: CHILD, ...place, address: S })]),
        },
        { ...exportOf(A), organizationId: CHILD },
      ],
    ),
    verify: { organizationId: CHILD, parentOrganizationId: ORG },
    join: { organizationId: CHILD },
  },
  row("an account exported by a later version of the type", ["exported A", "derived B"], both, [
    made([a, b]),
    { ...exportOf(A), type: "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT_V2" },
  ]),
  row(
    "an account exported by a later version of the type, which names its wallet, too",
    ["exported A", "derived B"],
    both,
    [made([a, b]), activity("EXPORT_WALLET_ACCOUNT_V2", { address: A, walletId: W }, { address: A })],
  ),
  row(
    "an account exported of a place that nothing names, in a wallet that its activity names",
    [
      ["exported A", /^it or its wallet was exported$/],
      ["exported B", /^it or its wallet was exported$/],
    ],
    { ...both, ...two },
    [made([a, b]), activity("EXPORT_WALLET_ACCOUNT_V2", { address: C, walletId: W }, { address: C })],
  ),
  row("a wallet exported by an activity that names its addresses, too", ["exported A", "exported B"], both, [
    made([a, b]),
    activity("EXPORT_WALLET", { walletId: W }, { walletId: W, addresses: [A] }),
  ]),
  row("an account exported of an activity with more paths than addresses", ["exported A", "exported B"], both, [
    made([a, b]),
    unproven(made([{ path: PATH, address: C }], { intent: { accounts: [{ path: PATH }, { path: PATH2 }] } })),
    exportOf(C),
  ]),
  row("an account exported of a proof without a path", ["unlisted contradicted C", "exported A", "exported B"], both, [
    made([a, b]),
    activity("X", {}, { walletId: W, address: C }, { appProofs: signed([derivation({ walletId: W, address: C })]) }),
    exportOf(C),
  ]),
  row(
    "an account exported of an activity of two wallets, which does not say which of them has it",
    ["exported A", "exported B"],
    { ...two, accounts: [listed, account(PATH2, B, { walletId: W2 })] },
    [
      made([a]),
      made([b], { walletId: W2 }),
      activity("CREATE_WALLET_ACCOUNTS", { walletIds: [W, W2], accounts: [{ path: "m/9" }] }, { addresses: [C] }),
      exportOf(C),
    ],
  ),
  {
    ...row("an account exported whose wallet nothing names", [["derived A", null]], one, [made([a]), exportOf(C)]),
    unplaced: [["EXPORT_WALLET_ACCOUNT", C]],
  },
  {
    ...row(
      "an account exported whose address only a private key has",
      ["exported C", "derived A"],
      { ...one, privateKeys: [privateKey(K, C)] },
      [made([a]), keysMade({ [K]: C }), exportOf(C)],
    ),
    unplaced: [["EXPORT_WALLET_ACCOUNT", C]],
  },
  {
    ...row("exports that name nothing, and imports that name no wallet or private key", [["derived A", null]], one, [
      made([a]),
      activity("EXPORT_WALLET_ACCOUNT", { targetPublicKey: "04" }, {}),
      activity("EXPORT_WALLET_V2", {}, {}),
      activity("IMPORT_WALLET", { accounts: [{ path: PATH }] }, { addresses: [A] }),
      activity("IMPORT_PRIVATE_KEY", {}, {}),
    ]),
    unplaced: [
      ["EXPORT_WALLET_ACCOUNT", null],
      ["EXPORT_WALLET_V2", null],
      ["IMPORT_WALLET", A],
      ["IMPORT_PRIVATE_KEY", null],
    ],
  },
  row("exports and imports of wallets and private keys that no list has", [["derived A", null]], one, [
    made([a]),
    activity("EXPORT_WALLET", { walletId: W2 }, {}),
    activity("EXPORT_PRIVATE_KEY", { privateKeyId: K }, {}),
    activity("IMPORT_WALLET", {}, { walletId: W2, addresses: [C] }),
  ]),

  // One account id.
  ...(
    [
      ["address", {}, B],
      ["path", { path: PATH2 }, A],
      ["wallet", { walletId: W2 }, A],
      ["format", { addressFormat: "ADDRESS_FORMAT_COMPRESSED" }, A],
      ["curve", { curve: "CURVE_ED25519" }, A],
    ] as const
  ).map(([what, more, address]): JoinRow =>
    row(
      `one account id with another ${what}`,
      [
        ["contradicted A", /^the lists have its account 1 with other values, too$/],
        [`contradicted ${address === A ? "A" : "B"}`, /^the lists have its account 1 with other values, too$/],
      ],
      {
        ...two,
        accounts: [ofId("1", PATH, A), { ...ofId("1", PATH, address), ...more }, ofId("1", PATH, A)],
      },
    ),
  ),

  // Private keys.
  row(
    "an address of a private key that the list has with another",
    ["unlisted contradicted B", ["service A", /^no proof of its activity names it$/]],
    key,
    [keysMade({ [K]: B })],
  ),
  row("a proof of a wallet, for a private key", [["contradicted A", /of wallet wallet-1/]], key),
  row(
    "a private key imported, by the flag",
    [["imported A", /^its private key was imported$/]],
    ofKey({ imported: true }),
    [keysMade({ [K]: A })],
  ),
  row(
    "a private key whose flag is not known",
    [["service A", /its private key was exported$/]],
    ofKey({ exported: null }),
    [keysMade({ [K]: A })],
  ),
  {
    ...row("a private key imported, by an activity that gives it no id", ["imported A"], key, [
      activity("IMPORT_PRIVATE_KEY", {}, { addresses: [{ address: A }] }, { appProofs: signed([derivation({})]) }),
    ]),
    unplaced: [["IMPORT_PRIVATE_KEY", A]],
  },
  row(
    "a private key listed by two ids, one of them exported",
    ["exported A"],
    {
      wallets: [],
      privateKeys: [privateKey("key-2", A), { ...privateKey(K, A, { exported: true }), addresses: [] }],
    },
    [keysMade({ [K]: A })],
  ),
  row(
    "a private key exported of an activity that made another one",
    ["exported A", ["derived B", null]],
    { wallets: [], privateKeys: [privateKey(K, A), privateKey("key-2", B)] },
    [keysMade({ [K]: A, "key-2": B }), activity("EXPORT_PRIVATE_KEY", { privateKeyId: K }, {})],
  ),
  row("a private key exported of an activity that does not say whose address it is", ["exported A"], otherKey, [
    activity(
      "CREATE_PRIVATE_KEYS",
      {},
      { privateKeyIds: [K], addresses: [A] },
      { appProofs: signed([derivation({})]) },
    ),
    activity("EXPORT_PRIVATE_KEY", { privateKeyId: K }, {}),
  ]),
  row("a private key without a proof, of the first version", [["service A", /^its activity has no proof/]], key, [
    activity("CREATE_PRIVATE_KEYS", {}, { privateKeyIds: [K] }),
  ]),
  row("a private key that was deleted", [["unlisted derived A", /deleted by activity-/]], { wallets: [] }, [
    keysMade({ [K]: A }),
    deletion("DELETE_PRIVATE_KEYS", { privateKeyIds: [K] }),
  ]),

  // Proven and not listed.
  row("a proven address missing from the list", [["unlisted contradicted B", /no list has it$/], "derived A"], one, [
    made([a, b]),
  ]),
  row("a child's address that no list of the parent has", [], {}, [subOrganizationMade([a])]),
  {
    ...row("an address of another application that no list has", [], {}, [made([a], { by: other })]),
    verify: { policy: signerPolicy({}, [{ ...labDeployment(lab), appProofs: { types: [DERIVATION] } }, otherType]) },
  },
  row("an address younger than the list", [["unlisted derived A", /after its list was read/]], {
    listedAt: after(59).getTime(),
  }),
  row(
    "a private key younger than the list of private keys",
    ["unlisted derived A"],
    { listedAt: after(61).getTime(), privateKeysListedAt: after(59).getTime() },
    [keysMade({ [K]: A })],
  ),
  row(
    "an account younger than the list of private keys, and older than that of accounts",
    ["unlisted contradicted A"],
    { listedAt: after(60).getTime(), privateKeysListedAt: after(59).getTime() },
  ),
  row("lists of an unknown time", ["unlisted contradicted A"], { listedAt: null }),
  row("a deletion of wallets that names none", ["unlisted contradicted A"], {}, [
    made([a]),
    deletion("DELETE_WALLETS", {}),
  ]),
  row("accounts of another wallet that were deleted", ["unlisted contradicted A"], {}, [
    made([a]),
    deletion("DELETE_WALLET_ACCOUNTS", { walletId: W2, walletAccountIds: ["x"] }),
  ]),
  row("a deletion that was not done", ["unlisted contradicted A"], {}, [
    made([a]),
    deletion("DELETE_WALLETS", { walletIds: [W] }, 100, { status: "ACTIVITY_STATUS_CONSENSUS_NEEDED" }),
  ]),
  row("a deletion without a time", [["unlisted derived A", /deleted by/]], {}, [
    made([a]),
    activity("DELETE_WALLETS", { walletIds: [W] }, {}, { createdAt: null }),
  ]),
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
  ).map(([at, createdAt, name]) =>
    row(`a deletion at ${JSON.stringify(createdAt)} of what was made after ${at} seconds`, [`unlisted ${name} A`], {}, [
      made([a], { seconds: at }),
      activity("DELETE_WALLETS", { walletIds: [W] }, {}, { createdAt }),
    ]),
  ),
  row(
    "an address that was not to be kept, of a wallet that an activity imported",
    [["unlisted imported A", /^no list has it: .*persist: false\); its wallet was imported$/]],
    {},
    [unproven(made([b], IMPORTED)), made([a], UNKEPT)],
  ),
  row(
    "an address that was not to be kept, of a wallet that the list calls exported",
    [["unlisted exported A", /; it or its wallet was exported$/]],
    wallets({ exported: true }),
    [made([a], UNKEPT)],
  ),
  row(
    "an address that was not to be kept, of a wallet whose flag is not known",
    [["unlisted service A", /does not say whether its wallet was imported$/]],
    wallets({ imported: null }),
    [made([a], UNKEPT)],
  ),
  row(
    "a wallet that was exported, then deleted",
    [["unlisted exported A", /deleted by .*; it or its wallet was exported$/]],
    { wallets: [] },
    [made([a]), activity("EXPORT_WALLET", { walletId: W }, {}), deletion("DELETE_WALLETS", { walletIds: [W] })],
  ),

  // Sub-organizations.
  {
    ...row("a sub-organization, made by its parent", [["derived A", null]], one, [subOrganizationMade([a])]),
    verify: { organizationId: CHILD, parentOrganizationId: ORG },
    join: { organizationId: CHILD },
  },
  {
    ...row("a sub-organization whose parent was not named", [["service A", /parent organization is not known$/]], one, [
      subOrganizationMade([a]),
    ]),
    verify: { organizationId: CHILD },
    join: { organizationId: CHILD, parentUnknown: true },
  },
  {
    ...row("another sub-organization of the same parent", ["service A"], one, [subOrganizationMade([a])]),
    verify: { organizationId: OTHER_ORG, parentOrganizationId: ORG },
    join: { organizationId: OTHER_ORG },
  },
  {
    ...row(
      "another activity of the parent, whose result names the sub-organization",
      [["service A", /^no activity/]],
      one,
      [
        made([a], {
          payloads: [derivation({ ...place, organizationId: CHILD })],
          more: { result: { x: { subOrganizationId: CHILD, walletId: W, addresses: [A] } } },
        }),
      ],
    ),
    verify: { organizationId: CHILD, parentOrganizationId: ORG },
    join: { organizationId: CHILD },
  },
  {
    ...row(
      "an activity of the parent whose proof names the parent",
      [["contradicted A", new RegExp(`of organization ${ORG}`)]],
      one,
      [{ ...subOrganizationMade([a]), appProofs: signed([derivation({ ...place })]) }],
    ),
    verify: { organizationId: CHILD, parentOrganizationId: ORG },
    join: { organizationId: CHILD },
  },
];
