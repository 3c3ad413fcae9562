/** Published releases of what the evidence of a fact runs, in a folder of their own. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toHex } from "../../src/bytes.js";
import type { Manifest } from "../../src/decode/manifest/index.js";
import { type LabMember, approve, manifestHash } from "../../src/lab/qos.js";
import { approvalFile, approvalName } from "../release/support.js";
import type { Evidence } from "./worlds.js";
import { lab } from "./worlds.js";

/** The set that approves the releases of the lab, as `--manifest-set` takes it. */
export function releaseSet() {
  return { threshold: 2, members: lab.manifestMembers.map(({ key }) => toHex(key.publicKey)) };
}

export function releaseFolder(evidence: readonly Evidence[], strangers: readonly LabMember[]): string {
  const folder = mkdtempSync(join(tmpdir(), "bootproof-matrix-"));
  for (const one of evidence) publish(one, folder, strangers);
  return folder;
}

/** Approved by those members of the set whose keys are known. */
function publish({ forged }: Evidence, folder: string, strangers: readonly LabMember[]): void {
  const { manifest } = forged;
  const place = join(folder, versionOf(manifest), manifest.namespace.name.split("/").at(-1)!);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "manifest"), Buffer.from(forged.bootProof["qosManifestB64"] as string, "base64"));
  const keys = manifest.manifestSet.members.map(({ pubKey }) => toHex(pubKey));
  const members = [...lab.manifestMembers, ...strangers].filter(({ key }) => keys.includes(toHex(key.publicKey)));
  for (const member of members.slice(0, 2))
    writeFileSync(join(place, approvalName(member, manifest)), approvalFile(approve(manifestHash(manifest), member)));
}

function versionOf({ namespace: { nonce } }: Manifest): string {
  return [Math.floor(nonce / 10_000), Math.floor(nonce / 100) % 100, nonce % 100].join(".");
}
