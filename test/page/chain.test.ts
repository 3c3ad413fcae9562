import { describe, expect, it } from "vitest";
import { CHECK_IDS, type Check, type CheckId } from "../../src/checks.js";
import { type Link, chainsOfTrust, checksOfNoChain } from "../../src/page/chain.js";
import type { LinkId } from "../../src/page/links.js";
import { labelOf } from "../../src/report/labels.js";
import type { Report } from "../../src/report/report.js";
import { BOOT, bootOf, report, reportOf } from "../report/reports.js";
import { SHOWN } from "./evidence.js";

const chainOf = (shown: Report, boot: number): readonly Link[] => chainsOfTrust(shown)[boot]!;
const statesOf = (links: readonly Link[]): Partial<Record<LinkId, string>> =>
  Object.fromEntries(links.map(({ id, state }) => [id, state]));
const reasonOf = (shown: Report, id: LinkId): string => chainOf(shown, 0).find((link) => link.id === id)!.reason;
const passed = (id: CheckId): Check => ({
  id,
  subject: id.startsWith("policy.") ? "policy" : "boot[0]",
  status: "pass",
  detail: "as expected",
});
const ALL_PASSED = CHECK_IDS.filter((id) => !/^(?:app|activity|token)\./.test(id)).map(passed);
const TOP = { anchor: "proven", certificates: "proven", document: "proven" };
/** The lab's root is not AWS's. */
const LAB_TOP = { ...TOP, anchor: "warned" };

describe.each(Object.entries(SHOWN))("the chains of %s", (_, make) => {
  it("have every check, each in its place and nothing proven that is not", async () => {
    const shown = (await make()).report;
    const chains = chainsOfTrust(shown);
    const seen = [...chains.flat().flatMap(({ checks }) => checks), ...checksOfNoChain(shown)];
    expect(new Set(seen)).toEqual(new Set(shown.checks));
    for (const { state, checks } of chains.flat()) {
      const isBad = checks.some(({ status }) => status === "fail");
      expect(state === "failed").toBe(isBad);
      if (state !== "proven") continue;
      expect(shown.verdict).not.toBe("rejected");
      expect(checks.some(({ status }) => /^(?:pass|warn)$/.test(status))).toBe(true);
    }
    expect(chains.flat().every(({ reason }) => reason.length > 10)).toBe(true);
  });
});

describe("the states", () => {
  const states = async (name: string) => statesOf(chainOf((await SHOWN[name]!()).report, 0));

  it("of verified evidence are proven", async () => {
    const held = { measurements: "proven", manifest: "proven", approvals: "proven" };
    const legacy = { ...TOP, ...held, key: "warned", "app-proofs": "proven", claims: "proven", policy: "proven" };
    expect(await states("verified")).toEqual(legacy);
    const unasked = { ...LAB_TOP, ...held, key: "proven", "app-proofs": "open", claims: "open", policy: "proven" };
    expect(await states("verified, with warnings")).toEqual(unasked);
  });

  it("are the image's word where nothing pins the image", async () => {
    const word = { manifest: "word", approvals: "word", key: "word", "app-proofs": "word" };
    expect(await states("authentic")).toEqual({
      ...TOP,
      measurements: "proven",
      ...word,
      claims: "open",
      policy: "open",
    });
    const debug = { ...LAB_TOP, measurements: "unproven", ...word, claims: "open", policy: "word" };
    expect(await states("verified, debug allowed")).toEqual(debug);
  });

  it("of an activity leave the claims open where nobody said what was asked, however well they agree", async () => {
    expect(await states("an activity")).toMatchObject({ "app-proofs": "proven", claims: "open", policy: "proven" });
    const { report: shown } = await SHOWN["an activity"]!();
    expect(shown.checks).toContainEqual(expect.objectContaining({ id: "activity.claims", status: "pass" }));
    expect(reasonOf(shown, "claims")).toMatch(
      /^app\.request or activity\.request would prove this, .*nothing is expected/,
    );
    expect(await states("an activity, as it was asked for")).toMatchObject({ claims: "proven" });
  });

  it("of a bare document ask for no manifest", async () => {
    const open = { manifest: "open", approvals: "open", key: "open", "app-proofs": "open", claims: "open" };
    expect(await states("a bare document")).toEqual({ ...TOP, measurements: "proven", ...open, policy: "open" });
  });

  it("of rejected evidence are never proven, and say which link failed", async () => {
    const another = await states("rejected: another release");
    expect(another).toMatchObject({ anchor: "unproven", key: "unproven", claims: "open", policy: "failed" });
    const forged = (await SHOWN["rejected: a forged signature"]!()).report;
    expect(statesOf(chainOf(forged, 0))).toMatchObject({
      document: "failed",
      manifest: "unproven",
      policy: "open",
    });
    expect(reasonOf(forged, "anchor")).toContain("the evidence as a whole was rejected");
    expect(reasonOf(forged, "manifest")).toContain("it depends on a link above that failed (Document)");
    expect(reasonOf(forged, "document")).toMatch(/leaf certificate.*\(cose\.signature\)$/);
    expect(await states("stale")).toMatchObject({ anchor: "unproven", policy: "failed" });
  });

  it("of one boot proof are not proven either where another one failed", async () => {
    const shown = (await SHOWN["many boot proofs, half of them too old"]!()).report;
    const chains = chainsOfTrust(shown).map(statesOf);
    expect(chains.filter(({ policy }) => policy === "failed")).toHaveLength(5);
    expect(chains[9]).toMatchObject({ anchor: "unproven", policy: "unproven" });
  });

  it("are proven of a report in which every check passed", () => {
    const proven = statesOf(chainOf(report({ checks: ALL_PASSED }), 0));
    expect(proven).toMatchObject({ ...TOP, manifest: "proven", approvals: "proven", key: "proven", policy: "proven" });
  });
});

describe("a link is not proven", () => {
  const stateOf = (id: LinkId, shown: Report): string | undefined => statesOf(chainOf(shown, 0))[id];

  it.each([
    ["anchor", "chain.anchor"],
    ["certificates", "chain.signature"],
    ["document", "cose.signature"],
    ["measurements", "mode.debug"],
    ["manifest", "bind.user-data"],
    ["approvals", "envelope.approvals"],
    ["key", "bind.key"],
    ["policy", "policy.deployment"],
  ] as const)("%s, where %s was skipped, or is not there", (id, decisive) => {
    const without = ALL_PASSED.filter((check) => check.id !== decisive);
    const skipped = { ...passed(decisive), status: "skip" as const };
    expect(stateOf(id, report({ checks: ALL_PASSED }))).toBe("proven");
    expect(stateOf(id, report({ checks: without }))).toBe("open");
    expect(stateOf(id, report({ checks: [...without, skipped] }))).toBe("open");
  });

  it("in a report that contradicts itself, or claims nothing", () => {
    const failed = { ...passed("policy.labels"), status: "fail" as const };
    const contradicting = report({ checks: [...ALL_PASSED, failed] });
    expect(chainOf(contradicting, 0).filter(({ state }) => state === "proven")).toEqual([]);
    for (const rest of [
      { claims: null },
      { verdict: "splendid" as never },
      { claims: { bootProofs: [], appProofs: [], activity: null } },
    ])
      expect(chainOf(report({ checks: ALL_PASSED, ...rest }), 0).filter(({ state }) => state === "proven")).toEqual([]);
  });

  it("by a status that is not known", () => {
    const odd = { ...passed("chain.anchor"), status: "splendid" as never };
    expect(stateOf("anchor", report({ checks: [odd] }))).toBe("failed");
    expect(statesOf(chainOf(report({ checks: [...ALL_PASSED, odd] }), 0))).not.toHaveProperty("key", "proven");
  });

  it("of checks that are not known: they are shown in a link of their own", () => {
    const odd = { ...passed("chain.anchor"), id: "cose.moon" as never };
    const links = chainOf(report({ checks: [...ALL_PASSED, odd] }), 0);
    expect(links.at(-1)).toMatchObject({ id: "other", state: "unproven", checks: [odd] });
    expect(chainOf(report({ checks: ALL_PASSED }), 0).at(-1)!.id).toBe("policy");
  });

  it("in debug mode, nor where nothing pins the image", () => {
    const debug = reportOf({ image: { debug: true } }, { checks: ALL_PASSED });
    expect(stateOf("measurements", debug)).toBe("unproven");
    expect(stateOf("policy", debug)).toBe("word");
    expect(stateOf("manifest", reportOf({ image: { pinned: false } }, { checks: ALL_PASSED }))).toBe("word");
  });
});

describe("the words of a link do not contradict what stands beside it", () => {
  const linkOf = async (name: string, id: LinkId): Promise<Link> =>
    chainOf((await SHOWN[name]!()).report, 0).find((link) => link.id === id)!;

  it("another anchor than that of AWS is trusted by the policy, or by the caller without one", async () => {
    expect(await linkOf("an activity", "anchor")).toMatchObject({ word: "Trusted by the policy, not AWS's" });
    expect(await linkOf("hostile", "anchor")).toMatchObject({ word: "Trusted by the caller, not AWS's" });
    expect(await linkOf("verified", "anchor")).toMatchObject({ state: "proven", word: "Proven" });
  });

  it("a legacy key has its warning", async () => {
    const { word, warnings } = await linkOf("verified", "key");
    expect([word, warnings]).toEqual(["Warning: legacy", [expect.stringMatching(/^legacy: no PCR commits/)]]);
    expect(await linkOf("an activity", "key")).toMatchObject({ word: "Proven", warnings: [] });
  });

  it("claims with proven addresses were not compared, and without app proofs not checked", async () => {
    expect(await linkOf("an activity", "claims")).toMatchObject({ state: "open", word: "Not compared" });
    expect(await linkOf("verified, with warnings", "claims")).toMatchObject({ state: "open", word: "Not checked" });
    expect(await linkOf("rejected: another release", "claims")).toMatchObject({ word: "Not checked" });
    expect(await linkOf("an activity, as it was asked for", "claims")).toMatchObject({ word: "Proven" });
  });
});

it("tells what a check warns of, and what was not asked, of a link that is proven", () => {
  const warned: Check = { ...passed("chain.anchor"), status: "warn", detail: "starts at a root of your own" };
  const skipped: Check = { ...passed("policy.age"), status: "skip" };
  const others = ALL_PASSED.filter(({ id }) => id !== "chain.anchor" && id !== "policy.age");
  const shown = report({ checks: [...others, warned, skipped] });
  expect(chainOf(shown, 0)[0]).toMatchObject({ state: "warned", warnings: ["starts at a root of your own"] });
  expect(reasonOf(shown, "anchor")).toBe("One check held, with a warning.");
  expect(reasonOf(shown, "policy")).toBe("21 checks held. Not checked: policy.age.");
});

describe("with several boot proofs", () => {
  const signed = (index: number): Check => ({ ...passed("app.signature"), subject: `app[${index}]` });
  const boots: Check[] = [0, 1].map((index) => ({ ...passed("cose.signature"), subject: `boot[${index}]` }));
  const activity: Check = { ...passed("activity.claims"), subject: "activity" };
  const proofs = { type: "T", time: "2026-03-04T05:06:07.000Z", payload: {}, expectation: null, answers: null };
  const claims = { bootProofs: [BOOT, bootOf({})], appProofs: [{ bootProof: 1, ...proofs }], activity: null };

  it("app proofs and activity stand under the boot proof that they were judged under", () => {
    const all = [...boots, signed(0), activity, passed("policy.app-proof")];
    const [first, second] = chainsOfTrust(report({ checks: all, claims })).map((links) =>
      links.flatMap(({ checks }) => checks),
    );
    expect(first).toEqual([boots[0], all.at(-1)]);
    expect(second).toEqual([boots[1], signed(0), activity, all.at(-1)]);
  });

  it("app proofs of which that is not said are in no chain, and not lost", () => {
    const shown = report({ verdict: "rejected", claims: null, checks: [...boots, signed(0), activity] });
    expect(checksOfNoChain(shown)).toEqual([signed(0), activity]);
    const beyond = { ...claims, appProofs: [{ bootProof: 7, ...proofs }] };
    expect(checksOfNoChain(report({ checks: [...boots, signed(0)], claims: beyond }))).toEqual([signed(0)]);
  });
});

it("reads each check a few times, however many boot proofs there are", () => {
  let reads = 0;
  const boots = Array.from({ length: 200 }, (_, index): Check => {
    const check = { ...passed("cose.signature") };
    Object.defineProperty(check, "subject", { enumerable: true, get: () => (reads++, `boot[${index}]`) });
    return check;
  });
  expect(chainsOfTrust(report({ checks: boots }))).toHaveLength(200);
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
