/**
 * Functions copy their bytes before they first await: a caller may reuse the buffer during the call and after it. Every
 * exported function is in one of two lists: it takes bytes, and is tested, or it takes none.
 */
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { fromBase64, toUtf8 } from "../src/bytes.js";
import * as client from "../src/client/index.js";
import * as library from "../src/index.js";
import { labDeployment, labPolicy } from "../src/lab/forge.js";
import { LAB_BUILD, LabSigstore, labProvenancePin } from "../src/lab/sigstore.js";
import { sigstoreVerifier } from "../src/provenance/index.js";
import { encodeManifest } from "../src/lab/qos.js";
import { forge, lab, optionsOf } from "./attacks/support.js";
import { JWKS, delivered } from "./client/deliveries.js";
import { AT, apiKey, isStamped } from "./client/support.js";
import * as watching from "../src/watch/index.js";
import { releaseOf } from "./support/releases.js";
import { inPieces, linesOf, textOf } from "./watch/support.js";

const whole = forge();
const options = optionsOf(whole, { noPolicy: true });
const bytesOf = (value: unknown): Uint8Array => toUtf8(JSON.stringify(value));
const policyFile = labPolicy(whole.anchorPem, [labDeployment(lab)]);
const sigstore = new LabSigstore();
const BUNDLE = sigstore.attest({ at: AT, digest: lab.pivotHash });
const buildPin = labProvenancePin({ json: JSON.stringify(sigstore.trustedRoot) });
const buildPolicy = library.parsePolicy(
  JSON.stringify(labPolicy(whole.anchorPem, [{ ...labDeployment(lab), provenance: [buildPin] }])),
);
const build = { provenance: [BUNDLE], provenanceVerifier: await sigstoreVerifier() };
const twoDeployments = labPolicy(whole.anchorPem, [labDeployment(lab), { ...labDeployment(lab), name: "other" }]);
const bundleFile = library.packEvidence({ bootProofs: [whole.bootProof] });
const document = whole.document;
const certificate = library.decodeAttestationDocument(document).certificate.der;
const { bootProof, appProofs, activity } = whole;
const answering = forge({ nonce: Uint8Array.of(1, 2, 3) });
const verified = ({ report }: { readonly report: library.Report }): unknown => report;

const { rawBody: delivery, headers } = delivered();

const logKeys = generateKeyPairSync("ed25519", {
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const lines = await linesOf(2);
const checkpoint = { origin: "bootproof-log/a", entries: 2, head: lines.at(-1)!.hash };
const note = toUtf8(await watching.signCheckpoint(checkpoint, logKeys.privateKey));
const { publicKey: logKey } = logKeys;

const PCRS = Object.fromEntries([0, 1, 2].map((index) => [index, new Uint8Array(48).fill(index + 1)]));

const releaseFiles = releaseOf("2026.9.0");
const reviewed = fromBase64(bootProof["qosManifestB64"] as string)!;
const reviewPolicy = library.parsePolicy(policyFile);

/** The bytes of a call, and the call. Results that include random values are made comparable. */
type Door = readonly [bytes: Uint8Array, through: (bytes: Uint8Array) => unknown];
const DOORS: Readonly<Record<string, readonly Door[]>> = {
  pinProvenance: [
    [
      toUtf8(new LabSigstore().attest({ at: AT, digest: lab.pivotHash })),
      async (bundle) => library.pinProvenance(bundle, { repository: LAB_BUILD.repository, trustedRoot: { file: "r" } }),
    ],
  ],
  makeBuildPolicy: [
    [
      new Uint8Array(48).fill(7),
      async (pcr) => library.makeBuildPolicy({ pcrs: { 0: pcr, 1: pcr, 2: pcr } }, { name: "built" }),
    ],
    [new Uint8Array(32).fill(7), async (pivotHash) => library.makeBuildPolicy({ pcrs: PCRS, pivotHash })],
  ],
  verifyEvidence: [
    [
      bytesOf(bootProof),
      (bytes) => library.verifyEvidence({ bootProofs: [bytes], appProofs, activity }, options).then(verified),
    ],
    [
      bytesOf(appProofs[0]),
      (bytes) => library.verifyEvidence({ bootProofs: [bootProof], appProofs: [bytes] }, options).then(verified),
    ],
    [
      bytesOf(activity),
      (bytes) => library.verifyEvidence({ bootProofs: [bootProof], activity: bytes }, options).then(verified),
    ],
    [
      fromHex(bootProof["ephemeralPublicKeyHex"]),
      (ephemeralKey) =>
        library.verifyEvidence({ bootProofs: [bootProof] }, { ...options, ephemeralKey }).then(verified),
    ],
    [
      Uint8Array.of(1, 2, 3),
      (nonce) => library.verifyEvidence({ bootProofs: [answering.bootProof] }, { ...options, nonce }).then(verified),
    ],
  ],
  NamedEvidence: [
    [
      bytesOf(bootProof),
      (bytes) => library.verifyBootProof(new library.NamedEvidence("a", bytes), options).then(verified),
    ],
    [
      bytesOf(bootProof),
      (bytes) => library.verifyBootProof(new library.NamedEvidence("a", bootProof, { bytes }), options).then(verified),
    ],
    [
      fromHex(bootProof["ephemeralPublicKeyHex"]),
      (ephemeralKey) =>
        library.verifyBootProof(new library.NamedEvidence("a", bootProof, { ephemeralKey }), options).then(verified),
    ],
  ],
  verifyBootProof: [[bytesOf(bootProof), (bytes) => library.verifyBootProof(bytes, options).then(verified)]],
  verifyAppProof: [
    [bytesOf(appProofs[0]), (bytes) => library.verifyAppProof(bytes, bootProof, options).then(verified)],
  ],
  verifyAppProofs: [
    [bytesOf(appProofs[0]), (bytes) => library.verifyAppProofs([bytes], [bootProof], options).then(verified)],
  ],
  verifyActivity: [[bytesOf(activity), (bytes) => library.verifyActivity(bytes, [bootProof], options).then(verified)]],
  verifyAttestation: [[document, (bytes) => library.verifyAttestation(bytes, options).then(verified)]],
  appProofOf: [
    [Uint8Array.of(4, 2), (publicKey) => library.appProofOf({ publicKey, payload: "{}", signature: "00" })],
    [toUtf8("{}"), (payload) => library.appProofOf({ publicKey: "00", payload, signature: "00" })],
    [Uint8Array.of(4, 2), (signature) => library.appProofOf({ publicKey: "00", payload: "{}", signature })],
  ],
  decodeActivity: [[bytesOf(activity), (bytes) => library.decodeActivity(bytes)]],
  decodeAppProof: [[bytesOf(appProofs[0]), (bytes) => library.decodeAppProof(bytes)]],
  decodeBootProof: [[bytesOf(bootProof), (bytes) => library.decodeBootProof(bytes)]],
  decodeAttestationDocument: [[document, (bytes) => library.decodeAttestationDocument(bytes)]],
  decodeCertificate: [[certificate, (bytes) => library.decodeCertificate(bytes)]],
  decodeManifest: [
    [encodeManifest(whole.manifest, { encoding: "json" }), (bytes) => library.decodeManifest(bytes)],
    [fromBase64(bootProof["qosManifestB64"] as string)!, (bytes) => library.decodeManifest(bytes)],
  ],
  decodeManifestEnvelope: [
    [fromBase64(bootProof["qosManifestEnvelopeB64"] as string)!, (bytes) => library.decodeManifestEnvelope(bytes)],
  ],
  compareBuild: [
    [
      toUtf8(BUNDLE),
      (bytes) => library.compareBuild(buildPolicy, { pivotHash: lab.pivotHash }, { ...build, provenance: [bytes] }),
    ],
    [lab.pivotHash, (pivotHash) => library.compareBuild(buildPolicy, { pivotHash }, build)],
  ],
  compareMeasured: [
    [
      new Uint8Array(48).fill(7),
      (bytes) => library.compareMeasured(library.parsePolicy(policyFile), { pcrs: { 0: bytes } }),
    ],
    [
      new Uint8Array(32).fill(7),
      (pivotHash) => library.compareMeasured(library.parsePolicy(policyFile), { pivotHash }),
    ],
  ],
  parsePolicy: [[bytesOf(policyFile), (bytes) => library.parsePolicy(bytes)]],
  selfContainedPolicy: [[bytesOf(policyFile), (bytes) => library.selfContainedPolicy(bytes, {})]],
  inspectUnverified: [
    [document, (bytes) => library.inspectUnverified(bytes)],
    [bytesOf(bootProof), (bytes) => library.inspectUnverified(bytes)],
    [toUtf8(Buffer.from(document).toString("base64")), (bytes) => library.inspectUnverified(bytes)],
  ],
  checkPolicy: [[bytesOf(policyFile), (bytes) => library.checkPolicy(bytes)]],
  addToPolicy: [
    [bytesOf(policyFile), (bytes) => library.addToPolicy(bytes, { policy: policyFile as never, notes: [] })],
  ],
  dropDeployment: [[bytesOf(twoDeployments), (bytes) => library.dropDeployment(bytes, "other")]],
  describeUnrecognised: [[bytesOf("<html>"), (bytes) => library.describeUnrecognised(bytes)]],
  kindOf: [[bytesOf(bootProof), (bytes) => library.kindOf(bytes)]],
  diffUnverified: [
    [bytesOf(bootProof), (bytes) => library.diffUnverified(bytes, bytesOf(answering.bootProof))],
    [bytesOf(bootProof), (bytes) => library.diffUnverified({ file: bytesOf(answering.bootProof) }, { file: bytes })],
    [document, (bytes) => library.diffUnverified(answering.document, bytes)],
    [bytesOf(policyFile), (bytes) => library.diffUnverified(bytesOf({ ...policyFile, maxAge: "1d" }), bytes)],
    [bytesOf(bundleFile), (bytes) => library.diffUnverified(bytesOf({ ...bundleFile, appProofs }), bytes)],
  ],
  readRelease: [
    [releaseFiles.get("manifest")!, (bytes) => library.readRelease([["manifest", bytes]], { version: "2026.9.0" })],
  ],
  reviewManifest: [
    [reviewed, (bytes) => library.reviewManifest(bytes, { policy: reviewPolicy })],
    [reviewed, (bytes) => library.reviewManifest(reviewed, { policy: reviewPolicy, previous: bytes })],
    [
      new Uint8Array(48).fill(7),
      (pcr) => library.reviewManifest(reviewed, { policy: reviewPolicy, measured: { pcrs: { 0: pcr } } }),
    ],
    [
      new Uint8Array(32).fill(7),
      (pivotHash) => library.reviewManifest(reviewed, { policy: reviewPolicy, measured: { pivotHash } }),
    ],
    [
      bytesOf({ signature: "01".repeat(64), member: { alias: "a", pubKey: "04".repeat(130) } }),
      (approval) => library.reviewManifest(reviewed, { policy: reviewPolicy, approvals: [approval] }),
    ],
  ],
  decodeBundle: [[bytesOf(bundleFile), (bytes) => library.decodeBundle(bytes)]],
  packEvidence: [[bytesOf(bootProof), (bytes) => library.packEvidence({ bootProofs: [bytes] })]],
  packBundle: [[bytesOf(bootProof), (bytes) => packed(bytes)]],
  SignatureCache: [
    [
      Uint8Array.of(4, ...new Uint8Array(64).fill(1)),
      (bytes) => new library.SignatureCache().verify("P-256", bytes, bytes, bytes),
    ],
  ],
  verifyWebhook: [
    [
      delivery,
      (rawBody) =>
        client.verifyWebhook({ rawBody, headers, jwks: JWKS, now: AT, store: new client.MemoryEventStore() }),
    ],
  ],
  readCheckpoint: [[note, (bytes) => watching.readCheckpoint(bytes, { key: logKey })]],
  // The pieces of the log belong to the reader until it requests the next one.
  verifyLog: [[note, (bytes) => watching.verifyLog(inPieces(textOf(lines)), { checkpoint: bytes, key: logKey })]],
  apiKeyStamper: [[toUtf8('{"a":1}'), (bytes) => stamped(stamper, bytes)]],
  webauthnStamper: [
    [toUtf8('{"a":1}'), (bytes) => challengeOf(bytes, Uint8Array.of(1))],
    [Uint8Array.of(1, 2, 3), (id) => challengeOf(toUtf8("{}"), id)],
  ],
};
const stamper = await client.apiKeyStamper(apiKey);

async function packed(bytes: Uint8Array): Promise<unknown> {
  const { report } = await library.packBundle(
    { bootProofs: [bytes] },
    { policy: library.NO_POLICY_ANY_ENCLAVE, now: options.now },
  );
  return report.checks;
}

/** These take text, values that were verified or decoded before, or nothing. */
const WITHOUT_BYTES = [
  "MalformedError",
  "RejectedError",
  "DemandError",
  "VerifiedActivity",
  "VerifiedAppProof",
  "VerifiedAttestation",
  "VerifiedBootProof",
  "VerifiedProvenance",
  "AppProofUses",
  "decodeAppProofPayload",
  // The pieces of a stream belong to the reader until it requests the next one.
  "inspectImageUnverified",
  "checkReleases",
  "makePolicy",
  "makeReleasePolicy",
  "releasePolicy",
  "renderReleaseCheck",
  "manifestHash",
  "parseTrustAnchor",
  "pinPolicy",
  "policyFromRelease",
  "renderInspection",
  "renderJson",
  "renderDiff",
  "renderReview",
  "describePolicy",
  "renderPolicyCheck",
  "renderSummary",
  "renderText",
  "explainCheck",
  "renderCheckExplanation",
  "requireAuthentic",
  "requireVerified",
  "verifyBundle",
  "ClientError",
  "MemoryEventStore",
  "RejectedActivityError",
  "ServiceError",
  "WebhookError",
  "createClient",
  "createSessionTarget",

  "fetchActivity",
  "fetchBootProof",
  "fetchLatestBootProof",
  "fetchEvidence",
  "withAppProofs",
  "encryptOnRampSecret",
  "generateApiKey",
  "nodeWebhookHandler",
  "openCredentialBundle",
  "openSession",

  "webhookHandler",
  "CheckpointError",
  "FetchError",
  "askService",
  "isFinding",
  "memoryStore",
  "originOf",
  "postTo",
  "requireLogKey",
  "signCheckpoint",
  "watch",
];

function fromHex(text: unknown): Uint8Array {
  return new Uint8Array(Buffer.from(text as string, "hex"));
}

/** The stamp must cover the original bytes, which are written out here. */
async function stamped(stamper: client.Stamper, bytes: Uint8Array): Promise<boolean> {
  const { value } = await stamper.stamp(bytes);
  return isStamped(value, toUtf8('{"a":1}'));
}

/** The request that the authenticator receives. */
async function challengeOf(body: Uint8Array, id: Uint8Array): Promise<unknown> {
  let received: unknown;
  const get = async (request: CredentialRequestOptions): Promise<unknown> => {
    await new Promise((resolve) => setImmediate(resolve));
    received = structuredClone(request.publicKey);
    return null;
  };
  const passkey = client.webauthnStamper({
    get,
    rpId: "a",
    allowCredentials: [{ type: "public-key", id: id as BufferSource }],
  });
  await passkey.stamp(body).catch(() => {});
  return received;
}

describe("bytes that the caller changes right after the call", () => {
  const rows = Object.entries(DOORS).flatMap(([name, doors]) =>
    doors.map((door, index) => [name, index, ...door] as const),
  );
  it.each(rows)("do not change the result: %s, %i", async (_name, _index, bytes, through) => {
    const expected = await through(new Uint8Array(bytes));
    const mine = new Uint8Array(bytes);
    const pending = through(mine);
    mine.fill(0x20);
    const answer = await pending;
    mine.fill(0x00);
    expect(answer).toEqual(expected);
    expect(expected, "the call returned a value").toBeDefined();
  });

  it("are tested in every exported function that takes bytes", () => {
    const functions = [library, client, watching]
      .flatMap((exports) => Object.entries(exports))
      .filter(([, value]) => typeof value === "function")
      .map(([name]) => name);
    expect(functions.filter((name) => !(name in DOORS) && !WITHOUT_BYTES.includes(name))).toEqual([]);
    expect(Object.keys(DOORS).filter((name) => !functions.includes(name) || WITHOUT_BYTES.includes(name))).toEqual([]);
    expect(WITHOUT_BYTES.filter((name) => !functions.includes(name))).toEqual([]);
  });
});
