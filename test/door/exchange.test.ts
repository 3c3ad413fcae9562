/** What an answer is compared with, and what may be handed on: without any cryptography. */
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import type { ReadAnswer } from "../../src/door/answer.js";
import { Bindings } from "../../src/door/bindings.js";
import { type AskedActivity, Exchange } from "../../src/door/exchange.js";
import type { ServiceQuestion, SubmitQuestion } from "../../src/door/question.js";

const SUBMIT: SubmitQuestion = {
  kind: "submit",
  operation: "x",
  organizationId: "o",
  type: "ACTIVITY_TYPE_X",
  parameters: { a: 1 },
  timestampMs: "1",
  isProven: true,
};
const VOTE: SubmitQuestion = {
  ...SUBMIT,
  kind: "vote",
  type: "ACTIVITY_TYPE_APPROVE_ACTIVITY",
  parameters: { fingerprint: "sha256:f" },
};
const byId = (activityId = "a", organizationId = "o"): ServiceQuestion => ({
  kind: "activity",
  operation: "get_activity",
  organizationId,
  activityId,
});
const activity = (more: JsonObject = {}): JsonObject => ({
  id: "a",
  organizationId: "o",
  type: "ACTIVITY_TYPE_X",
  status: "ACTIVITY_STATUS_COMPLETED",
  fingerprint: "f",
  result: { xResult: {} },
  ...more,
});
const answer = (more: JsonObject = {}): ReadAnswer => ({ value: { activity: activity(more) }, faults: [] });
const REQUEST = { organizationId: "o", type: "ACTIVITY_TYPE_X", parameters: { a: 1 }, requestedAt: "1" };

/** A memory in which the activity answered this request. */
function bound(question = SUBMIT): Bindings {
  const bindings = new Bindings();
  bindings.bind(question, "a", "");
  return bindings;
}

/** Verifies what is not refused, and keeps what it got. */
class Verifier {
  readonly asked: AskedActivity[] = [];
  readonly verify = async (asked: AskedActivity) => {
    this.asked.push(asked);
    if (asked.refusals.length > 0 || asked.expected === null) throw new Error(asked.refusals.join("; "));
    return { activity: asked.activity, report: null as never, verified: null as never };
  };
}

function exchange(question: ServiceQuestion = SUBMIT, bindings = new Bindings()) {
  const verifier = new Verifier();
  const made = new Exchange(question, bindings);
  return {
    made,
    asked: verifier.asked,
    settle: (given: ReadAnswer, isFetched = false) => made.settle(given, verifier.verify, isFetched),
  };
}

describe("a submit", () => {
  it("is compared with its request, and bound before anything is awaited", () => {
    const bindings = new Bindings();
    const { settle, asked, made } = exchange(SUBMIT, bindings);
    void settle(answer());
    expect([bindings.get("a"), made.firstId]).toEqual([SUBMIT, "a"]);
    expect(asked[0]).toEqual({
      activity: activity(),
      expected: REQUEST,
      refusals: [],
      operation: "x",
      isFetched: false,
      began: null,
    });
  });

  it("that asks for no app proofs is unproven, if it is completed and not refused", async () => {
    const unproven = { ...SUBMIT, isProven: false };
    const { settle, asked } = exchange(unproven);
    expect(await settle(answer({ more: 1 }))).toMatchObject({
      kind: "unproven",
      activity: activity(),
      asked: { operation: SUBMIT.operation, refusals: [] },
    });
    expect(asked).toEqual([]);
    await expect(settle(answer({ id: "b" }), true)).rejects.toThrow(
      "this activity is not the one that first answered the request",
    );
    const bindings = bound();
    expect(await exchange(unproven, bindings).settle(answer())).toMatchObject({ kind: "verified" });
  });

  it("without an activity is refused, and binds nothing", async () => {
    const { settle, asked, made } = exchange();
    await settle({ value: {}, faults: [] }).catch(() => null);
    expect([asked[0]!.activity, made.firstId]).toEqual([null, null]);
    // So the next answer is the first one.
    expect(await settle(answer())).toMatchObject({ kind: "verified" });
    expect(made.firstId).toBe("a");
  });

  it("that asks for app proofs is verified, also where its binding is lost at once", async () => {
    const bindings = new Bindings(0);
    expect(await exchange(SUBMIT, bindings).settle(answer())).toMatchObject({ kind: "verified" });
    expect(bindings.get("a")).toBeNull();
  });
});

describe("an activity by id", () => {
  it("is unproven where it answered a submit that asked for no app proofs", async () => {
    const bindings = bound({ ...SUBMIT, isProven: false });
    expect(await exchange(byId(), bindings).settle(answer())).toMatchObject({ kind: "unproven" });
  });
});

describe("a vote", () => {
  it.each([
    ["verified", "proven", { isProven: true }],
    ["unproven", "unproven", { isProven: false }],
    ["unproven", "unknown", null],
  ])("that asks for no app proofs is %s where the request that it voted on is %s", async (kind, _, given) => {
    const bindings = given === null ? new Bindings() : bound({ ...SUBMIT, ...given });
    expect(await exchange({ ...VOTE, isProven: false }, bindings).settle(answer())).toMatchObject({ kind });
    // One that asks for them is verified in each case.
    expect(await exchange(VOTE, bindings).settle(answer())).toMatchObject({ kind: "verified" });
  });
});

describe("the answer to a query", () => {
  it("is handed on, null as well", async () => {
    const { settle } = exchange({ kind: "query", operation: "q", organizationId: "o" });
    expect(await settle({ value: null, faults: [] })).toEqual({ kind: "other", value: null });
  });

  it("is refused for what made it unreadable", async () => {
    const { settle, asked } = exchange({ kind: "query", operation: "q", organizationId: "o" });
    await expect(settle({ value: null, faults: ["not JSON"] })).rejects.toThrow("not JSON");
    expect(asked).toEqual([
      { activity: null, expected: null, refusals: ["not JSON"], operation: null, isFetched: false },
    ]);
  });
});

it("what cannot be accepted is never handed on, also where its verification accepts it", async () => {
  const settling = new Exchange({ kind: "query", operation: "q", organizationId: "o" }, new Bindings());
  await expect(
    settling.settle(answer(), async () => ({
      activity: activity() as JsonValue,
      report: null as never,
      verified: null as never,
    })),
  ).rejects.toThrow("an activity was accepted where the answer may not have one");
});
