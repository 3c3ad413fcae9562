/** Looking at a file without verifying any of it: what kind of thing it is, and what it says. */
import { plainNumbers } from "../decode/json-numbers.js";
import { appProofList } from "../decode/app-proof.js";
import { type Piece, evidenceBesideMember } from "../decode/evidence-members.js";
import { ownOptions, unwrap } from "../decode/input.js";
import { type JsonValue, isJsonObject } from "../decode/json.js";
import { MalformedError } from "../errors.js";
import type { ByteStream } from "../image/stream.js";
import { inspectDer, inspectPem } from "./certificates.js";
import {
  BESIDE,
  type Described,
  type DescribedObject,
  type Inspected,
  bounded,
  faultList,
  fewFaults,
  type inspectEach,
  undescribed,
  within,
} from "./described.js";
import { inspectDocument } from "./documents.js";
import { inspectActivity, inspectAppProof, inspectAppProofs, inspectBootProof, inspectBootProofs } from "./evidence.js";
import {
  type YamlReader,
  inspectApiKey,
  inspectBundle,
  inspectPublishedPcrs,
  inspectRelease,
  inspectReport,
  inspectRequest,
} from "./files.js";
import { type EvidenceKind, type Recognised, recognise } from "./kind.js";
import { inspectImageStream, onePiece } from "./image.js";
import { inspectApproval, inspectEnvelope, inspectManifest } from "./manifests.js";
import { inspectPolicy } from "./policy.js";

export type { Described, DescribedObject, YamlReader };

export interface Inspection {
  /** Says so itself, and stands first wherever this is printed. */
  readonly "NOT VERIFIED": string;
  readonly kind: EvidenceKind;
  /** How the bytes were written, such as `JSON` or `CBOR in base64`. */
  readonly encoding: string;
  /** What breaks the kind's format: the rest of it is shown all the same. */
  readonly faults: readonly string[];
  /** Where something was too much to be shown, and how much; empty where all of the file is there. */
  readonly leftOut: readonly string[];
  /** Bytes in lower-case hex, times in RFC 3339. Names in parentheses are no names of the file. */
  readonly says: Described;
}

export interface InspectOptions {
  /** Reads the YAML of a release; without it the lines of one are shown. What it throws is thrown on. */
  readonly readYaml?: YamlReader;
}

/** Values of one inspection: more than evidence of honest size has. */
const MAX_VALUES = 50_000;
const NOT_VERIFIED =
  "Nothing below was checked. Anybody can write evidence that says this; only `bootproof verify` tells whether it " +
  "is true.";

/**
 * Recognises a file by its content and tells what it says, WITHOUT VERIFYING anything. Null where it is of no kind that
 * is known: {@link describeUnrecognised} says what it looks like. Throws `MalformedError` (`json`) where it begins as
 * JSON and is not.
 */
export async function inspectUnverified(bytes: Uint8Array, options: InspectOptions = {}): Promise<Inspection | null> {
  options = ownOptions("options", options, { readYaml: true });
  const recognised = recognise(new Uint8Array(bytes));
  if (recognised === null) return null;
  const { json: literal, kind, encoding } = recognised;
  const { value: json, faults: numbers } = literal === undefined ? NO_JSON : plainNumbers(literal);
  const { faults, says } = await INSPECTORS[kind]({ ...recognised, json: json! }, options);
  // A manifest's numbers are its own reader's.
  const all = kind === "API key" ? faults : [...faults, ...faultList(numbers)];
  return inspectionOf({ kind, encoding, faults: all, says });
}

/**
 * {@link inspectUnverified} of the files of published releases, by their paths, WITHOUT VERIFYING any of them: an
 * inspection of kind `release`, with what each file says under its path.
 */
export async function inspectReleaseFiles(
  files: Iterable<readonly [path: string, bytes: Uint8Array]>,
): Promise<Inspection> {
  const [says, faults]: [[string, Described][], string[]] = [[], []];
  for (const [path, bytes] of files) {
    const one = await inspectReleaseFile(bytes);
    says.push([path, one.says]);
    faults.push(...within(path, one));
  }
  return inspectionOf({
    kind: "release",
    encoding: "folder",
    faults: fewFaults(faults),
    says: Object.fromEntries(says),
  });
}

/** A file that is none of its kind has that as its fault, and the others are shown. */
async function inspectReleaseFile(bytes: Uint8Array): Promise<Part> {
  try {
    const inspection = await inspectUnverified(bytes);
    return inspection ?? { faults: ["not recognised"], says: null };
  } catch (error) {
    if (error instanceof MalformedError) return { faults: faultList(error.faults), says: null };
    throw error;
  }
}

/**
 * {@link inspectUnverified} of an enclave image file that is too large to be held: header, sections, metadata, and the
 * certificate of its signature, WITHOUT VERIFYING any of it. A file of another kind has that as its fault.
 */
export async function inspectImageUnverified(stream: ByteStream): Promise<Inspection> {
  return inspectionOf(await inspectImageStream(stream));
}

function inspectionOf({ kind, encoding, faults, says }: Inspected): Inspection {
  const { value, leftOut } = bounded(says, { left: MAX_VALUES });
  return { "NOT VERIFIED": NOT_VERIFIED, kind, encoding, faults, leftOut, says: value };
}

const NO_JSON = { value: undefined, faults: [] } as const;

/** A file whose kind is known; `json` is there for the kinds that are JSON. */
interface Known extends Omit<Recognised, "json"> {
  readonly json: JsonValue;
}

type Part = Pick<Inspected, "faults" | "says">;
type Inspector = (file: Known, options: InspectOptions) => Part | Promise<Part>;

/** Total: a new kind has to say how it is shown. */
const INSPECTORS: Readonly<Record<EvidenceKind, Inspector>> = {
  "boot proof": ({ json }) => inspectBootProof(json),
  "boot proofs": ({ json }) =>
    inspectList(json, ["bootProofs", "boot proof"], unwrap(json, "bootProofs"), inspectBootProofs),
  "app proof": ({ json }) => inspectAppProof(json),
  "app proofs": ({ json }) => inspectList(json, ["appProofs", "app proof"], appProofList(json), inspectAppProofs),
  activity: ({ json }) => inspectActivity(json),
  "attestation document": ({ bytes }) => inspectDocument(bytes),
  manifest: ({ bytes, encoding }) => inspectManifest(bytes, encoding),
  "manifest envelope": ({ bytes, encoding }) => inspectEnvelope(bytes, encoding),
  certificate: ({ bytes, encoding }) =>
    encoding.startsWith("PEM") ? inspectPem("certificate", bytes) : inspectDer(bytes),
  certificates: ({ bytes }) => inspectPem("certificates", bytes),
  bundle: ({ json }) => inspectBundle(json),
  policy: ({ json }) => inspectPolicy(json),
  report: ({ json }) => inspectReport(json),
  release: ({ bytes, json }, { readYaml }) => inspectRelease(bytes, json, readYaml),
  approval: ({ bytes, encoding }) => inspectApproval(bytes, encoding),
  "image PCRs": ({ bytes, encoding }) => inspectPublishedPcrs(bytes, encoding),
  request: ({ json }) => inspectRequest(json),
  "API key": ({ json }) => inspectApiKey(json),
  "enclave image": ({ bytes }) => inspectImageStream(onePiece(bytes)),
};

/** A list, bare or in its wrapper, whose other members are shown beside it. */
async function inspectList(
  json: JsonValue,
  [wrapper, piece]: readonly [string, Piece],
  list: unknown,
  inspect: (items: readonly unknown[]) => ReturnType<typeof inspectEach>,
): Promise<Part> {
  const { faults, says } = await inspect(Array.isArray(list) ? list : []);
  const beside = isJsonObject(json) ? undescribed(json, { [wrapper]: true }) : undefined;
  const all = [...faultList(evidenceBesideMember(json, wrapper, piece)), ...faults];
  return { faults: all, says: beside === undefined ? says : { [wrapper]: says, [BESIDE]: beside } };
}
