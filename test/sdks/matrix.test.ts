/** Each fact at the doors of wrapped clients (test/matrix/README.md): refused by its check, and its twin accepted. */
import { afterAll, expect, it } from "vitest";
import { isUnproven, reportOf, verified } from "../../src/adapters/index.js";
import { apiKey } from "../client/support.js";
import { type Door, cellsOf, expectRefused, judgedTwin, worldOf } from "../matrix/cells.js";
import type { DOORS, DoorName } from "../matrix/doors.js";
import { outcomeOf, service, verification } from "../matrix/doors-fast.js";
import { ACTIVITY_ID, NOW, REQUEST } from "../matrix/worlds.js";
import { SignedWorld } from "../matrix/signed.js";
import { SIGN_UP, signUpClock } from "../matrix/service.js";
import { SDKS } from "./support.js";

afterAll(() => service.close());
const { organizationId } = REQUEST;

const adapters: Door = async (world, side) => {
  service.serves(world[side]);
  const sdk = SDKS[0]!.client({ baseUrl: service.url, organizationId, key: apiKey });
  const options = { policy: world.parsed(), organizationId, now: () => NOW, ...verification(world, side) };
  const wrapped = verified(sdk, options);
  if (world.fact.asks === "past")
    return outcomeOf(() => wrapped["getActivity"]!({ organizationId, activityId: ACTIVITY_ID }));
  return outcomeOf(() => wrapped["createWallet"]!(REQUEST));
};

/** A new user has no stamper, so the boot proofs come from a function. */
const signUp: Door = async (world, side) => {
  const { url: baseUrl, authProxyUrl } = service.serves(world[side]);
  const core = SDKS.find(({ name }) => name === "core")!.client({ baseUrl, organizationId, key: apiKey, authProxyUrl });
  const evidence = (): unknown => world[side].bootProof;
  const options = { policy: world.parsed(), evidence, now: signUpClock(world.fact), ...verification(world, side) };
  const wrapped = verified(core, options);
  return outcomeOf(async () => {
    const value = await wrapped["proxySignupV2"]!(SIGN_UP);
    if (reportOf(value)?.verdict !== "verified" || isUnproven(value)) throw new Error("an answer that nobody verified");
  });
};

type SdkDoor = { [D in DoorName]: (typeof DOORS)[D] extends "sdks" ? D : never }[DoorName];
const SDK_DOORS: Readonly<Record<SdkDoor, Door>> = { adapters, "sign-up by adapters": signUp };

it.each(cellsOf("sdks").map((cell) => [cell.door, cell.name, cell] as const))("%s: %s", async (_, __, cell) => {
  const world = worldOf(cell.name);
  const door = SDK_DOORS[cell.door as SdkDoor];
  expectRefused(await door(world, "other"), cell);
  expect(await judgedTwin(cell.door, door, world)).toEqual({ accepted: true, why: [] });
});

it.each(Object.entries(SDK_DOORS))("%s: a signed policy", async (_, door) => {
  const judged = async (time: "current" | "expired" | "early") => door(await new SignedWorld(time).open(), "honest");
  expect(await judged("current")).toEqual({ accepted: true, why: [] });
  for (const time of ["expired", "early"] as const)
    expect(await judged(time)).toEqual({ accepted: false, why: ["policy.current"] });
});
