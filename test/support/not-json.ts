/** Values inside a request that JSON.stringify drops, refuses, or writes as another value. */

class WithToJson {
  readonly address = "0xa";

  toJSON(): object {
    return {};
  }
}

export const NOT_JSON: readonly (readonly [name: string, value: unknown, words: string])[] = [
  ["a function", () => 1, "a function"],
  ["a symbol", Symbol("a"), "a symbol"],
  ["a BigInt", 1n, "a bigint"],
  ["NaN", NaN, "NaN"],
  ["an infinity", -Infinity, "-Infinity"],
  ["a Date", new Date(0), "an object with toJSON"],
  ["an instance with toJSON", new WithToJson(), "an object with toJSON"],
  ["an object with a toJSON of its own", { toJSON: () => "0xa" }, "an object with toJSON"],
  ["an array with toJSON", Object.assign(["0xa"], { toJSON: () => [] }), "an object with toJSON"],
  ["a boxed string", Object("0xa"), "an object of String"],
  ["a boxed number", Object(1), "an object of Number"],
  ["a boxed boolean", Object(false), "an object of Boolean"],
  ["a Map", new Map([["a", 1]]), "an object of Map"],
  ["bytes", Uint8Array.of(1), "an object of Uint8Array"],
];
