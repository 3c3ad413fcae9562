/** Names the format of a file that cannot be read, and what to do about it. */
import { fromUtf8 } from "../bytes.js";
import { isImageStart } from "../image/header.js";

export const IMAGE_ADVICE = "bootproof measure shows its PCRs";

/** Null means an unknown format. */
export function tooLargeFormat(start: Uint8Array): string | null {
  return isImageStart(start) ? `this is an enclave image: ${IMAGE_ADVICE}` : null;
}

/** Magic bytes of formats that no command reads. */
const SIGNATURES: readonly (readonly [first: readonly number[], sentence: string])[] = [
  [[0x1f, 0x8b], "compressed with gzip: decompress it first (gunzip; curl --compressed)"],
  [[0x28, 0xb5, 0x2f, 0xfd], "compressed with zstd: decompress it first (unzstd)"],
  [[0x50, 0x4b, 0x03, 0x04], "a ZIP archive: name the files in it"],
  [[0xff, 0xfe], "UTF-16 text, as PowerShell's > writes it: save it as UTF-8"],
  [[0xfe, 0xff], "UTF-16 text: save it as UTF-8"],
];

/** Why no command reads a file with these bytes; null if it may be readable. */
export function unreadableFormat(bytes: Uint8Array): string | null {
  const [, sentence] = SIGNATURES.find(([first]) => first.every((byte, index) => bytes[index] === byte)) ?? [];
  if (sentence !== undefined) return sentence;
  if (isUtf16WithoutMark(bytes)) return "UTF-16 text without a byte order mark: save it as UTF-8";
  const start = String.fromCharCode(...bytes.subarray(0, 512)).trimStart();
  if (/^(?:\ufeff|\u00ef\u00bb\u00bf)?<(?:!doctype|!--|\?xml|html|head|body)/i.test(start))
    return "an HTML or XML page, probably a server's error: read it, and fetch the file again (curl --fail)";
  return bytes.every(isSpace) ? "only white space: the program that wrote it may have failed" : null;
}

const SAMPLE = 8;

/** Four ASCII characters, each with a zero before or after it. Neither CBOR, DER nor borsh starts so. */
function isUtf16WithoutMark(bytes: Uint8Array): boolean {
  const sample = [...bytes.subarray(0, SAMPLE)];
  const isText = (byte: number): boolean => isSpace(byte) || (byte >= 0x20 && byte < 0x7f);
  const fits = (text: number): boolean =>
    sample.every((byte, index) => (index % 2 === text ? isText(byte) : byte === 0));
  return sample.length === SAMPLE && (fits(0) || fits(1));
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

/** The first significant line of YAML; few other texts start so. */
const YAML_START = /^(?:---(?:[ \t].*)?|%YAML\b.*|- .*|(?:[\w.-]+|"[^"]*"|'[^']*')[ \t]*:(?:[ \t].*)?)$/;

/** The rest of a truncated text: nothing, or the start of a word or an escape. */
const CUT_OFF = /^(?:tr?u?|fa?l?s?|nu?l?|-|\\.{0,4})?$/;

/** Why the bytes are no JSON, with a likely cause. `fault`: the message of the parser. */
export function brokenJson(bytes: Uint8Array, fault: string): string {
  const text = fromUtf8(bytes);
  if (text === null) return `${fault}: a binary file, or text in another encoding`;
  const zero = text.indexOf("\0");
  if (zero >= 0) return `a NUL byte at character ${zero + 1}: a binary file, or a damaged copy`;
  if (text.trimStart().startsWith("-----BEGIN ")) return "this is PEM";
  const first = text.split(/\r?\n/).find((line) => !/^[ \t]*(?:#.*)?$/.test(line)) ?? "";
  if (YAML_START.test(first)) return "this looks like YAML: convert it (yq -o json)";
  const rest = restFrom(text, fault);
  if (rest === null) return fault;
  if (fault.startsWith("text after the end") && /^[{[]/.test(rest))
    return `${fault}: several JSON documents in one file: put them into one array (jq -s .)`;
  return CUT_OFF.test(rest) ? `${fault}: the file is cut off: write or fetch it again` : fault;
}

/** The text from the position in the parser's message; null if it has none. */
function restFrom(text: string, fault: string): string | null {
  const [, line, column] = /\(line (\d+), column (\d+)\)$/.exec(fault) ?? [];
  if (line === undefined || column === undefined) return null;
  let start = 0;
  for (let passed = 1; passed < Number(line); passed++) start = text.indexOf("\n", start) + 1;
  return text.slice(start + Number(column) - 1).trimEnd();
}
