/** Boot proofs that a caller's function finds by their keys. */
import { expect, it, onTestFinished, vi } from "vitest";
import type { JsonObject } from "../../src/decode/json.js";
import { type FindBootProof, type Query, evidenceByKey } from "../../src/door/evidence-source.js";

const ask = (find: FindBootProof, others?: Query) => (name: string, parameters: JsonObject) =>
  evidenceByKey(find, others)(name, parameters, {});
const KEY = { ephemeralKey: "ab" };

it("are asked for by the key, and copied", async () => {
  const own = { ephemeralPublicKeyHex: "ab", more: { createdAt: "1" } };
  const keys: string[] = [];
  const answer = await ask((key) => (keys.push(key), own))("get_boot_proof", KEY);
  own.more.createdAt = "2";
  expect([keys, JSON.parse(JSON.stringify(answer))]).toEqual([
    ["ab"],
    { bootProof: { ephemeralPublicKeyHex: "ab", more: { createdAt: "1" } } },
  ]);
});

it.each([null, undefined])("are missing where it returns %s", async (nothing) => {
  expect(await ask(() => nothing)("get_boot_proof", KEY)).toEqual({ bootProof: null });
});

it("leave other queries to the other source, and are not asked for them", async () => {
  const never = (): never => {
    throw new Error("was asked");
  };
  expect(await ask(never)("list_app_proofs", {})).toEqual({ appProofs: [] });
  expect(await ask(never)("get_activity", { activityId: "a" })).toEqual({});
  const others = async (name: string, parameters: JsonObject): Promise<JsonObject> => ({ name, parameters });
  expect(await ask(never, others)("get_activity", { activityId: "a" })).toEqual({
    name: "get_activity",
    parameters: { activityId: "a" },
  });
});

it.each([
  ["an error", new Error("boom"), "options.evidence rejected: boom"],
  ["a text", "boom", "options.evidence rejected: no error was given"],
  ["a long error", new Error("x".repeat(10_000)), `options.evidence rejected: ${"x".repeat(500)}`],
])("are an error of the network where it throws %s", async (_, thrown, message) => {
  for (const find of [() => Promise.reject(thrown as Error), () => raise(thrown)])
    await expect(ask(find)("get_boot_proof", KEY)).rejects.toMatchObject({
      code: "unreachable",
      message: `get_boot_proof: ${message}`,
    });
});

it("are an error after a minute, and the next call asks again", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const never = ask(() => new Promise(() => {}))("get_boot_proof", KEY);
  const refused = expect(never).rejects.toMatchObject({
    code: "timeout",
    message: "get_boot_proof: options.evidence did not answer within 60000 ms",
  });
  await vi.advanceTimersByTimeAsync(60_000);
  await refused;
  // Others of this process may have timers, too.
  const others = vi.getTimerCount();
  expect(await ask(async () => null)("get_boot_proof", KEY)).toEqual({ bootProof: null });
  expect(vi.getTimerCount()).toBe(others);
});

function raise(thrown: unknown): never {
  throw thrown;
}
