/** Reads or fetches the evidence of one verification, and verifies it. */
import type { Policy } from "../appraise/policy.js";
import {
  type Evidence,
  NamedEvidence,
  type VerifyOptions,
  verifyAttestation,
  verifyEvidence,
  verifySignedBytes,
} from "../bootproof.js";
import { fromHex } from "../bytes.js";
import { decimalMilliseconds } from "../decode/decimal-time.js";
import { decodeFile } from "../decode/text-encoding.js";
import { unwrapAlone } from "../decode/evidence-members.js";
import { type JsonObject, type JsonValue, isJsonObject } from "../decode/json.js";
import { MalformedError } from "../errors.js";
import type { VerifiedSource } from "../formats/reports.js";
import type { Expected } from "../verify/expectation.js";
import { withBuilds } from "../inputs.js";
import { MAX_PROVENANCE } from "../verify/provenance-demand.js";
import { type Connection, NO_ORGANIZATION, ORGANIZATION_OF_THE_ACTIVITY } from "./connection.js";
import { type InputFiles, type ReadEvidence, nameOf } from "./files.js";
import { type Io, UsageError } from "./io.js";
import { jsonOfKind, ofKind } from "./kinds.js";
import type { Flags } from "./option-table.js";
import { verifierFor } from "./provenance.js";
import { piecesText, readActivityFile, readBootProofs, readEvidence, readPiece } from "./pieces.js";
import type { Source, VerifyRequest } from "./verify-request.js";

/** Options of a verification. `policy` is undefined if the bundle's own policy is used. */
export type JudgeOptions = Omit<VerifyOptions, "policy"> & { readonly policy: VerifyOptions["policy"] | undefined };

interface Judged {
  readonly request: VerifyRequest;
  readonly options: JudgeOptions;
  /** The bundles of builds, from `--provenance`. */
  readonly builds: Pick<Evidence, "provenance">;
}

/** Verifies the evidence. The faults of all files are thrown together. */
export async function judge(asked: Judged, files: InputFiles, io: Io): Promise<VerifiedSource> {
  const { request, builds } = asked;
  const { source, flags } = request;
  if (source.kind === "bundle") return judgeFile(asked, source.file, files, io);
  const given: VerifyOptions = { ...asked.options, policy: asked.options.policy! };
  if (source.kind === "attestation") {
    const file = flags.attestation!;
    const document = await ofKind(files, file, "--attestation");
    files.throwFaults();
    return judgeDocument(file, document!, document!, given);
  }
  if (flags.signedMessage !== undefined) return judgeMessage({ flags, source, builds, options: given }, files, io);
  const evidence = { ...(await evidenceOf(request, source, files, io)), ...builds };
  const options = answerable(evidence, given, request);
  io.progress(`verifying ${piecesText(evidence)}`);
  return { report: (await verifyEvidence(evidence, options)).report, evidence, options, bundle: null };
}

interface JudgedMessage extends Pick<Judged, "builds"> {
  readonly flags: Flags<"verify">;
  readonly source: Exclude<Source, { kind: "bundle" }>;
  readonly options: VerifyOptions;
}

/** Judges bytes that an application signed, with the boot proof that the options name or that is fetched by its key. */
async function judgeMessage(
  { flags, source, builds, options }: JudgedMessage,
  files: InputFiles,
  io: Io,
): Promise<VerifiedSource> {
  const { signedMessage, signature = "", publicKey, expect } = flags;
  const message = await files.raw(signedMessage!);
  // A file that cannot be read never becomes null, which would expect nothing.
  const expected = expect === undefined ? null : (await files.raw(expect))!;
  // It throws the faults of all files, before anything is fetched.
  const evidence = { ...(await evidenceOf({ flags }, source, files, io)), ...builds };
  const [bootProof, ...others] = evidence.bootProofs;
  if (others.length > 0)
    throw new UsageError([`--signed-message: one boot proof is required, not ${1 + others.length}`]);
  const signed = {
    ...builds,
    bootProof,
    message: new NamedEvidence(nameOf(signedMessage!), message!),
    signature,
    ...(publicKey !== undefined && { publicKey }),
  };
  io.progress("verifying signed bytes");
  const { report } = await verifySignedBytes(signed, { ...options, expected });
  return { report, evidence, options, bundle: null };
}

/** Judges a bare document. `file` is the content of its file, or the page that has it. */
async function judgeDocument(
  name: string,
  document: Uint8Array,
  file: Uint8Array,
  options: VerifyOptions,
): Promise<VerifiedSource> {
  const evidence = new NamedEvidence(nameOf(name), decodeFile(document).bytes, { bytes: file });
  return { report: (await verifyAttestation(evidence, options)).report, evidence, options, bundle: null };
}

/**
 * Returns the options, without the organization if the evidence cannot name one. An organization in the environment may
 * be meant for the connection only, so it is dropped. One on the command line throws {@link UsageError}, because it
 * would not be checked.
 */
function answerable(
  { appProofs = [], activity }: Evidence,
  options: VerifyOptions,
  { source, flags }: VerifyRequest,
): VerifyOptions {
  const { expected, ...others } = options;
  if (expected === undefined || (expected.addresses ?? expected.payload) !== undefined) return options;
  if (appProofs.length > 0 || activity !== undefined) return options;
  if (!("connection" in source) && flags.organizationId !== undefined) throw new UsageError([NO_ORGANIZATION]);
  return others;
}

async function evidenceOf(
  { flags }: Pick<VerifyRequest, "flags">,
  source: Exclude<Source, { kind: "bundle" }>,
  files: InputFiles,
  io: Io,
): Promise<Evidence> {
  if (!("connection" in source)) return readEvidence(files, flags);
  const { kind, connection } = source;
  if (kind === "activity") return evidenceOfActivity(flags, connection, files, io);
  const evidence = await readEvidence(files, flags);
  const { fetchBootProofOf, fetchLatestBootProofs } = await import("./fetch-evidence.js");
  if (kind === "key") return { ...evidence, bootProofs: [await fetchBootProofOf(flags.ephemeralKey!, connection, io)] };
  return { bootProofs: await fetchLatestBootProofs(flags.app, connection, io) };
}

async function evidenceOfActivity(
  { activity: file, activityId }: Flags<"verify">,
  connection: Connection,
  files: InputFiles,
  io: Io,
): Promise<Evidence> {
  const given = file === undefined ? undefined : await readActivityFile(files, file);
  files.throwFaults();
  const { fetchActivityEvidence } = await import("./fetch-evidence.js");
  const wanted =
    given === undefined ? { activityId: activityId! } : { activity: unwrapAlone(given.value, "activity") as JsonValue };
  const { activity, bootProofs } = await fetchActivityEvidence(wanted, connection, io);
  const facts = given?.bytes ? { bytes: given.bytes } : {};
  return {
    bootProofs: bootProofs.map(
      ({ key, bootProof }) => new NamedEvidence(null, bootProof, { ephemeralKey: fromHex(key)! }),
    ),
    activity: new NamedEvidence(given?.name ?? null, { activity }, facts),
  };
}

/** Returns what the options and the file of the request expect. Undefined if nothing is expected. */
export async function readExpected(
  files: InputFiles,
  { flags: { activityId, address: addresses, request }, organizationId, publicKey, payload }: VerifyRequest,
): Promise<Expected | undefined> {
  const submitted = request === undefined ? undefined : await readRequest(files, request);
  const organization = organizationId ?? submitted?.organizationId;
  if (submitted && organization !== submitted.organizationId) {
    return files.fault(
      request!,
      `the request belongs to organization ${submitted.organizationId}, but --organization-id (or ` +
        `BOOTPROOF_ORGANIZATION_ID) is ${organization!}`,
    );
  }
  if (organization === undefined) return payload && { payload };
  return {
    ...submitted,
    organizationId: organization,
    ...(publicKey && { publicKey }),
    ...(payload && { payload }),
    ...(activityId !== undefined && { id: activityId }),
    ...(addresses.length > 0 && { addresses }),
  };
}

/** Reads a request as it was submitted (client/README.md, "Activities"). */
async function readRequest(files: InputFiles, path: string): Promise<Expected | undefined> {
  const read = await readPiece(files, path, "--request");
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
      "not a request as it was submitted: expected type, timestampMs, organizationId and parameters",
    );
  return { organizationId: String(organizationId), type: String(type), parameters, requestedAt };
}

/** Verifies a bundle or a page. A page contains a bundle or a bare document. */
async function judgeFile(asked: Judged, file: string, files: InputFiles, io: Io): Promise<VerifiedSource> {
  const read = await files.evidence(file);
  const page = read?.page && { page: nameOf(file) };
  const { kindOf } = await import("../inspect/kinds.js");
  const kind = read && kindOf(read.bytes);
  if (page && kind === "attestation document") return { ...(await judgePageOfDocument(asked, file, read!)), ...page };
  if (!page && String(kind).startsWith("boot proof")) return judgeBootProofs(asked, file, files, io);
  const json = await jsonOfKind(files, file, read?.bytes, "BUNDLE");
  const { isBundle } = await import("../bundle/file.js");
  if (json !== undefined && !isBundle(json)) files.fault(file, NOT_A_BUNDLE);
  files.throwFaults();
  return { ...(await judgeBundle(asked, { file, json, bytes: read!.page ?? read!.bytes }, files, io)), ...page };
}

/**
 * Judges a file of boot proofs that no option names. The rules of the policy about app proofs apply, as they do to a
 * bundle: only the caller may leave them out, with --boot-proof.
 */
async function judgeBootProofs(
  { options: given, builds, request }: Judged,
  file: string,
  files: InputFiles,
  io: Io,
): Promise<VerifiedSource> {
  const bootProofs = await readBootProofs(files, [file]);
  files.throwFaults();
  refuseUnmet(file, false, given.expected ?? {});
  const evidence = { bootProofs, ...builds };
  const options = answerable(evidence, underPolicy(given, undefined, file), request);
  io.progress(`verifying ${piecesText(evidence)}`);
  return { report: (await verifyEvidence(evidence, options)).report, evidence, options, bundle: null };
}

const NOT_A_BUNDLE =
  "not a bundle (bootproof bundle makes them): give other evidence with --boot-proof, --app-proof, --activity or " +
  "--attestation";

async function judgePageOfDocument(
  { options, request, builds }: Judged,
  file: string,
  { bytes, page }: ReadEvidence,
): Promise<VerifiedSource> {
  const own = answerable({ bootProofs: [] }, underPolicy(options, undefined, file), request);
  if (builds.provenance !== undefined || own.expected !== undefined || own.ephemeralKey !== undefined)
    throw new UsageError([
      `${file}: the page has a bare attestation document: leave out options about keys, requests and builds`,
    ]);
  return judgeDocument(file, bytes, page!, own);
}

/** Returns the options with their policy or, if they have none, with `inside`, the policy in the evidence. */
function underPolicy(options: JudgeOptions, inside: Policy | undefined, file: string): VerifyOptions {
  const { policy = inside } = options;
  if (options.policy === undefined && inside?.signed)
    throw new UsageError([
      `--bundle-policy: the policy in ${file} is signed, and never judges: give --policy and --policy-signers`,
    ]);
  if (policy !== undefined) return Object.assign({ ...options }, { policy });
  throw new UsageError([`--bundle-policy: ${file} has no policy. Give --policy FILE or --no-policy`]);
}

async function judgeBundle(
  { request, options: given, builds }: Judged,
  { file, json, bytes }: { readonly file: string; readonly json: unknown; readonly bytes: Uint8Array },
  files: InputFiles,
  io: Io,
): Promise<VerifiedSource> {
  const { decodeBundle, namedBundle } = await import("../bundle/file.js");
  const library = await import("../bundle/verify.js");
  const bundle = files.decoded(file, () => decodeBundle(json))!;
  files.throwFaults();
  const inside = bundle.judgement?.policy ?? undefined;
  const own = underPolicy(given, inside, file);
  const { activity } = bundle.evidence;
  const { provenance = [] } = builds;
  refuseTooManyBuilds(file, bundle.evidence, provenance.length);
  refuseUnmet(file, activity !== undefined, given.expected ?? {});
  const options = answerable(bundle.evidence, own, request);
  const named = namedBundle(bundle, nameOf(file), bytes);
  io.progress(`verifying ${piecesText(bundle.evidence)}`);
  const asked = given.policy ?? library.POLICY_OF_THE_BUNDLE;
  const verification = await library
    .verifyBundle(named, { ...options, ...(await verifierFor(inside)), provenance, policy: asked })
    .catch((error: unknown) => {
      throw error instanceof MalformedError ? loosening(error, file) : error;
    });
  const evidence = withBuilds(named.evidence, provenance);
  return { report: verification.report, bundle: verification, evidence, options };
}

function refuseTooManyBuilds(file: string, { provenance = [] }: Evidence, given: number): void {
  const all = provenance.length + given;
  if (all > MAX_PROVENANCE)
    throw new UsageError([
      `--provenance: ${all} bundles of provenance, including those in ${file}: at most ${MAX_PROVENANCE} allowed`,
    ]);
}

function refuseUnmet(
  file: string,
  hasActivity: boolean,
  { id, type, organizationId, payload }: Partial<Expected>,
): void {
  if (!hasActivity && (id ?? type) !== undefined)
    throw new UsageError([`${file}: an activity is expected, and the file has none: give it with --activity FILE`]);
  if (hasActivity && payload !== undefined && organizationId === undefined)
    throw new UsageError([`${file}: ${ORGANIZATION_OF_THE_ACTIVITY}`]);
}

/** Returns a usage error for the fault that the bundle's own policy allows more than the command line. */
function loosening(error: MalformedError, file: string): Error {
  const { code, faults } = error;
  // A fault of the caller's lists is none of the bundle.
  if (code === "revocation-list") return error;
  return new UsageError(faults.map(({ path, message }) => ({ file: nameOf(file), message: `${path}: ${message}` })));
}
