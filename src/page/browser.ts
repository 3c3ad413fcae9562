/**
 * The script of a page. It verifies the evidence of the page, or files of the reader. Only this file uses the DOM and a
 * clock. It makes elements from data; the page's policy forbids making them from text (`page.ts`).
 */
import { decodeBundle } from "../bundle/file.js";
import { MAX_BUNDLE_BYTES } from "../bundle/page.js";
import { type PackedReport, verifyAsPacked } from "../bundle/verify.js";
import { MalformedError, faultText } from "../errors.js";
import type { Report } from "../report/report.js";
import { printable, printableStart } from "../report/printable.js";
import { verdictSentence } from "../show/verdict.js";
import { IDS } from "./ids.js";
import { type Markup, type MarkupNode, element, unbroken } from "../show/markup.js";
import { shownReport, titleOf, titleText } from "./shown.js";
import { toHex } from "../bytes.js";
import { sha256 } from "../verify/digest.js";
import {
  type FormExpectedValue,
  type FormValues,
  type ListedFile,
  type PageInputFile,
  fileLabel,
  listedFile,
  policyAdvice,
  requested,
  shortDigest,
} from "./verifier.js";
import {
  NOTHING_VERIFIED,
  NOT_VERIFIED,
  type PolicyChoice,
  VALUE_INPUTS,
  expectedValueView,
  valueTitle,
} from "./verifier-view.js";
import { judged } from "./verify.js";

const SVG = "http://www.w3.org/2000/svg";

function madeOf(node: MarkupNode, inSvg = false): Node {
  if (typeof node === "string") return document.createTextNode(node);
  const isSvg = inSvg || node.tag === "svg";
  const made = isSvg ? document.createElementNS(SVG, node.tag) : document.createElement(node.tag);
  for (const [name, value] of Object.entries(node.attributes)) made.setAttribute(name, value);
  made.append(...node.children.map((child) => madeOf(child, isSvg && node.tag !== "foreignObject")));
  return made;
}

function show(place: Element, nodes: readonly MarkupNode[]): void {
  place.replaceChildren(...nodes.map((node) => madeOf(unbroken(node))));
}

const find = (id: string): HTMLElement | null => document.getElementById(id);
const input = (id: string): HTMLInputElement => find(id) as HTMLInputElement;
const paragraph = (text: string, attributes: Record<string, string> = {}): Markup => element("p", attributes, text);

function reasonOf(error: unknown): string {
  if (error instanceof MalformedError) return printable(faultText(error.faults));
  return printable(error instanceof Error ? error.message : String(error));
}

/** Runs the work on a click, unless it is already running. Pressing twice verifies once. */
function onClick(button: HTMLButtonElement, work: () => Promise<void>): void {
  let isBusy = false;
  button.disabled = false;
  button.addEventListener("click", () => {
    if (isBusy) return;
    isBusy = true;
    button.setAttribute("aria-busy", "true");
    void work().finally(() => {
      isBusy = false;
      button.removeAttribute("aria-busy");
    });
  });
}

/** Resolves when the browser has drawn the page. */
function painted(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
}

function startReport(text: string): void {
  const button = find(IDS.again) as HTMLButtonElement;
  const place = find(IDS.answer)!;
  button.parentElement!.hidden = false;
  onClick(button, async () => {
    show(place, [paragraph("Verifying …")]);
    await painted();
    try {
      const { report, packed } = (await verifyAsPacked(decodeBundle(text)))!;
      show(place, answerOf(report, packed.differences));
      if (packed.differences.length > 0 && find(IDS.other) === null) markAsOther();
    } catch (error) {
      show(place, [
        paragraph("This browser could not verify the evidence:", { class: "message bad" }),
        paragraph(reasonOf(error)),
        paragraph("This says nothing about the evidence. To verify it without a browser, use bootproof verify."),
      ]);
    }
  });
}

function answerOf(report: Report, differences: PackedReport["differences"]): MarkupNode[] {
  const sentence = printable(verdictSentence(report));
  if (differences.length === 0)
    return [paragraph("The same result, verified in this browser.", { class: "message good" }), paragraph(sentence)];
  const shown = differences.slice(0, MAX_SHOWN).map(({ place, packed, anew }) => {
    const said = `${shortened(packed)} on this page, ${shortened(anew)} as verified now`;
    return element("li", {}, `${printable(place)}: ${said}`);
  });
  const rest = differences.length - shown.length;
  return [
    paragraph(ANOTHER, { class: "message bad" }),
    paragraph(`Verified in this browser: ${sentence}`),
    element("ul", {}, ...shown, rest > 0 ? element("li", {}, `and ${rest} more`) : null),
  ];
}

const ANOTHER = "ANOTHER RESULT: do not believe what this page says.";
const MAX_SHOWN = 20;
const MAX_VALUE = 160;

function shortened(value: string | null): string {
  return value === null ? "nothing" : printableStart(value, MAX_VALUE);
}

/** Shows at the top of the page and in its title that the result differs. */
function markAsOther(): void {
  document.title = ANOTHER;
  document.querySelector("main")!.prepend(madeOf(paragraph(ANOTHER, { class: "message bad", id: IDS.other })));
}

class Verifier {
  #files: ListedFile[] = [];
  #addedValues = 0;
  /** Number of changes to files and form. A result is dropped if the number changed while it was made. */
  #changes = 0;

  start(): void {
    const chosen = input(IDS.files);
    chosen.addEventListener("change", () => {
      void this.#add([...(chosen.files ?? [])]).then(() => (chosen.value = ""));
    });
    // Files can be dropped anywhere on the page. Otherwise the browser would open a file that misses the form.
    document.addEventListener("dragover", (event) => {
      event.preventDefault();
      find(IDS.drop)!.classList.add("over");
    });
    document.addEventListener("dragleave", () => find(IDS.drop)!.classList.remove("over"));
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      find(IDS.drop)!.classList.remove("over");
      void this.#add([...(event.dataTransfer?.files ?? [])]);
    });
    this.#showClock();
    input(IDS.now).addEventListener("focus", () => this.#showClock());
    // Entries changed, so the result no longer belongs to them.
    document.addEventListener("input", () => this.#forget());
    find(IDS.addValue)!.addEventListener("click", () => this.#addValue());
    onClick(find(IDS.verify) as HTMLButtonElement, () => this.#verify());
  }

  #showClock(): void {
    const now = new Date().toISOString();
    const hint = `Such as 2026-03-04T05:06:07Z. If empty: this device’s clock, now ${now}.`;
    show(find(IDS.nowHint)!, [element("span", {}, hint)]);
  }

  async #add(files: readonly File[]): Promise<void> {
    const read = await Promise.all(files.map(readFile));
    const before = this.#files.length;
    for (const file of read) if (!this.#files.some((other) => isSameFile(other, file))) this.#files.push(file);
    const added = this.#files.slice(before);
    this.#forget();
    this.#complain([]);
    this.#say([countText(added.length, read.length - added.length), ...added.flatMap(unusedText)].join(" "));
  }

  /** Removes the result, which is that of earlier files and entries. */
  #forget(): void {
    this.#changes++;
    if (find(IDS.result)!.childElementCount === 0) return;
    find(IDS.result)!.replaceChildren();
    this.#sayChanged();
  }

  #sayChanged(): void {
    this.#say("Files or form were changed: verify again.");
    setTitle(NOTHING_VERIFIED);
  }

  /** Lists the files, each with the faults that name it. */
  #list(faults: readonly string[]): void {
    const items = this.#files.map((file) => listItem(file, fileLabel(file, this.#files), faults));
    const list = find(IDS.list)!;
    show(list, items);
    for (const [index, button] of [...list.querySelectorAll("button")].entries())
      button.addEventListener("click", () => this.#remove(index));
    list.querySelector(".reason")?.scrollIntoView({ block: "nearest", behavior: "instant" });
  }

  #remove(index: number): void {
    const label = fileLabel(this.#files[index]!, this.#files);
    this.#files.splice(index, 1);
    this.#forget();
    this.#complain([]);
    this.#say(`${label} removed.`);
    // The pressed button is gone, so another element gets the keyboard focus.
    const buttons = find(IDS.list)!.querySelectorAll("button");
    (buttons[Math.min(index, buttons.length - 1)] ?? input(IDS.files)).focus();
  }

  #addValue(): void {
    const made = madeOf(expectedValueView(this.#addedValues++)) as HTMLFieldSetElement;
    made.querySelector("button")!.addEventListener("click", () => this.#removeValue(made));
    find(IDS.expectedValues)!.append(made);
    nameValues();
    made.querySelector("input")!.focus();
  }

  #removeValue(removed: HTMLFieldSetElement): void {
    const title = removed.querySelector("legend")!.textContent;
    removed.remove();
    nameValues();
    this.#forget();
    this.#say(`${title} removed.`);
    find(IDS.addValue)!.focus();
  }

  #say(text: string): void {
    find(IDS.said)!.textContent = text;
  }

  #complain(faults: readonly string[]): void {
    this.#list(faults);
    show(
      find(IDS.faults)!,
      faults.length === 0 ? [] : [element("ul", {}, ...faults.map((text) => element("li", {}, text)))],
    );
  }

  async #verify(): Promise<void> {
    const result = find(IDS.result)!;
    const changes = this.#changes;
    const files = [...this.#files];
    const form = asked();
    result.replaceChildren();
    this.#complain([]);
    this.#say("Verifying …");
    setTitle("Verifying …");
    await painted();
    try {
      const request = requested(files, form, new Date());
      if (request.faults !== null) return this.#refuse(request.faults);
      const verification = await judged(request);
      const { report } = verification;
      const advice = policyAdvice(report, files, form.policy);
      const notes = advice === null ? [] : [{ kind: "note", text: advice } as const];
      const shown = await shownReport(verification, notes);
      if (this.#changes !== changes) return this.#sayChanged();
      show(result, shown);
      setTitle(titleOf(verification), true);
      this.#say(`Verdict: ${verdictSentence(report)}`);
      // Focusing does not scroll: the browser would show the middle of a tall element, but the verdict is at the top.
      result.focus({ preventScroll: true });
      result.scrollIntoView({ block: "start", behavior: "instant" });
    } catch (error) {
      this.#refuse([reasonOf(error)]);
    }
  }

  #refuse(faults: readonly string[]): void {
    this.#complain(faults);
    this.#say(`${NOT_VERIFIED}.`);
    setTitle(NOT_VERIFIED);
  }
}

function setTitle(text: string, isWhole = false): void {
  document.title = isWhole ? text : titleText(text);
}

function isSameFile(one: PageInputFile, other: PageInputFile): boolean {
  return one.name === other.name && one.sha256 === other.sha256;
}

function countText(added: number, known: number): string {
  const text = `${added === 1 ? "1 file" : `${added} files`} added.`;
  return known === 0 ? text : `${text} ${known} already in the list.`;
}

function unusedText({ name, is, role }: ListedFile): string[] {
  return role === null ? [`${name}: ${is}`] : [];
}

/** Returns the faults that name this file before their colon, without the names. */
function reasonsFor(label: string, faults: readonly string[]): string[] {
  return faults.flatMap((fault) => {
    const [names, ...reason] = fault.split(": ");
    return names!.split(/, | and /).includes(label) ? [reason.join(": ")] : [];
  });
}

function listItem(file: ListedFile, label: string, faults: readonly string[]): Markup {
  const { name, is, role, bytes } = file;
  const size = `${bytes.length} ${bytes.length === 1 ? "byte" : "bytes"}`;
  const reasons = reasonsFor(label, faults);
  return element(
    "li",
    { class: role === null || reasons.length > 0 ? "wrong" : "used" },
    element(
      "span",
      {},
      element("strong", {}, name),
      ` ${is}${role === null ? "; not used" : ""} `,
      file.sha256 === ""
        ? null
        : element("span", { class: "about" }, `${size}, SHA-256 `, element("code", {}, shortDigest(file)), "…"),
    ),
    element("button", { type: "button", "aria-label": `Remove ${label}` }, "Remove"),
    reasons.map((reason) => paragraph(reason, { class: "reason" })),
  );
}

async function readFile(file: File): Promise<ListedFile> {
  const { name, size } = file;
  const unread = { name: printable(name), bytes: new Uint8Array(), sha256: "", role: null };
  if (size > MAX_BUNDLE_BYTES) return { ...unread, is: "larger than 8 MiB, the limit of a file" };
  const buffer = await file.arrayBuffer().catch(() => null);
  if (buffer === null) return { ...unread, is: "cannot be read; is it a folder?" };
  const bytes = new Uint8Array(buffer);
  return listedFile({ name, bytes, sha256: toHex(await sha256(bytes)) });
}

function expectedValues(): HTMLFieldSetElement[] {
  return [...find(IDS.expectedValues)!.querySelectorAll("fieldset")];
}

/** Numbers the expected values again, since faults name a value by its position. */
function nameValues(): void {
  for (const [position, value] of expectedValues().entries()) {
    const title = valueTitle(position);
    value.querySelector("legend")!.textContent = title;
    value.querySelector("button")!.setAttribute("aria-label", `Remove ${title}`);
  }
}

function askedValue(value: HTMLFieldSetElement): FormExpectedValue {
  const of = (name: string): HTMLInputElement => value.elements.namedItem(name) as HTMLInputElement;
  return {
    type: of(VALUE_INPUTS.type).value,
    pointer: of(VALUE_INPUTS.pointer).value,
    value: of(VALUE_INPUTS.value).value,
    isChallenge: of(VALUE_INPUTS.challenge).checked,
  };
}

function policyChoice(): PolicyChoice {
  if (input(IDS.policyNone).checked) return "none";
  return input(IDS.policyBundle).checked ? "bundle" : "file";
}

function asked(): FormValues {
  return {
    policy: policyChoice(),
    organization: input(IDS.organization).value,
    addresses: input(IDS.addresses).value,
    expectedValues: expectedValues().map(askedValue),
    now: input(IDS.now).value,
    nonce: input(IDS.nonce).value,
    ephemeralKey: input(IDS.key).value,
    allowDebug: input(IDS.allowDebug).checked,
    failOnWarning: input(IDS.failOnWarning).checked,
  };
}

const evidence = find(IDS.evidence);
if (evidence !== null && find(IDS.again) !== null) startReport(evidence.textContent ?? "");
if (find(IDS.verify) !== null) new Verifier().start();
