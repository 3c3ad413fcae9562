/** Pages: what they carry, and what is taken out of them again. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { evidenceInPage } from "../../src/bundle/page.js";
import { fromHex, toUtf8 } from "../../src/bytes.js";
import {
  NO_POLICY_ANY_ENCLAVE,
  type VerifyOptions,
  parsePolicy,
  parseTrustAnchor,
  verifyAttestation,
  verifyEvidence,
} from "../../src/index.js";
import { POLICY_OF_THE_BUNDLE, decodeBundle, packBundle, packEvidence, verifyBundle } from "../../src/bundle/index.js";
import { type Evidence, NamedEvidence } from "../../src/inputs.js";
import { Forge, type ManifestAlterations, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { evidenceRows } from "../../src/page/evidence.js";
import type { Row } from "../../src/show/doc.js";
import { toHtml } from "../../src/show/markup.js";
import { type PageContent, pageWith, verifierWith } from "../../src/page/page.js";
import { shownReport } from "../../src/page/view.js";
import { plainOptions } from "../../src/plain-settings.js";
import { bundleIn, withBlock } from "./data-of.js";
import { TOOL } from "../../src/version.js";
import { leastCostMs } from "../support/cost.js";

const lab = new Forge();
const at = new Date("2026-03-04T05:06:07.000Z");
const now = new Date("2026-03-04T05:16:07.000Z");
const forged = forgeEvidence({ lab, at });
const policyFile = labPolicy(forged.anchorPem, [labDeployment(lab)]);
const policy = parsePolicy(JSON.stringify(policyFile));
const strict = parsePolicy(JSON.stringify({ ...policyFile, maxAge: "1m" }));
const trustAnchors = [parseTrustAnchor("lab.pem", forged.anchorPem)];
const SCRIPT = "void 0;";

async function contentOf(evidence: Evidence, options: Partial<VerifyOptions> = {}): Promise<PageContent> {
  const all: VerifyOptions = { policy, now, ...options };
  const { report } = await verifyEvidence(evidence, all);
  return { evidence, options: plainOptions(all), report };
}

const pageOf = async (evidence: Evidence, options?: Partial<VerifyOptions>): Promise<string> =>
  pageWith(SCRIPT, await contentOf(evidence, options));
const bundleOf = (page: string): ReturnType<typeof decodeBundle> => decodeBundle(evidenceInPage(page));
const html = await pageOf({ bootProofs: [forged.bootProof] });

describe("a page", () => {
  it("is the same each time, and has nothing of the day it was made", async () => {
    expect(await pageOf({ bootProofs: [forged.bootProof] })).toBe(html);
  });

  it("begins with its policy, and has one script and one style, by their digests", () => {
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
      '<script type="text/plain" id="bootproof-evidence">',
      '<script id="bootproof-script">',
    ]);
    expect(html).not.toMatch(/\son[a-z]+="|\sstyle="|(?:src|href)="(?!data:,|#)/);
  });

  it("has the verdict in its title", async () => {
    expect(html).toMatch(
      /<title>VERIFIED with 1 warning: boot\[0\], deployment (?:"|&quot;)lab\.1(?:"|&quot;) – bootproof<\/title>/,
    );
    const rejected = await pageOf({ bootProofs: [{ ...forged.bootProof, qosManifestB64: "" }] });
    expect(rejected).toContain("<title>REJECTED: boot[0] – bootproof</title>");
    expect(await verifierWith(SCRIPT)).toContain("<title>Nothing verified yet – bootproof</title>");
  });

  it("carries hostile text as text", async () => {
    const hostile = '</script><script>alert(1)</script><!--\u2028<script type="text/plain" id="bootproof-evidence">';
    const page = await pageOf({ bootProofs: [{ ...forged.bootProof, enclaveApp: hostile }] });
    expect([...page.matchAll(/<script/g)]).toHaveLength(2);
    expect(page).not.toContain("\u2028");
    expect(bundleIn(page)["bootProofs"]).toEqual([{ ...forged.bootProof, enclaveApp: hostile }]);
  });

  it("is not made of a report of other evidence, or of other options", async () => {
    const evidence = { bootProofs: [forged.bootProof] };
    const { report } = await verifyEvidence(evidence, { policy: strict, now });
    await expect(pageWith(SCRIPT, { evidence, options: plainOptions({ policy, now }), report })).rejects.toThrow(
      /^the report is not of this evidence and these options: verdict is "rejected", expected "verified"$/,
    );
  });

  it("takes no script that a reader of the file could take for something else", async () => {
    for (const script of ["a</script>", "<!--", "ü", "\r\n", "\0", ""])
      await expect(verifierWith(script)).rejects.toThrow(/script/);
  });

  const startOf = (page: string): string =>
    page
      .slice(page.indexOf("<main>") + 6)
      .replace(/<[^>]*>/g, "")
      .replaceAll("&quot;", '"')
      .trim()
      .slice(0, 400);

  it("says first what it is about, whose word it is, for whom, of when and by what, and how to verify it", async () => {
    const digest = createHash("sha256").update(JSON.stringify(policyFile)).digest("hex");
    const stated = `Stated by whoever made this file, with ${TOOL.name} ${TOOL.version}, at ${now.toISOString()}`;
    const command = "Verify it yourself: bootproof verify report.html --policy yours.json";
    expect(startOf(html).startsWith(`"lab"${stated}, under the policy SHA-256 ${digest}.${command}`)).toBe(true);
    const unpinned = await pageOf({ bootProofs: [forged.bootProof] }, { policy: NO_POLICY_ANY_ENCLAVE, trustAnchors });
    expect(startOf(unpinned).startsWith(`An enclave that no policy names${stated}, under no policy.${command}`)).toBe(
      true,
    );
    const asked = await contentOf({ ...boot, activity: forged.activity }, { expected: { organizationId } });
    const owned = startOf(await pageWith(SCRIPT, asked));
    expect(
      owned.startsWith(`"lab", organization ${organizationId}${stated}, for organization ${organizationId}, `),
    ).toBe(true);
    expect(startOf(await verifierWith(SCRIPT))).not.toContain("Stated by");
  });

  it("has the caller's title, in a form that is safe to show, at its top and in its title", async () => {
    const content = await contentOf({ bootProofs: [forged.bootProof] });
    const page = await pageWith(SCRIPT, { ...content, title: "Payments <b>\u202e" });
    expect(startOf(page)).toMatch(/^Payments &lt;b&gt;\\u\{202e\}Stated by/);
    expect(page).toContain("<title>VERIFIED with 1 warning: Payments &lt;b&gt;\\u{202e} – bootproof</title>");
    // A reader's tool takes the evidence alone out of it, which has nothing of the title.
    expect(evidenceInPage(page)).toEqual(evidenceInPage(html));
  });

  it.each<readonly [string, string]>([
    ["july.html", "july.html"],
    ["july report (1).html", '"july report (1).html"'],
    ["märz.htm", "märz.htm"],
    ...[
      "a$(id).html",
      "a`id`.html",
      "100%.html",
      '".html',
      "-x.html",
      "a\\b.html",
      "../x.html",
      "x.json",
      "\u202e.html",
      "",
    ].map((name) => [name, "report.html"] as const),
  ])("names its file %j as %s in the command, where no shell could misread it", async (file, word) => {
    const content = await contentOf({ bootProofs: [forged.bootProof] });
    expect(startOf(await pageWith(SCRIPT, { ...content, file }))).toContain(
      `bootproof verify ${word} --policy yours.json`,
    );
  });

  it("has its form hidden until its script shows it: with evidence folded up, without it unfolded", async () => {
    const formOf = (page: string): string | undefined => /<details id="form"[^>]*>/.exec(page)?.[0];
    expect(formOf(html)).toBe('<details id="form" class="form" hidden="">');
    const verifier = await verifierWith(SCRIPT);
    expect(formOf(verifier)).toBe('<details id="form" class="form" hidden="" open="">');
    const withoutForm = (page: string): string =>
      page.replace(/ open=""/, "").replace(/[^]*(?=<details id="form")/, "");
    const [own, others] = [withoutForm(html), withoutForm(verifier)].map((page) => page.split('<div id="result"')[0]);
    expect(own).toBe(others);
    for (const page of [html, verifier]) expect(page).toContain("<noscript><p class");
  });
});

describe("a page whose maker asked something", () => {
  const nonce = new Uint8Array([1, 2, 3, 4]);
  const values = { "/challenge": "q7Yt3mVnB2xKc9PzLwRs4A" };
  const payloads = [{ type: "QUOTE", timestampMs: "1772600827000", challenge: values["/challenge"] }];
  const asked = forgeEvidence({ lab, at, payloads, nonce });
  const evidence = { bootProofs: [asked.bootProof], appProofs: asked.appProofs };

  it.each<[string, Partial<VerifyOptions>]>([
    ["the nonce", {}],
    ["the nonce, the expected payloads", { expected: { payload: [{ type: "QUOTE", values }] } }],
    [
      "the nonce, the challenge, the expected payloads",
      { expected: { payload: [{ type: "QUOTE", values, challenge: "/challenge" }] } },
    ],
  ])("says that its maker chose %s, and not its reader", async (chosen, more) => {
    const content = await contentOf(evidence, { nonce, ...more });
    const page = await pageWith(SCRIPT, content);
    expect(page).toContain(`On this page, “you” and “your” mean its maker, who chose ${chosen}.`);
    const readers = toHtml(await shownReport({ evidence, report: content.report, bundle: null }));
    expect(readers).toContain("The document carries your nonce");
    expect(readers).not.toContain("its maker");
  });

  it("says so nowhere else", () => {
    expect(html).not.toContain("mean its maker");
  });
});

const key = fromHex(forged.bootProof["ephemeralPublicKeyHex"] as string)!;
const otherKey = fromHex(forgeEvidence({ lab: new Forge(), at }).bootProof["ephemeralPublicKeyHex"] as string)!;
const bytesOf = (value: unknown): Uint8Array => toUtf8(JSON.stringify(value));
const { organizationId } = forged.activity as { organizationId: string };
const boot: Evidence = { bootProofs: [forged.bootProof] };
const whole: Evidence = { ...boot, appProofs: forged.appProofs };

/** What was verified, under which options, and the verdict. */
const VERIFICATIONS: Readonly<Record<string, readonly [Evidence, Partial<VerifyOptions>, string]>> = {
  values: [whole, {}, "verified"],
  "JSON texts": [{ bootProofs: [JSON.stringify(forged.bootProof)] }, {}, "verified"],
  bytes: [{ bootProofs: [bytesOf(forged.bootProof)], appProofs: [bytesOf(forged.appProofs[0])] }, {}, "verified"],
  "a wrapped activity": [{ ...boot, activity: { activity: forged.activity } }, {}, "verified"],
  "the application that was asked for": [
    { bootProofs: [new NamedEvidence("signer", forged.bootProof, { ephemeralKey: key, latestOf: "signer" })] },
    {},
    "verified",
  ],
  "another key than the one that was asked for": [
    { bootProofs: [forged.bootProof, new NamedEvidence(null, forged.bootProof, { ephemeralKey: otherKey })] },
    {},
    "rejected",
  ],
  "what is not evidence": [
    { bootProofs: [null, 5, "", [], { bootProof: "<script>" }, "\u2028</script><!--"] },
    {},
    "rejected",
  ],
  "every option": [
    { ...boot, activity: forged.activity },
    {
      at: new Date("2026-03-04T05:07:00.000Z"),
      measurements: { 0: new Uint8Array(48).fill(1), 8: new Uint8Array(48) },
      ephemeralKey: key,
      nonce: new Uint8Array([1, 2, 3]),
      expected: { organizationId, addresses: ["0x00"], parameters: { a: [1.5, null, "ü"] }, requestedAt: at },
      allowDebug: true,
      acceptance: "strict",
    },
    "rejected",
  ],
  "boot proofs only": [boot, { bootProofsOnly: true, at: "now" }, "verified"],
  "expected payloads": [
    whole,
    {
      expected: {
        payload: [
          { type: "A", values: { "/a": "x", "/b/0": 1.5, "/c": null, "/d": true, "/~1~0": "" } },
          { type: "A", values: { "/e": "q7Yt3mVnB2xKc9PzLwRs4A" }, challenge: "/e" },
        ],
      },
    },
    "rejected",
  ],
  "no policy, with trust anchors": [boot, { policy: NO_POLICY_ANY_ENCLAVE, trustAnchors }, "authentic"],
  "a policy that names a file": [
    boot,
    {
      policy: parsePolicy(JSON.stringify({ ...policyFile, trustAnchors: [{ file: "../lab.pem" }] }), {
        readFile: () => `${forged.anchorPem}\nand a note that is nobody's business`,
      }),
    },
    "verified",
  ],
  "a policy that was given as a value": [boot, { policy: parsePolicy(policyFile) }, "verified"],
};

describe("the bundle of a page", () => {
  it.each(Object.keys(VERIFICATIONS))("comes to the same report, of %s", async (name) => {
    const [evidence, options, verdict] = VERIFICATIONS[name]!;
    const content = await contentOf(evidence, options);
    const page = await pageWith(SCRIPT, content);
    const { packed } = await verifyBundle(bundleOf(page), { policy, now });
    expect([content.report.verdict, packed]).toEqual([verdict, { now: now.toISOString(), verdict, differences: [] }]);
    const { options: written } = bundleIn(page);
    expect(bundleOf(page).judgement!.options).toEqual(written);
    expect(page).not.toContain("nobody's business");
  });

  it.each(["the caller", "the bundle's maker"])("of a bundle by the policy of %s, too", async (whose) => {
    const { bundle } = await packBundle(boot, { policy: policyFile as never, now });
    const decoded = decodeBundle(bytesOf(bundle));
    const isCallers = whose === "the caller";
    const given = isCallers ? { now } : { now, trustAnchors };
    const made = await verifyBundle(decoded, { policy: isCallers ? policy : POLICY_OF_THE_BUNDLE, ...given });
    const options = plainOptions({ policy: isCallers ? policy : decoded.judgement!.policy!, ...given });
    const page = await pageWith(SCRIPT, { evidence: decoded.evidence, options, report: made.report, bundle: made });
    expect(page.includes("The policy came with the bundle")).toBe(!isCallers);
    expect(page.includes("under the policy that came with the evidence")).toBe(!isCallers);
    const again = await verifyBundle(bundleOf(page), { policy: POLICY_OF_THE_BUNDLE, now, trustAnchors });
    const verdict = isCallers ? "verified" : "authentic";
    expect([again.report.verdict, again.packed]).toEqual([
      "authentic",
      { now: now.toISOString(), verdict, differences: [] },
    ]);
  });

  it("is none of a bare document, which the page carries in base64", async () => {
    const options: VerifyOptions = { policy: NO_POLICY_ANY_ENCLAVE, now };
    for (const evidence of [forged.document, new NamedEvidence("d", forged.document)]) {
      const { report } = await verifyAttestation(evidence, options);
      const page = await pageWith(SCRIPT, { evidence, options: plainOptions(options), report });
      expect(Buffer.from(evidenceInPage(page)).toString()).toBe(Buffer.from(forged.document).toString("base64"));
      expect(page).toContain("and the attestation document. It loads nothing");
    }
  });
});

describe("a reader's verification of a page", () => {
  const lax = parsePolicy(JSON.stringify({ ...policyFile, appProofs: { required: true }, allowDebug: true }));
  const alterManifest: ManifestAlterations = {
    manifest: (manifest) => ({ ...manifest, pivot: { ...manifest.pivot, debugMode: true } }),
  };
  const debugged = { bootProofs: [forgeEvidence({ lab, at, alterManifest }).bootProof] };
  const expected = { organizationId };
  const asked = { ...boot, activity: forged.activity };

  /** What loosened, for the page's maker alone; and the check that refuses it to its reader. */
  it.each<[string, Evidence, Partial<VerifyOptions>, Partial<VerifyOptions>, string]>([
    ["app proofs were not wanted", boot, { policy: lax, bootProofsOnly: true }, { policy: lax }, "policy.app-proof"],
    ["debug mode by an option", debugged, { allowDebug: true }, {}, "mode.debug"],
    ["debug mode by the policy", debugged, { policy: lax, bootProofsOnly: true }, {}, "mode.debug"],
    ["another present", boot, { policy: strict, now: at }, { policy: strict }, "policy.age"],
    [
      "trust anchors",
      boot,
      { policy: NO_POLICY_ANY_ENCLAVE, trustAnchors },
      { policy: NO_POLICY_ANY_ENCLAVE },
      "chain.anchor",
    ],
    ["another request", asked, { expected }, { expected: { organizationId: "another" } }, "activity.request"],
  ])("takes nothing of its maker that loosens: %s", async (_, evidence, makers, readers, failed) => {
    const content = await contentOf(evidence, makers);
    expect(content.report.verdict).not.toBe("rejected");
    const bundle = bundleOf(await pageWith(SCRIPT, content));
    const { report } = await verifyBundle(bundle, { policy, now, ...readers });
    const failures = report.checks.flatMap(({ id, status }) => (status === "fail" ? [id] : []));
    expect([report.verdict, failures]).toEqual(["rejected", [failed]]);
  });
});

const textIn = (page: string | Uint8Array): string => Buffer.from(evidenceInPage(page)).toString();
const START = '<script type="text/plain" id="bootproof-evidence">';
const EMPTY = `${START}{}</script>\n`;
const utf16 = Buffer.from(`\ufeff${html}`, "utf16le");
const latin1 = Buffer.from(html.replace("Evidence", "Évidence"), "latin1");

describe("the evidence in a page", () => {
  it.each<[string, string | Uint8Array, RegExp]>([
    ["no block", html.replace(START, '<script type="text/plain">'), /without evidence/],
    ["an error of a server", "<!doctype html>\n<title>502</title>\n", /without evidence/],
    ["two blocks", html.replace("</main>", `</main>\n${EMPTY}`), /several blocks/],
    ["a block in a comment before it", html.replace("<body>", `<body><!--\n${EMPTY}-->`), /several blocks/],
    ["a block in a CDATA section", html.replace("<body>", `<body><![CDATA[\n${EMPTY}]]>`), /several blocks/],
    ["a block in the text of a script", html.replace("void 0;", `/*\n${START}{}*/`), /several blocks/],
    ["a block in capitals beside it", html.replace("<body>", `<body>\n${EMPTY.toUpperCase()}`), /several blocks/],
    [
      "a block with other attributes",
      html.replace("<body>", "<body><script id=bootproof-evidence>{}</script>"),
      /several blocks/,
    ],
    ["a block in capitals alone", html.replace(START, START.toUpperCase()), /other tags/],
    ["a block with one attribute more", html.replace(START, START.replace(">", " hidden>")), /other tags/],
    ["a block on the line of another tag", html.replace(`\n${START}`, START), /other tags/],
    ["another tag inside", withBlock(html, "{}<b>"), /other tags/],
    ["an end tag in capitals", withBlock(html, "{}</SCRIPT>"), /other tags/],
    ["an end tag with a space", withBlock(html, "{}</script >"), /other tags/],
    ["an end tag that is escaped", withBlock(html, "{}<\\/script>"), /other tags/],
    ["no end", html.slice(0, html.indexOf("</script>")), /other tags/],
    ["text after the end tag", html.replace("</script>\n", "</script>x\n"), /other tags/],
    ["no UTF-8", latin1, /not UTF-8/],
    ["UTF-16", utf16, /not UTF-8/],
    ["33 MiB", html + " ".repeat(33 * 1024 * 1024), /more than 32 MiB/],
    ["64 MiB of tags", "<script".repeat((64 * 1024 * 1024) / 7), /more than 32 MiB/],
    ["a block of 9 MiB", withBlock(html, "9".repeat(9 * 1024 * 1024)), /more than 8 MiB/],
  ])("is not taken from a page with %s", (_, page, sentence) => {
    expect(() => evidenceInPage(page)).toThrow(
      new RegExp(`^malformed page: expected exactly one block of evidence, as bootproof.*${sentence.source}`),
    );
  });

  it("is found by its tags alone, whatever a browser would make of what is around them", () => {
    const own = textIn(html);
    expect(textIn(toUtf8(html))).toBe(own);
    expect(textIn(`\ufeff${html}`)).toBe(own);
    expect(textIn(html.replace(START, `<!--\n${START}`).replace("void 0;", "-->"))).toBe(own);
    expect(textIn(html.replace(/<h1.*<\/h1>/, "<h1>REJECTED</h1>"))).toBe(own);
  });

  it("is found in time, in pages that are made to take long", async () => {
    const find = (): void => {
      for (const unit of ["<script", "<script bootproof-evidence", "<", "bootproof-evidence", START])
        expect(() => evidenceInPage(unit.repeat((2 * 1024 * 1024) / unit.length))).toThrow(/expected exactly/);
    };
    expect(await leastCostMs(2000, find)).toBeLessThan(2000);
  });
});

describe("malformed options in a bundle", () => {
  const bundle = bundleIn(html);
  const faultsOf = (options: unknown): string => {
    try {
      decodeBundle({ ...bundle, options });
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };

  it.each<[string, unknown, string]>([
    ["no object", [], "options: expected an object"],
    ["measurements that are no object", { measurements: 5 }, "options.measurements: expected an object, got a number"],
    ["measurements of nothing", { measurements: {} }, "options.measurements: empty"],
    ["a PCR that there is not", { measurements: { "32": "00".repeat(48) } }, "options.measurements.32: not a PCR"],
    ["a PCR that is too short", { measurements: { "0": "00" } }, "options.measurements.0: 2 hex digits, expected 96"],
    ["an empty nonce", { nonce: "" }, "options.nonce: 0 hex digits, expected 2 to 8192"],
    ["a key that is not hex", { requestedKeys: ["xy"] }, "options.requestedKeys[0]: not hex"],
    ["a time in another spelling", { at: "2026-03-04T05:16:07Z" }, "options.at: expected a time such as"],
    ["a policy from elsewhere", { policyFrom: "caller" }, 'options.policyFrom: expected "bundle"'],
    ["a cache", { cache: {} }, "options.cache: unknown member"],
    ["a policy", { policy: null }, "options.policy: unknown member"],
    ["a present", { now: "2026-03-04T05:16:07.000Z" }, "options.now: unknown member"],
    ...(
      [
        [[], "payload: empty: expected at least one"],
        [{}, "payload: expected an array, got an object"],
        [[{ type: "A", values: {} }], "payload[0].values: empty: expected at least one"],
        [[{ type: "A", values: { "/a": [] } }], "payload[0].values./a: expected a string, finite number"],
        [[{ type: "A", values: { a: 1 } }], "payload[0].values.a: expected a JSON pointer"],
        [[{ values: { "/a": 1 } }], "payload[0].type: expected a string, got "],
        [[{ type: "A", values: { "/a": 1 }, value: 1 }], "payload[0].value: unknown; known are"],
        [[{ type: "A", values: { "/a": "short" }, challenge: "/a" }], "payload[0].challenge: its value is not random"],
      ] as const
    ).map(
      ([payload, fault]) =>
        [`the payload ${JSON.stringify(payload)}`, { expected: { payload } }, `options.expected.${fault}`] as const,
    ),
  ] as [string, unknown, string][])("are told: %s", (_, options, fault) => {
    expect(faultsOf(options)).toContain(fault);
  });

  it.each<[string, object, RegExp]>([
    ["both a policy and trust anchors", { trustAnchors: [{ name: "a", pem: forged.anchorPem }] }, /options: /],
    ["a trust anchor that is none", { trustAnchors: [{ name: "a", pem: "" }] }, /trust anchor|certificate|PEM/i],
    ["a policy of an earlier bundle that loosens", { policyFrom: "bundle" }, /policy\.trustAnchors: /],
    ["a request without an answer", { expected: { organizationId: "o" } }, /options: expected: /],
  ])("are told where they make no sense: %s", async (_, options, sentence) => {
    const verified = verifyBundle(decodeBundle({ ...bundle, options }), { policy, now });
    await expect(verified).rejects.toThrow(sentence);
    await expect(verified).rejects.toMatchObject({ name: "MalformedError" });
  });

  it("are told without a report to make again", () => {
    const evidence = packEvidence(boot);
    expect(() => decodeBundle({ ...evidence, options: {} })).toThrow(
      /options: allowed only with the members now, policy and report/,
    );
  });
});

function textsOf(rows: readonly Row[]): string[] {
  return rows.flatMap(({ text, below = [] }) => [...(text === undefined ? [] : [text]), ...textsOf(below)]);
}

describe("what would cost too much", () => {
  it("is shown in part: the values of a piece, and of all pieces together", async () => {
    const { report } = await contentOf(boot);
    const pieces = [0, 1].map((index) => {
      const piece = new NamedEvidence(null, { x: Array(100_000).fill(0) });
      return { subject: `boot[${index}]` as const, piece };
    });
    const texts = textsOf(await evidenceRows(pieces, false, report));
    const count = texts.filter((text) => text === "0").length;
    expect(count).toBeGreaterThan(149_000);
    expect(count).toBeLessThan(150_000);
    expect(texts.some((text) => /^and \d+ more$/.test(text))).toBe(true);
  });

  it("is not a page larger than is read", async () => {
    const sentence = /^malformed page: evidence: its bundle would be larger than 8 MiB, the limit for reading$/;
    await expect(pageOf({ bootProofs: ["<".repeat(1_400_000)] })).rejects.toThrow(sentence);
  });
});
