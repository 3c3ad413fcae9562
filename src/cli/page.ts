/** `bootproof page`: makes the page that verifies files, or checks a page. */
import type { Command } from "commander";
import { type PlainPolicy, plainPolicy } from "../plain-settings.js";
import { MalformedError } from "../errors.js";
import type { PageCheckOptions } from "../page/check.js";
import type { Format } from "../report/report.js";
import { ORGANIZATION_OF_THE_ACTIVITY } from "./connection.js";
import { EXIT, exitCodeOf } from "./exit-codes.js";
import type { ExpectedFlags } from "./evidence.js";
import { InputFiles, nameOf } from "./files.js";
import { type Io, UsageError } from "./io.js";
import { readPolicyFile, readTrustAnchor } from "./option-files.js";
import type { Flags } from "./option-table.js";
import { formatOf, nowOf, payloadsOf } from "./option-values.js";
import { ArgumentReader, choosesPolicy } from "./options.js";
import { pageCheckJson, pageCheckText } from "./page-text.js";

const EXAMPLES = `
Without --verify, it writes a page to stdout that verifies the files dropped on it, in any browser, without a server or
a network. The page of a verification is made by bootproof verify --format html.

With --verify, everything that loosens comes from the command line: the page's own time, debug mode and trust anchors
are not used. The image, the nonce and the key that its maker demanded are demanded again. Other expectations of its
maker are shown, but not checked. A page without evidence takes no policy.

Examples:
    $ bootproof page > verifier.html
    $ bootproof page --verify verifier.html
    $ bootproof page --verify report.html --policy policy.json
    $ bootproof page --verify report.html --bundle-policy

Exit codes of --verify: 0 the page is intact and its evidence verified (or authentic, with --no-policy or
--bundle-policy), 1 it is not, 2 not a page of bootproof, wrong usage or unreadable file.`;

export function addPageCommand(command: Command, io: Io, finish: (code: number) => void): void {
  command
    .description(
      "Make a page that verifies evidence in a browser; or check that a page is, byte for byte, what this version " +
        "makes from the evidence in it, and verify that evidence again.",
    )
    .usage("[--verify FILE (--policy FILE | --no-policy | --bundle-policy) [options]]")
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async (flags: Flags<"page">) => {
    const request = requestOf(args, flags, io);
    finish(request === null ? await writeVerifier(io) : await check(request, io));
  });
}

const WITH_VERIFY = [
  "policy",
  "no-policy",
  "bundle-policy",
  "trust-anchor",
  "now",
  "allow-debug",
  "organization-id",
  "activity-id",
  "request",
  "address",
  "payload",
  "challenge",
  "format",
] as const;

/** Null: no page to check. */
function requestOf(args: ArgumentReader, flags: Flags<"page">, io: Io): CheckRequest | null {
  const { verify: file, trustAnchor, request, organizationId, activityId, address: addresses } = flags;
  const policy = typeof flags.policy === "string" ? flags.policy : undefined;
  for (const name of file === undefined ? WITH_VERIFY : [])
    if (args.has(name)) args.fault(`--${name}: requires --verify FILE`);
  choosesPolicy(args);
  if (trustAnchor !== undefined && !args.has("no-policy") && !args.has("bundle-policy"))
    args.fault('--trust-anchor requires --no-policy or --bundle-policy: a policy has its own, as "trustAnchors"');
  refuseNoOrganization(args, flags);
  const format = formatOf(args, flags.format);
  args.refuseRepeated();
  args.refuseRepeatedStdin([file, policy, trustAnchor, request]);
  const now = nowOf(args, flags.now, io.now());
  const payload = payloadsOf(args, flags);
  args.throwFaults();
  if (file === undefined) return null;
  return {
    file,
    policy: policyOf(args, policy),
    trustAnchor,
    now: now!,
    allowDebug: flags.allowDebug === true,
    failOnWarning: flags.failOnWarning === true,
    expected: { organizationId, activityId, addresses, request, payload },
    format,
  };
}

function refuseNoOrganization(args: ArgumentReader, { organizationId, request }: Flags<"page">): void {
  for (const name of ["activity-id", "address"] as const)
    if (args.has(name) && organizationId === undefined && request === undefined)
      args.fault(`--${name}: the organization is required too: give --organization-id, or the request with --request`);
}

function policyOf(args: ArgumentReader, path: string | undefined): CheckRequest["policy"] {
  if (path !== undefined) return { file: path };
  if (args.has("bundle-policy")) return "bundle";
  return args.has("no-policy") ? "none" : undefined;
}

async function writeVerifier(io: Io): Promise<number> {
  const { renderVerifier } = await import("../page/page.js");
  io.stdout.write(await renderVerifier());
  return EXIT.good;
}

interface CheckRequest {
  readonly file: string;
  /** Undefined means that no option chooses it, which is valid for a page without evidence. */
  readonly policy: { readonly file: string } | "none" | "bundle" | undefined;
  readonly trustAnchor: string | undefined;
  readonly now: Date;
  readonly allowDebug: boolean;
  readonly failOnWarning: boolean;
  readonly expected: ExpectedFlags;
  readonly format: Format;
}

async function check(request: CheckRequest, io: Io): Promise<number> {
  const { file, format } = request;
  const [{ checkPage, PolicyWantedError }, { MAX_PAGE_BYTES }] = await Promise.all([
    import("../page/check.js"),
    import("../page/data.js"),
  ]);
  const files = new InputFiles(io);
  const bytes = await files.raw(file, MAX_PAGE_BYTES);
  const setting = await settingOf(files, request);
  files.throwFaults();
  io.progress("verifying the page");
  const checked = await checkPage(bytes!, setting).catch((error: unknown) => {
    const isWanted = error instanceof PolicyWantedError;
    return refuseUsage(isWanted ? new TypeError(POLICY_WANTED) : error, file);
  });
  if (checked.kind === null) files.fault(file, "not a page of bootproof (bootproof verify --format html makes them)");
  files.throwFaults();
  io.stdout.write(format === "json" ? pageCheckJson(checked) : pageCheckText(checked, nameOf(file), io));
  const { kind, sameBytes, verification } = checked;
  if (verification !== null && sameBytes) return exitCodeOf(verification.report);
  return kind === "verifier" && sameBytes ? EXIT.good : EXIT.rejected;
}

async function settingOf(files: InputFiles, request: CheckRequest): Promise<Omit<PageCheckOptions, "script">> {
  const { policy, trustAnchor, now, allowDebug, failOnWarning } = request;
  const plain = typeof policy === "object" ? await plainPolicyOf(files, policy.file) : undefined;
  const anchor = trustAnchor === undefined ? undefined : await anchorOf(files, trustAnchor);
  const expected = await expectedOf(files, request.expected);
  const chosen = policy === "bundle" ? policy : null;
  return {
    ...(policy !== undefined && { policy: plain ?? chosen }),
    now,
    ...(allowDebug && { allowDebug }),
    ...(failOnWarning && { acceptance: "strict" }),
    ...(anchor && { trustAnchors: [anchor] }),
    ...(expected && { expected }),
  };
}

async function expectedOf(files: InputFiles, flags: ExpectedFlags): Promise<PageCheckOptions["expected"]> {
  const { readExpected } = await import("./evidence.js");
  return readExpected(files, flags);
}

async function anchorOf(files: InputFiles, path: string): Promise<{ name: string; pem: string } | undefined> {
  const { certificatePem } = await import("../verify/trust-anchor.js");
  const anchor = await readTrustAnchor(files, path, "page");
  return anchor && { name: anchor.name, pem: certificatePem(anchor.certificate.der) };
}

const POLICY_WANTED =
  "the page has evidence: --policy FILE, --no-policy or --bundle-policy is required. The page's maker chose the " +
  "policy in it, and thus what passes";
/** A demand that this page cannot meet, or a policy of its own that loosens, is a fault of the command line. */
function refuseUsage(error: unknown, path: string): never {
  const file = nameOf(path);
  if (error instanceof MalformedError)
    throw new UsageError(
      error.faults.map(({ path: place, message }) => ({
        file,
        message: place === "" ? message : `${place}: ${message}`,
      })),
    );
  if (!(error instanceof TypeError)) throw error;
  const isAboutOrganization = error.message.startsWith("expected.organizationId:");
  throw new UsageError([{ file, message: isAboutOrganization ? ORGANIZATION_OF_THE_ACTIVITY : error.message }]);
}

async function plainPolicyOf(files: InputFiles, path: string): Promise<PlainPolicy | undefined> {
  const read = await readPolicyFile(files, path, { command: "page", option: "--policy" });
  return read && plainPolicy(read.policy);
}
