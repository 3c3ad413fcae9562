/** Manifest v2 (decode/README.md, "Manifests"): JSON only, hashed over QOS canonical JSON. */
import { toUtf8 } from "../../bytes.js";
import { type MemberReader, hexField } from "../json-members.js";
import { type QosJsonInput, canonicalQosJson } from "../qos-json.js";
import {
  bridgeConfigField,
  dnsField,
  enclaveField,
  memberSetField,
  namespaceField,
  restartField,
} from "./json-fields.js";
import { SHA256_LENGTH } from "../lengths.js";
import { type MemberSet, type Pivot, type PivotManifest } from "./model.js";
import { CAMEL_CASE, type ManifestSchema } from "./schema.js";
import { NO_PIVOT } from "./v0.js";

const MANIFEST_MEMBERS = ["version", "namespace", "pivot", "manifestSet", "shareSet", "enclave", "dns"];
const PIVOT_MEMBERS = ["hash", "restart", "bridgeConfig", "debugMode", "args", "env"];
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,1023}$/;
const ENV_VALUE_MAX = 65536;
const ENV_MAX = 512;

export const V2: ManifestSchema<"v2"> = {
  version: "v2",
  recognised: "by name",
  readJson,
  borsh: null,
  hashInput: (manifest) => toUtf8(canonicalJson(manifest)),
  envelope: { names: [CAMEL_CASE], strict: true },
  spellings: ["v2", "V2", "2"],
  draft: null,
};

function readJson(reader: MemberReader): PivotManifest {
  reader.refuseUnknown(MANIFEST_MEMBERS);
  const pivot = reader.nested("pivot");
  const dns = dnsField(reader);
  return {
    version: "v2",
    namespace: namespaceField(reader),
    pivot: pivot === undefined ? NO_PIVOT : pivotOf(pivot),
    manifestSet: memberSetField(reader, "manifestSet"),
    shareSet: memberSetField(reader, "shareSet"),
    enclave: enclaveField(reader),
    ...(dns && { dns }),
  };
}

function pivotOf(pivot: MemberReader): Pivot {
  pivot.refuseUnknown(PIVOT_MEMBERS);
  const env = pivot.get("env") === undefined ? undefined : pivot.nested("env");
  return {
    hash: hexField(pivot, "hash", SHA256_LENGTH),
    restart: restartField(pivot),
    bridgeConfig: bridgeConfigField(pivot),
    debugMode: pivot.boolean("debugMode") ?? false,
    args: pivot.strings("args") ?? [],
    ...(env && { env: envOf(env) }),
  };
}

/** Reads `{"NAME": {"plain": {"value": "…"}}}`. */
function envOf(env: MemberReader): Map<string, string> {
  const names = Object.keys(env.object);
  if (names.length > ENV_MAX)
    env.faults.push({ path: env.path, message: `${names.length} entries, expected at most ${ENV_MAX}` });
  return new Map(names.map((name) => [name, envValue(env, name)]));
}

function envValue(env: MemberReader, name: string): string {
  if (!ENV_NAME.test(name)) env.fault(name, "not a name of an environment variable");
  const entry = env.nested(name);
  entry?.refuseUnknown(["plain"]);
  const plain = entry?.nested("plain");
  plain?.refuseUnknown(["value"]);
  const value = plain?.string("value") ?? "";
  if (toUtf8(value).length > ENV_VALUE_MAX) plain?.fault("value", "longer than 64 KiB");
  if (value.includes("\0")) plain?.fault("value", "contains NUL");
  return value;
}

function canonicalJson(manifest: PivotManifest): string {
  const { pivot, namespace, enclave } = manifest;
  return canonicalQosJson({
    version: "v2",
    namespace: { ...namespace },
    pivot: {
      hash: pivot.hash,
      restart: pivot.restart,
      bridgeConfig: (pivot.bridgeConfig ?? []).map((bridge) => ({ ...bridge })),
      debugMode: pivot.debugMode ?? false,
      args: pivot.args,
      env: envJson(pivot.env),
    },
    manifestSet: setJson(manifest.manifestSet),
    shareSet: setJson(manifest.shareSet),
    enclave: { ...enclave },
    dns: manifest.dns && { resolvers: manifest.dns.resolvers },
  });
}

export function setJson(set: MemberSet): QosJsonInput {
  return { threshold: set.threshold, members: set.members.map((member) => ({ ...member })) };
}

function envJson(env: Pivot["env"]): QosJsonInput {
  if (env === undefined || env.size === 0) return undefined;
  const entries = Object.create(null) as Record<string, QosJsonInput>;
  for (const [name, value] of env) entries[name] = { plain: { value } };
  return entries;
}
