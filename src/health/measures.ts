/** The metrics of a state, by Prometheus' conventions (health/README.md, "Metrics"). */
import type { HealthCommand, HealthState, WatchedState } from "./state.js";

interface Value {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Measure {
  /** A name that ends with `_total` is that of a counter, any other that of a gauge. */
  readonly name: string;
  readonly help: string;
  /** Values of the metric in this state. A metric without a value has no series. */
  readonly values: (state: HealthState) => readonly Value[];
}

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

const BUILD: Measure = {
  name: "bootproof_build_info",
  help: "1, labelled with the version and the command.",
  values: ({ version, command }) => [{ labels: { version, command }, value: 1 }],
};

const READY: Measure = {
  name: "bootproof_ready",
  help: "1 if /readyz reports 200: the process does its work.",
  values: ({ isReady }) => single(isReady ? 1 : 0),
};

const WATCH: readonly Measure[] = [
  {
    name: "bootproof_watch_polls_total",
    help: "Polls of this application or key.",
    values: (state) => each(state, ({ polls }) => polls),
  },
  {
    name: "bootproof_watch_failed_polls_total",
    help: "Polls in which this application or key could not be fetched or read.",
    values: (state) => each(state, ({ failedPolls }) => failedPolls),
  },
  {
    name: "bootproof_watch_outages_total",
    help: "Outages that began.",
    values: (state) => each(state, ({ outages }) => outages),
  },
  {
    name: "bootproof_watch_outage",
    help: "1 while this application or key cannot be fetched or read.",
    values: (state) => each(state, ({ outageSince }) => (outageSince === null ? 0 : 1)),
  },
  {
    name: "bootproof_watch_refusals_total",
    help: "Refusals that this process found.",
    values: (state) => each(state, ({ refusals }) => refusals),
  },
  {
    name: "bootproof_watch_refused",
    help: "1 while the newest boot proof of this application or key is refused. No series before the first verdict.",
    values: (state) => each(state, ({ isRefused }) => (isRefused === null ? null : Number(isRefused))),
  },
  {
    name: "bootproof_watch_setting_refused",
    help: "1 while a reload of the policy is refused. The previous policy stays in use.",
    values: ({ status }) => single(status && Number(status.settingRefusedSince !== null)),
  },
  {
    name: "bootproof_watch_setting_read_timestamp_seconds",
    help: "Time at which the active policy was read: the start, or the last successful reload.",
    values: ({ status }) => single(seconds(status && status.settingReadAt)),
  },
  {
    name: "bootproof_watch_policy_info",
    help: "1, labelled with the SHA-256 of the active policy.",
    values: ({ status }) =>
      status === null || status.policyDigest === null
        ? []
        : [{ labels: { policy_digest: status.policyDigest }, value: 1 }],
  },
  {
    name: "bootproof_watch_log_writable",
    help: "1 if the log accepts entries, or there is no log. 0 while its disk refuses them.",
    values: ({ status }) => single(status && Number(status.isLogWritable)),
  },
  {
    name: "bootproof_watch_undelivered",
    help: "Refusals and outages that --on-refusal or --on-outage has not received.",
    values: ({ status }) => single(status && status.undelivered.count),
  },
  {
    name: "bootproof_watch_undelivered_age_seconds",
    help: "Seconds since the time of the oldest undelivered entry. No series if all are delivered.",
    values: (state) => single(age(state.status && state.status.undelivered.oldest, state)),
  },
  {
    name: "bootproof_watch_checkpoint_entries",
    help: "Entries that the newest checkpoint of this process covers.",
    values: ({ checkpoint }) => single(checkpoint && checkpoint.entries),
  },
  {
    name: "bootproof_watch_checkpoint_timestamp_seconds",
    help: "Time of the newest checkpoint of this process.",
    values: ({ checkpoint }) => single(seconds(checkpoint && checkpoint.at)),
  },
  {
    name: "bootproof_watch_entries_total",
    help: "Entries that this process recorded in the log.",
    values: ({ entries }) => single(entries),
  },
  {
    name: "bootproof_watch_last_good_poll_timestamp_seconds",
    help: "Time of the last good poll. No series before the first good poll.",
    values: (state) => each(state, ({ seenAt }) => seconds(seenAt)),
  },
  {
    name: "bootproof_watch_last_good_poll_age_seconds",
    help: "Seconds since the last good poll, or since the start if there was none.",
    values: (state) => each(state, ({ seenAge }) => seenAge),
  },
  {
    name: "bootproof_watch_evidence_timestamp_seconds",
    help: "Time in the newest verified attestation document.",
    values: (state) => each(state, ({ evidenceAt }) => seconds(evidenceAt)),
  },
  {
    name: "bootproof_watch_evidence_age_seconds",
    help: "Seconds since the time in the newest verified attestation document.",
    values: (state) => each(state, ({ evidenceAt }) => age(evidenceAt, state)),
  },
];

/** Returns the measures of a worker or an audit. Only the prefix of the names differs. */
function workOf(prefix: string): readonly Measure[] {
  return [
    {
      name: `${prefix}_entries_total`,
      help: "Entries that were judged.",
      values: ({ entries }) => single(entries),
    },
    {
      name: `${prefix}_refusals_total`,
      help: "Entries that were not accepted.",
      values: ({ refused }) => single(refused),
    },
    {
      name: `${prefix}_entries_per_second`,
      help: "Entries judged a second, over the last minute.",
      values: ({ rate }) => single(rate),
    },
    {
      name: `${prefix}_last_good_timestamp_seconds`,
      help: "Time of the last judged entry, or of the end of a run with nothing to add. No series before the first.",
      values: ({ goodAt }) => single(seconds(goodAt)),
    },
    {
      name: `${prefix}_last_good_age_seconds`,
      help: "Seconds since the last judged entry, or since the start if there was none.",
      values: ({ goodAge }) => single(goodAge),
    },
    {
      name: `${prefix}_evidence_timestamp_seconds`,
      help: "Newest time in a verified attestation document.",
      values: ({ evidenceAt }) => single(seconds(evidenceAt)),
    },
    {
      name: `${prefix}_evidence_age_seconds`,
      help: "Seconds since the newest time in a verified attestation document.",
      values: (state) => single(age(state.evidenceAt, state)),
    },
  ];
}

function queueOf(prefix: string): readonly Measure[] {
  return [
    {
      name: `${prefix}_queue_connected`,
      help: "1 while the queue's server is connected.",
      values: ({ queue }) => single(queue === null ? null : Number(queue.isConnected)),
    },
    {
      name: `${prefix}_queue_contact_timestamp_seconds`,
      help: "Time of the last contact with the queue's server.",
      values: ({ queue }) => single(seconds(queue && queue.contactAt)),
    },
    {
      name: `${prefix}_queue_contact_age_seconds`,
      help: "Seconds since the last contact with the queue's server, or since the start if there was none.",
      values: ({ queue }) => single(queue && queue.contactAge),
    },
    {
      name: `${prefix}_queue_outages_total`,
      help: "Connections to the queue's server that were lost.",
      values: ({ queue }) => single(queue === null ? null : queue.outages),
    },
    {
      name: `${prefix}_queue_waiting`,
      help: "Jobs that no worker has taken.",
      values: ({ queue }) => single(queue === null ? null : queue.waiting),
    },
  ];
}

/** The metrics of each command, in the order of the output. */
export const MEASURES: Readonly<Record<HealthCommand, readonly Measure[]>> = {
  watch: [BUILD, READY, ...WATCH],
  worker: [BUILD, READY, ...workOf("bootproof_worker"), ...queueOf("bootproof_worker")],
  audit: [BUILD, READY, ...workOf("bootproof_audit"), ...queueOf("bootproof_audit")],
};
