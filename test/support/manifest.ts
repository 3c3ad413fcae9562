/** Manifests as JSON values, for tests to change, and manifests of any content. */
import {
  type Manifest,
  type ManifestEnvelope,
  type ManifestVersion,
  type PivotManifest,
  type WorkloadManifest,
  approvalNames,
} from "../../src/decode/manifest/index.js";
import { toHex } from "../../src/bytes.js";
import { fc } from "./property.js";
import { readVectorJson } from "./vectors.js";

/** A JSON value that tests may change as they like. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

const GOLDEN = {
  v0: "manifests/golden/manifest_v0.json",
  "v0-tail": "manifests/made/manifest_v0_tail.json",
  v1: "manifests/golden/manifest_v1.json",
  v2: "manifests/made/manifest_v2.json",
  v3: "manifests/made/manifest_v3.json",
} as const satisfies { [V in ManifestVersion]: string };

export function manifestJson(version: ManifestVersion): Json {
  return readVectorJson<Json>(GOLDEN[version]);
}

/** An envelope of the version's manifest, with one approval. */
export function envelopeJson(version: ManifestVersion): Json {
  const approval = readVectorJson<Json>("manifests/golden/approval.json");
  const manifest = manifestJson(version);
  const names = approvalNames(version);
  return { manifest, [names.manifestSet]: [approval], [names.shareSet]: [] };
}

/** The manifest as one of a pivot; throws where it is one of workloads. */
export function withPivot(manifest: Manifest): PivotManifest {
  if (manifest.pivot === undefined) throw new TypeError(`a manifest ${manifest.version} has no pivot`);
  return manifest;
}

export function jsonBytes(value: Json): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** The value with the member at a path of names set; undefined removes it. */
export function withMember(value: Json, path: string, member: Json): Json {
  const copy = structuredClone(value);
  const names = path.split(".");
  const last = names.pop()!;
  const holder = names.reduce<Json>((at, name) => at[name], copy);
  if (member === undefined) Reflect.deleteProperty(holder as object, last);
  else Object.defineProperty(holder, last, { value: member, enumerable: true, configurable: true, writable: true });
  return copy;
}

const bytes = (maxLength = 8): fc.Arbitrary<Uint8Array> => fc.uint8Array({ maxLength });
const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
const text = fc.string({ unit: "grapheme", maxLength: 6 });
const u32 = fc.integer({ min: 0, max: 0xffffffff });
const port = fc.integer({ min: 0, max: 0xffff });
const set = fc.record({
  threshold: u32,
  members: fc.array(fc.record({ alias: text, pubKey: bytes() }), { maxLength: 3 }),
});
const bridge = fc.oneof(
  fc.record({ type: fc.constant("server" as const), port, host: text }),
  fc.record({ type: fc.constant("client" as const), port, host: fc.option(text) }),
);
const namespace = fc.record({ name: text, nonce: u32, quorumKey: bytes() });
const enclave = fc.record({
  pcr0: bytes(),
  pcr1: bytes(),
  pcr2: bytes(),
  pcr3: bytes(),
  awsRootCertificate: bytes(),
  qosCommit: text,
});
const patchSet = fc.record({ threshold: u32, members: fc.array(fc.record({ pubKey: bytes() }), { maxLength: 3 }) });
const pivot0 = {
  hash,
  restart: fc.constantFrom("Never" as const, "Always" as const),
  args: fc.array(text, { maxLength: 3 }),
};
const pivot1 = { ...pivot0, bridgeConfig: fc.array(bridge, { maxLength: 3 }), debugMode: fc.boolean() };
const shared = { namespace, manifestSet: set, shareSet: set, enclave };
const envName = fc
  .string({ unit: fc.constantFrom(..."aZ_0"), minLength: 1, maxLength: 4 })
  .filter((name) => !/^[0-9]/.test(name));
const env = fc
  .uniqueArray(
    fc.tuple(
      envName,
      text.filter((value) => !value.includes("\0")),
    ),
    { selector: ([name]) => name, minLength: 1, maxLength: 3 },
  )
  .map((entries) => new Map(entries));

export const manifestV0: fc.Arbitrary<PivotManifest> = fc.record({
  version: fc.constant("v0" as const),
  ...shared,
  pivot: fc.record(pivot0),
  patchSet,
});
const clientTimeoutMs: fc.Arbitrary<number | null> = fc.option(port);
const poolSize: fc.Arbitrary<number | null> = fc.option(fc.integer({ min: 0, max: 0xff }));
export const manifestV0Tail: fc.Arbitrary<PivotManifest> = fc.record({
  version: fc.constant("v0-tail" as const),
  ...shared,
  pivot: fc.record(pivot0),
  patchSet,
  clientTimeoutMs,
  poolSize,
});
export const manifestV1: fc.Arbitrary<PivotManifest> = fc.record({
  version: fc.constant("v1" as const),
  ...shared,
  pivot: fc.record(pivot1),
  patchSet,
});
export const manifestV2: fc.Arbitrary<PivotManifest> = fc.record(
  {
    version: fc.constant("v2" as const),
    ...shared,
    pivot: fc.record({ ...pivot1, env }, { requiredKeys: ["hash", "restart", "args", "bridgeConfig", "debugMode"] }),
    dns: fc.record({ resolvers: fc.array(fc.constantFrom("1.1.1.1", "2606:4700:4700::1111", "::"), { maxLength: 2 }) }),
  },
  { requiredKeys: ["version", "namespace", "manifestSet", "shareSet", "enclave", "pivot"] },
);

const label = fc.string({ unit: fc.constantFrom(..."az09"), minLength: 1, maxLength: 4 });
const path = fc
  .array(fc.string({ unit: fc.constantFrom(..."ab_"), minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
  .map((parts) => `/${parts.join("/")}`);
const volumes = fc
  .uniqueArray(fc.tuple(text, path), { selector: ([name]) => name, minLength: 1, maxLength: 3 })
  .map((entries) => new Map(entries.map(([name, mountPath]) => [name, { type: "tmpfs" as const, mountPath }])));
const file = fc.constantFrom("/qos.quorum.key", "/qos.ephemeral.key", "/qos.manifest");
const workload = (sources: readonly string[]): fc.Arbitrary<WorkloadManifest["workloads"][number]> => {
  const fileMount = fc.record({
    type: fc.constant("file" as const),
    source: file,
    readOnly: fc.constant(true as const),
  });
  const source = fc.constantFrom("", ...sources);
  const volumeMount = fc
    .record({ type: fc.constant("volume" as const), source, readOnly: fc.boolean() })
    .filter((mount) => sources.includes(mount.source));
  // Each mount has its own place.
  const mounts = fc
    .array(fc.oneof(fileMount, ...(sources.length > 0 ? [volumeMount] : [])), { maxLength: 3 })
    .map((list) => list.map((mount, index) => ({ ...mount, mountPath: `/m${index}/x` })));
  return fc.record({
    name: label,
    imageDigest: hash,
    restart: fc.constantFrom("never" as const, "always" as const),
    mounts,
  });
};
const workloads = (sources: readonly string[]): fc.Arbitrary<WorkloadManifest["workloads"]> =>
  fc.uniqueArray(workload(sources), { selector: ({ name }) => name, minLength: 1, maxLength: 3 });

export const manifestV3: fc.Arbitrary<WorkloadManifest> = fc.option(volumes, { nil: undefined }).chain((declared) =>
  fc
    .record({
      version: fc.constant("v3" as const),
      ...shared,
      workloads: workloads([...(declared?.keys() ?? [])]),
    })
    .map((manifest) => ({ ...manifest, ...(declared && { volumes: declared }) })),
);

export const approvals = fc.array(
  fc.record({ signature: bytes(), member: fc.record({ alias: text, pubKey: bytes() }) }),
  { maxLength: 3 },
);

/** The JSON of a decoded manifest or envelope: bytes in hex, an environment in its wrapping. */
export function asJson(value: Manifest | ManifestEnvelope): Json {
  const json = JSON.parse(
    JSON.stringify(value, (_name, member: unknown) => {
      if (member instanceof Uint8Array) return toHex(member);
      if (member instanceof Map)
        return Object.fromEntries(
          [...member].map(([name, entry]) => [name, typeof entry === "string" ? { plain: { value: entry } } : entry]),
        );
      return member;
    }),
  ) as Json;
  const manifest = json.manifest ?? json;
  if (manifest.version === "v3") {
    manifest.enclave.type = "nitro";
    manifest.workloads = manifest.workloads.map(({ imageDigest, ...rest }: Json): Json => ({
      ...rest,
      type: "oci",
      image: { type: "ociManifest", digest: `sha256:${imageDigest as string}` },
    }));
  }
  return json;
}
