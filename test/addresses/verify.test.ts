/** The verification of activities that make addresses, and the readers of lists. */
import { describe, expect, it } from "vitest";
import { readAddressActivity } from "../../src/addresses/lists.js";
import { policyOfCreation } from "../../src/appraise/policy.js";
import type { ParsedPolicy } from "../../src/appraise/parsed-policy.js";
import type { JsonObject } from "../../src/decode/json.js";
import {
  ACCEPTABLE_CLASSES,
  ADDRESS_ACTIVITY_TYPES,
  type AddressEvidence,
  DerivationPolicyError,
  isAcceptedClass,
  joinAddresses,
  readAccounts,
  readPrivateKeys,
  readWallets,
  requireDerivationPolicy,
  verifyAddressActivity,
} from "../../src/addresses/index.js";
import { ADDRESS_CLASSES } from "../../src/addresses/classes.js";
import { MalformedError, type VerifiedBootProof, verifyBootProof } from "../../src/index.js";
import { policyOutcomePayload } from "../../src/lab/enclave.js";
import { labDeployment } from "../../src/lab/forge.js";
import { parseSigned } from "../../src/appraise/policy.js";
import { LabSigstore, labProvenancePin } from "../../src/lab/sigstore.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import { labPolicy } from "../../src/lab/forge.js";
import { NOW, after, forge, lab } from "../attacks/support.js";
import {
  A,
  B,
  C,
  CHILD,
  DERIVATION,
  ORG,
  PATH,
  PATH2,
  W,
  account,
  activity,
  damaged,
  derivation,
  listsOf,
  made,
  other,
  otherApplication,
  signed,
  signer,
  signerPolicy,
  subOrganizationMade,
  unpinned,
  unproven,
  verifiedOf,
} from "./support.js";

const a = { path: PATH, address: A };
const b = { path: PATH2, address: B };
const PCR = "ab".repeat(48);
const place = { walletId: W, derivationPath: PATH };
const statuses = (evidence: AddressEvidence | null): string[] =>
  evidence!.proofs.map(({ status, failed }) => [status, ...failed].join(" "));
const both = async (each: JsonObject, options?: Parameters<typeof verifiedOf>[1]): Promise<string[]> =>
  statuses(await verifiedOf(each, options));
const own = (types: readonly string[] = [DERIVATION]): JsonObject => ({
  ...labDeployment(lab),
  appProofs: { types: [...types] },
});
const others = { ...labDeployment(otherApplication), name: "other" };
const sigstore = new LabSigstore();
const deny = policyOutcomePayload(after(60), ORG, "OUTCOME_REJECTED");
const allow = policyOutcomePayload(after(60), ORG);

describe("evidence of addresses", () => {
  it("says what the proof says, the activity, and the deployment", async () => {
    const each = made([a]);
    expect(await verifiedOf(each)).toEqual({
      organizationId: ORG,
      activity: {
        id: each["id"],
        organizationId: ORG,
        type: "ACTIVITY_TYPE_CREATE_WALLET",
        status: "ACTIVITY_STATUS_COMPLETED",
        requestedAt: after(0).getTime(),
        effect: "creates",
        requested: null,
        wallets: [W],
        privateKeys: [],
        privateKeyAddresses: [],
        addresses: [A],
        accounts: [{ path: PATH, curve: null, address: A }],
        unkept: false,
        subOrganizationId: null,
      },
      proofs: [
        {
          status: "verified",
          says: { organizationId: ORG, walletId: W, path: PATH, address: A, timestampMs: after(60).getTime() },
          deployment: lab.labels.deploymentLabel,
          failed: [],
          warnings: [],
        },
      ],
    });
  });

  it("says what weakens the deployment, and refuses it if the caller is strict", async () => {
    const legacy = forge({ generation: "legacy", payloads: [derivation(place)] });
    const policy = signerPolicy({}, [{ ...own(), commitment: "legacy" }]);
    const each = made([a], { alter: () => legacy.appProofs });
    const options = { policy, boots: [legacy.bootProof] };
    const evidence = await verifiedOf(each, options);
    expect(statuses(evidence)).toEqual(["verified"]);
    expect(evidence!.proofs[0]!.warnings.join()).toMatch(
      /^the deployment "lab.1": .*legacy: any application of that .*image could have made this document/,
    );
    expect(await both(each, { ...options, acceptance: "strict" })).toEqual([
      expect.stringMatching(/^refused .*policy\.scope/),
    ]);
    expect((await verifiedOf(made([a], { alter: (all) => all.map(damaged) })))!.proofs[0]!.warnings).toEqual([]);
  });

  it("joins only what verification made, for the same organization", async () => {
    const evidence = (await verifiedOf(made([a])))!;
    const lists = listsOf({ accounts: [account(PATH, A)] });
    const join =
      (each: AddressEvidence, organizationId = ORG) =>
      () =>
        joinAddresses(lists, [each], { organizationId });
    expect(join(evidence)()).toHaveLength(1);
    expect(join({ ...evidence })).toThrow(/a copy proves nothing/);
    expect(join(evidence, CHILD)).toThrow(/verified for organization/);
    expect(Object.isFrozen(evidence.proofs) && Object.isFrozen(evidence.proofs[0])).toBe(true);
  });
});

const second = derivation({ ...place, derivationPath: PATH2, address: B });

describe("a bad proof of several", () => {
  it("is rejected, and not the others", async () => {
    const each = made([a, b], { alter: ([first, second]) => [first!, damaged(second!)] });
    expect(await both(each)).toEqual(["verified", "refused app.signature"]);
  });

  it.each<[what: string, bad: JsonObject, because: string, more?: JsonObject]>([
    ["names another wallet", derivation({ ...place, walletId: "other" }), "activity.claims"],
    ["names another organization", derivation({ ...place, organizationId: CHILD }), "activity.claims"],
    ["names an address that the result lacks", derivation({ ...place, address: C }), "activity.claims"],
    ["names a path that was not asked for", derivation({ ...place, derivationPath: "m/0" }), "activity.claims"],
    [
      "names a wallet where the result names two",
      derivation({ ...place, walletId: "other" }),
      "activity.claims",
      { wallet: { walletId: "other" } },
    ],
    ["was made later than now", derivation(place, 1e7), "app.time"],
    ["cannot be read", { type: DERIVATION }, "app.payload"],
  ])("that %s is rejected, and not the others", async (_, bad, because, more = {}) => {
    const found = (alter?: (all: JsonObject[]) => JsonObject[]): Promise<string[]> =>
      both(made([a, b], { payloads: [bad, second], intent: more, ...(alter && { alter }) }));
    const last = more["wallet"] === undefined ? "verified" : "refused activity.claims";
    expect(await found()).toEqual([`refused ${because}`, last]);
    expect(await found((all) => [...all].reverse())).toEqual([last, `refused ${because}`]);
  });

  it("leaves room for the payloads of the others", async () => {
    const large = { type: DERIVATION, list: Array.from({ length: 9990 }, () => 0) };
    const unsigned = (all: JsonObject[]): JsonObject[] => [
      ...Array.from({ length: 12 }, () => ({ ...damaged(all[0]!), proofPayload: JSON.stringify(large) })),
      ...all,
    ];
    const found = await both(made([a, b], { alter: unsigned }));
    expect(found.slice(-2)).toEqual(["verified", "verified"]);
    expect(new Set(found.slice(0, -2))).toEqual(new Set(["refused app.signature app.payload"]));
  });

  it("of an enclave whose build is not proven is rejected, and not the others", async () => {
    const built = { ...others, provenance: [labProvenancePin({ json: JSON.stringify(sigstore.trustedRoot) })] };
    const policy = signerPolicy({}, [own(), { ...built, appProofs: { types: [DERIVATION] } }]);
    const mixed = made([a, b], {
      payloads: [],
      alter: () => [...signed([derivation(place)], other), ...signed([second])],
    });
    const verifier = { policy, provenanceVerifier: await sigstoreVerifier() };
    expect(await both(mixed, verifier)).toEqual(["refused provenance.bundle", "verified"]);
    const elsewhere = sigstore.attest({ at: after(0), digest: Uint8Array.from({ length: 32 }) });
    expect(await both(mixed, { ...verifier, provenance: [elsewhere] })).toEqual([
      "refused provenance.subject",
      "verified",
    ]);
    const provenance = [sigstore.attest({ at: after(0), digest: otherApplication.pivotHash })];
    expect(await both(mixed, { ...verifier, provenance })).toEqual(["verified", "verified"]);
  });
});

describe("an activity of addresses", () => {
  it("has no proofs of an activity without any", async () => {
    expect(await both(unproven(made([a])))).toEqual([]);
    expect(await both(made([a], { alter: () => [] }))).toEqual([]);
    expect(await both({ ...made([a]), appProofs: "none" })).toEqual([]);
  });

  it("does not list proofs that are of no address", async () => {
    expect(await both(made([a], { payloads: [allow] }))).toEqual([]);
    const each = made([a], { payloads: [derivation(place), allow] });
    expect(await both(each, { policy: signerPolicy({}, [labDeployment(lab)]) })).toEqual(["verified"]);
  });

  it("verifies the activity against what was asked", async () => {
    const each = made([a]);
    expect(await both(each, { activityId: each["id"] as string })).toEqual(["verified"]);
    expect(await both(each, { activityId: "another" })).toEqual(["refused activity.request"]);
    expect(await both({ ...each, status: "ACTIVITY_STATUS_PENDING" })).toEqual(["refused activity.request"]);
    expect(await both({ ...each, Intent: {} })).toEqual(["refused activity.decode"]);
  });

  it("sets activities of other organizations aside", async () => {
    expect(await verifiedOf({ ...made([a]), organizationId: CHILD })).toBeNull();
    const ofParent = { organizationId: CHILD, parentOrganizationId: ORG };
    expect(await both(subOrganizationMade([a]), ofParent)).toEqual(["verified"]);
    expect(await verifiedOf(subOrganizationMade([a]), { organizationId: CHILD })).toBeNull();
    expect(await verifiedOf(made([a]), ofParent)).toBeNull();
    const elsewhere = subOrganizationMade([a], {
      result: { x: { wallet: { walletId: W }, other: { subOrganizationId: CHILD } } },
    });
    expect(await verifiedOf(elsewhere, ofParent)).toBeNull();
    const result = { x: { walletId: W, addresses: [A], subOrganizationId: CHILD } };
    expect(await verifiedOf(made([a], { more: { result } }), ofParent)).toBeNull();
    const intended = subOrganizationMade([a], { intent: { x: { subOrganizationId: CHILD } }, result: { x: {} } });
    expect(await verifiedOf(intended, ofParent)).toBeNull();
  });
});

describe("decisions beside proofs of addresses", () => {
  it("keeps a decision that denies", async () => {
    const policy = signerPolicy({}, [labDeployment(lab)]);
    expect(await both(made([a], { payloads: [derivation(place), deny] }), { policy })).toEqual([
      "refused activity.claims",
    ]);
    const payloads = [derivation(place), derivation({ ...place, derivationPath: PATH2, address: B }), deny];
    const alter = ([first, second, third]: JsonObject[]): JsonObject[] => [first!, damaged(second!), third!];
    expect(await both(made([a, b], { payloads, alter }), { policy })).toEqual([
      "refused activity.claims",
      "refused app.signature",
    ]);
    const foreign = policyOutcomePayload(after(60), CHILD, "OUTCOME_REJECTED");
    expect(await both(made([a], { payloads: [derivation(place), foreign] }), { policy })).toEqual(["verified"]);
    const denied = {
      payloads: [derivation(place), deny],
      alter: ([first, second]: JsonObject[]) => [first!, damaged(second!)],
    };
    expect(await both(made([a], denied), { policy })).toEqual(["verified"]);
  });

  it("applies appProofs.decision to all proofs together", async () => {
    const policy = signerPolicy({ appProofs: { decision: true } }, [labDeployment(lab)]);
    expect(await both(made([a]), { policy })).toEqual(["refused policy.app-proof"]);
    expect(await both(made([a, b]), { policy })).toEqual(["refused policy.app-proof", "refused policy.app-proof"]);
    const payloads = [derivation(place), derivation({ ...place, derivationPath: PATH2, address: B }), allow];
    expect(await both(made([a, b], { payloads }), { policy })).toEqual(["verified", "verified"]);
    const alter = ([bad, ...rest]: JsonObject[]): JsonObject[] => [damaged(bad!), ...rest];
    expect(await both(made([a, b], { payloads, alter }), { policy })).toEqual(["refused app.signature", "verified"]);
  });
});

describe("boot proofs of evidence", () => {
  const mixed = (): JsonObject =>
    made([a, b], {
      payloads: [],
      alter: () => [
        ...signed([derivation(place)], unpinned),
        ...signed([derivation({ ...place, derivationPath: PATH2, address: B })]),
      ],
    });

  it("are compared by the key that a proof names", async () => {
    expect(await both(made([a]), { boots: [] })).toEqual(["no-boot-proof"]);
    expect(await both(made([a]), { boots: [unpinned.bootProof] })).toEqual(["no-boot-proof"]);
    expect(await both(mixed(), { boots: [signer.bootProof] })).toEqual(["no-boot-proof", "verified"]);
    const [first, second] = await both(mixed());
    expect(first).toMatch(/^refused .*policy\.deployment/);
    expect(second).toBe("verified");
  });

  it("may name the signing half alone", async () => {
    const half = (all: JsonObject[]): JsonObject[] =>
      all.map((each) => ({ ...each, publicKey: String(each["publicKey"]).slice(130) }));
    expect(await both(made([a], { alter: half }))).toEqual(["verified"]);
  });

  it("may be verified already, text, or bad", async () => {
    const { bootProof } = await verifyBootProof(signer.bootProof, { policy: signerPolicy(), now: NOW });
    const boots = [bootProof as VerifiedBootProof];
    expect(await both(made([a]), { boots })).toEqual(["verified"]);
    expect(await both(made([a]), { boots: [JSON.stringify(signer.bootProof)] })).toEqual(["verified"]);
    expect(await both(made([a]), { boots: [{ bootProof: signer.bootProof }, "{"] })).toEqual(["verified"]);
    expect((await both(made([a]), { boots: ["{"] }))[0]).toMatch(/^refused boot\.decode/);
    const bad = { ...signer.bootProof, cloudAttestationDocB64: unpinned.bootProof["cloudAttestationDocB64"]! };
    expect((await both(made([a]), { boots: [bad] }))[0]).toMatch(/^refused bind\./);
  });
});

describe("the policy of evidence", () => {
  const late = new Date(NOW.getTime() + 400 * 86_400_000);

  it("is applied but for what asks for fresh answers", async () => {
    const policy = signerPolicy({ maxAge: "1h", appProofs: { maxAge: "1h", coverage: true, types: [DERIVATION] } }, [
      own(),
    ]);
    expect(await both(made([a, b], { payloads: [derivation(place)] }), { policy, now: late })).toEqual(["verified"]);
    const refusing = signerPolicy({}, [{ ...own(), minNonce: lab.namespace.nonce + 1 }]);
    expect((await both(made([a]), { policy: refusing }))[0]).toMatch(/^refused policy\.deployment/);
  });

  it("keeps every other member", () => {
    const policy = signerPolicy(
      { maxAge: "1h", allowDebug: true, appProofs: { maxAge: "1h", coverage: true, decision: true, required: true } },
      [labDeployment(lab)],
    ) as ParsedPolicy;
    const { appProofs } = policy;
    const derived = policyOfCreation(policy);
    expect({ ...derived }).toEqual({
      ...policy,
      maxAge: null,
      appProofs: { ...appProofs, maxAge: null, coverage: false },
    });
    expect(derived.content()).toEqual(policy.content());
    expect(derived.bytes()).toEqual(policy.bytes());
    expect(derived.trustAnchors[0]).not.toBe(derived.trustAnchors[0]);
  });

  it("refuses all where a signed policy expired", async () => {
    const facts = { name: "p", version: 1, sha256: "ab".repeat(32), signedBy: ["cd".repeat(32)] };
    const signedUntil = (expiresAt: Date): ReturnType<typeof parseSigned> =>
      parseSigned(new Uint8Array(1), labPolicy(signer.anchorPem, [own()]), {
        ...facts,
        ...{ remembered: true, envelope: "{}" },
        issuedAt: after(0).toISOString(),
        expiresAt: expiresAt.toISOString(),
      });
    expect(await both(made([a, b]), { policy: signedUntil(late) })).toEqual(["verified", "verified"]);
    const expired = ["refused policy.current", "refused policy.current"];
    expect(await both(made([a, b]), { policy: signedUntil(after(200)) })).toEqual(expired);
  });

  it("refuses what warns, where the caller is strict", async () => {
    expect(await both(made([a]), { acceptance: "strict" })).toEqual(["refused chain.anchor"]);
    expect(await both(subOrganizationMade([a]), { acceptance: "strict" })).toEqual([
      "refused chain.anchor activity.claims",
    ]);
  });

  it("counts only the deployments that derive addresses", async () => {
    const policy = signerPolicy({}, [own(), others]);
    expect(await both(made([a], { by: other }), { policy })).toEqual(["other"]);
    expect(await both(made([a, b], { by: other }), { policy })).toEqual(["other", "other"]);
    expect(await both(made([a]), { policy })).toEqual(["verified"]);
    const forbidden = signerPolicy({}, [own(), { ...others, appProofs: { types: ["X"] } }]);
    expect(await both(made([a], { by: other }), { policy: forbidden })).toEqual(["refused policy.app-proof"]);
    const add = (all: JsonObject[]): JsonObject[] => [...signed([derivation(place)], other), ...all];
    const mixed = ["refused policy.app-proof", "verified"];
    expect(await both(made([a], { alter: add }), { policy: forbidden })).toEqual(mixed);
  });
});

const signing = labDeployment(lab);
const alike = { ...others, namespace: String(signing["namespace"]) };
const unpinnedNamespace = Object.fromEntries(
  Object.entries(signing).filter(([name]) => name !== "namespace" && name !== "minNonce"),
);
const rows: readonly (readonly [
  name: string,
  deployments: JsonObject[],
  counts: string[] | RegExp,
  more?: JsonObject,
])[] = [
  ["one that names the type", [own(), others], [lab.labels.deploymentLabel!]],
  [
    "all that name the type",
    [own(), { ...others, appProofs: { types: [DERIVATION, "X"] } }],
    [lab.labels.deploymentLabel!, "other"],
  ],
  ["one namespace", [signing, alike], [lab.labels.deploymentLabel!, "other"]],
  ["one deployment", [signing], [lab.labels.deploymentLabel!]],
  ["one deployment without a namespace", [unpinnedNamespace], [lab.labels.deploymentLabel!]],
  [
    "two programs without a namespace",
    [unpinnedNamespace, { ...unpinnedNamespace, name: "other", pivotHash: "ab".repeat(32) }],
    /pin one namespace/,
  ],
  ["a namespace in one of two", [signing, { ...unpinnedNamespace, name: "other" }], /no deployment/],
  ["one namespace, and other types", [own(["X"]), alike], ["other"]],
  ["one namespace, and only other types", [own(["X"])], /no deployment/],
  [
    "a bare enclave beside it",
    [signing, { name: "n", kind: "nitro", pcrs: { "0": PCR, "1": PCR, "2": PCR } }],
    [lab.labels.deploymentLabel!],
  ],
  ["two namespaces", [signing, others], /"appProofs": \{"types": \["APP_PROOF_TYPE_ADDRESS_DERIVATION"\]\}/],
  ["two namespaces of one deployment", [{ ...signing, namespace: ["lab/signer", "lab/other"] }], /no deployment/],
  ["two deployments that name other types", [own(["X"]), others], /no deployment/],
  [
    "the policy's own types",
    [own()],
    /refuses every proof of an address: add "APP_PROOF_TYPE_ADDRESS_DERIVATION"/,
    { appProofs: { types: ["X"] } },
  ],
];

describe("a policy of derivations", () => {
  it.each(rows.map((row) => [row[0], row] as const))("%s", (_, [, deployments, counts, more]) => {
    const policy = signerPolicy(more, deployments);
    if (Array.isArray(counts)) expect([...requireDerivationPolicy(policy)].sort()).toEqual(counts.sort());
    else {
      expect(() => requireDerivationPolicy(policy)).toThrow(DerivationPolicyError);
      expect(() => requireDerivationPolicy(policy)).toThrow(counts as RegExp);
    }
  });

  it("is required before anything is verified", async () => {
    await expect(verifiedOf(made([a]), { policy: signerPolicy({}, [signing, others]) })).rejects.toThrow(
      DerivationPolicyError,
    );
    const options = { policy: {} as never, now: NOW, organizationId: ORG };
    await expect(verifyAddressActivity(made([a]), [], options)).rejects.toThrow(
      /policy: expected a policy from parsePolicy/,
    );
    await expect(verifiedOf(made([a]), { organizationId: "" })).rejects.toThrow(/organizationId: empty/);
    await expect(verifiedOf(made([a]), { maxAgeMs: 1 } as never)).rejects.toThrow(/maxAgeMs: unknown/);
  });
});

const listedAccount = {
  ...{ walletAccountId: "x", organizationId: ORG, walletId: W, path: PATH, address: A, pathFormat: "BIP32" },
  ...{ curve: "C", addressFormat: "F", createdAt: { seconds: "1772600767", nanos: "5" }, name: "n" },
};
const key = { privateKeyId: "k", curve: "C", addresses: [{ format: "F", address: A, more: 1 }], exported: false };

describe("lists", () => {
  it("are read without members that are not known", () => {
    expect(
      readWallets({ wallets: [{ walletId: W, exported: true, imported: false, walletName: 7 }], more: 1 }),
    ).toEqual([{ walletId: W, exported: true, imported: false }]);
    expect(readAccounts(JSON.stringify({ accounts: [listedAccount] }), ORG)).toEqual([
      {
        walletAccountId: "x",
        walletId: W,
        path: PATH,
        address: A,
        curve: "C",
        addressFormat: "F",
        createdAt: "2026-03-04T05:06:07.000Z",
      },
    ]);
    expect(readPrivateKeys({ privateKeys: [key] })).toEqual([
      {
        privateKeyId: "k",
        curve: "C",
        addresses: [{ format: "F", address: A }],
        createdAt: null,
        exported: false,
        imported: null,
      },
    ]);
  });

  it.each(["true", 1, null, undefined, {}])("do not guess a flag: %j", (flag) => {
    const [wallet] = readWallets({ wallets: [{ walletId: W, exported: flag, imported: flag }] });
    expect(wallet).toEqual({ walletId: W, exported: null, imported: null });
  });

  it.each([{ seconds: "9".repeat(15) }, { seconds: 1 }, "1", null])("do not guess a time: %j", (createdAt) => {
    expect(readAccounts({ accounts: [{ ...listedAccount, createdAt }] }, ORG)[0]!.createdAt).toBeNull();
  });

  it.each<[string, () => unknown]>([
    ["no wallets", () => readWallets({ wallet: [] })],
    ["no object", () => readWallets([])],
    ["a wallet without id", () => readWallets({ wallets: [{ walletId: "" }] })],
    [
      "an account of another organization",
      () => readAccounts({ accounts: [{ ...listedAccount, organizationId: CHILD }] }, ORG),
    ],
    ...["walletAccountId", "organizationId", "walletId", "path", "address", "curve", "addressFormat"].map(
      (name): [string, () => unknown] => [
        `no ${name}`,
        () => readAccounts({ accounts: [{ ...listedAccount, [name]: undefined }] }, ORG),
      ],
    ),
    ["an address that is empty", () => readAccounts({ accounts: [{ ...listedAccount, address: "" }] }, ORG)],
    ["a private key without addresses", () => readPrivateKeys({ privateKeys: [{ ...key, addresses: undefined }] })],
    [
      "an address of a private key that is no text",
      () => readPrivateKeys({ privateKeys: [{ ...key, addresses: [A] }] }),
    ],
  ])("are refused: %s", (_, read) => {
    expect(read).toThrow(MalformedError);
    expect(read).toThrow(/malformed address-list/);
  });
});

describe("activities of addresses", () => {
  it("are known by type, of any version", () => {
    expect(ADDRESS_ACTIVITY_TYPES).toEqual(
      [
        ...["CREATE_WALLET", "CREATE_WALLET_ACCOUNTS", "CREATE_PRIVATE_KEYS", "CREATE_PRIVATE_KEYS_V2"],
        ...[3, 4, 5, 6, 7, 8].map((version) => `CREATE_SUB_ORGANIZATION_V${version}`),
        ...["IMPORT_WALLET", "IMPORT_PRIVATE_KEY"],
        ...["EXPORT_WALLET", "EXPORT_WALLET_ACCOUNT", "EXPORT_PRIVATE_KEY"],
        ...["DELETE_WALLETS", "DELETE_WALLET_ACCOUNTS", "DELETE_PRIVATE_KEYS"],
      ].map((name) => `ACTIVITY_TYPE_${name}`),
    );
    const effectOf = (type: string): string | null => readAddressActivity(activity(type, {}, {})).effect;
    expect(
      ["CREATE_WALLET_V12", "EXPORT_WALLET_V2", "toString", "UPDATE_WALLET", "xCREATE_WALLET"].map(effectOf),
    ).toEqual(["creates", "exports", null, null, null]);
  });

  it("say what they asked for", () => {
    expect(readAddressActivity({ activity: { ...made([a]), generateAppProofs: false } }).requested).toBe(false);
    expect(readAddressActivity(made([a], { intent: { persist: false } })).unkept).toBe(true);
    expect(readAddressActivity(subOrganizationMade([a]))).toMatchObject({
      subOrganizationId: CHILD,
      wallets: [W],
      addresses: [A],
    });
  });

  it.each(["id", "organizationId", "type"])("have a member %s", (name) => {
    expect(() => readAddressActivity({ ...made([a]), [name]: "" })).toThrow(MalformedError);
    expect(() => readAddressActivity({ ...made([a]), [name]: undefined })).toThrow(MalformedError);
  });
});

describe("classes", () => {
  it("are ordered, and some may be accepted", () => {
    expect(ADDRESS_CLASSES).toEqual("contradicted refused service imported exported derived".split(" "));
    expect(ACCEPTABLE_CLASSES).toEqual(["service", "imported", "exported"]);
    const accepted = (names: typeof ACCEPTABLE_CLASSES): string[] =>
      ADDRESS_CLASSES.filter((name) => isAcceptedClass(name, names));
    expect(accepted([])).toEqual(["derived"]);
    expect(accepted(["exported"])).toEqual(["exported", "derived"]);
    expect(accepted(["contradicted", "refused"] as never)).toEqual(["derived"]);
  });
});
