/** The page about itself: how it verifies again, what it cannot prove, how to check it from outside. */
import { TOOL } from "../version.js";
import { IDS } from "./ids.js";
import { type Markup, element } from "./markup.js";

const CARRIES = {
  report:
    "It carries the evidence, the policy and the program that verified them. It loads nothing and sends nothing, and " +
    "works without a network.",
  verifier:
    "It carries the program that verifies. It loads nothing and sends nothing, and works without a network: what you " +
    "give it stays in this browser.",
} as const;

const ITS_WORD = {
  report: "The maker of this file could have made it say anything: the verdict above, and the result of the button. ",
  verifier: "The maker of this file could have made it say anything, whatever the evidence. ",
} as const;
const FROM_OUTSIDE = "So check the file from outside, with a bootproof that you trust:";

const VERSION = `${TOOL.name} ${TOOL.version}`;
/** A page with evidence needs a policy. */
const COMMANDS = {
  report: "bootproof page --verify FILE --policy POLICY",
  verifier: "bootproof page --verify FILE",
} as const;

const WHAT_IT_CHECKS = {
  report: [
    `It verifies the evidence anew, by a policy of your own, and compares every byte of the file with the page that ` +
      `${VERSION} makes of it. Without a policy of your own give `,
    option("--no-policy"),
    ", or ",
    option("--bundle-policy"),
    " for the policy that this page’s maker chose: then it says “authentic” at best.",
  ],
  verifier: [`It compares every byte of the file with the page that ${VERSION} makes.`],
} as const;

const BY_HAND =
  `By hand, the digest of the script, which is the same in every page of ${VERSION}. It ` +
  `identifies the script in the file, and covers nothing else:`;

/** The script has its own lines. */
const HAND_COMMAND =
  `sed -n '/^<script id="${IDS.script}">/,/^<\\/script>/p' FILE |\n` +
  `  sed -e '1s/^<script[^>]*>//' -e '$d' | openssl dgst -sha256`;

/** `digest`: of the script, in hex. */
export function thisPage(digest: string, kind: "report" | "verifier"): Markup {
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
      ITS_WORD[kind] + FROM_OUTSIDE,
    ),
    command(COMMANDS[kind]),
    element("p", {}, ...WHAT_IT_CHECKS[kind]),
    element(
      "dl",
      {},
      element("dt", {}, "SHA-256 of its script"),
      element("dd", {}, element("code", { class: "digest" }, digest)),
    ),
    element("p", {}, BY_HAND),
    command(HAND_COMMAND),
  );
}

function option(name: string): Markup {
  return element("code", { class: "option" }, name);
}

/** Wide text can be scrolled by keyboard. */
function command(text: string): Markup {
  return element("pre", { tabindex: "0", class: "command" }, element("code", {}, text));
}

/** The script enables the button. */
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
      element(
        "p",
        {},
        "JavaScript is off: this page can be read, and cannot verify. The check from outside needs no browser.",
      ),
    ),
    element("div", { role: "status", id: IDS.answer }),
  ];
}
