/** A lab whose keys are the same in every process, so that what was found stays what it was when it is tried again. */
import { createECDH, createHash } from "node:crypto";
import { fromBase64, toUtf8 } from "../../src/bytes.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import type { KeyPair } from "../../src/lab/keys.js";
import { NitroPki } from "../../src/lab/pki.js";
import { type LabMember, type QosKeyPair, qosKeyPair } from "../../src/lab/qos.js";
import { parsePolicy } from "../../src/index.js";
import { derBitString, derExplicit, derInteger, derOctetString, derOid, derSequence } from "../support/der.js";

const CURVES = {
  prime256v1: { id: "1.2.840.10045.3.1.7", length: 32 },
  secp384r1: { id: "1.3.132.0.34", length: 48 },
} as const;

/** PKCS#8 (RFC 5958) of the key whose scalar is a hash of the name. */
function keyOf(curve: keyof typeof CURVES, name: string): KeyPair {
  const { id, length } = CURVES[curve];
  const scalar = createHash("sha512").update(`fuzz ${name}`).digest().subarray(0, length);
  scalar[0] = 1;
  const pair = createECDH(curve);
  pair.setPrivateKey(scalar);
  const point = derExplicit(1, derBitString(pair.getPublicKey()));
  const key = derSequence(derInteger(1), derOctetString(scalar), point);
  const algorithm = derSequence(derOid("1.2.840.10045.2.1"), derOid(id));
  return { pkcs8: derSequence(derInteger(0), algorithm, derOctetString(key)) };
}

const p256 = (name: string): KeyPair => keyOf("prime256v1", name);
const qosKey = (name: string): QosKeyPair => qosKeyPair(p256(`${name} encryption`), p256(`${name} signing`));
const members = (...aliases: string[]): LabMember[] => aliases.map((alias) => ({ alias, key: qosKey(alias) }));

/** Issued once: its signature is another one each time, and verifiers know it byte for byte. */
const ROOT_CERTIFICATE =
  "MIIB9TCCAXygAwIBAgIQR3al8aaayp9pUUq7qnIcBTAKBggqhkjOPQQDAzBMMQswCQYDVQQGEwJVUzESMBAGA1UECgwJYm9vdHBy" +
  "b29mMQwwCgYDVQQLDANsYWIxGzAZBgNVBAMMEmxhYi5uaXRyby1lbmNsYXZlczAeFw0xOTEwMjgxMzI4MDVaFw00OTEwMjgxNDI4" +
  "MDVaMEwxCzAJBgNVBAYTAlVTMRIwEAYDVQQKDAlib290cHJvb2YxDDAKBgNVBAsMA2xhYjEbMBkGA1UEAwwSbGFiLm5pdHJvLWVu" +
  "Y2xhdmVzMHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEeDM1UtdrKieGFe2cawqaLJthTcrAOD0jrSO0q/qPznrs6QxEeP4etd5LW99U" +
  "Mjqe6dJk0OdPum3vm72UWGJxdnQlQu/+wqrtzfNS2UFDx3aWBYX4smmVoqujF9Ge3HX+oyMwITAPBgNVHRMBAf8EBTADAQH/MA4G" +
  "A1UdDwEB/wQEAwIBBjAKBggqhkjOPQQDAwNnADBkAjALQ0XrDFNifIyiayPJRQXYGuZXzfh3qDfoLmvTWps0tVlqsHfFwOKbRP5G" +
  "Kji7anICMCdcgxHoCSXqO83uWbCD5azwqp/3qoknuG3oF9JYxk8kjdPwLaSoAE6y/+FQVKsZ6w==";

export const ROOT = fromBase64(ROOT_CERTIFICATE)!;
const pki = new NitroPki({
  keys: {
    root: keyOf("secp384r1", "root"),
    region: keyOf("secp384r1", "region"),
    zone: keyOf("secp384r1", "zone"),
    instance: keyOf("secp384r1", "instance"),
    leaf: keyOf("secp384r1", "leaf"),
  },
  rootCertificate: ROOT,
});
export const LEAF_KEY = keyOf("secp384r1", "leaf");
export const OTHER_KEY = qosKey("other");
export const AT = new Date("2026-03-04T05:06:07.000Z");
export const NOW = new Date(AT.getTime() + 300_000);

export const lab = new Forge({
  pki,
  quorumKey: qosKey("quorum"),
  ephemeralKey: qosKey("ephemeral"),
  manifestMembers: members("alice", "bob", "carol"),
  shareMembers: members("dora", "emil"),
  pivotHash: new Uint8Array(createHash("sha256").update(toUtf8("fuzzed application")).digest()),
});

export const whole = forgeEvidence({ lab, at: AT, otherKey: OTHER_KEY });
export const policyJson = labPolicy(whole.anchorPem, [labDeployment(lab)]);
export const policy = parsePolicy(JSON.stringify(policyJson));
