/** A few manifests are remembered, each by all that was asked of it. */
import { describe, expect, it } from "vitest";
import { ApprovedManifests } from "../../src/verify/approved-manifests.js";

const fields = (byte: number, length = 4) => ({
  manifest: new Uint8Array(length).fill(byte),
  manifestEnvelope: new Uint8Array(length).fill(byte + 100),
  declaredManifestVersion: "v2",
});

describe("approved manifests", () => {
  it("are sixteen: the least recently used goes first", () => {
    const known = new ApprovedManifests<number>();
    for (let i = 0; i < 16; i++) known.keep(fields(i), i, []);
    expect(known.find(fields(0))?.checked).toBe(0);
    known.keep(fields(16), 16, []);
    expect(known.find(fields(1))).toBeUndefined();
    for (const i of [0, 2, 15, 16]) expect(known.find(fields(i))?.checked).toBe(i);
  });

  it("have at most 128 KiB, manifest and envelope together", () => {
    const known = new ApprovedManifests<number>();
    known.keep(fields(1, 65_536), 1, []);
    known.keep({ ...fields(2, 65_536), manifest: new Uint8Array(65_537) }, 2, []);
    expect(known.find(fields(1, 65_536))?.checked).toBe(1);
    expect(known.find({ ...fields(2, 65_536), manifest: new Uint8Array(65_537) })).toBeUndefined();
  });

  it("are found by both byte strings and the declared version, and by nothing less", () => {
    const known = new ApprovedManifests<number>();
    known.keep(fields(1), 1, []);
    const { manifest, manifestEnvelope } = fields(2);
    for (const other of [{ manifest }, { manifestEnvelope }, { declaredManifestVersion: "v1" }])
      expect(known.find({ ...fields(1), ...other })).toBeUndefined();
    expect(known.find({ ...fields(1), declaredManifestVersion: undefined })).toBeUndefined();
    expect(known.find(fields(1))?.checked).toBe(1);
  });
});
