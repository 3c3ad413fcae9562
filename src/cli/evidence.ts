/** Evidence for one verification, from wherever it comes: files, a bundle, the service; and its report. */
import { type Evidence, NamedEvidence, type VerifyOptions, verifyAttestation, verifyEvidence } from "../bootproof.js";
import { fromHex } from "../bytes.js";
import { MAX_APP_PROOFS, appProofList } from "../decode/app-proof.js";
import { bootProofList } from "../decode/boot-proof.js";
import { decimalMilliseconds } from "../decode/decimal-time.js";
import { decodeFile } from "../decode/text-encoding.js";
import { unwrap } from "../decode/input.js";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../decode/json.js";
import type { BundleVerification } from "../bundle/verify.js";
import type { Report } from "../report/report.js";
import type { Expected } from "../verify/expectation.js";
import type { Connection } from "./connection.js";
import { type InputFiles, MAX_BUNDLE_BYTES, STDIN } from "./files.js";
import { type Io, UsageError } from "./io.js";
import { type FileCommand, type FilePlace, ofKind } from "./kinds.js";

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
  if (source.kind === "bundle") return judgeBundle(source.file, options, files);
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
      return (await verifyEvidence(await readEvidence(files, source.files, "verify"), options)).report;
    case "attestation": {
      const place: FilePlace = { command: "verify", option: "--attestation" };
      const document = await ofKind(files, source.file, await files.bytes(source.file), place);
      files.throwFaults();
      const piece = new NamedEvidence(nameOf(source.file), decodeFile(document!).bytes, { bytes: document! });
      return (await verifyAttestation(piece, options)).report;
    }
    case "key": {
      const evidence = await readEvidence(files, source.files, "verify");
      const { fetchBootProofOf } = await import("./fetch.js");
      const bootProof = await fetchBootProofOf({ ephemeralKey: source.ephemeralKey }, source.connection, io);
      return (
        await verifyEvidence(
          { ...evidence, bootProofs: [bootProof] },
          { ...options, ephemeralKey: fromHex(source.ephemeralKey)! },
        )
      ).report;
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
  const given = file === undefined ? undefined : await readActivity(files, file, "verify");
  files.throwFaults();
  const { fetchActivityEvidence } = await import("./fetch.js");
  const wanted =
    given === undefined
      ? { activityId: source.activityId! }
      : { activity: unwrap(given.value, "activity") as JsonValue };
  const { activity, bootProofs } = await fetchActivityEvidence(wanted, connection, io);
  return (
    await verifyEvidence(
      {
        bootProofs: bootProofs.map(
          ({ key, bootProof }) => new NamedEvidence(null, bootProof, { ephemeralKey: fromHex(key)! }),
        ),
        activity: new NamedEvidence(given?.name ?? null, { activity }, given?.bytes ? { bytes: given.bytes } : {}),
      },
      options,
    )
  ).report;
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
  const read = await readPiece(files, path, { command: "verify", option: "--request" });
  if (read === undefined) return undefined;
  const json = read.value;
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
  command: FileCommand,
): Promise<Evidence> {
  const boots = await readBootProofs(files, bootProofs, command);
  const apps: NamedEvidence[] = [];
  for (const path of appProofs) apps.push(...(await readAppProofs(files, path, command)));
  const named = activity === undefined ? undefined : await readActivity(files, activity, command);
  files.throwFaults();
  return {
    bootProofs: boots,
    ...(appProofs.length > 0 && { appProofs: apps }),
    ...(named && { activity: named }),
  };
}

/**
 * The boot proofs of files, each file one or several, each named as reports name it. Faults stay with the files: see
 * {@link InputFiles.throwFaults}.
 */
export async function readBootProofs(
  files: InputFiles,
  paths: readonly string[],
  command: FileCommand,
): Promise<NamedEvidence[]> {
  const { MAX_BUNDLE_BOOT_PROOFS } = await import("../bundle/file.js");
  const pieces: NamedEvidence[] = [];
  for (const path of paths) {
    const read = await readPiece(files, path, { command, option: "--boot-proof" });
    if (read === undefined) continue;
    const list = bootProofList(read.value);
    if (list?.length === 0) files.fault(path, "there are no boot proofs in it: the list is empty");
    const most = { what: "boot proofs", most: MAX_BUNDLE_BOOT_PROOFS };
    if (list === null) pieces.push(namedPiece(nameOf(path), read.value, read));
    else pieces.push(...listed(path, read, bounded(files, path, list, most)));
  }
  return pieces;
}

async function readAppProofs(files: InputFiles, path: string, command: FileCommand): Promise<NamedEvidence[]> {
  const read = await readPiece(files, path, { command, option: "--app-proof" });
  if (read === undefined) return [];
  const isList = Array.isArray(unwrap(read.value, "appProofs"));
  const list = boundedAppProofs(files, path, read.value);
  return isList ? listed(path, read, list) : list.map((value) => namedPiece(nameOf(path), value, read));
}

/** The activity of a file, bare or in its wrapper. */
export async function readActivity(
  files: InputFiles,
  path: string,
  command: FileCommand,
): Promise<NamedEvidence | undefined> {
  const read = await readPiece(files, path, { command, option: "--activity" });
  if (read === undefined) return undefined;
  boundedAppProofs(files, path, unwrap(read.value, "activity"));
  return namedPiece(nameOf(path), read.value, read);
}

/** A file of evidence, as JSON. */
interface ReadPiece {
  readonly value: JsonValue;
  readonly bytes: Uint8Array;
}

/** The JSON of a file that is what its option takes. */
async function readPiece(files: InputFiles, path: string, place: FilePlace): Promise<ReadPiece | undefined> {
  const most = place.option === "BUNDLE" ? MAX_BUNDLE_BYTES : undefined;
  const bytes = await ofKind(files, path, await files.bytes(path, most), place);
  const value = bytes && files.decoded(path, () => parseJson(bytes));
  return bytes && value !== undefined ? { value, bytes } : undefined;
}

/** As reports name it. */
function nameOf(path: string): string {
  return path === STDIN ? "stdin" : path;
}

/** The pieces of a file's list, each by its place in it, such as `boot.json[3]`. */
function listed(path: string, read: ReadPiece, list: readonly unknown[]): NamedEvidence[] {
  return list.map((value, index) => namedPiece(`${nameOf(path)}[${index}]`, value, read));
}

function namedPiece(name: string, value: unknown, { bytes }: ReadPiece): NamedEvidence {
  return new NamedEvidence(name, value, { bytes });
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

async function judgeBundle(file: string, options: JudgeOptions, files: InputFiles): Promise<Judged> {
  const { decodeBundle, isBundle, namedBundle } = await import("../bundle/file.js");
  const verifying = await import("../bundle/verify.js");
  const read = await readPiece(files, file, { command: "verify", option: "BUNDLE" });
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
  const verification = await verifying.verifyBundle(named, {
    ...options,
    policy: options.policy ?? verifying.POLICY_OF_THE_BUNDLE,
  });
  return { report: verification.report, bundle: verification };
}
