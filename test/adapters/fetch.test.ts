/** A wrapped fetch against the lab, and against a service before it that lies on the wire. */
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type VerifiedFetchOptions, reportOf, verifiedFetch } from "../../src/adapters/index.js";
import { type ClientError, apiKeyStamper, createClient } from "../../src/client/index.js";
import { stampWithApiKey } from "../../src/lab/index.js";
import { notSent, rejectionOf } from "../client/support.js";
import { type Json, envelope, query } from "../lab/support.js";
import { honestly, lyingLab, wire } from "../proxy/support.js";
import { loopback } from "../support/loopback.js";

const { lab, liar } = await lyingLab();

const { organizationId, policy } = lab;
const { walletId } = lab.ids;
const ownClient = async (baseUrl = lab.baseUrl) =>
  createClient({ baseUrl, organizationId, stamper: await apiKeyStamper(lab.apiKey), maxRetries: 0 });
const evidence = await ownClient();
const OPTIONS: VerifiedFetchOptions = { policy, baseUrl: liar.url, evidence };
const wrapped = (more: Partial<VerifiedFetchOptions> = {}) => verifiedFetch({ ...OPTIONS, ...more });

const SUBMIT = "/public/v1/submit/update_wallet";
const GET_USER = "/public/v1/query/get_user";
const USER = JSON.stringify({ organizationId, userId: lab.ids.userId });
let count = 0;
const body = (generateAppProofs = true): string =>
  envelope(
    lab,
    "ACTIVITY_TYPE_UPDATE_WALLET",
    { walletId, walletName: `name ${++count}` },
    generateAppProofs ? { generateAppProofs } : {},
  );
const headersOf = (text: string): Record<string, string> => ({
  "Content-Type": "application/json",
  "X-Stamp": stampWithApiKey(lab.apiKey, text),
});
const stamped = (text: string, more: RequestInit = {}): RequestInit & { headers: Record<string, string> } => ({
  method: "POST",
  body: text,
  ...more,
  headers: headersOf(text),
});
const rename = (through: typeof fetch = wrapped(), url: string | URL = liar.url + SUBMIT): Promise<Response> =>
  through(url, stamped(body()));
const questionOf = (response: Response): unknown => reportOf(response)?.claims?.activity?.question;
const refusalOf = (answer: Promise<unknown>): Promise<ClientError> => rejectionOf<ClientError>(answer);

/** What the fetch that sends was called with. It answers nothing of the service. */
function recorder(answer: () => Response = () => new Response("own")) {
  const calls: unknown[][] = [];
  const send = (async (...args: unknown[]) => (calls.push(args), answer())) as typeof fetch;
  return { calls, send };
}

describe("a submit by a wrapped fetch", () => {
  it("is verified against what was sent, and has a report", async () => {
    const response = await rename();
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(response.headers.get("x-bootproof-verified")).toBe("activity");
    expect(response.headers.get("x-bootproof-question")).toBe("request");
    expect(reportOf(response)).toMatchObject({ verdict: "verified" });
    expect(questionOf(response)).toBe("request");
    const text = await response.clone().text();
    expect(reportOf(response.clone())).toBeUndefined();
    expect(Buffer.from(await response.clone().arrayBuffer()).toString()).toBe(text);
    const json = (await response.json()) as Json;
    expect(Object.keys(json)).toEqual(["activity"]);
    expect(json["activity"].result).toEqual({ updateWalletResult: { walletId } });
    expect(JSON.parse(text)).toEqual(json);
  });

  it("is sent without generateAppProofs where that is allowed, and marked", async () => {
    const response = await wrapped({ allowUnproven: true })(liar.url + SUBMIT, stamped(body(false)));
    expect([...response.headers]).toEqual(
      expect.arrayContaining([
        ["x-bootproof", "unproven"],
        ["x-bootproof-verified", "none"],
      ]),
    );
    expect(reportOf(response)?.verdict).toBe("unverified");
    expect(((await response.json()) as Json)["activity"].result).toEqual({ updateWalletResult: { walletId } });
    const proven = await rename(wrapped({ allowUnproven: true }));
    expect([proven.headers.get("x-bootproof"), reportOf(proven)?.verdict]).toEqual([null, "verified"]);
  });
});

describe("another answer to a wrapped fetch", () => {
  it.each([301, 302, 303, 307, 308])("is refused and not followed where it is a redirect: %s", async (status) => {
    for (const location of [SUBMIT, lab.baseUrl + SUBMIT]) {
      liar.requests.length = 0;
      liar.lie = ({ text }) => {
        const headers = [`Location: ${location}`, "Content-Type: application/json", `Content-Length: ${text.length}`];
        return wire(text, { status, headers });
      };
      for (const redirect of ["follow", "error", "manual"] as const) {
        const error = await refusalOf(wrapped()(liar.url + SUBMIT, stamped(body(), { redirect })));
        expect(error.message).toContain("redirects are not followed");
      }
      expect(liar.requests).toHaveLength(3);
    }
  });

  it("is refused where the fetch that sends followed a redirect", async () => {
    const following = (async (...[url, init]: Parameters<typeof fetch>) => {
      const response = await fetch(url, { ...init, redirect: "follow" });
      return Object.defineProperty(response, "redirected", { value: true });
    }) as typeof fetch;
    const error = await refusalOf(rename(wrapped({ fetch: following })));
    expect([error.code, error.message]).toEqual(["answer", expect.stringContaining("redirects are not followed")]);
  });

  it("may be compressed and chunked", async () => {
    const server = await loopback(async (request, response, sent) => {
      const answer = await fetch(lab.baseUrl + request.url!, {
        method: "POST",
        body: sent,
        headers: { "x-stamp": String(request.headers["x-stamp"]), "content-type": "application/json" },
      });
      const headers = { "Content-Type": "application/json; charset=utf-8", "Content-Encoding": "gzip" };
      response.writeHead(answer.status, headers).end(gzipSync(await answer.text()));
    });
    const { url: baseUrl } = server;
    try {
      const response = await rename(wrapped({ baseUrl }), baseUrl + SUBMIT);
      expect([reportOf(response)?.verdict, response.headers.get("content-encoding")]).toEqual(["verified", null]);
    } finally {
      await server.close();
    }
  });

  it("may have 16 MiB, and no byte more", async () => {
    const headers = { "Content-Type": "application/json" };
    const ask = (length: number): Promise<Response> => {
      const answer = new Response(`{"user":{}}${" ".repeat(length - 11)}`, { headers });
      return wrapped({ fetch: async () => answer })(liar.url + GET_USER, stamped(USER));
    };
    expect(await (await ask(16 * 1024 * 1024)).json()).toEqual({ user: {} });
    const { code, message } = await refusalOf(ask(16 * 1024 * 1024 + 1));
    expect([code, message]).toEqual(["answer", expect.stringContaining("longer than 16777216 bytes")]);
  });

  it.each(["text/html", "application/json; charset=utf-16", "application/json\r\nContent-Type: a/b"])(
    "has the type application/json, and is read as JSON whatever type the service gives it: %j",
    async (type) => {
      const headers = type === "" ? [] : [`Content-Type: ${type}`];
      liar.lie = ({ text }) => wire(text, { headers: [...headers, `Content-Length: ${Buffer.byteLength(text)}`] });
      const response = await rename();
      expect([reportOf(response)?.verdict, response.headers.get("content-type")]).toEqual([
        "verified",
        "application/json",
      ]);
      liar.lie = () => wire("<html></html>", { status: 502, headers: [...headers, "Content-Length: 13"] });
      expect((await refusalOf(rename())).code).toBe("answer");
    },
  );
});

describe("the evidence of a wrapped fetch", () => {
  const bootProofs = async (): Promise<object[]> => {
    const keys = lab.enclaves.map(({ ephemeralKey }) => ephemeralKey);
    const answers = await Promise.all(keys.map((ephemeralKey) => query(lab, "get_boot_proof", { ephemeralKey })));
    return answers.map((answer) => answer.body["bootProof"] as object);
  };

  it("is required, and is a client or boot proofs", () => {
    for (const given of [undefined, null, 1, "x", {}, { bootProofs: {} }, [{}], [null], { query: 1 }, { request: 1 }])
      expect(() => wrapped({ evidence: given as never }), JSON.stringify(given)).toThrow(TypeError);
    expect(() => verifiedFetch({ policy, baseUrl: liar.url } as never)).toThrow(/evidence/);
  });

  it("may be boot proofs, as a list or as a member", async () => {
    const given = await bootProofs();
    for (const one of [given, { bootProofs: given }]) {
      const fetching = wrapped({ evidence: one });
      given.length = 0;
      expect(reportOf(await rename(fetching))?.verdict).toBe("verified");
      given.push(...(await bootProofs()));
    }
    await expect(rename(wrapped({ evidence: [] }))).rejects.toThrow(/^rejected: /);
  });

  describe("where the wrapped fetch is the global one", () => {
    const own = globalThis.fetch;
    afterEach(() => void (globalThis.fetch = own));

    it("is fetched without recursion by a client that was made before", async () => {
      globalThis.fetch = verifiedFetch({ policy, baseUrl: lab.baseUrl, evidence: await ownClient() });
      expect(reportOf(await rename(globalThis.fetch, lab.baseUrl + SUBMIT))?.verdict).toBe("verified");
    });

    it("is fetched without recursion by a client that was made after", async () => {
      const later: { client?: { query: (...all: unknown[]) => unknown } } = {};
      const query = (...args: unknown[]) => later.client!.query(...args);
      globalThis.fetch = verifiedFetch({ policy, baseUrl: lab.baseUrl, evidence: { query } as never });
      later.client = (await ownClient()) as never;
      expect(reportOf(await rename(globalThis.fetch, lab.baseUrl + SUBMIT))?.verdict).toBe("verified");
    });

    it("sends by the fetch that was the global one when it was made", async () => {
      const { calls, send } = recorder();
      globalThis.fetch = send;
      const fetching = verifiedFetch(OPTIONS);
      globalThis.fetch = () => Promise.reject(new Error("another"));
      expect(await (await fetching("https://elsewhere.example/")).text()).toBe("own");
      expect(calls).toHaveLength(1);
    });

    it("is refused where the runtime has no fetch", () => {
      Reflect.set(globalThis, "fetch", undefined);
      expect(() => verifiedFetch(OPTIONS)).toThrow(/^options\.fetch: /);
    });
  });
});

describe("an address", () => {
  const base = "https://service.example";
  const path = "/public/v1/submit/update_wallet";
  /** Sent to this address by the rules, refused, or untouched. */
  const treatment = async (input: string | URL | Request, baseUrl = base): Promise<string> => {
    const { calls, send } = recorder(() => Response.json({ code: 3, message: "m", details: [] }, { status: 400 }));
    const init = stamped(body());
    const bare = { method: "POST", body: init.body! };
    const asked = input instanceof Request ? undefined : init;
    const fetching = wrapped({
      baseUrl,
      fetch: send,
      otherOrigins: ["https://other.example", "http://service.example"],
    });
    const outcome = await fetching(input, asked).catch((error: Error) => error);
    const [sentTo, sent] = calls[0] ?? [];
    if (calls.length === 0) expect(outcome).toBeInstanceOf(Error);
    // The same without a stamp, which nothing else stops.
    const isUntouched = calls.length > 0 && sentTo === input && sent === asked;
    if (!isUntouched && asked !== undefined) {
      calls.length = 0;
      await fetching(input, bare).catch(() => {});
      expect(calls).toEqual([]);
    }
    if (isUntouched) expect(reportOf(outcome)?.verdict).toBe("unverified");
    if (isUntouched) return "untouched";
    return calls.length === 0 && sentTo === undefined ? "refused" : String(sentTo);
  };

  it.each<[string, string]>([
    ["as it is", `${base}${path}`],
    ["default port", `https://service.example:443${path}`],
    ["an encoded host", `https://%73ervice.example${path}`],
    ["backslashes", `https:\\\\service.example\\public\\v1\\submit\\update_wallet`],
    ["tabs and newlines in it", `https://serv\tice.example/public\n/v1/sub\rmit/update_wallet`],
    ["dots", `${base}/a/../public/./v1/submit/update_wallet`],
    ["an empty query string", `${base}${path}?`],
  ])("of the service is read as the platform reads it: %s", async (_, input) => {
    for (const one of [input, new URL(input), { toString: () => input } as never])
      expect(await treatment(one as string)).toBe(`${base}${path}`);
    expect(await treatment(new Request(input, stamped(body())))).toBe(`${base}${path}`);
  });

  it.each<[string, string]>([
    ["another case", `${base}/Public/v1/submit/update_wallet`],
    ["an encoded slash", `${base}/public/v1%2fsubmit/update_wallet`],
    ["a slash before it", `${base}//public/v1/submit/update_wallet`],
    ["a query string", `${base}${path}?a=b`],
    ["a fragment", `${base}${path}#a`],
    ["dots that are encoded twice", `${base}/a/%252e%252e/public/v1/submit/update_wallet`],
  ])("of the service in a spelling that is read in two ways is refused: %s", async (_, input) => {
    expect(await treatment(input)).toBe("refused");
  });

  it("with a user is refused, or sent without", async () => {
    expect(["refused", `${base}${path}`]).toContain(await treatment(`https://user:secret@service.example${path}`));
  });

  it.each([
    `https://other.example${path}`,
    `http://service.example${path}`,
    `https://other.example/?${base}${path}`,
    `https://other.example\\@service.example${path}`,
  ])("of another origin is untouched: %s", async (input) => {
    expect(await treatment(input)).toBe("untouched");
  });

  it.each<[string, string, string]>([
    ["below it", `${base}/api${path}`, `${base}/api${path}`],
    ["dots into it", `${base}/x/../api${path}`, `${base}/api${path}`],
    ["another case", `${base}/API${path}`, "refused"],
    ["an encoded letter", `${base}/%61pi${path}`, "refused"],
    ["a letter encoded twice", `${base}/%2561pi/x`, "refused"],
    ["an encoded slash", `${base}/api%2fx`, "refused"],
    ["an encoded slash in capitals", `${base}/api%2Fx`, "refused"],
    ["a backslash that is encoded", `${base}/api%5cx`, "refused"],
    ["a tab that is encoded", `${base}/%09/api/x`, "refused"],
    ["two slashes", `${base}//api/x`, "refused"],
    ["encoded dots", `${base}/x/..%2fapi/x`, "refused"],
    ["beside it", `${base}/apix`, "untouched"],
    ["the prefix alone", `${base}/api`, "untouched"],
    ["another path", `${base}/elsewhere?a=b#c`, "untouched"],
    ["an odd path", `${base}/%09/x%3a99999999/y`, "untouched"],
    ["the service without the prefix, with a query string", `${base}${path}?a=b`, "refused"],
    ["the service below another prefix", `${base}/v2/PUBLIC/v1/submit/x`, "refused"],
  ])("where the base address has a path: %s", async (_, input, expected) => {
    const { calls, send } = recorder(() => Response.json({}, { status: 400 }));
    const bare = { method: "POST", body: "{}" };
    for (const baseUrl of [`${base}/api`, `${base}/api/`]) {
      const fetching = wrapped({ baseUrl, fetch: send });
      calls.length = 0;
      const outcome = await fetching(input, expected === "untouched" ? bare : stamped(body())).catch(String);
      if (expected === "untouched") expect(calls).toEqual([[input, bare]]);
      else if (expected !== "refused") expect(calls.map(([address]) => address)).toEqual([expected]);
      else {
        // Without a stamp, too, which is refused at other origins.
        await notSent(fetching(input, bare));
        expect([calls, outcome]).toEqual([[], expect.stringMatching(/^ClientError: (?:only POST|not sent)/)]);
      }
    }
  });

  it("may have a path, and reaches the service there", async () => {
    const { send, calls } = recorder(() => Response.json({}));
    const through = (async (url: string, init: RequestInit) => {
      await send(url, init);
      return fetch(url.replace("/api", ""), init);
    }) as typeof fetch;
    const baseUrl = `${liar.url}/api`;
    const response = await rename(wrapped({ baseUrl, fetch: through }), baseUrl + SUBMIT);
    expect([reportOf(response)?.verdict, calls[0]![0]]).toEqual(["verified", baseUrl + SUBMIT]);
  });

  it("that is relative is resolved as a page or a worker does", async () => {
    const page = { location: { href: `${base}/app/page` } };
    const pages: [object, string, string][] = [
      [page, path, `${base}${path}`],
      [page, `..${path}`, `${base}${path}`],
      [page, `//service.example${path}`, `${base}${path}`],
      [page, "page?a", "refused"],
      [{ location: { href: "https://other.example/" } }, path, "untouched"],
      [{ location: { href: "https://other.example/" }, document: { baseURI: base } }, path, `${base}${path}`],
      [{ location: { href: base }, document: { baseURI: "https://other.example/" } }, path, "untouched"],
    ];
    try {
      for (const [globals, input, expected] of pages) {
        for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
        expect([input, await treatment(input)]).toEqual([input, expected]);
        vi.unstubAllGlobals();
      }
      await notSent(wrapped()(path, stamped(body())));
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it.each(["service", "ftp://service.example", `${base}?a`, `${base}#a`, "https://user@service.example", 1, null])(
    "is not a base address: %j",
    (baseUrl) => {
      expect(() => wrapped({ baseUrl: baseUrl as string })).toThrow(TypeError);
    },
  );
});

describe("a request to another origin", () => {
  const GOOD = "https://good.example";
  const PRIVATE = ["X-Stamp", "x-stamp", "X-Stamp-WebAuthn", "X-STAMP-ATTESTED", "X-Auth-Proxy-Config-ID"];

  it("is passed on with the same objects, and so is its answer", async () => {
    const answer = new Response("own");
    const { calls, send } = recorder(() => answer);
    const fetching = wrapped({ fetch: send });
    const init = { method: "POST", body: "x", headers: { "X-Client-Version": "1", "X-Other": "2" } };
    for (const input of [`${GOOD}/a`, new URL(`${GOOD}/b`), new Request(`${GOOD}/c`), "data:,x", "blob:x"])
      for (const one of [init, undefined]) {
        expect(await fetching(input, one)).toBe(answer);
        const [sentTo, sent] = calls.at(-1)!;
        expect(sentTo).toBe(input);
        expect(sent).toBe(one);
      }
    expect(await (await wrapped()("data:,x")).text()).toBe("x");
    await expect(wrapped()("http://")).rejects.toThrow(TypeError);
  });

  it.each(PRIVATE)("is not sent with %s, unless otherOrigins names the origin", async (name) => {
    const { calls, send } = recorder();
    const forms = (url: string): [string | Request, RequestInit?][] => [
      [url, { headers: { [name]: "a" } }],
      [
        url,
        {
          headers: [
            ["A", "b"],
            [name, "a"],
          ],
        },
      ],
      [url, { headers: new Headers({ [name]: "a" }) }],
      [url, { headers: new Map([[name, "a"]]) as never }],
      [new Request(url, { headers: { [name]: "a" } })],
      [new Request(url, { headers: { [name]: "a" } }), { method: "POST" }],
      [url, new Request(url, { headers: { [name]: "a" } })],
    ];
    for (const otherOrigins of [undefined, ["https://other.example"]])
      for (const [input, init] of forms(`${GOOD}/a`)) {
        const message = await notSent(wrapped({ fetch: send, ...(otherOrigins && { otherOrigins }) })(input, init));
        expect(message).toContain(`${name.toLowerCase()} to ${GOOD}`);
      }
    expect(calls).toEqual([]);
    for (const [input, init] of forms(`${GOOD}/a`)) {
      await wrapped({ fetch: send, otherOrigins: [`${GOOD}:443/`] })(input, init);
      expect(calls.at(-1)![0]).toBe(input);
      expect(calls.at(-1)![1]).toBe(init);
    }
    await wrapped({ fetch: send })(new Request(`${GOOD}/a`, { headers: { [name]: "a" } }), { headers: {} });
    expect(calls).toHaveLength(8);
  });

  it.each([
    "https://good.example.evil/",
    "https://good.example:8443/",
    "http://good.example/",
    "https://evil.example/https://good.example/",
    "blob:https://evil.example/x",
    "data:application/json,{}",
    "",
  ])("is another than the origin that otherOrigins names: %s", async (url) => {
    const { calls, send } = recorder();
    await notSent(wrapped({ fetch: send, otherOrigins: [GOOD] })(url, { headers: { "X-Stamp": "a" } }));
    expect(calls).toEqual([]);
  });

  it("is not an origin", () => {
    for (const one of ["good.example", "*", "https://user@good.example", "data:,x", null, {}])
      expect(() => wrapped({ otherOrigins: [one as string] }), String(one)).toThrow(TypeError);
    expect(() => wrapped({ otherOrigins: GOOD as never })).toThrow(TypeError);
  });
});

/** An answer whose body does not end, as platforms abort it. */
function unending(onRead: () => void): typeof fetch {
  return (async (_: string, { signal }: RequestInit) => {
    const stream = new ReadableStream({
      start: (controller) => signal!.addEventListener("abort", () => controller.error(signal!.reason)),
      pull: onRead,
    });
    return new Response(stream, { headers: { "Content-Type": "application/json" } });
  }) as typeof fetch;
}

describe("the request of a wrapped fetch", () => {
  const text = (): [string, Uint8Array<ArrayBuffer>] => {
    const one = body();
    return [one, Buffer.from(one) as Uint8Array<ArrayBuffer>];
  };

  it("may have its body as text, bytes, a Blob, or a stream", async () => {
    const bodies: ((given: string, bytes: Uint8Array<ArrayBuffer>) => BodyInit)[] = [
      (given) => given,
      (_, bytes) => bytes,
      (_, bytes) => Uint8Array.from(bytes).buffer,
      (_, bytes) => new DataView(Uint8Array.from(bytes).buffer),
      (_, bytes) => new Blob([bytes]),
      (_, bytes) => new Blob([bytes]).stream(),
    ];
    const through = wrapped();
    for (const make of bodies) {
      const [given, bytes] = text();
      const init = { ...stamped(given), body: make(given, bytes), duplex: "half" } as RequestInit;
      expect(reportOf(await through(liar.url + SUBMIT, init))?.verdict).toBe("verified");
      expect(liar.bodies.at(-1)!.toString()).toBe(given);
      const [again, moreBytes] = text();
      const request = new Request(liar.url + SUBMIT, {
        ...stamped(again),
        body: make(again, moreBytes),
        duplex: "half",
      } as RequestInit);
      expect(reportOf(await through(request))?.verdict).toBe("verified");
      expect([liar.bodies.at(-1)!.toString(), request.bodyUsed]).toEqual([again, true]);
    }
  });

  it("keeps the caller's headers, method and settings", async () => {
    const { calls, send } = recorder(() => Response.json({}, { status: 400 }));
    const given = body();
    const more = { cache: "no-store", credentials: "omit", dispatcher: { own: true } } as RequestInit;
    await wrapped({ fetch: send })(liar.url + SUBMIT, { ...stamped(given, { method: "post" }), ...more });
    expect(calls[0]![1]).toMatchObject({ ...more, method: "POST", redirect: "manual" });
    const headers = { "content-type": "application/json", "x-stamp": expect.any(String) as string };
    expect(Object.fromEntries((calls[0]![1] as { headers: [] }).headers)).toEqual(headers);
    await wrapped({ fetch: send })(new Request(liar.url + SUBMIT, { ...stamped(given), credentials: "omit" }));
    expect(calls[1]![1]).toMatchObject({ method: "POST", credentials: "omit", redirect: "manual" });
  });

  it.each<[string, RequestInit]>([
    ["no stamp", { headers: { "Content-Type": "application/json" } }],
    ["no body", { body: null }],
    ["a form", { body: new URLSearchParams({ a: "b" }) }],
    ["8 MiB and a byte", { body: " ".repeat(8 * 1024 * 1024 + 1) }],
  ])("is refused before it is sent: %s", async (_, more) => {
    await notSent(wrapped()(liar.url + SUBMIT, { ...stamped(body()), ...more }));
    expect(liar.requests).toHaveLength(0);
  });

  it("is not sent where it was aborted before", async () => {
    const { calls, send } = recorder();
    const signal = AbortSignal.abort(new Error("stopped"));
    for (const fetching of [wrapped(), wrapped({ fetch: send })]) {
      await expect(fetching(liar.url + SUBMIT, stamped(body(), { signal }))).rejects.toThrow("stopped");
      const request = new Request(liar.url + SUBMIT, stamped(body(), { signal }));
      await expect(fetching(request)).rejects.toThrow("stopped");
    }
    expect([liar.requests, calls]).toEqual([[], []]);
    const request = new Request(liar.url + SUBMIT, stamped(body(), { signal }));
    expect(reportOf(await wrapped()(request, { signal: null }))?.verdict).toBe("verified");
  });

  it("is aborted while it is sent, while the answer is read, and while that is verified", async () => {
    const aborted = async (at: (abort: () => void) => Partial<VerifiedFetchOptions>): Promise<void> => {
      const controller = new AbortController();
      const fetching = wrapped(at(() => controller.abort(new Error("stopped"))));
      const answer = fetching(liar.url + SUBMIT, stamped(body(), { signal: controller.signal }));
      await expect(answer).rejects.toThrow("stopped");
    };
    await aborted((abort) => {
      liar.lie = () => new Promise(() => abort());
      return {};
    });
    await aborted((abort) => ({ fetch: unending(abort) }));
    liar.lie = honestly;
    await aborted((abort) => ({ evidence: { query: () => (abort(), new Promise(() => {})) } as never }));
  });

  it("is sent with the caller's own signal, since a collected Request no longer follows it", async () => {
    const { calls, send } = recorder(() => Response.json({}, { status: 400 }));
    const { signal } = new AbortController();
    const fetching = wrapped({ fetch: send });
    await fetching(liar.url + SUBMIT, stamped(body(), { signal }));
    const request = new Request(liar.url + SUBMIT, stamped(body(), { signal }));
    await fetching(request);
    await fetching(liar.url + SUBMIT, new Request(liar.url + SUBMIT, stamped(body(), { signal })));
    await fetching(liar.url + SUBMIT, stamped(body()));
    const signals = calls.map(([, init]) => (init as RequestInit).signal);
    expect([signals[0] === signal, signals[1] === request.signal, signals[3]]).toEqual([true, true, null]);
    expect(signals[2]).toBeInstanceOf(AbortSignal);
  });
});

it("throws TypeError for other options", () => {
  const wrong = [{ policy: {} }, { more: 1 }, { fetch: 1 }, { allowUnproven: "yes" }, { now: 1 }, { acceptance: "x" }];
  for (const more of wrong) expect(() => wrapped(more as never), JSON.stringify(more)).toThrow(TypeError);
  const policy = "options.policy is required: the result of parsePolicy or openSignedPolicy";
  const missing = new TypeError(
    `${policy}; options.baseUrl: expected a string, got nothing; options.evidence is required: a client, ` +
      "a list of boot proofs, or a function from an ephemeral key to a boot proof",
  );
  for (const none of [undefined, {}]) expect(() => verifiedFetch(none as never)).toThrow(missing);
  expect(() => wrapped({ policy: undefined as never })).toThrow(new TypeError(policy));
});
