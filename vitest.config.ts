import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/**
 * Each of these has a process of its own. One measures its heap, of which that of other files would tell nothing. The
 * others load the library anew with another cryptography than Node's, which the files after them would be left with.
 */
const ALONE = JSON.parse(readFileSync(new URL("test/alone.json", import.meta.url), "utf8")) as string[];

export default defineConfig({
  test: {
    testTimeout: 60_000,
    // As many as there are cores: vitest's own default leaves one idle, which on two cores is half of them.
    maxWorkers: availableParallelism(),
    // Processes, not threads: tests change the working directory, and listen for warnings of their process.
    pool: "forks",
    projects: [
      {
        extends: true,
        test: { name: "shared", include: ["test/**/*.test.ts"], exclude: ALONE, isolate: false },
      },
      {
        extends: true,
        // After the others.
        test: { name: "alone", include: ALONE, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
