/** What a page says of itself: what it is about, who stated it for whom, what it cannot prove, and how to verify it. */
import { EVIDENCE_ID } from "../bundle/page.js";
import { printable, quoted } from "../report/printable.js";
import type { Report } from "../report/report.js";
import { isByMakersPolicy } from "../report/unproven.js";
import { TOOL } from "../version.js";
import { section, words } from "../show/doc.js";
import { writeHtml } from "../show/html.js";
import { type Markup, type MarkupNode, element } from "../show/markup.js";

/** The ids by which the script finds its places in the page. */
export const IDS = {
  evidence: EVIDENCE_ID,
  script: "bootproof-script",
  about: "about",
  command: "own-command",
  form: "form",
  drop: "drop",
  files: "files",
  list: "file-list",
  verify: "verify",
  verifyHint: "verify-hint",
  faults: "faults",
  said: "said",
  result: "result",
} as const;

/** What a page carries beside the program; null for the page that verifies only files of its reader. */
export type Carried = "bundle" | "document" | null;

interface About {
  /** The title in the caller's words. Without one, it is the policy's name and the organization. */
  readonly title?: string | null | undefined;
  /** The name of the page's file. */
  readonly file?: string | null | undefined;
  readonly organizationId?: string | undefined;
}

/** Says what the page is about, and whose word it is. Nothing of it is from the evidence. */
export function aboutPage(report: Report, { title, file, organizationId }: About): Markup {
  const { tool, verifiedAt, policy } = report;
  const name = policy === null || isByMakersPolicy(report) ? [] : [quoted(policy)];
  const owner = organizationId === undefined ? [] : [`organization ${printable(organizationId)}`];
  const byDefault = [...name, ...owner].join(", ") || "An enclave that no policy names";
  const made = `Stated by whoever made this file, with ${tool.name} ${tool.version}, at ${verifiedAt}`;
  const stated = [printable(made), ...owner.map((text) => `, for ${text}`), ", under ", ...policyOf(report), "."];
  return element(
    "div",
    { class: "maker", id: IDS.about },
    element("p", { class: "title" }, title ? printable(title) : byDefault),
    element("p", {}, stated),
    element("p", {}, "Verify it yourself: ", element("code", { id: IDS.command }, commandOn(file ?? ""))),
  );
}

function policyOf(report: Report): MarkupNode[] {
  if (report.policyDigest !== null)
    return ["the policy SHA-256 ", element("code", { class: "hex" }, report.policyDigest)];
  return [isByMakersPolicy(report) ? "the policy that came with the evidence" : "no policy"];
}

/** Names of which no shell changes a character between double quotes. */
const PAGE_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_ .()-]{0,120}\.html?$/u;

export function isPageName(name: string): boolean {
  return PAGE_NAME.test(name);
}

/** Returns the command that verifies the page. A name that a shell could misread is not written into it. */
export function commandOn(file: string): string {
  const name = isPageName(file) ? file : "report.html";
  return `bootproof verify ${/[ ()]/.test(name) ? `"${name}"` : name} --policy yours.json`;
}

const CARRIES: Readonly<Record<NonNullable<Carried>, string>> = {
  bundle: ", and the evidence, the policy and the report as one bundle",
  document: ", and the attestation document",
};
const READS =
  "bootproof verify reads the evidence from the file, and verifies nothing else that the file shows. Without a " +
  "policy of your own give --no-policy, or --bundle-policy for the policy of this page’s maker: the verdict is then " +
  "“authentic” at best.";

const CANNOT_VOUCH =
  "A page cannot vouch for itself. The maker of this file could have made it say anything: what it shows, and the " +
  "result of its own program.";

export function thisPage(carried: Carried): Markup[] {
  const carries = carried === null ? "" : CARRIES[carried];
  const sentences = [
    `It carries the program that verifies${carries}. It loads nothing and sends nothing, and works without a ` +
      "network: your files stay in this browser.",
    ...(carried === null ? [] : [READS]),
    "A page of your own that verifies: bootproof page > verifier.html (every one that " +
      `${TOOL.name} ${TOOL.version} makes is the same, byte for byte).`,
    "What is folded up is not printed. The file has it: checks that passed, and all values.",
  ];
  const blocks = [words(CANNOT_VOUCH, "warning"), ...sentences.map((text) => words(text))];
  return writeHtml({ sections: section("This page", blocks) });
}
