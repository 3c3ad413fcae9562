/** What a failure of a service is, how long a watch waits after it, and what an operator is told. */
import { describe, expect, it } from "vitest";
import { ClientError, ServiceError } from "../../src/client/errors.js";
import type { Watched } from "../../src/watch/entry.js";
import {
  type Failure,
  type FailureKind,
  FetchError,
  Outages,
  type WatchMessage,
  backoffMs,
  failureOf,
} from "../../src/watch/outages.js";
import { START } from "./support.js";

const HOUR = 3_600_000;

function serviceError(status: number, retryAfterMs: number | null = null): ServiceError {
  const facts = { status, grpcCode: null, serviceMessage: null, details: [], category: null, retryAfterMs };
  return new ServiceError(facts, { operation: "get_boot_proof" } as never);
}

describe("a failure", () => {
  it.each<[string, unknown, FailureKind]>([
    ["a request that takes too long", serviceError(408), "unreachable"],
    ["too many requests", serviceError(429), "unreachable"],
    ["a fault of the service", serviceError(500), "unreachable"],
    ["what is just none of its faults", serviceError(499), "credentials"],
    ["a refusal", serviceError(403), "credentials"],
    ["a key that cannot stamp", new ClientError("key", "no key", {} as never), "credentials"],
    ["an answer that is none", new ClientError("answer", "no JSON", {} as never), "answer"],
    ["a time limit", new ClientError("timeout", "too late", {} as never), "unreachable"],
    ["an error of its own kind", new FetchError("missing", "none"), "missing"],
    ["any other error", new Error("down"), "unreachable"],
  ])("of %s", (_, error, kind) => {
    expect(failureOf(error)).toMatchObject({ kind, message: (error as Error).message, retryAfterMs: null });
  });

  it("has the wait that the service wants, and the text of what is no error", () => {
    expect(failureOf(serviceError(503, 1200)).retryAfterMs).toBe(1200);
    expect(failureOf("down")).toEqual({ kind: "unreachable", message: "down", retryAfterMs: null });
    expect(new FetchError("answer", "none").name).toBe("FetchError");
  });
});

describe("waits", () => {
  it("double up to five minutes, half of each by chance", () => {
    expect([0, 1, 5, 6, 7, 100].map((attempts) => backoffMs(attempts, 1))).toEqual([
      5000, 10_000, 160_000, 300_000, 300_000, 300_000,
    ]);
    expect([backoffMs(0, 0), backoffMs(0, 0.5)]).toEqual([2500, 3750]);
  });
});

describe("outages", () => {
  const [one, other]: readonly Watched[] = [{ app: "one" }, { app: "other" }];
  const failing = (kind: FailureKind): Failure => ({ kind, message: "down", retryAfterMs: null });

  /** The messages of polls, each after so many milliseconds. */
  function told(polls: readonly (readonly [after: number, ...failures: (Failure | null)[]])[]): WatchMessage[] {
    const messages: WatchMessage[] = [];
    let time = START.getTime();
    const outages = new Outages({ now: () => new Date(time), random: () => 0, tell: (one) => messages.push(one) });
    for (const [after, ...failures] of polls) {
      time += after;
      outages.note(failures.map((failure, index) => ({ watched: [one!, other!][index]!, failure })));
    }
    return messages;
  }

  it("of several at once are one message, and so is their end", () => {
    const down = failing("unreachable");
    const messages = told([
      [0, down, down],
      [1000, down, down],
      [1000, null, null],
    ]);
    const since = START;
    expect(messages).toEqual([
      { event: "outage", at: START, since, kind: "unreachable", watched: [one, other], message: "down", again: false },
      { event: "recovered", at: new Date(START.getTime() + 2000), since, watched: [one, other], failedPolls: 2 },
    ]);
  });

  it.each<[FailureKind, boolean]>([
    ["credentials", true],
    ["missing", true],
    ["unreachable", false],
    ["answer", false],
  ])("of the kind %s are told again after an hour: %s", (kind, isToldAgain) => {
    const messages = told([
      [0, failing(kind)],
      [HOUR - 1, failing(kind)],
      [1, failing(kind)],
    ]);
    expect(messages.map((message) => message.event === "outage" && message.again)).toEqual(
      isToldAgain ? [false, true] : [false],
    );
  });
});
