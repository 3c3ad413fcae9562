/** Pages and their check: every edit of a page is found, wherever it is. Needs `npm run build`, for the script. */
import { describe, expect, it } from "vitest";
import { PAGE_SCRIPT } from "#page-script";
import { NO_POLICY_ANY_ENCLAVE, type VerifyOptions, verifyEvidence } from "../../src/bootproof.js";
import { plainOptions, plainPolicy } from "../../src/plain-settings.js";
import { parsePolicy } from "../../src/index.js";
import { Forge, type ManifestAlterations, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { type PageCheck, type PagePart, checkPage } from "../../src/page/check.js";
import { toHtml } from "../../src/page/markup.js";
import { renderPage, renderVerifier } from "../../src/page/page.js";
import { shownReport } from "../../src/page/shown.js";
import { parseTrustAnchor } from "../../src/verify/trust-anchor.js";
import { dataOf, withData } from "./data-of.js";

const lab = new Forge();
const at = new Date("2026-03-04T05:06:07.000Z");
const now = new Date("2026-03-04T05:16:07.000Z");
const forged = forgeEvidence({ lab, at });
const other = forgeEvidence({ lab, at });
const parts = { script: PAGE_SCRIPT };
const policyText = JSON.stringify(labPolicy(forged.anchorPem, [labDeployment(lab)]));
const policy = parsePolicy(policyText);
const strict = parsePolicy(JSON.stringify({ ...(JSON.parse(policyText) as object), maxAge: "1m" }));

async function pageOf(...bootProofs: readonly unknown[]): Promise<string> {
  const evidence = { bootProofs };
  const { report } = await verifyEvidence(evidence, { policy, now });
  return renderPage({ evidence, options: plainOptions({ policy, now }), report }, parts);
}

const html = await pageOf(forged.bootProof);
/** As the caller has it judged. */
const CALLERS = { policy: plainPolicy(policy), now };
const check = (page: string, options = {}): Promise<PageCheck> => checkPage(page, { ...parts, ...CALLERS, ...options });

describe("a page", () => {
  it("is the same each time, and has nothing of the day it was made", async () => {
    expect(await pageOf(forged.bootProof)).toBe(html);
  });

  it("begins with its policy, and has one script and one style, by their digests", async () => {
    expect(html).toMatch(
      /^<!doctype html>\n<html lang="en">\n<head>\n<meta http-equiv="Content-Security-Policy" content="/,
    );
    const content = /Content-Security-Policy" content="([^"]*)"/.exec(html)![1]!;
    expect(content).toMatch(
      new RegExp(
        "^default-src 'none'; script-src 'sha256-[^']{44}'; style-src 'sha256-[^']{44}'; img-src data:; " +
          "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'$",
      ),
    );
    const found = [...html.matchAll(/<(script|style)\b[^>]*>/g)].map(([tag]) => tag);
    expect(found).toEqual([
      "<style>",
      '<script type="application/json" id="bootproof-data">',
      '<script id="bootproof-script">',
    ]);
    expect(html).not.toMatch(/\son[a-z]+="|\sstyle="|(?:src|href)="(?!data:,|#)/);
  });

  it("has the verdict in its title", async () => {
    expect(html).toMatch(
      /<title>Verified with 1 warning: boot\[0\], deployment (?:"|&quot;)lab\.1(?:"|&quot;) – bootproof<\/title>/,
    );
    const rejected = await pageOf({ ...other.bootProof, qosManifestB64: "" });
    expect(rejected).toContain("<title>REJECTED: boot[0] – bootproof</title>");
    expect(await renderVerifier(parts)).toContain("<title>Nothing verified yet – bootproof</title>");
  });

  it("carries hostile text as text", async () => {
    const page = await pageOf({ ...forged.bootProof, enclaveApp: "</script><script>alert(1)</script><!--\u2028" });
    expect([...page.matchAll(/<script/g)]).toHaveLength(2);
    expect(page).not.toContain("\u2028");
    expect(await check(page)).toMatchObject({ kind: "report", sameBytes: true, sameReport: true });
  });

  it("is not made of a report of other evidence, or of other options", async () => {
    const options = plainOptions({ policy, now });
    const { report } = await verifyEvidence({ bootProofs: [forged.bootProof] }, { policy: strict, now });
    await expect(renderPage({ evidence: { bootProofs: [forged.bootProof] }, options, report }, parts)).rejects.toThrow(
      /^the report is not of this evidence and these options: verdict is "rejected", and "verified" anew$/,
    );
  });

  it("takes no script that a reader of the file could take for something else", async () => {
    for (const script of ["a</script>", "<!--", "ü", "\r\n", "\0", ""])
      await expect(renderVerifier({ script })).rejects.toThrow(/script/);
  });
});

describe("a page whose maker asked something", () => {
  const nonce = new Uint8Array([1, 2, 3, 4]);
  const values = { "/challenge": "q7Yt3mVnB2xKc9PzLwRs4A" };
  const payloads = [{ type: "QUOTE", timestampMs: "1772600827000", challenge: values["/challenge"] }];
  const asked = forgeEvidence({ lab, at, payloads, nonce });
  const evidence = { bootProofs: [asked.bootProof], appProofs: asked.appProofs };
  const contentOf = async (more: Partial<VerifyOptions>) => {
    const own = { policy, now, nonce, ...more };
    const { report } = await verifyEvidence(evidence, own);
    expect(report.verdict).toBe("verified");
    return { evidence, options: plainOptions(own), report };
  };

  it.each<[string, Partial<VerifyOptions>]>([
    ["the nonce", {}],
    ["the nonce, the expected payloads", { expected: { payload: [{ type: "QUOTE", values }] } }],
    [
      "the nonce, the challenge, the expected payloads",
      { expected: { payload: [{ type: "QUOTE", values, challenge: "/challenge" }] } },
    ],
  ])("says that its maker chose %s, and not its reader", async (chosen, more) => {
    const content = await contentOf(more);
    const page = await renderPage(content, parts);
    expect(page).toContain(`“You” and “your” on this page mean its maker, who chose ${chosen}.`);
    const { report } = content;
    const readers = toHtml(await shownReport({ evidence, report, bundle: null }));
    expect(readers).toContain("The document carries your nonce");
    expect(readers).not.toContain("its maker");
  });

  it("says so nowhere else", () => {
    expect(html).not.toContain("mean its maker");
  });
});

describe("the check of a page", () => {
  it("finds it intact", async () => {
    const { verification, ...facts } = await check(html);
    expect(facts).toEqual({
      kind: "report",
      version: "0.1.0",
      script: { found: facts.script.expected, expected: expect.stringMatching(/^[0-9a-f]{64}$/), same: true },
      sameBytes: true,
      differsAt: null,
      sameReport: true,
      differences: [],
      faults: [],
      policyFrom: "caller",
      made: { now: now.toISOString(), allowDebug: false, bootProofsOnly: false, expected: null, nonce: null },
    });
    expect(verification!.report.verdict).toBe("verified");
    expect(await checkPage(Buffer.from(html), { ...parts, ...CALLERS })).toEqual({ ...facts, verification });
  });

  const places: [PagePart, RegExp][] = [
    ["head", /default-src/],
    ["style", /color-scheme: light/],
    ["text", /Not proven/],
    ["data", /"files":\[/],
    ["script", /"use strict"|\(\(\)=>/],
    ["end", /<\/html>/],
  ];
  it.each(places)("finds a byte that was changed: %s", async (part, pattern) => {
    const start = part === "script" ? html.indexOf('id="bootproof-script"') : 0;
    const byte = start + html.slice(start).search(pattern) + (part === "data" ? 12 : 1);
    const page = html.slice(0, byte) + (html[byte] === "x" ? "y" : "x") + html.slice(byte + 1);
    const found = await check(page);
    expect(found.sameBytes).toBe(false);
    expect(found.script.same).toBe(part !== "script");
    const at = Buffer.byteLength(html.slice(0, byte));
    // What the data say may not even be JSON any more: then there is no page to compare with.
    if (part !== "data") expect(found.differsAt).toEqual({ part, byte: at });
  });

  it("finds every single byte: none may be changed without notice", async () => {
    const bytes = Buffer.from(html);
    // Spread over all of the file, each time another place.
    for (let at = 7; at < bytes.length; at += 20011) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      const found = await checkPage(changed, { ...parts, ...CALLERS });
      expect([at, found.sameBytes]).toEqual([at, false]);
    }
  });

  it("finds what was left out and what was added", async () => {
    for (const page of [
      `${html}<!-- -->`,
      html.slice(0, -1),
      ` ${html}`,
      html.replace("</main>", "</main><script>1</script>"),
    ])
      expect((await check(page)).sameBytes).toBe(false);
  });

  it("finds another text over data that are as they were", async () => {
    const found = await check(html.replaceAll("VERIFIED", "VERY GOOD"));
    expect(found).toMatchObject({ sameBytes: false, sameReport: true, differsAt: { part: "text" } });
    // Its evidence is good, and a reader would take that for the page.
    const { report } = found.verification!;
    expect(report).toMatchObject({
      verdict: "verified",
      refusedFor: [expect.stringMatching(/^the page is not, byte /)],
    });
    expect((await check(html)).verification!.report).not.toHaveProperty("refusedFor");
  });

  it("finds another script", async () => {
    const page = html.replace(/(<script id="bootproof-script">)[^]*?(<\/script>)/, "$1alert('verified')\n$2");
    const found = await check(page);
    expect(found).toMatchObject({ sameBytes: false, script: { same: false }, sameReport: true });
    expect(found.script.found).toMatch(/^[0-9a-f]{64}$/);
    expect(found.script.found).not.toBe(found.script.expected);
  });

  it("finds another report", async () => {
    const data = dataOf(html);
    const found = await check(withData(html, { ...data, report: { ...data.report, policy: "ours" } } as typeof data));
    expect(found).toMatchObject({ sameBytes: false, sameReport: false });
    expect(found.differences).toEqual([{ place: "policy", page: '"ours"', anew: '"lab"' }]);
    expect(found.verification!.report.policy).toBe("lab");
  });

  it("finds other evidence, also with a report that fits it, as another page's text", async () => {
    const own = dataOf(html);
    const swapped = dataOf(await pageOf(other.bootProof));
    const onlyEvidence = await check(withData(html, { ...own, evidence: swapped.evidence }));
    expect(onlyEvidence).toMatchObject({ sameBytes: false, sameReport: false });
    const consistent = await check(withData(html, swapped));
    expect(consistent).toMatchObject({
      sameBytes: false,
      sameReport: true,
      differences: [],
      differsAt: { part: "text" },
    });
  });

  it("finds data in another spelling", async () => {
    const data = dataOf(html);
    expect((await check(withData(html, { ...data, files: [...data.files, "AAAA"] }))).sameBytes).toBe(false);
    const { page, ...rest } = data;
    expect((await check(withData(html, { ...rest, page }))).sameBytes).toBe(false);
  });

  it("tells data that cannot be verified", async () => {
    const data = dataOf(html);
    const found = await check(withData(html, { ...data, page: "bootproof-page/2" as "bootproof-page/1" }));
    expect(found).toMatchObject({ kind: "report", sameBytes: false, differsAt: null, verification: null });
    expect(found.faults).toEqual([{ path: "page", message: 'page: expected "bootproof-page/1"' }]);
    const noPolicy = await check(withData(html, { ...data, options: { ...data.options, policy: { bytes: "e30=" } } }));
    expect(noPolicy.faults.length).toBeGreaterThan(0);
    expect(noPolicy.verification).toBeNull();
  });

  it("holds the evidence against the caller's policy, and the page against its own", async () => {
    const found = await check(html, { policy: plainPolicy(strict) });
    expect(found).toMatchObject({ sameBytes: true, sameReport: true, policyFrom: "caller" });
    expect(found.verification!.report).toMatchObject({ verdict: "rejected", stale: true });
  });

  describe("uses of the page's settings nothing that loosens", () => {
    const rules = { ...(JSON.parse(policyText) as object), appProofs: { required: true }, allowDebug: true };
    const lax = parsePolicy(JSON.stringify(rules));
    const verdictOf = async (made: Partial<VerifyOptions>, options: object, bootProof: unknown = forged.bootProof) => {
      const own = { policy: lax, now, bootProofsOnly: true, ...made } as VerifyOptions;
      const evidence = { bootProofs: [bootProof] };
      const { report } = await verifyEvidence(evidence, own);
      const page = await renderPage({ evidence, options: plainOptions(own), report }, parts);
      const found = await check(page, options);
      expect([report.verdict, found.sameBytes, found.sameReport]).toEqual(["verified", true, true]);
      return found.verification!.report;
    };

    it("not that app proofs were not wanted", async () => {
      const demanding = { policy: plainPolicy(lax) };
      const report = await verdictOf({}, demanding);
      expect([report.verdict, report.notApplied]).toEqual(["rejected", undefined]);
      expect(report.checks.filter(({ status }) => status === "fail").map(({ id }) => id)).toEqual(["policy.app-proof"]);
      expect((await verdictOf({}, CALLERS)).verdict).toBe("verified");
    });

    it("not its debug mode", async () => {
      const alterManifest: ManifestAlterations = {
        manifest: (manifest) => ({ ...manifest, pivot: { ...manifest.pivot, debugMode: true } }),
      };
      const { bootProof } = forgeEvidence({ lab, at, alterManifest });
      for (const made of [{ policy, allowDebug: true }, { policy: lax }]) {
        const report = await verdictOf(made, CALLERS, bootProof);
        expect(report.verdict).toBe("rejected");
        expect(report.checks.filter(({ status }) => status === "fail").map(({ id }) => id)).toEqual(["mode.debug"]);
        expect((await verdictOf(made, { ...CALLERS, allowDebug: true }, bootProof)).verdict).toBe("verified");
      }
    });

    it("not its time", async () => {
      const later = new Date("2036-03-04T05:06:07.000Z");
      const report = await verdictOf({}, { policy: plainPolicy(strict), now: later });
      expect([report.verdict, report.stale, report.verifiedAt]).toEqual(["rejected", true, later.toISOString()]);
      expect((await verdictOf({ at: now }, CALLERS)).validationTime).toBe(at.toISOString());
    });

    it("not its question", async () => {
      const evidence = { bootProofs: [forged.bootProof], activity: { activity: forged.activity } };
      const expected = { organizationId: forged.activity["organizationId"] as string };
      const own = { policy, now, expected };
      const { report } = await verifyEvidence(evidence, own);
      const page = await renderPage({ evidence, options: plainOptions(own), report }, parts);
      const statusOf = ({ verification }: PageCheck): string | undefined =>
        verification!.report.checks.find(({ id }) => id === "activity.request")?.status;
      const found = await check(page);
      expect([found.made!.expected, statusOf(found)]).toEqual([expected, "skip"]);
      expect(statusOf(await check(page, { expected }))).toBe("pass");
      expect(statusOf(await check(page, { expected: { organizationId: "another" } }))).toBe("fail");
      await expect(check(html, { expected })).rejects.toThrow(/^expected: checked against app proofs and activities/);
    });

    it("not the payloads that its maker expected, nor the maker's challenge", async () => {
      const challenge = "q7Yt3mVnB2xKc9PzLwRs4A";
      const payloads = [{ type: "QUOTE", timestampMs: "1772600827000", challenge }];
      const { bootProof, appProofs } = forgeEvidence({ lab, at, payloads });
      const expected = { payload: [{ type: "QUOTE", values: { "/challenge": challenge }, challenge: "/challenge" }] };
      const own = { policy, now, expected };
      const evidence = { bootProofs: [bootProof], appProofs };
      const { report } = await verifyEvidence(evidence, own);
      const page = await renderPage({ evidence, options: plainOptions(own), report }, parts);
      const judgedWith = async (options: object): Promise<unknown> => {
        const found = await check(page, options);
        expect([found.sameBytes, found.sameReport, found.made!.expected]).toEqual([true, true, expected]);
        const { checks, claims } = found.verification!.report;
        const answers = claims?.appProofs.map((proof) => proof.answers?.value ?? null);
        return [checks.find(({ id }) => id === "app.request")?.status, answers];
      };
      expect(await judgedWith({})).toEqual(["skip", [null]]);
      expect(await judgedWith({ expected })).toEqual(["pass", [challenge]]);
      const readers = { payload: [{ ...expected.payload[0]!, values: { "/challenge": "another-one-of-the-reader" } }] };
      expect(await judgedWith({ expected: readers })).toEqual(["fail", undefined]);
      // Payloads that no proof can meet are a failed check, not a demand without sense.
      expect((await check(html, { expected })).verification!.report.verdict).toBe("rejected");
    });

    it("and all that it demands", async () => {
      const nonce = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]);
      const evidence = { bootProofs: [forged.bootProof] };
      const own = { policy, now, nonce, measurements: { 4: new Uint8Array(48) } };
      const { report } = await verifyEvidence(evidence, own);
      const page = await renderPage({ evidence, options: plainOptions(own), report }, parts);
      const found = await check(page);
      const failed = found.verification!.report.checks.filter(({ status }) => status === "fail").map(({ id }) => id);
      expect(failed).toEqual(["bind.image", "bind.nonce"]);
      expect(found.made!.nonce).toBe("0102030405060708");
    });

    it("and never its trust anchors", async () => {
      const own: VerifyOptions = {
        policy: NO_POLICY_ANY_ENCLAVE,
        now,
        trustAnchors: [parseTrustAnchor("lab", forged.anchorPem)],
      };
      const evidence = { bootProofs: [forged.bootProof] };
      const { report } = await verifyEvidence(evidence, own);
      const page = await renderPage({ evidence, options: plainOptions(own), report }, parts);
      const found = await check(page, { policy: null });
      expect([report.verdict, found.verification!.report.verdict]).toEqual(["authentic", "rejected"]);
      const trustAnchors = [{ name: "mine", pem: forged.anchorPem }];
      expect((await check(page, { policy: null, trustAnchors })).verification!.report.verdict).toBe("authentic");
      await expect(check(page, { policy: "bundle", trustAnchors })).rejects.toThrow(/^there is no policy in the page/);
    });
  });

  it("takes the page's own policy in so many words, and only as far as it tightens", async () => {
    await expect(check(html, { policy: undefined })).rejects.toThrow(/^policy: the page has evidence/);
    await expect(check(html, { policy: "bundle" })).rejects.toThrow(/policy\.trustAnchors: /);
    const trustAnchors = [{ name: "mine", pem: forged.anchorPem }];
    const found = await check(html, { policy: "bundle", trustAnchors });
    expect([found.sameReport, found.policyFrom]).toEqual([true, "bundle"]);
    expect(found.verification!.report).toMatchObject({ verdict: "authentic", policy: null, policyDigest: null });
  });

  it("takes no demand that a page without evidence could not meet", async () => {
    const page = await renderVerifier(parts);
    await expect(check(page)).rejects.toThrow(/^the page has no evidence/);
    await expect(check(page, { policy: "bundle" })).rejects.toThrow(/^the page has no evidence/);
    const expected = { organizationId: "o" };
    await expect(checkPage(page, { ...parts, expected })).rejects.toThrow(/^the page has no evidence/);
    await expect(checkPage(html, { ...parts, expected })).rejects.toThrow(/^policy: the page has evidence/);
    expect(await checkPage(page, { ...parts, policy: null, now })).toMatchObject({ kind: "verifier", sameBytes: true });
  });

  it("names the version that the page says made it", async () => {
    const page = html.replace('content="bootproof 0.1.0"', 'content="bootproof 7.0.0"');
    expect(await check(page)).toMatchObject({ kind: "report", version: "7.0.0", sameBytes: false });
  });

  it("checks the page without evidence, too", async () => {
    const page = await renderVerifier(parts);
    const check = (html: string): Promise<PageCheck> => checkPage(html, parts);
    expect(await check(page)).toMatchObject({
      kind: "verifier",
      sameBytes: true,
      sameReport: null,
      verification: null,
    });
    const edited = await check(page.replace("any genuine enclave", "the right enclave"));
    expect(edited).toMatchObject({ kind: "verifier", sameBytes: false, differsAt: { part: "text" } });
  });

  it.each([
    ["", "nothing"],
    ["<!doctype html><p>502", "another page"],
    ["\xff\xfe", "no text"],
  ])("says of what is none that it is none: %#", async (page) => {
    expect(await checkPage(Buffer.from(page, "latin1"), parts)).toMatchObject({ kind: null, sameBytes: false });
  });

  it("reads no more than 32 MiB", async () => {
    await expect(checkPage(new Uint8Array(32 * 1024 * 1024 + 1), parts)).rejects.toThrow(RangeError);
  });
});

describe("what would cost too much", () => {
  it("is shown in part: the values of a piece, and of all pieces together", async () => {
    const page = await pageOf({ x: Array(100_000).fill(0) }, { x: Array(100_000).fill(0) });
    const count = page.split("<li><code>0</code></li>").length - 1;
    expect(count).toBeGreaterThan(149_000);
    expect(count).toBeLessThan(150_000);
    expect(page).toMatch(/<li><code>and \d+ more<\/code><\/li>/);
    expect(await check(page)).toMatchObject({ sameBytes: true, sameReport: true });
  });

  it("is not a page larger than is read: none is made, and none is accepted", async () => {
    // Each takes six bytes in the data, and eight where it is shown.
    const evidence = { bootProofs: ["<".repeat(5_000_000)] };
    await expect(pageOf(...evidence.bootProofs)).rejects.toThrow(TOO_LARGE);
    const data = {
      ...dataOf(html),
      evidence: { bootProofs: [{ name: null, value: { text: evidence.bootProofs[0] } }], appProofs: [] },
    };
    const small = withData(html, data as never);
    const { faults, ...checked } = await check(small);
    expect(checked).toMatchObject({ kind: "report", sameBytes: false, verification: null });
    expect(faults.map(({ message }) => message)).toEqual([expect.stringContaining("larger than 32 MiB")]);
  });
});

const TOO_LARGE = "malformed page: evidence: its page would be larger than 32 MiB, the most that page --verify reads";
