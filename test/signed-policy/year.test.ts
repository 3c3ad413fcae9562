/**
 * A year of a client: 30 versions, 3 rotations, 5 outages of the feed, an attack of each kind, and restarts in the
 * middle of all of it. The oracle knows days and numbers of versions, and nothing of signatures or feeds. The client
 * is asked where something begins, ends or expires, and with `BOOTPROOF_TESTS=long` on each half day.
 */
import { describe, expect, it } from "vitest";
import type { SignedPolicy } from "../../src/signed-policy/index.js";
import {
  ALICE,
  BOB,
  CAROL,
  DAVE,
  ERIN,
  MALLORY,
  type MadeVersion,
  type SetFile,
  TEAM,
  type TestKey,
  type VersionChanges,
  at,
  feedOf,
  policyFor,
  setOf,
  versionsOf,
} from "../support/policy-feeds.js";
import { World, currentAt } from "./support.js";
import { IS_LONG } from "../support/long.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 0, 1);
const EVERY = 12;
const VALID = 16;
const VERSIONS = 30;

/** Sets by the version that brings them in. */
const SETS: readonly (readonly [from: number, set: SetFile, keys: readonly TestKey[]])[] = [
  [0, TEAM, [ALICE, BOB, CAROL]],
  [8, setOf(2, BOB, CAROL, DAVE), [BOB, CAROL, DAVE]],
  [16, setOf(3, CAROL, DAVE, ERIN), [CAROL, DAVE, ERIN]],
  [24, setOf(2, ALICE, BOB, ERIN), [ALICE, BOB, ERIN]],
];
const setAt = (version: number) => SETS.findLast(([from]) => from <= version)!;

const issuedOn = (version: number): number => EVERY * (version - 1);
const timesOf = (day: number): Pick<VersionChanges, "issuedAt" | "expiresAt"> => ({
  issuedAt: at(START + day * DAY),
  expiresAt: at(START + (day + VALID) * DAY),
});

function changesOf(version: number): VersionChanges {
  const [[, , before], [, set, keys]] = [setAt(version - 1), setAt(version)];
  return { ...timesOf(issuedOn(version)), signers: set, by: [...new Set([...before, ...keys])] };
}

const CHANGES = Array.from({ length: VERSIONS }, (_, index) => changesOf(index + 1));
const HISTORY = versionsOf(CHANGES);
/** The history up to a version, and one more that is not the genuine one. */
const forged = (version: number, changes: VersionChanges): readonly MadeVersion[] =>
  versionsOf([...CHANGES.slice(0, version), { ...timesOf(issuedOn(version)), ...changes }]);

/** Days from and to which the feed cannot be fetched. The third and the fourth are longer than a policy lives. */
const OUTAGES: readonly (readonly [from: number, to: number])[] = [
  [3, 4],
  [30, 37],
  [70, 95],
  [150, 172],
  [340, 341],
];

interface Attack {
  readonly day: number;
  /** For so many days. */
  readonly days: number;
  /** The feed in place of the genuine one, by the newest version that was published. */
  readonly feed: (newest: number) => string;
  /** Whether a consumer that starts then refuses it. Otherwise the version before stays in force. */
  readonly isRefused?: false;
}

const shown = (versions: readonly MadeVersion[]): string => feedOf(versions.slice(-10));
const next = (changes: (newest: number) => VersionChanges) => (newest: number) =>
  shown(forged(newest, changes(newest)));
const NEW_SET = { signers: setOf(1, MALLORY) };

const attack = (day: number, feed: Attack["feed"], days = 2): Attack => ({ day, days, feed });
const refusedAt = (day: number, changes: (newest: number) => VersionChanges): Attack => attack(day, next(changes));
const keysAt = (newest: number): readonly TestKey[] => setAt(newest)[2];

const ATTACKS: Readonly<Record<string, Attack>> = {
  "rolled back": attack(14, (newest) => shown(HISTORY.slice(0, newest - 1))),
  forked: attack(40, (newest) =>
    shown(versionsOf([...CHANGES.slice(0, newest - 1), { ...CHANGES[newest - 1], policy: policyFor(666) }])),
  ),
  gap: attack(50, (newest) => shown(HISTORY.slice(0, newest)) + feedOf([HISTORY[newest + 1]!])),
  "signed by too few": refusedAt(110, (newest) => ({ by: keysAt(newest).slice(0, 1) })),
  "one key twice": refusedAt(122, (newest) => ({ by: Array<TestKey>(3).fill(keysAt(newest)[0]!) })),
  "keys that were rotated out": refusedAt(134, () => ({ by: [ALICE, BOB] })),
  "the old set only": refusedAt(180, (newest) => ({ ...NEW_SET, by: keysAt(newest) })),
  "the new set only": refusedAt(200, () => ({ ...NEW_SET, by: [MALLORY] })),
  "another name": refusedAt(210, (newest) => ({ name: "prod/other", by: keysAt(newest) })),
  "another payload type": refusedAt(220, () => ({ envelope: (whole) => ({ ...whole, payloadType: "x/json" }) })),
  "members twice": refusedAt(230, () => ({
    envelope: (whole) => JSON.stringify(whole).replace("{", '{"payload":"",'),
  })),
  "issued in the future": {
    ...refusedAt(241, (newest) => ({ ...timesOf(300), by: keysAt(newest) })),
    isRefused: false,
  },
  "issued before the version before": refusedAt(254, (newest) => ({
    ...timesOf(issuedOn(newest) - 1),
    by: keysAt(newest),
  })),
  "another previous": refusedAt(266, () => ({ previous: "00".repeat(32), by: [CAROL, DAVE, ERIN] })),
  huge: attack(280, (newest) => " ".repeat(8 * 1024 * 1024) + shown(HISTORY.slice(0, newest)), 1),
  "a policy that is none": refusedAt(300, (newest) => ({ policy: {}, by: keysAt(newest) })),
  "held back for longer than it lives": { ...attack(308, () => shown(HISTORY.slice(0, 26)), 14), isRefused: false },
  "an empty feed": attack(330, () => ""),
};

/** The process ends and begins again on these days: in quiet, in outages, in attacks, and after a policy expired. */
const RESTARTS = [6, 31, 51, 80, 94, 100, 111, 160, 181, 205, 242, 281, 320, 341, 355];

const published = (day: number): number => Math.min(VERSIONS, Math.floor(day / EVERY) + 1);
const attackOn = (day: number): Attack | undefined =>
  Object.values(ATTACKS).find(({ day: from, days }) => from <= day && day < from + days);
const isOutage = (day: number): boolean => OUTAGES.some(([from, to]) => from <= day && day < to);

/** When the client is asked. */
function askedOn(): number[] {
  const halfDays = Array.from({ length: 2 * 365 }, (_, half) => half / 2);
  if (IS_LONG) return halfDays;
  const issued = CHANGES.map((_, index) => issuedOn(index + 1));
  const attacks = Object.values(ATTACKS).flatMap(({ day, days }) => [day, day + days]);
  const expired = issued.map((day) => day + VALID);
  const days = new Set([...issued, ...expired, ...attacks, ...OUTAGES.flat(), ...RESTARTS]);
  return halfDays.filter((day) => days.has(day) || expired.includes(day + 0.5));
}

/** What a client has to say at each time: the version under which it says yes, or null for no. */
class Oracle {
  #version = 0;
  #runs = false;

  says(day: number, restarts: boolean): number | null {
    if (restarts) this.#runs = false;
    const attack = attackOn(day);
    if (!this.#runs) {
      // A start needs an honest feed, or none at all and a state.
      if (attack !== undefined && attack.isRefused === undefined && !isOutage(day)) return null;
      this.#runs = true;
      this.#fetch(day);
      return this.#ifAlive(day);
    }
    // A refresh is awaited only after the expiry.
    const before = this.#ifAlive(day);
    this.#fetch(day);
    return before ?? this.#ifAlive(day);
  }

  #fetch(day: number): void {
    if (!isOutage(day) && attackOn(day) === undefined) this.#version = published(day);
  }

  #ifAlive(day: number): number | null {
    const issued = issuedOn(this.#version);
    return issued <= day && day < issued + VALID ? this.#version : null;
  }
}

describe("a year of a client", () => {
  it("says yes exactly where it should", async () => {
    const world = new World([]);
    const oracle = new Oracle();
    let client: SignedPolicy | null = null;
    const [said, wanted]: [string[], string[]] = [[], []];
    for (const day of askedOn()) {
      world.now = START + day * DAY;
      const restarts = day === 0 || RESTARTS.includes(day);
      const newest = published(day);
      world.feed = attackOn(day)?.feed(newest) ?? shown(HISTORY.slice(0, newest));
      if (isOutage(day)) world.feed = new Error("offline");

      if (restarts) client = null;
      const isNew = client === null;
      client ??= await world.open({ refreshMs: HOUR }).catch(() => null);
      const policy = client && (isNew ? client.policy : await client.current());
      const status = policy && (await currentAt(policy, world.now));
      said.push(`${day}: ${policy === null || status === "fail" ? null : policy.signed!.version}`);
      wanted.push(`${day}: ${oracle.says(day, restarts)}`);
      if (policy !== null) expect(policy.deployments[0]!.name).toBe(`r${policy.signed!.version}`);
      // The fetch of this half day has ended before the next one.
      await client?.refresh().catch(() => {});
    }
    expect(said).toEqual(wanted);
    const yes = wanted.filter((line) => !line.endsWith("null")).map((line) => Number(line.split(": ")[1]));
    expect([Math.min(...yes), Math.max(...yes)]).toEqual([1, VERSIONS]);
    expect(wanted.length - yes.length).toBeGreaterThan(10);
    // Each attack and each outage was met by a running client, which told its operator.
    expect(new Set(world.notices.map(({ code }) => code))).toEqual(
      new Set(["fetch", "fork", "malformed", "name", "previous", "signatures", "version", undefined]),
    );
  });

  it("has what it is said to have", () => {
    expect([HISTORY.length, SETS.length - 1, OUTAGES.length]).toEqual([30, 3, 5]);
    const times = Object.values(ATTACKS).flatMap(({ day, days }) => [day, day + days]);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(Object.values(ATTACKS).some(({ day, days }) => isOutage(day) || isOutage(day + days - 1))).toBe(false);
  });
});
