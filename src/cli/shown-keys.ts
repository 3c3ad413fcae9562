/** Keys on a command line: messages leave them out. */
import { printable } from "../report/printable.js";

const KEY_IS_NOT_SHOWN = "[not shown: it looks like a key]";

/**
 * What takes the words of a command line that could be keys out of a message: a terminal is scrolled back, and logs are
 * kept. Whoever puts a key at a wrong place is told where, and not what.
 */
export function withoutKeys(argv: readonly string[]): (message: string) => string {
  const whole = argv
    .flatMap((word) => [word, word.slice(word.indexOf("=") + 1), word.replace(/^-+/, "")])
    .filter(couldBeKey);
  const words = [...whole, ...argv.flatMap(keysInside)];
  // As messages may have them; the longest first, since one may hold another.
  const spellings = [...new Set(words.flatMap((word) => [word, printable(word), JSON.stringify(word).slice(1, -1)]))];
  spellings.sort((a, b) => b.length - a.length);
  return (message) => spellings.reduce((text, spelling) => text.replaceAll(spelling, KEY_IS_NOT_SHOWN), message);
}

/** Hex or base64 of 16 bytes and more without a name's dot or the look of one, a PEM or a key file's JSON. */
function couldBeKey(word: string): boolean {
  if (/privateKey|PRIVATE KEY/.test(word) || /^(?:0x)?[0-9a-fA-F]{32,}$/.test(word)) return true;
  return /^[A-Za-z0-9+/_=-]{24,}$/.test(word) && [/[a-z]/, /[A-Z]/, /[0-9]/].every((kind) => kind.test(word));
}

/**
 * 32 bytes among other things, as in `PRIVATE:p256`: hex, with colons or without, and base64. Shorter is a path's
 * digest.
 */
function keysInside(word: string): string[] {
  const hex = word.match(/[0-9a-fA-F]{64,}|(?:[0-9a-fA-F]{2}:){31,}[0-9a-fA-F]{2}/g) ?? [];
  const base64 = (word.match(/[A-Za-z0-9+_=]{43,}/g) ?? []).filter(couldBeKey);
  return [...hex, ...base64];
}
