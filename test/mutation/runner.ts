/**
 * Runs each test as it is, and then again for each living mutant that would have changed something in it. A test that
 * fails with a mutant, and passes without it afterwards, kills it. A mutant that changes something outside of tests (in
 * modules, in hooks) is only told of here: it needs a process of its own, in which `only` is active from the start.
 */
import crypto from "node:crypto";
import { appendFileSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join, relative } from "node:path";
import { type RunnerTask, type RunnerTestCase, type RunnerTestSuite, TestRunner, vi } from "vitest";

/** What the process is to do: written by run.mjs. */
interface Plan {
  readonly count: number;
  /** Active in all that runs; nothing is run twice. */
  readonly only?: number;
  readonly alive: readonly number[];
  /** Tests that take longer, and tests that take less, are left to another pass. In milliseconds. */
  readonly slowest: number;
  readonly quickest: number;
  /** What the mutants of one test may take. */
  readonly budget: number;
  /** How many tests of one file a mutant has to survive before it runs in some of the rest only. */
  readonly most: number;
}

const DIRECTORY = process.env["MUTATION_DIRECTORY"]!;
const plan = JSON.parse(readFileSync(join(DIRECTORY, "plan.json"), "utf8")) as Plan;
/** How often an active mutant may be come by: what loops without an end is beyond it. */
const MAX_HITS = 1_000_000;
/** Of the tests of a file, for mutants that survived many: one of so many, spread over the file. */
const SOME = 4;

/** What the mutated sources ask (see mutants.mjs), and what they came by. */
class Mutation {
  active = plan.only ?? -1;
  hits = 0;
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
const told = join(DIRECTORY, "told.jsonl");
if (existsSync(told)) {
  for (const line of readFileSync(told, "utf8").trim().split("\n").filter(Boolean)) {
    const { killed = [] } = JSON.parse(line) as { readonly killed?: readonly number[] };
    for (const id of killed) alive.delete(id);
  }
}

export default class MutationRunner extends TestRunner {
  readonly #outside = new Set<number>();
  readonly #inside = new Set<number>();
  /** In how many tests of the file each mutant ran. */
  readonly #survived = new Map<number, number>();
  #index = 0;

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test) as () => Promise<void>;
    if (plan.only !== undefined) return run();
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
    if (took >= plan.quickest && took < plan.slowest) await this.#withMutants(test, run, changed);
    mutation.changes.fill(0);
  }

  async #withMutants(test: RunnerTestCase, run: () => Promise<void>, mutants: readonly number[]): Promise<void> {
    const until = performance.now() + plan.budget;
    this.#index++;
    const killed: number[] = [];
    let done = 0;
    for (const id of mutants) {
      if (performance.now() > until) break;
      done++;
      const survived = this.#survived.get(id) ?? 0;
      if (survived >= plan.most && (this.#index + id) % SOME !== 0) continue;
      this.#survived.set(id, survived + 1);
      if (await this.#fails(run, id)) killed.push(id);
    }
    const by = nameOf(test);
    if (killed.length > 0 && (await this.#fails(run, -1))) {
      tell({ unrepeatable: by, suspected: killed });
      return;
    }
    for (const id of killed) alive.delete(id);
    if (killed.length > 0) tell({ killed, by });
    if (done < mutants.length) tell({ unfinished: by, left: mutants.length - done });
  }

  async #fails(run: () => Promise<void>, id: number): Promise<boolean> {
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

  #note(where: Set<number>): void {
    for (let id = 0; id < plan.count; id++) if (mutation.changes[id] === 1) where.add(id);
    mutation.changes.fill(0);
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onAfterRunSuite(suite);
    if (plan.only !== undefined || suite.file.id !== suite.id) return;
    this.#note(this.#outside);
    tell({ file: fileOf(suite), outside: [...this.#outside], inside: [...this.#inside] });
    this.#outside.clear();
    this.#inside.clear();
    this.#survived.clear();
  }
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
// In a process of one mutant nothing is run twice.
if (isFirst && plan.only === undefined) rememberSignatures();
