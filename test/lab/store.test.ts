/** State survives restarts, and the death of the process at any moment. */
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parsePolicy, verifyEvidence } from "../../src/index.js";
import { type Lab, LabFolderError, startLab } from "../../src/lab/index.js";
import { openStore } from "../../src/lab/store.js";
import { generateQosKeyPair } from "../../src/lab/qos.js";
import type { Tables } from "../../src/lab/records.js";
import { State } from "../../src/lab/state.js";
import { bootproof } from "../cli/support.js";
import { LabProcess, labOf, readLabFile } from "./child.js";
import { type Json, completed, judge, query, renameWallet, submit } from "./support.js";
import { testFolders } from "../support/folder.js";
import { IS_LONG } from "../support/long.js";

const folder = testFolders();

describe("a restart", () => {
  it("keeps all state and boots the enclaves again", async () => {
    const dataFolder = folder();
    const first = await startLab({ dataFolder });
    const activity = await renameWallet(first, "kept");
    await completed(submit(first, "deleteApiKeys", { userId: first.ids.userId, apiKeyIds: [first.ids.spareApiKeyId] }));
    const added = await first.addRelease({ app: "signer", manifestVersion: "v0" });
    const { policyFile } = first;
    await first.close();

    const second = await startLab({ dataFolder });
    const { organizationId, childOrganizationId, ids, apiKey, child, operator, trustAnchorPem, jwks } = second;
    expect({ organizationId, childOrganizationId, ids, apiKey, child, operator, trustAnchorPem, jwks }).toEqual({
      organizationId: first.organizationId,
      childOrganizationId: first.childOrganizationId,
      ids: first.ids,
      apiKey: first.apiKey,
      child: first.child,
      operator: first.operator,
      trustAnchorPem: first.trustAnchorPem,
      jwks: first.jwks,
    });
    expect(second.policyFile).toEqual(policyFile);
    expect(second.enclaves.map(({ enclaveId }) => enclaveId).sort()).toEqual(
      first.enclaves.map(({ enclaveId }) => enclaveId).sort(),
    );
    const keys = (lab: Lab): string[] => lab.enclaves.map(({ ephemeralKey }) => ephemeralKey);
    expect(keys(second).filter((key) => keys(first).includes(key) || key === added.ephemeralKey)).toEqual([]);
    const { body } = await query(second, "get_activity", { activityId: activity["id"] });
    expect(body["activity"]).toEqual(activity);
    expect((await judge(second, body["activity"])).verdict).toBe("verified");
    expect((await judge(second, await renameWallet(second, "after"))).verdict).toBe("verified");
    const admin = (await query(second, "get_user", { userId: ids.userId })).body["user"];
    expect(admin.apiKeys.map((key: Json) => key["apiKeyId"])).not.toContain(ids.spareApiKeyId);
    // A fault makes old evidence anew: with the old keys, which are kept too.
    second.setFault("tampered-payload");
    const again = await query(second, "get_activity", { activityId: activity["id"] });
    expect((await judge(second, again.body["activity"])).verdict).toBe("rejected");
    await second.close();
  });

  it("still recognises an activity by its bytes", async () => {
    let now = new Date();
    const dataFolder = folder();
    const first = await startLab({ dataFolder, now: () => now });
    const timestampMs = String(now.getTime());
    const activity = await renameWallet(first, "the same", { timestampMs });
    await first.close();
    now = new Date(now.getTime() + 1000);
    const second = await startLab({ dataFolder, now: () => now });
    expect((await renameWallet(second, "the same", { timestampMs }))["id"]).toBe(activity["id"]);
    await second.close();
  });

  it("closes the store if the port is in use", async () => {
    const dataFolder = folder();
    const lab = await startLab();
    await expect(startLab({ dataFolder, port: Number(new URL(lab.baseUrl).port) })).rejects.toThrow(/EADDRINUSE/);
    await (await startLab({ dataFolder })).close();
    await lab.close();
  });
});

describe("a transaction", () => {
  it("changes nothing if it throws, and others continue", async () => {
    const state = new State(await openStore(folder()));
    await expect(
      state.transact((tx) => {
        tx.put("fingerprints", "a", "1");
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    await Promise.all(
      [1, 2, 3].map((number) =>
        state.transact(async (tx) => {
          const before = tx.get("fingerprints", "count") ?? "";
          await new Promise((resolve) => setTimeout(resolve, 5));
          tx.put("fingerprints", "count", `${before}${number}`);
          tx.put("fingerprints", "gone", "x");
          tx.delete("fingerprints", "gone");
          expect(tx.all("fingerprints")).toEqual([`${before}${number}`]);
        }),
      ),
    );
    expect(state.all("fingerprints")).toEqual(["123"]);
    await state.close();
  });

  it("stays invisible if it could not be written", async () => {
    const state = new State({
      tables: new Map(),
      write: () => Promise.reject(new Error("disk full")),
      close: async () => {},
    });
    await expect(state.transact((tx) => tx.put("fingerprints", "a", "1"))).rejects.toThrow("disk full");
    expect(state.get("fingerprints", "a")).toBeUndefined();
  });
});

describe("the file", () => {
  const activity = { id: "a", organizationId: "o", status: "s", intent: { $bytes: "AAAA" } };
  const record = { activity, userId: "u", operation: "o", parameters: {} } as unknown as Tables["activities"];

  it("keeps keys as bytes, and JSON of clients as it is", async () => {
    const [path, enclave] = [folder(), { key: generateQosKeyPair() } as Tables["enclaves"]];
    const first = new State(await openStore(path));
    await first.transact((tx) => (tx.put("activities", "a", record), tx.put("enclaves", "e", enclave)));
    await first.close();
    expect(readdirSync(path)).toEqual(["lab-state.json"]);
    expect(statSync(join(path, "lab-state.json")).mode & 0o777).toBe(0o600);
    const second = new State(await openStore(path));
    expect([second.get("activities", "a"), second.get("enclaves", "e")]).toEqual([record, enclave]);
    await second.close();
  });

  it.each([
    ["the database of an older version", "store/CURRENT", "in the database of an older version"],
    ["a file that no lab wrote", "lab-state.json", "lab-state.json is not one that a lab wrote"],
  ])("is refused: %s", async (_, name, reason) => {
    const path = folder();
    await (await startLab({ dataFolder: path })).close();
    rmSync(join(path, "lab-state.json"));
    mkdirSync(join(path, "store"));
    writeFileSync(join(path, name), "{}");
    const before = readdirSync(path).sort();
    await expect(startLab({ dataFolder: path })).rejects.toThrow(LabFolderError);
    const { code, stderr } = await bootproof(["lab", "--data", path]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(reason)]);
    expect(readdirSync(path).sort()).toEqual(before);
  });
});

describe("kill -9", () => {
  it("loses no acknowledged activity", async () => {
    const dataFolder = folder();
    const acknowledged: string[] = [];
    const lives = IS_LONG ? [1, 2, 3] : [1];
    for (const life of lives) {
      const lab = new LabProcess("--data", dataFolder);
      await lab.listening();
      const workers = Array.from({ length: 4 }, (_, worker) =>
        submitUntilDeath(dataFolder, `life ${life}, worker ${worker}`, acknowledged),
      );
      const enough = acknowledged.length + 7;
      while (acknowledged.length < enough && lab.child.exitCode === null)
        await new Promise((resolve) => setTimeout(resolve, 20 * life));
      expect((await lab.end("SIGKILL")).signal).toBe("SIGKILL");
      await Promise.all(workers);
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(7 * lives.length);

    const lab = new LabProcess("--data", dataFolder);
    await lab.listening();
    const running = labOf(dataFolder) as Lab;
    for (const activityId of acknowledged) {
      const { status, body } = await query(running, "get_activity", { activityId });
      expect([status, body["activity"]?.id, body["activity"]?.status]).toEqual([
        200,
        activityId,
        "ACTIVITY_STATUS_COMPLETED",
      ]);
    }
    expect(await verdictOf(running, dataFolder, acknowledged[0]!)).toBe("verified");
    expect(await verdictOf(running, dataFolder, acknowledged.at(-1)!)).toBe("verified");
    expect((await lab.end("SIGTERM")).code).toBe(0);
  });
});

/** Submits in turn until the lab is gone, and records the acknowledged activities. */
async function submitUntilDeath(dataFolder: string, name: string, acknowledged: string[]): Promise<void> {
  const lab = labOf(dataFolder) as Lab;
  for (let count = 0; ; count++) {
    const activity = await renameWallet(lab, `${name}, ${count}`).catch(() => null);
    if (activity === null) return;
    acknowledged.push(activity["id"] as string);
  }
}

/** By the files that the lab wrote, as any script would. */
async function verdictOf(lab: Lab, dataFolder: string, activityId: string): Promise<string> {
  const policy = parsePolicy(readFileSync(join(dataFolder, readLabFile(dataFolder).policyFile)));
  const { activity } = (await query(lab, "get_activity", { activityId })).body as { activity: Json };
  const keys = [...new Set<string>(activity["appProofs"].map((proof: Json) => proof["publicKey"]))];
  const bootProofs = await Promise.all(
    keys.map(async (ephemeralKey) => (await query(lab, "get_boot_proof", { ephemeralKey })).body),
  );
  return (await verifyEvidence({ bootProofs, activity }, { policy, now: new Date() })).report.verdict;
}
