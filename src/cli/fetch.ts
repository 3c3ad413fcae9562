/** `bootproof fetch`: writes evidence from the service as JSON, unverified. */
import { existsSync, statSync } from "node:fs";
import type { BundleFile } from "../bundle/file.js";
import { COMPLETED, readActivity } from "../decode/activity.js";
import { unwrap } from "../decode/input.js";
import { type JsonValue, isJsonObject } from "../decode/json.js";
import { unfinishedOf } from "../verify/unfinished.js";
import { jsonDocument } from "../report/json.js";
import { commandOf } from "./command.js";
import { CONNECTION_HELP, type Connection, connectionOf } from "./connection.js";
import { EXIT } from "./exit-codes.js";
import {
  fetchActivityEvidence,
  fetchBootProofOf,
  fetchLatestBootProofs,
  fetchProvisioningDetails,
  unreachable,
} from "./fetch-evidence.js";
import { type InputFiles, STDIN } from "./files.js";
import type { Io } from "./io.js";
import type { Flags } from "./option-table.js";
import { ephemeralKeyOf } from "./option-values.js";
import { deliver, isFileOut, refuseOut } from "./output.js";

const EXAMPLES = `
Nothing is verified here: pass the output to bootproof verify. The output is
  {"bootProof": …}, for verify --boot-proof, with --ephemeral-key and --app;
  {"attestationDocument": …, "manifestEnvelope": …, "provisioningState": …}, likewise, with --deployment-id;
  a bundle of the activity, its app proofs and their boot proofs, for verify FILE, with --activity-id and --activity.
With these two, --out also takes a folder: a path without the ending .json, or with a / at its end. The folder gets
boot-proofs.json, app-proofs.json and activity.json. Files and folders are written as a whole or not at all.
${CONNECTION_HELP}

Examples:
    $ bootproof fetch --app signer > boot.json && bootproof verify --boot-proof boot.json --policy policy.json
    $ bootproof fetch --activity activity.json --out bundle.json
    $ bootproof fetch --activity-id ID --out evidence
    $ bootproof verify --boot-proof evidence/boot-proofs.json --activity evidence/activity.json --policy policy.json
    $ bootproof fetch --activity-id ID | bootproof verify - --policy policy.json --organization-id ORG --activity-id ID

Exit codes: 0 fetched, 2 wrong usage or key, 3 the service could not be reached, refused, or does not have it.`;

export const addFetchCommand = commandOf(
  "fetch",
  {
    description: "Fetch evidence from the service and write it to stdout or --out, unverified.",
    usage:
      "(--ephemeral-key HEX | --app NAME | --deployment-id ID | --activity-id ID | --activity FILE) [--out PATH] " +
      "[connection]",
    help: EXAMPLES,
  },
  async ({ args, flags, files, io }) => {
    if (WANTED.filter((name) => args.has(name)).length !== 1)
      args.fault(
        "one of --ephemeral-key HEX, --app NAME, --deployment-id ID, --activity-id ID and --activity FILE is " +
          "required: what to fetch",
      );
    else if (!args.isEmpty("ephemeral-key")) ephemeralKeyOf(args, flags.ephemeralKey);
    const connection = connectionOf(args, flags, io);
    const { app, ephemeralKey, deploymentId, out } = flags;
    const isFolder = isFolderOut(flags);
    if (!isFolder) await refuseOut(args, out);
    args.throwFaults();
    if (isFolder) (await import("./write-whole.js")).requireEmptyFolder(out!);
    let evidence: object;
    if (app !== undefined) evidence = { bootProof: (await fetchLatestBootProofs([app], connection!, io))[0]!.value };
    else if (ephemeralKey !== undefined)
      evidence = { bootProof: await fetchBootProofOf(ephemeralKey, connection!, io) };
    else if (deploymentId !== undefined) evidence = await fetchProvisioningDetails(deploymentId, connection!, io);
    else {
      const bundle = await fetchBundle(flags, connection!, files, io);
      if (isFolder) return writeEvidence(bundle, out!);
      evidence = bundle;
    }
    await deliver(jsonDocument(evidence), out, io);
    return EXIT.good;
  },
);

/** Returns whether `--out` names a folder, which only the evidence of an activity fills. */
function isFolderOut({ activity, activityId, out }: Flags<"fetch">): boolean {
  if ((activity ?? activityId) === undefined || !isFileOut(out) || out === "") return false;
  return !/\.json$/i.test(out) || statSync(out, { throwIfNoEntry: false })?.isDirectory() === true;
}

async function writeEvidence({ bootProofs, activity }: BundleFile, folder: string): Promise<number> {
  const { writeFolder } = await import("./write-whole.js");
  await writeFolder(folder, {
    "boot-proofs.json": jsonDocument({ bootProofs }),
    "app-proofs.json": jsonDocument({ appProofs: readActivity({ activity }).value.appProofs }),
    "activity.json": jsonDocument({ activity }),
  });
  return EXIT.good;
}

const WANTED = ["ephemeral-key", "app", "deployment-id", "activity-id", "activity"] as const;
const OLD_SPELLING = "note: --activity takes a file, as in bootproof verify; for an id, use --activity-id ID\n";

/** Returns whether the value is an id and not a file. In older versions, `--activity` took an id. */
function isOldSpelling(value: string): boolean {
  return value !== STDIN && /^[A-Za-z0-9_-]+$/.test(value) && !existsSync(value);
}

/** Fetches the evidence that an activity in a file lacks, or both the activity and its evidence by an id. */
async function fetchBundle(
  { activity: file = "", activityId }: Flags<"fetch">,
  connection: Connection,
  files: InputFiles,
  io: Io,
): Promise<BundleFile> {
  const isOld = activityId === undefined && isOldSpelling(file);
  if (isOld) io.stderr.write(OLD_SPELLING);
  const id = isOld ? file : activityId;
  const wanted = id === undefined ? { activity: await activityOf(file, connection, files) } : { activityId: id };
  const { activity, bootProofs, missing } = await fetchActivityEvidence(wanted, connection, io);
  if (id !== undefined) refuseMistaken(activity, id, connection);
  if (bootProofs.length + missing.length === 0)
    throw unreachable(connection, [
      `the service has no app proofs of the activity ${id ?? `in ${file}`}: ` +
        "submit activities with generateAppProofs: true; without app proofs they cannot be verified",
    ]);
  if (missing.length > 0)
    throw unreachable(
      connection,
      missing.map((key) => `the service has no boot proof of the key ${key}, which an app proof of the activity names`),
    );
  const { packEvidence } = await import("../bundle/pack.js");
  return packEvidence({ bootProofs: bootProofs.map(({ bootProof }) => bootProof), activity });
}

/** Reads an activity, which must be completed and belong to the organization of the connection. */
async function activityOf(path: string, { organizationId }: Connection, files: InputFiles): Promise<JsonValue> {
  const { readActivityFile } = await import("./pieces.js");
  const read = await readActivityFile(files, path);
  const activity = unwrap(read?.value, "activity") as JsonValue;
  const { organizationId: own, status } = isJsonObject(activity) ? activity : {};
  if (typeof own === "string" && own !== organizationId)
    files.fault(path, `the activity belongs to organization ${shown(own)}, but --organization-id is ${organizationId}`);
  if (typeof status === "string" && status !== COMPLETED)
    files.fault(path, `${unfinishedOf(activity)!.text}: fetch it again, with --activity-id`);
  files.throwFaults();
  return activity;
}

function shown(value: unknown, missing = ""): string {
  return typeof value === "string" ? value.slice(0, 100) : missing;
}

/**
 * Refuses an activity that is not the requested one, or is not completed. A later reader of the file may not know what
 * was requested.
 */
function refuseMistaken(activity: JsonValue, id: string, connection: Connection): void {
  const answered = isJsonObject(activity) ? activity : {};
  const messages = Object.entries({ id, organizationId: connection.organizationId })
    .filter(([name, value]) => answered[name] !== value)
    .map(
      ([name, value]) =>
        `get_activity: this is not the requested activity: ${name} is ${shown(answered[name], "missing")}, ` +
        `${value} was requested`,
    );
  const { status } = answered;
  if (status !== COMPLETED) {
    const state = unfinishedOf(answered)?.text ?? `the activity ${id} has no status`;
    messages.push(`${state}: nothing is written, since it could be mistaken for a result`);
  }
  if (messages.length > 0) throw unreachable(connection, messages);
}
