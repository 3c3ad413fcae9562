/** Legacy documents: what only an application in the enclave says is not listed as proven. */
import { describe, expect, it } from "vitest";
import { renderEar } from "../../src/formats/index.js";
import type { JsonObject } from "../../src/decode/json.js";
import { verifyEvidence } from "../../src/index.js";
import { headlineFacts } from "../../src/report/facts.js";
import type { Report } from "../../src/report/report.js";
import { isVouchedFor, provenStatements, unprovenWords } from "../../src/report/statements.js";
import { renderSummary } from "../../src/show/text.js";
import { renderText } from "../../src/show/text.js";
import { caveats, unprovenStatements } from "../../src/report/unproven.js";
import { type Alterations, type Judgement, forge, judge, optionsOf } from "../attacks/support.js";
import { bootOf, report } from "./reports.js";

const LEGACY: Alterations = { generation: "legacy" };
const PINS = { pcrs: true, namespace: true };
const pinning =
  (members: readonly string[], more: JsonObject = {}): NonNullable<Judgement["deployments"]> =>
  (all) => {
    const kept = Object.entries(all).filter(([name]) => name in PINS || members.includes(name));
    return [{ ...Object.fromEntries(kept), name: "d", commitment: "legacy", ...more }];
  };

const legacy = forge(LEGACY);
const hash = Buffer.from(legacy.manifestHash).toString("hex");
const judged = (deployments: NonNullable<Judgement["deployments"]>): Promise<Report> => judge(legacy, { deployments });
const OPEN = pinning(["pivotHash", "quorumKey"], { open: ["application"] });
const SAID = /booted with the manifest|application binary|members of its manifest set|ephemeral key|application stated/;

describe("a legacy document", () => {
  it("proves no manifest under a policy that pins neither manifest nor set: its application says it", async () => {
    const made = await judged(OPEN);
    expect([made.verdict, made.claims?.bootProofs[0]?.image.restsOn]).toEqual(["verified", null]);
    expect(provenStatements(made).join("\n")).not.toMatch(SAID);
    expect(provenStatements(made).join("\n")).toContain("The enclave booted the image that measures PCR0");
    const [word, ...others] = unprovenWords(made);
    expect([word?.heading, others]).toEqual(["its application says that", []]);
    for (const part of SAID.source.split("|")) expect(word?.statements.join("\n")).toContain(part);
    expect(renderText(made)).toContain("\nNot proven: its application says that\n");
    expect(headlineFacts(made).lines[0]).toMatch(/namespace "\S+" \(not proven: its application says so\)$/);
    expect(caveats(made).join("\n")).toContain("with any manifest and key");
  });

  it.each<[string, NonNullable<Judgement["deployments"]>, string, RegExp]>([
    ["manifestSet", pinning(["manifestSet"]), "any key, and any manifest that the set approved", /who approves it/],
    ["manifestHash", pinning([], { manifestHash: hash }), "any key", /pins that manifest/],
    ["manifestHash", pinning(["manifestSet"], { manifestHash: hash }), "any key", /pins that manifest/],
  ])("rests on %s where the policy pins it, and every sentence says so", async (pin, deployments, reach, words) => {
    const made = await judged(deployments);
    expect([made.verdict, made.claims?.bootProofs[0]?.image.restsOn]).toEqual(["verified", pin]);
    const booted = provenStatements(made).find((text) => text.includes("booted with the manifest"));
    expect(booted).toMatch(words);
    expect(booted).toContain(`(${pin}), although the legacy document commits to none`);
    expect(unprovenWords(made)).toEqual([]);
    expect(caveats(made).join("\n")).toContain(`could have made this document, with ${reach}`);
    for (const text of [...caveats(made), ...unprovenStatements(made)])
      expect(text).not.toMatch(/any manifest and key/);
  });

  it("rests on nothing without a policy", async () => {
    const made = await judge(legacy, { noPolicy: true });
    expect([made.verdict, made.claims?.bootProofs[0]?.image.restsOn]).toEqual(["authentic", null]);
    expect(unprovenWords(made).map(({ heading }) => heading)).toEqual(["its image, which nothing pins, says that"]);
  });

  it("affirms neither code nor configuration in an EAR", async () => {
    const { report: made } = await verifyEvidence(
      { bootProofs: [legacy.bootProof] },
      { ...optionsOf(legacy, { deployments: OPEN }), bootProofsOnly: true },
    );
    const scoped: Report = {
      ...made,
      checks: made.checks.map((check) => (check.id === "policy.scope" ? { ...check, status: "pass" } : check)),
    };
    const [, body] = (await renderEar(scoped)).split(".");
    const claims = JSON.parse(Buffer.from(body!, "base64url").toString()) as {
      submods: Record<string, Record<string, Record<string, unknown>>>;
    };
    const boot = claims.submods["boot[0]"]!;
    expect(boot["ear_trustworthiness_vector"]).toMatchObject({ executables: 33, configuration: 0 });
    expect(boot["ear_attester_claims"]).toMatchObject({ commitment: "legacy", restsOn: null });
  });
});

it.each([
  ["live", {}, "the key is the one that a live enclave attested"],
  ["legacy", LEGACY, "the key is the one that a legacy document attests; its enclave committed to no key"],
])("app.key says what a %s document is worth", async (kind, alterations, words) => {
  const how = kind === "legacy" ? { deployments: OPEN } : {};
  const made = await judge(forge(alterations), how);
  expect(made.checks.find(({ id }) => id === "app.key")).toMatchObject({ status: "pass", detail: words });
});

it.each([
  ["live", {}],
  ["setup", { generation: "setup", payloads: [] }],
] as [string, Alterations][])("a %s document rests on its commitment", async (kind, alterations) => {
  const made = await judge(forge(alterations), {
    noPolicy: true,
    given: ({ bootProof }) => ({ bootProofs: [bootProof] }),
  });
  expect(made.claims?.bootProofs[0]?.image).toMatchObject({ commitment: kind, restsOn: "commitment" });
});

it("what an application says and what is proven stand apart in one report", () => {
  const claims = {
    bootProofs: [bootOf({}), bootOf({ image: { commitment: "legacy", restsOn: null } })],
    appProofs: [0, 1].map((bootProof) => ({
      bootProof,
      type: "T",
      time: "2026-03-04T05:07:07.000Z",
      payload: {},
      expectation: null,
      answers: null,
    })),
    activity: null,
  };
  const made = report({ claims });
  expect(provenStatements(made).join("\n")).toContain("app[0]: the application of boot[0] stated");
  expect(provenStatements(made).join("\n")).not.toContain("app[1]");
  const [word, ...others] = unprovenWords(made);
  expect([word?.heading, others.length]).toEqual(["its application says that", 0]);
  expect(word?.statements.every((text) => /^(?:boot\[1\]|app\[1\]): /.test(text))).toBe(true);
});

it("a report that does not say what its manifest rests on proves none", () => {
  for (const restsOn of [undefined, "its word"])
    expect(isVouchedFor(bootOf({ image: { restsOn: restsOn as never } }))).toBe(false);
  expect(isVouchedFor(bootOf({ image: { restsOn: null, manifest: null } }))).toBe(true);
  expect(renderSummary(report({}))).toContain('namespace "prod/signer"');
});
