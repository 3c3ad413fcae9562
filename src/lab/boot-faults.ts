/** Faults of the boot: what the enclave runs and attests, and what its boot proof says of it. */
import { concatBytes, fromUtf8, toUtf8 } from "../bytes.js";
import { PCR_LENGTH } from "../decode/lengths.js";
import type { Manifest, ManifestEnvelope, Pivot } from "../decode/manifest/index.js";
import { type AlterForge, type TargetEnclave, behaviours, otherForge, put } from "./behaviour.js";
import { type DocumentAlterations, encodeCbor } from "./enclave.js";
import type { Forge, ManifestAlterations } from "./forge.js";
import { generateKeyPair } from "./keys.js";
import {
  CHAIN,
  type CertificateSpec,
  DAY,
  HOUR,
  KEY_USAGE,
  OID,
  algorithmIdentifier,
  basicConstraints,
  keyUsage,
} from "./pki.js";
import { approve, manifestHash, memberSet, qosKeyPair, sha256 } from "./qos.js";

// Each of the helpers below alters one part of the evidence.

const document =
  (alterDocument: DocumentAlterations): AlterForge =>
  () => ({ alterDocument });
const field = (name: string, value: unknown): AlterForge => document({ fields: (fields) => fields.set(name, value) });
const pcrs = (change: (pcrs: Map<number, Uint8Array>) => void): AlterForge =>
  document({ pcrs: (map) => (change(map), map) });
const certificate = (place: number, change: (spec: CertificateSpec) => Partial<CertificateSpec>): AlterForge =>
  document({
    certificates: (specs) => specs.map((spec, index) => (index === place ? { ...spec, ...change(spec) } : spec)),
  });
const alterManifest =
  (alterations: (target: TargetEnclave) => ManifestAlterations): AlterForge =>
  (target) => ({ alterManifest: alterations(target) });
const manifest = (parts: NonNullable<ManifestAlterations["parts"]>): AlterForge => alterManifest(() => ({ parts }));
/** Makes the manifest a v2 manifest, for values that older manifests or Borsh cannot express. */
const asV2 =
  (alter: AlterForge): AlterForge =>
  (target) => ({ ...alter(target), version: "v2", encoding: "json" });
/** Changes the pivot of a v2 manifest: workload manifests have no pivot, and older pivots lack members. */
const pivot = (change: (pivot: Pivot) => Pivot): AlterForge =>
  asV2(alterManifest(() => ({ manifest: (value) => ({ ...value, pivot: change(value.pivot) }) })));
function flipped(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, index) => (index === bytes.length - 1 ? byte ^ 1 : byte));
}

export const DOCUMENT_FAULTS = behaviours({
  "malformed-cose": {
    what: "the attestation document has a byte too many",
    fails: ["cose.structure"],
    forge: document({ cose: (bytes) => concatBytes(bytes, Uint8Array.of(0)) }),
  },
  "another-algorithm": {
    what: "the document's signed header names ES256",
    fails: ["cose.algorithm"],
    forge: document({ protectedHeader: () => encodeCbor(new Map([[1, -7]])) }),
  },
  "altered-document": {
    what: "the document was changed after it was signed",
    fails: ["cose.signature"],
    forge: document({ signature: flipped }),
  },
  "malformed-document": {
    what: "the document names a digest that is not SHA384",
    fails: ["doc.structure"],
    forge: field("digest", "SHA256"),
  },
  "future-document": {
    what: "the document is dated a day ahead",
    fails: ["doc.time"],
    forge: ({ at }) => ({ at: new Date(at.getTime() + DAY) }),
  },
  "foreign-root": {
    what: "the document comes from another authority with the same names",
    fails: ["chain.anchor"],
    forge: ({ at }) => ({ alterDocument: { certificates: () => otherForge().pki.chainSpecs(at) } }),
  },
  "forged-leaf": {
    what: "the leaf certificate is signed by a key that is not its issuer's",
    fails: ["chain.signature"],
    forge: certificate(CHAIN.leaf, () => ({ issuerKey: generateKeyPair("secp384r1") })),
  },
  "weak-certificate": {
    what: "the outer algorithm of a certificate is ECDSA with SHA-256",
    fails: ["chain.algorithm"],
    forge: certificate(CHAIN.zone, () => ({ outerAlgorithm: algorithmIdentifier(OID.ecdsaWithSha256) })),
  },
  "expired-chain": {
    what: "the leaf certificate had expired when the document was made",
    fails: ["chain.validity"],
    forge: certificate(CHAIN.leaf, ({ notBefore, notAfter }) => ({
      notBefore: new Date(notBefore.getTime() - 6 * HOUR),
      notAfter: new Date(notAfter.getTime() - 6 * HOUR),
    })),
  },
  "leaf-as-authority": {
    what: "the leaf certificate is issued by a certificate that is not an authority",
    fails: ["chain.constraints"],
    forge: certificate(CHAIN.instance, () => ({
      extensions: [basicConstraints(false), keyUsage(true, KEY_USAGE.digitalSignature)],
    })),
  },
});

export const MANIFEST_FAULTS = behaviours({
  "duplicated-member": {
    what: "the manifest is JSON in which a member appears twice",
    fails: ["manifest.decode"],
    forge: asV2(
      alterManifest(() => ({
        bytes: (bytes) => toUtf8(fromUtf8(bytes)!.replace('"version"', '"version":"v2","version"')),
      })),
    ),
  },
  "malformed-envelope": {
    what: "the envelope is JSON without its approvals",
    fails: ["envelope.decode"],
    forge: asV2(alterManifest(() => ({ envelopeJson: ({ manifest: only }) => ({ manifest: only! }) }))),
  },
  "another-envelope": {
    what: "the envelope approves another manifest, with the next nonce",
    fails: ["envelope.manifest"],
    forge: alterManifest(({ forge }) => ({ envelope: (envelope) => anotherEnvelope(envelope.manifest, forge) })),
  },
  "missing-approvals": {
    what: "fewer operators approved the manifest than it demands",
    fails: ["envelope.approvals"],
    forge: alterManifest(() => ({ approvals: ([first]) => [first!] })),
  },
  "outsider-approval": {
    what: "one of the approvals is not by an operator",
    fails: ["envelope.approvals"],
    forge: alterManifest(() => ({
      approvals: ([first], hash) => [first!, approve(hash, otherForge().manifestMembers[1]!)],
    })),
  },
  "outsider-share": {
    what: "a share-set approval is not by a holder of a share",
    fails: ["envelope.shares"],
    forge: alterManifest(() => ({ shareApprovals: (_, hash) => [approve(hash, otherForge().shareMembers[0]!)] })),
  },
  "debug-application": {
    what: "the application runs in debug mode",
    fails: ["mode.debug"],
    forge: pivot((value) => ({ ...value, debugMode: true })),
  },
});

export const BINDING_FAULTS = behaviours({
  "another-enclaves-proof": {
    what: "the boot proof is genuine, but belongs to another enclave of the same release",
    fails: ["app.key"],
    bootProof: (_, { fleet, release, at }) => fleet.standby(release, at),
  },
  "relabelled-proof": {
    what: "another enclave's boot proof, relabelled with the requested key",
    fails: ["bind.key", "app.key"],
    bootProof: ({ ephemeralPublicKeyHex }, { fleet, release, at }) => ({
      ...fleet.standby(release, at),
      ephemeralPublicKeyHex: ephemeralPublicKeyHex!,
    }),
  },
  "swapped-keys": {
    what: "the boot proof attests the two halves of the key in the wrong order",
    fails: ["app.key"],
    forge: ({ key }) => ({ ephemeralKey: qosKeyPair(key.signing, key.encryption) }),
  },
  "malformed-base64": {
    what: "a field of the boot proof is not base64",
    fails: ["boot.decode"],
    bootProof: (honest) => put("qosManifestB64", `${honest["qosManifestB64"] as string}!`)(honest),
  },
  "another-user-data": {
    what: "the document commits to another manifest",
    fails: ["bind.user-data"],
    forge: field("user_data", sha256(toUtf8("another manifest"))),
  },
  "another-image": {
    what: "the enclave runs an image that the manifest does not name",
    fails: ["bind.pcrs"],
    forge: pcrs((map) => map.set(0, flipped(map.get(0)!))),
  },
  "debug-mode": {
    what: "the enclave runs in debug mode: its measurements are zeros, as are those in the manifest",
    fails: ["mode.debug"],
    forge: (target) => ({
      ...manifest(({ enclave }) => ({
        enclave: {
          ...enclave,
          pcr0: new Uint8Array(PCR_LENGTH),
          pcr1: new Uint8Array(PCR_LENGTH),
          pcr2: new Uint8Array(PCR_LENGTH),
        },
      }))(target),
      ...pcrs((map) => [0, 1, 2].forEach((index) => map.set(index, new Uint8Array(PCR_LENGTH))))(target),
    }),
  },
  "commitment-missing": {
    what: "the PCRs of the commitment are zeros",
    fails: ["bind.commitment"],
    forge: pcrs((map) => [16, 17].forEach((index) => map.set(index, new Uint8Array(PCR_LENGTH)))),
  },
  "commitment-mismatched": {
    what: "the enclave committed to another manifest or key",
    fails: ["bind.commitment"],
    forge: pcrs((map) => map.set(17, flipped(map.get(17)!))),
  },
  "nonce-present": {
    what: "the document was made for a challenge, and carries its nonce",
    fails: ["bind.nonce"],
    forge: field("nonce", Uint8Array.of(1, 2, 3)),
  },
});

export const POLICY_FAULTS = behaviours({
  "another-release": {
    what: "the enclave runs an approved release that is not pinned: it has other measurements",
    fails: ["policy.deployment", "policy.pcrs"],
    forge: (target) => ({
      ...manifest(({ enclave }) => ({ enclave: { ...enclave, pcr0: flipped(enclave.pcr0) } }))(target),
      ...pcrs((map) => map.set(0, flipped(map.get(0)!)))(target),
    }),
  },
  "another-binary": {
    what: "another application binary runs in the pinned image",
    fails: ["policy.deployment", "policy.pivot"],
    forge: pivot((value) => ({ ...value, hash: flipped(value.hash) })),
  },
  "another-namespace": {
    what: "the enclave belongs to another namespace",
    fails: ["policy.deployment", "policy.namespace"],
    forge: manifest(({ namespace }) => ({ namespace: { ...namespace, name: "lab/another" } })),
  },
  "stale-manifest": {
    what: "the enclave booted an approved manifest of an older nonce",
    fails: ["policy.deployment", "policy.nonce"],
    forge: manifest(({ namespace }) => ({ namespace: { ...namespace, nonce: 1 } })),
  },
  "another-quorum-key": {
    what: "the enclave is provisioned with another quorum key",
    fails: ["policy.deployment", "policy.quorum-key"],
    forge: manifest(({ namespace }) => ({ namespace: { ...namespace, quorumKey: otherForge().quorumKey.publicKey } })),
  },
  "another-manifest-set": {
    what: "the manifest names other operators, who all approved it",
    fails: ["policy.deployment", "policy.manifest-set"],
    forge: alterManifest(() => ({
      parts: () => ({ manifestSet: memberSet(2, otherForge().manifestMembers) }),
      approvals: (_, hash) => otherForge().manifestMembers.map((member) => approve(hash, member)),
    })),
  },
  "another-share-set": {
    what: "other members hold the shares of the quorum key",
    fails: ["policy.deployment", "policy.share-set"],
    forge: alterManifest(() => ({
      parts: () => ({ shareSet: memberSet(2, otherForge().shareMembers) }),
      shareApprovals: (_, hash) => otherForge().shareMembers.map((member) => approve(hash, member)),
    })),
  },
  "legacy-enclave": {
    what: "the enclave is an older one that commits to no key",
    fails: ["policy.deployment", "policy.commitment"],
    forge: () => ({ generation: "legacy" }),
  },
  "another-label": {
    what: "the service labels the enclave as another deployment",
    fails: ["policy.deployment", "policy.labels"],
    bootProof: put("deploymentLabel", "lab.0"),
  },
  "ancient-boot": {
    what: "the boot proof is two months old",
    fails: ["policy.age"],
    forge: ({ at }) => ({ at: new Date(at.getTime() - 60 * DAY) }),
  },
});

/** Makes an approved envelope with the next nonce. */
function anotherEnvelope(manifest: Manifest, forge: Forge): ManifestEnvelope {
  const other = { ...manifest, namespace: { ...manifest.namespace, nonce: manifest.namespace.nonce + 1 } };
  const approvals = forge.manifestMembers.map((member) => approve(manifestHash(other), member));
  return { manifest: other, manifestSetApprovals: approvals, shareSetApprovals: [] };
}
