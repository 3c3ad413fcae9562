/** What a wrapped client hands on: values of odd methods, and the flow of MFA, with a service that lies on the wire. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { UnverifiedMethodError, reportOf } from "../../src/adapters/index.js";
import { startLab } from "../../src/lab/index.js";
import { rejectionOf } from "../client/support.js";
import { POLLS, UPDATE } from "../support/lying-doors.js";
import { sdkClient, wrapped } from "./doors.js";
import { type Asked, type Lie, changed, isGet, isSubmit, said, startLiar } from "../support/liar.js";
import { type Json, completed, envelope, send, submit } from "../lab/support.js";
import { type AnyClient, SDKS, type Sdk, inputOf } from "./support.js";

const lab = await startLab();
const liar = await startLiar(lab);
const wire = { lab, url: liar.url, evidenceUrl: lab.baseUrl };
afterAll(async () => {
  await liar.close();
  await lab.close();
});
beforeEach(() => liar.reset());

const { organizationId } = lab;
const { walletId } = lab.ids;
let count = 0;
const inputFor = (sdk: Sdk): Json =>
  inputOf(sdk, "updateWallet", organizationId, { walletId, walletName: `${++count}` });
const EVIL_RESULT = { updateWalletResult: { walletId: "evil" } };
const EVIL = { activity: { id: "x", status: "ACTIVITY_STATUS_COMPLETED", type: UPDATE.type, result: EVIL_RESULT } };

/** Under zone.js promises are of another class: it has `then`, and is not a Promise. */
class OtherPromise {
  readonly #promise: Promise<unknown>;

  constructor(promise: Promise<unknown>) {
    this.#promise = promise;
  }

  then(resolve?: (value: unknown) => unknown, reject?: (reason: unknown) => unknown): OtherPromise {
    return new OtherPromise(this.#promise.then(resolve, reject));
  }
}

class HiddenActivity {
  get activity(): Json {
    return EVIL.activity;
  }
}

type Body = (this: AnyClient, input: Json) => unknown;

/** A wrapped client with one more method. */
function withMethod(sdk: Sdk, method: Body, name = "added"): AnyClient {
  const base = sdk.client({ baseUrl: liar.url, organizationId, key: lab.apiKey });
  const Base = base.constructor as new (...args: unknown[]) => AnyClient;
  class Newer extends Base {}
  Object.defineProperty(Newer.prototype, name, { value: method, configurable: true, writable: true });
  const { config, stamper } = base as Json;
  return wrapped(sdk, wire, new Newer(config, stamper));
}

async function refusalOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("was not refused");
}

const later = (value: unknown): Promise<unknown> => new Promise((resolve) => setTimeout(() => resolve(value), 1));
const thenable = (value: unknown): object => ({ then: (resolve: (value: unknown) => void) => resolve(value) });
const functionLike = (value: unknown): object => Object.assign(() => null, thenable(value));

const SILENT: Readonly<Record<string, Body>> = {
  "a value that holds an activity": () => EVIL,
  "a value that holds an activity at depth": () => ({ a: [{ b: [{ Activity: { Result: EVIL_RESULT } }] }] }),
  "an array with an activity": () => [EVIL.activity],
  "an activity behind a getter": () => ({ get activity() { return EVIL.activity; } }), // oxfmt-ignore
  "a getter that throws": () => ({ get activity() { throw new Error("later"); } }), // oxfmt-ignore
  "a getter that changes its mind": () => {
    let reads = 0;
    return { get activity() { return reads++ === 0 ? undefined : EVIL.activity; } }; // oxfmt-ignore
  },
  "an activity behind a getter of its class": () => new HiddenActivity(),
  "an activity that is inherited": () => Object.create(EVIL) as object,
  "an activity in a member that is not enumerable": () =>
    Object.defineProperty({}, "activity", { value: EVIL.activity }),
  "a promise of an activity": () => later(EVIL),
  "a promise of another class, of an activity": () => new OtherPromise(later(EVIL)),
  "an object with then, of an activity": () => thenable(EVIL),
  "a function with then, of an activity": () => functionLike(EVIL),
  "a promise of anything else": () => later({ walletId: "evil" }),
  "a promise of another class, of anything else": () => new OtherPromise(later({ walletId: "evil" })),
  "a promise of a stamped submit": () => later({ url: `${liar.url}/public/v1/submit/x`, body: "{}", stamp: {} }),
  "a promise of a stamped query of another path": () =>
    later({ url: `${liar.url}/public/v1/query/../submit/x`, body: "{}", stamp: {} }),
};

const SENT: Readonly<Record<string, Body>> = {
  "the value of another class of promise": function (input) {
    return new OtherPromise(this["updateWallet"]!(input));
  },
  "an object with then": function (input) {
    return thenable(this["updateWallet"]!(input));
  },
  "more members beside the activity": async function (input) {
    return { ...(await this["updateWallet"]!(input)), walletId: "evil", more: "evil" };
  },
};

const SENT_OTHERS: Readonly<Record<string, Body>> = {
  "the activity in another member": async function (input) {
    return { wallet: await this["updateWallet"]!(input) };
  },
  "another activity": async function (input) {
    await this["updateWallet"]!(input);
    return EVIL;
  },
  "a copy of the activity": async function (input) {
    const { activity } = await this["updateWallet"]!(input);
    return { activity: { ...activity, result: EVIL_RESULT } };
  },
};

describe.each(SDKS)("adapters of $name", (sdk) => {
  it.each(Object.entries(SILENT))("refuse what no request produced: %s", async (_, method) => {
    const client = withMethod(sdk, method);
    expect(await refusalOf(() => client["added"]!({}))).toBeInstanceOf(UnverifiedMethodError);
    expect(liar.asked).toEqual([]);
  });

  it.each(Object.entries(SENT))("wait for, and build anew: %s", async (_, method) => {
    const value = (await withMethod(sdk, method)["added"]!(inputFor(sdk))) as Json;
    expect(reportOf(value)?.verdict).toBe("verified");
    expect(JSON.stringify(value)).not.toContain("evil");
    expect(Object.keys(value).sort()).toEqual(sdk.isFlat ? ["activity", "walletId"] : ["activity"]);
  });

  it.each(Object.entries(SENT_OTHERS))("refuse of a method that sends: %s", async (_, method) => {
    const client = withMethod(sdk, method);
    expect(await rejectionOf(client["added"]!(inputFor(sdk)))).toBeInstanceOf(UnverifiedMethodError);
  });

  it("hand on stampers, configurations and other values that hold no activity", async () => {
    const values = { stamper: "stamper", apiKeyStamper: "apiKeyStamper", config: "config" };
    for (const member of Object.values(values)) {
      const client = withMethod(sdk, function () {
        return (this as Json)[member] as unknown;
      });
      const own = (client as Json)[member] as unknown;
      expect(client["added"]!({})).toBe(own);
    }
    for (const value of [undefined, null, 7, "text", [1], { status: "fine", result: 1 }])
      expect(withMethod(sdk, () => value)["added"]!({})).toBe(value);
    expect(await withMethod(sdk, async () => undefined)["added"]!({})).toBeUndefined();
  });

  it("send a method once that begins with stamp and sends", async () => {
    const type = "ACTIVITY_TYPE_STAMP_LOGIN";
    liar.lie = async (asked, honest) => (asked.path === "submit/stamp_login" ? loggedIn(asked, honest) : honest());
    const parameters = { publicKey: "02" };
    const input = sdk.isFlat
      ? { organizationId, ...parameters }
      : { type, timestampMs: String(Date.now()), organizationId, parameters };
    const value = await withMethod(sdk, stampLogin, "stampLogin")["stampLogin"]!(input);
    expect(liar.asked.filter(({ path }) => path === "submit/stamp_login")).toHaveLength(1);
    expect(reportOf(value)?.claims?.activity?.question).toBe("request");
    if (sdk.isFlat) expect(value).toMatchObject({ session: "a session" });
  });

  it("refuse another activity that the SDK polls by itself after our polls", async () => {
    const { body } = await submit(lab, "updateWallet", { walletId, walletName: "other" }, { generateAppProofs: true });
    liar.lie = changed(
      (asked) => isSubmit(asked) || isGet(asked),
      ({ activity }, { index, ...asked }) =>
        isGet(asked as Asked) && index >= POLLS ? body : pending(activity as Json),
    );
    const call = wrapped(sdk, wire)["updateWallet"]!(inputFor(sdk));
    if (sdk.isFlat) await expect(call).rejects.toThrow(/^rejected: .*this activity is not the one that first answered/);
    else
      expect(reportOf(await call)).toMatchObject({
        verdict: "unverified",
        reason: expect.stringMatching(/^the activity is not finished: the service is working on it \(/) as unknown,
      });
  });

  it("verify what the SDK polls by itself after our polls", async () => {
    liar.lie = changed(
      (asked) => isSubmit(asked) || (isGet(asked) && asked.index < POLLS),
      ({ activity }) => pending(activity as Json),
    );
    const value = await wrapped(sdk, wire)["updateWallet"]!(inputFor(sdk));
    expect(reportOf(value)?.claims?.activity?.question).toBe(sdk.isFlat ? "request" : undefined);
  });
});

const pending = (activity: Json): Json => ({ activity: { ...activity, status: "ACTIVITY_STATUS_PENDING" } });

/** The SDKs have it, and `http` as `stampLogin` of the submit. */
async function stampLogin(this: AnyClient, input: Json): Promise<unknown> {
  const Base = Object.getPrototypeOf(Object.getPrototypeOf(this) as object) as Json;
  const own = (Base["stampLogin"] as Body | undefined) ?? null;
  if (own !== null) return own.call(this, input);
  const { type = "ACTIVITY_TYPE_STAMP_LOGIN", timestampMs = String(Date.now()), parameters, ...rest } = input;
  const { organizationId: owner, ...flat } = rest;
  const body = { type, timestampMs, organizationId: owner as string, parameters: parameters ?? flat };
  const { activity } = (await this.request("/public/v1/submit/stamp_login", body)) as Json;
  return { ...activity.result?.stampLoginResult, activity };
}

/** Over the genuine app proof of another submit. */
async function loggedIn({ body }: Asked, honest: Parameters<Lie>[1]): ReturnType<typeof honest> {
  const [type, parameters] = [UPDATE.type, { walletId, walletName: `${++count}` }];
  const answer = await honest(`submit/${UPDATE.name}`, { ...body, type, parameters, generateAppProofs: true });
  const { activity } = JSON.parse(answer.text) as Json;
  return said({
    activity: {
      ...activity,
      type: body["type"],
      intent: { stampLoginIntent: body["parameters"] as Json },
      result: { stampLoginResult: { session: "a session" } },
      appProofs: [activity.appProofs[0]],
    },
  });
}

describe("MFA of core", () => {
  const sdk = SDKS.find(({ name }) => name === "core")!;
  const statuses = [{ userId: lab.ids.userId, satisfied: false }];

  /** A client of a user who needs MFA, of which the service knows. `afterMfa` changes what it answers then. */
  function needing(status: string, afterMfa: (answer: Json) => unknown = (answer) => answer) {
    const contexts: Json[] = [];
    const open = ({ activity }: Json): Json => ({
      activity: { ...activity, status: `ACTIVITY_STATUS_${status}`, result: EVIL_RESULT },
    });
    liar.keyOf = ({ path }) => (path === `submit/${UPDATE.name}` ? lab.operator.apiKey : lab.apiKey);
    liar.lie = async (asked, honest) => {
      if (asked.path === "query/get_mfa_status") return said({ mfaStatuses: statuses });
      const answer = await honest();
      if (!isSubmit(asked) && !isGet(asked)) return answer;
      const json = JSON.parse(answer.text) as Json;
      return said(contexts.length === 0 ? open(json) : afterMfa(json));
    };
    const onMfaRequired = async (context: Json): Promise<void> => {
      contexts.push(context);
      const parameters = { fingerprint: context["fingerprint"] as string };
      const text = envelope(lab, "ACTIVITY_TYPE_APPROVE_ACTIVITY", parameters, { generateAppProofs: true });
      await completed(send(lab, "submit/approve_activity", text));
    };
    const client = wrapped(sdk, wire, sdkClient(sdk, lab, liar.url, onMfaRequired));
    return { client, contexts };
  }

  const CALLS: Readonly<Record<string, (client: AnyClient) => Promise<Json>>> = {
    "a method": (client) => client["updateWallet"]!(inputFor(sdk)),
    sendSignedRequest: async (client) => {
      const plain = sdkClient(sdk, lab, liar.url);
      const signed = await plain["stampUpdateWallet"]!({ ...inputFor(sdk), generateAppProofs: true });
      return client["sendSignedRequest"]!(signed);
    },
  };
  const both = ["AUTHENTICATORS_NEEDED", "CONSENSUS_NEEDED"].flatMap((status) =>
    Object.entries(CALLS).map(([name, call]) => [name, status, call] as const),
  );

  it.each(both)("of %s goes on after onMfaRequired, with an activity that is %s", async (_, status, call) => {
    const { client, contexts } = needing(status);
    const value = await call(client);
    expect(reportOf(value)?.claims?.activity?.question).toBe("request");
    expect(value).toMatchObject({ walletId, activity: { status: "ACTIVITY_STATUS_COMPLETED" } });
    expect(contexts).toEqual([
      {
        activityId: value["activity"].id as string,
        fingerprint: value["activity"].fingerprint as string,
        organizationId,
        activityType: UPDATE.type,
        activityStatus: `ACTIVITY_STATUS_${status}`,
        mfaStatuses: statuses,
      },
    ]);
  });

  it.each(both)("of %s refuses another request under the id after an activity that was %s", async (_, status, call) => {
    const { body } = await submit(lab, "updateWallet", { walletId, walletName: "other" }, { generateAppProofs: true });
    const { client } = needing(status, ({ activity }) => ({
      activity: { ...body["activity"], id: (activity as Json)["id"] as string },
    }));
    await expect(call(client)).rejects.toThrow(/^rejected: .*walletName is not what was submitted/);
  });
});
