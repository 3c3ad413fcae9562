/** The examples of RFC 8949, appendix A: each is read as the RFC says, or refused for the rule that its row names. */
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../src/bytes.js";
import { type CborValue, decodeCbor } from "../../src/decode/cbor.js";
import { MalformedError } from "../../src/errors.js";
import { readVectorJson } from "../support/vectors.js";

interface Row {
  readonly hex: string;
  readonly diagnostic: string;
  /** The rule of the profile that refuses it. */
  readonly refused?: string;
  /** What the exception for the payload of a document makes of it. */
  readonly asPayload?: "accepted";
}

const rows = readVectorJson<Row[]>("suites/rfc8949-appendix-a.json");

/** Diagnostic notation (RFC 8949 section 8) of what the profile has. */
function notation(value: CborValue): string {
  if (value instanceof Uint8Array) return `h'${toHex(value)}'`;
  if (Array.isArray(value)) return `[${value.map(notation).join(", ")}]`;
  if (value instanceof Map) return `{${[...value].map((pair) => pair.map(notation).join(": ")).join(", ")}}`;
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

describe("RFC 8949, appendix A", () => {
  it.each(rows)("$hex, $diagnostic", ({ hex, diagnostic, refused, asPayload }) => {
    const bytes = fromHex(hex)!;
    const strict = (): string => notation(decodeCbor(bytes));
    const payload = (): string => notation(decodeCbor(bytes, { indefiniteOutermostMap: true }));
    if (refused === undefined) expect(strict()).toBe(diagnostic);
    else expect(strict).toThrow(new RegExp(`${refused} \\(at byte \\d+\\)`));
    if (refused === undefined) expect(payload()).toBe(diagnostic);
    else if (asPayload === "accepted") expect(payload()).toBe(diagnostic.replace("{_ ", "{"));
    else expect(payload).toThrow(MalformedError);
  });

  it("has all of them", () => {
    expect(rows).toHaveLength(82);
    expect(rows.filter(({ refused }) => refused === undefined)).toHaveLength(37);
  });
});
