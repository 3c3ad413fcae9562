/** What a page says of itself: whose word it is, what it cannot prove, and how to verify its evidence. */
import type { Report } from "../report/report.js";
import { isByMakersPolicy } from "../report/unproven.js";
import { TOOL } from "../version.js";
import { shownValue } from "./checks.js";
import { IDS } from "./ids.js";
import { type Markup, type MarkupNode, element } from "../show/markup.js";

type PageKind = "report" | "document" | "verifier";

const COMMAND = "bootproof verify report.html --policy yours.json";
const WORD =
  "The maker of this file could have made it say anything: the verdict above, and the result of its own check.";

const TEXTS: Readonly<Record<PageKind, Readonly<Record<"carries" | "word", string> & { about: MarkupNode[] }>>> = {
  report: {
    carries: "It carries the evidence, the policy and the report as one bundle, and the program.",
    word: WORD,
    about: [
      "bootproof verify reads the evidence from the file, and verifies nothing else that the file shows. Without a " +
        "policy of your own give --no-policy, or --bundle-policy for the policy of this page’s maker: the verdict is " +
        "then “authentic” at best.",
    ],
  },
  document: {
    carries: "It carries the attestation document.",
    word: WORD,
    about: ["bootproof verify reads the document from the file, and verifies nothing else."],
  },
  verifier: {
    carries: "It carries the program that verifies. Your files stay in this browser.",
    word: "The maker of this file could have made it say anything, whatever the evidence. So make your own:",
    about: [
      element("code", {}, "bootproof page > verifier.html"),
      ` (every page that ${TOOL.name} ${TOOL.version} makes is the same, byte for byte).`,
    ],
  },
};

export function thisPage(kind: PageKind): Markup {
  const { carries, word, about } = TEXTS[kind];
  return element(
    "section",
    { class: "this-page", "aria-labelledby": "this-page" },
    element("h2", { id: "this-page" }, "This page"),
    element("p", {}, `${carries} It loads nothing and sends nothing, and works without a network.`),
    element("p", { class: "message warn" }, element("strong", {}, "A page cannot vouch for itself."), " ", word),
    element("p", {}, about),
  );
}

/** Says whose word the page is, and how to verify it. The script shows the button: without it there is none. */
export function statedBy(report: Report, kind: PageKind): Markup {
  return element(
    "div",
    { class: "stated" },
    element("p", {}, "Stated by whoever made this file, under ", ...policyOf(report), "."),
    element("p", {}, "Verify it yourself: ", element("code", {}, COMMAND)),
    ...(kind === "report" ? ownCheck() : []),
  );
}

function policyOf(report: Report): MarkupNode[] {
  if (report.policyDigest !== null) return ["the policy SHA-256 ", shownValue(report.policyDigest)];
  return [isByMakersPolicy(report) ? "the policy that came with the evidence" : "no policy"];
}

function ownCheck(): Markup[] {
  const named = { type: "button", id: IDS.again, "aria-describedby": IDS.againHint };
  return [
    element(
      "p",
      { hidden: "" },
      element("button", named, "Run this page's own check"),
      " ",
      element("small", { id: IDS.againHint }, "It proves nothing if the maker lied."),
    ),
    element("div", { role: "status", id: IDS.answer }),
  ];
}
