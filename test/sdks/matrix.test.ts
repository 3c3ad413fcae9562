/** Each fact at the entrances of wrapped clients (../matrix/README.md): refused by its check, its twin accepted. */
import { afterAll, it } from "vitest";
import { isUnproven, reportOf, verified } from "../../src/adapters/index.js";
import { apiKey } from "../client/support.js";
import { type Judge, cellsOf, expectJudged } from "../matrix/cells.js";
import type { EntranceOf } from "../matrix/doors.js";
import { outcomeOf, service, verification } from "../matrix/doors-fast.js";
import { ACTIVITY_ID, NOW, REQUEST } from "../matrix/worlds.js";
import { expectSigned } from "../matrix/signed.js";
import { SIGN_UP, signUpClock } from "../matrix/service.js";
import { SDKS } from "./support.js";

afterAll(() => service.close());
const { organizationId } = REQUEST;

const adapters: Judge = async (world, side) => {
  service.serves(world[side]);
  const sdk = SDKS[0]!.client({ baseUrl: service.url, organizationId, key: apiKey });
  const options = { policy: world.parsed(), organizationId, now: () => NOW, ...verification(world, side) };
  const wrapped = verified(sdk, options);
  if (world.fact.asks === "past")
    return outcomeOf(() => wrapped["getActivity"]!({ organizationId, activityId: ACTIVITY_ID }));
  const method = world.operation.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return outcomeOf(() => wrapped[method]!(world.request));
};

/** A new user has no stamper, so the boot proofs come from a function. */
const signUp: Judge = async (world, side) => {
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

const WRAPPED: Readonly<Record<EntranceOf<"sdks">, Judge>> = {
  "door, adapters": adapters,
  "door for sign-ups, adapters": signUp,
};

it.each(cellsOf(WRAPPED).map((cell) => [cell.entrance, cell.name, cell] as const))("%s: %s", (_, __, cell) =>
  expectJudged(cell),
);

it.each(Object.entries(WRAPPED))("%s: a signed policy", (_, judge) => expectSigned(judge));
