/** The targets of a watch, a command and a URL, and the clock, the timer and the chance of its process. */
import { existsSync, readFileSync } from "node:fs";
import { type RequestListener, type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { toUtf8 } from "../../src/bytes.js";
import { postTo } from "../../src/run/index.js";
import { SYSTEM, runCommand } from "../../src/run/node.js";
import { testFolder } from "../support/folder.js";

const text = '{"run":"bootproof-run/1","n":1}';
const line = { bytes: toUtf8(text) };
const folder = testFolder();
const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});
const never = new AbortController().signal;
const runs = (command: string, timeoutMs = 20_000, signal = never): Promise<void> =>
  runCommand(command, { timeoutMs })(line, signal);

describe.skipIf(process.platform === "win32")("a command", () => {
  it("has the entry on its stdin, and is run by the shell", async () => {
    const file = join(folder, "told");
    await runs(`cat | cat > '${file}'`);
    expect(readFileSync(file, "utf8")).toBe(`${text}\n`);
  });

  it("has the environment, but for the key that stamps requests", async () => {
    const file = join(folder, "env");
    const env = { PATH: process.env["PATH"], BOOTPROOF_API_PRIVATE_KEY: "secret", WHERE: file };
    await runCommand('env > "$WHERE"', { env })(line, never);
    expect(readFileSync(file, "utf8")).toContain("WHERE=");
    expect(readFileSync(file, "utf8")).not.toContain("secret");
  });

  it("may ignore its stdin", async () => {
    await runs("exec true");
  });

  it.each([
    ["exit 3", /^the command ended with exit code 3$/],
    ["no-such-command-here 2>&-", /^the command ended with exit code 127$/],
    ["kill -9 $$", /^the command (?:was killed \(SIGKILL\)|ended with exit code 137)$/],
  ])("that fails rejects: %s", async (command, message) => {
    await expect(runs(command)).rejects.toThrow(message);
  });

  it("is killed with its children on a timeout or at the end of the watch", async () => {
    const file = join(folder, "late");
    const command = `(sleep 1; echo late > '${file}') & wait`;
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 100);
    const late = new Promise((resolve) => setTimeout(resolve, 1200));
    await Promise.all([
      expect(runs(command, 100)).rejects.toThrow("did not end within 100 ms"),
      expect(runs(command, 20_000, stop.signal)).rejects.toThrow("was ended, because the watch ended"),
    ]);
    await expect(runs(command, 20_000, stop.signal)).rejects.toThrow("was ended, because the watch ended");
    await late;
    expect(existsSync(file)).toBe(false);
  });
});

async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/secret`;
}

const posts = (url: string, timeoutMs = 20_000): Promise<void> =>
  postTo(url, { fetch: (input, init) => fetch(input, init), sleep: SYSTEM.sleep, timeoutMs })(line, never);

describe("a URL", () => {
  it("is posted the line of the log, byte for byte", async () => {
    const received: string[] = [];
    const url = await serving((request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        received.push(`${request.method!} ${request.url!} ${request.headers["content-type"]!}`);
        received.push(Buffer.concat(pieces).toString("utf8"));
        response.statusCode = 204;
        response.end();
      });
    });
    await posts(url);
    expect(received).toEqual(["POST /hook/secret application/json", text]);
  });

  it.each([301, 307, 400, 404, 500])(
    "that returns %d counts as failed, and its path is not reported",
    async (status) => {
      let requests = 0;
      const url = await serving((_, response) => {
        requests++;
        response.writeHead(status, { location: "/elsewhere" }).end("x".repeat(1000));
      });
      const failure = await posts(url).catch((error: Error) => error.message);
      expect(failure).toBe(`${new URL(url).host} responded with HTTP ${status}`);
      expect(requests).toBe(1);
    },
  );

  it("that does not respond, or does not exist, fails after a timeout", async () => {
    const url = await serving(() => {});
    await expect(posts(url, 50)).rejects.toThrow(/^127\.0\.0\.1:\d+ did not answer within 50 ms$/);
    await expect(posts("http://127.0.0.1:9/secret")).rejects.toThrow(/^127\.0\.0\.1:9 cannot be reached$/);
  });

  it("may send an endless response", async () => {
    const url = await serving((_, response) => {
      response.writeHead(200);
      response.write("x");
    });
    await posts(url);
  });

  it.each(["ftp://a/b", "https://user:password@a/b", "https:", "/hook"])("is none: %s", (url) => {
    expect(() => postTo(url, { fetch, sleep: SYSTEM.sleep })).toThrow(TypeError);
  });
});

it("the clock, the timer and the chance of a watch are those of Node", async () => {
  const { signal } = new AbortController();
  const [before, start] = [Date.now(), performance.now()];
  await SYSTEM.sleep(30, signal);
  expect(performance.now() - start).toBeGreaterThan(25);
  expect(SYSTEM.now().getTime()).toBeGreaterThanOrEqual(before);
  const drawn = Array.from({ length: 20 }, () => SYSTEM.random());
  expect(drawn.every((one) => one >= 0 && one < 1)).toBe(true);
  expect(new Set(drawn).size).toBeGreaterThan(1);
});

it("the timer wakes early where the signal is aborted", async () => {
  const stop = new AbortController();
  const sleeping = SYSTEM.sleep(60_000, stop.signal);
  stop.abort();
  await expect(sleeping).rejects.toThrow();
});
