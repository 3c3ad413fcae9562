/** Verifies the chain of a log (watch/README.md, "The log") with constant memory, up to the first fault. */
import { withoutPrototype } from "../decode/input.js";
import { callable, date, plain, typedOptions } from "../decode/options.js";
import { type MembersOf, demand, optional, text, wholeNumber } from "../decode/shapes.js";
import { concatBytes } from "../bytes.js";
import {
  Chain,
  type FoundFault,
  type LogFault,
  type RawLine,
  type VerifyFilesOptions,
  type VerifyLogOptions,
} from "./chain.js";
import { type SignedCheckpoint, CheckpointError, VERIFIED_CHECKPOINT, readCheckpoint } from "./checkpoint.js";
import { MAX_LINE_BYTES } from "./entry.js";
import { type LogStep, LogTimes } from "./times.js";

export type LogStream = AsyncIterable<Uint8Array>;

/** A file of a log that was rotated. */
export interface LogFile {
  /** Name of the file in messages. */
  readonly name: string;
  readonly stream: LogStream;
}

export interface LogVerification {
  readonly format: "bootproof-log-verification/2";
  /** Whether no line was found missing or changed. A chain cannot show every change: see `open`. */
  readonly intact: boolean;
  /** Whether the log is intact, and `missing` is empty. */
  readonly complete: boolean;
  /** Sentences about what was not verified because it was not passed: other files, or the key of the checkpoint. */
  readonly missing: readonly string[];
  /** Number of lines before the first one that may be edited or inserted. */
  readonly entries: number;
  /**
   * Number `n` of the first line that `entries` counts; null if it counts none. It exceeds 1 if earlier files were not
   * passed.
   */
  readonly firstEntry: number | null;
  /** Number of the line that has the hash `head`, over all files of the log. */
  readonly lastEntry: number;
  /** Times of the first and last lines that `entries` counts, RFC 3339; null if it counts none. */
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  /** SHA-256, in hex, of the last line that `entries` counts, without its line feed; zeros if it counts none. */
  readonly head: string;
  readonly fault: LogFault | null;
  /** The checkpoint; null if none was passed, or if its signature is wrong. */
  readonly checkpoint: SignedCheckpoint | null;
  /** Sentences about what the verification left open. */
  readonly open: readonly string[];
  /** Time of the newest `started` or `heartbeat`; null if there is none. */
  readonly lastSign: string | null;
  /** The first 100 steps to a time that is earlier by more than a second. */
  readonly backwards: readonly LogStep[];
  /** The first 100 steps that are longer than `maxGapMs`. */
  readonly gaps: readonly LogStep[];
}

const NO_HEAD =
  "lines removed from the end, a changed last line, and a log rewritten as a whole by anyone who can write the file: " +
  "keep the head in another place, and pass it with --head, or a checkpoint (bootproof log checkpoint)";
const NO_KEY = "who signed the checkpoint: its signature was not checked; pass the public key of the log with --key";
const NO_SIGN =
  "whether the watch was running: the log has no entry of a start or a heartbeat, from which gaps are counted";
const WORD = "that each verdict is right: the evidence is in the entry, and bootproof verify verifies it again";

const OPTIONS: MembersOf<VerifyLogOptions> = {
  head: demand(text),
  checkpoint: demand(plain),
  key: demand(text),
  origin: demand(text),
  after: optional(plain),
  maxGapMs: demand(wholeNumber(1)),
  now: optional(date),
  onLine: optional(callable),
};

/**
 * Verifies a log, passed as one stream or as files in their order. Faults of the log are returned, not thrown. Rejects
 * with the error of the stream, with `MalformedError` for a note that is not a checkpoint, and with TypeError for
 * invalid options.
 * @example
 * ```ts
 * const { intact, fault } = await verifyLog(readLog("boots.jsonl"), { head });
 * ```
 */
export async function verifyLog(
  log: LogStream | readonly LogFile[],
  given: VerifyLogOptions = {},
): Promise<LogVerification> {
  const options = typedOptions("options", given, OPTIONS);
  const { after } = options;
  if (options.maxGapMs !== undefined && options.now === undefined)
    throw new TypeError("options.now: required with options.maxGapMs");
  if (typeof after === "object" && (after as Partial<SignedCheckpoint>).isVerified === false)
    throw new TypeError("options.after: its signature was not verified: read it with a key");
  const found = await checkpointOf(options);
  const verification = await verifyFiles(filesOf(log), {
    ...options,
    checkpoint: found instanceof CheckpointError ? null : found,
  });
  if (!(found instanceof CheckpointError) || verification.fault !== null) return verification;
  const line = Math.max(verification.entries, 1);
  const fault = { line, kind: "checkpoint", message: found.message, file: null } as const;
  return { ...verification, intact: false, complete: false, fault };
}

function filesOf(log: LogStream | readonly LogFile[]): readonly NamedStream[] {
  return Array.isArray(log) ? [...(log as readonly LogFile[])] : [{ name: null, stream: log as LogStream }];
}

/**
 * Reads the checkpoint; null if none was passed. Resolves to the error if its signature or origin is not the expected
 * one.
 */
async function checkpointOf({
  checkpoint: note,
  key,
  origin,
}: VerifyLogOptions): Promise<SignedCheckpoint | CheckpointError | null> {
  const demands = { ...(key !== undefined && { key }), ...(origin !== undefined && { origin }) };
  if (typeof note === "object" && "isVerified" in note) return note;
  if (note === undefined) {
    if (Object.keys(demands).length === 0) return null;
    throw new TypeError("options.key, options.origin: required only with options.checkpoint");
  }
  return readCheckpoint(note, demands).catch((error: unknown) => {
    if (error instanceof CheckpointError) return error;
    throw error;
  });
}

/** A {@link LogFile}, whose name is null if the log is one stream. */
interface NamedStream {
  readonly name: string | null;
  readonly stream: LogStream;
}

/** Verifies as {@link verifyLog} does. The next file need not be known before the file before it is read. */
export async function verifyFiles(
  files: Iterable<NamedStream> | AsyncIterable<NamedStream>,
  given: VerifyFilesOptions,
): Promise<LogVerification> {
  const options = withoutPrototype(given);
  const times = new LogTimes(options.maxGapMs);
  const chain = new Chain(options, (line, offset) => {
    times.add(line.entry);
    options.onLine?.(line, offset);
  });
  const found = (await firstFault(chain, files)) ?? (await chain.fault());
  if (options.now !== undefined && chain.newest.next === null) times.stepTo(options.now.toISOString());
  const { n, at, hash } = found?.certain ?? chain.newest;
  const before = chain.base.n;
  const { lastSign, backwards, gaps } = times;
  const missing = [...chain.unseen(), ...missingOf(options, lastSign)];
  return {
    format: "bootproof-log-verification/2",
    intact: found === null,
    complete: found === null && missing.length === 0,
    missing,
    entries: n - before,
    firstEntry: n === before ? null : before + 1,
    lastEntry: n,
    firstAt: n === before ? null : chain.firstAt,
    lastAt: at,
    head: hash,
    fault: found === null ? null : chain.placed(found.fault),
    checkpoint: options.checkpoint,
    open: [...openAbout(options, chain), WORD],
    ...{ lastSign, backwards, gaps },
  };
}

async function firstFault(
  chain: Chain,
  files: Iterable<NamedStream> | AsyncIterable<NamedStream>,
): Promise<FoundFault | null> {
  for await (const { name, stream } of files) {
    chain.begin(name);
    for await (const line of linesOf(stream)) {
      const found = await chain.add(line);
      if (found !== null) return found;
    }
  }
  return null;
}

function missingOf({ checkpoint, maxGapMs }: VerifyFilesOptions, lastSign: string | null): string[] {
  return [
    ...(checkpoint?.isVerified === false ? [NO_KEY] : []),
    ...(maxGapMs !== undefined && lastSign === null ? [NO_SIGN] : []),
  ];
}

function openAbout({ head, checkpoint, after = "any" }: VerifyFilesOptions, { base, newest }: Chain): string[] {
  const covered = Math.max(checkpoint?.entries ?? 0, after === "any" ? 0 : after.entries);
  const behind = covered === 0 ? "" : `lines behind entry ${covered}, which the checkpoint does not cover: `;
  return [
    ...(after === "any" || base.n === 0 ? [] : [`entries 1 to ${base.n}: the earlier checkpoint vouches for them`]),
    ...(head !== undefined || (covered > 0 && covered >= newest.n) ? [] : [`${behind}${NO_HEAD}`]),
  ];
}

const LINE_FEED = 0x0a;

/** Yields lines. Of a line over the limit, yields only the beginning, and stops. */
async function* linesOf(stream: LogStream): AsyncGenerator<RawLine> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let offset = 0;
  for await (const piece of stream) {
    let rest = piece;
    for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
      const bytes = concatBytes(...parts, rest.subarray(0, end));
      yield { bytes, offset, ended: true };
      offset += bytes.length + 1;
      [parts, length, rest] = [[], 0, rest.subarray(end + 1)];
    }
    // The bytes are copied, because the stream may reuse its buffer.
    if (rest.length > 0) parts.push(new Uint8Array(rest));
    length += rest.length;
    if (length > MAX_LINE_BYTES) break;
  }
  if (length > 0) yield { bytes: concatBytes(...parts), offset, ended: length > MAX_LINE_BYTES };
}

export interface CheckpointComparison {
  /**
   * `extended`: the log has both entries. `forked`: two hashes of one number. `not-in-log`: the log is broken, or does
   * not have both. `unknown`: different numbers, and no log was passed.
   */
  readonly result: "same" | "extended" | "forked" | "other-log" | "not-in-log" | "unknown";
  readonly message: string;
}

/**
 * Compares two checkpoints that were read with a key. Only the log shows whether those of different numbers agree.
 * @example
 * ```ts
 * const kept = await readCheckpoint(text, { key: publicKey });
 * const received = await readCheckpoint(note, { key: publicKey });
 * const { result } = await compareCheckpoints(kept, received, readLog("boots.jsonl"));
 * ```
 */
export async function compareCheckpoints(
  one: SignedCheckpoint,
  other: SignedCheckpoint,
  log?: LogStream | readonly LogFile[],
): Promise<CheckpointComparison> {
  const both = [one, other].map((each) => typedOptions("checkpoint", each, VERIFIED_CHECKPOINT));
  const [a, b] = both.sort((x, y) => x.entries - y.entries) as [SignedCheckpoint, SignedCheckpoint];
  if (a.origin !== b.origin) return { result: "other-log", message: `the origins are ${a.origin} and ${b.origin}` };
  const [first, second] = [a, b].map(({ entries, head }) => `entry ${entries} with the hash ${head}`);
  const message = `${first!}, and ${second!}`;
  if (first === second) return { result: "same", message: first! };
  if (a.entries === b.entries) return { result: "forked", message };
  if (log === undefined) return { result: "unknown", message: `${message}: only the log shows whether both are of it` };
  const { fault } = await verifyFiles(filesOf(log), { checkpoint: b, after: a });
  return fault === null ? { result: "extended", message } : { result: "not-in-log", message: fault.message };
}
