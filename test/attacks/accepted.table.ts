/** Valid evidence in every shape that the formats allow: all of it has to be accepted. */
import { concatBytes, toHex, toUtf8 } from "../../src/bytes.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import { customPayload, policyOutcomePayload } from "../../src/lab/enclave.js";
import { MANIFEST_VERSIONS, declarationOf, manifestDraft, manifestEncodings } from "../../src/decode/manifest/index.js";
import type { Expected } from "../../src/index.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { generateKeyPair } from "../../src/lab/keys.js";
import { derNull, derSequence } from "../support/der.js";
import { withS } from "../support/high-s.js";
import { encodeCbor } from "../support/cbor.js";
import { withTag } from "../support/odd-cbor.js";
import { CHAIN, type CertificateSpec, KEY_USAGE, basicConstraints, keyUsage } from "../../src/lab/pki.js";
import { approve, commitmentPcr, generateQosKeyPair, memberSet } from "../../src/lab/qos.js";
import { DETAIL_FORMS, detailsOf, withoutLabels } from "../support/provisioning.js";
import { type ListSpec, distributionPoints, revocationList } from "../support/revocation.js";
import { OWN_APPLICATION_ACCEPTED } from "./own-application.table.js";
import { SIGNATURES_ACCEPTED } from "./signature.table.js";
import {
  AT,
  type Accepted,
  type Alterations,
  JUST_BEHIND,
  NOW,
  after,
  appProof,
  certificate,
  document,
  drop,
  field,
  forge,
  lab,
  inManifest,
  manifest,
  pcr,
  pcrs,
  put,
  withActivity,
  named,
} from "./support.js";

const ZERO_PCR = new Uint8Array(48);
const otherKey = generateQosKeyPair();
const [alice, bob, carol] = lab.manifestMembers as [
  (typeof lab.manifestMembers)[0],
  (typeof lab.manifestMembers)[0],
  (typeof lab.manifestMembers)[0],
];
const unknown = (length: number): CertificateSpec["extensions"][number] => ({
  id: "1.3.6.1.4.1.99999.1",
  critical: false,
  value: length === 0 ? derNull() : new Uint8Array(length),
});

const RELEASED = MANIFEST_VERSIONS.filter((version) => manifestDraft(version) === null);
const kinds: Accepted[] = RELEASED.flatMap((version) =>
  [...manifestEncodings(version)].reverse().flatMap((encoding): Accepted[] => [
    { name: `${version} ${encoding} of a live enclave`, forge: { version, encoding } },
    {
      name: `${version} ${encoding} of a legacy enclave, pinned as such`,
      forge: { version, encoding, generation: "legacy" },
      judge: { deployments: (all) => [{ ...all, commitment: "legacy" }] },
      warns: ["bind.commitment", "policy.scope"],
    },
    {
      name: `${version} ${encoding} of an enclave in its setup, without a policy`,
      forge: { version, encoding, generation: "setup", payloads: [] },
      judge: { noPolicy: true },
    },
    {
      name: `${version} ${encoding} of an enclave in its setup, pinned as such`,
      forge: { version, encoding, generation: "setup", payloads: [] },
      judge: { deployments: (all) => [{ ...all, commitment: "setup" }] },
      warns: ["policy.age"],
    },
    ...DETAIL_FORMS.filter((form) => form === "query" || encoding === "json").map((form): Accepted => {
      const bootProof = (proof: JsonObject): JsonObject => detailsOf(proof, form);
      return {
        name: `${version} ${encoding} in provisioning details, ${form}`,
        forge: { version, encoding, generation: "setup", payloads: [], bootProof },
        // They have no labels that a policy could pin.
        judge: { deployments: (all) => [{ ...withoutLabels(all), commitment: "setup" }], policy: { maxAge: "1h" } },
      };
    }),
    {
      name: `${version} ${encoding}, numbers as text and hex in upper case`,
      forge: { version, encoding, spelling: { numbers: "string", hex: "upper" } },
    },
    { name: `${version} ${encoding}, hex with 0x`, forge: { version, encoding, spelling: { hex: "0x" } } },
    {
      name: `${version} ${encoding}, version not declared`,
      forge: { version, encoding, bootProof: drop("qosManifestVersion") },
    },
    {
      name: `${version} ${encoding}, version declared null`,
      forge: { version, encoding, bootProof: put("qosManifestVersion", null) },
    },
    {
      name: `${version} ${encoding}, declared in upper case`,
      forge: { version, encoding, bootProof: put("qosManifestVersion", declarationOf(version).toUpperCase()) },
    },
    {
      name: `${version} ${encoding}, declared as a digit`,
      forge: { version, encoding, bootProof: put("qosManifestVersion", declarationOf(version).slice(1)) },
    },
    ...(version === "v2"
      ? []
      : [
          {
            name: `${version} ${encoding} beside an envelope in the other encoding`,
            forge: { version, encoding, envelopeEncoding: encoding === "json" ? "borsh" : "json" } as const,
          },
        ]),
  ]),
);

const json = (change: (text: string) => string): Alterations => ({
  alterManifest: { bytes: (bytes) => toUtf8(change(Buffer.from(bytes).toString())) },
});
const reversed = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member as JsonValue)]),
  );
};
const withoutEnv: Alterations = {
  alterManifest: {
    manifest: (value) => {
      const copy = { ...value, pivot: { ...value.pivot } };
      Reflect.deleteProperty(copy, "dns");
      Reflect.deleteProperty(copy.pivot, "env");
      return copy;
    },
  },
};

const manifests: Accepted[] = [
  ...named<Accepted>({
    "v2 with white space": { forge: json((text) => JSON.stringify(JSON.parse(text), null, 2)) },
    "v2 with its members in another order": {
      forge: json((text) => JSON.stringify(reversed(JSON.parse(text) as JsonValue))),
    },
    "v2 with escapes": {
      forge: json((text) => text.replace('"signer', '"\\u0073igner').replace("lab/signer", "lab\\/signer")),
    },
    "v2 with an IPv6 address in full": {
      forge: json((text) => text.replace("fd00:ec2::253", "FD00:0ec2:0:0:0:0:0:0253")),
    },
    "v2 without env and dns": { forge: withoutEnv },
    "v2 with an empty env": { forge: { alterManifest: { ...withoutEnv.alterManifest, json: put("pivot.env", {}) } } },
    "v2 with dns null": { forge: { alterManifest: { ...withoutEnv.alterManifest, json: put("dns", null) } } },
    "v2 with text beyond ASCII": { forge: inManifest("pivot", { args: ["é", "𝔸", "\u2028", '\u0000\u001f"\\/'] }) },
    "v2 whose env is named like a member of objects": {
      forge: inManifest("pivot", {
        env: new Map([
          ["__proto__", "x"],
          ["constructor", "y"],
        ]),
      }),
    },
    "v2 with 512 entries of env, one of 64 KiB": {
      forge: inManifest("pivot", {
        env: new Map(Array.from({ length: 512 }, (_, i) => [`A${i}`, i === 0 ? "x".repeat(65536) : ""])),
      }),
    },
    "v2 without bridges and arguments": { forge: inManifest("pivot", { bridgeConfig: [], args: [] }) },
    "v1 without bridges and arguments": {
      forge: { version: "v1", ...inManifest("pivot", { bridgeConfig: [], args: [] }) },
    },
    "v0 without arguments": { forge: { version: "v0", ...inManifest("pivot", { args: [] }) } },
  }),
  ...(["v0", "V0", "0"] as const).map((declared): Accepted => ({
    name: `v0-tail declared as ${declared}`,
    forge: { version: "v0-tail", bootProof: put("qosManifestVersion", declared) },
  })),
  ...(
    [
      [null, null],
      [0, 0],
      [65535, 255],
      [null, 4],
    ] as const
  ).flatMap(([clientTimeoutMs, poolSize]) =>
    manifestEncodings("v0-tail").map((encoding): Accepted => ({
      name: `v0-tail ${encoding} with a timeout of ${clientTimeoutMs} and a pool of ${poolSize}`,
      forge: { version: "v0-tail", encoding, ...manifest(() => ({ clientTimeoutMs, poolSize })) },
    })),
  ),
  ...(["v0", "v0-tail"] as const).map((version): Accepted => ({
    name: `${version} with an envelope in camel case`,
    forge: { version, encoding: "json", alterManifest: { envelopeJson: inCamelCase } },
  })),
  ...named<Accepted>({
    "v1 with a client bridge to a host": {
      forge: {
        version: "v1",
        ...inManifest("pivot", { bridgeConfig: [{ type: "client", port: 65535, host: "example.com" }] }),
      },
    },
    "a nonce of 32 bits": { forge: inManifest("namespace", { nonce: 4294967295 }) },
    "a newer manifest than pinned": { forge: inManifest("namespace", { nonce: 8 }) },
  }),
];

const approvals: Accepted[] = [
  ...named<Accepted>({
    "all members approved": {
      forge: { alterManifest: { approvals: (list, hash) => [...list, approve(hash, carol)] } },
    },
    "the last two members approved, in turned order": {
      forge: { alterManifest: { approvals: (_, hash) => [approve(hash, carol), approve(hash, bob)] } },
    },
    "a threshold of all": {
      forge: {
        alterManifest: {
          manifest: (value) => ({ ...value, manifestSet: memberSet(3, lab.manifestMembers) }),
          approvals: (list, hash) => [...list, approve(hash, carol)],
        },
      },
    },
    "a set of one": {
      forge: {
        alterManifest: {
          manifest: (value) => ({ ...value, manifestSet: memberSet(1, [alice]) }),
          approvals: ([first]) => [first!],
        },
      },
      judge: { noPolicy: true },
    },
    "an approver's signature with a high S": {
      forge: {
        alterManifest: {
          approvals: (list) => list.map((approval) => ({ ...approval, signature: withS("high", approval.signature) })),
        },
      },
    },
    "no share approvals": { forge: { alterManifest: { shareApprovals: () => [] } } },
    "a share approval by one member twice": {
      forge: { alterManifest: { shareApprovals: ([first, second]) => [first!, second!, first!] } },
      warns: ["envelope.shares"],
    },
    "fewer share approvals than the share set's threshold": {
      forge: { alterManifest: { shareApprovals: ([first]) => [first!] } },
    },
    "the same person in manifest set and share set": {
      forge: {
        alterManifest: {
          manifest: (value) => ({ ...value, shareSet: memberSet(1, [alice]) }),
          shareApprovals: (_, hash) => [approve(hash, alice)],
        },
      },
      judge: { noPolicy: true },
    },
  }),
];

/** The payload padded to the size with an unknown key. */
function filledUp(payload: Uint8Array, size: number): Uint8Array {
  const key = encodeCbor("x");
  const room = size - payload.length - key.length - 3;
  return concatBytes(Uint8Array.of(payload[0]! + 1), payload.subarray(1), key, encodeCbor(new Uint8Array(room)));
}

const documents: Accepted[] = [
  ...named<Accepted>({
    "a signature with a high S": { forge: document({ signature: (signature) => withS("high", signature) }) },
    "a signature with a low S": { forge: document({ signature: (signature) => withS("low", signature) }) },
    "tag 18 around the COSE_Sign1": { forge: document({ items: (items) => withTag(18, items) }) },
    "an outermost map of indefinite length": { forge: document({ indefinite: true }) },
    "an outermost map of indefinite length, tag 18, v0": {
      forge: { version: "v0", ...document({ indefinite: true, items: (items) => withTag(18, items) }) },
    },
    "an unknown text key": { forge: field("extra", "text"), warns: ["doc.structure"] },
    "an unknown key with a value of every kind": {
      forge: field("extra", [1, -1, null, true, "x", ZERO_PCR, new Map([[1, 2]])]),
      warns: ["doc.structure"],
    },
    "a payload of 16384 bytes": {
      forge: document({ payload: (payload) => filledUp(payload, 16384) }),
      warns: ["doc.structure"],
    },
    "the map's keys in another order": { forge: document({ fields: (map) => new Map([...map].reverse()) }) },
    "the PCRs in another order": { forge: document({ pcrs: (map) => new Map([...map].reverse()) }) },
    "a time that is not a whole second": { forge: { at: new Date(AT.getTime() + 789) } },
    "a current list of the region beside one past its nextUpdate": {
      judge: { crls: [ofRegion(), ofRegion({ nextUpdate: after(1) })] },
    },
    "a zone that names a distribution point, where only the list of its region's issuer was given": {
      forge: certificate(CHAIN.zone, ({ extensions }) => ({
        extensions: [...extensions, distributionPoints("http://crl.lab/zone.crl")],
      })),
      judge: { crls: [revocationList({ issuer: lab.pki.rootSpec, thisUpdate: AT })] },
      warns: ["chain.revocation"],
    },
    "a document dated five minutes ahead": { forge: { payloads: [] }, judge: { now: JUST_BEHIND } },
    "a document dated 4 minutes 59 seconds ahead, under a maxAge": {
      forge: { payloads: [] },
      judge: { now: after(-299), policy: { maxAge: "1m" } },
    },
    "a document of a year ago, whose certificates are validated at a time an hour before it": {
      forge: certificate(CHAIN.leaf, () => ({ notBefore: after(-2 * 3600) })),
      judge: { now: after(365 * 86_400), validAt: after(-3600) },
    },
    "a live commitment beside the setup key's": {
      forge: pcr(16, commitmentPcr("setup", forge().manifestHash, otherKey.publicKey)),
    },
    "other PCRs that an application extended": {
      forge: pcrs((map) => map.set(19, new Uint8Array(48).fill(9)).set(8, new Uint8Array(48).fill(8))),
    },
    "another PCR18 than a commitment to the manifest": {
      forge: pcr(18, new Uint8Array(48).fill(9)),
      warns: ["bind.commitment"],
    },
    "a nonce of no byte": { forge: field("nonce", new Uint8Array()) },
    "the nonce that was asked for": {
      forge: field("nonce", Uint8Array.of(1, 2, 3)),
      judge: { nonce: Uint8Array.of(1, 2, 3) },
    },
  }),
];

const exactly = (place: number, notBefore: Date, notAfter: Date): Alterations =>
  certificate(place, () => ({ notBefore, notAfter }));
const pathOf = (...places: number[]): Alterations =>
  document({ certificates: (specs) => places.map((place) => specs[place]!) });

const paths: Accepted[] = [
  ...Object.entries(CHAIN).flatMap(([name, place]): Accepted[] => [
    { name: `the ${name} begins at the very time`, forge: exactly(place, AT, after(3600)) },
    { name: `the ${name} ends at the very time`, forge: exactly(place, after(-3600), AT) },
  ]),
  ...named<Accepted>({
    "the leaf valid for one instant": { forge: exactly(CHAIN.leaf, AT, AT) },
    "an end after 2050": {
      forge: exactly(CHAIN.root, new Date("2020-01-01T00:00:00Z"), new Date("2055-06-07T08:09:10Z")),
    },
    "only root and leaf": { forge: pathOf(CHAIN.root, CHAIN.leaf) },
    "only root, instance and leaf": { forge: pathOf(CHAIN.root, CHAIN.instance, CHAIN.leaf) },
    "a longer path, pathLen exactly met": {
      forge: document({
        certificates: ([root, region, zone, instance, leaf]) => [
          root!,
          {
            ...region!,
            key: generateKeyPair("secp384r1"),
            extensions: [basicConstraints(true, 3), region!.extensions[1]!],
          },
          region!,
          zone!,
          instance!,
          leaf!,
        ],
      }),
    },
    "a region without pathLen": {
      forge: certificate(CHAIN.region, (spec) => ({ extensions: [basicConstraints(true), spec.extensions[1]!] })),
    },
    "a region with more pathLen than it needs": {
      forge: certificate(CHAIN.region, (spec) => ({ extensions: [basicConstraints(true, 100), spec.extensions[1]!] })),
    },
    "an unknown extension that is not critical": {
      forge: certificate(CHAIN.leaf, (spec) => ({ extensions: [...spec.extensions, unknown(0)] })),
    },
    "a keyUsage that allows more": {
      forge: certificate(CHAIN.instance, (spec) => ({
        extensions: [
          spec.extensions[0]!,
          keyUsage(true, KEY_USAGE.digitalSignature, KEY_USAGE.keyCertSign, KEY_USAGE.cRLSign),
        ],
      })),
    },
    "a critical keyUsage in the leaf": {
      forge: certificate(CHAIN.leaf, (spec) => ({
        extensions: [spec.extensions[0]!, keyUsage(true, KEY_USAGE.digitalSignature)],
      })),
    },
    "a leaf of nearly 1024 bytes": {
      forge: certificate(CHAIN.leaf, (spec) => ({ extensions: [...spec.extensions, unknown(300)] })),
    },
    "asked for now, within the leaf's life": { judge: { validAt: "now" } },
    "a document of the last millisecond of the path's last second": {
      forge: {
        at: new Date(AT.getTime() + 999),
        ...document({ certificates: (specs) => specs.map((spec) => ({ ...spec, notAfter: AT })) }),
      },
    },
    "a leaf without a name": { forge: certificate(CHAIN.leaf, () => ({ subject: derSequence() })) },
    "asked for the leaf's last second": { judge: { validAt: after(3 * 3600 - 1) } },
    "months later, at the document's time": { judge: { now: after(200 * 86_400) } },
  }),
];

/** They are unsigned, and deployed services leave some out. */
const unlabelled: Accepted[] = ["deploymentLabel", "enclaveApp", "owner", "createdAt"].flatMap((name): Accepted[] => [
  { name: `no ${name}`, forge: { bootProof: drop(name) }, judge: { noPolicy: true }, warns: ["boot.decode"] },
  { name: `${name} null`, forge: { bootProof: put(name, null) }, judge: { noPolicy: true }, warns: ["boot.decode"] },
]);

const debugPcrs: Alterations = {
  ...inManifest("enclave", { pcr0: ZERO_PCR, pcr1: ZERO_PCR, pcr2: ZERO_PCR }),
  ...pcrs((map) => [0, 1, 2].forEach((index) => map.set(index, ZERO_PCR))),
};
const debugPivot = inManifest("pivot", { debugMode: true });
const withoutPcrs = (all: JsonObject): JsonObject[] => [drop("pcrs")(all)];

const debug: Accepted[] = [
  ...named<Accepted>({
    "debug mode that the policy allows": {
      forge: debugPivot,
      judge: { policy: { allowDebug: true } },
      warns: ["mode.debug"],
    },
    "debug mode that the caller allows": { forge: debugPivot, judge: { allowDebug: true }, warns: ["mode.debug"] },
    "a debug enclave that the policy allows": {
      forge: debugPcrs,
      judge: { policy: { allowDebug: true }, deployments: withoutPcrs },
      warns: ["mode.debug", "policy.scope"],
    },
    "a debug enclave that the caller allows, without a policy": {
      forge: debugPcrs,
      judge: { allowDebug: true, noPolicy: true },
      warns: ["mode.debug"],
    },
    "no debug mode, where it would be allowed": { judge: { allowDebug: true } },
  }),
];

const wire: Accepted[] = [
  ...named<Accepted>({
    "the deployed service's name of the document": {
      forge: {
        bootProof: ({ cloudAttestationDocB64, ...rest }) => ({
          ...rest,
          awsAttestationDocB64: cloudAttestationDocB64!,
        }),
      },
    },
    "the document under both names, the same": {
      forge: { bootProof: (value) => ({ ...value, awsAttestationDocB64: value["cloudAttestationDocB64"]! }) },
    },
    "the key in upper case": {
      forge: {
        bootProof: (value) => ({
          ...value,
          ephemeralPublicKeyHex: (value["ephemeralPublicKeyHex"] as string).toUpperCase(),
        }),
      },
    },
    "a member that the interface does not name": { forge: { bootProof: put("region", "lab-1") } },
    "a createdAt that is not the document's time": {
      forge: { bootProof: put("createdAt", { seconds: "1", nanos: "999999999" }) },
    },
    "the boot proof in its wrapper": {
      judge: { given: ({ bootProof, appProofs }) => ({ bootProofs: [{ bootProof }], appProofs }) },
    },
    "all of it as JSON text": {
      judge: {
        given: ({ bootProof, appProofs, activity }) => ({
          bootProofs: [JSON.stringify({ bootProof })],
          appProofs: appProofs.map((proof) => JSON.stringify(proof)),
          activity: JSON.stringify({ activity }, null, 2),
        }),
      },
    },
    "the key that was asked for": { judge: { ephemeralKey: lab.ephemeralKey.publicKey } },
    "two boot proofs with app proofs of each, in turned order": {
      judge: {
        given: ({ bootProof, appProofs }) => {
          const other = forge({ ephemeralKey: otherKey, version: "v1" });
          return { bootProofs: [bootProof, other.bootProof], appProofs: [...other.appProofs, ...appProofs] };
        },
      },
    },
    "setup and live of one enclave, each pinned, an app proof of the live one": {
      judge: {
        given: ({ bootProof, appProofs }) => ({
          bootProofs: [forge({ ephemeralKey: otherKey, generation: "setup" }).bootProof, bootProof],
          appProofs,
        }),
        deployments: (all) => [
          { ...all, commitment: "live" },
          { ...all, name: "its setup", commitment: "setup" },
        ],
      },
      warns: ["policy.age"],
    },
    "provisioning details of a legacy enclave, pinned as such": {
      forge: { generation: "legacy", payloads: [], bootProof: (proof) => detailsOf(proof, "file") },
      judge: { deployments: (all) => [{ ...withoutLabels(all), commitment: "legacy" }] },
      warns: ["bind.commitment", "policy.scope"],
    },
  }),
  ...["AWAITING_PROVISION", "PROVISIONED", "OF_TOMORROW"].map((state): Accepted => ({
    name: `provisioning details whose deployment is ${state}`,
    forge: {
      ...{ generation: "setup", payloads: [] },
      bootProof: (proof) => ({ ...detailsOf(proof, "query"), provisioningState: `PROVISIONING_STATE_${state}` }),
    },
    judge: { deployments: (all) => [{ ...withoutLabels(all), commitment: "setup" }], policy: { maxAge: "1h" } },
  })),
  {
    name: "one boot proof given twice",
    judge: { given: ({ bootProof, appProofs }) => ({ bootProofs: [bootProof, bootProof], appProofs }) },
  },
];

const at = after(60);
const address = (change: (proof: JsonObject) => JsonObject): Alterations => appProof({ payload: change });
const request: Expected = { organizationId: LAB_ADDRESS.organizationId };
const bareOutcome = (payload: JsonObject): JsonObject =>
  ["decisionContextDigest", "organizationDataDigest", "parentOrganizationDataDigest", "userRequestApprovals"].reduce(
    (value, name) => drop(`policyOutcomeProof.${name}`)(value),
    payload,
  );
const appProofs: Accepted[] = [
  ...named<Accepted>({
    "an app proof made a year before the document of a live enclave": {
      warns: ["app.time"],
      forge: { alterAppProof: { payload: put("timestampMs", String(AT.getTime() - 365 * 86_400_000)) } },
    },
    "app proofs of the organization and address that were asked for": {
      judge: { expected: { ...request, addresses: [LAB_ADDRESS.address.toLowerCase()] } },
    },
    "an app proof a minute older than the request": {
      judge: { expected: { ...request, requestedAt: new Date(at.getTime() + 60_000) } },
    },
  }),
  ...["decisionContextDigest", "organizationDataDigest", "parentOrganizationDataDigest", "userRequestApprovals"].map(
    (name): Accepted => ({
      name: `an outcome without its ${name}, which was empty`,
      forge: { payloads: [drop(`policyOutcomeProof.${name}`)(policyOutcomePayload(at, LAB_ADDRESS.organizationId))] },
    }),
  ),
  { name: "no app proof", forge: { payloads: [] } },
  { name: "an app proof of the application's own type", forge: { payloads: [customPayload(at)] } },
  ...[
    "ALLOW",
    "DENY_EXPLICIT",
    "DENY_IMPLICIT",
    "REQUIRES_CONSENSUS",
    "REJECTED",
    "ERROR",
    "REQUIRES_AUTHENTICATORS",
    "TIME_INACTIVE",
  ].map((name): Accepted => ({
    name: `an outcome of ${name}`,
    forge: { payloads: [policyOutcomePayload(at, LAB_ADDRESS.organizationId, `OUTCOME_${name}`)] },
  })),
  {
    name: "an outcome without its empty members",
    forge: { payloads: [bareOutcome(policyOutcomePayload(at, LAB_ADDRESS.organizationId))] },
  },
  ...["1.0", "1e3", "-0", "0.1", "9007199254740991"].map((number): Accepted => ({
    name: `a payload with the number ${number}`,
    forge: appProof({ text: (text) => text.replace("{", `{"note":[${number}],`) }),
  })),
  ...named<Accepted>({
    "an address without wallet and path": {
      forge: address((value) =>
        drop("addressDerivationProof.walletId")(drop("addressDerivationProof.derivationPath")(value)),
      ),
    },
    "an address whose wallet and path are empty": {
      forge: address((value) =>
        put("addressDerivationProof.walletId", "")(put("addressDerivationProof.derivationPath", "")(value)),
      ),
    },
    "a payload with more members": { forge: address(put("addressDerivationProof.note", "x")) },
    "a payload with white space": {
      forge: appProof({ text: (text) => `${JSON.stringify(JSON.parse(text), null, 2)}\n` }),
    },
    "a payload with escapes and text beyond ASCII": {
      forge: appProof({ payload: put("note", "\u{1d538}é\n"), text: (text) => text.replace('"type"', '"t\\u0079pe"') }),
    },
    "a payload with a member called __proto__": {
      forge: appProof({ text: (text) => text.replace("{", '{"__proto__":{"type":"x"},') }),
    },
    "an app proof with a high S": { forge: appProof({ signature: (signature) => withS("high", signature) }) },
    "an app proof with a low S": { forge: appProof({ signature: (signature) => withS("low", signature) }) },
    "an app proof's key in upper case": {
      forge: appProof({ json: (value) => ({ ...value, publicKey: (value["publicKey"] as string).toUpperCase() }) }),
    },
    "an app proof a minute before the document": { forge: address(put("timestampMs", String(after(-60).getTime()))) },
    "an app proof a minute in the future": { forge: address(put("timestampMs", String(NOW.getTime() + 60_000))) },
    "an app proof of a legacy enclave": {
      forge: { generation: "legacy" },
      judge: { deployments: (all) => [{ ...all, commitment: "legacy" }] },
      warns: ["bind.commitment", "policy.scope"],
    },
    "twenty app proofs": { forge: { payloads: Array.from({ length: 20 }, (_, index) => customPayload(after(index))) } },
    "one app proof twice": {
      judge: { given: ({ bootProof, appProofs: [proof] }) => ({ bootProofs: [bootProof], appProofs: [proof, proof] }) },
    },
  }),
];

const result = (value: JsonObject): NonNullable<Alterations["activity"]> =>
  put("result", { createWalletResult: value });
const activity = (
  name: string,
  change: NonNullable<Alterations["activity"]>,
  more: Partial<Accepted> = {},
): Accepted => ({
  name: `activity: ${name}`,
  forge: { activity: change },
  ...more,
  judge: { given: withActivity, ...more.judge },
});
const VOTED_ON = "ab".repeat(32);
const subOrganization = { ...LAB_ADDRESS, organizationId: "5e5a4c4e-3d3d-4d6e-9e0e-2f7b9c1d1a11" };

const activities: Accepted[] = [
  activity("whole", (value) => value, { judge: { policy: { appProofs: { coverage: true, required: true } } } }),
  activity("the form that repeats its fields in result.activity", (value) => ({
    id: value["id"]!,
    status: value["status"]!,
    type: value["type"]!,
    organizationId: value["organizationId"]!,
    timestampMs: String(AT.getTime()),
    result: { activity: value },
  })),
  activity(
    "the address in lower case",
    result({ walletId: LAB_ADDRESS.walletId, addresses: [LAB_ADDRESS.address.toLowerCase()] }),
    { judge: { policy: { appProofs: { coverage: true } } } },
  ),
  activity(
    "a second address without a proof",
    result({ walletId: LAB_ADDRESS.walletId, addresses: [LAB_ADDRESS.address, "0x01"] }),
    { warns: ["activity.coverage"] },
  ),
  activity(
    "an address that the request has at the same place, where nothing is made",
    (json) => ({
      ...json,
      type: "ACTIVITY_TYPE_UPDATE_ALLOWED_ADDRESSES",
      intent: { i: { walletId: LAB_ADDRESS.walletId, addresses: ["0x02"], target: { address: "0xAB" } } },
      result: { r: { own: [{ address: LAB_ADDRESS.address }], addresses: ["0x02"], target: { address: "0xab" } } },
    }),
    { judge: { policy: { appProofs: { coverage: true } } } },
  ),
  activity(
    "maps of a user in the intent, with names like those that checks read",
    put("intent.createWalletIntent.labels", { Address: "a", address: "b", Type: "c", type: "d", Wallet_Id: "e" }),
  ),
  activity(
    "members of a result that no check reads, in two spellings",
    put("result.createWalletResult.labels", { Type: "c", type: "d", walletId: "e", WalletId: "f" }),
  ),
  activity("a result without addresses", put("result", { updateWalletResult: { walletId: LAB_ADDRESS.walletId } }), {
    warns: ["activity.coverage"],
  }),
  activity("a proof of a policy's outcome only", (value) => value, {
    forge: { payloads: [policyOutcomePayload(at, LAB_ADDRESS.organizationId)] },
    warns: ["activity.coverage"],
  }),
  activity("an outcome that wants consensus, then one that allows", (value) => value, {
    forge: {
      payloads: [
        policyOutcomePayload(at, LAB_ADDRESS.organizationId, "OUTCOME_REQUIRES_CONSENSUS"),
        policyOutcomePayload(new Date(at.getTime() + 1), LAB_ADDRESS.organizationId),
      ],
    },
    warns: ["activity.coverage"],
  }),
  activity(
    "an outcome that wants consensus, of an activity that waits for it",
    put("status", "ACTIVITY_STATUS_CONSENSUS_NEEDED"),
    {
      forge: {
        activity: put("status", "ACTIVITY_STATUS_CONSENSUS_NEEDED"),
        payloads: [policyOutcomePayload(at, LAB_ADDRESS.organizationId, "OUTCOME_REQUIRES_CONSENSUS")],
      },
      warns: ["activity.coverage"],
    },
  ),
  activity(
    "a proof of the sub-organization that it made",
    put("result", {
      createSubOrganizationResult: {
        subOrganizationId: subOrganization.organizationId,
        wallet: { walletId: LAB_ADDRESS.walletId, addresses: [LAB_ADDRESS.address] },
      },
    }),
    {
      forge: {
        payloads: [
          {
            type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
            timestampMs: String(at.getTime()),
            addressDerivationProof: subOrganization,
          },
        ],
        activity: (json) => ({
          ...json,
          type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7",
          result: {
            createSubOrganizationResult: {
              subOrganizationId: subOrganization.organizationId,
              wallet: { walletId: LAB_ADDRESS.walletId, addresses: [LAB_ADDRESS.address] },
            },
          },
        }),
      },
      warns: ["activity.claims"],
    },
  ),
  ...["APPROVE", "REJECT"].map((what) =>
    activity(`the answer to a vote: ${what}`, put("fingerprint", `sha256:${VOTED_ON}`), {
      judge: {
        expected: {
          organizationId: LAB_ADDRESS.organizationId,
          type: `ACTIVITY_TYPE_${what}_ACTIVITY`,
          parameters: { fingerprint: VOTED_ON },
        },
      },
      warns: ["activity.request"],
    }),
  ),
  activity("in its wrapper", (value) => value, {
    judge: { given: ({ bootProof, activity: value }) => ({ bootProofs: [bootProof], activity: { activity: value } }) },
  }),
];

const pinned = (
  name: string,
  deployments: NonNullable<NonNullable<Accepted["judge"]>["deployments"]>,
  warns: Accepted["warns"] = [],
): Accepted => ({ name: `policy: ${name}`, judge: { deployments }, warns });
const weakly = (name: string, deployments: Parameters<typeof pinned>[1]): Accepted =>
  pinned(name, deployments, ["policy.scope"]);
const only = (all: JsonObject, ...names: string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, all[name]!]));
const upper = (value: JsonValue): JsonValue =>
  JSON.parse(JSON.stringify(value).replace(/"[0-9a-f]{64,}"/g, (text) => text.toUpperCase())) as JsonValue;

const DERIVES = { appProofs: { types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION"] } };

const policies: Accepted[] = [
  weakly("the PCRs alone, any application", (all) => [{ ...only(all, "pcrs"), open: ["application"] }]),
  weakly("PCR0 to 2 alone, any application of anybody", (all) => [
    { pcrs: drop("3")(all["pcrs"] as JsonObject), open: ["application", "operator"] },
  ]),
  weakly("PCR0 without PCR1 and 2", (all) => [
    { ...only(all, "pivotHash", "quorumKey"), pcrs: { "0": (all["pcrs"] as JsonObject)["0"]! } },
  ]),
  pinned("PCR0 without PCR1 and 2 beside the set", (all) => [
    {
      ...only(all, "manifestSet", "pivotHash", "namespace", "minNonce"),
      pcrs: { "0": (all["pcrs"] as JsonObject)["0"]! },
    },
  ]),
  weakly("image, binary and role", (all) => [only(all, "pcrs", "pivotHash")]),
  weakly("image and binary, of anybody", (all) => [
    { pcrs: drop("3")(all["pcrs"] as JsonObject), pivotHash: all["pivotHash"]!, open: ["operator"] },
  ]),
  weakly("the set and its namespace", (all) => [only(all, "manifestSet", "namespace")]),
  pinned("the set and its namespace, from a nonce on", (all) => [only(all, "manifestSet", "namespace", "minNonce")]),
  pinned("image, binary and quorum key", (all) => [only(all, "pcrs", "pivotHash", "quorumKey")]),
  pinned("the manifest's hash alone", () => [
    { manifestHash: ["ab".repeat(32), toHex(forge().manifestHash).toUpperCase()] },
  ]),
  pinned("arguments and environment", (all) => [
    { ...all, pivotArgs: ["--config", "/etc/signer.json"], pivotEnv: { LOG_LEVEL: "info" } },
  ]),
  pinned("comments, and types of its own", (all) => [
    {
      ...all,
      comment: "ours",
      pcrs: { ...(all["pcrs"] as JsonObject), comment: "of r1" },
      appProofs: { types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION"], comment: "none else" },
    },
  ]),
  pinned("hex in upper case", (all) => [upper(all) as JsonObject]),
  pinned("members in another order", (all) => [
    put("manifestSet.members", (all["manifestSet"] as { members: JsonValue[] } & JsonObject).members.toReversed())(all),
  ]),
  pinned("a lower threshold than the manifest's", (all) => [put("manifestSet.threshold", 1)(all)]),
  pinned("a lower nonce", (all) => [put("minNonce", 0)(all)]),
  pinned("several binaries, this one the last", (all) => [put("pivotHash", ["ab".repeat(32), all["pivotHash"]!])(all)]),
  pinned("several namespaces, where it is said who derives addresses", (all) => [
    { ...put("namespace", ["x", "lab/signer"])(all), ...DERIVES },
  ]),
  pinned("several releases of one namespace", (all) => [all, { ...all, name: "r2", pivotHash: "ab".repeat(32) }]),
  pinned("a program in two roles, without a namespace", (all) => [
    only(all, "pcrs", "pivotHash", "quorumKey"),
    { ...put("pcrs.3", "ab".repeat(48))(only(all, "pcrs", "pivotHash", "quorumKey")), name: "r2" },
  ]),
  pinned("another application, where it is said who derives addresses", (all) => [
    { ...all, ...DERIVES },
    { ...all, name: "b", namespace: "lab/b" },
  ]),
  pinned("bare documents of another enclave", (all) => [all, { name: "b", kind: "nitro", pcrs: all["pcrs"]! }]),
  pinned("several images, this one the last", (all) => [
    put("pcrs", [put("0", "ff".repeat(48))(all["pcrs"] as JsonObject), all["pcrs"]!])(all),
  ]),
  pinned("a second deployment that matches", (all) => [
    { ...put("pivotHash", "ab".repeat(32))(all), name: "other" },
    all,
  ]),
  pinned("live, pinned as such", (all) => [{ ...all, commitment: "live" }]),
  ...named<Accepted>({
    "policy: legacy, pinned as such": {
      forge: { generation: "legacy" },
      judge: { deployments: (all) => [{ ...all, commitment: "legacy" }] },
      warns: ["bind.commitment", "policy.scope"],
    },
    "policy: exactly as old as allowed": { judge: { policy: { maxAge: "5m" } } },
    "policy: exactly as old as the caller allows": { judge: { maxAgeMs: 300_000 } },
    "policy: of an age that policy and caller allow": { judge: { policy: { maxAge: "5m" }, maxAgeMs: 86_400_000 } },
    "policy: a setup document of an age that the caller allows": {
      forge: { generation: "setup", payloads: [] },
      judge: { deployments: (all) => [{ ...all, commitment: "setup" }], maxAgeMs: 300_000 },
    },
    "policy: an app proof exactly as old as allowed": {
      judge: { policy: { appProofs: { maxAge: "4m", required: true, types: ["APP_PROOF_TYPE_ADDRESS_DERIVATION"] } } },
    },
    "the image that was given": {
      judge: { measurements: { 0: lab.measurements.pcr0, 1: lab.measurements.pcr1, 2: lab.measurements.pcr2 } },
    },
    "the image that was given, signed by nobody, as a document says it": {
      judge: { measurements: { 0: lab.measurements.pcr0, 8: ZERO_PCR }, noPolicy: true },
    },
    "policy: none, and none wanted": { judge: { noPolicy: true } },
  }),
];

/** Now is 2026-03-04T05:11:07Z. */
const signed: readonly Accepted[] = [
  ...named<Accepted>({
    "a signed policy with more than a tenth of its validity left": {
      judge: { signed: { issuedAt: "2026-02-23T05:11:07Z", expiresAt: "2026-03-05T05:11:07.001Z" } },
    },
    "a signed policy in the last tenth of its validity": {
      judge: { signed: { issuedAt: "2026-02-23T05:11:07Z", expiresAt: "2026-03-05T05:11:07Z" } },
      warns: ["policy.current"],
    },
    "a signed policy of 400 days with more than 14 days left": {
      judge: { signed: { issuedAt: "2025-03-01T00:00:00Z", expiresAt: "2026-03-18T05:11:07.001Z" } },
    },
    "a signed policy of 400 days with 14 days left": {
      judge: { signed: { issuedAt: "2025-03-01T00:00:00Z", expiresAt: "2026-03-18T05:11:07Z" } },
      warns: ["policy.current"],
    },
    "a signed policy a millisecond before it expires": {
      judge: { signed: { issuedAt: "2026-02-04T05:11:07Z", expiresAt: "2026-03-04T05:11:07.001Z" } },
      warns: ["policy.current"],
    },
    "a signed policy issued five minutes from now": {
      judge: { signed: { issuedAt: "2026-03-04T05:16:07Z", expiresAt: "2026-04-04T05:11:07Z" } },
    },
  }),
];

function ofRegion(more: Partial<ListSpec> = {}): Uint8Array {
  return revocationList({ issuer: lab.pki.chainSpecs(AT)[CHAIN.region]!, thisUpdate: AT, ...more });
}

export const ACCEPTED: readonly Accepted[] = [
  ...signed,
  { name: "whole evidence" },
  ...kinds,
  ...manifests,
  ...approvals,
  ...documents,
  ...paths,
  ...debug,
  ...wire,
  ...unlabelled,
  ...appProofs,
  ...activities,
  ...policies,
  ...OWN_APPLICATION_ACCEPTED,
  ...SIGNATURES_ACCEPTED,
];

function inCamelCase({ manifest_set_approvals, share_set_approvals, ...rest }: JsonObject): JsonObject {
  return { ...rest, manifestSetApprovals: manifest_set_approvals!, shareSetApprovals: share_set_approvals! };
}
