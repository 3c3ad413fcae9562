/** Recognition of foreign formats by their first bytes, with advice for each. */

export const IMAGE_ADVICE = "bootproof measure shows its PCRs";

/** First bytes of each format, as one character for each byte. */
const STARTS: readonly (readonly [start: string, what: string])[] = [
  ["\xff\xfe", "UTF-16 text, as PowerShell's > writes it: save it as UTF-8"],
  ["\xfe\xff", "UTF-16 text: save it as UTF-8"],
  ["\x1f\x8b", "compressed with gzip: decompress it first (gunzip; curl --compressed)"],
  ["\x28\xb5\x2f\xfd", "compressed with zstd: decompress it first (unzstd)"],
  ["\xfd7zXZ\x00", "compressed with xz: decompress it first (unxz)"],
  ["BZh", "compressed with bzip2: decompress it first (bunzip2)"],
  ["PK\x03\x04", "a ZIP archive: name the files in it"],
  ["\x89PNG\r\n", "a picture (PNG)"],
  ["\xff\xd8\xff", "a picture (JPEG)"],
  ["GIF8", "a picture (GIF)"],
  ["%PDF-", "a PDF document"],
  ["\x7fELF", "a program (ELF)"],
  ["MZ\x90", "a program (Windows)"],
  ["\x00asm", "a program (WebAssembly)"],
  ["SQLite format 3", "a database (SQLite)"],
];
const BEGINNING = 512;

/** Returns a name such as `a PDF document`, or null if the bytes may be of a known kind. */
export function foreignFormat(bytes: Uint8Array): string | null {
  const beginning = String.fromCharCode(...bytes.subarray(0, BEGINNING));
  const [, what] = STARTS.find(([start]) => beginning.startsWith(start)) ?? [];
  if (what !== undefined) return what;
  if (isUtf16WithoutMark(bytes)) return "UTF-16 text without a byte order mark: save it as UTF-8";
  if (/^(?:\u00ef\u00bb\u00bf)?<(?:!doctype|!--|\?xml|html|head|body)/i.test(beginning.trimStart()))
    return "an HTML or XML page without evidence, probably a server's error: read it, and fetch again (curl --fail)";
  return bytes.every(isSpace) ? "only white space: the program that wrote it may have failed" : null;
}

const SAMPLE = 8;

/**
 * Whether the bytes are UTF-16 text without a mark: each of the first four characters has a zero before or after it.
 * Neither CBOR, DER nor Borsh starts like this.
 */
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
