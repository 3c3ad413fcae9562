/**
 * What a change means, by its place in the trees that `inspect` makes. A place has the id of its change, a rule, or
 * null if it is not compared.
 */
import { fromBase64, fromHex, isAllZero, lastOf, toHex } from "../bytes.js";
import type { BuildIdentity } from "../decode/build-identity.js";
import type { GithubRelease } from "../decode/github-release.js";
import { isJsonObject } from "../decode/json.js";
import type { AttestationDocument } from "../decode/attestation-document.js";
import type { BootProof } from "../decode/boot-proof.js";
import { DIGEST_PREFIX } from "../decode/manifest/image-digest.js";
import type {
  EnclaveMeasurements,
  Namespace,
  Pivot,
  PivotManifest,
  WorkloadManifest,
} from "../decode/manifest/index.js";
import { type ChangeId, type Turn, found } from "./changes.js";
import {
  type Compare,
  type Rule,
  type RuleOf,
  SPELLED,
  type Sides,
  compareTrees,
  inside,
  lowerOrNot,
  sidesOf,
} from "./compare.js";
import { type Content, type ContentObject, contentJson, contentText, memberOf, partsOf } from "./content.js";

/** Members that diff adds to the trees, and that are compared by rules of their own. */
export const COMMITMENT = "(commitment)";
export const MANIFEST_HASH = "(manifest hash)";
export const MATERIAL = "(material)";
/** The workflow of a build without its ref, which changes with each release. */
export const WORKFLOW = "(workflow)";

/** How the bytes of a part are written: the form, and the bytes in hex or the JSON with numbers as written. */
interface Spelled extends ContentObject {
  readonly form: string;
  readonly as: Content;
}

/** Adds changes of spelling, if nothing else explains why bytes differ. Another form is always a change. */
const spelling: NonNullable<Rule["then"]> = (changes, sides, at) => {
  const [one, other] = sidesOf(sides, SPELLED) as readonly [Spelled | undefined, Spelled | undefined];
  if (one === undefined || other === undefined) return changes;
  if (one.form !== other.form)
    return [...changes, found("encoding", { place: at.place, before: one.form, after: other.form })];
  if (changes.length > 0) return changes;
  return compareTrees([one.as, other.as], at, { inner: "encoding", spell: bytesText, isRaw: true });
};

/** Returns one text for hex and base64 of the same bytes. */
function bytesText(content: Content): string {
  const bytes = typeof content === "string" ? (fromHex(content) ?? fromBase64(content)) : null;
  return bytes === null ? contentJson(content) : toHex(bytes);
}

/** Rules of all members. A new member without a rule is a compile error. Names in parentheses are diff's own. */
export type Total<T> = { readonly [K in keyof T]-?: RuleOf } & { readonly [mark: `(${string})`]: RuleOf };
type OfDocument = Omit<AttestationDocument, "timestamp" | "certificate" | "cabundle"> &
  Record<"time" | "certificates" | "protectedHeader" | "unprotectedHeader" | "signature", unknown>;

function textIn(content: Content | undefined, name: string): string {
  const member = memberOf(content, name);
  return member === undefined ? "" : contentText(member);
}

/** Returns JSON with members in the order of the type, which reads better than the sorted one. */
function asJson(value: Content): string {
  return JSON.stringify(value);
}

/** A list whose items have a key, which is also the name of the changed entry. */
function keyedBy(key: (item: Content) => string, each: Rule): Rule {
  return { key, each: { ...each, entry: (name) => name } };
}

const nameIn = (side: Content | undefined): string => textIn(side, "name");
const publicKeyOf = (item: Content): string => textIn(item, "pubKey");
const memberName = (item: Content): string => [textIn(item, "alias"), publicKeyOf(item)].join(" ").trim();

function memberSet(name: "manifest-set" | "share-set" | "patch-set"): Rule {
  const members = { alias: "member.alias" } as const;
  return {
    members: {
      threshold: `${name}.threshold`,
      members: keyedBy(publicKeyOf, { only: `${name}.member`, show: memberName, members }),
    },
  };
}

/** Only manifests before v2 have the set. */
const PATCH_SET: Rule = {
  members: {
    ...memberSet("patch-set").members,
    threshold: {
      what: "patch-set.threshold",
      turn: (before, after) => (after === undefined ? "removed" : lowerOrNot(before, after)),
    },
  },
};

/** Nonces are ordered only within one namespace. */
function namespaceRule([before, after]: Sides): Rule {
  const isSame = nameIn(before) === nameIn(after);
  const nonce: RuleOf = isSame ? "manifest.nonce" : { what: "manifest.nonce", turn: () => "changed" };
  return { members: { name: "namespace", nonce, quorumKey: "quorum-key" } satisfies Total<Namespace> };
}

const PIVOT: Rule = {
  members: {
    hash: "application",
    restart: "restart-policy",
    args: "arguments",
    bridgeConfig: { what: "bridge", show: asJson },
    debugMode: { what: "debug.application", absent: false },
    env: {
      each: { what: "environment", show: (value, name) => `${name}=${contentText(value)}`, entry: (name) => name },
    },
  } satisfies Total<Pivot>,
};

const WORKLOADS = keyedBy(nameIn, {
  only: "workload",
  even: ["restart", "mounts"],
  show: (item) => `${nameIn(item)} ${DIGEST_PREFIX}${textIn(item, "imageDigest")}`,
  members: {
    imageDigest: { what: "workload.image", at: "image", show: (digest) => DIGEST_PREFIX + contentText(digest) },
    restart: "restart-policy",
    mounts: { what: "workload.mounts", show: asJson },
  },
});

const MANIFEST: Rule = {
  members: {
    version: "manifest.version",
    manifestSet: memberSet("manifest-set"),
    shareSet: memberSet("share-set"),
    patchSet: PATCH_SET,
    namespace: namespaceRule,
    enclave: {
      members: {
        pcr0: "image.pcr0",
        pcr1: "image.pcr1",
        pcr2: "image.pcr2",
        pcr3: "role",
        awsRootCertificate: "aws-root",
        qosCommit: "image.qos-commit",
      } satisfies Total<EnclaveMeasurements>,
    },
    pivot: PIVOT,
    workloads: WORKLOADS,
    volumes: "volumes",
    clientTimeoutMs: "client-timeout",
    poolSize: "pool-size",
    dns: { members: { resolvers: "dns" } },
  } satisfies Total<PivotManifest> & Total<WorkloadManifest>,
  then: spelling,
};

const APPROVALS = keyedBy(publicKeyOf, {
  only: "approval",
  show: memberName,
  members: { signature: "approval", alias: "member.alias" },
});

const ENVELOPE: Rule = {
  members: { manifest: MANIFEST, manifestSetApprovals: APPROVALS, shareSetApprovals: APPROVALS },
  then: spelling,
};

const isZeros = (pcr: Content | undefined): boolean => typeof pcr === "string" && isAllZero(fromHex(pcr)!);

/** Whether PCR0, 1 or 2 is zeros. Other changes cover the values themselves. */
const debugMode: NonNullable<Rule["then"]> = (changes, sides, at) => {
  const [before, after] = sides.map((pcrs) => ["0", "1", "2"].some((index) => isZeros(memberOf(pcrs, index))));
  const show = (isOn: Content): string => (isOn === true ? "on (zeros in PCR0 to 2)" : "off");
  return [...compareTrees([before, after], at, { what: "debug.enclave", show }), ...changes];
};

const named = (what: ChangeId): Rule => ({ what, entry: (name) => `PCR${name}` });
const REGISTERS = Object.fromEntries([16, 17, 18].map((index) => [index, named("commitment.register")]));

const PCRS: Rule = {
  members: {
    "0": "image.pcr0",
    "1": "image.pcr1",
    "2": "image.pcr2",
    "3": "role",
    "4": "instance",
    "8": "signing-certificate",
    ...REGISTERS,
  },
  each: named("pcr"),
  then: debugMode,
};

const OF_CERTIFICATES = ["subject", "serialNumber", "notBefore", "notAfter", "sha256"];

/** Returns a text about a certificate as a tree. It is unique, because it contains the digest. */
export function certificateText(certificate: Content): string {
  const [subject, number, from, to, digest] = OF_CERTIFICATES.map((name) => textIn(certificate, name));
  return `${subject!}, serial number ${number!}, ${from!} to ${to!}, SHA-256 ${digest!}`;
}

/** Compares the chain from the root to the leaf. Of intermediate certificates only additions and removals count. */
const compareChain: Compare = (sides, at) => {
  const [before, after] = sides.map((side) => [...partsOf(side ?? []).values()].map(certificateText));
  const [one, other] = [before!.slice(1, -1), after!.slice(1, -1)];
  const without = (list: string[], others: string[]): string | undefined =>
    list.filter((each) => !others.includes(each)).join("\n") || undefined;
  const bundle = inside(at, "cabundle");
  const changed = compareTrees([without(one, other), without(other, one)], bundle, "certificate.intermediate");
  const isReordered = changed.length === 0 && one.join() !== other.join();
  return [
    ...compareTrees([lastOf(before!), lastOf(after!)], inside(at, "certificate"), "certificate.leaf"),
    ...compareTrees([before![0], after![0]], inside(bundle, 0), "certificate.root"),
    ...(isReordered ? at.reporting.keep("order", [one, other], bundle.place) : changed),
  ];
};

const DOCUMENT: Rule = {
  members: {
    [COMMITMENT]: { what: "commitment", at: "pcrs", turn: (_, kind) => (kind === "none" ? "changed" : (kind as Turn)) },
    moduleId: { what: "document.module-id", at: "module_id" },
    digest: {},
    time: { what: "document.time", at: "timestamp" },
    pcrs: PCRS,
    publicKey: { what: "ephemeral-key", at: "public_key" },
    userData: { what: "document.user-data", at: "user_data" },
    nonce: "document.nonce",
    certificates: { at: "", instead: compareChain },
    protectedHeader: { at: "(COSE).protected" },
    unprotectedHeader: { at: "(COSE).unprotected" },
    signature: { what: "document.signature", at: "(COSE).signature" },
  } satisfies Total<OfDocument>,
  then: spelling,
};

/** A part that is compared if both inputs have it. */
function shared(rule: Rule): RuleOf {
  return ([before, after]) => (before === undefined || after === undefined ? null : rule);
}

/**
 * Marks whether a changed manifest hash follows from a changed manifest. If the hash changed alone, the evidence is
 * inconsistent.
 */
const explained: NonNullable<Rule["then"]> = (changes, sides, at) => {
  const [before, after] = sidesOf(sides, MANIFEST_HASH);
  const turn: Turn = before === after ? "alone" : "follows";
  const isKnown = before !== undefined && after !== undefined;
  const marked = changes.map((one) => (isKnown && one.what === "document.user-data" ? { ...one, turn } : one));
  return spelling(marked, sides, at);
};

const BOOT_PROOF: Rule = {
  members: {
    [MANIFEST_HASH]: null,
    "(form)": null,
    ephemeralPublicKey: { what: "ephemeral-key", at: "ephemeralPublicKeyHex" },
    labels: { at: "", each: { what: "labels", entry: (name) => name } },
    createdAt: "created-at",
    declaredManifestVersion: { what: "manifest.declared-version", at: "qosManifestVersion" },
    attestationDocument: shared(DOCUMENT),
    manifest: shared(MANIFEST),
    manifestEnvelope: shared(ENVELOPE),
  } satisfies Total<Omit<BootProof, "form" | "provisioningState">>,
  then: explained,
};

/** Texts that are hex of any case. */
function anyCase(what: ChangeId): Rule {
  return { what, show: (value) => contentText(value).toLowerCase() };
}

const RELEASE: Rule = {
  members: { version: "release.version", [SPELLED]: null },
  each: {
    only: "release.application",
    // Changes inside do not have the name of the application, so that equal changes of several are merged.
    entry: (name, isWhole) => (isWhole ? name : ""),
    members: {
      PCR3: anyCase("role"),
      PCR0: anyCase("image.pcr0"),
      PCR1: anyCase("image.pcr1"),
      PCR2: anyCase("image.pcr2"),
      appBinaryDigest: anyCase("application"),
    },
  },
  then: spelling,
};

const TAG = "refs/tags/";

/** Classifies the change of a ref. A tag names one release, but a branch moves. */
function refTurn(before: Content = "", after: Content = ""): Turn {
  return contentText(before).startsWith(TAG) && !contentText(after).startsWith(TAG) ? "lower" : "changed";
}

const IDENTITY: Rule = {
  at: "certificate",
  members: {
    issuer: "provenance.issuer",
    repository: "provenance.repository",
    repositoryId: "provenance.repository",
    runner: "provenance.runner",
    ref: { what: "provenance.ref", turn: refTurn },
    commit: "provenance.commit",
    trigger: "provenance.trigger",
    [WORKFLOW]: { what: "provenance.workflow", at: "buildConfig" },
    buildConfig: null,
    signer: "provenance.signer",
    san: "provenance.signer",
  } satisfies Total<BuildIdentity>,
};

const OF_RELEASES = {
  repository: "provenance.repository",
  repositoryId: "provenance.repository",
  tag: "provenance.ref",
} as const satisfies Total<GithubRelease>;

/** Members of the tree that are compared as they are written, as material. */
const SHOWN_MATERIAL = ["certificate", "certificateChain", "signatures", "tlogEntries", "timestampVerificationData"];

/** The members of a release of GitHub are also in the predicate, where they are not compared again. */
function provenanceRule(sides: Sides): Rule {
  const releases = sidesOf(sides, "githubRelease");
  const repeated = Object.keys(OF_RELEASES).filter((name) => releases.every((one) => textIn(one, name) !== ""));
  return {
    members: {
      ...notCompared(SHOWN_MATERIAL),
      [MATERIAL]: { what: "provenance.material", at: "verificationMaterial" },
      identity: IDENTITY,
      githubRelease: { at: "statement.predicate", members: OF_RELEASES },
      statement: {
        members: {
          predicateType: "provenance.predicate-type",
          subject: "provenance.subject",
          predicate: { members: notCompared(repeated) },
        },
      },
    },
    then: spelling,
  };
}

function notCompared(names: readonly string[]): Record<string, null> {
  return Object.fromEntries(names.map((name) => [name, null]));
}

const APP_PROOFS: Rule = {
  pair: contentText,
  each: {
    only: "app-proof",
    inner: "app-proof",
    members: { time: null, payload: { at: "proofPayload", inner: "app-proof" } },
  },
};

const ACTIVITY: Rule = {
  only: "activity",
  members: {
    organizationId: "activity.organization",
    result: "activity.result",
    intent: "activity.intent",
    status: "activity.status",
    type: "activity",
    id: "activity.id",
    appProofs: ([before, after]) => (Array.isArray(before) && Array.isArray(after) ? APP_PROOFS : {}),
  },
};

/** An activity that is no object is compared as a whole. */
function activityRule(sides: Sides): RuleOf {
  return sides.every((side) => side === undefined || isJsonObject(side)) ? ACTIVITY : "activity";
}

/** Packed reports are unverified, so only the verdict and the first other difference are reported. */
const compareReports: Compare = (sides, at) => {
  const verdict = compareTrees(sidesOf(sides, "verdict"), inside(at, "verdict"), "bundle.verdict");
  const others = compareTrees(sides, at, { inner: "bundle.report", members: { verdict: null } });
  return [...verdict, ...others.slice(0, 1)];
};

const bootKeyOf = (item: Content): string => textIn(item, "ephemeralPublicKey");

const BUNDLE: Rule = {
  members: {
    bootProofs: { pair: bootKeyOf, each: { ...BOOT_PROOF, only: "bundle.boot-proof", show: bootKeyOf } },
    appProofs: APP_PROOFS,
    activity: activityRule,
    now: "bundle.now",
    report: { instead: compareReports },
  },
  then: spelling,
};

/** The rules of each kind, and of the parts of a boot proof. */
export const RULES = {
  "boot proof": BOOT_PROOF,
  "attestation document": DOCUMENT,
  manifest: MANIFEST,
  "manifest envelope": ENVELOPE,
  release: RELEASE,
  "provenance bundle": provenanceRule,
  bundle: BUNDLE,
  // Policies are compared by what they accept (`policy.ts`).
  policy: null,
} as const satisfies Readonly<Record<string, RuleOf>>;
