/** What is fetched once, for calls at once and for later ones. */
import { expect, it } from "vitest";
import { FetchedOnce } from "../../src/door/fetched-once.js";

const MIB = 1024 * 1024;

type Fetch = (name: string, size?: number | null) => () => Promise<{ value: string; size: number | null }>;

function counted(): { readonly fetched: string[]; readonly fetch: Fetch } {
  const fetched: string[] = [];
  const fetch =
    (name: string, size: number | null = 1) =>
    async (): Promise<{ value: string; size: number | null }> => {
      fetched.push(name);
      await Promise.resolve();
      return { value: name.toUpperCase(), size };
    };
  return { fetched, fetch };
}

it("is fetched once for calls at once, also where it is not kept", async () => {
  const { fetched, fetch } = counted();
  const memory = new FetchedOnce<string>(9);
  const both = (): Promise<string[]> =>
    Promise.all([memory.of("a", fetch("a", null)), memory.of("a", fetch("a", null))]);
  expect([await both(), fetched]).toEqual([["A", "A"], ["a"]]);
  expect([await both(), fetched]).toEqual([
    ["A", "A"],
    ["a", "a"],
  ]);
});

it("is fetched for each setting of calls at once, and the last one is shared", async () => {
  const { fetched, fetch } = counted();
  const memory = new FetchedOnce<string>(9);
  const of = (under: object): Promise<string> => memory.of("a", fetch("a"), { under, isUsable: () => false });
  const [one, other] = [{}, {}];
  await Promise.all([of(one), of(one), of(other), of(other)]);
  expect(fetched).toHaveLength(2);
});

it("is kept unless it has no size, and used while it is usable", async () => {
  const { fetched, fetch } = counted();
  const memory = new FetchedOnce<string>(9);
  for (const name of ["a", "a", "b", "b"]) await memory.of(name, fetch(name, name === "a" ? 1 : null));
  expect([fetched, memory.names()]).toEqual([["a", "b", "b"], ["a"]]);
  await memory.of("a", fetch("a"), { under: null, isUsable: (kept) => kept !== "A" });
  expect(fetched).toHaveLength(4);
});

it("is forgotten where its fetch fails, which all that wait for it are told", async () => {
  const { fetched, fetch } = counted();
  const memory = new FetchedOnce<string>(9);
  const failing = (): Promise<never> => Promise.reject(new Error("down"));
  const both = [memory.of("a", failing), memory.of("a", failing)];
  for (const each of both) await expect(each).rejects.toThrow("down");
  expect([await memory.of("a", fetch("a")), fetched]).toEqual(["A", ["a"]]);
});

it.each([
  ["number", 2, 1],
  ["size", 99, 7 * MIB],
  ["size to the byte", 99, 8 * MIB],
])("is kept up to a limit of %s: the least recently used goes first", async (_, limit, size) => {
  const { fetched, fetch } = counted();
  const memory = new FetchedOnce<string>(limit);
  for (const name of ["a", "b", "a", "c", "a", "b", "c"]) await memory.of(name, fetch(name, size));
  expect(fetched.join("")).toBe("abcbc");
});

it("is not kept if it is larger than all together may be, and its size is counted once", async () => {
  const { fetched, fetch } = counted();
  const memory = new FetchedOnce<string>(99);
  await memory.of("a", fetch("a", 16 * MIB + 1));
  expect(memory.names()).toEqual([]);
  const old = { under: null, isUsable: () => false };
  for (const name of ["b", "b", "b", "b"]) await memory.of(name, fetch(name, 8 * MIB), old);
  await memory.of("c", fetch("c", 8 * MIB));
  expect([memory.names(), fetched.length]).toEqual([["b", "c"], 6]);
});
