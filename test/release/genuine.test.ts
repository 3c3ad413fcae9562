/** The genuine releases: every one is judged right, and pinned as it is. */
import { describe, expect, it } from "vitest";
import { parsePolicy } from "../../src/appraise/policy.js";
import { decodeManifest } from "../../src/decode/manifest/index.js";
import { encodeBorshManifest } from "../../src/lab/borsh.js";
import { checkReleases } from "../../src/release/check.js";
import { releasePolicy } from "../../src/release/policy.js";
import { readRelease } from "../../src/release/release.js";
import { releaseOf } from "../support/releases.js";
import { allGenuine, genuine } from "./support.js";

const all = await allGenuine();

describe("all 31", () => {
  it("are good, and form one history for each application", async () => {
    const check = await checkReleases(all, { noManifestSet: true });
    expect(check.releases.flatMap(({ faults, notes }) => [...faults, ...notes])).toEqual([]);
    expect(check).toMatchObject({ good: true, demand: "none", counts: { good: 31 } });
    expect(check.releases.flatMap(({ approvedBy }) => approvedBy)).toHaveLength(63);
    const histories = check.histories.map(({ application, releases, newestNonce }) => [
      application,
      releases.length,
      newestNonce,
    ]);
    expect(histories.sort()).toEqual([
      ["evm-parser", 1, 20260900],
      ["notarizer", 1, 20260900],
      ["signer", 28, 20260903],
      ["ump", 1, 20260900],
    ]);
  });

  it("are read with approvals and manifests in borsh, too", async () => {
    const files = releaseOf("2026.1.1");
    files.set("manifest", encodeBorshManifest(decodeManifest(files.get("manifest")!)));
    for (const [name, bytes] of files)
      if (name.endsWith(".approval"))
        files.set(name, borshApproval(JSON.parse(Buffer.from(bytes).toString()) as never));
    const release = await readRelease(files, { version: "2026.1.1", application: "signer" });
    expect(release.faults).toEqual([]);
    expect((await checkReleases([release], { noManifestSet: true })).good).toBe(true);
  });

  it("make one policy, which is read and holds", async () => {
    const { policy, notes } = await releasePolicy(all, { applications: ["signer"] });
    const parsed = parsePolicy(policy);
    expect(parsed.deployments.map(({ name }) => name).slice(0, 3)).toEqual([
      "signer 2026.9.3",
      "signer 2026.9.2",
      "signer 2026.9.1",
    ]);
    expect(parsed.deployments).toHaveLength(28);
    for (const one of parsed.deployments)
      expect(Object.keys(one)).toEqual(
        expect.arrayContaining([
          "pcrs",
          "pivotHash",
          "pivotArgs",
          "namespace",
          "minNonce",
          "manifestHash",
          "quorumKey",
          "manifestSet",
          "shareSet",
        ]),
      );
    expect(notes).toContainEqual(
      expect.stringContaining("only the folder says that the manifest set is the right people"),
    );
    expect(notes).toContainEqual(expect.stringContaining("commitment live"));
    expect(notes).toContainEqual(expect.stringMatching(/^critical: 2026\.4\.4\/signer: manifest-set\.member/));
    const checked = await checkReleases(all, { policy: parsed, applications: ["signer"] });
    expect(checked.good).toBe(true);
  });

  it("keep the arguments of ump as a list, with a name that is repeated", async () => {
    const { policy } = await releasePolicy(all, { applications: ["ump"] });
    const args = policy.deployments[0]!.pivotArgs!;
    expect(args.length).toBeGreaterThan(new Set(args.filter((arg) => arg.startsWith("--"))).size);
  });
});

describe("a release without a signed manifest", () => {
  it.each(["2025.9.3", "2025.10.2", "2025.12.1"])("%s is not checked, or skipped", async (version) => {
    const release = await genuine(version);
    const alone = await checkReleases([release], { noManifestSet: true });
    expect(alone).toMatchObject({ good: false, counts: { "not checked": 1 } });
    const skipped = await checkReleases([release, ...all], { noManifestSet: true, skipUnapproved: true });
    expect(skipped).toMatchObject({ good: true, counts: { skipped: 1, good: 31 } });
    const notes = release.notes.map(({ code }) => code);
    expect(notes).toEqual(version === "2025.12.1" ? [] : ["manifest-json-incomplete"]);
  });
});

function borshApproval({
  signature,
  member,
}: {
  signature: string;
  member: { alias: string; pubKey: string };
}): Uint8Array {
  const field = (bytes: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const { alias, pubKey } = member;
  return new Uint8Array(
    Buffer.concat([field(Buffer.from(signature, "hex")), field(Buffer.from(alias)), field(Buffer.from(pubKey, "hex"))]),
  );
}
