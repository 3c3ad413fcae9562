/** Callers' options by shapes: what is read of them, and what is a TypeError. */
import { describe, expect, it } from "vitest";
import { callable, required, requireShape, typedOptions } from "../../src/decode/options.js";
import { type MembersOf, count, demand, list, nonEmptyText, objectOf, optional } from "../../src/decode/shapes.js";

interface Options {
  readonly name?: string;
  readonly names?: readonly string[];
  readonly limit?: number;
  readonly now?: () => Date;
  readonly nonce?: string;
}

const SHAPES: MembersOf<Options> = {
  name: optional(nonEmptyText),
  names: optional(list(nonEmptyText)),
  limit: optional(count),
  now: optional(callable),
  nonce: demand(nonEmptyText),
};
const read = (value: unknown): Options => typedOptions("options", value as Options, SHAPES);

describe("options that are missing", () => {
  const shapes: MembersOf<{ policy: never; name?: string }> = {
    policy: required("a policy"),
    name: demand(nonEmptyText),
  };
  it("are a TypeError that names only the required members", () => {
    for (const none of [undefined, {}, { policy: undefined }])
      expect(() => typedOptions("options", none as never, shapes)).toThrow(
        new TypeError("options.policy is required: a policy"),
      );
  });

  it("are a TypeError if none is required, too", () => {
    expect(() => read(undefined)).toThrow(
      new TypeError("options: expected an object, with name, names, limit, now, nonce"),
    );
  });
});

describe("options", () => {
  it("are those of their shapes, without a prototype", () => {
    const now = (): Date => new Date(0);
    const own = read({ name: "a", names: ["b"], limit: 0, now });
    expect({ ...own }).toEqual({ name: "a", names: ["b"], limit: 0, now });
    expect(own.now).toBe(now);
    expect(Object.getPrototypeOf(own)).toBeNull();
  });

  it("that are undefined are left out, so that defaults and spreads apply", () => {
    const own = read({ name: undefined, names: undefined, limit: undefined, now: undefined });
    expect(Object.keys(own)).toEqual([]);
    expect({ limit: 3, ...own }).toEqual({ limit: 3 });
    expect(Object.keys(requireShape("built", { name: undefined }, objectOf<Options>(SHAPES)))).toEqual([]);
  });

  it("that demand something and are undefined are a TypeError, in options and in other objects", () => {
    const words = "nonce: undefined: leave it out, or give a value";
    expect(() => read({ name: "a", nonce: undefined })).toThrow(new TypeError(`options.${words}`));
    expect(() => requireShape("built", { nonce: undefined }, objectOf<Options>(SHAPES))).toThrow(`built.${words}`);
    for (const good of [{}, { nonce: "n" }]) expect({ ...read(good) }).toEqual(good);
    expect(() => read({ nonce: null })).toThrow("options.nonce: expected a string, got null");
  });

  it.each<[unknown, string]>([
    [null, "options: expected an object, with name, names, limit, now, nonce"],
    [{ nmae: "a" }, "options.nmae: unknown; known are name, names, limit, now, nonce"],
    [Object.create({ name: "a" }), "options.name: inherited from a prototype; make it a member of the object itself"],
    [{ name: "" }, "options.name: empty"],
    [{ names: ["a", 1] }, "options.names[1]: expected a string, got a number"],
    [
      { limit: -1, now: 1 },
      "options.limit: expected a whole number of 0 or more, got -1; options.now: expected a function, got a number",
    ],
  ])("of another form are a TypeError: %j", (value, message) => {
    expect(() => read(value)).toThrow(new TypeError(message));
  });
});
