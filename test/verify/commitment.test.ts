/** The table of commitments: what each kind may do, and what stands in its register. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Check, Checklist } from "../../src/checks.js";
import { NO_POLICY_ANY_ENCLAVE, parseTrustAnchor, verifyAppProof, verifyBootProof } from "../../src/index.js";
import {
  COMMITMENTS,
  COMMITMENT_KINDS,
  type CommitmentKind,
  checkCommitment,
  commitmentPcr,
  manifestCommitmentPcr,
} from "../../src/verify/commitment.js";
import { NOW, after, forge, idsOf, put } from "../attacks/support.js";

const hash = new Uint8Array(32).fill(1);
const key = new Uint8Array(65).fill(3);
const sha384 = (...parts: (string | Uint8Array)[]): Buffer =>
  parts.reduce((digest, part) => digest.update(part), createHash("sha384")).digest();
/** By node:crypto alone, as verify/README.md, "Commitments", spells it. */
const register = (preimage: string): string => sha384(new Uint8Array(48), sha384(preimage)).toString("hex");
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

describe("the table", () => {
  it("lists who may sign app proofs: live and legacy keys, and no other", () => {
    expect(COMMITMENT_KINDS.filter((kind) => COMMITMENTS[kind].signsAppProofs).sort()).toEqual(["legacy", "live"]);
    expect(COMMITMENT_KINDS.filter((kind) => COMMITMENTS[kind].attestsAnyTime)).toEqual(["live"]);
  });

  it("has a register of its own for each kind, but for the one that commits to nothing", () => {
    const registers = COMMITMENT_KINDS.flatMap((kind) => COMMITMENTS[kind].register ?? []);
    expect(registers.map(({ pcr }) => pcr).sort()).toEqual([16, 17]);
    expect(new Set(registers.map(({ domain }) => domain)).size).toBe(registers.length);
  });

  it.each(COMMITMENT_KINDS)("is what verification goes by: %s", async (kind: CommitmentKind) => {
    const evidence = forge({
      generation: kind,
      alterAppProof: { payload: put("timestampMs", String(after(-3600).getTime())) },
    });
    const options = {
      policy: NO_POLICY_ANY_ENCLAVE,
      now: NOW,
      trustAnchors: [parseTrustAnchor("lab", evidence.anchorPem)],
    } as const;
    expect((await verifyBootProof(evidence.bootProof, options)).bootProof?.commitment).toBe(kind);
    const { report, appProof } = await verifyAppProof(evidence.appProofs[0], evidence.bootProof, options);
    expect(appProof === null).toBe(idsOf(report, "fail").length > 0);
    expect(idsOf(report, "fail").includes("app.key")).toBe(!COMMITMENTS[kind].signsAppProofs);
    expect(idsOf(report, "fail").includes("app.time")).toBe(!COMMITMENTS[kind].attestsAnyTime);
  });
});

describe("registers", () => {
  it("commit to manifest and key, or to the manifest alone", async () => {
    const both = `"ephemeralPublicKey":"${hex(key)}","manifestHash":"${hex(hash)}"}`;
    expect(hex(await commitmentPcr("live", hash, key))).toBe(
      register(`{"domain":"qos-live-manifest-pcr-commitment-v1",${both}`),
    );
    expect(hex(await commitmentPcr("setup", hash, key))).toBe(
      register(`{"domain":"qos-setup-manifest-pcr-commitment-v1",${both}`),
    );
    expect(hex(await manifestCommitmentPcr(hash))).toBe(
      register(`{"domain":"qos-manifest-pcr-commitment-v1","manifestHash":"${hex(hash)}"}`),
    );
  });

  it("are not wanted of a document of PCR0 to 15 alone, and are of any other", async () => {
    const ask = async (count: number): Promise<unknown> => {
      const pcrs = new Map(Array.from({ length: count }, (_, index) => [index, new Uint8Array(48)] as const));
      const checklist = new Checklist("boot[0]");
      const commitment = await checkCommitment({ pcrs, publicKey: key }, hash, checklist);
      return [commitment?.kind ?? null, checklist.list()[0]!.status];
    };
    expect(await ask(16)).toEqual(["legacy", "warn"]);
    expect(await ask(17)).toEqual([null, "fail"]);
  });

  it("of both phases are there, and all others, where either of the two is", async () => {
    const pcrs = new Map<number, Uint8Array>(Array.from({ length: 32 }, (_, index) => [index, new Uint8Array(48)]));
    pcrs.set(17, await commitmentPcr("live", hash, key));
    const ask = async (index: number): Promise<Check> => {
      const checklist = new Checklist("boot[0]");
      const some = new Map([...pcrs].filter(([pcr]) => pcr !== index));
      expect(await checkCommitment({ pcrs: some, publicKey: key }, hash, checklist)).toEqual(
        index < 32 ? null : { kind: "live", manifestCommitted: false },
      );
      return checklist.list()[0]!;
    };
    expect(await ask(32)).toMatchObject({ status: "pass", detail: "live commitment" });
    for (const index of [16, 18, 31]) {
      const { status, detail } = await ask(index);
      expect([status, detail]).toEqual(["fail", expect.stringContaining(`not attested: ${index}`)]);
    }
    pcrs.set(18, await manifestCommitmentPcr(hash));
    const checklist = new Checklist("boot[0]");
    await checkCommitment({ pcrs, publicKey: key }, hash, checklist);
    expect(checklist.list()[0]!.detail).toContain("PCR18 commits to the manifest too");
  });
});
