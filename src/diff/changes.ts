/**
 * The changes, their severities and their meanings (diff/README.md, "Changes"). Comparisons list changes by severity,
 * then in this order.
 */

export const SEVERITIES = ["critical", "notable", "minor"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** How a value changed, where the meaning depends on it. */
export type Turn =
  /** Any other change. */
  | "changed"
  | "added"
  | "removed"
  /** Of numbers, times and versions; also a flag switched off. */
  | "lower"
  /** The policy accepts less, or more. */
  | "narrower"
  | "wider"
  /** The new kind of commitment. */
  | "live"
  | "setup"
  | "legacy"
  /** Whether the input of a computed value changed, too. */
  | "follows"
  | "alone";

/** In place of a value, where there is none. */
export const NOT_THERE = "(not there)";

interface Meaning {
  readonly severity: Severity;
  /** One sentence. */
  readonly means: string;
}

/** Turns without a meaning of their own have that of `changed`. */
type Meanings = { readonly [T in Turn]?: Meaning } & { readonly changed: Meaning };

interface ChangeRow {
  readonly title: string;
  readonly means: Meanings;
}

const critical = (means: string): Meaning => ({ severity: "critical", means });
const notable = (means: string): Meaning => ({ severity: "notable", means });
const minor = (means: string): Meaning => ({ severity: "minor", means });

/** Who decides what runs, and the identity of the deployment. */
const OF_EVIDENCE = {
  "manifest-set.member": {
    title: "manifest set: member",
    means: {
      changed: critical("Somebody else may approve what runs: find out who holds this key."),
      removed: notable("This key no longer approves what runs."),
    },
  },
  "manifest-set.threshold": {
    title: "manifest set: threshold",
    means: {
      lower: critical("Fewer members than before are enough to approve what runs."),
      changed: notable("More members than before have to approve what runs."),
    },
  },
  "share-set.member": {
    title: "share set: member",
    means: {
      changed: critical("Somebody else may take part in rebuilding the quorum key: find out who holds this key."),
      removed: notable("This key no longer takes part in rebuilding the quorum key."),
    },
  },
  "share-set.threshold": {
    title: "share set: threshold",
    means: {
      lower: critical("Fewer members than before are enough to rebuild the quorum key."),
      changed: notable("More members than before are needed to rebuild the quorum key."),
    },
  },
  "patch-set.member": {
    title: "patch set: member",
    means: {
      changed: critical(
        "Somebody else is in the set that the manifest names for patches: find out who holds this key.",
      ),
      removed: notable("This key is no longer in the set that the manifest names for patches."),
    },
  },
  "patch-set.threshold": {
    title: "patch set: threshold",
    means: {
      lower: critical("Fewer members than before are enough for patches."),
      changed: notable("More members than before are needed for patches."),
    },
  },
  "quorum-key": {
    title: "quorum key",
    means: {
      changed: critical("The enclave holds other secrets: this is another deployment, or its key was replaced."),
    },
  },
  "manifest.nonce": {
    title: "manifest: nonce",
    means: {
      lower: critical("The manifest is older than before: a roll-back, which may bring back fixed flaws."),
      changed: minor("The nonce grows with each manifest of a namespace, as in every roll-out."),
    },
  },
  namespace: {
    title: "namespace",
    means: { changed: critical("This is another deployment, with its own nonces and approvals.") },
  },
  "debug.enclave": {
    title: "debug mode of the enclave",
    means: {
      changed: critical("PCR0, 1 or 2 is zeros: the enclave can be inspected, and nothing about its code is proven."),
      lower: notable("The enclave is measured now; before, nothing about its code was proven."),
    },
  },
  "debug.application": {
    title: "debug mode of the application",
    means: {
      changed: critical("The manifest requests debug mode: the application's output can be read outside."),
      lower: notable("The manifest no longer requests debug mode."),
    },
  },
  role: {
    title: "PCR3: role and account",
    means: { changed: critical("Another IAM role or account runs it, or none that is measured (zeros).") },
  },
  "signing-certificate": {
    title: "PCR8: certificate that signed the image",
    means: { changed: critical("Another certificate signed the image, or none did (zeros).") },
  },
  instance: {
    title: "PCR4: instance",
    means: { changed: minor("The enclave runs on another instance, for example because a machine was replaced.") },
  },
  commitment: {
    title: "kind of commitment",
    means: {
      changed: critical("The enclave commits to neither this key nor this manifest: verification refuses that."),
      legacy: critical("The enclave commits to nothing: anything that ran inside could have requested this document."),
      setup: notable("The document was made before the enclave held its quorum key: this key signs no app proofs."),
      live: minor("The enclave itself commits to manifest and key now: more is proven than before."),
    },
  },
  "aws-root": {
    title: "root certificate inside the manifest",
    means: { changed: critical("The enclave itself trusts documents of another authority.") },
  },
  "certificate.root": {
    title: "root certificate",
    means: { changed: critical("The document comes from another authority than before.") },
  },
  "activity.organization": {
    title: "organization of the activity",
    means: { changed: critical("The activity belongs to another organization.") },
  },
  "provenance.issuer": {
    title: "issuer of the build's identity",
    means: { changed: critical("Another identity provider says who built it.") },
  },
  "provenance.repository": {
    title: "repository of the build",
    means: { changed: critical("It was built from another repository, or from one that has another owner now.") },
  },
  "provenance.workflow": {
    title: "workflow of the build",
    means: { changed: critical("Another workflow built it: read what that one does.") },
  },
  "provenance.signer": {
    title: "workflow that signed",
    means: { changed: critical("Another workflow, or another version of it, signed: it decides what is attested.") },
  },
  "provenance.runner": {
    title: "runner of the build",
    means: { changed: critical("It was built on a machine of another kind, which may be anybody's.") },
  },
  "provenance.predicate-type": {
    title: "predicate of the statement",
    means: { changed: critical("The statement is of another type, and may attest something other than a build.") },
  },
  "bundle.verdict": {
    title: "verdict of the packed report",
    means: { changed: critical("The packed report now claims another verdict.") },
  },
  "bundle.policy": {
    title: "policy of the bundle",
    means: {
      changed: notable("The bundle has a policy now; before it had none."),
      removed: critical("The bundle no longer has a policy: anybody's genuine enclave passes."),
    },
  },
} as const satisfies Readonly<Record<string, ChangeRow>>;

/** Critical: something new passes. Notable: something no longer passes. */
const OF_POLICIES = {
  "policy.trust-anchor": {
    title: "trust anchor",
    means: {
      changed: critical(
        "Documents of one more authority pass: the holder of its key can make any enclave pass as genuine.",
      ),
      removed: notable("Documents of this authority no longer pass."),
    },
  },
  "policy.allow-debug": {
    title: "debug mode",
    means: {
      changed: critical("Debug enclaves pass, and nothing about their code is proven."),
      lower: notable("Debug enclaves no longer pass."),
    },
  },
  "policy.deployment": {
    title: "deployment",
    means: {
      changed: critical("One more deployment passes: anything that meets its pins."),
      removed: notable("This deployment no longer passes."),
    },
  },
  "policy.kind": {
    title: "kind of deployment",
    means: { changed: critical("Evidence of another kind passes now. Evidence of the previous kind does not.") },
  },
  "policy.pin": {
    title: "pin",
    means: {
      removed: critical("no longer pinned, so that any passes."),
      wider: critical("more passes than before."),
      changed: critical("others pass now, and the previous ones do not."),
      narrower: notable("less passes than before."),
      added: notable("pinned now, so that others no longer pass."),
    },
  },
  "policy.open": {
    title: "question left open",
    means: {
      changed: critical("The policy now leaves this question open."),
      removed: notable("The policy no longer leaves this question open."),
    },
  },
  "policy.app-proof-types": {
    title: "types of app proof",
    means: {
      wider: critical("More kinds of claim pass than before."),
      changed: critical("Other kinds of claim pass now, and some previous ones do not."),
      narrower: notable("Fewer kinds of claim pass than before."),
    },
  },
  "policy.app-proofs": {
    title: "rule about app proofs",
    means: {
      changed: critical("The rule about app proofs is gone or weaker."),
      narrower: notable("The rule about app proofs is new or stricter."),
    },
  },
  "policy.max-age": {
    title: "greatest age",
    means: {
      changed: critical("Older evidence passes than before."),
      narrower: notable("Evidence has to be newer than before."),
    },
  },
  "policy.order": {
    title: "order of the deployments",
    means: {
      changed: notable("The first deployment that matches counts. It may be a different one now."),
    },
  },
} as const satisfies Readonly<Record<string, ChangeRow>>;

const OF_WHAT_RUNS = {
  "image.pcr0": {
    title: "PCR0: enclave image",
    means: { changed: notable("Another enclave image runs.") },
  },
  "image.pcr1": {
    title: "PCR1: kernel and boot code",
    means: { changed: notable("The image has another kernel or boot code.") },
  },
  "image.pcr2": {
    title: "PCR2: what the image runs after booting",
    means: { changed: notable("The image runs other programs after booting.") },
  },
  "image.qos-commit": {
    title: "QOS commit that the manifest names",
    means: { changed: notable("The manifest names another version of QOS for its image.") },
  },
  pcr: {
    title: "another PCR",
    means: { changed: notable("A measurement without a meaning to this tool changed.") },
  },
  application: {
    title: "application: digest of its binary",
    means: {
      changed: notable("Another program runs."),
      removed: notable("The enclave runs workloads now, not one application."),
      added: notable("The enclave runs one application now, not workloads."),
    },
  },
  workload: {
    title: "workload",
    means: {
      changed: notable("One more program runs beside the others."),
      removed: notable("This program no longer runs."),
    },
  },
  "workload.image": {
    title: "workload: digest of its image",
    means: { changed: notable("Another program runs under this name.") },
  },
  "workload.mounts": {
    title: "workload: mounts",
    means: { changed: notable("The program sees other files, possibly the enclave's own keys.") },
  },
  arguments: {
    title: "application: arguments",
    means: { changed: notable("The program runs with other arguments.") },
  },
  environment: {
    title: "application: environment variable",
    means: { changed: notable("A setting of the program changed.") },
  },
  bridge: {
    title: "application: bridges",
    means: { changed: notable("The program is reached, or reaches others, at other ports or hosts.") },
  },
  dns: {
    title: "DNS resolvers",
    means: { changed: notable("Other servers resolve the names that the program looks up.") },
  },
  "document.user-data": {
    title: "user data of the document",
    means: {
      changed: notable("The enclave commits to something else; under QOS that is another manifest."),
      alone: critical("The document commits to another manifest, and the manifest shown is the same: one is wrong."),
      follows: minor("The hash of the manifest, which changes with everything in it."),
    },
  },
  "bundle.boot-proof": {
    title: "boot proof of the bundle",
    means: {
      changed: notable("The bundle has one more boot proof."),
      removed: notable("The bundle no longer has this boot proof."),
    },
  },
  "app-proof": {
    title: "app proof",
    means: {
      changed: notable("The enclave signed something else."),
      added: notable("There is one more app proof."),
      removed: notable("This app proof is no longer there."),
    },
  },
  "activity.result": {
    title: "result of the activity",
    means: { changed: notable("The activity has another result.") },
  },
  "activity.intent": { title: "intent of the activity", means: { changed: notable("Something else was requested.") } },
  "activity.status": {
    title: "status of the activity",
    means: { changed: notable("The activity has another status.") },
  },
  activity: {
    title: "activity",
    means: {
      changed: notable("It is another activity."),
      added: notable("The bundle has an activity now."),
      removed: notable("The bundle has no activity any more."),
    },
  },
  "provenance.ref": {
    title: "ref of the build",
    means: {
      lower: critical("It was built from a branch or a pull request, no longer from a tag."),
      changed: notable("It was built from another tag or branch."),
    },
  },
  "provenance.commit": {
    title: "commit of the build",
    means: { changed: notable("It was built from other sources: compare the two commits.") },
  },
  "provenance.trigger": {
    title: "trigger of the build",
    means: { changed: notable("Another event started the build, which others may be allowed to cause.") },
  },
  "provenance.subject": {
    title: "subjects of the statement",
    means: { changed: notable("The statement is about other files.") },
  },
  "release.application": {
    title: "released application",
    means: {
      changed: notable("The release has one more application."),
      removed: notable("The release no longer has this application."),
    },
  },
} as const satisfies Readonly<Record<string, ChangeRow>>;

/** What changes with each boot, response or edit. */
const OF_LITTLE_WEIGHT = {
  "restart-policy": {
    title: "restart policy",
    means: { changed: minor("The program restarts under other conditions.") },
  },
  "client-timeout": {
    title: "timeout of connections to the application",
    means: { changed: minor("Connections to the application end after another time.") },
  },
  "pool-size": {
    title: "number of connections to the application",
    means: { changed: minor("QOS keeps another number of connections to the application.") },
  },
  volumes: { title: "volumes", means: { changed: minor("Workloads have other room in memory.") } },
  "manifest.version": {
    title: "manifest: version",
    means: {
      changed: minor("The manifest is written by another version of QOS."),
      lower: notable("The manifest has an older format, which covers less."),
    },
  },
  "manifest.declared-version": {
    title: "manifest version that the service names",
    means: { changed: minor("The service names another version; the manifest itself must agree.") },
  },
  "member.alias": { title: "alias of a member", means: { changed: minor("The same key under another name.") } },
  approval: {
    title: "approval",
    means: {
      changed: minor("The approval is different; the set decides who may approve."),
      added: minor("One approval more; the set decides who may approve."),
      removed: minor("One approval fewer; the threshold decides how many are needed."),
    },
  },
  "document.time": {
    title: "time of the document",
    means: {
      lower: notable("The document is older than before: find out why if a newer one was expected."),
      changed: minor("The document is newer than before."),
    },
  },
  "document.nonce": {
    title: "nonce of the document",
    means: { changed: minor("The document was made for another request, or for none.") },
  },
  "ephemeral-key": {
    title: "ephemeral key",
    means: { changed: minor("Another enclave, or the same one after a new boot: each boot makes a key.") },
  },
  "commitment.register": {
    title: "commitment register",
    means: { changed: minor("The register commits to key and manifest, and changes with them.") },
  },
  "document.module-id": {
    title: "module id",
    means: { changed: minor("The enclave runs on another instance, or was started again.") },
  },
  "certificate.leaf": {
    title: "certificate of the enclave",
    means: { changed: minor("Each enclave has its own, and a new one every few hours.") },
  },
  "certificate.intermediate": {
    title: "intermediate certificates",
    means: { changed: minor("The certificates of region, zone and instance change within days.") },
  },
  "document.signature": {
    title: "signature of the document",
    means: {
      changed: minor("Each document has a signature of its own, which only verification checks."),
    },
  },
  "provenance.material": {
    title: "certificate, log entry and signature",
    means: { changed: minor("Each bundle has its own, which only verification checks.") },
  },
  labels: {
    title: "label",
    means: { changed: minor("The service labels it differently; labels are not signed.") },
  },
  "created-at": {
    title: "creation time",
    means: { changed: minor("The service gives another time, which is not signed.") },
  },
  "activity.id": { title: "id of the activity", means: { changed: minor("It is another activity.") } },
  "bundle.now": {
    title: "time of the judgement",
    means: {
      lower: notable("The verification is earlier than before."),
      changed: minor("The verification is later than before."),
    },
  },
  "bundle.report": {
    title: "packed report",
    means: { changed: minor("The packed reports differ in more than the verdict; this is the first place.") },
  },
  "release.version": { title: "version of the release", means: { changed: minor("It is another release.") } },
  "policy.name": { title: "name of the policy", means: { changed: minor("Only reports show it.") } },
  "policy.deployment-name": { title: "name of a deployment", means: { changed: minor("Only reports show it.") } },
  "policy.comment": { title: "comment", means: { changed: minor("For people and editors: it changes nothing.") } },
  order: { title: "order", means: { changed: minor("The same entries are in another order.") } },
  encoding: { title: "encoding", means: { changed: minor("The same content in other bytes.") } },
  other: {
    title: "other",
    means: { changed: minor("It has no meaning to this tool: compare both files at this place.") },
  },
} as const satisfies Readonly<Record<string, ChangeRow>>;

/** Worst first. The ids are public. */
export const CHANGES = { ...OF_EVIDENCE, ...OF_POLICIES, ...OF_WHAT_RUNS, ...OF_LITTLE_WEIGHT };

export type ChangeId = keyof typeof CHANGES;

export const CHANGE_IDS = /* @__PURE__ */ Object.keys(CHANGES) as readonly ChangeId[];

/** A change without severity and meaning. */
export interface Found {
  readonly what: ChangeId;
  readonly turn: Turn;
  /** The key of one of several entries, or empty. */
  readonly entry: string;
  readonly place: string;
  /** Null: absent. */
  readonly before: string | null;
  readonly after: string | null;
  /** The subject, if the row has several. */
  readonly about: string | null;
  /** Whether it covers every difference at and below its place. */
  readonly isWhole: boolean;
}

type FoundFacts = Pick<Found, "place" | "before" | "after"> & Partial<Found>;

export function found(what: ChangeId, facts: FoundFacts): Found {
  return { what, turn: "changed", entry: "", about: null, isWhole: true, ...facts };
}

export function meaningOf({ what, turn, about }: Found): Meaning {
  const meanings: Meanings = CHANGES[what].means;
  const { severity, means } = meanings[turn] ?? meanings.changed;
  return { severity, means: about === null ? means : `${about}: ${means}` };
}
