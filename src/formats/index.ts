/** The formats that machines read, as functions: `bootproof/formats`. */
export { type EarOptions, renderEar } from "./ear.js";
export type { SigningJwk } from "./signing-key.js";
export { type VsaOptions, renderVsa } from "./vsa.js";
