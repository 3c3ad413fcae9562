/** Mnemonics of wallets (BIP-39). */
import { pbkdf2Sync, randomInt } from "node:crypto";
import { fromHex } from "../bytes.js";
import { sha256 } from "./qos.js";

/** The first 64 words of the English list, of which the lab makes its mnemonics: so they hold six bits a word. */
const WORDS = (
  "abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve " +
  "acid acoustic acquire across act action actor actress actual adapt add addict address adjust admit adult " +
  "advance advice aerobic affair afford afraid again age agent agree ahead aim air airport aisle alarm album " +
  "alcohol alert alien all alley allow almost alone alpha already also alter always amateur amazing among"
).split(" ");
const BITS = 11;

/** Returns a mnemonic of 12 to 24 words, whose checksum is right. */
export function newMnemonic(words: number): string {
  const checksumBits = words / 3;
  for (;;) {
    const indexes = Array.from({ length: words }, () => randomInt(WORDS.length));
    const bits = indexes.map((index) => index.toString(2).padStart(BITS, "0")).join("");
    const entropy = bits.slice(0, -checksumBits);
    const hash = sha256(
      fromHex(
        BigInt(`0b${entropy}`)
          .toString(16)
          .padStart(entropy.length / 4, "0"),
      )!,
    );
    if (hash[0]! >> (8 - checksumBits) === Number(`0b${bits.slice(-checksumBits)}`))
      return indexes.map((index) => WORDS[index]).join(" ");
  }
}

/** Returns the seed of a mnemonic without a passphrase. Its words are not checked. */
export function seedOf(mnemonic: string): Uint8Array {
  return new Uint8Array(pbkdf2Sync(mnemonic.normalize("NFKD"), "mnemonic", 2048, 64, "sha512"));
}
