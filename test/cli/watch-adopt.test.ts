/** `watch --adopt`: a log that its key has not signed is accepted by its head, once. */
import { generateKeyPairSync } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { generateApiKey } from "../../src/client/stamp.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { linesOf, textOf } from "../watch/support.js";
import { bootproof, connectionTo, fileOf, refused } from "./support.js";

const lab = new Forge();
const { anchorPem } = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
const policy = fileOf(JSON.stringify(labPolicy(anchorPem, [labDeployment(lab)])));
const key = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
// Nothing listens there: a watch that opened its log ends with 3.
const service = { baseUrl: "https://127.0.0.1:1", organizationId: "o", apiKey: await generateApiKey() };
const CONNECTION = connectionTo(service);
const lines = await linesOf(3);
const head = lines.at(-1)!.hash;

describe("watch --adopt", () => {
  it.each<[string, string[], RegExp]>([
    ["without a log", ["--adopt", head], /--adopt: only with --log/],
    ["without a key", ["--log", "l", "--adopt", head], /--adopt: only with --checkpoint-key FILE/],
    [
      "of another form",
      ["--log", "l", "--checkpoint-key", "k", "--adopt", "abcd"],
      /--adopt: expected 64 hex digits, as bootproof log verify prints them/,
    ],
  ])("is refused %s", (_, more, message) =>
    refused(2, bootproof(["watch", "--app", "a", "--policy", "p", ...more, ...CONNECTION]), message),
  );

  it("names the head of a log that the key has not signed, and is refused the next time", async () => {
    const path = fileOf(textOf(lines));
    const args = ["watch", "--app", "signer", "--policy", policy, "--once", "--log", path, "--checkpoint-key"];
    const run = (...more: string[]): ReturnType<typeof bootproof> =>
      bootproof([...args, fileOf(key), ...more, ...CONNECTION]);
    const sentence = `start once with --adopt ${head}`;
    for (const more of [[], ["--adopt", "ab".repeat(32)]]) {
      const { code, stderr } = await run(...more);
      expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
    }
    expect(existsSync(`${path}.state`)).toBe(false);
    expect(await run("--adopt", head.toUpperCase())).toMatchObject({ code: 3 });
    expect(readFileSync(`${path}.state`, "utf8")).toMatch(/^bootproof-log-state\/3\n/);
    const again = await run("--adopt", head);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("there is nothing to adopt")]);
    expect(await run()).toMatchObject({ code: 3 });
  });
});
