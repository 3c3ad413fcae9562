/**
 * The part of @noble that verification uses. It has its own file because a bundler keeps every export of a package that
 * is imported dynamically.
 */
export { p256, p384 } from "@noble/curves/nist.js";
export { sha256, sha384 } from "@noble/hashes/sha2.js";
