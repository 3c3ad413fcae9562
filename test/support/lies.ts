/**
 * One service that lies on the wire: each row has to hold at every door. Evidence is genuine, so that an answer is
 * refused for what it is compared with, and for nothing else.
 */
import { afterAll, beforeEach, expect, it } from "vitest";
import { startLab } from "../../src/lab/index.js";
import { type Json, type Sending, TWO_ACCOUNTS, completed, submit } from "../lab/support.js";
import {
  APPROVE,
  type Door,
  type More,
  type Opener,
  type Operation,
  type Outcome,
  POLLS,
  UPDATE,
} from "./lying-doors.js";
import { type Asked, type Lie, changed, isGet, isSubmit, said, startLiar } from "./liar.js";

export const lab = await startLab();
export const liar = await startLiar(lab);
/** Answers the queries of evidence of every door but the own client. */
const relay = await startLiar(lab);
afterAll(async () => {
  for (const one of [liar, relay, lab]) await one.close();
});
beforeEach(() => {
  liar.reset();
  relay.reset();
});

interface Row {
  readonly name: string;
  readonly run: (door: Door) => Promise<void>;
  /** Why the row does not apply at a door. */
  readonly not?: Partial<Record<Door["kind"], string>>;
}

const ROWS: Row[] = [];
const table = (rows: readonly Row[]): void => void ROWS.push(...rows);

/** Makes the tests of a file. */
export async function tellLies(openers: readonly Opener[]): Promise<void> {
  const doors = await Promise.all(openers.map((open) => open({ lab, url: liar.url, evidenceUrl: relay.url })));
  afterAll(async () => {
    for (const door of doors) await door.close();
  });
  const pairs = doors.flatMap((door) =>
    ROWS.filter((row) => row.not?.[door.kind] === undefined).map((row) => [door.name, row.name, door, row] as const),
  );
  it.each(pairs)("%s %s", async (_, __, door, row) => row.run(door));
}

const NO_LISTS = "the own client verifies submits and single activities, and has no lists and no other queries";
const NO_TIME = "the own client makes each request anew, with a time of its own";
const ONE_CALLER = "one client has one stamper";
const NO_TEXT = "an SDK writes the numbers of JavaScript";

const { walletId } = lab.ids;
export const EVIL = "evil";
export const EVIL_RESULT = { updateWalletResult: { walletId: EVIL } };
export const EVIL_ACTIVITY = { id: "x", type: UPDATE.type, status: "ACTIVITY_STATUS_COMPLETED", result: EVIL_RESULT };
let count = 0;
export const fresh = (): Json => ({ walletId, walletName: `name ${++count}` });
const rename = (door: Door, more: More = {}, parameters = fresh()): Promise<Outcome> =>
  door.submit(UPDATE, parameters, more);
const vote = (door: Door, fingerprint: unknown): Promise<Outcome> => door.submit(APPROVE, { fingerprint });
/** A completed activity of somebody else. */
export const elsewhere = (parameters = fresh(), sending: Sending = {}): Promise<Json> =>
  completed(submit(lab, "updateWallet", parameters, { generateAppProofs: true, ...sending }));
const inChild = (walletName = `name ${++count}`): Promise<Json> =>
  elsewhere(
    { walletId: lab.child.walletId, walletName },
    { key: lab.child.apiKey, organizationId: lab.childOrganizationId },
  );
/** An activity of somebody else that waits for votes. */
const waitingElsewhere = async (): Promise<Json> =>
  (await submit(lab, "updateWallet", fresh(), { generateAppProofs: true, key: lab.operator.apiKey })).body["activity"];
/** The lab gets submits of new names as the operator's, which wait for a vote. */
export const asOperator = ({ path }: Asked) => (path === `submit/${UPDATE.name}` ? lab.operator.apiKey : lab.apiKey);

export const altered = (answer: Json, more: Json): Json => ({ activity: { ...answer["activity"], ...more } });
export const having = (more: Json) => (answer: Json) => altered(answer, more);
export const PENDING = { status: "ACTIVITY_STATUS_PENDING" };
const OTHER_TYPE = { type: "ACTIVITY_TYPE_DELETE_POLICIES" };
export const pending = (answer: Json): Json => altered(answer, PENDING);
export const renamed = (name: string) => (answer: Json) =>
  altered(answer, { intent: { updateWalletIntent: { walletId, walletName: name } } });
export const ofSubmits = (change: (answer: Json, asked: Asked) => unknown): Lie => changed(isSubmit, change);
export const isEither = (asked: Asked): boolean => isSubmit(asked) || isGet(asked);
/** A submit is pending, and its polls are answered with `change`. */
const polledAs = (change: (answer: Json) => unknown): Lie =>
  changed(isEither, (answer, asked) => (isSubmit(asked) ? pending(answer) : change(answer)));

const withoutProofs = (answer: Json): Json => altered(answer, { appProofs: undefined });
const isProofs = ({ path }: Asked): boolean => path === "query/list_app_proofs";
const noProofsListed: Lie = (asked, honest) => (isProofs(asked) ? { status: 503, text: '{"code":14}' } : honest());

function expectRefused(outcome: Outcome, message = /./): void {
  expect([outcome.kind, outcome.message]).toEqual(["refused", expect.stringMatching(message)]);
  expect(outcome.text).toBe("");
}
function expectVerified({ kind, question, message }: Outcome, wanted = "request"): void {
  expect([kind, question, message]).toEqual(["verified", wanted, ""]);
}

// What an answer looks like.

const ANSWERS: Readonly<Record<string, (answer: Json) => unknown>> = {
  "activities: [] beside the activity": (answer) => ({ ...answer, activities: [] }),
  "a walletId beside the activity": (answer) => ({ ...answer, walletId: EVIL }),
  "an array": (answer) => [answer],
  "a member Result in the activity": having({ Result: EVIL_RESULT }),
};
const MORE_ANSWERS: Readonly<Record<string, (answer: Json) => unknown>> = {
  ...ANSWERS,
  "activities with a result beside the activity": (answer) => ({ ...answer, activities: [EVIL_ACTIVITY] }),
  "a result beside the activity": (answer) => ({ ...answer, result: EVIL_RESULT }),
  "null beside the activity": (answer) => ({ ...answer, updateWalletResult: null }),
  "Activity beside the activity": (answer) => ({ ...answer, Activity: EVIL_ACTIVITY }),
  "an array of activities": ({ activity }) => [activity],
  "an object with numeric keys": (answer) => ({ 0: answer, length: 1 }),
  "an activity in an activity": (answer) => ({ activity: answer }),
  "an activity in an array": ({ activity }) => ({ activity: [activity] }),
  "a bare activity": ({ activity }) => activity as Json,
  "a list of activities": ({ activity }) => ({ activities: [activity] }),
  "an empty object": () => ({}),
  null: () => null,
  "a text": (answer) => JSON.stringify(answer),
  "a member app_proofs in the activity": having({ app_proofs: [] }),
  "a member \u017ftatus in the activity": having({ "\u017ftatus": "ACTIVITY_STATUS_FAILED" }),
  "a member wallet-id in the result": (answer) =>
    altered(answer, { result: { updateWalletResult: { walletId, "wallet-id": EVIL } } }),
  "a member update_wallet_result beside the result's": (answer) =>
    altered(answer, { result: { ...answer["activity"].result, update_wallet_result: null } }),
  "a member __proto__ in the result": (answer) =>
    JSON.parse(JSON.stringify(answer).replace('"walletId"', `"__proto__":{"walletName":"${EVIL}"},"walletId"`)) as Json,
  "no status": having({ status: undefined }),
  "no id": having({ id: undefined }),
  "two results": (answer) => altered(answer, { result: { ...answer["activity"].result, createWalletResult: {} } }),
  "the result of another wallet": having({ result: EVIL_RESULT }),
  "an activity of another organization": having({ organizationId: lab.childOrganizationId }),
  "an activity of another type": having({ type: "ACTIVITY_TYPE_DELETE_POLICIES" }),
  "another intent": having({ intent: { updateWalletIntent: { walletId, walletName: EVIL } } }),
  "a repetition that differs": ({ activity }) =>
    altered({ activity }, { result: { activity: { ...activity, result: EVIL_RESULT } } }),
};

type Change = (answer: Json) => unknown;
const PLACES: Readonly<Record<string, (door: Door, change: Change) => Promise<Outcome>>> = {
  "pending submit": (door, change) => {
    liar.lie = ofSubmits((answer) => change(pending(answer)));
    return rename(door);
  },
  "polled activity": (door, change) => {
    liar.lie = polledAs(change);
    return rename(door);
  },
  "activity that waits for votes": (door, change) => {
    liar.keyOf = asOperator;
    liar.lie = ofSubmits(change);
    return rename(door);
  },
  vote: async (door, change) => {
    const { fingerprint } = await waitingElsewhere();
    liar.lie = ofSubmits(change);
    return vote(door, fingerprint);
  },
  "activity by id": async (door, change) => {
    const { id } = await elsewhere();
    liar.lie = changed(isGet, change);
    return door.getActivity(id as string);
  },
};

table([
  ...Object.entries(MORE_ANSWERS).map(([name, change]) => ({
    name: `refuses as the answer to a submit: ${name}`,
    run: async (door: Door) => {
      liar.lie = ofSubmits(change);
      expectRefused(await rename(door));
    },
  })),
  ...Object.entries(PLACES).flatMap(([place, run]) =>
    Object.entries(ANSWERS).map(([name, change]) => ({
      name: `refuses as the answer to a ${place}: ${name}`,
      run: async (door: Door) => expectRefused(await run(door, change)),
    })),
  ),
  ...Object.entries(PLACES).map(([place, run]) => ({
    name: `passes an honest ${place}, however its members are ordered`,
    run: async (door: Door) => {
      const reversed = ({ activity }: Json): Json => ({
        activity: Object.fromEntries(Object.entries(activity as Json).reverse()),
      });
      const { kind } = await run(door, reversed);
      expect(kind).toBe(
        ["pending submit", "polled activity", "vote", "activity by id"].includes(place) ? "verified" : "unfinished",
      );
    },
  })),
  {
    name: "hands on of a completed activity its known members, and the members of its result",
    run: async (door) => {
      liar.lie = ofSubmits(having({ outcome: EVIL, walletId: EVIL }));
      const { kind, value, activity, text } = await rename(door);
      expect([kind, text.includes(EVIL)]).toEqual(["verified", false]);
      expect(activity["result"]).toEqual({ updateWalletResult: { walletId } });
      const beside = Object.keys(value).filter((name) => name !== "activity");
      if (door.kind !== "client") expect(beside).toEqual(door.isFlat ? ["walletId"] : []);
    },
  },
]);

const CREATE: Operation = { name: "create_wallet", type: "ACTIVITY_TYPE_CREATE_WALLET", method: "createWallet" };
const CREDENTIAL: Operation = {
  name: "update_fiat_on_ramp_credential",
  type: "ACTIVITY_TYPE_UPDATE_FIAT_ON_RAMP_CREDENTIAL",
  method: "updateFiatOnRampCredential",
};
const ofResult = (more: Json): Lie =>
  ofSubmits((answer) =>
    altered(answer, { result: { createWalletResult: { ...answer["activity"].result.createWalletResult, ...more } } }),
  );

table([
  ...["Addresses", "ADDRESSES", "addre\u017fses", "addresses_", "Address"].map((name) => ({
    name: `refuses a new wallet with ${name} beside its addresses`,
    run: async (door: Door) => {
      liar.lie = ofResult({ [name]: [`0x${"11".repeat(20)}`] });
      expectRefused(await door.submit(CREATE, TWO_ACCOUNTS));
    },
  })),
  {
    name: "verifies a new wallet with its addresses",
    run: async (door) => {
      const outcome = await door.submit(CREATE, TWO_ACCOUNTS);
      expectVerified(outcome);
      expect(outcome.activity["result"].createWalletResult.addresses).toHaveLength(2);
    },
  },
  {
    name: "verifies fiatOnRampCredentialId as the answer to fiatOnrampCredentialId, since both are honest spellings",
    run: async (door) => {
      const { fiatOnrampCredentialId } = lab.ids;
      const parameters = {
        fiatOnrampCredentialId,
        onrampProvider: "FIAT_ON_RAMP_PROVIDER_BETA",
        publishableApiKey: "pk",
        encryptedSecretApiKey: "sealed",
      };
      expectVerified(await door.submit(CREDENTIAL, parameters));
    },
  },
]);

// Lists and other queries.

const LISTS: Readonly<Record<string, (answer: Json) => unknown>> = {
  "an array": ({ activities }) => activities as Json[],
  "an object with numeric keys": ({ activities }) => ({ ...(activities as Json[]), length: 1 }),
  "numeric keys beside the list": (answer) => ({ ...answer, 0: EVIL_ACTIVITY }),
  "a member beside the list": (answer) => ({ ...answer, walletId: EVIL }),
  "an activity beside the list": (answer) => ({ ...answer, activity: EVIL_ACTIVITY }),
  "Activities beside the list": (answer) => ({ ...answer, Activities: [EVIL_ACTIVITY] }),
  "an activity in place of the list": ({ activities }) => ({ activities: (activities as Json[])[0] }),
  "a list that is an object": ({ activities }) => ({ activities: { ...(activities as Json[]) } }),
  "a list in a list": ({ activities }) => ({ activities: [activities] }),
  "an item that is a text": ({ activities }) => ({ activities: [...(activities as Json[]), EVIL] }),
  "a result in a failure of an item": ({ activities }) => ({
    activities: [{ ...(activities as Json[])[0], failure: { activity: EVIL_ACTIVITY } }],
  }),
};
const isList = ({ path }: Asked): boolean => path === "query/list_activities";

/** Five levels, arrays, and names as decoders that fold them read them. */
const DEEP: Readonly<Record<string, unknown>> = {
  "an activity with a result": { activity: EVIL_ACTIVITY },
  "an activity with a result, five levels deep": { a: { b: { c: { d: { activity: { result: EVIL_RESULT } } } } } },
  "an activity with a result in arrays": { users: [[], [[{ wallet: [EVIL_ACTIVITY] }]]] },
  "an activity in an array": [EVIL_ACTIVITY],
  "an object with numeric keys": { 0: EVIL_ACTIVITY, length: 1 },
  "an Activity with a Result": { user: { Activity: { Result: EVIL_RESULT } } },
  "an ACTIVITY_ with a RE\u017fULT": { user: { ACTIVITY_: { "RE\u017fULT": EVIL_RESULT } } },
  "an object with Intent and result": { user: { Intent: {}, result: EVIL_RESULT } },
  "an object with an activity's Type": { user: { Type: UPDATE.type, result: EVIL_RESULT } },
  "an object with an activity's status": { user: { status: "ACTIVITY_STATUS_COMPLETED", result: EVIL_RESULT } },
  "activities with results": { user: {}, activities: [EVIL_ACTIVITY] },
};

table([
  ...Object.entries(LISTS).map(([name, change]) => ({
    name: `refuses as the answer to a list: ${name}`,
    not: { client: NO_LISTS },
    run: async (door: Door) => {
      liar.lie = changed(isList, change);
      expectRefused(await door.list());
    },
  })),
  {
    name: "refuses a list in an object with numeric keys while Object.prototype has activities",
    not: { client: NO_LISTS },
    run: async (door) => {
      liar.lie = changed(isList, ({ activities }) => ({ ...(activities as Json[]), 0: EVIL_ACTIVITY }));
      const prototype = Object.prototype as Json;
      prototype["activities"] = [];
      try {
        expectRefused(await door.list());
      } finally {
        delete prototype["activities"];
      }
    },
  },
  {
    name: "hands on a list without results, app proofs and unknown members",
    not: { client: NO_LISTS },
    run: async (door) => {
      await elsewhere();
      liar.lie = changed(isList, ({ activities }) => ({
        activities: [...(activities as Json[]), { ...EVIL_ACTIVITY, id: "y", appProofs: [], Result: EVIL_RESULT }],
      }));
      const { kind, value, text } = await door.list();
      const items = value["activities"] as Json[];
      expect([kind, Object.keys(value), Object.keys(items.at(-1)!).sort()]).toEqual([
        "other",
        ["activities"],
        ["id", "status", "type"],
      ]);
      expect(items[0]).toMatchObject({ organizationId: lab.organizationId, intent: expect.anything() as unknown });
      expect(text).not.toMatch(/evil|"result"|"appProofs"/);
    },
  },
  {
    name: "hands on an empty list",
    not: { client: NO_LISTS },
    run: async (door) => {
      liar.lie = changed(isList, () => ({ activities: [] }));
      expect(await door.list()).toMatchObject({ kind: "other", value: { activities: [] } });
    },
  },
  ...Object.entries(DEEP).map(([name, answer]) => ({
    name: `refuses in the answer to another query: ${name}`,
    not: { client: NO_LISTS },
    run: async (door: Door) => {
      liar.lie = changed(
        ({ path }) => path === "query/get_user",
        () => answer,
      );
      expectRefused(await door.query("get_user", "getUser", { userId: lab.ids.userId }));
    },
  })),
  {
    name: "hands on the answers of other queries, and results that are of no activity",
    not: { client: NO_LISTS },
    run: async (door) => {
      const more = { intent: "a text", result: { type: "AN_OTHER", result: { status: "DONE", results: [1] } } };
      liar.lie = changed(
        ({ path }) => path === "query/get_user",
        ({ user }) => ({ user: { ...user, ...more, intent: undefined }, page: { activityId: "a" } }),
      );
      const { kind, value } = await door.query("get_user", "getUser", { userId: lab.ids.userId });
      expect([kind, value["user"].userId, value["user"].result]).toEqual(["other", lab.ids.userId, more.result]);
    },
  },
]);

// Which request an activity answered.

const BOUND = /belongs to another request|is not what was submitted|another activity than the one/;

/** Both submits are answered at the same instant, with what `answer` makes of both honest answers. */
function heldUntilBoth(answer: (mine: Json, first: Json) => unknown): Lie {
  const held: { readonly answer: Json; readonly resolve: (said: Json) => void }[] = [];
  return async (asked, honest) => {
    const own = await honest();
    if (!isSubmit(asked)) return own;
    return new Promise((resolve) => {
      held.push({ answer: JSON.parse(own.text) as Json, resolve: (one) => resolve(said(one)) });
      if (held.length === 2) for (const one of held) one.resolve(answer(one.answer, held[0]!.answer) as Json);
    });
  };
}
const withIdOf = (mine: Json, first: Json): Json => altered(mine, { id: first["activity"].id });

async function expectOneOf(both: readonly Promise<Outcome>[], message = BOUND): Promise<void> {
  const outcomes = await Promise.all(both);
  expect(outcomes.map(({ kind }) => kind).sort()).toEqual(["refused", "verified"]);
  expectRefused(
    outcomes.find(({ kind }) => kind === "refused")!,
    message,
  );
}
const inChildOf = { organizationId: lab.childOrganizationId };
const childName = (): Json => ({ walletId: lab.child.walletId, walletName: `name ${++count}` });

table([
  {
    name: "compares getActivity with the rejected submit that the activity answered",
    run: async (door) => {
      const other = await elsewhere();
      liar.lie = ofSubmits(() => ({ activity: other }));
      expectRefused(await rename(door), BOUND);
      liar.reset();
      expectRefused(await door.getActivity(other["id"]), /walletName is not what was submitted/);
    },
  },
  {
    name: "compares getActivity with the submit whose evidence could not be fetched",
    run: async (door) => {
      const [other, parameters] = [await elsewhere(), fresh()];
      liar.lie = async (asked, honest) => {
        if (isSubmit(asked)) return said(pending({ activity: other }));
        if (isGet(asked)) return said(withoutProofs(renamed(parameters["walletName"])({ activity: other })));
        return noProofsListed(asked, honest);
      };
      relay.lie = noProofsListed;
      expect((await rename(door, {}, parameters)).kind).toBe("evidence");
      liar.reset();
      relay.reset();
      expectRefused(await door.getActivity(other["id"]), /walletName is not what was submitted/);
    },
  },
  {
    name: "verifies getActivity of the submit whose evidence could not be fetched",
    run: async (door) => {
      const polled = polledAs(withoutProofs);
      liar.lie = (asked, honest) => (isProofs(asked) ? noProofsListed : polled)(asked, honest);
      relay.lie = noProofsListed;
      expect((await rename(door)).kind).toBe("evidence");
      const { activityId } = liar.asked.find(isGet)!.body as { activityId: string };
      liar.reset();
      relay.reset();
      expectVerified(await door.getActivity(activityId));
    },
  },
  ...[
    ["another activity", elsewhere],
    ["another activity that is unfinished", waitingElsewhere],
  ].map(([what, made]) => ({
    name: `refuses ${what as string} where a pending one was polled`,
    run: async (door: Door) => {
      const other = await (made as () => Promise<Json>)();
      liar.lie = polledAs(() => ({ activity: other }));
      expectRefused(await rename(door), /id is|another activity/);
    },
  })),
  {
    name: "refuses another type where a pending activity was polled",
    run: async (door) => {
      liar.lie = polledAs(having({ ...PENDING, type: "ACTIVITY_TYPE_OTHER" }));
      expectRefused(await rename(door), /type is/);
    },
  },
  {
    name: "refuses the genuine activity of another request where polling ended without it",
    run: async (door) => {
      const other = await elsewhere();
      liar.lie = changed(isEither, () => pending({ activity: other }));
      expect((await rename(door)).kind).toBe("unfinished");
      expect(liar.asked.filter(isGet).length).toBeGreaterThanOrEqual(POLLS);
      liar.reset();
      expectRefused(await door.getActivity(other["id"]), /walletName is not what was submitted/);
    },
  },
  {
    name: "verifies the activity whose polling ended without it",
    run: async (door) => {
      liar.lie = changed(isEither, pending);
      const { kind, activity } = await rename(door);
      expect(kind).toBe("unfinished");
      liar.reset();
      expectVerified(await door.getActivity(activity["id"]));
    },
  },
  ...Object.entries<readonly [second: (door: Door) => Promise<Outcome>, not?: Row["not"]]>({
    "of the same submitter": [(door) => rename(door)],
    "of another organization": [(door) => rename(door, inChildOf, childName())],
    "of another submitter": [
      (door) => rename(door, { key: lab.operator.apiKey }),
      { client: ONE_CALLER, adapters: ONE_CALLER },
    ],
  }).map(([whose, [second, not = {}]]) => ({
    name: `refuses the submit ${whose} that is answered with the same id at the same instant`,
    not,
    run: async (door: Door) => {
      liar.lie = heldUntilBoth(withIdOf);
      await expectOneOf([rename(door), second(door)], /belongs to another request/);
    },
  })),
  {
    name: "refuses one of two submits that are answered with one id, where they differ in their time alone",
    not: { client: NO_TIME },
    run: async (door) => {
      const [parameters, now] = [fresh(), Date.now()];
      liar.lie = heldUntilBoth(withIdOf);
      const both = [0, 1].map((more) => rename(door, { timestampMs: String(now - more) }, parameters));
      await expectOneOf(both, /belongs to another request/);
    },
  },
  {
    name: "refuses an unfinished activity under the id of another request, at the same instant",
    run: async (door) => {
      liar.lie = heldUntilBoth((mine, first) =>
        mine === first ? mine : altered(mine, { id: first["activity"].id, status: "ACTIVITY_STATUS_CONSENSUS_NEEDED" }),
      );
      await expectOneOf([rename(door), rename(door)], /belongs to another request/);
    },
  },
  {
    name: "verifies submits that are answered at the same instant with ids of their own",
    run: async (door) => {
      liar.lie = heldUntilBoth((mine) => mine);
      const both = await Promise.all([rename(door), rename(door, inChildOf, childName())]);
      for (const one of both) expectVerified(one);
    },
  },
  ...[
    ["organization", { organizationId: lab.childOrganizationId }, /organizationId is/],
    ["type", { type: "ACTIVITY_TYPE_DELETE_POLICIES" }, /type is/],
  ].map(([what, more, message]) => ({
    name: `refuses an unfinished activity of another ${what as string}`,
    run: async (door: Door) => {
      liar.keyOf = asOperator;
      liar.lie = ofSubmits((answer) => altered(answer, more as Json));
      expectRefused(await rename(door), message as RegExp);
    },
  })),
  {
    name: "refuses getActivity in another organization than that of the submit",
    run: async (door) => {
      const { activity } = await rename(door);
      const other = await inChild();
      liar.lie = async (asked, honest) => {
        if (isGet(asked)) return said({ activity: { ...other, id: activity["id"] as string } });
        return honest(asked.path, {
          ...asked.body,
          ...(asked.body["activityId"] && { activityId: other["id"] as string }),
        });
      };
      expectRefused(await door.getActivity(activity["id"], inChildOf), /a request of another organization/);
    },
  },
  {
    name: "refuses getActivity with an unfinished activity of another request, under its id",
    run: async (door) => {
      const { activity } = await rename(door);
      liar.lie = changed(isGet, (answer) =>
        altered(answer, { status: "ACTIVITY_STATUS_CONSENSUS_NEEDED", type: "ACTIVITY_TYPE_DELETE_POLICIES" }),
      );
      expectRefused(await door.getActivity(activity["id"]), /type is/);
    },
  },
  {
    name: "refuses getActivity with an activity of another id",
    run: async (door) => {
      const [one, other] = [await elsewhere(), await elsewhere()];
      liar.lie = changed(isGet, () => ({ activity: other }));
      expectRefused(await door.getActivity(one["id"]), /id is/);
      liar.lie = changed(isGet, () => pending({ activity: other }));
      expectRefused(await door.getActivity(one["id"]), /id is/);
    },
  },
  {
    name: "refuses getActivity of its own submit with other parameters",
    run: async (door) => {
      const { activity } = await rename(door);
      liar.lie = changed(isGet, renamed(EVIL));
      expectRefused(await door.getActivity(activity["id"]), /walletName is not what was submitted/);
    },
  },
  {
    name: "verifies getActivity of its own submit by the request, and of any other by its id",
    run: async (door) => {
      const { activity } = await rename(door);
      expectVerified(await door.getActivity(activity["id"]));
      const inChild_ = await rename(door, inChildOf, childName());
      expectVerified(await door.getActivity(inChild_.activity["id"], inChildOf));
      const other = await elsewhere();
      expectVerified(await door.getActivity(other["id"]), "id");
    },
  },
  {
    name: "looks up the request of an activity whoever asks",
    not: { client: ONE_CALLER, adapters: ONE_CALLER },
    run: async (door) => {
      const { activity } = await rename(door);
      const byOperator = { key: lab.operator.apiKey };
      expectVerified(await door.getActivity(activity["id"], byOperator));
      liar.lie = changed(isGet, renamed(EVIL));
      expectRefused(await door.getActivity(activity["id"], byOperator), /walletName is not what was submitted/);
    },
  },
  {
    name: "verifies the same bytes sent again, which are one activity",
    not: { client: NO_TIME },
    run: async (door) => {
      const [parameters, timestampMs] = [fresh(), String(Date.now())];
      const both = [await rename(door, { timestampMs }, parameters), await rename(door, { timestampMs }, parameters)];
      for (const one of both) expectVerified(one);
      expect(both[0]!.activity["id"]).toBe(both[1]!.activity["id"]);
    },
  },
]);

// Votes.

/** A submit through the door that waits for a vote. */
async function waitingHere(door: Door): Promise<Json> {
  liar.keyOf = asOperator;
  const { kind, activity } = await rename(door);
  expect(kind).toBe("unfinished");
  return activity;
}
const isVote = ({ path }: Asked): boolean => path === `submit/${APPROVE.name}`;
const ofVotes = (change: (answer: Json, asked: Asked) => unknown): Lie => changed(isVote, change);
/** An activity of the vote's own type, over genuine app proofs. */
const ownType = (answer: Json, { body }: Asked): Json =>
  altered(answer, {
    type: APPROVE.type,
    timestampMs: body["timestampMs"] as string,
    fingerprint: "sha256:of-the-vote",
    intent: { approveActivityIntent: body["parameters"] as Json },
    result: {},
    // Without those of the wallet's addresses.
    appProofs: [answer["activity"].appProofs[0] as Json],
  });

const OTHERS_VOTE: Readonly<Record<string, readonly [(answer: Json) => unknown, RegExp]>> = {
  "with other parameters": [renamed(EVIL), /walletName is not what was submitted/],
  "with another type": [having(OTHER_TYPE), /type is/],
  "with another type, unfinished": [having({ ...OTHER_TYPE, ...PENDING }), /type is/],
  "with another fingerprint": [having({ fingerprint: "sha256:00" }), /fingerprint/],
  "with another fingerprint, unfinished": [having({ fingerprint: "sha256:00", ...PENDING }), /fingerprint/],
};

table([
  {
    name: "compares the answer to a vote with the request that it voted on",
    run: async (door) => {
      const { id, fingerprint } = await waitingHere(door);
      const outcome = await vote(door, fingerprint);
      expectVerified(outcome);
      expect([outcome.activity["id"], outcome.activity["result"], outcome.warned]).toEqual([
        id,
        { updateWalletResult: { walletId } },
        expect.not.arrayContaining(["activity.request"]),
      ]);
    },
  },
  ...Object.entries(OTHERS_VOTE).map(([name, [change, message]]) => ({
    name: `refuses as the answer to a vote the request that it voted on, ${name}`,
    run: async (door: Door) => {
      const { fingerprint } = await waitingHere(door);
      liar.lie = ofVotes(change);
      expectRefused(await vote(door, fingerprint), message);
    },
  })),
  ...Object.entries<readonly [first: (door: Door) => Promise<Outcome>, message: RegExp]>({
    "another request, with the right fingerprint": [(door) => rename(door), /walletName is not what was submitted/],
    "a request of another organization": [
      (door) => rename(door, inChildOf, childName()),
      /a request of another organization/,
    ],
  }).map(([what, [first, message]]) => ({
    name: `refuses as the answer to a vote the id of ${what}`,
    run: async (door: Door) => {
      const [{ activity }, { fingerprint }] = [await first(door), await waitingElsewhere()];
      liar.lie = ofVotes(having({ id: activity["id"] }));
      expectRefused(await vote(door, fingerprint), message);
    },
  })),
  {
    name: "compares the answer to a vote on the request of somebody else by its fingerprint, with a warning",
    run: async (door) => {
      const outcome = await vote(door, (await waitingElsewhere())["fingerprint"]);
      expectVerified(outcome, "fingerprint");
      if (door.kind !== "proxy") expect(outcome.warned).toContain("activity.request");
    },
  },
  ...Object.entries(OTHERS_VOTE)
    .filter(([name]) => name.includes("fingerprint"))
    .map(([name, [change, message]]) => ({
      name: `refuses as the answer to a vote the request of somebody else, ${name}`,
      run: async (door: Door) => {
        const { fingerprint } = await waitingElsewhere();
        liar.lie = ofVotes(change);
        expectRefused(await vote(door, fingerprint), message);
      },
    })),
  {
    name: "does not bind a vote to the activity that it voted on",
    run: async (door) => {
      const waiting = await waitingElsewhere();
      await vote(door, waiting["fingerprint"]);
      expectVerified(await door.getActivity(waiting["id"]), "id");
    },
  },
  {
    name: "compares an activity of the vote's own type with the vote, and binds it",
    run: async (door) => {
      const { fingerprint } = await waitingElsewhere();
      let own: Json = {};
      liar.lie = async (asked, honest) => {
        if (isGet(asked)) return said(own);
        const answer = await honest();
        return isVote(asked) ? said((own = ownType(JSON.parse(answer.text) as Json, asked))) : answer;
      };
      const outcome = await vote(door, fingerprint);
      expectVerified(outcome);
      expectVerified(await door.getActivity(outcome.activity["id"]));
    },
  },
  {
    name: "refuses an activity of the vote's own type with another fingerprint in its intent",
    run: async (door) => {
      const { fingerprint } = await waitingElsewhere();
      liar.lie = ofVotes((answer, asked) => {
        const { activity } = ownType(answer, asked);
        return { activity: { ...activity, intent: { approveActivityIntent: { fingerprint: "sha256:00" } } } };
      });
      expectRefused(await vote(door, fingerprint), /fingerprint is not what was submitted/);
    },
  },
  {
    name: "refuses an activity of the vote's own type under the id of another request",
    run: async (door) => {
      const { activity } = await rename(door);
      const { fingerprint } = await waitingElsewhere();
      liar.lie = ofVotes((answer, asked) => altered(ownType(answer, asked), { id: activity["id"] }));
      expectRefused(await vote(door, fingerprint), /belongs to another request/);
    },
  },
  {
    name: "refuses a submit that is answered with a vote's type",
    run: async (door) => {
      liar.lie = ofSubmits(having({ type: APPROVE.type }));
      expectRefused(await rename(door), /type is/);
      liar.lie = ofSubmits(having({ type: APPROVE.type, ...PENDING }));
      expectRefused(await rename(door), /type is/);
    },
  },
  ...[
    ["a vote's path with the type of a submit", { ...APPROVE, type: UPDATE.type }],
    ["a submit's path with the type of a vote", { ...UPDATE, type: APPROVE.type }],
    ["the path of one vote with the type of another", { ...APPROVE, type: "ACTIVITY_TYPE_REJECT_ACTIVITY" }],
  ].map(([what, operation]) => ({
    name: `does not send ${what as string}`,
    run: async (door: Door) => {
      const mixed = { ...(operation as Operation), method: "request" };
      expect(await door.submit(mixed, { fingerprint: "sha256:00" })).toMatchObject({
        kind: "unsent",
        message: expect.stringMatching(/has another type/) as string,
      });
      expect(liar.asked).toEqual([]);
    },
  })),
]);

// Unfinished activities.

const STATUSES = ["CONSENSUS_NEEDED", "AUTHENTICATORS_NEEDED", "PENDING", "FAILED", "REJECTED", "NEW"];
const OPEN = {
  votes: [{ id: "v", userId: "u", selection: "VOTE_SELECTION_APPROVED" }],
  canApprove: true,
  canReject: false,
  failure: { code: 5, message: "why" },
};
const repetition = { activity: { ...EVIL_ACTIVITY, appProofs: [{ proofPayload: EVIL }] } };

table([
  ...STATUSES.map((status) => ({
    name: `hands on an activity that is ${status} with fingerprint and votes, without result and app proofs`,
    run: async (door: Door) => {
      const more = { ...OPEN, status: `ACTIVITY_STATUS_${status}`, outcome: EVIL };
      for (const result of [EVIL_RESULT, repetition, undefined]) {
        liar.lie = changed(isEither, having({ ...more, result }));
        const { kind, activity, value, text } = await rename(door);
        const { id, fingerprint, ...rest } = activity;
        expect(kind).toBe("unfinished");
        expect(rest).toMatchObject({ ...OPEN, status: more.status, organizationId: lab.organizationId });
        expect([id, fingerprint]).toEqual([expect.any(String), expect.stringMatching(/^sha256:/)]);
        expect([Object.keys(value), text]).toEqual([
          ["activity"],
          expect.not.stringMatching(/evil|"result"|appProofs/),
        ]);
      }
    },
  })),
  ...Object.entries({
    failure: { failure: { activity: EVIL_ACTIVITY } },
    votes: { votes: [{ id: "v", activity: { Result: EVIL_RESULT } }] },
    "the intent": { intent: { updateWalletIntent: { walletId, activity: EVIL_ACTIVITY } } },
  }).map(([name, more]) => ({
    name: `refuses an unfinished activity with an activity's result in ${name}`,
    run: async (door: Door) => {
      liar.lie = changed(isEither, (answer) => altered(pending(answer), more));
      expectRefused(await rename(door));
    },
  })),
  {
    name: "hands on an unfinished activity by id without result, and the own client refuses it",
    run: async (door) => {
      const { id } = await elsewhere();
      liar.lie = changed(isGet, having({ ...PENDING, result: EVIL_RESULT }));
      const { kind, text } = await door.getActivity(id);
      expect([kind, text.includes(EVIL)]).toEqual([door.kind === "client" ? "refused" : "unfinished", false]);
    },
  },
]);

// Evidence.

const proofsListed = (): number => [...liar.asked, ...relay.asked].filter(isProofs).length;

table([
  {
    name: "verifies a polled submit by list_app_proofs where get_activity has no app proofs",
    run: async (door) => {
      liar.lie = polledAs(withoutProofs);
      expectVerified(await rename(door));
      expect(proofsListed()).toBe(1);
    },
  },
  {
    name: "verifies an activity by id by list_app_proofs",
    run: async (door) => {
      const { id } = await elsewhere();
      liar.lie = changed(isGet, withoutProofs);
      expectVerified(await door.getActivity(id), "id");
      expect(proofsListed()).toBe(1);
    },
  },
  {
    name: "refuses a submit that is answered without app proofs, and lists none",
    run: async (door) => {
      liar.lie = ofSubmits(withoutProofs);
      expectRefused(await rename(door), /activity\.decode|appProofs|app proofs/);
      expect(proofsListed()).toBe(0);
    },
  },
  ...[
    ["an activity of another organization", () => inChild()],
    ["an activity that this door verified", async (door: Door) => (await rename(door)).activity],
  ].map(([what, other]) => ({
    name: `refuses a polled submit with the listed app proofs of ${what as string}`,
    run: async (door: Door) => {
      const { appProofs } = await (other as (door: Door) => Promise<Json>)(door);
      const lie: Lie = changed(isProofs, () => ({ appProofs: appProofs as Json[] }));
      const polls = polledAs(withoutProofs);
      liar.lie = (asked, honest) => (isProofs(asked) ? lie : polls)(asked, honest);
      relay.lie = lie;
      expectRefused(await rename(door));
    },
  })),
]);

// Numbers.

const BIG = "9007199254740993";
const BESIDE_BIG = "9007199254740992";

/** The lab gets the submit without its number, and the answer has the number that is written here in its intent. */
const counted = (number: string): Lie => {
  return async (asked, honest) => {
    if (!isSubmit(asked)) return honest();
    const { walletName } = asked.body["parameters"] as Json;
    const body = { ...asked.body, generateAppProofs: true, parameters: { walletId, walletName } };
    const answer = await honest(asked.path, body);
    return {
      ...answer,
      text: answer.text.replace('"updateWalletIntent":{', `"updateWalletIntent":{"count":${number},`),
    };
  };
};
const withCount = (written: unknown): Json => ({ ...fresh(), count: written });

table([
  {
    name: "refuses a number for another that is the same double",
    not: { adapters: NO_TEXT, client: NO_TEXT },
    run: async (door) => {
      liar.lie = counted(BESIDE_BIG);
      expectRefused(await rename(door, {}, withCount(`#${BIG}#`)), /count is not what was submitted/);
      liar.lie = counted(BIG);
      expectRefused(await rename(door, {}, withCount(`#${BESIDE_BIG}#`)), /count is not what was submitted/);
    },
  },
  {
    name: "passes a number that no double holds, as it is written",
    not: { adapters: NO_TEXT, client: NO_TEXT },
    run: async (door) => {
      liar.lie = counted(BIG);
      const outcome = await rename(door, {}, withCount(`#${BIG}#`));
      expectVerified(outcome);
      expect(outcome.text).toContain(`"count":${BIG},`);
      expect(liar.asked[0]!.text).toContain(`"count":${BIG}`);
    },
  },
  {
    name: "refuses an integer that was changed when it was parsed",
    not: { proxy: "it reads the bytes", fetch: "it reads the bytes" },
    run: async (door) => {
      for (const number of [BIG, `-${BIG}`, ...(door.kind === "client" ? [] : [BESIDE_BIG, "1e300"])]) {
        liar.lie = counted(number);
        const { kind, failed } = await rename(door, {}, withCount(Number(number)));
        expect([kind, failed]).toEqual(["refused", ["activity.request"]]);
      }
    },
  },
  {
    name: "passes an integer that it knows to be unchanged, and the largest one that an SDK can parse",
    run: async (door) => {
      const known = door.kind === "adapters" ? "9007199254740991" : BESIDE_BIG;
      liar.lie = counted(known);
      expectVerified(await rename(door, {}, withCount(Number(known))));
    },
  },
  {
    name: "takes 1, 1.0 and 1e0 for the same number",
    run: async (door) => {
      for (const number of ["1", "1.0", "1e0"]) {
        liar.lie = counted(number);
        const outcome = await rename(door, {}, withCount(1));
        expectVerified(outcome);
        if (["proxy", "fetch"].includes(door.kind)) expect(outcome.text).toContain(`"count":${number},`);
      }
      liar.lie = counted("2");
      expectRefused(await rename(door, {}, withCount(1)), /count is not what was submitted/);
    },
  },
]);
