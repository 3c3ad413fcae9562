/** A signed policy at the entrances that need a build, as in `signed-policies.test.ts`. Needs `npm run build`. */
import { afterAll, expect, it } from "vitest";
import { bootproof, fileOf } from "../cli/support.js";
import { NO_REDIS } from "../support/redis.js";
import { AROUND } from "./cells.js";
import { BUILT, close } from "./doors-built.js";
import { SAYS, current, expectSigned, refused } from "./signed.js";

afterAll(close);

it.each(["audit, threads", "verify, GitHub action"] as const)("%s: a signed policy", (name) =>
  expectSigned(BUILT[name]),
);

it.skipIf(NO_REDIS)(
  NO_REDIS ? "audit, queue: not run here, Redis is missing" : "audit, queue: a signed policy",
  async () => {
    expect(await BUILT["audit, queue"](current, "honest")).toEqual({ accepted: true, why: [] });
  },
);

it("an audit names the version that judges, also in lines of JSON", async () => {
  const entry = fileOf(current.honest.bootProof, "entries.ndjson");
  const words = ["audit", entry, "--policy", current.policyPath, ...current.words("audit", "honest")];
  const { stderr } = await bootproof([...words, "--workers", "1"], AROUND);
  expect(stderr).toMatch(/^note: version 1 of .test\/signer., valid until .*, signed by [0-9a-f]{64}, .*, SHA-256 /);
  const { stderr: lines } = await bootproof([...words, "--workers", "1", "--log-format", "json"], AROUND);
  expect(JSON.parse(lines.split("\n")[0]!)).toMatchObject({
    event: "policy",
    fields: { name: "test/signer", version: 1 },
  });
});

it.each(refused)("a worker does not start under a signed policy that is %s", async (time, world) => {
  const queue = ["--queue", "redis://127.0.0.1:1"];
  const words = ["audit", "worker", ...queue, "--policy", world.policyPath, ...world.words("audit worker", "honest")];
  const { code, stderr } = await bootproof(words, AROUND);
  expect([code, stderr]).toEqual([1, expect.stringContaining(SAYS[time])]);
});
