/** The proxy before a lab: every operation passes, and every fault is refused. */
import { createECDH } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { QUERY_OPERATIONS, type QueryName, SUBMIT_OPERATIONS, type SubmitName } from "../../src/client/operations.js";
import type { JsonObject } from "../../src/decode/json.js";
import { type LabFault, stampWithApiKey, startLab } from "../../src/lab/index.js";
import { VERIFIED_CALLS } from "../../src/lab/behaviour.js";
import {
  EVIDENCE_FAULTS,
  type Answer,
  type Json,
  type Sending,
  SUBMITS,
  TWO_ACCOUNTS,
  envelope,
  query,
  submit,
  requestFor,
} from "../lab/support.js";
import { proxyFor } from "./support.js";

const lab = await startLab();
const proxy = await proxyFor(lab);
const folder = mkdtempSync(join(tmpdir(), "bootproof-proxy-"));
afterAll(async () => {
  await proxy.close();
  await lab.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => lab.setFault(null));

const { ids } = lab;
const PROVEN: Sending = { generateAppProofs: true };
let count = 0;
const rename = (through = proxy.lab, sending: Sending = PROVEN): Promise<Answer> =>
  submit(through, "updateWallet", { walletId: ids.walletId, walletName: `name ${++count}` }, sending);

/** The reply with its headers. */
async function headersOf(text: string, path: string, url = proxy.url): Promise<Answer & { readonly headers: Headers }> {
  const answer = await fetch(`${url}/public/v1/${path}`, {
    method: "POST",
    body: text,
    headers: { "content-type": "application/json", "x-stamp": stampWithApiKey(lab.apiKey, text) },
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Json };
}

const signWith = (await query(lab, "list_wallet_accounts")).body["accounts"][0].address as string;
const SIGNING = {
  signWith,
  encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
  hashFunction: "HASH_FUNCTION_KECCAK256",
};
const SUBMITTED: Readonly<Record<SubmitName, Json>> = {
  updateWallet: { walletId: ids.walletId, walletName: "passed" },
  updateFiatOnRampCredential: {
    fiatOnrampCredentialId: ids.fiatOnrampCredentialId,
    onrampProvider: "FIAT_ON_RAMP_PROVIDER_BETA",
    publishableApiKey: "pk",
    encryptedSecretApiKey: "sealed",
  },
  updateUserTag: { userTagId: ids.userTagId, newUserTagName: "people", addUserIds: [ids.userId], removeUserIds: [] },
  deleteApiKeys: { userId: ids.userId, apiKeyIds: [ids.spareApiKeyId] },
  deletePolicies: { policyIds: [ids.policyId] },
  createReadWriteSession: { targetPublicKey: createECDH("prime256v1").generateKeys("hex", "uncompressed") },
  setOrganizationFeature: { name: "FEATURE_NAME_PROXY", value: "on" },
  createWallet: TWO_ACCOUNTS,
  signRawPayload: { ...SIGNING, payload: "pay" },
  signRawPayloads: { ...SIGNING, payloads: ["pay", "hold"] },
  signTransaction: { signWith, unsignedTransaction: "0x02c90180808080808000c0", type: "TRANSACTION_TYPE_ETHEREUM" },
};
const QUERIED: Readonly<Partial<Record<QueryName, () => Json>>> = {
  listEarnEnabledVaults: () => ({}),
  getBootProof: () => ({ ephemeralKey: lab.enclaves[0]!.ephemeralKey }),
  getOauthProviders: () => ({}),
  getNonces: () => ({ address: `0x${"11".repeat(20)}`, caip2: "eip155:1", nonce: true }),
  getUser: () => ({ userId: ids.userId }),
  getLatestBootProof: () => ({ appName: "signer" }),
  listAppProofs: () => ({ activityId: lab.walletActivityId }),
};

describe("an honest service", () => {
  it.each(Object.entries(SUBMITTED))("passes: submit %s", async (name, parameters) => {
    const { status, body } = await submit(proxy.lab, name as SubmitName, parameters, PROVEN);
    expect([status, body["message"]]).toEqual([200, undefined]);
    expect(Object.keys(body)).toEqual(["activity"]);
    const { id } = body["activity"] as { id: string };
    expect(body).toEqual((await query(lab, "get_activity", { activityId: id })).body);
    const { resultMember } = SUBMIT_OPERATIONS[name as SubmitName];
    expect(Object.keys(body["activity"].result)).toEqual([resultMember]);
  });

  it.each(Object.entries(QUERIED))("passes: query %s", async (name, parameters) => {
    const operation = QUERY_OPERATIONS[name as QueryName].name;
    expect(await query(proxy.lab, operation, parameters())).toEqual(await query(lab, operation, parameters()));
    const text = JSON.stringify({ organizationId: lab.organizationId, ...parameters() });
    const { headers } = await headersOf(text, `query/${operation}`);
    expect(headers.get("x-bootproof-verified")).toBe("none");
  });

  it("passes errors on: status, code, message, details", async () => {
    const parameters = { walletId: "another" };
    const [direct, passed] = [
      await submit(lab, "updateWallet", parameters, PROVEN),
      await submit(proxy.lab, "updateWallet", parameters, PROVEN),
    ];
    expect(passed).toEqual(direct);
    expect(passed).toMatchObject({
      status: 404,
      body: { code: 5, details: [{ turnkeyErrorCode: "REQUEST_INVALID" }] },
    });
  });
});

describe("a service that lies", () => {
  const asking = async (fault: LabFault): Promise<Answer> => {
    const { name, parameters } = await requestFor(lab, fault);
    return submit(proxy.lab, name, parameters, PROVEN);
  };
  const expectNoResult = ({ status, body }: Answer): void => {
    expect([status, body["activity"].status]).toEqual([200, expect.not.stringContaining("COMPLETED")]);
    expect(Object.keys(body["activity"])).not.toContain("result");
  };
  const idsIn = ({ body }: Answer): string[] => (body["details"] as Json[]).map(({ id }) => id as string);

  /** One fault of each kind of check: all are told to a client in test/lab/refused.test.ts. */
  const KINDS = new Map(EVIDENCE_FAULTS.map((fault) => [fault.fails[0]?.split(".")[0], fault]));
  const faults = EVIDENCE_FAULTS.filter((fault) => [...KINDS.values()].includes(fault) || fault.fails.length === 0);

  it.each(faults.filter(({ needs }) => !needs?.includes("get_activity")))(
    "is refused after a submit: $name",
    async (fault) => {
      lab.setFault(fault.name);
      const answer = await asking(fault);
      if (fault.name === "not-completed") return expectNoResult(answer);
      expect([answer.status, answer.body["code"]]).toEqual([502, 9]);
      expect(idsIn(answer)).toEqual(expect.arrayContaining([...fault.fails]));
      expect(answer.body["message"]).toMatch(/^bootproof proxy: submit\/\w+: rejected/);
      expect(JSON.stringify(answer.body)).not.toContain("Result");
      lab.setFault(null);
      expect((await asking({ ...fault, needs: [] })).status).toBe(200);
    },
  );

  const shownById = faults.filter(({ needs }) => !needs?.includes(VERIFIED_CALLS));
  it.each(shownById)("is refused by id: $name", async (fault) => {
    const { needs = [] } = fault;
    const named = needs.flatMap((one) => SUBMITS[one] ?? [])[0] ?? SUBMITS["create_wallet"]!;
    const { body } = needs.includes("update_wallet")
      ? await rename(lab)
      : await submit(lab, named.name, named.parameters, PROVEN);
    lab.setFault(fault.name);
    const answer = await query(proxy.lab, "get_activity", { activityId: body["activity"].id as string });
    if (fault.name === "not-completed") return expectNoResult(answer);
    // Without an activity there is nothing to refuse: the service's own error.
    expect(answer.status).toBe(fault.fails.length === 0 ? 404 : 502);
  });
});

describe("submits without app proofs", () => {
  it("pass with --allow-unproven, with a header; proven ones are verified all the same", async () => {
    const loose = await proxyFor(lab, { allowUnproven: true });
    const text = envelope(lab, "ACTIVITY_TYPE_UPDATE_WALLET", { walletId: ids.walletId, walletName: "unproven" });
    const { status, headers } = await headersOf(text, "submit/update_wallet", loose.url);
    expect([status, headers.get("x-bootproof"), headers.get("x-bootproof-verified")]).toEqual([
      200,
      "unproven",
      "none",
    ]);
    const { body } = await rename(loose.lab, {});
    expect(body["activity"].result.updateWalletResult).toEqual({ walletId: ids.walletId });
    const polled = JSON.stringify({ organizationId: lab.organizationId, activityId: body["activity"].id as string });
    expect((await headersOf(polled, "query/get_activity", loose.url)).headers.get("x-bootproof")).toBe("unproven");
    lab.setFault("forged-leaf");
    expect((await rename(loose.lab)).status).toBe(502);
    await loose.close();
  });

  it("are refused under strict acceptance, since the lab's root is a warning", async () => {
    const strict = await proxyFor(lab, { acceptance: "strict" });
    const { status, body } = await rename(strict.lab);
    expect([status, body["message"]]).toEqual([502, expect.stringContaining("refused")]);
    expect(body["activity"]).toBeUndefined();
    await strict.close();
  });
});

describe("boot proofs in files", () => {
  it("verify without a key of the proxy's own, and refuse other enclaves", async () => {
    const bootProofs = await Promise.all(
      lab.enclaves.map(async ({ ephemeralKey }) => {
        const { body } = await query(lab, "get_boot_proof", { ephemeralKey });
        return body["bootProof"] as JsonObject;
      }),
    );
    const whole = await proxyFor(lab, { evidence: { bootProofs } });
    expect((await rename(whole.lab)).status).toBe(200);
    expect(whole.notes).toEqual([]);
    await whole.close();
    const signers = new Set(lab.enclaves.filter(({ app }) => app === "signer").map(({ ephemeralKey }) => ephemeralKey));
    const without = bootProofs.filter((proof) => signers.has(String(proof["ephemeralPublicKeyHex"])));
    const less = await proxyFor(lab, { evidence: { bootProofs: without } });
    expect(await rename(less.lab)).toMatchObject({ status: 502, body: { code: 9 } });
    await less.close();
  });

  it("are noted if the policy rejects them", async () => {
    lab.setFault("stale-manifest");
    const { body } = await query(lab, "get_latest_boot_proof", { appName: "signer" });
    const evidence = { bootProofs: [body["bootProof"] as JsonObject] };
    const bad = await proxyFor(lab, { evidence });
    expect(bad.notes).toEqual([
      expect.stringMatching(/^warning: the policy rejects the boot proof of key 04[0-9a-f]+…$/),
    ]);
    await bad.close();
  });
});

describe("the end and the health of a proxy", () => {
  it("finishes its requests, and refuses connections afterwards", async () => {
    const ending = await proxyFor(lab);
    const running = Array.from({ length: 20 }, () => rename(ending.lab));
    await new Promise((resolve) => setTimeout(resolve, 300));
    const summary = ending.close();
    const settled = await Promise.allSettled(running);
    const statuses = settled.map((one) => (one.status === "fulfilled" ? one.value.status : "not connected"));
    expect(statuses).toContain(200);
    expect(statuses.filter((status) => status !== 200 && status !== "not connected")).toEqual([]);
    expect((await summary).refused).toBe(0);
    await expect(fetch(ending.url)).rejects.toThrow();
  });

  it("is in the health file while it serves", async () => {
    const healthFile = join(folder, "health.json");
    const healthy = await proxyFor(lab, { healthFile });
    expect(JSON.parse(readFileSync(healthFile, "utf8"))).toMatchObject({ url: healthy.url, requests: 0, refused: 0 });
    await healthy.close();
    expect(existsSync(healthFile)).toBe(false);
    await expect(proxyFor(lab, { healthFile: join(folder, "no", "such") })).rejects.toThrow("ENOENT");
  });
});
