/**
 * The script of a page. It verifies the evidence in the page, and files of the reader. Only this file uses the DOM and
 * a clock. It makes elements from data; the page's policy forbids making them from text (`page.ts`).
 */
import { MAX_BUNDLE_BYTES } from "../bundle/page.js";
import { MalformedError, attempt, faultText } from "../errors.js";
import { numbered } from "../report/facts.js";
import { printable } from "../report/printable.js";
import { verdictSentence } from "../show/verdict.js";
import { listOf } from "../show/html.js";
import { type Markup, type MarkupNode, element, unbroken } from "../show/markup.js";
import { shownReport, titleOf, titleText } from "./view.js";
import { IDS, commandOn, isPageName } from "./this-page.js";
import { lastOf, toHex } from "../bytes.js";
import { sha256 } from "../verify/digest.js";
import {
  type FormValues,
  type ListedFile,
  type PageInputFile,
  fileLabel,
  listedFile,
  requested,
  shortDigest,
} from "./verifier.js";
import {
  FIELDS,
  type FieldValues,
  NOTHING_VERIFIED,
  NOT_VERIFIED,
  POLICY_CHOICES,
  type PolicyChoice,
} from "./verifier-view.js";
import { judged } from "./verify.js";

function madeOf(node: MarkupNode): Node {
  if (typeof node === "string") return document.createTextNode(node);
  const made = document.createElement(node.tag);
  for (const [name, value] of Object.entries(node.attributes)) made.setAttribute(name, value);
  made.append(...node.children.map(madeOf));
  return made;
}

function show(place: Element, nodes: readonly MarkupNode[]): void {
  place.replaceChildren(...nodes.map((node) => madeOf(unbroken(node))));
}

const find = (id: string): HTMLElement | null => document.getElementById(id);
const input = (id: string): HTMLInputElement => find(id) as HTMLInputElement;

function reasonOf(error: unknown): string {
  if (error instanceof MalformedError) return printable(faultText(error.faults));
  return printable(error instanceof Error ? error.message : String(error));
}

/** Resolves when the browser has drawn the page. */
function painted(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
}

/** Returns the name of this page's file by its address, if it is the name of a page. */
function ownName(): string | null {
  const { value = "" } = attempt(() => decodeURIComponent(lastOf(location.pathname.split("/"))!));
  return isPageName(value) ? value : null;
}

class Verifier {
  #files: ListedFile[] = [];
  /** Number of changes to files and form. A result is dropped if the number changed while it was made. */
  #changes = 0;

  start(): void {
    find(IDS.form)!.hidden = false;
    const name = ownName();
    const command = find(IDS.command);
    if (command !== null && name !== null) command.textContent = commandOn(name);
    // The evidence in the page is the first of the files, and can be removed as each of them.
    const carried = find(IDS.evidence)?.textContent;
    if (carried) void this.#add([new File([carried], name ?? "report.html")]);
    const chosen = input(IDS.files);
    chosen.addEventListener("change", () => {
      void this.#add([...(chosen.files ?? [])]).then(() => (chosen.value = ""));
    });
    // Files can be dropped anywhere on the page. Otherwise the browser would open a file that misses the form.
    for (const type of ["dragover", "dragleave", "drop"] as const)
      document.addEventListener(type, (event) => {
        event.preventDefault();
        find(IDS.drop)!.classList.toggle("over", type === "dragover");
        if (type === "drop") void this.#add([...(event.dataTransfer?.files ?? [])]);
      });
    // Entries changed, so the result no longer belongs to them.
    document.addEventListener("input", () => this.#forget());
    const button = find(IDS.verify) as HTMLButtonElement;
    button.disabled = false;
    button.addEventListener("click", () => {
      // Pressing twice verifies once.
      if (button.ariaBusy === "true") return;
      button.ariaBusy = "true";
      void this.#verify().finally(() => (button.ariaBusy = null));
    });
  }

  async #add(files: readonly File[]): Promise<void> {
    const read = await Promise.all(files.map(readFile));
    const before = this.#files.length;
    for (const file of read) if (!this.#files.some((other) => isSameFile(other, file))) this.#files.push(file);
    const added = this.#files.slice(before);
    this.#forget();
    this.#complain([]);
    const known = read.length - added.length;
    const unused = added.flatMap(({ name, is, role }) => (role === null ? [`${name}: ${is}`] : []));
    const counted = `${numbered(added.length, "file")} added.${known === 0 ? "" : ` ${known} already in the list.`}`;
    this.#say([counted, ...unused].join(" "));
  }

  /** Removes the result of earlier files and entries. The report of the page's maker stays until then. */
  #forget(): void {
    this.#changes++;
    if (find(IDS.about) !== null || find(IDS.result)!.childElementCount === 0) return;
    find(IDS.result)!.replaceChildren();
    this.#sayChanged();
  }

  #sayChanged(): void {
    this.#say("Files or form were changed: verify again.");
    document.title = titleText(NOTHING_VERIFIED);
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

  #say(text: string): void {
    find(IDS.said)!.textContent = text;
  }

  #complain(faults: readonly string[]): void {
    this.#list(faults);
    show(find(IDS.faults)!, faults.length === 0 ? [] : [listOf(faults)]);
  }

  async #verify(): Promise<void> {
    const result = find(IDS.result)!;
    const changes = this.#changes;
    const files = [...this.#files];
    const form = asked();
    result.replaceChildren();
    find(IDS.about)?.remove();
    this.#complain([]);
    this.#say("Verifying …");
    document.title = titleText("Verifying …");
    await painted();
    try {
      const request = requested(files, form, new Date());
      if (request.faults !== null) return this.#refuse(request.faults);
      const verification = await judged(request);
      const { report } = verification;
      const shown = await shownReport(verification);
      if (this.#changes !== changes) return this.#sayChanged();
      show(result, [...unusedPart(request.unused), ...shown]);
      document.title = titleOf(verification);
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
    document.title = titleText(NOT_VERIFIED);
  }
}

/** Shows the files that the result does not rest on, above its verdict. */
function unusedPart(unused: readonly string[]): Markup[] {
  if (unused.length === 0) return [];
  return [element("div", { class: "message warn" }, element("strong", {}, "Not used"), listOf(unused))];
}

function isSameFile(one: PageInputFile, other: PageInputFile): boolean {
  return one.name === other.name && one.sha256 === other.sha256;
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
  const size = numbered(bytes.length, "byte");
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
    reasons.map((reason) => element("p", { class: "reason" }, reason)),
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

function asked(): FormValues {
  const names = Object.keys(POLICY_CHOICES) as PolicyChoice[];
  const texts = Object.keys(FIELDS).map((id) => [id, input(id).value]);
  return {
    ...(Object.fromEntries(texts) as FieldValues),
    policy: names.find((name) => input(`policy-${name}`).checked) ?? "file",
    allowDebug: input("allowDebug").checked,
    failOnWarning: input("failOnWarning").checked,
  };
}

new Verifier().start();
