/** Manifests and envelopes in Borsh (decode/README.md, "Manifests"), written by the package `borsh`. */
import { type Schema, serialize } from "borsh";
import type { ManifestEnvelope, ManifestOf, ManifestVersion } from "../decode/manifest/index.js";

type Fields = Readonly<Record<string, Schema>>;
const struct = (fields: Fields): Schema => ({ struct: fields });
const list = (type: Schema): Schema => ({ array: { type } });
const oneOf = (variants: Fields): Schema => ({
  enum: Object.entries(variants).map(([name, schema]) => ({ struct: { [name]: schema } })),
});

const BYTES = list("u8");
const MEMBER = struct({ alias: "string", pubKey: BYTES });
const SET = struct({ threshold: "u32", members: list(MEMBER) });
const APPROVALS = list(struct({ signature: BYTES, member: MEMBER }));
const BRIDGE = oneOf({
  server: struct({ port: "u16", host: "string" }),
  client: struct({ port: "u16", host: { option: "string" } }),
});
const ENCLAVE = struct({
  ...{ pcr0: BYTES, pcr1: BYTES, pcr2: BYTES, pcr3: BYTES, awsRootCertificate: BYTES, qosCommit: "string" },
});

const manifestOf = (pivot: Fields, tail: Fields = {}): Schema =>
  struct({
    namespace: struct({ name: "string", nonce: "u32", quorumKey: BYTES }),
    pivot: struct(pivot),
    manifestSet: SET,
    shareSet: SET,
    enclave: ENCLAVE,
    patchSet: struct({ threshold: "u32", members: list(struct({ pubKey: BYTES })) }),
    ...tail,
  });
const START: Fields = {
  hash: { array: { type: "u8", len: 32 } },
  restart: oneOf({ Never: struct({}), Always: struct({}) }),
};
const ARGS: Fields = { args: list("string") };

/** The layouts of manifests. Null for versions that exist as JSON only. */
export const BORSH_MANIFESTS: Readonly<Record<ManifestVersion, Schema | null>> = {
  v0: manifestOf({ ...START, ...ARGS }),
  "v0-tail": manifestOf({ ...START, ...ARGS }, { clientTimeoutMs: { option: "u16" }, poolSize: { option: "u8" } }),
  v1: manifestOf({ ...START, bridgeConfig: list(BRIDGE), debugMode: "bool", ...ARGS }),
  v2: null,
  v3: null,
};

export function borshEnvelope(manifest: Schema): Schema {
  return struct({ manifest, manifestSetApprovals: APPROVALS, shareSetApprovals: APPROVALS });
}

/** Returns a value in the package's form, where a variant of an enum is the only member of an object. */
export function borshForm(value: unknown): unknown {
  if (value === "Never" || value === "Always") return { [value]: {} };
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(borshForm);
  const { type, ...rest } = value as { readonly type?: string };
  return type === undefined ? membersIn(rest) : { [type]: rest };
}

/** Returns the members in the package's form. Names and aliases are text, whatever they say. */
function membersIn(value: object): object {
  const isText = (name: string): boolean => name === "name" || name === "alias";
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, isText(name) ? one : borshForm(one)]));
}

/** Encodes a manifest. Throws TypeError if the version has no Borsh encoding. */
export function encodeBorshManifest<V extends ManifestVersion>(manifest: ManifestOf<V>): Uint8Array {
  return serialize(schemaOf(manifest.version), borshForm(manifest));
}

/** Encodes an envelope. Throws TypeError if the version has no Borsh encoding. */
export function encodeBorshEnvelope(envelope: ManifestEnvelope): Uint8Array {
  return serialize(borshEnvelope(schemaOf(envelope.manifest.version)), borshForm(envelope));
}

function schemaOf(version: ManifestVersion): Schema {
  const schema = BORSH_MANIFESTS[version];
  if (schema === null) throw new TypeError(`a ${version} manifest has no Borsh encoding`);
  return schema;
}
