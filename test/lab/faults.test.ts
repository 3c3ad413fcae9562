/** Each fault fails exactly its checks, and a verified call is refused by them; without a fault no check fails. */
import { afterAll, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import { CHECK_IDS } from "../../src/checks.js";
import { type RejectedActivityError, apiKeyStamper, createClient } from "../../src/client/index.js";
import { FAULTS, type FaultName, type Lab, type LabOptions, startLab } from "../../src/lab/index.js";
import { VERIFIED_CALLS } from "../../src/lab/behaviour.js";
import type { LabFault } from "../../src/lab/faults.js";
import { rejectionOf } from "../client/support.js";
import {
  EVIDENCE_FAULTS,
  SUBMITS,
  completed,
  failing,
  judge,
  query,
  renameWallet,
  requestFor,
  send,
  shown,
  submit,
} from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());
beforeEach(() => lab.setFault(null));

describe("an honest lab", () => {
  it("is verified under its own policy", async () => {
    lab.setFault(null);
    const activity = await renameWallet(lab, "honest");
    const report = await judge(lab, activity);
    expect(report.verdict).toBe("verified");
    expect(report.policy).toBe("lab");
    expect(activity["appProofs"]).toHaveLength(3);
  });

  it("has app proofs of each operation, only on request", async () => {
    const proven = await completed(
      submit(lab, "setOrganizationFeature", { name: "FEATURE_NAME_LAB", value: "on" }, { generateAppProofs: true }),
    );
    expect((await judge(lab, proven)).verdict).toBe("verified");
    const plain = await completed(submit(lab, "updateWallet", { walletId: lab.ids.walletId }));
    expect(plain).not.toHaveProperty("appProofs");
  });

  it("has app proofs of the seeded wallets' addresses", async () => {
    const { body } = await query(lab, "get_activity", { activityId: lab.walletActivityId });
    const report = await judge(lab, body["activity"]);
    expect(report.verdict).toBe("verified");
    expect(report.checks.find((check) => check.id === "activity.coverage")?.status).toBe("pass");
  });
});

/** Those that fail for everybody, and those of which only the client that sent the request can know. */
const isOfRequest = ({ needs = [] }: Pick<LabFault, "needs">): boolean => needs.includes(VERIFIED_CALLS);
const ofEvidence = EVIDENCE_FAULTS.filter((fault) => fault.fails.length > 0 || isOfRequest(fault));
const { baseUrl, organizationId } = lab;
const client = createClient({ baseUrl, organizationId, stamper: await apiKeyStamper(lab.apiKey) });
type Methods = Readonly<Record<string, (parameters: object) => Promise<unknown>>>;

describe("a lab with faults", () => {
  it.each(ofEvidence)("$name", async (fault) => {
    lab.setFault(fault.name);
    const { activity, id } = await shown(lab, fault);
    const report = await judge(lab, activity, undefined, undefined, id);
    expect(failing(report)).toEqual(isOfRequest(fault) ? [] : [...fault.fails].sort());
    const { needs = [] } = fault;
    if (needs.includes("get_activity")) return;
    const named = needs.flatMap((one) => SUBMITS[one] ?? []);
    for (const { name, parameters } of named.length > 0 ? named : [await requestFor(lab, fault)]) {
      const verified = client.withVerification(lab.policy, { pollIntervalMs: 10 }) as object as Methods;
      const error = await rejectionOf<RejectedActivityError>(verified[name]!(parameters));
      expect(error.failures.map(({ id: check }) => check)).toEqual(expect.arrayContaining([...fault.fails]));
      expect(error.report.verdict).toBe("rejected");
    }
  });

  it("returns no activity, and lists genuine app proofs of another organization", async () => {
    lab.setFault("no-activity-answer");
    const { id } = await renameWallet(lab, "hidden");
    expect(await query(lab, "get_activity", { activityId: id })).toMatchObject({ status: 404 });
    const { status, body } = await query(lab, "list_app_proofs", { activityId: id });
    expect(status).toBe(200);
    expect(
      body["appProofs"].every(({ proofPayload }: { proofPayload: string }) =>
        proofPayload.includes(lab.childOrganizationId),
      ),
    ).toBe(true);
  });

  it("boots enclaves for a fault of the boot, with keys that it never had before", async () => {
    const keys = async (fault: FaultName | null): Promise<string[]> => {
      lab.setFault(fault);
      const { appProofs } = await renameWallet(lab, String(fault));
      expect(lab.enclaves.map(({ ephemeralKey }) => ephemeralKey)).toEqual(
        expect.arrayContaining([appProofs[0].publicKey]),
      );
      return lab.enclaves.map(({ ephemeralKey }) => ephemeralKey);
    };
    const [honest, stale, again] = [await keys(null), await keys("stale-manifest"), await keys("stale-manifest")];
    expect(new Set([...honest, ...stale, ...again]).size).toBe(honest.length * 3);
    expect(await keys(null)).toEqual(honest);
    // A boot proof stays when its enclave is gone.
    expect(await query(lab, "get_boot_proof", { ephemeralKey: stale[0] })).toMatchObject({ status: 200 });
    expect(await keys("tampered-payload")).toEqual(honest);
  });

  it("shows several faults at once", async () => {
    lab.setFault(["debug-application", "tampered-payload", "nonce-present"]);
    expect(failing(await judge(lab, await renameWallet(lab, "several")))).toEqual([
      "app.signature",
      "bind.nonce",
      "mode.debug",
    ]);
  });

  it("returns the same by every operation", async () => {
    lab.setFault("tampered-payload");
    const activity = await renameWallet(lab, "doors");
    const listed = await query(lab, "list_app_proofs", { activityId: activity["id"] });
    const payloads = (proofs: { proofPayload: string }[]) => proofs.map(({ proofPayload }) => proofPayload);
    expect(payloads(listed.body["appProofs"])).toEqual(payloads(activity["appProofs"]));
    lab.setFault("nonce-present");
    const [asked, latest] = await Promise.all([
      query(lab, "get_boot_proof", {
        ephemeralKey: lab.enclaves.filter(({ app }) => app === "signer").at(-1)!.ephemeralKey,
      }),
      query(lab, "get_latest_boot_proof", { appName: "signer" }),
    ]);
    expect(latest.body).toEqual(asked.body);
  });

  it("does not change its state", async () => {
    lab.setFault("another-wallets-answer");
    const { id } = await renameWallet(lab, "kept");
    lab.setFault(null);
    const { body } = await query(lab, "get_activity", { activityId: id });
    expect((await judge(lab, body["activity"])).verdict).toBe("verified");
    expect(body["activity"].intent.updateWalletIntent.walletId).toBe(lab.ids.walletId);
  });

  it("returns a boot proof for an unknown key only with that fault", async () => {
    lab.setFault(null);
    const ask = () => query(lab, "get_boot_proof", { ephemeralKey: "04".repeat(130) });
    expect((await ask()).status).toBe(404);
    lab.setFault("unattested-key");
    expect((await ask()).status).toBe(200);
    lab.setFault(null);
    expect((await send(lab, "query/get_user", "{")).status).toBe(400);
  });
});

describe("the list of faults", () => {
  it("names each once, and reaches almost every check", () => {
    expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
    for (const { what } of FAULTS) expect(what).not.toMatch(/[[\]()]/);
    expect(FAULTS.length).toBeGreaterThanOrEqual(18);
    const reached = new Set(FAULTS.flatMap(({ fails }) => fails));
    // These need measurements, or no activity, or never fail, or belong to pins that the lab's policy does not set, to
    // documents that are not QOS's, or to bundles of builds and lists, which no service returns. Tokens have no faults.
    const evidenceIds = CHECK_IDS.filter((id) => !id.startsWith("token."));
    expect(evidenceIds.filter((id) => !reached.has(id))).toEqual([
      "chain.revocation",
      "bind.image",
      "app.request",
      "policy.scope",
      "policy.manifest-hash",
      "policy.workloads",
      "policy.args",
      "policy.user-data",
      "policy.public-key",
      "policy.current",
      "provenance.bundle",
      "provenance.signer",
      "provenance.subject",
    ]);
  });
});

describe("the names of faults", () => {
  /** Whether they are still there beside any text, and not taken up by it: an editor completes what is there. */
  type Completed<Given> = Extract<Given, FaultName>;

  it("are known to the compiler in results and arguments", () => {
    const names = FAULTS.map(({ name }) => name);
    expectTypeOf(names).toEqualTypeOf<FaultName[]>();
    expectTypeOf<string>().not.toExtend<FaultName>();
    expect(names).toContain("stale-manifest" satisfies FaultName);
    type Given = Parameters<Lab["setFault"]>[0];
    expectTypeOf<Completed<Given>>().toEqualTypeOf<FaultName>();
    expectTypeOf<Completed<Extract<Given, readonly unknown[]>[number]>>().toEqualTypeOf<FaultName>();
    expectTypeOf<Completed<NonNullable<LabOptions["faults"]>[number]>>().toEqualTypeOf<FaultName>();
    // Names out of a file or an argument are text, and are told apart when they are set.
    expectTypeOf<string | string[]>().toExtend<Given>();
    expect(() => lab.setFault(["stale-manifest", "stale-manifesto"])).toThrow(RangeError);
  });
});
