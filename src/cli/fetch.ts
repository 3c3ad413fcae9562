/** `bootproof fetch`: writes evidence from the service as JSON on stdout, unverified. */
import { existsSync } from "node:fs";
import type { Command } from "commander";
import { COMPLETED } from "../decode/activity.js";
import { unwrap } from "../decode/input.js";
import { type JsonValue, isJsonObject } from "../decode/json.js";
import { jsonDocument } from "../report/json.js";
import { CONNECTION_HELP, type Connection, connectionOf } from "./connection.js";
import { EXIT } from "./exit-codes.js";
import { fetchActivityEvidence, fetchBootProofOf, fetchProvisioningDetails, unreachable } from "./fetch-evidence.js";
import { InputFiles, STDIN } from "./files.js";
import type { Io, UnreachableError } from "./io.js";
import type { Flags } from "./option-table.js";
import { ephemeralKeyOf } from "./option-values.js";
import { ArgumentReader } from "./options.js";

const EXAMPLES = `
Nothing is verified here: pass the output to bootproof verify. The output is
  {"bootProof": …}, for verify --boot-proof, with --ephemeral-key and --app;
  {"attestationDocument": …, "manifestEnvelope": …}, for verify --boot-proof, with --deployment-id;
  a bundle of the activity, its app proofs and their boot proofs, for verify FILE, with --activity-id and --activity.
${CONNECTION_HELP}

Examples:
    $ bootproof fetch --app signer > boot.json && bootproof verify --boot-proof boot.json --policy policy.json
    $ bootproof fetch --activity activity.json > bundle.json
    $ bootproof fetch --activity-id ID | bootproof verify - --policy policy.json --organization-id ORG --activity-id ID

Exit codes: 0 fetched, 2 wrong usage or key, 3 the service could not be reached, refused, or does not have it.`;

export function addFetchCommand(command: Command, io: Io, finish: (code: number) => void): void {
  command
    .description("Fetch evidence from the service and write it to stdout, unverified.")
    .usage("(--ephemeral-key HEX | --app NAME | --deployment-id ID | --activity-id ID | --activity FILE) [connection]")
    .addHelpText("after", EXAMPLES);
  const args = new ArgumentReader(command);
  command.action(async (flags: Flags<"fetch">) => {
    args.refuseRepeated();
    const wanted = wantedOf(args, flags);
    const connection = connectionOf(args, flags, io);
    args.throwFaults();
    if (flags.activity !== undefined && "activityId" in wanted!) io.stderr.write(OLD_SPELLING);
    const evidence = await fetchWanted(wanted!, connection!, io);
    io.stdout.write(jsonDocument(evidence));
    finish(EXIT.good);
  });
}

type Wanted =
  | { readonly ephemeralKey: string }
  | { readonly app: string }
  | { readonly deploymentId: string }
  | { readonly activityId: string }
  | { readonly activityFile: string };

const OLD_SPELLING = "note: --activity takes a file, as in bootproof verify; for an id, use --activity-id ID\n";

function wantedOf(args: ArgumentReader, flags: Flags<"fetch">): Wanted | undefined {
  const { ephemeralKey, app, deploymentId, activity, activityId } = flags;
  if ([ephemeralKey, app, deploymentId, activity, activityId].filter((value) => value !== undefined).length !== 1) {
    return args.fault(
      "one of --ephemeral-key HEX, --app NAME, --deployment-id ID, --activity-id ID and --activity FILE is required: " +
        "what to fetch",
    );
  }
  if (app !== undefined) return { app };
  if (deploymentId !== undefined) return { deploymentId };
  if (activityId !== undefined) return { activityId };
  if (activity !== undefined) return isOldSpelling(activity) ? { activityId: activity } : { activityFile: activity };
  if (args.isEmpty("ephemeral-key")) return undefined;
  return ephemeralKeyOf(args, ephemeralKey!) && { ephemeralKey: ephemeralKey!.toLowerCase() };
}

/** Returns whether the value is an id, which `--activity` took before it took files. */
function isOldSpelling(value: string): boolean {
  return value !== STDIN && /^[A-Za-z0-9_-]+$/.test(value) && !existsSync(value);
}

async function fetchWanted(wanted: Wanted, connection: Connection, io: Io): Promise<object> {
  if ("ephemeralKey" in wanted || "app" in wanted) return { bootProof: await fetchBootProofOf(wanted, connection, io) };
  if ("deploymentId" in wanted) return fetchProvisioningDetails(wanted.deploymentId, connection, io);
  const given = "activityFile" in wanted ? { activity: await activityOf(wanted.activityFile, connection, io) } : wanted;
  const { activity, bootProofs, missing } = await fetchActivityEvidence(given, connection, io);
  if (bootProofs.length + missing.length === 0)
    throw noAppProofs("activityId" in wanted ? wanted.activityId : `in ${wanted.activityFile}`, connection);
  if ("activityId" in wanted)
    refuseMistaken(activity, { id: wanted.activityId, organizationId: connection.organizationId }, connection);
  if (missing.length > 0)
    throw unreachable(
      connection,
      missing.map((key) => `the service has no boot proof of the key ${key}, which an app proof of the activity names`),
    );
  const { packEvidence } = await import("../bundle/pack.js");
  return packEvidence({ bootProofs: bootProofs.map(({ bootProof }) => bootProof), activity });
}

/** Reads an activity, which must be completed and belong to the organization of the connection. */
async function activityOf(path: string, { organizationId }: Connection, io: Io): Promise<JsonValue> {
  const { readActivityFile } = await import("./pieces.js");
  const files = new InputFiles(io);
  const read = await readActivityFile(files, path, "fetch");
  const activity = unwrap(read?.value, "activity") as JsonValue;
  const { organizationId: own, status } = isJsonObject(activity) ? activity : {};
  if (typeof own === "string" && own !== organizationId)
    files.fault(
      path,
      `the activity is of organization ${own.slice(0, 100)}, but --organization-id is ${organizationId}`,
    );
  if (typeof status === "string" && status !== COMPLETED)
    files.fault(path, `the activity is not completed (${status.slice(0, 100)}): fetch it again, with --activity-id`);
  files.throwFaults();
  return activity;
}

/**
 * Refuses any activity but the requested one, and one that is not completed: a later reader of the file may not know
 * what was requested.
 */
function refuseMistaken(
  activity: JsonValue,
  wanted: { readonly id: string; readonly organizationId: string },
  connection: Connection,
): void {
  const answered = isJsonObject(activity) ? activity : {};
  const mistaken = (["id", "organizationId"] as const)
    .filter((name) => answered[name] !== wanted[name])
    .map((name) => {
      const value = answered[name];
      return (
        `get_activity: the service returned another activity: ${name} is ` +
        `${typeof value === "string" ? value.slice(0, 100) : "missing"}, ${wanted[name]} was requested`
      );
    });
  const status = answered["status"];
  const open =
    status === COMPLETED
      ? []
      : [
          `the activity ${wanted.id} is not completed ` +
            `(${typeof status === "string" ? status.slice(0, 100) : "it has no status"}): ` +
            "nothing is written, since it could be mistaken for a result",
        ];
  if (mistaken.length + open.length > 0) throw unreachable(connection, [...mistaken, ...open]);
}

function noAppProofs(activityId: string, connection: Connection): UnreachableError {
  const advice = "submit activities with generateAppProofs; nothing else proves them";
  return unreachable(connection, [`the service has no app proofs of the activity ${activityId}: ${advice}`]);
}
