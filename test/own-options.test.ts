/**
 * Functions read their arguments once, before they first await, and only own members. Every exported function and
 * method is called with objects and bytes that change right after the call, with getters that return another value the
 * second time, and while `Object.prototype` has every option that loosens. Each has rows here, or takes none of those.
 */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { plainPolicy } from "../src/plain-settings.js";
import * as adapters from "../src/adapters/index.js";
import { fromBase64, toHex, toUtf8 } from "../src/bytes.js";
import * as client from "../src/client/index.js";
import * as keyFile from "../src/client/key-file.js";
import { type JsonObject, type JsonValue } from "../src/decode/json.js";
import * as formats from "../src/formats/index.js";
import * as image from "../src/image/index.js";
import * as author from "../src/author/index.js";
import * as bundles from "../src/bundle/index.js";
import * as decode from "../src/decode/index.js";
import * as diffing from "../src/diff/index.js";
import * as inspecting from "../src/inspect/index.js";
import * as releasing from "../src/release/index.js";
import * as reviewing from "../src/review/index.js";
import { type SignedPolicyError, openSignedPolicy } from "../src/signed-policy/index.js";
import * as tokenRoom from "../src/token/index.js";
import * as library from "../src/index.js";
import * as addresses from "../src/addresses/index.js";
import type { BundleFacts } from "../src/bundle/text.js";
import type { SigningJwk } from "../src/formats/signing-key.js";
import * as lab from "../src/lab/index.js";
import { encodeManifest, qosSign } from "../src/lab/qos.js";
import { LAB_BUILD } from "../src/lab/sigstore.js";
import * as page from "../src/page/index.js";
import { pageWith } from "../src/page/page.js";
import { sigstoreVerifier } from "../src/provenance/index.js";
import * as run from "../src/run/index.js";
import type { Batch } from "../src/run/judge.js";
import * as runNode from "../src/run/node.js";
import * as runQueue from "../src/run/queue.js";
import { customPayload } from "../src/lab/enclave.js";
import { AT, NOW, forge, lab as forgeLab, inManifest, optionsOf } from "./attacks/support.js";
import { AttestedService, policyOf } from "./client/attested.js";
import { JWKS, delivered } from "./client/deliveries.js";
import { ORGANIZATION, TIMEOUT_MS, apiKey, fakeFetch, isStamped, neverTimeUp, testStamper } from "./client/support.js";
import {
  type Door,
  type Steps,
  changed,
  clone,
  door,
  isPlain,
  namesAt,
  outcome,
  polluted,
  watched,
  observed,
} from "./support/doors.js";
import { SECTIONS, imageOf, streamOf } from "./support/images.js";
import { releaseOf } from "./support/releases.js";
import * as tokens from "./token/support.js";
import { linesOf } from "./run/lines.js";

const folder = mkdtempSync(join(tmpdir(), "bootproof-own-"));
afterAll(() => rmSync(folder, { recursive: true }));

const whole = forge();
/** An enclave in debug mode, refused by a policy that does not allow that. */
const DEBUG = inManifest("pivot", { debugMode: true });
const debugged = forge(DEBUG);
const { bootProof, appProofs, activity, document, anchorPem } = whole;
const policyFile = lab.labPolicy(anchorPem, [lab.labDeployment(forgeLab)]) as unknown as library.PolicyFile;
const BUILD = LAB_BUILD;
const sigstore = new lab.LabSigstore();
const build = JSON.parse(sigstore.attest({ at: AT, digest: forgeLab.pivotHash })) as JsonObject;
const releases = new lab.LabSigstore({ kind: "private" });
const released = JSON.parse(
  releases.attest({ at: AT, digest: forgeLab.pivotHash, release: { tenant: "acme" } }),
) as JsonObject;
const policyText = JSON.stringify(policyFile);
const policy = library.parsePolicy(policyText);
const buildPin = lab.labProvenancePin({ json: JSON.stringify(sigstore.trustedRoot) });
const buildPolicy = library.parsePolicy(
  JSON.stringify(lab.labPolicy(anchorPem, [{ ...lab.labDeployment(forgeLab), provenance: [buildPin] }])),
);
/** Refuses everything, by a reason that is compared. */
const noBuild = { verify: async () => ({ verified: false, reason: "tests" }) as const };
const anchor = library.parseTrustAnchor("lab", anchorPem);
const SIGNER = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ type: "spki", format: "pem" });
const expected = {
  organizationId: activity["organizationId"] as string,
  id: activity["id"] as string,
  type: activity["type"] as string,
  publicKey: "11".repeat(32),
  requestedAt: AT,
  addresses: (activity["result"] as { createWalletResult: { addresses: string[] } }).createWalletResult.addresses,
};
/** In the form without digest and request, with empty lists and texts. */
const genesisOutput = new Uint8Array(93);
const genesisMember = { alias: "a", pubKey: forgeLab.ephemeralKey.publicKey };
const signedMessage = Uint8Array.of(1, 2, 3);
const signedBytes = { bootProof, message: signedMessage, signature: qosSign(forgeLab.ephemeralKey, signedMessage) };
const addressLists = {
  wallets: [{ walletId: "w", exported: false, imported: false }],
  accounts: [{ walletId: "w", path: "m/0", address: "a", curve: "c", addressFormat: "f", createdAt: null }],
  privateKeys: [],
  listedAt: null,
};
const ofToken = { policy: tokens.POLICY, now: tokens.NOW, expected: { organizationId: tokens.ORG } };
const tokenReport = Object.freeze(await tokenRoom.verifySessionToken(tokens.sessionToken(), ofToken));
const options = { policy, now: NOW, at: AT, allowDebug: false, bootProofsOnly: false, expected };
const alone = { policy, now: NOW, at: AT };
const verdictOf = ({ report }: { readonly report: library.Report }): unknown => ({
  verdict: report.verdict,
  checks: report.checks,
  verifiedAt: report.verifiedAt,
  asked: report.claims?.activity,
});

const bytesOf = (value: unknown): Uint8Array => toUtf8(JSON.stringify(value));
const answering = forge({ nonce: Uint8Array.of(1, 2, 3) });
const unpinned = optionsOf(whole, { noPolicy: true });
const twoDeployments = {
  ...policyFile,
  deployments: ["a", "b"].map((name) => ({ ...policyFile.deployments[0]!, name })),
};
const approval = bytesOf({ signature: "01".repeat(64), member: { alias: "a", pubKey: "04".repeat(130) } });
const sigstoreVerify = await sigstoreVerifier();
const ownStamper = Object.freeze(await client.apiKeyStamper(apiKey));
const verified = (await library.verifyBootProof(bootProof, alone)).bootProof!;
const { report } = await library.verifyEvidence({ bootProofs: [bootProof], appProofs, activity }, options);
const packed = (await bundles.packBundle({ bootProofs: [bootProof], appProofs }, { policy: policyFile, now: NOW }))
  .bundle!;
const bundle = bundles.decodeBundle(packed);
const check = Object.freeze(author.checkPolicy(policyText));
const inspection = Object.freeze((await inspecting.inspectUnverified(toUtf8(JSON.stringify(bootProof))))!);
const difference = await diffing.diffUnverified(
  toUtf8(policyText),
  toUtf8(JSON.stringify({ ...policyFile, maxAge: "1d" })),
);
const reviewedManifest = new Uint8Array(Buffer.from(bootProof["qosManifestB64"] as string, "base64"));
const review = await reviewing.reviewManifest(reviewedManifest, { policy });
const releaseFiles = [...releaseOf("2026.9.0")];
const published = await releasing.readRelease(releaseFiles, { version: "2026.9.0", application: "signer" });
const releaseCheck = await releasing.checkReleases([published], { noManifestSet: true });
const text = { color: true, width: 100, height: 20, detail: "verbose" } as const;
const release = {
  version: "1",
  signer: {
    appBinaryDigest: "07".repeat(32),
    ...Object.fromEntries([0, 1, 2, 3].map((n) => [`PCR${n}`, `0${n}`.repeat(48)])),
  },
};
const releaseOptions = {
  name: "n",
  namespace: "a",
  commitment: "live",
  quorumKey: toHex(whole.manifest.namespace.quorumKey),
  appProofTypes: ["APP_PROOF_TYPE_POLICY_OUTCOME"],
  manifestSet: { threshold: 1, members: [toHex(whole.manifest.namespace.quorumKey)] },
} as const;
const PCRS = Object.fromEntries([0, 1, 2].map((index) => [index, new Uint8Array(48).fill(index + 1)]));

const earKey = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }) as SigningJwk;
const setting: run.AuditSetting = run.auditSetting({ policy, now: NOW, bootProofs: [JSON.stringify(bootProof)] });
const entries = [toUtf8(JSON.stringify({ bootProof })), toUtf8(JSON.stringify(debugged.bootProof)), toUtf8("{}")];
const batch: Batch = { entries: [...entries, ...entries] };
const input = join(folder, "entries.ndjson");
writeFileSync(input, Buffer.concat(entries.flatMap((entry) => [entry, toUtf8("\n")])));
const lines = (await linesOf(3)).map((line) => Object.freeze(line));
const logText = lines.map(({ bytes }) => `${Buffer.from(bytes).toString("utf8")}\n`).join("");
const logKeys = generateKeyPairSync("ed25519", {
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const logNote = await run.signCheckpoint(
  { origin: "bootproof-log/a", entries: 3, head: lines.at(-1)!.hash },
  logKeys.privateKey,
);
const script = "1;";
const pageOptions = page.plainOptions({ policy, now: NOW, at: AT });
const pageReport = (await library.verifyEvidence({ bootProofs: [debugged.bootProof] }, alone)).report;
const pageContent = { evidence: { bootProofs: [debugged.bootProof] }, options: pageOptions, report: pageReport };
const html = await pageWith(script, pageContent);

const { rawBody: delivery, headers } = delivered();
const handlerOptions = {
  verified: Object.freeze({ verifyActivity: () => Promise.reject(new library.RejectedError(report, "no")) }),
  organizationIds: [ORGANIZATION],
  jwks: JWKS,
  onVerified: () => {},
  onRejected: () => {},
  onError: () => {},
  now: () => AT,
};

const WALLET = { walletId: "w1", walletName: "new" };
const CALL = { organizationId: ORGANIZATION };
const service = new AttestedService();
const serviceClient = await service.client();
const stamper = Object.freeze(await testStamper());
const clientOf = (fetch: typeof globalThis.fetch, now: () => Date): client.Client =>
  client.createClient({
    baseUrl: "https://service.test",
    organizationId: ORGANIZATION,
    stamper,
    fetch,
    now,
    random: () => 0.5,
    sleep: neverTimeUp([]),
    timeoutMs: TIMEOUT_MS,
  });
/** The requests, and the result. */
const sent = async (call: (ofClient: client.Client) => Promise<unknown>): Promise<unknown> => {
  const { fetch, requests } = fakeFetch(() => ({ status: 403, body: { code: 7, message: "no", details: [] } }));
  const answer = await outcome(() => call(clientOf(fetch, () => AT)));
  return { requests: requests.map(({ path, body }) => [path, body]), answer };
};
/** A verified call of an honest service: request and result. */
const proven = async (
  call: (ofClient: client.VerifiedClient) => Promise<client.VerifiedCall<unknown>>,
): Promise<unknown> => {
  const honest = new AttestedService();
  const answer = await call(clientOf(honest.fetch, () => honest.now).withVerification(policyOf()));
  const { intent, type, organizationId } = answer.activity as unknown as JsonObject;
  return [answer.result, answer.report.verdict, type, organizationId, intent];
};
const { activity: past } = await serviceClient.withVerification(policyOf()).updateWallet(WALLET);

const GREETING = "APP_PROOF_TYPE_LAB_GREETING";
const greeting = service.enclave.appProof(customPayload(service.now, GREETING));
const { publicKey } = service.enclave.ephemeralKey;
const receivedHalf = {
  appProof: toUtf8(JSON.stringify({ ...greeting, publicKey: toHex(publicKey.slice(65)) })),
  ephemeralKey: publicKey,
};
const ofGreeting = { payload: [{ type: GREETING, values: { "/greeting/text": "hello" } }] };
const schema = {
  "~standard": { version: 1, vendor: "own", validate: (value: unknown) => ({ value: [value] }) },
} as const;

const watchOptions: run.WatchOptions = {
  policy: plainPolicy(policy),
  apps: ["signer"],
  newest: async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return debugged.bootProof;
  },
  once: true,
  now: () => NOW,
  sleep: async () => {},
  random: () => 0.5,
  onRefusal: async () => {},
  onOutage: async () => {},
  outageAfter: 5,
  reload: { read: async () => ({ refused: [] }), when: () => () => {} },
};

const theLab = await lab.startLab({ applications: [{ name: "own", binaryDigest: "00".repeat(32) }] });
const application = theLab.application("own");
afterAll(() => theLab.close());
const passkey = new lab.SoftwarePasskey("a");

const auditor = await run.Auditor.of(setting);
const judge = Object.freeze(await run.localJudge(setting));
let logs = 0;

/** A call of a function by its name, and what of its answer is compared. */
type Call = readonly [name: string, given: readonly unknown[], told?: (answer: never) => unknown];
const CALLS: readonly Call[] = [
  ["verifyEvidence", [{ bootProofs: [bootProof], appProofs, activity }, options], verdictOf],
  [
    "verifyEvidence",
    [
      { bootProofs: [debugged.bootProof], appProofs: debugged.appProofs },
      { policy, now: NOW },
    ],
    verdictOf,
  ],
  [
    "verifyEvidence",
    [
      { bootProofs: [bootProof] },
      { policy: library.NO_POLICY_ANY_ENCLAVE, now: NOW, at: AT, trustAnchors: [anchor], measurements: PCRS },
    ],
    verdictOf,
  ],
  ["verifyBootProof", [debugged.bootProof, alone], verdictOf],
  ["verifyAppProof", [appProofs[0], bootProof, alone], verdictOf],
  ["verifyAppProofs", [appProofs, [bootProof], alone], verdictOf],
  ["verifyActivity", [activity, [bootProof], { ...alone, expected }], verdictOf],
  ["verifyAddressActivity", [activity, [bootProof], { ...alone, organizationId: expected.organizationId }]],
  ["requireDerivationPolicy", [policy]],
  ["joinAddresses", [addressLists, [], { organizationId: expected.organizationId }]],
  ["unplacedKeys", [addressLists, [], { organizationId: expected.organizationId }]],
  ["unplacedText", [{ activityId: "a", type: "t", address: null }]],
  ["isAcceptedClass", ["exported", ["imported"]]],
  ["readWallets", [addressLists]],
  ["readAccounts", [{ accounts: [] }, expected.organizationId]],
  ["readPrivateKeys", [addressLists]],
  ["verifyAttestation", [document, alone], verdictOf],
  ["verifySignedBytes", [signedBytes, { ...alone, expected: signedBytes.message }], verdictOf],
  ["verifySessionToken", [tokens.sessionToken(), { ...ofToken, namespace: "prod/notarizer", toleranceMs: 1 }]],
  ["verifyOtpToken", [tokens.otpToken(), ofToken]],
  [
    "verifySignedBundle",
    [
      tokens.signedBundle(),
      { ...ofToken, kind: "import", expected: { ...ofToken.expected, userId: tokenRoom.ANY_USER } },
    ],
  ],
  ["renderToken", [tokenReport, { width: 90 }]],
  [
    "appProofOf",
    [{ publicKey: document.slice(0, 130), payload: toUtf8("{}"), signature: Uint8Array.of(4, 2), scheme: "own" }],
  ],
  ["decodeActivity", [activity]],
  ["decodeAppProof", [appProofs[0]]],
  ["decodeBootProof", [bootProof]],
  [
    "reviewGenesis",
    [genesisOutput, { set: { threshold: 1, members: [genesisMember] }, drKey: null, userData: document }],
  ],
  ["parsePolicy", [policyFile, { readFile: () => anchorPem }]],
  ["checkPolicy", [policyFile, { readFile: () => anchorPem }]],
  ["selfContainedPolicy", [{ ...policyFile, trustAnchors: [{ file: "a.pem" }] }, { readFile: () => anchorPem }]],
  [
    "addToPolicy",
    [
      policyFile,
      { policy: { ...policyFile, deployments: [{ ...policyFile.deployments[0]!, name: "b" }] }, notes: [] },
      { drop: [], provenance: [] },
    ],
  ],
  ["dropDeployment", [twoDeployments, "b", {}]],
  ["compareMeasured", [policy, { pcrs: PCRS, pivotHash: new Uint8Array(32).fill(7) }]],
  ["makePolicy", [verified, { name: "n", appProofTypes: ["a"] }]],
  ["pinPolicy", [[verified], { appProofTypes: ["a"] }]],
  ["makeReleasePolicy", [release, "signer", releaseOptions]],
  ["policyFromRelease", [release, "signer", releaseOptions]],
  [
    "makeBuildPolicy",
    [
      { pcrs: PCRS, pivotHash: new Uint8Array(32).fill(7) },
      { ...releaseOptions, trustAnchors: [anchor] },
    ],
  ],
  ["renderText", [report, text]],
  ["renderText", [report]],
  ["renderSummary", [report, { color: true, width: 100 }, [{ kind: "warning", text: "a" }]]],
  ["renderPolicyCheck", [check, "p", { width: 90 }]],
  ["renderInspection", [inspection, { width: 90 }]],
  ["renderDiff", [difference, { width: 90 }]],
  [
    "reviewManifest",
    [
      reviewedManifest,
      {
        policy,
        previous: reviewedManifest,
        measured: { pcrs: PCRS, pivotHash: new Uint8Array(32).fill(7) },
        approvals: [approval],
        accept: ["dns"],
      },
    ],
  ],
  ["readRelease", [releaseFiles, { version: "2026.9.0", application: "signer" }]],
  [
    "checkReleases",
    [[published], { noManifestSet: true, applications: ["signer"], namespaces: ["prod/signer"], skipUnapproved: true }],
  ],
  ["releasePolicy", [[published], { applications: ["signer"], name: "n", appProofTypes: ["a"] }]],
  ["renderReleaseCheck", [releaseCheck, { width: 90 }]],
  ["renderReview", [review, { width: 90 }]],
  ["renderCheckExplanation", [library.explainCheck("mode.debug"), { width: 90 }]],
  [
    "inspectUnverified",
    [toUtf8("version: 1\nsigner:\n  PCR0: a\n"), { readYaml: async () => release }],
    (found) => found ?? "of no known kind",
  ],
  ["diffUnverified", [{ file: toUtf8(policyText), readFile: () => anchorPem }, { file: toUtf8(policyText) }]],
  ["packEvidence", [{ bootProofs: [bootProof], appProofs, activity }]],
  [
    "packBundle",
    [
      { bootProofs: [bootProof], activity },
      { policy: { ...policyFile, maxAge: "1d" }, now: NOW, expected: { organizationId: expected.organizationId } },
    ],
    (made: Awaited<ReturnType<typeof bundles.packBundle>>) => [verdictOf(made), made.bundle?.policy, made.bundle?.now],
  ],
  [
    "verifyBundle",
    [bundle, { policy, now: NOW, at: AT }],
    (made: bundles.BundleVerification) => [verdictOf(made), made.packed],
  ],
  [
    "verifyBundle",
    [
      { ...bundle, evidence: { bootProofs: [debugged.bootProof] } },
      { policy, now: NOW },
    ],
    verdictOf,
  ],
  ["plainOptions", [{ policy, now: NOW, at: AT, measurements: PCRS, expected }]],
  ["auditSetting", [{ policy, now: NOW, at: AT, bootProofs: ["a"] }]],
  ["auditSetting", [{ policy: library.NO_POLICY_ANY_ENCLAVE, now: NOW, trustAnchors: [anchor] }]],
  ["policyDigest", [setting]],
  ["settingDigest", [setting]],
  ["inputBytes", [[input]]],
  ["isResult", [lines[0]!.entry]],
  ["renderEar", [report, { key: earKey }]],
  ["renderEar", [report]],
  ["renderVsa", [report, { bootProofs: [bootProof], appProofs, activity }, {}]],
  ["pinProvenance", [build, { repository: BUILD.repository, trustedRoot: { file: "root.json" } }]],
  [
    "pinProvenance",
    [released, { repository: "acme/oracle", githubRelease: true, tenant: "acme", trustedRoot: { file: "root.json" } }],
  ],
  ["labProvenancePin", [{ file: "root.json" }, { ref: "refs/tags/v2" }]],
  ["labReleasePin", [{ file: "root.json" }, { tag: "v2" }]],
  ["decodeBundle", [packed], ({ evidence }) => evidence],
  [
    "verifyEvidence",
    [
      { bootProofs: [bytesOf(answering.bootProof)], appProofs: [bytesOf(appProofs[0])], activity: bytesOf(activity) },
      { ...unpinned, ephemeralKey: forgeLab.ephemeralKey.publicKey, nonce: Uint8Array.of(1, 2, 3) },
    ],
    verdictOf,
  ],
  ["verifyBootProof", [bytesOf(debugged.bootProof), alone], verdictOf],
  ["verifyAppProof", [bytesOf(appProofs[0]), bytesOf(bootProof), alone], verdictOf],
  ["verifyAppProofs", [[bytesOf(appProofs[0])], [bytesOf(bootProof)], alone], verdictOf],
  ["verifyActivity", [bytesOf(activity), [bytesOf(bootProof)], alone], verdictOf],
  [
    "verifyAddressActivity",
    [bytesOf(activity), [bytesOf(bootProof)], { ...alone, organizationId: expected.organizationId }],
  ],
  ["decodeActivity", [bytesOf(activity)]],
  ["decodeAppProof", [bytesOf(appProofs[0])]],
  ["decodeBootProof", [bytesOf(bootProof)]],
  ["decodeGenesisOutput", [genesisOutput]],
  ["decodeProvenanceBundle", [build]],
  ["decodeAttestationDocument", [document]],
  ["decodeCertificate", [decode.decodeAttestationDocument(document).certificate.der]],
  ["decodeManifest", [encodeManifest(whole.manifest, { encoding: "json" })]],
  ["decodeManifest", [reviewedManifest]],
  ["decodeManifestEnvelope", [fromBase64(bootProof["qosManifestEnvelopeB64"] as string)!]],
  ["decodeBundle", [bytesOf(packed)], ({ evidence }) => evidence],
  ["parsePolicy", [bytesOf(policyFile)]],
  ["selfContainedPolicy", [bytesOf(policyFile), {}]],
  ["inspectUnverified", [document]],
  ["inspectUnverified", [bytesOf(bootProof)]],
  ["inspectUnverified", [toUtf8(Buffer.from(document).toString("base64"))]],
  ["checkPolicy", [bytesOf(policyFile)]],
  ["addToPolicy", [bytesOf(policyFile), { policy: policyFile, notes: [] }]],
  ["dropDeployment", [bytesOf(twoDeployments), "b"]],
  ["describeUnrecognised", [bytesOf("<html>")]],
  ["kindOf", [bytesOf(bootProof)]],
  ["diffUnverified", [bytesOf(bootProof), bytesOf(debugged.bootProof)]],
  ["diffUnverified", [debugged.document, document]],
  ["diffUnverified", [answering.document, document]],
  ["diffUnverified", [bytesOf({ ...policyFile, maxAge: "1d" }), bytesOf(policyFile)]],
  ["diffUnverified", [bytesOf({ ...packed, appProofs: [] }), bytesOf(packed)]],
  ["packEvidence", [{ bootProofs: [bytesOf(bootProof)] }]],
  ["packBundle", [{ bootProofs: [bytesOf(bootProof)] }, { policy: policyFile, now: NOW }], verdictOf],
  ["pinProvenance", [bytesOf(build), { repository: BUILD.repository, trustedRoot: { file: "r" } }]],
  ["readCheckpoint", [toUtf8(logNote), { key: logKeys.publicKey }]],
];

/** Calls that a test has to prepare, or whose answer takes more than one step. */
const PREPARED: Readonly<Record<string, readonly Door[]>> = {
  NamedEvidence: [
    door(
      ["a", bootProof, { bytes: bytesOf(bootProof), latestOf: "signer", ephemeralKey: Uint8Array.of(4) }] as const,
      (...all) => {
        const { bytes, latestOf, ephemeralKey } = new library.NamedEvidence(...all);
        return { bytes, latestOf, ephemeralKey };
      },
    ),
    door([bytesOf(bootProof)], (bytes) =>
      library.verifyBootProof(new library.NamedEvidence("a", bytes), alone).then(verdictOf),
    ),
  ],
  compareBuild: [
    door(
      [{ pivotHash: forgeLab.pivotHash }, { provenance: [build], provenanceVerifier: noBuild }] as const,
      (measured, one) => author.compareBuild(buildPolicy, measured, one),
    ),
    door([forgeLab.pivotHash, bytesOf(build)], (pivotHash, bundle) =>
      author.compareBuild(buildPolicy, { pivotHash }, { provenance: [bundle], provenanceVerifier: sigstoreVerify }),
    ),
  ],
  "AppProofUses.record": [
    door([{ activityId: "a", submitted: null }], async (use) => {
      const uses = new library.AppProofUses();
      const bytes = new Uint8Array(2);
      const proof = { bootProof: { ephemeralKey: bytes }, payload: { timestampMs: 1 }, payloadDigest: bytes } as never;
      uses.record([proof], use);
      await Promise.resolve();
      return uses.areFree([proof], { activityId: "b", submitted: null });
    }),
  ],
  openSignedPolicy: [
    door([{ signers: { name: "a", threshold: 1, keys: [SIGNER] }, refreshMs: 5, now: () => AT }], async (given) => {
      const feed = { source: async () => "{}", onNotice: () => {} };
      const opened = openSignedPolicy(Object.assign(given, feed) as never);
      return opened.catch((error: SignedPolicyError) => [error.code, String(error)]);
    }),
  ],
  createClient: [
    door(
      [{ baseUrl: "https://a.test", organizationId: ORGANIZATION, stamper, maxRetries: 0, now: () => AT }],
      async (given) => {
        const asked: unknown[] = [];
        const fetch = (async (url: string, init: RequestInit) => {
          asked.push(url, Buffer.from(init.body as Uint8Array).toString());
          return new Response("{}", { status: 403 });
        }) as unknown as client.Fetch;
        const made = client.createClient(Object.assign(given, { fetch }));
        await Promise.resolve();
        await made.query("get_whoami", {}).catch(() => {});
        return asked;
      },
    ),
  ],
  "client.submit": [
    door(
      [{ name: "do_it", type: "ACTIVITY_TYPE_DO_IT" }, { a: { b: [1, "c"] } }, { ...CALL, generateAppProofs: false }],
      (...all) => sent((one) => one.submit(...all)),
    ),
  ],
  "client.query": [door(["get_it", { a: { b: [1] } }, CALL], (...all) => sent((one) => one.query(...all)))],
  "client.updateWallet": [door([WALLET, CALL], (...all) => sent((one) => one.updateWallet(...all)))],
  "client.withVerification": [{}, { boot: DEBUG }].map((how) =>
    door([policyOf(), { bootProofLimit: 3, bootProofMaxAgeMs: 1000 }], async (...all) => {
      const made = (await new AttestedService(how).client()).withVerification(...all);
      const answer = await made.updateWallet(WALLET).catch((error: library.RejectedError) => error);
      return answer.report.verdict;
    }),
  ),
  createDoor: [{}, { boot: DEBUG }].map((how) =>
    door([{ policy: policyOf(), bootProofLimit: 3 }], async (options) => {
      const service = new AttestedService(how);
      const shared = adapters.createDoor(Object.assign(options, { now: () => service.now }));
      const made = (await service.client()).withVerification(shared);
      const answer = await made.updateWallet(WALLET).catch((error: library.RejectedError) => error);
      return answer.report.verdict;
    }),
  ),
  "verified.submit": [
    door([{ name: "update_wallet", type: "ACTIVITY_TYPE_UPDATE_WALLET" }, WALLET, CALL], (...all) =>
      proven((one) => one.submit(...all)),
    ),
  ],
  "verified.updateWallet": [door([WALLET, CALL], (...all) => proven((one) => one.updateWallet(...all)))],
  "verified.verifyActivity": [
    door([past as unknown as JsonValue, { ...CALL, expected: { id: past.id, type: past.type } }], async (...all) => {
      const made = await serviceClient.withVerification(policyOf()).verifyActivity(...all);
      return [made.report.verdict, made.activity, made.report.claims?.activity];
    }),
  ],
  "verified.verifyAppProofs": [
    door([[receivedHalf], { expected: ofGreeting, schemas: { [GREETING]: schema } }], async (...all) => {
      const made = serviceClient.withVerification(policyOf()).verifyAppProofs(...all);
      const { report: greeted, payloads, others } = await made;
      type Greeted = client.VerifiedAppProofs<{ [GREETING]: typeof schema }>["payloads"][number];
      const [{ payload, value, expectation }] = payloads as readonly [Greeted];
      return [greeted.verdict, payloads.length, others.length, payload, value, expectation];
    }),
  ],
  "verified.addresses": [
    door([{ organizationId: ORGANIZATION, addresses: ["0xa"], privateKeys: false }], (...all) =>
      sent(async (one) => {
        for await (const row of one.withVerification(policyOf()).addresses(...all)) return row;
        return null;
      }),
    ),
  ],
  openSession: [
    door([{ userId: "u", apiKeyName: "n" }, CALL], (...all) =>
      sent((one) => client.openSession(one, ...all)).then((answer) =>
        JSON.stringify(answer).replace(/"targetPublicKey":"[0-9a-f]+"/, ""),
      ),
    ),
  ],
  fetchEvidence: [
    door([activity as JsonValue], (one) => client.fetchEvidence(one, async (key) => key).then((found) => found)),
  ],
  withAppProofs: [
    door([{ id: "a", other: { b: 1 } } as JsonValue], (one) =>
      client.withAppProofs(async (_, parameters) => ({ appProofs: [parameters] }), one),
    ),
  ],
  writeApiKeyFile: [
    door([apiKey], async (key) => {
      const path = join(folder, `key-${logs++}.json`);
      await keyFile.writeApiKeyFile(path, key);
      return (await keyFile.readApiKeyFile(path)).key;
    }),
  ],
  "SignatureCache.verify": [
    door([Uint8Array.of(4, ...new Uint8Array(64).fill(1))], (bytes) =>
      new library.SignatureCache().verify("P-256", bytes, bytes, bytes),
    ),
  ],
  "SignatureCache.key": [
    door([verified.ephemeralKey.slice(65)], (point) => new library.SignatureCache().key("P-256", point).then(Boolean)),
  ],
  verified: [
    door(
      [
        { organizationId: ORGANIZATION, allowUnproven: [] },
        { type: "ACTIVITY_TYPE_UPDATE_WALLET", parameters: WALLET },
      ],
      async (own, input) => {
        const honest = new AttestedService();
        const options = Object.assign(own, { policy: policyOf(), now: () => honest.now });
        const made = adapters.verified(new WrappedClient({ fetch: honest.fetch }), options);
        const { activity: answered } = await made.updateWallet({ timestampMs: String(honest.now.getTime()), ...input });
        return [answered["intent"], answered["result"], adapters.reportOf(answered)?.verdict];
      },
    ),
  ],
  verifiedFetch: [
    door([{ allowUnproven: false, otherOrigins: [] }, { parameters: WALLET }], async (own, input) => {
      const honest = new AttestedService();
      const timestampMs = String(honest.now.getTime());
      const envelope = { type: "ACTIVITY_TYPE_UPDATE_WALLET", organizationId: ORGANIZATION, timestampMs };
      const body = JSON.stringify({ ...envelope, generateAppProofs: true, ...input });
      const evidence = Object.freeze(clientOf(honest.fetch, () => honest.now));
      const mine = { evidence, baseUrl: "https://service.test", policy: policyOf(), now: () => honest.now };
      const fetching = adapters.verifiedFetch(Object.assign(own, mine, { fetch: honest.fetch }));
      const init = { method: "POST", headers: { "X-Stamp": "a" }, body };
      const response = await fetching("https://service.test/public/v1/submit/update_wallet", init);
      const { activity } = (await response.json()) as { activity: JsonObject };
      return [activity["intent"], activity["result"], adapters.reportOf(response)?.verdict];
    }),
  ],
  stamperFrom: [
    door([Object.freeze({ stamp: async () => ({ stampHeaderName: "X-Stamp", stampHeaderValue: "a" }) })], (theirs) =>
      adapters.stamperFrom(theirs).stamp(toUtf8("{}") as Uint8Array & string),
    ),
  ],
  apiKeyStamper: [
    door([apiKey], async (key) => Object.keys(await (await client.apiKeyStamper(key)).stamp(toUtf8("{}")))),
    // The stamp must cover the original bytes.
    door([toUtf8('{"a":1}')], async (body) => isStamped((await ownStamper.stamp(body)).value, toUtf8('{"a":1}'))),
  ],
  webauthnStamper: [
    door(
      [
        {
          rpId: "a",
          allowCredentials: [{ type: "public-key", id: Uint8Array.of(1), transports: ["usb"] }],
          timeoutMs: 5,
        },
        toUtf8("{}"),
      ] as const,
      async (given, body) => {
        let asked: unknown;
        const get = async (request: unknown): Promise<unknown> => {
          asked = clone(request);
          return null;
        };
        const stamper = client.webauthnStamper(
          Object.assign(given, { get }) as unknown as client.WebauthnStamperOptions,
        );
        await stamper.stamp(body).catch(() => {});
        return asked;
      },
    ),
  ],
  verifyWebhook: [
    door([{ rawBody: delivery, headers, jwks: JWKS, now: AT }], async (given) =>
      client.verifyWebhook(Object.assign(given, { store: new client.MemoryEventStore() })),
    ),
  ],
  webhookHandler: [
    door([handlerOptions], async (given) => {
      const handle = client.webhookHandler(given);
      await Promise.resolve();
      const request = new Request("https://a.test", { method: "POST", body: delivery as BodyInit, headers });
      return (await handle(request as never)).status;
    }),
  ],
  nodeWebhookHandler: [
    door([handlerOptions], async (given) => {
      const handle = client.nodeWebhookHandler(given);
      await Promise.resolve();
      return new Promise((resolve) => {
        const response = {
          statusCode: 0,
          headersSent: false,
          setHeader: () => {},
          end: () => resolve(response.statusCode),
        };
        const rawHeaders = Object.entries(headers).flat();
        handle({ method: "POST", rawHeaders, body: delivery, on: () => {}, resume: () => {} }, response);
      });
    }),
  ],
  "MemoryEventStore.claim": [
    door(["a", NOW, AT] as const, async (...all) => {
      const store = new client.MemoryEventStore();
      store.claim(...all);
      await Promise.resolve();
      return store.claim("a", NOW, AT);
    }),
  ],
  evidenceInPage: [door([toUtf8(html)] as const, (one) => Promise.resolve(bundles.evidenceInPage(one)))],
  renderPage: [door([pageContent], (one) => pageWith(script, one))],
  "Auditor.of": [
    door([setting], async (one) => {
      const auditor = await run.Auditor.of(one);
      return [auditor.bootProofs, await auditor.judge(entries[0]!), await auditor.judge(entries[1]!)];
    }),
  ],
  localJudge: [door([setting], async (one) => (await run.localJudge(one)).judge(batch))],
  "localJudge().judge": [door([batch], (one) => judge.judge(one))],
  judgeBatch: [door([batch], (one) => run.judgeBatch(auditor, one))],
  "Auditor.judge": [door([entries[0]!], (bytes) => auditor.judge(bytes))],
  auditFiles: [
    door([{ inputs: [input], setting, batchEntries: 2 }], async (given) => {
      const parts: string[] = [];
      const out = (text: string): void => void parts.push(text);
      const { end, total } = await runNode.auditFiles(Object.assign(given, { out, judge: run.localJudge }));
      return [end, total, parts];
    }),
  ],
  watch: [
    door([watchOptions], async (given) => {
      const { refused, recorded } = await run.watch(given);
      return { refused, recorded };
    }),
  ],
  askService: [
    door([{ ephemeralKey: "00" }], (one) =>
      sent((ofClient) => run.askService(ofClient)(one, new AbortController().signal)),
    ),
  ],
  verifyRun: [
    door([{ head: lines.at(-1)!.hash }], (one) =>
      run.verifyRun([{ name: null, stream: streamOf(toUtf8(logText), 50) }], one),
    ),
    door([{}], (one) => run.verifyRun([{ name: null, stream: streamOf(toUtf8(logText), 50) }], one)),
    door([{ checkpoint: { ...(await run.readCheckpoint(logNote)) } }], (one) =>
      run.verifyRun([{ name: null, stream: streamOf(toUtf8(logText), 50) }], one),
    ),
    door([{ after: { entries: 0, head: "0".repeat(64) }, maxGapMs: 1, now: AT }], (one) =>
      run.verifyRun([{ name: null, stream: streamOf(toUtf8(logText), 50) }], one),
    ),
  ],
  signCheckpoint: [
    door([{ origin: "bootproof-log/a", entries: 3, head: lines.at(-1)!.hash }], (given) =>
      run.signCheckpoint(given, logKeys.privateKey),
    ),
  ],
  readCheckpoint: [
    door([{ key: logKeys.publicKey, origin: "bootproof-log/a" }], (given) => run.readCheckpoint(logNote, given)),
  ],
  postTo: [
    door([{ sleep: () => new Promise<void>(() => {}), timeoutMs: 7 }], async (given) => {
      const fetch = (async () => new Response(null, { status: 200 })) as unknown as client.Fetch;
      const post = run.postTo("https://a.test", Object.assign(given, { fetch }));
      await Promise.resolve();
      await post(lines[0]!, new AbortController().signal);
      return "posted";
    }),
  ],
  runCommand: [
    door([{ timeoutMs: 20_000, env: { WORD: "right", PATH: process.env["PATH"] } }], async (given) => {
      const deliver = runNode.runCommand('test "$WORD" = right', given);
      await Promise.resolve();
      await deliver(lines[0]!, new AbortController().signal);
      return "ran";
    }),
  ],
  startHealth: [
    door(
      [{ subject: { command: "watch", watched: [{ app: "a" }], inputs: ["b"] }, now: () => NOW, monotonic: () => 0 }],
      async (given) => (await runNode.startHealth(given as runNode.HealthOptions)).state(),
    ),
  ],
  openLog: [
    door([{ onNote: () => {} }], async (given) => {
      const path = join(folder, `${logs++}.log`);
      const { log, close } = await runNode.openLog(path, given);
      await log.record(NOW, (await run.readLine(lines[0]!.bytes)).entry);
      await close();
      return readFileSync(path, "utf8");
    }),
  ],
  "RunFile.open": [
    door([{ onNote: () => {} }], async (given) => {
      const path = join(folder, `${logs++}.log`);
      const file = await runNode.RunFile.open(path, given);
      await file.append(lines[0]!);
      await file.close();
      return readFileSync(path, "utf8");
    }),
  ],
  "RunFile.append": [
    door([lines[0]!], async (line) => {
      const path = join(folder, `${logs++}.log`);
      const file = await runNode.RunFile.open(path);
      await file.append(line);
      await file.close();
      return [file.end, readFileSync(path, "utf8")];
    }),
  ],
  bundleNotices: [
    door([{ policyFrom: "bundle", packed: { now: "n", verdict: "verified", differences: [] } } as BundleFacts], (one) =>
      formats.bundleNotices(one, "verified"),
    ),
  ],
  measureImage: [
    door([{ onProgress: () => {} }], (one) => image.measureImage(streamOf(imageOf({ sections: SECTIONS }), 500), one)),
  ],
  readImageContents: [
    door([{ onProgress: () => {} }], (one) =>
      image.readImageContents(streamOf(imageOf({ sections: SECTIONS }), 500), one),
    ),
  ],
  measureBinary: [door([{ onProgress: () => {} }], (one) => image.measureBinary(streamOf(toUtf8("a"), 1), one))],
  verifiedCallFor: [
    {
      given: () => [{ walletId: "w" }, { id: "a" }],
      through: (result, activity) => lab.verifiedCallFor(result, activity as { id: string }),
    },
  ],
  startLab: [
    door(
      [
        {
          ...{ faults: ["stale-manifest"], now: () => AT, manifestVersion: "v2" },
          applications: [{ name: "a", binaryDigest: new Uint8Array(32), args: ["b"], sign: { names: "template" } }],
        },
      ],
      async (given) => {
        const made = await lab.startLab(given as lab.LabOptions);
        const { policyFile } = made.application("a");
        const proof = await made.application("a").sign("{}");
        await made.close();
        const { pivotHash, pivotArgs } = policyFile.deployments[0]!;
        const isDebugAllowed = [made, made.application("a")].map((one) => Object.hasOwn(one.policyFile, "allowDebug"));
        return [made.faults, pivotHash, pivotArgs, Object.keys(proof), isDebugAllowed];
      },
    ),
  ],
  "lab.application().sign": [
    door([{ a: { b: "c" } }, { names: "template", fault: null, challenge: "/a/b" }] as const, async (payload, one) =>
      application.sign(payload, one).then((proof) => [Object.keys(proof), proof["payload"]]),
    ),
  ],
  "lab.addRelease": [
    door([{ app: "signer", manifestVersion: "v2" }] as const, async (given) => {
      const { app, enclaveId } = await theLab.addRelease(given);
      return [app, enclaveId.replace(/\d+$/, ""), Object.hasOwn(theLab.policyFile, "allowDebug")];
    }),
  ],
  "lab.setFault": [
    door([["stale-manifest"]] as const, async (names) => {
      theLab.setFault(names);
      await Promise.resolve();
      const { faults } = theLab;
      theLab.setFault(null);
      return faults;
    }),
  ],
  "lab.setSettings": [
    door([{ order: "oldest", rateLimit: { requests: 1000, perMs: 1000 } }] as never, async (given) => {
      theLab.setSettings(given);
      theLab.setSettings({});
      return "set";
    }),
  ],
  "lab.addAccounts": [door([{ count: 1 }], (given) => theLab.addAccounts(given).then((id) => typeof id))],
  "lab.setNonces": [
    door([{ caip2: "eip155:1", address: "0x00", nonce: "1", gasStationNonce: "2" }], (one) =>
      theLab.setNonces(one).then(() => "set"),
    ),
  ],
  "lab.registerPasskey": [
    door([{ credentialId: "c", publicKey: passkey.publicKey }], (one) =>
      theLab.registerPasskey(theLab.ids.userId, one).then(() => "registered"),
    ),
  ],
  "lab.attest": [door([Uint8Array.of(1)], (nonce) => Object.keys(theLab.attest(theLab.enclaves[0]!.enclaveId, nonce)))],
  stampWithApiKey: [door([apiKey], (one) => lab.stampWithApiKey(one, "a").length > 0)],
  labPolicy: [
    door([[{ name: "a" }], { maxAge: "1d" }], (deployments, rest) => {
      const made = lab.labPolicy(anchorPem, deployments, rest);
      return JSON.stringify(made);
    }),
  ],
  forgeEvidence: [
    door([{ lab: forgeLab, at: AT, nonce: Uint8Array.of(1) }], (one) => {
      const made = lab.forgeEvidence(one);
      return [made.manifestHash, made.appProofs.length, made.manifest.version];
    }),
  ],
  LabSigstore: [door([{ kind: "private" }] as const, (one) => Object.keys(new lab.LabSigstore(one).trustedRoot))],
  "LabSigstore.attest": [
    door([{ at: AT, digest: Uint8Array.of(1), build: { ref: "refs/tags/v2" } }], (one) => {
      const { dsseEnvelope } = JSON.parse(new lab.LabSigstore().attest(one)) as { dsseEnvelope: { payload: string } };
      return dsseEnvelope.payload;
    }),
  ],
  Forge: [door([{ namespace: { name: "a", nonce: 1 } }], (one) => new lab.Forge(one).namespace.name)],
  "SoftwarePasskey.get": [
    door([{ publicKey: { challenge: Uint8Array.of(1), rpId: "a" } }], (one) =>
      passkey.get(one).then(({ response }) => Buffer.from(response.clientDataJSON).toString()),
    ),
  ],
};

const DOORS = new Map(Object.entries(PREPARED));
for (const [name, given, told = (answer: unknown) => answer] of CALLS) {
  const call = (...all: readonly unknown[]): unknown =>
    (exportedFunctions().get(name) as (...all: unknown[]) => unknown)(...all);
  const through = async (...all: readonly unknown[]): Promise<unknown> => told((await call(...all)) as never);
  DOORS.set(name, [...(DOORS.get(name) ?? []), door(given, through)]);
}

/** These take text, numbers, streams, or objects of this package. What takes nothing, and errors, need no name. */
const WITHOUT_OBJECTS: readonly (string | RegExp)[] = [
  "readLine",
  ...[
    /^Verified[A-Z]\w+(?:\.isVerified)?$/,
    /^ExpectedEntries(?:\.|$)/,
    /^RunFile(?:\.(?!open$|append$)|$)/,
    /^RunLog(?:\.|$)/,
  ],
  ...[/^fetch(?:Activity|BootProof|LatestBootProof)$/, /^require(?:Authentic|Verified|LogKey)$/],
  ...[/^render(?:Github|Json|Junit|Markdown|Sarif|Verifier)$/, /^measure(?:Instance|Role)$/],
  ...[/^lab\.(?:application(?:\(\)\.(?:setFault|signBytes))?|restartEnclave|stopEnclave)$/],
  "compareImages",
  "diffImages",
  // Tested with threads and a server: test/run/node-threads.test.ts, test/run/queue.test.ts.
  ...["threadJudge", "queueJudge", "runWorker"],
  "decodeAppProofPayload",
  "AppProofUses",
  "manifestHash",
  "SignatureCache",
  "parseTrustAnchor",
  "describePolicy",
  "inspectImageUnverified",
  "explainCheck",
  ...["reportOf", "tokenReportOf", "isUnproven"],
  "generateApiKey",
  "createSessionTarget",
  "openCredentialBundle",
  "encryptOnRampSecret",
  "MemoryEventStore",
  "readApiKey",
  "readApiKeyFile",
  "Auditor",
  "isAccepted",
  "originOf",
  "vkeyOf",
  "runStreams",
  "SoftwarePasskey",
  "writeLabFiles",
  "labDeployment",
  "AppProofUses.areFree",
  "SignatureCache.verifyBy",
  "MemoryEventStore.release",
  "Stamper.stamp",
];
const takesNoObject = (name: string): boolean =>
  WITHOUT_OBJECTS.some((one) => (typeof one === "string" ? one === name : one.test(name)));

/** As the SDKs make their clients: methods are arrow functions that end in `request`. */
class WrappedClient {
  readonly updateWallet: (input: object) => Promise<{ readonly activity: JsonObject }>;
  readonly #fetch: typeof fetch;

  readonly config: { readonly fetch: typeof fetch };

  constructor(config: { readonly fetch: typeof fetch }) {
    this.config = config;
    this.#fetch = config.fetch;
    this.updateWallet = async (input) =>
      (await this.request("/public/v1/submit/update_wallet", input)) as { activity: JsonObject };
  }

  async request(path: string, body: unknown): Promise<unknown> {
    const init = { method: "POST", body: JSON.stringify(body), headers: { "X-Stamp": "a" } };
    return (await this.#fetch(`https://service.test${path}`, init)).json();
  }
}

/** By name. */
function exportedFunctions(): ReadonlyMap<string, { readonly prototype: unknown }> {
  const verifying = [library, addresses, author, bundles, decode, tokenRoom, { openSignedPolicy }];
  const files = [diffing, inspecting, releasing, reviewing, formats, image];
  const entries = [...verifying, ...files, adapters, client, keyFile, page, run, runNode, runQueue, lab];
  const all = entries.flatMap((entry) => Object.entries(entry) as [string, unknown][]);
  return new Map(
    all.filter((pair): pair is [string, { readonly prototype: unknown }] => typeof pair[1] === "function"),
  );
}

/** Every exported function and class, and the methods of classes and results. */
function everything(): string[] {
  const exported = [...exportedFunctions()].filter(([, value]) => !(value.prototype instanceof Error));
  const answered: readonly (readonly [string, unknown])[] = [
    ...exported.map(([name, value]) => [name, value.prototype] as const),
    ...exported.filter(([, value]) => /^class/.test(String(value))),
    ["client", clientOf(fetch, () => AT)],
    ["verified", clientOf(fetch, () => AT).withVerification(policyOf())],
    ["lab", theLab],
    ["lab", Object.getPrototypeOf(theLab)],
    ["lab.application()", application],
    ["localJudge()", judge],
    ["Stamper", stamper],
  ];
  const names = [...exported.map(([name]) => name), ...answered.flatMap(([name, value]) => methodsOf(name, value))];
  // One table and one loop make all documented calls, so one is tested.
  const isAlike = (name: string): boolean =>
    /^(?:client|verified)\./.test(name) && !DOORS.has(name) && DOCUMENTED.has(name.split(".")[1]!);
  return [...new Set(names)].filter((name) => !isAlike(name));
}

const DOCUMENTED = new Set([...Object.keys(client.SUBMIT_OPERATIONS), ...Object.keys(client.QUERY_OPERATIONS)]);
const OF_FUNCTIONS = ["constructor", "length", "name", "prototype", "arguments", "caller"];

function methodsOf(name: string, value: unknown): string[] {
  if (value === null || value === undefined || value === Object.prototype) return [];
  return Object.entries(Object.getOwnPropertyDescriptors(value as object))
    .filter(([member, one]) => typeof one.value === "function" && !OF_FUNCTIONS.includes(member))
    .filter(([, one]) => !/^(?:async )?(?:function )?\w*\(\)/.test(String(one.value)))
    .map(([member]) => `${name}.${member}`);
}

/** `provenance` is also a member of deployments: on a prototype it demands, and everything is refused. */
type OptionName = Exclude<
  | keyof (library.VerifyOptions & bundles.PackOptions & library.ParsePolicyOptions & library.TextOptions)
  | keyof (client.ClientOptions & client.SubmitOptions & client.VerificationOptions & client.VerifyAppProofsOptions)
  | keyof (adapters.VerifiedOptions & client.AddressesOptions & run.AuditOptions & runNode.AuditFilesOptions)
  | keyof (run.WatchOptions & run.VerifyRunOptions)
  | ("readYaml" | "latestOf" | "appProofTypes" | "toleranceMs" | "headerPrefix" | "maxBodyBytes" | "anchors"),
  Platforms | "evidence" | "walletId" | "addresses" | "privateKeys" | "provenance"
>;
/** What the platform itself reads, or the tests need. */
type Platforms = "signal" | "fetch" | "get" | "cache" | "stdin" | "log";

const never = (): never => {
  throw new Error("an option that nobody gave was called");
};

const each = <V, N extends string>(value: V, ...names: readonly N[]): Record<N, V> =>
  Object.fromEntries(names.map((name) => [name, value])) as Record<N, V>;

/**
 * Options that another dependency could put on `Object.prototype`, with values that loosen or are noticed. The platform
 * itself reads `signal`, `fetch`, `get`, `cache`, `stdin` and `log`, so these are missing.
 */
const LOOSENING = {
  policy: library.NO_POLICY_ANY_ENCLAVE,
  measurements: { 0: new Uint8Array(48) },
  ephemeralKey: new Uint8Array(130),
  nonce: Uint8Array.of(9),
  expected: { organizationId: "polluted" },
  schemas: { APP_PROOF_TYPE_LAB_GREETING: {} },
  acceptance: "strict",
  provenanceVerifier: { verify: never },
  width: 60,
  detail: "verbose",
  ...each("https://polluted.test", "baseUrl", "authProxyUrl"),
  maxRetries: 1000,
  allowUnproven: ["updateWallet"],
  pollIntervalMs: 1e6,
  accept: ["service"],
  verifyAddresses: true,
  parentOrganizationId: "polluted",
  maxAccounts: 0,
  ephemeralKeys: ["00"],
  head: "00",
  after: "any",
  toleranceMs: 1e15,
  headerPrefix: "X-Polluted-",
  ...each(new Date("2020-01-01T00:00:00Z"), "now", "at"),
  ...each([], "trustAnchors", "bootProofs", "inputs"),
  ...each(true, "allowDebug", "bootProofsOnly", "color", "resendSubmits", "generateAppProofs", "isNowGiven"),
  ...each(true, "onlyFailures", "failFast", "resume", "once", "allActivities"),
  ...each({}, "uses", "stamper", "door", "setting", "key", "activity", "anchors"),
  ...each(never, "readFile", "readYaml", "sleep", "random", "out", "judge", "onBootProofs", "onProgress", "newest"),
  ...each(never, "onEntry", "onRefusal", "onOutage", "reload", "onMessage", "onPoll", "onStatus", "onLine"),
  ...each(never, "onEnd", "onNote", "onRetry", "hashOf", "signUpEvidence"),
  ...each(1, "height", "timeoutMs", "maxResponseBytes", "batchEntries", "intervalMs", "outageRepeatMs"),
  ...each(1, "aliveMs", "maxAgeMs", "maxGapMs"),
  ...each(1, "maxSilenceMs", "maxBodyBytes"),
  ...each("polluted", "organizationId", "state", "checkpoint", "origin", "latestOf", "app"),
  ...each(0, "bootProofLimit", "bootProofMaxAgeMs", "pollAttempts", "outageAfter"),
  ...each(["polluted"], "apps", "appProofTypes", "crls", "signerKeys"),
} satisfies Readonly<Record<OptionName, unknown>>;

/** `expected` is also a member of checks, which readers of reports use; the lab's services read requests. */
const READS_REPORTS = /^(?:render|verifyBundle|startLab|lab\.)/;

function loosening(door: string): Readonly<Record<string, unknown>> {
  if (!READS_REPORTS.test(door)) return LOOSENING;
  return Object.fromEntries(Object.entries(LOOSENING).filter(([name]) => name !== "expected"));
}

it.each([...DOORS].flatMap(([name, doors]) => doors.map((one, index) => [name, index, one] as const)))(
  "arguments are read once, before anything is awaited, and own members only: %s, %i",
  async (name, _index, { given, through }) => {
    const before = await outcome(() => through(...(given() as never[])));
    expect(before).toBeDefined();
    expect(before).not.toHaveProperty("error");
    const { values, again, close, end } = observed(given());
    const answer = await polluted(loosening(name), () => {
      const pending = outcome(() => through(...(values as never[])));
      close();
      return pending;
    });
    end();
    expect(again).toEqual([]);
    expect(answer).toEqual(before);
  },
);

/** The members of the arguments that are options: those of each object in which the call looks for one more. */
async function optionsOfCall({ given, through }: Door): Promise<[there: Steps[], absent: Steps[]]> {
  const missed = new Map<string, Steps>();
  const mine = given();
  const spied = watched(mine, (steps) => missed.set(JSON.stringify(steps), steps)) as never[];
  await outcome(() => through(...spied));
  const holders = new Map(
    [...missed.values()].map((steps) => [JSON.stringify(steps.slice(0, -1)), steps.slice(0, -1)]),
  );
  // The last of more arguments is options, even if all of them are given.
  if (mine.length > 1 && isPlain(mine.at(-1))) holders.set(JSON.stringify([mine.length - 1]), [mine.length - 1]);
  const there = [...holders.values()].flatMap((steps) => namesAt(mine, steps).map((name) => [...steps, name]));
  return [there, [...missed.values()]];
}

/** Members that are data, not options; random and timed answers; `once`, without which watch would not end. */
const NOT_COMPARED: Readonly<Record<string, readonly string[]>> = {
  ...{ isResult: ["event"], verifiedCallFor: ["id"], watch: ["once"] },
  ...{ LabSigstore: ["kind"], startHealth: ["monotonic"] },
};
const LEAVE_OUT = /(?<![\w-])([\w-]+): undefined: leave it out, or give a value/g;
const demandsIn = (found: string): string[] => [...found.matchAll(LEAVE_OUT)].map(([, name]) => name!);

/** The demands of a call, and the options that change its answer if they are undefined instead of left out. */
async function undefinedIn(
  name: string,
  one: Door,
): Promise<{ readonly weaker: readonly Steps[]; readonly demands: string[] }> {
  const call = (members: readonly Steps[], how: "undefined" | "deleted"): Promise<unknown> =>
    outcome(() => one.through(...(changed(one.given(), members, how) as never[])));
  const isCompared = (steps: Steps): boolean => NOT_COMPARED[name]?.includes(String(steps.at(-1))) !== true;
  const [there, absent] = (await optionsOfCall(one)).map((all) => all.filter(isCompared)) as [Steps[], Steps[]];
  const demands: string[] = [];
  const changes = async (members: readonly Steps[]): Promise<boolean> => {
    const lost = await call(members, "undefined");
    const text = JSON.stringify(lost) ?? "";
    demands.push(...demandsIn(text));
    return (
      !/"(?:error":"|answer":\{"error":")?TypeError: /.test(text) && !isEqual(lost, await call(members, "deleted"))
    );
  };
  const alone = async (members: readonly Steps[]): Promise<Steps[]> => {
    const weaker: Steps[] = [];
    for (const steps of members) if (await changes([steps])) weaker.push(steps);
    return weaker;
  };
  await changes(absent);
  const others = absent.filter((steps) => !demands.includes(String(steps.at(-1))));
  return { weaker: [...((await changes(others)) ? await alone(others) : []), ...(await alone(there))], demands };
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const isError = (value: unknown): value is { readonly error: string } =>
  typeof (value as { readonly error?: unknown } | null | undefined)?.error === "string";

/** Ids that the service makes for each activity are not compared. */
function isEqual(one: unknown, other: unknown): boolean {
  const [first, second] = [one, other].map((each) => (isError(each) ? each.error.replaceAll(UUID, "id") : each));
  try {
    expect(first).toEqual(second);
    return true;
  } catch {
    return false;
  }
}

/** Options that demand something, by function: undefined is no value of theirs. */
const DEMANDS: Readonly<Record<string, string>> = {
  NamedEvidence: "ephemeralKey",
  ...each("pcrs pivotHash", "compareBuild", "compareMeasured"),
  openSignedPolicy: "state",
  ...each(
    "organizationId",
    "client.submit",
    "client.query",
    "client.updateWallet",
    "verified.submit",
    "verified.updateWallet",
    "openSession",
  ),
  ...each("acceptance maxAgeMs signerKeys", "client.withVerification", "createDoor"),
  ...each("acceptance maxAgeMs", "Auditor.of", "localJudge", "auditSetting", "settingDigest"),
  "verified.verifyActivity": "expected organizationId",
  "verified.verifyAppProofs": "addresses challenge organizationId payload requestedAt",
  "verified.addresses": "addresses allActivities organizationId",
  ...each(
    "acceptance allActivities authProxyUrl door maxAgeMs signerKeys verifyAddresses",
    "verified",
    "verifiedFetch",
  ),
  renderPage: "acceptance ephemeralKey expected maxAgeMs measurements nonce",
  auditFiles: "expected",
  watch: "acceptance apps ephemeralKeys maxAgeMs",
  verifyRun: "checkpoint head maxGapMs",
  readCheckpoint: "key origin",
  ...each("after checkpoint", "openLog", "RunFile.open"),
  verifyEvidence:
    "acceptance activity addresses appProofs crls ephemeralKey expected id maxAgeMs measurements nonce " +
    "organizationId parameters payload publicKey requestedAt type uses",
  ...each(
    "acceptance crls ephemeralKey expected maxAgeMs measurements nonce uses",
    "verifyBootProof",
    "verifyAppProof",
    "verifyAppProofs",
    "verifyAttestation",
  ),
  verifySignedBytes: "acceptance crls ephemeralKey maxAgeMs measurements nonce provenance publicKey scheme",
  ...each(
    "acceptance addresses crls ephemeralKey expected id maxAgeMs measurements nonce organizationId " +
      "parameters payload publicKey requestedAt type uses",
    "verifyActivity",
    "plainOptions",
  ),
  verifyAddressActivity: "acceptance activityId",
  verifySessionToken: "namespace publicKey sessionType userId",
  verifyOtpToken: "contact namespace publicKey verificationType",
  verifySignedBundle: "namespace",
  ...each("appProofTypes", "makePolicy", "pinPolicy"),
  ...each("appProofTypes manifestSet namespace quorumKey", "makeReleasePolicy", "policyFromRelease", "makeBuildPolicy"),
  reviewManifest: "measured",
  reviewGenesis: "userData",
  checkReleases: "applications manifestSet namespaces policy",
  releasePolicy: "addTo appProofTypes applications manifestSet",
  ...each("activity appProofs", "packEvidence", "renderVsa"),
  packBundle: "activity addresses expected id nonce organizationId parameters payload publicKey requestedAt type",
  verifyBundle: "acceptance appProofs crls ephemeralKey expected maxAgeMs measurements nonce uses",
  pinProvenance: "githubRelease of tenant",
};

it.each([...DOORS])(
  "an option that is undefined is as if it were left out, or a TypeError; a demand always is: %s",
  async (name, doors) => {
    const found = [];
    for (const one of doors) found.push(await undefinedIn(name, one));
    expect(found.flatMap(({ weaker }, index) => weaker.map((steps) => [index, ...steps]))).toEqual([]);
    const demands = [...new Set(found.flatMap((each) => each.demands))].sort();
    expect(demands.join(" ")).toBe(DEMANDS[name] ?? "");
  },
);

it("every function that demands is tested", () => {
  expect(Object.keys(DEMANDS).filter((name) => !DOORS.has(name))).toEqual([]);
});

it("every function and method is tested", () => {
  const all = everything();
  expect(all.filter((name) => !DOORS.has(name) && !takesNoObject(name))).toEqual([]);
  expect([...DOORS.keys()].filter((name) => !all.includes(name) || takesNoObject(name))).toEqual([]);
  const isUsed = (one: string | RegExp): boolean =>
    all.some((name) => (typeof one === "string" ? one === name : one.test(name)));
  expect(WITHOUT_OBJECTS.filter((one) => !isUsed(one))).toEqual([]);
});
