/** Revocation lists: what each list of the caller proves, and which of them never count. */

import { describe, expect, it } from "vitest";
import { MalformedError, NamedEvidence, verifyAttestation, verifyBootProof, verifyEvidence } from "../../src/index.js";
import { caveats } from "../../src/report/unproven.js";
import { decodeRevocationList } from "../../src/decode/revocation-list.js";
import { generateKeyPair } from "../../src/lab/keys.js";
import { CHAIN, KEY_USAGE, basicConstraints, keyUsage } from "../../src/lab/pki.js";
import type { CertificateSpec, ExtensionSpec } from "../../src/lab/pki.js";
import { type Alterations, AT, NOW, after, document, forge, lab, optionsOf } from "../attacks/support.js";
import { leastCostMs } from "../support/cost.js";
import { der, derInteger, derOctetString, derSequence } from "../support/der.js";
import {
  HOUR,
  type ListSpec,
  SHA256,
  distributionPoints,
  flagged,
  issuingPoint,
  revocationList,
} from "../support/revocation.js";
import { decodeAttestationDocument } from "../../src/decode/index.js";
import { genuineDocuments } from "../support/vectors.js";

const REGION_URL = "http://crl.lab/region.crl";
const ZONE_URL = "http://crl.lab/zone.crl";

type Change = (spec: CertificateSpec) => Partial<CertificateSpec>;
const adding =
  (...extensions: ExtensionSpec[]): Change =>
  (spec) => ({ extensions: [...spec.extensions, ...extensions] });
const changed = (ofRegion: Change, ofZone: Change): Alterations =>
  document({
    certificates: (all) =>
      all.map((spec, index) => {
        if (index === CHAIN.region) return { ...spec, ...ofRegion(spec) };
        return index === CHAIN.zone ? { ...spec, ...ofZone(spec) } : spec;
      }),
  });
/** As on real hardware: region and zone name a distribution point, instance and leaf name none. */
const NAMED = changed(adding(distributionPoints(REGION_URL)), adding(distributionPoints(ZONE_URL)));

const whole = forge(NAMED);
const specs = lab.pki.chainSpecs(AT);
const [root, region, zone, instance, leaf] = [0, 1, 2, 3, 4].map((index) => specs[index]!) as [
  CertificateSpec,
  CertificateSpec,
  CertificateSpec,
  CertificateSpec,
  CertificateSpec,
];
const thisUpdate = new Date(AT.getTime() - HOUR);
const ofRoot = (more: Partial<ListSpec> = {}): Uint8Array => revocationList({ issuer: root, thisUpdate, ...more });
const ofRegion = (more: Partial<ListSpec> = {}): Uint8Array => revocationList({ issuer: region, thisUpdate, ...more });
const BOTH = [ofRoot(), ofRegion()];
const AHEAD = new Date(NOW.getTime() + 300_000);
const [PAST, LATER] = [new Date(NOW.getTime() - 1000), new Date(AHEAD.getTime() + 1000)];

const DELTA: ExtensionSpec = { id: "2.5.29.27", critical: true, value: derInteger(1) };
const UNKNOWN: ExtensionSpec = { id: "1.2.3.4", critical: true, value: derOctetString(new Uint8Array()) };
const stranger = generateKeyPair("secp384r1");

interface Result {
  readonly verdict: string;
  readonly status: string;
  readonly detail: string;
  readonly advice?: string | undefined;
}

async function judged(
  crls: readonly unknown[],
  { evidence = whole, now = NOW, at = "document" as "document" | "now" } = {},
): Promise<Result> {
  const options = { ...optionsOf(evidence), now, at, ...(crls.length > 0 && { crls }) };
  const { report } = await verifyEvidence({ bootProofs: [evidence.bootProof], appProofs: evidence.appProofs }, options);
  const { status, detail, advice } = report.checks.find(({ id }) => id === "chain.revocation")!;
  return { verdict: report.verdict, status, detail, advice };
}

describe("lists of all issuers that the path needs", () => {
  it("pass, and say what was covered", async () => {
    const { verdict, status, detail } = await judged(BOTH);
    expect([verdict, status]).toEqual(["verified", "pass"]);
    expect(detail).toMatch(/^cabundle\[1\] \(.*CN=5f2c1a\.lab-1\.nitro-enclaves\)/);
    expect(detail).toContain("is not in options.crls[0] of 2026-03-04T04:06:07.000Z");
    expect(detail).toContain("AWS publishes no lists for instance and leaf");
  });

  it.each<[string, Uint8Array[]]>([
    ["with entries of others", [ofRoot({ serials: [Uint8Array.of(1)] }), ofRegion({ serials: [leaf.serial] })]],
    ["of version 1", [ofRoot({ version: null }), ofRegion({ version: null, serials: [Uint8Array.of(3)] })]],
    [
      "with a list number and reasons",
      [
        ofRoot({ extensions: [{ id: "2.5.29.20", critical: false, value: derInteger(7) }] }),
        ofRegion({
          serials: [Uint8Array.of(9)],
          entry: [{ id: "2.5.29.21", critical: false, value: der(0x0a, Uint8Array.of(1)) }],
        }),
      ],
    ],
    [
      "with an extension that is not critical",
      [ofRoot({ extensions: [{ id: "1.2.3", critical: false, value: derOctetString(new Uint8Array()) }] }), ofRegion()],
    ],
    ["beside one of another issuer", [...BOTH, revocationList({ issuer: zone, thisUpdate, name: leaf.subject })]],
    ["of this second", [ofRoot({ thisUpdate: NOW }), ofRegion({ thisUpdate: NOW })]],
    ["of five minutes ahead", [ofRoot({ thisUpdate: AHEAD }), ofRegion({ thisUpdate: AHEAD })]],
    ["until this second", [ofRoot({ nextUpdate: NOW }), ofRegion({ nextUpdate: NOW })]],
  ])("pass: %s", async (_, crls) => {
    expect(await judged(crls)).toMatchObject({ verdict: "verified", status: "pass" });
  });

  it("name the lists that are not used", async () => {
    const other = new NamedEvidence("other.crl", revocationList({ issuer: zone, thisUpdate, name: leaf.subject }));
    expect((await judged([...BOTH, other])).detail).toContain("not used, of other issuers: other.crl");
  });
});

describe("a list that its issuer signed, and that names a certificate", () => {
  it.each<[string, Uint8Array[], string]>([
    ["the region", [ofRoot({ serials: [region.serial] })], "cabundle[1]"],
    ["the zone", [ofRegion({ serials: [Uint8Array.of(1), zone.serial] })], "cabundle[2]"],
    [
      "the zone, beside a list that does not",
      [ofRegion(), ofRegion({ serials: [zone.serial] }), ofRoot()],
      "cabundle[2]",
    ],
    [
      "the instance, which names no distribution point",
      [revocationList({ issuer: zone, thisUpdate, serials: [instance.serial] }), ...BOTH],
      "cabundle[3]",
    ],
    ["the leaf", [revocationList({ issuer: instance, thisUpdate, serials: [leaf.serial] })], "certificate ("],
    ["the zone, past its nextUpdate", [ofRegion({ nextUpdate: PAST, serials: [zone.serial] })], "cabundle[2]"],
    [
      "the zone, past its nextUpdate, beside a current one that does not",
      [...BOTH, ofRegion({ nextUpdate: PAST, serials: [zone.serial] })],
      "cabundle[2]",
    ],
    ["the zone, dated ahead", [...BOTH, ofRegion({ thisUpdate: LATER, serials: [zone.serial] })], "cabundle[2]"],
    ["the zone, in a delta list", [...BOTH, ofRegion({ extensions: [DELTA], serials: [zone.serial] })], "cabundle[2]"],
    [
      "the zone, in a list of another distribution point",
      [...BOTH, ofRegion({ extensions: [issuingPoint(REGION_URL)], serials: [zone.serial] })],
      "cabundle[2]",
    ],
    [
      "the zone, by an entry with an unknown critical extension",
      [...BOTH, ofRegion({ serials: [zone.serial], entry: [UNKNOWN] })],
      "cabundle[2]",
    ],
  ])("fails: %s", async (_, crls, place) => {
    const { verdict, status, detail } = await judged(crls);
    expect([verdict, status]).toEqual(["rejected", "fail"]);
    expect(detail).toMatch(/is revoked by options\.crls/);
    expect(detail).toContain(place);
  });

  it("fails also after its certificate expired", async () => {
    const now = after(8 * 86_400);
    const crls = [ofRegion({ thisUpdate: now, serials: [zone.serial] })];
    expect(await judged(crls, { now })).toMatchObject({ verdict: "rejected", status: "fail" });
  });

  it("is of another issuer: the same serial is another certificate", async () => {
    expect(await judged([ofRoot({ serials: [zone.serial] }), ofRegion()])).toMatchObject({ status: "pass" });
  });
});

/** Lists of the region that are whole, but cover nothing: of another time, or signed by somebody else. */
const REFUSED: readonly (readonly [name: string, list: Uint8Array, why: string])[] = [
  ["past its nextUpdate", ofRegion({ nextUpdate: PAST }), "expired at"],
  ["dated ahead, after the certificate's end", ofRegion({ thisUpdate: after(30 * 86_400) }), "later than now"],
  ["signed by the root", ofRegion({ key: root.key }), "did not sign it"],
  ["signed with SHA-256", ofRegion({ inner: SHA256, outer: SHA256, digest: "sha256" }), "did not sign it"],
  ["another algorithm inside", ofRegion({ inner: SHA256 }), "did not sign it"],
  ["a signature of zeros", ofRegion({ signature: () => derSequence(derInteger(0), derInteger(0)) }), "did not sign it"],
  ["that names the zone, signed by a stranger", ofRegion({ key: stranger, serials: [zone.serial] }), "did not sign it"],
];

/** Lists of the region that are in force and signed, but not complete. */
const INCOMPLETE: readonly (readonly [name: string, list: Uint8Array, why: string])[] = [
  ["no nextUpdate", ofRegion({ nextUpdate: null }), "has no nextUpdate"],
  ["a delta list", ofRegion({ extensions: [DELTA] }), "is a delta list"],
  ["indirect", ofRegion({ extensions: [issuingPoint(ZONE_URL, flagged(4))] }), "partial (indirectCRL)"],
  ["of users only", ofRegion({ extensions: [issuingPoint(ZONE_URL, flagged(1))] }), "partial (onlyContainsUserCerts)"],
  [
    "of some reasons",
    ofRegion({ extensions: [issuingPoint(ZONE_URL, der(0x83, Uint8Array.of(1, 6)))] }),
    "partial (onlySomeReasons)",
  ],
  ["of attribute certificates", ofRegion({ extensions: [issuingPoint(ZONE_URL, flagged(5))] }), "partial (attribute)"],
  [
    "of another distribution point",
    ofRegion({ extensions: [issuingPoint(REGION_URL)] }),
    "is not that of the certificate",
  ],
  ["an unknown critical extension", ofRegion({ extensions: [UNKNOWN] }), "critical extension 1.2.3.4"],
  [
    "an extension twice",
    ofRegion({
      extensions: [
        { ...UNKNOWN, critical: false },
        { ...UNKNOWN, critical: false },
      ],
    }),
    "appears twice",
  ],
  [
    "an unknown critical extension of an entry",
    ofRegion({ serials: [Uint8Array.of(3)], entry: [UNKNOWN] }),
    "an entry: critical extension",
  ],
  [
    "an entry of another issuer",
    ofRegion({
      serials: [zone.serial],
      entry: [{ id: "2.5.29.29", critical: true, value: derSequence(derSequence()) }],
    }),
    "is indirect",
  ],
  [
    "an entry that removes",
    ofRegion({
      serials: [zone.serial],
      entry: [{ id: "2.5.29.21", critical: false, value: der(0x0a, Uint8Array.of(8)) }],
    }),
    "only a delta list",
  ],
];

describe("a list of another time or signer", () => {
  it.each(REFUSED)("fails where no other covers the certificate: %s", async (_, list, why) => {
    const { verdict, status, detail, advice } = await judged([ofRoot(), list]);
    expect([verdict, status]).toEqual(["rejected", "fail"]);
    expect(detail).toMatch(/^cabundle\[2\] .*options\.crls\[1\] is refused: /);
    expect(detail).toContain(why);
    expect(advice).toMatch(/^Give the issuer's current list/);
  });

  it("fails beside an incomplete one, and where the certificate names no distribution point", async () => {
    const crls = [ofRoot(), ofRegion({ nextUpdate: PAST }), ofRegion({ extensions: [DELTA] })];
    expect(await judged(crls)).toMatchObject({ verdict: "rejected", status: "fail" });
    const ofZone = revocationList({ issuer: zone, thisUpdate, nextUpdate: PAST });
    expect(await judged([...BOTH, ofZone])).toMatchObject({ verdict: "rejected", status: "fail" });
  });

  it("of an issuer that may not sign lists fails, too", async () => {
    const usage = keyUsage(true, KEY_USAGE.keyCertSign);
    const own: Change = () => ({ extensions: [basicConstraints(true, 2), usage, distributionPoints(REGION_URL)] });
    const evidence = forge(changed(own, adding(distributionPoints(ZONE_URL))));
    const { status, detail } = await judged(BOTH, { evidence });
    expect([status, detail]).toEqual(["fail", expect.stringContaining("does not allow cRLSign")]);
  });

  it("fails for a list of last week, and passes with the current one beside it", async () => {
    const now = after(3 * 86_400);
    expect(await judged(BOTH, { now })).toMatchObject({ verdict: "rejected", status: "fail" });
    const current = [ofRoot({ thisUpdate: now }), ofRegion({ thisUpdate: now })];
    expect(await judged([...BOTH, ...current], { now })).toMatchObject({ verdict: "verified", status: "pass" });
  });

  it("is skipped where the certificate had expired at a list of its issuer", async () => {
    const now = after(40 * 86_400);
    const late = { thisUpdate: after(22 * 86_400) };
    for (const crls of [
      [ofRoot(late), ofRegion(late)],
      [ofRoot({ thisUpdate: now }), ofRegion({ thisUpdate: now }), ...BOTH],
    ])
      expect(await judged(crls, { now })).toMatchObject({ verdict: "verified", status: "skip" });
    expect(await judged(BOTH, { now })).toMatchObject({ verdict: "rejected", status: "fail" });
  });
});

describe("an incomplete list", () => {
  it.each(INCOMPLETE)("covers nothing: %s", async (_, list, why) => {
    const { verdict, status, detail } = await judged([ofRoot(), list]);
    expect([verdict, status]).toEqual(["verified", "warn"]);
    expect(detail).toMatch(/^cabundle\[2\] /);
    expect(detail).toContain(why);
  });

  it.each([...REFUSED, ...INCOMPLETE])("does not hide a valid one: %s", async (_, list) => {
    expect(await judged([ofRoot(), list, ofRegion()])).toMatchObject({ verdict: "verified", status: "pass" });
    expect(await judged([list, ofRegion({ serials: [zone.serial] })])).toMatchObject({ status: "fail" });
  });

  it("does not revoke by entries after one of another issuer", async () => {
    const other: ExtensionSpec = { id: "2.5.29.29", critical: true, value: derSequence(derSequence()) };
    const list = ofRegion({ serials: [Uint8Array.of(1), zone.serial], entry: [other], entries: 1 });
    expect(decodeRevocationList(list).revoked.size).toBe(0);
    expect(await judged([ofRoot(), list, ofRegion()])).toMatchObject({ status: "pass" });
  });
});

describe("a certificate whose distribution points name other lists", () => {
  const ownName = der(0xa4, region.subject);
  it.each<[string, ExtensionSpec, string]>([
    ["of another issuer", distributionPoints(ZONE_URL, der(0xa2, derSequence())), "another issuer of lists"],
    ["of its own issuer, by name", distributionPoints(ZONE_URL, der(0xa2, ownName)), "another issuer of lists"],
    ["of some reasons", distributionPoints(ZONE_URL, der(0x81, Uint8Array.of(1, 6))), "lists of some reasons"],
    ["malformed", { ...distributionPoints(ZONE_URL), value: derInteger(1) }, "cRLDistributionPoints is malformed"],
  ])("is not covered by a list without it, and revoked by one that names it: %s", async (_, point, why) => {
    const evidence = forge(changed(adding(distributionPoints(REGION_URL)), adding(point)));
    const { status, detail } = await judged(BOTH, { evidence });
    expect([status, detail]).toEqual(["warn", expect.stringContaining(why)]);
    const named = await judged([ofRoot(), ofRegion({ serials: [zone.serial] })], { evidence });
    expect(named).toMatchObject({ verdict: "rejected", status: "fail" });
    expect(named.detail).toContain("is revoked by options.crls[1]");
    expect(await judged([ofRoot()], { evidence })).toMatchObject({ verdict: "verified", status: "warn" });
  });
});

describe("what is not covered", () => {
  it("is skipped without lists, with a reason", async () => {
    const { verdict, status, detail } = await judged([]);
    expect([verdict, status, detail]).toEqual([
      "verified",
      "skip",
      expect.stringContaining("no revocation list was given"),
    ]);
  });

  it("is a warning that names the certificate where a list is missing", async () => {
    for (const [crls, place] of [
      [[ofRoot()], 2],
      [[ofRegion()], 1],
    ] as const) {
      const { verdict, status, detail } = await judged(crls);
      expect([verdict, status]).toEqual(["verified", "warn"]);
      expect(detail).toMatch(new RegExp(`^cabundle\\[${place}\\].*no list of its issuer was given`));
    }
  });

  it("weakens the verdict, which a complete set of lists does not", async () => {
    const options = { ...optionsOf(whole), crls: [ofRoot()] };
    const { report } = await verifyBootProof(whole.bootProof, options);
    expect(caveats(report).join()).toMatch(/cabundle\[2\].*no list of its issuer was given/);
    const complete = await verifyBootProof(whole.bootProof, { ...options, crls: BOTH });
    expect(caveats(complete.report).join()).not.toContain("cabundle");
  });

  it("is skipped for a certificate that names no distribution point", async () => {
    const plain = forge();
    const { status, detail } = await judged([ofRoot()], { evidence: plain });
    expect([status, detail]).toEqual(["pass", expect.stringMatching(/^cabundle\[1\]/)]);
  });

  it("is skipped where it has expired, and no list of its issuer was given", async () => {
    const now = after(8 * 86_400);
    const { verdict, status, detail } = await judged([ofRoot({ thisUpdate: now })], { now });
    expect([verdict, status]).toEqual(["verified", "skip"]);
    expect(detail).toMatch(/cabundle\[2\].*it had expired.*cabundle\[1\].*is not in options/);
  });

  it("is judged at the present, whatever the validation time is", async () => {
    const now = after(25 * 3600);
    expect(await judged(BOTH, { now })).toMatchObject({ status: "fail", verdict: "rejected" });
    const fresh = [ofRoot({ thisUpdate: now }), ofRegion({ thisUpdate: now })];
    expect(await judged(fresh, { now })).toMatchObject({ status: "pass" });
  });
});

describe("lists that cannot be used", () => {
  const call = (crls: readonly unknown[], evidence = whole) =>
    verifyBootProof(evidence.bootProof, { ...optionsOf(evidence), crls });

  it.each<[string, readonly unknown[], string]>([
    ["PEM", [new NamedEvidence("list.pem", Buffer.from("-----BEGIN X509 CRL-----\n"))], "list.pem: PEM, expected DER"],
    [
      "PEM behind text",
      [Buffer.from("Certificate Revocation List (CRL):\n    Version 2\n-----BEGIN X509 CRL-----\n")],
      "PEM, expected DER",
    ],
    ["PEM of something else", [Buffer.from("-----BEGIN PUBLIC KEY-----\n")], "tag 0x2d, expected 0x30"],
    ["a byte behind it", [Uint8Array.of(...ofRegion(), 0)], "1 bytes after the list"],
    ["cut off", [ofRegion().subarray(0, -1)], "ends inside it"],
    ["empty", [new Uint8Array()], "missing"],
    ["a certificate", [lab.pki.rootCertificate], "revocation-list"],
    ["version 3", [ofRegion({ version: 2 })], "version: not 2"],
    [
      "extensions of version 1",
      [ofRegion({ version: null, extensions: [DELTA] })],
      "extensions in a list of version 1",
    ],
    [
      "extensions of an entry of version 1",
      [
        ofRegion({
          version: null,
          serials: [Uint8Array.of(3)],
          entry: [{ id: "2.5.29.21", critical: false, value: der(0x0a, Uint8Array.of(1)) }],
        }),
      ],
      "extensions of an entry in a list of version 1",
    ],
  ])("are malformed: %s", async (_, crls, words) => {
    const error: unknown = await call(crls).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MalformedError);
    expect((error as MalformedError).code).toBe("revocation-list");
    expect((error as Error).message).toContain(words);
  });

  it("are malformed where none is of an issuer of the path, but a rejection stays one", async () => {
    const other = new NamedEvidence("other.crl", revocationList({ issuer: zone, thisUpdate, name: leaf.subject }));
    await expect(call([other])).rejects.toThrow("other.crl: none is of an issuer in the certificate path");
    const options = { ...optionsOf(whole), ephemeralKey: new Uint8Array(130), crls: [other] };
    expect((await verifyBootProof(whole.bootProof, options)).report.verdict).toBe("rejected");
    const bare = verifyAttestation(whole.document, { ...optionsOf(whole, { noPolicy: true }), crls: [other] });
    await expect(bare).rejects.toThrow("none is of an issuer");
  });

  it.each<[string, unknown]>([
    ["no list at all", []],
    ["a path", ["list.crl"]],
    ["text", [new NamedEvidence("a", "text")]],
  ])("are TypeError: %s", async (_, crls) => {
    await expect(call(crls as never)).rejects.toThrow(TypeError);
  });
});

describe("a list with 80,000 extensions", () => {
  const many = Array.from({ length: 80_000 }, (_, index): ExtensionSpec => {
    return { id: `1.2.${index}`, critical: false, value: new Uint8Array() };
  });
  it.each<[string, Uint8Array]>([
    ["of its own", ofRegion({ extensions: many })],
    ["of an entry", ofRegion({ serials: [Uint8Array.of(1)], entry: many })],
  ])("is decoded within two seconds: %s", async (_, list) => {
    expect(await leastCostMs(2000, () => decodeRevocationList(list))).toBeLessThan(2000);
  });
});

it("looks verified boot proofs up again: what passed before lists were given may be revoked", async () => {
  const { bootProof } = await verifyBootProof(whole.bootProof, optionsOf(whole));
  const revoked = { ...optionsOf(whole), crls: [ofRegion({ serials: [zone.serial] })] };
  const { report } = await verifyEvidence({ bootProofs: [bootProof], appProofs: whole.appProofs }, revoked);
  const failed = report.checks.filter(({ status }) => status === "fail").map(({ id }) => id);
  expect([report.verdict, failed]).toEqual(["rejected", ["chain.revocation"]]);
  const covered = await verifyBootProof(whole.bootProof, { ...optionsOf(whole), crls: BOTH });
  const again = await verifyEvidence({ bootProofs: [covered.bootProof], appProofs: whole.appProofs }, optionsOf(whole));
  expect(again.report.checks.find(({ id }) => id === "chain.revocation")!.status).toBe("skip");
});

it("of genuine documents only region and zone name a distribution point", () => {
  for (const { bytes } of genuineDocuments()) {
    const { cabundle, certificate: own } = decodeAttestationDocument(bytes);
    const names = [...cabundle, own].map(({ extensions }) => extensions.some(({ id }) => id === "2.5.29.31"));
    expect(names).toEqual([false, true, true, false, false]);
  }
});
