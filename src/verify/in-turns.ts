/** Work whose size or end somebody else chose, which leaves time for other work. */

/** Number of items after which other work gets a turn. */
const TURN = 8;

/** Maps items in order, at most `atOnce` at a time, to bound memory. Other work gets turns meanwhile. */
export async function inTurns<Item, Answer>(
  items: readonly Item[],
  atOnce: number,
  task: (item: Item, index: number) => Answer | Promise<Answer>,
): Promise<Answer[]> {
  if (items.length < 2) return items.length === 0 ? [] : [await task(items[0]!, 0)];
  const answers = new Map<number, Answer>();
  const queue = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of queue) {
      answers.set(index, await task(item, index));
      if (index % TURN === TURN - 1) await turn();
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return items.map((_, index) => answers.get(index)!);
}

/** Rejects with `late` unless the work settles in time. In a runtime without timers it waits on. */
export async function withinTime<T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new Promise<never>((_, reject) => {
    const { setTimeout: begin } = globalThis as Partial<typeof globalThis>;
    timer = begin?.(() => reject(late()), milliseconds);
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    if (timer !== undefined) clearTimeout(timer);
  }
}

/** Gives other work of the process a turn. Promises alone do not, and a runtime without timers has no other work. */
export async function turn(): Promise<void> {
  const later = (globalThis as Partial<typeof globalThis>).setImmediate ?? globalThis.setTimeout;
  if (typeof later === "function") await new Promise<void>((resolve) => void later(resolve));
}
