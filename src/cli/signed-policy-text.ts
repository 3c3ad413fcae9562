/** The output of `bootproof policy review`, `policy cosign` and `policy check` of a feed. */
import { changeLines } from "../diff/text.js";
import { type TextOptions, headingLines, pageOf, paragraphs, warningLines, wrapped } from "../report/layout.js";
import { renderPolicyCheck } from "../report/policy-text.js";
import { printable } from "../report/printable.js";
import type { FeedCheck, PolicyReview } from "../signed-policy/index.js";

const PIN =
  "An application can pin the newest version beside its next signers, so that it accepts no older one (pin of " +
  "--format json is the whole file):";
// A key id of 64 digits fits behind it in 80 columns.
const LABEL = 13;

/** Returns the facts of a version, what it changes, and of the first one the whole policy. */
export function reviewText(review: PolicyReview, options: TextOptions): string {
  const { name, version, sha256, issuedAt, expiresAt, before, changes, policy } = review;
  const page = pageOf(options);
  const fact = (label: string, text: string): string[] => wrapped(page, `  ${label.padEnd(LABEL)}`, printable(text));
  const title = `version ${version} of ${printable(name)}`;
  const facts = [
    page.paint(title.replace("v", "V"), "bold"),
    ...fact("sha256", sha256),
    ...fact("valid", `${issuedAt} to ${expiresAt}`),
    ...(before ? fact("", `version ${before.version} is valid to ${before.expiresAt}`) : []),
    ...fact("signed by", review.signedBy.join(", ") || "nobody"),
    ...signerTexts(review).flatMap(([label, text]) => fact(label, text)),
    ...review.warnings.flatMap((text) => warningLines(printable(text), page)),
  ];
  const same = changes?.same === true ? wrapped(page, "", `The policy is that of version ${before!.version}.`) : [];
  const left = (changes?.leftOut ?? 0) > 0 ? [`and ${changes!.leftOut} more`] : [];
  const changed = changes?.changes.map((change) => changeLines(page, change)) ?? [];
  const whole =
    policy && renderPolicyCheck({ format: "bootproof-policy-check/1", faults: [], ...policy }, title, options);
  return paragraphs([facts, same, ...changed, left]) + (whole ? `\n${whole}` : "");
}

/** Returns who signs this version and the next one. A key that is new has a plus, and one that is removed a minus. */
function signerTexts({ inForce: was, signers }: PolicyReview): (readonly [label: string, text: string])[] {
  const holds = (set: PolicyReview["signers"], keyid: string): boolean => set.keys.some((key) => key.keyid === keyid);
  const count = ({ threshold, keys: { length } }: PolicyReview["signers"]): string => `${threshold} of ${length} keys`;
  const keys = [...signers.keys, ...was.keys.filter(({ keyid }) => !holds(signers, keyid))];
  const marked = keys.map(({ type, keyid }): readonly [string, string] => {
    if (!holds(signers, keyid)) return [`  - ${type}`, keyid];
    return [`  ${holds(was, keyid) ? " " : "+"} ${type}`, keyid];
  });
  const isChanged = count(was) !== count(signers) || marked.some(([label]) => !label.startsWith("    "));
  const sign = isChanged ? `${count(was)} in force, and ${count(signers)} of the next set` : count(was);
  return [["must sign", sign], ["next signers", isChanged ? `${count(signers)}: CHANGED` : count(signers)], ...marked];
}

/** Returns whether the newest version is in force, every version, and what to pin. */
export function feedText({ versions, faults, notes, pin }: FeedCheck, options: TextOptions): string {
  const page = pageOf(options);
  const newest = versions.at(-1)!;
  const { minVersion, since } = pin;
  const inForce = `IN FORCE: version ${newest.version} of ${newest.name}, until ${newest.expiresAt}`;
  return [
    paragraphs([headingLines(printable(faults.length === 0 ? inForce : `NOT IN FORCE: ${faults.join("; ")}`), page)]),
    ...versions.map((review) => reviewText(review, options)),
    paragraphs([
      ...notes.map((note) => wrapped(page, "note: ", printable(note))),
      wrapped(page, "", PIN),
      [`  ${JSON.stringify({ minVersion, since })}`],
    ]),
  ].join("\n");
}
