/** The part about the page itself: how it verifies again, what it cannot prove, how to verify its evidence. */
import { TOOL } from "../version.js";
import { IDS } from "./ids.js";
import { type Markup, element } from "./markup.js";

type PageKind = "report" | "document" | "verifier";

const LOADS_NOTHING = "It loads nothing and sends nothing, and works without a network";
const CARRIES: Readonly<Record<PageKind, string>> = {
  report: `It carries the evidence, the policy and the report as one bundle, and the program. ${LOADS_NOTHING}.`,
  document: `It carries the attestation document. ${LOADS_NOTHING}.`,
  verifier: `It carries the program that verifies. ${LOADS_NOTHING}: your files stay in this browser.`,
};

const OF_EVIDENCE = {
  word: "The maker of this file could have made it say anything: the verdict above, and the result of the button. ",
  advice: "So verify the evidence in the file, with a bootproof that you trust, by a policy of your own:",
  command: "bootproof verify FILE --policy POLICY",
  about:
    "It reads the evidence from the file, and verifies nothing else that the file shows. Without a policy of your " +
    "own give --no-policy, or --bundle-policy for the policy of this page’s maker: the verdict is then “authentic” " +
    "at best.",
};

const ADVICE: Readonly<Record<PageKind, typeof OF_EVIDENCE>> = {
  report: OF_EVIDENCE,
  document: { ...OF_EVIDENCE, about: "It reads the document from the file, and verifies nothing else." },
  verifier: {
    word: "The maker of this file could have made it say anything, whatever the evidence. ",
    advice: "So make your own, with a bootproof that you trust:",
    command: "bootproof page > verifier.html",
    about: `Every page that ${TOOL.name} ${TOOL.version} makes is the same, byte for byte.`,
  },
};

export function thisPage(kind: PageKind): Markup {
  const { word, advice, command, about } = ADVICE[kind];
  return element(
    "section",
    { class: "this-page", "aria-labelledby": "this-page" },
    element("h2", { id: "this-page" }, "This page"),
    element("p", {}, CARRIES[kind]),
    ...(kind === "report" ? againPart() : []),
    element(
      "p",
      { class: "message warn" },
      element("strong", {}, "A page cannot vouch for itself."),
      " ",
      word + advice,
    ),
    // With a tab index, wide text can be scrolled with the keyboard.
    element("pre", { tabindex: "0", class: "command" }, element("code", {}, command)),
    element("p", {}, about),
  );
}

/** The button to verify again. It is disabled until the script enables it. */
function againPart(): Markup[] {
  return [
    element(
      "p",
      {},
      element("button", { type: "button", id: IDS.again, disabled: "" }, "Verify again in this browser"),
    ),
    element(
      "noscript",
      {},
      element("p", {}, "JavaScript is off, so this page cannot verify again. The command below needs no browser."),
    ),
    element("div", { role: "status", id: IDS.answer }),
  ];
}
