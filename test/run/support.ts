/** Entries and settings of the lab that the attack tables share. */
import { toUtf8 } from "../../src/bytes.js";
import { Auditor } from "../../src/run/auditor.js";
import type { EntryResult } from "../../src/run/result.js";
import { type AuditOptions, auditSetting } from "../../src/run/setting.js";
import { CHECK_IDS, type CheckId } from "../../src/checks.js";
import type { Report } from "../../src/report/report.js";
import { NOW, forge, optionsOf } from "../attacks/support.js";

export const whole = forge();

/** An entry as one line. */
export function entry(value: unknown): Uint8Array {
  return toUtf8(typeof value === "string" ? value : JSON.stringify(value));
}

/** An auditor under the policy that pins all of the lab. */
export function auditorOf(options: Partial<AuditOptions> = {}): Promise<Auditor> {
  return Auditor.of(auditSetting({ policy: optionsOf(whole).policy, now: NOW, ...options }));
}

/** The result without the times of documents, which no line has. */
export async function judged(auditor: Auditor, value: unknown): Promise<EntryResult> {
  const { documentTimes: _, ...result } = await auditor.judge(value instanceof Uint8Array ? value : entry(value));
  return result;
}

/** The result as the report of the same evidence would have it. */
export function expected({ verdict, stale, checks, claims }: Report): EntryResult {
  const idsOf = (wanted: string): CheckId[] =>
    CHECK_IDS.filter((id) => checks.some((check) => check.id === id && check.status === wanted));
  const names = (claims?.bootProofs ?? []).flatMap(({ deployment }) => deployment ?? []);
  return {
    verdict,
    failed: idsOf("fail"),
    warnings: idsOf("warn"),
    ...(stale && { stale }),
    ...(names.length > 0 && { deployments: [...new Set(names)] }),
  };
}
