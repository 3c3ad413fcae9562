/** `bootproof bundle`: packs evidence, policy and report into one file that can be verified years later. */
import { fromHex, toUtf8 } from "../bytes.js";
import type { PackOptions } from "../bundle/pack.js";
import { MAX_BUNDLE_BYTES } from "../bundle/page.js";
import { jsonDocument } from "../report/json.js";
import { commandOf } from "./command.js";
import { NO_ORGANIZATION, ORGANIZATION_OF_THE_ACTIVITY } from "./connection.js";
import { EXIT, exitCodeOf } from "./exit-codes.js";
import type { InputFiles } from "./files.js";
import { type Io, UsageError, messageOptions } from "./io.js";
import type { Flags } from "./option-table.js";
import { type ArgumentReader, choosesPolicy } from "./options.js";
import { deliverNew, refuseOut } from "./output.js";
import { payloadsOf } from "./payload-values.js";
import { readGivenPolicy } from "./policy-source.js";
import { readProvenance, verifierFor } from "./provenance.js";

const EXAMPLES = `
The evidence is verified first, and rejected evidence is not packed. Certificates that the policy names by file are
included. The recipient verifies the bundle with bootproof verify, against their own policy or against yours inside it.

Examples:
    $ bootproof bundle --boot-proof boot.json --app-proof app.json --policy policy.json --out bundle.json
    $ bootproof verify bundle.json --policy policy.json

FILE is written as a whole or not at all. Another file that is there is replaced with --force only.

Exit codes: 0 packed, 1 the evidence was rejected, 2 wrong usage or unreadable file.`;

export const addBundleCommand = commandOf(
  "bundle",
  {
    usage:
      "--boot-proof FILE… [--app-proof FILE…] [--activity FILE] [--provenance FILE…] (--policy FILE | --no-policy) " +
      "[--out FILE] [--force]",
    help: EXAMPLES,
  },
  async ({ args, flags, files, io }) => {
    await refuseOut(args, flags.out);
    return bundle(flags, optionsOf(args, flags, io), files, io);
  },
);

function optionsOf(args: ArgumentReader, flags: Flags<"bundle">, io: Io): Omit<PackOptions, "policy"> {
  if (!choosesPolicy(args)) args.fault("--policy FILE or --no-policy is required: what the evidence must meet");
  if (!args.has("app-proof") && !args.has("activity") && args.has("organization-id")) args.fault(NO_ORGANIZATION);
  const { nonce, now = io.now() } = flags;
  const expected = expectedOf(args, flags);
  args.throwFaults();
  return { now, ...(nonce && { nonce: fromHex(nonce)! }), ...(expected && { expected }) };
}

function expectedOf(args: ArgumentReader, flags: Flags<"bundle">): PackOptions["expected"] {
  const { activity, organizationId } = flags;
  const payload = payloadsOf(args, flags);
  if (payload !== undefined && activity !== undefined && organizationId === undefined)
    args.fault(`--activity: ${ORGANIZATION_OF_THE_ACTIVITY}`);
  if (organizationId === undefined) return payload && { payload };
  return { organizationId, ...(payload && { payload }) };
}

async function bundle(
  flags: Flags<"bundle">,
  options: Omit<PackOptions, "policy">,
  files: InputFiles,
  io: Io,
): Promise<number> {
  const [{ packBundle }, library, { piecesText, readEvidence }] = await Promise.all([
    import("../bundle/pack.js"),
    import("../bootproof.js"),
    import("./pieces.js"),
  ]);
  const given = await readGivenPolicy(files, flags, io, () => options.now);
  const builds = await readProvenance(files, flags.provenance);
  const evidence = { ...(await readEvidence(files, flags)), ...builds };
  if (
    options.expected?.organizationId !== undefined &&
    evidence.activity === undefined &&
    evidence.appProofs?.length === 0
  )
    throw new UsageError([NO_ORGANIZATION]);
  io.progress(`verifying ${piecesText(evidence)}`);
  const verifier = await verifierFor(given?.policy);
  const policy = given?.policy ?? library.NO_POLICY_ANY_ENCLAVE;
  const { report, bundle: made } = await packBundle(evidence, { policy, ...options, ...verifier });
  if (made === null) {
    const { renderFailures } = await import("../show/text.js");
    io.stderr.write(`Not bundled.\n${renderFailures(report, messageOptions(io))}`);
    return exitCodeOf(report);
  }
  const text = jsonDocument(made);
  if (toUtf8(text).length > MAX_BUNDLE_BYTES)
    throw new UsageError([
      "the bundle would be larger than 8 MiB, which verify does not read: pack the evidence into several bundles",
    ]);
  const { briefOf } = await import("../formats/reports.js");
  io.stderr.write(briefOf({ report, bundle: null }, messageOptions(io)));
  const what = `with ${piecesText(evidence)}, ${report.verdict} as of ${options.now!.toISOString()}`;
  await deliverNew(text, flags, what, io);
  return EXIT.good;
}
