/** `bootproof page`: the page that verifies what is dropped on it; and whether a page is what this version makes. */
import type { Command } from "commander";
import { type PlainPolicy, plainPolicy } from "../appraise/plain-policy.js";
import { POLICY_CHOSEN_BY_MAKER } from "../bundle/text.js";
import type { PageCheck, PagePart } from "../page/check.js";
import { jsonDocument } from "../report/json.js";
import { pageOf, wrapped } from "../report/layout.js";
import { printable, printableStart } from "../report/printable.js";
import type { Format } from "../report/report.js";
import { summaryOf } from "../report/summary.js";
import type { Notice } from "../report/text.js";
import { TOOL } from "../version.js";
import { EXIT, exitCodeOf } from "./exit-codes.js";
import { InputFiles, nameOf } from "./files.js";
import { type Io, textOptions } from "./io.js";
import { ArgumentReader } from "./options.js";
import { readPolicyFile } from "./policy.js";

interface PageFlags {
  readonly verify?: string;
  readonly policy?: string;
  readonly format?: string;
}

const EXAMPLES = `
Without --verify it writes a page to stdout that verifies what is dropped on it: in any browser, without a server or a
network. The page of a verification is made by bootproof verify --format html.

Examples:
    $ bootproof page > verifier.html
    $ bootproof page --verify report.html
    $ bootproof page --verify report.html --policy policy.json

Exit codes of --verify: 0 the page is intact and its evidence verified (or authentic), 1 it is not, 2 no page of
bootproof, wrong usage or unreadable file.`;

export function addPageCommand(program: Command, io: Io, finish: (code: number) => void): void {
  const command = program
    .command("page")
    .summary("make a page that verifies in a browser, or check a page from outside")
    .description(
      "Make a page that verifies evidence in a browser; or check that a page is, byte for byte, what this version " +
        "makes of the evidence in it, and verify that anew.",
    )
    .option("--verify <file>", "the page to check; - for stdin")
    .option("--policy <file>", "with --verify: hold the evidence against this policy, not the page's own")
    .option("--format <format>", "with --verify: text or json (default: text)")
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async ({ verify, policy, format: named }: PageFlags) => {
    for (const name of verify === undefined ? ["policy", "format"] : [])
      if (args.has(name)) args.fault(`--${name}: goes with --verify FILE only`);
    const format = args.format(named);
    args.refuseRepeated();
    args.refuseRepeatedStdin([verify, policy]);
    args.throwFaults();
    finish(verify === undefined ? await writeVerifier(io) : await check({ file: verify, policy, format }, io));
  });
}

async function script(): Promise<{ readonly script: string }> {
  const { PAGE_SCRIPT } = await import("bootproof/page/script");
  return { script: PAGE_SCRIPT };
}

async function writeVerifier(io: Io): Promise<number> {
  const { renderVerifier } = await import("../page/page.js");
  io.stdout.write(await renderVerifier(await script()));
  return EXIT.good;
}

interface CheckRequest {
  readonly file: string;
  readonly policy: string | undefined;
  readonly format: Format;
}

async function check({ file, policy: path, format }: CheckRequest, io: Io): Promise<number> {
  const [{ checkPage }, { MAX_PAGE_BYTES }] = await Promise.all([
    import("../page/check.js"),
    import("../page/data.js"),
  ]);
  const files = new InputFiles(io);
  const bytes = await files.raw(file, MAX_PAGE_BYTES);
  const policy = path === undefined ? undefined : await plainPolicyOf(files, path);
  files.throwFaults();
  io.progress("verifying the page");
  const checked = await checkPage(bytes!, { ...(await script()), ...(policy && { policy }) });
  if (checked.kind === null) files.fault(file, "not a page of bootproof (bootproof verify --format html makes them)");
  files.throwFaults();
  io.stdout.write(format === "json" ? jsonOf(checked) : textOf(checked, nameOf(file), io));
  const isGood = checked.sameBytes && (checked.kind === "verifier" || checked.verification !== null);
  return isGood ? exitCodeOf(checked.verification?.report.verdict ?? "verified") : EXIT.rejected;
}

async function plainPolicyOf(files: InputFiles, path: string): Promise<PlainPolicy | undefined> {
  const read = await readPolicyFile(files, path, { command: "page", option: "--policy" });
  return read && plainPolicy(read.policy);
}

function jsonOf({ verification, ...facts }: PageCheck): string {
  const { report = null, bundle = null } = verification ?? {};
  return jsonDocument({ format: "bootproof-page-check/1", tool: TOOL, ...facts, report, bundle });
}

const OURS = `${TOOL.name} ${TOOL.version}`;
const MAX_SHOWN = 8;
const MAX_VALUE = 120;

function textOf(check: PageCheck, name: string, io: Io): string {
  const options = textOptions(io);
  const { verification } = check;
  const page = pageOf(options);
  const lines = [...headline(check, name), ...scriptLines(check)].flatMap((text) => wrapped(page, "", text));
  const items = detailLines(check).flatMap((text) => wrapped(page, "  ", text));
  const above = [...lines, ...items, ""].join("\n");
  if (verification === null) return above;
  const { verifiedAt } = verification.report;
  const given = `as of ${verifiedAt}: that time, and what was asked, came with the page`;
  const intro = wrapped(page, "", `Its evidence, verified anew by this program, ${given}.`).join("\n");
  const summary = summaryOf(verification.report, options, noticesOf(check));
  return `${above}\n${intro}\n\n${summary}\nMore: with --format json.\n`;
}

function headline({ sameBytes, kind, version }: PageCheck, name: string): string[] {
  const file = printable(name);
  const what = kind === "verifier" ? "the page for verifying that" : "the page that";
  const of = kind === "verifier" ? "" : " of the evidence in it";
  if (sameBytes) return [`INTACT: ${file} is, byte for byte, ${what} ${OURS} makes${of}.`];
  if (version !== TOOL.version) return otherVersion(file, version!);
  return [
    `NOT INTACT: ${file} is not ${what} ${OURS} makes${of}. Somebody changed it, or made it otherwise: believe ` +
      `nothing that it shows, nor what its button answers.`,
  ];
}

/** Whose name may be anything: it is put into a command to copy only where it is a version. */
function otherVersion(file: string, version: string): string[] {
  const isVersion = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(version);
  const command = isVersion ? ` (npx ${TOOL.name}@${version} page --verify FILE)` : "";
  return [
    `NOT CHECKED: ${file} says that ${TOOL.name} ${printable(version)} made it, and this is ${OURS}, which makes ` +
      `other pages. Whether the file is intact, only that version can say${command}: until then believe nothing that ` +
      `it shows.`,
  ];
}

function scriptLines({ script: { found, expected, same }, version }: PageCheck): string[] {
  if (same) return [`Its script is that of ${OURS}: SHA-256 ${expected}.`];
  const own = found === null ? "It has no script" : `Its script is another one: SHA-256 ${found}`;
  const other = version === TOOL.version ? ", and the button may answer anything" : "";
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

/** Where the page differs: of another version everything may. */
function detailLines({ version, differsAt, sameReport, differences, faults }: PageCheck): string[] {
  const at =
    differsAt === null || version !== TOOL.version
      ? []
      : [`The first difference is at byte ${differsAt.byte}, in ${PARTS[differsAt.part]}.`];
  const shown = differences
    .slice(0, MAX_SHOWN)
    .map(
      ({ place, page, anew }) =>
        `${printableStart(place, MAX_VALUE)}: ${valueText(page)} in its report, ${valueText(anew)} in truth`,
    );
  const rest = differences.length - shown.length;
  const said = sameReport === false ? ["The report that it carries is not what its evidence comes to:", ...shown] : [];
  const broken = faults.map(({ path, message }) => `${printable(path === "" ? message : `${path}: ${message}`)}`);
  return [
    ...at,
    ...said,
    ...(rest > 0 ? [`and ${rest} more`] : []),
    ...(broken.length > 0 ? ["What it carries cannot be verified:", ...broken] : []),
  ];
}

function valueText(value: string | null): string {
  return value === null ? "nothing" : printableStart(value, MAX_VALUE);
}

const POLICY_OF_THE_PAGE =
  "the policy came with the page: whoever made the page chose what passes, its trust anchors included. Hold it " +
  "against a policy of your own: --policy FILE.";
const NO_POLICY_IN_THE_PAGE =
  "the page has no policy: any genuine enclave of anybody passes. Hold it against a policy of your own: --policy FILE.";

/** Whose policy it was is said beside the verdict. */
function noticesOf({ policyFrom, verification }: PageCheck): Notice[] {
  const { report, bundle } = verification!;
  const own = report.policyDigest === null ? NO_POLICY_IN_THE_PAGE : POLICY_OF_THE_PAGE;
  const but = bundle?.policyFrom === "bundle" ? POLICY_CHOSEN_BY_MAKER : own;
  return policyFrom === "page" ? [{ kind: "but", text: but }] : [];
}
