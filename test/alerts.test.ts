/**
 * The alerts of docs/operations.md: which of them fire, and which are silent, over an hour of the real `/metrics` of a
 * watch, a worker and an audit. kube-state-metrics is made by hand. Each rule is evaluated by `support/promql.ts`, and
 * by Prometheus itself where promtool is installed (Debian: apt-get install prometheus).
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import type { WatchPoll } from "../src/run/health.js";
import type { WatchStatus } from "../src/run/index.js";
import { type Health, startHealth } from "../src/run/node.js";
import { testFolder } from "./support/folder.js";
import { type Rule, type Series, firing } from "./support/promql.js";
import { ROOT } from "./tracked.mjs";

const document = readFileSync(join(ROOT, "docs/operations.md"), "utf8");
const blocks = [...document.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text]) => text!);
const alerts = blocks.find((text) => text.startsWith("groups:"))!;
const scraping = blocks.find((text) => text.startsWith("scrape_configs:"))!;
const { groups } = parse(alerts) as { readonly groups: readonly [{ readonly rules: readonly Rule[] }] };
const { rules } = groups[0];
const folder = testFolder();
const HAS_PROMTOOL = spawnSync("promtool", ["--version"]).status === 0;

const MINUTES = 60;
const DAY = 86_400;
/** What a process reports in each minute. `down`: it does not respond; `gone`: Prometheus does not know it. */
type Act = (health: Health, minute: number) => unknown;
type Kube = Readonly<Record<string, number | null>>;

/** The time of the processes in seconds. promtool's tests begin at 0. */
let clock = 0;
const now = (): Date => new Date(1000 * clock);

const WELL: WatchStatus = {
  settingRefusedSince: null,
  settingReadAt: new Date(0),
  policyDigest: "91ab",
  policyExpiresAt: null,
  isFeedContradicted: false,
  undelivered: { count: 0, oldest: null },
};

const polled = (change: Partial<WatchPoll> = {}, status: Partial<WatchStatus> = {}): Act => {
  const seen = { failure: null, isRefused: false, refusals: 0, evidenceAt: new Date(0), recorded: 1 };
  return (health, minute) => {
    health.poll({ at: now(), watched: { app: "signer" }, polls: minute + 1, ...seen, ...change });
    health.status({ ...WELL, ...status });
    if (minute % 60 === 0) health.checkpoint({ entries: 7, at: now() });
  };
};
const worked = ({ waiting = 3, entriesOf = (minute: number) => 10 * minute + 1, isConnected = true } = {}): Act => {
  return (health, minute) => {
    health.queue({ server: "redis://a", isConnected, waiting });
    health.work({ entries: entriesOf(minute), refused: 0, evidenceAt: null });
  };
};
const gone: Act = () => "gone";

const CRON = '{namespace="default",cronjob="bootproof-audit"}';
const NIGHT = '{namespace="default",job_name="bootproof-audit-29012345",condition="true"}';
const KUBE: Kube = {
  [`kube_cronjob_created${CRON}`]: -30 * DAY,
  [`kube_cronjob_status_last_successful_time${CRON}`]: -4 * 3600,
  [`kube_job_failed${NIGHT}`]: 0,
};

interface Hour {
  readonly watch: Act;
  readonly worker: Act;
  readonly audit: Act;
  readonly kube: Kube;
}
const ALL_WELL: Hour = { watch: polled(), worker: worked(), audit: gone, kube: KUBE };
const failure = { kind: "unreachable", message: "", retryAfterMs: null } as const;
const fromMinute = (first: number, before: Act, after: Act): Act => {
  return (health, minute) => (minute < first ? before : after)(health, minute);
};

/** What happens in an hour, and exactly the alerts that fire at its end. */
const HOURS: readonly (readonly [string, Partial<Hour>, readonly string[]])[] = [
  ["all is well", {}, []],
  ["an audit runs, too", { audit: worked({ waiting: 0 }) }, []],
  [
    "a poll fails now and then",
    { watch: (health, minute) => polled(minute % 5 ? {} : { failure })(health, minute) },
    [],
  ],
  ["the watch does not respond", { watch: fromMinute(20, polled(), () => "down") }, ["TargetDown"]],
  ["the watch is gone", { watch: fromMinute(20, polled(), gone) }, ["WatchMissing"]],
  [
    "the watch hangs, and its server responds",
    { watch: fromMinute(10, polled(), () => {}) },
    ["BootProofsNotSeen", "WatchStopped"],
  ],
  ["the workers are gone", { worker: gone }, ["WorkerMissing"]],
  ["a boot proof is refused", { watch: polled({ isRefused: true, refusals: 1 }) }, ["BootProofRefused"]],
  ["the service is away", { watch: fromMinute(10, polled(), polled({ failure })) }, ["BootProofsNotSeen", "NotReady"]],
  [
    "nothing was ever seen",
    { watch: polled({ failure, isRefused: null, evidenceAt: null }) },
    ["BootProofsNotSeen", "NotReady"],
  ],
  [
    "the clock of the watch was set back by a day",
    {
      watch: (health, minute) =>
        minute === 10 ? void (skew = -DAY) : minute > 10 ? undefined : polled()(health, minute),
    },
    ["BootProofsNotSeen", "WatchStopped"],
  ],
  [
    "a hook does not respond",
    { watch: polled({}, { undelivered: { count: 2, oldest: new Date(0) } }) },
    ["Undelivered"],
  ],
  [
    "the disk of the log is full, and each start ends",
    { watch: fromMinute(20, polled(), () => "down") },
    ["TargetDown"],
  ],
  [
    "a reload is refused",
    { watch: polled({}, { settingRefusedSince: new Date(0) }) },
    ["NotReady", "PolicyNotReloaded"],
  ],
  ["a signed policy has ten days", { watch: polled({}, { policyExpiresAt: new Date(10 * DAY * 1000) }) }, []],
  [
    "a signed policy expires tomorrow",
    { watch: polled({}, { policyExpiresAt: new Date((DAY + MINUTES * 30) * 1000) }) },
    ["PolicyExpires"],
  ],
  [
    "the feed of the policy is rolled back",
    { watch: polled({}, { settingRefusedSince: new Date(0), isFeedContradicted: true }) },
    ["NotReady", "PolicyFeedRefused", "PolicyNotReloaded"],
  ],
  [
    "no checkpoint is signed",
    {
      watch: (health, minute) => {
        polled()(health, minute);
        health.checkpoint({ entries: 7, at: new Date(-2 * 3600 * 1000) });
      },
    },
    ["CheckpointOld"],
  ],
  ["the evidence is old", { watch: polled({ evidenceAt: new Date(-30 * DAY * 1000) }) }, ["EvidenceOld"]],
  [
    "the queue's server is away",
    { worker: fromMinute(10, worked(), worked({ isConnected: false })) },
    ["NotReady", "QueueLost"],
  ],
  [
    "a worker judges nothing, though jobs wait",
    { worker: worked({ entriesOf: () => 1 }) },
    ["NotReady", "WorkerStalled"],
  ],
  ["a worker has nothing to do", { worker: worked({ entriesOf: () => 1, waiting: 0 }) }, []],
  ["too few workers", { worker: worked({ waiting: 200 }) }, ["QueueGrows"]],
  ["no worker takes an audit's jobs", { audit: worked({ entriesOf: () => 0 }) }, ["AuditStalled", "NotReady"]],
  [
    "an audit's queue is away",
    { audit: fromMinute(5, worked(), worked({ isConnected: false, entriesOf: () => 1 })) },
    ["AuditStalled", "NotReady", "QueueLost"],
  ],
  ["a night failed", { kube: { ...KUBE, [`kube_job_failed${NIGHT}`]: 1 } }, ["AuditFailed"]],
  [
    "no night ran",
    { kube: { ...KUBE, [`kube_cronjob_status_last_successful_time${CRON}`]: -27 * 3600 } },
    ["AuditNotRun"],
  ],
  [
    "no night ever succeeded",
    { kube: { ...KUBE, [`kube_cronjob_status_last_successful_time${CRON}`]: null } },
    ["AuditNeverRan"],
  ],
  [
    "a new CronJob has not run yet",
    {
      kube: {
        [`kube_cronjob_created${CRON}`]: -3600,
        [`kube_cronjob_status_last_successful_time${CRON}`]: null,
      },
    },
    [],
  ],
  ["kube-state-metrics is gone", { kube: {} }, ["AuditUnknown"]],
];

/** Seconds by which the wall clock of a process is wrong. */
let skew = 0;

type Samples = Map<string, (number | null)[]>;
const minutes = (value: number | null): (number | null)[] => Array.from({ length: MINUTES }, () => value);

/** Scrapes a real process once a minute. Its monotonic clock is the scraper's. */
async function scrapedOf(job: string, act: Act): Promise<Samples> {
  const samples: Samples = new Map();
  const put = (key: string, minute: number, value: number): void => {
    if (!samples.has(key)) samples.set(key, minutes(null));
    samples.get(key)![minute] = value;
  };
  [clock, skew] = [0, 0];
  const subject = job === "watch" ? { watched: [{ app: "signer" }] } : { hasQueue: true };
  const health = await startHealth({
    subject: { command: job as "watch", ...subject },
    metrics: { host: "127.0.0.1", port: 0 },
    now: () => new Date(1000 * (clock + skew)),
    monotonic: () => 1000 * clock,
  });
  for (let minute = 0; minute < MINUTES; minute++) {
    clock = 60 * minute;
    const outcome = act(health, minute);
    const target = `job="bootproof-${job}",instance="${job}-1:9464"`;
    if (outcome !== "gone") put(`up{${target}}`, minute, outcome === "down" ? 0 : 1);
    if (outcome === "down" || outcome === "gone") continue;
    for (const line of (await (await fetch(`${health.url!}/metrics`)).text()).split("\n")) {
      const [, name, labels = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      if (name !== undefined) put(`${name}{${[target, labels].filter(Boolean).join(",")}}`, minute, Number(value));
    }
  }
  await health.close();
  return samples;
}

/** A process in which nothing is changed is the same in all hours. */
const scrapes = new Map<string, Map<Act, Promise<Samples>>>();
function scrapedOnce(job: string, act: Act): Promise<Samples> {
  const known = scrapes.get(job) ?? new Map<Act, Promise<Samples>>();
  scrapes.set(job, known);
  if (!known.has(act)) known.set(act, scrapedOf(job, act));
  return known.get(act)!;
}

async function scraped({ kube, ...jobs }: Hour): Promise<Series[]> {
  const samples: [string, (number | null)[]][] = [];
  // One after another, since they share a clock.
  for (const [job, act] of Object.entries(jobs)) samples.push(...(await scrapedOnce(job, act)));
  for (const [key, value] of Object.entries(kube)) if (value !== null) samples.push([key, minutes(value)]);
  return samples.map(([key, values]) => {
    const [, name, labels] = /^(\w+)\{(.*)\}$/.exec(key)!;
    const pairs = [...labels!.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label!, text!]);
    return { name: name!, labels: Object.fromEntries(pairs) as Record<string, string>, values };
  });
}

/** Returns the alerts that fire at the end of the hour by promtool, which has it as an expression of a test. */
function byPromtool(series: readonly Series[], expected: readonly string[]): string {
  writeFileSync(join(folder, "rules.yml"), alerts);
  const labelled = ({ name, labels }: Series): string =>
    `${name}{${Object.entries(labels)
      .map(([label, text]) => `${label}="${text}"`)
      .join(",")}}`;
  const test = {
    rule_files: ["rules.yml"],
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        input_series: series.map((one) => ({
          series: labelled(one),
          values: one.values.map((value) => value ?? "stale").join(" "),
        })),
        promql_expr_test: [
          {
            expr: 'count by (alertname) (ALERTS{alertstate="firing"}) > bool 0',
            eval_time: `${MINUTES - 1}m`,
            exp_samples: expected.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
          },
        ],
      },
    ],
  };
  writeFileSync(join(folder, "test.yml"), stringify(test));
  const { stdout, stderr } = spawnSync("promtool", ["test", "rules", join(folder, "test.yml")], { encoding: "utf8" });
  return /SUCCESS/.test(stdout) ? "" : stdout + stderr;
}

describe("the alerts", () => {
  it.each(HOURS)("when %s", async (_, change, expected) => {
    const series = await scraped({ ...ALL_WELL, ...change });
    const fired = rules.filter((rule) => firing(rule, series).includes(MINUTES - 1)).map(({ alert }) => alert);
    expect(fired.toSorted()).toEqual([...expected]);
    if (HAS_PROMTOOL) expect(byPromtool(series, expected)).toBe("");
  });

  it("each fire in one of these hours", () => {
    const fired = new Set(HOURS.flatMap(([, , expected]) => expected));
    expect([...fired].toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
  });

  it.runIf(HAS_PROMTOOL)("and the configuration of the scrape are Prometheus's", () => {
    // Debian's promtool is built without Kubernetes.
    const elsewhere = scraping.replace("kubernetes_sd_configs:\n      - role: pod\n", "static_configs: []\n");
    expect(elsewhere).not.toBe(scraping);
    for (const [name, text, kind] of [
      ["rules.yml", alerts, "rules"],
      ["prometheus.yml", elsewhere, "config"],
    ] as const) {
      writeFileSync(join(folder, name), text);
      const { status, stdout, stderr } = spawnSync("promtool", ["check", kind, join(folder, name)], {
        encoding: "utf8",
      });
      expect([status, stdout + stderr]).toEqual([0, expect.stringMatching(/SUCCESS/)]);
    }
  });
});

interface Relabel {
  readonly source_labels: readonly string[];
  readonly regex?: string;
  readonly action?: "keep" | "drop";
  readonly target_label?: string;
}

describe("the configuration of the scrape", () => {
  const { scrape_configs: configs } = parse(scraping) as {
    readonly scrape_configs: readonly { readonly job_name: string; readonly relabel_configs?: readonly Relabel[] }[];
  };
  /** The job of a pod's port by the rules of relabelling; null if it is no target. */
  const jobOf = (app: string, port: string, phase: string): string | null => {
    const labels: Record<string, string> = {
      __meta_kubernetes_pod_label_app: app,
      __meta_kubernetes_pod_container_port_name: port,
      __meta_kubernetes_pod_phase: phase,
    };
    for (const { source_labels: names, regex = "(.*)", action, target_label: target } of configs[0]!.relabel_configs!) {
      const value = names.map((name) => labels[name] ?? "").join(";");
      const isMatch = new RegExp(`^(?:${regex})$`).test(value);
      if ((action === "keep" && !isMatch) || (action === "drop" && isMatch)) return null;
      if (target !== undefined && isMatch) labels[target] = value;
    }
    return labels["job"] ?? configs[0]!.job_name;
  };

  it("makes each pod of the manifests a target by its label, unless it has ended", () => {
    const pods = [...document.matchAll(/^ +labels: \{ app: (\S+) \}\n/gm)].map(([, app]) => app!);
    expect(pods).toEqual(["bootproof-watch", "bootproof-worker", "bootproof-audit"]);
    for (const app of pods) {
      expect(jobOf(app, "metrics", "Running")).toBe(app);
      expect(jobOf(app, "metrics", "Succeeded")).toBe(null);
      expect(jobOf(app, "metrics", "Failed")).toBe(null);
      expect(jobOf(app, "other", "Running")).toBe(null);
    }
    expect(jobOf("another", "metrics", "Running")).toBe(null);
    expect(configs.map(({ job_name: name }) => name)).toContain("bootproof-watch");
  });
});
