import { createHash } from "node:crypto";
import { parse } from "parse5";
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import { decodeAttestationDocument } from "../../src/decode/attestation-document.js";
import type { Check } from "../../src/checks.js";
import { NO_POLICY_ANY_ENCLAVE, verifyBootProof, verifyEvidence } from "../../src/index.js";
import { NamedEvidence, type VerifyOptions, inputPieces } from "../../src/inputs.js";
import { headlineFacts, shownCheck, warningsOf } from "../../src/report/facts.js";
import { printable } from "../../src/report/printable.js";
import { provenStatements, unprovenWords } from "../../src/report/statements.js";
import { verdictSentence } from "../../src/show/verdict.js";
import { unprovenStatements } from "../../src/report/unproven.js";
import { report, reportOf } from "../report/reports.js";
import { LAB_ADDRESS } from "../../src/lab/forge.js";
import { CHALLENGE, HOSTILE, SHOWN, anchors, fleet } from "./evidence.js";
import { type Element, attribute, classed, pageOf, parsed, textOf } from "./html.js";
import { decodeServiceForm } from "../support/provisioning.js";

const NAMES = Object.keys(SHOWN);
const pages = new Map<string, { readonly html: string; readonly elements: readonly Element[] }>();
const shownPage = async (name: string) => {
  const shown = await SHOWN[name]!();
  const html = pages.get(name)?.html ?? (await pageOf(shown));
  const page = pages.get(name) ?? { html, elements: parsed(html) };
  pages.set(name, page);
  return { shown, ...page };
};
const texts = (elements: readonly Element[]): string[] => elements.map(textOf);

describe.each(NAMES)("the page of %s", (name) => {
  it("says all that the report says", async () => {
    const { shown, elements } = await shownPage(name);
    const { report: judged, notices } = shown;
    const sentence = verdictSentence(judged, notices);
    const [word, rest] = [sentence.slice(0, sentence.indexOf(":")), sentence.slice(sentence.indexOf(":") + 1).trim()];
    expect(textOf(elements.find(({ tagName }) => tagName === "h1")!)).toBe(word);
    const above = textOf(classed(elements, "verdict").flatMap(within).find(isParagraph)!).toLowerCase();
    const [failed] = judged.checks.filter(({ status }) => status === "fail");
    // The first failed check is shown whole below the sentence, which does not repeat it.
    if (failed === undefined) expect(above).toBe(rest.toLowerCase());
    else expect(rest.toLowerCase().startsWith(above.slice(0, -1)) && !above.includes(failed.id)).toBe(true);
    const warnings = warningsOf(judged, notices).map(printable);
    const listed = texts(classed(elements, "warnings").flatMap(items));
    expect(listed.map((text) => text.toLowerCase())).toEqual(warnings.map((text) => text.toLowerCase()));
    expect(listed.filter((text) => !/^(?:\p{Lu}|(?:boot|app)\[).*\.$/su.test(text))).toEqual([]);
    expect(texts(statements(elements, "proven"))).toEqual(provenStatements(judged));
    const words = unprovenWords(judged).flatMap((said) => said.statements);
    expect(texts(statements(elements, "not-proven"))).toEqual([...words, ...unprovenStatements(judged)]);
    for (const { heading } of unprovenWords(judged))
      expect(texts(classed(elements, "not-proven")).join()).toContain(`Not proven: ${heading}`);
    const all = texts(elements).join("\n").toLowerCase();
    for (const { text } of notices) expect(all).toContain(text.toLowerCase());
  });

  it("says which enclave it is, of when, how old, and when it was verified, before the first heading", async () => {
    const { shown, html } = await shownPage(name);
    const above = html.split("<h2", 1)[0]!;
    const text = textOf(parse(above));
    const { lines } = headlineFacts(shown.report);
    for (const part of [...lines, shown.report.verifiedAt]) expect(text).toContain(part);
    for (const boot of shown.report.claims?.bootProofs.slice(0, 1) ?? [])
      expect(text).toMatch(new RegExp(`${boot.hardware.documentTime}, \\d+ \\w+ old`));
  });

  it("has every check: its id, its status, its detail, its advice, and both values whole", async () => {
    const { shown, elements } = await shownPage(name);
    const rows = checksIn(elements);
    const told = [...new Set(rows.map((row) => texts(within(row)).join("\n").toLowerCase()))];
    for (const check of shown.report.checks) {
      const { id, detail, advice = "", expected = "", actual = "" } = check;
      const { status } = shownCheck(check, shown.report);
      const lines = [expected, actual].flatMap((value) => value.split("\n")).map(printable);
      const wanted = [id, STATUSES[status], printable(detail), ...advice.split("\n"), ...lines].map((part) =>
        part.toLowerCase(),
      );
      expect(
        told.some((text) => wanted.every((part) => text.includes(part))),
        id,
      ).toBe(true);
    }
    for (const row of classed(rows, "tone-bad")) expect(isInSight(row)).toBe(true);
  });

  it("is HTML of ours alone, with names that are unique, and headings in order", async () => {
    const { shown, elements } = await shownPage(name);
    const attrs = elements.flatMap((one) => one.attrs);
    expect(elements.map(({ tagName }) => tagName).filter((tag) => !TAGS.includes(tag))).toEqual([]);
    expect(attrs.filter(({ name: attr }) => !ATTRIBUTES.includes(attr))).toEqual([]);
    const linked = attrs.filter(({ name: attr }) => attr === "href").map(({ value }) => value);
    expect(linked.filter((value) => !/^#[a-z0-9-]+$/.test(value))).toEqual([]);
    const ids = elements.flatMap((one) => attribute(one, "id") ?? []);
    const known = new Set(["", ...ids]);
    expect(known.size).toBe(ids.length + 1);
    const labels = attrs.filter(({ name: attr }) => attr === "aria-labelledby").map(({ value }) => value);
    const named = [...linked.map((value) => value.slice(1)), ...labels.flatMap((value) => value.split(" "))];
    expect(named.filter((id) => !known.has(id))).toEqual([]);
    const levels = elements.filter(({ tagName }) => /^h[1-6]$/.test(tagName)).map(({ tagName }) => Number(tagName[1]));
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    for (const [index, level] of levels.entries()) expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1);
    if (shown.report.verdict === "rejected") expect(classed(elements, "proven")).toEqual([]);
  });
});

const STATUSES = { pass: "ok", fail: "FAIL", warn: "WARN", note: "note", skip: "skip" };
const TAGS = "header div h1 h2 p ul li span strong code mark section details summary a".split(" ");
const ATTRIBUTES = "class id href open".split(" ");

function isParagraph({ tagName }: Element): boolean {
  return tagName === "p";
}

function childrenOf(element: Element): Element[] {
  return (element.childNodes as Element[]).filter((node) => "tagName" in node);
}

/** Rows with the id of a check. */
function checksIn(elements: readonly Element[]): Element[] {
  return elements.filter((one) => one.tagName === "li" && classed(childrenOf(one), "id").length > 0);
}

/** The rows that stand first: the first failures and what to do. */
function headRows(elements: readonly Element[]): Element[] {
  const [head] = elements.filter(({ tagName }) => tagName === "section");
  return classed(childrenOf(head!), "rows").flatMap(childrenOf);
}

function within(element: Element): Element[] {
  return [element, ...childrenOf(element).flatMap(within)];
}

function items(element: Element): Element[] {
  return within(element).filter(({ tagName }) => tagName === "li");
}

function statements(elements: readonly Element[], name: string): Element[] {
  return classed(elements, name).flatMap(items);
}

/** Whether no part of the page that is folded up hides it. */
function isInSight({ parentNode }: Element): boolean {
  if (parentNode === null || !("tagName" in parentNode)) return true;
  return !(parentNode.tagName === "details" && attribute(parentNode, "open") === null) && isInSight(parentNode);
}

describe("the evidence", () => {
  const codesOf = async (name: string): Promise<string[]> => {
    const { elements } = await shownPage(name);
    return texts(
      classed(elements, "evidence")
        .flatMap(within)
        .filter(({ tagName }) => tagName === "code"),
    );
  };

  it.each(["verified", "rejected: a forged signature", "an activity", "verified, an application of one's own"])(
    "of %s stands there as it was received, and decoded",
    async (name) => {
      const { shown } = await shownPage(name);
      const codes = await codesOf(name);
      for (const { piece } of inputPieces(shown.evidence)) {
        const { value } = piece;
        expect(codes).toContain(printable(typeof value === "string" ? value : JSON.stringify(value)));
      }
      const [boot] = (shown.evidence as { bootProofs: unknown[] }).bootProofs;
      const { attestationDocument } = decodeServiceForm(boot instanceof NamedEvidence ? boot.value : boot);
      const { pcrs, certificate, userData } = decodeAttestationDocument(attestationDocument);
      for (const bytes of [pcrs.get(0)!, userData!]) expect(codes).toContain(toHex(bytes));
      expect(codes).toContain(createHash("sha256").update(certificate.der).digest("hex"));
    },
  );

  it("of a bare document, and what could not be read, stand there, too", async () => {
    const { evidence } = await SHOWN["a bare document"]!();
    expect(await codesOf("a bare document")).toContain(toHex((evidence as NamedEvidence).value as Uint8Array));
    expect(await codesOf("rejected: no JSON")).toContain('{"ephemeralPublicKeyHex": ');
  });
});

it("shows of a boot proof that was verified before what the object holds", async () => {
  const options: VerifyOptions = {
    policy: NO_POLICY_ANY_ENCLAVE,
    now: new Date("2026-03-04T05:10:00.000Z"),
    trustAnchors: anchors(),
  };
  const { bootProof } = await verifyBootProof(fleet(1)[0]!.bootProof, options);
  const { report: judged } = await verifyEvidence({ bootProofs: [bootProof] }, options);
  const elements = parsed(await pageOf({ report: judged, evidence: { bootProofs: [bootProof] }, notices: [] }));
  const codes = texts(
    classed(elements, "evidence")
      .flatMap(within)
      .filter(({ tagName }) => tagName === "code"),
  );
  const { attestation, manifestHash, ephemeralKey } = bootProof!;
  for (const bytes of [manifestHash, ephemeralKey, attestation.document.userData!])
    expect(codes).toContain(toHex(bytes));
});

it("says which expectation a payload meets, which challenge it answers, and that it has no time", async () => {
  const { elements } = await shownPage("verified, an application of one's own");
  const page = texts(elements.filter(({ tagName }) => tagName === "section" || tagName === "details")).join("\n");
  expect(page).toContain("type QUOTEtime none");
  expect(page).toContain(`expectation 0answers pointer /challengevalue ${CHALLENGE}`);
  expect(page).toContain("expectation 1answers none");
  expect(page).toContain("expectation noneanswers none");
  expect(page).not.toContain("1970-");
  expect(page).not.toContain("Faults in its format");
  expect(page).toContain("not signed: verification accepts it only if the policy lists its type in appProofs.untimed");
});

it("names every piece with its digest", async () => {
  const { shown, elements } = await shownPage("verified");
  const pieces = texts(classed(elements, "evidence").flatMap(items));
  expect(shown.report.evidence).toHaveLength(2);
  for (const { subject, name, sha256 } of shown.report.evidence)
    expect(pieces.some((text) => text.startsWith(`${subject} = ${name} SHA-256 ${sha256}`))).toBe(true);
});

it("says when, how and by which policy it was verified", async () => {
  const { shown, elements } = await shownPage("verified");
  const origin = textOf(elements.find(({ tagName }) => tagName === "section")!);
  const { verifiedAt, validationTime, policyDigest, tool } = shown.report;
  for (const text of [
    verifiedAt,
    validationTime!,
    policyDigest!,
    `${tool.name} ${tool.version}`,
    '"Signer, production"',
  ])
    expect(origin).toContain(text);
});

it("counts the warnings beside the verdict, and leads from there to what is not proven", async () => {
  const { elements } = await shownPage("verified, with warnings");
  expect(textOf(elements.find(({ tagName }) => tagName === "h1")!)).toBe("VERIFIED with 5 warnings");
  expect(texts(classed(elements, "left"))).toEqual(["Not proven: 8 things"]);
  const stale = await shownPage("stale");
  expect(textOf(stale.elements.find(({ tagName }) => tagName === "h1")!)).toBe("REJECTED, STALE");
});

it("says the age in words above the first heading, and beside rejected evidence nothing of it", async () => {
  const { elements, shown } = await shownPage("verified");
  const ageOf = (all: readonly Element[]): string[] => texts(classed(all, "tone-strong"));
  expect(ageOf(elements)).toEqual([headlineFacts(shown.report).age]);
  expect(ageOf(elements)[0]).toMatch(/^This enclave started \d+ \w+ ago; /);
  expect(ageOf((await shownPage("stale")).elements)).toEqual([]);
});

describe("addresses beside the verdict", () => {
  const proofsOf = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      bootProof: 0,
      type: "APP_PROOF_TYPE_ADDRESS_DERIVATION",
      time: "2026-03-04T05:06:07.000Z",
      payload: { addressDerivationProof: { address: `0x${index}` } },
      expectation: null,
      answers: null,
    }));
  const addressesOf = async (count: number, image: object = {}): Promise<string[]> => {
    const { claims } = reportOf({ image });
    const judged = reportOf({ image }, { claims: { ...claims!, appProofs: proofsOf(count) } });
    const elements = parsed(await pageOf({ report: judged, evidence: { bootProofs: [] }, notices: [] }));
    return texts(headRows(elements)).map((text) => text.trim());
  };

  it("are those of the app proofs, at most three, and a count of the others", async () => {
    expect(await addressesOf(1)).toEqual(["1 proven address 0x0"]);
    expect(await addressesOf(3)).toEqual(["3 proven addresses 0x0", "0x1", "0x2"]);
    expect(await addressesOf(5)).toEqual(["5 proven addresses 0x0", "0x1", "0x2", "and 2 more"]);
    expect(texts(headRows((await shownPage("an activity")).elements))).toEqual([
      `1 proven address ${LAB_ADDRESS.address}`,
    ]);
  });

  it("are none that only an image states", async () => {
    expect(await addressesOf(3, { pinned: false })).toEqual([]);
    expect(headRows((await shownPage("authentic")).elements)).toEqual([]);
    expect(await addressesOf(0)).toEqual([]);
  });
});

it("shows beside a rejection the check that compared the values, with its advice once", async () => {
  const { elements } = await shownPage("rejected: another release");
  const rows = checksIn(headRows(elements));
  expect(rows.map((row) => texts(classed(childrenOf(row), "id")).join())).toEqual([
    "policy.deployment",
    "policy.pivot",
  ]);
  expect(textOf(rows[1]!)).toMatch(/expected …[0-9a-f]+\[[0-9a-f]{2}\].*actual …[0-9a-f]+\[[0-9a-f]{2}\]/s);
  const forged = checksIn(headRows((await shownPage("rejected: a forged signature")).elements));
  expect(forged.map((row) => texts(classed(childrenOf(row), "id")).join())).toEqual(["cose.signature"]);
});

describe("beside a rejection", () => {
  const failed = (index: number): Check => {
    const detail = `fault ${index}`;
    return { id: "cose.signature", subject: `boot[${index}]`, status: "fail", detail, advice: `advice ${index}` };
  };

  it.each([
    [1, 0, null],
    [2, 1, null],
    [6, 5, null],
    [7, 4, "and 2 more that failed"],
    [40, 4, "and 35 more that failed"],
  ])("of %i failed checks the first has its advice, %i are lines, and none is lost", async (count, listed, more) => {
    const checks = Array.from({ length: count }, (_, index) => failed(index));
    const judged = report({ verdict: "rejected", claims: null, checks });
    const elements = parsed(await pageOf({ report: judged, evidence: { bootProofs: [] }, notices: [] }));
    const line = (index: number): string => `FAIL cose.signature boot[${index}]: fault ${index}`;
    const others = Array.from({ length: listed }, (_, index) => line(index + 1));
    expect(texts(headRows(elements))).toEqual([line(0), "to do advice 0", ...others, ...(more === null ? [] : [more])]);
  });
});

it("takes no word of the evidence for markup, and lets none turn the text around", async () => {
  const { elements, shown } = await shownPage("hostile");
  const all = texts(elements).join("\n");
  expect(shown.report.verdict).toBe("authentic");
  expect(all).toContain(printable(HOSTILE));
  expect(all).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
});

describe("of a report that somebody else made", () => {
  const evidence = { bootProofs: fleet(1).map(({ bootProof }) => bootProof) };
  const pageOfReport = async (rest: Parameters<typeof report>[0]) =>
    parsed(await pageOf({ report: report(rest), evidence, notices: [] }));

  it("an unknown verdict, status and check are shown, and not as good ones", async () => {
    const checks = [{ id: "cose.moon", subject: "boot[0]", status: "splendid", detail: "<b>shines</b>" }] as never;
    const elements = await pageOfReport({ verdict: "splendid" as never, checks });
    expect(textOf(elements.find(({ tagName }) => tagName === "h1")!)).toMatch(/^UNKNOWN/);
    expect(classed(classed(elements, "verdict"), "tone-bad")).toHaveLength(1);
    const items = texts(checksIn(elements));
    expect(items).toEqual([
      "???? cose.moon boot[0]: <b>shines</b>",
      expect.stringContaining("unknown status splendid"),
    ]);
    expect(classed(elements, "tone-good")).toEqual([]);
  });

  it("names that are members of every object are names of nothing", async () => {
    const elements = await pageOfReport({ verdict: "constructor" as never });
    expect(classed(classed(elements, "verdict"), "tone-bad")).toHaveLength(1);
  });

  it("claims of what the evidence does not hold are shown as claims", async () => {
    const elements = parsed(await pageOf({ report: reportOf({}), evidence: { bootProofs: [] }, notices: [] }));
    expect(classed(elements, "evidence").flatMap(items)).toEqual([]);
  });
});
