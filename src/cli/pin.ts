/** `bootproof pin`: makes a policy from verified evidence, a published release or a build, or adds to one. */
import type { MadePolicy } from "../appraise/pin.js";
import { jsonDocument } from "../report/json.js";
import { printable } from "../report/printable.js";
import { commandOf } from "./command.js";
import { CONNECTION_HELP, type Connection, connectionOf } from "./connection.js";
import { EXIT } from "./exit-codes.js";
import { type InputFiles, STDIN } from "./files.js";
import { type Io, UsageError } from "./io.js";
import { readPolicyFile } from "./option-files.js";
import { BUILD } from "./option-rules.js";
import type { Flags } from "./option-table.js";
import type { ArgumentReader } from "./options.js";
import { type AddedPolicy, failuresText, namesText, withAdded } from "./pin-add-to.js";
import { type Pinned, rejectedUnder } from "./pin-provenance.js";
import { pinnedFrom } from "./pin-sources.js";
import { areFolders } from "./release-folders.js";
import { deliverNew, refuseOut } from "./output.js";
import { isSameFile } from "./write-whole.js";

const EXAMPLES = `
FILE is written as a whole or not at all: if nothing is pinned, it does not change. (A shell empties the file after >
before the command starts.)

Examples:
  From published releases with their operators' approvals, which are verified first. Get the operators' keys elsewhere:
    $ bootproof pin --release core-enclaves/releases/2026.9.0 --app signer --manifest-set operators.json \\
        --out policy.json
    $ bootproof pin --release releases/2026.9.1 --app signer --add-to policy.json

  From boot proofs, which are verified first: the values come from the evidence itself, so compare them.
    $ bootproof pin --boot-proof boot.json --name "signer, production" --max-age 30d --out policy.json
    $ bootproof policy check policy.json

  The same, with the newest boot proof of the service:
    $ bootproof pin --app signer --out policy.json

  A roll-out: the new deployment beside the old one, until the old one is dropped. Duplicates are not added.
    $ bootproof pin --boot-proof new.json --add-to policy.json
    $ bootproof policy drop policy.json "prod/signer nonce 7"

  From what you built, before any enclave runs it, in a role of your account:
    $ bootproof pin --image app.eif --binary app --manifest-set operators.json --namespace prod/signer \\
        --role-arn arn:aws:iam::123456789012:role/signer --out policy.json

docs/policy.md has who built the application (--provenance), releases of GitHub, and demands that a new deployment does
not meet (--drop); docs/cli.md the file of a release.
${CONNECTION_HELP}

Exit codes: 0 pinned, 1 the evidence was rejected, 2 wrong usage or unreadable file, 3 evidence could not be fetched.`;

export const addPinCommand = commandOf(
  "pin",
  {
    usage:
      "(--release PATH… --app NAME | --app NAME | --boot-proof FILE… [--trust-anchor FILE…] | " +
      "--image FILE --binary FILE) " +
      "[--out FILE] [--add-to POLICY]",
    help: EXAMPLES,
  },
  async ({ args, flags, files, io }) => {
    const connection = await refuseCombinations(args, flags, io);
    return pin(flags, connection, files, io);
  },
);

/** The command asks the service if no option names another source. */
function isFetched(args: ArgumentReader): boolean {
  return args.has("app") && !(["boot-proof", "release", ...BUILD] as const).some((name) => args.has(name));
}

/** Resolves to the connection if the evidence comes from the service. */
async function refuseCombinations(args: ArgumentReader, flags: Flags<"pin">, io: Io): Promise<Connection | undefined> {
  if (!(["app", "boot-proof", "release", ...BUILD] as const).some((name) => args.has(name)))
    args.fault("--release PATH, --image FILE, --app NAME or --boot-proof FILE is required: the source of the policy");
  refuseBinaryAlone(args);
  refuseReleases(args, flags);
  refuseProvenance(args, flags);
  if (flags.addTo === STDIN && flags.out === undefined)
    args.fault("--add-to - requires --out FILE: stdin cannot be rewritten");
  await refuseOut(args, flags.out);
  const connection = isFetched(args) ? connectionOf(args, flags, io) : undefined;
  args.throwFaults();
  return connection;
}

/**
 * Refuses a bundle without the names of its repository and its Sigstore: it can name any, so that the caller or the
 * policy of --add-to must.
 */
function refuseProvenance(args: ArgumentReader, { provenance, addTo }: Flags<"pin">): void {
  const others = ["repository", "trusted-root"] as const;
  const isAsDemanded = addTo !== undefined && !others.some((option) => args.has(option));
  for (const option of provenance.length === 0 || isAsDemanded ? [] : others)
    if (!args.has(option)) args.fault(`--provenance requires --${option}`);
}

/**
 * Refuses options that contradict --release. The manifests in a folder name namespace and quorum key, so options must
 * not name them. A release's file names neither, so options may.
 */
function refuseReleases(args: ArgumentReader, { release }: Flags<"pin">): void {
  const folders = areFolders(release);
  if (folders.includes(true) && folders.includes(false)) args.fault("--release: expected folders or a file, not both");
  else if (folders[0] === false && release.length > 1) args.fault("--release: give one file, or any number of folders");
  if (folders[0] === false && args.has("trust-anchor"))
    args.fault("--trust-anchor requires folders of releases: a release's file has no operators of another service");
  if (folders[0] !== true) return;
  for (const option of ["quorum-key", "namespace"] as const)
    if (args.has(option)) args.fault(`--${option} requires a release's file: the manifests in a folder name it`);
}

/** Refuses a binary alone. It needs a manifest set, since the members of the set approve the image. */
function refuseBinaryAlone(args: ArgumentReader): void {
  if (!args.has("binary") || (["image", "pcrs", "manifest-set"] as const).some((name) => args.has(name))) return;
  args.fault(
    "--binary alone does not pin the image, and any image can claim to run this binary: add --image FILE, or " +
      "--manifest-set FILE, whose members approve the image",
  );
}

async function pin(
  flags: Flags<"pin">,
  connection: Connection | undefined,
  files: InputFiles,
  io: Io,
): Promise<number> {
  const target = flags.out ?? flags.addTo ?? STDIN;
  const base = await readPolicyFile(files, flags.addTo, "--add-to");
  const found = await pinnedFrom(flags, { base, connection }, files, io);
  if (found === null) return EXIT.rejected;
  const pinned = await withMaxAge(found, flags.maxAge);
  const result =
    base === undefined ? newPolicy(pinned.made) : await withAdded({ base, target, drop: flags.drop }, pinned);
  const was = base !== undefined && isSameFile(target, base.path) ? base.bytes : undefined;
  await deliverNew(result.text, { out: target, force: flags.force, was }, result.says, io);
  io.stderr.write([...pinned.messages, ...result.messages, ""].map(printable).join("\n"));
  return EXIT.good;
}

/** Writes the greatest age into a new policy. Throws {@link UsageError} if the policy would reject its own evidence. */
async function withMaxAge(pinned: Pinned, maxAge: string | undefined): Promise<Pinned> {
  if (maxAge === undefined) return pinned;
  const policy = { ...pinned.made.policy, maxAge };
  const report = pinned.verified ? await rejectedUnder(policy, pinned.verified) : null;
  if (report !== null)
    throw new UsageError([
      `--max-age ${maxAge}: the policy would reject its own evidence: ${failuresText(report)}: give a greater one`,
    ]);
  return { ...pinned, made: { ...pinned.made, policy } };
}

function newPolicy({ policy }: MadePolicy): AddedPolicy {
  const text = jsonDocument(policy);
  return { text, says: `which pins ${namesText(policy.deployments.map(({ name = "" }) => name))}`, messages: [] };
}
