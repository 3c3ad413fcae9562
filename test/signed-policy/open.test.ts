/** `openSignedPolicy`: what it says, what it remembers, and when it fetches. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SignedPolicyError, openSignedPolicy } from "../../src/signed-policy/index.js";
import { SignedPolicy } from "../../src/signed-policy/open.js";
import { policyInForce } from "../../src/signed-policy/in-force.js";
import { fileState } from "../../src/signed-policy/node.js";
import {
  ALICE,
  BOB,
  CAROL,
  DAVE,
  ERIN,
  MALLORY,
  TEAM,
  at,
  feedOf,
  pinnedDigest,
  policyFor,
  setOf,
  stateOf,
  versionsOf,
} from "../support/policy-feeds.js";
import { runs } from "../support/property.js";
import { PINNED, World, currentAt, refusal } from "./support.js";

const scratch = mkdtempSync(join(tmpdir(), "bootproof-signed-"));
afterAll(() => rmSync(scratch, { recursive: true }));

const MINUTE = 60_000;
/** Waits for what has to happen, however busy the machine is. */
const until = (holds: () => boolean) => vi.waitFor(() => expect(holds()).toBe(true), { timeout: 20_000 });
const DAY = 86_400_000;
const FOUR = versionsOf([{}, {}, { by: [ALICE, CAROL] }, {}]);
const upTo = (count: number): string => feedOf(FOUR.slice(0, count));

/** A consumer that has accepted so many of the four versions. */
async function running(count: number, more: Parameters<World["open"]>[0] = {}) {
  const world = new World(FOUR.slice(0, count));
  return { world, signed: await world.open(more) };
}

describe("an open signed policy", () => {
  it("has the newest policy, its facts and its envelope", async () => {
    const { signed, world } = await running(3);
    expect(signed.version).toBe(3);
    expect(signed.policy.deployments[0]!.name).toBe("r3");
    expect(signed.policy.signed).toEqual({
      name: "prod/signer",
      version: 3,
      sha256: FOUR[2]!.sha256,
      issuedAt: FOUR[2]!.members.issuedAt,
      expiresAt: FOUR[2]!.members.expiresAt,
      signedBy: [ALICE.keyid, CAROL.keyid],
      remembered: true,
      envelope: signed.envelope,
    });
    expect(JSON.parse(signed.envelope)).toEqual(FOUR[2]!.envelope);
    expect(JSON.parse(world.kept!)).toEqual(JSON.parse(stateOf(FOUR[2]!)));
    expect(SignedPolicy.is(signed)).toBe(true);
    expect(SignedPolicy.is({ ...signed })).toBe(false);
  });

  it("is not remembered without a state, which is left out: one that is undefined was lost", async () => {
    const { now } = new World(FOUR.slice(0, 1));
    const open = (more: object): Promise<SignedPolicy> =>
      openSignedPolicy({ signers: PINNED, source: async () => upTo(1), now: () => new Date(now), ...more });
    expect((await open({})).policy.signed!.remembered).toBe(false);
    expect((await open({ refreshMs: undefined })).version).toBe(1);
    await expect(open({ state: undefined })).rejects.toThrow("options.state: undefined: leave it out, or give a value");
  });

  it("reads what is pinned as text, bytes or value", async () => {
    const text = JSON.stringify(PINNED);
    for (const signers of [PINNED, text, new TextEncoder().encode(text)])
      expect((await running(2, { signers })).signed.version).toBe(2);
    expect((await refusal(running(1, { signers: "{" }))).message).toMatch(/^policy signers: expected a member name/);
  });

  it("refuses invalid options, and cannot be made by its constructor", async () => {
    const good = { signers: PINNED, source: async () => upTo(1), now: () => new Date() };
    for (const wrong of [{ source: upTo(1) }, { now: 1 }, { state: {} }, { refreshMs: -1 }, { unknown: 1 }])
      await expect(openSignedPolicy({ ...good, ...wrong } as never), JSON.stringify(wrong)).rejects.toThrow(TypeError);
    const { signed } = await running(1);
    const Made = signed.constructor as new (...args: unknown[]) => unknown;
    expect(() => new Made({ ...good }, {}, {}, Symbol())).toThrow("made by openSignedPolicy only");
  });

  it("is a policy in force wherever either is taken", async () => {
    const { signed } = await running(2);
    expect(await policyInForce(signed)).toBe(signed.policy);
    expect(await policyInForce(signed.policy)).toBe(signed.policy);
  });
});

describe("a refusal", () => {
  it("says how many signed, how many must, and who did", async () => {
    const [version] = versionsOf([{ by: [CAROL, MALLORY] }]);
    const error = await refusal(new World([version!]).open());
    expect(error).toMatchObject({
      code: "signatures",
      facts: { version: 1, counted: 1, needed: 2, keyids: [CAROL.keyid] },
    });
    expect(error.message).toBe(
      "version 1: 1 of the 3 keys of the pinned set signed it, 2 must (signature 1 is by a key of no set " +
        `(${MALLORY.keyid.slice(0, 16)}…))`,
    );
    expect(error).toBeInstanceOf(SignedPolicyError);
  });

  it.each([
    ["the set in force", { by: [ALICE] }, "1 of the 3 keys of the set in force (of version 1) signed it, 2 must"],
    [
      "its own new set",
      { signers: setOf(1, DAVE), by: [ALICE, BOB] },
      "0 of the 1 keys of its own new set signed it, 1 must",
    ],
  ])("names %s", async (_, changes, says) => {
    expect((await refusal(new World(versionsOf([{}, changes])).open())).message).toBe(`version 2: ${says}`);
  });

  it("names the line and the fault of a malformed feed", async () => {
    const world = new World(FOUR.slice(0, 2));
    world.feed = `${FOUR[0]!.line}\n{"payload":"?"}\n`;
    const { message } = await refusal(world.open());
    expect(message).toMatch(/^feed line 2: payloadType: .*; payload: expected base64 .*; signatures: /);
    world.feed = feedOf(versionsOf([{ expiresAt: "2026-10-01T00:00:00Z" }]));
    expect((await refusal(world.open())).message).toBe(
      "feed line 1, payload: expiresAt: expected a time later than issuedAt",
    );
    world.feed = feedOf(versionsOf([{ policy: { ...policyFor(1), deployments: [{}] } }]));
    expect((await refusal(world.open())).message).toMatch(/^version 1: policy\.deployments\[0\]/);
  });

  it("has the version as a fact", async () => {
    const codes = [
      [versionsOf([{}, { name: "other" }]), "name", 2],
      [versionsOf([{}, { previous: "00".repeat(32) }]), "previous", 2],
      [[FOUR[0]!, FOUR[2]!], "version", 3],
    ] as const;
    for (const [versions, code, version] of codes)
      expect(await refusal(new World(versions).open())).toMatchObject({ code, facts: { version } });
  });
});

describe("the state", () => {
  it("is written before the new version is used, and once for each version", async () => {
    const { world, signed } = await running(2);
    expect(world.writes).toBe(1);
    expect(await signed.refresh()).toBe(false);
    expect(world.writes).toBe(1);
    world.feed = upTo(3);
    const seen: number[] = [];
    const { state } = world;
    const watching = await world.open({
      state: { ...state, write: async (text, before) => (seen.push(signed.version), state.write(text, before)) },
    });
    expect([seen, watching.version]).toEqual([[2], 3]);
  });

  it("that cannot be written is an error, and the version before stays in force", async () => {
    const { world, signed } = await running(2, {
      state: {
        read: async () => world2.kept,
        write: async (text) => {
          if (text.includes(FOUR[2]!.envelope.payload)) throw new Error("no space left");
          world2.kept = text;
        },
      },
    });
    world.feed = upTo(3);
    const error = await refusal(signed.refresh());
    expect(error.code).toBe("state");
    expect(error.message).toBe("the state cannot be written, so the new version is not used: no space left");
    expect([signed.version, signed.policy.deployments[0]!.name]).toEqual([2, "r2"]);
  });
  const world2: { kept: string | null } = { kept: null };

  it("that cannot be read is an error", async () => {
    const read = async (): Promise<never> => {
      throw new Error("permission denied");
    };
    const error = await refusal(running(2, { state: { read, write: async () => undefined } }));
    expect(error).toMatchObject({ code: "state", message: "the state cannot be read: permission denied" });
  });

  it("is read again if another process wrote it, and given up after five times", async () => {
    const world = new World(FOUR.slice(0, 2));
    let attempts = 0;
    const state = {
      read: async () => world.kept,
      write: async (text: string) => {
        attempts++;
        if (attempts < 3) return false;
        world.kept = text;
        return true;
      },
    };
    expect((await world.open({ state })).version).toBe(2);
    expect([attempts, world.fetches]).toEqual([3, 1]);
    const never = { read: async () => null, write: async () => (attempts++, false) };
    attempts = 0;
    expect(await refusal(world.open({ state: never }))).toMatchObject({ code: "state" });
    expect(attempts).toBe(5);
  });

  it("of a newer version, written by another process, is used in place of what this one knows", async () => {
    const { world, signed } = await running(2);
    world.kept = stateOf(FOUR[2]!);
    expect((await refusal(signed.refresh())).code).toBe("version");
    world.feed = upTo(3);
    expect(await signed.refresh()).toBe(true);
    expect(signed.version).toBe(3);
  });

  it("that went back or away does not take this process back", async () => {
    const { world, signed } = await running(3);
    for (const kept of [stateOf(FOUR[0]!), null]) {
      world.kept = kept;
      world.feed = upTo(2);
      expect((await refusal(signed.refresh())).code).toBe("version");
      world.feed = upTo(3);
      expect(await signed.refresh()).toBe(false);
      expect(JSON.parse(world.kept!)).toEqual(JSON.parse(stateOf(FOUR[2]!)));
    }
  });

  it("of another pinned set is replaced", async () => {
    const world = new World(FOUR);
    for (const newest of [FOUR[1]!, FOUR[3]!]) {
      world.kept = stateOf(newest, "00".repeat(32));
      await world.open();
      expect(JSON.parse(world.kept)).toMatchObject({ pinned: pinnedDigest(TEAM) });
    }
  });

  it("says what a torn one means", async () => {
    const world = new World(FOUR);
    world.kept = stateOf(FOUR[1]!).slice(0, 100);
    expect((await refusal(world.open())).message).toMatch(
      /^the state is not usable: a string does not end .*; remove it only if you know why: without it, an old version/,
    );
    expect(world.kept).toHaveLength(100);
  });
});

describe("the state in a file", () => {
  const options = (path: string, feed: () => string) => ({
    signers: PINNED,
    source: async () => feed(),
    state: fileState(path),
    now: () => new Date("2026-11-26T12:00:00Z"),
    onNotice: () => {},
  });

  it("is written whole, for its owner only", async () => {
    const path = join(scratch, "whole.state");
    await openSignedPolicy(options(path, () => upTo(2)));
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(JSON.parse(stateOf(FOUR[1]!)));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect((await refusal(openSignedPolicy(options(path, () => upTo(1))))).code).toBe("version");
  });

  it("is compared with what was read, and replaced only if it is the same", async () => {
    const path = join(scratch, "compared.state");
    const state = fileState(path);
    expect(await state.read()).toBeNull();
    expect(await state.write("one", null)).toBe(true);
    expect(await state.write("two", null)).toBe(false);
    expect(await state.write("two", "one")).toBe(true);
    expect(await state.read()).toBe("two");
  });

  it("never goes back, whoever of two writes first", async () => {
    for (let round = 0; round < runs(3); round++) {
      const path = join(scratch, `raced-${round}.state`);
      const opened = [2, 4, 3].map((count) => openSignedPolicy(options(path, () => upTo(count))));
      const results = await Promise.allSettled(opened);
      const kept = JSON.parse(readFileSync(path, "utf8")) as { envelope: unknown };
      expect(kept.envelope).toEqual(FOUR[3]!.envelope);
      const refused = results.filter((one) => one.status === "rejected");
      expect(refused.map(({ reason }) => (reason as SignedPolicyError).code).every((code) => code === "version")).toBe(
        true,
      );
    }
  });

  it("that was torn, or cannot be read, is an error at the start", async () => {
    const path = join(scratch, "torn.state");
    await openSignedPolicy(options(path, () => upTo(2)));
    writeFileSync(path, readFileSync(path, "utf8").slice(0, -30));
    expect((await refusal(openSignedPolicy(options(path, () => upTo(3))))).code).toBe("state");
    expect((await refusal(openSignedPolicy(options(scratch, () => upTo(3))))).code).toBe("state");
    // Taken for an absent one, it would no longer keep old versions out.
    await expect(fileState(scratch).read()).rejects.toThrow("EISDIR");
    const nowhere = join(scratch, "not", "there", "state");
    expect((await refusal(openSignedPolicy(options(nowhere, () => upTo(3))))).code).toBe("state");
  });
});

describe("a source", () => {
  it("that fails at the start is a refusal, or leaves the state's version, and says so", async () => {
    const world = new World([]);
    world.feed = new Error("connect ECONNREFUSED");
    const error = await refusal(world.open());
    expect(error).toMatchObject({ code: "fetch", message: "connect ECONNREFUSED" });
    expect(error.cause).toBe(world.feed);
    world.kept = stateOf(FOUR[1]!);
    expect((await world.open()).version).toBe(2);
    expect(world.notices).toEqual([
      { notice: "the feed was not fetched (connect ECONNREFUSED): version 2 of the state is used", code: undefined },
    ]);
  });

  it("that fails or is refused at a refresh leaves the policy in force, and the operator is told", async () => {
    const { world, signed } = await running(2, { refreshMs: MINUTE });
    for (const feed of [new Error("offline"), "", upTo(1), feedOf(versionsOf([{}, { policy: policyFor(9) }]))]) {
      world.feed = feed;
      world.now += MINUTE;
      const told = world.notices.length + 1;
      expect((await signed.current()).deployments[0]!.name).toBe("r2");
      await until(() => world.notices.length >= told);
    }
    expect(world.notices.map(({ code }) => code)).toEqual(["fetch", "malformed", "version", "fork"]);
    expect(world.notices[0]!.notice).toBe(
      "the signed policy prod/signer was not refreshed, version 2 stays in force: offline",
    );
  });

  it("that throws is a failed fetch, and one that returns no promise is read", async () => {
    const source = (): never => {
      throw new Error("no such file");
    };
    expect(await refusal(new World(FOUR).open({ source }))).toMatchObject({ code: "fetch", message: "no such file" });
    expect((await new World(FOUR).open({ source: (() => upTo(2)) as never })).version).toBe(2);
  });

  it("is told of by the console unless the caller listens", async () => {
    const said: unknown[] = [];
    const own = console.warn;
    console.warn = (...args: unknown[]) => void said.push(...args);
    try {
      const world = new World([]);
      world.kept = stateOf(FOUR[0]!);
      world.feed = new Error("offline");
      await world.open({ onNotice: undefined as never });
    } finally {
      console.warn = own;
    }
    expect(said).toEqual(["the feed was not fetched (offline): version 1 of the state is used"]);
  });
});

describe("notices", () => {
  it("name signatures that do not count, and versions that are not used yet", async () => {
    const future = at(Date.parse("2026-11-26T12:00:00Z") + DAY);
    const versions = versionsOf([{ by: [ALICE, BOB, ERIN] }, { issuedAt: future }]);
    const world = new World(versions);
    await world.open();
    expect(world.notices.map(({ notice }) => notice)).toEqual([
      `version 1: signature 2 is by a key of no set (${ERIN.keyid.slice(0, 16)}…)`,
      `version 2 was issued in the future (${future}): not used yet`,
    ]);
    const [first] = versionsOf([
      {
        signatures: (pae) => [
          ...[ALICE, BOB].map((key) => ({ sig: Buffer.from(key.sign(pae)).toString("base64") })),
          { keyid: CAROL.keyid.toUpperCase(), sig: "AAAA" },
          { keyid: CAROL.keyid, sig: "AAAA" },
        ],
      },
    ]);
    const other = new World([first!]);
    await other.open();
    expect(other.notices.map(({ notice }) => notice)).toEqual([
      "version 1: signature 2 is by a key of no set (its keyid is not a SHA-256 in lower-case hex)",
      "version 1: signature 3 does not verify",
    ]);
  });
});

describe("refreshes", () => {
  /** A source that answers when it is let. */
  function held(world: World) {
    const waiting: (() => void)[] = [];
    const source = async (): Promise<string> => {
      world.fetches++;
      if (world.fetches > 1) await new Promise<void>((resolve) => waiting.push(resolve));
      return world.feed as string;
    };
    return { source, answer: () => waiting.splice(0).forEach((resolve) => resolve()) };
  }
  const settled = () => new Promise((resolve) => setTimeout(resolve, 30));

  it("happen when a policy is needed and the time has passed, not before, and once", async () => {
    const { world, signed } = await running(2);
    world.feed = upTo(3);
    world.now += 5 * MINUTE - 1;
    await signed.current();
    await settled();
    expect([world.fetches, signed.version]).toEqual([1, 2]);
    world.now += 1;
    expect((await signed.current()).deployments[0]!.name).toBe("r2");
    await until(() => signed.version === 3);
    expect(world.fetches).toBe(2);
    await signed.current();
    await settled();
    expect(world.fetches).toBe(2);
  });

  it("are jittered within a tenth", async () => {
    for (const [random, least] of [
      [0, 1000],
      [0.5, 1050],
      [1, 1100],
    ] as const) {
      const { world, signed } = await running(1, { refreshMs: 1000, random: () => random });
      const start = world.now;
      for (const [ms, fetches] of [
        [least - 1, 1],
        [least, 2],
      ] as const) {
        world.now = start + ms;
        await signed.current();
        await settled();
        expect(world.fetches, `${random} after ${ms}`).toBe(fetches);
      }
    }
  });

  it("are one at a time, however many verifications wait, and a source that hangs holds none of them", async () => {
    const world = new World(FOUR.slice(0, 2));
    const { source, answer } = held(world);
    const signed = await world.open({ source });
    world.feed = upTo(3);
    world.now += 6 * MINUTE;
    const policies = await Promise.all(Array.from({ length: 50 }, () => signed.current()));
    expect(policies.every(({ deployments }) => deployments[0]!.name === "r2")).toBe(true);
    world.now += 60 * MINUTE;
    const both = [signed.refresh(), signed.refresh()];
    expect(world.fetches).toBe(2);
    answer();
    expect(await Promise.all(both)).toEqual([true, true]);
    expect([world.fetches, signed.version]).toEqual([2, 3]);
  });

  it("that fail are told once, however many verifications wait", async () => {
    const world = new World(FOUR.slice(0, 2));
    const { source, answer } = held(world);
    const signed = await world.open({ source });
    world.feed = "";
    world.now += 6 * MINUTE;
    await Promise.all(Array.from({ length: 50 }, () => signed.current()));
    answer();
    await until(() => world.notices.length > 0);
    await settled();
    expect(world.notices.map(({ code }) => code)).toEqual(["malformed"]);
  });

  it("are awaited only if the policy in force has expired", async () => {
    const world = new World(FOUR.slice(0, 2));
    const { source, answer } = held(world);
    const signed = await world.open({ source });
    const renewed = versionsOf([{}, {}, { issuedAt: "2026-12-15T00:00:00Z" }]);
    world.feed = feedOf(renewed);
    world.now = Date.parse(FOUR[1]!.members.expiresAt);
    let policy: Awaited<ReturnType<typeof signed.current>> | undefined;
    const waiting = signed.current().then((one) => (policy = one));
    await settled();
    expect(policy).toBeUndefined();
    answer();
    await waiting;
    expect(policy!.signed!.version).toBe(3);
    expect(await currentAt(policy!, world.now)).toBe("pass");
  });

  it("of an expired policy without a newer one leave it, and it is no longer current", async () => {
    const { world, signed } = await running(2);
    world.now = Date.parse(FOUR[1]!.members.expiresAt) - 1;
    expect(await currentAt(await signed.current(), world.now)).toBe("warn");
    world.now += 1;
    expect(await currentAt(await signed.current(), world.now)).toBe("fail");
    world.feed = new Error("offline");
    world.now += DAY;
    expect(await currentAt(await signed.current(), world.now)).toBe("fail");
  });

  it("switch between two policies, and never change one", async () => {
    const { world, signed } = await running(2);
    const before = signed.policy;
    world.feed = upTo(4);
    expect(await signed.refresh()).toBe(true);
    expect(before.deployments[0]!.name).toBe("r2");
    expect(signed.policy.deployments[0]!.name).toBe("r4");
    expect(Object.isFrozen(signed.policy.signed)).toBe(true);
  });
});

/** A refresh that is due has begun after it. */
const turn = () => new Promise((resolve) => setImmediate(resolve));
afterEach(() => vi.restoreAllMocks());

describe("a state of another name", () => {
  it("is refused without a feed, and at a refresh, where the policy in force stays", async () => {
    const world = new World(FOUR.slice(0, 2));
    const signed = await world.open();
    world.kept = JSON.stringify({
      ...(JSON.parse(stateOf(versionsOf([{ name: "prod/other" }])[0]!)) as object),
      pinned: "00".repeat(32),
    });
    const kept = world.kept;
    world.feed = upTo(3);
    expect((await refusal(signed.refresh())).code).toBe("state");
    world.feed = new Error("offline");
    expect((await refusal(world.open())).code).toBe("state");
    expect([signed.version, world.kept]).toEqual([2, kept]);
  });
});

describe("a clock that was set back", () => {
  it("is due for a refresh at once, and then after refreshMs of the new time", async () => {
    const world = new World(FOUR.slice(0, 2));
    const signed = await world.open();
    for (const [back, version] of [
      [1, 3],
      [DAY / 24, 4],
    ] as const) {
      world.feed = upTo(version);
      world.now -= back;
      await signed.current();
      await until(() => signed.version === version);
      await turn();
    }
    const from = world.now;
    for (const passed of [0, 299_999]) {
      world.now = from + passed;
      await signed.current();
      await turn();
      expect([passed, world.fetches]).toEqual([passed, 3]);
    }
    world.now = from + 300_000;
    await signed.current();
    await until(() => world.fetches === 4);
  });
});

describe("onNotice that fails", () => {
  const throwing = (): never => {
    throw new Error("the logger is gone");
  };
  const rejecting = async (): Promise<never> => throwing();

  it.each([
    ["throws", throwing],
    ["rejects", rejecting],
  ])("is replaced by the console: it %s", async (_, onNotice) => {
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    const world = new World(FOUR.slice(0, 2));
    world.kept = stateOf(FOUR[1]!);
    world.feed = new Error("offline");
    const signed = await world.open({ onNotice });
    await until(() => said.mock.calls.length === 1);
    expect(said.mock.calls).toEqual([
      ["the feed was not fetched (offline): version 2 of the state is used " + "(onNotice failed: the logger is gone)"],
    ]);
    // Expired, so that the refresh is awaited.
    world.now = Date.parse(FOUR[1]!.members.expiresAt);
    expect((await signed.current()).deployments[0]!.name).toBe("r2");
    await until(() => said.mock.calls.length === 2);
    expect(String(said.mock.calls[1]![0])).toContain("was not refreshed, version 2 stays in force: offline (onNotice");
  });
});

describe("a source that never settles", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());
  const never = (): Promise<never> => new Promise(() => {});
  const WORDS = "the source did not answer within 60000 ms";

  it("has failed after 60 seconds, at the start", async () => {
    const opened = refusal(new World(FOUR).open({ source: never }));
    await vi.advanceTimersByTimeAsync(59_999);
    expect(await Promise.race([opened, "waiting"])).toBe("waiting");
    await vi.advanceTimersByTimeAsync(1);
    expect(await opened).toMatchObject({ code: "fetch", message: WORDS });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("leaves the version of the state, or the one in force, and the next refresh asks again", async () => {
    const world = new World(FOUR.slice(0, 2));
    world.kept = stateOf(FOUR[1]!);
    let answers: () => Promise<string> = never;
    const opened = world.open({ source: () => answers() });
    await vi.advanceTimersByTimeAsync(60_000);
    const signed = await opened;
    const refreshed = signed.refresh().catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await refreshed).toBeInstanceOf(SignedPolicyError);
    expect([signed.version, world.notices[0]!.notice]).toEqual([2, expect.stringContaining(WORDS)]);
    answers = async () => upTo(3);
    expect([await signed.refresh(), signed.version, vi.getTimerCount()]).toEqual([true, 3, 0]);
  });

  it("that answers in time is read, however late, and leaves no timer", async () => {
    const slow = (): Promise<string> => new Promise((resolve) => setTimeout(resolve, 59_000, upTo(2)));
    const opened = new World(FOUR).open({ source: slow });
    await vi.advanceTimersByTimeAsync(59_000);
    expect([(await opened).version, vi.getTimerCount()]).toEqual([2, 0]);
  });
});
