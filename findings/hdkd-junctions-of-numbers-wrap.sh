#!/bin/sh
# hdkd-junctions-of-numbers-wrap: a number from 2^32 on in a derivation path of Substrate is taken modulo 2^32 by
# @polkadot-labs/hdkd: //4294967296 has the key of //0. Negative numbers wrap too, a fraction is cut off, and a text of
# more than 31 bytes is refused.
#
# Packages: @polkadot-labs/hdkd 0.0.28 with @polkadot-labs/hdkd-helpers 0.0.30; @polkadot/keyring 14.0.3.
# Expected: a junction that is a whole number is a u64 in 32 bytes, any other is a text, and one that is longer than 32
# bytes is hashed, as subkey and @polkadot/keyring have it.
# Cause: whatever JavaScript reads as a number is written as a u32.
# Who meets it: who derives an account for each user, order or time in milliseconds, from ids of 64 bits: two of them
# have one account, and no other wallet finds it by its path.
# Here: the development phrase, which is public, and paths of one hard junction.
# Seen:
#   //0: the key that keyring has
#   //1: the key that keyring has
#   //Alice: the key that keyring has
#   //4294967295: the key that keyring has
#   //4294967296: the key of //0
#   //4294967297: the key of //1
#   //1767225600000: another key
#   //18446744073709551615: the key of //0
#   //-1: the key of //4294967295
#   //1.5: the key of //1
#   //a-text-of-more-than-thirty-two-bytes: refused: offset is out of bounds
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact @polkadot-labs/hdkd@0.0.28 \
  @polkadot-labs/hdkd-helpers@0.0.30 @polkadot/keyring@14.0.3 @polkadot/util-crypto@14.0.3 || exit 77
cat > run.mjs <<'END'
import { Keyring } from "@polkadot/keyring";
import { sr25519CreateDerive } from "@polkadot-labs/hdkd";
import { DEV_PHRASE, mnemonicToMiniSecret } from "@polkadot-labs/hdkd-helpers";
import { cryptoWaitReady } from "@polkadot/util-crypto";

await cryptoWaitReady();
const derive = sr25519CreateDerive(mnemonicToMiniSecret(DEV_PHRASE));
const keyring = new Keyring({ type: "sr25519" });
const hex = (bytes) => Buffer.from(bytes).toString("hex");
const ofKeyring = (path) => hex(keyring.createFromUri(DEV_PHRASE + path).publicKey);

const LONG = "//a-text-of-more-than-thirty-two-bytes";
const NUMBERS = ["//4294967295", "//4294967296", "//4294967297", "//1767225600000", "//18446744073709551615"];
const seen = new Map(["//0", "//1"].map((path) => [ofKeyring(path), path]));
function said(path) {
  let key;
  try {
    key = hex(derive(path).publicKey);
  } catch ({ message }) {
    return `refused: ${message}`;
  }
  if (key === ofKeyring(path)) return "the key that keyring has";
  return seen.has(key) ? `the key of ${seen.get(key)}` : "another key";
}
for (const path of ["//0", "//1", "//Alice", ...NUMBERS, "//-1", "//1.5", LONG]) {
  console.log(`${path}: ${said(path)}`);
  seen.set(ofKeyring(path), path);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
//0: the key that keyring has
//1: the key that keyring has
//Alice: the key that keyring has
//4294967295: the key that keyring has
//4294967296: the key of //0
//4294967297: the key of //1
//1767225600000: another key
//18446744073709551615: the key of //0
//-1: the key of //4294967295
//1.5: the key of //1
//a-text-of-more-than-thirty-two-bytes: refused: offset is out of bounds
END
cmp seen expected
