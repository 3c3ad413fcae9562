/** What work costs, where a bound has to hold on a busy machine too. */

const MOST_RUNS = 3;

/**
 * Returns the milliseconds of the work. Garbage collection and threads beside it count as processor time, and waiting
 * counts as elapsed time: the smaller is the cost.
 */
export async function costMs(work: () => unknown): Promise<number> {
  const [start, used] = [performance.now(), process.cpuUsage()];
  await work();
  const elapsed = performance.now() - start;
  const { user, system } = process.cpuUsage(used);
  return Math.min(elapsed, (user + system) / 1000);
}

/** Returns the least of three measurements, or the first one below the limit: a busy machine makes none cheaper. */
export async function leastOf(limit: number, measure: () => Promise<number>): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < MOST_RUNS && least >= limit; run++) least = Math.min(least, await measure());
  return least;
}

/** Returns the least cost of three runs, or the first one below the limit. */
export function leastCostMs(limit: number, work: () => unknown): Promise<number> {
  return leastOf(limit, () => costMs(work));
}

/** Milliseconds in all, and of the longest stretch in which nothing else of the process could run. */
export interface Turns {
  readonly total: number;
  readonly block: number;
}

/** Measures work as {@link costMs} does, and each stretch of it between two turns of the event loop. */
export async function turnsOf(work: () => unknown): Promise<Turns> {
  let [at, used, block, isOn] = [performance.now(), process.cpuUsage(), 0, true];
  const look = (): void => {
    const { user, system } = process.cpuUsage(used);
    block = Math.max(block, Math.min(performance.now() - at, (user + system) / 1000));
    [at, used] = [performance.now(), process.cpuUsage()];
  };
  const tick = (): void => {
    look();
    if (isOn) setImmediate(tick);
  };
  setImmediate(tick);
  const total = await costMs(work);
  look();
  isOn = false;
  return { total, block };
}
