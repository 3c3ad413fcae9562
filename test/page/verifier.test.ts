/** What was given to the page that verifies, as one verification: what each file is, and all that is in the way. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { toHex, toUtf8 } from "../../src/bytes.js";
import type { PolicyFile } from "../../src/appraise/policy.js";
import { packBundle } from "../../src/bundle/pack.js";
import { decodeBootProof } from "../../src/decode/boot-proof.js";
import { NO_POLICY_ANY_ENCLAVE, NamedEvidence, verifyEvidence } from "../../src/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { evidenceRows } from "../../src/page/evidence.js";
import { rows, section } from "../../src/show/doc.js";
import { writeHtml } from "../../src/show/html.js";
import { toHtml } from "../../src/show/markup.js";
import { type FormValues, type ListedFile, fileLabel, listedFile, requested } from "../../src/page/verifier.js";
import { shownReport, titleOf } from "../../src/page/view.js";
import { pageWith } from "../../src/page/page.js";
import { type JudgedPage, judged } from "../../src/page/verify.js";
import { LabSigstore } from "../../src/lab/sigstore.js";
import { DETAIL_FORMS, detailsOf, withoutLabels } from "../support/provisioning.js";

const lab = new Forge();
const forged = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
const clock = new Date("2026-03-04T05:16:07.000Z");
const NOTHING: FormValues = {
  policy: "file",
  organization: "",
  addresses: " ",
  payloads: "",
  challenges: " ",
  now: "",
  nonce: "",
  ephemeralKey: "",
  allowDebug: false,
  failOnWarning: false,
};

function file(name: string, content: unknown): ListedFile {
  const isBytes = content instanceof Uint8Array;
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const bytes = isBytes ? content : toUtf8(text);
  return listedFile({ name, bytes, sha256: createHash("sha256").update(bytes).digest("hex") });
}

const boot = file("boot.json", forged.bootProof);
const app = file("app.json", forged.appProofs[0]);
const activity = file("activity.json", { activity: forged.activity });
const document = file("document.cbor", forged.document);
const bundle = file("bundle.json", { bundle: "bootproof-bundle/1", bootProofs: [forged.bootProof], appProofs: [] });
const CHALLENGE = "q7Yt3mVnB2xKc9PzLwRs4A";
const answer = forgeEvidence({
  lab,
  at: new Date("2026-03-04T05:06:07.000Z"),
  payloads: [{ type: "QUOTE", timestampMs: "1772600827000", price: 1.5, order: { id: "7" }, challenge: CHALLENGE }],
}).appProofs[0];
const quote = file("quote.json", answer);
const anchor = file("lab.pem", forged.anchorPem);
const policyOf = (named: string): ListedFile =>
  file("policy.json", { ...labPolicy(forged.anchorPem, [labDeployment(lab)]), trustAnchors: [{ file: named }] });

const htmlOf = (list: Parameters<typeof rows>[0]): string =>
  toHtml(writeHtml({ sections: section("Evidence", [rows(list)]) }));
const faultsOf = (files: readonly ListedFile[], asked: Partial<FormValues> = {}): readonly string[] | null =>
  requested(files, { ...NOTHING, ...asked }, clock).faults;

async function verifiedOf(files: readonly ListedFile[], asked: Partial<FormValues> = {}): Promise<JudgedPage> {
  const request = requested(files, { ...NOTHING, ...asked }, clock);
  if (request.faults !== null) throw new Error(request.faults.join("; "));
  return judged(request);
}

async function verdictOf(...given: Parameters<typeof verifiedOf>): Promise<string> {
  return (await verifiedOf(...given)).report.verdict;
}

describe("files", () => {
  it.each(DETAIL_FORMS)("of provisioning details are boot proofs, and verified: %s", async (form) => {
    const setup = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z"), generation: "setup", payloads: [] });
    const details = file("details.json", detailsOf(setup.bootProof, form));
    expect([details.role, details.is]).toEqual(["bootProofs", "boot proof"]);
    const pins = withoutLabels(labDeployment(lab));
    const policy = file("policy.json", labPolicy(setup.anchorPem, [{ ...pins, commitment: "setup" }]));
    expect(await verdictOf([details, policy])).toBe("verified");
    expect(await verdictOf([file("live.json", detailsOf(forged.bootProof, form)), policy])).toBe("rejected");
    expect(faultsOf([file("mixed.json", { ...setup.bootProof, ...detailsOf(setup.bootProof, form) }), policy])).toEqual(
      [expect.stringContaining("mixed.json: ")],
    );
  });

  it.each(DETAIL_FORMS)("of provisioning details are shown in full: %s", async (form) => {
    const details = detailsOf(forged.bootProof, form);
    const options = { policy: NO_POLICY_ANY_ENCLAVE, now: clock } as const;
    const { report } = await verifyEvidence({ bootProofs: [details] }, options);
    const piece = new NamedEvidence("details.json", details);
    const shown = htmlOf(await evidenceRows([{ subject: "boot[0]", piece }], false, report));
    const received = JSON.stringify(details).replaceAll('"', "&quot;");
    expect(shown).toContain(received);
    expect(shown).toContain(toHex(decodeBootProof(details).ephemeralPublicKey ?? new Uint8Array()));
    expect(shown).toContain("which share holders see");
  });

  it("are told by their content, never by a name", () => {
    expect([boot, app, activity, document, bundle, anchor].map(({ role, is }) => [role, is])).toEqual([
      ["bootProofs", "boot proof"],
      ["appProofs", "app proof"],
      ["activity", "activity"],
      ["document", "attestation document"],
      ["bundle", "bundle"],
      ["anchor", "certificate"],
    ]);
    expect(file("policy.json", forged.bootProof).role).toBe("bootProofs");
  });

  it("that are none of these are told by what they are, under a name that is safe to show", () => {
    expect(file("\u202egnp.exe", { publicKey: "a", privateKey: "b" })).toMatchObject({
      name: "\\u{202e}gnp.exe",
      role: null,
      is: "an API key file: it is a secret: keep it from others, and out of pages",
    });
    expect(file("x", "<!doctype html>")).toMatchObject({
      role: null,
      is: expect.stringMatching(/^an HTML or XML page/),
    });
    expect(file("x", "")).toMatchObject({ role: null, is: "empty" });
  });
});

describe("a verification", () => {
  it.each<[string, readonly ListedFile[], Partial<FormValues>, string]>([
    [
      "evidence under a policy with its anchor's file",
      [boot, app, policyOf("../some/lab.pem"), anchor],
      {},
      "verified",
    ],
    ["a Windows path to it", [boot, policyOf("some\\lab.pem"), anchor], {}, "verified"],
    ["an activity", [boot, activity, policyOf("lab.pem"), anchor], {}, "verified"],
    [
      "boot proofs in a list",
      [file("list", { bootProofs: [forged.bootProof] }), policyOf("lab.pem"), anchor],
      {},
      "verified",
    ],
    [
      "app proofs in a list",
      [boot, file("a", { appProofs: forged.appProofs }), policyOf("lab.pem"), anchor],
      {},
      "verified",
    ],
    ["no policy, with a root", [boot, anchor], { policy: "none" }, "authentic"],
    ["no policy, by AWS's root", [boot], { policy: "none" }, "rejected"],
    ["a bare document", [document, anchor], { policy: "none" }, "authentic"],
    ["a bundle", [bundle, anchor], { policy: "none" }, "authentic"],
    ["another nonce", [boot, anchor], { policy: "none", nonce: "00ff" }, "rejected"],
    [
      "the key that was asked for",
      [boot, anchor],
      { policy: "none", ephemeralKey: forged.bootProof["ephemeralPublicKeyHex"] as string },
      "authentic",
    ],
    ["another organization", [boot, activity, anchor], { policy: "none", organization: "x" }, "rejected"],
    ["an address", [boot, app, anchor], { policy: "none", organization: "x", addresses: "0x01, 0x02" }, "rejected"],
  ])("%s", async (_, files, asked, verdict) => {
    expect(await verdictOf(files, asked)).toBe(verdict);
  });

  it("asks for boot proofs only where no other evidence, and no address, is there", () => {
    const onlyOf = (files: readonly ListedFile[], asked: Partial<FormValues> = {}): unknown => {
      const request = requested(files, { ...NOTHING, policy: "none", ...asked }, clock);
      return request.faults === null && request.options.bootProofsOnly === true;
    };
    expect([onlyOf([boot]), onlyOf([boot, app]), onlyOf([boot, activity]), onlyOf([bundle])]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(onlyOf([boot], { organization: "x", addresses: "0x" })).toBe(false);
  });

  it("is by the clock where no time is given", () => {
    const nowOf = (now: string): unknown => requested([boot], { ...NOTHING, policy: "none", now }, clock);
    expect(nowOf(" ")).toMatchObject({ options: { now: clock.toISOString() } });
    expect(nowOf("2026-03-03T05:00:00Z")).toMatchObject({ options: { now: "2026-03-03T05:00:00.000Z" } });
  });
});

describe("a time", () => {
  const fault = ["Time: expected a time in UTC, such as 2026-03-04T05:06:07Z."];
  it.each(["2026-03-04", "2026-03-04T05:06:07", "2026-03-04T05:06:07+00:00", "2026-02-30T00:00:00Z", "4 March 2026"])(
    "is not %s",
    (now) => {
      expect(faultsOf([boot, policyOf("lab.pem"), anchor], { now })).toEqual(fault);
    },
  );

  it.each(["2026-03-04T05:06:07Z", "2026-03-04T05:06:07.5Z", "2026-03-04T05:06:07.123Z"])("is %s", (now) => {
    expect(faultsOf([boot, policyOf("lab.pem"), anchor], { now })).toBe(null);
  });
});

describe("what is in the way is told, all of it", () => {
  it.each<[string, readonly ListedFile[], Partial<FormValues>, RegExp[]]>([
    ["nothing at all", [], {}, [/^There is nothing to verify yet/, /^There is no policy among your files/]],
    ["no boot proof", [app], { policy: "none" }, [/^There is no boot proof/]],
    ["no policy", [boot], {}, [/^There is no policy among your files/]],
    [
      "a policy, and none",
      [boot, policyOf("lab.pem"), anchor],
      { policy: "none" },
      [/^policy\.json: a policy, and “No policy” is chosen\. Choose “The policy among your files”, or remove/],
    ],
    ["two policies", [boot, policyOf("lab.pem"), policyOf("lab.pem"), anchor], {}, [/one policy at a time/]],
    [
      "a bundle's policy without one",
      [boot],
      { policy: "bundle" },
      [/no file is a bundle: add one, or choose another/],
    ],
    [
      "a bundle's policy beside a file",
      [bundle, policyOf("lab.pem")],
      { policy: "bundle" },
      [/^policy\.json: a policy, and “The bundle’s own policy” is chosen/],
    ],
    [
      "a policy that is none",
      [boot, file("policy.json", { deployment: 1 })],
      {},
      [/^There is no policy among your files: .* No policy: policy\.json \(.+\)\.$/],
    ],
    [
      "a policy of another format",
      [boot, file("policy.json", { policy: "bootproof/9", deployments: [] })],
      {},
      [/^policy\.json: not a usable policy: policy: version bootproof\/9, .*\. It is of version bootproof\/9, and/],
    ],
    [
      "an anchor of another name",
      [boot, policyOf("root.pem"), anchor],
      {},
      [/root\.pem; none of lab\.pem has that name: give the file root\.pem, or the policy that names yours$/],
    ],
    [
      "two policies of one name",
      [boot, policyOf("lab.pem"), policyOf("other/lab.pem"), anchor],
      {},
      [/^policy\.json \(SHA-256 [0-9a-f]{12}…\), policy\.json \(SHA-256 [0-9a-f]{12}…\): .*; remove all but one$/],
    ],
    [
      "an anchor that is missing",
      [boot, policyOf("lab.pem")],
      {},
      [/names the trust anchor lab\.pem; add that file, too/],
    ],
    [
      "an anchor that is there twice",
      [boot, policyOf("lab.pem"), anchor, anchor],
      {},
      [/several files have that name/],
    ],
    [
      "a bundle beside evidence",
      [bundle, boot],
      { policy: "none" },
      [/^bundle\.json, boot\.json: a bundle or a bare document is verified alone; remove the others$/],
    ],
    [
      "a document beside a bundle",
      [bundle, document],
      { policy: "none" },
      [/^bundle\.json, document\.cbor: .* is verified alone/],
    ],
    ["two activities", [boot, activity, activity], { policy: "none" }, [/one activity at a time/]],
    ["what a document does not say", [document], { policy: "none", organization: "x" }, [/has no organizations/]],
    ["addresses of nobody", [boot], { policy: "none", addresses: "0x01" }, [/^Addresses: enter the organization ID/]],
    [
      "no hex, no key, no time",
      [boot],
      { policy: "none", nonce: "0x0", ephemeralKey: "00", now: "2026-02-30T00:00:00Z" },
      [/^Nonce: expected hex/, /^Ephemeral key: 1 bytes, expected 130/, /^Time: expected a time in UTC/],
    ],
  ])("%s", (_, files, asked, wanted) => {
    expect(faultsOf(files, asked)).toEqual(wanted.map((pattern) => expect.stringMatching(pattern) as unknown));
  });
});

describe("files that are not used", () => {
  const unusedOf = (files: readonly ListedFile[], asked: Partial<FormValues> = {}): readonly string[] | null => {
    const request = requested(files, { ...NOTHING, ...asked }, clock);
    return request.faults === null ? request.unused : null;
  };
  const project = file("package.json", { name: "app", version: "1.0.0" });
  const other = file("other.pem", forgeEvidence({ lab: new Forge(), at: clock }).anchorPem);

  it("are named with the reason: what is no evidence, and a root that the policy does not name", () => {
    expect(unusedOf([boot, project, policyOf("lab.pem"), anchor, other])).toEqual([
      expect.stringMatching(/^package\.json: ./),
      "other.pem: the policy does not name it",
    ]);
  });

  it("are none where all are used", () => {
    expect(unusedOf([boot, app, policyOf("lab.pem"), anchor])).toEqual([]);
    expect(unusedOf([boot, anchor, other], { policy: "none" })).toEqual([]);
    expect(unusedOf([bundle, anchor], { policy: "none" })).toEqual([]);
  });
});

describe("files of one name", () => {
  const twin = file("boot.json", { bootProof: forged.bootProof });

  it("are told apart by their digest, in the list and in the report", async () => {
    const files = [boot, twin, app];
    expect(files.map((one) => fileLabel(one, files))).toEqual([
      `boot.json (SHA-256 ${boot.sha256.slice(0, 12)}…)`,
      `boot.json (SHA-256 ${twin.sha256.slice(0, 12)}…)`,
      "app.json",
    ]);
    const { report } = await verifiedOf([boot, twin, anchor], { policy: "none" });
    expect(new Set(report.evidence.map(({ name }) => name)).size).toBe(2);
  });

  it("keep their name beside another of the same bytes", () => {
    expect(fileLabel(boot, [boot, { ...boot }])).toBe("boot.json");
  });
});

describe("a title", () => {
  it("names verdict, warnings and subject, and the deployment only where it is proven", async () => {
    const none = { policy: "none" } as const;
    const second = file("second.json", { bootProof: forged.bootProof });
    const titles = [
      await verifiedOf([boot, policyOf("lab.pem"), anchor]),
      await verifiedOf([boot, anchor], none),
      await verifiedOf([boot], none),
      await verifiedOf([boot, second], none),
      await verifiedOf([file("\u202egnp.json", forged.bootProof)], none),
    ].map((one) => titleOf(one));
    expect(titles).toEqual([
      expect.stringMatching(/^VERIFIED with \d warnings?: boot\.json, deployment "[^"]+" – bootproof$/),
      expect.stringMatching(/^AUTHENTIC, of anybody with 1 warning: boot\.json – bootproof$/),
      "REJECTED: boot.json – bootproof",
      "REJECTED: 2 boot proofs – bootproof",
      expect.stringMatching(/^REJECTED: "?\\+u\{202e\}gnp\.json"? – bootproof$/),
    ]);
  });

  it("says REFUSED, as the page does, where the reader chose that a warning is a failure", async () => {
    const files = [boot, policyOf("lab.pem"), anchor];
    const good = await verifiedOf(files);
    const refused = await verifiedOf(files, { failOnWarning: true });
    expect(refused.report).toMatchObject({ verdict: "verified", refusedFor: [expect.stringContaining("not to AWS")] });
    expect(titleOf(refused)).toMatch(/^REFUSED with 1 warning: boot\.json/);
    const shown = toHtml(await shownReport(refused));
    expect(shown).not.toContain("--fail-on-warning");
    expect(shown).toContain('<header class="verdict tone-bad"><h1>REFUSED<');
    expect(shown).toMatch(/<p>The verdict ("|&quot;)verified\1 is not accepted with warnings\./);
    expect(good.report).not.toHaveProperty("refusedFor");
    expect(toHtml(await shownReport(good))).not.toContain("REFUSED");
  });

  it("says REFUSED of a bundle for what its notices say", async () => {
    const evidence = { bootProofs: [forged.bootProof], appProofs: [] };
    const policy = labPolicy(forged.anchorPem, [labDeployment(lab)]) as unknown as PolicyFile;
    const { bundle: packed } = await packBundle(evidence, { policy, now: clock });
    const ofItsPolicy = [file("bundle.json", packed), anchor];
    const lying = [file("lying.json", { ...packed, report: { ...packed!.report, verdict: "rejected" } }), anchor];
    const reasonsOf = async (files: readonly ListedFile[], policy: FormValues["policy"]): Promise<string> => {
      const { report } = await verifiedOf(files, { policy, failOnWarning: true });
      return (report.refusedFor ?? []).join("\n");
    };
    expect(await reasonsOf(ofItsPolicy, "bundle")).toContain("the policy came with the bundle");
    expect(await reasonsOf(lying, "none")).toContain("the report inside does not match its evidence");
    expect(await reasonsOf(ofItsPolicy, "none")).not.toMatch(/the policy came|the report inside/);
  });

  it("is not refused without a warning, and where it is rejected anyway", async () => {
    const genuine = readFileSync(new URL("../../test-vectors/boot-proofs/six-members.json", import.meta.url));
    const titles = [file("genuine.json", new Uint8Array(genuine)), boot, bundle].map(async (one) => {
      const verified = await verifiedOf([one], { policy: "none", failOnWarning: true });
      expect(verified.report).not.toHaveProperty("refusedFor");
      return titleOf(verified);
    });
    expect(await Promise.all(titles)).toEqual([
      "AUTHENTIC, of anybody: genuine.json – bootproof",
      "REJECTED: boot.json – bootproof",
      expect.stringMatching(/^REJECTED: /),
    ]);
  });
});

describe("expected payloads", () => {
  const asking = (payloads: string, challenges = ""): Partial<FormValues> => ({ policy: "none", payloads, challenges });
  const payloadOf = (...lines: Parameters<typeof asking>): unknown => {
    const request = requested([boot, quote, anchor], { ...NOTHING, ...asking(...lines) }, clock);
    return request.faults ?? request.options.expected;
  };

  it("are one expectation for each type, without an organization, and without lines that are empty", () => {
    const lines = ' QUOTE:/price=1.50\n\nOTHER:/a=null\r\nOTHER:/b=true\nOTHER:/c="=:"';
    expect(payloadOf(lines, `QUOTE:/challenge="${CHALLENGE}"\n`)).toEqual({
      payload: [
        { type: "QUOTE", values: { "/price": 1.5, "/challenge": CHALLENGE }, challenge: "/challenge" },
        { type: "OTHER", values: { "/a": null, "/b": true, "/c": "=:" } },
      ],
    });
    expect(payloadOf("\n \n")).toBe(undefined);
  });

  it.each<[string, Parameters<typeof asking>, string]>([
    ["as signed", ['QUOTE:/price=15e-1\nQUOTE:/order/id="7"'], "authentic"],
    ["with the challenge", ["", `QUOTE:/challenge="${CHALLENGE}"`], "authentic"],
    ["another value", ['QUOTE:/price=1.5\nQUOTE:/order/id="8"'], "rejected"],
    ["a text where a number was signed", ['QUOTE:/price="1.5"'], "rejected"],
    ["another challenge", ["", `QUOTE:/challenge="${"z".repeat(22)}"`], "rejected"],
    ["another type", ["quote:/price=1.5"], "rejected"],
  ])("are compared: %s", async (_, lines, verdict) => {
    expect(await verdictOf([boot, quote, anchor], asking(...lines))).toBe(verdict);
  });

  it("are not met by boot proofs alone, and not by a bundle without app proofs", async () => {
    for (const files of [
      [boot, anchor],
      [bundle, anchor],
    ])
      expect(await verdictOf(files, asking("QUOTE:/price=1.5"))).toBe("rejected");
  });

  it("stand beside an organization and its activity", async () => {
    const asked = { ...asking("QUOTE:/price=1.5"), organization: "x" };
    expect(await verdictOf([boot, quote, anchor], asked)).toBe("authentic");
    expect(faultsOf([boot, activity, quote, anchor], asked)).toBe(null);
    expect(faultsOf([boot, activity, quote, anchor], { ...asked, organization: " " })).toEqual([
      "Payloads with an activity: enter the organization ID of its owner, too.",
    ]);
    expect(faultsOf([document, anchor], asking("QUOTE:/price=1.5"))).toEqual([
      expect.stringMatching(/^A bare attestation document has no .* payloads/),
    ]);
  });

  const NO_JSON = 'the value is not JSON: a text is in quotes, such as "42"';
  it.each<[string, Parameters<typeof asking>, readonly (string | RegExp)[]]>([
    ["a text without quotes, which is not repeated", ["A:/a=hello"], [`Payloads: A:/a: ${NO_JSON}`]],
    ["no value", ["A:/a="], [`Payloads: A:/a: ${NO_JSON}`]],
    ["no form of ours", ["hello \u202e"], ["Payloads: hello \\u{202e}: expected TYPE:/pointer=JSON"]],
    [
      "a number that no double holds",
      ["A:/a=12345678901234567890\nA:/b=1e999"],
      [/^Payloads: A:\/a: 12345678901234567890: not exact/, /^Payloads: A:\/b: 1e999: not exact as a double, it/],
    ],
    ["an object", ['A:/a={"b": 1}'], ["Payloads: A:/a: an object or array: name its members, such as A:/a/0=…"]],
    ["no pointer", ["A:=1"], [/^Payloads: A:: expected a JSON pointer, such as \/order\/id/]],
    ["no type", [":/a=1"], ["Payloads: :/a=1: expected TYPE:/pointer=JSON"]],
    [
      "a challenge that can be guessed",
      ["", 'A:/a="0123456789abcdef01234567"'],
      [/^Challenges: A:\/a: its value is not random enough/],
    ],
    ["one pointer twice", ["A:/a=1\nA:/a=1\nB:/a=1"], ["Payloads: A:/a: repeated: give it once"]],
    [
      "two challenges of one type",
      ["", `A:/a="${CHALLENGE}"\nA:/b="${CHALLENGE}"`],
      ["Challenges: A:/b: a type has at most one challenge"],
    ],
  ])("%s is told at the form", (_, lines, faults) => {
    expect(faultsOf([boot, quote, anchor], asking(...lines))).toEqual(
      faults.map((fault) => (typeof fault === "string" ? fault : (expect.stringMatching(fault) as unknown))),
    );
  });
});

describe("a policy that demands provenance", () => {
  const provenance = [{ trustedRoot: { file: "root.json" } }];
  const policyOf = (more: object): object => labPolicy(forged.anchorPem, [{ ...labDeployment(lab), ...more } as never]);
  const demanding = policyOf({ provenance });
  const text = JSON.stringify(demanding);
  const sentence = /demands provenance, which a page cannot verify.*Run bootproof verify --provenance FILE/;

  it("is a fault of the page that verifies, before anything is verified", () => {
    const { faults } = requested([boot, file("policy.json", demanding)], NOTHING, clock);
    expect(faults).toEqual([expect.stringMatching(sentence)]);
    const malformed = requested([boot, file("policy.json", policyOf({ provenance: [] }))], NOTHING, clock);
    expect(malformed.faults).toEqual([expect.stringMatching(sentence)]);
  });

  it("is refused in a bundle and for a page, whoever chose it", async () => {
    const evidence = { bootProofs: [forged.bootProof] };
    const options = { policy: { text }, now: clock.toISOString(), bootProofsOnly: true };
    await expect(judged({ evidence, options })).rejects.toThrow(/^malformed policy: .*provenance/);
    await expect(pageWith("0;", { evidence, options, report: {} as never })).rejects.toThrow(sentence);
    const packed = { bundle: "bootproof-bundle/1", bootProofs: [forged.bootProof], appProofs: [], policy: demanding };
    const whole = { ...packed, now: clock.toISOString(), report: { format: "bootproof-report/1" } };
    const inside = { bundle: toUtf8(JSON.stringify(whole)), name: "bundle.json" };
    for (const policy of ["bundle", null] as const)
      await expect(judged({ evidence: inside, options: { policy, now: clock.toISOString() } })).rejects.toThrow(
        /demands provenance|malformed/,
      );
  });

  it("and bundles of builds are files that a page does not use", async () => {
    const sigstore = new LabSigstore();
    const build = file("build.json", sigstore.attest({ at: clock, digest: lab.pivotHash }));
    expect([build.role, build.is]).toEqual([null, expect.stringContaining("a page cannot")]);
    expect(file("root.json", sigstore.trustedRoot).role).toBeNull();
    const evidence = { bootProofs: [forged.bootProof], provenance: ["{}"] };
    const content = { evidence, options: { policy: null, now: clock.toISOString() }, report: {} as never };
    await expect(pageWith("0;", content)).rejects.toThrow(/evidence\.provenance: expected none: a page cannot have it/);
  });
});
