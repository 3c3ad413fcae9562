/** Signatures of Ed25519 in another form are refused before any platform sees them, since not every one does. */
import { expect, it, vi } from "vitest";
import { readSignerKey } from "../../src/signed-policy/keys.js";
import { CAROL } from "../support/policy-feeds.js";

/** A platform that accepts everything. */
vi.mock(import("../../src/verify/cryptography.js"), async (original) => ({
  ...(await original()),
  ed25519: async () => async () => true,
}));

const MESSAGE = Buffer.from("message");
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** S plus the order of the group, which the equation of a signature does not tell from S. */
function plusOrder(signature: Uint8Array): Uint8Array {
  const s = BigInt(`0x${Buffer.from(signature.slice(32).reverse()).toString("hex")}`) + ORDER;
  return Buffer.concat([signature.slice(0, 32), Buffer.from(s.toString(16).padStart(64, "0"), "hex").reverse()]);
}

it("does not ask a platform that accepts everything about signatures in another form", async () => {
  const [key, signature] = [await readSignerKey(CAROL.pem), CAROL.sign(MESSAGE)];
  expect(await key.verify(Buffer.from("other"), signature)).toBe(true);
  const longer = Buffer.concat([signature, Buffer.of(0)]);
  for (const other of [plusOrder(signature), signature.subarray(0, 63), longer, Buffer.alloc(0)])
    expect(await key.verify(MESSAGE, other)).toBe(false);
});
