/**
 * One layer in a process of its own, with a thread that watches it: an execution that does not end, or a process that
 * grows too large, is ended there, and its input is left in a file.
 */
import { Session } from "node:inspector";
import { writeFileSync } from "node:fs";
import { Worker, isMainThread, workerData } from "node:worker_threads";
import { LAYERS } from "./layers.js";
import { type Tally, type Watcher, fuzz, outcomeOf } from "./loop.js";

export interface Wanted {
  readonly layer: string;
  readonly seed: number;
  readonly executions: number;
  readonly seconds?: number;
  readonly guided: boolean;
  /** Where the input is left that the process ended with. */
  readonly last: string;
  /** In the place of a run: this one input. */
  readonly input?: string;
}

export interface Told extends Tally {
  readonly seconds: number;
  readonly peakMib: number;
  readonly outcome?: string;
}

/** By the clock, of a machine that may be busy: what is merely slow is measured in the loop. */
const MAX_HANG_MS = 20_000;
const MAX_GROWTH_MIB = 200;
const MAX_INPUT = 1024 * 1024;

interface Shared {
  readonly numbers: Int32Array;
  readonly input: Uint8Array;
}

const rssMib = (): number => Math.round(process.memoryUsage.rss() / 1024 / 1024);

/** Numbers: how often something began or ended, the length of the input, memory at the start, the most since. */
function watch({ numbers, input }: Shared, last: string): void {
  let [before, since] = [-1, Date.now()];
  setInterval(() => {
    const grown = rssMib() - Atomics.load(numbers, 2);
    if (grown > Atomics.load(numbers, 3)) Atomics.store(numbers, 3, grown);
    const now = Atomics.load(numbers, 0);
    if (now !== before) [before, since] = [now, Date.now()];
    const hangs = now % 2 === 1 && Date.now() - since > MAX_HANG_MS;
    const isFull = Atomics.load(numbers, 2) > 0 && grown > MAX_GROWTH_MIB;
    if (!hangs && !isFull) return;
    const bytes = Buffer.from(input.slice(0, Atomics.load(numbers, 1)));
    const what = hangs ? `does not end within ${MAX_HANG_MS} ms` : `grown by ${grown} MiB`;
    writeFileSync(last, JSON.stringify({ what, input: bytes.toString("base64") }));
    process.kill(process.pid, "SIGKILL");
  }, 50);
}

/** Which blocks of this file ran, by V8's own count. */
class Coverage {
  readonly #session = new Session();
  readonly #known = new Set<string>();

  constructor() {
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  reachedNew(remember: boolean): boolean {
    const found: string[] = [];
    this.#session.post("Profiler.takePreciseCoverage", (_, { result }) => {
      for (const { url, functions } of result) {
        if (!url.includes(".fuzz-")) continue;
        for (const { ranges } of functions)
          for (const { startOffset, endOffset, count } of ranges) {
            const block = `${startOffset}-${endOffset}`;
            if (count > 0 && !this.#known.has(block)) found.push(block);
          }
      }
    });
    if (remember) for (const block of found) this.#known.add(block);
    return found.length > 0;
  }
}

async function run(wanted: Wanted): Promise<Told> {
  const layer = await LAYERS[wanted.layer]!.load();
  const start = performance.now();
  const numbers = new Int32Array(new SharedArrayBuffer(16));
  const input = new Uint8Array(new SharedArrayBuffer(MAX_INPUT));
  const thread = new Worker(new URL(import.meta.url), { workerData: { numbers, input, last: wanted.last } });
  thread.unref();
  const watcher: Watcher = {
    before: (bytes) => {
      input.set(bytes.subarray(0, MAX_INPUT));
      numbers[1] = Math.min(MAX_INPUT, bytes.length);
      Atomics.add(numbers, 0, 1);
    },
    after: () => void Atomics.add(numbers, 0, 1),
  };
  const coverage = wanted.guided ? new Coverage() : null;
  if (coverage !== null) watcher.reachedNew = (remember) => coverage.reachedNew(remember);
  if (wanted.input !== undefined) return only(wanted.input);
  for (const seed of layer.seeds) await outcomeOf(layer, seed);
  numbers[2] = rssMib();
  const tally = await fuzz(layer, { name: wanted.layer, ...wanted, watcher });
  return { ...tally, seconds: (performance.now() - start) / 1000, peakMib: numbers[3]! };

  async function only(bytes: string): Promise<Told> {
    const [outcome] = await outcomeOf(layer, Buffer.from(bytes, "base64"));
    const none = {
      executions: 1,
      accepted: 0,
      refused: 0,
      slowestMs: 0,
      findings: [],
      kept: 0,
      seconds: 0,
      peakMib: 0,
    };
    return { ...none, outcome };
  }
}

if (!isMainThread) watch(workerData as Shared, (workerData as { last: string }).last);
else
  process.on("message", (wanted: Wanted | "which") => {
    if (wanted === "which") {
      const shares = Object.entries(LAYERS).map(([name, { share }]) => [name, share]);
      process.send!(shares, () => process.exit(0));
      return;
    }
    void run(wanted).then((told) => {
      const findings = told.findings.map((finding) => ({
        ...finding,
        input: Buffer.from(finding.input).toString("base64"),
      }));
      process.send!({ ...told, findings }, () => process.exit(0));
    });
  });
