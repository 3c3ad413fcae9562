/** The form of the page that verifies the reader's files. */
import { IDS } from "./ids.js";
import { type Markup, element } from "./markup.js";

const INTRODUCTION =
  "Which code in which enclave made a result, and is it what you expect? Give this page the files; it verifies them " +
  "in this browser.";

const FILES =
  "Boot proofs, app proofs, an activity, a bare attestation document, or a bundle; and the policy that pins what you " +
  "expect, with the PEM files of its trust anchors. The content of a file decides what it is.";

const HELD_AGAINST =
  "The evidence is checked against the policy among your files. Without one, choose what to accept instead:";

export function verifierView(): Markup[] {
  return [
    element("header", { class: "verifier" }, element("h1", {}, "Verify"), element("p", {}, INTRODUCTION)),
    element(
      "noscript",
      {},
      element(
        "p",
        { class: "no-script" },
        "JavaScript is off: this page cannot verify. bootproof verify needs no browser.",
      ),
    ),
    element("section", { "aria-labelledby": "evidence-title" }, ...filesPart()),
    element("section", { class: "asked", "aria-labelledby": "expected-title" }, ...expectedPart()),
    element("div", { role: "alert", id: IDS.faults, class: "message bad" }),
    element("p", { class: "verify" }, element("button", { type: "button", id: IDS.verify, disabled: "" }, "Verify")),
    element("div", { role: "status", id: IDS.said, class: "message" }),
    element("div", { id: IDS.result, class: "result", tabindex: "-1" }),
  ];
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
      checkbox(IDS.policyNone, "No policy: any genuine enclave, whatever it runs (“authentic” at best)"),
      checkbox(
        IDS.policyBundle,
        "The bundle’s own policy, which its maker chose and which may only tighten (“authentic” at best)",
      ),
    ),
    element(
      "fieldset",
      {},
      element("legend", {}, "The request"),
      field(IDS.organization, "Organization ID", "The owner of the evidence. Empty: not checked."),
      field(IDS.addresses, "Addresses", "An app proof must cover each. Separate them by spaces."),
    ),
    element(
      "details",
      { class: "more" },
      element("summary", {}, "More"),
      field(
        IDS.now,
        "Time by which ages are counted",
        "Such as 2026-03-04T05:06:07Z. Empty: this device’s clock.",
        IDS.nowHint,
      ),
      field(IDS.nonce, "Nonce", "In hex: each document has to carry it."),
      field(IDS.key, "Ephemeral key", "130 bytes in hex: each boot proof has to attest it."),
      checkbox(IDS.allowDebug, "Let debug mode pass with a warning: nothing about its code is proven"),
    ),
  ];
}

function checkbox(id: string, text: string): Markup {
  return element("label", {}, element("input", { type: "checkbox", id }), element("span", {}, text));
}

function field(id: string, label: string, hint: string, hintId = `${id}-hint`): Markup {
  const attributes = { type: "text", id, autocomplete: "off", spellcheck: "false", "aria-describedby": hintId };
  return element(
    "div",
    { class: "field" },
    element("label", { for: id }, label),
    element("input", attributes),
    element("p", { id: hintId, class: "hint" }, hint),
  );
}
