/** The rules of v3 alone, a draft of QOS. */
import { describe, expect, it } from "vitest";
import { fromHex, fromUtf8 } from "../../../src/bytes.js";
import {
  type ManifestEnvelope,
  type WorkloadManifest,
  decodeManifest,
  decodeManifestEnvelope,
  manifestHashInput,
} from "../../../src/decode/manifest/index.js";
import { faultsOf, refusalOf } from "../../support/faults.js";
import { type Json, envelopeJson, jsonBytes, manifestJson, withMember } from "../../support/manifest.js";

const good: Json = manifestJson("v3");
const decodeJson = (value: Json): WorkloadManifest => {
  const manifest = decodeManifest(jsonBytes(value));
  if (manifest.version !== "v3") throw new TypeError(`a manifest ${manifest.version}`);
  return manifest;
};
const decodeEnvelopeJson = (value: Json): ManifestEnvelope => decodeManifestEnvelope(jsonBytes(value));
const v3With = (path: string, member: Json): Json => withMember(good, path, member);
const canonical = (value: Json): Json => JSON.parse(fromUtf8(manifestHashInput(decodeJson(value)))!);
const workload = (name: string, more: object = {}): Json => ({
  name,
  type: "oci",
  image: { type: "ociManifest", digest: `sha256:${"ab".repeat(32)}` },
  restart: "never",
  ...more,
});
const file = (mountPath: string): Json => ({ type: "file", source: "/qos.manifest", mountPath, readOnly: true });
const MOUNT = "workloads.0.mounts.0";

it("is read, whole", () => {
  const { workloads, volumes, dns, enclave } = decodeJson(good);
  expect(workloads).toEqual([
    {
      name: "signer",
      imageDigest: fromHex(good.workloads[0].image.digest.slice(7)),
      restart: "always",
      mounts: [
        { type: "volume", source: "scratch", mountPath: "/var/lib/signer", readOnly: false },
        { type: "volume", source: "shared", mountPath: "/srv/shared", readOnly: true },
        { type: "file", source: "/qos.quorum.key", mountPath: "/run/keys/quorum", readOnly: true },
      ],
    },
    { name: "log-0", imageDigest: fromHex(good.workloads[1].image.digest.slice(7)), restart: "never", mounts: [] },
  ]);
  expect(volumes).toEqual(
    new Map([
      ["shared", { type: "tmpfs", mountPath: "/volumes/shared" }],
      ["scratch", { type: "tmpfs", mountPath: "/volumes/scratch" }],
    ]),
  );
  expect(dns).toEqual({ resolvers: ["1.1.1.1", "2606:4700:4700::1111"] });
  expect(enclave).toEqual({ ...decodeManifest(jsonBytes(manifestJson("v2"))).enclave });
});

describe("unknown members", () => {
  it.each([
    "extra",
    "pivot",
    "patchSet",
    "args",
    "debugMode",
    "namespace.extra",
    "enclave.extra",
    "enclave.pcr4",
    "manifestSet.extra",
    "shareSet.members.0.extra",
    "workloads.0.extra",
    "workloads.0.args",
    "workloads.0.env",
    "workloads.0.image.extra",
    `${MOUNT}.extra`,
    "volumes.scratch.extra",
    "volumes.scratch.size",
    "dns.extra",
  ])("%s is refused", (path) => {
    const fault = `${path.replaceAll(/\.(\d+)/g, "[$1]")}: unknown member`;
    expect(faultsOf(() => decodeJson(v3With(path, 1)))).toBe(fault);
    expect(faultsOf(() => decodeJson(v3With(path, null)))).toBe(fault);
    expect(faultsOf(() => decodeEnvelopeJson({ ...envelopeJson("v3"), manifest: v3With(path, 1) }))).toBe(
      `manifest.${fault}`,
    );
  });
});

const LABEL = "expected a lower-case DNS label";
const PATH = "expected an absolute, normalized path below the root";
const DIGEST = "expected sha256: and 64 lower-case hex digits";
const RULES: [path: string, member: Json, fault: string][] = [
  ["enclave.type", "tdx", 'enclave.type: "tdx" is not known, expected "nitro"'],
  ["enclave.type", "Nitro", 'enclave.type: "Nitro" is not known, expected "nitro"'],
  ["workloads", undefined, "workloads: expected an array, got nothing"],
  ["workloads", [], "workloads: empty"],
  [
    "workloads",
    Array.from({ length: 17 }, (_, index) => workload(`w${index}`)),
    "workloads: 17 entries, expected at most 16",
  ],
  ["workloads", [workload("a"), workload("b"), workload("a")], 'workloads: the name "a" appears twice'],
  ["workloads", ["signer"], "workloads[0]: expected an object, got a string"],
  ["workloads.0.type", "wasm", 'workloads[0].type: "wasm" is not known, expected "oci"'],
  ["workloads.0.type", undefined, 'workloads[0].type: expected "oci"'],
  ["workloads.0.image", `sha256:${"ab".repeat(32)}`, "workloads[0].image: expected an object, got a string"],
  ["workloads.0.image.type", "ociIndex", 'workloads[0].image.type: "ociIndex" is not known, expected "ociManifest"'],
  ["workloads.0.image.digest", undefined, "workloads[0].image.digest: expected a string, got nothing"],
  ["workloads.0.image.digest", "ab".repeat(32), `workloads[0].image.digest: ${DIGEST}`],
  ["workloads.0.image.digest", `sha256:${"AB".repeat(32)}`, `workloads[0].image.digest: ${DIGEST}`],
  ["workloads.0.image.digest", `sha256:${"ab".repeat(32)}\n`, `workloads[0].image.digest: ${DIGEST}`],
  ["workloads.0.image.digest", `sha512:${"ab".repeat(32)}`, `workloads[0].image.digest: ${DIGEST}`],
  ["workloads.0.restart", "Always", 'workloads[0].restart: expected "never" or "always"'],
  [
    "workloads.0.mounts",
    Array.from({ length: 65 }, (_, index) => file(`/m${index}`)),
    "workloads[0].mounts: 65 entries, expected at most 64",
  ],
  ["workloads.0.mounts", [file("/a"), file("/a")], 'workloads[0].mounts: "/a" overlaps "/a"'],
  ["workloads.0.mounts", [file("/a"), file("/a/b")], 'workloads[0].mounts: "/a/b" overlaps "/a"'],
  ["workloads.0.mounts", [file("/a/b/c"), file("/x"), file("/a")], 'workloads[0].mounts: "/a" overlaps "/a/b/c"'],
  [MOUNT, "/a", "workloads[0].mounts[0]: expected an object, got a string"],
  [`${MOUNT}.type`, "bind", 'workloads[0].mounts[0].type: "bind" is not known, expected "volume" or "file"'],
  [`${MOUNT}.type`, undefined, 'workloads[0].mounts[0].type: expected "volume" or "file"'],
  [`${MOUNT}.source`, "other", "workloads[0].mounts[0].source: a volume that is not declared"],
  [`${MOUNT}.source`, "", "workloads[0].mounts[0].source: a volume that is not declared"],
  [`${MOUNT}.readOnly`, "true", "workloads[0].mounts[0].readOnly: expected true or false, got a string"],
  [
    MOUNT,
    { ...file("/a"), source: "/qos.pivot" },
    "workloads[0].mounts[0].source: expected one of /qos.quorum.key, /qos.ephemeral.key, /qos.manifest",
  ],
  [MOUNT, { ...file("/a"), source: "/etc/passwd" }, "workloads[0].mounts[0].source: expected one of"],
  [MOUNT, { ...file("/a"), readOnly: false }, "workloads[0].mounts[0].readOnly: expected true for a file"],
  [MOUNT, { ...file("/a"), readOnly: undefined }, "workloads[0].mounts[0].readOnly: expected true for a file"],
  ["volumes", [], "volumes: expected an object, got an array"],
  ["volumes", undefined, "workloads[0].mounts[1].source: a volume that is not declared"],
  ["volumes.scratch.type", "disk", 'volumes.scratch.type: "disk" is not known, expected "tmpfs"'],
  ["volumes.scratch.mountPath", "a", `volumes.scratch.mountPath: ${PATH}`],
  ["dns", ["1.1.1.1"], "dns: expected an object, got an array"],
  ["dns.resolvers", ["dns.example"], "dns.resolvers[0]: not an IP address"],
  ...["", "A", "a.b", "a_b", "-a", "a-", "a".repeat(64), "a\n", "é"].map((name): [string, Json, string] => [
    "workloads.0.name",
    name,
    `workloads[0].name: ${LABEL}`,
  ]),
  ...["", "/", "a", "./a", "//a", "/a/", "/a//b", "/./a", "/a/.", "/../a", "/a/..", "/a\0b"].map(
    (path): [string, Json, string] => [`${MOUNT}.mountPath`, path, `workloads[0].mounts[0].mountPath: ${PATH}`],
  ),
  ...["/proc", "/sys/fs", "/dev", "/dev/nsm"].map((path): [string, Json, string] => [
    `${MOUNT}.mountPath`,
    path,
    `workloads[0].mounts[0].mountPath: lies in /${path.split("/")[1]!}`,
  ]),
];

describe("the rules", () => {
  it.each(RULES)("%s may not be %j", (path, member, fault) => {
    const faults: string = expect.stringContaining(fault);
    expect(refusalOf(() => decodeJson(v3With(path, member)))).toMatchObject({ code: "manifest", faults });
    const envelope = refusalOf(() => decodeEnvelopeJson({ ...envelopeJson("v3"), manifest: v3With(path, member) }));
    expect(envelope).toMatchObject({ code: "manifest-envelope", faults });
  });

  it.each<[string, Json]>([
    ["workloads.0.name", "a"],
    ["workloads.0.name", "a".repeat(63)],
    ["workloads.0.name", "0"],
    ["workloads.0.name", "a--b"],
    ["workloads", Array.from({ length: 16 }, (_, index) => workload(`w${index}`))],
    ["workloads.0.mounts", Array.from({ length: 64 }, (_, index) => file(`/m${index}`))],
    ["workloads.0.mounts", [file("/a"), file("/ab"), file("/a.b"), file("/b/a")]],
    [`${MOUNT}.mountPath`, "/devices"],
    [`${MOUNT}.mountPath`, "/a/dev"],
    [`${MOUNT}.mountPath`, "/..a/.b"],
    ["volumes.other", { type: "tmpfs", mountPath: "/a" }],
  ])("%s may be %j", (path, member) => {
    expect(decodeJson(v3With(path, member)).version).toBe("v3");
  });

  it("all limits may be reached at once", () => {
    const mounts = Array.from({ length: 64 }, (_, index) => file(`/m${index}`));
    const all = decodeJson(
      v3With(
        "workloads",
        Array.from({ length: 16 }, (_, index) => workload(`w${index}`, { mounts })),
      ),
    );
    expect(all.workloads.flatMap((one) => one.mounts)).toHaveLength(1024);
  });

  it("two workloads may mount at the same path, and a volume may be mounted by both", () => {
    const mounts = [{ type: "volume", source: "shared", mountPath: "/a", readOnly: false }];
    expect(
      decodeJson(v3With("workloads", [workload("a", { mounts }), workload("b", { mounts })])).workloads,
    ).toHaveLength(2);
  });

  it("there are up to 16 volumes", () => {
    const volumes = (count: number): Json => {
      const names = ["scratch", "shared", ...Array.from({ length: count - 2 }, (_, index) => `v${index}`)];
      return Object.fromEntries(names.map((name) => [name, { type: "tmpfs", mountPath: "/a" }]));
    };
    expect(decodeJson(v3With("volumes", volumes(16))).volumes?.size).toBe(16);
    expect(faultsOf(() => decodeJson(v3With("volumes", volumes(17))))).toBe("volumes: 17 entries, expected at most 16");
  });
});

describe("what is hashed", () => {
  it("has every member, and nothing more", () => {
    const expected = structuredClone(good);
    for (const holder of [expected.namespace, expected.manifestSet, expected.shareSet]) {
      for (const name of ["nonce", "threshold"]) if (name in holder) holder[name] = String(holder[name]);
    }
    expect(canonical(good)).toEqual(expected);
  });

  it("writes readOnly where it was left out, and leaves out what is empty", () => {
    expect(canonical(v3With(`${MOUNT}.readOnly`, undefined)).workloads[0].mounts[0].readOnly).toBe(false);
    expect(canonical(v3With("workloads.0.mounts", [])).workloads[0]).not.toHaveProperty("mounts");
    const bare = withMember(v3With("workloads.0.mounts", null), "volumes", {});
    expect(canonical(bare)).not.toHaveProperty("volumes");
    expect(canonical(withMember(bare, "dns", null))).not.toHaveProperty("dns");
  });

  it("keeps a volume called __proto__", () => {
    const text = JSON.stringify(good).replace(
      '"volumes":{',
      '"volumes":{"__proto__":{"type":"tmpfs","mountPath":"/p"},',
    );
    const manifest = decodeManifest(new TextEncoder().encode(text));
    expect(fromUtf8(manifestHashInput(manifest))).toContain('"volumes":{"__proto__":{"mountPath":"/p","type":"tmpfs"}');
  });
});
