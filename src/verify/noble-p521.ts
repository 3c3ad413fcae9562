/** What is used of @noble for P-521, in a file that is loaded when it is needed, as `noble.ts` is. */
export { p521 } from "@noble/curves/nist.js";
