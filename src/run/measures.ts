/** The metrics of a state, by Prometheus' conventions (run/README.md, "Health"). */
import type { HealthCommand, HealthState, WatchedState } from "./health.js";

interface Value {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Help, and the values in a state. A metric without a value has no series. */
type Measure = readonly [help: string, values: (state: HealthState) => readonly Value[]];

/** By name. One that ends with `_total` is a counter, any other a gauge. */
type Measures = Readonly<Record<string, Measure>>;

/** A number, 1 or 0, or a time in seconds. Otherwise there is no series. */
type Plain = number | boolean | Date | null | undefined;

function valuesOf(plain: Plain, labels: Value["labels"] = {}): readonly Value[] {
  if (plain === null || plain === undefined) return [];
  return [{ labels, value: plain instanceof Date ? plain.getTime() / 1000 : Number(plain) }];
}

function single(read: (state: HealthState) => Plain): Measure[1] {
  return (state) => valuesOf(read(state));
}

function each(read: (watched: WatchedState, state: HealthState) => Plain): Measure[1] {
  return (state) => state.watched.flatMap((watched) => valuesOf(read(watched, state), labelsOf(watched)));
}

function labelsOf({ app, ephemeralKey }: WatchedState): Value["labels"] {
  return app === null ? { ephemeral_key: ephemeralKey! } : { app };
}

/** Age of a time that a document or an earlier process wrote. A clock that was set back makes no negative age. */
function age(at: Date | null | undefined, { aliveAt }: HealthState): Plain {
  return at && Math.max(0, aliveAt.getTime() - at.getTime()) / 1000;
}

export const LABELS = ["app", "ephemeral_key", "command", "version", "policy_digest"] as const;

const EACH: Measures = {
  bootproof_build_info: [
    "1, labelled with the version and the command.",
    ({ version, command }) => valuesOf(1, { version, command }),
  ],
  bootproof_ready: ["1 if /readyz reports 200: the process does its work.", single(({ isReady }) => isReady)],
};

const WATCH: Measures = {
  bootproof_watch_polls_total: ["Polls of this application or key.", each(({ polls }) => polls)],
  bootproof_watch_failed_polls_total: [
    "Polls in which this application or key could not be fetched or read.",
    each(({ failedPolls }) => failedPolls),
  ],
  bootproof_watch_outages_total: ["Outages that began.", each(({ outages }) => outages)],
  bootproof_watch_outage: [
    "1 while this application or key cannot be fetched or read.",
    each(({ outageSince }) => outageSince !== null),
  ],
  bootproof_watch_refusals_total: ["Refusals that this process found.", each(({ refusals }) => refusals)],
  bootproof_watch_refused: [
    "1 while the newest boot proof of this application or key is refused. No series before the first verdict.",
    each(({ isRefused }) => isRefused),
  ],
  bootproof_watch_setting_refused: [
    "1 while a reload of the policy is refused. The previous policy stays in use.",
    single(({ status }) => status && status.settingRefusedSince !== null),
  ],
  bootproof_watch_setting_read_timestamp_seconds: [
    "Time at which the active policy was read: the start, or the last successful reload.",
    single(({ status }) => status?.settingReadAt),
  ],
  bootproof_watch_policy_info: [
    "1, labelled with the SHA-256 of the active policy.",
    ({ status }) => (status?.policyDigest ? valuesOf(1, { policy_digest: status.policyDigest }) : []),
  ],
  bootproof_watch_policy_expires_seconds: [
    "Seconds until the signed policy expires, and below 0 after that. No series if the policy is not signed.",
    single(
      ({ status, aliveAt }) => status?.policyExpiresAt && (status.policyExpiresAt.getTime() - aliveAt.getTime()) / 1000,
    ),
  ],
  bootproof_watch_policy_feed_refused: [
    "1 while the feed of the signed policy is rolled back or forked. The version before stays in use.",
    single(({ status }) => status?.isFeedContradicted),
  ],
  bootproof_watch_undelivered: [
    "Refusals and outages that --on-refusal or --on-outage has not received.",
    single(({ status }) => status?.undelivered.count),
  ],
  bootproof_watch_undelivered_age_seconds: [
    "Seconds since the time of the oldest undelivered entry. No series if all are delivered.",
    single((state) => age(state.status?.undelivered.oldest, state)),
  ],
  bootproof_watch_checkpoint_entries: [
    "Entries that the newest checkpoint of this process covers.",
    single(({ checkpoint }) => checkpoint?.entries),
  ],
  bootproof_watch_checkpoint_timestamp_seconds: [
    "Time of the newest checkpoint of this process.",
    single(({ checkpoint }) => checkpoint?.at),
  ],
  bootproof_watch_entries_total: ["Entries that this process recorded in the log.", single(({ entries }) => entries)],
  bootproof_watch_last_good_poll_timestamp_seconds: [
    "Time of the last good poll. No series before the first good poll.",
    each(({ seenAt }) => seenAt),
  ],
  bootproof_watch_last_good_poll_age_seconds: [
    "Seconds since the last good poll, or since the start if there was none.",
    each(({ seenAge }) => seenAge),
  ],
  bootproof_watch_evidence_timestamp_seconds: [
    "Time in the newest verified attestation document.",
    each(({ evidenceAt }) => evidenceAt),
  ],
  bootproof_watch_evidence_age_seconds: [
    "Seconds since the time in the newest verified attestation document.",
    each(({ evidenceAt }, state) => age(evidenceAt, state)),
  ],
};

/** Returns the measures of a worker or an audit, with those of a queue. Only the prefix of the names differs. */
function workOf(prefix: string): Measures {
  return {
    [`${prefix}_entries_total`]: ["Entries that were judged.", single(({ entries }) => entries)],
    [`${prefix}_refusals_total`]: ["Entries that were not accepted.", single(({ refused }) => refused)],
    [`${prefix}_entries_per_second`]: ["Entries judged a second, over the last minute.", single(({ rate }) => rate)],
    [`${prefix}_last_good_timestamp_seconds`]: [
      "Time of the last judged entry, or of the end of a run with nothing to add. No series before the first.",
      single(({ goodAt }) => goodAt),
    ],
    [`${prefix}_last_good_age_seconds`]: [
      "Seconds since the last judged entry, or since the start if there was none.",
      single(({ goodAge }) => goodAge),
    ],
    [`${prefix}_evidence_timestamp_seconds`]: [
      "Newest time in a verified attestation document.",
      single(({ evidenceAt }) => evidenceAt),
    ],
    [`${prefix}_evidence_age_seconds`]: [
      "Seconds since the newest time in a verified attestation document.",
      single((state) => age(state.evidenceAt, state)),
    ],
    [`${prefix}_queue_connected`]: [
      "1 while the queue's server is connected.",
      single(({ queue }) => queue?.isConnected),
    ],
    [`${prefix}_queue_contact_timestamp_seconds`]: [
      "Time of the last contact with the queue's server.",
      single(({ queue }) => queue?.contactAt),
    ],
    [`${prefix}_queue_contact_age_seconds`]: [
      "Seconds since the last contact with the queue's server, or since the start if there was none.",
      single(({ queue }) => queue?.contactAge),
    ],
    [`${prefix}_queue_outages_total`]: [
      "Connections to the queue's server that were lost.",
      single(({ queue }) => queue?.outages),
    ],
    [`${prefix}_queue_waiting`]: ["Jobs that no worker has taken.", single(({ queue }) => queue?.waiting)],
  };
}

/** The metrics of each command, in the order of the output. */
export const MEASURES: Readonly<Record<HealthCommand, Measures>> = {
  watch: { ...EACH, ...WATCH },
  worker: { ...EACH, ...workOf("bootproof_worker") },
  audit: { ...EACH, ...workOf("bootproof_audit") },
};
