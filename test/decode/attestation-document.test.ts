import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../src/bytes.js";
import { decodeAttestationDocument, readAttestationDocument } from "../../src/decode/attestation-document.js";
import { decodeCoseSign1 } from "../../src/decode/cose-sign1.js";
import { faultText } from "../../src/errors.js";
import { type CborInput } from "../support/cbor.js";
import { genuineFields, payloadWith } from "../support/document.js";
import { refusalOf } from "../support/faults.js";
import { documentVectors, genuineDocuments, readVector, readVectorJson } from "../support/vectors.js";

const bytes = (length: number, fill = 0xab): Uint8Array => new Uint8Array(length).fill(fill);
const pcrs = (...indexes: number[]): Map<CborInput, CborInput> =>
  new Map(indexes.map((index) => [index, bytes(48, index)]));
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
/** Path and message of every fault, as text. */
const faults = (payload: Uint8Array): string => faultText(readAttestationDocument(payload).faults);
const genuineLeaf = genuineFields().get("certificate") as Uint8Array;

describe("the fields of an attestation document", () => {
  it("are valid in the payload that these tests change", () => {
    expect(faults(payloadWith({}))).toBe("");
    expect(payloadWith({})).toEqual(decodeCoseSign1(genuineDocuments()[0]!.bytes).payload);
  });

  it.each<[string, Record<string, CborInput | undefined>]>([
    ["a timestamp of 1", { timestamp: 1 }],
    ["the last instant that a date can be", { timestamp: 8_640_000_000_000_000n }],
    ["one PCR", { pcrs: pcrs(0) }],
    ["one PCR, of the last index", { pcrs: pcrs(31) }],
    ["32 PCRs", { pcrs: pcrs(...upTo(32)) }],
    ["a public key of 1024 bytes", { public_key: bytes(1024) }],
    ["no public key, user data and nonce", { public_key: undefined, user_data: undefined, nonce: undefined }],
    ["null as public key, user data and nonce", { public_key: null, user_data: null, nonce: null }],
    ["one certificate in the bundle", { cabundle: [genuineLeaf] }],
    ["sixteen certificates in the bundle", { cabundle: Array<Uint8Array>(16).fill(genuineLeaf) }],
  ])("may be %s", (_, changes) => {
    const { value, faults: found } = readAttestationDocument(payloadWith(changes));
    expect(found).toEqual([]);
    for (const [key, field] of [
      ["public_key", value.publicKey],
      ["user_data", value.userData],
      ["nonce", value.nonce],
    ] as const) {
      if (key in changes) expect(field).toEqual(changes[key] ?? null);
    }
    if ("timestamp" in changes) expect(BigInt(value.timestamp!)).toBe(BigInt(changes["timestamp"] as number | bigint));
    if ("pcrs" in changes) expect(value.pcrs).toEqual(changes["pcrs"]);
  });

  it.each<[string, Record<string, CborInput | undefined>, string]>([
    [
      "a cabundle of seventeen",
      { cabundle: Array<Uint8Array>(17).fill(genuineLeaf) },
      "cabundle: 17 entries, expected at most 16",
    ],
  ])("may not be %s", (_, changes, fault) => {
    expect(faults(payloadWith(changes))).toContain(fault);
  });

  it("are all checked: every fault is reported, and the good fields are kept", () => {
    const reading = readAttestationDocument(payloadWith({ module_id: "", digest: "MD5", timestamp: 0, nonce: 1 }));
    expect(reading.faults.map(({ path }) => path)).toEqual(["module_id", "digest", "timestamp", "nonce"]);
    expect(reading.value.pcrs?.size).toBe(16);
    expect(reading.value.certificate).toBeDefined();
    expect(reading.value.moduleId).toBeUndefined();
  });

  it("of an unknown name are reported, but not refused", () => {
    const reading = readAttestationDocument(payloadWith({ extra: 1, toString: null, Nonce: bytes(4) }));
    expect(reading.faults).toEqual([]);
    expect(reading.unknownKeys).toEqual(["extra", "toString", "Nonce"]);
    expect(reading.value.nonce).toBeNull();
    expect(readAttestationDocument(payloadWith({})).unknownKeys).toEqual([]);
  });
});

describe("decodeAttestationDocument", () => {
  it("finds in every genuine document what an independent verifier found", () => {
    interface Expected {
      file: string;
      documentTime: string;
      pcrs: number;
      pcrKey: string;
      userData: number | "null";
      nonce: number | "null";
      publicKey: number | "null";
      cabundle: number;
      debug: boolean;
      payloadMap: string;
    }
    const rows = readVectorJson<Expected[]>("nitro/EXPECT.json").filter(({ pcrKey }) => pcrKey === "pcrs");
    expect(rows.length).toBeGreaterThan(50);
    expect(rows.map(({ file }) => `nitro/${file}`).sort()).toEqual(
      genuineDocuments()
        .map(({ file }) => file)
        .sort(),
    );
    for (const expected of rows) {
      const document = readVector(`nitro/${expected.file}`);
      const decoded = decodeAttestationDocument(document);
      const lengths = [decoded.userData, decoded.nonce, decoded.publicKey].map((field) => field?.length ?? "null");
      expect(new Date(decoded.timestamp).toISOString()).toBe(expected.documentTime);
      expect(decoded.pcrs.size).toBe(expected.pcrs);
      expect(lengths).toEqual([expected.userData, expected.nonce, expected.publicKey]);
      expect(decoded.cabundle).toHaveLength(expected.cabundle);
      expect(/^0+$/.test(toHex(decoded.pcrs.get(0)!))).toBe(expected.debug);
      expect(decodeCoseSign1(document).payload[0]! === 0xbf).toBe(expected.payloadMap !== "definite");
    }
    expect(new Set(rows.map(({ payloadMap }) => payloadMap)).size).toBe(2);
    expect(new Set(rows.map(({ pcrs: count }) => count)).size).toBeGreaterThan(1);
  });

  it("finds in QOS's mock document what QOS's own tests expect of it", () => {
    const { constants } = readVectorJson<{ constants: Record<string, string> }>("mock_constants.json");
    const document = decodeAttestationDocument(readVector("nitro/qos-genesis-attestation-doc-20220706.cbor"));
    for (const index of [0, 1, 2, 3]) expect(toHex(document.pcrs.get(index)!)).toBe(constants[`MOCK_PCR${index}`]);
    expect(document.userData).toEqual(fromHex(constants["MOCK_USER_DATA_NSM_ATTESTATION_DOCUMENT"]!));
    expect(document.timestamp).toBe(Number(constants["MOCK_ATTESTATION_DOC_TIMESTAMP"]!.replaceAll("_", "")));
  });

  it("throws every fault of an invalid document", () => {
    const tpm = documentVectors().find(({ expect: { says } }) => says === "NitroTPM")!;
    const refusal = refusalOf(() => decodeAttestationDocument(readVector(tpm.file)));
    expect(refusal.code).toBe("attestation-document");
    expect(refusal.paths).toEqual(["nitrotpm_pcrs"]);
    expect(refusal.faults).toContain("NitroTPM");
  });
});
