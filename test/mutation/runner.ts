/**
 * Runs each test as it is, and then again for each living mutant that would have changed something in it. A test that
 * fails with a mutant, and passes without it afterwards, kills it. A mutant that changes something outside of tests (in
 * modules, in hooks) is only reported. Another process runs those as `steps`: each loads one test file anew, with a
 * mutant that is active from the start.
 */
import crypto from "node:crypto";
import { appendFileSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join, relative } from "node:path";
import { type RunnerTask, type RunnerTestCase, type RunnerTestSuite, TestRunner, vi } from "vitest";

/** What the process is to do: written by run.mjs. */
interface Plan {
  readonly count: number;
  /** Instead of the rest: a step for each file that runs, in the order of the files. */
  readonly steps?: readonly Step[];
  readonly alive: readonly number[];
  /** In milliseconds: tests that take longer are left to another pass. */
  readonly slowest: number;
  /** The ids of the tests that an earlier pass ran with mutants. */
  readonly tried: readonly string[];
  /** What the mutants of one test may take, and the tests of one step. */
  readonly budget: number;
  /** How many tests of one file a mutant has to survive before it runs in some of the rest only. */
  readonly most: number;
}

/** A test file, and the mutant that is active in it: -1 for none, to see that the files that killed pass without. */
interface Step {
  readonly id: number;
  readonly test: string;
}

const DIRECTORY = process.env["MUTATION_DIRECTORY"]!;
const plan = JSON.parse(readFileSync(join(DIRECTORY, "plan.json"), "utf8")) as Plan;
/** How often an active mutant may be come by: what loops without an end is beyond it. */
const MAX_HITS = 1_000_000;
/** Of the tests of a file, for mutants that survived many: one of so many, spread over the file. */
const SOME = 4;

/** What the mutated sources ask (see mutants.mjs), and what they came by. */
class Mutation {
  active = -1;
  hits = 0;
  /** When the step began. */
  since = 0;
  /** Of the steps: mutants that a test failed with, and the files of those tests. */
  readonly dead = new Set<number>();
  readonly killers = new Set<string>();
  /** By mutant: whether it would have changed what was computed. */
  readonly changes = new Uint8Array(plan.count);

  is(id: number): boolean {
    this.changes[id] = 1;
    return id === this.active && this.#hit();
  }

  condition(whenTrue: number, whenFalse: number, value: unknown): unknown {
    if (whenTrue >= 0 && !value) {
      this.changes[whenTrue] = 1;
      if (whenTrue === this.active) return this.#hit();
    }
    if (whenFalse >= 0 && value) {
      this.changes[whenFalse] = 1;
      if (whenFalse === this.active) return !this.#hit();
    }
    return value;
  }

  boundary(id: number, operator: string, left: number, right: number): boolean {
    const isLess = operator.startsWith("<") ? left < right : left > right;
    const isLessOrEqual = operator.startsWith("<") ? left <= right : left >= right;
    if (isLess !== isLessOrEqual) this.changes[id] = 1;
    const orEqual = operator.endsWith("=") !== (id === this.active && this.#hit());
    return orEqual ? isLessOrEqual : isLess;
  }

  list(id: number, value: readonly unknown[]): readonly unknown[] {
    if (value.length > 0) this.changes[id] = 1;
    return id === this.active && this.#hit() ? [] : value;
  }

  /** `left ?? right()`, or the left side alone. */
  left(id: number, left: unknown, right: () => unknown): unknown {
    if (left !== undefined && left !== null) return left;
    this.changes[id] = 1;
    return id === this.active && this.#hit() ? left : right();
  }

  /** What a method answers, or what it was called on. */
  dropped(id: number, on: ArrayLike<unknown>, call: (on: unknown) => ArrayLike<unknown>): unknown {
    // Some change what they are called on.
    const before = Array.isArray(on) ? [...(on as unknown[])] : on;
    const answer = call(on);
    if (answer.length !== before.length || Array.from(answer).some((item, index) => item !== before[index]))
      this.changes[id] = 1;
    return id === this.active && this.#hit() ? before : answer;
  }

  #hit(): true {
    if (++this.hits > MAX_HITS) throw new Error("a mutant that loops without an end");
    return true;
  }
}

const GLOBAL = Symbol.for("mutation");
const globals = globalThis as unknown as { [GLOBAL]?: Mutation };
const isFirst = globals[GLOBAL] === undefined;
const mutation = (globals[GLOBAL] ??= new Mutation());

function tell(line: object): void {
  appendFileSync(join(DIRECTORY, "told.jsonl"), `${JSON.stringify(line)}\n`);
}

const current = openSync(join(DIRECTORY, "current"), "w");
const alive = new Set(plan.alive);
const tried = new Set(plan.tried);
const told = join(DIRECTORY, "told.jsonl");
if (existsSync(told)) {
  for (const line of readFileSync(told, "utf8").trim().split("\n").filter(Boolean)) {
    const { killed = [] } = JSON.parse(line) as { readonly killed?: readonly number[] };
    for (const id of killed) alive.delete(id);
  }
}

/** How much longer than without a mutant a test may take, and what each may take, in milliseconds. */
const SLOWER = 10;
const LEAST_TIME = 3000;

/** Rejects where a test waits for what a mutant left out. */
async function inTime(work: Promise<void>, limit: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("longer than without a mutant")), limit);
  });
  await Promise.race([work, end]).finally(() => clearTimeout(timer));
}

export default class MutationRunner extends TestRunner {
  readonly #outside = new Set<number>();
  readonly #inside = new Set<number>();
  /** In how many tests of the file each mutant ran. */
  readonly #survived = new Map<number, number>();
  #index = 0;

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test) as () => Promise<void>;
    const step = stepOf(test.file.filepath);
    if (step !== undefined) return runInStep(step, run);
    this.#note(this.#outside);
    const start = performance.now();
    try {
      await run();
    } catch (error) {
      tell({ broken: fileOf(test) });
      this.#note(this.#inside);
      throw error;
    }
    const took = performance.now() - start;
    const changed = [...alive].filter((id) => mutation.changes[id] === 1);
    this.#note(this.#inside);
    if (took < plan.slowest && !tried.has(test.id)) {
      const limit = Math.max(LEAST_TIME, SLOWER * took);
      await this.#withMutants(test, () => inTime(run(), limit), changed);
      tell({ tried: test.id });
    }
    mutation.changes.fill(0);
  }

  async #withMutants(test: RunnerTestCase, run: () => Promise<void>, mutants: readonly number[]): Promise<void> {
    const until = performance.now() + plan.budget;
    this.#index++;
    const by = nameOf(test);
    const killed: number[] = [];
    let done = 0;
    for (const id of mutants) {
      if (performance.now() > until) break;
      done++;
      const survived = this.#survived.get(id) ?? 0;
      if (survived >= plan.most && (this.#index + id) % SOME !== 0) continue;
      this.#survived.set(id, survived + 1);
      if (!(await this.#fails(test, run, id))) continue;
      killed.push(id);
      // Of a test that fails without a mutant, too, the first failure says so: no other mutant has to run.
      if (killed.length === 1 && (await this.#fails(test, run, -1))) break;
    }
    if (killed.length > 0 && (await this.#fails(test, run, -1))) {
      tell({ unrepeatable: by, suspected: killed.length === 1 ? mutants : killed });
      return;
    }
    for (const id of killed) alive.delete(id);
    if (killed.length > 0) tell({ killed, by });
    if (done < mutants.length) tell({ unfinished: by, left: mutants.length - done });
  }

  async #fails(test: RunnerTestCase, run: () => Promise<void>, id: number): Promise<boolean> {
    await startAgain(test);
    mutation.hits = 0;
    mutation.active = id;
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
    writeSync(current, String(id).padEnd(8), 0);
    try {
      await run();
      return false;
    } catch {
      return true;
    } finally {
      mutation.active = -1;
    }
  }

  override async importFile(path: string, source: Parameters<TestRunner["importFile"]>[1]): Promise<unknown> {
    const step = source === "collect" ? stepOf(path) : undefined;
    if (step === undefined) return super.importFile(path, source);
    if (isDecided(step)) return undefined;
    vi.resetModules();
    mutation.hits = 0;
    mutation.active = step.id;
    mutation.since = performance.now();
    writeSync(current, String(step.id).padEnd(8), 0);
    try {
      return (await super.importFile(path, source)) as unknown;
    } catch (error) {
      fail(step);
      throw error;
    }
  }

  #note(where: Set<number>): void {
    for (let id = 0; id < plan.count; id++) if (mutation.changes[id] === 1) where.add(id);
    mutation.changes.fill(0);
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onAfterRunSuite(suite);
    if (suite.file.id !== suite.id) return;
    const step = stepOf(suite.file.filepath);
    if (step !== undefined) {
      if (hasFailed(suite)) fail(step);
      return;
    }
    this.#note(this.#outside);
    tell({ file: fileOf(suite), outside: [...this.#outside], inside: [...this.#inside] });
    this.#outside.clear();
    this.#inside.clear();
    this.#survived.clear();
  }
}

/** The step of a file that run.mjs made for it: its name is the index. */
function stepOf(path: string): Step | undefined {
  return plan.steps?.[Number(/(\d+)\.test\.ts$/.exec(path)?.[1])];
}

/** Whether the step needs no run, or no further test. */
function isDecided({ id, test }: Step): boolean {
  return id === -1 ? !mutation.killers.has(test) : mutation.dead.has(id);
}

async function runInStep(step: Step, run: () => Promise<void>): Promise<void> {
  if (isDecided(step) || performance.now() - mutation.since > plan.budget) return;
  // Its time of change says that the mutant still does something.
  writeSync(current, String(step.id).padEnd(8), 0);
  try {
    await run();
  } catch (error) {
    fail(step);
    throw error;
  }
}

function fail(step: Step): void {
  if (isDecided(step)) return;
  const { id, test } = step;
  if (id === -1) return tell({ spoilt: test });
  mutation.dead.add(id);
  mutation.killers.add(test);
  tell({ killed: [id], by: `${test}: with its modules loaded anew` });
}

/** A hook; a test that failed has said so itself. */
function hasFailed(suite: RunnerTestSuite): boolean {
  const inside = suite.tasks.some((task) => task.type === "suite" && hasFailed(task));
  return inside || (suite.result?.errors?.length ?? 0) > 0;
}

/** Ends what the test's last run left open, and prepares the next: vitest itself does so for the first and the last. */
async function startAgain(test: RunnerTestCase): Promise<void> {
  const suites = suitesOf(test);
  for (const suite of [...suites].reverse())
    for (const hook of TestRunner.getSuiteHooks(suite).afterEach.toReversed()) await hook(test.context, suite);
  const { onFinished = [] } = test as { readonly onFinished?: ((context: object) => unknown)[] };
  for (const hook of onFinished.splice(0).reverse()) await hook(test.context);
  for (const suite of suites)
    for (const hook of TestRunner.getSuiteHooks(suite).beforeEach) await hook(test.context, suite);
}

/** From the file inwards. */
function suitesOf(test: RunnerTestCase): readonly RunnerTestSuite[] {
  const suites: RunnerTestSuite[] = [];
  for (let at: RunnerTestSuite | undefined = test.suite ?? test.file; at !== undefined; at = at.suite)
    suites.unshift(at);
  return suites[0] === test.file ? suites : [test.file, ...suites];
}

function fileOf(task: RunnerTask): string {
  return relative(process.cwd(), task.file.filepath);
}

function nameOf(test: RunnerTestCase): string {
  const names = [test.name];
  for (let at = test.suite; at !== undefined && at !== test.file; at = at.suite) names.unshift(at.name);
  return `${fileOf(test)}: ${names.join(" > ")}`;
}

/**
 * The same signatures are made and verified for every mutant: remembered, they cost next to nothing. What is answered
 * is what would be; that ECDSA signs by chance is nothing that a test may count on.
 */
function rememberSignatures(): void {
  const ids = new WeakMap<object, number>();
  let next = 0;
  const idOf = (key: unknown): string => {
    if (typeof key !== "object" || key === null) return String(key);
    if (key instanceof crypto.KeyObject) {
      if (!ids.has(key)) ids.set(key, next++);
      return `#${ids.get(key)}`;
    }
    if (ArrayBuffer.isView(key)) return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("base64");
    return `{${Object.entries(key)
      .map(([name, value]) => `${name}:${idOf(value)}`)
      .join()}}`;
  };
  for (const name of ["sign", "verify", "createPublicKey", "createPrivateKey"] as const) {
    const answers = new Map<string, unknown>();
    const original = crypto[name] as (...inputs: unknown[]) => unknown;
    const remembered = (...inputs: unknown[]): unknown => {
      const callback = typeof inputs.at(-1) === "function" ? (inputs.pop() as (...answer: unknown[]) => void) : null;
      const id = inputs.map(idOf).join(" ");
      const known = answers.get(id);
      if (callback !== null) {
        if (known !== undefined) return queueMicrotask(() => callback(null, known));
        return original(...inputs, (error: unknown, answer: unknown) => {
          if (error === null) answers.set(id, answer);
          callback(error, answer);
        });
      }
      const answer = known ?? original(...inputs);
      if (answers.size > 20_000) answers.clear();
      answers.set(id, answer);
      // A signature is its caller's, who may change it.
      return Buffer.isBuffer(answer) ? Buffer.from(answer) : answer;
    };
    (crypto as unknown as Record<string, unknown>)[name] = remembered;
  }
  syncBuiltinESMExports();
}
// The modules of a step may count how often a signature is verified.
if (isFirst && plan.steps === undefined) rememberSignatures();
