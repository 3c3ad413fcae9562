/** Bytes of the entries of a job. A longer entry is a job by itself. */
const MAX_JOB_BYTES = 1024 * 1024;

/** Consecutive entries that are one job. */
export interface Part {
  readonly first: number;
  readonly entries: readonly Uint8Array[];
}

export function partsOf(first: number, entries: readonly Uint8Array[]): Part[] {
  const parts: { first: number; entries: Uint8Array[] }[] = [];
  let bytes = Infinity;
  entries.forEach((entry, index) => {
    if (bytes + entry.length > MAX_JOB_BYTES) {
      parts.push({ first: first + index, entries: [] });
      bytes = 0;
    }
    parts.at(-1)!.entries.push(entry);
    bytes += entry.length;
  });
  return parts;
}

export function splitPart({ first, entries }: Part, size: number): Part[] {
  return Array.from({ length: Math.ceil(entries.length / size) }, (_, index) => ({
    first: first + index * size,
    entries: entries.slice(index * size, (index + 1) * size),
  }));
}
