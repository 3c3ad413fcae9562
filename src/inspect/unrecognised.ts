/** Describes files of unknown kinds for an error message. */
import { fromUtf8, isAllZero } from "../bytes.js";
import { sentInstead } from "../decode/evidence-members.js";
import { type JsonObject, type JsonValue, isJsonObject, jsonKind, parseJson } from "../decode/json.js";
import { BARE_ENVELOPE, isBareEnvelope } from "../decode/provenance-bundle.js";
import { decodeFile, insteadOfCose } from "../decode/text-encoding.js";
import { attempt, faultText, shownName } from "../errors.js";
import { foreignFormat } from "./foreign.js";

/** Patterns of known texts, in order of precedence. They are applied to the beginning of a text. */
const TEXTS: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/-----BEGIN [^\n-]*PRIVATE KEY-----/, "a private key in PEM, which is a secret: keep it from others"],
  [/-----BEGIN [^\n-]+-----/, "PEM without a certificate"],
  [/^\s*<[a-z][\w:-]*[\s>]/i, "XML"],
  [/^[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]*\s*$/, "a token (JWT)"],
  [
    /^(?:[ \t]*\r?\n|#.*\n|---[ \t]*\r?\n)*(?:[\w.-]+|"[^"\n]*"):(?:[ \t]|\r?\n|$)/,
    "YAML that is not a release: evidence and policies are JSON",
  ],
  [/^HTTP\/\d/, "an HTTP response with headers: use its body alone"],
];
const MAX_TEXT_START = 4096;
/** The beginning of hex or base64, in some alphabet. */
const BYTES = /^\s*[\w+/-]{32}[\w+/=\s-]*$/;
const CUT_OFF = "hex or base64 that was cut off or damaged: copy it again";
const MAX_BINARY_START = 16;

/**
 * Describes a file that {@link kindOf} does not recognise, such as `an HTML page: …`. Never throws. It may quote a few
 * names of JSON members, which are not escaped.
 */
export function describeUnrecognised(bytes: Uint8Array): string {
  if (bytes.length === 0) return "empty";
  const foreign = foreignFormat(bytes);
  if (foreign !== null) return foreign;
  const text = fromUtf8(bytes);
  if (text === null || bytes.subarray(0, MAX_BINARY_START).includes(0)) return describeBinary(bytes);
  return describeJson(text) ?? describeText(text, bytes);
}

function describeBinary(bytes: Uint8Array): string {
  if (isAllZero(bytes)) return `${bytes.length} zero bytes`;
  if (bytes[0] === 0x30 && bytes[1]! >= 0x80) return "DER (ASN.1), but not a certificate";
  return insteadOfCose(bytes) ?? `${bytes.length} bytes that are neither text nor of a known format`;
}

const MAX_NAMES = 8;
const OTHER_NAMES =
  "probably an app proof whose application has its own names for the members: convert it with the " +
  "library's appProofOf({ publicKey, payload, signature })";
/** Describes a text that begins as JSON. Returns null for any other text. */
function describeJson(text: string): string | null {
  if (!/^\s*(?:[[{"]|(?:null|true|false)\s*$)/.test(text.slice(0, MAX_TEXT_START))) return null;
  const { value, faults } = attempt(() => parseJson(text));
  return value === undefined ? `not strict JSON: ${faultText(faults)}` : describeValue(value);
}

function describeValue(value: JsonValue): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return "an empty JSON list";
    const kinds = "neither all boot proofs nor all app proofs";
    return `a JSON list of ${value.length}, ${kinds}; the first is ${jsonKind(value[0])}`;
  }
  if (!isJsonObject(value)) return `expected an object, got ${jsonKind(value)}`;
  if (Object.hasOwn(value, "NOT VERIFIED")) return "the output of bootproof inspect: use the evidence itself";
  const sent = sentInstead(value);
  if (sent !== null) return sent;
  if (isBareEnvelope(value)) return BARE_ENVELOPE;
  if (isAppProofOfOtherNames(value)) return OTHER_NAMES;
  const names = Object.keys(value);
  if (names.length === 0) return "an empty JSON object";
  const rest = names.length - MAX_NAMES;
  const shown = names.slice(0, MAX_NAMES).map((name) => JSON.stringify(shownName(name)));
  return `JSON with ${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}: no kind of evidence has these members`;
}

function isAppProofOfOtherNames(value: JsonObject): boolean {
  const names = Object.keys(value);
  return [/public_?key$/i, /payload$/i, /signature$/i].every((pattern) => names.some((name) => pattern.test(name)));
}

function describeText(text: string, bytes: Uint8Array): string {
  const beginning = text.slice(0, MAX_TEXT_START);
  const found = TEXTS.find(([pattern]) => pattern.test(beginning));
  if (found !== undefined) return found[1];
  const { bytes: inside, encoding } = decodeFile(bytes);
  if (encoding === "binary") return BYTES.test(beginning) ? CUT_OFF : "text of an unknown format";
  return decodeFile(inside).encoding === "binary"
    ? `${encoding} of ${describeUnrecognised(inside)}`
    : insteadOfCose(bytes)!;
}
