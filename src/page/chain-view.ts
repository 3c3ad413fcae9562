/** Draws the chain of trust of each boot proof, every link with its reason and its checks. */
import { labelOf } from "../report/labels.js";
import { isBad } from "../report/facts.js";
import { printable } from "../report/printable.js";
import type { Report } from "../report/report.js";
import { type Link, chainsOfTrust, checksOfNoChain } from "./chain.js";
import { checkDetails, foldable, titledPart, tree } from "./checks.js";
import { icon, overview } from "./diagram.js";
import { LINKS, type LinkState, NOT_COMPARED, STATE_WORDS } from "./links.js";
import { type Markup, type MarkupNode, element } from "../show/markup.js";

const STATES = Object.keys(STATE_WORDS) as LinkState[];

export function chainSection(report: Report): Markup {
  const chains = chainsOfTrust(report);
  const failed = chains.findIndex(isFailed);
  const legend = STATES.map((state) => {
    const text = element("span", {}, element("strong", {}, STATE_WORDS[state]), ` ${MEANINGS[state]}`);
    return element("li", {}, icon({ state, warnings: [] }), text);
  });
  return titledPart(
    "chain",
    ["Chain of trust"],
    element("ul", { class: "legend", "aria-label": "The states of a link" }, legend),
    chains.map((links, boot) => {
      const title = element("h3", {}, labelOf(`boot[${boot}]`, report));
      const drawn = chainNodes(links, boot, report);
      if (chains.length === 1) return element("div", {}, title, drawn);
      // The first failed chain is unfolded, or the first of all if none failed.
      const name = `boot${isFailed(links) ? " bad" : ""}${boot === Math.max(0, failed) ? " open" : ""}`;
      return foldable(name, [title, element("span", {}, chainSum(links))], drawn);
    }),
  );
}

function isFailed(links: readonly Link[]): boolean {
  return links.some(({ state }) => state === "failed");
}

const MEANINGS: Readonly<Record<LinkState, string>> = {
  proven: "its checks hold",
  warned: "its checks hold, and the warning says what they leave open",
  failed: "a check failed",
  word: "only the image states it, and nothing vouches for the image",
  open: "nothing was checked, or there is nothing to check",
  unproven: "nothing failed, and nothing is proven",
};

/** Summarizes a chain, such as `failed: Policy; 9 not proven`. */
function chainSum(links: readonly Link[]): string {
  const failed = links.filter(({ state }) => state === "failed").map(({ title }) => title);
  const counts = STATES.filter((state) => state !== "failed")
    .map((state) => [links.filter((link) => link.state === state).length, STATE_WORDS[state].toLowerCase()] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`);
  const warned = links.some(({ warnings }) => warnings.length > 0) ? ", with warnings" : "";
  return `${failed.length === 0 ? "" : `failed: ${failed.join(", ")}; `}${counts.join(", ")}${warned}`;
}

function chainNodes(links: readonly Link[], boot: number, report: Report): Markup {
  const id = `boot-${boot}`;
  const items = links.map((link) => linkItem(link, `${id}-${link.id}`, report));
  return element("div", { id }, overview(links, id), element("ol", { class: "chain" }, items));
}

function linkItem(link: Link, id: string, report: Report): Markup {
  const failed = link.checks.filter(isBad);
  const isStale = failed.length > 0 && failed.every(({ stale }) => stale === true);
  const warnings = [...new Set(link.warnings)].map((text) => {
    return element("p", { class: "message warn" }, element("strong", {}, "Warning"), " ", printable(text));
  });
  const content = [
    element("p", { class: "asks" }, LINKS[link.id].asks),
    element("p", { class: "reason" }, printable(link.reason)),
    ...warnings,
    element("div", { class: "more" }, factDetails(link), ...checkDetails(link.checks, report)),
  ];
  return linkBox("h4", { ...link, word: isStale ? "Failed: too old" : link.word }, content, { id });
}

type Drawn = Pick<Link, "title" | "state" | "word" | "warnings">;

/** Draws a link with its shape, its title and the word for its state. */
export function linkBox(
  heading: "h3" | "h4",
  link: Drawn,
  content: readonly Markup[],
  attributes: object = {},
): Markup {
  const title = element(heading, {}, link.title, " ", element("span", { class: "state" }, link.word));
  const box = element("div", { class: "link-text" }, title, content);
  return element("li", { class: `link state-${link.state}`, ...attributes }, icon(link), box);
}

function factDetails({ statements, state, word }: Link): Markup | null {
  if (Object.keys(statements).length === 0) return null;
  const open = word === NOT_COMPARED ? ", and not compared" : ", and not proven";
  const title = `What it says, in full${state === "proven" || state === "warned" ? "" : open}`;
  return foldable("facts", [title], tree(statements));
}

export function straySection(report: Report): MarkupNode[] {
  const checks = checksOfNoChain(report);
  if (checks.length === 0) return [];
  const why = "The report does not name the boot proof of these checks: it names one only for app proofs with claims.";
  return [titledPart("stray", ["Checks outside the chains"], element("p", {}, why), checkDetails(checks, report))];
}
