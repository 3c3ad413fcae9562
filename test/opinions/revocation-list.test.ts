/** Revocation lists beside pkijs: the fields of a list, and whether its issuer signed it. */
import { webcrypto } from "node:crypto";
import { Certificate, CertificateRevocationList, CryptoEngine, setEngine } from "pkijs";
import { expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { rawSignature } from "../../src/decode/ecdsa-signature.js";
import { decodeRevocationList } from "../../src/decode/revocation-list.js";
import { NitroPki } from "../../src/lab/pki.js";
import { SignatureCache } from "../../src/index.js";
import { pointOfSpki } from "../../src/verify/ecdsa.js";
import { decodeCertificate } from "../../src/decode/certificate.js";
import { mutated } from "../support/property.js";
import { HOUR, type ListSpec, issuingPoint, revocationList } from "../support/revocation.js";
import { digits } from "./certificates.js";
import { TIMEOUT, fc, ours, runs, theirs } from "./support.js";
import { derInteger } from "../support/der.js";

setEngine("node", new CryptoEngine({ name: "node", crypto: webcrypto as unknown as Crypto }));

const AT = new Date("2026-03-04T05:06:07Z");
const pki = new NitroPki();
const specs = pki.chainSpecs(AT);
const [root, region] = pki.issueChain(specs) as [Uint8Array, Uint8Array];
const serials = [Uint8Array.of(1), Uint8Array.of(0, 0x80, 7), Uint8Array.from({ length: 20 }, (_, i) => i + 1)];
const URL = "http://crl.lab/region.crl";
const SPECS: readonly Partial<ListSpec>[] = [
  {},
  { serials },
  { serials: [serials[0]!], extensions: [{ id: "2.5.29.20", critical: false, value: derInteger(7) }] },
  { version: null, nextUpdate: null },
  { extensions: [issuingPoint(URL)], nextUpdate: new Date("2051-01-01T00:00:00Z") },
];
const lists = SPECS.map((more) => revocationList({ issuer: specs[0]!, thisUpdate: AT, ...more }));
/** Signed by another key, though its name is that of the root. */
const foreign = revocationList({
  issuer: specs[0]!,
  key: specs[1]!.key,
  thisUpdate: new Date(AT.getTime() - HOUR),
  serials,
});

function readOurs(der: Uint8Array): object {
  const { tbsCertList, issuer, thisUpdate, nextUpdate, revoked, signature } = decodeRevocationList(der);
  return { tbsCertList, issuer, thisUpdate, nextUpdate, revoked: new Set([...revoked].map(digits)), signature };
}

const bytesOf = (buffer: ArrayBuffer | Uint8Array): Uint8Array => new Uint8Array(buffer);

function readPkijs(der: Uint8Array): object {
  const list = CertificateRevocationList.fromBER(Uint8Array.from(der));
  return {
    tbsCertList: bytesOf(list.tbsView),
    issuer: bytesOf(list.issuer.toSchema().toBER()),
    thisUpdate: list.thisUpdate.value,
    nextUpdate: list.nextUpdate?.value ?? null,
    revoked: new Set(
      (list.revokedCertificates ?? []).map(({ userCertificate }) =>
        digits(toHex(bytesOf(userCertificate.valueBlock.valueHexView))),
      ),
    ),
    signature: bytesOf(list.signatureValue.valueBlock.valueHexView),
  };
}

async function isSignedOurs(der: Uint8Array, issuer: Uint8Array): Promise<boolean> {
  const { tbsCertList, signature } = decodeRevocationList(der);
  const raw = rawSignature(signature, 48);
  const point = pointOfSpki("P-384", decodeCertificate(issuer).subjectPublicKeyInfo)!;
  return raw !== null && new SignatureCache().verify("P-384", point, tbsCertList, raw);
}

function isSignedPkijs(der: Uint8Array, issuer: Uint8Array): Promise<boolean> {
  const issuerCertificate = Certificate.fromBER(Uint8Array.from(issuer));
  return CertificateRevocationList.fromBER(Uint8Array.from(der)).verify({ issuerCertificate });
}

it.each(lists.map((list, index) => [index, list] as const))(
  "list %i has the same fields, and the same signer",
  async (_, list) => {
    expect(readOurs(list)).toEqual(readPkijs(list));
    for (const issuer of [root, region])
      expect(await isSignedOurs(list, issuer)).toBe(await isSignedPkijs(list, issuer));
    expect(await isSignedOurs(list, root)).toBe(true);
  },
);

it("a list of another key is signed for neither", async () => {
  expect([await isSignedOurs(foreign, root), await isSignedPkijs(foreign, root)]).toEqual([false, false]);
});

it(
  "what both read of a damaged list is the same",
  () => {
    // pkijs also refuses contents that this decoder leaves to whoever compares them, such as algorithms and names.
    const seen = { same: 0, refusedHere: 0, refusedThere: 0 };
    fc.assert(
      fc.property(fc.constantFrom(...lists).chain(mutated), (der) => {
        const [our, their] = [ours(() => readOurs(der)), theirs(() => readPkijs(der))];
        if ("refused" in our) return void seen.refusedHere++;
        if ("refused" in their) return void seen.refusedThere++;
        expect(our).toEqual(their);
        seen.same++;
      }),
      runs(400),
    );
    expect(seen.same).toBeGreaterThan(20);
    expect(seen.refusedHere).toBeGreaterThan(20);
    expect(seen.refusedThere).toBeLessThan(seen.same);
  },
  TIMEOUT,
);
