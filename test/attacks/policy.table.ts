/** Valid evidence of an enclave that is not the pinned one, or does not meet the policy. */
import type { JsonObject } from "../../src/decode/json.js";
import { customPayload, policyOutcomePayload } from "../../src/lab/enclave.js";
import { LAB_ADDRESS, Forge, labDeployment } from "../../src/lab/forge.js";
import { generateMembers, generateQosKeyPair, memberSet, sha384 } from "../../src/lab/qos.js";
import { toUtf8 } from "../../src/bytes.js";
import {
  type Alterations,
  type Attack,
  type Judgement,
  after,
  drop,
  forge,
  hex,
  lab,
  lie,
  inManifest,
  manifest,
  pcr,
  put,
  withActivity,
  named,
} from "./support.js";

const otherKey = generateQosKeyPair();
const others = generateMembers("mallory", "trudy", "oscar");
const pinned = labDeployment(lab);
const otherPcr = sha384(toUtf8("another image"));

/** The deployment pinned with one difference. */
const pin = (name: string, path: string, value: Parameters<typeof put>[1], fails: Attack["fails"][number]): Attack => ({
  name: `pinned: ${name}`,
  judge: { deployments: (all) => [put(path, value)(all)] },
  fails: ["policy.deployment", fails],
});

const pins: Attack[] = [
  ...[0, 1, 2, 3].map((index) => pin(`another PCR${index}`, `pcrs.${index}`, hex(otherPcr), "policy.pcrs")),
  pin("several PCR0, none of them this one", "pcrs.0", [hex(otherPcr), "ff".repeat(48)], "policy.pcrs"),
  pin("a PCR8 that is zero here", "pcrs.8", hex(otherPcr), "policy.pcrs"),
  pin("another manifest", "manifestHash", "ab".repeat(32), "policy.manifest-hash"),
  pin("other arguments", "pivotArgs", ["--config", "/etc/other.json"], "policy.args"),
  pin("an argument fewer", "pivotArgs", ["--config"], "policy.args"),
  pin("no arguments", "pivotArgs", [], "policy.args"),
  pin("another value in the environment", "pivotEnv", { LOG_LEVEL: "debug" }, "policy.args"),
  pin("one name more in the environment", "pivotEnv", { LOG_LEVEL: "info", LD_PRELOAD: "/tmp/x.so" }, "policy.args"),
  pin("an empty environment", "pivotEnv", {}, "policy.args"),
  pin("an environment of a comment alone", "pivotEnv", { comment: "LOG_LEVEL=info" }, "policy.args"),
  pin("another binary", "pivotHash", "ab".repeat(32), "policy.pivot"),
  pin("several binaries, none of them this one", "pivotHash", ["ab".repeat(32), "cd".repeat(32)], "policy.pivot"),
  pin("another namespace", "namespace", "lab/signer2", "policy.namespace"),
  pin("the namespace in upper case", "namespace", "LAB/SIGNER", "policy.namespace"),
  pin("a newer manifest", "minNonce", 8, "policy.nonce"),
  pin("another quorum key", "quorumKey", hex(otherKey.publicKey), "policy.quorum-key"),
  pin("a member more", "manifestSet", set(2, [...keys("manifestSet"), hex(otherKey.publicKey)]), "policy.manifest-set"),
  pin("a member fewer", "manifestSet", set(2, keys("manifestSet").slice(1)), "policy.manifest-set"),
  pin(
    "a member exchanged",
    "manifestSet",
    set(2, [...keys("manifestSet").slice(1), hex(otherKey.publicKey)]),
    "policy.manifest-set",
  ),
  pin("a higher threshold", "manifestSet.threshold", 3, "policy.manifest-set"),
  pin("the share set's members", "manifestSet", set(2, keys("shareSet")), "policy.manifest-set"),
  pin("another share set", "shareSet", set(2, keys("manifestSet")), "policy.share-set"),
  pin(
    "a share set with a member more",
    "shareSet",
    set(2, [...keys("shareSet"), hex(otherKey.publicKey)]),
    "policy.share-set",
  ),
  pin("an enclave in its setup", "commitment", "setup", "policy.commitment"),
  pin("an enclave that does not commit", "commitment", "legacy", "policy.commitment"),
  pin("another application's label", "labels.enclaveApp", "notary", "policy.labels"),
  pin("another owner's label", "labels.owner", "mallory", "policy.labels"),
  pin("another deployment label", "labels.deploymentLabel", "lab.2", "policy.labels"),
];

function set(threshold: number, members: string[]): JsonObject {
  return { threshold, members };
}

function keys(name: "manifestSet" | "shareSet"): string[] {
  return (pinned[name] as { members: string[] } & JsonObject).members;
}

/** Another party, who runs public images and applications with their own keys and approvals, on the same hardware. */
type ForgeParts = NonNullable<ConstructorParameters<typeof Forge>[0]>;
const strangers: ForgeParts = {
  ...lab,
  quorumKey: otherKey,
  ephemeralKey: generateQosKeyPair(),
  manifestMembers: others,
  shareMembers: others,
};
const ownRole = { ...lab.measurements, pcr3: sha384(toUtf8("his role")) };
const ownImage = { ...ownRole, pcr0: otherPcr, pcr1: otherPcr, pcr2: otherPcr };
const stranger = (parts: ForgeParts, alter: Alterations = {}): Alterations => ({
  lab: new Forge({ ...strangers, ...parts }),
  ...alter,
});
const only =
  (...names: string[]) =>
  (all: JsonObject): JsonObject[] => [Object.fromEntries(names.map((name) => [name, all[name]!]))];
const noRole = (all: JsonObject): JsonObject => ({ ...all, pcrs: drop("3")(all["pcrs"] as JsonObject) });

const pcr0Of = (all: JsonObject): JsonObject => ({ "0": (all["pcrs"] as JsonObject)["0"]! });

/** Genuine evidence of another party, and the pin that finds it. */
const byStrangers: Attack[] = [
  ...named<Attack>({
    "a stranger's image, which shows the pinned binary, namespace and nonce": {
      forge: stranger({ measurements: ownImage }),
      judge: { deployments: only("pcrs", "pivotHash", "namespace", "minNonce") },
      fails: ["policy.deployment", "policy.pcrs"],
    },
    "a stranger's image, where PCR0 is pinned without PCR1 and 2": {
      forge: stranger({ measurements: ownImage, quorumKey: lab.quorumKey }),
      judge: { deployments: (all) => [{ ...only("pivotHash", "quorumKey")(all)[0]!, pcrs: pcr0Of(all) }] },
      fails: ["policy.deployment", "policy.pcrs"],
    },
    "a bare document of another image, where PCR0 alone is pinned": {
      forge: stranger({ measurements: ownImage }),
      judge: { bare: true, deployments: (all) => [{ kind: "nitro", pcrs: pcr0Of(all) }] },
      fails: ["policy.deployment", "policy.pcrs"],
    },
    "a stranger's image, which shows the pinned binary and quorum key": {
      forge: stranger({ measurements: ownImage, quorumKey: lab.quorumKey }),
      judge: { deployments: only("manifestSet", "pivotHash", "quorumKey") },
      fails: ["policy.deployment", "policy.manifest-set"],
    },
    "the same image in the same role, another application": {
      forge: stranger({ pivotHash: new Uint8Array(32).fill(1) }),
      judge: { deployments: only("pcrs", "pivotHash") },
      fails: ["policy.deployment", "policy.pivot"],
    },
    "another application that the same people approved": {
      forge: {
        lab: new Forge({ ...lab, pivotHash: new Uint8Array(32).fill(1), namespace: { name: "lab/notary", nonce: 7 } }),
      },
      judge: { deployments: only("manifestSet", "namespace", "minNonce") },
      fails: ["policy.deployment", "policy.namespace"],
    },
    "the same image and binary in a stranger's role": {
      forge: stranger({ measurements: ownRole }),
      judge: { deployments: only("pcrs", "pivotHash") },
      fails: ["policy.deployment", "policy.pcrs"],
    },
    "the same image and binary over a stranger's quorum key": {
      forge: stranger({ measurements: ownRole }),
      judge: { deployments: (all) => [noRole(only("pcrs", "pivotHash", "quorumKey")(all)[0]!)] },
      fails: ["policy.deployment", "policy.quorum-key"],
    },
    "the same image and binary, approved by strangers": {
      forge: stranger({ measurements: ownRole }),
      judge: { deployments: (all) => [noRole(only("pcrs", "pivotHash", "manifestSet")(all)[0]!)] },
      fails: ["policy.deployment", "policy.manifest-set"],
    },
    "a setup document over the pinned quorum key, which its enclave does not hold": {
      forge: stranger({ quorumKey: lab.quorumKey }, { generation: "setup", payloads: [] }),
      judge: { deployments: only("pcrs", "pivotHash", "quorumKey") },
      fails: ["policy.deployment", "policy.commitment"],
    },
    "a legacy document that a stranger's application asked for, over the pinned binary and quorum key": {
      forge: stranger({ quorumKey: lab.quorumKey }, { generation: "legacy" }),
      judge: { deployments: only("pcrs", "pivotHash", "quorumKey") },
      fails: ["policy.deployment", "policy.commitment"],
    },
    "a legacy document in no role over the pinned manifest, which any application of anybody can ask for": {
      forge: {
        lab: new Forge({ ...lab, measurements: { ...lab.measurements, pcr3: new Uint8Array(48) } }),
        generation: "legacy",
      },
      judge: { deployments: (all) => [{ ...noRole(all), commitment: "legacy" }] },
      fails: ["policy.deployment", "policy.scope"],
    },
    "a deployment of workloads pinned, a pivot runs": {
      judge: {
        deployments: (all) => [{ ...drop("pivotHash")(all), workloads: { signer: `sha256:${"ab".repeat(32)}` } }],
      },
      fails: ["policy.deployment", "policy.workloads"],
    },
    "a bare document with other user data": {
      judge: { bare: true, deployments: (all) => [{ kind: "nitro", pcrs: all["pcrs"]!, userData: "ab".repeat(32) }] },
      fails: ["policy.deployment", "policy.user-data"],
    },
    "a bare document of another key": {
      judge: {
        bare: true,
        deployments: (all) => [{ kind: "nitro", pcrs: all["pcrs"]!, publicKey: hex(otherKey.publicKey) }],
      },
      fails: ["policy.deployment", "policy.public-key"],
    },
    "a bare document of the pinned deployment's": { judge: { bare: true }, fails: ["policy.deployment"] },
    "a boot proof, where a bare document is pinned": {
      judge: { deployments: (all) => [{ kind: "nitro", pcrs: all["pcrs"]! }] },
      fails: ["policy.deployment"],
    },
  }),
];

/** Valid, approved and signed evidence of something else than what is pinned. */
const deviations: [string, Alterations, Attack["fails"][number]][] = [
  ["another image", lie("another-release"), "policy.pcrs"],
  [
    "another role",
    {
      ...inManifest("enclave", { pcr3: otherPcr }),
      ...pcr(3, otherPcr),
    },
    "policy.pcrs",
  ],
  ["another binary", lie("another-binary"), "policy.pivot"],
  ["another namespace", lie("another-namespace"), "policy.namespace"],
  ["an older manifest", inManifest("namespace", { nonce: 6 }), "policy.nonce"],
  ["another quorum key", lie("another-quorum-key"), "policy.quorum-key"],
  ["a manifest set of others, who approved", lie("another-manifest-set"), "policy.manifest-set"],
  [
    "one more in the manifest set",
    manifest(({ manifestSet }) => ({
      manifestSet: { ...manifestSet, members: [...manifestSet.members, ...memberSet(1, others.slice(0, 1)).members] },
    })),
    "policy.manifest-set",
  ],
  ["a lower threshold", inManifest("manifestSet", { threshold: 1 }), "policy.manifest-set"],
  ["another share set", lie("another-share-set"), "policy.share-set"],
  ["a lower share threshold", inManifest("shareSet", { threshold: 1 }), "policy.share-set"],
  ["an enclave in its setup", { generation: "setup", payloads: [] }, "policy.commitment"],
  ["another label", { bootProof: put("enclaveApp", "notary") }, "policy.labels"],
];

const code = (all: JsonObject): JsonObject => drop("minNonce")(drop("namespace")(all));

const rules = (name: string, appProofs: JsonObject, rest: Partial<Attack> = {}): Attack => ({
  name: `app proofs: ${name}`,
  fails: ["policy.app-proof"],
  ...rest,
  judge: { ...rest.judge, policy: { appProofs } },
});

export const POLICY_ATTACKS: readonly Attack[] = [
  ...pins,
  ...byStrangers,
  ...deviations.map(([name, alter, fails]): Attack => ({
    name: `runs: ${name}`,
    forge: alter,
    fails: ["policy.deployment", fails],
  })),
  ...named<Attack>({
    "runs: a legacy enclave, where live is pinned": {
      forge: lie("legacy-enclave"),
      judge: { deployments: (all) => [{ ...all, commitment: "live" }] },
      fails: ["policy.deployment", "policy.commitment"],
    },
    "several pins at once, all of them told": {
      forge: { generation: "legacy" },
      judge: {
        deployments: (all) => [
          {
            ...put("pcrs.2", hex(otherPcr))(put("namespace", "x")(put("minNonce", 9)(all))),
            pivotHash: "ab".repeat(32),
            commitment: "live",
          },
        ],
      },
      fails: [
        "policy.deployment",
        "policy.pcrs",
        "policy.namespace",
        "policy.nonce",
        "policy.pivot",
        "policy.commitment",
      ],
    },
    "two deployments: the nearest one is told": {
      judge: {
        deployments: (all) => [
          put("pcrs.0", hex(otherPcr))(put("namespace", "x")(all)),
          { ...put("quorumKey", hex(otherKey.publicKey))(all), name: "near" },
        ],
      },
      fails: ["policy.deployment", "policy.quorum-key"],
    },
    "two deployments, each met in half": {
      judge: {
        deployments: (all) => [
          { ...drop("pivotHash")(all), pcrs: put("0", hex(otherPcr))(all["pcrs"] as JsonObject) },
          { ...put("pivotHash", "ab".repeat(32))(drop("pcrs")(all)), name: "other" },
        ],
      },
      fails: ["policy.deployment"],
      more: true,
    },
    "two images, each met in half": {
      judge: {
        deployments: (all) => [
          {
            ...all,
            pcrs: [
              put("0", hex(otherPcr))(all["pcrs"] as JsonObject),
              put("1", hex(otherPcr))(all["pcrs"] as JsonObject),
            ],
          },
        ],
      },
      fails: ["policy.deployment", "policy.pcrs"],
    },
    "a boot proof older than allowed": { judge: { policy: { maxAge: "4m" } }, fails: ["policy.age"] },
    "a boot proof of months ago": {
      judge: { policy: { maxAge: "30d" }, now: after(31 * 86_400) },
      fails: ["policy.age"],
    },
    "a boot proof a millisecond older than allowed": {
      judge: { policy: { maxAge: "5m" }, now: new Date(after(300).getTime() + 1) },
      fails: ["policy.age"],
    },
    "a boot proof older than the caller allows": { judge: { maxAgeMs: 240_000 }, fails: ["policy.age"] },
    "a boot proof a millisecond older than the caller allows, under a policy that allows more": {
      judge: { policy: { maxAge: "30d" }, maxAgeMs: 300_000, now: new Date(after(300).getTime() + 1) },
      fails: ["policy.age"],
    },
    "a boot proof older than the policy allows, where the caller allows more": {
      judge: { policy: { maxAge: "4m" }, maxAgeMs: 86_400_000 },
      fails: ["policy.age"],
    },
    "a setup document older than the caller allows": {
      forge: { generation: "setup", payloads: [] },
      judge: { deployments: (all) => [{ ...all, commitment: "setup" }], maxAgeMs: 0 },
      fails: ["policy.age"],
    },
  }),
  rules("none, where one is required", { required: true }, { forge: { payloads: [] } }),
  {
    name: "app proofs: left out by the service, beside a good boot proof, where one is required",
    judge: {
      given: ({ bootProof }) => ({ bootProofs: [bootProof] }),
      policy: { appProofs: { required: true, decision: true } },
    },
    fails: ["policy.app-proof"],
  },
  rules("of a type that is not allowed", { types: ["APP_PROOF_TYPE_POLICY_OUTCOME"] }),
  rules(
    "a good one and one of a type that is not allowed",
    { types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION"] },
    {
      forge: {
        payloads: [JSON.parse(forge().appProofs[0]!["proofPayload"] as string) as JsonObject, customPayload(after(60))],
      },
    },
  ),
  rules("no decision, where it is demanded", { decision: true }),
  rules(
    "a decision that is no, where it is demanded",
    { decision: true },
    {
      forge: { payloads: [policyOutcomePayload(after(60), LAB_ADDRESS.organizationId, "OUTCOME_DENY_EXPLICIT")] },
    },
  ),
  {
    name: "app proofs: of a type that another application's enclaves may sign",
    forge: { payloads: [policyOutcomePayload(after(60), LAB_ADDRESS.organizationId)] },
    judge: {
      deployments: (all) => [
        { ...all, appProofs: { types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION"] } },
        { ...all, name: "decides", namespace: "lab/policy", appProofs: { types: ["APP_PROOF_TYPE_POLICY_OUTCOME"] } },
      ],
      policy: { appProofs: { types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION", "APP_PROOF_TYPE_POLICY_OUTCOME"] } },
    },
    fails: ["policy.app-proof"],
  },
  ...Object.entries({
    "one of two applications": (all) => [all, { ...all, name: "b", namespace: "lab/b" }],
    "an application beside the one that derives": (all) => [
      all,
      { ...all, name: "b", namespace: "lab/b", appProofs: { types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION"] } },
    ],
    "one of two programs without a namespace": (all) => [
      code(all),
      { ...code(all), name: "b", pivotHash: "ab".repeat(32) },
    ],
    "an application beside one without a namespace": (all) => [
      all,
      { ...code(all), name: "b", pivotHash: "ab".repeat(32) },
    ],
    "a deployment of two namespaces": (all) => [{ ...all, namespace: ["lab/b", all["namespace"]!] }],
  } satisfies Readonly<Record<string, Judgement["deployments"]>>).map(([by, deployments]): Attack => ({
    name: `app proofs: of an address, by ${by}, which the policy does not say to derive addresses`,
    judge: { deployments },
    fails: ["policy.app-proof"],
  })),
  rules("older than allowed", { maxAge: "3m" }),
  rules(
    "one that is not signed, where one is required",
    { required: true },
    { forge: { alterAppProof: { signature: () => new Uint8Array(64) } }, fails: ["app.signature"], more: true },
  ),
  {
    name: "two boot proofs, one of them not pinned",
    judge: {
      given: ({ bootProof, appProofs }) => ({
        bootProofs: [
          bootProof,
          forge({
            ephemeralKey: otherKey,
            ...inManifest("namespace", { name: "lab/notary" }),
          }).bootProof,
        ],
        appProofs,
      }),
    },
    fails: ["policy.deployment", "policy.namespace"],
  },
  ...[
    ["that expires at this moment", "2026-02-04T05:11:07Z", "2026-03-04T05:11:07Z"],
    ["that expired a day ago", "2026-02-04T05:11:07Z", "2026-03-03T05:11:07Z"],
    ["that was issued more than five minutes from now", "2026-03-04T05:16:07.001Z", "2026-04-04T05:11:07Z"],
  ].map(([when, issuedAt, expiresAt]): Attack => ({
    name: `a signed policy ${when}`,
    judge: { signed: { issuedAt: issuedAt!, expiresAt: expiresAt! } },
    fails: ["policy.current"],
  })),
  {
    name: "debug mode, where the policy does not allow it",
    forge: inManifest("pivot", { debugMode: true }),
    judge: { policy: { allowDebug: false } },
    fails: ["mode.debug"],
  },
  {
    name: "an address without a proof in an activity, where coverage is wanted",
    forge: { activity: put("result.createWalletResult.addresses.1", "0x01") },
    judge: { given: withActivity, policy: { appProofs: { coverage: true } } },
    fails: ["activity.coverage"],
  },
];
