/** Entries of every kind, their setting, and their results by one process. */
import { parsePolicy } from "../../src/appraise/policy.js";
import { toUtf8 } from "../../src/bytes.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type Batch, type Judge, localJudge } from "../../src/run/judge.js";
import type { EntryResult } from "../../src/run/result.js";
import { type AuditSetting, auditSetting } from "../../src/run/setting.js";

const AT = new Date("2026-03-04T05:06:07.000Z");
const lab = new Forge();
const evidence = forgeEvidence({ lab, at: AT });

export const POLICY = labPolicy(evidence.anchorPem, [labDeployment(lab)]);
export const BOOT_PROOF = JSON.stringify(evidence.bootProof);
export const NOW = new Date(AT.getTime() + 60_000).toISOString();
export const SECRET = "5ec0".repeat(16);

/** Judged under `POLICY`, or the same under another name; separate app proofs under the one boot proof. */
export function settingOf(name = "lab"): AuditSetting {
  const policy = parsePolicy(toUtf8(JSON.stringify({ ...POLICY, name })));
  return auditSetting({ policy, now: new Date(NOW), bootProofs: [BOOT_PROOF] });
}

/** Of most kinds; few are boot proofs, which cost more than everything else. */
export function entriesOf(count: number): Uint8Array[] {
  const appProof = JSON.stringify(evidence.appProofs[0]);
  const kinds: readonly ((n: number) => string | Uint8Array)[] = [
    () => appProof,
    (n) => appProof.replace(/"signature":"..../, `"signature":"${String(n % 10_000).padStart(4, "0")}`),
    (n) => `{"no": "evidence", "n": ${n}}`,
    (n) => Uint8Array.of(0xff, 0xfe, n & 0xff, 0x00),
    (n) => `\ufeff"${"\\u0041".repeat(n % 50)}\u2028`,
    (n) => (n % 60 === 5 ? BOOT_PROOF : appProof),
  ];
  return Array.from({ length: count }, (_, index) => {
    const entry = kinds[index % kinds.length]!(index);
    return typeof entry === "string" ? toUtf8(entry) : entry;
  });
}

export function batchesOf(entries: readonly Uint8Array[], size = 16): Batch[] {
  return Array.from({ length: Math.ceil(entries.length / size) }, (_, at) => ({
    entries: entries.slice(at * size, (at + 1) * size),
  }));
}

/** The results of all entries, in their order. */
export async function resultsBy(judge: Judge, entries: readonly Uint8Array[]): Promise<EntryResult[]> {
  try {
    const judged = await Promise.all(batchesOf(entries).map((batch) => judge.judge(batch)));
    return judged.flatMap(({ results }) => results);
  } finally {
    await judge.close();
  }
}

export async function resultsHere(setting: AuditSetting, entries: readonly Uint8Array[]): Promise<EntryResult[]> {
  return resultsBy(await localJudge(setting), entries);
}
