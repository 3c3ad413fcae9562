/** Results of every activity type that repeat the request, as a service may tell them, and that name something else. */
import { describe, expect, it } from "vitest";
import { AttestedService } from "../client/attested.js";
import { ORGANIZATION, rejectionOf } from "../client/support.js";
import type { RejectedActivityError } from "../../src/client/index.js";
import { readActivity } from "../../src/decode/activity.js";
import { type JsonObject, type JsonValue, parseJson } from "../../src/decode/json.js";
import { activityContradictions } from "../../src/verify/contradictions.js";
import { expectationOf } from "../../src/verify/expectation.js";
import {
  SERVICE_TYPES,
  type ServiceType,
  honestChanges,
  lies,
  parametersOf,
  resultOf,
} from "../support/activity-types.js";

let told: JsonObject = {};
const service = new AttestedService({ activity: (activity) => ({ ...activity, ...told }) });
const verified = await service.verified();

/** Submits by a verified call, and answers with this result. */
function submitted(row: ServiceType, parameters: JsonObject, result: JsonObject): Promise<{ result: unknown }> {
  told = { intent: { [row.intentMember]: parameters }, result: { [row.resultMember]: result } };
  service.clock += 1000;
  return verified.submit({ name: "some_name", type: row.type }, parameters);
}

/** Contradictions where only the organization was expected, so that the result is compared with its own intent. */
function ofItself(row: ServiceType, parameters: JsonObject, result: JsonObject): string[] {
  const activity = {
    id: "a1",
    organizationId: ORGANIZATION,
    status: "ACTIVITY_STATUS_COMPLETED",
    type: row.type,
    appProofs: [{}],
    intent: { [row.intentMember]: parameters },
    result: { [row.resultMember]: result },
  };
  const { value } = readActivity(parseJson(JSON.stringify(activity)));
  return activityContradictions(expectationOf({ organizationId: ORGANIZATION }), value);
}

/** The signatures in their results are verified, so they have tests of their own. */
const SIGNS = /_SIGN_(?:RAW_PAYLOADS?|TRANSACTION)(?:_V2)?$/;
const named = (rows: readonly ServiceType[]): [string, ServiceType][] => rows.map((row) => [row.type, row]);
const others = named(SERVICE_TYPES.filter(({ type }) => !SIGNS.test(type)));
const sharing = named(SERVICE_TYPES.filter(({ shared }) => shared.length > 0));

it("the table has all 167 types with a result, of which 59 have texts or a decision of the request in it", () => {
  expect([SERVICE_TYPES.length, others.length, sharing.length]).toEqual([167, 162, 59]);
});

describe.each(others)("an honest answer to %s", (_, row) => {
  it("is verified", async () => {
    const parameters = parametersOf(row);
    const result = resultOf(row, parameters, ORGANIZATION);
    expect((await submitted(row, parameters, result)).result).toEqual(result);
    expect(ofItself(row, parameters, result)).toEqual([]);
  });

  it("is verified where optional members are not submitted, or empty", async () => {
    const optional = row.intent.filter(({ isOptional }) => isOptional).map(({ name }) => name);
    const least = parametersOf(row, optional);
    const result = resultOf(row, least, ORGANIZATION);
    const empty = { ...least, ...Object.fromEntries(optional.map((name) => [name, ""])) };
    for (const sent of [least, empty]) {
      expect((await submitted(row, sent, result)).result).toEqual(result);
      expect(ofItself(row, sent, result)).toEqual([]);
    }
  });
});

describe.each(sharing)("an answer to %s", (_, row) => {
  const parameters = parametersOf(row);
  const honest = resultOf(row, parameters, ORGANIZATION);

  it("is verified in other forms of the same values", async () => {
    for (const [what, result] of honestChanges(row, honest)) {
      expect((await submitted(row, parameters, result)).result, what).toEqual(result);
      expect(ofItself(row, parameters, result), what).toEqual([]);
    }
  });

  it("is refused where a member that the request has, too, is another", async () => {
    for (const [what, result] of lies(row, honest)) {
      const { failures } = await rejectionOf<RejectedActivityError>(submitted(row, parameters, result));
      expect(
        failures.map(({ id }) => id),
        what,
      ).toContain("activity.request");
      expect(ofItself(row, parameters, result), what).not.toEqual([]);
    }
  });
});

/** No row says that the service chooses these, so an empty one is a demand. */
it.each<[type: string, name: string, empty: JsonValue, lie: JsonValue]>([
  ["CREATE_USER_TAG", "userIds", [], ["other"]],
  ["CREATE_PRIVATE_KEY_TAG", "privateKeyIds", [], ["other"]],
  ["EARN_SET_WRAPPER_STATE", "depositsDisabled", false, true],
])("%s with an empty %s is not answered with one", async (type, name, empty, lie) => {
  const row = SERVICE_TYPES.find((each) => each.type === `ACTIVITY_TYPE_${type}`)!;
  const parameters = { ...parametersOf(row), [name]: empty };
  const result = resultOf(row, parameters, ORGANIZATION);
  for (const honest of [result, { ...result, [name]: null }])
    expect((await submitted(row, parameters, honest)).result).toEqual(honest);
  const { failures } = await rejectionOf<RejectedActivityError>(submitted(row, parameters, { ...result, [name]: lie }));
  expect(failures.map(({ id, detail }) => [id, detail])).toEqual([
    ["activity.request", `the result's ${name} is not what was submitted`],
  ]);
});
