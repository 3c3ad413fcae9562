/** The options of `bootproof proxy` that verify addresses. What it answers is tested in test/proxy/. */
import { expect, it } from "vitest";
import { bootproof } from "./support.js";

const WHOLE = ["proxy", "--upstream", "https://service.example", "--policy", "policy.json"];
const KEY = ["--api-key-file", "key.json"];

it.each<[string, string[], string]>([
  ["classes without the option", [...KEY, "--accept", "service"], "--accept requires --verify-addresses"],
  [
    "boot proofs in files",
    ["--boot-proof", "boot.json", "--verify-addresses"],
    "--verify-addresses requires --api-key-file: it lists wallets and activities",
  ],
  ["a class that nobody accepts", [...KEY, "--verify-addresses", "--accept", "contradicted"], "--accept contradicted"],
])("refuses %s with exit code 2, before it reads a file", async (_, args, words) => {
  const { code, stdout, stderr } = await bootproof([...WHOLE, ...args]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(words);
});
