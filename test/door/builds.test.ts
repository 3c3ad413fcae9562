/** Callers that verify for long take the provenance that a policy demands once, or refuse the policy. */
import { describe, expect, it } from "vitest";
import { verified as adapted } from "../../src/adapters/index.js";
import type { JsonObject } from "../../src/decode/json.js";
import { customPayload } from "../../src/lab/enclave.js";
import { labDeployment } from "../../src/lab/forge.js";
import { LabSigstore, labProvenancePin } from "../../src/lab/sigstore.js";
import { plainPolicy } from "../../src/plain-settings.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import { type ProvenanceVerifier } from "../../src/verify/provenance-demand.js";
import { startProxy } from "../../src/proxy/node.js";
import { type RunLine, type WatchOptions, isResult, watch } from "../../src/run/index.js";
import { AttestedService, BOOTED, lab, policyOf } from "../client/attested.js";

const sigstore = new LabSigstore();
const pin = labProvenancePin({ json: JSON.stringify(sigstore.trustedRoot) });
const demanding = policyOf({}, [{ ...labDeployment(lab), provenance: [pin] }]);
const good = sigstore.attest({ at: BOOTED, digest: lab.pivotHash });
const wrong = sigstore.attest({ at: BOOTED, digest: lab.pivotHash, build: { runner: "self-hosted" } });
const provenanceVerifier = await sigstoreVerifier();
const PARAMETERS = { walletId: "w1", walletName: "new" };

/** What each refuses when it is made. */
const INCOMPLETE: [string, object, RegExp][] = [
  ["no bundles", { provenanceVerifier }, /^options\.provenance: required, since the deployment lab\.1 .* demands/],
  ["an empty list", { provenanceVerifier, provenance: [] }, /^options\.provenance: required/],
  ["no verifier", { provenance: [good] }, /^options\.provenanceVerifier: required.*npm install @sigstore\/verify/],
  [
    "another verifier",
    { provenance: [good], provenanceVerifier: {} },
    /^options\.provenanceVerifier: expected an object with a function verify/,
  ],
  ["too many bundles", { provenance: Array(65).fill(good), provenanceVerifier }, /65 bundles, expected at most 64/],
];

describe("verified calls", () => {
  it.each(INCOMPLETE)("refuse a policy that demands provenance, with %s", async (_, options, message) => {
    const client = await new AttestedService().client();
    expect(() => client.withVerification(demanding, options)).toThrow(message);
    expect(() => adapted({ request: async () => ({}) } as never, { policy: demanding, ...options })).toThrow();
  });

  it("return results under provenance that meets the policy, which is verified once", async () => {
    const calls: string[] = [];
    const counting: ProvenanceVerifier = {
      verify: (...args) => (calls.push(args[0]), provenanceVerifier.verify(...args)),
    };
    const options = { provenance: [good], provenanceVerifier: counting };
    const verified = (await new AttestedService().client()).withVerification(demanding, options);
    for (let count = 0; count < 3; count++) {
      const { report } = await verified.updateWallet(PARAMETERS);
      expect(report.verdict).toBe("verified");
      const signer = { repository: "https://github.com/acme/oracle" };
      expect(report.claims).toMatchObject({ provenance: [{ signer }] });
    }
    expect(calls).toEqual([good]);
  });

  it("of applications' app proofs take it too", async () => {
    const service = new AttestedService();
    const payload = customPayload(service.now);
    const { id } = payload["greeting"] as { id: string };
    const appProof = service.enclave.appProof(payload);
    const ephemeralKey = [...service.bootProofs.keys()][0]!;
    const expected = { payload: [{ type: String(payload["type"]), values: { "/greeting/id": id } }] };
    const client = await service.client();
    const outcomeOf = async (provenance: readonly string[]): Promise<string> =>
      client
        .withVerification(demanding, { provenance, provenanceVerifier })
        .verifyAppProofs([{ appProof, ephemeralKey }], { expected })
        .then(
          ({ report }) => report.verdict,
          (error: unknown) => (error as Error).message,
        );
    expect(await outcomeOf([good])).toBe("verified");
    expect(await outcomeOf([wrong])).toContain("provenance.signer");
  });
});

describe("a watch", () => {
  const service = new AttestedService();
  const bootProof = [...service.bootProofs.values()][0] as JsonObject;
  const options = (more: Partial<WatchOptions>): WatchOptions => ({
    policy: demanding,
    apps: ["signer"],
    newest: async () => bootProof,
    once: true,
    now: () => service.now,
    sleep: async () => {},
    random: () => 0,
    ...more,
  });

  it.each(INCOMPLETE)("refuses a policy that demands provenance, with %s", async (_, more, message) => {
    await expect(watch(options(more))).rejects.toThrow(message);
  });

  it.each([
    ["accepts a boot under provenance that meets the policy", good, 0],
    ["refuses it under other provenance", wrong, 1],
  ])("%s", async (_, bundle, refused) => {
    const lines: RunLine[] = [];
    const onEntry: WatchOptions["onEntry"] = (line) => void lines.push(line as RunLine);
    const given = { provenance: [bundle], provenanceVerifier, onEntry };
    const summary = await watch(options(given));
    expect(summary.refused.length).toBe(refused);
    const [line] = lines;
    const failed = line !== undefined && isResult(line.entry) ? line.entry.failed : null;
    expect(failed).toEqual(refused === 0 ? [] : ["provenance.signer"]);
  });
});

describe("a proxy", () => {
  it("refuses a policy that demands provenance, without bundles", async () => {
    const starting = startProxy({
      upstream: "http://127.0.0.1:1",
      policy: plainPolicy(demanding),
      evidence: { bootProofs: [] },
      port: 0,
      allowUnproven: false,
      acceptance: "standard",
      provenance: [],
      timeoutMs: 1000,
      now: () => BOOTED,
      onNote: () => {},
    });
    await expect(starting).rejects.toThrow(/options\.provenance: required/);
  });
});
