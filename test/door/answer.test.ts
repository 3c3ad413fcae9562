/** How answers are read, and what of them may be handed on. */
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import {
  MAX_ANSWER_VALUES,
  answerOfBytes,
  answerOfInput,
  answerOfLiterals,
  answerOfValue,
  besideFaults,
  exactText,
  holdsResult,
  isPending,
  isUnfinished,
  readActivityAnswer,
  readUnverifiedAnswer,
} from "../../src/door/answer.js";

const ACTIVITY = { id: "a", organizationId: "o", type: "ACTIVITY_TYPE_X", status: "ACTIVITY_STATUS_COMPLETED" };
const RESULT = { xResult: { walletId: "w" } };
const bytes = (text: string) => new TextEncoder().encode(text);
const read = (value: JsonValue) => readActivityAnswer({ value, faults: [] });
const unverified = (kind: "list" | "query", answer: JsonValue) =>
  readUnverifiedAnswer({ kind, operation: "q", organizationId: null }, answer);

describe("numbers of an answer", () => {
  it.each(["9007199254740993", "1.0", "1e0", "-0", "0.1", "1E400"])("in bytes are kept as written: %s", (number) => {
    const text = `{"a":[${number}]}`;
    expect(exactText(answerOfBytes(bytes(text)).value)).toBe(text);
  });

  it("that a double does not hold are a fault of the own client", () => {
    const literals = (text: string) => answerOfLiterals(answerOfBytes(bytes(text)).value);
    expect(literals(`{"a":[1,2.50,9007199254740992]}`)).toEqual({ value: { a: [1, 2.5, 2 ** 53] }, faults: [] });
    expect(literals(`{"a":[9007199254740993]}`).faults).toEqual([expect.stringMatching(/^a\[0\]: /)]);
  });

  it.each([2 ** 53, -(2 ** 53), 1e300])(
    "that another SDK parsed are a fault beyond the safe integers: %s",
    (number) => {
      expect(answerOfValue({ a: [number] }).faults).toEqual([
        expect.stringMatching(/^a\[0\]: an integer that may have/),
      ]);
    },
  );

  it.each([2 ** 53 - 1, 1 - 2 ** 53, 0.5, 0])("that another SDK parsed are none at or below them: %s", (number) => {
    expect(answerOfValue({ a: [number] })).toEqual({ value: { a: [number] }, faults: [] });
  });
});

it("an answer that is not JSON is a fault", () => {
  const circle: Record<string, unknown> = {};
  circle["circle"] = circle;
  for (const value of [circle, { a: 1n }, { a: Number.NaN }])
    expect(answerOfValue(value)).toEqual({ value: null, faults: [expect.stringMatching(/^the answer is not JSON/)] });
  expect(() => answerOfBytes(bytes('{"a":1,"a":2}'))).toThrow();
  expect(() => answerOfBytes(bytes(`[${"0,".repeat(MAX_ANSWER_VALUES)}0]`))).toThrow(/more than/);
});

it("an answer that a caller has is text, bytes or a value", () => {
  for (const given of ['{"a":1}', bytes('{"a":1}'), { a: 1 }])
    expect(answerOfInput(given)).toEqual({ value: { a: 1 }, faults: [] });
  for (const given of ['{"a":9007199254740993}', bytes('{"a":9007199254740993}')])
    expect(answerOfInput(given).faults).toEqual([expect.stringMatching(/^a: /)]);
});

describe("the answer to a submit", () => {
  it("is an activity with nothing beside it", () => {
    expect(read({ activity: ACTIVITY })).toMatchObject({ activity: ACTIVITY, id: "a", isSound: true, faults: [] });
    expect(read({ activity: ACTIVITY, walletId: "w", b: null }).faults).toEqual([
      'the answer has "walletId", "b" beside the activity',
    ]);
  });

  it("is not an activity that Object.prototype has", () => {
    const prototype = Object.prototype as unknown as JsonObject;
    prototype["activity"] = ACTIVITY;
    try {
      expect(read({})).toMatchObject({ activity: null, isSound: false });
    } finally {
      delete prototype["activity"];
    }
  });

  it("without an id, or with a folded name, is not sound", () => {
    for (const activity of [{ organizationId: "o" }, { ...ACTIVITY, id: "" }, { ...ACTIVITY, id: 1 }])
      expect(read({ activity })).toMatchObject({ id: null, isSound: false });
    expect(read({ activity: { ...ACTIVITY, Result: {} } })).toMatchObject({ isSound: false });
  });
});

it("what Object.prototype has is neither a past activity nor in its result", () => {
  const prototype = Object.prototype as unknown as JsonObject;
  prototype["activity"] = { ...ACTIVITY, result: RESULT };
  prototype["other"] = 1;
  try {
    expect(besideFaults({ other: 1 })).toEqual([]);
    expect(besideFaults({ activity: { ...ACTIVITY, result: RESULT }, other: 1 })).toHaveLength(1);
  } finally {
    delete prototype["activity"];
    delete prototype["other"];
  }
});

it("every status that is not final may change by itself", () => {
  const pending = ["PENDING", "CREATED", "NEW"].map((status) => isPending({ status: `ACTIVITY_STATUS_${status}` }));
  expect(pending).toEqual([true, true, true]);
  for (const status of ["COMPLETED", "FAILED", "REJECTED", "CONSENSUS_NEEDED", "AUTHENTICATORS_NEEDED"])
    expect(isPending({ status: `ACTIVITY_STATUS_${status}` })).toBe(false);
  expect([isPending({}), isPending({ status: 1 })]).toEqual([false, false]);
  expect([{}, ACTIVITY, { status: "x" }, { status: null }].map(isUnfinished)).toEqual([false, false, true, true]);
});

it.each<[unknown, boolean]>([
  [{ activity: { result: {} } }, true],
  [{ a: [[{ b: { activity: { result: {} } } }]] }, true],
  [{ Activity: { RESULT: {} } }, true],
  [{ "acti\u017fity": { result: {} } }, false],
  [{ a: { "re\u017fult": {}, type: "ACTIVITY_TYPE_X" } }, true],
  [{ a: { result: [], status: "ACTIVITY_STATUS_NEW" } }, true],
  [{ a: { intent: null, result: {} } }, true],
  [{ result: {}, type: "OTHER" }, false],
  [{ result: {}, type: "AN_ACTIVITY_TYPE_X" }, false],
  [{ result: {}, status: "NO_ACTIVITY_STATUS_NEW" }, false],
  [{ result: {}, type: ["ACTIVITY_TYPE_X"], status: ["ACTIVITY_STATUS_NEW"] }, false],
  [{ activity: { result: "text" } }, false],
  [{ activity: { result: null } }, false],
  ["activity", false],
])("whether %j holds an activity with a result: %s", (value, expected) => {
  expect(holdsResult(value)).toBe(expected);
  expect(unverified("query", value as JsonValue)).toHaveProperty(expected ? "fault" : "value");
});

it("a value of a program may hold itself", () => {
  const circle: Record<string, unknown> = { list: [] };
  circle["circle"] = circle;
  (circle["list"] as unknown[]).push(circle);
  expect(holdsResult(circle)).toBe(false);
  circle["activity"] = { result: {} };
  expect(holdsResult(circle)).toBe(true);
});
