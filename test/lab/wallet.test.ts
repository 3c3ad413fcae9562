/** Addresses, compared with those of the best-known test mnemonic. */
import { pbkdf2Sync } from "node:crypto";
import { expect, it } from "vitest";
import { ethereumAddress } from "../../src/lab/wallet.js";

const mnemonic = `${"test ".repeat(11)}junk`;
const seed = pbkdf2Sync(mnemonic, "mnemonic", 2048, 64, "sha512");

it.each([
  ["m/44'/60'/0'/0/0", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"],
  ["m/44'/60'/0'/0/1", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"],
  ["m/44'/60'/0'/0/2", "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"],
])("%s", (path, address) => {
  expect(ethereumAddress(seed, path)).toBe(address);
});
