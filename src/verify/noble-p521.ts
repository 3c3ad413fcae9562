/** Part of @noble in its own file, so that it can be loaded alone (see `noble.ts`). */
export { p521 } from "@noble/curves/nist.js";
