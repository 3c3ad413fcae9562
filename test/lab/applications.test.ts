/** Applications of the caller's: deployments, app proofs in each form, and faults, verified by node:crypto. */
import { createHash, createPublicKey, randomBytes, verify } from "node:crypto";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { QUERY_OPERATIONS } from "../../src/client/index.js";
import { readShape } from "../../src/decode/shapes.js";
import { fromBase64, toBase64, toHex } from "../../src/bytes.js";
import { decodeAttestationDocument } from "../../src/decode/attestation-document.js";
import { decodeManifest, decodeManifestEnvelope } from "../../src/decode/manifest/index.js";
import { type Policy, verifyBootProof, verifyEvidence } from "../../src/index.js";
import {
  APPLICATION_FAULTS,
  type ApplicationFaultName,
  type ApplicationOptions,
  type LabApplication,
  type LabOptions,
  startLab,
} from "../../src/lab/index.js";
import { testFolder } from "../support/folder.js";
import { type Json, failing, query } from "./support.js";

type SignOptions = NonNullable<Parameters<LabApplication["sign"]>[1]>;
const DIGEST = createHash("sha256").update("a binary").digest();
const ARGS = ["--host", "0.0.0.0", "--port", "3000"];
const ANSWER = { type: "APP_PROOF_TYPE_QUOTE", amount: "100", rates: [{ bid: 1.5, open: true }], note: null };

const lab = await startLab({
  applications: [
    { name: "quotes", binaryDigest: DIGEST.toString("hex"), args: ARGS },
    { name: "examples", binaryDigest: new Uint8Array(DIGEST), sign: { key: "signing-half", signature: "der" } },
    { name: "template", binaryDigest: DIGEST, args: [], sign: { names: "template" } },
    { name: "wrapped", binaryDigest: DIGEST, sign: (payload, proof) => ({ result: JSON.parse(payload), proof }) },
  ],
});
const quotes = lab.application("quotes");
afterAll(() => lab.close());
afterEach(() => {
  lab.setFault(null);
  quotes.setFault(null);
});

function request(challenge = randomBytes(16).toString("base64url")): Json {
  return { ...ANSWER, timestampMs: String(Date.now()), challenge };
}

async function bootProofOf(ephemeralKey: string): Promise<Json> {
  const { status, body } = await query(lab, "get_boot_proof", { ephemeralKey });
  expect(status).toBe(200);
  return body["bootProof"] as Json;
}

/** The uncompressed point of the half that signs, as SubjectPublicKeyInfo. */
function publicKeyOf(point: Buffer): ReturnType<typeof createPublicKey> {
  expect(point.length).toBe(65);
  const header = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex");
  return createPublicKey({ key: Buffer.concat([header, point]), format: "der", type: "spki" });
}

/** By node:crypto alone. `key` is the half that signs, in hex. */
function isSigned(key: string, text: string, signature: string, dsaEncoding: "ieee-p1363" | "der"): boolean {
  const point = publicKeyOf(Buffer.from(key, "hex"));
  return verify("sha256", Buffer.from(text), { key: point, dsaEncoding }, Buffer.from(signature, "hex"));
}

const signingHalf = (whole: string): string => whole.slice(130);

/** The raw signature in a DER one, without the checks of any reader. */
function integersOf(der: string): string[] {
  const bytes = Buffer.from(der, "hex");
  expect(bytes[0]).toBe(0x30);
  expect(bytes[2]).toBe(0x02);
  const second = 4 + bytes[3]!;
  expect(bytes[second]).toBe(0x02);
  const end = second + 2 + bytes[second + 1]!;
  return [bytes.subarray(4, second), bytes.subarray(second + 2, end), bytes.subarray(end)].map((part) =>
    part.toString("hex"),
  );
}

async function judged(
  application: LabApplication,
  proof: Json,
  policy = application.policy,
  expected?: object,
): Promise<string[]> {
  const pieces = { bootProofs: [await bootProofOf(application.ephemeralKey)], appProofs: [proof] };
  return failing((await verifyEvidence(pieces, { policy, now: new Date(), ...(expected && { expected }) })).report);
}

describe("an application", () => {
  it("has the binary, arguments, sets and keys of its own in its manifest", async () => {
    expect(lab.applications.map(({ name }) => name)).toEqual(["quotes", "examples", "template", "wrapped"]);
    expect(() => lab.application("others")).toThrow(RangeError);
    const manifests = await Promise.all(
      lab.applications.map(async ({ ephemeralKey }) => {
        const { qosManifestB64 } = await bootProofOf(ephemeralKey);
        return decodeManifest(fromBase64(qosManifestB64)!);
      }),
    );
    for (const [index, manifest] of manifests.entries()) {
      expect(toHex(manifest.pivot!.hash)).toBe(DIGEST.toString("hex"));
      expect(manifest.pivot!.args).toEqual(index === 0 ? ARGS : []);
      expect(manifest.namespace).toMatchObject({ name: `lab/tvc/${lab.applications[index]!.appId}`, nonce: 20260900 });
    }
    const service = decodeManifest(fromBase64((await bootProofOf(lab.enclaves[0]!.ephemeralKey))["qosManifestB64"])!);
    const all = [service, ...manifests];
    const keys = all.flatMap(({ namespace, manifestSet, shareSet }) =>
      [namespace.quorumKey, ...[...manifestSet.members, ...shareSet.members].map(({ pubKey }) => pubKey)].map(toHex),
    );
    expect(new Set(keys).size).toBe(all.length * 6);
  });

  it("has boot proofs by key, and the latest one by its id", async () => {
    const { status, body } = await query(lab, "get_latest_boot_proof", { appName: quotes.appId });
    expect([status, body["bootProof"]]).toEqual([200, await bootProofOf(quotes.ephemeralKey)]);
    expect(body["bootProof"]).toMatchObject({
      ephemeralPublicKeyHex: quotes.ephemeralKey,
      enclaveApp: quotes.appId,
      deploymentLabel: quotes.deploymentId,
      qosManifestVersion: "v2",
    });
    expect((await query(lab, "get_latest_boot_proof", { appName: "quotes" })).status).toBe(404);
  });

  it("is verified under its own policy, and under no other", async () => {
    const proof = await quotes.sign(request());
    expect(await judged(quotes, proof)).toEqual([]);
    expect(await judged(quotes, proof, lab.policy)).toContain("policy.deployment");
    expect(await judged(quotes, proof, lab.application("examples").policy)).toContain("policy.quorum-key");
    expect(await judged(quotes, proof, quotes.setupPolicy)).toContain("policy.commitment");
    const [pins] = quotes.policyFile.deployments;
    expect(pins).toMatchObject({ name: "quotes", pivotHash: DIGEST.toString("hex"), pivotArgs: ARGS });
    expect(lab.policyFile.deployments).toHaveLength(4);
  });

  it("boots again with new keys, and keeps its boot proofs", async () => {
    const other = lab.application("template");
    const before = other.enclaves.map(({ ephemeralKey }) => ephemeralKey);
    await other.restart();
    const after = other.enclaves.map(({ ephemeralKey }) => ephemeralKey);
    expect(new Set([...before, ...after]).size).toBe(4);
    for (const key of [...before, ...after])
      expect(
        (await verifyBootProof(await bootProofOf(key), { policy: other.policy, now: new Date() })).report.verdict,
      ).toBe("verified");
    const proof = await other.sign(request(), { names: "standard" });
    expect(proof["publicKey"]).toBe(other.ephemeralKey);
    for (const id of [other.enclaves[0]!.enclaveId, `${other.appId} ${other.deploymentId}`])
      await expect(lab.restartEnclave(id)).rejects.toThrow(RangeError);
  });
});

describe("an app proof", () => {
  const text = JSON.stringify({ ...ANSWER, timestampMs: "1772600767000" });
  const forms: [string, SignOptions][] = (["whole", "signing-half"] as const).flatMap((key) =>
    (["raw", "der"] as const).flatMap((signature) =>
      (["standard", "template"] as const).map((names): [string, SignOptions] => [
        `${key}, ${signature}, ${names}`,
        { key, signature, names },
      ]),
    ),
  );

  it.each(forms)("%s", async (_, form) => {
    const proof = await quotes.sign(text, form);
    const template = form.names === "template";
    expect(Object.keys(proof)).toEqual(
      template ? ["public_key", "payload", "signature"] : ["scheme", "publicKey", "proofPayload", "signature"],
    );
    if (!template) expect(proof["scheme"]).toBe("SIGNATURE_SCHEME_EPHEMERAL_KEY_P256");
    expect(proof[template ? "payload" : "proofPayload"]).toBe(text);
    const { ephemeralKey } = quotes;
    expect(proof[template ? "public_key" : "publicKey"]).toBe(
      form.key === "whole" ? ephemeralKey : signingHalf(ephemeralKey),
    );
    const signature = proof["signature"] as string;
    const isRaw = form.signature === "raw";
    expect(signature.length === 128).toBe(isRaw);
    expect(isSigned(signingHalf(ephemeralKey), text, signature, isRaw ? "ieee-p1363" : "der")).toBe(true);
    expect(isSigned(signingHalf(ephemeralKey), `${text} `, signature, isRaw ? "ieee-p1363" : "der")).toBe(false);
  });

  it("is in the form that the application was started with, or the call says", async () => {
    const examples = lab.application("examples");
    const proof = await examples.sign(text);
    expect(proof["publicKey"]).toBe(signingHalf(examples.ephemeralKey));
    expect(isSigned(proof["publicKey"] as string, text, proof["signature"] as string, "der")).toBe(true);
    const other = await examples.sign(text, { signature: "raw" });
    expect([other["publicKey"], (other["signature"] as string).length]).toEqual([proof["publicKey"], 128]);
    expect(await lab.application("template").sign(text)).toMatchObject({ payload: text });
    expect(await quotes.sign(text, { key: undefined, fault: undefined } as unknown as SignOptions)).toMatchObject({
      publicKey: quotes.ephemeralKey,
    });
  });

  it("signs an object as its JSON", async () => {
    const payload = { type: "T", nested: { list: [1, "é"] } };
    expect(await quotes.sign(payload)).toMatchObject({ proofPayload: '{"type":"T","nested":{"list":[1,"é"]}}' });
  });

  it("is handed to the application's own function", async () => {
    const wrapped = lab.application("wrapped");
    const answer = (await wrapped.sign(text, { signature: "der", key: "signing-half" })) as Json;
    expect(answer["result"]).toEqual(JSON.parse(text));
    const { publicKey, proofPayload, signature } = answer["proof"];
    expect([publicKey, proofPayload]).toEqual([signingHalf(wrapped.ephemeralKey), text]);
    expect(isSigned(publicKey, text, signature, "der")).toBe(true);
  });
});

describe("a fault of an application", () => {
  const challenge = randomBytes(16).toString("base64url");
  const body = request(challenge);
  const text = JSON.stringify(body);
  const half = (): string => signingHalf(quotes.ephemeralKey);
  const faulty = (fault: ApplicationFaultName, options: SignOptions = {}): Promise<Json> =>
    quotes.sign(text, { fault, ...options });
  const isGenuine = ({ publicKey, proofPayload, signature }: Json): boolean =>
    isSigned(publicKey.slice(-130), proofPayload, signature, "ieee-p1363");

  it("another-replica: genuine, of the other enclave's key", async () => {
    const proof = await faulty("another-replica");
    expect(proof["proofPayload"]).toBe(text);
    expect(proof["publicKey"]).toBe(quotes.enclaves[1]!.ephemeralKey);
    expect(isGenuine(proof)).toBe(true);
    expect(await judged(quotes, proof)).toEqual(["app.key"]);
    const own = await bootProofOf(proof["publicKey"]);
    const { report } = await verifyEvidence(
      { bootProofs: [own], appProofs: [proof] },
      { policy: quotes.policy, now: new Date() },
    );
    expect(report.verdict).toBe("verified");
  });

  it("another-request: genuine, with the same type, time and challenge, and other values", async () => {
    const proof = await faulty("another-request");
    expect([proof["publicKey"], isGenuine(proof)]).toEqual([quotes.ephemeralKey, true]);
    expect(JSON.parse(proof["proofPayload"])).toEqual({
      ...body,
      amount: "109",
      rates: [{ bid: 1, open: false }],
      note: null,
    });
    await expect(quotes.sign({ type: "T", challenge }, { fault: "another-request" })).rejects.toThrow(TypeError);
    await expect(quotes.sign("no JSON", { fault: "another-request" })).rejects.toThrow(TypeError);
    for (const value of ["", "a", "Ax", "é😀", "ff", 1, 0, true])
      expect(
        JSON.parse((await quotes.sign({ value }, { fault: "another-request" }))["proofPayload"] as string).value,
      ).not.toEqual(value);
  });

  it("replayed: the last honest proof, in the form of the call", async () => {
    const honest = await quotes.sign(request());
    await faulty("another-challenge");
    expect(await faulty("replayed")).toEqual(honest);
    expect(await faulty("replayed")).toEqual(honest);
    const der = await faulty("replayed", { signature: "der" });
    expect(der["proofPayload"]).toBe(honest["proofPayload"]);
    expect(isSigned(half(), der["proofPayload"], der["signature"], "der")).toBe(true);
    const raw = integersOf(der["signature"])
      .slice(0, 2)
      .map((integer) => integer.padStart(64, "0").slice(-64));
    expect(raw.join("")).toBe(honest["signature"]);
  });

  it("replayed: the first proof is honest if there is none before", async () => {
    const fresh = await startLab({ applications: [{ name: "fresh", binaryDigest: DIGEST }] });
    const first = await fresh.application("fresh").sign(text, { fault: "replayed" });
    expect([first["proofPayload"], isGenuine(first)]).toEqual([text, true]);
    expect(await fresh.application("fresh").sign(request(), { fault: "replayed" })).toEqual(first);
    await fresh.close();
  });

  it("another-challenge: at the pointer of the call, in its alphabet", async () => {
    const nonce = randomBytes(32).toString("hex");
    const payload = { ...body, "a/b": [{ "~": nonce }] };
    const proof = await quotes.sign(payload, { fault: "another-challenge", challenge: "/a~1b/0/~0" });
    const read = JSON.parse(proof["proofPayload"] as string);
    expect(read["a/b"][0]["~"]).toMatch(/^[0-9a-f]{64}$/);
    expect(read["a/b"][0]["~"]).not.toBe(nonce);
    expect({ ...read, "a/b": payload["a/b"] }).toEqual(payload);
    const kept = await quotes.sign(payload, { fault: "another-request", challenge: "/a~1b/0/~0" });
    expect(JSON.parse(kept["proofPayload"] as string)["a/b"]).toEqual(payload["a/b"]);
    expect(JSON.parse(kept["proofPayload"] as string)["challenge"]).not.toBe(challenge);
    for (const pointer of ["/none", "/a~1b/1/~0", "/amount/x", "/rates", "/__proto__/x"])
      await expect(quotes.sign(payload, { fault: "another-challenge", challenge: pointer })).rejects.toThrow(TypeError);
    for (const pointer of ["", "challenge", "/~2"])
      await expect(quotes.sign(payload, { challenge: pointer })).rejects.toThrow(TypeError);
  });

  it.each(APPLICATION_FAULTS)("$name fails $fails", async ({ name, fails }) => {
    await quotes.sign(request());
    const [{ type, amount }, challengeAt] = [ANSWER, "/challenge"];
    const payload = [{ type, values: { "/amount": amount, [challengeAt]: challenge }, challenge: challengeAt }];
    expect(await judged(quotes, await faulty(name), quotes.policy, { payload })).toEqual(
      expect.arrayContaining([...fails]),
    );
  });

  /** The signature as each value says it should have been. */
  it.each<[ApplicationFaultName, (integers: string[]) => string[]]>([
    ["der-leading-zero", ([r, s, rest]) => [r!.replace(/^00(?=[0-7])/, ""), s!, rest!]],
    ["der-trailing-bytes", ([r, s, rest]) => [r!, s!, rest!.replace(/^00$/, "")]],
    [
      "der-negative-integers",
      ([r, s, rest]) => [r!, s!].map((part) => part.replace(/^(?=[89a-f])/, "00")).concat(rest!),
    ],
  ])("%s: only the encoding of the signature differs", async (fault, repaired) => {
    const { publicKey, proofPayload, signature } = await faulty(fault);
    expect([publicKey, proofPayload]).toEqual([quotes.ephemeralKey, text]);
    const [integers, whole] = [integersOf(signature), repaired(integersOf(signature))];
    expect([whole, whole[2]]).toEqual([expect.not.arrayContaining([integers.join()]), ""]);
    for (const integer of whole.slice(0, 2)) expect(integer).toMatch(/^(?:00[89a-f]|0[1-9a-f]|[1-7])/);
    const raw = whole.slice(0, 2).map((integer) => integer.padStart(64, "0").slice(-64));
    expect(isSigned(half(), text, raw.join(""), "ieee-p1363")).toBe(true);
  });

  it("is set for all proofs, but for those of a call that names another or none", async () => {
    expect(quotes.fault).toBeNull();
    quotes.setFault("encryption-half");
    expect(quotes.fault).toBe("encryption-half");
    expect((await quotes.sign(text))["publicKey"]).toBe(quotes.ephemeralKey.slice(0, 130));
    expect((await quotes.sign(text, { fault: null }))["publicKey"]).toBe(quotes.ephemeralKey);
    expect((await quotes.sign(text, { fault: "another-replica" }))["publicKey"]).toBe(quotes.enclaves[1]!.ephemeralKey);
    quotes.setFault(null);
    expect((await quotes.sign(text))["publicKey"]).toBe(quotes.ephemeralKey);
    lab.setFault("encryption-half");
    expect((await quotes.sign(text))["publicKey"]).toBe(quotes.ephemeralKey.slice(0, 130));
    expect([quotes.fault, (await quotes.sign(text, { fault: null }))["publicKey"]]).toEqual([
      "encryption-half",
      quotes.ephemeralKey,
    ]);
    lab.setFault(null);
    const unknown = "no-such-fault" as ApplicationFaultName;
    expect(() => quotes.setFault(unknown)).toThrow(RangeError);
    await expect(quotes.sign(text, { fault: unknown })).rejects.toThrow(RangeError);
  });
});

describe("a deployment", () => {
  const ask = (name: string, deploymentId: string, sending = {}): Promise<{ status: number; body: Json }> =>
    query(lab, name, { deploymentId }, sending);

  it("is returned with its sets and the manifest that was booted", async () => {
    const { status, body } = await ask("get_tvc_deployment", quotes.deploymentId);
    expect([status, readShape(QUERY_OPERATIONS.getTvcDeployment.result, body).faults]).toEqual([200, []]);
    const { tvcDeployment } = body;
    const { qosManifestB64 } = await bootProofOf(quotes.ephemeralKey);
    expect(tvcDeployment).toMatchObject({
      id: quotes.deploymentId,
      organizationId: lab.organizationId,
      appId: quotes.appId,
      manifest: { id: expect.any(String), manifest: qosManifestB64 },
      manifestSet: { name: "quotes manifest set", threshold: 2 },
      shareSet: { name: "quotes share set", threshold: 2 },
    });
    const { manifestSet, shareSet } = decodeManifest(fromBase64(qosManifestB64)!);
    for (const [set, shown] of [
      [manifestSet, tvcDeployment.manifestSet],
      [shareSet, tvcDeployment.shareSet],
    ] as const)
      expect(shown.operators.map(({ name, publicKey }: Json) => [name, publicKey])).toEqual(
        set.members.map(({ alias, pubKey }) => [alias, toHex(pubKey)]),
      );
  });

  async function setupProof(application: LabApplication): Promise<{ details: Json; bootProof: Json }> {
    const { status, body } = await ask("get_tvc_deployment_provisioning_details", application.deploymentId);
    expect(status).toBe(200);
    const { faults } = readShape(QUERY_OPERATIONS.getTvcDeploymentProvisioningDetails.result, body);
    const members = ["attestationDocument", "manifestEnvelope", "provisioningState"];
    expect([faults, Object.keys(body)]).toEqual([[], members]);
    expect(body["provisioningState"]).toBe("PROVISIONING_STATE_AWAITING_PROVISION");
    const document = fromBase64(body["attestationDocument"])!;
    const { qosManifestB64 } = await bootProofOf(application.ephemeralKey);
    const bootProof = {
      ephemeralPublicKeyHex: toHex(decodeAttestationDocument(document).publicKey!),
      cloudAttestationDocB64: toBase64(document),
      qosManifestB64,
      qosManifestEnvelopeB64: body["manifestEnvelope"],
    };
    return { details: body, bootProof };
  }
  const checksOf = async (bootProof: Json, policy: Policy): Promise<string[]> =>
    failing((await verifyBootProof(bootProof, { policy, now: new Date() })).report);

  it("is shown to holders of shares as a setup document, before anyone posted a share", async () => {
    const { details, bootProof } = await setupProof(quotes);
    expect(bootProof["ephemeralPublicKeyHex"]).not.toBe(quotes.ephemeralKey);
    const envelope = decodeManifestEnvelope(fromBase64(details["manifestEnvelope"])!);
    expect([envelope.manifestSetApprovals.length, envelope.shareSetApprovals.length]).toEqual([2, 0]);
    const verified = await verifyBootProof(bootProof, { policy: quotes.setupPolicy, now: new Date() });
    expect([verified.report.verdict, verified.bootProof?.commitment]).toEqual(["verified", "setup"]);
    expect(await checksOf(bootProof, quotes.policy)).toEqual(
      expect.arrayContaining(["policy.commitment", "policy.deployment"]),
    );
    expect(await checksOf(bootProof, lab.application("examples").setupPolicy)).toContain("policy.quorum-key");
  });

  it("has one setup key and one live key, and each document commits to both", async () => {
    for (const fault of [null, "stale-manifest", "ancient-boot"] as const) {
      lab.setFault(fault);
      const { bootProof } = await setupProof(quotes);
      const live = await bootProofOf(quotes.ephemeralKey);
      const [setupPcrs, livePcrs] = [bootProof, live].map(
        ({ cloudAttestationDocB64 }) => decodeAttestationDocument(fromBase64(cloudAttestationDocB64)!).pcrs,
      );
      for (const index of [16, 17]) expect(toHex(setupPcrs!.get(index)!)).toBe(toHex(livePcrs!.get(index)!));
    }
  });

  it("shows the faults of the boot, to callers and to holders of shares", async () => {
    for (const fault of ["stale-manifest", "forged-leaf"] as const) {
      lab.setFault(fault);
      const { bootProof } = await setupProof(quotes);
      const expected = fault === "stale-manifest" ? "policy.nonce" : "chain.signature";
      expect(
        await checksOf({ ...bootProof, qosManifestB64: await manifestIn(bootProof) }, quotes.setupPolicy),
      ).toContain(expected);
      const proof = await quotes.sign(request());
      expect(proof["publicKey"]).toBe(quotes.ephemeralKey);
      expect(await judged(quotes, proof)).toContain(expected);
    }
    lab.setFault("another-label");
    expect(await judged(quotes, await quotes.sign(request()))).toContain("policy.labels");
    lab.setFault("unattested-key");
    const any = await query(lab, "get_boot_proof", { ephemeralKey: "04".repeat(130) });
    expect(["signer", "policy-engine"]).toContain(any.body["bootProof"].enclaveApp);
    lab.setFault(null);
    expect(await judged(quotes, await quotes.sign(request()))).toEqual([]);
  });

  /** Of its envelope, for faults that change both. */
  async function manifestIn({ qosManifestEnvelopeB64 }: Json): Promise<string> {
    const { manifest } = JSON.parse(Buffer.from(qosManifestEnvelopeB64, "base64").toString()) as Json;
    return Buffer.from(JSON.stringify(manifest)).toString("base64");
  }

  it("is of its organization alone", async () => {
    for (const name of ["get_tvc_deployment", "get_tvc_deployment_provisioning_details"]) {
      for (const id of ["none", quotes.appId, lab.enclaves[0]!.release])
        expect(await ask(name, id)).toMatchObject({ status: 404, body: { code: 5 } });
      const organizationId = lab.childOrganizationId;
      expect((await ask(name, quotes.deploymentId, { organizationId })).status).toBe(404);
      expect((await ask(name, quotes.deploymentId, { key: lab.child.apiKey })).status).toBe(403);
      expect((await ask(name, "")).status).toBe(400);
    }
  });
});

describe("a replica that was stopped", () => {
  it("leaves the other, which signs", async () => {
    const own = await startLab({ applications: [{ name: "one", binaryDigest: DIGEST }] });
    const application = own.application("one");
    const [, second] = application.enclaves;
    own.stopEnclave("one 1");
    expect(application.ephemeralKey).toBe(second!.ephemeralKey);
    expect(await application.sign("{}")).toMatchObject({ publicKey: second!.ephemeralKey });
    await expect(application.sign("{}", { fault: "another-replica" })).rejects.toThrow(RangeError);
    expect(() => own.stopEnclave("one 2")).toThrow(RangeError);
    await own.close();
  });

  it("is booted again before its certificate expires", async () => {
    let now = new Date("2026-03-04T05:06:07.000Z");
    const own = await startLab({ now: () => now, applications: [{ name: "one", binaryDigest: DIGEST }] });
    const application = own.application("one");
    const before = application.ephemeralKey;
    now = new Date(now.getTime() + 175 * 60_000);
    const proof = await application.sign("{}");
    expect(proof["publicKey"]).toBe(application.ephemeralKey);
    expect(application.ephemeralKey).not.toBe(before);
    const details = () =>
      query(own, "get_tvc_deployment_provisioning_details", { deploymentId: application.deploymentId });
    const [earlier, same] = [await details(), await details()];
    expect(same.body).toEqual(earlier.body);
    now = new Date(now.getTime() + 175 * 60_000);
    expect((await details()).body).not.toEqual(earlier.body);
    await own.close();
  });
});

describe("a data folder", () => {
  const dataFolder = testFolder();

  it("keeps an application, and makes a new deployment for another binary or other arguments", async () => {
    const started = async (options: Omit<ApplicationOptions, "name">) => {
      const own = await startLab({ dataFolder, applications: [{ name: "kept", ...options }] });
      const application = own.application("kept");
      const { appId, deploymentId, ephemeralKey, policyFile } = application;
      const answers = await Promise.all(
        known.map((id) => query(own, "get_tvc_deployment_provisioning_details", { deploymentId: id })),
      );
      expect(answers.map(({ status }) => status)).toEqual(known.map(() => 200));
      known.push(deploymentId);
      const { body } = await query(own, "get_boot_proof", { ephemeralKey });
      expect(
        (await verifyBootProof(body["bootProof"], { policy: application.policy, now: new Date() })).report.verdict,
      ).toBe("verified");
      own.setFault("forged-leaf");
      for (const key of keys) expect((await query(own, "get_boot_proof", { ephemeralKey: key })).status).toBe(200);
      keys.push(ephemeralKey);
      await own.close();
      return { appId, deploymentId, pins: policyFile.deployments[0]! };
    };
    const known: string[] = [];
    const keys: string[] = [];
    const first = await started({ binaryDigest: DIGEST, args: ["a"] });
    const again = await started({ binaryDigest: DIGEST.toString("hex").toUpperCase(), args: ["a"] });
    const args = await started({ binaryDigest: DIGEST, args: ["b"] });
    expect(await started({ binaryDigest: DIGEST, args: ["b"] })).toEqual(args);
    const binary = await started({ binaryDigest: createHash("sha256").update("another").digest(), args: ["b"] });
    expect([again, args, binary].map(({ appId }) => appId)).toEqual([first.appId, first.appId, first.appId]);
    expect(again).toEqual(first);
    expect(new Set([first, args, binary].map(({ deploymentId }) => deploymentId)).size).toBe(3);
    expect([first, args, binary].map(({ pins }) => pins.minNonce)).toEqual([20260900, 20260901, 20260902]);
    expect(new Set([first, args, binary].map(({ pins }) => JSON.stringify(pins.quorumKey))).size).toBe(1);
    const without = await startLab({ dataFolder });
    expect(without.applications).toEqual([]);
    without.setFault("forged-leaf");
    expect((await query(without, "get_boot_proof", { ephemeralKey: keys[0]! })).status).toBe(200);
    expect((await query(without, "get_latest_boot_proof", { appName: first.appId })).status).toBe(404);
    expect((await query(without, "get_tvc_deployment", { deploymentId: first.deploymentId })).status).toBe(200);
    await without.close();
  });
});

describe("invalid options", () => {
  const good = { name: "a", binaryDigest: DIGEST };
  const wrong: [string, unknown, string][] = [
    ["no list", good, "options.applications: expected an array"],
    ["no object", ["a"], "options.applications[0]: expected an object, with name, binaryDigest, args, sign"],
    ["an unknown member", [{ ...good, arg: [] }], "options.applications[0].arg: unknown"],
    ["no name", [{ binaryDigest: DIGEST }], "options.applications[0].name"],
    ["a name with a slash", [good, { ...good, name: "a/b" }], "options.applications[1].name"],
    ["a name twice", [good, good], "options.applications[1].name: another application has it"],
    ["no digest", [{ name: "a" }], "options.applications[0].binaryDigest is required"],
    ["a digest of 31 bytes", [{ ...good, binaryDigest: DIGEST.subarray(1) }], "binaryDigest"],
    ["a digest with another prefix", [{ ...good, binaryDigest: `sha512:${"00".repeat(32)}` }], "binaryDigest"],
    ["arguments that are text", [{ ...good, args: "--a" }], "options.applications[0].args"],
    ["an argument that is a number", [{ ...good, args: [1] }], "options.applications[0].args[0]"],
    ["another form", [{ ...good, sign: { signature: "DER" } }], "options.applications[0].sign.signature"],
    ["an unknown part of the form", [{ ...good, sign: { keys: "whole" } }], "options.applications[0].sign.keys"],
  ];
  it.each(wrong)("are refused with %s", async (_, applications, message) => {
    await expect(startLab({ applications } as LabOptions)).rejects.toThrow(TypeError);
    await expect(startLab({ applications } as LabOptions)).rejects.toThrow(message);
  });

  it("of a call are refused", async () => {
    for (const options of [{ signature: "DER" }, { key: "half" }, { names: "other" }, { form: "der" }, { fault: 1 }])
      await expect(quotes.sign("{}", options as SignOptions)).rejects.toThrow(TypeError);
    for (const payload of [1, null, [], undefined])
      await expect(quotes.sign(payload as unknown as string)).rejects.toThrow(TypeError);
  });
});
