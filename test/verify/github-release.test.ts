/** Immutable releases of GitHub as provenance: genuine statements, what is proven, and what is not. */
import { describe, expect, it } from "vitest";
import { type Report, type Verification, renderText, requireVerified, verifyEvidence } from "../../src/index.js";
import { pinProvenance } from "../../src/author/index.js";
import { uriName } from "../../src/lab/sigstore.js";
import { LabSigstore, labProvenancePin, labReleasePin } from "../../src/lab/index.js";
import { sigstoreVerifier } from "../../src/provenance/index.js";
import {
  GENUINE_RELEASES,
  type GenuineRelease,
  ROOT,
  releaseDemand,
  releasePolicy,
} from "../support/github-releases.js";
import { emailName } from "../support/email-name.js";
import { AT, CREDULOUS, DEMAND, GENUINE, NOW } from "../support/provenance.js";

const provenanceVerifier = await sigstoreVerifier();
const [OLDER, NEWER] = GENUINE_RELEASES;

/** Of an enclave that runs a file of the release. */
async function judged(
  of: GenuineRelease,
  entries: readonly object[],
  bundles: readonly unknown[] = [of.text],
): Promise<Verification> {
  const given = { bootProofs: [of.evidence.bootProof], provenance: bundles };
  return verifyEvidence(given, { policy: releasePolicy(of, ...entries), now: NOW, provenanceVerifier });
}

function failures({ report: { checks } }: Verification): [string, string | undefined, string | undefined][] {
  return checks
    .filter(({ status }) => status === "fail")
    .map(({ id, expected, actual, detail }) => [`${id}: ${detail}`, expected, actual]);
}

const textOf = (report: Report): string => renderText(report).replaceAll(/\s+/g, " ");

describe.each(GENUINE_RELEASES)("a genuine statement of version $version", (of) => {
  it("verifies, and claims the release and nothing of a build", async () => {
    const verification = await judged(of, [releaseDemand(of)]);
    const { report, provenance } = requireVerified(verification);
    expect(report.claims!.provenance).toEqual([
      {
        bundle: 0,
        meets: [{ bootProof: 0, deployment: "lab.1", workload: null, digest: of.digest }],
        predicateType: `https://in-toto.io/attestation/release/${of.version}`,
        signer: {
          issuer: null,
          repository: null,
          repositoryId: null,
          workflow: null,
          ref: null,
          commit: null,
          signer: null,
          runner: null,
          trigger: null,
          identity: "https://dotcom.releases.github.com",
        },
        release: of.release,
        signedTimes: [of.signedAt],
        trustedRoot: { name: "root.json", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
        demanded: { inclusions: 0, certificateTimestamps: 0, signedTimes: 1 },
      },
    ]);
    expect(provenance[0]!.release).toEqual(of.release);
    expect(Object.isFrozen(provenance[0]!.release)).toBe(true);
    expect(report.checks.filter(({ status }) => status === "warn").map(({ id }) => id)).toEqual(["chain.anchor"]);
  });

  it("is a sentence of the report, and source and build stay unproven", async () => {
    const text = textOf((await judged(of, [releaseDemand(of)])).report);
    const { tag, repository } = of.release;
    const carries = `carries the file with SHA-256 ${of.digest.slice(0, 8)}…`;
    const proven = `GitHub states that release "${tag}" of "${repository}" ${carries}`;
    expect(text).toContain(proven);
    expect(text).toContain(
      `Which source and which build made the file of release "${tag}" of "${repository}": whoever may publish`,
    );
    expect(text).toContain("What source code the measured image and binary were built from");
    expect(text.indexOf(proven)).toBeLessThan(text.indexOf("Which source and which build"));
  });

  it("shows all differences of the predicate at once", async () => {
    const demand = releaseDemand(of, { repository: "a/b", repositoryId: "1", tag: "x" });
    const [failure, ...others] = failures(await judged(of, [demand]));
    expect(others).toEqual([]);
    expect(failure![0]).toMatch(
      /^provenance\.subject: another repository in the predicate; another repositoryId .*; another tag /,
    );
    const { repository, repositoryId, tag } = of.release;
    expect(failure!.slice(1)).toEqual(["a/b\n1\nx", `${repository}\n${repositoryId}\n${tag}`]);
  });

  it("is what pinProvenance pins", async () => {
    const { repository } = of.release;
    const entry = pinProvenance(of.text, { repository, githubRelease: true, trustedRoot: { json: ROOT } });
    expect(entry).toEqual({ githubRelease: of.release, trustedRoot: { json: ROOT } });
    requireVerified(await judged(of, [entry]));
  });
});

/** The newer statement without its timestamp. */
function timeless(): object {
  const bundle = JSON.parse(NEWER.text) as { verificationMaterial: { timestampVerificationData?: object } };
  delete bundle.verificationMaterial.timestampVerificationData;
  return bundle;
}

describe("the two kinds of demand", () => {
  it("are decided by the form before the signature, whatever a verifier accepts", async () => {
    const given = { bootProofs: [NEWER.evidence.bootProof], provenance: [timeless()] };
    const policy = releasePolicy(NEWER, releaseDemand(NEWER));
    const verification = await verifyEvidence(given, { policy, now: NOW, provenanceVerifier: CREDULOUS });
    expect(failures(verification).map(([detail]) => detail)).toEqual([
      expect.stringContaining("provenance.bundle: no RFC 3161 timestamp"),
    ]);
  });

  it("can both be demanded of one binary, each by its own bundle", async () => {
    const sigstore = new LabSigstore({ kind: "private" });
    const root = { json: JSON.stringify(sigstore.trustedRoot) };
    const { lab } = NEWER;
    const bundles = [{}, undefined].map((release) =>
      sigstore.attest({ at: AT, digest: lab.pivotHash, ...(release && { release }) }),
    );
    const both = await judged(NEWER, [labProvenancePin(root), labReleasePin(root)], bundles);
    const { report } = requireVerified(both);
    expect(report.claims!.provenance!.map(({ release }) => release?.tag)).toEqual(["v1.2.3", undefined]);
    const text = textOf(report);
    // A build of the binary is attested, so only the image's source is left open; the release says nothing of a build.
    expect(text).toContain("that the build of the binary is reproducible");
    expect(text).toContain("whoever may publish a release uploads any file");
    const alone = await judged(NEWER, [labReleasePin(root)], bundles);
    expect(textOf(alone.report)).not.toContain("that the build of the binary is reproducible");
  });

  it("report the nearest bundle: one of the right form before a build, and that before garbage", async () => {
    const near = async (...bundles: unknown[]): Promise<string[]> =>
      (await judged(NEWER, [releaseDemand(NEWER)], bundles)).report.checks
        .filter(({ status }) => status === "fail")
        .map(({ subject, id }) => `${subject} ${id}`);
    expect(await near("{}", GENUINE)).toEqual(["provenance[1] provenance.bundle"]);
    expect(await near("{}", GENUINE, OLDER.text)).toEqual(["provenance[2] provenance.subject"]);
    expect(await near(timeless(), OLDER.text)).toEqual(["provenance[1] provenance.subject"]);
  });
});

describe("pinProvenance of a release", () => {
  const options = { repository: NEWER.release.repository, githubRelease: true, trustedRoot: { json: ROOT } } as const;
  const sigstore = new LabSigstore({ kind: "private" });
  const ofTenant = sigstore.attest({ at: AT, digest: NEWER.lab.pivotHash, release: { tenant: "acme" } });

  it("takes a tenant, and a workload", () => {
    const entry = pinProvenance(ofTenant, {
      ...options,
      repository: "acme/oracle",
      tenant: "acme",
      of: { workload: "signer" },
    });
    expect(entry).toEqual({
      of: { workload: "signer" },
      githubRelease: { repository: "acme/oracle", repositoryId: "123456789", tag: "v1.2.3", tenant: "acme" },
      trustedRoot: { json: ROOT },
    });
  });

  const changed = (change: (predicate: Record<string, unknown>) => void): string =>
    sigstore.attest({
      at: AT,
      digest: NEWER.lab.pivotHash,
      release: {},
      alter: {
        statement: (json) => {
          const predicate = { ...(json["predicate"] as object) };
          change(predicate);
          return { ...json, predicate };
        },
      },
    });

  const byEmail = sigstore.attest({
    at: AT,
    digest: NEWER.lab.pivotHash,
    release: {},
    alter: {
      extensions: (all) =>
        all.map((one) => (one.id === uriName("").id ? emailName("https://dotcom.releases.github.com") : one)),
    },
  });

  it.each([
    [
      "another repository",
      NEWER.text,
      { repository: "jdx/other" },
      /the repository is jdx\/communique, and jdx\/other/,
    ],
    ["a build", GENUINE, {}, /not a statement of https:\/\/dotcom\.releases\.github\.com on a release: it is of http/],
    ["a tenant, where none is given", ofTenant, {}, /on a release: it is of https:\/\/acme\.releases/],
    ["github.com, where a tenant is given", NEWER.text, { tenant: "acme" }, /statement of https:\/\/acme\./],
    ["a name that is an email address", byEmail, {}, /github\.com is an email address, expected a URI/],
    ["no tag", changed((one) => delete one["tag"]), { repository: "acme/oracle" }, /predicate\.tag: expected a string/],
    ["a number as id", changed((one) => (one["repositoryId"] = 1)), {}, /predicate\.repositoryId: expected a string/],
    [
      "another statement of GitHub",
      sigstore.attest({ at: AT, digest: NEWER.lab.pivotHash, release: {}, predicateType: "https://example.com" }),
      {},
      /not a statement/,
    ],
  ])("refuses %s", (_, bundle, more, says) => {
    expect(() => pinProvenance(bundle, { ...options, ...more })).toThrow(says);
  });

  it("takes a tenant only for a release, and a build stays a build", () => {
    const { repository } = DEMAND;
    const build = { repository, trustedRoot: { json: ROOT } };
    expect(() => pinProvenance(GENUINE, { ...build, tenant: "acme" })).toThrow("options.tenant: only with");
    expect(pinProvenance(GENUINE, { ...build, githubRelease: false })).toMatchObject({ repository });
    expect(() => pinProvenance(NEWER.text, { ...build, repository: NEWER.release.repository })).toThrow(
      "the repository is absent",
    );
  });
});
