/** Reads `--queue`, with its files and environment variables, and explains errors of the queue. */
import type { QueueError, QueuePlaceOptions } from "../run/queue.js";
import { printable } from "../report/printable.js";
import type { InputFiles } from "./files.js";
import { type CommandError, type Io, UnreachableError, UsageError } from "./io.js";
import type { Flags } from "./option-table.js";
import type { ArgumentReader } from "./options.js";

const SECRET = "BOOTPROOF_QUEUE_SECRET";
const URL_NAME = "BOOTPROOF_QUEUE_URL";

type QueueFlags = Pick<Flags<"audit">, "queueCa" | "queueCert" | "queueKey" | "queuePrefix">;

/**
 * Returns the URL of the queue, which may have a password and is never printed. Credentials in the environment's URL
 * are only for the server that this URL names.
 */
export async function queueUrlOf(
  args: ArgumentReader,
  flag: string | true | undefined,
  io: Io,
): Promise<string | undefined> {
  const own = io.env[URL_NAME] ?? "";
  const { parseQueueUrl, withCredentialsOf } = await import("../run/node-queue-url.js");
  if (typeof flag !== "string") {
    if (own === "")
      return args.fault(
        `--queue URL is required, such as redis://127.0.0.1:6379, on the command line or in ${URL_NAME}`,
      );
    return readable(args, URL_NAME, () => (parseQueueUrl(own), own));
  }
  if (args.isEmpty("queue")) return undefined;
  return readable(args, "--queue", () => (own === "" ? (parseQueueUrl(flag), flag) : withCredentialsOf(flag, own)));
}

function readable(args: ArgumentReader, place: string, read: () => string): string | undefined {
  try {
    return read();
  } catch (error) {
    return args.fault(`${place}: ${(error as Error).message}`);
  }
}

/** Reads the files, and returns the options for an audit or a worker. */
export async function queueOptions(
  { queueCa: ca, queueCert: cert, queueKey: key, queuePrefix: prefix }: QueueFlags,
  files: InputFiles,
  io: Io,
): Promise<QueuePlaceOptions> {
  const { ownSecret, SHORT_SECRET } = await import("../run/queue-options.js");
  const secret = io.env[SECRET];
  if (secret !== undefined && ownSecret(secret) === null)
    throw new UsageError([`${SECRET}: ${SHORT_SECRET}. Set the same secret on both sides, or unset it`]);
  const tls: Record<string, string> = {};
  for (const [name, path] of Object.entries({ ca, cert, key })) {
    const bytes = path === undefined ? undefined : await files.bytes(path);
    if (bytes !== undefined) tls[name] = files.textOf(path!, bytes) ?? "";
  }
  files.throwFaults();
  return {
    ...(secret !== undefined && { secret }),
    ...(prefix !== undefined && { prefix }),
    ...(Object.keys(tls).length > 0 && { tls }),
    onNote: (text) => io.report(`note: ${printable(text)}\n`, { event: "queue" }),
  };
}

/**
 * Returns a message for an error of the queue, and null for any other error. Errors are recognised by name, since they
 * come from another copy of the library.
 */
export function queueProblem(error: unknown): CommandError | null {
  if (!(error instanceof Error) || error.name !== "QueueError") return null;
  const { code, message } = error as QueueError;
  if (code === "unreachable" || code === "lost") return new UnreachableError([message]);
  const places: Partial<Record<typeof code, string>> = {
    url: "--queue: ",
    prefix: "--queue-prefix: ",
    tls: "--queue-",
  };
  return new UsageError([`${places[code] ?? ""}${message}`]);
}
