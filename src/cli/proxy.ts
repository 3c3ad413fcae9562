/** `bootproof proxy`: verifies the service's answers to any client, until it is interrupted. */
import { fromHex } from "../bytes.js";
import { unwrap } from "../decode/input.js";
import { type JsonObject, isJsonObject } from "../decode/json.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { diskReason } from "../disk/reason.js";
import { printable } from "../report/printable.js";
import { plainPolicy } from "../plain-settings.js";
import type { RunningProxy, StartProxyOptions } from "../proxy/node.js";
import { commandOf } from "./command.js";
import { type Connection, addressFault, keySourceOf } from "./connection.js";
import { connect } from "./service.js";
import { EXIT } from "./exit-codes.js";
import type { InputFiles } from "./files.js";
import { LISTEN_REASONS } from "./health.js";
import { Interruption } from "./interruption.js";
import { type Io, UsageError } from "./io.js";
import { DEFAULT_TIMEOUT_SECONDS } from "./option-rows.js";
import type { Flags } from "./option-table.js";
import { readGivenPolicy, requireCurrent } from "./policy-source.js";
import { demandedProvenance, verifierFor } from "./provenance.js";
import { type ArgumentReader, judgingOf } from "./options.js";
import { readBootProofs } from "./pieces.js";

interface ProxyRequest {
  readonly flags: Flags<"proxy">;
  /** The key that fetches evidence. Undefined means that boot proofs come from files. */
  readonly key: Connection["key"] | undefined;
  readonly judging: ReturnType<typeof judgingOf>;
}

const EXAMPLES = `
Give a client of the service the address of the proxy as its base URL, and change nothing else. The proxy passes on each
request byte for byte, and verifies each answer that holds the result of an activity against the request. What it does
not verify it refuses, without the result, or names by a header: docs/proxy.md. It listens on this machine only.

Boot proofs are fetched with the proxy's own API key, in the organization of each request; or all of them are in files.
Each refusal is a line on stderr. On Ctrl-C or SIGTERM it finishes its requests.

Examples:
    $ bootproof proxy --upstream https://api.example.com --policy policy.json --port 8788 --api-key-file api-key.json
    $ bootproof proxy --upstream https://api.example.com --policy policy.json --boot-proof signer.json policy.json

Exit codes: 0 ended normally, 1 the signed policy is not in force at the start, 2 wrong usage, or a port or file that
cannot be used.`;

export const addProxyCommand = commandOf(
  "proxy",
  {
    usage: "--upstream URL --policy FILE [--port N] (--api-key-file KEY | --boot-proof FILE…)",
    help: EXAMPLES,
  },
  async ({ args, flags, files, io }) => {
    const request = requestOf(args, flags, io);
    // The handler is set before any work, so that no signal is missed.
    const interruption = new Interruption();
    try {
      const proxy = await started(await optionsOf(request, files, io));
      io.stdout.write(`listening on ${proxy.url}\n`);
      await interruption.comes;
      const { requests, refused } = await proxy.close();
      io.stderr.write(`note: ended; ${requests} requests, ${refused} of them refused\n`);
      return EXIT.good;
    } finally {
      interruption.forget();
    }
  },
);

function requestOf(args: ArgumentReader, flags: Flags<"proxy">, io: Io): ProxyRequest {
  const { upstream } = flags;
  const fault = upstream === undefined || args.isEmpty("upstream") ? null : addressFault("--upstream", upstream);
  if (fault !== null) args.fault(fault);
  args.refuseTwice("--boot-proof", flags.bootProof);
  const why = "or --boot-proof FILE… is required: the source of the boot proofs";
  const key = args.has("boot-proof") ? undefined : keySourceOf(args, flags, io, why);
  const judging = judgingOf(flags);
  args.throwFaults();
  return { flags, key, judging };
}

async function optionsOf({ flags, key, judging }: ProxyRequest, files: InputFiles, io: Io): Promise<StartProxyOptions> {
  const { accept = [], port = 0, timeout: timeoutMs = 1000 * DEFAULT_TIMEOUT_SECONDS } = flags;
  const upstream = flags.upstream!;
  const read = await readFiles(flags, files, io);
  // This organization is never used, since the proxy names one in each query.
  const connection = { baseUrl: upstream, organizationId: "none", timeoutMs, unusedProxy: "" };
  return {
    upstream,
    policy: read.policy,
    evidence: key === undefined ? { bootProofs: read.bootProofs } : await connect({ ...connection, key }, io),
    port,
    allowUnproven: flags.allowUnproven === true,
    ...(flags.verifyAddresses === true && { verifyAddresses: true, accept }),
    ...(flags.allActivities === true && { allActivities: true }),
    acceptance: "standard",
    ...judging,
    ...(flags.signerKey.length > 0 && { signerKeys: flags.signerKey }),
    provenance: read.provenance,
    ...read.verifier,
    timeoutMs,
    ...(flags.healthFile !== undefined && { healthFile: flags.healthFile }),
    now: io.now,
    onNote: (text) => io.stderr.write(`${text}\n`),
  };
}

interface ReadFiles {
  readonly policy: StartProxyOptions["policy"];
  readonly bootProofs: readonly JsonObject[];
  readonly provenance: readonly string[];
  readonly verifier: Pick<StartProxyOptions, "provenanceVerifier">;
}

/** Reads the files. The policy is returned as plain data, since the proxy uses another copy of the library. */
async function readFiles(flags: Flags<"proxy">, files: InputFiles, io: Io): Promise<ReadFiles> {
  const read = await readGivenPolicy(files, flags, io);
  const bootProofs = (await readBootProofs(files, flags.bootProof)).flatMap(({ name, value }) => {
    const bootProof = unwrap(value, "bootProof");
    if (isJsonObject(bootProof) && keyLength(bootProof) === QOS_PUBLIC_KEY_LENGTH) return [bootProof];
    files.fault(
      name ?? "",
      `ephemeralPublicKeyHex: expected ${2 * QOS_PUBLIC_KEY_LENGTH} hex digits, as in a boot proof of the service`,
    );
    return [];
  });
  const provenance = await demandedProvenance(files, flags.provenance, read?.policy);
  files.throwFaults();
  await requireCurrent(read, io.now());
  const { policy, signed } = read!;
  const verifier = await verifierFor(policy, signed !== null && provenance.length > 0);
  return { policy: signed ?? plainPolicy(policy), bootProofs, provenance, verifier };
}

function keyLength({ ephemeralPublicKeyHex: key }: JsonObject): number | undefined {
  return typeof key === "string" ? fromHex(key)?.length : undefined;
}

/** Starts the proxy. Errors that a user can fix become messages. */
async function started(options: StartProxyOptions): Promise<RunningProxy> {
  const { port, healthFile } = options;
  const { startProxy } = await import("../proxy/node.js");
  try {
    return await startProxy(options);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === "listen") throw new UsageError([`--port ${port}: ${diskReason(error, LISTEN_REASONS)}.`]);
    if (typeof code === "string" && healthFile !== undefined)
      throw new UsageError([printable(`--health-file ${healthFile}: ${diskReason(error)}`)]);
    throw error;
  }
}
