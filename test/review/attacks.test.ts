/** What a review refuses: each line of review/README.md, "What fails", by a manifest that only it refuses. */
import { describe, expect, it } from "vitest";
import { parsePolicy } from "../../src/appraise/policy.js";
import { toHex, toUtf8 } from "../../src/bytes.js";
import { MANIFEST_VERSIONS, type Manifest, type QuorumMember } from "../../src/decode/manifest/index.js";
import { AWS_NITRO_ROOT_G1 } from "../../src/verify/trust-anchor.js";
import {
  approve,
  encodeEnvelope,
  encodeManifest,
  generateMembers,
  generateQosKeyPair,
  manifestHash,
  memberSet,
} from "../../src/lab/qos.js";
import type { ReviewOptions } from "../../src/review/review.js";
import { renderReview } from "../../src/review/text.js";
import { readVector } from "../support/vectors.js";
import { withPivot } from "../support/manifest.js";
import {
  ANCHORS,
  type Pinned,
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
const PINS = deploymentOf(V1);
const ZERO = new Uint8Array(48);
const OTHER = new Uint8Array(48).fill(9);
const HASH = new Uint8Array(32).fill(9);
const STRANGERS = generateMembers("p", "q", "r");

const without = (...names: string[]): Pinned =>
  Object.fromEntries(Object.entries(PINS).filter(([name]) => !names.includes(name)));
const enclave = (parts: Partial<Manifest["enclave"]>): Manifest => ({ ...V1, enclave: { ...V1.enclave, ...parts } });
const namespace = (parts: Partial<Manifest["namespace"]>, of: Manifest = V1): Manifest => ({
  ...of,
  namespace: { ...of.namespace, ...parts },
});
const pivot = (parts: Partial<typeof V1.pivot>): Manifest => ({ ...V1, pivot: { ...V1.pivot, ...parts } });
const before = (manifest: Manifest = V1): Manifest => namespace({ nonce: manifest.namespace.nonce - 1 }, manifest);

it.each(MANIFEST_VERSIONS)(
  "the lab's manifest %s is good under a policy that pins it, the rest accepted",
  async (v) => {
    const manifest = made(v);
    const options = { policy: policyOf(deploymentOf(manifest)), accept: UNPINNED[v] };
    const good = await review(manifest, options);
    expect(codesOf(good)).toEqual([]);
    expect(good).toMatchObject({ ok: true, deployment: "lab", manifestVersion: v, changes: null });
    expect(good.manifestHash).toBe(toHex(manifestHash(manifest)));
    for (const left of UNPINNED[v]) {
      const bad = await review(manifest, { ...options, accept: UNPINNED[v].filter((name) => name !== left) });
      expect(new Set(bad.faults.map(({ code }) => code))).toEqual(new Set(["open-member"]));
      expect(bad.members.filter(({ status }) => status === "open").every(({ name }) => name === left)).toBe(true);
    }
  },
);

it("takes envelopes, Borsh and base64", async () => {
  const borsh = encodeManifest(V1, { encoding: "borsh" });
  const envelope = encodeEnvelope(
    { manifest: V1, manifestSetApprovals: [], shareSetApprovals: [] },
    { encoding: "borsh" },
  );
  for (const one of [borsh, envelope, envelopeOf(V1, []), toUtf8(Buffer.from(borsh).toString("base64"))])
    expect((await review(one)).manifestHash).toBe(toHex(manifestHash(V1)));
});

type Row = readonly [name: string, manifest: Manifest | Uint8Array, faults: readonly string[], Partial<ReviewOptions>?];

const withSet = (name: "manifestSet" | "shareSet", set: Manifest["manifestSet"]): Manifest => ({ ...V1, [name]: set });
const [first, second, third] = V1.manifestSet.members as [QuorumMember, QuorumMember, QuorumMember];
const damaged = (): ReturnType<typeof approvalOf> => {
  const { signature, member } = approvalOf(V1);
  return { member, signature: signature.map((byte, index) => (index === 40 ? byte ^ 1 : byte)) };
};

const PIN_ROWS: readonly Row[] = [
  ["another image", enclave({ pcr0: OTHER }), ["pin pcrs"]],
  ["another role", enclave({ pcr3: OTHER }), ["pin pcrs"]],
  ["another program", pivot({ hash: HASH }), ["pin pivotHash"]],
  ["other arguments", pivot({ args: [] }), ["pin pivotArgs"]],
  ["another namespace", namespace({ name: "lab/other" }), ["pin namespace"]],
  ["a lower nonce", namespace({ nonce: 0 }), ["pin minNonce"]],
  ["another quorum key", namespace({ quorumKey: generateQosKeyPair().publicKey }), ["pin quorumKey"]],
  ["another manifest set", withSet("manifestSet", memberSet(2, STRANGERS)), ["pin manifestSet"]],
  ["a lower threshold", withSet("manifestSet", { ...V1.manifestSet, threshold: 1 }), ["pin manifestSet"]],
  ["another share set", withSet("shareSet", memberSet(2, STRANGERS)), ["pin shareSet"]],
  [
    "another hash than pinned",
    V1,
    ["pin manifestHash"],
    { policy: policyOf({ ...PINS, manifestHash: "09".repeat(32) }), accept: [] },
  ],
  [
    "two pins at once, and two other faults",
    { ...pivot({ hash: HASH, debugMode: true }), namespace: namespace({ nonce: 0 }).namespace },
    ["pin pivotHash", "pin minNonce", "debug-mode pivot.debugMode"],
  ],
  [
    "workloads under a pivot's pins",
    made("v3"),
    ["pin pivotHash", "pin pivotArgs", "pin pivotEnv"],
    { accept: [...UNPINNED.v3, "workloads"] },
  ],
];

const DEPLOYMENT_ROWS: readonly Row[] = [
  [
    "none of several deployments",
    V1,
    ["no-deployment", "pin pivotHash", "pin namespace"],
    { policy: policyOf({ ...PINS, pivotHash: "09".repeat(32) }, { ...PINS, name: "two", namespace: "lab/two" }) },
  ],
  [
    "two deployments that fit",
    V1,
    ["several-deployments"],
    { policy: policyOf(PINS, { ...PINS, name: "two", commitment: "legacy" }) },
  ],
  [
    "two deployments that fit, of which one leaves the share set open",
    V1,
    ["several-deployments", "open-member shareSet"],
    { policy: policyOf(PINS, { ...without("shareSet"), name: "two" }) },
  ],
];

const BUILT_ROWS: readonly Row[] = [
  ["another image than given", V1, ["image enclave.pcr0"], { measured: { pcrs: { 0: OTHER, 1: V1.enclave.pcr1 } } }],
  ["another role than given", V1, ["image enclave.pcr3"], { measured: { pcrs: { 3: OTHER } } }],
  ["a PCR that no manifest has", V1, ["image-not-compared pcr4"], { measured: { pcrs: { 4: OTHER } } }],
  ["another binary than given", V1, ["binary pivot.hash"], { measured: { pivotHash: HASH } }],
  [
    "a binary beside workloads",
    made("v3"),
    ["binary-not-compared workloads"],
    { policy: policyOf(deploymentOf(made("v3"))), accept: UNPINNED.v3, measured: { pivotHash: HASH } },
  ],
  [
    "a signed image whose certificate is another than pinned",
    V1,
    ["pin pcrs"],
    {
      policy: policyOf({ ...PINS, pcrs: { ...(PINS["pcrs"] as object), 8: toHex(OTHER) } }),
      measured: { pcrs: { 8: new Uint8Array(48).fill(7) } },
    },
  ],
];

const APPROVAL_ROWS: readonly Row[] = [
  ["an approval with a flipped byte", envelopeOf(V1, [damaged()]), ["approval-invalid alice"]],
  ["an approval of another manifest", envelopeOf(V1, [approvalOf(before())]), ["approval-invalid alice"]],
  ["one approval twice", envelopeOf(V1, [approvalOf(V1), approvalOf(V1)]), ["approval-repeated alice"]],
  ["an approval of a stranger", envelopeOf(V1, [approve(manifestHash(V1), STRANGERS[0]!)]), ["approval-stranger p"]],
  [
    "a member under another alias",
    envelopeOf(V1, [{ ...approvalOf(V1), member: { ...approvalOf(V1).member, alias: "z" } }]),
    ["approval-stranger z"],
  ],
  [
    "a share-set approval of a stranger",
    envelopeOf(V1, [], [approve(manifestHash(V1), STRANGERS[0]!)]),
    ["approval-stranger p"],
  ],
];

const MANIFEST_ROWS: readonly Row[] = [
  ["debug mode", pivot({ debugMode: true }), ["debug-mode pivot.debugMode"]],
  [
    "debug mode, where the policy allows debug enclaves",
    pivot({ debugMode: true }),
    ["debug-mode pivot.debugMode"],
    {
      policy: parsePolicy({
        policy: "bootproof/1",
        allowDebug: true,
        trustAnchors: ANCHORS,
        deployments: [PINS as never],
      }),
    },
  ],
  ["a role of zeros", enclave({ pcr3: ZERO }), ["pin pcrs", "zero-pcr enclave.pcr3"]],
  [
    "a role of zeros that nothing pins",
    enclave({ pcr3: ZERO }),
    ["zero-pcr enclave.pcr3"],
    { policy: policyOf(without("pcrs")), accept: [...UNPINNED.v1, "pcr0", "pcr1", "pcr2", "pcr3"] },
  ],
  [
    "a PCR without bytes that nothing pins",
    enclave({ pcr2: new Uint8Array() }),
    ["pcr-length enclave.pcr2"],
    { policy: policyOf(without("pcrs")), accept: [...UNPINNED.v1, "pcr0", "pcr1", "pcr2", "pcr3"] },
  ],
  [
    "two members of one key",
    withSet("manifestSet", { threshold: 2, members: [first, second, { ...first, alias: "x" }] }),
    ["set manifestSet", "set manifestSet"],
    { policy: policyOf(without("manifestSet")), accept: [...UNPINNED.v1, "manifestSet"] },
  ],
  [
    "two members of one alias",
    withSet("manifestSet", { threshold: 2, members: [first, second, { ...third, alias: "alice" }] }),
    ["set manifestSet"],
  ],
  [
    "a threshold of zero",
    withSet("manifestSet", { ...V1.manifestSet, threshold: 0 }),
    ["pin manifestSet", "set manifestSet"],
  ],
  ["a threshold above the members", withSet("manifestSet", { ...V1.manifestSet, threshold: 9 }), ["set manifestSet"]],
  ["a share threshold above the members", withSet("shareSet", { ...V1.shareSet, threshold: 9 }), ["set shareSet"]],
  [
    "another root than the policy's",
    enclave({ awsRootCertificate: AWS_NITRO_ROOT_G1.certificate.der }),
    ["aws-root enclave.awsRootCertificate"],
  ],
];

const PREVIOUS_ROWS: readonly Row[] = [
  [
    "a previous manifest of another namespace",
    V1,
    ["previous-namespace namespace.name"],
    { accept: [], previous: bytesOf(namespace({ name: "lab/other" }, before())) },
  ],
  [
    "a previous manifest of another quorum key",
    V1,
    ["previous-quorum-key namespace.quorumKey"],
    { accept: [], previous: bytesOf(namespace({ quorumKey: generateQosKeyPair().publicKey }, before())) },
  ],
  ["the nonce of the previous manifest", V1, ["previous-nonce namespace.nonce"], { accept: [], previous: bytesOf(V1) }],
  [
    "a member that changed and is not accepted",
    pivot({ bridgeConfig: [] }),
    ["open-member pivot.bridgeConfig"],
    { accept: [], previous: bytesOf(before()) },
  ],
];

const OPEN: readonly (readonly [pins: readonly string[], member: string, place: string])[] = [
  [["shareSet"], "shareSet", "shareSet"],
  [["pivotArgs"], "args", "pivot.args"],
  [["quorumKey"], "quorumKey", "namespace.quorumKey"],
  [["pivotHash"], "pivotHash", "pivot.hash"],
  [["manifestSet"], "manifestSet", "manifestSet"],
  [["minNonce"], "nonce", "namespace.nonce"],
  [["namespace", "minNonce"], "namespace", "namespace.name"],
];

const MEMBER_ROWS: readonly Row[] = [
  ...OPEN.map(([pins, member, place]): Row => {
    const also = pins.length > 1 ? ["nonce"] : [];
    return [
      `${member} that the policy does not pin`,
      V1,
      [`open-member ${place}`],
      { policy: policyOf(without(...pins)), accept: [...UNPINNED.v1, ...also] },
    ];
  }),
  ["an acceptance of what is pinned", V1, ["unused-accept shareSet"], { accept: [...UNPINNED.v1, "shareSet"] }],
  ["an acceptance of what is not there", V1, ["unused-accept dns"], { accept: [...UNPINNED.v1, "dns"] }],
  [
    "an acceptance of what is unchanged",
    V1,
    ["unused-accept restart"],
    { accept: ["restart"], previous: bytesOf(before()) },
  ],
  [
    "an acceptance of a pin that does not hold",
    pivot({ args: [] }),
    ["pin pivotArgs", "unused-accept args"],
    { accept: [...UNPINNED.v1, "args"] },
  ],
];

const TABLES: readonly (readonly [string, readonly Row[]])[] = [
  ["a pin that does not hold", PIN_ROWS],
  ["a policy of several deployments", DEPLOYMENT_ROWS],
  ["what was built", BUILT_ROWS],
  ["approvals", APPROVAL_ROWS],
  ["the manifest itself", MANIFEST_ROWS],
  ["the previous manifest", PREVIOUS_ROWS],
  ["members that nothing holds", MEMBER_ROWS],
];

describe.each(TABLES)("%s", (_, rows) => {
  it.each(rows.map((row) => [row[0], row] as const))("%s", async (__, [, manifest, faults, options = {}]) => {
    const result = await review(manifest, options);
    expect(codesOf(result)).toEqual(faults);
    expect(result.ok).toBe(false);
    const text = renderReview(result);
    expect(text).toContain("DO NOT APPROVE");
    for (const { code, message, advice } of result.faults) {
      expect(text).toContain(`(${code})`);
      expect(message.length).toBeGreaterThan(10);
      expect(advice).toMatch(/\.$/);
    }
  });
});

describe("what is not a fault", () => {
  it("a share-set approval twice: a note", async () => {
    const share = approve(manifestHash(V1), lab.shareMembers[0]!);
    const good = await review(envelopeOf(V1, [], [share, share]));
    expect([codesOf(good), good.notes]).toEqual([[], [expect.stringContaining("counts once")]]);
  });

  it("every member under a pinned hash", async () => {
    const policy = policyOf({ name: "lab", manifestHash: toHex(manifestHash(V1)) });
    const good = await review(V1, { policy, accept: [] });
    expect([codesOf(good), good.members]).toEqual([[], []]);
  });

  it("keys whose secrets are public: notes", async () => {
    const quorumKey = readPublicKey();
    const manifest = namespace({ quorumKey });
    const good = await review(manifest, { policy: policyOf(deploymentOf(manifest)) });
    expect([codesOf(good), good.notes]).toEqual([[], [expect.stringContaining("quorum key's secret is public")]]);
  });
});

function readPublicKey(): Uint8Array {
  const [key] = /[0-9a-f]{260}/.exec(Buffer.from(readVector("public-keys.json")).toString())!;
  return new Uint8Array(Buffer.from(key, "hex"));
}

it("an alternative of pcrs that no manifest can show accepts no manifest", async () => {
  const pcrs = [{ ...(PINS["pcrs"] as object), 0: toHex(OTHER) }, { 8: toHex(OTHER) }];
  const bad = await review(V1, { policy: policyOf({ ...PINS, pcrs }) });
  expect(codesOf(bad)).toEqual(["pin pcrs", ...[0, 1, 2, 3].map((index) => `open-member enclave.pcr${index}`)]);
});
