/** The entries of JSON text by their places. */
import { describe, expect, it } from "vitest";
import { entriesAt } from "../../src/appraise/json-edit.js";

const entriesOf = (text: string, start = 0): (string | null)[][] =>
  entriesAt(text, start).map(({ name, start: from, value, end }) => [
    name,
    text.slice(from, end),
    text.slice(value, end),
  ]);

describe("the entries of", () => {
  it.each(["[]", "{}", "[ ]", "{\n}"])("%j are none", (text) => {
    expect(entriesAt(text, 0)).toEqual([]);
  });

  it("an array: its items, with what is inside them", () => {
    expect(entriesOf('[1, "a,]", [2, [3]], {"b": [4]}, null ] , 5')).toEqual([
      [null, "1", "1"],
      [null, '"a,]"', '"a,]"'],
      [null, "[2, [3]]", "[2, [3]]"],
      [null, '{"b": [4]}', '{"b": [4]}'],
      [null, "null", "null"],
    ]);
  });

  it("an object: its members, by their names", () => {
    expect(entriesOf('x{ "a" : 1,"\\"b:{" :{"c": [] }, "d":[{}] }', 1)).toEqual([
      ["a", '"a" : 1', "1"],
      ['"b:{', '"\\"b:{" :{"c": [] }', '{"c": [] }'],
      ["d", '"d":[{}]', "[{}]"],
    ]);
  });
});
