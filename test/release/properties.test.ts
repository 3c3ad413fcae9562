/** What holds of every release: a change of any file is noticed, and no order of releases matters. */
import { expect, it } from "vitest";
import { checkReleases } from "../../src/release/check.js";
import { readRelease } from "../../src/release/release.js";
import { renderReleaseCheck } from "../../src/release/text.js";
import { fc, mutated, runs } from "../support/property.js";
import { releaseOf } from "../support/releases.js";
import { allGenuine } from "./support.js";

const FILES = releaseOf("2026.7.0");
const PLACE = { version: "2026.7.0", application: "signer" };
const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.from(one).equals(Buffer.from(other));

it("a changed file is a fault, or says the same", async () => {
  let [all, bad] = [0, 0];
  const [name, bytes] = [fc.constantFrom(...FILES.keys()), (file: string) => mutated(FILES.get(file)!)];
  const changed = name.chain((file) => fc.tuple(fc.constant(file), bytes(file)));
  await fc.assert(
    fc.asyncProperty(changed, async ([file, content]) => {
      const release = await readRelease(new Map(FILES).set(file, content), PLACE);
      const check = await checkReleases([release], { noManifestSet: true });
      expect(renderReleaseCheck(check)).toMatch(check.good ? /^good: / : /^not good: /);
      all++;
      if (!check.good) bad++;
      // White space, the order of members and the case of hex: the same manifest, the same three approvals.
      else if (!isSame(content, FILES.get(file)!)) {
        const original = await readRelease(FILES, PLACE);
        expect([release.manifestHash, release.approvals.length]).toEqual([original.manifestHash, 3]);
      }
    }),
    { numRuns: runs(300) },
  );
  expect(bad).toBeGreaterThan(all / 2);
});

it("arbitrary files are read without an exception, and are never good", async () => {
  const name = fc.constantFrom("manifest", "manifest.json", "1-x.approval", "__proto__", "x");
  const files = fc.uniqueArray(fc.tuple(name, fc.uint8Array({ maxLength: 60 })), { selector: ([one]) => one });
  await fc.assert(
    fc.asyncProperty(files, async (entries) => {
      const release = await readRelease(entries, PLACE);
      expect((await checkReleases([release], { noManifestSet: true })).good).toBe(false);
    }),
    { numRuns: runs(200) },
  );
});

it("the order in which releases are given changes nothing", async () => {
  const all = await allGenuine();
  const { histories } = await checkReleases(all, { noManifestSet: true });
  const sorted = (list: typeof histories) =>
    [...list].sort((one, other) => (one.application < other.application ? -1 : 1));
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(all, { minLength: all.length }), async (shuffled) => {
      const again = await checkReleases(shuffled, { noManifestSet: true });
      expect(sorted(again.histories)).toEqual(sorted(histories));
    }),
    { numRuns: runs(3) },
  );
});
