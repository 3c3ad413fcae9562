/** Reports that every format is tried on, made by hand: nothing in them was verified. */
import type { Check } from "../../src/checks.js";
import type { CommandFailure } from "../../src/formats/parts.js";
import type { Notice } from "../../src/report/facts.js";
import type { Report } from "../../src/report/report.js";
import { PASSED, UNPINNED, report, reportOf } from "../report/reports.js";
import { IS_LONG } from "../support/long.js";

export const FAILED: Check = {
  id: "policy.pcrs",
  subject: "policy",
  about: "boot[0]",
  name: "evidence/boot proof.json",
  status: "fail",
  detail: "PCR0 is another one",
  expected: `PCR0 ${"aa".repeat(48)}\nPCR1 ${"bb".repeat(48)}`,
  actual: `PCR0 ${"ab".repeat(48)}\nPCR1 ${"bb".repeat(48)}`,
  advice: "Compare with the release you expect.",
};
export const WARNED: Check = {
  id: "chain.anchor",
  subject: "boot[0]",
  status: "warn",
  detail: "starts at another one",
};
export const SKIPPED: Check = { id: "app.request", subject: "app[0]", status: "skip", detail: "nobody asked" };
const STALE: Check = {
  id: "policy.age",
  subject: "policy",
  about: "boot[0]",
  status: "fail",
  detail: "made 40 days ago, at most 30 are allowed",
  advice: "Get a newer boot proof.",
  stale: true,
};

export const EVIDENCE: Report["evidence"] = [
  { subject: "boot[0]", name: "evidence/boot proof.json", sha256: "13".repeat(32) },
  { subject: "app[0]", name: "apps.json[3]", sha256: "f7".repeat(32) },
];

export const rejected = (checks: readonly Check[], rest: Partial<Report> = {}): Report =>
  report({ verdict: "rejected", claims: null, checks, evidence: EVIDENCE, ...rest });

export const VERIFIED = report({ evidence: EVIDENCE, checks: [...PASSED, SKIPPED] });
/** With a warning: the certificates lead elsewhere. */
export const WITH_WARNING = reportOf(
  { hardware: { trustAnchor: "lab-root" } },
  { evidence: EVIDENCE, checks: [WARNED, ...PASSED.slice(1)] },
);
export const AUTHENTIC = reportOf(UNPINNED, {
  verdict: "authentic",
  policy: null,
  policyDigest: null,
  evidence: EVIDENCE,
});
export const REJECTED = rejected([...PASSED, WARNED, FAILED, SKIPPED]);
export const STALE_REPORT = rejected([...PASSED.slice(0, 2), STALE], { stale: true });
/** No boot proof was there: nothing could be asked, and nothing failed. */
export const PIECELESS = rejected([SKIPPED], { validationTime: null });

/** As another version might say it, or anybody. */
const strange = (value: object): Report => ({ ...VERIFIED, ...value }) as unknown as Report;
export const UNKNOWN_VERDICT = strange({ verdict: "splendid" });
export const UNKNOWN_STATUS = strange({ checks: [...PASSED, { ...FAILED, id: "cose.novel", status: "perfect" }] });
/** Altered: the verdict is good, and a check failed. */
export const CONTRADICTORY = strange({ checks: [...PASSED, FAILED] });

/** What evidence may choose, and what must make nothing of it. */
export const HOSTILE_WORDS = [
  "<img src=x onerror=alert(1)>",
  "<script>alert(1)</script>",
  "[click](https://evil.example)",
  "![pixel](https://evil.example/p.png)",
  "https://evil.example www.evil.example evil@evil.example",
  "@octocat @org/team #123 GH-123 owner/repo#1 SEC-12 deadbeefdeadbeef deadbeef",
  "`code` ``two`` *a* _b_ **c** ~~d~~ $x$ $`y`$ :tada: | a | b |",
  "]]> <!-- --> <![CDATA[ x ]]> &amp; &#60;b&#62;",
  "\n::error::forged\r\n::set-output name=x::y %0A::error::forged2 %25",
  "\u0000\u0008\u001b[31m\u202e\u2028\ud800\udc00\ud800 \ufffe \uffff \u{1fffe}",
  "{0} {{1}} [a](1) \\[b](2)",
  "\n# heading\n- item\n1. one\n> quote\n```\nfence\n",
];
const ALL_WORDS = HOSTILE_WORDS.join(" ");

export const HOSTILE = rejected(
  [
    ...HOSTILE_WORDS.map((words, index) => {
      const subject = `app[${index}]` as const;
      const said = { detail: words, expected: words, actual: `${words}!`, advice: words, name: words };
      return { id: "app.payload", subject, status: "fail", ...said } as const;
    }),
    { id: "app.time", subject: "app[0]", status: "warn", detail: ALL_WORDS },
    { id: "app.request", subject: "app[0]", status: "skip", detail: ALL_WORDS },
    { id: ALL_WORDS as Check["id"], subject: ALL_WORDS as Check["subject"], status: "fail", detail: ALL_WORDS },
    { id: "app.key", subject: "app[0]", status: ALL_WORDS as Check["status"], detail: ALL_WORDS },
  ],
  {
    policy: ALL_WORDS,
    policyDigest: ALL_WORDS,
    verifiedAt: ALL_WORDS,
    validationTime: ALL_WORDS,
    tool: { name: ALL_WORDS, version: ALL_WORDS },
    evidence: HOSTILE_WORDS.map((words, index) => ({ subject: `app[${index}]`, name: words, sha256: words })),
  },
);
/** Hostile, and good: what is proven is shown. */
export const HOSTILE_GOOD = reportOf(
  { deployment: ALL_WORDS, scope: [ALL_WORDS], hardware: { trustAnchor: ALL_WORDS, moduleId: ALL_WORDS } },
  { policy: ALL_WORDS, evidence: HOSTILE.evidence, notApplied: [ALL_WORDS] },
);

/** What keeps a command from being carried out. */
export const FAILURE: CommandFailure = {
  headline: "the evidence cannot be read",
  problems: [{ message: "expected an object", file: "a <b>.json" }, { message: "no policy" }],
  advice: ["Read the help.\nOr the README."],
  exitCode: 2,
  at: new Date("2026-03-04T05:06:07.000Z"),
};

export const NOTICES: readonly Notice[] = [
  { kind: "warning", text: "the policy came with the bundle" },
  { kind: "note", text: "The bundle was made at noon." },
  { kind: "item", text: "verdict: verified in the report, rejected by its evidence" },
];

/** By name, for `it.each`. */
export const TOLD: readonly (readonly [name: string, report: Report])[] = Object.entries({
  VERIFIED,
  WITH_WARNING,
  AUTHENTIC,
  REJECTED,
  STALE_REPORT,
  PIECELESS,
  UNKNOWN_VERDICT,
  UNKNOWN_STATUS,
  CONTRADICTORY,
  HOSTILE,
  HOSTILE_GOOD,
});
/** Those that no viewer may show as good. */
export const BAD = TOLD.filter(([name]) => !/^(?:VERIFIED|WITH_WARNING|AUTHENTIC|HOSTILE_GOOD)$/.test(name));
export const GOOD = TOLD.filter((told) => !BAD.includes(told));

/** Rows of the attack tables by their names: every fifth, or each where `BOOTPROOF_TESTS=long`. */
export function someOf<R extends { readonly name: string }>(rows: readonly R[]): (readonly [string, R])[] {
  const each = IS_LONG ? 1 : 5;
  return rows.filter((_, index) => index % each === 0).map((row) => [row.name, row] as const);
}
