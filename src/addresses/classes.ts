/** The table of the classes of addresses, for all that orders and accepts them (addresses/README.md, "Classes"). */

interface ClassRow {
  /** What the class says, for a heading or a legend. */
  readonly meaning: string;
  /** Whether a row of the class is fine: always, if the caller names the class, or never. */
  readonly accept: "always" | "named" | "never";
}

/** The classes, the worst first. */
export const CLASSES = {
  contradicted: { meaning: "a verified proof and the list do not agree", accept: "never" },
  refused: { meaning: "a proof names it, and a check or the policy refuses the proof", accept: "never" },
  service: { meaning: "no proof that counts: it rests on the word of the service", accept: "named" },
  imported: { meaning: "an enclave derived it, but from a seed or key that somebody imported", accept: "named" },
  exported: { meaning: "an enclave derived it, but its seed or key was exported", accept: "named" },
  derived: { meaning: "a verified proof of this organization, wallet, path and address", accept: "always" },
} as const satisfies Record<string, ClassRow>;

export type AddressClass = keyof typeof CLASSES;

/** The classes in their order, the worst first. */
export const ADDRESS_CLASSES = /* @__PURE__ */ Object.keys(CLASSES) as readonly AddressClass[];

/** A class that a caller may accept by name. */
type AcceptableClass = {
  [C in AddressClass]: (typeof CLASSES)[C]["accept"] extends "named" ? C : never;
}[AddressClass];

export const ACCEPTABLE_CLASSES = /* @__PURE__ */ ADDRESS_CLASSES.filter(
  (name): name is AcceptableClass => CLASSES[name].accept === "named",
);

/** The word for keys that were exported or imported while nothing names their wallet. They weaken all rows. */
export const UNPLACED = "unplaced";
export type Acceptable = AcceptableClass | typeof UNPLACED;
export const ACCEPTABLE_WORDS: readonly Acceptable[] = /* @__PURE__ */ [...ACCEPTABLE_CLASSES, UNPLACED];

/** A key that was exported or imported, while nothing names its wallet: any address may be one of it. */
export interface UnplacedKey {
  /** The activity that exported or imported it, and its type. */
  readonly activityId: string;
  readonly type: string;
  /** Null if the activity names none. */
  readonly address: string | null;
}

/** Says what an unplaced key weakens. */
export function unplacedText({ activityId, type, address }: UnplacedKey): string {
  const key = address === null ? "its key" : `the key of ${address}`;
  return `${type} ${activityId}: nothing says in which wallet ${key} is, so it may be that of any address`;
}

/** Whether a row of the class is fine for a caller who accepts these classes. */
export function isAcceptedClass(name: AddressClass, accepted: readonly Acceptable[]): boolean {
  const { accept } = CLASSES[name];
  return accept === "always" || (accept === "named" && (accepted as readonly string[]).includes(name));
}
