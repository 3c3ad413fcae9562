/** Reads values of options. A reader throws commander's error, whose message follows the name of the option. */
import { InvalidArgumentError } from "commander";
import { ACCEPTABLE_WORDS, type Acceptable } from "../addresses/classes.js";
import { duration } from "../appraise/shapes.js";
import { fromHex } from "../bytes.js";
import { parseTime } from "../decode/decimal-time.js";
import { ED25519_KEY_LENGTH, QOS_PUBLIC_KEY_LENGTH, SHA256_LENGTH } from "../decode/lengths.js";
import { readShape } from "../decode/shapes.js";
import { FORMATS, REPORT_FORMATS } from "../report/report.js";
import { COMMITMENT_KINDS } from "../verify/commitment.js";

/** What reads a value, or the words of which it has to be one. */
export type Reader = ((text: string) => unknown) | readonly string[];

function refuse(text: string, expected: string): never {
  throw new InvalidArgumentError(` ${text}: expected ${expected}`);
}

const DATE = "an RFC 3339 date and time, such as 2026-03-04T05:06:07Z";

function timeOr(words: string): (text: string) => Date {
  return (text) => parseTime(text) ?? refuse(text, words + DATE);
}

function certificateTime(text: string): Date | "document" | "now" {
  return text === "document" || text === "now" ? text : timeOr("document, now, or ")(text);
}

/** Returns milliseconds of a duration in the syntax of a policy. `words` are examples. */
function durationTo(most: number, words: string, least = 0): (text: string) => number {
  return (text) => {
    const { value = Infinity } = readShape(duration, text);
    return value >= least && value <= most ? value : refuse(text, `a duration such as ${words}`);
  };
}

const DAY_MS = 86_400_000;
const upToADay = durationTo(DAY_MS, "10s, 5m or 1h, up to 1d");
const upToAWeek = durationTo(7 * DAY_MS, "1h, 12h or 1d, up to 7d");
const anyDuration = durationTo(Number.MAX_SAFE_INTEGER, "12h or 30d");

function numberFrom(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^(?:0|[1-9][0-9]{0,8})$/.test(text) ? Number(text) : -1;
    return value >= least && value <= most ? value : refuse(text, `a number from ${least} to ${most}`);
  };
}

function seconds(text: string): number {
  const milliseconds = /^\d{1,4}(?:\.\d{1,3})?$/.test(text) ? Math.round(1000 * Number(text)) : 0;
  return milliseconds > 0 ? milliseconds : refuse(text, "seconds, such as 20");
}

/** Returns the hex of a number of bytes. Messages do not repeat it. */
function keyOf(length: number): (text: string) => string {
  return (text) => {
    if (fromHex(text)?.length === length) return text;
    const found = /^[0-9a-fA-F]*$/.test(text) ? `${text.length} hex digits` : "not hex";
    throw new InvalidArgumentError(`: ${found}, expected ${2 * length} hex digits`);
  };
}

function hex(text: string): string {
  if (fromHex(text) !== null) return text;
  throw new InvalidArgumentError(": expected bytes in hex, without 0x");
}

/** Checks the origin as the library does, so that a bad one is found before any work. */
function origin(text: string): string {
  if (/^bootproof-log\/[^\p{White_Space}\p{C}+]+$/u.test(text)) return text;
  throw new InvalidArgumentError(": expected bootproof-log/ and a name without spaces and plus signs");
}

/** Returns whether the target of reports is an address. Any other text is a shell command. */
export function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

function target(text: string): string {
  const url = isAddress(text) && URL.canParse(text) ? new URL(text) : null;
  if (!isAddress(text) || (url !== null && url.username + url.password === "")) return text;
  throw new InvalidArgumentError(
    ": expected an address such as https://alerts.example.com/hook, without user and password",
  );
}

/** Returns an address at which metrics are served. Its default host allows only this machine to read them. */
function listenAddress(text: string): { readonly host: string; readonly port: number } {
  const [, , host = "127.0.0.1", port] = /^((\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)?:)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) return refuse(text, "HOST:PORT, such as 127.0.0.1:9464");
  return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
}

function classes(text: string): readonly Acceptable[] {
  return text
    .split(",")
    .map(
      (word) =>
        ACCEPTABLE_WORDS.find((name) => name === word) ??
        refuse(word, `${ACCEPTABLE_WORDS.join(", ")}, with commas between`),
    );
}

const MOST_LISTED = 100_000_000;
const quorumKey = keyOf(QOS_PUBLIC_KEY_LENGTH);
const listed = numberFrom(0, MOST_LISTED);

/** The kinds of `token`. */
export const TOKEN_KINDS = ["session", "otp", "import", "export", "otp-target"] as const;
/** The types of keys that sign policies. */
const KEY_TYPES = ["p256", "p384", "ed25519"] as const;

/** Readers by the name of the option, or by the word for its value in the help. Any other value is a text. */
export const READERS = {
  time: timeOr(""),
  when: certificateTime,
  seconds,
  duration: anyDuration,
  // As a policy has it.
  age: (text: string): string => (anyDuration(text), text),
  hex,
  kind: COMMITMENT_KINDS,
  class: classes,
  format: FORMATS,
  "report-format": REPORT_FORMATS,
  "table-format": ["text", "json", "ndjson", "csv", "junit", "html"],
  "token-kind": TOKEN_KINDS,
  "key-type": KEY_TYPES,
  "--ephemeral-key": quorumKey,
  "--quorum-key": quorumKey,
  "--signer-key": keyOf(ED25519_KEY_LENGTH),
  "--head": keyOf(SHA256_LENGTH),
  "--origin": origin,
  "--on-refusal": target,
  "--on-outage": target,
  "--metrics": listenAddress,
  "--port": numberFrom(0, 65_535),
  "--workers": numberFrom(1, 1024),
  "--limit": listed,
  "--max-accounts": listed,
  "--outage-after": numberFrom(0, 1_000_000),
  "--interval": upToADay,
  "--policy-refresh": upToADay,
  "--entry-timeout": upToADay,
  "--heartbeat": upToAWeek,
  "--outage-repeat": durationTo(7 * DAY_MS, "1m or 1h, from 1m up to 7d", 60_000),
  "--max-silence": upToAWeek,
  "--max-gap": durationTo(Number.MAX_SAFE_INTEGER, "90m, 2h or 1d"),
  "--tolerance": durationTo(Number.MAX_SAFE_INTEGER, "30s or 2m"),
  "--valid": durationTo(400 * DAY_MS, "12h or 14d, at most 400d"),
} as const satisfies Readonly<Record<string, Reader>>;
