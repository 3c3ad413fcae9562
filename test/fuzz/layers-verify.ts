/** What judges evidence: what is accepted is explained by OpenSSL, cbor-x and JSON.parse, or by the genuine bytes. */
import { X509Certificate, verify } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { Decoder } from "cbor-x";
import { Auditor } from "../../src/run/auditor.js";
import { NO_LINE, NO_LINES, lineText } from "../../src/run/line.js";
import { auditSetting } from "../../src/run/setting.js";
import { fromBase64, fromUtf8, toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import { decodeCoseSign1 } from "../../src/decode/cose-sign1.js";
import type { JsonObject } from "../../src/decode/json.js";
import { MANIFEST_VERSIONS, declarationOf } from "../../src/decode/manifest/index.js";
import {
  AWS_NITRO_ROOT_G1,
  NO_POLICY_ANY_ENCLAVE,
  type PolicyFile,
  SignatureCache,
  type Verification,
  type VerifyOptions,
  parseTrustAnchor,
  renderJson,
  renderSummary,
  renderText,
  verifyAttestation,
  verifyEvidence,
} from "../../src/index.js";
import { POLICY_OF_THE_BUNDLE, decodeBundle, packBundle, verifyBundle } from "../../src/bundle/index.js";
import { decodeManifest } from "../../src/decode/index.js";
import { renderEar } from "../../src/formats/ear.js";
import { renderGithub } from "../../src/formats/github.js";
import { renderJunit } from "../../src/formats/junit.js";
import { renderMarkdown } from "../../src/formats/markdown.js";
import { renderSarif } from "../../src/formats/sarif.js";
import { renderVsa } from "../../src/formats/vsa.js";
import { forgeEvidence } from "../../src/lab/forge.js";
import { signRaw } from "../../src/lab/keys.js";
import { approve, encodeEnvelope, manifestHash as labManifestHash, qosSign } from "../../src/lab/qos.js";
import type { Report } from "../../src/report/report.js";
import { encodeCbor } from "../support/cbor.js";
import { bootProofVectors, genuineDocuments, readVectorText } from "../support/vectors.js";
import { AT, LEAF_KEY, NOW, OTHER_KEY, ROOT, lab, policy, policyJson, whole } from "./lab.js";
import { mustBePrintable, refusedOr } from "./layers-decode.js";
import { type Layer, type Outcome, must } from "./loop.js";

const cborX = new Decoder({ mapsAsObjects: false, useRecords: false } as never);
const cache = new SignatureCache();
const labAnchor = parseTrustAnchor("lab", whole.anchorPem);
const ANCHORS = [ROOT, AWS_NITRO_ROOT_G1.certificate.der];

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;
const bytesOf = (value: unknown): Uint8Array => toUtf8(JSON.stringify(value));

export function outcomeOf({ verdict, claims, checks }: Pick<Report, "verdict" | "claims" | "checks">): Outcome {
  const failed = checks.some(({ status }) => status === "fail");
  must((verdict === "rejected") === failed, "a verdict that is not that of the checks");
  must((verdict === "rejected") === (claims === null), "claims of what was rejected, or none of what was not");
  return verdict === "rejected" ? "refused" : "accepted";
}

interface Attested {
  readonly payload: ReadonlyMap<string, unknown>;
  readonly signed: Uint8Array;
}

/** The document once more, by OpenSSL and cbor-x: path, validity, signature, and that it is of no debug mode. */
function explained(document: Uint8Array): Attested {
  const decoded = cborX.decode(document) as { value?: unknown } & Uint8Array[];
  const [header, , payloadBytes, signature] = (decoded.value ?? decoded) as Uint8Array[];
  const payload = cborX.decode(payloadBytes!) as Map<string, unknown>;
  const chain = [...(payload.get("cabundle") as Uint8Array[]), payload.get("certificate") as Uint8Array];
  const certificates = chain.map((der) => new X509Certificate(der));
  must(
    ANCHORS.some((root) => same(root, chain[0]!)),
    "accepted: a root that nobody trusts",
  );
  const at = Number(payload.get("timestamp"));
  certificates.forEach((certificate, index) => {
    const above = certificates[Math.max(0, index - 1)]!;
    must(certificate.checkIssued(above), `accepted: certificate ${index} is not of the one above it`);
    must(certificate.verify(above.publicKey), `accepted: certificate ${index} is not signed by the one above it`);
    must(certificate.ca === index < chain.length - 1, `accepted: certificate ${index} is (no) authority`);
    const [from, to] = [new Date(certificate.validFrom).getTime(), new Date(certificate.validTo).getTime()];
    must(from <= at && Math.floor(at / 1000) * 1000 <= to, `accepted: certificate ${index} is not valid then`);
  });
  const signed = encodeCbor(["Signature1", header!, new Uint8Array(), payloadBytes!]);
  const key = { key: certificates.at(-1)!.publicKey, dsaEncoding: "ieee-p1363" } as const;
  must(verify("sha384", signed, key, signature!), "accepted: a signature that OpenSSL refuses");
  const pcr0 = (payload.get("pcrs") as Map<number, Uint8Array>).get(0)!;
  must(
    pcr0.some((byte) => byte !== 0),
    "accepted: debug mode",
  );
  must(payload.get("digest") === "SHA384" && payload.get("nitrotpm_pcrs") === undefined, "accepted: another kind");
  return { payload, signed };
}

const documents = genuineDocuments().map(({ bytes }) => bytes);
const anyEnclave: VerifyOptions = {
  policy: NO_POLICY_ANY_ENCLAVE,
  trustAnchors: [labAnchor, AWS_NITRO_ROOT_G1],
  now: new Date("2026-12-01T00:00:00Z"),
  cache,
};

/** Documents as they came. */
export const documentsAsTheyCame: Layer = {
  seeds: [...documents.filter((_, index) => index % 9 === 0), whole.document],
  run: async (input) => {
    const { report, attestation } = await verifyAttestation(input, anyEnclave);
    if (report.verdict !== "rejected") {
      explained(input);
      must(attestation !== null, "accepted, and nothing to show for it");
    }
    return outcomeOf(report);
  },
};

/** The payload of a document, changed, and then signed by the leaf: what the enclave's hypervisor would never say. */
export const documentsSignedAgain: Layer = {
  seeds: [decodeCoseSign1(whole.document).payload],
  run: async (input) => {
    const header = encodeCbor(new Map([[1, -35]]));
    const signature = signRaw(LEAF_KEY, "sha384", encodeCbor(["Signature1", header, new Uint8Array(), input]));
    const document = encodeCbor([header, new Map(), input, signature]);
    const { report } = await verifyAttestation(document, anyEnclave);
    if (report.verdict !== "rejected") explained(document);
    return outcomeOf(report);
  },
};

/** Boot proof and app proofs in one object, for JSON to change. */
interface Pair {
  readonly bootProofs: readonly JsonObject[];
  readonly appProofs: readonly JsonObject[];
  readonly activity?: JsonObject;
}

const genuinePairs: readonly Pair[] = bootProofVectors()
  .filter(({ expect }) => expect.verdict === "authentic")
  .slice(0, 3)
  .map((vector) => ({
    bootProofs: vector.bootProofs.map((file) => JSON.parse(readVectorText(file)) as JsonObject),
    appProofs: vector.appProofs.map((file) => JSON.parse(readVectorText(file)) as JsonObject),
  }));
const labPair: Pair = { bootProofs: [whole.bootProof], appProofs: whole.appProofs };
const labActivity: Pair = { bootProofs: [whole.bootProof], appProofs: [], activity: whole.activity };
const pairs = [...genuinePairs, labPair, labActivity];

const documentOf = (bootProof: JsonObject): Uint8Array =>
  fromBase64((bootProof["cloudAttestationDocB64"] ?? bootProof["awsAttestationDocB64"]) as string)!;
const inner = (json: JsonObject, name: string): JsonObject => (json[name] ?? json) as JsonObject;

/** What was signed, of all that is genuine here. */
const genuineSigned = new Set(
  pairs.flatMap(({ bootProofs }) =>
    bootProofs.map((each) => toHex(explained(documentOf(inner(each, "bootProof"))).signed)),
  ),
);
const genuinePayloads = new Set(
  pairs.flatMap(({ appProofs, activity }) =>
    [...appProofs, ...((activity?.["appProofs"] ?? []) as JsonObject[])].map(
      (proof) => inner(proof, "appProof")["proofPayload"] as string,
    ),
  ),
);

/** What is accepted was signed: every document, manifest and payload is a genuine one. */
function mustBeGenuine({ bootProofs, appProofs }: Pick<Verification, "bootProofs" | "appProofs">): void {
  for (const bootProof of bootProofs) {
    must(bootProof !== null, "accepted, with a boot proof that was rejected");
    const { attestation, manifest, manifestHash: hash } = bootProof;
    must(same(labManifestHash(manifest), hash), "accepted: a manifest of another hash");
    const { userData, publicKey } = attestation.document;
    must(userData !== null && same(userData, hash), "accepted: a manifest that nobody attested");
    must(publicKey !== null && same(publicKey, bootProof.ephemeralKey), "accepted: a key that nobody attested");
  }
  for (const proof of appProofs) {
    must(proof !== null, "accepted, with an app proof that was rejected");
    const { json } = proof.payload;
    const known = [...genuinePayloads].some((text) => isDeepStrictEqual(plainCopy(JSON.parse(text)), plainCopy(json)));
    must(known, "accepted: a payload that nobody signed");
  }
}

const plainCopy = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

/** Evidence in any damage: nothing of it is signed again. */
export const evidence: Layer = {
  seeds: pairs.map(bytesOf),
  run: async (input) => {
    const given = pairOf(input);
    const verification = await verifyOrRefuse(given, anyEnclave);
    if (verification === null) return "refused";
    const { report } = verification;
    if (report.verdict !== "rejected") {
      mustBeGenuine(verification);
      for (const bootProof of given.bootProofs) {
        const json = typeof bootProof === "string" ? (JSON.parse(bootProof) as JsonObject) : (bootProof as JsonObject);
        const { signed } = explained(documentOf(inner(json, "bootProof")));
        must(genuineSigned.has(toHex(signed)), "accepted: a document that nobody signed");
      }
    }
    await renderAll(report, given);
    return outcomeOf(report);
  },
};

/** Texts that are no evidence object: as the only boot proof, for readers of text. */
function pairOf(input: Uint8Array): { bootProofs: unknown[]; appProofs: unknown[]; activity?: unknown } {
  try {
    const json = JSON.parse(fromUtf8(input)!) as Partial<Pair>;
    const activity = json.activity === undefined ? {} : { activity: json.activity };
    if (Array.isArray(json.bootProofs) && Array.isArray(json.appProofs))
      return { bootProofs: json.bootProofs as unknown[], appProofs: json.appProofs as unknown[], ...activity };
  } catch {
    // No JSON: text.
  }
  return { bootProofs: [Buffer.from(input).toString("utf8")], appProofs: [] };
}

/** RangeError is of more app proofs than a call may have, as its documentation says. */
async function verifyOrRefuse(
  given: Parameters<typeof verifyEvidence>[0],
  options: VerifyOptions,
): Promise<Verification | null> {
  try {
    return await verifyEvidence(given, options);
  } catch (error) {
    if (error instanceof RangeError && error.message.includes("app proofs")) return null;
    if (error instanceof TypeError && given.bootProofs.length === 0) return null;
    throw error;
  }
}

/** Now and then: rendering takes longer than judging. */
let rendered = 0;
async function renderAll(report: Report, given: Parameters<typeof verifyEvidence>[0]): Promise<void> {
  if (rendered++ % 4 !== 0) return;
  for (const detail of ["normal", "verbose"] as const)
    mustBePrintable(renderText(report, { color: false, detail }).replaceAll("\n", ""), "the report");
  mustBePrintable(renderSummary(report, { color: false }).replaceAll("\n", ""), "the summary");
  mustBePrintable(renderMarkdown(report).replaceAll("\n", ""), "Markdown");
  mustBePrintable(renderGithub(report).replaceAll("\n", ""), "GitHub's commands");
  const junit = renderJunit(report);
  must(!/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(junit), "JUnit with what XML has not");
  must(!/<!\[CDATA\[(?:(?!\]\]>).)*<!\[CDATA\[/s.test(junit), "JUnit with CDATA in CDATA");
  const sarif = JSON.parse(renderSarif(report)) as { version: string };
  must(sarif.version === "2.1.0", "SARIF");
  const json = JSON.parse(renderJson(report)) as Report;
  must(json.verdict === report.verdict && json.checks.length === report.checks.length, "JSON of another report");
  must((await renderEar(report)).split(".").length >= 2, "EAR");
  const vsa = JSON.parse(await renderVsa(report, given as never)) as { predicate: { verificationResult: string } };
  must((vsa.predicate.verificationResult === "PASSED") === (report.verdict === "verified"), "VSA of another verdict");
}

/**
 * A manifest, changed, and then hashed, approved and attested: what its approvers would never sign. Under a policy that
 * pins all of the lab, what is accepted says what is pinned.
 */
export const enclaves: Layer = {
  seeds: MANIFEST_VERSIONS.flatMap((version) => {
    const { bootProof } = forgeEvidence({ lab, at: AT, version, otherKey: OTHER_KEY });
    return [fromBase64(bootProof["qosManifestB64"] as string)!];
  }),
  run: async (input) => {
    let manifest: ReturnType<typeof decodeManifest> | undefined;
    const read = refusedOr(
      () => decodeManifest(input),
      (value) => (manifest = value),
    );
    if (read === "refused" || manifest === undefined) return "refused";
    const attested = manifest;
    const isJson = /^\s*\{/.test(Buffer.from(input.subarray(0, 20)).toString("latin1"));
    const hash = labManifestHash(attested);
    const approvals = lab.manifestMembers.slice(0, 2).map((member) => approve(hash, member));
    const envelope = { manifest: attested, manifestSetApprovals: approvals, shareSetApprovals: [] };
    const enclave = forgeEvidence({ lab, at: AT, otherKey: OTHER_KEY, alterManifest: { hash: () => hash } });
    const bootProof = {
      ...enclave.bootProof,
      qosManifestB64: toBase64(input),
      qosManifestEnvelopeB64: toBase64(encodeEnvelope(envelope, { encoding: isJson ? "json" : "borsh" })),
      qosManifestVersion: declarationOf(attested.version),
    };
    const { report } = await verifyEvidence(
      { bootProofs: [bootProof], appProofs: enclave.appProofs },
      { policy, now: NOW, cache },
    );
    if (report.verdict !== "rejected") mustBePinned(attested);
    return outcomeOf(report);
  },
};

function mustBePinned(manifest: ReturnType<typeof decodeManifest>): void {
  const { namespace, manifestSet, enclave, pivot, shareSet } = manifest;
  const wanted = lab.manifestParts();
  const keys = (set: typeof manifestSet): string[] => set.members.map(({ pubKey }) => toHex(pubKey)).sort();
  must(namespace.name === wanted.namespace.name && namespace.nonce >= wanted.namespace.nonce, "accepted: a namespace");
  must(same(namespace.quorumKey, wanted.namespace.quorumKey), "accepted: a quorum key");
  must(pivot !== undefined && same(pivot.hash, wanted.pivotHash), "accepted: another application");
  must(pivot?.debugMode !== true, "accepted: an application in debug mode");
  must(isDeepStrictEqual(keys(manifestSet), keys(wanted.manifestSet)), "accepted: other approvers");
  must(manifestSet.threshold >= 2 && manifestSet.threshold <= 3, "accepted: another threshold");
  must(isDeepStrictEqual(keys(shareSet), keys(wanted.shareSet)), "accepted: other holders of shares");
  must(same(enclave.pcr0, wanted.enclave.pcr0), "accepted: a manifest for another image");
}

/** The payload of an app proof, changed, and then signed by the enclave's key. */
export const appProofs: Layer = {
  seeds: [
    ...whole.appProofs.map((proof) => toUtf8(proof["proofPayload"] as string)),
    bytesOf({
      type: "APP_PROOF_TYPE_POLICY_OUTCOME",
      timestampMs: String(AT.getTime()),
      policyOutcomeProof: { organizationId: "o", outcome: "OUTCOME_ALLOW", userRequestApprovals: [{ a: 1.5 }] },
    }),
    bytesOf({ type: "GREETING", timestampMs: String(AT.getTime()), greeting: { n: 12, x: [1, 2.5e3, null] } }),
  ],
  run: async (input) => {
    const text = fromUtf8(input);
    if (text === null) return "refused";
    const proof = {
      ...whole.appProofs[0],
      proofPayload: text,
      signature: toHex(qosSign(lab.ephemeralKey, input)),
    };
    const { report, appProofs: verified } = await verifyEvidence(
      { bootProofs: [whole.bootProof], appProofs: [proof] },
      { policy, now: NOW, cache },
    );
    if (report.verdict !== "rejected") {
      const theirs = JSON.parse(text) as { type: string; timestampMs: string };
      const { payload } = verified[0]!;
      must(
        isDeepStrictEqual(plainCopy(payload.json), plainCopy(theirs)),
        "accepted: a payload that JSON.parse reads otherwise",
      );
      must(
        payload.type === theirs.type && String(payload.timestampMs) === theirs.timestampMs,
        "accepted: a type or time",
      );
      const { addressDerivationProof: address } = payload;
      const named = (theirs as { addressDerivationProof?: Record<string, unknown> }).addressDerivationProof;
      for (const [name, value] of Object.entries(address ?? {}))
        must((value ?? null) === (named?.[name] ?? null), `accepted: another ${name} than JSON.parse reads`);
    }
    return outcomeOf(report);
  },
};

/** An activity with its genuine app proof: what it says is held against what was signed. */
export const activities: Layer = {
  seeds: [bytesOf(whole.activity), bytesOf({ activity: whole.activity })],
  run: async (input) => {
    const organizationId = whole.activity["organizationId"] as string;
    const verification = await verifyOrRefuse(
      { bootProofs: [whole.bootProof], activity: Buffer.from(input).toString("utf8") },
      { policy, now: NOW, cache, expected: { organizationId } },
    );
    if (verification === null) return "refused";
    const { report } = verification;
    if (report.verdict !== "rejected") {
      mustBeGenuine(verification);
      const json = JSON.parse(fromUtf8(input)!) as JsonObject;
      const activity = inner(json, "activity");
      must(activity["organizationId"] === organizationId, "accepted: an activity of another organization");
      must(activity["status"] === "ACTIVITY_STATUS_COMPLETED", "accepted: an activity that is not completed");
    }
    return outcomeOf(report);
  },
};

const packed = await packBundle(
  { bootProofs: [whole.bootProof], appProofs: whole.appProofs },
  { policy: policyJson as unknown as PolicyFile, now: NOW },
);
if (packed.bundle === null) throw new Error("the lab's bundle was rejected");

export const bundles: Layer = {
  seeds: [bytesOf(packed.bundle), bytesOf({ bundle: "bootproof-bundle/1", ...labActivity })],
  run: async (input) => {
    let bundle: ReturnType<typeof decodeBundle> | undefined;
    const read = refusedOr(
      () => decodeBundle(input),
      (value) => (bundle = value),
    );
    if (read === "refused" || bundle === undefined) return "refused";
    if (bundle.judgement?.policy) {
      const { trustAnchors } = policy;
      const own = { policy: POLICY_OF_THE_BUNDLE, trustAnchors, allowDebug: true, now: NOW, cache };
      const { report } = await verifyBundle(bundle, own as never);
      must(outcomeOf(report) === "refused" || report.verdict === "authentic", "a bundle by its own policy");
    }
    const verification = await verifyBundle(bundle, { policy, now: NOW, cache });
    if (verification.report.verdict !== "rejected") mustBeGenuine(verification);
    return outcomeOf(verification.report);
  },
};

const auditor = await Auditor.of(auditSetting({ policy, now: NOW, bootProofs: [JSON.stringify(whole.bootProof)] }));
let lines = 0;

export const audit: Layer = {
  seeds: [
    ...pairs.map(bytesOf),
    bytesOf(whole.bootProof),
    bytesOf(whole.activity),
    bytesOf(whole.appProofs),
    bytesOf({ appProofs: whole.appProofs }),
    bytesOf(packed.bundle),
    whole.document,
    toUtf8(toBase64(whole.document)),
  ],
  run: async (input) => {
    const { documentTimes: _, ...result } = await auditor.judge(input);
    const place = { file: "entries", line: ++lines, entry: NO_LINE, policyDigest: null, settingDigest: NO_LINE };
    const line = lineText(NO_LINES, NOW.toISOString(), { ...place, ...result });
    mustBePrintable(line, "a result");
    const json = JSON.parse(line) as { line: number; verdict: string; failed: string[] };
    must(json.line === lines && line.length < 20_000, "a result of another entry, or one as long as it");
    must((json.verdict === "rejected") === json.failed.length > 0, "a verdict that is not that of the checks");
    must(json.verdict !== "authentic", "authentic, under a policy");
    if (json.verdict !== "verified") return "refused";
    const words = Buffer.from(input).toString("utf8");
    const isOurs = words.includes(toHex(lab.ephemeralKey.publicKey).slice(0, 40)) || words.includes("proofPayload");
    must(isOurs || !words.startsWith("{"), "accepted: an entry that names nothing of the lab");
    return "accepted";
  },
};
