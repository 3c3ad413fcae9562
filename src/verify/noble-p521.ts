/** Part of @noble that is loaded alone (see `noble.ts`). */
export { p521 } from "@noble/curves/nist.js";
