/** What is used of @noble for Ed25519, in a file that is loaded when it is needed, as `noble.ts` is. */
export { ed25519 } from "@noble/curves/ed25519.js";
