/** Authentication: both kinds of stamp, made by openssl, node and a software passkey; sessions; invalid stamps. */
import { createECDH, createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { type ApiKeyPair, SoftwarePasskey, startLab, stampWithApiKey } from "../../src/lab/index.js";
import { generateApiKey } from "../../src/lab/api-key.js";
import { openByHand } from "../client/hpke-by-hand.js";
import { type Answer, type Json, completed, query, send, submit } from "./support.js";

let now = new Date("2026-03-04T05:06:07.000Z");
const lab = await startLab({ now: () => now });
afterAll(() => lab.close());
const { ids, organizationId } = lab;
const BODY = JSON.stringify({ organizationId, userId: ids.userId });

const ask = (headers: Record<string, string>, text = BODY): Promise<Answer> =>
  send(lab, "query/get_user", text, { headers });
const at = (): string => String(now.getTime());

function refusal(status: number, turnkeyErrorCode: string): object {
  return {
    status,
    body: {
      code: status === 401 ? 16 : 3,
      message: expect.stringMatching(/./),
      details: [{ "@type": expect.any(String), turnkeyErrorCode }],
    },
  };
}

function encoded(stamp: object): Record<string, string> {
  return { "X-Stamp": Buffer.from(JSON.stringify(stamp)).toString("base64url") };
}

function decoded(text = BODY, key: ApiKeyPair = lab.apiKey): Json {
  return JSON.parse(Buffer.from(stampWithApiKey(key, text), "base64url").toString()) as Json;
}

describe("X-Stamp", () => {
  it("is valid only for the exact bytes of the body", async () => {
    expect(await ask({ "X-Stamp": stampWithApiKey(lab.apiKey, BODY) }, `${BODY}\n`)).toMatchObject(
      refusal(401, "SIGNATURE_INVALID"),
    );
    expect(await ask({ "X-Stamp": stampWithApiKey(lab.apiKey, ` ${BODY}`) }, ` ${BODY}`)).toMatchObject({
      status: 200,
    });
  });

  const stamp = decoded();
  const wrong: [string, () => Record<string, string>, string?][] = [
    ["none", () => ({}), "SIGNATURE_MISSING"],
    ["empty", () => ({ "X-Stamp": "" })],
    ["not JSON", () => ({ "X-Stamp": Buffer.from("stamp").toString("base64url") })],
    [
      "a member twice",
      () => ({ "X-Stamp": Buffer.from(JSON.stringify(stamp).replace("{", '{"scheme":"x",')).toString("base64url") }),
    ],
    ["another scheme", () => encoded({ ...stamp, scheme: "SIGNATURE_SCHEME_TK_API_SECP256K1" })],
    ["no signature", () => encoded({ ...stamp, signature: undefined })],
    ["a signature that is not hex", () => encoded({ ...stamp, signature: "zz" })],
    ["a raw signature", () => encoded({ ...stamp, signature: "11".repeat(64) })],
    ["another body's signature", () => encoded(decoded("{}"))],
    ["another key's signature", () => encoded({ ...decoded(BODY, generateApiKey()), publicKey: lab.apiKey.publicKey })],
    ["an uncompressed key", () => encoded({ ...stamp, publicKey: `04${"11".repeat(64)}` })],
    ["a key that is on no curve", () => encoded({ ...stamp, publicKey: `02${"ff".repeat(32)}` })],
    ["both kinds of stamp", () => ({ ...encoded(stamp), "X-Stamp-WebAuthn": "{}" })],
    ["an unknown key", () => encoded(decoded(BODY, generateApiKey())), "PUBLIC_KEY_NOT_FOUND"],
  ];
  it.each(wrong)("%s", async (_, headers, code = "SIGNATURE_INVALID") => {
    expect(await ask(headers())).toMatchObject(refusal(401, code));
  });
});

describe("X-Stamp-WebAuthn", () => {
  const passkey = new SoftwarePasskey("wallet.example");
  beforeAll(() => lab.registerPasskey(ids.userId, passkey));

  async function stampOf(text: string, by = passkey): Promise<Json> {
    const challenge = Buffer.from(createHash("sha256").update(text).digest("hex"));
    const { id, response, getClientExtensionResults } = await by.get({ publicKey: { challenge } });
    // As browsers' stampers request of a PublicKeyCredential (WebAuthn level 2, section 5.1).
    expect(getClientExtensionResults()).toEqual({});
    const base64url = (bytes: ArrayBuffer) => Buffer.from(bytes).toString("base64url");
    return {
      credentialId: id,
      authenticatorData: base64url(response.authenticatorData),
      clientDataJson: base64url(response.clientDataJSON),
      signature: base64url(response.signature),
    };
  }
  const header = (stamp: Json): Record<string, string> => ({ "X-Stamp-WebAuthn": JSON.stringify(stamp) });

  it("stamps queries and submits", async () => {
    const { body } = await ask(header(await stampOf(BODY)));
    expect(body["user"].authenticators[0]).toMatchObject({
      credentialId: passkey.credentialId,
      credential: { publicKey: passkey.publicKey, type: "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR" },
    });
    const text = JSON.stringify({
      type: "ACTIVITY_TYPE_UPDATE_WALLET",
      timestampMs: at(),
      organizationId,
      parameters: { walletId: ids.walletId, walletName: "by passkey" },
    });
    expect(await send(lab, "submit/update_wallet", text, { headers: header(await stampOf(text)) })).toMatchObject({
      status: 200,
    });
  });

  it("uses an allowed passkey of the relying party", async () => {
    const challenge = new Uint8Array(32);
    const ids = [{ type: "public-key" as const, id: Buffer.from(passkey.credentialId, "base64url") }];
    const get: (options: CredentialRequestOptions) => Promise<unknown> = (options) => passkey.get(options);
    await expect(
      get({ publicKey: { challenge, rpId: "wallet.example", allowCredentials: ids } }),
    ).resolves.toMatchObject({ id: passkey.credentialId });
    await expect(get({ publicKey: { challenge, rpId: "elsewhere.example" } })).rejects.toThrow(DOMException);
    await expect(
      get({ publicKey: { challenge, allowCredentials: [{ type: "public-key", id: new Uint8Array(16) }] } }),
    ).rejects.toThrow(DOMException);
  });

  it("is invalid for another body, party, type or key", async () => {
    const stamp = await stampOf(BODY);
    const elsewhere = new SoftwarePasskey("elsewhere.example");
    const byElsewhere = await stampOf(BODY, elsewhere);
    const invalid = [
      await stampOf("{}"),
      { ...byElsewhere, credentialId: passkey.credentialId },
      { ...stamp, signature: "AAAA" },
      { ...stamp, clientDataJson: Buffer.from("{}").toString("base64url") },
      {},
    ].map(header);
    for (const headers of [...invalid, { "X-Stamp-WebAuthn": "stamp" }])
      expect(await ask(headers), JSON.stringify(headers)).toMatchObject(refusal(401, "SIGNATURE_INVALID"));
    expect(await ask(header(byElsewhere))).toMatchObject(refusal(401, "PUBLIC_KEY_NOT_FOUND"));
    const { credentialId, publicKey } = elsewhere;
    await lab.registerPasskey(ids.userId, { credentialId, publicKey, rpId: "wallet.example" });
    expect(await ask(header(await stampOf(BODY, elsewhere)))).toMatchObject(refusal(401, "SIGNATURE_INVALID"));
  });
});

describe("the timestamp of a submit", () => {
  const late = (milliseconds: number): Promise<Answer> =>
    submit(lab, "updateWallet", { walletId: ids.walletId }, { timestampMs: String(now.getTime() + milliseconds) });

  it("may be five minutes in the past and one in the future", async () => {
    expect(await late(-300_000)).toMatchObject({ status: 200 });
    expect(await late(60_000)).toMatchObject({ status: 200 });
    expect(await late(-300_001)).toMatchObject(refusal(400, "REQUEST_INVALID"));
    expect(await late(60_001)).toMatchObject(refusal(400, "REQUEST_INVALID"));
    expect((await late(-1e15)).status).toBe(400);
  });
});

describe("sessions", () => {
  async function session(parameters: Json = {}): Promise<{ key: ApiKeyPair; result: Json }> {
    const target = createECDH("prime256v1");
    target.generateKeys();
    const all = {
      targetPublicKey: target.getPublicKey("hex"),
      userId: ids.userId,
      apiKeyName: "phone",
      expirationSeconds: "60",
      ...parameters,
    };
    const activity = await completed(submit(lab, "createReadWriteSession", all, { timestampMs: at() }));
    const result = activity["result"].createReadWriteSessionResultV2;
    expect(result).toMatchObject({ organizationId, organizationName: "Lab", userId: ids.userId, username: "admin" });
    return { key: opened(result.credentialBundle, target), result };
  }
  const works = async (key: ApiKeyPair): Promise<number> =>
    (await query(lab, "get_user", { userId: ids.userId }, { key })).status;

  it("stamp until they expire", async () => {
    const { key, result } = await session();
    const { body } = await query(lab, "get_user", { userId: ids.userId }, { key });
    const shown = body["user"].apiKeys.find((one: Json) => one["apiKeyId"] === result["apiKeyId"]);
    expect(shown).toMatchObject({
      apiKeyName: "phone",
      expirationSeconds: "60",
      credential: { publicKey: key.publicKey, type: "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256" },
    });
    now = new Date(now.getTime() + 59_999);
    expect(await works(key)).toBe(200);
    now = new Date(now.getTime() + 1);
    expect(await query(lab, "get_user", { userId: ids.userId }, { key })).toMatchObject(
      refusal(401, "API_KEY_EXPIRED"),
    );
  });

  it("end if the next one requests it; other keys remain", async () => {
    const [first, second] = [await session(), await session()];
    expect([await works(first.key), await works(second.key)]).toEqual([200, 200]);
    const third = await session({ invalidateExisting: true });
    expect([await works(first.key), await works(second.key), await works(third.key), await works(lab.apiKey)]).toEqual([
      401, 401, 200, 200,
    ]);
  });

  it("need a valid point, a valid time and an authorized user", async () => {
    const parameters = { targetPublicKey: generateApiKey().publicKey, userId: ids.userId };
    const ask = (more: Json, sending = {}) =>
      submit(lab, "createReadWriteSession", { ...parameters, ...more }, { timestampMs: at(), ...sending });
    expect(await ask({ targetPublicKey: "04".repeat(65) })).toMatchObject(refusal(400, "REQUEST_INVALID"));
    for (const expirationSeconds of ["0", "01", "-1", "1.5", "soon", "99999999", "2592001"])
      expect((await ask({ expirationSeconds })).status).toBe(400);
    expect(await ask({ userId: lab.child.userId })).toMatchObject({ status: 404 });
    expect(await ask({}, { key: lab.operator.apiKey })).toMatchObject({ status: 403 });
    expect(await ask({ userId: lab.operator.userId }, { key: lab.operator.apiKey })).toMatchObject({ status: 200 });
    expect(await ask({})).toMatchObject({ status: 200 });
  });
});

function opened(bundle: string, target: ReturnType<typeof createECDH>): ApiKeyPair {
  const privateKey = openByHand(bundle, target.getPrivateKey());
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(privateKey);
  expect(privateKey).toHaveLength(32);
  return { publicKey: pair.getPublicKey("hex", "compressed"), privateKey: toHex(privateKey) };
}
