/** A signed policy at each door: accepted while its version is in force, refused by its time alone otherwise. */
import { afterAll, expect, it } from "vitest";
import { World } from "./cells.js";
import type { DoorName } from "./doors.js";
import { FAST_DOORS, service } from "./doors-fast.js";
import { FACTS } from "./facts.js";
import { SAYS, SignedWorld } from "./signed.js";

afterAll(() => service.close());

/** `checks`: refused by the check `policy.current`. `words`: by its sentence, since the command has no checks. */
const CELLS = {
  verify: "checks",
  "verify of a bundle": "checks",
  "verify of a page": "checks",
  bundle: "checks",
  watch: "checks",
  addresses: "checks",
  "addresses of a client": "checks",
  verifyAddresses: "checks",
  "verifyAddresses of a kept sign-up": "checks",
  "proxy --verify-addresses": "checks",
  client: "checks",
  proxy: "checks",
  verifiedFetch: "checks",
  "sign-up by verifiedFetch": "checks",
  review: "words",
  measure: "words",
} as const satisfies Partial<Record<DoorName, "checks" | "words">>;

const doors = Object.keys(CELLS) as (keyof typeof CELLS)[];
const [current, expired, early] = await Promise.all(
  (["current", "expired", "early"] as const).map((time) => new SignedWorld(time).open()),
);

it.each(doors)("%s: a signed policy", async (name) => {
  const door = FAST_DOORS[name];
  expect(await door(current!, "honest")).toEqual({ accepted: true, why: [] });
  // Whoever signs does not change what is judged.
  expect((await door(current!, "other")).accepted).toBe(false);
  for (const [world, words] of [
    [expired, SAYS.expired],
    [early, SAYS.early],
  ] as const) {
    const why = CELLS[name] === "checks" ? "policy.current" : (expect.stringContaining(words) as string);
    expect(await door(world!, "honest")).toEqual({ accepted: false, why: [why] });
  }
});

it("watch after SIGHUP: a signed policy", async () => {
  const door = FAST_DOORS["watch after SIGHUP"];
  const earlier = JSON.parse(await new World("pin pivotHash", FACTS["pin pivotHash"]).before()) as object;
  const next = new SignedWorld("current", earlier);
  expect(await door(next, "honest")).toEqual({ accepted: true, why: [] });
  expect(await door(next, "other")).toEqual({ accepted: false, why: ["policy.deployment", "policy.pivot"] });
  const late = new SignedWorld("expired", earlier);
  expect(await door(late, "honest")).toEqual({ accepted: false, why: ["policy.current"] });
});
