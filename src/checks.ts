/** The checks: their public ids in report order, what each asserts, and what to do when it fails. */
import { cut, listed } from "./errors.js";

/**
 * What each check asserts when it passes. The ids are a public contract, and their order here is the order of every
 * report.
 */
export const CHECK_TITLES = {
  "boot.decode": "the boot proof has every field, each of its type",
  "cose.structure": "the attestation document is one strictly encoded COSE_Sign1",
  "cose.algorithm": "the protected header names ES384 and nothing else",
  "cose.signature": "the leaf certificate's key signed the document",
  "doc.structure": "the attestation document keeps every rule of its format",
  "chain.anchor": "the certificate path starts at a trust anchor of this verifier",
  "chain.signature": "each certificate is signed and named by the one above it",
  "chain.algorithm": "every key is P-384 and every signature ECDSA with SHA-384",
  "chain.validity": "every certificate is valid at the validation time",
  "chain.constraints": "every certificate is allowed its place in the path",
  "manifest.decode": "the manifest is one of its declared version",
  "envelope.decode": "the manifest envelope is one of its declared version",
  "envelope.manifest": "the envelope approves this very manifest",
  "envelope.approvals": "enough members of the manifest set approved the manifest",
  "envelope.shares": "every share-set approval is valid",
  "bind.user-data": "the document commits to this manifest",
  "bind.pcrs": "the measured image is the one the manifest names",
  "bind.image": "the measured image is the one that was given",
  "bind.key": "the document attests this ephemeral key",
  "bind.commitment": "the enclave itself committed to manifest and key",
  "bind.nonce": "the document carries the nonce that was asked for, and none where none was",
  "mode.debug": "neither the enclave nor the application runs in debug mode",
  "app.decode": "the app proof has every field, each of its type",
  "app.signature": "the ephemeral key signed the payload",
  "app.key": "the key is the one that a verified boot proof attests",
  "app.payload": "the payload is strict JSON of its type",
  "app.time": "the payload was made after the boot, not before the request, and not in the future",
  "app.request": "the proof speaks of the organization and addresses that were asked for",
  "activity.decode": "the activity is one, and carries app proofs",
  "activity.request": "the activity is the answer to what was asked",
  "activity.claims": "what the app proofs say agrees with the activity",
  "activity.coverage": "every address in the result is backed by an app proof",
  "policy.scope": "the deployment that matched says which image runs, which application, and whose it is",
  "policy.deployment": "the enclave is a deployment that the policy pins",
  "policy.pcrs": "the measurements are pinned ones",
  "policy.manifest-hash": "the manifest is a pinned one",
  "policy.pivot": "the application binary is a pinned one",
  "policy.workloads": "the workloads are the pinned ones, each with its digest",
  "policy.args": "the application's arguments and environment are the pinned ones",
  "policy.namespace": "the namespace is a pinned one",
  "policy.nonce": "the manifest is not older than the pinned one",
  "policy.quorum-key": "the quorum key is a pinned one",
  "policy.manifest-set": "the manifest set is the pinned one",
  "policy.share-set": "the share set is the pinned one",
  "policy.user-data": "the document's user data is pinned",
  "policy.public-key": "the document's public key is pinned",
  "policy.commitment": "the commitment is of the pinned kind",
  "policy.labels": "the service labels the deployment as pinned",
  "policy.age": "the boot proof is not older than the policy allows",
  "policy.app-proof": "the app proofs are what the policy asks for",
} as const;

export type CheckId = keyof typeof CHECK_TITLES;

export const CHECK_IDS = /* @__PURE__ */ Object.keys(CHECK_TITLES) as readonly CheckId[];

const POSITIONS = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ CHECK_IDS.map((id, index) => [id, index]),
) as Readonly<Record<CheckId, number>>;

/** Of the checks that hold evidence against a policy. */
export type PolicyCheckId = Extract<CheckId, `policy.${string}`>;
export type EvidenceCheckId = Exclude<CheckId, PolicyCheckId>;

const EVIDENCE_ADVICE: Readonly<Record<EvidenceCheckId, string>> = {
  "boot.decode": "Fetch the boot proof again, and give the service's answer as it came; if it stays so, report it.",
  "cose.structure":
    "The document is damaged or not from the hardware: fetch it again, and trust nothing of it meanwhile.",
  "cose.algorithm": "Only ES384 is accepted: a document with another header is not from the hardware.",
  "cose.signature": "The document was changed after it was signed, or is not from the hardware: trust nothing of it.",
  "doc.structure":
    "The document is damaged or not from the hardware: fetch it again, and trust nothing of it meanwhile.",
  "chain.anchor":
    "The document comes from another authority. Give its root only if it is your own test installation's.",
  "chain.signature": "A certificate was exchanged or changed: trust nothing of the document.",
  "chain.algorithm": "The hardware's authority uses P-384 with SHA-384 only: trust nothing of the document.",
  "chain.validity":
    "At the document's own time (--at document, the default) trust nothing of it; at another it is old.",
  "chain.constraints": "A certificate stands where its issuer did not allow it: trust nothing of the document.",
  "manifest.decode":
    "Fetch the boot proof again; if it stays so, this version of the tool may not know the manifest's version.",
  "envelope.decode":
    "Fetch the boot proof again; if it stays so, this version of the tool may not know the envelope's version.",
  "envelope.manifest": "The service sent an envelope that belongs to another manifest: report it.",
  "envelope.approvals": "The manifest is not approved as its own manifest set demands: report it.",
  "envelope.shares": "Who provisioned the quorum key is not as the envelope says: report it.",
  "bind.user-data": "The enclave booted with another manifest than the one shown: report it.",
  "bind.pcrs": "The enclave runs another image than the manifest names: report it.",
  "bind.image": "Another image runs than the one that you gave: compare the two builds before you rely on it.",
  "bind.key": "The document speaks of another key: ask for the boot proof of the key that signed your app proof.",
  "bind.commitment": "Manifest or key are not those that the enclave committed to when it booted: report it.",
  "bind.nonce":
    "The document answers another question than yours: ask again with a nonce of your own, and give that with --nonce.",
  "mode.debug":
    "Nothing about the code of a debug enclave is proven. For a test installation, allow it with --allow-debug.",
  "app.decode": "Fetch the app proof again, and give the service's answer as it came.",
  "app.signature": "The payload was changed, or another key signed it: do not use the result.",
  "app.key": "Give the boot proof of the key that the app proof names.",
  "app.payload": "The signed payload cannot be read without doubt: do not use the result.",
  "app.time": "The proof is not of this enclave's life, or not of your request: do not use the result.",
  "app.request": "The proof is genuine and about something else than you asked for: do not use the result.",
  "activity.decode":
    "Give the service's answer as it came; it has app proofs where it was submitted with generateAppProofs: true.",
  "activity.request": "The service answered with something else than you asked for: do not use the result.",
  "activity.claims": "The proof speaks of something else than the activity: do not use the result.",
  "activity.coverage": "Ask the service for an app proof of each address, or do not rely on the uncovered ones.",
};

/** Apart from the rest: whoever only holds evidence against a policy has no use for that. */
export const POLICY_ADVICE: Readonly<Record<PolicyCheckId, string>> = {
  "policy.scope": "Read what is left open, and pin it: policy.json can be narrower.",
  "policy.deployment": "If the new deployment is expected, review it and pin it (bootproof pin); if not, stop.",
  "policy.pcrs": "The measurements are others than pinned: compare with the release you expect.",
  "policy.manifest-hash": "Another manifest was booted than the pinned one: review it before you pin it.",
  "policy.pivot": "Another application binary runs: compare with the release you expect.",
  "policy.workloads": "Other workloads run than the pinned ones: compare with the release you expect.",
  "policy.args":
    "Other arguments or another environment change what the application does: compare with the release you expect.",
  "policy.namespace": "The enclave belongs to another namespace than the pinned one.",
  "policy.nonce": "An older manifest was booted than the policy allows: this may be a roll-back.",
  "policy.quorum-key": "Another quorum key is provisioned: the enclave is not the pinned one.",
  "policy.manifest-set": "Other people can approve manifests than the policy expects.",
  "policy.share-set": "Other people hold the quorum key's shares than the policy expects.",
  "policy.user-data": "The enclave put other data into its document than the pinned ones.",
  "policy.public-key": "The document is of another key than the pinned one.",
  "policy.commitment": "The enclave is of another kind or generation than the policy expects.",
  "policy.labels": "Labels are the service's word: ask why they changed.",
  "policy.age": "Get a newer boot proof (bootproof verify --app NAME fetches it), or allow a greater maxAge.",
  "policy.app-proof": "Give app proofs as the policy's appProofs asks for.",
};

/**
 * What a person usually does about a failure of the check; a check that failed for another reason carries its own. The
 * compiler holds it against {@link CHECK_TITLES}.
 */
export const CHECK_ADVICE: Readonly<Record<CheckId, string>> = /* @__PURE__ */ Object.assign(
  {},
  EVIDENCE_ADVICE,
  POLICY_ADVICE,
);

/** `pass`; `fail`; `warn`: worth a person's look, changes no verdict; `skip`: could not be asked, `detail` says why. */
export type CheckStatus = "pass" | "fail" | "warn" | "skip";

export type CheckSubject = `boot[${number}]` | `app[${number}]` | "activity" | "policy";

/** One check's answer. `expected` and `actual` are there where two values were compared. */
export interface Check {
  readonly id: CheckId;
  readonly subject: CheckSubject;
  /** Of a check whose subject is `policy`: the boot proof that was held against the policy. */
  readonly about?: CheckSubject;
  /** The caller's name of the piece that it is about, such as the file's. */
  readonly name?: string;
  readonly status: CheckStatus;
  readonly detail: string;
  readonly expected?: string;
  /** Also of a check that passed: the value that is as it has to be. */
  readonly actual?: string;
  /** Of a failed check: what a person does about it, the usual ({@link CHECK_ADVICE}) where nothing fits better. */
  readonly advice?: string;
  /** Of a failed check: the evidence is older than the policy allows, and nothing else is wrong with it here. */
  readonly stale?: true;
}

/**
 * `boot[0]`, or `boot[0] = boot.json` where the caller has a name for it; in quotes what could be more than a name and
 * its place in a list.
 */
export function subjectLabel(subject: CheckSubject, name: string | null | undefined): string {
  if (name === null || name === undefined) return subject;
  return `${subject} = ${/^[\w./@+-]{1,80}(?:\[\d{1,4}\])?$/.test(name) ? name : JSON.stringify(cut(name, MAX_NAME))}`;
}

/** Characters of a detail, and of a compared value: evidence chooses what they quote. */
const MAX_DETAIL = 4096;
const MAX_COMPARED = 8192;
const MAX_FAILURE = 1000;
const MAX_NAME = 80;

/** The failed checks in one line: the first of many. */
function failureText(checks: readonly Check[]): string {
  const failed = checks.filter((check) => check.status === "fail");
  return listed(
    failed.map(({ subject, about, name, id, detail }) => {
      return `${subjectLabel(about ?? subject, name)} ${id}: ${cut(detail, MAX_FAILURE)}`;
    }),
    "; ",
  );
}

/** That evidence is rejected, in one line: what is only too old is told from what is wrong. */
export function rejectedText({
  checks,
  stale,
}: {
  readonly checks: readonly Check[];
  readonly stale: boolean;
}): string {
  const word = stale ? "rejected, stale: the evidence is genuine, and older than the policy allows" : "rejected";
  return `${word}: ${failureText(checks)}`;
}

/** The compared values of a failed check, as text. */
export interface Comparison {
  readonly expected: string;
  readonly actual: string;
}

/** What an answer may say beside its detail. */
export type AnswerFacts = Partial<Comparison> & { readonly advice?: string | undefined } & Pick<Check, "stale">;

/** The answers about one subject, at most one for each id, in the order of the table. */
export class Checklist {
  readonly subject: CheckSubject;
  readonly #about: CheckSubject | null;
  /** By position in the table. */
  readonly #answers = new Array<Check | undefined>(CHECK_IDS.length);

  /** `about`: the piece that was held against the subject, where one subject has several lists. */
  constructor(subject: CheckSubject, about: CheckSubject | null = null) {
    this.subject = subject;
    this.#about = about;
  }

  /**
   * Each answers whether what was asked holds, for whoever makes a fact of it: no fact is read back out of a status.
   */
  pass(id: CheckId, detail: string = CHECK_TITLES[id], actual?: string): true {
    this.#set(id, "pass", detail, actual === undefined ? {} : { actual });
    return true;
  }

  /** The usual advice of policy checks comes with what appraises, which not everybody loads. */
  fail(id: EvidenceCheckId, detail: string, facts?: AnswerFacts): false;
  fail(id: CheckId, detail: string, facts: AnswerFacts & { readonly advice: string }): false;
  fail(id: CheckId, detail: string, facts: AnswerFacts = {}): false {
    const advice = facts.advice ?? (EVIDENCE_ADVICE as Readonly<Partial<Record<CheckId, string>>>)[id];
    this.#set(id, "fail", detail, { ...facts, advice });
    return false;
  }

  warn(id: CheckId, detail: string): true {
    this.#set(id, "warn", detail);
    return true;
  }

  skip(id: CheckId, reason: string): false {
    this.#set(id, "skip", reason);
    return false;
  }

  /** `fail` with all the reasons at once, or `pass` where there is none. */
  conclude(id: EvidenceCheckId, reasons: readonly string[], passDetail?: string, facts?: AnswerFacts): boolean {
    return reasons.length === 0 ? this.pass(id, passDetail) : this.fail(id, listed(reasons, "; "), facts);
  }

  /** `skip` for those of the ids that have no answer yet. */
  skipRest(ids: readonly CheckId[], reason: string): void {
    for (const id of ids) if (this.status(id) === undefined) this.skip(id, reason);
  }

  /** Takes over the answers of an earlier list, about the same evidence. */
  adopt(checks: readonly Check[]): void {
    for (const check of checks) {
      this.#answers[POSITIONS[check.id]] =
        check.subject === this.subject ? check : Object.freeze({ ...check, subject: this.subject });
    }
  }

  answer(id: CheckId): Check | undefined {
    return this.#answers[POSITIONS[id]];
  }

  status(id: CheckId): CheckStatus | undefined {
    return this.answer(id)?.status;
  }

  list(): Check[] {
    const list: Check[] = [];
    this.appendTo(list);
    return list;
  }

  /** Adds the answers to a list, in their order: of several subjects, without a list of each. */
  appendTo(list: Check[]): void {
    for (const check of this.#answers) if (check !== undefined) list.push(check);
  }

  #set(id: CheckId, status: CheckStatus, detail: string, facts: AnswerFacts = {}): void {
    if (this.status(id) !== undefined) throw new Error(`bug: ${id} of ${this.subject} was answered twice`);
    const { expected, actual, advice, stale } = Object.assign(Object.create(null), facts) as AnswerFacts;
    const shown = cut(detail, MAX_DETAIL);
    // Member by member: most checks have the first four alone, and each verification makes dozens of them.
    const check: { -readonly [Name in keyof Check]: Check[Name] } =
      this.#about === null
        ? { id, subject: this.subject, status, detail: shown }
        : { id, subject: this.subject, about: this.#about, status, detail: shown };
    if (expected !== undefined) check.expected = cut(expected, MAX_COMPARED);
    if (actual !== undefined) check.actual = cut(actual, MAX_COMPARED);
    if (advice !== undefined) check.advice = advice;
    if (stale === true) check.stale = stale;
    this.#answers[POSITIONS[id]] = Object.freeze(check);
  }
}
