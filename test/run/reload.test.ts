/** Another setting while a watch runs: what is the same, what is refused, and that all of it is applied or nothing. */
import { describe, expect, it } from "vitest";
import { parsePolicy } from "../../src/appraise/policy.js";
import { toHex, toUtf8 } from "../../src/bytes.js";
import { openSignedPolicy } from "../../src/signed-policy/index.js";
import { NamedEvidence } from "../../src/inputs.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { LabSigstore, labProvenancePin } from "../../src/lab/sigstore.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import type { SettingRefusal, WatchSetting } from "../../src/run/reload.js";
import { sha256 } from "../../src/verify/digest.js";
import { TestFeed, type TestVersion, payloadIn, sha256Hex } from "../support/signed-policies.js";
import {
  DAY,
  type Entry,
  type Given,
  MINUTE,
  MemoryStore,
  START,
  type Seen,
  SimulatedClock,
  at,
  watched,
  wordsOf,
} from "./watch-support.js";

const lab = new Forge();
const evidence = forgeEvidence({ lab, at: START });
const { bootProof } = evidence;
const [one, two, three] = [new LabSigstore(), new LabSigstore(), new LabSigstore()];
const [rootOne, rootTwo, rootThree] = [one, two, three].map(({ trustedRoot }) => JSON.stringify(trustedRoot));
const bundle = one.attest({ at: START, digest: lab.pivotHash });
const stranger = new Forge();

/** Two deployments, each with the roots of its own file; the evidence is of the first. */
const deployments = [
  { ...labDeployment(lab), provenance: [labProvenancePin({ file: "r1.jsonl" })] },
  { ...labDeployment(stranger), name: "other", provenance: [labProvenancePin({ file: "r2.jsonl" })] },
];
const POLICY = JSON.stringify({
  ...labPolicy(evidence.anchorPem, deployments),
  trustAnchors: [{ file: "anchor.pem" }],
});

type Files = Readonly<Record<string, string>>;
const FILES: Files = {
  policy: POLICY,
  "anchor.pem": evidence.anchorPem,
  "r1.jsonl": `${rootTwo}\n${rootOne}`,
  "r2.jsonl": rootThree!,
  bundle,
};
const verifier = await sigstoreVerifier();

function settingOf(files: Files): WatchSetting {
  const readFile = (name: string): string => {
    if (files[name] === undefined) throw new Error("no such file");
    return files[name];
  };
  const policy = parsePolicy(files["policy"]!, { readFile });
  return { policy, provenance: [files["bundle"]], provenanceVerifier: verifier };
}

type Read = () => WatchSetting | SettingRefusal;
const since = new Date(START.getTime() + MINUTE);

/** At its second poll it is asked for a reload, which reads the next of these, and the last one from then on. */
async function reloading(reads: readonly Read[], more: Given = {}, most = 6): Promise<Seen & { reads: number }> {
  let [count, requests, ask] = [0, 0, (): void => {}];
  const answer = (): typeof bootProof => {
    if (++requests === 2) ask();
    return bootProof;
  };
  const seen = await watched(answer, {
    ...settingOf(FILES),
    reload: {
      read: async () => reads[Math.min(count++, reads.length - 1)]!(),
      when: (given) => {
        ask = given;
        return () => {};
      },
    },
    most,
    ...more,
  });
  return { ...seen, reads: count };
}

const changing = (...each: readonly Partial<Files>[]): Read[] =>
  each.map((changes) => () => settingOf({ ...FILES, ...changes } as Files));
const sha = async (text: string): Promise<string> => toHex(await sha256(toUtf8(text)));
const refusedSince = ({ statuses }: Seen): (Date | null)[] => {
  const all = statuses.map(({ settingRefusedSince }) => settingRefusedSince);
  return all.filter((one, index) => index === 0 || one !== all[index - 1]);
};

describe("another setting", () => {
  it.each<[string, Partial<Files>, string[]]>([
    ["a root that was removed from a file's end", { "r1.jsonl": rootTwo! }, ["trustedRoots"]],
    ["another anchor", { "anchor.pem": forgeEvidence({ lab: stranger, at: START }).anchorPem }, ["trustAnchors"]],
    ["another bundle", { bundle: one.attest({ at: START, digest: new Uint8Array(32) }) }, ["provenance"]],
    [
      "several of them, together",
      { policy: POLICY.replace('"deployments"', '"comment":"x","deployments"'), "r1.jsonl": rootTwo!, bundle: "{}" },
      ["policy", "trustedRoots", "provenance"],
    ],
  ])("is %s: it is recorded, and its verdict at once", async (_, changes, changed) => {
    const { news, messages, statuses } = await reloading(changing(changes));
    expect(wordsOf(news)).toEqual(["verified", "setting-changed", "rejected"]);
    const [first, event, last] = news as [Entry, Entry, Entry];
    const own = changed.includes("policy") ? (changes["policy"] ?? POLICY) : POLICY;
    expect(event).toMatchObject({ changed, policy: "lab", policyDigest: await sha(own), before: first.settingDigest });
    expect(event.settingDigest).not.toBe(first.settingDigest);
    expect(last.settingDigest).toBe(event.settingDigest);
    expect(messages).toMatchObject([{ event: "setting-read", changed }]);
    expect(statuses.every(({ settingRefusedSince }) => settingRefusedSince === null)).toBe(true);
    // No interval between the poll in which it was asked for and the next one.
    expect(last.at).toBe(at(MINUTE));
  });

  it("with the same verdict has a line of its own, too, of each name, by the setting before it", async () => {
    const apps = ["one", "two", "three", "four", "five"];
    const { news } = await reloading(changing({ "r2.jsonl": `${rootThree}\n${rootTwo}` }), { apps }, 20);
    const changed = news.findIndex(({ event }) => event === "setting-changed");
    const digests = news.map(({ settingDigest }) => settingDigest);
    expect([news.length, changed]).toEqual([11, 5]);
    expect(new Set(digests.slice(0, changed)).size).toBe(1);
    expect(digests.slice(changed)).toEqual(Array(6).fill(digests[changed]));
    expect(new Set([digests[0], digests[changed]]).size).toBe(2);
  });

  it.each<[string, Partial<Files>]>([
    ["unchanged files", {}],
    ["other text around the certificate", { "anchor.pem": `# root\n${FILES["anchor.pem"]!}` }],
  ])("is none with %s", async (_, changes) => {
    const { news, messages, reads } = await reloading(changing(changes));
    expect([wordsOf(news), reads]).toEqual([["verified"], 1]);
    expect(messages).toMatchObject([{ event: "setting-read", changed: [] }]);
  });

  it("is applied after a half-written file, once the file is whole, without another signal", async () => {
    const half = { policy: POLICY.slice(0, 100) };
    const seen = await reloading(changing(half, half, { "r1.jsonl": rootTwo! }));
    expect(wordsOf(seen.news)).toEqual(["verified", "setting-refused", "setting-changed", "rejected"]);
    const reason = expect.stringMatching(/^malformed json: /) as string;
    expect(seen.news[1]).toMatchObject({ since: at(MINUTE), faults: [{ file: null, reason }] });
    expect(seen.news[2]).toMatchObject({ changed: ["trustedRoots"] });
    expect(seen.messages).toMatchObject([
      { event: "setting-refused", since, again: false, faults: [{ reason }] },
      { event: "setting-read", changed: ["trustedRoots"] },
    ]);
    expect([refusedSince(seen), seen.reads]).toEqual([[null, since, null], 3]);
  });

  it.each<[string, Partial<Files>]>([
    ["the policy", { policy: "{}" }],
    ["an anchor that cannot be read", { "anchor.pem": undefined }],
    ["an anchor that is none", { "anchor.pem": "no certificate" }],
  ])("is refused whole where one file is bad: %s", async (_, bad) => {
    // The other files would reject the evidence.
    const other = { bundle: one.attest({ at: START, digest: new Uint8Array(32) }), "r1.jsonl": rootTwo! };
    const seen = await reloading(changing({ ...other, ...bad }));
    expect(wordsOf(seen.news)).toEqual(["verified", "setting-refused"]);
    expect([refusedSince(seen), seen.reads >= 4]).toEqual([[null, since], true]);
    expect(seen.polls.at(-1)).toMatchObject({ isRefused: false, failure: null });
  });

  it("is refused for what it lacks, and for whatever its reader rejects with", async () => {
    const { policy } = settingOf(FILES);
    const refusedFor = async (...reads: Read[]): Promise<unknown> =>
      (await reloading(reads, {}, 4)).news.flatMap(({ faults }) => (faults === undefined ? [] : [faults]));
    const throwing = (error: unknown) => (): never => {
      throw error as Error;
    };
    const required = expect.stringMatching(/^options\.provenance: required, since the deployment/) as string;
    expect(await refusedFor(() => ({ policy, provenanceVerifier: verifier }))).toEqual([
      [{ file: null, reason: required }],
    ]);
    expect(await refusedFor(throwing(new Error("disk")))).toEqual([[{ file: null, reason: "disk" }]]);
    const none = "the reload was refused, and no reason was given";
    expect(await refusedFor(() => ({ refused: [] }))).toEqual([[{ file: null, reason: none }]]);
    const many = Array.from({ length: 40 }, (_, n) => ({ file: "f".repeat(5000), reason: `${n}`.repeat(5000) }));
    const [bounded] = (await refusedFor(() => ({ refused: many }))) as { file: string; reason: string }[][];
    expect(bounded).toHaveLength(16);
    expect(bounded!.every(({ file, reason }) => file.length < 1100 && reason.length < 1100)).toBe(true);
  });

  it("that is refused is recorded once for each fault, and reported again after an hour", async () => {
    const refused = (reason: string) => (): SettingRefusal => ({ refused: [{ file: "policy.json", reason }] });
    const reads = [refused("one"), refused("one"), refused("two")];
    const seen = await reloading(reads, { intervalMs: 10 * MINUTE, refusal: null }, 17);
    expect(seen.news.slice(1)).toMatchObject([{ faults: [{ reason: "one" }] }, { faults: [{ reason: "two" }] }]);
    expect(seen.news).toHaveLength(3);
    const after = (minutes: number): Date => new Date(START.getTime() + minutes * MINUTE);
    expect(seen.messages).toMatchObject([
      { at: after(10), since: after(10), again: false, faults: [{ file: "policy.json", reason: "one" }] },
      { at: after(30), since: after(10), again: true, faults: [{ reason: "two" }] },
      { at: after(90), since: after(10), again: true },
      { at: after(150), since: after(10), again: true },
    ]);
  });

  it("that was refused and put back ends the refusal with a line", async () => {
    const seen = await reloading(changing({ policy: "{" }, {}));
    expect(wordsOf(seen.news)).toEqual(["verified", "setting-refused", "setting-changed"]);
    const { settingDigest } = seen.news[0]!;
    expect(seen.news[2]).toMatchObject({ changed: [], before: settingDigest, settingDigest });
    expect(refusedSince(seen)).toEqual([null, since, null]);
  });

  it("is read once more where it was asked for while it was read", async () => {
    let ask = (): void => {};
    const reads = [(): WatchSetting => (ask(), settingOf(FILES)), ...changing({ "r1.jsonl": rootTwo! })];
    let count = 0;
    const reload = {
      read: async () => reads[Math.min(count++, 1)]!(),
      when: (given: () => void) => {
        ask = given;
        ask();
        return () => {};
      },
    };
    const { news } = await reloading([], { reload }, 3);
    expect([count, wordsOf(news)]).toEqual([2, ["verified", "setting-changed", "rejected"]]);
  });

  it("is not waited for when the watch ends, nor by the polls, and not read any more", async () => {
    const [ends, reads]: [string[], number[]] = [[], []];
    const reload = {
      read: () => new Promise<never>(() => reads.push(1)),
      when: (ask: () => void) => (ask(), () => ends.push("ended")),
    };
    const { polls, news, messages } = await reloading([], { reload }, 3);
    expect([polls.length, wordsOf(news), messages, ends, reads]).toEqual([3, ["verified"], [], ["ended"], [1]]);
  });

  it("between two starts makes the newest result news", async () => {
    const store = new MemoryStore();
    const once = async (changes: Partial<Files>, more: Given = {}): Promise<string[]> => {
      const own = settingOf({ ...FILES, ...changes } as Files);
      return wordsOf((await watched(() => bootProof, { ...own, log: store.opened(), once: true, ...more })).news);
    };
    const other = { "r2.jsonl": `${rootThree}\n${rootTwo}` };
    for (const changes of [{}, other]) expect([await once(changes), await once(changes)]).toEqual([["verified"], []]);
    expect(await once(other, { allowDebug: true })).toEqual(["verified"]);
    // The same bundle, in another form.
    for (const same of [new NamedEvidence("build", bundle), toUtf8(bundle)])
      expect(await once(other, { allowDebug: true, provenance: [same] })).toEqual([]);
  });

  it("of a policy that was read from a value has digests, too", async () => {
    const file = labPolicy(evidence.anchorPem, [labDeployment(lab)]);
    const [policy, again, renamed] = [file, file, { ...file, name: "other" }].map((one) => parsePolicy(one));
    expect(wordsOf((await reloading([() => ({ policy: again! })], { policy: policy! })).news)).toEqual(["verified"]);
    const other = await reloading([() => ({ policy: renamed! })], { policy: policy! });
    expect(other.news).toMatchObject([{}, { changed: ["policy"], policy: "other", policyDigest: null }, {}]);
  });
});

const GOOD = labPolicy(evidence.anchorPem, [labDeployment(lab)], { name: "prod" });
const BAD = labPolicy(evidence.anchorPem, [labDeployment(new Forge())], { name: "prod" });

interface World {
  readonly feed: TestFeed;
  readonly clock: SimulatedClock;
  /** What is served; null if it cannot be reached. */
  shown: string | null;
  readonly publish: (policy: object, more?: Partial<TestVersion>) => void;
  /** Asks for a reload, as SIGHUP does. */
  ask: () => void;
}
/** What happens at a time, before the poll of that minute. */
type Acts = Readonly<Record<number, (world: World) => void>>;

/** Watches for some minutes under a signed policy, with a version from the start that pins the boot proof. */
async function signed(
  minutes: number,
  acts: Acts = {},
  { refreshMs = 5 * MINUTE, ...more }: Given & { refreshMs?: number } = {},
): Promise<Seen & { world: World; fetches: number[] }> {
  const [clock, feed] = [new SimulatedClock(), new TestFeed()];
  const world: World = {
    ...{ feed, clock, shown: null, ask: () => {} },
    publish: (policy, version) => {
      feed.add({ policy, issuedAt: clock.now(), ...version });
      world.shown = feed.text();
    },
  };
  world.publish(GOOD);
  const fetches: number[] = [];
  const policy = await openSignedPolicy({
    signers: feed.pinned,
    source: async () => {
      fetches.push(clock.elapsedMs / MINUTE);
      if (world.shown === null) throw new Error("no connection");
      return world.shown;
    },
    ...{ now: clock.now, random: () => 0.5, refreshMs },
    onNotice: (notice) => expect.fail(notice),
  });
  // A refresh takes real time: keys are imported, and signatures verified.
  const refresh = policy.refresh.bind(policy);
  policy.refresh = () => clock.during(refresh());
  const pending = new Map(Object.entries(acts).map(([minute, act]) => [Number(minute), act]));
  const answer = (): typeof bootProof => {
    for (const [minute, act] of pending) if (clock.elapsedMs >= minute * MINUTE && pending.delete(minute)) act(world);
    return bootProof;
  };
  const reload = {
    read: async () => ({ policy }),
    when: (ask: () => void) => {
      world.ask = ask;
      return () => {};
    },
  };
  const intervalMs = minutes < 20 ? MINUTE : 5 * MINUTE;
  const seen = await watched(answer, { ...{ policy, clock, reload, intervalMs, until: minutes * MINUTE }, ...more });
  return { ...seen, world, fetches };
}

const minutesOf = (one: { readonly at: string | Date }): number =>
  (new Date(one.at).getTime() - START.getTime()) / MINUTE;
const published: Acts = {
  1: ({ publish, ask }) => {
    publish(GOOD);
    ask();
  },
};
const rolledBack = (world: World): void => void (world.shown = world.feed.text(1, 1));

describe("a signed policy", () => {
  it("is fetched every five minutes and a bit, and nothing is said where nothing is new", async () => {
    const { fetches, messages, news, statuses } = await signed(60);
    // Half of the jitter: 5.25 minutes. The first fetch opened the policy.
    expect(fetches).toEqual([0, ...Array.from({ length: 11 }, (_, index) => 5.25 * (index + 1))]);
    expect([messages, wordsOf(news)]).toEqual([[], ["verified"]]);
    const policyExpiresAt = new Date(START.getTime() + 14 * DAY);
    expect(statuses.at(-1)).toMatchObject({ policyExpiresAt, isFeedContradicted: false });
    expect((await signed(1, {}, { refreshMs: 0 })).fetches.length).toBeLessThanOrEqual(62);
  });

  it.each([true, false])("of a new version is recorded and verified by at once; reload of its own: %s", async (own) => {
    const acts: Acts = { 7: ({ publish }) => publish(BAD) };
    const { news, world, messages, statuses } = await signed(
      20,
      acts,
      own ? {} : ({ reload: undefined } as unknown as Given),
    );
    const [before, digest] = world.feed.envelopes.map((envelope) => sha256Hex(payloadIn(envelope)));
    expect(wordsOf(news)).toEqual(["verified", "setting-changed", "rejected"]);
    const [first, changed, last] = news as [Entry, Entry, Entry];
    expect(changed).toMatchObject({ changed: ["policy"], policy: "prod", policyVersion: 2, policyDigest: digest });
    expect([first["policyDigest"], last["policyDigest"]]).toEqual([before, digest]);
    expect(last.failed!.every((id) => id.startsWith("policy."))).toBe(true);
    // At the refresh, and not at the next poll.
    expect([minutesOf(changed), minutesOf(last)]).toEqual([10.5, 10.5]);
    expect(messages).toMatchObject([{ event: "setting-read", changed: ["policy"] }]);
    expect(statuses.at(-1)).toMatchObject({ policyDigest: digest });
  });

  it("stays in use where its feed cannot be fetched, and each attempt is reported", async () => {
    const seen = await signed(30, {
      7: (world) => (world.shown = null),
      22: (world) => (world.shown = world.feed.text()),
    });
    expect(wordsOf(seen.news)).toEqual(["verified", "setting-refused", "setting-changed"]);
    const [, refused, changed] = seen.news;
    expect(refused).toMatchObject({
      faults: [{ file: null, reason: "the feed of the signed policy: no connection" }],
    });
    expect(refused).not.toHaveProperty("contradiction");
    expect(changed).toMatchObject({ changed: [], policyVersion: 1 });
    expect(seen.messages.map((message) => [message.event, minutesOf(message)])).toEqual([
      ["setting-refused", 10.5],
      ["setting-refused", 15.75],
      ["setting-refused", 21],
      ["setting-read", 26.25],
    ]);
    expect(refusedSince(seen)).toEqual([null, new Date(at(10.5 * MINUTE)), null]);
    expect([seen.refusals, seen.summary!.isFeedContradicted]).toEqual([[], false]);
  });

  it.each<[string, (world: World) => void, RegExp]>([
    ["rolled back", rolledBack, /the feed ends at version 1.*: a rollback$/],
    [
      "forked",
      (world) => {
        const fork = JSON.parse(payloadIn(world.feed.envelopes[0]!).toString()) as { issuedAt: string };
        const other = new TestFeed();
        const change = { ...fork, version: 2, previous: "ab".repeat(32) };
        other.add({ policy: GOOD, issuedAt: new Date(fork.issuedAt), change });
        world.shown = other.text();
      },
      /the feed is a fork$/,
    ],
  ])("whose feed was %s is announced as a refusal, once, until it is whole again", async (_, attack, message) => {
    const seen = await signed(45, {
      ...published,
      7: attack,
      35: (world) => (world.shown = world.feed.text()),
    });
    expect(wordsOf(seen.news).slice(0, 4)).toEqual(["verified", "setting-changed", "verified", "setting-refused"]);
    const refused = seen.news[3]!;
    const reason = expect.stringMatching(message) as string;
    expect(refused).toMatchObject({ contradiction: true, faults: [{ reason }] });
    expect(seen.refusals).toEqual([refused]);
    expect(seen.summary).toMatchObject({ isFeedContradicted: false, refused: [] });
    expect(new Set(seen.statuses.map(({ isFeedContradicted }) => isFeedContradicted))).toEqual(new Set([false, true]));
    const told = seen.messages.filter(({ event }) => event === "setting-refused");
    expect(told.length).toBeGreaterThan(2);
    for (const one of told) expect(one).toMatchObject({ contradiction: true });
    const still = await signed(20, { ...published, 7: attack });
    expect(still.summary).toMatchObject({ isFeedContradicted: true, waiting: [] });
  });
});
