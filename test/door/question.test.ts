/** The question of a request: its kind comes from the path alone. */
import { expect, it } from "vitest";
import type { JsonObject } from "../../src/decode/json.js";
import { operationOf, questionOf } from "../../src/door/question.js";

const BODY = { organizationId: "o", type: "ACTIVITY_TYPE_X", parameters: { a: 1 }, timestampMs: "1" };
const of = (path: string, body: unknown): ReturnType<typeof questionOf> =>
  questionOf(operationOf(`/public/v1/${path}`)!, { value: body as JsonObject, faults: [] });

it.each([
  ["submit/update_wallet", "submit"],
  ["submit/approve_activity", "vote"],
  ["submit/reject_activity", "vote"],
  ["submit/get_activity", "submit"],
  ["query/get_activity", "activity"],
  ["query/list_activities", "list"],
  ["query/get_user", "query"],
  ["query/approve_activity", "query"],
])("%s is a %s", (path, kind) => {
  expect(operationOf(`/public/v1/${path}`)).toEqual({ kind, name: path.split("/")[1] });
});

it.each([
  "/public/v1/submit/",
  "/public/v1/submit/a/",
  "/public/v1/submit/a?b",
  "/public/v1/submit/A",
  "/public/v1/submit/a%62",
  "/public/v1/query/../submit/a",
  "/public/v2/submit/a",
  "/public/v1/other/a",
  "/public/v1/submit/a\n",
  "http://host/public/v1/submit/a",
  "",
])("%j is not the path of an operation", (path) => {
  expect(operationOf(path)).toBeNull();
});

it("a submit has organization, type, parameters and time of its body, and asks for app proofs in two places", () => {
  expect(of("submit/x", BODY)).toEqual({
    ...{ kind: "submit", operation: "x", isProven: false, began: expect.any(Number) as number },
    ...BODY,
  });
  expect(of("submit/x", { ...BODY, generateAppProofs: true })).toMatchObject({ isProven: true });
  expect(of("submit/x", { ...BODY, parameters: { generateAppProofs: true } })).toMatchObject({ isProven: true });
  for (const generateAppProofs of [false, "true", 1, null])
    expect(of("submit/x", { ...BODY, generateAppProofs })).toMatchObject({ isProven: false });
});

it.each([
  ["no body", undefined],
  ["an array", [BODY]],
  ["no organization", { ...BODY, organizationId: "" }],
  ["an organization that is not text", { ...BODY, organizationId: 1 }],
  ["no type", { ...BODY, type: undefined }],
  ["parameters in an array", { ...BODY, parameters: [] }],
  ["a time that is a number", { ...BODY, timestampMs: 1 }],
  ["a time that is not a decimal", { ...BODY, timestampMs: "soon" }],
])("a submit with %s has a fault", (_, body) => {
  expect(of("submit/x", body)).toMatch(/^expected type, organizationId, parameters and timestampMs/);
});

it("get_activity has an organization and an id, and other queries may have neither", () => {
  const whole = { organizationId: "o", activityId: "a" };
  expect(of("query/get_activity", whole)).toEqual({ kind: "activity", operation: "get_activity", ...whole });
  for (const body of [{ organizationId: "o" }, { activityId: "a" }, { ...whole, activityId: "" }, undefined])
    expect(of("query/get_activity", body)).toBe("expected both organizationId and activityId");
  expect(of("query/get_user", whole)).toMatchObject({ kind: "query", organizationId: "o" });
  expect(of("query/list_activities", undefined)).toMatchObject({ kind: "list", organizationId: null });
});

const NOT_COPIED = { value: undefined, faults: [{ path: "a.b", message: "a function, which no JSON value is" }] };
it.each([
  ...["submit/x", "submit/approve_activity", "query/get_activity", "query/list_wallet_accounts"],
  "query/get_wallet_account",
])("has a fault if the body cannot be copied and the answer would be compared: %s", (path) => {
  expect(questionOf(operationOf(`/public/v1/${path}`)!, NOT_COPIED)).toBe(
    "the body is not strict JSON: a.b: a function, which no JSON value is",
  );
});

it("of accounts has the parameters of an object, and no other body", () => {
  for (const name of ["list_wallet_accounts", "get_wallet_account"]) {
    expect(of(`query/${name}`, { walletId: "w" })).toMatchObject({ account: { walletId: "w" } });
    for (const body of [undefined, null, "", [{ walletId: "w" }]])
      expect(of(`query/${name}`, body)).toBe("expected a JSON object");
  }
});

it("of another query has no fault, whatever the body is: its answer is compared with nothing", () => {
  for (const name of ["list_activities", "get_user"])
    expect(questionOf(operationOf(`/public/v1/query/${name}`)!, NOT_COPIED)).toMatchObject({ organizationId: null });
});

it("takes nothing from Object.prototype", () => {
  const prototype = Object.prototype as unknown as JsonObject;
  prototype["organizationId"] = "o";
  prototype["activityId"] = "a";
  try {
    expect(of("query/get_activity", undefined)).toBe("expected both organizationId and activityId");
  } finally {
    delete prototype["organizationId"];
    delete prototype["activityId"];
  }
});
