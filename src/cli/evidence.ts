/** Evidence for one verification, from wherever it comes: files, a bundle, the service; and its report. */
import { type Evidence, NamedEvidence, type VerifyOptions, verifyAttestation, verifyEvidence } from "../bootproof.js";
import { fromHex } from "../bytes.js";
import { MAX_APP_PROOFS, appProofList } from "../decode/app-proof.js";
import { decimalMilliseconds } from "../decode/decimal-time.js";
import { decodeFile } from "../decode/text-encoding.js";
import { unwrap } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import type { BundleVerification } from "../bundle/verify.js";
import type { Report } from "../report/report.js";
import type { Expected } from "../verify/expectation.js";
import type { Connection } from "./connection.js";
import { type InputFiles, MAX_BUNDLE_BYTES, STDIN } from "./files.js";
import { type Io, UsageError } from "./io.js";

/** Files of evidence. */
export interface EvidenceFiles {
  readonly bootProofs: readonly string[];
  readonly appProofs: readonly string[];
  readonly activity: string | undefined;
}

export type Source =
  | { readonly kind: "files"; readonly files: EvidenceFiles }
  | { readonly kind: "attestation"; readonly file: string }
  | { readonly kind: "bundle"; readonly file: string }
  /** The boot proof of the key is fetched; app proofs and activity may come as files. */
  | {
      readonly kind: "key";
      readonly ephemeralKey: string;
      readonly files: EvidenceFiles;
      readonly connection: Connection;
    }
  /** The activity is fetched, or in a file; what it lacks is fetched. */
  | {
      readonly kind: "activity";
      readonly activityId: string | undefined;
      readonly file: string | undefined;
      readonly connection: Connection;
    };

/** What the command line says was asked, but for what is in a file. */
export interface ExpectedFlags {
  readonly organizationId: string | undefined;
  readonly activityId: string | undefined;
  readonly addresses: readonly string[] | undefined;
  /** The request as it was submitted: JSON. */
  readonly request: string | undefined;
}

/** What to hold it against; the policy is undefined where the bundle's own is to be taken. */
type JudgeOptions = Omit<VerifyOptions, "policy"> & { readonly policy: VerifyOptions["policy"] | undefined };

export interface Judged {
  readonly report: Report;
  /** Where it was a bundle. */
  readonly bundle: BundleVerification | null;
}

/**
 * Reads or fetches the evidence and verifies it. Faults of files, those read before among them, are thrown together.
 */
export async function judge(source: Source, options: JudgeOptions, files: InputFiles, io: Io): Promise<Judged> {
  if (source.kind === "bundle") return judgeBundle(source.file, options, files, io);
  const policy: VerifyOptions["policy"] = options.policy!;
  return { report: await reportOn(source, { ...options, policy }, files, io), bundle: null };
}

async function reportOn(
  source: Exclude<Source, { kind: "bundle" }>,
  options: VerifyOptions,
  files: InputFiles,
  io: Io,
): Promise<Report> {
  switch (source.kind) {
    case "files":
      return reportOf(await readEvidence(files, source.files), options, io);
    case "attestation": {
      const document = await files.bytes(source.file);
      files.throwFaults();
      const piece = new NamedEvidence(nameOf(source.file), decodeFile(document!).bytes, { bytes: document! });
      return (await verifyAttestation(piece, options)).report;
    }
    case "key": {
      const evidence = await readEvidence(files, source.files);
      const { fetchBootProofOf } = await import("./fetch.js");
      const bootProof = await fetchBootProofOf({ ephemeralKey: source.ephemeralKey }, source.connection, io);
      const ephemeralKey = fromHex(source.ephemeralKey)!;
      return reportOf({ ...evidence, bootProofs: [bootProof] }, { ...options, ephemeralKey }, io);
    }
    case "activity":
      return reportOnActivity(source, options, files, io);
  }
}

/** The activity that was asked for, with its evidence from the service. */
async function reportOnActivity(
  source: Source & { kind: "activity" },
  options: VerifyOptions,
  files: InputFiles,
  io: Io,
): Promise<Report> {
  const { file, connection } = source;
  const given = file === undefined ? undefined : await files.piece(file);
  files.throwFaults();
  const { fetchActivityEvidence } = await import("./fetch.js");
  const wanted =
    given === undefined
      ? { activityId: source.activityId! }
      : { activity: unwrap(given.value, "activity") as JsonValue };
  const { activity, bootProofs } = await fetchActivityEvidence(wanted, connection, io);
  const facts = given === undefined ? {} : { bytes: given.bytes };
  const evidence = {
    bootProofs: bootProofs.map(
      ({ key, bootProof }) => new NamedEvidence(null, bootProof, { ephemeralKey: fromHex(key)! }),
    ),
    activity: new NamedEvidence(file === undefined ? null : nameOf(file), { activity }, facts),
  };
  return reportOf(evidence, options, io);
}

async function reportOf(evidence: Evidence, options: VerifyOptions, io: Io): Promise<Report> {
  io.progress(verifying(evidence));
  return (await verifyEvidence(evidence, options)).report;
}

/** What is being done, for who waits: `verifying 60 boot proofs, 2 app proofs`. */
export function verifying({ bootProofs, appProofs = [], activity }: Evidence): string {
  const counted = (count: number, one: string): string[] =>
    count === 0 ? [] : [count === 1 ? `a ${one}`.replace("a app", "an app") : `${count} ${one}s`];
  const pieces = [
    ...counted(bootProofs.length, "boot proof"),
    ...counted(appProofs.length, "app proof"),
    ...(activity === undefined ? [] : ["an activity"]),
  ];
  return `verifying ${pieces.join(", ")}`;
}

/** What was asked: of the options, and of the request's file. Undefined: nothing. */
export async function readExpected(
  files: InputFiles,
  { organizationId, activityId, addresses, request }: ExpectedFlags,
): Promise<Expected | undefined> {
  const submitted = request === undefined ? undefined : await readRequest(files, request);
  const organization = organizationId ?? submitted?.organizationId;
  if (submitted && organization !== submitted.organizationId) {
    return files.fault(
      request!,
      `the request is of organization ${submitted.organizationId}, --organization-id (or BOOTPROOF_ORGANIZATION_ID) ` +
        `says ${organization!}`,
    );
  }
  if (organization === undefined) return undefined;
  return {
    ...submitted,
    organizationId: organization,
    ...(activityId !== undefined && { id: activityId }),
    ...(addresses && { addresses }),
  };
}

/** The body of a submit, as it was sent (client/README.md, "Activities"). */
async function readRequest(files: InputFiles, path: string): Promise<Expected | undefined> {
  const json = await files.json(path);
  if (json === undefined) return undefined;
  const request: JsonObject = isJsonObject(json) ? json : {};
  const { organizationId, type, timestampMs, parameters } = request;
  const requestedAt = decimalMilliseconds(timestampMs);
  const isRequest =
    [organizationId, type].every((member) => typeof member === "string" && member !== "") &&
    isJsonObject(parameters) &&
    requestedAt !== null;
  if (!isRequest)
    return files.fault(
      path,
      "not a request as it was submitted: type, timestampMs, organizationId and parameters wanted",
    );
  return { organizationId: String(organizationId), type: String(type), parameters, requestedAt };
}

/** The evidence of files, each piece under the name of its file. */
export async function readEvidence(
  files: InputFiles,
  { bootProofs, appProofs, activity }: EvidenceFiles,
): Promise<Evidence> {
  const boots: unknown[] = [];
  for (const path of bootProofs)
    boots.push(...(await piecesOf(files, path, (json) => bootProofList(files, path, json))));
  const apps: unknown[] = [];
  for (const path of appProofs)
    apps.push(...(await piecesOf(files, path, (json) => boundedAppProofs(files, path, json))));
  const read = activity === undefined ? undefined : await files.piece(activity);
  if (read !== undefined) boundedAppProofs(files, activity!, unwrap(read.value, "activity"));
  files.throwFaults();
  const named = read && new NamedEvidence(nameOf(activity!), read.value, { bytes: read.bytes });
  return { bootProofs: boots, appProofs: apps, ...(named && { activity: named }) };
}

/** As reports name it. */
function nameOf(path: string): string {
  return path === STDIN ? "stdin" : path;
}

/** The pieces of a file: each goes by its name and its bytes. */
async function piecesOf(
  files: InputFiles,
  path: string,
  list: (json: JsonValue) => readonly unknown[] | Promise<readonly unknown[]>,
): Promise<NamedEvidence[]> {
  const read = await files.piece(path);
  if (read === undefined) return [];
  return (await list(read.value)).map((value) => new NamedEvidence(nameOf(path), value, { bytes: read.bytes }));
}

/** The boot proofs of a file: one, or those of a bundle. */
async function bootProofList(files: InputFiles, path: string, json: JsonValue): Promise<readonly unknown[]> {
  const list = isJsonObject(json) ? json["bootProofs"] : undefined;
  if (!Array.isArray(list) || list.length === 0) return [json];
  const { MAX_BUNDLE_BOOT_PROOFS } = await import("../bundle/file.js");
  return bounded(files, path, list, { what: "boot proofs", most: MAX_BUNDLE_BOOT_PROOFS });
}

function boundedAppProofs(files: InputFiles, path: string, input: unknown): readonly unknown[] {
  return bounded(files, path, appProofList(input), { what: "app proofs", most: MAX_APP_PROOFS });
}

/** Each entry is verified and reported on its own: without a limit, a file of commas would take minutes. */
function bounded(
  files: InputFiles,
  path: string,
  entries: readonly unknown[],
  { what, most }: { readonly what: string; readonly most: number },
): readonly unknown[] {
  if (entries.length <= most) return entries;
  files.fault(path, `a list of ${entries.length}, which cannot all be ${what}: at most ${most} fit into 1 MiB`);
  return [];
}

async function judgeBundle(file: string, options: JudgeOptions, files: InputFiles, io: Io): Promise<Judged> {
  const { decodeBundle, isBundle, namedBundle } = await import("../bundle/file.js");
  const library = await import("../bundle/verify.js");
  const read = await files.piece(file, MAX_BUNDLE_BYTES);
  if (read !== undefined && !isBundle(read.value)) {
    files.fault(
      file,
      "not a bundle (bootproof bundle makes them): other evidence comes after --boot-proof, --app-proof, --activity " +
        "or --attestation",
    );
  }
  files.throwFaults();
  const bundle = files.decoded(file, () => decodeBundle(read!.value));
  files.throwFaults();
  if (options.policy === undefined && !bundle!.judgement?.policy) {
    throw new UsageError([`--policy FILE or --no-policy is wanted: there is no policy in ${file}`]);
  }
  const { activity } = bundle!.evidence;
  const { id, type } = options.expected ?? {};
  if (activity === undefined && (id ?? type) !== undefined)
    throw new UsageError([`${file}: what was asked is an activity, and the bundle has none`]);
  const named = namedBundle(bundle!, nameOf(file), read!.bytes);
  io.progress(verifying(bundle!.evidence));
  const verification = await library.verifyBundle(named, {
    ...options,
    policy: options.policy ?? library.POLICY_OF_THE_BUNDLE,
  });
  return { report: verification.report, bundle: verification };
}
