/** Readers of option values. They report a fault to the arguments, and return undefined. */
import { fromHex } from "../bytes.js";
import { QOS_PUBLIC_KEY_LENGTH } from "../decode/lengths.js";
import { FORMATS, type Format, REPORT_FORMATS, type ReportFormat } from "../report/report.js";
import type { ArgumentReader } from "./options.js";

export function formatOf(args: ArgumentReader, text: string | undefined): Format {
  return oneOf(args, FORMATS, text);
}

export function reportFormatOf(args: ArgumentReader, text: string | undefined): ReportFormat {
  return oneOf(args, REPORT_FORMATS, text);
}

function oneOf<F extends string>(args: ArgumentReader, formats: readonly F[], text = "text"): F | "text" {
  const format = formats.find((known) => known === text);
  return format ?? args.fault(`--format ${text}: one of ${formats.join(", ")} expected`) ?? "text";
}

/** `clock`: the default. */
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
    args.fault(`${option} ${text}: ${words}an RFC 3339 date and time expected, such as 2026-03-04T05:06:07Z`)
  );
}

const MOST_WORKERS = 1024;

export function workersOf(args: ArgumentReader, text: string): number | undefined {
  if (args.isEmpty("workers")) return undefined;
  const workers = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0;
  if (workers > 0 && workers <= MOST_WORKERS) return workers;
  return args.fault(`--workers ${text}: a number of threads from 1 to ${MOST_WORKERS} expected`);
}

export function ephemeralKeyOf(args: ArgumentReader, text: string): Uint8Array | undefined {
  const key = fromHex(text);
  if (key?.length === QOS_PUBLIC_KEY_LENGTH) return key;
  const found = /^[0-9a-fA-F]*$/.test(text) ? `${text.length} hex digits` : "not hex";
  return args.fault(`--ephemeral-key: ${found}, ${2 * QOS_PUBLIC_KEY_LENGTH} hex digits expected`);
}

export function nonceOf(args: ArgumentReader, text: string): Uint8Array | undefined {
  const nonce = fromHex(text);
  return nonce !== null && nonce.length > 0 ? nonce : args.fault("--nonce: bytes in hex expected, without 0x");
}

/** RFC 3339 section 5.6, without leap seconds; null for any other text and for days that do not exist. */
export function parseTime(text: string): Date | null {
  const parts = /^(\d{4}-\d{2}-)(\d{2})[Tt](\d{2}:\d{2}:\d{2})(\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/.exec(
    text,
  );
  if (parts === null) return null;
  const [, month, day, clock] = parts;
  // Date turns 30 February into March: parsed without the offset, the day must stay the same.
  const local = new Date(`${month}${day}T${clock}Z`);
  if (Number.isNaN(local.getTime()) || local.getUTCDate() !== Number(day)) return null;
  const time = new Date(text.toUpperCase());
  return Number.isNaN(time.getTime()) ? null : time;
}
