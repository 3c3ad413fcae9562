/** What an answer is compared with, and what may be handed on: without any cryptography. */
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import type { ReadAnswer } from "../../src/exchange/answer.js";
import { Bindings } from "../../src/exchange/bindings.js";
import { type AskedActivity, Exchange, askedOfPast } from "../../src/exchange/exchange.js";
import type { ServiceQuestion, SubmitQuestion } from "../../src/exchange/question.js";

const SUBMIT: SubmitQuestion = {
  kind: "submit",
  operation: "x",
  organizationId: "o",
  type: "ACTIVITY_TYPE_X",
  parameters: { a: 1 },
  timestampMs: "1",
  isProven: true,
};
const OTHER: SubmitQuestion = { ...SUBMIT, parameters: { a: 2 } };
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
const PENDING = { status: "ACTIVITY_STATUS_PENDING" };
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
    return { activity: asked.activity };
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

  it("is compared with its request and the first id in each later answer", async () => {
    const { settle, asked } = exchange();
    expect(await settle(answer(PENDING))).toMatchObject({ kind: "unfinished", activity: { id: "a" } });
    expect(await settle(answer(), true)).toMatchObject({ kind: "verified" });
    expect(asked[0]).toMatchObject({ expected: { ...REQUEST, id: "a" }, isFetched: true });
  });

  it.each<[string, JsonObject]>([
    ["another id", { id: "b" }],
    ["another id, unfinished", { id: "b", ...PENDING }],
    ["another type", { type: "ACTIVITY_TYPE_Y" }],
  ])("refuses a later answer with %s", async (_, more) => {
    const { settle } = exchange();
    await settle(answer(PENDING));
    await expect(settle(answer(more), true)).rejects.toThrow("this activity is not the one that first answered");
  });

  it("refuses the id of another request, finished or not", async () => {
    for (const more of [{}, PENDING]) {
      const bindings = bound(OTHER);
      await expect(exchange(SUBMIT, bindings).settle(answer(more))).rejects.toThrow("belongs to another request");
      expect(bindings.get("a")).toBe(OTHER);
    }
  });

  it.each<[string, JsonObject]>([
    ["organization", { organizationId: "other" }],
    ["type", { type: "ACTIVITY_TYPE_Y" }],
  ])("hands no unfinished activity of another %s on", async (_, more) => {
    const { settle, asked } = exchange();
    await settle(answer({ ...PENDING, ...more }));
    expect(asked).toHaveLength(1);
  });

  it("is verified where a member of an unfinished activity holds a result, or where its id is missing", async () => {
    for (const more of [{ failure: { activity: { result: {} } } }, { id: "" }, { Result: {} }]) {
      const { settle, asked } = exchange();
      await settle(answer({ ...PENDING, ...more }));
      expect(asked).toHaveLength(1);
    }
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
  it("is compared with organization and id where nothing is bound", async () => {
    const { settle, asked } = exchange(byId());
    await settle(answer());
    expect(asked[0]).toMatchObject({ expected: { organizationId: "o", id: "a" }, operation: null, isFetched: true });
    expect(asked[0]!.expected).not.toHaveProperty("parameters");
  });

  it("is compared with the request that is bound", async () => {
    const bindings = bound();
    const { settle, asked } = exchange(byId(), bindings);
    await settle(answer());
    expect(asked[0]).toMatchObject({ expected: { ...REQUEST, id: "a" }, refusals: [] });
    const child = exchange(byId("a", "other"), bindings);
    await expect(child.settle(answer())).rejects.toThrow("belongs to a request of another organization");
  });

  it("is not handed on unfinished with another id, organization or bound type", async () => {
    const bindings = bound();
    for (const more of [{ id: "b" }, { organizationId: "other" }, { type: "ACTIVITY_TYPE_Y" }]) {
      const { settle, asked } = exchange(byId(), bindings);
      await settle(answer({ ...PENDING, ...more }));
      expect(asked).toHaveLength(1);
    }
    expect(await exchange(byId(), bindings).settle(answer(PENDING))).toMatchObject({ kind: "unfinished" });
  });

  it("is unproven where it answered a submit that asked for no app proofs", async () => {
    const bindings = bound({ ...SUBMIT, isProven: false });
    expect(await exchange(byId(), bindings).settle(answer())).toMatchObject({ kind: "unproven" });
  });
});

describe("a vote", () => {
  it("is compared with the request that it voted on, and is not bound to it", async () => {
    const bindings = bound();
    const { settle, asked } = exchange(VOTE, bindings);
    await settle(answer());
    expect(asked[0]!.expected).toEqual({ ...REQUEST, id: "a" });
    expect(bindings.get("a")).toBe(SUBMIT);
  });

  it("is compared by its fingerprint where nothing is bound, finished or not", async () => {
    const bindings = new Bindings();
    const { settle, asked } = exchange(VOTE, bindings);
    await settle(answer());
    expect([asked[0]!.expected!.type, bindings.get("a")]).toEqual([VOTE.type, null]);
    expect(await exchange(VOTE).settle(answer(PENDING))).toMatchObject({ kind: "unfinished" });
    for (const more of [{ fingerprint: "g" }, { fingerprint: "g", ...PENDING }])
      await expect(exchange(VOTE).settle(answer(more))).rejects.toThrow("fingerprint is not the one");
  });

  it("is compared by its fingerprint also where the activity is bound", async () => {
    const bindings = bound();
    await expect(exchange(VOTE, bindings).settle(answer({ fingerprint: "g" }))).rejects.toThrow("fingerprint");
    const { settle, asked } = exchange(VOTE, bindings);
    await settle(answer({ ...PENDING, type: "ACTIVITY_TYPE_Y" }));
    expect(asked).toHaveLength(1);
  });

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

  it("is bound to an activity of its own type", async () => {
    const bindings = new Bindings();
    const { settle, asked } = exchange(VOTE, bindings);
    await settle(answer({ type: VOTE.type, fingerprint: "own" }));
    expect([bindings.get("a"), asked[0]!.expected!.type, asked[0]!.refusals]).toEqual([VOTE, VOTE.type, []]);
  });
});

describe("polling", () => {
  async function polled(answers: readonly ReadAnswer[], attempts = 3, question: ServiceQuestion = SUBMIT) {
    const ids: string[] = [];
    const verifier = new Verifier();
    const settled = await new Exchange(question, new Bindings()).settlePolled(answers[0]!, verifier.verify, {
      attempts,
      ask: async (id) => answers[Math.min(ids.push(id), answers.length - 1)]!,
    });
    return { kind: settled.kind, ids, asked: verifier.asked };
  }

  it("asks for the first id until the activity cannot change by itself", async () => {
    expect(await polled([answer(PENDING), answer(PENDING), answer()])).toMatchObject({
      kind: "verified",
      ids: ["a", "a"],
      asked: [{ isFetched: true }],
    });
    const waiting = answer({ status: "ACTIVITY_STATUS_CONSENSUS_NEEDED" });
    expect(await polled([answer(PENDING), waiting])).toMatchObject({ kind: "unfinished", ids: ["a"] });
  });

  it("ends after its attempts", async () => {
    expect(await polled([answer(PENDING)], 2)).toMatchObject({ kind: "unfinished", ids: ["a", "a"] });
    expect(await polled([answer(PENDING)], 0)).toMatchObject({ kind: "unfinished", ids: [] });
  });
});

it("what is in the answer to another query is refused with the failed checks of its activity", async () => {
  const { settle, asked } = exchange({ kind: "query", operation: "q", organizationId: "o" });
  expect(await settle({ value: { user: {} }, faults: ["a number"] })).toEqual({ kind: "other", value: { user: {} } });
  await expect(settle(answer())).rejects.toThrow("but activities in answers of this kind are not verified");
  expect(asked[0]).toMatchObject({ activity: activity(), expected: null });
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

  it("that is a list is refused for what is beside it, without an activity to name checks of", async () => {
    const { settle, asked } = exchange({ kind: "list", operation: "list_activities", organizationId: "o" });
    await expect(settle({ value: { activities: [], more: 1 }, faults: [] })).rejects.toThrow('"more" beside the list');
    expect(asked[0]!.activity).toBeNull();
  });
});

it("what cannot be accepted is never handed on, also where its verification accepts it", async () => {
  const settling = new Exchange({ kind: "query", operation: "q", organizationId: "o" }, new Bindings());
  await expect(settling.settle(answer(), async () => ({ activity: activity() as JsonValue }))).rejects.toThrow(
    "an activity was accepted where the answer may not have one",
  );
});

it("a past activity is compared with its request, unless the caller expects parameters", () => {
  const bindings = bound();
  const past = { value: activity(), faults: ["f"] };
  const asked = (expected: JsonObject) => askedOfPast(bindings, past, { organizationId: "o", ...expected } as never);
  expect(asked({})).toMatchObject({ expected: { ...REQUEST, id: "a" }, refusals: ["f"], isFetched: true });
  expect(asked({ parameters: { a: 2 } }).expected).toEqual({ organizationId: "o", parameters: { a: 2 } });
  expect(asked({ id: "b" }).expected).toEqual({ organizationId: "o", id: "b" });
  expect(asked({ organizationId: "p" }).refusals).toEqual(["f", expect.stringMatching(/another organization/)]);
});
