/** `bootproof addresses`: which addresses of an organization were derived inside a pinned enclave. */
import type { ParsedPolicy } from "../appraise/parsed-policy.js";
import { createHash } from "node:crypto";
import { ADDRESS_CLASSES, type UnplacedKey } from "../addresses/classes.js";
import type { AddressPiece, AddressProgress, AddressSource, AddressTable } from "../door/addresses.js";
import { numbered } from "../report/facts.js";
import { printable } from "../report/printable.js";
import * as table from "../show/addresses.js";
import { writeText } from "../show/terminal.js";
import { comparableAddress } from "../verify/contradictions.js";
import { AddressFolder } from "./addresses-folder.js";
import { type AddressQuestion, piecesIn } from "./addresses-from.js";
import { commandOf } from "./command.js";
import { CONNECTION_HELP, type Connection, connectionOf, organizationOf } from "./connection.js";
import { connect, reached } from "./service.js";
import { STDIN, isMalformed } from "./files.js";
import { Interruption } from "./interruption.js";
import { type Io, UnreachableError, UsageError, answerTo, textOptions } from "./io.js";
import { readGivenPolicy } from "./policy-source.js";
import type { Flags } from "./option-table.js";
import type { ArgumentReader } from "./options.js";
import { demandedProvenance, verifierFor } from "./provenance.js";

const EXAMPLES = `
Each address of each wallet and private key gets a class, the worst first: ${ADDRESS_CLASSES.join(", ")}.
"derived" means that an enclave that the policy pins signed this organization, wallet, path and address. The policy has
to say which deployment derives addresses. docs/addresses.md leads from an API key to a table.

With --out, the folder gets the evidence of each activity as a bundle, the lists, and index.json. After Ctrl-C, the same
command goes on. --from reads a complete folder, without a network, under any policy.
${CONNECTION_HELP}

Examples:
    $ bootproof addresses --policy policy.json
    $ bootproof addresses --policy policy.json --out evidence --format csv > addresses.csv
    $ bootproof addresses --policy policy.json --accept exported,imported --wallet ID
    $ bootproof addresses --from evidence --organization-id ID --policy policy.json --format html > addresses.html

Exit codes: 0 every address is derived or accepted, 1 one is not, one that --address names is not listed, there is
none, or a key was exported or imported and nothing says in which wallet it is (--accept unplaced), 2 wrong usage or
policy, 3 a list or evidence could not be fetched, or a folder is not complete.`;

type Renderer = (result: table.AddressResult, flags: Flags<"addresses">, io: Io) => string | Promise<string>;
const FORMATS: Readonly<Record<Flags<"addresses">["format"], Renderer>> = {
  text: (result, { all }, io) => writeText(table.tableDoc(result, all === true), textOptions(io)),
  json: table.tableJson,
  ndjson: table.tableLines,
  csv: table.tableCsv,
  junit: async (result) => (await import("../formats/addresses.js")).tableJunit(result),
  html: async (result, { all }) => {
    const { renderDoc } = await import("../page/page.js");
    return renderDoc(table.headlineOf(result), table.tablePage(result, all === true));
  },
};

/** These have rows only, so what no row says is on stderr. */
const BARE_FORMATS: readonly string[] = ["csv", "ndjson"] satisfies readonly Flags<"addresses">["format"][];

interface AddressRequest {
  readonly flags: Flags<"addresses">;
  readonly question: AddressQuestion;
  /** Undefined with `--from`. */
  readonly connection: Connection | undefined;
}

export const addAddressesCommand = commandOf(
  "addresses",
  {
    usage: "--policy FILE ([--out DIR] [connection] | --from DIR --organization-id ID) [options]",
    help: EXAMPLES,
  },
  async ({ args, flags, files, io }) => {
    if (flags.out === STDIN) args.fault("--out -: a folder is required");
    args.refuseTwice("--address", flags.address);
    const request = requestOf(args, flags, io);
    const { format } = flags;
    args.throwFaults();
    const read = await readGivenPolicy(files, flags, io);
    const texts = await demandedProvenance(files, flags.provenance, read?.policy);
    files.throwFaults();
    const provenance = { ...(texts.length > 0 && { provenance: texts }), ...(await verifierFor(read!.policy)) };
    const result = await resultOf(request, { policy: read!.policy as ParsedPolicy, provenance }, io);
    io.stdout.write(await FORMATS[format](result, flags, io));
    const isBare = BARE_FORMATS.includes(format);
    for (const text of isBare ? table.omissionsOf(result) : result.unfetched)
      io.stderr.write(`bootproof: ${printable(text)}\n`);
    return table.tableExitCode(result);
  },
);

function requestOf(args: ArgumentReader, flags: Flags<"addresses">, io: Io): AddressRequest {
  const connection = args.has("from") ? undefined : connectionOf(args, flags, io);
  const organizationId = connection?.organizationId ?? organizationOf(flags, io);
  if (args.has("from") && organizationId === undefined)
    args.fault("--organization-id ID is required: the organization that the folder has to be of");
  // The fault of a missing one is thrown before it is used.
  return { flags, question: { organizationId: organizationId!, ...askedOf(flags) }, connection };
}

function askedOf(flags: Flags<"addresses">): Omit<AddressQuestion, "organizationId"> {
  const { suborgs = false, wallet: walletId = null, address: addresses, privateKeys = true, allActivities } = flags;
  const all = allActivities === true && { allActivities };
  return { suborgs, walletId, addresses: [...addresses], privateKeys, ...all };
}

interface ReadPolicy {
  readonly policy: ParsedPolicy;
  readonly provenance: { readonly provenance?: readonly string[] } & Awaited<ReturnType<typeof verifierFor>>;
}

async function resultOf(request: AddressRequest, read: ReadPolicy, io: Io): Promise<table.AddressResult> {
  const { question, flags } = request;
  const rows: table.TableRow[] = [];
  const unplaced: UnplacedKey[] = [];
  const warnings = new Set<string>();
  let organizations = 0;
  let unfetched: readonly string[] = [];
  try {
    for await (const { organizationId, ...own } of tablesOf(request, read, io)) {
      organizations++;
      for (const row of own.rows) rows.push({ ...row, organizationId });
      unplaced.push(...own.unplaced);
      for (const warning of own.warnings) warnings.add(warning);
    }
  } catch (error) {
    if (!(error instanceof UnreachableError) || organizations === 0) throw error;
    unfetched = error.problems.map(({ file, message }) => (file === undefined ? message : `${file}: ${message}`));
  }
  const listed = new Set(rows.filter(({ listed }) => listed).map(({ address }) => comparableAddress(address)));
  return {
    organizationId: question.organizationId,
    suborgs: question.suborgs ? organizations - 1 : null,
    rows: rows.sort((a, b) => ADDRESS_CLASSES.indexOf(a.class) - ADDRESS_CLASSES.indexOf(b.class)),
    accepted: flags.accept ?? [],
    unplaced,
    warnings: [...warnings],
    allActivities: question.allActivities === true,
    notListed: question.addresses.filter((address) => !listed.has(comparableAddress(address))),
    unfetched,
    policy: { name: read.policy.name, sha256: createHash("sha256").update(read.policy.content()).digest("hex") },
    verifiedAt: io.now(),
  };
}

/** Yields the table of each organization. A folder is complete when all of them came. */
async function* tablesOf(request: AddressRequest, read: ReadPolicy, io: Io): AsyncGenerator<AddressTable> {
  const { question, flags } = request;
  const { walletId, addresses, privateKeys } = question;
  try {
    const { joinPieces } = await import("../door/addresses.js");
    const folder = flags.out === undefined ? null : new AddressFolder(flags.out, question);
    const pieces = flags.from === undefined ? fetched(request, folder, io) : piecesIn(flags.from, question);
    const filter = { privateKeys, ...(walletId !== null && { walletId }), ...(addresses.length > 0 && { addresses }) };
    const acceptance = flags.failOnWarning === true ? "strict" : "standard";
    yield* joinPieces(pieces, { policy: read.policy, ...read.provenance, ...filter, acceptance, now: io.now });
    await folder?.end();
  } catch (error) {
    // It is recognised by its name, since it may come from another copy of the library.
    if (error instanceof Error && error.name === "DerivationPolicyError")
      throw new UsageError([{ file: printable(flags.policy!), message: error.message }]);
    if (!isMalformed(error)) throw error;
    throw new UnreachableError([{ file: printable(flags.from!), message: printable(error.message) }]);
  }
}

/** Calls a function with a signal of Ctrl-C. Elsewhere a signal ends the process, as it does without a handler. */
async function* interruptible<T>(work: (signal: AbortSignal) => AsyncIterable<T>): AsyncGenerator<T> {
  const interruption = new Interruption();
  try {
    yield* work(interruption.signal);
  } finally {
    interruption.forget();
  }
}

/** Yields what the service has, and keeps it in the folder. Throws {@link UnreachableError}. */
async function* fetched(
  { question, connection, flags }: AddressRequest,
  folder: AddressFolder | null,
  io: Io,
): AsyncGenerator<AddressPiece> {
  const [client, library] = await Promise.all([connect(connection!, io), import("../door/addresses.js")]);
  const source: AddressSource = {
    now: io.now,
    query: (name, parameters, options) => client.query(name, parameters, options),
  };
  const { organizationId, suborgs, walletId, addresses, privateKeys, allActivities = false } = question;
  const { limit = 1000, maxAccounts = 1_000_000 } = flags;
  const onProgress = (progress: AddressProgress): void => io.progress(progressText(progress));
  const arrived = async <T>(answer: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    const goesOn = folder === null ? "" : `: the same command goes on from ${flags.out}`;
    const interrupted = new UnreachableError([printable(`interrupted${goesOn}`)]);
    // What was kept needs no request, and so nothing else that a signal ends.
    if (signal.aborted) throw interrupted;
    try {
      return await reached(answer(), connection!);
    } catch (error) {
      throw signal.aborted ? interrupted : error;
    }
  };
  const children: string[] = [];
  const listing = async function* (signal: AbortSignal): AsyncGenerator<string[]> {
    const listed = { organizationId, limit, signal, onProgress };
    yield await arrived(() => library.listSubOrganizations(source, listed), signal);
  };
  if (suborgs) for await (const ids of interruptible(listing)) for (const id of ids) children.push(id);
  if (suborgs) await agree(children.length, flags, io);
  const parentOrganizationId = suborgs ? organizationId : flags.parentOrganizationId;
  yield* interruptible(async function* (signal) {
    const pieces = library.collectAddresses(source, {
      organizationIds: [organizationId, ...children],
      ...(walletId !== null && { walletId }),
      ...(addresses.length > 0 && { addresses }),
      ...(parentOrganizationId !== undefined && { parentOrganizationId }),
      ...(folder && { known: async (...ids) => folder.known(...ids) }),
      privateKeys,
      allActivities,
      maxAccounts,
      signal,
      onProgress,
    });
    const next = (): Promise<IteratorResult<AddressPiece>> => arrived(() => pieces.next(), signal);
    for (let piece = await next(); piece.done !== true; piece = await next()) {
      await folder?.put(piece.value);
      yield piece.value;
    }
  });
}

function progressText({ step, waitMs, requests, listed, left, activities, bootProofs }: AddressProgress): string {
  const what = waitMs > 0 ? `waiting ${Math.ceil(waitMs / 1000)} s, as the service demands` : printable(step);
  return (
    `${what}: ${listed} addresses listed, ${left} of them left; ${activities} activities, ` +
    `${bootProofs} boot proofs, ${requests} requests`
  );
}

/** Says how many requests the sub-organizations take. Throws {@link UsageError} unless the caller agrees. */
async function agree(children: number, { yes = false, privateKeys }: Flags<"addresses">, io: Io): Promise<void> {
  const each = privateKeys === false ? 3 : 4;
  const says =
    `${numbered(children, "sub-organization")}: at least ${each * (children + 1)} requests, and one more for each ` +
    "further 100 accounts or activities, for each activity that is listed without its proofs, and for each key";
  io.stderr.write(`${says}\n`);
  if (yes) return;
  if (io.stderr.isTTY !== true) throw new UsageError(["--suborgs: --yes is required where nobody can be asked"]);
  if (!/^y(?:es)?$/.test(await answerTo("Go on? [y/N] ", io)))
    throw new UsageError(["--suborgs: not agreed, so nothing was fetched"]);
}
