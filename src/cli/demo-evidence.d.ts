/** The genuine pair of `bootproof demo`, which bin/texts.mjs takes from test-vectors/boot-proofs. */

export declare const BOOT_PROOF: string;
export declare const APP_PROOF: string;
/** Where the pair was published (test-vectors/PROVENANCE.tsv). */
export declare const ORIGIN: readonly [repository: string, path: string, commit: string];
