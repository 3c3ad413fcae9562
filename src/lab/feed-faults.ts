/** Faults of the feed of the lab's signed policy. */
import type { SignedPolicyCode } from "../signed-policy/index.js";
import { type Behaviour, DAY, behaviours } from "./behaviour.js";
import {
  type LabSigner,
  PAYLOAD_TYPE,
  type PolicyFeed,
  type VersionChanges,
  newTeam,
  timesFrom,
} from "./policy-feed.js";

const HUGE = 8 * 1024 * 1024;

/** A consumer with a state refuses the feed with `code`. Null: it is not refused. */
function fault(what: string, code: SignedPolicyCode | null, feed: NonNullable<Behaviour["feed"]>): Behaviour {
  return { what, fails: [], code, feed };
}

/** One version more, with something wrong. */
function next(changes: (feed: PolicyFeed) => VersionChanges): (feed: PolicyFeed) => string {
  return (feed) => feed.text + feed.next(changes(feed)).line;
}
type Choice = (old: readonly LabSigner[], young: readonly LabSigner[]) => readonly LabSigner[];
function rotation(by: Choice): (feed: PolicyFeed) => string {
  return next(({ team: old }) => {
    const team = newTeam();
    return { team, by: by(old, team) };
  });
}
const duplicated = (text: string): string => text.replace("{", `{"payloadType":"${PAYLOAD_TYPE}",`);

export const FEED_BEHAVIOURS = behaviours({
  "feed-rolled-back": fault("the newest version is missing", "version", ({ older }) => older),
  "feed-forked": fault("the newest version is another one", "fork", (feed) => feed.older + feed.other().line),
  "feed-gap": fault("a version is missing", "version", (feed) => feed.text + feed.next({}, feed.next({})).line),
  "feed-expired": fault(
    "the newest version has expired: policy.current fails",
    null,
    next(({ now }) => ({ members: timesFrom(now().getTime(), 1) })),
  ),
  "feed-too-few-signers": fault(
    "one key of two signed",
    "signatures",
    next(({ team }) => ({ by: team.slice(0, 1) })),
  ),
  "feed-one-key-twice": fault(
    "one key signed twice",
    "signatures",
    next(({ team: [key] }) => ({ by: [key!, key!] })),
  ),
  "feed-old-set-only": fault(
    "new signers did not sign",
    "signatures",
    rotation((old) => old),
  ),
  "feed-new-set-only": fault(
    "only new signers signed",
    "signatures",
    rotation((_, young) => young),
  ),
  "feed-other-name": fault(
    "the policy has another name",
    "name",
    next(() => ({ members: { name: "other" } })),
  ),
  "feed-other-payload-type": fault(
    "the payload has another type",
    "malformed",
    next(() => ({ envelope: (text) => text.replace(PAYLOAD_TYPE, "application/json") })),
  ),
  "feed-duplicate-members": fault(
    "a member occurs twice",
    "malformed",
    next(() => ({ envelope: duplicated })),
  ),
  "feed-from-the-future": fault(
    "the newest version is issued tomorrow: it is not used yet",
    null,
    next(({ now }) => ({ members: timesFrom(now().getTime() + DAY) })),
  ),
  "feed-huge": fault("the feed is larger than 8 MiB", "malformed", ({ text }) => " ".repeat(HUGE) + text),
  "feed-slow": fault("the feed never comes", "fetch", () => new Promise<never>(() => {})),
  "feed-changes": fault("every other read has another newest version", "fork", (feed) =>
    feed.reads++ % 2 === 0 ? feed.text : feed.older + feed.other().line,
  ),
});
