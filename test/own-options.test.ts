/**
 * Functions read their arguments once, before they first await, and only own members. Each table of shapes in src/ is
 * where a caller's object stands once. Functions that take more than options are called with objects and bytes that
 * change right after the call, with getters that return another value the second time, and while `Object.prototype`
 * has every member of those tables. Each has rows here, or takes none of those.
 */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { afterAll, expect, it } from "vitest";
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
import { openSignedPolicy } from "../src/signed-policy/index.js";
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
import { type Door, clone, door, isPlain, outcome, polluted, observed } from "./support/doors.js";
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
      { bootProofs: [answering.bootProof], appProofs: [appProofs[0]], activity },
      { ...unpinned, ephemeralKey: forgeLab.ephemeralKey.publicKey, nonce: Uint8Array.of(1, 2, 3) },
    ],
    verdictOf,
  ],
  ["decodeGenesisOutput", [genesisOutput]],
  ["decodeProvenanceBundle", [build]],
  ["decodeAttestationDocument", [document]],
  ["decodeCertificate", [decode.decodeAttestationDocument(document).certificate.der]],
  ["decodeManifest", [encodeManifest(whole.manifest, { encoding: "json" })]],
  ["decodeManifest", [reviewedManifest]],
  ["decodeManifestEnvelope", [fromBase64(bootProof["qosManifestEnvelopeB64"] as string)!]],
  ["selfContainedPolicy", [bytesOf(policyFile), {}]],
  ["inspectUnverified", [document]],
  ["inspectUnverified", [bytesOf(bootProof)]],
  ["inspectUnverified", [toUtf8(Buffer.from(document).toString("base64"))]],
  ["describeUnrecognised", [bytesOf("<html>")]],
  ["kindOf", [bytesOf(bootProof)]],
  ["diffUnverified", [bytesOf(bootProof), bytesOf(debugged.bootProof)]],
  ["diffUnverified", [debugged.document, document]],
  ["diffUnverified", [answering.document, document]],
  ["diffUnverified", [bytesOf({ ...policyFile, maxAge: "1d" }), bytesOf(policyFile)]],
  ["diffUnverified", [bytesOf({ ...packed, appProofs: [] }), bytesOf(packed)]],
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
  "client.submit": [
    door(
      [{ name: "do_it", type: "ACTIVITY_TYPE_DO_IT" }, { a: { b: [1, "c"] } }, { ...CALL, generateAppProofs: false }],
      (...all) => sent((one) => one.submit(...all)),
    ),
  ],
  "client.query": [door(["get_it", { a: { b: [1] } }, CALL], (...all) => sent((one) => one.query(...all)))],
  "client.updateWallet": [door([WALLET, CALL], (...all) => sent((one) => one.updateWallet(...all)))],
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
  askService: [
    door([{ ephemeralKey: "00" }], (one) =>
      sent((ofClient) => run.askService(ofClient)(one, new AbortController().signal)),
    ),
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
  "lab.setFault": [
    door([["stale-manifest"]] as const, async (names) => {
      theLab.setFault(names);
      await Promise.resolve();
      const { faults } = theLab;
      theLab.setFault(null);
      return faults;
    }),
  ],
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

/** These are taken as values and as bytes. */
const IN_BYTES: readonly unknown[] = [
  ...[bootProof, appProofs[0], activity, debugged.bootProof, answering.bootProof],
  ...[policyFile, twoDeployments, packed, build],
];
const inBytes = (value: unknown): unknown => {
  if (IN_BYTES.includes(value)) return bytesOf(value);
  if (Array.isArray(value)) return value.map(inBytes);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inBytes(member)]));
};

const DOORS = new Map(Object.entries(PREPARED));
for (const [name, given, told = (answer: unknown) => answer] of CALLS) {
  const call = (...all: readonly unknown[]): unknown =>
    (exportedFunctions().get(name) as (...all: unknown[]) => unknown)(...all);
  const through = async (...all: readonly unknown[]): Promise<unknown> => told((await call(...all)) as never);
  const forms = [given, inBytes(given) as readonly unknown[]].slice(0, takesBytes(given) ? 2 : 1);
  DOORS.set(name, [...(DOORS.get(name) ?? []), ...forms.map((form) => door(form, through))]);
}

function takesBytes(value: unknown): boolean {
  if (IN_BYTES.includes(value)) return true;
  return (Array.isArray(value) || isPlain(value)) && Object.values(value).some(takesBytes);
}

/** These only take options, of which nothing but their place in src/ has to be tested. */
const BY_SHAPES =
  "openSignedPolicy createClient client.withVerification createDoor verified.addresses auditFiles watch verifyRun " +
  "signCheckpoint readCheckpoint postTo runCommand startHealth openLog RunFile.open measureImage readImageContents " +
  "measureBinary lab.addRelease lab.setSettings lab.addAccounts LabSigstore";

/**
 * These take text, numbers, streams, or objects of this package. What takes nothing, and errors, need no name. Threads
 * and queues are tested with theirs: test/run/node-threads.test.ts, test/run/queue.test.ts.
 */
const WITHOUT_OBJECTS =
  "readLine compareImages diffImages threadJudge queueJudge runWorker decodeAppProofPayload AppProofUses " +
  "manifestHash SignatureCache parseTrustAnchor describePolicy inspectImageUnverified explainCheck reportOf " +
  "tokenReportOf isUnproven generateApiKey createSessionTarget openCredentialBundle encryptOnRampSecret " +
  "MemoryEventStore readApiKey readApiKeyFile Auditor isAccepted originOf vkeyOf runStreams SoftwarePasskey " +
  "writeLabFiles labDeployment AppProofUses.areFree SignatureCache.verifyBy MemoryEventStore.release " +
  "Stamper.stamp";
const PATTERNS: readonly RegExp[] = [
  /^Verified[A-Z]\w+(?:\.isVerified)?$/,
  /^ExpectedEntries(?:\.|$)/,
  /^RunFile(?:\.(?!open$|append$)|$)/,
  /^RunLog(?:\.|$)/,
  /^fetch(?:Activity|BootProof|LatestBootProof)$/,
  /^require(?:Authentic|Verified|LogKey)$/,
  /^render(?:Github|Json|Junit|Markdown|Sarif|Verifier)$/,
  /^measure(?:Instance|Role)$/,
  /^lab\.(?:application(?:\(\)\.(?:setFault|signBytes))?|restartEnclave|stopEnclave)$/,
];
const takesNoObject = (name: string): boolean =>
  WITHOUT_OBJECTS.split(" ").includes(name) || PATTERNS.some((pattern) => pattern.test(name));

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

const SRC = fileURLToPath(new URL("../src/", import.meta.url));
const SOURCES = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({ file, text: readFileSync(join(SRC, file), "utf8") }));

/** The members of all tables of shapes, as `file name shape`. */
const MEMBERS = SOURCES.filter(({ text }) => /typedOptions|MembersOf<|\boptions\(/.test(text)).flatMap(
  ({ file, text }) =>
    [...text.matchAll(/(\w+): (demand|optional|nullish)\(/g)].map(([, name, shape]) => [file, name!, shape!] as const),
);

/** The platform reads these, or they are members of evidence, policies, reports or the lab's forgeries. */
const DATA =
  "signal fetch get cache stdin log alg alterDocument alterManifest alter application approvals bundle " +
  "bootProof bytes commitment deployment encoding env envelope evidence fault faults file generation " +
  "githubRelease id judged labels manifestSet manifestVersion maxAge name namespace notApplied otherKey " +
  "parameters payload pinned pivotHash prefix predicateType provenance publicKey quorumKey reason refusedFor " +
  "required secret signature signedAt spelling stale type types userData activityId";
/** Options that are looked up where a caller gave none, with values that loosen. */
const LOOSENING: Readonly<Record<string, unknown>> = {
  ...{ activity: {}, origin: "polluted", organizationId: "polluted", authProxyUrl: "https://polluted.test" },
  readFile: never,
  provenanceVerifier: { verify: never },
};
/** The members of all tables but data: another dependency could put them on `Object.prototype`. */
const OPTIONS = new Map(
  MEMBERS.filter(([, name]) => !DATA.split(" ").includes(name)).map(([, name]) => [name, LOOSENING[name]]),
);
/** `expected` is also a member of checks, which readers of reports use. */
const OF_REPORTS = new Map([...OPTIONS].filter(([name]) => name !== "expected"));

function never(): never {
  throw new Error("an option that nobody gave was called");
}

it.each([...DOORS].flatMap(([name, doors]) => doors.map((one, index) => [name, index, one] as const)))(
  "arguments are read once, before anything is awaited, and own members only: %s, %i",
  async (name, _index, { given, through }) => {
    const before = await outcome(() => through(...(given() as never[])));
    expect(before).toBeDefined();
    expect(before).not.toHaveProperty("error");
    const { values, again, close, end } = observed(given());
    const { answer, inherited } = await polluted(/^render/.test(name) ? OF_REPORTS : OPTIONS, () => {
      const pending = outcome(() => through(...(values as never[])));
      close();
      return pending;
    });
    end();
    expect([again, inherited]).toEqual([[], []]);
    expect(answer).toEqual(before);
  },
);

/** Where a caller's object is read by a table of shapes. */
interface Place {
  readonly name: string;
  /** How often the object stands in the function, until its name is another's. */
  readonly stands: number;
  readonly awaitedBefore: number;
}

function placesIn({ file, text }: (typeof SOURCES)[number]): Place[] {
  const places: Place[] = [];
  const visit = (node: ts.Node, within: ts.FunctionLikeDeclaration | null): void => {
    const inside = ts.isFunctionLike(node) && "body" in node ? (node as ts.FunctionLikeDeclaration) : within;
    if (ts.isCallExpression(node) && /^(?:typedOptions|requireShape)$/.test(node.expression.getText()))
      places.push(placeOf(file, node, inside!));
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true), null);
  return places;
}

function placeOf(file: string, call: ts.CallExpression, { name, body, parent }: ts.FunctionLikeDeclaration): Place {
  const [given] = /\w+/.exec(call.arguments[1]!.getText())!;
  const [mentions, assigned, awaited] = [[], [], []] as [number[], number[], number[]];
  const visit = (node: ts.Node): void => {
    const { parent: above } = node;
    const isName = (ts.isPropertyAccessExpression(above) || ts.isPropertyAssignment(above)) && above.name === node;
    const isTarget = ts.isBinaryExpression(above) && above.left === node;
    if (ts.isIdentifier(node) && node.text === given && !isName && !isTarget) mentions.push(node.pos);
    if (ts.isBinaryExpression(node) && node.left.getText() === given) assigned.push(node.end);
    if (ts.isAwaitExpression(node)) awaited.push(node.end);
    ts.forEachChild(node, visit);
  };
  visit(body!);
  const place = `${file} ${name?.getText() ?? (parent as ts.NamedDeclaration).name?.getText() ?? ""}(${given})`;
  const until = Math.min(...assigned, Infinity);
  return {
    name: place.replace(" (", " constructor("),
    stands: mentions.filter((at) => at < until).length,
    awaitedBefore: awaited.filter((at) => at < call.pos).length,
  };
}

/** Before, these ask what the object is, or which names it has. */
const ASKED_BEFORE = [
  "inputs.ts settingOf(given)",
  "inputs.ts ownEvidence(evidence)",
  "inputs.ts copySignedBytes(given)",
  "client/session.ts openSession(options)",
  "door/door.ts optionsAtDoor(given)",
  "diff/diff.ts copied(isBytes)",
];
const PLACES = SOURCES.filter(({ file }) => file !== "decode/options.ts").flatMap(placesIn);

it.each(PLACES.map(({ name, ...place }) => [name, place] as const))(
  "a caller's object stands once, where a table of shapes reads it before anything is awaited: %s",
  (name, place) => {
    const stands = ASKED_BEFORE.includes(name) ? (expect.any(Number) as number) : 1;
    expect(place).toEqual({ stands, awaitedBefore: 0 });
  },
);

it("every place was found", () => {
  expect(PLACES.length).toBeGreaterThan(75);
  expect(ASKED_BEFORE.filter((name) => !PLACES.some((place) => place.name === name))).toEqual([]);
});

/** Options that demand something, wherever they are options: undefined is no value of theirs. */
const DEMANDS = (
  "acceptance activity activityId addTo addresses after allActivities appProofTypes appProofs applications apps " +
  "authProxyUrl checkpoint contact crls door ephemeralKey ephemeralKeys expected file githubRelease head id key " +
  "manifestSet maxAgeMs maxGapMs measured measurements namespace namespaces nonce of organizationId origin " +
  "parameters payload policy provenance publicKey quorumKey requestedAt scheme sessionType signerKeys state " +
  "tenant type userData userId uses verificationType verifyAddresses"
).split(" ");
/** Where a member of such a name demands nothing: it is data, or one more beside what is demanded elsewhere. */
const NO_DEMANDS: Readonly<Record<string, string>> = {
  appProofs: "appraise/policy.ts",
  organizationId: "adapters/verified.ts",
  scheme: "decode/app-proof.ts",
  provenance: "addresses/verify.ts appraise/edit.ts appraise/policy.ts bundle/verify.ts door/door.ts run/watch.ts",
  policy: "door/door.ts signed-policy/make.ts",
  key: "formats/ear.ts run/queue-options.ts signed-policy/make.ts",
  file: "page/page.ts run/node-health.ts",
  after: "run/chain.ts",
  expected: "run/line.ts",
  publicKey: "signed-policy/make.ts",
};

it("an option that demands something does so wherever it is one, but in the lab", () => {
  const demanded = MEMBERS.filter(([, , shape]) => shape === "demand").map(([, name]) => name);
  expect([...new Set(demanded)].sort()).toEqual([...DEMANDS].sort());
  const others = MEMBERS.filter(
    ([file, name, shape]) => shape !== "demand" && DEMANDS.includes(name) && !/^lab/.test(file),
  );
  const listed = Object.entries(NO_DEMANDS).flatMap(([name, files]) =>
    files.split(" ").map((file) => `${file} ${name}`),
  );
  expect([...new Set(others.map(([file, name]) => `${file} ${name}`))].sort()).toEqual(listed.sort());
});

it("every function and method is tested", () => {
  const all = everything();
  const isKnown = (name: string): boolean => DOORS.has(name) || BY_SHAPES.split(" ").includes(name);
  expect(all.filter((name) => !isKnown(name) && !takesNoObject(name))).toEqual([]);
  const known = [...DOORS.keys(), ...BY_SHAPES.split(" ")];
  expect(known.filter((name) => !all.includes(name) || takesNoObject(name))).toEqual([]);
  expect(WITHOUT_OBJECTS.split(" ").filter((name) => !all.includes(name))).toEqual([]);
  expect(PATTERNS.filter((pattern) => !all.some((name) => pattern.test(name)))).toEqual([]);
});
