/** The memory of the built proxy under forty clients, and what slow heads cost it. Needs `npm run build`. */
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, type Socket, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { startLab, writeLabFiles } from "../../src/lab/index.js";
import { exchange } from "../proxy/support.js";
import { type Process, killAll, speaking } from "./process.js";

const CLIENTS = 40;
const MAX_RSS_MIB = 700;
const SIZE = 15.9 * 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), "bootproof-proxy-load-"));
const lab = await startLab();
const files = await writeLabFiles(lab, folder);
await lab.close();

const USER = JSON.stringify({
  userId: "u".repeat(36),
  userName: "n".repeat(400),
  tags: ["t"],
  createdAt: { nanos: "0" },
});
const ANSWERS: Readonly<Record<string, Buffer>> = {
  get_text: Buffer.from(JSON.stringify({ text: "x".repeat(SIZE - 20) })),
  // One letter has every string in memory take two bytes a character.
  get_wide: Buffer.from(JSON.stringify({ text: `€${"x".repeat(SIZE - 20)}` })),
  get_list: Buffer.from(
    `{"users":[${Array(Math.floor(SIZE / (USER.length + 1)) - 1)
      .fill(USER)
      .join()}]}`,
  ),
  get_small: Buffer.from("{}"),
};
const service = createServer((request, response) => {
  const answer = ANSWERS[request.url!.split("/").at(-1)!]!;
  request.resume().on("end", () => {
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": answer.length }).end(answer);
  });
});
await once(service.listen(0, "127.0.0.1"), "listening");
afterAll(() => {
  service.close();
  rmSync(folder, { recursive: true });
});

/** Has the limits of a head pass in a twentieth of their time, and has Node.js look for them as often. */
const hurry = join(folder, "hurry.cjs");
writeFileSync(
  hurry,
  `const http = require("node:http"), { createServer } = http;
  http.createServer = (options, listener) => {
    const headersTimeout = options.headersTimeout / 20;
    return createServer({ ...options, headersTimeout, connectionsCheckingInterval: 100 }, listener);
  };
  require("node:module").syncBuiltinESMExports();`,
);
const HURRY = process.env["BOOTPROOF_SOAK"] === "full" ? [] : ["--require", hurry];

let proxy: Process;
let url = "";
beforeEach(async () => {
  const upstream = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  const given = ["--upstream", upstream, "--policy", join(folder, files.policyFile), "--timeout", "10"];
  proxy = await speaking(["proxy", ...given, "--api-key-file", join(folder, files.apiKeyFile)], { node: HURRY });
  url = proxy.stdout.replace("listening on ", "").trim();
});
afterEach(killAll);

function request(name: string): string {
  const head = [`POST /public/v1/query/${name} HTTP/1.1`, `Host: ${new URL(url).host}`, "X-Stamp: a"];
  return [...head, "Connection: close", "Content-Length: 2", "", "{}"].join("\r\n");
}

/** It asks, and reads nothing. */
function stalled(name: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname, () => socket.write(request(name)));
  return socket.on("error", () => {}).pause();
}

function peakMib(): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${proxy.child.pid}/status`, "utf8"))!;
  return Math.round(Number(kib) / 1024);
}

describe.runIf(process.env["BOOTPROOF_SOAK"] === "full" && existsSync("/proc/self/status"))(
  "a proxy with forty clients whose answers have 15.9 MiB",
  () => {
    it.each(["get_text", "get_wide", "get_list"])("has less than 700 MiB if they do not read: %s", async (name) => {
      const sockets = Array.from({ length: CLIENTS }, () => stalled(name));
      await sleep(25_000);
      expect(await exchange(url, request("get_small"))).toMatch(/^HTTP\/1\.1 200 /);
      for (const socket of sockets) socket.destroy();
      expect(peakMib()).toBeLessThan(MAX_RSS_MIB);
    });

    it.each(["get_text", "get_wide"])("answers all that read, with less than 700 MiB: %s", async (name) => {
      const received = await Promise.all(Array.from({ length: CLIENTS }, () => exchange(url, request(name))));
      expect(received.map((text) => text.slice(9, 12))).toEqual(Array(CLIENTS).fill("200"));
      expect(received.every((text) => text.length > SIZE - 100)).toBe(true);
      expect(peakMib()).toBeLessThan(MAX_RSS_MIB);
    });
  },
);

it("cuts off a client that sends its head without an end", async () => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname, () => socket.write("POST / HTTP/1.1\r\nX-A: "));
  const timer = setInterval(() => socket.write("a"), 50);
  await once(socket.on("error", () => {}).resume(), "close");
  clearInterval(timer);
});
