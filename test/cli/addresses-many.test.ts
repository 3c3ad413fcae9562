/** `bootproof addresses` of more addresses than a call has arguments. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { otherMembers } from "../../src/decode/input.js";
import type { JsonObject } from "../../src/decode/json.js";
import { newFolder, startWorld } from "./addresses-world.js";
import { readJson } from "./support.js";

it("has 150,000 rows", async () => {
  const world = await startWorld();
  const folder = newFolder();
  const accept = ["--accept", "service,imported,exported"];
  await world.run(["--out", folder, ...accept]);
  await world.lab.close();
  const own = join(folder, world.lab.organizationId);
  const index = readJson(join(folder, "index.json"));
  const [{ lists }] = index["organizations"] as [{ lists: JsonObject[] }];
  const [one] = readJson(join(own, "list_3.json"))["accounts"] as [JsonObject];
  const some = otherMembers(one, "createdAt", "updatedAt", "publicKey", "walletDetails");
  const addressOf = (index: number): string => `0x${index.toString(16).padStart(40, "0")}`;
  for (let page = 0; page < 6; page++) {
    const accounts = Array.from({ length: 25_000 }, (_, index) => ({
      ...some,
      walletId: "other",
      walletAccountId: `account-${page}-${index}`,
      path: `m/${25_000 * page + index}`,
      address: addressOf(25_000 * page + index),
    }));
    const file = join(own, `list_${page + 4}.json`);
    writeFileSync(file, JSON.stringify({ accounts }));
    lists.push({ ...lists[2]!, sha256: createHash("sha256").update(readFileSync(file)).digest("hex") });
  }
  writeFileSync(join(folder, "index.json"), JSON.stringify(index));
  const { code, stderr, stdout } = await world.from(folder, "--format", "csv", ...accept);
  expect([code, stderr, stdout.split("\n").length > 150_000]).toEqual([0, "", true]);
});
