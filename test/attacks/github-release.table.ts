/**
 * Statements on releases of GitHub that must be refused, and by which check; and what must pass. Each bundle is of the
 * lab's private instance, whose signature and timestamp are genuine unless the row says otherwise.
 */
import { toHex } from "../../src/bytes.js";
import type { JsonObject } from "../../src/decode/json.js";
import { labDeployment } from "../../src/lab/forge.js";
import { LAB_WORKLOAD } from "../../src/lab/qos.js";
import {
  LAB_BUILD,
  type LabRelease,
  LabSigstore,
  type ProvenanceAlterations,
  type ProvenanceOptions,
  labProvenancePin,
  labReleasePin,
  sigstoreExtension,
  uriName,
} from "../../src/lab/sigstore.js";
import { emailName } from "../support/email-name.js";
import { type Accepted, type Attack, type Judgement, AT, after, lab, put } from "./support.js";

const sigstore = new LabSigstore({ kind: "private" });
const publicInstance = new LabSigstore();
const root = (of: LabSigstore): JsonObject => ({ json: JSON.stringify(of.trustedRoot) });
const DIGEST = toHex(lab.pivotHash);
const TYPE = "https://in-toto.io/attestation/release/v0.1";

/** A statement on a release that carries the lab's binary, with a difference. */
function bundle(options: Partial<ProvenanceOptions> = {}, of: LabSigstore = sigstore): string {
  return of.attest({ at: AT, digest: lab.pivotHash, release: {}, ...options });
}

const released = (release: Partial<LabRelease>): string => bundle({ release });
const altered = (alter: ProvenanceAlterations): string => bundle({ alter });
const statement = (change: (json: JsonObject) => JsonObject): string => altered({ statement: change });
const predicate = (change: (json: JsonObject) => JsonObject): string =>
  statement((json) => ({ ...json, predicate: change(json["predicate"] as JsonObject) }));
const without = (name: string): string =>
  predicate((json) => Object.fromEntries(Object.entries(json).filter(([own]) => own !== name)));
const named = (...names: string[]): string =>
  altered({ extensions: (all) => [...all.filter(({ id }) => id !== uriName("").id), ...names.map(uriName)] });
const byEmail = emailName("https://dotcom.releases.github.com");
const subjects = (...digests: JsonObject[]): string =>
  statement((json) => ({ ...json, subject: digests.map((digest) => ({ uri: "pkg:github/acme/oracle@v1", digest })) }));

/** A bundle beside the entry of a public log, which is that of a build. */
function logged(): JsonObject {
  const build = JSON.parse(publicInstance.attest({ at: AT, digest: lab.pivotHash })) as JsonObject;
  const { tlogEntries } = build["verificationMaterial"] as JsonObject;
  return put("verificationMaterial.tlogEntries", tlogEntries!)(JSON.parse(bundle()) as JsonObject);
}

const withTimes = (data: JsonObject): JsonObject =>
  put("verificationMaterial.timestampVerificationData", data)(JSON.parse(bundle()) as JsonObject);

const pinned = labReleasePin(root(sigstore));
const untagged: JsonObject = {
  ...pinned,
  githubRelease: Object.fromEntries(
    Object.entries(pinned["githubRelease"] as JsonObject).filter(([name]) => name !== "tag"),
  ),
};
const ofTenant = labReleasePin(root(sigstore), { tenant: "acme" });
/** A private repository's build, which the same instance attests. */
const build = labProvenancePin(root(sigstore));
const byName: JsonObject = {
  issuer: "https://dotcom.releases.github.com",
  identity: "https://dotcom.releases.github.com",
  predicateTypes: ["https://in-toto.io/attestation/release/v0.2"],
  trustedRoot: root(sigstore),
};

function under(bundles: readonly (string | object)[], ...pins: JsonObject[]): Judgement {
  return {
    given: ({ bootProof, appProofs }) => ({ bootProofs: [bootProof], appProofs, provenance: bundles }),
    deployments: (all) => [{ ...all, provenance: pins.length === 0 ? [pinned] : pins }],
  };
}

type Row = readonly [name: string, bundle: string | object, ...pins: JsonObject[]];

function refused(check: "bundle" | "signer" | "subject", ...[name, given, ...pins]: Row): Attack {
  return { name: `release of GitHub: ${name}`, judge: under([given], ...pins), fails: [`provenance.${check}`] };
}

const SIGNERS: Row[] = [
  ["of a tenant, where github.com is demanded", released({ tenant: "acme" })],
  ["of github.com, where a tenant is demanded", bundle(), ofTenant],
  ["of another tenant", released({ tenant: "acme2" }), ofTenant],
  ["by a name that begins with the demanded one", named("https://dotcom.releases.github.com/x")],
  ["by the name without its scheme", named("dotcom.releases.github.com")],
  ["by the name in upper case", named("https://Dotcom.releases.github.com")],
  ["by a name that a regular expression takes for it", named("https://dotcom-releases.github.com")],
  [
    "by the name as an email address",
    altered({ extensions: (all) => all.map((one) => (one.id === uriName("").id ? byEmail : one)) }),
  ],
  ["by the name and another one", altered({ extensions: (all) => [...all, uriName("https://example.com")] })],
  ["by a certificate with the issuer of an identity", altered({ extensions: (all) => [...all, issuer(8)] })],
  ["by a certificate with that issuer in the older form", altered({ extensions: (all) => [...all, issuer(1)] })],
  [
    "as a workflow of the repository states it",
    bundle({ alter: { extensions: (all) => [...all, issuer(8)] } }),
    untagged,
  ],
  [
    "by the workflow of a build",
    sigstore.attest({
      at: AT,
      digest: lab.pivotHash,
      predicateType: TYPE,
      alter: {
        statement: (json) => ({
          ...json,
          predicate: { repository: "acme/oracle", repositoryId: "123456789", tag: "v1.2.3" },
        }),
      },
    }),
  ],
  // The other kind does not accept the statement on a release, whatever it demands.
  ["where a build is demanded", bundle({ predicateType: "https://slsa.dev/provenance/v1" }), build],
  ["where its name is demanded of a build", bundle(), byName],
];

function issuer(number: 1 | 8): ReturnType<typeof sigstoreExtension> {
  return sigstoreExtension(number, LAB_BUILD.issuer);
}

const SUBJECTS: Row[] = [
  ["of another repository", released({ repository: "mallory/oracle" })],
  ["of the repository in other case", released({ repository: "Acme/oracle" })],
  ["of a repository of the name's beginning", released({ repository: "acme/oracle2" })],
  ["of the repository as a URL", released({ repository: "https://github.com/acme/oracle" })],
  ["of a repository that took over the name", released({ repositoryId: "987654321" })],
  ["of a repository whose number begins alike", released({ repositoryId: "1234567890" })],
  ["of another tag", released({ tag: "v1.2.2" })],
  ["of the tag as a ref", released({ tag: "refs/tags/v1.2.3" })],
  ["of a tag that begins alike", released({ tag: "v1.2.3-rc" })],
  ["of another repository, where any tag passes", released({ repository: "mallory/oracle" }), untagged],
  ...["repository", "repositoryId", "tag"].flatMap((name): Row[] => [
    [`without ${name} in the predicate`, without(name)],
    [`with null as ${name}`, predicate((json) => ({ ...json, [name]: null }))],
    [`with a list as ${name}`, predicate((json) => ({ ...json, [name]: [json[name]!] }))],
  ]),
  ["with the repository's number as a number", predicate((json) => ({ ...json, repositoryId: 123456789 }))],
  ["without a predicate", statement(({ predicate: _own, ...rest }) => rest)],
  ["with a list as predicate", statement((json) => ({ ...json, predicate: [json["predicate"]!] }))],
  ["of a file that is not the binary", bundle({ digest: new Uint8Array(32) })],
  ["with the digest as that of the tag's commit", subjects({ sha1: DIGEST })],
  ["with the beginning of the digest as the tag's commit", subjects({ sha1: DIGEST.slice(0, 40) })],
  ["with the digest in upper case", subjects({ sha256: DIGEST.toUpperCase() })],
  ["of another type", bundle({ predicateType: "https://in-toto.io/attestation/release/v0.3" })],
  ["of the type of a build", bundle({ predicateType: "https://slsa.dev/provenance/v1" })],
];

const BUNDLES: Row[] = [
  ["with the entry of a log", logged()],
  ["without a timestamp", withTimes({})],
  ["with an empty list of timestamps", withTimes({ rfc3161Timestamps: [] })],
  ["that a build in a public log is in place of", publicInstance.attest({ at: AT, digest: lab.pivotHash })],
  ["of another instance", bundle({}, new LabSigstore({ kind: "private" }))],
  ["timestamped after its certificate expired", bundle({ signedAt: after(660) })],
  [
    "with a statement that is changed",
    put("dsseEnvelope.payload", payloadOf(released({ tag: "v9" })))(JSON.parse(bundle()) as JsonObject),
  ],
  ["with a member twice in the predicate", altered({ payload: doubledTag })],
];

function payloadOf(text: string): string {
  return (JSON.parse(text) as { dsseEnvelope: { payload: string } }).dsseEnvelope.payload;
}

function doubledTag(bytes: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(bytes).toString().replace('"tag":', '"tag":"v9","tag":'));
}

export const RELEASE_ATTACKS: readonly Attack[] = [
  ...SIGNERS.map((row) => refused("signer", ...row)),
  ...SUBJECTS.map((row) => refused("subject", ...row)),
  ...BUNDLES.map((row) => refused("bundle", ...row)),
];

function accepted(name: string, bundles: readonly string[], ...pins: JsonObject[]): Accepted {
  return { name: `release of GitHub: ${name}`, judge: under(bundles, ...pins) };
}

export const RELEASE_ACCEPTED: readonly Accepted[] = [
  accepted("all of it is pinned", [bundle()]),
  accepted("of the older type", [bundle({ predicateType: TYPE })]),
  accepted("of a tenant", [released({ tenant: "acme" })], ofTenant),
  accepted("with a predicate that names more", [predicate((json) => ({ ...json, more: 1 }))]),
  accepted("beside one of another tag", [released({ tag: "v1.2.2" }), bundle()]),
  accepted(
    "and a build of the same binary, each demanded",
    [sigstore.attest({ at: AT, digest: lab.pivotHash }), bundle()],
    build,
    pinned,
  ),
  { ...accepted("of any tag", [released({ tag: "v0" })], untagged), warns: ["policy.scope"] },
  {
    name: "release of GitHub: of a workload",
    forge: { version: "v3" },
    judge: {
      ...under([bundle()]),
      deployments: () => [{ ...labDeployment(lab, "v3"), provenance: [{ ...pinned, of: { workload: LAB_WORKLOAD } }] }],
    },
    warns: ["manifest.decode", "envelope.decode"],
  },
];
