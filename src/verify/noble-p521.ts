/** See `noble.ts`. */
export { p521 } from "@noble/curves/nist.js";
