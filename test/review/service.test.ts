/** What the service says of a deployment: approvals are verified, and members must agree with the manifest. */
import { describe, expect, it } from "vitest";
import { toBase64, toHex } from "../../src/bytes.js";
import type { Manifest } from "../../src/decode/manifest/index.js";
import { imageDigestText } from "../../src/decode/manifest/image-digest.js";
import { reviewManifest } from "../../src/review/review.js";
import { UNPINNED, approvalOf, bytesOf, codesOf, deploymentOf, made, policyOf } from "./support.js";
import { withPivot } from "../support/manifest.js";

const V1 = withPivot(made("v1"));
const V3 = made("v3");
const [FIRST, SECOND] = [approvalOf(V1, 0), approvalOf(V1, 1)];

const held = (approval = FIRST, name = approval.member.alias, key = approval.member.pubKey): object => ({
  operator: { name, publicKey: toHex(key) },
  approval: toBase64(approval.signature),
});
const setOf = ({ threshold, members }: Manifest["manifestSet"]): Record<string, unknown> => ({
  threshold,
  operators: members.map(({ alias, pubKey }) => ({ name: alias, publicKey: toHex(pubKey) })),
});
const said = (manifest: Manifest, more: object = {}): never =>
  ({
    ...{ id: "d", organizationId: "o", appId: "a", manifest: { manifest: toBase64(bytesOf(manifest)) } },
    manifestSet: setOf(manifest.manifestSet),
    shareSet: setOf(manifest.shareSet),
    ...more,
  }) as never;

const reviewed = (manifest: Manifest, more: object = {}) =>
  reviewManifest(bytesOf(manifest), {
    policy: policyOf(deploymentOf(manifest)),
    accept: UNPINNED[manifest.version],
    deployment: said(manifest, more),
  });

describe("an honest answer", () => {
  it("is no fault: approvals count by the key, whatever the operator is called, and labels are notes", async () => {
    const review = await reviewed(V1, {
      manifestApprovals: [held(FIRST, "somebody"), held(SECOND)],
      ...{ qosVersion: "2026.8.1", debugMode: false, delete: false, provisioningState: "PROVISIONING_STATE_PENDING" },
      pivotContainer: { containerUrl: "ghcr.io/team/app:1", path: "/app", args: V1.pivot.args },
    });
    expect([review.ok, codesOf(review)]).toEqual([true, []]);
    const approved = review.approvers.members.filter((one) => one.approved).map(({ alias }) => alias);
    expect(approved).toEqual([FIRST.member.alias, SECOND.member.alias]);
    for (const label of ["2026.8.1", "ghcr.io/team/app:1", "/app", "PROVISIONING_STATE_PENDING"])
      expect(review.notes.join("\n")).toContain(label);
  });

  it("may lack every member, have them in another order, and name the image of a workload", async () => {
    const bare = { manifestSet: null, shareSet: { threshold: 1 }, manifestApprovals: null, pivotContainer: {} };
    expect(codesOf(await reviewed(V1, bare))).toEqual([]);
    const { threshold, members } = V1.manifestSet;
    const turned = { threshold, members: [...members].reverse() };
    expect(codesOf(await reviewed(V1, { manifestSet: setOf(turned) }))).toEqual([]);
    const image = imageDigestText(V3.workloads![0]!.imageDigest);
    expect(codesOf(await reviewed(V3, { pivotContainer: { containerUrl: `ghcr.io/x@${image}` } }))).toEqual([]);
  });

  it("makes nothing pass: a manifest that fails without it fails with it", async () => {
    const policy = policyOf({ ...deploymentOf(V1), pivotHash: "00".repeat(32) });
    const accept = UNPINNED.v1;
    const bare = await reviewManifest(bytesOf(V1), { policy, accept });
    const deployment = said(V1, { manifestApprovals: [held(FIRST), held(SECOND)] });
    const beside = await reviewManifest(bytesOf(V1), { policy, accept, deployment });
    expect(codesOf(bare)).toEqual(["pin pivotHash"]);
    expect(codesOf(beside)).toEqual(codesOf(bare));
  });
});

const { manifestSet, shareSet, pivot } = V1;
const other = approvalOf({ ...V1, namespace: { ...V1.namespace, nonce: 77 } });
const stranger = { ...FIRST, member: { alias: "mallory", pubKey: shareSet.members[0]!.pubKey } };
const alias = FIRST.member.alias;

describe("an answer", () => {
  it.each<[string, Manifest, object, string[]]>([
    ["with an approval of another manifest", V1, { manifestApprovals: [held(other)] }, [`approval-invalid ${alias}`]],
    ["with an approval twice", V1, { manifestApprovals: [held(), held()] }, [`approval-repeated ${alias}`]],
    [
      "with an approval under a member's name by another key",
      V1,
      { manifestApprovals: [held(FIRST, alias, stranger.member.pubKey)] },
      [`approval-stranger ${alias}`],
    ],
    ["with an approval of nobody", V1, { manifestApprovals: [{}] }, ["approval-stranger"]],
    [
      "with an approval that is no base64",
      V1,
      { manifestApprovals: [{ ...held(), approval: "%" }] },
      [`approval-invalid ${alias}`],
    ],
    ["of debug mode", V1, { debugMode: true }, ["service pivot.debugMode"]],
    ["of other arguments", V1, { pivotContainer: { args: [...pivot.args, "--x"] } }, ["service pivot.args"]],
    ["of no arguments", V1, { pivotContainer: { args: [] } }, pivot.args.length > 0 ? ["service pivot.args"] : []],
    [
      "of a lower threshold",
      V1,
      { manifestSet: setOf({ ...manifestSet, threshold: manifestSet.threshold - 1 }) },
      ["service manifestSet"],
    ],
    [
      "of an approver more",
      V1,
      { manifestSet: setOf({ ...manifestSet, members: [...manifestSet.members, stranger.member] }) },
      ["service manifestSet"],
    ],
    [
      "of a share holder less",
      V1,
      { shareSet: setOf({ ...shareSet, members: shareSet.members.slice(1) }) },
      ["service shareSet"],
    ],
    ["of operators without keys", V1, { shareSet: { threshold: 2, operators: [{}] } }, ["service shareSet"]],
    [
      "of another image",
      V3,
      { pivotContainer: { containerUrl: `ghcr.io/x@sha256:${"00".repeat(32)}` } },
      ["service workloads"],
    ],
  ])("%s is a fault", async (_, manifest, more, codes) => {
    const review = await reviewed(manifest, more);
    expect([review.ok, codesOf(review)]).toEqual([codes.length === 0, codes]);
  });

  it("of a wrong type is a TypeError", async () => {
    await expect(reviewed(V1, { manifestApprovals: {} })).rejects.toThrow(TypeError);
  });
});
