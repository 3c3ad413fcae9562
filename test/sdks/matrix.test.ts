/** Each fact at the adapters' door (test/matrix/README.md): refused by its check, and its honest twin accepted. */
import { afterAll, expect, it } from "vitest";
import { verified } from "../../src/adapters/index.js";
import { apiKey } from "../client/support.js";
import { type Door, cellsOf, expectRefused, judgedTwin, worldOf } from "../matrix/cells.js";
import { outcomeOf, service, verification } from "../matrix/doors-fast.js";
import { ACTIVITY_ID, NOW, REQUEST } from "../matrix/worlds.js";
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

it.each(cellsOf("sdks").map((cell) => [cell.door, cell.name, cell] as const))("%s: %s", async (door, __, cell) => {
  const world = worldOf(cell.name);
  expectRefused(await adapters(world, "other"), cell);
  expect(await judgedTwin(door, adapters, world)).toEqual({ accepted: true, why: [] });
});
