#!/bin/sh
# micro-base58-one-zero-byte-more: of a text of the digit 1 alone, decode() makes one zero byte too many,
# so the address of Solana's system program has 33 bytes. Every other text is right, also one with leading 1.
#
# Packages: micro-base58 0.5.1; beside it bs58 6.0.0, @scure/base 2.4.0, base58-universal 2.0.0.
# Expected: each leading 1 is one zero byte, and encode of what was decoded is the text (as of every alphabet of base58
# since Bitcoin's).
# Cause: the zero bytes are counted by the leading 1, and the number that remains, 0, is written as a byte of its own.
# Who meets it: who reads accounts of a transaction of Solana: the system program is 32 times 1, and is in each transfer
# and each new account. A check of 32 bytes refuses it, and code that joins keys to a message shifts all that follows.
# Here: bytes encoded by bs58, read by each.
# Seen:
#   32 zero bytes: micro-base58 33, bs58 32, scure 32, universal 32
#   20 zero bytes: micro-base58 21, bs58 20, scure 20, universal 20
#   1 zero byte: micro-base58 2, bs58 1, scure 1, universal 1
#   31 zero bytes and 1: micro-base58 32, bs58 32, scure 32, universal 32
#   32 bytes of 1: micro-base58 32, bs58 32, scure 32, universal 32
#   32 digits, read and written again by micro-base58: 33 digits
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact micro-base58@0.5.1 bs58@6.0.0 \
  @scure/base@2.4.0 base58-universal@2.0.0 || exit 77
cat > run.mjs <<'END'
import { base58 } from "@scure/base";
import * as universal from "base58-universal";
import bs58 from "bs58";
import * as micro from "micro-base58";

const READERS = { "micro-base58": micro.decode, bs58: bs58.decode, scure: base58.decode, universal: universal.decode };
const BYTES = {
  "32 zero bytes": Buffer.alloc(32),
  "20 zero bytes": Buffer.alloc(20),
  "1 zero byte": Buffer.alloc(1),
  "31 zero bytes and 1": Buffer.from("01".padStart(64, "0"), "hex"),
  "32 bytes of 1": Buffer.alloc(32, 1),
};
for (const [name, bytes] of Object.entries(BYTES)) {
  const text = bs58.encode(bytes);
  const answers = Object.entries(READERS).map(([of, read]) => `${of} ${read(text).length}`);
  console.log(`${name}: ${answers.join(", ")}`);
}
const again = micro.encode(micro.decode("1".repeat(32)));
console.log(`32 digits, read and written again by micro-base58: ${again.length} digits`);
END
node run.mjs > seen
cat seen
cat > expected <<'END'
32 zero bytes: micro-base58 33, bs58 32, scure 32, universal 32
20 zero bytes: micro-base58 21, bs58 20, scure 20, universal 20
1 zero byte: micro-base58 2, bs58 1, scure 1, universal 1
31 zero bytes and 1: micro-base58 32, bs58 32, scure 32, universal 32
32 bytes of 1: micro-base58 32, bs58 32, scure 32, universal 32
32 digits, read and written again by micro-base58: 33 digits
END
cmp seen expected
