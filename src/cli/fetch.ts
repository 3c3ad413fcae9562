/** `bootproof fetch`: writes evidence from the service as JSON, unverified. */
import { existsSync, statSync } from "node:fs";
import type { BundleFile } from "../bundle/file.js";
import { COMPLETED, readActivity } from "../decode/activity.js";
import { decodeAttestationDocument } from "../decode/attestation-document.js";
import { readBootProof } from "../decode/boot-proof.js";
import { unwrap } from "../decode/input.js";
import { type JsonValue, isJsonObject } from "../decode/json.js";
import { attempt, listed } from "../errors.js";
import { jsonDocument } from "../report/json.js";
import { unfinishedOf } from "../verify/unfinished.js";
import { commandOf } from "./command.js";
import { CONNECTION_HELP, type Connection, connectionOf } from "./connection.js";
import { EXIT } from "./exit-codes.js";
import {
  MAX_SHOWN,
  fetchActivityEvidence,
  fetchBootProofOf,
  fetchLatestBootProofs,
  fetchProvisioningDetails,
  mistakenIn,
  unreachable,
} from "./fetch-evidence.js";
import { type InputFiles, STDIN } from "./files.js";
import type { Io } from "./io.js";
import { WANTED } from "./option-rules.js";
import type { Flags } from "./option-table.js";
import { deliverNew, isFileOut, refuseOut, reportWritten } from "./output.js";

const EXAMPLES = `
Nothing is verified here: pass the output to bootproof verify. The output is
  {"bootProof": …}, for verify --boot-proof, with --ephemeral-key and --app;
  {"attestationDocument": …, "manifestEnvelope": …, "provisioningState": …}, likewise, with --deployment-id;
  a bundle of the activity, its app proofs and their boot proofs, for verify FILE, with --activity-id and --activity.
With these two, --out also takes a folder: a path without the ending .json, or with a / at its end. The folder gets
boot-proofs.json, app-proofs.json and activity.json. Files and folders are written as a whole or not at all. Another
file that is there is replaced with --force only.
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
    usage:
      "(--ephemeral-key HEX | --app NAME | --deployment-id ID | --activity-id ID | --activity FILE) " +
      "[--out PATH] [--force] [connection]",
    help: EXAMPLES,
  },
  async ({ args, flags, files, io }) => {
    if (!WANTED.some((name) => args.has(name)))
      args.fault(
        "one of --ephemeral-key HEX, --app NAME, --deployment-id ID, --activity-id ID and --activity FILE is " +
          "required: what to fetch",
      );
    const connection = connectionOf(args, flags, io);
    const { app, ephemeralKey, deploymentId, out } = flags;
    const isFolder = isFolderOut(flags);
    if (isFolder && flags.force === true) args.fault("--force requires --out FILE: a folder is never replaced");
    else if (!isFolder) await refuseOut(args, out);
    args.throwFaults();
    if (isFolder) (await import("./write-whole.js")).requireFolder(out!);
    let fetched: Fetched;
    if (app !== undefined) {
      const bootProof = (await fetchLatestBootProofs([app], connection!, io))[0]!.value;
      fetched = { what: `the newest boot proof of ${app}`, evidence: { bootProof } };
    } else if (ephemeralKey !== undefined) {
      const bootProof = await fetchBootProofOf(ephemeralKey, connection!, io);
      fetched = { what: "the boot proof of that key", evidence: { bootProof } };
    } else if (deploymentId !== undefined) {
      const details = await fetchProvisioningDetails(deploymentId, connection!, io);
      fetched = { what: `the provisioning details of ${deploymentId}`, evidence: details };
    } else {
      const bundle = await fetchBundle(flags, connection!, files, io);
      const what = `an activity and ${counted(bundle.bootProofs.length)}`;
      if (isFolder) return writeEvidence(bundle, out!, what, io);
      fetched = { what, evidence: bundle };
    }
    await deliverNew(jsonDocument(fetched.evidence), flags, saysOf(fetched), io);
    return EXIT.good;
  },
);

interface Fetched {
  readonly what: string;
  readonly evidence: object;
}

function counted(bootProofs: number): string {
  return bootProofs === 1 ? "its boot proof" : `its ${bootProofs} boot proofs`;
}

/** Says what was fetched, of which application, and its date, as the evidence says it. */
function saysOf({ what, evidence }: Fetched): string {
  const { bootProof, bootProofs = [bootProof ?? evidence] } = evidence as Partial<BundleFile> & { bootProof?: unknown };
  const facts = bootProofs.map((one) => {
    const { labels, attestationDocument } = readBootProof(one).value;
    const document = attestationDocument && attempt(() => decodeAttestationDocument(attestationDocument)).value;
    return { app: labels?.enclaveApp ?? [], time: document?.timestamp ?? [] };
  });
  const apps = [...new Set(facts.flatMap(({ app }) => app))];
  const times = facts.flatMap(({ time }) => time).map((time) => new Date(time).toISOString());
  const [first = "without a date", ...others] = times.sort();
  const last = others.length === 0 ? "" : ` to ${others.at(-1)!}`;
  return `${what}${apps.length === 0 ? "" : `, labelled ${listed(apps)}`}, dated ${first}${last}: not verified yet`;
}

/** Returns whether `--out` names a folder, which only the evidence of an activity fills. */
function isFolderOut({ activity, activityId, out }: Flags<"fetch">): boolean {
  if ((activity ?? activityId) === undefined || !isFileOut(out) || out === "") return false;
  return !/\.json$/i.test(out) || statSync(out, { throwIfNoEntry: false })?.isDirectory() === true;
}

async function writeEvidence(bundle: BundleFile, folder: string, what: string, io: Io): Promise<number> {
  const { bootProofs, activity } = bundle;
  const { writeFolder } = await import("./write-whole.js");
  const verb = await writeFolder(folder, {
    "boot-proofs.json": jsonDocument({ bootProofs }),
    "app-proofs.json": jsonDocument({ appProofs: readActivity({ activity }).value.appProofs }),
    "activity.json": jsonDocument({ activity }),
  });
  reportWritten(verb, folder, saysOf({ what, evidence: bundle }), io);
  return EXIT.good;
}

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
    files.fault(
      path,
      `the activity belongs to organization ${own.slice(0, MAX_SHOWN)}, but --organization-id is ${organizationId}`,
    );
  if (typeof status === "string" && status !== COMPLETED)
    files.fault(path, `${unfinishedOf(activity)!.text}: fetch it again, with --activity-id`);
  files.throwFaults();
  return activity;
}

/**
 * Refuses an activity that is not the requested one, or is not completed. A later reader of the file may not know what
 * was requested.
 */
function refuseMistaken(activity: JsonValue, id: string, connection: Connection): void {
  const answered = isJsonObject(activity) ? activity : {};
  const messages = mistakenIn("get_activity: this is not the requested activity", answered, id, connection);
  const { status } = answered;
  if (status !== COMPLETED) {
    const state = unfinishedOf(answered)?.text ?? `the activity ${id} has no status`;
    messages.push(`${state}: nothing is written, since it could be mistaken for a result`);
  }
  if (messages.length > 0) throw unreachable(connection, messages);
}
