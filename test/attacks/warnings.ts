/** Headline, WARNING lines, counts and `acceptance: "strict"` agree, whatever the evidence. */
import { expect } from "vitest";
import { isNote } from "../../src/report/facts.js";
import { strictReport } from "../../src/report/conclude.js";
import type { Report } from "../../src/report/report.js";
import { renderText } from "../../src/show/text.js";
import { CAVEATS } from "../../src/report/unproven.js";

export async function expectAgreement(report: Report): Promise<void> {
  const { refusedFor = [] } = await strictReport(report);
  const [head, ...lines] = renderText(report, { width: 200, color: false }).split("\n") as [string, ...string[]];
  expect(lines.filter((line) => line.startsWith("WARNING "))).toHaveLength(refusedFor.length);
  expect(Number(/^[A-Z, ]+ with (\d+) warnings?: /.exec(head)?.[1] ?? 0)).toBe(refusedFor.length);
  const counts = lines.find((line) => /^\d+ passed, /.test(line))!;
  expect(Number(/(\d+) warnings?\b/.exec(counts)?.[1] ?? 0)).toBe(refusedFor.length);

  const warned = report.checks.filter(({ status }) => status === "warn");
  const notes = warned.filter((check) => isNote(check, report));
  expect(Number(/(\d+) notes?\b/.exec(counts)?.[1] ?? 0)).toBe(notes.length);
  // Each check that warns has a reason to refuse, and each reason but a rule that was left out has a check that warns.
  const { claims } = report;
  const told = claims === null ? [] : Object.entries(CAVEATS).filter(([, tell]) => tell(report, claims).length > 0);
  const warning = new Set<string>(warned.filter((check) => !notes.includes(check)).map(({ id }) => id));
  expect([...warning].sort()).toEqual(told.flatMap(([id]) => (id === "rules" ? [] : id)).sort());
}
