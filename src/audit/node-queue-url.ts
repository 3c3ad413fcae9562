/** Parses the URL of a queue's server. Messages show `shown`, which contains no password. */
import { QueueError } from "./queue-options.js";

export interface QueueAddress {
  readonly kind: "server" | "cluster" | "sentinel" | "socket";
  readonly isTls: boolean;
  /** The server, the nodes of the cluster, or the sentinels. The list is empty for a socket. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** The path of the socket, or the name of the server that the sentinels monitor. */
  readonly name: string;
  readonly db: number;
  /** User name. An empty text means none. */
  readonly username: string;
  readonly password: string;
  /** The URL without user and password. */
  readonly shown: string;
}

const FORM = /^(redis|rediss|rediss?\+(?:cluster|sentinel)|unix):\/\/(?:([^/?#]*)@)?([^/?#@]*)(\/[^?#]*)?$/;
const PORTS = { server: 6379, cluster: 6379, sentinel: 26_379, socket: 0 };
/** Patterns of the path. A cluster has only the database 0, so its path names none. */
const PLACES: Readonly<Record<QueueAddress["kind"], RegExp>> = {
  server: /^\/?(?<db>\d{0,5})$/,
  cluster: /^\/?(?<db>)$/,
  sentinel: /^\/(?<name>[^/]{1,200})(?:\/(?<db>\d{1,5}))?$/,
  socket: /^(?<name>\/.+)$/,
};
const EXPECTED =
  "expected a URL such as redis://127.0.0.1:6379: redis:// or rediss://, host, port, /database; " +
  "redis+cluster://HOST,HOST; redis+sentinel://HOST,HOST/NAME; unix:///PATH";

/** Parses a URL. Throws QueueError, which does not quote the URL, because the URL may contain a password. */
export function parseQueueUrl(url: string): QueueAddress {
  const { scheme, user, authority, path } = partsOf(url);
  const [, kind = scheme === "unix" ? "socket" : "server"] = scheme.split("+") as [string, QueueAddress["kind"]?];
  const hosts = kind === "socket" ? [] : authority.split(",").map((each) => hostOf(each, PORTS[kind]));
  if ((kind === "socket" && authority !== "") || (kind === "server" && hosts.length > 1)) throw noUrl();
  const place = matched(PLACES[kind], path).groups!;
  const [name, db] = [decoded(place["name"]), Number(place["db"] ?? 0)];
  const [, username, password] = matched(/^([^:]*):?(.*)$/s, user).map(decoded) as [string, string, string];
  const shownPlace = `${kind === "sentinel" ? "/" : ""}${name}${db === 0 ? "" : `/${db}`}`;
  const shown = `${scheme}://${hosts.map(hostText).join(",")}${shownPlace}`;
  return { kind, isTls: scheme.startsWith("rediss"), hosts, name, db, username, password, shown };
}

/** Returns the parts of a URL. A path alone is a socket. */
function partsOf(url: string): { scheme: string; user: string; authority: string; path: string } {
  const found = matched(FORM, url.startsWith("/") ? `unix://${url}` : url);
  const [, scheme = "", user = "", authority = "", path = ""] = found;
  return { scheme, user, authority, path };
}

function matched(form: RegExp, text: string): RegExpExecArray {
  const found = form.exec(text);
  if (found === null) throw noUrl();
  return found;
}

function hostOf(text: string, defaultPort: number): QueueAddress["hosts"][number] {
  const url = URL.canParse(`redis://${text}`) ? new URL(`redis://${text}`) : null;
  if (url === null || url.hostname === "" || url.pathname !== "") throw noUrl();
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || defaultPort) };
}

function hostText({ host, port }: QueueAddress["hosts"][number]): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function decoded(part = ""): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw noUrl();
  }
}

function noUrl(): QueueError {
  return new QueueError("url", EXPECTED);
}

/**
 * Returns `url` with the credentials of `other` if `url` has none. Throws QueueError if `other` is another server,
 * because its password must not be sent there.
 */
export function withCredentialsOf(url: string, other: string): string {
  const [own, source] = [parseQueueUrl(url), parseQueueUrl(other)];
  const hasCredentials = ({ username, password }: QueueAddress): boolean => username !== "" || password !== "";
  if (hasCredentials(own) || !hasCredentials(source)) return url;
  if (serverOf(own) !== serverOf(source))
    throw new QueueError(
      "url",
      `${own.shown} has no credentials, and those in BOOTPROOF_QUEUE_URL are for ${source.shown}`,
    );
  const { scheme, authority, path } = partsOf(url);
  return `${scheme}://${partsOf(other).user}@${authority}${path}`;
}

/** Returns a text that identifies a server, regardless of the database. */
function serverOf({ kind, isTls, hosts, name }: QueueAddress): string {
  return JSON.stringify([kind, isTls, hosts.map(hostText).sort(), name]);
}
