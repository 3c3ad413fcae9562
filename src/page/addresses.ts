/** The page of a table of addresses, each of which unfolds its chain. It has no script, and carries no evidence. */
import { printable } from "../report/printable.js";
import { linkBox } from "./chain-view.js";
import { foldable, listOf, titledPart, valueList } from "./checks.js";
import { icon } from "./diagram.js";
import { type LinkState, STATE_WORDS } from "./links.js";
import { type Markup, element } from "../show/markup.js";
import { documentOf } from "./page.js";
import { titleText } from "./shown.js";
import { verdictBand } from "./view.js";

type Fact = string | null;
type ShownRow = Readonly<Record<"class" | "address" | "organizationId", string>> &
  Readonly<Record<"walletId" | "privateKeyId" | "path" | "curve" | "addressFormat" | "createdAt", Fact>> &
  Readonly<Record<"provenAt" | "activityId" | "deployment" | "reason", Fact>> & { readonly listed: boolean };

interface ShownGroup {
  readonly name: string;
  readonly meaning: string;
  readonly isAccepted: boolean;
  readonly count: number;
  readonly shown: readonly ShownRow[];
  /** The number of rows that are left out. */
  readonly left: number;
}

interface AddressPage {
  /** A verdict in capitals, and the rest of the sentence. */
  readonly headline: string;
  readonly isGood: boolean;
  readonly faults: readonly string[];
  /** What no class says. */
  readonly limits: readonly string[];
  readonly warnings: readonly string[];
  /** The worst class first. */
  readonly groups: readonly ShownGroup[];
  readonly origin: readonly (readonly [name: string, value: string])[];
}

export async function renderAddresses(page: AddressPage): Promise<string> {
  const { headline, groups, origin } = page;
  const body = [
    stated(),
    headerOf(page),
    element("ul", { class: "legend classes", "aria-label": "The classes" }, groups.map(classItem)),
    ...groups.map(groupSection),
    titledPart("origin", ["How it was made"], valueList(origin)),
  ];
  return documentOf({ title: titleText(headline), body, carried: null }, null);
}

function stated(): Markup {
  const command = "bootproof addresses --from FOLDER --organization-id ID --policy yours.json";
  return element(
    "div",
    { class: "message warn" },
    element("p", {}, "Stated by whoever made this file. It carries no evidence."),
    element("p", {}, "Verify the folder of its evidence yourself: ", element("code", {}, command)),
  );
}

function headerOf({ headline, isGood, faults, limits, warnings }: AddressPage): Markup {
  const [, word, rest] = /^([A-Z ]+): (.*)$/s.exec(headline)!;
  const sentences = [rest!, ...faults].map((text) => element("p", { class: "sentence" }, text));
  return element(
    "header",
    { class: `verdict verdict-${isGood ? "verified" : "rejected"}` },
    verdictBand(isGood ? "proven" : "failed", word!, "", sentences),
    element(
      "div",
      { class: "gist" },
      warnings.length === 0 ? null : element("div", {}, element("strong", {}, "Warnings"), listOf(warnings)),
      element("div", {}, element("strong", {}, "Not proven"), listOf(limits)),
    ),
  );
}

/** A class that is not here is a failure. */
const CLASS_STATES: Readonly<Record<string, LinkState>> = {
  derived: "proven",
  exported: "warned",
  imported: "warned",
  service: "word",
};
const stateOf = (name: string): LinkState => CLASS_STATES[name] ?? "failed";

function classItem({ name, count, meaning, isAccepted }: ShownGroup): Markup {
  const link = element("a", { href: `#${name}` }, `${count} ${name}`);
  const refused = isAccepted ? null : element("strong", {}, " Not accepted.");
  const text = element("span", {}, link, `: ${meaning}.`, refused);
  return element("li", {}, icon({ state: stateOf(name), warnings: [] }), text);
}

function groupSection({ name, count, shown, left }: ShownGroup): Markup {
  const rest = left === 0 ? null : element("p", {}, `and ${left} more, which this page leaves out`);
  const rows = element("div", { class: `group state-${stateOf(name)}` }, shown.map(rowDetails));
  return titledPart(name, [`${name} (${count})`], rows, rest);
}

function rowDetails(row: ShownRow): Markup {
  const when = row.provenAt === null ? "no verified proof" : `proven ${row.provenAt}`;
  const summary = [
    element("code", {}, printable(row.address)),
    element("span", { class: "place" }, printable(placeOf(row))),
    element("span", { class: "place" }, printable(when)),
    ...(row.reason === null ? [] : [element("span", { class: "why" }, printable(row.reason))]),
  ];
  return foldable("row", summary, element("ol", { class: "chain" }, linksOf(row).map(linkItem)));
}

function placeOf({ walletId, privateKeyId, path }: ShownRow): string {
  if (walletId === null) return `private key ${privateKeyId ?? "that no list has"}`;
  return `path ${path ?? "unknown"} of wallet ${walletId}`;
}

interface AddressLink {
  readonly title: string;
  readonly state: LinkState;
  readonly word?: string;
  readonly says: readonly Fact[];
}

const SERVICE = { state: "word", word: "Service’s word" } as const;
const PROVEN: readonly string[] = ["imported", "exported", "derived"];
const UNKNOWN_SEED = "That nobody else knows the seed is not proven.";

/** Returns what an address rests on, from the list that has it to its seed. */
function linksOf(row: ShownRow): AddressLink[] {
  const { class: name, organizationId, activityId, provenAt, deployment, reason, createdAt } = row;
  const place = `organization ${organizationId}, ${placeOf(row)}`;
  const listed = [place, row.curve, row.addressFormat, createdAt && `created ${createdAt}`];
  const signed = `An enclave signed this address at ${provenAt}: ${place}.`;
  const isProven = PROVEN.includes(name) || !row.listed;
  return [
    {
      title: "List",
      ...(row.listed ? SERVICE : { state: name === "derived" ? "open" : "failed", word: "Not listed" }),
      says: row.listed ? listed : [reason],
    },
    {
      title: "Activity",
      ...(activityId === null ? { state: "open" } : SERVICE),
      says: [activityId ?? "None was found."],
    },
    isProven
      ? { title: "Proof", state: "proven", says: [signed] }
      : { title: "Proof", state: name === "service" ? "open" : "failed", says: [reason] },
    deployment === null
      ? { title: "Enclave", state: "unproven", says: ["No deployment of the policy vouches for the address."] }
      : { title: "Enclave", state: "proven", says: [`The deployment “${deployment}” of the policy signed the proof.`] },
    seedLink(row),
  ];
}

function seedLink({ class: name, listed, reason }: ShownRow): AddressLink {
  if (name === "derived" && listed)
    return { title: "Seed", ...SERVICE, says: ["Neither imported nor exported.", UNKNOWN_SEED] };
  if (stateOf(name) === "warned") return { title: "Seed", state: "warned", says: [reason, UNKNOWN_SEED] };
  return { title: "Seed", state: "unproven", says: [UNKNOWN_SEED] };
}

function linkItem({ title, state, says, word = STATE_WORDS[state] }: AddressLink): Markup {
  const facts = says.filter((text) => text !== null).map((text) => element("p", {}, printable(text)));
  return linkBox("h3", { title, state, word, warnings: [] }, facts);
}
