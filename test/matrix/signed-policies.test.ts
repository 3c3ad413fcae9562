/** A signed policy at each entrance: accepted while its version is in force, refused by its time alone otherwise. */
import { afterAll, expect, it } from "vitest";
import { World } from "./cells.js";
import { FAST, service } from "./doors-fast.js";
import { FACTS } from "./facts.js";
import { SignedWorld, expectSigned } from "./signed.js";

afterAll(() => service.close());

/** Which release is approved has no signed policy, and the watch needs a version before it. */
const OTHERS = ["policy check-releases, command", "watch, after SIGHUP"];
const IN_WORDS = ["review, command", "measure, command"];

it.each(Object.entries(FAST).filter(([name]) => !OTHERS.includes(name)))("%s: a signed policy", (name, judge) =>
  expectSigned(judge, IN_WORDS.includes(name)),
);

it("watch, after SIGHUP: a signed policy", async () => {
  const judge = FAST["watch, after SIGHUP"];
  const earlier = JSON.parse(await new World("pin pivotHash", FACTS["pin pivotHash"]).before()) as object;
  const next = new SignedWorld("current", earlier);
  expect(await judge(next, "honest")).toEqual({ accepted: true, why: [] });
  expect(await judge(next, "other")).toEqual({ accepted: false, why: ["policy.deployment", "policy.pivot"] });
  const late = new SignedWorld("expired", earlier);
  expect(await judge(late, "honest")).toEqual({ accepted: false, why: ["policy.current"] });
});
