/** See `noble.ts`. */
export { ed25519 } from "@noble/curves/ed25519.js";
