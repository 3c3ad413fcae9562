/**
 * A file of its own, so that a bundler leaves out the rest of @noble: a package that is imported dynamically is kept
 * whole.
 */
export { p256, p384 } from "@noble/curves/nist.js";
export { sha256, sha384 } from "@noble/hashes/sha2.js";
