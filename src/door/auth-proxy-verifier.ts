/** Verifies the answers of the auth proxy: sign-ups by app proofs, log-ins by the tokens that quorum keys sign. */
import type { JsonValue } from "../decode/json.js";
import { type Attempt, faultText } from "../errors.js";
import { namedBootProofs } from "./verifying.js";
import type { Door } from "./door.js";
import type { Handed } from "./handed.js";
import { ClientError, RejectedAuthProxyError, answerError, evidenceError, requestError } from "./errors.js";
import { fetchEvidence } from "./evidence.js";
import type { Query } from "./evidence-source.js";
import type { Signal } from "./platform.js";
import { untilAborted } from "./waiting.js";
import { type ReadAnswer, answerOfLiterals, readUnverifiedAnswer } from "./answer.js";
import {
  type AuthQuestion,
  type SignUpAnswer,
  type SignUpQuestion,
  type TokenQuestion,
  authQuestionOf,
  coverageContradictions,
  readSignUpAnswer,
  readTokenAnswer,
  walletContradictions,
} from "./auth-proxy.js";
import type { Check } from "../checks.js";
import { SIGNED_KINDS } from "../token/decode.js";
import { noKeyText, tokenKeys } from "../token/keys.js";
import {
  ANY_ORGANIZATION,
  ANY_USER,
  type TokenReport,
  verifyOtpToken,
  verifySessionToken,
  verifySignedBundle,
} from "../token/verify.js";
import { isAcceptedReport } from "../verification.js";
import { verifyAnswer } from "../bootproof.js";

/** A question to the auth proxy, and when it was asked. */
interface AskedAuthProxy {
  readonly question: AuthQuestion;
  readonly requestedAt: Date;
  /** Whether an answer without a proof is handed on. */
  readonly isAllowed: boolean;
}

type Asked<Q extends AuthQuestion> = AskedAuthProxy & { readonly question: Q };

interface AuthProxyCall {
  readonly signal?: Signal | undefined;
  /** Asks the service for evidence. */
  readonly query: Query;
}

export class AuthProxyVerifier {
  readonly #door: Door;
  readonly #isAllowed: (operation: string) => boolean;

  constructor(door: Door, isAllowed: (operation: string) => boolean) {
    this.#door = door;
    this.#isAllowed = isAllowed;
  }

  /**
   * Returns the question of a request before it is sent. `isAllowed` is whether its answer needs no proof; by default
   * the options decide. Throws {@link ClientError} (`request`), and TypeError for a clock that gives no time.
   */
  ask(
    operation: string,
    { value: body, faults }: Attempt<JsonValue>,
    isAllowed = this.#isAllowed(operation),
  ): AskedAuthProxy {
    const question = authQuestionOf(operation, body, isAllowed);
    if (typeof question === "string") {
      const unread = body === undefined ? `the body is not strict JSON: ${faultText(faults)}` : question;
      throw requestError(operation, [{ path: "", message: unread }]);
    }
    const fault = this.#unprovable(question, isAllowed);
    if (fault !== null) throw requestError(operation, [{ path: "", message: fault }]);
    const requestedAt = this.#door.now();
    if (!(requestedAt instanceof Date) || Number.isNaN(requestedAt.getTime()))
      throw new TypeError("options.now: expected a function that returns a valid Date. Nothing was sent");
    return { question, requestedAt, isAllowed };
  }

  /** Verifies an answer. Rejects with {@link RejectedAuthProxyError} and {@link ClientError}. */
  async settle(asked: AskedAuthProxy, { value: answer, faults }: ReadAnswer, call: AuthProxyCall): Promise<Handed> {
    const { question } = asked;
    const isVerified = question.kind === "sign-up" || question.kind === "token";
    // Numbers of an answer that is handed on unverified stay as they are written.
    const plain = isVerified ? answerOfLiterals(answer) : { value: null, faults: [] };
    const messages = [...faults, ...plain.faults].map((message) => ({ path: "", message }));
    if (messages.length > 0) throw answerError(question.operation, messages, "unknown");
    if (question.kind === "sign-up") return this.#settleSignUp({ ...asked, question }, plain.value, call);
    if (question.kind === "token") return this.#settleToken({ ...asked, question }, plain.value);
    const read = readUnverifiedAnswer({ ...question, kind: "query", organizationId: null }, answer);
    const proven = question.kind === "unknown" ? "unproven" : "none";
    if ("value" in read) return { ...UNPROVEN, value: read.value, proven };
    throw answerError(question.operation, [{ path: "", message: read.fault }], "unknown");
  }

  /** Returns why no answer to the question could be verified, or null. */
  #unprovable(question: AuthQuestion, isAllowed: boolean): string | null {
    if (question.kind === "sign-up" && question.accounts === 0) return isAllowed ? null : NOTHING_TO_VERIFY;
    if (question.kind !== "token") return null;
    // A token that binds no key is refused, even if tokens without a pinned key are allowed.
    if (this.#hasKey(question)) return question.lacksKey ? NAME_THE_KEY : null;
    if (isAllowed) return null;
    return `${noKeyText(this.#door.policy, namespaceOf(question))}. ${PIN_THE_KEY}`;
  }

  #hasKey(question: TokenQuestion): boolean {
    return tokenKeys(this.#door.policy, namespaceOf(question)).length > 0;
  }

  async #settleSignUp(asked: Asked<SignUpQuestion>, value: JsonValue, call: AuthProxyCall): Promise<Handed> {
    const { question, isAllowed } = asked;
    const { operation } = question;
    const { value: answer, faults } = readSignUpAnswer(value);
    if (answer === undefined) throw answerError(operation, faults, "unknown");
    // Before anything is awaited, so that of two answers with one organization only the first counts.
    const refusals = [...walletContradictions(question, answer), ...this.#repeated(answer)];
    if (answer.appProofs.length > 0) return this.#verifySignUp(asked, answer, refusals, call);
    if (!isAllowed) refusals.push("the answer has no app proofs");
    if (refusals.length > 0) throw new RejectedAuthProxyError(operation, refusals, null);
    return { ...UNPROVEN, value: answer.value };
  }

  /** Returns a refusal if this organization answered another sign-up, and remembers it. */
  #repeated({ organizationId }: SignUpAnswer): string[] {
    return this.#door.signUps.add(organizationId) ? [] : ["the organization answered another sign-up before"];
  }

  async #verifySignUp(
    { question, requestedAt }: Asked<SignUpQuestion>,
    answer: SignUpAnswer,
    refusals: readonly string[],
    { signal, query }: AuthProxyCall,
  ): Promise<Handed> {
    const { operation } = question;
    const { organizationId, wallet, appProofs } = answer;
    const door = this.#door;
    const all = [...refusals, ...coverageContradictions(question, answer)];
    const held = await untilAborted(door.begin(), signal);
    const fetched = fetchEvidence({ appProofs: [...appProofs] }, (key) => door.bootProofs.find(key, held, query));
    const { bootProofs } = await untilAborted(fetched, signal).catch((error: Error) => {
      if (!(error instanceof ClientError)) throw error;
      // The answer is refused in any case, so missing evidence does not matter.
      if (all.length > 0 && error.code !== "aborted") return { bootProofs: [] };
      // Nothing was handed on, so the same answer may be verified later.
      door.signUps.delete(organizationId);
      const facts = { operation, effect: "unknown" } as const;
      throw evidenceError("the boot proofs of the sign-up", error, facts, " An organization was made.");
    });
    const pieces = namedBootProofs(bootProofs.map(({ bootProof }) => bootProof));
    const evidence = { bootProofs: pieces, appProofs: [...appProofs], ...held.builds.evidence };
    const options = { ...door.options(held), expected: { organizationId, requestedAt } };
    const { walletId = null, addresses = [] } = wallet ?? {};
    const { report } = await verifyAnswer(evidence, options, all, { signUp: { organizationId, walletId, addresses } });
    // Without an account no address is proven, whatever other app proofs the answer has.
    const isProven = question.accounts > 0;
    if (isAcceptedReport(report))
      return { ...UNPROVEN, value: answer.value, ...(isProven && { proven: "sign-up" as const, report }) };
    throw new RejectedAuthProxyError(operation, reasonsOf(report.checks, report.refusedFor), report);
  }

  async #settleToken({ question, isAllowed }: Asked<TokenQuestion>, given: JsonValue): Promise<Handed> {
    const { operation, members } = question;
    const { value, faults } = readTokenAnswer(question, given);
    if (value === undefined) throw answerError(operation, faults, "unknown");
    if (isAllowed && !this.#hasKey(question)) return { ...UNPROVEN, value };
    const tokenReport = await this.#verifyToken(question, value[members[0]] as string);
    const isStrict = this.#door.strictness.acceptance === "strict";
    const warned = isStrict ? tokenReport.checks.filter(({ status }) => status === "warn") : [];
    if (tokenReport.verdict === "verified" && warned.length === 0)
      return { ...UNPROVEN, value, proven: "token", tokenReport };
    const reasons = reasonsOf(
      tokenReport.checks,
      warned.map(({ detail }) => detail),
    );
    throw new RejectedAuthProxyError(operation, reasons, tokenReport);
  }

  /** A request that names no organization lets the auth proxy find it. */
  async #verifyToken({ token, organizationId, publicKey }: TokenQuestion, text: string): Promise<TokenReport<object>> {
    const { policy } = await this.#door.begin();
    const common = { policy, now: this.#door.now() };
    const anyOrganization = { organizationId: ANY_ORGANIZATION } as const;
    const owner = organizationId === null ? anyOrganization : { organizationId };
    const expected = { ...owner, ...(publicKey !== null && { publicKey }) };
    if (token === "session") return verifySessionToken(text, { ...common, expected });
    if (token === "otp") return verifyOtpToken(text, { ...common, expected });
    return verifySignedBundle(text, { ...common, kind: token, expected: { ...anyOrganization, userId: ANY_USER } });
  }
}

/** What a settled answer has if nothing of it was verified. */
const UNPROVEN = { proven: "unproven", report: null } as const;

const NOTHING_TO_VERIFY =
  "the sign-up requests no account of a wallet, so its answer has nothing that can be verified. Request a wallet, or " +
  "name the operation in allowUnproven";
const NAME_THE_KEY = "name publicKey in the request: a token that binds no key is refused";
const PIN_THE_KEY = "Pin the application (`bootproof pin --release`), or name the operation in allowUnproven";

function namespaceOf({ token }: TokenQuestion): string {
  return SIGNED_KINDS[token].namespace;
}

function reasonsOf(checks: readonly Check[], others: readonly string[] = []): string[] {
  const failed = checks.filter(({ status }) => status === "fail");
  return [...failed.map(({ id, detail }) => `${id}: ${detail}`), ...others];
}
