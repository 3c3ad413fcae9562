/** The documents of a review of a version, and of the check of a feed. */
import { lastOf } from "../bytes.js";
import { changeRow } from "../diff/text.js";
import { type Block, type Doc, type Row, type Section, rows, words } from "../show/doc.js";
import { policyDoc } from "../show/policy.js";
import type { FeedCheck, PolicyReview } from "./make.js";

const PIN =
  "An application can pin the newest version beside its next signers, so that it accepts no older one (pin of " +
  "--format json is the whole file):";
/** Returns the facts of a version, what it changes, and of the first one the whole policy. */
export function versionDoc(review: PolicyReview): Doc {
  const { name, version, sha256, issuedAt, expiresAt, before, changes, policy } = review;
  const facts: Row[] = [
    { label: "sha256", text: sha256 },
    { label: "valid", text: `${issuedAt} to ${expiresAt}` },
    ...(before ? [{ label: "", text: `version ${before.version} is valid to ${before.expiresAt}` }] : []),
    { label: "signed by", text: review.signedBy.join(", ") || "nobody" },
    ...signerRows(review),
  ];
  const warned = review.warnings.map((text): Block => ({ kind: "warning", text }));
  const changed = changes?.changes.map((change): Section => ({ blocks: [rows([changeRow(change)])] })) ?? [];
  return {
    sections: [
      { heading: `Version ${version} of ${name}`, blocks: [rows(facts), ...warned] },
      ...(changes?.same === true ? [{ blocks: [words(`The policy is that of version ${before!.version}.`)] }] : []),
      ...changed,
      ...((changes?.leftOut ?? 0) > 0 ? [{ blocks: [words(`and ${changes!.leftOut} more`)] }] : []),
      ...(policy
        ? policyDoc({ format: "bootproof-policy-check/1", faults: [], ...policy }, `version ${version} of ${name}`)
            .sections
        : []),
    ],
  };
}

/** Returns who signs this version and the next one. A key that is new has a plus, and one that is removed a minus. */
function signerRows({ inForce: was, signers }: PolicyReview): Row[] {
  const holds = (set: PolicyReview["signers"], keyid: string): boolean => set.keys.some((key) => key.keyid === keyid);
  const count = ({ threshold, keys: { length } }: PolicyReview["signers"]): string => `${threshold} of ${length} keys`;
  const keys = [...signers.keys, ...was.keys.filter(({ keyid }) => !holds(signers, keyid))];
  const marked = keys.map(({ type, keyid }): Row => {
    if (!holds(signers, keyid)) return { label: `- ${type}`, text: keyid };
    return { label: `${holds(was, keyid) ? " " : "+"} ${type}`, text: keyid };
  });
  const isChanged = count(was) !== count(signers) || marked.some(({ label }) => !label!.startsWith(" "));
  const sign = isChanged ? `${count(was)} in force, and ${count(signers)} of the next set` : count(was);
  return [
    { label: "must sign", text: sign },
    { label: "next signers", text: isChanged ? `${count(signers)}: CHANGED` : count(signers), below: marked },
  ];
}

/** Returns whether the newest version is in force, every version, and what to pin. */
export function feedDoc({ versions, faults, notes, pin }: FeedCheck): Doc {
  const newest = lastOf(versions)!;
  const { minVersion, since } = pin;
  const inForce = `IN FORCE: version ${newest.version} of ${newest.name}, until ${newest.expiresAt}`;
  const isGood = faults.length === 0;
  const text = isGood ? inForce : `NOT IN FORCE: ${faults.join("; ")}`;
  const blocks = [
    ...notes.map((note) => words(`note: ${note}`)),
    words(PIN),
    { kind: "value", text: JSON.stringify({ minVersion, since }) } as const,
  ];
  return {
    sections: [
      { blocks: [{ kind: "verdict", text, tone: isGood ? "good" : "bad" }] },
      ...versions.flatMap((review) => versionDoc(review).sections),
      { blocks },
    ],
  };
}
