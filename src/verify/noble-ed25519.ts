/** Part of @noble in its own file, so that it can be loaded alone (see `noble.ts`). */
export { ed25519 } from "@noble/curves/ed25519.js";
