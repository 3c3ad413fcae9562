/** What each binding answers, and says, where a part is missing or is another one. */
import { expect, it } from "vitest";
import { type CheckId, Checklist } from "../../src/checks.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { checkDebugMode, checkKey, checkNonce, checkPcrs, checkUserData } from "../../src/verify/manifest-binding.js";

const bytes = (value: number, length = 32): Uint8Array => new Uint8Array(length).fill(value);
const key = generateQosKeyPair().publicKey;
const otherKey = generateQosKeyPair().publicKey;

function asked<T>(id: CheckId, ask: (checklist: Checklist) => T): { answer: T; status: string; detail: string } {
  const checklist = new Checklist("boot[0]");
  const answer = ask(checklist);
  const [check, ...more] = checklist.list();
  expect(check?.id).toBe(id);
  expect(more).toEqual([]);
  const compared = check!.expected === undefined ? "" : ` (${check!.expected}; ${check!.actual})`;
  return { answer, status: check!.status, detail: check!.detail + compared };
}

it("user_data that could not be read, or no manifest, binds nothing", () => {
  const ask = (userData: Uint8Array | null | undefined, hash: Uint8Array | undefined) =>
    asked("bind.user-data", (checklist) => checkUserData(userData, hash, checklist));
  expect(ask(undefined, bytes(1))).toMatchObject({ answer: false, status: "skip" });
  expect(ask(bytes(1), undefined)).toMatchObject({ answer: false, status: "skip" });
  expect(ask(null, bytes(1))).toMatchObject({ answer: false, status: "fail" });
  expect(ask(null, bytes(1)).detail).toContain("; absent)");
  expect(ask(bytes(1), bytes(1))).toMatchObject({ answer: true, status: "pass" });
});

it("PCRs that could not be read, or no manifest, bind nothing", () => {
  const ask = (pcrs: ReadonlyMap<number, Uint8Array> | undefined) =>
    asked("bind.pcrs", (checklist) => checkPcrs(pcrs, undefined, checklist));
  expect(ask(undefined)).toMatchObject({ answer: false, status: "skip" });
  expect(ask(new Map())).toMatchObject({ answer: false, status: "skip" });
});

it("a document's key is held against what was asked for, even where the claimed one could not be read", () => {
  const ask = (publicKey: Uint8Array, ...wanted: Uint8Array[]) =>
    asked("bind.key", (checklist) =>
      checkKey(
        publicKey,
        undefined,
        wanted.map((each) => ({ what: "the one asked for", key: each })),
        checklist,
      ),
    );
  expect(ask(key, key)).toMatchObject({ answer: null, status: "skip" });
  expect(ask(key, otherKey)).toMatchObject({ answer: null, status: "fail" });
  expect(ask(key, otherKey).detail).toMatch(/^public_key is not the one asked for \(/);
  const both = ask(bytes(4, 130), otherKey);
  expect(both).toMatchObject({ answer: null, status: "fail" });
  expect(both.detail).toMatch(/^public_key is not two points of P-256; public_key is not the one asked for \(/);
});

it("a nonce is the one that was asked for", () => {
  const ask = (nonce: Uint8Array | null | undefined, wanted: Uint8Array | null) =>
    asked("bind.nonce", (checklist) => checkNonce(nonce, wanted, checklist));
  expect(ask(undefined, null)).toMatchObject({ answer: false, status: "skip" });
  expect(ask(undefined, bytes(1))).toMatchObject({ answer: false, status: "skip" });
  expect(ask(bytes(1), bytes(1))).toMatchObject({ answer: true, status: "pass" });
  expect(ask(bytes(1), bytes(2))).toMatchObject({ answer: false, status: "fail" });
});

it("a bare document that leaves out one measurement could be a debug enclave's", () => {
  const pcrs = new Map([0, 1].map((index) => [index, bytes(1, 48)]));
  const ask = (document: { readonly pcrs?: ReadonlyMap<number, Uint8Array> }, manifest: null | undefined) =>
    asked("mode.debug", (checklist) => checkDebugMode(document, manifest, true, checklist));
  expect(ask({ pcrs }, null)).toMatchObject({ answer: null, status: "fail" });
  expect(ask({ pcrs }, null).detail).toContain("not attested: PCR2");
  expect(ask({}, null)).toMatchObject({ answer: null, status: "skip" });
  expect(ask({ pcrs }, undefined)).toMatchObject({ answer: null, status: "skip" });
  expect(ask({ pcrs: new Map([...pcrs, [2, bytes(1, 48)]]) }, null)).toMatchObject({ answer: false, status: "pass" });
});
