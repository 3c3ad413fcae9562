/** What is handed on of an answer. */
import type { AddressRow } from "../addresses/join.js";
import type { JsonObject, JsonValue } from "../decode/json.js";
import type { Report } from "../report/report.js";
import type { TokenReport } from "../token/verify.js";

/**
 * What of an answer was verified: an activity, a sign-up, a token or accounts, or nothing; `unproven` if that was
 * allowed, and `unfinished` if there is no result yet.
 */
type Proven = "activity" | "sign-up" | "token" | "accounts" | "none" | "unproven" | "unfinished";

/** The class of each address in an answer with accounts or private keys. */
export interface AccountReport {
  readonly rows: readonly AddressRow[];
}

/** What is handed on of an answer with accounts or private keys. */
export interface JudgedAnswer {
  readonly value: JsonObject;
  readonly report: AccountReport;
}

/** What is handed on of an answer, and what was verified of it. */
export interface Handed {
  readonly value: JsonValue;
  readonly proven: Proven;
  readonly report: Report | AccountReport | null;
  /** What an unfinished activity waits for. */
  readonly reason?: string;
  readonly tokenReport?: TokenReport<object> | null;
}
