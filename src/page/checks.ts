/** The checks of a link with details, compared values and advice. */
import { type Check, checkRow } from "../checks.js";
import { type ShownCheck, known, labelOf } from "../report/labels.js";
import { sideBySide } from "../report/compare.js";
import { countWords, isBad, shownCheck } from "../report/facts.js";
import { printable, printableLines } from "../report/printable.js";
import type { Report } from "../report/report.js";
import { isCommand } from "../show/checks.js";
import { type Markup, type MarkupNode, element } from "../show/markup.js";

const STATUS_WORDS: Readonly<Record<ShownCheck["status"], string>> = {
  pass: "passed",
  fail: "FAILED",
  warn: "warning",
  note: "note",
  skip: "skipped",
};
const BYTES = /^(?:[0-9a-f]{2}){8,}$/i;

const UNKNOWN_CHECK = "A check that this version does not know.";

/** Shows a value of the evidence in full. Hex wraps, but is copied without line breaks. */
export function shownValue(value: string): Markup {
  if (value === "") return element("span", { class: "note" }, "empty");
  return element("code", BYTES.test(value) ? { class: "hex" } : {}, printable(value));
}

export function valueList(entries: readonly (readonly [name: string, value: MarkupNode])[]): Markup {
  const rows = entries.map(([name, value]) => {
    return element("div", {}, element("dt", {}, printable(name)), element("dd", {}, value));
  });
  return element("dl", { class: "values" }, rows);
}

/** Shows decoded data: members as a list of values, items as a numbered list. */
export function tree(value: unknown): Markup {
  if (value === null || typeof value !== "object") return shownValue(String(value));
  if (!Array.isArray(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    return valueList(members.map(([name, member]) => [name, tree(member)]));
  }
  const items = value.map((item: unknown) => element("li", {}, tree(item)));
  return element("ol", { class: "items", start: "0" }, items);
}

/** A part of the page under its own heading. */
export function titledPart(id: string, title: MarkupNode[], ...content: Parameters<typeof element>[2][]): Markup {
  return element("section", { class: id, "aria-labelledby": id }, element("h2", { id }, title), ...content);
}

export function listOf(texts: readonly MarkupNode[]): Markup {
  const items = texts.map((text) => element("li", {}, text));
  return element("ul", {}, items);
}

/** Returns content that the reader unfolds. `name` is its class, with "open" for content that is unfolded. */
export function foldable(
  name: string,
  summary: readonly MarkupNode[],
  ...content: Parameters<typeof element>[2][]
): Markup {
  const attributes = { ...(name !== "" && { class: name }), ...(/\bopen$/.test(name) && { open: "" }) };
  return element("details", attributes, element("summary", {}, summary), ...content);
}

/** Shows failed checks, then the number of the others, which the reader can unfold. */
export function checkDetails(checks: readonly Check[], report: Report): Markup[] {
  const bad = checks.filter(isBad);
  const others = checks.filter((check) => !isBad(check));
  const many = bad.length === 1 ? "The check that failed" : `The ${bad.length} checks that failed`;
  const rest = bad.length === 0 ? "" : "other ";
  const all = others.length === 1 ? `1 ${rest}check` : `${others.length} ${rest}checks`;
  return [
    ...(bad.length === 0 ? [] : [foldable("checks bad open", [many], checkList(bad, report))]),
    ...(others.length === 0
      ? []
      : [foldable("checks", [`${all}: ${countWords(others, report)}`], checkList(others, report))]),
  ];
}

export function checkList(checks: readonly Check[], report: Report): Markup {
  const items = checks.map((check) => checkItem(check, report));
  return element("ul", {}, items);
}

function checkItem(check: Check, report: Report): Markup {
  const title = checkRow(check.id)?.title;
  const status = known(STATUS_WORDS, shownCheck(check, report).status);
  const about = labelOf(check.about ?? check.subject, report);
  return element(
    "li",
    { class: `check check-${status === undefined ? "unknown" : check.status}` },
    element(
      "p",
      { class: "check-head" },
      element("strong", { class: "status" }, status ?? `unknown status: ${printable(String(check.status))}`),
      " ",
      element("code", { class: "id" }, printable(check.id)),
      " ",
      element("span", { class: "about" }, about),
    ),
    element("p", { class: "holds" }, title === undefined ? UNKNOWN_CHECK : `Holds when ${title}.`),
    check.detail === title ? null : element("p", { class: "detail" }, printable(check.detail)),
    compared(check),
    check.advice === undefined ? null : adviceOf(check.advice),
  );
}

export function adviceOf(advice: string): Markup {
  const [first, ...steps] = printableLines(advice, Infinity);
  const others = steps.map((step) => element(isCommand(step) ? "code" : "span", { class: "step" }, step));
  return element("p", { class: "advice" }, first!, others);
}

/** Shows both values with differing bytes marked. Shortened values are also shown in full below. */
function compared({ status, expected, actual }: Check): readonly MarkupNode[] {
  const given: [string, string | undefined][] = [
    ["expected", expected],
    ["actual", actual],
  ];
  const whole = given.flatMap(([name, value]): [string, Markup][] => {
    return value === undefined ? [] : [[name, lines(value.split("\n").map(shownValue))]];
  });
  if (status === "pass" || expected === undefined || actual === undefined)
    return whole.length === 0 ? [] : [valueList(whole)];
  const sides = sideBySide(expected, actual);
  const isWhole = sides.expected.join("\n") === expected && sides.actual.join("\n") === actual;
  return [
    valueList([
      ["expected", lines(sides.expected.map(marked))],
      ["actual", lines(sides.actual.map(marked))],
    ]),
    ...(sides.note === null ? [] : [element("p", { class: "note" }, sides.note)]),
    ...(isWhole ? [] : [foldable("", ["Both values, whole"], valueList(whole))]),
  ];
}

function lines(values: readonly Markup[]): Markup {
  return element("div", { class: "lines" }, values);
}

/** Marks differing bytes, which are in `[brackets]`. */
function marked(line: string): Markup {
  const parts = line.split(/(\[(?:[0-9a-f]{2})+\])/);
  return element(
    "code",
    { class: "hex" },
    parts.map((part, index) => (index % 2 === 1 ? element("mark", {}, part) : part)),
  );
}
