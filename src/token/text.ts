/** The report of a token as text for a terminal. */
import { checkLines } from "../report/check-lines.js";
import { type TextOptions, headingLines, pageOf, wrapped } from "../report/layout.js";
import { printable } from "../report/printable.js";
import { SIGNED_KINDS } from "./decode.js";
import type { TokenReport } from "./verify.js";

export type TokenTextOptions = Pick<TextOptions, "color" | "width">;

/** Renders the report: verdict, warnings, what was signed, what is not proven, and every check. */
export function renderToken(report: TokenReport<object>, options: TokenTextOptions = {}): string {
  const page = pageOf(options);
  const { kind, verdict, claims, deployment, namespace, notInterpreted, unproven, checks } = report;
  const rows: [name: string, value: string][] = [
    ["verified at", report.verifiedAt],
    [
      "policy",
      `${report.policy ?? "it has no name"}${report.policyDigest === null ? "" : `, sha256:${report.policyDigest}`}`,
    ],
    ["namespace", namespace],
    ...(deployment === null ? [] : [["deployment", deployment] as [string, string]]),
    ...Object.entries(claims ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
    ...(notInterpreted.length === 0 ? [] : [["not interpreted", notInterpreted.join(", ")] as [string, string]]),
  ];
  const lines = [
    ...headingLines(`${verdict.toUpperCase()}: ${SIGNED_KINDS[kind].title}`, page),
    ...checks
      .filter(({ status }) => status === "warn")
      .flatMap((check) => wrapped(page, "WARNING  ", printable(check.detail))),
    "",
    ...rows.flatMap(([name, value]) => wrapped(page, `${name.padEnd(18)}`, printable(value))),
    "",
    ...headingLines("Not proven", page),
    ...unproven.flatMap((text) => wrapped(page, "- ", printable(text))),
    "",
    ...headingLines("Checks", page),
    ...checks.flatMap((check) => checkLines(check, "", page)),
  ];
  return `${lines.join("\n")}\n`;
}
