/** Notices that are shown with the verdict on a bundle or page. */
import type { SignedFacts } from "../appraise/parsed-policy.js";
import type { Notice } from "../report/facts.js";
import { printable, printableStart, quoted } from "../report/printable.js";
import type { Verdict } from "../report/report.js";

/** A signed policy that a bundle only shows. */
export type ShownPolicy = Pick<SignedFacts, "name" | "version" | "sha256">;

/**
 * A difference between the report inside the bundle (`packed`) and the report made again (`anew`), as shortened JSON
 * texts. Null if one report has no value.
 */
export interface ReportDifference {
  /** Place, for example `verdict` or `boot[0] cose.signature`. */
  readonly place: string;
  readonly packed: string | null;
  readonly anew: string | null;
}

export interface BundleFacts {
  readonly policyFrom: "caller" | "bundle";
  readonly packed: {
    readonly now: string;
    readonly verdict: Verdict;
    readonly differences: readonly ReportDifference[];
  } | null;
  readonly otherPolicy?: ShownPolicy;
}

export const POLICY_CHOSEN_BY_MAKER =
  "the policy came with the bundle: the bundle's maker chose what passes, and anyone can make a " +
  'bundle that passes. So the verdict is "authentic" at best. Compare it with a policy of your ' +
  "own: --policy FILE.";

const MAX_SHOWN = 8;
const MAX_VALUE = 120;

/** Returns the notices on a bundle. Without one there are none. */
export function bundleNotices(bundle: BundleFacts | null, verdict: Verdict): Notice[] {
  if (bundle === null) return [];
  const { policyFrom, packed, otherPolicy } = bundle;
  return [
    ...(policyFrom === "bundle" ? [{ kind: "warning", text: POLICY_CHOSEN_BY_MAKER } as const] : []),
    ...(otherPolicy === undefined ? [] : [{ kind: "note", text: otherText(otherPolicy) } as const]),
    ...(packed === null ? [] : packedNotices(packed, policyFrom === "bundle" ? verdict : null)),
  ];
}

function otherText({ name, version, sha256 }: ShownPolicy): string {
  const what = `version ${version} of the signed policy ${quoted(name)} (SHA-256 ${sha256})`;
  return `The bundle shows ${what}. It judged nothing: the caller's own policy did, which is another one.`;
}

/**
 * Returns notices on the report inside the bundle. `verdict` is today's verdict by the bundle's policy, or null if the
 * caller's policy decided the verdict.
 */
function packedNotices(
  { now, verdict: then, differences }: NonNullable<BundleFacts["packed"]>,
  verdict: Verdict | null,
): Notice[] {
  const made = `The bundle was made at ${now}. Its report is not trusted: everything was verified again.`;
  const aged =
    verdict === "rejected" && then !== "rejected"
      ? [`As of ${now}, as its maker verified it, the verdict is ${then}. --now ${now} counts ages as of then.`]
      : [];
  const notes = [made, ...aged].map((text) => ({ kind: "note", text }) as const);
  if (differences.length === 0) return notes;
  const items = differences.slice(0, MAX_SHOWN).map(({ place, packed, anew }) => {
    const text = `${printableStart(place, MAX_VALUE)}: ${shown(packed)} in the report, ${shown(anew)} by its evidence`;
    return { kind: "item", text } as const;
  });
  const rest = differences.length - MAX_SHOWN;
  return [
    { kind: "warning", text: "the report inside does not match its evidence (the differences are below)." },
    ...notes,
    ...items,
    ...(rest > 0 ? [{ kind: "item", text: `and ${rest} more` } as const] : []),
  ];
}

function shown(value: string | null): string {
  return value === null ? "nothing" : printableStart(value, MAX_VALUE);
}

/** Returns the line that introduces a text about the evidence in a page. It is empty if there is no page. */
export function ofPage(page: string | undefined, what: string): string {
  return page === undefined ? "" : `The evidence in ${printable(page)} ${what}, not what the page shows.\n\n`;
}
