/** Inspects files without verifying them. */
import { callable, typedOptions } from "../decode/options.js";
import { optional } from "../decode/shapes.js";
import { plainNumbers } from "../decode/json-numbers.js";
import { appProofList } from "../decode/app-proof.js";
import { type Piece, evidenceBesideMember } from "../decode/evidence-members.js";
import { unwrap } from "../decode/input.js";
import type { JsonValue } from "../decode/json.js";
import { type Fault, attemptLater, faultText } from "../errors.js";
import type { ByteStream } from "../image/stream.js";
import { inspectDer, inspectPem } from "./certificates.js";
import {
  BESIDE,
  type Described,
  type Inspected,
  besideIn,
  bounded,
  fewFaults,
  flaw,
  within,
  membersOf,
} from "./described.js";
import {
  inspectApproval,
  inspectDocument,
  inspectEnvelope,
  inspectGenesisOutput,
  inspectGenesisRequest,
  inspectManifest,
} from "./documents.js";
import { inspectActivity, inspectAppProof, inspectAppProofs, inspectBootProof, inspectBootProofs } from "./evidence.js";
import {
  type YamlReader,
  inspectApiKey,
  inspectBundle,
  inspectPublishedPcrs,
  inspectRelease,
  inspectReport,
  inspectRequest,
  inspectFeed,
  inspectSigned,
} from "./files.js";
import { type EvidenceKind, type Recognised, recognise } from "./kinds.js";
import { inspectImageStream, onePiece } from "./image.js";
import { inspectPolicy } from "./policy.js";
import { inspectProvenance, inspectTrustedRoot } from "./provenance.js";

export interface Inspection {
  /** The warning. Every output begins with it. */
  readonly "NOT VERIFIED": string;
  readonly kind: EvidenceKind;
  /** The encoding, such as `JSON` or `CBOR in base64`. */
  readonly encoding: string;
  /** Violations of the format. Despite them, the content is shown. */
  readonly faults: readonly string[];
  /** Places that were shortened, with counts. */
  readonly leftOut: readonly string[];
  /** The content: bytes in lower-case hex, times in RFC 3339. Names in parentheses are not from the file. */
  readonly says: Described;
}

export interface InspectOptions {
  /** Parses the YAML of a release. By default, the lines of the file are shown instead. */
  readonly readYaml?: YamlReader;
}

const MAX_VALUES = 50_000;
const NOT_VERIFIED =
  "Nothing below was checked. Anybody can write evidence that says this; only `bootproof verify` checks whether it " +
  "is true.";

/**
 * Shows the kind and content of a file, WITHOUT VERIFYING it. Returns null for unknown kinds: see {@link
 * describeUnrecognised}. Throws `MalformedError` (`json`) for invalid JSON.
 * @example
 * ```ts
 * const inspection = await inspectUnverified(bytes);
 * ```
 */
export async function inspectUnverified(bytes: Uint8Array, options: InspectOptions = {}): Promise<Inspection | null> {
  options = typedOptions("options", options, { readYaml: optional(callable) });
  const recognised = recognise(new Uint8Array(bytes));
  if (recognised === null) return null;
  const { json: literal, kind, encoding } = recognised;
  const { value: json, faults: numbers } = literal === undefined ? NO_JSON : plainNumbers(literal);
  const { faults, says } = await INSPECTORS[kind]({ ...recognised, json: json! }, options);
  // Faults of numbers are left out for an API key file, because they quote the numbers, which may be secret.
  const all = kind === "API key" ? faults : [...faults, ...numbers];
  return inspectionOf({ kind, encoding, faults: all, says });
}

/**
 * Inspects as {@link inspectUnverified} does, WITHOUT VERIFYING, the files of published releases by their paths.
 * Returns an inspection of kind `release`, with the content of each file under its path.
 */
export async function inspectReleaseFiles(
  files: Iterable<readonly [path: string, bytes: Uint8Array]>,
): Promise<Inspection> {
  const [says, faults]: [[string, Described][], Fault[]] = [[], []];
  for (const [path, bytes] of files) {
    const { value, faults: own } = await attemptLater(() => inspectUnverified(bytes));
    const flaws = value === null ? [flaw("not recognised")] : (value?.faults.map(flaw) ?? own);
    says.push([path, value?.says ?? null]);
    faults.push(...within(path, { faults: flaws }));
  }
  return inspectionOf({
    kind: "release",
    encoding: "folder",
    faults: fewFaults(faults),
    says: Object.fromEntries(says),
  });
}

/**
 * Inspects as {@link inspectUnverified} does, WITHOUT VERIFYING, an enclave image that is too large for memory. If the
 * file is of another kind, the inspection has a fault.
 */
export async function inspectImageUnverified(stream: ByteStream): Promise<Inspection> {
  return inspectionOf({ kind: "enclave image", encoding: "EIF", ...(await inspectImageStream(stream)) });
}

function inspectionOf({ kind, encoding, faults, says }: Inspected & Pick<Recognised, "kind" | "encoding">): Inspection {
  const { value, leftOut } = bounded(says, { left: MAX_VALUES });
  const texts = faults.map((fault) => faultText([fault]));
  return { "NOT VERIFIED": NOT_VERIFIED, kind, encoding, faults: texts, leftOut, says: value };
}

const NO_JSON = { value: undefined, faults: [] } as const;

type Inspector = (
  file: Omit<Recognised, "json"> & { readonly json: JsonValue },
  options: InspectOptions,
) => Inspected | Promise<Inspected>;

const INSPECTORS: Readonly<Record<EvidenceKind, Inspector>> = {
  "boot proof": ({ json }) => inspectBootProof(json),
  "boot proofs": ({ json }) =>
    inspectList(json, ["bootProofs", "boot proof"], unwrap(json, "bootProofs"), inspectBootProofs),
  "app proof": ({ json }) => inspectAppProof(json),
  "app proofs": ({ json }) => inspectList(json, ["appProofs", "app proof"], appProofList(json), inspectAppProofs),
  activity: ({ json }) => inspectActivity(json),
  "attestation document": ({ bytes }) => inspectDocument(bytes),
  manifest: ({ bytes }) => inspectManifest(bytes),
  "manifest envelope": ({ bytes }) => inspectEnvelope(bytes),
  certificate: ({ bytes, encoding }) =>
    encoding.startsWith("PEM") ? inspectPem("certificate", bytes) : inspectDer(bytes),
  certificates: ({ bytes }) => inspectPem("certificates", bytes),
  bundle: ({ json }) => inspectBundle(json),
  "provenance bundle": ({ bytes, json }) => inspectProvenance(bytes, json),
  "trusted root": ({ bytes, json }) => inspectTrustedRoot(bytes, json),
  policy: ({ json }) => inspectPolicy(json),
  "policy feed": ({ bytes }) => inspectFeed(bytes),
  "signed policy": ({ json }) => inspectSigned(json),
  "policy signers": ({ json }) => ({ faults: [], says: membersOf(json) }),
  "policy state": ({ json }) => ({ faults: [], says: membersOf(json) }),
  report: ({ json }) => inspectReport(json),
  release: ({ bytes, json }, { readYaml }) => inspectRelease(bytes, json, readYaml),
  approval: ({ bytes }) => inspectApproval(bytes),
  "genesis output": ({ bytes }) => inspectGenesisOutput(bytes),
  "genesis request": ({ bytes }) => inspectGenesisRequest(bytes),
  "image PCRs": ({ bytes }) => inspectPublishedPcrs(bytes),
  request: ({ json }) => inspectRequest(json),
  "API key": ({ json }) => inspectApiKey(json),
  "enclave image": ({ bytes }) => inspectImageStream(onePiece(bytes)),
};

async function inspectList(
  json: JsonValue,
  [wrapper, piece]: readonly [string, Piece],
  list: unknown,
  inspect: (items: readonly unknown[]) => Promise<Inspected>,
): Promise<Inspected> {
  const { faults, says } = await inspect(Array.isArray(list) ? list : []);
  const { [BESIDE]: beside } = besideIn(json, wrapper);
  const all = [...evidenceBesideMember(json, wrapper, piece), ...faults];
  return { faults: all, says: beside === undefined ? says : { [wrapper]: says, [BESIDE]: beside } };
}
