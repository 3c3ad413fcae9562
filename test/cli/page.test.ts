/** `bootproof page` and `verify --format html`, in this process and built. Needs `npm run build`. */
import { describe, expect, it } from "vitest";
import { CASES, MADE, built, pageFile, pageOf, withOtherEvidence } from "../page/cases.js";
import { dataOf, withData } from "../page/data-of.js";
import { BOOT_1, bootproof, fileOf } from "./support.js";

/** In one line. */
const flat = (text: string): string => text.replace(/\s+/g, " ");
const check = (html: string | Uint8Array, ...args: string[]): ReturnType<typeof built> =>
  built("page", "--verify", pageFile(html, "report.html"), ...args);
const AT = ["--now", MADE.at];
const NONE = ["--no-policy", ...AT];
/** Without a policy, where none is named. */
const verify = (html: string | Uint8Array, ...args: string[]): ReturnType<typeof built> =>
  check(html, ...(args.some((arg) => /policy$/.test(arg)) ? [] : NONE), ...args);

describe("verify --format html", () => {
  it("writes the same page, built or not", async () => {
    const [, , ...args] = CASES["verified"]!;
    const { code, stdout, stderr } = await bootproof(["verify", ...args, "--format", "html"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout === pageOf("verified")).toBe(true);
  });

  it("is for reports alone", async () => {
    const { code, stderr } = await bootproof(["inspect", BOOT_1, "--format", "html"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--format html: one of text, json wanted")]);
  });
});

describe("page --verify", () => {
  it.each(Object.keys(CASES))("finds the page intact, and says what its evidence is: %s", (name) => {
    const [verdict] = CASES[name]!;
    const { status, stdout, stderr } = verify(pageOf(name));
    expect([status, stderr]).toEqual([verdict === "rejected" ? 1 : 0, ""]);
    expect(flat(stdout)).toMatch(
      /^INTACT: \S+report\.html is, byte for byte, the page that bootproof 0\.1\.0 makes of the /,
    );
    expect(stdout).toMatch(new RegExp(`^${verdict.toUpperCase()}[:,] `, "m"));
    expect(stdout).toMatch(/^Not proven$/m);
  });

  it("says whose policy and whose time it was", () => {
    expect(flat(verify(pageOf("verified")).stdout)).toContain(
      `as of ${MADE.at}: that time, and what was asked, came with the page. VERIFIED: `,
    );
    expect(flat(verify(pageOf("verified")).stdout)).toContain(
      "BUT the policy came with the page: whoever made the page",
    );
    expect(flat(verify(pageOf("authentic")).stdout)).toContain("BUT the page has no policy: any genuine enclave");
    expect(flat(verify(pageOf("a bundle by its own policy")).stdout)).toContain(
      "BUT the policy came out of the bundle",
    );
  });

  it("holds the evidence against the caller's policy", () => {
    const own = verify(pageOf("authentic"), "--policy", MADE.policy);
    expect([own.status, flat(own.stdout)]).toEqual([1, expect.stringMatching(/^INTACT: .* REJECTED: /)]);
    const good = verify(pageOf("a bundle by its own policy"), "--policy", MADE.policy);
    expect([good.status, flat(good.stdout)]).toEqual([0, expect.stringMatching(/^INTACT: .* VERIFIED: /)]);
    expect(good.stdout).not.toContain("came with the page: whoever");
    expect(good.stdout).not.toContain("came out of the bundle");
  });

  it("says where a page differs, and what is true", () => {
    const text = verify(pageOf("rejected").replaceAll("REJECTED", "VERIFIED"));
    expect(text.status).toBe(1);
    expect(flat(text.stdout)).toMatch(/^NOT INTACT: .* believe nothing that it shows, nor what its button answers\. /);
    expect(flat(text.stdout)).toMatch(/The first difference is at byte \d+, in its head, .* REJECTED: /);
    const evidence = verify(withOtherEvidence(pageOf("authentic")));
    expect([evidence.status, flat(evidence.stdout)]).toEqual([
      1,
      expect.stringContaining('verdict: "authentic" in its report, "rejected" in truth'),
    ]);
    const html = pageOf("verified");
    const script = verify(html.replace(/(<script id="bootproof-script">)[^]*?(<\/script>)/, "$11;\n$2"));
    expect([script.status, flat(script.stdout)]).toEqual([
      1,
      expect.stringMatching(/Its script is another one: SHA-256 /),
    ]);
    const data = dataOf(html);
    const broken = verify(withData(html, { ...data, files: ["?"] }));
    expect([broken.status, flat(broken.stdout)]).toEqual([
      1,
      expect.stringMatching(/^NOT INTACT: .* What it carries cannot be verified: files\[0\]: page: not base64/),
    ]);
  });

  it("says of another version's page what can be said, and copies no command of the page's", () => {
    const html = pageOf("verified");
    const other = flat(verify(html.replace('"bootproof 0.1.0">', '"bootproof 9.8.7">')).stdout);
    expect(other).toMatch(
      /^NOT CHECKED: .* bootproof 9\.8\.7 made it, and this is bootproof 0\.1\.0, .* \(npx bootproof@9\.8\.7 page/,
    );
    expect(other).toContain("VERIFIED: every check passed");
    const hostile = flat(verify(html.replace('"bootproof 0.1.0">', '"bootproof 1; rm -rf \u001b[2J">')).stdout);
    expect(hostile).toContain("bootproof 1; rm -rf \\u{1b}[2J made it");
    expect(hostile).not.toContain("npx");
  });

  it("answers the facts as JSON, on stdout alone", () => {
    const good = verify(pageOf("verified"), "--format", "json");
    expect([good.status, good.stderr]).toEqual([0, ""]);
    expect(JSON.parse(good.stdout)).toMatchObject({
      format: "bootproof-page-check/1",
      kind: "report",
      version: "0.1.0",
      sameBytes: true,
      sameReport: true,
      policyFrom: "page",
      report: { verdict: "verified" },
      bundle: null,
    });
    const bundle = verify(pageOf("a bundle by its own policy"), "--format", "json");
    expect(JSON.parse(bundle.stdout)).toMatchObject({ bundle: { policyFrom: "bundle" } });
  });

  it("is no page: exit code 2", () => {
    const { status, stdout, stderr } = verify("<!doctype html><p>502");
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/report\.html: not a page of bootproof \(bootproof verify --format html makes them\)/);
    expect(built("page", "--verify", "/nowhere.html").status).toBe(2);
    expect(built("page", "--verify", BOOT_1, "--policy", BOOT_1).stderr).toContain("this is a boot proof");
    const wrong = built("page", "--policy", MADE.policy, "--format", "json");
    expect([wrong.status, wrong.stderr]).toEqual([
      2,
      expect.stringMatching(/--policy: goes with --verify FILE only[^]*--format/),
    ]);
  });

  it("takes the page from a pipe", async () => {
    const { code, stdout } = await bootproof(["page", "--verify", "-"], { stdin: pageOf("authentic") });
    expect([code, flat(stdout)]).toEqual([0, expect.stringMatching(/^INTACT: stdin is, byte for byte/)]);
  });
});

describe("page", () => {
  it("writes the page that verifies what it is given, the same each time, and finds it intact", () => {
    const page = built("page");
    expect([page.status, page.stderr, page.stdout === built("page").stdout]).toEqual([0, "", true]);
    const { status, stdout } = verify(page.stdout);
    expect([status, flat(stdout)]).toEqual([
      0,
      expect.stringMatching(/^INTACT: .* the page for verifying that bootproof /),
    ]);
    expect(verify(page.stdout.replace("any genuine enclave", "every enclave")).status).toBe(1);
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
