import { type Batch, partOf } from "./batch.js";

/** The most bytes of the entries of a job and their expectations. A longer entry is a job by itself. */
const MAX_JOB_BYTES = 1024 * 1024;

/** Consecutive entries that are one job. */
export type Part = Omit<Batch, "index">;

export function partsOf(batch: Part): Part[] {
  const parts: Part[] = [];
  let [from, bytes] = [0, 0];
  batch.entries.forEach((entry, index) => {
    const size = entry.length + (batch.expected?.[index]?.length ?? 0);
    if (index > from && bytes + size > MAX_JOB_BYTES) {
      parts.push(partOf(batch, from, index));
      [from, bytes] = [index, 0];
    }
    bytes += size;
  });
  return batch.entries.length === 0 ? parts : [...parts, partOf(batch, from, batch.entries.length)];
}

export function splitPart(part: Part, size: number): Part[] {
  return Array.from({ length: Math.ceil(part.entries.length / size) }, (_, index) =>
    partOf(part, index * size, (index + 1) * size),
  );
}
