/**
 * Decoding of an image's PCRs as its maker publishes them: as lines of QOS's `nitro.pcrs`, as nitro-cli prints them, or
 * as JSON with their names (decode/README.md, "Published PCRs"). They identify an image and nothing else.
 */
import { fromHex, fromUtf8, isAllZero } from "../bytes.js";
import { FaultList, MalformedError, listed } from "../errors.js";
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

/** Maximum characters of what `nitro-cli build-enclave` prints before its JSON. It prints some lines. */
const MAX_BANNER = 8192;

/** Returns where the JSON of `nitro-cli build-enclave` begins, behind the lines that it prints before. 0: no banner. */
function bannerLength(text: string): number {
  if (/^[{[]/.test(text.slice(0, 1))) return 0;
  const start = text.slice(0, MAX_BANNER);
  for (let at = start.indexOf("\n{"); at >= 0; at = start.indexOf("\n{", at + 1))
    if (/^\{\s*"Measurements"/.test(text.slice(at + 1, at + 200))) return at + 1;
  return 0;
}

/** Whether a text has these forms: lines of PCRs, or JSON behind the banner of `nitro-cli build-enclave`. */
export function arePcrTexts(text: string): boolean {
  const [first] = text.trimStart().slice(0, MAX_LINE).split("\n", 1);
  return LINE.test(first!.trimEnd()) || bannerLength(text) > 0;
}

/** Whether JSON has a form that nitro-cli prints or projects publish. */
export function arePcrs(json: unknown): boolean {
  const hasPcr0 = (value: unknown): boolean => isJsonObject(value) && Object.hasOwn(value, "PCR0");
  const isOfEnclave = (value: unknown): boolean => isJsonObject(value) && hasPcr0(value[MEASUREMENTS]);
  return hasPcr0(json) || isOfEnclave(json) || (Array.isArray(json) && json.length > 0 && json.every(isOfEnclave));
}

/**
 * Decodes PCRs 0, 1 and 2, and 8 if present, by index and of 48 bytes each. Throws {@link MalformedError} (`image`, or
 * `json`) for any other PCR, for one that is missing, repeated, or all zeros as in debug mode, and for an enclave that
 * runs in debug mode.
 */
export function decodePublishedPcrs(bytes: Uint8Array): Readonly<Record<number, Uint8Array>> {
  const whole = fromUtf8(bytes) ?? "";
  const text = whole.slice(bannerLength(whole));
  const faults = new FaultList();
  const isJson = /^\s*[[{]/.test(text);
  const [form, entries] = isJson ? jsonEntries(parseJson(text), faults) : [QOS_FORM, lineEntries(text, faults)];
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
  refuseMissing(entries, faults);
  if (faults.length === 0) return pcrs;
  const read = faults.map(({ path, message }) => ({ path, message: `${message} (read as ${form})` }));
  throw new MalformedError("image", read);
}

/** Adds a fault for each PCR that is missing, unless the whole form was not read. */
function refuseMissing(entries: readonly Entry[], faults: FaultList): void {
  if (entries.length === 0 && faults.length > 0) return;
  for (const index of WANTED)
    if (!entries.some((entry) => entry[1] === index)) faults.push({ path: `PCR${index}`, message: "missing" });
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

const QOS_FORM = "lines of nitro.pcrs";
const ENCLAVES_FORM = "the list of nitro-cli describe-enclaves";
const OUTPUT_FORM = "the output of nitro-cli";
const PLAIN_FORM = 'PCRs as {"PCR0", "PCR1", "PCR2"}';

/** Returns the form that the JSON was taken for, and its PCRs. */
function jsonEntries(json: JsonValue, faults: FaultList): readonly [form: string, Entry[]] {
  if (Array.isArray(json)) return [ENCLAVES_FORM, enclaveEntries(json, faults)];
  if (isJsonObject(json) && isJsonObject(json[MEASUREMENTS]))
    return [OUTPUT_FORM, outputEntries(json, json[MEASUREMENTS], faults)];
  if (isJsonObject(json) && Object.hasOwn(json, "PCR0")) return [PLAIN_FORM, namedEntries(json, "", faults)];
  faults.push({ path: MEASUREMENTS, message: "expected an object" });
  return [OUTPUT_FORM, []];
}

function enclaveEntries(enclaves: readonly JsonValue[], faults: FaultList): Entry[] {
  const [only, ...others] = enclaves;
  const names = enclaves.map((one) => (isJsonObject(one) ? String(one["EnclaveName"] ?? one["EnclaveID"]) : "?"));
  if (others.length > 0)
    faults.push({
      path: "",
      message: `${enclaves.length} enclaves (${listed(names, ", ")}): keep the one that is meant`,
    });
  else if (!isJsonObject(only) || !isJsonObject(only[MEASUREMENTS]))
    faults.push({ path: MEASUREMENTS, message: only === undefined ? "no enclave runs" : "expected an object" });
  else return outputEntries(only, only[MEASUREMENTS], faults);
  return [];
}

/** Reads the output for one image or enclave. nitro-cli shows the image's PCRs even of a debug enclave. */
function outputEntries(output: JsonObject, measurements: JsonObject, faults: FaultList): Entry[] {
  if (/DEBUG/i.test(String(output["Flags"] ?? "")))
    faults.push({
      path: "Flags",
      message:
        "this enclave runs in debug mode and attests zeros; nitro-cli shows the PCRs of its image all the same: use " +
        "the output of nitro-cli build-enclave, or of an enclave without --debug-mode",
    });
  return namedEntries(measurements, `${MEASUREMENTS}.`, faults);
}

function namedEntries(measurements: JsonObject, place: string, faults: FaultList): Entry[] {
  const { HashAlgorithm: algorithm, ...pcrs } = measurements;
  if (algorithm !== undefined && !(typeof algorithm === "string" && /^sha384\b/i.test(algorithm)))
    faults.push({ path: `${place}HashAlgorithm`, message: "expected Sha384" });
  return Object.entries(pcrs).flatMap(([name, value]): Entry[] => {
    const index = MEMBER.exec(name)?.[1];
    if (index !== undefined && typeof value === "string") return [[name, Number(index), value]];
    faults.push({ path: name, message: index === undefined ? "unknown member" : "expected a string" });
    return [];
  });
}
