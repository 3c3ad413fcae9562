/** The content of a page: what it is about, the form that verifies, the result, and what the page says of itself. */
import { IDS } from "./ids.js";
import { type Markup, type MarkupNode, element } from "../show/markup.js";
import { type Carried, thisPage } from "./this-page.js";

const INTRODUCTION =
  "Which code in which enclave made a result, and is it what you expect? Give this page the files; it verifies them " +
  "in this browser.";

const FILES =
  "Boot proofs, app proofs, an activity, a bare attestation document, or a bundle; and the policy that pins what you " +
  "expect, with the PEM files of its trust anchors. The content of a file decides what it is.";

const HELD_AGAINST = "The policy pins the enclave that you expect.";

/** Choices of a policy, which messages quote. */
export const POLICY_CHOICES = {
  file: "The policy among your files",
  none: "No policy",
  bundle: "The bundle’s own policy",
} as const;
export type PolicyChoice = keyof typeof POLICY_CHOICES;

const FAIL_ON_WARNING = "A warning is a failure";

/** Labels that messages name. */
export const PAYLOADS = "Payloads";
export const CHALLENGES = "Challenges";
const PAYLOADS_HINT =
  'A line for each value that app proofs must have: TYPE:/pointer=JSON, such as ORDER:/order/id="42". Each app proof ' +
  "of that type must have all of them.";
const CHALLENGES_HINT = "In the same form: random values that you sent with your request, so the answer is newer.";

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
    thisPage(carried),
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
  return [
    element("h2", { id: "expected-title" }, "What is expected"),
    element(
      "fieldset",
      {},
      element("legend", {}, "Policy"),
      element("p", { class: "hint" }, HELD_AGAINST),
      choice(IDS.policyFile, POLICY_CHOICES.file, true),
      choice(IDS.policyNone, `${POLICY_CHOICES.none}: any genuine enclave, whatever it runs (“authentic” at best)`),
      choice(
        IDS.policyBundle,
        `${POLICY_CHOICES.bundle}, which its maker chose and which may only tighten (“authentic” at best)`,
      ),
      checkbox(IDS.failOnWarning, `${FAIL_ON_WARNING}: a good verdict is refused if anything weakens it`),
    ),
    element(
      "fieldset",
      {},
      element("legend", {}, "The request"),
      field(IDS.organization, "Organization ID", "The owner of the evidence. If empty, the owner is not checked."),
      field(IDS.addresses, "Addresses", "An app proof must cover each. Separate them by spaces."),
      field(IDS.payloads, PAYLOADS, PAYLOADS_HINT, "textarea"),
      field(IDS.challenges, CHALLENGES, CHALLENGES_HINT, "textarea"),
    ),
    element(
      "details",
      { class: "more-fields" },
      element("summary", {}, "More"),
      field(
        IDS.now,
        "Time from which ages are counted",
        "Such as 2026-03-04T05:06:07Z. If empty: this device’s clock.",
      ),
      field(IDS.nonce, "Nonce", "In hex. Each attestation document must contain it."),
      field(IDS.key, "Ephemeral key", "130 bytes in hex. Each boot proof must attest it."),
      checkbox(IDS.allowDebug, "Let debug mode pass with a warning: nothing about its code is proven"),
    ),
  ];
}

function choice(id: string, text: string, isDefault = false): Markup {
  const checked = isDefault ? { checked: "" } : {};
  const input = element("input", { type: "radio", name: "policy-choice", id, ...checked });
  return element("label", {}, input, element("span", {}, text));
}

function checkbox(id: string, text: string): Markup {
  return element("label", {}, element("input", { type: "checkbox", id }), element("span", {}, text));
}

function field(id: string, label: string, hint: string, tag: "input" | "textarea" = "input"): Markup {
  const hintId = `${id}-hint`;
  const type = tag === "input" ? { type: "text" } : { rows: "2" };
  const attributes = { ...type, id, autocomplete: "off", spellcheck: "false", "aria-describedby": hintId };
  return element(
    "div",
    { class: "field" },
    element("label", { for: id }, label),
    element(tag, attributes),
    element("p", { id: hintId, class: "hint" }, hint),
  );
}
