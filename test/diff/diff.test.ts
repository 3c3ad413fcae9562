import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import { decodeCbor } from "../../src/decode/cbor.js";
import { decodeCoseSign1 } from "../../src/decode/cose-sign1.js";
import { MANIFEST_VERSIONS, type PivotManifest, manifestEncodings } from "../../src/decode/manifest/index.js";
import { type Difference, diffUnverified } from "../../src/diff/diff.js";
import { MalformedError } from "../../src/errors.js";
import { Forge, type ManifestAlterations, forgeEvidence, labDeployment } from "../../src/lab/forge.js";
import type { ExtensionSpec } from "../../src/lab/pki.js";
import { type LabBuild, LabSigstore } from "../../src/lab/sigstore.js";
import { type CborInput, encodeCbor } from "../support/cbor.js";
import { fc, runs } from "../support/property.js";
import { AT, bootProof, file, lab, policy, policyOf, told, toldOf } from "./support.js";
import { DETAIL_FORMS, decodeServiceForm, detailsOf } from "../support/provisioning.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import { IS_LONG } from "../support/long.js";

const VECTORS = new URL("../../test-vectors/", import.meta.url);
const read = (path: string): Uint8Array => new Uint8Array(readFileSync(new URL(path, VECTORS)));
const parsed = (bytes: Uint8Array): Loose => JSON.parse(new TextDecoder().decode(bytes)) as Loose;
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any;

const BOOT_1 = read("boot-proofs/bootproof-1.json");
const forged = forgeEvidence({ lab, at: AT });
const boot = decodeServiceForm(forged.bootProof);
const application = { appBinaryDigest: "ab".repeat(32), PCR0: "01".repeat(48), PCR3: "02".repeat(48) };
const bundle = file({
  bundle: "bootproof-bundle/1",
  now: AT.toISOString(),
  bootProofs: [forged.bootProof],
  appProofs: forged.appProofs,
  activity: forged.activity,
  policy: parsed(policy()),
  report: { verdict: "verified", checks: [{ id: "cose.signature", status: "pass" }] },
});

/** Genuine inputs of each kind. */
const GENUINE: readonly (readonly [name: string, bytes: Uint8Array])[] = [
  ["a captured boot proof", BOOT_1],
  ["a captured boot proof of 2026", read("boot-proofs/tvc-provisioning-20260630.json")],
  ...MANIFEST_VERSIONS.flatMap((version) =>
    manifestEncodings(version).map(
      (encoding) => [`a boot proof of ${version} in ${encoding}`, bootProof({ version, encoding })] as const,
    ),
  ),
  ["a policy", policy({ maxAge: "1d", appProofs: { required: true } })],
  ["a bundle", bundle],
  ["a release", file({ version: "1", signer: application, other: application })],
];

/** The place of a leaf. */
type Path = readonly (string | number)[];

function leavesOf(value: Loose, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.keys(value as object).flatMap((name) =>
    leavesOf(value[name], [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

/** The value with one leaf changed to another of its form. */
function mutated(value: Loose, path: Path): Loose {
  const copy = structuredClone(value);
  const holder = path.slice(0, -1).reduce<Loose>((at, step) => at[step], copy);
  const last = path.at(-1)!;
  holder[last] = another(holder[last]);
  return copy;
}

function another(leaf: unknown): unknown {
  if (typeof leaf === "boolean") return !leaf;
  if (typeof leaf === "number") return leaf + 1;
  if (leaf === null) return "something";
  const text = String(leaf);
  const at = text.length >> 1;
  // A digit stays a digit, a letter a letter.
  const next = text[at] === "1" ? "2" : "1";
  return /^[0-9]$/.test(text[at] ?? "") ? text.slice(0, at) + next + text.slice(at + 1) : `${text}x`;
}

const DOCUMENT = "awsAttestationDocB64";
const EMBEDDED: Readonly<Record<string, string>> = {
  [DOCUMENT]: "attestationDocument",
  cloudAttestationDocB64: "attestationDocument",
  qosManifestB64: "manifest",
  qosManifestEnvelopeB64: "manifestEnvelope",
};

async function differenceOrFaults(a: Uint8Array, b: Uint8Array): Promise<Difference | string[]> {
  try {
    return await diffUnverified(a, b);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return error.faults.map(({ path }) => path);
  }
}

const placesOf = ({ changes }: Difference): string[] => changes.flatMap(({ place, also }) => [place, ...also]);

/** The name of the outermost member that a place lies in, or of the one that holds it. */
function names(places: readonly string[], path: Path): boolean {
  const steps = path.map((step) => (typeof step === "string" ? (EMBEDDED[step] ?? step) : `[${step}]`));
  const [first = ""] = steps;
  return places.some((place) => place.startsWith(String(first)));
}

/** Of evidence with more leaves every fourth is changed, or each where `BOOTPROOF_TESTS=long`. */
const MANY = 60;
const EACH = IS_LONG ? 1 : 4;

describe("a single changed leaf", () => {
  it.each(GENUINE)("of %s: different, and the place is named", async (_, bytes) => {
    const value = parsed(bytes);
    let different = 0;
    const leaves = leavesOf(value);
    const some = leaves.length > MANY ? leaves.filter((_, index) => index % EACH === 0) : leaves;
    for (const path of some) {
      const answer = await differenceOrFaults(bytes, file(mutated(value, path)));
      if (Array.isArray(answer)) continue;
      different++;
      expect(answer.same, path.join(".")).toBe(false);
      expect(names(placesOf(answer), path), `${path.join(".")}: ${placesOf(answer).join(", ")}`).toBe(true);
    }
    expect(different).toBeGreaterThan(some.length / 4);
  });

  const inside = [
    "version",
    "namespace",
    "manifestSet",
    "shareSet",
    "enclave",
    "pivot",
    "workloads",
    "volumes",
    "dns",
    "patchSet",
  ];
  const tail = ["clientTimeoutMs", "poolSize"];

  it.each(MANIFEST_VERSIONS)("of a JSON manifest %s", async (version) => {
    const evidence = forgeEvidence({ lab, at: AT, version, encoding: "json", spelling: { numbers: "number" } });
    const { manifest } = decodeServiceForm(evidence.bootProof);
    const value = parsed(manifest);
    let different = 0;
    for (const path of leavesOf(value)) {
      const answer = await differenceOrFaults(manifest, file(mutated(value, path)));
      if (Array.isArray(answer)) continue;
      different++;
      expect([answer.same, answer.kind], path.join(".")).toEqual([false, "manifest"]);
      // Down to the entry, which goes by a key in some lists.
      const [first, second] = path;
      const place = typeof second === "string" ? `${first!}.${second}` : String(first);
      expect(
        placesOf(answer).some((one) => one.startsWith(place) || place.startsWith(`${one}.`)),
        `${place}: ${placesOf(answer).join()}`,
      ).toBe(true);
      expect([...inside, ...tail]).toContain(first);
    }
    expect(different).toBeGreaterThan(20);
  });

  it("of a document, beside those that the table of changes has", async () => {
    const { payload, protectedHeader, signature } = decodeCoseSign1(forged.document);
    const fields = decodeCbor(payload, { indefiniteOutermostMap: true }) as unknown as Map<string, Loose>;
    const flipped = (bytes: Uint8Array): Uint8Array =>
      bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte));
    const cose = (changed: Map<string, Loose>): Uint8Array =>
      encodeCbor([protectedHeader, new Map(), encodeCbor(changed as unknown as CborInput), signature]);
    const whole = cose(fields);
    const changes: [string, Uint8Array][] = [
      ["unknown", cose(new Map(fields).set("unknown", 1n))],
      ["(COSE).unprotected", encodeCbor([protectedHeader, new Map([[1, 2]]), encodeCbor(fields as never), signature])],
      [
        "(COSE).unprotected",
        encodeCbor([
          protectedHeader,
          new Map([[Uint8Array.of(7, 8), 1]]) as never,
          encodeCbor(fields as never),
          signature,
        ]),
      ],
      ...(fields.get("cabundle") as Uint8Array[]).map((_, index): [string, Uint8Array] => [
        "cabundle",
        cose(
          new Map(fields).set(
            "cabundle",
            (fields.get("cabundle") as Uint8Array[]).map((one, at) => (at === index ? flipped(one) : one)),
          ),
        ),
      ]),
    ];
    expect((await diffUnverified(whole, whole)).same).toBe(true);
    for (const [place, changed] of changes) {
      const difference = await diffUnverified(whole, changed);
      expect([difference.same, difference.kind], place).toEqual([false, "attestation document"]);
      expect(
        placesOf(difference).some((one) => one.startsWith(place)),
        `${place}: ${placesOf(difference).join()}`,
      ).toBe(true);
    }
  });
});

it("intermediate certificates in another order are told as that", async () => {
  const { payload, protectedHeader, signature } = decodeCoseSign1(forged.document);
  const fields = decodeCbor(payload, { indefiniteOutermostMap: true }) as unknown as Map<string, Loose>;
  const [root, ...others] = fields.get("cabundle") as Uint8Array[];
  const reordered = new Map(fields).set("cabundle", [root, ...others.reverse()]);
  const encoded = (one: Map<string, Loose>): Uint8Array =>
    encodeCbor([protectedHeader, new Map(), encodeCbor(one as unknown as CborInput), signature]);
  const { changes } = await diffUnverified(encoded(fields), encoded(reordered));
  expect(others.length).toBeGreaterThan(1);
  expect(changes.map(({ what, place }) => [what, place])).toEqual([["order", "cabundle"]]);
});

describe("any two inputs", () => {
  it.each(GENUINE)("are the same where they are one: %s", async (_, bytes) => {
    expect(await diffUnverified(bytes, bytes)).toMatchObject({ same: true, changes: [], leftOut: 0 });
  });

  it("are compared in both directions alike", async () => {
    for (const [, bytes] of GENUINE) {
      const value = parsed(bytes);
      const leaves = leavesOf(value);
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.nat({ max: leaves.length - 1 }), { minLength: 1, maxLength: 3 }),
          async (picked) => {
            const other = file(picked.reduce<Loose>((one, index) => mutated(one, leaves[index]!), value));
            const [there, back] = [await differenceOrFaults(bytes, other), await differenceOrFaults(other, bytes)];
            expect(Array.isArray(there)).toBe(Array.isArray(back));
            if (Array.isArray(there) || Array.isArray(back)) return;
            expect(there.same).toBe(back.same);
            const sides = (difference: Difference, swap: boolean): string[] =>
              difference.changes
                .map(({ what, before, after }) => JSON.stringify([what, ...(swap ? [after, before] : [before, after])]))
                .sort();
            expect(sides(there, false)).toEqual(sides(back, true));
          },
        ),
        { numRuns: runs(6) },
      );
    }
  });
});

describe("inputs that are written differently", () => {
  const spaced = (bytes: Uint8Array): Uint8Array => toUtf8(`\n${JSON.stringify(parsed(bytes), undefined, 3)}\n`);
  const reversed = (value: Loose): Loose => {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value as object)
        .reverse()
        .map(([name, member]) => [name, reversed(member)]),
    );
  };

  const provenance = toUtf8(new LabSigstore().attest({ at: AT, digest: lab.pivotHash }));
  it.each([...GENUINE, ["provenance", provenance] as const])(
    "in white space and the order of members: %s",
    async (_, bytes) => {
      expect((await diffUnverified(bytes, spaced(bytes))).same).toBe(true);
      expect((await diffUnverified(bytes, file(reversed(parsed(bytes))))).same).toBe(true);
    },
  );

  it("in the case of hex", async () => {
    const upper = (text: Loose): Loose => (text as string).toUpperCase();
    const proof = { ...forged.bootProof, ephemeralPublicKeyHex: upper(forged.bootProof["ephemeralPublicKeyHex"]) };
    expect((await diffUnverified(file(forged.bootProof), file(proof))).same).toBe(true);
    const spelled = forgeEvidence({ lab, at: AT, spelling: { hex: "upper" } }).bootProof;
    const lower = forgeEvidence({ lab, at: AT, spelling: { hex: "lower" } }).bootProof;
    const manifests = [spelled, lower].map((one) => decodeServiceForm(one).manifest);
    expect((await diffUnverified(manifests[0]!, manifests[1]!)).same).toBe(true);
    const pins = labDeployment(lab) as Loose;
    const shouted = { ...pins, pivotHash: upper(pins.pivotHash), pcrs: { ...pins.pcrs, 0: upper(pins.pcrs[0]) } };
    expect((await diffUnverified(policy(), policyOf([shouted]))).same).toBe(true);
    const release = file({ version: "1", signer: { ...application, PCR0: application.PCR0.toUpperCase() } });
    expect((await diffUnverified(file({ version: "1", signer: application }), release)).same).toBe(true);
  });

  it("but not for hex in the application's own text", async () => {
    const args = (text: string): Uint8Array =>
      bootProof({ alterManifest: { manifest: (one) => ({ ...one, pivot: { ...one.pivot, args: [text] } }) } });
    expect(await toldOf(args("abcd"), args("ABCD"))).toContain("arguments notable");
  });

  it("in base64 and hex around the same bytes", async () => {
    for (const bytes of [forged.document, boot.manifest, boot.manifestEnvelope]) {
      expect((await diffUnverified(bytes, toUtf8(`${toBase64(bytes)}\n`))).same).toBe(true);
      expect((await diffUnverified(toUtf8(toHex(bytes)), toUtf8(toBase64(bytes)))).same).toBe(true);
    }
  });

  it.each<[string, Uint8Array, Uint8Array]>([
    ["a number as text", withNonce("number"), withNonce("string")],
    ["hex after 0x", withHex("lower"), withHex("0x")],
    ["the other name of the document", file(forged.bootProof), file(aliased())],
    ["the wrapper", file(forged.bootProof), file({ bootProof: forged.bootProof })],
  ])("%s is the same content in another encoding", async (_, a, b) => {
    const { same, changes } = await diffUnverified(a, b);
    expect(same).toBe(false);
    expect(new Set(changes.map(({ what }) => what))).toEqual(new Set(["encoding"]));
  });

  it("a number's last digit is other content", async () => {
    const digits = ["12345678901234567890", "12345678901234567891"].map(numbered);
    expect(await toldOf(digits[0]!, digits[1]!)).toEqual(["other minor"]);
  });

  it("an encoding is named at its place, and not beside other changes", async () => {
    const { changes } = await diffUnverified(withNonce("number"), withNonce("string"));
    expect(changes.map(({ place }) => place)).toContain("namespace.nonce");
    expect(await toldOf(file({ ...forged.bootProof, owner: "x" }), file(aliased()))).toEqual(["labels minor"]);
  });
});

function withNonce(numbers: "number" | "string"): Uint8Array {
  return decodeServiceForm(forgeEvidence({ lab, at: AT, spelling: { numbers } }).bootProof).manifest;
}

function withHex(hex: "lower" | "0x"): Uint8Array {
  return decodeServiceForm(forgeEvidence({ lab, at: AT, spelling: { hex } }).bootProof).manifest;
}

function aliased(): object {
  const { cloudAttestationDocB64, ...rest } = forged.bootProof;
  return { ...rest, awsAttestationDocB64: cloudAttestationDocB64 };
}

/** An unknown number that no double distinguishes from its neighbour. */
function numbered(literal: string): Uint8Array {
  return toUtf8(JSON.stringify({ ...forged.bootProof, unknown: 0 }).replace('"unknown":0', `"unknown":${literal}`));
}

describe("two of a kind", () => {
  it("report a change of manifest, envelope and document once", async () => {
    const other = bootProof({
      alterManifest: { parts: (one) => ({ enclave: { ...one.enclave, pcr3: new Uint8Array(48).fill(3) } }) },
    });
    const roles = (await diffUnverified(bootProof(), other)).changes.filter(({ what }) => what === "role");
    expect(roles).toHaveLength(1);
    expect([roles[0]!.place, ...roles[0]!.also]).toEqual([
      "manifest.enclave.pcr3",
      "manifestEnvelope.manifest.enclave.pcr3",
    ]);
  });

  it("of borsh: an entry that leaves a list changes nothing else", async () => {
    const parts: ManifestAlterations["parts"] = ({ manifestSet }) => ({
      manifestSet: { ...manifestSet, members: manifestSet.members.slice(1) },
    });
    const [all, fewer] = [{}, { parts }].map((alterManifest) => {
      return decodeServiceForm(
        forgeEvidence({ lab, at: AT, version: "v1", encoding: "borsh", alterManifest }).bootProof,
      );
    });
    expect(await toldOf(all!.manifest, fewer!.manifest)).toEqual(["manifest-set.member notable"]);
    // The approvals are those of another manifest.
    expect(await toldOf(all!.manifestEnvelope, fewer!.manifestEnvelope)).not.toContain("other minor");
  });

  it("are listed worst first", async () => {
    const { changes } = await diffUnverified(
      read("boot-proofs/tvc-provisioning-20260422.json"),
      read("boot-proofs/tvc-provisioning-20260630.json"),
    );
    const order = ["critical", "notable", "minor"];
    const ranks = changes.map(({ severity }) => order.indexOf(severity));
    expect(ranks).toEqual([...ranks].sort());
    expect(changes[0]!.what).toBe("manifest-set.member");
  });

  it("call a lower nonce a roll-back within one namespace only", async () => {
    const moved = bootProof({
      alterManifest: { parts: ({ namespace }) => ({ namespace: { ...namespace, name: "b", nonce: 1 } }) },
    });
    expect(await toldOf(bootProof(), moved)).toEqual(
      expect.arrayContaining(["namespace critical", "manifest.nonce minor"]),
    );
  });
});

describe("two kinds", () => {
  it.each<[string, Uint8Array, string[], Uint8Array?]>([
    ["document", forged.document, ["attestationDocument"]],
    ["manifest", boot.manifest, ["manifest"]],
    ["envelope", boot.manifestEnvelope, ["manifestEnvelope"]],
    ["envelope's manifest", boot.manifestEnvelope, ["manifest"], boot.manifest],
  ])(
    "a boot proof and its own %s have the same in common",
    async (_, part, compared, whole = file(forged.bootProof)) => {
      expect(await diffUnverified(whole, part)).toMatchObject({ same: true, compared });
      expect(await diffUnverified(part, whole)).toMatchObject({ same: true, compared });
    },
  );

  it("a boot proof and another manifest", async () => {
    const other = decodeServiceForm(
      forgeEvidence({ lab: new Forge({ ...lab, namespace: { name: "lab/signer", nonce: 6 } }), at: AT }).bootProof,
    );
    const difference = await diffUnverified(file(forged.bootProof), other.manifest);
    expect(difference.kind).toBe("boot proof and manifest");
    expect(told(difference)).toEqual(["manifest.nonce critical"]);
  });

  it("a boot proof and another document: user data has no manifest to follow", async () => {
    const other = forgeEvidence({ lab: new Forge({ ...lab, namespace: { name: "lab/signer", nonce: 6 } }), at: AT });
    const proof = file(forged.bootProof);
    expect(await toldOf(proof, other.document)).toContain("document.user-data notable");
    expect(await toldOf(other.document, proof)).toContain("document.user-data notable");
  });

  it.each<[string, Uint8Array, Uint8Array, string]>([
    [
      "a document and a manifest",
      forged.document,
      boot.manifest,
      "a bare attestation document and a manifest cannot be compared",
    ],
    ["a manifest and a policy", boot.manifest, policy(), "a manifest and a policy cannot be compared"],
    ["a bundle and a policy", bundle, policy(), "a bundle and a policy cannot be compared"],
  ])("refuses %s", async (_, a, b, message) => {
    await expect(diffUnverified(a, b)).rejects.toThrow(message);
    await expect(diffUnverified(a, b)).rejects.toThrow(MalformedError);
  });
});

describe("refuses", () => {
  it("both that are malformed, each by its name", async () => {
    const faults = await differenceOrFaults(
      policy({ unknown: 1 }),
      file({ ...forged.bootProof, qosManifestB64: "AAAA" }),
    );
    expect(faults).toEqual(["a: unknown", "b: manifest"]);
  });

  it.each<[string, Uint8Array, string]>([
    ["an app proof", file(forged.appProofs[0]), "this is an app proof; what can be compared: boot proof, "],
    ["a list of app proofs", file(forged.appProofs), "these are app proofs"],
    ["nothing known", toUtf8("hello"), "not recognised"],
    ["broken JSON", toUtf8("{"), "expected a member name"],
    ["an empty file", new Uint8Array(), "malformed diff"],
    ["a release in YAML that nothing reads", read("releases/r2025.9.3.yaml"), "which needs the option readYaml"],
    ["a bundle with a bad boot proof", file({ ...parsed(bundle), bootProofs: [{}] }), "bootProofs[0]"],
    ["a policy that opens everything", policyOf([{}]), "leaves the image open"],
  ])("%s", async (_, bytes, message) => {
    await expect(diffUnverified(bytes, bytes)).rejects.toThrow(message);
  });
});

it("refuses a release in YAML that is not a mapping", async () => {
  const yaml = { file: read("releases/r2025.9.3.yaml"), readYaml: () => Promise.resolve(["a list"]) };
  await expect(diffUnverified(yaml, yaml)).rejects.toThrow("a: expected an object");
});

it("throws TypeError for inputs that are not bytes", async () => {
  for (const input of [undefined, null, "{}", {}, { file: "{}" }])
    await expect(diffUnverified(input as never, BOOT_1)).rejects.toThrow(
      /^diffUnverified\.file: expected bytes, as a Uint8Array, got /,
    );
});

it.each(["(spelled)", "(unknown members)", "(beside it)"])("a member of any name differs, such as %s", async (name) => {
  const unknown = (value: number): Uint8Array => file({ ...forged.bootProof, [name]: value });
  expect(await toldOf(unknown(1), unknown(2))).toEqual(["other minor"]);
  expect(await toldOf(unknown(1), file(forged.bootProof))).toEqual(["other minor"]);
});

describe("policies", () => {
  const places = async (a: Uint8Array, b: Uint8Array): Promise<string[]> => placesOf(await diffUnverified(a, b));
  const pins = labDeployment(lab) as Loose;

  it.each<[string, Loose, string]>([
    ["another image beside it", { pcrs: [pins.pcrs, { ...pins.pcrs, 0: "11".repeat(48) }] }, "policy.pin critical"],
    ["one PCR less", { pcrs: { 0: pins.pcrs[0], 1: pins.pcrs[1], 2: pins.pcrs[2] } }, "policy.pin critical"],
    ["one PCR more", { pcrs: { ...pins.pcrs, 8: "11".repeat(48) } }, "policy.pin notable"],
    [
      "another value of a PCR too",
      { pcrs: { ...pins.pcrs, 3: [pins.pcrs[3], "11".repeat(48)] } },
      "policy.pin critical",
    ],
    ["a lower threshold", { manifestSet: { ...pins.manifestSet, threshold: 1 } }, "policy.pin critical"],
    ["a higher threshold", { manifestSet: { ...pins.manifestSet, threshold: 3 } }, "policy.pin notable"],
    ["a member less", { shareSet: { threshold: 1, members: pins.shareSet.members.slice(1) } }, "policy.pin critical"],
    ["one program more", { pivotHash: [pins.pivotHash, "11".repeat(32)] }, "policy.pin critical"],
    ["another commitment", { commitment: "legacy" }, "policy.pin critical"],
    ["arguments too", { pivotArgs: [] }, "policy.pin notable"],
    ["a label less", { labels: { owner: "lab" } }, "policy.pin critical"],
    ["a higher nonce", { minNonce: 8 }, "policy.pin notable"],
  ])("%s", async (_, rest, wanted) => {
    expect(await toldOf(policy(), policy({}, rest as never))).toEqual([wanted]);
  });

  it("workloads: another digest, another name", async () => {
    const v3 = labDeployment(lab, "v3") as Loose;
    const of = (workloads: object): Uint8Array => policyOf([{ ...v3, workloads } as never]);
    const [digest, other] = [v3.workloads.signer as string, `sha256:${"11".repeat(32)}`];
    expect(await toldOf(of({ signer: digest }), of({ signer: [digest, other] }))).toEqual(["policy.pin critical"]);
    expect(await toldOf(of({ signer: [digest, other] }), of({ signer: digest }))).toEqual(["policy.pin notable"]);
    expect(await toldOf(of({ signer: digest }), of({ signer: digest, more: other }))).toEqual(["policy.pin critical"]);
  });

  it("are matched by name in any order, and then by their pins", async () => {
    const [one, two] = [
      { ...pins, name: "one" },
      { ...pins, name: "two", minNonce: 9 },
    ];
    expect(await toldOf(policyOf([one, two]), policyOf([one, { ...two, name: "three" }]))).toEqual([
      "policy.deployment-name minor",
    ]);
    expect(await toldOf(policyOf([one]), policyOf([{ ...two, name: "new" }, one]))).toEqual([
      "policy.deployment critical",
    ]);
    const unnamed = { ...two, name: undefined };
    const found = await diffUnverified(policyOf([unnamed]), policyOf([one, unnamed]));
    expect(found.changes.find(({ what }) => what === "policy.deployment")!.after).toContain("one: pins pcrs");
    expect(found.counts.critical).toBe(1);
    const other = { ...one, name: undefined, minNonce: 11 };
    const moved = await diffUnverified(policyOf([unnamed]), policyOf([other, unnamed]));
    expect(told(moved).filter((change) => change !== "policy.deployment-name minor")).toEqual([
      "policy.deployment critical",
    ]);
  });

  it("are compared whatever their deployments are called", async () => {
    for (const name of ["(spelled)", "(unknown members)", "__proto__", "7"]) {
      const added = policyOf([
        { ...pins, name: "one" },
        { ...pins, name, minNonce: 9 },
      ]);
      expect(await toldOf(policyOf([{ ...pins, name: "one" }]), added)).toEqual(["policy.deployment critical"]);
      const looser = policyOf([
        { ...pins, name: "one" },
        { ...pins, name, minNonce: 8 },
      ]);
      expect(await toldOf(added, looser)).toEqual(["policy.pin critical"]);
    }
  });

  it("one that is matched by its name is not a partner of another with its pins", async () => {
    const [a, b, c] = ["a", "b", "c"].map((name) => ({ ...pins, name }));
    expect(await toldOf(policyOf([a, b]), policyOf([c, a]))).not.toContain("policy.deployment critical");
  });

  it("name the places of everything", async () => {
    expect(await places(policy(), policy({}, { minNonce: 6, comment: "x" }))).toEqual([
      'deployments."lab.1".minNonce',
      'deployments."lab.1".comment',
    ]);
  });

  it("reads trust anchor files, and distinguishes a file's name from its content", async () => {
    const anchor = (parsed(policy()) as Loose).trustAnchors[0].pem as string;
    const other = new Forge();
    const strangers = forgeEvidence({ lab: other, at: AT }).anchorPem;
    const named = (name: string): Uint8Array => policy({ trustAnchors: [{ file: name }] });
    const given = (name: string, pem: string): { file: Uint8Array; readFile: () => string } => {
      return { file: named(name), readFile: () => pem };
    };
    expect((await diffUnverified(given("a", anchor), given("a", anchor))).same).toBe(true);
    expect(told(await diffUnverified(given("a", anchor), given("b", anchor)))).toEqual(["other minor"]);
    expect(told(await diffUnverified(given("a", anchor), given("a", strangers)))).toEqual([
      "policy.trust-anchor critical",
      "policy.trust-anchor notable",
    ]);
    await expect(diffUnverified(named("a"), named("a"))).rejects.toThrow("no files can be read here");
  });
});

describe("bundles", () => {
  const [proof] = forged.appProofs as Loose[];
  const withProofs = (...appProofs: Loose[]): Uint8Array => file({ ...parsed(bundle), appProofs });

  it("match app proofs that are the same, however often, before others", async () => {
    const [one, other] = ["1", "2"].map((scheme) => ({ ...proof, scheme }));
    const { changes } = await diffUnverified(withProofs(proof, proof, one), withProofs(proof, other, proof));
    expect(changes.map(({ what, place }) => [what, place])).toEqual([["app-proof", "appProofs[2].scheme"]]);
  });

  it("name the bundle's encoding if nothing else differs, and not beside a change of the policy", async () => {
    const { activity, ...rest } = parsed(bundle);
    const wrapped = file({ ...rest, activity: { activity } });
    expect(new Set(await toldOf(bundle, wrapped))).toEqual(new Set(["encoding minor"]));
    const named = file({ ...parsed(bundle), policy: { ...parsed(policy()), name: "another" } });
    expect(await toldOf(bundle, named)).toEqual(["policy.name minor"]);
  });

  it("name the member of a payload that changed", async () => {
    const payload = JSON.parse(proof.proofPayload as string) as Loose;
    const other = { ...proof, proofPayload: JSON.stringify({ ...payload, timestampMs: "1" }) };
    const { changes } = await diffUnverified(withProofs(proof), withProofs(other));
    expect(changes.map(({ place }) => place)).toEqual(["appProofs[0].proofPayload.timestampMs"]);
  });
});

describe("hostile input", () => {
  it("lists a thousand changes and counts the others", async () => {
    const many = (offset: number): Uint8Array =>
      file({ ...forged.bootProof, x: Array.from({ length: 50_000 }, (_, index) => index + offset) });
    const { changes, counts, leftOut } = await diffUnverified(many(0), many(1));
    expect([changes.length, counts.minor, leftOut]).toEqual([1000, 50_000, 49_000]);
  });

  it("has a thousand places at most, also where all changed alike", async () => {
    const alike = (value: number): Uint8Array => file({ ...forged.bootProof, x: new Array(1500).fill(value) });
    const { changes, leftOut } = await diffUnverified(alike(0), alike(1));
    expect([changes.length, changes[0]!.also.length, leftOut]).toEqual([1, 999, 500]);
  });

  it("has places of bounded length for deep long names", async () => {
    const deep = (leaf: number): Loose => {
      let value: Loose = Array.from({ length: 500 }, () => leaf);
      for (let depth = 0; depth < 50; depth++) value = { ["n".repeat(1000)]: value };
      return value;
    };
    const { changes } = await diffUnverified(
      file({ ...forged.bootProof, x: deep(1) }),
      file({ ...forged.bootProof, x: deep(2) }),
    );
    expect(Math.max(...changes.map(({ place }) => place.length))).toBeLessThan(10_000);
  });

  it("distinguishes members whose places look alike", async () => {
    const [a, b] = [
      { x: { y: 1 }, "x.y": 2 },
      { x: { y: 2 }, "x.y": 1 },
    ].map((more) => file({ ...forged.bootProof, ...more }));
    const { changes } = await diffUnverified(a!, b!);
    expect(changes.map(({ place }) => place).sort()).toEqual(['"x.y"', "x.y"]);
  });

  it("distinguishes members with the same key", async () => {
    const twice = (alias: string): Uint8Array =>
      bootProof({
        alterManifest: {
          parts: ({ shareSet }) => ({
            shareSet: { ...shareSet, members: [...shareSet.members, { ...shareSet.members[0]!, alias }] },
          }),
        },
      });
    expect(await toldOf(twice("a"), twice("b"))).toContain("member.alias minor");
  });
});

describe("provisioning details", () => {
  const setup = forgeEvidence({ lab, at: AT, generation: "setup", payloads: [] });
  const made = DETAIL_FORMS.map((form) => detailsOf(setup.bootProof, form));
  const toldBetween = async (before: object, after: object): Promise<string[]> =>
    (await diffUnverified(file(before), file(after))).changes.map(({ what, place }) => `${what} ${place}`);

  it("of each form are compared with each other and with the service's form", async () => {
    for (const one of made) {
      expect((await diffUnverified(file(one), file(one))).same).toBe(true);
      for (const other of [...made, setup.bootProof]) {
        const told = await toldBetween(one, other);
        // Nothing but the members that one of them lacks.
        for (const change of told)
          expect(change).toMatch(/^(?:labels|created-at|manifest.declared-version|other) \w+$/);
      }
    }
  });

  it("of another boot and manifest differ there", async () => {
    const manifest = (one: PivotManifest): PivotManifest => ({ ...one, namespace: { ...one.namespace, nonce: 8 } });
    const other = forgeEvidence({ lab, at: AT, generation: "setup", payloads: [], alterManifest: { manifest } });
    const told = await toldBetween(made[0]!, detailsOf(other.bootProof, "file"));
    expect(told).toContain("manifest.nonce manifestEnvelope.manifest.namespace.nonce");
    const newKey = forgeEvidence({ lab, at: AT, generation: "setup", ephemeralKey: generateQosKeyPair() });
    expect(await toldBetween(made[0]!, detailsOf(newKey.bootProof, "query"))).toContain(
      "ephemeral-key ephemeralPublicKeyHex",
    );
  });
});

describe("provenance bundles", () => {
  const sigstore = new LabSigstore();
  const built = (build: Partial<LabBuild> = {}): string => sigstore.attest({ at: AT, digest: lab.pivotHash, build });

  it("of another tag differ in the ref, and not in workflow or signer", async () => {
    const changes = await toldOf(toUtf8(built()), toUtf8(built({ ref: "refs/tags/v1.2.4" })));
    expect(new Set(changes)).toEqual(new Set(["provenance.ref notable", "provenance.material minor", "other minor"]));
  });

  it("with a path or a ref that has @ are not split there", async () => {
    const workflow = ".github/workflows/a@b.yml";
    const [before, after] = [built({ workflow, ref: "refs/tags/a@1" }), built({ workflow, ref: "refs/tags/a@2" })];
    const changes = await toldOf(toUtf8(before), toUtf8(after));
    expect(changes).toContain("provenance.ref notable");
    expect(changes.join()).not.toMatch(/workflow|signer/);
  });

  it("are compared one by one, well-formed, and with their own kind", async () => {
    const bundle = built();
    const faultOf = (file: string): Promise<string> =>
      diffUnverified(toUtf8(file), toUtf8(bundle)).then(
        () => "compared",
        (error: unknown) => (error as Error).message,
      );
    expect(await faultOf(`${bundle}\n${bundle}`)).toContain("one on each line: give only one");
    expect(await faultOf(bundle.replace('"dsseEnvelope"', '"messageSignature"'))).toContain("dsseEnvelope");
    expect(await faultOf(JSON.stringify(JSON.parse(new TextDecoder().decode(policy()))))).toContain(
      "cannot be compared",
    );
    const extensions = (all: readonly ExtensionSpec[]): readonly ExtensionSpec[] => [...all, ...all.slice(-1)];
    expect(await faultOf(sigstore.attest({ at: AT, digest: lab.pivotHash, alter: { extensions } }))).toContain("twice");
  });
});
