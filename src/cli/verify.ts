/** `bootproof verify`: evidence from files, held against a policy; the report on stdout, the verdict as exit code. */
import type { Command } from "commander";
import type { Policy } from "../appraise/policy.js";
import type { VerifyOptions } from "../bootproof.js";
import { fromUtf8 } from "../bytes.js";
import type { Detail } from "../report/layout.js";
import { REPORT_FORMATS, type ReportFormat } from "../report/report.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import {
  CONNECTION_HELP,
  type ConnectionFlags,
  NO_ORGANIZATION,
  addConnectionOptions,
  connectionOf,
  connectionOptionsGiven,
  isConfigured,
  organizationOf,
  refuseEmptyOrganization,
} from "./connection.js";
import type { VerifiedSource } from "../formats/reports.js";
import type { SigningJwk } from "../formats/signing-key.js";
import type { ExpectedFlags, Source } from "./evidence.js";
import { EXIT, exitCodeOf } from "./exit-codes.js";
import { InputFiles, STDIN, readerBeside } from "./files.js";
import { type Io, textOptions, UsageError } from "./io.js";
import { type FileCommand, ofKind } from "./kinds.js";
import { ArgumentReader, choosesPolicy, ephemeralKeyOf, nonceOf } from "./options.js";
import type { EvidenceFiles } from "./pieces.js";

interface VerifyFlags extends ConnectionFlags {
  readonly bootProof?: string[];
  readonly appProof?: string[];
  readonly app?: string[];
  readonly activity?: string;
  readonly activityId?: string;
  readonly attestation?: string;
  readonly policy?: string | false;
  readonly image?: string;
  readonly ephemeralKey?: string;
  readonly nonce?: string;
  readonly request?: string;
  readonly address?: string[];
  readonly at?: string;
  readonly now?: string;
  readonly allowDebug?: boolean;
  readonly trustAnchor?: string;
  readonly format?: string;
  readonly earKey?: string;
  readonly summary?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly failOnWarning?: boolean;
}

/** A command line that makes sense. */
interface VerifyRequest {
  readonly source: Source;
  /** Undefined: the bundle's own, as the caller said. False: none, as the caller said in so many words. */
  readonly policy: string | false | undefined;
  readonly trustAnchor: string | undefined;
  /** The image whose measurements each document has to attest. */
  readonly image: string | undefined;
  readonly options: Omit<VerifyOptions, "policy" | "trustAnchors" | "expected" | "measurements">;
  readonly expected: ExpectedFlags;
  readonly format: ReportFormat;
  readonly earKey: string | undefined;
  readonly level: Level;
}

/** How much is told: of `quiet` the exit code alone. */
type Level = Detail | "quiet";

const EXAMPLES = `
Examples:
  A boot proof and an app proof against a pinned policy:
    $ bootproof verify --boot-proof boot.json --app-proof app.json --policy policy.json

  An activity with its app proofs, the boot proof from a pipe, the report as JSON:
    $ fetch-boot-proof | bootproof verify --boot-proof - --activity activity.json --policy policy.json --format json

  Is this a genuine enclave at all, anybody's? No policy has to be said in so many words:
    $ bootproof verify --boot-proof boot.json --no-policy

  A bare attestation document (binary, base64 or hex):
    $ bootproof verify --attestation document.cbor --no-policy

  Fetched from the service, and verified in one go (the connection from the environment):
    $ bootproof verify --app signer policy-engine --policy policy.json
    $ bootproof verify --ephemeral-key HEX --policy policy.json
    $ bootproof verify --activity-id ID --policy policy.json

  Was it what I asked for? The organization, the request as it was sent, the addresses that I was told:
    $ bootproof verify --boot-proof boot.json --activity activity.json --policy policy.json \\
        --organization-id ID --request request.json --address 0x…

  Does it run the image that I built? Its measurements are demanded of every boot proof, whatever the policy says:
    $ bootproof verify --boot-proof boot.json --image app.eif --policy policy.json

  In CI: annotations of a change and a step summary at GitHub; a test report anywhere else:
    $ bootproof verify --boot-proof boot.json --policy policy.json --format github
    $ bootproof verify --boot-proof boot.json --policy policy.json --format junit > bootproof.xml

  The same, where nothing may weigh against the verdict (another root, debug mode, a policy that leaves much open):
    $ bootproof verify --boot-proof boot.json --policy policy.json --format github --fail-on-warning

  What machines read: an attestation result (RATS EAR, a JWT), and a verification summary (SLSA VSA, in-toto):
    $ bootproof verify --boot-proof boot.json --policy policy.json --format ear --ear-key key.pem
    $ bootproof verify --boot-proof boot.json --policy policy.json --format vsa

  A bundle, years later, with no network; or by the policy inside it, which its maker chose:
    $ bootproof verify bundle.json --policy policy.json
    $ bootproof verify bundle.json --bundle-policy
${CONNECTION_HELP}

Exit codes: 0 verified (or authentic, with --no-policy or --bundle-policy), 1 rejected (or, with --fail-on-warning, a
BUT), 2 wrong usage or unreadable file, 3 not to be fetched.`;

export const WHY_A_POLICY =
  "--policy FILE or --no-policy is wanted: without a policy the enclave of anybody, running anything, is accepted";
const WHY_A_POLICY_OF_A_BUNDLE =
  "--policy FILE, --no-policy or --bundle-policy is wanted: whoever made the bundle chose its policy, and so " +
  "what passes";
export const PIN_FIRST = `Pin the deployment that you expect, read what was pinned, and verify against it:
    $ bootproof pin --boot-proof boot.json --out policy.json
With --no-policy the answer is at best "authentic": a genuine enclave, no matter whose.`;

const UNSIGNED =
  'warning: this result is not signed (alg "none"): anybody can write such a one. --ear-key FILE signs it.\n';

const WHAT_IS_THERE =
  "--boot-proof FILE (or --attestation FILE) is wanted: what is there to verify? A bundle stands for itself; with a " +
  "connection (--base-url and more), --app, --ephemeral-key or --activity-id alone will do.";

export function addVerifyCommand(program: Command, io: Io, finish: (code: number) => void): void {
  const command = addConnectionOptions(
    addEvidenceOptions(
      program
        .command("verify")
        .summary("verify boot proofs, app proofs, activities and bundles")
        .description(
          "Verify which code in which enclave made a result, and whether it is what a policy pins. FILE may be - for " +
            "stdin, once.",
        ),
    )
      .option("--policy <file>", "the policy that pins what is expected (see bootproof pin)")
      .option("--no-policy", 'accept any genuine enclave of anybody: the verdict is "authentic" at best')
      .option("--bundle-policy", 'of a bundle: the policy that its maker chose ("authentic" at best)')
      .option("--image <file>", "the enclave image that was built: each boot proof has to attest its PCRs")
      .option(
        "--ephemeral-key <hex>",
        "the key that was asked for: each boot proof has to attest it; without a boot proof it is fetched",
      )
      .option(
        "--activity-id <id>",
        "the activity that was asked for: fetched with its evidence, or held against the file that is given",
      )
      .option("--nonce <hex>", "the nonce that was asked for: each document has to carry it")
      .option(
        "--request <file>",
        "what was asked: the request as it was submitted, JSON; the activity has to be its answer",
      )
      .option("--address <address...>", "what was asked: addresses, each of which an app proof has to speak of")
      .option(
        "--at <when>",
        "the moment certificates are held against: document, now, or an RFC 3339 time (default: document)",
      )
      .option(
        "--now <time>",
        "RFC 3339: the present by which ages are counted, for audits that repeat (default: the clock)",
      )
      .option("--allow-debug", "let debug mode pass with a warning: nothing about its code is proven")
      .option(
        "--trust-anchor <file>",
        "with --no-policy or --bundle-policy: a PEM certificate in place of the AWS Nitro root",
      ),
  )
    .allowExcessArguments()
    .usage(
      "(BUNDLE | --app NAME… | --boot-proof FILE… [--app-proof FILE…] [--activity FILE]) " +
        "(--policy FILE | --no-policy | --bundle-policy) [options]",
    )
    .addHelpText("after", EXAMPLES);
  addReportOptions(command);
  const args = new ArgumentReader(command);
  command.action(async (flags: VerifyFlags) => {
    const request = requestOf(args, command.args, flags, io);
    finish(await carryOut(request, flags.failOnWarning === true, io));
  });
}

/** Answers the exit code. */
async function carryOut(request: VerifyRequest, failsOnWarning: boolean, io: Io): Promise<number> {
  const { format, level } = request;
  const earKey = await earKeyOf(request, io);
  const judged = { ...(await verify(request, io)), failsOnWarning };
  const { refusalOf } = await import("../formats/reports.js");
  const refusal = refusalOf(judged);
  if (level !== "quiet") {
    io.stdout.write(await rendered(judged, { format, detail: level, earKey }, io));
    if (refusal.length > 0) io.stderr.write(refusalText(refusal));
  }
  return refusal.length > 0 ? EXIT.rejected : exitCodeOf(judged.report.verdict);
}

/** Where evidence comes from. */
function addEvidenceOptions(command: Command): Command {
  return command
    .option(
      "--boot-proof <file...>",
      'boot proofs: JSON, one, bare or as {"bootProof": …}, an array, or {"bootProofs": […]}',
    )
    .option(
      "--app-proof <file...>",
      'app proofs: JSON, one, an array, or {"appProofs": […]}; each finds its boot proof by key',
    )
    .option("--activity <file>", 'an activity with its app proofs: JSON, bare or as {"activity": …}')
    .option(
      "--app <name...>",
      "in place of --boot-proof: the boot proof of each application's enclave that booted last, fetched from the " +
        "service",
    )
    .option("--attestation <file>", "in place of --boot-proof: a bare attestation document, binary, base64 or hex");
}

function addReportOptions(command: Command): void {
  command
    .option("--format <report-format>", `${REPORT_FORMATS.join(", ")} (default: text)`)
    .option("--ear-key <file>", "with --format ear: the private key that signs it, a JWK or PEM")
    .option("--summary", "one screen of text: the verdict, what weighs against it, the first failures")
    .option("--quiet", "nothing but the exit code")
    .option("--verbose", "every check of every piece, and every hash in full")
    .option(
      "--fail-on-warning",
      "exit code 1 where the report has a BUT: something that takes weight from the verdict",
    );
}

function refusalText(buts: readonly string[]): string {
  return ["bootproof: --fail-on-warning: refused, for what takes weight from the verdict:", ...buts, ""].join("\n");
}

function requestOf(args: ArgumentReader, stray: readonly string[], flags: VerifyFlags, io: Io): VerifyRequest {
  const { bootProof = [], appProof = [], activity, attestation, policy, trustAnchor } = flags;
  const bundle = bundleOf(args, stray) ?? refuseFileAmongAddresses(args, flags.address);
  refuseCombinations(args, flags, bundle !== undefined);
  args.refuseRepeated();
  args.refuseRepeatedStdin([
    bundle,
    ...bootProof,
    ...appProof,
    activity,
    attestation,
    flags.request,
    policy || undefined,
    trustAnchor,
    flags.image,
    flags.earKey,
  ]);
  const format = args.reportFormat(flags.format);
  if (flags.earKey !== undefined && format !== "ear") args.fault("--ear-key goes with --format ear only");
  const level = levelOf(args);
  const bootProofsOnly = bundle === undefined && asksForBootProofsOnly(args);
  const options = { ...verifyOptions(args, flags, io), ...(bootProofsOnly && { bootProofsOnly }) };
  const source = sourceOf(args, flags, bundle, io);
  const expected = expectedOf(args, flags, io);
  args.throwFaults();
  const { earKey, image } = flags;
  return {
    source: source!,
    policy: policyOf(args, flags),
    trustAnchor,
    image,
    options,
    expected,
    format,
    earKey,
    level,
  };
}

const LEVELS = ["summary", "quiet", "verbose"] as const;

function levelOf(args: ArgumentReader): Level {
  const given = LEVELS.filter((level) => args.has(level));
  if (given.length > 1)
    args.fault(`${given.map((level) => `--${level}`).join(" and ")} contradict each other: give one`);
  return given[0] ?? "normal";
}

/** What the caller asks for, not what is there: a bundle's maker chose what is inside, and a service may leave out. */
function asksForBootProofsOnly(args: ArgumentReader): boolean {
  const others = ["app-proof", "activity", "activity-id", "request", "address"];
  return (
    ["boot-proof", "ephemeral-key", "app"].some((name) => args.has(name)) && !others.some((name) => args.has(name))
  );
}

/** Commander has `policy` true where neither --policy nor --no-policy is given. */
function policyOf(args: ArgumentReader, { policy }: VerifyFlags): VerifyRequest["policy"] {
  if (typeof policy === "string") return policy;
  return args.has("no-policy") ? false : undefined;
}

const EVIDENCE_OPTIONS = ["boot-proof", "app-proof", "app", "activity", "attestation"];

/** A file that stands for itself is a bundle, where no other evidence is given. */
function bundleOf(args: ArgumentReader, stray: readonly string[]): string | undefined {
  if (stray.length === 1 && !EVIDENCE_OPTIONS.some((name) => args.has(name))) return stray[0];
  for (const file of stray)
    args.fault(
      `${file}: what is it? Give it after --boot-proof, --app-proof, --activity or --policy; or alone, if it is a ` +
        `bundle`,
    );
  return undefined;
}

const TAKES_EVERY_WORD = "--address takes every word up to the next option";

/** A list of addresses takes the file that follows it for one of them. Answers that file, so that no more is missed. */
function refuseFileAmongAddresses(args: ArgumentReader, addresses: readonly string[] = []): string | undefined {
  const file = addresses.find(isFileName);
  if (file !== undefined)
    args.fault(`${TAKES_EVERY_WORD}, and took ${file}, a file: give it before --address, or after -- (-- ${file})`);
  return file;
}

function isFileName(word: string): boolean {
  return word === STDIN || /\.json$/i.test(word);
}

function refuseApps(args: ArgumentReader, apps: readonly string[] = []): void {
  for (const app of apps.filter(isFileName))
    args.fault(`--app ${app}: a file, and the name of an application is wanted`);
  args.refuseTwice("--app", apps);
}

function refuseCombinations(args: ArgumentReader, flags: VerifyFlags, isBundle: boolean): void {
  refuseUnsaidPolicy(args, isBundle);
  if (flags.trustAnchor !== undefined && args.has("policy"))
    args.fault('--trust-anchor goes with --no-policy or --bundle-policy: a policy names its own, as "trustAnchors"');
  refuseBeside(args, "attestation", "is for a bare document", [
    "boot-proof",
    "app-proof",
    "activity",
    "ephemeral-key",
    "activity-id",
    "organization-id",
    "request",
    "address",
  ]);
  refuseBeside(args, "app", "fetches all that it verifies", [
    "boot-proof",
    "app-proof",
    "activity",
    "activity-id",
    "ephemeral-key",
    "attestation",
    "request",
    "address",
  ]);
  refuseApps(args, flags.app);
  refuseBeside(args, "activity-id", "asks for an activity", ["ephemeral-key"]);
  refuseWithoutActivity(args, flags, isBundle);
}

function refuseUnsaidPolicy(args: ArgumentReader, isBundle: boolean): void {
  if (args.has("bundle-policy") && !isBundle)
    args.fault("--bundle-policy: the policy inside a bundle, and no bundle is given");
  if (choosesPolicy(args)) return;
  if (isBundle) args.fault(WHY_A_POLICY_OF_A_BUNDLE);
  else args.fault(WHY_A_POLICY, PIN_FIRST);
}

/** Options that say what was asked of an activity need an activity; whose evidence it is, more than boot proofs. */
function refuseWithoutActivity(args: ArgumentReader, flags: VerifyFlags, isBundle: boolean): void {
  if (args.has("boot-proof") && args.has("organization-id") && asksForBootProofsOnly(args)) args.fault(NO_ORGANIZATION);
  if (isBundle || flags.activity !== undefined) return;
  const isFetched = flags.activityId !== undefined && !args.has("boot-proof") && !args.has("app-proof");
  for (const name of ["activity-id", "request"]) {
    if (args.has(name) && !isFetched)
      args.fault(`--${name}: asked of an activity, and none is given: --activity FILE is wanted`);
  }
}

function refuseBeside(args: ArgumentReader, option: string, what: string, names: readonly string[]): void {
  const others = args.has(option) ? names.filter((name) => args.has(name)) : [];
  if (others.length > 0)
    args.fault(`--${option} ${what}, and does not go with ${others.map((name) => `--${name}`).join(", ")}`);
}

/** Where the evidence comes from; undefined where there is a fault. */
function sourceOf(args: ArgumentReader, flags: VerifyFlags, bundle: string | undefined, io: Io): Source | undefined {
  const given = givenSource(args, flags, bundle);
  const fetched = given === undefined ? fetchedSource(flags) : undefined;
  if (fetched === undefined) refuseIdleConnection(args);
  if (given !== undefined) return given;
  if (fetched === undefined || !isConfigured(args, io)) args.fault(WHAT_IS_THERE + perhapsTaken(flags.address));
  const connection = fetched && connectionOf(args, flags, io);
  return connection && { ...fetched, connection };
}

/** What is there; undefined where nothing is that could be verified. */
function givenSource(args: ArgumentReader, flags: VerifyFlags, bundle: string | undefined): Source | undefined {
  const { attestation, bootProof } = flags;
  const demandsOrganization = args.has("organization-id");
  if (bundle !== undefined) return { kind: "bundle", file: bundle, demandsOrganization };
  if (attestation !== undefined) return { kind: "attestation", file: attestation };
  return bootProof && { kind: "files", files: filesOf(flags), demandsOrganization };
}

type WithoutConnection<S> = S extends { readonly connection: unknown } ? Omit<S, "connection"> : never;

/** What is to be fetched: the boot proof of a key, or what an activity lacks; undefined where neither is named. */
function fetchedSource(flags: VerifyFlags): WithoutConnection<Source> | undefined {
  const { activity, activityId, app, ephemeralKey, appProof = [] } = flags;
  if (app !== undefined) return { kind: "apps", apps: app };
  if (ephemeralKey !== undefined)
    return { kind: "key", ephemeralKey: ephemeralKey.toLowerCase(), files: filesOf(flags) };
  const isOfActivity = (activityId !== undefined || activity !== undefined) && appProof.length === 0;
  return isOfActivity ? { kind: "activity", activityId, file: activity } : undefined;
}

function filesOf({ bootProof = [], appProof = [], activity }: VerifyFlags): EvidenceFiles {
  return { bootProofs: bootProof, appProofs: appProof, activity };
}

function refuseIdleConnection(args: ArgumentReader): void {
  const idle = connectionOptionsGiven(args).filter((name) => name !== "organization-id");
  if (idle.length > 0)
    args.fault(
      `${idle.map((name) => `--${name}`).join(", ")}: nothing is fetched here, only with --app, with ` +
        `--activity-id, or with --ephemeral-key alone`,
    );
}

/** What may have become of the bundle, whose file may have any name. */
function perhapsTaken(addresses: readonly string[] = []): string {
  if (addresses.length < 2) return "";
  return ` ${TAKES_EVERY_WORD}: if ${addresses.at(-1)!} is the bundle, give it before --address, or after --.`;
}

/** The question; a bare document takes none. */
function expectedOf(args: ArgumentReader, flags: VerifyFlags, io: Io): ExpectedFlags {
  const { activityId, address: addresses, request } = flags;
  const organizationId = args.has("attestation") ? undefined : organizationOf(flags, io);
  if (!args.has("attestation") && !asksForBootProofsOnly(args)) refuseEmptyOrganization(args, io);
  if (activityId !== undefined && organizationId === undefined && request === undefined) {
    args.fault("--activity-id: whose activity? Give --organization-id (or BOOTPROOF_ORGANIZATION_ID)");
  }
  if (addresses !== undefined && organizationId === undefined && request === undefined) {
    args.fault("--address: whose addresses? Give --organization-id, or the request with --request");
  }
  return { organizationId, activityId, addresses, request };
}

function verifyOptions(args: ArgumentReader, flags: VerifyFlags, io: Io): VerifyRequest["options"] {
  const at =
    flags.at === undefined || flags.at === "document" || flags.at === "now"
      ? flags.at
      : args.time("--at", flags.at, "document, now, or ");
  const now = flags.now === undefined ? io.now() : args.time("--now", flags.now);
  const ephemeralKey = flags.ephemeralKey === undefined ? undefined : ephemeralKeyOf(args, flags.ephemeralKey);
  const nonce = flags.nonce === undefined ? undefined : nonceOf(args, flags.nonce);
  return {
    now: now ?? io.now(),
    ...(at !== undefined && { at }),
    ...(ephemeralKey && { ephemeralKey }),
    ...(nonce && { nonce }),
    ...(flags.allowDebug === true && { allowDebug: true }),
  };
}

/** Read before anything is fetched or verified: a key that cannot sign is not worth the wait. */
async function earKeyOf({ earKey }: VerifyRequest, io: Io): Promise<SigningJwk | undefined> {
  if (earKey === undefined) return undefined;
  const { readEarKey } = await import("./ear-key.js");
  return readEarKey(earKey, io);
}

async function verify(request: VerifyRequest, io: Io): Promise<VerifiedSource> {
  const { cryptography } = await import("../verify/cryptography.js");
  // Chosen while files are read, partly on another thread. Where that fails, verification fails, and says so.
  void Promise.resolve(cryptography()).catch(() => undefined);
  const library = await import("../bootproof.js");
  const { judge, readExpected } = await import("./evidence.js");
  const files = new InputFiles(io);
  const policy = typeof request.policy === "string" ? await readPolicy(files, request.policy) : undefined;
  const anchor = request.trustAnchor === undefined ? undefined : await readTrustAnchor(files, request.trustAnchor);
  const expected = await readExpected(files, request.expected);
  const measurements = request.image === undefined ? undefined : await readImage(files, request.image, io);
  // What is wrong with files is told before anything is fetched.
  if ("connection" in request.source) files.throwFaults();
  return judge(
    request.source,
    {
      ...request.options,
      ...(expected && { expected }),
      ...(measurements && { measurements }),
      policy: request.policy === false ? library.NO_POLICY_ANY_ENCLAVE : policy,
      ...(anchor && { trustAnchors: [anchor] }),
    },
    files,
    io,
  );
}

async function readImage(files: InputFiles, path: string, io: Io): Promise<VerifyOptions["measurements"]> {
  const { measuredImage } = await import("./built.js");
  return (await measuredImage(files, path, io))?.pcrs;
}

async function readPolicy(files: InputFiles, path: string): Promise<Policy | undefined> {
  const { parsePolicy } = await import("../appraise/policy.js");
  const bytes = await ofKind(files, path, await files.bytes(path), { command: "verify", option: "--policy" });
  return bytes && files.decoded(path, () => parsePolicy(bytes, { readFile: readerBeside(path) }));
}

/** The trust anchor of a PEM file, named after the file. */
export async function readTrustAnchor(
  files: InputFiles,
  path: string,
  command: FileCommand = "verify",
): Promise<TrustAnchor | undefined> {
  const { parseTrustAnchor } = await import("../verify/trust-anchor.js");
  const bytes = await ofKind(files, path, await files.bytes(path), { command, option: "--trust-anchor" });
  const pem = bytes && (fromUtf8(bytes) ?? files.fault(path, "not PEM text (openssl x509 -inform der writes it)"));
  return pem === undefined ? undefined : files.decoded(path, () => parseTrustAnchor(path, pem));
}

async function rendered(
  judged: VerifiedSource,
  {
    format,
    detail,
    earKey,
  }: { readonly format: ReportFormat; readonly detail: Detail; readonly earKey: SigningJwk | undefined },
  io: Io,
): Promise<string> {
  const [{ REPORT_RENDERERS }, { POLICY_CHOSEN_BY_MAKER }] = await Promise.all([
    import("../formats/reports.js"),
    import("../bundle/text.js"),
  ]);
  // Whoever reads only the verdict is told whose policy it was.
  if (format !== "text" && judged.bundle?.policyFrom === "bundle")
    io.stderr.write(`warning: ${POLICY_CHOSEN_BY_MAKER}\n`);
  if (format === "ear" && earKey === undefined) io.stderr.write(UNSIGNED);
  if (format === "vsa") await warnOfFailed(judged, io);
  const options = { ...textOptions(io), detail, earKey };
  const { GITHUB_STEP_SUMMARY: summary = "" } = io.env;
  if (format === "github" && summary !== "") {
    const { appendStepSummary } = await import("./step-summary.js");
    appendStepSummary(summary, await REPORT_RENDERERS.markdown(judged, options), io);
  }
  if (format === "html") return pageOf(judged, (one) => REPORT_RENDERERS.html(one, options));
  return REPORT_RENDERERS[format](judged, options);
}

/** No page is made that `page --verify` would not read. */
async function pageOf(
  judged: VerifiedSource,
  render: (judged: VerifiedSource) => string | Promise<string>,
): Promise<string> {
  try {
    return await render(judged);
  } catch (error) {
    // What makes pages is loaded from a file of its own, with a class of its own.
    if (!(error instanceof Error && error.name === "MalformedError")) throw error;
    throw new UsageError([`--format html: ${error.message}`]);
  }
}

/** The exit code is good, and the statement says that nothing passed. */
async function warnOfFailed({ report, bundle }: VerifiedSource, io: Io): Promise<void> {
  const { whyNotPassed } = await import("../formats/results.js");
  const why = whyNotPassed(report, bundle);
  if (report.verdict !== "rejected" && why !== null)
    io.stderr.write(`warning: the statement says FAILED: ${why}. What passes a policy of yours says PASSED.\n`);
}
