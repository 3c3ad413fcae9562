/** Activities that wait for votes, and policies. */
import { afterAll, describe, expect, it } from "vitest";
import { startLab } from "../../src/lab/index.js";
import { type Answer, type Json, envelope, judge, query, send, submit } from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());
const { ids, operator } = lab;
const byOperator = { key: operator.apiKey, generateAppProofs: true };
let count = 0;

/** The operator requests a new name. */
async function ask(walletId = ids.walletId): Promise<Json> {
  const { status, body } = await submit(
    lab,
    "updateWallet",
    { walletId, walletName: `asked for ${++count}` },
    byOperator,
  );
  expect(status).toBe(200);
  return body["activity"] as Json;
}

function vote(what: "approve" | "reject", fingerprint: string, sending = {}): Promise<Answer> {
  return send(
    lab,
    `submit/${what}_activity`,
    envelope(lab, `ACTIVITY_TYPE_${what.toUpperCase()}_ACTIVITY`, { fingerprint }, sending),
    sending,
  );
}

async function walletName(): Promise<string> {
  return (await query(lab, "get_wallet", { walletId: ids.walletId })).body["wallet"].walletName as string;
}

const outcomeOf = (activity: Json): string =>
  JSON.parse(activity["appProofs"][0].proofPayload).policyOutcomeProof.outcome as string;

describe("an activity that needs two approvals", () => {
  it("runs after the second approval", async () => {
    const before = await walletName();
    const waiting = await ask();
    expect(waiting).toMatchObject({
      status: "ACTIVITY_STATUS_CONSENSUS_NEEDED",
      canApprove: true,
      canReject: true,
      result: {},
    });
    expect(outcomeOf(waiting)).toBe("OUTCOME_REQUIRES_CONSENSUS");
    expect(await walletName()).toBe(before);
    const { status, body } = await vote("approve", waiting["fingerprint"]);
    expect(status).toBe(200);
    expect(body["activity"]).toMatchObject({
      id: waiting["id"],
      status: "ACTIVITY_STATUS_COMPLETED",
      canApprove: false,
      canReject: false,
    });
    expect(body["activity"].votes.map((one: Json) => [one["userId"], one["selection"]])).toEqual([
      [operator.userId, "VOTE_SELECTION_APPROVED"],
      [ids.userId, "VOTE_SELECTION_APPROVED"],
    ]);
    expect(outcomeOf(body["activity"])).toBe("OUTCOME_ALLOW");
    expect((await judge(lab, body["activity"])).verdict).toBe("verified");
    expect(await walletName()).toBe(`asked for ${count}`);
    expect((await vote("approve", waiting["fingerprint"])).status).toBe(400);
  });

  it("is not carried out when one rejects it", async () => {
    const before = await walletName();
    const waiting = await ask();
    const { body } = await vote("reject", waiting["fingerprint"]);
    expect(body["activity"]).toMatchObject({
      status: "ACTIVITY_STATUS_REJECTED",
      canApprove: false,
      canReject: false,
      result: {},
    });
    expect(outcomeOf(body["activity"])).toBe("OUTCOME_REJECTED");
    expect(await walletName()).toBe(before);
  });

  it("fails if it has become impossible", async () => {
    const waiting = await ask("a wallet that is gone");
    const { body } = await vote("approve", waiting["fingerprint"]);
    expect(body["activity"]).toMatchObject({
      status: "ACTIVITY_STATUS_FAILED",
      failure: { code: 5, message: expect.stringContaining("a wallet that is gone") },
    });
    expect(outcomeOf(body["activity"])).toBe("OUTCOME_ERROR");
  });

  it("is not approved twice by one user, by a otherForge, or under another fingerprint", async () => {
    const waiting = await ask();
    expect((await vote("approve", waiting["fingerprint"], { key: operator.apiKey })).status).toBe(400);
    const child = { key: lab.child.apiKey };
    expect((await vote("approve", waiting["fingerprint"], child)).status).toBe(403);
    expect(
      (await vote("approve", waiting["fingerprint"], { ...child, organizationId: lab.childOrganizationId })).status,
    ).toBe(404);
    expect((await vote("approve", "00".repeat(32))).status).toBe(404);
  });
});

describe("a user who is subject to policies", () => {
  it("may not do what no policy allows", async () => {
    expect(await submit(lab, "deletePolicies", { policyIds: [ids.policyId] }, byOperator)).toMatchObject({
      status: 403,
      body: { code: 7 },
    });
  });

  it("may not do what is no longer allowed", async () => {
    const other = await startLab();
    const key = other.operator.apiKey;
    const rename = (): Promise<Answer> =>
      submit(other, "updateWallet", { walletId: other.ids.walletId, walletName: "late" }, { key });
    const { fingerprint } = (await rename()).body["activity"] as Json;
    expect((await submit(other, "deletePolicies", { policyIds: [other.ids.policyId] })).status).toBe(200);
    expect((await rename()).status).toBe(403);
    const text = envelope(other, "ACTIVITY_TYPE_APPROVE_ACTIVITY", { fingerprint });
    const { body } = await send(other, "submit/approve_activity", text);
    expect(body["activity"].status).toBe("ACTIVITY_STATUS_COMPLETED");
    await other.close();
  });
});
