/**
 * The changes, their severities and their meanings (diff/README.md, "Changes"). Comparisons list changes by severity,
 * then in this order.
 */

export const SEVERITIES = ["critical", "notable", "minor"] as const;
export type Severity = (typeof SEVERITIES)[number];

/** How a value changed. The meaning of some changes depends on it. */
export type Turn =
  /** Any change that no other turn describes. */
  | "changed"
  | "added"
  | "removed"
  /** A number, time or version is lower, or a flag is switched off. */
  | "lower"
  /** The policy accepts less. `wider` is the opposite. */
  | "narrower"
  | "wider"
  /** The commitment is now `live`. Likewise for `setup` and `legacy`. */
  | "live"
  | "setup"
  | "legacy"
  /** A computed value changed with its input. `alone` means that the value changed, but its input did not. */
  | "follows"
  | "alone";

/** Text that is shown for an absent value. */
export const NOT_THERE = "(not there)";

interface Meaning {
  readonly severity: Severity;
  /** The meaning, in one sentence. */
  readonly means: string;
}

/** The meaning of each turn. A turn without a meaning of its own has that of `changed`. */
type Meanings = { readonly [T in Turn]?: Meaning } & { readonly changed: Meaning };

interface ChangeRow {
  readonly title: string;
  readonly means: Meanings;
}

const critical = (means: string): Meaning => ({ severity: "critical", means });
const notable = (means: string): Meaning => ({ severity: "notable", means });
const minor = (means: string): Meaning => ({ severity: "minor", means });

/** Makes a row with one meaning for all changes, or with a meaning for each turn. */
function row(title: string, means: Meaning | Meanings): ChangeRow {
  return { title, means: "changed" in means ? means : { changed: means } };
}

/** Changes of who decides what runs, and of the identity of the deployment. */
const OF_EVIDENCE = {
  "manifest-set.member": row("manifest set: member", {
    changed: critical("Somebody else may approve what runs: find out who holds this key."),
    removed: notable("This key no longer approves what runs."),
  }),
  "manifest-set.threshold": row("manifest set: threshold", {
    lower: critical("Fewer members than before are enough to approve what runs."),
    changed: notable("More members than before have to approve what runs."),
  }),
  "share-set.member": row("share set: member", {
    changed: critical("Somebody else may take part in rebuilding the quorum key: find out who holds this key."),
    removed: notable("This key no longer takes part in rebuilding the quorum key."),
  }),
  "share-set.threshold": row("share set: threshold", {
    lower: critical("Fewer members than before are enough to rebuild the quorum key."),
    changed: notable("More members than before are needed to rebuild the quorum key."),
  }),
  "patch-set.member": row("patch set: member", {
    changed: critical("Somebody else is in the set that the manifest names for patches: find out who holds this key."),
    removed: notable("This key is no longer in the set that the manifest names for patches."),
  }),
  "patch-set.threshold": row("patch set: threshold", {
    lower: critical("Fewer members than before are enough for patches."),
    changed: notable("More members than before are needed for patches."),
    removed: notable("The manifest names no set for patches: those of v2 and later have none."),
  }),
  "quorum-key": row(
    "quorum key",
    critical("The enclave holds other secrets: this is another deployment, or its key was replaced."),
  ),
  "manifest.nonce": row("manifest: nonce", {
    lower: critical("The manifest is older than before: a roll-back, which may bring back fixed flaws."),
    changed: minor("The nonce grows with each manifest of a namespace, as in every roll-out."),
  }),
  namespace: row("namespace", critical("This is another deployment, with its own nonces and approvals.")),
  "debug.enclave": row("debug mode of the enclave", {
    changed: critical("PCR0, 1 or 2 is zeros: the enclave can be inspected, and nothing about its code is proven."),
    lower: notable("The enclave is measured now; before, nothing about its code was proven."),
  }),
  "debug.application": row("debug mode of the application", {
    changed: critical("The manifest requests debug mode: the application's output can be read outside."),
    lower: notable("The manifest no longer requests debug mode."),
  }),
  role: row(
    "PCR3: role and account",
    critical("The enclave runs under another IAM role or account, or without a role (zeros)."),
  ),
  "signing-certificate": row(
    "PCR8: certificate that signed the image",
    critical("Another certificate signed the image, or none did (zeros)."),
  ),
  instance: row(
    "PCR4: instance",
    minor("The enclave runs on another instance, for example because a machine was replaced."),
  ),
  commitment: row("kind of commitment", {
    changed: critical("The enclave commits to neither this key nor this manifest: verification refuses that."),
    legacy: critical("The enclave commits to nothing: anything that ran inside could have requested this document."),
    setup: notable("The document was made before the enclave held its quorum key: this key signs no app proofs."),
    live: minor("The enclave itself commits to manifest and key now: more is proven than before."),
  }),
  "aws-root": row(
    "root certificate inside the manifest",
    critical("The enclave now trusts attestation documents of another root."),
  ),
  "certificate.root": row("root certificate", critical("The document comes from another authority than before.")),
  "activity.organization": row(
    "organization of the activity",
    critical("The activity belongs to another organization."),
  ),
  "provenance.issuer": row("issuer of the build's identity", critical("Another identity provider says who built it.")),
  "provenance.repository": row(
    "repository of the build",
    critical("It was built from another repository, or from one that has another owner now."),
  ),
  "provenance.workflow": row("workflow of the build", critical("Another workflow built it: read what that one does.")),
  "provenance.signer": row(
    "workflow that signed",
    critical("Another workflow, or another version of it, signed: it decides what is attested."),
  ),
  "provenance.runner": row(
    "runner of the build",
    critical("It was built on another kind of machine, which may be anybody's."),
  ),
  "provenance.predicate-type": row(
    "predicate of the statement",
    critical("The statement is of another type, and may attest something other than a build."),
  ),
  "bundle.verdict": row("verdict of the packed report", critical("The packed report now claims another verdict.")),
  "bundle.policy": row("policy of the bundle", {
    changed: notable("The bundle has a policy now; before it had none."),
    removed: critical("The bundle no longer has a policy: anybody's genuine enclave passes."),
  }),
};

/** Changes of policies. A change is critical if new evidence passes, and notable if some evidence no longer passes. */
const OF_POLICIES = {
  "policy.trust-anchor": row("trust anchor", {
    changed: critical(
      "Documents of one more authority pass: the holder of its key can make any enclave pass as genuine.",
    ),
    removed: notable("Documents of this authority no longer pass."),
  }),
  "policy.allow-debug": row("debug mode", {
    changed: critical("Debug enclaves pass, and nothing about their code is proven."),
    lower: notable("Debug enclaves no longer pass."),
  }),
  "policy.deployment": row("deployment", {
    changed: critical("One more deployment passes: anything that meets its pins."),
    removed: notable("This deployment no longer passes."),
  }),
  "policy.kind": row(
    "kind of deployment",
    critical("Evidence of another kind passes now. Evidence of the previous kind does not."),
  ),
  "policy.pin": row("pin", {
    removed: critical("no longer pinned, so any value passes."),
    wider: critical("more passes than before."),
    changed: critical("other values pass now, and the previous ones do not."),
    narrower: notable("less passes than before."),
    added: notable("pinned now, so other values no longer pass."),
  }),
  "policy.open": row("question left open", {
    changed: critical("The policy now leaves this question open."),
    removed: notable("The policy no longer leaves this question open."),
  }),
  "policy.app-proof-types": row("types of app proof", {
    wider: critical("More kinds of claim pass than before."),
    changed: critical("Other kinds of claim pass now, and some previous ones do not."),
    narrower: notable("Fewer kinds of claim pass than before."),
  }),
  "policy.app-proof-bytes": row(
    "signed bytes",
    critical("Bytes that the application signs pass now, or its proofs of addresses and decisions do."),
  ),
  "policy.app-proofs": row("rule about app proofs", {
    changed: critical("The rule about app proofs is gone or weaker."),
    narrower: notable("The rule about app proofs is new or stricter."),
  }),
  "policy.max-age": row("greatest age", {
    changed: critical("Older evidence passes than before."),
    narrower: notable("Evidence has to be newer than before."),
  }),
  "policy.order": row(
    "order of the deployments",
    notable("The first deployment that matches counts. It may be a different one now."),
  ),
};

const OF_WHAT_RUNS = {
  "image.pcr0": row("PCR0: enclave image", notable("Another enclave image runs.")),
  "image.pcr1": row("PCR1: kernel and boot code", notable("The image has another kernel or boot code.")),
  "image.pcr2": row("PCR2: what the image runs after booting", notable("The image runs other programs after booting.")),
  "image.kernel": row("kernel", notable("The image boots another kernel.")),
  "image.command-line": row("command line of the kernel", notable("The kernel starts with other arguments.")),
  "image.bootstrap": row(
    "first ramdisk: init and drivers",
    notable("The image starts by other programs, usually those of another version of the vendor's tools."),
  ),
  "image.ramdisk": row("ramdisk of the application", notable("The image runs other programs, or has other files.")),
  "image.file": row("file in a ramdisk", {
    changed: notable("The file has another content, size, mode or time."),
    added: notable("There is one more file."),
    removed: notable("This file is no longer there."),
  }),
  "image.qos-commit": row(
    "QOS commit that the manifest names",
    notable("The manifest names another version of QOS for its image."),
  ),
  pcr: row("another PCR", notable("A measurement without a meaning to this tool changed.")),
  application: row("application: digest of its binary", {
    changed: notable("Another program runs."),
    removed: notable("The enclave runs workloads now, not one application."),
    added: notable("The enclave runs one application now, not workloads."),
  }),
  workload: row("workload", {
    changed: notable("One more program runs beside the others."),
    removed: notable("This program no longer runs."),
  }),
  "workload.image": row("workload: digest of its image", notable("Another program runs under this name.")),
  "workload.mounts": row("workload: mounts", notable("The program sees other files, possibly the enclave's own keys.")),
  arguments: row("application: arguments", notable("The program runs with other arguments.")),
  environment: row("application: environment variable", notable("A setting of the program changed.")),
  bridge: row("application: bridges", notable("The program is reached, or reaches others, at other ports or hosts.")),
  dns: row("DNS resolvers", notable("Other servers resolve the names that the program looks up.")),
  "document.user-data": row("user data of the document", {
    changed: notable("The enclave commits to something else; under QOS that is another manifest."),
    alone: critical(
      "The document commits to another manifest, but the given manifest did not change: one of the two is wrong.",
    ),
    follows: minor("The hash of the manifest changes with everything in the manifest."),
  }),
  "bundle.boot-proof": row("boot proof of the bundle", {
    changed: notable("The bundle has one more boot proof."),
    removed: notable("The bundle no longer has this boot proof."),
  }),
  "app-proof": row("app proof", {
    changed: notable("The enclave signed something else."),
    added: notable("There is one more app proof."),
    removed: notable("This app proof is no longer there."),
  }),
  "activity.result": row("result of the activity", notable("The activity has another result.")),
  "activity.intent": row("intent of the activity", notable("Something else was requested.")),
  "activity.status": row("status of the activity", notable("The activity has another status.")),
  activity: row("activity", {
    changed: notable("It is another activity."),
    added: notable("The bundle has an activity now."),
    removed: notable("The bundle has no activity any more."),
  }),
  "provenance.ref": row("ref of the build", {
    lower: critical("It was built from a branch or a pull request, no longer from a tag."),
    changed: notable("It was built from another tag or branch."),
  }),
  "provenance.commit": row("commit of the build", notable("It was built from other sources: compare the two commits.")),
  "provenance.trigger": row(
    "trigger of the build",
    notable("Another event started the build: check who is allowed to cause it."),
  ),
  "provenance.subject": row("subjects of the statement", notable("The statement is about other files.")),
  "release.application": row("released application", {
    changed: notable("The release has one more application."),
    removed: notable("The release no longer has this application."),
  }),
};

/** Changes that come with each boot, response or edit. */
const OF_LITTLE_WEIGHT = {
  "image.metadata": row("metadata of the image", minor("Nothing measures it, so it changes no PCR.")),
  "image.signature": row("signature of the image", minor("It changes PCR8 alone, if another certificate signed.")),
  "restart-policy": row("restart policy", minor("The program restarts under other conditions.")),
  "client-timeout": row(
    "timeout of connections to the application",
    minor("Connections to the application end after another time."),
  ),
  "pool-size": row(
    "number of connections to the application",
    minor("QOS keeps another number of connections to the application."),
  ),
  volumes: row("volumes", minor("Workloads have other room in memory.")),
  "manifest.version": row("manifest: version", {
    changed: minor("The manifest is written by another version of QOS."),
    lower: notable("The manifest has an older format, which covers less."),
  }),
  "manifest.declared-version": row(
    "manifest version that the service names",
    minor("The service names another version; the manifest itself must agree."),
  ),
  "member.alias": row("alias of a member", minor("The same key under another name.")),
  approval: row("approval", {
    changed: minor("The approval is different. The set, not this, decides who may approve."),
    added: minor("There is one more approval. The set, not this, decides who may approve."),
    removed: minor("There is one approval fewer; the threshold decides how many are needed."),
  }),
  "document.time": row("time of the document", {
    lower: notable("The document is older than before: find out why if a newer one was expected."),
    changed: minor("The document is newer than before."),
  }),
  "document.nonce": row("nonce of the document", minor("The document was made for another request, or for none.")),
  "ephemeral-key": row(
    "ephemeral key",
    minor("Another enclave, or the same one after a new boot: each boot makes a key."),
  ),
  "commitment.register": row(
    "commitment register",
    minor("The register commits to key and manifest, and changes with them."),
  ),
  "document.module-id": row("module id", minor("The enclave runs on another instance, or was started again.")),
  "certificate.leaf": row(
    "certificate of the enclave",
    minor("Each enclave has its own certificate, and gets a new one every few hours."),
  ),
  "certificate.intermediate": row(
    "intermediate certificates",
    minor("The certificates of region, zone and instance change within days."),
  ),
  "document.signature": row(
    "signature of the document",
    minor("Each document has a signature of its own, which only verification checks."),
  ),
  "provenance.material": row(
    "certificate, log entry and signature",
    minor("Each bundle has its own, which only verification checks."),
  ),
  labels: row("label", minor("The service labels it differently; labels are not signed.")),
  "created-at": row("creation time", minor("The service gives another time, which is not signed.")),
  "activity.id": row("id of the activity", minor("It is another activity.")),
  "bundle.now": row("time of the judgement", {
    lower: notable("The time of the verification is earlier than before."),
    changed: minor("The verification is later than before."),
  }),
  "bundle.report": row(
    "packed report",
    minor("The packed reports differ in more than the verdict; this is the first place."),
  ),
  "release.version": row("version of the release", minor("It is another release.")),
  "policy.name": row("name of the policy", minor("Only reports show it.")),
  "policy.deployment-name": row("name of a deployment", minor("Only reports show it.")),
  "policy.comment": row("comment", minor("This text is for people and editors, and has no effect.")),
  order: row("order", minor("The same entries are in another order.")),
  encoding: row("encoding", minor("The content is the same, but its bytes differ.")),
  other: row("other", minor("This tool does not know its meaning: compare both files at this place.")),
};

/** All changes, worst first. The ids are public. */
export const CHANGES = { ...OF_EVIDENCE, ...OF_POLICIES, ...OF_WHAT_RUNS, ...OF_LITTLE_WEIGHT };

export type ChangeId = keyof typeof CHANGES;

export const CHANGE_IDS = /* @__PURE__ */ Object.keys(CHANGES) as readonly ChangeId[];

/** A change without its severity and meaning. */
export interface Found {
  readonly what: ChangeId;
  readonly turn: Turn;
  /** The key of the changed entry in a list, such as a set member's. Empty if the change is not in a list. */
  readonly entry: string;
  readonly place: string;
  /** Null means absent. */
  readonly before: string | null;
  readonly after: string | null;
  /** Text before the meaning, such as `The namespace`. Null if the meaning needs none. */
  readonly about: string | null;
  /** Whether the change covers every difference at and below its place. */
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
