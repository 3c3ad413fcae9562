/** The built watch under a signed policy, whose feed changes while it runs. Needs `npm run build`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { startLab } from "../../src/lab/index.js";
import type { RunEntry } from "../../src/run/line.js";
import { testFolder } from "../support/folder.js";
import { TestFeed, payloadIn, sha256Hex } from "../support/signed-policies.js";
import { Process, killAll, run } from "./process.js";
import { bootproof, connectionTo } from "./support.js";

const folder = testFolder();
const lab = await startLab();
afterEach(killAll);
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

function entriesIn(path: string): RunEntry[] {
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines
    .map((line) => JSON.parse(line) as RunEntry)
    .filter((entry) => !/"event":"(?:started|alive|stopped)"/.test(JSON.stringify(entry)));
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
    expect((await watching.end("SIGINT")).code).toBe(0);
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
    await again.until(() => / ANNOUNCED line \d+\n/.test(again.stdout));
    expect(again.stderr).toContain("POLICY FEED REFUSED");
    expect((await again.end("SIGINT")).code).toBe(1);
    expect(JSON.parse(readFileSync(told, "utf8"))).toMatchObject({ event: "setting-refused", contradiction: true });
    expect(await run("log", "verify", log)).toMatchObject({ code: 0, stderr: "" });
    // A start does not take the feed, either.
    expect(await run(...asked, ...options, "--log", log)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("a rollback") as string,
    });
  });
});

it("the proxy does not start when the policy has expired", async () => {
  const { options, path } = published(-1);
  const { code, stdout, stderr } = await bootproof(
    ["proxy", "--upstream", lab.baseUrl, ...connectionTo(lab).slice(-2), ...options],
    { now: new Date().toISOString() },
  );
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(path);
  expect(stderr).toMatch(/version 1 of test\/signer expired at .*\n.*Get the newest version/);
});
