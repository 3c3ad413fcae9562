/** Every row of the table of changes: an example and its severity. */
import { describe, expect, it } from "vitest";
import { toUtf8 } from "../../src/bytes.js";
import type { Manifest, MemberSet, PivotManifest, WorkloadManifest } from "../../src/decode/manifest/index.js";
import type { JsonObject } from "../../src/decode/json.js";
import { CHANGES, CHANGE_IDS, type ChangeId, type Severity, type Turn } from "../../src/diff/changes.js";
import { diffUnverified } from "../../src/diff/diff.js";
import { Forge, forgeEvidence, labDeployment } from "../../src/lab/forge.js";
import { type LabBuild, type LabRelease, LabSigstore, type ProvenanceOptions } from "../../src/lab/sigstore.js";
import { memberSet } from "../../src/lab/qos.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import {
  type ArchivedFile,
  CMDLINE,
  KERNEL,
  METADATA,
  type SectionParts,
  cpioArchive,
  imageOf,
  newSigner,
  ramdiskOf,
  signed,
  utf8,
} from "../support/images.js";
import { AT, bootProof, file, lab, policy, policyOf, policyWithout } from "./support.js";

const stranger = new Forge();
const later = new Date(AT.getTime() + 60_000);
const ONE = new Uint8Array(48).fill(1);
const ZERO = new Uint8Array(48);
const KEY = stranger.quorumKey.publicKey;

type Case = readonly [what: ChangeId, turn: Turn, before: Uint8Array, after: Uint8Array];

const both = (what: ChangeId, turns: readonly [Turn, Turn], a: Uint8Array, b: Uint8Array): Case[] => [
  [what, turns[0], a, b],
  [what, turns[1], b, a],
];

const boot = bootProof();
const withPivot = (pivot: Partial<PivotManifest["pivot"]>): Uint8Array =>
  bootProof({ alterManifest: { manifest: (one) => ({ ...one, pivot: { ...one.pivot, ...pivot } }) } });
const withParts = (parts: (manifest: Manifest) => Partial<Manifest>): Uint8Array =>
  bootProof({ alterManifest: { parts: parts as never } });
const withEnclave = (enclave: Partial<Manifest["enclave"]>): Uint8Array =>
  withParts((one) => ({ enclave: { ...one.enclave, ...enclave } }));
const withNamespace = (namespace: Partial<Manifest["namespace"]>): Uint8Array =>
  withParts((one) => ({ namespace: { ...one.namespace, ...namespace } }));
const withSet = (name: "manifestSet" | "shareSet", alter: (set: MemberSet) => MemberSet): Uint8Array =>
  withParts((one) => ({ [name]: alter(one[name]) }));
const withPcr = (index: number, value: Uint8Array): Uint8Array =>
  bootProof({ alterDocument: { fields: (fields) => put(fields, "pcrs", (pcrs) => new Map(pcrs).set(index, value)) } });
const withMember = (name: string, value: unknown): Uint8Array =>
  bootProof({ bootProof: (json) => ({ ...json, [name]: value }) as JsonObject });
const ofWorkloads = (alter: (manifest: WorkloadManifest) => WorkloadManifest = (one) => one): Uint8Array =>
  bootProof({ version: "v3", alterManifest: { workloadManifest: alter } });
const withWorkload = (part: Partial<WorkloadManifest["workloads"][number]>): Uint8Array =>
  ofWorkloads((one) => ({ ...one, workloads: one.workloads.map((each) => ({ ...each, ...part })) }));

// oxlint-disable-next-line typescript/no-explicit-any
function put(fields: any, name: string, alter: (value: any) => unknown): any {
  return new Map(fields).set(name, alter(fields.get(name)));
}

const lessMember = (set: MemberSet): MemberSet => ({ ...set, members: set.members.slice(1) });
const lower = (set: MemberSet): MemberSet => ({ ...set, threshold: 1 });
const patched = (alter: (set: NonNullable<PivotManifest["patchSet"]>) => PivotManifest["patchSet"]): Uint8Array =>
  bootProof({ version: "v1", alterManifest: { manifest: (one) => ({ ...one, patchSet: alter(one.patchSet!)! }) } });

const OF_SETS: Case[] = [
  ...both("manifest-set.member", ["removed", "changed"], boot, withSet("manifestSet", lessMember)),
  ...both("manifest-set.threshold", ["lower", "changed"], boot, withSet("manifestSet", lower)),
  ...both("share-set.member", ["removed", "changed"], boot, withSet("shareSet", lessMember)),
  ...both("share-set.threshold", ["lower", "changed"], boot, withSet("shareSet", lower)),
  ...both(
    "patch-set.member",
    ["removed", "changed"],
    patched((set) => set),
    patched((set) => ({ ...set, members: set.members.slice(1) })),
  ),
  ...both(
    "patch-set.threshold",
    ["changed", "lower"],
    patched((set) => set),
    patched((set) => ({ ...set, threshold: 2 })),
  ),
  ["patch-set.threshold", "removed", patched((set) => set), boot],
  [
    "member.alias",
    "changed",
    boot,
    withSet("shareSet", () =>
      memberSet(
        2,
        lab.shareMembers.map((one) => ({ ...one, alias: `${one.alias}!` })),
      ),
    ),
  ],
  ["order", "changed", boot, withSet("manifestSet", (set) => ({ ...set, members: [...set.members].reverse() }))],
];

const OF_MANIFESTS: Case[] = [
  ["quorum-key", "changed", boot, withNamespace({ quorumKey: KEY })],
  ...both("manifest.nonce", ["lower", "changed"], boot, withNamespace({ nonce: 6 })),
  ["namespace", "changed", boot, withNamespace({ name: "lab/other" })],
  ...both("debug.application", ["changed", "lower"], boot, withPivot({ debugMode: true })),
  ["aws-root", "changed", boot, withEnclave({ awsRootCertificate: stranger.pki.rootCertificate })],
  ["role", "changed", boot, withEnclave({ pcr3: ONE })],
  ["image.pcr0", "changed", boot, withEnclave({ pcr0: ONE })],
  ["image.pcr1", "changed", boot, withEnclave({ pcr1: ONE })],
  ["image.pcr2", "changed", boot, withEnclave({ pcr2: ONE })],
  ["image.qos-commit", "changed", boot, withEnclave({ qosCommit: "1".repeat(40) })],
  ["application", "changed", boot, withPivot({ hash: ONE.slice(0, 32) })],
  ...both("application", ["removed", "added"], boot, ofWorkloads()),
  ["arguments", "changed", boot, withPivot({ args: ["--config", "/etc/other.json"] })],
  ["environment", "changed", boot, withPivot({ env: new Map([["LOG_LEVEL", "debug"]]) })],
  ["environment", "changed", boot, withPivot({ env: new Map([["LEVEL", "info"]]) })],
  ["bridge", "changed", boot, withPivot({ bridgeConfig: [] })],
  ["restart-policy", "changed", boot, withPivot({ restart: "Never" })],
  ["client-timeout", "changed", ofTail(), ofTail({ clientTimeoutMs: 6000 })],
  ["pool-size", "changed", ofTail(), ofTail({ poolSize: 4 })],
  // A member that is null is another than one that is not there.
  ["other", "changed", bootProof({ version: "v0" }), ofTail({ poolSize: null })],
  ["other", "changed", ofTail({ poolSize: null }), bootProof({ version: "v0" })],
  ...both("manifest.version", ["changed", "lower"], bootProof({ version: "v0" }), ofTail()),
  ...both("manifest.version", ["changed", "lower"], ofTail(), bootProof({ version: "v1" })),
  ["dns", "changed", boot, bootProof({ alterManifest: { manifest: (one) => ({ ...one, dns: { resolvers: [] } }) } })],
  ...both("workload", ["removed", "changed"], ofWorkloads(addWorkload), ofWorkloads()),
  // What an added workload may do, too: it may mount the enclave's keys.
  ["workload.mounts", "changed", ofWorkloads(), ofWorkloads(addWorkload)],
  ["restart-policy", "changed", ofWorkloads(addWorkload), ofWorkloads()],
  ["workload.image", "changed", ofWorkloads(), withWorkload({ imageDigest: ONE.slice(0, 32) })],
  ["workload.mounts", "changed", ofWorkloads(), withWorkload({ mounts: [] })],
  ["restart-policy", "changed", ofWorkloads(), withWorkload({ restart: "never" })],
  ["volumes", "changed", ofWorkloads(), ofWorkloads(({ volumes, ...one }) => ({ ...one, volumes: moved(volumes!) }))],
  ...both("manifest.version", ["lower", "changed"], boot, bootProof({ version: "v1" })),
  ["encoding", "changed", bootProof({ version: "v1" }), bootProof({ version: "v1", encoding: "json" })],
  ...both("approval", ["removed", "added"], boot, bootProof({ alterManifest: { approvals: (all) => all.slice(1) } })),
  [
    "approval",
    "changed",
    boot,
    bootProof({ alterManifest: { approvals: (all) => all.map((one) => ({ ...one, signature: ONE })) } }),
  ],
  ["other", "changed", ofJson({}), ofJson({ unknown: 1 })],
];

function ofTail(tail: Pick<PivotManifest, "clientTimeoutMs" | "poolSize"> = {}): Uint8Array {
  return bootProof({ version: "v0-tail", alterManifest: { manifest: (one) => ({ ...one, ...tail }) } });
}

function addWorkload(manifest: WorkloadManifest): WorkloadManifest {
  return { ...manifest, workloads: [...manifest.workloads, { ...manifest.workloads[0]!, name: "second" }] };
}

function moved(volumes: NonNullable<WorkloadManifest["volumes"]>): NonNullable<WorkloadManifest["volumes"]> {
  return new Map([...volumes].map(([name, volume]) => [name, { ...volume, mountPath: "/volumes/other" }]));
}

/** v0 and v1 let unknown members be. */
function ofJson(more: JsonObject): Uint8Array {
  return bootProof({ version: "v1", encoding: "json", alterManifest: { json: (json) => ({ ...json, ...more }) } });
}

const legacy = bootProof({ generation: "legacy" });
const bare = forgeEvidence({ lab, at: AT }).document;

const OF_DOCUMENTS: Case[] = [
  ...both("debug.enclave", ["changed", "lower"], boot, withPcr(0, ZERO)),
  ["role", "changed", boot, withPcr(3, ONE)],
  ["instance", "changed", boot, withPcr(4, ONE)],
  ["signing-certificate", "changed", boot, withPcr(8, ONE)],
  ["pcr", "changed", boot, withPcr(5, ONE)],
  ...both("commitment", ["legacy", "live"], boot, legacy),
  ["commitment", "setup", boot, bootProof({ generation: "setup" })],
  ["commitment", "changed", boot, withPcr(17, ONE)],
  ["commitment.register", "changed", boot, bootProof({ manifestCommitment: true })],
  ["certificate.root", "changed", boot, bootProof({ lab: new Forge({ ...lab, pki: stranger.pki }) })],
  ["certificate.leaf", "changed", boot, bootProof({ at: later })],
  ["certificate.intermediate", "changed", boot, bootProof({ lab: new Forge({ ...lab, pki: stranger.pki }) })],
  ...both("document.time", ["changed", "lower"], boot, bootProof({ at: later })),
  ["document.nonce", "changed", boot, bootProof({ nonce: ONE })],
  [
    "document.module-id",
    "changed",
    boot,
    bootProof({ alterDocument: { fields: (all) => put(all, "module_id", () => "i-1") } }),
  ],
  ["document.signature", "changed", boot, bootProof({ alterDocument: { signature: () => new Uint8Array(96) } })],
  ["document.user-data", "follows", boot, withNamespace({ nonce: 8 })],
  ["document.user-data", "alone", boot, bootProof({ alterManifest: { hash: () => ONE.slice(0, 32) } })],
  ["document.user-data", "changed", bare, forgeEvidence({ lab, at: AT, version: "v1" }).document],
  ["ephemeral-key", "changed", boot, bootProof({ ephemeralKey: stranger.ephemeralKey })],
  ["encoding", "changed", bare, tagged(bare)],
  ["labels", "changed", boot, withMember("owner", "somebody")],
  ["created-at", "changed", boot, withMember("createdAt", { seconds: "1", nanos: "0" })],
  ["manifest.declared-version", "changed", boot, withMember("qosManifestVersion", "V2")],
  ["other", "changed", boot, withMember("unknown", true)],
];

/** Under the tag that a COSE_Sign1 may have. */
function tagged(document: Uint8Array): Uint8Array {
  return Uint8Array.of(0xd2, ...document);
}

const deployment = labDeployment(lab);
const plain = policy();
const strangers = certificatePem(stranger.pki.rootCertificate);
const own = (JSON.parse(new TextDecoder().decode(plain)) as { trustAnchors: object[] }).trustAnchors[0]!;

const OF_POLICIES: Case[] = [
  ...both(
    "policy.trust-anchor",
    ["changed", "removed"],
    plain,
    policy({ trustAnchors: [own, { pem: strangers }] as never }),
  ),
  ...both("policy.allow-debug", ["changed", "lower"], plain, policy({ allowDebug: true })),
  ...both(
    "policy.deployment",
    ["changed", "removed"],
    plain,
    policyOf([deployment, { ...deployment, name: "second", minNonce: 9 }]),
  ),
  ["policy.kind", "changed", plain, policyOf([{ name: "lab.1", kind: "nitro", pcrs: deployment["pcrs"]! }])],
  ...both("policy.pin", ["removed", "added"], plain, policyWithout("shareSet")),
  ...both("policy.pin", ["wider", "narrower"], plain, policy({}, { minNonce: 6 })),
  ["policy.pin", "changed", plain, policy({}, { namespace: "another" })],
  ...both("policy.open", ["changed", "removed"], plain, policy({}, { open: ["operator"] })),
  ...both("policy.app-proof-types", ["narrower", "wider"], plain, policy({}, { appProofs: { types: ["A", "B"] } })),
  [
    "policy.app-proof-types",
    "changed",
    policy({}, { appProofs: { types: ["A", "B"] } }),
    policy({}, { appProofs: { types: ["A", "C"] } }),
  ],
  ["policy.app-proof-bytes", "changed", plain, policy({}, { appProofs: { bytes: true } })],
  ...both("policy.app-proofs", ["narrower", "changed"], plain, policy({ appProofs: { required: true } })),
  ...both("policy.app-proofs", ["narrower", "changed"], plain, policy({ appProofs: { maxAge: "10m" } })),
  ...both("policy.app-proofs", ["changed", "narrower"], plain, policy({ appProofs: { untimed: ["A"] } })),
  ...both(
    "policy.app-proofs",
    ["changed", "narrower"],
    policy({ appProofs: { untimed: ["A"] } }),
    policy({ appProofs: { untimed: ["A", "B"] } }),
  ),
  ...both("policy.max-age", ["changed", "narrower"], policy({ maxAge: "1d" }), policy({ maxAge: "25h" })),
  [
    "policy.order",
    "changed",
    policyOf([deployment, { ...deployment, name: "second", minNonce: 9 }]),
    policyOf([{ ...deployment, name: "second", minNonce: 9 }, deployment]),
  ],
  ["policy.name", "changed", plain, policy({ name: "another" })],
  ["policy.deployment-name", "changed", plain, policy({}, { name: "another" })],
  ["policy.comment", "changed", plain, policy({ comment: "reviewed" })],
  ["policy.comment", "changed", plain, policy({}, { comment: "reviewed" })],
  ["policy.comment", "changed", plain, policy({ $schema: "policy.schema.json" })],
  ["other", "changed", plain, policy({ appProofs: {} })],
];

const application = { appBinaryDigest: "ab".repeat(32), PCR0: "01".repeat(48), PCR3: "02".repeat(48) };
const release = file({ version: "1", signer: application });

const disk = (...files: readonly ArchivedFile[]): SectionParts => ramdiskOf(cpioArchive(...files));
const INIT = disk({ name: "init" });
const APP = disk({ name: "app", data: "1" });
const image = (...parts: readonly SectionParts[]): Uint8Array => imageOf({ sections: parts });
const plainImage = image(KERNEL, CMDLINE, METADATA, INIT, APP);
const another = (part: SectionParts, data: string): SectionParts => ({ ...part, data: utf8(data) });

const OF_IMAGES: Case[] = [
  ["image.kernel", "changed", plainImage, image(another(KERNEL, "k"), CMDLINE, METADATA, INIT, APP)],
  ["image.command-line", "changed", plainImage, image(KERNEL, another(CMDLINE, "panic=1"), METADATA, INIT, APP)],
  ["image.bootstrap", "changed", plainImage, image(KERNEL, CMDLINE, METADATA, disk({ name: "init", data: "1" }), APP)],
  ["image.ramdisk", "changed", plainImage, image(KERNEL, CMDLINE, METADATA, INIT, disk({ name: "app", data: "2" }))],
  ["image.file", "changed", plainImage, image(KERNEL, CMDLINE, METADATA, INIT, disk({ name: "app", data: "2" }))],
  ...both(
    "image.file",
    ["added", "removed"],
    plainImage,
    image(KERNEL, CMDLINE, METADATA, INIT, disk({ name: "app", data: "1" }, { name: "more" })),
  ),
  ["image.metadata", "changed", plainImage, image(KERNEL, CMDLINE, another(METADATA, "{}"), INIT, APP)],
  [
    "image.signature",
    "changed",
    ...((["P-256", "P-384"] as const).map((curve) => image(...signed(newSigner(curve)))) as [Uint8Array, Uint8Array]),
  ],
];

const OF_RELEASES: Case[] = [
  ...both(
    "release.application",
    ["changed", "removed"],
    release,
    file({ version: "1", signer: application, other: application }),
  ),
  ["release.version", "changed", release, file({ version: "2", signer: application })],
  ["application", "changed", release, file({ version: "1", signer: { ...application, appBinaryDigest: "00" } })],
  ["image.pcr0", "changed", release, file({ version: "1", signer: { ...application, PCR0: "00" } })],
  ["role", "changed", release, file({ version: "1", signer: { ...application, PCR3: "00" } })],
  ["other", "changed", release, file({ version: "1", signer: { ...application, PCR4: "00" } })],
];

const evidence = forgeEvidence({ lab, at: AT });
const bundle = (rest: object = {}): Uint8Array =>
  file({
    bundle: "bootproof-bundle/1",
    now: AT.toISOString(),
    bootProofs: [evidence.bootProof],
    appProofs: evidence.appProofs,
    activity: evidence.activity,
    policy: JSON.parse(new TextDecoder().decode(plain)) as object,
    report: { verdict: "verified", checks: [1] },
    ...rest,
  });
const withActivity = (rest: object): Uint8Array => bundle({ activity: { ...evidence.activity, ...rest } });
const other = forgeEvidence({ lab, at: later });

const OF_BUNDLES: Case[] = [
  ["bundle.verdict", "changed", bundle(), bundle({ report: { verdict: "authentic", checks: [1] } })],
  ["bundle.report", "changed", bundle(), bundle({ report: { verdict: "verified", checks: [2] } })],
  ...both("bundle.policy", ["removed", "changed"], bundle(), bundle({ policy: null })),
  ["policy.allow-debug", "changed", bundle(), bundle({ policy: { ...JSON.parse(textOf(plain)), allowDebug: true } })],
  ...both(
    "bundle.boot-proof",
    ["changed", "removed"],
    bundle(),
    bundle({ bootProofs: [evidence.bootProof, other.bootProof] }),
  ),
  ["document.time", "changed", bundle(), bundle({ bootProofs: [other.bootProof] })],
  ["app-proof", "changed", bundle(), bundle({ appProofs: other.appProofs })],
  ...both("app-proof", ["removed", "added"], bundle(), bundle({ appProofs: [] })),
  ["app-proof", "changed", bundle(), withActivity({ appProofs: other.appProofs })],
  ["activity", "changed", bundle(), withActivity({ type: "ACTIVITY_TYPE_OTHER" })],
  ...both("activity", ["removed", "added"], bundle(), bundle({ activity: undefined })),
  ["activity.organization", "changed", bundle(), withActivity({ organizationId: "another" })],
  ["activity.result", "changed", bundle(), withActivity({ result: {} })],
  ["activity.intent", "changed", bundle(), withActivity({ intent: {} })],
  ["activity.status", "changed", bundle(), withActivity({ status: "ACTIVITY_STATUS_FAILED" })],
  ["activity.id", "changed", bundle(), withActivity({ id: "another" })],
  ["other", "changed", bundle(), withActivity({ votes: [1] })],
  ["other", "changed", withActivity({ appProofs: undefined }), withActivity({ appProofs: [] })],
  ["other", "changed", bundle(), bundle({ activity: { activity: evidence.activity, more: 1 } })],
  ["activity", "changed", bundle({ activity: 1 }), bundle({ activity: 2 })],
  ...both("bundle.now", ["changed", "lower"], bundle(), bundle({ now: later.toISOString() })),
];

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

const sigstore = new LabSigstore();
const built = (build: Partial<LabBuild> = {}, options: Partial<ProvenanceOptions> = {}): Uint8Array =>
  toUtf8(sigstore.attest({ at: AT, digest: lab.pivotHash, build, ...options }));
const attest = "https://github.com/acme/builders/.github/workflows/attest.yml@refs/tags/v1";

const releases = new LabSigstore({ kind: "private" });
const released = (release: Partial<LabRelease> = {}): Uint8Array =>
  toUtf8(releases.attest({ at: AT, digest: lab.pivotHash, release }));

const OF_PROVENANCE: Case[] = [
  ["provenance.repository", "changed", released(), released({ repository: "acme/other" })],
  ["provenance.repository", "changed", released(), released({ repositoryId: "1" })],
  ["provenance.ref", "changed", released(), released({ tag: "v1.2.4" })],
  ["provenance.signer", "changed", released(), released({ tenant: "acme" })],
  ["provenance.issuer", "changed", built(), built({ issuer: "https://token.example.com" })],
  ["provenance.repository", "changed", built(), built({ repository: "https://github.com/acme/other" })],
  ["provenance.repository", "changed", built(), built({ repositoryId: "1" })],
  ["provenance.workflow", "changed", built(), built({ workflow: ".github/workflows/other.yml" })],
  ["provenance.signer", "changed", built(), built({ signer: attest })],
  ["provenance.signer", "changed", built({ signer: attest }), built({ signer: `${attest}.1` })],
  ["provenance.signer", "changed", built(), built({ identity: "https://github.com/acme/other" })],
  ["provenance.runner", "changed", built(), built({ runner: "self-hosted" })],
  ["provenance.predicate-type", "changed", built(), built({}, { predicateType: "https://spdx.dev/Document" })],
  ["provenance.ref", "lower", built(), built({ ref: "refs/heads/main" })],
  ["provenance.ref", "changed", built(), built({ ref: "refs/tags/v1.2.4" })],
  ["provenance.commit", "changed", built(), built({ commit: "0".repeat(40) })],
  ["provenance.trigger", "changed", built(), built({ trigger: "pull_request" })],
  ["provenance.subject", "changed", built(), built({}, { digest: ONE.slice(0, 32) })],
  ["provenance.material", "changed", built(), built()],
];

const CASES = [
  ...OF_SETS,
  ...OF_MANIFESTS,
  ...OF_DOCUMENTS,
  ...OF_POLICIES,
  ...OF_IMAGES,
  ...OF_RELEASES,
  ...OF_BUNDLES,
  ...OF_PROVENANCE,
];

function meaningIn(what: ChangeId, turn: Turn): { readonly severity: Severity; readonly means: string } {
  const { means } = CHANGES[what] as { means: Partial<Record<Turn, { severity: Severity; means: string }>> };
  return means[turn] ?? means.changed!;
}

describe("the table of changes", () => {
  it.each(CASES)("%s: %s", async (what, turn, before, after) => {
    const { same, changes } = await diffUnverified(before, after);
    expect(same).toBe(false);
    const wanted = meaningIn(what, turn);
    const found = changes.filter((change) => change.what === what);
    expect(found.map(({ severity }) => severity)).toContain(wanted.severity);
    expect(found.some(({ means }) => means.endsWith(wanted.means))).toBe(true);
    expect(found.every((change) => change.before !== change.after)).toBe(true);
  });

  it("has a case for each meaning", () => {
    const meanings = CHANGE_IDS.flatMap((id) => Object.keys(CHANGES[id].means).map((turn) => `${id} ${turn}`));
    const tried = new Set(CASES.map(([what, turn]) => `${what} ${turn}`));
    expect(meanings.filter((meaning) => !tried.has(meaning))).toEqual([]);
    expect([...tried].filter((meaning) => !meanings.includes(meaning))).toEqual([]);
  });

  it("has sentences", () => {
    for (const id of CHANGE_IDS)
      for (const { means } of Object.values(CHANGES[id].means)) expect(means).toMatch(/^[a-zA-Z].*\.$/);
  });
});
