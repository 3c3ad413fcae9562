/** The rows: each fact that a policy can pin or a caller can demand, and evidence that is honest but for it. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { blake2b } from "@noble/hashes/blake2.js";
import { type AddressClass, UNPLACED } from "../../src/addresses/classes.js";
import { concatBytes, toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import type { CheckId } from "../../src/checks.js";
import type { OptionName } from "../../src/cli/option-table.js";
import type { PinName } from "../../src/appraise/pins.js";
import type { DeploymentFile, PolicyFile } from "../../src/appraise/policy.js";
import type { WorkflowFile } from "../../src/appraise/provenance.js";
import type { JsonObject } from "../../src/decode/json.js";
import type { Expected, VerifyOptions } from "../../src/index.js";
import { customPayload } from "../../src/lab/enclave.js";
import { Forge, LAB_ADDRESS, labDeployment } from "../../src/lab/forge.js";
import { approve, generateMembers, generateQosKeyPair, memberSet, sha256 } from "../../src/lab/qos.js";
import { LAB_BUILD, type LabRelease } from "../../src/lab/sigstore.js";
import type { DemandedRelease } from "../../src/verify/provenance-demand.js";
import { type Alterations, certificate, field, inManifest, manifest, otherLab, put } from "../attacks/support.js";
import { fileOf } from "../cli/support.js";
import {
  ADDRESSES,
  type AddressName,
  OTHER_SECRET,
  SECRET,
  psbt,
  schemeOf,
  signedBy as signatureBy,
  signedDraft,
  spending,
  tron,
  withEntries,
} from "../support/chains.js";
import { revocationList } from "../support/revocation.js";
import { releaseSet } from "./releases.js";
import { type Cells, type FactClass, not, ofAddresses } from "./doors.js";
import {
  ACTIVITY_ID,
  type Change,
  type Evidence,
  NOW,
  REQUEST,
  type Request,
  demandOfBuild,
  demandOfRelease,
  lab,
  otherSigstore,
  privateSigstore,
} from "./worlds.js";

export interface Fact {
  readonly class: FactClass;
  /** The checks that fail, or the class of the address; `policy.deployment` may fail beside them. */
  readonly fails: readonly (CheckId | AddressClass | typeof UNPLACED)[];
  /** How the evidence of the fact differs from the honest one. */
  readonly other: Change;
  /** Of both. */
  readonly both?: Change;
  /** The one deployment, in place of one that pins all of the lab. */
  readonly deployment?: (all: JsonObject, honest: Evidence) => JsonObject;
  /** Another deployment of the policy. */
  readonly beside?: (all: JsonObject) => JsonObject;
  /** Members of the policy. */
  readonly policy?: JsonObject;
  /** What the caller demands, as options of commands. */
  readonly options?: (honest: Evidence) => Partial<Record<OptionName, string>>;
  /** The same, where it is data. */
  readonly expected?: Expected;
  /** The twin is the same evidence without the demand. */
  readonly isDemandAlone?: true;
  /** What is submitted. Default: the wallet of the lab. */
  readonly submits?: Request;
  /** How it is asked for where evidence is fetched. Default: by a submit. */
  readonly asks?: "past" | "received";
  readonly cells?: Cells;
}

const otherKey = generateQosKeyPair();
export const STRANGERS = generateMembers("mallory", "trudy", "oscar");
const ANOTHER = "e7b1c1de-0000-4000-8000-000000000002";

const pinned =
  (members: JsonObject) =>
  (all: JsonObject): JsonObject => ({ ...all, ...members });
const without =
  (...names: string[]) =>
  (all: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)));

const OF_WORKLOAD = not("measure compares the one binary of a manifest with a pivot");
const bare = (members: (honest: Evidence) => JsonObject): NonNullable<Fact["deployment"]> => {
  return (all, honest) => ({ kind: "nitro", pcrs: all["pcrs"]!, ...members(honest) });
};

/** They have few of the options of `verify`. */
const FEW_OPTIONS = ["verify, bundle command", "verify, page in Chromium"] as const;
const lacking = (lacks: OptionName, ...places: readonly (keyof Cells)[]): Cells =>
  Object.fromEntries(places.map((place) => [place, { lacks }]));

/** A pin, the check that holds it, and evidence that differs in it alone. */
const pinOf =
  (of: "manifest" | "document") =>
  (fails: CheckId, forge: Alterations, more: Partial<Fact> = {}): Fact => ({
    class: of,
    fails: [fails],
    other: { forge },
    ...more,
  });
const ofManifest = pinOf("manifest");
const ofDocument = pinOf("document");

const PINS = {
  pcrs: {
    class: "manifest",
    fails: ["policy.pcrs"],
    other: { built: { application: "another application" } },
    cells: { measure: { fails: ["pcrs.0"] } },
  },
  manifestHash: ofManifest("policy.manifest-hash", inManifest("pivot", { restart: "Never" }), {
    deployment: (all, { forged }) => ({ ...all, manifestHash: toHex(forged.manifestHash) }),
  }),
  pivotHash: {
    class: "manifest",
    fails: ["policy.pivot"],
    other: { built: { binary: "another binary" } },
    cells: { measure: { fails: ["pivotHash"] } },
  },
  workloads: ofManifest(
    "policy.workloads",
    {
      version: "v3",
      alterManifest: {
        workloadManifest: (value) => ({
          ...value,
          workloads: value.workloads.map((one) => ({ ...one, imageDigest: new Uint8Array(32).fill(7) })),
        }),
      },
    },
    { deployment: () => labDeployment(lab, "v3"), both: { forge: { version: "v3" } } },
  ),
  pivotArgs: ofManifest("policy.args", inManifest("pivot", { args: ["--config", "/etc/other.json"] })),
  pivotEnv: ofManifest("policy.args", inManifest("pivot", { env: new Map([["LOG_LEVEL", "debug"]]) })),
  namespace: ofManifest("policy.namespace", inManifest("namespace", { name: "another/signer" }), {
    cells: { "policy check-releases": { fails: ["exit 2"] } },
  }),
  minNonce: ofManifest("policy.nonce", inManifest("namespace", { nonce: 20260101 }), {
    cells: { "policy check-releases": { fails: ["older"] } },
  }),
  quorumKey: ofManifest("policy.quorum-key", inManifest("namespace", { quorumKey: otherKey.publicKey })),
  manifestSet: ofManifest(
    "policy.manifest-set",
    {
      alterManifest: {
        manifest: (value) => ({ ...value, manifestSet: memberSet(2, STRANGERS) }),
        approvals: (_, hash) => STRANGERS.map((member) => approve(hash, member)),
      },
    },
    { cells: { "policy check-releases": { fails: ["manifest-set-demanded"] } } },
  ),
  shareSet: ofManifest("policy.share-set", {
    alterManifest: {
      manifest: (value) => ({ ...value, shareSet: memberSet(2, STRANGERS) }),
      shareApprovals: () => [],
    },
  }),
  userData: {
    class: "bare",
    fails: ["policy.user-data"],
    deployment: bare(({ forged }) => ({ userData: toHex(forged.manifestHash) })),
    other: { forge: field("user_data", new Uint8Array(32).fill(7)) },
  },
  publicKey: {
    class: "bare",
    fails: ["policy.public-key"],
    deployment: bare(() => ({ publicKey: toHex(lab.ephemeralKey.publicKey) })),
    other: { forge: field("public_key", otherKey.publicKey) },
  },
  commitment: ofDocument("policy.commitment", { generation: "legacy" }),
  labels: ofDocument("policy.labels", { bootProof: put("owner", "mallory") }),
  /** The binary that it is about: `of`. */
  provenance: {
    class: "build",
    fails: ["provenance.subject"],
    deployment: pinned({ provenance: [demandOfBuild()] }),
    other: { build: { digest: sha256(new Uint8Array(1)) } },
  },
} satisfies Readonly<Record<PinName, Fact>>;

/** Beside what the table of pins demands: parts of a pin that another comparison decides. */
const PARTS_OF_PINS = {
  "pcrs of the bytes": {
    class: "manifest",
    fails: ["policy.pcrs"],
    deployment: (all) => ({ ...all, pcrs: without("1", "2")(all["pcrs"] as JsonObject) }),
    other: { built: { application: "another application" } },
    cells: { measure: { fails: ["pcrs.0"] } },
  },
  "pcrs of the role": {
    class: "manifest",
    fails: ["policy.pcrs"],
    other: { built: { role: "arn:aws:iam::123456789012:role/Webserver2" } },
    cells: { measure: { fails: ["pcrs.3"] } },
  },
  "pcrs of the instance": {
    class: "document",
    fails: ["policy.pcrs"],
    deployment: (all) => ({ ...all, pcrs: { ...(all["pcrs"] as JsonObject), 4: toHex(lab.measurements.pcr4) } }),
    other: { built: { instance: "i-0fedcba9876543210" } },
    cells: { measure: { fails: ["pcrs.4"] } },
  },
  "threshold of the manifestSet": ofManifest("policy.manifest-set", inManifest("manifestSet", { threshold: 1 })),
  "threshold of the shareSet": ofManifest("policy.share-set", inManifest("shareSet", { threshold: 1 })),
  "labels.deploymentLabel": ofDocument("policy.labels", { bootProof: put("deploymentLabel", "lab.2") }),
  "labels.enclaveApp": ofDocument(
    "policy.labels",
    { bootProof: put("enclaveApp", "notary") },
    {
      cells: {
        watch: { fails: ["exit 3"] },
        "watch, after SIGHUP": not("an answer about another application than the one that is watched is not judged"),
      },
    },
  ),
  "provenance.of a workload": {
    class: "build",
    fails: ["provenance.subject"],
    deployment: () => ({
      ...labDeployment(lab, "v3"),
      provenance: [demandOfBuild({ of: { workload: "signer" } })],
    }),
    both: { forge: { version: "v3" } },
    other: { forge: { version: "v3" }, build: { digest: sha256(new Uint8Array(1)) } },
    cells: { measure: OF_WORKLOAD },
  },
} satisfies Readonly<Record<string, Fact>>;

const STRANGER = "https://github.com/mallory/oracle";
const CONFIG = `${LAB_BUILD.repository}/${LAB_BUILD.workflow}@${LAB_BUILD.ref}`;

/** A build whose certificate says something else. */
const signedBy = (build: Partial<typeof LAB_BUILD>, more: JsonObject = {}): Fact => ({
  class: "build",
  fails: ["provenance.signer"],
  deployment: pinned({ provenance: [demandOfBuild(more)] }),
  other: { build: { build } },
});

const PROVENANCE = {
  issuer: signedBy({ issuer: "https://gitlab.com" }),
  repository: signedBy({ repository: STRANGER }),
  repositoryId: signedBy({ repositoryId: "987654321" }),
  workflow: signedBy({ workflow: ".github/workflows/test.yml" }),
  ref: signedBy({ ref: "refs/heads/main" }),
  signer: signedBy({ signer: `${STRANGER}/x.yml@refs/heads/main` }, { signer: CONFIG }),
  identity: signedBy({ identity: `${STRANGER}/x.yml@refs/heads/main` }, { identity: CONFIG }),
  runner: signedBy({ runner: "self-hosted" }),
  trigger: signedBy({ trigger: "pull_request_target" }),
  commit: signedBy({ commit: "f".repeat(40) }),
  predicateTypes: {
    class: "build",
    fails: ["provenance.subject"],
    deployment: pinned({ provenance: [demandOfBuild()] }),
    other: { build: { predicateType: "https://slsa.dev/verification_summary/v1" } },
  },
  trustedRoot: {
    class: "build",
    fails: ["provenance.bundle"],
    deployment: pinned({ provenance: [demandOfBuild()] }),
    other: { builder: otherSigstore },
  },
} satisfies Readonly<Record<Exclude<keyof WorkflowFile, "githubRelease" | "of" | "open">, Fact>>;

/** A statement of GitHub on another release. */
const releasedBy = (release: Partial<LabRelease>, fails: CheckId, own: Partial<LabRelease> = {}): Fact => ({
  class: "build",
  fails: [fails],
  deployment: pinned({ provenance: [demandOfRelease(own)] }),
  both: { build: { release: own }, builder: privateSigstore },
  other: { build: { release }, builder: privateSigstore },
});

const RELEASE = {
  repository: releasedBy({ repository: "mallory/oracle" }, "provenance.subject"),
  repositoryId: releasedBy({ repositoryId: "987654321" }, "provenance.subject"),
  tag: releasedBy({ tag: "v1.2.2" }, "provenance.subject"),
  tenant: releasedBy({ tenant: "mallory" }, "provenance.signer", { tenant: "acme" }),
} satisfies Readonly<Record<keyof DemandedRelease, Fact>>;

const OLD_PROOFS = not("proofs of creation are as old as the wallet");
const EACH_ALONE = not("a bad proof refuses itself, and no other proof of its activity: test/addresses has those rows");

const OTHER_LAB = new Forge({ ...lab, pki: otherLab.pki });
const DEBUG = inManifest("pivot", { debugMode: true });

const POLICY = {
  trustAnchors: ofDocument(
    "chain.anchor",
    { lab: OTHER_LAB },
    { cells: { review: { fails: ["aws-root enclave.awsRootCertificate"] } } },
  ),
  maxAge: ofDocument(
    "policy.age",
    { at: new Date(NOW.getTime() - 2 * 3_600_000) },
    { policy: { maxAge: "1h" }, cells: ofAddresses(OLD_PROOFS) },
  ),
  allowDebug: ofDocument("mode.debug", DEBUG, { cells: { review: { fails: ["debug-mode pivot.debugMode"] } } }),
} satisfies Readonly<
  Record<Exclude<keyof PolicyFile, "$schema" | "policy" | "name" | "deployments" | "appProofs" | "comment">, Fact>
>;

const GREETING = "APP_PROOF_TYPE_LAB_GREETING";
const TYPES = ["APP_PROOF_TYPE_ADDRESS_DERIVATION", "APP_PROOF_TYPE_POLICY_OUTCOME"];
const greeting: Change = { payloads: (all) => [...all, customPayload(NOW)] };
const untimed = (type: string): Change => ({
  payloads: (all) => [...all, { type, greeting: { id: "1", text: "hello" } }],
});
const BY_APP_PROOF = { class: "app proof", fails: ["policy.app-proof"] } as const;
const withAddress = (activity: JsonObject): JsonObject => ({
  ...activity,
  result: { createWalletResult: { walletId: LAB_ADDRESS.walletId, addresses: [LAB_ADDRESS.address, "0x01"] } },
});

const APP_PROOFS = {
  types: {
    ...BY_APP_PROOF,
    policy: { appProofs: { types: TYPES } },
    other: greeting,
    cells: ofAddresses(EACH_ALONE),
  },
  maxAge: {
    ...BY_APP_PROOF,
    cells: ofAddresses(OLD_PROOFS),
    policy: { appProofs: { maxAge: "1m" } },
    other: {
      payloads: (all) => all.map((one) => ({ ...one, timestampMs: String(NOW.getTime() - 120_000) })),
    },
    asks: "past",
  },
  untimed: {
    ...BY_APP_PROOF,
    cells: ofAddresses(EACH_ALONE),
    fails: ["app.payload"],
    policy: { appProofs: { untimed: [GREETING] } },
    both: untimed(GREETING),
    other: untimed("APP_PROOF_TYPE_LAB_OTHER"),
  },
  required: {
    ...BY_APP_PROOF,
    policy: { appProofs: { required: true } },
    other: { hasNoAnswer: true, activity: without("appProofs") },
    cells: {
      ...ofAddresses({ fails: ["service"] }),
      verify: not("who gives a boot proof alone asks for boot proofs alone; the report lists the rule as not applied"),
      "verify, a bundle": "checks",
      "verify, a page": "checks",
      door: { fails: ["activity.decode"] },
      "door for sign-ups": { fails: ["no report"] },
    },
  },
  coverage: {
    ...BY_APP_PROOF,
    cells: {
      ...ofAddresses(not("the class of each address says whether a proof covers it")),
      // Every policy demands coverage there: the answer is refused before the policy is applied.
      "door for sign-ups": { fails: ["app.request"] },
    },
    fails: ["activity.coverage"],
    policy: { appProofs: { coverage: true } },
    other: { activity: withAddress },
  },
  decision: {
    ...BY_APP_PROOF,
    policy: { appProofs: { decision: true } },
    other: { payloads: (all) => all.slice(0, 1) },
  },
} satisfies Readonly<Record<keyof NonNullable<PolicyFile["appProofs"]>, Fact>>;

const DEPLOYMENT = {
  appProofs: {
    ...BY_APP_PROOF,
    deployment: pinned({ appProofs: { types: TYPES } }),
    other: greeting,
    cells: ofAddresses(EACH_ALONE),
  },
} satisfies Readonly<Partial<Record<Exclude<keyof DeploymentFile, PinName>, Fact>>>;

/** What follows from several members of the policy. */
const TOGETHER = {
  "the application that derives addresses": {
    ...BY_APP_PROOF,
    deployment: pinned({ appProofs: { types: TYPES } }),
    beside: pinned({ name: "another application", namespace: "lab/another" }),
    other: { forge: inManifest("namespace", { name: "lab/another" }) },
    // The class of an address by another application.
    cells: ofAddresses({ fails: ["service"] }),
  },
  "an application that signs any bytes": {
    ...BY_APP_PROOF,
    deployment: pinned({ appProofs: { types: TYPES } }),
    beside: pinned({ name: "another application", namespace: "lab/another", appProofs: { bytes: true } }),
    other: { forge: inManifest("namespace", { name: "lab/another" }) },
    cells: ofAddresses({ fails: ["service"] }),
  },
} satisfies Readonly<Record<string, Fact>>;

const REQUEST_FILE = fileOf(REQUEST);
const byRequest: Fact["options"] = () => ({ request: REQUEST_FILE });
const CHALLENGE = "q7Yt3mVnB2xKc9PzLwRs4A";
const quote = (members: JsonObject): Change => ({
  payloads: (all) => [...all, { type: "QUOTE", timestampMs: String(NOW.getTime()), ...members }],
});
const NO_VALUES = not(
  "it has no option for expected values: what the application answers is compared by verifyAppProofs",
);
const BY_VERIFY_APP_PROOFS: Cells = { door: NO_VALUES, "door, client": "checks", "door for sign-ups": NO_VALUES };
const BY_ADDRESS = not("addresses follow from the request that it makes; others are compared by verifyActivity");
const NO_ACTIVITY = not("a sign-up is answered without an activity, so there is no id and no type to compare");
const NO_NAME = not(
  "no app proof names a wallet by its name: number and paths of accounts are compared (test/door/auth-proxy)",
);

const NO_SIGNING = not("a sign-up signs nothing for an account");

/** A signature that the service answers, and junk of the same form, for one account. */
function signed(
  kind: "RAW_PAYLOAD_V2" | "TRANSACTION_V2",
  parameters: JsonObject,
  good: JsonObject,
  junk: JsonObject,
): Fact {
  const type = `ACTIVITY_TYPE_SIGN_${kind}`;
  const submits = { ...REQUEST, type, parameters };
  const answer = (result: JsonObject): Change => ({
    payloads: (all) => all.filter((one) => !("addressDerivationProof" in one)),
    activity: (activity) => ({ ...activity, intent: { i: parameters }, result: { r: result } }),
  });
  return {
    class: "request",
    fails: ["activity.signature"],
    submits,
    options: () => ({ request: fileOf(submits) }),
    expected: { type, parameters },
    both: answer(good),
    other: answer(junk),
    cells: { ...lacking("request", ...FEW_OPTIONS), "door for sign-ups": NO_SIGNING },
  };
}

const JUNK = { r: "11".repeat(32), s: "11".repeat(32), v: "00" };
const PAY = { payload: "706179", encoding: "PAYLOAD_ENCODING_HEXADECIMAL" };
const SIGN_PAYLOAD = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";
const SUI_KEY = toHex(ed25519.getPublicKey(SECRET));
/** An address of Sui is BLAKE2b-256 of 0x00 and the key. */
const SUI = {
  signWith: `0x${toHex(blake2b(concatBytes(Uint8Array.of(0), ed25519.getPublicKey(SECRET)), { dkLen: 32 }))}`,
  ...PAY,
  hashFunction: "HASH_FUNCTION_NOT_APPLICABLE",
};

const EXPECTED = {
  organizationId: {
    class: "request",
    fails: ["activity.request"],
    other: { request: (request) => ({ ...request, organizationId: ANOTHER }) },
    // The answer names one organization, and its app proofs another.
    cells: { "door for sign-ups": { fails: ["app.request"] } },
  },
  id: {
    class: "request",
    fails: ["activity.request"],
    options: () => ({ "activity-id": ACTIVITY_ID }),
    expected: { id: ACTIVITY_ID },
    other: { activity: (activity) => ({ ...activity, id: ANOTHER }) },
    asks: "past",
    cells: { ...lacking("activity-id", ...FEW_OPTIONS), "door for sign-ups": NO_ACTIVITY },
  },
  type: {
    class: "request",
    fails: ["activity.request"],
    options: byRequest,
    expected: { type: REQUEST.type },
    other: { request: (request) => ({ ...request, type: "ACTIVITY_TYPE_CREATE_WALLET_V2" }) },
    cells: { ...lacking("request", ...FEW_OPTIONS), "door for sign-ups": NO_ACTIVITY },
  },
  parameters: {
    class: "request",
    fails: ["activity.request"],
    options: byRequest,
    expected: { parameters: REQUEST.parameters },
    other: {
      request: (request) => ({ ...request, parameters: { ...request.parameters, walletName: "another" } }),
    },
    cells: { ...lacking("request", ...FEW_OPTIONS), "door for sign-ups": NO_NAME },
  },
  publicKey: {
    ...signed("RAW_PAYLOAD_V2", SUI, signatureBy("ed25519", toUtf8("pay")), JUNK),
    options: () => ({ request: fileOf({ ...REQUEST, type: SIGN_PAYLOAD, parameters: SUI }), "signer-key": SUI_KEY }),
    expected: { type: SIGN_PAYLOAD, parameters: SUI, publicKey: SUI_KEY },
    cells: {
      ...lacking("signer-key", ...FEW_OPTIONS, "verify, GitHub action"),
      "door for sign-ups": NO_SIGNING,
    },
  },
  requestedAt: {
    class: "request",
    fails: ["app.time"],
    options: byRequest,
    expected: { requestedAt: NOW.getTime() },
    other: {
      payloads: (all) => all.map((one) => ({ ...one, timestampMs: String(NOW.getTime() - 120_000) })),
    },
    cells: lacking("request", ...FEW_OPTIONS),
  },
  addresses: {
    class: "request",
    fails: ["activity.request"],
    options: () => ({ address: LAB_ADDRESS.address }),
    expected: { addresses: [LAB_ADDRESS.address] },
    other: {
      payloads: (all) =>
        all.map((one) => ({
          ...one,
          ...("addressDerivationProof" in one && {
            addressDerivationProof: { ...(one["addressDerivationProof"] as JsonObject), address: "0x01" },
          }),
        })),
      activity: (activity) => ({
        ...activity,
        result: { createWalletResult: { walletId: LAB_ADDRESS.walletId, addresses: ["0x01"] } },
      }),
    },
    asks: "past",
    cells: {
      ...lacking("address", "verify, bundle command", "verify, GitHub action"),
      door: BY_ADDRESS,
      "door, client": "checks",
      "door for sign-ups": not("nobody knows an address before the sign-up that makes it: each needs an app proof"),
    },
  },
  payload: {
    class: "request",
    fails: ["app.request"],
    options: () => ({ payload: "QUOTE:/price=1.5" }),
    expected: { payload: [{ type: "QUOTE", values: { "/price": 1.5 } }] },
    both: quote({ price: 1.5 }),
    other: quote({ price: 2.5 }),
    asks: "received",
    cells: BY_VERIFY_APP_PROOFS,
  },
} satisfies Readonly<Record<keyof Expected, Fact>>;

function signedPayload(name: AddressName): Fact {
  const scheme = schemeOf(name);
  const hashFunction = scheme === "ed25519" ? "HASH_FUNCTION_NOT_APPLICABLE" : "HASH_FUNCTION_SHA256";
  const message = toUtf8("pay");
  const good = signatureBy(scheme, scheme === "ed25519" ? message : sha256(message));
  return signed("RAW_PAYLOAD_V2", { signWith: ADDRESSES[name], ...PAY, hashFunction }, good, JUNK);
}

function signedTransaction(type: string, signWith: string, unsigned: string, good: string, junk: string): Fact {
  const parameters = { signWith, unsignedTransaction: unsigned, type: `TRANSACTION_TYPE_${type}` };
  return signed("TRANSACTION_V2", parameters, { signedTransaction: good }, { signedTransaction: junk });
}

const TRON_RAW = "0a02c3e82208e3b7e1a1c2d3f4e540e8f7b2c6f7315a0212345a";
const DRAFT = spending(["P2TR"]);

/** Signatures for accounts of each chain. */
const SIGNED = {
  TRON: signedPayload("TRON"),
  COSMOS: signedPayload("COSMOS"),
  SEI: signedPayload("SEI"),
  XRP: signedPayload("XRP"),
  XLM: signedPayload("XLM"),
  DOGE: signedPayload("DOGE_MAINNET"),
  SPARK: signedPayload("SPARK_MAINNET"),
  "BITCOIN P2PKH": signedPayload("BITCOIN_TESTNET_P2PKH"),
  "BITCOIN P2WPKH": signedPayload("BITCOIN_MAINNET_P2WPKH"),
  "BITCOIN P2TR": signedPayload("BITCOIN_REGTEST_P2TR"),
  "transaction of BITCOIN": signedTransaction(
    "BITCOIN",
    ADDRESSES.BITCOIN_MAINNET_P2TR,
    psbt(DRAFT),
    psbt(signedDraft(DRAFT, [0])),
    psbt(withEntries(DRAFT, () => [["13", "11".repeat(64)]])),
  ),
  "transaction of TRON": signedTransaction(
    "TRON",
    ADDRESSES.TRON,
    TRON_RAW,
    tron(TRON_RAW),
    tron(TRON_RAW, OTHER_SECRET),
  ),
} satisfies Readonly<Record<string, Fact>>;

const CHALLENGED = {
  challenge: {
    class: "request",
    fails: ["app.request"],
    options: () => ({ challenge: `QUOTE:/challenge="${CHALLENGE}"` }),
    expected: { payload: [{ type: "QUOTE", values: { "/challenge": CHALLENGE }, challenge: "/challenge" }] },
    both: quote({ challenge: CHALLENGE }),
    other: quote({ challenge: "another-challenge-of-mine" }),
    asks: "received",
    cells: { ...BY_VERIFY_APP_PROOFS, ...lacking("challenge", "verify, GitHub action") },
  },
} satisfies Readonly<Record<string, Fact>>;

const NONCE = "0102030405060708";
const SOON = new Date(NOW.getTime() - 60_000);

/** Names a zone, by a list of its region. */
const REVOKED = Uint8Array.of(0x40, 1, 2, 3);
const REVOKING = fileOf(
  revocationList({ issuer: lab.pki.chainSpecs(NOW)[1]!, thisUpdate: SOON, serials: [REVOKED] }),
  "region.crl",
);

/** What a caller demands beside what was requested. */
const DEMANDS = {
  measurements: {
    class: "demand",
    fails: ["bind.image"],
    deployment: without("pcrs"),
    options: (honest) => ({ image: honest.file("image") }),
    other: { built: { application: "another application" } },
    cells: {
      ...lacking("image", ...FEW_OPTIONS, "watch", "audit"),
      review: { fails: ["image enclave.pcr0"] },
    },
  },
  ephemeralKey: {
    class: "demand",
    fails: ["bind.key"],
    options: () => ({ "ephemeral-key": toHex(lab.ephemeralKey.publicKey) }),
    other: { forge: { ephemeralKey: otherKey } },
    cells: {
      ...lacking("ephemeral-key", "verify, bundle command", "verify, GitHub action", "audit"),
      "watch, after SIGHUP": not("the keys that are watched are of the command line, which SIGHUP does not change"),
    },
  },
  nonce: {
    class: "demand",
    fails: ["bind.nonce"],
    options: () => ({ nonce: NONCE }),
    both: { forge: { nonce: Buffer.from(NONCE, "hex") } },
    other: { forge: { nonce: Buffer.from("ff", "hex") } },
    cells: lacking("nonce", "watch", "audit"),
  },
  now: ofDocument(
    "doc.time",
    { at: new Date(NOW.getTime() + 3_600_000) },
    { cells: { "watch, after SIGHUP": not("no policy before it accepts the evidence: pin refuses it, too") } },
  ),
  at: {
    class: "demand",
    fails: ["chain.validity"],
    options: () => ({ at: "now" }),
    other: { forge: certificate(4, () => ({ notAfter: SOON })) },
    cells: lacking("at", ...FEW_OPTIONS, "verify, GitHub action", "watch"),
  },
  crls: {
    class: "demand",
    fails: ["chain.revocation"],
    options: () => ({ crl: REVOKING }),
    other: { forge: certificate(2, () => ({ serial: REVOKED })) },
    cells: lacking("crl", ...FEW_OPTIONS, "verify, GitHub action", "watch", "audit"),
  },
  maxAgeMs: {
    class: "demand",
    fails: ["policy.age"],
    options: () => ({ "max-age": "1h" }),
    other: { forge: { at: new Date(NOW.getTime() - 2 * 3_600_000) } },
    cells: {
      ...lacking("max-age", ...FEW_OPTIONS),
      door: "checks",
      "door for sign-ups": "checks",
      "watch, after SIGHUP": not("the age is of the command line, which SIGHUP does not change"),
    },
  },
  acceptance: {
    class: "demand",
    fails: [],
    options: () => ({ "fail-on-warning": "" }),
    other: {},
    isDemandAlone: true,
    cells: {
      ...lacking("fail-on-warning", "verify, bundle command"),
      // Every lab warns of its root.
      ...ofAddresses({ fails: ["chain.anchor"] }),
      door: "checks",
      "door for sign-ups": "checks",
      "watch, after SIGHUP": not("acceptance is of the command line, which SIGHUP does not change"),
    },
  },
} satisfies Readonly<Partial<Record<Exclude<keyof VerifyOptions, "policy" | "expected">, Fact>>>;

const RELEASE_SET = fileOf(releaseSet());

/** An activity that says nothing of its proofs. */
const listedActivity = (type: string, members: JsonObject): JsonObject => ({
  id: ANOTHER,
  organizationId: LAB_ADDRESS.organizationId,
  status: "ACTIVITY_STATUS_COMPLETED",
  type,
  createdAt: String(NOW.getTime()),
  ...members,
});

/** What can only worsen the class of an address. */
const LISTED = {
  "export by a type of tomorrow": {
    class: "lists",
    fails: ["exported"],
    other: {
      listed: [
        listedActivity("ACTIVITY_TYPE_EXPORT_WALLET_V2", {
          intent: { exportWalletIntentV2: { walletId: LAB_ADDRESS.walletId } },
          result: { exportWalletResult: { walletId: LAB_ADDRESS.walletId } },
        }),
      ],
    },
  },
  "export of a key without a place": {
    class: "lists",
    fails: [UNPLACED],
    other: {
      listed: [
        listedActivity("ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT", {
          intent: { exportWalletAccountIntent: { address: "0x42" } },
          result: { exportWalletAccountResult: { address: "0x42" } },
        }),
      ],
    },
  },
} satisfies Readonly<Record<string, Fact>>;

/** Evidence in a form that nothing reads: it is no forgery, and the door says what it is. */
const SPELLED = {
  "base64 inside base64": ofDocument(
    "boot.decode",
    {
      bootProof: (json) => ({
        ...json,
        cloudAttestationDocB64: toBase64(toUtf8(String(json["cloudAttestationDocB64"]))),
      }),
    },
    {
      cells: {
        // A file that cannot be read.
        verify: { fails: ["exit 2"] },
        audit: { fails: ["malformed"] },
        "watch, after SIGHUP": not("no policy before it accepts the evidence: pin does not read it"),
      },
    },
  ),
} satisfies Readonly<Record<string, Fact>>;

/** Options that compare what one command alone reads. */
const COMMANDS = {
  "review --previous": {
    class: "one command",
    fails: [],
    other: { forge: inManifest("pivot", { restart: "Never" }) },
    cells: { review: { fails: ["open-member pivot.restart"] } },
  },
  "review --binary": {
    class: "one command",
    fails: [],
    deployment: without("pivotHash"),
    options: (honest) => ({ binary: honest.file("binary") }),
    other: { built: { binary: "another binary" } },
    cells: { review: { fails: ["binary pivot.hash"] } },
  },
  "policy check-releases --manifest-set": {
    class: "one command",
    fails: [],
    options: () => ({ "manifest-set": RELEASE_SET }),
    other: PINS.manifestSet.other,
    cells: { "policy check-releases": { fails: ["manifest-set-demanded"] } },
  },
  "policy check-releases --namespace": {
    class: "one command",
    fails: [],
    options: () => ({ namespace: lab.namespace.name }),
    other: {
      forge: manifest(({ namespace }) => ({
        namespace: { ...namespace, name: "another/signer", nonce: lab.namespace.nonce + 1 },
      })),
    },
    cells: { "policy check-releases": { fails: ["namespace-demanded"] } },
  },
} satisfies Readonly<Record<string, Fact>>;

const named = <P extends string, R extends Readonly<Record<string, Fact>>>(
  prefix: P,
  rows: R,
): Readonly<Record<`${P}${keyof R & string}`, Fact>> =>
  Object.fromEntries(Object.entries(rows).map(([name, fact]) => [`${prefix}${name}`, fact])) as Readonly<
    Record<`${P}${keyof R & string}`, Fact>
  >;

export const FACTS = {
  ...named("pin ", PINS),
  ...named("pin ", PARTS_OF_PINS),
  ...named("pin provenance.", PROVENANCE),
  ...named("pin provenance.githubRelease.", RELEASE),
  ...named("policy ", POLICY),
  ...named("policy appProofs.", APP_PROOFS),
  ...named("deployment ", DEPLOYMENT),
  ...named("policy, ", TOGETHER),
  ...named("expected ", EXPECTED),
  ...named("expected ", CHALLENGED),
  ...named("signed for ", SIGNED),
  ...named("option ", DEMANDS),
  ...named("listed ", LISTED),
  ...named("spelled ", SPELLED),
  ...COMMANDS,
} satisfies Readonly<Record<string, Fact>>;

export type FactName = keyof typeof FACTS;
