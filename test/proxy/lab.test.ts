/** The proxy before a lab: submits without app proofs, boot proofs in files, its end and its health. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/decode/json.js";
import { stampWithApiKey, startLab } from "../../src/lab/index.js";
import { type Answer, type Sending, envelope, query, submit } from "../lab/support.js";
import { testFolder } from "../support/folder.js";
import { proxyFor } from "./support.js";

const lab = await startLab();
const folder = testFolder();
afterAll(() => lab.close());
beforeEach(() => lab.setFault(null));

let count = 0;
const renaming = () => ({ walletId: lab.ids.walletId, walletName: `name ${++count}` });
const rename = (through: typeof lab, sending: Sending = { generateAppProofs: true }): Promise<Answer> =>
  submit(through, "updateWallet", renaming(), sending);

it("submits without app proofs pass with --allow-unproven, with a header, and proven ones are verified", async () => {
  const loose = await proxyFor(lab, { allowUnproven: true });
  const ask = async (path: string, body: string): Promise<Response> => {
    const headers = { "content-type": "application/json", "x-stamp": stampWithApiKey(lab.apiKey, body) };
    const response = await fetch(`${loose.url}/public/v1/${path}`, { method: "POST", body, headers });
    const { headers: got } = response;
    expect([response.status, got.get("x-bootproof"), got.get("x-bootproof-verified")]).toEqual([
      200,
      "unproven",
      "none",
    ]);
    return response;
  };
  const response = await ask("submit/update_wallet", envelope(lab, "ACTIVITY_TYPE_UPDATE_WALLET", renaming()));
  const { activity } = (await response.json()) as { activity: { id: string; result: object } };
  expect(activity.result).toEqual({ updateWalletResult: { walletId: lab.ids.walletId } });
  await ask("query/get_activity", JSON.stringify({ organizationId: lab.organizationId, activityId: activity.id }));
  lab.setFault("forged-leaf");
  expect((await rename(loose.lab)).status).toBe(502);
  await loose.close();
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
