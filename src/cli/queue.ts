/** Reads `--queue`, with its files and environment variables, and explains errors of the queue. */
import { printable } from "../report/printable.js";
import type { QueueError } from "../run/queue.js";
import type { QueuePlaceOptions } from "../run/queue-options.js";
import { type InputFiles, nameOf } from "./files.js";
import { type Io, UnreachableError, UsageError } from "./io.js";
import type { Flags } from "./option-table.js";
import type { ArgumentReader } from "./options.js";

type QueueFlags = Pick<Flags<"audit">, "queueCa" | "queueCert" | "queueKey" | "queuePrefix" | "queueSecretFile">;

/** Returns the URL of the queue, of the option or the environment. It may have a password and is never printed. */
export async function queueUrlOf(
  args: ArgumentReader,
  flag: string | true | undefined,
  io: Io,
): Promise<string | undefined> {
  if (args.isEmpty("queue")) return undefined;
  const [place, url] = typeof flag === "string" ? ["--queue", flag] : [URL_NAME, io.env[URL_NAME] ?? ""];
  if (url === "")
    return args.fault(`--queue URL is required, such as redis://127.0.0.1:6379, on the command line or in ${URL_NAME}`);
  const { parseQueueUrl } = await import("../run/node-queue-url.js");
  try {
    parseQueueUrl(url);
    return url;
  } catch (error) {
    return args.fault(`${place}: ${(error as Error).message}`);
  }
}

const URL_NAME = "BOOTPROOF_QUEUE_URL";

/** Reads the files, and returns the options for an audit or a worker. */
export async function queueOptions(flags: QueueFlags, files: InputFiles, io: Io): Promise<QueuePlaceOptions> {
  const { secretBytes, SECRET_FORM } = await import("../run/queue-options.js");
  const { queueCa: ca, queueCert: cert, queueKey: key, queueSecretFile: file, queuePrefix: prefix } = flags;
  const read: Record<string, string> = {};
  for (const [name, path] of Object.entries({ ca, cert, key, file })) {
    const bytes = path === undefined ? undefined : await files.bytes(path);
    if (bytes !== undefined) read[name] = files.textOf(path!, bytes) ?? "";
  }
  files.throwFaults();
  const { file: secret = io.env["BOOTPROOF_QUEUE_SECRET"], ...tls } = read;
  const place = file === undefined ? "BOOTPROOF_QUEUE_SECRET" : "--queue-secret-file";
  if (secret !== undefined && secretBytes(secret) === null) throw new UsageError([`${place}: ${SECRET_FORM}`]);
  return {
    ...(secret !== undefined && { secret }),
    ...(prefix !== undefined && { prefix }),
    ...(Object.keys(tls).length > 0 && { tls }),
    onNote: (text) => io.report(`note: ${printable(text)}\n`, { event: "queue" }),
  };
}

/**
 * Returns the error to report for one of a run: its inputs, its file, its queue. Errors are recognised by name, since
 * they come from another copy of the library. Any other error is returned as it is.
 */
export function runProblem(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message } = error;
  if (name === "QueueError") {
    const { code } = error as QueueError;
    if (code === "unreachable") return new UnreachableError([message]);
    const options: Partial<Record<typeof code, string>> = { url: "--queue: ", prefix: "--queue-prefix: " };
    return new UsageError([`${options[code] ?? ""}${message}`]);
  }
  if (name !== "RunInputError" && name !== "RunFileError") return error;
  const { file, advice } = error as Error & { readonly file: string; readonly advice: string | null };
  return new UsageError([{ message, file: nameOf(file), ...(advice !== null && { advice }) }]);
}
