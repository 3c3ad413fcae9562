/** Whatever the files hold: an exit code of the published ones, and no word of anything unexpected. */
import { readFileSync } from "node:fs";
import { fc, runs } from "../support/property.js";
import { expect, it } from "vitest";
import { APP_1, BOOT_1, bootproof, fileOf } from "./support.js";

const POLICY = fileOf((await bootproof(["pin", "--boot-proof", BOOT_1])).stdout);
const KINDS = [
  { original: readFileSync(BOOT_1), args: ["verify", "--no-policy", "--boot-proof", "-"] },
  { original: readFileSync(APP_1), args: ["verify", "--no-policy", "--boot-proof", BOOT_1, "--app-proof", "-"] },
  { original: readFileSync(APP_1), args: ["verify", "--no-policy", "--boot-proof", BOOT_1, "--activity", "-"] },
  {
    original: Buffer.from((await bootproof(["pin", "--boot-proof", BOOT_1])).stdout),
    args: ["verify", "--boot-proof", BOOT_1, "--policy", "-"],
  },
  {
    original: Buffer.from("version: 1\na:\n  appBinaryDigest: ab\n  PCR0: ab\n"),
    args: ["pin", "--app", "a", "--release", "-"],
  },
  { original: readFileSync(BOOT_1), args: ["inspect", "-"] },
  { original: readFileSync(BOOT_1), args: ["diff", BOOT_1, "-"] },
  { original: readFileSync(POLICY), args: ["diff", "-", POLICY] },
  {
    original: Buffer.from(
      (await bootproof(["bundle", "--boot-proof", BOOT_1, "--app-proof", APP_1, "--policy", POLICY])).stdout,
    ),
    args: ["verify", "-"],
  },
];

const change = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  text: fc.oneof(
    fc.constantFrom("", '"', "{", "[", "]", "}", ",", "null", "0", "1e999", "__proto__", "\u001b", "\u202e"),
    fc.string({ maxLength: 4 }),
  ),
  drop: fc.integer({ min: 0, max: 40 }),
});

it.each(KINDS)("$args", async ({ original, args }) => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      let text = original.toString("latin1");
      for (const { at, text: inserted, drop } of changes) {
        const place = Math.floor(at * text.length);
        text = text.slice(0, place) + inserted + text.slice(place + drop);
      }
      const { code, stdout, stderr } = await bootproof(args, { stdin: text });
      expect([0, 1, 2]).toContain(code);
      expect(stderr).not.toContain("unexpected");
      expect(
        code === 2 ? stdout : stderr.replace(/^Pinned.*|^Not pinned[^]*|^REJECTED[^]*|^warning.*/gm, "").trim(),
      ).toBe("");
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }),
    { numRuns: runs(80) },
  );
});
