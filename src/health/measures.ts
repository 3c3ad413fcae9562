/** The metrics of a state, by Prometheus' conventions (health/README.md, "Metrics"). */
import type { HealthCommand, HealthState, WatchedState } from "./state.js";

interface Value {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Measure {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  /** Values of the metric in this state. A metric without a value has no series. */
  readonly values: (state: HealthState, now: Date) => readonly Value[];
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

function age(at: Date | null, now: Date): number | null {
  return at === null ? null : (now.getTime() - at.getTime()) / 1000;
}

export const LABELS = ["app", "ephemeral_key", "command", "version"] as const;

const BUILD: Measure = {
  name: "bootproof_build_info",
  type: "gauge",
  help: "1, labelled with the version and the command.",
  values: ({ version, command }) => [{ labels: { version, command }, value: 1 }],
};

const READY: Measure = {
  name: "bootproof_ready",
  type: "gauge",
  help: "1 if /readyz reports 200. 0 in an outage, while a reload is refused, and before the first success.",
  values: ({ isReady }) => single(isReady ? 1 : 0),
};

const WATCH: readonly Measure[] = [
  {
    name: "bootproof_watch_polls_total",
    type: "counter",
    help: "Polls, each of all watched applications and keys.",
    values: ({ polls }) => single(polls),
  },
  {
    name: "bootproof_watch_failed_polls_total",
    type: "counter",
    help: "Polls in which this application or key could not be fetched or read.",
    values: (state) => each(state, ({ failedPolls }) => failedPolls),
  },
  {
    name: "bootproof_watch_outages_total",
    type: "counter",
    help: "Outages that began.",
    values: (state) => each(state, ({ outages }) => outages),
  },
  {
    name: "bootproof_watch_outage",
    type: "gauge",
    help: "1 while this application or key cannot be fetched or read.",
    values: (state) => each(state, ({ outageSince }) => (outageSince === null ? 0 : 1)),
  },
  {
    name: "bootproof_watch_refusals_total",
    type: "counter",
    help: "Refusals that this process recorded.",
    values: (state) => each(state, ({ refusals }) => refusals),
  },
  {
    name: "bootproof_watch_refused",
    type: "gauge",
    help: "1 while the newest boot proof of this application or key is refused.",
    values: (state) => each(state, ({ isRefused }) => (isRefused ? 1 : 0)),
  },
  {
    name: "bootproof_watch_setting_refused",
    type: "gauge",
    help: "1 while a reload of the policy is refused. The previous policy stays in use.",
    values: ({ settingRefusedSince }) => single(settingRefusedSince === null ? 0 : 1),
  },
  {
    name: "bootproof_watch_entries_total",
    type: "counter",
    help: "Entries that this process recorded in the log.",
    values: ({ entries }) => single(entries),
  },
  {
    name: "bootproof_watch_last_good_poll_timestamp_seconds",
    type: "gauge",
    help: "Time of the last good poll. No series before the first good poll.",
    values: (state) => each(state, ({ seenAt }) => seconds(seenAt)),
  },
  {
    name: "bootproof_watch_last_good_poll_age_seconds",
    type: "gauge",
    help: "Seconds since the last good poll, or since the start if there was none.",
    values: (state, now) => each(state, ({ seenAt }) => age(seenAt ?? state.startedAt, now)),
  },
  {
    name: "bootproof_watch_evidence_timestamp_seconds",
    type: "gauge",
    help: "Time in the newest verified attestation document.",
    values: (state) => each(state, ({ evidenceAt }) => seconds(evidenceAt)),
  },
  {
    name: "bootproof_watch_evidence_age_seconds",
    type: "gauge",
    help: "Seconds since the time in the newest verified attestation document.",
    values: (state, now) => each(state, ({ evidenceAt }) => age(evidenceAt, now)),
  },
];

/** Returns the measures of a worker or an audit. Only the prefix of the names differs. */
function workOf(prefix: string): readonly Measure[] {
  return [
    {
      name: `${prefix}_entries_total`,
      type: "counter",
      help: "Entries that were judged.",
      values: ({ entries }) => single(entries),
    },
    {
      name: `${prefix}_refusals_total`,
      type: "counter",
      help: "Entries that were not accepted.",
      values: ({ refused }) => single(refused),
    },
    {
      name: `${prefix}_entries_per_second`,
      type: "gauge",
      help: "Entries judged a second, over the last minute.",
      values: ({ rate }) => single(rate),
    },
    {
      name: `${prefix}_last_good_timestamp_seconds`,
      type: "gauge",
      help: "Time of the last contact with the queue or last judged batch. No series before the first.",
      values: ({ goodAt }) => single(seconds(goodAt)),
    },
    {
      name: `${prefix}_last_good_age_seconds`,
      type: "gauge",
      help: "Seconds since the last contact with the queue or last judged batch, or since the start if there was none.",
      values: ({ goodAt, startedAt }, now) => single(age(goodAt ?? startedAt, now)),
    },
    {
      name: `${prefix}_evidence_timestamp_seconds`,
      type: "gauge",
      help: "Newest time in a verified attestation document.",
      values: ({ evidenceAt }) => single(seconds(evidenceAt)),
    },
    {
      name: `${prefix}_evidence_age_seconds`,
      type: "gauge",
      help: "Seconds since the newest time in a verified attestation document.",
      values: ({ evidenceAt }, now) => single(age(evidenceAt, now)),
    },
  ];
}

function queueOf(prefix: string): readonly Measure[] {
  return [
    {
      name: `${prefix}_queue_connected`,
      type: "gauge",
      help: "1 while the queue's server is connected.",
      values: ({ queue }) => single(queue === null ? null : Number(queue.isConnected)),
    },
    {
      name: `${prefix}_queue_outages_total`,
      type: "counter",
      help: "Connections to the queue's server that were lost.",
      values: ({ queue }) => single(queue === null ? null : queue.outages),
    },
    {
      name: `${prefix}_queue_waiting`,
      type: "gauge",
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
