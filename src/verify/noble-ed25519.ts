/** Part of @noble in its own file, so that it can be loaded alone (see `noble.ts`). */
import { eddsa, edwards } from "@noble/curves/abstract/edwards.js";
import { sha512 } from "@noble/hashes/sha2.js";

const ED25519_P = (1n << 255n) - 19n;
/** RFC 8032 section 5.1. */
const ED25519 = {
  p: ED25519_P,
  n: (1n << 252n) + 27742317777372353535851937790883648493n,
  h: 8n,
  a: ED25519_P - 1n,
  d: 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n,
  Gx: 0x216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51an,
  Gy: 0x6666666666666666666666666666666666666666666666666666666666666658n,
};

/** Prunes the scalar of a private key (RFC 8032 section 5.1.5). */
function adjustScalarBytes(bytes: Uint8Array): Uint8Array {
  bytes[0]! &= 248;
  bytes[31] = (bytes[31]! & 127) | 64;
  return bytes;
}

export const ed25519Curve = /* @__PURE__ */ eddsa(/* @__PURE__ */ edwards(ED25519), sha512, {
  adjustScalarBytes,
  zip215: false,
});
