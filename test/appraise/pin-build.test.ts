/** A policy of what was built: it passes the enclave of that image and binary, and nobody else's. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../src/bytes.js";
import type { CheckId } from "../../src/checks.js";
import { measureBinary, measureImage, measureRole } from "../../src/image/index.js";
import type { BuildMeasurements } from "../../src/appraise/pin.js";
import { type BuildOptions, type MadePolicy, makeBuildPolicy } from "../../src/author/index.js";
import { parsePolicy, parseTrustAnchor, verifyBootProof } from "../../src/index.js";
import { Forge } from "../../src/lab/forge.js";
import { type Alterations, NOW, forge, idsOf, pcrs } from "../attacks/support.js";
import { refusalOf } from "../support/faults.js";
import { SECTIONS, imageOf, newSigner, pcrsOf, signed, streamOf, utf8 } from "../support/images.js";

const ROLE = "arn:aws:iam::123456789012:role/signer";
const BINARY = utf8("the application");
const signer = newSigner("P-384");
const unsignedFile = imageOf({ sections: SECTIONS });
const signedFile = imageOf({ sections: signed(signer) });
const bytesOf = (hex: string | undefined): Uint8Array => fromHex(hex!)!;

/** An enclave that runs an image, as its file measures; by definition, and not by what is tested. */
function enclaveOf(sections: typeof SECTIONS, parts: Partial<Forge> = {}): Forge {
  const { 0: pcr0, 1: pcr1, 2: pcr2 } = pcrsOf(sections);
  const pcr3 = createHash("sha384").update(Buffer.alloc(48)).update(ROLE).digest();
  const measurements = {
    pcr0: bytesOf(pcr0),
    pcr1: bytesOf(pcr1),
    pcr2: bytesOf(pcr2),
    pcr3: new Uint8Array(pcr3),
    pcr4: new Uint8Array(48).fill(4),
  };
  const pivotHash = new Uint8Array(createHash("sha256").update(BINARY).digest());
  return new Forge({ measurements, pivotHash, ...parts });
}

const lab = enclaveOf(SECTIONS);

const trustAnchors = [parseTrustAnchor("lab", forge({ lab }).anchorPem)];
const keyOf = (one: Forge): string => toHex(one.quorumKey.publicKey);
const setOf = ({ manifestMembers }: Forge): { threshold: number; members: string[] } => ({
  threshold: 2,
  members: manifestMembers.map(({ key }) => toHex(key.publicKey)),
});
const operator = { quorumKey: keyOf(lab), manifestSet: setOf(lab), namespace: "lab/signer" };

async function built(file: Uint8Array = unsignedFile): Promise<Required<BuildMeasurements>> {
  return {
    pcrs: { ...(await measureImage(streamOf(file, 1000))).pcrs, 3: await measureRole(ROLE) },
    pivotHash: await measureBinary(streamOf(BINARY)),
  };
}

async function failing(made: MadePolicy, evidence: Alterations): Promise<CheckId[]> {
  const policy = parsePolicy(JSON.stringify(made.policy));
  const { report } = await verifyBootProof(forge(evidence).bootProof, { policy, now: NOW });
  expect(report.verdict).toBe(idsOf(report, "fail").length === 0 ? "verified" : "rejected");
  return idsOf(report, "fail");
}

const make = async (options: BuildOptions = {}, file?: Uint8Array): Promise<MadePolicy> =>
  makeBuildPolicy(await built(file), { trustAnchors, ...options });

const differs = (...ids: CheckId[]): CheckId[] => [...ids, "policy.deployment" as const].sort();
const CERTIFICATE_PCR = bytesOf(pcrsOf(SECTIONS, signer.certificate)[8]);

describe("a policy of an image, a role and a binary", () => {
  it("pins all three, and by them alone names whose it is by the role only", async () => {
    const { policy, notes } = await make();
    const hex = pcrsOf(SECTIONS);
    expect(policy).toEqual({
      policy: "bootproof/1",
      name: `image ${hex[0]!.slice(0, 12)}`,
      trustAnchors: [{ pem: expect.stringContaining("BEGIN CERTIFICATE") as string }],
      deployments: [
        {
          name: `image ${hex[0]!.slice(0, 12)}`,
          pcrs: { 0: hex[0], 1: hex[1], 2: hex[2], 3: toHex(lab.measurements.pcr3) },
          pivotHash: toHex(lab.pivotHash),
        },
      ],
    });
    expect(notes.join()).toContain("only pcrs 3 pins the operator");
    expect((await make(operator)).notes).toEqual([]);
    expect((await make(operator)).policy.deployments[0]!.name).toMatch(/^lab\/signer, image [0-9a-f]{12}$/);
    expect(makeBuildPolicy(await built()).policy).not.toHaveProperty("trustAnchors");
  });

  it("accepts the enclave that runs it", async () => {
    expect(await failing(await make(operator), { lab })).toEqual([]);
    expect(await failing(await make(), { lab })).toEqual([]);
    expect(await failing(await make({ quorumKey: keyOf(lab) }), { lab, version: "v0" })).toEqual([]);
  });

  it("pins who signed the image, where it is signed", async () => {
    const made = await make(operator, signedFile);
    expect(made.policy.deployments[0]!.pcrs).toMatchObject({ 8: toHex(CERTIFICATE_PCR) });
    expect(await failing(made, { lab })).toEqual(differs("policy.pcrs"));
    const asSigned = pcrs((map) => map.set(8, CERTIFICATE_PCR));
    expect(await failing(made, { lab, ...asSigned })).toEqual([]);
    // Of an image that is not, nothing is said of who may sign it: the same code runs.
    expect(await failing(await make(operator), { lab, ...asSigned })).toEqual([]);
  });
});

describe("what is left away", () => {
  it("is said: the application of an image alone, and the operator without a word of who it is", async () => {
    const { 0: pcr0, 1: pcr1, 2: pcr2 } = (await built()).pcrs;
    const image = { pcrs: { 0: pcr0!, 1: pcr1!, 2: pcr2! } };
    const alone = makeBuildPolicy(image);
    expect(alone.policy.deployments[0]!.open).toEqual(["application", "operator"]);
    expect(alone.notes.join("\n")).toMatch(/leaves the application open: .*\nleaves the operator open: /);
    const keyed = makeBuildPolicy(image, { quorumKey: keyOf(lab) });
    expect(keyed.policy.deployments[0]!.open).toEqual(["application"]);
    const both = makeBuildPolicy({ ...image, pivotHash: lab.pivotHash });
    expect(both.policy.deployments[0]!.open).toEqual(["operator"]);
    const approved = makeBuildPolicy(image, { manifestSet: setOf(lab), namespace: "lab/signer", trustAnchors });
    expect(approved.policy.deployments[0]).not.toHaveProperty("open");
    expect(await failing(approved, { lab })).toEqual([]);
    expect(await failing(makeBuildPolicy(image, { trustAnchors }), { lab })).toEqual([]);
  });

  it("is malformed, where it is the image and nobody approves one", async () => {
    const { pivotHash } = await built();
    const refusal = refusalOf(() => makeBuildPolicy({ pivotHash }, { quorumKey: keyOf(lab) }));
    expect(refusal.faults).toContain("leaves the image open: an attacker's own image can show any");
    const approved = makeBuildPolicy({ pivotHash }, { manifestSet: setOf(lab), trustAnchors });
    expect(approved.policy.name).toBe(`binary ${toHex(pivotHash).slice(0, 12)}`);
    expect(approved.notes.join()).toContain("only manifestSet pins the image");
    expect(await failing(approved, { lab })).toEqual([]);
  });

  it.each([
    [
      "zeros",
      { pcrs: { 0: new Uint8Array(48), 1: new Uint8Array(48), 2: new Uint8Array(48) } },
      "leaves the image open",
    ],
    ["PCR0 alone", { pcrs: { 0: new Uint8Array(48).fill(1) } }, "an image has pcrs 0, 1 and 2: 1 and 2 missing"],
  ])("is malformed: an image of %s", (_, build: BuildMeasurements, words) => {
    expect(refusalOf(() => makeBuildPolicy(build)).faults).toContain(words);
  });
});

it.each([
  [{}, "build: expected pcrs or pivotHash"],
  [{ pcrs: { 0: new Uint8Array(47) } }, "pcrs.0: expected 48 bytes, as a Uint8Array"],
  [{ pcrs: { 0: "00".repeat(48) } }, "pcrs.0: expected 48 bytes, as a Uint8Array"],
  [{ pivotHash: new Uint8Array(48) }, "pivotHash: expected 32 bytes, as a Uint8Array"],
])("%j is not a measurement", (build, message) => {
  expect(() => makeBuildPolicy(build as unknown as BuildMeasurements)).toThrow(new TypeError(message));
});
