/** What a service that lies on the wire tells the own client, the proxy and a wrapped fetch; test/sdks has the SDKs. */
import { expect, it } from "vitest";
import { type RejectedActivityError, apiKeyStamper, createClient } from "../../src/client/index.js";
import type { Json } from "../lab/support.js";
import {
  EVIL,
  EVIL_ACTIVITY,
  EVIL_RESULT,
  PENDING,
  altered,
  asOperator,
  elsewhere,
  fresh,
  isEither,
  lab,
  liar,
  pending,
  renamed,
  tellLies,
} from "../support/lies.js";
import { changed } from "../support/liar.js";
import { OWN_DOORS, UPDATE } from "../support/lying-doors.js";
import { TIMEOUT_MS, neverTimeUp, rejectionOf } from "./support.js";

const { walletId } = lab.ids;

await tellLies(OWN_DOORS);

// The own client alone.

/** The own client, whose waits between polls are over at once, and their milliseconds. */
async function ownClient(options = {}) {
  const waits: number[] = [];
  const client = createClient({
    baseUrl: liar.url,
    organizationId: lab.organizationId,
    stamper: await apiKeyStamper(lab.apiKey),
    sleep: neverTimeUp(waits),
    timeoutMs: TIMEOUT_MS,
  });
  return { verified: client.withVerification(lab.policy, options), waits };
}
const answerOf = ({ activity }: { readonly activity: object }): Json => ({ activity: activity as Json });
const changedIntent = (answer: Json): Json => renamed(EVIL)(answer);

it.each([
  ["as its options say", { pollIntervalMs: 7, pollAttempts: 2 }, [7, 7]],
  ["40 times in 20 seconds by default", {}, Array.from({ length: 40 }, () => 500)],
  ["not at all without attempts", { pollAttempts: 0 }, []],
])("the own client polls a pending submit %s", async (_, options, waited) => {
  const { verified, waits } = await ownClient(options);
  liar.lie = changed(isEither, pending);
  const error = await rejectionOf<RejectedActivityError>(verified.updateWallet(fresh() as never));
  expect(waits).toEqual(waited);
  expect(error.unfinished).toMatchObject({ ...PENDING, id: error.activityId, canApprove: false, votes: [{}] });
  expect(error.message).toMatch(/the activity is not finished: the service is working on it \(PENDING, id /);
});

it("the own client polls nothing that waits for votes, and says what may be used of it", async () => {
  const { verified, waits } = await ownClient();
  liar.keyOf = asOperator;
  const error = await rejectionOf<RejectedActivityError>(verified.updateWallet(fresh() as never));
  expect([waits, error.activityStatus]).toEqual([[], "ACTIVITY_STATUS_CONSENSUS_NEEDED"]);
  expect(error.unfinished).toMatchObject({ id: error.activityId, canApprove: true });
  expect(Object.keys(error.unfinished!)).not.toEqual(expect.arrayContaining(["result"]));
});

it("the own client asks for no evidence of an unfinished activity, which is refused in any case", async () => {
  const { verified } = await ownClient({ pollAttempts: 0 });
  const answer = answerOf(await verified.updateWallet(fresh() as never));
  liar.lie = () => ({ status: 503, text: "{}" });
  for (const more of [{}, { result: {}, appProofs: [] }]) {
    const past = altered(answer, { status: "ACTIVITY_STATUS_CONSENSUS_NEEDED", ...more });
    const error = await rejectionOf<RejectedActivityError>(verified.verifyActivity(past));
    expect(error.message).toContain("other users have to approve it (CONSENSUS_NEEDED, id ");
  }
});

it.each<[string, Json]>([
  ["is of another type", { type: "ACTIVITY_TYPE_DELETE_POLICIES" }],
  ["is of another organization", { organizationId: lab.childOrganizationId }],
  ["holds another activity's result", { failure: { activity: EVIL_ACTIVITY } }],
])("the own client has no unfinished activity of an answer that %s", async (_, more) => {
  const { verified } = await ownClient({ pollAttempts: 1 });
  liar.lie = changed(isEither, (answer) => altered(pending(answer), more));
  const error = await rejectionOf<RejectedActivityError>(verified.updateWallet(fresh() as never));
  expect([error.name, error.unfinished]).toEqual(["RejectedActivityError", null]);
});

it("verifyActivity of the own client compares an activity with the submit that it answered", async () => {
  const { verified } = await ownClient();
  const answer = answerOf(await verified.updateWallet(fresh() as never));
  for (const past of [answer, answer["activity"] as Json, JSON.stringify(answer)])
    expect((await verified.verifyActivity(past)).report.claims!.activity!.question).toBe("request");
  for (const past of [changedIntent(answer), changedIntent(answer)["activity"], JSON.stringify(changedIntent(answer))])
    await expect(verified.verifyActivity(past)).rejects.toThrow(/walletName is not what was submitted/);
  const other = altered({ activity: await elsewhere() }, { id: answer["activity"].id });
  await expect(verified.verifyActivity(other)).rejects.toThrow(/walletName is not what was submitted/);
  await expect(verified.verifyActivity(other, { expected: { type: UPDATE.type } })).rejects.toThrow(/walletName/);
});

it("verifyActivity of the own client compares with what its caller expects, where that has parameters", async () => {
  const { verified } = await ownClient();
  const parameters = fresh();
  const answer = answerOf(await verified.updateWallet(parameters as never));
  const expected = { type: UPDATE.type, parameters: parameters as never };
  expect((await verified.verifyActivity(answer, { expected })).report.claims!.activity!.question).toBe("request");
  const others = { ...expected, parameters: { walletId, walletName: "other" } };
  await expect(verified.verifyActivity(answer, { expected: others })).rejects.toThrow(/walletName is not what was/);
});

it("verifyActivity of the own client has the bindings of its withVerification alone", async () => {
  const [{ verified }, others] = [await ownClient(), await ownClient()];
  const answer = answerOf(await verified.updateWallet(fresh() as never));
  const asked = (report: { claims: { activity?: { question: string | null } | null } | null }) =>
    report.claims!.activity!.question;
  expect(asked((await others.verified.verifyActivity(answer)).report)).toBeNull();
  const expected = { id: answer["activity"].id as string };
  expect(asked((await others.verified.verifyActivity(answer, { expected })).report)).toBe("id");
});

it("verifyActivity of the own client takes the value of another SDK, whose members repeat the result", async () => {
  const { verified } = await ownClient();
  const answer = { activity: await elsewhere() };
  const value = { walletId, ...answer };
  expect((await verified.verifyActivity(value)).result).toEqual({ walletId });
  for (const more of [{ walletId: EVIL }, { walletName: "x" }, { activities: [] }, { result: EVIL_RESULT }])
    await expect(verified.verifyActivity({ ...value, ...more })).rejects.toThrow(/beside/);
});
