/** What v0-tail says beside v0: two members at the end, both or neither, and which envelopes hold it. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  type Manifest,
  decodeManifest,
  decodeManifestEnvelope,
  manifestHashInput,
} from "../../../src/decode/manifest/index.js";
import { encodeBorshEnvelope, encodeBorshManifest } from "../../../src/lab/borsh.js";
import { hex, join } from "../../support/cbor.js";
import { faultsOf } from "../../support/faults.js";
import { type Json, envelopeJson, jsonBytes, manifestJson, withMember } from "../../support/manifest.js";
import { readVector, readVectorJson } from "../../support/vectors.js";

const decodeJson = (value: Json): Manifest => decodeManifest(jsonBytes(value));
const tail = (more: Json = {}): Json => ({ ...manifestJson("v0-tail"), ...more });
const v0 = readVector("manifests/golden/manifest_v0.v0layout.borsh");
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe("the genuine manifest of 2026.1.1", () => {
  const approved = readVector("manifests/made/2026.1.1-signer.manifest.borsh");

  it("is hashed over the bytes that its operators signed", () => {
    const manifest = decodeManifest(readVector("releases/2026.1.1/signer/manifest"));
    expect(manifest).toMatchObject({ version: "v0-tail", clientTimeoutMs: null, poolSize: null });
    expect(manifestHashInput(manifest)).toEqual(approved);
    expect(decodeManifest(approved)).toEqual(manifest);
    expect(sha256(approved)).toBe("481840e3bec94932f8b064813aa541f90c5f0e22b500308ef94ea91cfb9cf65f");
  });

  it("is another one without its tail", () => {
    const { clientTimeoutMs, poolSize, ...rest } = readVectorJson<Json>("releases/2026.1.1/signer/manifest");
    expect([clientTimeoutMs, poolSize]).toEqual([null, null]);
    expect(decodeJson(rest).version).toBe("v0");
    expect(manifestHashInput(decodeJson(rest))).toEqual(approved.subarray(0, -2));
  });
});

describe("borsh", () => {
  it.each<[string, number | null, number | null]>([
    ["0000", null, null],
    ["01e80300", 1000, null],
    ["000105", null, 5],
    ["01000001 00", 0, 0],
    ["01ffff01ff", 0xffff, 0xff],
  ])("%s after v0 is a timeout of %j and a pool of %j", (bytes, clientTimeoutMs, poolSize) => {
    const encoded = join(v0, hex(bytes));
    const manifest = decodeManifest(encoded);
    expect(manifest).toEqual({ ...decodeManifest(v0), version: "v0-tail", clientTimeoutMs, poolSize });
    expect(encodeBorshManifest(manifest)).toEqual(encoded);
  });

  it.each([["a variant of 2", "0200", "clientTimeoutMs: variant 2"]])("refuses %s after v0", (_, bytes, fault) => {
    expect(faultsOf(() => decodeManifest(join(v0, hex(bytes))))).toContain(fault);
  });
});

describe("JSON", () => {
  it.each<[Json, number | null, number | null]>([
    [{ clientTimeoutMs: null, poolSize: null }, null, null],
    [{ clientTimeoutMs: 0, poolSize: 0 }, 0, 0],
    [{ clientTimeoutMs: "65535", poolSize: "255" }, 65535, 255],
    [{ clientTimeoutMs: null, poolSize: 1 }, null, 1],
  ])("with %j", (more, clientTimeoutMs, poolSize) => {
    expect(decodeJson(tail(more))).toMatchObject({ version: "v0-tail", clientTimeoutMs, poolSize });
  });

  it.each<[string, Json, string]>([
    ["clientTimeoutMs", "", 'clientTimeoutMs: expected an integer of 0 to 65535, got ""'],
    ["poolSize", {}, "poolSize: expected an integer of 0 to 255, got an object"],
  ])("%s may not be %j", (path, member, fault) => {
    expect(faultsOf(() => decodeJson(withMember(tail(), path, member)))).toContain(fault);
  });

  it("of v2 and v3 has neither", () => {
    for (const version of ["v2", "v3"] as const)
      expect(faultsOf(() => decodeJson({ ...manifestJson(version), poolSize: 1 }))).toBe("poolSize: unknown member");
  });
});

describe.each(["v0", "v0-tail"] as const)("an envelope of %s in JSON", (version) => {
  const snake = envelopeJson(version);
  const { manifest_set_approvals, share_set_approvals, manifest } = snake;
  const camel = { manifest, manifestSetApprovals: manifest_set_approvals, shareSetApprovals: share_set_approvals };
  const decode = (value: Json): unknown => decodeManifestEnvelope(jsonBytes(value));

  it("has its approvals in either spelling", () => {
    expect(decode(snake)).toMatchObject({ manifest: { version }, shareSetApprovals: [] });
    expect(decode(camel)).toEqual(decode(snake));
  });
});

/**
 * What v0 reads as one approval, v0-tail reads as a timeout of 0, no pool size, and one approval. v0: a signature of
 * one byte, an alias of 3, a key of 768. v0-tail: a signature of 768 bytes, no alias, no key.
 */
it("borsh that is an envelope of v0 and of v0-tail is refused", () => {
  const lists = join(hex("01000000 01000000"), hex("00 03000000 000000 00030000"), new Uint8Array(768 + 4));
  const twin = join(v0, lists);
  expect(faultsOf(() => decodeManifestEnvelope(twin))).toBe(
    "ambiguous: the bytes are both a v0 and a v0-tail encoding",
  );
  const envelope = { manifest: decodeManifest(v0), shareSetApprovals: [] };
  const approval = { signature: hex("00"), member: { alias: "\0\0\0", pubKey: new Uint8Array(768) } };
  expect(encodeBorshEnvelope({ ...envelope, manifestSetApprovals: [approval] })).toEqual(twin);
});
