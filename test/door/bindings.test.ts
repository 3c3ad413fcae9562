/** Which request an activity answered. */
import { expect, it } from "vitest";
import { jsonKey } from "../../src/decode/json.js";
import { Bindings } from "../../src/door/bindings.js";
import type { SubmitQuestion } from "../../src/door/question.js";

const question = (more: Partial<SubmitQuestion> = {}): SubmitQuestion => ({
  kind: "submit",
  operation: "x",
  organizationId: "o",
  type: "T",
  parameters: { a: 1 },
  timestampMs: "1",
  isProven: true,
  ...more,
});
const ANOTHER = "the activity's id belongs to another request";

it("binds an id once, to the first request, and looks it up whoever asks", () => {
  const bindings = new Bindings();
  const first = question();
  expect(bindings.get("a")).toBeNull();
  expect([bindings.bind(first, "a", "one"), bindings.bind(question(), "a", "two")]).toEqual([null, null]);
  expect(bindings.get("a")).toBe(first);
});

it.each<[string, Partial<SubmitQuestion>]>([
  ["organization", { organizationId: "other" }],
  ["type", { type: "U" }],
  ["parameters", { parameters: { a: 2 } }],
  ["time", { timestampMs: "2" }],
])("refuses another %s", (_, more) => {
  const bindings = new Bindings();
  const first = question();
  bindings.bind(first, "a", "one");
  expect([bindings.bind(question(more), "a", "one"), bindings.get("a")]).toEqual([ANOTHER, first]);
});

it("keeps the request that asks for app proofs where the same one was sent without", () => {
  const bindings = new Bindings();
  const proven = question();
  bindings.bind(question({ isProven: false }), "a", "one");
  expect(bindings.get("a")?.isProven).toBe(false);
  expect([bindings.bind(proven, "a", "one"), bindings.bind(question({ isProven: false }), "a", "one")]).toEqual([
    null,
    null,
  ]);
  expect(bindings.get("a")).toBe(proven);
});

it("takes from the submitter that holds most its oldest binding", () => {
  const bindings = new Bindings(10_000);
  bindings.bind(question(), "quiet", "quiet");
  for (let index = 0; index < 100; index++) bindings.bind(question({ timestampMs: `${index}` }), `${index}`, "loud");
  expect(bindings.get("quiet")).not.toBeNull();
  const kept = Array.from({ length: 100 }, (_, index) => bindings.get(`${index}`) !== null);
  expect([kept.indexOf(true) > 0, kept.lastIndexOf(false) < kept.indexOf(true), kept.at(-1)]).toEqual([
    true,
    true,
    true,
  ]);
  expect(kept.filter(Boolean).length).toBeGreaterThan(10);
});

it("counts what was taken no more, and binds an id anew that it forgot", () => {
  const bindings = new Bindings(2000);
  for (let index = 10; index < 60; index++)
    bindings.bind(question({ timestampMs: `${index}` }), `${index}`, `s${index}`);
  expect([bindings.get("10"), bindings.get("59")?.timestampMs]).toEqual([null, "59"]);
  expect(bindings.bind(question({ type: "U" }), "10", "one")).toBeNull();
});

it("counts the characters of a request", () => {
  const bindings = new Bindings(10_000);
  bindings.bind(question(), "small", "one");
  bindings.bind(question({ parameters: { a: "x".repeat(4000) } }), "large", "two");
  expect([bindings.get("small"), bindings.get("large")].map((one) => one !== null)).toEqual([true, true]);
  bindings.bind(question({ parameters: { a: "y".repeat(1500) } }), "next", "one");
  expect(bindings.get("large")).toBeNull();
});

/** What a binding of {@link question} under an id of one character counts for. */
const SIZE = 512 + 1 + 2 * jsonKey(["o", "T", { a: 1 }, "1"]).length;
/** The ids that are bound. */
const held = (bindings: Bindings, ids: string): string => [...ids].filter((id) => bindings.get(id) !== null).join("");

it("keeps what is exactly as large as its bound", () => {
  const [exact, less] = [new Bindings(SIZE), new Bindings(SIZE - 1)];
  for (const bindings of [exact, less]) expect(bindings.bind(question(), "a", "one")).toBeNull();
  expect([held(exact, "a"), held(less, "a")]).toEqual(["a", ""]);
});

it("counts a binding that is replaced once", () => {
  const bindings = new Bindings(SIZE);
  bindings.bind(question({ isProven: false }), "a", "one");
  bindings.bind(question(), "a", "one");
  expect(bindings.get("a")?.isProven).toBe(true);
});

it("leaves a request that is sent again with its first submitter", () => {
  const bindings = new Bindings();
  const first = question({ isProven: false });
  bindings.bind(first, "a", "one");
  bindings.bind(question({ isProven: false }), "a", "two");
  expect(bindings.get("a")).toBe(first);
});

it("takes the oldest of a submitter each time, down to its last", () => {
  const bindings = new Bindings(SIZE);
  for (const id of "abc") bindings.bind(question(), id, "one");
  expect(held(bindings, "abc")).toBe("c");
});

it("holds against no submitter what it lost", () => {
  const bindings = new Bindings(3 * SIZE);
  const bind = (ids: string, submitter: string): void => {
    for (const id of ids) bindings.bind(question(), id, submitter);
  };
  bind("ab", "loud");
  bind("q", "quiet");
  // Takes a, and of two that hold the same the first, so b.
  bind("c", "loud");
  bind("r", "quiet");
  expect(held(bindings, "abcqr")).toBe("cqr");
  // Now quiet holds most.
  bind("s", "quiet");
  expect(held(bindings, "abcqrs")).toBe("crs");
});
