/** What a page says of itself: whose word it is, what it cannot prove, and how to verify its evidence. */
import type { Report } from "../report/report.js";
import { isByMakersPolicy } from "../report/unproven.js";
import { TOOL } from "../version.js";
import { shownValue } from "./checks.js";
import { IDS } from "./ids.js";
import { type Markup, type MarkupNode, element } from "./markup.js";

type PageKind = "report" | "document" | "verifier";

const LOADS_NOTHING = "It loads nothing and sends nothing, and works without a network";
const CARRIES: Readonly<Record<PageKind, string>> = {
  report: `It carries the evidence, the policy and the report as one bundle, and the program. ${LOADS_NOTHING}.`,
  document: `It carries the attestation document. ${LOADS_NOTHING}.`,
  verifier: `It carries the program that verifies. ${LOADS_NOTHING}: your files stay in this browser.`,
};

const COMMAND = "bootproof verify report.html --policy yours.json";

const OF_EVIDENCE = {
  word: "The maker of this file could have made it say anything: the verdict above, and the result of its own check.",
  about:
    "bootproof verify reads the evidence from the file, and verifies nothing else that the file shows. Without a " +
    "policy of your own give --no-policy, or --bundle-policy for the policy of this page’s maker: the verdict is " +
    "then “authentic” at best.",
};

const ADVICE: Readonly<Record<PageKind, typeof OF_EVIDENCE>> = {
  report: OF_EVIDENCE,
  document: { ...OF_EVIDENCE, about: "bootproof verify reads the document from the file, and verifies nothing else." },
  verifier: {
    word: "The maker of this file could have made it say anything, whatever the evidence. So make your own:",
    about: `Every page that ${TOOL.name} ${TOOL.version} makes with “bootproof page” is the same, byte for byte.`,
  },
};

export function thisPage(kind: PageKind): Markup {
  const { word, about } = ADVICE[kind];
  const code = element("code", {}, "bootproof page > verifier.html");
  return element(
    "section",
    { class: "this-page", "aria-labelledby": "this-page" },
    element("h2", { id: "this-page" }, "This page"),
    element("p", {}, CARRIES[kind]),
    element("p", { class: "message warn" }, element("strong", {}, "A page cannot vouch for itself."), " ", word),
    // With a tab index, wide text can be scrolled with the keyboard.
    kind === "verifier" ? element("pre", { tabindex: "0", class: "command" }, code) : null,
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
