/** What each binding answers, and says, where a part is missing or is another one. */
import { expect, it } from "vitest";
import { type CheckId, Checklist } from "../../src/checks.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { checkDebugMode, checkKey, checkNonce, checkPcrs, checkUserData } from "../../src/verify/manifest-binding.js";

const bytes = (value: number, length = 32): Uint8Array => new Uint8Array(length).fill(value);
const [one, two, key, otherKey] = [bytes(1), bytes(2), generateQosKeyPair().publicKey, generateQosKeyPair().publicKey];
const pcrs = (...indexes: number[]) => new Map(indexes.map((index) => [index, bytes(1, 48)]));
const asked = (document: Uint8Array, wanted: Uint8Array) => (list: Checklist) =>
  checkKey(document, undefined, [{ what: "the one asked for", key: wanted }], list);

const rows: [id: CheckId, of: string, ask: (list: Checklist) => unknown, answer: unknown, says: RegExp][] = [
  ["bind.user-data", "user_data not read", (list) => checkUserData(undefined, one, list), false, /^skip/],
  ["bind.user-data", "no manifest", (list) => checkUserData(one, undefined, list), false, /^skip/],
  ["bind.user-data", "no user_data", (list) => checkUserData(null, one, list), false, /^fail.*; absent\)/],
  ["bind.user-data", "its hash", (list) => checkUserData(one, one, list), true, /^pass/],
  ["bind.pcrs", "PCRs not read", (list) => checkPcrs(undefined, undefined, list), false, /^skip/],
  ["bind.pcrs", "no manifest", (list) => checkPcrs(new Map(), undefined, list), false, /^skip/],
  // A document's key is held against what was asked for, even where the claimed one could not be read.
  ["bind.key", "the key asked for", asked(key, key), null, /^skip/],
  ["bind.key", "another key", asked(key, otherKey), null, /^fail public_key is not the one asked for \(/],
  [
    "bind.key",
    "no key at all",
    asked(bytes(4, 130), otherKey),
    null,
    /^fail public_key is not two points of P-256; public_key is not the one asked for \(/,
  ],
  ["bind.nonce", "nonce not read, none asked for", (list) => checkNonce(undefined, null, list), false, /^skip/],
  ["bind.nonce", "nonce not read", (list) => checkNonce(undefined, one, list), false, /^skip/],
  ["bind.nonce", "the nonce asked for", (list) => checkNonce(one, one, list), true, /^pass/],
  ["bind.nonce", "another nonce", (list) => checkNonce(one, two, list), false, /^fail/],
  // A bare document that leaves out one measurement could be a debug enclave's.
  [
    "mode.debug",
    "two PCRs",
    (list) => checkDebugMode({ pcrs: pcrs(0, 1) }, null, true, list),
    null,
    /^fail.*not attested: PCR2/,
  ],
  ["mode.debug", "PCRs not read", (list) => checkDebugMode({}, null, true, list), null, /^skip/],
  [
    "mode.debug",
    "manifest not read",
    (list) => checkDebugMode({ pcrs: pcrs(0, 1) }, undefined, true, list),
    null,
    /^skip/,
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
