/**
 * `bootproof pin`: a policy, from evidence that has just been verified, from a published release, or from what was
 * built; new, or in one that is there.
 */
import type { Command } from "commander";
import type { MadePolicy } from "../appraise/pin.js";
import type { ParsePolicyOptions } from "../appraise/policy.js";
import { equalBytes, fromHex, toHex, toUtf8 } from "../bytes.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { type Fault, attempt, faultText, listed } from "../errors.js";
import { COMMITMENT_KINDS } from "../verify/commitment.js";
import { jsonDocument } from "../report/json.js";
import { printable } from "../report/printable.js";
import { EXIT } from "./exit-codes.js";
import { InputFiles, STDIN, readerBeside } from "./files.js";
import { type Io, UsageError } from "./io.js";
import type { FilePlace } from "./kinds.js";
import { ArgumentReader, nonceOf } from "./options.js";
import { type PolicySource, readPolicyFile } from "./policy.js";
import { type PinFlags, isCommitmentKind, pinnedFrom } from "./pin-sources.js";
import { areFolders } from "./release-folders.js";
import { isSameFile, requireWritable, writeWhole } from "./write-whole.js";

/** The sources that no enclave vouches for. */
const OF_NO_EVIDENCE = "with --release, --image or --binary";

const EXAMPLES = `
FILE is written whole or not at all: where nothing is pinned, it stays as it was. (A shell empties the file after >
before the command begins.)

Examples:
  From a boot proof, which is verified first: read what was pinned before you rely on it.
    $ bootproof pin --boot-proof boot.json --name "signer, production" --out policy.json
    $ bootproof policy check policy.json

  Several at once; what pins the same stands in the policy once:
    $ bootproof pin --boot-proof signer.json notarizer.json bundle.json --out policy.json

  A roll-out: the new deployment beside the old one, until the old one is dropped. What is there already is not added.
    $ bootproof pin --boot-proof new.json --add-to policy.json
    $ bootproof policy drop policy.json "prod/signer nonce 7"

  From published releases with their operators' approvals, which are verified first:
    $ bootproof pin --release core-enclaves/releases/2026.9.0 --app signer --out policy.json
    $ bootproof pin --release releases/2026.9.1 --app signer --add-to policy.json

  From the measurements that a service publishes with a release:
    $ bootproof pin --release r2025.9.3.yaml --app signer --out policy.json

  A release does not say whose deployment it is: who may approve its manifests, or which quorum key it holds, does.
    $ bootproof pin --release r2025.9.3.yaml --app signer --manifest-set operators.json --out policy.json

  From what you built, before any enclave runs it, in a role of your account:
    $ bootproof pin --image app.eif --binary app --manifest-set operators.json --namespace prod/signer \\
        --role-arn arn:aws:iam::123456789012:role/signer --out policy.json

Exit codes: 0 pinned, 1 the evidence was rejected, 2 wrong usage or unreadable file.`;

export function addPinCommand(program: Command, io: Io, finish: (code: number) => void): void {
  const command = program
    .command("pin")
    .summary("write a policy that pins deployments, or add one to a policy")
    .description(
      "Write a policy: from boot proofs whose authenticity is verified first, or from a published release. It goes " +
        "to stdout, or to --out FILE; with --add-to POLICY into that policy.",
    )
    .option(
      "--boot-proof <file...>",
      'boot proofs of the deployments: JSON, one, bare or as {"bootProof": …}, an array, or those of a bundle; - for ' +
        "stdin",
    )
    .option(
      "--trust-anchor <file...>",
      "PEM certificates in place of the AWS Nitro root: with --boot-proof the policy names what was needed, with " +
        "--image or --binary all of them",
    )
    .option(
      "--release <path...>",
      "published releases: folders, whose approvals are verified first; or one YAML file, of an application's digest and " +
        "PCRs",
    )
    .option("--app <name>", "with --release: the application to pin")
    .option("--pcrs <file>", "in place of --image: its PCRs as published, QOS's nitro.pcrs or what nitro-cli prints")
    .option("--image <file>", "an enclave image that was built: its PCR0, 1 and 2, and PCR8 where it is signed")
    .option("--binary <file>", "the application binary that was built: its SHA-256, which manifests name")
    .option("--role-arn <arn>", "with --image: the IAM role of the instance that the enclave runs on, PCR3")
    .option("--commitment <kind>", `${OF_NO_EVIDENCE}: ${COMMITMENT_KINDS.join(", ")}; live where it is not given`)
    .option(
      "--manifest-set <file>",
      `${OF_NO_EVIDENCE}: who approves manifests, JSON {"threshold": n, "members": ["hex", …]}`,
    )
    .option("--quorum-key <hex>", `${OF_NO_EVIDENCE}: the quorum key of the deployment, 130 bytes`)
    .option("--namespace <name>", `${OF_NO_EVIDENCE}: the namespace that the manifest set approves manifests for`)
    .option("--allow-debug", "with --boot-proof: pin debug deployments; the policy then allows debug mode")
    .option("--nonce <hex>", "with --boot-proof: the nonce that was asked for; it is not pinned")
    .option("--app-proof-type <type...>", "the types of app proof that what is pinned may sign (default: any)")
    .option("--name <name>", "the policy's name, which reports show")
    .option(
      "--out <file>",
      "the file to write, whole or not at all; one that is there is replaced (default: -, stdout)",
    )
    .option(
      "--add-to <policy>",
      "add to the deployments of this policy, and leave everything else of it as it is; --out writes elsewhere",
    )
    .usage(
      "(--boot-proof FILE… [--trust-anchor FILE…] | --release FILE --app NAME | --image FILE --binary FILE) " +
        "[--out FILE] [--add-to POLICY]",
    )
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async (flags: PinFlags) => {
    refuseCombinations(args, flags);
    finish(await pin(flags, io));
  });
}

/** What a policy can be made from: the options that name each. */
const SOURCES = { "boot-proof": ["boot-proof"], release: ["release"], build: ["image", "pcrs", "binary"] } as const;
type SourceName = keyof typeof SOURCES;
const SOURCE_NAMES = Object.keys(SOURCES) as readonly SourceName[];

const UNSEEN: readonly SourceName[] = ["release", "build"];
/** The options that do not go with every source. */
const GOES_WITH: Readonly<Record<string, readonly SourceName[]>> = {
  app: ["release"],
  "role-arn": ["build"],
  commitment: UNSEEN,
  "manifest-set": UNSEEN,
  "quorum-key": UNSEEN,
  namespace: UNSEEN,
  "trust-anchor": ["boot-proof", "build"],
  "allow-debug": ["boot-proof"],
  nonce: ["boot-proof"],
};

/** Where nothing is given, a boot proof is what is missing, and nothing else is told of its options. */
function sourceOf(args: ArgumentReader): SourceName {
  const given = SOURCE_NAMES.filter((name) => SOURCES[name].some((option) => args.has(option)));
  const options = given.flatMap((name) => SOURCES[name].filter((option) => args.has(option)));
  if (given.length === 0)
    args.fault("--boot-proof FILE, --release FILE or --image FILE is wanted: what is there to pin?");
  if (given.length > 1)
    args.fault(`${options.map((option) => `--${option}`).join(" and ")} do not go together: give one`);
  return given[0] ?? "boot-proof";
}

function refuseCombinations(args: ArgumentReader, flags: PinFlags): void {
  const source = sourceOf(args);
  if (source === "release" && flags.app === undefined)
    args.fault("--release needs --app NAME: which application of the release?");
  for (const [option, own] of Object.entries(GOES_WITH)) {
    const names = own.flatMap((name) => SOURCES[name].map((one) => `--${one}`)).join(", ");
    const either = names.replace(/, ([^,]+)$/, " or $1");
    if (!own.includes(source) && args.has(option)) args.fault(`--${option} goes with ${either} only`);
  }
  if (source === "build") refuseBuild(args, flags);
  if (source === "release") refuseReleases(args, flags);
  refuseValues(args, flags);
  refuseTargets(args, flags);
  args.refuseRepeated();
  args.refuseRepeatedStdin([...inputsOf(flags), flags.addTo]);
  args.throwFaults();
}

/** Folders say whose deployment they are of, and a file does not. */
function refuseReleases(args: ArgumentReader, { release = [] }: PinFlags): void {
  const folders = areFolders(release);
  const isMixed = folders.includes(true) && folders.includes(false);
  if (isMixed) args.fault("--release: folders and files do not go together");
  else if (folders[0] === false && release.length > 1) args.fault("--release is given twice: one file, or folders");
  if (folders[0] !== true) return;
  for (const option of ["quorum-key", "namespace"])
    if (args.has(option)) args.fault(`--${option} goes with a release's file: a folder's manifests say it themselves`);
}

/** What a binary runs in, the people say who approve its manifests, or nobody does. */
function refuseBuild(args: ArgumentReader, { image, pcrs, manifestSet, roleArn }: PinFlags): void {
  if (image !== undefined && pcrs !== undefined) args.fault("--image and --pcrs do not go together: give one");
  if (image !== undefined || pcrs !== undefined) return;
  if (manifestSet === undefined)
    args.fault(
      "--binary alone leaves open which image runs it, and any image can say that it runs this binary: give --image " +
        "FILE too, or --manifest-set FILE, whose members approve the image",
    );
  if (roleArn !== undefined) args.fault("--role-arn goes with --image only");
}

function refuseValues(args: ArgumentReader, { commitment, quorumKey, nonce, appProofType }: PinFlags): void {
  if (commitment !== undefined && !isCommitmentKind(commitment))
    args.fault(`--commitment ${commitment}: one of ${COMMITMENT_KINDS.join(", ")} wanted`);
  if (quorumKey !== undefined && fromHex(quorumKey)?.length !== QOS_PUBLIC_KEY_LENGTH)
    args.fault(`--quorum-key: ${QOS_PUBLIC_KEY_LENGTH} bytes of hex wanted`);
  if (nonce !== undefined) nonceOf(args, nonce);
  if (appProofType?.includes("")) args.fault("--app-proof-type: empty");
}

/** Where the policy goes. */
function refuseTargets(args: ArgumentReader, flags: PinFlags): void {
  const { out, addTo, name } = flags;
  if (name !== undefined && addTo !== undefined)
    args.fault("--name is of a new policy: the one of --add-to keeps its own");
  if (addTo === STDIN && out === undefined) args.fault("--add-to - needs --out FILE: stdin cannot be rewritten");
  if (out !== undefined && out !== STDIN && inputsOf(flags).some((input) => isSameFile(input, out)))
    args.fault(`--out ${out}: is read here, and would be lost`);
}

/** Every file that is read, but for the policy that is added to. */
function inputsOf(flags: PinFlags): string[] {
  const { bootProof = [], release = [], image, pcrs, binary, trustAnchor = [], manifestSet } = flags;
  const paths = [...bootProof, ...release, image, pcrs, binary, ...trustAnchor, manifestSet];
  return paths.filter((path) => path !== undefined);
}

const ADD_TO: FilePlace = { command: "pin", option: "--add-to" };

async function pin(flags: PinFlags, io: Io): Promise<number> {
  const target = flags.out ?? flags.addTo ?? STDIN;
  const verb = target === STDIN ? null : verbOf(requireWritable(target));
  const files = new InputFiles(io);
  const base = flags.addTo === undefined ? undefined : await readPolicyFile(files, flags.addTo, ADD_TO);
  const pinned = await pinnedFrom(flags, base, files, io);
  if (pinned === null) return EXIT.rejected;
  const result = base === undefined ? newPolicy(pinned.made) : await withAdded(base, pinned.made, target);
  const isUntouched = target === base?.path && equalBytes(toUtf8(result.text), base.bytes);
  if (!isUntouched) await deliver(result, target, io, base);
  const written = verb === null ? [] : [`${isUntouched ? "Unchanged" : verb}: ${target}, ${result.says}`];
  io.stderr.write([...written, ...pinned.messages, ...result.messages, ""].map(printable).join("\n"));
  return EXIT.good;
}

function verbOf(isThere: boolean): string {
  return isThere ? "Replaced" : "Written";
}

async function deliver({ text }: Result, target: string, io: Io, base: PolicySource | undefined): Promise<void> {
  if (target === STDIN) io.stdout.write(text);
  else await writeWhole(target, text, target === base?.path ? base.bytes : undefined);
}

interface Result {
  readonly text: string;
  readonly says: string;
  readonly messages: readonly string[];
}

function newPolicy({ policy }: MadePolicy): Result {
  const text = jsonDocument(policy);
  return { text, says: `which pins ${namesText(policy.deployments.map(({ name = "" }) => name))}`, messages: [] };
}

function namesText(names: readonly string[]): string {
  return listed(
    names.map((name) => JSON.stringify(name)),
    ", ",
  );
}

/** The policy with what was made. Throws {@link UsageError} where both together are none. */
async function withAdded(base: PolicySource, made: MadePolicy, target: string): Promise<Result> {
  const { addToPolicy } = await import("../appraise/edit.js");
  const edited = attempt(() => addToPolicy(base.bytes, made, base.options));
  if (edited.value === undefined) throw new UsageError(whyNotAdded(base.path, edited.faults));
  const { text, added, alreadyThere, notes } = edited.value;
  const elsewhere = target === base.path ? null : await anchorsElsewhere(base, text, target);
  if (elsewhere !== null && target !== STDIN) throw new UsageError([`${target}: not written: ${elsewhere}`]);
  const old = base.policy.deployments.map(({ name }) => name);
  return {
    text,
    says: added.length === 0 ? NOTHING_ADDED : `with ${namesText(added)} added beside ${namesText(old)}`,
    messages: [
      ...alreadyThere.map(
        ({ name, as }) => `not added: ${namesText([name])}, since ${namesText([as])} accepts the same`,
      ),
      ...[...notes, ...(elsewhere === null ? [] : [elsewhere])].map((note) => `warning: ${note}`),
    ],
  };
}

const NOTHING_ADDED = "with no deployment added: what was to be added is there already";

const TYPES_REMEDY =
  'Say of each deployment there what its application may sign, "appProofs": {"types": ["…"]}, and of the new one ' +
  "with --app-proof-type TYPE…";

function whyNotAdded(path: string, faults: readonly Fault[]): string[] {
  const asksForTypes = faults.some((fault) => fault.path.endsWith("appProofs.types"));
  return [
    `${path}: left as it was, since with what was to be added it would be no good policy:`,
    ...faults.map((one) => faultText([one])),
    ...(asksForTypes ? [TYPES_REMEDY] : []),
  ].map(printable);
}

/** Anchors that are named by file are looked for beside the policy: elsewhere they would be others, or none. */
async function anchorsElsewhere({ path, options }: PolicySource, text: string, target: string): Promise<string | null> {
  const { parsePolicy } = await import("../appraise/policy.js");
  const anchors = (readFile: ParsePolicyOptions): string =>
    attempt(() =>
      parsePolicy(text, readFile)
        .trustAnchors.map(({ certificate }) => toHex(certificate.der))
        .join(),
    ).value ?? "";
  if (anchors({ readFile: readerBeside(target) }) === anchors(options)) return null;
  return `its trust anchors are named by file, beside ${path}: put it into that folder, where they are found`;
}
