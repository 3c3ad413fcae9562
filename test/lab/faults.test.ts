/** Each way to misbehave is rejected for its own reason and for no other; and without any, nothing is. */
import { afterAll, describe, expect, it } from "vitest";
import { CHECK_IDS } from "../../src/checks.js";
import { FAULTS, SUBTLE_FAULTS, startLab } from "../../src/lab/index.js";
import { completed, failing, judge, query, renameWallet, send, submit } from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());

describe("an honest lab", () => {
  it("is verified under its own policy", async () => {
    lab.setFault(null);
    const activity = await renameWallet(lab, "honest");
    const report = await judge(lab, activity);
    expect(report.verdict).toBe("verified");
    expect(report.policy).toBe("lab");
    expect(activity["appProofs"]).toHaveLength(3);
  });

  it("has app proofs of each operation, and none where none are asked for", async () => {
    const proven = await completed(submit(lab, "setOrganizationFeature", { name: "FEATURE_NAME_LAB", value: "on" }, { generateAppProofs: true }));
    expect((await judge(lab, proven)).verdict).toBe("verified");
    const plain = await completed(submit(lab, "updateWallet", { walletId: lab.ids.walletId }));
    expect(plain).not.toHaveProperty("appProofs");
  });

  it("has app proofs of the seeded wallets' addresses", async () => {
    const { body } = await query(lab, "get_activity", { activityId: lab.walletActivityId });
    const report = await judge(lab, body["activity"]);
    expect(report.verdict).toBe("verified");
    expect(report.checks.find((check) => check.id === "activity.coverage")?.status).toBe("pass");
  });
});

describe("a lab that misbehaves", () => {
  it.each(FAULTS)("$name", async ({ name, fails }) => {
    lab.setFault(name);
    expect(lab.faults).toEqual([name]);
    const report = await judge(lab, await renameWallet(lab, name));
    expect(failing(report)).toEqual([...fails].sort());
    expect(report.verdict).toBe("rejected");
  });

  it.each(FAULTS)("$name, of the activity that made the wallet", async ({ name }) => {
    lab.setFault(name);
    const { body } = await query(lab, "get_activity", { activityId: lab.walletActivityId });
    expect((await judge(lab, body["activity"])).verdict).toBe("rejected");
  });

  it.each(SUBTLE_FAULTS)("$name: evidence that is good, of something else", async ({ name }) => {
    lab.setFault(name);
    const activity = await renameWallet(lab, name);
    expect((await judge(lab, activity)).verdict).toBe("verified");
    expect(activity["type"]).toBe("ACTIVITY_TYPE_CREATE_WALLET");
  });

  it("misbehaves in several ways at once", async () => {
    lab.setFault(["debug-application", "tampered-payload", "nonce-present"]);
    expect(failing(await judge(lab, await renameWallet(lab, "several")))).toEqual(["app.signature", "bind.nonce", "mode.debug"]);
  });

  it("answers the same through every door", async () => {
    lab.setFault("tampered-payload");
    const activity = await renameWallet(lab, "doors");
    const listed = await query(lab, "list_app_proofs", { activityId: activity["id"] });
    const payloads = (proofs: { proofPayload: string }[]) => proofs.map(({ proofPayload }) => proofPayload);
    expect(payloads(listed.body["appProofs"])).toEqual(payloads(activity["appProofs"]));
    lab.setFault("nonce-present");
    const [asked, latest] = await Promise.all([
      query(lab, "get_boot_proof", { ephemeralKey: lab.enclaves.filter(({ app }) => app === "signer").at(-1)!.ephemeralKey }),
      query(lab, "get_latest_boot_proof", { appName: "signer" }),
    ]);
    expect(latest.body).toEqual(asked.body);
  });

  it("changes nothing of what it knows", async () => {
    lab.setFault("another-wallets-answer");
    const { id } = await renameWallet(lab, "kept");
    lab.setFault(null);
    const { body } = await query(lab, "get_activity", { activityId: id });
    expect((await judge(lab, body["activity"])).verdict).toBe("verified");
    expect(body["activity"].intent.updateWalletIntent.walletId).toBe(lab.ids.walletId);
  });

  it("does not know every name", () => {
    expect(() => lab.setFault("no-such-fault")).toThrow(RangeError);
  });

  it("answers a key that nobody has only while that is the fault", async () => {
    lab.setFault(null);
    const ask = () => query(lab, "get_boot_proof", { ephemeralKey: "04".repeat(130) });
    expect((await ask()).status).toBe(404);
    lab.setFault("unattested-key");
    expect((await ask()).status).toBe(200);
    lab.setFault(null);
    expect((await send(lab, "query/get_user", "{")).status).toBe(400);
  });
});

describe("the list of faults", () => {
  it("names each once, and reaches almost every check", () => {
    expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
    expect(FAULTS.length).toBeGreaterThanOrEqual(18);
    const reached = new Set(FAULTS.flatMap(({ fails }) => fails));
    expect(CHECK_IDS.filter((id) => !reached.has(id))).toEqual([]);
  });
});
