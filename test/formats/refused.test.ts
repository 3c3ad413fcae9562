/** No format is good where the exit code is not 0: every format and every door, for every reason. */
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { NO_POLICY_ANY_ENCLAVE, requireAuthentic, requireVerified } from "../../src/index.js";
import { type BundleFacts, bundleNotices } from "../../src/bundle/text.js";
import { summaryText } from "../../src/cli/audit-text.js";
import type { Check } from "../../src/checks.js";
import { exitCodeOf } from "../../src/cli/exit-codes.js";
import { entryJson, entryText } from "../../src/cli/watch-text.js";
import { MalformedError } from "../../src/errors.js";
import { renderEar } from "../../src/formats/ear.js";
import { REPORT_RENDERERS, type VerifiedSource } from "../../src/formats/reports.js";
import { renderVsa } from "../../src/formats/vsa.js";
import { generateApiKey } from "../../src/lab/api-key.js";
import { toHtml } from "../../src/show/markup.js";
import { shownReport, titleOf } from "../../src/page/view.js";
import { strictReport } from "../../src/report/conclude.js";
import { type Notice, warningsOf } from "../../src/report/facts.js";
import { REPORT_FORMATS, type Report, type ReportFormat } from "../../src/report/report.js";
import { renderFailures } from "../../src/show/text.js";
import type { CAVEATS } from "../../src/report/unproven.js";
import { type RunLine, NO_LINE, NO_LINES, announcedAs, lineAfter } from "../../src/run/line.js";
import { resultOf } from "../../src/run/result.js";
import { Tally } from "../../src/run/summary.js";
import { watchResultOf } from "../../src/run/watch.js";
import { PASSED, UNTIMED, report, reportOf, reportWith } from "../report/reports.js";
import { bootproof, fileOf, vector } from "../cli/support.js";
import { AUTHENTIC, BAD, EVIDENCE, WARNED } from "./told.js";

interface Row {
  readonly report: Report;
  readonly notices?: readonly Notice[];
  readonly bundle?: BundleFacts;
}

/** All that an EAR asks for before it affirms anything. */
const IDS = [
  ...([
    "cose.structure",
    "cose.algorithm",
    "cose.signature",
    "doc.structure",
    "doc.time",
    "chain.anchor",
    "chain.signature",
  ] as const),
  ...(["chain.algorithm", "chain.validity", "chain.constraints", "policy.deployment", "policy.manifest-set"] as const),
];
const WHOLE = IDS.map((id): Check => ({ id, subject: "boot[0]", status: "pass", detail: "passed" }));
const warned = (id: typeof WARNED.id): Partial<Report> => ({
  checks: [...WHOLE.filter((check) => check.id !== id), { ...WARNED, id, about: "boot[0]" }],
});
const LYING = { place: "verdict", packed: '"rejected"', anew: '"verified"' };
const packed = { now: "2026-03-05T06:07:08.000Z", verdict: "verified", differences: [LYING] } as const;

/** What keeps a caller from accepting a good verdict: all that weakens a report, and what its door knows beside it. */
const REASONS: Readonly<Record<keyof typeof CAVEATS | "bundle policy" | "bundle report", Row>> = {
  "chain.anchor": { report: reportOf({ hardware: { trustAnchor: "lab-root" } }, warned("chain.anchor")) },
  "chain.revocation": { report: report(warned("chain.revocation")) },
  "mode.debug": { report: reportOf({ image: { debug: true } }) },
  "policy.age": { report: report(warned("policy.age")) },
  "policy.scope": { report: reportOf({ scope: ["the operator is open"] }, warned("policy.scope")) },
  "policy.current": { report: report(warned("policy.current")) },
  rules: { report: report({ notApplied: ["appProofs.required"] }) },
  "app.time": { report: report({ claims: { ...report({}).claims!, appProofs: [UNTIMED] } }) },
  "activity.request": { report: reportWith({}, warned("activity.request")) },
  "activity.claims": { report: reportWith({ subOrganizationId: "new" }) },
  "bundle policy": { report: AUTHENTIC, bundle: { policyFrom: "bundle", packed: null } },
  "bundle report": { report: report({}), bundle: { policyFrom: "caller", packed } },
};

type Door =
  | ReportFormat
  | "text, narrow"
  | "text, in short"
  | "text, in full"
  | "failures"
  | "EAR of the library"
  | "VSA of the library"
  | "text, of a page"
  | "audit"
  | "audit, summary"
  | "watch"
  | "watch, as JSON";

interface Judging {
  readonly written: (source: VerifiedSource) => string | Promise<string>;
  /** As a reader of that format decides, without our code. */
  readonly looksGood: (text: string) => boolean;
}

const earKey = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }) as { kty: string };
const OPTIONS = { policy: NO_POLICY_ANY_ENCLAVE, now: new Date(0) } as const;
const readText = (text: string): boolean => /^(?:VERIFIED|AUTHENTIC)/m.test(text);
interface Parsed {
  readonly verdict?: string;
  readonly refusedFor?: unknown;
  readonly checks?: readonly { readonly status: string }[];
}
const readJson = ({ verdict, refusedFor, checks = [] }: Parsed): boolean =>
  /^(?:verified|authentic)$/.test(String(verdict)) &&
  refusedFor === undefined &&
  checks.every(({ status }) => /^(?:pass|warn|skip)$/.test(status));
const readEar = (text: string): boolean =>
  Buffer.from(text.split(".")[1] ?? "", "base64url")
    .toString()
    .includes('"ear_status":"affirming"');
const readVsa = (text: string): boolean => /"PASSED"|BOOTPROOF_VERIFIED/.test(text);

const text = (more: object): Judging => ({
  written: (source) => REPORT_RENDERERS.text(source, { color: false, ...more }),
  looksGood: readText,
});
const format = (name: ReportFormat, looksGood: Judging["looksGood"]): Judging => ({
  written: (source) => REPORT_RENDERERS[name](source, { color: false, earKey }),
  looksGood,
});

const AT = "2026-03-04T05:06:07.000Z";
const DIGESTS = { policyDigest: null, settingDigest: NO_LINE };
const auditOf = ({ report: judged }: VerifiedSource): ReturnType<typeof resultOf> => {
  const { verdict, stale, checks } = judged;
  return resultOf({ verdict, stale, checks, appraisal: null, report: async () => judged }, [], "strict");
};
const watched = async ({ report: judged }: VerifiedSource): Promise<RunLine> =>
  lineAfter(NO_LINES, AT, await watchResultOf({ app: "signer" }, {}, judged, DIGESTS));
const DOORS: Readonly<Record<Door, Judging>> = {
  text: text({}),
  "text, narrow": text({ width: 40 }),
  "text, in short": text({ detail: "summary" }),
  "text, in full": text({ detail: "verbose", width: 200 }),
  failures: { written: ({ report: judged }) => renderFailures(judged, { color: false }), looksGood: readText },
  json: format("json", (shown) => readJson(JSON.parse(shown) as Parsed)),
  html: {
    // As page.ts puts it together, which verifies the evidence first.
    written: async (source) => {
      const nodes = await shownReport({ ...source, evidence: { bootProofs: [] } });
      return `<title>${titleOf(source)}</title>${toHtml(nodes)}`;
    },
    looksGood: (shown) =>
      /<title>(?:VERIFIED|AUTHENTIC)|verdict tone-(?:good|warning)/.test(shown.replace(/<style>[^]*<\/style>/, "")),
  },
  junit: format("junit", (shown) => /<testsuites [^>]*failures="0" errors="0"/.test(shown)),
  sarif: format("sarif", (shown) => {
    const { runs } = JSON.parse(shown) as { runs: { results: { level: string }[] }[] };
    return runs[0]!.results.every(({ level }) => level !== "error");
  }),
  github: format("github", (shown) => !/^::error/m.test(shown)),
  markdown: format("markdown", (shown) => /^## (?:VERIFIED|AUTHENTIC)/m.test(shown)),
  ear: format("ear", readEar),
  vsa: format("vsa", readVsa),
  "EAR of the library": { written: ({ report: judged, bundle }) => renderEar(judged, { bundle }), looksGood: readEar },
  "VSA of the library": {
    written: ({ report: judged, evidence, bundle }) => renderVsa(judged, evidence, { bundle }),
    looksGood: readVsa,
  },
  "text, of a page": {
    written: (source) => REPORT_RENDERERS.text({ ...source, page: "report.html" }, { color: false }),
    looksGood: readText,
  },
  audit: {
    written: async (source) => {
      const place = { file: "proofs.ndjson", line: 1, entry: NO_LINE };
      return entryJson(await lineAfter(NO_LINES, AT, { ...place, ...(await auditOf(source)), ...DIGESTS }));
    },
    looksGood: (shown) => readJson(JSON.parse(shown) as Parsed),
  },
  "audit, summary": {
    written: async (source) => {
      const tally = new Tally();
      tally.add(await auditOf(source));
      const counts = { reported: tally.summary(), total: tally.summary(), included: 0, emptyLines: 0, unjudged: [] };
      return summaryText({ end: "done", ...counts, slowest: null, unmet: null });
    },
    looksGood: (shown) => /^1 entry: 1 (?:verified|authentic)$/m.test(shown),
  },
  watch: {
    written: async (source) => entryText(await watched(source)),
    looksGood: (shown) => /#1 (?:VERIFIED|AUTHENTIC)/.test(shown),
  },
  "watch, as JSON": {
    written: async (source) => entryJson(await watched(source)),
    looksGood: (shown) => readJson(JSON.parse(shown) as Parsed),
  },
};

const NAMES = Object.keys(DOORS) as readonly Door[];
/** They may say less than the exit code, where nothing is refused: rules, debug mode, another's policy. */
const SAY_LESS: readonly Door[] = ["ear", "vsa", "EAR of the library", "VSA of the library"];

const sourceOf = ({ report: judged, bundle }: Row): VerifiedSource => ({
  report: { ...judged, evidence: EVIDENCE, ...(judged.checks === PASSED && { checks: WHOLE }) },
  bundle: bundle ?? null,
  evidence: { bootProofs: [] },
  options: OPTIONS,
});
const noticesOf = ({ report: judged, bundle, notices = [] }: Row): readonly Notice[] => [
  ...(bundle === undefined ? [] : bundleNotices(bundle, judged.verdict)),
  ...notices,
];
const strictly = async (row: Row): Promise<Row> => {
  const warnings = noticesOf(row).flatMap(({ kind, text: words }) => (kind === "warning" ? words : []));
  return { ...row, report: await strictReport(row.report, warnings) };
};

const goodIn = async (row: Row): Promise<Door[]> => {
  const source = sourceOf(row);
  const isGood = async (name: Door): Promise<boolean> => DOORS[name].looksGood(await DOORS[name].written(source));
  const shown = NAMES.map(async (name) => [name, await isGood(name).catch(noLine)] as const);
  return (await Promise.all(shown)).flatMap(([name, good]) => (good ? name : []));
};

/** A file of results takes no line whose members contradict each other, so nobody sees it. */
function noLine(error: unknown): false {
  if (error instanceof MalformedError && error.message.startsWith("malformed run: ")) return false;
  throw error;
}

it("is asked of every format that there is", () => {
  expect(NAMES).toEqual(expect.arrayContaining([...REPORT_FORMATS]));
});

it("every format is good of what nothing weakens", async () => {
  const row = { report: report({}) };
  expect(exitCodeOf(row.report)).toBe(0);
  expect(await goodIn(row)).toEqual(NAMES);
  expect((await strictly(row)).report).toBe(row.report);
});

describe.each(Object.entries(REASONS))("a warning for %s", (name, row) => {
  it("alone leaves the exit code and the formats good", async () => {
    expect(exitCodeOf(row.report)).toBe(0);
    expect(await goodIn(row)).toEqual(expect.arrayContaining(NAMES.filter((door) => !SAY_LESS.includes(door))));
    // A caller whose policy names another root relies on it.
    if (name === "root") expect(await goodIn(row)).toEqual(NAMES);
  });

  it("refuses under strict acceptance: the exit code is 1, no format is good, and each says why", async () => {
    const refused = await strictly(row);
    const { refusedFor } = refused.report;
    expect(refusedFor).toEqual(warningsOf(row.report, noticesOf(row)));
    expect(refusedFor).not.toEqual([]);
    expect(exitCodeOf(refused.report)).toBe(1);
    expect(await goodIn(refused)).toEqual([]);
    for (const demand of [requireVerified, requireAuthentic]) expect(() => demand(refused.report)).toThrow();
    expect(announcedAs((await watched(sourceOf(refused))).entry)).toBe("refusal");
    // A page begins each warning with a capital.
    const words = refusedFor![0]!.slice(1, 12);
    for (const door of NAMES.filter((one) => !/^(?:audit, summary|markdown)$/.test(one))) {
      const shown = await DOORS[door].written(sourceOf(refused));
      const read = /ear/i.test(door) ? Buffer.from(shown.split(".")[1]!, "base64url").toString() : shown;
      expect([door, read.replaceAll(/\s+/g, " ").includes(words)]).toEqual([door, true]);
    }
  });

  it("is the first word of a text", async () => {
    for (const door of ["text", "text, narrow", "text, in short", "text, in full", "failures"] as const)
      expect(await DOORS[door].written(sourceOf(await strictly(row)))).toMatch(/^REFUSED with 1 warning: /);
  });

  it("is a warning at best in each submodule of an EAR, signed or not", async () => {
    const source = sourceOf(await strictly(row));
    const two = {
      ...source.report,
      evidence: [...EVIDENCE, { subject: "boot[1]", name: null, sha256: null } as const],
    };
    for (const token of [await DOORS.ear.written({ ...source, report: two }), await renderEar(two)]) {
      const claims = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()) as {
        readonly ear_status: string;
        readonly submods: Readonly<Record<string, { readonly ear_status: string }>>;
      };
      expect(Object.keys(claims.submods)).toEqual(["boot[0]", "boot[1]"]);
      for (const { ear_status: status } of [claims, ...Object.values(claims.submods)])
        expect(status).toMatch(/^(?:warning|contraindicated)$/);
    }
  });
});

/** Of a library's caller too: no door of ours makes such a report. */
const WATCHED: readonly Door[] = ["audit", "audit, summary", "watch", "watch, as JSON"];

it.each(BAD.filter(([name]) => name !== "HOSTILE"))(
  "no format is good of a report that is not: %s",
  async (name, bad) => {
    const isMade = !/^(?:UNKNOWN|CONTRADICTORY)/.test(name);
    if (isMade) expect(exitCodeOf(bad)).toBe(1);
    for (const row of [{ report: bad }, { report: { ...bad, refusedFor: ["a warning"] } }])
      expect((await goodIn(row)).filter((door) => isMade || !WATCHED.includes(door))).toEqual([]);
  },
);

describe("where nothing was judged", () => {
  const BOOT = vector("boot-proofs/six-members.json");
  const { publicKey, privateKey } = generateApiKey();
  const env = { BOOTPROOF_API_PUBLIC_KEY: publicKey, BOOTPROOF_API_PRIVATE_KEY: privateKey };
  const NOWHERE = ["--base-url", "http://127.0.0.1:1", "--organization-id", "org"];
  const CASES: readonly (readonly [code: number, argv: readonly string[]])[] = [
    [2, ["--boot-proof", "no such file", "--no-policy"]],
    [2, ["--boot-proof", BOOT, "--policy", fileOf({})]],
    [2, ["--boot-proof", BOOT]],
    [2, ["--boot-proof", BOOT, "--no-policy", "--now", "yesterday", "--fail-on-warning"]],
    [3, ["--app", "signer", ...NOWHERE, "--no-policy"]],
    [3, ["--app", "signer", ...NOWHERE, "--no-policy", "--fail-on-warning"]],
  ];

  it.each(CASES)(
    "with exit code %i no format is good, and one without words for it is empty: %j",
    async (code, argv) => {
      for (const name of REPORT_FORMATS) {
        const shown = await bootproof(["verify", ...argv, "--format", name], { env });
        expect([name, shown.code, shown.stderr === ""]).toEqual([name, code, false]);
        expect([name, shown.stdout !== "" && isGoodDocument(name, shown.stdout)]).toEqual([name, false]);
        expect([name, shown.stdout === ""]).toEqual([name, /^(?:text|ear|vsa)$/.test(name)]);
      }
    },
  );

  /** A run of SARIF that failed has no results. */
  const isGoodDocument = (name: ReportFormat, shown: string): boolean =>
    name === "sarif" ? !shown.includes('"executionSuccessful": false') : DOORS[name].looksGood(shown);
});
