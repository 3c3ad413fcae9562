/**
 * Decoding of an image's PCRs as its maker publishes them: as lines of QOS's `nitro.pcrs`, or as the output of
 * `nitro-cli build-enclave` (decode/README.md, "Published PCRs"). They identify an image and nothing else.
 */
import { fromHex, fromUtf8, isAllZero } from "../bytes.js";
import { FaultList, MalformedError } from "../errors.js";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "./json.js";
import { PCR_LENGTH } from "./lengths.js";

/** PCRs of the image's files. The next list has the PCR of the certificate that signed the image. */
const WANTED = [0, 1, 2];
const OPTIONAL = [8];
const LINE = new RegExp(`^([0-9a-fA-F]{${2 * PCR_LENGTH}})[ \\t]+PCR([0-9]{1,2})$`);
/** Maximum length of a line. Genuine lines are shorter. */
const MAX_LINE = 256;
const MEMBER = /^PCR(0|[1-9][0-9]?)$/;
const MEASUREMENTS = "Measurements";

/** Whether the first line of a text has this form. */
export function arePcrLines(text: string): boolean {
  const [first] = text.trimStart().slice(0, MAX_LINE).split("\n", 1);
  return LINE.test(first!.trimEnd());
}

/** Whether JSON has the form that nitro-cli prints. */
export function areNitroCliPcrs(json: unknown): boolean {
  return isJsonObject(json) && isJsonObject(json[MEASUREMENTS]) && Object.hasOwn(json[MEASUREMENTS], "PCR0");
}

/**
 * Decodes PCRs 0, 1 and 2, and 8 if present, by index and of 48 bytes each. Throws {@link MalformedError} (`image`, or
 * `json`) for any other PCR, and for one that is missing, repeated, or all zeros as in debug mode.
 */
export function decodePublishedPcrs(bytes: Uint8Array): Readonly<Record<number, Uint8Array>> {
  const text = fromUtf8(bytes) ?? "";
  const faults = new FaultList();
  const entries = text.trimStart().startsWith("{") ? jsonEntries(parseJson(bytes), faults) : lineEntries(text, faults);
  const pcrs: Record<number, Uint8Array> = {};
  for (const [name, index, hex] of entries) {
    const value = fromHex(hex);
    if (![...WANTED, ...OPTIONAL].includes(index))
      faults.push({ path: name, message: "is not a PCR of an image (0, 1, 2, 8)" });
    else if (value?.length !== PCR_LENGTH)
      faults.push({ path: name, message: `expected ${2 * PCR_LENGTH} hex digits` });
    else if (isAllZero(value)) faults.push({ path: name, message: "all zeros, as in every debug enclave" });
    else if (Object.hasOwn(pcrs, index)) faults.push({ path: name, message: "appears twice" });
    else pcrs[index] = value;
  }
  for (const index of WANTED)
    if (!entries.some((entry) => entry[1] === index)) faults.push({ path: `PCR${index}`, message: "missing" });
  if (faults.length > 0) throw new MalformedError("image", faults);
  return pcrs;
}

type Entry = readonly [name: string, index: number, hex: string];

function lineEntries(text: string, faults: FaultList): Entry[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines.flatMap((line, at): Entry[] => {
    if (line === "") return [];
    const [, hex, index] = LINE.exec(line) ?? [];
    if (hex !== undefined && index !== undefined) return [[`PCR${index}`, Number(index), hex]];
    faults.push({ path: `line ${at + 1}`, message: "expected 96 hex digits, a space and PCR<index>" });
    return [];
  });
}

function jsonEntries(json: JsonValue, faults: FaultList): Entry[] {
  const measurements = isJsonObject(json) ? json[MEASUREMENTS] : undefined;
  if (!isJsonObject(measurements)) {
    faults.push({ path: MEASUREMENTS, message: "expected an object" });
    return [];
  }
  const algorithm = measurements["HashAlgorithm"];
  if (algorithm !== undefined && !(typeof algorithm === "string" && /^sha384\b/i.test(algorithm)))
    faults.push({ path: `${MEASUREMENTS}.HashAlgorithm`, message: "expected Sha384" });
  return namedEntries(measurements, faults);
}

function namedEntries(measurements: JsonObject, faults: FaultList): Entry[] {
  return Object.entries(measurements).flatMap(([name, value]): Entry[] => {
    if (name === "HashAlgorithm") return [];
    const index = MEMBER.exec(name)?.[1];
    if (index !== undefined && typeof value === "string") return [[name, Number(index), value]];
    faults.push({ path: name, message: index === undefined ? "unknown member" : "expected a string" });
    return [];
  });
}
