/** What review compares since the previous manifest: everything that `diff` shows and no pin decides. */
import { describe, expect, it } from "vitest";
import {
  MANIFEST_VERSIONS,
  type Manifest,
  type PivotManifest,
  type WorkloadManifest,
} from "../../src/decode/manifest/index.js";
import type { JsonObject } from "../../src/decode/json.js";
import { encodeEnvelope, encodeManifest } from "../../src/lab/qos.js";
import { reviewManifest } from "../../src/review/review.js";
import { renderReview } from "../../src/review/text.js";
import {
  KEY,
  PROXY,
  type Pinned,
  SIGNER,
  V3,
  before,
  bytesOf,
  codesOf,
  deploymentOf,
  loose,
  made,
  policyOf,
  since,
  withNonce,
} from "./support.js";

const V0 = made("v0") as PivotManifest;
const TAIL = made("v0-tail") as PivotManifest;
const V1 = made("v1") as PivotManifest;
const V2 = made("v2") as PivotManifest;
const withEnv = (env: Record<string, string>): PivotManifest => ({
  ...V2,
  pivot: { ...V2.pivot, env: new Map(Object.entries(env)) },
});
const withWorkloads = (...workloads: WorkloadManifest["workloads"]): WorkloadManifest => ({ ...V3, workloads });
const without = <M extends Manifest>(manifest: M, name: keyof PivotManifest | keyof WorkloadManifest): M =>
  Object.fromEntries(Object.entries(manifest).filter(([member]) => member !== name)) as unknown as M;
const unpinned = (manifest: Manifest, ...names: string[]): Pinned =>
  Object.fromEntries(Object.entries(deploymentOf(manifest)).filter(([name]) => !names.includes(name)));

/** `accepts`: the names of the open members; `values`: of both sides, null where a member is not there. */
type Attack = readonly [
  name: string,
  previous: Manifest,
  manifest: Manifest,
  accepts: readonly string[],
  values: readonly (readonly [before: unknown, after: unknown])[],
  unpinned?: readonly string[],
];

const NO_KEY = JSON.stringify([]);
const mounted = JSON.stringify([{ mountPath: "/run/key", readOnly: true, source: "/qos.quorum.key", type: "file" }]);
const ATTACKS: readonly Attack[] = [
  [
    "a variable that is removed",
    withEnv({ LOG: "info", REQUIRE_AUTH: "1" }),
    withEnv({ LOG: "info" }),
    ["env"],
    [['{"LOG":"info","REQUIRE_AUTH":"1"}', '{"LOG":"info"}']],
    ["pivotEnv"],
  ],
  [
    "all variables removed",
    withEnv({ REQUIRE_AUTH: "1" }),
    { ...V2, pivot: without(V2.pivot as never, "env" as never) },
    ["env"],
    [['{"REQUIRE_AUTH":"1"}', null]],
    ["pivotEnv"],
  ],
  ["dns removed", V2, without(V2, "dns"), ["dns"], [['{"resolvers":["169.254.169.253","fd00:ec2::253"]}', null]]],
  ["dns added", without(V2, "dns"), V2, ["dns"], [[null, '{"resolvers":["169.254.169.253","fd00:ec2::253"]}']]],
  [
    "resolvers in another order",
    V2,
    { ...V2, dns: { resolvers: [...V2.dns!.resolvers].reverse() } },
    ["dns"],
    [[expect.stringContaining('["169'), expect.stringContaining('["fd00')]],
  ],
  [
    "bridges in another order",
    V2,
    { ...V2, pivot: { ...V2.pivot, bridgeConfig: [...V2.pivot.bridgeConfig!].reverse() } },
    ["bridgeConfig"],
    [[expect.stringMatching(/server.*client/), expect.stringMatching(/client.*server/)]],
  ],
  [
    "arguments in another order",
    { ...V1, pivot: { ...V1.pivot, args: ["-a", "-b"] } },
    { ...V1, pivot: { ...V1.pivot, args: ["-b", "-a"] } },
    ["args"],
    [['["-a","-b"]', '["-b","-a"]']],
    ["pivotArgs"],
  ],
  [
    "a workload that is dropped",
    V3,
    withWorkloads(SIGNER),
    ["workloads.proxy.restart", "workloads.proxy.mounts", "workloads.proxy"].map(lastOrWhole),
    [
      ['"always"', null],
      [NO_KEY, null],
      [`"${"07".repeat(32)}"`, null],
    ],
    ["workloads"],
  ],
  [
    "a workload that is dropped, and pinned",
    V3,
    withWorkloads(SIGNER),
    ["restart", "mounts"],
    [
      ['"always"', null],
      [NO_KEY, null],
    ],
  ],
  [
    "a pinned workload that is added, with the key",
    withWorkloads(SIGNER),
    withWorkloads(SIGNER, { ...PROXY, mounts: [KEY] }),
    ["restart", "mounts"],
    [
      [null, '"always"'],
      [null, mounted],
    ],
  ],
  [
    "two pinned workloads that swap all but their names, so that the other program has the key",
    V3,
    withWorkloads({ ...PROXY, mounts: [KEY] }, { ...SIGNER, mounts: [] }),
    ["workloads.proxy.mounts", "workloads.signer.mounts", "workloads"],
    [
      [NO_KEY, mounted],
      [mounted, NO_KEY],
      ['["signer","proxy"]', '["proxy","signer"]'],
    ],
  ],
  [
    "two workloads in another order",
    V3,
    withWorkloads(PROXY, SIGNER),
    ["workloads"],
    [['["signer","proxy"]', '["proxy","signer"]']],
  ],
  [
    "two workloads in another order, one with another image",
    V3,
    withWorkloads({ ...PROXY, imageDigest: new Uint8Array(32).fill(8) }, SIGNER),
    ["workloads.proxy", "workloads"],
    [
      [`"${"07".repeat(32)}"`, `"${"08".repeat(32)}"`],
      ['["signer","proxy"]', '["proxy","signer"]'],
    ],
    ["workloads"],
  ],
  [
    "mounts of two workloads",
    V3,
    withWorkloads({ ...SIGNER, mounts: [] }, { ...PROXY, mounts: [KEY] }),
    ["workloads.signer.mounts", "workloads.proxy.mounts"],
    [
      [mounted, NO_KEY],
      [NO_KEY, mounted],
    ],
  ],
  ["mounts of one workload", V3, withWorkloads({ ...SIGNER, mounts: [] }, PROXY), ["mounts"], [[mounted, NO_KEY]]],
  [
    "a downgrade from v1 to v0",
    V1,
    V0,
    ["bridgeConfig", "version"],
    [
      [expect.stringContaining("server"), null],
      ['"v1"', '"v0"'],
    ],
  ],
  [
    "a downgrade without bridges",
    { ...V1, pivot: { ...V1.pivot, bridgeConfig: [] } },
    V0,
    ["bridgeConfig", "version"],
    [
      ["[]", null],
      ['"v1"', '"v0"'],
    ],
  ],
  [
    "an upgrade from v0 to v1",
    V0,
    V1,
    ["bridgeConfig", "version"],
    [
      [null, expect.stringContaining("server")],
      ['"v0"', '"v1"'],
    ],
  ],
  [
    "members of a tail that are null, where there was no tail",
    V0,
    { ...TAIL, clientTimeoutMs: null },
    ["version", "clientTimeoutMs", "poolSize"],
    [
      ['"v0"', '"v0-tail"'],
      [null, "null"],
      [null, "null"],
    ],
  ],
  [
    "a tail that is removed, with members that are null",
    { ...TAIL, clientTimeoutMs: null },
    V0,
    ["version", "clientTimeoutMs", "poolSize"],
    [
      ['"v0-tail"', '"v0"'],
      ["null", null],
      ["null", null],
    ],
  ],
  [
    "numbers of a tail that become null, and the other way round",
    TAIL,
    { ...TAIL, clientTimeoutMs: null, poolSize: 0 },
    ["clientTimeoutMs", "poolSize"],
    [
      ["5000", "null"],
      ["null", "0"],
    ],
  ],
  [
    "another alias in both sets, which no pin has",
    V2,
    { ...V2, manifestSet: otherAlias(V2.manifestSet), shareSet: otherAlias(V2.shareSet) },
    ["manifestSet", "shareSet"],
    [
      [expect.stringContaining('"alice"'), expect.stringContaining('"mallory"')],
      [expect.any(String), expect.stringContaining('"mallory"')],
    ],
  ],
  [
    "a patch set that is removed with everything of v1",
    V1,
    V2,
    ["version", "env", "patchSet", "dns"],
    [
      [null, '{"LOG_LEVEL":"info"}'],
      ['"v1"', '"v2"'],
      [expect.stringContaining("threshold"), null],
      [null, expect.stringContaining("169.254")],
    ],
    ["pivotEnv"],
  ],
];

/** The plain name of a member, since only one workload changes it. */
function lastOrWhole(place: string): string {
  const [list, , member] = place.split(".");
  return member ?? list!;
}

function otherAlias({ threshold, members: [first, ...rest] }: Manifest["manifestSet"]): Manifest["manifestSet"] {
  return { threshold, members: [{ ...first!, alias: "mallory" }, ...rest] };
}

const sorted = (names: readonly string[]): string[] => [...names].sort();

describe("an attack", () => {
  it.each(ATTACKS.map((row) => [row[0], row] as const))(
    "%s: refused with both values, and good where every name is accepted",
    async (_, [, previous, manifest, accepts, values, pins = []]) => {
      const policy = unpinned(manifest, ...pins);
      const bad = await since(previous, manifest, [], policy);
      expect(bad.ok).toBe(false);
      expect(new Set(bad.faults.map(({ code }) => code))).toEqual(new Set(["open-member"]));
      const open = bad.members.filter(({ status }) => status === "open");
      expect(sorted(open.map(({ name }) => name))).toEqual(sorted(accepts));
      expect(bad.faults.map(({ about, expected, actual }) => [about, expected, actual])).toEqual(
        open.map(({ place, before: was, after }) => [place, was, after]),
      );
      for (const [was, is] of values)
        expect(bad.faults).toContainEqual(expect.objectContaining({ expected: was, actual: is }));
      expect(bad.faults).toHaveLength(values.length);
      const text = renderReview(bad).replaceAll(/\s+/g, "");
      expect(text).toContain("DONOTAPPROVE");
      for (const { name, place, before: was, after } of open) {
        const sides = `${place}(--accept${name})before${was ?? "(notthere)"}after${after ?? "(notthere)"}`;
        expect(text).toContain(sides.replaceAll(/\s+/g, ""));
      }
      const good = await since(previous, manifest, accepts, policy);
      expect([codesOf(good), good.ok]).toEqual([[], true]);
      for (const left of accepts) {
        const some = await since(
          previous,
          manifest,
          accepts.filter((name) => name !== left),
          policy,
        );
        expect(some.faults.filter(({ code }) => code === "open-member")).toHaveLength(1);
      }
    },
  );
});

describe("no change", () => {
  it.each(MANIFEST_VERSIONS)("%s with a higher nonce and every set in another order", async (version) => {
    const manifest = made(version);
    const reversed = <T extends { readonly members: readonly unknown[] }>(set: T): T => ({
      ...set,
      members: [...set.members].reverse(),
    });
    const { patchSet } = manifest as PivotManifest;
    const next = {
      ...manifest,
      manifestSet: reversed(manifest.manifestSet),
      shareSet: reversed(manifest.shareSet),
      ...(patchSet && { patchSet: reversed(patchSet) }),
    } as Manifest;
    const good = await since(manifest, withNonce(next, 99), [], loose(manifest));
    expect(codesOf(good)).toEqual([]);
    expect(good.changes!.map(({ what }) => what)).toEqual(expect.arrayContaining(["manifest.nonce", "order"]));
    expect(good.members.every(({ status, after }) => status === "unchanged" && after !== null)).toBe(true);
  });

  it("volumes and variables in another order", async () => {
    const [a, b] = [["a", "1"] as const, ["b", "2"] as const].map(([name, text]) => ({ [name]: text }));
    const good = await since(withEnv({ ...a!, ...b! }), withEnv({ ...b!, ...a! }), [], unpinned(V2, "pivotEnv"));
    expect(codesOf(good)).toEqual([]);
  });
});

describe("names of accept", () => {
  const changed = withWorkloads({ ...SIGNER, mounts: [] }, { ...PROXY, mounts: [KEY] });
  const one = withWorkloads({ ...SIGNER, mounts: [] }, PROXY);

  it("the plain name of a member of two workloads accepts neither", async () => {
    const bad = await since(V3, changed, ["mounts"]);
    expect(codesOf(bad)).toEqual([
      "open-member workloads.signer.mounts",
      "open-member workloads.proxy.mounts",
      "unused-accept mounts",
    ]);
    expect(bad.faults.at(-1)!.message).toContain(
      "what can be accepted: workloads.signer.mounts, workloads.proxy.mounts",
    );
  });

  it("the full name is taken where the plain one would do", async () => {
    expect(codesOf(await since(V3, one, ["workloads.signer.mounts"]))).toEqual([]);
    const bad = await since(V3, one, ["workloads.proxy.mounts"]);
    expect(codesOf(bad)).toEqual(["open-member workloads.signer.mounts", "unused-accept workloads.proxy.mounts"]);
    expect(bad.faults[1]!.message).toMatch(/; what can be accepted: mounts$/);
  });

  it("version: only with a previous manifest", async () => {
    const alone = await reviewManifest(bytesOf(V0), {
      policy: policyOf(deploymentOf(V0)),
      accept: ["restart", "qosCommit", "patchSet", "version"],
    });
    expect(codesOf(alone)).toEqual(["unused-accept version"]);
    expect(alone.faults[0]!.message).toContain("what can be accepted: restart, qosCommit, patchSet");
    const same = await since(V0, V0, ["version"]);
    expect(same.faults.map(({ message }) => message)).toEqual([expect.stringContaining("nothing can be accepted")]);
  });

  it("the pivot's own name stays, where a workload has the same", async () => {
    const both = (await since(V2, V3)).members.filter(
      ({ status, place }) => status === "open" && /restart/.test(place),
    );
    expect(both.map(({ name }) => name)).toEqual(["restart", "workloads.signer.restart", "workloads.proxy.restart"]);
    const accepted = (await since(V2, V3, ["restart"])).members.filter(({ status }) => status === "accepted");
    expect(accepted.map(({ place }) => place)).toEqual(["pivot.restart"]);
  });

  it.each([
    "my.workloads.signer",
    "workloads.signer.name",
    "workloads.Signer",
    "workloads.a.mounts.b",
    "workloads.",
    "pivot.env",
    "toString",
  ])("%s is not a name", async (name) => {
    await expect(since(V3, one, [name])).rejects.toThrow(/is unknown; known are namespace.*workloads\.NAME\.mounts/);
  });
});

it("an open member that is removed reads well", async () => {
  const removed = { ...V2, pivot: { ...V2.pivot, env: new Map() } };
  const text = renderReview(await since(without(V2, "dns"), V2, ["dns"]));
  expect(text).toContain('  accepted   dns\n    before  (not there)\n    after   {"resolvers":');
  const open = renderReview(await since(V2, without(removed, "dns"), [], unpinned(V2, "pivotEnv")), { width: 120 });
  expect(open).toContain(
    '  open       dns (--accept dns)\n    before  {"resolvers":["169.254.169.253","fd00:ec2::253"]}\n' +
      "    after   (not there)\n",
  );
  expect(open).toContain("FAIL  no pin holds dns, which changed (open-member)");
});

describe("files that say more than the manifest", () => {
  const json = (manifest: Manifest, more: JsonObject): Uint8Array =>
    encodeManifest(manifest, { encoding: "json", alterJson: (one) => ({ ...one, ...more }) });

  it("a member that no approval signs is a note, with both values", async () => {
    const review = await reviewManifest(json(V1, { unknown: "b", more: 1 }), {
      policy: policyOf(deploymentOf(V1)),
      previous: json(before(V1), { unknown: "a" }),
    });
    expect(codesOf(review)).toEqual([]);
    expect(review.notes).toEqual([
      "differences of the files that no approval signs: unknown (a before, b now); more ((not there) before, 1 now)",
    ]);
    expect(review.changes!.map(({ what }) => what)).toEqual(["manifest.nonce"]);
  });

  it("and so is one that is gone, also of an envelope; Borsh has none", async () => {
    const envelope = (manifest: Manifest, more: JsonObject): Uint8Array =>
      encodeEnvelope(
        { manifest, manifestSetApprovals: [], shareSetApprovals: [] },
        {
          encoding: "json",
          alterJson: (one) => ({ ...one, manifest: { ...(one["manifest"] as JsonObject), ...more } }),
        },
      );
    const policy = policyOf(deploymentOf(V1));
    const previous = envelope(before(V1), { unknown: "a" });
    const gone = await reviewManifest(envelope(V1, {}), { policy, previous });
    expect(gone.notes).toEqual([expect.stringContaining("unknown (a before, (not there) now)")]);
    const borsh = await reviewManifest(encodeManifest(V1, { encoding: "borsh" }), { policy, previous });
    expect([codesOf(borsh), borsh.notes]).toEqual([[], []]);
    const other = await reviewManifest(bytesOf(V1), {
      policy,
      previous: encodeManifest(before(V1), { encoding: "borsh" }),
    });
    expect([codesOf(other), other.notes]).toEqual([[], []]);
  });

  it("versions are spelled in their own ways: no note", async () => {
    expect((await since(V1, V2)).notes).toEqual([]);
  });

  it("JSON that is both an envelope and a manifest is refused", async () => {
    const inside = JSON.parse(Buffer.from(bytesOf(V1)).toString()) as JsonObject;
    const both = json(V1, { manifest: inside, manifestSetApprovals: [], shareSetApprovals: [] });
    const policy = policyOf(deploymentOf(V1));
    await expect(reviewManifest(both, { policy })).rejects.toThrow(/both a manifest and an envelope/);
    await expect(reviewManifest(bytesOf(V1), { policy, previous: both })).rejects.toThrow(/previous: ambiguous/);
  });
});

it("all of more than a thousand changes are compared", async () => {
  const members = Array.from({ length: 1001 }, (_, index) => ({
    alias: "a",
    pubKey: new Uint8Array(130)
      .fill(4)
      .with(1, index >> 8)
      .with(2, index & 255),
  }));
  const shareSet = { threshold: 2, members };
  const renamed = { threshold: 2, members: members.map((member) => ({ ...member, alias: "b" })) };
  const bad = await since({ ...V3, shareSet }, { ...withWorkloads(PROXY, SIGNER), shareSet: renamed });
  const open = bad.faults.filter(({ code }) => code === "open-member").map(({ about }) => about);
  expect(open).toEqual(["shareSet", "workloads"]);
  expect(bad.changes).toHaveLength(1003);
});
