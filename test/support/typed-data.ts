/** Typed data of EIP-712 for tests, and its digest. */
import { toHex } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import { payloadBytes, typedDataBudget } from "../../src/verify/signed-content.js";

export interface Member {
  readonly name: string;
  readonly type: string;
}
export interface Typed {
  readonly types: Readonly<Record<string, readonly Member[]>>;
  readonly primaryType: string;
  readonly domain: JsonObject;
  readonly message: JsonObject;
}

/** `{m0: type, m1: type}` as members of a type. */
export const members = (...types: readonly string[]): Member[] =>
  types.map((type, index) => ({ name: `m${index}`, type }));
export const typed = (types: Readonly<Record<string, readonly Member[]>>, message: JsonObject): Typed => ({
  types: { EIP712Domain: [], ...types },
  primaryType: "Root",
  domain: {},
  message,
});

export function digestOf(data: object, budget = typedDataBudget()): string {
  return `0x${toHex(payloadBytes(JSON.stringify(data), "PAYLOAD_ENCODING_EIP712", budget))}`;
}
