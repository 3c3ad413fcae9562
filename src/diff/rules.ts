/** What a change means, by its place in the trees that `inspect` makes. */
import { fromHex, isAllZero, lastOf } from "../bytes.js";
import { isJsonObject } from "../decode/json.js";
import { DIGEST_PREFIX } from "../decode/manifest/image-digest.js";
import { MANIFEST_VERSIONS, type ManifestVersion } from "../decode/manifest/index.js";
import { type ChangeId, type Found, type Turn, found } from "./changes.js";
import { type Compare, type Rule, type RuleOf, type Sides, compareTrees, sidesOf } from "./compare.js";
import { type Content, type ContentObject, contentText, memberOf, partsOf } from "./content.js";
import { placeIn } from "./place.js";

/** Members that diff adds to the trees, and that are compared by rules of their own. */
export const SPELLED = "(spelled)";
export const COMMITMENT = "(commitment)";
export const MANIFEST_HASH = "(manifest hash)";

/** How the bytes of a part are written: the form, and the bytes in hex or the JSON with numbers as written. */
export interface Spelled extends ContentObject {
  readonly form: string;
  readonly as: Content;
}

const HIDDEN: Rule = { instead: () => [] };

function what(id: ChangeId, rest: Omit<Rule, "what"> = {}): Rule {
  return { what: id, ...rest };
}

function textIn(content: Content | undefined, name: string): string {
  const member = memberOf(content, name);
  return member === undefined ? "" : contentText(member);
}

function lowerNumber(before: Content = 0, after: Content = 0): Turn {
  return Number(contentText(after)) < Number(contentText(before)) ? "lower" : "changed";
}

/** Compares times, which are texts of one form. */
function earlier(before: Content = "", after: Content = ""): Turn {
  return contentText(after) < contentText(before) ? "lower" : "changed";
}

/** An absent flag is off. */
function toggle(id: ChangeId): Rule {
  return what(id, { absent: false, turn: (before) => (before === true ? "lower" : "changed") });
}

/** Lists whose items have a key, which is also the name of the changed entry. */
function keyedBy(key: (item: Content) => string, each: Rule): Rule {
  return { key, each: { ...each, entry: (name) => name } };
}

/** Adds changes of spelling, if nothing else explains why bytes differ. Another form is always a change. */
const spelling: NonNullable<Rule["then"]> = (changes, sides, place, scope) => {
  const [one, other] = sidesOf(sides, SPELLED) as readonly [Spelled | undefined, Spelled | undefined];
  if (one === undefined || other === undefined) return changes;
  if (one.form !== other.form) return [...changes, found("encoding", { place, before: one.form, after: other.form })];
  if (changes.length > 0) return changes;
  return compareTrees([one.as, other.as], place, scope, { inner: "encoding", isSpelling: true });
};

const publicKeyOf = (item: Content): string => textIn(item, "pubKey");
const memberName = (item: Content): string => [textIn(item, "alias"), publicKeyOf(item)].join(" ").trim();

function memberSet(name: "manifest-set" | "share-set" | "patch-set"): Rule {
  const members = { alias: what("member.alias") };
  return {
    members: {
      threshold: what(`${name}.threshold`, { turn: lowerNumber }),
      members: keyedBy(publicKeyOf, { only: `${name}.member`, show: memberName, members }),
    },
  };
}

const nameIn = (side: Content | undefined): string => textIn(side, "name");

/** Nonces are compared only within one namespace. */
function namespaceRule([before, after]: Sides): Rule {
  const isSame = nameIn(before) === nameIn(after);
  return {
    members: {
      name: what("namespace"),
      nonce: what("manifest.nonce", isSame ? { turn: lowerNumber } : {}),
      quorumKey: what("quorum-key"),
    },
  };
}

/** Returns JSON with members in the order of the type, which reads better than the sorted one. */
function asJson(value: Content): string {
  return JSON.stringify(value);
}

const PIVOT: Rule = {
  members: {
    hash: what("application"),
    restart: what("restart-policy"),
    args: what("arguments"),
    bridgeConfig: what("bridge", { show: asJson }),
    debugMode: toggle("debug.application"),
    env: {
      each: what("environment", {
        show: (value, name) => `${name}=${contentText(value)}`,
        entry: (name) => name,
      }),
    },
  },
};

const WORKLOADS = keyedBy(nameIn, {
  only: "workload",
  even: ["restart", "mounts"],
  show: (item) => `${nameIn(item)} ${DIGEST_PREFIX}${textIn(item, "imageDigest")}`,
  members: {
    imageDigest: what("workload.image", { at: "image", show: (digest) => DIGEST_PREFIX + contentText(digest) }),
    restart: what("restart-policy"),
    mounts: what("workload.mounts", { show: asJson }),
  },
});

/** Versions are ordered by time. */
function olderVersion(before: Content = "v0", after: Content = "v0"): Turn {
  const [one, other] = [before, after].map((version) => MANIFEST_VERSIONS.indexOf(version as ManifestVersion));
  return other! < one! ? "lower" : "changed";
}

const MANIFEST: Rule = {
  members: {
    [SPELLED]: HIDDEN,
    version: what("manifest.version", { turn: olderVersion }),
    manifestSet: memberSet("manifest-set"),
    shareSet: memberSet("share-set"),
    patchSet: memberSet("patch-set"),
    namespace: namespaceRule,
    enclave: {
      members: {
        pcr0: what("image.pcr0"),
        pcr1: what("image.pcr1"),
        pcr2: what("image.pcr2"),
        pcr3: what("role"),
        awsRootCertificate: what("aws-root"),
        qosCommit: what("image.qos-commit"),
      },
    },
    pivot: PIVOT,
    workloads: WORKLOADS,
    volumes: what("volumes"),
    clientTimeoutMs: what("client-timeout"),
    poolSize: what("pool-size"),
    dns: { members: { resolvers: what("dns") } },
  },
  then: spelling,
};

const APPROVALS = keyedBy(publicKeyOf, {
  only: "approval",
  show: memberName,
  members: { signature: what("approval"), alias: what("member.alias") },
});

const ENVELOPE: Rule = {
  members: { [SPELLED]: HIDDEN, manifest: MANIFEST, manifestSetApprovals: APPROVALS, shareSetApprovals: APPROVALS },
  then: spelling,
};

const register = (index: number): readonly [string, Rule] => [
  String(index),
  what("commitment.register", { entry: (name) => `PCR${name}` }),
];

/** Whether PCR0, 1 or 2 is zeros. Another change covers the values themselves. */
const compareDebug: Compare = (sides, place, scope) => {
  const isDebug = sides.map((pcrs) => ["0", "1", "2"].some((index) => isZeros(memberOf(pcrs, index))));
  const show = (isOn: Content): string => (isOn === true ? "on (zeros in PCR0 to 2)" : "off");
  return compareTrees([isDebug[0], isDebug[1]], place, scope, { ...toggle("debug.enclave"), show });
};

function isZeros(pcr: Content | undefined): boolean {
  return typeof pcr === "string" && isAllZero(fromHex(pcr) ?? Uint8Array.of(1));
}

const PCRS: Rule = {
  members: {
    "0": what("image.pcr0"),
    "1": what("image.pcr1"),
    "2": what("image.pcr2"),
    "3": what("role"),
    "4": what("instance"),
    "8": what("signing-certificate"),
    ...Object.fromEntries([16, 17, 18].map(register)),
  },
  each: what("pcr", { entry: (name) => `PCR${name}` }),
  also: compareDebug,
};

/** Returns a text about a certificate as a tree. It is unique, because it contains the digest. */
export function certificateText(certificate: Content): string {
  const [subject, serialNumber, notBefore, notAfter, sha256] = [
    "subject",
    "serialNumber",
    "notBefore",
    "notAfter",
    "sha256",
  ].map((name) => textIn(certificate, name));
  return `${subject!}, serial number ${serialNumber!}, ${notBefore!} to ${notAfter!}, SHA-256 ${sha256!}`;
}

/** Compares the chain from the root to the leaf. Of intermediate certificates only additions and removals count. */
const compareChain: Compare = (sides, place, scope) => {
  const [before, after] = sides.map((side) => (side === undefined ? [] : [...partsOf(side).values()]));
  const [one, other] = [before!.slice(1, -1).map(certificateText), after!.slice(1, -1).map(certificateText)];
  const at = placeIn(place, "cabundle");
  const added = (list: string[], without: string[]): Content | undefined => {
    const own = list.filter((each) => !without.includes(each));
    return own.length === 0 ? undefined : own.join("\n");
  };
  const part = (id: ChangeId, both: Sides, where: string): readonly Found[] =>
    compareTrees(
      both,
      where,
      scope,
      what(id, { show: (each) => (typeof each === "string" ? each : certificateText(each)) }),
    );
  const isReordered = one.length === other.length && one.join() !== other.join();
  const changes = part("certificate.intermediate", [added(one, other), added(other, one)], at);
  return [
    ...part("certificate.leaf", [lastOf(before!), lastOf(after!)], placeIn(place, "certificate")),
    ...part("certificate.root", [before![0], after![0]], placeIn(at, 0)),
    ...(changes.length === 0 && isReordered ? scope.keep("order", [one, other], at) : changes),
  ];
};

const DOCUMENT: Rule = {
  members: {
    [SPELLED]: HIDDEN,
    [COMMITMENT]: what("commitment", {
      at: "pcrs",
      turn: (_, after) => (after === "none" ? "changed" : (after as Turn)),
    }),
    moduleId: what("document.module-id", { at: "module_id" }),
    time: what("document.time", { at: "timestamp", turn: earlier }),
    pcrs: PCRS,
    publicKey: what("ephemeral-key", { at: "public_key" }),
    userData: what("document.user-data", { at: "user_data" }),
    nonce: what("document.nonce"),
    certificates: { at: "", instead: compareChain },
    protectedHeader: { at: "(COSE).protected" },
    unprotectedHeader: { at: "(COSE).unprotected" },
    signature: what("document.signature", { at: "(COSE).signature" }),
  },
  then: spelling,
};

/** A part that is compared if both inputs have it. */
function shared(rule: Rule): RuleOf {
  return ([before, after]) => (before === undefined || after === undefined ? HIDDEN : rule);
}

/**
 * Marks whether a changed manifest hash follows from a changed manifest. If the hash changed alone, the evidence is
 * inconsistent.
 */
const explained: NonNullable<Rule["then"]> = (changes, sides, place, scope) => {
  const [before, after] = sidesOf(sides, MANIFEST_HASH);
  const turn: Turn = before === after ? "alone" : "follows";
  const isKnown = before !== undefined && after !== undefined;
  const marked = changes.map((one) => (isKnown && one.what === "document.user-data" ? { ...one, turn } : one));
  return spelling(marked, sides, place, scope);
};

const BOOT_PROOF: Rule = {
  members: {
    [SPELLED]: HIDDEN,
    [MANIFEST_HASH]: HIDDEN,
    "(form)": HIDDEN,
    ephemeralPublicKey: what("ephemeral-key", { at: "ephemeralPublicKeyHex" }),
    labels: { at: "", each: what("labels", { entry: (name) => name }) },
    createdAt: what("created-at"),
    declaredManifestVersion: what("manifest.declared-version", { at: "qosManifestVersion" }),
    attestationDocument: shared(DOCUMENT),
    manifest: shared(MANIFEST),
    manifestEnvelope: shared(ENVELOPE),
  },
  then: explained,
};

/** Texts that are hex of any case. */
function anyCase(id: ChangeId): Rule {
  return what(id, { show: (value) => contentText(value).toLowerCase() });
}

const RELEASE: Rule = {
  members: { [SPELLED]: HIDDEN, version: what("release.version") },
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

/** Members of the tree that are compared as they are written, as material. */
const SHOWN_MATERIAL = ["certificate", "certificateChain", "signatures", "tlogEntries", "timestampVerificationData"];
export const MATERIAL = "(material)";
/** The workflow of the build without its ref, which changes with each release. */
export const WORKFLOW = "(workflow)";

/** If the build's own workflow signed, its URI changes with each ref. */
function identityRule(sides: Sides): Rule {
  const signer = (side: Content | undefined, name: string): Content => {
    const text = textIn(side, name) || "none";
    return text === textIn(side, "buildConfig") ? "the workflow of the build" : text;
  };
  const signers: Compare = (_, place, scope) =>
    ["signer", "san"].flatMap((name) => {
      const [before, after] = sides.map((side) => signer(side, name));
      return compareTrees([before, after], placeIn(place, name), scope, what("provenance.signer"));
    });
  return {
    at: "certificate",
    members: {
      issuer: what("provenance.issuer"),
      repository: what("provenance.repository"),
      repositoryId: what("provenance.repository"),
      runner: what("provenance.runner"),
      ref: what("provenance.ref", { turn: refTurn }),
      commit: what("provenance.commit"),
      trigger: what("provenance.trigger"),
      [WORKFLOW]: what("provenance.workflow", { at: "buildConfig" }),
      buildConfig: HIDDEN,
      signer: HIDDEN,
      san: HIDDEN,
    },
    also: signers,
  };
}

/** The members of a release of GitHub are also in the predicate, where they are not compared again. */
function provenanceRule(sides: Sides): Rule {
  const releases = sidesOf(sides, "githubRelease");
  const isIn = (name: string): boolean => releases.every((release) => memberOf(release, name) !== undefined);
  const repeated = Object.keys(OF_RELEASES).filter(isIn);
  return {
    members: {
      ...hidden([SPELLED, ...SHOWN_MATERIAL]),
      [MATERIAL]: what("provenance.material", { at: "verificationMaterial" }),
      identity: identityRule,
      githubRelease: { at: "statement.predicate", members: OF_RELEASES },
      statement: {
        members: {
          predicateType: what("provenance.predicate-type"),
          subject: what("provenance.subject"),
          predicate: { members: hidden(repeated) },
        },
      },
    },
    then: spelling,
  };
}

const OF_RELEASES = {
  repository: what("provenance.repository"),
  repositoryId: what("provenance.repository"),
  tag: what("provenance.ref"),
};

function hidden(names: readonly string[]): Record<string, Rule> {
  return Object.fromEntries(names.map((name) => [name, HIDDEN]));
}

const APP_PROOFS: Rule = {
  pair: contentText,
  each: {
    only: "app-proof",
    inner: "app-proof",
    members: { time: HIDDEN, payload: { at: "proofPayload", inner: "app-proof" } },
  },
};

const ACTIVITY: Rule = {
  only: "activity",
  members: {
    organizationId: what("activity.organization"),
    result: what("activity.result"),
    intent: what("activity.intent"),
    status: what("activity.status"),
    type: what("activity"),
    id: what("activity.id"),
    appProofs: ([before, after]) => (Array.isArray(before) && Array.isArray(after) ? APP_PROOFS : {}),
  },
};

/** An activity that is no object is compared as a whole. */
function activityRule(sides: Sides): Rule {
  return sides.every((side) => side === undefined || isJsonObject(side)) ? ACTIVITY : what("activity");
}

/** Packed reports are unverified, so only the verdict and the first other difference are reported. */
const compareReports: Compare = (sides, place, scope) => {
  const verdict = compareTrees(sidesOf(sides, "verdict"), placeIn(place, "verdict"), scope, what("bundle.verdict"));
  const [first] = compareTrees(sides, place, scope, { inner: "bundle.report", members: { verdict: HIDDEN } });
  return [...verdict, ...(first === undefined ? [] : [first])];
};

const bootKeyOf = (item: Content): string => textIn(item, "ephemeralPublicKey");

const BUNDLE: Rule = {
  members: {
    [SPELLED]: HIDDEN,
    bootProofs: { pair: bootKeyOf, each: { ...BOOT_PROOF, only: "bundle.boot-proof", show: bootKeyOf } },
    appProofs: APP_PROOFS,
    activity: activityRule,
    now: what("bundle.now", { turn: earlier }),
    report: { instead: compareReports },
    // Policies are compared by what they accept (`policy.ts`).
    policy: HIDDEN,
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
} as const satisfies Readonly<Record<string, RuleOf>>;
