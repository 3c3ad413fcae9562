/** What holds of any feed: nothing but the genuine versions is accepted, and nothing leads back. */
import { describe, expect, it } from "vitest";
import { ALICE, BOB, CAROL, DAVE, ERIN, feedOf, setOf, versionsOf } from "../support/policy-feeds.js";
import type { MadeVersion } from "../support/policy-feeds.js";
import { anyBytes, fc, mutated, runs } from "../support/property.js";
import { World } from "./support.js";

const SECOND = setOf(2, CAROL, DAVE, ERIN);
/** Five versions, of which the third rotates the keys. */
const GENUINE = versionsOf([
  {},
  { by: [BOB, CAROL] },
  { signers: SECOND, by: [ALICE, CAROL, DAVE] },
  { by: [CAROL, ERIN] },
  {},
]);
const DIGESTS = new Map(GENUINE.map(({ members: { version }, sha256 }) => [version, sha256]));

/** What the consumer has in force afterwards: always a genuine version, and the state's if it refused. */
async function inForce(world: World): Promise<number | null> {
  const opened = await world.open().catch((error: Error) => {
    if (error.name !== "SignedPolicyError") throw error;
    return null;
  });
  if (opened === null) return null;
  expect(opened.policy.signed!.sha256).toBe(DIGESTS.get(opened.version));
  return opened.version;
}

const versionOf = (kept: string | null): number => {
  if (kept === null) return 0;
  const { envelope } = JSON.parse(kept) as { envelope: MadeVersion["envelope"] };
  return (JSON.parse(Buffer.from(envelope.payload, "base64").toString()) as { version: number }).version;
};

describe("a consumer of any feed", () => {
  it("accepts no version but the genuine ones, whatever is changed in the feed", async () => {
    const whole = Buffer.from(feedOf(GENUINE));
    await fc.assert(
      fc.asyncProperty(mutated(whole), async (feed) => {
        const world = new World([]);
        world.feed = feed;
        expect((await inForce(world)) ?? 0).toBeLessThanOrEqual(5);
      }),
    );
  });

  it("accepts nothing if one byte of an envelope's payload or signature is another", async () => {
    const [line, at, byte] = [fc.nat({ max: 4 }), fc.nat(), fc.integer({ min: 1, max: 255 })];
    await fc.assert(
      fc.asyncProperty(line, at, byte, fc.boolean(), async (index, place, change, ofPayload) => {
        const { envelope } = GENUINE[index]!;
        const flipped = (encoded: string): string => {
          const bytes = Buffer.from(encoded, "base64");
          bytes[place % bytes.length]! ^= change;
          return bytes.toString("base64");
        };
        const signatures = envelope.signatures.map((each, signature) =>
          !ofPayload && signature === place % envelope.signatures.length ? { ...each, sig: flipped(each.sig) } : each,
        );
        const payload = ofPayload ? flipped(envelope.payload) : envelope.payload;
        const changed = JSON.stringify({ ...envelope, payload, signatures });
        const world = new World([]);
        world.feed = feedOf(GENUINE.map((version, other) => (other === index ? { line: changed } : version)));
        expect(await inForce(world)).toBeNull();
        expect(world.kept).toBeNull();
      }),
    );
  });

  it("refuses any bytes", async () => {
    await fc.assert(
      fc.asyncProperty(anyBytes(), async (feed) => {
        const world = new World([]);
        world.feed = feed;
        expect(await inForce(world)).toBeNull();
      }),
    );
  });

  it("has a state that never goes back, whatever feeds follow one another", async () => {
    const part = fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 5 })).map(([from, to]) => GENUINE.slice(from, to));
    const shuffled = fc.shuffledSubarray([...GENUINE]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(part, shuffled), { maxLength: 6 }), async (feeds) => {
        const world = new World([]);
        let highest = 0;
        for (const feed of feeds) {
          world.feed = feedOf(feed);
          const version = await inForce(world);
          const kept = versionOf(world.kept);
          expect(kept).toBeGreaterThanOrEqual(highest);
          if (version !== null) expect(version).toBe(kept);
          highest = kept;
        }
      }),
      { numRuns: runs(100) },
    );
  });
});
