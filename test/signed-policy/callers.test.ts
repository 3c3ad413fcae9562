/** `openSignedPolicy` with a state of another policy, a clock that goes back, and functions of the caller that fail. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SignedPolicyError } from "../../src/signed-policy/index.js";
import { feedOf, stateOf, versionsOf } from "../support/policy-feeds.js";
import { World, refusal } from "./support.js";

const FOUR = versionsOf([{}, {}, {}, {}]);
const OTHER = versionsOf([{ name: "prod/other" }, { name: "prod/other" }]);

const upTo = (count: number): string => feedOf(FOUR.slice(0, count));
const DAY = 86_400_000;
/** A refresh that is due has begun after it. */
const turn = () => new Promise((resolve) => setImmediate(resolve));
/** However busy the machine is. */
const until = (holds: () => void): Promise<void> => vi.waitFor(holds, { timeout: 60_000 });

const scratch = mkdtempSync(join(tmpdir(), "bootproof-callers-"));
afterAll(() => rmSync(scratch, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

describe("a state of another name", () => {
  it("is refused without a feed, and at a refresh, where the policy in force stays", async () => {
    const world = new World(FOUR.slice(0, 2));
    const signed = await world.open();
    world.kept = JSON.stringify({ ...(JSON.parse(stateOf(OTHER[0]!)) as object), pinned: "00".repeat(32) });
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
      await until(() => expect(signed.version).toBe(version));
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
    await until(() => expect(world.fetches).toBe(4));
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
    await until(() => expect(said).toHaveBeenCalledTimes(1));
    expect(said.mock.calls).toEqual([
      ["the feed was not fetched (offline): version 2 of the state is used " + "(onNotice failed: the logger is gone)"],
    ]);
    // Expired, so that the refresh is awaited.
    world.now = Date.parse(FOUR[1]!.members.expiresAt);
    expect((await signed.current()).deployments[0]!.name).toBe("r2");
    await until(() => expect(said).toHaveBeenCalledTimes(2));
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
