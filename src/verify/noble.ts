/**
 * What is used of @noble for P-256, P-384 and SHA-2, in a file that is loaded when it is needed: so a bundler leaves
 * out the rest of those packages. Of a package that is itself imported later it takes the whole.
 */
export { p256, p384 } from "@noble/curves/nist.js";
export { sha256, sha384 } from "@noble/hashes/sha2.js";
