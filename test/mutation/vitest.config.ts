/** The tests as `npm run test:mutation` runs them: in one process, on sources that hold their mutants. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const DIRECTORY = process.env["MUTATION_DIRECTORY"]!;
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = <T>(name: string): T => JSON.parse(readFileSync(join(DIRECTORY, name), "utf8")) as T;
const codes = read<Readonly<Record<string, string>>>("codes.json");
const tests = read<readonly string[]>("tests.json");
const isAnew = "steps" in read<object>("plan.json");

/** In the order given: those first that kill much and cost little. */
class AsGiven extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => tests.findIndex((one) => moduleId.endsWith(one));
    return files.sort((a, b) => placeOf(a) - placeOf(b));
  }
}

export default defineConfig({
  root: ROOT,
  plugins: [
    {
      name: "mutation",
      enforce: "pre",
      transform(_, id) {
        const code = id.startsWith(ROOT) ? codes[id.slice(ROOT.length)] : undefined;
        return code === undefined ? undefined : { code, map: null };
      },
    },
  ],
  test: {
    include: [...tests],
    runner: join(ROOT, "test/mutation/runner.ts"),
    pool: "forks",
    maxWorkers: 1,
    // Only one test at a time can have the active mutant.
    maxConcurrency: 1,
    isolate: false,
    // A file that is loaded anew may be slow; of a test that is repeated, a mutant may let it wait for nothing.
    testTimeout: isAnew ? 30_000 : 20_000,
    dangerouslyIgnoreUnhandledErrors: true,
    sequence: { sequencer: AsGiven },
    cache: false,
  },
});
