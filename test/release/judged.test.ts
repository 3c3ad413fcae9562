/** What counts as good: what a demand judged, in a place that is wanted; and how the text shows each release. */
import { describe, expect, it } from "vitest";
import { toHex } from "../../src/bytes.js";
import type { PivotManifest, QuorumMember } from "../../src/decode/manifest/index.js";
import { parsePolicy } from "../../src/appraise/policy.js";
import { checkReleases } from "../../src/release/check.js";
import { type Release, readRelease } from "../../src/release/release.js";
import { renderReleaseCheck } from "../../src/release/text.js";
import { type Files, type LabRelease, changeJson, labFiles, labRelease, operators, setOf } from "./support.js";

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
  return { check, text, statuses: check.releases.map(({ status }) => status) };
}

const inNamespace = (name: string, parts: LabRelease = {}): LabRelease => ({
  ...parts,
  alter: (one) => ({ ...one, namespace: { ...one.namespace, name } }),
});
/** Approved by a member too few. */
const faulty = (version: string, parts: LabRelease = {}): LabRelease => ({ version, approvers: "a", ...parts });

describe("a release older than the policy's minNonce", () => {
  const demand = policyOf({ manifestSet: setOf("abc"), minNonce: 20260200 });

  it("is older: named with its approvers and its changes, and it fails nothing", async () => {
    const { check, text, statuses } = await checked(
      [{ version: "2026.1.0", set: "hij", approvers: "hi" }, { version: "2026.2.0" }],
      demand,
    );
    expect(statuses).toEqual(["older", "good"]);
    expect(check).toMatchObject({ good: true, counts: { good: 1, older: 1, bad: 0 } });
    expect(check.releases[0]!.approvedBy.map(({ alias }) => alias)).toEqual(["h", "i"]);
    expect(check.histories[0]!.steps[0]!.changes.map(({ what }) => what)).toContain("manifest-set.member");
    expect(check.histories[0]!.notAnchored).toEqual(["2026.1.0/signer"]);
    expect(text).toMatch(/^good: 1 good, 1 older\n/);
    expect(text).toContain(
      "A release that is older than every minNonce of the policy is listed, and nothing is demanded of it.\n",
    );
    expect(text).toMatch(
      /^ {2}older {2}2026\.1\.0\/signer, nonce 20260100, .*, approved by h, i \(2 of 3 required\)$/m,
    );
    expect(text).toMatch(/^ {2}good {3}2026\.2\.0\/signer.*\n {4}critical {2}manifest set: member/m);
  });

  it("begins one below minNonce", async () => {
    for (const [minNonce, statuses] of [
      [20260100, ["good"]],
      [20260101, ["older"]],
    ] as const)
      expect((await checked([{}], policyOf({ manifestSet: setOf("abc"), minNonce }))).statuses).toEqual(statuses);
  });

  it("is none where a deployment without minNonce judges it, or one with a lower one", async () => {
    const set = { manifestSet: setOf("abc") };
    for (const other of [set, { ...set, minNonce: 20260100 }])
      expect((await checked([{}], policyOf({ ...set, minNonce: 20260200 }, other))).statuses).toEqual(["good"]);
  });

  it("anchors no later release", async () => {
    const own = { set: "hij", approvers: "hi" };
    const { check, statuses } = await checked(
      [
        { version: "2026.1.0", ...own },
        { version: "2026.2.0", ...own },
        { version: "2026.3.0", ...own },
      ],
      demand,
    );
    expect(statuses).toEqual(["older", "bad", "bad"]);
    expect(check.histories[0]!.faults.map(({ code, release }) => `${code} ${release}`)).toEqual([
      "manifest-set-demanded 2026.2.0/signer",
    ]);
  });

  it("is compared with no other one: a gap between older ones, or a nonce twice, fails nothing", async () => {
    const older = [
      { version: "2026.1.0" },
      { version: "2026.1.1", set: "hij", approvers: "hi" },
      { version: "2026.1.1", set: "def", approvers: "de" },
    ];
    const { check, statuses } = await checked([...older, { version: "2026.2.0" }], demand);
    expect([check.good, statuses]).toEqual([true, ["older", "older", "older", "good"]]);
    expect(check.histories[0]!.faults).toEqual([]);
  });

  it("is not good alone", async () => {
    const { check, text } = await checked([{}], demand);
    expect(check).toMatchObject({ good: false, counts: { good: 0, older: 1 } });
    expect(text).toMatch(/^not good: 1 older\n/);
  });

  it("fails nothing where another application has what the policy judges", async () => {
    const both = policyOf(
      { manifestSet: setOf("abc"), minNonce: 20260200 },
      { namespace: "lab/ump", manifestSet: setOf("abc") },
    );
    const { check } = await checked([{}, { application: "ump" }], both);
    expect(check).toMatchObject({ good: true, counts: { good: 1, older: 1 } });
  });

  it("is bad with a fault of its own", async () => {
    const { check, statuses } = await checked([faulty("2026.1.0"), { version: "2026.2.0" }], demand);
    expect([check.good, statuses]).toEqual([false, ["bad", "good"]]);
  });

  it("is none with the nonce 0, where no minNonce is demanded", async () => {
    const first = readRelease(labFiles({ alter: (one) => ({ ...one, namespace: { ...one.namespace, nonce: 0 } }) }));
    const set = { manifestSet: setOf("abc") };
    for (const other of [NONE, set, policyOf(set)]) expect((await checked([first], other)).statuses).toEqual(["good"]);
  });

  it("is none without a policy", async () => {
    for (const other of [NONE, { manifestSet: setOf("abc") }])
      expect((await checked([{}, { version: "2026.2.0" }], other)).statuses).toEqual(["good", "good"]);
  });
});

describe("what is good was judged", () => {
  const own = { set: "hij", approvers: "hi" };

  it("not by a release that is bad: those after it are not anchored", async () => {
    const { check, text, statuses } = await checked([
      {},
      { version: "2026.2.0", ...own },
      { version: "2026.3.0", ...own },
    ]);
    expect(statuses).toEqual(["good", "bad", "bad"]);
    expect(check.counts).toMatchObject({ good: 1, bad: 2 });
    expect(check.histories[0]!.notAnchored).toEqual(["2026.2.0/signer", "2026.3.0/signer"]);
    expect(text.match(/^ {4}fail +not anchored: /gm)).toHaveLength(1);
    expect(text).toMatch(/2026\.3\.0\/signer.*\n {4}fail +not anchored: too few approvers/);
  });

  it("by the last good release, where one between is bad for itself", async () => {
    const after = { version: "2026.3.0", set: "abcd", approvers: "bc" };
    const { statuses } = await checked([{}, faulty("2026.2.0"), after]);
    expect(statuses).toEqual(["good", "bad", "good"]);
    const theirs = faulty("2026.2.0", { ...own, threshold: 3 });
    const { check } = await checked([{}, theirs, { version: "2026.3.0" }, { version: "2026.4.0" }]);
    expect(check.releases.map(({ status }) => status)).toEqual(["good", "bad", "good", "good"]);
    expect(check.histories[0]!.faults.map(({ release }) => release)).toEqual(["2026.2.0/signer"]);
    expect((await checked([{}, theirs, { version: "2026.3.0", ...own }])).statuses).toEqual(["good", "bad", "bad"]);
  });

  it("never by the set of one with a single fault, which a good set approved", async () => {
    const wider = { version: "2026.2.0", set: "abhij", approvers: "ab" };
    const bad: LabRelease = { ...wider, files: (files) => files.set("x.approval", new Uint8Array()) };
    const after = { version: "2026.3.0", ...own };
    expect((await checked([{}, wider, after])).statuses).toEqual(["good", "good", "good"]);
    expect((await checked([{}, bad, after])).statuses).toEqual(["good", "bad", "bad"]);
  });

  it("by the demanded set, which a release with a fault of its own has to reach, too", async () => {
    const { check } = await checked([faulty("2026.1.0")], { manifestSet: setOf("abc") });
    expect(check.histories[0]!.faults.map(({ code }) => code)).toEqual(["manifest-set-demanded"]);
  });

  it("by the demanded set, where the first release is bad", async () => {
    const demand = { manifestSet: setOf("abc") };
    expect((await checked([faulty("2026.1.0"), { version: "2026.2.0" }], demand)).statuses).toEqual(["bad", "good"]);
    const theirs = [faulty("2026.1.0", own), { version: "2026.2.0", ...own }, { version: "2026.3.0", ...own }];
    expect(
      (
        await checked(
          theirs.map((one) => ({ ...one, threshold: 1 })),
          demand,
        )
      ).statuses,
    ).toEqual(["bad", "bad", "bad"]);
  });

  it("by every set of the policy from its minNonce on, until a good release has reached it", async () => {
    const demand = policyOf({ manifestSet: setOf("abc") }, { manifestSet: setOf("de"), minNonce: 20260200 });
    const set = { set: "abcde", approvers: "ab" };
    const releases = ["2026.1.0", "2026.2.0", "2026.3.0"].map((version) => ({ version, ...set }));
    expect((await checked(releases, demand)).statuses).toEqual(["good", "bad", "bad"]);
    const reached = { version: "2026.4.0", ...set, approvers: "abde" };
    const { statuses } = await checked([...releases, reached, { version: "2026.5.0", ...set }], demand);
    expect(statuses).toEqual(["good", "bad", "bad", "good", "good"]);
  });

  it("of two folders with the same manifest in either order: a bad one hides no good one", async () => {
    const copy = (files: LabRelease["files"] = () => undefined) =>
      readRelease(labFiles({ files }), { application: "signer" });
    const bad = copy((all) => all.delete("a-lab-signer-20260100.approval"));
    for (const order of [
      [bad, labRelease()],
      [labRelease(), bad],
    ]) {
      const { check } = await checked(order, { manifestSet: setOf("abc") });
      expect(check.counts).toMatchObject({ good: 1, bad: 1 });
      expect(check.histories[0]).toMatchObject({ releases: ["2026.1.0/signer"], faults: [] });
    }
    const older = await checked([copy(), {}], policyOf({ manifestSet: setOf("abc"), minNonce: 20260200 }));
    expect(older.statuses).toEqual(["older", "older"]);
    const strangers = await checked([copy(), {}], { manifestSet: setOf("de") });
    expect(strangers.statuses).toEqual(["bad", "bad"]);
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
