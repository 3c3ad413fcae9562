/** What reviews say as data, where other tests ask for the codes of faults only. */
import { expect, it } from "vitest";
import { toHex, toUtf8 } from "../../src/bytes.js";
import { parsePolicy } from "../../src/appraise/policy.js";
import { MalformedError } from "../../src/errors.js";
import { approve, manifestHash, memberSet } from "../../src/lab/qos.js";
import { ACCEPTABLE } from "../../src/review/members.js";
import { type ReviewOptions, reviewManifest } from "../../src/review/review.js";
import { AWS_NITRO_ROOT_G1, certificatePem } from "../../src/verify/trust-anchor.js";
import { withPivot } from "../support/manifest.js";
import { DEMAND, ROOT } from "../support/provenance.js";
import { readVector } from "../support/vectors.js";
import {
  ANCHORS,
  UNPINNED,
  approvalOf,
  bytesOf,
  codesOf,
  deploymentOf,
  envelopeOf,
  lab,
  made,
  policyOf,
  review,
} from "./support.js";

const V1 = withPivot(made("v1"));
const V2 = withPivot(made("v2"));
const V3 = made("v3");
const PINS = deploymentOf(V1);
const BEFORE = { ...V1, namespace: { ...V1.namespace, nonce: 1 } };
const OTHER = new Uint8Array(48).fill(9);
const ACCEPT_ALL = { accept: UNPINNED.v1 };

async function faultsOf(options: unknown, manifest: Uint8Array = bytesOf(V1)): Promise<unknown> {
  const error: unknown = await reviewManifest(manifest, options as ReviewOptions).catch((thrown: unknown) => thrown);
  if (error instanceof MalformedError) return [error.code, ...error.faults.map(({ path }) => path)];
  return error instanceof TypeError ? error.message : error;
}

it("knows these names", () => {
  expect(ACCEPTABLE).toEqual([
    ...["namespace", "nonce", "quorumKey", "pivotHash", "restart", "args", "bridgeConfig", "env", "mounts"],
    ...["workloads", "pcr0", "pcr1", "pcr2", "pcr3", "qosCommit", "version", "manifestSet", "shareSet", "patchSet"],
    ...["dns", "clientTimeoutMs", "poolSize", "volumes"],
  ]);
});

it("compares these pins, and lists those that no manifest shows", async () => {
  for (const [manifest, application] of [
    [V2, ["pivotHash", "pivotArgs", "pivotEnv"]],
    [V3, ["workloads"]],
  ] as const) {
    const hash = toHex(manifestHash(manifest));
    const pins = { ...deploymentOf(manifest), manifestHash: hash, labels: { owner: "lab" } };
    const { deployments, members } = await review(manifest, { policy: policyOf(pins), accept: [] });
    const common = ["namespace", "minNonce", "quorumKey", "manifestSet", "shareSet"];
    expect(deployments[0]!.pins.map(({ pin }) => pin)).toEqual(["pcrs", "manifestHash", ...application, ...common]);
    expect(deployments[0]!.notCompared).toEqual(["commitment", "labels"]);
    expect(members).toEqual([]);
  }
});

it("does not compare a demand for provenance, nor PCR8 without an image: it lists them", async () => {
  const pcrs = { ...(PINS["pcrs"] as object), 8: toHex(OTHER) };
  const file = { policy: "bootproof/1", trustAnchors: ANCHORS, deployments: [{ ...PINS, pcrs, provenance: [DEMAND] }] };
  const good = await review(V1, { policy: parsePolicy(JSON.stringify(file), { readFile: () => ROOT }) });
  expect(good).toMatchObject({ format: "bootproof-review/1", ok: true });
  expect(good.deployments[0]!.notCompared).toEqual(["pcrs.8", "commitment", "provenance"]);
});

it("compares an alternative of which one PCR is known", async () => {
  const bad = await review(V1, { policy: policyOf({ ...PINS, pcrs: { 3: toHex(OTHER), 4: toHex(OTHER) } }) });
  expect(codesOf(bad)).toContain("pin pcrs");
});

it("says both values of a pin that does not hold, and of one that does only the actual one", async () => {
  const bad = await review(V1, { ...ACCEPT_ALL, policy: policyOf({ ...PINS, namespace: "lab/other" }) });
  const [namespace] = bad.deployments[0]!.pins.filter(({ pin }) => pin === "namespace");
  expect(namespace).toMatchObject({ holds: false, expected: '"lab/other"', actual: '"lab/signer"' });
  expect(bad.faults).toMatchObject([{ deployment: "lab", expected: '"lab/other"', actual: '"lab/signer"' }]);
  expect(bad.deployments[0]).toMatchObject({
    holds: false,
    pins: expect.arrayContaining([
      expect.objectContaining({ pin: "quorumKey", expected: null, actual: expect.any(String) as string }),
    ]) as unknown,
  });
});

it("leaves out an alternative of pcrs of which nothing is known, and compares the others", async () => {
  const known = PINS["pcrs"] as object;
  const policy = policyOf({
    ...PINS,
    pcrs: [
      { ...known, 4: toHex(OTHER) },
      { ...known, 0: toHex(OTHER) },
    ],
  });
  const good = await review(V1, { ...ACCEPT_ALL, policy });
  expect([codesOf(good), good.deployments[0]!.notCompared]).toEqual([[], ["pcrs.4", "commitment"]]);
});

it("leaves pcrs out of which no alternative is known, so that none of them is held", async () => {
  const policy = policyOf({ ...PINS, pcrs: [{ 5: toHex(OTHER) }, { 6: toHex(OTHER) }] });
  const open = await review(V1, { policy });
  expect(open.deployments[0]!.pins.map(({ pin }) => pin)).not.toContain("pcrs");
  expect(open.deployments[0]!.notCompared).toEqual(["pcrs.5", "pcrs.6", "commitment"]);
  expect(codesOf(open)).toEqual([0, 1, 2, 3].map((index) => `open-member enclave.pcr${index}`));
});

it("a member has to be held by every deployment that fits", async () => {
  const two = policyOf(PINS, { ...without("pivotArgs"), name: "two" });
  expect(codesOf(await review(V1, { policy: two }))).toEqual(["several-deployments", "open-member pivot.args"]);
});

it("holds the program by the binary that was given, and the nonce by the previous manifest", async () => {
  const policy = policyOf(without("pivotHash", "minNonce"));
  expect(codesOf(await review(V1, { policy }))).toEqual(["open-member namespace.nonce", "open-member pivot.hash"]);
  const options = { policy, accept: [], previous: bytesOf(BEFORE) };
  const held = await review(V1, { ...options, measured: { pivotHash: V1.pivot.hash } });
  expect([codesOf(held), held.measured]).toEqual([[], ["pivotHash"]]);
  expect(held.members.map(({ name, status }) => [name, status])).toEqual([
    ["restart", "unchanged"],
    ["bridgeConfig", "unchanged"],
    ["qosCommit", "unchanged"],
    ["version", "unchanged"],
    ["patchSet", "unchanged"],
  ]);
  const rolledBack = await review(BEFORE, {
    ...options,
    previous: bytesOf(V1),
    measured: { pivotHash: V1.pivot.hash },
  });
  expect(rolledBack.faults).toMatchObject([
    { code: "previous-nonce", about: "namespace.nonce", expected: `above ${V1.namespace.nonce}`, actual: "1" },
  ]);
});

it("notes sets whose members' secrets are public", async () => {
  const text = Buffer.from(readVector("public-keys.json")).toString();
  const members = [...text.matchAll(/[0-9a-f]{260}/g)].map(([key], index) => ({
    alias: `public ${index}`,
    pubKey: new Uint8Array(Buffer.from(key, "hex")),
  }));
  const [one, ...others] = [...new Map(members.map((member) => [toHex(member.pubKey), member])).values()];
  const set = { threshold: 1, members: [one!, ...others] };
  for (const [name, note] of [
    ["manifestSet", "so anyone can approve manifests"],
    ["shareSet", "so anyone can rebuild the quorum key"],
  ] as const) {
    const manifest = { ...V1, [name]: set };
    const good = await review(manifest, { policy: policyOf(deploymentOf(manifest)) });
    expect([good.notes, codesOf(good)]).toEqual([[expect.stringContaining(note)], []]);
  }
});

it("chooses one deployment by its pins, or none, and names those that it chose from", async () => {
  const nonce = V1.namespace.nonce;
  const one = { ...PINS, name: "one" };
  const [other, high] = [
    { ...PINS, name: "two", minNonce: 1 },
    { ...PINS, name: "high", minNonce: nonce + 1 },
  ];
  expect(await review(V1, { policy: policyOf(high, one) })).toMatchObject({ ok: true, deployment: "one", faults: [] });
  const several = await review(V1, { policy: policyOf(high, one, other) });
  expect(several).toMatchObject({ ok: false, deployment: null });
  expect(several.faults.map(({ message }) => message)).toEqual([
    '2 deployments match; no pin tells them apart: "one", "two"',
  ]);
  const none = await review(V1, { policy: policyOf(high, { ...high, name: "higher", minNonce: nonce + 2 }) });
  expect(none.deployment).toBe(null);
  expect(none.faults[0]!.message).toBe('each deployment of the policy has a pin that does not hold: "high", "higher"');
  const alone = await review(V1, { policy: policyOf(high) });
  expect([codesOf(alone), alone.deployment]).toEqual([["pin minNonce"], null]);
});

it("compares what was built, and says what it compared", async () => {
  const signed = (index: number, pcrs: object[]) =>
    review(V1, { measured: { pcrs: { [index]: OTHER } }, policy: policyOf({ ...PINS, pcrs: pcrs as never }) });
  const known = PINS["pcrs"] as object;
  const held = await signed(8, [known, { ...known, 8: toHex(OTHER) }]);
  expect([held.measured, held.notes, codesOf(held)]).toEqual([["pcr8"], [], []]);
  const free = await signed(8, [known]);
  expect([free.measured, free.notes, codesOf(free)]).toEqual([[], [expect.stringContaining("PCR8")], []]);
  const two = await review(V1, {
    measured: { pcrs: { 8: OTHER } },
    policy: policyOf({ ...PINS, pcrs: { ...known, 8: toHex(OTHER) }, name: "a" }, { ...PINS, name: "b" }),
  });
  expect([two.measured, two.notes]).toEqual([[], [expect.stringContaining("PCR8")]]);
  const nine = await signed(9, [known]);
  expect([nine.measured, nine.faults.map(({ about, expected }) => [about, expected])]).toEqual([
    [],
    [["pcr9", toHex(OTHER)]],
  ]);
  const other = await review(V1, { measured: { pcrs: { 2: OTHER }, pivotHash: new Uint8Array(32) } });
  expect(other.measured).toEqual(["pcr2", "pivotHash"]);
  expect(other.faults.map(({ about, expected, actual }) => [about, expected, actual])).toEqual([
    ["enclave.pcr2", toHex(OTHER), toHex(V1.enclave.pcr2)],
    ["pivot.hash", "00".repeat(32), toHex(V1.pivot.hash)],
  ]);
  const workloads = await review(V3, {
    policy: policyOf(deploymentOf(V3)),
    accept: UNPINNED.v3,
    measured: { pcrs: { 0: V3.enclave.pcr0 }, pivotHash: new Uint8Array(32) },
  });
  expect([workloads.measured, codesOf(workloads)]).toEqual([["pcr0"], ["binary-not-compared workloads"]]);
});

it("holds each PCR by the image that was given", async () => {
  const { 0: pcr0, 1: pcr1, 2: pcr2 } = PINS["pcrs"] as Record<string, string>;
  const pcrs = [{ 0: pcr0, 1: pcr1, 2: pcr2 }] as never;
  const open = await review(V1, { policy: policyOf({ ...PINS, pcrs }) });
  expect(codesOf(open)).toEqual(["open-member enclave.pcr3"]);
  expect(open.faults[0]).toMatchObject({ expected: null, actual: `"${toHex(V1.enclave.pcr3)}"` });
  expect(open.faults[0]!.message).toBe("no pin holds enclave.pcr3");
  const held = await review(V1, { policy: policyOf({ ...PINS, pcrs }), measured: { pcrs: { 3: V1.enclave.pcr3 } } });
  expect(codesOf(held)).toEqual([]);
  const operators = { ...PINS, pcrs: undefined };
  const policy = policyOf(Object.fromEntries(Object.entries(operators).filter(([, pin]) => pin !== undefined)));
  expect(codesOf(await review(V1, { policy }))).toEqual([0, 1, 2, 3].map((index) => `open-member enclave.pcr${index}`));
});

it("says what is wrong with a measurement and a root", async () => {
  const bad = await review(
    { ...V1, enclave: { ...V1.enclave, pcr1: new Uint8Array(4), pcr2: OTHER, pcr3: new Uint8Array(48) } },
    { accept: [...UNPINNED.v1, "pcr0", "pcr1", "pcr2", "pcr3"], policy: policyOf(without("pcrs")) },
  );
  expect(bad.faults.map(({ about, message }) => [about, message])).toEqual([
    ["enclave.pcr1", "PCR1 has 4 bytes, expected 48"],
    ["enclave.pcr3", "PCR3 is zeros"],
  ]);
  const anchors = [...ANCHORS, { pem: certificatePem(AWS_NITRO_ROOT_G1.certificate.der) }];
  const policy = parsePolicy({ policy: "bootproof/1", trustAnchors: anchors, deployments: [PINS as never] });
  expect(codesOf(await review(V1, { policy }))).toEqual([]);
  const root = await review({ ...V1, enclave: { ...V1.enclave, awsRootCertificate: OTHER } }, { policy });
  expect(root.faults).toMatchObject([{ code: "aws-root", actual: toHex(OTHER) }]);
  expect(root.faults[0]!.expected).toBe(policy.trustAnchors.map(({ name }) => name).join(", "));
});

function without(...names: string[]) {
  return Object.fromEntries(Object.entries(PINS).filter(([name]) => !names.includes(name)));
}

it("names the set, the status and the members of approvals", async () => {
  const bad = approvalOf(V1, 1).signature.map((byte, at) => (at === 40 ? byte ^ 1 : byte));
  const { member } = approvalOf(V1, 1);
  const share = approve(manifestHash(V1), lab.shareMembers[0]!);
  const stranger = approve(manifestHash(V1), { ...lab.shareMembers[0]!, alias: "eve" });
  const given = envelopeOf(V1, [approvalOf(V1), approvalOf(V1), { member, signature: bad }], [share, stranger]);
  const { approvals, approvers, faults } = await review(given);
  expect(approvals.map(({ set, alias, status }) => [set, alias, status])).toEqual([
    ["manifest", "alice", "valid"],
    ["manifest", "alice", "repeated"],
    ["manifest", "bob", "invalid"],
    ["share", lab.shareMembers[0]!.alias, "valid"],
    ["share", "eve", "stranger"],
  ]);
  expect(approvers.threshold).toBe(2);
  expect(approvers.members.map(({ alias, approved }) => [alias, approved])).toEqual([
    ["alice", true],
    ["bob", false],
    ["carol", false],
  ]);
  expect(faults.map(({ code, about }) => [code, about])).toEqual([
    ["approval-repeated", "alice"],
    ["approval-invalid", "bob"],
    ["approval-stranger", "eve"],
  ]);
  expect(faults.map(({ message }) => message.split(" ", 1)[0])).toEqual(["manifest", "manifest", "share"]);
});

it("an approval of the share set is none of the manifest set", async () => {
  const shareSet = memberSet(2, lab.manifestMembers);
  const manifest = { ...V1, shareSet };
  const share = approve(manifestHash(manifest), lab.manifestMembers[0]!);
  const { approvers, approvals } = await review(envelopeOf(manifest, [], [share]), {
    policy: policyOf(deploymentOf(manifest)),
  });
  expect(approvals.map(({ status }) => status)).toEqual(["valid"]);
  expect(approvers.members.every(({ approved }) => !approved)).toBe(true);
});

it("refuses other input with its name", async () => {
  const policy = policyOf(PINS);
  const approval = JSON.stringify({ signature: "00", member: { alias: 7, pubKey: "00" } });
  const bare = { name: "b", kind: "nitro", pcrs: { 0: toHex(OTHER), 1: toHex(OTHER), 2: toHex(OTHER) } } as const;
  expect(await faultsOf({ policy }, toUtf8("{}"))).toContain("namespace");
  const notManifest = toUtf8('{"policy":"bootproof/1"}');
  expect(await faultsOf({ policy }, notManifest)).toEqual(["manifest", ""]);
  await expect(reviewManifest(notManifest, { policy })).rejects.toThrow("this is a policy, not a manifest");
  expect(await faultsOf({ policy, previous: toUtf8('{"policy":"bootproof/1"}') })).toEqual(["manifest", "previous"]);
  const broken = toUtf8(JSON.stringify({ ...JSON.parse(Buffer.from(bytesOf(V1)).toString()), manifestSet: 7 }));
  expect(await faultsOf({ policy }, broken)).toEqual(["manifest", "manifestSet"]);
  expect(await faultsOf({ policy, previous: broken })).toEqual(["manifest", "previous: manifestSet"]);
  expect(await faultsOf({ policy, previous: new Uint8Array() })).toEqual(["manifest", "previous"]);
  expect(await faultsOf({ policy, approvals: [new Uint8Array([1])] })).toEqual([
    "approval",
    "approvals[0]: .signature",
  ]);
  expect(await faultsOf({ policy, approvals: [toUtf8(approval)] })).toContain("approvals[0]: member.alias");
  expect(await faultsOf({ policy: parsePolicy({ policy: "bootproof/1", deployments: [bare] }) })).toEqual([
    "policy",
    "deployments",
  ]);
  expect(await faultsOf({ policy, approvals: "ab" })).toContain("options.approvals: expected an array, got a string");
  expect(await faultsOf({ policy, approvals: ["ab"] })).toContain(
    "options.approvals[0]: expected bytes, as a Uint8Array, got a string",
  );
  expect(await faultsOf({ policy, accept: "dns" })).toContain("options.accept: expected an array, got a string");
  expect(await faultsOf({ policy, previous: 7 })).toContain(
    "options.previous: expected bytes, as a Uint8Array, got a number",
  );
  expect(await faultsOf({ policy }, 7 as never)).toContain("manifest: expected bytes, as a Uint8Array, got a number");
  for (const none of [{}, { policy: { ...policy } }]) expect(await faultsOf(none)).toMatch(/parsePolicy/);
  expect(await faultsOf({ policy, more: 7 })).toMatch(/^options\.more: unknown/);
  expect(await faultsOf({ policy, measured: {} })).toBe("measured: expected pcrs or pivotHash");
});
