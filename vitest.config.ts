import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { type TestProjectInlineConfiguration, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import "./bin/texts.mjs";

const CORES = availableParallelism();
const listOf = (name: string): unknown => JSON.parse(readFileSync(new URL(`test/${name}`, import.meta.url), "utf8"));

/** The tiers after the first, which has every other test (.github/CONTRIBUTING.md, "Tiers"; test/tiers.test.ts). */
const TIERS = listOf("tiers.json") as Readonly<Record<"built" | "thorough" | "longest", readonly string[]>>;
const { built, thorough, longest } = TIERS;
/**
 * Each of these has a process of its own. One measures its heap, of which that of other files would tell nothing. The
 * others load the library anew with another cryptography than Node's, which the files after them would be left with.
 * The built matrix runs a worker of the queue in its own process, which found no work after other files.
 */
const ALONE = listOf("alone.json") as readonly string[];

/** Without the SDKs one test says what to run, and the others of test/sdks/ are not there. */
const HAS_SDKS = existsSync(new URL("test/sdks/node_modules/.package-lock.json", import.meta.url));

interface Project {
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
  readonly alone?: boolean;
  readonly needsBuild?: boolean;
}

const PROJECTS: readonly Project[] = [
  {
    name: "fast",
    include: ["test/**/*.test.ts"],
    exclude: ["test/sdks/**", "test/peers/node_modules/**", ...built, ...thorough, ...ALONE],
  },
  { name: "built", include: without(built, ALONE), needsBuild: true },
  { name: "thorough", include: without(thorough, ALONE) },
  { name: "sdks", include: [`test/sdks/${HAS_SDKS ? "*" : "installed"}.test.ts`], alone: true },
  { name: "alone", include: without(ALONE, built), alone: true },
  { name: "built-alone", include: built.filter((file) => ALONE.includes(file)), alone: true, needsBuild: true },
];

/** A clone that has run no test yet would begin with the largest files, and wait for the longest at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = longest.findIndex((name) => moduleId.endsWith(`/${name}`));
      return place === -1 ? longest.length : place;
    };
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

function without(files: readonly string[], others: readonly string[]): readonly string[] {
  return files.filter((file) => !others.includes(file));
}

/** The files of a project share processes, unless each is alone. The projects after the first run together. */
function projectOf({ name, include, exclude = [], alone, needsBuild }: Project, at: number) {
  const test = { name, include: [...include], exclude: [...exclude], isolate: alone === true };
  const setup = needsBuild === true ? { globalSetup: "test/support/needs-build.ts" } : {};
  const groupOrder = Math.min(at, 1);
  // As many as there are cores: vitest's own default leaves one idle, which on two cores is half of them. One more
  // after the first: those tests wait for timeouts, servers and browsers.
  const maxWorkers = CORES + groupOrder;
  const options = { ...test, ...setup, maxWorkers, sequence: { groupOrder } };
  return { extends: true, test: options } as TestProjectInlineConfiguration;
}

export default defineConfig({
  test: {
    // Only for what hangs: a busy machine is no fault.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    setupFiles: ["test/support/setup.ts"],
    // Processes, not threads: tests change the working directory, and listen for warnings of their process.
    pool: "forks",
    sequence: { sequencer: LongestFirst },
    // The tiers are runs of their own: what one has transformed, the next one reads.
    experimental: { fsModuleCache: true },
    projects: PROJECTS.map(projectOf),
  },
});
