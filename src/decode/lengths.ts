/** Lengths that the formats fix, in bytes. */

export const SHA256_LENGTH = 32;
/** Length of a commit's name in Git. */
export const SHA1_LENGTH = 20;

/** Platform configuration registers of Nitro: 32 registers of SHA-384. */
export const PCR_LENGTH = 48;
export const PCR_COUNT = 32;

/** Lengths of P-256 points (SEC1 section 2.3.3), scalars, and signatures as `r ‖ s`. */
export const P256_POINT_LENGTH = 65;
export const P256_COMPRESSED_LENGTH = 33;
export const P256_SCALAR_LENGTH = 32;
export const P256_SIGNATURE_LENGTH = 64;

export const P384_POINT_LENGTH = 97;
export const P384_SIGNATURE_LENGTH = 96;

export const ED25519_KEY_LENGTH = 32;

/** Length of a QOS public key: encryption point, then signing point (verify/README.md, "QOS keys"). */
export const QOS_PUBLIC_KEY_LENGTH = 2 * P256_POINT_LENGTH;
