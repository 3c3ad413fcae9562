/** Every genuine manifest of a published release has one reading, and the hash that its operators approved. */
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../../src/bytes.js";
import {
  type ManifestEnvelope,
  approvalNames,
  decodeManifest,
  decodeManifestEnvelope,
} from "../../../src/decode/manifest/index.js";
import { encodeBorshEnvelope, encodeBorshManifest } from "../../../src/lab/borsh.js";
import { manifestHash } from "../../../src/verify/manifest-binding.js";
import { checkApprovals } from "../../../src/verify/approvals.js";
import { SignatureCache } from "../../../src/verify/signature-cache.js";
import { jsonBytes } from "../../support/manifest.js";
import { releaseNames, releaseOf } from "../../support/releases.js";

interface ApprovalFile {
  readonly signature: string;
  readonly member: { readonly alias: string; readonly pubKey: string };
}

const complete = releaseNames()
  .map((name) => name.split("/") as [string, string])
  .filter(([version, app]) => releaseOf(version, app).has("manifest"));

it("there are 31", () => expect(complete).toHaveLength(31));

describe.each(complete)("%s of %s", (release, app) => {
  const files = releaseOf(release, app);
  const manifest = decodeManifest(files.get("manifest")!);
  const approvals = [...files]
    .filter(([name]) => name.endsWith(".approval"))
    .map(([, bytes]) => JSON.parse(Buffer.from(bytes).toString()) as ApprovalFile)
    .map(({ signature, member }) => ({
      signature: fromHex(signature)!,
      member: { alias: member.alias, pubKey: fromHex(member.pubKey)! },
    }));

  it("is read the same from both of its files, and from borsh", () => {
    expect(manifest.version).toBe(release === "2026.1.1" ? "v0-tail" : "v1");
    expect(decodeManifest(files.get("manifest.json")!)).toEqual(manifest);
    expect(decodeManifest(encodeBorshManifest(manifest))).toEqual(manifest);
  });

  it("has the hash that its approvals sign", async () => {
    const hash = await manifestHash(manifest);
    const { faults, approvers } = await checkApprovals(approvals, manifest.manifestSet, hash, new SignatureCache());
    expect(faults).toEqual([]);
    expect(approvers.length).toBeGreaterThanOrEqual(manifest.manifestSet.threshold);
  });

  it("is in an envelope of borsh and of JSON what it is alone", () => {
    const envelope: ManifestEnvelope = { manifest, manifestSetApprovals: approvals, shareSetApprovals: [] };
    expect(decodeManifestEnvelope(encodeBorshEnvelope(envelope))).toEqual(envelope);
    const names = approvalNames(manifest.version);
    const json = JSON.parse(Buffer.from(files.get("manifest")!).toString()) as object;
    const listed = approvals.map(({ signature, member }) => ({
      signature: toHex(signature),
      member: { alias: member.alias, pubKey: toHex(member.pubKey) },
    }));
    const wrapped = jsonBytes({ manifest: json, [names.manifestSet]: listed, [names.shareSet]: [] });
    expect(decodeManifestEnvelope(wrapped)).toEqual(envelope);
  });
});
