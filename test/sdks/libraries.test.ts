/**
 * Libraries over clients of the SDKs: each does its work over a wrapped client, and is refused where the service tells
 * one lie. Stampers stamp for a wrapped client, and for our own.
 */
import { createRequire } from "node:module";
import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { TurnkeyClient as CoreClient } from "@turnkey/core";
import { TurnkeyClient } from "@turnkey/http";
import { hashMessage, hashTypedData, recoverAddress, recoverTransactionAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { fromHex, toHex } from "../../src/bytes.js";
import { type ForeignStamper, reportOf, stamperFrom, verified } from "../../src/adapters/index.js";
import { createClient } from "../../src/client/index.js";
import { stampWithApiKey, startLab } from "../../src/lab/index.js";
import { isStamped } from "../client/support.js";
import { type Json, account, completed, submit } from "../lab/support.js";
import { loopback } from "../support/loopback.js";
import { type AnyClient, SDKS, type Sdk, inputOf, placeOf } from "./support.js";

/** Without types, which name other versions of the SDKs. The kit cannot be imported without a bundler. */
const load = createRequire(import.meta.url) as (name: string) => Json;
load("fake-indexeddb/auto");
const { makeSignBytes } = load("@cosmjs/proto-signing");
const { TurnkeyDirectWallet } = load("@turnkey/cosmjs");
const { createEIP1193Provider } = load("@turnkey/eip-1193-provider");
const { IndexedDbStamper } = load("@turnkey/indexed-db-stamper");
const { WalletStamper } = load("@turnkey/wallet-stamper");
const { TurnkeyProvider, useTurnkey } = load("@turnkey/react-wallet-kit");
const { createElement } = load("react");
const { act, create } = load("react-test-renderer");

const lab = await startLab();
const { organizationId, policy, ids } = lab;
const OPTIONS = { policy, pollIntervalMs: 1 };
const [HTTP, SERVER, CORE] = SDKS as readonly [Sdk, Sdk, Sdk];
const wrapped = (sdk: Sdk, more: object = {}): AnyClient => verified(sdk.client(placeOf(lab)), { ...OPTIONS, ...more });
beforeEach(() => lab.setFault(null));
afterAll(() => Promise.all([lab.close(), chain.close(), gateway.close()]));

let [ethereum, uncompressed, privateKeyId] = ["", "", ""];
beforeAll(async () => {
  const path = "m/44'/60'/0'/0/0";
  const accounts = [account(path), account(path, "ADDRESS_FORMAT_UNCOMPRESSED")];
  const wallet = await completed(submit(lab, "createWallet", { walletName: "for libraries", accounts }));
  [ethereum, uncompressed] = wallet["result"].createWalletResult.addresses as [string, string];
  const key = { curve: "CURVE_SECP256K1", addressFormats: ["ADDRESS_FORMAT_UNCOMPRESSED"] };
  const privateKeys = [{ privateKeyName: "for cosmjs", ...key }];
  const made = await completed(submit(lab, "createPrivateKeys", { privateKeys }, { generateAppProofs: true }));
  privateKeyId = made["result"].createPrivateKeysResultV2.privateKeys[0].privateKeyId as string;
});

/** Whether cosmjs's signature is over the document's bytes, hashed so many times. */
async function cosmos(client: AnyClient, signWith: string, times = 1): Promise<boolean> {
  const wallet = await TurnkeyDirectWallet.init({ config: { client, organizationId, signWith } });
  const [{ address, pubkey }] = await wallet.getAccounts();
  const document = { bodyBytes: new Uint8Array([1]), authInfoBytes: new Uint8Array([2]), chainId: "lab-1" };
  const sign = (accountNumber: bigint): ReturnType<typeof wallet.signDirect> =>
    wallet.signDirect(address, { ...document, accountNumber }).catch((error: Error) => {
      // It takes no r or s that begins with a zero byte, as one in 128 does: another document has another.
      if (!/ must be encoded as unpadded big endian/.test(error.message)) throw error;
      return sign(accountNumber + 1n);
    });
  const { signed, signature } = await sign(3n);
  let digest = makeSignBytes(signed) as Uint8Array;
  for (let count = 0; count < times; count++) digest = sha256(digest);
  return secp256k1.verify(Buffer.from(signature.signature as string, "base64"), digest, pubkey, { prehash: false });
}

/** A node of a chain, which eip-1193-provider asks for the chain's id. */
const chain = await loopback((_, response, body) => {
  const { id } = JSON.parse(body.toString()) as Json;
  response.setHeader("content-type", "application/json").end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x1" }));
});
async function provided(client: AnyClient, method: string, params: readonly unknown[] = []): Promise<`0x${string}`> {
  const nativeCurrency = { name: "Ether", symbol: "ETH", decimals: 18 };
  const chains = [{ chainName: "lab", chainId: "0x1", rpcUrls: [chain.url], nativeCurrency }];
  const options = { turnkeyClient: client, organizationId, walletId: ids.walletId, chains };
  return (await createEIP1193Provider(options)).request({ method, params });
}
async function signs(hash: `0x${string}`, method: string, ...params: readonly unknown[]): Promise<boolean> {
  return (await recoverAddress({ hash, signature: await provided(wrapped(HTTP), method, params) })) === ethereum;
}
async function pays(): Promise<boolean> {
  const transaction = { chainId: "0x1", nonce: "0x3", gas: "0x5208", to: `0x${"22".repeat(20)}`, value: "0x1" };
  const params = [{ ...transaction, type: "0x2", from: ethereum }];
  const serializedTransaction = (await provided(wrapped(HTTP), "eth_signTransaction", params)) as `0x02${string}`;
  return (await recoverTransactionAddress({ serializedTransaction })) === ethereum;
}
const HASH = hashMessage("hello");
const NOTE = { types: { Note: [{ name: "text", type: "string" }] }, message: { text: "hello" } } as const;
const TYPED = { domain: { name: "test", chainId: 1 }, primaryType: "Note", ...NOTE } as const;

const SIGNERS: readonly [name: string, fault: string, isRight: () => Promise<boolean>][] = [
  ["cosmjs over sdk-server", "signature-of-another-key", () => cosmos(wrapped(SERVER), uncompressed)],
  ["cosmjs over core", "signature-over-another-payload", () => cosmos(wrapped(CORE), uncompressed)],
  ["cosmjs over http (twice hashed)", "signature-of-another-hash", () => cosmos(wrapped(HTTP), uncompressed, 2)],
  ["personal_sign", "signature-over-another-payload", () => signs(HASH, "personal_sign", HASH, ethereum)],
  ["eth_sign", "signature-of-another-key", () => signs(HASH, "eth_sign", ethereum, HASH)],
  ["typed data", "altered-recovery-id", () => signs(hashTypedData(TYPED), "eth_signTypedData_v4", ethereum, TYPED)],
  ["eth_signTransaction", "another-recipient", pays],
];

it.each(SIGNERS)("%s is right, and refused for %s", async (_, fault, isRight) => {
  expect(await isRight()).toBe(true);
  lab.setFault(fault);
  await expect(isRight()).rejects.toThrow(/^rejected: activity\.signature/);
});

it("eth_requestAccounts has addresses that were derived, and is refused for exchanged-address", async () => {
  const client = wrapped(HTTP, { verifyAddresses: true });
  expect(await provided(client, "eth_requestAccounts")).toHaveLength(2);
  lab.setFault("exchanged-address");
  await expect(provided(client, "eth_requestAccounts")).rejects.toThrow(/^rejected: .*contradicted/);
});

describe("cosmjs", () => {
  it("signs the hash of the hash over http without a wrapper, too", async () => {
    const client = HTTP.client(placeOf(lab));
    expect([await cosmos(client, uncompressed), await cosmos(client, uncompressed, 2)]).toEqual([false, true]);
  });

  it("with the id of a private key has signatures of any key, and any public key unless verifyAddresses", async () => {
    expect(await cosmos(wrapped(CORE, { verifyAddresses: true }), privateKeyId)).toBe(true);
    lab.setFault("signature-of-another-key");
    expect(await cosmos(wrapped(CORE, { verifyAddresses: true }), privateKeyId)).toBe(false);
    lab.setFault(null);
    const client = CORE.client(placeOf(lab));
    const honest = client.request.bind(client) as (...args: unknown[]) => Promise<Json>;
    client.request = async (...args: unknown[]): Promise<Json> => {
      const answer = await honest(...args);
      if (!String(args[0]).endsWith("get_private_key")) return answer;
      return { privateKey: { ...answer["privateKey"], publicKey: uncompressed } as Json };
    };
    expect(await cosmos(verified(client, OPTIONS), privateKeyId)).toBe(false);
    const judging = verified(client, { ...OPTIONS, verifyAddresses: true });
    await expect(cosmos(judging, privateKeyId)).rejects.toThrow(/^rejected: .*contradicted/);
  });
});

/** wallet-stamper keeps a zero byte before r or s that DER leaves out, in 9 of 1,200 stamps. */
function compactOf(der: Uint8Array): Uint8Array {
  const [length = 0, rest] = [der[3], der.subarray(4)];
  const halves = [rest.subarray(0, length), rest.subarray(length + 2)];
  return fromHex(halves.map((half) => toHex(half).slice(-64).padStart(64, "0")).join(""))!;
}

const seen: string[] = [];
const schemes = new Set<string>();
/** Passes requests to the lab under the lab's own key, if their stamp is valid: the lab knows fewer schemes. */
const gateway = await loopback(async (request, response, body) => {
  const header = String(request.headers["x-stamp"]);
  const stamp = JSON.parse(Buffer.from(header, "base64url").toString()) as Record<string, string>;
  const [key, signature] = [fromHex(stamp["publicKey"]!)!, fromHex(stamp["signature"]!)!];
  const digest = fromHex(hashMessage(body.toString()).slice(2))!;
  const valid: Readonly<Record<string, () => boolean>> = {
    SIGNATURE_SCHEME_TK_API_P256: () => isStamped(header, body, stamp["publicKey"]),
    SIGNATURE_SCHEME_TK_API_ED25519: () => ed25519.verify(signature, body, key),
    SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191: () =>
      secp256k1.verify(compactOf(signature), digest, key, { prehash: false }),
  };
  seen.push(request.url!.replace("/public/v1/", ""));
  schemes.add(valid[stamp["scheme"]!]?.() === true ? stamp["scheme"]! : "invalid");
  const headers = { "content-type": "application/json", "x-stamp": stampWithApiKey(lab.apiKey, body.toString()) };
  const answer = await fetch(lab.baseUrl + request.url!, { method: "POST", body, headers });
  response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
});
beforeEach(() => {
  seen.length = 0;
  schemes.clear();
});

type Call = () => Promise<{ readonly verdict?: string } | undefined>;
/** A submit that is verified, under one valid stamp for each request, and refused where the service lies. */
async function expectStamped(scheme: string, call: Call): Promise<void> {
  expect((await call())?.verdict).toBe("verified");
  expect(seen[0]).toBe("submit/update_wallet");
  lab.setFault("altered-intent");
  await expect(call()).rejects.toThrow(/rejected: .*activity\.request/);
  expect(schemes).toEqual(new Set([`SIGNATURE_SCHEME_TK_API_${scheme}`]));
}

const RENAME = { walletId: ids.walletId, walletName: "renamed" };
function renaming(sdk: Sdk, client: object, more: object = {}): Call {
  const renamer = verified(client as AnyClient, { ...OPTIONS, ...more });
  return async () => reportOf(await renamer["updateWallet"]!(inputOf(sdk, "updateWallet", organizationId, RENAME)));
}
/** Evidence comes from another client, so a wallet is asked for the submit alone. */
const evidence = HTTP.client(placeOf(lab));
const apiBaseUrl = gateway.url;
const overHttp = (stamper: ForeignStamper): Call =>
  renaming(HTTP, new TurnkeyClient({ baseUrl: apiBaseUrl }, stamper as never), { evidence });
const overCore = (stamper: ForeignStamper): Call =>
  renaming(CORE, new CoreClient({ apiBaseUrl, organizationId }, stamper as never).createHttpClient(), { evidence });
function overOurs(theirs: ForeignStamper): Call {
  const own = createClient({ baseUrl: apiBaseUrl, organizationId, stamper: stamperFrom(theirs) });
  return async () => (await own.withVerification(policy).updateWallet(RENAME)).report;
}

const KEY_OF_ETHEREUM = privateKeyToAccount(generatePrivateKey());
const ETHEREUM = { type: "ethereum", signMessage: (message: string) => KEY_OF_ETHEREUM.signMessage({ message }) };
const KEY_OF_SOLANA = ed25519.utils.randomSecretKey();
const SOLANA = {
  type: "solana",
  signMessage: (message: string) => toHex(ed25519.sign(Buffer.from(message), KEY_OF_SOLANA)),
  getPublicKey: () => toHex(ed25519.getPublicKey(KEY_OF_SOLANA)),
};
const STAMPERS: readonly [name: string, scheme: string, make: () => unknown][] = [
  ["wallet-stamper with a wallet of Ethereum", "SECP256K1_EIP191", () => new WalletStamper(ETHEREUM)],
  ["wallet-stamper with a wallet of Solana", "ED25519", () => new WalletStamper(SOLANA)],
  ["indexed-db-stamper", "P256", () => new IndexedDbStamper()],
];

describe.each(STAMPERS)("%s", (_, scheme, make) => {
  beforeAll(() => void vi.stubGlobal("window", {}));
  afterAll(() => void vi.unstubAllGlobals());

  it.each([
    ["http", overHttp],
    ["core", overCore],
    ["our own client", overOurs],
  ])("stamps once for each request of %s", async (__, callOf) => {
    const stamper = make() as ForeignStamper & { init?: () => Promise<void> };
    await stamper.init?.();
    let stamps = 0;
    await expectStamped(scheme, callOf({ stamp: (body) => (stamps++, stamper.stamp(body)) }));
    expect(stamps).toBe(seen.length);
  });
});

describe("react-wallet-kit", () => {
  let kit: Json = {};
  /** Rendered without a page. It keeps its key in the stand-in of IndexedDB. */
  beforeAll(async () => {
    const localStorage = { getItem: () => null, setItem: () => {}, removeItem: () => {} };
    const location = { hash: "", search: "", href: "http://localhost/", hostname: "localhost" };
    const globals = { localStorage, document: {}, IS_REACT_ACT_ENVIRONMENT: true };
    vi.stubGlobal("window", Object.assign(new EventTarget(), { location, localStorage }));
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
    const Reader = (): null => ((kit = useTurnkey() as Json), null);
    const config = { organizationId, apiBaseUrl: gateway.url };
    await act(async () => create(createElement(TurnkeyProvider, { config }, createElement(Reader))) as unknown);
    await vi.waitFor(() => act(async () => expect(kit["clientState"]).toBe("ready")) as unknown);
    await kit["overrideApiKeyStamper"]({ temporaryPublicKey: await kit["createApiKeyPair"]() });
  });
  afterAll(() => void vi.unstubAllGlobals());

  it.each([
    ["httpClient", () => kit["httpClient"] as object],
    ["createHttpClient()", () => kit["createHttpClient"]() as object],
  ])("has a client of core: %s", async (_, clientOf) => {
    await expectStamped("P256", renaming(CORE, clientOf()));
  });
});
