/** The lab's signed policy through its consumer, over HTTP: honest, and with each fault. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { type SignedPolicy, type SignedPolicyState, openSignedPolicy } from "../../src/signed-policy/index.js";
import { verifyEvidence } from "../../src/index.js";
import { LIES } from "../../src/lab/lies.js";
import { APPLICATION_FAULTS, AUTH_FAULTS, FAULTS, FEED_FAULTS, type FaultName, startLab } from "../../src/lab/index.js";
import { rejectionOf } from "../client/support.js";
import { query, renameWallet } from "./support.js";

const lab = await startLab();
afterAll(() => lab.close());
beforeEach(() => lab.setFault(null));

/** Of a feed that is slow, and of any other, which may be 8 MiB. */
const [SLOW_MS, LIMIT_MS] = [100, 30_000];
let limitMs = LIMIT_MS;
beforeEach(() => void (limitMs = LIMIT_MS));
function setFeedFault(name: FaultName): void {
  lab.setFault(name);
  if (name === "feed-slow") limitMs = SLOW_MS;
}

function memory(): SignedPolicyState & { text: string | null } {
  const kept: { text: string | null } = { text: null };
  return Object.assign(kept, {
    read: async () => kept.text,
    write: async (text: string) => void (kept.text = text),
  });
}

const notices: string[] = [];
function open(state: SignedPolicyState): Promise<SignedPolicy> {
  return openSignedPolicy({
    signers: lab.policyFeed.signers,
    source: async () => (await fetch(lab.policyFeedUrl, { signal: AbortSignal.timeout(limitMs) })).text(),
    state,
    now: () => new Date(),
    onNotice: (notice) => void notices.push(notice),
  });
}

async function currentUnder({ policy }: SignedPolicy): Promise<string | undefined> {
  const { report } = await verifyEvidence({ bootProofs: ["{}"], appProofs: [] }, { policy, now: new Date() });
  return report.checks.find(({ id }) => id === "policy.current")?.status;
}

describe("an honest feed", () => {
  it("is accepted, and its policy verifies the lab's evidence", async () => {
    const signed = await open(memory());
    expect(signed.policy.deployments).toEqual(lab.policy.deployments);
    expect(signed.policy.signed?.signedBy).toHaveLength(3);
    const activity = await renameWallet(lab, "under a signed policy");
    const keys = (activity["appProofs"] as { publicKey: string }[]).map(({ publicKey }) => publicKey);
    const answers = await Promise.all(keys.map((ephemeralKey) => query(lab, "get_boot_proof", { ephemeralKey })));
    const bootProofs = answers.map(({ body }) => body);
    const { report } = await verifyEvidence({ bootProofs, activity }, { policy: signed.policy, now: new Date() });
    expect([report.verdict, report.signedPolicy?.version]).toEqual(["verified", 2]);
    expect(await currentUnder(signed)).toBe("pass");
    expect((await fetch(lab.policyFeedUrl)).headers.get("content-type")).toBe("application/jsonl");
  });

  it("has another version after each publication, of another set where a key is replaced", async () => {
    const [signed, late] = [await open(memory()), memory()];
    const { version } = signed;
    expect(lab.policyFeed.publish()).toBe(version + 1);
    expect(await signed.refresh()).toBe(true);
    expect(lab.policyFeed.publish({ rotate: true })).toBe(version + 2);
    expect(lab.policyFeed.publish({ validMs: 1000 })).toBe(version + 3);
    expect(await signed.refresh()).toBe(true);
    expect(signed.version).toBe(version + 3);
    expect((await open(late)).version).toBe(version + 3);
    expect(JSON.parse(late.text!).signers.keys).not.toEqual(lab.policyFeed.signers.keys);
    expect(Date.parse(signed.policy.signed!.expiresAt) - Date.parse(signed.policy.signed!.issuedAt)).toBe(1000);
    lab.policyFeed.publish();
  });
});

describe("the faults of feeds", () => {
  const refused = FEED_FAULTS.filter(({ code }) => code !== null);

  it.each(refused)(
    "$name: a running consumer with a state refuses it, and keeps its version",
    async ({ name, code }) => {
      const state = memory();
      const signed = await open(state);
      const [{ policy, version }, before] = [signed, state.text];
      setFeedFault(name);
      // A feed that changes is honest at every other read.
      const errors = [await codeOf(signed.refresh()), await codeOf(signed.refresh())];
      expect(errors).toContain(code);
      expect(errors.filter((one) => one !== code && one !== null)).toEqual([]);
      expect([signed.version, signed.policy === policy, state.text]).toEqual([version, true, before]);
      expect(await currentUnder(signed)).toBe("pass");
    },
  );

  it.each(refused.filter(({ code }) => ["signatures", "name", "malformed"].includes(code!)))(
    "$name: a start without a state refuses it, too",
    async ({ name, code }) => {
      setFeedFault(name);
      expect(await codeOf(open(memory()))).toBe(code);
    },
  );

  it("feed-slow: a start uses the state's version", async () => {
    const state = memory();
    const { version } = await open(state);
    setFeedFault("feed-slow");
    expect((await open(state)).version).toBe(version);
    expect(notices.at(-1)).toContain(`version ${version} of the state is used`);
    expect(await codeOf(open(memory()))).toBe("fetch");
  });

  it("feed-expired: policy.current fails", async () => {
    const state = memory();
    const { version } = await open(state);
    setFeedFault("feed-expired");
    const signed = await open(state);
    expect([signed.version, await currentUnder(signed)]).toEqual([version + 1, "fail"]);
  });

  it("feed-from-the-future: the version before stays in force, and the operator is told", async () => {
    const state = memory();
    const signed = await open(state);
    const before = state.text;
    setFeedFault("feed-from-the-future");
    expect(await signed.refresh()).toBe(false);
    expect(notices.at(-1)).toContain("issued in the future");
    expect([state.text, await currentUnder(signed)]).toEqual([before, "pass"]);
  });

  it("are switched with all others, and leave the service as it is", async () => {
    lab.setFault(["stale-manifest", "feed-gap"]);
    expect(lab.faults).toEqual(["stale-manifest", "feed-gap"]);
    setFeedFault("feed-gap");
    expect((await renameWallet(lab, "honest"))["status"]).toBe("ACTIVITY_STATUS_COMPLETED");
  });

  it("are listed apart from those of the service", () => {
    const names = [...FAULTS, ...AUTH_FAULTS, ...FEED_FAULTS, ...APPLICATION_FAULTS].map(({ name }) => name);
    expect(names).toEqual(Object.keys(LIES));
    expect(FEED_FAULTS).toHaveLength(15);
    expect(FEED_FAULTS.every(({ name }) => name.startsWith("feed-"))).toBe(true);
  });
});

/** The code of the refusal, or null. */
async function codeOf(opened: Promise<unknown>): Promise<string | null> {
  return opened.then(
    () => null,
    async () => (await rejectionOf<Error & { code: string }>(opened)).code,
  );
}
