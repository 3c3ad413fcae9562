/**
 * The lab's own Sigstore: a certificate authority for identities, its logs, and its trusted root. It attests builds as
 * a build service does. A test can make one value wrong: all later log entries and signatures are computed correctly
 * from the wrong value.
 */
import { Bundle, TrustedRoot } from "@sigstore/protobuf-specs";
import { Primitive, Utf8String } from "asn1js";
import { byteCopy, date, plain, typedOptions } from "../decode/options.js";
import { type MembersOf, oneOf, optional, text } from "../decode/shapes.js";
import { concatBytes, fromBase64, toBase64, toHex, toUtf8 } from "../bytes.js";
import { otherMembers } from "../decode/input.js";
import { type JsonObject, copyJson } from "../decode/json.js";
import { certificatePem } from "../verify/trust-anchor.js";
import { derOf, oid, sequence } from "./asn1.js";
import { type Alter, altered } from "./enclave.js";
import { type KeyPair, generateKeyPair, signDer, subjectPublicKeyInfo } from "./keys.js";
import {
  type CertificateSpec,
  type ExtensionSpec,
  KEY_USAGE,
  authority,
  certificate,
  distinguishedName,
  issueCertificate,
  keyUsage,
  tbsCertificate,
} from "./pki.js";
import { sha256 } from "./qos.js";
import { logEntry, logId, signedCertificateTimestamp, timestampResponse } from "./sigstore-log.js";

/** A run of a build, as the identity provider describes it. */
export interface LabBuild {
  /** The issuer of the identity (extension .8). */
  readonly issuer: string;
  /** The URL of the repository (extension .12). */
  readonly repository: string;
  /** The id of the repository (extension .15). */
  readonly repositoryId: string;
  /** Path of the workflow in the repository. With `repository` and `ref` it makes extension .18. */
  readonly workflow: string;
  /** The Git ref (extension .14). */
  readonly ref: string;
  /** The commit in 40 hex digits (extension .13). */
  readonly commit: string;
  /** The runner, `github-hosted` or `self-hosted` (extension .11). */
  readonly runner: string;
  /** The trigger, such as `push` (extension .20). */
  readonly trigger: string;
  /** URL of the workflow that signs (extension .9). Default: extension .18, since the build's own workflow signs. */
  readonly signer?: string;
  /** The certificate's subject alternative name. Default: extension .9. */
  readonly identity?: string;
}

/** A release of a repository, built by its own workflow on a hosted runner. */
export const LAB_BUILD: LabBuild = {
  issuer: "https://token.actions.githubusercontent.com",
  repository: "https://github.com/acme/oracle",
  repositoryId: "123456789",
  workflow: ".github/workflows/release.yml",
  ref: "refs/tags/v1.2.3",
  commit: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  runner: "github-hosted",
  trigger: "push",
};

/** An immutable release, as GitHub states it. */
export interface LabRelease {
  /** The repository as `owner/name`. */
  readonly repository: string;
  readonly repositoryId: string;
  readonly tag: string;
  /** The subdomain of an enterprise. Default: that of github.com. */
  readonly tenant?: string;
}

/** A release of the repository of {@link LAB_BUILD}. */
const LAB_RELEASE: LabRelease = { repository: "acme/oracle", repositoryId: "123456789", tag: "v1.2.3" };

const SLSA_PROVENANCE = "https://slsa.dev/provenance/v1";
const RELEASE = "https://in-toto.io/attestation/release/v0.2";
/** Sigstore's arc of certificate extensions. */
const SIGSTORE_EXTENSIONS = "1.3.6.1.4.1.57264.1";
const SUBJECT_ALTERNATIVE_NAME = "2.5.29.17";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const SCT_LIST = "1.3.6.1.4.1.11129.2.4.2";

const MINUTE = 60_000;
/** The validity of certificates and keys starts here and lasts for decades, so that tests need no clock. */
const [START, END] = [new Date("2020-01-01T00:00:00Z"), new Date("2049-01-01T00:00:00Z")];

/** The alterations, listed in the order in which they apply. What `attest` returns is JSON, which a caller can edit. */
export interface ProvenanceAlterations {
  readonly statement?: Alter<JsonObject>;
  /** Alters the bytes of the statement before they are signed. */
  readonly payload?: Alter<Uint8Array>;
  readonly payloadType?: string;
  /** Alters the extensions before the certificate log and the authority sign them. */
  readonly extensions?: Alter<readonly ExtensionSpec[]>;
  /** Alters the extensions after the certificate log has signed them. Only for an instance of kind `public`. */
  readonly logged?: Alter<readonly ExtensionSpec[]>;
  /** Alters the body of the log's entry, before the log signs it. */
  readonly entry?: Alter<JsonObject>;
}

export interface ProvenanceOptions {
  /** The time at which the certificate is issued. It is valid for ten minutes. */
  readonly at: Date;
  /** The SHA-256 of the binary, which is the statement's one subject. */
  readonly digest: Uint8Array;
  /** The build. The default of each member is that of {@link LAB_BUILD}. */
  readonly build?: Partial<LabBuild>;
  /**
   * States a release in place of a build. The default of each member is that of {@link LAB_RELEASE}. Only for an
   * instance of kind `private`, since no log has releases.
   */
  readonly release?: Partial<LabRelease>;
  /** The type of the predicate. Default: `https://slsa.dev/provenance/v1`, and for a release its type v0.2. */
  readonly predicateType?: string;
  /** The time at which the log or the timestamp authority signs. Default: a second after `at`. */
  readonly signedAt?: Date;
  readonly alter?: ProvenanceAlterations;
}

const PROVENANCE_OPTIONS: MembersOf<ProvenanceOptions> = {
  at: date,
  digest: byteCopy,
  build: optional(plain),
  release: optional(plain),
  predicateType: optional(text),
  signedAt: optional(date),
  alter: optional(plain),
};

const KEYS = ["root", "intermediate", "certificateLog", "signatureLog", "timestamps"] as const;
type Keys = Readonly<Record<(typeof KEYS)[number], KeyPair>>;

/** The private keys (PKCS#8) and the certificates, as base64. */
export type SavedSigstore = Readonly<Record<keyof Keys | "rootCertificate" | "intermediateCertificate", string>>;

interface LabSigstoreOptions {
  /**
   * `public` has both logs. `private` has a timestamp authority instead, as instances for private repositories do.
   * Default: `public`.
   */
  readonly kind?: "public" | "private";
  /** Keys and certificates of an earlier instance. */
  readonly saved?: SavedSigstore;
}

const SIGSTORE_OPTIONS: MembersOf<LabSigstoreOptions> = {
  kind: optional(oneOf("public", "private")),
  saved: optional(plain),
};

/**
 * One instance. `@sigstore/verify` accepts its bundles with its trusted root. Reuse an instance: making its keys is
 * slow.
 * @example
 * ```ts
 * const sigstore = new LabSigstore();
 * const bundle = sigstore.attest({ at: new Date(), digest: new Forge().pivotHash });
 * const trustedRoot = JSON.stringify(sigstore.trustedRoot);
 * ```
 */
export class LabSigstore {
  readonly kind: "public" | "private";
  /** The root in the form of `trusted_root.json`. */
  readonly trustedRoot: JsonObject;
  readonly #saved: SavedSigstore;
  readonly #keys: Keys;
  readonly #intermediate: CertificateSpec;
  readonly #authority: CertificateSpec;

  constructor(given: LabSigstoreOptions = {}) {
    const { kind = "public", saved } = typedOptions("options", given, SIGSTORE_OPTIONS);
    this.kind = kind;
    const pairs = KEYS.map((name) => [
      name,
      saved === undefined ? generateKeyPair("prime256v1") : { pkcs8: fromBase64(saved[name])! },
    ]);
    const keys = Object.fromEntries(pairs) as Keys;
    this.#keys = keys;
    const root = { ...specOf(keys.root, "bootproof-lab"), extensions: authority() };
    this.#intermediate = { ...specOf(keys.intermediate, "bootproof-lab-intermediate"), extensions: authority() };
    this.#authority = {
      ...specOf(keys.timestamps, "bootproof-lab-timestamps"),
      extensions: [keyUsage(true, KEY_USAGE.digitalSignature), extendedKeyUsage("1.3.6.1.5.5.7.3.8")],
      issuer: root.subject,
    };
    this.#saved = saved ?? {
      ...(Object.fromEntries(KEYS.map((name) => [name, toBase64(keys[name].pkcs8)])) as SavedSigstore),
      rootCertificate: toBase64(issueCertificate(root)),
      intermediateCertificate: toBase64(issueCertificate(this.#intermediate, root)),
    };
    this.trustedRoot = this.#trustedRoot(root);
  }

  save(): SavedSigstore {
    return { ...this.#saved };
  }

  /** Returns a bundle as JSON text. */
  attest(given: ProvenanceOptions): string {
    const options = typedOptions("options", given, PROVENANCE_OPTIONS);
    const { at, alter = {}, signedAt = new Date(at.getTime() + 1000) } = options;
    const stated = options.release === undefined ? buildOf(options) : releaseOf(options);
    const signer = generateKeyPair("prime256v1");
    const payload = altered(
      toUtf8(JSON.stringify(altered(statementOf(stated, options), alter.statement))),
      alter.payload,
    );
    const payloadType = alter.payloadType ?? "application/vnd.in-toto+json";
    // What DSSE signs (its PAE).
    const head = `DSSEv1 ${toUtf8(payloadType).length} ${payloadType} ${payload.length} `;
    const signature = signDer(signer, "sha256", concatBytes(toUtf8(head), payload));
    const dsseEnvelope = { payload: toBase64(payload), payloadType, signatures: [{ sig: toBase64(signature) }] };
    const leaf = this.#leaf(signer, at, extensionsOf(stated), alter);
    const signedTime = (): JsonObject => {
      if (this.kind === "private") {
        const signedTimestamp = toBase64(timestampResponse(this.#authority, signature, signedAt));
        return { timestampVerificationData: { rfc3161Timestamps: [{ signedTimestamp }] } };
      }
      const body = altered(entryBody(dsseEnvelope, payload, leaf), alter.entry);
      return {
        tlogEntries: [
          logEntry("rekor.bootproof.invalid", this.#keys.signatureLog, toUtf8(JSON.stringify(body)), signedAt),
        ],
      };
    };
    const bundle = Bundle.fromJSON({
      mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
      verificationMaterial: { certificate: { rawBytes: toBase64(leaf) }, ...signedTime() },
      dsseEnvelope,
    });
    return JSON.stringify(Bundle.toJSON(bundle));
  }

  #leaf(key: KeyPair, at: Date, own: readonly ExtensionSpec[], alter: ProvenanceAlterations): Uint8Array {
    const life = { notBefore: at, notAfter: new Date(at.getTime() + 10 * MINUTE) };
    const spec = { ...specOf(key, null), ...life, extensions: altered(own, alter.extensions) };
    if (this.kind === "private") return issueCertificate(spec, this.#intermediate);
    const tbs = tbsCertificate(spec, this.#intermediate.subject);
    const value = signedCertificateTimestamp(this.#keys.certificateLog, this.#keys.intermediate, tbs, at);
    const extensions = [...spec.extensions, { id: SCT_LIST, critical: false, value }];
    return issueCertificate({ ...spec, extensions: altered(extensions, alter.logged) }, this.#intermediate);
  }

  #trustedRoot(rootSpec: CertificateSpec): JsonObject {
    const { rootCertificate, intermediateCertificate } = this.#saved;
    const timestamps = (): string => toBase64(issueCertificate(this.#authority, rootSpec));
    const signedTimes =
      this.kind === "public"
        ? { tlogs: [logOf("rekor", this.#keys.signatureLog)], ctlogs: [logOf("ctfe", this.#keys.certificateLog)] }
        : { timestampAuthorities: [authorityOf("timestamp", timestamps(), rootCertificate)] };
    const root = TrustedRoot.fromJSON({
      mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
      certificateAuthorities: [authorityOf("fulcio", intermediateCertificate, rootCertificate)],
      ...signedTimes,
    });
    return TrustedRoot.toJSON(root) as JsonObject;
  }
}

/** Returns an entry of the pin `provenance` that pins all of a build. `trustedRoot` is `{ file }` or `{ json }`. */
export function labProvenancePin(trustedRoot: JsonObject, build: Partial<LabBuild> = {}): JsonObject {
  const pinned = otherMembers({ ...LAB_BUILD, ...(copyJson(build) as Partial<LabBuild>) }, "identity");
  return { ...pinned, predicateTypes: [SLSA_PROVENANCE], trustedRoot: { ...trustedRoot } };
}

/** Returns an entry of the pin `provenance` that pins a release. `trustedRoot` is `{ file }` or `{ json }`. */
export function labReleasePin(trustedRoot: JsonObject, release: Partial<LabRelease> = {}): JsonObject {
  const githubRelease = { ...LAB_RELEASE, ...(copyJson(release) as Partial<LabRelease>) };
  return { githubRelease, trustedRoot: { ...trustedRoot } };
}

/** Makes an extension of Sigstore's arc. From number 8 on, its value is a UTF8String in DER; before that it is text. */
export function sigstoreExtension(number: number, text: string): ExtensionSpec {
  const value = number < 8 ? toUtf8(text) : derOf(new Utf8String({ value: text }));
  return { id: `${SIGSTORE_EXTENSIONS}.${number}`, critical: false, value };
}

export function uriName(uri: string): ExtensionSpec {
  // uniformResourceIdentifier of GeneralName (RFC 5280 section 4.2.1.6).
  const name = new Primitive({ idBlock: { tagClass: 3, tagNumber: 6 }, valueHex: toUtf8(uri) });
  return { id: SUBJECT_ALTERNATIVE_NAME, critical: true, value: derOf(sequence(name)) };
}

/** What a bundle states: the type of the predicate by default, and what the certificate says of the signer. */
interface Stated {
  readonly type: string;
  readonly predicate: JsonObject;
  /** The subjects before the binary. */
  readonly subjects?: JsonObject[];
  readonly identity: string;
  /** Texts of Sigstore's extensions by number. */
  readonly texts?: Readonly<Record<number, string>>;
}

function buildOf(given: ProvenanceOptions): Stated {
  const build = { ...LAB_BUILD, ...given.build };
  const { issuer, repository, ref, commit, trigger, workflow } = build;
  const config = `${repository}/${workflow}@${ref}`;
  const signer = build.signer ?? config;
  const name = repository.replace("https://github.com/", "");
  return {
    type: SLSA_PROVENANCE,
    predicate: {
      buildDefinition: {
        buildType: "https://actions.github.io/buildtypes/workflow/v1",
        externalParameters: { workflow: { ref, repository, path: workflow } },
        resolvedDependencies: [{ uri: `git+${repository}@${ref}`, digest: { gitCommit: commit } }],
      },
      runDetails: { builder: { id: config } },
    },
    identity: build.identity ?? signer,
    texts: {
      ...{ 1: issuer, 2: trigger, 3: commit, 5: name, 6: ref, 8: issuer, 9: signer, 10: commit, 11: build.runner },
      ...{ 12: repository, 13: commit, 14: ref, 15: build.repositoryId },
      ...{ 16: repository.slice(0, repository.lastIndexOf("/")), 18: config, 19: commit, 20: trigger },
      21: `${repository}/actions/runs/1/attempts/1`,
    },
  };
}

/** As GitHub states it: the first subject is the tag's commit. Its certificate names no identity provider. */
function releaseOf(given: ProvenanceOptions): Stated {
  const { repository, repositoryId, tag, tenant = "dotcom" } = { ...LAB_RELEASE, ...given.release };
  const purl = `pkg:github/${repository}@${tag}`;
  return {
    type: RELEASE,
    predicate: { databaseId: "1", ownerId: "2", packageId: repositoryId, purl, repository, repositoryId, tag },
    subjects: [{ uri: purl, digest: { sha1: LAB_BUILD.commit } }],
    identity: `https://${tenant}.releases.github.com`,
  };
}

function statementOf({ type, predicate, subjects = [] }: Stated, given: ProvenanceOptions): JsonObject {
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: [...subjects, { name: "oracle", digest: { sha256: toHex(given.digest) } }],
    predicateType: given.predicateType ?? type,
    predicate,
  };
}

/** Returns the extensions in the order of a real certificate. */
function extensionsOf({ identity, texts = {} }: Stated): ExtensionSpec[] {
  const usages = [keyUsage(true, KEY_USAGE.digitalSignature), extendedKeyUsage("1.3.6.1.5.5.7.3.3")];
  const own = Object.entries(texts).map(([number, text]) => sigstoreExtension(Number(number), text));
  return [...usages, uriName(identity), ...own];
}

/** Returns the body of an entry of the kind dsse, version 0.0.1, with its members in canonical order. */
function entryBody(
  envelope: { readonly signatures: readonly { readonly sig: string }[] },
  payload: Uint8Array,
  leaf: Uint8Array,
): JsonObject {
  const hashOf = (data: Uint8Array): JsonObject => ({ algorithm: "sha256", value: toHex(sha256(data)) });
  const { sig: signature } = envelope.signatures[0]!;
  const verifier = toBase64(toUtf8(certificatePem(leaf)));
  return {
    apiVersion: "0.0.1",
    kind: "dsse",
    spec: {
      envelopeHash: hashOf(toUtf8(JSON.stringify(envelope))),
      payloadHash: hashOf(payload),
      signatures: [{ signature, verifier }],
    },
  };
}

function logOf(service: string, key: KeyPair): JsonObject {
  return {
    baseUrl: `https://${service}.bootproof.invalid`,
    hashAlgorithm: "SHA2_256",
    publicKey: {
      rawBytes: toBase64(subjectPublicKeyInfo(key)),
      keyDetails: "PKIX_ECDSA_P256_SHA_256",
      validFor: { start: START.toISOString() },
    },
    logId: { keyId: toBase64(logId(key)) },
  };
}

function authorityOf(service: string, ...chain: string[]): JsonObject {
  return {
    subject: { organization: "bootproof", commonName: `bootproof-lab-${service}` },
    uri: `https://${service}.bootproof.invalid`,
    certChain: { certificates: chain.map((rawBytes) => ({ rawBytes })) },
    validFor: { start: START.toISOString() },
  };
}

function specOf(key: KeyPair, commonName: string | null): Omit<CertificateSpec, "extensions"> {
  // A leaf has no subject, since its identity is the alternative name.
  const subject = distinguishedName(commonName === null ? {} : { O: "bootproof", CN: commonName });
  return { ...certificate(key, subject, "sha256"), notBefore: START, notAfter: END };
}

function extendedKeyUsage(purpose: string): ExtensionSpec {
  return { id: EXTENDED_KEY_USAGE, critical: false, value: derOf(sequence(oid(purpose))) };
}
