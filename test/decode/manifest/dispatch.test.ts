/** The version of a manifest (decode/README.md, "Which version"), and the rules of every version. */
import { describe, expect, it } from "vitest";
import { toUtf8 } from "../../../src/bytes.js";
import {
  MANIFEST_VERSIONS,
  type Manifest,
  type ManifestEnvelope,
  approvalNames,
  declaredManifestVersions,
  decodeManifest,
  decodeManifestEnvelope,
  manifestDraft,
  manifestEncodings,
  manifestHashInput,
} from "../../../src/decode/manifest/index.js";
import { encodeBorshEnvelope, encodeBorshManifest } from "../../../src/lab/borsh.js";
import { hex, join } from "../../support/cbor.js";
import { faultsOf, refusalOf } from "../../support/faults.js";
import {
  type Json,
  approvals,
  asJson,
  envelopeJson,
  jsonBytes,
  manifestJson,
  manifestV0,
  manifestV0Tail,
  manifestV1,
  manifestV2,
  manifestV3,
  withMember,
} from "../../support/manifest.js";
import { fc } from "../../support/property.js";
import { readVector } from "../../support/vectors.js";
import { leastCostMs } from "../../support/cost.js";

const VERSIONS = MANIFEST_VERSIONS;
const PIVOT_VERSIONS = ["v0", "v0-tail", "v1", "v2"] as const;
const decodeJson = (value: Json): Manifest => decodeManifest(jsonBytes(value));
const decodeEnvelopeJson = (value: Json): ManifestEnvelope => decodeManifestEnvelope(jsonBytes(value));
const borshV0 = readVector("manifests/golden/manifest_v0.v0layout.borsh");
const borshV1 = readVector("manifests/golden/manifest_v1.borsh");

describe("JSON with a version member", () => {
  it("is v2 or v3, whichever it names", () => {
    expect(decodeJson(manifestJson("v2")).version).toBe("v2");
    expect(decodeEnvelopeJson(envelopeJson("v2")).manifest.version).toBe("v2");
    expect(decodeJson(manifestJson("v3")).version).toBe("v3");
    expect(decodeEnvelopeJson(envelopeJson("v3")).manifest.version).toBe("v3");
  });

  const spellings: Json[] = ["v1", "v0", "2", " v2", null, 2, {}, ["v2"]];
  it.each(spellings.map((version) => [JSON.stringify(version), version]))(
    "%s is nothing else, never an older schema",
    (_, version) => {
      for (const shape of PIVOT_VERSIONS) {
        const manifest = withMember(manifestJson(shape), "version", version);
        expect(faultsOf(() => decodeJson(manifest))).toBe('version: expected "v2" or "v3"');
        const envelope = withMember(envelopeJson(shape), "manifest", manifest);
        expect(faultsOf(() => decodeEnvelopeJson(envelope))).toBe('manifest.version: expected "v2" or "v3"');
      }
    },
  );

  it("beside the manifest in an envelope counts for nothing in the older ones, and is unknown in v2", () => {
    expect(decodeEnvelopeJson({ ...envelopeJson("v1"), version: "v2" }).manifest.version).toBe("v1");
    expect(decodeEnvelopeJson({ ...envelopeJson("v0"), version: "v2" }).manifest.version).toBe("v0");
    expect(faultsOf(() => decodeEnvelopeJson({ ...envelopeJson("v2"), version: "v2" }))).toContain(
      "version: unknown member",
    );
  });
});

describe("JSON without a version member", () => {
  it("is v1 if it has v1's shape, else v0", () => {
    expect(decodeJson(manifestJson("v1")).version).toBe("v1");
    expect(decodeJson(manifestJson("v0")).version).toBe("v0");
    for (const half of ["bridgeConfig", "debugMode"]) {
      expect(decodeJson(withMember(manifestJson("v1"), `pivot.${half}`, undefined)).version).toBe("v0");
    }
  });

  it("keeps an older schema's unknown members out of the value", () => {
    const manifest = { ...manifestJson("v1"), dns: { resolvers: ["1.1.1.1"] }, more: 1 };
    expect(decodeJson(manifest)).toEqual(decodeJson(manifestJson("v1")));
  });

  it("may have white space before it and after it", () => {
    const bytes = toUtf8(`\r\n\t ${JSON.stringify(manifestJson("v0"), null, 2)}\n`);
    expect(decodeManifest(bytes)).toEqual(decodeJson(manifestJson("v0")));
  });
});

describe("bytes that are not JSON", () => {
  it("are borsh, v0, v0-tail or v1, whichever consumes all of them", () => {
    expect(decodeManifest(borshV0).version).toBe("v0");
    expect(decodeManifest(join(borshV0, hex("0000"))).version).toBe("v0-tail");
    expect(decodeManifest(borshV1).version).toBe("v1");
    expect(decodeManifestEnvelope(readVector("manifests/golden/manifest_envelope_v1.borsh")).manifest.version).toBe(
      "v1",
    );
  });

  it("may begin as JSON does: a name of 123 bytes", () => {
    const manifest: Manifest = {
      ...decodeManifest(borshV0),
      namespace: { name: "n".repeat(0x7b), nonce: 1, quorumKey: hex("04") },
    };
    const bytes = manifestHashInput(manifest);
    expect(bytes[0]).toBe(0x7b);
    expect(decodeManifest(bytes)).toEqual(manifest);
    const short: Manifest = { ...manifest, namespace: { ...manifest.namespace, name: "\n".repeat(0x20) } };
    expect(decodeManifest(manifestHashInput(short))).toEqual(short);
  });
});

const AMBIGUOUS: string = expect.stringMatching(
  /^ambiguous: the bytes are both a v(?:0|0-tail|1) and a v(?:0|0-tail|1) encoding$/,
);
const u32 = (value: number): Uint8Array =>
  Uint8Array.of(value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, value >>> 24);
const zeros = (length: number): Uint8Array => new Uint8Array(length);

/**
 * Bytes that are a v0 manifest and a v1 manifest at once. v1 reads the first byte of v0's manifest set (a threshold of
 * 1) as debugMode, and is five bytes ahead from there; the last field of v1's reading takes in what v0's has left.
 */
function bytesOfTwins(tail = zeros(0)): Uint8Array {
  const start = join(u32(1), hex("61"), u32(31), u32(0), zeros(32), hex("00"));
  const noArgs = u32(0);
  const manifestSet = join(u32(1), u32(0));
  const shareSet = zeros(8);
  // What v1 reads inside v0's pcr0: a byte of its share set, six empty fields, a patch set of one long key.
  const pcr0Start = join(zeros(1), zeros(24), u32(0), u32(1), u32(200 - 37 + 28 + tail.length));
  const pcr0 = join(pcr0Start, zeros(200 - pcr0Start.length));
  return join(start, noArgs, manifestSet, shareSet, u32(200), pcr0, zeros(28), tail);
}

/** What the bytes say in each of the versions. */
const TWIN_V0: Manifest = {
  version: "v0",
  namespace: { name: "a", nonce: 31, quorumKey: zeros(0) },
  pivot: { hash: zeros(32), restart: "Never", args: [] },
  manifestSet: { threshold: 1, members: [] },
  shareSet: { threshold: 0, members: [] },
  enclave: {
    pcr0: bytesOfTwins().subarray(-228, -28),
    pcr1: zeros(0),
    pcr2: zeros(0),
    pcr3: zeros(0),
    awsRootCertificate: zeros(0),
    qosCommit: "",
  },
  patchSet: { threshold: 0, members: [] },
};
const TWIN_V1: Manifest = {
  ...TWIN_V0,
  version: "v1",
  pivot: { ...TWIN_V0.pivot, bridgeConfig: [], debugMode: true },
  manifestSet: { threshold: 0, members: [] },
  shareSet: { threshold: 200 * 2 ** 24, members: [] },
  enclave: {
    pcr0: zeros(0),
    pcr1: zeros(0),
    pcr2: zeros(0),
    pcr3: zeros(0),
    awsRootCertificate: zeros(0),
    qosCommit: "",
  },
  patchSet: { threshold: 0, members: [{ pubKey: zeros(191) }] },
};

describe("JSON of a manifest whose borsh bytes are one of another version too", () => {
  const twins: [string, Manifest][] = [
    ["v0", TWIN_V0],
    ["v1, in debug mode", TWIN_V1],
  ];

  it("is made: the two have the same bytes, so the same hash", () => {
    expect(manifestHashInput(TWIN_V0)).toEqual(bytesOfTwins());
    expect(manifestHashInput(TWIN_V1)).toEqual(bytesOfTwins());
  });

  const shown = (manifest: Manifest): Json => withMember(asJson(manifest), "version", undefined);

  it.each(twins)("is refused in an envelope, in JSON and in borsh, as %s", (_, manifest) => {
    const names = approvalNames(manifest.version);
    const json = { manifest: shown(manifest), [names.manifestSet]: [], [names.shareSet]: [] };
    expect(refusalOf(() => decodeEnvelopeJson(json))).toMatchObject({ code: "manifest-envelope", faults: AMBIGUOUS });
    // As borsh the approvals tell which of the two was meant: their bytes belong to one reading alone.
    const approval = { signature: zeros(64), member: { alias: "a", pubKey: zeros(1) } };
    const borsh = encodeBorshEnvelope({ manifest, manifestSetApprovals: [approval], shareSetApprovals: [] });
    expect(refusalOf(() => decodeManifestEnvelope(borsh))).toMatchObject({
      code: "manifest-envelope",
      faults: AMBIGUOUS,
    });
  });

  it("is accepted where one byte makes the bytes one version's alone", () => {
    const version1 = withMember(shown(TWIN_V1), "shareSet.threshold", 1);
    expect(decodeJson(version1).version).toBe("v1");
    const version0 = withMember(shown(TWIN_V0), "enclave.pcr0", "00");
    expect(decodeJson(version0).version).toBe("v0");
  });
});

it("JSON of more values than any manifest has is refused; as many as there may be are read, and hashed", async () => {
  const withArguments = (count: number): Uint8Array =>
    jsonBytes(withMember(manifestJson("v1"), "pivot.args", Array<string>(count).fill("")));
  expect(() => decodeManifest(withArguments(10_000))).toThrow("more than 10000 values");
  const bytes = withArguments(9900);
  const hash = (): Uint8Array => manifestHashInput(decodeManifest(bytes));
  expect(await leastCostMs(3000, hash)).toBeLessThan(3000);
  expect(decodeManifest(hash())).toEqual(decodeManifest(bytes));
});

describe("the row of a version", () => {
  it("v3 is a draft, and the others are released", () => {
    expect(VERSIONS.map((version) => [version, manifestDraft(version)])).toEqual([
      ["v0", null],
      ["v0-tail", null],
      ["v1", null],
      ["v2", null],
      ["v3", "v3 is a draft of QOS"],
    ]);
  });

  it("those before v2 have borsh, and the others are JSON alone", () => {
    const both = ["borsh", "json"];
    expect(VERSIONS.map(manifestEncodings)).toEqual([both, both, both, ["json"], ["json"]]);
    for (const version of ["v2", "v3"] as const) {
      const manifest = decodeJson(manifestJson(version));
      expect(() => encodeBorshManifest(manifest)).toThrow(TypeError);
      expect(() => encodeBorshEnvelope({ manifest, manifestSetApprovals: [], shareSetApprovals: [] })).toThrow(
        TypeError,
      );
    }
    expect(encodeBorshManifest(decodeManifest(borshV1))).toEqual(borshV1);
  });
});

describe("declaredManifestVersions", () => {
  it.each([
    ["v0", ["v0", "v0-tail"]],
    ["V0", ["v0", "v0-tail"]],
    ["0", ["v0", "v0-tail"]],
    ["v1", ["v1"]],
    ["V1", ["v1"]],
    ["1", ["v1"]],
    ["v2", ["v2"]],
    ["V2", ["v2"]],
    ["2", ["v2"]],
    ["v3", ["v3"]],
    ["V3", ["v3"]],
    ["3", ["v3"]],
  ])("of %j are %j", (text, versions) => {
    expect(declaredManifestVersions(text)).toEqual(versions);
  });

  const unknown = ["v4", "4", "", "v", "vv2", "v02", "02", " v2", "v2 ", "v2\n", "2.0", "v2.0", "-2", "+2"];
  it.each([...unknown, "version 2", "V٢", "12", "v0-tail", "v0 "])("of %j are none", (text) => {
    expect(declaredManifestVersions(text)).toEqual([]);
  });
});

/** Rules that every version's JSON keeps: the path of a member, a value for it, and the fault. */
const MEMBER_RULES: [string, Json, string][] = [
  ["namespace", null, "namespace: expected an object, got nothing"],
  ["namespace.name", undefined, "namespace.name: expected a string, got nothing"],
  ["namespace.nonce", true, "namespace.nonce: expected an integer of 0 to 4294967295, got a boolean"],
  ["namespace.quorumKey", "0", "namespace.quorumKey: not hex"],
  ["pivot.hash", undefined, "pivot.hash: expected hex, got nothing"],
  ["pivot.hash", "ab".repeat(33), "pivot.hash: 33 bytes, expected 32"],
  ["pivot.restart", undefined, 'pivot.restart: expected "Never" or "Always"'],
  ["pivot.args", undefined, "pivot.args: expected an array, got nothing"],
  ["pivot.args", "--flag", "pivot.args: expected an array, got a string"],
  ["pivot.args", [null], "pivot.args[0]: expected a string, got null"],
  ["manifestSet.threshold", undefined, "manifestSet.threshold: expected an integer of 0 to 4294967295, got nothing"],
  ["manifestSet.members", undefined, "manifestSet.members: expected an array, got nothing"],
  ["manifestSet.members", ["dev"], "manifestSet.members[0]: expected an object, got a string"],
  ["manifestSet.members.0.alias", undefined, "manifestSet.members[0].alias: expected a string, got nothing"],
  ["manifestSet.members.0.pubKey", undefined, "manifestSet.members[0].pubKey: expected hex, got nothing"],
  ["shareSet", undefined, "shareSet: expected an object, got nothing"],
  ["shareSet.members.0.pubKey", "0", "shareSet.members[0].pubKey: not hex"],
  ["enclave.pcr0", undefined, "enclave.pcr0: expected hex, got nothing"],
  ["enclave.pcr1", "zz", "enclave.pcr1: not hex"],
  ["enclave.pcr3", null, "enclave.pcr3: expected hex, got nothing"],
  ["enclave.awsRootCertificate", undefined, "enclave.awsRootCertificate: expected hex, got nothing"],
  ["enclave.qosCommit", undefined, "enclave.qosCommit: expected a string, got nothing"],
];

describe.each(VERSIONS)("the members of %s JSON", (version) => {
  const rules = MEMBER_RULES.filter(([path]) => version !== "v3" || !path.startsWith("pivot"));
  it.each(rules)("%s may not be %j", (path, member, fault) => {
    const manifest = withMember(manifestJson(version), path, member);
    const refusal = refusalOf(() => decodeJson(manifest));
    expect(refusal.code).toBe("manifest");
    expect(refusal.faults).toContain(fault);
    expect(refusal.paths).toHaveLength(1);
    const inEnvelope = refusalOf(() => decodeEnvelopeJson({ ...envelopeJson(version), manifest }));
    expect(inEnvelope.code).toBe("manifest-envelope");
    expect(inEnvelope.faults).toContain(fault);
  });

  it("may be integers as decimal strings, and hex in either case or after 0x", () => {
    let loose = manifestJson(version);
    for (const path of [
      "namespace.nonce",
      "manifestSet.threshold",
      "shareSet.threshold",
      ...(manifestEncodings(version).length === 2 ? ["patchSet.threshold"] : []),
    ]) {
      const value = path.split(".").reduce<Json>((at, name) => at[name], loose);
      loose = withMember(loose, path, String(value));
    }
    for (const [path, spell] of [
      ["namespace.quorumKey", (key: string) => `0x${key}`],
      ["enclave.pcr1", (key: string) => key.toUpperCase()],
      ["enclave.pcr0", (key: string) => `0x${key.toUpperCase()}`],
      ["manifestSet.members.0.pubKey", (key: string) => key.toUpperCase()],
    ] as const) {
      loose = withMember(loose, path, spell(path.split(".").reduce<Json>((at, name) => at[name], loose)));
    }
    expect(loose).not.toEqual(manifestJson(version));
    expect(decodeJson(loose)).toEqual(decodeJson(manifestJson(version)));
    expect(decodeJson(withMember(loose, "namespace.nonce", 4294967295)).namespace.nonce).toBe(4294967295);
    expect(decodeJson(withMember(loose, "namespace.nonce", "0")).namespace.nonce).toBe(0);
  });
});

describe.each(VERSIONS)("the approvals of a %s envelope in JSON", (version) => {
  const { manifestSet: setName, shareSet: shareName } = approvalNames(version);

  it("have their names", () => {
    const names = ["manifest_set_approvals", "share_set_approvals", "manifestSetApprovals", "shareSetApprovals"];
    expect([setName, shareName]).toEqual(version.startsWith("v0") ? names.slice(0, 2) : names.slice(2));
  });

  it.each<[string, Json, string]>([
    [setName, undefined, `${setName}: expected an array, got nothing`],
    [setName, null, `${setName}: expected an array, got nothing`],
    [setName, ["a"], `${setName}[0]: expected an object, got a string`],
    [shareName, undefined, `${shareName}: expected an array, got nothing`],
    [shareName, "none", `${shareName}: expected an array, got a string`],
    [`${setName}.0.signature`, undefined, `${setName}[0].signature: expected hex, got nothing`],
    [`${setName}.0.member.pubKey`, "0", `${setName}[0].member.pubKey: not hex`],
    ["manifest", undefined, "manifest: expected an object, got nothing"],
    ["manifest", "v2", "manifest: expected an object, got a string"],
  ])("%s may not be %j", (path, member, fault) => {
    expect(faultsOf(() => decodeEnvelopeJson(withMember(envelopeJson(version), path, member)))).toContain(fault);
  });
});

describe("properties", () => {
  const manifests = fc.oneof(manifestV0, manifestV0Tail, manifestV1, manifestV2, manifestV3);

  it("what is written as JSON decodes to the same, and hashes the same", () => {
    fc.assert(
      fc.property(manifests, approvals, approvals, (manifest, manifestSetApprovals, shareSetApprovals) => {
        const { version, ...members } = asJson(manifest);
        const json = manifestEncodings(version).length === 1 ? { version, ...members } : members;
        expect(decodeJson(json)).toEqual(manifest);
        expect(manifestHashInput(decodeJson(json))).toEqual(manifestHashInput(manifest));
        const names = approvalNames(version);
        const listed = { [names.manifestSet]: manifestSetApprovals, [names.shareSet]: shareSetApprovals };
        const envelope = { manifest: json, ...asJson(listed as never) };
        expect(decodeEnvelopeJson(envelope)).toEqual({ manifest, manifestSetApprovals, shareSetApprovals });
      }),
    );
  });

  it("manifests that differ have encodings that differ", () => {
    fc.assert(
      fc.property(fc.tuple(manifests, manifests), ([a, b]) => {
        const same = JSON.stringify([a.version, asJson(a)]) === JSON.stringify([b.version, asJson(b)]);
        if (!same) expect(manifestHashInput(a)).not.toEqual(manifestHashInput(b));
      }),
    );
  });
});
