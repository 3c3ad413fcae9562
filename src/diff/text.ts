/** The document of a difference. */
import { listed } from "../errors.js";
import { sideBySide } from "../report/compare.js";
import { printableStart, quoted, shortHex } from "../report/printable.js";
import { renderWhole } from "../report/rendering.js";
import {
  type Doc,
  type Row,
  type Section,
  type Tone,
  labelled,
  notVerified,
  rows,
  section,
  words,
} from "../show/doc.js";
import { type LineOptions, writeText } from "../show/terminal.js";
import { NOT_THERE, CHANGES, SEVERITIES, type Severity } from "./changes.js";
import { type EvidenceKind, KINDS } from "../inspect/kinds.js";
import type { ImageDifference } from "../image/compare.js";
import type { Change, Difference } from "./diff.js";
import type { PinDifference, PinsDifference } from "./pins.js";

export const SEVERITY_TONES: Readonly<Record<Severity, Tone>> = { critical: "bad", notable: "warning", minor: "quiet" };
/** Maximum characters of names, and of values without a counterpart. */
const MAX_VALUE = 1000;
const MAX_NAME = 160;
const MAX_PLACES = 6;

const WANTED = "difference: expected the awaited result of diffUnverified";

/**
 * Renders a difference. The first line is `same`, or `different` with the number of changes of each severity or of the
 * pins that do not hold. `NOT VERIFIED` and the changes follow. Ends with a line feed. Throws TypeError for any other
 * object.
 */
export function renderDiff(difference: Difference, options: LineOptions = {}): string {
  return renderWhole(difference, WANTED, () => writeText(diffDoc(difference), options));
}

function diffDoc(difference: Difference): Doc {
  const { same, kind, compared, pins, image, changes, leftOut } = difference;
  const more = pins === null ? numbersText(difference) : pinsText(pins);
  const head = [
    words([same ? "same" : "different", more].filter(Boolean).join(": "), "strong"),
    notVerified(difference),
    words(
      compared === null
        ? `Each is ${KINDS[kind as EvidenceKind].is}.`
        : `${kind}: ${pins === null ? partsText(compared) : ONLY_PINS}`,
    ),
  ];
  return {
    sections: [
      { blocks: head },
      ...(pins === null ? [] : pinSections(pins)),
      ...(image === null ? [] : imageSections(image)),
      ...changes.map((change) => ({ blocks: [rows([changeRow(change)])] })),
      ...(leftOut > 0 ? [{ blocks: [words(`and ${leftOut} more`)] }] : []),
    ],
  };
}

/** Returns each section of two images, and the PCRs that change and that do not. */
function imageSections({ sections, pcrs, notes }: ImageDifference): Section[] {
  const list = sections.map(({ section: name, what, same, before, after }): Row => {
    const sizes = [before, after].map((facts) => (facts === null ? "absent" : `${facts.size} bytes`));
    const size = [...new Set(sizes)].join(" and ");
    return { label: same ? "same" : "DIFFERS", tone: same ? "quiet" : "warning", text: `${name} (${size}): ${what}` };
  });
  const unlisted = sections.flatMap(({ section: name, files }) => {
    if (files === null || (files.unlisted === null && !files.onlyPacked)) return [];
    return [`${name}: ${files.unlisted === null ? ONLY_PACKED : `its files are not listed: ${files.unlisted}`}`];
  });
  const namesOf = (isSame: boolean): string => {
    const own = Object.entries(pcrs).filter(([, { same }]) => same === isSame);
    return listed(own.map(([index]) => `PCR${index}`)) || "none";
  };
  return section("Sections", [
    rows([
      ...list,
      { label: "PCRs that change", text: namesOf(false) },
      { label: "PCRs that do not", text: namesOf(true) },
      ...[...unlisted, ...notes].map((text) => ({ label: "note", text: printableStart(text, MAX_VALUE) })),
    ]),
  ]);
}

const ONLY_PACKED = "all files are equal, and only their order or what is around them differs";

function numbersText({ counts }: Difference): string {
  const severities = SEVERITIES.filter((severity) => counts[severity] > 0);
  return severities.map((severity) => `${counts[severity]} ${severity}`).join(", ");
}

function pinsText({ nearest }: PinsDifference): string {
  if (nearest === null) return "the policy has no deployment for evidence of this kind";
  const unmet = nearest.pins.filter(({ holds }) => !holds).length;
  if (nearest.holds) return "every pin holds";
  return unmet === 0 ? "the pins decide too little" : `${unmet} of ${nearest.pins.length} pins do not hold`;
}

/** Returns the nearest deployment, pin by pin, and the names of the others with the pins that differ. */
function pinSections({ nearest, others }: PinsDifference): Section[] {
  if (nearest === null) return [];
  const { name, pins, scope, notPinned, notCompared } = nearest;
  const names: (readonly [string, readonly string[]])[] = [
    ["holds", pins.filter(({ holds }) => holds).map(({ pin }) => pin)],
    ["not pinned", notPinned],
    ["not compared", notCompared],
  ];
  const list: Row[] = [
    ...pins.filter(({ holds }) => !holds).map(unmetRow),
    ...scope.map((text): Row => ({ label: "DIFFERS", tone: "bad", text: `open: ${text}` })),
    ...names.flatMap(([label, texts]) => (texts.length === 0 ? [] : [{ label, text: listed(texts) }])),
  ];
  const further = others.map((one): Row => {
    return { label: quoted(one.name, MAX_NAME), text: `differs in ${listed(one.differing) || "what it leaves open"}` };
  });
  return [
    ...section(`${others.length > 0 ? "Nearest deployment" : "Deployment"}: ${quoted(name, MAX_NAME)}`, [rows(list)]),
    ...section("Other deployments", [rows(further)]),
  ];
}

function unmetRow({ pin, detail, expected, found }: PinDifference): Row {
  const { rows: below } = valueRows(["expected", "found"], [expected, found]);
  return { label: "DIFFERS", tone: "bad", text: `${pin}: ${detail}`, below };
}

/** Returns a row with what changed and, beneath it, what that means, both values, and where. */
export function changeRow({ what, severity, place, also, entry, before, after, means }: Change): Row {
  const values = valueRows(["before", "after"], [before, after], NOT_THERE);
  // The note about lengths mentions an expected value, but neither file is the expected one.
  const note = before?.length === after?.length ? values.note : null;
  return {
    label: severity.toUpperCase(),
    tone: SEVERITY_TONES[severity],
    text: entry === "" ? CHANGES[what].title : `${CHANGES[what].title} ${nameText(entry)}`,
    below: [
      { label: "means", text: means },
      ...values.rows,
      ...(note === null ? [] : [{ label: "", text: note }]),
      { label: "at", tone: "quiet", text: placesText([place, ...also]) },
    ],
  };
}

/**
 * Returns rows with two values, of which only the differing bytes of long hex are shown, and a note on them. An absent
 * value has the text `absent`, or no row.
 */
export function valueRows(
  labels: readonly [string, string],
  values: readonly [string | null, string | null],
  absent?: string,
): { readonly rows: readonly Row[]; readonly note: string | null } {
  const [one, other] = values;
  const sides = one !== null && other !== null ? sideBySide(one, other) : null;
  const texts = sides === null ? values.map((text) => linesOf(text, absent)) : [sides.expected, sides.actual];
  const shown = texts.map((lines) => lines.map((line) => line || "(empty)"));
  return { rows: labels.flatMap((label, at) => labelled(label, shown[at]!)), note: sides?.note ?? null };
}

function linesOf(text: string | null, absent: string | undefined): readonly string[] {
  if (text === null) return absent === undefined ? [] : [absent];
  return text.split("\n").map((line) => printableStart(line, MAX_VALUE));
}

const ONLY_PINS = "only pins were compared, neither signatures nor certificates, debug mode, age or app proofs.";

function partsText(parts: readonly string[]): string {
  return `only the parts that both have were compared (${parts.join(", ")}).`;
}

function placesText(places: readonly string[]): string {
  const shown = places.slice(0, MAX_PLACES).map((place) => (place === "" ? "(the whole)" : nameText(place)));
  const rest = places.length - shown.length;
  return shown.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

/** Shortens a name. Long hex is shortened in its middle, because keys may differ only at their ends. */
function nameText(text: string): string {
  return printableStart(
    text.replace(/[0-9a-f]{64,}/g, (hex) => shortHex(hex)),
    MAX_NAME,
  );
}
