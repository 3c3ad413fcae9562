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
export type AcceptableClass = {
  [C in AddressClass]: (typeof CLASSES)[C]["accept"] extends "named" ? C : never;
}[AddressClass];

export const ACCEPTABLE_CLASSES = /* @__PURE__ */ ADDRESS_CLASSES.filter(
  (name): name is AcceptableClass => CLASSES[name].accept === "named",
);

/** Whether a row of the class is fine for a caller who accepts these classes. */
export function isAcceptedClass(name: AddressClass, accepted: readonly AcceptableClass[]): boolean {
  const { accept } = CLASSES[name];
  return accept === "always" || (accept === "named" && (accepted as readonly AddressClass[]).includes(name));
}
