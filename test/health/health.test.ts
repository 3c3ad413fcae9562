/** The health of a process: its state, its file, and what it serves. */
import { mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Health,
  type HealthOptions,
  type HealthPoll,
  type HealthState,
  startHealth,
} from "../../src/health/node.js";
import { TOOL } from "../../src/version.js";
import { testFolder } from "../support/folder.js";

const folder = testFolder();

const START = Date.parse("2026-03-04T05:06:07.000Z");
const ANY_PORT = { host: "127.0.0.1", port: 0 };
const KEY = "04ab";
const BOTH = { command: "watch", watched: [{ app: "signer" }, { ephemeralKey: KEY }] } as const;

let clock = START;
let files = 0;
const newPath = (): string => join(folder, `health-${files++}.json`);
const now = (): Date => new Date(clock);
const pass = (seconds: number): number => (clock += 1000 * seconds);
beforeEach(() => void (clock = START));

const open: Health[] = [];
afterEach(async () => {
  for (const health of open.splice(0)) await health.close();
});

async function started(options: Partial<HealthOptions> & Pick<HealthOptions, "subject">): Promise<Health> {
  const health = await startHealth({ now, ...options });
  open.push(health);
  return health;
}

/** What a poll saw: null is a good one. */
function poll(signer: string | null, key: string | null = null, more: object = {}): HealthPoll {
  const seen = { isRefused: false, refusals: 0, evidenceAt: null, ...more };
  return {
    recorded: 3,
    watched: [
      { watched: { app: "signer" }, failure: signer === null ? null : { kind: signer }, ...seen },
      { watched: { ephemeralKey: KEY }, failure: key === null ? null : { kind: key }, ...seen },
    ],
  };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

function get(url: string, { method = "GET", headers = {} } = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => (text += piece));
      response.on("end", () => resolve({ status: response.statusCode!, text, headers: response.headers }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** The lines of `/metrics` without comments, by name and labels. */
async function metricsOf(health: Health): Promise<Readonly<Record<string, number>>> {
  const { text } = await get(`${health.url!}/metrics`);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
  );
}

describe("the state of a watch", () => {
  it("is not ready while a reload is refused, though all is seen, and is again afterwards", async () => {
    const health = await started({ subject: BOTH, metrics: ANY_PORT });
    const since = new Date(START);
    const stateAfter = async (settingRefusedSince: Date | null): Promise<unknown[]> => {
      health.poll({ ...poll(null), settingRefusedSince });
      const { status } = await get(`${health.url!}/readyz`);
      const { bootproof_watch_setting_refused: refused } = await metricsOf(health);
      return [status, refused, health.state().settingRefusedSince];
    };
    expect(await stateAfter(null)).toEqual([200, 0, null]);
    expect(await stateAfter(since)).toEqual([503, 1, since]);
    expect(await stateAfter(null)).toEqual([200, 0, null]);
  });

  it("has the outages of each name, and the last poll that saw all", async () => {
    const health = await started({ subject: BOTH });
    const after = (at: Date | null): unknown => (at === null ? "-" : (at.getTime() - START) / 1000);
    // When each was last seen, since when it is not, its outages and failed polls; and the last poll that saw all.
    const states = (): unknown => {
      const { watched, isReady, goodAt } = health.state();
      const names = watched.map(({ seenAt, outageSince, outages, failedPolls }) =>
        [after(seenAt), after(outageSince), outages, failedPolls].join(" "),
      );
      return [...names, isReady, after(goodAt)];
    };
    expect(states()).toEqual(["- - 0 0", "- - 0 0", false, "-"]);
    for (const [polls, ...expected] of [
      [[poll(null, "missing")], "1 - 0 0", "- 1 1 1", false, "-"],
      [[poll(null)], "2 - 0 0", "2 - 1 1", true, 2],
      [["unreachable", "credentials", "unreachable"].map((kind) => poll(kind)), "2 3 1 3", "5 - 1 1", false, 2],
      [[poll(null)], "6 - 1 3", "6 - 1 1", true, 6],
    ] as const) {
      for (const one of polls) {
        pass(1);
        health.poll(one);
      }
      expect(states()).toEqual(expected);
    }
    expect(health.state()).toMatchObject({ polls: 6, entries: 3, command: "watch", version: TOOL.version });
  });

  it("keeps no object of the caller", async () => {
    const watched = [{ app: "signer" }];
    const health = await started({ subject: { command: "watch", watched } });
    watched[0]!.app = "other";
    expect(health.state().watched[0]!.app).toBe("signer");
  });
});

describe("the state of a worker", () => {
  const contact = { server: "redis://127.0.0.1:6379", isConnected: true, waiting: 4 };

  it("is ready while the queue is connected, and was seen in the last 15 seconds", async () => {
    const health = await started({ subject: { command: "worker" } });
    const isReady = (): boolean => health.state().isReady;
    expect(isReady()).toBe(false);
    health.queue(contact);
    expect(isReady()).toBe(true);
    pass(15);
    expect(isReady()).toBe(true);
    pass(1);
    expect(isReady()).toBe(false);
    health.queue(contact);
    health.queue({ ...contact, isConnected: false });
    health.queue({ ...contact, isConnected: false });
    expect([isReady(), health.state().queue!.outages]).toEqual([false, 1]);
    expect(health.state().goodAt!.getTime()).toBe(START + 16_000);
    health.queue(contact);
    expect([isReady(), health.state().queue!.outages]).toEqual([true, 1]);
  });

  it("has the rate of the last minute", async () => {
    const health = await started({ subject: { command: "worker" } });
    const work = (entries: number): void => health.work({ entries, refused: 0, evidenceAt: null });
    work(0);
    expect(health.state().rate).toBe(null);
    for (let second = 1; second <= 120; second++) {
      pass(1);
      work(second <= 60 ? 10 * second : 600);
    }
    expect(health.state().rate).toBe(0);
    pass(10);
    work(1200);
    expect(health.state().rate).toBe(10);
    // A clock that is set back gives no negative rate.
    pass(-3600);
    work(1300);
    expect(health.state().rate).toBe(null);
  });
});

describe("the state of an audit", () => {
  it("is ready after its first batch; with a queue, while that is connected", async () => {
    const [local, queued] = [
      await started({ subject: { command: "audit", inputs: ["a.ndjson"] } }),
      await started({ subject: { command: "audit", hasQueue: true } }),
    ];
    expect([local.state().isReady, local.state().inputs]).toEqual([false, ["a.ndjson"]]);
    for (const health of [local, queued]) health.work({ entries: 1, refused: 0, evidenceAt: null });
    expect([local.state().isReady, queued.state().isReady]).toEqual([true, false]);
    queued.queue({ server: "redis://a", isConnected: true, waiting: null });
    expect(queued.state().isReady).toBe(true);
  });
});

describe("the file", () => {
  const read = (file: string): HealthState => JSON.parse(readFileSync(file, "utf8")) as HealthState;
  const written = async (file: string, polls: number): Promise<void> => {
    while ((statSync(file, { throwIfNoEntry: false }) ? read(file).polls : 0) < polls)
      await new Promise((resolve) => setTimeout(resolve, 5));
  };

  it("is written whole after a good poll, is left alone in an outage, and stays", async () => {
    const file = newPath();
    const health = await started({ subject: BOTH, file });
    health.poll(poll("unreachable"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(readdirSync(folder).filter((name) => name.startsWith("health-0"))).toEqual([]);
    health.poll(poll(null));
    await written(file, 2);
    const { ino } = statSync(file);
    expect(read(file)).toMatchObject({
      health: "bootproof-health/1",
      isReady: true,
      goodAt: now().toISOString(),
      watched: [{ app: "signer" }, { ephemeralKey: KEY }],
    });
    health.poll(poll("unreachable"));
    await health.close();
    expect([read(file).polls, statSync(file).ino]).toEqual([2, ino]);
  });

  it("has the last success when many come at once", async () => {
    const file = newPath();
    const health = await started({ subject: BOTH, file });
    for (let each = 0; each < 100; each++) health.poll(poll(null));
    await written(file, 1);
    await health.close();
    expect(read(file).polls).toBe(100);
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it.each([
    ["in no folder", (): string => join(newPath(), "health.json"), "ENOENT"],
    [
      "that is a folder",
      (): string => (mkdirSync(join(folder, "sub"), { recursive: true }), join(folder, "sub")),
      "EISDIR",
    ],
  ])("%s ends the start", async (_, pathOf, code) => {
    await expect(startHealth({ subject: BOTH, file: pathOf(), now })).rejects.toMatchObject({ code });
  });

  it("that cannot be written later is reported once, and ends nothing", async () => {
    const file = newPath();
    const notes: string[] = [];
    const health = await started({ subject: BOTH, file, onNote: (text) => notes.push(text) });
    mkdirSync(file);
    health.poll(poll(null));
    while (notes.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    health.poll(poll(null));
    await health.close();
    expect(notes).toEqual([`${file}: the health file cannot be written: a directory, not a file`]);
  });
});

describe("the server", () => {
  it("serves probes: alive while it runs, ready unless there is an outage", async () => {
    const health = await started({ subject: BOTH, metrics: ANY_PORT });
    const statuses = async (): Promise<number[]> => {
      const answers = await Promise.all(["healthz", "readyz"].map((name) => get(`${health.url!}/${name}`)));
      return answers.map(({ status }) => status);
    };
    expect(health.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await statuses()).toEqual([200, 503]);
    health.poll(poll(null));
    expect(await statuses()).toEqual([200, 200]);
    health.poll(poll(null, "answer"));
    expect(await statuses()).toEqual([200, 503]);
    await health.close();
    await expect(get(`${health.url ?? ""}/healthz`)).rejects.toThrow();
  });

  it.each([
    ["GET", "/", 404],
    ["GET", "/metrics/", 404],
    ["GET", "/metrics?name=a", 200],
    ["HEAD", "/metrics", 200],
    ["HEAD", "/readyz", 503],
    ["POST", "/metrics", 405],
    ["DELETE", "/healthz", 405],
    ["POST", "/other", 404],
  ])("%s %s is %d", async (method, path, status) => {
    const health = await started({ subject: BOTH, metrics: ANY_PORT });
    const answer = await get(`${health.url!}${path}`, { method });
    expect(answer.status).toBe(status);
    if (method === "HEAD") expect(answer.text).toBe("");
    if (status === 405) expect(answer.headers["allow"]).toBe("GET, HEAD");
  });

  it("lets no page of another origin read it, by whatever name it comes", async () => {
    const health = await started({ subject: BOTH, metrics: ANY_PORT });
    const { headers } = await get(`${health.url!}/metrics`, {
      headers: { Host: "evil.example", Origin: "https://evil.example" },
    });
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect([headers["x-content-type-options"], headers["cache-control"]]).toEqual(["nosniff", "no-store"]);
    expect(headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  });

  it("rejects for a port in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as AddressInfo;
    await expect(startHealth({ subject: BOTH, metrics: { ...ANY_PORT, port }, now })).rejects.toMatchObject({
      code: "EADDRINUSE",
      syscall: "listen",
    });
    other.close();
  });
});

describe("the metrics", () => {
  it("of a watch are those of its state, by application", async () => {
    const health = await started({ subject: BOTH, metrics: ANY_PORT });
    pass(100);
    const build = { [`bootproof_build_info{version="${TOOL.version}",command="watch"}`]: 1 };
    const of = (name: string, app: number, key: number): Record<string, number> => ({
      [`bootproof_watch_${name}{app="signer"}`]: app,
      [`bootproof_watch_${name}{ephemeral_key="${KEY}"}`]: key,
    });
    // Before the first poll: an age, so that a watch that never sees anything raises an alert.
    expect(await metricsOf(health)).toEqual({
      ...build,
      bootproof_ready: 0,
      bootproof_watch_polls_total: 0,
      bootproof_watch_setting_refused: 0,
      bootproof_watch_entries_total: 0,
      ...of("failed_polls_total", 0, 0),
      ...of("outages_total", 0, 0),
      ...of("outage", 0, 0),
      ...of("refusals_total", 0, 0),
      ...of("refused", 0, 0),
      ...of("last_good_poll_age_seconds", 100, 100),
    });
    health.poll(poll(null, "missing", { isRefused: true, refusals: 2, evidenceAt: new Date(START) }));
    pass(10);
    health.poll(poll(null, "missing", { isRefused: true, refusals: 2, evidenceAt: new Date(START) }));
    pass(5);
    const expected = {
      ...build,
      bootproof_ready: 0,
      bootproof_watch_polls_total: 2,
      bootproof_watch_setting_refused: 0,
      bootproof_watch_entries_total: 3,
      ...of("failed_polls_total", 0, 2),
      ...of("outages_total", 0, 1),
      ...of("outage", 0, 1),
      ...of("refusals_total", 2, 2),
      ...of("refused", 1, 1),
      'bootproof_watch_last_good_poll_timestamp_seconds{app="signer"}': START / 1000 + 110,
      ...of("last_good_poll_age_seconds", 5, 115),
      ...of("evidence_timestamp_seconds", START / 1000, START / 1000),
      ...of("evidence_age_seconds", 115, 115),
    };
    expect(await metricsOf(health)).toEqual(expected);
    // A second scrape does not count twice.
    expect(await metricsOf(health)).toEqual(expected);
  });

  it.each(["worker", "audit"] as const)("of a %s are its counts, its rate and its queue", async (command) => {
    const health = await started({ subject: { command }, metrics: ANY_PORT });
    const metrics = (): Promise<Readonly<Record<string, number>>> => metricsOf(health);
    const named = (all: object): Record<string, number> =>
      Object.fromEntries(Object.entries(all).map(([name, value]) => [`bootproof_${command}_${name}`, value as number]));
    const build = { [`bootproof_build_info{version="${TOOL.version}",command="${command}"}`]: 1 };
    pass(7);
    expect(await metrics()).toEqual({
      ...build,
      bootproof_ready: 0,
      ...named({ entries_total: 0, last_good_age_seconds: 7 }),
    });
    health.work({ entries: 10, refused: 1, evidenceAt: new Date(START) });
    pass(10);
    health.work({ entries: 30, refused: 2, evidenceAt: new Date(START) });
    health.queue({ server: "redis://a", isConnected: true, waiting: 5 });
    pass(10);
    expect(await metrics()).toEqual({
      ...build,
      bootproof_ready: 1,
      ...named({
        entries_total: 30,
        refusals_total: 2,
        entries_per_second: 1,
        last_good_timestamp_seconds: START / 1000 + 17,
        last_good_age_seconds: 10,
        evidence_timestamp_seconds: START / 1000,
        evidence_age_seconds: 27,
        queue_connected: 1,
        queue_outages_total: 0,
        queue_waiting: 5,
      }),
    });
  });

  it("are text that a scraper reads: types, units in names, escaped labels", async () => {
    const app = 'a"b\\c\nbootproof_ready 7';
    const health = await started({ subject: { command: "watch", watched: [{ app }] }, metrics: ANY_PORT });
    const { text } = await get(`${health.url!}/metrics`);
    expect(text).toContain('bootproof_watch_outage{app="a\\"b\\\\c\\nbootproof_ready 7"} 0');
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name!, type!] as const);
    expect(types.length).toBeGreaterThan(10);
    for (const [name, type] of types) expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
    for (const line of text.split("\n"))
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) .+|bootproof_[a-z_]+(?:\{.*\})? \S+|)$/);
  });
});

it("writes nothing and listens nowhere without either", async () => {
  const health = await started({ subject: BOTH });
  health.poll(poll(null));
  expect([health.url, health.state().isReady]).toEqual([null, true]);
});
