/** Maps items in order, at most `atOnce` at a time, to bound memory. */
export async function inTurns<Item, Answer>(
  items: readonly Item[],
  atOnce: number,
  task: (item: Item, index: number) => Promise<Answer>,
): Promise<Answer[]> {
  const answers = new Map<number, Answer>();
  const queue = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of queue) answers.set(index, await task(item, index));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return items.map((_, index) => answers.get(index)!);
}
