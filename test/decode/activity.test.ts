import { describe, expect, it } from "vitest";
import { decodeActivity, readActivity } from "../../src/decode/activity.js";
import { refusalOf } from "../support/faults.js";
import { type Json, withMember } from "../support/manifest.js";

const fields = {
  id: "a-1",
  status: "ACTIVITY_STATUS_COMPLETED",
  type: "ACTIVITY_TYPE_CREATE_WALLET",
  organizationId: "o-1",
};
const intent = { createWalletIntent: { walletName: "w" } };
const result = { createWalletResult: { walletId: "w-1", addresses: ["0xab"] } };
const activity: Json = { ...fields, intent, result, appProofs: [{ scheme: "s" }], votes: [], canApprove: false };
const bytes = (value: Json): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

describe("decodeActivity", () => {
  it("reads its fields, and leaves the app proofs as they are", () => {
    expect(decodeActivity(activity)).toEqual({
      ...fields,
      fingerprint: null,
      requestedAt: null,
      intent,
      result,
      appProofs: [{ scheme: "s" }],
    });
    expect(decodeActivity({ ...activity, appProofs: [1, null, "x"] }).appProofs).toEqual([1, null, "x"]);
  });

  it("reads the value, its text, its bytes, and each of them in the wrapper of the answer", () => {
    const expected = JSON.stringify(decodeActivity(activity));
    for (const value of [activity, { activity }]) {
      for (const input of [value, JSON.stringify(value), bytes(value)])
        expect(JSON.stringify(decodeActivity(input))).toBe(expected);
    }
  });

  it("reads the form in which result.activity repeats the fields", () => {
    const { appProofs, ...top } = withMember(activity, "intent", undefined);
    const repeated = { ...top, result: { activity } };
    expect(decodeActivity(repeated)).toEqual(decodeActivity(activity));
    expect(decodeActivity({ ...repeated, appProofs: [{ scheme: "top" }] }).appProofs).toEqual([
      { scheme: "top" },
      ...activity.appProofs,
    ]);
    expect(decodeActivity({ ...repeated, appProofs }).appProofs).toEqual(appProofs);
    const inside = { ...activity, appProofs: undefined };
    expect(decodeActivity({ ...top, appProofs, result: { activity: inside } })).toEqual(decodeActivity(activity));
  });

  it.each(["id", "organizationId", "status", "type"])("refuses a repeated %s that differs", (name) => {
    const repeated = { ...activity, result: { activity: { ...activity, [name]: "another" } } };
    expect(() => decodeActivity(repeated)).toThrow(`result.activity.${name}: differs from the activity's own ${name}`);
  });

  it.each<[string, Json, string]>([
    ["organizationId", null, "organizationId: expected a string, got nothing"],
    ["type", {}, "type: expected a string, got an object"],
  ])("refuses %s %j", (name, member, fault) => {
    expect(refusalOf(() => decodeActivity(withMember(activity, name, member)))).toMatchObject({
      code: "activity",
      faults: fault,
    });
  });

  it("names the place where the fields repeat", () => {
    const top = withMember(withMember(activity, "intent", undefined), "appProofs", undefined);
    const refusal = refusalOf(() =>
      decodeActivity({ ...top, result: { activity: { ...activity, intent: 1, appProofs: [] } } }),
    );
    expect(refusal.paths).toEqual(["result.activity.intent", "result.activity.appProofs"]);
  });

  it("reports every fault, and keeps the good fields", () => {
    const reading = readActivity({ ...activity, id: 1, intent: 1 });
    expect(reading.faults.map(({ path }) => path)).toEqual(["id", "intent"]);
    expect(reading.value).toMatchObject({ organizationId: "o-1", appProofs: [{ scheme: "s" }] });
  });
});

describe("the time of the request", () => {
  it.each([
    ["timestampMs", { timestampMs: "1700000000000", createdAt: "5" }, 1_700_000_000_000],
    ["createdAt in milliseconds", { createdAt: "1700000000000" }, 1_700_000_000_000],
    ["createdAt as a Timestamp", { createdAt: { seconds: "1700000000", nanos: "5" } }, 1_700_000_000_000],
    ["none", {}, null],
    ["a Timestamp of nanoseconds", { createdAt: { seconds: "1700000000", nanos: "123999999" } }, 1_700_000_000_123],
    ["nanoseconds as a number", { createdAt: { seconds: "1700000000", nanos: 5_000_000 } }, 1_700_000_000_005],
    ["nanoseconds that are none", { createdAt: { seconds: "1700000000", nanos: "-5" } }, 1_700_000_000_000],
    ["RFC 3339", { createdAt: "2023-11-14T22:13:20.250Z" }, 1_700_000_000_250],
    ["what is none", { timestampMs: 5, createdAt: "yesterday" }, null],
  ] as const)("is read from %s", (_, members, wanted) => {
    expect(decodeActivity({ ...activity, ...members }).requestedAt).toBe(wanted);
  });
});
