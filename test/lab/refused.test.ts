/**
 * A new client and the command line refuse every fault that they can detect. Clients with cached boot proofs:
 * test/proxy/lab.test.ts; the command and faults of any activity: test/cli/online.test.ts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
  type RejectedActivityError,
  type SubmitParameters,
  type VerifiedClient,
  apiKeyStamper,
  createClient,
} from "../../src/client/index.js";
import type { LabFault } from "../../src/lab/faults.js";
import { startLab, writeLabFiles } from "../../src/lab/index.js";
import { VERIFIED_CALLS } from "../../src/lab/behaviour.js";
import { bootproof } from "../cli/support.js";
import { rejectionOf } from "../client/support.js";
import {
  EVIDENCE_FAULTS,
  SUBMITS,
  TARGET_PUBLIC_KEY,
  TWO_ACCOUNTS,
  completed,
  renameWallet,
  requestFor,
  submit,
} from "./support.js";

const lab = await startLab();
const folder = mkdtempSync(join(tmpdir(), "bootproof-refused-"));
const files = await writeLabFiles(lab, folder);
afterAll(async () => {
  await lab.close();
  rmSync(folder, { recursive: true, force: true });
});

const client = createClient({
  baseUrl: lab.baseUrl,
  organizationId: lab.organizationId,
  stamper: await apiKeyStamper(lab.apiKey),
});
const verifiedClient = (): VerifiedClient => client.withVerification(lab.policy, { pollIntervalMs: 10 });

type Call = (verified: VerifiedClient) => Promise<unknown>;
const rename: Call = (verified) => verified.updateWallet({ walletId: lab.ids.walletId, walletName: "refused" });
const CALLS: Record<string, Call> = {
  create_wallet: (verified) => verified.createWallet(TWO_ACCOUNTS as SubmitParameters<"createWallet">),
  create_read_write_session: (verified) => verified.createReadWriteSession({ targetPublicKey: TARGET_PUBLIC_KEY }),
  set_organization_feature: (verified) => verified.setOrganizationFeature({ name: "FEATURE_NAME_LAB", value: "on" }),
};

function callsOf(fault: LabFault): Call[] {
  const { needs = [] } = fault;
  const named = needs.flatMap((one) => CALLS[one] ?? []);
  if (named.length > 0) return named;
  return needs.some((one) => one.startsWith("sign_")) ? [signing(fault)] : [rename];
}

function signing(fault: LabFault): Call {
  return async (verified) => {
    const { name, parameters } = await requestFor(lab, fault);
    return (verified as never as Record<string, (parameters: object) => Promise<unknown>>)[name]!(parameters);
  };
}

async function expectRefused(call: Promise<unknown>, { fails }: LabFault): Promise<void> {
  const error = await rejectionOf<RejectedActivityError>(call);
  expect(error.failures.map(({ id }) => id)).toEqual(expect.arrayContaining([...fails]));
  expect(error.report.verdict).toBe("rejected");
}

const ofSubmits = EVIDENCE_FAULTS.filter(({ needs }) => !needs?.includes("get_activity"));

describe("verified calls of a new client", () => {
  it.each(ofSubmits)("refuse $name", async (fault) => {
    lab.setFault(fault.name);
    for (const call of callsOf(fault)) await expectRefused(call(verifiedClient()), fault);
  });
});

describe("verify --activity-id", () => {
  const verify = async (id: string): Promise<number> =>
    (
      await bootproof(
        [
          "verify",
          "--activity-id",
          id,
          "--base-url",
          lab.baseUrl,
          "--organization-id",
          lab.organizationId,
          "--api-key-file",
          join(folder, files.apiKeyFile),
          "--policy",
          join(folder, files.policyFile),
        ],
        { now: new Date().toISOString() },
      )
    ).code;

  const anySubmit = async (needs: readonly string[] = []): Promise<string> => {
    const named = needs.flatMap((one) => SUBMITS[one] ?? [])[0];
    if (named === undefined) return (await renameWallet(lab, "by its id"))["id"] as string;
    return (await completed(submit(lab, named.name, named.parameters, { generateAppProofs: true })))["id"] as string;
  };

  it("accepts any submit without faults", async () => {
    lab.setFault(null);
    expect([await verify(await anySubmit()), await verify(await anySubmit(["create_wallet"]))]).toEqual([0, 0]);
  });

  const everybody = EVIDENCE_FAULTS.filter(({ needs }) => needs !== undefined && !needs.includes(VERIFIED_CALLS));
  it.each(everybody)("refuses $name", async ({ name, needs, fails }) => {
    // Known before the fault and requested while it is on, since a fault may change the id of a submit.
    lab.setFault(null);
    const id = await anySubmit(needs);
    lab.setFault(name);
    expect(await verify(id)).toBe(fails.length === 0 ? 3 : 1);
  });
});
