import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../src/bytes.js";
import { decodeAttestationDocument, readAttestationDocument } from "../../src/decode/attestation-document.js";
import { decodeCoseSign1 } from "../../src/decode/cose-sign1.js";
import { faultText } from "../../src/errors.js";
import { type CborInput, Entries, Raw, encodeCbor, hex, join } from "../support/cbor.js";
import { genuineFields, payloadWith } from "../support/document.js";
import { isRefused, refusalOf } from "../support/faults.js";
import { anyBytes, fc, mutated } from "../support/property.js";
import { documentVectors, genuineDocuments, readVector, readVectorJson } from "../support/vectors.js";

const bytes = (length: number, fill = 0xab): Uint8Array => new Uint8Array(length).fill(fill);
const pcrs = (...indexes: number[]): Map<CborInput, CborInput> =>
  new Map(indexes.map((index) => [index, bytes(48, index)]));
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
/** Path and message of every fault, as text. */
const faults = (payload: Uint8Array): string => faultText(readAttestationDocument(payload).faults);
const genuineLeaf = genuineFields().get("certificate") as Uint8Array;
const genuineBundle = genuineFields().get("cabundle") as Uint8Array[];

describe("the fields of an attestation document", () => {
  it("are valid in the payload that these tests change", () => {
    expect(faults(payloadWith({}))).toBe("");
    expect(payloadWith({})).toEqual(decodeCoseSign1(genuineDocuments()[0]!.bytes).payload);
  });

  it.each<[string, Record<string, CborInput | undefined>]>([
    ["a timestamp of 1", { timestamp: 1 }],
    ["a timestamp above 32 bits", { timestamp: 1_746_487_652_119 }],
    ["the last instant that a date can be", { timestamp: 8_640_000_000_000_000n }],
    ["one PCR", { pcrs: pcrs(0) }],
    ["one PCR, of the last index", { pcrs: pcrs(31) }],
    ["32 PCRs", { pcrs: pcrs(...upTo(32)) }],
    ["a public key of no bytes", { public_key: bytes(0) }],
    ["a public key of 1024 bytes", { public_key: bytes(1024) }],
    ["user data of no bytes", { user_data: bytes(0) }],
    ["user data of 1024 bytes", { user_data: bytes(1024) }],
    ["a nonce of no bytes", { nonce: bytes(0) }],
    ["a nonce of 1024 bytes", { nonce: bytes(1024) }],
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
    ["no module_id", { module_id: undefined }, "module_id: "],
    ["an empty module_id", { module_id: "" }, "module_id: "],
    ["a null module_id", { module_id: null }, "module_id: "],
    ["a module_id in bytes", { module_id: bytes(8) }, "module_id: "],
    ["no digest", { digest: undefined }, "digest: not SHA384"],
    ["digest SHA256", { digest: "SHA256" }, "digest: not SHA384"],
    ["digest SHA512", { digest: "SHA512" }, "digest: not SHA384"],
    ["digest in lower case", { digest: "sha384" }, "digest: not SHA384"],
    ["digest with a space", { digest: "SHA384 " }, "digest: not SHA384"],
    ["digest in bytes", { digest: new TextEncoder().encode("SHA384") }, "digest: not SHA384"],
    ["no timestamp", { timestamp: undefined }, "timestamp: "],
    ["a timestamp of 0", { timestamp: 0 }, "timestamp: "],
    ["a negative timestamp", { timestamp: -1 }, "timestamp: "],
    ["a null timestamp", { timestamp: null }, "timestamp: "],
    ["a timestamp in text", { timestamp: "1746487652119" }, "timestamp: "],
    ["a timestamp after the last instant of dates", { timestamp: 8_640_000_000_000_001n }, "timestamp: "],
    ["a timestamp of 2^53", { timestamp: 9_007_199_254_740_992n }, "timestamp: "],
    ["a timestamp of 2^64 - 1", { timestamp: 18_446_744_073_709_551_615n }, "timestamp: "],
    ["a timestamp in bytes", { timestamp: bytes(8) }, "timestamp: "],
    ["no pcrs", { pcrs: undefined }, "pcrs: expected a map"],
    ["null pcrs", { pcrs: null }, "pcrs: expected a map"],
    ["pcrs as an array", { pcrs: [bytes(48)] }, "pcrs: expected a map"],
    ["no PCR", { pcrs: new Map() }, "pcrs: 0 entries"],
    ["33 entries", { pcrs: pcrs(...upTo(33)) }, "pcrs: 33 entries"],
    ["a PCR 32", { pcrs: pcrs(0, 32) }, "pcrs: an index"],
    ["a PCR -1", { pcrs: pcrs(-1) }, "pcrs: an index"],
    ["a PCR 2^53", { pcrs: new Map([[2n ** 53n, bytes(48)]]) }, "pcrs: an index"],
    ["a PCR named in text", { pcrs: new Map([["0", bytes(48)]]) }, "pcrs: an index"],
    ["a PCR named null", { pcrs: new Map([[null, bytes(48)]]) }, "pcrs: an index"],
    ["a PCR of 32 bytes", { pcrs: new Map([[0, bytes(32)]]) }, "pcrs.0: 32 bytes, expected 48"],
    [
      "a PCR of 64 bytes",
      {
        pcrs: new Map([
          [0, bytes(48)],
          [5, bytes(64)],
        ]),
      },
      "pcrs.5: 64 bytes, expected 48",
    ],
    ["a PCR of 47 bytes", { pcrs: new Map([[0, bytes(47)]]) }, "pcrs.0: 47 bytes, expected 48"],
    ["a PCR of 49 bytes", { pcrs: new Map([[0, bytes(49)]]) }, "pcrs.0: 49 bytes, expected 48"],
    ["a PCR of no bytes", { pcrs: new Map([[0, bytes(0)]]) }, "pcrs.0: 0 bytes, expected 48"],
    ["a null PCR", { pcrs: new Map([[0, null]]) }, "pcrs.0: expected a byte string"],
    ["a PCR in text", { pcrs: new Map([[0, "a".repeat(48)]]) }, "pcrs.0: expected a byte string"],
    ["no certificate", { certificate: undefined }, "certificate: expected a byte string"],
    ["a null certificate", { certificate: null }, "certificate: expected a byte string"],
    ["a certificate in text", { certificate: "a" }, "certificate: expected a byte string"],
    ["a certificate of no bytes", { certificate: bytes(0) }, "certificate: 0 bytes, expected 1 to 1024"],
    ["a certificate of 1025 bytes", { certificate: bytes(1025) }, "certificate: 1025 bytes, expected 1 to 1024"],
    ["a certificate that is none", { certificate: bytes(1024) }, "certificate: Certificate: tag"],
    [
      "a byte after the certificate",
      { certificate: join(genuineLeaf, hex("00")) },
      "certificate: 1 bytes after the certificate",
    ],
    ["no cabundle", { cabundle: undefined }, "cabundle: expected a non-empty array"],
    ["a null cabundle", { cabundle: null }, "cabundle: expected a non-empty array"],
    ["an empty cabundle", { cabundle: [] }, "cabundle: expected a non-empty array"],
    [
      "a cabundle of seventeen",
      { cabundle: Array<Uint8Array>(17).fill(genuineLeaf) },
      "cabundle: 17 entries, expected at most 16",
    ],
    ["a cabundle of bytes", { cabundle: genuineLeaf }, "cabundle: expected a non-empty array"],
    ["a null entry in the cabundle", { cabundle: [...genuineBundle, null] }, "cabundle[4]: expected a byte string"],
    ["an entry of no bytes", { cabundle: [genuineBundle[0]!, bytes(0)] }, "cabundle[1]: 0 bytes, expected 1 to 1024"],
    ["an entry of 1025 bytes", { cabundle: [bytes(1025)] }, "cabundle[0]: 1025 bytes, expected 1 to 1024"],
    ["an entry that is not a certificate", { cabundle: [bytes(9)] }, "cabundle[0]: Certificate: tag"],
    ["a public key of 1025 bytes", { public_key: bytes(1025) }, "public_key: 1025 bytes, expected at most 1024"],
    ["user data of 1025 bytes", { user_data: bytes(1025) }, "user_data: 1025 bytes, expected at most 1024"],
    ["a nonce of 1025 bytes", { nonce: bytes(1025) }, "nonce: 1025 bytes, expected at most 1024"],
    ["a public key in text", { public_key: "04" }, "public_key: expected a byte string or null"],
    ["user data in text", { user_data: "" }, "user_data: expected a byte string or null"],
    ["a nonce that is a number", { nonce: 0 }, "nonce: expected a byte string or null"],
    ["a nonce that is false", { nonce: false }, "nonce: expected a byte string or null"],
    ["__proto__", { ["__proto__"]: null }, "__proto__: a key that is never allowed"],
    ["constructor", { constructor: null }, "constructor: a key that is never allowed"],
    ["prototype", { prototype: new Map() }, "prototype: a key that is never allowed"],
    [
      "PCRs of a whole instance beside its own",
      { nitrotpm_pcrs: pcrs(0) },
      "nitrotpm_pcrs: this is a NitroTPM document",
    ],
    [
      "PCRs of a whole instance",
      { pcrs: undefined, nitrotpm_pcrs: pcrs(0) },
      "nitrotpm_pcrs: this is a NitroTPM document",
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

  it("have names that are text", () => {
    for (const key of [1, null, true, bytes(3), [1], new Map()] as CborInput[]) {
      const payload = encodeCbor(new Entries([...genuineFields(), [key, null]]));
      expect(faults(payload)).toContain("a key that is not text");
    }
  });

  it("of an unknown name are reported, but not refused", () => {
    const reading = readAttestationDocument(payloadWith({ extra: 1, toString: null, Nonce: bytes(4) }));
    expect(reading.faults).toEqual([]);
    expect(reading.unknownKeys).toEqual(["extra", "toString", "Nonce"]);
    expect(reading.value.nonce).toBeNull();
    expect(readAttestationDocument(payloadWith({})).unknownKeys).toEqual([]);
  });
});

describe("the payload", () => {
  const entries = [...genuineFields()];
  const indefinite = (list: typeof entries): Uint8Array =>
    join(hex("bf"), encodeCbor(new Entries(list)).subarray(1), hex("ff"));

  it("may be a map of indefinite length", () => {
    expect(readAttestationDocument(indefinite(entries))).toEqual(readAttestationDocument(payloadWith({})));
  });

  it.each<[string, Uint8Array]>([
    ["nothing", new Uint8Array()],
    ["an array", encodeCbor([...genuineFields().values()])],
    ["null", hex("f6")],
    ["a tagged map", join(hex("d2"), payloadWith({}))],
    ["a map and a byte", join(payloadWith({}), hex("00"))],
    ["a map whose count is longer than needed", join(hex("b809"), payloadWith({}).subarray(1))],
    ["a map without its break", indefinite(entries).subarray(0, -1)],
    ["a field twice", encodeCbor(new Entries([...entries, ["nonce", null]]))],
    ["a field twice, in a map of indefinite length", indefinite([...entries, ["nonce", null]])],
    ["a field twice, its name's head longer", encodeCbor(new Entries([...entries, [new Raw("78056e6f6e6365"), null]]))],
    [
      "a PCR twice",
      payloadWith({
        pcrs: new Entries([
          [0, bytes(48)],
          [0, bytes(48)],
        ]),
      }),
    ],
    [
      "a PCR twice, its index in a longer head",
      payloadWith({
        pcrs: new Entries([
          [0, bytes(48)],
          [new Raw("1800"), bytes(48)],
        ]),
      }),
    ],
    [
      "a PCR map of indefinite length",
      payloadWith({ pcrs: new Raw(join(hex("bf00"), encodeCbor(bytes(48)), hex("ff"))) }),
    ],
    [
      "a cabundle of indefinite length",
      payloadWith({ cabundle: new Raw(join(hex("9f"), encodeCbor(genuineLeaf), hex("ff"))) }),
    ],
    ["user data in chunks", payloadWith({ user_data: new Raw("5f4101ff") })],
    ["a timestamp as a float", payloadWith({ timestamp: new Raw("fb4279699b1e4b7000") })],
    ["a timestamp under a tag", payloadWith({ timestamp: new Raw("c11a00010000") })],
    ["undefined as the nonce", payloadWith({ nonce: new Raw("f7") })],
    ["a module_id that is not UTF-8", payloadWith({ module_id: new Raw("6180") })],
  ])("may not be, or hold, %s", (_, payload) => {
    const reading = readAttestationDocument(payload);
    expect(reading.faults).toHaveLength(1);
    expect(reading.value).toEqual({});
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

  it("refuses arbitrary and mutated bytes only with its own error", () => {
    const documents = genuineDocuments().map((document) => document.bytes);
    fc.assert(
      fc.property(fc.oneof(anyBytes(), fc.constantFrom(...documents).chain(mutated)), (document) => {
        isRefused(() => decodeAttestationDocument(document));
      }),
    );
    const payloads = documents.map((document) => decodeCoseSign1(document).payload);
    fc.assert(
      fc.property(fc.oneof(anyBytes(), fc.constantFrom(...payloads).chain(mutated)), (payload) => {
        const reading = readAttestationDocument(payload);
        if (reading.faults.length === 0) expect(Object.values(reading.value)).not.toContain(undefined);
      }),
    );
  });
});
