/** The built watch and proxy under a signed policy, whose feed changes while they run. Needs `npm run build`. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { startLab } from "../../src/lab/index.js";
import type { LogEntry } from "../../src/watch/index.js";
import { renameWallet } from "../lab/support.js";
import { testFolder } from "../support/folder.js";
import { TestFeed, payloadIn, sha256Hex } from "../support/signed-policies.js";
import { isSign } from "../watch/support.js";
import { connectionTo } from "./support.js";

const COMMAND = fileURLToPath(new URL("../../dist/bin/bootproof.cjs", import.meta.url));
const folder = testFolder();
const lab = await startLab();
afterAll(() => lab.close());

interface Published {
  readonly feed: TestFeed;
  readonly path: string;
  readonly options: readonly string[];
  /** Adds a version that ends so many seconds from now. */
  publish(seconds?: number): void;
}

let count = 0;
function published(seconds?: number): Published {
  const feed = new TestFeed();
  const [path, signers, state] = ["feed.jsonl", "signers.json", "state.json"].map((name) =>
    join(folder, `${count}-${name}`),
  ) as [string, string, string];
  count++;
  writeFileSync(signers, JSON.stringify(feed.pinned));
  const publish = (left = 86_400): void => {
    const issuedAt = new Date(Date.now() - 60_000);
    feed.add({ policy: lab.policyFile, issuedAt, valid: 60_000 + 1000 * left });
    writeFileSync(path, feed.text());
  };
  publish(seconds);
  return { feed, path, options: ["--policy", path, "--policy-signers", signers, "--policy-state", state], publish };
}

class Process {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  stdout = "";
  stderr = "";

  constructor(args: readonly string[]) {
    this.child = spawn(process.execPath, [COMMAND, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    this.child.stdout!.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.child.stderr!.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.ended = new Promise((resolve) => this.child.on("close", resolve));
  }

  async until(holds: () => boolean): Promise<void> {
    for (const end = Date.now() + 120_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 20)))
      if (Date.now() > end || this.child.exitCode !== null)
        throw new Error(`not come to it: ${this.stdout}\n${this.stderr}`);
  }
}

function entriesIn(path: string): LogEntry[] {
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as LogEntry).filter((entry) => !isSign(entry));
}

describe("the built watch under a signed policy", () => {
  const asked = ["watch", "--app", "signer", "--interval", "1s", ...connectionTo(lab)];

  it("records a new version at SIGHUP and at --policy-refresh, and refuses a feed that is rolled back", async () => {
    const { feed, path, options, publish } = published();
    const [log, told] = [join(folder, "watch.jsonl"), join(folder, "told")];
    const watching = new Process([...asked, ...options, "--log", log]);
    await watching.until(() => watching.stdout.includes(" VERIFIED signer"));
    publish();
    watching.child.kill("SIGHUP");
    await watching.until(() => watching.stdout.includes("SETTING CHANGED: the policy; the policy is now"));
    watching.child.kill("SIGINT");
    expect(await watching.ended).toBe(0);
    const changed = entriesIn(log)[1]!;
    const digest = sha256Hex(payloadIn(feed.envelopes[1]!));
    expect(changed).toMatchObject({ event: "setting-changed", policyVersion: 2, policyDigest: digest });
    expect(watching.stdout).toContain(` version 2 sha256:${digest}`);

    const refreshing = ["--policy-refresh", "1s", "--on-refusal", `cat >> '${told}'`];
    const again = new Process([...asked, ...options, "--log", log, ...refreshing]);
    await again.until(() => again.stdout.includes(" STARTED signer"));
    publish();
    await again.until(() => again.stdout.includes(" version 3 sha256:"));
    writeFileSync(path, feed.text(1, 1));
    await again.until(() => again.stdout.includes("POLICY FEED REFUSED"));
    expect(again.stdout).toMatch(/#\d+ POLICY FEED REFUSED since .*: a rollback\n/);
    // It goes on by version 3, and the hook has the entry.
    await again.until(() => again.stderr.split("POLICY FEED REFUSED").length > 3);
    again.child.kill("SIGINT");
    expect(await again.ended).toBe(1);
    expect(JSON.parse(readFileSync(told, "utf8"))).toMatchObject({ event: "setting-refused", contradiction: true });
    const verified = new Process(["log", "verify", log]);
    expect([await verified.ended, verified.stderr]).toEqual([0, ""]);
    // A start does not take the feed, either.
    const start = new Process([...asked, ...options, "--log", log]);
    expect([await start.ended, start.stderr]).toEqual([2, expect.stringContaining("a rollback")]);
  });

  it("refuses the boot proof once the policy has expired, and accepts it when it is renewed", async () => {
    const { options, publish } = published(8);
    const watching = new Process([...asked, ...options, "--policy-refresh", "1s"]);
    await watching.until(() => watching.stdout.includes(" VERIFIED signer"));
    await watching.until(() => /REJECTED signer: policy\.current \(version 1 of \S+ expired at /.test(watching.stdout));
    publish();
    await watching.until(() => watching.stdout.split(" VERIFIED signer").length === 3);
    watching.child.kill("SIGINT");
    expect(await watching.ended).toBe(0);
  });
});

describe("the built proxy under a signed policy", () => {
  const asked = ["proxy", "--upstream", lab.baseUrl, ...connectionTo(lab).slice(-2)];

  it("does not start when the policy has expired", async () => {
    const { options, path } = published(-1);
    const proxy = new Process([...asked, ...options]);
    expect([await proxy.ended, proxy.stdout]).toEqual([1, ""]);
    expect(proxy.stderr).toContain(path);
    expect(proxy.stderr).toMatch(/version 1 of test\/signer expired at .*\n.*Get the newest version/);
  });

  it("says yes until the policy has expired, and no more", async () => {
    const { options } = published(8);
    const proxy = new Process([...asked, ...options]);
    await proxy.until(() => proxy.stdout.endsWith("\n"));
    const [, baseUrl] = /^listening on (\S+)\n$/.exec(proxy.stdout)!;
    const through = Object.create(lab, { baseUrl: { value: baseUrl } }) as typeof lab;
    expect((await renameWallet(through, "before")).status).toBe("ACTIVITY_STATUS_COMPLETED");
    await new Promise((resolve) => setTimeout(resolve, 8000));
    await renameWallet(through, "after").catch(() => {});
    expect(proxy.stderr).toMatch(/502 .*policy\.current/);
    proxy.child.kill("SIGINT");
    expect(await proxy.ended).toBe(0);
  });
});
