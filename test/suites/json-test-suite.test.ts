/**
 * JSONTestSuite: what every parser has to take (`y_`), what none may (`n_`), and what a parser decides (`i_`, and `t_`
 * of its second part): one row for each of these. So has each `y_` that is refused here.
 */
import { describe, expect, it } from "vitest";
import { fromHex, toUtf8 } from "../../src/bytes.js";
import { JsonNumber, type JsonValue, isJsonObject, parseJson } from "../../src/decode/json.js";
import { MalformedError } from "../../src/errors.js";
import { readVectorJson } from "../support/vectors.js";
import { readSuite } from "./data.js";

interface Case {
  readonly name: string;
  readonly input: string;
  /** In hex, where they are no UTF-8: the package that the text is from has U+FFFD in the place of them. */
  readonly bytes?: string;
}

interface Row {
  readonly ours: "accepted" | "refused";
  /** What the refusal says, without its place. */
  readonly says?: string;
  readonly because: string;
}

const cases = readSuite<Case[]>("json-test-suite.json.gz");
const rows = readVectorJson<Record<string, Row>>("suites/json-test-suite.decisions.json");
const bytesOf = ({ input, bytes }: Case): Uint8Array => (bytes === undefined ? toUtf8(input) : fromHex(bytes)!);

/** Another parser's value in the place of each object without prototype, and of each number as it was written. */
function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

describe("JSONTestSuite", () => {
  it.each(cases.map((one) => [one.name, one] as const))("%s", (name, one) => {
    const parse = (): JsonValue => parseJson(bytesOf(one));
    const row = rows[name];
    const ours = row?.ours ?? (name.startsWith("y_") ? "accepted" : "refused");
    if (ours === "refused") {
      expect(parse).toThrow(MalformedError);
      if (row !== undefined) expect(parse).toThrow(row.says);
      return;
    }
    expect(plain(parse())).toEqual(JSON.parse(one.input));
    expect(plain(parseJson(bytesOf(one), { numbers: "literal" }))).toEqual(JSON.parse(one.input));
  });

  it("has a row for what it leaves open, and for no other but what is refused all the same", () => {
    const open = cases.map(({ name }) => name).filter((name) => name.startsWith("i_") || name.startsWith("t_"));
    const more = Object.keys(rows).filter((name) => !open.includes(name));
    expect(Object.keys(rows).filter((name) => open.includes(name))).toEqual(open);
    for (const name of more) expect([name, rows[name]!.ours]).toEqual([expect.stringMatching(/^y_/), "refused"]);
    expect(cases).toHaveLength(340);
  });

  it("has the bytes that its text has lost", () => {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    for (const one of cases) expect(decoder.decode(bytesOf(one)), one.name).toBe(one.input);
    expect(cases.filter(({ bytes }) => bytes !== undefined)).toHaveLength(28);
  });
});
