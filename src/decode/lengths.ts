/** Lengths that the formats fix, in bytes. */

/** SHA-256. */
export const SHA256_LENGTH = 32;

/** A platform configuration register of Nitro: SHA-384. There are 32 of them. */
export const PCR_LENGTH = 48;
export const PCR_COUNT = 32;

/** Points of P-256 (SEC1 section 2.3.3), its scalars, and signatures as `r ‖ s`. */
export const P256_POINT_LENGTH = 65;
export const P256_COMPRESSED_LENGTH = 33;
export const P256_SCALAR_LENGTH = 32;
export const P256_SIGNATURE_LENGTH = 64;

/** The same of P-384. */
export const P384_POINT_LENGTH = 97;
export const P384_SIGNATURE_LENGTH = 96;

/**
 * A QOS public key: the point that one encrypts to, then the point that verifies signatures (verify/README.md, "QOS
 * keys").
 */
export const QOS_PUBLIC_KEY_LENGTH = 2 * P256_POINT_LENGTH;
