/** Runs one layer: changed inputs, one after the other, each judged by the layer's oracles. */
import { leastCostMs } from "../support/cost.js";
import { mutate } from "./mutate.js";
import { Random } from "./random.js";

export type Outcome = "accepted" | "refused";

/** One kind of input, and what holds of everything that is done with it. */
export interface Layer {
  /** Inputs to change. */
  readonly seeds: readonly Uint8Array[];
  /** In the place of `mutate`: for formats whose checksums and signatures would stop every other change. */
  readonly mutate?: (input: Uint8Array, random: Random, others: readonly Uint8Array[]) => Uint8Array;
  /** Throws for whatever must not be: a crash, or something accepted that nobody can explain. */
  readonly run: (input: Uint8Array) => Outcome | Promise<Outcome>;
}

/** What an oracle says. */
export class Unexplained extends Error {
  override readonly name = "Unexplained";
}

/** Throws where it is not so: for oracles. */
export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Unexplained(what);
}

export interface Finding {
  readonly layer: string;
  /** Of the input that was changed, the smallest that does the same. */
  readonly input: Uint8Array;
  readonly what: string;
}

export interface Tally {
  executions: number;
  accepted: number;
  refused: number;
  slowestMs: number;
  findings: Finding[];
  /** Inputs that were kept, since they reached what none before did. */
  kept: number;
}

/** Whoever watches over a run. */
export interface Watcher {
  /** Before each execution: what is to blame if it never ends. */
  before?(input: Uint8Array): void;
  after?(): void;
  /** Whether code was reached since the last call that was not before, and is known from now on where it is said so. */
  reachedNew?(remember: boolean): boolean;
}

export interface LoopOptions {
  readonly name: string;
  readonly seed: number;
  readonly executions: number;
  /** By the clock; whichever is first. */
  readonly seconds?: number;
  readonly watcher?: Watcher;
}

/** An execution that takes longer, three times in a row, is a finding. */
const MAX_MS = 1000;
const MAX_FINDINGS = 20;
/** Executions between two looks at what was reached. */
const SAMPLE = 200;
const CHUNK = 20;
const MAX_KEPT = 2000;

export async function fuzz(layer: Layer, options: LoopOptions): Promise<Tally> {
  const { name, seed, executions, seconds = Infinity, watcher = {} } = options;
  const random = new Random(seed, name);
  const tally: Tally = { executions: 0, accepted: 0, refused: 0, slowestMs: 0, findings: [], kept: 0 };
  const corpus = [...layer.seeds];
  const start = performance.now();
  let sample: Uint8Array[] = [];
  const seen = new Set<string>();
  for (const input of layer.seeds) await tried(input);
  watcher.reachedNew?.(true);
  while (tally.executions < executions && performance.now() - start < 1000 * seconds) {
    // What was kept last leads on: it is chosen as often as all the others together.
    const from = random.oneIn(2) ? random.pick(corpus) : random.pick(corpus.slice(-20));
    const input = (layer.mutate ?? mutate)(from, random, corpus);
    await tried(input);
    if (tally.findings.length >= MAX_FINDINGS) break;
    if (watcher.reachedNew === undefined) continue;
    sample.push(input);
    if (sample.length < SAMPLE) continue;
    if (corpus.length < MAX_KEPT && watcher.reachedNew(false)) await keep(sample);
    sample = [];
  }
  return tally;

  async function tried(input: Uint8Array): Promise<void> {
    watcher.before?.(input);
    const [outcome, milliseconds] = await outcomeOf(layer, input);
    watcher.after?.();
    tally.executions++;
    tally.slowestMs = Math.max(tally.slowestMs, milliseconds);
    if (outcome === "accepted" || outcome === "refused") tally[outcome]++;
    else if (!seen.has(kindOf(outcome))) {
      seen.add(kindOf(outcome));
      tally.findings.push({ layer: name, input: await minimised(layer, input, kindOf(outcome)), what: outcome });
    }
  }

  /** Some of them reached something new: they are run once more, a few at once and then alone, to tell which. */
  async function keep(inputs: readonly Uint8Array[]): Promise<void> {
    for (let at = 0; at < inputs.length; at += CHUNK) {
      const chunk = inputs.slice(at, at + CHUNK);
      for (const input of chunk) await outcomeOf(layer, input);
      if (!watcher.reachedNew!(false)) continue;
      for (const input of chunk) {
        await outcomeOf(layer, input);
        if (!watcher.reachedNew!(true)) continue;
        corpus.push(input);
        tally.kept++;
      }
    }
  }
}

/** The same fault in other inputs: numbers and quoted texts in its words differ. */
function kindOf(what: string): string {
  return what.replace(/"[^"]*"|[0-9a-f]{8,}|\d+/g, "_").slice(0, 200);
}

/** What came of an input, or what is wrong in words; and how long it took, at best where it took long. */
export async function outcomeOf(
  layer: Layer,
  input: Uint8Array,
  maxMs = MAX_MS,
): Promise<[outcome: string, milliseconds: number]> {
  let outcome = "";
  const milliseconds = await leastCostMs(maxMs, async () => (outcome = await runOnce(layer, input)));
  return [milliseconds <= maxMs ? outcome : `slow: ${Math.round(milliseconds)} ms`, milliseconds];
}

async function runOnce(layer: Layer, input: Uint8Array): Promise<string> {
  try {
    return await layer.run(input);
  } catch (error) {
    return describe(error);
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return `threw ${typeof error}`;
  const place =
    error instanceof Unexplained
      ? ""
      : ` (${
          error.stack
            ?.split("\n")
            .find((line) => line.includes("at "))
            ?.trim() ?? ""
        })`;
  return `${error.name}: ${error.message.slice(0, 300)}${place}`;
}

/** The smallest part of an input that does the same, as far as cutting pieces out finds it. */
async function minimised(layer: Layer, input: Uint8Array, kind: string): Promise<Uint8Array> {
  if (kind.startsWith("slow")) return input;
  let best = input;
  let left = 400;
  for (let size = Math.ceil(best.length / 2); size >= 1 && left > 0; size = size > 1 ? Math.ceil(size / 2) : 0) {
    for (let at = 0; at < best.length && left-- > 0;) {
      const shorter = Buffer.concat([best.subarray(0, at), best.subarray(at + size)]);
      const [outcome] = await outcomeOf(layer, shorter);
      if (kindOf(outcome) === kind) best = shorter;
      else at += size;
    }
  }
  return Uint8Array.from(best);
}
