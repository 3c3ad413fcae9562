import { describe, expect, it } from "vitest";
import { CHECK_IDS, type Check, type CheckId } from "../../src/checks.js";
import { labelOf } from "../../src/report/labels.js";
import type { Report } from "../../src/report/report.js";
import { chainSections } from "../../src/show/chain.js";
import type { Row } from "../../src/show/doc.js";
import { SHOWN } from "../page/evidence.js";
import { BOOT, bootOf, report, reportOf } from "../report/reports.js";

/** The rows of the only boot proof, or those of each piece by its label. */
const linksIn = (shown: Report): readonly Row[] =>
  chainSections(shown).flatMap(({ blocks: [rows] }) => (rows as { readonly rows: readonly Row[] }).rows);
const wordsOf = (links: readonly Row[]): Partial<Record<string, string>> =>
  Object.fromEntries(links.map(({ label, text }) => [text!.split(":")[0], label]));
const piecesIn = (shown: Report): Record<string, Partial<Record<string, string>>> =>
  Object.fromEntries(linksIn(shown).map(({ id, below }) => [id!.split(" ")[0], wordsOf(below!)]));
const idsIn = (rows: readonly Row[]): string[] =>
  rows.flatMap(({ id, below = [] }) => [...(id === undefined ? [] : [id]), ...idsIn(below)]);
const passed = (id: CheckId): Check => ({
  id,
  subject: id.startsWith("policy.") ? "policy" : "boot[0]",
  status: "pass",
  detail: "as expected",
});
const ALL_PASSED = CHECK_IDS.filter((id) => !/^(?:app|activity|token)\./.test(id)).map(passed);
const TOP = { Anchor: "Proven", Certificates: "Proven", Document: "Proven" };
const LAB_TOP = { ...TOP, Anchor: "Trusted by the policy, not AWS's" };
const PROVEN = /^(?:Proven|Trusted|Warning)/;
const GOOD = ["good", "warning"];

describe.each(Object.entries(SHOWN))("the chain of %s", (name, make) => {
  it("has every check once, in its place, and nothing proven that is not", async () => {
    const shown = (await make()).report;
    const rows = linksIn(shown);
    const isFleet = rows.some(({ fold }) => fold !== undefined);
    const links = isFleet ? rows.flatMap(({ below }) => below!) : rows;
    expect(idsIn(links).sort()).toEqual(shown.checks.map(({ id }) => id).sort());
    for (const { label, tone, below } of links) {
      expect(PROVEN.test(label!)).toBe(GOOD.includes(tone!));
      expect(/^Failed/.test(label!)).toBe(below!.some((row) => row.label === "FAIL"));
      if (GOOD.includes(tone!)) expect(shown.verdict, name).not.toBe("rejected");
    }
  });
});

describe("the words", () => {
  const words = async (name: string) => wordsOf(linksIn((await SHOWN[name]!()).report));

  it("of verified evidence are that it is proven, but for another root and a legacy key", async () => {
    const held = { Measurements: "Proven", Manifest: "Proven", Approvals: "Proven" };
    const legacy = { "Ephemeral key": "Warning: legacy", "App proofs": "Proven", Claims: "Proven" };
    expect(await words("verified")).toEqual({ ...TOP, ...held, ...legacy, Policy: "Proven, with a warning" });
    const none = { "App proofs": "Not checked", Claims: "Not checked" };
    const unasked = { ...LAB_TOP, ...held, "Ephemeral key": "Proven", Policy: "Proven, with a warning" };
    expect(await words("verified, with warnings")).toEqual({ ...unasked, ...none });
    expect(await words("hostile")).toMatchObject({ Anchor: "Trusted by the caller, not AWS's" });
  });

  it("are the image's word where nothing pins the image", async () => {
    const word = { Manifest: "Image's word", Approvals: "Image's word", "Ephemeral key": "Image's word" };
    const open = { Claims: "Not compared", Policy: "Not checked" };
    const bare = { ...TOP, Measurements: "Proven", ...word, "App proofs": "Image's word", ...open };
    expect(await words("authentic")).toEqual(bare);
    const debug = { ...LAB_TOP, Measurements: "Not proven", ...word, Policy: "Image's word" };
    expect(await words("verified, debug allowed")).toMatchObject(debug);
  });

  it("of an activity leave the claims open where nobody said what was asked, however well they agree", async () => {
    expect(await words("an activity")).toMatchObject({ "App proofs": "Proven", Claims: "Not compared" });
    const { report: shown } = await SHOWN["an activity"]!();
    expect(shown.checks).toContainEqual(expect.objectContaining({ id: "activity.claims", status: "pass" }));
    expect(await words("an activity, as it was asked for")).toMatchObject({ Claims: "Proven" });
  });

  it("of rejected evidence are never that it is proven, and the link that failed has its checks", async () => {
    const another = await words("rejected: another release");
    expect(another).toMatchObject({ Anchor: "Not proven", Policy: "Failed" });
    expect(await words("rejected: a forged signature")).toMatchObject({ Document: "Failed", Manifest: "Not proven" });
    expect(await words("stale")).toMatchObject({ Anchor: "Not proven", Policy: "Failed: too old" });
  });

  it("of one boot proof are not that it is proven either where another one failed", async () => {
    const rows = linksIn((await SHOWN["many boot proofs, half of them too old"]!()).report);
    const boots = rows.filter(({ id }) => id!.startsWith("boot["));
    expect(boots.filter(({ fold }) => fold === "open")).toHaveLength(5);
    expect(wordsOf(boots.at(-1)!.below!)).toMatchObject({ Anchor: "Not proven", Policy: "Not proven" });
  });
});

describe("a link is not proven", () => {
  const wordOf = (title: string, shown: Report): string | undefined => wordsOf(linksIn(shown))[title];

  it.each([
    ["Anchor", "chain.anchor"],
    ["Certificates", "chain.signature"],
    ["Document", "cose.signature"],
    ["Measurements", "mode.debug"],
    ["Manifest", "bind.user-data"],
    ["Approvals", "envelope.approvals"],
    ["Ephemeral key", "bind.key"],
    ["Policy", "policy.deployment"],
  ] as const)("%s, where %s was skipped, or is not there", (title, decisive) => {
    const without = ALL_PASSED.filter((check) => check.id !== decisive);
    const skipped = { ...passed(decisive), status: "skip" as const };
    expect(wordOf(title, report({ checks: ALL_PASSED }))).toBe("Proven");
    for (const checks of [without, [...without, skipped]])
      expect(wordOf(title, report({ checks })) ?? "Not checked").toBe("Not checked");
  });

  it("in a report that contradicts itself, or claims nothing", () => {
    const failed = { ...passed("policy.labels"), status: "fail" as const };
    const proven = (shown: Report): Row[] => linksIn(shown).filter(({ tone }) => GOOD.includes(tone!));
    expect(proven(report({ checks: [...ALL_PASSED, failed] }))).toEqual([]);
    for (const rest of [
      { claims: null },
      { verdict: "splendid" as never },
      { claims: { bootProofs: [], appProofs: [], activity: null } },
    ]) {
      expect(proven(report({ checks: ALL_PASSED, ...rest }))).toEqual([]);
      const other = { ...passed("cose.signature"), subject: "boot[1]" as const };
      const several = linksIn(report({ checks: [...ALL_PASSED, other], ...rest }));
      expect(several.flatMap(({ below }) => below!).filter(({ tone }) => GOOD.includes(tone!))).toEqual([]);
    }
  });

  it("by a status that is not known", () => {
    const odd = { ...passed("chain.anchor"), status: "splendid" as never };
    expect(wordOf("Anchor", report({ checks: [odd] }))).toBe("Failed");
    expect(wordOf("Ephemeral key", report({ checks: [...ALL_PASSED, odd] }))).toBe("Not proven");
  });

  it("of checks that are not known: they are shown in a link of their own", () => {
    const odd = { ...passed("chain.anchor"), id: "cose.moon" as never };
    const last = linksIn(report({ checks: [...ALL_PASSED, odd] })).at(-1)!;
    expect([last.label, last.text, idsIn([last])]).toEqual(["Not proven", expect.stringMatching(/^Other/), [odd.id]]);
    expect(linksIn(report({ checks: ALL_PASSED })).at(-1)!.text).toMatch(/^Policy: /);
  });

  it("in debug mode, nor where nothing pins the image", () => {
    const debug = reportOf({ image: { debug: true } }, { checks: ALL_PASSED });
    expect(wordOf("Measurements", debug)).toBe("Not proven");
    expect(wordOf("Policy", debug)).toBe("Image's word");
    expect(wordOf("Manifest", reportOf({ image: { pinned: false } }, { checks: ALL_PASSED }))).toBe("Image's word");
  });
});

describe("the sentence beneath a link", () => {
  const reasonOf = (title: string, shown: Report): string | undefined =>
    linksIn(shown).find(({ text }) => text!.startsWith(`${title}: `))?.below?.[0]?.text;

  it("says why it is not proven, and is not there where a word says it all", async () => {
    expect(reasonOf("Anchor", report({ checks: ALL_PASSED }))).toMatch(/^\d checks?: .* passed$/);
    const skipped = ALL_PASSED.map((check) =>
      check.id === "bind.key" ? { ...check, status: "skip" as const } : check,
    );
    expect(reasonOf("Ephemeral key", report({ checks: skipped }))).toBe(
      "bind.key would prove this, but was not run: as expected.",
    );
    expect(reasonOf("Manifest", reportOf({ image: { pinned: false } }, { checks: ALL_PASSED }))).toBe(
      "No policy pins the image. These statements are consistent, but prove nothing.",
    );
    const { report: rejected } = await SHOWN["rejected: a forged signature"]!();
    expect(reasonOf("Manifest", rejected)).toBe(
      "Nothing failed here, but it depends on a link above that failed (Document).",
    );
  });

  it("says why a whole chain has no checks of a link", async () => {
    const { report: authentic } = await SHOWN["authentic"]!();
    expect(reasonOf("Policy", authentic)).toMatch(/^Without a policy, neither the owner/);
    expect(reasonOf("Policy", report({ verdict: "rejected", claims: null, checks: [passed("cose.signature")] }))).toBe(
      "The report has no check of this.",
    );
  });

  it("beneath a check is what it holds for", () => {
    const [folded] = linksIn(report({ checks: ALL_PASSED }))[0]!.below!;
    expect(folded!.below![0]!.below![0]!.text).toMatch(/^Holds when .*\.$/);
  });
});

it("folds up what held, and leaves a warning in sight", () => {
  const warned: Check = { ...passed("chain.anchor"), status: "warn", detail: "starts at a root of your own" };
  const skipped: Check = { ...passed("policy.age"), status: "skip" };
  const others = ALL_PASSED.filter(({ id }) => id !== "chain.anchor" && id !== "policy.age");
  const links = linksIn(report({ checks: [...others, warned, skipped] }));
  expect(links[0]!.below).toEqual([expect.objectContaining({ id: "chain.anchor", text: warned.detail })]);
  const [folded, ...rest] = links.at(-1)!.below!;
  expect([folded!.text, folded!.fold, rest]).toEqual(["22 checks: 21 passed, 1 skipped", "closed", []]);
});

describe("with several boot proofs", () => {
  const signed = (index: number): Check => ({ ...passed("app.signature"), subject: `app[${index}]` });
  const boots: Check[] = [0, 1].map((index) => ({ ...passed("cose.signature"), subject: `boot[${index}]` }));
  const activity: Check = { ...passed("activity.claims"), subject: "activity" };
  const proofs = { type: "T", time: "2026-03-04T05:06:07.000Z", payload: {}, expectation: null, answers: null };
  const unpinned = bootOf({ image: { pinned: false } });

  it("each piece has a chain of its own, and an app proof rests on the boot proof that it was judged under", () => {
    const claims = { bootProofs: [BOOT, unpinned], appProofs: [0, 1].map((bootProof) => ({ bootProof, ...proofs })) };
    const checks = [...boots, signed(0), signed(1), activity, passed("policy.app-proof")];
    const pieces = piecesIn(report({ checks, claims: { ...claims, activity: null } }));
    expect(Object.keys(pieces)).toEqual(["boot[0]", "boot[1]", "app[0]", "app[1]", "activity", "policy"]);
    expect([pieces["app[0]"], pieces["app[1]"]]).toEqual([
      { "App proofs": "Proven" },
      { "App proofs": "Image's word" },
    ]);
  });

  it("an app proof of which that is not said proves nothing, and is not lost", () => {
    const rejected = report({ verdict: "rejected", claims: null, checks: [...boots, signed(0), activity] });
    expect(piecesIn(rejected)).toMatchObject({ "app[0]": { "App proofs": "Not proven" }, activity: {} });
    const claims = { bootProofs: [BOOT, unpinned], appProofs: [{ bootProof: 7, ...proofs }], activity: null };
    const beyond = piecesIn(report({ checks: [...boots, signed(0)], claims }));
    expect(beyond["app[0]"]).toEqual({ "App proofs": "Not proven" });
  });
});

it("reads each check a few times, however many boot proofs there are", () => {
  let reads = 0;
  const boots = Array.from({ length: 200 }, (_, index): Check => {
    const check = { ...passed("cose.signature") };
    Object.defineProperty(check, "subject", { enumerable: true, get: () => (reads++, `boot[${index}]`) });
    return check;
  });
  expect(linksIn(report({ checks: boots }))).toHaveLength(200);
  expect(reads).toBeLessThan(20 * boots.length);
});

it("finds the names of pieces without a search for each", () => {
  let reads = 0;
  const evidence = Array.from({ length: 2000 }, (_, index) => ({
    get subject() {
      reads++;
      return `app[${index}]` as const;
    },
    name: `file ${index}`,
    sha256: null,
  }));
  const labels = evidence.map((_, index) => labelOf(`app[${index}]`, { evidence }));
  expect(labels.at(-1)).toBe('app[1999] = "file 1999"');
  expect(reads).toBeLessThan(20 * evidence.length);
});

it("finds the names of pieces that changed meanwhile", () => {
  const evidence = [{ subject: "boot[0]", name: "a", sha256: null }] as {
    subject: "boot[0]" | "app[0]";
    name: string;
    sha256: null;
  }[];
  expect(labelOf("boot[0]", { evidence })).toBe("boot[0] = a");
  evidence.unshift({ subject: "app[0]", name: "b", sha256: null });
  expect([labelOf("app[0]", { evidence }), labelOf("boot[0]", { evidence })]).toEqual(["app[0] = b", "boot[0] = a"]);
});
