/** The service and the API key, from options, a key file, or the environment. */
import { existsSync, statSync } from "node:fs";
import type { ApiKey, Client, ClientError, ServiceError, Stamper } from "../client/index.js";
import type { Retry } from "../client/transport.js";
import { printable } from "../report/printable.js";
import { unusedProxyText, useProxies } from "./environment-proxy.js";
import { InputFiles, STDIN } from "./files.js";
import { type Io, UnreachableError, UsageError } from "./io.js";
import { warnOfReaders } from "./key-files.js";
import { ofKind } from "./kinds.js";
import { CONNECTION_OPTIONS, KEY_OPTIONS, WHY_NO_KEY } from "./option-rules.js";
import { DEFAULT_TIMEOUT_SECONDS, type Flags, type OptionName } from "./option-table.js";
import type { ArgumentReader } from "./options.js";

type ConnectionFlags = Pick<Flags<"fetch">, "apiKeyFile" | "baseUrl" | "organizationId" | "timeout">;
type KeyFlags = Pick<ConnectionFlags, "apiKeyFile">;

type KeySource = { readonly file: string } | { readonly environment: ApiKey };

export interface Connection {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly key: KeySource;
  readonly timeoutMs: number;
  /** Why a proxy that the environment names is not used. Empty if it is used, or if the environment names none. */
  readonly unusedProxy: string;
}

const ENV = {
  baseUrl: "BOOTPROOF_BASE_URL",
  organizationId: "BOOTPROOF_ORGANIZATION_ID",
  publicKey: "BOOTPROOF_API_PUBLIC_KEY",
  privateKey: "BOOTPROOF_API_PRIVATE_KEY",
} as const;

const RETRIES = 2;

export const NO_ORGANIZATION =
  "--organization-id: boot proofs name no organization, so there is nothing to check: add app proofs or an activity, " +
  "or leave it out";

/** The message if the organization is missing. `--payload` alone does not say which activity is meant. */
export const ORGANIZATION_OF_THE_ACTIVITY =
  "with an activity, --payload and --challenge also require its organization: give " +
  "--organization-id, or the request with --request";

/** Returns whether an option or the environment has any part of an API key. */
export function hasKey(args: ArgumentReader, io: Io): boolean {
  const isThere = [...KEY_OPTIONS, "api-key-file" as const].some((name) => args.has(name));
  return isThere || [ENV.publicKey, ENV.privateKey].some((name) => (io.env[name] ?? "") !== "");
}

/** The part of the help that each command with a connection has. */
export const CONNECTION_HELP = `
The connection, by options or by the environment:
  --base-url         ${ENV.baseUrl}
  --organization-id  ${ENV.organizationId}
  --api-key-file     ${ENV.publicKey} and ${ENV.privateKey}`;

function connectionOptionsGiven(args: ArgumentReader): OptionName[] {
  return [...CONNECTION_OPTIONS, ...KEY_OPTIONS].filter((name) => args.has(name));
}

/** Refuses options of a connection that nothing uses, except `used`. `why` begins behind "not used". */
export function refuseIdleConnection(args: ArgumentReader, why: string, used: readonly OptionName[] = []): void {
  const idle = connectionOptionsGiven(args).filter((name) => !used.includes(name));
  if (idle.length > 0) args.fault(`${idle.map((name) => `--${name}`).join(", ")}: not used${why}`);
}

/** Returns whether an option or the environment sets any part of a connection. */
export function isConfigured(args: ArgumentReader, io: Io): boolean {
  return connectionOptionsGiven(args).length > 0 || Object.values(ENV).some((name) => (io.env[name] ?? "") !== "");
}

export function organizationOf({ organizationId }: ConnectionFlags, io: Io): string | undefined {
  return organizationId ?? (io.env[ENV.organizationId] || undefined);
}

/** Refuses an empty variable for the organization: it was probably meant to have a value. */
export function refuseEmptyOrganization(args: ArgumentReader, io: Io): void {
  if (!args.has("organization-id") && io.env[ENV.organizationId] === "")
    args.fault(
      `${ENV.organizationId}: empty: a shell variable in its value may be unset. Unset ` +
        `${ENV.organizationId} to expect no organization`,
    );
}

/** Reads the connection. Reports all its faults, and returns undefined if there is one. */
export function connectionOf(args: ArgumentReader, flags: ConnectionFlags, io: Io): Connection | undefined {
  const baseUrl = setting(args, flags, "baseUrl", io);
  const organizationId = setting(args, flags, "organizationId", io);
  const key = keySourceOf(args, flags, io);
  const { timeout: timeoutMs = 1000 * DEFAULT_TIMEOUT_SECONDS } = flags;
  const fault = baseUrl === undefined ? null : addressFault("--base-url", baseUrl);
  if (fault !== null) args.fault(fault);
  if (baseUrl === undefined || organizationId === undefined || key === undefined) return undefined;
  const unusedProxy = fault === null ? unusedProxyText(baseUrl, io.env) : "";
  return { baseUrl, organizationId, key, timeoutMs, unusedProxy };
}

/** The fault for each required setting that neither an option nor the environment has. */
const REQUIRED = {
  baseUrl: "--base-url URL (or BOOTPROOF_BASE_URL) is required: the address of the service",
  organizationId: "--organization-id ID (or BOOTPROOF_ORGANIZATION_ID) is required: the organization of the evidence",
} as const;

function setting(
  args: ArgumentReader,
  flags: ConnectionFlags,
  name: keyof typeof REQUIRED,
  io: Io,
): string | undefined {
  if (args.isEmpty(name === "baseUrl" ? "base-url" : "organization-id")) return undefined;
  return (flags[name] ?? io.env[ENV[name]]) || args.fault(REQUIRED[name]);
}

/** Reads where the key is. Reports all faults, and never quotes a key. */
export function keySourceOf(args: ArgumentReader, flags: KeyFlags, io: Io): KeySource | undefined {
  const { apiKeyFile: file } = flags;
  if (args.isEmpty("api-key-file") || KEY_OPTIONS.some((name) => args.has(name))) return undefined;
  if (file !== undefined)
    return looksLikeKey(file) ? args.fault(`--api-key-file: expected the name of a file: ${WHY_NO_KEY}`) : { file };
  const [publicKey, privateKey] = [io.env[ENV.publicKey] ?? "", io.env[ENV.privateKey] ?? ""];
  if (publicKey !== "" && privateKey !== "") return { environment: { publicKey, privateKey } };
  if (publicKey !== "" || privateKey !== "")
    return args.fault(
      `${publicKey === "" ? ENV.publicKey : ENV.privateKey} is required too: the environment has only the other half ` +
        "of the key",
    );
  return args.fault(
    `--api-key-file FILE (or ${ENV.publicKey} and ${ENV.privateKey}) is required: the key that stamps requests`,
  );
}

function looksLikeKey(text: string): boolean {
  return (
    /^["']?(?:0x)?(?:[0-9a-fA-F]{2}){32,65}(?:[^0-9a-fA-F/.].*)?$/.test(text) || /privateKey|PRIVATE KEY/.test(text)
  );
}

/**
 * Returns why requests must not be sent to this address; null if they may be sent. Without TLS, others could read
 * requests and send them again while their stamps are fresh. No option allows plain HTTP to other machines, since a
 * tunnel or proxy on this machine serves the same purpose. Messages quote only the origin of the address, since its
 * other parts may be secret.
 */
export function addressFault(option: "--base-url" | "--upstream", text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    return `${option}: expected an address such as https://api.example.com`;
  if (url.username + url.password !== "")
    return `${option}: must have no user or password: stamps authenticate requests`;
  if (url.search + url.hash !== "") return `${option}: must have no query or fragment`;
  if (/\/public\/v1\/*$/.test(url.pathname)) return `${option}: must not end in /public/v1, which bootproof adds`;
  if (url.protocol === "https:" || isLoopback(url.hostname)) return null;
  return (
    `${option} ${url.origin}: http:// is for this machine only (localhost, 127.0.0.1, [::1]): others on the way ` +
    "could read the requests and send them again with their stamps. Use https://, or a tunnel: " +
    "ssh -L 8080:HOST:PORT, and http://localhost:8080"
  );
}

/**
 * Returns whether the host is this machine. One pattern is enough, since a parsed URL has one form of each IPv4
 * address.
 */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

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
