/** `bootproof page` and `verify --format html`, in this process and built. Needs `npm run build`. */
import { copyFileSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { CASES, DEBUG, MADE, NONCE, NONCED, built, pageOf, withOtherEvidence } from "../page/cases.js";
import { bundleIn, withBlock } from "../page/data-of.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { TestFeed, newSigner } from "../support/signed-policies.js";
import { type Names, type Row, failed, fileOf, readJson, scene } from "./support.js";

/** Of the words by which a page was made those that its reader says again. */
function callersWords(name: string): string[] {
  const [, , ...args] = CASES[name]!;
  const flags = ["--no-policy", "--bundle-policy"];
  const valued = ["--policy", "--trust-anchor", "--now", "--organization-id"];
  return args.filter((word, index) => [...flags, ...valued].includes(word) || valued.includes(args[index - 1]!));
}
const [, , ...words] = CASES["verified"]!;
const page = (html: string | Uint8Array): string => fileOf(html, "report.html");
const lax = fileOf({ ...readJson(MADE.policy), allowDebug: true }, "policy.json");
copyFileSync(MADE.anchor, join(dirname(lax), "trust-anchor.pem"));
const N = {
  ...{ words, at: ["--now", MADE.at], policy: MADE.policy, lax, anchor: MADE.anchor, nonce: NONCE, debug: DEBUG },
  ...{
    own: ["--bundle-policy", "--trust-anchor", MADE.anchor, "--now", MADE.at],
    nonced: NONCED,
    callers: callersWords("verified"),
  },
  ...{
    verified: page(pageOf("verified")),
    authentic: page(pageOf("authentic")),
    bare: page(pageOf("a bare document")),
  },
  ...{ error: page("<!doctype html><p>502"), verifier: page(built("page").stdout), key: "00".repeat(130) },
  ...{ broken: page(withBlock(pageOf("authentic"), "{")), none: page(withBlock(pageOf("authentic"), "{}")) },
  large: page(pageOf("authentic") + " ".repeat(33 * 1024 * 1024)),
  out: join(dirname(MADE.boot), "july (1).html"),
};
const { having, run, table } = scene(N);
/** The page that these words make. */
const pageBy = async (line: string, more: Names = {}): Promise<string> =>
  page((await having(more)(`verify ${line} --format html`, 0, "VERIFIED with ")).stdout);

describe("verify --format html", () => {
  it("writes the same page, built or not", async () => {
    expect((await run("verify $words --format html", 0, "VERIFIED with ")).stdout === pageOf("verified")).toBe(true);
  });

  it("ends with 1 for a warning that --fail-on-warning refuses", async () => {
    const { stdout, stderr } = await run("verify $words --format html --fail-on-warning", 1);
    // The page says so itself, and its bundle has the acceptance: whoever makes the report again gets the same.
    expect(stdout).toContain("<title>REFUSED with 1 warning: ");
    expect(bundleIn(stdout)["options"]).toMatchObject({ acceptance: "strict" });
    await having({ it: page(stdout) })("verify $it $callers --fail-on-warning", 1);
    expect(stderr).toMatch(/^REFUSED with 1 warning: /);
  });

  it("begins with the title, and names the file that it is written to", async () => {
    await run("verify $words --format html --title Payments --out $out", 0);
    const html = readFileSync(N.out, "utf8");
    expect(html).toContain("<title>VERIFIED with 1 warning: Payments – bootproof</title>");
    expect(html).toContain("bootproof verify &quot;july (1).html&quot; ");
    await having({ it: page(html) })("verify $it $callers", 0);
  });
});

describe("verify of a page", () => {
  it.each(Object.keys(CASES))("says what its evidence is, and that this was judged: %s", async (name) => {
    const [verdict] = CASES[name]!;
    const names = { it: page(pageOf(name)), again: callersWords(name) };
    const says = "was judged, not what the page shows.";
    const { stdout } = await having(names)("verify $it $again", verdict === "rejected" ? 1 : 0, says);
    expect(stdout).toMatch(/^The evidence in \S+report\.html /);
    expect(stdout).toMatch(new RegExp(`^${verdict.toUpperCase()}(?: with|:|,) `, "m"));
    expect(stdout).not.toContain("does not match its evidence");
  });

  it("is as JSON what it is of a bundle", async () => {
    const { stdout } = await run("verify $verified $callers --format json", 0, "VERIFIED with ");
    const bundle = { policyFrom: "caller", packed: { verdict: "verified", differences: [] as string[] } };
    expect(JSON.parse(stdout)).toMatchObject({ format: "bootproof-report/1", verdict: "verified", bundle });
  });

  const OWN = /AUTHENTIC with \d warnings?: .* WARNING the policy came with the bundle/;
  const BY_MAKER = "the policy came with the bundle";
  table([
    ["verify $verified", 2, "--policy FILE, --no-policy or, for a bundle, --bundle-policy is required"],
    ["verify $authentic --bundle-policy $at", 2],
    // The page's own policy counts as far as it tightens.
    ["verify $verified --bundle-policy $at", 2],
    ["verify $verified $own", 0, OWN],
    ["verify $verified $own --fail-on-warning --format json", 1, BY_MAKER],
    ["verify $error --no-policy", 2, "an HTML or XML page without evidence, probably a server's error"],
    ["verify $verifier --no-policy", 2, "got a page without evidence"],
    ["verify $broken --no-policy", 2, "not strict JSON"],
    ["verify $none --no-policy", 2, "not a bundle"],
    ["verify $large --no-policy", 2, "larger than 32 MiB, the limit"],
    ["verify - --no-policy < $authentic", 0, /^The evidence in stdin was judged/],
    // A bare document has nothing to compare with.
    ["verify $bare --no-policy --ephemeral-key $key", 2],
    ["verify $bare --no-policy --organization-id o", 2],
    ["verify --boot-proof $debug --no-policy --title x", 2, "--title requires --format html"],
  ] satisfies Row[]);

  it("lets no debug mode pass because the page's maker did", async () => {
    const by = "--boot-proof $debug $at --policy";
    const names = { it: await pageBy(`${by} $policy --allow-debug`), lenient: await pageBy(`${by} $lax`) };
    const verify = having(names);
    expect(failed(await verify("verify $it --policy $policy $at --format json", 1))).toEqual(["mode.debug"]);
    await verify("verify $it --policy $policy $at --allow-debug", 0);
    // A policy of the page that allows it loosens too.
    await verify("verify $lenient $own", 2, "policy.allowDebug: ");
    await verify("verify $lenient $own --allow-debug", 0);
    await verify("verify $lenient --policy $policy $at", 1);
  });

  it("compares the reader's nonce", async () => {
    const verify = having({ it: await pageBy("--boot-proof $nonced --policy $policy $at --nonce $nonce") });
    await verify("verify $it --policy $policy $at --nonce $nonce", 0);
    const other = await verify("verify $it --policy $policy $at --nonce ff --format json", 1);
    expect(failed(other)).toEqual(["bind.nonce"]);
  });

  it("says where the report inside differs from the evidence, and believes nothing that the page shows", async () => {
    const changed = { it: page(withOtherEvidence(pageOf("authentic"))), again: callersWords("authentic") };
    const differs = 'verdict: "authentic" in the report, "rejected" by its evidence';
    await having(changed)("verify $it $again", 1, "the report inside does not match", differs);
    const text = pageOf("rejected").replaceAll("REJECTED", "VERIFIED");
    await having({ it: page(text), again: callersWords("rejected") })("verify $it $again", 1, "REJECTED: ");
  });

  it("is shown and compared by inspect and diff", async () => {
    const files = having({ one: fileOf(pageOf("authentic"), "a.html"), other: page(pageOf("rejected")) });
    await files("inspect $one", 0, /^The evidence in \S+a\.html is shown, not what the page shows\..*bundle \(JSON\)/);
    await files("inspect $one --format json", 0, '"kind": "bundle"');
    await files("diff $one $one", 0, /^same/);
    await files("diff $one $other", 1);
  });
});

it("names the version of a signed policy and its signers, and verifies under the caller's policy alone", async () => {
  const at = new Date("2026-03-04T05:06:07.000Z");
  const lab = new Forge();
  const forged = forgeEvidence({ lab, at });
  const signers = [newSigner("p384"), newSigner("ed25519")];
  const feed = new TestFeed(signers, 2, "prod/signer");
  feed.add({ policy: labPolicy(forged.anchorPem, [labDeployment(lab)]), issuedAt: at });
  const by = ["--policy", fileOf(feed.text(), "feed.jsonl"), "--policy-signers", fileOf(feed.pinned, "s.json")];
  const then = scene({ by, boot: fileOf(forged.bootProof) }, { now: at.toISOString() });
  const { stdout } = await then.run("verify --boot-proof $boot $by --format html", 0);
  expect(stdout).toMatch(/version 1 of .{1,8}prod\/signer/);
  for (const { keyid } of signers) expect(stdout).toContain(keyid);
  const verify = then.having({ it: page(stdout) });
  await verify("verify $it $by", 0);
  await verify("verify $it --bundle-policy", 2, /the policy in .* is signed, and never judges/);
});

it("page writes the page that verifies what it is given, the same each time", () => {
  const made = built("page");
  expect([made.status, made.stderr, made.stdout === built("page").stdout]).toEqual([0, "", true]);
});
