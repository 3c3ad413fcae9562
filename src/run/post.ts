import { callable, typedOptions } from "../decode/options.js";
import { type MembersOf, count, optional } from "../decode/shapes.js";
import type { Fetch, Signal } from "../door/platform.js";
import { untilAborted } from "../door/waiting.js";
import type { Deliver } from "./announce.js";

interface PostOptions {
  readonly fetch: Fetch;
  readonly sleep: (milliseconds: number, signal: Signal) => Promise<void>;
  /** Milliseconds until the request fails. Default: 10,000. */
  readonly timeoutMs?: number;
}

const POST_OPTIONS: MembersOf<PostOptions> = {
  fetch: callable,
  sleep: callable,
  timeoutMs: optional(count),
};
const TIMEOUT_MS = 10_000;

/**
 * Returns a function that posts a line as `application/json`, byte for byte. Rejects unless the
 * status is 2xx. It follows no redirects, and does not read the response body. Throws TypeError if the address is not
 * http or https, or has a user or password.
 */
export function postTo(url: string, options: PostOptions): Deliver {
  const { fetch, sleep, timeoutMs = TIMEOUT_MS } = typedOptions("options", options, POST_OPTIONS);
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !["http:", "https:"].includes(parsed.protocol) || parsed.username + parsed.password !== "")
    throw new TypeError("url: expected an http or https address, without user and password");
  const { host } = parsed;
  return async ({ bytes }, signal) => {
    const ended = new AbortController();
    // Messages name only the host, because the path of such an address is often secret.
    const timeUp = sleep(timeoutMs, ended.signal).then(() => {
      throw new Error(`${host} did not answer within ${timeoutMs} ms`);
    });
    const send = async (): Promise<void> => {
      const request = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: bytes as BodyInit,
        redirect: "manual",
        signal: ended.signal,
      } as const;
      const response = await fetch(url, request).catch(() => {
        throw new Error(`${host} cannot be reached`);
      });
      await response.body
        ?.getReader()
        .cancel()
        .catch(() => {});
      // Some runtimes report status 0 for a redirect that was not followed.
      if (response.status < 200 || response.status >= 300)
        throw new Error(`${host} responded with HTTP ${response.status}`);
    };
    try {
      await untilAborted(Promise.race([send(), timeUp]), signal);
    } finally {
      ended.abort();
      timeUp.catch(() => {});
    }
  };
}
