/** `bootproof verify`: evidence from files, held against a policy; the report on stdout, the verdict as exit code. */
import type { Command } from "commander";
import type { Policy } from "../appraise/policy.js";
import type { VerifyOptions } from "../bootproof.js";
import { fromHex } from "../bytes.js";
import { MAX_APP_PROOFS, appProofList } from "../decode/app-proof.js";
import { unarmoured } from "../decode/armour.js";
import { unwrap } from "../decode/boot-proof.js";
import type { Report } from "../report/report.js";
import type { TrustAnchor } from "../verify/trust-anchor.js";
import { exitCodeOf } from "./exit-codes.js";
import { InputFiles, readerBeside } from "./files.js";
import { type Io, wantsColor } from "./io.js";
import { ArgumentReader, type Format } from "./options.js";

const EPHEMERAL_KEY_BYTES = 130;

interface VerifyFlags {
  readonly bootProof?: string[];
  readonly appProof?: string[];
  readonly activity?: string;
  readonly attestation?: string;
  readonly policy?: string | false;
  readonly ephemeralKey?: string;
  readonly at?: string;
  readonly now?: string;
  readonly allowDebug?: boolean;
  readonly trustAnchor?: string;
  readonly format?: string;
}

/** A command line that makes sense. */
interface VerifyRequest {
  readonly bootProofs: readonly string[];
  readonly appProofs: readonly string[];
  readonly activity: string | undefined;
  readonly attestation: string | undefined;
  /** Undefined: none, as the caller said in so many words. */
  readonly policy: string | undefined;
  readonly trustAnchor: string | undefined;
  readonly options: Omit<VerifyOptions, "policy" | "trustAnchors">;
  readonly format: Format;
}

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

Exit codes: 0 verified (or authentic, with --no-policy), 1 rejected, 2 wrong usage or unreadable file.`;

const WHY_A_POLICY = `--policy FILE or --no-policy is wanted: without a policy the enclave of anybody, running anything, is accepted.
  Pin the deployment that you expect, read what was pinned, and verify against it:
    $ bootproof pin --boot-proof boot.json > policy.json
  With --no-policy the answer is at best "authentic": a genuine enclave, no matter whose.`;

export function addVerifyCommand(program: Command, io: Io, finish: (code: number) => void): void {
  const command = program
    .command("verify")
    .summary("verify boot proofs, app proofs and activities")
    .description("Verify which code in which enclave made a result, and whether it is what a policy pins. FILE may be - for stdin, once.")
    .option("--boot-proof <file...>", "boot proofs: JSON, bare or as {\"bootProof\": …}")
    .option("--app-proof <file...>", "app proofs: JSON, one, an array, or {\"appProofs\": […]}; each finds its boot proof by key")
    .option("--activity <file>", "an activity with its app proofs: JSON, bare or as {\"activity\": …}")
    .option("--attestation <file>", "in place of --boot-proof: a bare attestation document, binary, base64 or hex")
    .option("--policy <file>", "the policy that pins what is expected (see bootproof pin)")
    .option("--no-policy", "accept any genuine enclave of anybody: the verdict is \"authentic\" at best")
    .option("--ephemeral-key <hex>", "the key that was asked for: each boot proof has to attest it")
    .option("--at <when>", "the moment certificates are held against: document, now, or an RFC 3339 time (default: document)")
    .option("--now <time>", "RFC 3339: the present by which ages are counted, for audits that repeat (default: the clock)")
    .option("--allow-debug", "let debug mode pass with a warning: nothing about its code is proven")
    .option("--trust-anchor <file>", "with --no-policy: a PEM certificate in place of the AWS Nitro root")
    .option("--format <format>", "text or json (default: text)")
    .allowExcessArguments()
    .usage("--boot-proof FILE… [--app-proof FILE…] [--activity FILE] (--policy FILE | --no-policy) [options]")
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async (flags: VerifyFlags) => {
    const request = requestOf(args, command.args, flags, io);
    const report = await verify(request, io);
    io.stdout.write(await rendered(report, request.format, io));
    finish(exitCodeOf(report.verdict));
  });
}

function requestOf(args: ArgumentReader, stray: readonly string[], flags: VerifyFlags, io: Io): VerifyRequest {
  const { bootProof = [], appProof = [], activity, attestation, policy, trustAnchor } = flags;
  for (const file of stray) args.fault(`${file}: what is it? Give it after --boot-proof, --app-proof, --activity or --policy`);
  refuseCombinations(args, flags);
  args.refuseRepeated();
  args.refuseRepeatedStdin([...bootProof, ...appProof, activity, attestation, policy || undefined, trustAnchor]);
  const format = args.format(flags.format);
  const options = verifyOptions(args, flags, io);
  args.settle();
  return { bootProofs: bootProof, appProofs: appProof, activity, attestation, policy: policy || undefined, trustAnchor, options, format };
}

function refuseCombinations(args: ArgumentReader, flags: VerifyFlags): void {
  const withPolicy = args.has("policy");
  const withoutPolicy = args.has("no-policy");
  if (!withPolicy && !withoutPolicy) args.fault(WHY_A_POLICY);
  if (withPolicy && withoutPolicy) args.fault("--policy and --no-policy contradict each other: give one");
  if (flags.trustAnchor !== undefined && withPolicy) {
    args.fault('--trust-anchor goes with --no-policy only: a policy names its own, as "trustAnchors"');
  }
  if (flags.attestation === undefined) {
    if (flags.bootProof === undefined) args.fault("--boot-proof FILE (or --attestation FILE) is wanted: what is there to verify?");
    return;
  }
  const others = ["boot-proof", "app-proof", "activity", "ephemeral-key"].filter((name) => args.has(name));
  if (others.length > 0) {
    args.fault(`--attestation is for a bare document, and does not go with ${others.map((name) => `--${name}`).join(", ")}`);
  }
}

function verifyOptions(args: ArgumentReader, flags: VerifyFlags, io: Io): VerifyRequest["options"] {
  const at = flags.at === undefined || flags.at === "document" || flags.at === "now" ? flags.at : args.time("--at document, now or", flags.at);
  const now = flags.now === undefined ? io.now() : args.time("--now", flags.now);
  const ephemeralKey = flags.ephemeralKey === undefined ? undefined : keyOf(args, flags.ephemeralKey);
  return {
    now: now ?? io.now(),
    ...(at !== undefined && { at }),
    ...(ephemeralKey && { ephemeralKey }),
    ...(flags.allowDebug === true && { allowDebug: true }),
  };
}

function keyOf(args: ArgumentReader, text: string): Uint8Array | undefined {
  const key = fromHex(text);
  if (key?.length === EPHEMERAL_KEY_BYTES) return key;
  const found = /^[0-9a-fA-F]*$/.test(text) ? `${text.length} hex digits` : "not hex";
  return args.fault(`--ephemeral-key: ${found}, ${2 * EPHEMERAL_KEY_BYTES} hex digits wanted`);
}

async function verify(request: VerifyRequest, io: Io): Promise<Report> {
  const library = await import("../bootproof.js");
  const files = new InputFiles(io);
  const policy = request.policy === undefined ? undefined : await readPolicy(files, request.policy);
  const anchor = request.trustAnchor === undefined ? undefined : await readTrustAnchor(files, request.trustAnchor);
  const options: VerifyOptions = {
    ...request.options,
    policy: policy ?? library.NO_POLICY_ANY_ENCLAVE,
    ...(anchor && { trustAnchors: [anchor] }),
  };
  if (request.attestation !== undefined) {
    const document = await files.bytes(request.attestation);
    files.settle();
    return (await library.verifyAttestation(unarmoured(document!).bytes, options)).report;
  }
  const bootProofs = await files.jsonOfAll(request.bootProofs);
  const appProofs: unknown[] = [];
  for (const path of request.appProofs) appProofs.push(...bounded(files, path, appProofList(await files.json(path))));
  const activity = request.activity === undefined ? undefined : await files.json(request.activity);
  if (activity !== undefined) bounded(files, request.activity!, appProofList(unwrap(activity, "activity")));
  files.settle();
  const evidence = { bootProofs, appProofs, ...(activity !== undefined && { activity }) };
  return (await library.verifyEvidence(evidence, options)).report;
}

/** Each entry is judged and told on its own: a file of nothing but commas would keep the machine busy for minutes. */
function bounded(files: InputFiles, path: string, appProofs: unknown[]): unknown[] {
  if (appProofs.length <= MAX_APP_PROOFS) return appProofs;
  files.fault(path, `a list of ${appProofs.length}, which cannot all be app proofs: at most ${MAX_APP_PROOFS} fit into 1 MiB`);
  return [];
}

async function readPolicy(files: InputFiles, path: string): Promise<Policy | undefined> {
  const { parsePolicy } = await import("../appraise/policy.js");
  const bytes = await files.bytes(path);
  return bytes && files.decoded(path, () => parsePolicy(bytes, { readFile: readerBeside(path) }));
}

/** The trust anchor of a PEM file, named after the file. */
export async function readTrustAnchor(files: InputFiles, path: string): Promise<TrustAnchor | undefined> {
  const { parseTrustAnchor } = await import("../verify/trust-anchor.js");
  const pem = await files.text(path);
  return pem === undefined ? undefined : files.decoded(path, () => parseTrustAnchor(path, pem));
}

async function rendered(report: Report, format: Format, io: Io): Promise<string> {
  if (format === "json") return (await import("../report/json.js")).renderJson(report);
  return (await import("../report/text.js")).renderText(report, { color: wantsColor(io) });
}
