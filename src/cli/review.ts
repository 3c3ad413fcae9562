/** `bootproof review`: compares a manifest with a policy before anyone approves it. */
import type { DeploymentAnswer } from "../decode/deployment.js";
import { MalformedError, faultText } from "../errors.js";
import { jsonDocument } from "../report/json.js";
import type { ManifestReview } from "../review/review.js";
import { measuredBuild } from "./built.js";
import { type Task, commandOf } from "./command.js";
import { type Connection, connectionOf, CONNECTION_HELP } from "./connection.js";
import { EXIT } from "./exit-codes.js";
import type { InputFiles } from "./files.js";
import { type Io, UsageError, textOptions } from "./io.js";
import { ofKind } from "./kinds.js";
import type { Flags } from "./option-table.js";
import type { ArgumentReader } from "./options.js";
import { readGivenPolicy, requireCurrent } from "./policy-source.js";

const EXAMPLES = `
MANIFEST is a manifest or an envelope, JSON or Borsh; --deployment-id fetches that of a deployment of yours. It is
compared with every pin of the policy that a manifest can meet, with the image and the binary that were built, and with
the manifest before it. Nothing here shows that any hardware booted it: verify a boot proof for that, with bootproof
verify.

A member that no pin holds (bridgeConfig, dns, patchSet, qosCommit, restart and others) fails the review, with its
value, unless it is as in the manifest of --previous, or --accept names it. With --previous, so does one that is
removed, another version of the manifest (--accept version) and another order of workloads (--accept workloads).
Members of workloads have names such as workloads.signer.mounts, or mounts where only one workload changes it.

With --genesis-request, the output of a genesis ceremony is compared with the request that it should answer, before
anyone keeps a share of its quorum key: {"set": {"threshold": 2, "members": [{"alias": "…", "pubKey": "<hex>"}]},
"drKey": null}, with the members in their order, and drKey the key for disaster recovery if one was requested.

Examples:
    $ bootproof review manifest.json --policy policy.json --previous approved.json
    $ bootproof review manifest.json --policy policy.json --image app.eif --binary app --accept qosCommit
    $ bootproof review envelope.json --policy policy.json --previous approved.json --format json
    $ bootproof review --deployment-id ID --policy policy.json --binary app
    $ bootproof review genesis_output --genesis-request request.json

Exit codes: 0 everything that was given was compared, and holds; 1 something does not; 2 wrong usage, an --accept that
accepts nothing, or a file that is unreadable or malformed; 3 the manifest could not be fetched.
${CONNECTION_HELP}`;

export const addReviewCommand = commandOf<"review", [manifest: string | undefined]>(
  "review",
  {
    description:
      "Review a manifest before its approval: pins, image, binary, changes, approvals, and what is unpinned.",
    usage:
      "(MANIFEST | --deployment-id ID [connection]) --policy FILE [options]\n" +
      "       bootproof review GENESIS_OUTPUT --genesis-request FILE",
    help: EXAMPLES,
  },
  async ({ args, flags, files, io }, manifest) => {
    const { deploymentId, genesisRequest } = flags;
    if (genesisRequest !== undefined) return reviewCeremony(manifest, genesisRequest, { args, flags, files, io });
    if ((manifest === undefined) === (deploymentId === undefined))
      args.fault("one of MANIFEST and --deployment-id ID is required: the manifest to review");
    const connection = deploymentId === undefined ? undefined : connectionOf(args, flags, io);
    args.refuseTwice("--accept", flags.accept);
    if (!args.has("policy")) args.fault("--policy FILE is required: the pins that the manifest has to meet");
    await refuseUnknown(flags.accept, args);
    const { format } = flags;
    args.throwFaults();
    const given = manifest ?? { deploymentId: deploymentId!, connection: connection! };
    const review = await reviewed(given, flags, files, io);
    refuseUnused(review);
    const { renderReview } = await import("../review/text.js");
    io.stdout.write(format === "json" ? jsonDocument(review) : renderReview(review, textOptions(io)));
    return review.ok ? EXIT.good : EXIT.rejected;
  },
);

async function reviewCeremony(
  output: string | undefined,
  requested: string,
  { args, flags, files, io }: Pick<Task<"review">, "args" | "flags" | "files" | "io">,
): Promise<number> {
  if (output === undefined) args.fault("GENESIS_OUTPUT is required: the file that the ceremony wrote");
  args.throwFaults();
  const [{ decodeGenesisRequest }, { recognise }, { reviewGenesis }, { renderGenesisReview }] = await Promise.all([
    import("../decode/genesis-output.js"),
    import("../inspect/kinds.js"),
    import("../review/genesis.js"),
    import("../review/text.js"),
  ]);
  const bytes = await ofKind(files, output!, "OUTPUT");
  const json = await ofKind(files, requested, "--genesis-request");
  const request = json && files.decoded(requested, () => decodeGenesisRequest(recognise(json)?.bytes ?? json));
  files.throwFaults();
  const review = await files.decodedAsync(output!, () => reviewGenesis(recognise(bytes!)?.bytes ?? bytes!, request!));
  files.throwFaults();
  io.stdout.write(flags.format === "json" ? jsonDocument(review!) : renderGenesisReview(review!, textOptions(io)));
  return review!.holds ? EXIT.good : EXIT.rejected;
}

async function refuseUnknown(names: readonly string[], args: ArgumentReader): Promise<void> {
  const { unknownName } = await import("../review/members.js");
  for (const name of names) {
    const fault = unknownName(name);
    if (fault !== null) args.fault(`--accept ${name}: ${fault}`);
  }
}

/** Refuses names in --accept that nothing needed: the next review would accept what nobody has read. */
function refuseUnused({ faults }: ManifestReview): void {
  const unused = faults.filter(({ code }) => code === "unused-accept");
  if (unused.length > 0)
    throw new UsageError(
      unused.map(({ about, message, advice }) => ({ message: `--accept ${about}: ${message}`, advice })),
    );
}

/** A file, or a deployment of the service. */
type Given = string | { readonly deploymentId: string; readonly connection: Connection };

async function reviewed(given: Given, flags: Flags<"review">, files: InputFiles, io: Io): Promise<ManifestReview> {
  const { bytes: manifest, deployment }: Reviewed =
    typeof given === "string" ? { bytes: await manifestIn(files, given, "MANIFEST") } : await fetched(given, io);
  const source = await readGivenPolicy(files, flags, io);
  const previous = flags.previous === undefined ? undefined : await manifestIn(files, flags.previous, "--previous");
  const measured = await measuredBuild(flags, files, io);
  files.throwFaults();
  await requireCurrent(source, io.now());
  const { reviewManifest } = await import("../review/review.js");
  // The manifests were read above, so a malformed file is now the policy.
  const review = await files.decodedAsync(flags.policy!, () =>
    reviewManifest(manifest!, {
      policy: source!.policy,
      ...(previous && { previous }),
      ...(deployment && { deployment }),
      ...(Object.keys(measured).length > 0 && { measured }),
      ...(flags.accept.length > 0 && { accept: flags.accept }),
    }),
  );
  files.throwFaults();
  return review!;
}

interface Reviewed {
  readonly bytes: Uint8Array | undefined;
  /** What the service says of the manifest, if it was fetched. */
  readonly deployment?: DeploymentAnswer;
}

/** Fetches the manifest. A malformed one is a fault of the service, and no file's. */
async function fetched({ deploymentId, connection }: Exclude<Given, string>, io: Io): Promise<Reviewed> {
  const { fetchManifest, unreachable } = await import("./fetch-evidence.js");
  const { bytes, deployment } = await fetchManifest(deploymentId, connection, io);
  const { readGivenManifest } = await import("../review/manifest.js");
  try {
    await readGivenManifest("get_tvc_deployment: manifest", bytes);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    throw unreachable(
      connection,
      error.faults.map((fault) => faultText([fault])),
    );
  }
  return { bytes, deployment };
}

async function manifestIn(
  files: InputFiles,
  path: string,
  option: "MANIFEST" | "--previous",
): Promise<Uint8Array | undefined> {
  const bytes = await ofKind(files, path, option);
  if (bytes === undefined) return undefined;
  const { readGivenManifest } = await import("../review/manifest.js");
  // The file is read here, so that a fault has the name of the file.
  const read = await files.decodedAsync(path, () => readGivenManifest("", bytes));
  return read && bytes;
}
