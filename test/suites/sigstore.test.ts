/**
 * The cases of sigstore/sigstore-conformance (its assets for `bundle-verify`), which are not in this repository
 * (`elsewhere.ts`). Cases without a trusted root use the public instance's.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parsePolicy, verifyEvidence } from "../../src/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import { placesOf } from "./elsewhere.js";

const [FOLDER, PUBLIC_ROOT] = placesOf("sigstore-conformance") ?? [];
const BEACON = "https://github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon";
const AT = new Date("2026-03-04T05:06:07.000Z");

/**
 * Good cases that this package refuses, by the check that refuses them: 16 signatures of files, 2 of public keys, and a
 * certificate whose issuer is GitHub's and which names no repository.
 */
const REFUSED = {
  "provenance.bundle": { why: /not a signature of a file|not a public key/, cases: 18 },
  "provenance.signer": { why: /repository \(\.12\)/, cases: 1 },
} as const;

const lab = new Forge();
const provenanceVerifier = await sigstoreVerifier();

const names =
  FOLDER === undefined
    ? []
    : readdirSync(FOLDER, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

/** The failed checks of a case's bundle, for an enclave that runs the case's artifact. */
async function failed(name: string): Promise<{ readonly id: string; readonly detail: string }[]> {
  const file = (own: string, shared: string): Buffer =>
    readFileSync(existsSync(join(FOLDER!, name, own)) ? join(FOLDER!, name, own) : shared);
  const artifact = file("artifact", join(FOLDER!, "a.txt"));
  const running = new Forge({ ...lab, pivotHash: createHash("sha256").update(artifact).digest() });
  const { bootProof, anchorPem } = forgeEvidence({ lab: running, at: AT });
  const pin = {
    issuer: "https://token.actions.githubusercontent.com",
    repository: BEACON,
    workflow: ".github/workflows/extremely-dangerous-oidc-beacon.yml",
    ref: "refs/heads/main",
    predicateTypes: ["https://slsa.dev/provenance/v1"],
    trustedRoot: { json: file("trusted_root.json", PUBLIC_ROOT!).toString("utf8") },
  };
  const policy = parsePolicy(labPolicy(anchorPem, [{ ...labDeployment(running), provenance: [pin] }]));
  const provenance = [new Uint8Array(file("bundle.sigstore.json", ""))];
  const { report } = await verifyEvidence(
    { bootProofs: [bootProof], provenance },
    { policy, now: AT, bootProofsOnly: true, provenanceVerifier },
  );
  return report.checks.filter(({ status }) => status === "fail");
}

describe.skipIf(FOLDER === undefined)("sigstore-conformance", () => {
  it("has the cases that this test knows", () => {
    expect(names.length).toBe(70);
  });

  it.each(names.filter((name) => name.endsWith("_fail")))("%s", async (name) => {
    expect((await failed(name)).map(({ id }) => id)).toEqual(["provenance.bundle"]);
  });

  it("good cases are accepted, but for those that the table explains", async () => {
    const refused = { "provenance.bundle": 0, "provenance.signer": 0 };
    const accepted: string[] = [];
    for (const name of names.filter((each) => !each.endsWith("_fail"))) {
      const [fault] = await failed(name);
      if (fault === undefined) accepted.push(name);
      else {
        const id = fault.id as keyof typeof REFUSED;
        expect(fault.detail, name).toMatch(REFUSED[id].why);
        refused[id]++;
      }
    }
    expect(accepted).toEqual(["happy-path-intoto-in-dsse-v3", "rekor2-dsse-happy-path"]);
    for (const [id, { cases }] of Object.entries(REFUSED)) expect(refused[id as keyof typeof REFUSED], id).toBe(cases);
  });
});
