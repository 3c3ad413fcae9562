/** The columns: where evidence is judged, and what a fact means there unless its row says otherwise. */
import type { CheckId } from "../../src/checks.js";
import type { OptionName } from "../../src/cli/option-table.js";

/** `built`: the column needs a build, and some of them a server or a browser. `sdks`: it needs an SDK. */
export const DOORS = {
  verify: "fast",
  "verify of a bundle": "fast",
  "verify of a page": "fast",
  bundle: "fast",
  addresses: "fast",
  "addresses of a client": "fast",
  verifyAddresses: "fast",
  "verifyAddresses of a kept sign-up": "fast",
  "proxy --verify-addresses": "fast",
  watch: "fast",
  "watch after SIGHUP": "fast",
  review: "fast",
  measure: "fast",
  "release check": "fast",
  client: "fast",
  adapters: "sdks",
  proxy: "fast",
  verifiedFetch: "fast",
  "sign-up by verifiedFetch": "fast",
  "sign-up by adapters": "sdks",
  "audit with threads": "built",
  "audit with a queue": "built",
  "page in Chromium": "built",
  "GitHub action": "built",
} as const;

export type DoorName = keyof typeof DOORS;
export const DOOR_NAMES = Object.keys(DOORS) as readonly DoorName[];

/**
 * `checks`: refused by the checks of the row. `fails`: refused by other ids or codes. `not`: does not apply, and why.
 * `lacks`: the door has no such option, which `sources.test.ts` compares with the tables of options.
 */
export type Cell =
  | "checks"
  | { readonly fails: readonly string[] }
  | { readonly not: string }
  | { readonly lacks: OptionName };

const not = (reason: string): Cell => ({ not: reason });

const NO_MANIFEST = not("it measures files and names, and sees no manifest, no document and no answer");
const NO_DOCUMENT = not("it reads a manifest before any enclave booted it: there is no document and no answer");
const RELEASE_SETS = not(
  "of a policy it takes who approves which namespace, and from which nonce; review compares a release with all pins",
);
const ONLY_BOOT_PROOFS = not("it asks for boot proofs alone: no app proof and no activity reaches it");
const ONLY_THERE = not("an option of another command alone, which compares what only that command reads");
const NO_BARE = not("the service has boot proofs: a bare document does not come this way");
const NO_SIGSTORE = not(
  "a page has no Sigstore library: a policy that demands provenance is refused as a whole, whatever the evidence is",
);
const OWN_REQUEST = not("it makes the request itself, and has no option for this demand: the answer is compared");

const LISTED_ADDRESSES = not(
  "it asks which addresses are proven, and compares each with the lists, not with a request",
);
const PROOFS_OF_CREATION = not("proofs of creation are as old as the wallet, and no nonce or key was asked of them");

type AddressDoor = Extract<DoorName, `addresses${string}` | `verifyAddresses${string}` | "proxy --verify-addresses">;
type SignUpDoor = Extract<DoorName, `sign-up by ${string}`>;

/** The same cell at each door that judges addresses. */
export const ofAddresses = <C extends Cell>(cell: C): Readonly<Record<AddressDoor, C>> => ({
  addresses: cell,
  "addresses of a client": cell,
  verifyAddresses: cell,
  "verifyAddresses of a kept sign-up": cell,
  "proxy --verify-addresses": cell,
});

/** The same cell at each door of a sign-up. */
export const ofSignUps = <C extends Cell>(cell: C): Readonly<Record<SignUpDoor, C>> => ({
  "sign-up by verifiedFetch": cell,
  "sign-up by adapters": cell,
});

const EVERYWHERE = {
  verify: "checks",
  "verify of a bundle": "checks",
  "verify of a page": "checks",
  bundle: "checks",
  ...ofAddresses("checks"),
  watch: "checks",
  "watch after SIGHUP": "checks",
  client: "checks",
  adapters: "checks",
  proxy: "checks",
  verifiedFetch: "checks",
  ...ofSignUps("checks"),
  "audit with threads": "checks",
  "audit with a queue": "checks",
  "page in Chromium": "checks",
  "GitHub action": "checks",
} as const satisfies Partial<Record<DoorName, Cell>>;

const BESIDE_EVIDENCE = {
  review: NO_DOCUMENT,
  measure: NO_MANIFEST,
  "release check": RELEASE_SETS,
} as const satisfies Partial<Record<DoorName, Cell>>;

const NOWHERE = Object.fromEntries(DOOR_NAMES.map((door) => [door, ONLY_THERE])) as Record<DoorName, Cell>;
const NO_WATCH = { watch: ONLY_BOOT_PROOFS, "watch after SIGHUP": ONLY_BOOT_PROOFS } as const;
const NO_EXCHANGE = {
  client: OWN_REQUEST,
  adapters: OWN_REQUEST,
  proxy: OWN_REQUEST,
  verifiedFetch: OWN_REQUEST,
  ...ofSignUps(OWN_REQUEST),
} as const;

/** By class of facts; total, so that a new door needs its cells. */
export const CELLS = {
  /** A pin of what a manifest says. `review` names the pin: see `wordsOf` in cells. */
  manifest: { ...EVERYWHERE, ...BESIDE_EVIDENCE, review: "checks" },
  /** A pin of what only the document, or the service beside it, says. */
  document: { ...EVERYWHERE, ...BESIDE_EVIDENCE },
  /** A demand of provenance. */
  build: {
    ...EVERYWHERE,
    ...BESIDE_EVIDENCE,
    measure: "checks",
    "page in Chromium": NO_SIGSTORE,
  },
  /** A rule of app proofs. */
  "app proof": { ...EVERYWHERE, ...BESIDE_EVIDENCE, ...NO_WATCH },
  /** What the caller requested. */
  request: { ...EVERYWHERE, ...BESIDE_EVIDENCE, ...NO_WATCH, ...ofAddresses(LISTED_ADDRESSES) },
  /** What the caller demands of each boot proof. */
  demand: { ...EVERYWHERE, ...BESIDE_EVIDENCE, ...NO_EXCHANGE, ...ofAddresses(PROOFS_OF_CREATION) },
  /** What the service lists beside the proven address. */
  lists: {
    ...Object.fromEntries(DOOR_NAMES.map((door) => [door, not("it judges the evidence that it gets, and no lists")])),
    ...ofAddresses("checks"),
    "verifyAddresses of a kept sign-up": not("the service of this column lists no activity"),
  } as Readonly<Record<DoorName, Cell>>,
  /** A pin of bare documents. */
  bare: {
    ...EVERYWHERE,
    ...BESIDE_EVIDENCE,
    "verify of a bundle": not("a bundle has boot proofs, and no bare documents"),
    bundle: not("a bundle has boot proofs, and no bare documents"),
    ...ofAddresses(NO_BARE),
    watch: NO_BARE,
    "watch after SIGHUP": NO_BARE,
    client: NO_BARE,
    adapters: NO_BARE,
    proxy: NO_BARE,
    verifiedFetch: NO_BARE,
    ...ofSignUps(NO_BARE),
    "GitHub action": { lacks: "attestation" },
  },
  /** An option of one command. */
  "one command": NOWHERE,
} as const satisfies Readonly<Record<string, Readonly<Record<DoorName, Cell>>>>;

export type FactClass = keyof typeof CELLS;

/** What a door made of evidence: the ids of failed checks, or the codes of other faults. */
export interface Outcome {
  readonly accepted: boolean;
  readonly why: readonly string[];
}

export type { CheckId };
