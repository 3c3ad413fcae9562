/** Advice for PCRs that differ, by their meaning (verify/README.md, "PCRs"). */
import { listed } from "../errors.js";

interface Meaning {
  readonly indices: readonly number[];
  readonly differs: string;
  readonly todo: string;
}

const CODE: readonly number[] = [0, 1, 2];
const MEANINGS: readonly Meaning[] = [
  { indices: CODE, differs: "the enclave image differs", todo: "compare with the release you expect" },
  {
    indices: [3],
    differs: "the role of the instance, or its AWS account, differs",
    todo: "find out who runs it",
  },
  { indices: [4], differs: "the instance differs", todo: "check whether it was replaced" },
  { indices: [8], differs: "the certificate that signed the image differs", todo: "find out who signed it" },
];
const OTHER = { differs: "what the software inside measured differs", todo: "compare with what you expect of it" };

/** Texts by what the PCRs were compared with. A policy may be changed, but a manifest may not. */
const AGAINST = {
  policy: { from: "from the policy", same: "is as pinned", todo: null },
  image: { from: "from the given one", same: "is the given one", todo: null },
  manifest: { from: "from the manifest", same: "is the one in the manifest", todo: "report it" },
} as const;

/** Returns advice on the PCRs in `differing`. `compared` are the indexes of all compared PCRs. */
export function adviceOnPcrs(
  differing: readonly number[],
  compared: readonly number[],
  against: keyof typeof AGAINST,
): string {
  const { from, same, todo } = AGAINST[against];
  const known = MEANINGS.flatMap(({ indices }) => indices);
  const meanings = [...MEANINGS, { indices: differing.filter((index) => !known.includes(index)), ...OTHER }];
  const isSameImage = CODE.every((index) => compared.includes(index) && !differing.includes(index));
  const sentences = meanings.flatMap((meaning) => {
    const own = meaning.indices.filter((index) => differing.includes(index)).map((index) => `PCR${index}`);
    return own.length === 0 ? [] : [`${listed(own, ", ")}: ${meaning.differs} ${from}; ${todo ?? meaning.todo}.`];
  });
  return [...sentences, ...(isSameImage ? [`The image (PCR0 to PCR2) ${same}.`] : [])].join(" ");
}
