/** What each binding answers, and says, where a part is missing or is another one. */
import { expect, it } from "vitest";
import { type CheckId, Checklist } from "../../src/checks.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { checkDebugMode, checkKey, checkNonce, checkUserData } from "../../src/verify/manifest-binding.js";

const bytes = (value: number, length = 32): Uint8Array => new Uint8Array(length).fill(value);
const [one, key, otherKey] = [bytes(1), generateQosKeyPair().publicKey, generateQosKeyPair().publicKey];
const pcrs = (...indexes: number[]) => new Map(indexes.map((index) => [index, bytes(1, 48)]));
const asked = (document: Uint8Array, wanted: Uint8Array) => (list: Checklist) =>
  checkKey(document, undefined, [{ what: "the one asked for", key: wanted }], list);

const rows: [id: CheckId, of: string, ask: (list: Checklist) => unknown, answer: unknown, says: RegExp][] = [
  ["bind.user-data", "its hash", (list) => checkUserData(one, one, list), true, /^pass/],
  ["bind.key", "another key", asked(key, otherKey), null, /^fail public_key is not the one asked for \(/],
  [
    "bind.key",
    "no key at all",
    asked(bytes(4, 130), otherKey),
    null,
    /^fail public_key is not two points of P-256; public_key is not the one asked for \(/,
  ],
  ["bind.nonce", "the nonce asked for", (list) => checkNonce(one, one, list), true, /^pass/],
  // A bare document that leaves out one measurement could be a debug enclave's.
  [
    "mode.debug",
    "two PCRs",
    (list) => checkDebugMode({ pcrs: pcrs(0, 1) }, null, true, list),
    null,
    /^fail.*not attested: PCR2/,
  ],
  ["mode.debug", "three PCRs", (list) => checkDebugMode({ pcrs: pcrs(0, 1, 2) }, null, true, list), false, /^pass/],
];
it.each(rows)("%s of %s", (id, _, ask, answer, says) => {
  const checklist = new Checklist("boot[0]");
  expect(ask(checklist)).toBe(answer);
  const [check, ...more] = checklist.list();
  expect([check?.id, ...more]).toEqual([id]);
  const compared = check!.expected === undefined ? "" : ` (${check!.expected}; ${check!.actual})`;
  expect(`${check!.status} ${check!.detail}${compared}`).toMatch(says);
});
