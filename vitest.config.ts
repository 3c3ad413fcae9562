import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** These measure their own process: a heap in which other files left theirs would tell nothing. */
const ALONE = ["test/soak.test.ts"];

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
        // After the others, with the machine to themselves.
        test: { name: "alone", include: ALONE, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
