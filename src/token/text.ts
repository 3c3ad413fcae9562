/** The document of a token's report. */
import { renderWhole } from "../report/rendering.js";
import { rowOfCheck } from "../show/checks.js";
import { type Doc, type Row, rows, section } from "../show/doc.js";
import { type LineOptions, writeText } from "../show/terminal.js";
import { lookOf } from "../show/text.js";
import { SIGNED_KINDS } from "./decode.js";
import type { TokenReport } from "./verify.js";

type TokenTextOptions = LineOptions;

const WANTED = "report: expected the report of a token";

/** Renders the report: verdict, warnings, what was signed, what is not proven, and every check. */
export function renderToken(report: TokenReport<object>, options: TokenTextOptions = {}): string {
  return renderWhole(report, WANTED, () => writeText(tokenDoc(report), options));
}

function tokenDoc(report: TokenReport<object>): Doc {
  const { kind, verdict, claims, deployment, namespace, notInterpreted, unproven, checks, policy, policyDigest } =
    report;
  const facts: Row[] = [
    { label: "verified at", text: report.verifiedAt },
    {
      label: "policy",
      text: `${policy ?? "it has no name"}${policyDigest === null ? "" : `, sha256:${policyDigest}`}`,
    },
    { label: "namespace", text: namespace },
    ...(deployment === null ? [] : [{ label: "deployment", text: deployment }]),
    ...Object.entries(claims ?? {}).map(([label, value]) => ({ label, text: String(value) })),
    ...(notInterpreted.length === 0 ? [] : [{ label: "not interpreted", text: notInterpreted.join(", ") }]),
  ];
  const warned = checks.filter(({ status }) => status === "warn");
  const look = lookOf("normal");
  return {
    sections: [
      {
        blocks: [
          {
            kind: "verdict",
            text: `${verdict.toUpperCase()}: ${SIGNED_KINDS[kind].title}`,
            tone: verdict === "rejected" ? "bad" : "good",
          },
          ...warned.map(({ detail }) => ({ kind: "warning", text: detail }) as const),
        ],
      },
      { blocks: [rows(facts)] },
      ...section("Not proven", [{ kind: "list", items: unproven }]),
      ...section("Checks", [rows(checks.map((check) => rowOfCheck(check, look)))]),
    ],
  };
}
