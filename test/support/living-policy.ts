/** A service with a software enclave, a feed of signed policies that grows, and one clock for both. */
import { expect, it } from "vitest";
import { openSignedPolicy } from "../../src/signed-policy/index.js";
import type { SignedPolicyError } from "../../src/signed-policy/errors.js";
import type { SignedPolicy, SignedPolicyOptions } from "../../src/signed-policy/open.js";
import { labDeployment, labPolicy } from "../../src/lab/forge.js";
import type { JsonObject } from "../../src/decode/json.js";
import { AttestedService, type Lies, anchorPem, lab, otherLab } from "../client/attested.js";
import type { Reply } from "../client/support.js";
import { DAY, TestFeed, type TestVersion } from "./signed-policies.js";

export const MINUTE = 60_000;
/** The enclave that runs is pinned, or another one. */
export const GOOD = labPolicy(anchorPem, [labDeployment(lab)]);
export const BAD = labPolicy(anchorPem, [labDeployment(otherLab)]);

export class LivingWorld {
  readonly service: AttestedService;
  readonly feed = new TestFeed();
  /** What the server of the feed returns; null if it cannot be reached. */
  shown: string | null = "";
  fetches = 0;
  readonly notices: { readonly notice: string; readonly error: SignedPolicyError | undefined }[] = [];
  #held: Promise<void> | null = null;

  constructor(lies: Lies = {}) {
    // A boot proof is held back while a test holds the service.
    const bootProof = (body: JsonObject): Reply =>
      (this.#held ?? Promise.resolve()).then(() => ({ body })) as unknown as Reply;
    this.service = new AttestedService({ bootProof, ...lies });
  }

  /** Adds a version to the feed, and shows it. */
  publish(policy: object = GOOD, more: Partial<TestVersion> = {}): void {
    this.feed.add({ policy, issuedAt: this.service.now, ...more });
    this.shown = this.feed.text();
  }

  open(more: Partial<SignedPolicyOptions> = {}): Promise<SignedPolicy> {
    return openSignedPolicy({
      signers: this.feed.pinned,
      source: async () => {
        this.fetches++;
        if (this.shown === null) throw new Error("no connection");
        return this.shown;
      },
      now: () => this.service.now,
      random: () => 0,
      onNotice: (notice, error) => this.notices.push({ notice, error }),
      ...more,
    });
  }

  pass(milliseconds: number): void {
    this.service.clock += milliseconds;
  }

  /** Holds all boot proofs back until the returned function is called. */
  hold(): () => void {
    let release = (): void => {};
    this.#held = new Promise((resolve) => {
      release = () => {
        this.#held = null;
        resolve();
      };
    });
    return () => release();
  }
}

/** Submits through a door. Resolves to the ids of the checks that fail; none means yes. */
export type Ask = () => Promise<readonly string[]>;
export type LivingDoor = (world: LivingWorld, signed: SignedPolicy) => Promise<Ask>;

/** Lets the refresh finish that the last verification has begun. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

/** What holds at each door that takes a signed policy and lives long. */
export function livesByItsPolicy(door: LivingDoor): void {
  it("says yes as long as the newest version is in force, and no more", async () => {
    const world = new LivingWorld();
    world.publish();
    const ask = await door(world, await world.open());
    // A new version each week; after that of day 77, which is valid for 14 days, the feed cannot be reached any more.
    for (let day = 7; day <= 77; day += 7) {
      world.pass(7 * DAY);
      world.publish();
      await ask();
      await settled();
      expect(await ask()).toEqual([]);
    }
    world.shown = null;
    for (const [passed, said] of [
      [7 * DAY, []],
      [7 * DAY - 1, []],
      [1, ["policy.current"]],
      [100 * DAY, ["policy.current"]],
    ] as const) {
      world.pass(passed);
      expect(await ask()).toEqual(said);
      await settled();
    }
    expect(world.notices.map(({ error }) => error?.code)).toEqual(["fetch", "fetch", "fetch"]);
    world.publish();
    world.pass(6 * MINUTE);
    // A policy that has expired is refreshed before it judges.
    expect(await ask()).toEqual([]);
  });

  it("switches between two verifications, and never within one", async () => {
    const world = new LivingWorld();
    world.publish(GOOD);
    const signed = await world.open();
    const ask = await door(world, signed);
    const during = async (policy: object): Promise<readonly string[]> => {
      const release = world.hold();
      const asked = world.service.asked.length;
      const answer = ask();
      await expect.poll(() => world.service.asked.length).toBe(asked + 1);
      world.publish(policy);
      expect(await signed.refresh()).toBe(true);
      release();
      return answer;
    };
    expect(await during(BAD)).toEqual([]);
    // It begins under the second version, and ends under it.
    expect((await during(GOOD)).length).toBeGreaterThan(0);
    expect(await ask()).toEqual([]);
    const { length } = world.service.asked;
    expect(await ask()).toEqual([]);
    expect(world.service.asked).toHaveLength(length);
    world.publish(GOOD);
    await signed.refresh();
    expect(await ask()).toEqual([]);
    // A boot proof that was verified under another version is not used.
    expect(world.service.asked).toHaveLength(length + 1);
  });

  it("fetches the feed once for all that need it, and only when it is due", async () => {
    const world = new LivingWorld();
    world.publish();
    const ask = await door(world, await world.open({ refreshMs: 10 * MINUTE }));
    const many = (): Promise<unknown> => Promise.all(Array.from({ length: 5 }, () => ask()));
    world.pass(9 * MINUTE);
    await many();
    expect(world.fetches).toBe(1);
    world.pass(MINUTE);
    await many();
    await settled();
    expect(world.fetches).toBe(2);
    await many();
    expect(world.fetches).toBe(2);
  });

  it("stays with its version where the feed is rolled back or forked, and says so each time", async () => {
    const world = new LivingWorld();
    world.publish(BAD);
    world.publish(GOOD);
    const ask = await door(world, await world.open());
    for (const feed of [world.feed.text(1, 1), world.feed.text(1, 1)]) {
      world.shown = feed;
      world.pass(6 * MINUTE);
      expect(await ask()).toEqual([]);
      await settled();
    }
    expect(world.notices.map(({ error }) => [error?.code, error?.isContradiction])).toEqual([
      ["version", true],
      ["version", true],
    ]);
    expect(world.notices[0]!.notice).toContain("version 2 stays in force");
    expect(await ask()).toEqual([]);
  });
}
