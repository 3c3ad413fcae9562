/** Stamps, compared with other implementations: node:crypto and a software passkey. */
import {
  createECDH,
  createHash,
  createPublicKey,
  createVerify,
  generateKeyPairSync,
  sign,
  webcrypto,
} from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { rawSignature } from "../../src/decode/ecdsa-signature.js";
import { type ApiKey, type ClientError, apiKeyStamper, webauthnStamper } from "../../src/client/index.js";
import { derSignature } from "../../src/client/stamp.js";
import { apiKey, fakeFetch, isStamped, newApiKey, rejectionOf, testClient } from "./support.js";

const BODY = Buffer.from('{"organizationId":"o","walletName":"Ærø ✓"}');

describe("X-Stamp", () => {
  it("verifies over the bytes of the body, by node:crypto", async () => {
    const stamper = await apiKeyStamper(apiKey);
    for (let i = 0; i < 5; i++) {
      const body = Buffer.from(`{"i":${i}}`);
      const { header, value } = await stamper.stamp(body);
      expect(header).toBe("X-Stamp");
      expect(isStamped(value, body)).toBe(true);
      expect(isStamped(value, Buffer.from(`{"i":${i + 1}}`))).toBe(false);
    }
  });

  it("is made with a pair that never leaves WebCrypto", async () => {
    const pair = (await webcrypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, [
      "sign",
      "verify",
    ])) as CryptoKeyPair;
    const raw = Buffer.from(await webcrypto.subtle.exportKey("raw", pair.publicKey));
    const publicKey = Buffer.concat([Buffer.of(2 + (raw.at(-1)! & 1)), raw.subarray(1, 33)]).toString("hex");
    const { value } = await (await apiKeyStamper(pair)).stamp(BODY);
    expect(isStamped(value, BODY, publicKey)).toBe(true);
  });

  it("is made with a pair whose public key is exported compressed, as it was imported", async () => {
    const ecdsa = { name: "ECDSA", namedCurve: "P-256" };
    const pairs = await Promise.all([0, 1].map(() => webcrypto.subtle.generateKey(ecdsa, false, ["sign", "verify"])));
    const [own, other] = pairs as [CryptoKeyPair, CryptoKeyPair];
    const subtle = Object.create(webcrypto.subtle, {
      exportKey: {
        // Returns what @peculiar/webcrypto returns for such a key: 33 bytes.
        value: async (_: "raw", key: CryptoKey) => {
          const point = new Uint8Array(await webcrypto.subtle.exportKey("raw", key));
          return Uint8Array.of(2 + (point[64]! & 1), ...point.subarray(1, 33)).buffer;
        },
      },
      sign: { value: webcrypto.subtle.sign.bind(webcrypto.subtle) },
    }) as SubtleCrypto;
    vi.stubGlobal("crypto", { subtle });
    try {
      const { value } = await (await apiKeyStamper(own)).stamp(BODY);
      const publicKey = Buffer.from(await subtle.exportKey("raw", own.publicKey)).toString("hex");
      expect(isStamped(value, BODY, publicKey)).toBe(true);
      const mixed = apiKeyStamper({ privateKey: own.privateKey, publicKey: other.publicKey });
      expect((await rejectionOf<ClientError>(mixed)).message).toContain("not that of the private key");
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it("is made with a key whose public half is given uncompressed, or in upper case", async () => {
    const ecdh = createECDH("prime256v1");
    const key = {
      publicKey: ecdh.generateKeys("hex").toUpperCase(),
      privateKey: ecdh.getPrivateKey("hex").padStart(64, "0").toUpperCase(),
    };
    const { value } = await (await apiKeyStamper(key)).stamp(BODY);
    const stated = (JSON.parse(Buffer.from(value, "base64url").toString()) as { publicKey: string }).publicKey;
    expect(stated).toMatch(/^0[23][0-9a-f]{64}$/);
    expect(isStamped(value, BODY, stated)).toBe(true);
  });

  const other = newApiKey();
  const bad: [string, ApiKey, string][] = [
    ["of another pair", { ...apiKey, publicKey: other.publicKey }, "not that of its privateKey"],
    ["whose public half is not a point", { ...apiKey, publicKey: `02${"ff".repeat(32)}` }, "not a point"],
    ["whose public half is not hex", { ...apiKey, publicKey: "key" }, "not a point"],
    ["whose public half is missing", { privateKey: apiKey.privateKey } as ApiKey, "not a point"],
    ["whose private half is too short", { ...apiKey, privateKey: apiKey.privateKey.slice(2) }, "64 hex digits"],
    ["whose private half is zero", { ...apiKey, privateKey: "00".repeat(32) }, "not a private key"],
    [
      "whose private half is the order",
      { ...apiKey, privateKey: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551" },
      "not a private key",
    ],
  ];
  it.each(bad)("is not made with a key %s, which is not quoted", async (_, key, reason) => {
    const error = await rejectionOf<ClientError>(apiKeyStamper(key));
    expect(error).toMatchObject({ code: "key", effect: "none" });
    expect(error.message).toContain(reason);
    expect(inspect(error, { depth: 9 })).not.toContain(apiKey.privateKey.slice(2, 40));
  });

  it("is not made with halves of two pairs, nor with keys for something else", async () => {
    const generate = async (algorithm: object, usages: KeyUsage[]): Promise<CryptoKeyPair> =>
      (await webcrypto.subtle.generateKey(algorithm as EcKeyGenParams, false, usages)) as unknown as CryptoKeyPair;
    const ecdsa = { name: "ECDSA", namedCurve: "P-256" };
    const [one, two] = [await generate(ecdsa, ["sign", "verify"]), await generate(ecdsa, ["sign", "verify"])];
    const pairs = [
      { privateKey: one.privateKey, publicKey: two.publicKey },
      { privateKey: one.publicKey, publicKey: one.publicKey },
      await generate({ name: "ECDH", namedCurve: "P-256" }, ["deriveBits"]),
      await generate({ name: "ECDSA", namedCurve: "P-384" }, ["sign", "verify"]),
    ];
    for (const pair of pairs) expect(await rejectionOf(apiKeyStamper(pair))).toMatchObject({ code: "key" });
  });

  it("shows nothing of the key", async () => {
    const stamper = await apiKeyStamper(apiKey);
    expect(inspect(stamper, { depth: 9, showHidden: true }) + JSON.stringify(stamper)).not.toContain(apiKey.privateKey);
  });
});

describe("DER", () => {
  it.each([`${"00".repeat(31)}01`, `80${"00".repeat(31)}`, "7f".repeat(32), `00ff${"11".repeat(30)}`, "ff".repeat(32)])(
    "of r = s = %s",
    (scalar) => {
      const raw = Buffer.from(scalar + scalar, "hex");
      expect(rawSignature(derSignature(raw), 32)).toEqual(new Uint8Array(raw));
    },
  );

  it("of r = s = 0 is not a signature", () => {
    expect(rawSignature(derSignature(new Uint8Array(64)), 32)).toBeNull();
  });
});

describe("X-Stamp-WebAuthn", () => {
  const passkey = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const credentialId = Buffer.from("fb4e8a7f00", "hex");
  const authenticatorData = Buffer.concat([
    createHash("sha256").update("service.test").digest(),
    Buffer.of(5, 0, 0, 0, 1),
  ]);
  const bufferOf = (bytes: Uint8Array): ArrayBuffer => Uint8Array.from(bytes).buffer;

  /** An authenticator (WebAuthn section 7.2). */
  async function get({ publicKey }: CredentialRequestOptions): Promise<unknown> {
    const challenge = Buffer.from(publicKey!.challenge as Uint8Array).toString("base64url");
    const clientData = Buffer.from(JSON.stringify({ type: "webauthn.get", challenge, origin: "https://service.test" }));
    const signature = sign(
      "sha256",
      Buffer.concat([authenticatorData, createHash("sha256").update(clientData).digest()]),
      passkey.privateKey,
    );
    const response = {
      authenticatorData: bufferOf(authenticatorData),
      clientDataJSON: bufferOf(clientData),
      signature: bufferOf(signature),
    };
    return { id: credentialId.toString("base64url"), rawId: bufferOf(credentialId), type: "public-key", response };
  }

  it("is the assertion over the hash of the body sent", async () => {
    let asked: CredentialRequestOptions = {};
    const allowCredentials = [{ type: "public-key" as const, id: new Uint8Array(credentialId) }];
    const stamper = webauthnStamper({
      get: (options) => ((asked = options), get(options)),
      rpId: "service.test",
      allowCredentials,
      timeoutMs: 5000,
    });
    const { fetch, requests } = fakeFetch(() => ({ body: { user: { userId: "u" } } }));
    await (await testClient({ stamper, fetch })).getUser({ userId: "u" });
    expect(asked.publicKey).toMatchObject({
      rpId: "service.test",
      allowCredentials,
      timeout: 5000,
      userVerification: "preferred",
    });

    const [request] = requests;
    expect(request!.headers["x-stamp"]).toBeUndefined();
    const stamp = JSON.parse(request!.headers["x-stamp-webauthn"] as string) as Record<string, string>;
    expect(Object.keys(stamp)).toEqual(["credentialId", "authenticatorData", "clientDataJson", "signature"]);
    const bytes = Object.fromEntries(
      Object.entries(stamp).map(([name, text]) => [name, Buffer.from(text, "base64url")]),
    );
    expect(Object.values(stamp).join("")).not.toMatch(/[=+/]/);
    expect(bytes["credentialId"]).toEqual(credentialId);
    const { challenge, type } = JSON.parse(bytes["clientDataJson"]!.toString()) as Record<string, string>;
    expect(type).toBe("webauthn.get");
    expect(Buffer.from(challenge!, "base64url").toString("utf8")).toBe(
      createHash("sha256").update(request!.raw).digest("hex"),
    );
    const signed = Buffer.concat([
      bytes["authenticatorData"]!,
      createHash("sha256").update(bytes["clientDataJson"]!).digest(),
    ]);
    expect(createVerify("SHA256").update(signed).verify(createPublicKey(passkey.privateKey), bytes["signature"]!)).toBe(
      true,
    );
  });

  it("takes what an authenticator answers as views of its bytes too", async () => {
    const views = async (options: CredentialRequestOptions): Promise<unknown> => {
      const { response } = (await get(options)) as { response: Record<string, ArrayBuffer> };
      return {
        rawId: credentialId,
        response: Object.fromEntries(Object.entries(response).map(([name, value]) => [name, new Uint8Array(value)])),
      };
    };
    const { value } = await webauthnStamper({ get: views, rpId: "service.test" }).stamp(BODY);
    expect((JSON.parse(value) as { credentialId: string }).credentialId).toBe(credentialId.toString("base64url"));
  });

  const refusals: [string, () => Promise<unknown>][] = [
    ["the person declines", () => Promise.reject(new DOMException("user said: s3cr3t", "NotAllowedError"))],
    ["there is no credential", () => Promise.resolve(null)],
    [
      "the answer has no assertion",
      () => Promise.resolve({ rawId: new ArrayBuffer(1), response: { attestationObject: new ArrayBuffer(1) } }),
    ],
    ["something else is thrown", () => Promise.reject("s3cr3t" as unknown as Error)],
  ];
  it.each(refusals)("is not made where %s, and nothing is sent", async (_, refuse) => {
    const { fetch, requests } = fakeFetch(() => ({ body: {} }));
    const client = await testClient({ stamper: webauthnStamper({ get: refuse, rpId: "service.test" }), fetch });
    const error = await rejectionOf<ClientError>(client.getUser({ userId: "u" }));
    expect(error).toMatchObject({ code: "stamp", effect: "none" });
    expect(inspect(error, { depth: 9 })).not.toContain("s3cr3t");
    expect(requests).toHaveLength(0);
  });

  it("can be aborted while the user is prompted", async () => {
    const controller = new AbortController();
    const stamper = webauthnStamper({
      get: ({ signal }) =>
        new Promise((_, reject) => signal!.addEventListener("abort", () => reject(new DOMException("", "AbortError")))),
      rpId: "r",
    });
    const call = (await testClient({ stamper })).getUser({ userId: "u" }, { signal: controller.signal });
    controller.abort();
    expect(await rejectionOf(call)).toMatchObject({ code: "aborted", effect: "none" });
  });
});
