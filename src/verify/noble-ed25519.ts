/** Part of @noble that is loaded alone (see `noble.ts`). */
export { ed25519 } from "@noble/curves/ed25519.js";
