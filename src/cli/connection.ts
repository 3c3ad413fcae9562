/** The service and the API key, from options, a key file, or the environment. */
import type { ApiKey } from "../client/index.js";
import { unusedProxyText } from "./environment-proxy.js";
import type { Io } from "./io.js";
import { CONNECTION_OPTIONS, KEY_OPTIONS, WHY_NO_KEY } from "./option-rules.js";
import { DEFAULT_TIMEOUT_SECONDS } from "./option-rows.js";
import type { Flags, OptionName } from "./option-table.js";
import type { ArgumentReader } from "./options.js";

type ConnectionFlags = Pick<Flags<"fetch">, "apiKeyFile" | "baseUrl" | "organizationId" | "timeout">;
type KeyFlags = Pick<ConnectionFlags, "apiKeyFile">;

export type KeySource = { readonly file: string } | { readonly environment: ApiKey };

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

export const NO_ORGANIZATION =
  "--organization-id: boot proofs name no organization, so there is nothing to check: add app proofs or an activity, " +
  "or leave it out";

/** The message if the organization is missing. `--payload` alone does not say which activity is meant. */
export const ORGANIZATION_OF_THE_ACTIVITY =
  "with an activity, --payload and --challenge also require its organization: give " +
  "--organization-id, or the request with --request";

/** The part of the help that each command with a connection has. */
export const CONNECTION_HELP = `
The connection, by options or by the environment:
  --base-url         ${ENV.baseUrl}
  --organization-id  ${ENV.organizationId}
  --api-key-file     ${ENV.publicKey} and ${ENV.privateKey}`;

function connectionOptionsGiven(args: ArgumentReader): OptionName[] {
  return [...CONNECTION_OPTIONS, ...KEY_OPTIONS].filter((name) => args.has(name));
}

/** Refuses options of a connection that nothing uses, but for the organization, with which evidence is compared. */
export function refuseIdleConnection(args: ArgumentReader, why: string): void {
  const idle = connectionOptionsGiven(args).filter((name) => name !== "organization-id");
  if (idle.length > 0) args.fault(`${idle.map((name) => `--${name}`).join(", ")}: not used, since ${why}`);
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

const WHY_A_KEY = "is required: the key that stamps requests";

/** Reads where the key is. Reports all faults, and never quotes a key. `why` ends the sentence about a missing one. */
export function keySourceOf(args: ArgumentReader, flags: KeyFlags, io: Io, why = WHY_A_KEY): KeySource | undefined {
  const { apiKeyFile: file } = flags;
  if (args.isEmpty("api-key-file") || KEY_OPTIONS.some((name) => args.has(name))) return undefined;
  if (file !== undefined)
    return looksLikeKey(file) ? args.fault(`--api-key-file: expected the name of a file: ${WHY_NO_KEY}`) : { file };
  const missing = [ENV.publicKey, ENV.privateKey].filter((name) => !io.env[name]);
  if (missing.length === 0)
    return { environment: { publicKey: io.env[ENV.publicKey]!, privateKey: io.env[ENV.privateKey]! } };
  if (missing.length === 1)
    return args.fault(`${missing[0]} is required too: the environment has only the other half of the key`);
  return args.fault(`--api-key-file FILE (or ${ENV.publicKey} and ${ENV.privateKey}) ${why}`);
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
