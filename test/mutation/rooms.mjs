/**
 * What a run of mutations may be of: sources and their tests, each by the beginning of its path. A source is in the row
 * with the longest beginning that fits. Tests run in the order of their beginnings, so cheap ones that kill much come
 * first.
 *
 * `processEach`: tests that cannot be repeated in one process, such as those of a queue. Each mutant has its own.
 */
export const ROOMS = {
  verify: {
    sources: ["src/verify/", "src/decode/ecdsa-signature.ts"],
    tests: ["test/attacks/accepted.test.ts", "test/verify/", "test/appraise/", "test/attacks/", "test/"],
  },
  appraise: {
    sources: ["src/appraise/"],
    tests: [
      "test/attacks/accepted.test.ts",
      "test/verify/",
      "test/appraise/questions",
      "test/appraise/pins",
      "test/appraise/policy",
      "test/appraise/",
      "test/attacks/",
      "test/",
    ],
  },
  editing: {
    sources: ["src/appraise/edit.ts", "src/appraise/json-edit.ts"],
    tests: ["test/appraise/edit", "test/appraise/json-edit", "test/own-options", "test/cli/policy", "test/cli/pin"],
  },
  diff: { sources: ["src/diff/"], tests: ["test/diff/", "test/own-options", "test/cli/diff", "test/review/"] },
  review: {
    // What it shares with diff is in the row above.
    sources: ["src/review/"],
    tests: [
      ...["text", "data", "attacks", "changes", ""].map((name) => `test/review/${name}`),
      "test/own-options",
      "test/cli/review",
    ],
  },
  formats: {
    sources: ["src/formats/"],
    tests: ["test/formats/", "test/report/facts", "test/own-options", "test/cli/ear-key", "test/cli/file-formats"],
  },
  page: {
    // Only a browser runs browser.ts: test/page/chromium.test.ts does, in the built page.
    sources: ["src/page/"],
    without: ["src/page/browser.ts"],
    tests: [
      ...["markup", "view", "chain.", "verifier"].map((name) => `test/page/${name}`),
      "test/own-options",
      "test/attacks/beside",
    ],
  },
  exchange: {
    sources: ["src/exchange/"],
    tests: ["test/exchange/", "test/client/", "test/adapters/", "test/proxy/", "test/own-options"],
  },
  settings: {
    sources: ["src/plain-settings.ts"],
    tests: ["test/audit/setting", "test/plain-settings", "test/watch/setting", "test/bundle/", "test/own-options"],
  },
  watch: { sources: ["src/watch/"], tests: ["test/watch/", "test/own-options", "test/faults/files", "test/cli/watch"] },
  audit: {
    sources: ["src/audit/"],
    tests: [
      ...["answered", "entry", "run", "setting", "node-run", "node-source", "node-threads", "auditor"].map(
        (name) => `test/audit/${name}`,
      ),
      "test/own-options",
      "test/faults/files",
    ],
  },
  queue: {
    sources: ["src/audit/node-queue", "src/audit/node-redis.ts", "src/audit/node-worker.ts", "src/audit/queue"],
    tests: ["test/audit/node-queue"],
    processEach: true,
  },
  release: {
    sources: ["src/release/"],
    tests: ["test/release/", "test/own-options", "test/cli/release", "test/cli/pin-release"],
  },
  image: { sources: ["src/image/"], tests: ["test/image/", "test/own-options", "test/appraise/pin-build"] },
};

/** The rooms of a run that names none: what decides. */
export const DECIDING = ["verify", "appraise"];

/**
 * @param {string} source A path of a source file.
 * @returns {string | undefined}
 */
export function roomOf(source) {
  const fits = Object.entries(ROOMS).flatMap(([room, { sources, without = [] }]) =>
    without.includes(source) ? [] : sources.filter((start) => source.startsWith(start)).map((start) => [room, start]),
  );
  return fits.sort(([, a], [, b]) => b.length - a.length)[0]?.[0];
}
