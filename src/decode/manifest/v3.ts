/**
 * Manifest v3, a draft of QOS (decode/README.md, "Manifest v3"): workloads instead of the pivot. JSON only, hashed over
 * QOS canonical JSON. Refuses all unknown members and types.
 */
import { isJsonObject } from "../json.js";
import { MemberReader, readBy } from "../json-members.js";
import { type QosJsonInput, canonicalQosJson } from "../qos-json.js";
import { imageDigestOf, imageDigestText } from "./image-digest.js";
import { flag, optional, text } from "../shapes.js";
import { dnsField, itemsOf, member, namespace, setsAndEnclave } from "./fields.js";
import {
  type Mount,
  type Volume,
  WORKLOADS_MAX,
  WORKLOAD_NAME,
  type Workload,
  type WorkloadManifest,
} from "./model.js";
import { type ManifestSchema, hashedAsJson } from "./schema.js";
import { mapJson, setJson } from "./v2.js";

const MANIFEST_MEMBERS = ["version", "namespace", "workloads", "manifestSet", "shareSet", "enclave", "volumes", "dns"];
const ENCLAVE_MEMBERS = ["type", "pcr0", "pcr1", "pcr2", "pcr3", "awsRootCertificate", "qosCommit"];
const MOUNTS_MAX = 64;
const VOLUMES_MAX = 16;
const QOS_FILES = ["/qos.quorum.key", "/qos.ephemeral.key", "/qos.manifest"];
const SYSTEM_PATHS = ["/proc", "/sys", "/dev"];

export const V3: ManifestSchema<"v3"> = {
  version: "v3",
  readJson,
  ...hashedAsJson<"v3">(canonicalJson),
  spellings: ["v3", "V3", "3"],
  draft: "v3 is a draft of QOS",
};

function readJson(reader: MemberReader): WorkloadManifest {
  reader.refuseUnknown(MANIFEST_MEMBERS);
  refuseUnknownInShared(reader);
  const volumes = volumesField(reader);
  const dns = dnsField(reader);
  return {
    version: "v3",
    namespace: member(reader, "namespace", namespace),
    workloads: workloadsField(reader, [...volumes.keys()]),
    ...setsAndEnclave.members(reader),
    ...(volumes.size > 0 && { volumes }),
    ...(dns && { dns }),
  };
}

/** Refuses unknown members in parts where older versions ignore them. */
function refuseUnknownInShared(reader: MemberReader): void {
  memberIfObject(reader, "namespace")?.refuseUnknown(["name", "nonce", "quorumKey"]);
  const enclave = memberIfObject(reader, "enclave");
  enclave?.refuseUnknown(ENCLAVE_MEMBERS);
  if (enclave) typeField(enclave, ["nitro"]);
  for (const name of ["manifestSet", "shareSet"]) {
    const set = memberIfObject(reader, name);
    set?.refuseUnknown(["threshold", "members"]);
    const members = set?.get("members");
    if (!Array.isArray(members)) continue;
    for (const [index, member] of members.entries()) {
      if (isJsonObject(member))
        new MemberReader(member, set!.place.at("members").at(index)).refuseUnknown(["alias", "pubKey"]);
    }
  }
}

/** Returns a reader of the member. Undefined if it is not an object: the code that reads the member reports that. */
function memberIfObject(reader: MemberReader, name: string): MemberReader | undefined {
  const value = reader.get(name);
  return isJsonObject(value) ? new MemberReader(value, reader.place.at(name)) : undefined;
}

function typeField<T extends string>(reader: MemberReader, names: readonly T[]): T | undefined {
  const value = reader.get("type");
  const known = names.find((name) => name === value);
  const wanted = names.map((name) => JSON.stringify(name)).join(" or ");
  if (known === undefined && typeof value === "string") {
    reader.fault("type", `${JSON.stringify(value.slice(0, 64))} is not known, expected ${wanted}`);
  } else if (known === undefined) reader.fault("type", `expected ${wanted}`);
  return known;
}

function workloadsField(reader: MemberReader, volumes: readonly string[]): Workload[] {
  if (!inBounds(reader, "workloads", WORKLOADS_MAX)) return [];
  const workloads = reader.read("workloads", itemsOf(readBy((workload) => workloadOf(workload, volumes)))) ?? [];
  if (Array.isArray(reader.get("workloads")) && workloads.length === 0) reader.fault("workloads", "empty");
  refuseRepeated(
    reader,
    "workloads",
    workloads.map(({ name }) => name),
  );
  return workloads;
}

/** Whether an array has at most this many items. A longer one is a fault and is not read. */
function inBounds(reader: MemberReader, name: string, most: number): boolean {
  const value = reader.get(name);
  if (!Array.isArray(value) || value.length <= most) return true;
  reader.fault(name, `${value.length} entries, expected at most ${most}`);
  return false;
}

function refuseRepeated(reader: MemberReader, name: string, names: readonly string[]): void {
  const repeated = new Set(names.filter((value, index) => names.indexOf(value) !== index));
  for (const value of repeated) reader.fault(name, `the name ${JSON.stringify(value.slice(0, 64))} appears twice`);
}

function workloadOf(workload: MemberReader, volumes: readonly string[]): Workload {
  workload.refuseUnknown(["name", "type", "image", "restart", "mounts"]);
  typeField(workload, ["oci"]);
  const name = workload.read("name", text);
  if (name !== undefined && !WORKLOAD_NAME.test(name)) workload.fault("name", "expected a lower-case DNS label");
  const restart = workload.get("restart");
  if (restart !== "never" && restart !== "always") workload.fault("restart", `expected "never" or "always"`);
  return {
    name: name ?? "",
    imageDigest: imageField(workload),
    restart: restart === "always" ? "always" : "never",
    mounts: mountsField(workload, volumes),
  };
}

function imageField(workload: MemberReader): Uint8Array {
  const image = workload.nested("image");
  if (image === undefined) return new Uint8Array();
  image.refuseUnknown(["type", "digest"]);
  typeField(image, ["ociManifest"]);
  const spelt = image.read("digest", text);
  const digest = spelt === undefined ? null : imageDigestOf(spelt);
  if (spelt !== undefined && digest === null) image.fault("digest", "expected sha256: and 64 lower-case hex digits");
  return digest ?? new Uint8Array();
}

function mountsField(workload: MemberReader, volumes: readonly string[]): Mount[] {
  if (workload.get("mounts") === undefined || !inBounds(workload, "mounts", MOUNTS_MAX)) return [];
  const mounts = workload.read("mounts", itemsOf(readBy((mount) => mountOf(mount, volumes)))) ?? [];
  refuseOverlap(
    workload,
    mounts.map(({ mountPath }) => mountPath),
  );
  return mounts;
}

function mountOf(mount: MemberReader, volumes: readonly string[]): Mount | undefined {
  mount.refuseUnknown(["type", "source", "mountPath", "readOnly"]);
  const type = typeField(mount, ["volume", "file"]);
  const source = mount.read("source", text);
  const mountPath = workloadPathField(mount);
  const readOnly = mount.read("readOnly", optional(flag)) ?? false;
  if (type === "volume") {
    if (source !== undefined && !volumes.includes(source)) mount.fault("source", "a volume that is not declared");
    return { type, source: source ?? "", mountPath, readOnly };
  }
  if (type === undefined) return undefined;
  const isFile = source === undefined || QOS_FILES.includes(source);
  if (!isFile) mount.fault("source", `expected one of ${QOS_FILES.join(", ")}`);
  if (!readOnly) mount.fault("readOnly", "expected true for a file");
  return { type, source: source ?? "", mountPath, readOnly: true };
}

function workloadPathField(mount: MemberReader): string {
  const mountPath = pathField(mount);
  const system = SYSTEM_PATHS.find((path) => isWithin(mountPath, path));
  if (system !== undefined) mount.fault("mountPath", `lies in ${system}`);
  return mountPath;
}

/** Reads a path. It is a fault unless it is absolute, normalized, below the root and without NUL. */
function pathField(reader: MemberReader): string {
  const path = reader.read("mountPath", text);
  if (path === undefined) return "";
  const [start, ...parts] = path.split("/");
  const normal =
    start === "" && parts.every((part) => part !== "" && part !== "." && part !== ".." && !part.includes("\0"));
  if (normal && parts.length > 0) return path;
  reader.fault("mountPath", "expected an absolute, normalized path below the root");
  return "";
}

function isWithin(path: string, other: string): boolean {
  return path === other || path.startsWith(`${other}/`);
}

function refuseOverlap(workload: MemberReader, paths: readonly string[]): void {
  const good = paths.filter((path) => path !== "");
  for (const [index, path] of good.entries()) {
    const other = good.slice(0, index).find((earlier) => isWithin(path, earlier) || isWithin(earlier, path));
    if (other !== undefined) workload.fault("mounts", `${JSON.stringify(path)} overlaps ${JSON.stringify(other)}`);
  }
}

/** Reads `{"name": {"type": "tmpfs", "mountPath"}}`. */
function volumesField(reader: MemberReader): Map<string, Volume> {
  const volumes = new Map<string, Volume>();
  if (reader.get("volumes") === undefined) return volumes;
  const fields = reader.nested("volumes");
  const names = Object.keys(fields?.object ?? {});
  if (fields === undefined) return volumes;
  if (names.length > VOLUMES_MAX) reader.fault("volumes", `${names.length} entries, expected at most ${VOLUMES_MAX}`);
  for (const name of names.slice(0, VOLUMES_MAX)) {
    const volume = fields.nested(name);
    volume?.refuseUnknown(["type", "mountPath"]);
    const type = volume && typeField(volume, ["tmpfs"]);
    const mountPath = volume ? pathField(volume) : "";
    volumes.set(name, { type: type ?? "tmpfs", mountPath });
  }
  return volumes;
}

function canonicalJson(manifest: WorkloadManifest): string {
  return canonicalQosJson({
    version: "v3",
    namespace: { ...manifest.namespace },
    workloads: manifest.workloads.map(workloadJson),
    manifestSet: setJson(manifest.manifestSet),
    shareSet: setJson(manifest.shareSet),
    enclave: { type: "nitro", ...manifest.enclave },
    volumes: mapJson(manifest.volumes, (volume) => ({ ...volume })),
    dns: manifest.dns && { ...manifest.dns },
  });
}

function workloadJson({ name, imageDigest, restart, mounts }: Workload): QosJsonInput {
  return {
    name,
    type: "oci",
    image: { type: "ociManifest", digest: imageDigestText(imageDigest) },
    restart,
    mounts: mounts.length > 0 ? mounts.map((mount) => ({ ...mount })) : undefined,
  };
}
