/** The head of every rendering: which enclave, of when, how old, and when it was verified. */
import { describe, expect, it } from "vitest";
import { renderGithub, renderMarkdown } from "../../src/formats/index.js";
import { ageSentence, headlineFacts } from "../../src/report/facts.js";
import { type Report, refusedReport } from "../../src/report/report.js";
import { renderSummary } from "../../src/show/text.js";
import { renderText, verdictBrief } from "../../src/show/text.js";
import { UNPINNED, UNTIMED, bootOf, report, reportOf } from "./reports.js";

const MADE = "2026-03-04T05:06:07.000Z";
const flat = (text: string): string => text.replace(/\s+/g, " ");
const firstParagraph = (text: string): string => flat(text.split("\n\n", 1)[0]!);
const fleet = (count: number): Report => {
  const bootProofs = Array.from({ length: count }, (_, index) => {
    const documentTime = `2026-03-0${1 + (index % 4)}T05:06:07.000Z`;
    return bootOf({ hardware: { documentTime }, deployment: `d${index % 2}` });
  });
  return report({ claims: { bootProofs, appProofs: [], activity: null } });
};

describe("the head", () => {
  it.each<[string, (made: Report) => string]>([
    ["text", (made) => firstParagraph(renderText(made))],
    ["a narrow text", (made) => firstParagraph(renderText(made, { width: 60 }))],
    ["a summary", (made) => firstParagraph(renderSummary(made))],
    ["github", (made) => renderGithub(made)],
    ["Markdown", (made) => renderMarkdown(made).split("## ", 2)[1]!],
  ])("of %s names namespace, deployment, date, age and the time of verification", (_, render) => {
    const head = flat(render(report({})));
    for (const part of ["prod/signer", "r2026.3.1", MADE, "25 hours old", "verified at", "2026-03-05T06:07:08.000Z"])
      expect(head).toContain(part);
    expect(head).toContain(
      "This enclave started 25 hours ago; whether it still runs is not shown: no app proof was given.",
    );
  });

  it("says whose word the namespace is where it is not proven, and that there is none", () => {
    expect(headlineFacts(reportOf(UNPINNED)).lines).toEqual([
      `document of ${MADE}, 25 hours old; no deployment of a policy; namespace "prod/signer" (not proven: its image ` +
        "says so)",
    ]);
    const bare = headlineFacts(reportOf({ image: { manifest: null, commitment: null, restsOn: null } }));
    expect(bare.lines[0]).toMatch(/; no namespace \(a bare document\)$/);
  });

  it("names few boot proofs each, and of many the oldest and the newest, each name once", () => {
    expect(headlineFacts(fleet(2)).lines).toEqual([
      'boot[0]: document of 2026-03-01T05:06:07.000Z, 4 days old; deployment "d0"; namespace "prod/signer"',
      'boot[1]: document of 2026-03-02T05:06:07.000Z, 3 days old; deployment "d1"; namespace "prod/signer"',
    ]);
    expect(headlineFacts(fleet(60)).lines).toEqual([
      "60 boot proofs, documents of 2026-03-01T05:06:07.000Z, 4 days old, to 2026-03-04T05:06:07.000Z, 25 hours old; " +
        'deployment "d0", deployment "d1"; namespace "prod/signer"',
    ]);
    expect(firstParagraph(renderSummary(fleet(2)))).toContain("2 boot proofs, documents of 2026-03-01T05:06:07.000Z");
  });

  it("repeats nothing that rejected evidence says of itself", () => {
    const rejected = report({ verdict: "rejected", claims: null });
    expect(headlineFacts(rejected)).toEqual({
      age: null,
      lines: ["not proven: namespace, deployment and date of boot[0]"],
    });
    expect(firstParagraph(renderSummary(rejected))).toMatch(
      /^REJECTED: nothing is proven\. 3 passed; evidence: 1 item /,
    );
  });

  it.each([
    ["2026-03-05T06:07:08.000Z", "0 seconds old"],
    ["2026-03-05T06:07:07.000Z", "1 second old"],
    ["2026-03-05T06:05:09.000Z", "119 seconds old"],
    ["2026-03-05T06:05:08.000Z", "2 minutes old"],
    ["2026-03-03T06:07:09.000Z", "47 hours old"],
    ["2026-03-03T06:07:08.000Z", "2 days old"],
    ["2025-03-03T06:07:08.000Z", "367 days old"],
    ["2026-03-05T06:07:38.000Z", "30 seconds in the future"],
    ["never", "of unknown age"],
  ])("says the age of a document of %s in words: %s", (documentTime, age) => {
    const [line] = headlineFacts(reportOf({ hardware: { documentTime } })).lines;
    expect(line).toContain(`document of ${documentTime}, ${age}; `);
  });

  it("makes printable what evidence chose, and keeps the date where a name is long", () => {
    const manifest = { ...bootOf({}).image.manifest!, namespace: `\u001b[31m${"n".repeat(5000)}` };
    const made = reportOf({ image: { manifest } });
    expect(headlineFacts(made).lines[0]).toContain('namespace "\\u{1b}[31mnnn');
    expect(firstParagraph(renderSummary(made))).toContain(`document of ${MADE}, 25 hours old; deployment "r2026.3.1"`);
  });
});

describe("the age", () => {
  it("is a sentence on the start, and on what shows that it still runs", () => {
    expect(ageSentence("2026-03-01T00:00:00Z", "2026-03-13T00:00:00Z")).toBe(
      "this enclave started 12 days ago; whether it still runs is not shown: no app proof was given",
    );
    expect(ageSentence("2026-03-01T00:00:00Z", "2026-03-13T00:00:00Z", "2026-03-12T23:57:00Z")).toBe(
      "this enclave started 12 days ago; its newest app proof shows that it still ran 3 minutes ago " +
        "(2026-03-12T23:57:00Z)",
    );
    expect(ageSentence("2026-03-02T00:00:00Z", "2026-03-01T00:00:00Z")).toContain("started 24 hours in the future;");
    expect(ageSentence("never", "2026-03-01T00:00:00Z")).toContain("started at an unknown time;");
  });

  it("names the newest app proof of the oldest enclave, and whose word its time is where it is not proven", () => {
    const { claims } = fleet(2);
    const proof = (bootProof: number, time: string | null) => ({ ...UNTIMED, bootProof, time });
    const times = ["2026-03-05T06:00:00.000Z", "2026-03-05T06:05:00.000Z", null];
    const appProofs = [...times.map((time) => proof(0, time)), proof(1, "2026-03-05T06:07:00.000Z")];
    expect(headlineFacts(report({ claims: { ...claims!, appProofs } })).age).toBe(
      "The oldest of 2 enclaves started 4 days ago; its newest app proof shows that it still ran 2 minutes ago " +
        "(2026-03-05T06:05:00.000Z).",
    );
    const unproven = reportOf(UNPINNED);
    const own = { ...unproven.claims!, appProofs: [proof(0, "2026-03-05T06:07:00.000Z")] };
    expect(headlineFacts({ ...unproven, claims: own }).age).toMatch(
      /8 seconds ago \(2026-03-05T06:07:00.000Z\), as its image says\.$/,
    );
  });

  it("says of app proofs without a time that they show nothing, unless one answers a challenge", () => {
    const untimed = (answers: typeof UNTIMED.answers) =>
      headlineFacts(report({ claims: { ...fleet(1).claims!, appProofs: [{ ...UNTIMED, bootProof: 0, answers }] } }))
        .age;
    expect(untimed(null)).toMatch(/; whether it still runs is not shown: its app proofs have no time\.$/);
    expect(untimed({ pointer: "/a", value: "b" })).toMatch(/; an app proof answers your challenge, so it ran after/);
  });

  it("is not of a start where the document may be made at any time", () => {
    const bare = reportOf({ image: { manifest: null, commitment: null, restsOn: null } });
    expect(headlineFacts(bare).age).toBe(
      "This document was made 25 hours ago; nothing shows that its enclave still runs.",
    );
    const asked = reportOf({ hardware: { nonce: "aa" } });
    const checks = [...asked.checks, { id: "bind.nonce", subject: "boot[0]", status: "pass", detail: "" } as const];
    expect(headlineFacts({ ...asked, checks }).age).toBe(
      "This document was made 25 hours ago, after you chose its nonce.",
    );
  });
});

describe("the verdict in brief", () => {
  const LONG = "a reason ".repeat(90);
  const failed = { id: "policy.pivot", subject: "policy", about: "boot[0]", status: "fail", detail: LONG } as const;
  const compared = { ...failed, expected: "00".repeat(32), actual: "ff".repeat(32) };
  const brief = (made: Report, width: number): string[] => verdictBrief(made, [], { width }).trimEnd().split("\n");
  it.each([60, 80, 200])("has at most six lines of %i columns", (width) => {
    const rejected = report({ verdict: "rejected", claims: null, checks: [compared, failed] });
    const refused = refusedReport(report({}), [LONG, LONG, LONG, LONG]);
    for (const made of [rejected, refused, report({})]) {
      expect(brief(made, width).length).toBeLessThanOrEqual(6);
      for (const line of brief(made, width)) expect(line.length).toBeLessThanOrEqual(width);
    }
    expect(brief(rejected, width).join(" ")).toContain("policy.pivot");
    expect(brief(rejected, width).slice(-2)).toEqual([
      expect.stringMatching(/^expected +0{8}…/),
      expect.stringMatching(/^actual +f{8}…/),
    ]);
    expect(flat(brief(refused, width).join(" "))).toMatch(/not accepted with warnings\. WARNING a reason/);
  });
});
