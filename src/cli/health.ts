/** Starts the health file and the metrics server, for `--health-file` and `--metrics`. */
import { diskReason } from "../disk/reason.js";
import type { Health } from "../run/node.js";
import type { HealthSubject } from "../run/health.js";
import { printable } from "../report/printable.js";
import { type Io, UsageError } from "./io.js";
import type { Flags } from "./option-table.js";

type HealthFlags = Pick<Flags<"audit worker">, "healthFile" | "metrics">;

/**
 * Starts health reports. Null if no option asks for them. Throws {@link UsageError} if the address or the file cannot
 * be used.
 */
export async function startedHealth(flags: HealthFlags, subject: HealthSubject, io: Io): Promise<Health | null> {
  const { healthFile: file, metrics } = flags;
  if (file === undefined && metrics === undefined) return null;
  const { startHealth } = await import("../run/node.js");
  try {
    const health = await startHealth({
      subject,
      ...(file !== undefined && { file }),
      ...(metrics && { metrics }),
      now: io.now,
      onNote: (text) => io.report(`warning: ${printable(text)}\n`, { event: "health-file" }),
    });
    const { url } = health;
    if (url !== null) io.report(`note: metrics are at ${url}/metrics\n`, { event: "metrics", fields: { url } });
    return health;
  } catch (error) {
    throw problemOf(error, flags);
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
function problemOf(error: unknown, { healthFile, metrics }: HealthFlags): unknown {
  const { name, message, code, syscall } = error as NodeJS.ErrnoException;
  if (name === "MetricsMissingError") return new UsageError([`--metrics: ${message}`]);
  const ofAddress = syscall === "listen" || syscall === "getaddrinfo";
  const reason = diskReason(error, ofAddress ? LISTEN_REASONS : {});
  if (code === undefined || reason === null) return error;
  const place = ofAddress ? `--metrics ${metrics!.host}:${metrics!.port}` : `--health-file ${healthFile}`;
  return new UsageError([printable(`${place}: ${reason}`)]);
}
