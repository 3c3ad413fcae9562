/** `bootproof pin`: a policy on stdout, from evidence that has just been verified, or from a published release. */
import type { Command } from "commander";
import type { MadePolicy, ReleaseOptions } from "../appraise/pin.js";
import type { VerifyOptions } from "../bootproof.js";
import { fromHex } from "../bytes.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { listed } from "../errors.js";
import type { Report } from "../report/report.js";
import { COMMITMENT_KINDS, type CommitmentKind } from "../verify/commitment.js";
import { printable } from "../report/printable.js";
import { EXIT, exitCodeOf } from "./exit-codes.js";
import { InputFiles } from "./files.js";
import { type Io, messageOptions } from "./io.js";
import { ArgumentReader, nonceOf } from "./options.js";
import { readTrustAnchor } from "./verify.js";

interface PinFlags {
  readonly bootProof?: string;
  readonly release?: string;
  readonly app?: string;
  readonly trustAnchor?: string;
  readonly name?: string;
  readonly allowDebug?: boolean;
  readonly nonce?: string;
  readonly commitment?: string;
  readonly manifestSet?: string;
  readonly quorumKey?: string;
  readonly namespace?: string;
}

const EXAMPLES = `
Examples:
  From a boot proof, which is verified first: read what was pinned before you rely on it.
    $ bootproof pin --boot-proof boot.json --name "signer, production" > policy.json

  From the measurements that a service publishes with a release:
    $ bootproof pin --release r2025.9.3.yaml --app signer > policy.json

  A release does not say whose deployment it is: who may approve its manifests, or which quorum key it holds, does.
    $ bootproof pin --release r2025.9.3.yaml --app signer --manifest-set operators.json > policy.json

Exit codes: 0 pinned, 1 the evidence was rejected, 2 wrong usage or unreadable file.`;

export function addPinCommand(program: Command, io: Io, finish: (code: number) => void): void {
  const command = program
    .command("pin")
    .summary("write a policy that pins a deployment")
    .description(
      "Write a policy to stdout: from a boot proof whose authenticity is verified first, or from a published release.",
    )
    .option("--boot-proof <file>", 'the boot proof of the deployment: JSON, bare or as {"bootProof": …}; - for stdin')
    .option(
      "--trust-anchor <file>",
      "with --boot-proof: a PEM certificate in place of the AWS Nitro root; the policy names it",
    )
    .option("--release <file>", "a published release: YAML, for each application its binary's digest and PCRs")
    .option("--app <name>", "with --release: the application to pin")
    .option("--commitment <kind>", `with --release: ${COMMITMENT_KINDS.join(", ")}; live where it is not given`)
    .option(
      "--manifest-set <file>",
      'with --release: who approves manifests, JSON {"threshold": n, "members": ["hex", …]}',
    )
    .option("--quorum-key <hex>", "with --release: the quorum key of the deployment, 130 bytes")
    .option("--namespace <name>", "with --release: the namespace that the manifest set approves manifests for")
    .option("--allow-debug", "with --boot-proof: pin a debug deployment; the policy then allows debug mode")
    .option("--nonce <hex>", "with --boot-proof: the nonce that was asked for; it is not pinned")
    .option("--name <name>", "the policy's name, which reports show")
    .usage("--boot-proof FILE [--trust-anchor FILE] | --release FILE --app NAME")
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async (flags: PinFlags) => {
    refuseCombinations(args, flags);
    finish(flags.release === undefined ? await pinBootProof(flags, io) : await pinRelease(flags, io));
  });
}

/** The options that go with one of the two sources only. */
const GOES_WITH: Readonly<Record<string, "boot-proof" | "release">> = {
  app: "release",
  commitment: "release",
  "manifest-set": "release",
  "quorum-key": "release",
  namespace: "release",
  "trust-anchor": "boot-proof",
  "allow-debug": "boot-proof",
  nonce: "boot-proof",
};

function refuseCombinations(args: ArgumentReader, flags: PinFlags): void {
  const { bootProof, release, app, trustAnchor, manifestSet } = flags;
  if (bootProof === undefined && release === undefined)
    args.fault("--boot-proof FILE or --release FILE is wanted: what is there to pin?");
  if (bootProof !== undefined && release !== undefined)
    args.fault("--boot-proof and --release do not go together: give one");
  if (release !== undefined && app === undefined)
    args.fault("--release needs --app NAME: which application of the release?");
  const source = release === undefined ? "boot-proof" : "release";
  for (const [option, own] of Object.entries(GOES_WITH))
    if (own !== source && args.has(option)) args.fault(`--${option} goes with --${own} only`);
  refuseValues(args, flags);
  args.refuseRepeated();
  args.refuseRepeatedStdin([bootProof, release, trustAnchor, manifestSet]);
  args.throwFaults();
}

function refuseValues(args: ArgumentReader, { commitment, quorumKey, nonce }: PinFlags): void {
  if (commitment !== undefined && !isCommitmentKind(commitment))
    args.fault(`--commitment ${commitment}: one of ${COMMITMENT_KINDS.join(", ")} wanted`);
  if (quorumKey !== undefined && fromHex(quorumKey)?.length !== QOS_PUBLIC_KEY_LENGTH)
    args.fault(`--quorum-key: ${QOS_PUBLIC_KEY_LENGTH} bytes of hex wanted`);
  if (nonce !== undefined) nonceOf(args, nonce);
}

async function pinBootProof(flags: PinFlags, io: Io): Promise<number> {
  const library = await import("../bootproof.js");
  const files = new InputFiles(io);
  const bootProof = await files.json(flags.bootProof!);
  const anchor = flags.trustAnchor === undefined ? undefined : await readTrustAnchor(files, flags.trustAnchor);
  files.throwFaults();
  const options: VerifyOptions = {
    policy: library.NO_POLICY_ANY_ENCLAVE,
    now: io.now(),
    allowDebug: flags.allowDebug === true,
    ...(flags.nonce !== undefined && { nonce: fromHex(flags.nonce)! }),
    ...(anchor && { trustAnchors: [anchor] }),
  };
  const { report, bootProofs } = await library.verifyEvidence({ bootProofs: [bootProof] }, options);
  const [verified] = bootProofs;
  if (!verified) return refuse(report, io);
  const { makePolicy } = await import("../appraise/pin.js");
  const made = makePolicy(verified, flags.name === undefined ? {} : { name: flags.name });
  writePolicy(made, io);
  io.stderr.write(adviceOnPinning(report, made.notes));
  return EXIT.good;
}

async function refuse(report: Report, io: Io): Promise<number> {
  const { renderFailures } = await import("../report/text.js");
  io.stderr.write(`Not pinned.\n${renderFailures(report, messageOptions(io))}`);
  return exitCodeOf(report.verdict);
}

function adviceOnPinning(report: Report, notes: readonly string[]): string {
  const warnings = report.checks.filter((check) => check.status === "warn");
  return [
    "Pinned what this boot proof shows, whoever's enclave it is: " +
      "compare it with a source you trust before you rely on it.",
    ...warnings.map((check) => `warning: ${check.id}: ${printable(check.detail)}`),
    ...scopeWarnings(notes),
    "",
  ].join("\n");
}

/** What the report of every later verification will say, too. */
function scopeWarnings(notes: readonly string[]): string[] {
  return notes.map((note) => `warning: policy.scope: ${printable(note)}`);
}

async function pinRelease(flags: PinFlags, io: Io): Promise<number> {
  const { makeReleasePolicy, memberSetFile } = await import("../appraise/pin.js");
  const path = flags.release!;
  const files = new InputFiles(io);
  const text = await files.text(path, MAX_RELEASE_BYTES);
  const release = text === undefined ? undefined : await parseYaml(files, path, text);
  const manifestSet = flags.manifestSet === undefined ? undefined : await files.json(flags.manifestSet);
  files.throwFaults();
  const options: ReleaseOptions = {
    ...(flags.name !== undefined && { name: flags.name }),
    ...(isCommitmentKind(flags.commitment) && { commitment: flags.commitment }),
    ...(manifestSet !== undefined && { manifestSet: memberSetFile(manifestSet) }),
    ...(flags.quorumKey !== undefined && { quorumKey: flags.quorumKey }),
    ...(flags.namespace !== undefined && { namespace: flags.namespace }),
  };
  const made = files.decoded(path, () => makeReleasePolicy(release, flags.app!, options));
  files.throwFaults();
  writePolicy(made!, io);
  io.stderr.write(
    [
      "Pinned what the release file says, which is worth what its source is: nothing of it was verified.",
      ...scopeWarnings(made!.notes),
      ...(made!.notes.length > 0 ? [RELEASE_REMEDY] : []),
      "",
    ].join("\n"),
  );
  return EXIT.good;
}

/**
 * What the options of this command close of the questions (appraise/README.md, "What a deployment has to pin").
 */
const RELEASE_REMEDY =
  "A release names image, program and role only. Of a live document, --quorum-key HEX or --manifest-set FILE says " +
  "whose " +
  "deployment it is; of a legacy one --manifest-set FILE and --namespace NAME together do.";

function isCommitmentKind(text: string | undefined): text is CommitmentKind {
  return COMMITMENT_KINDS.some((kind) => kind === text);
}

/** Half a kilobyte is an application of a release. What YAML makes of a text takes a thousand times its size. */
const MAX_RELEASE_BYTES = 65_536;

/** Every scalar as text: a digest of decimal digits alone is no number. */
async function parseYaml(files: InputFiles, path: string, text: string): Promise<unknown> {
  const { LineCounter, isScalar, parseDocument, visit } = await import("./yaml.js");
  const lineCounter = new LineCounter();
  const faults: string[] = [];
  const fault = (offset: number | undefined, message: string): void => {
    const { line, col } = lineCounter.linePos(offset ?? 0);
    faults.push(`${message} at line ${line}, column ${col}`);
  };
  // Its own search for keys that are there twice compares each with each.
  const document = parseDocument(text, { schema: "failsafe", prettyErrors: false, uniqueKeys: false, lineCounter });
  for (const { message, pos } of document.errors) fault(pos[0], message);
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) faults.push("a map whose key is no text");
        else if (seen.has(key.value)) fault(key.range?.[0], "Map keys must be unique");
        else seen.add(key.value);
      }
    },
    Alias: (_, alias) => fault(alias.range?.[0], "an alias, which is not followed"),
  });
  return faults.length > 0 ? files.fault(path, `not YAML: ${listed(faults, "; ")}`) : document.toJS();
}

function writePolicy({ policy }: MadePolicy, io: Io): void {
  io.stdout.write(`${JSON.stringify(policy, undefined, 2)}\n`);
}
