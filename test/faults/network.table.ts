/**
 * What a service, or the network before it, may do to a request, and what the client makes of it. Each is
 * tried over real sockets in `network.test.ts`.
 */
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { ClientErrorCode } from "../../src/door/errors.js";
import { type Ways, answer, stampIn, trickle, writeForever } from "./servers.js";

export interface NetworkFault {
  /** The row of the table in src/cli/README.md that tells operators of it. */
  readonly row: string;
  readonly ways: (places: Places) => Ways;
  /** What a query comes to; null where it is answered. */
  readonly code: ClientErrorCode | null;
  /** In its message. */
  readonly said: RegExp;
  /** How often a query is sent that may be repeated once. Default: once. */
  readonly sent?: number;
  /** The exit code of `fetch`. Default: 3. */
  readonly exit?: 2;
  /** Only time ends it. */
  readonly isSlow?: boolean;
  /** The wait that the service asked for, where that is kept to. */
  readonly waitMs?: number;
}

export interface Places {
  /** What an honest service answers. */
  readonly good: string;
  /** A server that nobody may speak to. */
  readonly elsewhere: { readonly port: number };
}

const JSON_TYPE = { "content-type": "application/json" };
const MIB = 1024 * 1024;
const ZEROS = Buffer.alloc(32 * MIB, " ");
const GZIP_BOMB = gzipSync(ZEROS);
const BROTLI_BOMB = brotliCompressSync(ZEROS, { params: { 1: 1 } });
const NESTED_BOMB = gzipSync(GZIP_BOMB);

const answers =
  (bytes: (places: Places, head: string, count: number) => Uint8Array) =>
  (places: Places): Ways => ({ asked: (socket, head, count) => socket.end(bytes(places, head, count)) });

/** Refused once for each header, and then answered. */
const waits = (status: number, retryAfter: string) =>
  answers(({ good }, _, count) =>
    count === 1
      ? answer(status, { ...JSON_TYPE, "retry-after": retryAfter }, '{"code":8,"message":"busy"}')
      : answer(200, JSON_TYPE, good),
  );
const redirect = (status: number, location: (places: Places, head: string) => string) =>
  answers((places, head) => answer(status, { location: location(places, head) }, ""));
const packed = (encoding: string, body: Uint8Array) =>
  answers(() => answer(200, { ...JSON_TYPE, "content-encoding": encoding }, body));

const TIMEOUT = {
  row: "a slow service",
  code: "timeout",
  said: /no answer within 250 ms/,
  sent: 2,
  isSlow: true,
} as const;
const UNREACHABLE = { row: "a connection that breaks", code: "unreachable", sent: 2 } as const;
const NOT_JSON = {
  row: "a malformed response",
  code: "answer",
  said: /does not match the interface/,
} as const;
const TOO_LONG = {
  row: "an endless response",
  code: "answer",
  said: /longer than 1049600 bytes/,
} as const;
const ANSWERED = { row: "429 and 503", code: null, said: /^$/, sent: 2 } as const;
const ELSEWHERE = {
  row: "a redirect",
  code: "service",
  said: /HTTP 30\d.*Redirects are not followed\. Use the base address of the service itself/,
} as const;

export const NETWORK_FAULTS: Readonly<Record<string, NetworkFault>> = {
  "accepts, and says nothing": { ways: () => ({}), ...TIMEOUT },
  "accepts, and reads nothing": {
    ways: () => ({ connected: (socket) => void socket.pause() }),
    ...TIMEOUT,
  },
  "headers byte by byte": {
    ways: ({ good }) => ({ asked: (socket) => trickle(socket, answer(200, JSON_TYPE, good)) }),
    ...TIMEOUT,
  },
  "a body byte by byte": {
    ways: ({ good }) => ({
      asked: (socket) => {
        socket.write(answer(200, JSON_TYPE, "", good.length));
        trickle(socket, good);
      },
    }),
    ...TIMEOUT,
  },
  "informational answers, and no other": {
    ways: () => ({ asked: (socket) => trickle(socket, "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50)) }),
    ...TIMEOUT,
  },
  "an end (FIN) before anything": {
    ways: () => ({ connected: (socket) => void socket.end() }),
    said: /cannot be reached \(\w+\)/,
    ...UNREACHABLE,
  },
  "an end (FIN) in the place of an answer": {
    ways: () => ({ asked: (socket) => void socket.end() }),
    said: /cannot be reached \(UND_ERR_SOCKET\)/,
    ...UNREACHABLE,
  },
  "a reset before the headers": {
    ways: () => ({ asked: (socket) => void socket.resetAndDestroy() }),
    said: /cannot be reached \(ECONNRESET\)/,
    ...UNREACHABLE,
  },
  "a reset after the headers": {
    ways: () => ({
      asked: (socket) => void socket.write(answer(200, JSON_TYPE, "", 100), () => void socket.resetAndDestroy()),
    }),
    said: /cannot be reached \(\w+\)/,
    ...UNREACHABLE,
  },
  "a reset in the middle of the body": {
    ways: ({ good }) => ({
      asked: (socket) =>
        void socket.write(answer(200, JSON_TYPE, good.slice(0, 99), good.length), () => void socket.resetAndDestroy()),
    }),
    said: /cannot be reached \(\w+\)/,
    ...UNREACHABLE,
  },
  "a body that is shorter than its length": {
    ways: answers(({ good }) => answer(200, JSON_TYPE, good, good.length + 1)),
    said: /cannot be reached \(\w+\)/,
    ...UNREACHABLE,
  },
  "something that is not an HTTP": {
    ways: answers(() => Buffer.from("220 mail.example.com ESMTP\r\n")),
    said: /cannot be reached \(HPE_\w+\)/,
    ...UNREACHABLE,
  },
  "a body that is longer than its length": {
    ways: answers(({ good }) => answer(200, JSON_TYPE, good, good.length - 1)),
    ...NOT_JSON,
  },
  "a page of HTML": {
    ways: answers(() => answer(200, { "content-type": "text/html" }, "<!doctype html><title>Sign in</title>")),
    ...NOT_JSON,
  },
  nothing: { ways: answers(() => answer(200, JSON_TYPE)), ...NOT_JSON },
  "no content (204)": {
    row: "a malformed response",
    ways: answers(() => Buffer.from("HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")),
    code: "service",
    said: /HTTP 204/,
  },
  "the word null": { ways: answers(() => answer(200, JSON_TYPE, "null")), ...NOT_JSON },
  "text that is not UTF-8": {
    ways: answers(() => answer(200, JSON_TYPE, Uint8Array.of(0x22, 0xff, 0xfe, 0x22))),
    ...NOT_JSON,
  },
  "an error under status 200": {
    ways: answers(() => answer(200, JSON_TYPE, '{"code":13,"message":"internal error","details":[]}')),
    ...NOT_JSON,
    said: /bootProof:? (?:is missing|missing|expected an object, got nothing)|has no member of a boot proof/,
  },
  "gzip that is cut off": {
    ways: ({ good }) => packed("gzip", gzipSync(good).subarray(0, 100))({ good } as Places),
    ...NOT_JSON,
  },
  "no gzip, though it says so": {
    ways: ({ good }) => packed("gzip", Buffer.from(good))({ good } as Places),
    said: /cannot be reached \(Z_DATA_ERROR\)/,
    ...UNREACHABLE,
  },
  "another content type": {
    row: "another content type",
    ways: answers(({ good }) => answer(200, { "content-type": "text/html; charset=utf-16" }, good)),
    code: null,
    said: /^$/,
  },
  "429 for a second": {
    ...ANSWERED,
    ways: waits(429, "1"),
    waitMs: 1000,
  },
  "503 until a date that is past": {
    ...ANSWERED,
    ways: waits(503, "Wed, 21 Oct 2015 07:28:00 GMT"),
    waitMs: 0,
  },
  "503 until something": {
    ...ANSWERED,
    ways: waits(503, "soon"),
    waitMs: 0,
  },
  "503 for a negative time": {
    ...ANSWERED,
    ways: waits(503, "-1"),
    waitMs: 0,
  },
  "429 until a date far away": {
    row: "429 and 503",
    ways: waits(429, "Fri, 31 Dec 9999 23:59:59 GMT"),
    code: "service",
    said: /HTTP 429: busy\. Wait, and send fewer requests/,
  },
  "503 for longer than there is time": {
    row: "429 and 503",
    ways: waits(503, "9".repeat(400)),
    code: "service",
    said: /HTTP 503: busy\. Try again later/,
  },
  "a redirect on the same host": {
    ...ELSEWHERE,
    ways: redirect(307, (_, head) => `http://${/^host: (.*)$/im.exec(head)![1]!}/public/v1/query/elsewhere`),
  },
  "a redirect to another host": {
    ...ELSEWHERE,
    ways: redirect(308, ({ elsewhere }) => `http://localhost:${elsewhere.port}/public/v1/query/get_latest_boot_proof`),
  },
  "a redirect to http": { ...ELSEWHERE, ways: redirect(301, ({ elsewhere }) => `http://127.0.0.1:${elsewhere.port}/`) },
  "a redirect to a file": { ...ELSEWHERE, ways: redirect(302, () => "file:///etc/passwd") },
  "a redirect to itself": { ...ELSEWHERE, ways: redirect(307, (_, head) => head.split(" ")[1]!) },
  "a redirect to nowhere": { ...ELSEWHERE, ways: answers(() => answer(303, {}, "")) },
  "a body without an end": {
    ways: () => ({
      asked: (socket) => {
        socket.write(answer(200, JSON_TYPE, "", null));
        writeForever(socket, ZEROS.subarray(0, 65_536));
      },
    }),
    ...TOO_LONG,
  },
  "32 MiB in a few KiB of gzip": { ways: packed("gzip", GZIP_BOMB), ...TOO_LONG },
  "the same in brotli": { ways: packed("br", BROTLI_BOMB), ...TOO_LONG },
  "the same, packed twice": { ways: packed("gzip, gzip", NESTED_BOMB), ...TOO_LONG },
  "an error without an end": {
    ways: () => ({
      asked: (socket) => {
        socket.write(answer(403, JSON_TYPE, "", null));
        writeForever(socket, ZEROS.subarray(0, 65_536));
      },
    }),
    ...TOO_LONG,
  },
  "ten thousand headers": {
    ways: answers(() =>
      answer(200, Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`x-${index}`, "y"]))),
    ),
    said: /cannot be reached \(UND_ERR_HEADERS_OVERFLOW\)/,
    ...UNREACHABLE,
    row: "an endless response",
  },
  "headers without an end": {
    ways: () => ({
      asked: (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        writeForever(socket, "x-more: and more\r\n".repeat(100));
      },
    }),
    said: /cannot be reached \(UND_ERR_HEADERS_OVERFLOW\)/,
    ...UNREACHABLE,
    row: "an endless response",
  },
  "an error that quotes the stamp": {
    row: "a refusal",
    ways: answers((_, head) =>
      answer(401, JSON_TYPE, JSON.stringify({ code: 16, message: `bad stamp ${stampIn(head)}`, details: [] })),
    ),
    code: "service",
    said: /HTTP 401: bad stamp \[stamp\]\./,
    exit: 2,
  },
};
