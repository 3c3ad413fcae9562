/**
 * Refuses requests by their heads alone (proxy/README.md, "The listener"). Every process on this machine can connect,
 * and so can pages in its browsers.
 */
import { type Headers, stampIn } from "../door/http.js";
import { operationOf } from "../door/question.js";
import type { RawRequest } from "./proxy.js";
import { type Reply, refusal } from "./reply.js";

const JSON_TYPE = /^application\/json[ \t]*(?:;|$)/i;
const MAX_SHOWN = 100;

/** Returns a refusal, or null if the request's body may be read. `port` is the one on which the proxy listens. */
export function refusedHead({ method, target, headers }: Omit<RawRequest, "body">, port: number): Reply | null {
  const misdirected = hostFault(valuesOf(headers, "host"), port);
  if (misdirected !== null) return refusal("misdirected", misdirected);
  if (isOfBrowser(headers)) return refusal("forbidden", `not sent: ${FOR_BROWSERS}`);
  if (method !== "POST" || operationOf(target) === null)
    return refusal("not-found", "only POST /public/v1/query/NAME and /public/v1/submit/NAME are passed on");
  const stamp = stampIn(headers);
  const fault = "fault" in stamp ? stamp.fault : typeFault(valuesOf(headers, "content-type"));
  return fault === null ? null : refusal("invalid-request", `not sent: ${fault}`);
}

function valuesOf(headers: Headers, name: string): string[] {
  return headers.flatMap(([one, value]) => (one === name ? [value] : []));
}

/**
 * Returns a fault unless `Host` is the proxy's own. After DNS rebinding, a page's host name resolves to 127.0.0.1, but
 * `Host` still has that name.
 */
function hostFault(hosts: readonly string[], port: number): string | null {
  const expected = [`127.0.0.1:${port}`, `localhost:${port}`];
  // RFC 9110, section 4.2.1: the default port may be left out.
  const accepted = port === 80 ? [...expected, "127.0.0.1", "localhost"] : expected;
  if (hosts.length === 1 && accepted.includes(hosts[0]!.toLowerCase())) return null;
  const got = hosts.length === 1 ? JSON.stringify(hosts[0]!.slice(0, MAX_SHOWN)) : `${hosts.length} of them`;
  return `not sent: Host: expected ${expected.join(" or ")}, got ${got}. Use http://${expected[0]} as the base URL`;
}

const FOR_BROWSERS =
  "it comes from a browser or an application built on one (Origin, Sec-Fetch-Site), and the proxy refuses " +
  "those requests. Use verifiedFetch of bootproof/adapters in the application itself";

/**
 * Whether a page sent the request (Fetch, "Origin header"; Fetch Metadata). `Sec-Fetch-Site: none` means that the user
 * typed the address, so no page sent the request.
 */
function isOfBrowser(headers: Headers): boolean {
  const sites = valuesOf(headers, "sec-fetch-site");
  return valuesOf(headers, "origin").length > 0 || sites.some((site) => site !== "none");
}

/** Returns a fault for a type other than application/json. A missing type is not a fault, since the proxy adds it. */
function typeFault(types: readonly string[]): string | null {
  const other = types.find((type) => !JSON_TYPE.test(type));
  if (other === undefined) return null;
  return `Content-Type: expected application/json, got ${JSON.stringify(other.slice(0, MAX_SHOWN))}`;
}
