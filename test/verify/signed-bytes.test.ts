/** Bytes that an application signed with its ephemeral key: what passes, each attack, and the rules of the policy. */
import { describe, expect, it } from "vitest";
import { concatBytes, toUtf8 } from "../../src/bytes.js";
import type { CheckId } from "../../src/checks.js";
import type { JsonObject } from "../../src/decode/json.js";
import {
  NO_POLICY_ANY_ENCLAVE,
  NamedEvidence,
  type Policy,
  type SignedBytes,
  type SignedBytesOptions,
  type SignedBytesVerification,
  parsePolicy,
  parseTrustAnchor,
  renderText,
  requireVerified,
  verifyAppProof,
  verifyBootProof,
  verifySignedBytes,
} from "../../src/index.js";
import { addressDerivationPayload, customPayload, policyOutcomePayload } from "../../src/lab/enclave.js";
import { LAB_ADDRESS, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { generateQosKeyPair, qosSign, sha256 } from "../../src/lab/qos.js";
import { inDer, withS } from "../support/high-s.js";
import { NOW, after, flip, forge, hex, lab } from "../attacks/support.js";

const key = lab.ephemeralKey;
const message = sha256(toUtf8("what the transaction does"));
const signature = qosSign(key, message);
const evidence = forge();
const { bootProof, anchorPem } = evidence;
const PARSER_SCHEME = "SIGNATURE_SCHEME_TURNKEY_P256_EPHEMERAL_KEY";

function policyOf(own: object | null = { bytes: true }, members: JsonObject = {}): Policy {
  const deployment = { ...labDeployment(lab), ...(own && { appProofs: own as JsonObject }) };
  return parsePolicy(labPolicy(anchorPem, [deployment], members));
}

const HONEST = { bootProof, message, publicKey: hex(key.publicKey), signature: hex(signature) };

interface Judged extends SignedBytesVerification {
  readonly verification: SignedBytesVerification;
  readonly failed: readonly CheckId[];
  readonly warned: readonly CheckId[];
}

async function judge(signed: SignedBytes, options: Partial<SignedBytesOptions> = {}): Promise<Judged> {
  const given = { policy: policyOf(), now: NOW, expected: message, ...options };
  const verification = await verifySignedBytes(signed, given);
  const idsOf = (status: string): CheckId[] =>
    verification.report.checks.filter((check) => check.status === status).map(({ id }) => id);
  return { ...verification, verification, failed: idsOf("fail"), warned: idsOf("warn") };
}

const signedBy = (bytes: Uint8Array, pair = key): SignedBytes => ({
  ...HONEST,
  message: bytes,
  signature: qosSign(pair, bytes),
});

describe("signed bytes that pass", () => {
  const { publicKey: _, ...withoutKey } = HONEST;
  it.each<[string, SignedBytes]>([
    ["with the whole key in hex", HONEST],
    ["with the signing half of the key", { ...HONEST, publicKey: key.publicKey.subarray(65) }],
    ["without a key, which then is the attested one", withoutKey],
    ["with the scheme of app proofs", { ...HONEST, scheme: "SIGNATURE_SCHEME_EPHEMERAL_KEY_P256" }],
    ["with the scheme of a parser of transactions", { ...HONEST, scheme: PARSER_SCHEME }],
    ["with a signature in DER", { ...HONEST, signature: inDer(signature) }],
    ["with a high s", { ...HONEST, signature: withS("high", signature) }],
    ["with a message in hex", { ...HONEST, message: hex(message) }],
    ["with a name", { ...HONEST, message: new NamedEvidence("message.bin", message) as never }],
  ])("%s", async (_name, signed) => {
    const { report, signedBytes, failed, warned } = await judge(signed);
    expect([report.verdict, failed]).toEqual(["verified", []]);
    expect(warned).toEqual(["chain.anchor", "app.time"]);
    expect(signedBytes!.message).toEqual(message);
    const claims = { bootProof: 0, length: 32, sha256: hex(sha256(message)), expected: true };
    expect(report.claims!.signedBytes).toEqual(claims);
    expect(report.evidence.at(-1)).toMatchObject({ subject: "app[0]" });
  });

  it("are nobody's answer where nothing is expected, and say so", async () => {
    const { verification, warned } = await judge(HONEST, { expected: null });
    expect(warned).toEqual(["chain.anchor", "app.time", "app.request"]);
    expect(requireVerified(verification).signedBytes.isExpected).toBe(false);
    const text = renderText(verification.report);
    expect(text).toContain("The application signed these 32 bytes");
    expect(text).toContain("you named none to compare with");
  });

  it("take a boot proof that was verified before", async () => {
    const boot = await verifyBootProof(bootProof, { policy: policyOf(), now: NOW });
    expect((await judge({ ...HONEST, bootProof: boot.bootProof })).failed).toEqual([]);
  });

  it("are authentic without a policy", async () => {
    const trustAnchors = [parseTrustAnchor("lab", anchorPem)];
    const { report } = await judge(HONEST, { policy: NO_POLICY_ANY_ENCLAVE, trustAnchors });
    expect(report.verdict).toBe("authentic");
  });

  it.each([
    ["JSON without a type", '{"answer":1}'],
    ["JSON that is no object", '["type"]'],
    ["JSON with a type twice, which is not strict", '{"type":"A","type":"B"}'],
    ["text that only begins as JSON", '{"type":"A"} '.slice(0, -2)],
  ])("may be %s", async (_name, text) => {
    const bytes = toUtf8(text);
    expect((await judge(signedBy(bytes), { expected: bytes })).failed).toEqual([]);
  });
});

describe("signed bytes that are refused", () => {
  const other = generateQosKeyPair();
  const otherBytes = sha256(toUtf8("what the attacker's transaction does"));
  const proof = toUtf8(JSON.stringify(addressDerivationPayload(after(60), LAB_ADDRESS)));
  const half = hex(key.publicKey.subarray(65));
  it.each<[string, SignedBytes, CheckId[]]>([
    ["of another question: genuine bytes, but not the expected ones", signedBy(otherBytes), ["app.request"]],
    ["shorter than the expected ones", signedBy(message.subarray(1)), ["app.request"]],
    ["longer than the expected ones", signedBy(concatBytes(message, message)), ["app.request"]],
    ["with a changed message", { ...HONEST, message: flip(message, 3) }, ["app.signature", "app.request"]],
    ["with a changed signature", { ...HONEST, signature: flip(signature, 40) }, ["app.signature"]],
    ["over the digest of the message", { ...HONEST, signature: qosSign(key, sha256(message)) }, ["app.signature"]],
    ["signed by another key", signedBy(message, other), ["app.signature"]],
    ["signed by another key that is named", { ...signedBy(message, other), publicKey: other.publicKey }, ["app.key"]],
    [
      "with the encryption half as its key",
      { ...HONEST, publicKey: key.publicKey.subarray(0, 65) },
      ["app.signature", "app.key"],
    ],
    [
      "with swapped halves of the key",
      { ...HONEST, publicKey: half + hex(key.publicKey.subarray(0, 65)) },
      ["app.signature", "app.key"],
    ],
    ["with a key of 129 bytes", { ...HONEST, publicKey: key.publicKey.subarray(1) }, ["app.decode"]],
    ["with a key that is not hex", { ...HONEST, publicKey: "0x04" }, ["app.decode"]],
    ["with an empty key", { ...HONEST, publicKey: "" }, ["app.decode"]],
    ["with another scheme", { ...HONEST, scheme: "SIGNATURE_SCHEME_TK_API_P256" }, ["app.decode"]],
    ["with an empty signature", { ...HONEST, signature: "" }, ["app.decode"]],
    ["with a signature of 65 bytes", { ...HONEST, signature: `${hex(signature)}00` }, ["app.decode"]],
    ["with a text as its message", { ...HONEST, message: "what the transaction does" }, ["app.decode"]],
    [
      "that are empty",
      { ...HONEST, message: "", signature: qosSign(key, new Uint8Array()) },
      ["app.decode", "app.request"],
    ],
    ["that are the payload of an app proof", signedBy(proof), ["app.payload", "app.request"]],
    [
      "of a boot proof that is rejected",
      { ...HONEST, bootProof: { ...bootProof, ephemeralPublicKeyHex: half } },
      ["bind.key"],
    ],
  ])("%s", async (_name, signed, failed) => {
    const found = await judge(signed);
    expect(found.report.verdict).toBe("rejected");
    expect(found.signedBytes).toBeNull();
    expect(found.failed).toEqual(failed);
  });

  it("of a setup key, which serves nobody", async () => {
    const setup = forge({ generation: "setup" });
    const found = await judge({ ...HONEST, bootProof: setup.bootProof }, { policy: policyOf({ bytes: true }) });
    expect(found.failed).toContain("app.key");
  });
});

describe("the policy on signed bytes", () => {
  it.each<[string, object | null, JsonObject]>([
    ["refuses them where the only deployment does not allow them", null, {}],
    ["refuses them where the deployment allows types alone", { types: ["A"] }, {}],
    ["refuses them where the deployment says false", { bytes: false }, {}],
    ["refuses them where maxAge limits the age of app proofs", { bytes: true }, { appProofs: { maxAge: "3650d" } }],
    ["does not count them as the required app proof", { bytes: true }, { appProofs: { required: true } }],
    ["does not count them as a decision", { bytes: true }, { appProofs: { decision: true } }],
  ])("%s", async (_name, own, members) => {
    const { failed, report } = await judge(HONEST, { policy: policyOf(own, members) });
    expect(failed).toEqual(["policy.app-proof"]);
    expect(report.checks.find(({ id }) => id === "policy.app-proof")!.advice).toBeDefined();
  });

  it("says of bytes that were rejected that its rules were not applied", async () => {
    const { report } = await judge({ ...HONEST, signature: flip(signature, 40) });
    const check = report.checks.find(({ id }) => id === "policy.app-proof")!;
    expect([check.status, check.detail]).toEqual(["skip", "the signed bytes were rejected"]);
  });

  it.each([
    ["of addresses", addressDerivationPayload(after(60), LAB_ADDRESS)],
    ["of decisions", policyOutcomePayload(after(60), LAB_ADDRESS.organizationId)],
  ])("refuses app proofs %s from an application that signs any bytes", async (_name, payload) => {
    const { bootProof: boot, appProofs } = forge({ payloads: [payload] });
    const options = { policy: policyOf(), now: NOW, expected: { organizationId: LAB_ADDRESS.organizationId } };
    const { report } = await verifyAppProof(appProofs[0], boot, options);
    expect(report.checks.filter(({ status }) => status === "fail").map(({ id }) => id)).toEqual(["policy.app-proof"]);
  });

  it("accepts app proofs of the application's own types beside", async () => {
    const { bootProof: boot, appProofs } = forge({ payloads: [customPayload(after(60))] });
    const { report } = await verifyAppProof(appProofs[0], boot, { policy: policyOf(), now: NOW });
    expect(report.verdict).toBe("verified");
  });

  it.each<[string, object]>([
    ["names neither", {}],
    ["names a type that vouches for an address", { bytes: true, types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION"] }],
    ["names a type that vouches for a decision", { bytes: true, types: ["A", "APP_PROOF_TYPE_POLICY_OUTCOME"] }],
    ["gives a text", { bytes: "true" }],
  ])("is malformed if it %s", (_name, own) => {
    expect(() => policyOf(own)).toThrow(expect.objectContaining({ code: "policy" }));
  });

  it("is malformed if all applications of the policy may sign bytes", () => {
    expect(() => policyOf(null, { appProofs: { bytes: true } as never })).toThrow(/appProofs\.bytes/);
  });
});

describe("a call about signed bytes", () => {
  const options = { policy: policyOf(), now: NOW, expected: message };
  it.each<[string, object, object, RegExp]>([
    ["without what is expected", HONEST, { policy: policyOf(), now: NOW }, /options\.expected: required/],
    ["with undefined as what is expected", HONEST, { ...options, expected: undefined }, /options\.expected/],
    ["with nothing expected: it would pass any bytes", HONEST, { ...options, expected: new Uint8Array() }, /not empty/],
    [
      "with an expectation of another kind",
      HONEST,
      { ...options, expected: { organizationId: "o" } },
      /options\.expected/,
    ],
    ["without a policy", HONEST, { now: NOW, expected: message }, /policy/],
    ["with rules of boot proofs alone", HONEST, { ...options, bootProofsOnly: true }, /bootProofsOnly: unknown/],
    ["with a message of another type", { ...HONEST, message: 1 }, options, /signed\.message: expected bytes/],
    ["without a signature", { bootProof, message }, options, /signed\.signature/],
    ["with an undefined key", { ...HONEST, publicKey: undefined }, options, /signed\.publicKey: undefined/],
    ["with a member of another spelling", { ...HONEST, public_key: "" }, options, /public_key: unknown/],
  ])("%s throws", async (_name, signed, given, message) => {
    await expect(verifySignedBytes(signed as never, given as never)).rejects.toThrow(message);
  });
});
