/** The policy of releases, to the letter: what is written, what is refused, and what may stand beside a deployment. */
import { describe, expect, it } from "vitest";
import { type PolicyFile, parsePolicy } from "../../src/appraise/policy.js";
import { PUBLIC_KEYS } from "../support/public-keys.js";
import { fromHex } from "../../src/bytes.js";
import type { PivotManifest } from "../../src/decode/manifest/index.js";
import { MalformedError } from "../../src/errors.js";
import { releasePolicy } from "../../src/release/policy.js";
import { type Release, readRelease } from "../../src/release/release.js";
import { AWS_NITRO_ROOT_G1, certificatePem, parseTrustAnchor } from "../../src/verify/trust-anchor.js";
import { type LabRelease, lab, labFiles, labRelease, operators, setOf } from "./support.js";

type Options = NonNullable<Parameters<typeof releasePolicy>[1]>;

async function faultsOf(releases: readonly (LabRelease | Release)[], options: Options = {}): Promise<string[]> {
  const made = await Promise.all(releases.map((one) => ("manifestHash" in one ? one : labRelease(one as LabRelease))));
  try {
    await releasePolicy(made as Release[], options);
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    expect(error.code).toBe("release");
    return error.faults.map(({ path, message }) => `${path}: ${message}`);
  }
  return [];
}

const altered = (change: (one: PivotManifest) => Partial<PivotManifest>): LabRelease => ({
  alter: (one) => ({ ...one, ...change(one) }),
});
const ofEnclave = (change: object) => altered(({ enclave }) => ({ enclave: { ...enclave, ...change } }));
const ofNamespace = (change: object) => altered(({ namespace }) => ({ namespace: { ...namespace, ...change } }));
const MANIFEST = "2026.1.0/signer/manifest";

describe("a release that is unsafe to pin", () => {
  const nobodys = "identifies no owner: keys whose secrets are public reach its threshold";
  const known = { alias: "known", pubKey: fromHex(PUBLIC_KEYS[1]!)! };
  const abc = operators("abc").map(({ alias, key }) => ({ alias, pubKey: key.publicKey }));

  it.each<[string, LabRelease, readonly string[]]>([
    [
      "in debug mode",
      altered(({ pivot }) => ({ pivot: { ...pivot, debugMode: true } })),
      ["debugMode: what the application prints can be read outside"],
    ],
    ...[0, 1, 2, 3].map((index): [string, LabRelease, readonly string[]] => [
      `with PCR${index} of zeros`,
      ofEnclave({ [`pcr${index}`]: new Uint8Array(48) }),
      [`PCR${index} is zeros, which identify no enclave`],
    ]),
    ...[0, 1, 2, 3].map((index): [string, LabRelease, readonly string[]] => [
      `with a PCR${index} of 47 bytes`,
      ofEnclave({ [`pcr${index}`]: new Uint8Array(47).fill(1) }),
      [`PCR${index} does not have 48 bytes`],
    ]),
    [
      "with no PCR",
      ofEnclave(Object.fromEntries([0, 1, 2, 3].map((index) => [`pcr${index}`, new Uint8Array()]))),
      [...[0, 1, 2, 3].map((index) => `PCR${index} does not have 48 bytes`), "pcrs cannot be written into a policy"],
    ],
    [
      "with a quorum key whose secret is public",
      ofNamespace({ quorumKey: fromHex(PUBLIC_KEYS[0]!)! }),
      ["the quorum key's secret is public"],
    ],
    [
      "with a quorum key that is none",
      ofNamespace({ quorumKey: new Uint8Array(4) }),
      ["quorumKey cannot be written into a policy"],
    ],
    [
      "without a namespace",
      { ...ofNamespace({ name: "" }), application: "" },
      ["namespace cannot be written into a policy", "minNonce cannot be written into a policy"],
    ],
    [
      "with a manifest set of nobody's",
      altered(() => ({ manifestSet: { threshold: 1, members: [...abc, known] } })),
      [`the manifest set ${nobodys}, so anyone can approve manifests`],
    ],
    [
      "with a share set of nobody's",
      altered(() => ({ shareSet: { threshold: 1, members: [known] } })),
      [`the share set ${nobodys}, so anyone can rebuild the quorum key`],
    ],
  ])("%s is refused", async (_, parts, messages) => {
    const path = parts.application === "" ? "2026.1.0//manifest" : MANIFEST;
    expect(await faultsOf([parts])).toEqual(messages.map((message) => `${path}: ${message}`));
  });

  it("for what a policy refuses is refused in its words", async () => {
    const faults = await faultsOf([altered(({ shareSet }) => ({ shareSet: { ...shareSet, threshold: 9 } }))]);
    expect(faults).toEqual([expect.stringMatching(/^2026\.1\.0\/signer\/manifest: deployments\[0\]\.shareSet/)]);
  });

  it("as a whole: a name that no policy can have", async () => {
    await expect(releasePolicy([await labRelease()], { name: "n".repeat(5_000_000) })).rejects.toThrow(MalformedError);
  });
});

describe("what is written", () => {
  it("has the names of releases without a folder from their manifests", async () => {
    const files = [labFiles(), labFiles({ application: "ump", version: "2026.2.0" })];
    const { policy } = await releasePolicy(await Promise.all(files.map((one) => readRelease(one))));
    expect(policy.name).toBe("lab/ump, lab/signer");
    expect(policy.deployments.map(({ name }) => name)).toEqual(["lab/ump nonce 20260200", "lab/signer nonce 20260100"]);
  });

  it("has the commitment live, or as it is told, and the note only for the first", async () => {
    const release = await labRelease();
    const { policy, notes } = await releasePolicy([release]);
    expect(policy.deployments[0]!.commitment).toBe("live");
    expect(notes).toEqual([
      "only the folder says that the manifest set is the right people: name the set in a file",
      expect.stringMatching(/^commitment live is written, .*could have asked for a document over any key$/),
      expect.stringMatching(/^A release that is missing here/),
    ]);
    const told = await releasePolicy([release], { commitment: "live", manifestSet: setOf("abc") });
    expect(told.notes).toEqual([expect.stringMatching(/^A release that is missing here/)]);
    expect(policy.deployments[0]).not.toHaveProperty("appProofs");
    expect(policy).not.toHaveProperty("trustAnchors");
  });

  it("says each critical change to a release, and no other one", async () => {
    const releases = [{}, { version: "2026.2.0", set: "abcd" }, { version: "2026.3.0", set: "abcd" }];
    const { notes } = await releasePolicy(await Promise.all(releases.map(labRelease)));
    const critical = notes.filter((note) => note.startsWith("critical"));
    expect(critical).toEqual([
      expect.stringMatching(/^critical: 2026\.2\.0\/signer: manifest-set\.member: .+$/),
      ...critical.slice(1),
    ]);
    expect(critical.every((note) => note.startsWith("critical: 2026.2.0/signer: "))).toBe(true);
    expect(notes.join()).not.toContain("manifest.nonce");
  });

  it("has trust anchors by name or as PEM", async () => {
    const own = parseTrustAnchor("own", certificatePem(lab.pki.rootCertificate));
    const { policy } = await releasePolicy([await labRelease()], { trustAnchors: [AWS_NITRO_ROOT_G1, own] });
    expect(policy.trustAnchors).toEqual(["aws-nitro-root-g1", { pem: expect.stringMatching(/^-----BEGIN/) }]);
    expect(parsePolicy(policy).trustAnchors).toHaveLength(2);
  });

  it("takes options by their names only, and a policy that was parsed", async () => {
    const release = await labRelease();
    await expect(releasePolicy([release], { nam: "x" } as never)).rejects.toThrow(/^options/);
    for (const addTo of [{}, { deployments: [] }])
      await expect(releasePolicy([release], { addTo } as never)).rejects.toThrow(
        /^options\.addTo: expected a policy from parsePolicy/,
      );
  });
});

describe("beside a deployment", () => {
  const base = async (change: (one: PolicyFile["deployments"][0]) => object = () => ({}), parts: LabRelease = {}) => {
    const { policy } = await releasePolicy([await labRelease(parts)]);
    return parsePolicy({ ...policy, deployments: policy.deployments.map((one) => ({ ...one, ...change(one) })) });
  };
  const next: LabRelease = { version: "2026.2.0" };

  it("stands a release of the same nonce, and one of nonce 0 where no minNonce is pinned", async () => {
    expect(await faultsOf([{}], { addTo: await base() })).toEqual([]);
    const first = await readRelease(labFiles(ofNamespace({ nonce: 0 })), { application: "signer" });
    expect(await faultsOf([first], { addTo: await base(() => ({ minNonce: undefined })) })).toEqual([]);
    expect(await faultsOf([first], { addTo: await base(() => ({ minNonce: 1 })) })).toEqual([
      "signer: the nonce 0 is below 1, the minNonce of signer 2026.1.0",
    ]);
  });

  it.each<[string, (one: PolicyFile["deployments"][0]) => object, string]>([
    ["no PCRs", () => ({ pcrs: undefined }), "signer 2026.1.0 pins another PCR3, or none"],
    [
      "no PCR3",
      ({ pcrs }) => ({ pcrs: { 0: (pcrs as Record<string, string>)["0"] }, open: ["operator"] }),
      "signer 2026.1.0 pins another PCR3, or none",
    ],
    [
      "another PCR3",
      ({ pcrs }) => ({ pcrs: { ...(pcrs as object), 3: "77".repeat(48) } }),
      "signer 2026.1.0 pins another PCR3, or none",
    ],
    ["no quorum key", () => ({ quorumKey: undefined }), "signer 2026.1.0 pins another quorum key, or none"],
    ["another quorum key", () => ({ quorumKey: "04".repeat(130) }), "signer 2026.1.0 pins another quorum key, or none"],
    ["no manifest set", () => ({ manifestSet: undefined }), "signer 2026.1.0 pins no manifestSet"],
    [
      "another manifest set",
      () => ({ manifestSet: setOf("bcd") }),
      "its approvers in the manifestSet of signer 2026.1.0: 1, expected 2",
    ],
  ])("that pins %s stands none", async (_, change, message) => {
    expect(await faultsOf([next], { addTo: await base(change) })).toEqual([`2026.2.0/signer: ${message}`]);
  });

  it("that accepts one of two PCR3 stands a release with either", async () => {
    const both = await base(({ pcrs }) => {
      const image = pcrs as Record<string, string>;
      return { pcrs: [{ ...image, 3: "77".repeat(48) }, image] };
    });
    expect(await faultsOf([next], { addTo: both })).toEqual([]);
  });

  it("says where the set is another: in its threshold, its members, or neither", async () => {
    const notesOf = async (parts: LabRelease) => {
      const { notes } = await releasePolicy([await labRelease({ ...next, ...parts })], { addTo: await base() });
      return notes.filter((note) => note.startsWith("critical: "));
    };
    const another =
      "critical: 2026.2.0/signer: its manifest set is another than that of signer 2026.1.0, and is written as it is";
    expect(await notesOf({})).toEqual([]);
    expect(await notesOf({ threshold: 1 })).toEqual([another]);
    expect(await notesOf({ set: "abd" })).toEqual([another]);
  });

  it("of another namespace, or of none, stands none", async () => {
    const none = '2026.2.0/signer: no deployment of the policy is of the namespace "lab/signer"';
    for (const change of [{ namespace: "lab/other" }, { namespace: undefined, minNonce: undefined }])
      expect(await faultsOf([next], { addTo: await base(() => change) })).toEqual([none]);
  });

  it("whose set is demanded too: both have to be reached", async () => {
    const message = "2026.2.0/signer: its approvers in the manifest set that is demanded: 1, expected 2";
    expect(await faultsOf([next], { addTo: await base(), manifestSet: setOf("bcd") })).toEqual([message]);
  });
});
