/**
 * Provenance that must be refused, and by which check; and what must pass. Each bundle is of the lab's Sigstore, whose
 * log and signature are genuine unless the row says otherwise.
 */
import { createHash } from "node:crypto";
import { fromBase64, toBase64, toHex, toUtf8 } from "../../src/bytes.js";
import { decodeCertificate } from "../../src/decode/certificate.js";
import type { JsonObject, JsonValue } from "../../src/decode/json.js";
import type { ExtensionSpec } from "../../src/lab/pki.js";
import { labDeployment } from "../../src/lab/forge.js";
import { LAB_WORKLOAD } from "../../src/lab/qos.js";
import {
  type LabBuild,
  LAB_BUILD,
  LabSigstore,
  type ProvenanceAlterations,
  type ProvenanceOptions,
  type SavedSigstore,
  labProvenancePin,
  sigstoreExtension,
  uriName,
} from "../../src/lab/sigstore.js";
import { type Accepted, type Attack, type Judgement, AT, after, lab, put } from "./support.js";
import { derPrintableString, derUtf8String } from "../support/der.js";

const sigstore = new LabSigstore();
const otherInstance = new LabSigstore();
const privateInstance = new LabSigstore({ kind: "private" });
const root = (of: LabSigstore): JsonObject => ({ json: JSON.stringify(of.trustedRoot) });
const pinned = labProvenancePin(root(sigstore));
const { repository, workflow, ref, commit } = LAB_BUILD;
const config = `${repository}/${workflow}@${ref}`;
const attest = "https://github.com/acme/builders/.github/workflows/attest.yml";
const DIGEST = toHex(lab.pivotHash);
const stranger = "https://github.com/mallory/oracle";

type Bundle = string | object;

/** A bundle for the lab's binary, with a difference. */
function bundle(options: Partial<ProvenanceOptions> = {}, of: LabSigstore = sigstore): string {
  return of.attest({ at: AT, digest: lab.pivotHash, ...options });
}

const built = (build: Partial<LabBuild>): string => bundle({ build });
const altered = (alter: ProvenanceAlterations): string => bundle({ alter });
/** For rows that put parts of one bundle together: each bundle has a key of its own. */
const GOOD = bundle();
const parsed = (text = GOOD): JsonObject => JSON.parse(text) as JsonObject;
const statement = (change: (json: JsonObject) => JsonObject): string => altered({ statement: change });
const extensions = (change: (all: readonly ExtensionSpec[]) => readonly ExtensionSpec[]): string =>
  altered({ extensions: change });

/** An extension in place of the one with its number. */
const instead = (number: number, spec: ExtensionSpec): string =>
  extensions((all) => all.map((one) => (one.id.endsWith(`.57264.1.${number}`) ? { ...spec, id: one.id } : one)));
const without = (number: number): string =>
  extensions((all) => all.filter(({ id }) => !id.endsWith(`.57264.1.${number}`)));
const named = (uri: ExtensionSpec): string => extensions((all) => all.map((one) => (one.id === uri.id ? uri : one)));
const subjects = (...digests: JsonObject[]): string =>
  statement((json) => ({ ...json, subject: digests.map((digest, index) => ({ name: `file-${index}`, digest })) }));

/** The judgement of bundles under pins. By default: all of the build is pinned. */
function under(bundles: readonly Bundle[], ...pins: JsonObject[]): Judgement {
  return {
    given: ({ bootProof, appProofs }) => ({ bootProofs: [bootProof], appProofs, provenance: bundles }),
    deployments: (all) => [{ ...all, provenance: pins.length === 0 ? [pinned] : pins }],
  };
}

type Check = "bundle" | "signer" | "subject";
/** By default all of the build is pinned. */
type Row = readonly [name: string, bundles: Bundle | readonly Bundle[], ...pins: JsonObject[]];

function refused(check: Check, ...[name, bundles, ...pins]: Row): Attack {
  const judge = under(Array.isArray(bundles) ? (bundles as Bundle[]) : [bundles as Bundle], ...pins);
  return { name: `provenance: ${name}`, judge, fails: [`provenance.${check}`] };
}

const pin = (changes: JsonObject): JsonObject => ({ ...pinned, ...changes });
const unpinned = (...names: string[]): JsonObject =>
  Object.fromEntries(Object.entries(pinned).filter(([name]) => !names.includes(name)));

const SIGNERS: Row[] = [
  ...(
    [
      ["another repository", { repository: stranger }],
      ["the repository in other case", { repository: "https://github.com/Acme/oracle" }],
      ["the repository with a slash", { repository: `${repository}/` }],
      ["a repository of the name's beginning", { repository: `${repository}.evil` }],
      ["a repository that a regular expression takes for it", { repository: "https://githubXcom/acme/oracle" }],
      ["the repository of a renamed owner, whose name somebody took", { repositoryId: "987654321" }],
      ["another issuer", { issuer: "https://token.example.com" }],
      ["the issuer of an enterprise", { issuer: `${LAB_BUILD.issuer}/acme` }],
      ["a branch with the name of the tag", { ref: "refs/heads/v1.2.3" }],
      ["another tag", { ref: "refs/tags/v1.2.30" }],
      ["the tag, and @ with more", { ref: `${ref}@refs/heads/main` }],
      ["a pull request of a fork", { ref: "refs/pull/7/merge", trigger: "pull_request" }],
      ["another trigger", { trigger: "workflow_dispatch" }],
      ["another commit", { commit: "0".repeat(40) }],
      ["the commit in upper case", { commit: commit.toUpperCase() }],
      ["a runner of anyone's", { runner: "self-hosted" }],
      ["another workflow", { workflow: ".github/workflows/test.yml" }],
      ["a workflow that begins alike", { workflow: `${workflow}.evil.yml` }],
      ["a workflow whose path has @ and the pinned one", { workflow: `${workflow}@${ref}/x.yml` }],
    ] as const satisfies readonly (readonly [string, Partial<LabBuild>])[]
  ).map(([name, build]): Row => [name, built(build)]),
  ["the certificate's name, which the extensions do not have", named(uriName(`${config}.evil`))],
  [
    "extensions of the wanted repository in a certificate of another one's workflow",
    built({ identity: `${stranger}/${workflow}@${ref}` }),
  ],
  [
    "an identity that a regular expression takes for the pinned one",
    built({ identity: `${config}x` }),
    pin({ identity: config }),
  ],
  [
    "another identity of an issuer that is not GitHub's",
    built({ issuer: "https://accounts.example.com", identity: "https://example.com/release.evil" }),
    {
      issuer: "https://accounts.example.com",
      identity: "https://example.com/release",
      predicateTypes: pinned["predicateTypes"]!,
      trustedRoot: root(sigstore),
    },
  ],
  [
    "a build configuration that names another ref than the certificate",
    instead(18, sigstoreExtension(18, `${repository}/${workflow}@refs/heads/main`)),
  ],
  [
    "a build configuration of which the workflow is a part",
    instead(18, sigstoreExtension(18, `${repository}/x/${workflow}@${ref}`)),
  ],
  ["a build configuration of another repository", instead(18, sigstoreExtension(18, `${stranger}/${workflow}@${ref}`))],
  ...[8, 9, 11, 12, 13, 14, 15, 18, 20].flatMap((number): Row[] => [
    [`extension .${number} left out`, without(number)],
    [
      `extension .${number} twice, the second of another value`,
      extensions((all) => [...all, sigstoreExtension(number, "x")]),
    ],
    [
      `extension .${number} twice, the first of another value`,
      extensions((all) => [sigstoreExtension(number, "x"), ...all]),
    ],
  ]),
  ["extension .12 twice, the same", extensions((all) => [...all, sigstoreExtension(12, repository)])],
  ["extension .12 in the older raw form", instead(12, withValue(toUtf8(repository)))],
  ["extension .12 as a PrintableString", instead(12, withValue(derPrintableString(repository)))],
  ["extension .12 with bytes behind it", instead(12, withValue(Uint8Array.of(...derUtf8String(repository), 0)))],
  ["extension .12 with a zero byte", instead(12, sigstoreExtension(12, `${repository}\0.evil`))],
  ["extension .12 that is not UTF-8", instead(12, withValue(Uint8Array.of(0x0c, 1, 0xff)))],
  ["extension .12 that is empty", instead(12, sigstoreExtension(12, ""))],
  ["the name twice", extensions((all) => [...all, uriName(stranger)])],
  ["a reusable workflow that the policy does not name", built({ signer: `${attest}@refs/tags/v1` })],
  [
    "another reusable workflow than the pinned one",
    built({ signer: `${attest}@refs/tags/v1` }),
    pin({ signer: `${stranger}/${workflow}` }),
  ],
  ["the build's own workflow where a reusable one is pinned", bundle(), pin({ signer: attest })],
  [
    "another version of the reusable workflow",
    built({ signer: `${attest}@refs/tags/v2` }),
    pin({ signer: `${attest}@refs/tags/v1` }),
  ],
  ...[
    ["v1", "a tag without refs/"],
    ["", "an empty ref"],
    ["refs/", "refs/ alone"],
    ["a".repeat(39), "39 hex digits"],
    ["A".repeat(40), "40 hex digits in upper case"],
    ["refs/heads/x/.github/workflows/evil.yml@refs/heads/main", "a branch that has a workflow's path in its name"],
  ].map(([version, name]): Row => [
    `a signer of ${name!}`,
    built({ signer: `${attest}@${version!}` }),
    pin({ signer: attest }),
  ]),
  [
    "a signer of which the pinned one is the beginning",
    built({ signer: `${attest}.evil.yml@refs/tags/v1` }),
    pin({ signer: attest }),
  ],
  ["a branch where any tag is pinned", built({ ref: "refs/heads/main" }), pin({ ref: "refs/tags/*" })],
  ["a ref of which a pattern's folder is all", built({ ref: "refs/tags/" }), pin({ ref: "refs/tags/*" })],
];

function withValue(value: Uint8Array): ExtensionSpec {
  return { id: "", critical: false, value };
}

/** The length in two bytes where one is enough. */
function longLength(der: Uint8Array): Uint8Array {
  return Uint8Array.of(der[0]!, 0x81, der.length - 2, ...der.subarray(2));
}

const SUBJECTS: Row[] = [
  ["another binary", bundle({ digest: new Uint8Array(32).fill(1) })],
  ["the digest in upper case", subjects({ sha256: DIGEST.toUpperCase() })],
  ["the digest with a prefix", subjects({ sha256: `sha256:${DIGEST}` })],
  ["the digest with white space", subjects({ sha256: ` ${DIGEST}` })],
  ["the beginning of the digest", subjects({ sha256: DIGEST.slice(0, 40) })],
  ["SHA-512 alone", subjects({ sha512: createHash("sha512").update("lab application").digest("hex") })],
  ["the digest under another algorithm", subjects({ sha512: DIGEST })],
  ["the digest under a name in upper case", subjects({ SHA256: DIGEST })],
  [
    "the digest as a subject's name",
    statement((json) => ({ ...json, subject: [{ name: DIGEST, digest: { sha256: "00".repeat(32) } }] })),
  ],
  ["no subjects", subjects()],
  [
    "the digest only in the predicate",
    statement((json) => ({ ...json, subject: [], predicate: { subject: [{ digest: { sha256: DIGEST } }] } })),
  ],
  ["another predicate", bundle({ predicateType: "https://spdx.dev/Document/v2.3" })],
  ["a predicate that begins alike", bundle({ predicateType: "https://slsa.dev/provenance/v1.1" })],
  ["a verification summary in place of a build", bundle({ predicateType: "https://slsa.dev/verification_summary/v1" })],
];

/** An instance with the keys of two. */
const mixed = (changes: Partial<SavedSigstore>): LabSigstore =>
  new LabSigstore({ saved: { ...sigstore.save(), ...changes } });
const { signatureLog, certificateLog } = otherInstance.save();
const otherLog = mixed({ signatureLog });
const otherCertificateLog = mixed({ certificateLog });
const otherTimestamps = new LabSigstore({
  kind: "private",
  saved: { ...privateInstance.save(), timestamps: otherInstance.save().timestamps },
});

const entryOf = (json: JsonObject): JsonObject =>
  ((json["verificationMaterial"] as JsonObject)["tlogEntries"] as JsonObject[])[0]!;
const ENTRY = "verificationMaterial.tlogEntries.0";
const changedBundle = (path: string, value: Parameters<typeof put>[1], text?: string): JsonObject =>
  put(path, value)(parsed(text));
const dropped = (path: string): JsonObject => {
  const json = structuredClone(parsed());
  const steps = path.split(".");
  const holder = steps.slice(0, -1).reduce((part, step) => part[step] as JsonObject, json);
  Reflect.deleteProperty(holder, steps.at(-1)!);
  return json;
};
const flipped = (base64: unknown): string => {
  const bytes = fromBase64(base64 as string)!;
  return toBase64(Uint8Array.from(bytes, (byte, index) => (index === bytes.length - 1 ? byte ^ 1 : byte)));
};
const flippedAt = (path: string): JsonObject => {
  const json = parsed();
  const value = path.split(".").reduce<unknown>((part, step) => (part as JsonObject)[step], json);
  return put(path, flipped(value))(json);
};
const repeated = (text: string, member: string): string => text.replace("{", `{${member},`);
const payload = (change: (text: string) => string): string =>
  altered({ payload: (bytes) => toUtf8(change(new TextDecoder().decode(bytes))) });
const otherBundle = parsed(bundle({ digest: new Uint8Array(32) }));

const PROOF = `${ENTRY}.inclusionProof`;
/** As older bundles have it: the signer's certificate, and those of the authority. */
const CHAIN: readonly JsonValue[] = [
  (parsed(GOOD)["verificationMaterial"] as JsonObject)["certificate"]!,
  ...(sigstore.trustedRoot as unknown as { certificateAuthorities: [{ certChain: { certificates: JsonObject[] } }] })
    .certificateAuthorities[0].certChain.certificates,
];

/** With so many extensions in its certificate, which the log and the authority signed. */
function extended(count: number, bytes = 1): string {
  const own = JSON.parse(bundle()) as { verificationMaterial: { certificate: { rawBytes: string } } };
  const { length } = decodeCertificate(fromBase64(own.verificationMaterial.certificate.rawBytes)!).extensions;
  const more = Array.from({ length: count - length }, (_, index) => ({
    id: `2.999.${index}`,
    critical: false,
    value: new Uint8Array(bytes),
  }));
  return extensions((all) => [...all, ...more]);
}

/** What costs a Sigstore library more than its size. */
const BEYOND: Readonly<Record<string, Bundle>> = {
  "with nine log entries": changedBundle(
    "verificationMaterial.tlogEntries",
    Array.from({ length: 9 }, (_, index) => ({ ...entryOf(parsed()), logIndex: String(index) })),
  ),
  "with nine timestamps": changedBundle("verificationMaterial.timestampVerificationData", {
    rfc3161Timestamps: Array<JsonObject>(9).fill({ signedTimestamp: "MAA=" }),
  }),
  "with a chain of eleven certificates": chained(0.2, [...CHAIN, ...Array<JsonValue>(8).fill(CHAIN[1]!)]),
  "with a certificate of 65 extensions": extended(65),
  "with a certificate of more than 16 KiB": extended(30, 4096),
  "with a large certificate in its chain": chained(0.2, [
    ...CHAIN,
    { rawBytes: toBase64(new Uint8Array(16 * 1024 + 1)) },
  ]),
};

const BUNDLES: Row[] = [
  // @sigstore/verify 3 refuses it; version 4 leaves it to `provenance.signer`.
  ["extension .12 with a length that is too long", instead(12, withValue(longLength(derUtf8String(repository))))],
  ["of another instance", bundle({}, otherInstance)],
  ["of a private instance under the public root", bundle({}, privateInstance)],
  ["of the public instance under a private root", bundle(), pin({ trustedRoot: root(privateInstance) })],
  ["in the log of another instance", bundle({}, otherLog)],
  ["in the certificate log of another instance", bundle({}, otherCertificateLog)],
  ["with a time of another authority", bundle({}, otherTimestamps), pin({ trustedRoot: root(privateInstance) })],
  [
    "whose certificate and logs two roots know, but no root both",
    bundle(),
    pin({
      trustedRoot: [
        root(mixed({ signatureLog, certificateLog })),
        root(
          new LabSigstore({
            saved: {
              ...otherInstance.save(),
              signatureLog: sigstore.save().signatureLog,
              certificateLog: sigstore.save().certificateLog,
            },
          }),
        ),
      ],
    }),
  ],
  ["logged after its certificate expired", bundle({ signedAt: after(660) })],
  ["logged before its certificate was valid", bundle({ signedAt: after(-60) })],
  [
    "timestamped after its certificate expired",
    bundle({ signedAt: after(660) }, privateInstance),
    pin({ trustedRoot: root(privateInstance) }),
  ],
  ["without an entry of a log", changedBundle("verificationMaterial.tlogEntries", [])],
  ["without a promise of the log, and so without a signed time", dropped(`${ENTRY}.inclusionPromise`)],
  ["without a proof of inclusion", dropped(`${ENTRY}.inclusionProof`)],
  ["without a checkpoint", dropped(`${ENTRY}.inclusionProof.checkpoint`)],
  [
    "without a timestamp",
    changedBundle("verificationMaterial.timestampVerificationData", {}, bundle({}, privateInstance)),
    pin({ trustedRoot: root(privateInstance) }),
  ],
  [
    "with an integrated time that the log did not sign",
    changedBundle(`${ENTRY}.integratedTime`, String(Math.floor(AT.getTime() / 1000) + 2)),
  ],
  ["with the entry of another bundle", changedBundle(ENTRY, entryOf(otherBundle))],
  ["with an entry twice", changedBundle("verificationMaterial.tlogEntries", Array(2).fill(entryOf(parsed())) as never)],
  ["with a promise that is changed", flippedAt(`${ENTRY}.inclusionPromise.signedEntryTimestamp`)],
  ["with a proof that is changed", flippedAt(`${ENTRY}.inclusionProof.hashes.0`)],
  ["with an entry that is changed", flippedAt(`${ENTRY}.canonicalizedBody`)],
  ["with a signature that is changed", flippedAt("dsseEnvelope.signatures.0.sig")],
  [
    "with a statement that is changed",
    changedBundle("dsseEnvelope.payload", (otherBundle["dsseEnvelope"] as JsonObject)["payload"]!),
  ],
  ["with a certificate that is changed", flippedAt("verificationMaterial.certificate.rawBytes")],
  [
    "with the certificate of another bundle",
    changedBundle(
      "verificationMaterial.certificate",
      (otherBundle["verificationMaterial"] as JsonObject)["certificate"]!,
    ),
  ],
  ["with a checkpoint that no log signed", noted((text) => text.replace("\n\n", "\nmore\n\n"))],
  ["with a checkpoint of another size", noted((text) => text.replace(/\n([0-9]+)\n/, "\n9$1\n"))],
  ["whose proof names another size than its checkpoint", changedBundle(`${PROOF}.treeSize`, "7")],
  [
    "whose proof names another root than its checkpoint",
    changedBundle(`${PROOF}.rootHash`, toBase64(new Uint8Array(32))),
  ],
  ["whose proof names no size", dropped(`${PROOF}.treeSize`)],
  ["whose proof names no root", dropped(`${PROOF}.rootHash`)],
  [
    "with a checkpoint whose signature is changed",
    noted((text) => text.replace(/(?<=\u2014 \S+ .{40})./, (one) => (one === "A" ? "B" : "A"))),
  ],
  ["with a checkpoint as a list, whose name nobody would read", noted((text) => [text])],
  ["of version 0.3 with a chain", chained(0.3, CHAIN)],
  ["of version 0.4 with a chain", chained(0.4, CHAIN)],
  ["of version 0.1 with a chain that begins with the authority", chained(0.1, CHAIN.toReversed())],
  ["of version 0.2 with a promise alone", promised(0.2)],
  ...Object.entries(BEYOND),
  ["with a checkpoint whose name is long", noted((text) => text.replace(/\u2014 \S+/, `\u2014 ${"a".repeat(300)}`))],
  [
    "with a checkpoint whose name is a regular expression",
    noted((text) => text.replace(/\u2014 \S+/, "\u2014 (a+)+$")),
  ],
  [
    "whose log entry is of another signature",
    altered({ entry: (json) => put("spec.signatures.0.signature", "AAAA")(json) }),
  ],
  [
    "whose log entry is of another statement",
    altered({ entry: (json) => put("spec.payloadHash.value", "00".repeat(32))(json) }),
  ],
  ["whose certificate no log timestamped", altered({ logged: (all) => all.slice(0, -1) })],
  [
    "whose certificate got an extension after it was logged",
    altered({ logged: (all) => [...all, sigstoreExtension(22, "public")] }),
  ],
  [
    "of 10 MiB",
    parsed(altered({ statement: (json) => ({ ...json, predicate: { x: "x".repeat(10 * 1024 * 1024) } }) })),
  ],
  ["of 10 MiB of white space", `${bundle()}${" ".repeat(10 * 1024 * 1024)}`],
  ["with a member twice", repeated(bundle(), '"dsseEnvelope":{}')],
  ["with the material under its other name alone", renamed(parsed(), "verificationMaterial", "verification_material")],
  ["whose statement has a member twice", payload((text) => repeated(text, '"subject":[]'))],
  [
    "whose statement has a digest twice",
    payload((text) => text.replace('"digest":{', `"digest":{"sha256":"${"00".repeat(32)}",`)),
  ],
  ["whose statement is not JSON", payload((text) => `${text}}`)],
  ["whose statement begins with a byte order mark", payload((text) => `\ufeff${text}`)],
  ["whose statement is a list of two", payload((text) => `[${text},${text}]`)],
  ["whose statement is of another type", statement((json) => ({ ...json, _type: "https://in-toto.io/Statement/v2" }))],
  ["whose statement names no type", statement(({ _type, ...rest }) => (void _type, rest))],
  ["whose payload is of another type", altered({ payloadType: "application/json" })],
  [
    "with two signatures",
    changedBundle(
      "dsseEnvelope.signatures",
      Array(2).fill({
        sig: (parsed()["dsseEnvelope"] as { signatures: { sig: string }[] }).signatures[0]!.sig,
      }) as never,
    ),
  ],
  ["without a signature", changedBundle("dsseEnvelope.signatures", [])],
  ["with a public key", changedBundle("verificationMaterial", { publicKey: { hint: "a" }, tlogEntries: [] })],
  ["with a public key beside the certificate", changedBundle("verificationMaterial.publicKey", { hint: "a" })],
  [
    "that signs a file, not a statement",
    {
      ...dropped("dsseEnvelope"),
      messageSignature: {
        messageDigest: { algorithm: "SHA2_256", digest: toBase64(lab.pivotHash) },
        signature: "AAAA",
      },
    },
  ],
  [
    "of another version",
    {
      ...parsed(),
      mediaType: "application/vnd.dev.sigstore.bundle+json;version=99.9",
    },
  ],
  ["that is an empty object", {}],
  ["that is a number", "7"],
  ["that is not JSON", "{"],
  ["that is not given", []],
];

/** In place of the certificate, of the version. */
function chained(version: number, certificates: readonly JsonValue[]): JsonObject {
  const { verificationMaterial, ...rest } = parsed(GOOD);
  const { certificate, ...material } = verificationMaterial as JsonObject;
  void certificate;
  return {
    ...rest,
    mediaType: `application/vnd.dev.sigstore.bundle+json;version=${version}`,
    verificationMaterial: { ...material, x509CertificateChain: { certificates: [...certificates] } },
  };
}

/** Without a proof of inclusion. */
function promised(version: number): JsonObject {
  const json = chained(version, CHAIN);
  const { inclusionProof, ...entry } = entryOf(json);
  void inclusionProof;
  return put("verificationMaterial.tlogEntries", [entry])(json);
}

function noted(change: (text: string) => JsonValue): JsonObject {
  const proof = entryOf(parsed(GOOD))["inclusionProof"] as { checkpoint: { envelope: string } };
  return changedBundle(`${PROOF}.checkpoint.envelope`, change(proof.checkpoint.envelope), GOOD);
}

function renamed(json: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name === from ? to : name, value]));
}

const ofWorkload: JsonObject = {
  ...labDeployment(lab, "v3"),
  provenance: [pin({ of: { workload: LAB_WORKLOAD } })],
};
const withoutWorkloads: JsonObject = Object.fromEntries(
  Object.entries({ ...ofWorkload, provenance: [pinned], open: ["application"] }).filter(
    ([name]) => name !== "workloads",
  ),
);

/** Several bundles and several entries, and none. */
const SEVERAL: Attack[] = [
  {
    name: "provenance: where no list of bundles is given",
    judge: { deployments: (all) => [{ ...all, provenance: [pinned] }] },
    fails: ["provenance.bundle"],
  },
  // The nearest bundle is the one about the binary.
  refused("signer", "the signer of one bundle and the subject of another", [
    bundle({ digest: new Uint8Array(32) }),
    built({ repository: stranger }),
  ]),
  refused("signer", "an entry of two that no bundle meets", [bundle()], pinned, pin({ runner: "self-hosted" })),
  refused("bundle", "the genuine signer in a bundle that does not verify, and a stranger's that does", [
    flippedAt("dsseEnvelope.signatures.0.sig"),
    built({ repository: stranger }),
  ]),
  {
    name: "provenance: of another file than the pinned workload",
    forge: { version: "v3" },
    judge: { ...under([bundle({ digest: new Uint8Array(32) })]), deployments: () => [ofWorkload] },
    fails: ["provenance.subject"],
  },
  {
    name: "provenance: of a binary, where the manifest has workloads and the policy pins none",
    forge: { version: "v3" },
    judge: { ...under([bundle()]), deployments: () => [withoutWorkloads] },
    fails: ["provenance.subject"],
  },
];

export const PROVENANCE_ATTACKS: readonly Attack[] = [
  ...SIGNERS.map((row) => refused("signer", ...row)),
  ...SUBJECTS.map((row) => refused("subject", ...row)),
  ...BUNDLES.map((row) => refused("bundle", ...row)),
  ...SEVERAL,
];

function accepted(name: string, bundles: readonly Bundle[], ...pins: JsonObject[]): Accepted {
  return { name: `provenance: ${name}`, judge: under(bundles, ...pins) };
}

const open = (...names: ("ref" | "workflow")[]): JsonObject => ({ ...unpinned(...names), open: names });

export const PROVENANCE_ACCEPTED: readonly Accepted[] = [
  accepted("all of the build is pinned", [bundle()]),
  accepted("the certificate expired long ago, and was logged while it was valid", [
    bundle({ at: after(-86_400 * 365) }),
  ]),
  accepted("logged in the last second of its certificate", [bundle({ signedAt: after(600) })]),
  accepted("the digest is that of the second subject", [subjects({ sha256: "00".repeat(32) }, { sha256: DIGEST })]),
  accepted("a subject with other digests, too", [subjects({ sha512: "00".repeat(64), sha256: DIGEST })]),
  accepted("a subject without a name", [statement((json) => ({ ...json, subject: [{ digest: { sha256: DIGEST } }] }))]),
  accepted("a statement v0.1", [statement((json) => ({ ...json, _type: "https://in-toto.io/Statement/v0.1" }))]),
  accepted("two statements of which one fits", [bundle({ predicateType: "https://spdx.dev/Document/v2.3" }), bundle()]),
  accepted("a bundle that does not verify beside one that does", [bundle({}, otherInstance), bundle()]),
  accepted("garbage beside a bundle", ["{", bundle()]),
  ...Object.entries(BEYOND).map(([name, text]) => accepted(`a bundle ${name}, beside a good one`, [text, bundle()])),
  accepted("a certificate of as many extensions as there may be", [extended(64)]),
  ...[0.1, 0.2].map((version) => accepted(`version ${version} with a chain`, [chained(version, CHAIN)])),
  accepted("version 0.1 with a promise alone", [promised(0.1)]),
  accepted("another envelope under a name that no reader knows", [
    { ...parsed(), dsse_envelope: otherBundle["dsseEnvelope"]! },
  ]),
  {
    name: "provenance: of a workload",
    forge: { version: "v3" },
    judge: { ...under([bundle()]), deployments: () => [ofWorkload] },
    warns: ["manifest.decode", "envelope.decode"],
  },
  accepted(
    "one of several types, tags and workflows",
    [bundle()],
    pin({
      ref: ["refs/tags/v1", ref],
      workflow: ["a.yml", workflow],
      predicateTypes: ["a", pinned["predicateTypes"] as never].flat(),
    }),
  ),
  accepted("any tag", [bundle()], pin({ ref: "refs/tags/*" })),
  accepted(
    "a private instance, whose root has neither log",
    [bundle({}, privateInstance)],
    pin({ trustedRoot: root(privateInstance) }),
  ),
  accepted("the second of two roots", [bundle()], pin({ trustedRoot: [root(otherInstance), root(sigstore)] })),
  accepted(
    "two entries that two bundles meet",
    [bundle(), built({ runner: "self-hosted" })],
    pinned,
    pin({ runner: "self-hosted" }),
  ),
  accepted("two entries that one bundle meets", [bundle()], pinned, pin({ ref: "refs/tags/*" })),
  ...["repositoryId", "runner", "trigger"].map((name): Accepted => ({
    ...accepted(`${name} is left open`, [bundle()], unpinned(name)),
    warns: ["policy.scope"],
  })),
  accepted(
    "a reusable workflow at the pinned version",
    [built({ signer: `${attest}@refs/tags/v1` })],
    pin({ signer: `${attest}@refs/tags/v1` }),
  ),
  accepted(
    "a path and a tag that have @ in their names",
    [built({ workflow: "a@b.yml", ref: "refs/tags/a@1" })],
    pin({ workflow: "a@b.yml", ref: "refs/tags/a@1" }),
  ),
  accepted(
    "another provider, by the identity",
    [built({ issuer: "https://accounts.example.com", identity: "https://example.com/release" })],
    {
      issuer: "https://accounts.example.com",
      identity: "https://example.com/release",
      predicateTypes: pinned["predicateTypes"]!,
      trustedRoot: root(sigstore),
    },
  ),
  {
    name: "provenance: a bundle that no policy demands",
    judge: { given: ({ bootProof, appProofs }) => ({ bootProofs: [bootProof], appProofs, provenance: ["{"] }) },
    skips: ["provenance.bundle", "provenance.signer", "provenance.subject"],
  },
  ...(
    [
      [
        "any version of a reusable workflow: a tag",
        built({ signer: `${attest}@refs/tags/v9` }),
        pin({ signer: attest }),
      ],
      [
        "any version of a reusable workflow: a commit",
        built({ signer: `${attest}@${"a".repeat(40)}` }),
        pin({ signer: attest }),
      ],
      ["the ref left open", built({ ref: "refs/heads/x" }), open("ref")],
      ["the workflow left open", built({ workflow: "x.yml" }), open("workflow")],
      ["any branch", built({ ref: "refs/heads/x" }), pin({ ref: "refs/heads/*" })],
    ] as const
  ).map(([name, text, weak]): Accepted => ({ ...accepted(name, [text], weak), warns: ["policy.scope"] })),
];
