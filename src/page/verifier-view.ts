/** The form of the page that verifies the reader's files. */
import { IDS } from "./ids.js";
import { type Markup, element } from "../show/markup.js";

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

const PAYLOADS =
  "Values that the application must have signed. All values of one type belong together: each app proof of that type " +
  "must have all of them.";

/** Title of a page that has no verdict yet. */
export const NOTHING_VERIFIED = "Nothing verified yet";
export const NOT_VERIFIED = "Not verified";

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
    element(
      "div",
      { class: "asking" },
      element("section", { class: "form-part", "aria-labelledby": "evidence-title" }, ...filesPart()),
      element("section", { class: "form-part asked", "aria-labelledby": "expected-title" }, ...expectedPart()),
      element("div", { role: "alert", id: IDS.faults, class: "message bad" }),
      element("p", { class: "verify" }, element("button", { type: "button", id: IDS.verify, disabled: "" }, "Verify")),
      element("div", { role: "status", id: IDS.said, class: "message" }),
    ),
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
    ),
    element(
      "fieldset",
      {},
      element("legend", {}, "Payloads of app proofs"),
      element("p", { class: "hint" }, PAYLOADS),
      element("div", { id: IDS.expectedValues, class: "expected-values" }),
      element("p", {}, element("button", { type: "button", id: IDS.addValue }, "Add a value")),
    ),
    element(
      "details",
      { class: "more" },
      element("summary", {}, "More"),
      field(
        IDS.now,
        "Time from which ages are counted",
        "Such as 2026-03-04T05:06:07Z. If empty: this device’s clock.",
        {
          hintId: IDS.nowHint,
        },
      ),
      field(IDS.nonce, "Nonce", "In hex. Each attestation document must contain it."),
      field(IDS.key, "Ephemeral key", "130 bytes in hex. Each boot proof must attest it."),
      checkbox(IDS.allowDebug, "Let debug mode pass with a warning: nothing about its code is proven"),
    ),
  ];
}

/** Names of the inputs of an expected value. */
export const VALUE_INPUTS = { type: "type", pointer: "pointer", value: "value", challenge: "challenge" } as const;

/**
 * Returns the inputs for one expected value. `key` makes their ids unique: a title ({@link valueTitle}) would not,
 * since it changes when other values are removed.
 */
export function expectedValueView(key: number): Markup {
  const id = (name: string): string => `expected-${name}-${key}`;
  return element(
    "fieldset",
    {},
    element("legend", {}),
    field(id("type"), "Type", "The type member of the payload.", { name: VALUE_INPUTS.type }),
    field(id("pointer"), "Pointer", "A JSON pointer, such as /order/id.", { name: VALUE_INPUTS.pointer }),
    field(id("value"), "Value", 'As JSON: "text" in quotes, 1.5, true, null.', { name: VALUE_INPUTS.value }),
    checkbox(id("challenge"), "This is a challenge: I made the value at random and sent it with my request", {
      name: VALUE_INPUTS.challenge,
    }),
    element("p", {}, element("button", { type: "button" }, "Remove")),
  );
}

/** Returns the title of the value at this `position`, counted from 0. */
export function valueTitle(position: number): string {
  return `Expected value ${position + 1}`;
}

interface InputNames {
  readonly name?: string;
  readonly hintId?: string;
}

function choice(id: string, text: string, isDefault = false): Markup {
  const checked = isDefault ? { checked: "" } : {};
  const input = element("input", { type: "radio", name: "policy-choice", id, ...checked });
  return element("label", {}, input, element("span", {}, text));
}

function checkbox(id: string, text: string, { name }: InputNames = {}): Markup {
  const input = element("input", { type: "checkbox", id, ...(name && { name }) });
  return element("label", {}, input, element("span", {}, text));
}

function field(id: string, label: string, hint: string, { name, hintId = `${id}-hint` }: InputNames = {}): Markup {
  const plain = { type: "text", id, autocomplete: "off", spellcheck: "false", "aria-describedby": hintId };
  const attributes = { ...plain, ...(name && { name }) };
  return element(
    "div",
    { class: "field" },
    element("label", { for: id }, label),
    element("input", attributes),
    element("p", { id: hintId, class: "hint" }, hint),
  );
}
