import { describe, expect, expectTypeOf, it } from "vitest";
import { fromHex, toHex } from "../../src/bytes.js";
import {
  APP_PROOF_SCHEME,
  type AddressDerivationPayload,
  type AppProofPayload,
  type AppProofMembers,
  type PolicyOutcomePayload,
  appProofList,
  appProofOf,
  decodeAppProof,
  decodeAppProofPayload,
  readAppProof,
  readAppProofPayloadText,
} from "../../src/decode/app-proof.js";
import { der } from "../support/der.js";
import { isRefused, refusalOf } from "../support/faults.js";
import { type Json, withMember } from "../support/manifest.js";
import { fc, runs } from "../support/property.js";
import { bootProofVectors, readVectorJson } from "../support/vectors.js";

const FILE = bootProofVectors()[0]!.appProofs[0]!;
const proof = readVectorJson<Json>(FILE);

describe("decodeAppProof", () => {
  it("reads every field, and the payload exactly as it came", () => {
    expect(decodeAppProof(proof)).toEqual({
      scheme: "SIGNATURE_SCHEME_EPHEMERAL_KEY_P256",
      publicKey: fromHex(proof.publicKey),
      proofPayload: proof.proofPayload,
      signature: fromHex(proof.signature),
    });
    const spaced = ` ${proof.proofPayload}\n`;
    expect(decodeAppProof({ ...proof, proofPayload: spaced }).proofPayload).toBe(spaced);
    expect(decodeAppProof({ ...proof, proofPayload: "not JSON" }).proofPayload).toBe("not JSON");
  });

  it("reads a signature in DER as r and s, and 64 bytes always as these", () => {
    const inDer = (...bytes: number[][]): string =>
      Buffer.from(der(0x30, ...bytes.map((each) => der(0x02, Uint8Array.from(each))))).toString("hex");
    const read = (signature: string): string => toHex(decodeAppProof({ ...proof, signature }).signature);
    expect(read(inDer([1], [0, 0x80]))).toBe(`${"00".repeat(31)}01${"00".repeat(31)}80`);
    const longest = [0, ...Array<number>(32).fill(255)];
    expect(inDer(longest, longest)).toHaveLength(144);
    expect(read(inDer(longest, longest))).toBe("ff".repeat(64));
    const ambiguous = inDer(Array<number>(29).fill(1), Array<number>(29).fill(2));
    expect(ambiguous).toHaveLength(128);
    expect(read(ambiguous)).toBe(ambiguous);
  });

  it.each<[string, Json, string]>([
    ["scheme", 1, "expected a string, got a number"],
    ["signature", "zz%".repeat(64), "not hex"],
    ["signature", ` ${"ab".repeat(64)}`, "hex with white space or a byte order mark: expected hex digits alone"],
  ])("refuses %s %j", (name, member, fault) => {
    expect(refusalOf(() => decodeAppProof(withMember(proof, name, member)))).toMatchObject({
      code: "app-proof",
      faults: `${name}: ${fault}`,
    });
  });

  it("reports every fault, and keeps the good fields", () => {
    const reading = readAppProof({ ...proof, scheme: "x", signature: "x" });
    expect(reading.faults.map(({ path }) => path)).toEqual(["scheme", "signature"]);
    expect(reading.value.publicKey).toEqual(fromHex(proof.publicKey));
  });
});

describe("appProofOf", () => {
  const members: AppProofMembers = {
    publicKey: proof.publicKey,
    payload: proof.proofPayload,
    signature: proof.signature,
  };

  it("makes the standard form, of text and of bytes", () => {
    expect(appProofOf(members)).toEqual(proof);
    const bytes = {
      publicKey: fromHex(proof.publicKey)!,
      payload: new TextEncoder().encode(proof.proofPayload),
      signature: fromHex(proof.signature)!,
      scheme: APP_PROOF_SCHEME,
    };
    expect(appProofOf(bytes)).toEqual(proof);
    expect(decodeAppProof(appProofOf({ ...members, scheme: undefined } as never))).toEqual(decodeAppProof(proof));
  });
});

describe("a payload without a time", () => {
  const own = { type: "ORDER", id: "42" };
  const decode = (value: Json, untimed?: readonly string[]): AppProofPayload =>
    decodeAppProofPayload(JSON.stringify(value), untimed);

  it("is read where its type may have none, and has null", () => {
    expect(decode(own, ["OTHER", "ORDER"])).toMatchObject({ type: "ORDER", timestampMs: null, json: own });
    const budget = { left: 100 };
    expect(readAppProofPayloadText(JSON.stringify(own), budget, ["ORDER"])).toMatchObject({
      faults: [],
      value: { timestampMs: null },
    });
  });
});

describe("appProofList", () => {
  it.each<[string, Json, Json[]]>([
    ["one", proof, [proof]],
    ["one in its wrapper", { appProof: proof }, [proof]],
    ["an array", [proof, 1], [proof, 1]],
    ["an empty array", [], []],
    ["an answer's list", { appProofs: [proof, proof] }, [proof, proof]],
    ["an empty list", { appProofs: [] }, []],
    ["what is not a proof", 1, [1]],
    ["a list that is none", { appProofs: 1 }, [{ appProofs: 1 }]],
  ])("of %s", (_, input, list) => {
    expect(appProofList(input)).toEqual(list);
  });
});

const derivation: Json = {
  type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
  timestampMs: "1758058763571",
  addressDerivationProof: { organizationId: "o", walletId: "w", derivationPath: "m/44'", address: "0xab" },
};
const outcome: Json = {
  type: "APP_PROOF_TYPE_POLICY_OUTCOME",
  timestampMs: "1",
  policyOutcomeProof: {
    organizationId: "o",
    outcome: "OUTCOME_ALLOW",
    decisionContextDigest: "c",
    organizationDataDigest: "d",
    parentOrganizationDataDigest: "p",
    userRequestApprovals: [{ userId: "u" }],
  },
};
const payload = (value: Json): ReturnType<typeof decodeAppProofPayload> => decodeAppProofPayload(JSON.stringify(value));

describe("the type of a payload", () => {
  it("narrows the members for the compiler", () => {
    const told = (decoded: AppProofPayload): string => {
      switch (decoded.type) {
        case "APP_PROOF_TYPE_ADDRESS_DERIVATION":
          return decoded.addressDerivationProof.address;
        case "APP_PROOF_TYPE_POLICY_OUTCOME":
          return decoded.policyOutcomeProof.outcome;
        default:
          expectTypeOf(decoded).toEqualTypeOf<
            Exclude<AppProofPayload, AddressDerivationPayload | PolicyOutcomePayload>
          >();
          expect([decoded.addressDerivationProof, decoded.policyOutcomeProof]).toEqual([undefined, undefined]);
          return String(decoded.json["type"]);
      }
    };
    const own = { type: "MY_TYPE", timestampMs: "1", addressDerivationProof: { address: "0xcd" } };
    expect([derivation, outcome, own].map((value) => told(payload(value)))).toEqual([
      "0xab",
      "OUTCOME_ALLOW",
      "MY_TYPE",
    ]);
    expectTypeOf<AppProofPayload["type"]>().toExtend<string>();
  });
});

describe("decodeAppProofPayload", () => {
  it("reads the genuine ones", () => {
    for (const { appProofs } of bootProofVectors()) {
      for (const file of appProofs) {
        const text = readVectorJson<Json>(file).proofPayload as string;
        const decoded = decodeAppProofPayload(text);
        expect(decoded.type).toBe("APP_PROOF_TYPE_ADDRESS_DERIVATION");
        expect(decoded.addressDerivationProof?.address).not.toBe("");
        expect(JSON.parse(JSON.stringify(decoded.json))).toEqual(JSON.parse(text));
        expect(String(decoded.timestampMs)).toBe(JSON.parse(text).timestampMs);
      }
    }
  });

  it("reads an address derivation", () => {
    expect(payload(derivation)).toMatchObject({
      type: derivation.type,
      timestampMs: 1758058763571,
      addressDerivationProof: derivation.addressDerivationProof,
    });
    // Protobuf's JSON omits an empty member, or writes it.
    for (const empty of [undefined, null, ""]) {
      const wallet = withMember(derivation, "addressDerivationProof.walletId", empty);
      const bare = withMember(wallet, "addressDerivationProof.derivationPath", empty);
      expect(payload(bare).addressDerivationProof).toEqual({ organizationId: "o", address: "0xab" });
    }
    expect(payload(derivation).policyOutcomeProof).toBeUndefined();
  });

  it.each<[Json, string, Json, string]>([
    [derivation, "addressDerivationProof.address", "", "empty"],
    [derivation, "addressDerivationProof.organizationId", "", "empty"],
    [outcome, "policyOutcomeProof.organizationId", "", "empty"],
    [derivation, "timestampMs", "+1", "expected a decimal number"],
    [derivation, "timestampMs", "01", "expected a decimal number"],
    [derivation, "timestampMs", "1\n", "expected a decimal number"],
    [derivation, "timestampMs", "١", "expected a decimal number"],
    [derivation, "timestampMs", "8640000000000001", "out of range"],
    [derivation, "addressDerivationProof", [], "expected an object, got an array"],
    [derivation, "addressDerivationProof.derivationPath", [], "expected a string, got an array"],
    [outcome, "policyOutcomeProof.organizationId", undefined, "expected a string, got nothing"],
    [outcome, "policyOutcomeProof.organizationDataDigest", 1, "expected a string, got a number"],
    [outcome, "policyOutcomeProof.parentOrganizationDataDigest", [], "expected a string, got an array"],
  ])("refuses in $type: %s %j", (good, path, member, fault) => {
    expect(isRefused(() => payload(good))).toBe(false);
    expect(refusalOf(() => payload(withMember(good, path, member)))).toMatchObject({
      code: "app-proof-payload",
      faults: `${path}: ${fault}`,
    });
  });

  it("takes the last instant that a date can be", () => {
    expect(payload({ ...derivation, timestampMs: "8640000000000000" }).timestampMs).toBe(8640000000000000);
  });

  it("returns a reading of invalid text, with the fault of its JSON", () => {
    expect(readAppProofPayloadText(JSON.stringify(derivation))).toMatchObject({
      faults: [],
      value: { type: derivation.type, timestampMs: 1758058763571 },
    });
    for (const text of [
      "",
      "x",
      `${JSON.stringify(derivation)}x`,
      JSON.stringify(derivation).replace("{", '{"type":"x",'),
    ]) {
      const { value, faults } = readAppProofPayloadText(text);
      expect(value).toEqual({});
      expect(faults).toHaveLength(1);
    }
    expect(readAppProofPayloadText("[]").faults).toEqual([{ path: "", message: "expected an object, got an array" }]);
    const bad = readAppProofPayloadText('{"type":"","timestampMs":"7","n":1e999}');
    expect(bad.faults.map(({ path }) => path)).toEqual(["type", "n"]);
    expect(bad.value.timestampMs).toBe(7);
  });
});

describe("a payload's numbers", () => {
  const withNumber = (literal: string): string => `{"type":"T","timestampMs":"1","amount":[{"n":${literal}}]}`;

  it("that are refused stay as text beside the fault", () => {
    const text =
      '{"type":"APP_PROOF_TYPE_POLICY_OUTCOME","timestampMs":"1",' +
      '"policyOutcomeProof":{"organizationId":"o","outcome":"OUTCOME_ALLOW","userRequestApprovals":[1e999,2]}}';
    const { value, faults } = readAppProofPayloadText(text);
    expect(faults.map(({ path }) => path)).toEqual(["policyOutcomeProof.userRequestApprovals[0]"]);
    expect(value.policyOutcomeProof?.userRequestApprovals).toEqual(["1e999", 2]);
  });

  it("of every double are returned as JavaScript prints them", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        expect(decodeAppProofPayload(withNumber(JSON.stringify(number))).json).toMatchObject({
          amount: [{ n: number === 0 ? 0 : number }],
        });
      }),
    );
  });

  it("of any length are refused exactly where their decimal value is another", () => {
    const digits = fc.stringMatching(/^[1-9][0-9]{0,24}$/);
    fc.assert(
      fc.property(digits, fc.integer({ min: -30, max: 30 }), (mantissa, power) => {
        const literal = `${mantissa}e${power}`;
        // Both as fractions over one power of ten, in integers of any length.
        const shown = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(Number(literal)))!;
        const scaled = (whole: string, exponent: number): bigint => BigInt(whole) * 10n ** BigInt(exponent + 100);
        const fraction = shown[2] ?? "";
        const same = scaled(mantissa, power) === scaled(shown[1]! + fraction, Number(shown[3] ?? 0) - fraction.length);
        expect(isRefused(() => decodeAppProofPayload(withNumber(literal)))).toBe(!same);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe("the values of payloads", () => {
  const payload = (values: number): string =>
    `{"type":"T","timestampMs":"1","x":[${Array(values - 4)
      .fill("0")
      .join()}]}`;

  it("are ten thousand at most", () => {
    expect(decodeAppProofPayload(payload(10_000)).type).toBe("T");
    expect(() => decodeAppProofPayload(payload(10_001))).toThrow("more than 10000 values");
    expect(readAppProofPayloadText(payload(10_001)).faults).toMatchObject([
      { message: expect.stringContaining("more than 10000 values") as unknown },
    ]);
  });

  it("are counted together where payloads are kept together", () => {
    const budget = { left: 15 };
    expect(readAppProofPayloadText(payload(10), budget).faults).toEqual([]);
    expect(readAppProofPayloadText(payload(10), budget).faults).toMatchObject([
      { message: expect.stringContaining("together") as unknown },
    ]);
  });
});
