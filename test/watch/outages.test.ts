/** What a failure of a service is, how long a watch waits after it, and what an operator is told. */
import { describe, expect, it } from "vitest";
import { ClientError, ServiceError } from "../../src/client/errors.js";
import type { LogEvent, Watched } from "../../src/watch/entry.js";
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

  type Polls = readonly (readonly [after: number, ...failures: (Failure | null)[]])[];
  type Options = Partial<ConstructorParameters<typeof Outages>[0]>;

  /** The messages and entries of polls, each after so many milliseconds. */
  function noted(polls: Polls, options: Options = {}): { messages: WatchMessage[]; events: LogEvent[] } {
    const [messages, events]: [WatchMessage[], LogEvent[]] = [[], []];
    let time = START.getTime();
    const outages = new Outages({
      now: () => new Date(time),
      random: () => 0,
      tell: (one) => messages.push(one),
      after: 1,
      repeatMs: HOUR,
      open: [],
      ...options,
    });
    for (const [after, ...failures] of polls) {
      time += after;
      events.push(...outages.note(failures.map((failure, index) => ({ watched: [one!, other!][index]!, failure }))));
    }
    return { messages, events };
  }
  const later = (milliseconds: number): Date => new Date(START.getTime() + milliseconds);

  it("of several at once are one message and one entry, and so is their end", () => {
    const down = failing("unreachable");
    const { messages, events } = noted([
      [0, down, down],
      [1000, down, down],
      [1000, null, null],
    ]);
    const since = START;
    expect(messages).toEqual([
      { event: "outage", at: START, since, kind: "unreachable", watched: [one, other], message: "down", again: false },
      { event: "recovered", at: later(2000), since, watched: [one, other], failedPolls: 2 },
    ]);
    const [began, ended] = [later(1000).toISOString(), later(2000).toISOString()];
    const both = { watched: [one, other], since: START.toISOString() };
    expect(events).toEqual([
      { event: "outage-began", at: began, kind: "unreachable", ...both, message: "down" },
      { event: "outage-ended", at: ended, ...both, failedPolls: 2 },
    ]);
  });

  it.each<FailureKind>(["credentials", "missing", "unreachable", "answer"])(
    "of the kind %s are reported again each hour",
    (kind) => {
      const { messages } = noted([
        [0, failing(kind)],
        [HOUR - 1, failing(kind)],
        // Counted from when it was due: the third is not an hour after the second.
        [60_001, failing(kind)],
        [HOUR - 60_000, failing(kind)],
        [HOUR - 1, failing(kind)],
      ]);
      expect(messages.map(({ at }) => at)).toEqual([0, HOUR + 60_000, 2 * HOUR].map(later));
      expect(messages.map((message) => "again" in message && message.again)).toEqual([false, true, true]);
    },
  );

  it("are reported again as often as wanted", () => {
    const down = failing("unreachable");
    const polls = Array.from({ length: 11 }, () => [60_000, down] as const);
    expect(noted(polls, { repeatMs: 120_000 }).messages).toHaveLength(6);
  });

  it("that alternate their kind are one: each kind is reported once, and the time goes on", () => {
    const [down, none] = [failing("unreachable"), failing("missing")];
    const polls = Array.from({ length: 120 }, (_, index) => [60_000, index % 2 === 0 ? down : none] as const);
    const { messages, events } = noted([...polls, [60_000, null]]);
    expect(messages.map((message) => [message.event, "again" in message && message.again])).toEqual([
      ["outage", false],
      ["outage", true],
      ["outage", true],
      ["recovered", false],
    ]);
    expect(
      messages.every((message) => "since" in message && message.since.getTime() === START.getTime() + 60_000),
    ).toBe(true);
    expect(messages.at(-1)).toMatchObject({ failedPolls: 120 });
    expect(events.map(({ event }) => event)).toEqual(["outage-began", "outage-ended"]);
  });

  it.each([
    [0, 1],
    [1, 2],
    [5, 6],
  ])("are recorded when they last longer than %d polls, and only these have an end", (after, least) => {
    const down = failing("unreachable");
    const polls = (count: number): Polls => [
      ...Array.from({ length: count }, () => [1000, down] as const),
      [1000, null],
    ];
    expect(noted(polls(least - 1), { after }).events).toEqual([]);
    expect(noted(polls(least), { after }).events).toMatchObject([
      { event: "outage-began" },
      { event: "outage-ended", failedPolls: least },
    ]);
    expect(noted(polls(50), { after }).events).toHaveLength(2);
  });

  it("have an entry for each name that begins or ends by itself", () => {
    const down = failing("unreachable");
    const { events } = noted([
      [0, down, null],
      [1000, down, down],
      [1000, down, down],
      [1000, null, down],
      [1000, null, null],
    ]);
    expect(events.map((event) => [event.event, "watched" in event && event.watched])).toEqual([
      ["outage-began", [one]],
      ["outage-began", [other]],
      ["outage-ended", [one]],
      ["outage-ended", [other]],
    ]);
  });

  it("that are open in the log go on, and are not recorded again", () => {
    const open = [{ watched: one!, since: later(-HOUR) }];
    const { messages, events } = noted(
      [
        [0, failing("answer")],
        [1000, failing("answer")],
        [1000, null],
      ],
      { open },
    );
    expect(messages).toMatchObject([
      { event: "outage", again: true, since: later(-HOUR) },
      { event: "recovered", failedPolls: 2, since: later(-HOUR) },
    ]);
    expect(events).toMatchObject([{ event: "outage-ended", since: later(-HOUR).toISOString(), failedPolls: 2 }]);
    const ended = noted([[0, null]], { open });
    expect(ended.events).toMatchObject([{ event: "outage-ended", failedPolls: 0 }]);
    expect(ended.messages).toMatchObject([{ event: "recovered", failedPolls: 0 }]);
    expect(noted([], { open })).toEqual({ messages: [], events: [] });
  });

  it("have a message in the log that is short, and Unicode", () => {
    const long = { ...failing("answer"), message: `\ud800${"x".repeat(5000)}` };
    const [began] = noted([[0, long]], { after: 0 }).events;
    expect(began).toMatchObject({ message: `\ufffd${"x".repeat(999)}` });
  });
});
