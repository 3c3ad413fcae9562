/** Advice for PCRs that differ, by their meaning (verify/README.md, "PCRs"). */
import { listed } from "../errors.js";

interface Meaning {
  readonly indices: readonly number[];
  readonly differs: string;
  readonly todo: string;
}

const CODE: readonly number[] = [0, 1, 2];
const MEANINGS: readonly Meaning[] = [
  { indices: CODE, differs: "another enclave image runs", todo: "compare with the release you expect" },
  {
    indices: [3],
    differs: "the instance has another role, or is of another AWS account,",
    todo: "find out who runs it",
  },
  { indices: [4], differs: "it is another instance", todo: "check whether it was replaced" },
  { indices: [8], differs: "the image is signed with another certificate", todo: "find out who signed it" },
];
const OTHER = { differs: "what runs inside measured something else", todo: "compare with what you expect of it" };

/** A policy may be changed, a manifest may not. */
const AGAINST = {
  policy: { than: "than the policy pins", same: "is as pinned", todo: null },
  image: { than: "than the one that was given", same: "is the one that was given", todo: null },
  manifest: { than: "than the manifest names", same: "is the one that it names", todo: "report it" },
} as const;

/** `compared`: all PCRs that were compared. */
export function adviceOnPcrs(
  differing: readonly number[],
  compared: readonly number[],
  against: keyof typeof AGAINST,
): string {
  const { than, same, todo } = AGAINST[against];
  const known = MEANINGS.flatMap(({ indices }) => indices);
  const meanings = [...MEANINGS, { indices: differing.filter((index) => !known.includes(index)), ...OTHER }];
  const isSameImage = CODE.every((index) => compared.includes(index) && !differing.includes(index));
  const sentences = meanings.flatMap((meaning) => {
    const own = meaning.indices.filter((index) => differing.includes(index)).map((index) => `PCR${index}`);
    return own.length === 0 ? [] : [`${listed(own, ", ")}: ${meaning.differs} ${than}; ${todo ?? meaning.todo}.`];
  });
  return [...sentences, ...(isSameImage ? [`The image (PCR0 to PCR2) ${same}.`] : [])].join(" ");
}
