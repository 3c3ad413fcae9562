/** What the package promises to those who import it: its exports, its report, its errors. */
import { describe, expect, it } from "vitest";
import type { Check, CheckStatus } from "../src/checks.js";
import {
  CHECK_ADVICE,
  CHECK_IDS,
  CHECK_TITLES,
  MalformedError,
  NO_POLICY_ANY_ENCLAVE,
  RejectedError,
  type VerifyOptions,
  parsePolicy,
  requireAuthentic,
  requireVerified,
  verifyActivity,
  verifyAppProof,
  verifyAppProofs,
  verifyAttestation,
  verifyBootProof,
  verifyEvidence,
} from "../src/index.js";
import { generateQosKeyPair } from "../src/lab/qos.js";
import type { Report } from "../src/report/report.js";
import { type Given, type Judgement, NOW, forge, judge, lab, optionsOf, put, withActivity } from "./attacks/support.js";
import { REPORT_MEMBERS } from "./report/reports.js";

const whole = forge();
const options = optionsOf(whole);
const authentic = optionsOf(whole, { noPolicy: true });
const bad = forge({
  alterDocument: { signature: (bytes) => bytes.map((byte) => byte ^ 1) },
  alterAppProof: { signature: () => new Uint8Array(64).fill(1) },
  bootProof: put("createdAt", 1),
});

const CHECK_MEMBERS = ["id", "subject", "about", "name", "status", "detail", "expected", "actual", "advice", "stale"];
const STATUSES: readonly CheckStatus[] = ["pass", "fail", "warn", "skip"];

/** Evidence of all kinds, good and bad, for what has to hold of every report. */
const cases: { name: string; how: Judgement; evidence?: typeof whole }[] = [
  { name: "verified", how: {} },
  { name: "authentic", how: { noPolicy: true } },
  { name: "rejected", how: {}, evidence: bad },
  { name: "with an activity", how: { given: withActivity } },
  {
    name: "with an activity and app proofs",
    how: { given: (each) => ({ ...withActivity(each), appProofs: each.appProofs }) },
  },
  { name: "of the image that was given", how: { measurements: { 0: lab.measurements.pcr0 } } },
  { name: "of another image than the one that was given", how: { measurements: { 0: new Uint8Array(48) } } },
  { name: "of a legacy enclave", how: {}, evidence: forge({ generation: "legacy" }) },
  {
    name: "of two boot proofs",
    how: {
      given: (each) => ({
        bootProofs: [each.bootProof, forge({ ephemeralKey: generateQosKeyPair() }).bootProof],
        appProofs: each.appProofs,
      }),
    },
  },
  {
    name: "of two boot proofs, one bad",
    how: {
      given: (each) => ({
        bootProofs: [bad.bootProof, each.bootProof],
        appProofs: [...each.appProofs, ...bad.appProofs],
      }),
    },
  },
  {
    name: "of nothing that is anything",
    how: { given: () => ({ bootProofs: [null, "", {}], appProofs: [1, []], activity: false }) },
  },
];

function expectShape(report: Report): void {
  expect(Object.keys(report)).toEqual(REPORT_MEMBERS);
  expect(report.format).toBe("bootproof-report/1");
  expect(["verified", "authentic", "rejected"]).toContain(report.verdict);
  if (report.validationTime !== null) expect(new Date(report.validationTime).toISOString()).toBe(report.validationTime);
  for (const check of report.checks) {
    expect(CHECK_MEMBERS).toEqual(expect.arrayContaining(Object.keys(check)));
    expect(CHECK_IDS).toContain(check.id);
    expect(STATUSES).toContain(check.status);
    expect(check.subject).toMatch(/^(?:boot\[\d+\]|app\[\d+\]|activity|policy)$/);
    expect(check.detail.trim(), `${check.id} says something`).not.toBe("");
    const compared = [check.expected === undefined, check.actual === undefined];
    // Of what passed the value that is as it has to be; of what failed both sides.
    if (check.status === "pass") expect(compared[0]).toBe(true);
    else expect(compared).toEqual(check.status === "fail" ? [compared[0], compared[0]] : [true, true]);
    const isFailed = check.status === "fail";
    expect([check.advice, check.stale].every((fact) => fact === undefined || isFailed)).toBe(true);
  }
  expect(report.claims === null).toBe(report.verdict === "rejected");
  expect(JSON.parse(JSON.stringify(report))).toEqual(report);
}

/**
 * The subjects in their order, each with all its checks together in the order of the table, once for each boot proof.
 */
function expectOrder(report: Report, bootProofs: number): void {
  const subjects = report.checks
    .map(({ subject }) => subject)
    .filter((subject, index, all) => subject !== all[index - 1]);
  const rank = (subject: string): number =>
    [/^boot/, /^app/, /^activity/, /^policy/].findIndex((pattern) => pattern.test(subject));
  const number = (subject: string): number => Number(/\d+/.exec(subject)?.[0] ?? 0);
  expect(subjects).toEqual([...subjects].sort((a, b) => rank(a) - rank(b) || number(a) - number(b)));
  expect(new Set(subjects).size).toBe(subjects.length);
  for (const subject of subjects) {
    const positions = report.checks.filter((check) => check.subject === subject).map(({ id }) => CHECK_IDS.indexOf(id));
    const turns = positions.filter((position, index) => index > 0 && position <= positions[index - 1]!).length;
    expect(turns, `${subject} is in the order of the table`).toBe(subject === "policy" ? bootProofs - 1 : 0);
  }
}

/** No case has a request that asks for a signature. */
const idsOfRoom = (room: string): string[] =>
  CHECK_IDS.filter((id) => id.startsWith(`${room}.`) && id !== "activity.signature");
const ROOMS = ["boot", "cose", "doc", "chain", "manifest", "envelope", "bind", "mode"];
/** Whoever gave no image is told of none. */
const bootIds = ({ measurements }: Judgement): string[] =>
  ROOMS.flatMap(idsOfRoom).filter((id) => id !== "bind.image" || measurements !== undefined);

describe("a report", () => {
  it.each(cases)("$name has its shape", async ({ how, evidence = whole }) => {
    const report = await judge(evidence, how);
    const given: Given = how.given?.(evidence) ?? { bootProofs: [evidence.bootProof] };
    expectShape(report);
    expectOrder(report, given.bootProofs.length);
  });

  it.each(cases)("$name has every check of every subject once", async ({ how, evidence = whole }) => {
    const report = await judge(evidence, how);
    const given: Given = how.given?.(evidence) ?? { bootProofs: [evidence.bootProof], appProofs: evidence.appProofs };
    const of = (subject: string): string[] =>
      report.checks.filter((check) => check.subject === subject).map(({ id }) => id);
    given.bootProofs.forEach((_, index) => expect(of(`boot[${index}]`)).toEqual(bootIds(how)));
    const apps = new Set(report.checks.map(({ subject }) => subject).filter((subject) => subject.startsWith("app")));
    for (const subject of apps) expect(of(subject)).toEqual(idsOfRoom("app"));
    expect(of("activity")).toEqual(given.activity === undefined ? [] : idsOfRoom("activity"));
    const ofAll = ["policy.current", "policy.app-proof"];
    const deployment = idsOfRoom("policy").filter((id) => !ofAll.includes(id));
    expect(of("policy")).toEqual(
      how.noPolicy === true ? [] : [...given.bootProofs.flatMap(() => deployment), ...ofAll],
    );
  });

  it("of a bare document has the checks of a document, and of the policy", async () => {
    const { report } = await verifyAttestation(
      whole.document,
      optionsOf(whole, { deployments: (all) => [{ kind: "nitro", pcrs: all["pcrs"]! }] }),
    );
    expectShape(report);
    expectOrder(report, 1);
    const expected = [...["cose", "doc", "chain"].flatMap(idsOfRoom), "mode.debug", ...idsOfRoom("policy")];
    expect(report.checks.map(({ id }) => id)).toEqual(expected);
  });

  it("names the policy, and null where it has no name or there is none", async () => {
    expect((await judge(whole)).policy).toBe("lab");
    expect((await judge(whole, { noPolicy: true })).policy).toBeNull();
    const unnamed = {
      policy: "bootproof/1",
      trustAnchors: [{ pem: whole.anchorPem }],
      deployments: [{ manifestHash: "ab".repeat(32) }],
    };
    expect(
      (await verifyBootProof(whole.bootProof, { policy: parsePolicy(unnamed), now: NOW })).report.policy,
    ).toBeNull();
  });

  it("names the time that certificates were held against", async () => {
    expect((await judge(whole)).validationTime).toBe("2026-03-04T05:06:07.000Z");
    expect((await judge(whole, { validAt: "now" })).validationTime).toBe(NOW.toISOString());
    const instant = new Date("2026-03-04T05:06:08.009Z");
    expect((await judge(whole, { validAt: instant })).validationTime).toBe("2026-03-04T05:06:08.009Z");
    expect((await verifyBootProof({}, options)).report.validationTime).toBeNull();
  });

  it("claims no label: they are the service's word", async () => {
    const labelled = forge({
      bootProof: (proof) => ({ ...proof, enclaveApp: "LABEL-1", owner: "LABEL-2", deploymentLabel: "LABEL-3" }),
    });
    const { claims } = await judge(labelled, { noPolicy: true });
    expect(JSON.stringify(claims)).not.toContain("LABEL-");
  });
});

describe("a verdict", () => {
  it("is that of all evidence together: one bad app proof rejects it", async () => {
    const changed = { ...whole.appProofs[0], proofPayload: "{}" };
    const { report, appProofs } = await verifyAppProofs(
      [whole.appProofs[0], changed, whole.appProofs[0]],
      [whole.bootProof],
      options,
    );
    expect(report.verdict).toBe("rejected");
    expect(appProofs.map((proof) => proof !== null)).toEqual([true, false, true]);
  });
});

describe("the verbs", () => {
  it("are one verification, asked for in parts", async () => {
    const { report } = await verifyEvidence({ bootProofs: [whole.bootProof], appProofs: whole.appProofs }, options);
    expect((await verifyAppProof(whole.appProofs[0], whole.bootProof, options)).report).toEqual(report);
    expect((await verifyAppProofs(whole.appProofs, [whole.bootProof], options)).report).toEqual(report);
    const alone = await verifyBootProof(whole.bootProof, options);
    const asked = { ...options, bootProofsOnly: true };
    expect(alone.report).toEqual((await verifyEvidence({ bootProofs: [whole.bootProof] }, asked)).report);
    const activity = await verifyActivity(whole.activity, [whole.bootProof], options);
    expect(activity.report).toEqual(
      (await verifyEvidence({ bootProofs: [whole.bootProof], activity: whole.activity }, options)).report,
    );
    expect(activity.activity!.appProofs).toEqual(activity.appProofs);
  });
});

describe("options", () => {
  const evidence = { bootProofs: [whole.bootProof] };
  const verbs: [name: string, run: (asked: VerifyOptions) => Promise<unknown>][] = [
    ["verifyEvidence", (asked) => verifyEvidence(evidence, asked)],
    ["verifyBootProof", (asked) => verifyBootProof(whole.bootProof, asked)],
    ["verifyAppProof", (asked) => verifyAppProof(whole.appProofs[0], whole.bootProof, asked)],
    ["verifyAppProofs", (asked) => verifyAppProofs(whole.appProofs, [whole.bootProof], asked)],
    ["verifyActivity", (asked) => verifyActivity(whole.activity, [whole.bootProof], asked)],
    ["verifyAttestation", (asked) => verifyAttestation(whole.document, asked)],
  ];
  const withoutPolicy = { now: NOW };
  const wrong: [name: string, asked: unknown][] = [
    ["no options", undefined],
    ["no policy", withoutPolicy],
    ["a policy that is undefined", { ...withoutPolicy, policy: undefined }],
    ["a policy that is null", { ...withoutPolicy, policy: null }],
    ["a policy that is false", { ...withoutPolicy, policy: false }],
    ["a policy that is a text", { ...withoutPolicy, policy: "policy.json" }],
    ["a policy that is any symbol", { ...withoutPolicy, policy: Symbol("no policy: any enclave of anybody") }],
    ["a policy that is an empty object", { ...withoutPolicy, policy: {} }],
    [
      "a policy file that was not parsed",
      { ...withoutPolicy, policy: { policy: "bootproof/1", deployments: [{ pivotHash: "ab".repeat(32) }] } },
    ],
    ["trust anchors beside a policy", { ...options, trustAnchors: authentic.trustAnchors }],
    ["no present", { ...authentic, now: undefined }],
    ["a present that is a number", { ...authentic, now: NOW.getTime() }],
    ["a present that is a text", { ...authentic, now: NOW.toISOString() }],
    ["a present that is not a date", { ...authentic, now: new Date(Number.NaN) }],
    ["a moment that is not a date", { ...authentic, at: new Date("x") }],
    ["a moment that is another word", { ...authentic, at: "today" }],
    ["a moment that is null", { ...authentic, at: null }],
  ];

  it.each(verbs.flatMap(([verb, run]) => wrong.map(([name, asked]) => [verb, name, run, asked] as const)))(
    "%s refuses %s",
    async (_verb, _name, run, asked) => {
      await expect(run(asked as VerifyOptions)).rejects.toBeInstanceOf(TypeError);
    },
  );

  it("have a word for no policy that says what it means, and is no other value", () => {
    expect(typeof NO_POLICY_ANY_ENCLAVE).toBe("symbol");
    expect(String(NO_POLICY_ANY_ENCLAVE)).toContain("any enclave of anybody");
    expect(Symbol.keyFor(NO_POLICY_ANY_ENCLAVE)).toBeUndefined();
  });

  it("with the key that was asked for hold it against each boot proof", async () => {
    const other = generateQosKeyPair();
    const second = forge({ ephemeralKey: other });
    const asked = { ...options, ephemeralKey: lab.ephemeralKey.publicKey };
    expect((await verifyBootProof(whole.bootProof, asked)).report.verdict).toBe("verified");
    const { report } = await verifyEvidence({ bootProofs: [whole.bootProof, second.bootProof] }, asked);
    expect(
      report.checks.filter(({ status }) => status === "fail").map(({ subject, id }) => `${subject} ${id}`),
    ).toEqual(["boot[1] bind.key"]);
  });
});

describe("requireVerified and requireAuthentic", () => {
  const rejectionOf = (demand: (report: Report) => void, report: Report): RejectedError => {
    try {
      demand(report);
    } catch (error) {
      expect(error).toBeInstanceOf(RejectedError);
      return error as RejectedError;
    }
    throw new Error("not refused");
  };

  it.each([
    ["requireVerified", requireVerified],
    ["requireAuthentic", requireAuthentic],
  ] as const)("%s throws an error that carries every failed check", async (_, demand) => {
    const report = await judge(bad, { noPolicy: true });
    const error = rejectionOf(demand, report);
    const failed: readonly Check[] = report.checks.filter(({ status }) => status === "fail");
    expect(failed.length).toBeGreaterThanOrEqual(3);
    expect(error.failures).toEqual(failed);
    expect(error.report).toBe(report);
    expect(error).toMatchObject({ name: "RejectedError", code: "rejected" });
    for (const { id, subject, detail } of failed) expect(error.message).toContain(`${subject} ${id}: ${detail}`);
  });

  it("requireVerified refuses what is authentic only, and says why", async () => {
    const report = await judge(whole, { noPolicy: true });
    const error = rejectionOf(requireVerified, report);
    expect(error.failures).toEqual([]);
    expect(error.message).toContain("no policy was given");
    expect(error.report).toBe(report);
  });
});

describe("the exports", () => {
  it("have every check's title and advice", () => {
    expect(Object.keys(CHECK_TITLES)).toEqual([...CHECK_IDS]);
    expect(Object.keys(CHECK_ADVICE)).toEqual([...CHECK_IDS]);
    expect(new Set(Object.values(CHECK_TITLES)).size).toBe(CHECK_IDS.length);
  });

  it("have errors that are told apart by class and code", () => {
    const error = new MalformedError("policy", [
      { path: "a.b", message: "wrong" },
      { path: "", message: "bad" },
    ]);
    expect(error).toMatchObject({
      name: "MalformedError",
      code: "policy",
      message: "malformed policy: a.b: wrong; bad",
    });
    expect(error).not.toBeInstanceOf(RejectedError);
  });
});
