/** The lab's Sigstore, verified by the library that verifies real bundles. */
import { bundleFromJSON } from "@sigstore/bundle";
import { TrustedRoot } from "@sigstore/protobuf-specs";
import { Verifier, toSignedEntity, toTrustMaterial } from "@sigstore/verify";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/decode/json.js";
import { LabSigstore, type ProvenanceOptions } from "../../src/lab/sigstore.js";
import { sha256 } from "../../src/lab/qos.js";
import { GENUINE_RELEASES } from "../support/github-releases.js";

const AT = new Date("2026-03-04T05:06:07.000Z");
const after = (minutes: number): Date => new Date(AT.getTime() + 60_000 * minutes);
const OPTIONS: ProvenanceOptions = { at: AT, digest: sha256(Uint8Array.of(1)) };
const instances = { public: new LabSigstore(), private: new LabSigstore({ kind: "private" }) };
const kinds = ["public", "private"] as const;

/** The verified identity. Throws where the library refuses. */
function verify(bundle: string, { trustedRoot }: LabSigstore, demands = {}): string | undefined {
  const material = toTrustMaterial(TrustedRoot.fromJSON(trustedRoot));
  const thresholds = { tlogThreshold: material.tlogs.length, ctlogThreshold: material.ctlogs.length, ...demands };
  const entity = toSignedEntity(bundleFromJSON(JSON.parse(bundle)));
  return new Verifier(material, thresholds).verify(entity).identity?.subjectAlternativeName;
}

describe.each(kinds)("an instance of the kind %s", (kind) => {
  const sigstore = instances[kind];

  it("makes bundles that verify, also once there are many", () => {
    for (let count = 0; count < 12; count++)
      expect(verify(sigstore.attest(OPTIONS), sigstore)).toBe(
        "https://github.com/acme/oracle/.github/workflows/release.yml@refs/tags/v1.2.3",
      );
  });

  it("is the same instance once saved", () => {
    const again = new LabSigstore({ kind, saved: sigstore.save() });
    expect(again.trustedRoot["certificateAuthorities"]).toEqual(sigstore.trustedRoot["certificateAuthorities"]);
    expect(verify(again.attest(OPTIONS), sigstore)).toBeDefined();
    expect(verify(sigstore.attest(OPTIONS), again)).toBeDefined();
  });

  it("signs within the certificate's ten minutes, and can sign outside of them", () => {
    expect(verify(sigstore.attest({ ...OPTIONS, signedAt: after(10) }), sigstore)).toBeDefined();
    for (const minutes of [-1, 11])
      expect(() => verify(sigstore.attest({ ...OPTIONS, signedAt: after(minutes) }), sigstore)).toThrow(/certificate/);
  });
});

describe("a release", () => {
  const { private: sigstore } = instances;
  const payloadOf = (bundle: string): JsonObject => {
    const { dsseEnvelope } = JSON.parse(bundle) as { dsseEnvelope: { payload: string } };
    return JSON.parse(Buffer.from(dsseEnvelope.payload, "base64").toString()) as JsonObject;
  };

  it("has the members of the genuine statements", () => {
    const [, genuine] = GENUINE_RELEASES;
    const [own, real] = [sigstore.attest({ ...OPTIONS, release: {} }), genuine.text].map(payloadOf);
    expect(Object.keys(own!)).toEqual(Object.keys(real!));
    expect(Object.keys(own!["predicate"]!)).toEqual(Object.keys(real!["predicate"]!));
    expect(own).toMatchObject({
      predicateType: real!["predicateType"],
      predicate: { repository: "acme/oracle", repositoryId: "123456789", tag: "v1.2.3" },
      subject: [{ uri: "pkg:github/acme/oracle@v1.2.3" }, { name: "oracle" }],
    });
  });
});

it("has no logs in a private instance, and says so where one is demanded", () => {
  const { private: sigstore } = instances;
  for (const logs of ["tlogs", "ctlogs"]) expect(sigstore.trustedRoot).not.toHaveProperty(logs);
  for (const demand of [{ tlogThreshold: 1 }, { ctlogThreshold: 1 }])
    expect(() => verify(sigstore.attest(OPTIONS), sigstore, demand)).toThrow(/expected 1/);
});
