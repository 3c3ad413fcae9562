/** What counts as good: what a demand judged, in a place that is wanted; and how the text shows each release. */
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import type { PivotManifest, QuorumMember } from "../../src/decode/manifest/index.js";
import { parsePolicy } from "../../src/appraise/policy.js";
import { checkReleases } from "../../src/release/check.js";
import { type Release, readRelease } from "../../src/release/release.js";
import { renderReleaseCheck } from "../../src/release/text.js";
import { approve, manifestHash } from "../../src/lab/qos.js";
import { releasePolicy } from "../../src/release/policy.js";
import {
  type Files,
  type LabRelease,
  approvalFile,
  changeJson,
  labFiles,
  labRelease,
  operators,
  setOf,
} from "./support.js";

const NONE = { noManifestSet: true } as const;
type Demand = Parameters<typeof checkReleases>[1];

const policyOf = (...deployments: object[]) => ({
  policy: parsePolicy({
    policy: "bootproof/1",
    deployments: deployments.map((one, index) => ({ name: `d${index}`, namespace: "lab/signer", ...one })),
  }),
});

async function checked(parts: readonly (LabRelease | Promise<Release>)[], demand: Demand = NONE) {
  const releases = await Promise.all(parts.map((one) => (one instanceof Promise ? one : labRelease(one))));
  const check = await checkReleases(releases, demand);
  const text = renderReleaseCheck(check, { width: 200 });
  expect(text).toMatch(check.good ? /^good: / : /^not good: /);
  return { check, text, releases, statuses: check.releases.map(({ status }) => status) };
}

const inNamespace = (name: string, parts: LabRelease = {}): LabRelease => ({
  ...parts,
  alter: (one) => ({ ...one, namespace: { ...one.namespace, name } }),
});
/** Approved by a member too few. */
const faulty = (version: string, parts: LabRelease = {}): LabRelease => ({ version, approvers: "a", ...parts });

const ABC = { manifestSet: setOf("abc") };
const FROM_SECOND = policyOf({ ...ABC, minNonce: 20260200 });
const OWN = { set: "hij", approvers: "hi" };
const at = (minor: number, parts: LabRelease = {}): LabRelease => ({ version: `2026.${minor}.0`, ...parts });
const placeless = (files?: LabRelease["files"]): Promise<Release> =>
  readRelease(labFiles(files && { files }), { application: "signer" });
const nonceZero = readRelease(labFiles({ alter: (one) => ({ ...one, namespace: { ...one.namespace, nonce: 0 } }) }));
/** The set abc, in which the key of a is another's, who approves. */
const asA = { alias: "a", key: operators("j")[0]!.key };
const anotherKey: LabRelease = {
  approvers: "b",
  alter: ({ manifestSet: { threshold, members }, ...one }) => ({
    ...one,
    manifestSet: { threshold, members: [{ alias: "a", pubKey: asA.key.publicKey }, ...members.slice(1)] },
  }),
  files: (files, manifest) => files.set("a-x.approval", approvalFile(approve(manifestHash(manifest), asA))),
};
/** A good set approved its manifest, and one file of it is none. */
const wider = at(2, { set: "abhij", approvers: "ab" });
const damaged: LabRelease = { ...wider, files: (files) => files.set("x.approval", new Uint8Array()) };
const twoSets = policyOf(ABC, { manifestSet: setOf("de"), minNonce: 20260200 });
const ALL_FIVE = { set: "abcde", approvers: "ab" };
const removed = [at(1), at(2, { set: "abde", approvers: "ab" }), at(3, { set: "de", approvers: "de" })];
const setOfDe = (minNonce: number): Demand => policyOf({ manifestSet: setOf("de"), minNonce });

type Parts = readonly (LabRelease | Promise<Release>)[];
/** Releases, the demand, the status of each, and the faults of their history. */
const STATUSES: Readonly<Record<string, readonly [Parts, Demand, statuses: string, faults?: readonly string[]]>> = {
  "members that change one by one": [
    [
      at(1),
      { version: "2026.1.1", set: "abcd", approvers: "bc" },
      at(2, { set: "bcd", approvers: "cd" }),
      at(10, { set: "cde", approvers: "cd" }),
    ],
    NONE,
    "good, good, good, good",
  ],
  "the threshold of the release before, not its own": [
    [at(1, { set: "abcd", threshold: 3, approvers: "abc" }), at(2, { set: "abcd", threshold: 2, approvers: "ab" })],
    NONE,
    "good, bad",
    ["approvers 2026.2.0/signer"],
  ],
  "keys, not aliases, of the set before": [
    [at(1), at(2, anotherKey)],
    NONE,
    "good, bad",
    ["approvers 2026.2.0/signer"],
  ],
  "the demanded set at the first release, and a chain from there": [removed, ABC, "good, good, good"],
  "a demanded set that the first release does not reach": [
    removed,
    { manifestSet: setOf("de") },
    "bad, bad, good",
    ["manifest-set-demanded 2026.1.0/signer"],
  ],
  "a demanded set of two": [removed, { manifestSet: setOf("ab", 2) }, "good, good, good"],
  "a demanded set, and the last release alone": [
    removed.slice(2),
    ABC,
    "bad",
    ["manifest-set-demanded 2026.3.0/signer"],
  ],
  "the policy's set from the first release on": [removed, policyOf({ ...ABC, minNonce: 20260100 }), "good, good, good"],
  "the policy's set from the last release on": [removed, setOfDe(20260300), "older, older, good"],
  "the policy's set from the second release on, which does not reach it": [
    removed,
    setOfDe(20260200),
    "older, bad, good",
    ["manifest-set-demanded 2026.2.0/signer"],
  ],
  "two sets of the policy, of which one is of the last release": [
    removed,
    policyOf(ABC, { ...ABC, minNonce: 20260300 }),
    "good, good, bad",
    ["manifest-set-demanded 2026.3.0/signer"],
  ],
  "a set of any namespace": [
    removed,
    policyOf({ namespace: undefined, ...ABC, open: ["application"] }),
    "good, good, good",
  ],
  "the minNonce itself": [[at(1)], policyOf({ ...ABC, minNonce: 20260100 }), "good"],
  "one below minNonce, which alone is not good": [[at(1)], policyOf({ ...ABC, minNonce: 20260101 }), "older"],
  "a deployment without minNonce beside one": [[at(1)], policyOf({ ...ABC, minNonce: 20260200 }, ABC), "good"],
  "a lower minNonce beside one": [
    [at(1)],
    policyOf({ ...ABC, minNonce: 20260200 }, { ...ABC, minNonce: 20260100 }),
    "good",
  ],
  "an older release, which anchors no later one": [
    [at(1, OWN), at(2, OWN), at(3, OWN)],
    FROM_SECOND,
    "older, bad, bad",
    ["manifest-set-demanded 2026.2.0/signer"],
  ],
  "a gap between older ones, and a nonce twice, which fail nothing": [
    [at(1), { version: "2026.1.1", ...OWN }, { version: "2026.1.1", set: "def", approvers: "de" }, at(2)],
    FROM_SECOND,
    "older, older, older, good",
  ],
  "an older release beside another application, which the policy judges": [
    [at(1), at(1, { application: "ump" })],
    policyOf({ ...ABC, minNonce: 20260200 }, { namespace: "lab/ump", ...ABC }),
    "older, good",
  ],
  "an older release with a fault of its own": [[faulty("2026.1.0"), at(2)], FROM_SECOND, "bad, good"],
  "the nonce 0 without a set": [[nonceZero], NONE, "good"],
  "the nonce 0 under a set": [[nonceZero], ABC, "good"],
  "the nonce 0 under a policy without minNonce": [[nonceZero], policyOf(ABC), "good"],
  "an earlier release without a set": [[at(1), at(2)], NONE, "good, good"],
  "an earlier release under a set": [[at(1), at(2)], ABC, "good, good"],
  "one between that is bad for itself": [
    [at(1), faulty("2026.2.0"), at(3, { set: "abcd", approvers: "bc" })],
    NONE,
    "good, bad, good",
  ],
  "one between with a set of its own, which judges none": [
    [at(1), faulty("2026.2.0", { ...OWN, threshold: 3 }), at(3), at(4)],
    NONE,
    "good, bad, good, good",
    ["approvers 2026.2.0/signer"],
  ],
  "one between with a set of its own, and another of that set": [
    [at(1), faulty("2026.2.0", { ...OWN, threshold: 3 }), at(3, OWN)],
    NONE,
    "good, bad, bad",
  ],
  "a set that a good one approved": [[at(1), wider, at(3, OWN)], NONE, "good, good, good"],
  "the set of one with a single fault, which a good one approved": [
    [at(1), damaged, at(3, OWN)],
    NONE,
    "good, bad, bad",
  ],
  "the demanded set and a fault of its own": [
    [faulty("2026.1.0")],
    ABC,
    "bad",
    ["manifest-set-demanded 2026.1.0/signer"],
  ],
  "the demanded set after a first release that is bad": [
    [faulty("2026.1.0"), at(2)],
    ABC,
    "bad, good",
    ["manifest-set-demanded 2026.1.0/signer"],
  ],
  "another set after a first release that is bad": [
    [faulty("2026.1.0", OWN), at(2, OWN), at(3, OWN)].map((one) => ({ ...one, threshold: 1 })),
    ABC,
    "bad, bad, bad",
    ["manifest-set-demanded 2026.1.0/signer"],
  ],
  "two sets of the policy, of which one is never reached": [
    [at(1, ALL_FIVE), at(2, ALL_FIVE), at(3, ALL_FIVE)],
    twoSets,
    "good, bad, bad",
    ["manifest-set-demanded 2026.2.0/signer"],
  ],
  "two sets of the policy, which a later one reaches": [
    [at(1, ALL_FIVE), at(2, ALL_FIVE), at(3, ALL_FIVE), at(4, { ...ALL_FIVE, approvers: "abde" }), at(5, ALL_FIVE)],
    twoSets,
    "good, bad, bad, good, good",
    ["manifest-set-demanded 2026.2.0/signer"],
  ],
  "two folders with one manifest that is older": [[placeless(), at(1)], FROM_SECOND, "older, older"],
  "two folders with one manifest of other people": [
    [placeless(), at(1)],
    { manifestSet: setOf("de") },
    "bad, bad",
    ["manifest-set-demanded signer"],
  ],
};

describe("a release is judged by", () => {
  it.each(Object.entries(STATUSES))("%s", async (_, [parts, demand, wanted, faults]) => {
    const { check, statuses, releases } = await checked(parts, demand);
    expect(statuses.join(", ")).toBe(wanted);
    const found = check.histories.flatMap((one) => one.faults.map(({ code, release }) => `${code} ${release}`));
    if (faults !== undefined) expect(found).toEqual(faults);
    expect(check.good).toBe(!statuses.includes("bad") && statuses.includes("good"));
    if (!check.good && demand === NONE) await expect(releasePolicy(releases)).rejects.toThrow(/malformed release/);
  });

  it("the last good one: those after a bad one are not anchored", async () => {
    const { check, text } = await checked([at(1), at(2, OWN), at(3, OWN)]);
    expect(check.counts).toMatchObject({ good: 1, bad: 2 });
    expect(check.histories[0]!.notAnchored).toEqual(["2026.2.0/signer", "2026.3.0/signer"]);
    expect(text.match(/^ {4}fail +not anchored: /gm)).toHaveLength(1);
    expect(text).toMatch(/2026\.3\.0\/signer.*\n {4}fail +not anchored: too few approvers/);
  });

  it("none, where it is older: it is named with its approvers and its changes", async () => {
    const { check, text } = await checked([at(1, OWN), at(2)], FROM_SECOND);
    expect(check).toMatchObject({ good: true, counts: { good: 1, older: 1, bad: 0 } });
    expect(check.releases[0]!.approvedBy.map(({ alias }) => alias)).toEqual(["h", "i"]);
    expect(check.histories[0]!.notAnchored).toEqual(["2026.1.0/signer"]);
    expect(text).toMatch(/^ {2}good {3}2026\.2\.0\/signer.*\n {4}critical {2}manifest set: member/m);
  });

  it("either of two folders with one manifest, in either order: a bad one hides no good one", async () => {
    const bad = placeless((all) => all.delete("a-lab-signer-20260100.approval"));
    for (const order of [
      [bad, at(1)],
      [at(1), bad],
    ]) {
      const { check } = await checked(order, ABC);
      expect(check.counts).toMatchObject({ good: 1, bad: 1 });
      expect(check.histories[0]).toMatchObject({ releases: ["2026.1.0/signer"], faults: [] });
    }
  });
});

describe("namespaces", () => {
  const staging = inNamespace("staging/signer", { version: "2026.1.0", set: "def", approvers: "de" });
  const releases = [{}, staging, { version: "2026.2.0" }];
  const both = { ...NONE, namespaces: ["lab/signer", "staging/signer"] };

  it("two of one folder's name fail unless they are named; then each has its history", async () => {
    const unnamed = await checked(releases);
    expect(unnamed.check.good).toBe(false);
    expect(unnamed.check.histories.flatMap(({ faults }) => faults.map(({ code }) => code))).toContain(
      "other-namespace",
    );
    const { check, statuses } = await checked(releases, both);
    expect([check.good, statuses]).toEqual([true, ["good", "good", "good"]]);
    expect(check.histories.map(({ namespace, releases: names, faults }) => [namespace, names, faults])).toEqual([
      ["lab/signer", ["2026.1.0/signer", "2026.2.0/signer"], []],
      ["staging/signer", ["2026.1.0/signer"], []],
    ]);
  });

  it("every release has to be of a named one", async () => {
    const { check, statuses } = await checked(releases, { ...NONE, namespaces: ["lab/signer"] });
    expect([check.good, statuses]).toEqual([false, ["good", "bad", "good"]]);
    expect(check.releases[1]!.faults).toEqual([
      {
        code: "namespace-demanded",
        file: "2026.1.0/signer/manifest",
        message: 'is a manifest of "staging/signer", which is not one of the demanded namespaces',
      },
    ]);
    const one = await checked([staging], { ...NONE, namespaces: ["staging/signer"] });
    expect(one.check.good).toBe(true);
  });

  it("of the applications that are left by their names only", async () => {
    const other = { application: "ump" };
    const demand = { ...NONE, namespaces: ["lab/signer"] };
    expect((await checked([{}, other], demand)).check.good).toBe(false);
    expect((await checked([{}, other], { ...demand, applications: ["signer"] })).check.good).toBe(true);
    await expect(checked([{}, other], { ...demand, applications: ["ump"] })).rejects.toThrow(
      /lab\/signer: no release of this namespace/,
    );
  });

  it("each judged by the sets of its own deployments; a named one that the policy lacks is an error", async () => {
    const policy = policyOf(
      { manifestSet: setOf("abc"), minNonce: 20260200 },
      { namespace: "staging/signer", manifestSet: setOf("def") },
    );
    const named = { ...policy, namespaces: both.namespaces };
    expect((await checked(releases, named)).statuses).toEqual(["older", "good", "good"]);
    const other = policyOf({ manifestSet: setOf("abc") });
    await expect(checked(releases, { ...other, namespaces: both.namespaces })).rejects.toThrow(/"staging\/signer"/);
    const { statuses } = await checked(releases, { ...other, namespaces: ["lab/signer"] });
    expect(statuses).toEqual(["good", "bad", "good"]);
  });

  it.each<[string, unknown, RegExp]>([
    ["none", [], /namespaces: expected names/],
    ["an empty name", [""], /^options\.namespaces\[0\]: empty$/],
    ["one of two that is not there", ["lab/signer", "lab/sign"], /^malformed release: lab\/sign: no release/],
    ["a part of a name", ["lab"], /lab: no release of this namespace/],
    ["a text", "lab/signer", /^options\.namespaces: expected an array, got a string$/],
  ])("%s is an error", async (_, namespaces, message) => {
    await expect(checked([{}], { ...NONE, namespaces } as never)).rejects.toThrow(message);
  });
});

describe("a release without approvals or manifest", () => {
  const skip = { ...NONE, skipUnapproved: true };
  const good = { version: "2026.2.0" };
  const noManifest = (more: (files: Files) => void = () => undefined): LabRelease => ({
    files: (files) => {
      files.delete("manifest");
      more(files);
    },
  });
  const unapproved = (parts: LabRelease = {}): LabRelease => ({ ...parts, approvers: "" });

  it.each<[string, LabRelease]>([
    ["approvals", unapproved()],
    ["a manifest", noManifest()],
    ["both", unapproved(noManifest())],
  ])("is skipped where only %s are missing", async (_, parts) => {
    const { check, statuses } = await checked([parts, good], skip);
    expect([check.good, statuses]).toEqual([true, ["skipped", "good"]]);
    expect(check.histories.map(({ releases }) => releases)).toEqual([["2026.2.0/signer"]]);
    expect((await checked([parts, good])).statuses).toEqual(["not checked", "good"]);
  });

  it.each<[string, LabRelease, string]>([
    ["a manifest of another application", unapproved(inNamespace("lab/ump")), "namespace"],
    ["a manifest of a namespace that is not named", unapproved(inNamespace("evil/signer")), "namespace-demanded"],
    [
      "a manifest of another nonce",
      unapproved({ alter: (one) => ({ ...one, namespace: { ...one.namespace, nonce: 7 } }) }),
      "nonce",
    ],
    ["a set that is refused", unapproved({ set: "abca" }), "manifest-set"],
    [
      "a manifest.json that is none",
      noManifest((files) => files.set("manifest.json", Buffer.from("{"))),
      "manifest-json",
    ],
    [
      "an approval that is none",
      noManifest((files) => files.set("a-lab-signer-20260100.approval", Buffer.from("{}"))),
      "approval",
    ],
  ])("is not skipped with %s", async (_, parts, code) => {
    const { check, statuses } = await checked([parts, good], { ...skip, namespaces: ["lab/signer"] });
    expect([check.good, statuses]).toEqual([false, ["not checked", "good"]]);
    expect(check.releases[0]!.faults.map((one) => one.code)).toContain(code);
  });
});

describe("releases with one name", () => {
  it("each have their own lines: status, nonce, changes and faults", async () => {
    const place = { application: "signer" };
    const [one, other] = await Promise.all([
      readRelease(labFiles(), place),
      readRelease(labFiles({ version: "2026.2.0", set: "def", approvers: "de" }), place),
    ]);
    expect([one.name, other.name]).toEqual(["signer", "signer"]);
    const { check, text } = await checked([Promise.resolve(other), Promise.resolve(one)]);
    expect(check.releases.map(({ place: at }) => at)).toEqual([
      { history: 0, index: 1 },
      { history: 0, index: 0 },
    ]);
    expect(check.histories[0]!.faults).toMatchObject([{ code: "approvers", release: "signer", index: 1 }]);
    const lines = text.split("\n").slice(4);
    expect(lines[0]).toMatch(/^ {2}good {2}signer, nonce 20260100, .*approved by a, b /);
    expect(lines[1]).toMatch(/^ {2}bad {3}signer, nonce 20260200, .*approved by d, e /);
    expect(lines.filter((line) => line.startsWith("    critical"))).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith("    fail"))).toHaveLength(1);
  });

  it("count once only with the same place, approvals, faults and notes", async () => {
    const files = labFiles();
    const [version, application, approval] = ["2026.1.0", "signer", "a-lab-signer-20260100.approval"];
    const read = (all: Files, place: object = { version, application }) => readRelease(all, place);
    const given = async (other: Promise<Release>) => {
      const { check } = await checked([read(files), other]);
      expect(check.releases.map(({ name }) => name)).toEqual(check.releases.map(() => "2026.1.0/signer"));
      return check.releases.length;
    };
    const changed = (change: (all: Files) => unknown): Promise<Release> => {
      const all: Files = new Map(files);
      change(all);
      return read(all);
    };
    expect(await given(read(files))).toBe(1);
    expect(await given(changed(() => undefined))).toBe(1);
    expect(await given(read(files, { application: "2026.1.0/signer" }))).toBe(2);
    const ofMember = (change: (json: { signature: string; member: QuorumMember }) => unknown) =>
      changed((all) => changeJson(all, approval, change as never));
    expect(await given(ofMember((json) => ({ ...json, signature: "00".repeat(64) })))).toBe(2);
    expect(await given(ofMember((json) => ({ ...json, member: { ...json.member, alias: "a-lab" } })))).toBe(2);
    const pubKey = toHex(operators("j")[0]!.key.publicKey);
    expect(await given(ofMember((json) => ({ ...json, member: { ...json.member, pubKey } })))).toBe(2);
    const renamed = changed((all) => all.set("a-other.approval", all.get(approval)!).delete(approval));
    expect(await given(renamed)).toBe(2);
    expect(await given(changed((all) => all.set("c.approval", new Uint8Array())))).toBe(2);
    expect(await given(changed((all) => all.set("notes.txt", new Uint8Array())))).toBe(2);
    const manifest = labFiles({ set: "abd" }).get("manifest")!;
    expect(await given(changed((all) => all.set("manifest", manifest)))).toBe(2);
  });

  it("and one whose files were not read are listed after the histories", async () => {
    const empty = readRelease([], { version: "2026.1.0", application: "signer" });
    const { text } = await checked([empty, {}]);
    expect(text).toMatch(/^ {2}good {2}2026\.1\.0\/signer, nonce[^]*\n\nnot checked {2}2026\.1\.0\/signer\n/m);
  });
});

describe("two sets of one check", () => {
  const [a, b, c] = operators("abc").map(({ alias, key }) => ({ alias, pubKey: key.publicKey })) as [
    QuorumMember,
    QuorumMember,
    QuorumMember,
  ];
  const pretending = { alias: `a\n${toHex(a.pubKey)} b`, pubKey: a.pubKey };

  it.each<[string, readonly QuorumMember[], readonly QuorumMember[]]>([
    ["an alias", [a, b, c], [a, { ...b, alias: "a" }, c]],
    ["a key", [a, b, c], [a, { ...b, pubKey: a.pubKey }, c]],
    ["what an alias pretends to be", [pretending], [a, { ...a, alias: "b" }]],
  ])("that differ only in %s each have their own faults", async (_, first, second) => {
    const releases = [first, second].map((members, index) => ({
      version: `2026.1.${index}`,
      alter: (one: PivotManifest) => ({ ...one, manifestSet: { threshold: 1, members } }),
    }));
    const { check } = await checked(releases);
    const isRefused = check.releases.map(({ faults }) => faults.some(({ code }) => code === "manifest-set"));
    expect(isRefused).toEqual([false, true]);
  });
});
