/** The rules of v2 alone. */
import { describe, expect, it } from "vitest";
import { fromUtf8 } from "../../../src/bytes.js";
import {
  type Manifest,
  type ManifestEnvelope,
  decodeManifest,
  decodeManifestEnvelope,
  manifestHashInput,
} from "../../../src/decode/manifest/index.js";
import { faultsOf, refusalOf } from "../../support/faults.js";
import { type Json, envelopeJson, jsonBytes, manifestJson, withMember, withPivot } from "../../support/manifest.js";

const decodeJson = (value: Json): Manifest => decodeManifest(jsonBytes(value));
const decodeEnvelopeJson = (value: Json): ManifestEnvelope => decodeManifestEnvelope(jsonBytes(value));
const v2With = (path: string, member: Json): Json => withMember(manifestJson("v2"), path, member);
const canonical = (value: Json): Json => JSON.parse(fromUtf8(manifestHashInput(decodeJson(value)))!);
const plain = (value: Json): Json => ({ plain: { value } });

describe("unknown members", () => {
  it.each([
    ["extra", null],
    ["Namespace", {}],
    ["env", {}],
    ["pivot.extra", 1],
    ["pivot.dns", {}],
    ["pivot.patchSet", null],
    ["dns.extra", 1],
  ])("%s is refused", (path, member) => {
    expect(refusalOf(() => decodeJson(v2With(path, member)))).toMatchObject({
      code: "manifest",
      faults: `${path}: unknown member`,
    });
    const envelope = { ...envelopeJson("v2"), manifest: v2With(path, member) };
    expect(refusalOf(() => decodeEnvelopeJson(envelope))).toMatchObject({
      code: "manifest-envelope",
      faults: `manifest.${path}: unknown member`,
    });
  });

  it.each(["extra", "manifest_set_approvals", "share_set_approvals", "approvals"])(
    "%s of an envelope is refused",
    (name) => {
      expect(faultsOf(() => decodeEnvelopeJson({ ...envelopeJson("v2"), [name]: [] }))).toBe(`${name}: unknown member`);
    },
  );

  it.each(["namespace.extra", "enclave.extra", "manifestSet.extra", "manifestSet.members.0.extra"])(
    "%s elsewhere is not read",
    (path) => {
      expect(decodeJson(v2With(path, 1))).toEqual(decodeJson(manifestJson("v2")));
    },
  );
});

describe("env", () => {
  it("may be absent, null or empty, and is then left out of what is hashed", () => {
    const without = canonical(manifestJson("v2"));
    expect(without.pivot).not.toHaveProperty("env");
    for (const env of [null, {}]) expect(canonical(v2With("pivot.env", env))).toEqual(without);
    expect(canonical(v2With("pivot.env", { A: plain("") })).pivot.env).toEqual({ A: plain("") });
  });

  it("keeps a variable called __proto__", () => {
    const text = JSON.stringify(v2With("pivot.env", { A: plain("1") })).replace(
      '"A":',
      '"__proto__":{"plain":{"value":"p"}},"A":',
    );
    const manifest = decodeManifest(new TextEncoder().encode(text));
    expect([...withPivot(manifest).pivot.env!.keys()]).toEqual(["__proto__", "A"]);
    expect(fromUtf8(manifestHashInput(manifest))).toContain(
      '"env":{"A":{"plain":{"value":"1"}},"__proto__":{"plain":{"value":"p"}}}',
    );
  });

  it.each<[string, Json]>([
    ["a name with a space", { "A ": plain("v") }],
    ["a name with =", { "A=B": plain("v") }],
    ["a name with a line end", { "A\n": plain("v") }],
    ["a name with a dot", { "A.B": plain("v") }],
    ["NUL in a name", { "A\0": plain("v") }],
  ])("refuses %s", (_, env) => {
    expect(faultsOf(() => decodeJson(v2With("pivot.env", env)))).toContain("not a name of an environment variable");
  });

  it.each<[string, Json, string]>([
    ["text", "A=1", "pivot.env: expected an object, got a string"],
    ["a bare value", { A: "1" }, "pivot.env.A: expected an object, got a string"],
    ["no value", { A: { plain: {} } }, "pivot.env.A.plain.value: expected a string, got nothing"],
    ["a value that is a number", { A: plain(1) }, "pivot.env.A.plain.value: expected a string, got a number"],
    ["a null value", { A: plain(null) }, "pivot.env.A.plain.value: expected a string, got nothing"],
    ["more beside the value", { A: { plain: { value: "v", more: 1 } } }, "pivot.env.A.plain.more: unknown member"],
  ])("refuses %s", (_, env, fault) => {
    expect(faultsOf(() => decodeJson(v2With("pivot.env", env)))).toContain(fault);
  });

  it("takes a value of 64 KiB, and 512 entries", () => {
    const env = Object.fromEntries(Array.from({ length: 512 }, (_, index) => [`A${index}`, plain("")]));
    expect(withPivot(decodeJson(v2With("pivot.env", env))).pivot.env?.size).toBe(512);
    expect(
      withPivot(decodeJson(v2With("pivot.env", { A: plain("é".repeat(32768)) }))).pivot.env?.get("A"),
    ).toHaveLength(32768);
  });
});

describe("dns", () => {
  it("may be absent or null, and is then left out of what is hashed", () => {
    const without = canonical(v2With("dns", undefined));
    expect(without).not.toHaveProperty("dns");
    expect(canonical(v2With("dns", null))).toEqual(without);
    expect(decodeJson(v2With("dns", null))).not.toHaveProperty("dns");
  });

  it("keeps its resolvers in order, each in its short form", () => {
    const resolvers = ["2001:0DB8:0:0:0:0:0:1", "1.1.1.1", "::FFFF:1.2.3.4"];
    expect(canonical(v2With("dns", { resolvers })).dns).toEqual({
      resolvers: ["2001:db8::1", "1.1.1.1", "::ffff:1.2.3.4"],
    });
    expect(canonical(v2With("dns", { resolvers: [] })).dns).toEqual({ resolvers: [] });
  });

  it.each<[string, Json, string]>([
    ["an array", ["1.1.1.1"], "dns: expected an object, got an array"],
    ["null resolvers", { resolvers: null }, "dns.resolvers: expected an array, got nothing"],
    ["one resolver", { resolvers: "1.1.1.1" }, "dns.resolvers: expected an array, got a string"],
    ["null", { resolvers: [null] }, "dns.resolvers[0]: not an IP address"],
  ])("refuses %s", (_, dns, fault) => {
    expect(faultsOf(() => decodeJson(v2With("dns", dns)))).toContain(fault);
  });
});

describe("what is hashed", () => {
  it("has every member, and nothing more", () => {
    const manifest = manifestJson("v2");
    const text = canonical(manifest);
    const asStrings = (value: Json): Json =>
      JSON.parse(JSON.stringify(value, (_, member: unknown) => (typeof member === "number" ? String(member) : member)));
    expect(text).toEqual(asStrings(manifest));
  });
});
