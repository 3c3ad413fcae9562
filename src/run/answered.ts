/** Results of a batch in short form, for threads and queues. Those from other machines are validated. */
import { CHECK_IDS, type CheckId } from "../checks.js";
import {
  type MembersOf,
  type Shape,
  count,
  instant,
  keyOf,
  list,
  objectOf,
  oneOf,
  optional,
  readShape,
  refined,
  sizedText,
} from "../decode/shapes.js";
import { isGoodVerdict } from "../report/accepted.js";
import type { Batch, JudgedBatch } from "./judge.js";
import type { EntryResult } from "./result.js";

/** Shape of a reason or a deployment's name. The limit is far above any genuine length. */
const shortText = sizedText(0, 65_536);

/** Shape of check ids. Each is known and appears once, in the order of the table of checks. */
const ids = refined<readonly CheckId[], readonly CheckId[]>(list(oneOf(...CHECK_IDS)), (found, place) => {
  const places = found.map((id) => CHECK_IDS.indexOf(id));
  const isInOrder = places.every((at, index) => index === 0 || at > places[index - 1]!);
  return isInOrder ? found : place.fault<typeof found>("not in the order of the checks");
});

/** The members of a result, in the order of a line. */
export const RESULT: MembersOf<Omit<EntryResult, "documentTimes">> = {
  verdict: keyOf<EntryResult["verdict"]>({
    verified: true,
    authentic: true,
    rejected: true,
    malformed: true,
    unjudged: true,
  }),
  failed: ids,
  warnings: ids,
  stale: optional(oneOf(true)),
  reason: optional(shortText),
  refusedFor: optional(list(shortText, 1)),
  notApplied: optional(list(shortText)),
  deployments: optional(list(shortText)),
};

const times = list(instant, 2, 2) as Shape<unknown> as Shape<readonly [string, string]>;
const form = refined(objectOf<EntryResult>({ ...RESULT, documentTimes: optional(times) }), (read, place) =>
  isConsistent(read) ? read : place.fault<typeof read>("members that contradict each other"),
);

/** Whether the members of a result can stand together. */
export function isConsistent(read: EntryResult): boolean {
  if (isGoodVerdict(read.verdict)) return read.failed.length === 0 && read.stale === undefined;
  if (read.refusedFor !== undefined) return false;
  return read.verdict === "rejected" || (read.failed.length === 0 && read.reason !== undefined);
}

/** Results of which most are equal: each distinct one is written once. */
interface WrittenResults {
  readonly forms: readonly EntryResult[];
  /** For each entry, the index of its result in `forms`. */
  readonly order: readonly number[];
}

/** The states of an entry in a thread. */
export const MARK = { waiting: 0, begun: 1, done: 2 } as const;

/** A batch with its entries in one buffer, which is transferred to the thread and not copied. */
export interface PackedBatch extends Pick<Batch, "expected"> {
  readonly bytes: Uint8Array;
  readonly ends: readonly number[];
  /** Shared memory with the {@link MARK} of each entry and, at the end, the mark of the thread. */
  readonly marks: Uint8Array;
}

/** Results in short form: copying each to the main thread took as long as parsing an entry. */
export type ThreadAnswer =
  | (Omit<JudgedBatch, "results"> & { readonly results: WrittenResults })
  | { readonly error: unknown };

export function writeResults(results: readonly EntryResult[]): WrittenResults {
  const indexes = new Map<string, number>();
  const forms: EntryResult[] = [];
  const order = results.map((result) => {
    const text = JSON.stringify(result);
    const known = indexes.get(text);
    if (known !== undefined) return known;
    indexes.set(text, forms.length);
    return forms.push(result) - 1;
  });
  return { forms, order };
}

/** Returns the results that {@link writeResults} wrote, which came from a thread of this process. */
export function expandResults({ forms, order }: WrittenResults): readonly EntryResult[] {
  return order.map((index) => forms[index]!);
}

/** Returns the results of so many entries. Null for anything else. */
export function readResults(value: unknown, entries: number): readonly EntryResult[] | null {
  const written = objectOf<WrittenResults>({ forms: list(form, 0, entries), order: list(count, entries, entries) });
  const read = readShape(written, value).value;
  if (read === undefined || !read.order.every((index) => index < read.forms.length)) return null;
  return expandResults(read);
}
