/**
 * What the command reports while it runs: its health in a file and over HTTP, and its messages as JSON. Needs
 * `npm run build`.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { startLab } from "../../src/lab/index.js";
import type { HealthState } from "../../src/run/node.js";
import { proxyTo } from "../support/redis.js";
import { Process, killAll } from "./process.js";
import { type Answer, bootproof, connectionTo, words } from "./support.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "bootproof-built-health-"));
const path = (name: string): string => join(folder, name);
const lab = await startLab();
writeFileSync(path("policy.json"), JSON.stringify(lab.policyFile));
const POLICY = ["--policy", path("policy.json")];
/** The way to the lab, which can be cut. */
const network = await proxyTo(Number(new URL(lab.baseUrl).port));
const { organizationId, apiKey } = lab;
const baseUrl = network.url.replace("redis:", "http:");
const WATCH = words`watch --app signer ${POLICY} --interval 1s ${connectionTo({ baseUrl, organizationId, apiKey })}`;
afterEach(killAll);
afterAll(async () => {
  await network.close();
  await lab.close();
  rmSync(folder, { recursive: true });
});

const run = (...args: string[]): Promise<Answer> => bootproof(args, { now: new Date().toISOString() });
const stateIn = (file: string): HealthState => JSON.parse(readFileSync(file, "utf8")) as HealthState;
/** 0 where a busy machine ends the connection. */
const statusOf = (url: string): Promise<number> =>
  fetch(url).then(
    ({ status }) => status,
    () => 0,
  );
const urlOf = async (process: Process): Promise<string> => {
  await process.until(() => process.stderr.includes(" metrics are at "));
  return / metrics are at (\S+)\/metrics/.exec(process.stderr)![1]!;
};
const metric = async (url: string, name: string): Promise<number | null> => {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split("\n");
  const line = lines.find((each) => each.startsWith(`${name} `));
  return line === undefined ? null : Number(line.split(" ").at(-1));
};

describe("a watch", () => {
  it("reports outages by its probes, its metrics and the last success in its file", async () => {
    const file = path("watch.health");
    const onOutage = ["--outage-after", "0", "--on-outage", `cat >> '${path("outages")}'`];
    const watching = new Process([...WATCH, ...onOutage, "--health-file", file, "--metrics", "0"]);
    const url = await urlOf(watching);
    await watching.until(() => existsSync(file));
    expect(stateIn(file)).toMatchObject({ command: "watch", watched: [{ app: "signer", outageSince: null }] });
    expect([await statusOf(`${url}/readyz`), await statusOf(`${url}/healthz`)]).toEqual([200, 200]);
    expect(await metric(url, 'bootproof_watch_evidence_age_seconds{app="signer"}')).toBeGreaterThan(0);
    const back = network.drop(1500);
    await watching.until(async () => (await statusOf(`${url}/readyz`)) === 503);
    const before = stateIn(file);
    expect(await metric(url, 'bootproof_watch_outages_total{app="signer"}')).toBe(1);
    expect(await statusOf(`${url}/healthz`)).toBe(200);
    await back;
    await watching.until(async () => (await statusOf(`${url}/readyz`)) === 200);
    await watching.until(() => stateIn(file).goodAt! > before.goodAt!);
    const outages = (): string => (existsSync(path("outages")) ? readFileSync(path("outages"), "utf8") : "");
    await watching.until(() => outages().includes("outage-ended"));
    expect(outages().match(/"event":"[^"]+/g)).toEqual(['"event":"outage-began', '"event":"outage-ended']);
    const { code, stderr } = await watching.end();
    expect([code, existsSync(file)]).toEqual([0, true]);
    expect(stderr).toMatch(/note: \S+Z signer: reachable again, after \d+ polls? without a response since /);
  });
});

describe("messages as JSON", () => {
  interface Line {
    readonly time: string;
    readonly level: string;
    readonly event: string;
    readonly fields: Readonly<Record<string, unknown>>;
  }
  const linesOf = (stderr: string): Line[] => {
    const lines = stderr.split("\n").slice(0, -1);
    return lines.map((line) => {
      const parsed = JSON.parse(line) as Line;
      expect(Object.keys(parsed)).toEqual(["time", "level", "event", "fields"]);
      expect(new Date(parsed.time).toISOString()).toBe(parsed.time);
      return parsed;
    });
  };

  it("of a watch are its events", async () => {
    const nobody = WATCH.toSpliced(2, 1, "nobody");
    const { code, stderr } = await run(...nobody, "--once", "--log-format", "json", "--metrics=0");
    expect(code).toBe(3);
    expect(linesOf(stderr)).toEqual([
      expect.objectContaining({ level: "info", event: "metrics" }),
      expect.objectContaining({
        level: "warn",
        event: "outage",
        fields: expect.objectContaining({
          text: expect.stringMatching(/^nobody: NOT WATCHED: /) as unknown,
          kind: "missing",
          watched: [{ app: "nobody" }],
          again: false,
        }) as unknown,
      }),
    ]);
  });

  it("of an audit are its summary", async () => {
    writeFileSync(path("entries.ndjson"), "{}\n");
    const file = path("audit.health");
    const args = ["audit", ...POLICY, path("entries.ndjson"), "--log-format=json", "--health-file", file];
    const { code, stderr } = await run(...args);
    expect([code, linesOf(stderr)]).toEqual([
      1,
      [
        expect.objectContaining({
          level: "info",
          event: "summary",
          fields: expect.objectContaining({ end: "done", entries: 1, accepted: 0 }) as unknown,
        }),
      ],
    ]);
    expect(stateIn(file)).toMatchObject({
      command: "audit",
      inputs: [path("entries.ndjson")],
      entries: 1,
      refused: 1,
      isReady: true,
    });
  });

  it.each([
    [
      "watch",
      ["watch", "--app", "a\u001b[31m", "--log-format", "json"],
      "--policy FILE is required: the policy that pins",
    ],
    ["an unknown option", ["audit", "worker", "--no", "--log-format=json"], "unknown option --no"],
    ["another format before", ["audit", "--log-format=text", "--log-format", "json"], "--log-format is repeated"],
    ["proxy", ["proxy", "--log-format", "json"], "--upstream URL is required"],
  ])("of wrong usage are one line: %s", async (_, args, message) => {
    const { code, stderr } = await run(...args);
    const [line, ...more] = linesOf(stderr);
    expect([code, more, line]).toEqual([
      2,
      [],
      expect.objectContaining({ level: "error", event: "failed", fields: expect.objectContaining({ exitCode: 2 }) }),
    ]);
    expect(JSON.stringify(line!.fields["errors"])).toContain(message);
    expect(stderr).not.toContain("\u001b");
  });

  it("are text with another format, which is a fault", async () => {
    const { code, stderr } = await run("watch", "--app", "a", ...POLICY, "--log-format", "xml");
    expect([code, stderr]).toEqual([2, expect.stringContaining("--log-format xml: expected one of text, json")]);
  });
});

describe("an address or a file that cannot be used", () => {
  const audit = (...args: string[]): Process["ended"] =>
    new Process(["audit", ...POLICY, path("policy.json"), ...args]).ended;

  it("is named", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as AddressInfo;
    const used = await audit("--metrics", `:${port}`);
    expect([used.code, used.stderr]).toEqual([
      2,
      `bootproof: --metrics 127.0.0.1:${port}: in use by another process. Choose another port, or 0 for any free one\n`,
    ]);
    other.close();
    const cases = [
      ["--metrics", "9464.5", "--metrics 9464.5: expected HOST:PORT, such as 127.0.0.1:9464"],
      ["--metrics", "127.0.0.1:65536", "expected HOST:PORT"],
      ["--metrics", "192.0.2.1:0", "--metrics 192.0.2.1:0: this machine has no such address"],
      ["--health-file", "-", "--health-file -: a file is required"],
      ["--health-file", path("no/health"), "there is no such file or folder"],
      ["--health-file", folder, "a directory, not a file"],
    ] as const;
    for (const [option, value, message] of cases) {
      const { code, stdout, stderr } = await audit(option, value);
      expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining(message)]);
    }
  });

  it.each([
    [":0", /^127\.0\.0\.1$/],
    ["localhost:0", /^(?:127\.0\.0\.1|\[::1\])$/],
    ["0.0.0.0:0", /^0\.0\.0\.0$/],
  ])("--metrics %s listens at the host that it names, or on this machine only", async (text, host) => {
    expect(new URL(await urlOf(new Process([...WATCH, "--metrics", text]))).hostname).toMatch(host);
  });

  it("is that of a package that is not installed: the command that installs it is named", async () => {
    const bare = path("bare");
    const modules = join(bare, "node_modules");
    mkdirSync(modules, { recursive: true });
    cpSync(join(ROOT, "dist"), join(bare, "dist"), { recursive: true });
    cpSync(join(ROOT, "package.json"), join(bare, "package.json"));
    const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    for (const name of Object.keys(dependencies)) {
      mkdirSync(join(modules, name, ".."), { recursive: true });
      symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
    }
    const command = join(bare, "dist/bin/bootproof.cjs");
    const started = (...args: string[]): Process["ended"] => new Process(args, { command }).ended;
    expect(await started(...WATCH, "--metrics", "0")).toMatchObject({
      code: 2,
      stderr:
        "bootproof: --metrics: metrics need the package prom-client, which is not installed: npm install " +
        "prom-client@15\n",
    });
    for (const args of [
      ["audit", path("policy.json")],
      ["audit", "worker"],
    ]) {
      const { code, stderr } = await started(...args, ...POLICY, "--queue", "redis://127.0.0.1");
      expect([code, stderr]).toEqual([2, expect.stringContaining("npm install bullmq@6 ioredis@6")]);
    }
    expect((await started(...WATCH, "--once", "--health-file", path("bare.health"))).code).toBe(0);
    expect(existsSync(path("bare.health"))).toBe(true);
  });
});
