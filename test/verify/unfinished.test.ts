/** An unfinished activity is told as that: one failure, and what can only follow from it is skipped. */
import { describe, expect, it } from "vitest";
import type { Check } from "../../src/index.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { drop, forge, judged, put, withActivity } from "../attacks/support.js";

const ASKED = {
  organizationId: LAB_ADDRESS.organizationId,
  type: "ACTIVITY_TYPE_CREATE_WALLET",
  addresses: [LAB_ADDRESS.address],
};
const FINGERPRINT = `sha256:${"ab".repeat(32)}`;
const POLICY = { appProofs: { required: true, coverage: true } };

type Change = (activity: JsonObject) => JsonObject;

async function checksOf(status: string, change: Change = (same) => same, expected: object | null = ASKED) {
  const activity: Change = (json) =>
    change({ ...drop("appProofs")(json), status, fingerprint: FINGERPRINT, result: {} });
  const how = { given: withActivity, policy: POLICY, ...(expected && { expected }) };
  const { checks, verdict } = (await judged(forge({ activity }), how)).report;
  const of = (wanted: Check["status"]) => checks.filter((check) => check.status === wanted);
  return { verdict, failed: of("fail"), skipped: new Map(of("skip").map(({ id, detail }) => [id, detail])) };
}

const rows: [status: string, says: string, advice: RegExp][] = [
  ["CREATED", "the activity is not finished: the service has not begun it", /again when it is completed/],
  ["PENDING", "the activity is not finished: the service is working on it", /again when it is completed/],
  [
    "CONSENSUS_NEEDED",
    "the activity is not finished: other users have to approve it",
    /when other users have approved it/,
  ],
  ["AUTHENTICATORS_NEEDED", "the activity is not finished: its user has to confirm it", /its user has confirmed it/],
  ["FAILED", "the activity failed", /before you submit it again/],
  ["REJECTED", "the activity was rejected by its approvers", /before you submit it again/],
  ["NEW_STATUS", "the activity is not finished", /again when it is completed/],
];

describe("an unfinished activity without result and app proofs", () => {
  it.each(rows)("with the status %s fails activity.request alone", async (name, says, advice) => {
    const status = `ACTIVITY_STATUS_${name}`;
    const { verdict, failed, skipped } = await checksOf(status);
    expect([verdict, failed.map(({ id }) => id)]).toEqual(["rejected", ["activity.request"]]);
    expect(failed[0]!.detail).toMatch(new RegExp(`^${says}`));
    expect(failed[0]!.detail).toContain(`(${name}, id `);
    expect(failed[0]!.detail).toContain(`, fingerprint ${FINGERPRINT})`);
    expect(failed[0]!.advice).toMatch(advice);
    for (const id of ["activity.decode", "activity.claims", "activity.coverage", "policy.app-proof"] as const)
      expect(skipped.get(id), id).toMatch(new RegExp(`^${says}`));
  });

  it("quotes the service's message as its word, and cuts it", async () => {
    const failing = (message: JsonValue): Change => put("failure", { code: 7, message });
    const detailOf = async (change: Change): Promise<string> =>
      (await checksOf("ACTIVITY_STATUS_FAILED", change)).failed[0]!.detail;
    expect(await detailOf(failing("no policy allows this"))).toMatch(
      /^the activity failed, and the service says "no policy allows this" \(FAILED, id /,
    );
    expect(await detailOf(failing('"; verified\n'))).toMatch(/ says "\\"; verified\\n" \(FAILED, id /);
    expect((await detailOf(failing("x".repeat(5000)))).length).toBeLessThan(1000);
    expect(await detailOf(failing(7))).not.toContain("says");
  });

  it("fails activity.request, too, where nothing is expected", async () => {
    const { failed } = await checksOf("ACTIVITY_STATUS_PENDING", undefined, null);
    expect(failed.map(({ id }) => id)).toEqual(["activity.request"]);
  });

  it("is told what else is wrong with it, with the usual advice", async () => {
    const { failed } = await checksOf("ACTIVITY_STATUS_PENDING", put("organizationId", "another"));
    expect(failed.map(({ id }) => id)).toEqual(["activity.request"]);
    expect(failed[0]!.detail).toMatch(/^organizationId is another, expected .*; the activity is not finished: /);
    expect(failed[0]!.advice).toMatch(/do not use the result/);
  });

  it.each<[string, Change]>([
    ["app proofs that are no list", put("appProofs", "none")],
    ["a result that is a text", put("result", "done")],
    ["an id that is no text", put("id", 7)],
    ["an app proof beside its list", put("appProof", {})],
  ])("fails activity.decode with %s", async (_, change) => {
    const { failed } = await checksOf("ACTIVITY_STATUS_PENDING", change);
    expect(failed.map(({ id }) => id)).toEqual(expect.arrayContaining(["activity.decode", "activity.request"]));
  });
});

describe("a completed activity", () => {
  it("fails activity.decode without app proofs, and one without a status, too", async () => {
    expect((await checksOf("ACTIVITY_STATUS_COMPLETED")).failed.map(({ id }) => id)).toContain("activity.decode");
    const { failed } = await checksOf("", drop("status"));
    expect(failed.map(({ id }) => id)).toEqual(expect.arrayContaining(["activity.decode", "activity.request"]));
  });
});
