/** `bootproof bundle`: packs evidence, policy and report into one file that can be verified years later. */
import type { Command } from "commander";
import type { PolicyFile } from "../appraise/policy.js";
import { toUtf8 } from "../bytes.js";
import type { PackOptions } from "../bundle/pack.js";
import { jsonDocument } from "../report/json.js";
import { NO_ORGANIZATION, ORGANIZATION_OF_THE_ACTIVITY } from "./connection.js";
import { EXIT, exitCodeOf } from "./exit-codes.js";
import { InputFiles, MAX_BUNDLE_BYTES, readerBeside } from "./files.js";
import { type Io, UsageError, messageOptions } from "./io.js";
import { ofKind } from "./kinds.js";
import type { Flags } from "./option-table.js";
import { nonceOf, nowOf, payloadsOf } from "./option-values.js";
import { ArgumentReader, choosesPolicy } from "./options.js";
import type { EvidenceFiles } from "./pieces.js";
import { readProvenance, verifierFor } from "./provenance.js";

const EXAMPLES = `
The evidence is verified first, and rejected evidence is not packed. Certificates that the policy names by file are
included. The recipient verifies the bundle with bootproof verify, against their own policy or against yours inside it.

Examples:
    $ bootproof bundle --boot-proof boot.json --app-proof app.json --policy policy.json > bundle.json
    $ bootproof verify bundle.json --policy policy.json

Exit codes: 0 packed, 1 the evidence was rejected, 2 wrong usage or unreadable file.`;

export function addBundleCommand(command: Command, io: Io, finish: (code: number) => void): void {
  command
    .description("Verify evidence and write it to stdout as one JSON file, with the policy, the report, and the time.")
    .usage(
      "--boot-proof FILE… [--app-proof FILE…] [--activity FILE] [--provenance FILE…] (--policy FILE | --no-policy)",
    )
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async (flags: Flags<"bundle">) => finish(await bundle(requestOf(args, flags, io), io)));
}

interface BundleRequest {
  readonly files: EvidenceFiles;
  readonly provenance: readonly string[];
  /** Undefined means `--no-policy`. */
  readonly policy: string | undefined;
  readonly options: Omit<PackOptions, "policy">;
}

function requestOf(args: ArgumentReader, flags: Flags<"bundle">, io: Io): BundleRequest {
  const { bootProof = [], appProof = [], activity, provenance = [] } = flags;
  const policy = typeof flags.policy === "string" ? flags.policy : undefined;
  if (bootProof.length === 0) args.fault("--boot-proof FILE is required: the evidence to pack");
  if (!choosesPolicy(args)) args.fault("--policy FILE or --no-policy is required: what the evidence must meet");
  if (!args.has("app-proof") && !args.has("activity")) refuseOrganization(args);
  args.refuseRepeated();
  args.refuseRepeatedStdin([...bootProof, ...appProof, activity, ...provenance, policy]);
  const nonce = flags.nonce === undefined ? undefined : nonceOf(args, flags.nonce);
  const now = nowOf(args, flags.now, io.now());
  const expected = expectedOf(args, flags);
  args.throwFaults();
  return {
    files: { bootProofs: bootProof, appProofs: appProof, activity },
    provenance,
    policy,
    options: { now: now!, ...(nonce && { nonce }), ...(expected && { expected }) },
  };
}

function expectedOf(args: ArgumentReader, flags: Flags<"bundle">): PackOptions["expected"] {
  const { activity, organizationId } = flags;
  const payload = payloadsOf(args, flags);
  if (payload !== undefined && activity !== undefined && organizationId === undefined)
    args.fault(`--activity: ${ORGANIZATION_OF_THE_ACTIVITY}`);
  if (organizationId === undefined) return payload && { payload };
  return { organizationId, ...(payload && { payload }) };
}

function refuseOrganization(args: ArgumentReader): void {
  if (args.has("organization-id")) args.fault(NO_ORGANIZATION);
}

async function bundle({ files: named, provenance, policy, options }: BundleRequest, io: Io): Promise<number> {
  const [{ packBundle }, library, { readEvidence, verifying }] = await Promise.all([
    import("../bundle/pack.js"),
    import("../bootproof.js"),
    import("./pieces.js"),
  ]);
  const files = new InputFiles(io);
  const packed: PackOptions["policy"] | undefined =
    policy === undefined ? library.NO_POLICY_ANY_ENCLAVE : await readPolicyFile(files, policy);
  const builds = await readProvenance(files, provenance, "bundle");
  const evidence = { ...(await readEvidence(files, named, "bundle")), ...builds };
  if (
    options.expected?.organizationId !== undefined &&
    evidence.activity === undefined &&
    evidence.appProofs?.length === 0
  )
    throw new UsageError([NO_ORGANIZATION]);
  io.progress(verifying(evidence));
  const parsed = typeof packed === "object" ? (await import("../appraise/policy.js")).parsePolicy(packed) : undefined;
  const settings: PackOptions = { policy: packed!, ...options, ...(await verifierFor(parsed)) };
  const { report, bundle: made } = await packBundle(evidence, settings);
  if (made === null) {
    const { renderFailures } = await import("../report/text.js");
    io.stderr.write(`Not bundled.\n${renderFailures(report, messageOptions(io))}`);
    return exitCodeOf(report);
  }
  const text = jsonDocument(made);
  if (toUtf8(text).length > MAX_BUNDLE_BYTES)
    throw new UsageError([
      "the bundle would be larger than 8 MiB, which verify does not read: pack the evidence into several bundles",
    ]);
  io.stdout.write(text);
  return EXIT.good;
}

async function readPolicyFile(files: InputFiles, path: string): Promise<PolicyFile | undefined> {
  const { selfContainedPolicy } = await import("../bundle/pack.js");
  const bytes = await ofKind(files, path, await files.bytes(path), { command: "bundle", option: "--policy" });
  return bytes && files.decoded(path, () => selfContainedPolicy(bytes, { readFile: readerBeside(path) }));
}
