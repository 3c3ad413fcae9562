/**
 * Certificate paths as pkijs, @peculiar/x509 and openssl judge them: each alteration alone, many together, and damaged
 * certificates. None of the three is asked to know the rules of one PKI, so that the table says which of our rules
 * they do not have.
 */
import "reflect-metadata";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { X509Certificate, X509ChainBuilder } from "@peculiar/x509";
import { Certificate, CertificateChainValidationEngine } from "pkijs";
import { afterAll, describe, expect, it } from "vitest";
import { equalBytes } from "../../src/bytes.js";
import { Checklist } from "../../src/checks.js";
import { decodeCertificate } from "../../src/decode/certificate.js";
import { attempt, faultText } from "../../src/errors.js";
import { derSequence } from "../../src/lab/der.js";
import { generateKeyPair } from "../../src/lab/keys.js";
import {
  CHAIN,
  type CertificateSpec,
  KEY_USAGE,
  NitroPki,
  OID,
  algorithmIdentifier,
  basicConstraints,
  keyUsage,
} from "../../src/lab/pki.js";
import { PATH_CHECKS, checkCertificatePath } from "../../src/verify/certificate-path.js";
import { SignatureCache } from "../../src/verify/signature-cache.js";
import { certificatePem } from "../../src/verify/trust-anchor.js";
import { derNull } from "../support/der.js";
import { tellAfterwards } from "./support.js";

const AT = new Date("2026-03-04T05:06:07Z");
const after = (seconds: number): Date => new Date(AT.getTime() + 1000 * seconds);
const lab = new NitroPki();
const strangerKey = generateKeyPair("secp384r1");
const p256 = generateKeyPair("prime256v1");

/** The anchor, then the path down to the leaf. */
type Path = readonly Uint8Array[];

/** Empty where the path is good; else why not. */
async function oursOf(path: Path): Promise<string> {
  const decoded = path.map((der) => attempt(() => decodeCertificate(der)));
  const faults = decoded.flatMap((each) => each.faults);
  if (faults.length > 0) return `decoding: ${faultText(faults)}`;
  const certificates = decoded.map((each) => each.value!);
  const checklist = new Checklist("boot[0]");
  await checkCertificatePath(
    { certificate: certificates[certificates.length - 1]!, cabundle: certificates.slice(0, -1) },
    {
      trustAnchors: [{ name: "lab", certificate: certificates[0]! }],
      validationTime: AT,
      cache: new SignatureCache(),
      crls: { given: [], applied: new Set() },
      now: AT,
    },
    checklist,
  );
  return PATH_CHECKS.filter((id) => checklist.status(id) === "fail")
    .map((id) => `${id}: ${checklist.answer(id)!.detail}`)
    .join("\n");
}

async function pkijs(path: Path): Promise<boolean> {
  const [anchor, ...rest] = path.map((der) => Certificate.fromBER(Uint8Array.from(der)));
  const engine = new CertificateChainValidationEngine({ trustedCerts: [anchor!], certs: rest, checkDate: AT });
  return (await engine.verify()).result;
}

/** Its chain builder, then its verification of each link. */
async function peculiar(path: Path): Promise<boolean> {
  const certificates = path.map((der) => new X509Certificate(Uint8Array.from(der)));
  const builder = new X509ChainBuilder({ certificates: certificates.slice(0, -1) });
  const chain = await builder.build(certificates[certificates.length - 1]!);
  const top = chain[chain.length - 1]!;
  if (!equalBytes(new Uint8Array(top.rawData), path[0]!)) return false;
  const answers = await Promise.all(
    chain.slice(0, -1).map((lower, index) => lower.verify({ publicKey: chain[index + 1]!.publicKey, date: AT })),
  );
  return answers.every(Boolean);
}

const folder = mkdtempSync(join(tmpdir(), "bootproof-openssl-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function openssl(path: Path): boolean {
  const pems = path.map(certificatePem);
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const { status, error } = spawnSync("openssl", [
    "verify",
    ...["-no-CApath", "-no-CAstore", "-attime", String(AT.getTime() / 1000)],
    ...["-CAfile", write("anchor.pem", pems[0]!)],
    // A file without certificates would be an error of its own.
    ...(path.length > 2 ? ["-untrusted", write("between.pem", pems.slice(1, -1).join(""))] : []),
    write("leaf.pem", pems[pems.length - 1]!),
  ]);
  if (error) throw error;
  return status === 0;
}

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
if (!hasOpenssl) console.log("no openssl on this machine: its opinion of paths is not asked");

const OPINIONS = {
  pkijs,
  peculiar,
  ...(hasOpenssl && { openssl: (path: Path): Promise<boolean> => Promise.resolve(openssl(path)) }),
};
type Name = "pkijs" | "peculiar" | "openssl";

/** Whoever throws does not accept. */
async function accepts(name: Name, path: Path): Promise<boolean> {
  return OPINIONS[name]!(path).catch(() => false);
}

type Change = (spec: CertificateSpec) => Partial<CertificateSpec>;
const { keyCertSign, cRLSign, digitalSignature, nonRepudiation } = KEY_USAGE;
const caUsage = keyUsage(true, keyCertSign, cRLSign);
const sha256 = algorithmIdentifier(OID.ecdsaWithSha256);
const withNull = algorithmIdentifier(OID.ecdsaWithSha384, derNull());
const extension = (critical: boolean): CertificateSpec["extensions"][number] => ({
  id: "1.3.6.1.4.1.99999.1",
  critical,
  value: derNull(),
});
const more =
  (...list: CertificateSpec["extensions"][number][]): Change =>
  (spec) => ({ extensions: [...spec.extensions, ...list] });
const only =
  (...list: CertificateSpec["extensions"][number][]): Change =>
  () => ({ extensions: list });

/** Of a certificate below the anchor. */
const ISSUED: Record<string, Change> = {
  "another issuer's name": () => ({ issuer: derSequence() }),
  "another issuer's key": () => ({ issuerKey: strangerKey }),
  "a damaged signature": () => ({ signature: (bytes) => bytes.map((byte, at) => (at === 20 ? byte ^ 1 : byte)) }),
  "signed with SHA-256": () => ({ innerAlgorithm: sha256, outerAlgorithm: sha256, digest: "sha256" }),
  "SHA-256 named beside the signature alone": () => ({ outerAlgorithm: sha256 }),
  "SHA-256 named inside alone": () => ({ innerAlgorithm: sha256 }),
  "an algorithm with parameters": () => ({ innerAlgorithm: withNull, outerAlgorithm: withNull }),
};
const ANY: Record<string, Change> = {
  "over since a second": () => ({ notBefore: after(-100), notAfter: after(-1) }),
  "begins in a second": () => ({ notBefore: after(1), notAfter: after(100) }),
  "an unknown critical extension": more(extension(true)),
  "an unknown extension twice": more(extension(false), extension(false)),
  "critical name constraints without contents": more({ id: OID.nameConstraints, critical: true, value: derSequence() }),
  "a P-256 key": () => ({ key: p256 }),
};
const CA: Record<string, Change> = {
  "no extensions": only(),
  "version 1": () => ({ version: 1, extensions: [] }),
  "no basicConstraints": only(caUsage),
  "no CA": only(basicConstraints(false), caUsage),
  "basicConstraints that is not critical": only({ ...basicConstraints(true), critical: false }, caUsage),
  "basicConstraints twice": more(basicConstraints(true)),
  "no keyUsage": only(basicConstraints(true)),
  "no keyCertSign": only(basicConstraints(true), keyUsage(true, digitalSignature, cRLSign)),
};
const LEAF: Record<string, Change> = {
  "a CA": only(basicConstraints(true), keyUsage(false, digitalSignature)),
  "a pathLen": only(basicConstraints(false, 0), keyUsage(false, digitalSignature)),
  "no keyUsage": only(basicConstraints(false)),
  "no digitalSignature": only(basicConstraints(false), keyUsage(false, nonRepudiation)),
  keyCertSign: only(basicConstraints(false), keyUsage(false, digitalSignature, keyCertSign)),
  "version 2": () => ({ version: 2 }),
};
/** Nothing that we mind. */
const HARMLESS: Record<string, Change> = {
  "over in this second": () => ({ notBefore: after(-100), notAfter: AT }),
  "begins in this second": () => ({ notBefore: AT, notAfter: after(100) }),
  "an unknown extension": more(extension(false)),
  "valid beyond 2050": () => ({ notAfter: new Date("2051-01-01T00:00:00Z") }),
  "a serial number of 20 octets": () => ({ serial: new Uint8Array(20).fill(0x7f) }),
};

interface Alteration {
  /** Of which certificate, and what. */
  readonly name: string;
  readonly place: number;
  readonly change: Change;
}

function alterations(kind: string, place: number, table: Record<string, Change>): Alteration[] {
  return Object.entries(table).map(([name, change]) => ({ name: `${kind}: ${name}`, place, change }));
}

function ofCa(place: number): Alteration[] {
  // Below the region are two CAs, below the zone one, below the instance none.
  const short = CHAIN.instance - place - 1;
  const tooShort: Record<string, Change> = { "a pathLen too short": only(basicConstraints(true, short), caUsage) };
  return [
    ...alterations("CA", place, { ...ISSUED, ...ANY, ...CA }),
    ...(short < 0 ? [] : alterations("CA", place, tooShort)),
  ];
}

const REFUSED: readonly Alteration[] = [
  ...alterations("anchor", CHAIN.root, { ...ANY, ...CA }),
  ...alterations("anchor", CHAIN.root, { "a pathLen too short": only(basicConstraints(true, 2), caUsage) }),
  ...[CHAIN.region, CHAIN.zone, CHAIN.instance].flatMap(ofCa),
  ...alterations("leaf", CHAIN.leaf, { ...ISSUED, ...ANY, ...LEAF }),
];
const ACCEPTED: readonly Alteration[] = [
  ...alterations("anchor", CHAIN.root, HARMLESS),
  ...[CHAIN.region, CHAIN.zone, CHAIN.instance].flatMap((place) =>
    alterations("CA", place, { ...HARMLESS, "no pathLen": only(basicConstraints(true), caUsage) }),
  ),
  ...alterations("leaf", CHAIN.leaf, { ...HARMLESS, "no basicConstraints": only(keyUsage(false, digitalSignature)) }),
];

const genuine = lab.chainSpecs(AT);
function issue(applied: readonly Alteration[]): Path {
  return lab.issueChain(
    genuine.map((spec, place) =>
      applied
        .filter((alteration) => alteration.place === place)
        .reduce((changed, { change }) => ({ ...changed, ...change(changed) }), spec),
    ),
  );
}

/** What is done to the list of an otherwise good path. */
const LISTS: Record<string, (path: Path) => Path> = {
  "an intermediate left out": (path) => path.filter((_, place) => place !== CHAIN.zone),
  "two intermediates exchanged": ([root, region, zone, ...rest]) => [root!, zone!, region!, ...rest],
  "an intermediate twice": ([root, region, ...rest]) => [root!, region!, region!, ...rest],
  "the anchor once more": ([root, ...rest]) => [root!, root!, ...rest],
  "an intermediate of another path beside": ([root, ...rest]) => [root!, stranger[CHAIN.region]!, ...rest],
  "the leaf of another authority of the same names": (path) => [...path.slice(0, -1), stranger[CHAIN.leaf]!],
  "the path of another authority of the same names": ([root]) => [root!, ...stranger.slice(1)],
  "the anchor alone, as its own leaf": ([root]) => [root!, root!],
  "a certificate that the leaf issued": () =>
    lab.issueChain([...genuine, { ...genuine[CHAIN.leaf]!, key: strangerKey }]),
};
const otherLab = new NitroPki();
const stranger = otherLab.issueChain(otherLab.chainSpecs(AT));

interface Row {
  /** Alterations, without the kind of certificate before them. */
  readonly what: readonly string[];
  /** Of these kinds of certificate alone. */
  readonly kinds?: readonly string[];
  readonly who: readonly Name[];
  /** One sentence. */
  readonly why: string;
}

const ALL: readonly Name[] = ["pkijs", "peculiar", "openssl"];
const LIBRARIES: readonly Name[] = ["pkijs", "peculiar"];

/** What others accept and we refuse. */
const LAX: readonly Row[] = [
  {
    what: ["signed with SHA-256", "an algorithm with parameters", "a P-256 key"],
    who: ALL,
    why: "This PKI has P-384 and SHA-384 alone, in one form; elsewhere others are as good.",
  },
  {
    what: ["SHA-256 named inside alone"],
    who: LIBRARIES,
    why: "They take the algorithm beside the signature, whatever the signed one is (RFC 5280 section 4.1.1.2).",
  },
  {
    what: ["an unknown critical extension"],
    who: LIBRARIES,
    why: "They do not look for critical extensions that they do not know (RFC 5280 section 4.2).",
  },
  {
    what: ["an unknown extension twice", "no keyUsage", "basicConstraints that is not critical"],
    who: ALL,
    why: "RFC 5280 asks this of who issues (sections 4.2, 4.2.1.3, 4.2.1.9), and of who verifies nothing.",
  },
  {
    what: ["critical name constraints without contents"],
    who: ALL,
    why: "Who knows name constraints finds none in it; we know none, and refuse what is critical and unknown.",
  },
  {
    what: ["basicConstraints twice", "a pathLen too short"],
    kinds: ["anchor", "CA"],
    who: LIBRARIES,
    why: "They read the first basicConstraints, and of it whether there is a CA: pathLen is not held.",
  },
  {
    what: ["no extensions", "version 1", "no basicConstraints", "no CA", "no keyCertSign"],
    kinds: ["anchor", "CA"],
    who: ["peculiar"],
    why: "It builds and verifies signatures and dates: whether an issuer may issue is left to its caller.",
  },
  {
    what: ["version 1", "no basicConstraints"],
    kinds: ["anchor"],
    who: ["openssl"],
    why: "It trusts an anchor that does not say whether it is a CA: it was put there to be one.",
  },
  {
    what: ["over since a second", "begins in a second"],
    kinds: ["anchor"],
    who: ["peculiar"],
    why: "The anchor is not verified, its dates included.",
  },
  {
    what: ["a CA", "a pathLen", "no digitalSignature", "keyCertSign", "version 2"],
    kinds: ["leaf"],
    who: ALL,
    why: "What a leaf is for is asked by purpose, and signing documents is not a purpose that they know.",
  },
];

/** What others refuse and we accept. */
const STRICTER: readonly Row[] = [
  {
    what: ["over in this second"],
    who: ["openssl"],
    why: "openssl takes the end of a validity as outside; RFC 5280 section 4.1.2.5 takes both ends as inside.",
  },
  {
    what: ["over in this second", "begins in this second"],
    kinds: ["CA", "leaf"],
    who: ["peculiar"],
    why: "It takes both ends of a validity as outside; RFC 5280 section 4.1.2.5 takes both as inside.",
  },
];

function has(rows: readonly Row[], who: Name, name: string): boolean {
  const [kind, what] = name.split(": ") as [string, string];
  return rows.some((row) => row.who.includes(who) && row.what.includes(what) && (row.kinds?.includes(kind) ?? true));
}

const names = Object.keys(OPINIONS) as Name[];
const counts = new Map<string, number>();
tellAfterwards("paths", counts);

describe("each alteration alone", () => {
  it("a path without any", async () => {
    expect(await oursOf(issue([]))).toBe("");
    for (const name of names) expect([name, await accepts(name, issue([]))]).toEqual([name, true]);
  });

  it.each(REFUSED.map((alteration) => [alteration.name, alteration] as const))("%s: refused", async (name, each) => {
    const path = issue([each]);
    expect(await oursOf(path)).not.toBe("");
    const answers = await Promise.all(names.map((who) => accepts(who, path)));
    expect(answers).toEqual(names.map((who) => has(LAX, who, name)));
  });

  it.each(ACCEPTED.map((alteration) => [alteration.name, alteration] as const))("%s: accepted", async (name, each) => {
    const path = issue([each]);
    expect(await oursOf(path)).toBe("");
    const answers = await Promise.all(names.map((who) => accepts(who, path)));
    expect(answers).toEqual(names.map((who) => !has(STRICTER, who, name)));
  });

  it("every row of the tables is of an alteration", () => {
    const all = [...REFUSED, ...ACCEPTED].map(({ name }) => name.split(": "));
    for (const { what, kinds, why } of [...LAX, ...STRICTER]) {
      expect(why).toMatch(/\.$/);
      for (const one of what)
        for (const kind of kinds ?? [undefined]) {
          const isThere = all.some(([its, name]) => name === one && (kind === undefined || its === kind));
          expect([kind, one, isThere]).toEqual([kind, one, true]);
        }
    }
  });
});

describe("the list of certificates", () => {
  /** Who searches for a path finds one in any order, and leaves out what it does not need. */
  const SEARCHED: Record<string, readonly Name[]> = {
    "two intermediates exchanged": ALL,
    "an intermediate twice": ALL,
    "the anchor once more": ALL,
    "an intermediate of another path beside": LIBRARIES,
    "the anchor alone, as its own leaf": ALL,
    // It does not ask whether an issuer may issue.
    "a certificate that the leaf issued": ["peculiar"],
  };

  it.each(Object.entries(LISTS))("%s: refused", async (name, change) => {
    const path = change(issue([]));
    expect(await oursOf(path)).not.toBe("");
    const answers = await Promise.all(names.map((who) => accepts(who, path)));
    expect(names.filter((_, at) => answers[at])).toEqual(names.filter((who) => SEARCHED[name]?.includes(who)));
  });
});
