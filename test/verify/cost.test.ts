/**
 * Evidence of up to 1 MiB ends in a report, whoever made it, and soon: each took under a second when it was written.
 * The time is not asserted; what would take minutes runs into the limit of a test.
 */
import { describe, expect, it, vi } from "vitest";
import { concatBytes, fromBase64, toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { verifyEvidence } from "../../src/index.js";
import { RawCbor, encodeCbor } from "../../src/lab/cbor.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { approve, encodeManifest, generateMembers, generateQosKeyPair, memberSet } from "../../src/lab/qos.js";
import { type Alterations, type Given, forge, lab, optionsOf } from "../attacks/support.js";
import { head } from "../support/cbor.js";

const MIB = 1024 * 1024;
vi.setConfig({ testTimeout: 20_000 });
const whole = forge();

async function expectQuick(given: Given, how: Parameters<typeof optionsOf>[1] = {}, evidence = whole): Promise<void> {
  const options = optionsOf(evidence, how);
  const { report } = await verifyEvidence(given, options);
  expect(["verified", "rejected"]).toContain(report.verdict);
  expect(JSON.stringify(report).length, "the report is not a multiple of the evidence").toBeLessThan(32 * MIB);
}

/** The longest list of such items whose JSON stays within the bytes given. */
function fill<T extends JsonValue>(bytes: number, item: (index: number) => T): T[] {
  const items: T[] = [];
  for (let size = 0; ;) {
    const next = item(items.length);
    size += JSON.stringify(next).length + 1;
    if (size > bytes) return items;
    items.push(next);
  }
}

const u32 = (value: number): Uint8Array =>
  Uint8Array.of(value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, value >>> 24);
const vec = (bytes: Uint8Array): Uint8Array => concatBytes(u32(bytes.length), bytes);

/** Bytes with the one place of a marker replaced. */
function spliced(bytes: Uint8Array, marker: Uint8Array, other: Uint8Array): Uint8Array {
  const at = Buffer.from(bytes).indexOf(marker);
  if (at < 0) throw new RangeError("the marker is not there");
  return new Uint8Array(Buffer.concat([bytes.subarray(0, at), other, bytes.subarray(at + marker.length)]));
}

function repeated(count: number, item: (index: number) => Uint8Array): Uint8Array {
  return new Uint8Array(Buffer.concat(Array.from({ length: count }, (_, index) => item(index))));
}

describe("activities of 1 MiB", () => {
  const proof = whole.appProofs[0]!;
  const half = MIB / 2 - 5000;
  const activity = (more: JsonObject, proofs: JsonValue[]): Given => ({
    bootProofs: [whole.bootProof],
    activity: JSON.stringify({ ...whole.activity, ...more, appProofs: proofs }),
  });
  const proofs = fill(half, () => proof);

  it.each<[name: string, given: Given]>([
    [
      "a result of many values beside many app proofs",
      activity({ result: { x: { addresses: [LAB_ADDRESS.address], list: fill(half, () => 0) } } }, proofs),
    ],
    [
      "a result of many empty objects beside many app proofs",
      activity({ result: { address: LAB_ADDRESS.address, list: fill(half, () => ({})) } }, proofs),
    ],
    ["an intent of many values beside many app proofs", activity({ intent: { list: fill(half, () => 0) } }, proofs)],
    [
      "many addresses beside many app proofs",
      activity(
        { result: { addresses: [LAB_ADDRESS.address, ...fill(half, (index) => `0x${index.toString(16)}`)] } },
        proofs,
      ),
    ],
    [
      "many addresses that contradict many app proofs",
      activity({ result: { addresses: fill(half, () => "") } }, proofs),
    ],
    [
      "many other addresses that contradict many app proofs",
      activity({ result: { addresses: fill(half, (index) => `0x${index.toString(16)}`) } }, proofs),
    ],
    [
      "nothing but app proofs",
      activity(
        {},
        fill(2 * half, () => proof),
      ),
    ],
    [
      "nothing but zeros as app proofs",
      activity(
        {},
        fill(2 * half, () => 0),
      ),
    ],
    [
      "nothing but addresses",
      activity({ result: { addresses: fill(2 * half, (index) => `0x${index.toString(16)}`) } }, [proof]),
    ],
  ])("%s", async (_, given) => {
    await expectQuick(given);
  });
});

describe("manifests and envelopes of 1 MiB", () => {
  const size = (3 * MIB) / 4 - 20_000; // in base64, a third more
  const marker = toUtf8("\u0001MARKER\u0001");
  const markedArgs = forge({
    version: "v1",
    alterManifest: { manifest: (value) => ({ ...value, pivot: { ...value.pivot, args: ["\u0001MARKER\u0001"] } }) },
  });
  const member = (alias: Uint8Array, key: Uint8Array): Uint8Array => concatBytes(vec(alias), vec(key));
  const withBytes = (bytes: Partial<Record<"qosManifestB64" | "qosManifestEnvelopeB64", Uint8Array>>): Given => ({
    bootProofs: [
      {
        ...whole.bootProof,
        qosManifestVersion: null,
        ...Object.fromEntries(Object.entries(bytes).map(([name, value]) => [name, toBase64(value)])),
      },
    ],
  });
  const manifestBytes = fromBase64(markedArgs.bootProof["qosManifestB64"] as string)!;

  it.each([20_000, 50_000, 100_000, 150_000, Math.floor(size / 4)])(
    "%i arguments of no character, in borsh",
    async (count) => {
      const many = spliced(
        manifestBytes,
        concatBytes(u32(1), vec(marker)),
        concatBytes(u32(count), new Uint8Array(4 * count)),
      );
      await expectQuick(withBytes({ qosManifestB64: many }));
    },
  );

  it("so many arguments in JSON", async () => {
    const json = JSON.parse(Buffer.from(encodeManifest(whole.manifest, { encoding: "json" })).toString()) as {
      pivot: JsonObject;
    };
    json.pivot["args"] = fill(size, () => "");
    await expectQuick(withBytes({ qosManifestB64: toUtf8(JSON.stringify(json)) }));
  });

  it.each<[name: string, members: number, approvals: number, key: (index: number) => Uint8Array]>([
    ["tiny keys", 26_000, 22_000, (index) => Uint8Array.of(index & 0xff, index >> 8)],
    ["the same key each", 26_000, 22_000, () => new Uint8Array()],
    [
      "keys that differ at their end",
      2400,
      1600,
      (index) => concatBytes(new Uint8Array(128).fill(4), Uint8Array.of(index & 0xff, index >> 8)),
    ],
  ])("members and approvals with %s", async (_, members, approvals, key) => {
    const set = concatBytes(
      u32(1),
      u32(members),
      repeated(members, (index) => member(new Uint8Array(), key(index))),
    );
    const text = encodeManifest(
      { ...markedArgs.manifest, manifestSet: { threshold: 0x01010101, members: [] } },
      { encoding: "borsh" },
    );
    const manifest = spliced(text, concatBytes(u32(0x01010101), u32(0)), set);
    const list = repeated(approvals, (index) =>
      concatBytes(u32(0), member(new Uint8Array(), key(members - 1 - index))),
    );
    await expectQuick(withBytes({ qosManifestEnvelopeB64: concatBytes(manifest, u32(approvals), list, u32(0)) }));
  });

  it("members with good keys, who all approved", async () => {
    const members = generateMembers(...Array.from({ length: 1000 }, (_, index) => `m${index}`));
    const evidence = forge({
      version: "v1",
      alterManifest: {
        manifest: (value) => ({
          ...value,
          manifestSet: memberSet(1, members),
          patchSet: { threshold: 1, members: [] },
        }),
        approvals: (_, hash) => members.map((each) => approve(hash, each)),
      },
    });
    await expectQuick({ bootProofs: [evidence.bootProof] }, {}, evidence);
  });

  it.each<[name: string, json: string]>([
    [
      "members that are numbers",
      `{"version":"v2","manifestSet":{"threshold":1,"members":[${"0,".repeat(size / 2)}0]}}`,
    ],
    [
      "approvals that are numbers",
      `{"manifest":{"version":"v2"},"manifestSetApprovals":[${"0,".repeat(size / 2)}0],"shareSetApprovals":[]}`,
    ],
    ["unknown members", `{"version":"v2",${Array.from({ length: 60_000 }, (_, index) => `"${index}":0`).join()}}`],
    ["deep nesting", `{"version":"v2","pivot":${"[".repeat(size)}`],
    [
      "an env of too many names",
      `{"version":"v2","pivot":{"env":{${Array.from({ length: 60_000 }, (_, index) => `"A${index}":0`).join()}}}}`,
    ],
  ])("JSON with %s", async (_, json) => {
    await expectQuick(withBytes({ qosManifestB64: toUtf8(json) }));
    await expectQuick(withBytes({ qosManifestEnvelopeB64: toUtf8(json) }));
  });
});

describe("documents of 1 MiB", () => {
  const size = (3 * MIB) / 4 - 20_000;
  const filled = (byte: number): Uint8Array => concatBytes(head(4, size), new Uint8Array(size).fill(byte));
  /** A map whose key is a map whose key …, 14 deep around the item. */
  const keyed = (item: Uint8Array): Uint8Array => {
    let key = item;
    for (let depth = 0; depth < 14; depth++) key = encodeCbor(new Map([[new RawCbor(key), null]]));
    return key;
  };

  it.each<[name: string, document: Uint8Array]>([
    ["null after null", filled(0xf6)],
    ["empty array after empty array", filled(0x80)],
    ["empty map after empty map", filled(0xa0)],
    ["empty byte string after empty byte string", filled(0x40)],
    ["arrays within arrays", new Uint8Array(size).fill(0x81)],
    ["a count that is not true", concatBytes(head(4, 2 ** 53 - 1), new Uint8Array(size))],
    ["keys within keys", keyed(encodeCbor(new Uint8Array(size)))],
    ["keys of many items within keys", keyed(filled(0xf6))],
    ["one long text", encodeCbor("x".repeat(size))],
  ])("%s", async (_, document) => {
    await expectQuick({ bootProofs: [{ ...whole.bootProof, cloudAttestationDocB64: toBase64(document) }] });
  });
});

describe("app proofs of 1 MiB", () => {
  const proof = whole.appProofs[0]!;

  it("the same one again and again", async () => {
    await expectQuick({ bootProofs: [whole.bootProof], appProofs: fill(MIB, () => proof) });
  });

  it("of a key each", async () => {
    const keys = Array.from({ length: 1000 }, () => toHex(generateQosKeyPair().publicKey));
    await expectQuick({ bootProofs: [whole.bootProof], appProofs: keys.map((publicKey) => ({ ...proof, publicKey })) });
  });

  it.each<[name: string, payload: string]>([
    ["many members", `{${Array.from({ length: 80_000 }, (_, index) => `"${index}":0`).join()}}`],
    ["escapes", `"${"\\u0061".repeat(170_000)}"`],
    ["characters of two units", `"${"\u{1f600}".repeat(250_000)}"`],
    ["a number of a million digits", `{"timestampMs":${"9".repeat(1_000_000)}}`],
    ["a time of a million digits", `{"type":"x","timestampMs":"${"9".repeat(1_000_000)}"}`],
    ["white space", " ".repeat(1_000_000)],
    ["line feeds, and a fault at the end", `${"\n".repeat(1_000_000)}x`],
  ])("a payload of %s", async (_, proofPayload) => {
    await expectQuick({ bootProofs: [whole.bootProof], appProofs: [{ ...proof, proofPayload }] });
  });
});

describe("boot proofs of 1 MiB", () => {
  const alterations: [name: string, change: (json: JsonObject) => JsonObject][] = [
    ["a long key", (json) => ({ ...json, ephemeralPublicKeyHex: "04".repeat(500_000) })],
    ["a long label", (json) => ({ ...json, owner: "x".repeat(1_000_000) })],
    ["a long version", (json) => ({ ...json, qosManifestVersion: "v".repeat(1_000_000) })],
    [
      "base64 of a million characters that is not strict",
      (json) => ({ ...json, qosManifestB64: `${"A".repeat(999_999)}=` }),
    ],
    ["base64 of equals signs", (json) => ({ ...json, qosManifestB64: "=".repeat(1_000_000) })],
  ];
  it.each(alterations)("%s", async (_, change) => {
    const alter: Alterations = { lab, bootProof: change };
    await expectQuick({ bootProofs: [forge(alter).bootProof] });
  });
});
