/** The message of a rejected activity: what to do first, then each failed check once. */
import { describe, expect, it } from "vitest";
import type { Check, CheckId, CheckSubject, Report } from "../../src/index.js";
import { OPERATIONS_WITHOUT_APP_PROOFS, rejectionText } from "../../src/door/rejection.js";
import { report } from "../report/reports.js";

const failed = (id: CheckId, subject: CheckSubject, detail: string, more: Partial<Check> = {}): Check => ({
  ...{ id, subject, status: "fail", detail },
  ...more,
});
const rejected = (...checks: Check[]): Report => ({ ...report({ checks }), verdict: "rejected", claims: null });
const SUBMIT = { operation: "update_wallet", activityId: "a1", hasAppProofs: true };
const PAST = { ...SUBMIT, operation: null };
const CARRIED_OUT = "The service may have carried out a1: check the activity before you submit again.";

describe("the message of a rejected activity", () => {
  it("begins with the ids, says what to do, and names each check once with its pieces", () => {
    const pins = [0, 1, 2].flatMap((index) => [
      failed("policy.deployment", "policy", "no deployment matches", { about: `boot[${index}]`, advice: "Stop." }),
      failed("policy.pcrs", "policy", `PCR0 of ${index} differs`, { about: `boot[${index}]` }),
    ]);
    const keys = [failed("app.key", "app[1]", "no boot proof attests it", { advice: "Give the boot proof." })];
    expect(rejectionText(rejected(...keys, ...pins), SUBMIT)).toBe(
      `rejected: app.key, policy.deployment, policy.pcrs (update_wallet a1): Give the boot proof. ${CARRIED_OUT} ` +
        "Details: app.key (1 app proof): no boot proof attests it; policy.deployment (3 boot proofs): no deployment " +
        "matches; policy.pcrs (3 boot proofs): PCR0 of 0 differs.",
    );
  });

  it("says of an activity without app proofs that it has none, and which never have any", () => {
    const none = failed("activity.decode", "activity", "appProofs: expected a list, got nothing");
    const required = failed("policy.app-proof", "policy", "no app proof was given", { advice: "Ask for one." });
    const facts = { ...PAST, hasAppProofs: false };
    expect(rejectionText(rejected(none, required), facts)).toBe(
      "rejected: activity.decode, policy.app-proof (a1): this operation returned no app proofs: was " +
        `\`generateAppProofs\` set; 16 operations never have any (${OPERATIONS_WITHOUT_APP_PROOFS.join(", ")}). ` +
        "Details: activity.decode: appProofs: expected a list, got nothing; policy.app-proof: no app proof was given.",
    );
  });

  it.each<[string, Check[], object]>([
    ["is that of another request", [failed("activity.request", "activity", "id is b", { advice: "Compare." })], {}],
    ["is not there at all", [], { activityId: null }],
    ["has app proofs, and another fault", [], { hasAppProofs: true }],
  ])("does not say so where the activity %s", (_, more, facts) => {
    const decode = failed("activity.decode", "activity", "expected an object", { advice: "Compare." });
    const text = rejectionText(rejected(decode, ...more), { ...PAST, hasAppProofs: false, ...facts });
    expect(text).toMatch(/^rejected: activity\.decode(?:, activity\.request)?(?: \(a1\))?: Compare\. Details: /);
  });

  it("says what strict acceptance refuses by the checks that warn", () => {
    const warned = failed("chain.anchor", "boot[0]", "another root", { status: "warn" });
    const note = failed("boot.decode", "boot[0]", "no owner", { status: "warn" });
    const strict = { ...report({ checks: [note, warned] }), refusedFor: ["the certificates lead to another root"] };
    expect(rejectionText(strict, PAST)).toBe(
      'rejected: chain.anchor (a1): Settle the warnings before you rely on it: acceptance "strict" refuses them. ' +
        "Details: refused, though verified: the certificates lead to another root.",
    );
    expect(rejectionText({ ...strict, checks: [] }, PAST)).toMatch(/^rejected: warnings \(a1\): /);
  });

  it("says that evidence is genuine that is only too old", () => {
    const stale = { ...rejected(failed("policy.age", "policy", "2 days", { about: "boot[0]" })), stale: true };
    expect(rejectionText(stale, PAST)).toBe(
      "rejected: policy.age (a1): the evidence is genuine, but older than the policy allows. Do not rely on it. " +
        "Details: policy.age (1 boot proof): 2 days.",
    );
  });

  it("says not to rely on it without advice, and is bounded", () => {
    const claims = failed("activity.claims", "activity", "x".repeat(9000));
    expect(rejectionText(rejected(claims), PAST)).toBe(
      "rejected: activity.claims (a1): Do not rely on it. Details: activity.claims: " +
        `${"x".repeat(500)}… (9000 characters).`,
    );
    const ids: CheckId[] = ["cose.signature", "doc.time", "bind.pcrs", "bind.key", "mode.debug", "app.key", "app.time"];
    const many = [
      ...ids,
      "app.request",
      "activity.request",
      "activity.claims",
      "policy.pcrs",
      "policy.age",
    ] as CheckId[];
    const long = rejectionText(rejected(...many.map((id) => failed(id, "boot[0]", "y".repeat(9000)))), SUBMIT);
    expect(long.startsWith(`rejected: ${many.join(", ")} (update_wallet a1): `)).toBe(true);
    expect(long.length).toBeLessThan(4200);
  });
});
