/** Shapes of results. They accept only results in the form that this package writes. */
import { CHECK_IDS } from "../checks.js";
import {
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
import type { AuditResult } from "./result.js";

/** Shape of a reason or a deployment's name. The limit is far above any genuine length. */
const shortText = sizedText(0, 65_536);
const verdict = keyOf<AuditResult["verdict"]>({ verified: true, authentic: true, rejected: true, malformed: true });

/** Shape of the failed checks. Each id is known and appears once, in the order of the table of checks. */
const failed = refined(list(oneOf(...CHECK_IDS)), (ids, place) => {
  const places = ids.map((id) => CHECK_IDS.indexOf(id));
  const isInOrder = places.every((at, index) => index === 0 || at > places[index - 1]!);
  return isInOrder ? ids : place.fault<typeof ids>("not in the order of the checks");
});

/** Shape of a result without the entry's number, which follows from the position of the result. */
const members = objectOf<Form>({
  verdict,
  failed,
  stale: optional(oneOf(true)),
  reason: optional(shortText),
  deployments: optional(list(shortText)),
  refusedFor: optional(list(shortText, 1)),
  notApplied: optional(list(shortText)),
  documentTimes: optional(list(instant, 2, 2) as Shape<unknown> as Shape<readonly [string, string]>),
});

type Form = Omit<AuditResult, "n" | "file" | "expected">;

const form = refined(members, (read, place) =>
  isConsistent(read) ? read : place.fault<typeof read>("members that contradict each other"),
);

function isConsistent(read: Form): boolean {
  if (isGoodVerdict(read.verdict)) return read.failed.length === 0 && read.stale === undefined;
  if (read.refusedFor !== undefined) return false;
  return read.verdict !== "malformed" || (read.failed.length === 0 && read.reason !== undefined);
}

/**
 * Results of consecutive entries. Most differ only in the entry's number, so each distinct result is written once,
 * without it.
 */
export interface WrittenResults {
  readonly first: number;
  readonly forms: readonly Form[];
  /** For each entry, the index of its result in `forms`. */
  readonly order: readonly number[];
}

/** Writes the results of consecutive entries. */
export function writeResults(results: readonly AuditResult[]): WrittenResults {
  const indexes = new Map<string, number>();
  const forms: Form[] = [];
  const order = results.map((result) => {
    const own = { ...result, n: undefined };
    const text = JSON.stringify(own);
    const known = indexes.get(text);
    if (known !== undefined) return known;
    indexes.set(text, forms.length);
    return forms.push(own) - 1;
  });
  return { first: results[0]?.n ?? 0, forms, order };
}

/** Returns `entries` results from the number `first` on. Null for anything else. */
export function readResults(value: unknown, first: number, entries: number): readonly AuditResult[] | null {
  const written = objectOf<WrittenResults>({
    first: count,
    forms: list(form, 0, entries),
    order: list(count, entries, entries),
  });
  const { forms, order, first: from } = readShape(written, value).value ?? { forms: [], order: [] };
  if (from !== first || !order.every((index) => index < forms.length)) return null;
  return expandResults({ first, forms, order });
}

/**
 * Returns the results that {@link writeResults} wrote. They come from a thread of this process, so they are not
 * validated.
 */
export function expandResults({ first, forms, order }: WrittenResults): readonly AuditResult[] {
  return order.map((index, at) => ({ ...forms[index]!, n: first + at }));
}
