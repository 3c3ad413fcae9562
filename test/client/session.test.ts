/** Sessions and on-ramp secrets, sealed by the client and opened by hand, or the reverse. */
import { createECDH, webcrypto } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import {
  type ClientError,
  createSessionTarget,
  encryptOnRampSecret,
  openCredentialBundle,
  openSession,
} from "../../src/client/index.js";
import { bundleByHand, fromBase58check, openByHand, toBase58check } from "./hpke-by-hand.js";
import { ORGANIZATION, fakeFetch, isStamped, newApiKey, rejectionOf, testClient } from "./support.js";

const BODY = Buffer.from('{"a":1}');

/**
 * A bundle, the key it was sealed to, and the key inside, as deployed services make them: the test vector of
 * `decryptCredentialBundle` in github.com/tkhq/sdk, packages/crypto/src/__tests__/crypto-test.ts at 0b568be5.
 */
const VECTOR = {
  bundle:
    "w99a5xV6A75TfoAUkZn869fVyDYvgVsKrawMALZXmrauZd8hEv66EkPU1Z42CUaHESQjcA5bqd8dynTGBMLWB9" +
    "ewtXWPEVbZvocB4Tw2K1vQVp7uwjf",
  targetPrivateKey: "20fa65df11f24833790ae283fc9a0c215eecbbc589549767977994dc69d05a56",
  sessionPrivateKey: "67ee05fc3bdf4161bc70701c221d8d77180294cefcfcea64ba83c4d4c732fcb9",
};

/** An ECDH pair of WebCrypto that cannot be exported, of a private key in hex. */
async function targetOf(privateKey: string): Promise<CryptoKeyPair> {
  const ecdh = createECDH("prime256v1");
  ecdh.setPrivateKey(Buffer.from(privateKey, "hex"));
  const point = ecdh.getPublicKey();
  const part = (start: number, end?: number): string => point.subarray(start, end).toString("base64url");
  const jwk = {
    kty: "EC",
    crv: "P-256",
    d: Buffer.from(privateKey, "hex").toString("base64url"),
    x: part(1, 33),
    y: part(33),
  };
  const algorithm = { name: "ECDH", namedCurve: "P-256" };
  return {
    privateKey: await webcrypto.subtle.importKey("jwk", jwk, algorithm, false, ["deriveBits"]),
    publicKey: await webcrypto.subtle.importKey("raw", point, algorithm, true, []),
  } as CryptoKeyPair;
}

function publicKeyOf(privateKey: string): string {
  const ecdh = createECDH("prime256v1");
  ecdh.setPrivateKey(Buffer.from(privateKey, "hex"));
  return ecdh.getPublicKey("hex", "compressed");
}

/** A bundle of a private key, sealed by hand. */
function bundleOf(privateKey: string, targetPublicKey: string, info?: Buffer): string {
  return bundleByHand(Buffer.from(privateKey, "hex"), Buffer.from(targetPublicKey, "hex"), info);
}

describe("a credential bundle", () => {
  it("of a deployed service opens, and its key stamps", async () => {
    const { stamper } = await openCredentialBundle(VECTOR.bundle, await targetOf(VECTOR.targetPrivateKey));
    expect(isStamped((await stamper.stamp(BODY)).value, BODY, publicKeyOf(VECTOR.sessionPrivateKey))).toBe(true);
  });

  it("of a deployed service opens by hand too", () => {
    const opened = openByHand(VECTOR.bundle, Buffer.from(VECTOR.targetPrivateKey, "hex"));
    expect(opened.toString("hex")).toBe(VECTOR.sessionPrivateKey);
  });

  it("sealed by hand opens, and the key does not leave WebCrypto again", async () => {
    for (let i = 0; i < 3; i++) {
      const target = await createSessionTarget();
      expect(target.publicKey).toMatch(/^04[0-9a-f]{128}$/);
      const session = newApiKey();
      const { stamper, keyPair } = await target.open(bundleOf(session.privateKey, target.publicKey));
      expect(isStamped((await stamper.stamp(BODY)).value, BODY, session.publicKey)).toBe(true);
      expect(keyPair.privateKey.extractable).toBe(false);
      await expect(webcrypto.subtle.exportKey("jwk", keyPair.privateKey)).rejects.toThrow();
      expect(inspect({ target, stamper, keyPair }, { depth: 9, showHidden: true })).not.toContain(session.privateKey);
    }
  });

  const target = createSessionTarget();
  const session = newApiKey();
  type Spoil = (bundle: string, publicKey: string) => string;
  const reseal =
    (plaintext: string): Spoil =>
    (_, publicKey) =>
      bundleOf(plaintext, publicKey);
  const spoiled: [string, Spoil, string][] = [
    [
      "with a changed character",
      (bundle) => (bundle[9] === "a" ? bundle.replace("a", "b") : bundle.slice(0, 9) + "a" + bundle.slice(10)),
      "not base58check",
    ],
    ["that is not text of this alphabet", (bundle) => bundle.slice(1) + "0", "not base58check"],
    ["that is empty", () => "", "not base58check"],
    [
      "with a changed ciphertext",
      (bundle) => {
        const bytes = Buffer.from(fromBase58check(bundle));
        bytes[40]! ^= 1;
        return toBase58check(bytes);
      },
      "sealed to another key, or changed",
    ],
    [
      "cut short",
      (bundle) => toBase58check(fromBase58check(bundle).subarray(0, -1)),
      "sealed to another key, or changed",
    ],
    [
      "of a key alone",
      (bundle) => toBase58check(fromBase58check(bundle).subarray(0, 33)),
      "sealed to another key, or changed",
    ],
    ["shorter than a key", (bundle) => toBase58check(fromBase58check(bundle).subarray(0, 20)), "not a point of P-256"],
    [
      "whose key is not a point",
      (bundle) =>
        toBase58check(Buffer.concat([Buffer.of(2), Buffer.alloc(32, 0xff), fromBase58check(bundle).subarray(33)])),
      "not a point of P-256",
    ],
    [
      "sealed to another target",
      () => bundleOf(session.privateKey, createECDH("prime256v1").generateKeys("hex")),
      "sealed to another key, or changed",
    ],
    [
      "sealed for another purpose",
      (_, publicKey) => bundleOf(session.privateKey, publicKey, Buffer.from("other_info")),
      "sealed to another key, or changed",
    ],
    ["of 31 bytes", reseal("11".repeat(31)), "no private key of P-256"],
    ["of 33 bytes", reseal("11".repeat(33)), "no private key of P-256"],
    ["of a scalar out of range", reseal("ff".repeat(32)), "no private key of P-256"],
    ["of zero", reseal("00".repeat(32)), "no private key of P-256"],
  ];
  it.each(spoiled)("%s does not open", async (_, spoil, reason) => {
    const { publicKey, open } = await target;
    const error = await rejectionOf<ClientError>(open(spoil(bundleOf(session.privateKey, publicKey), publicKey)));
    expect(error.code).toBe("bundle");
    expect(error.message).toContain(reason);
    expect(inspect(error, { depth: 9 })).not.toContain(session.privateKey);
  });
});

describe("openSession", () => {
  const session = newApiKey();
  const answerWith = (result: (parameters: { targetPublicKey: string }) => unknown): ReturnType<typeof fakeFetch> =>
    fakeFetch(({ body }) => {
      const { parameters } = body as { parameters: { targetPublicKey: string } };
      const activity = {
        id: "a",
        organizationId: ORGANIZATION,
        status: "ACTIVITY_STATUS_COMPLETED",
        type: "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2",
        result: result(parameters),
      };
      return { body: { activity } };
    });

  it("requests a session for a new target, and opens its key", async () => {
    const { fetch, requests } = answerWith(({ targetPublicKey }) => ({
      createReadWriteSessionResultV2: {
        organizationId: ORGANIZATION,
        organizationName: "o",
        userId: "u",
        username: "ada",
        apiKeyId: "k",
        credentialBundle: bundleOf(session.privateKey, targetPublicKey),
      },
    }));
    const client = await testClient({ fetch });
    const opened = await openSession(
      client,
      { userId: "u", apiKeyName: "n", expirationSeconds: "900", invalidateExisting: false },
      { organizationId: "child" },
    );
    expect(requests[0]!.body).toMatchObject({
      organizationId: "child",
      parameters: { userId: "u", apiKeyName: "n", expirationSeconds: "900", invalidateExisting: false },
    });
    expect(opened.result!.apiKeyId).toBe("k");
    const { value } = await opened.session.stamper.stamp(BODY);
    expect(isStamped(value, BODY, session.publicKey)).toBe(true);
    await openSession(client, { userId: "u" });
    const targets = requests.map(
      ({ body }) => (body as { parameters: { targetPublicKey: string } }).parameters.targetPublicKey,
    );
    expect(targets[0]).not.toBe(targets[1]);
  });

  it("reports an activity that is not completed yet", async () => {
    const { fetch } = answerWith(() => null);
    expect(await rejectionOf(openSession(await testClient({ fetch }), {}))).toMatchObject({
      code: "answer",
      effect: "unknown",
    });
  });
});

describe("an on-ramp secret", () => {
  const receiver = createECDH("prime256v1");
  receiver.generateKeys();

  it.each(["compressed", "uncompressed"] as const)("sealed to a %s key opens by hand", async (format) => {
    const secret = "sk_live_… ✓";
    const sealed = await encryptOnRampSecret(secret, receiver.getPublicKey("hex", format));
    expect(openByHand(sealed, receiver.getPrivateKey()).toString("utf8")).toBe(secret);
    expect(await encryptOnRampSecret(secret, receiver.getPublicKey("hex", format))).not.toBe(sealed);
  });

  it.each(["", "04", `02${"ff".repeat(32)}`, "not hex"])("is not sealed to %j", async (key) => {
    const error = await rejectionOf<ClientError>(encryptOnRampSecret("s3cr3t", key));
    expect(error.code).toBe("key");
    expect(inspect(error, { depth: 9 })).not.toContain("s3cr3t");
  });
});
