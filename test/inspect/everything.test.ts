/** An inspection shows the whole content of a file. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { toUtf8 } from "../../src/bytes.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { MANIFEST_VERSIONS } from "../../src/decode/manifest/index.js";
import type { EvidenceKind } from "../../src/inspect/kinds.js";
import { inspectUnverified } from "../../src/inspect/inspect.js";
import { renderInspection } from "../../src/inspect/text.js";
import { NO_POLICY_ANY_ENCLAVE, parseTrustAnchor, verifyEvidence } from "../../src/index.js";
import { packBundle, packEvidence } from "../../src/bundle/index.js";
import { pinPolicy } from "../../src/author/index.js";
import { Forge, forgeEvidence } from "../../src/lab/forge.js";
import { LabSigstore } from "../../src/lab/sigstore.js";
import { renderJson } from "../../src/report/json.js";
import { type CborInput, encodeCbor } from "../support/cbor.js";
import { payloadWith } from "../support/document.js";
import { envelopeJson, manifestJson } from "../support/manifest.js";
import { fc } from "../support/property.js";
import { DETAIL_FORMS, detailsOf } from "../support/provisioning.js";

const VECTORS = new URL("../../test-vectors/", import.meta.url);
const lab = new Forge();
const at = new Date("2026-03-04T05:06:07.000Z");
const live = forgeEvidence({ lab, at });
const sigstore = new LabSigstore();
const any = { policy: NO_POLICY_ANY_ENCLAVE, now: at } as const;
const evidence = { bootProofs: [live.bootProof], activity: live.activity };
const provenance = JSON.parse(sigstore.attest({ at, digest: lab.pivotHash })) as JsonObject;
const { report, bootProofs } = await verifyEvidence(evidence, {
  ...any,
  trustAnchors: [parseTrustAnchor("lab", live.anchorPem)],
});
const policy = pinPolicy(bootProofs[0]!);
const { bundle } = await packBundle(evidence, { policy, now: at });
const asJson = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;

/** The shown content, as read from its JSON. */
async function shown(bytes: Uint8Array): Promise<{ kind: EvidenceKind; faults: string[]; says: JsonValue }> {
  const inspection = await inspectUnverified(bytes);
  return JSON.parse(renderJson(inspection!)) as { kind: EvidenceKind; faults: string[]; says: JsonValue };
}

const known: readonly (readonly [EvidenceKind, JsonValue])[] = [
  ["boot proof", asJson(live.bootProof)],
  ["boot proof", asJson({ bootProof: live.bootProof })],
  ...DETAIL_FORMS.map((form) => ["boot proof", asJson(detailsOf(live.bootProof, form))] as const),
  ["boot proofs", asJson([live.bootProof, { bootProof: live.bootProof }])],
  ["boot proofs", asJson({ bootProofs: [live.bootProof] })],
  ["app proof", asJson(live.appProofs[0])],
  ["app proof", asJson({ appProof: live.appProofs[0] })],
  ["app proofs", asJson(live.appProofs)],
  ["app proofs", asJson({ appProofs: live.appProofs })],
  ["activity", asJson(live.activity)],
  ["activity", asJson({ activity: live.activity })],
  ["activity", asJson({ ...live.activity, result: { activity: live.activity } })],
  ...MANIFEST_VERSIONS.flatMap((version): [EvidenceKind, JsonValue][] => [
    ["manifest", asJson(manifestJson(version))],
    ["manifest envelope", asJson(envelopeJson(version))],
  ]),
  ["bundle", asJson(bundle)],
  ["bundle", asJson(packEvidence(evidence))],
  ["policy", asJson(policy)],
  ["provenance bundle", provenance],
  ["trusted root", sigstore.trustedRoot],
  ["report", asJson(report)],
  ["request", { type: "ACTIVITY_TYPE_X", timestampMs: "1", organizationId: "o", parameters: { a: [{ b: 1 }] } }],
  ["release", { version: "r1", signer: { appBinaryDigest: "00", PCR0: "11" } }],
];

/** Shown as they are. */
const UNCHANGED: readonly EvidenceKind[] = ["report", "request", "release", "trusted root"];

/** Every object of a value, with the steps that lead to it. */
function objectsIn(value: JsonValue, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [];
  const inside = Object.entries(value as JsonObject).flatMap(([name, item]) =>
    objectsIn(item, [...path, Array.isArray(value) ? Number(name) : name]),
  );
  return Array.isArray(value) ? inside : [path, ...inside];
}

/** A copy of the value with one more member in the object at the path. */
function withExtra(value: JsonValue, path: readonly (string | number)[], name: string, extra: JsonValue): JsonValue {
  const copy = structuredClone(value);
  const holder = path.reduce<JsonValue>((part, step) => (part as JsonObject)[step as string]!, copy);
  Object.defineProperty(holder, name, { value: extra, enumerable: true, configurable: true, writable: true });
  return copy;
}

/** Whether it contains a member of that name and value. */
function holds(value: JsonValue, name: string, member: string): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value as JsonObject).some(
    ([own, item]) => (own === name && JSON.stringify(item) === member) || holds(item, name, member),
  );
}

describe("a member that no reader knows", () => {
  const names = fc.oneof(
    fc.constantFrom("__proto__", "constructor", "toString", "x", "", "0", "[0]", "a.b", "(left out)", "Owner"),
    fc.string({ maxLength: 12 }),
  );
  it("is shown under its own name at any place", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...known),
        fc.nat(),
        names,
        fc.jsonValue(),
        async ([, value], nth, name, json) => {
          const places = objectsIn(value);
          const place = places[nth % places.length]!;
          const holder = place.reduce<JsonValue>((part, step) => (part as JsonObject)[step as string]!, value);
          fc.pre(!Object.hasOwn(holder as JsonObject, name));
          // Objects with data as names, and applications of a release, are shown unchanged.
          const extra = JSON.parse(JSON.stringify(json)) as JsonValue;
          const { says } = await shown(toUtf8(JSON.stringify(withExtra(value, place, name, extra))));
          expect(holds(says, name, JSON.stringify(extra))).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it.each(known.map(([kind, value], index) => [`${kind} [${index}]`, kind, value] as const))(
    "changes nothing of what else is shown: %s",
    async (_, kind, value) => {
      const plain = await shown(toUtf8(JSON.stringify(value)));
      expect(plain.kind).toBe(kind);
      expect(JSON.stringify(plain.says)).not.toMatch(/\((?:unknown members|could not be read|beside it|left out)\)/);
      const place = kind.endsWith("s") && kind !== "certificates" ? objectsIn(value)[0]! : [];
      const more = await shown(toUtf8(JSON.stringify(withExtra(value, place, "x-more", "there"))));
      expect(more.kind).toBe(kind);
      expect(JSON.stringify(more.says)).toContain('"x-more":"there"');
      // Unknown members are shown unchanged. In a policy or a strict manifest they are faults.
      const isMarked = /"\((?:unknown members|beside it)\)":\{"x-more":"there"\}/.test(JSON.stringify(more.says));
      const isFault = more.faults.some((fault) => fault.includes("x-more: unknown member"));
      expect(isMarked || isFault).toBe(!UNCHANGED.includes(kind));
    },
  );

  it("keeps number literals and reports those that no double holds", async () => {
    const text = JSON.stringify(live.bootProof).replace("{", '{"x":[9007199254740993,1e999,0.10],');
    const { says, faults } = await shown(toUtf8(text));
    expect(says).toHaveProperty("(unknown members)", { x: ["9007199254740993", "1e999", 0.1] });
    expect(faults).toEqual([expect.stringContaining("x[0]: 9007199254740993"), expect.stringContaining("x[1]: 1e999")]);
  });
});

describe("a member with an invalid value", () => {
  it.each<[kind: string, value: unknown, name: string, wrong: JsonValue]>([
    ["boot proof", live.bootProof, "ephemeralPublicKeyHex", "zz"],
    ["boot proof", live.bootProof, "cloudAttestationDocB64", "AAAA"],
    ["boot proof", live.bootProof, "cloudAttestationDocB64", { a: 1 }],
    ["boot proof", live.bootProof, "awsAttestationDocB64", "another"],
    ["boot proof", live.bootProof, "qosManifestB64", "AAAA"],
    ["boot proof", live.bootProof, "qosManifestEnvelopeB64", "not base64"],
    ["boot proof", live.bootProof, "owner", 7],
    ["boot proof", live.bootProof, "createdAt", [1, 2]],
    ["boot proof", live.bootProof, "createdAt", { seconds: "1", nanos: "x", more: 1 }],
    ["boot proof", live.bootProof, "qosManifestVersion", 2],
    ["app proof", live.appProofs[0], "scheme", 1],
    ["app proof", live.appProofs[0], "publicKey", "00"],
    ["app proof", live.appProofs[0], "proofPayload", { type: "x" }],
    ["app proof", live.appProofs[0], "signature", null],
    ["activity", live.activity, "id", 7],
    ["activity", live.activity, "intent", "x"],
    ["activity", live.activity, "appProofs", "none"],
    ["manifest", manifestJson("v2"), "namespace", "x"],
    ["manifest", manifestJson("v1"), "manifestSet", { threshold: 1, members: [7] }],
    ["provenance bundle", provenance, "dsseEnvelope", { payload: "%%" }],
    ["provenance bundle", provenance, "verificationMaterial", { certificate: { rawBytes: "AAAA" } }],
    ["bundle", bundle, "bootProofs", "x"],
    ["bundle", bundle, "activity", [1]],
    ["bundle", bundle, "policy", [{ a: 1 }]],
    ["bundle", bundle, "report", "x"],
    ["policy", policy, "deployments", "x"],
    ["policy", policy, "trustAnchors", [{ pem: "x" }]],
  ])("is shown as it stands: %s", async (_, value, name, wrong) => {
    const { says, faults } = await shown(toUtf8(JSON.stringify({ ...(value as object), [name]: wrong })));
    const there = [name, "(could not be read)"].some((under) => holds(says, under, JSON.stringify(wrong)));
    expect(there).toBe(true);
    expect(faults).not.toEqual([]);
  });

  it("is an entry of a list as well", async () => {
    const { says } = await shown(toUtf8(JSON.stringify({ ...live.activity, appProofs: [7, { scheme: "x", y: "z" }] })));
    expect(says).toMatchObject({
      appProofs: [
        { "(could not be read)": 7 },
        { "(could not be read)": { scheme: "x" }, "(unknown members)": { y: "z" } },
      ],
    });
  });
});

describe("an attestation document", () => {
  const documentOf = (changes: Readonly<Record<string, CborInput | undefined>>, unprotected = new Map()): Uint8Array =>
    encodeCbor([Uint8Array.of(0xa1, 1, 0x38, 34), unprotected, payloadWith(changes), new Uint8Array(96).fill(9)]);

  it("is shown with unknown keys and their values, bytes in hex", async () => {
    const extra = new Map<CborInput, CborInput>([
      ["a", 1n],
      [2, [Uint8Array.of(0xab, 0xcd), null, true, "text", 2n ** 60n]],
    ]);
    const { says, faults } = await shown(documentOf({ extra, other: Uint8Array.of(0xde, 0xad), nitrotpm_pcrs: "x" }));
    expect((says as JsonObject)["(unknown members)"]).toEqual({
      extra: { a: 1, "(2)": ["abcd", null, true, "text", "1152921504606846976"] },
      other: "dead",
      nitrotpm_pcrs: "x",
    });
    expect(faults).toContain('unknown key "other"');
    expect(renderInspection((await inspectUnverified(documentOf({ other: Uint8Array.of(0xde, 0xad) })))!)).toContain(
      "dead",
    );
  });

  it("is shown with its signature and headers", async () => {
    const { says } = await shown(documentOf({}, new Map([[4, Uint8Array.of(0xfe)]])));
    expect(says).toMatchObject({
      protectedHeader: "a1013822",
      unprotectedHeader: { "(4)": "fe" },
      signature: "09".repeat(96),
    });
    expect((await shown(live.document)).says).not.toHaveProperty("unprotectedHeader");
  });

  it("is shown with invalid fields", async () => {
    const pcrs = new Map<CborInput, CborInput>([
      [0, new Uint8Array(48).fill(1)],
      [1, Uint8Array.of(0xaa)],
    ]);
    const { says } = await shown(documentOf({ pcrs, nonce: "text", cabundle: [Uint8Array.of(0xbb)] }));
    expect(says).toMatchObject({
      pcrs: { "0": "01".repeat(48) },
      "(could not be read)": { pcrs: { "(0)": "01".repeat(48), "(1)": "aa" }, nonce: "text", cabundle: ["bb"] },
    });
    expect((await shown(live.document)).says).not.toHaveProperty("(could not be read)");
  });

  it("shows a payload that is not CBOR as hex", async () => {
    const bytes = encodeCbor([
      Uint8Array.of(0xa1, 1, 0x38, 34),
      new Map(),
      Uint8Array.of(0xff, 0xee),
      new Uint8Array(96),
    ]);
    expect((await shown(bytes)).says).toMatchObject({ "(could not be read)": "ffee" });
  });
});

describe("a certificate", () => {
  it("of a manifest is shown by its hash if it is the AWS root, otherwise completely", async () => {
    const manifest = manifestJson("v2") as { enclave: { awsRootCertificate: string } };
    const other = { ...manifest, enclave: { ...manifest.enclave, awsRootCertificate: "abcdef" } };
    expect((await shown(toUtf8(JSON.stringify(other)))).says).toMatchObject({
      enclave: { awsRootCertificate: "abcdef" },
    });
    const genuine = await shown(new Uint8Array(readFileSync(new URL("boot-proofs/bootproof-1.json", VECTORS))));
    expect(JSON.stringify(genuine.says)).not.toContain('"awsRootCertificate"');
  });
});

describe("an omitted value", () => {
  const MANY = 60_000;
  it("is counted at its place and in `leftOut`", async () => {
    const inspection = await inspectUnverified(
      toUtf8(`{"type":"ACTIVITY_TYPE_X","parameters":{"a":[${Array<string>(MANY).fill("1").join()}],"b":1},"c":2}`),
    );
    const { parameters } = inspection!.says as unknown as { parameters: { a: unknown[] } };
    const left = MANY - (parameters.a.length - 1);
    expect(parameters.a.at(-1)).toBe(`and ${left} more`);
    expect(inspection!.leftOut).toEqual([
      `parameters.a: ${left} of ${MANY} entries`,
      "parameters: 1 of 2 members",
      "1 of 3 members",
    ]);
    expect(inspection!.says).toMatchObject({ "(left out)": "1 more" });
    const [, , , , first, second] = renderInspection(inspection!).split("\n");
    expect(first).toBe(`!  left out, because there are too many values: parameters.a: ${left} of ${MANY}`);
    expect(second).toBe("   entries");
  });

  it("is counted in faults if there are too many pieces", async () => {
    const { faults, says } = await shown(toUtf8(JSON.stringify(Array(300).fill({ qosManifestB64: "" }))));
    expect(faults.at(-1)).toBe("300 entries, of which the first 256 are shown");
    expect(says).toHaveLength(256);
  });

  it("is never a text, whatever its length", async () => {
    const words = "a ".repeat(3_000_000);
    const inspection = await inspectUnverified(toUtf8(JSON.stringify({ format: "bootproof-report/1", words })));
    expect(renderInspection(inspection!).replace(/[^a]/g, "").length).toBeGreaterThan(3_000_000);
  });

  it("does not exist if everything is shown", async () => {
    expect((await inspectUnverified(toUtf8(JSON.stringify(live.bootProof))))!.leftOut).toEqual([]);
  });
});

describe("at any width", () => {
  it.each(known.map(([kind, value], index) => [`${kind} [${index}]`, value] as const))(
    "every line fits, and every hash is there in full: %s",
    async (_, value) => {
      const bytes = toUtf8(JSON.stringify(withExtra(value, [], "x".repeat(70), { ["y".repeat(90)]: "z".repeat(300) })));
      const inspection = (await inspectUnverified(Array.isArray(value) ? toUtf8(JSON.stringify(value)) : bytes))!;
      for (const width of [undefined, 60, 200]) {
        const text = renderInspection(inspection, { color: false, ...(width !== undefined && { width }) });
        const most = width ?? 80;
        expect(text.split("\n").filter((line) => line.length > most)).toEqual([]);
        const joined = text.replace(/\s+/g, "");
        for (const hex of JSON.stringify(inspection.says).match(/(?<=")[0-9a-f]{32,}(?=")/g) ?? [])
          if (!/^0+$/.test(hex)) expect(joined).toContain(hex);
      }
    },
  );
});
