/** `bootproof page` and `verify --format html`, in this process and built. Needs `npm run build`. */
import { copyFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { CASES, DEBUG, MADE, NONCE, NONCED, built, pageFile, pageOf, withOtherEvidence } from "../page/cases.js";
import { dataOf, withData } from "../page/data-of.js";
import { BOOT_1, bootproof, fileOf, readJson } from "./support.js";

/** In one line. */
const flat = (text: string): string => text.replace(/\s+/g, " ");
const check = (html: string | Uint8Array, ...args: readonly string[]): ReturnType<typeof built> =>
  built("page", "--verify", pageFile(html, "report.html"), ...args);
const AT = ["--now", MADE.at];
const POLICY = ["--policy", MADE.policy, ...AT];
const OWN = ["--bundle-policy", ...AT];
const ANCHOR = ["--trust-anchor", MADE.anchor];

/** Of the words by which a page was made those that `page --verify` takes: the caller says them again. */
function callersWords(name: string): string[] {
  const [, , ...args] = CASES[name]!;
  const flags = ["--no-policy", "--bundle-policy"];
  const valued = ["--policy", "--trust-anchor", "--now", "--organization-id"];
  return args.filter((word, index) => [...flags, ...valued].includes(word) || valued.includes(args[index - 1]!));
}
const verify = (name: string, ...args: string[]): ReturnType<typeof built> =>
  check(pageOf(name), ...callersWords(name), ...args);

function htmlOf(...args: string[]): string {
  const { status, stdout, stderr } = built("verify", ...args, "--format", "html");
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

interface CheckJson {
  readonly id: string;
  readonly status: string;
}
const checksOf = (json: string): CheckJson[] => (JSON.parse(json) as { report: { checks: CheckJson[] } }).report.checks;
const failuresOf = (json: string): string[] =>
  checksOf(json).flatMap(({ id, status }) => (status === "fail" ? [id] : []));

describe("verify --format html", () => {
  it("writes the same page, built or not", async () => {
    const [, , ...args] = CASES["verified"]!;
    const { code, stdout, stderr } = await bootproof(["verify", ...args, "--format", "html"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout === pageOf("verified")).toBe(true);
  });

  it("ends with 1 for a warning that --fail-on-warning refuses", async () => {
    const [, , ...args] = CASES["verified"]!;
    const { code, stdout, stderr } = await bootproof(["verify", ...args, "--format", "html", "--fail-on-warning"]);
    expect([code, stdout === pageOf("verified")]).toEqual([1, false]);
    // The page says so itself, and its data carry the acceptance: whoever verifies it again gets the same.
    expect(stdout).toContain("<title>REFUSED with 1 warning: ");
    expect(stdout).toContain('"acceptance":"strict"');
    const page = pageFile(stdout, "refused.html");
    const again = built("page", "--verify", page, ...callersWords("verified"), "--format", "json");
    const { sameBytes, sameReport, report } = JSON.parse(again.stdout) as Record<string, unknown>;
    expect([again.status, sameBytes, sameReport]).toEqual([1, true, true]);
    expect(report).toMatchObject({ verdict: "verified", refusedFor: [expect.stringContaining("not to AWS")] });
    expect(stderr).toMatch(/^bootproof: --fail-on-warning: refused, since this weakens the verdict:\n/);
  });

  it("is refused with --fail-on-warning, and so is the page's own policy", () => {
    expect(verify("verified").status).toBe(0);
    expect(verify("verified", "--fail-on-warning").status).toBe(1);
    const own = check(pageOf("verified"), ...OWN, ...ANCHOR, "--fail-on-warning", "--format", "json");
    const { report } = JSON.parse(own.stdout) as { report: { refusedFor: string[] } };
    expect([own.status, report.refusedFor.join()]).toEqual([
      1,
      expect.stringContaining("the policy came with the page"),
    ]);
  });

  it("is for reports alone", async () => {
    const { code, stderr } = await bootproof(["inspect", BOOT_1, "--format", "html"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--format html: one of text, json expected")]);
  });
});

describe("page --verify", () => {
  it.each(Object.keys(CASES))("finds the page intact, and says what its evidence is: %s", (name) => {
    const [verdict] = CASES[name]!;
    const { status, stdout, stderr } = verify(name);
    expect([status, stderr]).toEqual([verdict === "rejected" ? 1 : 0, ""]);
    expect(flat(stdout)).toMatch(
      /^INTACT: \S+report\.html is, byte for byte, the page that bootproof 0\.1\.0 makes of the /,
    );
    expect(stdout).toMatch(new RegExp(`^${verdict.toUpperCase()}(?: with|:|,) `, "m"));
    expect(stdout).toMatch(/^Not proven$/m);
  });

  it("says whose policy and whose time it was", () => {
    expect(flat(verify("verified").stdout)).toContain(
      `Its evidence, verified anew by this program, as of ${MADE.at}. The page's maker verified it as of ${MADE.at}: ` +
        "none of that is used. VERIFIED with 1 warning: ",
    );
    const own = check(pageOf("verified"), ...OWN, ...ANCHOR);
    expect([own.status, flat(own.stdout)]).toEqual([
      0,
      expect.stringMatching(
        / AUTHENTIC with \d warnings?: .* WARNING the policy came with the page: the page's maker chose /,
      ),
    ]);
    expect(flat(verify("a bundle by its own policy").stdout)).toContain("WARNING the policy came with the bundle");
    expect(flat(verify("an activity").stdout)).toContain(
      `The page's maker expected {"organizationId":"${MADE.organizationId}"}: that is not checked here.`,
    );
  });

  it("wants a word on the policy for a page with evidence, and takes none for a page without", () => {
    const silent = check(pageOf("verified"));
    expect([silent.status, silent.stdout, flat(silent.stderr)]).toEqual([
      2,
      "",
      expect.stringMatching(/the page has evidence: --policy FILE, --no-policy or --bundle-policy is required\./),
    ]);
    const none = check(pageOf("authentic"), ...OWN);
    expect([none.status, none.stdout, none.stderr]).toEqual([
      2,
      "",
      expect.stringContaining("there is no policy in the page"),
    ]);
    const verifier = built("page").stdout;
    for (const demand of [POLICY, OWN, ["--organization-id", "o"]]) {
      const refused = check(verifier, ...demand);
      expect([demand, refused.status, refused.stdout]).toEqual([demand, 2, ""]);
      expect(refused.stderr).toContain("the page has no evidence");
    }
  });

  it("holds the evidence against the caller's policy", () => {
    const own = check(pageOf("authentic"), ...POLICY);
    expect([own.status, flat(own.stdout)]).toEqual([1, expect.stringMatching(/^INTACT: .* REJECTED: /)]);
    const good = check(pageOf("a bundle by its own policy"), ...POLICY);
    expect([good.status, flat(good.stdout)]).toEqual([
      0,
      expect.stringMatching(/^INTACT: .* VERIFIED with 1 warning: /),
    ]);
    expect(good.stdout).not.toContain("came with the page: whoever");
    expect(good.stdout).not.toContain("came with the bundle");
  });

  it("says whose the nonce is that the report calls the reader's", () => {
    const html = htmlOf("--boot-proof", NONCED, ...POLICY, "--nonce", NONCE);
    const own = check(html, ...POLICY);
    expect([own.status, flat(own.stdout)]).toEqual([0, expect.stringMatching(/^INTACT: .* VERIFIED/)]);
    expect(flat(own.stdout)).toContain(
      `The nonce ${NONCE} was set by the page's maker, and is checked: "your nonce" means that one.`,
    );
    expect(check(pageOf("verified"), ...POLICY).stdout).not.toContain("your nonce");
  });

  it("does not let debug mode pass because the page's maker did", () => {
    const html = htmlOf("--boot-proof", DEBUG, "--policy", MADE.policy, "--allow-debug", ...AT);
    const own = check(html, ...POLICY, "--format", "json");
    expect(own.status).toBe(1);
    expect(JSON.parse(own.stdout)).toMatchObject({
      sameBytes: true,
      sameReport: true,
      policyFrom: "caller",
      made: { allowDebug: true },
      report: { verdict: "rejected" },
    });
    expect(failuresOf(own.stdout)).toEqual(["mode.debug"]);
    expect(flat(check(html, ...POLICY).stdout)).toContain(
      `The page's maker verified it as of ${MADE.at}, and allowed debug mode, and skipped the policy's rules about ` +
        "app proofs: none of that is used. REJECTED: ",
    );
    expect(check(html, ...POLICY, "--allow-debug").status).toBe(0);
    // A policy of the page that allows it loosens too.
    const lax = fileOf({ ...readJson(MADE.policy), allowDebug: true }, "policy.json");
    copyFileSync(MADE.anchor, join(dirname(lax), "trust-anchor.pem"));
    const laxPage = htmlOf("--boot-proof", DEBUG, "--policy", lax, ...AT);
    const byItsOwn = check(laxPage, ...OWN, ...ANCHOR);
    expect([byItsOwn.status, byItsOwn.stdout, byItsOwn.stderr]).toEqual([
      2,
      "",
      expect.stringContaining("policy.allowDebug: "),
    ]);
    expect(check(laxPage, ...OWN, ...ANCHOR, "--allow-debug").status).toBe(0);
    expect(check(laxPage, ...POLICY).status).toBe(1);
  });

  it("counts ages by the caller's clock, whatever present the page was made by", () => {
    const fresh = fileOf({ ...readJson(MADE.policy), maxAge: "30m" }, "policy.json");
    copyFileSync(MADE.anchor, join(dirname(fresh), "trust-anchor.pem"));
    const html = htmlOf("--boot-proof", MADE.boot, "--policy", fresh, ...AT);
    const now = check(html, "--policy", fresh, "--format", "json");
    expect(now.status).toBe(1);
    expect(JSON.parse(now.stdout)).toMatchObject({ sameBytes: true, report: { verdict: "rejected", stale: true } });
    expect(failuresOf(now.stdout)).toEqual(["policy.age"]);
    expect(check(html, "--policy", fresh, ...AT).status).toBe(0);
  });

  it("asks what the caller asks, and not what the page's maker did", () => {
    const html = pageOf("an activity");
    const requestOf = (...args: string[]): string | undefined =>
      checksOf(check(html, ...POLICY, ...args, "--format", "json").stdout).find(({ id }) => id === "activity.request")
        ?.status;
    expect(requestOf()).toBe("skip");
    expect(requestOf("--organization-id", MADE.organizationId)).toBe("pass");
    expect(requestOf("--organization-id", "another")).toBe("fail");
  });

  it("says where a page differs, and what is true", () => {
    const text = check(pageOf("rejected").replaceAll("REJECTED", "VERIFIED"), ...callersWords("rejected"));
    expect(text.status).toBe(1);
    expect(flat(text.stdout)).toMatch(/^NOT INTACT: .* trust nothing that it shows, nor the result of its button\. /);
    expect(flat(text.stdout)).toMatch(/The first difference is at byte \d+, in its head, .* REJECTED: /);
    const good = check(pageOf("verified").replaceAll("AWS", "aws"), ...callersWords("verified"));
    expect([good.status, good.stdout]).toEqual([
      1,
      expect.stringMatching(/^NOT INTACT: [^]*^REFUSED with \d warnings?: [^]*^WARNING the page/m),
    ]);
    expect(good.stdout).not.toMatch(/^VERIFIED/m);
    const evidence = check(withOtherEvidence(pageOf("authentic")), ...callersWords("authentic"));
    expect([evidence.status, flat(evidence.stdout)]).toEqual([
      1,
      expect.stringContaining('verdict: "authentic" in its report, "rejected" by its evidence'),
    ]);
    const html = pageOf("verified");
    const script = check(html.replace(/(<script id="bootproof-script">)[^]*?(<\/script>)/, "$11;\n$2"), ...POLICY);
    expect([script.status, flat(script.stdout)]).toEqual([
      1,
      expect.stringMatching(/Its script is another one: SHA-256 /),
    ]);
    const data = dataOf(html);
    const broken = check(withData(html, { ...data, files: ["?"] }), ...POLICY);
    expect([broken.status, flat(broken.stdout)]).toEqual([
      1,
      expect.stringMatching(/^NOT INTACT: .* Its data cannot be verified: files\[0\]: page: not base64/),
    ]);
  });

  it("says of another version's page what can be said, and copies no command of the page's", () => {
    const html = pageOf("verified");
    const other = flat(check(html.replace('"bootproof 0.1.0">', '"bootproof 9.8.7">'), ...POLICY).stdout);
    expect(other).toMatch(
      /^NOT CHECKED: .* bootproof 9\.8\.7 made it, and this is bootproof 0\.1\.0, .* \(npx bootproof@9\.8\.7 page/,
    );
    expect(other).toContain('the verdict "verified" is not accepted with warnings. WARNING the cert');
    const hostile = flat(
      check(html.replace('"bootproof 0.1.0">', '"bootproof 1; rm -rf \u001b[2J">'), ...POLICY).stdout,
    );
    expect(hostile).toContain("bootproof 1; rm -rf \\u{1b}[2J made it");
    expect(hostile).not.toContain("npx");
  });

  it("answers the facts as JSON, on stdout alone", () => {
    const good = verify("verified", "--format", "json");
    expect([good.status, good.stderr]).toEqual([0, ""]);
    expect(JSON.parse(good.stdout)).toMatchObject({
      format: "bootproof-page-check/1",
      kind: "report",
      version: "0.1.0",
      sameBytes: true,
      sameReport: true,
      policyFrom: "caller",
      report: { verdict: "verified", policyDigest: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
      bundle: null,
    });
    const report = { verdict: "authentic", policy: null, policyDigest: null };
    const bundle = verify("a bundle by its own policy", "--format", "json");
    expect(JSON.parse(bundle.stdout)).toMatchObject({ policyFrom: "bundle", bundle: { policyFrom: "bundle" }, report });
    const page = check(pageOf("verified"), ...OWN, ...ANCHOR, "--format", "json");
    expect(JSON.parse(page.stdout)).toMatchObject({ policyFrom: "bundle", bundle: null, report });
  });

  it("is not a page: exit code 2", () => {
    const { status, stdout, stderr } = check("<!doctype html><p>502", "--no-policy");
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/report\.html: not a page of bootproof \(bootproof verify --format html makes them\)/);
    expect(built("page", "--verify", "/nowhere.html").status).toBe(2);
    expect(built("page", "--verify", BOOT_1, "--policy", BOOT_1).stderr).toContain("this is a boot proof");
    const wrong = built("page", "--policy", MADE.policy, "--format", "json");
    expect([wrong.status, wrong.stderr]).toEqual([
      2,
      expect.stringMatching(/--policy: requires --verify FILE[^]*--format/),
    ]);
  });

  it("takes the page from a pipe", async () => {
    const { code, stdout } = await bootproof(["page", "--verify", "-", "--no-policy"], {
      stdin: pageOf("authentic"),
    });
    expect([code, flat(stdout)]).toEqual([0, expect.stringMatching(/^INTACT: stdin is, byte for byte/)]);
  });
});

describe("page", () => {
  it("writes the page that verifies what it is given, the same each time, and finds it intact", () => {
    const page = built("page");
    expect([page.status, page.stderr, page.stdout === built("page").stdout]).toEqual([0, "", true]);
    const { status, stdout } = check(page.stdout);
    expect([status, flat(stdout)]).toEqual([
      0,
      expect.stringMatching(/^INTACT: .* the page for verifying that bootproof /),
    ]);
    expect(check(page.stdout.replace("any genuine enclave", "every enclave")).status).toBe(1);
  });

  it("gives its script's digest by hand, too", async () => {
    const { spawnSync } = await import("node:child_process");
    const page = built("page").stdout;
    const command = /<code>(sed[^]*?)<\/code>/
      .exec(page)![1]!
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"');
    const file = fileOf(page, "by-hand.html");
    const { stdout } = spawnSync("/bin/bash", ["-c", command.replace("FILE", `'${file}'`)], { encoding: "utf8" });
    expect(stdout.trim().split(" ").at(-1)).toBe(/<code class="digest">([0-9a-f]{64})</.exec(page)![1]);
  });
});
