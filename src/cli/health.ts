/** Starts the health file and the metrics server, for `--health-file` and `--metrics`. */
import { diskReason } from "../disk/reason.js";
import type { Health } from "../run/node.js";
import type { HealthAddress } from "../run/node-server.js";
import type { HealthSubject } from "../run/health.js";
import { printable } from "../report/printable.js";
import { type Io, UsageError } from "./io.js";
import type { Flags } from "./option-table.js";
import type { ArgumentReader } from "./options.js";

export interface HealthRequest {
  readonly file: string | undefined;
  readonly metrics: string | undefined;
  readonly address: HealthAddress | undefined;
}

type HealthFlags = Pick<Flags<"audit worker">, "healthFile" | "metrics">;

const LOOPBACK = "127.0.0.1";

/** Reads the options of a command that runs for a long time: health file and metrics. */
export function healthOf(args: ArgumentReader, { healthFile: file, metrics }: HealthFlags): HealthRequest {
  const address = metrics === undefined || args.isEmpty("metrics") ? undefined : addressOf(args, metrics);
  return { file, metrics, address };
}

/** Returns the address. Its default host allows only this machine to read the metrics. */
function addressOf(args: ArgumentReader, text: string): HealthAddress | undefined {
  const [, , named = LOOPBACK, digits = ""] = /^((\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)?:)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits !== "" && port <= 65535) return { host: named.replace(/^\[|\]$/g, ""), port };
  return args.fault(`--metrics ${text}: expected HOST:PORT, such as 127.0.0.1:9464`);
}

/**
 * Starts health reports. Null if no option asks for them. Throws {@link UsageError} if the address or the file cannot
 * be used.
 */
export async function startedHealth(request: HealthRequest, subject: HealthSubject, io: Io): Promise<Health | null> {
  const { file, address } = request;
  if (file === undefined && address === undefined) return null;
  const { startHealth } = await import("../run/node.js");
  try {
    const health = await startHealth({
      subject,
      ...(file !== undefined && { file }),
      ...(address && { metrics: address }),
      now: io.now,
      onNote: (text) => io.report(`warning: ${printable(text)}\n`, { event: "health-file" }),
    });
    const { url } = health;
    if (url !== null) io.report(`note: metrics are at ${url}/metrics\n`, { event: "metrics", fields: { url } });
    return health;
  } catch (error) {
    throw problemOf(error, request);
  }
}

export const LISTEN_REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "in use by another process. Choose another port, or 0 for any free one",
  EADDRNOTAVAIL: "this machine has no such address",
  EACCES: "this user may not listen on it. Choose a port above 1023",
  ENOTFOUND: "an unknown host name",
};

/**
 * Returns the error to report. Errors are recognised by their names, since they come from another copy of the library.
 */
function problemOf(error: unknown, { file, metrics }: HealthRequest): unknown {
  const { name, message, code, syscall } = error as NodeJS.ErrnoException;
  if (name === "MetricsMissingError") return new UsageError([`--metrics: ${message}`]);
  const ofAddress = syscall === "listen" || syscall === "getaddrinfo";
  const reason = diskReason(error, ofAddress ? LISTEN_REASONS : {});
  if (code === undefined || reason === null) return error;
  return new UsageError([
    printable(ofAddress ? `--metrics ${metrics}: ${reason}` : `--health-file ${file}: ${reason}`),
  ]);
}
