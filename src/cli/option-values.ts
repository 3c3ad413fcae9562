/** Reads option values. The readers report a fault to the arguments, and return undefined. */
import { ACCEPTABLE_WORDS, type Acceptable } from "../addresses/classes.js";
import { duration } from "../appraise/shapes.js";
import { fromHex } from "../bytes.js";
import { parseTime } from "../decode/decimal-time.js";
import { parseJson } from "../decode/json.js";
import { plainNumbers } from "../decode/json-numbers.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { readShape } from "../decode/shapes.js";
import { attempt, faultText } from "../errors.js";
import { FORMATS, type Format, REPORT_FORMATS, type ReportFormat } from "../report/report.js";
import { type ExpectedPayload, challengeFault, pointerFault } from "../verify/expected-payload.js";
import type { Flags, OptionName } from "./option-table.js";
import type { ArgumentReader } from "./options.js";

export function formatOf(args: ArgumentReader, text: string | undefined): Format {
  return oneOf(args, FORMATS, text);
}

export function reportFormatOf(args: ArgumentReader, text: string | undefined): ReportFormat {
  return oneOf(args, REPORT_FORMATS, text);
}

function oneOf<F extends string>(args: ArgumentReader, formats: readonly F[], text = "text"): F | "text" {
  const format = formats.find((known) => known === text);
  return format ?? args.fault(`--format ${text}: expected one of ${formats.join(", ")}`) ?? "text";
}

/** Reads the time of `--now`. `clock` is the default. */
export function nowOf(args: ArgumentReader, text: string | undefined, clock: Date): Date | undefined {
  return text === undefined ? clock : timeOf(args, "--now", text);
}

export function atOf(args: ArgumentReader, text: string | undefined): Date | "document" | "now" | undefined {
  if (text === undefined || text === "document" || text === "now") return text;
  return timeOf(args, "--at", text, "document, now, or ");
}

function timeOf(args: ArgumentReader, option: string, text: string, words = ""): Date | undefined {
  return (
    parseTime(text) ??
    args.fault(`${option} ${text}: expected ${words}an RFC 3339 date and time, such as 2026-03-04T05:06:07Z`)
  );
}

/** Reads the classes of `--accept`. */
export function acceptedOf(args: ArgumentReader, text: string | undefined): readonly Acceptable[] {
  if (text === undefined || args.isEmpty("accept")) return [];
  return text.split(",").flatMap((word) => {
    const known = ACCEPTABLE_WORDS.find((name) => name === word);
    return known ?? args.fault(`--accept ${word}: expected ${ACCEPTABLE_WORDS.join(", ")}, with commas between`) ?? [];
  });
}

const MOST_WORKERS = 1024;

export function workersOf(args: ArgumentReader, text: string | undefined): number | undefined {
  if (text === undefined || args.isEmpty("workers")) return undefined;
  const workers = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0;
  if (workers > 0 && workers <= MOST_WORKERS) return workers;
  return args.fault(`--workers ${text}: expected a number of threads from 1 to ${MOST_WORKERS}`);
}

/** Reads a count from 0 to `most`. */
export function countOf(args: ArgumentReader, option: OptionName, text: string, most: number): number | undefined {
  if (args.isEmpty(option)) return undefined;
  const isCount = /^(?:0|[1-9][0-9]{0,8})$/.test(text) && Number(text) <= most;
  return isCount ? Number(text) : args.fault(`--${option} ${text}: expected a number from 0 to ${most}`);
}

export const UP_TO_A_DAY = { most: 86_400_000, words: "10s, 5m or 1h, up to 1d" };

/** Reads a duration in the syntax of a policy, in milliseconds. `words` are examples. */
export function durationOf(
  args: ArgumentReader,
  option: OptionName,
  text: string | undefined,
  { most = Infinity, words }: { readonly most?: number; readonly words: string },
): number | undefined {
  if (text === undefined || args.isEmpty(option)) return undefined;
  const milliseconds = readShape(duration, text).value;
  if (milliseconds !== undefined && milliseconds <= most) return milliseconds;
  return args.fault(`--${option} ${text}: expected a duration such as ${words}`);
}

/** Reads a greatest age in the syntax of a policy. */
export function maxAgeOf(args: ArgumentReader, { maxAge: text }: { readonly maxAge?: string }): { maxAgeMs?: number } {
  if (text !== undefined && args.has("no-policy"))
    args.fault("--max-age requires --policy: age is a check of the policy");
  const maxAgeMs = durationOf(args, "max-age", text, { words: "12h or 30d" });
  return maxAgeMs === undefined ? {} : { maxAgeMs };
}

export function portOf(args: ArgumentReader, text: string): number | undefined {
  if (/^(?:0|[1-9][0-9]{0,4})$/.test(text) && Number(text) <= 65535) return Number(text);
  return args.fault(`--port ${text}: expected 0 to 65535`);
}

export function ephemeralKeyOf(args: ArgumentReader, text: string | undefined): Uint8Array | undefined {
  return keyOf(args, "ephemeral-key", text, QOS_PUBLIC_KEY_LENGTH);
}

/** Reads the key of a request's signer. Returns it as hex. */
export function signerKeyOf(args: ArgumentReader, { signerKey: text, request }: Flags<"verify">): string | undefined {
  if (text !== undefined && request === undefined) args.fault("--signer-key requires --request");
  return keyOf(args, "signer-key", text, ED25519_KEY_LENGTH) && text;
}

const ED25519_KEY_LENGTH = 32;

function keyOf(
  args: ArgumentReader,
  option: "ephemeral-key" | "signer-key",
  text: string | undefined,
  length: number,
): Uint8Array | undefined {
  if (text === undefined) return undefined;
  const key = fromHex(text);
  if (key?.length === length) return key;
  const found = /^[0-9a-fA-F]*$/.test(text) ? `${text.length} hex digits` : "not hex";
  return args.fault(`--${option}: ${found}, expected ${2 * length} hex digits`);
}

export function nonceOf(args: ArgumentReader, text: string | undefined): Uint8Array | undefined {
  return text === "" ? args.fault(`--nonce: ${NO_HEX}`) : hexOf(args, "nonce", text);
}

const NO_HEX = "expected bytes in hex, without 0x";

/** Reads bytes in hex, of any length. */
export function hexOf(args: ArgumentReader, option: OptionName, text: string | undefined): Uint8Array | undefined {
  if (text === undefined) return undefined;
  return fromHex(text) ?? args.fault(`--${option}: ${NO_HEX}`);
}

type PayloadFlags = Pick<Flags<"verify">, "payload" | "challenge">;

type PayloadValue = ExpectedPayload["values"][string];

interface PayloadWord {
  readonly option: keyof PayloadFlags;
  readonly type: string;
  readonly pointer: string;
  readonly value: PayloadValue;
}

/** Reads the expected payloads. All words of one type make one expectation. Undefined if there are none. */
export function payloadsOf(args: ArgumentReader, flags: PayloadFlags): readonly ExpectedPayload[] | undefined {
  const words = (["payload", "challenge"] as const).flatMap((option) =>
    flags[option].flatMap((word) => payloadWord(args, option, word) ?? []),
  );
  if (args.has("payload") || args.has("challenge")) return expectationsOf(args, words);
  return undefined;
}

function expectationsOf(args: ArgumentReader, words: readonly PayloadWord[]): readonly ExpectedPayload[] {
  const types = [...new Set(words.map(({ type }) => type))];
  return types.map((type) => {
    const own = words.filter((word) => word.type === type);
    const challenges = own.filter(({ option }) => option === "challenge").map(({ pointer }) => pointer);
    args.refuseTwice(
      "--payload",
      own.map(({ pointer }) => `${type}:${pointer}`),
    );
    if (challenges.length > 1) args.fault(`--challenge: ${challenges.length} of type ${type}: give one for each type`);
    const [challenge] = challenges;
    const values = Object.fromEntries(own.map(({ pointer, value }) => [pointer, value]));
    return { type, values, ...(challenge !== undefined && { challenge }) };
  });
}

/**
 * Reads a word such as `TYPE:/pointer=JSON`. The type ends at the first colon, the pointer at the first equals sign.
 */
function payloadWord(args: ArgumentReader, option: keyof PayloadFlags, word: string): PayloadWord | undefined {
  const parts = /^([^:]+):([^=]*)=([^]*)$/.exec(word);
  if (parts === null) return args.fault(`--${option} ${word}: expected TYPE:/pointer=JSON${PERHAPS_A_FILE}`);
  const [, type, pointer, text] = parts as unknown as readonly [string, string, string, string];
  // Messages leave out the value, since it may be secret.
  const place = `--${option} ${type}:${pointer}`;
  const json = attempt(() => parseJson(text, { numbers: "literal" }));
  if (json.value === undefined) return args.fault(`${place}: the value is not JSON: ${quoteIt(option, type, pointer)}`);
  const { value, faults } = plainNumbers(json.value);
  if (typeof value === "object" && value !== null)
    return args.fault(`${place}: an object or array: name its members, such as ${type}:${pointer}/0=…`);
  const found = [
    ...(faults.length > 0 ? [faultText(faults)] : []),
    ...[pointerFault(pointer), option === "challenge" ? challengeFault(value) : null].filter((each) => each !== null),
  ];
  if (found.length > 0) return args.fault(found.map((fault) => `${place}: ${fault}`).join("; "));
  return { option, type, pointer, value };
}

const PERHAPS_A_FILE = ". It takes every word up to the next option: give files before it, or after --";

function quoteIt(option: string, type: string, pointer: string): string {
  const quoted = `--${option} '${type}:${pointer}="42"'`;
  return `a string is written in two kinds of quotes, since the shell removes one: ${quoted}`;
}
