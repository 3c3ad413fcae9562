/** Parses the URL of a queue's server. Messages show `shown`, which contains no password. */
import { isIPv4 } from "node:net";
import { QueueError } from "./queue-options.js";

export interface QueueAddress {
  readonly kind: "server" | "cluster" | "sentinel" | "socket";
  readonly isTls: boolean;
  /** The server, the nodes of the cluster, or the sentinels. The list is empty for a socket. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** The path of the socket, or the name of the server that the sentinels monitor. */
  readonly name: string;
  readonly db: number;
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

/**
 * Parses a URL. A path is a socket. Throws QueueError, which does not quote the URL, because it may have a password.
 */
export function parseQueueUrl(url: string): QueueAddress {
  try {
    return addressOf(matched(FORM, url.startsWith("/") ? `unix://${url}` : url));
  } catch {
    throw new QueueError("url", EXPECTED);
  }
}

function addressOf([, scheme = "", user = "", authority = "", path = ""]: RegExpExecArray): QueueAddress {
  const [, kind = scheme === "unix" ? "socket" : "server"] = scheme.split("+") as [string, QueueAddress["kind"]?];
  const hosts = hostsOf(kind, authority);
  const { name = "", db = "0" } = matched(PLACES[kind], path).groups!;
  const [, username, password] = matched(/^([^:]*):?(.*)$/s, user).map((part) => decodeURIComponent(part));
  const place = { kind, isTls: scheme.startsWith("rediss"), hosts, name: decodeURIComponent(name), db: Number(db) };
  return { ...place, username: username!, password: password!, shown: `${scheme}://${shownPlace(place)}` };
}

function hostsOf(kind: QueueAddress["kind"], authority: string): QueueAddress["hosts"] {
  if (kind === "socket" && authority !== "") throw new Error("a host");
  const hosts = kind === "socket" ? [] : authority.split(",").map((each) => hostOf(each, PORTS[kind]));
  if (kind === "server" && hosts.length > 1) throw new Error("several hosts");
  return hosts;
}

function shownPlace({ kind, hosts, name, db }: Pick<QueueAddress, "kind" | "hosts" | "name" | "db">): string {
  const names = hosts.map(({ host, port }) => `${host.includes(":") ? `[${host}]` : host}:${port}`).join(",");
  return `${names}${kind === "sentinel" ? "/" : ""}${name}${db === 0 ? "" : `/${db}`}`;
}

function matched(form: RegExp, text: string): RegExpExecArray {
  const found = form.exec(text);
  if (found === null) throw new Error("another form");
  return found;
}

function hostOf(text: string, defaultPort: number): QueueAddress["hosts"][number] {
  const { hostname, pathname, port } = new URL(`redis://${text}`);
  if (hostname === "" || pathname !== "") throw new Error("no host");
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || defaultPort) };
}

/** Whether the server is on this host. Where those of a cluster and behind sentinels are is not known. */
export function isLocal({ kind, hosts }: QueueAddress): boolean {
  const isLoopback = (host: string): boolean =>
    host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
  return kind === "socket" || (kind === "server" && hosts.every(({ host }) => isLoopback(host)));
}
