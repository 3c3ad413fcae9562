/** Manifest v2 (decode/README.md, "Manifests"): JSON only, hashed over QOS canonical JSON. */
import { toUtf8 } from "../../bytes.js";
import type { MemberReader } from "../json-members.js";
import { type QosJsonInput, canonicalQosJson } from "../qos-json.js";
import { text } from "../shapes.js";
import { blank, dnsField, member, namespace, setsAndEnclave } from "./fields.js";
import type { MemberSet, Pivot, PivotManifest } from "./model.js";
import { type ManifestSchema, hashedAsJson } from "./schema.js";
import { V1_PIVOT } from "./v1.js";

const MANIFEST_MEMBERS = ["version", "namespace", "pivot", "manifestSet", "shareSet", "enclave", "dns"];
const PIVOT_MEMBERS = ["hash", "restart", "bridgeConfig", "debugMode", "args", "env"];
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,1023}$/;
const ENV_VALUE_MAX = 65536;
const ENV_MAX = 512;

export const V2: ManifestSchema<"v2"> = {
  version: "v2",
  readJson,
  ...hashedAsJson<"v2">(canonicalJson),
  spellings: ["v2", "V2", "2"],
  draft: null,
};

function readJson(reader: MemberReader): PivotManifest {
  reader.refuseUnknown(MANIFEST_MEMBERS);
  const pivot = reader.nested("pivot") ?? blank();
  const dns = dnsField(reader);
  return {
    version: "v2",
    namespace: member(reader, "namespace", namespace),
    pivot: pivotOf(pivot),
    ...setsAndEnclave.members(reader),
    ...(dns && { dns }),
  };
}

function pivotOf(pivot: MemberReader): Pivot {
  pivot.refuseUnknown(PIVOT_MEMBERS);
  const env = pivot.get("env") === undefined ? undefined : pivot.nested("env");
  return { ...V1_PIVOT.members(pivot), ...(env && { env: envOf(env) }) };
}

/** Reads `{"NAME": {"plain": {"value": "…"}}}`. */
function envOf(env: MemberReader): Map<string, string> {
  const names = Object.keys(env.object);
  if (names.length > ENV_MAX) env.place.fault(`${names.length} entries, expected at most ${ENV_MAX}`);
  return new Map(names.map((name) => [name, envValue(env, name)]));
}

function envValue(env: MemberReader, name: string): string {
  if (!ENV_NAME.test(name)) env.fault(name, "not a name of an environment variable");
  const entry = env.nested(name);
  entry?.refuseUnknown(["plain"]);
  const plain = entry?.nested("plain");
  plain?.refuseUnknown(["value"]);
  const value = plain?.read("value", text) ?? "";
  if (toUtf8(value).length > ENV_VALUE_MAX) plain?.fault("value", "longer than 64 KiB");
  if (value.includes("\0")) plain?.fault("value", "contains NUL");
  return value;
}

function canonicalJson({ version, namespace, pivot, manifestSet, shareSet, enclave, dns }: PivotManifest): string {
  return canonicalQosJson({
    version,
    namespace: { ...namespace },
    pivot: {
      hash: pivot.hash,
      restart: pivot.restart,
      bridgeConfig: (pivot.bridgeConfig ?? []).map((bridge) => ({ ...bridge })),
      debugMode: pivot.debugMode ?? false,
      args: pivot.args,
      env: mapJson(pivot.env, (value) => ({ plain: { value } })),
    },
    manifestSet: setJson(manifestSet),
    shareSet: setJson(shareSet),
    enclave: { ...enclave },
    dns: dns && { ...dns },
  });
}

export function setJson(set: MemberSet): QosJsonInput {
  return { threshold: set.threshold, members: set.members.map((member) => ({ ...member })) };
}

/** Returns the entries of a map as members, or undefined if there are none. */
export function mapJson<T>(map: ReadonlyMap<string, T> | undefined, json: (value: T) => QosJsonInput): QosJsonInput {
  if (map === undefined || map.size === 0) return undefined;
  return Object.fromEntries([...map].map(([name, value]) => [name, json(value)]));
}
