/** Deliveries of activities (client/README.md, "Webhook deliveries"), signed and retried. */
import { createHash, randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { toHex, toUtf8 } from "../bytes.js";
import type { Signal } from "../door/platform.js";
import type { JsonObject } from "../decode/json.js";
import { type KeyPair, ed25519Point, signDer } from "./keys.js";
import { invalid } from "./refusal.js";

/** Waits, but ends early when the signal is aborted. */
export type Sleep = (milliseconds: number, signal: Signal) => Promise<unknown>;

export interface DeliveryAttempt {
  readonly eventId: string;
  readonly activityId: string;
  readonly url: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** The HTTP status. Null without a response. */
  readonly status: number | null;
}

const MAX_ATTEMPTS = 6;
const FIRST_WAIT_MS = 500;
const ATTEMPT_TIMEOUT_MS = 10_000;
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/;

/** Checks the URL of a webhook. Throws Refusal if the lab does not deliver to it. */
export function checkWebhookUrl(value: string): void {
  const url = URL.canParse(value) ? new URL(value) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw invalid("parameters.value: expected an http or https URL for the webhook");
  if (!LOOPBACK.test(url.hostname)) {
    throw invalid(
      `parameters.value: ${url.hostname} is not this machine: the lab delivers to the loopback only, so that a test ` +
        `cannot send data to other machines`,
    );
  }
}

/** Waits without keeping the process alive. */
const realSleep: Sleep = (milliseconds, signal) => delay(milliseconds, undefined, { signal, ref: false });

export class Webhooks {
  readonly keyId: string;
  readonly #key: KeyPair;
  readonly #now: () => Date;
  readonly #sleep: Sleep;
  readonly #onAttempt: (attempt: DeliveryAttempt) => void;
  readonly #pending = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(options: {
    key: KeyPair;
    now: () => Date;
    sleep?: Sleep | undefined;
    onAttempt?: ((attempt: DeliveryAttempt) => void) | undefined;
  }) {
    this.#key = options.key;
    this.#now = options.now;
    this.#sleep = options.sleep ?? realSleep;
    this.#onAttempt = options.onAttempt ?? (() => {});
    // Any number of deliveries may wait at once: that is no leak, of which Node would warn.
    setMaxListeners(0, this.#stop.signal);
    this.keyId = createHash("sha256").update(this.#jwk.x).digest("hex").slice(0, 16);
  }

  /** The keys that verify deliveries (RFC 7517 and RFC 8037). */
  get jwks(): JsonObject {
    return { keys: [{ ...this.#jwk, kid: this.keyId, alg: "EdDSA", use: "sig" }] };
  }

  get #jwk(): { kty: string; crv: string; x: string } {
    return { kty: "OKP", crv: "Ed25519", x: ed25519Point(this.#key) };
  }

  deliver(url: string, activity: JsonObject): void {
    const delivery = this.#deliver(url, activity).finally(() => this.#pending.delete(delivery));
    this.#pending.add(delivery);
  }

  async whenDelivered(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** Abandons pending deliveries. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.whenDelivered();
  }

  async #deliver(url: string, activity: JsonObject): Promise<void> {
    const eventId = randomUUID();
    const body = toUtf8(JSON.stringify(activity));
    for (let attempt = 1; attempt <= MAX_ATTEMPTS && !this.#stop.signal.aborted; attempt++) {
      if (attempt > 1) await this.#wait(FIRST_WAIT_MS * 2 ** (attempt - 2));
      const status = await this.#post(url, eventId, body);
      this.#onAttempt({ eventId, activityId: String(activity["id"]), url, attempt, status });
      if (status !== null && status < 500) return;
    }
  }

  async #wait(milliseconds: number): Promise<void> {
    await this.#sleep(milliseconds, this.#stop.signal).catch(() => {});
  }

  /**
   * Posts a delivery. Resolves to the status; null if the receiver could not be reached. Redirects are not followed.
   */
  async #post(url: string, eventId: string, body: Uint8Array): Promise<number | null> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)]);
    try {
      const answer = await fetch(url, {
        method: "POST",
        headers: this.#headers(eventId, body),
        body: Buffer.from(body),
        redirect: "manual",
        signal,
      });
      await answer.body?.cancel();
      return answer.status;
    } catch {
      return null;
    }
  }

  #headers(eventId: string, body: Uint8Array): Record<string, string> {
    const timestamp = String(this.#now().getTime());
    const signed = Buffer.concat([toUtf8(`v1.ed25519.${this.keyId}.${timestamp}.${eventId}.`), body]);
    return {
      "Content-Type": "application/json",
      "X-Webhook-Event-Id": eventId,
      "X-Webhook-Timestamp": timestamp,
      "X-Webhook-Signature-Key-Id": this.keyId,
      "X-Webhook-Signature-Algorithm": "ed25519",
      "X-Webhook-Signature-Version": "v1",
      "X-Webhook-Signature": toHex(signDer(this.#key, null, signed)),
    };
  }
}
