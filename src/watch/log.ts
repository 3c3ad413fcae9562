/** Verifies the chain of a log (watch/README.md, "The log") with constant memory, up to the first fault. */
import { withoutPrototype } from "../decode/input.js";
import { callable, plain, typedOptions } from "../decode/options.js";
import { type MembersOf, optional, text } from "../decode/shapes.js";
import { concatBytes } from "../bytes.js";
import {
  Chain,
  type FoundFault,
  type LogFault,
  type RawLine,
  type VerifyFilesOptions,
  type VerifyLogOptions,
} from "./chain.js";
import { type SignedCheckpoint, CheckpointError, readCheckpoint } from "./checkpoint.js";
import { MAX_LINE_BYTES } from "./entry.js";

export type LogStream = AsyncIterable<Uint8Array>;

/** A file of a log that was rotated. */
export interface LogFile {
  /** Name of the file in messages. */
  readonly name: string;
  readonly stream: LogStream;
}

export interface LogVerification {
  readonly format: "bootproof-log-verification/1";
  /** Whether no line was found missing or changed. A chain cannot show every change: see `open`. */
  readonly intact: boolean;
  /** Number of lines before the first one that may be edited or inserted. */
  readonly entries: number;
  /**
   * Number `n` of the first line that `entries` counts; null if it counts none. It exceeds 1 if earlier files were not
   * passed.
   */
  readonly firstEntry: number | null;
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
}

const NO_HEAD =
  "lines removed from the end, a changed last line, and a log rewritten as a whole by anyone who can write the file: " +
  "keep the head in another place, and pass it with --head, or a checkpoint (bootproof log checkpoint)";
const NO_KEY = "who signed the checkpoint: its signature was not checked; pass the public key of the log with --key";
const WORD = "that each verdict is right: the evidence is in the entry, and bootproof verify verifies it again";

const OPTIONS: MembersOf<VerifyLogOptions> = {
  head: optional(text),
  checkpoint: optional(plain),
  key: optional(text),
  origin: optional(text),
  after: optional(plain),
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
  const files = Array.isArray(log) ? [...(log as readonly LogFile[])] : [{ name: null, stream: log as LogStream }];
  const found = await checkpointOf(options);
  const checkpoint = found instanceof CheckpointError ? null : found;
  const verification = await verifyFiles(files, { ...options, checkpoint });
  if (!(found instanceof CheckpointError) || verification.fault !== null) return verification;
  const line = Math.max(verification.entries, 1);
  return { ...verification, intact: false, fault: { line, kind: "checkpoint", message: found.message, file: null } };
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
  const chain = new Chain(options);
  const found = (await firstFault(chain, files)) ?? (await chain.fault());
  const { n, at, hash } = found?.certain ?? chain.newest;
  const before = chain.base.n;
  return {
    format: "bootproof-log-verification/1",
    intact: found === null,
    entries: n - before,
    firstEntry: n === before ? null : before + 1,
    firstAt: n === before ? null : chain.firstAt,
    lastAt: at,
    head: hash,
    fault: found === null ? null : chain.placed(found.fault),
    checkpoint: options.checkpoint,
    open: [...chain.unseen(), ...openAbout(options, chain.newest.n), WORD],
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

function openAbout({ head, checkpoint }: VerifyFilesOptions, entries: number): string[] {
  if (checkpoint === null) return head === undefined ? [NO_HEAD] : [];
  const unchecked = checkpoint.isVerified ? [] : [NO_KEY];
  if (head !== undefined || checkpoint.entries >= entries) return unchecked;
  return [...unchecked, `lines behind entry ${checkpoint.entries}, which the checkpoint does not cover: ${NO_HEAD}`];
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
