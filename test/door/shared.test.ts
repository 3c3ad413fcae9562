/** What the entrances to one door share: proofs that were used, and requests that were answered. */
import { describe, expect, it } from "vitest";
import { createDoor, reportOf, verified, verifiedFetch } from "../../src/adapters/index.js";
import { toUtf8 } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import { type AtDoor, Door } from "../../src/door/door.js";
import { Entrance } from "../../src/door/entrance.js";
import { operationOf } from "../../src/door/question.js";
import { VerifyingProxy } from "../../src/proxy/proxy.js";
import { AttestedService, policyOf } from "../client/attested.js";
import { BASE_URL, ORGANIZATION } from "../client/support.js";

const SUBMIT = "/public/v1/submit/update_wallet";
const PARAMETERS = { walletId: "w1", walletName: "new" };

/** Shaped as the clients of SDKs. */
class Sdk {
  readonly config = { organizationId: ORGANIZATION };
  readonly service: AttestedService;

  constructor(service: AttestedService) {
    this.service = service;
  }

  async request(path: string, body: unknown): Promise<unknown> {
    const headers = { "X-Stamp": "a" };
    return (await this.service.fetch(BASE_URL + path, { method: "POST", headers, body: JSON.stringify(body) })).json();
  }
}

const bodyAt = ({ now }: AttestedService): string =>
  JSON.stringify({
    ...{ type: "ACTIVITY_TYPE_UPDATE_WALLET", organizationId: ORGANIZATION, parameters: PARAMETERS },
    ...{ timestampMs: String(now.getTime()), generateAppProofs: true },
  });

/** Opens an entrance, and submits through it. Resolves to "verified", or what the refusal says. */
type Enter = (service: AttestedService, at: AtDoor) => Promise<string>;

const ENTRANCES: Readonly<Record<string, Enter>> = {
  client: async (service, { door, policy }) => {
    const { report } = await (await service.client()).withVerification(door ?? policy!).updateWallet(PARAMETERS);
    return report.verdict;
  },
  "a wrapped client": async (service, at) => {
    const sdk = verified(new Sdk(service), at);
    const answer = await sdk.request(SUBMIT, JSON.parse(bodyAt(service)));
    return reportOf(answer)?.verdict ?? "";
  },
  fetch: async (service, at) => {
    const options = { ...at, baseUrl: BASE_URL, evidence: await service.client(), fetch: service.fetch };
    const init = { method: "POST", headers: { "X-Stamp": "a" }, body: bodyAt(service) };
    return reportOf(await verifiedFetch(options)(BASE_URL + SUBMIT, init))?.verdict ?? "";
  },
  "the proxy": async (service, at) => {
    const proxy = new VerifyingProxy({ ...at, query: (await service.client()).query });
    const body = toUtf8(bodyAt(service));
    const decided = proxy.decide({ method: "POST", target: SUBMIT, headers: [["x-stamp", "a"]], body });
    if ("refused" in decided) throw new Error(decided.refused.body);
    const response = await service.fetch(BASE_URL + SUBMIT, { method: "POST", body: bodyAt(service) });
    const raw = { status: 200, rawHeaders: ["Content-Type", "application/json"], rawTrailers: [] };
    const answer = { ...raw, body: new Uint8Array(await response.arrayBuffer()) };
    const reply = await proxy.answer(decided.forwarded.exchange, answer, new AbortController().signal);
    if (reply.status !== 200) throw new Error(reply.body);
    return reply.headers["X-Bootproof-Verified"] === "activity" ? "verified" : "";
  },
};
const PAIRS = Object.keys(ENTRANCES).flatMap((first) => Object.keys(ENTRANCES).map((second) => [first, second]));

/** Answers each request with the proofs of the first. */
const replaying = (): AttestedService =>
  new AttestedService({
    activity: (activity, { activities: [first] }) => ({ ...activity, appProofs: (first ?? activity)["appProofs"]! }),
  });
const settingsOf = (service: AttestedService): Required<Pick<AtDoor, "now" | "policy">> => ({
  now: () => service.now,
  policy: policyOf(),
});

describe("a proof that was used", () => {
  it.each(PAIRS)("at the entrance of %s is refused at that of %s to the same door", async (first, second) => {
    const service = replaying();
    const at = { door: createDoor(settingsOf(service)) };
    expect(await ENTRANCES[first!]!(service, at)).toBe("verified");
    service.clock += 1000;
    await expect(ENTRANCES[second!]!(service, at)).rejects.toThrow(/used/);
  });

  it.each(PAIRS)("at the door of %s is not known at another, of %s", async (first, second) => {
    const service = replaying();
    expect(await ENTRANCES[first!]!(service, settingsOf(service))).toBe("verified");
    service.clock += 1000;
    expect(await ENTRANCES[second!]!(service, settingsOf(service))).toBe("verified");
  });
});

it("an activity that answered a request is compared with it at each entrance", async () => {
  const service = new AttestedService();
  const door = createDoor(settingsOf(service));
  const questionOf = async (given: typeof door): Promise<unknown> => {
    const past = service.activities[0]!;
    const one = (await service.client()).withVerification(given);
    return (await one.verifyActivity(past)).report.claims?.activity?.question;
  };
  await ENTRANCES["fetch"]!(service, { door });
  expect(await questionOf(door)).toBe("request");
  expect(await questionOf(createDoor(settingsOf(service)))).toBeNull();
});

describe("a door", () => {
  const service = new AttestedService();
  const door = createDoor(settingsOf(service));

  it.each([
    ["a policy", { policy: policyOf() }, "options.policy: the door has its own: leave it out"],
    ["a clock", { now: () => service.now }, "options.now: the door has its own: leave it out"],
    ["a limit", { bootProofLimit: 1 }, "options.bootProofLimit: the door has its own: leave it out"],
  ])("is refused beside %s", (_, beside, message) => {
    expect(() => verified(new Sdk(service), { door, ...beside })).toThrow(message);
  });

  it("is what createDoor made, and each entrance needs one, or a policy", () => {
    expect(() => verified(new Sdk(service), { door: { policy: policyOf() } })).toThrow("a door of createDoor");
    expect(() => verified(new Sdk(service), {})).toThrow("options.policy is required: the result of parsePolicy");
    expect(door.policy).toEqual(policyOf());
  });
});

it("nothing is sent where what verifies the answer cannot be loaded", async () => {
  const lost = async (): Promise<never> => Promise.reject(new TypeError("no such file"));
  const parts = { verifying: lost, accounts: lost, authProxy: lost };
  const entrance = new Entrance(new Door({ policy: policyOf() }, parts), { verifyAddresses: true }, parts);
  const ready = async (path: string): Promise<void> => {
    const body = { ...(JSON.parse(bodyAt(new AttestedService())) as JsonObject), activityId: "a" };
    const exchange = entrance.ask(operationOf(path)!, { value: body, faults: [] });
    await entrance.ready(exchange as Exclude<typeof exchange, string>);
  };
  for (const path of [SUBMIT, "/public/v1/query/get_activity", "/public/v1/query/list_wallet_accounts"])
    await expect(ready(path)).rejects.toMatchObject({
      ...{ name: "ClientError", code: "unreachable", effect: "none" },
      message: expect.stringContaining("not sent: what verifies the answer could not be loaded (no such file)"),
    });
  await ready("/public/v1/query/get_user");
});
