/** Reads or fetches the evidence of one verification that options name, and verifies it. */
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
import type { VerifiedSource } from "../formats/reports.js";
import type { Expected } from "../verify/expectation.js";
import { type Connection, NO_ORGANIZATION } from "./connection.js";
import { type InputFiles, nameOf } from "./files.js";
import { type Io, UsageError } from "./io.js";
import { ofKind } from "./kinds.js";
import type { Flags } from "./option-table.js";
import { piecesText, readActivityFile, readEvidence, readPiece } from "./pieces.js";
import type { Source, VerifyRequest } from "./verify-request.js";

/** Options of a verification. `policy` is undefined if the bundle's own policy is used. */
export type JudgeOptions = Omit<VerifyOptions, "policy"> & { readonly policy: VerifyOptions["policy"] | undefined };

export interface AskedVerification {
  readonly request: VerifyRequest;
  readonly options: JudgeOptions;
  /** The bundles of builds, from `--provenance`. */
  readonly builds: Pick<Evidence, "provenance">;
}

/** Verifies the evidence. The faults of all files are thrown together. */
export async function judge(
  { request, options: asked, builds }: AskedVerification,
  source: NamedSource,
  files: InputFiles,
  io: Io,
): Promise<VerifiedSource> {
  const { flags } = request;
  const given: VerifyOptions = { ...asked, policy: asked.policy! };
  if (source.kind === "attestation") {
    const file = flags.attestation!;
    const document = await ofKind(files, file, "--attestation");
    files.throwFaults();
    return documentJudged(file, document!, document!, given);
  }
  if (flags.signedMessage !== undefined) return judgeMessage({ flags, source, builds, options: given }, files, io);
  const evidence = { ...(await evidenceOf(request, source, files, io)), ...builds };
  const options = answerable(evidence, given, request);
  io.progress(`verifying ${piecesText(evidence)}`);
  return { report: (await verifyEvidence(evidence, options)).report, evidence, options, bundle: null };
}

/** Where evidence comes from that is no bundle and no page. */
type NamedSource = Exclude<Source, { kind: "bundle" }>;

interface JudgedMessage extends Pick<AskedVerification, "builds"> {
  readonly flags: Flags<"verify">;
  readonly source: NamedSource;
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
export async function documentJudged(
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
export function answerable(
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
  source: NamedSource,
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
  { flags: { activityId, address: addresses, request, signerKey: publicKey }, organizationId, payload }: VerifyRequest,
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
