/** The client of the service, with the key of the connection, and what its errors say. */
import { existsSync, statSync } from "node:fs";
import type { ApiKey, Client, ClientError, ServiceError, Stamper } from "../client/index.js";
import type { Retry } from "../client/transport.js";
import { printable } from "../report/printable.js";
import type { Connection, KeySource } from "./connection.js";
import { useProxies } from "./environment-proxy.js";
import { InputFiles, STDIN } from "./files.js";
import { type Io, UnreachableError, UsageError } from "./io.js";
import { warnOfReaders } from "./key-files.js";
import { ofKind } from "./kinds.js";

const RETRIES = 2;

/** Makes a client. Throws {@link UsageError} if the key cannot be used. */
export async function connect(connection: Connection, io: Io, maxRetries = RETRIES): Promise<Client> {
  const { createClient } = await import("../client/index.js");
  try {
    useProxies(io.env);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError([error.message]);
  }
  const { baseUrl, organizationId, timeoutMs, key } = connection;
  const onRetry = (retry: Retry): void => reportRetry(retry, timeoutMs, io);
  return createClient({ baseUrl, organizationId, timeoutMs, maxRetries, onRetry, stamper: await stamperOf(key, io) });
}

/** Milliseconds after which a repetition is reported. A quick one needs no words. */
const SILENT_MS = 2000;

function reportRetry({ error, next, attempts, elapsedMs, waitMs }: Retry, timeoutMs: number, io: Io): void {
  if (elapsedMs + waitMs < SILENT_MS) return;
  const begins = waitMs < 1000 ? "now" : `in ${Math.round(waitMs / 1000)} s`;
  const ends = new Date(Date.now() + waitMs + timeoutMs).toISOString();
  io.stderr.write(
    printable(
      `note: ${error.message.replace(/\.$/, "")}. Attempt ${next} of ${attempts} begins ${begins}, and ends by ${ends}`,
    ) + "\n",
  );
}

/** Makes a stamper, and warns if others may read the key. Throws {@link UsageError} if the key cannot be used. */
export async function stamperOf(source: KeySource, io: Io): Promise<Stamper> {
  const { apiKeyStamper } = await import("../client/stamp.js");
  try {
    return await apiKeyStamper(
      await ("file" in source ? keyOfFile(source.file, io) : keyOfVariables(source.environment)),
    );
  } catch (error) {
    const failure = await asClientError(error);
    const place = "file" in source && !failure.message.startsWith(source.file) ? `${source.file}: ` : "";
    throw new UsageError([printable(place + failure.message)]);
  }
}

/** Reads the key as the service's command line keeps it, too: a shell's `$(cat NAME.private)` has the curve. */
async function keyOfVariables({ publicKey, privateKey }: ApiKey): Promise<ApiKey> {
  const { readApiKey } = await import("../client/key-file.js");
  return readApiKey(privateKey, publicKey);
}

async function keyOfFile(path: string, io: Io): Promise<ApiKey> {
  const { readApiKeyFile } = await import("../client/key-file.js");
  const { key, readableByOthers } = await readApiKeyFile(path).catch((error: unknown) =>
    refuseOtherKind(path, error, io),
  );
  if (readableByOthers) warnOfReaders(path, io);
  return key;
}

/** Throws a fault that names the file's kind if that is not a key file; otherwise throws `error`. */
async function refuseOtherKind(path: string, error: unknown, io: Io): Promise<never> {
  const files = new InputFiles(io, "key stamp");
  // A key is never read from stdin, and a pipe or device was read already.
  const isPipe = existsSync(path) && !statSync(path).isFile();
  if (path !== STDIN && !isPipe) await ofKind(files, path, "--api-key-file");
  files.throwFaults();
  throw error;
}

/** Waits for a response. Throws {@link UnreachableError} if there is none, or if it is not valid. */
export async function reached<T>(answer: Promise<T>, { baseUrl, unusedProxy }: Connection): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const { code, message } = await asClientError(error);
    if (code === "request") throw new UsageError([printable(message)]);
    if (refusesKey(error))
      throw new UsageError([{ message: printable(`${baseUrl}: ${message}`), advice: KEY_REFUSED }]);
    const proxy = code === "unreachable" || code === "timeout" ? unusedProxy : "";
    throw new UnreachableError([printable(`${baseUrl}: ${message}${ADVICE[code] ?? ""}${proxy}`)]);
  }
}

const KEY_REFUSED = "The key is not registered, has expired, or was deleted, or its user may not read this.";

/** Whether the service itself refuses the key: by its own code, which a proxy on the way does not have. */
function refusesKey(error: unknown): boolean {
  const { name, status, grpcCode, cause } = error as Partial<ServiceError>;
  if (name !== "ServiceError") return cause instanceof Error && refusesKey(cause);
  return (status === 401 && grpcCode === 16) || (status === 403 && grpcCode === 7);
}

/** Advice for errors of the client that the user can fix with an option. */
const ADVICE: Readonly<Record<string, string>> = {
  timeout: ". Try again, or set a longer --timeout SECONDS.",
  answer: ". Check that --base-url is the service's own address.",
  limit: ". To allow more, set --max-accounts, or --limit for sub-organizations.",
};

/** Returns the error if it is a ClientError. Throws any other error. */
export async function asClientError(error: unknown): Promise<ClientError> {
  const { ClientError } = await import("../door/errors.js");
  if (error instanceof ClientError) return error;
  throw error;
}
