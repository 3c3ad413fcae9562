/** The columns: where evidence is judged, and what a fact means there unless its row says otherwise. */
import type { CommandName, OptionName } from "../../src/cli/option-table.js";

/** `built`: it needs a build, and some of them a server or a browser. `sdks`: it needs an SDK. */
export type Tier = "fast" | "built" | "sdks";

/** What declares the options of an entrance: a command, the form of the page, or the inputs of the action. */
export type Options = CommandName | "form" | "inputs" | null;

/** The entrances of each column: every cell of it is judged at each of them. */
export const DOORS = {
  verify: {
    files: ["fast", "verify"],
    "a bundle": ["fast", "verify"],
    "a page": ["fast", "verify"],
    "bundle command": ["fast", "bundle"],
    "page in Chromium": ["built", "form"],
    "GitHub action": ["built", "inputs"],
  },
  audit: { threads: ["built", "audit"], queue: ["built", "audit"] },
  watch: { once: ["fast", "watch"], "after SIGHUP": ["fast", "watch"] },
  addresses: { command: ["fast", "addresses"] },
  review: { command: ["fast", "review"] },
  measure: { command: ["fast", "measure"] },
  "policy check-releases": { command: ["fast", "policy check-releases"] },
  door: { client: ["fast", null], verifiedFetch: ["fast", null], proxy: ["fast", "proxy"], adapters: ["sdks", null] },
  "door for sign-ups": { verifiedFetch: ["fast", null], adapters: ["sdks", null] },
  "door for addresses": {
    client: ["fast", null],
    verifiedFetch: ["fast", null],
    "verifiedFetch with a kept sign-up": ["fast", null],
    proxy: ["fast", "proxy"],
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly [Tier, Options]>>>>;

type Doors = typeof DOORS;
export type DoorName = keyof Doors;

/** The entrances of a tier. */
export type EntranceOf<T extends Tier> = {
  [D in DoorName]: {
    [E in keyof Doors[D] & string]: Doors[D][E] extends readonly [T, Options] ? `${D}, ${E}` : never;
  }[keyof Doors[D] & string];
}[DoorName];
export type EntranceName = EntranceOf<Tier>;

/** What declares the options of some entrance. */
export type OptionsOfEntrances = { [D in DoorName]: Doors[D][keyof Doors[D]] }[DoorName][1];

export interface Entrance {
  readonly name: EntranceName;
  readonly door: DoorName;
  readonly options: Options;
}

/** Every entrance of every column. */
export const ENTRANCES: readonly Entrance[] = (Object.keys(DOORS) as DoorName[]).flatMap((door) => {
  const entrances: Readonly<Record<string, readonly [Tier, Options]>> = DOORS[door];
  return Object.entries(entrances).map(([entrance, [, options]]) => {
    return { name: `${door}, ${entrance}` as EntranceName, door, options };
  });
});

/**
 * `checks`: refused by the checks of the row. `fails`: refused by other ids or codes. `not`: does not apply, and why.
 * `lacks`: the entrance has no such option, which `sources.test.ts` compares with the tables of options.
 */
export type Cell =
  | "checks"
  | { readonly fails: readonly string[] }
  | { readonly not: string }
  | { readonly lacks: OptionName };

/** Of a column, or of one entrance that differs from its column. */
export type Cells = Readonly<Partial<Record<DoorName | EntranceName, Cell>>>;

export const not = (reason: string): Cell => ({ not: reason });

/** The same cell wherever addresses are judged: by the command, and at the door. */
export const ofAddresses = (cell: Cell) => ({ addresses: cell, "door for addresses": cell });

const NO_MANIFEST = not("it measures files and names, and sees no manifest, no document and no answer");
const NO_DOCUMENT = not("it reads a manifest before any enclave booted it: there is no document and no answer");
const RELEASE_SETS = not(
  "of a policy it takes who approves which namespace, and from which nonce; review compares a release with all pins",
);
const ONLY_BOOT_PROOFS = not("it asks for boot proofs alone: no app proof and no activity reaches it");
const ONLY_THERE = not("an option of another command alone, which compares what only that command reads");
const NO_LISTS = not("it judges the evidence that it gets, and no lists");
const NO_BARE = not("the service has boot proofs: a bare document does not come this way");
const NO_BARE_BUNDLE = not("a bundle has boot proofs, and no bare documents");
const NO_SIGSTORE = not(
  "a page has no Sigstore library: a policy that demands provenance is refused as a whole, whatever the evidence is",
);
const OWN_REQUEST = not("it makes the request itself, and has no option for this demand: the answer is compared");

const LISTED_ADDRESSES = not(
  "it asks which addresses are proven, and compares each with the lists, not with a request",
);
const PROOFS_OF_CREATION = not("proofs of creation are as old as the wallet, and no nonce or key was asked of them");

/** Of every class unless it says otherwise. */
const EVIDENCE = {
  verify: "checks",
  audit: "checks",
  watch: "checks",
  addresses: "checks",
  review: NO_DOCUMENT,
  measure: NO_MANIFEST,
  "policy check-releases": RELEASE_SETS,
  door: "checks",
  "door for sign-ups": "checks",
  "door for addresses": "checks",
} as const satisfies Readonly<Record<DoorName, Cell>>;

const everywhere = (cell: Cell) =>
  Object.fromEntries(Object.keys(DOORS).map((door) => [door, cell])) as Readonly<Record<DoorName, Cell>>;

/** By class of facts; total, so that a new door needs its cells. */
export const CELLS = {
  /** A pin of what a manifest says. `review` names the pin: see `failsAt` in cells. */
  manifest: { ...EVIDENCE, review: "checks" },
  /** A pin of what only the document, or the service beside it, says. */
  document: EVIDENCE,
  /** A demand of provenance. */
  build: { ...EVIDENCE, measure: "checks", "verify, page in Chromium": NO_SIGSTORE },
  /** A rule of app proofs. */
  "app proof": { ...EVIDENCE, watch: ONLY_BOOT_PROOFS },
  /** What the caller requested. */
  request: { ...EVIDENCE, watch: ONLY_BOOT_PROOFS, ...ofAddresses(LISTED_ADDRESSES) },
  /** What the caller demands of each boot proof. */
  demand: { ...EVIDENCE, door: OWN_REQUEST, "door for sign-ups": OWN_REQUEST, ...ofAddresses(PROOFS_OF_CREATION) },
  /** What the service lists beside the proven address. */
  lists: {
    ...everywhere(NO_LISTS),
    ...ofAddresses("checks"),
    "door for addresses, verifiedFetch with a kept sign-up": not("the service of this entrance lists no activity"),
  },
  /** A pin of bare documents. */
  bare: {
    ...EVIDENCE,
    "verify, a bundle": NO_BARE_BUNDLE,
    "verify, bundle command": NO_BARE_BUNDLE,
    "verify, GitHub action": { lacks: "attestation" },
    watch: NO_BARE,
    door: NO_BARE,
    "door for sign-ups": NO_BARE,
    ...ofAddresses(NO_BARE),
  },
  /** An option of one command. */
  "one command": everywhere(ONLY_THERE),
} as const satisfies Readonly<Record<string, Cells & Readonly<Record<DoorName, Cell>>>>;

export type FactClass = keyof typeof CELLS;

/** What a door made of evidence: the ids of failed checks, or the codes of other faults. */
export interface Outcome {
  readonly accepted: boolean;
  readonly why: readonly string[];
}
