/** Releases that must not pass: each row has the exact codes, and pins nothing. */
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../src/bytes.js";
import { parsePolicy } from "../../src/appraise/policy.js";
import { checkReleases } from "../../src/release/check.js";
import { releasePolicy } from "../../src/release/policy.js";
import { type Release, readRelease } from "../../src/release/release.js";
import { withS } from "../support/high-s.js";
import { releaseOf } from "../support/releases.js";
import {
  type Files,
  type LabRelease,
  OPERATORS,
  approvalFile,
  changeJson,
  genuine,
  labRelease,
  operators,
  setOf,
} from "./support.js";

const NONE = { noManifestSet: true } as const;
const SIX = "6-prod-signer-20260900.approval";
const TEN = "10-prod-signer-20260900.approval";

async function codesOf(release: Release): Promise<string[]> {
  const { good, releases } = await checkReleases([release], NONE);
  const codes = releases.flatMap(({ faults }) => faults.map(({ code }) => code));
  expect(good).toBe(codes.length === 0);
  await expect(releasePolicy([release])).rejects.toThrow(/malformed release/);
  return codes;
}

type Row = readonly [name: string, change: (files: Files) => void, codes: readonly string[]];

function put(from: string, app: string, file: string, as = file): (files: Files) => void {
  return (files) => files.set(as, releaseOf(from, app).get(file)!);
}

const flipped = (name: string, member: "signature" | "pubKey") => (files: Files) =>
  changeJson(files, name, (json: { signature: string; member: { pubKey: string } }) => {
    const text = member === "signature" ? json.signature : json.member.pubKey;
    const other = text.slice(0, 20) + (text[20] === "0" ? "1" : "0") + text.slice(21);
    if (member === "signature") json.signature = other;
    else json.member.pubKey = other;
  });

const ROWS: readonly Row[] = [
  [
    "an approval of another release",
    put("2026.9.1", "signer", "10-prod-signer-20260901.approval", TEN),
    ["approval-signature", "threshold"],
  ],
  [
    "an approval of another application",
    put("2026.9.0", "ump", "6-prod-ump-20260900.approval", SIX),
    ["approval-signature", "threshold"],
  ],
  ["an approval with a flipped byte in its signature", flipped(SIX, "signature"), ["approval-signature", "threshold"]],
  ["an approval with a flipped byte in its key", flipped(SIX, "pubKey"), ["approval-stranger", "threshold"]],
  [
    "an approval by a stranger",
    (files) => {
      const { member } = JSON.parse(Buffer.from(files.get(SIX)!).toString()) as { member: { alias: string } };
      expect(member.alias).toBe("6");
      files.set(
        SIX,
        approvalFile({
          signature: new Uint8Array(64).fill(1),
          member: { alias: "6", pubKey: OPERATORS[0]!.key.publicKey },
        }),
      );
    },
    ["approval-stranger", "threshold"],
  ],
  ["an approval of a member under another alias", renamedMember("7"), ["approval-stranger", "threshold"]],
  [
    "an approval twice, in place of a second one",
    (files) => {
      files.set("6-prod-signer-20260900-again.approval", files.get(SIX)!);
      files.delete(TEN);
    },
    ["approval-twice", "threshold"],
  ],
  [
    "an approval twice, with another signature of the same member",
    (files) => {
      changeJson(files, SIX, (json: { signature: string }) => {
        const other = withS(isHigh(json.signature) ? "low" : "high", fromHex(json.signature)!);
        files.set("6-again.approval", Buffer.from(JSON.stringify({ ...json, signature: toHex(other) })));
      });
    },
    ["approval-twice"],
  ],
  [
    "an approval whose file names another member",
    rename(SIX, "5-prod-signer-20260900.approval"),
    ["approval-name", "threshold"],
  ],
  [
    "an approval whose file name only begins alike",
    rename(SIX, "66-prod-signer-20260900.approval"),
    ["approval-name", "threshold"],
  ],
  [
    "an approval that is cut off",
    (files) => files.set(SIX, files.get(SIX)!.subarray(0, -1)),
    ["approval", "threshold"],
  ],
  [
    "an approval without a member",
    (files) => changeJson(files, SIX, ({ signature }: { signature: string }) => ({ signature })),
    ["approval", "threshold"],
  ],
  [
    "an approval with a member twice",
    (files) => files.set(SIX, Buffer.from(Buffer.from(files.get(SIX)!).toString().replace("{", '{"signature":"00",'))),
    ["approval", "threshold"],
  ],
  ["an empty approval", (files) => files.set(SIX, new Uint8Array()), ["approval", "threshold"]],
  ["one approval too few", (files) => files.delete(TEN), ["threshold"]],
  ["no approvals", (files) => [SIX, TEN].forEach((name) => files.delete(name)), ["approvals-missing"]],
  ["no manifest", (files) => files.delete("manifest"), ["manifest-missing"]],
  [
    "manifest.json in the place of the manifest",
    (files) => {
      files.delete("manifest");
      changeJson(files, "manifest.json", () => undefined);
    },
    ["manifest-missing"],
  ],
  [
    "a manifest that is cut off",
    (files) => files.set("manifest", files.get("manifest")!.subarray(0, -1)),
    ["manifest"],
  ],
  [
    "a manifest with a member renamed",
    renamedInManifest("debugMode", "debugmode"),
    ["approval-signature", "threshold"],
  ],
  ["a manifest with its quorum key renamed", renamedInManifest("quorumKey", "quorumkey"), ["manifest"]],
  [
    "a manifest with another argument",
    (files) =>
      changeJson(files, "manifest", (json: { pivot: { args: string[] } }) => void json.pivot.args.push("--more")),
    ["manifest-json-differs", "approval-signature", "approval-signature", "threshold"],
  ],
  [
    "manifest.json that says something else",
    (files) =>
      changeJson(
        files,
        "manifest.json",
        (json: { enclave: { pcr0: string } }) => void (json.enclave.pcr0 = "00".repeat(48)),
      ),
    ["manifest-json-differs"],
  ],
  ["manifest.json of another version", put("2026.9.1", "signer", "manifest.json"), ["manifest-json-differs"]],
  ["manifest.json that is not JSON", (files) => files.set("manifest.json", Buffer.from("{")), ["manifest-json"]],
  ["manifest.json that is another thing", (files) => files.set("manifest.json", Buffer.from("{}")), ["manifest-json"]],
  [
    "manifest.json without its arguments, which no release of 2025 lacks alone",
    (files) =>
      changeJson(files, "manifest.json", (json: { pivot: { args?: string[] } }) => void delete json.pivot.args),
    ["manifest-json"],
  ],
  [
    "a genuine manifest of another application in its place",
    (files) => {
      files.clear();
      for (const [name, bytes] of releaseOf("2026.9.0", "ump")) files.set(name, bytes);
    },
    ["namespace"],
  ],
  [
    "a genuine manifest of another release in its place",
    (files) => {
      files.clear();
      for (const [name, bytes] of releaseOf("2026.9.1")) files.set(name, bytes);
    },
    ["nonce"],
  ],
];

function rename(from: string, to: string): (files: Files) => void {
  return (files) => {
    files.set(to, files.get(from)!);
    files.delete(from);
  };
}

function renamedMember(alias: string): (files: Files) => void {
  return (files) => {
    changeJson(files, SIX, (json: { member: { alias: string } }) => (json.member.alias = alias) && json);
    rename(SIX, `${alias}-prod-signer-20260900.approval`)(files);
  };
}

function renamedInManifest(from: string, to: string): (files: Files) => void {
  return (files) => {
    const text = Buffer.from(files.get("manifest")!).toString();
    files.set("manifest", Buffer.from(text.replace(`"${from}"`, `"${to}"`)));
    files.delete("manifest.json");
  };
}

describe("one release", () => {
  it.each(ROWS)("%s", async (_, change, codes) => {
    const release = await genuine("2026.9.0", "signer", change);
    const found = await codesOf(release);
    expect([...new Set(found)].sort()).toEqual([...new Set(codes)].sort());
  });

  it("is good with the tag before its version, and with a high S", async () => {
    for (const version of ["r2026.9.0", "v2026.9.0", "2026.09.00"]) {
      const release = await readRelease(releaseOf("2026.9.0"), { version, application: "signer" });
      expect((await checkReleases([release], NONE)).good).toBe(true);
    }
    for (const s of ["high", "low"] as const) {
      const release = await genuine("2026.9.0", "signer", (files) =>
        changeJson(files, SIX, (json: { signature: string }) => {
          json.signature = toHex(withS(s, fromHex(json.signature)!));
        }),
      );
      expect((await checkReleases([release], NONE)).good).toBe(true);
    }
  });
});

/** With a set of the lab's own, which can be as bad as it likes. */
const LAB_ROWS: readonly (readonly [string, LabRelease, readonly string[]])[] = [
  ["a threshold of 0", { threshold: 0 }, ["threshold"]],
  ["a threshold above the members", { threshold: 4 }, ["threshold"]],
  ["a member that shares a signing point", { alter: (one) => withMember(one, halves("a", "j")) }, ["manifest-set"]],
  [
    "a member with an alias of another",
    { alter: (one) => withMember(one, { alias: "a", pubKey: OPERATORS[9]!.key.publicKey }) },
    ["manifest-set"],
  ],
];

function halves(one: string, other: string) {
  const [first, second] = [operators(one)[0]!.key.publicKey, operators(other)[0]!.key.publicKey];
  const pubKey = new Uint8Array(130);
  pubKey.set(second.subarray(0, 65));
  pubKey.set(first.subarray(65), 65);
  return { alias: "z", pubKey };
}

type Pivot = Parameters<NonNullable<LabRelease["alter"]>>[0];

function withMember(manifest: Pivot, member: { alias: string; pubKey: Uint8Array }): Pivot {
  const { threshold, members } = manifest.manifestSet;
  return { ...manifest, manifestSet: { threshold, members: [...members, member] } };
}

describe("a set", () => {
  it.each(LAB_ROWS)("with %s", async (_, parts, codes) => {
    expect([...new Set(await codesOf(await labRelease(parts)))]).toEqual(codes);
  });
});

describe("a history", () => {
  it("with the same release twice counts it once, and says so", async () => {
    const one = await genuine("2026.9.0");
    const { releases, good, histories } = await checkReleases([one, await genuine("2026.9.0")], NONE);
    expect([good, releases.length, histories[0]!.releases]).toEqual([true, 1, ["2026.9.0/signer"]]);
    expect(releases[0]!.notes).toEqual([{ code: "given-twice", file: "2026.9.0/signer", message: expect.any(String) }]);
    const elsewhere = await readRelease(releaseOf("2026.9.0"), { application: "signer" });
    const both = await checkReleases([one, elsewhere], NONE);
    expect(both.good).toBe(true);
    expect(both.releases[1]!.notes.map(({ code }) => code)).toEqual(["same-manifest"]);
  });
});

describe("a demand that compares nothing", () => {
  const release = labRelease();
  const policy = (deployment: object) =>
    parsePolicy({ policy: "bootproof/1", deployments: [{ name: "d", ...deployment }] });
  const pcrs = { 0: "11".repeat(48), 1: "22".repeat(48), 2: "33".repeat(48) };
  const OPEN = { pcrs, open: ["application", "operator"], namespace: "lab/signer" };

  it.each<[string, object, RegExp]>([
    ["a set without members", { manifestSet: { threshold: 1, members: [] } }, /malformed policy/],
    ["a policy that was not read", { policy: { deployments: [] } }, /^options\.policy: expected a policy from/],
    ["a policy without sets", { policy: policy(OPEN) }, /no deployment pins a manifestSet/],
    ["no application", { noManifestSet: true, applications: [] }, /expected names/],
  ])("%s is an error", async (_, demand, message) => {
    await expect(checkReleases([await release], demand as never)).rejects.toThrow(message);
  });
});

/** What is refused is in policy.test.ts. */
describe("a policy of releases", () => {
  it("counts the same release once", async () => {
    const twice = await Promise.all([labRelease(), labRelease(), genuine("2026.9.0"), genuine("2026.9.0")]);
    const { policy } = await releasePolicy(twice.slice(0, 2));
    expect(policy.deployments).toHaveLength(1);
    expect((await releasePolicy(twice.slice(2))).policy.deployments).toHaveLength(1);
  });

  it("writes what it is told of the rest", async () => {
    const options = { name: "mine", commitment: "legacy", appProofTypes: ["APP_PROOF_TYPE_X"] } as const;
    const { policy, notes } = await releasePolicy([await labRelease()], options);
    expect(policy).toMatchObject({
      name: "mine",
      deployments: [{ name: "signer 2026.1.0", commitment: "legacy", appProofs: { types: ["APP_PROOF_TYPE_X"] } }],
    });
    expect(notes.join()).not.toContain("commitment live");
  });

  describe("beside one that is there", () => {
    const base = async (change = {}) => {
      const { policy } = await releasePolicy([await labRelease()]);
      return parsePolicy({ ...policy, deployments: policy.deployments.map((one) => ({ ...one, ...change })) });
    };
    const successor: LabRelease = { version: "2026.2.0", set: "abcd", approvers: "bc" };

    it("is judged by the newest deployment: the set of an older one may have a member who was removed", async () => {
      const [older] = (await releasePolicy([await labRelease()])).policy.deployments;
      const newest = { ...older, name: "newest", minNonce: older!.minNonce! + 1, manifestSet: setOf("cde") };
      const addTo = parsePolicy({ policy: "bootproof/1", deployments: [older, newest] });
      const add = async (approvers: string) =>
        releasePolicy([await labRelease({ version: "2026.2.0", set: "abcde", approvers })], { addTo });
      await expect(add("ab")).rejects.toThrow(/its approvers in the manifestSet of newest: 0, expected 2/);
      const { notes } = await add("cde");
      expect(notes.join()).toContain("its manifest set is another than that of newest");
    });

    it("takes one deployment whole, never a member of each of two", async () => {
      const one = await base();
      const [deployment] = (await releasePolicy([await labRelease()])).policy.deployments;
      const key = { ...deployment, name: "key", manifestSet: setOf("defg") };
      const set = { ...deployment, name: "set", quorumKey: "04".repeat(130) };
      const both = parsePolicy({ policy: "bootproof/1", deployments: [key, set] });
      expect(one.deployments).toHaveLength(1);
      await expect(releasePolicy([await labRelease(successor)], { addTo: both })).rejects.toThrow(/malformed release/);
    });
  });
});

function isHigh(signature: string): boolean {
  return toHex(withS("high", fromHex(signature)!)) === signature;
}
