/** Removes keys on the command line from messages. */
import { existsSync } from "node:fs";
import { printable } from "../report/printable.js";

const KEY_IS_NOT_SHOWN = "[not shown: it looks like a key]";

/**
 * Returns a function that removes from messages the words of the command line that look like keys. Terminals and logs
 * keep messages.
 */
export function withoutKeys(argv: readonly string[]): (message: string) => string {
  const whole = argv
    .flatMap((word) => [word, word.slice(word.indexOf("=") + 1), word.replace(/^-+/, "")])
    .filter(couldBeKey);
  const words = [...whole, ...argv.flatMap(keysInside), ...argv.flatMap(tokensInside)];
  // A key is replaced in every form in which a message may show it. The longest forms come first, since one may contain
  // another.
  const spellings = [...new Set(words.flatMap((word) => [word, printable(word), JSON.stringify(word).slice(1, -1)]))];
  spellings.sort((a, b) => b.length - a.length);
  return (message) => spellings.reduce((text, spelling) => text.replaceAll(spelling, KEY_IS_NOT_SHOWN), message);
}

/**
 * Returns whether a word could be a key: a PEM, the JSON of a key file, at least 32 hex digits, or at least 24
 * characters of base64 that do not look like a name.
 */
function couldBeKey(word: string): boolean {
  if (/privateKey|PRIVATE KEY/.test(word) || /^(?:0x)?[0-9a-fA-F]{32,}$/.test(word)) return true;
  return (
    !isPath(word) &&
    /^[A-Za-z0-9+/_=-]{24,}$/.test(word) &&
    [/[a-z]/, /[A-Z]/, /[0-9]/].every((kind) => kind.test(word))
  );
}

/** Returns whether the word begins with a folder that exists, and so is no key: base64, too, may have slashes. */
function isPath(word: string): boolean {
  const [, first] = /^(\/?[^/]+)\//.exec(word) ?? [];
  return first !== undefined && existsSync(first);
}

/**
 * Returns parts of a longer word that could be keys of at least 32 bytes, in hex (with or without colons) or in base64,
 * such as the key in `PRIVATE:p256`. Shorter parts stay, since they may be digests in paths.
 */
function keysInside(word: string): string[] {
  const hex = word.match(/[0-9a-fA-F]{64,}|(?:[0-9a-fA-F]{2}:){31,}[0-9a-fA-F]{2}/g) ?? [];
  const base64 = (word.match(/[A-Za-z0-9+_=]{43,}/g) ?? []).filter(couldBeKey);
  return [...hex, ...base64];
}

/** The start of a JWT: `{"` in base64url, whatever else it has. */
const JWT = /eyJ[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_=-]*)+/g;
/** Three parts of base64url, of which the last is long enough for a signature. File and host names are shorter. */
const SIGNED = /[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_=-]{43,}/g;

/**
 * Returns tokens in a word, whole: who has one has the session, and its parts are personal data. Parts follow, since a
 * message may show the beginning of an unknown option only.
 */
function tokensInside(word: string): string[] {
  const tokens = [JWT, SIGNED].flatMap((form) => word.match(form) ?? []);
  return [...tokens, ...tokens.flatMap((token) => token.split(".")).filter((part) => part.length >= 8)];
}
