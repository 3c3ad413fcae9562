/** What the page shows of a report: the verdict, what is proven and what is not, the chain of trust, the evidence. */
import { type JudgedEvidence, NamedEvidence, givenPieces } from "../inputs.js";
import { labelOf } from "../report/check-lines.js";
import { countWords } from "../report/pieces.js";
import { printable, quoted } from "../report/printable.js";
import type { Report, Verdict } from "../report/report.js";
import { capitalized, provenStatements, unprovenWords } from "../report/statements.js";
import { type Notice, butsOf, verdictSentence } from "../report/text.js";
import { unprovenStatements } from "../report/unproven.js";
import {
  type Link,
  type LinkState,
  LINKS,
  STATE_WORDS,
  chainCount,
  chainOfTrust,
  checksOfNoChain,
  isBad,
} from "./chain.js";
import { checkDetails, shownValue, valueList } from "./checks.js";
import { icon, overview, strip } from "./diagram.js";
import { evidencePieces } from "./evidence.js";
import { type Markup, type MarkupNode, element } from "./markup.js";

export interface Shown {
  readonly report: Report;
  readonly evidence: JudgedEvidence;
  readonly notices: readonly Notice[];
}

/** The report's nodes, which stand inside `main`: a header with the one `h1`, then a section for each part. */
export async function reportView({ report, evidence, notices }: Shown): Promise<MarkupNode[]> {
  const isBare = evidence instanceof NamedEvidence || evidence instanceof Uint8Array;
  const pieces = await evidencePieces(givenPieces(evidence), isBare, report);
  return [
    verdictHeader(report, butsOf(report, notices)),
    ...noticeList(notices),
    statementsPart(report),
    chainPart(report),
    ...strayPart(report),
    evidencePart(pieces, report),
    originPart(report),
  ];
}

const VERDICT_SHAPES: Readonly<Record<Verdict, LinkState>> = {
  verified: "proven",
  authentic: "open",
  rejected: "failed",
};

function verdictHeader(report: Report, buts: readonly string[]): Markup {
  const sentence = verdictSentence(report);
  const end = sentence.indexOf(":");
  const isKnown = Object.hasOwn(VERDICT_SHAPES, report.verdict);
  const state = isKnown ? VERDICT_SHAPES[report.verdict] : "unproven";
  const count = buts.length === 1 ? "with one BUT" : `with ${buts.length} BUTs`;
  return element(
    "header",
    { class: `verdict verdict-${isKnown ? report.verdict : "unknown"}` },
    element(
      "div",
      { class: "verdict-band" },
      element(
        "h1",
        {},
        icon({ state, warnings: [] }),
        element("span", { class: "word" }, sentence.slice(0, end)),
        buts.length === 0 ? null : element("span", { class: "count" }, ` ${count}`),
      ),
      element("p", { class: "sentence" }, capitalized(sentence.slice(end + 1).trim())),
      element("p", { class: "counts" }, countWords(report.checks).join(", ")),
    ),
    buts.length === 0
      ? null
      : element(
          "ul",
          { class: "buts" },
          buts.map((text) => {
            return element("li", {}, element("strong", {}, "BUT"), " ", element("span", {}, printable(text)));
          }),
        ),
  );
}

function noticeList(notices: readonly Notice[]): MarkupNode[] {
  const others = notices.filter(({ kind }) => kind !== "but");
  if (others.length === 0) return [];
  return [
    element(
      "ul",
      { class: "notices" },
      others.map(({ kind, text }) => element("li", { class: `notice-${kind}` }, printable(text))),
    ),
  ];
}

/** Proven and not proven side by side, of equal weight; of rejected evidence nothing is proven. */
function statementsPart(report: Report): Markup {
  const proven = provenStatements(report);
  const open = unprovenStatements(report);
  return element(
    "div",
    { class: "statements" },
    report.claims === null ? null : statementSection("proven", "Proven", [statementList(proven)]),
    statementSection("not-proven", "Not proven", [
      ...unprovenWords(report).map(({ heading, statements }) => {
        const title = element("h3", {}, `${capitalized(heading)}:`);
        return element("div", { class: "image-word" }, title, statementList(statements));
      }),
      statementList(open),
    ]),
  );
}

function statementSection(id: string, title: string, content: readonly Markup[]): Markup {
  return element("section", { class: id, "aria-labelledby": id }, element("h2", { id }, title), content);
}

function statementList(statements: readonly string[]): Markup {
  return element(
    "ul",
    {},
    statements.map((statement) => element("li", {}, statement)),
  );
}

function chainPart(report: Report): Markup {
  const chains = Array.from({ length: chainCount(report) }, (_, boot) => chainOfTrust(report, boot));
  const title = element("h2", { id: "chain" }, "Chain of trust");
  const states = element(
    "ul",
    { class: "legend", "aria-label": "The states of a link" },
    (Object.keys(STATE_WORDS) as LinkState[]).map((state) => {
      return element(
        "li",
        {},
        icon({ state, warnings: [] }),
        element("strong", {}, STATE_WORDS[state]),
        ` ${MEANINGS[state]}`,
      );
    }),
  );
  return element(
    "section",
    { class: "chains", "aria-labelledby": "chain" },
    title,
    states,
    chains.length === 1 ? chainNodes(chains[0]!, 0, report) : severalChains(chains, report),
  );
}

const MEANINGS: Readonly<Record<LinkState, string>> = {
  proven: "it holds, and so does all above it",
  failed: "a check failed",
  word: "it is said by an image that nothing vouches for",
  open: "nothing was asked of it, or nothing is there",
  unproven: "nothing failed in it, and it proves nothing",
};

/** Every chain in a row of a list, then each behind its name: the first that failed, or the first, is open. */
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
        element("summary", {}, element("strong", {}, labelOf(`boot[${boot}]`, report)), ` ${chainSum(links)}`),
        chainNodes(links, boot, report),
      );
    }),
  ];
}

/** `Failed: Policy. 9 not proven.` */
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

function chainNodes(links: readonly Link[], boot: number, report: Report): Markup[] {
  const id = `boot-${boot}`;
  return [
    element("h3", { id }, labelOf(`boot[${boot}]`, report)),
    overview(links, `${id}-chain`),
    element(
      "ol",
      { class: "chain" },
      links.map((link) => linkItem(link, `${id}-${link.id}`, report)),
    ),
  ];
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
      element(
        "h4",
        {},
        link.title,
        " ",
        element("span", { class: "state" }, isStale ? "Failed: too old" : STATE_WORDS[link.state]),
      ),
      element("p", { class: "asserts" }, LINKS[link.id].asserts),
      element("p", { class: "reason" }, printable(link.reason)),
      [...new Set(link.warnings)].map((text) => {
        return element("p", { class: "warning" }, element("strong", {}, "Warning"), " ", printable(text));
      }),
      statementDetails(link),
      checkDetails(link.checks, report),
    ),
  );
}

function statementDetails({ statements, state }: Link): Markup | null {
  if (statements.length === 0) return null;
  const title = state === "proven" ? "What it says, in full" : "What it says, in full, and not proven";
  return element(
    "details",
    { class: "facts" },
    element("summary", {}, title),
    valueList(statements.map(({ name, value }) => [name, shownValue(value)])),
  );
}

/** Where no chain is named that they belong to: nothing of a report is left out. */
function strayPart(report: Report): MarkupNode[] {
  const checks = checksOfNoChain(report);
  if (checks.length === 0) return [];
  const why = "By which boot proof these were judged, the report does not say: it says so of what is claimed only.";
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

function evidencePart(pieces: readonly Markup[], report: Report): Markup {
  const believed =
    report.claims === null
      ? "The evidence was rejected. What it says stands here in full, and nothing of it is to be believed."
      : "What the evidence says stands here in full. What of it is proven stands above, and nothing else is.";
  return element(
    "section",
    { class: "evidence", "aria-labelledby": "evidence" },
    element("h2", { id: "evidence" }, "Evidence"),
    element("p", { class: "unverified" }, believed),
    pieces,
  );
}

function originPart(report: Report): Markup {
  const { policyDigest, tool, verifiedAt, validationTime, format } = report;
  const rows: [string, MarkupNode][] = [
    ["Verified at", printable(verifiedAt)],
    ["Certificates judged as of", printable(validationTime ?? "no time: it could not be read from the evidence")],
    ["Verified by", printable(`${tool.name} ${tool.version}`)],
    ["Policy", policyText(report)],
    ...(policyDigest === null ? [] : [["Policy, SHA-256", shownValue(policyDigest)] as [string, MarkupNode]]),
    ["Report", printable(format)],
  ];
  return element(
    "section",
    { class: "origin", "aria-labelledby": "origin" },
    element("h2", { id: "origin" }, "How it was verified"),
    valueList(rows),
  );
}

function policyText({ policy, verdict }: Report): string {
  if (policy !== null) return quoted(policy);
  return verdict === "authentic" ? "none was given" : "it has no name";
}
