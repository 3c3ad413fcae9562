/** Draws the chain of trust of each boot proof, every link with its reason and its checks. */
import { labelOf } from "../report/labels.js";
import { isBad } from "../report/facts.js";
import { printable } from "../report/printable.js";
import type { Report } from "../report/report.js";
import { type Link, chainsOfTrust, checksOfNoChain } from "./chain.js";
import { checkDetails, shownValue, valueList } from "./checks.js";
import { icon, overview, strip } from "./diagram.js";
import { LINKS, type LinkState, NOT_COMPARED, STATE_WORDS } from "./links.js";
import { type Markup, type MarkupNode, element } from "../show/markup.js";

export function chainSection(report: Report): Markup {
  const chains = chainsOfTrust(report);
  const title = element("h2", { id: "chain" }, "Chain of trust");
  const states = element(
    "ul",
    { class: "legend", "aria-label": "The states of a link" },
    (Object.keys(STATE_WORDS) as LinkState[]).map((state) => {
      return element(
        "li",
        {},
        icon({ state, warnings: [] }),
        element("span", {}, element("strong", {}, STATE_WORDS[state]), ` ${MEANINGS[state]}`),
      );
    }),
  );
  return element(
    "section",
    { class: "chains", "aria-labelledby": "chain" },
    title,
    states,
    chains.length === 1
      ? [element("h3", {}, labelOf("boot[0]", report)), chainNodes(chains[0]!, 0, report)]
      : severalChains(chains, report),
  );
}

const MEANINGS: Readonly<Record<LinkState, string>> = {
  proven: "its checks hold",
  warned: "its checks hold, and the warning says what they leave open",
  failed: "a check failed",
  word: "only the image states it, and nothing vouches for the image",
  open: "nothing was checked, or there is nothing to check",
  unproven: "nothing failed, and nothing is proven",
};

/**
 * Returns a list of all chains, then each chain to unfold. The first failed chain is unfolded, or the first of all if
 * none failed.
 */
function severalChains(chains: readonly (readonly Link[])[], report: Report): Markup[] {
  const failed = chains.findIndex((links) => links.some(({ state }) => state === "failed"));
  const open = Math.max(0, failed);
  return [
    element(
      "ol",
      { class: "boots", "aria-label": "Boot proofs" },
      chains.map((links, boot) => {
        const label = element("a", { href: `#boot-${boot}` }, labelOf(`boot[${boot}]`, report));
        return element("li", {}, label, strip(links), element("span", { class: "sum" }, chainSum(links)));
      }),
    ),
    ...chains.map((links, boot) => {
      return element(
        "details",
        { class: "boot", ...(boot === open && { open: "" }) },
        element(
          "summary",
          {},
          element("h3", {}, labelOf(`boot[${boot}]`, report)),
          element("span", {}, chainSum(links)),
        ),
        chainNodes(links, boot, report),
      );
    }),
  ];
}

/** Summarizes a chain, such as `failed: Policy; 9 not proven`. */
function chainSum(links: readonly Link[]): string {
  const failed = links.filter(({ state }) => state === "failed").map(({ title }) => title);
  const counts = (Object.keys(STATE_WORDS) as LinkState[])
    .filter((state) => state !== "failed")
    .map((state) => [links.filter((link) => link.state === state).length, STATE_WORDS[state].toLowerCase()] as const)
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count} ${word}`);
  const warned = links.some(({ warnings }) => warnings.length > 0) ? ", with warnings" : "";
  return `${failed.length === 0 ? "" : `failed: ${failed.join(", ")}; `}${counts.join(", ")}${warned}`;
}

/**
 * Draws the links of a chain. The target of links must be inside the folded element: otherwise a browser does not
 * unfold it.
 */
function chainNodes(links: readonly Link[], boot: number, report: Report): Markup {
  const id = `boot-${boot}`;
  const items = links.map((link) => linkItem(link, `${id}-${link.id}`, report));
  return element("div", { id }, overview(links, `${id}-chain`), element("ol", { class: "chain" }, items));
}

function linkItem(link: Link, id: string, report: Report): Markup {
  const isStale = link.checks.some(isBad) && link.checks.filter(isBad).every(({ stale }) => stale === true);
  return element(
    "li",
    { class: `link state-${link.state}`, id },
    icon(link),
    element(
      "div",
      { class: "link-text" },
      element("h4", {}, link.title, " ", element("span", { class: "state" }, isStale ? "Failed: too old" : link.word)),
      element("p", { class: "asks" }, LINKS[link.id].asks),
      element("p", { class: "reason" }, printable(link.reason)),
      [...new Set(link.warnings)].map((text) => {
        return element("p", { class: "warning" }, element("strong", {}, "Warning"), " ", printable(text));
      }),
      element("div", { class: "more" }, statementDetails(link), ...checkDetails(link.checks, report)),
    ),
  );
}

function statementDetails({ statements, state, word }: Link): Markup | null {
  if (statements.length === 0) return null;
  const open = word === NOT_COMPARED ? ", and not compared" : ", and not proven";
  const title = `What it says, in full${state === "proven" || state === "warned" ? "" : open}`;
  return element(
    "details",
    { class: "facts" },
    element("summary", {}, title),
    valueList(statements.map(({ name, value }) => [name, shownValue(value)])),
  );
}

export function straySection(report: Report): MarkupNode[] {
  const checks = checksOfNoChain(report);
  if (checks.length === 0) return [];
  const why = "The report does not name the boot proof of these checks: it names one only for app proofs with claims.";
  return [
    element(
      "section",
      { class: "stray", "aria-labelledby": "stray" },
      element("h2", { id: "stray" }, "Checks outside the chains"),
      element("p", {}, why),
      checkDetails(checks, report),
    ),
  ];
}
