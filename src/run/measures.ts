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

function single(value: number | null): readonly Value[] {
  return value === null ? [] : [{ labels: {}, value }];
}

function each(state: HealthState, valueOf: (watched: WatchedState) => number | null): readonly Value[] {
  return state.watched.flatMap((watched) => {
    const value = valueOf(watched);
    return value === null ? [] : [{ labels: labelsOf(watched), value }];
  });
}

function labelsOf({ app, ephemeralKey }: WatchedState): Value["labels"] {
  return app === null ? { ephemeral_key: ephemeralKey! } : { app };
}

function seconds(at: Date | null): number | null {
  return at === null ? null : at.getTime() / 1000;
}

/** Age of a time that a document or an earlier process wrote. A clock that was set back makes no negative age. */
function age(at: Date | null, { aliveAt }: HealthState): number | null {
  return at === null ? null : Math.max(0, aliveAt.getTime() - at.getTime()) / 1000;
}

export const LABELS = ["app", "ephemeral_key", "command", "version", "policy_digest"] as const;

const EACH: Measures = {
  bootproof_build_info: [
    "1, labelled with the version and the command.",
    ({ version, command }) => [{ labels: { version, command }, value: 1 }],
  ],
  bootproof_ready: ["1 if /readyz reports 200: the process does its work.", ({ isReady }) => single(Number(isReady))],
};

const WATCH: Measures = {
  bootproof_watch_polls_total: ["Polls of this application or key.", (state) => each(state, ({ polls }) => polls)],
  bootproof_watch_failed_polls_total: [
    "Polls in which this application or key could not be fetched or read.",
    (state) => each(state, ({ failedPolls }) => failedPolls),
  ],
  bootproof_watch_outages_total: ["Outages that began.", (state) => each(state, ({ outages }) => outages)],
  bootproof_watch_outage: [
    "1 while this application or key cannot be fetched or read.",
    (state) => each(state, ({ outageSince }) => (outageSince === null ? 0 : 1)),
  ],
  bootproof_watch_refusals_total: [
    "Refusals that this process found.",
    (state) => each(state, ({ refusals }) => refusals),
  ],
  bootproof_watch_refused: [
    "1 while the newest boot proof of this application or key is refused. No series before the first verdict.",
    (state) => each(state, ({ isRefused }) => (isRefused === null ? null : Number(isRefused))),
  ],
  bootproof_watch_setting_refused: [
    "1 while a reload of the policy is refused. The previous policy stays in use.",
    ({ status }) => single(status && Number(status.settingRefusedSince !== null)),
  ],
  bootproof_watch_setting_read_timestamp_seconds: [
    "Time at which the active policy was read: the start, or the last successful reload.",
    ({ status }) => single(seconds(status && status.settingReadAt)),
  ],
  bootproof_watch_policy_info: [
    "1, labelled with the SHA-256 of the active policy.",
    ({ status }) =>
      status === null || status.policyDigest === null
        ? []
        : [{ labels: { policy_digest: status.policyDigest }, value: 1 }],
  ],
  bootproof_watch_policy_expires_seconds: [
    "Seconds until the signed policy expires, and below 0 after that. No series if the policy is not signed.",
    ({ status, aliveAt }) =>
      single(status && status.policyExpiresAt && (status.policyExpiresAt.getTime() - aliveAt.getTime()) / 1000),
  ],
  bootproof_watch_policy_feed_refused: [
    "1 while the feed of the signed policy is rolled back or forked. The version before stays in use.",
    ({ status }) => single(status && Number(status.isFeedContradicted)),
  ],
  bootproof_watch_undelivered: [
    "Refusals and outages that --on-refusal or --on-outage has not received.",
    ({ status }) => single(status && status.undelivered.count),
  ],
  bootproof_watch_undelivered_age_seconds: [
    "Seconds since the time of the oldest undelivered entry. No series if all are delivered.",
    (state) => single(age(state.status && state.status.undelivered.oldest, state)),
  ],
  bootproof_watch_checkpoint_entries: [
    "Entries that the newest checkpoint of this process covers.",
    ({ checkpoint }) => single(checkpoint && checkpoint.entries),
  ],
  bootproof_watch_checkpoint_timestamp_seconds: [
    "Time of the newest checkpoint of this process.",
    ({ checkpoint }) => single(seconds(checkpoint && checkpoint.at)),
  ],
  bootproof_watch_entries_total: ["Entries that this process recorded in the log.", ({ entries }) => single(entries)],
  bootproof_watch_last_good_poll_timestamp_seconds: [
    "Time of the last good poll. No series before the first good poll.",
    (state) => each(state, ({ seenAt }) => seconds(seenAt)),
  ],
  bootproof_watch_last_good_poll_age_seconds: [
    "Seconds since the last good poll, or since the start if there was none.",
    (state) => each(state, ({ seenAge }) => seenAge),
  ],
  bootproof_watch_evidence_timestamp_seconds: [
    "Time in the newest verified attestation document.",
    (state) => each(state, ({ evidenceAt }) => seconds(evidenceAt)),
  ],
  bootproof_watch_evidence_age_seconds: [
    "Seconds since the time in the newest verified attestation document.",
    (state) => each(state, ({ evidenceAt }) => age(evidenceAt, state)),
  ],
};

/** Returns the measures of a worker or an audit. Only the prefix of the names differs. */
function workOf(prefix: string): Measures {
  return {
    [`${prefix}_entries_total`]: ["Entries that were judged.", ({ entries }) => single(entries)],
    [`${prefix}_refusals_total`]: ["Entries that were not accepted.", ({ refused }) => single(refused)],
    [`${prefix}_entries_per_second`]: ["Entries judged a second, over the last minute.", ({ rate }) => single(rate)],
    [`${prefix}_last_good_timestamp_seconds`]: [
      "Time of the last judged entry, or of the end of a run with nothing to add. No series before the first.",
      ({ goodAt }) => single(seconds(goodAt)),
    ],
    [`${prefix}_last_good_age_seconds`]: [
      "Seconds since the last judged entry, or since the start if there was none.",
      ({ goodAge }) => single(goodAge),
    ],
    [`${prefix}_evidence_timestamp_seconds`]: [
      "Newest time in a verified attestation document.",
      ({ evidenceAt }) => single(seconds(evidenceAt)),
    ],
    [`${prefix}_evidence_age_seconds`]: [
      "Seconds since the newest time in a verified attestation document.",
      (state) => single(age(state.evidenceAt, state)),
    ],
  };
}

function queueOf(prefix: string): Measures {
  return {
    [`${prefix}_queue_connected`]: [
      "1 while the queue's server is connected.",
      ({ queue }) => single(queue === null ? null : Number(queue.isConnected)),
    ],
    [`${prefix}_queue_contact_timestamp_seconds`]: [
      "Time of the last contact with the queue's server.",
      ({ queue }) => single(seconds(queue && queue.contactAt)),
    ],
    [`${prefix}_queue_contact_age_seconds`]: [
      "Seconds since the last contact with the queue's server, or since the start if there was none.",
      ({ queue }) => single(queue && queue.contactAge),
    ],
    [`${prefix}_queue_outages_total`]: [
      "Connections to the queue's server that were lost.",
      ({ queue }) => single(queue === null ? null : queue.outages),
    ],
    [`${prefix}_queue_waiting`]: [
      "Jobs that no worker has taken.",
      ({ queue }) => single(queue === null ? null : queue.waiting),
    ],
  };
}

/** The metrics of each command, in the order of the output. */
export const MEASURES: Readonly<Record<HealthCommand, Measures>> = {
  watch: { ...EACH, ...WATCH },
  worker: { ...EACH, ...workOf("bootproof_worker"), ...queueOf("bootproof_worker") },
  audit: { ...EACH, ...workOf("bootproof_audit"), ...queueOf("bootproof_audit") },
};
