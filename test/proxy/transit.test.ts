/** How long a client may take, and how many bytes may be in memory at one time. */
import type { ServerResponse } from "node:http";
import { type Socket, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { apiKeyStamper, createClient } from "../../src/client/index.js";
import { startLab } from "../../src/lab/index.js";
import { Pool, Share, readWhole, valueBytes } from "../../src/proxy/transit.js";
import { submit } from "../lab/support.js";
import { loopback } from "../support/loopback.js";
import { exchange, proxyFor } from "./support.js";

const TIMEOUT_MS = 500;
const MIB = 1024 * 1024;
const LARGE = `{"a":"${"x".repeat(15.9 * MIB)}"}`;

const lab = await startLab();
const asked: string[] = [];
/** By the name of the operation. */
const SERVICE: Readonly<Record<string, (response: ServerResponse) => void>> = {
  get_small: (response) => void response.end('{"a":1}'),
  get_large: (response) => void response.setHeader("Content-Length", LARGE.length).end(LARGE),
  get_chunks: (response) => void response.end(LARGE),
  get_largest: (response) => void response.end(`{"a":"${",".repeat(16 * MIB - 8)}"}`),
  get_slowly: (response) => {
    response.write('{"a":"');
    const timer = setInterval(() => response.write("x"), TIMEOUT_MS / 10);
    response.on("close", () => clearInterval(timer));
  },
};
const service = await loopback((request, response) => {
  const name = request.url!.split("/").at(-1)!;
  asked.push(name);
  response.setHeader("Content-Type", "application/json");
  SERVICE[name]!(response);
});
const { url: upstream } = service;
const proxy = await proxyFor(lab, { upstream, timeoutMs: TIMEOUT_MS });
/** Its pieces come well within its time, even on a busy machine, and all of them take longer. */
const patient = await proxyFor(lab, { upstream, timeoutMs: 4 * TIMEOUT_MS });
afterAll(async () => {
  await proxy.close();
  await patient.close();
  await service.close();
  await lab.close();
});

function request(name: string, { length = 2, connection = "close", to = proxy.url } = {}): string {
  const head = [`POST /public/v1/query/${name} HTTP/1.1`, `Host: ${new URL(to).host}`, "X-Stamp: a"];
  return [...head, `Connection: ${connection}`, `Content-Length: ${length}`, "", "{}"].join("\r\n");
}

function opened(bytes: string, to = proxy.url): Socket {
  const socket = connect(Number(new URL(to).port), "127.0.0.1", () => socket.write(bytes));
  return socket.on("error", () => {});
}

const statusOf = (received: string): string => received.slice(9, 12);

/** Reads so many bytes, then nothing for a time, and so on. Resolves to the number of bytes that came. */
async function readInSteps(socket: Socket, bytes: number, pauseMs: number): Promise<number> {
  let [received, now] = [0, 0];
  socket.on("data", (piece) => {
    received += piece.length;
    now += piece.length;
    if (now < bytes) return;
    now = 0;
    socket.pause();
    setTimeout(() => socket.resume(), pauseMs);
  });
  // One that was reset is closed also while nothing is read.
  if (!socket.closed) await new Promise((resolve) => socket.resume().on("close", resolve));
  return received;
}

describe.concurrent("a client without progress", () => {
  it("is cut off while it sends its body", async () => {
    const started = Date.now();
    expect(await exchange(proxy.url, request("get_nothing", { length: 100 }))).toBe("");
    expect(Date.now() - started).toBeGreaterThan(TIMEOUT_MS - 50);
    expect(Date.now() - started).toBeLessThan(20 * TIMEOUT_MS);
    expect(asked).not.toContain("get_nothing");
  });

  it("is cut off while it does not read its reply", async () => {
    let socket = opened(request("get_large"));
    // On a busy machine a request can end before its reply has begun. It is then sent again.
    while (!(await hasBegun(socket))) socket = opened(request("get_large"));
    socket.pause();
    await sleep(8 * TIMEOUT_MS);
    expect(await readInSteps(socket, Infinity, 0)).toBeLessThan(LARGE.length);
  });

  it("is not cut off while its answer is verified", async () => {
    const stamper = await apiKeyStamper(lab.apiKey);
    const client = createClient({ baseUrl: lab.baseUrl, organizationId: "none", stamper });
    const timeoutMs = 4 * TIMEOUT_MS;
    let waited = false;
    const slow: Pick<typeof client, "query"> = {
      query: async (name, parameters, call) => {
        if (!waited) await sleep(1.5 * timeoutMs);
        waited = true;
        return client.query(name, parameters, call);
      },
    };
    const verifying = await proxyFor(lab, { evidence: slow, timeoutMs });
    const parameters = { walletId: lab.ids.walletId, walletName: "slow" };
    const { status } = await submit(verifying.lab, "updateWallet", parameters, { generateAppProofs: true });
    expect([status, waited]).toEqual([200, true]);
    await verifying.close();
  });

  it("is not cut off between two requests", async () => {
    const socket = opened(request("get_small", { connection: "keep-alive" }));
    let received = "";
    socket.on("data", (piece) => (received += piece.toString()));
    await sleep(3 * TIMEOUT_MS);
    socket.write(request("get_small"));
    await new Promise((resolve) => socket.on("close", resolve));
    expect(received.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  });
});

const hasBegun = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => void socket.once("data", () => resolve(true)).once("close", () => resolve(false)));

describe.concurrent("a slow client", () => {
  it("may send its body in small pieces", async () => {
    const length = 20;
    const socket = opened(request("get_small", { length, to: patient.url }), patient.url);
    let received = "";
    socket.on("data", (piece) => (received += piece.toString()));
    // Longer than the interval in which Node looks for requests that take too long altogether.
    for (let at = 2; at < length; at++) {
      await sleep(TIMEOUT_MS / 3);
      socket.write(" ");
    }
    await new Promise((resolve) => socket.on("close", resolve));
    expect(statusOf(received)).toBe("200");
  });

  it("may read its reply in pieces", async () => {
    const started = Date.now();
    const socket = opened(request("get_large", { to: patient.url }), patient.url);
    expect(await readInSteps(socket, MIB, TIMEOUT_MS / 3)).toBeGreaterThan(LARGE.length);
    expect(Date.now() - started).toBeGreaterThan(4 * TIMEOUT_MS);
  });

  it("is what a slow service is not: its answer has to be there in time", async () => {
    const received = await exchange(proxy.url, request("get_slowly"));
    expect(statusOf(received)).toBe("504");
    expect(received).toContain("the service did not answer within 0.5 s");
  });
});

describe("clients that do not read large replies", () => {
  it("are cut off, and do not stop others", async () => {
    const patient = await proxyFor(lab, { upstream, timeoutMs: 20 * TIMEOUT_MS });
    const ask = (name: string): Promise<string> => exchange(patient.url, request(name, { to: patient.url }));
    const names = ["get_large", "get_chunks"];
    const stalled = [...names, ...names, ...names, ...names].map((name) =>
      opened(request(name, { to: patient.url }), patient.url).pause(),
    );
    await sleep(2 * TIMEOUT_MS);
    const answers = await Promise.all([ask("get_small"), ...[...names, ...names].map(ask)]);
    for (const socket of stalled) socket.destroy();
    await patient.close();
    expect(answers.map(statusOf)).toEqual(Array(5).fill("200"));
  });
});

describe("the largest request and the largest answer", () => {
  it("find room", async () => {
    const patient = await proxyFor(lab, { upstream, timeoutMs: 10 * TIMEOUT_MS });
    const length = 8 * MIB;
    const head = request("get_largest", { length, to: patient.url }).slice(0, -2);
    const received = await exchange(patient.url, `${head}{"a":"${",".repeat(length - 8)}"}`);
    await patient.close();
    expect([statusOf(received), received.length > 16 * MIB]).toEqual(["200", true]);
  });
});

describe("a reply that its client does not read", () => {
  it("is all that is in memory: another answer of the largest size is parsed at once", async () => {
    const patient = await proxyFor(lab, { upstream, timeoutMs: 30 * TIMEOUT_MS });
    const started = Date.now();
    const stalled = opened(request("get_large", { to: patient.url }), patient.url);
    await new Promise((resolve) => stalled.once("data", resolve));
    stalled.pause();
    const received = await exchange(patient.url, request("get_large", { to: patient.url }));
    const took = Date.now() - started;
    stalled.destroy();
    await patient.close();
    expect(statusOf(received)).toBe("200");
    expect(took).toBeLessThan(30 * TIMEOUT_MS);
  });
});

describe("a pool of bytes", () => {
  const signal = new AbortController().signal;
  const settled = async <T>(promise: Promise<T>): Promise<T | "waits"> =>
    Promise.race([promise, sleep(0).then(() => "waits" as const)]);

  it("lets one wait that finds no room, and the oldest begin first", async () => {
    const pool = new Pool(80, 10_000);
    expect(await settled(pool.take(60, signal))).toBe(true);
    const [first, second] = [pool.take(50, signal), pool.take(50, signal)];
    expect([await settled(first), await settled(second)]).toEqual(["waits", "waits"]);
    pool.give(60);
    expect([await settled(first), await settled(second)]).toEqual([true, "waits"]);
    pool.give(50);
    expect(await settled(second)).toBe(true);
  });

  it("has an eighth for the small, who do not wait for the large", async () => {
    const pool = new Pool(64, 10_000);
    expect(await settled(pool.take(57, signal))).toBe("waits");
    expect(await settled(pool.take(56, signal))).toBe(true);
    expect(await settled(pool.take(2, signal))).toBe("waits");
    expect(await Promise.all(Array.from({ length: 8 }, () => settled(pool.take(1, signal))))).toEqual(
      Array(8).fill(true),
    );
    expect(await settled(pool.take(1, signal))).toBe("waits");
  });

  it("refuses one for whom there was no room in time, and counts from when another one got some", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const pool = new Pool(80, 200);
    await pool.take(60, signal);
    const [small, large] = [pool.take(20, signal), pool.take(70, signal)];
    let isOver = false;
    void large.then(() => (isOver = true));
    vi.advanceTimersByTime(120);
    pool.give(10);
    expect(await small).toBe(true);
    await vi.advanceTimersByTimeAsync(199);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await large).toBe(false);
    pool.give(70);
    expect(await pool.take(70, signal)).toBe(true);
  });

  it("forgets one whose client is gone", async () => {
    const pool = new Pool(80, 10_000);
    await pool.take(60, signal);
    const gone = new AbortController();
    const waiting = pool.take(60, gone.signal);
    gone.abort();
    expect([await waiting, await pool.take(1, gone.signal)]).toEqual([false, false]);
    pool.give(60);
    expect(await settled(pool.take(70, signal))).toBe(true);
  });

  it("gets back what an exchange does not need, and everything at its end", async () => {
    const pool = new Pool(80, 10_000);
    const share = new Share(pool);
    expect([await share.take(30, signal), await share.take(30, signal)]).toEqual([true, true]);
    share.keep(70);
    expect(await settled(pool.take(20, signal))).toBe("waits");
    share.keep(10);
    expect(await settled(pool.take(30, signal))).toBe(true);
    const late = share.take(60, signal);
    share.end();
    pool.give(50);
    expect(await late).toBe(false);
    expect(await settled(pool.take(70, signal))).toBe(true);
  });
});

describe("a body", () => {
  async function* pieces(count: number): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < count; at++) yield new Uint8Array(1024);
  }
  const limit = 100 * 1024;
  const read = async (
    count: number,
    length: number | null,
    allowed = Infinity,
  ): Promise<readonly [unknown, readonly number[]]> => {
    const taken: number[] = [];
    const take = (bytes: number): Promise<boolean> => {
      taken.push(bytes);
      return Promise.resolve(taken.length <= allowed);
    };
    const body = await readWhole(pieces(count), { length, limit, take });
    return [typeof body === "string" ? body : body.length, taken];
  };

  it("is read once there is room for its declared length", async () => {
    expect(await read(10, 10_240)).toEqual([10_240, [10_240]]);
    expect(await read(10, 10_240, 0)).toEqual(["busy", [10_240]]);
  });

  it("of unknown length is large once it is not small", async () => {
    expect(await read(64, null)).toEqual([65_536, [65_536]]);
    expect(await read(65, null)).toEqual([66_560, [65_536, limit - 65_536]]);
    expect(await read(100, null)).toEqual([limit, [65_536, limit - 65_536]]);
    expect(await read(65, null, 1)).toEqual(["busy", [65_536, limit - 65_536]]);
  });

  it("has a limit", async () => {
    expect(await read(0, limit + 1)).toEqual(["too-large", []]);
    expect((await read(101, null))[0]).toBe("too-large");
    expect((await read(101, limit))[0]).toBe("too-large");
  });

  it("has at most as many values as it has commas, colons and brackets", () => {
    const bytes = (text: string): number => valueBytes(Buffer.from(text));
    expect(bytes("1")).toBe(300);
    expect(bytes('[{"a":1},{}]')).toBe(300 * 6);
    expect(bytes("[".repeat(400_000))).toBe(300 * 350_000);
  });
});
