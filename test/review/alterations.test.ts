/** Every member of every version, altered: what `diff` shows, `review` refuses unless a pin or `accept` decides. */
import { describe, expect, it } from "vitest";
import { attempt } from "../../src/errors.js";
import { toHex, toUtf8 } from "../../src/bytes.js";
import {
  MANIFEST_VERSIONS,
  type Manifest,
  type ManifestVersion,
  decodeManifest,
} from "../../src/decode/manifest/index.js";
import { diffUnverified } from "../../src/diff/diff.js";
import { ACCEPTABLE } from "../../src/review/members.js";
import type { ManifestReview } from "../../src/review/review.js";
import { V3, before, bytesOf, deploymentOf, loose, made, policyOf, since } from "./support.js";
import { IS_LONG } from "../support/long.js";

function isSameImage({ enclave: one }: Manifest, { enclave: other }: Manifest): boolean {
  return (["pcr0", "pcr1", "pcr2"] as const).every((name) => toHex(one[name]) === toHex(other[name]));
}

/** Every value with one leaf changed, one part removed, added or moved. */
function* altered(value: unknown): Generator<unknown> {
  if (value instanceof Uint8Array) yield value.map((byte, index) => (index === value.length - 1 ? byte ^ 1 : byte));
  else if (value instanceof Map) {
    yield new Map([...(value as Map<string, unknown>), ["added", [...value.values()][0] ?? "new"]]);
    for (const [name, member] of value as Map<string, unknown>) {
      yield new Map([...(value as Map<string, unknown>)].filter(([other]) => other !== name));
      for (const other of altered(member)) yield new Map([...(value as Map<string, unknown>), [name, other]]);
    }
  } else if (Array.isArray(value)) {
    if (value.length > 1) yield [...(value as unknown[])].reverse();
    // One entry stands for all.
    for (const [index, entry] of [...(value as unknown[]).entries()].slice(-1)) {
      yield value.filter((_, other) => other !== index);
      for (const other of altered(entry)) {
        yield value.with(index, other);
        yield [...(value as unknown[]), other];
      }
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      yield Object.fromEntries(Object.entries(value).filter(([other]) => other !== name));
      for (const other of altered(member)) yield { ...value, [name]: other };
    }
  } else yield* alteredScalar(value);
}

const OTHERS: Readonly<Record<string, string>> = {
  Always: "Never",
  always: "never",
  volume: "file",
  "169.254.169.253": "10.0.0.1",
  "/qos.quorum.key": "/qos.manifest",
};

function* alteredScalar(value: unknown): Generator<unknown> {
  if (typeof value === "string") yield OTHERS[value] ?? `${value}0`;
  else if (typeof value === "number") yield* [value + 1, null];
  else if (typeof value === "boolean") yield !value;
  else yield* [7, "10.0.0.2"];
}

/** The altered manifests that can be written, each once: what is read of them is another manifest. */
function alteredManifests(manifest: Manifest): Manifest[] {
  const found = new Map<string, Manifest>();
  for (const other of altered(manifest)) {
    const read = attempt(() => decodeManifest(encodeSafely(other as Manifest))).value;
    if (read !== undefined && read.version === manifest.version) found.set(toHex(bytesOf(read)), read);
  }
  found.delete(toHex(bytesOf(manifest)));
  return [...found.values()].filter(({ namespace }) => namespace.nonce === manifest.namespace.nonce);
}

function encodeSafely(manifest: Manifest): Uint8Array {
  try {
    return bytesOf(manifest);
  } catch {
    return toUtf8("{}");
  }
}

/** Pins are tried on every third alteration, or on each where `BOOTPROOF_TESTS=long`. */
const EACH = IS_LONG ? 1 : 3;
/** Faults of rules that no acceptance overrides. */
const RULES = [
  ...["debug-mode", "aws-root", "set", "zero-pcr", "pcr-length"],
  ...["previous-namespace", "previous-quorum-key"],
];
const SETS = ["manifestSet.members", "shareSet.members", "patchSet.members"];

describe.each([...MANIFEST_VERSIONS.map((version) => [version, made(version)] as const), ["v3 of two", V3] as const])(
  "every alteration of %s",
  (version, manifest) => {
    const all = alteredManifests(manifest);
    const places = new Set<string>();

    it("is refused, with both values, unless it is accepted", async () => {
      for (const other of all) {
        const pins = loose(other, isSameImage(manifest, other) ? "pcrs" : "manifestSet");
        const shown = (await diffUnverified(bytesOf(before(manifest)), bytesOf(other))).changes.filter(
          ({ what, place }) => what !== "manifest.nonce" && !(what === "order" && SETS.includes(place)),
        );
        const bad = await since(manifest, other, [], pins);
        const open = bad.members.filter(({ status }) => status === "open");
        expect(bad.ok, shown.map(({ place }) => place).join()).toBe(shown.length === 0);
        for (const { place } of open) places.add(place);
        expect(open.filter(({ place, before: was, after }) => was === after && place !== "manifestSet")).toEqual([]);
        const rules = bad.faults.filter(({ code }) => code !== "open-member").map(({ code }) => code);
        expect(rules.filter((code) => !RULES.includes(code))).toEqual([]);
        const names = open.map(({ name }) => name);
        const good = await since(manifest, other, names, pins);
        expect(good.faults.map(({ code }) => code)).toEqual(rules);
      }
    });

    it("is decided by a pin, or refused", async () => {
      for (const other of all.filter((_, index) => index % EACH === 0)) {
        const pins = deploymentOf(other);
        // A set that no verifier takes cannot be pinned.
        if (attempt(() => policyOf(pins)).value === undefined || pins["manifestSet"] === undefined) continue;
        const [free, bound] = [await since(manifest, other, [], loose(other)), await since(manifest, other, [], pins)];
        const open = (review: ManifestReview): string[] =>
          review.members.filter(({ status }) => status === "open").map(({ place }) => place);
        const left = open(free).filter((place) => !PINNED.test(place));
        // The keys of a set are pinned, and not their aliases.
        const aliases = free.changes!.filter(({ what }) => what === "member.alias");
        const ofAliases = aliases.map(({ place }) => place.split(".")[0]!).filter((set) => set !== "patchSet");
        expect(new Set(open(bound))).toEqual(new Set([...left, ...ofAliases]));
      }
    });

    it("reaches every member", () => {
      expect([...places]).toEqual(expect.arrayContaining([...(EXPECTED[version as ManifestVersion] ?? [])]));
      expect(all.length).toBeGreaterThan(30);
    });
  },
);

const PINNED =
  /^(?:namespace\.quorumKey|pivot\.(?:hash|args|env)|workloads\.[^.]+|enclave\.pcr\d|manifestSet|shareSet)$/;
const COMMON = [
  ...["namespace.quorumKey", "enclave.pcr0", "enclave.pcr1", "enclave.pcr2", "enclave.pcr3", "enclave.qosCommit"],
  ...["manifestSet", "shareSet"],
];
const OLDER = [...COMMON, "patchSet", "pivot.hash", "pivot.restart", "pivot.args"];
const EXPECTED: Readonly<Record<ManifestVersion, readonly string[]>> = {
  v0: OLDER,
  "v0-tail": [...OLDER, "clientTimeoutMs", "poolSize"],
  v1: [...OLDER, "pivot.bridgeConfig"],
  v2: [...COMMON, "pivot.hash", "pivot.restart", "pivot.args", "pivot.bridgeConfig", "pivot.env", "dns"],
  v3: [...COMMON, "workloads.signer", "workloads.signer.restart", "workloads.signer.mounts", "dns", "volumes"],
};

it("the alterations reach every name that accept knows", () => {
  const names = new Set(
    Object.values(EXPECTED)
      .flat()
      .map((place) => place.split(".").at(-1)),
  );
  const renamed: Readonly<Record<string, string>> = { pivotHash: "hash", workloads: "signer" };
  // These are pinned, or compared by a rule of their own.
  const others = ["namespace", "nonce", "version"];
  expect(ACCEPTABLE.filter((name) => !others.includes(name) && !names.has(renamed[name] ?? name))).toEqual([]);
});
