/** The rules of v0 and v1 alone: borsh fields, patch set, bridge configuration. */
import { describe, expect, it } from "vitest";
import { type Manifest, decodeManifest, manifestHashInput } from "../../../src/decode/manifest/index.js";
import { hex, join } from "../../support/cbor.js";
import { faultsOf } from "../../support/faults.js";
import { type Json, jsonBytes, manifestJson, withMember, withPivot } from "../../support/manifest.js";

const decodeJson = (value: Json): Manifest => decodeManifest(jsonBytes(value));
const v1With = (path: string, member: Json): Json => withMember(manifestJson("v1"), path, member);

/** A v1 manifest in borsh, field by field, each a number of hex bytes that a test can exchange. */
const FIELDS = {
  name: "02000000 6e73",
  nonce: "07000000",
  quorumKey: "01000000 04",
  hash: "ab".repeat(32),
  restart: "01",
  bridgeConfig: "03000000 00 b80b 01000000 68 01 0100 00 01 ffff 01 02000000 6869",
  debugMode: "01",
  args: "02000000 00000000 01000000 61",
  manifestSet: "01000000 01000000 01000000 6d 01000000 05",
  shareSet: "02000000 00000000",
  pcr0: "01000000 10",
  pcr1: "01000000 11",
  pcr2: "01000000 12",
  pcr3: "01000000 13",
  awsRootCertificate: "01000000 30",
  qosCommit: "01000000 63",
  patchSet: "03000000 01000000 01000000 06",
};
type Fields = Partial<Record<keyof typeof FIELDS, string>>;
const v1 = (changes: Fields = {}): Uint8Array => join(...Object.values({ ...FIELDS, ...changes }).map(hex));
const v0 = (changes: Fields = {}): Uint8Array => v1({ bridgeConfig: "", debugMode: "", ...changes });

const SHARED = {
  namespace: { name: "ns", nonce: 7, quorumKey: hex("04") },
  manifestSet: { threshold: 1, members: [{ alias: "m", pubKey: hex("05") }] },
  shareSet: { threshold: 2, members: [] },
  enclave: {
    pcr0: hex("10"),
    pcr1: hex("11"),
    pcr2: hex("12"),
    pcr3: hex("13"),
    awsRootCertificate: hex("30"),
    qosCommit: "c",
  },
  patchSet: { threshold: 3, members: [{ pubKey: hex("06") }] },
};
const PIVOT = { hash: new Uint8Array(32).fill(0xab), restart: "Always" as const, args: ["", "a"] };

describe("borsh", () => {
  it("of v1 has its fields in this order", () => {
    const manifest: Manifest = {
      version: "v1",
      ...SHARED,
      pivot: {
        ...PIVOT,
        debugMode: true,
        bridgeConfig: [
          { type: "server", port: 3000, host: "h" },
          { type: "client", port: 1, host: null },
          { type: "client", port: 65535, host: "hi" },
        ],
      },
    };
    expect(decodeManifest(v1())).toEqual(manifest);
    expect(manifestHashInput(manifest)).toEqual(v1());
  });

  it("of v0 has its fields in this order", () => {
    const manifest: Manifest = { version: "v0", ...SHARED, pivot: PIVOT };
    expect(decodeManifest(v0())).toEqual(manifest);
    expect(manifestHashInput(manifest)).toEqual(v0());
  });

  it("has 0 for Never and 1 for Always", () => {
    expect(withPivot(decodeManifest(v1({ restart: "00" }))).pivot.restart).toBe("Never");
    expect(withPivot(decodeManifest(v0({ restart: "00" }))).pivot.restart).toBe("Never");
  });

  it.each<[string, Uint8Array, string]>([
    ["a bridge of variant 2", v1({ bridgeConfig: "01000000 02 0100 00" }), "pivot.bridgeConfig[0]: variant 2"],
    ["a client host of option 2", v1({ bridgeConfig: "01000000 01 0100 02" }), "pivot.bridgeConfig[0].host: variant 2"],
    ["an argument that is not UTF-8", v1({ args: "01000000 01000000 80" }), "pivot.args[0]: not UTF-8"],
    ["more members than bytes", v0({ patchSet: "00000000 ffffff00" }), "patchSet.members: 16777215 items"],
    [
      "a hash that is cut",
      hex(`${FIELDS.name}${FIELDS.nonce}${FIELDS.quorumKey}abab`),
      "pivot.hash: the input ends inside it",
    ],
    ["nothing after the pivot", v0().subarray(0, 60), "the input ends inside it"],
  ])("refuses %s", (_, bytes, fault) => {
    expect(faultsOf(() => decodeManifest(bytes))).toContain(fault);
  });
});

describe("JSON of v1", () => {
  it("reads each kind of bridge", () => {
    const bridges = [
      { type: "server", port: 0, host: "" },
      { type: "client", port: "65535", host: "h" },
      { type: "client", port: 1, host: null },
      { port: 2, type: "client" },
    ];
    expect(withPivot(decodeJson(v1With("pivot.bridgeConfig", bridges))).pivot.bridgeConfig).toEqual([
      { type: "server", port: 0, host: "" },
      { type: "client", port: 65535, host: "h" },
      { type: "client", port: 1, host: null },
      { type: "client", port: 2, host: null },
    ]);
    expect(withPivot(decodeJson(v1With("pivot.bridgeConfig", []))).pivot.bridgeConfig).toEqual([]);
  });

  it.each<[Json, string]>([
    [{ type: "server", host: "h" }, "pivot.bridgeConfig[0].port: expected an integer of 0 to 65535, got nothing"],
    [{ type: "server", port: 1 }, "pivot.bridgeConfig[0].host: expected a string, got nothing"],
    [{ type: "server", port: 1, host: null }, "pivot.bridgeConfig[0].host: expected a string, got nothing"],
    [{ type: "server", port: 1, host: 1 }, "pivot.bridgeConfig[0].host: expected a string, got a number"],
    [{ type: "client", port: 1, host: 1 }, "pivot.bridgeConfig[0].host: expected a string, got a number"],
    ["server", "pivot.bridgeConfig[0]: expected an object, got a string"],
    [null, "pivot.bridgeConfig[0]: expected an object, got null"],
  ])("refuses the bridge %j", (bridge, fault) => {
    expect(faultsOf(() => decodeJson(v1With("pivot.bridgeConfig", [bridge])))).toContain(fault);
  });

  it.each<["v0" | "v1", string, Json, string]>(
    (["v0", "v1"] as const).flatMap((version): ["v0" | "v1", string, Json, string][] => [
      [version, "patchSet.members", undefined, "patchSet.members: expected an array, got nothing"],
      [version, "patchSet.members.0.pubKey", undefined, "patchSet.members[0].pubKey: expected hex, got nothing"],
      [version, "patchSet.members.0.pubKey", "0", "patchSet.members[0].pubKey: not hex"],
    ]),
  )("%s: %s may not be %j", (version, path, member, fault) => {
    expect(faultsOf(() => decodeJson(withMember(manifestJson(version), path, member)))).toContain(fault);
  });
});
