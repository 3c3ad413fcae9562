/** What `page --verify` writes on stdout: its text, and its JSON. */
import { POLICY_CHOSEN_BY_MAKER, POLICY_OF_THE_PAGE } from "../bundle/text.js";
import type { PageCheck, PageMaking, PagePart } from "../page/check.js";
import type { Notice } from "../report/facts.js";
import { jsonDocument } from "../report/json.js";
import { pageOf, wrapped } from "../report/layout.js";
import { printable, printableStart } from "../report/printable.js";
import { summaryOf } from "../report/summary.js";
import { TOOL } from "../version.js";
import { type Io, textOptions } from "./io.js";

export function pageCheckJson({ verification, ...facts }: PageCheck): string {
  const { report = null, bundle = null } = verification ?? {};
  return jsonDocument({ format: "bootproof-page-check/1", tool: TOOL, ...facts, report, bundle });
}

const OURS = `${TOOL.name} ${TOOL.version}`;
const MAX_SHOWN = 8;
const MAX_VALUE = 120;

export function pageCheckText(check: PageCheck, name: string, io: Io): string {
  const options = textOptions(io);
  const { verification, made } = check;
  const page = pageOf(options);
  const lines = [...headline(check, name), ...scriptLines(check)].flatMap((text) => wrapped(page, "", text));
  const items = detailLines(check).flatMap((text) => wrapped(page, "  ", text));
  const above = [...lines, ...items, ""].join("\n");
  if (verification === null) return above;
  const anew = `Its evidence, verified anew by this program, as of ${verification.report.verifiedAt}.`;
  const intro = [anew, ...(made === null ? [] : makingTexts(made))].flatMap((text) => wrapped(page, "", text));
  const summary = summaryOf(verification.report, options, noticesOf(check));
  return `${above}\n${intro.join("\n")}\n\n${summary}\nMore: with --format json.\n`;
}

function headline({ sameBytes, kind, version }: PageCheck, name: string): string[] {
  const file = printable(name);
  const what = kind === "verifier" ? "the page for verifying that" : "the page that";
  const of = kind === "verifier" ? "" : " of the evidence in it";
  if (sameBytes) return [`INTACT: ${file} is, byte for byte, ${what} ${OURS} makes${of}.`];
  if (version !== TOOL.version) return otherVersion(file, version!);
  return [
    `NOT INTACT: ${file} is not ${what} ${OURS} makes${of}. It was changed, or made by other means: trust ` +
      `nothing that it shows, nor the result of its button.`,
  ];
}

/** The name may be any text: only a version number is put into a command to copy. */
function otherVersion(file: string, version: string): string[] {
  const isVersion = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(version);
  const command = isVersion ? ` (npx ${TOOL.name}@${version} page --verify FILE)` : "";
  return [
    `NOT CHECKED: ${file} states that ${TOOL.name} ${printable(version)} made it, and this is ${OURS}, which makes ` +
      `other pages. Only that version can check whether the file is intact${command}: until then trust nothing that ` +
      `it shows.`,
  ];
}

function scriptLines({ script: { found, expected, same }, version }: PageCheck): string[] {
  if (same) return [`Its script is that of ${OURS}: SHA-256 ${expected}.`];
  const own = found === null ? "It has no script" : `Its script is another one: SHA-256 ${found}`;
  const other = version === TOOL.version ? ", and its button may report anything" : "";
  return [`${own}; that of ${OURS} is ${expected}${other}.`];
}

const PARTS: Readonly<Record<PagePart, string>> = {
  head: "its head, with the rules for what a browser lets it do",
  style: "its style, which can hide text",
  text: "what it shows",
  data: "the data that it carries",
  script: "its script",
  end: "its end",
};

/** A page of another version may differ anywhere. */
function detailLines({ version, differsAt, sameReport, differences, faults }: PageCheck): string[] {
  const at =
    differsAt === null || version !== TOOL.version
      ? []
      : [`The first difference is at byte ${differsAt.byte}, in ${PARTS[differsAt.part]}.`];
  const shown = differences
    .slice(0, MAX_SHOWN)
    .map(
      ({ place, page, anew }) =>
        `${printableStart(place, MAX_VALUE)}: ${valueText(page)} in its report, ${valueText(anew)} by its evidence`,
    );
  const rest = differences.length - shown.length;
  const said = sameReport === false ? ["Its report does not match its evidence:", ...shown] : [];
  const broken = faults.map(({ path, message }) => `${printable(path === "" ? message : `${path}: ${message}`)}`);
  return [
    ...at,
    ...said,
    ...(rest > 0 ? [`and ${rest} more`] : []),
    ...(broken.length > 0 ? ["Its data cannot be verified:", ...broken] : []),
  ];
}

function valueText(value: string | null): string {
  return value === null ? "nothing" : printableStart(value, MAX_VALUE);
}

/** Shown beside the verdict. */
function noticesOf({ policyFrom, verification }: PageCheck): Notice[] {
  if (policyFrom !== "bundle") return [];
  const text = verification?.bundle?.policyFrom === "bundle" ? POLICY_CHOSEN_BY_MAKER : POLICY_OF_THE_PAGE;
  return [{ kind: "warning", text }];
}

const MAX_QUESTION = 400;

/** Texts of the report say "your nonce". */
function nonceText(nonce: string): string {
  const value = printableStart(nonce, MAX_VALUE);
  return `The nonce ${value} was set by the page's maker, and is checked: "your nonce" means that one.`;
}

/** The settings of the page's maker, which are not used here. */
function makingTexts({ now, allowDebug, bootProofsOnly, expected, nonce }: PageMaking): string[] {
  const allowed = [
    ...(allowDebug ? ["allowed debug mode"] : []),
    ...(bootProofsOnly ? ["skipped the policy's rules about app proofs"] : []),
  ];
  const question = expected === null ? "" : printableStart(JSON.stringify(expected), MAX_QUESTION);
  return [
    `The page's maker verified it as of ${[now, ...allowed].join(", and ")}: none of that is used.`,
    ...(expected === null ? [] : [`The page's maker expected ${question}: that is not checked here.`]),
    ...(nonce === null ? [] : [nonceText(nonce)]),
  ];
}
