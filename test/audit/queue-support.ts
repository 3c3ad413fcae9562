/** An input of every kind of entry, its setting, and the results of one process. */
import { parsePolicy } from "../../src/appraise/policy.js";
import { toUtf8 } from "../../src/bytes.js";
import type { Batch, Judge } from "../../src/audit/batch.js";
import { localJudge } from "../../src/audit/judge.js";
import { runAudit } from "../../src/audit/run.js";
import { type AuditSetting, auditSetting } from "../../src/audit/setting.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";

const AT = new Date("2026-03-04T05:06:07.000Z");
const lab = new Forge();
const evidence = forgeEvidence({ lab, at: AT });

export const POLICY = labPolicy(evidence.anchorPem, [labDeployment(lab)]);
export const BOOT_PROOF = JSON.stringify(evidence.bootProof);

export const NOW = new Date(AT.getTime() + 60_000).toISOString();

/** Judged under `POLICY` or the same under another name; separate app proofs under the one boot proof. */
export function settingOf(name = "lab"): AuditSetting {
  const policy = parsePolicy(toUtf8(JSON.stringify({ ...POLICY, name })));
  return auditSetting({ policy, now: new Date(NOW), bootProofs: [BOOT_PROOF] });
}

/** The same, where the policy names its trust anchor as a file. */
export function namingSetting(pem: string = evidence.anchorPem, file = "root.pem"): AuditSetting {
  const text = JSON.stringify({ ...POLICY, trustAnchors: [{ file }] });
  return { policy: { text, anchors: { [file]: pem } }, now: NOW, bootProofs: [BOOT_PROOF] };
}

/** Of most kinds; few are boot proofs, which cost more than everything else. */
export function entriesOf(count: number): Uint8Array[] {
  const appProof = JSON.stringify(evidence.appProofs[0]);
  const kinds: readonly ((n: number) => string | Uint8Array)[] = [
    () => appProof,
    (n) => appProof.replace(/"signature":"..../, `"signature":"${String(n % 10_000).padStart(4, "0")}`),
    (n) => `{"no": "evidence", "n": ${n}}`,
    (n) => Uint8Array.of(0xff, 0xfe, n & 0xff, 0x00),
    () => "",
    (n) => `\ufeff"${"\\u0041".repeat(n % 50)}\u2028`,
    (n) => (n % 60 === 6 ? BOOT_PROOF : appProof),
  ];
  return Array.from({ length: count }, (_, index) => {
    const entry = kinds[index % kinds.length]!(index);
    return typeof entry === "string" ? toUtf8(entry) : entry;
  });
}

/** In batches of so many. */
export async function* batchesOf(entries: readonly Uint8Array[], size = 16): AsyncGenerator<Batch> {
  for (let at = 0; at < entries.length; at += size)
    yield { index: at / size, first: at + 1, entries: entries.slice(at, at + size) };
}

/** All lines of the results. */
export async function linesBy(judge: Judge, entries: readonly Uint8Array[], size?: number): Promise<string> {
  let lines = "";
  const source = batchesOf(entries, size);
  try {
    await runAudit({ source, judge, write: (part) => void (lines += part.lines) });
  } finally {
    await judge.close();
  }
  return lines;
}

export async function linesHere(setting: AuditSetting, entries: readonly Uint8Array[]): Promise<string> {
  return linesBy(await localJudge(setting), entries);
}
