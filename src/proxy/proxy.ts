/**
 * The verifying proxy without its sockets (proxy/README.md). It forwards requests, and replies as the door decides.
 */
import { verifyEvidence } from "../bootproof.js";
import { fromHex } from "../bytes.js";
import type { JsonObject } from "../decode/json.js";
import { exactText } from "../door/answer.js";
import { type AtDoor, type Door, doorOf } from "../door/door.js";
import { Entrance, type EntranceOptions } from "../door/entrance.js";
import { ClientError, RejectedActivityError, RejectedAddressesError } from "../door/errors.js";
import type { Query } from "../door/evidence-source.js";
import type { Exchange } from "../door/exchange.js";
import { type Headers, HttpFault, exchangeOf, replyTo, stampIn } from "../door/http.js";
import { LATER } from "../door/later.js";
import type { Signal } from "../door/platform.js";
import { isSubmit } from "../door/question.js";
import { inTurns, turn } from "../verify/in-turns.js";
import { type RefusalKind, type Reply, refusal } from "./reply.js";

interface ProxyOptions extends AtDoor, EntranceOptions {
  /** Asks for boot proofs and missing app proofs. */
  readonly query: Query;
}

/** A request as received, with names of headers in lower case. */
export interface RawRequest {
  readonly method: string;
  /** The raw request target. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

export interface ForwardedRequest {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly exchange: Exchange;
}

/** An answer as received. Only the HTTP message itself was decoded, not its body. */
export interface RawAnswer {
  readonly status: number;
  readonly rawHeaders: readonly string[];
  readonly rawTrailers: readonly string[];
  /** The body; null if it is too long. */
  readonly body: Uint8Array | null;
}

type Decision = { readonly refused: Reply } | { readonly forwarded: ForwardedRequest };

const PREPARED_AT_ONCE = 4;
const JSON_TYPE = /^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i;

export class VerifyingProxy {
  readonly #door: Door;
  readonly #entrance: Entrance;
  readonly #query: Query;

  /** Throws TypeError for an invalid policy, and `DerivationPolicyError`. */
  constructor({ query, ...options }: ProxyOptions) {
    this.#door = doorOf(options, LATER);
    this.#entrance = new Entrance(this.#door, options, LATER);
    this.#query = query;
  }

  decide({ method, target, headers, body }: RawRequest): Decision {
    try {
      const stamp = stampIn(headers);
      if ("fault" in stamp) throw invalid(stamp.fault);
      const exchange = exchangeOf(this.#entrance, { method, path: target, body, ...stamp });
      return { forwarded: { target, headers: forwardedHeaders(headers), body, exchange } };
    } catch (error) {
      if (error instanceof HttpFault) return { refused: refusal(error.kind, error.message) };
      throw error;
    }
  }

  /**
   * Fetches and caches the boot proofs of these keys (hex). Resolves to the keys whose boot proofs the policy rejects.
   */
  async prepare(keys: readonly string[]): Promise<readonly string[]> {
    const held = await this.#door.begin();
    const verdicts = await inTurns(keys, PREPARED_AT_ONCE, async (key) => {
      const evidence = (await this.#door.bootProofs.get(key, held, this.#query))?.evidence ?? null;
      const options = { ...this.#door.options(held), ephemeralKey: fromHex(key)! };
      const pieces = { bootProofs: [evidence], ...held.builds.evidence };
      return (await verifyEvidence(pieces, { ...options, bootProofsOnly: true })).report.verdict;
    });
    return keys.filter((_, index) => verdicts[index] !== "verified");
  }

  /** Resolves to the reply, and never rejects. */
  async answer(exchange: Exchange, answer: RawAnswer, signal: Signal): Promise<Reply> {
    try {
      const headers = headersOf(answer.rawHeaders);
      const header = (name: string): string[] => headers.flatMap(([one, value]) => (one === name ? [value] : []));
      if (answer.rawTrailers.length > 0) throw new HttpFault("invalid-answer", "it has trailers");
      if (header("content-encoding").some((coding) => coding.toLowerCase() !== "identity"))
        throw new HttpFault("invalid-answer", "it has a Content-Encoding, which was not requested");
      const [type = "", ...others] = header("content-type");
      if (others.length > 0 || !JSON_TYPE.test(type))
        throw new HttpFault("invalid-answer", "its Content-Type is not application/json");
      const call = { query: this.#query, signal };
      const made = await replyTo({ ...answer, header }, (read) => this.#entrance.settle(exchange, read, call));
      await turn();
      return { status: made.status, headers: made.headers, body: exactText(made.value), note: null };
    } catch (error) {
      return refusalOf(exchange, error);
    }
  }
}

/** Pairs Node's alternating names and values, with names in lower case. */
export function headersOf(raw: readonly string[]): Headers {
  return raw.flatMap((value, at) => (at % 2 === 1 ? [[raw[at - 1]!.toLowerCase(), value] as const] : []));
}

/** The headers that are forwarded: stamps, and those that the service's clients send with them. */
const PASSED_ON = /^(?:x-stamp(?:-webauthn|-attested)?|content-type|user-agent|x-client-version)$/;

/**
 * Returns the headers to forward. Throws for a repeated header, which is ambiguous, and for an encoded body, whose
 * bytes are not the stamped ones.
 */
function forwardedHeaders(headers: Headers): Record<string, string> {
  const coded = headers.find(([name, value]) => name === "content-encoding" && value.toLowerCase() !== "identity");
  if (coded !== undefined) throw invalid("the body has a Content-Encoding: send the body as it was stamped");
  const forwarded: Record<string, string> = {};
  for (const [name, value] of headers.filter(([one]) => PASSED_ON.test(one))) {
    if (Object.hasOwn(forwarded, name)) throw invalid(`the header ${name} is repeated`);
    forwarded[name] = value;
  }
  return { "content-type": "application/json", ...forwarded };
}

function invalid(fault: string): HttpFault {
  return new HttpFault("invalid-request", `not sent: ${fault}`);
}

function refusalOf({ question }: Exchange, error: unknown): Reply {
  const { operation } = question;
  const advice = isSubmit(question)
    ? " The service may have carried it out: check the activity before you submit again."
    : "";
  const group = isSubmit(question) ? "submit" : "query";
  const failed = (of: RefusalKind, message: string, details: readonly JsonObject[] = []): Reply =>
    refusal(of, `${group}/${message.startsWith(`${operation}: `) ? "" : `${operation}: `}${message}`, details);
  if (error instanceof RejectedActivityError) return failed("rejected", error.message, failedChecks(error));
  if (error instanceof RejectedAddressesError) return failed("rejected", error.message, rowsOf(error));
  if (error instanceof HttpFault)
    return failed(error.kind, `the answer of the service is refused: ${error.message}.${advice}`);
  if (error instanceof ClientError)
    return failed(error.code === "answer" ? "invalid-answer" : "evidence", error.message);
  return failed("internal", `a fault of the proxy: ${error instanceof Error ? error.name : "unknown"}.${advice}`);
}

function failedChecks({ failures }: RejectedActivityError): JsonObject[] {
  return failures.map(({ id, subject, detail }) => ({ id, subject, detail }));
}

function rowsOf({ rows }: RejectedAddressesError): JsonObject[] {
  return rows.map(({ class: name, address, reason }) => ({ class: name, address, reason }));
}
