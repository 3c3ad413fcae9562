/** What was given to the page that verifies, as one verification: what each file is, and all that is in the way. */
import { describe, expect, it } from "vitest";
import { toHex, toUtf8 } from "../../src/bytes.js";
import { decodeBootProof } from "../../src/decode/boot-proof.js";
import { NO_POLICY_ANY_ENCLAVE, NamedEvidence, verifyEvidence } from "../../src/index.js";
import { Forge, forgeEvidence, labDeployment, labPolicy } from "../../src/lab/forge.js";
import { evidencePieces } from "../../src/page/evidence.js";
import { toHtml } from "../../src/page/markup.js";
import {
  type FormExpectedValue,
  type FormValues,
  type ListedFile,
  listedFile,
  requested,
} from "../../src/page/verifier.js";
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
  expectedValues: [],
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
const CHALLENGE = "q7Yt3mVnB2xKc9PzLwRs4A";
const answer = forgeEvidence({
  lab,
  at: new Date("2026-03-04T05:06:07.000Z"),
  payloads: [{ type: "QUOTE", timestampMs: "1772600827000", price: 1.5, order: { id: "7" }, challenge: CHALLENGE }],
}).appProofs[0];
const quote = file("quote.json", answer);
/** A row of the form. */
const row = (pointer: string, value: string, isChallenge = false, type = "QUOTE"): FormExpectedValue => {
  return { type, pointer, value, isChallenge };
};
const EMPTY = row("", " ", false, " ");
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

describe("expected payloads", () => {
  const asking = (...expectedValues: FormExpectedValue[]): Partial<FormValues> => ({
    policyNone: true,
    expectedValues,
  });
  const payloadOf = (...rows: FormExpectedValue[]): unknown => {
    const request = requested([boot, quote, anchor], { ...NOTHING, ...asking(...rows) }, clock);
    return request.faults ?? request.options.expected;
  };

  it("are one expectation for each type, without an organization, and without rows that are empty", () => {
    const rows = [row("/price", " 1.50"), EMPTY, row("/challenge", JSON.stringify(CHALLENGE), true)];
    expect(payloadOf(...rows, row("/a", "null", false, " OTHER "), row("/b", "true", false, "OTHER"))).toEqual({
      payload: [
        { type: "QUOTE", values: { "/price": 1.5, "/challenge": CHALLENGE }, challenge: "/challenge" },
        { type: "OTHER", values: { "/a": null, "/b": true } },
      ],
    });
    expect(payloadOf(EMPTY, EMPTY)).toBe(undefined);
  });

  it.each<[string, readonly FormExpectedValue[], string]>([
    ["as signed", [row("/price", "15e-1"), row("/order/id", '"7"')], "authentic"],
    ["with the challenge", [row("/challenge", `"${CHALLENGE}"`, true)], "authentic"],
    ["another value", [row("/price", "1.5"), row("/order/id", '"8"')], "rejected"],
    ["a text where a number was signed", [row("/price", '"1.5"')], "rejected"],
    ["another challenge", [row("/challenge", `"${"z".repeat(22)}"`, true)], "rejected"],
    ["another type", [row("/price", "1.5", false, "quote")], "rejected"],
  ])("are compared: %s", async (_, rows, verdict) => {
    expect(await verdictOf([boot, quote, anchor], asking(...rows))).toBe(verdict);
  });

  it("are not met by boot proofs alone, and not by a bundle without app proofs", async () => {
    for (const files of [
      [boot, anchor],
      [bundle, anchor],
    ])
      expect(await verdictOf(files, asking(row("/price", "1.5")))).toBe("rejected");
  });

  it("stand beside an organization and its activity", async () => {
    const asked = { ...asking(row("/price", "1.5")), organization: "x" };
    expect(await verdictOf([boot, quote, anchor], asked)).toBe("authentic");
    expect(faultsOf([boot, activity, quote, anchor], asked)).toBe(null);
    expect(faultsOf([boot, activity, quote, anchor], { ...asked, organization: " " })).toEqual([
      "Payloads beside an activity: whose activity? Give the organization ID, too.",
    ]);
    expect(faultsOf([document, anchor], asking(row("/price", "1.5")))).toEqual([
      expect.stringMatching(/^A bare attestation document says nothing of .* payloads/),
    ]);
  });

  it.each<[string, readonly FormExpectedValue[], readonly (string | RegExp)[]]>([
    [
      "a text without quotes",
      [row("/a", "hello \u202e")],
      ['Expected value 1: the value is not JSON; for a text, write "hello \\u{202e}"'],
    ],
    ["no value", [EMPTY, row("/a", " ")], ['Expected value 2: a value is wanted, as JSON; the empty text is ""']],
    [
      "a number that no double holds",
      [row("/a", "12345678901234567890"), row("/b", "1e999")],
      [/^Expected value 1: 12345678901234567890 is a number that/, /^Expected value 2: 1e999 is a number that/],
    ],
    [
      "an object",
      [row("/a", '{"b": 1}')],
      ['Expected value 1: "/a": a string, finite number, boolean or null wanted; name the members of others'],
    ],
    ["no pointer", [row("", "1")], [/^Expected value 1: "": a JSON pointer wanted, such as \/order\/id/]],
    ["no type", [row("/a", "1", false, " ")], ["Expected value 1: type: a non-empty string wanted"]],
    [
      "a mark and nothing else",
      [row("", "", true, "")],
      ['Expected value 1: a value is wanted, as JSON; the empty text is ""'],
    ],
    [
      "a challenge that can be guessed",
      [row("/a", '"0123456789abcdef01234567"', true)],
      [/^Expected value 1: challenge: its value is not random enough/],
    ],
    [
      "one pointer twice",
      [row("/a", "1"), row("/a", "1"), row("/a", "1", false, "OTHER")],
      ["Expected value 2: /a is there twice for this type"],
    ],
    [
      "two challenges of one type",
      [row("/a", `"${CHALLENGE}"`, true), row("/b", `"${CHALLENGE}"`, true)],
      ["Expected value 2: a type has one challenge at most"],
    ],
  ])("%s is told at the form", (_, rows, faults) => {
    expect(faultsOf([boot, quote, anchor], asking(...rows))).toEqual(
      faults.map((fault) => (typeof fault === "string" ? fault : (expect.stringMatching(fault) as unknown))),
    );
  });
});
