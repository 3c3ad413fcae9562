/** Entries and settings of the lab that the attack tables share. */
import { toUtf8 } from "../../src/bytes.js";
import { Auditor } from "../../src/run/auditor.js";
import { type AuditResult, resultLine } from "../../src/run/result.js";
import { type AuditOptions, auditSetting } from "../../src/run/setting.js";
import { CHECK_IDS } from "../../src/checks.js";
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

/** The line without its number. */
export async function judged(auditor: Auditor, value: unknown): Promise<Omit<AuditResult, "n">> {
  const result = await auditor.judge(1, value instanceof Uint8Array ? value : entry(value));
  const members = Object.entries(JSON.parse(resultLine(result)) as AuditResult);
  return Object.fromEntries(members.filter(([name]) => name !== "n")) as Omit<AuditResult, "n">;
}

/** The line as the report of the same evidence would have it. */
export function expected({ verdict, stale, checks, claims }: Report): Omit<AuditResult, "n"> {
  const failed = checks.filter(({ status }) => status === "fail").map(({ id }) => id);
  const names = (claims?.bootProofs ?? []).flatMap(({ deployment }) => deployment ?? []);
  return {
    verdict,
    failed: CHECK_IDS.filter((id) => failed.includes(id)),
    ...(stale && { stale }),
    ...(names.length > 0 && { deployments: [...new Set(names)] }),
  };
}
