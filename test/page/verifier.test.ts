/** What was given to the page that verifies, as one verification: what each file is, and all that is in the way. */
import { describe, expect, it } from "vitest";
import { toHex, toUtf8 } from "../../src/bytes.js";
import { decodeBootProof } from "../../src/decode/boot-proof.js";
import { NO_POLICY_ANY_ENCLAVE, NamedEvidence, verifyEvidence } from "../../src/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { evidencePieces } from "../../src/page/evidence.js";
import { toHtml } from "../../src/page/markup.js";
import { type FormValues, type ListedFile, listedFile, requested } from "../../src/page/verifier.js";
import { judged } from "../../src/page/verify.js";
import { DETAIL_FORMS, detailsOf, withoutLabels } from "../support/provisioning.js";

const lab = new Forge();
const forged = forgeEvidence({ lab, at: new Date("2026-03-04T05:06:07.000Z") });
const clock = new Date("2026-03-04T05:16:07.000Z");
const NOTHING: FormValues = {
  policyNone: false,
  policyBundle: false,
  organization: "",
  addresses: " ",
  now: "",
  nonce: "",
  ephemeralKey: "",
  allowDebug: false,
};

function file(name: string, content: unknown): ListedFile {
  const isBytes = content instanceof Uint8Array;
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return listedFile({ name, bytes: isBytes ? content : toUtf8(text) });
}

const boot = file("boot.json", forged.bootProof);
const app = file("app.json", forged.appProofs[0]);
const activity = file("activity.json", { activity: forged.activity });
const document = file("document.cbor", forged.document);
const bundle = file("bundle.json", { bundle: "bootproof-bundle/1", bootProofs: [forged.bootProof], appProofs: [] });
const anchor = file("lab.pem", forged.anchorPem);
const policyOf = (named: string): ListedFile =>
  file("policy.json", { ...labPolicy(forged.anchorPem, [labDeployment(lab)]), trustAnchors: [{ file: named }] });

const faultsOf = (files: readonly ListedFile[], asked: Partial<FormValues> = {}): readonly string[] | null =>
  requested(files, { ...NOTHING, ...asked }, clock).faults;

async function verdictOf(files: readonly ListedFile[], asked: Partial<FormValues> = {}): Promise<string> {
  const request = requested(files, { ...NOTHING, ...asked }, clock);
  if (request.faults !== null) throw new Error(request.faults.join("; "));
  return (await judged(request)).report.verdict;
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
    const shown = toHtml(await evidencePieces([{ subject: "boot[0]", piece }], false, report));
    const { attestationDocument, manifestEnvelope, ephemeralPublicKey } = decodeBootProof(details);
    for (const bytes of [attestationDocument, manifestEnvelope, ephemeralPublicKey ?? new Uint8Array()])
      expect(shown).toContain(toHex(bytes));
    expect(shown).toContain("what a share holder is shown");
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
      is: "an API key, which is a secret: it is not used, and belongs in no page",
    });
    expect(file("x", "<!doctype html>")).toMatchObject({ role: null, is: expect.stringMatching(/^an HTML page/) });
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
    ["no policy, with a root", [boot, anchor], { policyNone: true }, "authentic"],
    ["no policy, by AWS's root", [boot], { policyNone: true }, "rejected"],
    ["a bare document", [document, anchor], { policyNone: true }, "authentic"],
    ["a bundle", [bundle, anchor], { policyNone: true }, "authentic"],
    ["another nonce", [boot, anchor], { policyNone: true, nonce: "00ff" }, "rejected"],
    [
      "the key that was asked for",
      [boot, anchor],
      { policyNone: true, ephemeralKey: forged.bootProof["ephemeralPublicKeyHex"] as string },
      "authentic",
    ],
    ["another organization", [boot, activity, anchor], { policyNone: true, organization: "x" }, "rejected"],
    ["an address", [boot, app, anchor], { policyNone: true, organization: "x", addresses: "0x01, 0x02" }, "rejected"],
  ])("%s", async (_, files, asked, verdict) => {
    expect(await verdictOf(files, asked)).toBe(verdict);
  });

  it("asks for boot proofs only where no other evidence, and no address, is there", () => {
    const onlyOf = (files: readonly ListedFile[], asked: Partial<FormValues> = {}): unknown => {
      const request = requested(files, { ...NOTHING, policyNone: true, ...asked }, clock);
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
    const nowOf = (now: string): unknown => requested([boot], { ...NOTHING, policyNone: true, now }, clock);
    expect(nowOf(" ")).toMatchObject({ options: { now: clock } });
    expect(nowOf("2026-03-03T05:00:00Z")).toMatchObject({ options: { now: new Date("2026-03-03T05:00:00Z") } });
  });
});

describe("a time", () => {
  const fault = ["Time: one in UTC wanted, such as 2026-03-04T05:06:07Z."];
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
    ["nothing at all", [], {}, [/^There is nothing to verify yet/, /^A policy is wanted/]],
    ["no boot proof", [app], { policyNone: true }, [/^A boot proof is wanted/]],
    ["no policy", [boot], {}, [/^A policy is wanted/]],
    ["a policy, and none", [boot, policyOf("lab.pem"), anchor], { policyNone: true }, [/contradict each other/]],
    ["two policies", [boot, policyOf("lab.pem"), policyOf("lab.pem"), anchor], {}, [/one policy at a time/]],
    ["a bundle's policy without one", [boot], { policyBundle: true }, [/there is no bundle/]],
    [
      "an anchor that is missing",
      [boot, policyOf("lab.pem")],
      {},
      [/names the trust anchor lab\.pem; give that file, too/],
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
      { policyNone: true },
      [/^bundle\.json: a bundle is verified alone; remove boot\.json/],
    ],
    ["a document beside a bundle", [bundle, document], { policyNone: true }, [/each is verified alone/]],
    ["two activities", [boot, activity, activity], { policyNone: true }, [/one activity at a time/]],
    [
      "what a document does not say",
      [document],
      { policyNone: true, organization: "x" },
      [/says nothing of organizations/],
    ],
    ["addresses of nobody", [boot], { policyNone: true, addresses: "0x01" }, [/^Addresses: whose\?/]],
    [
      "no hex, no key, no time",
      [boot],
      { policyNone: true, nonce: "0x0", ephemeralKey: "00", now: "2026-02-30T00:00:00Z" },
      [/^Nonce: hex/, /^Ephemeral key: 1 bytes, 130/, /^Time: one in UTC/],
    ],
  ])("%s", (_, files, asked, wanted) => {
    expect(faultsOf(files, asked)).toEqual(wanted.map((pattern) => expect.stringMatching(pattern) as unknown));
  });
});
