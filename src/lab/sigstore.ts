/**
 * The lab's own Sigstore: a certificate authority for identities, its logs, and its trusted root. It attests builds as
 * a build service does. A test can make one value wrong: all later log entries and signatures are computed correctly
 * from the wrong value.
 */
import {
  Bundle,
  type CertificateAuthority,
  Envelope,
  HashAlgorithm,
  PublicKeyDetails,
  type TransparencyLogInstance,
  TrustedRoot,
  type VerificationMaterial,
} from "@sigstore/protobuf-specs";
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
import { SignatureLog, logId, signedCertificateTimestamp, timestampResponse } from "./sigstore-log.js";

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
const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
const PAYLOAD_TYPE = "application/vnd.in-toto+json";
/** Sigstore's arc of certificate extensions. */
const SIGSTORE_EXTENSIONS = "1.3.6.1.4.1.57264.1";
const SUBJECT_ALTERNATIVE_NAME = "2.5.29.17";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const SCT_LIST = "1.3.6.1.4.1.11129.2.4.2";

const MINUTE = 60_000;
const YEAR = 365 * 24 * 60 * MINUTE;

/** The alterations, listed in the order in which they apply. */
export interface ProvenanceAlterations {
  readonly statement?: Alter<JsonObject>;
  /** Alters the bytes of the statement before they are signed. */
  readonly payload?: Alter<Uint8Array>;
  readonly payloadType?: string;
  readonly extensions?: Alter<readonly ExtensionSpec[]>;
  /** Alters the certificate before the certificate log and the authority sign it. */
  readonly certificate?: Alter<CertificateSpec>;
  /**
   * Alters the certificate after the certificate log has signed it, and before the authority signs. Only for an
   * instance of kind `public`.
   */
  readonly logged?: Alter<CertificateSpec>;
  /** Alters the body of the log's entry, before the log signs it. */
  readonly entry?: Alter<JsonObject>;
  readonly bundle?: Alter<JsonObject>;
  /** Alters the bundle's JSON. */
  readonly text?: Alter<string>;
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

type WholeOptions = Omit<ProvenanceOptions, "release"> & {
  readonly build: LabBuild;
  readonly release: LabRelease | null;
};

const KEYS = ["root", "intermediate", "certificateLog", "signatureLog", "timestamps"] as const;
const PARTS = [...KEYS, "rootCertificate", "intermediateCertificate"] as const;

type Keys = Readonly<Record<(typeof KEYS)[number], KeyPair>>;

/** The private keys (PKCS#8) and the certificates, as base64. */
export type SavedSigstore = Readonly<Record<(typeof PARTS)[number], string>>;

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
  readonly #log: SignatureLog;

  constructor(given: LabSigstoreOptions = {}) {
    const { kind = "public", saved } = typedOptions("options", given, SIGSTORE_OPTIONS);
    this.kind = kind;
    const keyOf = (name: (typeof KEYS)[number]): KeyPair =>
      saved === undefined ? generateKeyPair("prime256v1") : { pkcs8: fromBase64(saved[name])! };
    const keys = Object.fromEntries(KEYS.map((name) => [name, keyOf(name)])) as Keys;
    this.#keys = keys;
    const root = { ...specOf(keys.root, "bootproof-lab"), extensions: authority() };
    this.#intermediate = { ...specOf(keys.intermediate, "bootproof-lab-intermediate"), extensions: authority() };
    this.#authority = {
      ...specOf(keys.timestamps, "bootproof-lab-timestamps"),
      extensions: [keyUsage(true, KEY_USAGE.digitalSignature), extendedKeyUsage("1.3.6.1.5.5.7.3.8")],
      issuer: root.subject,
    };
    this.#log = new SignatureLog("rekor.bootproof.invalid", keys.signatureLog);
    const keysAsText = KEYS.map((name) => [name, toBase64(keys[name].pkcs8)]);
    this.#saved = saved ?? {
      ...(Object.fromEntries(keysAsText) as SavedSigstore),
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
    const own = typedOptions("options", given, PROVENANCE_OPTIONS);
    const release = own.release === undefined ? null : { ...LAB_RELEASE, ...own.release };
    const options = { ...own, build: { ...LAB_BUILD, ...own.build }, release };
    const { at, alter = {}, signedAt = new Date(at.getTime() + 1000) } = options;
    const signer = generateKeyPair("prime256v1");
    const statement = release === null ? statementOf(options) : releaseStatement(release, options);
    const payload = altered(toUtf8(JSON.stringify(altered(statement, alter.statement))), alter.payload);
    const payloadType = alter.payloadType ?? PAYLOAD_TYPE;
    // What DSSE signs (its PAE).
    const head = `DSSEv1 ${toUtf8(payloadType).length} ${payloadType} ${payload.length} `;
    const signature = signDer(signer, "sha256", concatBytes(toUtf8(head), payload));
    const signatures = [{ sig: Buffer.from(signature), keyid: "" }];
    const dsseEnvelope: Envelope = { payload: Buffer.from(payload), payloadType, signatures };
    const leaf = this.#leaf(signer, options);
    const entry = altered(logEntry(dsseEnvelope, leaf), alter.entry);
    const bundle = Bundle.toJSON({
      mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
      verificationMaterial: {
        content: { $case: "certificate", certificate: { rawBytes: Buffer.from(leaf) } },
        ...this.#signedTime(entry, signature, signedAt),
      },
      content: { $case: "dsseEnvelope", dsseEnvelope },
    }) as JsonObject;
    return altered(JSON.stringify(altered(bundle, alter.bundle)), alter.text);
  }

  #signedTime(
    entry: JsonObject,
    signature: Uint8Array,
    at: Date,
  ): Pick<VerificationMaterial, "tlogEntries" | "timestampVerificationData"> {
    if (this.kind === "public")
      return { tlogEntries: [this.#log.add(toUtf8(JSON.stringify(entry)), at)], timestampVerificationData: undefined };
    const signedTimestamp = Buffer.from(timestampResponse(this.#authority, signature, at));
    return { tlogEntries: [], timestampVerificationData: { rfc3161Timestamps: [{ signedTimestamp }] } };
  }

  #leaf(key: KeyPair, { at, build, release, alter = {} }: WholeOptions): Uint8Array {
    const extensions = release === null ? leafExtensions(build) : releaseExtensions(release);
    const life = { notBefore: at, notAfter: new Date(at.getTime() + 10 * MINUTE) };
    const made = { ...specOf(key, null), ...life, extensions: altered(extensions, alter.extensions) };
    const spec = altered(made, alter.certificate);
    if (this.kind === "private") return issueCertificate(spec, this.#intermediate);
    const tbs = tbsCertificate(spec, this.#intermediate.subject);
    const value = signedCertificateTimestamp(this.#keys.certificateLog, this.#keys.intermediate, tbs, spec.notBefore);
    const logged = { ...spec, extensions: [...spec.extensions, { id: SCT_LIST, critical: false, value }] };
    return issueCertificate(altered(logged, alter.logged), this.#intermediate);
  }

  #trustedRoot(rootSpec: CertificateSpec): JsonObject {
    const isPublic = this.kind === "public";
    const root = fromBase64(this.#saved.rootCertificate)!;
    const timestamps = (): CertificateAuthority =>
      authorityOf("timestamp", [issueCertificate(this.#authority, rootSpec), root]);
    return TrustedRoot.toJSON({
      mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
      tlogs: isPublic ? [logOf("rekor", this.#keys.signatureLog)] : [],
      certificateAuthorities: [authorityOf("fulcio", [fromBase64(this.#saved.intermediateCertificate)!, root])],
      ctlogs: isPublic ? [logOf("ctfe", this.#keys.certificateLog)] : [],
      timestampAuthorities: isPublic ? [] : [timestamps()],
    }) as JsonObject;
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

/** Returns the extensions in the order of a real certificate. */
function leafExtensions(build: LabBuild): ExtensionSpec[] {
  const { issuer, repository, ref, commit, trigger } = build;
  const config = `${repository}/${build.workflow}@${ref}`;
  const signer = build.signer ?? config;
  const name = repository.replace("https://github.com/", "");
  const texts: Readonly<Record<number, string>> = {
    ...{ 1: issuer, 2: trigger, 3: commit, 5: name, 6: ref, 8: issuer, 9: signer, 10: commit, 11: build.runner },
    ...{ 12: repository, 13: commit, 14: ref, 15: build.repositoryId },
    ...{ 16: repository.slice(0, repository.lastIndexOf("/")), 18: config, 19: commit, 20: trigger },
    21: `${repository}/actions/runs/1/attempts/1`,
  };
  const own = Object.entries(texts).map(([number, text]) => sigstoreExtension(Number(number), text));
  return [...signerExtensions(build.identity ?? signer), ...own];
}

function signerExtensions(identity: string): ExtensionSpec[] {
  const usages = [keyUsage(true, KEY_USAGE.digitalSignature), extendedKeyUsage("1.3.6.1.5.5.7.3.3")];
  return [...usages, uriName(identity)];
}

function statementOf({ digest, build, predicateType = SLSA_PROVENANCE }: WholeOptions): JsonObject {
  const { repository, ref, workflow, commit } = build;
  return {
    _type: STATEMENT_TYPE,
    subject: [{ name: "oracle", digest: { sha256: toHex(digest) } }],
    predicateType,
    predicate: {
      buildDefinition: {
        buildType: "https://actions.github.io/buildtypes/workflow/v1",
        externalParameters: { workflow: { ref, repository, path: workflow } },
        resolvedDependencies: [{ uri: `git+${repository}@${ref}`, digest: { gitCommit: commit } }],
      },
      runDetails: { builder: { id: `${repository}/${workflow}@${ref}` } },
    },
  };
}

/** Returns the extensions of GitHub's certificate for releases, which names no identity provider. */
function releaseExtensions({ tenant = "dotcom" }: LabRelease): ExtensionSpec[] {
  return signerExtensions(`https://${tenant}.releases.github.com`);
}

/** Returns GitHub's statement: the first subject is the tag's commit, and the others are the files. */
function releaseStatement(release: LabRelease, { digest, predicateType = RELEASE }: WholeOptions): JsonObject {
  const { repository, repositoryId, tag } = release;
  const purl = `pkg:github/${repository}@${tag}`;
  return {
    _type: STATEMENT_TYPE,
    subject: [
      { uri: purl, digest: { sha1: LAB_BUILD.commit } },
      { name: "oracle", digest: { sha256: toHex(digest) } },
    ],
    predicateType,
    predicate: { databaseId: "1", ownerId: "2", packageId: repositoryId, purl, repository, repositoryId, tag },
  };
}

/** Returns the body of an entry of the kind dsse, version 0.0.1, with its members in canonical order. */
function logEntry(envelope: Envelope, leaf: Uint8Array): JsonObject {
  const hashOf = (data: Uint8Array): JsonObject => ({ algorithm: "sha256", value: toHex(sha256(data)) });
  const verifier = toBase64(toUtf8(certificatePem(leaf)));
  return {
    apiVersion: "0.0.1",
    kind: "dsse",
    spec: {
      envelopeHash: hashOf(toUtf8(JSON.stringify(Envelope.toJSON(envelope)))),
      payloadHash: hashOf(envelope.payload),
      signatures: [{ signature: toBase64(envelope.signatures[0]!.sig), verifier }],
    },
  };
}

/** The validity of certificates and keys starts here and lasts for decades, so that tests need no clock. */
const START = new Date("2020-01-01T00:00:00Z");

function logOf(service: string, key: KeyPair): TransparencyLogInstance {
  return {
    baseUrl: `https://${service}.bootproof.invalid`,
    hashAlgorithm: HashAlgorithm.SHA2_256,
    publicKey: {
      rawBytes: Buffer.from(subjectPublicKeyInfo(key)),
      keyDetails: PublicKeyDetails.PKIX_ECDSA_P256_SHA_256,
      validFor: { start: START },
    },
    logId: { keyId: Buffer.from(logId(key)) },
    checkpointKeyId: undefined,
    operator: "",
  };
}

function authorityOf(service: string, chain: readonly Uint8Array[]): CertificateAuthority {
  return {
    subject: { organization: "bootproof", commonName: `bootproof-lab-${service}` },
    uri: `https://${service}.bootproof.invalid`,
    certChain: { certificates: chain.map((der) => ({ rawBytes: Buffer.from(der) })) },
    validFor: { start: START },
    operator: "",
  };
}

function specOf(key: KeyPair, commonName: string | null): Omit<CertificateSpec, "extensions"> {
  return {
    // A leaf has no subject, since its identity is the alternative name.
    ...certificate(key, distinguishedName(commonName === null ? {} : { O: "bootproof", CN: commonName }), "sha256"),
    notBefore: START,
    notAfter: new Date(START.getTime() + 29 * YEAR),
  };
}

function extendedKeyUsage(purpose: string): ExtensionSpec {
  return { id: EXTENDED_KEY_USAGE, critical: false, value: derOf(sequence(oid(purpose))) };
}
