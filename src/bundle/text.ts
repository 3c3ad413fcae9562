/** What stands above the report of a bundle: whose policy it was held against, and what became of the report inside. */
import { type Paint, painter, wrapped } from "../report/layout.js";
import { printableStart } from "../report/printable.js";
import type { Verdict } from "../report/report.js";
import type { TextOptions } from "../report/text.js";

/** The parts of a `BundleVerification` that are shown. */
export interface BundleFacts {
  readonly policyFrom: "caller" | "bundle";
  readonly packed: {
    readonly now: string;
    readonly verdict: Verdict;
    readonly differences: readonly {
      readonly place: string;
      readonly packed: string | null;
      readonly anew: string | null;
    }[];
  } | null;
}

/** Whoever chose the policy chose the answer. */
export const POLICY_CHOSEN_BY_MAKER =
  "the policy came out of the bundle itself: whoever made the bundle chose what passes, its trust anchors included, " +
  "and " +
  "anybody can make one that passes. Hold it against a policy of your own: --policy FILE.";

const MAX_SHOWN = 8;
const MAX_VALUE = 120;

/** A paragraph, with an empty line at its end; nothing where there is nothing to tell. */
export function renderBundleNotice(facts: BundleFacts, verdict: Verdict, options: TextOptions): string {
  const paint = painter(options.color);
  const lines = [
    ...(facts.policyFrom === "bundle" ? but(POLICY_CHOSEN_BY_MAKER, paint) : []),
    ...(facts.packed === null ? [] : packedLines(facts.packed, facts.policyFrom === "bundle" ? verdict : null, paint)),
  ];
  return lines.length === 0 ? "" : `${lines.join("\n")}\n\n`;
}

/** `verdict`: today's by the same policy, where it is the same. */
function packedLines(
  { now, verdict: then, differences }: NonNullable<BundleFacts["packed"]>,
  verdict: Verdict | null,
  paint: Paint,
): string[] {
  const made = `The bundle was made at ${now}. Its report is not believed: everything was verified anew.`;
  const aged =
    verdict === "rejected" && then !== "rejected"
      ? [`As of ${now} it is ${then}: what changed is the time. --now ${now} counts ages as they were.`]
      : [];
  return [
    ...[made, ...aged].flatMap((text) => wrapped("", text)).map((line) => paint(line, "dim")),
    ...(differences.length === 0
      ? []
      : [
          ...but("the report inside is not what its evidence yields:", paint),
          ...differences.slice(0, MAX_SHOWN).flatMap(({ place, packed, anew }) => {
            return wrapped(
              "    - ",
              `${printableStart(place, MAX_VALUE)}: ${shown(packed)} in the report, ${shown(anew)} in truth`,
            );
          }),
          ...(differences.length > MAX_SHOWN ? [`    and ${differences.length - MAX_SHOWN} more`] : []),
        ]),
  ];
}

function but(text: string, paint: Paint): string[] {
  return wrapped("BUT ", text).map((line) => paint(line, "bold", "yellow"));
}

function shown(value: string | null): string {
  return value === null ? "nothing" : printableStart(value, MAX_VALUE);
}
