/** Which of two deployments accepts more: each answer held against what their comparison with evidence says. */
import { describe, expect, it } from "vitest";
import { ACCEPTED, type AcceptedToo, acceptSame, acceptedToo } from "../../src/appraise/accepted.js";
import type { DeploymentPins } from "../../src/appraise/parsed-policy.js";
import type { DocumentFacts } from "../../src/appraise/facts.js";
import { PIN_NAMES, comparePin } from "../../src/appraise/pins.js";
import { scopeOf } from "../../src/appraise/questions.js";
import type { DeploymentFile } from "../../src/appraise/policy.js";
import { parsePolicy } from "../../src/index.js";
import { DEMAND, policyOf } from "../support/provenance.js";

const A = "aa".repeat(32);
const B = "bb".repeat(32);
const KEY = "0a".repeat(130);
const MEMBERS = ["0b", "0c", "0d"].map((byte) => byte.repeat(130));
const pcr = (byte: string): string => byte.repeat(48);
const PCRS = { "0": pcr("a0"), "1": pcr("a1"), "2": pcr("a2"), "3": pcr("a3") };
const SET = { threshold: 2, members: MEMBERS };

/** A deployment that answers all questions; undefined takes a pin away. */
const BASE: DeploymentFile = { pcrs: PCRS, pivotHash: A, manifestSet: SET, namespace: "n" };

function read(change: DeploymentFile): DeploymentPins {
  const deployment = JSON.parse(JSON.stringify({ ...BASE, ...change })) as DeploymentFile;
  return parsePolicy({ policy: "bootproof/1", deployments: [deployment] }).deployments[0]!;
}

const ALL: AcceptedToo = { extent: "all", narrower: [] };
const part = (...narrower: AcceptedToo["narrower"]): AcceptedToo => ({ extent: "part", narrower });

/** What the one pins, what the other does, and how much of the one the other accepts too. */
const ROWS: readonly (readonly [name: string, one: DeploymentFile, other: DeploymentFile, AcceptedToo | null])[] = [
  ["the same", {}, {}, ALL],
  ["a pin less", { quorumKey: KEY }, {}, ALL],
  ["a pin more", {}, { quorumKey: KEY }, part("quorumKey")],
  ["a value more", {}, { pivotHash: [B, A] }, ALL],
  ["a value less", { pivotHash: [A, B] }, {}, part("pivotHash")],
  ["another value", {}, { pivotHash: B }, null],
  ["another namespace", {}, { namespace: "m" }, null],
  ["an older nonce", { minNonce: 7 }, { minNonce: 6 }, ALL],
  ["a newer nonce", { minNonce: 7 }, { minNonce: 8 }, part("minNonce")],
  ["any nonce, said", {}, { minNonce: 0 }, ALL],
  ["a lower threshold", {}, { manifestSet: { ...SET, threshold: 1 } }, ALL],
  ["a higher threshold", {}, { manifestSet: { ...SET, threshold: 3 } }, part("manifestSet")],
  ["members in another order", {}, { manifestSet: { ...SET, members: MEMBERS.toReversed() } }, ALL],
  ["other members", {}, { manifestSet: { threshold: 2, members: MEMBERS.slice(1) } }, null],
  ["a register less", {}, { pcrs: { "0": PCRS[0], "1": PCRS[1], "2": PCRS[2] } }, ALL],
  ["a register more", {}, { pcrs: { ...PCRS, "4": pcr("a4") } }, part("pcrs")],
  ["an image more", {}, { pcrs: [{ ...PCRS, "0": pcr("b0") }, PCRS] }, ALL],
  ["an image less", { pcrs: [{ ...PCRS, "0": pcr("b0") }, PCRS] }, {}, part("pcrs")],
  ["another image", {}, { pcrs: { ...PCRS, "0": pcr("b0") } }, null],
  ["other arguments", { pivotArgs: ["a"] }, { pivotArgs: [] }, null],
  ["any arguments", { pivotArgs: ["a"] }, {}, ALL],
  ["the same environment, in another order", { pivotEnv: { A: "1", B: "2" } }, { pivotEnv: { B: "2", A: "1" } }, ALL],
  ["another environment", { pivotEnv: { A: "1" } }, { pivotEnv: { A: "2" } }, null],
  ["another commitment", {}, { commitment: "setup" }, null],
  ["fewer labels", { labels: { owner: "o", enclaveApp: "a" } }, { labels: { owner: "o" } }, ALL],
  ["more labels", { labels: { owner: "o" } }, { labels: { owner: "o", enclaveApp: "a" } }, part("labels")],
  ["other labels", { labels: { owner: "o" } }, { labels: { owner: "p" } }, null],
  ["no labels, said", {}, { labels: {} }, ALL],
  ["workloads in place of a pivot", {}, { pivotHash: undefined, workloads: { a: `sha256:${A}` } } as never, null],
  [
    "a digest more of a workload",
    { pivotHash: undefined, workloads: { a: `sha256:${A}` } } as never,
    { pivotHash: undefined, workloads: { a: [`sha256:${A}`, `sha256:${B}`] } } as never,
    ALL,
  ],
  [
    "a workload more",
    { pivotHash: undefined, workloads: { a: `sha256:${A}` } } as never,
    { pivotHash: undefined, workloads: { a: `sha256:${A}`, b: `sha256:${B}` } } as never,
    null,
  ],
  ["any types of app proof", { appProofs: { types: ["X"] } }, {}, ALL],
  ["fewer types of app proof", {}, { appProofs: { types: ["X"] } }, part("appProofs")],
  [
    "legacy without a role, which it leaves open",
    { commitment: "legacy", pcrs: { ...PCRS, "3": [PCRS[3], pcr("00")] }, open: ["application", "operator"] },
    { commitment: "legacy", pcrs: undefined } as never,
    part("open"),
  ],
];

describe.each(ROWS)("a deployment with %s", (_, oneFile, otherFile, expected) => {
  const [one, other] = [read(oneFile), read(otherFile)];

  it("accepts as much of the other as it says", () => {
    expect(acceptedToo(one, other)).toEqual(expected);
    const back = acceptedToo(other, one);
    expect(back === null).toBe(expected === null);
    expect(acceptSame(one, other)).toBe(expected?.extent === "all" && back!.extent === "all");
  });

  it("does so of evidence", () => {
    const meets = (pins: DeploymentPins, facts: DocumentFacts): boolean =>
      PIN_NAMES.every((name) => comparePin(name, pins, facts)?.met !== false) &&
      scopeOf(pins, facts).faults.length === 0;
    const accepted = EVIDENCE.filter((facts) => meets(one, facts));
    const both = accepted.filter((facts) => meets(other, facts));
    expect(accepted.length).toBeGreaterThan(0);
    if (expected?.extent === "all") expect(both.length).toBe(accepted.length);
    else if (expected === null) expect(both).toEqual([]);
    else if (!expected.narrower.includes("appProofs")) expect(both.length).toBeLessThan(accepted.length);
    if (expected?.extent === "part") expect(both.length).toBeGreaterThan(0);
  });
});

/** Every combination of the values that the rows name. */
const EVIDENCE: readonly DocumentFacts[] = (() => {
  const choices = {
    pcr0: [pcr("a0"), pcr("b0")],
    pcr3: [pcr("a3"), pcr("00")],
    pcr4: [pcr("a4"), pcr("b4")],
    application: [
      { pivot: { hash: A, args: ["a"], env: { A: "1", B: "2" } }, workloads: null },
      { pivot: { hash: A, args: [], env: { A: "1" } }, workloads: null },
      { pivot: { hash: B, args: [], env: { A: "2" } }, workloads: null },
      { pivot: null, workloads: { a: A } },
      { pivot: null, workloads: { a: B } },
      { pivot: null, workloads: { a: A, b: B } },
    ],
    namespace: ["n", "m"],
    nonce: [5, 6, 7, 8],
    quorumKey: [KEY, MEMBERS[0]!],
    manifestSet: [SET, { ...SET, threshold: 1 }, { ...SET, threshold: 3 }, { threshold: 2, members: MEMBERS.slice(1) }],
    commitment: ["live", "setup", "legacy"] as const,
    labels: [{ owner: "o", enclaveApp: "a" }, { owner: "o" }, { owner: "p" }],
  };
  let combined: Record<string, unknown>[] = [{}];
  for (const [name, values] of Object.entries(choices))
    combined = combined.flatMap((one) => (values as unknown[]).map((value) => ({ ...one, [name]: value })));
  return combined.map(({ pcr0, pcr3, pcr4, application, ...rest }) => ({
    pcrs: new Map(Object.entries({ ...PCRS, 0: pcr0, 3: pcr3, 4: pcr4 }).map(([index, one]) => [Number(index), one])),
    userData: null,
    publicKey: null,
    bootProof: { manifestHash: B, shareSet: SET, ...(application as object), ...rest },
  })) as unknown as DocumentFacts[];
})();

it("a deployment accepts builds that meet every demand of the other, and of each of its own", () => {
  const other = { ...DEMAND, predicateTypes: "https://spdx.dev/Document" };
  const third = { ...DEMAND, trigger: "push" };
  const of = (...demands: readonly object[]): DeploymentPins => policyOf(...demands).deployments[0]!;
  expect(acceptedToo(of(DEMAND), of(DEMAND))).toEqual(ALL);
  expect(acceptedToo(of(DEMAND, other), of(other, DEMAND))).toEqual(ALL);
  expect(acceptedToo(of(DEMAND, other), of(DEMAND))).toEqual(ALL);
  expect(acceptedToo(of(DEMAND), of(DEMAND, other))).toEqual(part("provenance"));
  expect(acceptedToo(of(DEMAND, other), of(DEMAND, third))).toEqual(part("provenance"));
  expect(acceptSame(of(DEMAND, other), of(DEMAND, third))).toBe(false);
  const turn = (one: DeploymentPins, two: DeploymentPins): string | null =>
    ACCEPTED.provenance.accepts(one.provenance!, two.provenance!);
  expect(turn(of(DEMAND, other), of(DEMAND, third))).toBe("changed");
  expect(turn(of(DEMAND), of(DEMAND, third))).toBe("narrower");
  expect(acceptedToo(of(DEMAND), of(third))).toEqual(part("provenance"));
});
