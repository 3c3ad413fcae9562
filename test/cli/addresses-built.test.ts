/** `bootproof addresses` as it is built: docs/addresses.md block by block, Ctrl-C, 429, and the page in Chromium. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_CHROMIUM, launchChromium } from "../support/chromium.js";
import { readBlocks } from "../support/documents.js";
import { type World, newFolder, startWorld } from "./addresses-world.js";
import type { Json } from "../lab/support.js";
import { COMMAND, Process } from "./process.js";
import { type Answer, bootproof, readJson } from "./support.js";

const BENCHMARK = fileURLToPath(new URL("../bench/addresses.mjs", import.meta.url));
const ACCEPT = ["--accept", "service,imported,exported"];

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.lab.close());

/** In this process. */
const run = (...args: readonly string[]): Promise<Answer> =>
  bootproof(["addresses", "--policy", world.policy, ...args], { now: new Date().toISOString() });

describe("docs/addresses.md", () => {
  const blocks = readBlocks("docs/addresses.md").map(({ text }) => text.replaceAll(/\\\n\s*/g, ""));
  const lines = blocks.flatMap((text) => text.split("\n").filter((line) => line !== ""));

  it("leads from an API key to a table, offline too", async () => {
    const folder = mkdtempSync(join(tmpdir(), "bootproof-addresses-"));
    const { lab } = world;
    const files = { "key.json": JSON.stringify(lab.apiKey), "root.pem": lab.trustAnchorPem };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content, { mode: 0o600 });
    const bin = join(folder, "bin");
    mkdirSync(bin);
    symlinkSync(COMMAND, join(bin, "bootproof"));
    const env = {
      PATH: `${bin}${delimiter}${process.env["PATH"]}`,
      BASE_URL: lab.baseUrl,
      ORGANIZATION_ID: lab.organizationId,
    };
    expect(lines).toHaveLength(8);
    const codes: (number | null)[] = [];
    for (const line of lines) {
      // The lab's root stands for that of AWS, and its whole policy for one of several pins.
      const own = line.startsWith("bootproof pin") ? `${line} --trust-anchor root.pem` : line;
      const { code, stderr } = await new Process([], { shell: own, cwd: folder, env }).ended;
      if (line.startsWith("bootproof policy check"))
        writeFileSync(join(folder, "policy.json"), readFileSync(world.policy));
      expect([line, code === 2 || code === 3 ? stderr : ""]).toEqual([line, ""]);
      codes.push(code);
    }
    // The lab has wallets that were imported, exported, or made without proofs.
    expect(codes).toEqual([0, 0, 1, 0, 1, 1, 1, 1]);
    expect(readFileSync(join(folder, "addresses.csv"), "utf8")).toMatch(/^class,address,/);
    expect(readFileSync(join(folder, "addresses.html"), "utf8")).toContain("NOT ACCEPTED");
  }, 120_000);
});

it.each(["SIGINT", "SIGKILL"] as const)(
  "goes on in the same folder after %s",
  async (signal) => {
    const folder = newFolder();
    const index = join(folder, "index.json");
    // Each request after the third waits, so that the signal comes between two of them.
    world.lab.setSettings({ rateLimit: { requests: 3, perMs: 60_000 } });
    const { child, ended } = new Process([
      "addresses",
      "--policy",
      world.policy,
      "--out",
      folder,
      ...ACCEPT,
      ...world.connection,
    ]);
    while (!existsSync(index) && child.exitCode === null) await setTimeout(20);
    child.kill(signal);
    const isKilled = signal === "SIGKILL";
    const { code, stdout, stderr } = await ended;
    world.lab.setSettings({});
    expect([code, child.signalCode, stdout]).toEqual([isKilled ? null : 3, isKilled ? signal : null, ""]);
    expect(stderr).toMatch(isKilled ? /^$/ : /interrupted: the same command goes on from /);
    expect(readJson(index)["complete"]).toBe(false);
    expect((await run("--out", folder, ...ACCEPT, ...world.connection)).code).toBe(0);
    const offline = ["--from", folder, "--organization-id", world.lab.organizationId, ...ACCEPT];
    expect(await run(...offline)).toMatchObject({ code: 0, stderr: "" });
  },
  60_000,
);

/** What the benchmark measures with the built library, in a process of its own. */
const measured = async (accounts: number): Promise<Json> => {
  const start = { node: ["--expose-gc"], command: BENCHMARK };
  const { code, stdout, stderr } = await new Process([String(accounts), "json"], start).ended;
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as Json;
};

it("takes as many requests for 10,000 accounts as pages and keys, and no more memory than for their rows", async () => {
  const [few, many] = [await measured(2_000), await measured(10_000)];
  expect(many).toMatchObject({ classes: { derived: 10_002 } });
  // 10,002 accounts are 101 pages. A page of 100 activities is too long, so it is asked for again in halves.
  const once = { whoami: 1, list_wallets: 1, list_private_keys: 1 };
  const pages = { list_wallet_accounts: 101, list_activities: 4, get_boot_proof: 4 };
  expect(many["requests"]).toEqual({ ...once, ...pages });
  // Bytes: about 3,100 with Node.js 20 and 1,900 with 24. Whoever keeps the pieces of the collection needs 5,000.
  expect((many["held"] - few["held"]) / 8_000).toBeLessThan(4_000);
});

it("waits as long as a service with a limit of requests wants", async () => {
  world.lab.setSettings({ rateLimit: { requests: 5, perMs: 1000 } });
  const answer = await run(...ACCEPT, ...world.connection);
  world.lab.setSettings({});
  expect(answer).toMatchObject({ code: 0, stderr: "" });
});

it.skipIf(NO_CHROMIUM)(
  "makes a page whose rows unfold without a script",
  async () => {
    const { stdout } = await run("--format", "html", ...world.connection);
    const file = join(mkdtempSync(join(tmpdir(), "bootproof-page-")), "addresses.html");
    writeFileSync(file, stdout);
    const browser = await launchChromium();
    try {
      for (const width of [1280, 390]) {
        const context = await browser.newContext({
          offline: true,
          javaScriptEnabled: false,
          viewport: { width, height: 900 },
        });
        const page = await context.newPage();
        const complaints: string[] = [];
        page.on("console", (message) => complaints.push(message.text()));
        await page.goto(pathToFileURL(file).href);
        const chain = page.locator("details").first();
        const links = chain.locator("li:has(> strong)");
        expect(await links.first().isVisible()).toBe(false);
        await chain.locator("summary").click();
        expect([await links.count(), await links.first().isVisible()]).toEqual([5, true]);
        const box = await page.locator("main").boundingBox();
        expect(box!.width).toBeLessThanOrEqual(width);
        expect(complaints).toEqual([]);
        await context.close();
      }
    } finally {
      await browser.close();
    }
  },
  60_000,
);
