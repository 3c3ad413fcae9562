/** The content of a page: what it is about, the form that verifies, the result, and what the page says of itself. */
import { type Markup, type MarkupNode, element } from "../show/markup.js";
import { type Carried, IDS, thisPage } from "./this-page.js";

const INTRODUCTION =
  "Which code in which enclave made a result, and is it what you expect? Give this page the files; it verifies them " +
  "in this browser.";

const FILES =
  "Boot proofs, app proofs, an activity, a bare attestation document, or a bundle; and the policy that pins what you " +
  "expect, with the PEM files of its trust anchors. The content of a file decides what it is.";

const HELD_AGAINST = "The policy pins the enclave that you expect.";
const FAIL_ON_WARNING = "A warning is a failure: a good verdict is refused if anything weakens it";
const ALLOW_DEBUG = "Let debug mode pass with a warning: nothing about its code is proven";

/** Choices of a policy, which messages quote, and what each means. */
export const POLICY_CHOICES = {
  file: ["The policy among your files", ""],
  none: ["No policy", ": any genuine enclave, whatever it runs (“authentic” at best)"],
  bundle: ["The bundle’s own policy", ", which its maker chose and which may only tighten (“authentic” at best)"],
} as const;
export type PolicyChoice = keyof typeof POLICY_CHOICES;

/** The fields of the form by their ids. Messages name their labels. Payloads and challenges have several lines. */
export const FIELDS = {
  organization: ["Organization ID", "The owner of the evidence. If empty, the owner is not checked."],
  addresses: ["Addresses", "An app proof must cover each. Separate them by spaces."],
  payloads: [
    "Payloads",
    'A line for each value that app proofs must have: TYPE:/pointer=JSON, such as ORDER:/order/id="42". Each app ' +
      "proof of that type must have all of them.",
  ],
  challenges: [
    "Challenges",
    "In the same form: random values that you sent with your request, so the answer is newer.",
  ],
  now: ["Time from which ages are counted", "Such as 2026-03-04T05:06:07Z. If empty: this device’s clock."],
  nonce: ["Nonce", "In hex. Each attestation document must contain it."],
  ephemeralKey: ["Ephemeral key", "130 bytes in hex. Each boot proof must attest it."],
} as const;
type FieldName = keyof typeof FIELDS;
export type FieldValues = Readonly<Record<FieldName, string>>;

/** Title of a page that has no verdict yet. */
export const NOTHING_VERIFIED = "Nothing verified yet";
export const NOT_VERIFIED = "Not verified";

const NO_SCRIPT = "JavaScript is off: this page cannot verify. bootproof verify needs no browser.";
const MAKERS_PROGRAM = "The program is of this page’s maker, too: its result proves nothing if the maker lied.";

/** Returns the content of `main`. A page without evidence has no result yet, and its form is unfolded. */
export function pageView(carried: Carried, about?: Markup, result: readonly MarkupNode[] = []): MarkupNode[] {
  return [
    about ?? element("header", { class: "verifier" }, element("h1", {}, "Verify"), element("p", {}, INTRODUCTION)),
    element("noscript", {}, element("p", { class: "message warn" }, NO_SCRIPT)),
    formView(carried === null),
    element("div", { id: IDS.result, class: "result", tabindex: "-1" }, result),
    "\n",
    ...thisPage(carried),
  ];
}

/** Returns the form, which the script shows: without it nothing verifies. */
function formView(isOpen: boolean): Markup {
  const button = { type: "button", id: IDS.verify, disabled: "", "aria-describedby": IDS.verifyHint };
  return element(
    "details",
    { id: IDS.form, class: "form", hidden: "", ...(isOpen && { open: "" }) },
    element("summary", {}, "Verify in this browser"),
    element(
      "div",
      { class: "asking" },
      element("section", { class: "form-part", "aria-labelledby": "evidence-title" }, ...filesPart()),
      element("section", { class: "form-part", "aria-labelledby": "expected-title" }, ...expectedPart()),
      element("div", { role: "alert", id: IDS.faults, class: "message bad" }),
      element(
        "p",
        {},
        element("button", button, "Verify"),
        " ",
        element("small", { id: IDS.verifyHint }, MAKERS_PROGRAM),
      ),
      element("div", { role: "status", id: IDS.said, class: "message" }),
    ),
  );
}

function filesPart(): Markup[] {
  return [
    element("h2", { id: "evidence-title" }, "Files"),
    element(
      "div",
      { id: IDS.drop, class: "dropzone" },
      element("label", { for: IDS.files }, "Choose files, or drop them anywhere on this page"),
      element("input", { type: "file", id: IDS.files, multiple: "", "aria-describedby": "files-hint" }),
      element("p", { id: "files-hint", class: "hint" }, FILES),
    ),
    element("ul", { id: IDS.list, class: "given", "aria-label": "Your files" }),
  ];
}

function expectedPart(): Markup[] {
  const choices = Object.entries(POLICY_CHOICES).map(([name, [title, means]]) =>
    ticked(
      { type: "radio", name: "policy-choice", id: `policy-${name}`, ...(name === "file" && { checked: "" }) },
      title + means,
    ),
  );
  return [
    element("h2", { id: "expected-title" }, "What is expected"),
    element(
      "fieldset",
      {},
      element("legend", {}, "Policy"),
      element("p", { class: "hint" }, HELD_AGAINST),
      choices,
      ticked({ type: "checkbox", id: "failOnWarning" }, FAIL_ON_WARNING),
    ),
    element(
      "fieldset",
      {},
      element("legend", {}, "The request"),
      (["organization", "addresses", "payloads", "challenges"] as const).map(field),
    ),
    element(
      "details",
      { class: "more-fields" },
      element("summary", {}, "More"),
      (["now", "nonce", "ephemeralKey"] as const).map(field),
      ticked({ type: "checkbox", id: "allowDebug" }, ALLOW_DEBUG),
    ),
  ];
}

function ticked(attributes: Readonly<Record<string, string>>, text: string): Markup {
  return element("label", {}, element("input", attributes), element("span", {}, text));
}

function field(id: FieldName): Markup {
  const [label, hint] = FIELDS[id];
  const hintId = `${id}-hint`;
  const hasLines = /^(?:payloads|challenges)$/.test(id);
  const given = { id, autocomplete: "off", spellcheck: "false", "aria-describedby": hintId };
  return element(
    "div",
    { class: "field" },
    element("label", { for: id }, label),
    hasLines ? element("textarea", { rows: "2", ...given }) : element("input", { type: "text", ...given }),
    element("p", { id: hintId, class: "hint" }, hint),
  );
}
