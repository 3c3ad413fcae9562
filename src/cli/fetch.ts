/** `bootproof fetch`: evidence from the service, as JSON on stdout. Nothing of it is verified. */
import type { Command } from "commander";
import { printable, printableJson } from "../report/printable.js";
import { CONNECTION_HELP, type Connection, type ConnectionFlags, addConnectionOptions, connectionOf } from "./connection.js";
import { EXIT } from "./exit-codes.js";
import type { Wanted } from "./fetched.js";
import { type Io, UnreachableError } from "./io.js";
import { ArgumentReader, ephemeralKeyOf } from "./options.js";

interface FetchFlags extends ConnectionFlags {
  readonly ephemeralKey?: string;
  readonly app?: string;
  readonly activity?: string;
}

const EXAMPLES = `
Nothing is verified: give what is fetched to bootproof verify. The output is
  {"bootProof": …}, for verify --boot-proof, with --ephemeral-key and --app;
  a bundle of the activity, its app proofs and their boot proofs, for verify FILE, with --activity.
${CONNECTION_HELP}

Examples:
    $ bootproof fetch --app signer > boot.json && bootproof verify --boot-proof boot.json --policy policy.json
    $ bootproof fetch --activity ID | bootproof verify - --policy policy.json

Exit codes: 0 fetched, 2 wrong usage or key, 3 the service could not be reached, refused, or has it not.`;

export function addFetchCommand(program: Command, io: Io, finish: (code: number) => void): void {
  const command = addConnectionOptions(program
    .command("fetch")
    .summary("fetch boot proofs and app proofs from the service")
    .description("Fetch evidence from the service and write it to stdout, unverified.")
    .option("--ephemeral-key <hex>", "the boot proof that attests this key")
    .option("--app <name>", "the boot proof of the enclave of this application that booted last")
    .option("--activity <id>", "the app proofs of this activity, and the boot proof of each key that they name"))
    .usage("(--ephemeral-key HEX | --app NAME | --activity ID) [connection]")
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async (flags: FetchFlags) => {
    args.refuseRepeated();
    const wanted = wantedOf(args, flags);
    const connection = connectionOf(args, flags, io);
    args.settle();
    const evidence = await fetchEvidence(wanted!, connection!, io);
    io.stdout.write(printableJson(`${JSON.stringify(evidence, undefined, 2)}\n`));
    finish(EXIT.good);
  });
}

function wantedOf(args: ArgumentReader, { ephemeralKey, app, activity }: FetchFlags): Wanted | undefined {
  if ([ephemeralKey, app, activity].filter((value) => value !== undefined).length !== 1) {
    return args.fault("one of --ephemeral-key HEX, --app NAME and --activity ID is wanted: what is to be fetched?");
  }
  if (app !== undefined) return app === "" ? args.fault("--app: empty") : { app };
  if (activity !== undefined) return activity === "" ? args.fault("--activity: empty") : { activityId: activity };
  return ephemeralKeyOf(args, ephemeralKey!) && { ephemeralKey: ephemeralKey!.toLowerCase() };
}

async function fetchEvidence(wanted: Wanted, connection: Connection, io: Io): Promise<object> {
  const { fetchActivity, fetchBootProof, mistakenIdentity, noAppProofs } = await import("./fetched.js");
  if (!("activityId" in wanted)) return { bootProof: await fetchBootProof(wanted, connection, io) };
  const { packEvidence } = await import("../evidence-bundle.js");
  const { missing, ...evidence } = await fetchActivity(wanted.activityId, connection, io);
  const mistaken = mistakenIdentity(evidence.activity, { id: wanted.activityId, organizationId: connection.organizationId });
  if (mistaken.length > 0) throw new UnreachableError([printable(`${connection.baseUrl}: get_activity: answered another activity: ${mistaken.join("; ")}`)]);
  if (missing.length > 0) throw new UnreachableError(missing.map((key) => printable(`${connection.baseUrl}: there is no boot proof of the key ${key}, which an app proof of the activity names`)));
  if (evidence.bootProofs.length === 0) throw noAppProofs(wanted.activityId, connection);
  return packEvidence(evidence);
}
