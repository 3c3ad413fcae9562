/** Callers' options by shapes: what is read of them, and what is a TypeError. */
import { describe, expect, it } from "vitest";
import { type OptionShapes, callable, typedOptions } from "../../src/decode/options.js";
import { count, list, nonEmptyText } from "../../src/decode/shapes.js";

interface Options {
  readonly name?: string | undefined;
  readonly names?: readonly string[];
  readonly limit?: number;
  readonly now?: () => Date;
}

const SHAPES: OptionShapes<Options> = { name: nonEmptyText, names: list(nonEmptyText), limit: count, now: callable };
const read = (value: unknown): Options => typedOptions("options", value as Options, SHAPES);

describe("options", () => {
  it("are those of their shapes, without a prototype", () => {
    const now = (): Date => new Date(0);
    const own = read({ name: "a", names: ["b"], limit: 0, now });
    expect({ ...own }).toEqual({ name: "a", names: ["b"], limit: 0, now });
    expect(own.now).toBe(now);
    expect(Object.getPrototypeOf(own)).toBeNull();
  });

  it("that are undefined count as absent", () => {
    expect({ ...read({ name: undefined }) }).toEqual({ name: undefined });
    expect({ ...read({}) }).toEqual({});
  });

  it("are read once", () => {
    let reads = 0;
    const getter = Object.defineProperty({}, "name", { enumerable: true, get: () => (reads++ === 0 ? "a" : 7) });
    expect(read(getter).name).toBe("a");
    expect(reads).toBe(1);
  });

  it("are copies: a list that changes later has no effect", () => {
    const names = ["a"];
    const own = read({ names });
    names[0] = "b";
    expect(own.names).toEqual(["a"]);
  });

  it.each<[unknown, string]>([
    [null, "options: expected an object, with name, names, limit, now"],
    [{ nmae: "a" }, "options.nmae: unknown; known are name, names, limit, now"],
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
