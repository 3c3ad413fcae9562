/** `bootproof page` and `verify --format html`, in this process and built. Needs `npm run build`. */
import { copyFileSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  CASES,
  DEBUG,
  MADE,
  NONCE,
  NONCED,
  type Ran,
  built,
  pageFile,
  pageOf,
  withOtherEvidence,
} from "../page/cases.js";
import { bundleIn, withBlock } from "../page/data-of.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import type { Report } from "../../src/report/report.js";
import { TestFeed, newSigner } from "../support/signed-policies.js";
import { type Answer, BOOT_1, bootproof, fileOf, readJson, refused, words } from "./support.js";

/** In one line. */
const flat = (text: string): string => text.replace(/\s+/g, " ");
const check = async (html: string | Uint8Array, ...args: readonly string[]): Promise<Ran> => {
  const { code, ...written } = await bootproof(["verify", pageFile(html, "report.html"), ...args]);
  return { status: code, ...written };
};
const AT = ["--now", MADE.at];
const POLICY = ["--policy", MADE.policy, ...AT];
const OWN = ["--bundle-policy", ...AT];
const ANCHOR = ["--trust-anchor", MADE.anchor];

/** Of the words by which a page was made those that its reader says again. */
function callersWords(name: string): string[] {
  const [, , ...args] = CASES[name]!;
  const flags = ["--no-policy", "--bundle-policy"];
  const valued = ["--policy", "--trust-anchor", "--now", "--organization-id"];
  return args.filter((word, index) => [...flags, ...valued].includes(word) || valued.includes(args[index - 1]!));
}
const verify = (name: string, ...args: string[]): Promise<Ran> => check(pageOf(name), ...callersWords(name), ...args);

async function htmlOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await bootproof(["verify", ...args, "--format", "html"]);
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^VERIFIED with /)]);
  return stdout;
}

const failuresOf = (json: string): string[] =>
  (JSON.parse(json) as Report).checks.flatMap(({ id, status }) => (status === "fail" ? [id] : []));

describe("verify --format html", () => {
  it("writes the same page, built or not", async () => {
    const [, , ...args] = CASES["verified"]!;
    const { code, stdout, stderr } = await bootproof(["verify", ...args, "--format", "html"]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^VERIFIED with /)]);
    expect(stdout === pageOf("verified")).toBe(true);
  });

  it("ends with 1 for a warning that --fail-on-warning refuses", async () => {
    const [, , ...args] = CASES["verified"]!;
    const { code, stdout, stderr } = await bootproof(["verify", ...args, "--format", "html", "--fail-on-warning"]);
    expect([code, stdout === pageOf("verified")]).toEqual([1, false]);
    // The page says so itself, and its bundle has the acceptance: whoever makes the report again gets the same.
    expect(stdout).toContain("<title>REFUSED with 1 warning: ");
    expect(bundleIn(stdout)["options"]).toMatchObject({ acceptance: "strict" });
    expect((await check(stdout, ...callersWords("verified"), "--fail-on-warning")).status).toBe(1);
    expect(stderr).toMatch(/^REFUSED with 1 warning: /);
  });

  it("is refused with --fail-on-warning, and so is the page's own policy", async () => {
    expect((await verify("verified")).status).toBe(0);
    expect((await verify("verified", "--fail-on-warning")).status).toBe(1);
    const own = await check(pageOf("verified"), ...OWN, ...ANCHOR, "--fail-on-warning", "--format", "json");
    const { refusedFor } = JSON.parse(own.stdout) as { refusedFor: string[] };
    expect([own.status, refusedFor.join()]).toEqual([1, expect.stringContaining("the policy came with the bundle")]);
  });

  it("begins with the title, and names the file that it is written to", async () => {
    const [, , ...args] = CASES["verified"]!;
    const out = join(dirname(MADE.boot), "july (1).html");
    const { code } = await bootproof(["verify", ...args, "--format", "html", "--title", "Payments", "--out", out]);
    expect(code).toBe(0);
    const html = readFileSync(out, "utf8");
    expect(html).toContain("<title>VERIFIED with 1 warning: Payments – bootproof</title>");
    expect(html).toContain("bootproof verify &quot;july (1).html&quot; ");
    expect((await check(html, ...callersWords("verified"))).status).toBe(0);
  });

  it("has a title alone: no other format does", () =>
    refused(
      2,
      bootproof(["verify", "--boot-proof", BOOT_1, "--no-policy", "--title", "x"]),
      "--title requires --format html",
    ));

  it("is for reports alone", () =>
    refused(2, bootproof(["inspect", BOOT_1, "--format", "html"]), "--format html: expected one of text, json"));
});

describe("verify of a page", () => {
  it.each(Object.keys(CASES))("says what its evidence is, and that this was judged: %s", async (name) => {
    const [verdict] = CASES[name]!;
    const { status, stdout, stderr } = await verify(name);
    expect([status, stderr]).toEqual(verdict === "rejected" ? [1, expect.stringMatching(/^REJECTED[:,] /)] : [0, ""]);
    expect(stdout).toMatch(/^The evidence in \S+report\.html was judged, not what the page shows\.\n\n/);
    expect(stdout).toMatch(new RegExp(`^${verdict.toUpperCase()}(?: with|:|,) `, "m"));
    expect(stdout).not.toContain("does not match its evidence");
  });

  it("is as JSON what it is of a bundle", async () => {
    const good = await verify("verified", "--format", "json");
    expect([good.status, good.stderr]).toEqual([0, expect.stringMatching(/^VERIFIED with /)]);
    const differences: string[] = [];
    expect(JSON.parse(good.stdout)).toMatchObject({
      format: "bootproof-report/1",
      verdict: "verified",
      bundle: { policyFrom: "caller", packed: { verdict: "verified", differences } },
    });
  });

  it("needs a word on the policy, and takes the page's own as far as it tightens", async () => {
    const silent = await check(pageOf("verified"));
    expect([silent.status, silent.stdout, flat(silent.stderr)]).toEqual([
      2,
      "",
      expect.stringContaining("--policy FILE, --no-policy or --bundle-policy is required"),
    ]);
    expect(await check(pageOf("authentic"), ...OWN)).toMatchObject({ status: 2, stdout: "" });
    expect(await check(pageOf("verified"), ...OWN)).toMatchObject({ status: 2, stdout: "" });
    const own = await check(pageOf("verified"), ...OWN, ...ANCHOR);
    expect([own.status, flat(own.stdout)]).toEqual([
      0,
      expect.stringMatching(/ AUTHENTIC with \d warnings?: .* WARNING the policy came with the bundle/),
    ]);
  });

  it("lets no debug mode pass because the page's maker did", async () => {
    const html = await htmlOf("--boot-proof", DEBUG, "--policy", MADE.policy, "--allow-debug", ...AT);
    const own = await check(html, ...POLICY, "--format", "json");
    expect([own.status, failuresOf(own.stdout)]).toEqual([1, ["mode.debug"]]);
    expect((await check(html, ...POLICY, "--allow-debug")).status).toBe(0);
    // A policy of the page that allows it loosens too.
    const lax = fileOf({ ...readJson(MADE.policy), allowDebug: true }, "policy.json");
    copyFileSync(MADE.anchor, join(dirname(lax), "trust-anchor.pem"));
    const laxPage = await htmlOf("--boot-proof", DEBUG, "--policy", lax, ...AT);
    expect(await check(laxPage, ...OWN, ...ANCHOR)).toMatchObject({
      status: 2,
      stdout: "",
      stderr: expect.stringContaining("policy.allowDebug: ") as string,
    });
    expect((await check(laxPage, ...OWN, ...ANCHOR, "--allow-debug")).status).toBe(0);
    expect((await check(laxPage, ...POLICY)).status).toBe(1);
  });

  it("compares the reader's nonce", async () => {
    const html = await htmlOf("--boot-proof", NONCED, ...POLICY, "--nonce", NONCE);
    expect((await check(html, ...POLICY, "--nonce", NONCE)).status).toBe(0);
    const other = await check(html, ...POLICY, "--nonce", "ff", "--format", "json");
    expect([other.status, failuresOf(other.stdout)]).toEqual([1, ["bind.nonce"]]);
  });

  it("says where the report inside differs from the evidence, and believes nothing that the page shows", async () => {
    const { status, stdout } = await check(withOtherEvidence(pageOf("authentic")), ...callersWords("authentic"));
    expect([status, flat(stdout)]).toEqual([1, expect.stringContaining("the report inside does not match")]);
    expect(flat(stdout)).toMatch(/verdict: "authentic" in the report, "rejected" by its evidence/);
    const text = await check(pageOf("rejected").replaceAll("REJECTED", "VERIFIED"), ...callersWords("rejected"));
    expect([text.status, text.stdout]).toEqual([1, expect.stringMatching(/^REJECTED: /m)]);
  });

  it.each<[string, string, RegExp]>([
    ["another page", "<!doctype html><p>502", /an HTML or XML page without evidence, probably a server's error/],
    ["the page that verifies", built("page").stdout, /got a page without evidence/],
    ["no JSON in the block", withBlock(pageOf("authentic"), "{"), /not strict JSON/],
    ["no bundle in the block", withBlock(pageOf("authentic"), "{}"), /not a bundle/],
    ["a page of 33 MiB", pageOf("authentic") + " ".repeat(33 * 1024 * 1024), /larger than 32 MiB, the limit/],
  ])("is refused with exit code 2: %s", async (_, html, sentence) => {
    const { status, stdout, stderr } = await check(html, "--no-policy");
    expect([status, stdout, flat(stderr)]).toEqual([2, "", expect.stringMatching(sentence)]);
  });

  it("takes the page from a pipe", async () => {
    const { code, stdout } = await bootproof(["verify", "-", "--no-policy"], { stdin: pageOf("authentic") });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^The evidence in stdin was judged/)]);
  });

  it("has no request, key or builds to compare with a bare document", async () => {
    const page = pageOf("a bare document");
    for (const demand of [
      ["--ephemeral-key", "00".repeat(130)],
      ["--organization-id", "o"],
    ])
      expect(await check(page, "--no-policy", ...demand)).toMatchObject({ status: 2, stdout: "" });
  });

  it("is shown and compared by inspect and diff", () => {
    const [one, other] = ["authentic", "rejected"].map((name) => pageFile(pageOf(name), `${name}.html`));
    const shown = built("inspect", one!);
    expect([shown.status, shown.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^The evidence in \S+authentic\.html is shown, not what the page shows\.[^]*bundle \(JSON\)/,
      ),
    ]);
    expect(JSON.parse(built("inspect", one!, "--format", "json").stdout)).toMatchObject({ kind: "bundle" });
    expect(built("diff", one!, one!)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^same/) as string });
    expect(built("diff", one!, other!).status).toBe(1);
  });
});

it("names the version of a signed policy and its signers, and verifies under the caller's policy alone", async () => {
  const AT = new Date("2026-03-04T05:06:07.000Z");
  const lab = new Forge();
  const forged = forgeEvidence({ lab, at: AT });
  const signers = [newSigner("p384"), newSigner("ed25519")];
  const feed = new TestFeed(signers, 2, "prod/signer");
  feed.add({ policy: labPolicy(forged.anchorPem, [labDeployment(lab)]), issuedAt: AT });
  const byFeed = words`--policy ${fileOf(feed.text(), "feed.jsonl")} --policy-signers ${fileOf(feed.pinned, "s.json")}`;
  const run = (...argv: string[]): Promise<Answer> => bootproof(["verify", ...argv], { now: AT.toISOString() });
  const { stdout } = await run("--boot-proof", fileOf(forged.bootProof), ...byFeed, "--format", "html");
  expect(stdout).toMatch(/version 1 of .{1,8}prod\/signer/);
  for (const { keyid } of signers) expect(stdout).toContain(keyid);
  const page = fileOf(stdout, "page.html");
  expect((await run(page, ...byFeed)).code).toBe(0);
  await refused(2, run(page, "--bundle-policy"), /the policy in .* is signed, and never judges/);
});

describe("page", () => {
  it("writes the page that verifies what it is given, the same each time", () => {
    const page = built("page");
    expect([page.status, page.stderr, page.stdout === built("page").stdout]).toEqual([0, "", true]);
  });
});
