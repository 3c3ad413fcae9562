/** Attacks on the boot proof around the document: its fields, manifest, envelope, approvals, and their bindings. */
import { concatBytes, fromBase64, toBase64, toUtf8 } from "../../src/bytes.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import {
  type Approval,
  type Manifest,
  type ManifestVersion,
  type PivotManifest,
  type QuorumMember,
  manifestHashInput,
} from "../../src/decode/manifest/index.js";
import type { ManifestAlterations } from "../../src/lab/forge.js";
import { signDer } from "../../src/lab/keys.js";
import {
  type LabMember,
  type QosKeyPair,
  approve,
  commitmentPcr,
  encodeEnvelope,
  encodeManifest,
  extendedPcr,
  generateMembers,
  generateQosKeyPair,
  makeManifest,
  manifestHash,
  qosSign,
  sha256,
  sha384,
} from "../../src/lab/qos.js";
import {
  type Alterations,
  type Attack,
  document,
  drop,
  field,
  flip,
  forge,
  hex,
  lab,
  lie,
  inManifest,
  manifest,
  otherLab,
  pcr,
  pcrs,
  put,
  withActivity,
  failing,
} from "./support.js";
import { DETAIL_FORMS, type DetailForm, detailsOf } from "../support/provisioning.js";

const ZERO_PCR = new Uint8Array(48);
/** The measurements of this lab's image, as its builder knows them. */
const GIVEN = { 0: lab.measurements.pcr0, 1: lab.measurements.pcr1, 2: lab.measurements.pcr2 };
const otherImage = sha384(toUtf8("another image"));
const [alice, bob, carol] = lab.manifestMembers as [
  (typeof lab.manifestMembers)[0],
  (typeof lab.manifestMembers)[0],
  (typeof lab.manifestMembers)[0],
];
const [mallory] = generateMembers("mallory") as [typeof alice];
const whole = forge();
const key = lab.ephemeralKey.publicKey;

const reencoded =
  (change: (base64: string) => string, name = "qosManifestB64"): NonNullable<Alterations["bootProof"]> =>
  (json) => ({ ...json, [name]: change(json[name] as string) });

const fieldsOfBootProof = [
  "ephemeralPublicKeyHex",
  "cloudAttestationDocB64",
  "qosManifestB64",
  "qosManifestEnvelopeB64",
];

const wire: [string, NonNullable<Alterations["bootProof"]>][] = [
  ...fieldsOfBootProof.map((name): [string, NonNullable<Alterations["bootProof"]>] => [`no ${name}`, drop(name)]),
  ["ephemeralPublicKeyHex as a number", put("ephemeralPublicKeyHex", 4)],
  ["the document as an array of bytes", put("cloudAttestationDocB64", [0xd2, 0x84])],
  ["the manifest null", put("qosManifestB64", null)],
  ["the manifest as an object", put("qosManifestB64", {})],
  ["owner as a number", put("owner", 1)],
  ["createdAt as text", put("createdAt", "2026-03-04T05:06:07Z")],
  ["createdAt without nanos", drop("createdAt.nanos")],
  ["createdAt in numbers", put("createdAt", { seconds: 1772600767, nanos: 0 })],
  ["createdAt that is not a number", put("createdAt", { seconds: "soon", nanos: "0" })],
  ["qosManifestVersion as a number", put("qosManifestVersion", 2)],
  ["an odd number of hex digits", put("ephemeralPublicKeyHex", hex(key).slice(1))],
  ["0x before the hex", put("ephemeralPublicKeyHex", `0x${hex(key)}`)],
  ["a letter that is not hex digit", put("ephemeralPublicKeyHex", hex(key).replace(/.$/, "g"))],
  ["white space around the hex", put("ephemeralPublicKeyHex", ` ${hex(key)}`)],
  ["a line break in the base64", reencoded((text) => `${text.slice(0, 64)}\n${text.slice(64)}`)],
  ["base64 without its padding", reencoded(() => "AAAAAA")],
  ["base64 with more padding than it takes", reencoded((text) => `${text}====`)],
  ["base64url", reencoded(() => "-_-_")],
  ["the document in hex", reencoded((text) => hex(fromBase64(text)!), "cloudAttestationDocB64")],
  ["the document in hex with 0x", reencoded((text) => `0x${hex(fromBase64(text)!)}`, "cloudAttestationDocB64")],
  ["the document in base64 inside base64", reencoded((text) => toBase64(toUtf8(text)), "cloudAttestationDocB64")],
  ["the document after a byte order mark", reencoded((text) => `\ufeff${text}`, "cloudAttestationDocB64")],
  [
    "the document in base64url",
    reencoded((text) => text.replaceAll("+", "-").replaceAll("/", "_"), "cloudAttestationDocB64"),
  ],
  ["the key in base64", put("ephemeralPublicKeyHex", toBase64(key))],
  ["stray bits at the end of the base64", reencoded(() => "AAAAAB==")],
  ["base64 with a character of no alphabet", reencoded((text) => `${text.slice(0, 8)}!${text.slice(9)}`)],
  [
    "the document under both names, and different",
    (json) => ({ ...json, awsAttestationDocB64: toBase64(flip(whole.document)) }),
  ],
  ["app proofs inside it", put("appProofs", whole.appProofs as JsonValue)],
  ["an empty list of app proofs inside it", put("appProofs", [])],
  ["app proofs inside it, spelt otherwise", put("app_proofs", whole.appProofs as JsonValue)],
  ["app proofs inside it, under a name of no evidence", put("proofs", whole.appProofs as JsonValue)],
  ["an app proof's payload inside it", put("proofPayload", "{}")],
  ["an activity inside it", put("activity", {})],
  ["the members of an activity inside it", (json) => ({ ...whole.activity, ...json })],
  ["a bundle's name inside it", put("bundle", "bootproof-bundle/1")],
  ["app proofs beside its wrapper", (json) => ({ bootProof: json, appProofs: whole.appProofs as JsonValue })],
  ["an activity beside its wrapper", (json) => ({ bootProof: json, activity: whole.activity })],
  ["another boot proof beside its wrapper", (json) => ({ ...json, bootProof: json })],
  ["a list of boot proofs beside its wrapper", (json) => ({ bootProof: json, bootProofs: [json] })],
];

const notBootProofs: [string, unknown][] = [
  ["an array", []],
  ["null", null],
  ["a number", 7],
  ["an empty object", {}],
  ["a list of boot proofs", [whole.bootProof]],
  ["a text that is not JSON", "bootProof"],
  ["an empty text", ""],
  ["JSON text with a member twice", JSON.stringify(whole.bootProof).replace("{", '{"owner":"lab",')],
  [
    "JSON text with a member twice, once escaped",
    JSON.stringify(whole.bootProof).replace("{", '{"own\\u0065r":"lab",'),
  ],
  ["JSON text with a number that is infinite", JSON.stringify(whole.bootProof).replace("{", '{"more":1e999,')],
  ["JSON text with text after it", `${JSON.stringify(whole.bootProof)}x`],
  ["JSON text with a byte order mark", `\ufeff${JSON.stringify(whole.bootProof)}`],
  ["JSON text nested a hundred thousand deep", "[".repeat(100_000)],
  ["JSON bytes that are not UTF-8", concatBytes(toUtf8('{"owner":"'), Uint8Array.of(0xff), toUtf8('"}'))],
];

/** Manifest bytes alone, or the envelope's too. */
function bytesOf(version: ManifestVersion, change: (bytes: Uint8Array) => Uint8Array): Alterations {
  return { version, alterManifest: { bytes: change } };
}
const json = (alter: NonNullable<ManifestAlterations["json"]>, version: ManifestVersion = "v2"): Alterations => ({
  version,
  encoding: "json",
  alterManifest: { json: alter },
});
const asText = (change: (text: string) => string): Alterations =>
  bytesOf("v2", (bytes) => toUtf8(change(Buffer.from(bytes).toString())));

const manifests: [string, Alterations][] = [
  ["no bytes", bytesOf("v2", () => new Uint8Array())],
  ["bytes that are nothing", bytesOf("v2", () => toUtf8("manifest"))],
  ["JSON that ends early", asText((text) => text.slice(0, -1))],
  ["text after the JSON", asText((text) => `${text} {}`)],
  ["a second version member", lie("duplicated-member")],
  [
    "a second threshold in the manifest set",
    asText((text) => text.replace('"threshold"', '"threshold":1,"threshold"')),
  ],
  ["a member twice, once escaped", asText((text) => text.replace('"namespace"', '"n\\u0061mespace":{},"namespace"'))],
  ["a byte order mark", asText((text) => `\ufeff${text}`)],
  [
    "JSON that is not UTF-8",
    bytesOf("v2", (bytes) => concatBytes(bytes.subarray(0, -2), Uint8Array.of(0xff), bytes.subarray(-2))),
  ],
  ["an array", asText((text) => `[${text}]`)],
  [
    "arrays nested a hundred thousand deep",
    asText((text) => text.replace("{", `{"x":${"[".repeat(100_000)}${"]".repeat(100_000)},`)),
  ],
  ["objects nested a hundred thousand deep", asText(() => '{"version":'.repeat(100_000))],
  ["v2 without its version", json(drop("version"))],
  ["version v3", json(put("version", "v3"))],
  ["version V2", json(put("version", "V2"))],
  ["version 2", json(put("version", 2))],
  ["version null", json(put("version", null))],
  ["a version in a v1 manifest", json(put("version", "v1"), "v1")],
  ["v2 written into a v1 manifest", json(put("version", "v2"), "v1")],
  ["an unknown member", json(put("patchSet", { threshold: 1, members: [] }))],
  ["an unknown member in pivot", json(put("pivot.debug", true))],
  ["an unknown member in dns", json(put("dns.search", []))],
  ["__proto__ as a member", asText((text) => text.replace("{", '{"__proto__":{},'))],
  ["no namespace", json(drop("namespace"))],
  ["no pivot", json(drop("pivot"))],
  ["no enclave", json(drop("enclave"))],
  ["no manifest set", json(drop("manifestSet"))],
  ["no quorum key", json(drop("namespace.quorumKey"))],
  ["a pivot hash of 31 bytes", json(put("pivot.hash", "00".repeat(31)))],
  ["a pivot hash that is not hex", json(put("pivot.hash", "zz".repeat(32)))],
  ["a restart of another word", json(put("pivot.restart", "Sometimes"))],
  ["debugMode as text", json(put("pivot.debugMode", "false"))],
  ["args that are no text", json(put("pivot.args", [1]))],
  ["a threshold of 1.5", json(put("manifestSet.threshold", 1.5))],
  ["a threshold of 2.0", asText((text) => text.replace('"threshold":"2"', '"threshold":2.0'))],
  ["a threshold of 2e0", asText((text) => text.replace('"threshold":"2"', '"threshold":2e0'))],
  ["a threshold below zero", json(put("manifestSet.threshold", -1))],
  ["a threshold of 33 bits", json(put("manifestSet.threshold", 4294967296))],
  ["a nonce in hex", json(put("namespace.nonce", "0x7"))],
  ["a port of 17 bits", json(put("pivot.bridgeConfig.0.port", 65536))],
  ["a bridge of another type", json(put("pivot.bridgeConfig.0.type", "proxy"))],
  ["an environment name with a hyphen", json(put("pivot.env", { "A-B": { plain: { value: "x" } } }))],
  ["an environment name that begins with a digit", json(put("pivot.env", { "1A": { plain: { value: "x" } } }))],
  ["an environment name of 1025 bytes", json(put("pivot.env", { ["A".repeat(1025)]: { plain: { value: "x" } } }))],
  ["an environment value with NUL", json(put("pivot.env", { A: { plain: { value: "x\0" } } }))],
  ["an environment value of more than 64 KiB", json(put("pivot.env", { A: { plain: { value: "x".repeat(65537) } } }))],
  [
    "513 environment entries",
    json(
      put("pivot.env", Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`A${i}`, { plain: { value: "" } }]))),
    ),
  ],
  ["an environment entry that is not plain", json(put("pivot.env", { A: { secret: { value: "x" } } }))],
  ["a resolver that is a host name", json(put("dns.resolvers", ["resolver.example"]))],
  ["a resolver with a leading zero", json(put("dns.resolvers", ["10.0.0.01"]))],
  ["v1 without its patch set", json(drop("patchSet"), "v1")],
  ...v0TailManifests(),
  ["borsh with a byte after the end", bytesOf("v1", (bytes) => concatBytes(bytes, Uint8Array.of(0)))],
  ["borsh cut off", bytesOf("v1", (bytes) => bytes.subarray(0, -1))],
  ["v0 borsh with a byte after the end", bytesOf("v0", (bytes) => concatBytes(bytes, Uint8Array.of(0)))],
  ["borsh with a restart of 2", bytesOf("v0", (bytes) => withByte(bytes, pivotAt() + 32, 2))],
  ["borsh with a debugMode of 2", bytesOf("v1", (bytes) => withByte(bytes, debugModeAt(bytes), 2))],
  ["borsh with more arguments than bytes", bytesOf("v0", (bytes) => withByte(bytes, pivotAt() + 36, 0xff))],
  ["borsh with a name that is not UTF-8", bytesOf("v0", (bytes) => withByte(bytes, 4, 0xff))],
];

/** The layout between v0 and v1, and what is none. */
function v0TailManifests(): [string, Alterations][] {
  const older = ["v0", "v0-tail", "v1"] as const;
  return [
    ["v0 with a timeout alone", json(put("clientTimeoutMs", null), "v0")],
    ["v0 with a pool size alone", json(put("poolSize", 4), "v0")],
    ["v0-tail without its timeout", json(drop("clientTimeoutMs"), "v0-tail")],
    ["v0-tail without its pool size", json(drop("poolSize"), "v0-tail")],
    ["v0-tail with a timeout of 17 bits", json(put("clientTimeoutMs", 65536), "v0-tail")],
    ["v0-tail with a pool size of 9 bits", json(put("poolSize", 256), "v0-tail")],
    ["v0-tail with a timeout of 1.5", json(put("clientTimeoutMs", 1.5), "v0-tail")],
    ["v1 with a timeout of null", json(put("clientTimeoutMs", null), "v1")],
    ["v1 with a pool size", json(put("poolSize", 4), "v1")],
    ...older.flatMap((version): [string, Alterations][] => [
      [`${version} with appHostPort`, json(put("appHostPort", 3000), version)],
      [`${version} with pivot.hostConfig`, json(put("pivot.hostConfig", null), version)],
    ]),
    ["v0-tail borsh with a byte after the end", bytesOf("v0-tail", (bytes) => concatBytes(bytes, Uint8Array.of(0)))],
    ["v0-tail borsh without its last byte", bytesOf("v0-tail", (bytes) => bytes.subarray(0, -1))],
    ["v0-tail borsh with a third variant", bytesOf("v0-tail", (bytes) => withByte(bytes, bytes.length - 1, 2))],
  ];
}

function withByte(bytes: Uint8Array, index: number, value: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[index] = value;
  return copy;
}

/** Where the pivot begins in borsh: after the namespace's name, nonce and key. */
function pivotAt(): number {
  return 4 + "lab/signer".length + 4 + 4 + 130;
}

/** In v1, after hash, restart and the two bridges: {0, port, host "0.0.0.0"} and {1, port, no host}. */
function debugModeAt(bytes: Uint8Array): number {
  const at = pivotAt() + 32 + 1 + 4 + (1 + 2 + 4 + 7) + (1 + 2 + 1);
  if (bytes[at] !== 0) throw new RangeError("debugMode does not stand there");
  return at;
}

const envelopeJson = (
  alter: NonNullable<ManifestAlterations["envelopeJson"]>,
  version: ManifestVersion = "v2",
): Alterations => ({ version, encoding: "json", alterManifest: { envelopeJson: alter } });
const envelopeBytes = (version: ManifestVersion, change: (bytes: Uint8Array) => Uint8Array): Alterations => ({
  version,
  alterManifest: { envelopeBytes: change },
});
const renamed =
  (from: string, to: string) =>
  (value: JsonObject): JsonObject => {
    const { [from]: member, ...rest } = value;
    return { ...rest, [to]: member as JsonValue };
  };

const envelopes: [string, Alterations][] = [
  ["no bytes", envelopeBytes("v2", () => new Uint8Array())],
  ["a bare manifest", envelopeJson((value) => value["manifest"] as JsonObject)],
  ["no manifest", envelopeJson(drop("manifest"))],
  ["no approvals", envelopeJson(drop("manifestSetApprovals"))],
  ["no share approvals", envelopeJson(drop("shareSetApprovals"))],
  ["an unknown member", envelopeJson(put("signatures", []))],
  ["an unknown member in its manifest", envelopeJson(put("manifest.extra", 1))],
  ["another version in its manifest", envelopeJson(put("manifest.version", "v3"))],
  ["its manifest's version left out", envelopeJson(drop("manifest.version"))],
  ["approvals that are no array", envelopeJson(put("manifestSetApprovals", {}))],
  ["an approval without a member", envelopeJson(drop("manifestSetApprovals.0.member"))],
  ["an approval without an alias", envelopeJson(drop("manifestSetApprovals.0.member.alias"))],
  ["a signature that is not hex", envelopeJson(put("manifestSetApprovals.0.signature", "signature"))],
  ["snake case in v2", envelopeJson(renamed("manifestSetApprovals", "manifest_set_approvals"))],
  ["snake case in v1", envelopeJson(renamed("manifestSetApprovals", "manifest_set_approvals"), "v1")],
  ["camel case in one list of v0", envelopeJson(renamed("manifest_set_approvals", "manifestSetApprovals"), "v0")],
  ["both spellings in v0", envelopeJson(put("manifestSetApprovals", []), "v0")],
  ["both spellings in v0-tail, one of them null", envelopeJson(put("shareSetApprovals", null), "v0-tail")],
  ["camel case in one list of v0-tail", envelopeJson(renamed("share_set_approvals", "shareSetApprovals"), "v0-tail")],
  ["text after the JSON", envelopeBytes("v2", (bytes) => concatBytes(bytes, toUtf8("{}")))],
  [
    "a member twice",
    envelopeBytes("v2", (bytes) => toUtf8(Buffer.from(bytes).toString().replace("{", '{"manifestSetApprovals":[],'))),
  ],
  ["borsh with a byte after the end", envelopeBytes("v1", (bytes) => concatBytes(bytes, Uint8Array.of(0)))],
  ["borsh cut off", envelopeBytes("v0", (bytes) => bytes.subarray(0, -1))],
];

/**
 * A v0 manifest whose borsh encoding is also one of a v1 manifest. As v1 the pivot has 5 bytes more, so everything
 * after it is read 5 bytes later: the first PCR and the name of the commit hold the bytes that v1 needs there.
 */
function ambiguousManifest(): PivotManifest {
  const { namespace, pivot, enclave, ...rest } = makeManifest("v0", lab.manifestParts());
  const empty = new Uint8Array();
  const nobody = { threshold: 0, members: [] };
  // Read as v1: five empty byte fields' lengths, then a root certificate of 20 bytes, up to the name of the commit.
  const pcr0 = Uint8Array.of(0, ...[0, 0, 0, 0], ...[0, 0, 0, 0], ...[0, 0, 0, 0], ...[0, 0, 0, 0], ...[20, 0, 0, 0]);
  return {
    ...rest,
    namespace,
    pivot: { ...pivot, args: [] },
    manifestSet: nobody,
    shareSet: nobody,
    patchSet: nobody,
    enclave: {
      ...enclave,
      pcr0,
      pcr1: empty,
      pcr2: empty,
      pcr3: empty,
      awsRootCertificate: empty,
      qosCommit: "\0\0\0\0",
    },
  };
}

/**
 * The same of v0-tail: as v1 the name of the commit holds the patch set, with one key of 12 bytes, which takes in the
 * eight of v0's patch set and the four of the tail.
 */
function ambiguousTail(): PivotManifest {
  const twin = ambiguousManifest();
  const enclave = { ...twin.enclave, qosCommit: `${"\0".repeat(8)}\x01\0\0\0\x0c\0\0\0` };
  return { ...twin, version: "v0-tail", enclave, clientTimeoutMs: 0, poolSize: null };
}

const noVersion = drop("qosManifestVersion");
const otherManifest: Manifest = { ...whole.manifest, namespace: { ...whole.manifest.namespace, nonce: 8 } };
const otherHash = manifestHash(otherManifest);
const v1Manifest = makeManifest("v1", lab.manifestParts());

const versions: Attack[] = [
  ...["v1", "1", "v0", "v3", "", "latest", "v2 "].map((declared): Attack => ({
    name: `v2 declared as ${JSON.stringify(declared)}`,
    forge: { bootProof: put("qosManifestVersion", declared) },
    fails: ["manifest.decode", "envelope.decode"],
  })),
  {
    name: "v0 declared as v1",
    forge: { version: "v0", bootProof: put("qosManifestVersion", "v1") },
    fails: ["manifest.decode", "envelope.decode"],
  },
  {
    name: "v0-tail declared as v1",
    forge: { version: "v0-tail", bootProof: put("qosManifestVersion", "v1") },
    fails: ["manifest.decode", "envelope.decode"],
  },
  {
    name: "v0-tail declared by its own name, which no service has",
    forge: { version: "v0-tail", bootProof: put("qosManifestVersion", "v0-tail") },
    fails: ["manifest.decode", "envelope.decode"],
  },
  {
    name: "v0-tail shown as v0, without its tail",
    forge: { version: "v0-tail", encoding: "json", alterManifest: { json: withoutTail } },
    fails: ["bind.user-data", "bind.commitment", "envelope.manifest"],
  },
  {
    name: "an envelope of v0 beside its v0-tail",
    forge: {
      version: "v0-tail",
      encoding: "json",
      alterManifest: {
        envelopeJson: (value) => ({ ...value, manifest: withoutTail(value["manifest"] as JsonObject) }),
      },
    },
    fails: ["envelope.manifest", "envelope.approvals", "envelope.shares"],
  },
  {
    name: "v0 with another tail than the attested one",
    forge: { version: "v0-tail", encoding: "json", alterManifest: { json: put("poolSize", 1) } },
    fails: ["bind.user-data", "bind.commitment", "envelope.manifest"],
  },
  {
    name: "v1 declared as v2",
    forge: { version: "v1", bootProof: put("qosManifestVersion", "V2") },
    fails: ["manifest.decode", "envelope.decode"],
  },
  {
    name: "a manifest that is v0 as well as v1",
    forge: { version: "v0", bootProof: noVersion, alterManifest: { shown: ambiguousManifest } },
    fails: ["manifest.decode"],
  },
  {
    name: "a manifest that is v0-tail as well as v1",
    forge: { version: "v0-tail", bootProof: noVersion, alterManifest: { shown: ambiguousTail } },
    fails: ["manifest.decode"],
  },
  {
    name: "manifest and envelope that are v0 as well as v1",
    forge: {
      version: "v0",
      bootProof: noVersion,
      alterManifest: { manifest: ambiguousManifest, approvals: () => [], shareApprovals: () => [] },
    },
    fails: ["manifest.decode", "envelope.decode"],
  },
  {
    name: "an envelope of a newer manifest of the same set",
    forge: lie("another-envelope"),
    fails: ["envelope.manifest"],
  },
  {
    name: "an envelope of a v1 manifest beside v2",
    forge: { bootProof: (value) => ({ ...noVersion(value), qosManifestEnvelopeB64: toBase64(v1Envelope()) }) },
    fails: ["envelope.manifest"],
  },
  {
    name: "an envelope of a v1 manifest beside declared v2",
    forge: { bootProof: put("qosManifestEnvelopeB64", toBase64(v1Envelope())) },
    fails: ["envelope.decode", "envelope.manifest"],
  },
  {
    name: "manifest and envelope of different versions and the same hash",
    forge: {
      version: "v0",
      encoding: "json",
      alterManifest: { manifest: ambiguousManifest, envelopeJson: () => envelopeOfTwin() },
      bootProof: noVersion,
    },
    fails: ["manifest.decode", "envelope.decode"],
  },
  {
    name: "a manifest in JSON whose borsh is a manifest of the other version, too",
    forge: {
      version: "v0",
      encoding: "json",
      bootProof: noVersion,
      alterManifest: { manifest: ambiguousManifest, json: () => envelopeOfTwin()["manifest"] as JsonObject },
    },
    fails: ["manifest.decode", "envelope.decode"],
  },
];

function withoutTail(manifest: JsonObject): JsonObject {
  return drop("clientTimeoutMs")(drop("poolSize")(manifest));
}

function v1Envelope(): Uint8Array {
  const hash = manifestHash(v1Manifest);
  const approvals = [approve(hash, alice), approve(hash, bob)];
  return encodeEnvelope(
    { manifest: v1Manifest, manifestSetApprovals: approvals, shareSetApprovals: [] },
    { encoding: "borsh" },
  );
}

/** The JSON of v1 for the bytes of {@link ambiguousManifest}. */
function envelopeOfTwin(): JsonObject {
  const { manifestSet, shareSet, enclave, patchSet, namespace, pivot } = ambiguousManifest();
  const twin: PivotManifest = {
    version: "v1",
    namespace,
    pivot: { ...pivot, bridgeConfig: [], debugMode: false },
    manifestSet,
    shareSet: { ...shareSet, threshold: 0x15000000 },
    patchSet: patchSet!,
    enclave: {
      ...enclave,
      pcr0: new Uint8Array(),
      qosCommit: "",
      awsRootCertificate: Uint8Array.of(...new Uint8Array(16), 4, 0, 0, 0),
    },
  };
  const encoded = encodeManifest(twin, { encoding: "borsh" });
  if (hex(encoded) !== hex(manifestHashInput(ambiguousManifest()))) throw new Error("the twins differ");
  return JSON.parse(
    Buffer.from(
      encodeEnvelope({ manifest: twin, manifestSetApprovals: [], shareSetApprovals: [] }, { encoding: "json" }),
    ).toString(),
  ) as JsonObject;
}

const approvals = (change: NonNullable<ManifestAlterations["approvals"]>): Alterations => ({
  alterManifest: { approvals: change },
});
/** The first approval changed; the second stays valid. */
const firstApproval = (change: (approval: Approval, hash: Uint8Array) => Partial<Approval>): Alterations =>
  approvals(([first, ...rest], hash) => [{ ...first!, ...change(first!, hash) }, ...rest]);
/** The manifest set changed, and approved by its members. */
const set = (
  threshold: number,
  members: Manifest["manifestSet"]["members"],
  approvers = [alice, bob],
): Alterations => ({
  alterManifest: {
    manifest: (value) => ({ ...value, manifestSet: { threshold, members } }),
    approvals: (_, hash) => approvers.map((member) => approve(hash, member)),
  },
});
const quorumMember = ({ alias, key }: LabMember): QuorumMember => ({ alias, pubKey: key.publicKey });
const [A, B, C] = [alice, bob, carol].map(quorumMember) as [QuorumMember, QuorumMember, QuorumMember];
const halves = (encryption: Uint8Array, signing: Uint8Array): Uint8Array =>
  concatBytes(encryption.subarray(0, 65), signing.subarray(65));
/** Not on the curve: its last bit is flipped. */
const badSigningPoint = flip(C.pubKey);
const badEncryptionPoint = flip(C.pubKey, 64);
const compressed = concatBytes(
  Uint8Array.of(2 + (C.pubKey[64]! & 1)),
  C.pubKey.subarray(1, 33),
  Uint8Array.of(2 + (C.pubKey[129]! & 1)),
  C.pubKey.subarray(66, 98),
);

const approvalAttacks: [string, Alterations][] = [
  ["one of two", lie("missing-approvals")],
  ["none", approvals(() => [])],
  ["one member twice", approvals(([first]) => [first!, first!])],
  ["one member twice, with two signatures", approvals((_, hash) => [approve(hash, alice), approve(hash, alice)])],
  ["enough, and one member twice", approvals((list, hash) => [...list, approve(hash, bob)])],
  ["one of an outsider", approvals(([first], hash) => [first!, approve(hash, mallory)])],
  ["enough, and one of an outsider", approvals((list, hash) => [...list, approve(hash, mallory)])],
  ["an outsider's key under a member's alias", lie("outsider-approval")],
  [
    "a member's key under another alias",
    firstApproval((approval) => ({ member: { ...approval.member, alias: "mallory" } })),
  ],
  ["a member named, an outsider's signature", firstApproval((_, hash) => ({ signature: qosSign(mallory.key, hash) }))],
  ["another member's signature", firstApproval((_, hash) => ({ signature: qosSign(bob.key, hash) }))],
  ["a signature with a bit turned over", firstApproval((approval) => ({ signature: flip(approval.signature) }))],
  [
    "enough, and one with a bit turned over",
    approvals((list, hash) => [...list, { ...approve(hash, carol), signature: flip(approve(hash, carol).signature) }]),
  ],
  ["a signature of zeros", firstApproval(() => ({ signature: new Uint8Array(64) }))],
  ["an empty signature", firstApproval(() => ({ signature: new Uint8Array() }))],
  ["a signature of 63 bytes", firstApproval((approval) => ({ signature: approval.signature.subarray(0, 63) }))],
  [
    "a signature with a byte after it",
    firstApproval((approval) => ({ signature: concatBytes(approval.signature, Uint8Array.of(0)) })),
  ],
  ["a signature in DER", firstApproval((_, hash) => ({ signature: signDer(alice.key.signing, "sha256", hash) }))],
  [
    "a signature of the encryption key",
    firstApproval((_, hash) => ({ signature: qosSign({ ...alice.key, signing: alice.key.encryption }, hash) })),
  ],
  [
    "a signature over the manifest, not its hash",
    firstApproval(() => ({ signature: qosSign(alice.key, manifestHashInput(whole.manifest)) })),
  ],
  [
    "a signature over the hash in hex",
    firstApproval((_, hash) => ({ signature: qosSign(alice.key, toUtf8(hex(hash))) })),
  ],
  [
    "a signature over the hash of the hash",
    firstApproval((_, hash) => ({ signature: qosSign(alice.key, sha256(hash)) })),
  ],
  ["a signature over another manifest", firstApproval(() => ({ signature: qosSign(alice.key, otherHash) }))],
  ["a threshold of 0", set(0, [A, B, C])],
  ["a threshold of 0 and nobody", set(0, [], [])],
  ["a threshold above the number of members", set(4, [A, B, C], [alice, bob, carol])],
  ["a threshold of 3, and 2 approve", set(3, [A, B, C])],
  ["two members of one alias", set(2, [A, B, { ...C, alias: "alice" }])],
  ["a member twice in the set", set(2, [A, B, B])],
  ["two members of one signing point", set(2, [A, B, { ...C, pubKey: halves(C.pubKey, A.pubKey) }])],
  ["two members of one encryption point", set(2, [A, B, { ...C, pubKey: halves(A.pubKey, C.pubKey) }])],
  [
    "one person as two members, by a second encryption point",
    set(
      2,
      [A, { alias: "alice too", pubKey: halves(C.pubKey, A.pubKey) }],
      [alice, { alias: "alice too", key: { ...alice.key, publicKey: halves(C.pubKey, A.pubKey) } }],
    ),
  ],
  ["a member whose signing point is not on the curve", set(2, [A, B, { ...C, pubKey: badSigningPoint }])],
  ["a member whose encryption point is not on the curve", set(2, [A, B, { ...C, pubKey: badEncryptionPoint }])],
  ["a member whose points are compressed", set(2, [A, B, { ...C, pubKey: compressed }])],
  ["a member whose key is one point", set(2, [A, B, { ...C, pubKey: C.pubKey.subarray(65) }])],
  ["a member without a key", set(2, [A, B, { ...C, pubKey: new Uint8Array() }])],
];

const shares = (change: NonNullable<ManifestAlterations["shareApprovals"]>): Alterations => ({
  alterManifest: { shareApprovals: change },
});
const [dora, emil] = lab.shareMembers as [typeof alice, typeof alice];
const D = quorumMember(dora);

const shareAttacks: [string, Alterations][] = [
  ["an outsider", shares((list, hash) => [...list, approve(hash, mallory)])],
  ["a member of the manifest set", shares((list, hash) => [...list, approve(hash, alice)])],
  [
    "a signature with a bit turned over",
    shares(([first, ...rest]) => [{ ...first!, signature: flip(first!.signature) }, ...rest]),
  ],
  ["a signature over another manifest", shares(() => [approve(otherHash, dora)])],
  [
    "a share set with one key twice",
    {
      alterManifest: {
        manifest: (value) => ({
          ...value,
          shareSet: { threshold: 2, members: [D, { ...D, alias: "emil" }, quorumMember(emil)] },
        }),
        shareApprovals: (_, hash) => [approve(hash, dora)],
      },
    },
  ],
];

/** Points that are invalid. */
const notKeys: [string, Uint8Array][] = [
  ["one point", key.subarray(65)],
  ["129 bytes", key.subarray(0, 129)],
  ["131 bytes", concatBytes(key, Uint8Array.of(0))],
  ["an encryption point that is not on the curve", flip(key, 64)],
  ["a signing point that is not on the curve", flip(key)],
  ["points of the hybrid form", withByte(withByte(key, 0, 6 + (key[64]! & 1)), 65, 6 + (key[129]! & 1))],
  ["zeros", new Uint8Array(130)],
];
const attested = (publicKey: Uint8Array): Alterations => ({
  ephemeralKey: { ...lab.ephemeralKey, publicKey },
  payloads: [],
});
const otherKey: QosKeyPair = generateQosKeyPair();

const plain: Alterations = { spelling: { numbers: "number" } };

const binding: Attack[] = [
  ...(
    [
      ["another manifest's hash", otherHash],
      ["the envelope's hash", sha256(fromBase64(whole.bootProof["qosManifestEnvelopeB64"] as string)!)],
      ["the hash in hex", toUtf8(hex(whole.manifestHash))],
      ["31 bytes of the hash", whole.manifestHash.subarray(0, 31)],
      ["33 bytes", concatBytes(whole.manifestHash, Uint8Array.of(0))],
      ["no byte", new Uint8Array()],
      ["null", null],
    ] as const
  ).map(([name, value]): Attack => ({
    name: `user_data: ${name}`,
    forge: field("user_data", value),
    fails: ["bind.user-data"],
  })),
  {
    name: "user_data: the hash of the JSON as it was sent, which is not canonical",
    forge: { ...plain, ...field("user_data", sha256(fromBase64(forge(plain).bootProof["qosManifestB64"] as string)!)) },
    fails: ["bind.user-data"],
  },
  {
    name: "an approved manifest that another enclave booted",
    forge: {
      bootProof: (value) => ({
        ...value,
        cloudAttestationDocB64: forge(manifest(() => ({ namespace: otherManifest.namespace }))).bootProof[
          "cloudAttestationDocB64"
        ]!,
      }),
    },
    fails: ["bind.user-data", "bind.commitment"],
  },
  ...[0, 1, 2, 3].map((index): Attack => ({
    name: `another PCR${index} than the manifest's`,
    forge: pcr(index, sha384(toUtf8("another image"))),
    fails: ["bind.pcrs"],
  })),
  ...failing("bind.pcrs", "", [
    ["no PCR3 in a legacy document", { generation: "legacy", ...pcrs((map) => map.delete(3)) }],
    ["no PCR0 in a legacy document", { generation: "legacy", ...pcrs((map) => map.delete(0)) }],
    [
      "a manifest that names 32 bytes of a PCR",
      manifest(({ enclave }) => ({ enclave: { ...enclave, pcr1: enclave.pcr1.subarray(0, 32) } })),
    ],
    ["a manifest that names no PCR0", inManifest("enclave", { pcr0: new Uint8Array() })],
    [
      "a manifest that names the PCRs of another image",
      inManifest("enclave", { pcr0: ZERO_PCR, pcr1: ZERO_PCR, pcr2: ZERO_PCR }),
    ],
  ]),
  ...[0, 1, 2].map((index): Attack => ({
    name: `another image than the one that was given, by its PCR${index}`,
    judge: { measurements: { ...GIVEN, [index]: sha384(toUtf8("another image")) } },
    fails: ["bind.image"],
  })),
  {
    name: "another image than the one that was given, whole",
    judge: { measurements: { 0: otherImage, 1: otherImage, 2: otherImage } },
    fails: ["bind.image"],
  },
  {
    name: "an image that nobody signed, where a signed one was given",
    judge: { measurements: { ...GIVEN, 8: sha384(toUtf8("a certificate")) } },
    fails: ["bind.image"],
  },
  {
    name: "no PCR8 at all, where a signed image was given",
    forge: pcrs((map) => map.delete(8)),
    judge: { measurements: { ...GIVEN, 8: ZERO_PCR } },
    fails: ["bind.commitment", "bind.image"],
  },
  {
    name: "a PCR that a legacy document has none of, given as zeros",
    forge: { generation: "legacy" },
    judge: { measurements: { 16: ZERO_PCR } },
    fails: ["bind.image"],
  },
  {
    name: "a debug enclave of the image that was given",
    forge: pcrs((map) => map.set(0, ZERO_PCR).set(1, ZERO_PCR).set(2, ZERO_PCR)),
    judge: { measurements: GIVEN, allowDebug: true },
    fails: ["bind.image", "bind.pcrs"],
  },
  { name: "public_key null", forge: { ...field("public_key", null), payloads: [] }, fails: ["bind.key"] },
  {
    name: "another public_key in the document",
    forge: field("public_key", otherKey.publicKey),
    fails: ["bind.key", "bind.commitment"],
    more: true,
  },
  { name: "public_key of no byte", forge: field("public_key", new Uint8Array()), fails: ["bind.key"], more: true },
  ...failing("bind.key", "", [
    ["another key beside the document", { bootProof: put("ephemeralPublicKeyHex", hex(otherKey.publicKey)) }],
    [
      "the key's halves exchanged beside the document",
      { bootProof: put("ephemeralPublicKeyHex", hex(concatBytes(key.subarray(65), key.subarray(0, 65)))) },
    ],
    ["the signing half alone beside the document", { bootProof: put("ephemeralPublicKeyHex", hex(key.subarray(65))) }],
  ]),
  { name: "another key than was asked for", judge: { ephemeralKey: otherKey.publicKey }, fails: ["bind.key"] },
  ...notKeys.map(([name, value]): Attack => ({
    name: `a public_key of ${name}`,
    forge: attested(value),
    fails: ["bind.key"],
  })),
  { name: "a nonce", forge: lie("nonce-present"), fails: ["bind.nonce"] },
  {
    name: "a nonce of no byte, where one was asked for",
    forge: field("nonce", new Uint8Array()),
    judge: { nonce: Uint8Array.of(1) },
    fails: ["bind.nonce"],
  },
  { name: "no nonce, where one was asked for", judge: { nonce: Uint8Array.of(1) }, fails: ["bind.nonce"] },
  {
    name: "another nonce than was asked for",
    forge: field("nonce", Uint8Array.of(1, 2)),
    judge: { nonce: Uint8Array.of(1, 3) },
    fails: ["bind.nonce"],
  },
  {
    name: "a longer nonce than was asked for",
    forge: field("nonce", Uint8Array.of(1, 2, 3)),
    judge: { nonce: Uint8Array.of(1, 2) },
    fails: ["bind.nonce"],
  },
  { name: "a nonce of 1024 bytes", forge: field("nonce", new Uint8Array(1024)), fails: ["bind.nonce"] },
];

const good = (phase: "setup" | "live"): Uint8Array => commitmentPcr(phase, whole.manifestHash, key);
const preimage = (text: string): Uint8Array => extendedPcr(sha384(toUtf8(text)));
const liveDomain = "qos-live-manifest-pcr-commitment-v1";
const [keyHex, hashHex] = [hex(key), hex(whole.manifestHash)];

const commitments: [string, Alterations][] = [
  ["PCR17 of zeros", pcr(17, ZERO_PCR)],
  ["PCR17 of ones", pcr(17, new Uint8Array(48).fill(0xff))],
  ["PCR17 over another key", pcr(17, commitmentPcr("live", whole.manifestHash, otherKey.publicKey))],
  ["PCR17 over another manifest", pcr(17, commitmentPcr("live", otherHash, key))],
  ["the setup commitment in PCR17", pcr(17, good("setup"))],
  ["the live commitment in PCR16", pcrs((map) => map.set(16, good("live")).set(17, ZERO_PCR))],
  ["the live commitment in PCR18", pcrs((map) => map.set(18, good("live")).set(17, ZERO_PCR))],
  [
    "a commitment that was not extended into the PCR",
    pcr(
      17,
      sha384(toUtf8(`{"domain":"${liveDomain}","ephemeralPublicKey":"${keyHex}",` + `"manifestHash":"${hashHex}"}`)),
    ),
  ],
  ["a commitment extended twice", pcr(17, sha384(concatBytes(good("live"), good("live"))))],
  [
    "a commitment with white space",
    pcr(17, preimage(`{"domain": "${liveDomain}","ephemeralPublicKey":"${keyHex}",` + `"manifestHash":"${hashHex}"}`)),
  ],
  [
    "a commitment in upper case",
    pcr(
      17,
      preimage(`{"domain":"${liveDomain}","ephemeralPublicKey":"${keyHex.toUpperCase()}","manifestHash":"${hashHex}"}`),
    ),
  ],
  [
    "a commitment in another order",
    pcr(17, preimage(`{"domain":"${liveDomain}","manifestHash":"${hashHex}","ephemeralPublicKey":"${keyHex}"}`)),
  ],
  [
    "a commitment of another domain",
    pcr(
      17,
      preimage(
        `{"domain":"qos-live-manifest-pcr-commitment-v2","ephemeralPublicKey":"${keyHex}",` +
          `"manifestHash":"${hashHex}"}`,
      ),
    ),
  ],
  [
    "a setup document over another key",
    {
      generation: "setup",
      ...pcr(16, commitmentPcr("setup", whole.manifestHash, otherKey.publicKey)),
    },
  ],
  ["PCR31 not locked", pcrs((map) => map.delete(31))],
  ["PCR5 not locked", pcrs((map) => map.delete(5))],
  ["PCR16 not locked beside a good PCR17", pcrs((map) => map.delete(16))],
  ["only PCR17 above 15", { generation: "legacy", ...pcr(17, good("live")) }],
  ["only PCR16 above 15, of an application's own", { generation: "legacy", ...pcr(16, sha384(toUtf8("application"))) }],
  ["only PCR16 above 15, of zeros", { generation: "legacy", ...pcr(16, ZERO_PCR) }],
  ["only PCR20 above 15", { generation: "legacy", ...pcr(20, ZERO_PCR) }],
  ["all but PCR16 and PCR17", pcrs((map) => (map.delete(16), map.delete(17)))],
];

/** Setup documents, of which one thing is wrong, in each form. */
function provisioning(form: DetailForm): (readonly [string, Alterations, Attack["fails"]])[] {
  const details = (alter: (details: JsonObject) => JsonObject, more: Alterations = {}): Alterations => ({
    generation: "setup",
    payloads: [],
    bootProof: (proof) => alter(detailsOf(proof, form)),
    ...more,
  });
  const others = detailsOf(forge({ lab: otherLab, generation: "setup", payloads: [] }).bootProof, form);
  const [document, envelope] = Object.keys(others) as [string, string];
  const own = (value: JsonObject): JsonObject => value;
  const isEncoded = form === "query";
  return [
    ["a live document", details(own, { generation: "live" }), ["bind.commitment"]],
    [
      "over another key",
      details(own, { ...field("public_key", otherKey.publicKey) }),
      [...(form === "browser" ? (["bind.key"] as const) : []), "bind.commitment"],
    ],
    ["without a document", details(drop(document)), ["boot.decode"]],
    ["without an envelope", details(drop(envelope)), ["boot.decode"]],
    ["an envelope of the other type", details(put(envelope, isEncoded ? {} : "e30=")), ["boot.decode"]],
    ["an empty envelope", details(put(envelope, isEncoded ? "e30=" : {})), ["envelope.decode"]],
    ["a document that is not strict base64", details(put(document, "Zg==\n")), ["boot.decode"]],
    ["labels", details(put("deploymentLabel", "lab.1")), ["boot.decode"]],
    ["another member", details(put("comment", "")), ["boot.decode"]],
    ["the service's manifest beside them", details(put("qosManifestB64", "e30=")), ["boot.decode", "manifest.decode"]],
    [
      "another envelope beside theirs",
      details(put(isEncoded ? "manifest_envelope" : "manifest-envelope", {})),
      ["boot.decode"],
    ],
    [
      "the envelope of another manifest",
      details((value) => put(envelope, others[envelope]!)(value)),
      ["bind.user-data", "bind.commitment"],
    ],
    [
      "a manifest that was changed after its approval",
      details(own, { alterManifest: { hash: flip } }),
      ["envelope.approvals", "envelope.shares", "bind.user-data", "bind.commitment"],
    ],
    ["without approvals", details(own, { alterManifest: { approvals: () => [] } }), ["envelope.approvals"]],
    ["a state in place of the document", details(() => ({ provisioningState: "PROVISIONED" })), ["boot.decode"]],
    ...(isEncoded
      ? [["a state that is no text", details(put("provisioningState", 2)), ["boot.decode"]] as const]
      : [["a state of another form", details(put("provisioningState", "PENDING")), ["boot.decode"]] as const]),
    ...(form === "browser"
      ? ([
          ["another key named", details(put("ephemeralPublicKeyHex", hex(otherKey.publicKey))), ["bind.key"]],
          ["no time", details(drop("fetchedAtUnixMs")), ["boot.decode"]],
          ["no deployment", details(drop("deploymentId")), ["boot.decode"]],
          ["no key named", details(drop("ephemeralPublicKeyHex")), ["boot.decode"]],
        ] as const)
      : []),
  ];
}

/** The hardware measured zeros, and the manifest names them. */
const zeroed = (...indexes: (0 | 1 | 2)[]): Alterations => ({
  ...inManifest("enclave", { ...Object.fromEntries(indexes.map((index) => [`pcr${index}`, ZERO_PCR])) }),
  ...pcrs((map) => indexes.forEach((index) => map.set(index, ZERO_PCR))),
});
const debugPivot: Alterations = inManifest("pivot", { debugMode: true });

const debug: [string, Alterations][] = [
  ["all of PCR0 to PCR2 zero", lie("debug-mode")],
  ["PCR0 zero", zeroed(0)],
  ["PCR1 zero", zeroed(1)],
  ["PCR2 zero", zeroed(2)],
  ["an application in debug mode, v2", lie("debug-application")],
  ["an application in debug mode, v1", { version: "v1", ...debugPivot }],
  ["a legacy enclave in debug mode", { generation: "legacy", version: "v0", ...zeroed(0, 1, 2) }],
];

export const BOOT_PROOF_ATTACKS: readonly Attack[] = [
  ...wire.map(([name, bootProof]): Attack => ({
    name: `boot proof: ${name}`,
    forge: { bootProof },
    fails: ["boot.decode"],
  })),
  ...notBootProofs.map(([name, value]): Attack => ({
    name: `boot proof: ${name}`,
    judge: { given: () => ({ bootProofs: [value] }) },
    fails: ["boot.decode"],
  })),
  ...failing("manifest.decode", "manifest: ", manifests),
  ...failing("envelope.decode", "envelope: ", envelopes),
  ...versions,
  ...failing("envelope.approvals", "approvals: ", approvalAttacks),
  ...failing("envelope.shares", "share approvals: ", shareAttacks),
  {
    name: "approvals, user_data and commitment over a hash that is not the manifest's",
    forge: { alterManifest: { hash: flip } },
    fails: ["envelope.approvals", "envelope.shares", "bind.user-data", "bind.commitment"],
  },
  ...binding,
  ...failing("bind.commitment", "commitment: ", commitments),
  ...DETAIL_FORMS.flatMap((form) =>
    provisioning(form).map(([name, alter, fails]): Attack => {
      return { name: `provisioning details, ${form}: ${name}`, forge: alter, judge: { noPolicy: true }, fails };
    }),
  ),
  ...failing("mode.debug", "debug: ", debug),
  {
    name: "another enclave's document in whole evidence",
    forge: { bootProof: put("cloudAttestationDocB64", toBase64(forge({ lab: otherLab }).document)) },
    fails: ["chain.anchor", "bind.user-data", "bind.key", "bind.commitment", "app.key"],
  },
  {
    name: "a rejected boot proof under an activity",
    forge: document({ signature: flip }),
    judge: { given: withActivity },
    fails: ["cose.signature"],
  },
];
