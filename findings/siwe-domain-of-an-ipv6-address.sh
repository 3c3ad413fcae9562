#!/bin/sh
# siwe-domain-of-an-ipv6-address: of a message by which a user signs in to [::1]:3000, parseSiweMessage of viem and ox
# has no domain, no address and no statement, and throws nothing; of localhost:3000 and of 127.0.0.1:3000 it has all of
# them.
#
# Packages: viem 2.57.20, ox 1.8.3, siwe 3.0.0 with ethers 6.17.0.
# Expected: EIP-4361 takes any authority of RFC 3986 as the domain, so an IPv6 address in brackets, as siwe reads it;
# what a parser cannot read it refuses.
# Cause: the first lines are read by one regular expression, whose domain has no brackets; the others by another.
# Who meets it: who develops or serves on an IPv6 address. createSiweMessage of both refuses to write such a message, so
# another wallet's or library's is read, and the check of its domain or address is one of undefined.
# Here: one message, with the domain changed.
# Seen:
#   example.com: siwe all; viem all; ox all
#   localhost:3000: siwe all; viem all; ox all
#   127.0.0.1:3000: siwe all; viem all; ox all
#   [::1]:3000: siwe all; viem without domain, address, statement; ox without domain, address, statement
#   [2001:db8::1]: siwe all; viem without domain, address, statement; ox without domain, address, statement
# Exits with 1 if it sees anything else. Needs Node 20.19 and the npm registry.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts --save-exact viem@2.57.20 ox@1.8.3 siwe@3.0.0 \
  ethers@6.17.0 || exit 77
cat > run.mjs <<'END'
import { Siwe } from "ox";
import { SiweMessage } from "siwe";
import { parseSiweMessage } from "viem/siwe";

const READERS = {
  siwe: (text) => new SiweMessage(text),
  viem: parseSiweMessage,
  ox: Siwe.parseMessage,
};
const MEMBERS = ["domain", "address", "statement", "uri", "chainId", "nonce"];
const messageOf = (domain) => [
  `${domain} wants you to sign in with your Ethereum account:`,
  "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
  "",
  "A statement.",
  "",
  `URI: http://${domain}/login`,
  "Version: 1",
  "Chain ID: 1",
  "Nonce: 32891756",
  "Issued At: 2026-11-30T12:00:00.000Z",
].join("\n");
function said(read, text) {
  try {
    const message = read(text);
    const missing = MEMBERS.filter((member) => message[member] === undefined);
    return missing.length === 0 ? "all" : `without ${missing.join(", ")}`;
  } catch {
    return "refused";
  }
}
for (const domain of ["example.com", "localhost:3000", "127.0.0.1:3000", "[::1]:3000", "[2001:db8::1]"]) {
  const all = Object.entries(READERS).map(([name, read]) => `${name} ${said(read, messageOf(domain))}`);
  console.log(`${domain}: ${all.join("; ")}`);
}
END
node run.mjs > seen
cat seen
cat > expected <<'END'
example.com: siwe all; viem all; ox all
localhost:3000: siwe all; viem all; ox all
127.0.0.1:3000: siwe all; viem all; ox all
[::1]:3000: siwe all; viem without domain, address, statement; ox without domain, address, statement
[2001:db8::1]: siwe all; viem without domain, address, statement; ox without domain, address, statement
END
cmp seen expected
