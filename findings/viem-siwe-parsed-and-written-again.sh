#!/bin/sh
# viem-siwe-parsed-and-written-again: what parseSiweMessage of viem reads of a valid message, createSiweMessage writes
# as another message unless its times have three digits of a fraction, so the signature no longer verifies; and of a
# message of a domain that is an IPv6 address, neither domain nor address is read.
#
# Packages: viem 2.57.20; beside it siwe 3.0.0 with its parser, @spruceid/siwe-parser 3.0.0.
# Expected: the message, as siwe writes it again; or that what was read keeps what was written. The domain is an
# authority of RFC 3986 and a time is one of RFC 3339 (ERC-4361), which wallets and services write with and without a
# fraction.
# Cause: times become a Date, which has one spelling; and the pattern of a domain has no brackets.
# Who meets it: who stores the fields of a message and builds the message again to verify it, or checks a message of
# another library. During development, who opens the page at [::1].
# Here: one message, and variants of one field; the signature by an account of viem itself.
# Seen:
#   a time with .000: siwe's verifies, viem's verifies
#   a time without a fraction: siwe's verifies, viem's does not verify
#   a time with six digits: siwe's verifies, viem's does not verify
#   a time with an offset: siwe's verifies, viem's does not verify
#   127.0.0.1:3000: siwe's verifies, viem's verifies
#   [::1]:3000: siwe's verifies, viem's is refused: Invalid Sign-In with Ethereum message field "domain".
#   [::1]:3000: viem reads domain undefined and address undefined
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact viem@2.57.20 siwe@3.0.0 ethers@6.17.0 \
  @spruceid/siwe-parser@3.0.0 || exit 77
cat > run.mjs <<'END'
import { SiweMessage } from "siwe";
import { verifyMessage } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createSiweMessage, parseSiweMessage } from "viem/siwe";

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const VARIANTS = {
  "a time with .000": { time: "2026-11-28T10:00:00.000Z" },
  "a time without a fraction": { time: "2026-11-28T10:00:00Z" },
  "a time with six digits": { time: "2026-11-28T10:00:00.123456Z" },
  "a time with an offset": { time: "2026-11-28T12:00:00.000+02:00" },
  "127.0.0.1:3000": { domain: "127.0.0.1:3000" },
  "[::1]:3000": { domain: "[::1]:3000" },
};
function messageOf({ domain = "example.com", time = "2026-11-28T10:00:00.000Z" }) {
  const head = `${domain} wants you to sign in with your Ethereum account:\n${account.address}\n\nSign in.\n`;
  return `${head}\nURI: https://example.com/\nVersion: 1\nChain ID: 1\nNonce: abcdef12\nIssued At: ${time}`;
}
async function outcome(write, message, signature) {
  try {
    const verifies = await verifyMessage({ address: account.address, message: write(message), signature });
    return verifies ? "verifies" : "does not verify";
  } catch (error) {
    return `is refused: ${error.shortMessage ?? error.message.split("\n")[0]}`;
  }
}
for (const [name, variant] of Object.entries(VARIANTS)) {
  const message = messageOf(variant);
  const signature = await account.signMessage({ message });
  const { domain, address } = parseSiweMessage(message);
  const bySiwe = await outcome((text) => new SiweMessage(text).prepareMessage(), message, signature);
  const byViem = await outcome((text) => createSiweMessage(parseSiweMessage(text)), message, signature);
  console.log(`${name}: siwe's ${bySiwe}, viem's ${byViem}`);
  if (domain === undefined) console.log(`${name}: viem reads domain ${domain} and address ${address}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
a time with .000: siwe's verifies, viem's verifies
a time without a fraction: siwe's verifies, viem's does not verify
a time with six digits: siwe's verifies, viem's does not verify
a time with an offset: siwe's verifies, viem's does not verify
127.0.0.1:3000: siwe's verifies, viem's verifies
[::1]:3000: siwe's verifies, viem's is refused: Invalid Sign-In with Ethereum message field "domain".
[::1]:3000: viem reads domain undefined and address undefined
END
cmp seen expected
