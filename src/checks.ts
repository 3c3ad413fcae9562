/** The table of checks. Their texts are in report/explanations.md. */
import { type Fault, type FaultCause, cut, faultText, listed } from "./errors.js";

interface CheckRow<Link, Group> {
  /** Statement that is true when the check passes, and the default `detail` of a passed check. */
  readonly title: string;
  /** Link of the chain of trust (show/chain.ts). */
  readonly link: Link;
  /** Group of claims of an attestation result (formats/ear.ts). Absent if the check affects only the overall status. */
  readonly claim?: Group;
  /** Whether its status `warn` weakens a good verdict. It is absent for a check that never warns. */
  readonly warn?: "warning" | "note";
  /** Whether the check depends on the caller. Such a check runs again for a boot proof that was verified before. */
  readonly again?: true;
}

/** The ids are a public contract. Their order is the order of every report. */
const CHECKS = {
  "boot.decode": { title: "the boot proof has every field, of the right type", link: "document", warn: "note" },
  "cose.structure": {
    title: "the attestation document is one strictly encoded COSE_Sign1",
    link: "document",
    claim: "hardware",
  },
  "cose.algorithm": { title: "the protected header names ES384 and nothing else", link: "document", claim: "hardware" },
  "cose.signature": { title: "the leaf certificate's key signed the document", link: "document", claim: "hardware" },
  "doc.structure": {
    title: "the attestation document follows every rule of its format",
    link: "document",
    claim: "hardware",
    warn: "note",
  },
  "doc.time": {
    title: "the document's time is at most five minutes after now",
    link: "document",
    claim: "hardware",
    again: true,
  },
  "chain.anchor": {
    title: "the certificate path starts at a trust anchor of this verifier",
    link: "anchor",
    claim: "anchor",
    warn: "warning",
    again: true,
  },
  "chain.signature": {
    title: "each certificate is signed and named by the one above it",
    link: "certificates",
    claim: "hardware",
  },
  "chain.algorithm": {
    title: "every key is P-384 and every signature ECDSA with SHA-384",
    link: "certificates",
    claim: "hardware",
  },
  "chain.validity": {
    title: "every certificate is valid at the validation time",
    link: "certificates",
    claim: "hardware",
    again: true,
  },
  "chain.constraints": {
    title: "every certificate is allowed at its place in the path",
    link: "certificates",
    claim: "hardware",
  },
  "chain.revocation": {
    title: "no revocation list of the caller names a certificate of the path",
    link: "certificates",
    claim: "hardware",
    warn: "warning",
    again: true,
  },
  "manifest.decode": {
    title: "the manifest is valid in its declared version",
    link: "manifest",
    claim: "manifest",
    warn: "note",
  },
  "envelope.decode": {
    title: "the manifest envelope is valid in its declared version",
    link: "approvals",
    claim: "manifest",
    warn: "note",
  },
  "envelope.manifest": { title: "the envelope approves this manifest", link: "approvals", claim: "configuration" },
  "envelope.approvals": {
    title: "enough members of the manifest set approved the manifest",
    link: "approvals",
    claim: "approvals",
  },
  "envelope.shares": {
    title: "every share-set approval is valid",
    link: "approvals",
    claim: "approvals",
    warn: "note",
  },
  "bind.user-data": {
    title: "the document's user data is the manifest's hash",
    link: "manifest",
    claim: "configuration",
  },
  "bind.pcrs": { title: "the measured image is the one the manifest names", link: "measurements", claim: "code" },
  "bind.image": {
    title: "the measured image is the one that the caller expects",
    link: "measurements",
    claim: "code",
    again: true,
  },
  "bind.key": { title: "the document attests this ephemeral key", link: "key", claim: "key", again: true },
  "bind.commitment": {
    title: "the enclave itself committed to this manifest and key",
    link: "key",
    claim: "key",
    warn: "note",
  },
  "bind.nonce": {
    title: "the document carries the nonce of the request, and none if the request had none",
    link: "document",
    again: true,
  },
  "mode.debug": {
    title: "neither the enclave nor the application runs in debug mode",
    link: "measurements",
    claim: "debug",
    warn: "warning",
    again: true,
  },
  "app.decode": { title: "the app proof has every field in its form", link: "app-proofs" },
  "app.signature": { title: "the ephemeral key signed the payload", link: "app-proofs" },
  "app.key": { title: "a verified boot proof attests the key that signed", link: "app-proofs" },
  "app.payload": { title: "the payload is strict JSON of its type", link: "app-proofs" },
  "app.time": {
    title: "the payload was made after the boot, not before the request, and not in the future",
    link: "app-proofs",
    warn: "warning",
  },
  "app.request": {
    title: "the proof is about the organization, addresses and payload values that are expected",
    link: "claims",
    warn: "note",
  },
  "activity.decode": { title: "the activity is well-formed and carries app proofs", link: "claims" },
  "activity.request": { title: "the activity matches the request", link: "claims", warn: "warning" },
  "activity.claims": { title: "the app proofs agree with the activity", link: "claims", warn: "warning" },
  "activity.coverage": { title: "every address in the result is backed by an app proof", link: "claims", warn: "note" },
  "activity.signature": {
    title: "each signature in the result verifies under the key and over the content of the request",
    link: "claims",
    warn: "note",
  },
  "policy.scope": {
    title: "the deployment that matched pins image, application and operator",
    link: "policy",
    claim: "scope",
    warn: "warning",
  },
  "policy.deployment": { title: "the enclave matches a deployment of the policy", link: "policy", claim: "identity" },
  "policy.pcrs": { title: "the measurements are pinned", link: "policy", claim: "code" },
  "policy.manifest-hash": { title: "the manifest is pinned", link: "policy", claim: "configuration" },
  "policy.pivot": { title: "the application binary is pinned", link: "policy", claim: "code" },
  "policy.workloads": {
    title: "the workloads are the pinned ones, each with its digest",
    link: "policy",
    claim: "code",
  },
  "policy.args": {
    title: "the application's arguments and environment are the pinned ones",
    link: "policy",
    claim: "configuration",
  },
  "policy.namespace": { title: "the namespace is pinned", link: "policy", claim: "configuration" },
  "policy.nonce": { title: "the manifest is not older than the pinned one", link: "policy", claim: "configuration" },
  "policy.quorum-key": { title: "the quorum key is pinned", link: "policy", claim: "identity" },
  "policy.manifest-set": { title: "the manifest set is the pinned one", link: "policy", claim: "configuration" },
  "policy.share-set": { title: "the share set is the pinned one", link: "policy", claim: "configuration" },
  "policy.user-data": { title: "the document's user data is pinned", link: "policy", claim: "configuration" },
  "policy.public-key": { title: "the document's public key is pinned", link: "policy", claim: "identity" },
  "policy.commitment": { title: "the commitment is of the pinned kind", link: "policy", claim: "identity" },
  "policy.labels": { title: "the service's labels are the pinned ones", link: "policy" },
  "policy.age": { title: "the boot proof is not older than the policy allows", link: "policy", warn: "warning" },
  "policy.current": { title: "the signed policy is in force", link: "policy", warn: "warning" },
  "policy.app-proof": { title: "the app proofs meet the rules of the policy", link: "policy" },
  "provenance.bundle": {
    title: "the bundle is of the expected form, and verifies under a trusted root of the policy",
    link: "policy",
  },
  "provenance.signer": {
    title: "the certificate names the issuer, repository and workflow that the policy demands",
    link: "policy",
  },
  "provenance.subject": {
    title: "the signed statement is of an accepted type and about the binary that the enclave runs",
    link: "policy",
  },
  "token.decode": { title: "the token or bundle is of its kind, in its strict form", link: "other" },
  "token.key": {
    title: "the policy pins a quorum key that may sign it, whose secret is not public",
    link: "other",
    warn: "warning",
  },
  "token.signature": { title: "a quorum key that the policy pins for the namespace signed it", link: "other" },
  "token.expiry": { title: "it has not expired", link: "other" },
  "token.expected": { title: "it is about what the caller expects", link: "other" },
} as const satisfies Record<string, CheckRow<string, string>>;

export type CheckId = keyof typeof CHECKS;

type Rows = (typeof CHECKS)[CheckId];
export type ChainLink = Rows["link"];
export type ClaimGroup = Extract<Rows, { claim: string }>["claim"];

/** Ids of the checks that have this value of `warn`. */
type IdsThatWarn<Warn> = { [Id in CheckId]: (typeof CHECKS)[Id] extends { warn: Warn } ? Id : never }[CheckId];
/** The checks whose warning weakens a verdict of evidence. Tokens have a report of their own. */
export type WarningCheckId = Exclude<IdsThatWarn<"warning">, `token.${string}`>;

export const CHECK_IDS = /* @__PURE__ */ Object.keys(CHECKS) as readonly CheckId[];

export function isCheckId(value: unknown): value is CheckId {
  return typeof value === "string" && Object.hasOwn(CHECKS, value);
}

/** Returns the row of a check, or undefined for a check of another version's report. */
export function checkRow(id: string): CheckRow<ChainLink, ClaimGroup> | undefined {
  return isCheckId(id) ? CHECKS[id] : undefined;
}

/** The title of each check, by id. */
export const CHECK_TITLES = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ CHECK_IDS.map((id) => [id, CHECKS[id].title]),
) as { readonly [Id in CheckId]: (typeof CHECKS)[Id]["title"] };

/** First word of a check's id, such as `boot`. */
export type CheckFamily = CheckId extends `${infer Family}.${string}` ? Family : never;

/** Returns the checks of these families, in report order. They are skipped together if their input is unreadable. */
export function checksOf(...families: readonly CheckFamily[]): readonly CheckId[] {
  return CHECK_IDS.filter((id) => families.some((family) => id.startsWith(`${family}.`)));
}

/** Whether the check runs again for a boot proof that was verified before. */
export function runsAgain(id: CheckId): boolean {
  return checkRow(id)!.again === true;
}

const POSITIONS = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ CHECK_IDS.map((id, index) => [id, index]),
) as Readonly<Record<CheckId, number>>;

/** The checks that compare evidence with a policy. */
export type PolicyCheckId = Extract<CheckId, `policy.${string}`>;

/** `warn` does not change the verdict, but needs attention. `skip` means that it did not run, as `detail` explains. */
export type CheckStatus = "pass" | "fail" | "warn" | "skip";

export type CheckSubject =
  | `boot[${number}]`
  | `app[${number}]`
  | "activity"
  | "policy"
  | `provenance[${number}]`
  | "token";

/** The result of one check. `expected` and `actual` are present if two values were compared. */
export interface Check {
  readonly id: CheckId;
  readonly subject: CheckSubject;
  /** The boot proof that was compared with the policy, if the subject is `policy`. */
  readonly about?: CheckSubject;
  /** The caller's name of the evidence that the check is about, such as a file name. */
  readonly name?: string;
  readonly status: CheckStatus;
  readonly detail: string;
  readonly expected?: string;
  /** The value that was found. A passed check can have it, too. */
  readonly actual?: string;
  /** Advice after a failed check. The report has it, and a check that is not yet in a report has its causes. */
  readonly advice?: string;
  /** Whether the check failed only because the evidence is older than the policy allows. */
  readonly stale?: true;
}

/** Causes without facts. */
export type PlainCause =
  | "aws-root"
  | "other-time"
  | "no-qos-key"
  | "claimed-key"
  | "unexpected-nonce"
  | "no-nonce"
  | "code-pcrs-absent"
  | "no-share"
  | "signs-no-app-proofs"
  | "clock"
  | "before-request"
  | "unfinished"
  | "needs-votes"
  | "needs-factor"
  | "no-result"
  | "two-organizations"
  | "used-before"
  | "denied"
  | "old-list"
  | "no-bundle"
  | "policy-expired"
  | "policy-early"
  | "no-app-proof"
  | "no-timed-app-proof"
  | "no-decision"
  | "other-type"
  | "is-app-proof"
  | "other-bytes"
  | "bytes-not-allowed"
  | "signs-any-bytes"
  | "untimed"
  | "old-app-proof"
  | "only-document"
  | "other-program"
  | "lower-threshold"
  | "setup-document"
  | "public-secret"
  | "other-quorum-key";

/** Why a check failed, where that decides what to do (report/causes.ts). The id of a check is its usual advice. */
export type Cause = CheckId | PlainCause | CauseWithFacts;

export type CauseWithFacts =
  | FaultCause
  | { readonly code: "organization"; readonly what: string; readonly expected: string; readonly found: string }
  | { readonly code: "derivation"; readonly deployment: string; readonly add: string }
  | { readonly code: "deployment-kind"; readonly kind: string }
  | PcrsCause
  | DeploymentCause;

/** PCRs of `compared` that differ from those of the caller's policy, of an image, or of the manifest. */
export interface PcrsCause {
  readonly code: "other-pcrs";
  readonly differing: readonly number[];
  readonly compared: readonly number[];
  readonly against: "policy" | "image" | "manifest";
}

/** No deployment matches. `is` says how the evidence differs from the nearest: by its age, its owner, or otherwise. */
export interface DeploymentCause {
  readonly code: "deployment";
  readonly kind: "qos" | "nitro";
  readonly is: "changed" | "older" | "another";
  readonly isSigned: boolean;
}

/** A check before its report is made, which puts the advice on its causes in their place. */
export interface Finding extends Check {
  readonly causes?: readonly Cause[];
}

/** A piece that fails a check of several pieces. */
export type Blamed = readonly [piece: CheckSubject, failed: CheckId];

/** Returns `boot[0]`, or `boot[0] = boot.json` if the caller named the evidence. An unusual name is quoted. */
export function subjectLabel(subject: CheckSubject, name: string | null | undefined): string {
  if (name === null || name === undefined) return subject;
  return `${subject} = ${/^[\w./@+-]{1,80}(?:\[\d{1,4}\])?$/.test(name) ? name : JSON.stringify(cut(name, MAX_NAME))}`;
}

/** Maximum characters of texts that may quote evidence: a detail, a compared value, a failure and a name. */
const MAX_DETAIL = 4096;
const MAX_COMPARED = 8192;
const MAX_FAILURE = 1000;
const MAX_NAME = 80;

function failureText(checks: readonly Check[]): string {
  const failed = checks.filter((check) => check.status === "fail");
  return listed(
    failed.map(({ subject, about, name, id, detail }) => {
      return `${subjectLabel(about ?? subject, name)} ${id}: ${cut(detail, MAX_FAILURE)}`;
    }),
    "; ",
  );
}

/** Returns the rejection in one line. Stale evidence has its own sentence. */
export function rejectedText({
  checks,
  stale,
}: {
  readonly checks: readonly Check[];
  readonly stale: boolean;
}): string {
  const word = stale ? "rejected, stale: the evidence is genuine, but older than the policy allows" : "rejected";
  return `${word}: ${failureText(checks)}`;
}

export interface Comparison {
  readonly expected: string;
  readonly actual: string;
}

/** The optional members of a failed check. Its usual advice applies if there are no causes. */
export type AnswerFacts = Partial<Comparison> & Pick<Finding, "causes" | "stale">;

/** Returns each cause of the faults once. */
function causesOf(faults: readonly Fault[]): readonly FaultCause[] {
  const causes = faults.flatMap(({ cause }) => cause ?? []);
  return causes.filter(({ code }, index) => causes.findIndex((other) => other.code === code) === index);
}

/** Results for one subject, at most one for each id, in the order of the table. */
export class Checklist {
  readonly subject: CheckSubject;
  readonly #about: CheckSubject | null;
  readonly #checks = new Array<Finding | undefined>(CHECK_IDS.length);

  /** `about` is the evidence that was compared, if several lists have the same subject. */
  constructor(subject: CheckSubject, about: CheckSubject | null = null) {
    this.subject = subject;
    this.#about = about;
  }

  /** Records a passed check. This method and the next return whether the check passed. */
  pass(id: CheckId, detail: string = CHECKS[id].title, actual?: string): true {
    this.#set(id, "pass", detail, actual === undefined ? undefined : { actual });
    return true;
  }

  fail(id: CheckId, detail: string, facts: AnswerFacts = {}): false {
    this.#set(id, "fail", detail, { ...facts, causes: facts.causes?.length ? facts.causes : [id] });
    return false;
  }

  warn(id: IdsThatWarn<"warning" | "note">, detail: string): true {
    this.#set(id, "warn", detail);
    return true;
  }

  skip(id: CheckId, reason: string): false {
    this.#set(id, "skip", reason);
    return false;
  }

  /** Records a failure with all the reasons, or a passed check if there are none. */
  conclude(id: CheckId, reasons: readonly string[], passDetail?: string, facts?: AnswerFacts): boolean {
    return reasons.length === 0 ? this.pass(id, passDetail) : this.fail(id, listed(reasons, "; "), facts);
  }

  /** Records the faults of a decoder with their causes, or a passed check if there are none. */
  decoded(id: CheckId, faults: readonly Fault[], passDetail?: string): boolean {
    return this.conclude(id, faults.length > 0 ? [faultText(faults)] : [], passDetail, { causes: causesOf(faults) });
  }

  /** Skips each check that has no result yet. */
  skipRest(ids: readonly CheckId[], reason: string): void {
    for (const id of ids) if (this.status(id) === undefined) this.skip(id, reason);
  }

  /** Copies the results of an earlier list about the same evidence. */
  adopt(checks: readonly Check[]): void {
    for (const check of checks) {
      this.#checks[POSITIONS[check.id]] =
        check.subject === this.subject ? check : Object.freeze({ ...check, subject: this.subject });
    }
  }

  answer(id: CheckId): Finding | undefined {
    return this.#checks[POSITIONS[id]];
  }

  status(id: CheckId): CheckStatus | undefined {
    return this.answer(id)?.status;
  }

  list(): Finding[] {
    const list: Finding[] = [];
    this.appendTo(list);
    return list;
  }

  /** Appends the results in their order, without an intermediate list. */
  appendTo(list: Check[]): void {
    for (const check of this.#checks) if (check !== undefined) list.push(check);
  }

  #set(id: CheckId, status: CheckStatus, detail: string, facts?: AnswerFacts): void {
    if (this.status(id) !== undefined) throw new Error(`bug: ${id} of ${this.subject} has two results`);
    const shown = cut(detail, MAX_DETAIL);
    // Members are set one by one for speed: a verification makes dozens of checks, and most have only the first four.
    const check: { -readonly [Name in keyof Finding]: Finding[Name] } =
      this.#about === null
        ? { id, subject: this.subject, status, detail: shown }
        : { id, subject: this.subject, about: this.#about, status, detail: shown };
    if (facts !== undefined) {
      const { expected, actual, causes, stale } = Object.assign(Object.create(null), facts) as AnswerFacts;
      if (expected !== undefined) check.expected = cut(expected, MAX_COMPARED);
      if (actual !== undefined) check.actual = cut(actual, MAX_COMPARED);
      if (causes !== undefined) check.causes = causes;
      if (stale === true) check.stale = stale;
    }
    this.#checks[POSITIONS[id]] = Object.freeze(check);
  }
}
