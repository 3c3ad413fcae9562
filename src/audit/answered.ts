/** Accepts only results in the form that this package writes. */
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
import { isGoodVerdict } from "../report/facts.js";
import type { AuditResult } from "./result.js";

/** Far more than a reason or a deployment's name has. */
const shortText = sizedText(0, 65_536);
const verdict = keyOf<AuditResult["verdict"]>({ verified: true, authentic: true, rejected: true, malformed: true });

/** Known ids, each once, in the order of their table. */
const failed = refined(list(oneOf(...CHECK_IDS)), (ids, place) => {
  const places = ids.map((id) => CHECK_IDS.indexOf(id));
  const isInOrder = places.every((at, index) => index === 0 || at > places[index - 1]!);
  return isInOrder ? ids : place.fault<typeof ids>("not in the order of the checks");
});

/** Only the producer knows the others. */
const members = objectOf<Omit<AuditResult, "file" | "expected">>({
  n: count,
  verdict,
  failed,
  stale: optional(oneOf(true)),
  reason: optional(shortText),
  deployments: optional(list(shortText)),
  refusedFor: optional(list(shortText, 1)),
  notApplied: optional(list(shortText)),
  documentTimes: optional(list(instant, 2, 2) as Shape<unknown> as Shape<readonly [string, string]>),
});

const result = refined(members, (read, place) =>
  isConsistent(read) ? read : place.fault<typeof read>("members that contradict each other"),
);

function isConsistent(read: AuditResult): boolean {
  if (isGoodVerdict(read.verdict)) return read.failed.length === 0 && read.stale === undefined;
  if (read.refusedFor !== undefined) return false;
  return read.verdict !== "malformed" || (read.failed.length === 0 && read.reason !== undefined);
}

/** The results of `entries` entries from the number `first` on; null for anything else. */
export function readResults(value: unknown, first: number, entries: number): readonly AuditResult[] | null {
  const results = readShape(list(result, entries, entries), value).value;
  return results?.every(({ n }, index) => n === first + index) ? results : null;
}
