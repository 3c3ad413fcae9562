/** The health of a process: its state, its file, and what it serves. */
import { once } from "node:events";
import { mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { request } from "node:http";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Health, type HealthOptions, type HealthState, startHealth } from "../../src/run/node.js";
import type { FailureKind } from "../../src/run/line.js";
import type { WatchPoll } from "../../src/run/health.js";
import type { WatchStatus } from "../../src/run/index.js";
import { TOOL } from "../../src/version.js";
import { testFolder } from "../support/folder.js";

const folder = testFolder();

const START = Date.parse("2026-03-04T05:06:07.000Z");
const ANY_PORT = { host: "127.0.0.1", port: 0 };
const KEY = "04ab";
const BOTH = { command: "watch", watched: [{ app: "signer" }, { ephemeralKey: KEY }] } as const;

let clock = START;
/** The clock that is never set, in milliseconds. */
let ticks = 0;
let files = 0;
const newPath = (): string => join(folder, `health-${files++}.json`);
const now = (): Date => new Date(clock);
const pass = (seconds: number): void => {
  clock += 1000 * seconds;
  ticks += 1000 * seconds;
};
beforeEach(() => {
  clock = START;
  ticks = 0;
});

const open: Health[] = [];
afterEach(async () => {
  for (const health of open.splice(0)) await health.close();
});

async function started(options: Partial<HealthOptions> & Pick<HealthOptions, "subject">): Promise<Health> {
  const health = await startHealth({ now, monotonic: () => ticks, ...options });
  open.push(health);
  return health;
}

const [SIGNER, OTHER] = BOTH.watched;

/** A poll of a name: without a failure it is a good one. */
function poll(
  watched: WatchPoll["watched"],
  kind: FailureKind | null = null,
  more: Partial<WatchPoll> = {},
): WatchPoll {
  const seen = { isRefused: false, refusals: 0, evidenceAt: null, polls: 1, recorded: 3, ...more };
  return {
    at: now(),
    watched,
    failure: kind && { kind, message: "", retryAfterMs: null },
    ...seen,
  };
}

function pollBoth(health: Health, failure: FailureKind | null = null, more: Partial<WatchPoll> = {}): void {
  for (const watched of BOTH.watched) health.poll(poll(watched, failure, more));
}

const WELL: WatchStatus = {
  settingRefusedSince: null,
  settingReadAt: new Date(START),
  policyDigest: "91ab",
  policyExpiresAt: null,
  isFeedContradicted: false,
  undelivered: { count: 0, oldest: null },
};

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
  it.each<[string, Partial<WatchStatus>, boolean]>([
    ["a reload is refused", { settingRefusedSince: new Date(START) }, false],
    ["something is undelivered", { undelivered: { count: 1, oldest: new Date(START) } }, true],
  ])("while %s, though all is seen", async (_, change, isReady) => {
    const health = await started({ subject: BOTH, metrics: ANY_PORT });
    pollBoth(health);
    const readyAfter = async (status: WatchStatus): Promise<unknown[]> => {
      health.status(status);
      const { status: code } = await get(`${health.url!}/readyz`);
      return [code, health.state().isReady, (await metricsOf(health))["bootproof_ready"]];
    };
    expect(await readyAfter(WELL)).toEqual([200, true, 1]);
    expect(await readyAfter({ ...WELL, ...change })).toEqual(isReady ? [200, true, 1] : [503, false, 0]);
    expect(await readyAfter(WELL)).toEqual([200, true, 1]);
    await health.close();
    await expect(get(health.url!)).rejects.toThrow();
  });

  it("has the outages of each name, and the time since which all are seen", async () => {
    const health = await started({ subject: BOTH });
    const after = (at: Date | null): unknown => (at === null ? "-" : (at.getTime() - START) / 1000);
    // When each was last seen, since when it is not, its outages and failed polls; and since when all are seen.
    const states = (): unknown => {
      const { watched, isReady, goodAt } = health.state();
      const names = watched.map(({ seenAt, outageSince, outages, failedPolls }) =>
        [after(seenAt), after(outageSince), outages, failedPolls].join(" "),
      );
      return [...names, isReady, after(goodAt)];
    };
    expect(states()).toEqual(["- - 0 0", "- - 0 0", false, "-"]);
    for (const [signer, other, ...expected] of [
      [[null], [], "1 - 0 0", "- - 0 0", false, "-"],
      [[null], ["missing"], "2 - 0 0", "- 2 1 1", false, "-"],
      [[], [null], "2 - 0 0", "3 - 1 1", true, 2],
      [["unreachable", "credentials", "unreachable"], [], "2 4 1 3", "3 - 1 1", false, 2],
      [[null], [null], "7 - 1 3", "7 - 1 1", true, 7],
    ] as const) {
      for (const failure of signer.length > 0 ? signer : [undefined]) {
        pass(1);
        if (failure !== undefined) health.poll(poll(SIGNER, failure));
      }
      for (const failure of other) health.poll(poll(OTHER, failure));
      expect(states()).toEqual(expected);
    }
    expect(health.state()).toMatchObject({ entries: 3, command: "watch", version: TOOL.version });
  });

  it("has ages that a clock which was set does not change", async () => {
    const health = await started({ subject: BOTH });
    pollBoth(health);
    const ages = (): number[] => [health.state().goodAge, ...health.state().watched.map(({ seenAge }) => seenAge)];
    pass(100);
    expect(ages()).toEqual([100, 100, 100]);
    clock -= 86_400_000;
    pass(800);
    expect(ages()).toEqual([900, 900, 900]);
    health.poll(poll(SIGNER));
    expect(ages()).toEqual([900, 0, 900]);
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
    const idle = { ...contact, waiting: 0 };
    expect(isReady()).toBe(false);
    health.queue(idle);
    expect(isReady()).toBe(true);
    pass(15);
    expect(isReady()).toBe(true);
    pass(1);
    expect(isReady()).toBe(false);
    health.queue(idle);
    health.queue({ ...idle, isConnected: false });
    health.queue({ ...idle, isConnected: false });
    expect([isReady(), health.state().queue!.outages]).toEqual([false, 1]);
    pass(4);
    expect(health.state().queue).toMatchObject({ contactAt: new Date(START + 16_000), contactAge: 4 });
    health.queue(idle);
    expect([isReady(), health.state().queue!.outages]).toEqual([true, 1]);
    // Contact is no success.
    expect(health.state().goodAt).toBe(null);
  });

  it("is not ready when jobs wait and it judges nothing for 30 seconds", async () => {
    const health = await started({ subject: { command: "worker" } });
    const afterSeconds = (seconds: number, waiting: number): boolean => {
      for (let second = 0; second < seconds; second++) {
        pass(1);
        health.queue({ ...contact, waiting });
      }
      return health.state().isReady;
    };
    // An idle worker is ready; the first job after a long idle time is no stall.
    expect([afterSeconds(3600, 0), afterSeconds(30, 4), afterSeconds(1, 4)]).toEqual([true, true, false]);
    health.work({ entries: 5, refused: 0, evidenceAt: null });
    expect([afterSeconds(30, 4), health.state().goodAge, afterSeconds(1, 4)]).toEqual([true, 30, false]);
    expect(afterSeconds(1, 0)).toBe(true);
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
    // A clock that is set back changes no rate.
    clock -= 3_600_000;
    work(1300);
    expect(health.state().rate).toBeGreaterThan(0);
  });
});

describe("the state of an audit", () => {
  const contact = { server: "redis://a", isConnected: true, waiting: null };
  const judged = (health: Health, entries: number): void => health.work({ entries, refused: 0, evidenceAt: null });

  it("is ready after its first entry; with a queue, while that is connected", async () => {
    const [local, queued] = [
      await started({ subject: { command: "audit", inputs: ["a.ndjson"] } }),
      await started({ subject: { command: "audit", hasQueue: true } }),
    ];
    expect([local.state().isReady, local.state().inputs]).toEqual([false, ["a.ndjson"]]);
    for (const health of [local, queued]) judged(health, 1);
    expect([local.state().isReady, queued.state().isReady]).toEqual([true, false]);
    queued.queue(contact);
    expect(queued.state().isReady).toBe(true);
  });

  it.each([
    ["no worker takes its jobs", 7],
    ["the server is out of memory and refuses its jobs", 0],
  ])("is not ready when %s", async (_, waiting) => {
    const health = await started({ subject: { command: "audit", hasQueue: true } });
    const afterSeconds = (seconds: number): boolean => {
      for (let second = 0; second < seconds; second++) {
        pass(1);
        health.queue({ ...contact, waiting });
      }
      return health.state().isReady;
    };
    // Contact with the server alone is no success, for however long.
    expect([afterSeconds(1), afterSeconds(24), health.state().goodAt]).toEqual([false, false, null]);
    judged(health, 1);
    expect([afterSeconds(30), afterSeconds(1)]).toEqual([true, false]);
    expect(health.state()).toMatchObject({ goodAt: new Date(START + 25_000), goodAge: 31 });
    // The same count is no judged entry.
    judged(health, 1);
    expect([health.state().isReady, health.state().goodAge]).toEqual([false, 31]);
    judged(health, 2);
    expect([health.state().isReady, health.state().goodAge]).toEqual([true, 0]);
  });

  it("has a success when it ended with nothing to add", async () => {
    const health = await started({ subject: { command: "audit" } });
    judged(health, 0);
    expect(health.state()).toMatchObject({ isReady: false, goodAt: null });
    health.idle();
    expect(health.state()).toMatchObject({ isReady: true, goodAt: now(), entries: 0 });
  });
});

describe("the file", () => {
  const read = (file: string): HealthState => JSON.parse(readFileSync(file, "utf8")) as HealthState;
  const pollsIn = (file: string): number =>
    statSync(file, { throwIfNoEntry: false }) ? read(file).watched[0]!.polls : 0;
  const written = async (file: string, polls: number): Promise<void> => {
    while (pollsIn(file) < polls) await new Promise((resolve) => setImmediate(resolve));
  };
  /** Passes seconds of the timers, each with real time in which the file can be written. */
  const passUntil = async (holds: () => boolean): Promise<void> => {
    while (!holds()) {
      vi.advanceTimersByTime(1000);
      const since = performance.now();
      while (!holds() && performance.now() - since < 100) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  afterEach(() => void vi.useRealTimers());

  it("is written whole after a good poll, and every ten seconds as a sign of life, also in an outage", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
    const file = newPath();
    const health = await started({ subject: BOTH, file });
    pollBoth(health, "unreachable");
    vi.advanceTimersByTime(9_999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(readdirSync(folder).filter((name) => name.startsWith("health-0"))).toEqual([]);
    pollBoth(health, null, { polls: 2 });
    vi.advanceTimersByTime(1000);
    // However long the disk takes: the sign of life of a later second could write it, too.
    await written(file, 2);
    const good = now().toISOString();
    expect(read(file)).toMatchObject({
      health: "bootproof-health/3",
      isReady: true,
      goodAt: good,
      aliveAt: good,
      watched: [{ app: "signer" }, { ephemeralKey: KEY }],
    });
    pass(60);
    pollBoth(health, "unreachable", { polls: 3 });
    await passUntil(() => pollsIn(file) === 3);
    expect(read(file)).toMatchObject({ aliveAt: now().toISOString(), goodAt: good, goodAge: 60, isReady: false });
    await health.close();
    expect([pollsIn(file), vi.getTimerCount()]).toEqual([3, 0]);
  });

  it("has the last success when many come at once", async () => {
    const file = newPath();
    const health = await started({ subject: BOTH, file });
    for (let polls = 1; polls <= 100; polls++) pollBoth(health, null, { polls });
    await written(file, 1);
    await health.close();
    expect(pollsIn(file)).toBe(100);
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
    pollBoth(health);
    while (notes.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    pollBoth(health);
    await health.close();
    expect(notes).toEqual([`${file}: the health file cannot be written: a directory, not a file`]);
  });
});

describe("the server", () => {
  it.each([
    ["GET", "/", 404],
    ["GET", "/metrics/", 404],
    ["GET", "/metrics?name=a", 200],
    ["HEAD", "/metrics", 200],
    ["GET", "/healthz", 200],
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

  it("responds beside any number of open connections, of which it keeps the 64 that were used last", async () => {
    const health = await started({ subject: BOTH, metrics: ANY_PORT });
    const { hostname, port } = new URL(health.url!);
    let closed = 0;
    const opened = async (text = ""): Promise<Socket> => {
      const socket = connect(Number(port), hostname).on("error", () => {});
      socket.on("close", () => closed++);
      await once(socket, "connect");
      socket.write(text);
      return socket;
    };
    const scraper = await opened();
    const asked = async (): Promise<unknown> => {
      scraper.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
      const [data] = (await once(scraper, "data", { signal: AbortSignal.timeout(5000) })) as [Buffer];
      return data.toString().slice(0, 15);
    };
    const sockets = [scraper];
    for (const text of ["", "GET /metrics HTTP/1.1\r\nHost: a\r\nX: "]) {
      for (let each = 0; each < 60; each++) sockets.push(await opened(text));
      expect(await asked()).toBe("HTTP/1.1 200 OK");
    }
    const start = performance.now();
    while (closed < sockets.length - 64) await new Promise((resolve) => setTimeout(resolve, 5));
    // An idle one is closed after ten seconds, also where any number may be open.
    expect(performance.now() - start).toBeLessThan(5000);
    expect(sockets.slice(-60).filter(({ destroyed }) => destroyed)).toEqual([]);
    for (const socket of sockets) socket.destroy();
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
    // Before the first poll: an age, so that a watch that never sees anything raises an alert; no verdict.
    expect(await metricsOf(health)).toEqual({
      ...build,
      bootproof_ready: 0,
      bootproof_watch_entries_total: 0,
      ...of("polls_total", 0, 0),
      ...of("failed_polls_total", 0, 0),
      ...of("outages_total", 0, 0),
      ...of("outage", 0, 0),
      ...of("refusals_total", 0, 0),
      ...of("last_good_poll_age_seconds", 100, 100),
    });
    const more = { isRefused: true, refusals: 2, evidenceAt: new Date(START) };
    health.poll(poll(SIGNER, null, more));
    health.poll(poll(OTHER, "missing", { isRefused: null }));
    pass(10);
    health.poll(poll(SIGNER, null, { ...more, polls: 2 }));
    health.poll(poll(OTHER, "missing", { isRefused: null, polls: 2 }));
    const undelivered = { count: 2, oldest: new Date(START + 15_000) };
    health.status({ ...WELL, undelivered, policyExpiresAt: new Date(START + 15_000), isFeedContradicted: true });
    health.checkpoint({ entries: 7, at: now() });
    pass(5);
    const expected = {
      ...build,
      bootproof_ready: 0,
      bootproof_watch_setting_refused: 0,
      bootproof_watch_setting_read_timestamp_seconds: START / 1000,
      'bootproof_watch_policy_info{policy_digest="91ab"}': 1,
      bootproof_watch_policy_expires_seconds: -100,
      bootproof_watch_policy_feed_refused: 1,
      bootproof_watch_undelivered: 2,
      bootproof_watch_undelivered_age_seconds: 100,
      bootproof_watch_checkpoint_entries: 7,
      bootproof_watch_checkpoint_timestamp_seconds: START / 1000 + 110,
      bootproof_watch_entries_total: 3,
      ...of("polls_total", 2, 2),
      ...of("failed_polls_total", 0, 2),
      ...of("outages_total", 0, 1),
      ...of("outage", 0, 1),
      ...of("refusals_total", 2, 0),
      'bootproof_watch_refused{app="signer"}': 1,
      'bootproof_watch_last_good_poll_timestamp_seconds{app="signer"}': START / 1000 + 110,
      ...of("last_good_poll_age_seconds", 5, 115),
      'bootproof_watch_evidence_timestamp_seconds{app="signer"}': START / 1000,
      'bootproof_watch_evidence_age_seconds{app="signer"}': 115,
    };
    expect(await metricsOf(health)).toEqual(expected);
    // A second scrape does not count twice.
    expect(await metricsOf(health)).toEqual(expected);
    // A clock that is set back by a day makes no age negative.
    clock -= 86_400_000;
    expect(await metricsOf(health)).toEqual({
      ...expected,
      bootproof_watch_policy_expires_seconds: 86_300,
      bootproof_watch_undelivered_age_seconds: 0,
      'bootproof_watch_evidence_age_seconds{app="signer"}': 0,
    });
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
        queue_contact_timestamp_seconds: START / 1000 + 17,
        queue_contact_age_seconds: 10,
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
  pollBoth(health);
  expect([health.url, health.state().isReady]).toEqual([null, true]);
});
